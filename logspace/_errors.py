"""Error types and their texts: what is required, what was given, the way out."""

import linecache
import os
import sys
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any, NoReturn

from jax.extend.core import Primitive

from ._compat import frames_of_current_operation

_WAY_OUT = (
    "If the plain value will do, convert where you need it: `x.to_linear()`, or "
    '`logspace.quaxify(f, on_materialise="allow")` for a whole function.'
)


class MaterialiseError(TypeError):
    """An operation without a rule in log space met a `LogArray`."""

    problem: str = ""
    located: bool = True


def refuse(primitive: Primitive) -> NoReturn:
    """Raise the error for a primitive that would have to leave log space."""
    from ._rules.ledger import reason_of_refusal

    reason = reason_of_refusal(primitive.name)
    error = MaterialiseError("")
    error.problem = f"The primitive `{primitive.name}` has no rule for a LogArray: {reason}."
    locate(error)
    if not error.located:
        _set_place(error, _user_line(_stack()))
    raise error


def locate(error: MaterialiseError) -> None:
    """Put the line of the user's code that is being evaluated into the message.

    Within a jitted function of `jax.numpy` the line is that of its caller, which the evaluation of
    the caller knows: an error that has no place yet is given one on its way out.
    """
    place = _user_line(frames_of_current_operation())
    error.located = bool(place)
    if place:
        _set_place(error, place)


def _set_place(error: MaterialiseError, place: str) -> None:
    error.args = (" ".join(filter(None, [error.problem, place, _WAY_OUT])),)


#: Packages whose frames stand between a user's line and a primitive.
_MACHINERY = ("logspace", "jax", "jaxlib", "quax", "equinox", "plum", "jaxtyping", "beartype")


def _user_line(frames: Iterable[tuple[CodeType, int]]) -> str:
    """A sentence with the first frame that is neither of the machinery nor of Python's library."""
    folders = [
        os.path.dirname(os.path.abspath(module.__file__)) + os.sep
        for module in map(sys.modules.get, _MACHINERY)
        if module is not None and module.__file__
    ]
    library = os.path.dirname(os.__file__) + os.sep
    for code, line in frames:
        file = code.co_filename
        standard = file.startswith(("<frozen", library)) and "-packages" not in file
        if standard or file.startswith(tuple(folders)):
            continue
        text = linecache.getline(file, line).strip()
        return f"It was called at {file}:{line}, in {code.co_name}" + (
            f": `{text}`." if text else "."
        )
    return ""


def _stack() -> Iterator[tuple[CodeType, int]]:
    frame = sys._getframe(1)
    while frame is not None:
        yield frame.f_code, frame.f_lineno
        frame = frame.f_back


def need_function(fn: Any, name: str) -> None:
    """TypeError unless fn can be called."""
    if not callable(fn):
        raise TypeError(f"{name} needs a function; got {fn!r} of type {type(fn).__name__}.")


def unsupported_dtype(dtype: Any) -> NoReturn:
    raise TypeError(
        "A LogArray is float32, float64, complex64 or complex128 (the last of each kind needs "
        f"jax_enable_x64); got dtype {dtype}. Cast with `astype` to one of these first, or read "
        "plain values with `x.to_linear()`."
    )


def refuse_derivative() -> NoReturn:
    raise TypeError(
        "This is not a number but a derivative that JAX took with respect to the leaves of a "
        "LogArray: the exponent has none (float0). Use `logspace.grad`, `jvp`, `vjp`, `jacobian` "
        "or `hessian`, which return the derivative with respect to the number. In the rule of a "
        "`jax.custom_jvp` function: use `logspace.quaxify` instead of `quax.quaxify`."
    )
