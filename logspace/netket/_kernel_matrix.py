"""The step of minSR with a kernel matrix (NTK) whose rows of d psi are not all stored.

    T = D D^T,    (T + shift) x = residual,    step = D^T x

with the centred real rows D of `_drivers._linear_problem`. Rows are made in chunks, as often as
there are chunks: the memory is that of two chunks, samples^2 for T, and the parameters.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec

from . import _kernels as kernels
from ._private import nk, nkjax


def _real_parts(value: jax.Array, mode: str) -> jax.Array:
    """(samples,) as the components of the linear problem: (samples, 1), or (samples, 2)."""
    if mode == "real":
        return value.real[:, None]
    return jnp.stack([value.real, jnp.imag(value)], -1)


def _join(parts: jax.Array) -> jax.Array:
    """The inverse of `_real_parts`."""
    return parts[:, 0] if parts.shape[1] == 1 else jax.lax.complex(parts[:, 0], parts[:, 1])


def _padded(rows: kernels.Rows, chunk: int, times: int) -> tuple[jax.Array, jax.Array]:
    """Configurations and amplitudes, repeated to a number of samples that chunks divide."""
    size = rows.a.shape[0]
    extra = -size % (chunk * times)
    index = jnp.arange(size + extra) % size
    return rows.augmented[index], rows.a[index]


@partial(jax.jit, static_argnames=("function", "mode", "chunk"))
def _kernel(
    function: Any, parameters: Any, model_state: Any, rows: kernels.Rows, mode: str, chunk: int
) -> jax.Array:
    """T, (components, components); with samples sharded over the devices, so are its rows."""
    real, restore = nkjax.tree_to_real(parameters)

    def components(w: Any, augmented: jax.Array) -> jax.Array:
        variables = {"params": restore(w), **model_state}
        return _real_parts(function(variables, augmented[None]), mode)[0]

    # c = sum conj(a) d, so that d - a c are the centred rows. Both of its parts.
    def overlap(w: Any) -> jax.Array:
        value = function({"params": restore(w), **model_state}, rows.augmented)
        return _real_parts((rows.a.conj() * value).sum()[None], mode)[0]

    mean = jax.jacrev(overlap)(real)

    def chunk_of_rows(samples: Any, w: Any, centre: Any) -> Any:
        """Leaves (chunk * components, parameters of the leaf)."""
        augmented, a = samples
        jacobian = jax.vmap(jax.jacrev(components), in_axes=(None, 0))(w, augmented)

        def of(d: jax.Array, c: jax.Array) -> jax.Array:
            d, c = d.reshape(*d.shape[:2], -1), c.reshape(c.shape[0], -1)
            re, im = a.real[:, None], jnp.imag(a)[:, None]
            if mode == "real":
                shift = re[..., None] * c
            else:
                shift = jnp.stack([re * c[0] - im * c[1], re * c[1] + im * c[0]], 1)
            return (d - shift).reshape(-1, d.shape[-1])

        return jax.tree.map(of, jacobian, centre)

    def products(mine: Any, all_rows: Any, w: Any, centre: Any) -> jax.Array:
        """(mine, all): products of rows, both in chunks."""

        def of_chunk(first: Any) -> jax.Array:
            left = chunk_of_rows(first, w, centre)

            def with_chunk(second: Any) -> jax.Array:
                right = chunk_of_rows(second, w, centre)
                each = jax.tree.map(lambda x, y: x @ y.T, left, right)
                return sum(jax.tree.leaves(each))  # type: ignore[return-value]

            blocks = jax.lax.map(with_chunk, all_rows)
            return jnp.moveaxis(blocks, 0, 1).reshape(blocks.shape[1], -1)

        return jnp.concatenate(jax.lax.map(of_chunk, mine))

    def chunked(x: jax.Array) -> jax.Array:
        return x.reshape(-1, chunk, *x.shape[1:])

    size = rows.a.shape[0]
    if nk.config.netket_sharding and jax.device_count() > 1:
        augmented, a = _padded(rows, chunk, jax.device_count())
        split = PartitionSpec("S")
        products = jax.shard_map(
            products,
            mesh=jax.sharding.get_abstract_mesh(),
            in_specs=(split, PartitionSpec(), PartitionSpec(), PartitionSpec()),
            out_specs=split,
            check_vma=False,
        )
    else:
        augmented, a = _padded(rows, chunk, 1)
    blocks = chunked(augmented), chunked(a)
    width = size * (1 if mode == "real" else 2)
    return products(blocks, blocks, real, mean)[:width, :width]


@partial(jax.jit, static_argnames=("function", "mode", "chunk"))
def _right_hand_side(
    function: Any,
    parameters: Any,
    model_state: Any,
    rows: kernels.Rows,
    momentum: Any,
    old: Any,
    mode: str,
    chunk: int,
) -> jax.Array:
    residual = 2 * (rows.h - kernels.mean_of(rows.a, rows.h) * rows.a)
    if momentum is not None:

        def along(w: Any, tangent: Any, augmented: jax.Array) -> jax.Array:
            def ratio(p: Any) -> jax.Array:
                return function({"params": p, **model_state}, augmented)

            return jax.jvp(ratio, (w,), (tangent,))[1]

        derivative = nkjax.apply_chunked(along, in_axes=(None, None, 0), chunk_size=chunk)
        d = derivative(parameters, old, rows.augmented)
        residual = residual - momentum * (d - rows.a * kernels.mean_of(rows.a, d))
    return _real_parts(residual, mode).reshape(-1)


def update(
    function: Any,
    parameters: Any,
    model_state: Any,
    rows: kernels.Rows,
    *,
    diag_shift: Any,
    solver: Any,
    mode: str,
    proj_reg: Any,
    momentum: Any,
    old: Any,
    chunk: int | None,
) -> tuple[Any, Any, Any]:
    """The step, what the next one takes as `old`, and the solver's information.

    `chunk` rows at a time; all samples by default. Steps are trees like the parameters; `old` is the
    step itself if there is momentum.
    """
    chunk = min(chunk or rows.a.shape[0], rows.a.shape[0])
    matrix = _kernel(function, parameters, model_state, rows, mode, chunk)
    residual = _right_hand_side(function, parameters, model_state, rows, momentum, old, mode, chunk)
    solution, information = _solve(matrix, residual, diag_shift, proj_reg, solver)
    x = _join(solution.reshape(rows.a.shape[0], -1))
    x = x - rows.a * kernels.mean_of(rows.a, x)
    step = kernels.pull_back(function, parameters, model_state, rows.augmented, x, chunk)
    # Half a gradient: the factor 2 is in the residual.
    step = jax.tree.map(lambda g: g / 2, kernels.to_gradient(step, parameters))
    if momentum is None:
        return step, old, information
    step = jax.tree.map(lambda s, o: s + momentum * o, step, old)
    return step, step, information


@partial(jax.jit, static_argnames="solver")
def _solve(matrix: jax.Array, residual: jax.Array, shift: Any, proj_reg: Any, solver: Any) -> Any:
    size = residual.shape[0]
    matrix = matrix + shift * jnp.eye(size, dtype=matrix.dtype)
    if proj_reg is not None:
        matrix = matrix + proj_reg / size
    found = solver(matrix, residual)
    solution, information = found if isinstance(found, tuple) else (found, None)
    return solution.reshape(-1), {} if information is None else information
