"""Models where a term, a factor or the whole of psi vanishes, against dense answers."""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import netket as nk
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import logspace as ls
import logspace.netket as lnk
from logspace.netket import models

from . import dense


def energy_gradient(psi: Any, h: np.ndarray, parameters: Any) -> np.ndarray:
    """dE/dx of the dense quotient, for real parameters."""

    def energy(p: Any) -> jax.Array:
        values = psi(p)
        return jnp.vdot(values, h @ values).real / jnp.vdot(values, values).real

    return np.asarray(ravel_pytree(jax.grad(energy)(parameters))[0])


def check(space: Any, model: Any, parameters: Any, operator: Any, psi: Any) -> lnk.FullSumState:
    state = lnk.FullSumState(space, model, variables={"params": parameters})
    h = np.asarray(operator.to_dense())
    stats, gradient = state.expect_and_grad(operator)
    values = np.asarray(psi(parameters))
    assert complex(stats.mean) == pytest.approx(dense.energy(values, h), abs=1e-10)
    expected = energy_gradient(psi, h, parameters)
    np.testing.assert_allclose(np.asarray(ravel_pytree(gradient)[0]), expected, atol=1e-10)
    return state


def chain_of_fermions() -> tuple[Any, Any]:
    from netket.operator.fermion import create, destroy, number

    space = nk.hilbert.SpinOrbitalFermions(4, n_fermions=2)
    hop = sum(
        -create(space, i) @ destroy(space, (i + 1) % 4)
        - create(space, (i + 1) % 4) @ destroy(space, i)
        + 0.7 * number(space, i) @ number(space, (i + 1) % 4)
        for i in range(4)
    )
    return space, hop.to_jax_operator()


A = np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0], [0.25, 0.75]])  # sites (0, 1): det exactly 0
B = np.array([[0.6, 0.3], [0.2, 0.9], [0.5, 0.4], [0.1, 0.7]])


@pytest.mark.full
def test_a_singular_determinant_of_two() -> None:
    space, hop = chain_of_fermions()
    occupied = dense.occupations(space.all_states(), 2)

    def psi(parameters: Any) -> jax.Array:
        m = jax.tree.leaves(parameters)[0][:, occupied]
        return (m[..., 0, 0] * m[..., 1, 1] - m[..., 0, 1] * m[..., 1, 0]).sum(0)

    model = models.MultiSlater2nd(space, n_determinants=2, generalized=True)
    parameters = {"VmapSlater2nd_0": {"M": jnp.asarray(np.stack([A, B]))}}
    check(space, model, parameters, hop, psi)


@pytest.mark.full
def test_a_singular_determinant_alone_is_a_node() -> None:
    space, hop = chain_of_fermions()
    occupied = dense.occupations(space.all_states(), 2)

    def psi(parameters: Any) -> jax.Array:
        m = parameters["M"][occupied]
        return m[..., 0, 0] * m[..., 1, 1] - m[..., 0, 1] * m[..., 1, 0]

    model = models.Slater2nd(space, generalized=True)
    state = check(space, model, {"M": jnp.asarray(A)}, hop, psi)
    assert (state.to_array() == 0).sum() == 1


@pytest.mark.full
def test_gutzwiller_projection_at_zero() -> None:
    """dE/dg at g = 0 comes from amplitudes that vanish there."""
    space = nk.hilbert.SpinOrbitalFermions(2, s=0.5, n_fermions_per_spin=(1, 1))
    from netket.operator.fermion import create, destroy

    hop = sum(
        -create(space, 0, s) @ destroy(space, 1, s) - create(space, 1, s) @ destroy(space, 0, s)
        for s in (-1, 1)
    ).to_jax_operator()
    states = np.asarray(space.all_states())
    double = ((states[:, :2] == 1) & (states[:, 2:] == 1)).sum(-1)

    class One(nn.Module):
        @nn.compact
        def __call__(self, n: jax.Array) -> ls.LogArray:
            return ls.ones(n.shape[:1])

    def psi(parameters: Any) -> jax.Array:
        return jnp.where(double == 1, parameters["g"], 1.0)

    model = models.Gutzwiller(One(), initial=0.0)
    check(space, model, {"g": jnp.zeros(())}, hop, psi)


@pytest.mark.full
def test_symmetry_sector_with_forbidden_configurations() -> None:
    chain = nk.graph.Chain(4)
    space = nk.hilbert.Spin(0.5, 4)
    heisenberg = nk.operator.Heisenberg(space, chain).to_jax_operator()
    group = chain.translation_group()
    states = np.asarray(space.all_states())
    chi = np.array([1.0, -1.0, 1.0, -1.0])
    images = states[:, np.asarray(group)]

    class Field(nn.Module):
        @nn.compact
        def __call__(self, sigma: jax.Array) -> ls.LogArray:
            w = self.param("w", lambda key: jnp.array([0.3, -0.2, 0.1, 0.5]))
            return ls.exp(sigma @ w)

    def psi(parameters: Any) -> jax.Array:
        return (chi / 4 * jnp.exp(images @ parameters["module"]["w"])).sum(-1)

    model = models.SymmExpSum(Field(), group, characters=np.asarray(chi))
    parameters = {"module": {"w": jnp.array([0.3, -0.2, 0.1, 0.5])}}
    state = check(space, model, parameters, heisenberg, psi)
    assert (state.to_array() == 0).any()


@pytest.mark.full
def test_applied_operator_with_cancelling_rows() -> None:
    space = nk.hilbert.Spin(0.5, 3)
    ising = nk.operator.IsingJax(space, nk.graph.Chain(3), h=1.0, J=0.5)
    dense_matrix = np.asarray(ising.to_dense())
    states = np.asarray(space.all_states())

    class Linear(nn.Module):
        @nn.compact
        def __call__(self, sigma: jax.Array) -> ls.LogArray:
            w = self.param("w", lambda key: jnp.ones(3))
            return ls.from_linear(sigma @ w)

    def psi(parameters: Any) -> jax.Array:
        return dense_matrix @ (states @ parameters["module"]["w"])

    model = models.apply_operator(ising, Linear())
    check(space, model, {"module": {"w": jnp.array([1.0, 1.0, 0.0])}}, ising, psi)


def test_rbm_with_vanishing_cosh() -> None:
    """A complex bias i pi / 2 makes a hidden unit 0 where the spins cancel."""
    space = nk.hilbert.Spin(0.5, 2)
    model = models.RBM(param_dtype=complex, alpha=1, use_visible_bias=False)
    kernel = jnp.array([[0.4, 0.1], [0.4, -0.3]], complex)
    bias = jnp.array([0.5j * jnp.pi, 0.1])
    variables = {"params": {"Dense": {"kernel": kernel, "bias": bias}}}
    state = lnk.FullSumState(space, model, variables=variables)
    states = np.asarray(space.all_states())
    expected = np.cosh(states @ np.asarray(kernel) + np.asarray(bias)).prod(-1)
    np.testing.assert_allclose(state.to_array(False), expected, atol=1e-15)
    _, gradient = state.expect_and_grad(
        nk.operator.IsingJax(space, nk.graph.Chain(2, pbc=False), h=1.0)
    )
    assert all(np.isfinite(np.asarray(x)).all() for x in jax.tree.leaves(gradient))


@pytest.mark.full
def test_kinetic_energy_of_the_first_excited_oscillator() -> None:
    """psi = x exp(-x^2 / 2) vanishes at 0; H psi = 3/2 psi at every x, node included."""
    space = nk.experimental.hilbert.Particle(1, geometry=nk.experimental.geometry.FreeSpace(d=1))
    operator = nk.operator.KineticEnergy(space, mass=1.0) + nk.operator.PotentialEnergy(
        space, lambda x: 0.5 * (x**2).sum()
    )

    class Excited(nn.Module):
        @nn.compact
        def __call__(self, x: jax.Array) -> ls.LogArray:
            b = self.param("b", lambda key: jnp.ones(()))
            return ls.from_linear(x[:, 0]) * ls.exp(-0.5 * b * (x**2).sum(-1) + 900.0)

    sampler = nk.sampler.MetropolisGaussian(space, sigma=1.0, n_chains=16)
    state = lnk.MCState(sampler, Excited(), n_samples=256, sampler_seed=2, seed=0)
    stats, gradient = state.expect_and_grad(operator)
    assert float(stats.mean) == pytest.approx(1.5, abs=1e-10)
    assert float(stats.variance) == pytest.approx(0, abs=1e-18)
    assert float(gradient["b"]) == pytest.approx(0, abs=1e-9)


def test_layers_of_zero_terms() -> None:
    """A weight that is 0, and a matrix of rank n - 1, keep their derivatives."""
    log, b = jnp.array([0.3, -1000.0, 2.0]), jnp.array([1.0, 2.0, 0.0])
    gradient = jax.grad(lambda b: models.logsumexp(log, b=b).log())(b)
    np.testing.assert_allclose(gradient, np.exp(log) / np.exp(0.3), rtol=1e-12)
    a = jnp.stack([jnp.array([[1.0, 2.0], [2.0, 4.0]]), jnp.eye(2)])
    gradient = jax.grad(lambda a: models.logdet(a).to_linear().sum())(a)
    np.testing.assert_allclose(gradient[0], [[4.0, -2.0], [-2.0, 1.0]], rtol=1e-12)
    np.testing.assert_allclose(models.logdet(ls.from_linear(a)).to_linear(), [0.0, 1.0])
