"""JAX's decompositions of matrices of numbers: those whose factors take the scaling up exactly.

With a = 2**rows * plain * 2**columns the plain matrix is decomposed, and the powers of two are put
into the factors. Orthogonal factors and spectra cannot take them.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from .. import _numerics as num
from .._numerics import Scaled
from ._equilibration import equilibrate, equilibrate_congruently


def cholesky(x: Scaled) -> Scaled:
    """The lower factor of a positive matrix, of which the lower triangle is read."""
    below = Scaled(jnp.tril(x.significand, -1), x.exponent)
    whole = Scaled(
        jnp.tril(x.significand) + _transposed(below.significand, conjugate=True),
        jnp.where(_lower(x.exponent), x.exponent, _transposed(x.exponent)),
    )
    plain, rows = equilibrate_congruently(whole)
    factor = lax.linalg.cholesky(plain, symmetrize_input=False)
    return num.tidy(factor, jnp.broadcast_to(rows[..., :, None], x.exponent.shape))


def lu(x: Scaled) -> list[Any]:
    """Packed factors, pivots and permutation, with the pivots of the equilibrated matrix.

    An entry below the diagonal may therefore exceed 1.
    """
    plain, rows, columns = equilibrate(x)
    packed, pivots, permutation = lax.linalg.lu(plain)
    rows = jnp.take_along_axis(rows, permutation, -1)
    size = min(x.exponent.shape[-2:])
    # P a = (R L R**-1) (R U C), with the powers of the permuted rows R and of the columns C
    left = jnp.pad(-rows[..., :size], [(0, 0)] * (rows.ndim - 1) + [(0, columns.shape[-1] - size)])
    below = jnp.tril(jnp.ones(x.exponent.shape[-2:], bool), -1)
    exponent = rows[..., :, None] + jnp.where(below, left[..., None, :], columns[..., None, :])
    return [num.tidy(packed, exponent), pivots, permutation]


def triangular_solution(
    a: Scaled,
    b: Scaled,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Scaled:
    """x with op(a) x = b, or x op(a) = b, for a triangular matrix a.

    By substitution on numbers: no scaling of rows and columns suits every right-hand side.
    """
    if transpose_a == left_side:
        a, lower = _each(_transposed, a), not lower
    if conjugate_a:
        a = num.conj(a)
    b = b if left_side else _each(_transposed, b)
    if not lower:
        # from the last row to the first
        a = _each(lambda part: jnp.flip(part, (-2, -1)), a)
        b = _each(lambda part: jnp.flip(part, -2), b)
    x = _forward_substitution(a, b, unit_diagonal)
    x = x if lower else _each(lambda part: jnp.flip(part, -2), x)
    return x if left_side else _each(_transposed, x)


def _forward_substitution(a: Scaled, b: Scaled, unit_diagonal: bool) -> Scaled:
    below = jnp.tril(jnp.ones(a.exponent.shape[-2:], bool), -1)
    left = _each(lambda part: jnp.where(below, part, jnp.zeros_like(part)), a)
    diagonal = _each(lambda part: jnp.diagonal(part, axis1=-2, axis2=-1)[..., None], a)

    def step(x: Scaled, row: Any) -> tuple[Scaled, None]:
        i, left, pivot, right = row
        terms = num.multiply(*_broadcast(_each(lambda part: part[..., None], left), x))
        out = num.subtract(right, num.sum(terms, (terms.exponent.ndim - 2,)))
        if not unit_diagonal:
            out = num.divide(*_broadcast(out, pivot))
        return Scaled(*(old.at[..., i, :].set(new) for old, new in zip(x, out, strict=True))), None

    rows = [_each(lambda part: jnp.moveaxis(part, -2, 0), part) for part in (left, diagonal, b)]
    zero = Scaled(num.constant_like(b.significand, 0), num.zero_exponent(b.significand))
    x, _ = lax.scan(step, zero, (jnp.arange(b.exponent.shape[-2]), *rows))
    return x


def _each(move: Any, x: Scaled) -> Scaled:
    return Scaled(*map(move, x))


def _broadcast(x: Scaled, y: Scaled) -> tuple[Scaled, Scaled]:
    shape = jnp.broadcast_shapes(x.exponent.shape, y.exponent.shape)
    x, y = (_each(lambda part: jnp.broadcast_to(part, shape), z) for z in (x, y))
    return x, y


def _transposed(a: jax.Array, conjugate: bool = False) -> jax.Array:
    a = jnp.swapaxes(a, -1, -2)
    return jnp.conj(a) if conjugate else a


def _lower(a: jax.Array) -> jax.Array:
    return jnp.tril(jnp.ones(a.shape[-2:], bool))
