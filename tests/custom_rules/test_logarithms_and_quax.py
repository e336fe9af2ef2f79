"""Functions with rules on logarithms that wait, and under plain `quax.quaxify`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quax

import logspace as ls

from .rules_of_users import (
    POINTS,
    assert_same_in_all_modes,
    biased_product,
    fwd,
    kinked,
    linear,
    rev,
    reverse_only,
    wrong_cube,
)

# ----------------------------------------------------------------------------------------- Log


def test_logaddexp_of_logs_stays_in_log_space():
    def f(x, y):
        out = jnp.logaddexp(jnp.log(x), jnp.log(y))
        return jnp.exp(out)

    def g(a, b):
        return linear(ls.quaxify(f)(ls.from_linear(a), ls.from_linear(b)))

    # exact at zeros, where plain JAX gives nan
    assert g(0.0, 0.0) == 0.0
    for derive in (jax.grad, jax.jacfwd):
        np.testing.assert_array_equal(derive(g, (0, 1))(0.0, 0.0), (1.0, 1.0))
        np.testing.assert_array_equal(derive(g, (0, 1))(0.0, 2.0), (1.0, 1.0))
    jitted = lambda a, b: linear(  # noqa: E731
        ls.quaxify(jax.jit(f))(ls.from_linear(a), ls.from_linear(b))
    )
    assert jax.jit(jax.grad(jitted))(0.0, 2.0) == 1.0


def test_logaddexp_recognition_is_by_the_name_in_jax():
    """If JAX moves or renames the function, logaddexp of Logs would silently read plain values."""
    x = ls.from_linear(jnp.array([1.0, 0.0]))
    out = ls.quaxify(lambda x: jnp.logaddexp(jnp.log(x), 0.5))(x)
    assert isinstance(out, ls.Log), "see _LIBRARY in logspace/_quaxify/custom_rules.py"
    np.testing.assert_allclose(out.materialise(), np.logaddexp(np.log([1.0, 1e-300]), 0.5))

    @jax.custom_jvp
    def logaddexp(x, y):
        return x * y

    logaddexp.defjvps(lambda t, out, x, y: t, None)
    out = ls.quaxify(lambda x: logaddexp(jnp.log(x), 0.5))(x)
    np.testing.assert_array_equal(out, [0.0, -np.inf])


def test_other_custom_functions_read_the_plain_value_of_a_log():
    f = lambda x: wrong_cube(jnp.log(x))  # noqa: E731
    assert_same_in_all_modes(f, jnp.array([0.5, 2.5]), modes=reverse_only)


# --------------------------------------------------------------------------------- plain quax


def test_plain_quax_gives_the_value_and_refuses_to_differentiate():
    f = lambda a: quax.quaxify(kinked)(ls.from_linear(a), ls.from_linear(a)).to_linear()  # noqa: E731
    np.testing.assert_array_equal(f(POINTS), kinked(POINTS, POINTS))
    for derive in (fwd, rev, lambda h: jax.jit(rev(h)), lambda h: fwd(rev(h))):
        with pytest.raises(TypeError):
            derive(f)(POINTS)


def test_plain_quax_refuses_custom_vjp():
    with pytest.raises(NotImplementedError, match="custom_vjp"):
        quax.quaxify(biased_product)(ls.from_linear(POINTS), POINTS)
