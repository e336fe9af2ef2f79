"""det as a function of numbers, with exact derivatives of first, second and third order.

Four functions, each the derivative of the one before: the value, whose derivative is the trace of
the adjugate times dA; the adjugate; its derivative; and the derivative of that. They are written
with the constants of `_completion`, and each is computed only if it is asked for: the value costs an
LU decomposition, the gradient an inverse besides, second derivatives matrix products only.
"""

from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from .. import _numerics as num
from .._numerics.scaled import exponent_bits, magnitude, power_of_two
from ._completion import Factors, Frame, Value, factorise, frame_of, zero_of_last_order
from ._equilibration import equilibrate

#: Up to this size the determinant is written out where derivatives beyond the second are asked for.
_WRITTEN_OUT = 4

_REFUSAL = (
    "Derivatives of a determinant are available to third order, and to every order for matrices up "
    f"to {_WRITTEN_OUT} x {_WRITTEN_OUT}; this is the fourth derivative for"
)


def determinant(x: num.Scaled) -> num.Scaled:
    """det of the last two axes, square; det of an empty matrix is 1."""
    n = x.significand.shape[-1]
    if n <= 2:
        return _small(x)
    plain, rows, columns = equilibrate(x)
    out = _of_plain(plain)
    return num.tidy(out.significand, out.exponent + total_of_exponents(rows, columns))


def determinant_of_plain(a: jax.Array) -> num.Scaled:
    """The same for a plain matrix."""
    return determinant(num.from_linear(a)) if a.shape[-1] <= 2 else _of_plain(a)


def total_of_exponents(*exponents: jax.Array) -> jax.Array:
    """The sum of all exponents along the last axis, saturated: int32 would overflow."""
    both = jnp.concatenate(exponents, -1)
    high, low = both >> 15, both & (2**15 - 1)
    high, low = jnp.sum(high, -1, dtype=np.int32), jnp.sum(low, -1, dtype=np.int32)
    high, low = high + (low >> 15), low & (2**15 - 1)
    bound = num.LIMIT >> 15
    return jnp.clip(high, -bound, bound) * np.int32(2**15) + low


def entry(x: num.Scaled, i: int, j: int) -> num.Scaled:
    """One entry of every matrix of a batch."""
    return num.Scaled(x.significand[..., i, j], x.exponent[..., i, j])


def of_no_rows(x: num.Scaled) -> num.Scaled:
    """The determinant or Pfaffian of matrices without rows: 1."""
    return num.from_linear(jnp.ones(x.significand.shape[:-2], x.significand.dtype))


def _small(x: num.Scaled) -> num.Scaled:
    at = partial(entry, x)
    n = x.significand.shape[-1]
    if n == 0:
        return of_no_rows(x)
    if n == 1:
        return at(0, 0)
    return num.subtract(num.multiply(at(0, 0), at(1, 1)), num.multiply(at(0, 1), at(1, 0)))


def _of_plain(a: jax.Array) -> num.Scaled:
    factors, value = factorise(lax.stop_gradient(a))
    return num.tidy(_value(a, value, factors), value.exponent)


@jax.custom_jvp
def _value(a: jax.Array, value: Value, factors: Factors) -> jax.Array:
    return value.significand


@_value.defjvp
def _value_jvp(primals: Any, tangents: Any) -> Any:
    a, value, factors = primals
    # The frame is made here, hence only where a derivative is taken.
    constants = jax.tree.map(lax.stop_gradient, (a, factors, value.exponent))
    frame = frame_of(*constants, q=2)
    # tr(K D), summed as one elementwise product
    change = jnp.sum(_transposed_adjugate(a, frame, value.exponent) * tangents[0], (-2, -1))
    return _value(a, value, factors), change


def _wide(x: jax.Array) -> jax.Array:
    return x[..., None, None]


def _determinant_of_two(g: jax.Array) -> jax.Array:
    return g[..., 0, 0] * g[..., 1, 1] - g[..., 0, 1] * g[..., 1, 0]


def _adjugate_of_two(g: jax.Array) -> list[list[jax.Array]]:
    return [[g[..., 1, 1], -g[..., 0, 1]], [-g[..., 1, 0], g[..., 0, 0]]]


def _total_of(terms: Any) -> jax.Array:
    return reduce(lax.add, terms)


def _outer(columns: Any, rows: Any) -> jax.Array:
    """The sum of column times row, as broadcasts: a thin matrix product costs more."""
    pairs = zip(columns, rows, strict=True)
    return _total_of(c[..., :, None] * r[..., None, :] for c, r in pairs)


def _columns(z: jax.Array) -> list[jax.Array]:
    return [z[..., i] for i in range(z.shape[-1])]


def _rows(w: jax.Array) -> list[jax.Array]:
    return [w[..., i, :] for i in range(w.shape[-2])]


def _mix(m: Any, rows: list[jax.Array]) -> list[jax.Array]:
    """A q x q matrix times q rows."""
    return [_total_of(m[i][j][..., None] * r for j, r in enumerate(rows)) for i in range(len(rows))]


@jax.custom_jvp
def _transposed_adjugate(a: jax.Array, frame: Frame, exponent: jax.Array) -> jax.Array:
    """K**T, where d det = tr(K dA)."""
    g0 = _determinant_of_two(frame.g)
    correction = _outer(_mix(_adjugate_of_two(frame.g), _rows(frame.w)), _columns(frame.z))
    return _wide(frame.det_b * frame.unit) * (_wide(g0) * frame.xt + correction)


@_transposed_adjugate.defjvp
def _transposed_adjugate_jvp(primals: Any, tangents: Any) -> Any:
    a, frame, exponent = primals
    change = _adjugate_change(a, tangents[0], frame, exponent)
    return _transposed_adjugate(*primals), jnp.swapaxes(change, -1, -2)


@jax.custom_jvp
def _adjugate_change(a: jax.Array, d: jax.Array, frame: Frame, exponent: jax.Array) -> jax.Array:
    """dK for dA = d; linear in d."""
    x, g, unit = frame.x, frame.g, frame.unit
    g0, adj = _determinant_of_two(g), _adjugate_of_two(g)
    # in units of 1 / t twice, one factor at a time: the square may be beyond a float
    xd = _wide(unit) * (x @ d)
    xdx = xd @ x
    trace = jnp.trace(xd, axis1=-2, axis2=-1)
    zs, ws = _columns(frame.z), _rows(frame.w)
    xdz = _columns(xd @ frame.z)
    wdx = _rows(frame.rows @ xdx)
    s = [[jnp.sum(r * c, -1) for c in xdz] for r in _rows(frame.rows)]
    adj_s = _total_of(adj[i][j] * s[j][i] for i in range(2) for j in range(2))
    adj_of_s = [[s[1][1], -s[0][1]], [-s[1][0], s[0][0]]]
    adj_w = _mix(adj, ws)
    change = _wide(trace * g0 + adj_s) * x - _wide(g0) * xdx
    # the columns z times all that stands to their right, and the columns X d z times adj w
    right = [
        trace[..., None] * a_w - a_wdx + s_w
        for a_w, a_wdx, s_w in zip(adj_w, _mix(adj, wdx), _mix(adj_of_s, ws), strict=True)
    ]
    change = change + _outer(zs, right) - _outer(xdz, adj_w)
    return _wide(frame.det_b * unit) * change


def _adjugate_change_jvp(primals: Any, tangents: Any) -> Any:
    a, d, frame, exponent = primals
    da, dd = tangents[:2]
    out = _adjugate_change(*primals)
    terms = []
    if not isinstance(dd, SymbolicZero):
        terms.append(_adjugate_change(a, dd, frame, exponent))
    if not isinstance(da, SymbolicZero):
        terms.append(_adjugate_second_change(a, d, da, exponent))
    return out, _total_of(terms) if terms else jnp.zeros_like(out)


_adjugate_change.defjvp(_adjugate_change_jvp, symbolic_zeros=True)


def _adjugate_second_change(
    a: jax.Array, d: jax.Array, e: jax.Array, exponent: jax.Array
) -> jax.Array:
    """The second derivative of the adjugate along d and e, in units of 2**exponent."""
    fixed = lax.stop_gradient(a)
    n = a.shape[-1]
    if n <= _WRITTEN_OUT:
        size = jnp.max(magnitude(fixed), (-2, -1))
        k = exponent_bits(size)
        scale = num.scale_by(jnp.ones_like(size), n * k - exponent).astype(a.dtype)
        unit = _wide(power_of_two(-k, size.dtype))
        start, model = a, lambda m: scale * written_out(m * unit)
    else:
        factors, _ = factorise(fixed)
        frame = frame_of(fixed, factors, exponent, q=3)
        start, model = zero_of_last_order(_REFUSAL, a), lambda m: _to_third_order(m, frame)

    def adjugate(m: jax.Array) -> jax.Array:
        holomorphic = jnp.issubdtype(m.dtype, jnp.complexfloating)
        k = jax.grad(lambda m: jnp.sum(model(m)), holomorphic=holomorphic)(m)
        return jnp.swapaxes(k, -1, -2)

    def change(m: jax.Array) -> jax.Array:
        return jax.jvp(adjugate, (m,), (d,))[1]

    return jax.jvp(change, (start,), (e,))[1]


def _to_third_order(m: jax.Array, frame: Frame) -> jax.Array:
    """det(A + m) without terms of fourth order in m."""
    m = m * _wide(frame.unit)
    xm = frame.x @ m
    xm2 = xm @ xm
    t1, t2, t3 = (jnp.trace(p, axis1=-2, axis2=-1) for p in (xm, xm2, xm @ xm2))
    series = 1 + t1 + (t1 * t1 - t2) / 2 + (t1 * t1 * t1 - 3 * t1 * t2 + 2 * t3) / 6
    wm = frame.w @ m
    wmz = wm @ (frame.z - xm @ frame.z + xm2 @ frame.z)
    return frame.det_b * series * written_out(frame.g + wmz)


def written_out(a: jax.Array) -> jax.Array:
    """The determinant of small matrices as the polynomial that it is."""
    n = a.shape[-1]
    if n == 0:
        return jnp.ones(a.shape[:-2], a.dtype)
    if n == 1:
        return a[..., 0, 0]
    total = None
    for j in range(n):
        others = np.array([i for i in range(n) if i != j])
        term = a[..., 0, j] * written_out(a[..., 1:, :][..., others])
        term = -term if j % 2 else term
        total = term if total is None else total + term
    assert total is not None
    return total
