"""minSR whose rows are not stored: the steps of the stored rows."""

from typing import Any

import netket as nk
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import logspace.netket as lnk

from .states import ISING, SPACE, Difference, Positive
from .test_full_sum import quietly

HARD = pytest.mark.full


def flat(tree: Any) -> np.ndarray:
    return np.asarray(ravel_pytree(tree)[0])


def steps(state: lnk.MCState, driver: Any, count: int = 2, **options: Any) -> np.ndarray:
    made = quietly(
        lambda: driver(
            optimizer=optax.sgd(0.1),
            diag_shift=1e-2,
            variational_state=state,
            use_ntk=True,
            **options,
        )
    )
    return np.stack([flat(made.compute_loss_and_update()[1]) for _ in range(count)])


def sampled(dtype: Any = float, samples: int = 96, **options: Any) -> lnk.MCState:
    sampler = nk.sampler.ExactSampler(SPACE)
    return lnk.MCState(
        sampler, Difference(dtype), n_samples=samples, seed=0, sampler_seed=2, **options
    )


@pytest.mark.parametrize("dtype", [float, pytest.param(complex, marks=HARD)])
@pytest.mark.parametrize("chunk", [40, *(pytest.param(c, marks=HARD) for c in (None, 1, 1000))])
@pytest.mark.parametrize(
    "options", [dict(momentum=0.5, proj_reg=1.0), pytest.param({}, marks=HARD)]
)
def test_equals_stored_rows(dtype: Any, chunk: int | None, options: Any) -> None:
    """Chunks of 40 leave a rest of 96 samples."""
    state = sampled(dtype)
    assert (state.amplitude(state.covering_samples()[0].reshape(-1, 4)) == 0).any()
    options = dict(hamiltonian=ISING, **options)
    stored = steps(state, lnk.VMC_SR, on_the_fly=False, **options)
    made = steps(state, lnk.VMC_SR, on_the_fly=True, chunk_size_bwd=chunk, **options)
    np.testing.assert_allclose(made, stored, rtol=1e-9)


@HARD
def test_infidelity() -> None:
    state = sampled(complex)
    target = nk.vqs.FullSumState(SPACE, Positive())
    stored = steps(state, lnk.Infidelity_SR, target_state=target, on_the_fly=False)
    made = steps(state, lnk.Infidelity_SR, target_state=target, on_the_fly=True, chunk_size_bwd=32)
    np.testing.assert_allclose(made, stored, rtol=1e-9)


def test_the_default_follows_the_chunk_size() -> None:
    for chunk, expected in ((None, False), (16, True), (128, False)):
        driver = quietly(
            lambda chunk=chunk: lnk.VMC_SR(
                ISING,
                optax.sgd(0.1),
                diag_shift=1e-2,
                variational_state=sampled(chunk_size=chunk),
                use_ntk=True,
            )
        )
        assert driver.on_the_fly == expected
