"""States with nodes: as NetKet takes them, and as dense vectors."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import netket as nk
import numpy as np

import logspace as ls

SITES = 4
SPACE = nk.hilbert.Spin(0.5, SITES)
ISING = nk.operator.IsingJax(SPACE, nk.graph.Chain(SITES), h=1.0, J=-1.0)
STATES = SPACE.all_states()
#: Integers: f - g is exactly 0 where the two agree. NumPy, as models run inside shard_map.
_RANDOM = np.random.default_rng(0)
F = _RANDOM.integers(1, 4, size=2**SITES).astype(float)
G = _RANDOM.integers(-1, 4, size=2**SITES).astype(float)


def table_index(sigma: jax.Array) -> jax.Array:
    return ((sigma > 0) @ (2 ** np.arange(SITES))).astype(int)


class Difference(nn.Module):
    """psi = theta_0 f - theta_1 g: first-order nodes at theta = (1, 1)."""

    dtype: type = float
    log_scale: float = 0.0

    @nn.compact
    def __call__(self, sigma: jax.Array) -> ls.LogArray:
        theta = self.param("theta", lambda key: jnp.ones(2, self.dtype))
        index = table_index(sigma)
        psi = theta[0] * jnp.take(F, index) - theta[1] * jnp.take(G, index)
        return ls.from_linear(psi) * ls.exp(self.log_scale)


class Positive(nn.Module):
    """A target without nodes; log psi, for NetKet's own states."""

    @nn.compact
    def __call__(self, sigma: jax.Array) -> jax.Array:
        b = self.param("b", lambda key: jnp.array(0.2))
        return b * jnp.sum(sigma, -1) + 0.1 * sigma[..., 0] * sigma[..., 1] + 0j


class Product(nn.Module):
    """One factor for each site and spin; all up at first, so that all others are nodes."""

    @nn.compact
    def __call__(self, sigma: jax.Array) -> ls.LogArray:
        n = sigma.shape[-1]
        c = self.param("c", lambda key: jnp.ones(n, complex))
        s = self.param("s", lambda key: jnp.zeros(n, complex))
        return ls.from_linear(jnp.where(sigma > 0, c, s)).prod(-1)


def _of_difference() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    index = np.asarray(table_index(jnp.asarray(STATES)))
    jacobian = np.stack([F[index], -G[index]], -1)
    return jacobian.sum(-1), jacobian, np.asarray(ISING.to_dense())


PSI, JACOBIAN, H = _of_difference()
