"""Sums, products, quotients and powers of two operands or one."""

from typing import Any

import jax
import numpy as np
from jax import lax

from .. import _numerics as num
from .algebra import (
    absolute,
    antilog_of,
    log_of_number,
    logarithm,
    power_factors,
    product,
    sign,
)
from .elementwise import complex_of
from .factors import merge, poles, raised
from .movement import broadcast_to
from .power import array_power
from .rules import Operation, rule
from .special import (
    difference_of_exponentials,
    expm1_node,
    factor_by_sign,
    is_infinite_shift,
    logistic_node,
)
from .value import EXPONENTIAL, Form, Graph, Value, is_constant, numerically, plainly
from .zero_coefficients import away_from_zero, masked_product, shielded_product


def _operands(graph: Graph, operation: Operation, x: Value, y: Value) -> tuple[Value, Value]:
    return broadcast_to(graph, x, operation.shape), broadcast_to(graph, y, operation.shape)


@rule("add", "sub", "add_any")
def _sum(graph: Graph, operation: Operation, *operands: Value) -> Value | None:
    if not all(v.is_float for v in operands):
        return None
    x, y = _operands(graph, operation, *operands)
    sign_of_y = -1.0 if operation.name == "sub" else 1.0
    if x.is_log or y.is_log:
        return _sum_of_logs(graph, operation, operands, x, y, sign_of_y)
    if operation.name == "sub" and x is y:
        return _difference_with_itself(graph, operation, x)
    special = _sum_with_one(graph, x, y, sign_of_y)
    if special is not None:
        return special
    function = num.subtract if sign_of_y < 0 else num.add
    number: Form | None = numerically(function, x, y)
    if sign_of_y < 0 and x.exponent is not None and y.exponent is not None and not x.is_complex:
        number = plainly(difference_of_exponentials, x.exponent, y.exponent)
    risky = max(x.risky, y.risky)
    shared = _shared_shift(graph, x, y, function)
    if shared is None and risky:
        shared = _common_denominator(graph, x, y, function)
    value, new = graph.node(
        operation.name, (x, y), dtype=x.dtype, shape=operation.shape,
        plain=operation.plain(operands),
        number=number if risky or x.underflows and y.underflows else None,
    )  # fmt: skip
    if new:
        if shared is None and operation.name == "add" and not risky:
            shared = _modulus_squared(graph, x, y)
        if shared is not None:
            value.factors = shared
        value.risky, value.underflows = risky, x.underflows and y.underflows
        value.nonnegative = x.nonnegative and y.nonnegative and sign_of_y > 0
        value.positive = value.nonnegative and (_bounded(x) or _bounded(y))
    return value


def _shared_shift(
    graph: Graph, x: Value, y: Value, function: Any
) -> tuple[tuple[Value, float], ...] | None:
    """exp(a - m) + exp(b - m) as (exp(a) + exp(b)) / exp(m)."""
    if not x.is_product or x.is_complex:
        return None
    of_y = {id(b): e for b, e in y.factors}
    shift = tuple((b, e) for b, e in x.factors if b.is_exponential and of_y.get(id(b)) == e)
    if not shift or len(shift) == len(x.factors) or len(shift) == len(y.factors):
        return None
    names = {id(b) for b, _ in shift}
    rest = [
        product(graph, [f for f in v.factors if id(f[0]) not in names], x.shape, x.dtype)
        for v in (x, y)
    ]
    number = numerically(function, *rest)
    value, new = graph.node(function.__name__, rest, number=number)
    if new:
        value.risky = EXPONENTIAL
        value.nonnegative = all(v.nonnegative for v in rest) and function is num.add
    return (*shift, (value, 1.0))


def _modulus_squared(graph: Graph, x: Value, y: Value) -> tuple[tuple[Value, float], ...] | None:
    """x**2 + y**2 as |x + iy|**2, to meet the angle atan2(y, x)."""
    a, b = (_root_of_square(v) for v in (x, y))
    if a is None or b is None:
        return None
    return ((absolute(graph, complex_of(graph, a, b)), 2.0),)


def _root_of_square(v: Value) -> Value | None:
    if v.is_complex or not v.operands:
        return None
    if v.operation == "mul" and v.operands[0] is v.operands[1]:
        return v.operands[0]
    return v.operands[0] if v.operation in ("square", "integer_pow") and v.params == 2.0 else None


def _common_denominator(
    graph: Graph, x: Value, y: Value, function: Any
) -> tuple[tuple[Value, float], ...] | None:
    """a / b + c as (a + c * b) / b, whose reciprocal is regular where b is 0."""
    below: dict[int, tuple[Value, float]] = {}
    for base, e in (*poles(x), *poles(y)):
        known = below.get(id(base), (base, 0.0))[1]
        below[id(base)] = (base, max(known, -e))
    if not below or len(below) > 4:
        return None
    wide = []
    for v in (x, y):
        # what v is divided by is gone: the whole is divided by it
        own = {id(b): e for b, e in v.factors if e < 0}
        factors = [f for f in v.factors if f[1] > 0 or id(f[0]) not in below]
        factors += [(b, n + own.get(i, 0.0)) for i, (b, n) in below.items()]
        wide.append(product(graph, [f for f in factors if f[1]], x.shape, x.dtype))
    numerator, new = graph.node(function.__name__, wide, number=numerically(function, *wide))
    if new:
        numerator.risky = EXPONENTIAL
        numerator.nonnegative = all(v.nonnegative for v in wide) and function is num.add
    return ((numerator, 1.0), *raised(list(below.values()), -1.0))


def _bounded(v: Value) -> bool:
    """Known to stay away from zero, so that a sum with it does."""
    return v.constant is not None and bool(v.constant > 0)


def _difference_with_itself(graph: Graph, operation: Operation, x: Value) -> Value:
    """x - x: zero with the derivative of zero, nan where x is not finite."""

    def zero(a: jax.Array) -> jax.Array:
        return lax.sub(lax.stop_gradient(a), lax.stop_gradient(a))

    graph.changed = True
    value, _ = graph.node("zero", (x,), plain=plainly(zero, x), shape=operation.shape)
    return value


def _sum_of_logs(
    graph: Graph, operation: Operation, operands: Any, x: Value, y: Value, sign_of_y: float
) -> Value:
    """log a + log b = log(a b); a plain operand p is log(e**p)."""
    a, b = antilog_of(graph, x), antilog_of(graph, y)
    factors, gain = merge(a.factors, raised(b.factors, sign_of_y))
    antilog = product(graph, factors, operation.shape, x.dtype)
    harmless = all(v.harmless or not v.is_log for v in (x, y))
    plain = operation.plain(operands)
    plain_shift = all(not v.is_log or v.harmless or _is_log_of_plain(v) for v in (x, y))
    if gain.regular or (gain.range and not (harmless or plain_shift)):
        plain = log_of_number(antilog)
        graph.note("cancelled", "a pair cancels in a sum of logarithms")
    elif gain.range:
        shift = next((v for v in (x, y) if is_infinite_shift(v)), None)
        if shift is not None and sign_of_y > 0:
            graph.changed = True
            plain = _unless_shift_is_zero(plain, shift)
            harmless = False
    if antilog.constant is not None:
        plain = log_of_number(antilog)
    return logarithm(graph, antilog, plain, (operation.name, (x, y), None), harmless=harmless,
                     shape=operation.shape)  # fmt: skip


def _is_log_of_plain(v: Value) -> bool:
    """Whether its plain form is right wherever the number is not zero."""
    return v.operation == "log" and not v.operands[0].risky and not v.operands[0].is_log


def _unless_shift_is_zero(plain: Form, shift: Value) -> Form:
    """log(sum(exp(a - m))) + m where all a are -inf: m itself, instead of nan."""

    def guarded(m: jax.Array, *arrays: jax.Array) -> jax.Array:
        none = lax.eq(m, lax.full_like(m, -np.inf))
        return lax.select(none, m, plain.function(*arrays))

    return Form(guarded, ((shift, "plain"), *plain.needs))


def _sum_with_one(graph: Graph, x: Value, y: Value, sign_of_y: float) -> Value | None:
    """exp(r) - 1, 1 - exp(r) and 1 - logistic(r), which keep their digits as expm1 and logistic."""
    if x.is_complex:
        return None
    if is_constant(y, sign_of_y * -1.0) and x.exponent is not None:
        return expm1_node(graph, x.exponent, x, 1.0)
    if sign_of_y < 0 and is_constant(x, 1.0):
        if y.exponent is not None:
            return expm1_node(graph, y.exponent, y, -1.0)
        if y.operation == "logistic":
            return logistic_node(graph, y.operands[0], y)
    if sign_of_y > 0:
        for one, other in ((x, y), (y, x)):
            if is_constant(one, 1.0) and other.operation == "neg":
                return _sum_with_one(graph, one, other.operands[0], -1.0)
    return None


@rule("mul")
def _product(graph: Graph, operation: Operation, *operands: Value) -> Value | None:
    if not all(v.is_float for v in operands):
        return None
    x, y = _operands(graph, operation, *operands)
    if x.is_log != y.is_log:
        log, coefficient = (x, y) if x.is_log else (y, x)
        return _multiple_of_log(graph, operation, operands, log, coefficient)
    if x.is_log:
        return None
    for imaginary, angle in ((x, y), (y, x)):
        turn = _turn(graph, operation, imaginary, angle, operands)
        if turn is not None:
            return turn
    factors, gain = merge(x.factors, y.factors)
    risky = max(x.risky, y.risky)
    if gain.regular or (gain.range and risky):
        graph.note("cancelled", "a pair cancels in a product")
        return product(graph, factors, operation.shape, operation.dtype)
    underflows = x.underflows or y.underflows
    value, new = graph.node(
        "mul", (x, y), shape=operation.shape, plain=operation.plain(operands),
        number=numerically(num.multiply, x, y) if risky or underflows else None,
    )  # fmt: skip
    if new:
        plain = shielded_product(graph, operation, x, y)
        if plain is not None:
            graph.changed = True
            value.forms["plain"] = plain
        value.factors = factors
        value.risky, value.underflows = risky, underflows
        value.nonzero = x.nonzero and y.nonzero
        for v, other in ((x, y), (y, x)):
            if other.nonzero:
                value.normalised_axes = v.normalised_axes
        value.nonnegative = (x.nonnegative and y.nonnegative) or (x is y and not x.is_complex)
        value.nonpositive = x.nonnegative and y.nonpositive or x.nonpositive and y.nonnegative
        _signs_of_product(value, x, y)
        value.positive = x.positive and y.positive
        value.exponent = _combined_exponent(graph, x, y, "add")
    return value


def _signs_of_product(value: Value, x: Value, y: Value) -> None:
    for v, factor in ((x, y), (y, x)):
        if factor.operation == "convert_element_type" and not v.is_complex:
            known = factor_by_sign(factor)
            if known is not None and known[0] is v:
                _, positive, negative = known
                value.nonnegative |= positive >= 0 >= negative
                value.nonpositive |= positive <= 0 <= negative


def _combined_exponent(graph: Graph, x: Value, y: Value, name: str) -> Value | None:
    """exp(a) * exp(b) = exp(a + b)."""
    if x.exponent is None or y.exponent is None or x.is_complex:
        return None
    function = lax.add if name == "add" else lax.sub
    value, _ = graph.node(name, (x.exponent, y.exponent), shape=x.shape,
                          plain=plainly(function, x.exponent, y.exponent))  # fmt: skip
    return value


def _turn(
    graph: Graph, operation: Operation, imaginary: Value, angle: Value, operands: Any
) -> Value | None:
    """1j * angle(b) is the logarithm of sign(b)."""
    if not imaginary.is_complex or imaginary.constant is None or imaginary.constant.real != 0:
        return None
    if angle.operation != "convert_element_type" or angle.operands[0].operation != "angle":
        return None
    base = angle.operands[0].operands[0]
    if base.dtype != operation.dtype:
        return None
    factors = ((sign(graph, base), float(imaginary.constant.imag)),)
    antilog = product(graph, factors, operation.shape, operation.dtype)
    return logarithm(graph, antilog, operation.plain(operands), ("mul", (imaginary, angle), None),
                     harmless=False)  # fmt: skip


def _multiple_of_log(
    graph: Graph, operation: Operation, operands: Any, log: Value, c: Value
) -> Value | None:
    """c * log(a) = log(a**c)."""
    a = log.antilog
    assert a is not None
    if c.constant is not None and np.imag(c.constant) == 0 and np.isfinite(c.constant):
        power = float(np.real(c.constant))
        if a.is_complex and not power.is_integer():
            exact = _principal_factors(log)
            if exact is None:
                return None
            factors, regular = raised(exact, power), False
        else:
            factors, regular = power_factors(graph, a, power)
        factors, gain = merge(factors)
        antilog = product(graph, factors, operation.shape, operation.dtype)
        plain = operation.plain(operands)
        if regular and not log.harmless:
            graph.note(
                "cancelled", "a root or a modulus becomes whole in a multiple of a logarithm"
            )
            plain = log_of_number(antilog)
        if power == 0:
            graph.changed = True
            plain = masked_product(graph, operation, log, c)
    elif log.harmless and away_from_zero(a):
        return None
    else:
        exact = _principal_factors(log) if a.is_complex else a.factors
        if exact is None:
            return None
        factors = tuple((array_power(graph, base, e, c), 1.0) for base, e in exact)
        factors, _ = merge(factors)
        antilog = product(graph, factors, operation.shape, operation.dtype)
        plain = operation.plain(operands)
        if not c.nonzero:
            graph.changed = True
            plain = masked_product(graph, operation, log, c)
    return logarithm(graph, antilog, plain, ("mul", (log, c), None), harmless=log.harmless,
                     shape=operation.shape)  # fmt: skip


def _principal_factors(log: Value) -> tuple[tuple[Value, float], ...] | None:
    """Bases and coefficients of which a complex logarithm is the sum c * Log(base), principal values.

    Not only up to 2 pi i, which a fractional multiple would make visible. None where it is not known.
    """
    if not log.is_log:
        return None
    if log.operation == "log":
        # Log(base**e) is e * Log(base) for positive bases, and up to |e| = 1
        assert log.antilog is not None
        factors = log.antilog.factors
        others = [e for b, e in factors if not (b.is_exponential or b.nonnegative)]
        return factors if len(others) <= 1 and all(abs(e) <= 1 for e in others) else None
    if log.operation in ("add", "sub"):
        x, y = map(_principal_factors, log.operands)
        if x is None or y is None:
            return None
        return (*x, *raised(y, 1.0 if log.operation == "add" else -1.0))
    if log.operation == "mul" and log.operands[1].constant is not None:
        inner = _principal_factors(log.operands[0])
        return None if inner is None else raised(inner, float(np.real(log.operands[1].constant)))
    return None


@rule("div")
def _quotient(graph: Graph, operation: Operation, *operands: Value) -> Value | None:
    if not all(v.is_float for v in operands):
        return None
    x, y = _operands(graph, operation, *operands)
    if x.is_log or y.is_log:
        if y.constant is None or y.constant == 0 or not np.isfinite(y.constant):
            return None
        inverse = graph.constant(1 / y.constant, y.shape, y.dtype)
        return _multiple_of_log(graph, operation, operands, x, inverse)
    factors, gain = merge(x.factors, raised(y.factors, -1.0))
    risky = max(x.risky, y.risky)
    inverted_twice = is_constant(x, 1.0) and len(factors) == 1 and factors[0][1] == 1.0
    one_exponential = len(factors) == 1 and factors[0][0].is_exponential
    removed = risky and any(b.operation != "constant" for b, _ in poles(y))
    if gain.regular or inverted_twice or removed or (gain.range and (risky or one_exponential)):
        graph.note("cancelled", "a pair cancels in a quotient")
        return product(graph, factors, operation.shape, operation.dtype)
    value, new = graph.node(
        "div", (x, y), shape=operation.shape,
        # an overflowed denominator has lost the quotient, or its derivative
        plain=None if y.risky == EXPONENTIAL else operation.plain(operands),
        number=numerically(num.divide, x, y),
    )  # fmt: skip
    if new:
        if y.risky == EXPONENTIAL:
            graph.note("kept", "a quotient whose denominator may overflow is formed as a number")
        value.factors = factors
        value.risky = risky
        value.nonnegative = x.nonnegative and y.nonnegative
        value.positive = x.positive and y.positive
        value.exponent = _combined_exponent(graph, x, y, "sub")
        value.underflows = x.underflows
        if x.operation in ("exp", "exp_of_log") and x.underflows and not y.risky:
            value.softmax = x.operands[0], y
    return value


@rule("neg")
def _negative(graph: Graph, operation: Operation, x: Value) -> Value | None:
    if not x.is_float:
        return None
    if x.antilog is not None:
        antilog = product(graph, raised(x.antilog.factors, -1.0), x.shape, x.dtype)
        return logarithm(graph, antilog, operation.plain((x,)), ("neg", (x,), None),
                         harmless=x.harmless)  # fmt: skip
    if x.operation == "neg":
        return x.operands[0]
    value, new = graph.node("neg", (x,), plain=operation.plain((x,)),
                            number=numerically(num.negative, x))  # fmt: skip
    if new:
        value.risky = x.risky
        value.nonnegative, value.nonpositive = x.nonpositive, x.nonnegative
        value.nonzero = x.nonzero
        if x.constant is not None:
            value.constant = -x.constant
        if x.is_product:
            minus = graph.constant(-1, x.shape, x.dtype)
            value.factors = ((minus, 1.0), *x.factors)
    return value


@rule("abs")
def _absolute(graph: Graph, operation: Operation, x: Value) -> Value | None:
    if not x.is_float:
        return None
    return absolute(graph, x, operation.plain((x,)))


@rule("sign")
def _sign(graph: Graph, operation: Operation, x: Value) -> Value | None:
    return sign(graph, x) if x.is_float and not x.is_log else None
