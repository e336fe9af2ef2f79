"""On states without nodes: NetKet's own numbers."""

from typing import Any

import jax
import netket as nk
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

import logspace.netket as lnk
from logspace.netket import models

CHAIN = nk.graph.Chain(4)
SPACE = nk.hilbert.Spin(0.5, 4)
ISING = nk.operator.IsingJax(SPACE, CHAIN, h=1.0, J=-0.7)
HEISENBERG = nk.operator.Heisenberg(SPACE, CHAIN)  # rows by numba
NORMAL = jax.nn.initializers.normal(0.2)

MODELS = {
    "rbm": lambda: nk.models.RBM(alpha=1, kernel_init=NORMAL),
    "rbm_complex": lambda: nk.models.RBM(alpha=1, param_dtype=complex, kernel_init=NORMAL),
    "rbm_phase": lambda: nk.models.RBMModPhase(alpha=1, kernel_init=NORMAL),
    "rbm_symm": lambda: nk.models.RBMSymm(symmetries=CHAIN.translation_group(), alpha=1),
    "jastrow": lambda: nk.models.Jastrow(kernel_init=NORMAL),
    "mps": lambda: nk.models.tensor_networks.MPSPeriodic(SPACE, bond_dim=2),
    "gcnn": lambda: nk.models.GCNN(symmetries=CHAIN, layers=2, features=2),
    "autoregressive": lambda: nk.models.ARNNDense(hilbert=SPACE, layers=2, features=3),
    "mlp": lambda: nk.models.MLP(hidden_dims=(4,), kernel_init=NORMAL),
    "vector": lambda: nk.models.LogStateVector(SPACE),
    "convolution": lambda: nk.models.ARNNConv1D(hilbert=SPACE, layers=2, features=3, kernel_size=2),
}


def agree(mine: Any, theirs: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(
        np.asarray(ravel_pytree(mine)[0]), np.asarray(ravel_pytree(theirs)[0]), atol=tolerance
    )


@pytest.mark.parametrize(
    "name",
    [n if n == "rbm_phase" else pytest.param(n, marks=pytest.mark.full) for n in MODELS],
)
def test_full_sum(name: str) -> None:
    model = MODELS[name]()
    theirs = nk.vqs.FullSumState(SPACE, model, seed=1)
    inner = {k: {"model": v} for k, v in theirs.variables.items()}
    mine = lnk.FullSumState(SPACE, models.from_log_psi(model), variables=inner)
    stats, gradient = theirs.expect_and_grad(ISING)
    my_stats, my_gradient = mine.expect_and_grad(ISING)
    agree(my_gradient, gradient)
    agree([my_stats.mean, my_stats.variance.real], [stats.mean, np.real(stats.variance)])
    mode = nk.jax.jacobian_default_mode(
        theirs._apply_fun, theirs.parameters, theirs.model_state, SPACE.all_states(), warn=False
    )
    mode = "complex" if mode == "holomorphic" else mode
    own = nk.optimizer.qgt.QGTJacobianDense(mode="complex" if mode == "complex" else None)
    if mode == "complex":
        tensor = mine.quantum_geometric_tensor(own)
        agree(tensor.to_dense(), theirs.quantum_geometric_tensor(own).to_dense())


@pytest.mark.full
@pytest.mark.parametrize("name", MODELS)
def test_samples(name: str) -> None:
    model = MODELS[name]()
    sampler = nk.sampler.MetropolisLocal(SPACE, n_chains=4)
    theirs = nk.vqs.MCState(sampler, model, n_samples=64, seed=1)
    inner = {k: {"model": v} for k, v in theirs.variables.items()}
    mine = lnk.MCState(
        sampler, models.from_log_psi(model), n_samples=64, variables=inner, node_coverage=0.0
    )
    mine._samples = theirs.samples
    for operator in (ISING, HEISENBERG):
        stats, gradient = theirs.expect_and_grad(operator)
        my_stats, my_gradient = mine.expect_and_grad(operator)
        agree(my_gradient, gradient)
        for field in ("mean", "error_of_mean", "variance", "R_hat"):
            agree(np.real(getattr(my_stats, field)), np.real(getattr(stats, field)))


@pytest.mark.full
@pytest.mark.parametrize("ntk", [False, True])
@pytest.mark.parametrize("chunk", [None, 16])
def test_steps(ntk: bool, chunk: int | None) -> None:
    model = MODELS["rbm_phase"]()
    sampler = nk.sampler.MetropolisLocal(SPACE, n_chains=4)
    theirs = nk.vqs.MCState(sampler, model, n_samples=64, seed=1, chunk_size=chunk)
    inner = {"params": {"model": theirs.parameters}}
    mine = lnk.MCState(
        sampler,
        models.from_log_psi(model),
        n_samples=64,
        variables=inner,
        node_coverage=0.0,
        chunk_size=chunk,
    )
    mine._samples = theirs.samples
    options = dict(diag_shift=1e-2, use_ntk=ntk, momentum=0.5 if ntk else None)
    driver = nk.driver.VMC_SR(
        ISING, optax.sgd(0.1), variational_state=theirs, on_the_fly=False, mode="complex", **options
    )
    my_driver = lnk.VMC_SR(ISING, optax.sgd(0.1), variational_state=mine, **options)
    for _ in range(2):
        agree(my_driver.compute_loss_and_update()[1], driver.compute_loss_and_update()[1], 1e-8)


@pytest.mark.full
@pytest.mark.parametrize("name", ["rbm", "jastrow", "slater", "multi_slater", "symmetric"])
def test_ready_models(name: str) -> None:
    """The same parameters give the same psi as NetKet's models."""
    space: Any = SPACE
    if name == "rbm":
        options = dict(alpha=1, param_dtype=complex, kernel_init=NORMAL)
        pair = nk.models.RBM(**options), models.RBM(**options)
    elif name == "jastrow":
        pair = nk.models.Jastrow(kernel_init=NORMAL), models.Jastrow(kernel_init=NORMAL)
    elif name in ("slater", "multi_slater"):
        space = nk.hilbert.SpinOrbitalFermions(3, s=0.5, n_fermions_per_spin=(2, 1))
        options = dict(restricted=False, param_dtype=complex)
        kind = "Slater2nd" if name == "slater" else "MultiSlater2nd"
        options |= {} if name == "slater" else {"n_determinants": 2}
        pair = getattr(nk.models, kind)(space, **options), getattr(models, kind)(space, **options)
    else:
        group = CHAIN.translation_group()
        options = dict(symm_group=group, character_id=1)
        rbm = nk.models.RBM(param_dtype=complex, kernel_init=NORMAL)
        pair = nk.nn.blocks.SymmExpSum(module=rbm, **options), models.SymmExpSum(rbm, **options)
    theirs = nk.vqs.FullSumState(space, pair[0], seed=3)
    mine = lnk.FullSumState(space, pair[1], variables=theirs.variables)
    agree(mine.to_array(False), theirs.to_array(False), 1e-12)
