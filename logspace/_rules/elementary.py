"""Exponentials and logarithms; trigonometric and other functions of order one.

exp-like functions give numbers, so that they neither overflow nor underflow. `log` gives a
`logspace.Log`, which waits for the exp. The other logarithms and the functions whose results are of
order one are plain arrays.
"""

from typing import Any

import jax
import quax
from jax import lax
from jax.extend.core import Primitive

from .. import _numerics as num
from .._log import Log
from .._log_array import LogArray
from .._numerics import Scaled
from .catalogue import if_present
from .registering import binary, note, plain_result, unary


@quax.register(lax.log_p)
def log(x: LogArray, **accuracy: Any) -> Log:
    return Log(x)


note(lax.log_p, "elementary")


@unary(lax.exp_p)
def exp(x: Scaled, **accuracy: Any) -> Scaled:
    return num.exp(x)


@unary(lax.exp2_p)
def exp2(x: Scaled, **accuracy: Any) -> Scaled:
    return num.exp2(x)


@unary(lax.expm1_p)
def expm1(x: Scaled, **accuracy: Any) -> Scaled:
    return num.expm1(x)


@unary(*if_present("exp2m1"))
def exp2m1(x: Scaled, **params: Any) -> Scaled:
    return num.exp2m1(x)


@unary(lax.cosh_p)
def cosh(x: Scaled, **accuracy: Any) -> Scaled:
    return num.cosh(x)


@unary(lax.sinh_p)
def sinh(x: Scaled, **accuracy: Any) -> Scaled:
    return num.sinh(x)


@unary(lax.logistic_p)
def logistic(x: Scaled, **accuracy: Any) -> Scaled:
    return num.logistic(x)


@unary(lax.log1p_p)
def log1p(x: Scaled, **accuracy: Any) -> jax.Array:
    return num.log1p(x)


@unary(*if_present("log2"))
def log2(x: Scaled, **accuracy: Any) -> jax.Array:
    return num.log2(x)


@unary(*if_present("log2p1"))
def log2p1(x: Scaled, **params: Any) -> jax.Array:
    return num.log2p1(x)


@unary(lax.asinh_p)
def asinh(x: Scaled, **accuracy: Any) -> jax.Array:
    return num.arcsinh(x)


@unary(lax.acosh_p)
def acosh(x: Scaled, **accuracy: Any) -> jax.Array:
    return num.arccosh(x)


plain_result(
    lax.sin_p,
    lax.cos_p,
    lax.tan_p,
    lax.asin_p,
    lax.acos_p,
    lax.atan_p,
    lax.tanh_p,
    lax.atanh_p,
    *if_present("sinpi", "cospi", "tanpi", "asinpi", "acospi", "atanpi"),
    family="elementary",
)


def _angle(primitive: Primitive) -> None:
    @binary(primitive)
    def angle(y: Scaled, x: Scaled, **params: Any) -> jax.Array:
        """The angle of (x, y): only the ratio matters, so a common scale is taken out."""
        e = lax.max(y.exponent, x.exponent)
        return primitive.bind(num.shift_to(y, e), num.shift_to(x, e), **params)


for _primitive in (lax.atan2_p, *if_present("atan2pi")):
    _angle(_primitive)
