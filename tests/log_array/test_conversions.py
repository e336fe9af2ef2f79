"""Python scalars, NumPy arrays, sequences, attributes."""

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls

from .comparison import BIG, INF, NAN, VALUES, same


def test_python_scalars() -> None:
    x = ls.from_linear(2.5)
    assert (float(x), int(x), complex(x), bool(x), x.item()) == (2.5, 2, 2.5 + 0j, True, 2.5)
    assert not ls.from_linear(0.0)
    assert bool(ls.from_linear(NAN))
    assert complex(ls.from_linear(1 + 2j)) == 1 + 2j
    assert float(ls.exp(BIG)) == INF and float(-ls.exp(BIG)) == -INF and float(ls.exp(-BIG)) == 0
    assert ls.exp(-BIG), "not zero, although its float is"
    with pytest.raises(OverflowError):
        int(ls.exp(BIG))
    with pytest.raises(TypeError):
        float(ls.from_linear(1j))
    with pytest.raises(TypeError):
        operator.index(x)
    with pytest.raises(TypeError):
        hash(x)


@pytest.mark.parametrize("convert", [bool, float, int, complex])
def test_scalars_of_arrays_raise_as_in_jax(convert: Any) -> None:
    for shape in ((2,), (0,), (2, 2)):
        with pytest.raises((TypeError, ValueError)) as plain:
            convert(jnp.ones(shape))
        with pytest.raises(plain.type):
            convert(ls.ones(shape))
    with pytest.raises(jax.errors.ConcretizationTypeError):
        jax.jit(lambda x: convert(x) and 1)(ls.ones(()))


def test_numpy_arrays() -> None:
    x = ls.from_linear(VALUES)
    for a in (np.asarray(x), np.array(x), np.array(x, copy=True)):
        np.testing.assert_array_equal(a, VALUES)
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert x.tolist() == VALUES.tolist()
    assert x.item(1) == -2.0
    with pytest.raises(ValueError):
        np.array(x, copy=False)
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(lambda x: np.asarray(x))(x)
    assert not hasattr(x, "__jax_array__")


def test_sequences() -> None:
    x = ls.from_linear(np.arange(6.0).reshape(3, 2))
    assert len(x) == 3
    rows = list(x)
    assert len(rows) == 3 and rows[1].shape == (2,)
    same(rows[2], np.array([4.0, 5.0]))
    first, *_ = x
    same(first, np.array([0.0, 1.0]))
    assert 3.0 in x and 7.0 not in x and ls.from_linear(5.0) in x
    same(ls.LogArray.sum(x), 15.0)
    for call in (len, iter, list):
        with pytest.raises(TypeError):
            call(ls.ones(()))


def test_attributes() -> None:
    x = ls.ones((2, 3), "float32")
    assert (x.shape, x.ndim, x.size, x.dtype, x.itemsize) == ((2, 3), 2, 6, jnp.float32, 4)
    assert x.nbytes == 48
    assert x.devices() == {jax.devices()[0]} and x.sharding.device_set == x.devices()
    assert ls.ones(()).shape == () and ls.ones((0, 2)).size == 0
    assert x.__array_namespace__().__name__ == "logspace.numpy"
    same(x.copy(), np.ones((2, 3), np.float32))
    assert x.block_until_ready() is not None
