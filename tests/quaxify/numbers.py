"""Numbers that the tests share, and how results are compared with plain ones."""

import jax
import jax.numpy as jnp
import numpy as np
import quax

import logspace as ls
from logspace._log_array import wrap
from logspace._numerics import Scaled

VECTOR = jnp.array([1.5, 0.0, -2.0])


def number(a):
    return ls.from_linear(a)


def huge(a, exponent=4000):
    """a * 2**exponent."""
    x = ls.from_linear(a)
    return wrap(Scaled(x._significand, x._exponent + np.int32(exponent)))


def linear(tree):
    def read(x):
        if isinstance(x, ls.LogArray):
            return x.to_linear()
        return x.materialise() if isinstance(x, ls.Log) else x

    return jax.tree.map(read, tree, is_leaf=lambda x: isinstance(x, (ls.LogArray, ls.Log)))


def assert_close(found, expected, rtol=1e-13):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=rtol), linear(found), expected)


def quax_value(x):
    return isinstance(x, quax.Value)
