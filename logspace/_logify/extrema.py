"""Maxima and minima of logarithms.

What is not chosen has no part in the result, and none in its derivative: plain JAX multiplies the
infinite derivative of log(0) by 0 there. The cure is that of `shielding`. The exponential of an
extremum is the extremum of the numbers, because exp is monotone.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax

from .algebra import is_singular_log
from .movement import broadcast_to
from .rules import Operation, rule
from .shielding import shield
from .value import PLAIN, VALUE, Form, Graph, Value, plainly


@rule("reduce_max", "reduce_min")
def _along_axes(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not v.is_float:
        return None
    axes = tuple(operation.params["axes"])
    value, new = graph.node(operation.name, (v,), axes, shape=operation.shape,
                            plain=operation.plain((v,)))  # fmt: skip
    if not new:
        return value
    value.nonnegative = v.nonnegative
    if not is_singular_log(v):
        return value
    largest = operation.name == "reduce_max"
    lost = lax.lt if largest else lax.gt
    kept = [i for i in range(v.ndim) if i not in axes]

    def is_lost(a: jax.Array, m: jax.Array) -> jax.Array:
        return lost(a, lax.broadcast_in_dim(m, a.shape, kept))

    value.forms[VALUE] = operation.plain((v,))
    beaten, _ = graph.node("lost", (v, value), dtype=np.dtype(bool),
                           plain=Form(is_lost, ((v, PLAIN), (value, VALUE))))  # fmt: skip
    shielded = shield(graph, v, beaten, False)
    if shielded is not None:
        nothing = -np.inf if largest else np.inf

        def of_chosen(beaten: jax.Array, a: jax.Array) -> jax.Array:
            return operation.bind(lax.select(beaten, lax.full_like(a, nothing), a))

        graph.changed = True
        value.forms[PLAIN] = plainly(of_chosen, beaten, shielded)
    return value


@rule("max", "min")
def _of_two(graph: Graph, operation: Operation, *operands: Value) -> Value | None:
    if not all(v.is_float for v in operands) or not any(map(is_singular_log, operands)):
        return None
    x, y = (broadcast_to(graph, v, operation.shape) for v in operands)
    value, new = graph.node(operation.name, (x, y), operation.key, plain=operation.plain(operands))
    if new:
        lost = lax.lt if operation.name == "max" else lax.gt
        value.forms[VALUE] = value.forms[PLAIN]
        parts = _shielded_where_lost(graph, lost, x, y)
        if parts is not None:
            (x_lost, x), (y_lost, y) = parts

            def chosen(xl: Any, a: Any, yl: Any, b: Any) -> jax.Array:
                # both take part where they are equal
                return lax.select(xl, b, lax.select(yl, a, operation.bind(a, b)))

            graph.changed = True
            value.forms[PLAIN] = plainly(chosen, x_lost, x, y_lost, y)
    return value


def _shielded_where_lost(
    graph: Graph, lost: Callable[..., Any], x: Value, y: Value
) -> list[tuple[Value, Value]] | None:
    parts, changed = [], False
    for v, other in ((x, y), (y, x)):
        beaten, _ = graph.node("lost", (v, other), lost.__name__, dtype=np.dtype(bool),
                               plain=plainly(lost, v, other))  # fmt: skip
        shielded = shield(graph, v, beaten, False)
        changed |= shielded is not None
        parts.append((beaten, v if shielded is None else shielded))
    return parts if changed else None


@rule("clamp")
def _clamp(graph: Graph, operation: Operation, low: Value, v: Value, high: Value) -> Value | None:
    """min(max(v, low), high)."""
    if not is_singular_log(v) or not (low.is_float and high.is_float):
        return None
    low, high = (broadcast_to(graph, b, v.shape) for b in (low, high))
    clamped = v
    for name, function, bound in (("max", lax.max, low), ("min", lax.min, high)):
        part = Operation(name, {}, operation.avals, function)
        result = _of_two(graph, part, clamped, bound)
        if result is None:
            result, _ = graph.node(name, (clamped, bound), part.key,
                                   plain=part.plain((clamped, bound)))  # fmt: skip
        clamped = result
    return clamped
