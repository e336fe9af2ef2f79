"""`inverse_pair`: what cancels in logified and in quaxified functions, and what is refused."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from logspace import MaterialiseError, from_linear, from_log, inverse_pair, logify, quaxify

X = [0.0, 2.0, -3.0]


@pytest.fixture(autouse=True)
def _double_precision() -> Any:
    with jax.enable_x64(True):
        yield


def cube_and_root() -> Any:
    return inverse_pair(lambda x: x**3, jnp.cbrt)


# on plain arrays


def test_pair_cancels_in_both_orders() -> None:
    cube, root = cube_and_root()
    for fn in (lambda x: root(cube(x)), lambda x: cube(root(x))):
        value, slope = jax.value_and_grad(logify(fn))(0.0)
        assert (value, slope) == (0.0, 1.0)
        assert jax.hessian(logify(fn))(0.0) == 0.0
    x = jnp.linspace(-2.0, 2.0, 7)
    assert np.array_equal(logify(lambda x: root(cube(x).reshape(7, 1))[:, 0])(x), x)
    np.testing.assert_allclose(root(cube(x)), x, atol=1e-12)


def test_pair_outside_its_domain_is_plain() -> None:
    sine, arcsine = inverse_pair(jnp.sin, jnp.arcsin, domain=(-np.pi / 2, np.pi / 2))
    fn = logify(lambda x: arcsine(sine(x)))
    np.testing.assert_allclose(fn(2.0), np.pi - 2.0, rtol=1e-12)
    np.testing.assert_allclose(jax.grad(fn)(2.0), -1.0, rtol=1e-12)
    assert jax.grad(fn)(1.0) == 1.0
    assert np.isnan(logify(lambda y: sine(arcsine(y)))(1.5))


def test_pair_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="counterexample|It does not: at x ="):
        inverse_pair(jnp.sin, jnp.arcsin)
    with pytest.raises(ValueError, match="It does not: at x ="):
        inverse_pair(jnp.square, jnp.sqrt)
    inverse_pair(jnp.square, jnp.sqrt, domain=(0, jnp.inf))
    inverse_pair(jnp.square, jnp.sqrt, domain=lambda x: x >= 0)


def test_domain_is_checked() -> None:
    with pytest.raises(ValueError, match="low < high"):
        inverse_pair(jnp.exp, jnp.log, domain=(1.0, 0.0))
    for domain in ("x", (1.0,), 3.0, ("a", "b"), (0.0, jnp.nan)):
        with pytest.raises(ValueError, match="low < high, or a function"):
            inverse_pair(jnp.exp, jnp.log, domain=domain)
    with pytest.raises(TypeError, match="inverse_pair needs a function; got 3"):
        inverse_pair(jnp.exp, 3)
    with pytest.raises(ValueError, match="predicate"):
        inverse_pair(jnp.exp, jnp.log, domain=lambda x: x > 100)


# on LogArrays


def linear(x: Any) -> Any:
    return x.to_linear()


def test_pair_cancels_on_log_arrays_in_both_orders() -> None:
    cube, root = cube_and_root()
    x = from_linear(jnp.array(X))
    for fn in (lambda x: root(cube(x)), lambda x: cube(root(x)), lambda x: cube(root(x[None]))[0]):
        assert np.array_equal(linear(quaxify(fn)(x)), X)

        def total(a: Any, fn: Any = fn) -> Any:
            return linear(quaxify(lambda x: jnp.sum(fn(x)))(from_linear(a)))

        assert np.array_equal(jax.grad(total)(jnp.array(X)), np.ones(3))
        assert np.array_equal(jax.hessian(total)(jnp.array(X)), np.zeros((3, 3)))
    huge = from_log(jnp.array(3e8))
    # the cube is beyond any LogArray
    assert quaxify(lambda x: root(cube(x)))(huge).logabs == huge.logabs


def test_image_is_read_where_its_inverse_does_not_follow() -> None:
    cube, root = cube_and_root()
    x = from_linear(jnp.array(X))
    np.testing.assert_allclose(linear(quaxify(cube)(x)), [0.0, 8.0, -27.0])
    np.testing.assert_allclose(linear(quaxify(lambda x: cube(x) + x)(x)), [0.0, 10.0, -30.0])
    np.testing.assert_allclose(linear(quaxify(lambda x: cube(cube(x)))(x)), [0.0, 512.0, -19683.0])
    np.testing.assert_allclose(linear(quaxify(lambda x: jnp.exp(cube(x)))(x)), np.exp([0, 8, -27]))


def test_image_in_control_flow() -> None:
    cube, root = cube_and_root()
    x = from_linear(jnp.array(X))

    def scanned(x: Any) -> Any:
        return jax.lax.scan(lambda c, _: (cube(c), None), root(x), None, length=1)[0]

    def branched(x: Any) -> Any:
        return jax.lax.cond(True, cube, lambda x: x, x)

    def nested(x: Any) -> Any:
        return jax.jit(root)(jax.checkpoint(jax.jit(cube))(x))

    for fn, want in ((scanned, X), (branched, [0.0, 8.0, -27.0]), (nested, X)):
        np.testing.assert_allclose(linear(jax.jit(quaxify(fn))(x)), want, rtol=1e-14)
    for fn in (
        jax.vmap(quaxify(lambda x: root(cube(x)))),
        quaxify(jax.vmap(lambda x: root(cube(x)))),
    ):
        assert np.array_equal(linear(fn(x)), X)


def test_domain_on_log_arrays() -> None:
    square, root = inverse_pair(jnp.square, jnp.sqrt, domain=(0, jnp.inf))
    x = from_linear(jnp.array(X))
    assert np.array_equal(linear(quaxify(lambda x: root(square(x)))(x)), [0.0, 2.0, 3.0])
    out = linear(quaxify(lambda x: square(root(x)))(x))
    assert np.array_equal(out, [0.0, 2.0, np.nan], equal_nan=True)

    def total(a: Any) -> Any:
        return linear(quaxify(lambda x: jnp.sum(root(square(x))))(from_linear(a)))

    assert np.array_equal(jax.grad(total)(jnp.array(X)), [1.0, 1.0, -1.0])


def test_a_function_without_a_rule() -> None:
    f, g = inverse_pair(jax.scipy.special.erf, jax.scipy.special.erfinv, domain=(-3.0, 3.0))
    halves = inverse_pair(lambda x: jnp.fft.fft(x).real * 0 + x, lambda x: x)
    x = from_linear(jnp.array([0.5]))
    # where it cancels, it need not be computed
    assert np.array_equal(linear(quaxify(lambda x: halves[1](halves[0](x)))(x)), [0.5])
    with pytest.raises(MaterialiseError, match="fft"):
        quaxify(halves[0])(x)
    allowed = quaxify(lambda x: g(f(x)), on_materialise="allow")
    assert np.array_equal(linear(allowed(x)), [0.5])
