import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
from logspace import vmc

from . import dense

SITES = 4


def numbers_of(sigma: jax.Array) -> np.ndarray:
    """Configurations as integers, in the order of `dense.configurations`."""
    return (np.asarray(sigma) < 0) @ (1 << np.arange(SITES)[::-1])


def table_density(values: np.ndarray, log_scale: float = 0.0):
    """A density given by a table over all configurations, scaled by any factor."""
    powers = 1 << np.arange(SITES)[::-1]
    table = jnp.asarray(values)
    return lambda sigma: ls.from_linear(table[(sigma < 0) @ powers]) * ls.exp(log_scale)


def test_random_configurations_are_uniform_in_their_sector() -> None:
    drawn = vmc.random_configurations(jax.random.key(0), SITES, (200, 100))
    assert drawn.shape == (200, 100, SITES) and drawn.dtype == jnp.int8
    assert (np.asarray(drawn).sum(-1) == 0).all()
    counts = np.bincount(numbers_of(drawn).ravel(), minlength=16)
    counts = counts[counts > 0]
    assert len(counts) == 6
    assert np.abs((counts - 20_000 / 6) / np.sqrt(20_000 / 6)).max() < 4
    anything = vmc.random_configurations(jax.random.key(0), SITES, (4000,), None)
    assert len(np.unique(numbers_of(anything))) == 16
    np.testing.assert_array_equal(vmc.random_configurations(jax.random.key(0), 3, (5,), 3), 1)


@pytest.mark.parametrize("magnetisation", [1, -6])
def test_magnetisations_that_do_not_exist(magnetisation: int) -> None:
    with pytest.raises(ValueError, match=f"magnetisation={magnetisation} was given"):
        vmc.random_configurations(jax.random.key(0), 4, (2,), magnetisation)


@pytest.mark.parametrize(("reach", "distances"), [(1, {1}), (2, {1, 2}), (4, {1, 2, 3, 4})])
def test_exchanges_reach_as_far_as_they_say(reach: int, distances: set) -> None:
    labels = jnp.arange(8)  # all different, to see which two were exchanged
    keys = jax.random.split(jax.random.key(1), 400)
    moved = np.asarray(jax.jit(jax.vmap(vmc.Exchange(reach), (0, None)))(keys, labels))
    places = [np.flatnonzero(row != labels) for row in moved]
    assert all(len(place) == 2 for place in places)
    gaps = np.array([j - i for i, j in places])
    assert set(np.minimum(gaps, 8 - gaps)) == distances
    assert set(np.concatenate(places)) == set(range(8))


def test_metropolis_samples_the_density_with_its_zeros() -> None:
    values = np.random.default_rng(3).uniform(0.2, 1.0, 16)
    values[[0, 3, 10, 15]] = 0.0

    @jax.jit
    def run(key: jax.Array, log_scale: jax.Array) -> tuple[vmc.Samples, jax.Array]:
        start = vmc.random_configurations(key, SITES, (4096,), None)
        return vmc.sample(key, table_density(values, log_scale), vmc.flip_one, start, 12, 6)

    drawn, accepted = run(jax.random.key(5), 0.0)
    assert drawn.configurations.shape == (4096, 12, SITES)
    assert 0.4 < accepted < 0.8
    seen = numbers_of(drawn.configurations)
    np.testing.assert_allclose(drawn.density.to_linear(), values[seen], rtol=1e-12)
    last = np.bincount(seen[:, -1], minlength=16)
    probabilities = 4096 * values / values.sum()
    assert (last[values == 0] == 0).all()
    live = values > 0
    scores = (last - probabilities)[live] / np.sqrt(probabilities[live])
    assert np.abs(scores).max() < 4
    # A factor that no float can hold changes nothing.
    scaled, _ = run(jax.random.key(5), 5e3)
    assert (numbers_of(scaled.configurations) == seen).mean() > 0.999


def test_chains_leave_zeros_that_hold_log_chains_for_ever() -> None:
    """The only configuration with psi != 0 is four flips away from the start."""
    values = np.zeros(16)
    values[0] = 1.0
    start = jnp.full((50, SITES), -1, jnp.int8)
    run = jax.jit(lambda k: vmc.metropolis(k, table_density(values), vmc.flip_one, start, 200))
    state, _ = run(jax.random.key(0))
    assert (np.asarray(state.configurations) == 1).all()
    assert (state.density == 1).all()
    powers = 1 << np.arange(SITES)[::-1]
    log_psi = jnp.log(jnp.asarray(values).astype(complex))
    stuck, samples, accepted = jax.jit(
        lambda k: vmc.log_metropolis(
            k, lambda s: log_psi[(s < 0) @ powers], vmc.flip_one, start, 5, 40
        )
    )(jax.random.key(0))
    assert (np.asarray(stuck) == -1).all() and samples.shape == (50, 5, SITES) and accepted == 0


@pytest.mark.full
def test_log_metropolis_samples_psi_squared() -> None:
    psi = np.random.default_rng(3).uniform(0.4, 1.0, 16) * (-1) ** np.arange(16)
    powers = 1 << np.arange(SITES)[::-1]
    table = jnp.log(jnp.asarray(psi).astype(complex))
    start = vmc.random_configurations(jax.random.key(1), SITES, (4096,), None)
    last, _, _ = jax.jit(
        lambda k: vmc.log_metropolis(
            k, lambda s: table[(s < 0) @ powers], vmc.flip_one, start, 1, 60
        )
    )(jax.random.key(2))
    counts = np.bincount(numbers_of(last), minlength=16)
    probabilities = 4096 * psi**2 / (psi @ psi)
    assert np.abs((counts - probabilities) / np.sqrt(probabilities)).max() < 4


def test_start_chains_moves_to_the_support() -> None:
    values = np.zeros(16)
    values[[2, 7]] = 1.0
    candidates = vmc.random_configurations(jax.random.key(0), SITES, (40, 30), None)
    found = vmc.start_chains(table_density(values), candidates)
    seen = numbers_of(candidates)
    for chain, number in enumerate(numbers_of(found)):
        tried = seen[:, chain]
        live = tried[np.isin(tried, [2, 7])]
        assert number == (live[0] if len(live) else tried[0])


def test_densities_are_their_formulas() -> None:
    operator = vmc.TransverseFieldIsingRing(SITES, 1.0, 0.5)
    h = dense.ising(SITES, 1.0, 0.5)
    psi = np.random.default_rng(0).normal(size=16)
    psi[:6] = 0.0
    amplitude = table_density(psi, 400.0)
    sigma = dense.configurations(SITES)

    def values(density) -> np.ndarray:
        return np.asarray((jax.jit(jax.vmap(density))(sigma) / ls.exp(800.0)).to_linear())

    np.testing.assert_allclose(values(vmc.born_density(amplitude)), psi**2, rtol=1e-12)
    residual = vmc.residual_density(amplitude, operator, -0.7, 1.4)
    expected = psi**2 + ((h @ psi + 0.7 * psi) / 1.4) ** 2
    np.testing.assert_allclose(values(residual), expected, rtol=1e-12)
    neighbours = sum(dense.product(SITES, {i: dense.X}) for i in range(SITES)) / SITES
    both = vmc.residual_density(amplitude, operator, -0.7, 1.4, 0.2)
    np.testing.assert_allclose(values(both), expected + 0.2 * neighbours @ psi**2, rtol=1e-12)
    blurred = vmc.blurred_density(amplitude, operator, 0.3)
    expected = 0.7 * psi**2 + 0.3 * neighbours @ psi**2
    np.testing.assert_allclose(values(blurred), expected, rtol=1e-12)
    assert (expected > 0).all()
    with pytest.raises(ValueError, match=r"in \[0, 1\]; 1.5 was given"):
        vmc.blurred_density(amplitude, operator, 1.5)
