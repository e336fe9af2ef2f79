"""What the interpreter computes with: values that know several forms of themselves.

A `Value` stands for one array of the user's program. It has a *plain* form, the array that JAX
would compute, and a *number* form, a `Scaled` pair whose range is unbounded and whose derivative
exists at zero. A form is a recipe that is followed at most once and only if something reads it.
This laziness is the whole analysis: a program in which nothing reads a number is emitted as plain
JAX, operation for operation.

Besides its forms a value carries what is known of it: that it is the logarithm of another value
(`antilog`), the exponential of one (`exponent`), a product of powers (`factors`), that it cannot be
negative, and so on. The rules decide from these facts which form to read.

Values are unique: a `Graph` returns the same object for the same operation on the same operands, so
that "the same value" is a comparison by identity.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from .. import _numerics as num

PLAIN, NUMBER = "plain", "number"

#: The plain form where no derivative of it is wanted, for values that have it cheaper.
VALUE = "value"

#: How the plain form may leave the range of a float where the number does not: not at all; as a
#: long product, of which only a logarithm reads the number; through an exponential, of which a
#: quotient does too.
NONE, PRODUCT, EXPONENTIAL = 0, 1, 2

#: Products of more factors than this are one opaque factor: their lists would grow quadratically.
_MOST_FACTORS = 24

#: Constants up to this many elements are compared by content.
_SMALL = 4096


class Form(NamedTuple):
    """A recipe: a function of forms of other values."""

    function: Callable[..., Any]
    needs: "tuple[tuple[Value, str], ...]" = ()


class Value:
    """One array of the program in its several forms; made by `Graph` only."""

    __slots__ = (
        "shape",
        "dtype",
        "weak_type",
        "operation",
        "operands",
        "params",
        "forms",
        "results",
        "antilog",
        "exponent",
        "constant",
        "_factors",
        "risky",
        "underflows",
        "nonnegative",
        "nonpositive",
        "nonzero",
        "content",
        "positive",
        "harmless",
        "normalised_axes",
        "softmax",
        "line",
        "__weakref__",
    )

    def __init__(self, shape: Any, dtype: Any, operation: str, operands: Any, params: Any) -> None:
        self.shape: tuple[int, ...] = tuple(shape)
        self.dtype: Any = dtype
        self.weak_type = False
        self.operation: str = operation
        self.operands: tuple[Value, ...] = tuple(operands)
        self.params: Any = params
        self.forms: dict[str, Form] = {}
        self.results: dict[str, Any] = {}
        #: The value whose logarithm this is.
        self.antilog: Value | None = None
        #: The value whose exponential this is.
        self.exponent: Value | None = None
        #: The number that every element is, where a literal or a constant says so.
        self.constant: Any = None
        self._factors: tuple[tuple[Value, float], ...] | None = None
        #: How the plain form may leave the range of a float: NONE, PRODUCT or EXPONENTIAL.
        self.risky: int = NONE
        #: Its plain form may be 0 where the number is not, as a softmax may; nothing but a logarithm
        #: reads the number then.
        self.underflows = False
        #: Real and not below zero (or nan).
        self.nonnegative = False
        #: Real and not above zero (or nan).
        self.nonpositive = False
        #: The elements, of a small constant: a NumPy array, also where the plain form is traced.
        self.content: np.ndarray | None = None
        #: A constant without a zero in it.
        self.nonzero = False
        #: Its logarithm is harmless: an exponential, or a sum that contains exp(0).
        self.positive = False
        #: Of a logarithm: its plain form has the right derivative.
        self.harmless = False
        #: Axes along which this is exp(a - max(a)).
        self.normalised_axes: tuple[int, ...] | None = None
        #: (r, s) if this is exp(r) / s, which underflows where its logarithm r - log(s) does not.
        self.softmax: tuple[Value, Value] | None = None
        #: The equation of the user's program that made it, for `explain`.
        self.line: Any = None

    @property
    def factors(self) -> "tuple[tuple[Value, float], ...]":
        """This value as a product of powers; by default itself to the power one."""
        return self._factors if self._factors is not None else ((self, 1.0),)

    @factors.setter
    def factors(self, factors: "Sequence[tuple[Value, float]]") -> None:
        if len(factors) <= _MOST_FACTORS:
            self._factors = tuple(factors)

    @property
    def is_product(self) -> bool:
        """Whether its factors are other values than itself."""
        return [base for base, _ in self.factors] != [self]

    @property
    def is_exponential(self) -> bool:
        """A factor that may cancel against its inverse, because e**r is never zero."""
        return self.operation == "exp"

    @property
    def is_log(self) -> bool:
        return self.antilog is not None

    @property
    def is_complex(self) -> bool:
        return np.issubdtype(self.dtype, np.complexfloating)

    @property
    def is_float(self) -> bool:
        """Whether it has a number form: float32, float64, complex64 or complex128."""
        return np.dtype(self.dtype).name in _NUMBER_DTYPES if _is_numpy(self.dtype) else False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def plain(self) -> jax.Array:
        return read(self, PLAIN)

    def number(self) -> num.Scaled:
        return read(self, NUMBER)

    def __repr__(self) -> str:
        return f"<{self.operation} {np.dtype(self.dtype).name}{list(self.shape)}>"


_NUMBER_DTYPES = ("float32", "float64", "complex64", "complex128")


def _is_numpy(dtype: Any) -> bool:
    try:
        np.dtype(dtype)
    except TypeError:  # PRNG keys and the like
        return False
    return True


def read(value: Value, kind: str) -> Any:
    """Follow the recipe of a form, and those of the forms it needs; each once.

    A stack of our own, because programs are deeper than Python's.
    """
    stack = [(value, kind)]
    while stack:
        current, wanted = stack[-1]
        if wanted in current.results:
            stack.pop()
            continue
        function, needs = current.forms[wanted]
        missing = [(v, k) for v, k in needs if k not in v.results]
        if missing:
            stack.extend(missing)
            continue
        current.results[wanted] = function(*(v.results[k] for v, k in needs))
        stack.pop()
    return value.results[kind]


def plainly(function: Callable[..., Any], *operands: Value) -> Form:
    """The form `function` of the operands' plain forms."""
    return Form(function, tuple((v, PLAIN) for v in operands))


def numerically(function: Callable[..., Any], *operands: Value) -> Form:
    """The form `function` of the operands' numbers."""
    return Form(function, tuple((v, NUMBER) for v in operands))


class Graph:
    """The values of one body of a program, each made once.

    A value must never be read inside another body (of a loop, a branch) than the one it was made
    in: its recipes would compute there. Whatever enters a body enters as arrays.
    """

    def __init__(self, settings: Any = None) -> None:
        self.settings = settings
        self._memo: dict[Any, Value] = {}
        #: What happened, for `explain`: (equation, kind, text).
        self.events: list[tuple[Any, str, str]] = []
        self.equation: Any = None
        #: Whether a rule changed anything: if not, the original program may be used.
        self.changed = False
        #: Nothing can be read: only facts are wanted.
        self.abstract = False

    def note(self, kind: str, text: str) -> None:
        """Record an event at the current line of the user's code."""
        self.changed = True
        self.events.append((self.equation, kind, text))

    def leaf(self, array: Any, *, constant: bool = False) -> Value:
        """A value that is given as a plain array.

        Small constants with the same content are one value: a program that writes an array down
        twice means the same one.
        """
        aval = jax.typeof(array)
        key, content, nonnegative, nonzero = None, None, False, False
        if constant and not isinstance(array, Tracer) and _is_numpy(aval.dtype):
            if aval.size <= _SMALL:
                content = np.asarray(array)
                key = ("content", aval.shape, content.dtype.name, content.tobytes())
                nonnegative = content.dtype.kind == "f" and bool(np.all(content >= 0))
                nonzero = content.dtype.kind in "fc" and bool(np.all(content != 0))
                if key in self._memo:
                    return self._memo[key]
        if isinstance(array, (np.ndarray, np.generic)):
            array = jnp.asarray(array)
        value = Value(aval.shape, aval.dtype, "leaf", (), None)
        value.weak_type = getattr(aval, "weak_type", False)
        value.results[PLAIN] = array
        if value.is_float:
            value.forms[NUMBER] = plainly(num.from_linear, value)
        if constant and not isinstance(array, Tracer) and aval.shape == ():
            if _is_numpy(aval.dtype):
                value.constant = np.asarray(array)[()]
                _facts_of_constant(value)
        if key is not None:
            value.nonnegative, value.nonzero = nonnegative, nonzero
            value.content = content
            self._memo[key] = value
        return value

    def placeholder(self, shape: Any, dtype: Any) -> Value:
        """A value without a form, for finding out what a body makes of its arguments."""
        value = Value(shape, dtype, "leaf", (), None)
        if value.is_float:
            value.forms[NUMBER] = plainly(num.from_linear, value)
        return value

    def number_leaf(
        self, x: num.Scaled, *, nonnegative: bool = False, risky: int = EXPONENTIAL
    ) -> Value:
        """A value that is given as a number."""
        value = Value(x.significand.shape, x.significand.dtype, "leaf", (), None)
        value.results[NUMBER] = x
        value.forms[PLAIN] = numerically(num.to_linear, value)
        value.risky = risky
        value.nonnegative = nonnegative
        return value

    def node(
        self,
        operation: str,
        operands: Sequence[Value],
        params: Any = None,
        *,
        shape: Sequence[int] | None = None,
        dtype: Any = None,
        plain: Form | None = None,
        number: Form | None = None,
    ) -> tuple[Value, bool]:
        """The value of an operation on operands, and whether it is new and has to be filled in.

        `params` is what distinguishes operations of one name. A value that exists already keeps its
        forms. Without `plain` the plain form is read off the number; without `number` conversely.
        """
        key = (operation, tuple(map(id, operands)), params)
        if key in self._memo:
            return self._memo[key], False
        shape = operands[0].shape if shape is None else shape
        dtype = operands[0].dtype if dtype is None else dtype
        value = Value(shape, dtype, operation, operands, params)
        value.line = self.equation
        if plain is None:
            plain = numerically(num.to_linear, value)
        value.forms[PLAIN] = plain
        if value.is_float:
            value.forms[NUMBER] = plainly(num.from_linear, value) if number is None else number
        self._memo[key] = value
        return value, True

    def constant(self, number: Any, shape: Sequence[int], dtype: Any) -> Value:
        """An array of one number."""
        key = (repr(number), tuple(shape), np.dtype(dtype).name)

        def full() -> jax.Array:
            return lax.full(tuple(shape), number, dtype)

        value, new = self.node("constant", (), key, shape=shape, dtype=dtype, plain=Form(full))
        if new:
            value.constant = np.dtype(dtype).type(number)
            _facts_of_constant(value)
        return value


def _facts_of_constant(value: Value) -> None:
    constant = value.constant
    value.nonzero = value.is_float and bool(constant != 0)
    if value.is_float and not value.is_complex:
        value.nonnegative = bool(constant >= 0)
        value.nonpositive = bool(constant <= 0)
        value.positive = bool(0 < constant < np.inf)


def literal(value: Value) -> Any:
    """The number that a value is known to be, or None."""
    return value.constant


def is_constant(value: Value, number: complex) -> bool:
    return value.constant is not None and bool(value.constant == number)
