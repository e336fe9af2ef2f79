"""NetKet's drivers that take derivatives by themselves, with rows in the psi domain."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from . import _kernel_matrix as kernel_matrix
from . import _kernels as kernels
from ._expect import rows_of, stats_of
from ._infidelity import infidelity_rows
from ._private import min_sr_update, nk, nkjax, sr_update
from ._qgt import jacobian_rows, mode_of, require_state
from ._state import MCState


@partial(jax.jit, static_argnames="mode")
def _linear_problem(d: jax.Array, rows: kernels.Rows, mode: str) -> tuple[jax.Array, jax.Array]:
    """Real rows and right-hand side; of complex numbers the two parts, one after the other."""
    residual = 2 * (rows.h - kernels.mean_of(rows.a, rows.h) * rows.a)
    if mode == "real":
        return d, residual.real
    parts = jnp.stack([residual.real, jnp.imag(residual)], -1)
    return jax.lax.collapse(d, 0, 2), jax.lax.collapse(parts, 0, 2)


class _PsiDomain:
    """The step of both drivers."""

    @property
    def _mcmc_convergence_diagnostics_ema_decay(self) -> None:
        return None

    def _start(self, state: Any, on_the_fly: bool | None, arguments: dict[str, Any]) -> None:
        """Rows are stored by default, unless they are many and made in chunks anyway."""
        if on_the_fly is None:
            chunk = arguments.get("chunk_size_bwd") or state.chunk_size
            use_ntk = arguments.get("use_ntk")
            on_the_fly = False
            if isinstance(state, MCState) and chunk is not None and chunk < state.n_samples:
                on_the_fly = state.n_parameters > state.n_samples if use_ntk is None else use_ntk
        arguments.update(variational_state=state, on_the_fly=on_the_fly)
        super().__init__(**arguments)
        if on_the_fly and self.momentum is not None:  # type: ignore[attr-defined]
            self._old_updates = jax.tree.map(jnp.zeros_like, state.parameters)

    def _choose_mode(self, variational_state: Any, mode: str | None) -> str:
        sigma = variational_state.hilbert.random_state(jax.random.key(0), 1)
        psi = jax.eval_shape(variational_state.amplitude, sigma)
        if mode is None and nkjax.tree_leaf_iscomplex(variational_state.parameters):
            return "complex"
        return mode_of(variational_state, psi, mode, None)

    def _update(self, rows: kernels.Rows) -> Any:
        def at(value: Any) -> Any:
            return value(self.step_count) if callable(value) else value  # type: ignore[attr-defined]

        state: Any = self.state  # type: ignore[attr-defined]
        mode = self.mode  # type: ignore[attr-defined]
        chunk = self.chunk_size_bwd  # type: ignore[attr-defined]
        momentum = at(self.momentum)  # type: ignore[attr-defined]
        if self.on_the_fly:  # type: ignore[attr-defined]
            step, self._old_updates, self.info = kernel_matrix.update(
                state.ratio_function,
                state.parameters,
                state.model_state,
                rows,
                diag_shift=at(self.diag_shift),  # type: ignore[attr-defined]
                solver=self._linear_solver,  # type: ignore[attr-defined]
                mode=mode,
                proj_reg=at(self.proj_reg),  # type: ignore[attr-defined]
                momentum=momentum,
                old=self._old_updates,
                chunk=chunk,
            )
            return step
        d = jacobian_rows(state, mode, True, chunk, rows)
        d, residual = _linear_problem(d, rows, mode)
        solve = min_sr_update if self.use_ntk else sr_update  # type: ignore[attr-defined]
        structure = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), state.parameters)
        updates, self._old_updates, self.info = solve(
            d,
            residual,
            diag_shift=at(self.diag_shift),  # type: ignore[attr-defined]
            solver_fn=self._linear_solver,  # type: ignore[attr-defined]
            mode=mode,
            proj_reg=at(self.proj_reg),  # type: ignore[attr-defined]
            momentum=momentum,
            old_updates=self._old_updates,
            params_structure=structure,
        )
        return self._unravel_params_fn(updates)  # type: ignore[attr-defined]


class VMC_SR(_PsiDomain, nk.driver.VMC_SR):
    """`netket.driver.VMC_SR` (SR and minSR) for a state of this package; arguments are the same.

    Rows are (d psi - psi <d>) / scale and residuals (H psi - E psi) / scale, so that nodes
    contribute to metric, kernel and forces. `mode` is "real" by default where psi and the parameters
    are real. With `on_the_fly` the kernel of minSR is made of `chunk_size_bwd` rows at a time; the
    default is to do so where a chunk size is set.
    """

    def __init__(
        self,
        hamiltonian: Any,
        optimizer: Any,
        *,
        variational_state: Any,
        mode: str | None = None,
        on_the_fly: bool | None = None,
        **kwargs: Any,
    ) -> None:
        require_state(variational_state, "VMC_SR")
        kwargs.update(hamiltonian=hamiltonian, optimizer=optimizer)
        kwargs.update(mode=self._choose_mode(variational_state, mode))
        self._start(variational_state, on_the_fly, kwargs)

    def compute_loss_and_update(self) -> tuple[Any, Any]:
        rows = rows_of(self.state, self._ham)
        self._loss_stats = stats_of(self.state, rows.a, rows.h)
        self._dp = self._update(rows)
        return self._loss_stats, self._dp


class Infidelity_SR(_PsiDomain, nk.driver.Infidelity_SR):
    """`netket.driver.Infidelity_SR` for a state of this package; arguments are the same.

    The target may be any state, NetKet's or of this package. There is no control variate.
    """

    def __init__(
        self,
        target_state: Any,
        optimizer: Any,
        *,
        variational_state: Any,
        mode: str | None = None,
        on_the_fly: bool | None = None,
        **kwargs: Any,
    ) -> None:
        require_state(variational_state, "Infidelity_SR")
        kwargs.update(target_state=target_state, optimizer=optimizer)
        kwargs.update(mode=self._choose_mode(variational_state, mode))
        self._start(variational_state, on_the_fly, kwargs)

    def compute_loss_and_update(self) -> tuple[Any, Any]:
        self.target_state.reset()
        rows, self._loss_stats = infidelity_rows(self.state, self.target_state)
        self._dp = self._update(rows)
        return self._loss_stats, self._dp
