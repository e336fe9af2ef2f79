import jax
import numpy as np
import pytest

import logspace as ls
from logspace import vmc

from . import dense


def in_product_order(space: vmc.Sector) -> np.ndarray:
    """The matrix of a sector of all configurations, in the order of the Kronecker products."""
    keys = (dense.configurations(space.configurations.shape[1]) > 0) @ (
        1 << np.arange(space.configurations.shape[1])
    )
    return space.dense()[np.ix_(keys, keys)]


@pytest.mark.parametrize("marshall", [True, False])
def test_heisenberg_ring_is_the_sum_of_spin_products(marshall: bool) -> None:
    operator = vmc.HeisenbergRing(6, marshall=marshall)
    matrix = in_product_order(vmc.sector(operator))
    np.testing.assert_allclose(matrix, dense.heisenberg(6, marshall), atol=1e-14)


def test_odd_ring_without_rotation() -> None:
    matrix = in_product_order(vmc.sector(vmc.HeisenbergRing(5, marshall=False)))
    np.testing.assert_allclose(matrix, dense.heisenberg(5, False), atol=1e-14)


def test_ising_ring_is_the_sum_of_pauli_products() -> None:
    matrix = in_product_order(vmc.sector(vmc.TransverseFieldIsingRing(5, 0.7, 1.3)))
    np.testing.assert_allclose(matrix, dense.ising(5, 0.7, 1.3), atol=1e-14)


@pytest.mark.parametrize(("sites", "energy"), [(4, -2.0), (8, -3.651093408937)])
def test_known_ground_states(sites: int, energy: float) -> None:
    found, _ = vmc.lowest_state(vmc.sector(vmc.HeisenbergRing(sites), 0))
    assert found == pytest.approx(energy, abs=1e-9)


def test_apply_operator_gives_psi_and_h_psi_of_any_size() -> None:
    operator = vmc.TransverseFieldIsingRing(4, 1.0, 0.5)
    space = vmc.sector(operator)
    values = np.random.default_rng(0).normal(size=space.size)
    values[3] = 0.0
    table, powers = jax.numpy.asarray(values), 1 << np.arange(4)

    def amplitude(sigma: jax.Array) -> ls.LogArray:
        return ls.exp(1e4) * ls.from_linear(table[(sigma > 0) @ powers])

    psi, h_psi = jax.jit(jax.vmap(lambda s: vmc.apply_operator(amplitude, operator, s)))(
        space.configurations
    )
    np.testing.assert_allclose((psi / ls.exp(1e4)).to_linear(), values, rtol=1e-15)
    assert int((psi == 0).sum()) == 1
    np.testing.assert_allclose((h_psi / ls.exp(1e4)).to_linear(), space.apply(values), rtol=1e-12)
    assert not np.isfinite(h_psi.to_linear()).any()


@pytest.mark.parametrize(
    "make",
    [
        lambda: vmc.HeisenbergRing(2),
        lambda: vmc.HeisenbergRing(5),
        lambda: vmc.TransverseFieldIsingRing(2),
    ],
)
def test_rings_that_do_not_exist(make) -> None:
    with pytest.raises(ValueError, match="ring requires .* was given"):
        make()


def test_amplitudes_that_are_none() -> None:
    operator, sigma = vmc.HeisenbergRing(4), jax.numpy.ones(4)
    with pytest.raises(TypeError, match=r"must be a LogArray; got .*`logspace.exp` makes one"):
        vmc.apply_operator(lambda s: s.sum(), operator, sigma)
    with pytest.raises(ValueError, match=r"must be a scalar; got shape \[1\]"):
        vmc.apply_operator(lambda s: ls.ones(1), operator, sigma)
