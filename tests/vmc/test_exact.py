import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import logspace as ls
from logspace import vmc

from . import dense


@pytest.mark.parametrize("parity", [1, -1])
def test_lowest_state_of_a_symmetry_sector(parity: int) -> None:
    space = vmc.sector(vmc.HeisenbergRing(8), 0)
    energy, state = vmc.lowest_state(space, lambda v: vmc.flip_parity(space, v, parity))
    matrix = space.dense()
    flip = np.eye(space.size)[::-1]  # the keys of flipped configurations run backwards
    np.testing.assert_allclose(flip @ state, parity * state, atol=1e-10)
    np.testing.assert_allclose(matrix @ state, energy * state, atol=1e-4)
    projector = (np.eye(space.size) + parity * flip) / 2
    inside = np.linalg.eigvalsh(matrix + 100 * (np.eye(space.size) - projector))
    assert energy == pytest.approx(inside[0], rel=1e-9)


def test_lanczos_ends_at_the_size_of_the_space() -> None:
    space = vmc.sector(vmc.TransverseFieldIsingRing(3))
    energy, _ = vmc.lowest_state(space)
    assert energy == pytest.approx(np.linalg.eigvalsh(space.dense())[0])


def test_lanczos_without_convergence() -> None:
    with pytest.raises(RuntimeError, match="within 3 iterations"):
        vmc.lowest_state(vmc.sector(vmc.HeisenbergRing(8), 0), iterations=3)


def test_sectors_have_all_configurations_once() -> None:
    space = vmc.sector(vmc.HeisenbergRing(6), 2)
    assert space.size == math.comb(6, 4) == len(np.unique(space.configurations, axis=0))
    assert (space.configurations.sum(1) == 2).all()


@pytest.mark.parametrize("magnetisation", [1, 10])
def test_sectors_that_are_empty(magnetisation: int) -> None:
    with pytest.raises(ValueError, match="1 to 400000 configurations"):
        vmc.sector(vmc.HeisenbergRing(8), magnetisation)


def test_an_operator_that_leaves_its_sector() -> None:
    with pytest.raises(ValueError, match="leads out of the sector"):
        vmc.sector(vmc.TransverseFieldIsingRing(4), 0)


@pytest.fixture(scope="module")
def bare_wave():
    """A spin wave without cloud, with a Jastrow factor, which leaves the nodes where they are."""
    model = vmc.DressedSpinWave(8)
    start = {**model.initial_parameters(), "jastrow": jnp.linspace(0.2, -0.1, 4)}
    parameters, unravel = ravel_pytree(start)
    amplitude = lambda p, s: model(unravel(p), s)  # noqa: E731
    space = vmc.sector(vmc.HeisenbergRing(8), 0)
    result = jax.jit(lambda p: vmc.full_sum(amplitude, p, space, batch=32))(parameters)
    return amplitude, parameters, space, result


def linear_state(parameters: np.ndarray, spins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """psi and its derivatives (cloud, jastrow) on the bare wave, by hand."""
    model = vmc.DressedSpinWave(8)
    i, j = model._pairs.T
    products = spins[:, i] * spins[:, j]
    distance = np.minimum((i - j) % 8, (j - i) % 8)
    correlations = np.stack([products[:, distance == r].sum(1) for r in range(1, 5)], 1)
    factor = np.exp(correlations @ parameters[-4:])
    signs = spins * (-1.0) ** np.arange(8)
    psi = factor * signs.sum(1)
    clouds = [products @ (model._classes == k) for k in range(model.classes)]  # (size, sites) each
    slopes = [factor * (signs * cloud).sum(1) for cloud in clouds]
    return psi, np.column_stack([*slopes, *(psi[:, None] * correlations).T])


def test_full_sum_is_the_dense_answer_at_nodes(bare_wave) -> None:
    _, parameters, space, result = bare_wave
    psi, jacobian = linear_state(np.asarray(parameters), space.configurations.astype(float))
    h = space.dense()
    assert float(result.energy) == pytest.approx(dense.energy(psi, h), abs=1e-12)
    np.testing.assert_allclose(result.gradient, 2 * dense.forces(psi, h, jacobian), atol=1e-11)
    np.testing.assert_allclose(result.probabilities, psi**2 / (psi @ psi), atol=1e-14)
    node = psi == 0
    assert int(result.nodes) == node.sum() == 36
    assert int(result.first_order_nodes) == (node & (jacobian != 0).any(1)).sum() == 16


def test_energy_as_a_quotient_has_the_same_gradient(bare_wave) -> None:
    amplitude, parameters, space, result = bare_wave
    huge = ls.exp(-3e4)

    def energy(p: jax.Array) -> jax.Array:
        return vmc.full_energy(lambda s: huge * amplitude(p, s), space)

    value, gradient = jax.jit(jax.value_and_grad(energy))(parameters)
    assert float(value) == pytest.approx(float(result.energy), abs=1e-12)
    np.testing.assert_allclose(gradient, result.gradient, atol=1e-12)


def test_exact_samples_follow_the_probabilities(bare_wave) -> None:
    space = bare_wave[2]
    probabilities = np.random.default_rng(1).random(space.size)
    probabilities[:20] = 0.0
    probabilities /= probabilities.sum()
    drawn = vmc.exact_samples(jax.random.key(0), space, jnp.asarray(probabilities), (100, 200))
    assert drawn.shape == (100, 200, 8)
    powers = 1 << np.arange(8)
    order = (space.configurations > 0) @ powers
    counts = np.bincount(
        np.searchsorted(order, ((np.asarray(drawn) > 0) @ powers).ravel()), minlength=70
    )
    expected = 20_000 * probabilities
    assert (counts[:20] == 0).all()
    scores = (counts - expected)[20:] / np.sqrt(expected[20:])
    assert np.abs(scores).max() < 4.5
