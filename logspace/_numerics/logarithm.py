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
    is_live,
    magnitude,
    normalise,
    select,
    tidy,
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
    split = _SPLITS[np.dtype(dtype).name]

    def times(part: jax.Array, c: float) -> jax.Array:
        return lax.mul(lax.convert_element_type(part, dtype), np.array(c, dtype))

    if np.dtype(dtype) == np.float64:
        return [times(k, split.first), times(k, split.second), times(k, split.rest)]
    high, low = _halves(k)
    leading = [times(high, split.first), times(low, split.first)]
    leading += [times(high, split.second), times(low, split.second)]
    return [*leading, times(k, split.rest)]


def from_log(log: jax.Array) -> Scaled:
    """exp(log) for a real or complex logarithm.

    The integer part of log / ln 2 becomes the exponent, the exponential of the rest the
    significand, which carries the derivative. exp(-inf) is a zero of the smallest scale (all its
    derivatives vanish, so no sum has to make room for it); a logarithm beyond +-7.4e8 gives
    infinity or zero.
    """
    re = lax.real(log) if is_complex(log) else log
    constant = lax.stop_gradient(re)
    bound = np.array((LIMIT - 64) * LN2, re.dtype)
    finite = lax.is_finite(constant)
    k = lax.round(
        lax.mul(lax.clamp(-bound, constant, bound), np.array(1 / LN2, re.dtype)),
        lax.RoundingMethod.TO_NEAREST_EVEN,
    )
    k = lax.convert_element_type(select(finite, k, 0.0), np.int32)
    r = re
    for term in _multiples_of_ln2(k, re.dtype):
        r = lax.sub(r, term)
    s = lax.exp(lax.complex(r, lax.imag(log)) if is_complex(log) else r)
    e = select(is_live(s), k, np.int32(-LIMIT))
    return tidy(s, e)


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
    return lax.full_like(s, -np.inf)


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


def logabs(x: Scaled) -> jax.Array:
    """log|x|, real: half an ulp for large logarithms, eps absolute near 0; -inf at a zero.

    The derivative is Re(dx / x). At a zero it is infinite where dx is not 0, and 0 where it is, as
    for an entry that a mask removes.
    """
    live = is_live(x.significand)
    n = normalise(x)
    s = n.significand
    if is_complex(s):
        # a complex magnitude is the larger component, hence |s| in [1/sqrt2, 2)
        safe = select(live, s, lax.full_like(s, 1))
        mantissa = lax.real(lax.log(safe))
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
    return lax.full_like(s, 0)


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
