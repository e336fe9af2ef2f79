import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
from logspace import vmc

from . import dense


def written_out(sites: int, jastrow: np.ndarray, cloud: dict, spins: np.ndarray) -> float:
    """psi of `DressedSpinWave` as its docstring has it; cloud: value by class representative."""
    distance = [
        sum(spins[i] * spins[(i + r) % sites] for i in range(sites))
        for r in range(1, sites // 2 + 1)
    ]
    distance[-1] /= 2  # every pair at the largest distance is met twice
    total = 0.0
    for g in range(sites):
        inside = sum(
            u * sum(spins[(g + a) % sites] * spins[(g + b) % sites] for a, b in pairs)
            for pairs, u in cloud.items()
        )
        total += (-1) ** g * spins[g] * np.exp(inside)
    return total * np.exp(np.dot(jastrow, distance))


def test_dressed_spin_wave_is_the_formula() -> None:
    sites, rng = 6, np.random.default_rng(0)
    model = vmc.DressedSpinWave(sites)
    classes: dict[tuple[int, int], set] = {}
    for a in range(1, sites):
        for b in range(a + 1, sites):
            mirror = (sites - b, sites - a)
            classes.setdefault(min((a, b), mirror), set()).add((a, b))
    assert model.classes == len(classes)
    jastrow = rng.normal(size=3) / 5
    values = rng.normal(size=len(classes)) / 5
    sigma = dense.configurations(sites)
    psi = jax.jit(jax.vmap(model, (None, 0)))(
        {"jastrow": jastrow, "cloud": values}, sigma
    ).to_linear()
    table = model._classes  # the order of the classes is the model's own business
    cloud: dict[tuple, float] = {}
    for p, (i, j) in enumerate(model._pairs):
        number = table[p, 0]
        if number >= 0:
            cloud.setdefault(number, []).append((i, j))
    cloud = {tuple(pairs): values[number] for number, pairs in cloud.items()}
    assert {frozenset(map(tuple, map(sorted, pairs))) for pairs in cloud} == {
        frozenset(map(tuple, map(sorted, pairs))) for pairs in classes.values()
    }
    expected = [written_out(sites, jastrow, cloud, s.astype(float)) for s in sigma]
    np.testing.assert_allclose(psi, expected, rtol=1e-12, atol=1e-13)


def test_dressed_spin_wave_has_its_symmetries() -> None:
    model = vmc.DressedSpinWave(8)
    rng = np.random.default_rng(1)
    parameters = {"jastrow": rng.normal(size=4) / 4, "cloud": rng.normal(size=model.classes) / 4}
    sigma = vmc.random_configurations(jax.random.key(0), 8, (50,))
    psi = jax.jit(jax.vmap(model, (None, 0)))
    value = psi(parameters, sigma).to_linear()
    np.testing.assert_allclose(psi(parameters, -sigma).to_linear(), -value, atol=1e-12)
    moved = psi(parameters, jnp.roll(sigma, 1, -1)).to_linear()
    np.testing.assert_allclose(moved, -value, atol=1e-12)
    mirrored = psi(parameters, sigma[:, (-np.arange(8)) % 8]).to_linear()
    np.testing.assert_allclose(mirrored, value, atol=1e-12)


def test_bare_wave_is_exactly_zero_where_sublattices_agree() -> None:
    model = vmc.DressedSpinWave(12)
    sigma = vmc.random_configurations(jax.random.key(3), 12, (400,))
    parameters = {**model.initial_parameters(), "jastrow": jnp.linspace(0.3, -0.2, 6)}
    psi = jax.jit(jax.vmap(model, (None, 0)))(parameters, sigma)
    node = np.asarray((sigma * (-1) ** np.arange(12)).sum(1) == 0)
    assert 100 < node.sum() < 300
    np.testing.assert_array_equal(psi == 0, node)


@pytest.mark.parametrize("sites", [2, 7])
def test_spin_wave_needs_an_even_ring(sites: int) -> None:
    with pytest.raises(ValueError, match="even ring"):
        vmc.DressedSpinWave(sites)


def test_polarised_product_state_has_first_order_nodes_next_to_it() -> None:
    model = vmc.ProductState(4)
    factors = model.initial_parameters()["factors"]
    amplitude = lambda f, s: model({"factors": f}, s)  # noqa: E731
    sigma = dense.configurations(4)
    psi = jax.jit(jax.vmap(amplitude, (None, 0)))(factors, sigma)
    slopes = jax.jit(jax.vmap(ls.jacobian(amplitude), (None, 0)))(factors, sigma)
    wrong = (sigma < 0).sum(1)
    np.testing.assert_array_equal(psi.to_linear(), wrong == 0)
    assert ((slopes != 0).any((1, 2)) == (wrong <= 1)).all()
    np.testing.assert_array_equal(slopes.to_linear()[wrong == 1].sum((1, 2)), 1.0)
