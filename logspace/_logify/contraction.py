"""Contraction of two numbers by one matrix product, wherever that loses no term.

Rows and columns are scaled by their largest entry. A product of two scaled entries underflows only
where entries lie more than the range of a float below the largest of their row and column; an
O(n**2) test before the product says whether any does. If so, and only then, every output is summed
on its own. The test is over the whole batch of a `vmap`, so that the choice remains a branch.

The sum of ``a_ik b_kj 2**(p_ik + q_kj + r_ij)`` over k is a bilinear primitive, which is its own
derivative and whose transposes are of the same form. Plain automatic differentiation of the branch
would store what either side of it needs.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_batching import custom_vmap
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .. import _numerics as num


@custom_vmap
def _anywhere(predicate: jax.Array) -> jax.Array:
    return predicate


@_anywhere.def_vmap
def _anywhere_in_batch(size: int, batched: Any, predicate: jax.Array) -> Any:
    del size, batched
    return _anywhere(jnp.any(predicate, axis=0)), False


def contract(x: num.Scaled, y: num.Scaled, dimension_numbers: Any) -> num.Scaled:
    """`lax.dot_general` of two numbers; to a few eps of the sum of absolute terms."""
    (contract_x, contract_y), (batch_x, batch_y) = dimension_numbers
    numbers = _Numbers(x.exponent.ndim, y.exponent.ndim, dimension_numbers)
    p, top_x, spread_x = _aligned(x, tuple(contract_x), tuple(batch_x))
    q, top_y, spread_y = _aligned(y, tuple(contract_y), tuple(batch_y))
    top = _outer_sum(top_x, top_y, len(batch_x))
    room = 1000 if num.format_of(x.significand.dtype).mantissa_bits > 30 else 120
    bad = _anywhere(lax.gt(lax.add(spread_x, spread_y), np.int32(room)))

    def exponent_of_sums() -> jax.Array:
        a, b = (num.Scaled(lax.stop_gradient(v.significand), v.exponent) for v in (x, y))
        return num.dot_general(a, b, dimension_numbers).exponent

    e = lax.cond(bad, exponent_of_sums, lambda: top)
    r = lax.sub(top, e)
    s = scaled_dot_p.bind(x.significand, y.significand, p, q, r, bad, numbers=numbers.key)
    return num.tidy(s, e)


def _aligned(
    x: num.Scaled, axes: tuple[int, ...], batch: tuple[int, ...]
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Exponents relative to the largest along axes, that one, and the widest spread.

    The largest have their batch axes first, as the outputs have.
    """
    all_terms, live_terms = num.term_exponents(x)
    room = num.format_of(x.significand.dtype).room
    top = num.sum_exponent(lax.reduce_max(all_terms, axes), lax.reduce_max(live_terms, axes), room)
    kept = tuple(d for d in range(x.exponent.ndim) if d not in axes)
    wide = lax.broadcast_in_dim(top, x.exponent.shape, kept)
    finite = num.is_finite(x.significand)
    live = num.is_live(x.significand) & finite
    spread = jnp.max(jnp.where(live, wide - all_terms, np.int32(0)), initial=np.int32(0))
    order = [*(kept.index(d) for d in batch), *(i for i, d in enumerate(kept) if d not in batch)]
    relative = jnp.where(finite, x.exponent - wide, np.int32(0))
    return relative, lax.transpose(top, order), spread


def _outer_sum(a: jax.Array, b: jax.Array, batch: int) -> jax.Array:
    """The exponents of the outputs, from those of rows and columns, `batch` axes first."""
    shape = (*a.shape, *b.shape[batch:])
    wide_a = lax.broadcast_in_dim(a, shape, tuple(range(a.ndim)))
    places = (*range(batch), *range(a.ndim, len(shape)))
    return lax.add(wide_a, lax.broadcast_in_dim(b, shape, places))


class _Numbers:
    """Dimension numbers, and those of the two transposes."""

    def __init__(self, ndim_a: int, ndim_b: int, key: Any) -> None:
        (self.contract_a, self.contract_b), (self.batch_a, self.batch_b) = (
            tuple(tuple(int(d) for d in dims) for dims in pair) for pair in key
        )
        self.key = ((self.contract_a, self.contract_b), (self.batch_a, self.batch_b))
        self.ndim_a, self.ndim_b = ndim_a, ndim_b
        taken_a, taken_b = {*self.contract_a, *self.batch_a}, {*self.contract_b, *self.batch_b}
        self.free_a = tuple(d for d in range(ndim_a) if d not in taken_a)
        self.free_b = tuple(d for d in range(ndim_b) if d not in taken_b)
        n, m = len(self.batch_a), len(self.batch_a) + len(self.free_a)
        self.out_batch = tuple(range(n))
        self.out_a = tuple(range(n, m))
        self.out_b = tuple(range(m, m + len(self.free_b)))

    def of_transpose_in_a(self) -> tuple[Any, list[int]]:
        """For contracting the output with b, and the axes of a in the order of the result."""
        key = ((self.out_b, self.free_b), (self.out_batch, self.batch_b))
        # the free axes of b in its own order: those contracted
        contracted = sorted(self.contract_b)
        partner = dict(zip(self.contract_b, self.contract_a, strict=True))
        order = [*self.batch_a, *self.free_a, *(partner[d] for d in contracted)]
        return key, order

    def of_transpose_in_b(self) -> tuple[Any, list[int]]:
        key = ((self.free_a, self.out_a), (self.batch_a, self.out_batch))
        contracted = sorted(self.contract_a)
        partner = dict(zip(self.contract_a, self.contract_b, strict=True))
        order = [*self.batch_b, *(partner[d] for d in contracted), *self.free_b]
        return key, order


def _scaled_dot(a: Any, b: Any, p: Any, q: Any, r: Any, bad: Any, *, numbers: Any) -> jax.Array:
    def fast() -> jax.Array:
        out = lax.dot_general(num.scale_by(a, p), num.scale_by(b, q), numbers)
        return num.scale_by(out, r)

    return lax.cond(bad, lambda: _term_by_term(a, b, p, q, r, numbers), fast)


def _term_by_term(a: Any, b: Any, p: Any, q: Any, r: Any, key: Any) -> jax.Array:
    """Each term scaled by its own exponent, a row of outputs at a time."""
    numbers = _Numbers(a.ndim, b.ndim, key)
    shape = r.shape
    batch = int(np.prod([a.shape[d] for d in numbers.batch_a], dtype=int))
    k = int(np.prod([a.shape[d] for d in numbers.contract_a], dtype=int))
    m = int(np.prod([a.shape[d] for d in numbers.free_a], dtype=int))
    n = int(np.prod([b.shape[d] for d in numbers.free_b], dtype=int))
    if batch * m * n * k == 0:
        return jnp.zeros(shape, a.dtype)
    order_a = (*numbers.batch_a, *numbers.free_a, *numbers.contract_a)
    order_b = (*numbers.batch_b, *numbers.free_b, *numbers.contract_b)
    rows_a, rows_p = (lax.transpose(v, order_a).reshape(batch * m, k) for v in (a, p))
    all_b, all_q = (lax.transpose(v, order_b).reshape(batch, n, k) for v in (b, q))
    rows_r = r.reshape(batch * m, n)
    index = np.repeat(np.arange(batch, dtype=np.int32), m)

    def row(parts: Any) -> jax.Array:
        a, p, r, i = parts
        terms = num.scale_by(a[None, :] * all_b[i], p[None, :] + all_q[i] + r[:, None])
        return jnp.sum(terms, axis=-1)

    size = max(1, min(batch * m, 2**20 // (n * k)))
    return lax.map(row, (rows_a, rows_p, rows_r, index), batch_size=size).reshape(shape)


scaled_dot_p = Primitive("scaled_dot")
scaled_dot_p.def_impl(jax.jit(_scaled_dot, static_argnames="numbers"))
scaled_dot_p.def_abstract_eval(
    # the exponents of the outputs know their shape and the mesh axes over which they vary
    lambda a, b, p, q, r, bad, *, numbers: r.update(dtype=a.dtype, weak_type=False)
)
mlir.register_lowering(scaled_dot_p, mlir.lower_fun(_scaled_dot, multiple_results=False))


def _jvp(primals: Any, tangents: Any, *, numbers: Any) -> Any:
    a, b, *rest = primals
    out = scaled_dot_p.bind(*primals, numbers=numbers)
    terms = []
    if type(tangents[0]) is not ad.Zero:
        terms.append(scaled_dot_p.bind(tangents[0], b, *rest, numbers=numbers))
    if type(tangents[1]) is not ad.Zero:
        terms.append(scaled_dot_p.bind(a, tangents[1], *rest, numbers=numbers))
    if not terms:
        return out, ad.Zero(jax.typeof(out).to_tangent_aval())
    return out, terms[0] if len(terms) == 1 else lax.add(*terms)


def _transpose(ct: Any, a: Any, b: Any, p: Any, q: Any, r: Any, bad: Any, *, numbers: Any) -> Any:
    nothing: list[Any] = [None] * 6
    if type(ct) is ad.Zero:
        return nothing
    dimensions = _Numbers(p.ndim, q.ndim, numbers)
    in_a = ad.is_undefined_primal(a)
    # the output takes the place of the operand that is wanted, and that operand's of the output
    key, order = dimensions.of_transpose_in_a() if in_a else dimensions.of_transpose_in_b()
    wanted = lax.transpose(p if in_a else q, order)
    if in_a:
        moved = scaled_dot_p.bind(ct, b, r, q, wanted, bad, numbers=key)
    else:
        moved = scaled_dot_p.bind(a, ct, p, r, wanted, bad, numbers=key)
    nothing[0 if in_a else 1] = lax.transpose(moved, tuple(np.argsort(order)))
    return nothing


def _batch(operands: Any, axes: Any, *, numbers: Any) -> Any:
    size = next(x.shape[d] for x, d in zip(operands, axes, strict=True) if d is not None)

    def to_front(x: jax.Array, axis: int | None) -> jax.Array:
        if axis is None:
            return jnp.broadcast_to(x, (size, *np.shape(x)))
        return jnp.moveaxis(x, axis, 0)

    *arrays, bad = operands
    if axes[-1] is not None:
        bad = jnp.any(bad, axis=axes[-1])
    arrays = [to_front(x, d) for x, d in zip(arrays, axes[:-1], strict=True)]
    (contract_a, contract_b), (batch_a, batch_b) = numbers

    def shifted(dims: Any) -> tuple[int, ...]:
        return tuple(d + 1 for d in dims)

    key = (
        (shifted(contract_a), shifted(contract_b)),
        ((0, *shifted(batch_a)), (0, *shifted(batch_b))),
    )
    return scaled_dot_p.bind(*arrays, bad, numbers=key), 0


ad.primitive_jvps[scaled_dot_p] = _jvp
ad.primitive_transposes[scaled_dot_p] = _transpose
batching.primitive_batchers[scaled_dot_p] = _batch
