"""Models whose call returns a LogArray, in the shape in which NetKet takes models."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import logspace as ls

#: Says, in the variables of a sampler, what to subtract from log|psi| (see `SamplerModel`).
SHIFT = "logspace_shift"


def log_amplitude(psi: ls.LogArray) -> jax.Array:
    """log psi as NetKet expects it: complex, -inf at a zero, with phase i pi where psi < 0."""
    return jax.lax.complex(psi.logabs, psi.angle)


@jax.custom_jvp
def _forward_only(log_psi: jax.Array) -> jax.Array:
    return log_psi


@_forward_only.defjvp
def _refuse(primals: Any, tangents: Any) -> Any:
    raise TypeError(
        "A derivative of log psi in the parameters was asked of a state of logspace.netket. It does "
        "not exist where psi = 0, and a number in its place would be a silently biased result. Use "
        "the psi-domain constructors of logspace.netket in place of NetKet's: "
        "nk.optimizer.SR(qgt=lnk.QGTAuto()), lnk.QGTJacobianDense, lnk.QGTJacobianPyTree, "
        "lnk.QGTOnTheFly, lnk.VMC_SR, lnk.Infidelity_SR; for a derivative of your own, "
        "differentiate `vstate.amplitude(sigma)`, a LogArray."
    )


def checked(psi: Any, batch: int) -> ls.LogArray:
    """The output of a model; raises where it is not a LogArray (batch,)."""
    if not isinstance(psi, ls.LogArray):
        what = f"{type(psi).__name__}" + (f"{list(psi.shape)}" if hasattr(psi, "shape") else "")
        raise TypeError(
            f"A model of logspace.netket must return psi as a LogArray of shape (batch,); got {what}. "
            "`logspace.exp(log_psi)` makes one from log psi, `logspace.from_linear(psi)` from psi, "
            "and `logspace.netket.from_log_psi(model)` wraps a whole NetKet model."
        )
    if psi.shape != (batch,):
        raise ValueError(
            f"A model of logspace.netket must return psi of shape (batch,) = ({batch},) for "
            f"configurations ({batch}, sites); got shape {psi.shape}. "
            "Sum or index away the other axes."
        )
    return psi


@dataclass(frozen=True)
class Amplitude:
    """A model with `init` and `apply`, the latter returning a LogArray, as NetKet sees it."""

    inner: Any

    def init(self, *args: Any, **kwargs: Any) -> Any:
        return self.inner.init(*args, **kwargs)

    def psi(self, variables: Any, sigma: jax.Array, **kwargs: Any) -> ls.LogArray:
        """psi, (batch,), at configurations (batch, sites)."""
        return checked(self.inner.apply(variables, sigma, **kwargs), sigma.shape[0])

    def apply(self, variables: Any, sigma: jax.Array, **kwargs: Any) -> jax.Array:
        """log psi (...,) at configurations (..., sites)."""
        if kwargs.pop("mutable", False) is not False:
            raise NotImplementedError(
                "Models of logspace.netket have no mutable state yet: pass mutable=False."
            )
        flat = sigma.reshape(-1, sigma.shape[-1])
        return log_amplitude(self.psi(variables, flat, **kwargs)).reshape(sigma.shape[:-1])


@dataclass(frozen=True)
class SamplerModel:
    """log psi less a constant, for samplers that exponentiate it as it is.

    The constant is among the variables (`SHIFT`), so that another one compiles nothing.
    """

    amplitude: Amplitude

    def apply(self, variables: Any, sigma: jax.Array, **kwargs: Any) -> jax.Array:
        variables = dict(variables)
        shift = variables.pop(SHIFT)
        return self.amplitude.apply(variables, sigma, **kwargs) - shift


@dataclass(frozen=True)
class ForwardOnly:
    """`Amplitude.apply`, whose derivative raises."""

    amplitude: Amplitude

    def __call__(self, variables: Any, sigma: jax.Array, **kwargs: Any) -> jax.Array:
        return _forward_only(self.amplitude.apply(variables, sigma, **kwargs))


@dataclass(frozen=True)
class FromFunctions:
    """(init, apply) as a model: `apply(variables, sigma)` returns a LogArray."""

    init_function: Callable[..., Any] | None
    apply_function: Callable[..., Any]

    def init(self, *args: Any, **kwargs: Any) -> Any:
        if self.init_function is None:
            raise ValueError("Without an init_fun the variables must be given.")
        return self.init_function(*args, **kwargs)

    def apply(self, variables: Any, sigma: jax.Array, **kwargs: Any) -> Any:
        return self.apply_function(variables, sigma, **kwargs)


def nan_parameters(parameters: Any) -> list[str]:
    """The names of the parameters that hold a nan."""
    leaves = jax.tree_util.tree_leaves_with_path(parameters)
    bad = np.asarray(_has_nan([leaf for _, leaf in leaves]))
    return [jax.tree_util.keystr(p) for (p, _), is_bad in zip(leaves, bad, strict=True) if is_bad]


@jax.jit
def _has_nan(leaves: list[jax.Array]) -> jax.Array:
    return jnp.stack([jnp.isnan(leaf).any() for leaf in leaves])
