"""Quantities of two states or two copies, and of particles in continuous space.

As in `estimators`: amplitudes are LogArrays, nothing is divided by psi but in `local_kinetic_energy`,
a `density` makes arrays samples (chains, samples), and without one they hold everything once.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

import logspace as ls
import logspace.numpy as lnp

from .estimators import Estimate, Forces, _error, _expect, _forces, _normalised


class Overlap(NamedTuple):
    """One side of the overlap of two states: amplitudes of one of them at its own samples.

    - `own` and `other`: the state that was sampled and the other state, LogArrays of one shape.
    - `density`: what was sampled, a LogArray, or None if these are all configurations.
    """

    own: ls.LogArray
    other: ls.LogArray
    density: ls.LogArray | None = None


class Fidelity(NamedTuple):
    """<psi|phi><phi|psi> / (<psi|psi><phi|phi>), real, with its standard error."""

    mean: jax.Array
    error: jax.Array


def _half(side: Overlap) -> tuple[jax.Array, jax.Array, ls.LogArray]:
    """Terms of <own|other> / <own|own> over a unit, which is of the size of other / own."""
    ratio = ls.abs2(side.other).mean() / ls.abs2(side.own).mean()
    unit = jax.lax.stop_gradient(lnp.where(ratio == 0, ls.ones_like(ratio), lnp.sqrt(ratio)))
    a, b = _normalised(side.own, side.density, side.other / unit)
    return a, b[..., 0], unit


def fidelity(psi: Overlap, phi: Overlap) -> Fidelity:
    """The fidelity of two states from samples of both; 1 minus it is the infidelity.

    `psi` holds both states at samples of psi, `phi` at samples of phi. A node of either is an ordinary
    sample. There is no control variate, as that of arXiv:2305.14294 assumes that psi vanishes
    nowhere where phi does not.
    """
    a, f, unit_f = _half(psi)
    b, g, unit_g = _half(phi)
    units = (unit_f * unit_g).to_linear()
    left, right = (a.conj() * f).mean(), (b.conj() * g).mean()
    errors = (
        _error((right * a.conj() * (f - left * a)).real, psi.density is not None),
        _error((left * b.conj() * (g - right * b)).real, phi.density is not None),
    )
    return Fidelity((left * right).real * units, jnp.hypot(*errors) * units)


def infidelity_forces(psi: Overlap, phi: Overlap, jacobian: ls.LogArray) -> tuple[Estimate, Forces]:
    """<H> and the forces of H = -|phi><phi| / <phi|phi>, at the samples of psi.

    The infidelity is 1 + <H>; twice the real part of the forces is its gradient in the parameters
    of psi, for `jacobian` = d psi / d parameters (the shape of psi, parameters). Errors are those of
    the samples of psi alone.
    """
    b, g, unit = _half(phi)
    overlap = ls.from_linear((b.conj() * g).mean()) * unit
    a, h, d = _normalised(psi.own, psi.density, -psi.other * overlap, jacobian)
    sampled = psi.density is not None
    return _expect(a, h[..., 0], sampled), _forces(a, h[..., 0], d, sampled)


def swapped(
    sigma: jax.Array, other: jax.Array, partition: ArrayLike
) -> tuple[jax.Array, jax.Array]:
    """Two sets of configurations (..., sites) with the sites of `partition` exchanged."""
    inside = np.zeros(sigma.shape[-1], bool)
    inside[np.asarray(partition)] = True
    return jnp.where(inside, other, sigma), jnp.where(inside, sigma, other)


def renyi2(
    psi: ls.LogArray,
    psi_other: ls.LogArray,
    psi_swapped: tuple[ls.LogArray, ls.LogArray],
    density: ls.LogArray | None = None,
) -> tuple[Estimate, jax.Array]:
    """The purity tr(rho_A^2) and the second Renyi entropy, -log of it, of two independent copies.

    - `psi`, `psi_other`: amplitudes of the two copies, LogArrays of one shape.
    - `psi_swapped`: those of the configurations of `swapped`.
    - `density`: the product of the densities of the copies; None if these are all pairs.
    """
    pairs = psi * psi_other
    a, h = _normalised(pairs, density, psi_swapped[0] * psi_swapped[1])
    purity = _expect(a, h[..., 0], density is not None)
    return purity, -jnp.log(purity.mean.real)


def kinetic(
    amplitude: Callable[[jax.Array], ls.LogArray], x: jax.Array, mass: ArrayLike = 1.0
) -> ls.LogArray:
    """``-1/2 sum_i (d^2 psi / d x_i^2) / mass_i`` at x (coordinates,), a scalar LogArray.

    The Laplacian of psi itself, in forward mode: an ordinary number on the nodes. With a potential V,
    ``kinetic(psi, x) + V(x) * psi(x)`` is what the estimators call `h_psi`.
    """

    def second(direction: jax.Array) -> ls.LogArray:
        def first(y: jax.Array) -> ls.LogArray:
            return ls.jvp(amplitude, (y,), (direction,))[1]

        return ls.jvp(first, (x,), (direction,))[1]

    curvatures = jax.vmap(second)(jnp.eye(x.shape[0], dtype=x.dtype))
    return (-0.5 / jnp.asarray(mass) * curvatures).sum()


def local_kinetic_energy(
    amplitude: Callable[[jax.Array], ls.LogArray], x: jax.Array, mass: ArrayLike = 1.0
) -> jax.Array:
    """``-1/2 laplacian(psi) / psi`` at x (coordinates,), a plain scalar; infinite or nan at nodes."""
    return (kinetic(amplitude, x, mass) / amplitude(x)).to_linear()
