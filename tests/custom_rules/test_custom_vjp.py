"""`jax.custom_vjp` on LogArrays."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.custom_derivatives import SymbolicZero

import logspace as ls

from .rules_of_users import (
    INSIDE,
    OTHERS,
    POINTS,
    TRANSFORMED,
    assert_same,
    assert_same_in_all_modes,
    biased_product,
    fwd,
    linear,
    number,
    rev,
    reverse_only,
)


@pytest.mark.parametrize(
    "kinds", [("number", "number"), ("number", "plain"), ("plain", "number"), ("plain", "plain")]
)
def test_custom_vjp_as_in_plain_jax(kinds):
    f = biased_product
    if kinds == ("plain", "plain"):
        # inside a function of numbers, on plain operands only
        f = lambda x, y: linear_times(x, y)  # noqa: E731
        kinds = ("number", "plain")
    assert_same_in_all_modes(f, POINTS, OTHERS, kinds, modes=reverse_only)


def linear_times(x, y):
    return biased_product(y, y + 1) * x


def test_custom_vjp_gets_numbers():
    seen = []

    @jax.custom_vjp
    def f(x):
        return x * x

    def backward(saved, ct):
        seen.append(ct)
        return (5 * ct * saved,)

    f.defvjp(lambda x: (x * x, x), backward)

    def g(a):
        squared = ls.quaxify(f)(number(a, scale=1200))
        return (squared / number(1.0, scale=2400)).to_linear()

    np.testing.assert_allclose(rev(g)(POINTS), 5 * POINTS, rtol=1e-15)
    np.testing.assert_allclose(rev(rev(g))(POINTS), 5.0 + 0 * POINTS, rtol=1e-15)
    np.testing.assert_allclose(jax.jit(fwd(rev(g)))(POINTS), 5.0 + 0 * POINTS, rtol=1e-15)
    assert all(isinstance(ct.value, ls.LogArray) for ct in seen)


@pytest.mark.parametrize("symbolic_zeros", [False, True])
def test_custom_vjp_nondiff_closure_symbolic_zeros_and_none(symbolic_zeros):
    flags = []

    def outer(x, y, w):
        @partial(jax.custom_vjp, nondiff_argnums=(0,))
        def f(n, x, y):
            return x**n * y * w, jnp.sin(x)

        def forward(n, x, y):
            if symbolic_zeros:
                flags.append((x.perturbed, y.perturbed))
                x, y = x.value, y.value
            return f(n, x, y), (x, y, n * 1.0)

        def backward(n, saved, cts):
            x, y, m = saved
            ct, other = cts
            if symbolic_zeros:
                assert type(other) is SymbolicZero
                other = 0.0
            return (10 * ct * m * x ** (n - 1) * y * w + other, None)

        f.defvjp(forward, backward, symbolic_zeros=symbolic_zeros)
        return f(2, x, y)[0]

    def g(a):
        return linear(
            ls.quaxify(outer)(ls.from_linear(a), ls.from_linear(3.0), ls.from_linear(0.5))
        )

    assert jax.grad(g)(2.0) == 60.0
    assert jax.jit(jax.grad(g))(2.0) == 60.0
    assert all(f == (True, False) for f in flags)


@pytest.mark.parametrize("name", [n for n in INSIDE if n != "while"])
def test_custom_vjp_inside_of_transformations(name):
    body = INSIDE[name](lambda v: biased_product(v, v))
    f = lambda a: linear(ls.quaxify(body)(ls.from_linear(a)))  # noqa: E731
    assert_same(f, body, (rev, lambda h: fwd(rev(h))))


@pytest.mark.parametrize("name", TRANSFORMED)
def test_custom_vjp_transformations_around(name):
    inner = jax.jit(biased_product) if name == "jit inside" else biased_product

    def f(a):
        return ls.quaxify(lambda x: inner(x, x * 2))(ls.from_linear(a)).to_linear()

    g = TRANSFORMED[name](f)
    p = TRANSFORMED[name](lambda a: biased_product(a, a * 2))
    assert_same(g, p, (rev, lambda h: fwd(rev(h))))


def test_custom_vjp_results_of_several_kinds():
    @jax.custom_vjp
    def f(x, n):
        return {"square": x * x, "sign": jnp.sign(x) * 1.0, "count": n + 1}

    f.defvjp(
        lambda x, n: (f(x, n), x),
        lambda x, ct: (ct["square"] * x + 3 * ct["sign"], None),
    )

    def g(a):
        out = ls.quaxify(f)(ls.from_linear(a), jnp.asarray(3))
        return linear(out["square"]) + linear(out["sign"])

    assert jax.grad(g)(2.0) == 5.0
    assert jax.jit(jax.grad(jax.jit(g)))(2.0) == 5.0


def test_custom_vjp_forward_mode_is_refused_as_in_jax():
    with pytest.raises(TypeError, match="forward-mode"):
        fwd(lambda a: linear(ls.quaxify(biased_product)(ls.from_linear(a), a)))(1.0)


def test_custom_vjp_on_a_tangent_is_refused():
    @jax.custom_jvp
    def f(x):
        return x

    f.defjvp(lambda primals, tangents: (primals[0], biased_product(tangents[0], primals[0])))
    with pytest.raises(TypeError, match="custom_vjp"):
        jax.grad(lambda a: linear(ls.quaxify(f)(ls.from_linear(a))))(1.0)
