"""Fractional multiples of complex logarithms take the branch of plain JAX, or raise; never another."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

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


LOOPS: dict[str, Any] = {
    "scan": lambda z: lax.scan(lambda c, x: (c + jnp.log(x), None), jnp.log(z[0]), z[1:])[0],
    "scan, from a plain zero": lambda z: lax.scan(
        lambda c, x: (c + jnp.log(x), None), jnp.zeros_like(z[0]), z
    )[0],
    "results of a scan": lambda z: lax.scan(lambda c, x: (c + jnp.log(x), c), jnp.log(z[0]), z[1:])[
        1
    ],
    "fori_loop": lambda z: lax.fori_loop(1, 4, lambda i, c: c + jnp.log(z[i]), jnp.log(z[0])),
    "while_loop": lambda z: lax.while_loop(
        lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] + jnp.log(z[s[0]])), (1, jnp.log(z[0]))
    )[1],
    "cond": lambda z: lax.cond(
        z[0].real < 0, lambda c: c + jnp.log(z[1]), lambda c: c, jnp.log(z[0])
    ),
    "checkpoint": lambda z: jax.checkpoint(lambda c: c + jnp.log(z[1]))(jnp.log(z[0])),
}
READINGS = {
    "the logarithm": lambda c: c,
    "the exponential of a half": lambda c: jnp.exp(0.5 * c),
    "the exponential": jnp.exp,
}


@pytest.mark.parametrize("name", LOOPS)
def test_logarithms_that_cross_a_border_keep_their_branch(name: str) -> None:
    z, direction = jnp.array([Z, W, Z * W, 2j]), jnp.array([1, 1j, -1, 2 + 1j])

    def of(transform: Any) -> Any:
        def each_reading(z: Any) -> Any:
            return [transform(lambda z, r=r: r(LOOPS[name](z)))(z) for r in READINGS.values()]

        batch = jnp.stack([z, z[::-1]])
        value, change = jax.jit(lambda z: jax.jvp(each_reading, (z,), (direction,)))(z)
        return value, change, jax.jit(jax.vmap(each_reading))(batch)

    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)  # noqa: E731
    jax.tree.map(close, of(ls.logify), of(lambda f: f))


@pytest.mark.parametrize("name", LOOPS)
def test_such_logarithms_are_exact_at_zero(name: str) -> None:
    z = jnp.array([Z, 0, Z * W, 2j])
    if name == "results of a scan":
        expected = jax.jacobian(lambda z: jnp.cumprod(z)[:-1], holomorphic=True)(z)
    else:
        product = (lambda z: z[0] * z[1]) if name in ("cond", "checkpoint") else jnp.prod
        expected = jax.jacfwd(product, holomorphic=True)(z)
    jacobian = jax.jacfwd if name == "while_loop" else jax.jacrev
    fn = ls.logify(lambda z: jnp.exp(LOOPS[name](z)))
    found = jax.jit(jacobian(fn, holomorphic=True))(z)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_loops_that_carry_complex_logarithms() -> None:
    def product(z: Any) -> Any:
        def step(log: Any, x: Any) -> Any:
            return log + jnp.log(x), log

        total, _ = jax.lax.scan(step, jnp.log(z[0]), z[1:])
        return jnp.exp(total)

    z = jnp.array([Z, W, Z * W, 2j])
    found = ls.quaxify(product)(ls.from_linear(z)).to_linear()
    np.testing.assert_allclose(found, jnp.prod(z), rtol=1e-12)
