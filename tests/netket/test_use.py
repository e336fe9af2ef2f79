"""Frameworks of models, bad input, and what of NetKet's private parts is used."""

import subprocess
import sys
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import netket as nk
import numpy as np
import pytest
from flax import nnx, serialization

import logspace as ls
import logspace.netket as lnk
from logspace.netket import models

from . import dense
from .states import ISING, PSI, SPACE, Difference, F, G, H, table_index


class EquinoxDifference(eqx.Module):
    theta: jax.Array

    def __call__(self, sigma: jax.Array) -> ls.LogArray:
        index = table_index(sigma)
        return ls.from_linear(
            self.theta[0] * jnp.take(F, index) - self.theta[1] * jnp.take(G, index)
        )


class NnxDifference(nnx.Module):
    def __init__(self) -> None:
        self.theta = nnx.Param(jnp.ones(2))

    def __call__(self, sigma: jax.Array) -> ls.LogArray:
        index = table_index(sigma)
        theta = self.theta[...]
        return ls.from_linear(theta[0] * jnp.take(F, index) - theta[1] * jnp.take(G, index))


def _init(key: jax.Array, shape: Any) -> Any:
    return shape, {"theta": jnp.ones(2)}


def _apply(parameters: Any, sigma: jax.Array) -> ls.LogArray:
    return EquinoxDifference(parameters["theta"])(sigma)


@pytest.mark.parametrize(
    "model",
    [
        lambda: EquinoxDifference(jnp.ones(2)),
        pytest.param(NnxDifference, marks=pytest.mark.full),
        pytest.param(lambda: (_init, _apply), marks=pytest.mark.full),
    ],
)
def test_frameworks(model: Any) -> None:
    state = lnk.FullSumState(SPACE, model(), seed=0)
    stats, gradient = state.expect_and_grad(ISING)
    assert float(stats.mean) == pytest.approx(dense.energy(PSI, H), abs=1e-10)
    assert jax.tree.structure(gradient) == jax.tree.structure(state.parameters)
    assert np.isfinite(np.asarray(jax.tree.leaves(gradient)[0])).all()
    state.model  # noqa: B018 - it can be put together again


def state_of(function: Any, **options: Any) -> lnk.FullSumState:
    return lnk.FullSumState(SPACE, apply_fun=function, variables={"params": {}}, **options)


def test_models_that_return_anything_else() -> None:
    with pytest.raises(TypeError, match="LogArray of shape .batch,.; got .*logspace.exp"):
        state_of(lambda v, s: s.sum(-1)).to_array()
    with pytest.raises(ValueError, match=r"shape \(batch,\) = \(16,\)"):
        state_of(lambda v, s: ls.exp(s)).to_array()
    with pytest.raises(ValueError, match="Index|index away"):
        state_of(lambda v, s: ls.ones((s.shape[0], 1))).to_array()
    with pytest.raises(TypeError, match="Flax"):
        lnk.FullSumState(SPACE, 3.0)


def test_operators_on_another_space() -> None:
    other = nk.hilbert.Spin(0.5, 3)
    operator = nk.operator.IsingJax(other, nk.graph.Chain(3), h=1.0)
    with pytest.raises(ValueError, match="same Hilbert space"):
        state_of(lambda v, s: ls.ones(s.shape[:1])).expect(operator)


def test_numbers_that_are_not_numbers() -> None:
    state = lnk.FullSumState(SPACE, Difference(), seed=0)
    state.parameters = {"theta": jnp.array([1.0, jnp.nan])}
    with pytest.raises(FloatingPointError, match="theta"):
        state.expect(ISING)
    sampler = nk.sampler.ExactSampler(SPACE)
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        lnk.MCState(sampler, Difference(), node_coverage=1.0)
    with pytest.raises(ValueError, match="machine_pow=2"):
        lnk.MCState(nk.sampler.ExactSampler(SPACE, machine_pow=1), Difference(), seed=0)
    with pytest.raises(TypeError, match="NetKet's own constructor"):
        lnk.QGTJacobianDense(nk.vqs.FullSumState(SPACE, nk.models.RBM()))
    with pytest.raises(TypeError, match="to_jax_operator"):
        models.apply_operator(ISING.to_numba_operator(), Difference())


def test_a_state_without_support_is_refused() -> None:
    state = lnk.MCState(
        nk.sampler.MetropolisLocal(SPACE, n_chains=4),
        apply_fun=lambda v, s: ls.zeros(s.shape[:1]),
        variables={"params": {}},
        n_samples=8,
    )
    with pytest.raises(RuntimeError, match="psi != 0"):
        state.samples  # noqa: B018


@pytest.mark.full
def test_states_are_saved_and_read() -> None:
    sampler = nk.sampler.MetropolisLocal(SPACE, n_chains=4)
    state = lnk.MCState(sampler, Difference(), n_samples=64, node_coverage=0.25, seed=0)
    state.sample()
    read = serialization.from_bytes(state, serialization.to_bytes(state))
    np.testing.assert_array_equal(read.samples, state.samples)
    assert read.node_coverage == 0.25


@pytest.mark.full
def test_the_library_does_not_import_netket() -> None:
    check = "import logspace, logspace.vmc, sys; assert 'netket' not in sys.modules"
    subprocess.run([sys.executable, "-c", check], check=True)


def test_private_parts_of_netket() -> None:
    """Fails, with the name, where a new NetKet has changed what `_private` relies on."""
    state = nk.vqs.MCState(nk.sampler.ExactSampler(SPACE), nk.models.RBM())
    for name in ("_sampler_model", "_sampler_variables"):
        assert isinstance(getattr(nk.vqs.MCState, name), property), name
    for name in ("_apply_fun", "_model", "_samples", "_sampler_state_previous", "_sampler_seed"):
        assert hasattr(state, name), name
    for name in ("_update", "_choose_mode"):
        assert not hasattr(nk.driver.VMC_SR, name), f"NetKet now has a VMC_SR.{name} of its own"
    for name in ("_old_updates", "_mcmc_convergence_diagnostics_ema_decay"):
        assert hasattr(nk.driver.VMC_SR, name), name


@pytest.mark.parametrize(
    ("space", "count"),
    [
        (lambda: nk.hilbert.Spin(1.0, 3), 6),
        (lambda: nk.hilbert.Spin(0.5, 4, total_sz=0), 6),
        (lambda: nk.hilbert.Fock(2, 3, n_particles=3), 3),
        (lambda: nk.hilbert.SpinOrbitalFermions(3, n_fermions=2), 3),
        (lambda: nk.hilbert.SpinOrbitalFermions(3, s=0.5, n_fermions=2), 15),
        (lambda: nk.hilbert.SpinOrbitalFermions(3, s=0.5, n_fermions_per_spin=(2, 1)), 6),
        (lambda: nk.hilbert.SpinOrbitalFermions(3), 3),
    ],
)
def test_default_moves_stay_in_their_space_and_have_reverses(space: Any, count: int) -> None:
    from logspace.netket._moves import default_moves

    space = space()
    moves = default_moves(space, None)
    assert moves is not None
    states = np.asarray(space.all_states())
    moved = np.asarray(moves.neighbours(jnp.asarray(states)))
    assert moved.shape == (len(states), count, space.size)
    numbers = np.asarray(space.states_to_numbers(moved.reshape(-1, space.size)))
    transitions = np.zeros((len(states), len(states)))
    np.add.at(transitions, (np.repeat(np.arange(len(states)), count), numbers), 1)
    np.testing.assert_array_equal(transitions, transitions.T)
