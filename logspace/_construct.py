"""The ways in: from logarithms, from plain arrays, and constants."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from . import _numerics as num
from ._log import Log
from ._log_array import LogArray, as_supported, wrap
from ._numerics import Scaled
from ._value import LogSpaceValue


def from_log(log: ArrayLike | LogSpaceValue) -> LogArray:
    """The number exp(log), from a real or complex logarithm of any shape.

    The derivative of the logarithm moves into the number: d exp(l) = exp(l) dl. -inf gives zero,
    +inf infinity; |log| up to 7.4e8 is representable. A `logspace.Log` gives the number whose
    logarithm it is, exactly; a LogArray x gives the number e**x.

    float16 and bfloat16 are promoted to float32, integers to the default float. The relative error
    is below 1 eps with the given logarithm taken as exact, hence eps * |log| for a logarithm that
    was itself rounded.
    """
    if isinstance(log, Log):
        return log.number
    if isinstance(log, LogArray):
        log = log.to_linear()
    return wrap(_from_log(as_supported(jnp.asarray(log))))


_from_log = jax.jit(num.from_log)
_from_linear = jax.jit(num.from_linear)


def from_linear(a: ArrayLike | LogSpaceValue) -> LogArray:
    """The number a itself, from a plain array of any shape; exact, and exactly undone by
    `LogArray.to_linear` (subnormal numbers count as zeros where XLA flushes them, as on CPU).

    Integers and booleans become the default float; float16 and bfloat16 become float32. A LogArray
    is returned as it is.
    """
    if isinstance(a, LogArray):
        return a
    if isinstance(a, Log):
        a = a.materialise()
    return wrap(_from_linear(as_supported(jnp.asarray(a))))


def full(shape: Any, fill_value: ArrayLike | LogArray, dtype: Any = None) -> LogArray:
    """A LogArray of the given shape filled with one value, plain or a LogArray scalar."""
    if isinstance(fill_value, LogArray):
        value = fill_value if dtype is None else fill_value.astype(dtype)
        return wrap(Scaled(jnp.full(shape, value._significand), jnp.full(shape, value._exponent)))
    return from_linear(jnp.full(shape, fill_value, dtype))


def zeros(shape: Any, dtype: Any = None) -> LogArray:
    """Zeros, at exponent 0."""
    return full(shape, 0.0, dtype)


def ones(shape: Any, dtype: Any = None) -> LogArray:
    """Ones."""
    return full(shape, 1.0, dtype)


def full_like(
    x: Any, fill_value: ArrayLike | LogArray, dtype: Any = None, shape: Any = None
) -> LogArray:
    """As `full`, with the shape and dtype of x (a LogArray or anything that has both)."""
    shape = jnp.shape(x._significand) if isinstance(x, LogArray) and shape is None else shape
    shape = jnp.shape(x) if shape is None else shape
    dtype = x.dtype if dtype is None and hasattr(x, "dtype") else dtype
    return full(shape, fill_value, dtype)


def zeros_like(x: Any, dtype: Any = None, shape: Any = None) -> LogArray:
    return full_like(x, 0.0, dtype, shape)


def ones_like(x: Any, dtype: Any = None, shape: Any = None) -> LogArray:
    return full_like(x, 1.0, dtype, shape)
