"""Rules for what moves, selects, converts and takes apart."""

from typing import Any

import jax
import numpy as np
from jax import lax

from .. import _numerics as num
from .algebra import absolute, antilog_of, logarithm, product, sign
from .movement import (
    Movement,
    broadcast_to,
    live,
    move,
    select_log_where_nonzero,
    structural,
    view,
)
from .rules import Operation, rule
from .shielding import shield
from .value import (
    NUMBER,
    PLAIN,
    VALUE,
    Form,
    Graph,
    Value,
    is_constant,
    numerically,
    plainly,
)


def _interesting(v: Value) -> bool:
    """Whether more is known of a value than its plain form."""
    return v.is_float


@rule("broadcast_in_dim")
def _broadcast(graph: Graph, operation: Operation, v: Value, *dynamic: Value) -> Value | None:
    if dynamic or not _interesting(v) or operation.params.get("sharding") is not None:
        return None
    placement = operation.params["broadcast_dimensions"]
    return view(graph, v, placement, operation.shape)


@rule("squeeze")
def _squeeze(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not _interesting(v):
        return None
    gone = {d % v.ndim for d in operation.params["dimensions"]}
    kept = [i for i in range(v.ndim) if i not in gone]
    return view(graph, v, [kept.index(i) if i in kept else None for i in range(v.ndim)],
                operation.shape)  # fmt: skip


@rule("reshape")
def _reshape(graph: Graph, operation: Operation, v: Value, *dynamic: Value) -> Value | None:
    if dynamic or not _interesting(v):
        return None
    shape = operation.shape
    long = [i for i, n in enumerate(v.shape) if n != 1]
    new_long = [i for i, n in enumerate(shape) if n != 1]
    if [v.shape[i] for i in long] == [shape[i] for i in new_long]:
        places = dict(zip(long, new_long, strict=True))
        return view(graph, v, [places.get(i) for i in range(v.ndim)], shape)
    return _movement(graph, operation, v)


@rule("transpose", "rev", "slice", "copy", "copy_p", "sharding_constraint", "reduce_precision")
def _movement(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not _interesting(v) or operation.name == "reduce_precision":
        return None
    if operation.name == "copy":
        return v
    return move(graph, v, Movement(operation.name, operation.key, operation.shape, operation.bind))


@rule("dynamic_slice")
def _indexed(graph: Graph, operation: Operation, v: Value, *indices: Value) -> Value | None:
    if not _interesting(v):
        return None
    movement = Movement(
        operation.name, operation.key, operation.shape, operation.bind, indices=tuple(indices)
    )
    return move(graph, v, movement)


@rule("gather")
def _gather(graph: Graph, operation: Operation, v: Value, *indices: Value) -> Value | None:
    if not _interesting(v):
        return None

    def of_exponent(array: jax.Array, positions: jax.Array) -> jax.Array:
        # out of bounds the significand is nan, at exponent 0
        return lax.gather(array, positions, **_gather_arguments(operation.params), fill_value=0)

    movement = Movement(operation.name, operation.key, operation.shape, operation.bind, of_exponent,
                        tuple(indices))  # fmt: skip
    return move(graph, v, movement)


def _gather_arguments(params: dict[str, Any]) -> dict[str, Any]:
    names = ("dimension_numbers", "slice_sizes", "unique_indices", "indices_are_sorted", "mode")
    return {name: params[name] for name in names}


@rule("concatenate", "pad", "dynamic_update_slice", "stack")
def _joined(graph: Graph, operation: Operation, *operands: Value) -> Value | None:
    values, indices = list(operands), []
    if operation.name == "dynamic_update_slice":
        values, indices = values[:2], values[2:]
    if not all(map(_interesting, values)):
        return None

    def apply(*arrays: jax.Array) -> jax.Array:
        count = len(indices)
        return operation.bind(*arrays[count:], *arrays[:count])

    return structural(graph, operation.name, operation.key, values, apply,
                      indices=indices, shape=operation.shape)  # fmt: skip


@rule("select_n")
def _select(graph: Graph, operation: Operation, which: Value, *cases: Value) -> Value | None:
    if not all(map(_interesting, cases)):
        return None
    only = _only_choice(which)
    if only is not None and cases[only].shape == operation.shape:
        return cases[only]
    if len(cases) == 2:
        masked = _log_where_nonzero(graph, operation, which, *cases)
        if masked is not None:
            return masked
        if cases[0] is cases[1]:
            return cases[0]
    value = structural(graph, "select_n", None, cases, operation.bind, indices=(which,),
                       shape=operation.shape)  # fmt: skip
    if len(cases) == 2 and which.shape == operation.shape:
        shielded = [shield(graph, case, which, bool(i)) for i, case in enumerate(cases)]
        if any(s is not None for s in shielded):
            graph.changed = True
            parts = [c if s is None else s for c, s in zip(cases, shielded, strict=True)]
            value.forms[PLAIN] = operation.plain((which, *parts))
    return value


def _only_choice(which: Value) -> int | None:
    """The case that a small constant selects everywhere."""
    if which.content is None:
        return None
    chosen = set(which.content.astype(int).ravel().tolist())
    return chosen.pop() if len(chosen) == 1 else None


def _log_where_nonzero(
    graph: Graph, operation: Operation, which: Value, if_false: Value, if_true: Value
) -> Value | None:
    """where(b != 0, a, -inf), as `logsumexp` writes its coefficients."""
    if which.operation not in ("ne", "eq") or which.shape != operation.shape:
        return None
    b, zero = which.operands
    if not is_constant(zero, 0) or not b.is_float:
        return None
    a, nothing = (if_true, if_false) if which.operation == "ne" else (if_false, if_true)
    if not is_constant(nothing, -np.inf):
        return None
    if b.nonzero:
        return a  # nothing is selected
    b = broadcast_to(graph, b, operation.shape)
    key = ("select_n", (which, if_false, if_true), None)
    plain = operation.plain((which, if_false, if_true))
    return select_log_where_nonzero(graph, b, a, plain, key)


@rule("convert_element_type")
def _convert(graph: Graph, operation: Operation, v: Value) -> Value | None:
    dtype = operation.dtype
    if not v.is_float or operation.params.get("sharding") is not None:
        if v.constant is not None and np.dtype(dtype).name in ("float32", "float64"):
            return graph.constant(v.constant, v.shape, dtype)
        return None
    if np.dtype(dtype).name not in ("float32", "float64", "complex64", "complex128"):
        return None
    return convert(graph, v, dtype, operation.bind)


def convert(graph: Graph, v: Value, dtype: Any, bind: Any = None) -> Value:
    """A change of dtype; applied to all that is known of a value."""
    if v.dtype == dtype:
        return v
    if v.operation == "live":
        return live(graph, v.operands[0], dtype)
    apply = bind or (lambda array: lax.convert_element_type(array, dtype))
    key = np.dtype(dtype).name
    if v.constant is not None:
        return graph.constant(v.constant, v.shape, dtype)
    plain, number = plainly(apply, v), numerically(lambda x: num.convert(x, dtype), v)
    to_complex = np.dtype(dtype).kind == "c" and not v.is_complex
    if v.operation == "exp" and (to_complex or np.dtype(dtype).kind != "c"):
        r = convert(graph, v.operands[0], dtype)
        value, new = graph.node("exp", (r,), dtype=dtype, plain=plain, number=number)
        if new:
            value.exponent = r
    else:
        value, new = graph.node("convert_element_type", (v,), key, dtype=dtype, plain=plain,
                                number=number)  # fmt: skip
    if new:
        value.risky, value.positive, value.harmless = v.risky, v.positive, v.harmless
        value.nonnegative = v.nonnegative and not to_complex
        value.nonpositive = v.nonpositive and not to_complex
        value.nonzero, value.underflows = v.nonzero, v.underflows
        value.normalised_axes = v.normalised_axes
        if v.antilog is not None:
            value.antilog = convert(graph, v.antilog, dtype)
        if v.exponent is not None and value.exponent is None:
            value.exponent = convert(graph, v.exponent, dtype)
        if v.is_product:
            value.factors = [(convert(graph, b, dtype), e) for b, e in v.factors]
    return value


@rule("stop_gradient")
def _stop(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not v.is_float:
        return None
    if v.operation == "sign" and not v.is_complex:
        return v  # constant already, and the partner of its modulus
    return stopped(graph, v)


def stopped(graph: Graph, v: Value) -> Value:
    def of_number(x: num.Scaled) -> num.Scaled:
        return num.Scaled(lax.stop_gradient(x.significand), x.exponent)

    source = (v, VALUE if VALUE in v.forms else PLAIN)
    value, new = graph.node(
        "stop_gradient", (v,), plain=Form(lax.stop_gradient, (source,)),
        number=numerically(of_number, v),
    )  # fmt: skip
    if new:
        value.constant = v.constant
        value.risky, value.nonnegative, value.positive = v.risky, v.nonnegative, v.positive
        value.harmless = True
        if v.antilog is not None:
            value.antilog = stopped(graph, v.antilog)
    return value


@rule("real")
def _real(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not v.is_float:
        return None
    if v.constant is not None:
        return graph.constant(np.real(v.constant), v.shape, operation.dtype)
    if v.operation == "convert_element_type" and not v.operands[0].is_complex:
        return v.operands[0] if v.operands[0].dtype == operation.dtype else None
    if v.antilog is not None:
        modulus = absolute(graph, v.antilog)
        return logarithm(graph, modulus, operation.plain((v,)), ("real", (v,), None),
                         harmless=v.harmless)  # fmt: skip
    value, new = graph.node("real", (v,), dtype=operation.dtype, plain=operation.plain((v,)),
                            number=numerically(num.real, v))  # fmt: skip
    if new:
        value.risky = v.risky
    return value


@rule("imag")
def _imag(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not v.is_float:
        return None
    if v.constant is not None:
        return graph.constant(np.imag(v.constant), v.shape, operation.dtype)
    if v.antilog is not None:
        value, _ = graph.node("angle", (v.antilog,), dtype=operation.dtype,
                              plain=operation.plain((v,)))  # fmt: skip
        return value
    value, new = graph.node("imag", (v,), dtype=operation.dtype, plain=operation.plain((v,)),
                            number=numerically(num.imag, v))  # fmt: skip
    if new:
        value.risky = v.risky
    return value


@rule("conj")
def _conj(graph: Graph, operation: Operation, v: Value) -> Value | None:
    return conjugate(graph, v, operation.plain((v,))) if v.is_float else None


def conjugate(graph: Graph, v: Value, plain: Form | None = None) -> Value:
    if not v.is_complex or v.constant is not None and np.imag(v.constant) == 0:
        return v
    if v.operation == "conj":
        return v.operands[0]
    if v.operation == "convert_element_type" and not v.operands[0].is_complex:
        return v
    if v.operation == "sign":
        return sign(graph, conjugate(graph, v.operands[0]))
    value, new = graph.node("conj", (v,), plain=plain or plainly(lax.conj, v),
                            number=numerically(num.conj, v))  # fmt: skip
    if new:
        value.risky, value.positive, value.harmless = v.risky, v.positive, v.harmless
        if v.antilog is not None:
            value.antilog = conjugate(graph, v.antilog)
        if v.is_product:
            value.factors = [(conjugate(graph, b), e) for b, e in v.factors]
    return value


@rule("atan2")
def _atan2(graph: Graph, operation: Operation, y: Value, x: Value) -> Value | None:
    if y.operation == "imag" and x.operation == "real" and x.operands[0] is y.operands[0]:
        v = y.operands[0]
        plain = numerically(num.angle, v) if v.risky else operation.plain((y, x))
        value, _ = graph.node("angle", (v,), dtype=operation.dtype, plain=plain)
        return value
    if not (y.is_float and x.is_float) or x.is_log or y.is_log or x.shape != y.shape:
        return None
    value, _ = graph.node("angle", (complex_of(graph, x, y),), dtype=operation.dtype,
                          plain=operation.plain((y, x)))  # fmt: skip
    return value


def complex_of(graph: Graph, x: Value, y: Value) -> Value:
    """The value x + iy of two real ones."""
    dtype = np.result_type(x.dtype, np.complex64)
    value, new = graph.node(
        "complex", (x, y), dtype=dtype, plain=plainly(lax.complex, x, y),
        number=Form(num.make_complex, ((x, NUMBER), (y, NUMBER))),
    )  # fmt: skip
    if new:
        value.risky = max(x.risky, y.risky)
    return value


def _unit_phase(angle: jax.Array) -> jax.Array:
    return lax.exp(lax.complex(lax.full_like(angle, 0), angle))


@rule("complex")
def _complex(graph: Graph, operation: Operation, x: Value, y: Value) -> Value | None:
    if not x.is_float or x.shape != operation.shape or y.shape != operation.shape:
        return None
    if y.operation == "imag" and x.operation == "real" and x.operands[0] is y.operands[0]:
        return x.operands[0]
    plain = operation.plain((x, y))
    if y.operation == "angle" and y.operands[0].dtype == operation.dtype:
        modulus = convert(graph, antilog_of(graph, x), operation.dtype)
        phase = sign(graph, y.operands[0])
        from .factors import merge

        factors, _ = merge(modulus.factors, phase.factors)
        antilog = product(graph, factors, operation.shape, operation.dtype)
        return logarithm(graph, antilog, plain, ("complex", (x, y), None), harmless=False)
    if x.antilog is not None:
        phase, _ = graph.node("turn", (y,), dtype=operation.dtype, plain=plainly(_unit_phase, y))
        phase.positive = True
        modulus = convert(graph, x.antilog, operation.dtype)
        antilog = product(graph, (*modulus.factors, (phase, 1.0)), operation.shape,
                          operation.dtype)  # fmt: skip
        return logarithm(graph, antilog, plain, ("complex", (x, y), None), harmless=x.harmless)
    return complex_of(graph, x, y)
