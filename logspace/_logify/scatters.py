"""Updates at indexed places: `x.at[i].set`, `.add`, `.mul`, and sums over segments.

A sum into a place is a product of the numbers where it is one of logarithms.
"""

from typing import Any

import jax
from jax import lax

from .. import _numerics as num
from .algebra import antilog_of, logarithm
from .movement import structural
from .rules import Operation, rule
from .value import NUMBER, PLAIN, Form, Graph, Value, plainly

_OPTIONS = ("dimension_numbers", "indices_are_sorted", "unique_indices", "mode")


def _plain_scatter(function: Any, params: dict[str, Any], indices: jax.Array) -> Any:
    options = {name: params[name] for name in _OPTIONS}
    return lambda operand, updates: function(operand, indices, updates, **options)


@rule("scatter")
def _scatter(
    graph: Graph, operation: Operation, x: Value, indices: Value, updates: Value
) -> Value | None:
    if not (x.is_float and updates.is_float and _says_more(x, updates)):
        return None

    def apply(indices: jax.Array, operand: jax.Array, updates: jax.Array) -> jax.Array:
        return _plain_scatter(lax.scatter, operation.params, indices)(operand, updates)

    return structural(graph, operation.name, operation.key, (x, updates), apply,
                      indices=(indices,), shape=operation.shape)  # fmt: skip


def _says_more(*values: Value) -> bool:
    return any(v.is_log or v.risky for v in values)


@rule(lax.scatter_add_p.name, lax.scatter_sub_p.name)
def _scatter_add(
    graph: Graph, operation: Operation, x: Value, indices: Value, updates: Value
) -> Value | None:
    if not (x.is_float and updates.is_float and _says_more(x, updates)):
        return None
    negative = operation.name == lax.scatter_sub_p.name
    params, operands = operation.params, (x, indices, updates)
    if x.is_log or updates.is_log:

        def multiplied(a: num.Scaled, i: jax.Array, b: num.Scaled) -> num.Scaled:
            b = num.reciprocal(b) if negative else b
            return num.scatter_combine(
                num.multiply, a, b, _plain_scatter(lax.scatter_add, params, i)
            )

        antilogs = antilog_of(graph, x), antilog_of(graph, updates)
        return _log(graph, operation, operands, antilogs, multiplied)

    def added(a: num.Scaled, i: jax.Array, b: num.Scaled) -> num.Scaled:
        b = num.negative(b) if negative else b
        return num.scatter_add(
            a, b, _plain_scatter(lax.scatter_add, params, i),
            _plain_scatter(lax.scatter_max, params, i),
        )  # fmt: skip

    value = _number(graph, operation, operands, added)
    value.nonnegative = x.nonnegative and updates.nonnegative and not negative
    return value


@rule(lax.scatter_mul_p.name)
def _scatter_mul(
    graph: Graph, operation: Operation, x: Value, indices: Value, updates: Value
) -> Value | None:
    if not (x.is_float and updates.is_float) or x.is_log or updates.is_log:
        return None
    if not _says_more(x, updates):
        return None

    def multiplied(a: num.Scaled, i: jax.Array, b: num.Scaled) -> num.Scaled:
        scatter = _plain_scatter(lax.scatter_add, operation.params, i)
        return num.scatter_combine(num.multiply, a, b, scatter)

    return _number(graph, operation, (x, indices, updates), multiplied)


def _number(graph: Graph, operation: Operation, operands: Any, function: Any) -> Value:
    x, indices, updates = operands
    value, new = graph.node(
        operation.name, operands, operation.key, shape=operation.shape,
        plain=operation.plain(operands),
        number=Form(function, ((x, NUMBER), (indices, PLAIN), (updates, NUMBER))),
    )  # fmt: skip
    if new:
        value.risky = max(x.risky, updates.risky)
    return value


def _log(
    graph: Graph, operation: Operation, operands: Any, antilogs: tuple[Value, Value], function: Any
) -> Value:
    x, indices, updates = operands
    a, b = antilogs
    number, new = graph.node(
        operation.name + " of numbers", (a, indices, b), operation.key, shape=operation.shape,
        number=Form(function, ((a, NUMBER), (indices, PLAIN), (b, NUMBER))),
    )  # fmt: skip
    if new:
        number.risky = max(a.risky, b.risky)
        number.nonnegative = a.nonnegative and b.nonnegative
    harmless = all(v.harmless or not v.is_log for v in (x, updates))
    return logarithm(graph, number, operation.plain(operands), (operation.name, operands,
                     operation.key), harmless=harmless, shape=operation.shape)  # fmt: skip


@rule("sort")
def _sort(graph: Graph, operation: Operation, *operands: Value) -> Value | None:
    """Sorted logarithms are the logarithms of sorted numbers."""
    if len(operands) != 1 or not operands[0].is_log or operands[0].is_complex:
        return None
    from .movement import Movement, move

    (v,) = operands
    axis = operation.params["dimension"]

    def places(a: jax.Array) -> jax.Array:
        at = lax.broadcasted_iota("int32", a.shape, axis)
        return lax.sort((a, at), dimension=axis, num_keys=1,
                        is_stable=operation.params["is_stable"])[1]  # fmt: skip

    order, _ = graph.node("order of", (v,), operation.key, dtype="int32", plain=plainly(places, v))

    def taken(array: jax.Array, order: jax.Array) -> jax.Array:
        return jax.numpy.take_along_axis(array, order, axis)

    return move(graph, v, Movement("sorted", operation.key, v.shape, taken, indices=(order,)))
