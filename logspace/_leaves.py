"""The leaves of a pytree as what can be differentiated: significands and plain arrays."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from . import _numerics as num
from ._compat import is_quax_tracer
from ._construct import from_linear
from ._log import Log
from ._log_array import LogArray, unwrap, wrap
from ._numerics import Scaled
from ._value import is_in_log_space

_is_number = lambda x: isinstance(x, (LogArray, Log))  # noqa: E731 - a predicate for pytrees


def flatten(tree: Any) -> tuple[list[Any], Any]:
    return jax.tree.flatten(tree, is_leaf=_is_number)


def _as_plain_log(x: Any) -> Any:
    return x.materialise() if isinstance(x, Log) else x


class Leaves:
    """The differentiable leaves of a pytree: significands and plain arrays."""

    def __init__(self, tree: Any) -> None:
        leaves, self.structure = flatten(tree)
        if any(is_quax_tracer(x) and is_in_log_space(x) for x in leaves):
            raise TypeError(
                "logspace.grad and its like differentiate with respect to LogArrays outside of "
                "`quaxify`; inside, take them of the quaxified function: ls.grad(ls.quaxify(f))."
            )
        self.leaves = [
            _as_plain_log(x) if isinstance(x, (LogArray, Log)) else jnp.asarray(x) for x in leaves
        ]

    @property
    def values(self) -> list[jax.Array]:
        return [x._significand if isinstance(x, LogArray) else x for x in self.leaves]

    @property
    def exponents(self) -> list[jax.Array]:
        """The exponent of each leaf; of plain ones 0."""
        return [
            x._exponent if isinstance(x, LogArray) else num.constant_like(x, 0, np.int32)
            for x in self.leaves
        ]

    def rebuild(self, values: Sequence[jax.Array]) -> Any:
        """The pytree with other significands and plain values."""
        leaves = [
            wrap(Scaled(v, x._exponent)) if isinstance(x, LogArray) else v
            for x, v in zip(self.leaves, values, strict=True)
        ]
        return jax.tree.unflatten(self.structure, leaves)

    def numbers(self, values: Sequence[jax.Array], exponents: Sequence[jax.Array]) -> Any:
        """The pytree of LogArrays with these significands and exponents."""
        leaves = [wrap(tidy_wide(v, e)) for v, e in zip(values, exponents, strict=True)]
        return jax.tree.unflatten(self.structure, leaves)


def tidy_wide(s: jax.Array, e: jax.Array) -> Scaled:
    """tidy for any finite significand, also one far outside the window."""
    return num.tidy(*num.normalise(Scaled(s, jnp.broadcast_to(e, s.shape))))


def is_complex(x: jax.Array) -> bool:
    return jnp.issubdtype(x.dtype, jnp.complexfloating)


def numbers_of(
    tree: Any, structure: Any, values: Sequence[jax.Array], what: str, error: type[Exception]
) -> list[Scaled]:
    """The leaves of a tangent or cotangent of the values, plain or LogArrays, as numbers."""
    leaves, given = flatten(tree)
    if given != structure:
        raise error(f"{what} must have the structure {structure}, got {given}")
    numbers = [from_linear(x) for x in leaves]
    for x, value in zip(numbers, values, strict=True):
        if x.shape != value.shape:
            raise ValueError(f"{what} must have the shape {value.shape}, got {x.shape}")
        if jnp.issubdtype(x.dtype, jnp.complexfloating) and not is_complex(value):
            raise error(f"{what} of a {value.dtype} must be real, got {x.dtype}")
    return [unwrap(x) for x in numbers]


def common_scale(numbers: Sequence[Scaled], offsets: Sequence[jax.Array]) -> jax.Array:
    """The largest true exponent of number * 2**offset over all live elements, or 0."""
    floor = np.int32(-(2**31) + 1)
    largest = floor
    for x, offset in zip(numbers, offsets, strict=True):
        n = num.normalise(x)
        live = num.is_live(n.significand)
        e = jnp.where(live, n.exponent + offset, floor)
        largest = jnp.maximum(largest, jnp.max(e, initial=floor))
    return lax.stop_gradient(jnp.where(largest == floor, np.int32(0), largest))


def seed(x: Scaled, offset: jax.Array, scale: jax.Array, dtype: Any) -> jax.Array:
    """x * 2**(offset - scale) as a plain array of the given dtype."""
    n = num.normalise(num.convert(x, dtype))
    return num.scale_by(n.significand, n.exponent + offset - scale)
