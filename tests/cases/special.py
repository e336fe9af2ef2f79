"""Rows for special functions: JAX's own, on plain values."""

from jax import lax

from .case import REAL, Case, Number

_P = Number((3,), "positive")
_UNIT = Number((3,), "unit")
_PLAIN = "JAX's own function of the plain value"


def _row(name, call, *operands, **options):
    options = {"order": 0, "ulps": 0, "reason": _PLAIN, **options}
    return Case(name, name, call, operands, "none", kinds=REAL, **options)


ROWS = [
    _row("erf", lax.erf, _P, order=2),
    _row("erfc", lax.erfc, _P, order=2),
    _row("erf_inv", lax.erf_inv, _UNIT, order=2),
    _row("lgamma", lax.lgamma, _P, order=2),
    _row("digamma", lax.digamma, _P),
    _row("polygamma", lambda x: lax.polygamma(1.0 + 0 * x, x), _P),
    _row("igamma", lax.igamma, _P, _P),
    _row("igammac", lax.igammac, _P, _P),
    _row("igamma_grad_a", lambda a, x: lax.igamma_grad_a_p.bind(a, x), _P, _P, ulps=40,
         reason="its series ends where the whole batch has converged, so vmap changes the value"),
    _row("bessel_i0e", lax.bessel_i0e, _P, order=2),
    _row("bessel_i1e", lax.bessel_i1e, _P),
    _row("zeta", lambda x: lax.zeta(x, 1.5 + 0 * x), Number((3,), "above one")),
    _row("regularized_incomplete_beta", lambda a, b, x: lax.betainc(a, b, x), _P, _P,
         Number((3,), "unit")),
]  # fmt: skip
