"""Determinants of singular matrices, with sign and logarithm together or apart."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

from .case import case

# determinants


def det2(a: Any) -> Any:
    return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]


def det3(a: Any) -> Any:
    return (
        a[0, 0] * (a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1])
        - a[0, 1] * (a[1, 0] * a[2, 2] - a[1, 2] * a[2, 0])
        + a[0, 2] * (a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0])
    )


def signed_det(a: Any) -> Any:
    sign, log = jnp.linalg.slogdet(a)
    return sign * jnp.exp(log)


def two_dets(a: Any) -> Any:
    sign, log = jnp.linalg.slogdet(a)
    m = jax.lax.stop_gradient(jnp.max(log))
    return jnp.log(jnp.abs(jnp.sum(sign * jnp.exp(log - m)))) + m


RANK_TWO = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.5, -1.0, 2.0]]
RANK_ONE = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, -2.0, -3.0]]
case("det", "rank 1 of 2", signed_det, det2, [[1.0, 2.0], [2.0, 4.0]])
case("det", "rank 2 of 3", signed_det, det3, RANK_TWO)
case("det", "rank 1 of 3", signed_det, det3, RANK_ONE)
case("det", "zero matrix", signed_det, det3, np.zeros((3, 3)))
case("det", "jnp.linalg.det", jnp.linalg.det, det3, RANK_TWO)
case(
    "det",
    "square through the log",
    lambda a: jnp.exp(2 * jnp.linalg.slogdet(a)[1]),
    lambda a: det3(a) * det3(a),
    RANK_TWO,
)
case(
    "det",
    "sum, one singular",
    two_dets,
    lambda a: jnp.log(jnp.abs(det2(a[0]) + det2(a[1]))),
    [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.5], [0.3, 2.0]]],
)
case(
    "det",
    "sum, all singular, exponentiated",
    lambda a: jnp.exp(two_dets(a) * 2),
    lambda a: (det2(a[0]) + det2(a[1])) ** 2,
    [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]],
)
case(
    "det",
    "plus one",
    lambda a: jnp.log(signed_det(a) + 1.0),
    lambda a: jnp.log(det3(a) + 1.0),
    RANK_TWO,
)
case("det", "1 x 1", signed_det, lambda a: a[0, 0], [[0.0]])
case(
    "det",
    "product of two",
    lambda a: (
        jnp.exp(jnp.linalg.slogdet(a[0])[1] + jnp.linalg.slogdet(a[1])[1])
        * jnp.linalg.slogdet(a[0])[0]
        * jnp.linalg.slogdet(a[1])[0]
    ),
    lambda a: det2(a[0]) * det2(a[1]),
    [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.5], [0.3, 2.0]]],
)
case(
    "det",
    "vmapped and indexed",
    lambda a: jnp.sum(
        jax.vmap(jnp.linalg.slogdet)(a)[0] * jnp.exp(jax.vmap(jnp.linalg.slogdet)(a)[1])
    ),
    lambda a: det2(a[0]) + det2(a[1]),
    [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.5], [0.3, 2.0]]],
)
case("det", "product over a batch",
     lambda a: (lambda s, log: jnp.prod(s) * jnp.exp(jnp.sum(log)))(*jnp.linalg.slogdet(a)),
     lambda a: det2(a[0]) * det2(a[1]),
     [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.5], [0.3, 2.0]]])  # fmt: skip
case("det", "signs as coefficients of logsumexp",
     lambda a: (lambda s, log: (lambda q: q[1] * jnp.exp(q[0]))(
         logsumexp(log, b=s, return_sign=True)))(*jnp.linalg.slogdet(a)),
     lambda a: det2(a[0]) + det2(a[1]),
     [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]])  # fmt: skip
case("det", "modulus squared", lambda a: jnp.abs(jnp.linalg.det(a)) ** 2, lambda a: det2(a) ** 2,
     [[1.0, 2.0], [2.0, 4.0]])  # fmt: skip
