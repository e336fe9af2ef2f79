"""What a row gives exactly, at any exponent: mpmath numbers, by the law that the row names.

The plain operation is asked only about structure, on small integers: where an element goes, which
coefficients a sum has, which powers a product. The arithmetic is mpmath's.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import mpmath
import numpy as np

from tests.cases.case import Case

from .checks import Leaf, eps_of, linear, plain_jitted


class Expected(NamedTuple):
    """A result and the magnitude against which its rounding is measured, elementwise."""

    value: np.ndarray  # of mpmath numbers, or integers and booleans
    scale: np.ndarray


def exact_numbers(significand: np.ndarray, exponent: Any = 0) -> np.ndarray:
    """significand * 2**exponent as an object array of mpmath numbers."""
    s, e = np.broadcast_arrays(significand, exponent)
    out = np.empty(s.shape, object)
    for i in np.ndindex(s.shape):
        out[i] = _number(s[i], int(e[i]))
    return out


def _number(s: Any, e: int) -> Any:
    if np.iscomplexobj(s):
        return mpmath.mpc(_number(s.real, e), _number(s.imag, e))
    return mpmath.ldexp(mpmath.mpf(float(s)), e)


def expected(case: Case, values: Sequence[np.ndarray]) -> list[Expected]:
    """The exact results for operands given as mpmath numbers (fixed ones as they are)."""
    return _LAWS[case.law](case, values)


def _plain(case: Case, values: Sequence[Any]) -> list[np.ndarray]:
    return linear(plain_jitted(case)(*map(jnp.asarray, values)))


def _by_labels(case: Case, values: Sequence[Any], label: Any, meaning: Any) -> list[Expected]:
    labels = [label(i, v) if i in case.numbers else v for i, v in enumerate(values)]
    out = []
    for found in _plain(case, labels):
        if found.dtype.kind != "f":
            out.append(Expected(found, found))
            continue
        result = np.empty(found.shape, object)
        for i in np.ndindex(found.shape):
            result[i] = meaning(found[i])
        out.append(Expected(result, result))
    return out


def _movement(case: Case, values: Sequence[Any]) -> list[Expected]:
    """Elements carry negative labels; what is not one (a fill value) stands for itself."""
    elements: list[Any] = []

    def label(position: int, v: np.ndarray) -> np.ndarray:
        start = len(elements)
        elements.extend(v.ravel())
        return -1.0 - np.arange(start, len(elements), dtype=float).reshape(v.shape)

    def meaning(found: float) -> Any:
        return elements[int(-found) - 1] if found < 0 else mpmath.mpf(float(found))

    return _by_labels(case, values, label, meaning)


def _order(case: Case, values: Sequence[Any]) -> list[Expected]:
    elements = sorted(
        {x for i in case.numbers for x in values[i].ravel()}, key=lambda x: (x.real, x.imag)
    )
    ranks = {x: float(i + 1) for i, x in enumerate(elements)}

    def label(position: int, v: np.ndarray) -> np.ndarray:
        return np.vectorize(ranks.__getitem__, otypes=[float])(v)

    def meaning(found: float) -> Any:
        return elements[int(found) - 1] if np.isfinite(found) else mpmath.mpf(float(found))

    return _by_labels(case, values, label, meaning)


def _unit_vectors(case: Case, values: Sequence[Any], position: int, base: Any):
    """The operands with one element of one operand replaced, one after the other."""
    for j in range(values[position].size):
        changed = [np.array(b) for b in base]
        changed[position].ravel()[j] = 2.0 if changed[position].ravel()[j] == 1 else 1.0
        yield j, changed


def _base(case: Case, values: Sequence[Any], fill: float) -> list[np.ndarray]:
    return [
        np.full(v.shape, fill) if i in case.numbers else np.asarray(v) for i, v in enumerate(values)
    ]


def _sum_up(shape: tuple[int, ...], terms: dict[tuple[int, ...], list[Any]]) -> Expected:
    value, scale = np.empty(shape, object), np.empty(shape, object)
    for i in np.ndindex(shape):
        found = terms.get(i, [])
        value[i] = mpmath.fsum(found) if found else mpmath.mpf(0)
        scale[i] = mpmath.fsum(map(abs, found)) if found else mpmath.mpf(0)
    return Expected(value, scale)


def _linear(case: Case, values: Sequence[Any]) -> list[Expected]:
    base = _base(case, values, 0.0)
    shapes = [found.shape for found in _plain(case, base)]
    terms: list[dict] = [{} for _ in shapes]
    for position in case.numbers:
        for j, changed in _unit_vectors(case, values, position, base):
            for found, collected in zip(_plain(case, changed), terms, strict=True):
                for i in np.argwhere(found):
                    i = tuple(map(int, i))
                    coefficient = int(found[i].real)
                    term = coefficient * values[position].ravel()[j]
                    collected.setdefault(i, []).append(term)
    return [_sum_up(shape, found) for shape, found in zip(shapes, terms, strict=True)]


def _bilinear(case: Case, values: Sequence[Any]) -> list[Expected]:
    first, second = case.numbers
    base = _base(case, values, 0.0)
    (shape,) = [found.shape for found in _plain(case, base)]
    terms: dict[tuple[int, ...], list[Any]] = {}
    for j, once in _unit_vectors(case, values, first, base):
        for k, twice in _unit_vectors(case, values, second, once):
            (found,) = _plain(case, twice)
            for i in map(tuple, np.argwhere(found)):
                product = values[first].ravel()[j] * values[second].ravel()[k]
                terms.setdefault(i, []).append(int(found[i]) * product)
    return [_sum_up(shape, terms)]


def _monomial(case: Case, values: Sequence[Any]) -> list[Expected]:
    base = _base(case, values, 1.0)
    (reference,) = _plain(case, base)
    out = np.full(reference.shape, mpmath.mpf(1), object)
    for position in case.numbers:
        for j, changed in _unit_vectors(case, values, position, base):
            (found,) = _plain(case, changed)
            powers = np.log2(np.abs(found))
            for i in map(tuple, np.argwhere(powers)):
                out[i] = out[i] * values[position].ravel()[j] ** int(powers[i])
    return [Expected(out, out)]


def _elementwise(case: Case, values: Sequence[Any]) -> list[Expected]:
    result = np.frompyfunc(case.exact, len(values), 1)(*values)
    if isinstance(result.ravel()[0], bool):
        result = result.astype(bool)
    return [Expected(result, result)]


def _array(case: Case, values: Sequence[Any]) -> list[Expected]:
    result = case.exact(*values)
    return [Expected(result, result)]


_LAWS = {
    "movement": _movement,
    "order": _order,
    "linear": _linear,
    "bilinear": _bilinear,
    "monomial": _monomial,
    "elementwise": _elementwise,
    "array": _array,
}


def assert_exact(got: Leaf, want: Expected, ulps: float, dtype: Any, context: str = "") -> None:
    """got within ulps * eps of the scale; plain results also within the smallest normal float."""
    assert got.significand.shape == want.value.shape, context
    if want.value.dtype != object:
        np.testing.assert_array_equal(got.significand, want.value, err_msg=context)
        return
    info = np.finfo(got.significand.dtype)
    plain = got.exponent is None
    for i in np.ndindex(want.value.shape):
        s, value, scale = got.significand[i], want.value[i], want.scale[i]
        if not mpmath.isfinite(value):
            assert np.isnan(s) if mpmath.isnan(value) else s == complex(value), context
            continue
        if plain and abs(value) > float(info.max):
            assert np.isinf(s), f"{context}{i}: {s}, not {mpmath.nstr(value)}"
            continue
        assert np.isfinite(s), f"{context}{i}: {s}, not {mpmath.nstr(value)}"
        error = abs(_number(s, 0 if plain else int(got.exponent[i])) - value)
        in_eps = error / abs(scale) / eps_of(dtype) if scale else mpmath.inf
        bound = ulps * eps_of(dtype) * abs(scale) + (float(info.tiny) if plain else 0)
        assert error <= bound, (
            f"{context}{i}: off by {mpmath.nstr(in_eps)} eps at {mpmath.nstr(value)}"
        )
