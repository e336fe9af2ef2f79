"""Signed sums: along axes, cumulative, and into indexed places.

A sum is taken at one exponent, that of its largest term, and is exact relative to that term: what
lies more than 1022 binades (float32: 126) below it is lost if the large terms cancel. Dead terms
(significand 0) do not decide the value; see `arithmetic.add` for what they may do.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .arithmetic import add, where
from .scaled import (
    LIMIT,
    Scaled,
    constant_like,
    exponent_bits,
    format_of,
    is_finite,
    is_live,
    magnitude,
    own_kernel,
    scale_by,
    scale_by_computed,
    select,
    tidy,
    zero_exponent,
)

#: Below every exponent that occurs: the exponent of a term that is to be ignored.
_IGNORED = np.int32(-(2**30))
_NOTHING = np.int32(-LIMIT - 2048)


def true_exponent(x: Scaled) -> jax.Array:
    """floor(log2|x|) of live terms, the stored exponent of dead ones."""
    return lax.add(x.exponent, exponent_bits(magnitude(x.significand)))


def sum_exponent(all_terms: jax.Array, live_terms: jax.Array, room: int) -> jax.Array:
    """The exponent to sum at, from the largest exponents of the finite and of the live terms.

    Either is `_IGNORED` where there is no such term.
    """
    nothing_live = lax.lt(live_terms, _NOTHING)
    e = select(nothing_live, all_terms, lax.min(all_terms, lax.add(live_terms, np.int32(room))))
    return select(lax.lt(e, _NOTHING), np.int32(0), e)


def term_exponents(x: Scaled) -> tuple[jax.Array, jax.Array]:
    """The exponents of all finite terms and of the finite live ones, others `_IGNORED`."""
    finite = is_finite(x.significand)
    e = select(finite, true_exponent(x), _IGNORED)
    return e, select(is_live(x.significand), e, _IGNORED)


def shift_to(x: Scaled, e: jax.Array) -> jax.Array:
    """The significands that x has at exponents e; infinities and nans stay what they are."""
    return scale_by(x.significand, lax.sub(x.exponent, e))


#: Moves a quarter of every exponent into the positive range, clear of the exponents of subnormals
#: once doubled.
_OFFSET = np.int32(2**28 + 2**23)


def exponent_keys(x: Scaled) -> jax.Array:
    """Positive integers in the order of the terms' true exponents, to a multiple of 4 below them,
    odd for live terms; 0 for infinities and nans.

    As bit patterns they are finite, normal, positive float32 numbers, which are in the same order.
    """
    rank = lax.add(lax.shift_right_arithmetic(true_exponent(x), np.int32(2)), _OFFSET)
    live = lax.convert_element_type(is_live(x.significand), np.int32)
    key = lax.bitwise_or(lax.shift_left(rank, np.int32(1)), live)
    return select(is_finite(x.significand), key, np.int32(0))


def _largest_key(keys: jax.Array, axes: tuple[int, ...]) -> jax.Array:
    # along the last axis XLA on CPU vectorises maxima of floats, but not of integers
    if keys.ndim - 1 not in axes:
        return lax.reduce_max(keys, axes)
    floats = lax.bitcast_convert_type(keys, np.float32)
    return lax.bitcast_convert_type(lax.reduce_max(floats, axes), np.int32)


def exponent_of_key(key: jax.Array) -> jax.Array:
    """A multiple of 4, at most 3 below the exponent that gave the key; `_IGNORED` for 0."""
    quarter = lax.sub(lax.shift_right_logical(key, np.int32(1)), _OFFSET)
    return select(lax.le(key, np.int32(1)), _IGNORED, lax.shift_left(quarter, np.int32(2)))


def is_live_key(keys: jax.Array) -> jax.Array:
    return lax.eq(lax.bitwise_and(keys, np.int32(1)), np.int32(1))


def largest_exponents(keys: jax.Array, axes: tuple[int, ...]) -> tuple[jax.Array, jax.Array]:
    """The largest exponents of the finite and of the live terms along axes, to a multiple of 4
    below; `_IGNORED` where there is none."""
    of_all = _largest_key(keys, axes)
    of_live = _largest_key(select(is_live_key(keys), keys, np.int32(0)), axes)
    return exponent_of_key(of_all), exponent_of_key(of_live)


def sum(x: Scaled, axes: Sequence[int]) -> Scaled:  # noqa: A001 - the name of the operation
    """The sum over axes; an empty sum is 0 at exponent 0."""
    axes = tuple(axes)
    if not axes:
        return x
    room = format_of(x.significand.dtype).room
    if np.prod([x.significand.shape[a] for a in axes], dtype=int) == 0:
        s = lax.reduce_sum(x.significand, axes)
        return Scaled(s, zero_exponent(s))
    e = sum_exponent(*largest_exponents(exponent_keys(x), axes), room)
    kept = tuple(a for a in range(x.significand.ndim) if a not in axes)
    shift = lax.sub(x.exponent, lax.broadcast_in_dim(e, x.significand.shape, kept))
    # The kernel of the sum would take the scaling in, but cannot form powers of two: these would be
    # written to memory as two more arrays.
    shifted = own_kernel(scale_by_computed(x.significand, shift))
    return tidy(lax.reduce_sum(shifted, axes), e)


#: Up to so many elements a running result is a tree of pairs; more are taken in blocks of this many.
#: (10**6 elements: a tree alone compiles for 6 s and takes 9 times as long as `jnp.cumsum`.)
_TREE, _BLOCK = 8, 64


def cumulative(
    combine: Callable[[Scaled, Scaled], Scaled], x: Scaled, axis: int, reverse: bool
) -> Scaled:
    """The running `combine` along an axis; each is made of its own elements, so small ones are exact.

    Blocks of elements are scanned side by side, then the blocks' results likewise.
    """
    if x.exponent.shape[axis] <= 1:
        return x
    x = Scaled(*(jnp.moveaxis(jnp.asarray(part, part.dtype), axis, 0) for part in x))
    if reverse:
        x = Scaled(*(lax.rev(part, (0,)) for part in x))
    x = _cumulative(combine, x)
    if reverse:
        x = Scaled(*(lax.rev(part, (0,)) for part in x))
    return Scaled(*(jnp.moveaxis(part, 0, axis) for part in x))


def _cumulative(combine: Callable[[Scaled, Scaled], Scaled], x: Scaled) -> Scaled:
    """`cumulative` along the first axis."""
    n = x.exponent.shape[0]
    if n <= _TREE:
        return lax.associative_scan(combine, x)
    if n <= _BLOCK:
        return _one_by_one(combine, x)
    count = -(-n // _BLOCK)
    # what is filled up comes last and is dropped
    fill = [(0, count * _BLOCK - n)] + [(0, 0)] * (x.exponent.ndim - 1)
    padded = (jnp.pad(part, fill, mode="edge") for part in x)
    blocks = Scaled(*(part.reshape(count, _BLOCK, *part.shape[1:]) for part in padded))
    inside = _one_by_one(combine, Scaled(*(jnp.moveaxis(part, 1, 0) for part in blocks)))
    before = _cumulative(combine, Scaled(*(part[-1, :-1] for part in inside)))
    wide = Scaled(*(jnp.broadcast_to(part, (_BLOCK, *part.shape)) for part in before))
    later = combine(wide, Scaled(*(part[:, 1:] for part in inside)))
    out = (jnp.concatenate([a[:, :1], b], axis=1) for a, b in zip(inside, later, strict=True))
    return Scaled(*(jnp.moveaxis(a, 0, 1).reshape(-1, *a.shape[2:])[:n] for a in out))


def _one_by_one(combine: Callable[[Scaled, Scaled], Scaled], x: Scaled) -> Scaled:
    def step(so_far: Scaled, element: Scaled) -> tuple[Scaled, Scaled]:
        so_far = combine(so_far, element)
        return so_far, so_far

    first, rest = (Scaled(*(part[i] for part in x)) for i in (0, slice(1, None)))
    _, others = lax.scan(step, first, rest)
    joined = zip(first, others, strict=True)
    return Scaled(*(jnp.concatenate([a[None], b]) for a, b in joined))


def cumsum(x: Scaled, axis: int, reverse: bool = False) -> Scaled:
    return cumulative(add, x, axis, reverse)


def scatter_add(
    operand: Scaled,
    updates: Scaled,
    scatter_sum: Callable[[jax.Array, jax.Array], jax.Array],
    scatter_max: Callable[[jax.Array, jax.Array], jax.Array],
) -> Scaled:
    """operand plus the updates scattered into it, each place at its own exponent.

    `scatter_sum(operand, updates)` and `scatter_max` scatter plain arrays at fixed indices. The
    exponent of the place that an update goes to is gathered by the transpose of `scatter_sum`.
    """
    room = format_of(operand.significand.dtype).room
    all_here, live_here = term_exponents(operand)
    all_there, live_there = term_exponents(updates)
    e = sum_exponent(scatter_max(all_here, all_there), scatter_max(live_here, live_there), room)
    e_updates = _gather_by_transpose(e, updates.exponent, scatter_sum)
    s = scatter_sum(shift_to(operand, e), shift_to(updates, e_updates))
    return tidy(s, e)


def _gather_by_transpose(
    e: jax.Array, like_updates: jax.Array, scatter_sum: Callable[..., jax.Array]
) -> jax.Array:
    """e at the places where `scatter_sum` puts the updates.

    Only floats have transposes; the exponents travel in two halves that float32 holds exactly.
    """
    zeros = constant_like(like_updates, 0, np.float32)
    target = constant_like(e, 0, np.float32)
    _, transpose = jax.vjp(lambda updates: scatter_sum(target, updates), zeros)
    high = lax.shift_right_arithmetic(e, np.int32(15))
    low = lax.sub(e, lax.shift_left(high, np.int32(15)))

    def gather(part: jax.Array) -> jax.Array:
        (gathered,) = transpose(lax.convert_element_type(part, np.float32))
        return lax.convert_element_type(gathered, np.int32)

    return lax.add(lax.shift_left(gather(high), np.int32(15)), gather(low))


def scatter_combine(
    combine: Callable[[Scaled, Scaled], Scaled],
    operand: Scaled,
    updates: Scaled,
    scatter_sum: Callable[[jax.Array, jax.Array], jax.Array],
) -> Scaled:
    """operand combined with the updates at their places, by any associative `combine`.

    Updates are sorted by their place; a segmented scan combines those that share one.
    """
    places = operand.exponent.size
    if updates.exponent.size == 0 or places == 0:
        return operand
    ids = lax.reshape(lax.iota(np.int32, places), operand.exponent.shape)
    target = _gather_by_transpose(ids, updates.exponent, scatter_sum)
    in_bounds = _gather_by_transpose(lax.full_like(ids, 1), updates.exponent, scatter_sum)
    # updates that fall outside come last and are dropped
    target = select(lax.eq(in_bounds, np.int32(1)), target, np.int32(places)).reshape(-1)
    order = jnp.argsort(target, stable=True)
    target = target[order]
    values = Scaled(*(part.reshape(-1)[order] for part in updates))
    change = target[1:] != target[:-1]
    edge = jnp.ones((1,), bool)
    first, last = jnp.concatenate([edge, change]), jnp.concatenate([change, edge])

    def segmented(left: tuple[jax.Array, Scaled], right: tuple[jax.Array, Scaled]) -> Any:
        (start_left, a), (start_right, b) = left, right
        return start_left | start_right, where(start_right, b, combine(a, b))

    _, combined = lax.associative_scan(segmented, (first, values))
    at = jnp.full((places,), -1, np.int32)
    at = at.at[jnp.where(last, target, places)].set(
        jnp.arange(target.size, dtype=np.int32), mode="drop"
    )
    at = at.reshape(operand.exponent.shape)
    update = Scaled(*(part[jnp.maximum(at, 0)] for part in combined))
    return where(at >= 0, combine(operand, update), operand)
