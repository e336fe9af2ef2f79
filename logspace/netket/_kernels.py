"""Sums over configurations, never divided by psi.

Everything is expressed by the ratio a = psi / scale with a constant positive `scale` for every
configuration, such that the sum of |a|^2 is 1:

    scale(x)^2 = q(x) * sum_y |psi(y)|^2 / q(y)

for configurations y drawn from q, and scale^2 = sum |psi|^2 for a sum over all of them (q
constant). With h = (H psi) / scale and d = (d psi) / scale,

    E = sum conj(a) h,    F = sum conj(d) (h - E a),    S = sum conj(d) d - |sum conj(a) d|^2.

a, h and d are of order one or bounded by what they are, and leave log space as plain arrays;
`jax` differentiates a(parameters) like any other function, with the right derivative where it is 0.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import logspace as ls
import logspace.numpy as lnp
from logspace._log_array import wrap
from logspace._numerics import Scaled

from ._model import Amplitude
from ._operators import apply_rows
from ._private import nk, nkjax


class Rows(NamedTuple):
    """Configurations and what was computed there: all that a sum needs.

    - `augmented` (samples, sites + 2): configurations with their scale, see `augment`.
    - `a` (samples,): psi / scale. `h` (samples,): (H psi) / scale, where an operator was given.
    """

    augmented: jax.Array
    a: jax.Array
    h: Any = None


def amplitudes(model: Amplitude, variables: Any, sigma: jax.Array, chunk: int | None) -> Any:
    """psi at configurations (samples, sites), in chunks."""
    # A batch that the devices do not divide evenly, such as a single configuration, stays whole.
    sharded = nk.config.netket_sharding and sigma.shape[0] % jax.device_count() == 0
    evaluate = nkjax.apply_chunked(
        model.psi, in_axes=(None, 0), chunk_size=chunk, axis_0_is_sharded=sharded
    )
    return evaluate(variables, sigma)


def augment(sigma: jax.Array, scale: ls.LogArray) -> jax.Array:
    """Configurations with the two parts of their scale as two more columns.

    NetKet's Jacobian and its chunked pullbacks take configurations and nothing else. Integers up to
    2**24 (float64: 2**53) are exact in a float, so that the scale is.
    """
    parts = jnp.stack([scale._significand, scale._exponent.astype(scale.dtype)], -1)
    dtype = jnp.promote_types(sigma.dtype, scale.dtype)
    return jnp.concatenate([sigma.astype(dtype), parts.astype(dtype)], -1)


def split(augmented: jax.Array, dtype: Any) -> tuple[jax.Array, ls.LogArray]:
    """Configurations of the dtype that the model expects, and their scales."""
    scale = Scaled(augmented[..., -2], augmented[..., -1].astype(jnp.int32))
    return augmented[..., :-2].astype(dtype), wrap(scale)


def _ratio(model: Amplitude, dtype: Any, variables: Any, augmented: jax.Array) -> jax.Array:
    flat = augmented.reshape(-1, augmented.shape[-1])
    sigma, scale = split(flat, dtype)
    return (model.psi(variables, sigma) / scale).to_linear().reshape(augmented.shape[:-1])


def _to_complex(function: Any, variables: Any, augmented: jax.Array) -> jax.Array:
    a = function(variables, augmented)
    return a.astype(jnp.promote_types(a.dtype, jnp.complex64))


def ratio(model: Amplitude, dtype: Any) -> Any:
    """The function (variables, augmented) -> a, hashable."""
    return nkjax.HashablePartial(_ratio, model, jnp.dtype(dtype))


def sampled_scale(psi: ls.LogArray, density: ls.LogArray | None) -> ls.LogArray:
    """The scales of samples of a density, |psi|^2 if None; constants."""
    weights = ls.abs2(psi)
    if density is None:
        scale = lnp.sqrt(weights * psi.size)
    else:
        scale = lnp.sqrt(density * (weights / density).sum())
    return jax.lax.stop_gradient(scale)


def full_scale(psi: ls.LogArray) -> ls.LogArray:
    """The scale of a sum over all configurations, the same for each."""
    norm = lnp.sqrt(ls.abs2(psi).sum())
    return jax.lax.stop_gradient(norm * ls.ones_like(ls.abs2(psi)))


@partial(jax.jit, static_argnames=("model", "chunk", "full"))
def rows_of_states(
    model: Amplitude,
    variables: Any,
    sigma: jax.Array,
    density: Any,
    chunk: int | None,
    full: bool,
) -> Rows:
    """The rows without an operator; `sigma` (samples, sites)."""
    psi = amplitudes(model, variables, sigma, chunk)
    scale = full_scale(psi) if full else sampled_scale(psi, density)
    return Rows(augment(sigma, scale), (psi / scale).to_linear())


@partial(jax.jit, static_argnames=("model", "chunk", "kind"))
def sampled_rows(
    model: Amplitude,
    variables: Any,
    sigma: jax.Array,
    density: Any,
    kind: Any,
    arguments: Any,
    chunk: int | None,
) -> tuple[Rows, jax.Array]:
    """The rows with (H psi) / scale, and sum |H_xx'|^2 |psi_x|^2 over nodes x' next to samples x.

    The latter is an estimate of the weight sum |H psi|^2 on the nodes, over the norm.
    """
    psi = amplitudes(model, variables, sigma, chunk)
    scale = sampled_scale(psi, density)
    a = (psi / scale).to_linear()
    h, reached = apply_rows(kind, arguments, model, variables, sigma, scale, chunk)
    missed = (jnp.square(jnp.abs(a)) * reached).sum()
    return Rows(augment(sigma, scale), a, h), missed


def mean_of(a: jax.Array, h: jax.Array) -> jax.Array:
    return (a.conj() * h).sum()


def influence(a: jax.Array, h: jax.Array) -> jax.Array:
    """Terms with the mean E whose scatter is that of E, to first order in both of its sums."""
    mean = mean_of(a, h)
    return mean + a.size * a.conj() * (h - mean * a)


@partial(jax.jit, static_argnames="shape")
def sampled_stats(a: jax.Array, h: jax.Array, shape: tuple[int, ...]) -> Any:
    """`netket.stats.Stats` of samples (chains, samples of a chain)."""
    stats = nk.stats.statistics(influence(a, h).reshape(shape))
    return stats.replace(mean=mean_of(a, h), variance=_variance(a, h))


def _variance(a: jax.Array, h: jax.Array) -> jax.Array:
    return jnp.square(jnp.abs(h - mean_of(a, h) * a)).sum()


@jax.jit
def full_stats(a: jax.Array, h: jax.Array) -> Any:
    return nk.stats.Stats(mean=mean_of(a, h), error_of_mean=0.0, variance=_variance(a, h))


@partial(jax.jit, static_argnames=("function", "chunk"))
def pull_back(
    function: Any,
    parameters: Any,
    model_state: Any,
    augmented: jax.Array,
    residual: jax.Array,
    chunk: int | None,
) -> Any:
    """sum conj(d) residual, a tree like the parameters."""

    def of(w: Any, state: Any, rows: jax.Array) -> jax.Array:
        return function({"params": w, **state}, rows)

    if chunk is None:
        _, pullback = nkjax.vjp(lambda w: of(w, model_state, augmented), parameters, conjugate=True)
    else:
        pullback = nkjax.vjp_chunked(
            of,
            parameters,
            model_state,
            augmented,
            conjugate=True,
            chunk_size=chunk,
            chunk_argnums=2,
            nondiff_argnums=(1, 2),
        )
    return pullback(residual.conj())[0]


def forces(function: Any, parameters: Any, model_state: Any, rows: Rows, chunk: int | None) -> Any:
    """F = sum conj(d) (h - E a), a tree like the parameters."""
    residual = rows.h - mean_of(rows.a, rows.h) * rows.a
    return pull_back(function, parameters, model_state, rows.augmented, residual, chunk)


@jax.jit
def to_gradient(force: Any, parameters: Any) -> Any:
    """dE/dx + i dE/dy for parameters x + i y: 2 F, and 2 Re F where they are real."""

    def of(f: jax.Array, p: jax.Array) -> jax.Array:
        return 2 * (f if jnp.iscomplexobj(p) else f.real).astype(p.dtype)

    return jax.tree.map(of, force, parameters)


@partial(jax.jit, static_argnames="mode")
def centre(jacobian: Any, a: jax.Array, mode: str) -> Any:
    """d - a sum conj(a) d for rows of any structure.

    In mode "complex" the axis after that of samples holds real and imaginary parts.
    """

    def of(leaf: jax.Array) -> jax.Array:
        d = jax.lax.complex(leaf[:, 0], leaf[:, 1]) if mode == "complex" else leaf
        column = a.reshape(-1, *[1] * (d.ndim - 1))
        d = d - column * (column.conj() * d).sum(0)
        return jnp.stack([d.real, d.imag], 1) if mode == "complex" else d

    return jax.tree.map(of, jacobian)


def jacobian(
    function: Any,
    parameters: Any,
    model_state: Any,
    rows: Rows,
    mode: str,
    dense: bool,
    chunk: int | None,
) -> Any:
    """Centred rows d of NetKet's three modes, as its own Jacobian arranges them."""
    if mode == "complex" and not jnp.iscomplexobj(rows.a):
        function = nkjax.HashablePartial(_to_complex, function)
    d = nkjax.jacobian(
        function,
        parameters,
        rows.augmented,
        model_state,
        mode=mode,
        dense=dense,
        center=False,
        chunk_size=chunk,
    )
    return centre(d, rows.a, mode)
