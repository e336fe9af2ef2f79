"""Steps and velocities from forces: stochastic reconfiguration, time-dependent variational principle."""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

import logspace as ls

from .estimators import _centred, _normalised


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


def minimal_stochastic_reconfiguration(
    psi: ls.LogArray,
    h_psi: ls.LogArray,
    jacobian: ls.LogArray,
    density: ls.LogArray | None = None,
    *,
    shift: ArrayLike = 1e-4,
) -> jax.Array:
    """The step ``-X^T (X X^T + shift)^-1 r``, equal to ``-(X^T X + shift)^-1 X^T r``.

    For more parameters than samples (minSR, arXiv:2302.01941, in the form of arXiv:2310.05715).
    X are the centred derivatives and r the residuals (H psi - E psi), both over sqrt(density), in
    real and imaginary parts; nodes are rows like others. Arguments are those of `forces`, real
    parameters (parameters,).
    """
    a, h, d = _normalised(psi, density, h_psi, jacobian)
    a, h = a.ravel(), h.ravel()
    root = jnp.sqrt(jnp.asarray(a.size, a.real.dtype))
    rows = _centred(a[None], d.reshape(1, a.size, -1))[0] / root
    residual = (h - (a.conj() * h).mean() * a) / root
    x, r = rows, residual
    if jnp.iscomplexobj(rows) or jnp.iscomplexobj(residual):
        x = jnp.concatenate([rows.real, jnp.imag(rows)])
        r = jnp.concatenate([residual.real, jnp.imag(residual)])
    kernel = x @ x.T + shift * jnp.eye(x.shape[0], dtype=x.dtype)
    return -x.T @ jax.scipy.linalg.solve(kernel, r, assume_a="pos")


def time_derivative(
    metric: jax.Array,
    forces: jax.Array,
    *,
    imaginary: bool = False,
    holomorphic: bool = False,
    cutoff: float = 1e-10,
) -> jax.Array:
    """d theta / dt of the time-dependent variational principle.

    The velocity whose state is nearest to -i H psi (imaginary time: to -(H - E) psi):

        holomorphic, complex parameters:  S v = -i F           (imaginary: S v = -F)
        real parameters:                  Re S v = Re(-i F)    (imaginary: Re S v = -Re F)

    by the pseudo-inverse, with eigenvalues below `cutoff` times the largest left out. `metric`
    (parameters, parameters) and `forces` (parameters,) are those of `quantum_geometric_tensor` and
    `forces`; for holomorphic psi, with the complex jacobian. Directions that only change the norm or
    the phase have no metric, and velocity 0.
    """
    force = -forces if imaginary else -1j * forces
    if not holomorphic:
        metric, force = metric.real, force.real
    values, vectors = jnp.linalg.eigh(metric)
    kept = values > cutoff * values[-1]
    inverse = jnp.where(kept, 1 / jnp.where(kept, values, 1), 0)
    return vectors @ (inverse * (vectors.conj().T @ force))
