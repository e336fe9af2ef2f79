"""The number: an array of signed or complex values kept as significand and exponent."""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import ArrayLike

from . import _numerics as num
from ._array_methods import ArrayMethods
from ._errors import refuse_derivative, unsupported_dtype
from ._numerics import Scaled
from ._representation import array_text, formatted_number
from ._value import LogSpaceValue, is_in_log_space

DTYPES = ("float32", "float64", "complex64", "complex128")


class LogArray(ArrayMethods, LogSpaceValue):
    """An array of real or complex numbers in log space, with derivatives that are exact at zero.

    ``LogArray(sign, logabs)`` is the number ``sign * exp(logabs)``. Its magnitude may be as large
    as ``exp(7.4e8)`` or as small as ``exp(-7.4e8)``, and it may be zero; its derivatives are those
    of ordinary arithmetic, also where it is zero. Arithmetic, indexing and the methods of a JAX
    array work on it, and so does `jax.numpy` inside `logspace.quaxify`.

    The value is stored as a significand, which carries the sign or phase and all derivative
    information, and an integer exponent: ``significand * 2**exponent``. Both are private; read
    `sign`, `logabs`, `angle`, `log` or `to_linear`.

    **Arguments:**

    - `sign`: real (any factor; -1, 0 or 1 as a rule) or complex (a unit phase as a rule). A modulus
      other than 1 multiplies the number.
    - `logabs`: real, the natural logarithm of the magnitude; -inf is a zero, +inf an infinity.
      Shapes broadcast; both arguments may carry derivatives. A zero sign gives a zero whatever
      the logarithm is, except +inf, which gives nan.

    **Raises:** `TypeError` if `logabs` is complex, or either is not numeric; `ValueError` if the
    shapes do not broadcast.

    The dtype is the promoted one of the arguments: float32, float64, complex64 or complex128.
    Integers and booleans take the precision of the other argument.
    """

    _significand: jax.Array
    _exponent: jax.Array

    # named here for type checkers, which give a dataclass an `==` of its own
    __eq__ = ArrayMethods.__eq__

    def __init__(self, sign: ArrayLike, logabs: ArrayLike) -> None:
        if is_in_log_space(sign) or is_in_log_space(logabs):
            raise TypeError(
                "LogArray(sign, logabs) takes plain arrays; got a logspace value. Its parts are "
                "`x.sign` and `x.logabs`."
            )
        sign, logabs = as_numeric(sign), as_numeric(logabs)
        if jnp.issubdtype(logabs.dtype, jnp.complexfloating):
            raise TypeError(
                "LogArray(sign, logabs) needs a real logabs, the logarithm of the magnitude; got "
                f"{logabs.dtype}. A complex logarithm goes in by `logspace.from_log`."
            )
        x = _from_sign_logabs(sign, logabs)
        object.__setattr__(self, "_significand", x.significand)
        object.__setattr__(self, "_exponent", x.exponent)

    def aval(self) -> Any:
        if getattr(self._exponent, "dtype", None) == jax.dtypes.float0:
            refuse_derivative()
        return jax.typeof(self._significand)

    def materialise(self) -> jax.Array:
        return self.to_linear()

    @property
    def shape(self) -> tuple[int, ...]:
        return self._significand.shape

    @property
    def dtype(self) -> Any:
        return self._significand.dtype

    @property
    def ndim(self) -> int:
        return self._significand.ndim

    @property
    def size(self) -> int:
        return self._significand.size

    def to_linear(self) -> jax.Array:
        """The plain array, infinite or zero where a float cannot hold the number."""
        return _jitted_reader(num.to_linear)(self)

    @property
    def logabs(self) -> jax.Array:
        """log|x|, real. -inf at a zero, where its derivative is infinite, or 0 where masked."""
        return _jitted_reader(num.logabs)(self)

    @property
    def sign(self) -> jax.Array:
        """x / |x|, 0 at a zero: -1, 0 or 1 for real x (without derivative), a phase for complex."""
        return _jitted_reader(num.sign)(self)

    @property
    def angle(self) -> jax.Array:
        """The phase in radians, in (-pi, pi]; 0 at a zero."""
        return _jitted_reader(num.angle)(self)

    def log(self, dtype: Any = None) -> jax.Array:
        """The natural logarithm as a plain array.

        Real for real x, nan where x is negative; ``log|x| + i * angle`` for complex x, and for real
        x if a complex `dtype` is given (`complex` stands for the one of the precision of x).
        """
        x = self
        if dtype is not None and jnp.issubdtype(jnp.dtype(dtype), jnp.complexfloating):
            wanted = self.dtype if dtype is complex else dtype
            x = self.astype(jnp.promote_types(wanted, jnp.complex64))
            return _jitted_reader(num.log)(x)
        out = _jitted_reader(num.log)(x)
        return out if dtype is None else out.astype(dtype)

    def __repr__(self) -> str:
        return f"LogArray({array_text(self._significand, self._exponent)})"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self.ndim:
            raise TypeError(
                f"a LogArray of shape {self.shape} has no format {spec!r}: only scalars have"
            )
        return formatted_number(self._significand, int(self._exponent), spec)

    def __str__(self) -> str:
        return array_text(self._significand, self._exponent, with_dtype=False)


def as_numeric(a: Any) -> jax.Array:
    """A plain array that `as_supported` accepts; TypeError for any other."""
    a = jnp.asarray(a)
    short = a.dtype in (jnp.float16, jnp.bfloat16)
    if not (a.dtype.name in DTYPES or short or _is_integer(a.dtype)):
        unsupported_dtype(a.dtype)
    return a


def as_supported(a: jax.Array) -> jax.Array:
    """A plain array in one of the four dtypes: integers, booleans and short floats promoted."""
    if a.dtype.name in DTYPES:
        return a
    return a.astype(jnp.result_type(float) if _is_integer(a.dtype) else jnp.float32)


def _is_integer(dtype: Any) -> bool:
    return dtype == bool or jnp.issubdtype(dtype, jnp.integer)


def keep_weak_type(x: Any, *operands: jax.Array) -> Any:
    """x (an array or a Scaled), weakly typed if all operands are, as a result of JAX's would be."""
    if not all(jax.typeof(a).weak_type for a in operands):
        return x
    a = x.significand if isinstance(x, Scaled) else x
    a = lax.convert_element_type_p.bind(a, new_dtype=a.dtype, weak_type=True, sharding=None)
    return Scaled(a, x.exponent) if isinstance(x, Scaled) else a


@jax.jit
def _from_sign_logabs(sign: jax.Array, logabs: jax.Array) -> Scaled:
    inexact = [a for a in (sign, logabs) if jnp.issubdtype(a.dtype, jnp.inexact)]
    dtype = as_supported(jnp.zeros((), jnp.result_type(*inexact or [float]))).dtype
    real = jnp.finfo(dtype).dtype
    s = sign.astype(dtype if jnp.issubdtype(sign.dtype, jnp.complexfloating) else real)
    parts = jnp.broadcast_arrays(s, logabs.astype(real))
    return keep_weak_type(num.from_sign_logabs(*parts), sign, logabs)


def wrap(x: Scaled) -> LogArray:
    """The LogArray with these leaves, bypassing equinox's constructor (some 15 us)."""
    out = object.__new__(LogArray)
    object.__setattr__(out, "_significand", x.significand)
    object.__setattr__(out, "_exponent", x.exponent)
    return out


def unwrap(x: LogArray) -> Scaled:
    if x._exponent.dtype == jax.dtypes.float0:
        refuse_derivative()
    return Scaled(x._significand, x._exponent)


@lru_cache
def _jitted_reader(reader: Any) -> Any:
    """One compiled function per reader, from a LogArray to a plain array."""
    compiled = jax.jit(lambda x: keep_weak_type(reader(x), x.significand))
    return lambda x: compiled(unwrap(x))
