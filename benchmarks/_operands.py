"""Operands of the benchmarks: the same numbers for every candidate."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls


def sign_and_logabs(shape: tuple[int, ...], dtype: Any, seed: int) -> tuple[jax.Array, jax.Array]:
    """Signs and logarithms of magnitudes, some 20 nats wide, so that terms are of all sizes."""
    generator = np.random.default_rng(seed)
    sign = generator.choice([-1.0, 1.0], shape).astype(dtype)
    logabs = (10 * generator.standard_normal(shape)).astype(dtype)
    return jnp.asarray(sign), jnp.asarray(logabs)


def plain(shape: tuple[int, ...], dtype: Any, seed: int) -> jax.Array:
    sign, logabs = sign_and_logabs(shape, dtype, seed)
    return sign * jnp.exp(logabs)


def ours(shape: tuple[int, ...], dtype: Any, seed: int) -> ls.LogArray:
    return ls.LogArray(*sign_and_logabs(shape, dtype, seed))


def ours_from_leaves(significand: jax.Array, like: ls.LogArray) -> ls.LogArray:
    """The LogArray with another significand: a derivative is that of the significand."""
    leaves, structure = jax.tree.flatten(like)
    del leaves[0]
    return jax.tree.unflatten(structure, [significand, *leaves])


def significand_of(x: ls.LogArray) -> jax.Array:
    return jax.tree.leaves(x)[0]
