"""Calling `jax.numpy` functions on LogArrays from outside `quaxify`.

Tracing through quax takes some 500 us, so each function is compiled once for each structure of
arguments: arrays, LogArrays and Python floats are traced, everything else (axes, shapes, strings,
dtypes, Python integers) is static.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from jax import errors

from ._compat import is_quax_tracer, lift_to_trace_of
from ._quaxify import quaxify
from ._value import is_value


def call(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """function(*args, **kwargs), LogArray-aware; without any LogArray exactly the function."""
    leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=is_value)
    if not any(map(is_value, leaves)):
        return function(*args, **kwargs)
    tracer = next(filter(is_quax_tracer, leaves), None)
    if tracer is not None:
        # a LogArray from outside met a value of the function that is being quaxified
        leaves = [lift_to_trace_of(tracer, x) if is_value(x) else x for x in leaves]
        args, kwargs = jax.tree.unflatten(structure, leaves)
        return function(*args, **kwargs)
    dynamic = [x for x in leaves if _is_dynamic(x)]
    static = tuple(_DYNAMIC if _is_dynamic(x) else _Static(x) for x in leaves)
    try:
        compiled = _compiled(function, structure, static)
    except TypeError:  # an unhashable static argument
        return quaxify(function)(*args, **kwargs)
    try:
        return compiled(dynamic)
    except errors.ConcretizationTypeError:
        # an argument must be known when tracing, as the mask of jnp.compress
        return quaxify(function)(*args, **kwargs)


class _Static:
    """A static leaf; 1, 1.0 and True compare as equal and must not share a compiled function."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Static)
            and type(self.value) is type(other.value)
            and bool(self.value == other.value)
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


_DYNAMIC = _Static(...)


def _is_dynamic(x: Any) -> bool:
    if is_value(x) or isinstance(x, (jax.Array, np.ndarray, np.generic)):
        return True
    return isinstance(x, (float, complex)) and not isinstance(x, (bool, int))


@lru_cache(maxsize=8192)
def _compiled(function: Callable[..., Any], structure: Any, static: tuple[_Static, ...]) -> Any:
    def flat(dynamic: list[Any]) -> Any:
        remaining = iter(dynamic)
        leaves = [next(remaining) if x is _DYNAMIC else x.value for x in static]
        args, kwargs = jax.tree.unflatten(structure, leaves)
        return quaxify(function)(*args, **kwargs)

    return jax.jit(flat)


def operator(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """A binary function with every operand traced: one compiled function per pair of types."""
    compiled = jax.jit(quaxify(function))

    def apply(x: Any, y: Any) -> Any:
        for this, other in ((x, y), (y, x)):
            if is_quax_tracer(this) and is_value(other):
                return call(function, x, y)
        return compiled(x, y)

    return apply
