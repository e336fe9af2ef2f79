"""Models of Flax, Equinox and NetKet as functions of (parameters, one sample), made on demand."""

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

#: Name -> a maker of (function of parameters and a sample, parameters, batch of samples).
MODELS: dict[str, Callable[[], tuple[Any, Any, Any]]] = {}


def model(make: Callable[[], tuple[Any, Any, Any]]) -> Callable[[], tuple[Any, Any, Any]]:
    MODELS[make.__name__.replace("_", " ").strip()] = make
    return make


def _normal(*shape: int) -> Any:
    return jnp.asarray(np.random.default_rng(0).normal(size=shape))


# Equinox


@model
def equinox_mlp() -> Any:
    import equinox as eqx

    net = eqx.nn.MLP(4, 3, 8, 2, activation=jax.nn.softplus, key=jax.random.key(0))
    dynamic, static = eqx.partition(net, eqx.is_array)
    return lambda p, x: jax.nn.log_softmax(eqx.combine(p, static)(x))[0], dynamic, _normal(5, 4)


@model
def equinox_attention() -> Any:
    import equinox as eqx

    net = eqx.nn.MultiheadAttention(2, 4, key=jax.random.key(0))
    norm = eqx.nn.LayerNorm(4)
    dynamic, static = eqx.partition((net, norm), eqx.is_array)

    def fn(p: Any, x: Any) -> Any:
        attention, normalise = eqx.combine(p, static)
        h = jax.vmap(normalise)(x)
        return jnp.sum(jnp.tanh(attention(h, h, h)))

    return fn, dynamic, _normal(5, 3, 4)


@model
def equinox_gru() -> Any:
    import equinox as eqx

    cell = eqx.nn.GRUCell(2, 4, key=jax.random.key(0))
    dynamic, static = eqx.partition(cell, eqx.is_array)

    def fn(p: Any, x: Any) -> Any:
        step = lambda h, y: (eqx.combine(p, static)(y, h), None)  # noqa: E731
        return jnp.sum(jax.lax.scan(step, jnp.zeros(4), x)[0])

    return fn, dynamic, _normal(5, 3, 2)


# Flax


def _flax(module: Any, x: Any, of: Any = None) -> Any:
    variables = module.init(jax.random.key(0), x[0])
    of = jnp.sum if of is None else of
    return lambda p, x: of(module.apply(p, x)), variables, x


@model
def flax_mlp() -> Any:
    from flax import linen as nn

    module = nn.Sequential([nn.Dense(8), nn.gelu, nn.Dense(4), nn.log_softmax])
    return _flax(module, _normal(5, 4), lambda y: y[1])


@model
def flax_transformer_block() -> Any:
    from flax import linen as nn

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            h = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=2)(h, h)
            h = nn.Dense(16)(nn.LayerNorm()(x))
            return x + nn.Dense(x.shape[-1])(nn.gelu(h))

    return _flax(Block(), _normal(5, 6, 8))


@model
def flax_convolution() -> Any:
    from flax import linen as nn

    module = nn.Sequential(
        [nn.Conv(4, (3, 3)), nn.GroupNorm(2), nn.silu, lambda x: nn.avg_pool(x, (2, 2)),
         lambda x: nn.max_pool(x, (2, 2)), nn.Conv(2, (1, 1))]
    )  # fmt: skip
    return _flax(module, _normal(3, 1, 8, 8, 2))


@model
def flax_lstm() -> Any:
    from flax import linen as nn

    return _flax(nn.RNN(nn.LSTMCell(4)), _normal(5, 3, 2).astype(jnp.float32))


@model
def flax_nnx() -> Any:
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.first = nnx.Linear(4, 8, rngs=rngs)
            self.norm = nnx.LayerNorm(8, rngs=rngs)
            self.second = nnx.Linear(8, 3, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return nnx.log_softmax(self.second(nnx.gelu(self.norm(self.first(x)))))

    graph, state = nnx.split(Net(nnx.Rngs(0)))
    return lambda p, x: nnx.merge(graph, p)(x)[0], state, _normal(5, 4)


# NetKet's built-in models


def _netket() -> Any:
    # one process, one device: no global mesh for the other tests to live with
    os.environ.setdefault("NETKET_SHARDING", "0")
    import netket

    return netket


def _apply(module: Any, samples: Any) -> Any:
    x = jnp.asarray(samples)
    variables = module.init(jax.random.key(1), x[:1])

    def fn(p: Any, x: Any) -> Any:
        return module.apply(p, x[None])[0]

    return fn, variables, x


def _spins(*shape: int) -> Any:
    return np.random.default_rng(0).choice([-1.0, 1.0], size=shape)


def _spin_model(name: str, **options: Any) -> Any:
    nk = _netket()
    return _apply(getattr(nk.models, name)(**options), _spins(5, 4))


def _hilbert_model(name: str, *, size: int = 4, **options: Any) -> Any:
    nk = _netket()
    module = nk.models
    for part in name.split("."):
        module = getattr(module, part)
    hilbert = nk.hilbert.Spin(0.5, size)
    return _apply(module(hilbert=hilbert, **options), _spins(5, size))


_ARNN = {"layers": 2, "features": 3}


def _gcnn(mode: str, **options: Any) -> Any:
    nk = _netket()
    graph = nk.graph.Chain(4)
    options = {"symmetries": graph, "mode": mode, "layers": 2, "features": 2, **options}
    return _apply(nk.models.GCNN(**options), _spins(5, 4))


def _slater(name: str, **options: Any) -> Any:
    nk = _netket()
    hilbert = nk.hilbert.SpinOrbitalFermions(3, s=1 / 2, n_fermions_per_spin=(2, 2))
    module = getattr(nk.models, name)(hilbert, param_dtype=float, **options)
    return _apply(module, hilbert.all_states()[:5])


def _deep_set() -> Any:
    nk = _netket()
    hilbert = nk.experimental.hilbert.Particle(
        N=3, geometry=nk.experimental.geometry.Cell(d=1, L=(2.0,))
    )
    module = nk.models.DeepSetRelDistance(
        hilbert=hilbert, layers_phi=2, layers_rho=2, features_phi=(4, 4), features_rho=(4, 1),
        cusp_exponent=5,
    )  # fmt: skip
    return _apply(module, 0.3 + 0.4 * _normal(5, 3))


NETKET: dict[str, Callable[[], Any]] = {
    "RBM": lambda: _spin_model("RBM", alpha=2),
    "RBM, complex": lambda: _spin_model("RBM", alpha=2, param_dtype=complex),
    "RBMModPhase": lambda: _spin_model("RBMModPhase"),
    "RBMMultiVal": lambda: _apply(
        _netket().models.RBMMultiVal(n_classes=3),
        np.random.default_rng(0).integers(0, 3, (5, 4)),
    ),
    "RBMSymm": lambda: _spin_model(
        "RBMSymm", symmetries=_netket().graph.Chain(4).translation_group()
    ),
    "Jastrow": lambda: _spin_model("Jastrow"),
    "Jastrow, real": lambda: _spin_model("Jastrow", param_dtype=float),
    "MLP": lambda: _spin_model("MLP", hidden_dims=(8, 8)),
    "GCNN, fft": lambda: _gcnn("fft"),
    "GCNN, irreps": lambda: _gcnn("irreps"),
    "GCNN, fft, parity": lambda: _gcnn("fft", parity=-1),
    "GCNN, irreps, parity": lambda: _gcnn("irreps", parity=-1),
    "GCNN, real": lambda: _gcnn("fft", complex_output=False),
    "LogStateVector": lambda: _hilbert_model("LogStateVector"),
    "Gaussian": lambda: _apply(_netket().models.Gaussian(), _normal(5, 4)),
    "DeepSetMLP": lambda: _apply(
        _netket().models.DeepSetMLP(features_phi=(4,), features_rho=(4,)), _normal(5, 3, 2)
    ),
    "DeepSetRelDistance": _deep_set,
    "NDM": lambda: _apply(_netket().models.NDM(), _spins(5, 8)),
    "NDM, two layers": lambda: _apply(_netket().models.NDM(alpha=2, beta=2), _spins(5, 8)),
    "ARNNDense": lambda: _hilbert_model("ARNNDense", **_ARNN),
    "ARNNConv1D": lambda: _hilbert_model("ARNNConv1D", kernel_size=2, **_ARNN),
    "ARNNConv2D": lambda: _hilbert_model("ARNNConv2D", kernel_size=(2, 2), **_ARNN),
    "FastARNNDense": lambda: _hilbert_model("FastARNNDense", **_ARNN),
    "FastARNNConv1D": lambda: _hilbert_model("FastARNNConv1D", kernel_size=2, **_ARNN),
    "FastARNNConv2D": lambda: _hilbert_model("FastARNNConv2D", kernel_size=(2, 2), **_ARNN),
    "Slater2nd": lambda: _slater("Slater2nd"),
    "Slater2nd, unrestricted": lambda: _slater("Slater2nd", restricted=False),
    "Slater2nd, generalized": lambda: _slater("Slater2nd", generalized=True),
    "MultiSlater2nd": lambda: _slater("MultiSlater2nd", n_determinants=2),
    "MPSPeriodic": lambda: _hilbert_model("tensor_networks.MPSPeriodic", bond_dim=2),
    "MPSOpen": lambda: _hilbert_model("tensor_networks.MPSOpen", bond_dim=2),
    "MPDOPeriodic": lambda: _mpdo("MPDOPeriodic"),
    "MPDOOpen": lambda: _mpdo("MPDOOpen"),
}


def _mpdo(name: str) -> Any:
    nk = _netket()
    module = getattr(nk.models.tensor_networks, name)(hilbert=nk.hilbert.Spin(0.5, 3), bond_dim=2)
    return _apply(module, _spins(5, 6))
