"""Functions that plain JAX differentiates wrongly, each beside a regular function that is equal.

`regular` is written so that plain JAX has the right value and derivatives; it is the closed form.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

inf = math.inf


@dataclass(frozen=True)
class Case:
    """One function at one point; `order` is the highest derivative that is compared."""

    kind: str
    name: str
    fn: Callable[..., Any]
    regular: Callable[..., Any]
    args: tuple[Any, ...]
    order: int = 2
    tolerance: float = 1e-11

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


CASES: list[Case] = []


def case(kind: str, name: str, fn: Any, regular: Any, *args: Any, **options: Any) -> None:
    arrays = tuple(np.asarray(a, dtype=None if np.iscomplexobj(a) else np.float64) for a in args)
    CASES.append(Case(kind, name, fn, regular, arrays, **options))


def prod3(x: Any) -> Any:
    return x[0] * x[1] * x[2]


ZERO_IN_THREE = [0.0, 2.0, 3.0]
TWO_ZEROS = [0.0, 2.0, 0.0]

# exp meets log

case(
    "exp-log",
    "difference",
    lambda a: jnp.exp(jnp.log(a[0] - a[1])),
    lambda a: a[0] - a[1],
    [1.0, 1.0],
)
case("exp-log", "product", lambda x: jnp.exp(jnp.sum(jnp.log(x))), prod3, ZERO_IN_THREE)
case("exp-log", "product with two zeros", lambda x: jnp.exp(jnp.sum(jnp.log(x))), prod3, TWO_ZEROS)
case("exp-log", "all zero", lambda x: jnp.exp(jnp.sum(jnp.log(x))), prod3, [0.0, 0.0, 0.0])
case("exp-log", "one element", lambda x: jnp.exp(jnp.sum(jnp.log(x))), lambda x: x[0], [0.0])
case(
    "exp-log",
    "cumulative",
    lambda x: jnp.sum(jnp.exp(jnp.cumsum(jnp.log(x)))),
    lambda x: x[0] + x[0] * x[1] + prod3(x),
    [2.0, 0.0, 3.0],
)
case(
    "exp-log",
    "multiples",
    lambda x: jnp.exp(2 * jnp.log(x[0]) + jnp.log(x[1]) * 3.0),
    lambda x: x[0] * x[0] * x[1] * x[1] * x[1],
    [0.0, 2.0],
)
case(
    "exp-log",
    "quotient",
    lambda x: jnp.exp(jnp.log(x[0]) - jnp.log(x[1])),
    lambda x: x[0] / x[1],
    [0.0, 2.0],
)
case(
    "exp-log",
    "square root of a square",
    lambda x: jnp.exp(2 * jnp.log(jnp.sqrt(x[0]))),
    lambda x: x[0],
    [0.0],
)
case(
    "exp-log",
    "halves",
    lambda x: jnp.exp(0.5 * jnp.log(x[0]) + 0.5 * jnp.log(x[0])),
    lambda x: x[0],
    [0.0],
)
case(
    "exp-log",
    "binary",
    lambda x: jnp.exp2(jnp.log2(x[0]) + jnp.log2(x[1])),
    lambda x: x[0] * x[1],
    [0.0, 2.0],
)
case("exp-log", "one plus", lambda x: jnp.expm1(jnp.log1p(x[0])), lambda x: x[0], [-1.0])
case("exp-log", "mean of logs", lambda x: jnp.exp(3 * jnp.mean(jnp.log(x))), prod3, ZERO_IN_THREE)
case(
    "exp-log",
    "indexed",
    lambda x: jnp.sum(jnp.exp(jnp.log(x)[jnp.array([2, 0])])),
    lambda x: x[2] + x[0],
    ZERO_IN_THREE,
)
case(
    "exp-log",
    "reshaped",
    lambda x: jnp.sum(jnp.exp(jnp.log(x.reshape(2, 2)).T.reshape(-1))[:3]),
    lambda x: x[0] + x[1] + x[2],
    [0.0, 1.0, 2.0, 0.0],
)
case(
    "exp-log",
    "stacked",
    lambda x: jnp.sum(jnp.exp(jnp.stack([jnp.log(x[0]), jnp.log(x[1]), 0.0]))),
    lambda x: x[0] + x[1] + 1.0,
    [0.0, 0.0],
)
case(
    "exp-log",
    "matrix of exponents",
    lambda x: jnp.sum(jnp.exp(jnp.array([[1.0, 1.0], [2.0, 0.0]]) @ jnp.log(x))),
    lambda x: x[0] * x[1] + x[0] * x[0],
    [0.0, 2.0],
)
case(
    "exp-log",
    "difference of logs in a mixture",
    lambda x: jnp.exp(jnp.log(x[0] - x[1]) + jnp.log(x[2])),
    lambda x: (x[0] - x[1]) * x[2],
    [1.0, 1.0, 3.0],
)

# shifts by a maximum


def by_hand(a: Any, stop: bool = True, guard: bool = True) -> Any:
    m = jnp.max(a)
    if guard:
        m = jnp.where(jnp.isfinite(m), m, 0.0)
    if stop:
        m = jax.lax.stop_gradient(m)
    return jnp.log(jnp.sum(jnp.exp(a - m))) + m


for stop in (True, False):
    for guard in (True, False):
        label = f"stop={stop}, guard={guard}"
        case(
            "shift",
            f"by hand of logs, {label}",
            lambda x, s=stop, g=guard: jnp.exp(by_hand(jnp.log(x), s, g)),
            lambda x: jnp.sum(x),
            ZERO_IN_THREE,
        )
        case(
            "shift",
            f"by hand of logs of zeros, {label}",
            lambda x, s=stop, g=guard: jnp.exp(by_hand(jnp.log(x), s, g)),
            lambda x: jnp.sum(x),
            [0.0, 0.0],
        )
        case(
            "shift",
            f"by hand, nested, one all -inf, {label}",
            lambda x, s=stop, g=guard: by_hand(
                jnp.stack([by_hand(jnp.stack([-inf + x[0], -inf]), s, g), x[1]]), s, g
            ),
            lambda x: x[1] + 0 * x[0],
            [1.0, 2.0],
        )
case(
    "shift",
    "library",
    lambda x: jnp.exp(logsumexp(jnp.log(x))),
    lambda x: jnp.sum(x),
    ZERO_IN_THREE,
)
case(
    "shift",
    "library, nested",
    lambda x: jnp.exp(logsumexp(logsumexp(jnp.log(x.reshape(2, 2)), 1))),
    lambda x: jnp.sum(x),
    [0.0, 0.0, 1.0, 2.0],
)
case(
    "shift",
    "logaddexp of zeros",
    lambda x: jnp.exp(jnp.logaddexp(jnp.log(x[0]), jnp.log(x[1]))),
    lambda x: x[0] + x[1],
    [0.0, 0.0],
)
case(
    "shift",
    "logaddexp by hand",
    lambda x: jnp.exp(hand_logaddexp(jnp.log(x[0]), jnp.log(x[1]))),
    lambda x: x[0] + x[1],
    [0.0, 0.0],
)
case(
    "shift",
    "softmax of logs",
    lambda x: jnp.sum(jax.nn.softmax(jnp.log(x)) * jnp.arange(3.0)),
    lambda x: (x[1] + 2 * x[2]) / jnp.sum(x),
    ZERO_IN_THREE,
)
case(
    "shift",
    "exp of log_softmax of logs",
    lambda x: jnp.exp(jax.nn.log_softmax(jnp.log(x)))[0],
    lambda x: x[0] / jnp.sum(x),
    ZERO_IN_THREE,
)
case(
    "shift",
    "cumlogsumexp",
    lambda x: jnp.sum(jnp.exp(jax.lax.cumlogsumexp(jnp.log(x)))),
    lambda x: 3 * x[0] + 2 * x[1] + x[2],
    ZERO_IN_THREE,
)
case(
    "shift",
    "where argument",
    lambda x: jnp.exp(logsumexp(jnp.log(x), where=jnp.array([True, True, False]))),
    lambda x: x[0] + x[1] + 0 * x[2],
    ZERO_IN_THREE,
)


def hand_logaddexp(a: Any, b: Any) -> Any:
    m = jnp.maximum(a, b)
    return m + jnp.log(jnp.exp(a - m) + jnp.exp(b - m))


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
