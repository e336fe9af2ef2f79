"""What the functions of `logspace.linalg` take: plain arrays and LogArrays, checked."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .. import _numerics as num
from .._compat import is_quax_tracer, lift_to_trace_of
from .._log import Log
from .._log_array import LogArray, as_numeric, as_supported, unwrap, wrap
from .._numerics import Scaled


class Indices(NamedTuple):
    """Integers on their way through `called`, which takes other operands for numbers."""

    at: jax.Array


def called(function: Callable[..., Any], *operands: Any, **static: Any) -> Any:
    """function(*operands, **static) on plain arrays and `Scaled` numbers, results as LogArrays.

    Within a quaxified function the operands are read from its trace, and results join it.
    """
    tracer = next(filter(is_quax_tracer, operands), None)
    out = jax.tree.map(
        lambda x: wrap(x) if isinstance(x, Scaled) else x,
        function(*map(operand, operands), **static),
        is_leaf=lambda x: isinstance(x, Scaled),
    )
    if tracer is None:
        return out
    lift = lambda x: lift_to_trace_of(tracer, x) if isinstance(x, LogArray) else x  # noqa: E731
    return jax.tree.map(lift, out, is_leaf=lambda x: isinstance(x, LogArray))


def operand(x: Any) -> Any:
    """A plain array of one of the four dtypes, or the number of a LogArray."""
    if isinstance(x, Indices):
        return x
    if is_quax_tracer(x):
        x = getattr(x.value, "array", x.value)
    if isinstance(x, Log):
        x = x.materialise()
    if isinstance(x, LogArray):
        return unwrap(x)
    return as_supported(as_numeric(x))


def shape_of(x: Any) -> tuple[int, ...]:
    return x.exponent.shape if isinstance(x, Scaled) else x.shape


def number(x: jax.Array | Scaled) -> Scaled:
    return x if isinstance(x, Scaled) else num.from_linear(x)


def check_square(name: str, x: Any) -> int:
    """The size of square matrices (..., n, n); `ValueError` for any other shape."""
    shape = shape_of(x)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(
            f"logspace.linalg.{name} needs square matrices of shape (..., n, n); got an array of "
            f"shape {shape}."
        )
    return shape[-1]


def check_matrix(name: str, x: Any) -> None:
    shape = shape_of(x)
    if len(shape) < 2:
        raise ValueError(
            f"logspace.linalg.{name} needs matrices of shape (..., m, n); got an array of shape "
            f"{shape}."
        )


def same_dtype(x: Scaled, y: Scaled) -> tuple[Scaled, Scaled]:
    return num.promote(x, y)


def batched_together(*operands: tuple[Any, int]) -> list[Any]:
    """Operands (each with how many trailing dimensions it keeps) with their batches broadcast."""
    batch = jnp.broadcast_shapes(*(shape_of(x)[: len(shape_of(x)) - kept] for x, kept in operands))

    def widen(x: jax.Array, kept: int) -> jax.Array:
        return jnp.broadcast_to(x, (*batch, *x.shape[x.ndim - kept :]))

    return [jax.tree.map(lambda part, k=kept: widen(part, k), x) for x, kept in operands]
