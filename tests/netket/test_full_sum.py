"""Full sums against dense answers, at nodes."""

import contextlib
import io
from typing import Any

import jax
import jax.numpy as jnp
import netket as nk
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import logspace.netket as lnk

from . import dense
from .states import ISING, JACOBIAN, PSI, SPACE, STATES, Difference, H, Positive


def flat(tree: Any) -> np.ndarray:
    return np.asarray(ravel_pytree(tree)[0])


def quietly(driver: Any) -> Any:
    with contextlib.redirect_stdout(io.StringIO()):
        return driver()


@pytest.fixture(scope="module", params=[(float, 0.0), (complex, 4000.0)], ids=str)
def state(request: pytest.FixtureRequest) -> lnk.FullSumState:
    return lnk.FullSumState(SPACE, Difference(*request.param), seed=0)


def test_the_state_has_first_order_nodes() -> None:
    node = PSI == 0
    assert node.sum() >= 3 and (JACOBIAN[node] != 0).any()


def test_energy_variance_gradient_and_forces(state: lnk.FullSumState) -> None:
    stats, gradient = state.expect_and_grad(ISING)
    assert complex(stats.mean) == pytest.approx(dense.energy(PSI, H), abs=1e-10)
    assert float(stats.variance) == pytest.approx(dense.variance(PSI, H), abs=1e-10)
    force = dense.forces(PSI, JACOBIAN, H)
    np.testing.assert_allclose(flat(gradient), 2 * force, atol=1e-10)
    stats, forces = state.expect_and_forces(ISING)
    np.testing.assert_allclose(flat(forces), force, atol=1e-10)
    assert complex(state.expect(ISING).mean) == pytest.approx(dense.energy(PSI, H), abs=1e-10)


@pytest.mark.parametrize(
    "constructor",
    [
        None,
        lnk.QGTOnTheFly,
        pytest.param(lnk.QGTJacobianPyTree, marks=pytest.mark.full),
        nk.optimizer.qgt.QGTJacobianDense,
        pytest.param(nk.optimizer.qgt.QGTJacobianPyTree, marks=pytest.mark.full),
        pytest.param(nk.optimizer.qgt.QGTOnTheFly, marks=pytest.mark.full),
        pytest.param(nk.optimizer.qgt.QGTAuto(), marks=pytest.mark.full),
        pytest.param(nk.optimizer.qgt.QGTJacobianDense(mode="complex"), marks=pytest.mark.full),
        pytest.param(lnk.QGTJacobianDense(diag_scale=1e-12), marks=pytest.mark.full),
    ],
)
def test_quantum_geometric_tensor(constructor: Any) -> None:
    state = lnk.FullSumState(SPACE, Difference(), seed=0)
    tensor = state.quantum_geometric_tensor(constructor)
    expected = dense.metric(PSI, JACOBIAN)
    np.testing.assert_allclose(np.asarray(tensor.to_dense()), expected, atol=1e-10)
    vector = {"theta": jnp.array([0.3, -1.1])}
    np.testing.assert_allclose(flat(tensor @ vector), expected @ flat(vector), atol=1e-10)


@pytest.mark.full
@pytest.mark.parametrize("constructor", [lnk.QGTJacobianDense, lnk.QGTOnTheFly])
def test_holomorphic_tensor(constructor: Any) -> None:
    state = lnk.FullSumState(SPACE, Difference(complex, 300.0), seed=0)
    tensor = state.quantum_geometric_tensor(constructor(holomorphic=True))
    expected = dense.metric(PSI, JACOBIAN)
    np.testing.assert_allclose(np.asarray(tensor.to_dense()), expected, atol=1e-10)


def test_step_of_stochastic_reconfiguration() -> None:
    state = lnk.FullSumState(SPACE, Difference(), seed=0)
    driver = quietly(
        lambda: lnk.VMC_SR(ISING, optax.sgd(0.1), diag_shift=1e-3, variational_state=state)
    )
    stats, step = driver.compute_loss_and_update()
    force = dense.forces(PSI, JACOBIAN, H)
    expected = dense.shifted_step(dense.metric(PSI, JACOBIAN), force, 1e-3)
    assert float(stats.mean) == pytest.approx(dense.energy(PSI, H), abs=1e-10)
    np.testing.assert_allclose(flat(step), expected, atol=1e-9)


def test_netkets_driver_with_sr_descends() -> None:
    state = lnk.FullSumState(SPACE, Difference(), seed=0)
    force = dense.forces(PSI, JACOBIAN, H)
    expected = dense.shifted_step(dense.metric(PSI, JACOBIAN), force, 1e-2)
    sr = nk.optimizer.SR(qgt=lnk.QGTAuto(), diag_shift=1e-2)
    driver = nk.driver.VMC(ISING, optax.sgd(0.1), variational_state=state, preconditioner=sr)
    log = nk.logging.RuntimeLog()
    driver.run(1, out=log, show_progress=False)
    np.testing.assert_allclose(flat(state.parameters), 1 - 0.1 * expected, atol=1e-4)
    assert log.data["Energy"]["Mean"][0] == pytest.approx(dense.energy(PSI, H), abs=1e-10)


def test_netkets_constructor_on_its_own_raises() -> None:
    state = lnk.FullSumState(SPACE, Difference(), seed=0)
    with pytest.raises(TypeError, match="lnk.QGTAuto"):
        nk.optimizer.qgt.QGTJacobianDense(state)


def test_infidelity_and_its_step() -> None:
    state = lnk.FullSumState(SPACE, Difference(float, 900.0), seed=0)
    target = nk.vqs.FullSumState(SPACE, Positive(), seed=0)
    phi = np.exp(np.asarray(target.log_value(jnp.asarray(STATES)))).real
    h = dense.projector(phi)
    expected = 1 + dense.energy(PSI, h)
    force = dense.forces(PSI, JACOBIAN, h)
    stats, gradient = state.expect_and_grad(nk.observable.InfidelityOperator(target))
    assert float(stats.mean) == pytest.approx(expected, abs=1e-10)
    np.testing.assert_allclose(flat(gradient), 2 * force, atol=1e-10)
    driver = quietly(
        lambda: lnk.Infidelity_SR(
            target, optax.sgd(0.1), variational_state=state, diag_shift=1e-3, use_ntk=False
        )
    )
    stats, step = driver.compute_loss_and_update()
    assert float(stats.mean) == pytest.approx(expected, abs=1e-10)
    np.testing.assert_allclose(
        flat(step), dense.shifted_step(dense.metric(PSI, JACOBIAN), force, 1e-3), atol=1e-9
    )


def rayleigh_gradient(h: np.ndarray, what: str) -> np.ndarray:
    """By finite-free differentiation of the dense quotient."""

    def value(theta: jax.Array) -> jax.Array:
        psi = JACOBIAN @ theta
        norm = psi @ psi
        mean = psi @ (h @ psi) / norm
        square = (h @ psi) @ (h @ psi) / norm
        return {"mean": mean, "squared": square, "variance": square - mean**2}[what]

    return np.asarray(jax.grad(value)(jnp.ones(2)))


@pytest.mark.parametrize(
    "what", ["squared", "variance", pytest.param("mean", marks=pytest.mark.full)]
)
def test_gradients_through_the_operator(what: str) -> None:
    """Where NetKet's derivatives of local estimators are nan next to a node."""
    state = lnk.FullSumState(SPACE, Difference(), seed=0)
    raising = sum(nk.operator.spin.sigmap(SPACE, i) for i in range(4))
    operator = {
        "squared": nk.operator.Squared(ISING),
        "variance": nk.observable.VarianceObservable(ISING),
        "mean": raising.to_jax_operator(),
    }[what]
    h = np.asarray(raising.to_dense()).real if what == "mean" else H
    stats, gradient = state.expect_and_grad(operator)
    np.testing.assert_allclose(flat(gradient).real, rayleigh_gradient(h, what), atol=1e-9)
