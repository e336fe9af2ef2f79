"""Fidelity, Renyi entropy, minSR, velocities and kinetic energies against dense answers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
from logspace import vmc

from . import dense
from .test_estimators import make_state, numbers


@pytest.mark.parametrize("log_scale", [0.0, pytest.param(3e4, marks=pytest.mark.full)])
def test_fidelity_and_its_gradient(log_scale: float) -> None:
    """By full summation, and with every configuration as often as an integer density says."""
    state = make_state(complex, 0.0)
    rng = np.random.default_rng(8)
    phi = rng.normal(size=16) + 1j * rng.normal(size=16)
    phi[[1, 7]] = 0
    expected = abs(np.vdot(phi, state.psi)) ** 2 / np.vdot(phi, phi) / np.vdot(state.psi, state.psi)
    h = -np.outer(phi, phi.conj()) / np.vdot(phi, phi)
    psi, target = numbers(state.psi, log_scale), numbers(phi, -log_scale)
    sides = vmc.Overlap(psi, target), vmc.Overlap(target, psi)
    result = jax.jit(vmc.fidelity)(*sides)
    assert float(result.mean) == pytest.approx(expected.real, abs=1e-12)
    assert float(result.error) == 0
    jacobian = numbers(state.jacobian, log_scale)
    energy, force = jax.jit(vmc.infidelity_forces)(*sides, jacobian)
    assert complex(energy.mean) == pytest.approx(-expected.real, abs=1e-12)
    np.testing.assert_allclose(force.mean, dense.forces(state.psi, h, state.jacobian), atol=1e-11)


def test_fidelity_from_weighted_samples() -> None:
    state = make_state(float, 0.0)
    rng = np.random.default_rng(9)
    phi = rng.normal(size=16)
    density = rng.integers(1, 5, 16)
    rows = np.repeat(np.arange(16), 12 * density).reshape(2, -1, order="F")
    q = numbers(density[rows].astype(float), -700.0)
    psi, target = numbers(state.psi, 900.0)[rows], numbers(phi)[rows]
    result = jax.jit(vmc.fidelity)(vmc.Overlap(psi, target, q), vmc.Overlap(target, psi, q))
    expected = (phi @ state.psi) ** 2 / (phi @ phi) / (state.psi @ state.psi)
    assert float(result.mean) == pytest.approx(expected, abs=1e-12)
    assert float(result.error) > 0


@pytest.mark.parametrize("dtype", [pytest.param(float, marks=pytest.mark.full), complex])
def test_second_renyi_entropy(dtype: type) -> None:
    psi = make_state(dtype, 0.0).psi
    matrix = psi.reshape(4, 4)
    rho = matrix @ matrix.conj().T / np.vdot(psi, psi)
    sigma = jnp.asarray(dense.configurations(4))
    powers = 1 << np.arange(4)[::-1]

    def amplitude(s: jax.Array) -> ls.LogArray:
        return numbers(psi, 800.0)[(s < 0) @ powers]

    first, second = (jnp.asarray(x) for x in np.broadcast_arrays(sigma[:, None], sigma[None]))
    pairs = vmc.swapped(first, second, [0, 1])
    purity, entropy = jax.jit(vmc.renyi2)(
        amplitude(first), amplitude(second), (amplitude(pairs[0]), amplitude(pairs[1]))
    )
    expected = np.trace(rho @ rho).real
    assert complex(purity.mean) == pytest.approx(expected, abs=1e-12)
    assert float(entropy) == pytest.approx(-np.log(expected), abs=1e-12)


@pytest.mark.parametrize("dtype", [float, pytest.param(complex, marks=pytest.mark.full)])
def test_minimal_form_of_the_step(dtype: type) -> None:
    state = make_state(dtype, 200.0)
    step = jax.jit(vmc.minimal_stochastic_reconfiguration)(*state.arrays, shift=1e-3)
    force = dense.forces(state.psi, state.h, state.jacobian).real
    metric = dense.metric(state.psi, state.jacobian).real
    expected = -np.linalg.solve(metric + 1e-3 * np.eye(3), force)
    np.testing.assert_allclose(step, expected, rtol=1e-9)


@pytest.mark.parametrize("imaginary", [False, pytest.param(True, marks=pytest.mark.full)])
def test_velocity_is_that_of_the_schroedinger_equation(imaginary: bool) -> None:
    """A product state that is all up in a transverse field; every other configuration is a node."""
    ring = vmc.TransverseFieldIsingRing(3, coupling=0.0, field=0.7)
    space = vmc.sector(ring)
    model = vmc.ProductState(3)
    start = jnp.asarray(model.initial_parameters()["factors"], complex).ravel()

    def amplitude(p: jax.Array, s: jax.Array) -> ls.LogArray:
        return model({"factors": p.reshape(3, 2)}, s)

    sigma = jnp.asarray(space.configurations)
    psi = jax.vmap(amplitude, (None, 0))(start, sigma)
    jacobian = jax.jit(jax.vmap(ls.jacobian(amplitude, holomorphic=True), (None, 0)))(start, sigma)
    h_psi = (space.elements * psi[space.columns]).sum(1)
    _, force, metric = jax.jit(vmc.expect_forces_and_metric)(psi, h_psi, jacobian)
    velocity = vmc.time_derivative(metric, force.mean, holomorphic=True, imaginary=imaginary)
    turn = 0.7 if imaginary else 0.7j
    np.testing.assert_allclose(velocity.reshape(3, 2), [[0, turn]] * 3, atol=1e-12)


def test_velocity_in_real_parameters() -> None:
    state = make_state(complex, 0.0)
    metric = dense.metric(state.psi, state.jacobian)
    force = dense.forces(state.psi, state.h, state.jacobian)
    velocity = vmc.time_derivative(jnp.asarray(metric), jnp.asarray(force))
    np.testing.assert_allclose(metric.real @ velocity, force.imag, atol=1e-10)


def excited_oscillator(x: jax.Array) -> ls.LogArray:
    return ls.from_linear(x[0]) * ls.exp(-0.5 * (x**2).sum() + 900.0)


def hydrogen(x: jax.Array) -> ls.LogArray:
    """2s: with a nodal sphere at r = 2."""
    r = jnp.sqrt((x**2).sum())
    return ls.from_linear(2.0 - r) * ls.exp(-r / 2 - 1200.0)


def test_kinetic_energies_of_eigenstates() -> None:
    x = jax.random.normal(jax.random.key(0), (20, 2))
    local = jax.jit(jax.vmap(lambda y: vmc.local_kinetic_energy(excited_oscillator, y)))(x)
    np.testing.assert_allclose(local + 0.5 * (x**2).sum(-1), 2.0, rtol=1e-9)


@pytest.mark.full
def test_kinetic_energy_on_the_nodal_sphere_of_hydrogen() -> None:
    x = 2 * jax.random.normal(jax.random.key(1), (20, 3))
    local = jax.jit(jax.vmap(lambda y: vmc.local_kinetic_energy(hydrogen, y)))(x)
    potential = -1 / np.sqrt((np.asarray(x) ** 2).sum(-1))
    np.testing.assert_allclose(local + potential, -1 / 8, rtol=1e-8)
    # On the node H psi = E psi = 0, from a kinetic energy that is an ordinary number.
    node = jnp.array([2.0, 0.0, 0.0])
    assert float(hydrogen(node).sign) == 0
    assert abs(float((vmc.kinetic(hydrogen, node) * ls.exp(1200.0)).to_linear())) < 1e-15


def test_densities_that_cover_everything() -> None:
    ring = vmc.TransverseFieldIsingRing(4)
    model = vmc.ProductState(4)
    up = model.initial_parameters()
    sigma = jnp.asarray(dense.configurations(4))
    mixed = vmc.uniform_mixture(lambda s: model(up, s), 1.0, 16, 0.25)
    values = jax.vmap(mixed)(sigma).to_linear()
    np.testing.assert_allclose(values, 0.25 / 16 + 0.75 * (np.arange(16) == 0))
    floored = vmc.floored_density(lambda s: model(up, s), 0.125)
    values = jax.vmap(floored)(sigma).to_linear()
    np.testing.assert_allclose(values, np.where(np.arange(16) == 0, 1.0, 0.125))
    missed = vmc.missed_weight(lambda s: model(up, s), ring, sigma[:1])
    assert float(missed) == pytest.approx(4.0)
    assert float(vmc.missed_weight(lambda s: ls.ones(()), ring, sigma)) == 0
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        vmc.uniform_mixture(lambda s: model(up, s), 1.0, 16, 1.5)
