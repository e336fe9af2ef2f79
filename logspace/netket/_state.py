"""Variational states whose model returns a LogArray, in place of NetKet's."""

import copy
import warnings
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import serialization

import logspace as ls

from . import _kernels as kernels
from ._model import (
    SHIFT,
    Amplitude,
    ForwardOnly,
    FromFunctions,
    SamplerModel,
    nan_parameters,
)
from ._moves import Moves, blur, blurred_density, default_moves
from ._private import (
    deserialize_FullSumState,
    deserialize_MCState,
    model_frameworks,
    nk,
    serialize_FullSumState,
    serialize_MCState,
)


def _wrapped(model: Any, apply_fun: Any, init_fun: Any, variables: Any) -> tuple[Any, Any, Any]:
    """The framework of a model, the model as `Amplitude`, and its variables."""
    if model is None:
        if apply_fun is None:
            raise ValueError("Either a model or apply_fun is required.")
        return None, Amplitude(FromFunctions(init_fun, apply_fun)), variables
    if apply_fun is not None:
        raise ValueError("Give a model or apply_fun, not both.")
    framework = model_frameworks.identify_framework(model)
    own, static = framework.wrap(model)
    if not hasattr(static, "apply"):
        raise TypeError(
            "A model is a Flax (linen, nnx) or Equinox module or a pair (init, apply); got "
            f"{type(model).__name__}."
        )
    return framework, Amplitude(static), own if variables is None else variables


class _LogArrayState:
    """What both states share. `_amplitude` is the model as a function to LogArrays."""

    _amplitude: Amplitude
    _framework: Any
    _checked: Any = None

    @property
    def model(self) -> Any:
        """The user's model, with its parameters if it holds them itself."""
        inner = self._amplitude.inner
        if self._framework is None:
            return inner.apply_function
        return self._framework.unwrap(inner, self.variables)  # type: ignore[attr-defined]

    def amplitude(self, sigma: Any) -> ls.LogArray:
        """psi at configurations (..., sites), a LogArray (...)."""
        sigma = jnp.asarray(sigma)
        flat = sigma.reshape(-1, sigma.shape[-1])
        psi = _evaluate(self._amplitude, self.variables, flat, self.chunk_size)  # type: ignore[attr-defined]
        return psi.reshape(sigma.shape[:-1])

    def check_parameters(self) -> None:
        """Raises `FloatingPointError`, naming the parameters, if any of them is nan."""
        parameters = self.parameters  # type: ignore[attr-defined]
        if self._checked is parameters or not jax.tree.leaves(parameters):
            return
        bad = nan_parameters(parameters)
        if bad:
            raise FloatingPointError(
                f"The parameters {', '.join(bad)} hold a nan. Go back to the last good parameters "
                "with a smaller step or a larger diag_shift."
            )
        self._checked = parameters

    @property
    def ratio_function(self) -> Any:
        """The function (variables, augmented configurations) -> psi / scale."""
        return kernels.ratio(self._amplitude, self._configurations_dtype)  # type: ignore[attr-defined]


@partial(jax.jit, static_argnames=("model", "chunk"))
def _evaluate(model: Amplitude, variables: Any, sigma: jax.Array, chunk: int | None) -> Any:
    return kernels.amplitudes(model, variables, sigma, chunk)


class FullSumState(_LogArrayState, nk.vqs.FullSumState):
    """`netket.vqs.FullSumState` for a model that returns psi as a LogArray (batch,).

    Every configuration enters every sum, nodes with conj(d psi) (H psi); the results are the dense
    answers to rounding. Arguments are those of NetKet's class.

    **Raises:** `TypeError` or `ValueError` where the model returns anything else; at the first
    evaluation.
    """

    def __init__(
        self,
        hilbert: Any,
        model: Any = None,
        *,
        apply_fun: Any = None,
        init_fun: Any = None,
        variables: Any = None,
        **kwargs: Any,
    ) -> None:
        self._framework, self._amplitude, variables = _wrapped(
            model, apply_fun, init_fun, variables
        )
        super().__init__(hilbert, self._amplitude, variables=variables, **kwargs)  # type: ignore[call-arg]
        self._apply_fun = ForwardOnly(self._amplitude)

    def _replace_model(self, model: Any = None, *, apply_fun: Any = None, variables: Any = None):
        return nk.vqs.FullSumState(
            self.hilbert,
            model,
            apply_fun=apply_fun,
            variables=variables,
            chunk_size=self.chunk_size,
        )

    @property
    def _configurations_dtype(self) -> Any:
        return jnp.asarray(self._all_states).dtype

    def psi(self) -> ls.LogArray:
        """psi of all configurations, in the order of `hilbert.all_states()`."""
        return self.amplitude(self._all_states)

    def to_array(self, normalize: bool = True, allgather: bool = True) -> jax.Array:
        """psi of all configurations, plain, of norm 1 if `normalize`; psi e**800 changes nothing."""
        psi = self.psi()
        if not normalize:
            return psi.to_linear()
        return (psi / kernels.full_scale(psi)).to_linear()

    def rows(self) -> kernels.Rows:
        """Scaled amplitudes at all configurations."""
        self.check_parameters()
        sigma = jnp.asarray(self._all_states)
        return kernels.rows_of_states(
            self._amplitude, self.variables, sigma, None, self.chunk_size, True
        )

    def quantum_geometric_tensor(self, qgt_T: Any = None) -> Any:
        """The quantum geometric tensor in the psi domain, also of NetKet's own constructors."""
        from ._qgt import translated

        return translated(qgt_T)(self)


class MCState(_LogArrayState, nk.vqs.MCState):
    """`netket.vqs.MCState` for a model that returns psi as a LogArray (batch,).

    Arguments are those of NetKet's class, and:

    - `node_coverage` in [0, 1): the fraction of samples that make one more move, after NetKet's
      sampler has drawn them from |psi|^2, onto nodes if that is where it leads. They then have the
      density q of `logspace.netket.blur`, and all estimators use the weights |psi|^2 / q. At 0 the
      samples are those of |psi|^2; a first-order node contributes conj(d psi)(H psi), and they miss
      it: a warning says when the operator reaches nodes.
    - `moves`: the moves (`SingleSite`, `Exchange`, or any hashable object with `neighbours`). By
      default the exchanges of the sampler's rule, single sites, or all pairs of a constrained
      space. A node that no move leads to from the support of psi stays uncovered.

    `samples` are NetKet's, of |psi|^2; `covering_samples()` are those that estimators use.
    Chains that stand where psi = 0 are moved to a configuration with psi != 0 before they sample.

    **Raises:** `ValueError` for a `node_coverage` outside [0, 1), for a sampler with machine_pow
    other than 2; `TypeError` or `ValueError` where the model returns anything but a LogArray
    (batch,), at the first evaluation.
    """

    def __init__(
        self,
        sampler: Any,
        model: Any = None,
        *,
        node_coverage: float = 0.1,
        moves: Moves | None = None,
        apply_fun: Any = None,
        init_fun: Any = None,
        variables: Any = None,
        **kwargs: Any,
    ) -> None:
        if not 0 <= node_coverage < 1:
            raise ValueError(
                f"node_coverage must be a number in [0, 1); {node_coverage} was given."
            )
        self._node_coverage = float(node_coverage)
        self._given_moves = moves
        self._covering: Any = None
        self._shift: Any = None
        self._warned = False
        self._framework, self._amplitude, variables = _wrapped(
            model, apply_fun, init_fun, variables
        )
        super().__init__(sampler, self._amplitude, variables=variables, **kwargs)  # type: ignore[call-arg]
        self._apply_fun = ForwardOnly(self._amplitude)

    # -- hooks of NetKet's state -------------------------------------------------------------

    @property
    def _sampler_model(self) -> Any:
        return SamplerModel(self._amplitude)

    @property
    def _sampler_variables(self) -> Any:
        return {**self.variables, SHIFT: self._log_shift()}

    def _log_shift(self) -> jax.Array:
        """What an exact sampler subtracts from log|psi|, which it exponentiates; 0 for chains."""
        if not self.sampler.is_exact:
            return jnp.zeros(())
        if self._shift is None:
            states = jnp.asarray(self.hilbert.all_states())
            largest = self.amplitude(states).logabs.max()
            self._shift = jnp.where(jnp.isfinite(largest), largest, 0.0)
        return self._shift

    @property
    def sampler(self) -> Any:
        return self._sampler

    @sampler.setter
    def sampler(self, sampler: Any) -> None:
        power = getattr(sampler, "machine_pow", 2)
        if power != 2:
            raise ValueError(
                "logspace.netket.MCState requires a sampler of |psi|^2, that is machine_pow=2; "
                f"machine_pow={power} was given. For samples that cover more than |psi|^2 does, use "
                "node_coverage."
            )
        nk.vqs.MCState.sampler.fset(self, sampler)  # type: ignore[attr-defined]

    def reset(self) -> None:
        super().reset()
        self._covering = None
        self._shift = None

    def sample(
        self,
        *,
        chain_length: int | None = None,
        n_samples: int | None = None,
        n_discard_per_chain: int | None = None,
    ) -> jax.Array:
        """Samples (chains, samples of a chain, sites) of |psi|^2, as NetKet's method.

        Raises `FloatingPointError` if a parameter is nan, `RuntimeError` if no configuration with
        psi != 0 is found to start from.
        """
        if n_samples is not None and chain_length is not None:
            raise ValueError("Give n_samples or chain_length, not both.")
        if n_samples is not None:
            chain_length = -(-n_samples // self.sampler.n_chains)
        if n_discard_per_chain is None:
            n_discard_per_chain = self.n_discard_per_chain
        self.check_parameters()
        self._covering = None
        self._shift = None
        self._sampler_state_previous = self.sampler_state
        model, variables, sampler = self._sampler_model, self._sampler_variables, self.sampler
        state = sampler.reset(model, variables, self.sampler_state)
        if hasattr(state, "σ"):
            sigma = jnp.asarray(state.σ)
            node = np.asarray(self.amplitude(sigma) == 0)
            if node.any():
                # A second reset, for the log-probabilities that the sampler keeps.
                state = _at(state, self._moved_to_support(state.σ, node))
                if getattr(sampler, "reset_chains", False):
                    sampler = sampler.replace(reset_chains=False)
                state = sampler.reset(model, variables, state)
        for length in (n_discard_per_chain, chain_length or self.chain_length):
            if length:
                drawn, state = sampler.sample(model, variables, state=state, chain_length=length)
                self._samples = drawn
        self.sampler_state = state
        return self._samples

    def _moved_to_support(self, sigma: Any, node: np.ndarray) -> Any:
        """The configurations, with others where psi is 0."""
        key = jax.random.fold_in(self._sampler_seed, 1)
        flat_node = node.reshape(-1)
        found: list[np.ndarray] = [np.asarray(sigma).reshape(-1, sigma.shape[-1])[~flat_node]]
        for attempt in range(64):
            if attempt and sum(map(len, found)):
                break
            candidates = self.hilbert.random_state(
                jax.random.fold_in(key, attempt), 1024, dtype=sigma.dtype
            )
            found.append(np.asarray(candidates)[np.asarray(self.amplitude(candidates) != 0)])
        pool = np.concatenate(found)
        if not len(pool) and getattr(self.hilbert, "is_indexable", False):
            if self.hilbert.n_states <= 2**20:
                states = np.asarray(self.hilbert.all_states())
                pool = states[np.asarray(self.amplitude(states) != 0)]
        if not len(pool):
            raise RuntimeError(
                "No configuration with psi != 0 was found among 65536 random ones to start the "
                "chains from. Put one into "
                "`vstate.sampler_state = vstate.sampler_state.replace(σ=...)`, or use a Hilbert "
                "space with the constraint that psi has."
            )
        chosen = np.random.default_rng(0).integers(len(pool), size=flat_node.sum())
        flat = np.asarray(sigma).reshape(-1, sigma.shape[-1]).copy()
        flat[flat_node] = pool[chosen]
        moved = flat.reshape(sigma.shape).astype(sigma.dtype)
        return jax.device_put(moved, sigma.sharding) if isinstance(sigma, jax.Array) else moved

    # -- samples that cover nodes --------------------------------------------------------------

    @property
    def node_coverage(self) -> float:
        """The fraction of samples that make one more move."""
        return self._node_coverage

    @node_coverage.setter
    def node_coverage(self, value: float) -> None:
        if not 0 <= value < 1:
            raise ValueError(f"node_coverage must be a number in [0, 1); {value} was given.")
        self._node_coverage = float(value)
        self._covering = None

    @property
    def moves(self) -> Moves | None:
        """The moves of the samples onto nodes; None in continuous space."""
        return self._given_moves or default_moves(self.hilbert, self.sampler)

    @property
    def _configurations_dtype(self) -> Any:
        return self.samples.dtype

    def covering_samples(self) -> tuple[jax.Array, ls.LogArray | None]:
        """Samples (chains, samples of a chain, sites) and their density (chains * samples,).

        The density is None where it is |psi|^2: at node_coverage 0, and in continuous space, where
        nodes have no volume.
        """
        samples = self.samples
        moves = self.moves if self._node_coverage else None
        if moves is None:
            return samples, None
        if self._covering is None:
            self._cover_key = jax.random.split(
                getattr(self, "_cover_key", jax.random.fold_in(self._sampler_seed, 2))
            )[0]
            coverage = jnp.asarray(self._node_coverage)
            sigma = blur(self._cover_key, samples, moves, coverage)
            density = blurred_density(
                self._amplitude,
                self.variables,
                sigma.reshape(-1, sigma.shape[-1]),
                moves,
                coverage,
                self.chunk_size,
            )
            self._covering = sigma, density
        return self._covering

    def rows(self) -> kernels.Rows:
        """Scaled amplitudes at the samples that cover nodes."""
        self.check_parameters()
        sigma, density = self.covering_samples()
        flat = sigma.reshape(-1, sigma.shape[-1])
        return kernels.rows_of_states(
            self._amplitude, self.variables, flat, density, self.chunk_size, False
        )

    def effective_sample_size(self) -> float:
        """(sum w)^2 / sum w^2 of the weights w = |psi|^2 / q of the samples; all at q = |psi|^2."""
        weights = jnp.square(jnp.abs(self.rows().a))
        return float(jnp.square(weights.sum()) / jnp.square(weights).sum())

    def warn_of_missed_nodes(self, missed: jax.Array, variance: jax.Array) -> None:
        """Warn, once, if the samples are of |psi|^2 and an operator reaches nodes."""
        if self._warned or self._node_coverage or not float(missed) > 0:
            return
        self._warned = True
        warnings.warn(
            "With node_coverage=0 the samples are those of |psi|^2, which miss nodes that the "
            "operator reaches: about "
            f"{float(missed):.2g} of <|H psi|^2> lies there (the variance on the samples is "
            f"{float(variance):.2g}), and with it terms of the forces and the metric. Give "
            "logspace.netket.MCState a node_coverage such as 0.1.",
            stacklevel=4,
        )

    def quantum_geometric_tensor(self, qgt_T: Any = None) -> Any:
        """The quantum geometric tensor in the psi domain, also of NetKet's own constructors."""
        from ._qgt import translated

        return translated(qgt_T)(self)

    def to_array(self, normalize: bool = True) -> jax.Array:
        """psi of all configurations, plain, of norm 1 if `normalize`."""
        psi = self.amplitude(jnp.asarray(self.hilbert.all_states()))
        return (psi / kernels.full_scale(psi)).to_linear() if normalize else psi.to_linear()

    def _replace_model(self, model: Any = None, *, apply_fun: Any = None, variables: Any = None):
        return nk.vqs.MCState(
            self.sampler,
            model,
            apply_fun=apply_fun,
            variables=variables,
            n_samples=self.n_samples,
            n_discard_per_chain=self.n_discard_per_chain,
            chunk_size=self.chunk_size,
        )


def _at(sampler_state: Any, sigma: Any) -> Any:
    """The state of a sampler with chains at other configurations."""
    if hasattr(sampler_state, "replace"):
        return sampler_state.replace(σ=sigma)
    new = copy.copy(sampler_state)  # of the samplers that are written in NumPy
    new.σ = sigma
    return new


def _to_state_dict(state: MCState) -> dict[str, Any]:
    return serialize_MCState(state) | {"node_coverage": state.node_coverage}


def _from_state_dict(state: MCState, values: dict[str, Any]) -> MCState:
    new = deserialize_MCState(state, values)
    new.node_coverage = float(values.get("node_coverage", state.node_coverage))
    return new


serialization.register_serialization_state(MCState, _to_state_dict, _from_state_dict)
serialization.register_serialization_state(
    FullSumState, serialize_FullSumState, deserialize_FullSumState
)
