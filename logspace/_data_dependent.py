"""Functions of `jax.numpy` whose results have a shape that depends on values.

JAX computes them where the values are known. Inside `quaxify` no value is, hence these versions for
LogArrays: a compiled function finds the elements, and the result is cut to size outside it. Under
`jit` they raise what JAX's raise.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ._call import call
from ._log_array import LogArray
from ._value import LogSpaceValue, contains_value


def of_mask(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of nothing but whether elements are zero."""

    def of(x: Any, *args: Any, **kwargs: Any) -> Any:
        return function(x != 0 if isinstance(x, LogSpaceValue) else x, *args, **kwargs)

    of.__name__ = function.__name__
    of.__doc__ = function.__doc__
    return of


nonzero = of_mask(jnp.nonzero)


def where(condition: Any, x: Any = None, y: Any = None, /, **options: Any) -> Any:
    """As `jax.numpy.where`."""
    if x is None and y is None:
        return nonzero(condition, **options)
    return call(jnp.where, condition, x, y, **options)


def compress(
    condition: Any, a: Any, axis: int | None = None, *, size: int | None = None, **options: Any
) -> Any:
    """As `jax.numpy.compress`."""
    if size is not None or options or not isinstance(a, LogSpaceValue):
        return call(jnp.compress, condition, a, axis, size=size, **options)
    mask = np.asarray(condition)
    if mask.ndim != 1:
        raise ValueError("condition must be a 1D array")
    a = a.ravel() if axis is None else a
    axis = 0 if axis is None else axis
    if np.any(mask[a.shape[axis] :]):
        raise ValueError("condition contains entries that are out of bounds")
    return a.take(np.flatnonzero(mask[: a.shape[axis]]), axis=axis)


def extract(condition: Any, arr: Any, **options: Any) -> Any:
    """As `jax.numpy.extract`."""
    if not isinstance(arr, LogSpaceValue):
        return call(jnp.extract, condition, arr, **options)
    return compress(jnp.ravel(condition), arr.ravel(), **options)


def trim_zeros(filt: Any, trim: str = "fb", **options: Any) -> Any:
    """As `jax.numpy.trim_zeros`."""
    if not isinstance(filt, LogArray) or options:
        return call(jnp.trim_zeros, filt, trim, **options)
    index = np.argwhere(np.asarray(filt != 0))
    cut = []
    for n, places in zip(filt.shape, index.T, strict=True):
        first, last = (places.min(), places.max() + 1) if places.size else (n, n)
        cut.append(slice(first if "f" in trim.lower() else 0, last if "b" in trim.lower() else n))
    return filt[tuple(cut)]


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    size: int | None = None,
    **options: Any,
) -> Any:
    """As `jax.numpy.unique`."""
    flags = (return_index, return_inverse, return_counts)
    if size is not None or not isinstance(ar, LogSpaceValue):
        return call(jnp.unique, ar, *flags, axis, size=size, **options)
    size = ar.size if axis is None else ar.shape[axis]
    values, index, inverse, counts = call(
        jnp.unique, ar, True, True, True, axis, size=size, **options
    )
    found = int(np.count_nonzero(np.asarray(counts)))
    along = 0 if axis is None else axis
    cut = (values.take(np.arange(found), axis=along), index[:found], inverse, counts[:found])
    out = [part for part, wanted in zip(cut, (True, *flags), strict=True) if wanted]
    return tuple(out) if len(out) > 1 else out[0]


def _part_of_unique(function: Any, *flags: bool) -> Callable[..., Any]:
    def part(x: Any, /, **options: Any) -> Any:
        if not isinstance(x, LogSpaceValue):
            return function(x, **options)
        out = unique(x, *flags, equal_nan=False, **options)
        if not isinstance(out, tuple):
            return out
        # the named tuple of JAX's function, whose inverse has the shape of x
        kind = type(function(jnp.zeros(1)))
        parts = dict(zip(kind._fields, out, strict=True))
        if "inverse_indices" in parts:
            parts["inverse_indices"] = parts["inverse_indices"].reshape(x.shape)
        return kind(**parts)

    part.__name__ = function.__name__
    part.__doc__ = function.__doc__
    return part


unique_all = _part_of_unique(jnp.unique_all, True, True, True)
unique_counts = _part_of_unique(jnp.unique_counts, False, False, True)
unique_inverse = _part_of_unique(jnp.unique_inverse, False, True, False)
unique_values = _part_of_unique(jnp.unique_values)


def _of_two_sets(function: Any, combine: Callable[..., Any]) -> Callable[..., Any]:
    def of(a: Any, b: Any, **options: Any) -> Any:
        if options or not contains_value((a, b)):
            return call(function, a, b, **options)
        return combine(a, b)

    of.__name__ = function.__name__
    of.__doc__ = function.__doc__
    return of


def _in_one_only(a: Any, b: Any) -> Any:
    a, b = unique(a), unique(b)
    both = call(jnp.concatenate, [a[~_isin(a, b)], b[~_isin(b, a)]])
    return call(jnp.sort, both)


def _isin(a: Any, b: Any) -> Any:
    return call(jnp.isin, a, b)


def _union(a: Any, b: Any) -> Any:
    return unique(call(jnp.concatenate, [call(jnp.ravel, a), call(jnp.ravel, b)]))


def _intersection(a: Any, b: Any) -> Any:
    a = unique(a)
    return a[_isin(a, b)]


def _difference(a: Any, b: Any) -> Any:
    a = unique(a)
    return a[~_isin(a, b)]


union1d = _of_two_sets(jnp.union1d, _union)
intersect1d = _of_two_sets(jnp.intersect1d, _intersection)
setdiff1d = _of_two_sets(jnp.setdiff1d, _difference)
setxor1d = _of_two_sets(jnp.setxor1d, _in_one_only)
