"""What does a product of many matrices cost, step by step in `lax.scan`?

Random normal matrices d x d, as in the experiment of arXiv 2510.03426: their product leaves the
range of floats after some hundred steps. The peers: the plain product, which overflows and is here
kept in range by a constant factor; the product with one scale for the whole matrix, renewed at each
step; and a product of complex logarithms, the algorithm of that paper.
"""

from typing import Any

from ._timing import Candidate, Options, Question, compare, main_of

import jax  # isort: skip - after _timing
import jax.numpy as jnp  # isort: skip
from jax import lax  # isort: skip

import logspace as ls  # isort: skip

#: (side, steps) -> the largest ratio to the plain product, where there is one
TARGETS: dict[tuple[int, int], float | None] = {
    (8, 100_000): 4.0,
    (32, 10_000): None,
    (128, 500): None,
}


def ours(start: Any, steps: Any) -> Any:
    return lax.scan(lambda c, a: (c @ a, None), start, steps)[0]


def plain(start: Any, steps: Any, shrink: float) -> Any:
    return lax.scan(lambda c, a: (c @ a * shrink, None), start, steps)[0]


def one_scale(start: Any, steps: Any) -> Any:
    def step(carry: Any, a: Any) -> Any:
        c, log = carry
        c = c @ a
        top = jnp.max(jnp.abs(c))
        return (c / top, log + jnp.log(top)), None

    return lax.scan(step, (start, jnp.zeros((), start.dtype)), steps)[0]


def logarithms(start: Any, steps: Any) -> Any:
    """Products of complex logarithms, each row and column first divided by its largest entry."""

    def step(c: Any, a: Any) -> Any:
        rows = jnp.maximum(jnp.max(c.real, axis=1, keepdims=True), 0)
        columns = jnp.maximum(jnp.max(a.real, axis=0, keepdims=True), 0)
        product = jnp.exp(c - rows).real @ jnp.exp(a - columns).real
        return jnp.log(product.astype(c.dtype)) + rows + columns, None

    return lax.scan(step, start, steps)[0]


def candidates(side: int, count: int, dtype: Any) -> list[Candidate]:
    a = jax.random.normal(jax.random.key(0), (count, side, side), dtype)
    one = jnp.eye(side, dtype=dtype)
    complex_dtype = jnp.result_type(dtype, 1j)
    log = lambda x: jnp.log(x.astype(complex_dtype))  # noqa: E731
    shrink = float(side) ** -0.5
    return [
        Candidate("logspace", ours, (ls.from_linear(one), ls.from_linear(a))),
        Candidate("plain", lambda c, a: plain(c, a, shrink), (one, a)),
        Candidate("one scale", one_scale, (one, a)),
        Candidate("logarithms", logarithms, (log(one), log(a))),
    ]


def body(options: Options) -> list[Question]:
    dtype = options.dtypes[0]
    questions = []
    for (side, count), target in TARGETS.items():
        n = options.size(count, 5)
        questions.append(
            compare(
                f"{n} products {side} x {side}, {dtype.name}",
                candidates(side, n, dtype),
                options,
                {"plain": target} if target else {},
            )
        )
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
