"""Sums and extrema over mapped axes (vmap with an axis name, shard_map).

Gathers and permutations only move elements and stand with the movements.
"""

from functools import partial
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
from .registering import LEADING, annotate, finish, lift, note


def psum(x: Scaled, axes: Any, groups: Any) -> Scaled:
    """The sum over devices: the exponent by pmax, as in a sum along an axis."""

    def largest(e: jax.Array) -> jax.Array:
        return lax.pmax(e, axes, axis_index_groups=groups)

    room = num.format_of(x.significand.dtype).room
    all_terms, live_terms = map(largest, num.term_exponents(x))
    e = num.sum_exponent(all_terms, live_terms, room)
    return num.tidy(lax.psum(num.shift_to(x, e), axes, axis_index_groups=groups), e)


def extremum(x: Scaled, axes: Any, groups: Any, largest: bool) -> Scaled:
    """The extremum over devices; ties share the derivative, as along an axis."""
    maximum, minimum, total = (
        partial(f, axis_name=axes, axis_index_groups=groups) for f in _REDUCTIONS
    )
    over = num.Reduction(maximum, minimum, total, lambda a: a)
    return num.extremum_over(x, over, largest)


_REDUCTIONS = (lax.pmax, lax.pmin, lax.psum)


def _register(primitive: Primitive, operation: Any) -> None:
    note(primitive, "collectives")

    def reduce(x: Any, params: dict[str, Any]) -> Any:
        if isinstance(x, LogArray):
            groups = params.get("axis_index_groups")
            return finish(operation(lift(x), params["axes"], groups), x)
        out = primitive.bind(x, **params)
        return out[0] if primitive.multiple_results else out

    def rule(*args: Any, **params: Any) -> Any:
        out = [reduce(x, params) for x in args]
        return out if primitive.multiple_results else out[0]

    for position in range(LEADING):
        types = [ArrayLike] * position + [LogArray]

        def at_position(*args: Any, **params: Any) -> Any:
            return rule(*args, **params)

        at_position.__name__ = primitive.name
        quax.register(primitive)(annotate(at_position, *types, rest=LogArray | ArrayLike))


for _primitive in if_present("psum", "psum_invariant"):
    _register(_primitive, psum)
_register(lax.pmax_p, partial(extremum, largest=True))
_register(lax.pmin_p, partial(extremum, largest=False))
