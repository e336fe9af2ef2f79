"""Exact second-order derivatives: numbers that are fractions, with gradient and Hessian."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any


class Jet:
    """value + gradient . d + d . hessian . d / 2, in rational arithmetic."""

    def __init__(self, value: Any, gradient: Sequence[Any], hessian: Sequence[Sequence[Any]]):
        self.value = Fraction(value)
        self.gradient = list(gradient)
        self.hessian = [list(row) for row in hessian]

    @property
    def size(self) -> int:
        return len(self.gradient)

    @staticmethod
    def variables(values: Sequence[int]) -> list[Jet]:
        n = len(values)
        flat = [[Fraction(0)] * n for _ in range(n)]
        return [Jet(v, [Fraction(i == j) for j in range(n)], flat) for i, v in enumerate(values)]

    def constant(self, value: Any) -> Jet:
        n = self.size
        return Jet(value, [Fraction(0)] * n, [[Fraction(0)] * n for _ in range(n)])

    def _of(self, other: Any) -> Jet:
        return other if isinstance(other, Jet) else self.constant(other)

    def __add__(self, other: Any) -> Jet:
        y = self._of(other)
        return Jet(
            self.value + y.value,
            [a + b for a, b in zip(self.gradient, y.gradient, strict=True)],
            [[a + b for a, b in zip(*rows, strict=True)]
             for rows in zip(self.hessian, y.hessian, strict=True)],
        )  # fmt: skip

    def __mul__(self, other: Any) -> Jet:
        y, n = self._of(other), range(self.size)
        return Jet(
            self.value * y.value,
            [self.value * y.gradient[i] + self.gradient[i] * y.value for i in n],
            [[self.value * y.hessian[i][j] + self.hessian[i][j] * y.value
              + self.gradient[i] * y.gradient[j] + self.gradient[j] * y.gradient[i]
              for j in n] for i in n],
        )  # fmt: skip

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other: Any) -> Jet:
        return self + self._of(other) * -1

    def inverse(self) -> Jet:
        v, n = 1 / self.value, range(self.size)
        return Jet(
            v,
            [-v * v * g for g in self.gradient],
            [[2 * v**3 * self.gradient[i] * self.gradient[j] - v * v * self.hessian[i][j]
              for j in n] for i in n],
        )  # fmt: skip

    def __truediv__(self, other: Any) -> Jet:
        return self * self._of(other).inverse()


def determinant(rows: Sequence[Sequence[Jet]]) -> Jet:
    """By expansion in the first row."""
    if len(rows) == 1:
        return rows[0][0]
    total = rows[0][0].constant(0)
    for i, entry in enumerate(rows[0]):
        minor = [[x for j, x in enumerate(row) if j != i] for row in rows[1:]]
        total = total + entry * determinant(minor) * (-1) ** i
    return total
