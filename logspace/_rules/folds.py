"""Reductions by a function of the user's."""

import math
from collections.abc import Sequence
from typing import Any

import jax
from jax import lax
from jax.extend.core import jaxpr_as_fun

from .._compat import ClosedJaxpr
from .._log_array import unwrap, wrap
from .._numerics import Scaled
from .._quaxify import quaxify


def fold(
    args: Sequence[Scaled], jaxpr: Any, dimensions: Sequence[int], consts: Sequence[Any] = ()
) -> list[Scaled]:
    """Reduce the first half of the operands, starting from the second half, in order."""
    half = len(args) // 2
    arrays, initial = args[:half], args[half:]
    # with jax 0.10.2 the jaxpr of a windowed reduction is an open one
    program = jaxpr if hasattr(jaxpr, "consts") else ClosedJaxpr(jaxpr, consts)
    combine = quaxify(jaxpr_as_fun(program))

    def step(carry: Any, element: Any) -> Any:
        return tuple(combine(*carry, *element)), None

    def flatten(part: jax.Array) -> jax.Array:
        kept = [d for d in range(part.ndim) if d not in dimensions]
        moved = lax.transpose(part, (*dimensions, *kept))
        rows = math.prod(part.shape[d] for d in dimensions)
        return lax.reshape(moved, (rows, *(part.shape[d] for d in kept)))

    elements = tuple(wrap(Scaled(*map(flatten, x))) for x in arrays)
    shape = elements[0].shape[1:]

    def spread(x: Scaled) -> Any:
        return wrap(Scaled(*(lax.broadcast(part, shape) for part in x)))

    out, _ = lax.scan(step, tuple(map(spread, initial)), elements)
    return [unwrap(x) for x in out]
