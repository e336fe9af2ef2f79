"""Rows for exponentials, logarithms and functions of order one."""

import jax
import mpmath
import numpy as np
from jax import lax

from logspace._rules.catalogue import CATALOGUE

from .case import COMPLEX, ELEMENTWISE, REAL, AtZero, Case, Number

_N = Number(ELEMENTWISE)
_UNIT = Number(ELEMENTWISE, "unit")
_P = Number(ELEMENTWISE, "positive")
_EXPONENTIAL = "the argument's rounding, eps times its size"
_PLAIN = "JAX's own function of the plain value"


def _row(name, call, operand, **options):
    options = {"law": "elementwise", "primitive": name, **options}
    return Case(name=name, call=call, operands=(operand,), **options)


def _log2(x):
    return mpmath.log(x) / mpmath.log(2)


ROWS = [
    _row("log", lax.log, _P, exact=mpmath.log, special_values=True,
         smooth_at_zero=False),
    _row("exp", lax.exp, _N, exact=mpmath.exp, exact_domain="exponential", special_values=True,
         ulps=8, reason=_EXPONENTIAL),
    _row("exp2", lax.exp2, _N, exact=lambda x: mpmath.power(2, x), exact_domain="exponential",
         special_values=True, ulps=8, kinds=REAL, reason=_EXPONENTIAL),
    _row("exp2_complex", lax.exp2, _N, exact=lambda x: mpmath.power(2, x), primitive="exp2",
         exact_domain="moderate", special_values=True, ulps=8, kinds=COMPLEX,
         excepted=(complex(-np.inf, 1.0),),
         reason="eps times |x log 2|; 2**(-inf + i) is 0, where JAX has nan"),
    _row("expm1", lax.expm1, _N, exact=mpmath.expm1, exact_domain="exponential",
         special_values=True, ulps=8, reason=_EXPONENTIAL,
         at_zero=[AtZero(([0.0],), [0.0], ([1.0],), ([1.0],))]),
    _row("cosh", lax.cosh, _N, exact=mpmath.cosh, exact_domain="exponential", special_values=True,
         ulps=8, reason=_EXPONENTIAL, at_zero=[AtZero(([0.0],), [1.0], ([0.0],), ([1.0],))]),
    _row("sinh", lax.sinh, _N, exact=mpmath.sinh, exact_domain="exponential", special_values=True,
         ulps=8, reason=_EXPONENTIAL, at_zero=[AtZero(([0.0],), [0.0], ([1.0],), ([0.0],))]),
    _row("logistic", lax.logistic, _N, exact=lambda x: 1 / (1 + mpmath.exp(-x)),
         exact_domain="exponential", special_values=True, ulps=8, reason=_EXPONENTIAL,
         at_zero=[AtZero(([0.0],), [0.5], ([0.25],), ([0.0],))]),
    _row("log1p", lax.log1p, _UNIT, exact=mpmath.log1p, exact_domain="positive",
         special_values=True, at_zero=[AtZero(([0.0],), [0.0], ([1.0],), ([-1.0],))]),
    _row("asinh", lax.asinh, _N, exact=mpmath.asinh, special_values=True,
         at_zero=[AtZero(([0.0],), [0.0], ([1.0],), ([0.0],))]),
    _row("acosh", lax.acosh, Number(ELEMENTWISE, "above one"), exact=mpmath.acosh,
         exact_domain="above one", special_values=True, smooth_at_zero=False),
    *(
        _row(name, function, domain, exact=exact, exact_domain=region, special_values=True,
             ulps=16, reason=_PLAIN, smooth_at_zero=name != "acos")
        for name, function, domain, exact, region in (
            ("sin", lax.sin, _N, mpmath.sin, "moderate"),
            ("cos", lax.cos, _N, mpmath.cos, "moderate"),
            ("tan", lax.tan, _UNIT, mpmath.tan, "unit"),
            ("asin", lax.asin, _UNIT, mpmath.asin, "unit"),
            ("acos", lax.acos, _UNIT, mpmath.acos, "unit"),
            ("atan", lax.atan, _UNIT, mpmath.atan, "unit"),
            ("tanh", lax.tanh, _N, mpmath.tanh, "moderate"),
            ("atanh", lax.atanh, _UNIT, mpmath.atanh, "unit"),
        )
    ),
    Case("atan2", "atan2", lax.atan2, (_N, _N), "elementwise", exact=mpmath.atan2, kinds=REAL,
         special_values=True, smooth_at_zero=False,
         at_zero=[AtZero(([0.0, 2.0], [3.0, 0.0]), [0.0, np.pi / 2],
                         ([1 / 3, 0.0], [0.0, -0.5]))]),
]  # fmt: skip

if "log2" in CATALOGUE:
    ROWS.append(
        _row("log2", jax.lax.log2, _P, exact=_log2, special_values=True,
             smooth_at_zero=False)
    )  # fmt: skip

if "exp2m1" in CATALOGUE:
    _PI = mpmath.pi
    ROWS += [
        _row("exp2m1", jax.lax.exp2m1, _N, exact=lambda x: mpmath.expm1(x * mpmath.log(2)),
             exact_domain="exponential", special_values=True, ulps=8, kinds=REAL,
             reason=_EXPONENTIAL,
             at_zero=[AtZero(([0.0],), [0.0], ([np.log(2)],), ([np.log(2) ** 2],))]),
        _row("log2p1", jax.lax.log2p1, _UNIT, kinds=REAL, exact_domain="positive",
             exact=lambda x: mpmath.log1p(x) / mpmath.log(2), special_values=True,
             at_zero=[AtZero(([0.0],), [0.0], ([1 / np.log(2)],), ([-1 / np.log(2)],))]),
        *(
            _row(name, getattr(jax.lax, name), domain, exact=exact, exact_domain=region,
                 special_values=True, ulps=16, reason=_PLAIN, kinds=REAL,
                 smooth_at_zero=name != "acospi")
            for name, domain, exact, region in (
                ("sinpi", _N, mpmath.sinpi, "unit"),
                ("cospi", _N, mpmath.cospi, "unit"),
                ("tanpi", _UNIT, lambda x: mpmath.tan(x * _PI), "unit"),
                ("asinpi", _UNIT, lambda x: mpmath.asin(x) / _PI, "unit"),
                ("acospi", _UNIT, lambda x: mpmath.acos(x) / _PI, "unit"),
                ("atanpi", _UNIT, lambda x: mpmath.atan(x) / _PI, "unit"),
            )
        ),
        Case("atan2pi", "atan2pi", jax.lax.atan2pi, (_N, _N), "elementwise", kinds=REAL,
             exact=lambda y, x: mpmath.atan2(y, x) / _PI, special_values=True, smooth_at_zero=False,
             at_zero=[AtZero(([0.0, 2.0], [3.0, 0.0]), [0.0, 0.5],
                             ([1 / (3 * np.pi), 0.0], [0.0, -0.5 / np.pi]))]),
    ]  # fmt: skip
