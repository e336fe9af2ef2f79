"""The constructor: sign and log-magnitude in."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls

from .comparison import INF, NAN, same


@pytest.mark.parametrize(
    ("sign", "logabs", "value"),
    [
        (1.0, 0.0, 1.0),
        (-1.0, math.log(2.0), -2.0),
        (0.0, 5.0, 0.0),
        (0.0, NAN, NAN),
        (1.0, -INF, 0.0),
        (-1.0, -INF, 0.0),
        (0.0, -INF, 0.0),
        (1.0, INF, INF),
        (-1.0, INF, -INF),
        (0.0, INF, NAN),
        (NAN, 0.0, NAN),
        (INF, -INF, NAN),
        (2.0, math.log(3.0), 6.0),
        (1, 0.0, 1.0),
        (-1, 0, -1.0),
        (True, 0.0, 1.0),
        (False, 7.0, 0.0),
        (np.int8(-1), 0.0, -1.0),
        (1j, math.log(2.0), 2j),
        (3 + 4j, 0.0, 3 + 4j),
        (0j, -INF, 0j),
    ],
)
def test_constructor(sign: Any, logabs: Any, value: Any) -> None:
    same(ls.LogArray(sign, logabs), value)


def test_constructor_of_a_complex_zero_times_infinity_is_nan() -> None:
    assert np.isnan(complex(ls.LogArray(0j, INF)))


def test_constructor_broadcasts() -> None:
    x = ls.LogArray(np.array([[1], [-1]]), np.zeros(3))
    same(x, np.array([[1.0] * 3, [-1.0] * 3]))
    assert ls.LogArray([1, -1], [0.0, 0.0]).shape == (2,)
    with pytest.raises(ValueError, match="broadcast"):
        ls.LogArray(np.ones(2), np.ones(3))


def test_constructor_takes_the_precision_of_what_is_not_an_integer() -> None:
    assert ls.LogArray(np.int64(1), np.float32(0)).dtype == jnp.float32
    assert ls.LogArray(np.complex64(1), np.float64(0)).dtype == jnp.complex128
    assert ls.LogArray(np.float32(1), np.float64(0)).dtype == jnp.float64
    assert ls.LogArray(np.complex64(1), 0.0).dtype == jnp.complex64
    assert ls.LogArray(np.float16(1), np.float16(0)).dtype == jnp.float32
    assert ls.LogArray(1, 0).dtype == jnp.float64


@pytest.mark.parametrize("bad", ["text", object(), np.array(["text"]), jax.random.key(0)])
def test_constructor_refuses_what_is_not_numeric(bad: Any) -> None:
    for make in (
        lambda: ls.LogArray(bad, 0.0),
        lambda: ls.LogArray(1.0, bad),
        lambda: ls.from_linear(bad),
        lambda: ls.from_log(bad),
    ):
        with pytest.raises(TypeError):
            make()


def test_constructor_refuses_complex_logabs() -> None:
    with pytest.raises(TypeError, match="real logabs"):
        ls.LogArray(1.0, 1j)
    with pytest.raises(TypeError, match="plain arrays"):
        ls.LogArray(ls.ones(2), 1.0)


def test_constructor_carries_derivatives() -> None:
    f = lambda s, log: ls.LogArray(s, log).to_linear()  # noqa: E731
    same(jnp.stack(jax.grad(f, (0, 1))(2.0, 1.0)), np.array([math.e, 2 * math.e]))
    # at a zero of the sign the derivative in it is the magnitude
    same(jnp.stack(jax.grad(f, (0, 1))(0.0, 1.0)), np.array([math.e, 0.0]))
