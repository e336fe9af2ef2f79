"""The branch of a `where` that is not taken.

``where(x > 0, log(x), 0)`` is right in value, and its gradient at x = 0 is 0 * inf = nan. The cure
is well known: mask the argument of the singular function too. `shield` rewrites the branch so,
whatever stands between the singular function and the `where`.
"""

from collections.abc import Callable
from typing import Any

import jax
from jax import lax

from .value import PLAIN, Form, Graph, Value

#: Singular functions of one argument, and a point where each is regular.
_SAFE_POINT = {
    "log": 1.0, "log2": 1.0, "sqrt": 1.0, "rsqrt": 1.0, "cbrt": 1.0, "integer_pow": 1.0,
    "log1p": 0.0, "pow": 1.0, "acos": 0.0, "asin": 0.0, "atanh": 0.0, "acosh": 2.0,
    "log2p1": 0.0, "acospi": 0.0, "asinpi": 0.0, "lgamma": 1.0, "digamma": 1.0, "erf_inv": 0.0,
}  # fmt: skip

#: Element-by-element functions, through which a mask is handed on to the arguments.
_SMOOTH = (
    "add", "sub", "mul", "neg", "exp", "abs", "sign", "max", "min", "convert_element_type",
    "integer_pow", "square", "sin", "cos", "tanh", "logistic", "exp2", "expm1", "real", "imag",
    "complex", "conj",
)  # fmt: skip

_DEEPEST = 12


def shield(graph: Graph, v: Value, which: Value, taken: bool) -> Value | None:
    """v with harmless arguments where `which` is not `taken`, or None if it is harmless already."""
    return _shield(graph, v, which, taken, 0)


def _shield(graph: Graph, v: Value, which: Value, taken: bool, depth: int) -> Value | None:
    if depth > _DEEPEST or v.shape != which.shape or not v.is_float or v.constant is not None:
        return None
    recipe = v.forms.get(PLAIN)
    if recipe is None or any(kind != PLAIN for _, kind in recipe.needs):
        return None
    inner: dict[int, Value] = {}
    if v.operation in _SMOOTH or v.operation in _SAFE_POINT or v.operation == "div":
        for o, _ in recipe.needs:
            shielded = _shield(graph, o, which, taken, depth + 1)
            if shielded is not None:
                inner[id(o)] = shielded
    masked = _singular_operand(v)
    if masked is not None:
        argument, point = masked
        source = inner.get(id(argument), argument)
        if (argument, PLAIN) in recipe.needs and source.shape == which.shape:
            inner[id(argument)] = _masked(graph, source, which, taken, point)
    if not inner:
        return None
    return _rebuilt(graph, v, recipe, inner, (id(which), taken))


def _singular_operand(v: Value) -> tuple[Value, float] | None:
    if v.operation == "div":
        return (v.operands[1], 1.0) if v.operands[1].constant is None else None
    if v.operation not in _SAFE_POINT or not v.operands:
        return None
    if v.operation == "integer_pow" and (not isinstance(v.params, float) or v.params > 0):
        return None
    return v.operands[0], _SAFE_POINT[v.operation]


def _masked(graph: Graph, argument: Value, which: Value, taken: bool, point: float) -> Value:
    def mask(chosen: jax.Array, a: jax.Array) -> jax.Array:
        safe = lax.full_like(a, point)
        return lax.select(chosen, a, safe) if taken else lax.select(chosen, safe, a)

    value, _ = graph.node(
        "masked", (which, argument), (taken, point), shape=argument.shape, dtype=argument.dtype,
        plain=Form(mask, ((which, PLAIN), (argument, PLAIN))),
    )  # fmt: skip
    return value


def _rebuilt(graph: Graph, v: Value, recipe: Form, inner: dict[int, Value], key: Any) -> Value:
    function: Callable[..., Any] = recipe.function
    needs = tuple((inner.get(id(o), o), kind) for o, kind in recipe.needs)
    value, _ = graph.node(
        "shielded", tuple(o for o, _ in needs), (v.operation, id(v), key), shape=v.shape,
        dtype=v.dtype, plain=Form(function, needs),
    )  # fmt: skip
    return value
