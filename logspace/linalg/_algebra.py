"""Inverses, systems of equations and products of matrices, as public functions."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from .. import _numerics as num
from .._call import call
from .._construct import from_linear
from .._log_array import LogArray
from .._numerics import Scaled
from .._value import LogSpaceValue
from . import _solve
from ._operands import (
    batched_together,
    called,
    check_matrix,
    check_square,
    number,
    same_dtype,
    shape_of,
)

_ASSUMPTIONS = ("general", "positive")


def inv(a: ArrayLike | LogSpaceValue) -> LogArray:
    """The inverse of square matrices, as a LogArray; entries of any size, of the matrix and of it.

    The rows and columns of a are scaled by powers of two, and the result is as accurate as the
    inverse of the scaled matrix, whatever the range of the entries. A singular matrix gives
    infinities or nans, as in `jax.numpy.linalg.inv`; derivatives are those of the inverse.

    **Arguments:**

    - `a`: a plain array or a LogArray of shape (..., n, n), real or complex.

    **Returns:** a LogArray of the shape and dtype of a.

    **Raises:** `ValueError` if a is not a stack of square matrices; `TypeError` if it is not numeric.
    """
    return called(_inv, a)


def solve(
    a: ArrayLike | LogSpaceValue, b: ArrayLike | LogSpaceValue, *, assume_a: str = "general"
) -> LogArray:
    """The solution x of a x = b, as a LogArray.

    As `inv`: the rows and columns of a are scaled by powers of two, and so is each column of b.

    **Arguments:**

    - `a`: a plain array or a LogArray of shape (..., n, n), real or complex.
    - `b`: of shape (n,), or (..., n, m) for m right-hand sides. Batch dimensions broadcast.
    - `assume_a`: `"general"` (LU decomposition with partial pivoting) or `"positive"` for Hermitian
      positive definite matrices (Cholesky decomposition, of the lower triangle; nan if a is not
      positive definite).

    **Returns:** a LogArray of the shape of b, with broadcast batch dimensions, of the promoted dtype.

    **Raises:** `ValueError` for other shapes or another `assume_a`; `TypeError` if anything is not
    numeric.
    """
    if assume_a not in _ASSUMPTIONS:
        raise ValueError(
            "logspace.linalg.solve: assume_a is 'general' or 'positive'; got "
            + repr(assume_a)
            + "."
        )
    return called(partial(_solve_checked, positive=assume_a == "positive"), a, b)


def matrix_power(a: ArrayLike | LogSpaceValue, n: int) -> LogArray:
    """Square matrices to an integer power, as a LogArray, by repeated squaring.

    Products lose no term and neither overflow nor underflow. n = 0 gives the identity, a negative n
    the power of the inverse.

    **Arguments:**

    - `a`: a plain array or a LogArray of shape (..., m, m), real or complex.
    - `n`: a Python integer.

    **Returns:** a LogArray of the shape and dtype of a.

    **Raises:** `ValueError` if a is not a stack of square matrices; `TypeError` if n is not an integer
    that is known when tracing.
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"logspace.linalg.matrix_power needs a Python integer n; got {n!r}.")
    return called(partial(_power_checked, n=int(n)), a)


def trace(a: ArrayLike | LogSpaceValue, *, offset: int = 0) -> LogArray:
    """The sum of the diagonal of the last two axes, or of one `offset` above it, as a LogArray.

    **Arguments:** `a`, a plain array or a LogArray of shape (..., m, n). **Raises:** `ValueError` if
    it has fewer than two axes.
    """
    x = from_linear(a)
    check_matrix("trace", x)
    return call(jnp.trace, x, offset, axis1=-2, axis2=-1)


def norm(
    x: ArrayLike | LogSpaceValue,
    ord: Any = None,
    axis: Any = None,
    keepdims: bool = False,  # noqa: A002
) -> LogArray:
    """The norm of vectors or matrices, as a LogArray: as `jax.numpy.linalg.norm`, at any scale.

    The spectral and nuclear norms (ord 2, -2 and "nuc" of matrices) come from the singular values of
    the matrix scaled by one power of two: right to eps times the largest singular value.

    A norm is as singular at zero as it is; the square of the usual norm, ``(abs2(x)).sum()``, is not.

    **Raises:** `ValueError` for an order that does not exist for the number of axes, or other axes
    than one or two.
    """
    x = from_linear(x)
    axes = (
        tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    )
    if len(axes) == 2 and ord in (2, -2, "nuc"):
        return called(partial(_spectral_norm, ord=ord, axes=axes, keepdims=keepdims), x)
    return call(jnp.linalg.norm, x, ord=ord, axis=axis, keepdims=keepdims)


def kron(a: ArrayLike | LogSpaceValue, b: ArrayLike | LogSpaceValue) -> LogArray:
    """The Kronecker product of two arrays, as `jax.numpy.kron`, as a LogArray."""
    return call(jnp.kron, from_linear(a), from_linear(b))


def _inv(a: Any) -> Scaled:
    check_square("inv", a)
    return _compiled_inverse(number(a))


def _solve_checked(a: Any, b: Any, positive: bool) -> Scaled:
    n = check_square("solve", a)
    shape = shape_of(b)
    vector = len(shape) == 1
    if not shape or (shape[0] if vector else shape[-2]) != n:
        raise ValueError(
            f"logspace.linalg.solve needs b of shape ({n},) or (..., {n}, m) for matrices {n} x {n}; "
            f"got {shape}."
        )
    x, y = same_dtype(number(a), number(b))
    if vector:
        y = Scaled(*(part[:, None] for part in y))
    x, y = batched_together((x, 2), (y, 2))
    out = _compiled_solution(x, y, positive)
    return Scaled(*(part[..., 0] for part in out)) if vector else out


def _power_checked(a: Any, n: int) -> Scaled:
    check_square("matrix_power", a)
    return _compiled_power(number(a), n)


_compiled_inverse = jax.jit(_solve.inverse)
_compiled_solution = jax.jit(_solve.solution, static_argnums=2)
_compiled_power = jax.jit(_solve.power, static_argnums=1)


@partial(jax.jit, static_argnames=("ord", "axes", "keepdims"))
def _spectral_norm(x: Scaled, *, ord: Any, axes: Any, keepdims: bool) -> Scaled:  # noqa: A002
    s, e = (jnp.moveaxis(part, axes, (-2, -1)) for part in x)
    live = num.is_live(s) & num.is_finite(s)
    top = jnp.max(
        jnp.where(live, e, np.int32(-num.LIMIT)), (-2, -1), keepdims=True, initial=-num.LIMIT
    )
    top = jnp.where(jnp.any(live, (-2, -1), keepdims=True), top, 0)
    plain = num.scale_by(s, e - top)
    norms = jnp.linalg.norm(plain, ord=ord, axis=(-2, -1))
    out = num.tidy(norms, top[..., 0, 0])
    if keepdims:
        kept = sorted(a % x.exponent.ndim for a in axes)
        out = Scaled(*(jnp.expand_dims(part, kept) for part in out))
    return out
