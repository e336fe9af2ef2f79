"""Real and imaginary parts of complex values, on their way to becoming one value again.

From JAX 0.12.1 on, `jax.numpy` adds, multiplies and divides a real and a complex array by components:
``2.0 * z`` is ``complex(2.0 * real(z), 2.0 * imag(z))``. So that a complex logarithm stays one, and so
that a product of numbers is one product, parts remember what they are parts of, and one operation.
"""

from typing import Any

import equinox as eqx
import jax

from ._array_methods import ArrayMethods
from ._log import Log, log_of
from ._log_array import LogArray, unwrap, wrap
from ._value import LogSpaceValue


class _Part:
    """What parts remember."""

    #: The complex value; a `Log` or a LogArray.
    source: Any
    imaginary: bool
    #: What was done to the part since, "" for nothing, and the other operand.
    change: str
    operand: Any

    def remember(self, source: Any, imaginary: bool, change: str, operand: Any) -> None:
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "imaginary", imaginary)
        object.__setattr__(self, "change", change)
        object.__setattr__(self, "operand", operand)


class RealPartOfLog(Log, _Part):
    """log|x| of a complex x: a `Log` of its own right."""

    source: Any
    imaginary: bool = eqx.field(static=True)
    change: str = eqx.field(static=True)
    operand: Any

    def __init__(self, value: Log, *memory: Any) -> None:
        object.__setattr__(self, "number", value.number)
        object.__setattr__(self, "principal", True)
        self.remember(*memory)


class ImaginaryPartOfLog(ArrayMethods, LogSpaceValue, _Part):
    """The angle of a complex x, which all but a few operations read as the plain array it is."""

    array: jax.Array
    source: Any
    imaginary: bool = eqx.field(static=True)
    change: str = eqx.field(static=True)
    operand: Any

    # named here for type checkers, which give a dataclass an `==` of its own
    __eq__ = ArrayMethods.__eq__

    def __init__(self, value: jax.Array, *memory: Any) -> None:
        object.__setattr__(self, "array", value)
        self.remember(*memory)

    def aval(self) -> Any:
        return jax.typeof(self.array)

    def materialise(self) -> jax.Array:
        return self.array


class PartOfNumber(LogArray, _Part):
    """A part of a complex LogArray: a LogArray of its own right."""

    source: Any
    imaginary: bool = eqx.field(static=True)
    change: str = eqx.field(static=True)
    operand: Any

    def __init__(self, value: LogArray, *memory: Any) -> None:
        object.__setattr__(self, "_significand", value._significand)
        object.__setattr__(self, "_exponent", value._exponent)
        self.remember(*memory)


def forget(x: Any) -> Any:
    """A part as the value that it is alone; anything else as it is."""
    if isinstance(x, RealPartOfLog):
        return log_of(x.number)
    if isinstance(x, ImaginaryPartOfLog):
        return x.array
    return wrap(unwrap(x)) if isinstance(x, PartOfNumber) else x
