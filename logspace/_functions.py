"""Functions of numbers that `jax.numpy` does not have."""

from typing import Any, cast

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from . import _numerics as num
from ._construct import from_linear
from ._log import Log
from ._log_array import LogArray, unwrap, wrap
from ._value import LogSpaceValue


def log(x: ArrayLike | LogSpaceValue) -> Log:
    """The logarithm of a number, waiting: `exp` of it is x itself. It has the shape of x.

    A plain array is taken as a number first. For the plain value at once, use ``x.log()``.
    """
    number: Any = from_linear(x)
    if isinstance(number, LogArray):
        return Log(number)
    return cast(Any, jnp.log(number))  # inside a quaxified function


def abs2(x: ArrayLike | LogSpaceValue) -> LogArray:
    """|x|**2 = conj(x) * x, real, of the shape of x.

    Unlike ``abs(x) ** 2`` its second derivative at zero is right, because the derivative of `abs`
    there is singular (JAX gives 0). A plain array is taken as a number first.
    """
    z: Any = from_linear(x)
    if isinstance(z, LogArray):
        return wrap(_abs2(z))
    return cast(Any, jnp.real(jnp.conj(z) * z))  # inside a quaxified function


_abs2 = jax.jit(lambda x: num.abs2(unwrap(x)))
