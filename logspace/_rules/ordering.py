"""Order: comparisons, extrema of two, sorting. Comparisons return plain booleans."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .. import _numerics as num
from .._numerics import Scaled
from .registering import binary, operands, unary


@binary(lax.eq_p, lax.eq_to_p)
def equal(x: Scaled, y: Scaled) -> jax.Array:
    return num.equal(x, y)


@binary(lax.ne_p)
def not_equal(x: Scaled, y: Scaled) -> jax.Array:
    return lax.bitwise_not(num.equal(x, y))


@binary(lax.lt_p, lax.lt_to_p)
def less(x: Scaled, y: Scaled) -> jax.Array:
    return num.less(x, y)


@binary(lax.le_p, lax.le_to_p)
def less_equal(x: Scaled, y: Scaled) -> jax.Array:
    return num.less_equal(x, y)


@binary(lax.gt_p)
def greater(x: Scaled, y: Scaled) -> jax.Array:
    return num.less(y, x)


@binary(lax.ge_p)
def greater_equal(x: Scaled, y: Scaled) -> jax.Array:
    return num.less_equal(y, x)


@binary(lax.max_p)
def maximum(x: Scaled, y: Scaled) -> Scaled:
    return num.maximum(x, y)


@binary(lax.min_p)
def minimum(x: Scaled, y: Scaled) -> Scaled:
    return num.minimum(x, y)


@operands(lax.clamp_p, count=3)
def clamp(low: Scaled, x: Scaled, high: Scaled) -> Scaled:
    """Within the bounds x itself; outside a bound, with the bound's derivative. A nan stays."""
    shape = x.significand.shape
    low, high = (
        Scaled(*(jnp.broadcast_to(part, shape) for part in bound)) for bound in (low, high)
    )
    out = num.where(num.less(x, low), low, x)
    return num.where(num.less(high, out), high, out)


@unary(lax.is_finite_p)
def is_finite(x: Scaled) -> jax.Array:
    return num.is_finite(x.significand)


@operands(lax.sort_p, lift_plain=False)
def sort(*args: Any, dimension: int, is_stable: bool, num_keys: int) -> Any:
    """Keys and carried operands may be numbers or plain arrays, in any mixture."""
    keys = [
        key for x in args[:num_keys] for key in (num.sort_keys(x) if isinstance(x, Scaled) else [x])
    ]
    leaves, structure = jax.tree.flatten(args)
    out = lax.sort([*keys, *leaves], dimension=dimension, num_keys=len(keys), is_stable=is_stable)
    return jax.tree.unflatten(structure, out[len(keys) :])


def _top_k(x: Scaled, k: int, axis: int) -> Any:
    flipped = num.negative(x)
    keys = num.sort_keys(flipped)
    # JAX counts nan as the largest
    keys[0] = jnp.where(num.is_nan(x), np.int32(-3), keys[0])
    index = lax.broadcasted_iota(np.int32, x.exponent.shape, axis)
    order = lax.sort([*keys, index], dimension=axis, num_keys=len(keys), is_stable=True)[-1]
    order = lax.slice_in_dim(order, 0, k, axis=axis)
    return [Scaled(*(jnp.take_along_axis(part, order, axis) for part in x)), order]


@unary(lax.top_k_p)
def top_k(x: Scaled, *, k: int, axis: int = -1, **params: Any) -> Any:
    return _top_k(x, k, axis % x.exponent.ndim)


@unary(lax.approx_top_k_p)
def approx_top_k(
    x: Scaled, *, k: int, reduction_dimension: int, is_max_k: bool, **params: Any
) -> Any:
    """Exact, which is one of the approximations allowed."""
    axis = reduction_dimension % x.exponent.ndim
    if is_max_k:
        return _top_k(x, k, axis)
    values, order = _top_k(num.negative(x), k, axis)
    return [num.negative(values), order]
