"""Densities to sample from, and a Metropolis sampler whose chains survive nodes.

A density is a function of one configuration (sites,) that gives a non-negative scalar LogArray, known up
to a factor. |psi|^2 is 0 on the nodes, where conj(d psi) H psi is not: samples of it miss that part
of a gradient. The other densities here are positive wherever the operator reaches from the support
of psi. Samples of any density are used with the weights |psi|^2 / density, which the estimators form.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

import logspace as ls
import logspace.numpy as lnp

from .operators import Operator, apply_operator

Density = Callable[[jax.Array], ls.LogArray]
Move = Callable[[jax.Array, jax.Array], jax.Array]


def born_density(amplitude: Callable[[jax.Array], ls.LogArray]) -> Density:
    """|psi|^2, which is 0 on the nodes."""
    return lambda sigma: ls.abs2(amplitude(sigma))


def residual_density(
    amplitude: Callable[[jax.Array], ls.LogArray],
    operator: Operator,
    energy: jax.Array | float = 0.0,
    width: jax.Array | float = 1.0,
) -> Density:
    """``|psi|^2 + |(H - energy) psi|^2 / width^2``: positive on all nodes with (H psi) != 0.

    With `width` near the standard deviation of the energy the two parts weigh the same, and the
    terms conj(d psi) (H - energy) psi / density stay bounded where psi is small, the more so the
    smaller `width` is; energy = 0 and width = 1 give |psi|^2 + |H psi|^2. The constants
    must not depend on the samples that are drawn with them: take those of the step before.
    The weights |psi|^2 / density are at most 1.
    """

    def density(sigma: jax.Array) -> ls.LogArray:
        psi, h_psi = apply_operator(amplitude, operator, sigma)
        return ls.abs2(psi) + ls.abs2((h_psi - energy * psi) / width)

    return density


def blurred_density(
    amplitude: Callable[[jax.Array], ls.LogArray], operator: Operator, coverage: float = 0.5
) -> Density:
    """``(1 - coverage) |psi|^2 + coverage * (mean of |psi|^2 over the connected configurations)``.

    Normalised like |psi|^2 if the connection is symmetric, as it is for the operators of this package.
    Positive on every node next to a configuration where psi != 0.
    """
    if not 0 <= coverage <= 1:
        raise ValueError(f"coverage requires a number in [0, 1]; {coverage} was given.")

    def density(sigma: jax.Array) -> ls.LogArray:
        weights = ls.abs2(jax.vmap(amplitude)(operator.connected(sigma).configurations))
        return (1 - coverage) * weights[0] + coverage * weights[1:].mean()

    return density


def exchange_neighbours(key: jax.Array, sigma: jax.Array) -> jax.Array:
    """A move: exchange two neighbours on a ring. The magnetisation stays."""
    sites = sigma.shape[0]
    i = jax.random.randint(key, (), 0, sites)
    j = (i + 1) % sites
    return sigma.at[i].set(sigma[j]).at[j].set(sigma[i])


def exchange_any(key: jax.Array, sigma: jax.Array) -> jax.Array:
    """A move: exchange any two different sites. The magnetisation stays."""
    first_key, other_key = jax.random.split(key)
    sites = sigma.shape[0]
    i = jax.random.randint(first_key, (), 0, sites)
    j = (i + jax.random.randint(other_key, (), 1, sites)) % sites
    return sigma.at[i].set(sigma[j]).at[j].set(sigma[i])


def flip_one(key: jax.Array, sigma: jax.Array) -> jax.Array:
    """A move: flip one spin."""
    i = jax.random.randint(key, (), 0, sigma.shape[0])
    return sigma.at[i].multiply(-1)


def random_configurations(
    key: jax.Array, sites: int, shape: tuple[int, ...], magnetisation: int | None = 0
) -> jax.Array:
    """Uniform configurations (*shape, sites), int8, all of one magnetisation (sum of spins) or any."""
    if magnetisation is None:
        return jax.random.rademacher(key, (*shape, sites), dtype=jnp.int8)
    if abs(magnetisation) > sites or (sites + magnetisation) % 2:
        raise ValueError(
            f"A sum of {sites} spins of +1 and -1 requires the same parity and at most that size; "
            f"magnetisation={magnetisation} was given."
        )
    up = (sites + magnetisation) // 2

    # Site by site, up with probability (ups to come) / (sites to come): uniform, and without the
    # sort of a random permutation, which takes XLA seconds to compile.
    def site(left: jax.Array, draw: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        uniform, remaining = draw
        is_up = uniform * remaining < left
        return left - is_up, jnp.where(is_up, 1, -1).astype(jnp.int8)

    uniforms = jax.random.uniform(key, (sites, *shape))
    left = jnp.full_like(uniforms[0], up, dtype=jnp.int32)
    _, spins = jax.lax.scan(site, left, (uniforms, jnp.arange(sites, 0, -1)))
    return jnp.moveaxis(spins, 0, -1)


class Chains(NamedTuple):
    """Markov chains: configurations (chains, sites) and the density there, (chains,)."""

    configurations: jax.Array
    density: ls.LogArray


def start_chains(density: Density, candidates: jax.Array) -> Chains:
    """Chains that start where the density is not zero, if there is such a candidate.

    `candidates` has the shape (tries, chains, sites); each chain takes its first candidate with a
    density other than 0. A chain without any starts at a zero: there it walks freely (every move from 0
    is accepted) until it finds the support, so that no chain is stuck.
    """
    values = jax.vmap(jax.vmap(density))(candidates)
    first = jnp.argmax(values != 0, axis=0)
    chains = jnp.arange(candidates.shape[1])
    return Chains(candidates[first, chains], values[first, chains])


def restart_chains(density: Density, configurations: jax.Array) -> Chains:
    """The chains where they are, under another density (new parameters, say)."""
    return Chains(configurations, jax.vmap(density)(configurations))


def metropolis(
    key: jax.Array, density: Density, move: Move, chains: Chains, steps: int
) -> tuple[Chains, jax.Array]:
    """`steps` Metropolis moves of all chains; the chains and the accepted fraction, a scalar.

    `move(key, sigma)` proposes; it has to be as probable as its reverse. A move is accepted with
    probability min(1, new / old), and always where the old density is 0: a chain that
    stands on a zero leaves it, while quotients of logarithms (-inf + inf) would hold it there for ever.
    """
    count = chains.configurations.shape[0]

    def step(state: Chains, key: jax.Array) -> tuple[Chains, jax.Array]:
        move_key, accept_key = jax.random.split(key)
        proposed = jax.vmap(move)(jax.random.split(move_key, count), state.configurations)
        new = jax.vmap(density)(proposed)
        threshold = jax.random.uniform(accept_key, (count,), new.dtype)
        accept = (state.density == 0) | (threshold * state.density < new)
        moved = jnp.where(accept[:, None], proposed, state.configurations)
        return Chains(moved, lnp.where(accept, new, state.density)), accept.mean()

    chains, accepted = jax.lax.scan(step, chains, jax.random.split(key, steps))
    return chains, accepted.mean()


class Samples(NamedTuple):
    """Configurations (chains, samples, sites) and the density they were drawn from, (chains, samples)."""

    configurations: jax.Array
    density: ls.LogArray


def sample(
    key: jax.Array, density: Density, move: Move, chains: Chains, samples: int, thin: int = 1
) -> tuple[Chains, Samples, jax.Array]:
    """`samples` configurations from each chain, one every `thin` moves.

    Returns the chains (to go on from), the samples, and the accepted fraction.
    """

    def one(state: Chains, key: jax.Array) -> tuple[Chains, tuple[Chains, jax.Array]]:
        state, accepted = metropolis(key, density, move, state, thin)
        return state, (state, accepted)

    chains, (drawn, accepted) = jax.lax.scan(one, chains, jax.random.split(key, samples))
    chains_first = partial(jnp.swapaxes, axis1=0, axis2=1)
    drawn = jax.tree.map(chains_first, drawn)
    return chains, Samples(drawn.configurations, drawn.density), accepted.mean()
