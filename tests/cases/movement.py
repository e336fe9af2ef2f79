"""Rows for elements that are moved, selected or passed on."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

from .case import Case, Fixed, Number

_N = Number((2, 3))
_I = np.int32


def _row(name, primitive, call, *operands, **options):
    return Case(name, primitive, call, operands, "movement", ulps=0, **options)


def _gather(mode, fill=None):
    def call(x, i):
        return x.at[i, :2].get(mode=mode, fill_value=fill)

    return call


def _scatter(mode):
    def call(x, i, u):
        return x.at[i].set(u, mode=mode)

    return call


_sharding = jax.device_put(0.0, jax.devices()[0]).sharding

ROWS = [
    _row("transpose", "transpose", lambda x: lax.transpose(x, (1, 0)), _N),
    _row("squeeze", "squeeze", lambda x: lax.squeeze(x, (1,)), Number((3, 1))),
    _row("rev", "rev", lambda x: lax.rev(x, (0, 1)), _N),
    _row("slice", "slice", lambda x: lax.slice(x, (0, 1), (2, 3), (1, 2)), _N),
    _row("split", "split", lambda x: lax.split(x, (1, 2), axis=1), _N),
    _row("tile", "tile", lambda x: lax.tile(x, (2, 1)), _N),
    _row("unstack", "unstack", lambda x: lax.unstack_p.bind(x, axis=0), _N),
    _row("reshape", "reshape", lambda x: lax.reshape(x, (3, 2)), _N),
    _row(
        "reshape_scalar", "reshape", lambda x: lax.reshape(x, (1, 1)), Number(())
    ),
    _row(
        "broadcast_in_dim",
        "broadcast_in_dim",
        lambda x: lax.broadcast_in_dim(x, (2, 4, 3), (0, 2)),
        _N,
    ),
    _row(
        "dynamic_slice",
        "dynamic_slice",
        lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 2)),
        _N,
        Fixed(_I(0)),
        Fixed(_I(1)),
    ),
    _row(
        "dynamic_update_slice",
        "dynamic_update_slice",
        lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)),
        _N,
        Number((1, 2)),
        Fixed(_I(1)),
        Fixed(_I(1)),
    ),
    _row("pad", "pad", lambda x, v: lax.pad(x, v, ((1, 0, 1), (-1, 2, 0))), _N, Number(())),
    _row(
        "concatenate_last_position",
        "concatenate",
        lambda x, y, z: lax.concatenate([x, y, z], 1),
        _N,
        Number((2, 1)),
        Number((2, 2)),
    ),
    _row("stack", "stack", lambda x, y: lax.stack_p.bind(x, y, axis=1), _N, _N),
    _row("copy", "copy", lambda x: lax.copy_p.bind(x), _N),
    _row("stop_gradient", "stop_gradient", lambda x: lax.stop_gradient_p.bind(x), _N, order=0,
         reason="bound directly; lax.stop_gradient is a custom derivative around the identity"),
    _row("optimization_barrier", "optimization_barrier",
         lambda x, y: lax.optimization_barrier((x, y)), _N, _N),
    _row("sharding_constraint", "sharding_constraint",
         lambda x: lax.with_sharding_constraint(x, _sharding), _N),
    _row("device_put", "device_put", lambda x: jax.device_put(x, _sharding), _N),
    _row("name", "name", lambda x: checkpoint_name(x, "here"), _N),
    _row("select_n_bool", "select_n", lambda p, x, y: lax.select_n(p, x, y),
         Fixed(np.array([[True, False, True], [False, True, True]])), _N, _N),
    _row("select_n_scalar", "select_n", lambda p, x, y: lax.select_n(p, x, y),
         Fixed(np.array(True)), _N, _N),
    _row("select_n_int", "select_n", lambda p, x, y, z: lax.select_n(p, x, y, z),
         Fixed(np.array([[0, 1, 2], [2, 1, 0]], _I)), _N, _N, _N),
    _row("where", "select_n", lambda p, x: jnp.where(p, x, 0.0),
         Fixed(np.array([True, False, True])), _N),
    _row("gather_fill", "gather", _gather("fill", 3.0),
         Number((3, 3)), Fixed(np.array([2, 0, 2, 7], _I))),
    _row("gather_fill_default", "gather", _gather("fill"),
         Number((3, 3)), Fixed(np.array([2, 0, 5], _I)), order=0,
         reason="the default fill is nan"),
    _row("gather_clip", "gather", _gather("clip"),
         Number((3, 3)), Fixed(np.array([2, 0, 9, -1], _I))),
    _row("gather_in_bounds", "gather", _gather("promise_in_bounds"),
         Number((3, 3)), Fixed(np.array([[1, 1], [0, 2]], _I))),
    _row("take_along_axis", "gather", lambda x, i: jnp.take_along_axis(x, i, 1),
         _N, Fixed(np.array([[2], [1]], _I))),
    _row("scatter_drop", "scatter", _scatter("drop"),
         Number((3, 2)), Fixed(np.array([2, 7, 0], _I)), Number((3, 2))),
    _row("scatter_clip", "scatter", _scatter("clip"),
         Number((3, 2)), Fixed(np.array([1, 9], _I)), Number((2, 2))),
    _row("scatter_in_bounds", "scatter", _scatter("promise_in_bounds"),
         Number((3, 2)), Fixed(np.array([1, 0], _I)), Number((2, 2))),
]  # fmt: skip
