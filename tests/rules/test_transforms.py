"""Law 4: vmap is a stack, scan is a loop, cond under vmap selects, from outside and inside."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import logspace as ls
from tests.cases import CASES
from tests.cases.case import draw_all

from .checks import close, jitted, linear, operands, parameters, seed

BATCH = 3


def transformable(case):
    return case.axis_name is None and len(case.numbers) > 0


def _stack(items):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *items)


def _prepare(case, dtype):
    """Operands one by one and stacked, and the results stacked."""
    rng = seed(case, dtype)
    batches = [operands(case, draw_all(case, rng, dtype)) for _ in range(BATCH)]
    separate = [linear(jitted(case)(*x)) for x in batches]
    want = [np.stack(results) for results in zip(*separate, strict=True)]
    return batches, [_stack(column) for column in zip(*batches, strict=True)], want


def _check(case, got, want, context):
    got = linear(got)
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        close(a, b, case.ulps + 2, f"{case}, {context}")


@pytest.mark.parametrize("case, dtype", parameters(CASES, transformable, real=6, complex=24))
def test_vmap_inside(case, dtype):
    """quaxify(vmap(f)): the rules meet what batching makes of their primitive.

    Indices and predicates are shared by the whole batch.
    """
    batches, stacked, want = _prepare(case, dtype)
    axes = [0 if i in case.numbers else None for i in range(len(case.operands))]
    shared = [x if i in case.numbers else batches[0][i] for i, x in enumerate(stacked)]
    inside = ls.quaxify(jax.vmap(case.call, in_axes=axes))
    _check(case, jax.jit(inside)(*shared), want, "quaxify of vmap")


@pytest.mark.parametrize("case, dtype", parameters(CASES, transformable, real=10, complex=0))
def test_scan(case, dtype):
    _, stacked, want = _prepare(case, dtype)

    def loop(*arguments):
        return lax.scan(lambda n, x: (n + 1, case.call(*x)), 0, arguments)

    count, results = jax.jit(ls.quaxify(loop))(*stacked)
    assert int(count) == BATCH
    _check(case, results, want, "scan")


@pytest.mark.parametrize("case, dtype", parameters(CASES, transformable, real=20, complex=40))
def test_vmap_outside(case, dtype):
    """vmap(quaxify(f)): batching meets what the rules have made."""
    _, stacked, want = _prepare(case, dtype)
    _check(case, jax.jit(jax.vmap(ls.quaxify(case.call)))(*stacked), want, "vmap of quaxify")


@pytest.mark.parametrize("case, dtype", parameters(CASES, transformable, real=30, complex=60))
def test_cond_under_vmap(case, dtype):
    """Some elements of a batch take one branch and some the other."""
    _, stacked, want = _prepare(case, dtype)
    predicate = jnp.array([True, False, True])
    chosen = [np.where(_like(predicate, w), w, np.zeros_like(w)) for w in want]
    call = ls.quaxify(case.call)

    def branch(p, *arguments):
        def zeros(*arguments):
            return jax.tree.map(_zeros, shapes, is_leaf=lambda s: isinstance(s, ls.Log))

        shapes = jax.eval_shape(call, *arguments)
        return lax.cond(p, call, zeros, *arguments)

    _check(case, jax.jit(jax.vmap(branch))(predicate, *stacked), chosen, "cond under vmap")


def _zeros(like):
    # a Log holds the number whose logarithm it is
    if isinstance(like, ls.Log):
        return ls.log(ls.ones(like.shape, like.number.dtype))
    return jnp.zeros(like.shape, like.dtype)


def _like(predicate, array):
    return np.asarray(predicate).reshape((-1,) + (1,) * (array.ndim - 1))
