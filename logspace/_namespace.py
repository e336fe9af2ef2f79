"""LogArray-aware versions of JAX's namespaces, made on first use.

A function of a namespace here is JAX's own, called through `_call.call`: with LogArrays among its
arguments it runs under `quaxify`, with plain arrays only it *is* JAX's function.
"""

import functools
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import jax.numpy as jnp

from ._call import call


def aware(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, accepting LogArrays."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return call(function, *args, **kwargs)

    return wrapped


class AwareUfunc:
    """A `jax.numpy.ufunc`, accepting LogArrays; with its methods (reduce, at, outer ...)."""

    def __init__(self, ufunc: Callable[..., Any], call: Callable[..., Any] = call) -> None:
        self._ufunc = ufunc
        self._call = call
        functools.update_wrapper(self, ufunc, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(self._ufunc, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._ufunc, name)
        return functools.partial(self._call, value) if callable(value) else value

    def __repr__(self) -> str:
        return f"{self._ufunc!r}, for LogArrays too"


class Namespace:
    """The attributes of a module, functions made LogArray-aware, with some of our own in place."""

    def __init__(
        self,
        module: ModuleType,
        own: Mapping[str, Any],
        untouched: frozenset[str],
        own_of_modules: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._module = module
        self._own = own
        self._untouched = untouched
        self._own_of_modules = own_of_modules or {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._own:
            return self._own[name]
        try:
            value = getattr(self._module, name)
        except AttributeError:
            raise AttributeError(
                f"module 'logspace' follows '{self._module.__name__}', which has no attribute "
                f"'{name}'"
            ) from None
        if isinstance(value, ModuleType):
            value = Namespace(value, self._own_of_modules.get(name, {}), frozenset())
        elif name not in self._untouched and callable(value) and not isinstance(value, type):
            if isinstance(value, jnp.ufunc):
                value = AwareUfunc(value)
            elif not hasattr(value, "dtype"):  # jnp.float32 and its like stand for a dtype
                value = aware(value)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._module), *self._own})
