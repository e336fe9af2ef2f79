"""Exponentials and logarithms next to one and next to each other, where digits would be lost."""

import operator
from typing import Any

import jax
import numpy as np
from jax import lax

from .. import _numerics as num
from .algebra import exponential
from .value import EXPONENTIAL, Graph, Value, is_constant, plainly


def difference_of_exponentials(a: jax.Array, b: jax.Array) -> num.Scaled:
    """exp(a) - exp(b) as exp(b) * expm1(a - b): the digits of a - b are kept."""
    both = lax.bitwise_and(lax.is_finite(a), lax.is_finite(b))
    gap = lax.abs(lax.stop_gradient(lax.sub(a, b)))
    near = lax.bitwise_and(both, lax.lt(gap, lax.full_like(gap, 1.0)))
    zero = lax.full_like(a, 0)
    change = lax.expm1(lax.sub(lax.select(near, a, zero), lax.select(near, b, zero)))
    close = num.multiply(num.from_log(lax.select(near, b, zero)), num.from_linear(change))
    apart = num.subtract(
        num.from_log(lax.select(near, zero, a)), num.from_log(lax.select(near, zero, b))
    )
    return num.where(near, close, apart)


def expm1_node(graph: Graph, r: Value, exp_r: Value, sign: float) -> Value:
    """sign * (exp(r) - 1) as a number that is accurate near r = 0 and beyond the floats."""
    one = graph.constant(1, r.shape, r.dtype)
    if sign > 0:
        operands, name = (exp_r, one), "sub"
        plain = plainly(lax.sub, exp_r, one)
    else:
        operands, name = (one, exp_r), "sub"
        plain = plainly(lax.sub, one, exp_r)

    def number(a: jax.Array) -> num.Scaled:
        x = num.expm1(num.from_linear(a))
        return x if sign > 0 else num.negative(x)

    value, new = graph.node(name, operands, plain=plain, number=plainly(number, r))
    if new:
        value.risky = EXPONENTIAL
    return value


def logistic_node(graph: Graph, r: Value, logistic_r: Value) -> Value:
    """1 - logistic(r) = logistic(-r)."""
    one = graph.constant(1, r.shape, r.dtype)

    def number(a: jax.Array) -> num.Scaled:
        return num.logistic(num.from_linear(lax.neg(a)))

    value, new = graph.node(
        "sub", (one, logistic_r), plain=plainly(lax.sub, one, logistic_r),
        number=plainly(number, r),
    )  # fmt: skip
    if new:
        value.nonnegative = value.positive = True
        logistic_r.factors = ((exponential(graph, r), 1.0), (value, 1.0))
    return value


def threshold(dtype: np.dtype) -> float:
    """Where exp(-x) is less than a quarter of the rounding error of x."""
    return 20.0 if np.finfo(dtype).bits == 32 else 40.0


def softplus(r: jax.Array) -> jax.Array:
    """log1p(exp(r)), to the bit where r is moderate, and r where exp(r) might overflow."""
    top = lax.full_like(r, threshold(r.dtype))
    large = lax.gt(lax.stop_gradient(r), top)
    safe = lax.select(large, lax.full_like(r, 0), r)
    return lax.select(large, r, lax.log1p(lax.exp(safe)))


def log_logistic(r: jax.Array) -> jax.Array:
    """log(logistic(r)), to the bit where r is moderate, and r where logistic(r) might underflow."""
    bottom = lax.full_like(r, -threshold(r.dtype))
    small = lax.lt(lax.stop_gradient(r), bottom)
    safe = lax.select(small, lax.full_like(r, 0), r)
    return lax.select(small, r, lax.log(lax.logistic(safe)))


def log_one_minus_logistic(r: jax.Array) -> jax.Array:
    """log(1 - logistic(r)) = log(logistic(-r)) = -softplus(r)."""
    return lax.neg(softplus(r))


def log1m_exp(r: jax.Array) -> jax.Array:
    """log(1 - exp(r)): through expm1 near 0, through log1p in the tail; nan for r > 0."""
    near = lax.gt(lax.stop_gradient(r), lax.full_like(r, -np.log(2)))
    minus_one = lax.full_like(r, -1)
    close = lax.log(lax.neg(lax.expm1(lax.select(near, r, minus_one))))
    tail = lax.log1p(lax.neg(lax.exp(lax.select(near, minus_one, r))))
    return lax.select(near, close, tail)


def is_max_shift(m: Value, a: Value) -> bool:
    """Whether m is the largest element of a along some axes, however it was dressed."""
    return max_axes(m, a) is not None


def max_axes(m: Value, a: Value) -> tuple[int, ...] | None:
    """The axes (of a) along which m is max(a), or None."""
    m, guarded = peeled(m)
    del guarded
    if m.operation != "reduce_max":
        return None
    inner = m.operands[0]
    if inner is a or inner is _real_part_of(a) or _same_real_part(inner, a):
        return tuple(m.params)
    return None


def _real_part_of(a: Value) -> Value | None:
    return a.operands[0] if a.operation == "convert_element_type" else None


def _same_real_part(inner: Value, a: Value) -> bool:
    return inner.operation == "real" and inner.operands[0] is a


def peeled(m: Value) -> tuple[Value, bool]:
    """m without repetition, stop_gradient, max(-inf, .); and whether infinities were replaced."""
    guarded = False
    while True:
        if m.operation in ("view", "stop_gradient", "copy", "convert_element_type"):
            m = m.operands[0]
        elif m.operation == "max":
            m, constant = m.operands
            if is_constant(m, -np.inf):
                m = constant
        elif m.operation == "select_n" and len(m.operands) == 3:
            condition, _, m = m.operands
            if condition.operation != "is_finite":
                return m, guarded
            guarded = True
        else:
            return m, guarded


def is_infinite_shift(v: Value) -> bool:
    """A max shift that is -inf where all that it was taken of is."""
    m, guarded = peeled(v)
    return m.operation == "reduce_max" and not guarded and not m.is_complex


def expm1_of(v: Value) -> tuple[Value, float] | None:
    """(r, sign) if v = sign * (exp(r) - 1)."""
    if v.operation == "neg":
        inner = expm1_of(v.operands[0])
        return None if inner is None else (inner[0], -inner[1])
    if v.operation == "expm1":
        return v.operands[0], 1.0
    if v.operation == "sub":
        x, y = v.operands
        if is_constant(y, 1.0) and x.exponent is not None and not x.is_complex:
            return x.exponent, 1.0
        if is_constant(x, 1.0) and y.exponent is not None and not y.is_complex:
            return y.exponent, -1.0
    return None


def factor_by_sign(v: Value) -> tuple[Value, Any, Any] | None:
    """(x, p, n) if v is p where the sign bit of x is not set, and n where it is.

    ``x * (1 - 2 * signbit(x))`` is |x|, which programs write where abs has no derivative at 0.
    """
    if v.operation == "signbit":
        return v.operands[0], 0.0, 1.0
    if v.operation == "convert_element_type":
        return factor_by_sign(v.operands[0])
    if v.operation not in _BY_NUMBERS or len(v.operands) != 2:
        return None
    a, b = v.operands
    for inner, other, swapped in ((a, b, False), (b, a, True)):
        known = None if other.constant is None else factor_by_sign(inner)
        if known is None:
            continue
        x, *values = known
        combine = _BY_NUMBERS[v.operation]
        p, n = (combine(other.constant, z) if swapped else combine(z, other.constant)
                for z in values)  # fmt: skip
        return x, p, n
    return None


_BY_NUMBERS = {"mul": operator.mul, "add": operator.add, "sub": operator.sub}

__all__ = ["factor_by_sign",
    "difference_of_exponentials", "expm1_node", "expm1_of", "is_infinite_shift", "is_max_shift",
    "log1m_exp", "log_logistic", "log_one_minus_logistic", "logistic_node", "max_axes", "peeled",
    "softplus",
]  # fmt: skip
