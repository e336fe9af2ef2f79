"""Powers whose exponent is an array, with both derivatives where the exponent is zero."""

from typing import Any

import jax
from jax import lax
from jax.custom_derivatives import SymbolicZero

from .. import _numerics as num
from .algebra import exponential
from .value import EXPONENTIAL, Form, Graph, Value, plainly
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
