"""Determinants and inverses after some rows or columns of a matrix have been exchanged.

With A' = A but for k rows R, taken from N, the matrix A' / A differs from the identity in the rows R
alone, so that det(A') / det(A) = det(S) with the k x k matrix S = N A**-1 [:, R]; and by Sherman,
Morrison and Woodbury 1/A' = 1/A - A**-1 [:, R] S**-1 (N / A - 1[R]). The k rows are exchanged at once:
that one of them alone would make the matrix singular divides nothing by zero.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .. import _numerics as num
from .._numerics import Scaled
from ._determinant import determinant, determinant_of_plain
from ._solve import identity_like, matmul, solution


def ratio(inverse: Any, new: Any, places: jax.Array) -> Scaled:
    """det(A') / det(A); all operands plain, or all numbers."""
    small: Any = _small_matrix(inverse, new, places)
    return determinant(small) if isinstance(small, Scaled) else determinant_of_plain(small)


class Update(NamedTuple):
    """What `logspace.linalg.update_inverse` returns."""

    ratio: Any  # det(A') / det(A), a LogArray of shape (...)
    inverse: Any  # of A', (..., n, n); of A where A' is singular
    regular: jax.Array  # whether A' is regular to working precision, booleans of shape (...)


def updated(inverse: Any, new: Any, places: jax.Array) -> Update:
    small: Any = _small_matrix(inverse, new, places)
    factor = determinant(small) if isinstance(small, Scaled) else determinant_of_plain(small)
    regular = _is_regular(factor, inverse, new, places)
    n = _leaf(inverse).shape[-1]
    unit = (places[..., :, None] == np.arange(n)).astype(_leaf(inverse).dtype)
    columns = _columns(inverse, places)
    wide = regular[..., None, None]
    # a singular system is not solved at all, so that nothing infinite reaches a derivative
    if isinstance(inverse, Scaled):
        eye = num.from_linear(identity_like(small.significand))
        safe = num.where(jnp.broadcast_to(wide, small.exponent.shape), small, eye)
        change = solution(safe, num.subtract(matmul(new, inverse), num.from_linear(unit)), False)
        out = num.subtract(inverse, matmul(columns, change))
        out = num.where(jnp.broadcast_to(wide, out.exponent.shape), out, inverse)
    else:
        plain = _leaf(small)
        safe = jnp.where(wide, plain, identity_like(plain))
        out = inverse - columns @ jnp.linalg.solve(safe, new @ inverse - unit)
        out = jnp.where(wide, out, inverse)
    return Update(factor, out, regular)


def _is_regular(factor: Scaled, inverse: Any, new: Any, places: jax.Array) -> jax.Array:
    """Whether det(S) is more than what rounding leaves of a zero."""
    rows, columns = (_absolute(x) for x in (new, _columns(inverse, places)))
    terms = matmul(rows, columns)
    n = _leaf(inverse).shape[-1]
    bound = num.prod(num.sum(terms, (terms.exponent.ndim - 1,)), (terms.exponent.ndim - 2,))
    rounding = 4 * n * jnp.finfo(bound.significand.dtype).eps
    bound = num.multiply(bound, num.from_linear(jnp.full_like(bound.significand, rounding)))
    size = num.absolute(Scaled(lax.stop_gradient(factor.significand), factor.exponent))
    return num.less(bound, size)


def _absolute(x: Any) -> Scaled:
    x = x if isinstance(x, Scaled) else num.from_linear(x)
    return num.absolute(Scaled(lax.stop_gradient(x.significand), x.exponent))


def _small_matrix(inverse: Any, new: Any, places: jax.Array) -> Any:
    """S, plain or a number as the operands are."""
    columns = _columns(inverse, places)
    return matmul(new, columns) if isinstance(inverse, Scaled) else new @ columns


def _columns(inverse: Any, places: jax.Array) -> Any:
    return jax.tree.map(lambda x: jnp.take_along_axis(x, places[..., None, :], -1), inverse)


def _leaf(x: Any) -> jax.Array:
    return jax.tree.leaves(x)[0]
