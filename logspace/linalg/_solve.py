"""Systems of equations and products of matrices of numbers.

A matrix is equilibrated, a = 2**rows * plain * 2**columns, the plain one is decomposed, and the
powers of two go back where they belong. Exponents carry no derivatives: those of the results are the
derivatives of the plain decomposition.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .. import _numerics as num
from .._numerics import Scaled
from .._numerics.scaled import exponent_bits, magnitude
from ._equilibration import equilibrate, equilibrate_congruently


def matmul(x: Scaled, y: Scaled) -> Scaled:
    """(..., m, k) times (..., k, n) of the same batch shape; no term is lost."""
    batch = tuple(range(x.exponent.ndim - 2))
    last = x.exponent.ndim - 1
    return num.dot_general(x, y, (((last,), (last - 1,)), (batch, batch)))


def inverse(x: Scaled) -> Scaled:
    plain, rows, columns = equilibrate(x)
    exponent = -(columns[..., :, None] + rows[..., None, :])
    return num.tidy(_plain_solve(plain, identity_like(plain)), exponent)


def solution(a: Scaled, b: Scaled, positive: bool) -> Scaled:
    """x with a x = b, for b (..., n, m): each column of b at its own scale."""
    if positive:
        plain, rows = equilibrate_congruently(a)
        columns = rows
    else:
        plain, rows, columns = equilibrate(a)
    b = Scaled(b.significand, b.exponent - rows[..., :, None])
    right, scales = _by_columns(b)
    solve = _plain_solve_positive if positive else _plain_solve
    return num.tidy(solve(plain, right), scales[..., None, :] - columns[..., :, None])


def _by_columns(b: Scaled) -> tuple[jax.Array, jax.Array]:
    """Plain columns with entries up to 1, and their exponents."""
    if b.exponent.shape[-2] == 0:
        return b.significand, jnp.sum(b.exponent, -2, dtype=np.int32)
    live = num.is_live(b.significand) & num.is_finite(b.significand)
    e = b.exponent + exponent_bits(magnitude(b.significand))
    top = jnp.max(jnp.where(live, e, np.int32(-(2**31))), -2)
    top = jnp.where(jnp.any(live, -2), top, jnp.max(e, -2))
    return num.scale_by(b.significand, b.exponent - top[..., None, :]), top


def _plain_solve(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.linalg.solve(a, b) if a.size else b


def _plain_solve_positive(a: jax.Array, b: jax.Array) -> jax.Array:
    if not a.size:
        return b
    factor = lax.linalg.cholesky(a)
    half = lax.linalg.triangular_solve(factor, b, left_side=True, lower=True)
    return lax.linalg.triangular_solve(
        factor, half, left_side=True, lower=True, transpose_a=True, conjugate_a=True
    )


def identity_like(a: jax.Array) -> jax.Array:
    return jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape)


def power(x: Scaled, n: int) -> Scaled:
    """x to the n-th matrix power, by repeated squaring."""
    if n == 0:
        return num.from_linear(identity_like(x.significand))
    base = inverse(x) if n < 0 else x
    result, left = None, abs(n)
    while True:
        if left & 1:
            result = base if result is None else matmul(result, base)
        left >>= 1
        if not left:
            assert result is not None
            return result
        base = matmul(base, base)
