"""Indexing and out-of-place updates.

An index moves significands and exponents alike, so reading needs no rule. Python integers in an
index become array operands, as in JAX itself: a hundred different ones compile once.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._call import call


def get_item(x: Any, index: Any) -> Any:
    """x[index], with the indexing rules and errors of a JAX array."""
    return jax.tree.map(lambda leaf: leaf[index], x)


class _Slot:
    """The place of a traced part of an index."""


def _split(index: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """Traced parts of an index (integers and arrays), and its hashable structure."""
    parts = index if isinstance(index, tuple) else (index,)
    traced, structure = [], []
    for part in parts:
        if isinstance(part, slice):
            structure.append(("slice", part.start, part.stop, part.step))
        elif part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)):
            structure.append(("static", part))
        else:
            if not isinstance(part, (jax.Array, np.ndarray)):
                part = np.asarray(part)
            if part.dtype == bool and not isinstance(part, jax.core.Tracer):
                # a mask stands for the indices of its true entries
                indices = np.nonzero(np.asarray(part))
            else:
                indices = (part,)
            traced.extend(indices)
            structure.extend([(_Slot,)] * len(indices))
    return traced, tuple(structure)


def _join(traced: list[Any], structure: tuple[Any, ...]) -> tuple[Any, ...]:
    remaining = iter(traced)
    parts: list[Any] = []
    for kind, *rest in structure:
        if kind is _Slot:
            parts.append(next(remaining))
        else:
            parts.append(slice(*rest) if kind == "slice" else rest[0])
    return tuple(parts)


def _update(x: Any, value: Any, traced: list[Any], structure: Any, how: str, **options: Any) -> Any:
    return getattr(x.at[_join(traced, structure)], how)(value, **options)


class IndexUpdateHelper:
    """``x.at``; its items have the methods of `jax.numpy.ndarray.at`."""

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> "IndexUpdateRef":
        return IndexUpdateRef(self._array, index)


class IndexUpdateRef:
    """``x.at[index]``: every method returns a new array."""

    __slots__ = ("_array", "_index")

    def __init__(self, array: Any, index: Any) -> None:
        self._array = array
        self._index = index

    def _apply(self, how: str, value: Any, options: dict[str, Any]) -> Any:
        traced, structure = _split(self._index)
        return call(_update, self._array, value, traced, _Structure(structure), how, **options)

    def set(self, value: Any, **options: Any) -> Any:
        return self._apply("set", value, options)

    def add(self, value: Any, **options: Any) -> Any:
        """Log-space sum; repeated indices accumulate."""
        return self._apply("add", value, options)

    def subtract(self, value: Any, **options: Any) -> Any:
        return self._apply("subtract", value, options)

    def multiply(self, value: Any, **options: Any) -> Any:
        return self._apply("multiply", value, options)

    def divide(self, value: Any, **options: Any) -> Any:
        return self._apply("divide", value, options)

    def power(self, value: Any, **options: Any) -> Any:
        return self._apply("power", value, options)

    def min(self, value: Any, **options: Any) -> Any:
        return self._apply("min", value, options)

    def max(self, value: Any, **options: Any) -> Any:
        return self._apply("max", value, options)

    def get(self, **options: Any) -> Any:
        """x[index] with the options of `jax.numpy.ndarray.at[...].get` (mode, fill_value ...)."""
        fill = options.pop("fill_value", None)
        x = self._array
        exponent_options = dict(options, fill_value=0)
        if fill is not None:
            options["fill_value"] = fill
        leaves, structure = jax.tree.flatten(x)
        got = [
            leaf.at[self._index].get(**(exponent_options if leaf.dtype == jnp.int32 else options))
            for leaf in leaves
        ]
        return jax.tree.unflatten(structure, got)


class _Structure(tuple):
    """A tuple that is one leaf of a pytree (only plain tuples are flattened)."""
