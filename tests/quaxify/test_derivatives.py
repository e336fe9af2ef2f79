"""Derivatives of and inside of quaxified functions."""

from functools import partial

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import logspace as ls

from .numbers import VECTOR, assert_close, huge, number


def test_derivatives_of_the_recipe_at_a_node():
    g = ls.quaxify(lambda a, b: jnp.exp(jnp.log(a - b)))
    h = lambda a, b: g(number(a), number(b)).to_linear()  # noqa: E731
    assert jax.grad(h)(1.0, 1.0) == 1.0
    assert jax.jit(jax.grad(jax.jit(h)))(1.0, 1.0) == 1.0
    assert jax.jvp(h, (1.0, 1.0), (1.0, 0.0))[1] == 1.0


def test_gradient_inside_of_a_quaxified_function():
    f = lambda x: jnp.sum(x**3)  # noqa: E731
    out = ls.quaxify(jax.grad(f))(huge(VECTOR, 600))
    assert_close(out / huge(1.0, 1200), 3 * VECTOR**2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_dtypes_are_kept(dtype):
    x = number(jnp.ones(3, dtype))
    out = ls.quaxify(
        lambda x: lax.scan(lambda c, v: (c + jax.jit(jnp.multiply)(v, 2), c), x[0], x)
    )(x)
    assert out[0].dtype == out[1].dtype == dtype


@partial(jax.jit, static_argnums=1)
def staged(x, n):
    return x * n


def test_static_arguments_of_jit():
    assert_close(ls.quaxify(lambda x: staged(x, 3))(number(VECTOR)), 3 * VECTOR)
