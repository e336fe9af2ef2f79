"""`Log`, the logarithm that waits."""

import math

import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls

from .comparison import BIG


def test_log_waits() -> None:
    x, y = ls.exp(np.array([BIG, -BIG, 0.5])), ls.from_linear(np.array([2.0, 3.0, 0.0]))
    log = ls.log(x)
    assert isinstance(log, ls.Log)
    np.testing.assert_array_equal(ls.exp(log).logabs, x.logabs)
    for got, expected in [
        (log + ls.log(y), x * y),
        (log - ls.log(x), x / x),
        (2 * log, x**2),
        (log * 3, x**3),
        (log / 2, x**0.5),
        (-log, 1 / x),
        (log + 1.0, x * math.e),
        (1.0 + log, x * math.e),
        (log.sum(), x.prod()),
        (log[1], x[1]),
        (log.reshape(3, 1), x.reshape(3, 1)),
    ]:
        assert isinstance(got, ls.Log)
        np.testing.assert_allclose(ls.exp(got).logabs, expected.logabs, rtol=1e-14)


def test_log_reads_as_a_plain_array() -> None:
    log = ls.log(ls.exp(np.array([BIG, -BIG])))
    np.testing.assert_allclose(np.asarray(log), [BIG, -BIG])
    np.testing.assert_allclose(log * np.array([2.0, 3.0]) > 0, [True, False])
    np.testing.assert_allclose(np.asarray(log.max()), BIG)
    np.testing.assert_allclose(np.asarray(log**2), [BIG**2, BIG**2])
    assert (log.shape, log.dtype, log.ndim, log.size) == ((2,), jnp.float64, 1, 2)
    assert float(ls.log(2.0)) == math.log(2.0)
    assert "Log(" in repr(log)
    assert np.isnan(float(ls.log(ls.from_linear(-1.0))))


def test_log_of_a_cancelling_difference_has_its_derivative() -> None:
    g = lambda a, b: ls.exp(ls.log(ls.from_linear(a) - b)).to_linear()  # noqa: E731
    assert jax.grad(g, (0, 1))(1.0, 1.0) == (1.0, -1.0)
