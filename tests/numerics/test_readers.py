"""Logarithms in and out, conversions and rounding, where the case table does not reach."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from logspace import _numerics as num
from logspace._numerics import Scaled

X64 = jax.config.jax_enable_x64
REAL = ["float64", "float32"] if X64 else ["float32"]


def _exact(s, e):
    return mpmath.ldexp(mpmath.mpf(float(s)), int(e))


@pytest.mark.parametrize("dtype", REAL)
def test_from_log_to_an_eps(dtype, rng):
    """exp(l) with l taken as exact: below one eps to |l| = 7e8 (float32: to 1e5)."""
    sizes = [0.001, 1, 10, 1e3, 1e5, *([7e8] if dtype == "float64" else [])]
    logs = np.concatenate([rng.uniform(-a, a, 60) for a in sizes]).astype(dtype)
    x = jax.jit(num.from_log)(jnp.asarray(logs))
    eps = float(np.finfo(dtype).eps)
    for value, s, e in zip(logs, *map(np.asarray, x), strict=True):
        want = mpmath.exp(mpmath.mpf(float(value)))
        assert abs(_exact(s, e) / want - 1) <= eps


@pytest.mark.parametrize("dtype", REAL)
def test_logabs_to_half_an_ulp(dtype, rng):
    """|error| <= eps + ulp(l) / 2 (with a little slack for the logarithm of the significand)."""
    e = rng.integers(-(10**6), 10**6, 300) * (rng.integers(0, 3, 300) > 0)
    s = (rng.uniform(0.5, 2, 300) * rng.choice([-1, 1], 300)).astype(dtype)
    got = jax.jit(num.logabs)(Scaled(jnp.asarray(s), jnp.asarray(e, jnp.int32)))
    eps = float(np.finfo(dtype).eps)
    for log, a, k in zip(np.asarray(got), s, e, strict=True):
        want = mpmath.log(abs(_exact(a, k)))
        assert abs(mpmath.mpf(float(log)) - want) <= eps + 0.75 * float(np.spacing(abs(log)))


@pytest.mark.parametrize("dtype", REAL)
def test_log_at_a_zero(dtype):
    """-inf, with a derivative that is infinite, but 0 where a mask removes the entry."""
    zero = Scaled(jnp.zeros((), dtype), jnp.int32(5))
    value, slope = jax.value_and_grad(lambda s: num.logabs(Scaled(s, zero.exponent)))(zero[0])
    assert np.isneginf(value) and np.isposinf(slope)

    def masked(s):
        return jnp.where(s != 0, num.logabs(Scaled(s, jnp.zeros(2, jnp.int32))), 0.0).sum()

    np.testing.assert_array_equal(jax.grad(masked)(jnp.array([0.0, 2.0], dtype)), [0.0, 0.5])


@pytest.mark.parametrize("dtype", REAL)
def test_linear_round_trip_is_exact(dtype, rng):
    info = np.finfo(dtype)
    a = np.ldexp(rng.uniform(1, 2, 400), rng.integers(info.minexp, info.maxexp, 400)).astype(dtype)
    a = np.concatenate([a, -a, np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)])
    got = jax.jit(lambda a: num.to_linear(num.from_linear(a)))(a)
    np.testing.assert_array_equal(np.asarray(got).view(np.uint8), a.view(np.uint8))


@pytest.mark.skipif(not X64, reason="float64 needs x64")
def test_conversion_to_float32_rounds_once(rng):
    s, e = rng.uniform(-2, 2, 300), rng.integers(-(10**5), 10**5, 300)
    got = jax.jit(lambda x: num.convert(x, "float32"))(Scaled(s, jnp.asarray(e, jnp.int32)))
    assert got.significand.dtype == np.float32
    for i in range(300):
        with mpmath.workprec(24):
            want = +_exact(s[i], e[i])
        assert _exact(got.significand[i], got.exponent[i]) == want


@pytest.mark.parametrize("bits", [1, 10, 23])
@pytest.mark.parametrize("dtype", REAL)
def test_reduced_precision_rounds_once(dtype, bits, rng):
    """To so many mantissa bits besides the hidden one, in the number's own binade."""
    s = rng.uniform(-2, 2, 300).astype(dtype)
    e = rng.integers(-(10**5), 10**5, 300)
    x = Scaled(jnp.asarray(s), jnp.asarray(e, jnp.int32))
    got = jax.jit(lambda x: num.reduce_precision(x, bits))(x)
    for i in range(300):
        with mpmath.workprec(bits + 1):
            want = +_exact(s[i], e[i])
        assert _exact(got.significand[i], got.exponent[i]) == want


def test_normalised_range(rng):
    s = rng.uniform(-1, 1, 500) * 2.0 ** rng.integers(-50, 50, 500)
    dtype = jnp.result_type(float)
    n = num.normalise(num.from_linear(jnp.asarray(s, dtype)))
    size = np.abs(np.asarray(n.significand, np.float64))
    assert np.all((size >= np.sqrt(0.5) * (1 - 1e-7)) & (size < np.sqrt(2) * (1 + 1e-7)))
    np.testing.assert_array_equal(num.to_linear(n), np.asarray(s, dtype))


def test_saturation_is_exact():
    """Beyond e^(+-7.4e8) numbers are infinite or zero, never wrapped around."""
    big = Scaled(jnp.ones(2), jnp.array([num.LIMIT, -num.LIMIT], jnp.int32))
    square = num.multiply(big, big)
    np.testing.assert_array_equal(square.significand, [np.inf, 0.0])
    cube = num.integer_power(big, 3)
    np.testing.assert_array_equal(cube.significand, [np.inf, 0.0])
    power = num.power(big, jnp.full(2, 2.5, big.significand.dtype))
    np.testing.assert_array_equal(num.to_linear(power), [np.inf, 0.0])
