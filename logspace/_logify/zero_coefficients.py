"""An exact zero coefficient next to a singularity: 0 * log(0), 0 * sqrt(0).

The product is zero, and so is its derivative in what stands under the logarithm. Only those places
are touched where the coefficient is zero *and* the function is singular, so that d(c log p)/dc =
log p survives at c = 0. And they are touched in the argument of the singular function, not in its
result: reverse mode would still form 0 * inf behind a mask on the result.
"""

from typing import Any

import jax
import numpy as np
from jax import lax

from .. import _numerics as num
from .._numerics.bilinear import linear_product
from .value import NUMBER, PLAIN, Form, Graph, Value


def plain_masked_product(c: jax.Array, a: jax.Array) -> jax.Array:
    """c * a, but 0 where c is 0 and a infinite, for an a that has a harmless derivative."""
    both = lax.bitwise_and(lax.eq(c, lax.full_like(c, 0)), _is_infinite(a))
    return lax.mul(c, lax.select(both, lax.full_like(a, 0), a))


def _plain_multiple_by_zero(c: jax.Array, a: jax.Array) -> jax.Array:
    return lax.mul(c, lax.select(_is_infinite(a), lax.full_like(a, 0), a))


def away_from_zero(a: Value) -> bool:
    """Whether log(a) is finite wherever a is: as log(1 + e**x), an ordinary activation, is.

    Its multiples need no care, and what follows may be the user's own program.
    """
    return all(base.positive and not base.is_exponential for base, _ in a.factors)


def _is_infinite(a: jax.Array) -> jax.Array:
    size = _modulus(a)
    return lax.eq(size, lax.full_like(size, np.inf))


def _modulus(a: jax.Array) -> jax.Array:
    a = lax.stop_gradient(a)
    if np.issubdtype(a.dtype, np.complexfloating):
        return lax.max(lax.abs(lax.real(a)), lax.abs(lax.imag(a)))
    return lax.abs(a)


def masked_product(graph: Graph, operation: Any, log: Value, c: Value) -> Form:
    """The plain form of c * log(a)."""
    if log.harmless:
        product = _plain_multiple_by_zero if c.constant == 0 else plain_masked_product
        return Form(product, ((c, PLAIN), (log, PLAIN)))
    assert log.antilog is not None
    factors = log.antilog.factors
    kinds = []
    needs: list[tuple[Value, str]] = [(c, PLAIN)]
    for base, e in factors:
        if base.is_exponential:
            kinds.append(("exponent", e))
            needs.append((base.operands[0], PLAIN))
        elif base.risky:
            kinds.append(("number", e))
            needs.append((base, NUMBER))
        else:
            kinds.append(("plain", e))
            needs.append((base, PLAIN))

    def of_factors(c: jax.Array, *parts: Any) -> jax.Array:
        zero = lax.eq(c, lax.full_like(c, 0))
        total, slope = None, None
        for (kind, e), part in zip(kinds, parts, strict=True):
            if kind == "exponent":
                both = lax.bitwise_and(zero, _is_infinite(part))
                term = lax.select(both, lax.full_like(part, 0), part)
            else:
                term, masked = _masked_log(kind, zero, part)
                here = _slope_in_coefficient(c, masked, -e)
                slope = here if slope is None else lax.add(slope, here)
            term = term if e == 1.0 else lax.mul(term, lax.full_like(term, e))
            total = term if total is None else lax.add(total, term)
        assert total is not None
        result = lax.mul(c, total)
        return result if slope is None else lax.add(result, slope)

    return Form(of_factors, tuple(needs))


def _masked_log(kind: str, zero: jax.Array, part: Any) -> tuple[jax.Array, jax.Array]:
    """log(part), and 0 where it is singular beside a zero coefficient."""
    s = part.significand if kind == "number" else part
    masked = lax.bitwise_and(zero, lax.eq(s, lax.full_like(s, 0)))
    safe = lax.select(masked, lax.full_like(s, 1), s)
    if kind == "plain":
        return lax.log(safe), masked
    exponent = lax.select(masked, lax.full_like(part.exponent, 0), part.exponent)
    return num.log(num.Scaled(safe, exponent)), masked


def _slope_in_coefficient(c: jax.Array, masked: jax.Array, slope: float) -> jax.Array:
    """Zero, with the derivative of c * log(0) in c where masked: infinite; 0 if c is constant."""
    change = lax.sub(c, lax.stop_gradient(c))
    infinite = lax.full_like(c, np.inf if slope > 0 else -np.inf)
    zero = lax.full_like(c, 0)
    return lax.select(masked, linear_product(change, lax.select(masked, infinite, zero)), zero)


def shielded_product(graph: Graph, operation: Any, x: Value, y: Value) -> Form | None:
    """The plain form of c * a**p with 0 < p < 1, or None if neither operand is such a root."""
    for c, root in ((x, y), (y, x)):
        if root.operation not in ("sqrt", "pow", "cbrt") or c.constant:
            continue
        e = root.factors[0][1] if len(root.factors) == 1 else 0.5
        if c is root or root.risky or c.risky or not 0 < e < 1 or float(e).is_integer():
            continue
        base = root.operands[0]
        recipe = root.forms[PLAIN]
        if (base, PLAIN) not in recipe.needs or base.shape != root.shape:
            continue
        return _shielded(c, base, recipe)
    return None


def _shielded(c: Value, base: Value, recipe: Form) -> Form:
    at = recipe.needs.index((base, PLAIN))

    def product(c: jax.Array, *parts: Any) -> jax.Array:
        a = parts[at]
        masked = lax.bitwise_and(lax.eq(c, lax.full_like(c, 0)), lax.eq(a, lax.full_like(a, 0)))
        safe = lax.select(masked, lax.full_like(a, 1), a)
        root = recipe.function(*parts[:at], safe, *parts[at + 1 :])
        return lax.select(masked, lax.full_like(root, 0), lax.mul(c, root))

    return Form(product, ((c, PLAIN), *recipe.needs))
