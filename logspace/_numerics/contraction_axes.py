"""The axes of a contraction: which are shared, free and contracted, and arrays laid out by them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax

from .scaled import Scaled

Ints = tuple[int, ...]


@dataclass(frozen=True)
class Axes:
    """`lax.dot_general`'s dimension numbers with the shapes that they name.

    Arrays called rows have the shape (batch, free of x), columns (batch, free of y), outputs
    (batch, free of x, free of y).
    """

    batch_x: Ints
    batch_y: Ints
    free_x: Ints
    free_y: Ints
    contracted_x: Ints
    contracted_y: Ints
    shape_x: Ints
    shape_y: Ints

    @classmethod
    def of(cls, dimension_numbers: Any, shape_x: Ints, shape_y: Ints) -> "Axes":
        (contracted_x, contracted_y), (batch_x, batch_y) = (
            tuple(tuple(int(a) for a in part) for part in pair) for pair in dimension_numbers
        )
        free_x = tuple(a for a in range(len(shape_x)) if a not in (*contracted_x, *batch_x))
        free_y = tuple(a for a in range(len(shape_y)) if a not in (*contracted_y, *batch_y))
        return cls(
            batch_x, batch_y, free_x, free_y, contracted_x, contracted_y,
            tuple(shape_x), tuple(shape_y),
        )  # fmt: skip

    @property
    def batch(self) -> Ints:
        return tuple(self.shape_x[a] for a in self.batch_x)

    @property
    def contracted(self) -> Ints:
        return tuple(self.shape_x[a] for a in self.contracted_x)

    @property
    def row_shape(self) -> Ints:
        return tuple(self.shape_x[a] for a in self.free_x)

    @property
    def column_shape(self) -> Ints:
        return tuple(self.shape_y[a] for a in self.free_y)

    @property
    def output(self) -> Ints:
        return self.batch + self.row_shape + self.column_shape

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """How many batches, rows, columns and contracted entries there are."""
        shapes = (self.batch, self.row_shape, self.column_shape, self.contracted)
        b, m, n, k = (int(np.prod(shape, dtype=int)) for shape in shapes)
        return b, m, n, k

    @property
    def products(self) -> int:
        return int(np.prod(self.sizes))

    def dot(self, a: jax.Array, b: jax.Array) -> jax.Array:
        """The plain contraction; in full precision also where the hardware offers less."""
        numbers = ((self.contracted_x, self.contracted_y), (self.batch_x, self.batch_y))
        return lax.dot_general(a, b, numbers, precision=lax.Precision.HIGHEST)

    # --- from what is left of an operand once its contracted axes are reduced

    def rows(self, reduced: jax.Array) -> jax.Array:
        return lax.transpose(reduced, _ranks((*self.batch_x, *self.free_x)))

    def columns(self, reduced: jax.Array) -> jax.Array:
        return lax.transpose(reduced, _ranks((*self.batch_y, *self.free_y)))

    # --- over the shape of an operand

    def over_rows(self, rows: jax.Array) -> jax.Array:
        return _spread(rows, self.shape_x, (*self.batch_x, *self.free_x))

    def over_columns(self, columns: jax.Array) -> jax.Array:
        return _spread(columns, self.shape_y, (*self.batch_y, *self.free_y))

    def along_x(self, contracted: jax.Array) -> jax.Array:
        return _spread(contracted, self.shape_x, (*self.batch_x, *self.contracted_x))

    def along_y(self, contracted: jax.Array) -> jax.Array:
        return _spread(contracted, self.shape_y, (*self.batch_y, *self.contracted_y))

    def balance(self, x_exponent: jax.Array, y_exponent: jax.Array) -> jax.Array:
        """Powers of two to move along the contracted index, so that the largest entries of x and
        y there are alike."""
        x = lax.reduce_max(x_exponent, self.free_x)
        y = lax.reduce_max(y_exponent, self.free_y)
        x = lax.transpose(x, _ranks((*self.batch_x, *self.contracted_x)))
        y = lax.transpose(y, _ranks((*self.batch_y, *self.contracted_y)))
        one = np.int32(1)
        return lax.sub(lax.shift_right_arithmetic(y, one), lax.shift_right_arithmetic(x, one))

    # --- over the outputs

    def outer(
        self, combine: Callable[..., jax.Array], rows: jax.Array, columns: jax.Array
    ) -> jax.Array:
        b, m, n = len(self.batch), len(self.row_shape), len(self.column_shape)
        of_rows = tuple(range(b + m))
        of_columns = (*range(b), *range(b + m, b + m + n))
        return combine(
            lax.broadcast_in_dim(rows, self.output, of_rows),
            lax.broadcast_in_dim(columns, self.output, of_columns),
        )

    def widen_left(self, x: Scaled) -> Scaled:
        """x as (*output, contracted), the contracted axes as one."""
        return Scaled(*(self._widen(part, rows=True) for part in x))

    def widen_right(self, y: Scaled) -> Scaled:
        return Scaled(*(self._widen(part, rows=False) for part in y))

    def _widen(self, part: jax.Array, rows: bool) -> jax.Array:
        b, m, n, k = self.sizes
        shape = (b, m, n, k)
        part = self.left(part) if rows else self.right(part)
        part = lax.broadcast_in_dim(part, shape, (0, 1, 3) if rows else (0, 2, 3))
        return lax.reshape(part, (*self.output, k))

    # --- as matrices

    def left(self, part: jax.Array) -> jax.Array:
        """x as (b, m, k)."""
        b, m, _, k = self.sizes
        order = (*self.batch_x, *self.free_x, *self.contracted_x)
        return lax.reshape(lax.transpose(part, order), (b, m, k))

    def right(self, part: jax.Array) -> jax.Array:
        """y as (b, n, k)."""
        b, _, n, k = self.sizes
        order = (*self.batch_y, *self.free_y, *self.contracted_y)
        return lax.reshape(lax.transpose(part, order), (b, n, k))


def _ranks(dims: Sequence[int]) -> list[int]:
    """The transposition that brings axes kept in ascending order into the order of dims."""
    ascending = sorted(dims)
    return [ascending.index(d) for d in dims]


def _spread(a: jax.Array, shape: Ints, dims: Sequence[int]) -> jax.Array:
    """a, whose axes stand for dims, over an array of a shape."""
    order = [int(i) for i in np.argsort(np.asarray(dims, int))]
    return lax.broadcast_in_dim(lax.transpose(a, order), shape, sorted(dims))
