"""The matrix product of numbers, in every layout, on either side of its test for lost terms."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace._numerics as num
from logspace._logify.contraction import contract


@pytest.fixture(autouse=True)
def _double_precision() -> Any:
    with jax.enable_x64(True):
        yield


SIZES = {"b": 2, "m": 3, "n": 4, "k": 5, "l": 2}

LAYOUTS = {
    "mk,kn->mn": (((1,), (0,)), ((), ())),
    "k,kn->n": (((0,), (0,)), ((), ())),
    "k,k->": (((0,), (0,)), ((), ())),
    "m,n->mn": (((), ()), ((), ())),
    "kbm,nbk->bmn": (((0,), (2,)), ((1,), (1,))),
    "mkl,lnk->mn": (((1, 2), (2, 0)), ((), ())),
}


def operands(layout: str, wide: bool, batch: tuple[bool, bool] = (False, False)) -> Any:
    """Two numbers beyond the range of a float; if `wide`, neighbours are far apart as well."""
    generator = np.random.default_rng(0)
    # the second derivatives of an outer product hold squares of ratios, which are to be floats
    gap = 500 if layout == "m,n->mn" else 900
    for letters, batched in zip(layout.split("->")[0].split(","), batch, strict=True):
        shape = (3,) * batched + tuple(SIZES[i] for i in letters)
        s = generator.normal(size=shape)
        s.flat[:2] = 0.0
        e = 3000 + wide * generator.choice([0, gap, -gap], size=shape)
        yield num.Scaled(jnp.asarray(s), jnp.asarray(e, np.int32))


def reference(layout: str, x: num.Scaled, y: num.Scaled) -> num.Scaled:
    """Term by term."""
    inputs, out = layout.split("->")
    letters = [*out, *sorted(set(inputs) - {",", *out})]

    def spread(letters_of_x: str, x: num.Scaled) -> num.Scaled:
        order = sorted(range(len(letters_of_x)), key=lambda i: letters.index(letters_of_x[i]))
        shape = [SIZES[i] if i in letters_of_x else 1 for i in letters]
        return num.Scaled(*(jnp.transpose(p, order).reshape(shape) for p in x))

    first, second = inputs.split(",")
    whole = tuple(SIZES[i] for i in letters)
    a, b = (
        num.Scaled(*(jnp.broadcast_to(p, whole) for p in v))
        for v in (spread(first, x), spread(second, y))
    )
    return num.sum(num.multiply(a, b), tuple(range(len(out), len(letters))))


def close(x: num.Scaled, y: num.Scaled) -> None:
    x, y = (jax.device_get(num.normalise(z)) for z in (x, y))
    apart = np.clip(x.exponent - y.exponent, -2000, 2000)
    np.testing.assert_allclose(np.ldexp(x.significand, apart), y.significand, rtol=1e-12)


FULL = pytest.mark.full

LAYOUTS_BY_DEFAULT = [pytest.param(k, marks=() if k == "k,kn->n" else FULL) for k in LAYOUTS]


def derivatives(product: Any, x: num.Scaled, y: num.Scaled) -> Any:
    """Value, gradient, and a derivative of the gradient, of a weighted sum."""

    def fn(s: Any, t: Any) -> Any:
        z = product(num.Scaled(s, x.exponent), num.Scaled(t, y.exponent))
        weights = jnp.cos(jnp.arange(z.exponent.size)).reshape(z.exponent.shape)
        z = num.multiply(num.from_linear(weights), z)
        # a logarithm, whose derivatives are of one scale whatever that of z
        return num.logabs(num.sum(z, tuple(range(weights.ndim))))

    def all_of_it(s: Any, t: Any) -> Any:
        tangents = jnp.cos(s), jnp.cos(t)
        return jax.jvp(jax.value_and_grad(fn, (0, 1)), (s, t), tangents)

    return jax.jit(all_of_it)(x.significand, y.significand)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS_BY_DEFAULT)
def test_value_and_derivatives(layout: str, wide: bool) -> None:
    x, y = operands(layout, wide)
    ours = derivatives(lambda x, y: contract(x, y, LAYOUTS[layout]), x, y)
    theirs = derivatives(lambda x, y: reference(layout, x, y), x, y)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("batch", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("layout", ["mk,kn->mn", pytest.param("kbm,nbk->bmn", marks=FULL)])
def test_batch(layout: str, batch: tuple[bool, bool], wide: bool) -> None:
    x, y = operands(layout, wide, batch)
    axes = tuple(0 if b else None for b in batch)
    got = jax.jit(jax.vmap(lambda x, y: contract(x, y, LAYOUTS[layout]), axes))(x, y)
    for i in range(3):
        operands_of_row = [_row(v, i) if n else v for v, n in zip((x, y), batch, strict=True)]
        close(_row(got, i), reference(layout, *operands_of_row))


def _row(x: num.Scaled, i: int) -> num.Scaled:
    return num.Scaled(x.significand[i], x.exponent[i])


def test_a_term_that_scaling_alone_would_lose() -> None:
    tiny = jnp.array([0, -3000], np.int32)
    x = num.Scaled(jnp.ones(2), tiny)
    y = num.Scaled(jnp.ones(2), tiny[::-1])
    out = contract(x, y, LAYOUTS["k,k->"])
    assert num.to_linear(num.Scaled(out.significand, out.exponent + 3000)) == 2.0
