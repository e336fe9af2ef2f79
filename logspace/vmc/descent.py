"""Variational Monte Carlo from parameters to a record of every step, in the two ways.

`descend` uses LogArray amplitudes and a density that covers nodes; `descend_log_amplitude` is the same
loop with complex log-amplitudes and samples of |psi|^2. Both are generators of `Step`s, which the caller
prints, plots, or stops.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

import logspace as ls

from . import log_amplitude as usual
from .estimators import (
    Estimate,
    Evaluation,
    Forces,
    evaluate,
    expect,
    forces,
    quantum_geometric_tensor,
)
from .operators import Operator
from .optimise import stochastic_reconfiguration
from .sampler import (
    Density,
    Move,
    Samples,
    born_density,
    exchange_neighbours,
    random_configurations,
    residual_density,
    restart_chains,
    sample,
    start_chains,
)

Amplitude = Callable[[jax.Array, jax.Array], ls.LogArray]
Trainable = Callable[[int], jax.Array]


@dataclass(frozen=True)
class Settings:
    """How to sample and how to step; the same for both ways.

    - `chains` x `samples` configurations for each step, one every `thin` moves, after `burn_in` such
      batches at the start.
    - `rate`: the length of a step of stochastic reconfiguration, with `relative_shift` and `shift`.
    - `width_floor`: the density is |psi|^2 + |(H - E) psi|^2 / width^2 with width^2 = variance +
      (width_floor * E)^2, E and variance from the step before. The floor limits what an
      underestimated variance can do to the density.
    - `magnetisation` of the configurations that chains start from, and the `move` between configurations.
    """

    chains: int = 512
    samples: int = 2
    thin: int = 6
    burn_in: int = 60
    rate: float = 0.15
    relative_shift: float = 1e-3
    shift: float = 1e-4
    width_floor: float = 0.01
    magnetisation: int | None = 0
    move: Move = exchange_neighbours


class Step(NamedTuple):
    """One step: its estimates, at the parameters before the step."""

    parameters: jax.Array
    energy: Estimate
    forces: Forces
    acceptance: jax.Array
    configurations: jax.Array


class Walkers(NamedTuple):
    """Configurations (chains, sites) and the constants of the density that they follow."""

    configurations: jax.Array
    energy: jax.Array
    width: jax.Array

    def updated(self, configurations: jax.Array, energy: Estimate, floor: float) -> "Walkers":
        """The walkers moved, and the constants from a new estimate of the energy."""
        mean = energy.mean.real
        width = jnp.sqrt(energy.variance + jnp.square(floor * mean))
        return Walkers(configurations, mean, width)


def _density(
    amplitude: Amplitude, operator: Operator, parameters: jax.Array, walkers: Walkers
) -> Density:
    return residual_density(
        lambda sigma: amplitude(parameters, sigma), operator, walkers.energy, walkers.width
    )


@partial(jax.jit, static_argnames=("amplitude", "operator", "settings"))
def draw(
    key: jax.Array,
    amplitude: Amplitude,
    operator: Operator,
    parameters: jax.Array,
    walkers: Walkers,
    settings: Settings,
) -> tuple[jax.Array, Samples, jax.Array]:
    """Go on from the walkers: the last configurations, the samples, the accepted fraction."""
    density = _density(amplitude, operator, parameters, walkers)
    chains = restart_chains(density, walkers.configurations)
    chains, samples, accepted = sample(
        key, density, settings.move, chains, settings.samples, settings.thin
    )
    return chains.configurations, samples, accepted


@partial(jax.jit, static_argnames=("amplitude", "operator", "settings"))
def start_walkers(
    key: jax.Array,
    amplitude: Amplitude,
    operator: Operator,
    parameters: jax.Array,
    settings: Settings,
) -> Walkers:
    """Walkers on random configurations with psi != 0, as far as 16 tries each find one."""
    shape = (16, settings.chains)
    candidates = random_configurations(key, operator.sites, shape, settings.magnetisation)
    chains = start_chains(born_density(lambda sigma: amplitude(parameters, sigma)), candidates)
    scale = jnp.full((), operator.sites, parameters.dtype)
    return Walkers(chains.configurations, jnp.zeros_like(scale), scale)


_evaluate = jax.jit(evaluate, static_argnames=("amplitude", "operator"))


@partial(jax.jit, static_argnames=("settings",))
def _step(
    parameters: jax.Array,
    evaluation: Evaluation,
    density: ls.LogArray,
    trainable: jax.Array,
    settings: Settings,
) -> tuple[jax.Array, Estimate, Forces]:
    psi, h_psi, jacobian = evaluation
    force = forces(psi, h_psi, jacobian, density)
    metric = quantum_geometric_tensor(psi, jacobian, density)
    return (
        parameters + _update(metric, force, trainable, settings),
        expect(psi, h_psi, density),
        force,
    )


def _update(
    metric: jax.Array, force: Forces, trainable: jax.Array, settings: Settings
) -> jax.Array:
    return settings.rate * stochastic_reconfiguration(
        metric,
        force.mean,
        relative_shift=settings.relative_shift,
        shift=settings.shift,
        trainable=trainable,
    )


def _all(parameters: jax.Array) -> Trainable:
    return lambda step: jnp.ones(parameters.shape, bool)


def descend(
    key: jax.Array,
    amplitude: Amplitude,
    operator: Operator,
    parameters: jax.Array,
    steps: int,
    settings: Settings = Settings(),
    trainable: Trainable | None = None,
) -> Iterator[Step]:
    """Stochastic reconfiguration with amplitudes as LogArrays, right at nodes.

    `amplitude(parameters, sigma)` is a scalar LogArray, `parameters` a real vector, `trainable(step)`
    says which of them move (booleans; all by default). The estimates of a step are those at
    `Step.parameters`, before they move.
    """
    trainable = _all(parameters) if trainable is None else trainable
    key, start = jax.random.split(key)
    walkers = start_walkers(start, amplitude, operator, parameters, settings)
    for step in range(-settings.burn_in, steps):
        key, now = jax.random.split(key)
        configurations, samples, accepted = draw(
            now, amplitude, operator, parameters, walkers, settings
        )
        if step < 0:
            walkers = walkers._replace(configurations=configurations)
            continue
        evaluation = _evaluate(amplitude, parameters, operator, samples.configurations)
        updated, energy, force = _step(
            parameters, evaluation, samples.density, trainable(step), settings
        )
        yield Step(parameters, energy, force, accepted, configurations)
        walkers = walkers.updated(configurations, energy, settings.width_floor)
        parameters = updated


def sample_widely(
    key: jax.Array,
    amplitude: Amplitude,
    operator: Operator,
    parameters: jax.Array,
    walkers: Walkers,
    batches: int,
    settings: Settings = Settings(),
) -> tuple[Evaluation, ls.LogArray]:
    """Amplitudes and density on `batches` times the samples of a step, (chains, batches * samples).

    After as much burn-in as `descend` takes; the parameters stay as they are.
    """
    parts = []
    for batch in range(-settings.burn_in, batches):
        key, now = jax.random.split(key)
        configurations, samples, _ = draw(now, amplitude, operator, parameters, walkers, settings)
        walkers = walkers._replace(configurations=configurations)
        if batch >= 0:
            evaluation = _evaluate(amplitude, parameters, operator, samples.configurations)
            parts.append((evaluation, samples.density))
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves, 1), *parts)


@partial(jax.jit, static_argnames=("log_amplitude", "settings"))
def log_draw(
    key: jax.Array,
    log_amplitude: usual.LogAmplitude,
    parameters: jax.Array,
    configurations: jax.Array,
    settings: Settings,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """As `draw`, from |psi|^2 with complex log-amplitudes; the samples are configurations only."""
    return usual.log_metropolis(
        key,
        lambda sigma: log_amplitude(parameters, sigma),
        settings.move,
        configurations,
        settings.samples,
        settings.thin,
    )


_log_evaluate = jax.jit(usual.log_evaluate, static_argnames=("log_amplitude", "operator"))


@partial(jax.jit, static_argnames=("settings",))
def _log_step(
    parameters: jax.Array,
    evaluation: usual.LogEvaluation,
    trainable: jax.Array,
    settings: Settings,
) -> tuple[jax.Array, Estimate, Forces]:
    energy, force, metric = usual.log_estimates(evaluation)
    return parameters + _update(metric, force, trainable, settings), energy, force


def descend_log_amplitude(
    key: jax.Array,
    log_amplitude: usual.LogAmplitude,
    operator: Operator,
    parameters: jax.Array,
    steps: int,
    settings: Settings = Settings(),
    trainable: Trainable | None = None,
) -> Iterator[Step]:
    """The same loop with complex log-amplitudes: samples of |psi|^2 and the usual estimators."""
    trainable = _all(parameters) if trainable is None else trainable
    key, start = jax.random.split(key)
    shape = (settings.chains,)
    chains = random_configurations(start, operator.sites, shape, settings.magnetisation)
    for step in range(-settings.burn_in, steps):
        key, now = jax.random.split(key)
        chains, samples, accepted = log_draw(now, log_amplitude, parameters, chains, settings)
        if step < 0:
            continue
        evaluation = _log_evaluate(log_amplitude, parameters, operator, samples)
        updated, energy, force = _log_step(parameters, evaluation, trainable(step), settings)
        yield Step(parameters, energy, force, accepted, chains)
        parameters = updated
