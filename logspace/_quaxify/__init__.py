"""`quaxify`: functions of plain arrays, given LogArrays.

`trace` is the interpreter: quax's dispatch on first-order primitives, and our own treatment of those
that contain programs. `control_flow` rebuilds jit, loops, branches and `jax.checkpoint` over values,
`kinds` decides what a loop carries, `custom_rules` runs the derivative rules of users.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, overload

import jax

from .._errors import need_function
from .._value import is_value

F = TypeVar("F", bound=Callable[..., Any])

_POLICIES = ("error", "allow")


@overload
def quaxify(fn: F, /, *, on_materialise: str = "error") -> F: ...
@overload
def quaxify(fn: None = None, /, *, on_materialise: str = "error") -> Callable[[F], F]: ...
def quaxify(fn: Any = None, /, *, on_materialise: str = "error") -> Any:
    """A function in plain `jax.numpy`, made to understand LogArrays.

    ``quaxify(f)(x)`` runs f with every primitive on a LogArray replaced by its rule in log space.
    Arguments and results may be any pytrees of LogArrays, Logs and plain arrays. It works as a
    decorator, under and around `jax.jit`, `jax.vmap`, `jax.grad` and the loops of `jax.lax`; without
    any LogArray among its arguments the function is called as it is.

    Besides what `quax.quaxify` does: loops and branches whose carry or results are plain in one place
    and LogArrays in another carry LogArrays; `jax.checkpoint`, `jax.custom_jvp` and `jax.custom_vjp`
    work, with the user's rules applied.

    **Arguments:**

    - `fn`: the function; without it, a decorator is returned.
    - `on_materialise`: what happens to a primitive without a rule in log space. ``"error"`` raises
      `logspace.MaterialiseError`, which names the primitive, the line of your code and the way out;
      ``"allow"`` applies the primitive to plain values, which may be infinite or zero where a float
      cannot hold the number. It holds for everything that `fn` calls, also within `jax.jit`.

    **Raises:** `ValueError` for another `on_materialise`, `TypeError` if `fn` is not callable. When
    called: `MaterialiseError` as above, `TypeError` for a custom derivative rule that is not linear
    in its tangents.
    """
    if on_materialise not in _POLICIES:
        raise ValueError(f"on_materialise must be 'error' or 'allow'; got {on_materialise!r}.")
    if fn is None:
        return functools.partial(quaxify, on_materialise=on_materialise)
    need_function(fn, "quaxify")

    def quaxified(*args: Any, **kwargs: Any) -> Any:
        # imported on the first call: LogArray's own methods are made with `quaxify`
        from .trace import enter

        # a function that is itself a pytree, as a model, may hold LogArrays
        leaves, structure = jax.tree.flatten((fn, args, kwargs), is_leaf=is_value)
        return enter(structure, leaves, on_materialise)

    try:
        functools.update_wrapper(quaxified, fn)
    except AttributeError:
        quaxified.__wrapped__ = fn  # type: ignore[attr-defined]
    return quaxified
