import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import logspace as ls
from logspace import vmc


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
    model = vmc.DressedSpinWave(8)
    parameters, unravel = ravel_pytree(model.initial_parameters())
    # A Jastrow factor leaves the nodes where they are.
    jastrow = ravel_pytree(
        {"jastrow": jnp.linspace(0.2, -0.1, 4), "cloud": jnp.zeros(model.classes)}
    )
    space = vmc.sector(vmc.HeisenbergRing(8), 0)
    amplitude = lambda p, s: model(unravel(p), s)  # noqa: E731
    result = jax.jit(lambda p: vmc.full_sum(amplitude, p, space, batch=32))(jastrow[0])
    return amplitude, jastrow[0], space, result


def linear_amplitudes(amplitude, parameters, space) -> np.ndarray:
    return np.asarray(
        jax.vmap(lambda s: amplitude(parameters, s).to_linear())(space.configurations)
    )


def test_full_sum_is_the_dense_answer_at_nodes(bare_wave) -> None:
    amplitude, parameters, space, result = bare_wave
    h = space.dense()

    def energy(p: jax.Array) -> jax.Array:
        psi = jax.vmap(lambda s: amplitude(p, s).to_linear())(space.configurations)
        return psi @ h @ psi / (psi @ psi)

    value, gradient = jax.jit(jax.value_and_grad(energy))(parameters)
    assert float(result.energy) == pytest.approx(float(value), abs=1e-12)
    np.testing.assert_allclose(result.gradient, gradient, atol=1e-12)
    psi = linear_amplitudes(amplitude, parameters, space)
    np.testing.assert_allclose(result.probabilities, psi**2 / (psi @ psi), atol=1e-14)
    assert int(result.nodes) == (psi == 0).sum() == 36
    assert 0 < int(result.first_order_nodes) < 36


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
