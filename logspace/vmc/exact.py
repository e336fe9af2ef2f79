"""Exact answers for small systems: all configurations, lowest states, full summation."""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls

from .estimators import expect_and_grad
from .operators import Operator

_LARGEST = 400_000


class Sector(NamedTuple):
    """All configurations of a sector, and the operator on them as a sparse matrix.

    configurations (size, sites) int8; columns (size, rows) and elements (size, rows) hold the
    nonzero elements of each row of the matrix, padded with elements 0.
    """

    configurations: np.ndarray
    columns: np.ndarray
    elements: np.ndarray

    @property
    def size(self) -> int:
        return len(self.configurations)

    def apply(self, vector: np.ndarray) -> np.ndarray:
        """H times a vector (size,)."""
        return (self.elements * vector[self.columns]).sum(1)

    def dense(self) -> np.ndarray:
        """The matrix (size, size)."""
        matrix = np.zeros((self.size, self.size))
        np.add.at(matrix, (np.arange(self.size)[:, None], self.columns), self.elements)
        return matrix


def _keys(configurations: np.ndarray) -> np.ndarray:
    return (configurations > 0) @ (1 << np.arange(configurations.shape[-1], dtype=np.int64))


def sector(operator: Operator, magnetisation: int | None = None) -> Sector:
    """The configurations with this sum of spins (all 2^sites if None) and the operator on them.

    `ValueError` if there are more than 400,000, or if the operator leads out of the sector.
    """
    sites = operator.sites
    size = 2**sites if magnetisation is None else 0
    if (
        magnetisation is not None
        and (sites + magnetisation) % 2 == 0
        and abs(magnetisation) <= sites
    ):
        size = math.comb(sites, (sites + magnetisation) // 2)
    if not 0 < size <= _LARGEST:
        raise ValueError(
            f"Exact answers require a sector of 1 to {_LARGEST} configurations; {sites} sites with "
            f"magnetisation {magnetisation} have {size}."
        )
    if magnetisation is None:
        bits = (np.arange(size)[:, None] >> np.arange(sites)) & 1
        configurations = (2 * bits - 1).astype(np.int8)
    else:
        up = np.array(list(itertools.combinations(range(sites), (sites + magnetisation) // 2)), int)
        configurations = np.full((size, sites), -1, np.int8)
        np.put_along_axis(configurations, up.reshape(size, -1), 1, 1)
    keys = _keys(configurations)
    order = np.argsort(keys)
    configurations, keys = configurations[order], keys[order]
    connected, elements = map(np.asarray, jax.jit(jax.vmap(operator.connected))(configurations))
    targets = _keys(connected)
    columns = np.searchsorted(keys, targets).clip(max=size - 1)
    outside = keys[columns] != targets
    if np.any(outside & (elements != 0)):
        raise ValueError(
            f"The operator leads out of the sector of magnetisation {magnetisation}; "
            "magnetisation=None takes all configurations."
        )
    return Sector(configurations, columns.astype(np.int32), np.where(outside, 0.0, elements))


def flip_parity(space: Sector, vector: np.ndarray, parity: int) -> np.ndarray:
    """The part of a vector (size,) with this parity (+1 or -1) under a flip of all spins."""
    flipped = np.searchsorted(_keys(space.configurations), _keys(-space.configurations))
    return (vector + parity * vector[flipped]) / 2


def lowest_state(
    space: Sector,
    project: Callable[[np.ndarray], np.ndarray] = lambda vector: vector,
    iterations: int = 120,
    tolerance: float = 1e-10,
) -> tuple[float, np.ndarray]:
    """The lowest eigenvalue and eigenvector by Lanczos iteration with full reorthogonalisation.

    `project` restricts to a symmetry sector: a linear map onto it that commutes with H. Stops when
    the eigenvalue changes by less than `tolerance`, relatively; raises `RuntimeError` if it does
    not within `iterations`.
    """
    start = project(np.random.default_rng(0).normal(size=space.size))
    vectors = [start / np.linalg.norm(start)]
    diagonal: list[float] = []
    beside: list[float] = []
    energy = np.inf
    for _ in range(min(iterations, space.size)):
        new = project(space.apply(vectors[-1]))
        diagonal.append(float(vectors[-1] @ new))
        known = np.array(vectors)
        # Twice: one pass leaves a rounding error that grows into copies of the eigenvectors.
        for _ in range(2):
            new -= known.T @ (known @ new)
        size = float(np.linalg.norm(new))
        tridiagonal = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        values, states = np.linalg.eigh(tridiagonal)
        converged = abs(values[0] - energy) <= tolerance * abs(values[0])
        energy = values[0]
        complete = len(diagonal) == space.size
        if converged or complete or size < 1e-10 * np.abs(values).max():
            return float(energy), known.T @ states[:, 0]
        beside.append(size)
        vectors.append(new / size)
    raise RuntimeError(f"No convergence within {iterations} iterations; allow more.")


def full_energy(amplitude: Callable[[jax.Array], ls.LogArray], space: Sector) -> jax.Array:
    """<psi|H|psi> / <psi|psi> over all configurations, written as the quotient that it is.

    A plain scalar. Its derivatives by `jax.grad` in whatever `amplitude` closes over are right at
    nodes.
    """
    psi = jax.vmap(amplitude)(jnp.asarray(space.configurations))
    h_psi = (space.elements * psi[space.columns]).sum(1)
    return ((psi.conj() * h_psi).sum() / ls.abs2(psi).sum()).to_linear().real


class FullSum(NamedTuple):
    """A state summed over all configurations; plain numbers.

    `energy` and its `gradient` (parameters,) in real parameters.
    `nodes` counts the configurations where psi is exactly 0, `first_order_nodes` those of them
    where some derivative of psi in the parameters is not. `probabilities` (size,) are |psi|^2 / sum
    |psi|^2, right for psi of any size (e^800, say).
    """

    energy: jax.Array
    gradient: jax.Array
    nodes: jax.Array
    first_order_nodes: jax.Array
    probabilities: jax.Array


def full_sum(
    amplitude: Callable[[jax.Array, jax.Array], ls.LogArray],
    parameters: jax.Array,
    space: Sector,
    batch: int = 1024,
) -> FullSum:
    """Energy, its exact gradient and the nodes of a state; `parameters` is a real vector.

    At most `batch` configurations are differentiated at a time.
    """

    def one(sigma: jax.Array) -> tuple[ls.LogArray, ls.LogArray]:
        return amplitude(parameters, sigma), ls.jacobian(amplitude)(parameters, sigma)

    psi, jacobian = jax.lax.map(
        one, jnp.asarray(space.configurations), batch_size=min(batch, space.size)
    )
    h_psi = (space.elements * psi[space.columns]).sum(1)
    energy, gradient = expect_and_grad(psi, h_psi, jacobian)
    node = psi == 0
    first_order = node & (jacobian != 0).any(1)
    weights = ls.abs2(psi)
    return FullSum(
        energy.mean.real,
        gradient.mean,
        node.sum(),
        first_order.sum(),
        (weights / weights.sum()).to_linear(),
    )


def exact_samples(
    key: jax.Array, space: Sector, probabilities: jax.Array, shape: tuple[int, ...]
) -> jax.Array:
    """Independent configurations (*shape, sites) of a sector, with these probabilities (size,)."""
    chosen = jax.random.choice(key, space.size, shape, p=probabilities)
    return jnp.asarray(space.configurations)[chosen]
