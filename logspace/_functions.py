"""Functions of numbers that `jax.numpy` does not have."""

from typing import Any

import jax
from jax.typing import ArrayLike

from . import _numerics as num
from ._construct import from_linear
from ._log import Log
from ._log_array import LogArray, unwrap, wrap
from ._value import LogSpaceValue


def log(x: ArrayLike | LogSpaceValue) -> Log:
    """The logarithm of a number, waiting: `exp` of it is x itself.

    A plain array is taken as a number first. For the plain value at once, use ``x.log()``.
    """
    return Log(from_linear(x))


def abs2(x: Any) -> LogArray:
    """|x|**2 = conj(x) * x, real, of the shape of x.

    Unlike ``abs(x) ** 2`` its second derivative at zero is right, because the derivative of `abs`
    there is singular (JAX gives 0). A plain array is taken as a number first.
    """
    return wrap(_abs2(from_linear(x)))


_abs2 = jax.jit(lambda x: num.abs2(unwrap(x)))
