"""Exponentials and logarithms: where numbers become logarithms and logarithms numbers again."""

import jax
import numpy as np
from jax import lax

from .. import _numerics as num
from .algebra import exponential, guard, log_of_number, logarithm, power_factors, product
from .factors import merge
from .rules import Operation, rule
from .special import (
    expm1_of,
    log1m_exp,
    log_logistic,
    log_one_minus_logistic,
    logistic_node,
    max_axes,
    softplus,
)
from .value import EXPONENTIAL, NONE, Form, Graph, Value, is_constant, numerically, plainly


@rule("exp")
def _exp(graph: Graph, operation: Operation, r: Value) -> Value | None:
    if not r.is_float:
        return None
    if r.is_log:
        return exp_of_log(graph, r)
    value = exponential(graph, r)
    if r.operation == "sub" and value.operation == "exp":
        axes = max_axes(r.operands[1], r.operands[0])
        if axes is not None:
            value.normalised_axes = axes
            value.risky, value.underflows = NONE, True
    return value


def exp_of_log(graph: Graph, r: Value) -> Value:
    """exp(log(a)) is a; where the logarithm is harmless, its exponential is the plain one."""
    antilog = r.antilog
    assert antilog is not None
    if antilog.operation != "product" or not r.harmless:
        graph.note("cancelled", "exp meets a logarithm")
        return antilog
    value, new = graph.node(
        "exp_of_log", (r,), plain=plainly(lax.exp, r), number=numerically(lambda x: x, antilog)
    )
    if new:
        value.factors = antilog.factors
        value.nonnegative = antilog.nonnegative
        value.positive = antilog.positive
        value.risky = EXPONENTIAL
        if r.operation == "sub":
            axes = max_axes(r.operands[1], r.operands[0])
            value.normalised_axes = axes
            value.risky = EXPONENTIAL if axes is None else NONE
            value.underflows = axes is not None
    return value


@rule("log")
def _log(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not v.is_float:
        return None
    if v.constant is not None:
        return _log_of_constant(graph, v)
    if v.exponent is not None and not v.is_complex:
        graph.note("cancelled", "a logarithm meets an exponential")
        return v.exponent
    return log_value(graph, operation, v)


def _log_of_constant(graph: Graph, v: Value) -> Value:
    with np.errstate(all="ignore"):
        return graph.constant(np.log(v.constant), v.shape, v.dtype)


def log_value(graph: Graph, operation: Operation, v: Value) -> Value:
    antilog = guard(graph, v)
    if v.risky or v.underflows and v.softmax is None:
        graph.note("kept", "the logarithm of a value that may leave the range of a float")
        plain = log_of_number(v)
    else:
        plain = plainly(lax.log, v)
    if v.operation == "logistic" and not v.is_complex:
        antilog = _logistic_as_product(graph, v)
    stable = _stable_log(v)
    graph.changed |= stable is not None
    return logarithm(graph, antilog, stable or plain, ("log", (v,), None), harmless=v.positive)


def _logistic_as_product(graph: Graph, v: Value) -> Value:
    """logistic(r) as exp(r) * (1 - logistic(r)), to meet the logarithm of the second."""
    r = v.operands[0]
    factors, _ = merge(exponential(graph, r).factors, ((logistic_node(graph, r, v), 1.0),))
    return product(graph, factors, v.shape, v.dtype)


def _stable_log(v: Value) -> Form | None:
    """The plain form of a logarithm that would lose its digits."""
    if v.is_complex:
        return None
    if v.softmax is not None and not v.risky:
        r, total = v.softmax
        return plainly(lambda a, b: lax.sub(a, lax.log(b)), r, total)
    if v.operation == "logistic":
        return plainly(log_logistic, v.operands[0])
    difference = expm1_of(v)
    if difference is not None and difference[1] < 0:
        return plainly(log1m_exp, difference[0])
    if v.operation not in ("add", "sub"):
        return None
    x, y = v.operands
    if v.operation == "sub" and is_constant(x, 1.0):
        if y.operation == "logistic":
            return plainly(log_one_minus_logistic, y.operands[0])
        if not y.risky:
            return plainly(lambda a: lax.log1p(lax.neg(a)), y)
    if v.operation == "add":
        for one, other in ((x, y), (y, x)):
            if not is_constant(one, 1.0):
                continue
            if other.exponent is not None and not other.exponent.nonpositive:
                return plainly(softplus, other.exponent)
            if other.exponent is not None or not other.risky:
                return plainly(lax.log1p, other)
    return None


@rule("log1p")
def _log1p(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not v.is_float or v.is_log:
        return None
    if v.operation == "expm1":
        graph.note("cancelled", "log1p meets expm1")
        return v.operands[0]
    whole = plus_one(graph, v)
    plain = operation.plain((v,))
    if not v.is_complex:
        minus = v.operands[0] if v.operation == "neg" else None
        if v.exponent is not None and not v.exponent.nonpositive:
            plain = plainly(softplus, v.exponent)
        elif v.exponent is not None:
            pass  # the user's own program cannot overflow
        elif minus is not None and minus.exponent is not None:
            plain = plainly(log1m_exp, minus.exponent)
        elif v.risky:
            plain = numerically(num.log1p, v)
        graph.changed |= v.risky > NONE or minus is not None and minus.risky > NONE
    return logarithm(graph, guard(graph, whole), plain, ("log1p", (v,), None),
                     harmless=v.nonnegative)  # fmt: skip


def plus_one(graph: Graph, v: Value) -> Value:
    """1 + v as a value of its own, which remembers v."""
    one = graph.constant(1, v.shape, v.dtype)
    minus = v.operands[0] if v.operation == "neg" else None

    def number(x: num.Scaled) -> num.Scaled:
        return num.add(num.from_linear(lax.full_like(x.significand, 1)), x)

    recipe = numerically(number, v)
    if minus is not None and minus.exponent is not None and not v.is_complex:
        recipe = plainly(lambda a: num.negative(num.expm1(num.from_linear(a))), minus.exponent)
    value, new = graph.node("plus_one", (v, one), plain=plainly(lax.add, v, one), number=recipe)
    if new:
        value.nonnegative = value.positive = v.nonnegative
        value.risky = v.risky
    return value


@rule("expm1")
def _expm1(graph: Graph, operation: Operation, r: Value) -> Value | None:
    if not r.is_float:
        return None
    antilog = r.antilog
    if antilog is not None:
        core = antilog.operands[0] if antilog.operation == "guard" else antilog
        if core.operation == "plus_one":
            graph.note("cancelled", "expm1 meets log1p")
            return _within(graph, core.operands[0], -1.0)
        one = graph.constant(1, r.shape, r.dtype)
        value, new = graph.node("sub", (antilog, one),
                                number=numerically(num.subtract, antilog, one))  # fmt: skip
        if new:
            value.risky = EXPONENTIAL
        return value

    def number(a: jax.Array) -> num.Scaled:
        return num.expm1(num.from_linear(a))

    value, new = graph.node("expm1", (r,), plain=operation.plain((r,)), number=plainly(number, r))
    if new:
        value.risky = NONE if r.is_complex else EXPONENTIAL
    return value


def _within(graph: Graph, v: Value, least: float) -> Value:
    """v, and nan below the domain of its logarithm."""
    if v.nonnegative or v.is_complex:
        return v

    def guarded(a: jax.Array) -> jax.Array:
        outside = lax.lt(a, lax.full_like(a, least))
        return lax.select(outside, lax.full_like(a, np.nan), a)

    value, new = graph.node("within", (v,), least, plain=plainly(guarded, v))
    return value


LN2 = float(np.log(2.0))


@rule("log2")
def _log2(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not v.is_float or v.is_log:
        return None
    if v.constant is not None:
        return None
    if v.operation == "exp2" and not v.is_complex:
        graph.note("cancelled", "log2 meets exp2")
        return v.operands[0]
    factors, _ = power_factors(graph, guard(graph, v), 1 / LN2)
    antilog = product(graph, factors, v.shape, v.dtype)
    plain = numerically(num.log2, v) if v.risky else operation.plain((v,))
    return logarithm(graph, antilog, plain, ("log2", (v,), None), harmless=v.positive)


@rule("exp2")
def _exp2(graph: Graph, operation: Operation, r: Value) -> Value | None:
    if not r.is_float:
        return None
    if r.antilog is not None:
        factors, _ = power_factors(graph, r.antilog, LN2)
        factors, _ = merge(factors)
        graph.note("cancelled", "exp2 meets a logarithm")
        return product(graph, factors, r.shape, r.dtype)

    def number(a: jax.Array) -> num.Scaled:
        return num.exp2(num.from_linear(a))

    value, new = graph.node("exp2", (r,), plain=operation.plain((r,)), number=plainly(number, r))
    if new:
        value.risky = EXPONENTIAL
        value.nonnegative = value.positive = not r.is_complex
        if not r.is_complex:
            c = graph.constant(LN2, r.shape, r.dtype)
            value.exponent, _ = graph.node("mul", (r, c), plain=plainly(lax.mul, r, c))
    return value


@rule("logistic")
def _logistic(graph: Graph, operation: Operation, r: Value) -> Value | None:
    if not r.is_float:
        return None
    antilog = r.antilog
    if antilog is not None:
        p = _odds_of(antilog)
        if p is not None:
            graph.note("cancelled", "logistic meets logit")
            return p

        def of_number(x: num.Scaled) -> num.Scaled:
            one = num.from_linear(lax.full_like(x.significand, 1))
            return num.divide(x, num.add(one, x))

        value, new = graph.node("logistic", (r,), plain=None,
                                number=numerically(of_number, antilog))  # fmt: skip
        if new:
            value.nonnegative = True
        return value

    def number(a: jax.Array) -> num.Scaled:
        return num.logistic(num.from_linear(a))

    value, new = graph.node(
        "logistic", (r,), plain=operation.plain((r,)), number=plainly(number, r)
    )
    if new:
        value.nonnegative = value.positive = not r.is_complex
    return value


def _odds_of(antilog: Value) -> Value | None:
    """p if the value is p / (1 - p), however written."""
    above = [b for b, e in antilog.factors if e == 1.0]
    below = [b for b, e in antilog.factors if e == -1.0]
    if len(above) != 1 or len(below) != 1 or len(antilog.factors) != 2:
        return None
    p, rest = (v.operands[0] if v.operation == "guard" else v for v in (above[0], below[0]))
    if rest.operation == "sub" and is_constant(rest.operands[0], 1.0) and rest.operands[1] is p:
        return p
    if rest.operation == "plus_one":
        minus = rest.operands[0]
        if minus.operation == "neg" and minus.operands[0] is p:
            return p
    return None


@rule("cosh", "sinh")
def _hyperbolic(graph: Graph, operation: Operation, r: Value) -> Value | None:
    if not r.is_float or r.is_log or r.is_complex:
        return None
    function = num.cosh if operation.name == "cosh" else num.sinh

    def number(a: jax.Array) -> num.Scaled:
        return function(num.from_linear(a))

    value, new = graph.node(
        operation.name, (r,), plain=operation.plain((r,)), number=plainly(number, r)
    )
    if new:
        value.risky = EXPONENTIAL
        value.nonnegative = value.positive = operation.name == "cosh"
    return value


@rule("tan", "atan", "sinh", "asinh", "tanh", "atanh")
def _inverse_of(graph: Graph, operation: Operation, v: Value) -> Value | None:
    """tan(atan(x)) = x, sinh(asinh(x)) = x and back, on the domains."""
    if operation.name == "sinh" and v.operation != "asinh":
        return _hyperbolic(graph, operation, v)
    if not v.is_float or v.is_complex:
        return None
    partner = _PARTNERS[operation.name]
    if v.operation != partner or len(v.operands) != 1:
        return None
    inner = v.operands[0]
    bound = {"tan": np.pi / 2}.get(partner)
    if bound is None:
        if operation.name == "tanh":
            return None
        graph.note("cancelled", f"{operation.name} meets {partner}")
        return inner

    def select(a: jax.Array, b: jax.Array) -> jax.Array:
        inside = lax.lt(lax.abs(a), lax.full_like(a, bound))
        safe = lax.select(inside, lax.full_like(b, 0), b)
        return lax.select(inside, a, operation.bind(safe))

    graph.note("cancelled", f"{operation.name} meets {partner}")
    value, _ = graph.node("within", (inner, v), operation.name, plain=plainly(select, inner, v))
    return value


_PARTNERS = {
    "tan": "atan", "atan": "tan", "sinh": "asinh", "asinh": "sinh", "tanh": "atanh",
    "atanh": "tanh",
}  # fmt: skip
