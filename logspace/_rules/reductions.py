"""Reductions along axes, over windows, and cumulative ones.

Sums are exact relative to their largest live term; products are trees, so that any number of zeros
has the derivatives of a product; ties of an extremum share the derivative as they do in JAX.
"""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from .. import _numerics as num
from .._numerics import Scaled
from .movement import pad_number
from .registering import operands, unary


@unary(lax.reduce_sum_p)
def reduce_sum(x: Scaled, *, axes: Sequence[int], **sharding: Any) -> Scaled:
    return num.sum(x, axes)


@unary(lax.reduce_prod_p)
def reduce_prod(x: Scaled, *, axes: Sequence[int], **sharding: Any) -> Scaled:
    return num.prod(x, axes)


@unary(lax.reduce_max_p)
def reduce_max(x: Scaled, *, axes: Sequence[int], **sharding: Any) -> Scaled:
    return num.reduce_extremum(x, axes, largest=True)


@unary(lax.reduce_min_p)
def reduce_min(x: Scaled, *, axes: Sequence[int], **sharding: Any) -> Scaled:
    return num.reduce_extremum(x, axes, largest=False)


def _index_of_extremum(x: Scaled, axes: Sequence[int], index_dtype: Any, largest: bool) -> Any:
    mask = num.extremum_mask(x, axes, largest)
    return lax.argmax(mask.astype(np.int32), axes[0], index_dtype)


@unary(lax.argmax_p)
def argmax(x: Scaled, *, axes: Sequence[int], index_dtype: Any, **sharding: Any) -> jax.Array:
    return _index_of_extremum(x, axes, index_dtype, largest=True)


@unary(lax.argmin_p)
def argmin(x: Scaled, *, axes: Sequence[int], index_dtype: Any, **sharding: Any) -> jax.Array:
    return _index_of_extremum(x, axes, index_dtype, largest=False)


@unary(lax.cumsum_p)
def cumsum(x: Scaled, *, axis: int, reverse: bool) -> Scaled:
    return num.cumsum(x, axis, reverse)


@unary(lax.cumprod_p)
def cumprod(x: Scaled, *, axis: int, reverse: bool) -> Scaled:
    return num.cumprod(x, axis, reverse)


@unary(lax.cummax_p)
def cummax(x: Scaled, *, axis: int, reverse: bool) -> Scaled:
    return num.cumulative(num.maximum, x, axis, reverse)


@unary(lax.cummin_p)
def cummin(x: Scaled, *, axis: int, reverse: bool) -> Scaled:
    return num.cumulative(num.minimum, x, axis, reverse)


@unary(lax.cumlogsumexp_p)
def cumlogsumexp(x: Scaled, *, axis: int, reverse: bool) -> jax.Array:
    """Of logarithms given as numbers; the result is a plain logarithm."""
    return num.logabs(num.cumsum(num.exp(x), axis, reverse))


@operands(lax.reduce_p)
def reduce(*args: Scaled, computation: Any, jaxpr: Any, dimensions: Any, **params: Any) -> Any:
    """A user's reduction: a sequential fold of the quaxified computation over the dimensions."""
    from .folds import fold

    return fold(args, jaxpr, dimensions)


# ------------------------------------------------------------------------------------- windows


def windows(
    x: Scaled,
    pad_value: Scaled,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int],
    window_dilation: Sequence[int],
) -> Scaled:
    """The elements of each window along a new leading axis: one strided slice per place in it."""
    config = [(lo, hi, d - 1) for (lo, hi), d in zip(padding, base_dilation, strict=True)]
    padded = pad_number(x, pad_value, config)
    shape = padded.significand.shape
    reach = [(w - 1) * d for w, d in zip(window_dimensions, window_dilation, strict=True)]
    counts = [
        max(0, (n - r - 1) // s + 1) for n, r, s in zip(shape, reach, window_strides, strict=True)
    ]
    places = []
    for offset in np.ndindex(*window_dimensions):
        start = [int(o * d) for o, d in zip(offset, window_dilation, strict=True)]
        stop = [
            a + (c - 1) * s + 1 if c else a
            for a, c, s in zip(start, counts, window_strides, strict=True)
        ]
        places.append(
            Scaled(*(lax.slice(part, start, stop, tuple(window_strides)) for part in padded))
        )
    return Scaled(
        *(lax.concatenate([p[None] for p in parts], 0) for parts in zip(*places, strict=True))
    )


def _scalar(x: Scaled, value: float) -> Scaled:
    s = lax.full((), value, x.significand.dtype)
    return Scaled(s, num.zero_exponent(s))


@unary(lax.reduce_window_sum_p)
def reduce_window_sum(x: Scaled, **window: Any) -> Scaled:
    return num.sum(windows(x, _scalar(x, 0.0), **window), (0,))


@unary(lax.reduce_window_max_p)
def reduce_window_max(x: Scaled, **window: Any) -> Scaled:
    return num.reduce_extremum(windows(x, _scalar(x, -np.inf), **window), (0,), largest=True)


@unary(lax.reduce_window_min_p)
def reduce_window_min(x: Scaled, **window: Any) -> Scaled:
    return num.reduce_extremum(windows(x, _scalar(x, np.inf), **window), (0,), largest=False)


@operands(lax.reduce_window_p)
def reduce_window(*args: Scaled, jaxpr: Any, consts: Any, **window: Any) -> Any:
    """A user's reduction over windows."""
    from .folds import fold

    half = len(args) // 2
    gathered = [
        windows(x, init, **window) for x, init in zip(args[:half], args[half:], strict=True)
    ]
    return fold([*gathered, *args[half:]], jaxpr, (0,), consts)
