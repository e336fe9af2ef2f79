"""The velocity of `TDVPSchmitt` for the states of this package: NetKet's dispatched function.

The regularisation of Schmitt and Heyl, Phys. Rev. Lett. 125, 100503 (2020), eqs. 20 to 22: in the
eigenbasis S = V diag(s) V^dagger the components of the forces are cut off, softly, where s is small
against the largest, and where their signal-to-noise ratio is. Forces are sums of
conj(d) (h - E a), so that nodes enter. Signal and noise are of the same eigenvector, also where it
is complex; NetKet 3.23 takes the noise from its conjugate.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from . import _kernels as kernels
from ._expect import rows_of, stats_of
from ._private import TDVPSchmitt, nkjax, odefun
from ._qgt import QGTJacobianDense, jacobian_rows, mode_of
from ._state import MCState


@partial(jax.jit, static_argnames="mode")
def _velocity(
    d: jax.Array,
    rows: kernels.Rows,
    metric: jax.Array,
    factor: complex,
    rcond: float,
    rcond_smooth: float,
    snr_atol: float,
    mode: str,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The flat velocity, what is left of the equation, and the signal-to-noise ratios."""
    if mode == "complex":
        d = jax.lax.complex(d[:, 0], d[:, 1])
    residual = rows.h - kernels.mean_of(rows.a, rows.h) * rows.a
    force = d.conj().T @ residual
    values, vectors = jnp.linalg.eigh(metric)
    terms = (d @ vectors).conj() * residual[:, None]
    component = vectors.conj().T @ force
    noise = jnp.maximum(jnp.sqrt(jnp.var(terms, axis=0)), rcond)
    # Neither signal nor noise counts as no noise.
    ratio = jnp.where(noise == 0, jnp.inf, jnp.abs(component) * jnp.sqrt(d.shape[0]) / noise)
    relative = jnp.abs(values / values[-1])
    inverse = jnp.where(relative > rcond, 1 / values, 0.0)
    cutoff = 1 / ((1 + (rcond_smooth / relative) ** 6) * (1 + (snr_atol / ratio) ** 6))
    velocity = vectors @ (inverse * cutoff * factor * component)
    left = jnp.linalg.norm(metric @ velocity - factor * force) / jnp.linalg.norm(force)
    return velocity, left, ratio


def _restored(parameters: Any, velocity: jax.Array, mode: str) -> Any:
    """The tree of the velocity; in mode "complex" of complex parameters both parts are in it."""
    flat, restore = ravel_pytree(parameters)
    if jnp.iscomplexobj(flat) and mode == "complex":
        velocity = jax.lax.complex(*jnp.split(velocity.real, 2))
    return restore(velocity if jnp.iscomplexobj(flat) else velocity.real)


@odefun.dispatch  # type: ignore[attr-defined]
def _(state: MCState, driver: TDVPSchmitt, t: Any, w: Any, *, stage: int = 0):  # noqa: F811
    state.parameters = w
    state.reset()
    rows = rows_of(state, driver.generator(t))
    mode = mode_of(state, rows.a, None, driver.holomorphic)
    metric = QGTJacobianDense(
        state,
        mode=mode,
        diag_shift=driver.diag_shift,
        diag_scale=driver.diag_scale,
    )
    velocity, driver._rmd, driver._snr = _velocity(
        jacobian_rows(state, mode, True, None, rows),
        rows,
        metric.to_dense(),
        driver._loss_grad_factor,
        driver.rcond,
        driver.rcond_smooth,
        driver.snr_atol,
        mode,
    )
    driver._loss_stats = stats_of(state, rows.a, rows.h)
    driver._dw = nkjax.tree_cast(_restored(state.parameters, velocity, mode), state.parameters)
    if stage == 0:
        driver._last_qgt = metric
    return driver._dw
