"""Exponentials that meet logarithms, and shifts by a maximum between them."""

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp

from .case import TWO_ZEROS, ZERO_IN_THREE, case, inf, prod3

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


# logarithms to other bases, of logarithms, and of amounts that add up along a sequence

case("base", "ten", lambda x: 10 ** (jnp.log10(x[0]) + jnp.log10(x[1])), lambda x: x[0] * x[1],
     [0.0, 2.0])  # fmt: skip
case("base", "power of two", lambda x: 2.0 ** jnp.log2(x[0]), lambda x: x[0], [0.0])
case("base", "power of e", lambda x: jnp.e ** jnp.log(x[0]), lambda x: x[0], [0.0])
case("base", "log of a power of ten", lambda x: jnp.log(jnp.sum(10.0**x)),
     lambda x: 400 * math.log(10.0) + jnp.log(jnp.sum(10.0 ** (x - 400))), [400.0, 399.0])  # fmt: skip
case("exp-log", "log of a log", lambda x: jnp.exp(jnp.exp(jnp.log(jnp.log(x[0])))), lambda x: x[0],
     [1.0])  # fmt: skip
case("exp-log", "Gumbel", lambda x: jnp.exp(-jnp.exp(jnp.log(-jnp.log(x[0])))), lambda x: x[0],
     [1.0])  # fmt: skip
case("exp-log", "transmittance", lambda s: jnp.sum(jnp.exp(jnp.cumsum(jnp.log1p(-s)))),
     lambda s: (1 - s[0]) * (1 + (1 - s[1]) * (1 + (1 - s[2]))), [0.3, 1.0, 0.5])  # fmt: skip
case("exp-log", "noisy or", lambda p: -jnp.expm1(jnp.sum(jnp.log1p(-p))),
     lambda p: 1 - (1 - p[0]) * (1 - p[1]), [1.0, 0.5])  # fmt: skip
case("exp-log", "outer product", lambda x: jnp.sum(jnp.exp(jnp.add.outer(jnp.log(x), jnp.log(x)))),
     lambda x: jnp.sum(x) ** 2, [0.0, 0.0, 2.0])  # fmt: skip
case("exp-log", "differences", lambda x: jnp.sum(jnp.exp(jnp.diff(jnp.log(x)))),
     lambda x: x[1] / x[0] + x[2] / x[1], [1.0, 2.0, 0.0])  # fmt: skip
case("shift", "logaddexp.reduce", lambda x: jnp.exp(jnp.logaddexp.reduce(jnp.log(x))),
     lambda x: jnp.sum(x), ZERO_IN_THREE)  # fmt: skip
case("shift", "associative scan of logaddexp",
     lambda x: jnp.sum(jnp.exp(jax.lax.associative_scan(jnp.logaddexp, jnp.log(x)))),
     lambda x: 3 * x[0] + 2 * x[1] + x[2], ZERO_IN_THREE)  # fmt: skip
case("shift", "mixture with a weight 0",
     lambda w: logsumexp(jnp.log(w) - 0.5 * (60.0 - jnp.arange(3.0)) ** 2),
     lambda w: -0.5 * 58.0**2
     + jnp.log(w[2] + w[1] * math.exp(-58.5) + w[0] * math.exp(-118.0)), [0.0, 0.4, 0.6])  # fmt: skip


def transport(a: Any) -> Any:
    cost = jnp.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    b = jnp.array([0.2, 0.3, 0.5])

    def step(state: Any, _: Any) -> Any:
        f = jnp.log(a) - logsumexp(state[1] - cost, axis=1)
        return (f, jnp.log(b) - logsumexp(f[:, None] - cost, axis=0)), None

    (f, g), _ = jax.lax.scan(step, (jnp.zeros(3), jnp.zeros(3)), None, length=3)
    return jnp.sum(jnp.exp(f[:, None] + g - cost) * cost)


def transport_of_numbers(a: Any) -> Any:
    cost = jnp.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    kernel, u, v = jnp.exp(-cost), a, jnp.ones(3)
    for _ in range(3):
        u = a / (kernel @ v)
        v = jnp.array([0.2, 0.3, 0.5]) / (kernel.T @ u)
    return jnp.sum(u[:, None] * kernel * v * cost)


case("shift", "optimal transport, a marginal 0", transport, transport_of_numbers, [0.0, 0.4, 0.6])

# what is chosen, and updates at indexed places

case("chosen", "maximum with a bound",
     lambda x: jnp.sum(jnp.maximum(jnp.log(x), -100.0) * jnp.arange(1.0, 3.0)),
     lambda x: 2 * jnp.log(x[1]) - 100.0 + 0 * x[0], [0.0, 2.0])  # fmt: skip
case("chosen", "exp of clipped logs",
     lambda x: jnp.sum(jnp.exp(jnp.clip(jnp.log(x), -100.0, 50.0))),
     lambda x: x[1] + math.exp(-100.0) + 0 * x[0], [0.0, 2.0])  # fmt: skip
case("chosen", "largest log", lambda x: jnp.max(jnp.log(x)), lambda x: jnp.log(x[2]) + 0 * x[0],
     ZERO_IN_THREE)  # fmt: skip
case("chosen", "all zero", lambda x: jnp.exp(jnp.max(jnp.log(x))), lambda x: jnp.mean(x),
     [0.0, 0.0])  # fmt: skip


def most_likely_path(x: Any) -> Any:
    step = lambda c, y: (jnp.max(c[:, None] + y, axis=0), None)  # noqa: E731
    logs = jnp.log(jnp.stack([jnp.outer(x, jnp.arange(1.0, 3.0))] * 2))
    return jnp.exp(jnp.max(jax.lax.scan(step, jnp.log(x), logs)[0]))


case("chosen", "most likely path", most_likely_path, lambda x: 4 * x[1] ** 3 + 0 * x[0], [0.0, 2.0])
case("chosen", "sorted", lambda x: jnp.sum(jnp.exp(jnp.sort(jnp.log(x))) * jnp.arange(3.0)),
     lambda x: x[1] + 2 * x[2] + 0 * x[0], ZERO_IN_THREE)  # fmt: skip
case("update", "set", lambda x: jnp.sum(jnp.exp(jnp.zeros(3).at[1].set(jnp.log(x[0])))),
     lambda x: 2 + x[0], [0.0])  # fmt: skip
case("update", "add", lambda x: jnp.sum(jnp.exp(jnp.zeros(3).at[1].add(jnp.log(x[0])))),
     lambda x: 2 + x[0], [0.0])  # fmt: skip
case("update", "sums over segments",
     lambda x: jnp.sum(jnp.exp(jax.ops.segment_sum(jnp.log(x), jnp.array([0, 0, 1]), 2))),
     lambda x: x[0] * x[1] + x[2], ZERO_IN_THREE)  # fmt: skip
case("update", "segments beyond the range",
     lambda a: jnp.sum(jnp.log(jax.ops.segment_sum(jnp.exp(a), jnp.array([0, 0, 1]), 2))),
     lambda a: logsumexp(a[:2]) + a[2], [800.0, 801.0, -900.0])  # fmt: skip
