"""Contractions that lose no term.

Scaling the rows and columns of the operands and multiplying once is fast and wrong: in
``[1, e**-1000] . [e**-1000, 1]`` both scaled products underflow and the answer 2 e**-1000 becomes
0. Here every output is the sum of its own products, each at its own exponent, computed a block of
outputs at a time so that memory stays bounded.
"""

from typing import Any

import jax
import numpy as np
from jax import lax

from .arithmetic import multiply
from .scaled import Scaled
from .sums import sum as sum_along

#: Products formed at a time: 2**20 of them take some 12 MB and keep two cores busy.
_BLOCK = 2**20


def dot_general(x: Scaled, y: Scaled, dimension_numbers: Any) -> Scaled:
    """`lax.dot_general` of two numbers; the error is a few eps times the sum of absolute terms.

    Derivatives are those of products and sums, to every order; blocks are recomputed in reverse
    mode rather than stored.
    """
    (contract_x, contract_y), (batch_x, batch_y) = dimension_numbers
    free_x = [d for d in range(x.exponent.ndim) if d not in (*contract_x, *batch_x)]
    free_y = [d for d in range(y.exponent.ndim) if d not in (*contract_y, *batch_y)]
    shape_x, shape_y = x.exponent.shape, y.exponent.shape
    batch = [shape_x[d] for d in batch_x]
    rows = [shape_x[d] for d in free_x]
    columns = [shape_y[d] for d in free_y]
    b, m, n, k = (
        int(np.prod(sizes, dtype=int))
        for sizes in (batch, rows, columns, [shape_x[d] for d in contract_x])
    )

    def arrange(part: jax.Array, order: list[int], size: int) -> jax.Array:
        return lax.reshape(lax.transpose(part, order), (b, size, k))

    left = Scaled(*(arrange(p, [*batch_x, *free_x, *contract_x], m) for p in x))
    right = Scaled(*(arrange(p, [*batch_y, *free_y, *contract_y], n) for p in y))
    if b * m * n * k <= _BLOCK:
        out = _outer_block(left, right)
    else:
        out = _by_rows(left, right, max(1, _BLOCK // max(1, n * k)))
    return Scaled(*(lax.reshape(part, (*batch, *rows, *columns)) for part in out))


def _outer_block(left: Scaled, right: Scaled) -> Scaled:
    """(b, m, k) and (b, n, k) to (b, m, n), all products at once."""
    b, m, k = left.exponent.shape
    n = right.exponent.shape[1]
    wide_left = Scaled(*(lax.broadcast_in_dim(p, (b, m, n, k), (0, 1, 3)) for p in left))
    wide_right = Scaled(*(lax.broadcast_in_dim(p, (b, m, n, k), (0, 2, 3)) for p in right))
    return sum_along(multiply(wide_left, wide_right), (3,))


def _by_rows(left: Scaled, right: Scaled, rows_at_a_time: int) -> Scaled:
    b, m, k = left.exponent.shape
    n = right.exponent.shape[1]

    @jax.checkpoint
    def one_row(row_and_batch: tuple[Scaled, jax.Array]) -> Scaled:
        row, index = row_and_batch
        matrix = Scaled(*(lax.dynamic_index_in_dim(p, index, keepdims=False) for p in right))
        wide = Scaled(*(lax.broadcast_in_dim(p, (n, k), (1,)) for p in row))
        return sum_along(multiply(wide, matrix), (1,))

    rows = Scaled(*(lax.reshape(p, (b * m, k)) for p in left))
    indices = np.repeat(np.arange(b, dtype=np.int32), m)
    out = lax.map(one_row, (rows, indices), batch_size=min(rows_at_a_time, b * m))
    return Scaled(*(lax.reshape(p, (b, m, n)) for p in out))
