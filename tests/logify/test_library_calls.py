"""The names of library functions and primitives that are recognised, which are not public.

A release of JAX that renames one fails here, and only here.
"""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from logspace._logify.interpreter import _INLINED
from logspace._logify.jaxprs import called, name_of_call, opened, programs_in
from logspace._logify.library_calls import LIBRARY_CALLS


def calls_in(jaxpr: Any) -> set[str]:
    names = set()
    for e in opened(jaxpr)[0].eqns:
        if called(e.params) is not None:
            names.add(name_of_call(e.primitive.name, e.params))
        for inner in programs_in(e.params):
            names |= calls_in(inner)
    return names


@pytest.mark.parametrize(
    ("name", "fn"),
    [
        ("slogdet", lambda x: jnp.linalg.slogdet(jnp.diag(x))),
        ("det", lambda x: jnp.linalg.det(jnp.diag(x))),
        ("logaddexp", lambda x: jnp.logaddexp(x, x)),
        ("logit", jax.scipy.special.logit),
        ("xlogy", lambda x: jax.scipy.special.xlogy(x, x)),
        ("xlog1py", lambda x: jax.scipy.special.xlog1py(x, x)),
        ("hypot", lambda x: jnp.hypot(x, x)),
        ("signbit", jnp.signbit),
    ],
)
def test_name(name: str, fn: Any) -> None:
    assert name in LIBRARY_CALLS
    assert name in calls_in(jax.make_jaxpr(fn)(jnp.ones(5)))


def test_jit_is_inlined() -> None:
    (equation,) = opened(jax.make_jaxpr(jax.jit(jnp.sin))(1.0))[0].eqns
    assert equation.primitive.name in _INLINED
