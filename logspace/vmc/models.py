"""Amplitudes psi(parameters, sigma) of spin configurations, as LogArrays.

A model is a frozen dataclass with ``initial_parameters()``, a dictionary of plain arrays, and
``model(parameters, sigma)``, a scalar LogArray for one configuration (sites,): `jax.vmap` it over
configurations. Parameters are ordinary real arrays; the number at the end is the LogArray.
"""

from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls

Parameters = dict[str, jax.Array]


@dataclass(frozen=True)
class DressedSpinWave:
    r"""A spin wave in a ring, every spin with a cloud of correlations around it.

        psi(s) = exp(sum_r v_r C_r(s)) * sum_g (-1)^g s_g exp(sum_k u_k B_k(g, s))

    C_r is the spin correlation at distance r (a Jastrow factor). B_k(g, s) sums s_(g+a) s_(g+b)
    over a class k of pairs (a, b) around g; a pair and its mirror image share a class. psi is odd
    under a flip of all spins and has the character (-1) under a translation, as the lowest triplet
    of a Heisenberg ring has after Marshall's rotation (its momentum is pi relative to the ground
    state).

    Without the cloud, u = 0, the sum is the staggered magnetisation, an integer: it vanishes
    exactly wherever both sublattices have the same magnetisation, and its derivative in u mostly
    does not. These are first-order nodes. On a ring whose length is not a multiple of 4 there are
    none.

    Parameters: "jastrow" (sites // 2,) and "cloud" (classes,), both real, both 0 initially.
    """

    sites: int

    def __post_init__(self) -> None:
        if self.sites < 4 or self.sites % 2:
            raise ValueError(
                "A spin wave with momentum pi requires an even ring of at least 4 sites; "
                f"sites={self.sites} was given."
            )

    @cached_property
    def _pairs(self) -> np.ndarray:
        return np.array([(i, j) for i in range(self.sites) for j in range(i)])

    @cached_property
    def _classes(self) -> np.ndarray:
        """(pairs, sites): the class of a pair (i, j) as seen from g; -1 if g is one of the two."""
        n = self.sites
        numbers: dict[tuple[int, int], int] = {}
        table = np.full((len(self._pairs), n), -1)
        for p, (i, j) in enumerate(self._pairs):
            for g in range(n):
                a, b = sorted(((i - g) % n, (j - g) % n))
                if a:
                    mirror = (n - b, n - a)
                    table[p, g] = numbers.setdefault(min((a, b), mirror), len(numbers))
        return table

    @property
    def classes(self) -> int:
        """The number of parameters of the cloud."""
        return int(self._classes.max()) + 1

    def initial_parameters(self) -> Parameters:
        """All zero: the bare spin wave."""
        return {"jastrow": jnp.zeros(self.sites // 2), "cloud": jnp.zeros(self.classes)}

    def terms(
        self, parameters: Parameters, sigma: jax.Array
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """The logarithm of the Jastrow factor; signs (sites,) and logarithms (sites,) of the sum.

        psi = exp(jastrow) * sum of sign * exp(logarithm). The Jastrow factor stays outside, for
        the bare sum to be one of integers, which cancels exactly.
        """
        jastrow, cloud = parameters["jastrow"], parameters["cloud"]
        spins = sigma.astype(cloud.dtype)
        i, j = self._pairs.T
        products = spins[i] * spins[j]
        distance = np.minimum((i - j) % self.sites, (j - i) % self.sites)
        # A gather from a table whose last entry is 0 costs less than one einsum per class.
        table = jnp.concatenate([cloud, jnp.zeros_like(cloud[:1])])[self._classes]
        signs = spins * (-1.0) ** np.arange(self.sites)
        return products @ jastrow[distance - 1], signs, products @ table

    def __call__(self, parameters: Parameters, sigma: jax.Array) -> ls.LogArray:
        jastrow, signs, logarithms = self.terms(parameters, sigma)
        return ls.exp(jastrow) * (signs * ls.exp(logarithms)).sum()


@dataclass(frozen=True)
class ProductState:
    """``psi(s) = prod_i f[i, s_i]``: one factor for spin up, one for spin down at every site.

    Polarised spins are factors that are exactly 0: all but one configuration are nodes then, and
    those with one spin wrong are first-order nodes. Parameters: "factors" (sites, 2), real or
    complex.
    """

    sites: int

    def initial_parameters(self) -> Parameters:
        """All spins up: factors 1 and 0."""
        return {"factors": jnp.tile(jnp.array([1.0, 0.0]), (self.sites, 1))}

    def __call__(self, parameters: Parameters, sigma: jax.Array) -> ls.LogArray:
        factors = parameters["factors"]
        chosen = jnp.where(sigma > 0, factors[:, 0], factors[:, 1])
        return ls.from_linear(chosen).prod()
