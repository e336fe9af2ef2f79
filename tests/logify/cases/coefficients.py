"""Coefficients of logarithms and of exponentials that are exactly zero, and branches not taken."""

import math

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp

from .case import case, inf

# coefficients

case(
    "coefficients",
    "derivative in a zero coefficient",
    lambda b: logsumexp(jnp.zeros(3), b=b),
    lambda b: jnp.log(jnp.sum(b)),
    [2.0, 0.0, 5.0],
)
case(
    "coefficients",
    "signed",
    lambda b: (lambda ls: ls[1] * jnp.exp(ls[0]))(logsumexp(jnp.zeros(3), b=b, return_sign=True)),
    lambda b: jnp.sum(b),
    [2.0, 0.0, -2.0],
)
case(
    "coefficients",
    "largest one absent",
    lambda a: logsumexp(a, b=jnp.array([1.0, 0.0])),
    lambda a: a[0] + 0 * a[1],
    [-1000.0, -2.0],
)
case(
    "coefficients",
    "cancelling",
    lambda a: (
        jnp.exp(logsumexp(a, b=jnp.array([1.0, -1.0]), return_sign=True)[0])
        * logsumexp(a, b=jnp.array([1.0, -1.0]), return_sign=True)[1]
    ),
    lambda a: jnp.exp(a[0]) - jnp.exp(a[1]),
    [0.5, 0.5],
)
case(
    "coefficients",
    "one-hot",
    lambda p: jnp.sum(jnp.array([0.0, 1.0, 0.0]) * jnp.log(p)),
    lambda p: jnp.log(p[1]),
    [0.0, 2.0, 0.0],
)
case(
    "coefficients",
    "one-hot, dot",
    lambda p: jnp.array([0.0, 1.0, 0.0]) @ jnp.log(p),
    lambda p: jnp.log(p[1]),
    [0.0, 2.0, 0.0],
)
case(
    "coefficients",
    "one-hot of masked logits",
    lambda a: (
        -jnp.sum(
            jax.nn.log_softmax(jnp.where(jnp.array([True, True, False]), a, -inf))
            * jnp.array([0.0, 1.0, 0.0])
        )
    ),
    lambda a: jnp.log(jnp.exp(a[0]) + jnp.exp(a[1])) - a[1] + 0 * a[2],
    [0.1, 0.2, 0.3],
)
case(
    "coefficients",
    "0 * log 0, derivative in q",
    lambda q: q[0] * jnp.log(q[1]),
    lambda q: q[0] * jnp.log(q[1]),
    [0.0, 0.5],
)
case(
    "coefficients",
    "0 * log 0, derivative in p",
    lambda q: 0.0 * jnp.log(q[0]) + q[0],
    lambda q: q[0],
    [0.0],
)
case(
    "coefficients",
    "KL with q = 0",
    lambda x: jnp.sum(jnp.array([0.0, 1.0]) * (jnp.log(jnp.array([0.0, 1.0])) - jnp.log(x))),
    lambda x: -jnp.log(x[1]),
    [0.0, 0.7],
)
case(
    "coefficients",
    "exp of one-hot",
    lambda p: jnp.exp(jnp.sum(jnp.array([0.0, 1.0, 0.0]) * jnp.log(p))),
    lambda p: p[1] + 0.0,
    [0.0, 0.0, 3.0],
)
case(
    "coefficients",
    "zero times a root",
    lambda x: jnp.array(0.0) * jnp.sqrt(x[0]) + x[0],
    lambda x: x[0],
    [0.0],
)
case(
    "coefficients",
    "mask times a root",
    lambda x: jnp.sum((x > 1).astype(float) * jnp.abs(x) ** 0.25),
    lambda x: x[1] ** 0.25 + 0 * x[0],
    [0.0, 2.0],
)


# the branch that is not taken

case(
    "where",
    "log",
    lambda x: jnp.sum(jnp.where(x > 0, jnp.log(x), 0.0)),
    lambda x: jnp.log(x[1]) + 0 * x[0],
    [0.0, 2.0],
)
case(
    "where",
    "root",
    lambda x: jnp.sum(jnp.where(x > 0, jnp.sqrt(x) * x, 0.0)),
    lambda x: x[1] ** 1.5 + 0 * x[0],
    [0.0, 2.0],
)
case(
    "where",
    "quotient",
    lambda x: jnp.sum(jnp.where(x != 0, jnp.sin(x) / x, 1.0)),
    lambda x: jnp.sin(x[1]) / x[1] + 1.0 + 0 * x[0],
    [0.0, 2.0],
)
case(
    "where",
    "norm",
    lambda x: jnp.where(jnp.sum(x * x) > 0, jnp.linalg.norm(x), 0.0),
    lambda x: 0 * jnp.sum(x),
    [0.0, 0.0],
)
case(
    "where",
    "x log x",
    lambda x: jnp.sum(jnp.where(x == 0, 0.0, x * jnp.log(x))),
    lambda x: x[1] * jnp.log(x[1]) + 0 * x[0],
    [0.0, 2.0],
)

# probabilities that are exactly zero

case("coefficients", "entropy of a masked softmax",
     lambda a: (lambda p: -jnp.sum(p * jnp.log(p)))(
         jax.nn.softmax(jnp.where(jnp.array([True, True, False]), a, -inf))),
     lambda a: -jnp.sum(jax.nn.softmax(a[:2]) * jax.nn.log_softmax(a[:2])), [0.1, 0.7, 0.3])  # fmt: skip
case("coefficients", "cross entropy of certain outcomes",
     lambda p: -jnp.sum(jnp.array([0.0, 1.0]) * jnp.log(p) + jnp.array([1.0, 0.0]) * jnp.log1p(-p)),
     lambda p: -jnp.log(1 - p[0]) - jnp.log(p[1]), [0.0, 1.0])  # fmt: skip
case("coefficients", "Poisson of no events, rate 0",
     lambda r: jnp.sum(jax.scipy.stats.poisson.logpmf(jnp.array([0, 2]), r)),
     lambda r: 2 * jnp.log(r[1]) - jnp.sum(r) - math.log(2.0), [0.0, 3.0])  # fmt: skip
case("coefficients", "beta density at an end",
     lambda x: jnp.exp(jax.scipy.stats.beta.logpdf(x[0], 2.0, 3.0)),
     lambda x: 12 * x[0] * (1 - x[0]) ** 2, [0.0])  # fmt: skip
case("coefficients", "xlogy", lambda x: jax.scipy.special.xlogy(x[0], x[1]),
     lambda x: x[0] * jnp.log(x[1]), [0.0, 0.5])  # fmt: skip
case("coefficients", "relative entropy",
     lambda p: jnp.sum(jax.scipy.special.rel_entr(jnp.array([0.0, 0.5, 0.5]), p)),
     lambda p: jnp.sum(0.5 * math.log(0.5) - 0.5 * jnp.log(p[1:])), [0.0, 0.4, 0.6])  # fmt: skip
case("coefficients", "Dirichlet density",
     lambda x: jnp.exp(jnp.sum((jnp.array([2.0, 1.0, 3.0]) - 1) * jnp.log(x))),
     lambda x: x[0] * x[2] ** 2 + 0 * x[1], [0.0, 0.0, 0.5])  # fmt: skip
