"""Dense linear answers for NetKet's operators, in NumPy; no logarithms, no code of the package."""

import itertools
from typing import Any

import numpy as np


def energy(psi: np.ndarray, h: np.ndarray) -> float:
    return (psi.conj() @ h @ psi / (psi.conj() @ psi)).real


def variance(psi: np.ndarray, h: np.ndarray) -> float:
    residual = h @ psi - energy(psi, h) * psi
    return (residual.conj() @ residual / (psi.conj() @ psi)).real


def forces(psi: np.ndarray, jacobian: np.ndarray, h: np.ndarray) -> np.ndarray:
    """conj(d psi) (H psi - E psi) / <psi|psi>, for jacobian (size, parameters)."""
    mean = psi.conj() @ h @ psi / (psi.conj() @ psi)
    return jacobian.conj().T @ (h @ psi - mean * psi) / (psi.conj() @ psi).real


def metric(psi: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    norm = (psi.conj() @ psi).real
    centred = jacobian - np.outer(psi, psi.conj() @ jacobian) / norm
    return centred.conj().T @ centred / norm


def shifted_step(metric: np.ndarray, force: np.ndarray, shift: float) -> np.ndarray:
    """(Re S + shift)^-1 2 Re F."""
    return np.linalg.solve(metric.real + shift * np.eye(len(force)), 2 * force.real)


def projector(phi: np.ndarray) -> np.ndarray:
    """-|phi><phi| / <phi|phi>: its expectation value is the infidelity less 1."""
    return -np.outer(phi, phi.conj()) / (phi.conj() @ phi)


def occupations(states: Any, count: int) -> np.ndarray:
    """The occupied orbitals (size, count) of configurations of fermions."""
    return np.array([np.flatnonzero(np.asarray(row) == 1) for row in states]).reshape(-1, count)


def determinants(matrices: np.ndarray) -> np.ndarray:
    """By Leibniz' sum, whose derivative is that of a polynomial."""
    n = matrices.shape[-1]
    total = np.zeros(matrices.shape[:-2], matrices.dtype)
    for order in itertools.permutations(range(n)):
        sign = np.linalg.det(np.eye(n)[list(order)])
        product = np.ones_like(total)
        for i, j in enumerate(order):
            product = product * matrices[..., i, j]
        total = total + round(sign) * product
    return total
