"""`Log`, the logarithm that waits: exp undoes it bit for bit, sums of it are products."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quax
from jax import lax

import logspace as ls

from .checks import assert_same_bits

QUAXIFIERS = {"quax": quax.quaxify, "logspace": ls.quaxify}


@pytest.fixture
def x():
    """Positive numbers, one of them zero, with exponents that no float holds."""
    return ls.LogArray(jnp.array([1.0, 1.0, 0.0, 1.0]), jnp.array([0.5, -2000.0, 0.0, 3000.0]))


@pytest.fixture
def y():
    return ls.LogArray(jnp.ones(4), jnp.array([-0.25, 1500.0, 10.0, -3000.0]))


def log_of(function, *numbers):
    """exp of a function of logarithms."""
    return ls.quaxify(lambda *xs: jnp.exp(function(*map(jnp.log, xs))))(*numbers)


def test_exp_of_log_is_the_number(x):
    assert_same_bits(log_of(lambda a: a, x), x)
    assert isinstance(ls.quaxify(jnp.log)(x), ls.Log)


ALGEBRA = {
    "sum": (lambda a, b: a + b, lambda x, y: x * y),
    "difference": (lambda a, b: a - b, lambda x, y: x / y),
    "negative": (lambda a, b: -b, lambda x, y: 1 / y),
    "integer multiple": (lambda a, b: 3 * a, lambda x, y: x * x * x),
    "multiple on the right": (lambda a, b: b * 2, lambda x, y: y * y),
    "negative multiple": (lambda a, b: -2 * b, lambda x, y: 1 / (y * y)),
    "half": (lambda a, b: b / 2, lambda x, y: jnp.sqrt(y)),
    "real multiple": (lambda a, b: 0.5 * b, lambda x, y: jnp.sqrt(y)),
    "sum along an axis": (lambda a, b: jnp.sum(b), lambda x, y: jnp.prod(y)),
    "cumulative sum": (lambda a, b: jnp.cumsum(b), lambda x, y: jnp.cumprod(y)),
    "shift": (lambda a, b: a + jnp.arange(4.0), lambda x, y: x * jnp.exp(jnp.arange(4.0))),
    "shift downwards": (lambda a, b: a - 2.0, lambda x, y: x / jnp.exp(2.0)),
    "shifted from": (lambda a, b: 2.0 - b, lambda x, y: jnp.exp(2.0) / y),
    "logaddexp": (jnp.logaddexp, lambda x, y: x + y),
    "logsumexp": (
        lambda a, b: jax.scipy.special.logsumexp(jnp.stack([a, b]), axis=0), lambda x, y: x + y
    ),
    "cumlogsumexp": (lambda a, b: lax.cumlogsumexp(b), lambda x, y: jnp.cumsum(y)),
    "transpose": (lambda a, b: jnp.stack([a, b]).T, lambda x, y: jnp.stack([x, y]).T),
    "concatenate": (lambda a, b: jnp.concatenate([a, b]), lambda x, y: jnp.concatenate([x, y])),
    "with a plain array": (
        lambda a, b: jnp.concatenate([a, jnp.ones(2)]),
        lambda x, y: jnp.concatenate([x, jnp.full(2, jnp.e)]),
    ),
    "reshape": (lambda a, b: a.reshape(2, 2), lambda x, y: x.reshape(2, 2)),
    "slice": (lambda a, b: a[1:3], lambda x, y: x[1:3]),
    "index": (lambda a, b: a[jnp.array([3, 0])], lambda x, y: x[jnp.array([3, 0])]),
    "where": (
        lambda a, b: jnp.where(jnp.arange(4) > 1, a, b),
        lambda x, y: jnp.where(jnp.arange(4) > 1, x, y),
    ),
    "where with -inf": (
        lambda a, b: jnp.where(jnp.arange(4) > 1, a, -jnp.inf),
        lambda x, y: jnp.where(jnp.arange(4) > 1, x, 0.0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALGEBRA)
def test_algebra(name, x, y):
    of_logs, of_numbers = ALGEBRA[name]
    got = log_of(of_logs, x, y)
    want = ls.quaxify(of_numbers)(x, y)
    assert isinstance(got, ls.LogArray), f"{name} left log space"
    assert got.shape == want.shape and got.dtype == want.dtype
    dead = want.logabs == -np.inf
    np.testing.assert_array_equal(got.sign, want.sign)
    np.testing.assert_allclose(
        np.where(dead, 0, got.logabs), np.where(dead, 0, want.logabs), rtol=1e-6
    )


@pytest.mark.parametrize("function", [jnp.sin, jnp.abs, lambda a: a > 0, lambda a: a * a])
def test_everything_else_reads_the_plain_value(function, y):
    got = ls.quaxify(lambda x: function(jnp.log(x)))(y)
    np.testing.assert_allclose(np.asarray(got), function(y.log()), rtol=1e-6)


@pytest.mark.parametrize("name", QUAXIFIERS)
@pytest.mark.parametrize("difference", [lambda a, b: a - b, lambda a, b: 2 * (a - b)])
def test_derivative_at_a_node(name, difference):
    """g(a, b) = exp(log(a - b)) has its true derivative at a = b, where plain JAX has nan."""

    def g(a, b):
        return jnp.exp(jnp.log(difference(a, b)))

    def through_numbers(a, b):
        return QUAXIFIERS[name](g)(ls.from_linear(a), ls.from_linear(b)).to_linear()

    one = jnp.ones(())
    slope = float(difference(1, 0))
    assert np.isnan(jax.grad(g)(one, one))
    np.testing.assert_array_equal(jax.grad(through_numbers, (0, 1))(one, one), (slope, -slope))
    _, forward = jax.jvp(through_numbers, (one, one), (one, 0 * one))
    assert forward == slope


@pytest.mark.parametrize("name", QUAXIFIERS)
def test_a_sum_of_logs_at_a_node(name):
    """exp(sum of logs) of a product with a zero: the derivative is the product of the others."""

    product = QUAXIFIERS[name](lambda x: jnp.exp(jnp.sum(jnp.log(x))))

    def f(v):
        return product(ls.from_linear(v)).to_linear()

    v = jnp.array([2.0, 0.0, 3.0])
    np.testing.assert_allclose(jax.grad(f)(v), [0.0, 6.0, 0.0])
    second = jax.hessian(f)(v)
    np.testing.assert_allclose(second, [[0, 3, 0], [3, 0, 2], [0, 2, 0]])


def test_log_of_a_negative_number_is_nan():
    x = ls.from_linear(jnp.array([-1.0, 2.0]))
    np.testing.assert_array_equal(np.isnan(np.asarray(ls.log(x))), [True, False])
    np.testing.assert_array_equal(np.isnan(log_of(lambda a: a, x).to_linear()), [True, False])


def test_complex_logarithms():
    x = ls.from_linear(jnp.array([-1.0 + 0j, 2j]))
    assert_same_bits(log_of(lambda a: a, x), x)
    got = log_of(lambda a: a + a, x)
    np.testing.assert_allclose(got.to_linear(), [1.0, -4.0], atol=1e-6)
