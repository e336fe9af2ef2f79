"""What does `logify` save on log-space code, where sums of products become contractions?

Peers: the same functions in plain JAX, that is with `logsumexp`. Values and gradients, tracing and
compilation apart.
"""

from typing import Any

from . import _logified  # isort: skip - before jax
from ._timing import Options, Question, main_of

import jax  # isort: skip - after _timing
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp


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


def ctc(logits: Any, labels: Any) -> Any:
    """The forward algorithm of connectionist temporal classification, for one sequence."""
    log_probs = jax.nn.log_softmax(logits)
    # blanks, class 0, between the labels
    extended = jnp.zeros(2 * labels.size + 1, labels.dtype).at[1::2].set(labels)
    nothing = jnp.full(2, -jnp.inf, log_probs.dtype)
    before = jnp.concatenate([jnp.zeros(2, labels.dtype), extended[:-2]])
    may_skip = jnp.where((extended != 0) & (extended != before), 0.0, -jnp.inf)

    def step(alpha: Any, row: Any) -> Any:
        one = jnp.concatenate([nothing[:1], alpha[:-1]])
        two = jnp.concatenate([nothing, alpha[:-2]]) + may_skip
        return logsumexp(jnp.stack([alpha, one, two]), axis=0) + row[extended], None

    start = jnp.where(jnp.arange(extended.size) < 2, log_probs[0][extended], -jnp.inf)
    alpha = jax.lax.scan(step, start, log_probs[1:])[0]
    return -logsumexp(alpha[-2:])


def ctc_batch(logits: Any, labels: Any) -> Any:
    return jnp.mean(jax.vmap(ctc)(logits, labels))


def body(options: Options) -> list[Question]:
    generator = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return jnp.asarray(generator.normal(size=shape))

    steps, states = options.size(200, 5), options.size(32, 3)
    hmm = [normal(states), normal(states, states), normal(states, 20)]
    observed = jnp.asarray(generator.integers(0, 20, (options.size(32, 2), steps)))
    side, batch, letters = options.size(100, 4), options.size(16, 2), options.size(20, 2)
    labels = jnp.asarray(generator.integers(1, 30, (batch, letters)))
    chain = normal(options.size(50, 4), states, states)
    questions = _logified.questions
    return [
        *questions("HMM", hidden_markov, (hmm, observed[0]), options, 0.5),
        *questions("HMM, batch", hidden_markov_batch, (hmm, observed), options, 0.5),
        *questions("matrix chain", matrix_chain, (chain,), options, 0.5),
        *questions("Sinkhorn", sinkhorn, (abs(normal(side, side)),), options, 0.5),
        *questions("CTC", ctc_batch, (normal(batch, steps, 30), labels), options, 1.1),
    ]


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
