"""The names of library functions and primitives that are recognised, which are not public.

A release of JAX that renames one fails here, and only here.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from logspace import from_linear, logify, quaxify
from logspace._logify import library_calls
from logspace._logify.interpreter import _INLINED
from logspace._logify.jaxprs import called, opened, programs_in


def calls_in(jaxpr: Any) -> set[str]:
    names = set()
    for e in opened(jaxpr)[0].eqns:
        if called(e.params) is not None:
            found = library_calls.recognised(e.params)
            names |= {found[0]} if found else set()
        for inner in programs_in(e.params):
            names |= calls_in(inner)
    return names


@pytest.mark.parametrize(
    ("name", "fn"),
    [
        ("slogdet", lambda x: jnp.linalg.slogdet(jnp.diag(x))),
        ("det", lambda x: jnp.linalg.det(jnp.diag(x))),
        ("logaddexp", lambda x: jnp.logaddexp(x, x)),
        ("logit", jax.scipy.special.logit),
        ("logit", lambda x: jax.vmap(jax.scipy.special.logit)(x)),
        ("hypot", lambda x: jnp.hypot(x, x)),
        ("hypot", lambda x: jax.vmap(jnp.hypot, in_axes=(0, None))(x, 1.0)),
        ("logaddexp", lambda x: jax.vmap(jnp.logaddexp, in_axes=(None, 0))(1.0, x)),
        ("xlogy", lambda x: jax.scipy.special.xlogy(x, x)),
        ("xlog1py", lambda x: jax.scipy.special.xlog1py(x, x)),
        ("hypot", lambda x: jnp.hypot(x, x)),
        ("signbit", jnp.signbit),
    ],
)
def test_name(name: str, fn: Any) -> None:
    assert name in calls_in(jax.make_jaxpr(fn)(jnp.ones(5)))


def test_jit_is_inlined() -> None:
    (equation,) = opened(jax.make_jaxpr(jax.jit(jnp.sin))(1.0))[0].eqns
    assert equation.primitive.name in _INLINED


@jax.jit
def logit(x: Any) -> Any:
    return 2 * x


@jax.custom_jvp
def xlogy(x: Any, y: Any) -> Any:
    return x + y


xlogy.defjvps(lambda dx, out, x, y: dx, lambda dy, out, x, y: dy)


@jax.jit
def det(a: Any) -> Any:
    return a.sum()


def test_functions_of_others_with_such_a_name_are_theirs() -> None:
    x = jnp.array([[0.3, 0.2], [0.1, 0.7]])
    for fn in (lambda x: jnp.exp(logit(x)), lambda x: jnp.exp(xlogy(x, x)), det):
        np.testing.assert_array_equal(logify(fn)(x), fn(x))


@pytest.mark.parametrize(
    "fn",
    [
        jax.jit(jax.vmap(jax.grad(jax.scipy.special.logit))),
        lambda x: jax.jit(jax.grad(jnp.hypot))(x[0, 0, 0], 2.0),
        lambda x: jax.jvp(jnp.hypot, (x, x), (x + 1, x)),
        jax.jit(jax.vmap(jax.value_and_grad(jnp.linalg.det))),
        jax.jit(jax.vmap(jax.grad(jnp.linalg.det))),
        lambda x: jax.jvp(jnp.linalg.det, (x,), (x + 1,)),
        lambda x: jax.jvp(jnp.linalg.slogdet, (x,), (x + 1,)),
    ],
)
def test_derivatives_bear_the_name_and_are_not_the_function(fn: Any) -> None:
    x = jnp.array([[[0.3, 0.2], [0.1, 0.7]], [[0.9, 0.5], [0.4, 0.6]]])
    x = x[0, 0] if "logit" in getattr(fn, "__name__", "") else x
    same = functools.partial(np.testing.assert_allclose, rtol=1e-14)
    jax.tree.map(same, logify(fn)(x), fn(x))


@pytest.mark.parametrize(
    "in_axes",
    [pytest.param(a, marks=pytest.mark.full) for a in ((0,), (1,), (2,), (0, 0), (1, 2))],
    ids=str,
)
def test_determinants_under_vmap_along_any_axis(in_axes: Any) -> None:
    """Also where all axes are as long as the matrices are, and one matrix is singular."""
    shape = (3,) * (2 + len(in_axes))
    a = np.random.default_rng(0).normal(size=shape)
    a[1] = np.sign(a[1])
    batched, plain = jnp.linalg.det, np.asarray(a)
    for axis in reversed(in_axes):
        batched = jax.vmap(batched, in_axes=axis)
    left = list(range(a.ndim))
    order = [left.pop(axis) for axis in in_axes]
    expected = np.linalg.det(plain.transpose(order + left))
    for fn in (logify(batched), lambda a: quaxify(batched)(from_linear(a)).to_linear()):
        np.testing.assert_allclose(fn(jnp.asarray(a)), expected, rtol=1e-12, atol=1e-15)
        assert np.all(np.isfinite(jax.grad(lambda a, fn=fn: fn(a).sum())(jnp.asarray(a))))


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (lambda x: jnp.exp(jax.nn.logsumexp(jnp.log(x))), np.ones((1, 3))),
        (lambda x: jax.nn.softmax(jnp.log(x)) * jnp.sum(x), np.eye(3)),
        (
            lambda x: jnp.exp(jax.nn.logsumexp(jnp.log(x), b=jnp.array([1.0, -2.0, 0.5]))),
            np.array([[1.0, -2.0, 0.5]]),
        ),
    ],
)
def test_reformulated_derivatives_are_those_of_the_program(fn: Any, expected: Any) -> None:
    """Of log-sum-exp and softmax with zero terms, in reverse and forward mode."""
    x = jnp.array([3.0, 0.0, 0.0])
    functions = (logify(fn), lambda x: quaxify(fn)(from_linear(x)).to_linear())
    for jacobian in (jax.jacrev, jax.jacfwd):
        for each in functions:
            found = jacobian(lambda x, each=each: jnp.atleast_1d(each(x)))(x)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (
            lambda x: (lambda s: s[1] * jnp.exp(s[0]))(
                jax.nn.logsumexp(jnp.zeros(3), b=x * jnp.array([1.0, 2.0, 3.0]), return_sign=True)
            ),
            [1.0, 2.0, 3.0],
        ),
        (
            lambda x: (lambda y: jnp.sum(jnp.sign(y) * jnp.exp(jnp.log(jnp.abs(y)))))(
                jnp.exp(jnp.cumsum(jnp.log(x)))
            ),
            [1.0, 3.0, 0.0],
        ),
        (lambda x: jnp.sum(jnp.sqrt(jnp.exp(2 * jnp.log(x))) ** 2), [2.0, 0.0, 4.0]),
        (lambda x: jnp.sum(jnp.sqrt(3 * jnp.exp(2 * jnp.log(x)))), [np.sqrt(3)] * 3),
        (lambda x: jnp.sum(jnp.sqrt(x**4)), [2.0, 0.0, 4.0]),
    ],
)
def test_zeros_of_products_in_masks_signs_and_roots(fn: Any, expected: Any) -> None:
    x = jnp.array([1.0, 0.0, 2.0])
    np.testing.assert_allclose(jax.grad(logify(fn))(x), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(jax.jacfwd(logify(fn))(x), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("a", [-1.0, 0.0, 2.0])
@pytest.mark.parametrize("b", [0.0, 3.0])
@pytest.mark.parametrize(
    "fn",
    [
        lambda a, b: jnp.sign(a * jnp.abs(b)),
        lambda a, b: jnp.sign(a * jnp.exp(jnp.log(b))),
        lambda a, b: jnp.sign(a**2 * jnp.exp(3 * jnp.log(b))),
        lambda a, b: jnp.sign(jnp.sqrt(b) * a**3),
    ],
)
def test_signs_of_products_are_zero_where_a_factor_is(fn: Any, a: float, b: float) -> None:
    assert jax.jit(logify(fn))(a, b) == fn(a, b)
    assert jax.grad(logify(fn))(a, b) == 0.0


def test_second_derivatives_of_a_sign_times_its_magnitude() -> None:
    """Of products of neighbours on a ring, of which two vanish."""
    weights = jnp.array([1.0, -2.0, 3.0])

    def fn(x: Any) -> Any:
        y = x * jnp.roll(x, 1)
        return jnp.sum(weights * jnp.sign(y) * jnp.exp(jnp.log(jnp.abs(y))))

    expected = [[0.0, -2.0, 1.0], [-2.0, 0.0, 3.0], [1.0, 3.0, 0.0]]
    for x in (jnp.array([1.0, 0.0, 2.0]), jnp.array([1.0, -5.0, 2.0])):
        np.testing.assert_allclose(jax.hessian(logify(fn))(x), expected, rtol=1e-12, atol=1e-12)
