"""Changes of dtype, and rounding to integers."""

from typing import Any

import jax
import numpy as np
from jax import lax

from .arithmetic import imag, make_complex, real
from .scaled import (
    Scaled,
    format_of,
    from_linear,
    is_complex,
    is_live,
    normalise,
    scale_by,
    select,
    tidy,
    to_linear,
)


def convert(x: Scaled, dtype: Any) -> Scaled:
    """The number in another of the four dtypes, rounded once; complex to real drops the imaginary
    part, as in JAX."""
    dtype = np.dtype(dtype)
    if x.significand.dtype == dtype:
        return x
    if is_complex(x.significand) and dtype.kind != "c":
        x = real(x)
    # the window of the other format may be narrower: start from the middle of it
    n = normalise(x)
    return tidy(lax.convert_element_type(n.significand, dtype), n.exponent)


def promote(x: Scaled, y: Scaled) -> tuple[Scaled, Scaled]:
    """Both in the promoted dtype of the two."""
    # NumPy's rule: that of JAX refuses in its strict mode
    dtype = np.promote_types(x.significand.dtype, y.significand.dtype)
    return convert(x, dtype), convert(y, dtype)


def round_to_integer(x: Scaled, rounding: Any) -> Scaled:
    """`rounding` of plain values where there is a fraction to round; a constant, as in JAX."""
    if is_complex(x.significand):
        return make_complex(
            round_to_integer(real(x), rounding), round_to_integer(imag(x), rounding)
        )
    x = Scaled(lax.stop_gradient(x.significand), x.exponent)
    linear = to_linear(x)
    # to_linear is 0 for what underflows, whose sign still decides floor and ceil
    tiny = lax.bitwise_and(lax.bitwise_not(is_live(linear)), is_live(x.significand))
    sign = lax.mul(lax.sign(x.significand), np.array(0.25, linear.dtype))
    rounded = from_linear(rounding(select(tiny, sign, linear)))
    whole = np.array(2.0 ** format_of(linear.dtype).mantissa_bits, linear.dtype)
    small = lax.lt(lax.abs(linear), whole)
    return Scaled(
        lax.select(small, rounded.significand, x.significand),
        lax.select(small, rounded.exponent, x.exponent),
    )


def reduce_precision(x: Scaled, mantissa_bits: int) -> Scaled:
    """The significand rounded to so many bits; the exponent needs no reduction."""
    f = format_of(x.significand.dtype)
    bits = 11 if f.mantissa_bits > 30 else 8
    n = normalise(x)
    # normalised significands straddle 1: round in [1, 2), where the spacing is the binade's
    s = scale_by(n.significand, lax.full_like(n.exponent, 1))
    s = lax.reduce_precision(s, bits, min(mantissa_bits, f.mantissa_bits))
    return tidy(s, lax.sub(n.exponent, np.int32(1)))


def to_integer(x: Scaled, dtype: Any) -> jax.Array:
    """A plain integer or boolean array; a boolean is whether the number is not zero."""
    if np.dtype(dtype) == bool:
        return lax.ne(x.significand, lax.full_like(x.significand, 0))
    return lax.convert_element_type(to_linear(x), dtype)
