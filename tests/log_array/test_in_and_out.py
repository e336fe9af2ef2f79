"""Other ways in, and sign and log-magnitude out."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls

from .comparison import BIG, INF, NAN


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_linear_round_trip_is_exact(dtype: str) -> None:
    info = jnp.finfo(dtype)
    rng = np.random.default_rng(1)
    a = np.concatenate(
        [
            [0.0, -0.0, 1.0, -1.0, info.tiny, -info.tiny, info.max, info.min, INF, -INF, NAN],
            rng.normal(size=100) * 10.0 ** rng.integers(-37, 37, 100),
        ]
    )
    a = a.astype(dtype)
    if np.iscomplexobj(a):
        pairs = np.empty((len(a), len(a)), dtype)
        pairs.real, pairs.imag = a.real, a.real[:, None]
        a = pairs
    out = np.asarray(ls.from_linear(a).to_linear())
    assert out.dtype == a.dtype
    if np.iscomplexobj(a):
        # components share an exponent: one that is this much smaller than the other may be lost
        a, out = a.view(info.dtype), out.view(info.dtype)
        size = np.abs(a).reshape(*a.shape[:-1], -1, 2)
        lost = size < size.max(-1, keepdims=True) / 2.0 ** (1000 if info.bits == 64 else 120)
        lost = lost.reshape(a.shape) & np.isfinite(a) & (out == 0)
        out = np.where(lost, a, out)
    nan = np.isnan(a)
    np.testing.assert_array_equal(np.isnan(out), nan)
    bits = np.uint32 if info.bits == 32 else np.uint64
    assert np.array_equal(out[~nan].view(bits), a[~nan].view(bits))


@pytest.mark.parametrize("log", [0.0, 1.0, -1.0, 2, -700.0, BIG, -BIG, 1e8, -1e8, INF, -INF, NAN])
def test_from_log(log: Any) -> None:
    x = ls.from_log(log)
    np.testing.assert_allclose(x.logabs, log, rtol=1e-15, atol=1e-15)
    np.testing.assert_array_equal(x.sign, NAN if log != log else float(log != -INF))
    assert ls.exp is ls.from_log


def test_from_complex_log() -> None:
    x = ls.exp(BIG + 1.5j)
    np.testing.assert_allclose(x.logabs, BIG)
    np.testing.assert_allclose(x.angle, 1.5)
    np.testing.assert_allclose(x.sign, np.exp(1.5j))
    np.testing.assert_allclose(x.log(), BIG + 1.5j)
    zero = ls.exp(complex(-INF, 1.0))
    assert complex(zero) == 0 and complex(zero.sign) == 0 and float(zero.angle) == 0


def test_from_log_of_our_own_types() -> None:
    x = ls.from_log(np.array([BIG, -BIG, 1.0]))
    assert ls.exp(ls.log(x)) is not None
    np.testing.assert_array_equal(ls.exp(ls.log(x)).logabs, x.logabs)
    np.testing.assert_allclose(ls.exp(ls.from_linear(2.0)).logabs, 2.0)


def test_readers() -> None:
    x = ls.LogArray(np.array([1.0, -1.0, 0.0, 1.0]), np.array([BIG, -BIG, 1.0, INF]))
    np.testing.assert_array_equal(x.sign, [1, -1, 0, 1])
    np.testing.assert_allclose(x.logabs, [BIG, -BIG, -INF, INF])
    np.testing.assert_allclose(x.angle, [0, np.pi, 0, 0])
    np.testing.assert_allclose(x.log(), [BIG, NAN, -INF, INF])
    np.testing.assert_allclose(x.log(dtype=complex)[:2], [BIG, -BIG + 1j * np.pi])
    assert x.log(dtype=complex).dtype == jnp.complex128
    assert x.astype("float32").log(complex).dtype == jnp.complex64
    assert x.log("float32").dtype == jnp.float32
    np.testing.assert_array_equal(x.to_linear(), [INF, 0, 0, INF])
    for plain in (x.sign, x.logabs, x.angle, x.log(), x.to_linear()):
        assert isinstance(plain, jax.Array)


def test_derivatives_of_readers() -> None:
    logabs = lambda s: (ls.from_linear(s) * ls.exp(BIG)).logabs  # noqa: E731
    assert jax.grad(logabs)(2.0) == 0.5
    assert jax.grad(logabs)(0.0) == INF
    masked = lambda s: (ls.from_linear(jnp.where(s > 5, s, 0.0)) * ls.exp(BIG)).logabs  # noqa: E731
    assert jax.grad(masked)(1.0) == 0.0
    assert jax.grad(lambda s: ls.from_linear(s).sign)(2.0) == 0.0
    phase = lambda t: ls.exp(1j * t + BIG)  # noqa: E731
    np.testing.assert_allclose(jax.grad(lambda t: phase(t).angle)(0.3), 1.0)
    np.testing.assert_allclose(
        jax.jvp(lambda t: phase(t).sign, (0.3,), (1.0,))[1], 1j * np.exp(0.3j)
    )
    np.testing.assert_allclose(jax.grad(lambda t: phase(t).logabs)(0.3), 0.0, atol=1e-16)


def test_abs2_has_a_hessian_at_zero() -> None:
    assert jax.hessian(lambda a: ls.abs2(ls.from_linear(a)).to_linear())(0.0) == 2.0
    f = lambda v: ls.abs2(jax.lax.complex(v[0], v[1])).to_linear()  # noqa: E731
    np.testing.assert_array_equal(jax.hessian(f)(jnp.zeros(2)), 2 * np.eye(2))
    z = ls.exp(BIG + 0.4j)
    assert ls.abs2(z).dtype == jnp.float64
    np.testing.assert_allclose(ls.abs2(z).logabs, 2 * BIG)
