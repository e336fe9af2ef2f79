"""Law 5: derivatives that exist are found, at zeros of any scale and through whole expressions.

No nan, no infinity and no wrong finite number where the true derivative is finite and can be
represented.
"""

import itertools
import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from jax import lax

import logspace as ls
import logspace.numpy as lnp

from .checks import eps_of

X64 = jax.config.jax_enable_x64
DTYPES = ["float64", "float32"] if X64 else ["float32"]
KINDS = [*DTYPES, *(["complex128"] if X64 else []), "complex64"]


def modes(function):
    """First derivatives by both modes, second ones by all four, of a function of one scalar."""
    g = jax.grad(function)
    forward = lambda t: jax.jvp(function, (t,), (jnp.ones_like(t),))[1]  # noqa: E731
    yield 1, g
    yield 1, forward
    for outer, inner in itertools.product((jax.grad, _forward), (g, forward)):
        yield 2, outer(inner)


def _forward(function):
    return lambda t: jax.jvp(function, (t,), (jnp.ones_like(t),))[1]


#: f(t) with its first and second derivative at t, all through zeros or exact cancellation.
RECIPES = {
    "exp(log(a - b)) at a = b": (lambda t: jnp.exp(jnp.log(t - 1)), 1.0, 1, 0),
    "(a - b)**2": (lambda t: (t - 1) ** 2, 1.0, 0, 2),
    "product with a zero": (lambda t: (t - 1) * (t + 2), 1.0, 3, 2),
    "product of two zeros": (lambda t: (t - 1) * (2 * t - 2), 1.0, 0, 4),
    "quotient": (lambda t: (t - 1) / (t + 1), 1.0, 0.5, -0.5),
    "sum that cancels": (lambda t: jnp.sum(jnp.stack([t, t * t, -2 * t])), 1.0, 1, 2),
    "prod with two zeros": (
        lambda t: jnp.prod(jnp.stack([t - 1, t + 1, t * t - 1])), 1.0, 0, 8
    ),
    "cumulative product": (lambda t: jnp.cumprod(jnp.stack([t - 1, t, t]))[2], 1.0, 1, 4),
    "x**p at 0": (lambda t: lax.pow(t, jnp.array(2, t.dtype)), 0.0, 0, 2),
    "x**1. at 0": (lambda t: lax.pow(t, jnp.array(1, t.dtype)), 0.0, 1, 0),
    "x**0. at 0": (lambda t: lax.pow(t, jnp.array(0, t.dtype)), 0.0, 0, 0),
    "sqrt of a square": (lambda t: jnp.sqrt((1 + t) ** 2), 0.0, 1, 0),
    "dot": (lambda t: jnp.dot(jnp.stack([t, -t]), jnp.stack([t, t + 1])), 0.0, -1, 0),
    "dot of zeros": (lambda t: jnp.dot(jnp.stack([t, t]), jnp.stack([t, 2 * t])), 0.0, 0, 6),
    "expm1": (jnp.expm1, 0.0, 1, 1),
    "log of a sum of exps": (lambda t: jnp.exp(jnp.log(jnp.exp(t) + 1)), 0.0, 1, 1),
    "max at a tie": (lambda t: jnp.maximum(t, 2 * t), 0.0, 1.5, 0),
    "determinant by hand": (lambda t: t * t - (1 + t - 1) * t * 1, 1.0, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes(recipe, dtype):
    function, point, first, second = RECIPES[recipe]

    def through_numbers(t):
        out = ls.quaxify(function)(ls.from_linear(t))
        return out.to_linear()

    t = jnp.array(point, dtype)
    for order, derivative in modes(through_numbers):
        want = (None, first, second)[order]
        np.testing.assert_allclose(derivative(t), want, rtol=1e3 * eps_of(dtype), atol=1e-12)


# ------------------------------------------------------------------------ scales far apart


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("scale", [3000.0, -3000.0, 700.0])
def test_a_zero_of_any_scale_next_to_one(dtype, scale):
    """0 * e^scale + 1: the value is 1, and a derivative in the live term is untouched."""
    one = jnp.ones((), dtype)

    def function(w, x):
        return ls.from_linear(w) * ls.exp(jnp.asarray(scale, one.real.dtype)) + ls.from_linear(x)

    zero = jnp.zeros_like(one)
    assert function(zero, one).to_linear() == 1
    in_x = ls.grad(lambda x: function(zero, x), holomorphic=one.dtype.kind == "c")(one)
    assert in_x.to_linear() == 1
    in_w = ls.jvp(lambda w: function(w, one), (zero,), (one,))[1]
    if scale < 0:
        # measured against the result, which is 1, it underflows
        assert in_w == 0
    elif dtype in ("float64", "complex128") and scale < 900:
        # the derivative e^scale is a number like any other
        np.testing.assert_allclose(in_w.logabs, scale, rtol=1e-6)
    else:
        # beyond the window it may be infinite, never finite and wrong
        assert np.isposinf(in_w.logabs) or abs(in_w.logabs - scale) < 1e-3


GAPS = {"float64": (10, 300, 700, 900), "float32": (10, 60, 100)}


@pytest.mark.parametrize("dtype, gap", [(d, g) for d in DTYPES for g in GAPS[d]])
def test_a_coefficient_that_starts_at_zero(dtype, gap):
    """c e^gap + 1 at c = 0: value 1, derivative e^gap, and its square and cube have theirs."""

    def function(power):
        def of(c):
            x = ls.from_linear(c) * ls.exp(jnp.array(gap, dtype)) + 1.0
            return lnp.prod(lnp.stack([x] * power))

        return of

    zero = jnp.zeros((), dtype)
    with mpmath.workprec(100):
        for power in (1, 2, 3):
            assert function(power)(zero).to_linear() == 1
            slope = ls.grad(function(power))(zero)
            want = gap + math.log(power)
            np.testing.assert_allclose(slope.logabs, want, rtol=4 * eps_of(dtype))
            assert slope.sign == 1
            forward = ls.jvp(function(power), (zero,), (jnp.ones((), dtype),))[1]
            np.testing.assert_allclose(forward.logabs, want, rtol=4 * eps_of(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_second_derivative_across_a_gap(dtype):
    """(c e^gap + 1)**2 has the second derivative 2 e^(2 gap)."""
    gap = {"float64": 300, "float32": 30}[dtype]

    def function(c):
        return (ls.from_linear(c) * ls.exp(jnp.array(gap, dtype)) + 1.0) ** 2

    second = ls.hessian(function)(jnp.zeros((), dtype))
    np.testing.assert_allclose(second.logabs, 2 * gap + math.log(2), rtol=1e-5)


@pytest.mark.parametrize(
    "dtype",
    [pytest.param(k, marks=[] if k == DTYPES[0] else pytest.mark.full) for k in KINDS],
)
def test_a_product_of_many_small_numbers(dtype):
    """0.3**20000 and its gradient: each component is the product of the others."""
    n = 20_000
    x = jnp.full(n, 0.3, dtype)
    value, gradient = ls.value_and_grad(
        lambda x: lnp.prod(ls.from_linear(x)), holomorphic=x.dtype.kind == "c"
    )(x)
    with mpmath.workprec(200):
        third = mpmath.mpf(float(np.real(x[0])))
        want = float(mpmath.log(third) * n)
        slope = float(mpmath.log(third) * (n - 1))
    np.testing.assert_allclose(value.logabs, want, rtol=8 * eps_of(dtype))
    np.testing.assert_allclose(gradient.logabs, slope, rtol=8 * eps_of(dtype))


@pytest.mark.parametrize("dtype", KINDS)
def test_cancelling_terms_of_enormous_scale(dtype):
    """e^1000 - e^1000 + e^-5: exactly the small term, with the derivatives of all three."""
    real = jnp.zeros((), dtype).real.dtype
    logs = jnp.array([1000.0, 1000.0, 996.0], real)
    signs = jnp.array([1, -1, 1], dtype)

    def function(s):
        return lnp.sum(ls.LogArray(s, logs))

    total = function(signs)
    np.testing.assert_allclose(total.logabs, 996.0, rtol=4 * eps_of(dtype))
    gradient = ls.grad(function, holomorphic=signs.dtype.kind == "c")(signs)
    np.testing.assert_allclose(gradient.logabs, logs, rtol=4 * eps_of(dtype))


# ------------------------------------------------------------------------------ exact zeros


@pytest.mark.parametrize(
    "dtype, exponent",
    [
        pytest.param(k, e, marks=[] if (i % 2 == 0) == (e == 0) else pytest.mark.full)
        for i, k in enumerate(KINDS)
        for e in (0, 1443)
    ],
)
def test_integers_that_cancel_give_exactly_zero(dtype, exponent, rng):
    """a + b + c + d - (a + b + c + d) = 0 in every case, at scale 1 and at 2^1443 = e^1000.2."""
    n = 5000
    integers = rng.integers(-1000, 1001, (4, n)).astype(dtype)
    if np.iscomplexobj(integers):
        integers = integers + 1j * rng.integers(-1000, 1001, (4, n))

    @jax.jit
    def function(integers):
        two = ls.from_linear(jnp.asarray(2, integers.real.dtype))
        scale = two**exponent
        a, b, c, d = (ls.from_linear(row) * scale for row in integers)
        one_way = a + b + c + d - (a + b + c + d)
        other_way = a + b + c + d - ((d + a) + (c + b))
        along_axis = lnp.sum(lnp.stack([a, b, c, d, -d, -b, -a, -c]), axis=0)
        return [x == 0 for x in (one_way, other_way, along_axis)]

    for found in function(jnp.asarray(integers, dtype)):
        assert np.all(found)


@pytest.mark.parametrize("dtype", KINDS)
def test_a_nan_that_came_in_is_not_hidden(dtype):
    x = ls.from_linear(jnp.array([1.0, np.nan, 0.0], dtype))
    for result in (lnp.sum(x), lnp.prod(x), x * 0, x + 1, x / x, lnp.dot(x, x), lnp.cumsum(x)[-1]):
        assert np.isnan(result.to_linear()).any()

    def function(v):
        return lnp.sum(ls.from_linear(v) * jnp.array([1.0, np.nan, 1.0], dtype))

    holomorphic = x.dtype.kind == "c"
    gradient = ls.grad(function, holomorphic=holomorphic)(jnp.zeros(3, dtype)).to_linear()
    np.testing.assert_array_equal(np.isnan(gradient), [False, True, False])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_zero_of_the_smallest_scale(dtype):
    """c e^-3000 + 1 at c = 0: the derivative underflows as a float, and is right as a number."""

    def function(c):
        return ls.from_linear(c) * ls.exp(jnp.array(-3000.0, dtype)) + 1.0

    zero = jnp.zeros((), dtype)
    assert jax.grad(lambda c: function(c).to_linear())(zero) == 0
    alone = ls.grad(lambda c: ls.from_linear(c) * ls.exp(jnp.array(-3000.0, dtype)))(zero)
    np.testing.assert_allclose(alone.logabs, -3000, rtol=1e-6)
