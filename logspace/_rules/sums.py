"""Sums of two: where numbers cancel.

The value is the correctly rounded sum at any exponents; a term that is zero takes no part in the
value, whatever its scale, and keeps its derivative.
"""

from typing import Any

from jax import lax

from .. import _numerics as num
from .._numerics import Scaled
from .catalogue import CATALOGUE, if_present
from .registering import binary, broadcast, operands, unary


@binary(lax.add_p, CATALOGUE["add_any"])
def add(x: Scaled, y: Scaled) -> Scaled:
    return num.add(x, y)


@binary(lax.sub_p)
def subtract(x: Scaled, y: Scaled) -> Scaled:
    return num.subtract(x, y)


def one_minus_square(x: Scaled) -> Scaled:
    """(1 - x)(1 + x), which does not cancel near 1."""
    one = num.integer_power(x, 0)
    return num.multiply(num.subtract(one, x), num.add(one, x))


unary(*if_present("one_minus_square"))(one_minus_square)


def polynomial(x: Scaled, *coefficients: Scaled, **unrolling: Any) -> Scaled:
    """Horner's scheme; coefficients from the lowest power up, as the primitive has them."""
    x, *rising = broadcast(x, *coefficients)
    out = rising[-1]
    for coefficient in reversed(rising[:-1]):
        out = num.add(num.multiply(out, x), coefficient)
    return out


for _primitive in if_present("polynomial"):
    operands(_primitive)(polynomial)


def fused_multiply_add(a: Scaled, b: Scaled, c: Scaled) -> Scaled:
    """a * b + c."""
    a, b, c = broadcast(a, b, c)
    return num.add(num.multiply(a, b), c)


for _primitive in if_present("fmuladd"):
    operands(_primitive, count=3)(fused_multiply_add)
