"""Sampled results against dense answers: within 4 standard errors, errors that are right."""

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import netket as nk
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import logspace as ls
import logspace.netket as lnk

from . import dense
from .states import ISING, JACOBIAN, PSI, SPACE, STATES, Difference, H, Positive, table_index
from .test_full_sum import quietly

FORCE = dense.forces(PSI, JACOBIAN, H)
METRIC = dense.metric(PSI, JACOBIAN)


def flat(tree: Any) -> np.ndarray:
    return np.asarray(ravel_pytree(tree)[0])


def sampled(seed: int, samples: int = 2**16, **options: Any) -> lnk.MCState:
    sampler = nk.sampler.ExactSampler(SPACE)
    return lnk.MCState(
        sampler, Difference(), n_samples=samples, seed=0, sampler_seed=seed, **options
    )


def density(coverage: float) -> np.ndarray:
    """q of the blur by single flips, dense."""
    weights = PSI**2 / (PSI @ PSI)
    spins = np.asarray(STATES)
    number = {tuple(s): i for i, s in enumerate(spins)}
    flips = [[number[tuple(s * (1 - 2 * (np.arange(4) == k)))] for k in range(4)] for s in spins]
    return (1 - coverage) * weights + coverage * weights[np.array(flips)].mean(1)


def force_error(coverage: float, samples: int) -> np.ndarray:
    """The standard error of the self-normalised mean, from the exact distribution."""
    q = density(coverage)
    norm = PSI @ PSI
    residual = H @ PSI - dense.energy(PSI, H) * PSI
    centred = JACOBIAN - np.outer(PSI, PSI @ JACOBIAN) / norm
    terms = centred * residual[:, None] / norm - FORCE * (PSI**2 / norm)[:, None]
    inside = q > 0
    second = (terms[inside] ** 2 / q[inside, None]).sum(0)
    return np.sqrt(second / samples)


@pytest.mark.parametrize("coverage", [0.1, pytest.param(0.5, marks=pytest.mark.full)])
def test_energy_and_forces(coverage: float) -> None:
    state = sampled(3, node_coverage=coverage)
    stats, force = state.expect_and_forces(ISING)
    assert abs(float(stats.mean) - dense.energy(PSI, H)) < 4 * float(stats.error_of_mean)
    error = force_error(coverage, state.n_samples)
    assert (np.abs(flat(force).real - FORCE) < 4 * error).all()
    # What samples of |psi|^2 miss is far outside of that.
    support = PSI != 0
    missed = (JACOBIAN * (H @ PSI)[:, None])[~support].sum(0) / (PSI @ PSI)
    assert (np.abs(missed) > 10 * error).all()


def test_samples_follow_the_density_that_is_claimed() -> None:
    """Every configuration as often as q says, and q as the state computes it."""
    state = sampled(4, node_coverage=0.3)
    sigma, q = state.covering_samples()
    index = np.asarray(table_index(sigma.reshape(-1, 4)))
    order = np.asarray(table_index(jnp.asarray(STATES)))
    expected = np.zeros(16)
    expected[order] = density(0.3)
    counts = np.bincount(index, minlength=16)
    deviation = counts - index.size * expected
    assert (np.abs(deviation) <= 4.5 * np.sqrt(index.size * expected) + 1e-9).all()
    np.testing.assert_allclose(q.to_linear() / (PSI @ PSI), expected[index], rtol=1e-12)


def test_metric_and_both_forms_of_the_step() -> None:
    state = sampled(5, samples=2**10)
    steps = [
        quietly(
            lambda ntk=ntk: lnk.VMC_SR(
                ISING, optax.sgd(0.1), diag_shift=1e-3, variational_state=state, use_ntk=ntk
            )
        ).compute_loss_and_update()[1]
        for ntk in (False, True)
    ]
    np.testing.assert_allclose(flat(steps[0]), flat(steps[1]), rtol=1e-6)
    tensor = state.quantum_geometric_tensor(lnk.QGTJacobianDense(diag_shift=1e-3))
    _, force = state.expect_and_forces(ISING)
    solved = np.linalg.solve(np.asarray(tensor.to_dense()), 2 * flat(force).real)
    np.testing.assert_allclose(flat(steps[0]), solved, rtol=1e-6)


@pytest.mark.full
def test_metric_within_its_error() -> None:
    tensors = np.array(
        [np.asarray(sampled(s, 2**14).quantum_geometric_tensor().to_dense()) for s in range(16)]
    )
    error = tensors.std(0, ddof=1) / 4
    assert (np.abs(tensors.mean(0) - METRIC) < 4 * error).all()


@pytest.mark.full
def test_error_bars_over_50_seeds() -> None:
    """z-scores of energy and forces have mean 0 and variance 1 within what 50 seeds allow."""
    state = sampled(0, 2**13, node_coverage=0.2)
    error = force_error(0.2, state.n_samples)
    energies, forces = [], []
    for _ in range(50):
        state.reset()
        stats, force = state.expect_and_forces(ISING)
        energies.append((float(stats.mean) - dense.energy(PSI, H)) / float(stats.error_of_mean))
        forces.append((flat(force).real - FORCE)[0] / error[0])
    for z in (np.array(energies), np.array(forces)):
        assert abs(z.mean()) < 4 / np.sqrt(50)
        assert abs(z.var(ddof=1) - 1) < 4 * np.sqrt(2 / 49)


@pytest.mark.full
def test_error_bars_of_markov_chains() -> None:
    sampler = nk.sampler.MetropolisLocal(SPACE, n_chains=64)
    state = lnk.MCState(sampler, Difference(), n_samples=2**12, seed=0, sampler_seed=3)
    scores = []
    for _ in range(50):
        state.reset()
        stats = state.expect(ISING)
        scores.append((float(stats.mean) - dense.energy(PSI, H)) / float(stats.error_of_mean))
    assert abs(np.mean(scores)) < 4 / np.sqrt(50)
    assert abs(np.var(scores, ddof=1) - 1) < 4 * np.sqrt(2 / 49)


def test_without_coverage_nodes_that_the_operator_reaches_are_reported() -> None:
    state = sampled(6, 2**10, node_coverage=0.0)
    with pytest.warns(UserWarning, match="node_coverage"):
        state.expect_and_grad(ISING)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*node_coverage.*", UserWarning)
        state.expect_and_grad(ISING)
        sampled(6, 2**10).expect_and_grad(ISING)


@pytest.mark.full
@pytest.mark.parametrize("what", ["squared", "variance"])
def test_values_through_the_operator(what: str) -> None:
    operator = {
        "squared": nk.operator.Squared(ISING),
        "variance": nk.observable.VarianceObservable(ISING),
    }[what]
    expected = (H @ PSI) @ (H @ PSI) / (PSI @ PSI)
    expected = expected if what == "squared" else dense.variance(PSI, H)
    stats, gradient = sampled(7, node_coverage=0.3).expect_and_grad(operator)
    assert abs(float(stats.mean) - expected) < 4 * float(stats.error_of_mean)
    assert np.isfinite(flat(gradient)).all()


@pytest.mark.full
def test_infidelity_against_a_target_that_is_sampled() -> None:
    state = sampled(8, 2**13, node_coverage=0.3)
    target = nk.vqs.MCState(
        nk.sampler.ExactSampler(SPACE), Positive(), n_samples=2**13, seed=0, sampler_seed=50
    )
    phi = np.exp(np.asarray(target.log_value(jnp.asarray(STATES)))).real
    h = dense.projector(phi)
    scores, gradients = [], []
    for _ in range(16):
        state.reset()
        target.reset()
        stats, gradient = state.expect_and_grad(nk.observable.InfidelityOperator(target))
        scores.append((float(stats.mean) - 1 - dense.energy(PSI, h)) / float(stats.error_of_mean))
        gradients.append(flat(gradient))
    assert abs(np.mean(scores)) < 4 / 4 and abs(np.var(scores, ddof=1) - 1) < 4 * np.sqrt(2 / 15)
    error = np.std(gradients, 0, ddof=1) / 4
    deviation = np.mean(gradients, 0) - 2 * dense.forces(PSI, JACOBIAN, h)
    assert (np.abs(deviation) < 4 * error).all()


#: psi = exp(a zz) with exactly two spins down, else 0: larger regions of zeros than one move.
RING = 10
RING_SPACE = nk.hilbert.Spin(0.5, RING)
ZZ = sum(
    nk.operator.spin.sigmaz(RING_SPACE, i) @ nk.operator.spin.sigmaz(RING_SPACE, (i + 1) % RING)
    for i in range(RING)
).to_jax_operator()


def two_down(variables: Any, sigma: jax.Array) -> ls.LogArray:
    inside = jnp.where((sigma < 0).sum(-1) == 2, 1.0, 0.0)
    bonds = jnp.sum(sigma[..., :-1] * sigma[..., 1:], -1)
    return ls.LogArray(inside, 800.0 + variables["params"]["a"] * bonds)


@pytest.mark.parametrize(
    "name",
    [
        "exact",
        pytest.param("local", marks=pytest.mark.full),
        pytest.param("exchange", marks=pytest.mark.full),
        pytest.param("tempering", marks=pytest.mark.full),
        pytest.param("resetting", marks=pytest.mark.full),
    ],
)
def test_samplers_that_start_on_nodes(name: str) -> None:
    sampler = {
        "local": lambda: nk.sampler.MetropolisLocal(RING_SPACE, n_chains=64),
        "exact": lambda: nk.sampler.ExactSampler(RING_SPACE),
        "exchange": lambda: nk.sampler.MetropolisExchange(
            RING_SPACE, graph=nk.graph.Chain(RING), n_chains=64
        ),
        "tempering": lambda: nk.sampler.ParallelTemperingLocal(
            RING_SPACE, n_chains=16, n_replicas=4
        ),
        "resetting": lambda: nk.sampler.MetropolisExchange(
            RING_SPACE, graph=nk.graph.Chain(RING), n_chains=64, reset_chains=True
        ),
    }[name]()
    state = lnk.MCState(
        sampler,
        apply_fun=two_down,
        variables={"params": {"a": jnp.array(0.1)}},
        n_samples=2**10,
        sampler_seed=1,
        node_coverage=0.0,
        **({} if name == "exact" else {"n_discard_per_chain": 50}),
    )
    assert not (state.amplitude(state.samples) == 0).any()
    if name in ("local", "tempering"):
        return  # two spins down and single flips: the chains stay where they are, as they must
    states = np.asarray(RING_SPACE.all_states())
    inside = (states < 0).sum(-1) == 2
    weights = np.where(inside, np.exp(0.2 * (states[:, :-1] * states[:, 1:]).sum(-1)), 0.0)
    bonds = (states * np.roll(states, -1, -1)).sum(-1)
    stats = state.expect(ZZ)
    exact = weights @ bonds / weights.sum()
    assert abs(float(stats.mean.real) - exact) < 5 * float(stats.error_of_mean)
