"""Expectation values, forces and gradients: NetKet's dispatched functions for the states here."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental.sparse import BCOO
from netket.operator import AbstractOperator, Squared
from netket.vqs import expect, expect_and_forces, expect_and_grad

from . import _kernels as kernels
from ._model import Amplitude
from ._operators import apply_rows, arguments_of, check_space
from ._private import nk, nkjax
from ._state import FullSumState, MCState

VarianceObservable = nk.observable.VarianceObservable


@jax.jit
def _apply_sparse(matrix: Any, a: jax.Array) -> jax.Array:
    return matrix @ a


def full_rows(state: FullSumState, operator: Any) -> kernels.Rows:
    """All configurations, with the operator applied."""
    check_space(state.hilbert, operator)
    rows = state.rows()
    return rows._replace(h=_apply_sparse(sparse_matrix(operator), rows.a))


def sparse_matrix(operator: Any) -> Any:
    """The operator as a sparse matrix of JAX's; NetKet's is SciPy's for some operators."""
    try:
        matrix = nk.operator.to_sparse_cached(operator)
    except TypeError:  # an operator without a hash, as FermiHubbardJax of NetKet 3.23
        matrix = operator.to_sparse()
    if isinstance(matrix, BCOO):
        return matrix
    return BCOO.from_scipy_sparse(matrix.tocoo())


def sampled_rows(state: MCState, operator: Any) -> kernels.Rows:
    """The samples that cover nodes, with the operator applied."""
    check_space(state.hilbert, operator)
    state.check_parameters()
    sigma, density = state.covering_samples()
    flat = sigma.reshape(-1, sigma.shape[-1])
    kind, arguments = arguments_of(operator, flat)
    rows, missed = kernels.sampled_rows(
        state._amplitude, state.variables, flat, density, kind, arguments, state.chunk_size
    )
    if density is None:
        state.warn_of_missed_nodes(missed, jnp.square(jnp.abs(rows.h)).sum())
    return rows


def rows_of(state: Any, operator: Any) -> kernels.Rows:
    """Amplitudes and (H psi), scaled, where the state sums."""
    if isinstance(operator, Squared):
        operator = operator.parent
    return (full_rows if isinstance(state, FullSumState) else sampled_rows)(state, operator)


def stats_of(state: Any, a: jax.Array, h: jax.Array) -> Any:
    """`netket.stats.Stats` of sum conj(a) h."""
    if isinstance(state, FullSumState):
        return kernels.full_stats(a, h)
    return kernels.sampled_stats(a, h, state.samples.shape[:-1])


def _expect(state: Any, operator: Any) -> Any:
    rows = rows_of(state, operator)
    if isinstance(operator, Squared):
        return _squared_stats(state, rows)
    return stats_of(state, rows.a, rows.h)


def _squared_stats(state: Any, rows: kernels.Rows) -> Any:
    """|h|^2 summed: <H^dagger H>, with what lies on nodes."""
    squares = jnp.square(jnp.abs(rows.h))
    mean = squares.sum()
    if isinstance(state, FullSumState):
        # of the local estimator |h/a|^2 on |psi|^2, which may be infinite; 0 as for other full sums
        return nk.stats.Stats(mean=mean, error_of_mean=0.0, variance=jnp.zeros_like(mean))
    terms = mean + rows.a.size * (squares - mean * jnp.square(jnp.abs(rows.a)))
    return nk.stats.statistics(terms.reshape(state.samples.shape[:-1])).replace(mean=mean)


def _forces(state: Any, operator: Any, mutable: Any) -> tuple[Any, Any]:
    if isinstance(operator, Squared):
        raise NotImplementedError(
            "expect_and_forces of a Squared operator does not exist; expect_and_grad does."
        )
    _require_immutable(mutable)
    rows = rows_of(state, operator)
    force = kernels.forces(
        state.ratio_function, state.parameters, state.model_state, rows, state.chunk_size
    )
    return stats_of(state, rows.a, rows.h), force


def _require_immutable(mutable: Any) -> None:
    if mutable is not False and mutable is not None:
        raise NotImplementedError(
            "States of logspace.netket have no mutable model state yet: pass mutable=False."
        )


def _gradient(state: Any, operator: Any, mutable: Any, use_covariance: bool | None) -> Any:
    squared = isinstance(operator, Squared)
    if use_covariance is None:
        use_covariance = not squared and operator.is_hermitian
    if use_covariance:
        if squared:
            raise ValueError("A Squared operator has no covariance formula: use_covariance=None.")
        stats, force = _forces(state, operator, mutable)
        return stats, kernels.to_gradient(force, state.parameters)
    _require_immutable(mutable)
    rows = rows_of(state, operator)
    program = _quotient(
        state, operator.parent if squared else operator, "squared" if squared else ""
    )
    stats = _squared_stats(state, rows) if squared else stats_of(state, rows.a, rows.h)
    return stats, program(rows.augmented)


def _quotient(state: Any, operator: Any, what: str) -> Any:
    """The gradient of a quotient of sums at fixed samples and scales, through H psi."""

    def gradient(augmented: jax.Array) -> Any:
        if isinstance(state, FullSumState):
            kind, arguments = "matrix", sparse_matrix(operator)
        else:
            sigma, _ = kernels.split(augmented, state._configurations_dtype)
            kind, arguments = arguments_of(operator, sigma)
        return _gradient_of_quotient(
            state._amplitude,
            jnp.dtype(state._configurations_dtype),
            state.parameters,
            state.model_state,
            augmented,
            kind,
            arguments,
            what,
        )

    return gradient


@partial(jax.jit, static_argnames=("model", "dtype", "kind", "what"))
def _gradient_of_quotient(
    model: Amplitude,
    dtype: Any,
    parameters: Any,
    model_state: Any,
    augmented: jax.Array,
    kind: Any,
    arguments: Any,
    what: str,
) -> Any:
    sigma, scale = kernels.split(augmented, dtype)

    def quotient(w: Any) -> jax.Array:
        variables = {"params": w, **model_state}
        a = kernels.ratio(model, dtype)(variables, augmented)
        if kind == "matrix":
            h = arguments @ a
        else:
            h = apply_rows(kind, arguments, model, variables, sigma, scale, None)[0]
        norm = (a.conj() * a).sum().real
        if what == "squared":
            return (h.conj() * h).sum().real / norm
        mean = (a.conj() * h).sum() / norm
        if what == "variance":
            return (h.conj() * h).sum().real / norm - jnp.square(jnp.abs(mean))
        return mean

    value, pullback = nkjax.vjp(quotient, parameters, conjugate=True)
    return pullback(jnp.ones_like(value))[0]


def _variance(state: Any, observable: Any) -> Any:
    """<H^2> - <H>^2 as the sum of |h - E a|^2 that it is; for hermitian H."""
    if not observable.operator.is_hermitian:
        raise ValueError(
            "The variance is that of a hermitian operator; this one is not. For <O^dagger O>, use "
            "nk.operator.Squared(O)."
        )
    rows = rows_of(state, observable.operator)
    mean = kernels.mean_of(rows.a, rows.h)
    squares = jnp.square(jnp.abs(rows.h - mean * rows.a))
    variance = squares.sum()
    if isinstance(state, FullSumState):
        return nk.stats.Stats(mean=variance, error_of_mean=0.0, variance=0.0), rows
    terms = variance + squares.size * (squares - variance * jnp.square(jnp.abs(rows.a)))
    stats = nk.stats.statistics(terms.reshape(state.samples.shape[:-1]))
    return stats.replace(mean=variance), rows


def _variance_and_gradient(state: Any, observable: Any, mutable: Any) -> tuple[Any, Any]:
    _require_immutable(mutable)
    stats, rows = _variance(state, observable)
    return stats, _quotient(state, observable.operator, "variance")(rows.augmented)


@expect.dispatch(precedence=1)
def _(state: FullSumState, operator: AbstractOperator):  # noqa: F811
    return _expect(state, operator)


@expect.dispatch(precedence=1)
def _(state: MCState, operator: AbstractOperator, chunk_size: Any):  # noqa: F811
    return _expect(state, operator)


@expect_and_forces.dispatch(precedence=1)
def _(state: FullSumState, operator: AbstractOperator, *, mutable: Any = False):  # noqa: F811
    return _forces(state, operator, mutable)


@expect_and_forces.dispatch(precedence=1)
def _(  # noqa: F811
    state: MCState, operator: AbstractOperator, chunk_size: Any, *, mutable: Any = False
):
    return _forces(state, operator, mutable)


@expect_and_grad.dispatch(precedence=1)
def _(  # noqa: F811
    state: FullSumState,
    operator: AbstractOperator,
    *,
    mutable: Any = False,
    use_covariance: bool | None = None,
):
    return _gradient(state, operator, mutable, use_covariance)


@expect_and_grad.dispatch(precedence=1)
def _(  # noqa: F811
    state: MCState,
    operator: AbstractOperator,
    chunk_size: Any,
    *,
    mutable: Any = False,
    use_covariance: bool | None = None,
):
    return _gradient(state, operator, mutable, use_covariance)


@expect.dispatch(precedence=1)
def _(state: FullSumState, observable: VarianceObservable):  # noqa: F811
    return _variance(state, observable)[0]


@expect.dispatch(precedence=1)
def _(state: MCState, observable: VarianceObservable, chunk_size: Any):  # noqa: F811
    return _variance(state, observable)[0]


@expect_and_grad.dispatch(precedence=1)
def _(state: FullSumState, observable: VarianceObservable, *, mutable: Any = False):  # noqa: F811
    return _variance_and_gradient(state, observable, mutable)


@expect_and_grad.dispatch(precedence=1)
def _(  # noqa: F811
    state: MCState, observable: VarianceObservable, chunk_size: Any, *, mutable: Any = False
):
    return _variance_and_gradient(state, observable, mutable)
