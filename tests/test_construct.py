"""Constants, and the ways in from arrays of other libraries."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls

BIG = 3000.0
DTYPES = ["float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", [None, *DTYPES, float, complex, jnp.float32, np.dtype("float64")])
def test_constants(dtype: Any) -> None:
    for ours, theirs in ((ls.zeros, jnp.zeros), (ls.ones, jnp.ones)):
        for shape in ((), 3, (2, 0), [2, 3], np.int64(2)):
            x, a = ours(shape, dtype), theirs(shape, dtype)
            assert (x.shape, x.dtype) == (a.shape, a.dtype)
            np.testing.assert_array_equal(x.to_linear(), a)
            assert not x.aval().weak_type
            assert not np.any(x._exponent)


@pytest.mark.parametrize("value", [2, 2.5, True, 1j, np.float32(3), np.arange(3.0), jnp.ones(3)])
def test_full(value: Any) -> None:
    x, a = ls.full((2, 3), value), jnp.full((2, 3), value)
    np.testing.assert_array_equal(x.to_linear(), a)
    if jnp.issubdtype(a.dtype, jnp.inexact):
        assert x.dtype == a.dtype
    assert ls.full((2, 3), value, "complex64").dtype == jnp.complex64


def test_full_of_a_number() -> None:
    x = ls.full((2, 3), ls.exp(np.array([BIG, 0.0, -BIG])))
    np.testing.assert_allclose(x.logabs, np.full((2, 3), [BIG, 0.0, -BIG]))
    assert ls.full(2, ls.exp(BIG), "float32").dtype == jnp.float32
    np.testing.assert_allclose(ls.full(2, ls.log(ls.exp(BIG))).to_linear(), BIG)
    with pytest.raises(ValueError):
        ls.full(2, np.ones(3))
    with pytest.raises(ValueError):
        ls.full(2, ls.ones(3))


def test_like() -> None:
    x = ls.ones((2, 3), "float32")
    for y in (ls.zeros_like(x), ls.ones_like(x), ls.full_like(x, 2.0), ls.full_like(x, x[0, 0])):
        assert (y.shape, y.dtype) == ((2, 3), jnp.float32)
    assert ls.zeros_like(x, dtype="complex64").dtype == jnp.complex64
    assert ls.zeros_like(x, shape=(4,)).shape == (4,)
    assert ls.ones_like(np.ones(2, int)).dtype == jnp.float64
    assert ls.ones_like(True).dtype == jnp.float64
    assert ls.ones_like(jnp.ones(2, "complex64")).dtype == jnp.complex64
    assert ls.zeros_like(ls.log(x)).shape == (2, 3)
    assert ls.zeros_like(jax.ShapeDtypeStruct((2,), jnp.float32)).dtype == jnp.float32


@pytest.mark.parametrize("make", [ls.zeros, ls.ones, lambda s, d: ls.full(s, 2.0, d)])
@pytest.mark.parametrize("dtype", ["int32", bool, "float16", "bfloat16", "text", object, "S1"])
def test_dtypes_that_do_not_exist(make: Any, dtype: Any) -> None:
    with pytest.raises(TypeError):
        make(2, jnp.bfloat16 if dtype == "bfloat16" else dtype)


@pytest.mark.parametrize("shape", [-1, (2, -3), 1.5, "text", (None,)])
def test_shapes_that_do_not_exist(shape: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as plain:
        jnp.zeros(shape)
    with pytest.raises(plain.type):
        ls.zeros(shape)


def test_inside_transformations() -> None:
    @jax.jit
    def f(a: Any) -> Any:
        return ls.zeros(3) + ls.full(3, a) + ls.ones_like(a) + ls.from_log(a)

    np.testing.assert_allclose(f(2.0).to_linear(), np.full(3, 3.0 + np.exp(2.0)))
    np.testing.assert_allclose(jax.jacfwd(lambda a: f(a).to_linear())(0.0), np.full(3, 2.0))
    mapped = jax.vmap(lambda a: ls.full((2,), a) * ls.ones(2))(jnp.arange(3.0))
    np.testing.assert_allclose(mapped.to_linear(), np.repeat(np.arange(3.0), 2).reshape(3, 2))


def test_from_linear_of_our_own_types() -> None:
    x = ls.exp(BIG)
    assert ls.from_linear(x) is x
    np.testing.assert_allclose(ls.from_linear(ls.log(x)).to_linear(), BIG)
    np.testing.assert_array_equal(ls.from_linear([1.0, 2.0]).to_linear(), [1.0, 2.0])
    np.testing.assert_array_equal(ls.from_linear([[1, 2], [3, 4]]).to_linear(), [[1, 2], [3, 4]])


def test_from_linear_refuses() -> None:
    for bad in ("text", object(), np.array(["text"]), jax.random.key(0), np.datetime64("2020")):
        with pytest.raises(TypeError):
            ls.from_linear(bad)
    with pytest.raises(ValueError):
        ls.from_linear(None)


def test_log_and_abs2_take_plain_arrays() -> None:
    a = np.array([2.0, 0.0, np.inf])
    np.testing.assert_array_equal(ls.exp(ls.log(a)).to_linear(), a)
    np.testing.assert_allclose(np.asarray(ls.log(a)), np.log(np.where(a, a, 1)) - [0, np.inf, 0])
    np.testing.assert_array_equal(ls.abs2(np.array([3 + 4j])).to_linear(), [25.0])
    assert ls.abs2(2).dtype == jnp.float64
