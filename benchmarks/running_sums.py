"""What do running sums and sums by segment cost, where each result has a scale of its own?"""

from typing import Any

from . import _operands as operands
from ._timing import Candidate, Options, Question, compare, main_of

import jax  # isort: skip - after _timing
import jax.numpy as jnp  # isort: skip

import logspace.numpy as lnp  # isort: skip
from logspace import quaxify  # isort: skip

SEGMENTS = 1000


def running(n: int, dtype: Any) -> list[Candidate]:
    a, x = operands.plain((n,), dtype, 0), operands.ours((n,), dtype, 0)
    return [
        Candidate("logspace", lnp.cumsum, (x,)),
        Candidate("plain", jnp.cumsum, (a,)),
        Candidate("cumlogsumexp", jax.lax.cumlogsumexp, (a,)),
    ]


def by_segment(n: int, dtype: Any) -> list[Candidate]:
    a, x = operands.plain((n,), dtype, 0), operands.ours((n,), dtype, 0)
    ids = jax.random.randint(jax.random.key(1), (n,), 0, SEGMENTS)

    def segment_sum(a: Any, ids: Any) -> Any:
        return jax.ops.segment_sum(a, ids, SEGMENTS)

    return [
        Candidate("logspace", quaxify(segment_sum), (x, ids)),
        Candidate("plain", segment_sum, (a, ids)),
    ]


def body(options: Options) -> list[Question]:
    n, dtype = options.size(1_000_000, 100), options.dtypes[0]
    return [
        compare(f"cumsum of {n}, {dtype.name}", running(n, dtype), options, {"plain": 4.0}),
        compare(f"segment_sum of {n}, {dtype.name}", by_segment(n, dtype), options, {"plain": 5.0}),
    ]


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
