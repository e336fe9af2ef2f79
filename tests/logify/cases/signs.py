"""Negative and complex amplitudes."""

import jax.numpy as jnp

from .case import case

# signs and phases

case(
    "sign", "negative amplitude", lambda x: jnp.exp(jnp.log(x[0] + 0j)).real, lambda x: x[0], [-2.0]
)
case(
    "sign",
    "complex node",
    lambda x: jnp.exp(jnp.log(x[0] - x[1] + 0j)).real,
    lambda x: x[0] - x[1],
    [1.0, 1.0],
)
case(
    "sign",
    "modulus squared",
    lambda x: jnp.exp(2 * jnp.log(x[0] - x[1] + 0j).real),
    lambda x: (x[0] - x[1]) ** 2,
    [1.0, 1.0],
)
case(
    "sign",
    "abs of exp squared",
    lambda x: jnp.abs(jnp.exp(jnp.log(x[0] + 1j * x[1]))) ** 2,
    lambda x: x[0] ** 2 + x[1] ** 2,
    [0.0, 0.0],
)
case(
    "sign",
    "modulus and angle",
    lambda x: jnp.real(
        jnp.exp(jnp.log(jnp.abs(x[0] + 1j * x[1])) + 1j * jnp.angle(x[0] + 1j * x[1]))
    ),
    lambda x: x[0] + 0 * x[1],
    [0.0, 0.0],
)
case(
    "sign",
    "modulus and unit phase",
    lambda x: jnp.imag(jnp.exp(1j * jnp.angle(x[0] + 1j * x[1])) * jnp.abs(x[0] + 1j * x[1])),
    lambda x: x[1] + 0 * x[0],
    [0.0, 0.0],
)
case(
    "sign",
    "signed sum that is negative",
    lambda x: 2.0 * jnp.real(jnp.log(jnp.sum(jnp.array([1.0, -1.0, 1.0]) * jnp.exp(x)) + 0j)),
    lambda x: (
        2
        * (
            800.0
            + jnp.log(jnp.abs(jnp.exp(x[0] - 800) - jnp.exp(x[1] - 800) + jnp.exp(x[2] - 800)))
        )
    ),
    [800.2, 801.4, 799.7],
)
case(
    "sign",
    "conj times psi",
    lambda x: jnp.real(
        jnp.conj(jnp.exp(jnp.log(x[0] + 1j * x[1]))) * jnp.exp(jnp.log(x[0] + 1j * x[1]))
    ),
    lambda x: x[0] ** 2 + x[1] ** 2,
    [0.0, 0.0],
)
