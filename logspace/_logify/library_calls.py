"""Rules of functions of JAX that are recognised as wholes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
from jax import lax

from .. import _numerics as num
from .._library_functions import FunctionOfMatrices, elementwise_function, function_of_matrices
from ..linalg._determinant import determinant, determinant_of_plain
from .algebra import absolute, antilog_of, guard, logarithm, power_factors, product, sign
from .jaxprs import called
from .logarithms import LN2, plus_one
from .movement import broadcast_to
from .rules import RULES, Operation
from .value import EXPONENTIAL, PRODUCT, Graph, Value, numerically, plainly

_Rule = Callable[..., "Value | list[Value] | None"]
_RULES: dict[str, _Rule] = {}


def rule_of(*names: str) -> Callable[[_Rule], _Rule]:
    def register(rule: _Rule) -> _Rule:
        for name in names:
            _RULES[name] = rule
        return rule

    return register


def recognised(params: dict[str, Any]) -> tuple[str, _Rule] | None:
    """The name and the rule of the library function that an equation calls, if it is one.

    A rule returns None if it has nothing to say about its operands.
    """
    jaxpr = called(params)
    if jaxpr is None:
        return None
    if function := function_of_matrices(jaxpr):
        return function.name, partial(_RULES[function.name], function=function)
    name = elementwise_function(jaxpr)
    return (name, _RULES[name]) if name else None


def _matrices(graph: Graph, a: Value, function: FunctionOfMatrices) -> Value:
    """The operand with the axis of a batch in front."""
    order = function.permutation(len(a.shape))
    if order == tuple(range(len(order))):
        return a
    bind = partial(lax.transpose, permutation=order)
    operation = Operation("transpose", {"permutation": order}, (a,), bind)
    moved = RULES["transpose"](graph, operation, a)
    assert isinstance(moved, Value)
    return moved


def _determinant(graph: Graph, a: Value) -> Value:
    number = numerically(determinant, a) if a.risky else plainly(determinant_of_plain, a)
    value, new = graph.node("det", (a,), shape=a.shape[:-2], number=number)
    if new:
        value.risky = PRODUCT
    return value


@rule_of("slogdet")
def _slogdet(
    graph: Graph, operation: Operation, a: Value, function: FunctionOfMatrices
) -> list[Value] | None:
    if not a.is_float or a.is_log:
        return None
    moved = _matrices(graph, a, function)
    d = _determinant(graph, moved)
    graph.note("kept", "a determinant, as a number")
    modulus = absolute(graph, d)
    call, _ = graph.node("slogdet", (moved,), shape=(), dtype=bool, plain=operation.plain((a,)))
    log = logarithm(
        graph, modulus, plainly(lambda both: both[1], call), ("log", (modulus,), "slogdet"),
        harmless=False,
    )  # fmt: skip
    return [sign(graph, d), log]


@rule_of("det")
def _det(
    graph: Graph, operation: Operation, a: Value, function: FunctionOfMatrices
) -> Value | None:
    if not a.is_float or a.is_log:
        return None
    graph.note("kept", "a determinant, as a number")
    return _determinant(graph, _matrices(graph, a, function))


@rule_of("logaddexp", "logaddexp2")
def _logaddexp(graph: Graph, operation: Operation, x: Value, y: Value) -> Value | None:
    """log(exp(x) + exp(y)), and the same with powers of two."""
    if not (x.is_float and y.is_float):
        return None
    x, y = (broadcast_to(graph, v, operation.shape) for v in (x, y))
    if x.constant is not None and y.constant is not None:
        return None
    binary = operation.name == "logaddexp2"
    a, b = (_exp2(graph, v) if binary else antilog_of(graph, v) for v in (x, y))
    total, new = graph.node("add", (a, b), number=numerically(num.add, a, b))
    if new:
        total.risky = EXPONENTIAL
        total.nonnegative = a.nonnegative and b.nonnegative
        total.positive = total.nonnegative and (_finite(x) or _finite(y))
    regular = all(v.harmless or not v.is_log for v in (x, y))
    harmless = regular and (_finite(x) or _finite(y))
    log = num.log2 if binary else num.log
    plain = operation.single((x, y)) if regular else numerically(log, total)
    graph.changed |= not regular
    antilog = total
    if binary:
        factors, _ = power_factors(graph, total, 1 / LN2)
        antilog = product(graph, factors, total.shape, total.dtype)
    return logarithm(graph, antilog, plain, (operation.name, (x, y), None), harmless=harmless)


def _exp2(graph: Graph, x: Value) -> Value:
    value = RULES["exp2"](graph, Operation("exp2", {}, (x,), lax.exp2), x)
    assert isinstance(value, Value)
    return value


def _finite(v: Value) -> bool:
    return v.constant is not None and v.constant > -float("inf")


@rule_of("logit")
def _logit(graph: Graph, operation: Operation, p: Value) -> Value | None:
    """log(p / (1 - p))."""
    if not p.is_float or p.is_log or p.is_complex:
        return None
    if p.operation == "logistic":
        graph.note("cancelled", "logit meets logistic")
        return p.operands[0]
    minus, _ = graph.node("neg", (p,), plain=plainly(lax.neg, p))
    odds = ((guard(graph, p), 1.0), (guard(graph, plus_one(graph, minus)), -1.0))
    antilog = product(graph, odds, p.shape, p.dtype)
    return logarithm(graph, antilog, operation.single((p,)), ("logit", (p,), None), harmless=False)


@rule_of("signbit")
def _signbit(graph: Graph, operation: Operation, x: Value) -> Value:
    value, _ = graph.node("signbit", (x,), shape=operation.shape, dtype=operation.dtype,
                          plain=operation.single((x,)))  # fmt: skip
    return value


@rule_of("hypot")
def _hypot(graph: Graph, operation: Operation, x: Value, y: Value) -> Value | None:
    """sqrt(x**2 + y**2), whose square is regular at 0."""
    if not (x.is_float and y.is_float) or x.is_log or y.is_log:
        return None
    x, y = (broadcast_to(graph, v, operation.shape) for v in (x, y))
    if x.dtype != y.dtype:
        return None

    def squares(a: jax.Array, b: jax.Array) -> jax.Array:
        return lax.add(lax.mul(a, a), lax.mul(b, b))

    def squares_of_numbers(a: num.Scaled, b: num.Scaled) -> num.Scaled:
        return num.add(num.multiply(a, a), num.multiply(b, b))

    total, new = graph.node("squares", (x, y), plain=plainly(squares, x, y),
                            number=numerically(squares_of_numbers, x, y))  # fmt: skip
    if new:
        total.nonnegative = True
        total.risky = max(x.risky, y.risky)
    value, new = graph.node("hypot", (x, y), plain=operation.single((x, y)),
                            number=numerically(num.sqrt, total))  # fmt: skip
    if new:
        value.nonnegative, value.risky = True, total.risky
        value.factors = ((total, 0.5),)
    return value


@rule_of("xlogy", "xlog1py")
def _xlogy(graph: Graph, operation: Operation, x: Value, y: Value) -> Value | None:
    """x * log(y), with 0 * log(0) = 0."""
    if not (x.is_float and y.is_float) or x.is_log or y.is_log or x.dtype != y.dtype:
        return None
    name = "log" if operation.name == "xlogy" else "log1p"
    log_y = RULES[name](graph, _part(name, y), broadcast_to(graph, y, operation.shape))
    if not isinstance(log_y, Value) or not log_y.is_log:
        return None
    x = broadcast_to(graph, x, operation.shape)
    times = Operation("mul", {}, operation.avals, lax.mul)
    result = RULES["mul"](graph, times, x, log_y)
    return result if isinstance(result, Value) else None


def _part(name: str, y: Value) -> Operation:
    return Operation(name, {}, (y,), getattr(lax, name))
