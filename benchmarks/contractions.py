"""What does a matrix product of LogArrays cost, against the plain one?

`ordinary` entries are plain numbers; `logs` the same from their logarithms; `wide` ones are spread
over e**+-300, dense; `gauge` ones need powers of two moved along the contracted index; `exact` ones
have no certificate at all and are summed term by term.
"""

from typing import Any

from . import _operands as operands
from ._timing import Candidate, Options, Question, compare, main_of

import jax  # isort: skip - after _timing
import jax.numpy as jnp  # isort: skip
import numpy as np  # isort: skip

from logspace._log_array import wrap  # isort: skip
from logspace._numerics import Scaled  # isort: skip

#: (kind, shape of x, shape of y, gradient?) -> the largest ratio to the plain product
TARGETS: dict[tuple[str, int, bool], float] = {
    ("ordinary", 1024, False): 1.3,
    ("ordinary", 1024, True): 1.4,
    ("ordinary", 128, False): 1.7,
    ("logs", 1024, False): 1.3,
    ("logs", 1024, True): 1.4,
    ("logs", 128, False): 1.7,
    ("wide", 1024, False): 2.0,
    ("gauge", 1024, False): 6.0,
}


def exponents(kind: str, side: int, rng: Any) -> tuple[Any, Any]:
    shape = (side, side)
    if kind == "wide":
        reach = int(300 / np.log(2))
        return rng.integers(-reach, reach, shape), rng.integers(-reach, reach, shape)
    if kind == "gauge":
        gauge = rng.integers(-3000, 3000, side)
        return np.broadcast_to(gauge, shape), np.broadcast_to(-gauge[:, None], shape)
    if kind == "exact":
        return rng.integers(-7000, 7000, shape), rng.integers(-7000, 7000, shape)
    return np.zeros(shape, int), np.zeros(shape, int)


def number(significand: Any, exponent: Any) -> Any:
    return wrap(Scaled(significand, jnp.asarray(exponent, jnp.int32)))


def square(kind: str, side: int, dtype: Any, gradient: bool) -> list[Candidate]:
    rng = np.random.default_rng(0)
    s, t, ct = (operands.plain((side, side), dtype, seed) for seed in (0, 1, 2))
    e, f = exponents(kind, side, rng)
    if kind == "logs":
        x, y = (operands.ours((side, side), dtype, seed) for seed in (0, 1))
    else:
        x, y = number(s, e), number(t, f)
    if not gradient:
        return [
            Candidate("logspace", lambda x, y: x @ y, (x, y)),
            Candidate("plain", lambda x, y: x @ y, (s, t)),
        ]

    def ours(x: Any, y: Any, ct: Any) -> Any:
        def significand(s: Any, t: Any) -> Any:
            out = operands.ours_from_leaves(s, x) @ operands.ours_from_leaves(t, y)
            return operands.significand_of(out), out

        leaves = operands.significand_of(x), operands.significand_of(y)
        _, pull, out = jax.vjp(significand, *leaves, has_aux=True)
        return out, pull(ct)

    def plain(x: Any, y: Any, ct: Any) -> Any:
        out, pull = jax.vjp(lambda x, y: x @ y, x, y)
        return out, pull(ct)

    return [Candidate("logspace", ours, (x, y, ct)), Candidate("plain", plain, (s, t, ct))]


def batch(count: int, side: int, dtype: Any, one_plain: bool) -> list[Candidate]:
    s, t = (operands.plain((count, side, side), dtype, seed) for seed in (0, 1))
    zeros = np.zeros(s.shape, int)
    y = t if one_plain else number(t, zeros)
    return [
        Candidate("logspace", lambda x, y: x @ y, (number(s, zeros), y)),
        Candidate("plain", lambda x, y: x @ y, (s, t)),
    ]


def body(options: Options) -> list[Question]:
    questions = []
    dtype = options.dtypes[0]
    for kind, side, gradient in [*TARGETS, ("exact", 128, False), ("ordinary", 128, True)]:
        target = TARGETS.get((kind, side, gradient))
        n = options.size(side, 12)
        what = "value and gradient" if gradient else "value"
        questions.append(
            compare(
                f"matmul {n} x {n}, {kind}, {what}, {dtype.name}",
                square(kind, n, dtype, gradient),
                options,
                {"plain": target} if target else {},
            )
        )
    count = options.size(4096, 4)
    for one_plain, target in ((False, 6.0), (True, 4.0)):
        what = "one operand plain" if one_plain else "two LogArrays"
        questions.append(
            compare(
                f"{count} products 16 x 16, {what}, {dtype.name}",
                batch(count, 16, dtype, one_plain),
                options,
                {"plain": target},
            )
        )
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
