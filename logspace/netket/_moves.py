"""Blurred samples: a post-processing move that takes samples of |psi|^2 onto the nodes.

With probability c a sample x of p = |psi|^2 makes one move, chosen uniformly among K. If every move
is as probable as its reverse, the samples then follow

    q(x) = (1 - c) p(x) + (c / K) sum_k p(x_k)

with the moves x_k of x: known up to the norm of p, and positive on every node that is one move
away from the support of psi (Wan, Wiersema and Zhang, arXiv:2603.18148).
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls

from ._kernels import amplitudes
from ._model import Amplitude
from ._private import nk


class Moves(Protocol):
    """Hashable; gives all K moves of configurations, each as probable as its reverse."""

    def neighbours(self, sigma: jax.Array) -> jax.Array:
        """(samples, K, sites) from (samples, sites)."""
        ...


@dataclass(frozen=True)
class SingleSite:
    """Every site to each of its other local states: sites * (local states - 1) moves."""

    local_states: tuple[float, ...]

    def neighbours(self, sigma: jax.Array) -> jax.Array:
        states = np.asarray(self.local_states)
        sites, others = sigma.shape[-1], len(states) - 1
        index = jnp.abs(sigma[..., None] - states.astype(sigma.dtype)).argmin(-1)
        steps = np.arange(1, others + 1)
        new = jnp.take(states.astype(sigma.dtype), (index[..., None] + steps) % len(states))
        here = np.eye(sites, dtype=bool)[:, None, :]
        moved = jnp.where(here, new.swapaxes(-1, -2)[:, None], sigma[:, None, None])
        return moved.reshape(sigma.shape[0], sites * others, sites)


@dataclass(frozen=True)
class Exchange:
    """The exchange of two sites, one move for each of the `pairs`: what conserves particle number."""

    pairs: tuple[tuple[int, int], ...]

    def neighbours(self, sigma: jax.Array) -> jax.Array:
        order = np.tile(np.arange(sigma.shape[-1]), (len(self.pairs), 1))
        for row, (i, j) in zip(order, self.pairs, strict=True):
            row[[i, j]] = j, i
        return jnp.take(sigma, order, axis=-1)


def default_moves(hilbert: Any, sampler: Any) -> Moves | None:
    """Moves that stay within the Hilbert space; None where there is no discrete one.

    The pairs that the sampler's rule exchanges, where it has some, else single sites, or all pairs
    of sites if the space is constrained (for fermions: pairs of one spin). Raises `ValueError` for
    spaces where neither is possible.
    """
    if not isinstance(hilbert, nk.hilbert.DiscreteHilbert):
        return None
    clusters = getattr(getattr(sampler, "rule", None), "clusters", None)
    if clusters is not None:
        return Exchange(tuple((int(i), int(j)) for i, j in np.asarray(clusters)))
    if isinstance(hilbert, nk.hilbert.SpinOrbitalFermions):
        if hilbert.n_fermions is None:
            return SingleSite((0.0, 1.0))
        # Pairs of one spin where the number of each spin is fixed.
        fixed = all(count is not None for count in hilbert.n_fermions_per_spin or (None,))
        size = hilbert.n_orbitals if fixed else hilbert.size
        return Exchange(
            tuple(
                (start + i, start + j)
                for start in range(0, hilbert.size, size)
                for i in range(size)
                for j in range(i)
            )
        )
    if isinstance(hilbert, nk.hilbert.HomogeneousHilbert):
        if hilbert.constrained:
            return Exchange(tuple((i, j) for i in range(hilbert.size) for j in range(i)))
        return SingleSite(tuple(float(x) for x in hilbert.local_states))
    raise ValueError(
        f"node_coverage > 0 needs moves within {hilbert}, and none are known for it. Pass moves=, an "
        "object with `neighbours(sigma)`, such as logspace.netket.Exchange(pairs), or "
        "node_coverage=0."
    )


@partial(jax.jit, static_argnames="moves")
def blur(key: jax.Array, sigma: jax.Array, moves: Moves, coverage: jax.Array) -> jax.Array:
    """Configurations (..., sites), each moved with probability `coverage`."""
    flat = sigma.reshape(-1, sigma.shape[-1])
    key_whether, key_which = jax.random.split(key)
    moved = moves.neighbours(flat)
    which = jax.random.randint(key_which, flat.shape[:1], 0, moved.shape[1])
    moved = jnp.take_along_axis(moved, which[:, None, None], 1)[:, 0]
    whether = jax.random.uniform(key_whether, flat.shape[:1]) < coverage
    return jnp.where(whether[:, None], moved, flat).reshape(sigma.shape)


@partial(jax.jit, static_argnames=("model", "moves", "chunk"))
def blurred_density(
    model: Amplitude,
    variables: Any,
    sigma: jax.Array,
    moves: Moves,
    coverage: jax.Array,
    chunk: int | None,
) -> ls.LogArray:
    """q, up to its norm, at configurations (samples, sites)."""
    here = ls.abs2(amplitudes(model, variables, sigma, chunk))
    moved = moves.neighbours(sigma)
    flat = moved.reshape(-1, sigma.shape[-1])
    there = ls.abs2(amplitudes(model, variables, flat, chunk)).reshape(moved.shape[:2])
    return (1 - coverage) * here + coverage * there.mean(1)
