"""Rows for sums of two."""

import jax.numpy as jnp
from jax import lax

from logspace._rules.catalogue import CATALOGUE

from .case import ELEMENTWISE, REAL, AtZero, Case, Number

_N = Number(ELEMENTWISE)
_ROUNDED = "correctly rounded"


def _row(name, primitive, call, *operands, **options):
    return Case(name, primitive, call, operands, **options)


ROWS = [
    _row("add", "add", lax.add, _N, _N, law="linear", special_values=True, ulps=0.5,
         reason=_ROUNDED),
    _row("add_broadcasting", "add", jnp.add, Number((2, 1)), Number((3,)), law="linear", ulps=0.5,
         reason=_ROUNDED),
    _row("add_constant", "add", lambda x: x + 1.5, _N, law="none", reason="affine"),
    _row("add_zero_dim", "add", lax.add, Number(()), Number(()), law="linear", ulps=0.5,
         reason=_ROUNDED),
    _row("add_empty", "add", lax.add, Number((0, 2)), Number((0, 2)), law="linear", ulps=0.5,
         reason=_ROUNDED),
    _row("add_any", "add_any", lambda x, y: CATALOGUE["add_any"].bind(x, y), _N, _N, law="linear",
         ulps=0.5, reason=_ROUNDED),
    _row("sub", "sub", lax.sub, _N, _N, law="linear", special_values=True, ulps=0.5,
         reason=_ROUNDED),
]  # fmt: skip

if "one_minus_square" in CATALOGUE:
    ROWS.append(
        _row("one_minus_square", "one_minus_square",
             lambda x: CATALOGUE["one_minus_square"].bind(x), _N, law="elementwise",
             exact=lambda x: (1 - x) * (1 + x), special_values=True,
             at_zero=[AtZero(([0.0, 1.0, -1.0],), [1.0, 0.0, 0.0], ([0.0, -2.0, 2.0],),
                             ([-2.0, -2.0, -2.0],))])
    )  # fmt: skip

if "polynomial" in CATALOGUE:
    ROWS.append(
        _row("polynomial", "polynomial",
             lambda x, a, b, c: CATALOGUE["polynomial"].bind(x, a, b, c),
             _N, _N, _N, _N, law="elementwise", exact=lambda x, a, b, c: a + x * (b + x * c),
             exact_domain="moderate", ulps=60, reason="terms of order ten may cancel")
    )  # fmt: skip

if "fmuladd" in CATALOGUE:
    ROWS.append(
        _row("fmuladd", "fmuladd", lambda a, b, c: CATALOGUE["fmuladd"].bind(a, b, c),
             _N, _N, _N, law="elementwise", exact=lambda a, b, c: a * b + c,
             exact_domain="moderate", ulps=60, kinds=REAL,
             reason="terms of order ten may cancel; the primitive has no complex form",
             at_zero=[AtZero(([0.0, 2.0], [3.0, 0.0], [0.0, 0.0]), [0.0, 0.0],
                             ([3.0, 0.0], [0.0, 2.0], [1.0, 1.0]))])
    )  # fmt: skip
