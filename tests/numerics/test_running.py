"""Running results, in blocks and as trees, and long chains of matrix products."""

import math
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import logspace as ls
import logspace.numpy as lnp
from logspace._log_array import unwrap, wrap
from logspace._numerics import Scaled

EPS = float(jnp.finfo(jnp.zeros(()).dtype).eps)  # of the default dtype
BITS = 30 if EPS < 1e-10 else 9


def spread(n: int, seed: int, reach: int) -> tuple[Any, list[Fraction]]:
    """n numbers over 2**+-reach, some zero and some that cancel; and the same as fractions."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=n)
    s[rng.random(n) < 0.2] = 0
    e = rng.integers(-reach, reach + 1, n)
    if n > 2:
        s[2], e[2] = -s[1], e[1]
    s = np.asarray(jnp.asarray(s))  # in the default dtype
    exact = [Fraction(float(a)) * Fraction(2) ** int(k) for a, k in zip(s, e, strict=True)]
    return wrap(Scaled(jnp.asarray(s), jnp.asarray(e, jnp.int32))), exact


def as_fractions(x: Any) -> list[Fraction]:
    s, e = unwrap(x)
    return [
        Fraction(float(a)) * Fraction(2) ** int(k)
        for a, k in zip(np.ravel(s), np.ravel(e), strict=True)
    ]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 8, 9, pytest.param(64, marks=pytest.mark.full), 65, 200])
def test_running_sums_are_exact_relative_to_their_own_terms(n: int, reverse: bool) -> None:
    x, exact = spread(n, n, 4000)
    f = jax.jit(ls.quaxify(lambda x: lax.cumsum(x, reverse=reverse)))
    found = as_fractions(f(x))
    if reverse:
        found, exact = found[::-1], exact[::-1]
    total, size = Fraction(0), Fraction(0)
    for got, term in zip(found, exact, strict=True):
        total, size = total + term, size + abs(term)
        assert abs(got - total) <= Fraction(n * EPS / 2) * size


@pytest.mark.parametrize("n", [5, 70, pytest.param(5000, marks=pytest.mark.full)])
def test_running_sums_of_integers_are_exact(n: int) -> None:
    a = np.random.default_rng(n).integers(-(2**BITS), 2**BITS, n).astype(float)
    b = np.stack([a, -a, 2 * a])
    np.testing.assert_array_equal(lnp.cumsum(ls.from_linear(b), axis=1).to_linear(), b.cumsum(1))


@pytest.mark.parametrize("f", [jnp.cumsum, jnp.cumprod, lax.cummax], ids=lambda f: f.__name__)
def test_derivatives_of_running_results(f: Any) -> None:
    """Beside a zero and a tie, in both modes, for a number of elements that fills no block."""
    a = np.random.default_rng(0).normal(size=70) / 4 + 1
    a[30], a[50] = 0.0, a[49]
    if f is lax.cummax:
        a = np.delete(a, 50)  # at a tie any of the two is a derivative
    weights = jnp.cos(jnp.arange(len(a)))

    def through(f: Any, read: Any, make: Any) -> Any:
        total = lambda a: jnp.sum(weights * read(f(make(a))))  # noqa: E731
        direction = jnp.sin(jnp.arange(len(a)) + 1.0)
        return jax.jit(
            lambda a: (jax.grad(total)(a), jax.jvp(jax.grad(total), (a,), (direction,))[1])
        )(jnp.asarray(a))

    ours = through(ls.quaxify(f), lambda x: x.to_linear(), ls.from_linear)
    plain = through(f, lambda x: x, lambda x: x)
    for got, expected in zip(ours, plain, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e4 * EPS, atol=1e4 * EPS)


def test_lyapunov_exponent_of_random_matrices() -> None:
    """The largest one of normal d x d matrices is (log 2 + digamma(d / 2)) / 2: Newman 1986."""
    side, steps = 4, 20_000
    a = jax.random.normal(jax.random.key(3), (steps, side, side))

    @jax.jit
    def product(a: Any) -> Any:
        start = ls.from_linear(jnp.eye(side))
        return lax.scan(lambda c, step: (c @ step, None), start, ls.from_linear(a))[0]

    exponent = product(a).logabs.max() / steps
    digamma_of_two = 1 - np.euler_gamma
    # log |v a| of a unit vector v is half the log of a chi-squared variable: variance trigamma(2) / 4
    error = math.sqrt((math.pi**2 / 6 - 1) / 4 / steps)
    assert abs(exponent - (math.log(2) + digamma_of_two) / 2) < 4 * error


@pytest.mark.full
def test_a_chain_one_by_one_and_as_a_tree() -> None:
    side, steps = 8, 600
    a = jax.random.normal(jax.random.key(4), (steps, side, side))

    @jax.jit
    def products(a: Any) -> tuple[Any, Any]:
        x = ls.from_linear(a)
        one_by_one = lax.scan(lambda c, step: (c @ step, None), x[0], x[1:])[0]
        while len(x) > 1:
            x = (
                x[::2] @ x[1::2]
                if len(x) % 2 == 0
                else lnp.concatenate([x[:-1:2] @ x[1::2], x[-1:]])
            )
        return one_by_one, x[0]

    one_by_one, tree = products(a)
    assert float(tree.logabs.max()) > 400
    ratio = (one_by_one / tree).to_linear()
    # an entry of the product has the error of the largest one of its matrix
    size = (tree / lnp.max(abs(tree))).to_linear()
    np.testing.assert_allclose((ratio - 1) * size, 0, atol=1e4 * EPS)
