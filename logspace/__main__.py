"""`python -m logspace`: a derivative at a zero, then variational Monte Carlo with nodes."""

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

import logspace as ls
from logspace import vmc

BATCHES = 16

DESCRIPTION = """\
Two short demonstrations of numbers in log space whose derivatives are exact at zero.

(1) the derivative of exp(log(a - b)) at a = b, in plain JAX and with LogArrays;
(2) variational Monte Carlo for the lowest triplet of a Heisenberg ring, with amplitudes that start
    with exact nodes, against exact diagonalisation; beside it the same with complex log-amplitudes.
"""


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m logspace",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sites", type=int, default=12, help="8, 12 (default), 16 or 20 spins")
    parser.add_argument(
        "--steps", type=int, default=100, help="optimisation steps, at least 10 (default 100)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default 0)")
    parser.add_argument(
        "--plot", metavar="FILE.png", help="draw the energies (needs matplotlib, extra `demo`)"
    )
    given = parser.parse_args(argv)
    if given.sites not in (8, 12, 16, 20):
        parser.error(
            f"--sites requires 8, 12, 16 or 20 (a multiple of 4 has nodes); got {given.sites}"
        )
    if given.steps < 10:
        parser.error(f"--steps requires at least 10; got {given.steps}")
    if given.seed < 0:
        parser.error(f"--seed requires a number that is not negative; got {given.seed}")
    if given.plot and importlib.util.find_spec("matplotlib") is None:
        parser.error("--plot requires matplotlib: pip install 'logspace-jax[demo]'")
    return given


def say(*words: Any) -> None:
    print(*words, flush=True)


def recipe() -> tuple[float, float]:
    """The derivative of exp(log(a - b)) at a = b = 1: plain JAX's and ours."""

    def g(a: Any, b: Any) -> Any:
        return jnp.exp(jnp.log(a - b))

    def ours(a: jax.Array, b: jax.Array) -> jax.Array:
        return ls.quaxify(g)(ls.from_linear(a), ls.from_linear(b)).to_linear()

    return float(jax.grad(g)(1.0, 1.0)), float(jax.grad(ours)(1.0, 1.0))


class Problem:
    """The ring, its state as LogArray and as log-amplitude, and what is known exactly."""

    def __init__(self, sites: int, steps: int) -> None:
        self.operator = vmc.HeisenbergRing(sites)
        model = vmc.DressedSpinWave(sites)
        start = model.initial_parameters()
        self.parameters, unravel = ravel_pytree(start)
        self.amplitude = lambda parameters, sigma: model(unravel(parameters), sigma)

        def log_amplitude(parameters: jax.Array, sigma: jax.Array) -> jax.Array:
            jastrow, signs, logarithms = model.terms(unravel(parameters), sigma)
            return jastrow + vmc.log_sum_exp(signs, logarithms)

        self.log_amplitude = log_amplitude
        self.released = 2 * steps // 5
        self.watched = min(self.released, 10)
        held = {"jastrow": jnp.ones(sites // 2, bool), "cloud": jnp.zeros(model.classes, bool)}
        self._held = ravel_pytree(held)[0]
        self.settings = vmc.Settings(thin=sites // 2)
        self.space = vmc.sector(self.operator, magnetisation=0)
        odd = partial(vmc.flip_parity, self.space, parity=-1)
        self.energy, _ = vmc.lowest_state(self.space, odd)
        self.full_sum = jax.jit(lambda p: vmc.full_sum(self.amplitude, p, self.space))
        self._expect_and_grad = jax.jit(vmc.expect_and_grad)
        self._log_estimates = jax.jit(vmc.log_estimates)

    def trainable(self, step: int) -> jax.Array:
        return self._held if step < self.released else jnp.ones_like(self._held)

    def measure(self, key: jax.Array, step: vmc.Step) -> tuple[vmc.Estimate, vmc.Forces]:
        """Energy and gradient at a step of ours, from BATCHES times its samples."""
        arrays, density = vmc.sample_widely(
            key,
            self.amplitude,
            self.operator,
            step.parameters,
            step.walkers,
            BATCHES,
            self.settings,
        )
        return self._expect_and_grad(*arrays, density)

    def log_measure_at(
        self, parameters: jax.Array, configurations: jax.Array
    ) -> tuple[vmc.Estimate, vmc.Forces, jax.Array]:
        """The usual energy and forces from samples of |psi|^2, as many as `measure` takes."""
        return self._log_estimates(
            vmc.log_evaluate_widely(
                self.log_amplitude, parameters, self.operator, configurations, BATCHES
            )
        )

    def log_measure(self, key: jax.Array, step: vmc.Step, move: vmc.Exchange) -> vmc.Estimate:
        """The usual energy at a step of the usual way, from BATCHES times its samples."""
        arrays = vmc.log_sample_widely(
            key,
            self.log_amplitude,
            self.operator,
            step.parameters,
            step.walkers.configurations,
            BATCHES,
            self.settings,
            move,
        )
        return self._log_estimates(arrays)[0]

    def relative_error(self, energy: Any) -> float:
        return abs(float(np.real(energy)) - self.energy) / abs(self.energy)


@dataclass
class Record:
    """What a run leaves behind."""

    energies: list[complex] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    first_broken: int | None = None
    stuck: float = 0.0
    released: vmc.Step | None = None
    last: vmc.Step | None = None


def progress(steps: Iterator[vmc.Step], total: int) -> tuple[Iterator[vmc.Step], Callable]:
    """The steps and a way to print between them; a bar, if tqdm is there and somebody watches."""
    if importlib.util.find_spec("tqdm") is None or not sys.stderr.isatty():
        return steps, say
    import tqdm

    return iter(tqdm.tqdm(steps, total=total, leave=False)), tqdm.tqdm.write


def number_text(x: float) -> str:
    return f"{x:11.5f}" if abs(x) < 1e4 else f"{x:11.3e}"


def run(problem: Problem, steps: Iterator[vmc.Step], total: int, label: str) -> Record:
    """Follow a run to its end, or to the first energy or force that is not finite."""
    record = Record()
    say(f"\n{label}\n  step    energy       error    rel. error   on nodes   accepted")
    idle = np.zeros(problem.settings.chains, int)
    before = None
    steps, tell = progress(steps, total)
    for number, step in enumerate(steps):
        energy, error = complex(step.energy.mean), float(step.energy.error)
        record.energies.append(energy)
        record.errors.append(error)
        sound = np.isfinite(energy) and bool(jnp.isfinite(step.forces.mean).all())
        told = number % max(total // 10, 1) == 0 or number in (problem.released, total - 1)
        if told or not sound:
            tell(
                f"{number:6d} {number_text(energy.real)} {number_text(error)} "
                f"{problem.relative_error(energy):12.1e} {float(step.nodes):9.1%} "
                f"{float(step.acceptance):10.1%}"
            )
        if not sound:
            record.first_broken = number
            break
        here = np.asarray(step.walkers.configurations)
        idle = np.where(before is not None and (here == before).all(1), idle + 1, 0)
        before = here
        if number == problem.released:
            record.released = step
            record.stuck = float((idle >= problem.watched).mean())
        record.last = step
    return record


@dataclass
class GradientCheck:
    """A sampled gradient against the exact one."""

    bias: float
    largest: float
    typical: float

    def cells(self) -> tuple[str, str, str]:
        return f"{self.bias:.1%}", f"{self.largest:.1f}", f"{self.typical:.1f}"


def check_gradient(gradient: vmc.Forces, exact: jax.Array) -> GradientCheck:
    """The distance from the exact gradient: relative, and in standard errors (largest, rms)."""
    off, error = np.asarray(gradient.mean - exact), np.asarray(gradient.error)
    scores = off[error > 0] / error[error > 0]
    return GradientCheck(
        float(np.linalg.norm(off) / np.linalg.norm(exact)),
        float(np.abs(scores).max()),
        float(np.sqrt(np.mean(scores**2))),
    )


def check_gradients(
    problem: Problem, step: vmc.Step, key: jax.Array
) -> tuple[GradientCheck, GradientCheck]:
    """Ours from Metropolis samples, and the usual one from as many perfect samples of |psi|^2."""
    parameters = step.parameters
    exact = problem.full_sum(parameters)
    _, ours = problem.measure(jax.random.fold_in(key, 0), step)
    shape = (problem.settings.chains, problem.settings.samples * BATCHES)
    configurations = jax.jit(vmc.exact_samples, static_argnums=3)(
        jax.random.fold_in(key, 1), problem.space, exact.probabilities, shape
    )
    usual, error = problem.log_measure_at(parameters, configurations)[1]
    gradient = vmc.Forces(2 * np.real(usual), 2 * error)
    return check_gradient(ours, exact.gradient), check_gradient(gradient, exact.gradient)


def plot(file: str, problem: Problem, ours: Record, usual: Record, wide: Record) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (above, below) = pyplot.subplots(
        2, 1, sharex=True, figsize=(7, 6.5), layout="constrained"
    )
    for record, label in (
        (usual, "log psi, exchange of neighbours"),
        (wide, "log psi, exchange of any two"),
        (ours, "psi as LogArray"),
    ):
        finite = np.isfinite(record.energies)
        count = int(finite.argmin()) if not finite.all() else len(finite)
        energies, errors = np.real(record.energies[:count]), np.array(record.errors[:count])
        above.errorbar(range(count), energies, errors, label=label, lw=1, elinewidth=0.6)
        below.semilogy(np.abs(energies / problem.energy - 1), lw=1)
    above.axhline(problem.energy, color="black", lw=0.8, label="exact diagonalisation")
    above.set(ylabel="energy", ylim=(1.08 * problem.energy, 0.4 * problem.energy))
    above.legend(loc="upper right", fontsize=8)
    below.set(xlabel="step", ylabel="relative distance from exact", ylim=(1e-6, 1))
    for axes in (above, below):
        axes.axvline(problem.released, color="grey", ls=":", lw=0.8)
    below.text(problem.released, 1.5e-6, " cloud released", fontsize=8)
    figure.savefig(file, dpi=150)
    say(f"\nwrote {file}")


@dataclass
class Comparison:
    """The energy of a state: sampled, and by full summation."""

    sampled: complex
    error: float
    exact: float

    @property
    def score(self) -> float:
        return abs(self.sampled.real - self.exact) / self.error


def compare(
    problem: Problem, step: vmc.Step | None, estimate: vmc.Estimate | None
) -> Comparison | None:
    """An estimated energy beside the exact one at the parameters of a step, if there is one."""
    if step is None or estimate is None:
        return None
    exact = float(problem.full_sum(step.parameters).energy)
    return Comparison(complex(estimate.mean), float(estimate.error), exact)


def table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        say("  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)))


def summary(
    problem: Problem,
    derivatives: tuple[float, float],
    records: list[Record],
    at_release: list[Comparison | None],
    finals: list[Comparison | None],
    checks: tuple[GradientCheck, GradientCheck],
    total: int,
) -> None:
    ours, usual = checks
    say("\n(1) the derivative of exp(log(a - b)) by a, at a = b = 1 (exactly 1)")
    table([("plain JAX", str(derivatives[0])), ("LogArrays", str(derivatives[1]))])
    say(f"\n(2) gradient at step {problem.released}, where psi has nodes, against the exact one")
    table(
        [
            ("", "off by", "largest z", "rms z"),
            ("psi as LogArray, Metropolis samples of a density that covers nodes", *ours.cells()),
            ("log psi, perfect samples of |psi|^2", *usual.cells()),
        ]
    )
    say("\n    the whole run")
    names = [
        ("", "psi as LogArray", "log psi", "log psi"),
        ("exchange of spins", "neighbours", "neighbours", "any two"),
        ("came through", *(ending(record, total) for record in records)),
        (
            f"chains that did not move in the {problem.watched} steps before {problem.released}",
            *(f"{record.stuck:.0%}" for record in records),
        ),
    ]
    rows = comparison_rows(f"energy at step {problem.released}", at_release)
    rows += comparison_rows("energy of the last state", finals)
    errors = [f"{problem.relative_error(x.sampled):.1e}" if x else "-" for x in finals]
    table([*names, *rows, ("relative error to exact diagonalisation", *errors)])


def comparison_rows(label: str, comparisons: list[Comparison | None]) -> list[tuple[str, ...]]:
    return [
        (label, *(f"{x.sampled.real:.5f} +- {x.error:.5f}" if x else "-" for x in comparisons)),
        ("  exactly, by full summation", *(f"{x.exact:.5f}" if x else "-" for x in comparisons)),
        ("  standard errors apart", *(f"{x.score:.1f}" if x else "-" for x in comparisons)),
    ]


def ending(record: Record, total: int) -> str:
    broken = record.first_broken
    return f"all {total} steps" if broken is None else f"not finite at step {broken}"


def main(argv: list[str] | None = None) -> int:
    given = arguments(argv)
    jax.config.update("jax_enable_x64", True)
    begin = time.perf_counter()
    derivatives = recipe()
    problem = Problem(given.sites, given.steps)
    start = problem.full_sum(problem.parameters)
    say(f"logspace {ls.__version__} on jax {jax.__version__} ({jax.devices()[0].platform})")
    say(f"Heisenberg ring, {given.sites} spins, lowest triplet; exact energy {problem.energy:.6f}")
    say(
        f"{problem.parameters.size} parameters. psi is exactly 0 on {int(start.nodes)} of "
        f"{problem.space.size} configurations;\non {int(start.first_order_nodes)} of these its "
        "derivatives are not (first-order nodes)."
    )
    say(
        f"Until step {problem.released} only the Jastrow factor moves, and the nodes stay. Then all"
        "\nparameters move; the forces that open the nodes come from the nodes."
    )
    key = partial(jax.random.fold_in, jax.random.key(given.seed))
    setup = (problem.operator, problem.parameters, given.steps, problem.settings, problem.trainable)
    near, far = vmc.Exchange(1), vmc.Exchange(given.sites // 2)
    ours = run(
        problem,
        vmc.descend(key(0), problem.amplitude, *setup, near),
        given.steps,
        "psi as LogArray, samples of a density that covers nodes, exchange of neighbours",
    )
    if ours.released is None or ours.last is None or ours.first_broken is not None:
        say("The run with LogArrays did not stay finite: this is a defect. Please report it.")
        return 1
    checks = check_gradients(problem, ours.released, key(1))
    finals = [compare(problem, ours.last, problem.measure(key(2), ours.last)[0])]
    records = [ours]
    for number, move, name in ((3, near, "neighbours"), (4, far, "any two spins")):
        record = run(
            problem,
            vmc.descend_log_amplitude(key(number), problem.log_amplitude, *setup, move),
            given.steps,
            f"log psi, samples of |psi|^2, exchange of {name}",
        )
        records.append(record)
        last = record.last if record.first_broken is None else None
        estimate = problem.log_measure(key(5), last, move) if last else None
        finals.append(compare(problem, last, estimate))
    at_release = [
        compare(problem, record.released, record.released and record.released.energy)
        for record in records
    ]
    summary(problem, derivatives, records, at_release, finals, checks, given.steps)
    if given.plot:
        plot(given.plot, problem, *records)
    say(f"\n{time.perf_counter() - begin:.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
