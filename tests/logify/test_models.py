"""Models with nothing singular in them: the same values, to the bit where the program is the same.

What needs Flax or NetKet, which the library does not, runs under `full`.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from logspace._logify import logify
from logspace._logify.jaxprs import opened, programs_in

from .models import MODELS, NETKET

#: Models in which a logarithm meets an exponential, so that values may differ in the last bits.
#: Besides determinants and products over a chain of tensors, which are numbers.
INEXACT = frozenset(
    ("GCNN, fft, parity", "GCNN, irreps, parity", "Slater2nd", "Slater2nd, unrestricted",
     "Slater2nd, generalized", "MultiSlater2nd", "MPSPeriodic", "MPSOpen", "MPDOPeriodic", "MPDOOpen")
)  # fmt: skip


@pytest.fixture(autouse=True)
def _double_precision() -> Any:
    with jax.enable_x64(True):
        yield


#: What arranges elements, which a program may do in another order.
ARRANGING = ("broadcast_in_dim", "reshape", "squeeze", "transpose", "stop_gradient", "copy",
             "convert_element_type")  # fmt: skip


def size(jaxpr: Any) -> int:
    """The number of operations that compute, also in what the program calls."""
    total = 0
    for equation in opened(jaxpr)[0].eqns:
        inner = programs_in(equation.params)
        total += sum(map(size, inner)) if inner else equation.primitive.name not in ARRANGING
    return total


def check(name: str, fn: Any, params: Any, batch: Any) -> None:
    def everything(fn: Any) -> Any:
        def loss(p: Any, x: Any) -> Any:
            y = fn(p, x)
            return jnp.real(y) + 0.5 * jnp.imag(y)

        def parts(p: Any, batch: Any) -> Any:
            # complex parameters have a real loss, integers none
            gradient = jax.grad(lambda p: jnp.sum(jax.vmap(loss, (None, 0))(p, batch)))
            return jax.vmap(fn, (None, 0))(p, batch), fn(p, batch[0]), gradient(p)

        return jax.jit(parts)(params, batch)

    # nothing is computed that the plain program does not compute
    if name not in INEXACT:
        ours, plain = (size(jax.make_jaxpr(f)(params, batch[0])) for f in (logify(fn), fn))
        assert ours <= plain, f"{ours} operations instead of {plain}"
    values, value, gradient = everything(logify(fn))
    want_values, want_value, want_gradient = everything(fn)
    if name in INEXACT:
        np.testing.assert_allclose(values, want_values, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(value, want_value, rtol=1e-12, atol=1e-13)
    else:
        assert np.array_equal(values, want_values)
        assert np.array_equal(value, want_value)
    assert values.dtype == want_values.dtype
    assert jax.tree.structure(gradient) == jax.tree.structure(want_gradient)
    for a, b in zip(jax.tree.leaves(gradient), jax.tree.leaves(want_gradient), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * max(1.0, np.max(np.abs(b))))


_OF_MODELS = [
    pytest.param(k, marks=() if k.startswith("equinox") else pytest.mark.full) for k in MODELS
]


@pytest.mark.parametrize("name", _OF_MODELS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_model(name: str) -> None:
    check(name, *MODELS[name]())


@pytest.mark.full
@pytest.mark.parametrize("name", NETKET)
@pytest.mark.filterwarnings("ignore")
def test_netket(name: str) -> None:
    check(name, *NETKET[name]())
