"""NetKet's operators on LogArrays: (H psi)(x) without a division by psi.

An operator becomes a hashable kind, which decides the program, and a tree of arrays.
"""

from typing import Any

import jax
import jax.numpy as jnp
from netket.operator import DiscreteJaxOperator, DiscreteOperator

import logspace as ls

from ._model import Amplitude
from ._private import nk, nkjax, potential_values


def check_space(state_space: Any, operator: Any) -> None:
    """Raises `ValueError` where an operator acts on another Hilbert space."""
    if operator.hilbert != state_space:
        raise ValueError(
            f"The operator acts on {operator.hilbert}, the state is defined on {state_space}. Build "
            "both from the same Hilbert space."
        )


def arguments_of(operator: Any, sigma: jax.Array) -> tuple[Any, Any]:
    """The kind and the arrays of an operator at configurations (samples, sites)."""
    if isinstance(operator, DiscreteJaxOperator):
        return "jax", operator
    if isinstance(operator, DiscreteOperator):
        return "rows", operator.get_conn_padded(sigma)  # type: ignore[arg-type]
    if isinstance(operator, nk.operator.KineticEnergy):
        return "kinetic", jnp.broadcast_to(jnp.asarray(operator.mass), sigma.shape[-1:])
    if isinstance(operator, nk.operator.PotentialEnergy):
        return "diagonal", potential_values(operator, sigma)
    if isinstance(operator, nk.operator.SumOperator):
        return _of_sum(operator, sigma)
    raise NotImplementedError(
        f"logspace.netket has no rows for operators of type {type(operator).__name__}. Discrete "
        "operators, sums of operators, kinetic and potential energies are known; "
        "`operator.to_jax_operator()` or `nk.operator.LocalOperator` may express yours."
    )


def _of_sum(operator: Any, sigma: jax.Array) -> tuple[Any, Any]:
    parts = [arguments_of(o, sigma) for o in operator.operators]
    return ("sum", *(k for k, _ in parts)), (operator.coefficients, [x for _, x in parts])


def apply_rows(
    kind: Any,
    arguments: Any,
    model: Amplitude,
    variables: Any,
    sigma: jax.Array,
    scale: ls.LogArray,
    chunk: int | None,
) -> tuple[jax.Array, jax.Array]:
    """(H psi) / scale, plain, and sum |H_xx'|^2 over connected nodes x', both (samples,)."""
    zero = jnp.zeros(sigma.shape[0], scale.dtype)
    if kind in ("rows", "jax"):
        connected, elements = arguments.get_conn_padded(sigma) if kind == "jax" else arguments
        connected = connected.reshape(sigma.shape[0], -1, sigma.shape[-1])
        elements = elements.reshape(connected.shape[:-1])
        psi = nkjax.apply_chunked(model.psi, in_axes=(None, 0), chunk_size=chunk)(
            variables, connected.reshape(-1, sigma.shape[-1])
        ).reshape(elements.shape)
        reached = jnp.where(psi == 0, jnp.square(jnp.abs(elements)), 0.0).sum(-1)
        return ((elements * psi).sum(-1) / scale).to_linear(), reached
    if kind == "diagonal":
        psi = model.psi(variables, sigma)
        return arguments * (psi / scale).to_linear(), zero
    if kind == "kinetic":
        return _kinetic(arguments, model, variables, sigma, scale), zero
    coefficients, parts = arguments
    total: Any = 0
    for k, c, part in zip(kind[1:], coefficients, parts, strict=True):
        h, reached = apply_rows(k, part, model, variables, sigma, scale, chunk)
        total, zero = total + c * h, zero + jnp.square(jnp.abs(c)) * reached
    return total, zero


def _kinetic(
    mass: jax.Array, model: Amplitude, variables: Any, sigma: jax.Array, scale: ls.LogArray
) -> jax.Array:
    """-1/2 sum_i (d^2 psi / d x_i^2) / m_i over scale: the second derivative of psi, not of log."""

    def one(x: jax.Array, s: ls.LogArray) -> jax.Array:
        def value(y: jax.Array) -> jax.Array:
            return (model.psi(variables, y[None])[0] / s).to_linear()

        def second(direction: jax.Array) -> jax.Array:
            def first(y: jax.Array) -> jax.Array:
                return jax.jvp(value, (y,), (direction,))[1]

            return jax.jvp(first, (x,), (direction,))[1]

        return -0.5 * (jax.vmap(second)(jnp.eye(x.shape[0], dtype=x.dtype)) / mass).sum()

    return jax.vmap(one)(sigma, scale)
