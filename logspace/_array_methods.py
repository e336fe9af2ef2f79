"""Operators, methods and conversions, as those of a JAX array.

Each calls the `jax.numpy` function of that name through `_call`; the mathematics stands in the
rules.
"""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from ._call import call, operator
from ._indexing import IndexUpdateHelper, get_item

_SCALARS = (bool, int, float, complex, np.generic, np.ndarray, jax.Array)
_CONTAINERS = (list, tuple, set, dict)


def _is_operand(x: Any, operation: str) -> bool:
    if isinstance(x, _CONTAINERS):
        # as in JAX: otherwise Python would answer `x == [1.0, 2.0]` with False
        raise TypeError(
            f"{operation} of a LogArray takes arrays and numbers, got a {type(x).__name__}. "
            "Convert it with jnp.asarray or logspace.from_linear."
        )
    return isinstance(x, (*_SCALARS, ArrayMethods))


def _binary(function: Any) -> tuple[Any, Any]:
    """The two Python methods of a binary operator: x + y and y + x."""
    apply, name = operator(function), function.__name__

    def method(self: Any, other: Any) -> Any:
        return apply(self, other) if _is_operand(other, name) else NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        return apply(other, self) if _is_operand(other, name) else NotImplemented

    method.__name__ = reflected.__name__ = name
    return method, reflected


def _method(function: Any) -> Any:
    """A method f(self, ...) from the function f(x, ...) of `jax.numpy`."""
    alone = operator(function)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(function, self, *args, **kwargs) if args or kwargs else alone(self)

    method.__name__ = function.__name__
    method.__doc__ = f"As `jax.numpy.{function.__name__}`, without leaving log space."
    return method


class ArrayMethods:
    """What makes a value an array for the person who holds it; a mixin."""

    # NumPy arrays and scalars on the left leave the operation to us instead of looping over items.
    __array_ufunc__ = None
    __array_priority__ = 200

    __add__, __radd__ = _binary(jnp.add)
    __sub__, __rsub__ = _binary(jnp.subtract)
    __mul__, __rmul__ = _binary(jnp.multiply)
    __truediv__, __rtruediv__ = _binary(jnp.true_divide)
    __matmul__, __rmatmul__ = _binary(jnp.matmul)
    __floordiv__, __rfloordiv__ = _binary(jnp.floor_divide)
    __mod__, __rmod__ = _binary(jnp.remainder)
    __divmod__, __rdivmod__ = _binary(jnp.divmod)
    __eq__: Any = _binary(jnp.equal)[0]
    __ne__: Any = _binary(jnp.not_equal)[0]
    __lt__: Any = _binary(jnp.less)[0]
    __le__: Any = _binary(jnp.less_equal)[0]
    __gt__: Any = _binary(jnp.greater)[0]
    __ge__: Any = _binary(jnp.greater_equal)[0]
    __hash__ = None  # type: ignore[assignment]

    __neg__ = _method(jnp.negative)
    __abs__ = _method(jnp.abs)

    def __pos__(self) -> Any:
        return self

    def __pow__(self, other: Any) -> Any:
        if not _is_operand(other, "power"):
            return NotImplemented
        if _is_static_integer(other):
            # repeated multiplication, as in JAX
            return call(jnp.power, self, int(other))
        return _power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return _power(other, self) if _is_operand(other, "power") else NotImplemented

    def __round__(self, ndigits: int | None = None) -> Any:
        return call(jnp.round, self, ndigits or 0)

    # reductions and the like
    sum = _method(jnp.sum)
    prod = _method(jnp.prod)
    mean = _method(jnp.mean)
    var = _method(jnp.var)
    std = _method(jnp.std)
    max = _method(jnp.max)
    min = _method(jnp.min)
    ptp = _method(jnp.ptp)
    argmax = _method(jnp.argmax)
    argmin = _method(jnp.argmin)
    argsort = _method(jnp.argsort)
    argpartition = _method(jnp.argpartition)
    sort = _method(jnp.sort)
    all = _method(jnp.all)
    any = _method(jnp.any)
    cumsum = _method(jnp.cumsum)
    cumprod = _method(jnp.cumprod)
    dot = _method(jnp.dot)
    clip = _method(jnp.clip)
    trace = _method(jnp.trace)
    diagonal = _method(jnp.diagonal)
    round = _method(jnp.round)
    # shape
    squeeze = _method(jnp.squeeze)
    ravel = _method(jnp.ravel)
    flatten = _method(jnp.ravel)
    repeat = _method(jnp.repeat)
    swapaxes = _method(jnp.swapaxes)
    take = _method(jnp.take)
    searchsorted = _method(jnp.searchsorted)
    # elementwise
    conj = _method(jnp.conj)
    conjugate = _method(jnp.conj)

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """As `jax.numpy.reshape`; the shape as one tuple or as several integers."""
        return call(jnp.reshape, self, _one_or_many(shape), order=order)

    def transpose(self, *axes: Any) -> Any:
        """As `jax.numpy.transpose`; the axes as one tuple, as several integers, or none."""
        return call(jnp.transpose, self, _one_or_many(axes) if axes else None)

    def astype(self, dtype: Any) -> Any:
        """Cast; to float or complex within log space, to an integer or bool as a plain array."""
        return call(_astype, self, jnp.dtype(dtype))

    def compress(self, condition: ArrayLike, axis: int | None = None, **options: Any) -> Any:
        """As `jax.numpy.compress`: the slices of this array where the condition is true."""
        return self.__array_namespace__().compress(condition, self, axis, **options)

    def nonzero(self, **options: Any) -> Any:
        """As `jax.numpy.nonzero`: the indices of the elements that are not exactly zero."""
        return jnp.nonzero(self != 0, **options)

    def copy(self) -> Any:
        return jax.tree.map(jnp.array, self)

    @property
    def T(self) -> Any:  # noqa: N802
        return call(jnp.transpose, self)

    @property
    def mT(self) -> Any:  # noqa: N802
        return call(jnp.matrix_transpose, self)

    @property
    def real(self) -> Any:
        return call(jnp.real, self)

    @property
    def imag(self) -> Any:
        return call(jnp.imag, self)

    @property
    def at(self) -> IndexUpdateHelper:
        """Out-of-place updates, ``x.at[i].set(v)``: set, add, multiply, min, max, get, ..."""
        return IndexUpdateHelper(self)

    @property
    def itemsize(self) -> int:
        return np.dtype(self.dtype).itemsize  # type: ignore[attr-defined]

    @property
    def nbytes(self) -> int:
        """Bytes of the significand and the exponent together."""
        return sum(leaf.nbytes for leaf in jax.tree.leaves(self))

    def __getitem__(self, index: Any) -> Any:
        return get_item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            f"a {type(self).__name__} is immutable: instead of `x[index] = y` use "
            "`x = x.at[index].set(y)`."
        )

    def __len__(self) -> int:
        if not self.shape:  # type: ignore[attr-defined]
            raise TypeError("len() of unsized object")
        return self.shape[0]  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:  # type: ignore[attr-defined]
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool(jnp.any(self == value))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a plain array cannot be made of a logspace value without a copy")
        return np.asarray(self.materialise(), dtype)  # type: ignore[attr-defined]

    def __float__(self) -> float:
        return float(self.materialise())  # type: ignore[attr-defined]

    def __complex__(self) -> complex:
        return complex(self.materialise())  # type: ignore[attr-defined]

    def __int__(self) -> int:
        return int(self.materialise())  # type: ignore[attr-defined]

    def __bool__(self) -> bool:
        # not through the plain value, which underflows
        return bool(call(_is_nonzero, self))

    def item(self, *args: int) -> Any:
        """The plain Python scalar, infinite or zero beyond the range of a float."""
        return self.materialise().item(*args)  # type: ignore[attr-defined]

    def tolist(self) -> Any:
        return self.materialise().tolist()  # type: ignore[attr-defined]

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        from . import numpy as namespace

        return namespace

    @property
    def sharding(self) -> Any:
        """How the elements lie on devices; that of the significand."""
        return jax.tree.leaves(self)[0].sharding

    def devices(self) -> set[Any]:
        """The devices that hold the elements."""
        return jax.tree.leaves(self)[0].devices()

    def block_until_ready(self) -> Any:
        return jax.block_until_ready(self)


def _one_or_many(arguments: tuple[Any, ...]) -> Any:
    if len(arguments) == 1 and not isinstance(arguments[0], (int, np.integer)):
        return arguments[0]
    return tuple(arguments)


def _is_static_integer(x: Any) -> bool:
    """What JAX takes as a power known when tracing: Python integers and NumPy's scalars."""
    if isinstance(x, (int, np.integer)):
        return True
    return isinstance(x, np.ndarray) and x.ndim == 0 and np.issubdtype(x.dtype, np.integer)


def _astype(x: Any, dtype: Any) -> Any:
    return x.astype(dtype)


def _is_nonzero(x: Any) -> Any:
    return x != 0


_power = operator(jnp.power)
