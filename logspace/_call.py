"""Calling `jax.numpy` functions on LogArrays from outside `quaxify`.

Tracing through quax takes some 500 us, so each function is compiled once for each structure of
arguments: arrays, LogArrays and floats are traced, everything else (axes, shapes, strings, dtypes,
integers) is static.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import numpy as np

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
    static = tuple(_DYNAMIC if _is_dynamic(x) else _Static(x) for x in leaves)
    if any(map(_holds_code, static)):
        # a function may close over traced values, which must not outlive them in our cache
        return call_at_once(function, *args, **kwargs)
    try:
        compiled = _compiled(function, structure, static)
    except TypeError:  # an unhashable static argument
        return call_at_once(function, *args, **kwargs)
    try:
        return compiled([x for x, s in zip(leaves, static, strict=True) if s is _DYNAMIC])
    except (TypeError, ValueError, IndexError):
        # Perhaps an argument must be known when tracing, as the fill value of jnp.take. If not, the
        # same error is raised below, with a shorter traceback.
        pass
    return call_at_once(function, *args, **kwargs)


def call_at_once(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """The call without compilation; the function sees all arguments but our values as they are."""
    leaves, structure = jax.tree.flatten((args, kwargs), is_leaf=is_value)

    def of_values(values: list[Any]) -> Any:
        remaining = iter(values)
        full = [next(remaining) if is_value(x) else x for x in leaves]
        args, kwargs = jax.tree.unflatten(structure, full)
        return function(*args, **kwargs)

    return quaxify(of_values)([x for x in leaves if is_value(x)])


class _Static:
    """A static leaf; 1, 1.0 and True compare as equal and must not share a compiled function."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Static)
            and type(self.value) is type(other.value)
            and (self.value is other.value or bool(self.value == other.value))
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


_DYNAMIC = _Static(...)


def _is_dynamic(x: Any) -> bool:
    if is_value(x) or isinstance(x, (jax.Array, np.ndarray, float, complex)):
        return True
    return isinstance(x, np.generic) and not isinstance(x, (np.integer, np.bool_))


def _holds_code(x: _Static) -> bool:
    return callable(x.value) and not isinstance(x.value, type) and not hasattr(x.value, "dtype")


@lru_cache(maxsize=8192)
def _compiled(function: Callable[..., Any], structure: Any, static: tuple[_Static, ...]) -> Any:
    def flat(dynamic: list[Any]) -> Any:
        remaining = iter(dynamic)
        leaves = [next(remaining) if x is _DYNAMIC else x.value for x in static]
        args, kwargs = jax.tree.unflatten(structure, leaves)
        return quaxify(function)(*args, **kwargs)

    return jax.jit(flat)


def operator(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of operands that are all traced: one compiled function per list of types."""
    compiled = jax.jit(quaxify(function))

    def apply(*operands: Any) -> Any:
        if any(map(is_quax_tracer, operands)):
            return call(function, *operands)
        return compiled(*operands)

    return apply
