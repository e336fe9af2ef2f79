"""Models and amplitudes of quantax (extra `quantax`).

`to_quantax_model` gives quantax a model whose psi is a LogArray; `from_quantax_model` takes one of
quantax's into a larger model of psi. Inside of the model derivatives are exact: a term of a sum, a
factor or a determinant that vanishes keeps its derivative wherever psi itself is not 0.

At a node of psi they are not, and cannot be with quantax 0.4.0: `Variational.jacobian` is the
derivative of sign and logabs, (1/psi) dpsi, which does not exist there, and the local energy is
psi(s')/psi(s) in quantax's own arithmetic; there is no place to hand over dpsi instead. Its
symmetrisation adds amplitudes in that arithmetic too, so that of a term that is 0 the derivative is
lost: project inside the model. `logspace.vmc` and `logspace.netket` have estimators that are right at
nodes.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from quantax.utils import LogArray as QuantaxArray  # type: ignore[import-not-found]

from ._construct import from_linear
from ._log_array import LogArray


def to_quantax(psi: LogArray) -> Any:
    """A `quantax.utils.LogArray` of the same shape and dtype; at a zero sign 0 and logabs -inf."""
    if not isinstance(psi, LogArray):
        raise TypeError(f"to_quantax takes a logspace.LogArray, got {type(psi).__name__}.")
    return QuantaxArray(psi.sign, psi.logabs)


def from_quantax(psi: Any) -> LogArray:
    """A LogArray of a `quantax.utils.LogArray`, or of a plain array of amplitudes.

    The derivatives are those of sign and logabs; of a zero of quantax's LogArray there are none.
    """
    if isinstance(psi, LogArray):
        return psi
    if isinstance(psi, QuantaxArray):
        return LogArray(psi.sign, psi.logabs)
    return from_linear(jnp.asarray(psi))


class _ToQuantax(eqx.Module):
    model: Callable[[jax.Array], LogArray]
    holomorphic: bool = eqx.field(static=True)

    def __call__(self, s: jax.Array) -> Any:
        psi = self.model(s)
        if not isinstance(psi, LogArray) or psi.ndim:
            found = psi if isinstance(psi, LogArray) else jnp.asarray(psi)
            raise TypeError(
                "A model for quantax returns psi of one configuration as a logspace.LogArray of shape "
                f"(); got {type(psi).__name__} of shape {found.shape}."
            )
        return to_quantax(psi)


def to_quantax_model(model: Callable[[jax.Array], LogArray], *, holomorphic: bool = False) -> Any:
    """A model for `quantax.state.Variational` from one that returns psi as a LogArray.

    - `model`: an Equinox module (or function) of one configuration (sites,), whose arrays are the
      parameters, returning a LogArray ().
    - `holomorphic`: whether psi is holomorphic in complex parameters, as quantax asks for it.

    **Raises:** `TypeError`, when called, for a model that returns anything else.
    """
    return _ToQuantax(model, holomorphic)


class _FromQuantax(eqx.Module):
    model: Callable[[jax.Array], Any]

    def __call__(self, s: jax.Array) -> LogArray:
        return from_quantax(self.model(s))


def from_quantax_model(model: Callable[[jax.Array], Any]) -> Callable[[jax.Array], LogArray]:
    """A model of psi as a LogArray from one of quantax's, for use in a larger one.

    - `model`: of one configuration (sites,), returning an array or a `quantax.utils.LogArray`.
    """
    return _FromQuantax(model)
