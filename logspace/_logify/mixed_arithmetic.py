"""Arithmetic of a real with a complex array, which JAX does by components.

From JAX 0.12.1 on, ``b * z`` of a real b is ``complex(b * real(z), b * imag(z))``, and sums and
quotients likewise. Such a program is read as the one operation that it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax.extend.core import Literal

from .rules import Operation
from .value import PLAIN, Form, Value

_OPERATIONS: dict[str, Callable[..., jax.Array]] = {
    "add": lax.add, "sub": lax.sub, "mul": lax.mul, "div": lax.div,
}  # fmt: skip

Definitions = dict[Any, Any]


class Mixed(NamedTuple):
    """An operation on two variables of the program, of which one is real and one complex."""

    name: str
    operands: tuple[Any, Any]
    #: The position of the complex operand.
    position: int

    def bind(self, x: jax.Array, y: jax.Array) -> jax.Array:
        """By components, as JAX: a complex multiplication has nan at infinite ones."""
        operation = _OPERATIONS[self.name]
        if self.position == 0:
            y = lax.real(y)
            re, im = lax.real(x), lax.imag(x)
            if self.name in ("add", "sub"):
                return lax.complex(operation(re, y), im)
            return lax.complex(operation(re, y), operation(im, y))
        x = lax.real(x)
        re, im = lax.real(y), lax.imag(y)
        if self.name == "mul":
            return lax.complex(lax.mul(x, re), lax.mul(x, im))
        return lax.complex(operation(x, re), im if self.name == "add" else lax.neg(im))


@dataclass(frozen=True)
class MixedOperation(Operation):
    """The operation on the complex operand and the real one converted; plainly, what it was."""

    parts: Sequence[Value] = ()

    def plain(self, operands: Sequence[Value]) -> Form:
        return Form(lax.complex, tuple((v, PLAIN) for v in self.parts))


def definitions(body: Any) -> Definitions:
    """Which equation makes a variable, if there is a complex number made of components at all."""
    if not any(e.primitive.name == "complex" for e in body.eqns):
        return {}
    return {v: e for e in body.eqns for v in e.outvars}


def as_one_operation(made_by: Definitions, equation: Any) -> Mixed | None:
    """The operation of which an equation `complex` is the last step, or None."""
    if equation.primitive.name != "complex":
        return None
    x, y = (_definition(made_by, v) for v in equation.invars)
    if x is None or y is None or x.primitive.name not in _OPERATIONS:
        return None
    name = x.primitive.name
    for position in (0, 1):
        part, other = x.invars[position], x.invars[1 - position]
        whole = _whole(made_by, part, "real")
        if whole is None:
            continue
        operands = (whole, other) if position == 0 else (other, whole)
        found = Mixed(name, operands, position)
        if name in ("mul", "div"):
            if y.primitive.name == name and _is_same(y.invars[1 - position], other):
                imaginary = _whole(made_by, y.invars[position], "imag")
                if _is_same(imaginary, whole) and (name == "mul" or position == 0):
                    return found
        elif name == "sub" and position == 1:
            imaginary = _whole(made_by, y.invars[0], "imag") if y.primitive.name == "neg" else None
            if _is_same(imaginary, whole):
                return found
        elif y.primitive.name == "imag" and _is_same(y.invars[0], whole):
            return found
    return None


def _definition(made_by: Definitions, v: Any) -> Any:
    return None if isinstance(v, Literal) else made_by.get(v)


def _whole(made_by: Definitions, v: Any, part: str) -> Any:
    """The variable that v is the real or imaginary `part` of, or None."""
    equation = _definition(made_by, v)
    return equation.invars[0] if equation is not None and equation.primitive.name == part else None


def _is_same(x: Any, y: Any) -> bool:
    if isinstance(x, Literal) and isinstance(y, Literal):
        return bool(np.array_equal(x.val, y.val))
    return x is y
