"""Real with complex operands, which JAX combines by components from 0.12.1 on."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import logspace as ls

DIRECTION, R, PHASE = 1 + 2j, 2.0, np.array(0.3)

#: Programs of z = DIRECTION * t and x = 3 t for real t, and what they are.
PROGRAMS: dict[str, tuple[Any, Any]] = {
    "multiple": (lambda z, x: jnp.exp(R * jnp.log(z)), lambda z, x: z**2),
    "multiple by an array": (
        lambda z, x: jnp.exp(jnp.full(z.shape, R) * jnp.log(z)),
        lambda z, x: z**2,
    ),
    "quotient": (lambda z, x: jnp.exp(jnp.log(z) / 0.5), lambda z, x: z**2),
    "shift": (lambda z, x: jnp.exp(jnp.log(z) + 700.0), lambda z, x: z * np.exp(700.0)),
    "shift to the left": (lambda z, x: jnp.exp(700.0 + jnp.log(z)), lambda z, x: z * np.exp(700.0)),
    "shift back": (lambda z, x: jnp.exp(jnp.log(z) - 700.0), lambda z, x: z * np.exp(-700.0)),
    "with a real logarithm": (lambda z, x: jnp.exp(jnp.log(z) + jnp.log(x)), lambda z, x: z * x),
    "real logarithm first": (lambda z, x: jnp.exp(jnp.log(x) + jnp.log(z)), lambda z, x: z * x),
    "difference": (lambda z, x: jnp.exp(2 * jnp.log(z) - jnp.log(x)), lambda z, x: z**2 / x),
    "phase": (
        lambda z, x: jnp.exp(jnp.log(x) + 1j * PHASE),
        lambda z, x: x * np.exp(1j * PHASE),
    ),
    "in a jitted function": (
        lambda z, x: jnp.exp(jax.jit(lambda c: R * jnp.log(c))(z)),
        lambda z, x: z**2,
    ),
    "in a loop": (
        lambda z, x: jnp.exp(lax.fori_loop(0, 3, lambda i, c: c + jnp.log(x), jnp.log(z))),
        lambda z, x: z * x**3,
    ),
    "batched": (lambda z, x: jnp.exp(jax.vmap(lambda c: R * jnp.log(c))(z)), lambda z, x: z**2),
    "modulus": (lambda z, x: jnp.exp(R * jnp.log(z).real), lambda z, x: z * jnp.conj(z)),
    "times a real number": (lambda z, x: x * z * 3.0, lambda z, x: 3 * x * z),
    "plus a real number": (lambda z, x: (z + x) - 2.0 + (2.0 - z), lambda z, x: x + 0 * z),
}
POINTS = np.array([0.0, 0.7, 0.0, 2.0])
#: Of the programs that are not singular at 0, where the derivatives are those of `exact`.
REGULAR = [name for name in PROGRAMS if name not in ("difference", "modulus")]


def _operands(t: Any) -> tuple[Any, Any]:
    return t * jnp.asarray(DIRECTION), 3 * t


def _derivatives(program: Any, t: Any) -> tuple[Any, Any, Any]:
    """Of real and imaginary part: value, forward mode, and forward over reverse along ones."""

    def parts(t: Any) -> Any:
        out = program(t)
        return jnp.stack([out.real, jnp.imag(out)])

    weights = jnp.array([[1.0], [0.5]])
    one = jnp.ones_like(t)
    value, first = jax.jvp(parts, (t,), (one,))
    gradient = jax.grad(lambda t: (weights * parts(t)).sum())
    return value, first, jax.jvp(gradient, (t,), (one,))[1]


def _by_quaxify(fn: Any) -> Any:
    def program(t: Any) -> Any:
        z, x = _operands(t)
        return ls.quaxify(fn)(ls.from_linear(z), ls.from_linear(x)).to_linear()

    return program


def _by_logify(fn: Any) -> Any:
    return lambda t: ls.logify(fn)(*_operands(t))


@pytest.mark.parametrize("way", [_by_quaxify, _by_logify])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, way: Any) -> None:
    fn, exact = PROGRAMS[name]
    t = jnp.asarray(POINTS) if name in REGULAR else jnp.asarray(POINTS[POINTS != 0])
    found = jax.jit(lambda t: _derivatives(way(fn), t))(t)
    expected = _derivatives(lambda t: exact(*_operands(t)), t)
    scale = np.abs(expected[0]).max()
    for mine, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-12, atol=1e-12 * scale)
