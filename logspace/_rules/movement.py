"""Elements moved, selected or passed on: significands and exponents alike.

Nothing is computed, so values and derivatives at zero are those of the elements. Operands that hold
indices or predicates are plain. Parameters that hold a value (the fill value of `gather`) apply to
the significand; the exponent is then 0.
"""

from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import Primitive

from .. import _numerics as num
from .._errors import MaterialiseError
from .._numerics import Scaled
from .catalogue import if_present
from .registering import each_leaf, independent, operands


def _same_movement(primitive: Primitive, values: tuple[int, ...] | None, count: int | None) -> None:
    def move(*args: Any, **params: Any) -> Any:
        numbers = [x for x in args if isinstance(x, Scaled)]

        def on_leaves(*leaves: Any) -> Any:
            remaining = iter(leaves)
            full = [next(remaining) if isinstance(x, Scaled) else x for x in args]
            return primitive.bind(*full, **params)

        return each_leaf(on_leaves, *numbers)

    move.__name__ = primitive.name
    operands(primitive, values, count)(move)


# primitive, positions that hold numbers, number of operands
for _primitive, _values, _count in [
    (lax.transpose_p, (0,), 1),
    (lax.squeeze_p, (0,), 1),
    (lax.rev_p, (0,), 1),
    (lax.slice_p, (0,), 1),
    (lax.split_p, (0,), 1),
    (lax.tile_p, (0,), 1),
    (lax.unstack_p, (0,), 1),
    (lax.reshape_p, (0,), None),
    (lax.broadcast_in_dim_p, (0,), None),
    (lax.dynamic_slice_p, (0,), None),
    (lax.dynamic_update_slice_p, (0, 1), None),
    (lax.concatenate_p, None, None),
    (lax.stack_p, None, None),
]:
    _same_movement(_primitive, _values, _count)

independent(
    lax.copy_p,
    lax.stop_gradient_p,
    lax.sharding_constraint_p,
    lax.optimization_barrier_p,
    lax.all_gather_p,
    lax.all_to_all_p,
    lax.ppermute_p,
    *if_present("name", "pvary", "all_gather_invariant"),
    family="movement",
)
independent(lax.device_put_p, family="movement", per_operand=("devices", "srcs", "copy_semantics"))


def pad_number(x: Scaled, value: Scaled, config: Any) -> Scaled:
    """x with a scalar number around and between its elements.

    The derivative rule of `lax.pad` gives the padding value the sum of all cotangents minus those
    of the elements. At elements of another scale the difference cancels to a wrong number, or to
    inf - inf. So constants are padded, and the value is selected where they stand.
    """
    inside = lax.pad(lax.full_like(x.exponent, 1), np.int32(0), config)
    inside = lax.eq(inside, lax.full_like(inside, 1))

    def place(leaf: jax.Array, fill: jax.Array) -> jax.Array:
        padded = lax.pad(leaf, np.zeros((), leaf.dtype), config)
        return lax.select(inside, padded, lax.broadcast(fill, padded.shape))

    return each_leaf(place, x, value)


@operands(lax.pad_p, values=(0, 1), count=2)
def pad(x: Scaled, value: Scaled, *, padding_config: Any) -> Scaled:
    return pad_number(x, value, padding_config)


@operands(lax.select_n_p, values=range(1, 10**6))
def select_n(which: jax.Array, *cases: Scaled) -> Scaled:
    return each_leaf(lambda *leaves: lax.select_n(which, *leaves), *cases)


@operands(lax.gather_p, values=(0,), count=2)
def gather(x: Scaled, indices: jax.Array, *, fill_value: Any = None, **params: Any) -> Scaled:
    options = {k: params[k] for k in ("unique_indices", "indices_are_sorted", "mode")}

    def take(leaf: jax.Array, fill: Any) -> jax.Array:
        return lax.gather(
            leaf,
            indices,
            params["dimension_numbers"],
            params["slice_sizes"],
            fill_value=fill,
            **options,
        )

    return num.tidy(take(x.significand, fill_value), take(x.exponent, 0))


@operands(lax.scatter_p, values=(0, 2), count=3)
def scatter(x: Scaled, indices: jax.Array, updates: Scaled, **params: Any) -> Scaled:
    if params.get("update_jaxpr") is not None:
        raise MaterialiseError(
            "A scatter with an update function (x.at[i].apply(f)) has no rule for a LogArray. Write "
            "x.at[i].set(f(x[i])), if no index is repeated."
        )
    options = {k: params[k] for k in ("unique_indices", "indices_are_sorted", "mode")}

    def put(leaf: jax.Array, update: jax.Array) -> jax.Array:
        return lax.scatter(leaf, indices, update, params["dimension_numbers"], **options)

    return each_leaf(put, x, updates)
