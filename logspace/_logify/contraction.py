"""Contraction of two numbers by one matrix product, wherever that loses no term.

Rows and columns are scaled by their largest entry. A product of two scaled entries underflows only
where entries lie more than half the range of a float below the largest of their row or column; an
O(n**2) test before the product says whether any does. If so, and only then, every output is summed
on its own. The test is over the whole batch of a `vmap`, so that the choice remains a branch.

The sum of ``a_ik b_kj 2**(p_ik + q_kj + r_ij)`` over k, where all p, q and r are 0 unless the test
says otherwise, is a bilinear primitive, which is its own derivative and whose transposes are of the
same form. Plain automatic differentiation of the branch would store what either side of it needs.
"""

from typing import Any, NamedTuple

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
    a = _aligned(x, tuple(contract_x), tuple(batch_x))
    b = _aligned(y, tuple(contract_y), tuple(batch_y))
    top = _outer_sum(a.top, b.top, len(batch_x))
    bad = _anywhere(lax.bitwise_or(a.wide, b.wide))

    def exponent_of_sums() -> jax.Array:
        u, v = (num.Scaled(lax.stop_gradient(z.significand), z.exponent) for z in (x, y))
        return num.dot_general(u, v, dimension_numbers).exponent

    e = lax.cond(bad, exponent_of_sums, lambda: top)
    s = scaled_dot_p.bind(
        a.scaled, b.scaled, a.rest, b.rest, lax.sub(top, e), bad, numbers=numbers.key
    )
    return num.tidy(s, e)


class _Aligned(NamedTuple):
    """x = scaled * 2**(rest + top), where top is constant along the axes that are contracted."""

    scaled: jax.Array
    #: 0, unless entries lie so far apart that they cannot be scaled alike.
    rest: jax.Array
    #: Batch axes first, as the outputs have them.
    top: jax.Array
    #: Whether that is so.
    wide: jax.Array


def _aligned(x: num.Scaled, axes: tuple[int, ...], batch: tuple[int, ...]) -> _Aligned:
    """An operand relative to its largest entries.

    All of it depends on one operand alone, so that a loop in which that is constant can compute it
    once.
    """
    f = num.format_of(x.significand.dtype)
    finite = num.is_finite(x.significand)
    all_terms, live_terms = num.term_exponents(x)
    top = num.sum_exponent(
        lax.reduce_max(all_terms, axes), lax.reduce_max(live_terms, axes), f.room
    )
    kept = tuple(d for d in range(x.exponent.ndim) if d not in axes)
    row = lax.broadcast_in_dim(top, x.exponent.shape, kept)
    zero = lax.full_like(all_terms, 0)
    live = lax.bitwise_and(num.is_live(x.significand), finite)
    # two entries of 2**-limit still have a product within the range of a float
    limit = 500 if f.mantissa_bits > 30 else 58
    below = lax.select(live, lax.sub(all_terms, row), zero)
    lowest = lax.reduce_min(below, tuple(range(below.ndim)))
    wide = lax.lt(lowest, np.int32(-limit))
    relative = lax.select(finite, lax.sub(x.exponent, row), zero)
    # what is not scaled alike is not scaled here at all: nor are derivatives, which might overflow
    everywhere = lax.broadcast_in_dim(wide, relative.shape, ())
    order = [*(kept.index(d) for d in batch), *(i for i, d in enumerate(kept) if d not in batch)]
    return _Aligned(
        num.scale_by(x.significand, lax.select(everywhere, zero, relative)),
        lax.select(everywhere, relative, zero), lax.transpose(top, order), wide,
    )  # fmt: skip


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
    return lax.cond(
        bad,
        lambda: _term_by_term(a, b, p, q, r, numbers),
        lambda: lax.dot_general(a, b, numbers),
    )


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

    def at(place: int, x: jax.Array, axis: int | None) -> jax.Array:
        if axis is None:
            return lax.broadcast_in_dim(
                x, (*x.shape[:place], size, *x.shape[place:]),
                [i + (i >= place) for i in range(x.ndim)],
            )  # fmt: skip
        return jnp.moveaxis(x, axis, place)

    a, b, p, q, r, bad = operands
    in_a, in_b, in_p, in_q, in_r, in_bad = axes
    if in_bad is not None:
        bad = jnp.any(bad, axis=in_bad)
    (contract_a, contract_b), (batch_a, batch_b) = numbers

    def shifted(dims: Any) -> tuple[int, ...]:
        return tuple(d + 1 for d in dims)

    batched_a = in_a is not None or in_p is not None
    batched_b = in_b is not None or in_q is not None
    if batched_a:
        a, p = at(0, a, in_a), at(0, p, in_p)
        contract_a, batch_a = shifted(contract_a), shifted(batch_a)
    if batched_b:
        b, q = at(0, b, in_b), at(0, q, in_q)
        contract_b, batch_b = shifted(contract_b), shifted(batch_b)
    if batched_a and batched_b:
        place, batch_a, batch_b = 0, (0, *batch_a), (0, *batch_b)
    elif batched_b:
        # the batch is one more axis of columns, which makes one product of it
        place = p.ndim - len(contract_a)
    else:
        # or of rows
        place = len(batch_a)
        if not batched_a:
            a, p = at(0, a, None), at(0, p, None)
            contract_a, batch_a = shifted(contract_a), shifted(batch_a)
    key = ((contract_a, contract_b), (batch_a, batch_b))
    return scaled_dot_p.bind(a, b, p, q, at(place, r, in_r), bad, numbers=key), place


ad.primitive_jvps[scaled_dot_p] = _jvp
ad.primitive_transposes[scaled_dot_p] = _transpose
batching.primitive_batchers[scaled_dot_p] = _batch
