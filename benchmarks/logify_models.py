"""What does `logify` cost on functions with nothing singular in them?

Peers: the same functions in plain JAX. Values and gradients, tracing and compilation apart. Models
of Flax and NetKet are left out where these are not installed.
"""

import os
from typing import Any

from . import _logified  # isort: skip - before jax
from ._timing import Options, Question, main_of, peer

import jax  # isort: skip - after _timing
import jax.numpy as jnp
import numpy as np


def mlp(params: Any, x: Any, labels: Any) -> Any:
    h = jax.nn.gelu(x @ params[0])
    h = jax.nn.gelu(h @ params[1])
    chosen = jax.nn.one_hot(labels, params[2].shape[1])
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(h @ params[2]) * chosen, -1))


def mlp_of_probabilities(params: Any, x: Any, labels: Any) -> Any:
    h = jnp.tanh(x @ params[0])
    h = jnp.tanh(h @ params[1])
    probabilities = jax.nn.softmax(h @ params[2])
    return jnp.mean((probabilities - jax.nn.one_hot(labels, params[2].shape[1])) ** 2)


def _of_module(module: Any, x: Any) -> tuple[Any, Any]:
    variables = module.init(jax.random.key(0), x)

    def fn(variables: Any, x: Any) -> Any:
        return jnp.sum(jnp.real(module.apply(variables, x)))

    return fn, (variables, x)


def transformer_block(x: Any) -> Any:
    from flax import linen as nn

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            h = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(h, h)
            h = nn.Dense(4 * x.shape[-1])(nn.LayerNorm()(x))
            return x + nn.Dense(x.shape[-1])(nn.gelu(h))

    return _of_module(Block(), x)


def body(options: Options) -> list[Question]:
    generator = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return jnp.asarray(generator.normal(size=shape))

    width = options.size(128, 8)
    params = [0.1 * normal(64, width), 0.1 * normal(width, width), 0.1 * normal(width, 10)]
    data = (params, normal(256, 64), jnp.asarray(generator.integers(0, 10, 256)))
    models = [
        ("MLP, log_softmax", mlp, data),
        ("MLP, softmax", mlp_of_probabilities, data),
    ]
    if peer("flax") is not None:
        x = normal(options.size(32, 2), options.size(32, 4), options.size(64, 8))
        models.append(("Flax transformer block", *transformer_block(x.astype(jnp.float32))))
    # one process, one device: no global mesh for others to live with
    os.environ.setdefault("NETKET_SHARDING", "0")
    netket = peer("netket")
    if netket is not None:
        sites = options.size(16, 4)
        spins = jnp.asarray(generator.choice([-1.0, 1.0], size=(options.size(512, 4), sites)))
        chain = netket.graph.Chain(sites)
        gcnn = {"symmetries": chain, "layers": 2, "features": 4}
        models += [
            ("NetKet RBM", *_of_module(netket.models.RBM(alpha=4), spins)),
            ("NetKet GCNN, fft", *_of_module(netket.models.GCNN(mode="fft", **gcnn), spins)),
            ("NetKet GCNN, irreps", *_of_module(netket.models.GCNN(mode="irreps", **gcnn), spins)),
        ]
    return [
        question
        for name, fn, arguments in models
        for question in _logified.questions(name, fn, arguments, options, 1.1, 1.5)
    ]


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
