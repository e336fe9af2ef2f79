"""Variational Monte Carlo from parameters to a record of every step, in the two ways.

`descend` uses LogArray amplitudes and a density that covers nodes; `descend_log_amplitude` is the
same loop with complex log-amplitudes and samples of |psi|^2. Both are generators of `Step`s, which
the caller prints, plots, or stops.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls

from . import log_amplitude as usual
from .estimators import (
    Estimate,
    Evaluation,
    Forces,
    evaluate,
    expect_forces_and_metric,
)
from .operators import Operator
from .optimise import stochastic_reconfiguration
from .sampler import (
    Exchange,
    Move,
    Samples,
    random_configurations,
    residual_density,
    sample,
)

Amplitude = Callable[[jax.Array, jax.Array], ls.LogArray]
Trainable = Callable[[int], jax.Array]
_NEIGHBOURS = Exchange(1)


@dataclass(frozen=True)
class Settings:
    """How to sample and how to step; the same for both ways.

    - `chains` x `samples` configurations for each step, one every `thin` moves, after `burn_in`
      such batches at the start.
    - `rate`: the length of a step of stochastic reconfiguration, with `relative_shift` and `shift`.
    - `width_floor` and `blur`: the density is `residual_density` with this blur, the energy of the
      step before, and width^2 = its variance + (width_floor * energy)^2. The floor limits what an
      underestimated variance can do to the density.
    - `magnetisation` of the configurations that chains start from (None: any).
    """

    chains: int = 512
    samples: int = 2
    thin: int = 6
    burn_in: int = 60
    rate: float = 0.15
    relative_shift: float = 1e-3
    shift: float = 1e-4
    width_floor: float = 0.01
    blur: float = 0.1
    magnetisation: int | None = 0


class Walkers(NamedTuple):
    """Configurations (chains, sites) and the constants of the density that they follow."""

    configurations: jax.Array
    energy: jax.Array
    width: jax.Array


class Step(NamedTuple):
    """One step: its estimates, at the parameters before the step.

    - `parameters` (parameters,), `energy`, `forces` (in all parameters, also those held fixed).
    - `acceptance`: the fraction of moves that was accepted; `nodes`: that of samples with psi = 0.
    - `walkers`: where the chains are, to go on from.
    """

    parameters: jax.Array
    energy: Estimate
    forces: Forces
    acceptance: jax.Array
    nodes: jax.Array
    walkers: Walkers


@eqx.filter_jit
def draw(
    key: jax.Array,
    amplitude: Amplitude,
    operator: Operator,
    parameters: jax.Array,
    walkers: Walkers,
    move: Move,
    settings: Settings,
) -> tuple[Walkers, Samples, jax.Array]:
    """Go on from the walkers: the walkers, the samples of a step, the accepted fraction."""
    density = residual_density(
        lambda sigma: amplitude(parameters, sigma),
        operator,
        walkers.energy,
        walkers.width,
        settings.blur,
    )
    samples, accepted = sample(
        key, density, move, walkers.configurations, settings.samples, settings.thin
    )
    last = samples.configurations[:, -1]
    return walkers._replace(configurations=last), samples, accepted


_evaluate = eqx.filter_jit(evaluate)


class _Shifts(NamedTuple):
    """What a step takes from the settings: traced, so that other values compile nothing."""

    rate: jax.Array | np.ndarray
    relative_shift: jax.Array | np.ndarray
    shift: jax.Array | np.ndarray
    width_floor: jax.Array | np.ndarray


def _shifts(settings: Settings) -> _Shifts:
    return _Shifts(
        *(
            np.asarray(x)
            for x in (
                settings.rate,
                settings.relative_shift,
                settings.shift,
                settings.width_floor,
            )
        )
    )


@jax.jit
def _step(
    parameters: jax.Array,
    evaluation: Evaluation,
    density: ls.LogArray,
    trainable: jax.Array,
    shifts: _Shifts,
) -> tuple[jax.Array, Estimate, Forces, jax.Array, jax.Array]:
    energy, force, metric = expect_forces_and_metric(*evaluation, density)
    updated = parameters + _update(metric, force, trainable, shifts)
    return updated, energy, force, (evaluation.psi == 0).mean(), _width(energy, shifts)


def _update(metric: jax.Array, force: Forces, trainable: jax.Array, shifts: _Shifts) -> jax.Array:
    step = stochastic_reconfiguration(
        metric,
        force.mean,
        relative_shift=shifts.relative_shift,
        shift=shifts.shift,
        trainable=trainable,
    )
    return step * shifts.rate


def _width(energy: Estimate, shifts: _Shifts) -> jax.Array:
    return jnp.sqrt(energy.variance + jnp.square(shifts.width_floor * jnp.abs(energy.mean)))


def _random(key: jax.Array, operator: Operator, settings: Settings) -> jax.Array:
    shape = (settings.chains,)
    return random_configurations(key, operator.sites, shape, settings.magnetisation)


def _key(key: jax.Array, step: int, settings: Settings) -> jax.Array:
    return jax.random.fold_in(key, 1 + settings.burn_in + step)


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
    move: Move = _NEIGHBOURS,
) -> Iterator[Step]:
    """Stochastic reconfiguration with amplitudes as LogArrays, right at nodes.

    `amplitude(parameters, sigma)` is a scalar LogArray, `parameters` a real vector,
    `trainable(step)` says which of them move (booleans; all by default), `move` proposes
    configurations (a function, or an `equinox.Module` with arrays inside). The estimates of a step
    are those at `Step.parameters`, before they move.
    """
    trainable = _all(parameters) if trainable is None else trainable
    # Random configurations may lie where psi and H psi are 0; chains walk freely there (see
    # `metropolis`).
    width = jnp.full((), operator.sites, parameters.dtype)
    walkers = Walkers(_random(key, operator, settings), jnp.zeros_like(width), width)
    for step in range(-settings.burn_in, steps):
        walkers, samples, accepted = draw(
            _key(key, step, settings), amplitude, operator, parameters, walkers, move, settings
        )
        if step < 0:
            continue
        if step == 0 and (samples.density == 0).any():
            raise RuntimeError(
                "descend requires chains where psi or H psi is not 0; after "
                f"burn_in={settings.burn_in} batches of samples some chains are not there. Take a "
                "larger burn_in, another move, or parameters with fewer nodes."
            )
        evaluation = _evaluate(amplitude, parameters, operator, samples.configurations)
        updated, energy, force, nodes, width = _step(
            parameters, evaluation, samples.density, trainable(step), _shifts(settings)
        )
        walkers = Walkers(walkers.configurations, energy.mean.real, width)
        yield Step(parameters, energy, force, accepted, nodes, walkers)
        parameters = updated


def _in_batches(
    evaluate: Callable[[jax.Array], Any], configurations: jax.Array | np.ndarray, batches: int
) -> Any:
    """The results of `batches` calls along the axis of samples, joined.

    On the host: a program for every number of batches would cost more than the copies.
    """
    parts = [evaluate(jnp.asarray(x)) for x in np.split(np.asarray(configurations), batches, 1)]
    return jax.tree.map(lambda *leaves: np.concatenate(leaves, 1), *parts)


def sample_widely(
    key: jax.Array,
    amplitude: Amplitude,
    operator: Operator,
    parameters: jax.Array,
    walkers: Walkers,
    batches: int,
    settings: Settings = Settings(),
    move: Move = _NEIGHBOURS,
) -> tuple[Evaluation, ls.LogArray]:
    """Amplitudes and density on `batches` times the samples of a step, (chains, batches * samples).

    From walkers that are in equilibrium at these parameters or nearly so (a third as many batches
    are thrown away first); the parameters stay as they are.
    """
    drawn = []
    for batch in range(batches + batches // 3):
        now = jax.random.fold_in(key, batch)
        walkers, samples, _ = draw(now, amplitude, operator, parameters, walkers, move, settings)
        drawn.append(samples)
    drawn = jax.tree.map(lambda *leaves: np.concatenate(leaves, 1), *drawn[batches // 3 :])
    evaluation = _in_batches(
        lambda part: _evaluate(amplitude, parameters, operator, part),
        drawn.configurations,
        batches,
    )
    return evaluation, drawn.density


@eqx.filter_jit
def log_draw(
    key: jax.Array,
    log_amplitude: usual.LogAmplitude,
    parameters: jax.Array,
    configurations: jax.Array,
    move: Move,
    settings: Settings,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """As `draw`, from |psi|^2 with complex log-amplitudes: configurations, samples, fraction."""
    return usual.log_metropolis(
        key,
        lambda sigma: log_amplitude(parameters, sigma),
        move,
        configurations,
        settings.samples,
        settings.thin,
    )


_log_evaluate = eqx.filter_jit(usual.log_evaluate)


@jax.jit
def _log_step(
    parameters: jax.Array,
    evaluation: usual.LogEvaluation,
    trainable: jax.Array,
    shifts: _Shifts,
) -> tuple[jax.Array, Estimate, Forces, jax.Array, jax.Array]:
    energy, force, metric = usual.log_estimates(evaluation)
    updated = parameters + _update(metric, force, trainable, shifts)
    nodes = jnp.isneginf(evaluation.log_psi.real).mean()
    return updated, energy, force, nodes, _width(energy, shifts)


def descend_log_amplitude(
    key: jax.Array,
    log_amplitude: usual.LogAmplitude,
    operator: Operator,
    parameters: jax.Array,
    steps: int,
    settings: Settings = Settings(),
    trainable: Trainable | None = None,
    move: Move = _NEIGHBOURS,
) -> Iterator[Step]:
    """The same loop with complex log-amplitudes: samples of |psi|^2 and the usual estimators.

    Chains start from any random configuration, as usual. The run goes on through inf and nan.
    """
    trainable = _all(parameters) if trainable is None else trainable
    chains = _random(key, operator, settings)
    for step in range(-settings.burn_in, steps):
        chains, samples, accepted = log_draw(
            _key(key, step, settings), log_amplitude, parameters, chains, move, settings
        )
        if step < 0:
            continue
        evaluation = _log_evaluate(log_amplitude, parameters, operator, samples)
        updated, energy, force, nodes, width = _log_step(
            parameters, evaluation, trainable(step), _shifts(settings)
        )
        walkers = Walkers(chains, energy.mean.real, width)
        yield Step(parameters, energy, force, accepted, nodes, walkers)
        parameters = updated


def log_evaluate_widely(
    log_amplitude: usual.LogAmplitude,
    parameters: jax.Array,
    operator: Operator,
    configurations: jax.Array | np.ndarray,
    batches: int,
) -> usual.LogEvaluation:
    """`log_evaluate` of configurations (chains, samples, sites), in batches of samples."""
    return _in_batches(
        lambda part: _log_evaluate(log_amplitude, parameters, operator, part),
        configurations,
        batches,
    )


def log_sample_widely(
    key: jax.Array,
    log_amplitude: usual.LogAmplitude,
    operator: Operator,
    parameters: jax.Array,
    configurations: jax.Array,
    batches: int,
    settings: Settings = Settings(),
    move: Move = _NEIGHBOURS,
) -> usual.LogEvaluation:
    """As `sample_widely`, for complex log-amplitudes, from walkers at `configurations`."""
    drawn = []
    for batch in range(batches + batches // 3):
        now = jax.random.fold_in(key, batch)
        configurations, samples, _ = log_draw(
            now, log_amplitude, parameters, configurations, move, settings
        )
        drawn.append(np.asarray(samples))
    together = np.concatenate(drawn[batches // 3 :], 1)
    return log_evaluate_widely(log_amplitude, parameters, operator, together, batches)
