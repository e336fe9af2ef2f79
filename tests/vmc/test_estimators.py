"""Full sums against dense answers; sampled ones against exact ones, within their errors."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
from logspace import vmc

from . import dense


class State(NamedTuple):
    """A state on all configurations, in log space and in linear numbers."""

    arrays: vmc.Evaluation
    psi: np.ndarray
    jacobian: np.ndarray
    h: np.ndarray


def numbers(values: np.ndarray, log_scale: float = 0.0) -> ls.LogArray:
    return ls.from_linear(jnp.asarray(values)) * ls.exp(log_scale)


def make_state(dtype: type, log_scale: float) -> State:
    """Random amplitudes and derivatives, a third of them nodes, one with derivative 0."""
    rng = np.random.default_rng(4)
    h = dense.ising(4, 1.0, 0.8)

    def draw(*shape: int) -> np.ndarray:
        real = rng.normal(size=shape)
        return real + 1j * rng.normal(size=shape) if dtype is complex else real

    psi, jacobian = draw(16), draw(16, 3)
    psi[:5] = 0.0
    jacobian[0] = 0.0
    arrays = vmc.Evaluation(*(numbers(x, log_scale) for x in (psi, h @ psi, jacobian)))
    return State(arrays, psi, jacobian, h)


@pytest.fixture(scope="module", params=[(float, 0.0), (float, 5e5), (complex, -3e3)], ids=str)
def state(request: pytest.FixtureRequest) -> State:
    return make_state(*request.param)


all_of_it = jax.jit(vmc.expect_forces_and_metric)


def test_full_sums_are_the_dense_answers(state: State) -> None:
    energy, force, metric = all_of_it(*state.arrays)
    assert complex(energy.mean) == pytest.approx(dense.energy(state.psi, state.h), abs=1e-12)
    assert float(energy.variance) == pytest.approx(dense.variance(state.psi, state.h), abs=1e-11)
    expected = dense.forces(state.psi, state.h, state.jacobian)
    np.testing.assert_allclose(force.mean, expected, atol=1e-11)
    np.testing.assert_allclose(metric, dense.metric(state.psi, state.jacobian), atol=1e-11)
    assert float(energy.error) == 0 and (np.asarray(force.error) == 0).all()


@pytest.mark.full
def test_each_estimator_alone_gives_the_same() -> None:
    state = make_state(complex, 2e3)
    psi, h_psi, jacobian = state.arrays
    energy, force, metric = all_of_it(psi, h_psi, jacobian)
    alone = vmc.expect(psi, h_psi), vmc.forces(psi, h_psi, jacobian)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-13), alone, (energy, force))
    alone_metric = vmc.quantum_geometric_tensor(psi, jacobian)
    np.testing.assert_allclose(alone_metric, metric, rtol=1e-13)
    again, gradient = vmc.expect_and_grad(psi, h_psi, jacobian)
    np.testing.assert_allclose(again.mean, energy.mean, rtol=1e-13)
    np.testing.assert_allclose(gradient.mean, 2 * force.mean.real, rtol=1e-13)


def test_weights_undo_any_density(state: State) -> None:
    """Each configuration as often as an integer density says: the exact answers again."""
    density = np.random.default_rng(5).integers(1, 5, 16)
    rows = np.repeat(np.arange(16), 12 * density).reshape(2, -1, order="F")
    psi, h_psi, jacobian = jax.tree.map(lambda leaf: leaf[rows], state.arrays)
    weights = numbers(density[rows].astype(float), 700.0)
    energy, force, metric = all_of_it(psi, h_psi, jacobian, weights)
    assert complex(energy.mean) == pytest.approx(dense.energy(state.psi, state.h), abs=1e-12)
    assert float(energy.variance) == pytest.approx(dense.variance(state.psi, state.h), abs=1e-11)
    expected = dense.forces(state.psi, state.h, state.jacobian)
    np.testing.assert_allclose(force.mean, expected, atol=1e-11)
    np.testing.assert_allclose(metric, dense.metric(state.psi, state.jacobian), atol=1e-11)
    weight = np.abs(state.psi[rows]) ** 2 / density[rows]
    size = weight.sum() ** 2 / (weight**2).sum()
    assert float(energy.effective_samples) == pytest.approx(size)
    assert float(vmc.effective_sample_size(psi, weights)) == pytest.approx(size)


def test_local_energy() -> None:
    psi = numbers(np.array([2.0, -1.0]), 900.0)
    connected = numbers(np.array([[2.0, 3.0], [-1.0, 0.5]]), 900.0)
    energy = vmc.local_energy(psi, connected, jnp.array([[1.0, 2.0], [0.5, 4.0]]))
    np.testing.assert_allclose(energy.to_linear(), [4.0, -1.5], rtol=1e-15)
    at_node = vmc.local_energy(psi * 0, connected, jnp.ones((2, 2)))
    np.testing.assert_array_equal(abs(at_node).to_linear(), [np.inf, np.inf])


@pytest.mark.parametrize("dtype", [float, complex])
def test_clipped_local_energies(dtype: type) -> None:
    """Without nodes, of samples of |psi|^2: local energies within 5 mean deviations of their mean."""
    rng = np.random.default_rng(1)
    psi = rng.normal(size=(4, 64)).astype(dtype)
    energy = np.exp(2 * rng.normal(size=psi.shape)) * (1 + 1j if dtype is complex else 1)
    density = numbers(np.abs(psi) ** 2, 30.0)
    clipped = vmc.clip_local_energy(numbers(psi, 900.0), numbers(psi * energy, 900.0), density)
    away = energy - energy.mean()
    limit = 5 * np.abs(away).mean()
    assert (np.abs(away) > limit).any()
    want = energy.mean() + away * np.minimum(1, limit / np.abs(away))
    np.testing.assert_allclose((clipped / numbers(psi, 900.0)).to_linear(), want, rtol=1e-10)


def test_clipping_that_reaches_nothing_changes_nothing() -> None:
    rng = np.random.default_rng(2)
    psi, h_psi = rng.normal(size=(2, 4, 16))
    psi[:, ::3] = 0  # nodes, some of which H reaches
    h_psi[0] = 0
    args = numbers(psi), numbers(h_psi), numbers(np.abs(psi) ** 2 + 0.1)
    whole = vmc.clip_local_energy(*args, width=np.inf)
    np.testing.assert_allclose(whole.to_linear(), h_psi, atol=1e-14)
    close = vmc.clip_local_energy(*args, width=1.0)
    assert np.isfinite(close.to_linear()).all()
    assert (np.abs(close.to_linear())[1:, ::3] < np.abs(h_psi)[1:, ::3]).any()


def test_bad_input() -> None:
    psi, h_psi, _ = make_state(float, 0.0).arrays
    with pytest.raises(ValueError, match=r"same shape \(chains, samples\).*psi\[16\]"):
        vmc.expect(psi, h_psi, ls.ones(16))
    with pytest.raises(ValueError, match="at least 2 chains"):
        vmc.expect(psi[None], h_psi[None], ls.ones((1, 16)))
    with pytest.raises(TypeError, match=r"real parameters in one vector.*complex128\[3\]"):
        vmc.evaluate(
            lambda p, s: psi[0], jnp.ones(3, complex), vmc.HeisenbergRing(4), jnp.ones((2, 4))
        )


@pytest.mark.full
def test_usual_estimators_agree_where_there_are_no_nodes() -> None:
    operator = vmc.TransverseFieldIsingRing(4, 1.0, 0.5)

    def logarithm(p: jax.Array, sigma: jax.Array) -> jax.Array:
        spins = sigma.astype(float)
        return spins @ p[:4] + 1j * (spins * jnp.roll(spins, 1)) @ p[4:]

    def amplitude(p: jax.Array, sigma: jax.Array) -> ls.LogArray:
        return ls.exp(logarithm(p, sigma))

    parameters = jnp.linspace(-0.4, 0.6, 8)
    sigma = vmc.random_configurations(jax.random.key(1), 4, (3, 20), None)
    arrays = jax.jit(lambda p, s: vmc.evaluate(amplitude, p, operator, s))(parameters, sigma)
    ours = all_of_it(*arrays, ls.abs2(arrays.psi))
    usual = jax.jit(lambda p, s: vmc.log_estimates(vmc.log_evaluate(logarithm, p, operator, s)))(
        parameters, sigma
    )
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=1e-11), ours, usual)


class Polarised(NamedTuple):
    """A product state, two spins polarised: 12 of 16 configurations are nodes, 8 of first order."""

    parameters: jax.Array
    operator: vmc.TransverseFieldIsingRing
    energy: float
    gradient: np.ndarray
    probabilities: np.ndarray

    @staticmethod
    def amplitude(parameters: jax.Array, sigma: jax.Array) -> ls.LogArray:
        return vmc.ProductState(4)({"factors": parameters.reshape(4, 2)}, sigma)


@pytest.fixture(scope="module")
def polarised() -> Polarised:
    factors = np.array([[1.0, 0.0], [0.8, 0.5], [0.0, -1.2], [0.6, 0.9]])
    sigma = dense.configurations(4)
    chosen = np.where(sigma > 0, factors[:, 0], factors[:, 1])
    psi = chosen.prod(1)
    jacobian = np.zeros((16, 4, 2))
    for i in range(4):
        others = np.delete(chosen, i, 1).prod(1)
        jacobian[:, i, 0], jacobian[:, i, 1] = (
            others * (sigma[:, i] > 0),
            others * (sigma[:, i] < 0),
        )
    jacobian = jacobian.reshape(16, 8)
    assert (psi == 0).sum() == 12 and ((psi == 0) & (jacobian != 0).any(1)).sum() == 8
    h = dense.ising(4, 1.0, 0.7)
    gradient = 2 * dense.forces(psi, h, jacobian)
    operator = vmc.TransverseFieldIsingRing(4, 1.0, 0.7)
    order = (vmc.sector(operator).configurations > 0) @ (8 >> np.arange(4))
    probabilities = (psi**2 / (psi @ psi))[15 - order]
    return Polarised(
        jnp.asarray(factors).ravel(), operator, dense.energy(psi, h), gradient, probabilities
    )


DENSITIES = {
    "residual": lambda psi, operator: vmc.residual_density(psi, operator, -2.0, 1.5),
    "h_psi": lambda psi, operator: vmc.residual_density(psi, operator),
    "blurred": lambda psi, operator: vmc.blurred_density(psi, operator, 0.4),
}


def sampler(problem: Polarised, density_name: str, chains: int, samples: int):
    """A function of a seed: energy and gradient from Metropolis samples."""

    def run(seed: jax.Array) -> tuple[vmc.Estimate, vmc.Forces]:
        psi = lambda s: problem.amplitude(problem.parameters, s)  # noqa: E731
        density = DENSITIES[density_name](psi, problem.operator)
        first, then = jax.random.split(jax.random.key(seed))
        start = vmc.random_configurations(first, 4, (chains,), None)
        drawn, _ = vmc.sample(then, density, vmc.flip_one, start, samples + 6, 3)
        drawn = jax.tree.map(lambda leaf: leaf[:, 6:], drawn)
        arrays = vmc.evaluate(
            problem.amplitude, problem.parameters, problem.operator, drawn.configurations
        )
        return vmc.expect_and_grad(*arrays, drawn.density)

    return jax.jit(run)


@pytest.mark.full
@pytest.mark.parametrize("density", DENSITIES)
def test_gradients_are_unbiased_at_nodes(polarised: Polarised, density: str) -> None:
    energy, gradient = sampler(polarised, density, 1024, 64)(0)
    assert abs(energy.mean - polarised.energy) < 4 * energy.error
    off = np.asarray(gradient.mean - polarised.gradient)
    assert (np.abs(off) < 4 * np.asarray(gradient.error) + 1e-12).all()
    assert np.linalg.norm(off) < 0.02 * np.linalg.norm(polarised.gradient)


def test_usual_gradient_is_biased_at_nodes(polarised: Polarised) -> None:
    """Perfect samples of |psi|^2: off by many standard errors, which do not say so."""

    def logarithm(parameters: jax.Array, sigma: jax.Array) -> jax.Array:
        factors = parameters.reshape(4, 2)
        chosen = jnp.where(sigma > 0, factors[:, 0], factors[:, 1])
        return jnp.log(chosen.astype(complex)).sum()

    space = vmc.sector(polarised.operator)
    probabilities = jnp.asarray(polarised.probabilities)
    drawn = vmc.exact_samples(jax.random.key(2), space, probabilities, (1024, 64))
    _, force, _ = jax.jit(
        lambda p, s: vmc.log_estimates(vmc.log_evaluate(logarithm, p, polarised.operator, s))
    )(polarised.parameters, drawn)
    off = 2 * np.asarray(force.mean.real) - polarised.gradient
    # The parameters that open the nodes are seen on nodes only, and get force 0 with error 0.
    missed = np.abs(off) > 0.1
    assert missed.sum() == 2
    assert (np.asarray(force.error)[missed] < 1e-12).all()
    assert np.linalg.norm(off) > 0.5 * np.linalg.norm(polarised.gradient)


def z_scores(problem: Polarised, seeds: int, chains: int, samples: int) -> np.ndarray:
    energy, gradient = jax.vmap(sampler(problem, "residual", chains, samples))(jnp.arange(seeds))
    live = np.asarray(gradient.error[0]) > 1e-9
    slopes = (gradient.mean - problem.gradient)[:, live] / gradient.error[:, live]
    return np.column_stack([(energy.mean - problem.energy) / energy.error, slopes])


def check_scores(scores: np.ndarray) -> None:
    seeds = len(scores)
    assert (np.abs(scores.mean(0)) < 4.5 / np.sqrt(seeds)).all()
    # Several parameters, correlated: their mean square, with the width of a single one.
    mean_square = (scores**2).mean(0)
    assert abs(mean_square[0] - 1) < 4 * np.sqrt(2 / seeds)
    assert abs(mean_square.mean() - 1) < 4 * np.sqrt(2 / seeds)


def test_error_bars_are_right(polarised: Polarised) -> None:
    check_scores(z_scores(polarised, 50, 20, 6))


@pytest.mark.full
def test_error_bars_are_right_over_many_seeds(polarised: Polarised) -> None:
    # More samples too: the bias of a self-normalised mean is O(1 / samples), that of z its root.
    check_scores(z_scores(polarised, 500, 64, 40))
