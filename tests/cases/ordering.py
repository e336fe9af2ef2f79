"""Rows for comparisons, extrema of two, and sorting."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from .case import BOTH, ELEMENTWISE, REAL, Case, Fixed, Number

_N = Number(ELEMENTWISE)
_M = Number((2, 5))
_P = Number(ELEMENTWISE, "positive")


def _row(name, primitive, call, *operands, **options):
    options = {"law": "order", "kinds": REAL, **options}
    return Case(name, primitive, call, operands, **options)


def _bind(primitive):
    return lambda x, y: primitive.bind(x, y)


def _clamp(low, x, high):
    return lax.clamp(-low, x, high)


_CARRIED = Fixed(np.arange(ELEMENTWISE[0]))

ROWS = [
    *(
        _row(name, name, function, _N, _N, special_values=True,
             kinds=BOTH if name in ("eq", "ne") else REAL, order=0)
        for name, function in (
            ("eq", lax.eq), ("ne", lax.ne), ("lt", lax.lt), ("le", lax.le), ("gt", lax.gt),
            ("ge", lax.ge),
        )
    ),
    _row("lt_to", "lt_to", _bind(lax.lt_to_p), _N, _N, order=0),
    _row("le_to", "le_to", _bind(lax.le_to_p), _N, _N, order=0),
    _row("eq_to", "eq_to", _bind(lax.eq_to_p), _N, _N, order=0),
    _row("max", "max", lax.max, _N, _N, special_values=True, smooth_at_zero=False),
    _row("min", "min", lax.min, _N, _N, special_values=True, smooth_at_zero=False),
    # bounds that do not cross: where they do, JAX gives the upper one, with the derivative 0
    _row("clamp", "clamp", _clamp, _P, _N, _P, law="none", reason="a bound is negated",
         smooth_at_zero=False),
    _row("clamp_scalars", "clamp", _clamp, Number((), "positive"), _N, Number((), "positive"),
         law="none", reason="a bound is negated; JAX cannot differentiate in scalar bounds",
         order=0),
    _row("is_finite", "is_finite", lax.is_finite, _N, special_values=True, order=0),
    _row("sort", "sort", lambda x: lax.sort(x, dimension=0), _M, smooth_at_zero=False),
    _row("sort_several_keys", "sort",
         lambda x, y, i: lax.sort((jnp.round(x), y, i), dimension=0, num_keys=2),
         _N, _N, _CARRIED, law="none", reason="ranks do not round", smooth_at_zero=False),
    _row("sort_two_keys", "sort", lambda x, y, i: lax.sort((x, y, i), dimension=0, num_keys=2),
         _N, _N, _CARRIED, smooth_at_zero=False),
    _row("sort_by_plain_key", "sort", lambda i, x: lax.sort((i, x), dimension=0, num_keys=1),
         Fixed(np.array([2, 0, 1, 4, 3])), Number((5,)), smooth_at_zero=False),
    _row("top_k", "top_k", lambda x: lax.top_k(x, 3), _M, smooth_at_zero=False),
    _row("top_k_axis", "top_k", lambda x: lax.top_k(x, 1, axis=0), _M, smooth_at_zero=False),
    _row("approx_top_k", "approx_top_k", lambda x: lax.approx_max_k(x, 2), _M,
         smooth_at_zero=False),
    _row("approx_min_k", "approx_top_k", lambda x: lax.approx_min_k(x, 2), _M,
         smooth_at_zero=False),
]  # fmt: skip
