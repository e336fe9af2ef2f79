"""`jax.numpy`, LogArray-aware: ``import logspace.numpy as lnp``.

``lnp.f`` of plain arrays is ``jnp.f``; with a LogArray among the arguments it computes in log
space. Functions that make arrays "like" a LogArray make LogArrays.
"""

import math
from typing import Any

import jax.numpy as jnp

from . import _construct
from ._namespace import Namespace
from ._value import LogSpaceValue


def shape(x: Any) -> tuple[int, ...]:
    return x.shape if isinstance(x, LogSpaceValue) else jnp.shape(x)


def ndim(x: Any) -> int:
    return len(shape(x))


def size(x: Any, axis: Any = None) -> int:
    if not isinstance(x, LogSpaceValue):
        return jnp.size(x, axis)
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return math.prod(x.shape[a] for a in axes)


def result_type(*args: Any) -> Any:
    return jnp.result_type(*(x.aval() if isinstance(x, LogSpaceValue) else x for x in args))


def iscomplexobj(x: Any) -> bool:
    if isinstance(x, LogSpaceValue):
        return bool(jnp.issubdtype(x.dtype, jnp.complexfloating))
    return jnp.iscomplexobj(x)


def isrealobj(x: Any) -> bool:
    return not iscomplexobj(x)


def _like(own: Any, theirs: Any) -> Any:
    def like(x: Any, *args: Any, **kwargs: Any) -> Any:
        return (own if isinstance(x, LogSpaceValue) else theirs)(x, *args, **kwargs)

    like.__name__ = theirs.__name__
    like.__doc__ = theirs.__doc__
    return like


def _of_mask(function: Any) -> Any:
    """Functions of whether elements are nonzero, whose result has a shape that depends on them."""

    def of(x: Any, *args: Any, **kwargs: Any) -> Any:
        return function(x != 0 if isinstance(x, LogSpaceValue) else x, *args, **kwargs)

    of.__name__ = function.__name__
    of.__doc__ = function.__doc__
    return of


_OWN = {
    "shape": shape,
    "ndim": ndim,
    "size": size,
    "result_type": result_type,
    "iscomplexobj": iscomplexobj,
    "isrealobj": isrealobj,
    "zeros_like": _like(_construct.zeros_like, jnp.zeros_like),
    "ones_like": _like(_construct.ones_like, jnp.ones_like),
    "full_like": _like(_construct.full_like, jnp.full_like),
    "empty_like": _like(_construct.zeros_like, jnp.empty_like),
    "nonzero": _of_mask(jnp.nonzero),
    "flatnonzero": _of_mask(jnp.flatnonzero),
    "argwhere": _of_mask(jnp.argwhere),
    "count_nonzero": _of_mask(jnp.count_nonzero),
}

_NAMESPACE = Namespace(jnp, _OWN, frozenset())


def __getattr__(name: str) -> Any:
    value = getattr(_NAMESPACE, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return dir(_NAMESPACE)
