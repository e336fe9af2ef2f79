"""Rows for collectives, under a vmap with a name for the axis."""

from jax import lax

from .case import REAL, Case, Number

_N = Number((2, 3))
_AXIS = "mapped"


def _row(name, primitive, call, *operands, **options):
    return Case(name, primitive, call, operands, axis_name=_AXIS, **options)


ROWS = [
    _row("psum", "psum", lambda x: lax.psum(x, _AXIS), _N, law="linear", ulps=8),
    _row("psum_two", "psum", lambda x, y: lax.psum((x, y), _AXIS), _N, _N, law="linear", ulps=8),
    _row("pmax", "pmax", lambda x: lax.pmax(x, _AXIS), _N, law="order", kinds=REAL, order=0,
         reason="plain JAX has no derivative of pmax"),
    _row("pmin", "pmin", lambda x: lax.pmin(x, _AXIS), _N, law="order", kinds=REAL, order=0,
         reason="plain JAX has no derivative of pmin"),
    _row("all_gather", "all_gather", lambda x: lax.all_gather(x, _AXIS), _N, law="movement"),
    _row("all_to_all", "all_to_all", lambda x: lax.all_to_all(x, _AXIS, 0, 0), Number((2, 2)),
         law="movement"),
    _row("ppermute", "ppermute", lambda x: lax.ppermute(x, _AXIS, [(0, 1), (1, 0)]), _N,
         law="movement"),
]  # fmt: skip
