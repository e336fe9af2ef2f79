"""`jax.custom_jvp` on LogArrays gives what it gives on plain numbers, in every mode and gauge."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import logspace as ls
from logspace._log_array import unwrap, wrap
from logspace._numerics import Scaled

from .rules_of_users import (
    ELEMENTWISE,
    OTHERS,
    POINTS,
    assert_same_in_all_modes,
    both_ways,
    first_order,
    fwd,
    kinked,
    linear,
    quotient,
    rev,
    reverse_only,
)

LONG = ("softplus", "logaddexp")


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_as_in_plain_jax(name):
    f, count = ELEMENTWISE[name]
    modes = first_order if name in LONG else both_ways
    assert_same_in_all_modes(f, POINTS, None if count == 1 else OTHERS, modes=modes)


@pytest.mark.full
@pytest.mark.parametrize("name", LONG)
def test_as_in_plain_jax_in_all_modes(name):
    f, count = ELEMENTWISE[name]
    assert_same_in_all_modes(f, POINTS, None if count == 1 else OTHERS)


@pytest.mark.parametrize("kinds", [("number", "plain"), ("plain", "number")])
@pytest.mark.parametrize("f", [kinked, quotient], ids=lambda f: f.__name__)
def test_plain_operands_beside_numbers(f, kinds):
    others = OTHERS + 3.0 if f is quotient else OTHERS
    assert_same_in_all_modes(f, POINTS, others, kinds, modes=reverse_only)


def test_plain_operands_only():
    """A custom function of plain arrays inside a quaxified one, then multiplied by a number."""

    def f(x, y):
        return kinked(y, y + 1) * x

    assert_same_in_all_modes(f, POINTS, OTHERS, ("number", "plain"))


@pytest.mark.parametrize(
    "f",
    [
        jax.nn.log_softmax,
        pytest.param(jax.nn.logsumexp, marks=pytest.mark.full),
        pytest.param(jax.nn.softmax, marks=pytest.mark.full),
    ],
)
def test_softmax_family(f):
    """Not elementwise: first and second derivatives along a direction."""
    gauges = np.array([0, -19])

    def derivatives(h):
        return jax.jit(lambda t: (h(t), jax.jacrev(h)(t), jax.jacfwd(jax.jacrev(h))(t)))(0.0)

    found = derivatives(
        lambda t: jax.vmap(lambda g: linear(ls.quaxify(f)(number_at(POINTS + t * OTHERS, g))))(
            gauges
        )
    )
    expected = derivatives(lambda t: f(POINTS + t * OTHERS))
    for order in range(3):
        for i in range(2):
            np.testing.assert_allclose(found[order][i], expected[order], rtol=1e-12, atol=1e-13)


def number_at(a, gauge):
    s, e = unwrap(ls.from_linear(a))
    return wrap(Scaled(jnp.ldexp(s, gauge), e - gauge.astype(jnp.int32)))


# ------------------------------------------------------------------------- derivatives that are 0


ZERO_DERIVATIVE = {
    "stop_gradient": lax.stop_gradient,
    "round": jnp.round,
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "sign": lambda x: jnp.sign(x) * 1.0,
    "comparison": lambda x: jnp.where(x > 0.5, 1.0, 2.0),
    "argmax": lambda x: jnp.argmax(x) * jnp.ones(4),
}


@pytest.mark.parametrize("name", ZERO_DERIVATIVE)
def test_derivatives_that_are_zero(name):
    f = ZERO_DERIVATIVE[name]
    g = lambda a: linear(ls.quaxify(f)(ls.from_linear(a)))  # noqa: E731
    np.testing.assert_array_equal(g(POINTS), f(POINTS))
    np.testing.assert_array_equal(rev(g)(POINTS), 0.0)
    np.testing.assert_array_equal(fwd(g)(POINTS), 0.0)


def test_straight_through_estimators():
    f = lambda x: x + lax.stop_gradient(jnp.round(x) - x)  # noqa: E731
    g = lambda a: linear(ls.quaxify(f)(ls.from_linear(a)))  # noqa: E731
    np.testing.assert_array_equal(g(POINTS), jnp.round(POINTS))
    np.testing.assert_array_equal(rev(g)(POINTS), 1.0)
    np.testing.assert_array_equal(fwd(g)(POINTS), 1.0)
