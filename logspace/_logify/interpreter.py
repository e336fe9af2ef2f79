"""Evaluation of a traced program over lazy values."""

from collections.abc import Sequence
from typing import Any

from jax.extend.core import Literal

from .._inverse_pair import PREFIX
from .._library_functions import is_reformulated
from . import (  # noqa: F401 - register rules
    arithmetic,
    elementwise,
    extrema,
    logarithms,
    mixed_arithmetic,
    reductions,
    scatters,
)
from .elementwise import convert, stopped
from .inverse_pair import call_of_pair
from .jaxprs import binder, called, name_of_call, opened, programs_in
from .rules import RULES, Operation, default
from .value import NUMBER, PLAIN, Graph, Value

#: Primitives that can be singular, or that can leave the range of a float. A program without any
#: of them has nothing to repair.
_INTERESTING = frozenset(
    ("log", "exp", "log1p", "expm1", "log2", "exp2", "pow", "sqrt", "rsqrt", "cbrt", "integer_pow",
     "square", "reduce_prod", "cumprod", "cumlogsumexp", "logistic", "cosh", "sinh", "tan", "atan",
     "asinh", "select_n", "div", "atan2", "lu", "inverse_pair")
)  # fmt: skip

#: Calls that are part of the program they stand in.
_INLINED = ("jit", "pjit", "closed_call", "core_call", "call")

#: Primitives that in a loop can leave the range of a float.
_PRODUCTS = frozenset(("mul", "dot_general", "div", "reduce_prod"))

_interesting_memo: dict[int, tuple[Any, bool]] = {}


def is_interesting(jaxpr: Any) -> bool:
    """Whether a program holds anything to repair, also in what it calls."""
    body, _ = opened(jaxpr)
    known = _interesting_memo.get(id(body))
    if known is not None and known[0] is body:
        return known[1]
    answer = any(
        e.primitive.name in _INTERESTING
        or str(e.params.get("name", "")).startswith(PREFIX)
        or e.primitive.name == "mul"
        and e.invars[0] is e.invars[1]
        or any(map(is_interesting, programs_in(e.params)))
        for e in body.eqns
    )
    if len(_interesting_memo) > 4096:
        _interesting_memo.clear()
    _interesting_memo[id(body)] = (body, answer)
    return answer


def multiplies(jaxpr: Any) -> bool:
    """Whether a loop with this body may be a long product."""
    return any(
        e.primitive.name in _PRODUCTS or any(map(multiplies, programs_in(e.params)))
        for e in opened(jaxpr)[0].eqns
    )


def evaluate(
    graph: Graph,
    jaxpr: Any,
    consts: Sequence[Value],
    args: Sequence[Value],
    *,
    stop_maxima: bool = False,
) -> list[Value]:
    """The values of a program's results. With `stop_maxima` a maximum over axes is a constant."""
    body, _ = opened(jaxpr)
    env: dict[Any, Value] = {}

    def read(v: Any) -> Value:
        if isinstance(v, Literal):
            return _literal(graph, v)
        return env[v]

    env.update(zip(body.constvars, consts, strict=True))
    env.update(zip(body.invars, args, strict=True))
    outer = graph.equation
    made_by = mixed_arithmetic.definitions(body)
    for equation in body.eqns:
        graph.equation = equation
        results = None
        if mixed := mixed_arithmetic.as_one_operation(made_by, equation):
            operands, parts = ([read(v) for v in vs] for vs in (mixed.operands, equation.invars))
            results = _mixed(graph, mixed, operands, parts, equation.outvars[0].aval)
        if results is None:
            results = _equation(graph, equation, [read(v) for v in equation.invars])
        if stop_maxima and equation.primitive.name == "reduce_max":
            results = [stopped(graph, v) for v in results]
        env.update(zip(equation.outvars, results, strict=True))
    graph.equation = outer
    return [read(v) for v in body.outvars]


def _mixed(
    graph: Graph,
    mixed: mixed_arithmetic.Mixed,
    operands: list[Value],
    parts: list[Value],
    aval: Any,
) -> list[Value] | None:
    """A real with a complex operand; `parts` are what the program makes the result of."""
    operation = mixed_arithmetic.MixedOperation(mixed.name, {}, (aval,), mixed.bind, parts=parts)
    converted = (convert(graph, v, aval.dtype) for v in operands)
    result = RULES[mixed.name](graph, operation, *converted)
    if not isinstance(result, Value):
        return None
    graph.changed |= _is_made_of_numbers(result)
    return [result]


def _literal(graph: Graph, v: Any) -> Value:
    aval = v.aval
    if aval.shape == ():
        try:
            return graph.constant(v.val, (), aval.dtype)
        except (TypeError, ValueError):
            pass  # no number, a key for example: it is passed on as it is
    return graph.leaf(v.val)


def constants(graph: Graph, jaxpr: Any) -> list[Value]:
    """The closed-over constants of a program, as values."""
    return [graph.leaf(c, constant=True) for c in opened(jaxpr)[1]]


def _equation(graph: Graph, equation: Any, operands: list[Value]) -> list[Value]:
    from . import library_calls
    from .control_flow import CONTROL_FLOW

    name, params = equation.primitive.name, equation.params
    avals = [v.aval for v in equation.outvars]
    if called(params) is not None and name not in CONTROL_FLOW:
        function = name_of_call(name, params)
        if function.startswith(PREFIX) and len(operands) == 1:
            operation = Operation(function, params, avals, binder(equation), True)
            result = call_of_pair(graph, operation, operands[0])
            if result is not None:
                return [result]
        if library := library_calls.recognised(params):
            operation = Operation(library[0], params, avals, binder(equation), True)
            results = library[1](graph, operation, *operands)
            if results is not None:
                return results if isinstance(results, list) else [results]
        inner = called(params)
        reformulated = is_reformulated(inner)
        inlined = name in _INLINED or reformulated
        if inlined and (any(v.is_log or v.risky for v in operands) or is_interesting(inner)):
            consts = constants(graph, inner)
            return evaluate(graph, inner, consts, operands, stop_maxima=reformulated)
    multiple = equation.primitive.multiple_results
    operation = Operation(name, params, avals, binder(equation), multiple)
    if name in CONTROL_FLOW:
        results = CONTROL_FLOW[name](graph, operation, equation, operands)
        if results is not None:
            return results
    elif name in RULES and not equation.effects:
        results = RULES[name](graph, operation, *operands)
        if results is not None:
            results = results if isinstance(results, list) else [results]
            graph.changed |= any(map(_is_made_of_numbers, results))
            return results
    _refuse_to_materialise(graph, operation, operands)
    if equation.effects:
        # effects happen now, and in this order
        if graph.abstract:
            return [graph.placeholder(a.shape, a.dtype) for a in avals]
        arrays = operation.bind(*(v.plain() for v in operands))
        arrays = arrays if multiple else [arrays]
        return [graph.leaf(a) for a in arrays]
    results = default(graph, operation, operands)
    return results


def _is_made_of_numbers(v: Value) -> bool:
    """Whether the plain form is not the array that the original program would compute."""
    form = v.forms.get(PLAIN)
    return form is not None and any(read == NUMBER for _, read in form.needs)


def _refuse_to_materialise(graph: Graph, operation: Operation, operands: list[Value]) -> None:
    logs = [v for v in operands if v.is_log and not v.harmless]
    if not logs:
        return
    graph.events.append(
        (graph.equation, "materialised", f"`{operation.name}` reads a logarithm as a plain array")
    )
    if graph.settings is not None and graph.settings.on_materialise == "error":
        if operation.name not in _HARMLESS_READERS:
            graph.settings.refuse(graph, operation)


#: What may read the plain value of a logarithm without leaving log space: it carries no derivative.
_HARMLESS_READERS = frozenset(
    ("reduce_max", "reduce_min", "max", "min", "is_finite", "eq", "ne", "lt", "le", "gt", "ge",
     "argmax", "argmin", "stop_gradient", "sort")
)  # fmt: skip
