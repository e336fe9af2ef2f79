"""Steps from forces: stochastic reconfiguration."""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike


def stochastic_reconfiguration(
    metric: jax.Array,
    forces: jax.Array,
    *,
    relative_shift: ArrayLike = 1e-3,
    shift: ArrayLike = 1e-4,
    trainable: jax.Array | None = None,
) -> jax.Array:
    """The step ``-(S + shifts)^-1 F`` for real parameters.

    Imaginary time, projected on the states that the parameters reach from psi.

    `metric` S is the quantum geometric tensor (parameters, parameters) and `forces` F
    (parameters,); for complex amplitudes with real parameters their real parts count. To the
    diagonal of S `relative_shift * S_kk + shift` is added. Parameters where `trainable` (booleans)
    is false are held fixed: their step is 0, and the others are solved for without them.
    """
    metric, forces = metric.real, forces.real
    if trainable is not None:
        metric = jnp.where(trainable[:, None] & trainable, metric, 0.0)
        forces = jnp.where(trainable, forces, 0.0)
    diagonal = relative_shift * jnp.diagonal(metric) + shift
    return -jax.scipy.linalg.solve(metric + jnp.diag(diagonal), forces, assume_a="pos")
