"""Matrices whose entries span more than a float: powers of two for rows and columns.

A matrix of numbers is written as 2**rows * plain * 2**columns, where the plain matrix has its
largest entries near 1. Row maxima and column maxima do for most matrices. Where they leave entries
below the smallest float, the scaling of an optimal assignment is approached (it makes the terms of
the largest product of n entries 1 and all other entries at most 1), by Sinkhorn's iteration on the
exponents at falling temperature. Exponents carry no derivatives, so none of this is differentiated.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .. import _numerics as num
from .._numerics.scaled import exponent_bits, magnitude
from ._batching import any_of_batch

#: Temperatures, in binades, and iterations at each.
_TEMPERATURES = (4096.0, 1024.0, 256.0, 64.0)
_ITERATIONS = 30


def equilibrate(x: num.Scaled) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The plain matrix and the exponents (..., m) of its rows and (..., n) of its columns."""
    rows, columns = _scaling(x)
    shift = x.exponent - rows[..., :, None] - columns[..., None, :]
    return num.scale_by(x.significand, shift), rows, columns


def equilibrate_congruently(x: num.Scaled) -> tuple[jax.Array, jax.Array]:
    """The same with one exponent for a row and its column: for matrices with |x| symmetric.

    An entry and its mirror image are at most 1 in the other scaling, and so is their mean here.
    """
    rows, columns = _scaling(x)
    both = (rows + columns) >> 1
    shift = x.exponent - both[..., :, None] - both[..., None, :]
    return num.scale_by(x.significand, shift), both


def _scaling(x: num.Scaled) -> tuple[jax.Array, jax.Array]:
    if 0 in x.exponent.shape:
        zeros = jnp.zeros_like(x.exponent)
        return zeros[..., :, :1].sum(-1, dtype=np.int32), zeros[..., :1, :].sum(-2, dtype=np.int32)
    finite = num.is_finite(x.significand)
    live = num.is_live(x.significand) & finite
    bits = exponent_bits(magnitude(x.significand))
    e = jnp.where(finite, x.exponent + bits, 0)
    rows = _largest(e, live, -1)
    columns = _largest(e - rows[..., :, None], live, -2)
    left = e - rows[..., :, None] - columns[..., None, :]
    f = num.format_of(x.significand.dtype)
    lost = jnp.any(live & (left < -(f.bias - f.mantissa_bits)))

    def as_they_are(rows: jax.Array, columns: jax.Array) -> tuple[jax.Array, jax.Array]:
        return rows, columns

    def by_assignment(rows: jax.Array, columns: jax.Array) -> tuple[jax.Array, jax.Array]:
        more_rows, more_columns = _assignment(left, live)
        rows, columns = rows + more_rows, columns + more_columns
        rest = e - columns[..., None, :]
        rows = _largest(rest, live, -1)
        return rows, columns + _largest(rest - rows[..., :, None], live, -2)

    return lax.cond(any_of_batch(lost), by_assignment, as_they_are, rows, columns)


def _largest(e: jax.Array, live: jax.Array, axis: int) -> jax.Array:
    """The largest exponent of the live entries along an axis, of all entries if none is live."""
    largest = jnp.max(jnp.where(live, e, np.int32(-(2**31))), axis)
    return jnp.where(jnp.any(live, axis), largest, jnp.max(e, axis))


def _assignment(e: jax.Array, live: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Exponents of rows and columns after which the largest product of n entries stands near 1."""
    bound = np.float32(2.0**22)
    e = jnp.where(live, jnp.clip(e.astype(np.float32), -bound, bound), -np.inf)

    def soft_largest(values: jax.Array, axis: int) -> jax.Array:
        top = jnp.max(values, axis, keepdims=True)
        top = jnp.where(top > -np.inf, top, 0)
        total = jnp.sum(jnp.exp2(values - top), axis)
        return jnp.squeeze(top, axis) + jnp.log2(jnp.maximum(total, 1))

    u, v = jnp.zeros_like(e[..., :, 0]), jnp.zeros_like(e[..., 0, :])
    for temperature in _TEMPERATURES:

        def step(_: int, state: tuple[jax.Array, jax.Array], t: float = temperature):
            u, v = state
            u = t * soft_largest((e - v[..., None, :]) / t, -1)
            v = t * soft_largest((e - u[..., :, None]) / t, -2)
            return jnp.clip(u, -bound, bound), jnp.clip(v, -bound, bound)

        u, v = lax.fori_loop(0, _ITERATIONS, step, (u, v))
    return jnp.round(u).astype(np.int32), jnp.round(v).astype(np.int32)
