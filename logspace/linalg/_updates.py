"""Low-rank updates as public functions; the mathematics stands in `_low_rank`."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from .._log_array import LogArray
from .._numerics import Scaled
from .._value import LogSpaceValue
from . import _low_rank
from ._low_rank import Update
from ._operands import Indices, batched_together, called, check_square, number, same_dtype, shape_of

_AXES = {-2: "rows", -1: "columns"}


def det_ratio(
    inverse: ArrayLike | LogSpaceValue,
    new: ArrayLike | LogSpaceValue,
    at: ArrayLike,
    *,
    axis: int = -2,
) -> LogArray:
    """det(A') / det(A), where A' is A with k rows (or columns) exchanged, from the inverse of A.

    For moves of k particles: it costs a k x k determinant instead of one of n x n, and it is 0,
    with exact derivatives, where A' is singular. All k are exchanged at once, so it does not matter
    whether a part of the move alone would meet a node.

    **Arguments:**

    - `inverse`: 1/A, a plain array or a LogArray of shape (..., n, n).
    - `new`: the new rows, of shape (..., k, n); with `axis=-1` the new columns, (..., n, k).
    - `at`: their places, different integers of shape (..., k). One integer stands for k = 1, and
      `new` is then of shape (..., n).
    - `axis`: -2 for rows, -1 for columns.

    Batch dimensions broadcast.

    **Returns:** a LogArray of shape (...), of the promoted dtype.

    **Raises:** `ValueError` for shapes other than these or another axis; `TypeError` if `at` does not
    hold integers, or anything is not numeric.
    """
    return called(partial(_det_ratio, axis=axis), inverse, new, _places("det_ratio", at))


def update_inverse(
    inverse: ArrayLike | LogSpaceValue,
    new: ArrayLike | LogSpaceValue,
    at: ArrayLike,
    *,
    axis: int = -2,
) -> Update:
    """The ratio of `det_ratio`, and the inverse of A' (Sherman, Morrison and Woodbury).

    Where A' is singular to working precision it has no inverse, and nothing is divided by the zero:
    the inverse of A is returned, as for a move that is not made. Errors grow with the number of
    updates, and where det(A') is small: compute the inverse afresh now and then.

    **Arguments, raises:** as `det_ratio`.

    **Returns:** the named tuple (ratio, inverse, regular). The ratio is that of `det_ratio`; `inverse`
    is that of A', a LogArray if `inverse` or `new` is one and a plain array otherwise; `regular` says
    where A' has one.
    """
    return called(partial(_update_inverse, axis=axis), inverse, new, _places("update_inverse", at))


def _places(name: str, at: Any) -> Indices:
    at = jnp.asarray(at)
    if not jnp.issubdtype(at.dtype, jnp.integer):
        raise TypeError(f"logspace.linalg.{name} needs integers `at`; got dtype {at.dtype}.")
    return Indices(at)


def _det_ratio(inverse: Any, new: Any, places: Indices, axis: int) -> Scaled:
    return _compiled_ratio(*_arranged("det_ratio", inverse, new, places.at, axis))


def _update_inverse(inverse: Any, new: Any, places: Indices, axis: int) -> Update:
    out = _compiled_update(*_arranged("update_inverse", inverse, new, places.at, axis))
    return out if axis == -2 else out._replace(inverse=_transposed(out.inverse))


_compiled_ratio = jax.jit(_low_rank.ratio)
_compiled_update = jax.jit(_low_rank.updated)


def _arranged(name: str, inverse: Any, new: Any, at: jax.Array, axis: int) -> tuple[Any, ...]:
    """(inverse, new rows, places) with broadcast batches, for an exchange of rows."""
    n = check_square(name, inverse)
    if axis not in _AXES:
        raise ValueError(
            f"logspace.linalg.{name} needs axis -2 (rows) or -1 (columns); got {axis}."
        )
    if at.ndim == 0:
        at = at[None]
        new = jax.tree.map(lambda x: jnp.expand_dims(x, axis), new)
    if axis == -1:
        inverse, new = _transposed(inverse), _transposed(new)
    k = at.shape[-1]
    shape = shape_of(new)
    if len(shape) < 2 or shape[-2:] != (k, n):
        given = (*shape[:-2], *shape[:-3:-1]) if axis == -1 else shape
        wanted = f"({k}, {n})" if axis == -2 else f"({n}, {k})"
        raise ValueError(
            f"logspace.linalg.{name} needs {_AXES[axis]} of shape (..., {wanted[1:]}, one for each of "
            f"the {k} places; got {given}."
        )
    if isinstance(inverse, Scaled) or isinstance(new, Scaled):
        inverse, new = same_dtype(number(inverse), number(new))
    else:
        dtype = np.promote_types(inverse.dtype, new.dtype)
        inverse, new = inverse.astype(dtype), new.astype(dtype)
    # negative places count from the end
    at = jnp.where(at < 0, at + n, at)
    return tuple(batched_together((inverse, 2), (new, 2), (at, 1)))


def _transposed(x: Any) -> Any:
    return jax.tree.map(lambda part: jnp.swapaxes(part, -1, -2), x)
