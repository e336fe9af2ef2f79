"""Sums, products with and quotients by primal values, contractions."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive

from .. import _numerics as num
from .._log_array import LogArray, unwrap
from .._numerics.bilinear import linear_product
from .._rules.catalogue import CATALOGUE
from .linear import (
    MAX_TERMS,
    at_shape_of,
    canonical,
    collected,
    each_term,
    in_bands,
    lift,
    refuse,
    register,
)
from .movement import on_coefficients
from .value import Tangent, scale


@register(lax.add_p, CATALOGUE["add_any"])
def add(primitive: Primitive, values: Any, params: Any) -> Tangent:
    cs: list[Any] = []
    ks: list[Any] = []
    for c, k in [term for x in values for term in lift(x).terms]:
        same = next((i for i, other in enumerate(ks) if other is k), None)
        if same is None:
            cs.append(c)
            ks.append(k)
        else:
            cs[same] = lax.add(cs[same], c)
    shape = jnp.broadcast_shapes(*map(jnp.shape, cs))
    out = Tangent(
        [jnp.broadcast_to(c, shape) for c in cs],
        [k if k is None else jnp.broadcast_to(k, shape) for k in ks],
    )
    return out if len(cs) <= MAX_TERMS else canonical(out)


@register(lax.sub_p)
def subtract(primitive: Primitive, values: Any, params: Any) -> Tangent:
    x, y = map(lift, values)
    return add(lax.add_p, [x, on_coefficients(lax.neg_p, [y], {})], {})


@register(lax.mul_p)
def multiply(primitive: Primitive, values: Any, params: Any) -> Tangent:
    x, y = values
    if isinstance(x, Tangent) and isinstance(y, Tangent):
        refuse(primitive, "not linear where both factors are tangents")
    tangent, factor = (x, y) if isinstance(x, Tangent) else (y, x)
    if not isinstance(factor, LogArray):
        # in plain JAX's own way
        def bind(c: Any) -> Any:
            operands = (c, factor) if tangent is x else (factor, c)
            return primitive.bind(*operands, **params)

        return at_shape_of(each_term(tangent, bind, lambda k: k))
    number = num.normalise(unwrap(factor))
    return Tangent(*zip(*(_times(c, k, number) for c, k in tangent.terms), strict=True))


def _times(c: Any, k: Any, number: num.Scaled) -> tuple[Any, Any]:
    c, s = jnp.broadcast_arrays(c, number.significand)
    return _bounded(linear_product(c, s), _sum(k, number.exponent))


@register(lax.div_p)
def divide(primitive: Primitive, values: Any, params: Any) -> Tangent:
    x, y = values
    if isinstance(y, Tangent):
        refuse(primitive, "not linear where the divisor is a tangent")
    if not isinstance(y, LogArray):
        return at_shape_of(each_term(x, lambda c: primitive.bind(c, y, **params), lambda k: k))
    number = num.normalise(unwrap(y))
    terms = [
        _bounded(
            lax.div(*jnp.broadcast_arrays(c, number.significand)),
            _sum(k, lax.neg(number.exponent)),
        )
        for c, k in x.terms
    ]
    return Tangent(*zip(*terms, strict=True))


def _sum(k: Any, e: Any) -> Any:
    return e if k is None else lax.add(*jnp.broadcast_arrays(k, e))


def _bounded(c: Any, k: Any) -> tuple[Any, Any]:
    """Exponents within their bound, so that they can be added; the excess goes into c."""
    k = jnp.broadcast_to(k, jnp.shape(c))
    bounded = lax.clamp(np.int32(-num.LIMIT), k, np.int32(num.LIMIT))
    return scale(c, lax.sub(k, bounded)), bounded


@register(lax.complex_p)
def make_complex(primitive: Primitive, values: Any, params: Any) -> Tangent:
    re, im = map(lift, values)
    zero = jnp.zeros_like(re.coefficients[0])
    real = each_term(re, lambda c: lax.complex(c, zero), lambda k: k)
    imaginary = each_term(im, lambda c: lax.complex(zero, c), lambda k: k)
    return add(lax.add_p, [real, imaginary], {})


@register(lax.reduce_sum_p)
def reduce_sum(primitive: Primitive, values: Any, params: Any) -> Tangent:
    return _sum_along(values[0], params["axes"], lambda c: primitive.bind(c, **params))


def _sum_along(tangent: Tangent, axes: Any, add_up: Callable[..., Any]) -> Tangent:
    terms = in_bands(tangent, axes)
    return collected([(add_up(c), None if k is None else lax.squeeze(k, axes)) for c, k in terms])


@register(lax.cumsum_p)
def cumsum(primitive: Primitive, values: Any, params: Any) -> Tangent:
    terms = in_bands(values[0], (params["axis"],))
    return collected([(primitive.bind(c, **params), k) for c, k in terms])


def _at_one_exponent(position: int) -> Callable[..., Any]:
    """An operation that is linear in the operand at `position`, with plain others."""

    def rule(primitive: Primitive, values: Any, params: Any) -> Any:
        tangent = values[position]
        others = [x for i, x in enumerate(values) if i != position]
        if any(isinstance(x, (Tangent, LogArray)) for x in others):
            refuse(primitive, "offered for tangents only beside plain arrays")
        terms = []
        for c, k in in_bands(tangent, range(jnp.ndim(tangent.coefficients[0]))):
            operands = [*values[:position], c, *values[position + 1 :]]
            out = primitive.bind(*operands, **params)
            terms.append((out, None if k is None else lax.reshape(k, ())))
        return collected(terms)

    return rule


register(lax.reduce_window_sum_p, lax.fft_p)(_at_one_exponent(0))
register(lax.linalg.triangular_solve_p)(_at_one_exponent(1))


@register(lax.conv_general_dilated_p)
def convolution(primitive: Primitive, values: Any, params: Any) -> Any:
    return _at_one_exponent(0 if isinstance(values[0], Tangent) else 1)(primitive, values, params)


@register(lax.scatter_add_p)
def scatter_add(primitive: Primitive, values: Any, params: Any) -> Tangent:
    target, indices, updates = lift(values[0]), values[1], lift(values[2])
    if isinstance(indices, Tangent):
        refuse(primitive, "not an index")
    zeros = jnp.zeros_like(target.coefficients[0])
    terms = [
        (primitive.bind(zeros, indices, c, **params), None if k is None else lax.reshape(k, ()))
        for c, k in in_bands(updates, range(jnp.ndim(updates.coefficients[0])))
    ]
    return collected([*target.terms, *terms])


@register(lax.dot_general_p)
def dot_general(primitive: Primitive, values: Any, params: Any) -> Tangent:
    x, y = values
    if isinstance(x, Tangent) and isinstance(y, Tangent):
        refuse(primitive, "not linear where both factors are tangents")
    side = 0 if isinstance(x, Tangent) else 1
    tangent, factor = values[side], values[1 - side]
    contracting, batching = params["dimension_numbers"]
    axes = contracting[side]
    free = [
        [d for d in range(jnp.ndim(_leaf(v))) if d not in (*contracting[i], *batching[i])]
        for i, v in enumerate(values)
    ]
    if not isinstance(factor, LogArray):
        # its exponents are those of the rows, repeated for each column of the factor
        terms = []
        for c, k in in_bands(tangent, axes):
            operands = (c, factor) if side == 0 else (factor, c)
            out = primitive.bind(*operands, **params)
            if k is not None:
                order = [*batching[side], *free[side], *axes]
                k = lax.transpose(k, order)
                k = lax.reshape(k, k.shape[: k.ndim - len(axes)])
                kept = len(batching[side])
                start = kept if side == 0 else out.ndim - len(free[1])
                where = [*range(kept), *range(start, start + len(free[side]))]
                k = lax.broadcast_in_dim(k, out.shape, where)
            terms.append((out, k))
        return collected(terms)
    return _contract_with_number(tangent, num.normalise(unwrap(factor)), side, free, params)


def _leaf(x: Any) -> Any:
    if isinstance(x, Tangent):
        return x.coefficients[0]
    return x._significand if isinstance(x, LogArray) else x


def _contract_with_number(
    tangent: Tangent, number: num.Scaled, side: int, free: list[list[int]], params: Any
) -> Tangent:
    """All products side by side along a last axis, then their sum: every product has its exponent."""
    contracting, batching = params["dimension_numbers"]
    shapes = [None, None]
    shapes[side], shapes[1 - side] = tangent.aval().shape, number.exponent.shape  # type: ignore
    sizes = [[shapes[i][d] for d in free[i]] for i in (0, 1)]  # type: ignore[index]
    batch = [shapes[0][d] for d in batching[0]]  # type: ignore[index]
    inner = int(np.prod([shapes[0][d] for d in contracting[0]], dtype=int))  # type: ignore[index]
    full = (*batch, *sizes[0], *sizes[1], inner)

    def spread(part: Any, i: int) -> Any:
        part = lax.transpose(part, [*batching[i], *free[i], *contracting[i]])
        part = lax.reshape(part, (*batch, *sizes[i], inner))
        start = len(batch) + (len(sizes[0]) if i == 1 else 0)
        where = [*range(len(batch)), *range(start, start + len(sizes[i])), len(full) - 1]
        return lax.broadcast_in_dim(part, full, where)

    wide = num.Scaled(*(spread(part, 1 - side) for part in number))
    terms = [
        _times(spread(c, side), None if k is None else spread(k, side), wide)
        for c, k in tangent.terms
    ]
    products = Tangent(*zip(*terms, strict=True))
    last = (len(full) - 1,)
    out = _sum_along(products, last, lambda c: lax.reduce_sum(c, last))
    wanted = params.get("preferred_element_type")
    if wanted is None:
        return out
    return each_term(out, lambda c: lax.convert_element_type(c, wanted), lambda k: k)
