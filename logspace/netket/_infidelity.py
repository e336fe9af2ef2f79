"""The infidelity of two states in the psi domain.

    I = 1 - <psi|phi><phi|psi> / (<psi|psi><phi|phi>) = 1 + <psi|H|psi> / <psi|psi>,
    H = -|phi><phi| / <phi|phi>

With A = <psi|phi> / <psi|psi> from samples of psi and B = <phi|psi> / <phi|phi> from those of phi,
(H psi)(x) = -phi(x) B and the fidelity is A B; forces and steps are those of the operator H. No
control variate is used: its usual form assumes that psi vanishes nowhere where phi does not.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from netket.vqs import expect, expect_and_grad

import logspace as ls
import logspace.numpy as lnp

from . import _kernels as kernels
from ._expect import _require_immutable
from ._operators import check_space
from ._private import nk
from ._state import FullSumState, MCState, _LogArrayState

InfidelityOperator = nk.observable.InfidelityOperator


def _amplitude(state: Any, sigma: jax.Array) -> ls.LogArray:
    """psi of any state at configurations (samples, sites); of NetKet's by exp(log psi)."""
    if isinstance(state, _LogArrayState):
        return state.amplitude(sigma)
    return ls.exp(state.log_value(sigma))


def _target_rows(state: Any) -> tuple[jax.Array, Any, bool]:
    """Configurations of the target, their density (None: |phi|^2), whether they are all of them."""
    if isinstance(state, nk.vqs.FullSumState):
        return jnp.asarray(state.hilbert.all_states()), None, True
    if isinstance(state, MCState):
        samples, density = state.covering_samples()
    else:
        samples, density = state.samples, None
    return samples.reshape(-1, samples.shape[-1]), density, False


@partial(jax.jit, static_argnames="full")
def _overlap(
    phi: ls.LogArray, psi: ls.LogArray, density: Any, unit: ls.LogArray, full: bool
) -> tuple[jax.Array, jax.Array]:
    """phi / scale and psi * unit / scale where the target sums; plain."""
    scale = kernels.full_scale(phi) if full else kernels.sampled_scale(phi, density)
    return (phi / scale).to_linear(), (psi * unit / scale).to_linear()


@jax.jit
def _unit(phi: ls.LogArray, psi: ls.LogArray) -> ls.LogArray:
    """A number of the size of phi / psi, which cancels in A B."""
    ratio = ls.abs2(phi).mean() / ls.abs2(psi).mean()
    usable = (ls.abs2(psi) != 0).any() & (ratio != 0)
    return lnp.where(usable, lnp.sqrt(ratio), ls.ones_like(ratio))


@partial(jax.jit, static_argnames="dtype")
def _scaled(phi: ls.LogArray, unit: ls.LogArray, augmented: jax.Array, dtype: Any) -> jax.Array:
    _, scale = kernels.split(augmented, dtype)
    return (phi / unit / scale).to_linear()


def infidelity_rows(state: Any, target: Any) -> tuple[kernels.Rows, Any]:
    """The rows of H, and `netket.stats.Stats` of the infidelity."""
    check_space(state.hilbert, target)
    rows = state.rows()
    dtype = jnp.dtype(state._configurations_dtype)
    sigma, _ = kernels.split(rows.augmented, dtype)
    configurations, density, full = _target_rows(target)
    phi = _amplitude(target, configurations)
    psi = state.amplitude(configurations)
    unit = _unit(phi, psi)
    b, g = _overlap(phi, psi, density, unit, full)
    overlap = kernels.mean_of(b, g)
    f = _scaled(_amplitude(target, sigma), unit, rows.augmented, dtype)
    rows = rows._replace(h=-f * overlap)
    shape = None if isinstance(state, FullSumState) else state.samples.shape[:-1]
    target_shape = None if full else target.samples.shape[:-1]
    return rows, _stats(rows.a, rows.h, b, g, shape, target_shape)


@partial(jax.jit, static_argnames=("shape", "target_shape"))
def _stats(a: Any, h: Any, b: Any, g: Any, shape: Any, target_shape: Any) -> Any:
    """Both sums scatter, independently of each other."""
    mean = 1 + kernels.mean_of(a, h).real
    overlap = kernels.mean_of(b, g)
    error, stats = jnp.zeros_like(mean), None
    if shape is not None:
        stats = nk.stats.statistics(1 + kernels.influence(a, h).real.reshape(shape))
        error = jnp.hypot(error, stats.error_of_mean)
    if target_shape is not None:
        # of A B in B, with A = (mean - 1) / -B
        terms = (kernels.influence(b, g) / overlap * (1 - mean)).real.reshape(target_shape)
        other = nk.stats.statistics(terms)
        error = jnp.hypot(error, other.error_of_mean)
        stats = other if stats is None else stats
    if stats is None:
        return nk.stats.Stats(mean=mean, error_of_mean=0.0, variance=0.0)
    return stats.replace(mean=mean, error_of_mean=error)


def _gradient(state: Any, operator: Any, mutable: Any) -> tuple[Any, Any]:
    _require_immutable(mutable)
    rows, stats = infidelity_rows(state, operator.target_state)
    force = kernels.forces(
        state.ratio_function, state.parameters, state.model_state, rows, state.chunk_size
    )
    return stats, kernels.to_gradient(force, state.parameters)


@expect.dispatch(precedence=1)
def _(state: FullSumState, operator: InfidelityOperator):  # noqa: F811
    return infidelity_rows(state, operator.target_state)[1]


@expect.dispatch(precedence=1)
def _(state: MCState, operator: InfidelityOperator, chunk_size: Any):  # noqa: F811
    return infidelity_rows(state, operator.target_state)[1]


@expect_and_grad.dispatch(precedence=1)
def _(state: FullSumState, operator: InfidelityOperator, *, mutable: Any = False):  # noqa: F811
    return _gradient(state, operator, mutable)


@expect_and_grad.dispatch(precedence=1)
def _(  # noqa: F811
    state: MCState, operator: InfidelityOperator, chunk_size: Any, *, mutable: Any = False
):
    return _gradient(state, operator, mutable)
