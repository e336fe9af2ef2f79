"""The logarithm that waits."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from . import _numerics as num
from ._array_methods import ArrayMethods
from ._log_array import LogArray, unwrap, wrap
from ._numerics import Scaled
from ._value import LogSpaceValue


class Log(ArrayMethods, LogSpaceValue):
    """log(x) of a LogArray x, kept as x until something reads it.

    ``exp`` of it is x itself, with x's derivatives, also at a zero. Sums, differences and multiples
    of Logs are the Logs of products, quotients and powers; a sum of Logs along an axis is the Log
    of a product, and log-sum-exps follow from these. Adding a plain array multiplies the number by
    its exponential. Everything else reads the plain value.

    As for `jnp.log`, the logarithm of a negative real number is nan, and so is its exponential. Sums
    and multiples of complex logarithms are kept modulo 2 pi i; a further multiple, other than by an
    integer, would make that visible and raises.
    """

    number: LogArray
    #: Whether a complex logarithm is the principal one, not only up to a multiple of 2 pi i.
    principal: bool = eqx.field(static=True)

    # named here for type checkers, which give a dataclass an `==` of its own
    __eq__ = ArrayMethods.__eq__

    def __init__(self, number: LogArray) -> None:
        """`number`: a LogArray of any shape."""
        object.__setattr__(self, "number", _nan_where_negative(number))
        object.__setattr__(self, "principal", True)

    def aval(self) -> Any:
        return self.number.aval()

    def materialise(self) -> jax.Array:
        return self.number.log()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.number.shape

    @property
    def dtype(self) -> Any:
        return self.number.dtype

    @property
    def ndim(self) -> int:
        return self.number.ndim

    @property
    def size(self) -> int:
        return self.number.size

    def __repr__(self) -> str:
        return f"Log({self.number!r})"


def _nan_where_negative(x: LogArray) -> LogArray:
    s, e = unwrap(x)
    if jnp.issubdtype(s.dtype, jnp.complexfloating):
        return x
    negative = jax.lax.lt(jax.lax.stop_gradient(s), jax.lax.full_like(s, 0))
    nan = num.constant_like(s, jnp.nan)
    zero = num.zero_exponent(s)
    return wrap(Scaled(jax.lax.select(negative, nan, s), jax.lax.select(negative, zero, e)))


def log_of(number: LogArray, principal: bool = True) -> Log:
    """A Log of a number that is known not to be negative, or that stands for one."""
    is_real = not jnp.issubdtype(number.dtype, jnp.complexfloating)
    out = object.__new__(Log)
    object.__setattr__(out, "number", number)
    object.__setattr__(out, "principal", principal or is_real)
    return out
