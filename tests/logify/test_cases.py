"""Every kind of failure: value and derivatives against a regular function that is equal."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from logspace._logify import logify

from .cases import CASES, Case

IDS = [str(c) for c in CASES]

#: Without the marker `full`, one case in eight.
SLICE = [
    pytest.param(c, id=str(c), marks=() if i % 8 == 0 else pytest.mark.full)
    for i, c in enumerate(CASES)
]


@pytest.fixture(autouse=True)
def _double_precision() -> Any:
    with jax.enable_x64(True):
        yield


def _close(got: Any, want: Any, case: Case) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=case.tolerance, atol=1e-12)


def _arguments(case: Case) -> tuple[jax.Array, ...]:
    return tuple(map(jnp.asarray, case.args))


@pytest.mark.parametrize("case", SLICE)
def test_value_and_gradient(case: Case) -> None:
    args = _arguments(case)
    value, grad = jax.jit(jax.value_and_grad(logify(case.fn)))(*args)
    want_value, want_grad = jax.jit(jax.value_and_grad(case.regular))(*args)
    _close(value, want_value, case)
    _close(grad, want_grad, case)


_SECOND: dict[str, Callable[..., Any]] = {
    "forward over reverse": lambda f: jax.jacfwd(jax.grad(f)),
    "forward over forward": lambda f: jax.jacfwd(jax.jacfwd(f)),
    "reverse over reverse": lambda f: jax.jacrev(jax.grad(f)),
    "reverse over forward": lambda f: jax.jacrev(jax.jacfwd(f)),
}


@pytest.mark.full
@pytest.mark.parametrize("mode", _SECOND)
@pytest.mark.parametrize("case", [c for c in CASES if c.order > 1], ids=str)
def test_hessian(case: Case, mode: str) -> None:
    args = _arguments(case)
    _close(jax.jit(_SECOND[mode](logify(case.fn)))(*args), jax.hessian(case.regular)(*args), case)


@pytest.mark.full
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_eager_and_forward(case: Case) -> None:
    args = _arguments(case)
    fn = logify(case.fn)
    _close(fn(*args), case.regular(*args), case)
    _close(jax.jacfwd(fn)(*args), jax.grad(case.regular)(*args), case)


@pytest.mark.full
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_mixed_batch(case: Case) -> None:
    """A singular row beside an ordinary one."""
    (x,) = _arguments(case)
    shift = 1e-2 * jnp.abs(x) + 1e-2 * jnp.arange(1, x.size + 1).reshape(x.shape)
    batch = jnp.stack([x, x + shift, x])
    got = jax.jit(jax.vmap(jax.grad(logify(case.fn))))(batch)
    want = jax.grad(case.regular)(x)
    _close(got[0], want, case)
    _close(got[2], want, case)


@pytest.mark.full
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_inside_a_loop_and_a_branch(case: Case) -> None:
    (x,) = _arguments(case)

    def looped(x: jax.Array) -> Any:
        def body(total: Any, _: Any) -> Any:
            return total + jax.lax.cond(x.size > 0, case.fn, lambda x: 0.0 * jnp.sum(x), x), None

        return jax.lax.scan(body, 0.0, None, length=2)[0]

    _close(jax.jit(jax.grad(logify(looped)))(x), 2 * jax.grad(case.regular)(x), case)


@pytest.mark.full
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_checkpointed(case: Case) -> None:
    (x,) = _arguments(case)
    got = jax.jit(jax.grad(logify(jax.checkpoint(case.fn))))(x)
    _close(got, jax.grad(case.regular)(x), case)
