"""Contractions that lose no term, by matrix multiplication wherever that is safe.

Scaling the rows and columns of the operands by powers of two and multiplying once is fast and, in
general, wrong: in ``[1, e**-1000] . [e**-1000, 1]`` both scaled products underflow and the answer
2 e**-1000 becomes 0. The scaled product is used only with a certificate that nothing was lost:

1. all entries of an operand have one exponent and moderate significands (ordinary numbers), or
   none is so far below the others of its row or column that a product can underflow: an O(n**2)
   look at the exponents;
2. every output is so large, or the sum of its absolute terms is, that what may have underflowed is
   far below its rounding (dense entries over many hundred binades);
3. the same after moving powers of two along the contracted index (graded matrices, gauges).

What none of them covers is computed term by term, a block of outputs at a time, each output at its
own exponent (`exact_contraction`).
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .arithmetic import multiply
from .contraction_axes import Axes
from .exact_contraction import bilinear_at, contract_exactly
from .scaled import (
    LIMIT,
    Scaled,
    format_of,
    is_finite,
    is_live,
    magnitude,
    own_kernel,
    scalar,
    scale_by_computed,
    select,
    tidy,
)
from .sums import exponent_keys, exponent_of_key, is_live_key, largest_exponents, sum_exponent
from .sums import sum as sum_along

#: Up to so many products they are formed at once: deciding costs more than it saves. (8 x 8 matrices,
#: 512 products: 1.6 us for a product decided upon, 2.2 us at once, but 1.7 s to compile against 0.35.)
_FEW = 2**8


def dot_general(x: Scaled, y: Scaled, dimension_numbers: Any) -> Scaled:
    """`lax.dot_general` of two numbers; the error is a few eps times the sum of absolute terms.

    Derivatives are those of products and sums, to every order. Under `vmap` one decision is made
    for the whole batch, so the last bits of a result may depend on the other samples.
    """
    axes = Axes.of(dimension_numbers, x.exponent.shape, y.exponent.shape)
    if axes.products <= _FEW:
        wide_x, wide_y = axes.widen_left(x), axes.widen_right(y)
        return sum_along(multiply(wide_x, wide_y), (wide_x.exponent.ndim - 1,))
    x_constant, y_constant = (Scaled(lax.stop_gradient(z.significand), z.exponent) for z in (x, y))
    value, plan = _plan(x_constant, y_constant, axes)
    return tidy(_value(x, y, value, plan, axes), plan.exponent)


#: How a plan forms its outputs: from the significands as they are, from scaled ones, by terms.
_RAW, _SCALED, _EXACT = 0, 1, 2


class _Plan(NamedTuple):
    """How the significand of every output, at `exponent`, follows from those of the operands."""

    rows: jax.Array  # (batch, free of x): exponents taken out of x
    columns: jax.Array  # (batch, free of y)
    balance: jax.Array  # (batch, contracted): exponents moved from y to x
    exponent: jax.Array  # of the output
    kind: jax.Array


def _plan(x: Scaled, y: Scaled, axes: Axes) -> tuple[jax.Array, _Plan]:
    """Significands of the value, and the plan by which they and the derivatives are formed."""

    def plan(kind: int, rows: Any, columns: Any, balance: Any, exponent: Any = None) -> _Plan:
        if exponent is None:
            exponent = axes.outer(lax.add, rows, columns)
        return _Plan(rows, columns, balance, exponent, lax.full((), kind, np.int32))

    zero = np.int32(0)
    unbalanced = lax.full(axes.batch + axes.contracted, zero)

    def first_scales() -> Any:
        rows = lax.full(axes.batch + axes.row_shape, _first(x.exponent))
        return rows, lax.full(axes.batch + axes.column_shape, _first(y.exponent)), always, always

    always = np.ones((), np.bool_)
    not_ordinary = anywhere(~(_is_ordinary(x) & _is_ordinary(y)))
    rows, columns, certain, in_range = lax.cond(
        not_ordinary, lambda: _scales(x, y, unbalanced, axes), first_scales
    )

    def raw() -> Any:
        value = axes.dot(x.significand, y.significand)
        return value, plan(_RAW, rows, columns, unbalanced)

    def scaled() -> Any:
        attempt = plan(_SCALED, rows, columns, unbalanced)
        return _matrix_product(x, y, attempt, axes), attempt

    def uncertain() -> Any:
        value, attempt = scaled()
        safe = in_range & _nothing_lost(x, y, value, attempt, axes)
        return lax.cond(anywhere(~safe), balanced, lambda: (value, attempt))

    def balanced() -> Any:
        balance = axes.balance(*map(_exponents_that_count, (x, y)))
        rows, columns, certain, in_range = _scales(x, y, balance, axes)
        attempt = plan(_SCALED, rows, columns, balance)
        value = _matrix_product(x, y, attempt, axes)
        safe = in_range & (certain | _nothing_lost(x, y, value, attempt, axes))
        return lax.cond(anywhere(~safe), exactly, lambda: (value, attempt))

    def exactly() -> Any:
        value, exponent = contract_exactly(x, y, axes)
        rows = lax.full(axes.batch + axes.row_shape, zero)
        columns = lax.full(axes.batch + axes.column_shape, zero)
        return value, plan(_EXACT, rows, columns, unbalanced, exponent)

    # one level of branches, each of which writes its result to where it stays
    index = sum(lax.convert_element_type(p, np.int32) for p in (not_ordinary, anywhere(~certain)))
    return lax.switch(index, (raw, scaled, uncertain))


def _first(a: jax.Array) -> jax.Array:
    return lax.reshape(lax.slice(a, (0,) * a.ndim, (1,) * a.ndim), ())


def _is_ordinary(x: Scaled) -> jax.Array:
    """Whether the significands can be multiplied as they are: one exponent, no extreme entries."""
    a = magnitude(x.significand)
    reach = _depth(x) // 2
    moderate = lax.gt(a, scalar(a, 2.0**-reach)) & lax.lt(a, scalar(a, 2.0**reach))
    zero = lax.eq(a, scalar(a, 0))
    same = lax.eq(x.exponent, lax.full(x.exponent.shape, _first(x.exponent)))
    return jnp.all(same & (moderate | zero))


@jax.custom_batching.custom_vmap
def anywhere(p: jax.Array) -> jax.Array:
    """Whether a condition holds anywhere in the batch: one `lax.cond` for all of `vmap`."""
    return p


@anywhere.def_vmap
def _anywhere_in_batch(size: int, batched: list[bool], p: jax.Array) -> tuple[jax.Array, bool]:
    return anywhere(jnp.any(p, axis=0)), False


def _scales(x: Scaled, y: Scaled, balance: jax.Array, axes: Axes) -> tuple[jax.Array, ...]:
    """Exponents of rows and columns, whether at these no product of entries is small, and whether no
    zero is so far above the others that its derivative overflows, and is then multiplied by zeros."""
    room = format_of(x.significand.dtype).room
    # in memory of their own, since they are read three times
    x_keys, y_keys = (
        own_kernel(exponent_keys(Scaled(z.significand, e)))
        for z, e in (
            (x, lax.add(x.exponent, axes.along_x(balance))),
            (y, lax.sub(y.exponent, axes.along_y(balance))),
        )
    )
    largest_of_rows, live_of_rows = largest_exponents(x_keys, axes.contracted_x)
    largest_of_columns, live_of_columns = largest_exponents(y_keys, axes.contracted_y)
    rows = axes.rows(sum_exponent(largest_of_rows, live_of_rows, room))
    columns = axes.columns(sum_exponent(largest_of_columns, live_of_columns, room))
    smallest = lax.add(
        _smallest(x_keys, axes.over_rows(rows)), _smallest(y_keys, axes.over_columns(columns))
    )
    no_small_product = lax.ge(smallest, np.int32(-_depth(x)))
    in_range = jnp.all(lax.ge(rows, axes.rows(largest_of_rows))) & jnp.all(
        lax.ge(columns, axes.columns(largest_of_columns))
    )
    return rows, columns, in_range & no_small_product, in_range


def _depth(x: Scaled) -> int:
    """How many binades below its scale an output may lie.

    The terms of its derivatives that underflow are then as far below it again.
    """
    return format_of(x.significand.dtype).bias // 2


def _counts(keys: jax.Array) -> jax.Array:
    """Entries that matter to a value or a derivative: not zeros of the smallest scale of all."""
    vanishing = lax.lt(exponent_of_key(keys), np.int32(-LIMIT // 2))
    return lax.gt(keys, np.int32(0)) & (is_live_key(keys) | ~vanishing)


def _smallest(keys: jax.Array, scale: jax.Array) -> jax.Array:
    """The smallest exponent of an entry relative to the scale of its row or column."""
    relative = lax.max(lax.sub(exponent_of_key(keys), scale), np.int32(-LIMIT))
    relative = select(_counts(keys), relative, np.int32(0))
    # beside an infinity, a matrix product would form 0 * inf in derivatives
    relative = select(lax.eq(keys, np.int32(0)), np.int32(-LIMIT), relative)
    return jnp.min(relative, initial=0)


def _one_where_it_counts(x: Scaled) -> jax.Array:
    return lax.convert_element_type(_counts(exponent_keys(x)), magnitude(x.significand).dtype)


def _exponents_that_count(x: Scaled) -> jax.Array:
    keys = exponent_keys(x)
    return select(_counts(keys), exponent_of_key(keys), np.int32(-LIMIT))


def _scaled_operands(x: Scaled, y: Scaled, plan: _Plan, axes: Axes) -> tuple[jax.Array, jax.Array]:
    x_shift = lax.sub(x.exponent, axes.over_rows(plan.rows))
    y_shift = lax.sub(y.exponent, axes.over_columns(plan.columns))
    x_shift = lax.add(x_shift, axes.along_x(plan.balance))
    y_shift = lax.sub(y_shift, axes.along_y(plan.balance))
    # on CPU the powers of two would else be formed again within the product
    a = own_kernel(scale_by_computed(x.significand, x_shift))
    return a, own_kernel(scale_by_computed(y.significand, y_shift))


def _matrix_product(x: Scaled, y: Scaled, plan: _Plan, axes: Axes) -> jax.Array:
    return axes.dot(*_scaled_operands(x, y, plan, axes))


def _nothing_lost(x: Scaled, y: Scaled, value: jax.Array, plan: _Plan, axes: Axes) -> jax.Array:
    """Whether every output is so large that products which underflowed do not matter to it."""
    threshold = 2.0 ** -_depth(x)
    large = lax.ge(magnitude(value), scalar(magnitude(value), threshold))

    def of_sums() -> jax.Array:
        # cancelling outputs: the sum of absolute terms is what counts
        a, b = _scaled_operands(x, y, plan, axes)
        terms = axes.dot(magnitude(a), magnitude(b))
        # zeros: the products of scales, against which their derivatives are measured
        ones = [Scaled(_one_where_it_counts(z), z.exponent) for z in (x, y)]
        scales = axes.dot(*_scaled_operands(ones[0], ones[1], plan, axes))
        # pairs of entries at all
        pairs = axes.dot(*(lax.convert_element_type(z.significand, np.float32) for z in ones))
        live = [lax.convert_element_type(is_live(z.significand), np.float32) for z in (x, y)]
        live_pairs = axes.dot(*live)
        dead = lax.eq(live_pairs, lax.full_like(live_pairs, 0))
        fine = select(
            dead,
            lax.ge(scales, scalar(scales, threshold)),
            lax.ge(terms, scalar(terms, threshold)),
        )
        return jnp.all(large | fine | lax.eq(pairs, lax.full_like(pairs, 0)))

    everything = jnp.all(large)
    finite = jnp.all(is_finite(x.significand)) & jnp.all(is_finite(y.significand))
    return finite & lax.cond(anywhere(~everything), of_sums, lambda: everything)


# The value is known with the plan; all derivatives are bilinear in the significands.


@partial(jax.custom_jvp, nondiff_argnums=(4,))
def _value(x: Scaled, y: Scaled, value: jax.Array, plan: _Plan, axes: Axes) -> jax.Array:
    return value


@_value.defjvp
def _value_jvp(axes: Axes, primals: Any, tangents: Any) -> Any:
    (x, y, value, plan), (dx, dy, *_) = primals, tangents
    return _value(x, y, value, plan, axes), _tangent(x, y, dx, dy, plan, axes)


@partial(jax.custom_jvp, nondiff_argnums=(3,))
def _bilinear(x: Scaled, y: Scaled, plan: _Plan, axes: Axes) -> jax.Array:
    def raw(xs: jax.Array, ys: jax.Array) -> jax.Array:
        return axes.dot(xs, ys)

    def scaled(xs: jax.Array, ys: jax.Array) -> jax.Array:
        return _matrix_product(Scaled(xs, x.exponent), Scaled(ys, y.exponent), plan, axes)

    def exactly(xs: jax.Array, ys: jax.Array) -> jax.Array:
        at = plan.exponent
        return bilinear_at(Scaled(xs, x.exponent), Scaled(ys, y.exponent), at, axes)

    return lax.switch(plan.kind, (raw, scaled, exactly), x.significand, y.significand)


@_bilinear.defjvp
def _bilinear_jvp(axes: Axes, primals: Any, tangents: Any) -> Any:
    (x, y, plan), (dx, dy, _) = primals, tangents
    return _bilinear(x, y, plan, axes), _tangent(x, y, dx, dy, plan, axes)


def _tangent(x: Scaled, y: Scaled, dx: Scaled, dy: Scaled, plan: _Plan, axes: Axes) -> jax.Array:
    in_x = _bilinear(Scaled(dx.significand, x.exponent), y, plan, axes)
    return lax.add(in_x, _bilinear(x, Scaled(dy.significand, y.exponent), plan, axes))
