"""Order: comparisons, extrema and sorting.

Comparisons are exact, because subtraction is correctly rounded and does not underflow.
Complex numbers are ordered by real, then imaginary part, as in JAX.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import numpy as np
from jax import lax

from .arithmetic import add, real, subtract, where
from .arithmetic import imag as imaginary
from .bilinear import derivative_only
from .scaled import (
    LIMIT,
    Scaled,
    is_complex,
    is_finite,
    is_live,
    normalise,
    scale_by,
    select,
    tidy,
)


def constant(x: Scaled) -> Scaled:
    return Scaled(lax.stop_gradient(x.significand), x.exponent)


def less(x: Scaled, y: Scaled) -> jax.Array:
    if is_complex(x.significand):
        x, y = constant(x), constant(y)
        tie = lax.bitwise_and(equal(real(x), real(y)), _less(imaginary(x), imaginary(y)))
        return lax.bitwise_or(_less(real(x), real(y)), tie)
    return _less(constant(x), constant(y))


def _less(x: Scaled, y: Scaled) -> jax.Array:
    difference = subtract(x, y).significand
    return lax.lt(difference, lax.full_like(difference, 0))


def equal(x: Scaled, y: Scaled) -> jax.Array:
    x, y = constant(x), constant(y)
    same = lax.eq(subtract(x, y).significand, lax.full_like(x.significand, 0))
    special = lax.bitwise_and(
        lax.bitwise_not(is_finite(x.significand)), lax.eq(x.significand, y.significand)
    )
    return lax.bitwise_or(same, special)


def less_equal(x: Scaled, y: Scaled) -> jax.Array:
    return lax.bitwise_or(less(x, y), equal(x, y))


def is_nan(x: Scaled) -> jax.Array:
    s = lax.stop_gradient(x.significand)
    return lax.ne(s, s)


def maximum(x: Scaled, y: Scaled) -> Scaled:
    """The larger of two; at a tie each carries half of the derivative. A nan wins."""
    return _extremum(x, y, less(x, y))


def minimum(x: Scaled, y: Scaled) -> Scaled:
    return _extremum(x, y, less(y, x))


def _extremum(x: Scaled, y: Scaled, take_y: jax.Array) -> Scaled:
    # the mean of two equal numbers is that number, exactly
    mean = add(_halve(x), _halve(y))
    y_is_nan = lax.bitwise_and(is_nan(y), lax.bitwise_not(is_nan(x)))
    one = where(lax.bitwise_or(take_y, y_is_nan), y, x)
    return where(equal(x, y), mean, one)


def _halve(x: Scaled) -> Scaled:
    exponent = select(is_finite(x.significand), lax.sub(x.exponent, np.int32(1)), np.int32(0))
    return Scaled(x.significand, lax.max(exponent, np.int32(-LIMIT)))


def sort_keys(x: Scaled) -> list[jax.Array]:
    """Keys whose lexicographic order is the order of the numbers, nans last; constants."""
    if is_complex(x.significand):
        return [*sort_keys(real(constant(x))), *sort_keys(imaginary(constant(x)))]
    n = normalise(constant(x))
    s = n.significand
    sign = select(lax.ne(s, s), np.int32(3), lax.convert_element_type(_three_way(s), np.int32))
    # infinities stand outside all finite numbers of their sign
    infinite = lax.eq(lax.abs(s), np.array(np.inf, s.dtype))
    sign = select(infinite, lax.mul(sign, np.int32(2)), sign)
    size = lax.mul(n.exponent, lax.clamp(np.int32(-1), sign, np.int32(1)))
    size = select(is_live(s), size, np.int32(0))
    # zeros of either sign are equal, and so are nans
    fraction = select(lax.bitwise_and(is_live(s), lax.eq(s, s)), s, lax.full_like(s, 0))
    return [sign, size, fraction]


def _three_way(s: jax.Array) -> jax.Array:
    return lax.sign(select(lax.eq(s, s), s, lax.full_like(s, 0)))


class Reduction(NamedTuple):
    """How plain arrays are reduced: along axes of the array, or over devices."""

    max: Callable[[jax.Array], jax.Array]
    min: Callable[[jax.Array], jax.Array]
    sum: Callable[[jax.Array], jax.Array]
    spread: Callable[[jax.Array], jax.Array]  # a result back to where it came from


def _along(axes: tuple[int, ...], shape: tuple[int, ...]) -> Reduction:
    kept = tuple(a for a in range(len(shape)) if a not in axes)
    return Reduction(
        lambda a: lax.reduce_max(a, axes),
        lambda a: lax.reduce_min(a, axes),
        lambda a: lax.reduce_sum(a, axes),
        lambda a: lax.broadcast_in_dim(a, shape, kept),
    )


def extremum_mask(x: Scaled, axes: Sequence[int], largest: bool) -> jax.Array:
    """Where x takes its largest (or smallest) value along axes; nans count as the extremum."""
    return _mask(x, _along(tuple(axes), x.significand.shape), largest)


def _mask(x: Scaled, over: Reduction, largest: bool) -> jax.Array:
    mask = lax.eq(x.exponent, x.exponent)
    reduce = over.max if largest else over.min
    for key in sort_keys(x):
        if not largest:
            # nans are an extremum in either direction
            key = select(is_nan(x), lax.full_like(key, _least(key.dtype)), key)
        fill = _least(key.dtype) if largest else _greatest(key.dtype)
        best = reduce(select(mask, key, lax.full_like(key, fill)))
        mask = lax.bitwise_and(mask, lax.eq(key, over.spread(best)))
    return mask


def _least(dtype: np.dtype) -> np.ndarray:
    return np.array(-np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min, dtype)


def _greatest(dtype: np.dtype) -> np.ndarray:
    return np.array(np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).max, dtype)


def reduce_extremum(x: Scaled, axes: Sequence[int], largest: bool) -> Scaled:
    """The largest (smallest) number along axes; ties share the derivative equally, as in JAX."""
    axes = tuple(axes)
    return extremum_over(x, _along(axes, x.significand.shape), largest) if axes else x


def extremum_over(x: Scaled, over: Reduction, largest: bool) -> Scaled:
    mask = _mask(x, over, largest)
    e = over.max(select(mask, x.exponent, np.int32(-LIMIT)))
    shift = select(is_finite(x.significand), lax.sub(x.exponent, over.spread(e)), np.int32(0))
    aligned = scale_by(x.significand, shift)
    value = _pick(lax.stop_gradient(aligned), mask, over)
    count = over.sum(lax.convert_element_type(mask, aligned.dtype))
    carried = select(mask, derivative_only(aligned), lax.full_like(aligned, 0))
    return tidy(lax.add(value, lax.div(over.sum(carried), count)), e)


def _pick(aligned: jax.Array, mask: jax.Array, over: Reduction) -> jax.Array:
    """The common value of the masked entries, whatever it is (also infinite or nan)."""
    if is_complex(aligned):
        parts = (lax.real(aligned), lax.imag(aligned))
        return lax.complex(*(_pick(part, mask, over) for part in parts))
    nan = lax.bitwise_and(mask, lax.ne(aligned, aligned))
    any_nan = lax.gt(over.max(lax.convert_element_type(nan, np.int32)), np.int32(0))
    best = over.max(select(mask, aligned, lax.full_like(aligned, -np.inf)))
    return select(any_nan, lax.full_like(best, np.nan), best)
