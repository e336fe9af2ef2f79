"""What does `logify` cost on functions with nothing singular in them, and on log-space code?

Peers: the same functions in plain JAX. Values and gradients, compilation apart.
"""

from collections.abc import Callable
from typing import Any

from ._timing import Candidate, Options, Question, compare, main_of

import jax  # isort: skip - after _timing
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

from logspace._logify import logify


def mlp(params: Any, x: Any, labels: Any) -> Any:
    h = jax.nn.gelu(x @ params[0])
    h = jax.nn.gelu(h @ params[1])
    chosen = jax.nn.one_hot(labels, params[2].shape[1])
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(h @ params[2]) * chosen, -1))


def hidden_markov(params: Any, observed: Any) -> Any:
    initial, transition, emission = (jax.nn.log_softmax(p) for p in params)

    def step(alpha: Any, o: Any) -> Any:
        return logsumexp(alpha[:, None] + transition, axis=0) + emission[:, o], None

    first = initial + emission[:, observed[0]]
    return logsumexp(jax.lax.scan(step, first, observed[1:])[0])


def hidden_markov_batch(params: Any, observed: Any) -> Any:
    return jnp.sum(jax.vmap(hidden_markov, (None, 0))(params, observed))


def matrix_chain(logs: Any) -> Any:
    def step(c: Any, m: Any) -> Any:
        return logsumexp(c[:, :, None] + m[None], axis=1), None

    return logsumexp(jax.lax.scan(step, logs[0], logs[1:])[0])


def sinkhorn(cost: Any) -> Any:
    def step(state: Any, _: Any) -> Any:
        _, g = state
        f = -logsumexp(g[None] - cost, axis=1)
        return (f, -logsumexp(f[:, None] - cost, axis=0)), None

    n, m = cost.shape
    zeros = jnp.zeros(n, cost.dtype), jnp.zeros(m, cost.dtype)
    f, g = jax.lax.scan(step, zeros, None, length=50)[0]
    return jnp.sum(f) + jnp.sum(g)


def _questions(name: str, fn: Callable[..., Any], arguments: Any, options: Options, most: float
               ) -> list[Question]:  # fmt: skip
    out = []
    for what, of in (("value", lambda f: f), ("value and gradient", jax.value_and_grad)):
        candidates = [
            Candidate("logify", of(logify(fn)), arguments), Candidate("plain", of(fn), arguments)
        ]  # fmt: skip
        out.append(compare(f"{name}: {what}", candidates, options, {"plain": most}))
    return out


def body(options: Options) -> list[Question]:
    generator = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return jnp.asarray(generator.normal(size=shape))

    steps, states = options.size(200, 5), options.size(32, 3)
    hmm = [normal(states), normal(states, states), normal(states, 20)]
    observed = jnp.asarray(generator.integers(0, 20, (options.size(32, 2), steps)))
    width, side = options.size(128, 8), options.size(100, 4)
    params = [0.1 * normal(64, width), 0.1 * normal(width, width), 0.1 * normal(width, 10)]
    labels = jnp.asarray(generator.integers(0, 10, 256))
    return [
        *_questions("MLP", mlp, (params, normal(256, 64), labels), options, 1.1),
        *_questions("HMM", hidden_markov, (hmm, observed[0]), options, 0.5),
        *_questions("HMM, batch", hidden_markov_batch, (hmm, observed), options, 0.5),
        *_questions("matrix chain", matrix_chain, (normal(50, states, states),), options, 0.5),
        *_questions("Sinkhorn", sinkhorn, (abs(normal(side, side)),), options, 0.5),
    ]


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
