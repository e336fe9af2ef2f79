"""`lnk.QSR`: NetKet's gradients where psi has no nodes, the dense ones where a rotation meets nodes."""

from typing import Any

import jax
import netket as nk
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import logspace.netket as lnk
from logspace.netket import models

from .states import JACOBIAN, PSI, SPACE, STATES, Difference

NORMAL = jax.nn.initializers.normal(0.2)
BASES = ["ZZZZ", "XZZZ", "ZYXZ", "ZZZX"]


def flat(tree: Any) -> np.ndarray:
    return np.asarray(ravel_pytree(tree)[0])


def rotation(basis: str) -> np.ndarray:
    """Dense, of the same convention as NetKet's strings of Pauli letters."""
    parts = {
        "Z": np.eye(2),
        "X": np.array([[1, 1], [1, -1]]) / np.sqrt(2),
        "Y": np.array([[1, -1j], [1, 1j]]) / np.sqrt(2),
    }
    out = np.eye(1)
    for letter in basis:
        out = np.kron(out, parts[letter])
    return out


def outcomes(psi: np.ndarray, each: int) -> tuple[np.ndarray, list[str], list[int]]:
    """Configurations measured in each basis, the basis of each, and their indices."""
    rng = np.random.default_rng(0)
    indices: list[int] = []
    for basis in BASES:
        weights = np.abs(rotation(basis) @ psi) ** 2
        indices += list(rng.choice(len(psi), size=each, p=weights / weights.sum()))
    return np.asarray(STATES)[indices], list(np.repeat(BASES, each)), indices


@pytest.mark.parametrize(
    "options",
    [{}, pytest.param(dict(control_variate_update_freq=2, chunk_size=8), marks=pytest.mark.full)],
)
def test_agreement(options: Any) -> None:
    model = nk.models.RBM(alpha=1, param_dtype=complex, kernel_init=NORMAL)
    sampler = nk.sampler.MetropolisLocal(SPACE, n_chains=4)
    theirs = nk.vqs.MCState(sampler, model, n_samples=64, seed=1)
    mine = lnk.MCState(
        sampler,
        models.from_log_psi(model),
        n_samples=64,
        variables={"params": {"model": theirs.parameters}},
        node_coverage=0.0,
    )
    sigma, bases, _ = outcomes(theirs.to_array(), 6)
    drivers = [
        kind((sigma, bases), 12, optax.sgd(0.1), variational_state=state, seed=5, **options)
        for kind, state in ((nk.experimental.QSR, theirs), (lnk.QSR, mine))
    ]
    for _ in range(3):
        theirs.reset()
        samples = theirs.samples
        for state in (theirs, mine):
            # both drivers discard them first
            object.__setattr__(state, "reset", lambda: None)
            state._samples = samples
        steps = [d.compute_loss_and_update()[1] for d in drivers]
        np.testing.assert_allclose(flat(steps[1]), flat(steps[0]), atol=2e-6)
        for driver, step in zip(drivers, steps, strict=True):
            driver.update_parameters(step)
            driver._step_count += 1


@pytest.mark.parametrize("log_scale", [0.0, pytest.param(900.0, marks=pytest.mark.full)])
def test_rotations_over_nodes(log_scale: float) -> None:
    """Sums with terms that are 0, which have derivatives; NetKet's gradient is nan."""
    sigma, bases, indices = outcomes(PSI, 4)
    state = lnk.FullSumState(SPACE, Difference(float, log_scale), seed=0)
    driver = lnk.QSR((sigma, bases), 4096, optax.sgd(0.1), variational_state=state, seed=5)
    driver.batch_sample_replace = False
    driver.training_batch_size = len(bases)
    step = flat(driver.compute_loss_and_update()[1])

    rotations = [rotation(basis) for basis in bases]
    amplitudes = np.array([(u @ PSI)[i] for u, i in zip(rotations, indices, strict=True)])
    rows = np.array([(u @ JACOBIAN)[i] for u, i in zip(rotations, indices, strict=True)])
    assert any((np.abs(u[i][PSI == 0]) > 0).any() for u, i in zip(rotations, indices, strict=True))
    norm = PSI @ PSI
    expected = 2 * PSI @ JACOBIAN / norm - 2 * (rows / amplitudes[:, None]).real.mean(0)
    np.testing.assert_allclose(step, expected, rtol=1e-6)
    loss = np.log(norm) - 2 * np.log(np.abs(amplitudes))
    np.testing.assert_allclose(driver.nll(return_stats=False), loss, rtol=1e-6, atol=1e-6)
    assert float(driver.nll().mean) == pytest.approx(loss.mean(), rel=1e-6)


def test_states_of_netket_are_refused() -> None:
    theirs = nk.vqs.FullSumState(SPACE, nk.models.RBM())
    with pytest.raises(TypeError, match="QSR"):
        lnk.QSR(([STATES[0]], ["ZZZZ"]), 1, optax.sgd(0.1), variational_state=theirs)
