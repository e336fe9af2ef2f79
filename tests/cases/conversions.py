"""Rows for changes of dtype, parts of complex numbers and rounding."""

import jax.numpy as jnp
import mpmath
from jax import lax

from .case import COMPLEX, ELEMENTWISE, REAL, Case, Number

_N = Number(ELEMENTWISE)


def _row(name, primitive, call, *operands, **options):
    return Case(name, primitive, call, operands, **options)


def _to(dtype):
    return lambda x: lax.convert_element_type(x, dtype)


ROWS = [
    _row("convert_to_float32", "convert_element_type", _to("float32"), _N, law="none", kinds=REAL,
         reason="rounded to float32; see tests.numerics"),
    _row("convert_to_complex", "convert_element_type",
         lambda x: lax.convert_element_type(x, jnp.promote_types(x.dtype, "complex64")), _N,
         law="linear", kinds=REAL, ulps=0),
    _row("convert_to_integer", "convert_element_type", _to("int32"), _N, law="none", kinds=REAL,
         order=0, reason="a plain array"),
    _row("convert_to_bool", "convert_element_type", _to("bool"), _N, law="elementwise",
         exact=lambda x: x != 0, kinds=REAL, order=0),
    _row("real", "real", lax.real, _N, law="elementwise", exact=lambda x: x.real, kinds=COMPLEX,
         ulps=0),
    _row("imag", "imag", lax.imag, _N, law="elementwise", exact=lambda x: x.imag, kinds=COMPLEX,
         ulps=0),
    _row("conj", "conj", lambda x: lax.conj_p.bind(x, input_dtype=x.dtype), _N, law="elementwise",
         exact=lambda x: x.conjugate(), kinds=COMPLEX, ulps=0),
    _row("conj_of_real", "conj", lax.conj, _N, law="elementwise", exact=mpmath.mpc, kinds=REAL,
         ulps=0),
    _row("complex", "complex", lax.complex, _N, _N, law="elementwise", exact=mpmath.mpc,
         kinds=REAL, ulps=0.5),
    _row("floor", "floor", lax.floor, _N, law="elementwise", exact=mpmath.floor, kinds=REAL,
         special_values=True, exact_domain="rounding", ulps=0, smooth_at_zero=False),
    _row("ceil", "ceil", lax.ceil, _N, law="elementwise", exact=mpmath.ceil, kinds=REAL,
         special_values=True, exact_domain="rounding", ulps=0, smooth_at_zero=False),
    _row("round_half_even", "round",
         lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), _N, law="elementwise",
         exact=mpmath.nint, kinds=REAL, special_values=True, exact_domain="rounding", ulps=0,
         smooth_at_zero=False),
    _row("round_half_away", "round",
         lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), _N, law="none", kinds=REAL,
         special_values=True, ulps=0, smooth_at_zero=False, reason="ties away from zero"),
    _row("reduce_precision", "reduce_precision",
         lambda x: lax.reduce_precision(x, 8, 10), _N, law="none", kinds=REAL, ulps=0,
         reason="rounded to ten bits; see tests.numerics"),
]  # fmt: skip
