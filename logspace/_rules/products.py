"""Operations that are exact in the representation up to the rounding of the significand.

At zero the derivatives are those of ordinary arithmetic; `abs` and `sqrt` are as singular there as
they are.
"""

from typing import Any

import jax
from jax import lax

from .. import _numerics as num
from .._numerics import Scaled
from .registering import binary, unary


@unary(lax.neg_p)
def negative(x: Scaled) -> Scaled:
    return num.negative(x)


@unary(lax.abs_p)
def absolute(x: Scaled) -> Scaled:
    return num.absolute(x)


@unary(lax.sign_p)
def sign(x: Scaled) -> jax.Array:
    """Of order one, hence plain; the derivative of a real sign is 0, as in JAX."""
    return num.sign(x)


@binary(lax.mul_p)
def multiply(x: Scaled, y: Scaled, *, out_dtype: Any = None) -> Scaled:
    out = num.multiply(x, y)
    return out if out_dtype is None else num.convert(out, out_dtype)


@binary(lax.div_p)
def divide(x: Scaled, y: Scaled) -> Scaled:
    return num.divide(x, y)


@unary(lax.square_p)
def square(x: Scaled) -> Scaled:
    return num.square(x)


@unary(lax.integer_pow_p)
def integer_power(x: Scaled, *, y: int) -> Scaled:
    return num.integer_power(x, y)


@binary(lax.pow_p)
def power(x: Scaled, p: Scaled) -> Scaled:
    """The exponent of a power is of moderate size and is read as a plain value."""
    return num.power(x, num.to_linear(p))


@unary(lax.sqrt_p)
def sqrt(x: Scaled, **accuracy: Any) -> Scaled:
    return num.sqrt(x)


@unary(lax.rsqrt_p)
def rsqrt(x: Scaled, **accuracy: Any) -> Scaled:
    return num.rsqrt(x)


@unary(lax.cbrt_p)
def cbrt(x: Scaled, **accuracy: Any) -> Scaled:
    return num.cbrt(x)
