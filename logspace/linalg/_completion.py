"""A singular matrix completed to a regular one, and its determinant expanded about that.

With P A = L U, the q smallest pivots are lifted to the size of the largest. That gives a regular
matrix B which differs from A by rank q, and with the matrix determinant lemma

    det(A + D) = det(B) det(1 + X D) det(G + W (D - D X D + ...) Z),        X = 1 / B,

whose constants exist at every rank of A: derivatives up to order q are exact. Nothing is decided by
a threshold on the rank, so nothing happens near one.

Partial pivoting can hide a rank: in the matrices of Wilkinson and Kahan, and in nilpotent ones, the
small pivots are too many or none. B is then ill conditioned, which its inverse shows, and the same
expansion is taken from the singular value decomposition: for those matrices alone, whatever batch
they stand in.

Everything here is constant: none of it is differentiated.
"""

from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from .. import _numerics as num
from .._numerics.scaled import exponent_bits, magnitude, power_of_two
from ._batching import repaired


class Factors(NamedTuple):
    """The LU decomposition of matrices (..., n, n)."""

    lu: jax.Array
    permutation: jax.Array
    parity: jax.Array  # of the permutation, 1 or -1


class Value(NamedTuple):
    """det(A) as a number that carries no derivative, (...); the significand is at most about 1."""

    significand: jax.Array
    exponent: jax.Array


class Frame(NamedTuple):
    """What det(A + D) is expanded in, for the matrix A / t with t a power of two."""

    # Transposed, and not in two parts: the solver writes columns, which no other form would leave
    # where they are.
    xz: jax.Array  # (..., n + q, n): the inverse of the completed matrix B, and Z, transposed
    w: jax.Array  # (..., q, n)
    rows: jax.Array  # (..., q, n): W = rows X
    g: jax.Array  # (..., q, q): det(A) = det(B) det(g)
    det_b: jax.Array  # (...), det(B) in units of the exponent of det(A)
    unit: jax.Array  # (...), 1 / t

    @property
    def x(self) -> jax.Array:
        return jnp.swapaxes(self.xt, -1, -2)

    @property
    def xt(self) -> jax.Array:
        return self.xz[..., : self.w.shape[-1], :]

    @property
    def z(self) -> jax.Array:
        return jnp.swapaxes(self.xz[..., self.w.shape[-1] :, :], -1, -2)


def factorise(a: jax.Array) -> tuple[Factors, Value]:
    """The LU decomposition of a, and det(a)."""
    n = a.shape[-1]
    lu, pivots, permutation = lax.linalg.lu(a)
    u = _diagonal(lu)
    swaps = jnp.sum(pivots != jnp.arange(n, dtype=pivots.dtype), -1)
    parity = parity_of(swaps, a.dtype)
    value = product_of(u, parity)
    # Growth of the elements, measured against the first column: a suspicion, which costs nothing
    # where it is unfounded but a second look.
    top = jnp.max(jnp.abs(u), -1)
    f = num.format_of(a.dtype)
    growth = jnp.abs(u[..., 0]) * np.array(2.0**10, f.real)
    within = (top <= growth) & (top < 2.0 ** (f.bias * 0.8)) & (top > 2.0 ** -(f.bias * 0.8))
    return Factors(lu, permutation, parity), _repaired_value(~within, value, (a, lu))


def _has_grown(a: jax.Array, lu: jax.Array) -> jax.Array:
    """Whether elimination has cost more than three digits, or left the range of floats."""
    f = num.format_of(a.dtype)
    largest = largest_of(a)
    grown = ~(largest_of(jnp.triu(lu)) <= largest * np.array(2.0**10, f.real))
    bound = 2.0 ** (f.bias * 0.75)
    # of infinite entries nothing better is known, and LAPACK's singular values do not return
    return (grown | (largest > bound) | (largest < 1 / bound)) & (largest > 0) & (largest < np.inf)


def _finite(a: jax.Array) -> jax.Array:
    """Matrices with an infinite or nan entry as 0."""
    return jnp.where(_wide(largest_of(a) < np.inf), a, jnp.zeros_like(a))


def _wide(x: jax.Array) -> jax.Array:
    return x[..., None, None]


def _value_by_svd(a: jax.Array) -> Value:
    a = _finite(a)
    unit, k = unit_of(largest_of(a))
    u, s, vh = jnp.linalg.svd(a * unit[..., None, None].astype(a.dtype), full_matrices=False)
    value = product_of(s.astype(a.dtype), _phase_of(u @ vh))
    return Value(value.significand, value.exponent + a.shape[-1] * k)


_repaired_value = repaired(_has_grown, lambda a, lu: _value_by_svd(a))


def frame_of(a: jax.Array, factors: Factors, exponent: jax.Array, q: int) -> Frame:
    """The expansion of det about a to order q, in units of 2**exponent."""
    frame = _frame_by_lu(factors, exponent, q)
    size = largest_of(frame.xt)
    # what the error of a cofactor may lose to hidden ranks, before the decomposition that hides none
    bound = 2.0**13 if num.format_of(a.dtype).mantissa_bits > 30 else 2.0**8
    hidden = ~(size <= bound) & (largest_of(a) < np.inf)
    return _frame_repair(q)(hidden, frame, (a, exponent))


@lru_cache
def _frame_repair(q: int) -> Any:
    def always(a: jax.Array, exponent: jax.Array) -> jax.Array:
        return exponent == exponent

    return repaired(always, lambda a, exponent: _frame_by_svd(a, exponent, q))


def _frame_by_lu(factors: Factors, exponent: jax.Array, q: int) -> Frame:
    lu, permutation, parity = factors
    n, dtype = lu.shape[-1], lu.dtype
    u = _diagonal(lu)
    size = jnp.abs(u)
    unit, k = unit_of(jnp.max(size, -1))
    u = u * unit[..., None].astype(dtype)
    size = size * unit[..., None]
    largest = jnp.max(size, -1, keepdims=True)
    largest = jnp.where(largest > 0, largest, 1)
    index = jnp.arange(n, dtype=np.int32)
    # a loop of minima costs a tenth of `top_k` on CPU
    chosen, left = [], size
    for _ in range(q):
        chosen.append(lax.argmin(left, left.ndim - 1, np.int32))
        left = jnp.where(chosen[-1][..., None] == index, np.inf, left)
    smallest = jnp.stack(chosen, -1)
    phase = jnp.where(size > 0, u / jnp.where(size > 0, size, 1), 1)
    lifted = jnp.where(left == np.inf, phase * largest, u)
    on_diagonal = index[:, None] == index
    upper = jnp.where(on_diagonal, lifted[..., None], lu * unit[..., None, None])
    ones = (smallest[..., None, :] == index[:, None]).astype(dtype)  # (..., n, q): columns e_i
    permuted = (permutation[..., None] == index).astype(dtype)
    half = lax.linalg.triangular_solve(lu, permuted, left_side=True, lower=True, unit_diagonal=True)
    # one solve for both parts: a second one costs half as much again, however few its columns
    xz = lax.linalg.triangular_solve(
        upper, jnp.concatenate([half, ones], -1), left_side=True, lower=False
    )
    picked_lifted, picked_u = (jnp.take_along_axis(v, smallest, -1) for v in (lifted, u))
    c = picked_lifted - picked_u
    rows = c[..., None] * (smallest[..., None] == index).astype(dtype)
    picked = c[..., None] * jnp.take_along_axis(xz, smallest[..., None], -2)
    on_small_diagonal = np.eye(q, dtype=bool)
    g = jnp.where(on_small_diagonal, (picked_u / picked_lifted)[..., None], -picked[..., n:])
    whole = product_of(lifted, parity)
    det_b = num.to_linear(num.Scaled(whole.significand, whole.exponent + n * k - exponent))
    return Frame(jnp.swapaxes(xz, -1, -2), picked[..., :n], rows, g, det_b, unit)


def _frame_by_svd(a: jax.Array, exponent: jax.Array, q: int) -> Frame:
    a = _finite(a)
    n, dtype = a.shape[-1], a.dtype
    unit, k = unit_of(largest_of(a))
    u, s, vh = jnp.linalg.svd(a * unit[..., None, None].astype(dtype), full_matrices=False)
    top = jnp.where(s[..., :1] > 0, s[..., :1], 1)
    lifted = jnp.where(np.arange(n) >= n - q, top, s)
    # where more than q singular values vanish det_b is 0, and any regular matrix will do
    regular = jnp.where(lifted > 0, lifted, top).astype(dtype)
    uh, v = jnp.conj(jnp.swapaxes(u, -1, -2)), jnp.conj(jnp.swapaxes(vh, -1, -2))
    x = (v / regular[..., None, :]) @ uh
    small = s[..., n - q :]
    c = ((top - small)[..., None]).astype(dtype)
    scale = top[..., None].astype(dtype)
    g = jnp.where(np.eye(q, dtype=bool), (small / top)[..., None], 0).astype(dtype)
    whole = product_of(lifted.astype(dtype), _phase_of(u @ vh))
    det_b = num.to_linear(num.Scaled(whole.significand, whole.exponent + n * k - exponent))
    return Frame(
        jnp.swapaxes(jnp.concatenate([x, v[..., n - q :] / scale], -1), -1, -2),
        c * uh[..., n - q :, :] / scale,
        c * vh[..., n - q :, :],
        g,
        det_b,
        unit,
    )


def product_of(u: jax.Array, factor: jax.Array) -> Value:
    """factor * prod(u), with small u measured at eps times the largest.

    The scale of a vanishing pivot is then no smaller than rounding leaves it, so that derivatives
    stay below 1 / eps in units of the exponent.
    """
    size = magnitude(u)
    largest = jnp.max(size, -1, keepdims=True)
    largest = jnp.where(largest > 0, largest, 1)
    k = exponent_bits(jnp.maximum(size, jnp.finfo(size.dtype).eps * largest))
    mantissas = num.scale_by(u, -k)
    # mantissas lie in [1, 2): 32 of them may be multiplied without a thought
    n = u.shape[-1]
    padding = [(0, 0)] * (u.ndim - 1) + [(0, -n % 32)]
    whole = jnp.pad(mantissas, padding, constant_values=1)
    whole = whole.reshape(*u.shape[:-1], (n + 31) // 32, 32)
    blocks = num.from_linear(jnp.prod(whole, -1))
    product = num.prod(blocks, (u.ndim - 1,))
    return Value(
        product.significand * factor,
        product.exponent + jnp.sum(k, -1, dtype=np.int32),
    )


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def zero_of_last_order(refusal: str, a: jax.Array) -> jax.Array:
    """Zeros like a: the point to expand at, where the expansion has no further order to offer."""
    return jnp.zeros_like(a)


def _zero_of_last_order_jvp(refusal: str, primals: Any, tangents: Any) -> Any:
    (a,) = primals
    if not isinstance(tangents[0], SymbolicZero):
        raise NotImplementedError(f"{refusal} {a.shape[-1]} x {a.shape[-1]}.")
    return jnp.zeros_like(a), jnp.zeros_like(a)


zero_of_last_order.defjvp(_zero_of_last_order_jvp, symbolic_zeros=True)


def unit_of(size: jax.Array) -> tuple[jax.Array, jax.Array]:
    """A power of two that brings a size near 1, and minus its exponent."""
    f = num.format_of(size.dtype)
    k = jnp.clip(exponent_bits(size), -f.bias + 2, f.bias - 2)
    return power_of_two(-k, size.dtype), k


def largest_of(a: jax.Array) -> jax.Array:
    return jnp.max(jnp.abs(a), (-2, -1))


def _diagonal(a: jax.Array) -> jax.Array:
    return jnp.diagonal(a, axis1=-2, axis2=-1)


def _phase_of(unitary: jax.Array) -> jax.Array:
    """The determinant of a unitary matrix, of modulus 1."""
    lu, pivots, _ = lax.linalg.lu(unitary)
    u = _diagonal(lu)
    swaps = jnp.sum(pivots != jnp.arange(u.shape[-1], dtype=pivots.dtype), -1)
    phase = jnp.prod(u / jnp.abs(u), -1)
    return phase * parity_of(swaps, u.dtype)


def parity_of(swaps: jax.Array, dtype: Any) -> jax.Array:
    return (1 - 2 * (swaps % 2)).astype(dtype)
