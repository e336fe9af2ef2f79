"""What happens to a primitive without a rule."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quax
from jax import lax

import logspace as ls

from .numbers import VECTOR, assert_close, huge, linear, number


def unruled(x):
    shifted = x + 1
    return jnp.fft.fft(shifted)


CALLERS = {
    "directly": unruled,
    "in jit": jax.jit(unruled),
    "in nested jits": jax.jit(lambda x: jax.jit(unruled)(x) * 1),
    "in scan": lambda x: lax.scan(lambda c, _: (c, unruled(x)), 0, None, length=1)[1],
    "in cond": lambda x: lax.cond(True, unruled, unruled, x),
    "in checkpoint": jax.checkpoint(unruled),
    "in custom_jvp": jax.custom_jvp(unruled),
    "in custom_vjp": jax.custom_vjp(unruled),
}
CALLERS["in custom_jvp"].defjvps(lambda t, out, x: out)
CALLERS["in custom_vjp"].defvjp(lambda x: (unruled(x), None), lambda _, ct: (ct,))


@pytest.mark.parametrize("name", CALLERS)
def test_error_names_primitive_reason_line_and_way_out(name):
    with pytest.raises(ls.MaterialiseError) as caught:
        ls.quaxify(CALLERS[name])(number(VECTOR))
    text = str(caught.value)
    assert "`fft`" in text and "loses the small ones" in text
    assert f"{__file__}:{unruled.__code__.co_firstlineno + 2}, in unruled" in text
    assert "`return jnp.fft.fft(shifted)`" in text
    assert "x.to_linear()" in text and 'on_materialise="allow"' in text


@pytest.mark.parametrize("name", CALLERS)
@pytest.mark.parametrize("first", ["error", "allow"])
def test_the_policy_does_not_leak_through_caches(name, first):
    function = CALLERS[name]

    def with_error():
        with pytest.raises(ls.MaterialiseError):
            ls.quaxify(function)(number(VECTOR))

    def with_allow():
        out = ls.quaxify(function, on_materialise="allow")(number(VECTOR))
        np.testing.assert_allclose(jnp.ravel(out), jnp.fft.fft(VECTOR + 1))

    for _ in range(2):
        for step in [with_error, with_allow] if first == "error" else [with_allow, with_error]:
            step()


def test_error_under_plain_quax_and_operators():
    for f in (unruled, jax.jit(unruled)):
        with pytest.raises(ls.MaterialiseError, match=r"test_policy.py:\d+, in"):
            quax.quaxify(f)(number(VECTOR))


def test_allow_reads_only_what_has_no_rule():
    @ls.quaxify(on_materialise="allow")
    def f(x, y):
        return jnp.real(jnp.fft.ifft(jnp.fft.fft(x))) + 0 * VECTOR, y * y

    out, big = f(number(VECTOR), huge(1.0))
    np.testing.assert_allclose(out, VECTOR, atol=1e-15)
    assert_close(big / huge(1.0, 8000), 1.0)


def test_allow_differentiates_through_the_plain_value():
    f = lambda a: jnp.sum(jnp.abs(jnp.fft.fft(a)) ** 2)  # noqa: E731
    g = lambda a: linear(ls.quaxify(f, on_materialise="allow")(number(a)))  # noqa: E731
    assert_close(jax.grad(g)(VECTOR), jax.grad(f)(VECTOR))
