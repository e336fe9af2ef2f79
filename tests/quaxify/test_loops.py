"""Loops, and what they carry."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import logspace as ls

from .numbers import VECTOR, assert_close, huge, linear, number, quax_value


def sum_of_squares(x):
    return lax.scan(lambda c, v: (c + v * v, c * v), jnp.zeros(()), x)


LOOPS = {
    "plain zeros become a number": sum_of_squares,
    "reverse, with two carries": lambda x: lax.scan(
        lambda c, v: ((c[1] * v, c[0] + v), (c, 1)), (jnp.ones(()), jnp.zeros(())), x, reverse=True
    ),
    "no inputs": lambda x: lax.scan(lambda c, _: (c * x, None), jnp.ones(3), None, length=4)[0],
    "unrolled": lambda x: lax.scan(lambda c, v: (c + v, c), 0.0, x, unroll=2),
    "no steps": lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(()), x[:0]),
    "fori": lambda x: lax.fori_loop(0, 3, lambda i, c: c + x[i] * i, 0.0),
    "fori with a traced bound": lambda x: lax.fori_loop(
        0, jnp.sum(x > -5), lambda i, c: c.at[i].add(x[i]), jnp.zeros(3)
    ),
    "while on the number": lambda x: lax.while_loop(
        lambda c: jnp.sum(c) < 50, lambda c: c * 2 + x**2, x
    ),
    "while with constants": lambda x: lax.while_loop(
        lambda c: c[0] + x[0] < 4.0, lambda c: (c[0] + 1, c[1] * x, c[2]), (0, jnp.ones(3), x)
    ),
    "map": lambda x: lax.map(lambda v: jnp.where(v > 0, v, v * v), x),
    "nested scans": lambda x: lax.scan(lambda c, v: (c + sum_of_squares(x * v)[0], c), 0.0, x),
    "associative scan": lambda x: lax.associative_scan(jnp.multiply, x),
    "a swap that settles slowly": lambda x: lax.scan(
        lambda c, v: ((c[1], c[2], c[3], v * 1.0), None), (jnp.zeros(()),) * 4, x
    )[0],
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name):
    f = LOOPS[name]
    found = ls.quaxify(f)(number(VECTOR))
    assert_close(found, f(VECTOR))
    assert any(isinstance(x, ls.LogArray) for x in jax.tree.leaves(found, is_leaf=quax_value))


def test_loops_beyond_the_range_of_floats():
    """A product of 400 numbers of 2**100 from a plain 1, and a sum of numbers from a plain 0."""
    x = huge(jnp.full(400, 3.0), 100)
    product = ls.quaxify(lambda x: lax.scan(lambda c, v: (c * v, None), jnp.ones(()), x)[0])(x)
    np.testing.assert_allclose(product.logabs, 400 * (np.log(3) + 100 * np.log(2)), rtol=1e-15)
    total = ls.quaxify(lambda x: lax.fori_loop(0, 400, lambda i, c: c + x[i] ** 30, 0.0))(x)
    np.testing.assert_allclose(total.logabs, np.log(400) + 30 * np.log(3) + 3000 * np.log(2))


@pytest.mark.parametrize("name", ["plain zeros become a number", "no inputs"])
def test_derivatives_of_loops(name):
    def scalar(x):
        return jnp.sum(LOOPS[name](x)[0] if name != "no inputs" else LOOPS[name](x))

    found = jax.jit(jax.hessian(lambda a: linear(ls.quaxify(scalar)(number(a)))))(VECTOR)
    assert_close(found, jax.hessian(scalar)(VECTOR))


def test_loops_under_vmap_and_shard_map():
    batch = jnp.stack([VECTOR, VECTOR + 1])
    f = lambda a: linear(ls.quaxify(lambda x: sum_of_squares(x)[0])(number(a)))  # noqa: E731
    expected = jnp.sum(batch**2, axis=1)
    assert_close(jax.vmap(f)(batch), expected)
    assert_close(jax.vmap(jax.grad(f))(batch), 2 * batch)
    mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    def local(a):
        # the carry starts as something that varies over the mesh, as JAX requires
        g = lambda x: lax.scan(lambda c, v: (c + v * v, None), x[0] * 0, x)[0]  # noqa: E731
        return linear(ls.quaxify(g)(number(a[0])))[None]

    mapped = jax.shard_map(local, mesh=mesh, in_specs=spec, out_specs=spec)
    assert_close(jax.jit(mapped)(batch), expected)


def test_while_loop_under_vmap_stops_each_by_itself():
    f = lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 3, x)  # noqa: E731
    starts = jnp.array([1.0, 5.0, 20.0])
    found = jax.vmap(lambda a: linear(ls.quaxify(f)(number(a))))(starts)
    np.testing.assert_array_equal(found, [27.0, 15.0, 20.0])


# -------------------------------------------------------------------------- loops that carry Logs


def test_a_log_that_arises_in_a_loop_stays_a_log():
    def f(x):
        return lax.scan(lambda c, v: (c + jnp.log(v), c), jnp.zeros(()), x)

    total, partial_sums = ls.quaxify(f)(huge(jnp.array([1.0, 3.0])))
    assert isinstance(total, ls.Log) and isinstance(partial_sums, ls.Log)
    assert_close(ls.exp(total) / huge(1.0, 8000), 3.0)
    # exp of the sum of logarithms has the derivative of the product, at a zero too
    product = lambda a: linear(ls.quaxify(lambda x: jnp.exp(f(x)[0]))(number(a)))  # noqa: E731
    np.testing.assert_array_equal(jax.grad(product)(jnp.array([2.0, 0.0, 3.0])), [0.0, 6.0, 0.0])


def test_a_log_that_the_body_reads_is_carried_as_its_plain_value():
    def f(x):
        return lax.scan(lambda c, v: (jnp.tanh(c) * 2, c), jnp.log(x[0]), x)

    found = ls.quaxify(f)(number(jnp.array([2.0, 1.0])))
    assert_close(found, f(jnp.array([2.0, 1.0])))
    assert not any(isinstance(x, ls.Log) for x in jax.tree.leaves(found, is_leaf=quax_value))


def test_a_log_and_a_number_in_one_slot():
    def f(x):
        return lax.scan(lambda c, v: (v * 2, c), jnp.log(x[0]), x)

    x = jnp.array([2.0, 3.0])
    found = ls.quaxify(f)(number(x))
    assert isinstance(found[0], ls.LogArray)
    assert_close(found, f(x))
