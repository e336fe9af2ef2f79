"""Quantum state reconstruction from measurements: NetKet's `QSR`, in the psi domain."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls

from . import _kernels as kernels
from ._model import Amplitude
from ._private import nk, nkjax
from ._qgt import require_state


def _rotated(
    model: Amplitude, variables: Any, sigma: jax.Array, elements: jax.Array, sections: jax.Array
) -> ls.LogArray:
    """<s|U psi> of the measured outcomes: sums over sections of U_ss' psi(s').

    NetKet 3.23 pads batches with configurations of zeros, which are not in the space, and the whole
    of the data with elements of other outcomes, which its own likelihood adds to the last one.
    """
    count = sections.shape[0] - 1
    inside = jnp.arange(sigma.shape[0]) < sections[-1]
    sigma = jnp.where(inside[:, None], sigma, sigma[0])
    elements = jnp.where(inside, elements, 0)
    outcome = jnp.repeat(jnp.arange(count), jnp.diff(sections), total_repeat_length=sigma.shape[0])
    terms = elements * model.psi(variables, sigma)
    return ls.zeros(count, terms.dtype).at[outcome].add(terms)


@partial(jax.jit, static_argnames="model")
def _log_rotated(model: Amplitude, variables: Any, *data: jax.Array) -> jax.Array:
    return _rotated(model, variables, *data).logabs


@partial(jax.jit, static_argnames="model")
def _mean_and_gradient(
    model: Amplitude, parameters: Any, model_state: Any, *data: jax.Array
) -> tuple[jax.Array, Any]:
    """The mean of log |<s|U psi>|^2, and d/dx + i d/dy of it for parameters x + i y."""

    def mean(w: Any) -> jax.Array:
        return 2 * _rotated(model, {"params": w, **model_state}, *data).logabs.mean()

    value, gradient = jax.value_and_grad(mean)(parameters)
    return value, jax.tree.map(jnp.conj, gradient)


class QSR(nk.experimental.QSR):
    """`netket.experimental.QSR` for a state of this package; arguments are the same.

    The likelihood of an outcome is |<s|U psi>|^2 with the sum over the rotation U in log space, so
    that terms that are 0 keep their derivative. An outcome whose amplitude is 0 as a whole has an
    infinite loss, as it should.
    """

    def __init__(self, *args: Any, variational_state: Any, **kwargs: Any) -> None:
        require_state(variational_state, "QSR")
        super().__init__(*args, variational_state=variational_state, **kwargs)

    def _gradient(self, data: Any, parameters: Any) -> Any:
        arrays = (jnp.asarray(x) for x in (data.sigma_p, data.mels, data.secs))
        model_state = self.state.model_state
        return _mean_and_gradient(self.state._amplitude, parameters, model_state, *arrays)[1]

    def _gradient_of_norm(self) -> Any:
        """That of log sum |psi|^2."""
        state = self.state
        rows = state.rows()
        overlap = kernels.pull_back(
            state.ratio_function,
            state.parameters,
            state.model_state,
            rows.augmented,
            rows.a,
            state.chunk_size,
        )
        return kernels.to_gradient(overlap, state.parameters)

    def _parts(self) -> list[Any]:
        """The data in chunks."""
        if self._chunk_size is None:
            return [self.dataset]
        return [self.dataset[indices] for indices in self._chunked_indices]

    def compute_loss_and_update(self) -> tuple[None, Any]:
        state = self.state
        state.reset()
        batch = self.dataset.subsample(
            self.training_batch_size,
            rng=self._rng,
            batch_sample_replace=self.batch_sample_replace,
        )
        ascent = self._gradient(batch, state.parameters)
        if self._control_variate_update_freq is not None:
            if self.step_count % self._control_variate_update_freq == 0:
                self._control_variate_params = state.parameters
                self._control_variate_expectation = self._whole_gradient()
            then = self._gradient(batch, self._control_variate_params)
            ascent = jax.tree.map(
                lambda new, old, mean: new - old + mean,
                ascent,
                then,
                self._control_variate_expectation,
            )
        gradient = jax.tree.map(jnp.subtract, self._gradient_of_norm(), ascent)
        gradient = nkjax.tree_cast(gradient, state.parameters)
        step = self.preconditioner(state, gradient, self.step_count)
        self._dp = nkjax.tree_cast(step, state.parameters)
        return None, self._dp

    def _whole_gradient(self) -> Any:
        parts = self._parts()
        shares = [len(part) / len(self.dataset) for part in parts]
        each = [self._gradient(part, self.state.parameters) for part in parts]
        return jax.tree.map(lambda *g: sum(s * x for s, x in zip(shares, g, strict=True)), *each)

    def nll(self, return_stats: bool | None = True) -> Any:
        """-log |<s|U psi>|^2 of the outcomes, of a normalised psi; needs all configurations.

        Statistics over the outcomes, or the values if not `return_stats`. NetKet 3.23 takes the norm
        squared but not the amplitude, and so has another number, whose difference from the entropy
        is not the Kullback-Leibler divergence.
        """
        amplitude = self.state._amplitude
        logs = []
        for part in self._parts():
            arrays = (jnp.asarray(x) for x in (part.sigma_p, part.mels, part.secs))
            logs.append(np.asarray(_log_rotated(amplitude, self.state.variables, *arrays)))
        psi = self.state.amplitude(self.state.hilbert.all_states())
        loss = ls.abs2(psi).sum().logabs - 2 * jnp.concatenate(logs)
        return nk.stats.statistics(loss) if return_stats else loss

    nll_whole_training_set = nll
