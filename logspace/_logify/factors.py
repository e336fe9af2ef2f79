"""Lists of factors (base, exponent), collected.

Equal bases, the same `Value`, are one factor; what a sign, a mask or an exponential leaves over is
taken out.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .value import Value, is_constant

Factors = Sequence[tuple[Value, float]]


class Gain(NamedTuple):
    """What collecting factors achieved."""

    #: A root became whole, a sign met its modulus, a mask its coefficient.
    regular: bool = False
    #: An exponential met its inverse.
    range: bool = False


def merge(*lists: Factors) -> tuple[tuple[tuple[Value, float], ...], Gain]:
    """The factors of a product, collected."""
    table: dict[tuple[int, bool], tuple[Value, float]] = {}
    regular = wide = False
    for factors in lists:
        for base, e in factors:
            never_zero = base.is_exponential or _is_one_minus_logistic(base)
            key = (id(base), never_zero or e > 0)
            if key not in table:
                table[key] = (base, e)
                continue
            old = table[key][1]
            table[key] = (base, old + e)
            if never_zero:
                wide |= old * e < 0
            elif base.operation == "abs" or not (old.is_integer() and e.is_integer()):
                regular = True
    collected = [
        (base, snapped(e, base.dtype)) for base, e in table.values()
        if e != 0.0 and not is_constant(base, 1.0)
    ]  # fmt: skip
    for absorb in (_absorb_live, _absorb_powers_of_signs, _absorb_sign):
        collected, absorbed = absorb(collected)
        regular |= absorbed
    return tuple(collected), Gain(regular, wide)


def _is_one_minus_logistic(v: Value) -> bool:
    if v.operation != "sub" or v.operands[1].operation != "logistic":
        return False
    return is_constant(v.operands[0], 1.0)


def snapped(e: float, dtype: Any) -> float:
    """An exponent that rounding has moved off a half integer, as (1 / ln 2) * ln 2, put back."""
    nearest = round(2 * e) / 2
    return nearest if abs(e - nearest) <= 4 * np.finfo(dtype).eps * abs(e) else e


def _absorb_powers_of_signs(
    factors: list[tuple[Value, float]],
) -> tuple[list[tuple[Value, float]], bool]:
    """sign(b)**n of a real b is sign(b) or, beside a positive power of |b|, 1."""
    moduli = {_root_id(b) for b, e in factors if b.operation == "abs" and e > 0}
    out, changed = [], False
    for b, e in factors:
        if b.operation == "sign" and not b.is_complex and e > 1 and e.is_integer():
            if e % 2 == 1 or _root_id(b) in moduli:
                changed = True
                if e % 2 == 1:
                    out.append((b, 1.0))
                continue
        out.append((b, e))
    return out, changed


def _absorb_sign(factors: list[tuple[Value, float]]) -> tuple[list[tuple[Value, float]], bool]:
    """sign(b) * |b|**p = b * |b|**(p - 1), for p >= 1."""
    moduli = {}
    for i, (base, e) in enumerate(factors):
        inner = base.operands[0] if base.operation == "convert_element_type" else base
        if inner.operation == "abs" and e >= 1:
            moduli[id(inner.operands[0])] = i
    if not moduli:
        return factors, False
    out: list[Any] = list(factors)
    extra: list[tuple[Value, float]] = []
    for i, (base, e) in enumerate(factors):
        if base.operation != "sign" or e != 1.0:
            continue
        whole = base.operands[0]
        core = whole.operands[0] if whole.operation == "conj" else whole
        at = moduli.pop(id(core), None)
        if at is None:
            continue
        modulus, power_of_modulus = factors[at]
        out[i] = (whole, 1.0)
        out[at] = (modulus, power_of_modulus - 1) if power_of_modulus > 1 else None
    kept = [f for f in out if f is not None] + extra
    return kept, kept != factors


def _absorb_live(factors: list[tuple[Value, float]]) -> tuple[list[tuple[Value, float]], bool]:
    """b * live(b) = b, where live(b) is 0 where b is 0 and 1 elsewhere.

    So for the sign of a b that is not negative.
    """
    live = {}
    for i, (base, e) in enumerate(factors):
        of_sign = base.operation == "sign" and e == 1.0 and base.operands[0].nonnegative
        if base.operation == "live" or of_sign:
            live[i] = base.operands[0]
    if not live:
        return factors, False
    roots = {
        i: _root_id(base)
        for i, (base, e) in enumerate(factors)
        if e >= 1 and base.operation != "live"
    }
    dropped = {
        i
        for i, b in live.items()
        if _is_zero_beside(b, {root for j, root in roots.items() if j != i})
    }
    return [f for i, f in enumerate(factors) if i not in dropped], bool(dropped)


def _is_zero_beside(b: Value, present: set[int]) -> bool:
    """Whether factors, given by their roots, are 0 wherever b is, which may be a product."""
    if _root_id(b) in present:
        return True
    zeros = [base for base, e in b.factors if e > 0 and not (base.positive or base.nonzero)]
    return bool(zeros) and all(_root_id(base) in present for base in zeros)


def _root_id(base: Value) -> int:
    """Of what is zero where the base is."""
    while base.operation in ("convert_element_type", "sign", "abs"):
        base = base.operands[0]
    return id(base)


def poles(v: Value) -> list[tuple[Value, float]]:
    """The factors that v is divided by and that may be zero."""
    return [
        (base, e) for base, e in v.factors
        if e < 0 and not (base.is_exponential or base.positive or base.constant is not None)
    ]  # fmt: skip


def raised(factors: Factors, power: float) -> tuple[tuple[Value, float], ...]:
    return tuple((base, e * power) for base, e in factors)
