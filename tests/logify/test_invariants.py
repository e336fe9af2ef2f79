"""What is constant in a loop is computed once, and otherwise nothing changes."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.scipy.special import logsumexp

from logspace._logify import logify
from logspace._logify.invariants import outside
from logspace._logify.jaxprs import opened, programs_in


@pytest.fixture(autouse=True)
def _double_precision() -> Any:
    with jax.enable_x64(True):
        yield


def primitives_in_loops(jaxpr: Any, inside: bool = False) -> list[str]:
    found = []
    for e in opened(jaxpr)[0].eqns:
        name = e.primitive.name
        found += [name] * inside
        for p in programs_in(e.params):
            found += primitives_in_loops(p, inside or name == "scan")
    return found


def forward(log_transitions: Any, observed: Any) -> Any:
    def step(alpha: Any, o: Any) -> Any:
        return logsumexp(alpha[:, None] + log_transitions, axis=0) + o, None

    return logsumexp(lax.scan(step, observed[0], observed[1:])[0])


def test_exponentials_of_constants_leave_the_loop() -> None:
    generator = np.random.default_rng(0)
    logs, observed = generator.normal(size=(3, 3)), generator.normal(size=(6, 3))
    jaxpr = jax.make_jaxpr(logify(forward))(jnp.asarray(logs), jnp.asarray(observed))
    inside = primitives_in_loops(jaxpr)
    assert "scaled_dot" in inside
    # of the observations, which change, but not of the transitions
    assert inside.count("exp") == 1
    got = jax.grad(logify(forward))(jnp.asarray(logs), jnp.asarray(observed))
    np.testing.assert_allclose(got, jax.grad(forward)(logs, observed), rtol=1e-12)


def test_rules_of_the_user_leave_with_them() -> None:
    @jax.custom_vjp
    def seven(x: Any) -> Any:
        return x

    seven.defvjp(lambda x: (x, None), lambda _, g: (7 * g,))

    def total(w: Any, x: Any) -> Any:
        body = lambda c, y: (c + y * jnp.sin(seven(w)), 2.0 * w)  # noqa: E731
        return lax.scan(outside(body, x[0], x[0]), 0.0, x)

    x = jnp.arange(3.0)
    value, doubled = total(1.0, x)
    np.testing.assert_allclose(value, 3 * np.sin(1.0))
    np.testing.assert_allclose(doubled, [2.0] * 3)
    slope = jax.grad(lambda w: total(w, x)[0])(1.0)
    np.testing.assert_allclose(slope, 21 * np.cos(1.0))


def test_a_loop_of_no_steps() -> None:
    def fn(x: Any) -> Any:
        return lax.scan(lambda c, y: (jnp.exp(jnp.log(c) + y), None), x, jnp.zeros(0))[0]

    assert jax.value_and_grad(logify(fn))(0.0) == (0.0, 1.0)


@pytest.mark.full
def test_under_shard_map() -> None:
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    @jax.jit
    @partial(jax.shard_map, mesh=mesh, in_specs=(spec, spec), out_specs=spec)
    def fn(logs: Any, observed: Any) -> Any:
        return jax.grad(logify(forward))(logs, observed)

    logs, observed = jnp.eye(3), jnp.ones((4, 3))
    np.testing.assert_allclose(fn(logs, observed), jax.grad(forward)(logs, observed), rtol=1e-12)
