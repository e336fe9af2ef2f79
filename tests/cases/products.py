"""Rows for what is exact in the representation up to the rounding of the significand."""

import jax.numpy as jnp
import mpmath
import numpy as np
from jax import lax

from .case import COMPLEX, ELEMENTWISE, REAL, AtZero, Case, Fixed, Number

_N = Number(ELEMENTWISE)
_P = Number(ELEMENTWISE, "positive")
_COMPLEX_PRODUCT = "one rounding for each partial product of complex numbers"


def _row(name, primitive, call, *operands, **options):
    return Case(name, primitive, call, operands, **options)


def _power(x, p):
    return mpmath.power(x, p) if x else (mpmath.mpf(1) if not p else mpmath.mpf(0))


ROWS = [
    _row("neg", "neg", lax.neg, _N, law="linear", special_values=True, ulps=0),
    _row("abs", "abs", lax.abs, _N, law="elementwise", exact=abs, ulps=2, special_values=True,
         smooth_at_zero=False,
         at_zero=[AtZero(([0.0, -2.0, 3.0],), [0.0, 2.0, 3.0], None)]),
    _row("sign", "sign", lax.sign, _N, law="elementwise", exact=mpmath.sign, special_values=True,
         smooth_at_zero=False, kinds=REAL),
    _row("sign_complex", "sign", lax.sign, _N, law="elementwise", exact=lambda x: x / abs(x),
         smooth_at_zero=False, kinds=COMPLEX),
    _row("mul", "mul", lax.mul, _N, _N, law="monomial", special_values=True, ulps=4,
         reason=_COMPLEX_PRODUCT),
    _row("mul_broadcasting", "mul", jnp.multiply, Number((2, 1)), Number((3,)), law="monomial"),
    _row("mul_zero_dim", "mul", lax.mul, Number(()), Number(()), law="monomial"),
    _row("mul_by_itself", "mul", lambda x: x * x, _N, law="monomial"),
    _row("div", "div", lax.div, _N, _N, law="monomial", special_values=True, smooth_at_zero=False,
         ulps=6, reason=_COMPLEX_PRODUCT,
         at_zero=[AtZero(([0.0, 0.0], [2.0, -4.0]), [0.0, -0.0],
                         ([0.5, -0.25], [0.0, 0.0]), ([0.0, 0.0], [0.0, 0.0]))]),
    _row("square", "square", lax.square, _N, law="monomial", special_values=True),
    *(
        _row(f"integer_pow_{n}", "integer_pow", lambda x, n=n: lax.integer_pow(x, n), _N,
             law="monomial", special_values=True, smooth_at_zero=n > 0,
             ulps=4 * abs(n), reason="one rounding for each product")
        for n in (2, 3, 5, -1, -3)
    ),
    _row("pow_complex", "pow", lax.pow, _P, _N, law="elementwise", exact=_power, kinds=COMPLEX,
         exact_domain="moderate", ulps=40, smooth_at_zero=False,
         reason="eps times |p log x|, for complex p"),
    _row("pow", "pow", lax.pow, _P, Number(ELEMENTWISE, "real"), law="elementwise", exact=_power,
         special_values=True, exact_domain="power", ulps=8, smooth_at_zero=False,
         reason="|p log2 s| <= 2 roundings, and the exponent's fraction",
         # the derivative in p is x**p log x and 0 at x = 0
         at_zero=[AtZero(([0.0, 0.0, 0.0], [1.0, 2.0, 3.0]), [0.0, 0.0, 0.0],
                         ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]), ([0.0, 2.0, 0.0], [0.0, 0.0, 0.0])),
                  AtZero(([0.0, 2.0], [0.0, 0.0]), [1.0, 1.0],
                         ([0.0, 0.0], [0.0, np.log(2.0)]),
                         ([0.0, 0.0], [0.0, np.log(2.0) ** 2]))]),
    _row("pow_integer", "pow", lambda x, n: lax.pow(x, n), _N,
         Fixed(np.resize(np.array([2, 3, 0, -1, 1], np.int32), ELEMENTWISE)), law="none",
         ulps=8, reason="covered by pow; an integer exponent is converted", smooth_at_zero=False),
    _row("sqrt", "sqrt", lax.sqrt, _P, law="elementwise", exact=mpmath.sqrt, ulps=2,
         special_values=True, smooth_at_zero=False,
         at_zero=[AtZero(([0.0],), [0.0], None)]),
    _row("rsqrt", "rsqrt", lax.rsqrt, _P, law="elementwise", exact=lambda x: 1 / mpmath.sqrt(x),
         ulps=4, special_values=True, smooth_at_zero=False),
    _row("cbrt", "cbrt", lax.cbrt, _N, law="elementwise", kinds=REAL,
         exact=lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), ulps=4, special_values=True,
         smooth_at_zero=False),
]  # fmt: skip
