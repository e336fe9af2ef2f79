"""Arithmetic of complex with real arrays by components, put together again; see `_parts`."""

from typing import Any

import jax.numpy as jnp
import quax
from jax import lax
from jax.core import Tracer
from jax.extend.core import Primitive
from jax.typing import ArrayLike

from .. import _numerics as num
from .._log import Log, log_of
from .._log_array import LogArray, unwrap, wrap
from .._parts import ImaginaryPartOfLog, PartOfNumber, RealPartOfLog, forget
from .registering import annotate, broadcast


@quax.register(lax.real_p)
def real_part(x: Log) -> RealPartOfLog:
    modulus = log_of(wrap(num.absolute(unwrap(x.number))))
    return RealPartOfLog(modulus, x, False, "", None)


@quax.register(lax.imag_p)
def imaginary_part(x: Log) -> ImaginaryPartOfLog:
    return ImaginaryPartOfLog(lax.imag(x.materialise()), x, True, "", None)


def _bind(primitive: Primitive, *operands: Any, **params: Any) -> Any:
    return quax.quaxify(primitive.bind)(*operands, **params)


def _remembering(primitive: Primitive, position: int, name: str, *types: Any) -> None:
    """A rule for one operation on the part at this position of the operands."""

    def rule(*operands: Any, **params: Any) -> Any:
        part = operands[position]
        out = _bind(primitive, *map(forget, operands), **params)
        if part.change:
            return out
        other = forget(operands[1 - position]) if len(operands) == 2 else None
        return type(part)(out, part.source, part.imaginary, name, other)

    rule.__name__ = f"{name}_of_part"
    quax.register(primitive)(annotate(rule, *types))


def _forgetting(primitive: Primitive, kind: Any) -> None:
    """Two parts: what becomes of them is not remembered."""

    def rule(x: Any, y: Any, **params: Any) -> Any:
        return _bind(primitive, forget(x), forget(y), **params)

    rule.__name__ = "two_parts"
    quax.register(primitive)(annotate(rule, kind, kind))


for _part, _others in (
    (RealPartOfLog, (Log, ArrayLike)),
    (ImaginaryPartOfLog, (ArrayLike,)),
    (PartOfNumber, (LogArray, ArrayLike)),
):
    for _other in _others:
        _remembering(lax.add_p, 0, "add", _part, _other)
        _remembering(lax.add_p, 1, "add", _other, _part)
        _remembering(lax.sub_p, 0, "sub", _part, _other)
        _remembering(lax.sub_p, 1, "from", _other, _part)
        if _other is not Log:
            _remembering(lax.mul_p, 0, "mul", _part, _other)
            _remembering(lax.mul_p, 1, "mul", _other, _part)
            _remembering(lax.div_p, 0, "div", _part, _other)
    _remembering(lax.neg_p, 0, "neg", _part)
for _part in (RealPartOfLog, PartOfNumber):
    for _primitive in (lax.add_p, lax.sub_p):
        _forgetting(_primitive, _part)
for _primitive in (lax.mul_p, lax.div_p):
    _forgetting(_primitive, PartOfNumber)


def _is_same(x: Any, y: Any) -> bool:
    if x is y:
        return True
    if isinstance(x, LogArray) and isinstance(y, LogArray):
        return all(a is b for a, b in zip(unwrap(x), unwrap(y), strict=True))
    if isinstance(x, Log) and isinstance(y, Log):
        return x.principal == y.principal and _is_same(x.number, y.number)
    if any(isinstance(v, (Log, LogArray, Tracer)) for v in (x, y)):
        return False
    return jnp.shape(x) == jnp.shape(y) and bool(jnp.all(x == y))


#: Operations on a real operand: what is done to the real and to the imaginary part -> what to the
#: whole, and the position of the operand.
_OPERATIONS = {
    ("mul", "mul"): (lax.mul_p, 1),
    ("div", "div"): (lax.div_p, 1),
    ("add", ""): (lax.add_p, 1),
    ("sub", ""): (lax.sub_p, 1),
    ("from", "neg"): (lax.sub_p, 0),
}


def _joined(x: Any, y: Any) -> Any:
    """What has been done to both parts, done to the whole; None if they do not fit."""
    if x.imaginary or not y.imaginary or not _is_same(x.source, y.source):
        return None
    whole = x.source
    if x.change == y.change == "":
        return whole
    operation, position = _OPERATIONS.get((x.change, y.change), (None, 0))
    if operation is None or y.operand is not None and not _is_same(x.operand, y.operand):
        return None
    dtype = whole.dtype
    if isinstance(x.operand, (Log, LogArray)):
        other = quax.quaxify(lambda v: lax.convert_element_type(v, dtype))(x.operand)
    else:
        other = jnp.asarray(x.operand, dtype)
    return _bind(operation, *((whole, other) if position else (other, whole)))


@quax.register(lax.complex_p)
def complex_of_parts(x: RealPartOfLog, y: ImaginaryPartOfLog) -> Log:
    joined = _joined(x, y)
    return complex_of_log(x, y.array) if joined is None else joined


@quax.register(lax.complex_p)
def complex_of_parts_of_number(x: PartOfNumber, y: PartOfNumber) -> LogArray:
    joined = _joined(x, y)
    return _bind(lax.complex_p, forget(x), forget(y)) if joined is None else joined


@quax.register(lax.complex_p)
def complex_of_log_and_part(x: Log, y: ImaginaryPartOfLog) -> Log:
    return complex_of_log(x, y.array)


@quax.register(lax.complex_p)
def complex_of_log(x: Log, y: ArrayLike) -> Log:
    """log(e**x * e**(iy))."""
    y = jnp.asarray(y)
    phase = num.from_linear(jnp.exp(lax.complex(lax.full_like(y, 0), y)))
    modulus, phase = broadcast(unwrap(x.number), phase)
    modulus = num.convert(modulus, phase.significand.dtype)
    return log_of(wrap(num.multiply(modulus, phase)), principal=False)


@quax.register(lax.complex_p)
def complex_of_logs(x: Log, y: Log) -> Log:
    """A real logarithm and one that was multiplied by an imaginary number."""
    dtype = jnp.result_type(x.dtype, jnp.complex64)

    def total(x: Any, y: Any) -> Any:
        return lax.convert_element_type(x, dtype) + 1j * lax.convert_element_type(y, dtype)

    return quax.quaxify(total)(x, y)
