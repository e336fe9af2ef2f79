"""Declared pairs of inverse functions, in a traced program."""

from typing import Any

from .._inverse_pair import PAIRS
from .rules import Operation
from .value import PLAIN, Form, Graph, Value


def call_of_pair(graph: Graph, operation: Operation, v: Value) -> Value | None:
    """One function of a declared pair, called on v: v's own argument where the other made v."""
    if operation.name not in PAIRS or v.is_log:
        return None
    pair, direction = PAIRS[operation.name]
    if v.operation != pair.name_of(1 - direction):
        value, _ = graph.node(operation.name, (v,), plain=operation.single((v,)),
                              shape=operation.shape, dtype=operation.dtype)  # fmt: skip
        return value
    inner = v.operands[0]
    graph.note("cancelled", "a declared pair of inverse functions")
    if pair.domain is None:
        return inner
    at = inner if direction == 1 else v

    def select(x: Any, original: Any) -> Any:
        return pair.where_inside(direction, x, original)

    value, _ = graph.node(
        "within", (inner, v), operation.name, plain=Form(select, ((at, PLAIN), (inner, PLAIN)))
    )
    return value
