"""Prints energy, gradient, metric and a minSR step as JSON, for any number of devices.

Samples are given, so that the sums alone differ between one device and several. With the arguments
`address number_of_processes process` it is one of several processes, of which the first prints.
"""

import json
import sys

import jax

jax.config.update("jax_enable_x64", True)
if sys.argv[1:]:
    jax.distributed.initialize(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

import contextlib  # noqa: E402
import io  # noqa: E402
from typing import Any  # noqa: E402

import netket as nk  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
from jax.flatten_util import ravel_pytree  # noqa: E402
from netket.jax.sharding import shard_along_axis  # noqa: E402

import logspace.netket as lnk  # noqa: E402
from tests.netket.states import ISING, SPACE, STATES, Difference  # noqa: E402


def main() -> None:
    out: dict[str, Any] = {"devices": jax.device_count()}
    for chunk in (None, 4):
        sampler = nk.sampler.MetropolisLocal(SPACE, n_chains=8)
        state = lnk.MCState(
            sampler, Difference(), n_samples=64, seed=0, node_coverage=0.25, chunk_size=chunk
        )
        numbers = np.random.default_rng(3).integers(16, size=(8, 8))
        sigma = shard_along_axis(np.asarray(STATES)[numbers], axis=0)
        state._samples = sigma
        from logspace.netket import blurred_density

        density = blurred_density(
            state._amplitude, state.variables, sigma.reshape(-1, 4), state.moves, 0.25, chunk
        )
        state._covering = sigma, density
        stats, gradient = state.expect_and_grad(ISING)
        with contextlib.redirect_stdout(io.StringIO()):
            drivers = [
                lnk.VMC_SR(
                    ISING,
                    optax.sgd(0.1),
                    diag_shift=1e-2,
                    variational_state=state,
                    use_ntk=True,
                    on_the_fly=on_the_fly,
                )
                for on_the_fly in (False, True)
            ]
        stored, step = (
            ravel_pytree(driver.compute_loss_and_update()[1])[0].tolist() for driver in drivers
        )
        tensor = state.quantum_geometric_tensor(lnk.QGTJacobianDense())
        out[f"chunk {chunk}"] = {
            "energy": float(stats.mean),
            "error": float(stats.error_of_mean),
            "gradient": ravel_pytree(gradient)[0].tolist(),
            "metric": np.asarray(tensor.to_dense()).tolist(),
            "step of stored rows": stored,
            "step": step,
        }
    if jax.device_count() == 1:
        # NetKet's samplers in NumPy run on one device only, and stop on a chain that is at a node.
        sampler = nk.sampler.MetropolisLocalNumpy(SPACE, n_chains=16)
        state = lnk.MCState(sampler, Difference(), n_samples=256, seed=0, sampler_seed=1)
        out["nodes in numpy samples"] = int((state.amplitude(state.samples) == 0).sum())
    if jax.process_index() == 0:
        print(json.dumps(out))


if __name__ == "__main__":
    main()
