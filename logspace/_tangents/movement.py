"""Elements moved, selected, negated or converted: no coefficient meets another exponent."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive

from .._rules.catalogue import if_present
from .linear import each_term, lift, refuse, register
from .value import Tangent


@register(
    lax.neg_p,
    lax.real_p,
    lax.imag_p,
    lax.conj_p,
    lax.reduce_precision_p,
)
def on_coefficients(primitive: Primitive, values: Any, params: Any) -> Tangent:
    return each_term(values[0], lambda c: primitive.bind(c, **params), lambda k: k)


@register(lax.convert_element_type_p)
def convert(primitive: Primitive, values: Any, params: Any) -> Tangent:
    if not jnp.issubdtype(params["new_dtype"], jnp.inexact):
        refuse(primitive, f"without a derivative as {np.dtype(params['new_dtype']).name}")
    return on_coefficients(primitive, values, params)


@register(
    lax.reshape_p,
    lax.transpose_p,
    lax.squeeze_p,
    lax.rev_p,
    lax.slice_p,
    lax.broadcast_in_dim_p,
    lax.dynamic_slice_p,
    lax.tile_p,
    lax.copy_p,
    lax.sharding_constraint_p,
    lax.all_gather_p,
    lax.all_to_all_p,
    lax.ppermute_p,
    *if_present("name", "copy_p", "pvary", "pbroadcast"),
)
def move(primitive: Primitive, values: Any, params: Any) -> Tangent:
    tangent, *others = values
    if not isinstance(tangent, Tangent):
        refuse(primitive, "not an index")

    def moved(leaf: Any) -> Any:
        out = primitive.bind(leaf, *others, **params)
        return out[0] if primitive.multiple_results else out

    out = each_term(tangent, moved, moved)
    return [out] if primitive.multiple_results else out  # type: ignore[return-value]


@register(lax.split_p, lax.unstack_p)
def split(primitive: Primitive, values: Any, params: Any) -> list[Tangent]:
    parts = [
        (primitive.bind(c, **params), None if k is None else primitive.bind(k, **params))
        for c, k in values[0].terms
    ]
    return [
        Tangent([c[i] for c, _ in parts], [None if k is None else k[i] for _, k in parts])
        for i in range(len(parts[0][0]))
    ]


@register(lax.optimization_barrier_p, lax.device_put_p)
def each_by_itself(primitive: Primitive, values: Any, params: Any) -> Any:
    leaves, structure = jax.tree.flatten(list(values))
    return jax.tree.unflatten(structure, primitive.bind(*leaves, **params))


@register(lax.gather_p)
def gather(primitive: Primitive, values: Any, params: Any) -> Tangent:
    # beyond the bounds, a tangent is 0 whatever the fill value of the primal
    tangent, indices = values
    if not isinstance(tangent, Tangent):
        refuse(primitive, "not an index")
    params = {**params, "fill_value": 0}

    def take(leaf: Any) -> Any:
        return primitive.bind(leaf, indices, **params)

    return each_term(tangent, take, take)


def _pair_up(tangents: Sequence[Tangent]) -> list[tuple[list[Any], list[Any] | None]]:
    """Terms of several tangents side by side: for each, coefficients and exponents (None: all 0)."""
    count = max(len(t.coefficients) for t in tangents)
    pairs: list[tuple[list[Any], list[Any] | None]] = []
    for i in range(count):
        terms = [
            t.terms[i] if i < len(t.coefficients) else (jnp.zeros_like(t.coefficients[0]), None)
            for t in tangents
        ]
        ks: list[Any] | None = None
        if any(k is not None for _, k in terms):
            ks = [jnp.zeros(jnp.shape(c), np.int32) if k is None else k for c, k in terms]
        pairs.append(([c for c, _ in terms], ks))
    return pairs


def _together(positions: Callable[[int], Sequence[int]]) -> Callable[..., Any]:
    """A movement of elements of several operands, those at the given positions."""

    def rule(primitive: Primitive, values: Any, params: Any) -> Tangent:
        where = positions(len(values))
        if any(isinstance(x, Tangent) for i, x in enumerate(values) if i not in where):
            refuse(primitive, "not an index or a predicate")

        def bind(parts: list[Any]) -> Any:
            operands = list(values)
            for i, part in zip(where, parts, strict=True):
                operands[i] = part
            return primitive.bind(*operands, **params)

        pairs = _pair_up([lift(values[i]) for i in where])
        exponents = [None if ks is None else bind(ks) for _, ks in pairs]
        return Tangent([bind(cs) for cs, _ in pairs], exponents)

    return rule


register(lax.select_n_p)(_together(lambda n: range(1, n)))
register(lax.concatenate_p, *if_present("stack"), lax.pad_p)(_together(range))
register(lax.dynamic_update_slice_p)(_together(lambda n: (0, 1)))
register(lax.scatter_p)(_together(lambda n: (0, 2)))
