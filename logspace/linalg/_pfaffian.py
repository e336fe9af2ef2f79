"""The Pfaffian as a function of numbers, with exact first and second derivatives.

The way of the determinant (`_completion`), by congruences: a skew matrix is A = L D L**T with 2 x 2
blocks d_k J on the diagonal of D, J = [[0, 1], [-1, 0]], found with complete pivoting. The two
smallest blocks are lifted to the size of the largest; with the regular matrix B that results, X = 1/B
and Y = X L_I T, where L_I are the columns of the lifted blocks and T = diag(-c, 1, -c', 1) by how
much they were lifted,

    pf(A + D) = pf(B) sqrt(det(1 + X D)) pf(G - Y**T D Y + Y**T D X D Y - ...)

with G = diag(d J / t, d' J / t') written down rather than computed. Differentiating this expression
at D = 0 gives the derivatives.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from .. import _numerics as num
from ._completion import Value, largest_of, parity_of, product_of, unit_of
from ._determinant import entry, of_no_rows, total_of_exponents
from ._equilibration import equilibrate_congruently

#: Entries of matrices that are decomposed at a time, so that they stay in the cache.
_CHUNK = 2**15

_REFUSAL = (
    "Derivatives of a Pfaffian are available to second order, and to every order for matrices up to "
    "4 x 4; this is the third derivative for"
)


class SkewFactors(NamedTuple):
    """A = L D L**T; rows of L in the original order, columns in that of the pivots."""

    lower: jax.Array  # (..., n, n)
    order: jax.Array  # (..., n): the rows that were pivots, in turn
    d: jax.Array  # (..., n / 2)


class SkewFrame(NamedTuple):
    x: jax.Array  # (..., n, n)
    y: jax.Array  # (..., n, 4)
    g: jax.Array  # (..., 2): d / t of the two blocks
    pf_b: jax.Array  # (...), in units of the exponent of pf(A)
    unit: jax.Array  # (...)


def pfaffian_of(x: num.Scaled) -> num.Scaled:
    """pf of the last two axes, antisymmetric: only the part that is so is used."""
    s = x.significand
    n = s.shape[-1]
    if n % 2:
        return num.from_linear(jnp.zeros(s.shape[:-2], s.dtype))
    if n <= 4:
        return _small(x)
    plain, exponents = equilibrate_congruently(x)
    unit, k = unit_of(largest_of(lax.stop_gradient(plain)))
    plain = plain * unit[..., None, None]
    factors = _factorise(lax.stop_gradient(plain))
    value = product_of(factors.d, _parity_of_order(factors.order, s.dtype))
    out = num.tidy(_value(plain, value, factors), value.exponent)
    total = total_of_exponents(exponents) + k * np.int32(n // 2)
    return num.tidy(out.significand, out.exponent + total)


def _small(x: num.Scaled) -> num.Scaled:
    at = partial(entry, x)
    n = x.significand.shape[-1]
    if n == 0:
        return of_no_rows(x)
    if n == 2:
        return at(0, 1)
    first = num.multiply(at(0, 1), at(2, 3))
    second = num.multiply(at(0, 2), at(1, 3))
    third = num.multiply(at(0, 3), at(1, 2))
    return num.add(num.subtract(first, second), third)


def _factorise(a: jax.Array) -> SkewFactors:
    batch, n = a.shape[:-2], a.shape[-1]
    flat = a.reshape(-1, n, n) if a.size else a.reshape(0, n, n)
    chunk = max(1, _CHUNK // (n * n))
    if flat.shape[0] <= chunk:
        out = jax.vmap(_factorise_one)(flat)
    else:
        out = lax.map(_factorise_one, flat, batch_size=chunk)
    return SkewFactors(*(part.reshape(*batch, *part.shape[1:]) for part in out))


def _factorise_one(a: jax.Array) -> SkewFactors:
    n = a.shape[-1]
    index = jnp.arange(n, dtype=np.int32)
    above = np.triu(np.ones((n, n), bool), 1)

    def step(k: jax.Array, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        a, free, lower, order, d = state
        open_places = free[:, None] & free & above
        best = jnp.argmax(jnp.where(open_places, jnp.abs(a), -1).reshape(-1)).astype(np.int32)
        i, j = best // np.int32(n), best % np.int32(n)
        pivot, ci, cj = a[i, j], a[:, i], a[:, j]
        live = pivot != 0
        safe = jnp.where(live, pivot, 1)
        is_i, is_j = index == i, index == j
        li = jnp.where(live, cj / safe, is_i.astype(a.dtype))
        lj = jnp.where(live, -ci / safe, is_j.astype(a.dtype))
        # a product less its transpose: the rest stays antisymmetric bit by bit
        update = cj[:, None] * ci
        free = free & ~is_i & ~is_j
        a = jnp.where(free[:, None] & free, a + (update - update.T) / safe, 0)
        lower = lax.dynamic_update_slice(lower, jnp.stack([li, lj], -1), (0, 2 * k))
        order = lax.dynamic_update_slice(order, jnp.stack([i, j]), (2 * k,))
        return a, free, lower, order, lax.dynamic_update_slice(d, pivot[None], (k,))

    # derived from a: what the loop carries must vary over the mesh axes that a does
    row = num.constant_like(a[0], 0)
    start = (
        a,
        num.constant_like(a[0], True, bool),
        num.constant_like(a, 0),
        num.constant_like(a[0], 0, np.int32),
        row[: n // 2],
    )
    _, _, lower, order, d = lax.fori_loop(0, n // 2, step, start)
    return SkewFactors(lower, order, d)


def _parity_of_order(order: jax.Array, dtype: Any) -> jax.Array:
    """The sign of a permutation, by its inversions."""
    n = order.shape[-1]
    later = np.triu(np.ones((n, n), bool), 1)
    inversions = (order[..., :, None] > order[..., None, :]) & later
    return parity_of(jnp.sum(inversions, (-2, -1)), dtype)


def _frame(factors: SkewFactors, exponent: jax.Array) -> SkewFrame:
    lower, order, d = factors
    n, dtype = lower.shape[-1], lower.dtype
    size = jnp.abs(d)
    unit, k = unit_of(jnp.max(size, -1))
    d, size = d * unit[..., None], size * unit[..., None]
    largest = jnp.max(size, -1, keepdims=True)
    largest = jnp.where(largest > 0, largest, 1)
    index = jnp.arange(n // 2, dtype=np.int32)
    chosen, left = [], size
    for _ in range(2):
        chosen.append(lax.argmin(left, left.ndim - 1, np.int32))
        left = jnp.where(chosen[-1][..., None] == index, np.inf, left)
    smallest = jnp.stack(chosen, -1)
    phase = jnp.where(size > 0, d / jnp.where(size > 0, size, 1), 1)
    lifted = jnp.where(left == np.inf, phase * largest, d)
    # where more than two blocks vanish pf(B) is 0, and any regular matrix will do
    regular = jnp.where(lifted != 0, lifted, largest.astype(dtype))
    permuted = jnp.take_along_axis(lower, order[..., None], -2)
    one_hot = (order[..., None] == jnp.arange(n, dtype=np.int32)).astype(dtype)
    m = lax.linalg.triangular_solve(
        permuted, one_hot, left_side=True, lower=True, unit_diagonal=True
    )
    even, odd = m[..., 0::2, :], m[..., 1::2, :]
    over = regular[..., None]
    inner = jnp.stack([-odd / over, even / over], -2).reshape(m.shape)
    x = jnp.swapaxes(m, -1, -2) @ inner
    x = (x - jnp.swapaxes(x, -1, -2)) / 2
    t, u = (jnp.take_along_axis(v, smallest, -1) for v in (lifted, d))
    pick = smallest[..., None]
    first = jnp.take_along_axis(odd, pick, -2) * (-(t - u) / t)[..., None]
    second = -jnp.take_along_axis(even, pick, -2) / t[..., None]
    y = jnp.stack([first, second], -2).reshape(*first.shape[:-2], 4, n)
    whole = product_of(lifted, _parity_of_order(order, dtype))
    shift = whole.exponent + (n // 2) * k - exponent
    pf_b = num.to_linear(num.Scaled(whole.significand, shift))
    return SkewFrame(x, jnp.swapaxes(y, -1, -2), u / t, pf_b, unit)


def _model(m: jax.Array, frame: SkewFrame) -> jax.Array:
    """pf(A + m) without terms of third order in m."""
    x, y, g, pf_b, unit = frame
    m = m * unit[..., None, None]
    xm = x @ m
    t1 = jnp.trace(xm, axis1=-2, axis2=-1)
    t2 = jnp.sum(xm * jnp.swapaxes(xm, -1, -2), (-2, -1))
    series = 1 + t1 / 2 + t1 * t1 / 8 - t2 / 4
    yt, my = jnp.swapaxes(y, -1, -2), m @ y
    h = yt @ (m @ (x @ my) - my)
    pf = (g[..., 0] + h[..., 0, 1]) * (g[..., 1] + h[..., 2, 3])
    pf = pf - h[..., 0, 2] * h[..., 1, 3] + h[..., 0, 3] * h[..., 1, 2]
    return pf_b * series * pf


def _gradient_of_model(m: jax.Array, frame: SkewFrame) -> jax.Array:
    holomorphic = jnp.issubdtype(m.dtype, jnp.complexfloating)
    return jax.grad(lambda m: jnp.sum(_model(m, frame)), holomorphic=holomorphic)(m)


@jax.custom_jvp
def _value(a: jax.Array, value: Value, factors: SkewFactors) -> jax.Array:
    return value.significand


@_value.defjvp
def _value_jvp(primals: Any, tangents: Any) -> Any:
    a, value, factors = primals
    frame = _frame(*jax.tree.map(lax.stop_gradient, (factors, value.exponent)))
    change = jnp.sum(_gradient(a, frame) * tangents[0], (-2, -1))
    return _value(a, value, factors), change


@jax.custom_jvp
def _gradient(a: jax.Array, frame: SkewFrame) -> jax.Array:
    """The derivative of the Pfaffian in each entry, as if all were independent."""
    return _gradient_of_model(jnp.zeros_like(a), frame)


@_gradient.defjvp
def _gradient_jvp(primals: Any, tangents: Any) -> Any:
    a, frame = primals
    return _gradient(a, frame), _gradient_change(a, tangents[0], frame)


@jax.custom_jvp
def _gradient_change(a: jax.Array, d: jax.Array, frame: SkewFrame) -> jax.Array:
    return jax.jvp(lambda m: _gradient_of_model(m, frame), (jnp.zeros_like(a),), (d,))[1]


def _gradient_change_jvp(primals: Any, tangents: Any) -> Any:
    a, d, frame = primals
    da, dd = tangents[:2]
    out = _gradient_change(a, d, frame)
    if not isinstance(da, SymbolicZero):
        raise NotImplementedError(f"{_REFUSAL} {a.shape[-1]} x {a.shape[-1]}.")
    change = jnp.zeros_like(out) if isinstance(dd, SymbolicZero) else _gradient_change(a, dd, frame)
    return out, change


_gradient_change.defjvp(_gradient_change_jvp, symbolic_zeros=True)
