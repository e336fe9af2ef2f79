"""Functions of numbers that `jax.numpy` does not have."""

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
    x = from_linear(x)
    return Log(x) if isinstance(x, LogArray) else jnp.log(x)


def abs2(x: ArrayLike | LogSpaceValue) -> LogArray:
    """|x|**2 = conj(x) * x, real, of the shape of x.

    Unlike ``abs(x) ** 2`` its second derivative at zero is right, because the derivative of `abs`
    there is singular (JAX gives 0). A plain array is taken as a number first.
    """
    x = from_linear(x)
    return wrap(_abs2(x)) if isinstance(x, LogArray) else jnp.real(jnp.conj(x) * x)


_abs2 = jax.jit(lambda x: num.abs2(unwrap(x)))
