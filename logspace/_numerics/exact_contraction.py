"""Contractions term by term: every output at its own exponent, for what no certificate covers.

Outputs are computed a block of rows at a time, so that memory stays bounded, and blocks are
computed again in reverse mode rather than stored.
"""

from collections.abc import Callable

import jax
import numpy as np
from jax import lax

from .bilinear import linear_product, product
from .contraction_axes import Axes
from .scaled import LIMIT, Scaled, format_of, is_finite, is_live, scale_by_computed, select
from .sums import sum_exponent, true_exponent

#: Products formed at a time: 2**20 of them take some 12 MB and keep two cores busy.
_BLOCK = 2**20
_IGNORED = np.int32(-(2**30))


def contract_exactly(x: Scaled, y: Scaled, axes: Axes) -> tuple[jax.Array, jax.Array]:
    """Significands and exponents of the outputs, not yet in their windows."""
    room = format_of(x.significand.dtype).room
    parts = [x.significand, x.exponent, true_exponent(x), _kinds(x)]
    others = [y.significand, y.exponent, true_exponent(y), _kinds(y)]

    def row(left: list[jax.Array], right: list[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (s, e, true, kind), (t, f, other, kinds) = left, right
        exponents = lax.add(_over(true, other), other)
        kind_of_terms = lax.min(_over(kind, kinds), kinds)
        finite, live = (
            lax.reduce_max(
                select(lax.ge(kind_of_terms, np.int32(least)), exponents, _IGNORED), (1,)
            )
            for least in (1, 2)
        )
        # a live product may be one binade above the sum of the exponents of its factors
        e_out = sum_exponent(finite, live, room)
        return _terms_at(product, s, t, e, f, e_out), e_out

    value, exponent = _by_rows(row, parts, others, axes)
    return lax.reshape(value, axes.output), lax.reshape(exponent, axes.output)


def bilinear_at(x: Scaled, y: Scaled, exponent: jax.Array, axes: Axes) -> jax.Array:
    """Derivatives of the significands of the outputs, at their exponents: bilinear in those of
    x and y."""
    b, m, n, _ = axes.sizes

    def row(
        left: list[jax.Array], right: list[jax.Array], e_out: jax.Array
    ) -> tuple[jax.Array, ...]:
        (s, e), (t, f) = left, right
        return (_terms_at(linear_product, s, t, e, f, e_out),)

    exponents = lax.reshape(exponent, (b * m, n))
    (out,) = _by_rows(row, list(x), list(y), axes, exponents)
    return lax.reshape(out, axes.output)


def _kinds(x: Scaled) -> jax.Array:
    """2 for a live entry, 1 for a zero, 0 for an infinity or nan."""
    finite, live = is_finite(x.significand), is_live(x.significand)
    return select(finite, lax.add(lax.convert_element_type(live, np.int32), np.int32(1)), 0)


def _over(row: jax.Array, matrix: jax.Array) -> jax.Array:
    return lax.broadcast_in_dim(row, matrix.shape, (1,))


def _terms_at(
    times: Callable[..., jax.Array],
    s: jax.Array, t: jax.Array, e: jax.Array, f: jax.Array, e_out: jax.Array,
) -> jax.Array:  # fmt: skip
    """The sums over k of s[k] 2**e[k] t[j, k] 2**f[j, k], as significands at e_out[j]."""
    # clipped, or the difference would wrap around; what is beyond is so far out in any case
    total = lax.clamp(np.int32(-LIMIT), lax.add(_over(e, f), f), np.int32(LIMIT))
    shift = lax.sub(total, lax.broadcast_in_dim(e_out, f.shape, (0,)))
    terms = scale_by_computed(times(_over(s, t), t), shift)
    return lax.reduce_sum(terms, (1,))


def _by_rows(
    one_row: Callable[..., tuple[jax.Array, ...]],
    left: list[jax.Array],
    right: list[jax.Array],
    axes: Axes,
    *more: jax.Array,
) -> list[jax.Array]:
    """one_row(row of left, matrix of right, ...) for all rows, (b * m, n) each."""
    b, m, n, k = axes.sizes
    rows = [lax.reshape(axes.left(part), (b * m, k)) for part in left]
    matrices = [axes.right(part) for part in right]
    indices = np.repeat(np.arange(b, dtype=np.int32), m)

    @jax.checkpoint
    def step(operands: tuple[list[jax.Array], jax.Array, tuple[jax.Array, ...]]) -> list[jax.Array]:
        row, index, rest = operands
        matrix = [lax.dynamic_index_in_dim(p, index, keepdims=False) for p in matrices]
        return list(one_row(row, matrix, *rest))

    rows_at_a_time = max(1, min(_BLOCK // max(1, n * k), b * m))
    return lax.map(step, (rows, indices, more), batch_size=rows_at_a_time)
