"""Rows for scatters that combine: repeated and out-of-bounds indices."""

import numpy as np
from jax import lax
from jax.ops import segment_sum

from .case import REAL, Case, Fixed, Number

_TERMS = "an error for each term, relative to the sum of absolute terms"
_REPEATED = Fixed(np.array([2, 0, 2], np.int32))
_OUTSIDE = Fixed(np.array([1, 7, -1], np.int32))  # -1 wraps around, 7 falls outside


def _row(name, primitive, call, *operands, **options):
    return Case(name, primitive, call, operands, **options)


def _at(how, mode=None):
    return lambda x, i, u: getattr(x.at[i], how)(u, mode=mode)


def _multiply_unique(x, i, u):
    return x.at[i].multiply(u, unique_indices=True)  # which JAX's derivative asks for


_X, _U = Number((3, 2)), Number((3, 2))


def _window_scatter(x, i, u):
    """Windows of two in the second axis, several indices, none of them sorted."""
    numbers = lax.ScatterDimensionNumbers((1,), (0,), (0, 1))
    return lax.scatter_add(x, i, u, numbers)


ROWS = [
    _row("scatter_add", "scatter-add", _at("add"), _X, _REPEATED, _U, law="linear", ulps=8,
         reason=_TERMS),
    _row("scatter_add_outside", "scatter-add", _at("add", "drop"), _X, _OUTSIDE, _U, law="linear",
         ulps=8, reason=_TERMS),
    _row("scatter_add_clip", "scatter-add", _at("add", "clip"), _X, _OUTSIDE, _U, law="linear",
         ulps=8, reason=_TERMS),
    _row("scatter_add_windows", "scatter-add", _window_scatter, Number((3, 4)),
         Fixed(np.array([[0, 1], [2, 2], [0, 2]], np.int32)), Number((3, 2)), law="linear", ulps=8,
         reason=_TERMS),
    _row("segment_sum", "scatter-add", lambda x: segment_sum(x, np.array([0, 1, 0, 2]), 4),
         Number((4,)), law="linear", ulps=8, reason=_TERMS),
    _row("scatter_sub", "scatter-sub", _at("subtract"), _X, _REPEATED, _U, law="linear", ulps=8,
         reason=_TERMS),
    _row("scatter_mul", "scatter-mul", _multiply_unique, _X, Fixed(np.array([2, 0, 1], np.int32)),
         _U, law="monomial", ulps=8),
    _row("scatter_mul_repeated", "scatter-mul", _at("multiply"), _X, _REPEATED, _U,
         law="monomial", ulps=12, order=0,
         reason="plain JAX has no derivative of a product at repeated indices"),
    _row("scatter_mul_outside", "scatter-mul", _at("multiply", "drop"), _X, _OUTSIDE, _U,
         law="monomial", ulps=12, order=0,
         reason="plain JAX has no derivative of a product at repeated indices"),
    _row("scatter_max", "scatter-max", _at("max"), _X, _REPEATED, _U, law="order", kinds=REAL,
         order=0, reason="plain JAX has no derivative of scatter-max"),
    _row("scatter_min", "scatter-min", _at("min", "drop"), _X, _OUTSIDE, _U, law="order",
         kinds=REAL, order=0, reason="plain JAX has no derivative of scatter-min"),
]  # fmt: skip
