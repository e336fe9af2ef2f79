"""Velocities of the time-dependent variational principle, at nodes and without."""

from typing import Any

import netket as nk
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import logspace.netket as lnk
from logspace.netket import models

from .states import SPACE, Product
from .test_agreement import ISING, MODELS


def flat(tree: Any) -> np.ndarray:
    return np.asarray(ravel_pytree(tree)[0])


@pytest.mark.full
def test_velocity_from_a_product_state() -> None:
    """NetKet's own: nan by full summation, frozen by sampling. d s_j / dt = i h c_j."""
    space = nk.hilbert.Spin(0.5, 3)
    field = nk.operator.IsingJax(space, nk.graph.Chain(3), h=0.7, J=0.0)
    full = lnk.FullSumState(space, Product(), seed=0)
    sampled = lnk.MCState(nk.sampler.ExactSampler(space), Product(), n_samples=2**12, seed=0)
    for state in (full, sampled):
        driver = nk.experimental.driver.TDVP(
            field,
            state,
            ode_solver=nk.experimental.dynamics.Euler(dt=0.01),
            qgt=lnk.QGTJacobianDense(holomorphic=True, diag_shift=1e-8),
            linear_solver=nk.optimizer.solver.pinv_smooth(rtol=1e-10),
        )
        before = flat(state.parameters)
        driver.run(0.01, show_progress=False, out=nk.logging.RuntimeLog())
        velocity = (flat(state.parameters) - before) / 0.01
        np.testing.assert_allclose(velocity, [0, 0, 0, 0.7j, 0.7j, 0.7j], atol=1e-6)


@pytest.mark.full
def test_schmitts_velocity_from_a_product_state() -> None:
    space = nk.hilbert.Spin(0.5, 3)
    field = nk.operator.IsingJax(space, nk.graph.Chain(3), h=0.7, J=0.0)
    sampler = nk.sampler.ExactSampler(space)
    state = lnk.MCState(sampler, Product(), n_samples=2**14, seed=0, node_coverage=0.5)
    driver = nk.experimental.driver.TDVPSchmitt(
        field, state, ode_solver=nk.experimental.dynamics.Euler(dt=0.01), holomorphic=True
    )
    before = flat(state.parameters)
    driver.run(0.01, show_progress=False, out=nk.logging.RuntimeLog())
    velocity = (flat(state.parameters) - before) / 0.01
    np.testing.assert_allclose(velocity, [0, 0, 0, 0.7j, 0.7j, 0.7j], atol=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("propagation", ["real", "imag"])
@pytest.mark.parametrize("name", ["rbm_complex", "rbm_phase"])
def test_schmitts_velocity_is_netkets_without_nodes(name: str, propagation: str) -> None:
    model = MODELS[name]()
    holomorphic = name == "rbm_complex"
    sampler = nk.sampler.MetropolisLocal(SPACE, n_chains=4)
    theirs = nk.vqs.MCState(sampler, model, n_samples=256, seed=1)
    mine = lnk.MCState(
        sampler,
        models.from_log_psi(model),
        n_samples=256,
        variables={"params": {"model": theirs.parameters}},
        node_coverage=0.0,
    )
    samples = theirs.samples
    steps = []
    for state in (theirs, mine):
        object.__setattr__(state, "reset", lambda: None)  # the same samples for both
        state._samples = samples
        driver = nk.experimental.driver.TDVPSchmitt(
            ISING,
            state,
            ode_solver=nk.experimental.dynamics.Euler(dt=0.01),
            holomorphic=holomorphic,
            propagation_type=propagation,
            # NetKet 3.23 takes the noise of a complex eigenvector from its conjugate
            snr_atol=0.0 if holomorphic else 1.0,
        )
        before = flat(state.parameters)
        driver.run(0.01, show_progress=False, out=nk.logging.RuntimeLog())
        steps.append((flat(state.parameters) - before) / 0.01)
    np.testing.assert_allclose(steps[1], steps[0], atol=1e-6)
