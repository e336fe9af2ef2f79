"""Collectives under shard_map on two devices, and what only arises there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import logspace as ls
import logspace.numpy as lnp

pytestmark = pytest.mark.skipif(
    len(jax.devices()) < 2, reason="needs two devices; conftest.py forces them on CPU"
)
AXIS = "d"


def mesh():
    return Mesh(np.array(jax.devices()[:2]), (AXIS,))


SPLIT = P(AXIS)


def mapped(function, out=SPLIT):
    return jax.jit(jax.shard_map(ls.quaxify(function), mesh=mesh(), in_specs=SPLIT, out_specs=out))


@pytest.fixture
def x(rng):
    """Four numbers, two for each device: scales far apart, and one zero."""
    return ls.LogArray(jnp.array([1.0, -1.0, 0.0, 1.0]), jnp.array([1000.0, 3.0, 0.0, 998.0]))


def test_psum(x):
    total = mapped(lambda x: lax.psum(jnp.sum(x), AXIS), P())(x)
    np.testing.assert_allclose(total.logabs, lnp.sum(x).logabs, rtol=1e-6)


def test_psum_that_cancels():
    x = ls.LogArray(jnp.array([1.0, 1.0, -1.0, -1.0]), jnp.full(4, 1000.0))
    total = mapped(lambda x: lax.psum(jnp.sum(x), AXIS), P())(x)
    assert total == 0


def test_extrema(x):
    assert mapped(lambda x: lax.pmax(jnp.max(x), AXIS), P())(x) == x.max()
    assert mapped(lambda x: lax.pmin(jnp.min(x), AXIS), P())(x) == x.min()


def test_movements(x):
    gathered = mapped(lambda x: lax.all_gather(x, AXIS, tiled=True))(x)
    assert lnp.all(gathered == lnp.concatenate([x, x]))
    swapped = mapped(lambda x: lax.ppermute(x, AXIS, [(0, 1), (1, 0)]))(x)
    assert lnp.all(swapped == lnp.roll(x, 2))
    exchanged = mapped(lambda x: lax.all_to_all(x, AXIS, 0, 0))(x)
    assert lnp.all(exchanged == x[jnp.array([0, 2, 1, 3])])


def test_arithmetic_of_varying_and_constant_numbers(x):
    """Constants inside rules vary as their operands do; unvarying ones meet varying ones."""

    def function(x):
        y = x * 2.0 + 1.0 - jnp.sqrt(jnp.abs(x))
        return lax.psum(jnp.sum(y * jnp.cumsum(x) / (jnp.max(x) + 1)), AXIS)

    def whole(x):
        halves = [x[:2], x[2:]]
        parts = [
            lnp.sum((h * 2.0 + 1.0 - lnp.sqrt(lnp.abs(h))) * lnp.cumsum(h) / (lnp.max(h) + 1))
            for h in halves
        ]
        return parts[0] + parts[1]

    np.testing.assert_allclose(mapped(function, P())(x).logabs, whole(x).logabs, rtol=1e-6)


@pytest.mark.parametrize("inside", [True, False])
def test_gradient(inside):
    """d/dv of (sum v)^2 through a psum, differentiated inside and outside of shard_map."""
    v = jnp.array([1.0, 2.0, -3.0, 0.5])

    def total(x):
        return lax.psum(jnp.sum(x), AXIS)

    through_numbers = ls.quaxify(total)
    if inside:

        def local(v):
            return jax.grad(lambda v: through_numbers(ls.from_linear(v)).to_linear() ** 2)(v)

        got = jax.jit(jax.shard_map(local, mesh=mesh(), in_specs=P(AXIS), out_specs=P(AXIS)))(v)
    else:

        def whole(v):
            return mapped(total, P())(ls.from_linear(v)).to_linear() ** 2

        got = jax.grad(whole)(v)
    np.testing.assert_allclose(got, np.full(4, 2 * 0.5), rtol=1e-6)


def test_a_loop_with_a_varying_carry(x):
    def function(x):
        def step(carry, item):
            return carry * 0.5 + item, carry

        last, _ = lax.scan(step, jnp.zeros_like(x[0]) * x[0], x)
        return last[None]

    got = mapped(function)(x)
    np.testing.assert_allclose(got.logabs[0], 1000 - np.log(2), rtol=1e-6)


def test_a_sharded_number_is_used_as_it_is(x):
    sharding = NamedSharding(mesh(), P(AXIS))
    y = jax.device_put(x, sharding)
    assert y._significand.sharding == sharding and y._exponent.sharding == sharding
    assert lnp.all(y + 1 == x + 1)
