"""Spin Hamiltonians, given by the configurations that they connect.

An operator is anything with a method ``connected(sigma)`` that returns the nonzero row of its
matrix at one configuration: `Connected(configurations, elements)` with ``elements[m] =
<sigma|H|sigma_m>``. The first row is `sigma` itself (the diagonal), and the number of rows does not
depend on `sigma`, so that the method can be used under `jax.jit` and `jax.vmap`. Rows that do not
apply carry the element 0.

Spins are +1 and -1 (dtype int8). The operators are frozen dataclasses: hashable, so usable as
static arguments, and free of arrays, so that nothing concrete is captured by a trace.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls


class Connected(NamedTuple):
    """One row of an operator: configurations (rows, sites), elements (rows,)."""

    configurations: jax.Array
    elements: jax.Array


class Operator(Protocol):
    """What the estimators need to know of an operator."""

    @property
    def sites(self) -> int: ...

    def connected(self, sigma: jax.Array) -> Connected: ...


def _require_ring(sites: int, even: bool = False) -> None:
    if sites < 3 or (even and sites % 2):
        kind = "an even number of at least 4 sites" if even else "at least 3 sites"
        raise ValueError(f"The ring requires {kind}; sites={sites} was given.")


def bond_exchanges(sites: int) -> np.ndarray:
    """Permutations (sites, sites): row i exchanges the neighbours i and i + 1 of a ring."""
    rows = np.tile(np.arange(sites), (sites, 1))
    left = np.arange(sites)
    right = (left + 1) % sites
    rows[left, left], rows[left, right] = right, left
    return rows


@dataclass(frozen=True)
class HeisenbergRing:
    """Antiferromagnetic Heisenberg ring, ``H = coupling * sum_i S_i . S_(i+1)``, spin 1/2.

    With `marshall` (an even ring is required) every second spin is rotated by pi about z: the
    exchange term changes its sign, the spectrum does not, and the ground state is positive.
    """

    sites: int
    coupling: float = 1.0
    marshall: bool = True

    def __post_init__(self) -> None:
        _require_ring(self.sites, even=self.marshall)

    def connected(self, sigma: jax.Array) -> Connected:
        """The row at `sigma` (sites,): itself, then one exchange for each of the bonds."""
        neighbour = jnp.roll(sigma, -1)
        diagonal = 0.25 * self.coupling * (sigma * neighbour).sum().astype(float)
        exchange = 0.5 * self.coupling * (-1.0 if self.marshall else 1.0)
        elements = jnp.where(sigma != neighbour, exchange, 0.0)
        configurations = jnp.concatenate([sigma[None], sigma[bond_exchanges(self.sites)]])
        return Connected(configurations, jnp.concatenate([diagonal[None], elements]))


@dataclass(frozen=True)
class TransverseFieldIsingRing:
    """``H = -coupling * sum_i Z_i Z_(i+1) - field * sum_i X_i`` on a ring, with Pauli matrices."""

    sites: int
    coupling: float = 1.0
    field: float = 1.0

    def __post_init__(self) -> None:
        _require_ring(self.sites)

    def connected(self, sigma: jax.Array) -> Connected:
        """The row at `sigma` (sites,): itself, then one flip for each of the sites."""
        diagonal = -self.coupling * (sigma * jnp.roll(sigma, -1)).sum().astype(float)
        flips = 1 - 2 * np.eye(self.sites, dtype=np.int8)
        elements = jnp.full_like(diagonal, -self.field, shape=(self.sites,))
        configurations = jnp.concatenate([sigma[None], sigma * flips.astype(sigma.dtype)])
        return Connected(configurations, jnp.concatenate([diagonal[None], elements]))


def connected_amplitudes(
    amplitude: Callable[[jax.Array], ls.LogArray], operator: Operator, sigma: jax.Array
) -> tuple[ls.LogArray, jax.Array]:
    """Amplitudes (rows,) and elements (rows,) of the row of an operator at `sigma` (sites,).

    The first amplitude is that of `sigma` itself. `TypeError` or `ValueError` if `amplitude` does
    not give a scalar LogArray.
    """
    configurations, elements = operator.connected(sigma)
    psi = jax.vmap(amplitude)(configurations)
    if not isinstance(psi, ls.LogArray):
        raise TypeError(
            f"An amplitude must be a LogArray; got {type(psi).__name__}. `logspace.exp` makes one "
            "from log psi, `logspace.from_linear` from psi."
        )
    if psi.ndim != 1:
        raise ValueError(
            f"An amplitude of one configuration must be a scalar; got shape {list(psi.shape[1:])}. "
            "The estimators call it under `jax.vmap`, on one configuration (sites,) at a time."
        )
    return psi, elements


def apply_operator(
    amplitude: Callable[[jax.Array], ls.LogArray], operator: Operator, sigma: jax.Array
) -> tuple[ls.LogArray, ls.LogArray]:
    """``(psi(sigma), (H psi)(sigma))`` at one configuration, both scalar ls.LogArrays.

    `amplitude` maps a configuration (sites,) to a scalar ls.LogArray. Nothing is divided by psi, so
    that a node is an ordinary point. `jax.vmap` it over configurations.
    """
    psi, elements = connected_amplitudes(amplitude, operator, sigma)
    return psi[0], (elements * psi).sum()
