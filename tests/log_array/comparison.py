"""Values that the tests share, and how a result is compared with a plain one."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

import logspace as ls

INF, NAN = math.inf, math.nan
BIG = 3000.0

VALUES = np.array([1.5, -2.0, 0.0, 3.25])
OTHER = np.array([2.0, 0.5, -4.0, 8.0])


def same(got: Any, expected: Any, rtol: float = 4e-15) -> None:
    """Equal types of dtype and shape, equal values."""
    got = got.to_linear() if isinstance(got, ls.LogArray) else got
    assert np.shape(got) == np.shape(expected)
    assert got.dtype == jnp.asarray(expected).dtype
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=0)
