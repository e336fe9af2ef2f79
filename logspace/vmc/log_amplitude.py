"""Variational Monte Carlo as it is usually written: complex log-amplitudes and samples of |psi|^2.

Here for comparison with `logspace.vmc.estimators`; plain JAX, no LogArrays. psi is kept as log psi,
connected amplitudes enter as exp(log psi' - log psi), and the gradient is the covariance of
d log psi with the local energy,

    F = < conj(O - <O>) (E_loc - <E_loc>) >
    O = d log psi / d theta,    E_loc = sum_m H_m exp(log psi_m - log psi).

This is right where psi is not 0. On the nodes log psi is -inf and O does not exist; |psi|^2 never
samples them, and their part of F, conj(d psi) H psi, is missing.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from .estimators import Estimate, Forces, standard_error
from .operators import Operator
from .sampler import Move

LogAmplitude = Callable[[jax.Array, jax.Array], jax.Array]


def log_sum_exp(coefficients: jax.Array, logarithms: jax.Array) -> jax.Array:
    """``log(sum_g coefficient_g exp(logarithm_g))``, complex, shifted by the maximum."""
    shift = jax.lax.stop_gradient(logarithms.max())
    total = (coefficients * jnp.exp(logarithms - shift)).sum()
    return shift + jnp.log(total.astype(jnp.result_type(total, jnp.complex64)))


class LogChains(NamedTuple):
    """Markov chains: configurations (chains, sites) and log psi there, (chains,), complex."""

    configurations: jax.Array
    log_psi: jax.Array


def log_metropolis(
    key: jax.Array,
    log_amplitude: Callable[[jax.Array], jax.Array],
    move: Move,
    configurations: jax.Array,
    samples: int,
    thin: int = 1,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Samples of |psi|^2: a move is accepted where log(uniform) < 2 Re(log psi' - log psi).

    From configurations (chains, sites). Returns the last ones, the samples (chains, samples,
    sites), one every `thin` moves, and the accepted fraction. On a node -inf + inf is nan and
    compares as false.
    """
    count = configurations.shape[0]

    def step(state: LogChains, key: jax.Array) -> tuple[LogChains, jax.Array]:
        move_key, accept_key = jax.random.split(key)
        proposed = jax.vmap(move)(jax.random.split(move_key, count), state.configurations)
        new = jax.vmap(log_amplitude)(proposed)
        log_ratio = 2 * (new - state.log_psi).real
        accept = jnp.log(jax.random.uniform(accept_key, (count,))) < log_ratio
        moved = jnp.where(accept[:, None], proposed, state.configurations)
        return LogChains(moved, jnp.where(accept, new, state.log_psi)), accept.mean()

    def one(state: LogChains, key: jax.Array) -> tuple[LogChains, tuple[jax.Array, jax.Array]]:
        state, accepted = jax.lax.scan(step, state, jax.random.split(key, thin))
        return state, (state.configurations, accepted.mean())

    start = LogChains(configurations, jax.vmap(log_amplitude)(configurations))
    chains, (drawn, accepted) = jax.lax.scan(one, start, jax.random.split(key, samples))
    return chains.configurations, jnp.swapaxes(drawn, 0, 1), accepted.mean()


class LogEvaluation(NamedTuple):
    """At configurations (...): log psi (...), local energies (...), d log psi (..., parameters)."""

    log_psi: jax.Array
    local_energies: jax.Array
    slopes: jax.Array


def log_evaluate(
    log_amplitude: LogAmplitude,
    parameters: jax.Array,
    operator: Operator,
    configurations: jax.Array,
) -> LogEvaluation:
    """Local energies and logarithmic derivatives at configurations (..., sites).

    `log_amplitude(parameters, sigma)` is a complex scalar, `parameters` a real vector. inf or nan
    at nodes.
    """

    def one(sigma: jax.Array) -> LogEvaluation:
        connected, elements = operator.connected(sigma)
        log_psi = jax.vmap(log_amplitude, (None, 0))(parameters, connected)
        slopes = jax.jacrev(lambda p: _parts(log_amplitude(p, sigma)))(parameters)
        energy = (elements * jnp.exp(log_psi - log_psi[0])).sum()
        return LogEvaluation(log_psi[0], energy, slopes[0] + 1j * slopes[1])

    flat = jax.vmap(one)(configurations.reshape(-1, configurations.shape[-1]))
    batch = configurations.shape[:-1]
    return jax.tree.map(lambda leaf: leaf.reshape(*batch, *leaf.shape[1:]), flat)


def log_estimates(evaluation: LogEvaluation) -> tuple[Estimate, Forces, jax.Array]:
    """Energy, forces and metric from samples (chains, samples) of |psi|^2."""
    _, energies, slopes = evaluation
    mean = energies.mean()
    residual = energies - mean
    variance = jnp.square(jnp.abs(residual)).mean()
    size = jnp.full((), energies.size, variance.dtype)
    energy = Estimate(mean, standard_error(residual), variance, size)
    centred = slopes - slopes.mean((0, 1))
    terms = centred.conj() * residual[..., None]
    force = Forces(terms.mean((0, 1)), standard_error(terms))
    rows = centred.reshape(-1, centred.shape[-1])
    return energy, force, rows.conj().T @ rows / rows.shape[0]


def _parts(z: jax.Array) -> jax.Array:
    return jnp.stack([z.real, z.imag])
