"""From and to logarithms.

The logarithm of 2 is split so that the integer multiples k * ln 2 that must be subtracted from, or
added to, a logarithm are exact in their leading parts (a Cody-Waite reduction). Its digits are a
literal of 77 decimals.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax

from .bilinear import linear_product, product
from .scaled import (
    LIMIT,
    Scaled,
    constant_like,
    from_linear,
    is_complex,
    is_finite,
    is_live,
    magnitude,
    normalise,
    select,
    tidy,
    zero_exponent,
)

_LN2 = Fraction(
    69314718055994530941723212145817656807550013436025525412068000949339362196969, 10**77
)


#: ln 2 as a float.
LN2 = float(_LN2)


class _Split(NamedTuple):
    """ln 2 = first + second + rest; k * first and k * second are exact for |k| < 2**31."""

    first: float
    second: float
    rest: float


def _split_ln2(bits: int) -> _Split:
    first = Fraction(int(_LN2 * 2**bits), 2**bits)
    second = Fraction(int((_LN2 - first) * 2 ** (2 * bits)), 2 ** (2 * bits))
    return _Split(float(first), float(second), float(_LN2 - first - second))


# float64 has 53 bits: 31 for k and 22 for each leading part. float32 has 24: k is itself taken in
# two parts of at most 15 bits, beside 9 for each leading part.
_SPLITS = {"float64": _split_ln2(22), "float32": _split_ln2(9)}


def _halves(k: jax.Array) -> tuple[jax.Array, jax.Array]:
    """k = high + low with |low| <= 2**11; symmetric about 0, so that a small k has no high part."""
    high = lax.shift_left(
        lax.shift_right_arithmetic(lax.add(k, np.int32(2048)), np.int32(12)), np.int32(12)
    )
    return high, lax.sub(k, high)


def _multiples_of_ln2(k: jax.Array, dtype: Any) -> list[jax.Array]:
    """Terms that sum to k * ln 2, largest first; all but the last are exact."""
    if np.dtype(dtype) == np.float64:
        return _short_multiples_of_ln2(lax.convert_element_type(k, dtype))
    parts = [lax.convert_element_type(part, dtype) for part in _halves(k)]
    split = _SPLITS["float32"]
    leading = [_times(part, c) for c in (split.first, split.second) for part in parts]
    return [*leading, _times(lax.convert_element_type(k, dtype), split.rest)]


def _short_multiples_of_ln2(k: jax.Array) -> list[jax.Array]:
    """The same for integers k given as floats, of at most 30 bits in float64, 11 in float32."""
    return [_times(k, c) for c in _SPLITS[k.dtype.name]]


def _times(k: jax.Array, c: float) -> jax.Array:
    return lax.mul(k, np.array(c, k.dtype))


def from_log(log: jax.Array) -> Scaled:
    """exp(log) for a real or complex logarithm.

    The integer part of log / ln 2 becomes the exponent, the exponential of the rest the
    significand, which carries the derivative. exp(-inf) is a zero of the smallest scale (all its
    derivatives vanish, so no sum has to make room for it); a logarithm beyond +-7.4e8 gives
    infinity or zero.
    """
    re = lax.real(log) if is_complex(log) else log
    constant = lax.stop_gradient(re)
    whole = _nearest_power(constant, (LIMIT - 64) * LN2)
    r = re
    for term in _multiples_of_ln2(whole if re.dtype == np.float64 else _integer(whole), re.dtype):
        r = lax.sub(r, term)
    k = _integer(whole)
    if re.dtype == np.float32:
        # log / ln 2 has only 24 bits: k is off by up to 100 at the ends of the range
        step = _nearest_power(lax.stop_gradient(r), 127 * LN2)
        for term in _short_multiples_of_ln2(step):
            r = lax.sub(r, term)
        k = lax.add(k, _integer(step))
    # Beyond the bound r would grow slowly; the logarithm itself settles it, in either direction.
    near = lax.lt(lax.abs(constant), np.array((LIMIT - 1) * LN2, re.dtype))
    r = lax.add(r, select(near, 0.0, constant))
    if is_complex(log):
        s = lax.exp(lax.complex(r, lax.imag(log)))
        return Scaled(s, select(is_live(s), select(is_finite(s), k, np.int32(0)), np.int32(-LIMIT)))
    # without reading the significand back from memory
    vanishes = lax.lt(constant, lax.full_like(constant, 0))
    beyond = select(vanishes, np.int32(-LIMIT), zero_exponent(constant))
    return Scaled(lax.exp(r), select(near, k, beyond))


def _nearest_power(log: jax.Array, bound: float) -> jax.Array:
    """The integer nearest to log / ln 2, as a float; log is clipped to the bound."""
    limit = np.array(bound, log.dtype)
    quotient = lax.mul(lax.clamp(-limit, log, limit), np.array(1 / LN2, log.dtype))
    return lax.round(quotient, lax.RoundingMethod.TO_NEAREST_EVEN)


def _integer(k: jax.Array) -> jax.Array:
    """Integers within the range of int32, given as floats; any integer for a nan."""
    if k.dtype != np.float64:
        return lax.convert_element_type(k, np.int32)
    # the lowest bits of the exact sum are the integer: cheaper than a saturating conversion
    bits = lax.bitcast_convert_type(lax.add(k, np.array(1.5 * 2.0**52, k.dtype)), np.int64)
    return lax.convert_element_type(bits, np.int32)


def from_sign_logabs(sign: jax.Array, logabs: jax.Array) -> Scaled:
    """sign * exp(logabs); any factor of modulus other than 1 in the sign is taken along.

    A zero sign is zero whatever the logarithm, unless that is +inf, which makes a nan of it.
    """
    modulus = from_log(logabs)
    factor = from_linear(sign)
    parts = _parts(factor.significand)
    return tidy(
        _join([product(part, modulus.significand) for part in parts]),
        lax.add(factor.exponent, modulus.exponent),
    )


def _parts(s: jax.Array) -> list[jax.Array]:
    return [lax.real(s), lax.imag(s)] if is_complex(s) else [s]


def _join(parts: list[jax.Array]) -> jax.Array:
    return lax.complex(*parts) if len(parts) == 2 else parts[0]


@jax.custom_jvp
def _log_of_zero(s: jax.Array) -> jax.Array:
    """-inf for s = 0, with the derivative of a logarithm at +0: a derivative of 0 stays 0, as for
    an entry that a mask removes, and any other becomes infinite."""
    return constant_like(s, -np.inf)


@_log_of_zero.defjvp
def _log_of_zero_jvp(primals: Any, tangents: Any) -> Any:
    (s,), (ds,) = primals, tangents
    return _log_of_zero(s), _slope_at_zero(s, ds)


@jax.custom_jvp
def _slope_at_zero(s: jax.Array, ds: jax.Array) -> jax.Array:
    return linear_product(ds, constant_like(lax.stop_gradient(s), np.inf))


@_slope_at_zero.defjvp
def _slope_at_zero_jvp(primals: Any, tangents: Any) -> Any:
    (s, ds), (s_dot, ds_dot) = primals, tangents
    infinite = constant_like(lax.stop_gradient(s), np.inf)
    # d(ds / s) = ds_dot / s - (ds / s) * (s_dot / s)
    curvature = linear_product(lax.neg(s_dot), linear_product(ds, infinite))
    return _slope_at_zero(s, ds), lax.add(linear_product(ds_dot, infinite), curvature)


def log_modulus(s: jax.Array) -> jax.Array:
    """log|s| of normalised complex significands, whose modulus is in [1/sqrt2, 2): eps absolute.

    The real part of XLA's complex logarithm is off by up to 31 eps (jax 0.10.2, CPU).
    """
    re, im = lax.real(s), lax.imag(s)
    square = lax.add(lax.mul(re, re), lax.mul(im, im))
    return lax.mul(lax.log(square), np.array(0.5, re.dtype))


def logabs(x: Scaled) -> jax.Array:
    """log|x|, real: half an ulp for large logarithms, eps absolute near 0; -inf at a zero.

    The derivative is Re(dx / x). At a zero it is infinite where dx is not 0, and 0 where it is, as
    for an entry that a mask removes.
    """
    live = is_live(x.significand)
    n = normalise(x)
    s = n.significand
    if is_complex(s):
        mantissa = log_modulus(select(live, s, lax.full_like(s, 1)))
        at_zero = _log_of_zero(lax.add(lax.real(x.significand), lax.imag(x.significand)))
    else:
        sign = lax.sign(lax.stop_gradient(s))
        safe = select(live, lax.mul(s, sign), lax.full_like(s, 1))
        mantissa = lax.log(safe)
        at_zero = _log_of_zero(x.significand)
    total = mantissa
    for term in reversed(_multiples_of_ln2(n.exponent, mantissa.dtype)):
        total = lax.add(total, term)
    return select(live, total, at_zero)


def sign(x: Scaled) -> jax.Array:
    """x / |x|, 0 at a zero. Real: -1, 0 or 1, without derivative. Complex: the unit phase."""
    s = x.significand
    if not is_complex(s):
        return lax.sign(lax.stop_gradient(s))
    live = is_live(s)
    n = normalise(x).significand
    safe = select(live, n, lax.full_like(n, 1))
    re, im = lax.real(safe), lax.imag(safe)
    modulus = lax.sqrt(lax.add(lax.mul(re, re), lax.mul(im, im)))
    unit = lax.complex(lax.div(re, modulus), lax.div(im, modulus))
    return select(live, unit, _phase_of_zero(s))


@jax.custom_jvp
def _phase_of_zero(s: jax.Array) -> jax.Array:
    """0 for s = 0; the phase has no limit there, so a derivative that is not 0 becomes infinite."""
    return constant_like(s, 0)


@_phase_of_zero.defjvp
def _phase_of_zero_jvp(primals: Any, tangents: Any) -> Any:
    (s,), (ds,) = primals, tangents
    infinite = constant_like(magnitude(s), np.inf)
    parts = (linear_product(part, infinite) for part in (lax.real(ds), lax.imag(ds)))
    return _phase_of_zero(s), lax.complex(*parts)


def angle(x: Scaled) -> jax.Array:
    """The phase in radians, in (-pi, pi]; pi for negative real x, 0 at zero."""
    s = x.significand
    if is_complex(s):
        # atan2 sees only the ratio; the window keeps both components away from overflow
        return lax.atan2(lax.imag(s), lax.real(s))
    s = lax.stop_gradient(s)
    # sign is 0 only at zeros, and nan at nans: 0 * sign, unlike 0 * s, is 0 at infinities
    zero = lax.mul(lax.sign(s), lax.full_like(s, 0))
    return select(lax.lt(s, lax.full_like(s, 0)), np.pi, lax.abs(zero))


def log(x: Scaled) -> jax.Array:
    """The plain logarithm: real for real x (nan where negative), log|x| + i*angle for complex x."""
    if is_complex(x.significand):
        return lax.complex(logabs(x), angle(x))
    negative = lax.lt(lax.stop_gradient(x.significand), lax.full_like(x.significand, 0))
    return select(negative, np.nan, logabs(x))
