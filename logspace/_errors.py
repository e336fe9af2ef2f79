"""Error types and their texts: what is required, what was given, the way out."""

from typing import Any, NoReturn

from jax.extend.core import Primitive

_WAY_OUT = (
    "If the plain value will do, convert where you need it: `x.to_linear()`, or "
    '`logspace.quaxify(f, on_materialise="allow")` for a whole function.'
)


class MaterialiseError(TypeError):
    """An operation without a rule in log space met a `LogArray`."""


def refuse(primitive: Primitive) -> NoReturn:
    """Raise the error for a primitive that would have to leave log space."""
    from ._rules.ledger import reason_of_refusal

    reason = reason_of_refusal(primitive.name)
    raise MaterialiseError(
        f"The primitive `{primitive.name}` has no rule for a LogArray: {reason}. The line of your "
        f"code that called it is in the traceback above. {_WAY_OUT}"
    )


def unsupported_dtype(dtype: Any) -> NoReturn:
    raise TypeError(
        "A LogArray is float32, float64, complex64 or complex128 (the last of each kind needs "
        f"jax_enable_x64); got dtype {dtype}. Cast with `astype` to one of these first, or read "
        "plain values with `x.to_linear()`."
    )
