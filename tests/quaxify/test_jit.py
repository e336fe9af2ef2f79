"""Compiled functions inside of quaxified ones."""

import gc
import weakref

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import logspace as ls
from logspace._quaxify.control_flow import PROGRAMS

from .numbers import VECTOR, number


def test_jitted_functions_are_traced_once_for_each_structure():
    traces = []

    @jax.jit
    def f(x, y):
        traces.append(None)
        return x * y

    g = ls.quaxify(f)
    for _ in range(3):
        g(number(VECTOR), VECTOR)
    first = len(PROGRAMS)
    assert len(traces) == 1
    for _ in range(3):
        g(VECTOR, number(VECTOR))
        ls.quaxify(lambda x: f(x, x) + f(x, 2.0 * x))(number(VECTOR))
    assert len(PROGRAMS) <= first + 1
    assert len(traces) == 1


def test_compiled_programs_are_forgotten_with_their_functions():
    def collected():
        jax.clear_caches()
        gc.collect()
        return len(PROGRAMS)

    @jax.jit
    def f(x):
        return lax.fori_loop(0, 3, lambda i, c: jnp.floor(c) * x, x)

    before = collected()
    ls.quaxify(f)(number(VECTOR))
    assert len(PROGRAMS) > before
    reference = weakref.ref(f)
    del f
    assert collected() <= before
    assert reference() is None


def test_options_of_jit_are_kept():
    sharding = jax.device_put(0.0, jax.devices()[1]).sharding
    f = jax.jit(lambda x: x * 2, out_shardings=sharding)
    out = ls.quaxify(f)(number(VECTOR))
    assert out._significand.sharding == sharding and out._exponent.sharding == sharding
    with_name = jax.make_jaxpr(ls.quaxify(jax.jit(unnamed)))(number(VECTOR))
    assert "name=unnamed" in str(with_name)


def unnamed(x):
    return jnp.exp(x) * x


def test_leaked_values_raise():
    leaked = []
    ls.quaxify(lambda x: leaked.append(x))(number(VECTOR))
    with pytest.raises((jax.errors.UnexpectedTracerError, TypeError)):
        jax.jit(lambda y: y + leaked[0])(VECTOR)


@pytest.mark.parametrize("derive", [lambda f: f, jax.grad], ids=["value", "grad"])
def test_no_tracer_leaks(derive):
    @jax.custom_jvp
    def f(x):
        return jnp.sum(x**2)

    f.defjvp(lambda p, t: (f(p[0]), jnp.sum(3 * p[0] * t[0])))

    def program(x):
        y, _ = lax.scan(lambda c, v: (c + v, None), jnp.zeros(()), x)
        y = lax.cond(y.sum() > 100, lambda v: v, lambda v: v * f(x), y)
        return jax.checkpoint(lambda v: jax.jit(jnp.multiply)(v, v))(y)

    with jax.checking_leaks():
        jax.jit(derive(lambda a: ls.quaxify(program)(number(a)).to_linear())).trace(VECTOR)
