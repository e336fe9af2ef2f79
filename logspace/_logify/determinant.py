"""The determinant of a matrix as a number, with exact first and second derivatives at every rank.

det is a polynomial, so its derivatives exist where the matrix is singular; the formula with the
inverse does not. With P A = L U, the q = 2 smallest pivots are lifted to the size of the largest,
which gives a well conditioned matrix B that differs from A by rank q; the matrix determinant lemma
then writes det(A + D), to second order in D, with the inverse of B and a q x q determinant. Nothing
is decided by a threshold, so nothing happens near one.

The rest of the library reaches determinants through `determinant` alone.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from .. import _numerics as num


class _Frame(NamedTuple):
    """Constants of one matrix: what det(A + D) is expanded in."""

    x: jax.Array  # the inverse of the completed matrix B
    z: jax.Array  # (n, q)
    w: jax.Array  # (q, n)
    g: jax.Array  # (q, q): det(A) = det(B) det(g)
    det_b: jax.Array  # det(B), in units of the exponent of det(A)


def determinant(x: num.Scaled) -> num.Scaled:
    """det of the last two axes, square; det of an empty matrix is 1."""
    s, e = x
    n = s.shape[-1]
    if n <= 2:
        return _small(x)
    live = num.is_live(s)
    lowest = lax.reduce_min(e, tuple(range(e.ndim)))
    rows = jnp.max(jnp.where(live, e, lowest), axis=-1, keepdims=True)
    aligned = num.shift_to(x, jnp.broadcast_to(rows, e.shape))
    plain = _of_plain(aligned)
    return num.tidy(plain.significand, plain.exponent + jnp.sum(rows[..., 0], -1, dtype=np.int32))


def determinant_of_plain(a: jax.Array) -> num.Scaled:
    """The same for a plain matrix."""
    return determinant(num.from_linear(a)) if a.shape[-1] <= 2 else _of_plain(a)


def _small(x: num.Scaled) -> num.Scaled:
    def at(i: int, j: int) -> num.Scaled:
        return num.Scaled(x.significand[..., i, j], x.exponent[..., i, j])

    n = x.significand.shape[-1]
    if n == 0:
        one = jnp.ones(x.significand.shape[:-2], x.significand.dtype)
        return num.from_linear(one)
    if n == 1:
        return at(0, 0)
    return num.subtract(num.multiply(at(0, 0), at(1, 1)), num.multiply(at(0, 1), at(1, 0)))


def _of_plain(a: jax.Array) -> num.Scaled:
    value, exponent, frame = _factor(lax.stop_gradient(a))
    return num.tidy(_significand(a, value, frame), exponent)


def _factor(a: jax.Array) -> tuple[jax.Array, jax.Array, _Frame]:
    """The significand and exponent of det(a), and its frame."""
    n = a.shape[-1]
    q = 2
    lu, pivots, permutation = lax.linalg.lu(a)
    u = jnp.diagonal(lu, axis1=-2, axis2=-1)
    size = jnp.abs(u)
    largest = jnp.max(size, -1, keepdims=True)
    largest = jnp.where(largest > 0, largest, jnp.ones_like(largest))
    swaps = jnp.sum(pivots != jnp.arange(n, dtype=pivots.dtype), -1)
    parity = jnp.where(swaps % 2 == 1, -1.0, 1.0).astype(size.dtype)

    # the scale of a vanishing pivot is eps times the largest, so that derivatives stay below 1/eps
    floor = jnp.finfo(size.dtype).eps * largest
    k = jnp.frexp(jnp.maximum(size, floor))[1].astype(np.int32)
    diagonal = num.prod(num.Scaled(num.scale_by(u, -k), k), (u.ndim - 1,))
    value, exponent = diagonal.significand * parity, diagonal.exponent

    _, smallest = lax.top_k(-size, q)
    chosen = jnp.any(jnp.arange(n) == smallest[..., None], -2)
    phase = jnp.where(size > 0, u / jnp.where(size > 0, size, 1), jnp.ones_like(u))
    lifted = jnp.where(chosen, phase * largest, u)
    # from corank 3 on, det_b is an exact zero, and both derivatives with it: any pivot will do
    regular = jnp.where(size > 0, lifted, phase * largest)
    upper = jnp.triu(lu, 1) + regular[..., None] * jnp.eye(n, dtype=a.dtype)
    eye = jnp.broadcast_to(jnp.eye(n, dtype=a.dtype), a.shape)
    permuted = jnp.take_along_axis(eye, permutation[..., None].astype(np.int32), axis=-2)
    half = lax.linalg.triangular_solve(lu, permuted, left_side=True, lower=True, unit_diagonal=True)
    x = lax.linalg.triangular_solve(upper, half, left_side=True, lower=False)
    unit = jnp.take_along_axis(eye, smallest[..., None, :], axis=-1)
    z = lax.linalg.triangular_solve(upper, unit, left_side=True, lower=False)
    of_lifted = jnp.take_along_axis(lifted, smallest, -1)
    of_u = jnp.take_along_axis(u, smallest, -1)
    c = of_lifted - of_u
    w = c[..., None] * jnp.take_along_axis(x, smallest[..., None], axis=-2)
    g = -c[..., None] * jnp.take_along_axis(z, smallest[..., None], axis=-2)
    on_diagonal = jnp.eye(q, dtype=bool)
    g = jnp.where(on_diagonal, (of_u / of_lifted)[..., None], g)
    whole = num.prod(num.Scaled(num.scale_by(lifted, -k), k), (u.ndim - 1,))
    det_b = num.to_linear(num.Scaled(whole.significand * parity, whole.exponent - exponent))
    return value, exponent, _Frame(x, z, w, g, det_b)


@jax.custom_jvp
def _significand(a: jax.Array, value: jax.Array, frame: _Frame) -> jax.Array:
    return value


@_significand.defjvp
def _significand_jvp(primals: Any, tangents: Any) -> Any:
    a, value, frame = primals
    change = jnp.einsum("...ij,...ji->...", _adjugate(a, frame), tangents[0])
    return _significand(a, value, frame), change


def _adjugate_of_two(g: jax.Array) -> jax.Array:
    first = jnp.stack([g[..., 1, 1], -g[..., 0, 1]], -1)
    second = jnp.stack([-g[..., 1, 0], g[..., 0, 0]], -1)
    return jnp.stack([first, second], -2)


@jax.custom_jvp
def _adjugate(a: jax.Array, frame: _Frame) -> jax.Array:
    """d det = trace(adjugate dA)."""
    x, z, w, g, det_b = frame
    g0 = g[..., 0, 0] * g[..., 1, 1] - g[..., 0, 1] * g[..., 1, 0]
    inner = g0[..., None, None] * x + z @ (_adjugate_of_two(g) @ w)
    return det_b[..., None, None] * inner


@_adjugate.defjvp
def _adjugate_jvp(primals: Any, tangents: Any) -> Any:
    a, frame = primals
    return _adjugate(a, frame), _adjugate_change(a, tangents[0], frame)


@jax.custom_jvp
def _adjugate_change(a: jax.Array, d: jax.Array, frame: _Frame) -> jax.Array:
    x, z, w, g, det_b = frame
    adj = _adjugate_of_two(g)
    g0 = (g[..., 0, 0] * g[..., 1, 1] - g[..., 0, 1] * g[..., 1, 0])[..., None, None]
    xd = x @ d
    wd = w @ d
    xdx, xdz, wdx, s = xd @ x, xd @ z, wd @ x, wd @ z

    def trace(m: jax.Array) -> jax.Array:
        return jnp.trace(m, axis1=-2, axis2=-1)[..., None, None]

    change = (
        trace(xd) * (g0 * x + z @ (adj @ w))
        + trace(adj @ s) * x
        - g0 * xdx
        - z @ (adj @ wdx)
        - xdz @ (adj @ w)
        + z @ ((trace(s) * jnp.eye(2, dtype=s.dtype) - s) @ w)
    )
    return det_b[..., None, None] * change


def _adjugate_change_jvp(primals: Any, tangents: Any) -> Any:
    (a, d, frame), (da, dd, _) = primals, tangents
    if not isinstance(da, SymbolicZero):
        raise NotImplementedError(
            "Third derivatives of a determinant are not available inside logify; first and second "
            "derivatives are exact at every rank."
        )
    out = _adjugate_change(a, d, frame)
    if isinstance(dd, SymbolicZero):
        return out, jnp.zeros_like(out)
    return out, _adjugate_change(a, dd, frame)


_adjugate_change.defjvp(_adjugate_change_jvp, symbolic_zeros=True)
