"""The public functions: documentation and checks; the mathematics stands in the other files."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.typing import ArrayLike

from .. import _numerics as num
from .._log_array import LogArray
from .._numerics import Scaled
from .._value import LogSpaceValue
from ._determinant import determinant, determinant_of_plain
from ._operands import called, check_square, number
from ._pfaffian import pfaffian_of


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


class SlogdetResult(NamedTuple):
    """What `slogdet` returns, with the names that NumPy gives its parts."""

    sign: jax.Array
    logabsdet: jax.Array


def slogdet(a: ArrayLike | LogSpaceValue) -> SlogdetResult:
    """Sign (or phase) and log-magnitude of the determinant of square matrices, as plain arrays.

    It is ``d = det(a)`` read as ``(d.sign, d.logabs)``: see `det` for arguments, errors and
    accuracy. At a singular matrix the sign is 0 and logabs is -inf, as in `jax.numpy.linalg`; the
    logarithm is singular there, so use `det` for sums of determinants that may vanish one by one.

    **Returns:** the named pair (sign, logabsdet), both of shape (...): the sign of the dtype of a,
    logabsdet real.
    """
    return SlogdetResult(*called(_slogdet, a))


def pfaffian(a: ArrayLike | LogSpaceValue, *, antisymmetrise: bool = False) -> LogArray:
    """The Pfaffian of antisymmetric matrices, as a LogArray: pf(a)**2 = det(a).

    First and second derivatives are exact at every rank, as those of `det`; for matrices up to 4 x 4
    they are so to every order. The derivative is that of pf((a - a.mT) / 2): the entries above and
    below the diagonal each carry half. The third derivative of a larger matrix raises.

    **Arguments:**

    - `a`: a plain array or a LogArray of shape (..., n, n), real or complex, with a.mT == -a (not
      the conjugate). Integers become the default float. Odd n gives 0, with derivative 0; n = 0
      gives 1.
    - `antisymmetrise`: take the antisymmetric part (a - a.mT) / 2 of any a. Otherwise a matrix that
      is not exactly antisymmetric raises, and gives nan where its values are not known because the
      function is being traced (`jax.jit`, `jax.vmap`, `jax.grad`).

    **Returns:** a LogArray of shape (...), of the dtype of a.

    **Raises:** `ValueError` if a is not a stack of square matrices, or not antisymmetric; `TypeError`
    if it is not numeric; `NotImplementedError` for the third derivative if n > 4.

    Method: A = L D L.T with 2 x 2 blocks and complete pivoting (after Bunch), its two smallest blocks
    lifted as the pivots of `det` are. Accuracy as `det`.
    """
    return called(_pfaffian, a, antisymmetrise=bool(antisymmetrise))


def _pfaffian(a: Any, antisymmetrise: bool) -> Scaled:
    check_square("pfaffian", a)
    x = number(a)
    if not antisymmetrise and not _may_be_antisymmetric(x):
        raise ValueError(
            "logspace.linalg.pfaffian needs antisymmetric matrices, a.mT == -a exactly; got one that "
            "is not. `antisymmetrise=True` takes the antisymmetric part."
        )
    return _compiled_pfaffian(x, antisymmetrise)


def _may_be_antisymmetric(x: Scaled) -> bool:
    """False only if the values are known and are not antisymmetric."""
    bad = ~_is_antisymmetric(*map(jax.lax.stop_gradient, x))
    return isinstance(bad, Tracer) or not bool(bad.any())


@jax.jit
def _is_antisymmetric(significand: jax.Array, exponent: jax.Array) -> jax.Array:
    """Which matrices are; nans count as anything."""
    x = num.normalise(Scaled(significand, exponent))
    s, e = x
    mirrored_s, mirrored_e = -jnp.swapaxes(s, -1, -2), jnp.swapaxes(e, -1, -2)
    same = ((s == mirrored_s) & ((e == mirrored_e) | (s == 0))) | (s != s)
    return jnp.all(same, (-2, -1))


@partial(jax.jit, static_argnums=1)
def _compiled_pfaffian(x: Scaled, antisymmetrise: bool) -> Scaled:
    mirrored = Scaled(*(jnp.swapaxes(part, -1, -2) for part in x))
    # halves of a difference: exact for antisymmetric matrices, and its derivative is antisymmetric
    skew = num.subtract(x, mirrored)
    skew = num.multiply(skew, num.from_linear(jnp.full_like(skew.significand, 0.5)))
    out = pfaffian_of(skew)
    if antisymmetrise:
        return out
    good = _is_antisymmetric(*map(jax.lax.stop_gradient, x))
    return Scaled(jnp.where(good, out.significand, jnp.nan), out.exponent)


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
