"""Rows for reductions along axes, cumulative ones and those over windows."""

import jax.numpy as jnp
import mpmath
import numpy as np
from jax import lax

from .case import REAL, Case, Number

_N = Number((3, 4))
_SHORT = Number((2, 3))
_TERMS = "an error for each term, relative to the sum of absolute terms"


def _row(name, primitive, call, *operands, **options):
    return Case(name, primitive, call, operands, **options)


def _window(function, initial):
    def call(x):
        return lax.reduce_window(
            x, initial, function, (2, 3), (1, 2), ((0, 1), (1, 1)), (1, 2), (1, 1)
        )

    return call


def _window_dilated(function, initial):
    def call(x):
        return lax.reduce_window(x, initial, function, (2, 2), (1, 1), "VALID", None, (1, 2))

    return call


def _typed(x, value):
    return np.array(value, x.dtype)


def _window_product(x):
    return lax.reduce_window(x, _typed(x, 1), lax.mul, (2, 2), (1, 1), "VALID", None, (1, 2))


def _window_product_of_slices(x):
    """The same with a reverse mode, which JAX lacks for it."""
    return x[:2, :2] * x[1:, :2] * x[:2, 2:] * x[1:, 2:]


def _log_sum_exp(x):
    return lax.cumlogsumexp(x, 1)


def _exact_log_sum_exp(x):
    out = x.copy()
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = mpmath.log(mpmath.fsum(mpmath.exp(v) for v in x[i, : j + 1]))
    return out


ROWS = [
    _row("reduce_sum", "reduce_sum", lambda x: jnp.sum(x, 1), _N, law="linear", ulps=8,
         reason=_TERMS),
    _row("reduce_sum_all", "reduce_sum", jnp.sum, _N, law="linear", ulps=16, reason=_TERMS),
    _row("reduce_sum_empty", "reduce_sum", lambda x: jnp.sum(x, 1), Number((2, 0)), law="linear"),
    _row("reduce_sum_one", "reduce_sum", lambda x: jnp.sum(x, 1), Number((2, 1)), law="linear",
         ulps=0),
    _row("reduce_prod", "reduce_prod", lambda x: jnp.prod(x, 1), _N, law="monomial", ulps=12),
    _row("reduce_prod_odd", "reduce_prod", jnp.prod, Number((5,)), law="monomial", ulps=20),
    _row("reduce_prod_two_axes", "reduce_prod", lambda x: jnp.prod(x, (0, 2)), Number((2, 2, 2)),
         law="monomial", ulps=12),
    _row("reduce_prod_empty", "reduce_prod", jnp.prod, Number((0,)), law="none",
         reason="the empty product is 1"),
    _row("reduce_max", "reduce_max", lambda x: jnp.max(x, 1), _N, law="order", kinds=REAL,
         smooth_at_zero=False),
    _row("reduce_min", "reduce_min", lambda x: jnp.min(x, (0, 1)), _N, law="order", kinds=REAL,
         smooth_at_zero=False),
    _row("argmax", "argmax", lambda x: jnp.argmax(x, 1), _N, law="order", kinds=REAL),
    _row("argmin", "argmin", lambda x: jnp.argmin(x, 0), _N, law="order", kinds=REAL),
    _row("cumsum", "cumsum", lambda x: lax.cumsum(x, 1), _N, law="linear", ulps=8, reason=_TERMS),
    _row("cumsum_reverse", "cumsum", lambda x: lax.cumsum(x, 0, reverse=True), _N, law="linear",
         ulps=8, reason=_TERMS),
    _row("cumsum_empty", "cumsum", lambda x: lax.cumsum(x, 1), Number((2, 0)), law="linear"),
    _row("cumprod", "cumprod", lambda x: lax.cumprod(x, 1), _N, law="monomial", ulps=12),
    _row("cumprod_reverse", "cumprod", lambda x: lax.cumprod(x, 1, reverse=True), _SHORT,
         law="monomial", ulps=12),
    _row("cummax", "cummax", lambda x: lax.cummax(x, 1), _N, law="order", kinds=REAL,
         smooth_at_zero=False),
    _row("cummin", "cummin", lambda x: lax.cummin(x, 1, reverse=True), _N, law="order",
         kinds=REAL, smooth_at_zero=False),
    _row("cumlogsumexp", "cumlogsumexp", _log_sum_exp, _SHORT, law="array", kinds=REAL,
         exact=_exact_log_sum_exp, exact_domain="moderate", ulps=10,
         reason="a plain logarithm, eps absolute near 0"),
    _row("reduce_window_sum", "reduce_window_sum", _window(lax.add, 0.0), _N, law="linear",
         ulps=12, reason=_TERMS),
    _row("reduce_window_sum_dilated", "reduce_window_sum", _window_dilated(lax.add, 0.0), _N,
         law="linear", ulps=12, reason=_TERMS),
    _row("reduce_window_max", "reduce_window_max", _window(lax.max, -jnp.inf), _N, law="order",
         kinds=REAL, smooth_at_zero=False),
    _row("reduce_window_min", "reduce_window_min", _window(lax.min, jnp.inf), _N, law="order",
         kinds=REAL, smooth_at_zero=False),
    _row("reduce_window_product", "reduce_window", _window_product, _N,
         reference=_window_product_of_slices,
         law="monomial", ulps=12),
    _row("reduce_by_product", "reduce",
         lambda x: lax.reduce(x, _typed(x, 1), lambda a, b: a * (b + 0), (1,)),
         _N, law="monomial", ulps=12),
    _row("reduce_two_operands", "reduce",
         lambda x, y: lax.reduce((x, y), (_typed(x, 0), _typed(y, 1)),
                                 lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,)),
         _N, _N, law="none", reason="two results of one computation"),
]  # fmt: skip
