"""Derivatives behind a pole: not known, and so nan, as in plain JAX; never a wrong number."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from logspace import _numerics as num
from logspace._numerics import Scaled


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("exponent", [0, 3000, -3000])
def test_the_reciprocal_of_a_reciprocal_at_zero(dtype, exponent):
    zero, one = jnp.zeros((), dtype), jnp.ones((), dtype)

    @jax.jit
    def both(s):
        def f(s):
            return num.reciprocal(num.reciprocal(Scaled(s, jnp.int32(exponent)))).significand

        value, tangent = jax.jvp(f, (s,), (one,))
        return value, tangent, jax.vjp(f, s)[1](one)[0]

    value, *derivatives = both(zero)
    if dtype == np.float32:  # 1 / (infinity of unknown phase) is nan in complex arithmetic
        assert value == 0
    assert all(np.isnan(d) for d in derivatives)


def test_a_quotient_by_an_infinity_that_does_not_move():
    infinity = jnp.full((), np.inf)

    def f(s):
        return num.divide(Scaled(s, jnp.int32(0)), num.from_linear(infinity)).significand

    assert jax.grad(f)(2.0) == 0
    assert jax.jvp(lambda b: num.divide(num.from_linear(jnp.ones(())), num.from_linear(b)).significand,
                   (infinity,), (jnp.ones(()),))[1] == 0  # fmt: skip
