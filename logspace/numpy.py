"""`jax.numpy`, LogArray-aware: ``import logspace.numpy as lnp``.

``lnp.f`` of plain arrays is ``jnp.f``; with a LogArray among the arguments it computes in log
space. Functions that make arrays "like" a LogArray make LogArrays.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NoReturn

import jax
import jax.numpy as jnp

from . import _construct, _data_dependent
from . import _numerics as num
from . import linalg as _linalg  # jnp has a module of that name
from ._call import call, call_at_once
from ._log_array import LogArray
from ._log_array import unwrap as _unwrap  # jnp has a function of that name
from ._log_array import wrap as _wrap
from ._namespace import AwareUfunc, Namespace
from ._numerics import Scaled
from ._quaxify import quaxify
from ._value import LogSpaceValue, contains_value


def shape(x: Any) -> tuple[int, ...]:
    return x.shape if isinstance(x, LogSpaceValue) else jnp.shape(x)


def ndim(x: Any) -> int:
    return len(shape(x))


def size(x: Any, axis: Any = None) -> int:
    if not isinstance(x, LogSpaceValue):
        return jnp.size(x, axis)
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return math.prod(x.shape[a] for a in axes)


def isscalar(x: Any) -> bool:
    return x.ndim == 0 if isinstance(x, LogSpaceValue) else jnp.isscalar(x)


def iterable(x: Any) -> bool:
    return x.ndim > 0 if isinstance(x, LogSpaceValue) else jnp.iterable(x)


def result_type(*args: Any) -> Any:
    return jnp.result_type(*map(_stand_in, args))


def can_cast(from_: Any, *args: Any, **kwargs: Any) -> bool:
    from_ = from_.dtype if isinstance(from_, LogSpaceValue) else from_
    return jnp.can_cast(from_, *args, **kwargs)


def iscomplexobj(x: Any) -> bool:
    if isinstance(x, LogSpaceValue):
        return bool(jnp.issubdtype(x.dtype, jnp.complexfloating))
    return jnp.iscomplexobj(x)


def isrealobj(x: Any) -> bool:
    return not iscomplexobj(x)


def einsum_path(subscripts: Any, /, *operands: Any, **kwargs: Any) -> Any:
    return jnp.einsum_path(subscripts, *map(_stand_in, operands), **kwargs)


def _stand_in(x: Any) -> Any:
    """What has the shape and dtype of x, for functions that read nothing else."""
    return x.aval() if isinstance(x, LogSpaceValue) else x


def array_repr(arr: Any, *args: Any, **kwargs: Any) -> str:
    return repr(arr) if isinstance(arr, LogSpaceValue) else jnp.array_repr(arr, *args, **kwargs)


def array_str(a: Any, *args: Any, **kwargs: Any) -> str:
    return str(a) if isinstance(a, LogSpaceValue) else jnp.array_str(a, *args, **kwargs)


def vectorize(pyfunc: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """As `jax.numpy.vectorize`; `pyfunc` is written in plain `jax.numpy`."""
    return quaxify(jnp.vectorize(pyfunc, **options))


def frompyfunc(*args: Any, **kwargs: Any) -> AwareUfunc:
    """As `jax.numpy.frompyfunc`; the function is written in plain `jax.numpy`."""
    return AwareUfunc(jnp.frompyfunc(*args, **kwargs), call_at_once)


def signbit(x: Any, /) -> jax.Array:
    """As `jax.numpy.signbit`: a plain boolean array; true at -0."""
    return jnp.signbit(x._significand if isinstance(x, LogArray) else x)


def copysign(x1: Any, x2: Any, /) -> Any:
    if not contains_value((x1, x2)):
        return jnp.copysign(x1, x2)
    magnitude = call(jnp.abs, x1)
    return call(jnp.where, signbit(x2), -magnitude, magnitude)


def modf(x: Any, /, out: None = None) -> tuple[Any, Any]:
    """Fraction and whole part, as `jax.numpy.modf` but for the sign of a fraction that is 0."""
    if not isinstance(x, LogSpaceValue):
        return jnp.modf(x, out)
    if out is not None:
        raise NotImplementedError("The 'out' argument of modf is not supported.")
    return call(_modf, x)


def _modf(x: Any) -> tuple[jax.Array, jax.Array]:
    whole = jnp.trunc(x)
    return jnp.where(jnp.isinf(x), 0.0, x - whole), whole


def ldexp(x1: Any, x2: Any, /) -> Any:
    """x1 * 2**x2 for integers x2, exactly."""
    if not isinstance(x1, LogArray):
        return call(jnp.ldexp, x1, x2)
    return _wrap(_times_power_of_two(x1, jnp.asarray(x2)))


@jax.jit
def _times_power_of_two(x: LogArray, n: jax.Array) -> Scaled:
    if not jnp.issubdtype(n.dtype, jnp.integer):
        raise ValueError("ldexp requires integer exponents, got " + str(n.dtype))
    n = jnp.clip(n, -(2**30), 2**30).astype(jnp.int32)
    s, e, n = jnp.broadcast_arrays(*_unwrap(x), n)
    one = num.from_linear(jnp.ones_like(s))
    return num.multiply(Scaled(s, e), Scaled(one.significand, n))


def _like(own: Any, theirs: Any) -> Any:
    def like(x: Any, *args: Any, **kwargs: Any) -> Any:
        return (own if isinstance(x, LogSpaceValue) else theirs)(x, *args, **kwargs)

    like.__name__ = theirs.__name__
    like.__doc__ = theirs.__doc__
    return like


def full_like(a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    own = contains_value((a, fill_value))
    return (_construct.full_like if own else jnp.full_like)(a, fill_value, *args, **kwargs)


def full(shape: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    own = isinstance(fill_value, LogSpaceValue)
    return (_construct.full if own else jnp.full)(shape, fill_value, *args, **kwargs)


def _saving(function: Callable[..., Any]) -> Callable[..., Any]:
    def save(*args: Any, **kwargs: Any) -> None:
        if contains_value((args, kwargs)):
            _refuse_to_save()
        function(*args, **kwargs)

    save.__name__ = function.__name__
    save.__doc__ = function.__doc__
    return save


def _refuse_to_save() -> NoReturn:
    raise TypeError(
        "NumPy's format holds plain arrays, which a LogArray is not: save its leaves "
        "(`jax.tree.leaves(x)`) and rebuild it with `jax.tree.unflatten`, pickle it, or save "
        "`x.to_linear()`."
    )


_OWN: dict[str, Any] = {
    f.__name__: f
    for f in (
        shape,
        ndim,
        size,
        isscalar,
        iterable,
        result_type,
        can_cast,
        iscomplexobj,
        isrealobj,
        einsum_path,
        array_repr,
        array_str,
        vectorize,
        frompyfunc,
        signbit,
        copysign,
        modf,
        ldexp,
        full,
        full_like,
        _like(_construct.zeros_like, jnp.zeros_like),
        _like(_construct.ones_like, jnp.ones_like),
        _like(_construct.zeros_like, jnp.empty_like),
        _saving(jnp.save),
        _saving(jnp.savez),
        _data_dependent.nonzero,
        _data_dependent.of_mask(jnp.flatnonzero),
        _data_dependent.of_mask(jnp.argwhere),
        _data_dependent.of_mask(jnp.count_nonzero),
        _data_dependent.where,
        _data_dependent.compress,
        _data_dependent.extract,
        _data_dependent.trim_zeros,
        _data_dependent.unique,
        _data_dependent.unique_all,
        _data_dependent.unique_counts,
        _data_dependent.unique_inverse,
        _data_dependent.unique_values,
        _data_dependent.union1d,
        _data_dependent.intersect1d,
        _data_dependent.setdiff1d,
        _data_dependent.setxor1d,
    )
}


def _for_numbers(own: Callable[..., Any], theirs: Callable[..., Any]) -> Callable[..., Any]:
    """`own` with one of our values among the arguments, `theirs` for plain arrays."""

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        # not by `any`: the namespace's own names become globals of this module when they are used
        ours = contains_value((args, kwargs))
        return (own if ours else theirs)(*args, **kwargs)

    return function


def _slogdet(a: Any, *, method: str | None = None) -> Any:
    if method is not None:
        raise ValueError(
            f"slogdet of a LogArray has one method; got method={method!r}. Leave it out."
        )
    return _linalg.slogdet(a)


def _norm_of_matrix(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:  # noqa: A002
    return _linalg.norm(x, ord, (-2, -1), keepdims)


#: What needs a decomposition, which has no rule: the functions of `logspace.linalg` in its place.
_OWN_LINALG = {
    name: _for_numbers(own, getattr(jnp.linalg, name))
    for name, own in {
        "det": _linalg.det,
        "slogdet": _slogdet,
        "inv": _linalg.inv,
        "solve": _linalg.solve,
        "norm": _linalg.norm,
        "matrix_norm": _norm_of_matrix,
        "matrix_power": _linalg.matrix_power,
    }.items()
}

_NAMESPACE = Namespace(jnp, _OWN, frozenset(), {"linalg": _OWN_LINALG})


def __getattr__(name: str) -> Any:
    value = getattr(_NAMESPACE, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return dir(_NAMESPACE)
