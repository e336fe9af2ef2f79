"""Functions with rules of users inside and outside of transformations."""

import jax
import pytest

import logspace as ls

from .rules_of_users import INSIDE, TRANSFORMED, assert_same, fwd, kinked, linear, rev, wrong_cube


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformations_around(name):
    inner = jax.jit(wrong_cube) if name == "jit inside" else wrong_cube

    def f(a):
        return ls.quaxify(inner)(ls.from_linear(a)).to_linear()

    g, p = TRANSFORMED[name](f), TRANSFORMED[name](wrong_cube)
    assert_same(g, p, (fwd, lambda h: fwd(rev(h))))


@pytest.mark.parametrize("name", INSIDE)
def test_inside_of_transformations(name):
    body = INSIDE[name](wrong_cube)
    f = lambda a: linear(ls.quaxify(body)(ls.from_linear(a)))  # noqa: E731
    modes = (fwd,) if name == "while" else (lambda h: fwd(rev(h)),)
    assert_same(f, body, (lambda h: h, *modes))


def test_shard_map_around():
    mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    def f(a):
        return ls.quaxify(lambda x: kinked(x, x * 2))(ls.from_linear(a)).to_linear()

    mapped = jax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec)
    plain = lambda a: kinked(a, a * 2)  # noqa: E731
    assert_same(mapped, plain, (fwd, rev))
