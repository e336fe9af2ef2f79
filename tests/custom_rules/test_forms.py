"""The forms that a rule of a user can have: symbolic zeros, pytrees, loops, closures."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.custom_derivatives import SymbolicZero

import logspace as ls

from .rules_of_users import fwd, linear, number

# ------------------------------------------------------------------------- forms of rules


def test_symbolic_zeros_and_integer_operands():
    seen = []

    @jax.custom_jvp
    def f(x, y, n):
        return x * y * n

    def rule(primals, tangents):
        (x, y, n), ts = primals, tangents
        seen.append([type(t) is SymbolicZero for t in ts])
        out = f(x, y, n)
        terms = [
            c * t for c, t in zip((y * n, x * n), ts, strict=False) if type(t) is not SymbolicZero
        ]
        return out, sum(terms[1:], terms[0])

    f.defjvp(rule, symbolic_zeros=True)
    g = lambda a: ls.quaxify(f)(ls.from_linear(a), ls.from_linear(2.0), jnp.asarray(3)).to_linear()  # noqa: E731
    assert jax.grad(g)(1.5) == 6.0
    assert seen[-1] == [False, True, True]


def test_integer_operands_without_symbolic_zeros():
    @jax.custom_jvp
    def f(x, n):
        return x * n

    @f.defjvp
    def _(primals, tangents):
        assert tangents[1].dtype == jax.dtypes.float0
        return f(*primals), tangents[0] * primals[1] * 2

    g = lambda a: ls.quaxify(f)(ls.from_linear(a), jnp.asarray(3)).to_linear()  # noqa: E731
    assert jax.grad(g)(1.5) == 6.0
    assert jax.jit(jax.grad(jax.jit(g)))(1.5) == 6.0


@pytest.mark.parametrize("jitted", [False, True])
def test_a_rule_that_returns_symbolic_zeros(jitted):
    @jax.custom_jvp
    def f(x):
        return x * x, jnp.sin(x)

    def rule(primals, tangents):
        zero = SymbolicZero(jax.typeof(primals[0]).to_tangent_aval())
        return f(primals[0]), (zero, tangents[0] * 4)

    f.defjvp(rule, symbolic_zeros=True)

    def g(a):
        p, q = ls.quaxify(f)(ls.from_linear(a))
        return p.to_linear() + q

    assert (jax.jit(jax.grad(g)) if jitted else jax.grad(g))(1.5) == 4.0


def test_nondiff_argnums_and_keywords():
    @partial(jax.custom_jvp, nondiff_argnums=(0,))
    def f(n, x, y=2.0):
        return x**n * y

    @f.defjvp
    def _(n, primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        return f(n, x, y), 10 * n * x ** (n - 1) * y * dx + 0 * dy

    g = lambda a: ls.quaxify(lambda x: f(3, y=2.0, x=x))(ls.from_linear(a)).to_linear()  # noqa: E731
    assert jax.grad(g)(2.0) == 240.0


def test_rule_over_pytrees_with_plain_and_number_results():
    @jax.custom_jvp
    def f(tree):
        return {"product": tree["x"] * tree["y"], "sign": jnp.sign(tree["x"]) * 0.5}

    @f.defjvp
    def _(primals, tangents):
        (tree,), (dot,) = primals, tangents
        out = f(tree)
        dout = dot["x"] * tree["y"] * 7 + dot["y"] * tree["x"]
        return out, {"product": dout, "sign": dot["x"] / 3}

    def g(a, b):
        out = ls.quaxify(f)({"x": ls.from_linear(a), "y": b})
        return linear(out["product"]) + linear(out["sign"])

    da, db = jax.grad(g, (0, 1))(2.0, 5.0)
    np.testing.assert_allclose([da, db], [35 + 1 / 3, 2.0])
    da, db = jax.jit(jax.grad(jax.jit(g), (0, 1)))(2.0, 5.0)
    np.testing.assert_allclose([da, db], [35 + 1 / 3, 2.0])


def test_complex_numbers():
    @jax.custom_jvp
    def f(z):
        return z * z

    @f.defjvp
    def _(primals, tangents):
        (z,), (t,) = primals, tangents
        return f(z), 3 * z * t + jnp.conj(t) * z.real

    def scalar(h, a):
        return jnp.real(h(a) * (1 - 2j)) ** 2

    z = 0.7 - 1.1j
    plain = jax.grad(lambda a: scalar(f, a))(z)
    for gauge in (0, 17):
        found = jax.grad(
            lambda a, g=gauge: scalar(lambda v: ls.quaxify(f)(number(v, g)).to_linear(), a)
        )(z)
        np.testing.assert_allclose(found, plain, rtol=1e-13)


def test_loops_over_tangents_in_a_rule():
    @jax.custom_jvp
    def f(x):
        return x**4

    @f.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        # 4 x**3 t by repeated multiplication, with branches on the primal
        total, _ = lax.scan(lambda c, _: (c * x, None), t, None, length=3)
        total = lax.cond(jnp.all(x > 0), lambda c: 4 * c, lambda c: c * 4, total)
        return f(x), lax.fori_loop(0, 2, lambda i, c: c * 1.0, total)

    g = lambda a: (ls.quaxify(f)(number(a, scale=900)) / number(1.0, scale=3600)).to_linear()  # noqa: E731
    np.testing.assert_allclose(jax.jvp(g, (1.5,), (1.0,))[1], 4 * 1.5**3)
    np.testing.assert_allclose(jax.jit(fwd(fwd(g)))(1.5), 12 * 1.5**2)


def test_closure_over_a_number():
    def outer(x, y):
        @jax.custom_jvp
        def f(v):
            return v * y

        @f.defjvp
        def _(primals, tangents):
            return f(*primals), tangents[0] * y * 5

        return f(x)

    g = lambda a: ls.quaxify(outer)(ls.from_linear(a), ls.from_linear(3.0)).to_linear()  # noqa: E731
    assert jax.grad(g)(2.0) == 15.0
    assert jax.jit(jax.grad(g))(2.0) == 15.0
    h = lambda a: linear(ls.quaxify(outer)(a, ls.from_linear(3.0)))  # noqa: E731
    assert jax.grad(h)(2.0) == 15.0


@pytest.mark.parametrize(
    "operation, name",
    [
        (jnp.abs, "abs"),
        (lambda t: t * t, "mul"),
        (jnp.exp, "exp"),
        (lambda t: jnp.where(t > 0, t, 0.0), "gt"),
        (lambda t: 1.0 / t, "div"),
        (jnp.max, "reduce_max"),
        (lax.stop_gradient, "stop_gradient"),
        (lambda t: t.astype(int) * 1.0, "convert_element_type"),
        (jax.nn.relu, "max"),
    ],
)
@pytest.mark.parametrize("jitted", [False, True])
def test_nonlinear_rules_are_refused_by_name(operation, name, jitted):
    @jax.custom_jvp
    def f(x):
        return x

    @f.defjvp
    def _(primals, tangents):
        return primals[0], operation(tangents[0])

    g = lambda a: ls.quaxify(jax.jit(f) if jitted else f)(ls.from_linear(a)).to_linear()  # noqa: E731
    with pytest.raises(TypeError, match=f"`{name}` to a tangent"):
        jax.grad(g)(1.0)


def test_rules_about_plain_arrays_are_as_free_as_in_plain_jax():
    """A clipped tangent is not linear, but it is plain, and forward mode in JAX accepts it."""

    @jax.custom_jvp
    def f(x):
        return x

    @f.defjvp
    def _(primals, tangents):
        return primals[0], jnp.clip(jax.nn.relu(tangents[0]), 0.0, 0.5)

    g = lambda a: linear(ls.quaxify(lambda x, y: f(y) * x)(ls.from_linear(3.0), a))  # noqa: E731
    assert jax.jvp(g, (1.0,), (1.0,))[1] == 1.5
