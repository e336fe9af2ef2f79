"""Decompositions of matrices whose factors take up powers of two; see `logspace.linalg`."""

from typing import Any

from jax import lax

from .. import _numerics as num
from .._numerics import Scaled
from ..linalg import _decompositions
from .registering import operands, unary


@unary(lax.linalg.cholesky_p)
def cholesky(x: Scaled, **params: Any) -> Scaled:
    return _decompositions.cholesky(x)


@unary(lax.linalg.lu_p)
def lu(x: Scaled, **params: Any) -> Any:
    return _decompositions.lu(x)


@operands(lax.linalg.triangular_solve_p, values=(0, 1), count=2)
def triangular_solve(a: Scaled, b: Scaled, **params: Any) -> Scaled:
    return _decompositions.triangular_solution(*num.promote(a, b), **params)
