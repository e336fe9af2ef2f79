"""Scatters that combine: log-space sums, products and extrema at indexed places."""

from typing import Any

import jax
from jax import lax

from .. import _numerics as num
from .._numerics import Scaled
from .registering import operands


def _scatter(function: Any, indices: Any, params: dict[str, Any]) -> Any:
    options = {k: params[k] for k in ("unique_indices", "indices_are_sorted", "mode")}

    def apply(operand: jax.Array, updates: jax.Array) -> jax.Array:
        return function(operand, indices, updates, params["dimension_numbers"], **options)

    return apply


@operands(lax.scatter_add_p, values=(0, 2), count=3)
def scatter_add(x: Scaled, indices: Any, updates: Scaled, **params: Any) -> Scaled:
    return num.scatter_add(
        x,
        updates,
        _scatter(lax.scatter_add, indices, params),
        _scatter(lax.scatter_max, indices, params),
    )


@operands(lax.scatter_sub_p, values=(0, 2), count=3)
def scatter_sub(x: Scaled, indices: Any, updates: Scaled, **params: Any) -> Scaled:
    return scatter_add(x, indices, num.negative(updates), **params)


@operands(lax.scatter_mul_p, values=(0, 2), count=3)
def scatter_mul(x: Scaled, indices: Any, updates: Scaled, **params: Any) -> Scaled:
    return _combine(num.multiply, x, indices, updates, params)


@operands(lax.scatter_max_p, values=(0, 2), count=3)
def scatter_max(x: Scaled, indices: Any, updates: Scaled, **params: Any) -> Scaled:
    return _combine(num.maximum, x, indices, updates, params)


@operands(lax.scatter_min_p, values=(0, 2), count=3)
def scatter_min(x: Scaled, indices: Any, updates: Scaled, **params: Any) -> Scaled:
    return _combine(num.minimum, x, indices, updates, params)


def _combine(
    combine: Any, x: Scaled, indices: Any, updates: Scaled, params: dict[str, Any]
) -> Scaled:
    return num.scatter_combine(combine, x, updates, _scatter(lax.scatter_add, indices, params))
