"""Expectation values, forces and metric from amplitudes, never divided by psi.

All of these take LogArrays of amplitudes at configurations: `psi`, `h_psi` = (H psi), and
`jacobian` = d psi / d theta for real parameters theta, (the shape of psi, parameters). They form

    conj(psi) H psi / q,    conj(d psi) (H psi - E psi) / q,    conj(d psi) d psi / q

and divide by the mean of |psi|^2 / q. At a node psi is 0, and these terms are finite and right,
while H psi / psi and d psi / psi do not exist.

With a `density` q the configurations are samples of q (any density, known up to a factor): arrays
are (chains, samples), weights are self-normalised, and the errors come from the scatter of the
chains, so that weights and autocorrelation are accounted for. Without a density the arrays hold
every configuration once, and the answers are the exact sums, with error 0.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

import logspace as ls
import logspace.numpy as lnp

from .operators import Operator, apply_operator


def local_energy(
    psi: ls.LogArray, psi_connected: ls.LogArray, matrix_elements: jax.Array
) -> ls.LogArray:
    """``(H psi) / psi``, from amplitudes (...), connected amplitudes and elements (..., rows).

    A LogArray (...). At a node it is infinite, or nan where H psi is 0 too: for averages use
    `expect`, which does not need it.
    """
    return (matrix_elements * psi_connected).sum(-1) / psi


class Evaluation(NamedTuple):
    """Amplitudes at configurations (...): psi (...), h_psi (...), jacobian (..., parameters)."""

    psi: ls.LogArray
    h_psi: ls.LogArray
    jacobian: ls.LogArray


def evaluate(
    amplitude: Callable[[jax.Array, jax.Array], ls.LogArray],
    parameters: jax.Array,
    operator: Operator,
    configurations: jax.Array,
) -> Evaluation:
    """psi, H psi and d psi / d parameters at configurations (..., sites).

    `amplitude(parameters, sigma)` is a scalar LogArray; `parameters` a real vector (for a tree of
    arrays: `jax.flatten_util.ravel_pytree`).
    """
    if parameters.ndim != 1 or not jnp.issubdtype(parameters.dtype, jnp.floating):
        raise TypeError(
            "evaluate requires real parameters in one vector (jax.flatten_util.ravel_pytree makes "
            "one; complex parameters enter as real and imaginary parts); "
            f"{parameters.dtype}{list(parameters.shape)} was given."
        )

    def one(sigma: jax.Array) -> Evaluation:
        psi, h_psi = apply_operator(lambda s: amplitude(parameters, s), operator, sigma)
        return Evaluation(psi, h_psi, ls.jacobian(amplitude)(parameters, sigma))

    batch = configurations.shape[:-1]
    flat = jax.vmap(one)(configurations.reshape(-1, configurations.shape[-1]))
    return jax.tree.map(lambda leaf: leaf.reshape(*batch, *leaf.shape[1:]), flat)


class Estimate(NamedTuple):
    """An expectation value.

    - `mean`: <psi|H|psi> / <psi|psi>, real, or complex if psi is.
    - `error`: its standard error, real; 0 for a full sum.
    - `variance`: <psi|(H - mean)^2|psi> / <psi|psi> for hermitian H, with the part that lies on the
      nodes.
    - `effective_samples`: (sum w)^2 / sum w^2 for the weights w = |psi|^2 / density.
    """

    mean: jax.Array
    error: jax.Array
    variance: jax.Array
    effective_samples: jax.Array


class Forces(NamedTuple):
    """Forces, or a gradient, (parameters,), with standard errors."""

    mean: jax.Array
    error: jax.Array


def _normalised(
    psi: ls.LogArray, density: ls.LogArray | None, *others: ls.LogArray
) -> tuple[jax.Array, ...]:
    """psi and others over sqrt(density), plain, scaled to a mean of |psi|^2 of 1.

    Shapes (chains, samples, ...). Only here does anything leave log space: the scaled psi is of
    order one.
    """
    if density is None:
        psi = psi.reshape(1, -1)
        others = tuple(x.reshape(1, psi.shape[1], -1) for x in others)
        scale = lnp.sqrt(ls.abs2(psi).mean())
        return tuple((x / scale).to_linear() for x in (psi, *others))
    if psi.ndim != 2 or density.shape != psi.shape:
        raise ValueError(
            "Sampled estimators require psi and density of the same shape (chains, samples); "
            f"psi{list(psi.shape)} and density{list(density.shape)} were given."
        )
    scale = lnp.sqrt(density) * lnp.sqrt((ls.abs2(psi) / density).mean())
    others = tuple(x.reshape(*psi.shape, -1) / scale[..., None] for x in others)
    return ((psi / scale).to_linear(), *(x.to_linear() for x in others))


def standard_error(terms: jax.Array) -> jax.Array:
    """The error of the mean of terms (chains, samples, ...) from the scatter of the chains' means.

    Independent chains are required, at least 2; the samples of a chain may be correlated.
    """
    means = terms.mean(1)
    chains = means.shape[0]
    if chains < 2:
        raise ValueError(f"An error bar requires at least 2 chains; {chains} was given.")
    squares = jnp.square(jnp.abs(means - means.mean(0))).sum(0)
    return jnp.sqrt(squares / (chains * (chains - 1)))


def _error(terms: jax.Array, sampled: bool) -> jax.Array:
    return standard_error(terms) if sampled else jnp.zeros_like(jnp.abs(terms[0, 0]))


def _expect(a: jax.Array, h: jax.Array, sampled: bool) -> Estimate:
    mean = (a.conj() * h).mean()
    residual = h - mean * a
    weights = jnp.square(jnp.abs(a))
    return Estimate(
        mean,
        # To first order in both sums: d(A / Z) = (dA - mean dZ) / Z, and Z is 1.
        _error(a.conj() * residual, sampled),
        jnp.square(jnp.abs(residual)).mean(),
        jnp.square(weights.sum()) / jnp.square(weights).sum(),
    )


def _centred(a: jax.Array, d: jax.Array) -> jax.Array:
    """d psi without its part along psi."""
    return d - a[..., None] * (a.conj()[..., None] * d).mean((0, 1))


def _forces(a: jax.Array, h: jax.Array, d: jax.Array, sampled: bool) -> Forces:
    residual = (h - (a.conj() * h).mean() * a)[..., None]
    mean = (d.conj() * residual).mean((0, 1))
    # The forces depend on the sampled energy and norm too; their fluctuations are in these terms.
    influence = _centred(a, d).conj() * residual - mean * jnp.square(jnp.abs(a))[..., None]
    return Forces(mean, _error(influence, sampled))


def _metric(a: jax.Array, d: jax.Array) -> jax.Array:
    rows = _centred(a, d).reshape(-1, d.shape[-1])
    return rows.conj().T @ rows / rows.shape[0]


def expect(psi: ls.LogArray, h_psi: ls.LogArray, density: ls.LogArray | None = None) -> Estimate:
    """The expectation value of H in psi.

    psi, h_psi and density are LogArrays of one shape: (chains, samples) if sampled, any for a full
    sum. psi may be 0 on any of them, but not on all (nan then).
    """
    a, h = _normalised(psi, density, h_psi)
    return _expect(a, h[..., 0], density is not None)


def clip_local_energy(
    psi: ls.LogArray, h_psi: ls.LogArray, density: ls.LogArray, width: float = 5.0
) -> ls.LogArray:
    """H psi with its outliers drawn in, for the forces; the energy is estimated with the whole.

    |H psi - E psi| / sqrt(density) is limited to `width` times its mean over the samples. Where |psi|^2
    was sampled that is |E_loc - E|, which FermiNet limits to 5 of its mean absolute deviations
    (arXiv:1909.02487, around the median). It is finite at nodes too, which are treated as their
    neighbours are. Forces of what is returned have less variance, and a bias.

    A LogArray of the shape (chains, samples) of psi. The limit carries no derivative.
    """
    a, h = _normalised(psi, density, h_psi)
    mean = (a.conj() * h[..., 0]).mean()
    size = jnp.abs(h[..., 0] - mean * a)
    bound = width * size.mean()
    factor = jax.lax.stop_gradient(jnp.where(size > bound, bound / size, 1.0))
    return mean * psi + factor * (h_psi - mean * psi)


def forces(
    psi: ls.LogArray,
    h_psi: ls.LogArray,
    jacobian: ls.LogArray,
    density: ls.LogArray | None = None,
) -> Forces:
    """``sum conj(d psi) (H psi - E psi) / sum |psi|^2``, one for each parameter.

    Twice its real part is the gradient of the energy, for real parameters and hermitian H. Nodes
    contribute conj(d psi) H psi: with a density that is positive there, it is unbiased but
    for the O(1 / samples) of a self-normalised mean.
    """
    a, h, d = _normalised(psi, density, h_psi, jacobian)
    return _forces(a, h[..., 0], d, density is not None)


def expect_and_grad(
    psi: ls.LogArray,
    h_psi: ls.LogArray,
    jacobian: ls.LogArray,
    density: ls.LogArray | None = None,
) -> tuple[Estimate, Forces]:
    """The energy, and its gradient in real parameters with standard errors."""
    a, h, d = _normalised(psi, density, h_psi, jacobian)
    sampled = density is not None
    force = _forces(a, h[..., 0], d, sampled)
    return _expect(a, h[..., 0], sampled), Forces(2 * force.mean.real, 2 * force.error)


def quantum_geometric_tensor(
    psi: ls.LogArray, jacobian: ls.LogArray, density: ls.LogArray | None = None
) -> jax.Array:
    """``<d_j psi|d_k psi> - <d_j psi|psi><psi|d_k psi>`` for normalised psi.

    A matrix (parameters, parameters), hermitian and not negative. Nodes contribute conj(d_j psi)
    d_k psi.
    """
    return _metric(*_normalised(psi, density, jacobian))


def expect_forces_and_metric(
    psi: ls.LogArray,
    h_psi: ls.LogArray,
    jacobian: ls.LogArray,
    density: ls.LogArray | None = None,
) -> tuple[Estimate, Forces, jax.Array]:
    """`expect`, `forces` and `quantum_geometric_tensor` in one: all that a step needs."""
    a, h, d = _normalised(psi, density, h_psi, jacobian)
    sampled = density is not None
    return _expect(a, h[..., 0], sampled), _forces(a, h[..., 0], d, sampled), _metric(a, d)


def effective_sample_size(psi: ls.LogArray, density: ls.LogArray) -> jax.Array:
    """``(sum w)^2 / sum w^2`` for the weights w = |psi|^2 / density.

    The number of samples of equal weight that are worth as much, for a quantity that does not
    correlate with the weights.
    """
    weights = ls.abs2(psi) / density
    return (weights.sum() ** 2 / (weights**2).sum()).to_linear()
