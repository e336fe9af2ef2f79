"""Branches on numbers and logarithms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import logspace as ls

from .numbers import VECTOR, assert_close, linear, number

BRANCHES = {
    "numbers": lambda x: lax.cond(x[0] > 0, lambda v: v * 2, lambda v: v * 3, x),
    "plain in one": lambda x: lax.cond(x[0] > 0, lambda v: v * 2, lambda v: jnp.ones(3), x),
    "plain in the first": lambda x: lax.cond(x[0] < 0, lambda v: jnp.ones(3), jnp.square, x),
    "plain in all": lambda x: lax.cond(x[0] > 0, lambda v: jnp.ones(3), lambda v: jnp.zeros(3), x),
    "switch": lambda x: lax.switch(
        1, [lambda v: (v, 1.0), lambda v: (v * v, v[0]), lambda v: (jnp.ones(3), 0.0)], x
    ),
    "an index beyond the branches": lambda x: lax.switch(7, [lambda v: v, lambda v: v * v], x),
    "platform": lambda x: lax.platform_dependent(x, cpu=lambda v: v * 2, default=lambda v: v * 3),
    "closure": lambda x: lax.cond(x[0] > 0, lambda: x * 2, lambda: x * 3),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_branches(name):
    f = BRANCHES[name]
    assert_close(ls.quaxify(f)(number(VECTOR)), f(VECTOR))


def test_branches_under_vmap():
    f = BRANCHES["plain in one"]
    batch = jnp.stack([VECTOR, -VECTOR])
    found = jax.vmap(lambda a: linear(ls.quaxify(f)(number(a))))(batch)
    assert_close(found, jax.vmap(f)(batch))


def test_a_branch_with_a_log():
    f = lambda x, p: jnp.exp(lax.cond(p, jnp.log, lambda v: jnp.full(2, -jnp.inf), x))  # noqa: E731
    a = jnp.array([2.0, 0.0])
    for p, expected in ((True, [1.0, 1.0]), (False, [0.0, 0.0])):
        g = lambda a, p=p: linear(jnp.sum(ls.quaxify(f)(number(a), p).to_linear()))  # noqa: E731
        np.testing.assert_array_equal(jax.grad(g)(a), expected)
