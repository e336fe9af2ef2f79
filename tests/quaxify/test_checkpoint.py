"""`jax.checkpoint` and other calls."""

import jax
import jax.numpy as jnp
import pytest
import quax
from jax.ad_checkpoint import checkpoint_name

import logspace as ls

from .numbers import VECTOR, assert_close, huge, linear, number, quax_value


def deep(x):
    y = checkpoint_name(x * x + 1, "square")
    return jnp.sum(jnp.exp(y) / (x * y + 3))


@pytest.mark.parametrize("quaxify", [ls.quaxify, quax.quaxify], ids=["logspace", "quax"])
def test_checkpoint(quaxify):
    f = jax.checkpoint(deep)
    g = lambda a: linear(quaxify(f)(number(a)))  # noqa: E731
    assert_close(g(VECTOR), deep(VECTOR))
    assert_close(jax.jit(jax.grad(g))(VECTOR), jax.grad(deep)(VECTOR))
    assert_close(jax.jit(jax.hessian(g))(VECTOR), jax.hessian(deep)(VECTOR), rtol=1e-12)


@pytest.mark.parametrize("quaxify", [ls.quaxify, quax.quaxify], ids=["logspace", "quax"])
def test_checkpoint_of_numbers_beyond_floats_and_of_closures(quaxify):
    def f(x, y):
        many = [VECTOR * i for i in range(12)]
        inner = jax.checkpoint(lambda v: (v * x + sum(many) * v, y))
        return inner(y)[0]

    g = lambda a: linear(quaxify(f)(huge(a), huge(2.0)) / huge(1.0, 8000))  # noqa: E731
    assert_close(jax.grad(lambda a: jnp.sum(g(a)))(VECTOR), jnp.full(3, 2.0))


@pytest.mark.parametrize("quaxify", [ls.quaxify, quax.quaxify], ids=["logspace", "quax"])
def test_checkpoint_policies_are_kept(quaxify):
    policies = jax.checkpoint_policies

    def saved(policy):
        f = jax.checkpoint(deep, policy=policy)
        g = lambda a: linear(quaxify(f)(number(a)))  # noqa: E731
        return len(jax.tree.leaves(jax.eval_shape(lambda a: jax.vjp(g, a)[1], VECTOR)))

    nothing = saved(policies.nothing_saveable)
    named = saved(policies.save_only_these_names("square"))
    everything = saved(policies.everything_saveable)
    assert nothing < named < everything


def test_checkpoint_recomputes():
    text = str(jax.make_jaxpr(jax.grad(
        lambda a: linear(ls.quaxify(jax.checkpoint(deep, prevent_cse=False))(number(a)))
    ))(VECTOR))  # fmt: skip
    assert "remat" in text or "checkpoint" in text
    assert "prevent_cse=False" in text


def test_custom_vmap():
    @jax.custom_batching.custom_vmap
    def f(x):
        return x * 2

    @f.def_vmap
    def _(size, batched, x):
        return x * 2, True

    assert_close(ls.quaxify(f)(number(VECTOR)), 2 * VECTOR)
    found = jax.vmap(lambda a: linear(ls.quaxify(f)(number(a))))(VECTOR)
    assert_close(found, 2 * VECTOR)


def test_call_primitives_are_evaluated_in_place():
    from jax.extend.core import primitives

    jaxpr = jax.make_jaxpr(lambda x: x * x + 1)(1.0)
    f = lambda x: jax.tree.leaves(  # noqa: E731
        bind_call(primitives, jaxpr, x), is_leaf=quax_value
    )[0]
    assert_close(ls.quaxify(f)(number(3.0)), 10.0)


def bind_call(primitives, jaxpr, x):
    params = primitives.closed_call_p.get_bind_params({"call_jaxpr": jaxpr})
    return primitives.closed_call_p.bind(x, **params)
