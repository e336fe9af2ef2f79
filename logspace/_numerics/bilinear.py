"""Products whose derivative survives a zero next to an infinity.

Next to a zero of enormous scale a derivative can be infinite although the value, and every other
derivative, is finite: in ``w * e**1000 + 1`` at ``w = 0`` the derivative in ``w`` overflows and the
one in the second factor is ``w * e**1000 = 0``. The chain rule multiplies the two, 0 * inf, and the
product rule of plain JAX makes a nan of it.

`product` is an ordinary IEEE product. Its derivative is formed by `linear_product`, a bilinear
primitive with 0 * inf = 0 (and 0 * nan = nan, so that no nan is hidden), which is its own
transpose. A `where` in a `jax.custom_jvp` would not do: transposed, the `where` has forgotten the
cross term and the second derivative is finite and wrong.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from .scaled import constant_like, is_complex, magnitude, scalar


def _linear_product_impl(a: jax.Array, b: jax.Array) -> jax.Array:
    if is_complex(a):
        a_real, a_imag, b_real, b_imag = lax.real(a), lax.imag(a), lax.real(b), lax.imag(b)
        part = _linear_product_impl
        return lax.complex(
            lax.sub(part(a_real, b_real), part(a_imag, b_imag)),
            lax.add(part(a_real, b_imag), part(a_imag, b_real)),
        )
    zero, infinite = scalar(a, 0), scalar(a, np.inf)
    dead = lax.bitwise_or(
        lax.bitwise_and(lax.eq(a, zero), lax.eq(lax.abs(b), infinite)),
        lax.bitwise_and(lax.eq(b, zero), lax.eq(lax.abs(a), infinite)),
    )
    return lax.select(dead, lax.full_like(a, 0), lax.mul(a, b))


def _declare(name: str, implementation: Any) -> Primitive:
    primitive = Primitive(name)
    primitive.def_impl(jax.jit(implementation))
    primitive.def_abstract_eval(lambda a, b: _product_aval(a, b))
    mlir.register_lowering(primitive, mlir.lower_fun(implementation, multiple_results=False))
    batching.primitive_batchers[primitive] = partial(_batch, primitive)
    return primitive


def _product_aval(a: Any, b: Any) -> Any:
    # The abstract rule of the ordinary product knows about weak types, shardings and the mesh axes
    # over which a value varies.
    aval = lax.mul_p.abstract_eval(a, b, out_dtype=None)
    return aval[0] if isinstance(aval, tuple) else aval


def _batch(primitive: Primitive, operands: Any, axes: Any) -> Any:
    # `batching.defbroadcasting` inserts axes of size one, which the abstract rule refuses.
    (a, b), (axis_a, axis_b) = operands, axes
    size = next(x.shape[d] for x, d in zip(operands, axes, strict=True) if d is not None)

    def to_front(x: jax.Array, axis: int | None) -> jax.Array:
        if axis is None:
            return jnp.broadcast_to(x, (size, *np.shape(x)))
        return jnp.moveaxis(x, axis, 0)

    return primitive.bind(*_same_axes(to_front(a, axis_a), to_front(b, axis_b))), 0


linear_product_p = _declare("linear_product", _linear_product_impl)
product_p = _declare("product", lambda a, b: lax.mul(a, b))
quotient_p = _declare("quotient", lambda a, b: lax.div(a, b))


def _product_jvp(primals: Any, tangents: Any) -> Any:
    a, b = primals
    da, db = tangents
    out = product_p.bind(a, b)
    terms = []
    if type(da) is not ad.Zero:
        terms.append(linear_product(da, b))
    if type(db) is not ad.Zero:
        terms.append(linear_product(a, db))
    if not terms:
        return out, ad.Zero(jax.typeof(out).to_tangent_aval())
    return out, terms[0] if len(terms) == 1 else lax.add(*terms)


ad.primitive_jvps[product_p] = _product_jvp
ad.defbilinear(
    linear_product_p,
    lambda ct, a, b: linear_product_p.bind(ct, b),
    lambda ct, a, b: linear_product_p.bind(a, ct),
)


def _quotient_jvp(primals: Any, tangents: Any) -> Any:
    """d(a / b) = (da - (a / b) db) / b.

    The rule of `lax.div` forms b**-2 and the next one b**-3, which overflow at 2**-341 (float32:
    2**-42), far inside the window, and turn a second derivative of 0 into nan.
    """
    a, b = primals
    da, db = tangents
    out = quotient_p.bind(a, b)
    change = None if type(da) is ad.Zero else da
    if type(db) is not ad.Zero:
        # behind a pole the derivative of b is infinite where a / b is 0: not known, rather than 0
        infinite = lax.eq(magnitude(b), scalar(magnitude(b), np.inf))
        times = lax.select(infinite, lax.mul(out, db), linear_product(out, db))
        less = lax.neg(times)
        change = less if change is None else lax.add(change, less)
    if change is None:
        return out, ad.Zero(jax.typeof(out).to_tangent_aval())
    return out, quotient(change, b)


def _quotient_transpose(ct: Any, a: Any, b: Any) -> Any:
    return [ad.Zero(a.aval) if type(ct) is ad.Zero else quotient(ct, b), None]


ad.primitive_jvps[quotient_p] = _quotient_jvp
ad.primitive_transposes[quotient_p] = _quotient_transpose


def _same_axes(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Make both operands vary over the same mesh axes of a `jax.shard_map`."""
    if getattr(jax.typeof(a), "vma", None) == getattr(jax.typeof(b), "vma", None):
        return a, b
    always = lax.bitwise_or(lax.eq(a, a), lax.ne(a, a))
    true = lax.bitwise_or(always, lax.bitwise_or(lax.eq(b, b), lax.ne(b, b)))
    return lax.select(true, a, b), lax.select(true, b, a)


def product(a: jax.Array, b: jax.Array) -> jax.Array:
    """a * b for operands of one shape and dtype, with a derivative in which 0 * inf = 0."""
    return product_p.bind(*_same_axes(a, b))


def quotient(a: jax.Array, b: jax.Array) -> jax.Array:
    """a / b for operands of one shape and dtype."""
    return quotient_p.bind(*_same_axes(a, b))


def linear_product(a: jax.Array, b: jax.Array) -> jax.Array:
    """a * b with 0 * inf = 0, for derivatives only."""
    return linear_product_p.bind(*_same_axes(a, b))


@jax.custom_jvp
def derivative_only(s: jax.Array) -> jax.Array:
    """Zero in value, the identity in every derivative."""
    return constant_like(s, 0)


@derivative_only.defjvp
def _derivative_only_jvp(primals: Any, tangents: Any) -> Any:
    return derivative_only(primals[0]), tangents[0]
