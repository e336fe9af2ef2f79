"""Decisions over a whole batch: a slow way for the few matrices that need it.

`lax.cond` under `vmap` becomes a select that computes both branches. Here the predicate is reduced
over all batch dimensions first, also those that `vmap` adds, so that a slow branch that no matrix
needs is not run, and one that few need is run on those, a chunk at a time. Results of one matrix
may therefore differ in the last bits with the batch it stands in.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

#: Entries of matrices that the slow way takes at a time.
_CHUNK = 2**13


@jax.custom_batching.custom_vmap
def any_of_batch(predicate: jax.Array) -> jax.Array:
    """Whether a scalar predicate holds for any member of the batches of `vmap`."""
    return predicate


@any_of_batch.def_vmap
def _any_of_batch_rule(size: int, batched: Any, predicate: jax.Array) -> Any:
    return any_of_batch(jnp.any(predicate, axis=0)), False


def repaired(
    condition: Callable[..., jax.Array], slow: Callable[..., Any]
) -> Callable[[jax.Array, Any, tuple[jax.Array, ...]], Any]:
    """A function (suspect, fast, constants) -> fast, with `slow(*constants)` where it is better.

    That is where `suspect`, of the batch shape, and then `condition(*constants)` hold. The first of
    the constants is a matrix for each place of the batch. All arguments are constants for
    differentiation.
    """

    @jax.custom_batching.custom_vmap
    def repair(suspect: jax.Array, fast: Any, constants: tuple[jax.Array, ...]) -> Any:
        return _on_some(suspect, fast, constants, condition, slow)

    @repair.def_vmap
    def rule(size: int, batched: Any, *arguments: Any) -> Any:
        def widen(x: jax.Array, is_batched: bool) -> jax.Array:
            return x if is_batched else jnp.broadcast_to(x, (size, *x.shape))

        out = repair(*jax.tree.map(widen, arguments, tuple(batched)))
        return out, jax.tree.map(lambda _: True, out)

    return repair


def _on_some(
    suspect: jax.Array, fast: Any, constants: Any, condition: Callable[..., Any], slow: Any
) -> Any:
    """`fast`, replaced where it has to be.

    A loop that as a rule makes no step, rather than a `lax.cond`, which would copy `fast`.
    """
    batch, depth = suspect.shape, suspect.ndim
    count = int(np.prod(batch, dtype=int))
    if count == 0:
        return fast
    flat, many = jax.tree.map(lambda x: x.reshape(count, *x.shape[depth:]), (fast, constants))
    suspect = suspect.reshape(count)
    chunk = min(count, max(1, _CHUNK // max(1, int(np.prod(many[0].shape[1:])))))

    def one_chunk(state: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        left, flat = state
        # the places still to do; the chunk may take in others, which keep what they have
        places = jnp.argsort(~left, stable=True)[:chunk].astype(np.int32)
        given = [c[places] for c in many]
        wanted = left[places] & condition(*given)

        def put(old: jax.Array, new: jax.Array) -> jax.Array:
            keep = wanted.reshape(chunk, *[1] * (new.ndim - 1))
            return old.at[places].set(jnp.where(keep, new, old[places]))

        return left.at[places].set(False), jax.tree.map(put, flat, slow(*given))

    _, flat = lax.while_loop(lambda state: jnp.any(state[0]), one_chunk, (suspect, flat))
    return jax.tree.map(lambda new, old: new.reshape(old.shape), flat, fast)
