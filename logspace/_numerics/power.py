"""Powers with an array as the exponent."""

from functools import partial, reduce
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from .bilinear import linear_product, product
from .logarithm import LN2, from_log, log_modulus
from .scaled import (
    LIMIT,
    Scaled,
    format_of,
    is_complex,
    is_finite,
    is_live,
    normalise,
    scale_by,
    select,
    tidy,
    zero_exponent,
)


@jax.custom_jvp
def _significand_power(s: jax.Array, p: jax.Array) -> jax.Array:
    """s**p whose derivative in s is p * s**(p - 1), and 0 where p and s are 0.

    The rule of `lax.pow` forms 0 * inf for the derivatives of s**0 and for the second derivative
    of s**1 at s = 0. The derivative in p is s**p * log(s), and 0 at s = 0.
    """
    return lax.pow(s, p)


@partial(_significand_power.defjvp, symbolic_zeros=True)
def _significand_power_jvp(primals: Any, tangents: Any) -> Any:
    (s, p), (ds, dp) = primals, tangents
    out = _significand_power(s, p)
    terms = []
    if not isinstance(ds, SymbolicZero):
        terms.append(linear_product(_slope(s, p), ds))
    if not isinstance(dp, SymbolicZero):
        # nan for a negative s, whose powers with other exponents are not real
        log_s = _log(select(is_live(s), s, lax.full_like(s, 1)))
        terms.append(linear_product(product(out, log_s), dp))
    return out, reduce(lax.add, terms, lax.full_like(out, 0))


def _slope(s: jax.Array, p: jax.Array) -> jax.Array:
    """p * s**(p - 1), 0 for s = p = 0."""
    zero = lax.full_like(p, 0)
    vanishing = lax.bitwise_and(lax.eq(p, zero), lax.eq(s, zero))
    safe_p = select(vanishing, lax.full_like(p, 1), p)
    slope = product(p, _significand_power(s, lax.sub(safe_p, lax.full_like(p, 1))))
    return select(vanishing, lax.full_like(slope, 0), slope)


def _log(s: jax.Array) -> jax.Array:
    """The principal logarithm of normalised significands."""
    if not is_complex(s):
        return lax.log(s)
    return lax.complex(log_modulus(s), lax.atan2(lax.imag(s), lax.real(s)))


def power(x: Scaled, p: jax.Array) -> Scaled:
    """x**p for an array p of the dtype of x.

    A real negative x to a power that is not an integer is nan; x**0 is 1, also at 0, with the
    derivative 0; 0**p with p < 0 is infinite. The derivative in p is x**p log x, and 0 at x = 0.
    With x = s * 2**e and s in [1/sqrt2, sqrt2), the relative error is a few
    eps * (1 + |p log2 s|): the exponent adds nothing, because p * e is formed exactly.
    """
    n = normalise(x)
    regular = lax.bitwise_and(is_finite(n.significand), is_finite(p))
    s = select(regular, n.significand, lax.full_like(n.significand, 1))
    p_regular = select(regular, p, lax.full_like(p, 1))
    result = (_complex_power if is_complex(p) else _real_power)(Scaled(s, n.exponent), p_regular)
    # Infinities and nans: what lax.pow makes of a base on the right side of 1.
    base = scale_by(n.significand, lax.clamp(np.int32(-4), n.exponent, np.int32(4)))
    special = lax.pow(
        select(regular, lax.full_like(base, 1), base), select(regular, lax.full_like(p, 1), p)
    )
    return tidy(
        select(regular, result.significand, special),
        select(regular, result.exponent, zero_exponent(special)),
    )


def _real_power(x: Scaled, p: jax.Array) -> Scaled:
    s, e = x
    live = is_live(s)
    whole, fraction, saturated = _times_exponent(e, p)
    # |log2 s| <= 1/2, so s**p itself stays within the floats for |p| up to 1.6 times the bias;
    # beyond, it goes through its logarithm.
    direct = lax.lt(lax.abs(lax.stop_gradient(p)), np.array(1.6 * format_of(p.dtype).bias, p.dtype))
    one = lax.full_like(p, 1)
    short = _significand_power(s, select(direct, p, one))
    # |p * e| so large that |log2 s| <= 1/2 cannot bring the result back into range
    modulus = select(lax.bitwise_and(live, lax.bitwise_not(saturated)), lax.abs(s), one)
    log_modulus = lax.log(modulus)
    long = from_log(product(select(direct, one, p), log_modulus))
    sign = lax.pow(lax.sign(lax.stop_gradient(s)), lax.stop_gradient(p))
    mantissa = select(direct, short, product(sign, long.significand))
    factor = select(live, lax.exp(lax.mul(fraction, np.array(LN2, p.dtype))), one)
    more = select(lax.bitwise_or(direct, lax.bitwise_not(live)), np.int32(0), long.exponent)
    return Scaled(product(mantissa, factor), _saturating_add(whole, more))


def _complex_power(x: Scaled, p: jax.Array) -> Scaled:
    """exp(p log x) with the principal logarithm."""
    s, e = x
    live = is_live(s)
    one = lax.full_like(s, 1)
    whole, fraction, _ = _times_exponent(e, lax.real(p))
    turn = lax.mul(lax.imag(p), lax.convert_element_type(e, fraction.dtype))
    of_exponent = lax.complex(
        lax.mul(fraction, np.array(LN2, fraction.dtype)), lax.mul(turn, np.array(LN2, turn.dtype))
    )
    # |log s| <= pi + log 2 / 2, so s**p stays within the floats for |p| up to bias / 5; the
    # logarithm loses eps * |p log s|, and lax.pow a fifth of it.
    magnitude = lax.abs(lax.stop_gradient(p))
    direct = lax.lt(magnitude, np.array(format_of(p.dtype).bias / 5, magnitude.dtype))
    short = _significand_power(s, select(direct, p, one))
    long = from_log(product(select(direct, lax.full_like(p, 0), p), _log(select(live, s, one))))
    mantissa = select(lax.bitwise_or(direct, lax.bitwise_not(live)), short, long.significand)
    factor = select(live, lax.exp(of_exponent), one)
    more = select(lax.bitwise_and(live, lax.bitwise_not(direct)), long.exponent, np.int32(0))
    return Scaled(product(mantissa, factor), _saturating_add(whole, more))


def _times_exponent(e: jax.Array, p: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """p * e as an integer and a rest of at most a few units, which carries the derivative in p;
    and where p * e is so far out of range that it is only known to be so.

    p is taken in three parts and (in float32) e in two, short enough that all products are exact;
    so are the integer and fractional parts of each, and the integers are added as integers.
    """
    f = format_of(p.dtype)
    wide = f.mantissa_bits > 30
    exponent_width, mantissa_width = (11, 17) if wide else (8, 7)
    # larger powers saturate or meet e = 0; the largest floats would round to infinity
    p = lax.clamp(np.array(-(2.0**64), p.dtype), p, np.array(2.0**64, p.dtype))
    first = lax.reduce_precision(lax.stop_gradient(p), exponent_width, mantissa_width)
    rest = lax.sub(p, first)
    second = lax.reduce_precision(lax.stop_gradient(rest), exponent_width, mantissa_width)
    parts_of_p = (first, second, lax.sub(rest, second))
    if wide:
        parts_of_e = [e]
    else:
        # symmetric about 0: for e = -2, -32768 + 32766 would cancel in the derivative
        rounded = lax.add(e, np.int32(2**14))
        high = lax.shift_left(lax.shift_right_arithmetic(rounded, np.int32(15)), np.int32(15))
        parts_of_e = [high, lax.sub(e, high)]
    # the result saturates whatever the significand adds, and the integers would wrap
    far = np.array(2.0 * LIMIT, p.dtype)
    estimate = lax.mul(lax.stop_gradient(p), lax.convert_element_type(e, p.dtype))
    saturated = lax.ge(lax.abs(estimate), far)
    whole, fraction = lax.full_like(e, 0), lax.full_like(p, 0)
    for part_of_p in parts_of_p:
        for part_of_e in parts_of_e:
            exact = lax.mul(part_of_p, lax.convert_element_type(part_of_e, p.dtype))
            exact = select(saturated, lax.full_like(exact, 0), exact)
            nearest = lax.round(lax.stop_gradient(exact), lax.RoundingMethod.TO_NEAREST_EVEN)
            whole = lax.add(whole, lax.convert_element_type(nearest, np.int32))
            fraction = lax.add(fraction, lax.sub(exact, nearest))
    clipped = lax.convert_element_type(lax.clamp(-far, estimate, far), np.int32)
    return select(saturated, clipped, whole), fraction, saturated


def _saturating_add(a: jax.Array, b: jax.Array) -> jax.Array:
    """a + b, clipped a little outside the bound on exponents instead of wrapping around."""
    far = np.int32(LIMIT + 2**12)
    half = lax.add(
        lax.shift_right_arithmetic(a, np.int32(1)), lax.shift_right_arithmetic(b, np.int32(1))
    )
    over = lax.gt(half, np.int32(far // 2))
    under = lax.lt(half, np.int32(-far // 2))
    return select(over, far, select(under, -far, lax.add(a, b)))
