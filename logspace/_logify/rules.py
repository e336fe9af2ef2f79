"""The table of rules, and the default: the user's own primitive on plain arrays.

A rule takes the graph, an `Operation` and its operands, and returns the resulting value (or a list
of them), or None where it has nothing to add; the default then applies. No primitive can be missed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .value import PLAIN, Form, Graph, Value

Rule = Callable[..., "Value | list[Value] | None"]
_R = TypeVar("_R", bound=Rule)

RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[_R], _R]:
    """Register a rule for primitives by name."""

    def register(function: _R) -> _R:
        for name in names:
            RULES[name] = function
        return function

    return register


@dataclass(frozen=True)
class Operation:
    """One equation of the user's program: a primitive, its parameters, its results' types."""

    name: str
    params: dict[str, Any]
    avals: Sequence[Any]
    #: Binds the primitive to plain arrays, as the user's program does.
    bind: Callable[..., Any]
    #: Whether `bind` returns a list, also of one.
    multiple: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self.avals[0].shape

    @property
    def dtype(self) -> Any:
        return self.avals[0].dtype

    @property
    def key(self) -> Any:
        """The parameters, as a key; an operation whose parameters have none is unique."""
        key = tuple(sorted(self.params.items(), key=lambda item: item[0]))
        try:
            hash(key)
        except TypeError:
            return object()
        return key

    def single(self, operands: Sequence[Value]) -> Form:
        """The one result."""
        form = self.plain(operands)
        return Form(lambda *arrays: self.bind(*arrays)[0], form.needs) if self.multiple else form

    def plain(self, operands: Sequence[Value]) -> Form:
        return Form(self.bind, tuple((v, PLAIN) for v in operands))


def default(graph: Graph, operation: Operation, operands: Sequence[Value]) -> list[Value]:
    """The user's primitive on plain arrays."""
    if len(operation.avals) == 1:
        aval = operation.avals[0]
        value, new = graph.node(
            operation.name,
            operands,
            operation.key,
            shape=aval.shape,
            dtype=aval.dtype,
            plain=operation.single(operands),
        )
        if new:
            value.weak_type = getattr(aval, "weak_type", False)
        return [value]
    call, new = graph.node(
        operation.name, operands, operation.key, shape=(), dtype=bool,
        plain=operation.plain(operands),
    )  # fmt: skip
    return [result_of(graph, call, i, aval) for i, aval in enumerate(operation.avals)]


def result_of(graph: Graph, call: Value, index: int, aval: Any) -> Value:
    """One result of an operation that has several."""
    value, new = graph.node(
        "result", (call,), index, shape=aval.shape, dtype=aval.dtype,
        plain=Form(lambda results: results[index], ((call, PLAIN),)),
    )  # fmt: skip
    return value
