"""Indexing and out-of-place updates.

An index moves significands and exponents alike, so reading needs no rule. Python integers in an
index become array operands, as in JAX itself: a hundred different ones compile once.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ._call import call


def get_item(x: Any, index: Any) -> Any:
    """x[index], with the indexing rules and errors of a JAX array."""
    return jax.tree.map(lambda leaf: leaf[index], x)


class _Hashable(tuple):
    """A tuple that is one leaf of a pytree (only plain tuples are flattened)."""


_TRACED = object()


def _split(index: Any) -> tuple[list[Any], _Hashable]:
    """The parts of an index that may be traced (integers and arrays of them), and the others.

    A mask of known values is not traced, because the number of its true entries is a shape.
    """
    traced, structure = [], []
    for part in index if isinstance(index, tuple) else (index,):
        if _is_int32(part):
            part = np.asarray(part, np.int32)
        if isinstance(part, jax.Array | np.ndarray) and (
            part.dtype != bool or isinstance(part, Tracer)
        ):
            traced.append(part)
            structure.append(_TRACED)
        elif isinstance(part, slice):  # not hashable before Python 3.12
            structure.append((part.start, part.stop, part.step))
        else:
            structure.append(part)
    return traced, _Hashable([isinstance(index, tuple), *structure])


def _is_int32(part: Any) -> bool:
    if not isinstance(part, (int, np.integer)) or isinstance(part, bool):
        return False
    return -(2**31) <= int(part) < 2**31


def _join(traced: list[Any], structure: _Hashable) -> Any:
    is_tuple, *rest = structure
    remaining = iter(traced)
    parts = [
        next(remaining) if part is _TRACED else slice(*part) if isinstance(part, tuple) else part
        for part in rest
    ]
    return tuple(parts) if is_tuple else parts[0]


def _update(
    x: Any, values: list[Any], traced: list[Any], structure: _Hashable, how: str, options: _Hashable
) -> Any:
    return getattr(x.at[_join(traced, structure)], how)(*values, **dict(options))


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

    def _call(self, how: str, values: list[Any], options: dict[str, Any]) -> Any:
        traced, structure = _split(self._index)
        fixed = _Hashable(sorted(options.items()))
        return call(_update, self._array, values, traced, structure, how, fixed)

    def set(self, value: Any, **options: Any) -> Any:
        return self._call("set", [value], options)

    def add(self, value: Any, **options: Any) -> Any:
        """Log-space sum; repeated indices accumulate."""
        return self._call("add", [value], options)

    def subtract(self, value: Any, **options: Any) -> Any:
        return self._call("subtract", [value], options)

    def multiply(self, value: Any, **options: Any) -> Any:
        return self._call("multiply", [value], options)

    mul = multiply

    def divide(self, value: Any, **options: Any) -> Any:
        return self._call("divide", [value], options)

    def power(self, value: Any, **options: Any) -> Any:
        return self._call("power", [value], options)

    def min(self, value: Any, **options: Any) -> Any:
        return self._call("min", [value], options)

    def max(self, value: Any, **options: Any) -> Any:
        return self._call("max", [value], options)

    def apply(self, func: Callable[[Any], Any], **options: Any) -> Any:
        """x with func(x[index]) at the index; func in plain `jax.numpy`."""
        return self._call("apply", [func], options)

    def get(self, **options: Any) -> Any:
        """x[index] with the options of `jax.numpy.ndarray.at[...].get` (mode, fill_value ...)."""
        return self._call("get", [], options)
