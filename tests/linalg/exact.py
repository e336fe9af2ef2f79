"""Determinants and Pfaffians in exact arithmetic: they share nothing with the library.

Derivatives are differences of polynomials at a precision where no digit is lost.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from typing import Any

import mpmath
import numpy as np

#: Bits of precision, and the step of a difference: its error is the square of the step.
BITS, STEP = 1200, mpmath.mpf(2) ** -200


def matrix(a: Any) -> list[list[Any]]:
    convert = mpmath.mpc if np.iscomplexobj(a) else mpmath.mpf
    return [[convert(x) for x in row] for row in np.asarray(a).tolist()]


def determinant(a: list[list[Any]]) -> Any:
    """By elimination with complete row pivoting."""
    a, n, out = [list(row) for row in a], len(a), mpmath.mpf(1)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i][k]))
        if a[p][k] == 0:
            return mpmath.mpf(0)
        if p != k:
            a[p], a[k], out = a[k], a[p], -out
        out *= a[k][k]
        for i in range(k + 1, n):
            if a[i][k] != 0:
                factor = a[i][k] / a[k][k]
                a[i] = [x - factor * y for x, y in zip(a[i], a[k], strict=True)]
    return out


def determinant_of_integers(a: Any) -> Fraction:
    """The sum over permutations, in integers."""
    a, n, total = np.asarray(a).astype(int).tolist(), len(a), 0
    for p in permutations(range(n)):
        inversions = sum(p[i] > p[j] for i in range(n) for j in range(i + 1, n))
        term = (-1) ** inversions
        for i in range(n):
            term *= a[i][p[i]]
        total += term
    return Fraction(total)


def pfaffian(a: list[list[Any]]) -> Any:
    """The expansion along the first row."""
    n = len(a)
    if n == 0:
        return mpmath.mpf(1)
    if n % 2:
        return mpmath.mpf(0)
    total = mpmath.mpf(0)
    for j in range(1, n):
        rest = [i for i in range(1, n) if i != j]
        if a[0][j] != 0:
            minor = [[a[i][k] for k in rest] for i in rest]
            total += (-1) ** (j - 1) * a[0][j] * pfaffian(minor)
    return total


def plus(a: list[list[Any]], h: Any, d: list[list[Any]]) -> list[list[Any]]:
    return [[x + h * y for x, y in zip(r, s, strict=True)] for r, s in zip(a, d, strict=True)]


def along(f: Callable[[Any], Any], a: Any, *directions: Any) -> Any:
    """The mixed derivative of f along the directions."""
    if not directions:
        return f(a)
    d, *rest = directions
    upper = along(f, plus(a, STEP, d), *rest)
    lower = along(f, plus(a, -STEP, d), *rest)
    return (upper - lower) / (2 * STEP)


def gradient(f: Callable[[Any], Any], a: Any, *directions: Any) -> np.ndarray:
    """d f / d a_ij, or its derivative along directions, as floats."""
    a = matrix(a)
    directions = tuple(map(matrix, directions))
    n = len(a)
    out = np.zeros((n, n), complex)
    with mpmath.workprec(BITS):
        for i in range(n):
            for j in range(n):
                unit = [[mpmath.mpf(i == k and j == m) for m in range(n)] for k in range(n)]
                out[i, j] = complex(along(f, a, unit, *directions))
    return out if isinstance(a[0][0], mpmath.mpc) else out.real
