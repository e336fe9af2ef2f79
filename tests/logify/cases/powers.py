"""Products, powers and roots at zero, and pairs of inverse functions."""

import jax
import jax.numpy as jnp

from .case import TWO_ZEROS, case, prod3

# products, powers and roots

case(
    "power",
    "prod",
    lambda x: jnp.log(jnp.prod(x) + 1.0),
    lambda x: jnp.log(prod3(x) + 1.0),
    TWO_ZEROS,
)
case("power", "x ** 0", lambda x: jnp.power(x[0], jnp.array(0.0)), lambda x: 1.0 + 0 * x[0], [0.0])
case(
    "power",
    "x ** q",
    lambda x: jnp.prod(x ** jnp.array([0.0, 1.0, 2.0])),
    lambda x: x[1] * x[2] * x[2] + 0 * x[0],
    [0.0, 0.0, 3.0],
)
case(
    "power",
    "derivative in q at 0",
    lambda x: x[0] ** x[1],
    lambda x: jnp.exp(x[1] * jnp.log(x[0])),
    [2.0, 0.0],
)
case("power", "square of a root", lambda x: jnp.sqrt(x[0]) ** 2, lambda x: x[0], [0.0])
case("power", "root times root", lambda x: jnp.sqrt(x[0]) * jnp.sqrt(x[0]), lambda x: x[0], [0.0])
case("power", "0.5 squared", lambda x: (x[0] ** 0.5) ** 2, lambda x: x[0], [0.0])
case(
    "power", "norm squared", lambda x: jnp.linalg.norm(x) ** 2, lambda x: jnp.sum(x * x), [0.0, 0.0]
)
case("power", "modulus squared", lambda x: jnp.abs(x[0]) ** 2, lambda x: x[0] * x[0], [0.0])
case(
    "power",
    "sign times modulus",
    lambda x: jnp.sign(x[0]) * jnp.exp(jnp.log(jnp.abs(x[0]))),
    lambda x: x[0],
    [0.0],
)
case(
    "power",
    "exp of log of a power",
    lambda x: jnp.exp(jnp.log(x[0] ** 2)),
    lambda x: x[0] * x[0],
    [0.0],
)
case(
    "power",
    "distance of a point to itself",
    lambda x: jnp.linalg.norm(x - x) + jnp.sum(x),
    lambda x: jnp.sum(x),
    [1.0, 2.0],
)


# inverse pairs

case("pair", "tan(atan)", lambda x: jnp.tan(jnp.arctan(x[0])), lambda x: x[0], [0.7])
case(
    "pair",
    "logistic(logit)",
    lambda x: jax.nn.sigmoid(jax.scipy.special.logit(x[0])),
    lambda x: x[0],
    [0.0],
)
case("pair", "reciprocal", lambda x: 1 / (1 / x[0]), lambda x: x[0], [0.0])
case("pair", "log1p(expm1)", lambda x: jnp.log1p(jnp.expm1(x[0])), lambda x: x[0], [800.0])
case("pair", "log(exp)", lambda x: jnp.log(jnp.exp(x[0])), lambda x: x[0], [-1e4])
case("pair", "logit of a saturated logistic", lambda x: jax.scipy.special.logit(jax.nn.sigmoid(x[0])),
     lambda x: x[0], [100.0])  # fmt: skip
case("pair", "log odds by hand", lambda x: (lambda p: jnp.log(p / (1 - p)))(jax.nn.sigmoid(x[0])),
     lambda x: x[0], [100.0])  # fmt: skip
case("pair", "reciprocal as a power", lambda x: jnp.reciprocal(jnp.reciprocal(x[0])),
     lambda x: x[0], [0.0])  # fmt: skip
case("power", "cube of a cube root", lambda x: jnp.cbrt(x[0]) ** 3, lambda x: x[0], [0.0])
case("power", "square of hypot", lambda x: jnp.hypot(x[0], x[1]) ** 2,
     lambda x: x[0] ** 2 + x[1] ** 2, [0.0, 0.0])  # fmt: skip
case("power", "polynomial with integer exponents", lambda x: jnp.sum(x[0] ** jnp.arange(4)),
     lambda x: 1 + x[0] + x[0] ** 2 + x[0] ** 3, [0.0])  # fmt: skip
case("power", "counts as exponents", lambda p: jnp.prod(p ** jnp.array([0, 2, 1])),
     lambda p: p[1] ** 2 * p[2] + 0 * p[0], [0.0, 0.5, 0.0])  # fmt: skip
case("power", "products of signs and of moduli",
     lambda x: jnp.prod(jnp.sign(x)) * jnp.exp(jnp.sum(jnp.log(jnp.abs(x)))), prod3,
     [0.0, -2.0, 3.0])  # fmt: skip
