"""The public functions: documentation and checks; the mathematics stands in the other files."""

from typing import Any

import jax
from jax.typing import ArrayLike

from .. import _numerics as num
from .._log_array import LogArray
from .._numerics import Scaled
from .._value import LogSpaceValue
from ._determinant import determinant, determinant_of_plain
from ._operands import called, check_square


def det(a: ArrayLike | LogSpaceValue) -> LogArray:
    """The determinant of square matrices, as a LogArray: it neither overflows nor underflows.

    First and second derivatives are exact at every rank, in forward mode, reverse mode and any
    mixture of the two, and third derivatives too; for matrices up to 4 x 4, those of every order.
    Where the determinant is zero they are those of the polynomial that it is. No threshold decides
    what is singular. The fourth derivative of a larger matrix raises.

    **Arguments:**

    - `a`: a plain array or a LogArray of shape (..., n, n), real or complex. Integers and booleans
      become the default float. n may be 0: the determinant of an empty matrix is 1.

    **Returns:** a LogArray of shape (...), of the dtype of a.

    **Raises:** `ValueError` if a is not a stack of square matrices; `TypeError` if it is not
    numeric; `NotImplementedError` for the fourth derivative if n > 4.

    The value has the error of a matrix that differs from a by some eps times its norm. First
    derivatives, the cofactors, are right to about ``n * eps * s[0] / s[-2]`` of the largest of them,
    with the singular values s in descending order; second derivatives likewise with s[-3]. A
    LogArray is first scaled by powers of two, by rows and by columns, so that these are the
    singular values of the equilibrated matrix.

    Method: an LU decomposition whose two smallest pivots are lifted, and the matrix determinant
    lemma for what that changed. Matrices on which partial pivoting hides the rank (Wilkinson's,
    Kahan's) are detected by the inverse of the lifted matrix and are decomposed again by singular
    values, which takes longer for those; see the guide on determinants.
    """
    return called(_det, a)


def slogdet(a: ArrayLike | LogSpaceValue) -> tuple[jax.Array, jax.Array]:
    """Sign (or phase) and log-magnitude of the determinant of square matrices, as plain arrays.

    It is ``d = det(a)`` read as ``(d.sign, d.logabs)``: see `det` for arguments, errors and
    accuracy. At a singular matrix the sign is 0 and logabs is -inf, as in `jax.numpy.linalg`; the
    logarithm is singular there, so use `det` for sums of determinants that may vanish one by one.

    **Returns:** the pair (sign, logabs), both of shape (...): the sign of the dtype of a, logabs
    real.
    """
    return called(_slogdet, a)


def _det(a: Any) -> Scaled:
    check_square("det", a)
    return _compiled(a)


def _slogdet(a: Any) -> tuple[jax.Array, jax.Array]:
    check_square("slogdet", a)
    return _read(_compiled(a))


@jax.jit
def _compiled(a: Any) -> Scaled:
    return determinant(a) if isinstance(a, Scaled) else determinant_of_plain(a)


@jax.jit
def _read(x: Scaled) -> tuple[jax.Array, jax.Array]:
    return num.sign(x), num.logabs(x)
