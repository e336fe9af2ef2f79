"""Rows for decompositions of matrices."""

import jax.numpy as jnp
from jax import lax

from .case import Case, Number

_SCALED = "that of the decomposition of a matrix which is scaled otherwise"
_EYE = jnp.eye(3)


def _row(name, primitive, call, *operands, **options):
    # at zeros lu and triangular_solve divide by zero
    smooth = primitive == "cholesky"
    options = {
        "ulps": 50, "derivative_ulps": 1000, "reason": _SCALED, "smooth_at_zero": smooth, **options
    }  # fmt: skip
    return Case(name, primitive, call, operands, "none", **options)


def _cholesky(x):
    return lax.linalg.cholesky(x @ jnp.conj(x.mT) + _EYE.astype(x.dtype))


def _put_together(x):
    # pivots depend on the scaling, the product of the factors does not; its square, because the second
    # derivative of a itself is rounding
    packed, _, permutation = lax.linalg.lu(x)
    size = min(x.shape)
    left = jnp.tril(packed[:, :size], -1) + jnp.eye(x.shape[0], size, dtype=x.dtype)
    return (left @ jnp.triu(packed[:size]))[jnp.argsort(permutation)] ** 2


def _triangular(**options):
    return lambda a, b: lax.linalg.triangular_solve(a, b, **options)


_A, _B = Number((3, 3)), Number((3, 2))

ROWS = [
    _row("cholesky", "cholesky", _cholesky, _A),
    _row("lu", "lu", _put_together, _A),
    _row("lu_tall", "lu", _put_together, Number((4, 2))),
    _row("lu_wide", "lu", _put_together, Number((2, 4))),
    _row("triangular_solve", "triangular_solve", _triangular(left_side=True, lower=True), _A, _B),
    _row("triangular_solve_right", "triangular_solve",
         _triangular(lower=False, unit_diagonal=True), _A, Number((2, 3))),
    _row("triangular_solve_transposed", "triangular_solve",
         _triangular(left_side=True, lower=True, transpose_a=True, conjugate_a=True), _A, _B),
]  # fmt: skip
