"""Rules of users beyond the range of floats."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
from logspace._log_array import wrap
from logspace._numerics import Scaled

from .rules_of_users import POINTS, fwd, linear, norm, number, rev, wrong_cube

# ------------------------------------------------------------------------- beyond floating point


@pytest.mark.parametrize("scale", [5000, -5000])
def test_relu_at_a_scale_that_no_float_has(scale):
    def f(a):
        return (
            ls.quaxify(jax.nn.relu)(number(a, scale=scale)) / number(1.0, scale=scale)
        ).to_linear()

    value, reverse, forward = jax.jit(lambda a: (f(a), rev(f)(a), fwd(f)(a)))(POINTS)
    np.testing.assert_array_equal(value, [1.25, 0, 0, 2.5])
    np.testing.assert_array_equal(reverse, [1, 0, 0, 1])
    np.testing.assert_array_equal(forward, [1, 0, 0, 1])


@pytest.mark.parametrize("derive", [rev, fwd])
def test_a_wrong_rule_is_honoured_at_any_scale(derive):
    def f(a):
        cubed = ls.quaxify(wrong_cube)(number(a, scale=1200))
        return (cubed / number(1.0, scale=3600)).to_linear()

    first, forward, reverse = jax.jit(
        lambda a: (derive(f)(a), fwd(derive(f))(a), rev(derive(f))(a))
    )(POINTS)
    np.testing.assert_allclose(first, 15 * POINTS**2, rtol=1e-14)
    np.testing.assert_allclose(forward, 30 * POINTS, rtol=1e-14)
    np.testing.assert_allclose(reverse, 30 * POINTS, rtol=1e-14)


def test_tangents_of_far_apart_scales_do_not_bury_each_other():
    @jax.custom_jvp
    def f(x, y):
        return x + y

    f.defjvps(lambda t, out, x, y: t, lambda t, out, x, y: t)

    def g(a, b):
        """(a 2**4000 + b - a 2**4000): the large terms cancel exactly."""
        total = ls.quaxify(f)(number(a, scale=4000), ls.from_linear(b))
        return (total - number(a, scale=4000)).to_linear()

    value, (da, db) = jax.value_and_grad(g, (0, 1))(0.0, 2.0)
    # a = 0 at scale 2**4000 is dead: the value is b, and the derivative in b is 1
    assert value == 2.0 and db == 1.0
    assert not np.isfinite(da) or da == 0.0


def test_sums_and_products_in_rules_keep_small_scales():
    """sum_i x_i**2 at scales 2**3000, 1, 2**-3000: each derivative at its own scale."""

    @jax.custom_jvp
    def f(x):
        return jnp.sum(x * x)

    @f.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), 2 * jnp.sum(x * t)

    scales = np.array([3000, 0, -3000])

    def g(a, i):
        out = ls.quaxify(f)(wrap(Scaled(a, jnp.asarray(scales, jnp.int32))))
        return (out / number(1.0, scale=2 * int(scales[i]))).to_linear()

    # measured against the largest, its own derivative is right and the others are negligible
    np.testing.assert_array_equal(jax.grad(g)(jnp.ones(3), 0), [2.0, 0.0, 0.0])
    # with the larger ones absent (zero), the next one counts
    np.testing.assert_array_equal(
        jax.jvp(lambda a: g(a, 0), (jnp.ones(3),), (jnp.eye(3)[0],))[1], 2.0
    )


@pytest.mark.parametrize("lift_x, lift_m", [(True, True), (True, False), (False, True)])
def test_contractions_in_rules(lift_x, lift_m):
    matrix = jnp.arange(12.0).reshape(3, 4) / 7 - 0.6

    @jax.custom_jvp
    def f(x, m):
        return m @ x

    @f.defjvp
    def _(primals, tangents):
        (x, m), (dx, dm) = primals, tangents
        return f(x, m), 3 * (m @ dx) + dm @ x

    def plain(x, m):
        return jnp.sum(f(x, m) ** 2)

    def derivatives(h):
        def run(x, m):
            return jax.grad(h, (0, 1))(x, m), fwd(lambda x: jax.grad(h)(x, m))(x)

        return jax.tree.leaves(jax.jit(run)(POINTS, matrix))

    def lifted(x, m):
        x = number(x, 11) if lift_x else x
        m = number(m, -7) if lift_m else m
        return linear(ls.quaxify(plain)(x, m))

    for a, b in zip(derivatives(lifted), derivatives(plain), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_a_norm_with_its_usual_rule():
    f = lambda a: (ls.quaxify(norm)(number(a, scale=2000)) / number(1.0, scale=2000)).to_linear()  # noqa: E731
    np.testing.assert_allclose(jax.grad(f)(POINTS), POINTS / norm(POINTS), rtol=1e-14)
