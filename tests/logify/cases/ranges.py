"""Overflow and underflow between an exp and a log, and digits lost next to log(1 - x)."""

import math

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp

from .case import case

# range

case(
    "range",
    "log of a sum of exps",
    lambda a: jnp.log(jnp.sum(jnp.exp(a))),
    lambda a: logsumexp(a),
    [800.0, 801.0],
)
case(
    "range",
    "underflow",
    lambda a: jnp.log(jnp.sum(jnp.exp(a))),
    lambda a: logsumexp(a),
    [-800.0, -801.0],
)
case(
    "range",
    "log of a product of exps",
    lambda a: jnp.log(jnp.prod(jnp.exp(a))),
    lambda a: jnp.sum(a),
    [-800.0, -801.0],
)
case(
    "range",
    "log of a product",
    lambda a: jnp.log(jnp.prod(a)),
    lambda a: jnp.sum(jnp.log(a)),
    [1e-200, 1e-200, 2.0],
    order=1,
)
case(
    "range",
    "quotient of exps",
    lambda a: jnp.exp(a[0]) / (jnp.exp(a[0]) + jnp.exp(a[1])),
    lambda a: jax.nn.sigmoid(a[0] - a[1]),
    [800.0, 801.0],
)
case(
    "range",
    "softmax by hand",
    lambda a: (jnp.exp(a) / jnp.sum(jnp.exp(a)))[0],
    lambda a: jax.nn.softmax(a)[0],
    [800.0, 801.0],
)
case("range", "softplus by hand", lambda a: jnp.log(1 + jnp.exp(a[0])), lambda a: a[0], [800.0])
case(
    "range", "softplus by hand, log1p", lambda a: jnp.log1p(jnp.exp(a[0])), lambda a: a[0], [800.0]
)
case("range", "log of sigmoid", lambda a: jnp.log(jax.nn.sigmoid(a[0])), lambda a: a[0], [-800.0])
case(
    "range",
    "log of cosh",
    lambda a: jnp.log(jnp.cosh(a[0])),
    lambda a: a[0] - math.log(2.0),
    [900.0],
)
case(
    "range",
    "matrix product",
    lambda a: jnp.log(jnp.sum(jnp.exp(a).reshape(2, 2) @ jnp.exp(a).reshape(2, 2))),
    lambda a: logsumexp(logsumexp(a.reshape(2, 2)[:, :, None] + a.reshape(2, 2)[None], axis=1)),
    [700.0, 650.0, 600.0, 710.0],
)
case(
    "range",
    "scan",
    lambda a: jnp.log(jax.lax.scan(lambda c, _: (c * a[0], None), 1.0, None, length=1000)[0]),
    lambda a: 1000 * jnp.log(a[0]),
    [1e-3],
)

# cancellation

case(
    "cancel",
    "1 - exp near 0",
    lambda a: jnp.log(1 - jnp.exp(a[0])),
    lambda a: jnp.log(-jnp.expm1(a[0])),
    [-1e-12],
)
case(
    "cancel",
    "1 - exp in the tail",
    lambda a: jnp.log(1 - jnp.exp(a[0])),
    lambda a: jnp.log1p(-jnp.exp(a[0])),
    [-50.0],
)
case(
    "cancel",
    "log1p(-exp) near 0",
    lambda a: jnp.log1p(-jnp.exp(a[0])),
    lambda a: jnp.log(-jnp.expm1(a[0])),
    [-1e-12],
)
case(
    "cancel",
    "-expm1 in the tail",
    lambda a: jnp.log(-jnp.expm1(a[0])),
    lambda a: jnp.log1p(-jnp.exp(a[0])),
    [-50.0],
)
case(
    "cancel",
    "exp - 1",
    lambda a: jnp.log(jnp.exp(a[0]) - 1),
    lambda a: jnp.log(jnp.expm1(a[0])),
    [1e-12],
)
case("cancel", "exp - 1, overflow", lambda a: jnp.log(jnp.expm1(a[0])), lambda a: a[0], [900.0])
case(
    "cancel",
    "exp - exp",
    lambda a: jnp.log(jnp.exp(a[0]) - jnp.exp(a[1])),
    lambda a: a[1] + jnp.log(jnp.expm1(a[0] - a[1])),
    [-800.0, -801.0],
)
case("cancel", "log(1 + x)", lambda a: jnp.log(1 + a[0]), lambda a: jnp.log1p(a[0]), [1e-18])
case("cancel", "1 - sigmoid", lambda a: jnp.log(1 - jax.nn.sigmoid(a[0])), lambda a: -a[0], [60.0])
case(
    "cancel",
    "1 - exp exponentiated",
    lambda a: jnp.exp(jnp.log(1 - jnp.exp(a[0]))),
    lambda a: -jnp.expm1(a[0]),
    [0.0],
)
case("range", "log of a softmax", lambda a: jnp.log(jax.nn.softmax(a))[1],
     lambda a: jax.nn.log_softmax(a)[1], [900.0, -100.0, 3.0])  # fmt: skip
case("range", "weighted mean", lambda a: jnp.average(jnp.arange(3.0), weights=jnp.exp(a)),
     lambda a: jnp.sum(jax.nn.softmax(a) * jnp.arange(3.0)), [-800.0, -799.0, -801.0])  # fmt: skip
case("range", "variance", lambda a: jnp.log(jnp.var(jnp.exp(a))),
     lambda a: 1600.0 + jnp.log(jnp.var(jnp.exp(a - 800))), [800.0, 799.0, 801.0],
     tolerance=1e-8)  # fmt: skip
case("range", "norm", lambda a: (lambda p: (p / jnp.linalg.norm(p))[0])(jnp.exp(a)),
     lambda a: (lambda p: p[0] / jnp.sqrt(jnp.sum(p * p)))(jnp.exp(a + 800)),
     [-800.0, -799.0, -801.0])  # fmt: skip
case("range", "einsum of three", lambda a: jnp.log(
         jnp.einsum("ij,jk,kl->", *[jnp.exp(a.reshape(2, 2))] * 3)),
     lambda a: logsumexp((lambda m: m[:, :, None, None] + m[:, :, None] + m)(a.reshape(2, 2))),
     [800.0, 1.0, 2.0, -900.0])  # fmt: skip
