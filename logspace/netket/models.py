"""Models of NetKet with psi as a LogArray: the same parameters, with exact zeros and derivatives.

Flax (linen) modules that map configurations (batch, sites) to a LogArray (batch,). Parameter trees
are those of NetKet's models of the same names, so that variables can be exchanged.
"""

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls

from ._model import checked
from ._private import nk

_default_init = jax.nn.initializers.normal(0.01)


def from_log_psi(model: nn.Module) -> "FromLogPsi":
    """A linen model of log psi, such as those of `netket.models`, as one that returns exp of it.

    For use as it is or as a factor or term of a larger model. Where the model's log psi is -inf its
    derivative is lost already, inside of it.
    """
    return FromLogPsi(model)


class FromLogPsi(nn.Module):
    """exp of a linen model of log psi, as a LogArray."""

    model: nn.Module

    @nn.compact
    def __call__(self, sigma: jax.Array) -> ls.LogArray:
        log_psi = self.model(sigma)
        if isinstance(log_psi, ls.LogArray):
            raise TypeError("from_log_psi takes a model of log psi; this one returns a LogArray.")
        return ls.exp(log_psi)


def logsumexp(log: jax.Array, axis: Any = -1, b: Any = None) -> ls.LogArray:
    """sum b exp(log) over an axis, a LogArray; a term that is 0 keeps its derivative in b."""
    terms = ls.exp(log)
    return (terms if b is None else b * terms).sum(axis)


def logdet(matrices: Any) -> ls.LogArray:
    """det of matrices (..., n, n), plain or LogArrays, in the place of `netket.jax.logdet_cmplx`.

    A LogArray (...): its `log()` is the logarithm; of a singular matrix it is 0 with its derivatives.
    """
    return ls.linalg.det(
        matrices if isinstance(matrices, ls.LogArray) else ls.from_linear(matrices)
    )


class RBM(nn.Module):
    """exp(a . s) prod_j 2 cosh(b_j + W_j . s), over 2 to the number of hidden units.

    NetKet's `RBM` (the same parameters). With complex weights a cosh may vanish; the product is then
    0 with its derivative.
    """

    param_dtype: Any = float
    alpha: float = 1
    use_hidden_bias: bool = True
    use_visible_bias: bool = True
    kernel_init: Any = _default_init
    hidden_bias_init: Any = _default_init
    visible_bias_init: Any = _default_init

    @nn.compact
    def __call__(self, sigma: jax.Array) -> ls.LogArray:
        theta = nn.Dense(
            name="Dense",
            features=int(self.alpha * sigma.shape[-1]),
            param_dtype=self.param_dtype,
            use_bias=self.use_hidden_bias,
            kernel_init=self.kernel_init,
            bias_init=self.hidden_bias_init,
        )(sigma)
        # (e^t + e^-t) / 2 for complex t; log cosh of real t is smooth and cheaper.
        if jnp.iscomplexobj(theta):
            psi = (0.5 * (ls.exp(theta) + ls.exp(-theta))).prod(-1)
            psi = psi * 2.0 ** theta.shape[-1]
        else:
            psi = ls.exp((jnp.logaddexp(theta, -theta)).sum(-1))
        psi = psi / 2.0 ** theta.shape[-1]
        if self.use_visible_bias:
            bias = self.param(
                "visible_bias", self.visible_bias_init, (sigma.shape[-1],), self.param_dtype
            )
            psi = psi * ls.exp(sigma @ bias)
        return psi


class Jastrow(nn.Module):
    """exp(sum_{i>j} W_ij s_i s_j). NetKet's `Jastrow`; real weights give a positive psi."""

    param_dtype: Any = complex
    kernel_init: Any = _default_init

    @nn.compact
    def __call__(self, sigma: jax.Array) -> ls.LogArray:
        n = sigma.shape[-1]
        kernel = self.param("kernel", self.kernel_init, (n * (n - 1) // 2,), self.param_dtype)
        i, j = np.tril_indices(n, -1)
        return ls.exp((sigma[..., i] * sigma[..., j]).astype(kernel.real.dtype) @ kernel)


class Gutzwiller(nn.Module):
    """g to the number of doubly occupied sites, times a model of fermions with spin.

    g may be 0, the hard projector; its derivative there is that of the amplitudes with one doubly
    occupied site. Configurations are those of `SpinOrbitalFermions` with two spins: first the sites of
    one spin, then those of the other. Parameter "g", a scalar.
    """

    module: nn.Module
    initial: float = 1.0

    @nn.compact
    def __call__(self, n: jax.Array) -> ls.LogArray:
        g = self.param("g", lambda key: jnp.asarray(self.initial, float))
        down, up = jnp.split(n, 2, axis=-1)
        double = jnp.isclose(down, 1) & jnp.isclose(up, 1)
        factor = ls.from_linear(jnp.where(double, g, jnp.ones_like(g))).prod(-1)
        return factor * checked(self.module(n), n.shape[0])


class Slater2nd(nn.Module):
    """A Slater determinant of fermions; NetKet's `Slater2nd` (the same options and parameters).

    Its derivative in the orbitals is right where matrices are singular, of any rank.
    """

    hilbert: Any
    generalized: bool = False
    restricted: bool = True
    kernel_init: Any = jax.nn.initializers.lecun_normal()
    param_dtype: Any = float

    def __post_init__(self) -> None:
        if not isinstance(self.hilbert, nk.hilbert.SpinOrbitalFermions):
            raise TypeError(f"Slater2nd requires SpinOrbitalFermions; got {self.hilbert}.")
        if self.hilbert.n_fermions is None:
            raise TypeError("Slater2nd requires a Hilbert space with a fixed number of fermions.")
        if (
            self.restricted
            and not self.generalized
            and len(set(self.hilbert.n_fermions_per_spin)) > 1
        ):
            raise ValueError(
                "restricted=True requires the same number of fermions of each spin; there are "
                f"{self.hilbert.n_fermions_per_spin}. Use restricted=False."
            )
        super().__post_init__()

    def _orbitals(self) -> list[jax.Array]:
        space = self.hilbert

        def orbitals(name: str, rows: int, columns: int) -> jax.Array:
            return self.param(name, self.kernel_init, (rows, columns), self.param_dtype)

        if self.generalized:
            return [orbitals("M", space.size, space.n_fermions)]
        counts = space.n_fermions_per_spin
        if self.restricted:
            return [orbitals("M", space.n_orbitals, counts[0])] * len(counts)
        return [orbitals(f"M_{i}", space.n_orbitals, k) for i, k in enumerate(counts)]

    @nn.compact
    def __call__(self, n: jax.Array) -> ls.LogArray:
        space = self.hilbert
        if n.shape[-1] != space.size:
            raise ValueError(
                f"Configurations of {space.size} orbitals are required; got shape {n.shape}."
            )
        occupied = jnp.isclose(n, 1)
        counts = [space.n_fermions] if self.generalized else space.n_fermions_per_spin
        psi: Any = None
        for i, (count, orbitals) in enumerate(zip(counts, self._orbitals(), strict=True)):
            width = orbitals.shape[0]
            if count == 0:
                continue
            rows = jax.vmap(lambda x, k=count: x.nonzero(size=k)[0])(
                occupied[..., i * width : (i + 1) * width]
            )
            matrices = jnp.take(orbitals, rows, axis=0)
            det = ls.linalg.det(ls.from_linear(matrices))
            psi = det if psi is None else psi * det
        return ls.ones(n.shape[:1]) if psi is None else psi


class MultiSlater2nd(nn.Module):
    """A sum of Slater determinants, any of which may vanish; NetKet's `MultiSlater2nd`."""

    hilbert: Any
    n_determinants: int = 1
    generalized: bool = False
    restricted: bool = True
    kernel_init: Any = jax.nn.initializers.lecun_normal()
    param_dtype: Any = float

    @nn.compact
    def __call__(self, n: jax.Array) -> ls.LogArray:
        if self.n_determinants < 1:
            raise ValueError(f"At least one determinant is required; got {self.n_determinants}.")
        several = nn.vmap(
            Slater2nd,
            in_axes=None,  # type: ignore[arg-type]
            out_axes=0,
            axis_size=self.n_determinants,
            variable_axes={"params": 0},
            split_rngs={"params": True},
        )
        # The name under which NetKet's model keeps its parameters.
        return several(
            self.hilbert,
            generalized=self.generalized,
            restricted=self.restricted,
            kernel_init=self.kernel_init,
            param_dtype=self.param_dtype,
            name="VmapSlater2nd_0",
        )(n).sum(0)


class SymmExpSum(nn.Module):
    """The projection 1/|G| sum_g chi(g) psi(g s) on a symmetry sector; NetKet's `SymmExpSum`.

    - `module`: a model of psi (a LogArray) or of log psi.
    - `symm_group`: a permutation group of NetKet. `characters` (group,), or `character_id`, a row of
      the group's character table; all 1 by default.

    Configurations that the sector forbids have psi = 0 exactly, if the terms cancel exactly.
    """

    module: nn.Module
    symm_group: Any
    characters: Any = None
    character_id: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.characters, (np.ndarray, jax.Array, list)):
            # modules are hashed by their fields
            self.characters = tuple(np.asarray(self.characters).tolist())
        super().__post_init__()

    @nn.compact
    def __call__(self, sigma: jax.Array) -> ls.LogArray:
        size = len(np.asarray(self.symm_group))
        if self.characters is not None and self.character_id is not None:
            raise ValueError("Give characters or character_id, not both.")
        if self.characters is not None:
            chi = np.asarray(self.characters)
        elif self.character_id is not None:
            chi = np.asarray(self.symm_group.character_table()[self.character_id])
        else:
            chi = np.ones(size)
        if chi.shape != (size,):
            raise ValueError(
                f"One character for each of the {size} elements of the group is required; got shape "
                f"{chi.shape}."
            )
        chi = np.real_if_close(chi)
        images = jnp.moveaxis(self.symm_group @ sigma, 0, -2)
        psi = self.module(images.reshape(-1, sigma.shape[-1]))
        psi = psi if isinstance(psi, ls.LogArray) else ls.exp(psi)
        terms = psi.reshape(images.shape[:-1])
        return (chi / size * terms).sum(-1)


class ApplyOperator(nn.Module):
    """(O psi)(s) for a JAX operator of NetKet, exactly 0 where the sum cancels.

    Parameters are those of `module`, under its own name.
    """

    module: nn.Module
    operator: Any

    @nn.compact
    def __call__(self, sigma: jax.Array) -> ls.LogArray:
        connected, elements = self.operator.get_conn_padded(sigma)
        psi = self.module(connected.reshape(-1, sigma.shape[-1]))
        psi = psi if isinstance(psi, ls.LogArray) else ls.exp(psi)
        return (elements * psi.reshape(elements.shape)).sum(-1)


def apply_operator(operator: Any, module: nn.Module) -> ApplyOperator:
    """The model of O psi. Raises `TypeError` for operators that cannot run inside a model."""
    if not isinstance(operator, nk.operator.DiscreteJaxOperator):
        raise TypeError(
            "apply_operator requires a JAX operator; `operator.to_jax_operator()` makes one. Got "
            f"{type(operator).__name__}."
        )
    return ApplyOperator(module, operator)
