"""Correctly rounded real arithmetic with an unbounded exponent, for the oracle.

Operands are the tuples (sign, mantissa, exponent, bits) that mpmath's numbers are made of. Every
rule returns the result rounded to nearest even at `bits` bits, None where it is not determined, and
whether it is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

from mpmath.libmp import fzero, mpf_add, mpf_div, mpf_mul, mpf_sqrt


def _sum_exactly(terms: Sequence[tuple]) -> tuple | None:
    """The sum where it is exact in any order in a few hundred bits, else None."""
    live = [t for t in terms if t[1]]
    if not live:
        return fzero
    low, high = min(t[2] for t in live), max(t[2] + t[3] for t in live)
    if high - low > 300:
        return None
    total = fzero
    for t in live:
        total = mpf_add(total, t)
    return total


def round_add(bits: int, *terms: tuple) -> tuple[tuple | None, bool]:
    """Sum of terms as any order of rounded additions gives it (None if it depends), exact?"""
    live = [t for t in terms if t[1]]
    total = _sum_exactly(live)
    if total is not None and live:
        # Every partial sum is a multiple of 2**low and below 2**high.
        low, high = min(t[2] for t in live), max(t[2] + t[3] for t in live)
        if high + (len(live) - 1).bit_length() - low <= bits:
            return total, True
        if len(live) <= 2 and total[3] <= bits:
            return total, True
    elif total is not None:
        return total, True
    return (mpf_add(live[0], live[1], bits, "n"), False) if len(live) == 2 else (None, False)


def round_mul(bits: int, x: tuple, y: tuple) -> tuple[tuple, bool]:
    exact = mpf_mul(x, y)
    return (exact, True) if exact[3] <= bits else (mpf_mul(x, y, bits, "n"), False)


def round_div(bits: int, x: tuple, y: tuple) -> tuple[tuple | None, bool]:
    if not y[1]:
        return None, False
    quotient = mpf_div(x, y, bits, "n")
    return quotient, mpf_mul(quotient, y) == x


def round_sqrt(bits: int, x: tuple) -> tuple[tuple | None, bool]:
    if x[0]:
        return None, False
    root = mpf_sqrt(x, bits, "n")
    return root, mpf_mul(root, root) == x
