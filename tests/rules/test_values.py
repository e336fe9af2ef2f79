"""Law 1: the value of every row, on plain numbers and where no float holds it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
from tests.cases import CASES
from tests.cases.case import Number, draw, draw_all
from tests.special_values import crossed

from .checks import (
    assert_same_bits,
    close,
    jitted,
    leaves,
    linear,
    normalised,
    operands,
    parameters,
    plain_jitted,
    quaxified,
    seed,
    window_of,
)
from .exact import assert_exact, exact_numbers, expected

REACHES = (0, 60, 1200, 100_000)


@pytest.mark.parametrize("case, dtype", parameters(CASES, real=5, complex=15))
def test_value_gauge_and_exact(case, dtype):
    """One compiled function for each row: plain values, the gauge law, and mpmath's values."""
    rng = seed(case, dtype)
    compare_with_plain(case, dtype, rng)
    compare_special_values(case, dtype)
    compare_gauges(case, dtype, rng)
    if case.law != "none":
        for reach in REACHES[1:] if _is_wide(case) else REACHES[:1]:
            compare_with_exact(case, dtype, rng, reach)


def compare_with_plain(case, dtype, rng):
    values = draw_all(case, rng, dtype)
    want = linear(plain_jitted(case)(*map(jnp.asarray, values)))
    got = linear(jitted(case)(*operands(case, values)))
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        close(a, b, case.ulps + 4, f"{case}: ")


def compare_special_values(case, dtype):
    """The grid: finite where the plain operation is, with its value; else the same infinity or nan.

    Complex infinities and nans differ between the parts of formulas (also within JAX): there only
    finite and not finite are told apart.
    """
    if not case.special_values:
        return
    values = crossed(dtype, len(case.operands))
    got = linear(jitted(case)(*map(ls.from_linear, values)))
    want = linear(plain_jitted(case)(*map(jnp.asarray, map(_flushed, values))))
    excepted = np.isin(values[0], case.excepted)
    for a, b in zip(got, want, strict=True):
        if b.dtype.kind not in "fc":
            np.testing.assert_array_equal(a, b, err_msg=case.name)
            continue
        finite = np.isfinite(b)
        wrong = np.isfinite(a) != finite
        if b.dtype.kind == "f":
            wrong |= ~finite & ~((a == b) | (np.isnan(a) & np.isnan(b)))
        bound = (case.ulps + 4) * np.finfo(b.dtype).eps * np.abs(np.where(finite, b, 0))
        bound += np.finfo(b.dtype).tiny
        wrong &= ~excepted
        wrong |= finite & (np.abs(np.where(finite, a, 0) - np.where(finite, b, 0)) > bound)
        report = "\n".join(
            f"{[v[i].item() for v in values]}: {a[i]}, not {b[i]}" for i in np.flatnonzero(wrong)
        )
        assert not wrong.any(), f"{case}\n{report}"


def _flushed(v):
    """Subnormal numbers count as zeros, as they do for XLA's arithmetic on CPU."""
    if v.dtype.kind != "f":
        return v
    return np.where(np.abs(v) < np.finfo(v.dtype).tiny, np.copysign(v.dtype.type(0), v), v)


def compare_gauges(case, dtype, rng):
    """Law 2: powers of two between significand and exponent change no bit."""
    values = draw_all(case, rng, dtype)
    want = jitted(case)(*operands(case, values))
    for reach in (30, window_of(dtype)):
        shifts = [rng.integers(-reach, reach + 1, np.shape(v)) for v in values]
        shifted = [
            _shift(v, k) if i in case.numbers else v
            for i, (v, k) in enumerate(zip(values, shifts, strict=True))
        ]
        got = jitted(case)(*operands(case, shifted, [-k for k in shifts]))
        assert_same_bits(got, want, f"{case}, gauge {reach}")


def _shift(v, k):
    if np.iscomplexobj(v):
        parts = np.ldexp(v.real, k) + 1j * np.ldexp(v.imag, k)
        return np.asarray(parts, v.dtype)
    return np.asarray(np.ldexp(v, k), v.dtype)


def _is_wide(case):
    return case.exact_domain not in ("moderate", "unit")


def _exponents(case, rng, operand, position, reach):
    """Exponents by the row's domain; 0 for what must stay of order one."""
    shape = operand.shape
    match case.exact_domain:
        case "wide" | "positive":
            return rng.integers(-reach, reach + 1, shape)
        case "above one":
            return rng.integers(0, reach + 1, shape)
        case "exponential":
            return rng.integers(-reach, 16, shape)
        case "rounding":
            return rng.integers(-min(reach, 60), reach + 1, shape)
        case "power" if position == 0:
            return rng.integers(-reach, reach + 1, shape)
    return np.zeros(shape, int)


def compare_with_exact(case, dtype, rng, reach):
    values, exponents = [], []
    for i, operand in enumerate(case.operands):
        if not isinstance(operand, Number):
            values.append(np.asarray(operand.value))
            exponents.append(0)
            continue
        if case.exact_domain == "positive":
            operand = operand._replace(domain="positive")
        values.append(draw(operand, rng, dtype))
        exponents.append(_exponents(case, rng, operand, i, reach))
    got = leaves(jitted(case)(*operands(case, values, exponents)))
    exact = [
        exact_numbers(v, e) if i in case.numbers else v
        for i, (v, e) in enumerate(zip(values, exponents, strict=True))
    ]
    want = expected(case, exact)
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert_exact(a, b, case.ulps, dtype, f"{case}, exponents to {reach}: ")


@pytest.mark.parametrize("case, dtype", parameters(CASES, real=8, complex=24))
def test_eager_and_mixed_operands(case, dtype):
    """jit(f) = f, and any operand may be plain: only the first, only the last, ... a LogArray."""
    rng = seed(case, dtype)
    values = draw_all(case, rng, dtype)
    want = linear(jitted(case)(*operands(case, values)))
    subsets = [case.numbers, *([i] for i in case.numbers if len(case.numbers) > 1)]
    for subset in subsets:
        mixed = [
            x if i in subset else jnp.asarray(v)
            for i, (x, v) in enumerate(zip(operands(case, values), values, strict=True))
        ]
        got = linear(quaxified(case)(*mixed))
        for a, b in zip(got, want, strict=True):
            close(a, b, case.ulps + 2, f"{case} with LogArrays at {subset}")


def test_comparisons_of_the_table_can_fail():
    """The checks above notice an error of one rounding, a lost zero and a wrong exponent."""
    case = next(c for c in CASES if c.name == "add")
    dtype = np.dtype("float64") if jax.config.jax_enable_x64 else np.dtype("float32")
    values = draw_all(case, seed(case, dtype), dtype)
    right = jitted(case)(*operands(case, values))
    (good,) = leaves(right)
    (want,) = expected(case, [exact_numbers(v) for v in values])
    assert_exact(good, want, case.ulps, dtype)
    wrong = good._replace(significand=np.nextafter(good.significand, np.inf, dtype=dtype))
    with pytest.raises(AssertionError):
        assert_exact(wrong, want, case.ulps / 2, dtype)
    with pytest.raises(AssertionError):
        assert_exact(good._replace(exponent=good.exponent + 1), want, case.ulps, dtype)
    with pytest.raises(AssertionError):
        close(wrong.significand, good.significand, 0)
    bits = normalised(right)
    assert len(bits) == 2
