"""`quaxify` as a decorator: arguments, results, nesting."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quax

import logspace as ls

from .numbers import VECTOR, assert_close, huge, number


def test_decorator_keeps_name_and_doc():
    @ls.quaxify
    def f(x):
        """Twice."""
        return 2 * x

    @ls.quaxify(on_materialise="allow")
    def g(x):
        """The transform."""
        return jnp.fft.fft(x)

    assert (f.__name__, f.__doc__, f.__wrapped__(3)) == ("f", "Twice.", 6)
    assert (g.__name__, g.__doc__) == ("g", "The transform.")
    assert_close(f(number(VECTOR)), 2 * VECTOR)
    assert_close(g(number(VECTOR)), jnp.fft.fft(VECTOR))


def test_bad_arguments():
    with pytest.raises(ValueError, match="'error' or 'allow'.*'warn'"):
        ls.quaxify(jnp.sin, on_materialise="warn")
    with pytest.raises(TypeError, match="needs a function; got 3"):
        ls.quaxify(3)


def test_pytrees_keywords_and_static_arguments():
    @ls.quaxify
    def f(tree, *rest, scale, mode="sum"):
        assert mode in ("sum", "none")
        total = tree["a"] * scale[0] + tree["b"][1]
        return {"total": total.sum() if mode == "sum" else total, "rest": rest, "none": None}

    tree = {"a": number(VECTOR), "b": (1, VECTOR)}
    out = f(tree, VECTOR, "text", scale=[number(3.0)], mode="sum")
    assert isinstance(out["total"], ls.LogArray)
    assert out["rest"][1] == "text" and out["none"] is None
    assert out["rest"][0] is VECTOR
    assert_close(out["total"], jnp.sum(VECTOR * 4))


def test_without_values_the_function_itself_is_called():
    seen = []

    @ls.quaxify
    def f(x, n):
        seen.append((x, n))
        return jnp.fft.fft(x), int(n) + 1

    out, n = f(VECTOR, 2)
    assert seen[0][0] is VECTOR and seen[0][1] == 2 and n == 3
    np.testing.assert_array_equal(out, jnp.fft.fft(VECTOR))


def test_bound_methods_and_models_that_hold_numbers():
    class Model(eqx.Module):
        weight: ls.LogArray

        def __call__(self, x):
            return self.weight * x

        @ls.quaxify
        def method(self, x):
            return jnp.add(self.weight, x)

    model = Model(huge(2.0))
    assert_close(ls.quaxify(model)(number(3.0)) / huge(1.0), 6.0)
    # no LogArray among the arguments, but in the function
    assert_close(ls.quaxify(model)(3.0) / huge(1.0), 6.0)
    assert_close(model.method(huge(1.0)) / huge(1.0), 3.0)


def test_plain_results_and_plain_arrays_stay_plain():
    out = ls.quaxify(lambda x, y: (y + 1, x > 0, x))(number(VECTOR), VECTOR)
    assert isinstance(out[0], jax.Array) and out[1].dtype == bool
    assert isinstance(out[2], ls.LogArray)


@pytest.mark.parametrize("outer, inner", [("error", "allow"), ("allow", "error")])
def test_nested_quaxify_has_its_own_policy(outer, inner):
    transform = ls.quaxify(jnp.fft.fft, on_materialise=inner)

    def f(x):
        with_inner = transform(x) if inner == "allow" else None
        if inner == "error":
            with pytest.raises(ls.MaterialiseError):
                transform(x)
        return with_inner

    def g(x):
        f(x)
        return jnp.fft.fft(x)

    ls.quaxify(f, on_materialise=outer)(number(VECTOR))
    if outer == "error":
        with pytest.raises(ls.MaterialiseError):
            ls.quaxify(g, on_materialise=outer)(number(VECTOR))
    else:
        ls.quaxify(g, on_materialise=outer)(number(VECTOR))


def test_numbers_from_outside_meet_the_arguments():
    outside = huge(1.0)
    inner = ls.quaxify(lambda x, y: jnp.multiply(x, y))
    out = ls.quaxify(lambda x: inner(x, outside) + outside * x)(number(VECTOR))
    assert_close(out / outside, 2 * VECTOR)


def test_quaxify_inside_plain_quax_handles_custom_vjp():
    @jax.custom_vjp
    def f(x):
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, ct: (5 * ct * x,))
    g = lambda a: quax.quaxify(ls.quaxify(f))(number(a)).to_linear()  # noqa: E731
    assert jax.grad(g)(3.0) == 15.0
