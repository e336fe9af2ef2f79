"""Arithmetic of `Scaled` numbers: IEEE arithmetic with an unbounded exponent.

``+ - * /`` and `sqrt` of real numbers are correctly rounded at every exponent (the significand's
last operation is followed only by powers of two, and XLA cannot contract those into a fused
multiply-add). Operands have one shape and dtype; what broadcasts and promotes stands above.
"""

import jax
import numpy as np
from jax import lax

from .bilinear import product, quotient
from .scaled import (
    Scaled,
    constant_like,
    format_of,
    is_complex,
    is_live,
    normalise,
    scale_by,
    select,
    sum_of_two,
    tidy,
    times_real,
    zero_exponent,
)


def negative(x: Scaled) -> Scaled:
    return Scaled(lax.neg(x.significand), x.exponent)


def conj(x: Scaled) -> Scaled:
    return Scaled(lax.conj(x.significand), x.exponent) if is_complex(x.significand) else x


def real(x: Scaled) -> Scaled:
    return tidy(lax.real(x.significand), x.exponent) if is_complex(x.significand) else x


def imag(x: Scaled) -> Scaled:
    s = lax.imag(x.significand) if is_complex(x.significand) else constant_like(x.significand, 0)
    return tidy(s, x.exponent)


def make_complex(re: Scaled, im: Scaled) -> Scaled:
    """re + 1j * im, at the exponent of the sum of the two."""
    zero = constant_like(re.significand, 0)
    left = Scaled(lax.complex(re.significand, zero), re.exponent)
    right = Scaled(lax.complex(zero, im.significand), im.exponent)
    return add(_retidy(left), _retidy(right))


def _retidy(x: Scaled) -> Scaled:
    return tidy(x.significand, x.exponent)


def absolute(x: Scaled) -> Scaled:
    """|x|; as singular at zero as it is, with the derivative that JAX gives it there."""
    if not is_complex(x.significand):
        return Scaled(lax.abs(x.significand), x.exponent)
    # away from 0: there the second derivative of lax.abs is nan (JAX 0.12.1)
    live = is_live(x.significand)
    modulus = lax.abs(select(live, x.significand, lax.full_like(x.significand, 1)))
    return tidy(select(live, modulus, lax.full_like(modulus, 0)), x.exponent)


def abs2(x: Scaled) -> Scaled:
    """|x|**2 as conj(x) * x, whose derivatives exist to every order, also at zero."""
    s = x.significand
    if is_complex(s):
        re, im = lax.real(s), lax.imag(s)
        square_of_s = lax.add(product(re, re), product(im, im))
    else:
        square_of_s = product(s, s)
    return tidy(square_of_s, lax.add(x.exponent, x.exponent))


def multiply(x: Scaled, y: Scaled) -> Scaled:
    return tidy(product(x.significand, y.significand), lax.add(x.exponent, y.exponent))


def divide(x: Scaled, y: Scaled) -> Scaled:
    return tidy(quotient(x.significand, y.significand), lax.sub(x.exponent, y.exponent))


def reciprocal(x: Scaled) -> Scaled:
    return tidy(quotient(constant_like(x.significand, 1), x.significand), lax.neg(x.exponent))


def square(x: Scaled) -> Scaled:
    return multiply(x, x)


def add(x: Scaled, y: Scaled) -> Scaled:
    """x + y, measured against the larger *live* term.

    A dead term (significand 0) may have a larger exponent than the live one, as in
    ``0 * e**1000 + 1``. It must not push the live value under the smallest float, nor may its
    derivative, which is that much larger, be scaled by 0: the sum is taken `room` binades above
    the live term at most, where the value is still exact and the derivative of the dead term
    overflows as late as possible.
    """
    f = format_of(x.significand.dtype)
    live_x, live_y = is_live(x.significand), is_live(y.significand)
    top = lax.max(x.exponent, y.exponent)
    live = select(lax.eq(live_x, live_y), top, select(live_x, x.exponent, y.exponent))
    e = lax.min(top, lax.add(live, np.int32(f.room)))
    return sum_of_two(x, y, e)


def subtract(x: Scaled, y: Scaled) -> Scaled:
    return add(x, negative(y))


def sqrt(x: Scaled) -> Scaled:
    """Correctly rounded square root; complex: the principal one. Singular at zero as it is."""
    odd = lax.bitwise_and(x.exponent, np.int32(1))
    one = constant_like(lax.real(x.significand) if is_complex(x.significand) else x.significand, 1)
    root = lax.sqrt(times_real(x.significand, select(lax.eq(odd, np.int32(1)), 2.0, one)))
    return tidy(root, lax.shift_right_arithmetic(lax.sub(x.exponent, odd), np.int32(1)))


def rsqrt(x: Scaled) -> Scaled:
    return reciprocal(sqrt(x))


def cbrt(x: Scaled) -> Scaled:
    """The real cube root."""
    # lax.cbrt is not correctly rounded: every representation goes through the same argument
    n = normalise(x)
    third = lax.sub(n.exponent, lax.rem(n.exponent, np.int32(3)))
    rest = lax.sub(n.exponent, third)
    return tidy(lax.cbrt(scale_by(n.significand, rest)), lax.div(third, np.int32(3)))


def integer_power(x: Scaled, n: int) -> Scaled:
    """x**n for a static integer, by binary powering; x**0 is 1 everywhere."""
    if n == 0:
        one = constant_like(x.significand, 1)
        return Scaled(one, zero_exponent(x.significand))
    result, base, left = None, x, abs(n)
    while True:
        if left & 1:
            result = base if result is None else multiply(result, base)
        left >>= 1
        if not left:
            break
        base = multiply(base, base)
    assert result is not None
    return reciprocal(result) if n < 0 else result


def sign_of(x: Scaled) -> jax.Array:
    """The sign of a real number, a constant: -1, -0, 0, 1 or nan."""
    return lax.sign(lax.stop_gradient(x.significand))


def where(predicate: jax.Array, x: Scaled, y: Scaled) -> Scaled:
    return Scaled(
        lax.select(predicate, x.significand, y.significand),
        lax.select(predicate, x.exponent, y.exponent),
    )
