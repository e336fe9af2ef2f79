"""The ways in: from logarithms, from plain arrays, and constants."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from . import _numerics as num
from ._call import operator
from ._errors import unsupported_dtype
from ._log import Log
from ._log_array import DTYPES, LogArray, as_numeric, as_supported, keep_weak_type, wrap
from ._numerics import Scaled
from ._value import LogSpaceValue, is_in_log_space


def from_log(log: ArrayLike | LogSpaceValue) -> LogArray:
    """The number exp(log), from a real or complex logarithm of any shape.

    The derivative of the logarithm moves into the number: d exp(l) = exp(l) dl. -inf gives zero,
    +inf infinity; |log| up to 7.4e8 is representable. A `logspace.Log` gives the number whose
    logarithm it is, exactly; a LogArray x gives the number e**x.

    float16 and bfloat16 are promoted to float32, integers to the default float. The relative error
    is below 1 eps with the given logarithm taken as exact, hence eps * |log| for a logarithm that
    was itself rounded.

    **Raises:** `TypeError` for anything that is not numeric.
    """
    if is_in_log_space(log):
        return _exp(log)
    return wrap(_from_log(as_numeric(log)))


_exp = operator(jnp.exp)
_from_log = jax.jit(lambda a: keep_weak_type(num.from_log(as_supported(a)), a))
_from_linear = jax.jit(lambda a: keep_weak_type(num.from_linear(as_supported(a)), a))


def from_linear(a: ArrayLike | LogSpaceValue) -> LogArray:
    """The number a itself, from a plain array of any shape; exact, and exactly undone by
    `LogArray.to_linear` (subnormal numbers count as zeros where XLA flushes them, as on CPU).

    Integers and booleans become the default float; float16 and bfloat16 become float32. A LogArray
    is returned as it is.

    **Raises:** `TypeError` for anything that is not numeric.
    """
    if isinstance(a, Log):
        a = a.materialise()
    if is_in_log_space(a):
        return a  # type: ignore[return-value]
    return wrap(_from_linear(as_numeric(a)))


def full(shape: Any, fill_value: ArrayLike | LogSpaceValue, dtype: Any = None) -> LogArray:
    """A LogArray of the given shape, filled with a value that broadcasts to it.

    The value is a plain array or a LogArray. The dtype is by default that of the value.

    **Raises:** `TypeError` for a `dtype` other than float32, float64, complex64 and complex128;
    `ValueError` if the value does not broadcast to the shape.
    """
    _check_dtype(dtype)
    value: Any = fill_value.materialise() if isinstance(fill_value, Log) else fill_value
    if isinstance(value, LogArray):
        value = value if dtype is None else value.astype(dtype)
        return wrap(Scaled(jnp.full(shape, value._significand), jnp.full(shape, value._exponent)))
    return from_linear(jnp.full(shape, value, dtype))


def zeros(shape: Any, dtype: Any = None) -> LogArray:
    """Zeros, at exponent 0; of the default float dtype if none is given. Raises as `full`."""
    return full(shape, 0, float if dtype is None else dtype)


def ones(shape: Any, dtype: Any = None) -> LogArray:
    """Ones, of the default float dtype if none is given. Raises as `full`."""
    return full(shape, 1, float if dtype is None else dtype)


def full_like(
    x: Any, fill_value: ArrayLike | LogSpaceValue, dtype: Any = None, shape: Any = None
) -> LogArray:
    """As `full`, with the shape and dtype of x, a LogArray or anything that has both.

    If x has integers or booleans, the dtype is the default float.
    """
    if shape is None:
        shape = x.shape if hasattr(x, "shape") else jnp.shape(x)
    if dtype is None:
        dtype = jnp.dtype(x.dtype if hasattr(x, "dtype") else jnp.result_type(x))
        if not jnp.issubdtype(dtype, jnp.inexact):
            dtype = float
    return full(shape, fill_value, dtype)


def zeros_like(x: Any, dtype: Any = None, shape: Any = None) -> LogArray:
    """Zeros of the shape and dtype of x; see `full_like`."""
    return full_like(x, 0, dtype, shape)


def ones_like(x: Any, dtype: Any = None, shape: Any = None) -> LogArray:
    """Ones of the shape and dtype of x; see `full_like`."""
    return full_like(x, 1, dtype, shape)


def _check_dtype(dtype: Any) -> None:
    if dtype is not None and jnp.dtype(dtype).name not in DTYPES:
        unsupported_dtype(jnp.dtype(dtype))
