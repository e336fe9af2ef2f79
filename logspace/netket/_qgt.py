"""The quantum geometric tensor in the psi domain, as NetKet's linear operators.

    S_jk = sum conj(d_j psi) d_k psi / sum |psi|^2 - <d_j psi|psi><psi|d_k psi>

The constructors are named and called as NetKet's. Nodes enter with conj(d_j psi) d_k psi.
"""

import functools
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct
from jax.flatten_util import ravel_pytree
from netket.optimizer import LinearOperator

from . import _kernels as kernels
from ._private import (
    NetKetAuto,
    QGTJacobianDenseT,
    QGTJacobianPyTreeT,
    nk,
    nkjax,
    rescale_columns,
    to_shift_offset,
)
from ._state import FullSumState, MCState


def require_state(state: Any, name: str) -> None:
    """Raises `TypeError` for states that are not of this package."""
    if not isinstance(state, (FullSumState, MCState)):
        raise TypeError(
            f"logspace.netket.{name} takes a logspace.netket.MCState or FullSumState, whose model "
            f"returns psi as a LogArray; got {type(state).__module__}.{type(state).__name__}. Use "
            "NetKet's own constructor for NetKet's own states."
        )


def mode_of(state: Any, a: jax.Array, mode: str | None, holomorphic: bool | None) -> str:
    """The mode of the Jacobian; "real" for real psi and parameters, else "complex" by default."""
    if mode is not None and holomorphic is not None:
        raise ValueError("Give mode or holomorphic, not both.")
    if holomorphic and not nkjax.tree_leaf_iscomplex(state.parameters):
        raise ValueError("holomorphic=True requires complex parameters; these are real.")
    if mode is None:
        if holomorphic:
            return "holomorphic"
        return "complex" if jnp.iscomplexobj(a) else "real"
    if mode not in ("real", "complex", "holomorphic", "imag"):
        raise ValueError(f"mode is one of real, complex, holomorphic, imag; {mode!r} was given.")
    if mode == "real" and jnp.iscomplexobj(a):
        raise ValueError(
            "mode='real' requires a real psi, but the model returns a complex LogArray. Use "
            "mode='complex', or return psi with its sign instead of a phase "
            "(`ls.LogArray(sign, logabs)`)."
        )
    return mode


def jacobian_rows(state: Any, mode: str, dense: bool, chunk: int | None, rows: Any = None) -> Any:
    """Centred rows of d psi / scale."""
    rows = state.rows() if rows is None else rows
    kind = "complex" if mode == "imag" else mode
    chunk = state.chunk_size if chunk is None else chunk
    return kernels.jacobian(
        state.ratio_function, state.parameters, state.model_state, rows, kind, dense, chunk
    )


def _from_jacobian(
    state: Any,
    dense: bool,
    name: str,
    mode: str | None,
    holomorphic: bool | None,
    diag_shift: Any,
    diag_scale: Any,
    chunk_size: int | None,
) -> Any:
    require_state(state, name)
    rows = state.rows()
    mode = mode_of(state, rows.a, mode, holomorphic)
    d = jacobian_rows(state, mode, dense, chunk_size, rows)
    shift, offset = to_shift_offset(diag_shift, diag_scale)
    scale = None
    if offset is not None:
        d, scale = rescale_columns(d, offset, ndims=2 if mode in ("complex", "imag") else 1)
    structure = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), state.parameters)
    operator = QGTJacobianDenseT if dense else QGTJacobianPyTreeT
    return operator(O=d, scale=scale, mode=mode, _params_structure=structure, diag_shift=shift)


def QGTJacobianDense(
    vstate: Any = None,
    *,
    mode: str | None = None,
    holomorphic: bool | None = None,
    diag_shift: Any = 0.0,
    diag_scale: Any = None,
    chunk_size: int | None = None,
) -> Any:
    """`netket.optimizer.qgt.QGTJacobianDense` for a state of this package.

    Without a state, the constructor with these arguments, for ``SR(qgt=...)`` and ``TDVP(qgt=...)``.
    """
    options = dict(mode=mode, holomorphic=holomorphic, chunk_size=chunk_size)
    if vstate is None:
        return _partially(QGTJacobianDense, options, diag_shift, diag_scale)
    return _from_jacobian(
        vstate, True, "QGTJacobianDense", mode, holomorphic, diag_shift, diag_scale, chunk_size
    )


def QGTJacobianPyTree(
    vstate: Any = None,
    *,
    mode: str | None = None,
    holomorphic: bool | None = None,
    diag_shift: Any = 0.0,
    diag_scale: Any = None,
    chunk_size: int | None = None,
) -> Any:
    """`netket.optimizer.qgt.QGTJacobianPyTree` for a state of this package."""
    options = dict(mode=mode, holomorphic=holomorphic, chunk_size=chunk_size)
    if vstate is None:
        return _partially(QGTJacobianPyTree, options, diag_shift, diag_scale)
    return _from_jacobian(
        vstate, False, "QGTJacobianPyTree", mode, holomorphic, diag_shift, diag_scale, chunk_size
    )


def QGTAuto(vstate: Any = None, *, diag_shift: Any = 0.0, **options: Any) -> Any:
    """The tensor on the fly where it has more than 2**16 parameters, else with dense rows."""
    if vstate is None:
        return _partially(QGTAuto, options, diag_shift, None)
    require_state(vstate, "QGTAuto")
    if vstate.n_parameters > 2**16 and options.get("diag_scale") is None:
        options.pop("diag_scale", None)
        return QGTOnTheFly(vstate, diag_shift=diag_shift, **options)
    return QGTJacobianDense(vstate, diag_shift=diag_shift, **options)


def _partially(constructor: Any, options: dict[str, Any], shift: Any, scale: Any) -> Any:
    given = {k: v for k, v in options.items() if v is not None}
    # SR passes its own shifts, and warns if the constructor has others.
    if not isinstance(shift, float) or shift:
        given["diag_shift"] = shift
    if scale is not None:
        given["diag_scale"] = scale
    return partial(constructor, **given)


@struct.dataclass
class QGTOnTheFlyT(LinearOperator):
    """S as products with vectors, by a linearisation of psi / scale; no Jacobian is stored.

    For real parameters, Re S; for `holomorphic`, S. Parameters that are complex without it count as
    real and imaginary parts.
    """

    function: Any = struct.field(pytree_node=False, default=None)
    holomorphic: bool = struct.field(pytree_node=False, default=False)
    parameters: Any = None
    model_state: Any = None
    rows: Any = None

    def __matmul__(self, vector: Any) -> Any:
        if hasattr(vector, "ndim"):
            _, unravel = ravel_pytree(self.parameters)
            return ravel_pytree(_product(self, unravel(vector)))[0]
        return _product(self, vector)

    def to_dense(self) -> jax.Array:
        """The matrix; by one product for each parameter."""
        flat, _ = ravel_pytree(self.parameters)
        if jnp.iscomplexobj(flat) and not self.holomorphic:
            raise ValueError(
                "For complex parameters the matrix of QGTOnTheFly is defined with "
                "holomorphic=True only. QGTJacobianDense(mode='complex') gives it in real and "
                "imaginary parts."
            )
        return jax.lax.map(lambda v: self @ v, jnp.eye(flat.size, dtype=flat.dtype)).T


@jax.jit
def _product(self: QGTOnTheFlyT, vector: Any) -> Any:
    a, augmented = self.rows.a, self.rows.augmented
    vector = jax.tree.map(lambda v, p: v.astype(p.dtype), vector, self.parameters)

    def ratio(w: Any) -> jax.Array:
        return self.function({"params": w, **self.model_state}, augmented)

    _, d = jax.jvp(ratio, (self.parameters,), (vector,))
    d = d - a * (a.conj() * d).sum()
    # The pullback of the centred rows is that of the rows, as d is centred already.
    _, pullback = nkjax.vjp(ratio, self.parameters, conjugate=True)
    product = pullback(d.conj())[0]

    def of(s: jax.Array, v: jax.Array) -> jax.Array:
        s = s if jnp.iscomplexobj(v) else s.real
        return s.astype(v.dtype) + self.diag_shift * v

    return jax.tree.map(of, product, vector)


def QGTOnTheFly(
    vstate: Any = None,
    *,
    holomorphic: bool | None = None,
    diag_shift: Any = 0.0,
    diag_scale: Any = None,
    chunk_size: int | None = None,
) -> Any:
    """`netket.optimizer.qgt.QGTOnTheFly` for a state of this package. `chunk_size` is ignored."""
    if vstate is None:
        return _partially(QGTOnTheFly, dict(holomorphic=holomorphic), diag_shift, diag_scale)
    require_state(vstate, "QGTOnTheFly")
    if diag_scale is not None:
        raise NotImplementedError(
            "QGTOnTheFly has no diag_scale; QGTJacobianDense and QGTJacobianPyTree have."
        )
    return QGTOnTheFlyT(
        diag_shift=diag_shift,
        function=vstate.ratio_function,
        holomorphic=bool(holomorphic),
        parameters=vstate.parameters,
        model_state=vstate.model_state,
        rows=vstate.rows(),
    )


def translated(constructor: Any) -> Any:
    """The constructor of this package in place of NetKet's; others raise `TypeError`."""
    ours = {
        nk.optimizer.qgt.QGTJacobianDense: QGTJacobianDense,
        nk.optimizer.qgt.QGTJacobianPyTree: QGTJacobianPyTree,
        nk.optimizer.qgt.QGTOnTheFly: QGTOnTheFly,
    }
    if constructor is None or isinstance(constructor, NetKetAuto):
        return QGTAuto
    function = constructor.func if isinstance(constructor, functools.partial) else constructor
    keywords = constructor.keywords if isinstance(constructor, functools.partial) else {}
    plain = getattr(function, "__wrapped__", function)
    for theirs, mine in ours.items():
        if function is theirs or plain is getattr(theirs, "__wrapped__", theirs):
            return partial(mine, **keywords)
    if function in (QGTJacobianDense, QGTJacobianPyTree, QGTOnTheFly, QGTAuto):
        return constructor
    raise TypeError(
        f"{constructor!r} is not a constructor of the quantum geometric tensor that is known to be "
        "right where psi = 0. Use logspace.netket.QGTAuto, QGTJacobianDense, QGTJacobianPyTree or "
        "QGTOnTheFly."
    )
