"""Matrices at which determinants are hard: of every rank, nearly singular, badly scaled."""

import numpy as np


def of_integers(n: int, rank: int, rng: np.random.Generator) -> np.ndarray:
    if rank == n:
        return rng.integers(-4, 5, (n, n)).astype(float)
    return (rng.integers(-3, 4, (n, rank)) @ rng.integers(-3, 4, (rank, n))).astype(float)


def with_singular_values(s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n = len(s)
    u, v = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    return (u * s) @ v


def kahan(n: int, angle: float = 1.2) -> np.ndarray:
    """Upper triangular, with no small pivot and a tiny last singular value."""
    c, s = np.cos(angle), np.sin(angle)
    a = np.eye(n) - c * np.triu(np.ones((n, n)), 1)
    return s ** np.arange(n)[:, None] * a


def wilkinson(n: int) -> np.ndarray:
    """Partial pivoting lets its last column grow to 2**(n - 1)."""
    a = np.eye(n) - np.tril(np.ones((n, n)), -1)
    a[:, -1] = 1
    return a


def hard(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """One of each kind, n from 3."""
    out = {f"integers of rank {r}": of_integers(n, r, rng) for r in range(n + 1)}
    full = lambda: of_integers(n, n, rng)  # noqa: E731
    a = full()
    a[:, 1] = 0
    out["a zero column"] = a
    a = full()
    a[0] = 0
    out["a zero row"] = a
    a = full()
    a[:, 2] = a[:, 0]
    a[1] = a[2]
    out["repeated rows and columns"] = a
    out["nilpotent"] = np.diag(np.ones(n - 1), 1)
    out["float of rank 1"] = rng.standard_normal((n, 1)) @ rng.standard_normal((1, n))
    for last in (1e-4, 1e-10, 1e-15, 1e-300):
        s = np.ones(n)
        s[-1] = last
        out[f"last singular value {last}"] = with_singular_values(s, rng)
    s = np.ones(n)
    s[-2:] = 1e-9
    out["two small singular values"] = with_singular_values(s, rng)
    s[-3:] = 1e-5
    out["three small singular values"] = with_singular_values(s, rng)
    out["hilbert"] = 1 / (np.arange(n)[:, None] + np.arange(n) + 1.0)
    out["kahan"] = kahan(n)
    out["wilkinson"] = wilkinson(n)
    out["vandermonde"] = np.linspace(-1, 1.5, n)[:, None] ** np.arange(n)
    graded = 10.0 ** -(np.arange(n)[:, None] + np.arange(n))
    out["graded"] = graded * rng.standard_normal((n, n))
    return out


def hard_complex(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    real, imaginary = hard(n, rng), hard(n, rng)
    out = {name: real[name] + 1j * imaginary[name] for name in real}
    thin = rng.integers(-3, 4, (n, n - 1)) + 1j * rng.integers(-3, 4, (n, n - 1))
    out["complex integers of rank n - 1"] = thin @ thin.T
    return out
