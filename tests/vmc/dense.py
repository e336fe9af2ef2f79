"""Dense linear answers, in NumPy, that share no code with the package."""

import functools
import itertools

import numpy as np

X = np.array([[0.0, 1.0], [1.0, 0.0]])
Y = np.array([[0.0, -1.0j], [1.0j, 0.0]])
Z = np.diag([1.0, -1.0])


def product(sites: int, factors: dict[int, np.ndarray]) -> np.ndarray:
    """The Kronecker product of single-site matrices; site 0 is the slowest index."""
    return functools.reduce(np.kron, [factors.get(i, np.eye(2)) for i in range(sites)])


def heisenberg(sites: int, marshall: bool) -> np.ndarray:
    sign = -1 if marshall else 1
    total = np.zeros((2**sites, 2**sites), complex)
    for i in range(sites):
        j = (i + 1) % sites
        for pauli, factor in ((X, sign), (Y, sign), (Z, 1)):
            total += 0.25 * factor * product(sites, {i: pauli, j: pauli})
    return total.real


def ising(sites: int, coupling: float, field: float) -> np.ndarray:
    total = np.zeros((2**sites, 2**sites))
    for i in range(sites):
        total -= coupling * product(sites, {i: Z, (i + 1) % sites: Z})
        total -= field * product(sites, {i: X})
    return total


def configurations(sites: int) -> np.ndarray:
    """All of them in the order of `product`: spin up (+1) first."""
    return np.array(list(itertools.product([1, -1], repeat=sites)), np.int8)


def energy(psi: np.ndarray, h: np.ndarray) -> float:
    return (psi.conj() @ h @ psi / (psi.conj() @ psi)).real


def variance(psi: np.ndarray, h: np.ndarray) -> float:
    residual = h @ psi - energy(psi, h) * psi
    return (residual.conj() @ residual / (psi.conj() @ psi)).real


def forces(psi: np.ndarray, h: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    return jacobian.conj().T @ (h @ psi - energy(psi, h) * psi) / (psi.conj() @ psi).real


def metric(psi: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    norm = (psi.conj() @ psi).real
    overlap = jacobian.conj().T @ psi / norm
    return jacobian.conj().T @ jacobian / norm - np.outer(overlap, overlap.conj())
