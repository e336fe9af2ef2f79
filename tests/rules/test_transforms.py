"""Law 4: vmap is a stack, scan is a loop, cond under vmap selects, from outside and inside."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import logspace as ls
from tests.cases import CASES
from tests.cases.case import draw_all

from .checks import close, is_number, jitted, linear, operands, parameters, seed

BATCH = 3


def transformable(case):
    return case.axis_name is None and len(case.numbers) > 0


def _stack(items):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *items)


@pytest.mark.parametrize("case, dtype", parameters(CASES, transformable))
def test_transforms(case, dtype):
    rng = seed(case, dtype)
    batches = [operands(case, draw_all(case, rng, dtype)) for _ in range(BATCH)]
    separate = [linear(jitted(case)(*x)) for x in batches]
    want = [np.stack(results) for results in zip(*separate, strict=True)]
    stacked = [_stack(column) for column in zip(*batches, strict=True)]

    def check(got, context, expected=want):
        got = linear(got)
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            close(a, b, case.ulps + 2, f"{case}, {context}")

    check(jax.jit(jax.vmap(ls.quaxify(case.call)))(*stacked), "vmap of quaxify")
    # indices and predicates are shared by the whole batch
    axes = [0 if i in case.numbers else None for i in range(len(case.operands))]
    shared = [x if i in case.numbers else batches[0][i] for i, x in enumerate(stacked)]
    inside = ls.quaxify(jax.vmap(case.call, in_axes=axes))
    check(jax.jit(inside)(*shared), "quaxify of vmap")

    def step(carry, x):
        return carry + 1, case.call(*x)

    def loop(*arguments):
        return lax.scan(step, 0, tuple(arguments))

    count, results = jax.jit(ls.quaxify(loop))(*stacked)
    assert int(count) == BATCH
    check(results, "scan")

    predicate = jnp.array([True, False, True])
    chosen = [np.where(_like(predicate, w), w, np.zeros_like(w)) for w in want]

    def branch(p, *arguments):
        shapes = jax.eval_shape(ls.quaxify(case.call), *arguments)
        zeros = lambda *_: jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)  # noqa: E731
        return lax.cond(p, ls.quaxify(case.call), zeros, *arguments)

    if not any(isinstance(x, ls.Log) for x in jax.tree.leaves(results, is_leaf=is_number)):
        got = jax.jit(jax.vmap(branch))(predicate, *stacked)
        check(got, "cond under vmap", chosen)


def _like(predicate, array):
    return np.asarray(predicate).reshape((-1,) + (1,) * (array.ndim - 1))
