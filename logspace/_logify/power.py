"""Powers and roots; those whose exponent is an array have both derivatives where it is zero."""

from typing import Any

import jax
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from .. import _numerics as num
from .algebra import absolute, exponential, power_factors, power_of_number, product, sign
from .factors import merge
from .movement import broadcast_to
from .rules import Operation, rule
from .value import EXPONENTIAL, Form, Graph, Value, numerically, plainly
from .zero_coefficients import plain_masked_product


@jax.custom_jvp
def safe_power(x: jax.Array, p: jax.Array) -> jax.Array:
    """`lax.pow` to the bit, with d(x**p)/dx = 0 where p is 0, to every order.

    The rule of `lax.pow` forms 0 * x**-1 there, which at x = 0 is nan. The derivative in p is kept:
    at p = 0 it is log(x), not 0.
    """
    return lax.pow(x, p)


def _safe_power_jvp(primals: Any, tangents: Any) -> Any:
    (x, p), (dx, dp) = primals, tangents
    out = safe_power(x, p)
    terms = []
    if not isinstance(dx, SymbolicZero):
        # only where both are zero: for other x the slope p * x**(p - 1) has a derivative in p
        both = lax.bitwise_and(_is_zero(x), _is_zero(p))
        safe_x = lax.select(both, lax.full_like(x, 1), x)
        slope = lax.mul(p, safe_power(safe_x, lax.sub(p, lax.full_like(p, 1))))
        terms.append(lax.mul(slope, dx))
    if not isinstance(dp, SymbolicZero):
        log_x = lax.log(lax.select(_is_zero(x), lax.full_like(x, 1), x))
        terms.append(lax.mul(lax.mul(out, log_x), dp))
    if not terms:
        return out, lax.full_like(out, 0)
    return out, terms[0] if len(terms) == 1 else lax.add(*terms)


def _is_zero(a: jax.Array) -> jax.Array:
    return lax.eq(a, lax.full_like(a, 0))


safe_power.defjvp(_safe_power_jvp, symbolic_zeros=True)


def array_power(graph: Graph, base: Value, e: float, c: Value) -> Value:
    """base**(e * c) for an array c; 1 where c is 0, whatever the base."""
    if base.is_exponential:
        r = base.operands[0]

        def exponent(a: jax.Array, b: jax.Array) -> jax.Array:
            scaled = lax.mul(b, lax.full_like(b, e)) if e != 1.0 else b
            return plain_masked_product(scaled, a)

        scaled, _ = graph.node("masked_mul", (r, c), e, plain=plainly(exponent, r, c))
        return exponential(graph, scaled)

    def of_number(x: num.Scaled, p: jax.Array) -> num.Scaled:
        return num.power(x, lax.mul(p, lax.full_like(p, e)) if e != 1.0 else p)

    value, new = graph.node(
        "array_power", (base, c), e, number=Form(of_number, ((base, "number"), (c, "plain")))
    )
    if new:
        value.nonnegative = base.nonnegative
        value.risky = EXPONENTIAL
    return value


@rule("cbrt")
def _cube_root(graph: Graph, operation: Operation, x: Value) -> Value | None:
    """sign(x) * |x|**(1/3), of which powers may become whole again."""
    if not x.is_float or x.is_log or x.is_complex:
        return None
    value, new = graph.node("cbrt", (x,), plain=operation.plain((x,)),
                            number=numerically(num.cbrt, x))  # fmt: skip
    if new:
        value.risky, value.nonnegative, value.positive = x.risky, x.nonnegative, x.positive
        third = ((absolute(graph, x), 1 / 3),)
        value.factors = third if x.nonnegative else ((sign(graph, x), 1.0), *third)
    return value


_STATIC_POWERS = {"square": 2.0, "sqrt": 0.5, "rsqrt": -0.5}


@rule("integer_pow", "square", "sqrt", "rsqrt")
def _static_power(graph: Graph, operation: Operation, x: Value) -> Value | None:
    if not x.is_float or x.is_log:
        return None
    power = _STATIC_POWERS.get(operation.name)
    power = float(operation.params["y"]) if power is None else power
    return power_value(graph, operation, (x,), x, power)


def power_value(graph: Graph, operation: Operation, operands: Any, x: Value, power: float) -> Value:
    factors, regular = power_factors(graph, x, power)
    if regular:
        graph.note("cancelled", "a power removes a root or a modulus")
        factors, _ = merge(factors)
        return product(graph, factors, x.shape, x.dtype)
    value, new = graph.node(
        operation.name, (x,), power, plain=operation.plain(operands),
        number=numerically(lambda n: power_of_number(n, power), x),
    )  # fmt: skip
    if new:
        value.risky = x.risky
        even = power.is_integer() and int(power) % 2 == 0
        value.nonnegative = not x.is_complex and (even or x.nonnegative or not power.is_integer())
        value.positive = x.positive
        value.factors = factors
        if x.exponent is not None and not x.is_complex:
            c = graph.constant(power, x.shape, x.dtype)
            value.exponent, _ = graph.node(
                "mul", (x.exponent, c), plain=plainly(lax.mul, x.exponent, c)
            )
    return value


@rule("pow")
def _power(graph: Graph, operation: Operation, *operands: Value) -> Value | None:
    x, p = operands
    if not x.is_float or x.is_log:
        return None
    if np.issubdtype(p.dtype, np.integer) and not x.is_complex:
        p, _ = graph.node("convert_element_type", (p,), x.dtype.name, dtype=x.dtype, plain=plainly(
            lambda a: lax.convert_element_type(a, x.dtype), p))  # fmt: skip
    if not p.is_float or x.dtype != p.dtype:
        return None
    x, p = (broadcast_to(graph, v, operation.shape) for v in (x, p))
    constant, base = p.constant, x.constant
    if constant is not None and np.imag(constant) == 0 and np.isfinite(constant):
        value = power_value(graph, operation, operands, x, float(np.real(constant)))
    elif base is not None and not x.is_complex and 0 < base < np.inf and base != 1:
        return _exponential_of_base(graph, operation, operands, float(np.log(base)), p)
    else:
        value, new = graph.node("pow", (x, p), plain=None, number=numerically_power(x, p))
        if new:
            value.risky = x.risky
            value.nonnegative = x.nonnegative
    if value.operation == "pow" and not x.is_complex:
        value.forms["plain"] = plainly(safe_power, x, p)
        graph.changed = True
    elif value.operation == "pow":
        value.forms["plain"] = operation.plain(operands)
    return value


def _exponential_of_base(
    graph: Graph, operation: Operation, operands: Any, log_base: float, p: Value
) -> Value:
    """base ** p = exp(p * log(base)), as exp2 is."""
    if p.antilog is not None:
        factors, _ = power_factors(graph, p.antilog, log_base)
        factors, _ = merge(factors)
        graph.note("cancelled", "a power of a constant meets a logarithm")
        return product(graph, factors, p.shape, p.dtype)
    x = operands[0] if operands[0].shape == p.shape else broadcast_to(graph, operands[0], p.shape)
    value, new = graph.node("pow", (x, p), plain=operation.plain(operands),
                            number=numerically_power(x, p))  # fmt: skip
    if new:
        value.risky = EXPONENTIAL
        value.nonnegative = value.positive = True
        c = graph.constant(log_base, p.shape, p.dtype)
        value.exponent, _ = graph.node("mul", (p, c), plain=plainly(lax.mul, p, c))
    return value


def numerically_power(x: Value, p: Value) -> Form:
    return Form(num.power, ((x, "number"), (p, "plain")))
