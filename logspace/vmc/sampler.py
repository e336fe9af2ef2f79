"""Densities to sample from, and a Metropolis sampler whose chains survive nodes.

A density is a function of one configuration (sites,) that gives a non-negative scalar LogArray,
known up to a factor. |psi|^2 is 0 on the nodes, where conj(d psi) H psi is not: samples of it miss
that part of a gradient. The other densities here are positive wherever the operator reaches from
the support of psi. Samples of any density are used with the weights |psi|^2 / density, which the
estimators form.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls
import logspace.numpy as lnp

from .operators import Operator, connected_amplitudes

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
    blur: float = 0.0,
) -> Density:
    """``|psi|^2 + |(H - energy) psi|^2 / width^2 + blur * (mean of |psi'|^2)``, positive on nodes.

    The second part is positive on all nodes with (H psi) != 0. With `width` near the standard
    deviation of the energy it weighs as much as the first, and the terms
    conj(d psi) (H - energy) psi / density stay bounded where psi is small, the more so the smaller
    `width` is; energy = 0 and width = 1 give |psi|^2 + |H psi|^2. The constants must not depend on
    the samples that are drawn with them: take those of the step before.

    The third part averages over the connected configurations. It is positive on all nodes next to
    the support of psi, so that chains can cross nodes where H psi is 0 by symmetry: without it, the
    support of the density may fall into pieces. The weights |psi|^2 / density are at most 1.
    """

    def density(sigma: jax.Array) -> ls.LogArray:
        psi, elements = connected_amplitudes(amplitude, operator, sigma)
        residual = (elements * psi).sum() - energy * psi[0]
        weights = ls.abs2(psi)
        return weights[0] + ls.abs2(residual / width) + blur * weights[1:].mean()

    return density


def blurred_density(
    amplitude: Callable[[jax.Array], ls.LogArray], operator: Operator, coverage: float = 0.5
) -> Density:
    """``(1 - coverage) |psi|^2 + coverage * (mean of |psi|^2 over the connected configurations)``.

    Normalised like |psi|^2 if the connection is symmetric, as it is for the operators of this
    package. Positive on every node next to a configuration where psi != 0.
    """
    if not 0 <= coverage <= 1:
        raise ValueError(f"coverage requires a number in [0, 1]; {coverage} was given.")

    def density(sigma: jax.Array) -> ls.LogArray:
        weights = ls.abs2(connected_amplitudes(amplitude, operator, sigma)[0])
        return (1 - coverage) * weights[0] + coverage * weights[1:].mean()

    return density


def uniform_mixture(
    amplitude: Callable[[jax.Array], ls.LogArray],
    norm: ls.LogArray | jax.Array | float,
    size: float,
    coverage: float = 0.1,
) -> Density:
    """``(1 - coverage) |psi|^2 / norm + coverage / size``, positive everywhere.

    `size` is the number of configurations that the moves reach, `norm` an estimate of sum |psi|^2;
    a constant: it must not depend on the samples that are drawn with it. If it is wrong, the
    fraction of uniform samples is another, and the weights are right still.
    """
    if not 0 <= coverage <= 1:
        raise ValueError(f"coverage requires a number in [0, 1]; {coverage} was given.")

    def density(sigma: jax.Array) -> ls.LogArray:
        return (1 - coverage) * (ls.abs2(amplitude(sigma)) / norm) + coverage / size

    return density


def floored_density(
    amplitude: Callable[[jax.Array], ls.LogArray], floor: ls.LogArray | jax.Array | float
) -> Density:
    """``max(|psi|^2, floor)``, positive everywhere for a positive floor."""
    return lambda sigma: lnp.maximum(ls.abs2(amplitude(sigma)), floor)


def missed_weight(
    amplitude: Callable[[jax.Array], ls.LogArray], operator: Operator, configurations: jax.Array
) -> jax.Array:
    """How much of <|H psi|^2> lies on nodes, about, from samples (..., sites) of |psi|^2; plain.

    The mean of sum |H_xx'|^2 over the connected configurations x' where psi is 0. Other than 0, it
    says that samples of |psi|^2 miss part of forces and metric: use another density.
    """

    def one(sigma: jax.Array) -> jax.Array:
        psi, elements = connected_amplitudes(amplitude, operator, sigma)
        return jnp.where(psi == 0, jnp.square(jnp.abs(elements)), 0.0)[1:].sum()

    flat = configurations.reshape(-1, configurations.shape[-1])
    return jax.vmap(one)(flat).mean()


class Exchange(eqx.Module):
    """A move: exchange two sites of a ring, `reach` sites apart or less. The magnetisation stays.

    `reach` is an integer from 1 (neighbours only) to sites // 2 (any two sites), kept as an array,
    so that `equinox.filter_jit` traces it and another reach compiles nothing.
    """

    reach: np.ndarray | jax.Array = eqx.field(converter=np.asarray)

    def __call__(self, key: jax.Array, sigma: jax.Array) -> jax.Array:
        sites = sigma.shape[0]
        first, distance = jax.random.uniform(key, (2,))
        i = (first * sites).astype(int)
        j = (i + 1 + (distance * self.reach).astype(int)) % sites
        return sigma.at[i].set(sigma[j]).at[j].set(sigma[i])


def flip_one(key: jax.Array, sigma: jax.Array) -> jax.Array:
    """A move: flip one spin."""
    i = jax.random.randint(key, (), 0, sigma.shape[0])
    return sigma.at[i].multiply(-1)


def random_configurations(
    key: jax.Array, sites: int, shape: tuple[int, ...], magnetisation: int | None = 0
) -> jax.Array:
    """Uniform configurations (*shape, sites), int8, of one magnetisation (sum of spins) or any."""
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


def start_chains(density: Density, candidates: jax.Array) -> jax.Array:
    """Configurations (chains, sites) where the density is not zero, as far as there are any.

    `candidates` has the shape (tries, chains, sites); each chain takes its first candidate with a
    density other than 0, or its first one, if there is none: `metropolis` walks freely from there.
    """
    first = jnp.argmax(jax.vmap(jax.vmap(density))(candidates) != 0, axis=0)
    return candidates[first, jnp.arange(candidates.shape[1])]


class Samples(NamedTuple):
    """Configurations (chains, samples, sites) and their density (chains, samples).

    From `metropolis`, without the axis of samples: where the chains are.
    """

    configurations: jax.Array
    density: ls.LogArray


class _State(NamedTuple):
    configurations: jax.Array
    density: ls.LogArray
    number: jax.Array


def _moves(
    key: jax.Array, density: Density, move: Move, state: _State, steps: int
) -> tuple[_State, jax.Array]:
    """The chains after some steps, and the number of accepted moves per chain."""
    count = state.configurations.shape[0]

    def step(state: _State, key: jax.Array) -> tuple[_State, jax.Array]:
        move_key, accept_key = jax.random.split(key)
        proposed = jax.vmap(move)(jax.random.split(move_key, count), state.configurations)
        # The first step proposes to stay, which is accepted: this evaluates the density where the
        # chains are, without a second copy of its program.
        proposed = jnp.where(state.number == 0, state.configurations, proposed)
        new = jax.vmap(density)(proposed)
        threshold = jax.random.uniform(accept_key, (count,), new.dtype)
        accept = (state.density == 0) | (threshold * state.density < new)
        moved = jnp.where(accept[:, None], proposed, state.configurations)
        accepted = jnp.where(state.number == 0, 0.0, accept.mean())
        return _State(moved, lnp.where(accept, new, state.density), state.number + 1), accepted

    state, accepted = jax.lax.scan(step, state, jax.random.split(key, steps))
    return state, accepted.sum()


def _start(density: Density, configurations: jax.Array) -> _State:
    # A density of 0 accepts what comes next.
    dtype = jax.eval_shape(density, configurations[0]).dtype
    return _State(configurations, ls.zeros(configurations.shape[:1], dtype), jnp.zeros((), int))


def metropolis(
    key: jax.Array, density: Density, move: Move, configurations: jax.Array, steps: int
) -> tuple[Samples, jax.Array]:
    """`steps` Metropolis moves of chains at configurations (chains, sites), the first one to stay.

    Returns where they are, with the density there, and the accepted fraction, a scalar. `move(key,
    sigma)` proposes; it has to be as probable as its reverse. A move is accepted with probability
    min(1, new / old), and always where the old density is 0: a chain on a zero leaves it, while a
    difference of logarithms (-inf + inf) would hold it there for ever.
    """
    state, accepted = _moves(key, density, move, _start(density, configurations), steps)
    return Samples(state.configurations, state.density), accepted / max(steps - 1, 1)


def sample(
    key: jax.Array,
    density: Density,
    move: Move,
    configurations: jax.Array,
    samples: int,
    thin: int = 1,
) -> tuple[Samples, jax.Array]:
    """`samples` configurations of each chain, one every `thin` moves of `metropolis`.

    Returns them and the accepted fraction. To go on, start from the last ones, ``configurations[:,
    -1]``. The first move stays, so `samples * thin` of at least 2 is needed to move.
    """

    def one(state: _State, key: jax.Array) -> tuple[_State, tuple[Samples, jax.Array]]:
        state, accepted = _moves(key, density, move, state, thin)
        return state, (Samples(state.configurations, state.density), accepted)

    keys = jax.random.split(key, samples)
    _, (drawn, accepted) = jax.lax.scan(one, _start(density, configurations), keys)
    drawn = jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 0, 1), drawn)
    return drawn, accepted.sum() / max(samples * thin - 1, 1)
