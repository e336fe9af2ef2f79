"""Fractional multiples of complex logarithms take the branch of plain JAX, or raise; never another."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls

Z, W = -1 + 0.5j, -1.5 + 0.6j  # whose phases add up to more than pi

PROGRAMS: dict[str, Any] = {
    "multiple of a sum": lambda z, w: jnp.exp(0.5 * (jnp.log(z) + jnp.log(w))),
    "multiple of a difference": lambda z, w: jnp.exp(0.3 * (jnp.log(z) - jnp.log(1 / w))),
    "multiple of a multiple": lambda z, w: jnp.exp(0.5 * (3 * jnp.log(z))),
    "logarithm of a product": lambda z, w: jnp.exp(0.5 * jnp.log(z * w)),
    "logarithm of a square": lambda z, w: jnp.exp(0.5 * jnp.log(z * z)),
    "logarithm of a power": lambda z, w: jnp.exp(jnp.log(z**3) / 3),
    "logarithm of an exponential": lambda z, w: jnp.exp(0.5 * jnp.log(jnp.exp(4j + z))),
    "imaginary multiple": lambda z, w: jnp.exp(1j * jnp.log(z * z)),
    "sum along an axis": lambda z, w: jnp.exp(0.5 * jnp.sum(jnp.log(jnp.stack([z, w, z])))),
    "sum of multiples": lambda z, w: jnp.exp(0.5 * jnp.log(z) + 0.5 * jnp.log(w)),
    "whole multiple": lambda z, w: jnp.exp(2 * (jnp.log(z) + jnp.log(w))),
}
NOT_KNOWN = {
    "multiple of a sum",
    "multiple of a difference",
    "multiple of a multiple",
    "sum along an axis",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_logify(name: str) -> None:
    fn, z, w = PROGRAMS[name], jnp.asarray(Z), jnp.asarray(W)
    np.testing.assert_allclose(ls.logify(fn)(z, w), fn(z, w), rtol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_quaxify(name: str) -> None:
    fn, z, w = PROGRAMS[name], ls.from_linear(Z), ls.from_linear(W)
    if name in NOT_KNOWN:
        with pytest.raises(ls.MaterialiseError, match="modulo 2 pi i"):
            ls.quaxify(fn)(z, w)
    else:
        found = ls.quaxify(fn)(z, w).to_linear()
        np.testing.assert_allclose(found, fn(jnp.asarray(Z), jnp.asarray(W)), rtol=1e-12)


def test_real_logarithms_have_no_branches() -> None:
    fn = PROGRAMS["multiple of a sum"]
    found = ls.quaxify(fn)(ls.from_linear(2.0), ls.from_linear(8.0))
    np.testing.assert_allclose(found.to_linear(), 4.0)


def test_loops_that_carry_complex_logarithms() -> None:
    def product(z: Any) -> Any:
        def step(log: Any, x: Any) -> Any:
            return log + jnp.log(x), log

        total, _ = jax.lax.scan(step, jnp.log(z[0]), z[1:])
        return jnp.exp(total)

    z = jnp.array([Z, W, Z * W, 2j])
    found = ls.quaxify(product)(ls.from_linear(z)).to_linear()
    np.testing.assert_allclose(found, jnp.prod(z), rtol=1e-12)
