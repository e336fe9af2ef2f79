"""Exponentials and hyperbolic functions of numbers, as numbers, so that they do not overflow.

The argument of an exponential is a plain value of moderate size wherever the result is
representable, so it is read as one. Where a function vanishes with its argument (expm1, sinh), an
argument below the range of a float goes through its series.
"""

import jax
import numpy as np
from jax import lax

from .arithmetic import add, divide, multiply, negative, subtract, where
from .bilinear import product
from .logarithm import from_log, log, logabs
from .scaled import (
    LIMIT,
    Scaled,
    constant_like,
    from_linear,
    is_complex,
    is_live,
    magnitude,
    normalise,
    select,
    tidy,
    times_real,
    to_linear,
    zero_exponent,
)


def exp(x: Scaled) -> Scaled:
    """e**x, right up to its own overflow at x = 7.4e8."""
    return from_log(to_linear(x))


def exp2(x: Scaled) -> Scaled:
    """2**x; the integer part of x becomes the exponent."""
    a = to_linear(x)
    if is_complex(a):
        return from_log(times_real(a, constant_like(lax.real(a), np.log(2))))
    constant = lax.stop_gradient(a)
    bound = np.array(LIMIT - 64, a.dtype)
    whole = lax.round(lax.clamp(-bound, constant, bound), lax.RoundingMethod.TO_NEAREST_EVEN)
    whole = select(lax.is_finite(constant), whole, 0.0)
    s = lax.exp2(lax.sub(a, whole))
    e = select(is_live(s), lax.convert_element_type(whole, np.int32), np.int32(-LIMIT))
    return tidy(s, e)


def _one(x: Scaled) -> Scaled:
    return Scaled(constant_like(x.significand, 1), zero_exponent(x.significand))


def _constant(x: Scaled, value: float) -> Scaled:
    return Scaled(constant_like(x.significand, value), zero_exponent(x.significand))


def _guarded(x: Scaled, keep: jax.Array) -> Scaled:
    """x where keep, 0 elsewhere: the branch that is not taken must not overflow."""
    return Scaled(
        select(keep, x.significand, lax.full_like(x.significand, 0)),
        select(keep, x.exponent, lax.full_like(x.exponent, 0)),
    )


def _regions(x: Scaled) -> tuple[jax.Array, jax.Array]:
    """Where |x| is so small that a float may not hold it, and where |x| < 1."""
    size = magnitude(to_linear(x))
    threshold = np.array(np.finfo(size.dtype).tiny * 2.0**64, size.dtype)
    live = is_live(x.significand)
    minute = lax.bitwise_and(live, lax.lt(size, threshold))
    return minute, lax.lt(size, np.array(1.0, size.dtype))


def expm1(x: Scaled) -> Scaled:
    """e**x - 1, accurate near 0."""
    minute, small = _regions(x)
    tiny = _guarded(x, minute)
    series = multiply(tiny, add(_one(x), multiply(tiny, _constant(x, 0.5))))
    near = from_linear(lax.expm1(to_linear(_guarded(x, small))))
    far = subtract(exp(_guarded(x, lax.bitwise_not(small))), _one(x))
    return where(minute, series, where(small, near, far))


def exp2m1(x: Scaled) -> Scaled:
    """2**x - 1, accurate near 0."""
    _, small = _regions(x)
    near = expm1(multiply(_guarded(x, small), _constant(x, np.log(2))))
    far = subtract(exp2(_guarded(x, lax.bitwise_not(small))), _one(x))
    return where(small, near, far)


def _hyperbolic_parts(x: Scaled) -> tuple[Scaled, Scaled]:
    half = _constant(x, 0.5)
    return multiply(half, exp(x)), multiply(half, exp(negative(x)))


def cosh(x: Scaled) -> Scaled:
    return add(*_hyperbolic_parts(x))


def sinh(x: Scaled) -> Scaled:
    minute, small = _regions(x)
    near = from_linear(_plain_sinh(to_linear(_guarded(x, small))))
    far = subtract(*_hyperbolic_parts(_guarded(x, lax.bitwise_not(small))))
    return where(minute, _guarded(x, minute), where(small, near, far))


def _plain_sinh(a: jax.Array) -> jax.Array:
    if not is_complex(a):
        return lax.sinh(a)
    # lax.sinh of complex numbers subtracts exponentials and loses all digits near 0
    re, im = lax.real(a), lax.imag(a)
    return lax.complex(lax.mul(lax.sinh(re), lax.cos(im)), lax.mul(lax.cosh(re), lax.sin(im)))


def log1p(x: Scaled) -> jax.Array:
    """log(1 + x), plain: accurate near 0, and finite where 1 + x is beyond the range of a float."""
    size = magnitude(to_linear(x))
    small = lax.lt(size, np.array(1.0, size.dtype))
    near = lax.log1p(to_linear(_guarded(x, small)))
    far = log(add(_one(x), _guarded(x, lax.bitwise_not(small))))
    return lax.select(small, near, far)


def log2(x: Scaled) -> jax.Array:
    """The binary logarithm, plain; exact for powers of two."""
    if is_complex(x.significand):
        return times_real(log(x), constant_like(magnitude(x.significand), 1 / np.log(2)))
    live = is_live(x.significand)
    n = normalise(x)
    safe = select(live, n.significand, lax.full_like(n.significand, 1))
    mantissa = lax.div(lax.log(safe), np.array(np.log(2), safe.dtype))
    total = lax.add(lax.convert_element_type(n.exponent, mantissa.dtype), mantissa)
    at_zero = lax.div(logabs(_guarded_zero(x, live)), np.array(np.log(2), safe.dtype))
    return lax.select(live, total, at_zero)


def log2p1(x: Scaled) -> jax.Array:
    """The binary logarithm of 1 + x, plain and real; accurate near 0."""
    _, small = _regions(x)
    near = log1p(_guarded(x, small))
    near = lax.div(near, np.array(np.log(2), near.dtype))
    far = log2(add(_one(x), _guarded(x, lax.bitwise_not(small))))
    return lax.select(small, near, far)


def _guarded_zero(x: Scaled, live: jax.Array) -> Scaled:
    one = lax.full_like(x.significand, 1)
    return Scaled(select(live, one, x.significand), x.exponent)


def logistic(x: Scaled) -> Scaled:
    """1 / (1 + e**-x) as a number: its tail e**x does not underflow."""
    one = _one(x)
    return divide(one, add(one, exp(negative(x))))


def arcsinh(x: Scaled) -> jax.Array:
    """Plain; logarithmic where x is beyond the range of a float."""
    large = _is_large(x)
    near = lax.asinh(to_linear(_two_where(x, large)))
    # odd: log(2x) on the right, -log(-2x) on the left
    left = _is_negative(x)
    flip = select(left, lax.full_like(x.significand, -1), lax.full_like(x.significand, 1))
    doubled = Scaled(product(x.significand, flip), lax.add(x.exponent, np.int32(1)))
    return lax.select(large, product(flip, log(_two_where(doubled, lax.bitwise_not(large)))), near)


def arccosh(x: Scaled) -> jax.Array:
    """Plain; logarithmic where x is beyond the range of a float; nan for real x < 1."""
    large = _is_large(x)
    if not is_complex(x.significand):
        large = lax.bitwise_and(large, lax.bitwise_not(_is_negative(x)))
    near = lax.acosh(to_linear(_two_where(x, large)))
    doubled = Scaled(x.significand, lax.add(x.exponent, np.int32(1)))
    return lax.select(large, log(_two_where(doubled, lax.bitwise_not(large))), near)


def _is_negative(x: Scaled) -> jax.Array:
    s = lax.stop_gradient(x.significand)
    s = lax.real(s) if is_complex(s) else s
    return lax.lt(s, lax.full_like(s, 0))


def _is_large(x: Scaled) -> jax.Array:
    size = magnitude(to_linear(x))
    return lax.gt(size, np.array(2.0**60, size.dtype))


def _two_where(x: Scaled, condition: jax.Array) -> Scaled:
    """x, but 2 where the condition holds: a regular point of every function here."""
    return Scaled(
        select(condition, lax.full_like(x.significand, 2), x.significand),
        select(condition, lax.full_like(x.exponent, 0), x.exponent),
    )
