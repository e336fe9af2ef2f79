"""Sums and extrema over mapped axes (vmap with an axis name, shard_map).

Gathers and permutations only move elements and stand with the movements.
"""

from typing import Any

import jax
import quax
from jax import lax
from jax.extend.core import Primitive
from jax.typing import ArrayLike

from .. import _numerics as num
from .._log_array import LogArray
from .._numerics import Scaled
from .catalogue import if_present
from .registering import annotate, finish, lift, note


def psum(x: Scaled, axes: Any, groups: Any) -> Scaled:
    """The sum over devices: the exponent by pmax, as in a sum along an axis."""

    def largest(e: jax.Array) -> jax.Array:
        return lax.pmax(e, axes, axis_index_groups=groups)

    room = num.format_of(x.significand.dtype).room
    e = num.sum_exponent(*map(largest, num.term_exponents(x)), room)
    return num.tidy(lax.psum(num.shift_to(x, e), axes, axis_index_groups=groups), e)


def extremum(x: Scaled, axes: Any, groups: Any, is_max: bool) -> Scaled:
    """The extremum over devices, of gathered elements."""
    gathered = Scaled(*(lax.all_gather(part, axes, axis_index_groups=groups) for part in x))
    return num.reduce_extremum(gathered, (0,), largest=is_max)


def _register(primitive: Primitive, operation: Any) -> None:
    note(primitive, "collectives")

    def rule(*args: Any, axes: Any, axis_index_groups: Any = None, **params: Any) -> Any:
        out = [
            finish(operation(lift(x), axes, axis_index_groups))
            if isinstance(x, LogArray)
            else primitive.bind(x, axes=axes, axis_index_groups=axis_index_groups, **params)
            for x in args
        ]
        return out if primitive.multiple_results else out[0]

    for position in range(8):
        types = [ArrayLike] * position + [LogArray]

        def at_position(*args: Any, **params: Any) -> Any:
            return rule(*args, **params)

        at_position.__name__ = primitive.name
        quax.register(primitive)(annotate(at_position, *types, rest=LogArray | ArrayLike))


for _primitive in if_present("psum", "psum_invariant"):
    _register(_primitive, psum)
_register(lax.pmax_p, lambda x, axes, groups: extremum(x, axes, groups, True))
_register(lax.pmin_p, lambda x, axes, groups: extremum(x, axes, groups, False))
