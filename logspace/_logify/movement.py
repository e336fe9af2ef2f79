"""Operations that move, repeat or select elements.

They commute with everything that is done element by element, so they are pushed inside: what is
moved of sign(b) is the sign of what is moved of b. Both halves of a pair that was split before a
reshape or an indexing so meet in one value again.

Broadcasting, squeezing and reshapes that only add or remove axes of length one are normalised to a
*view*: a root value and the axis that each of its axes is placed at. Two chains of such operations
with one result are one value, and a factor that is constant along an axis shows it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax import lax

from .. import _numerics as num
from .._inverse_pair import PREFIX
from .algebra import antilog_of, logarithm, product
from .value import NUMBER, PLAIN, Form, Graph, Value

#: Operations done element by element on one operand, through which movement is pushed.
_PUSHED = (
    "exp", "sign", "abs", "guard", "conj", "real", "imag", "live", "power",
    "convert_element_type", "angle", "array_power",
)  # fmt: skip


def is_pushed(v: Value) -> bool:
    return v.operation in _PUSHED or v.operation.startswith(PREFIX)


@dataclass(frozen=True)
class Movement:
    """A movement of one array, the same for significands and exponents."""

    operation: str
    key: Any
    shape: tuple[int, ...]
    apply: Callable[..., jax.Array] = field(compare=False)
    apply_to_exponent: Callable[..., jax.Array] | None = field(default=None, compare=False)
    #: Further operands that are read as plain arrays: indices.
    indices: tuple[Value, ...] = ()

    def numerically(self, v: Value) -> Form:
        def of_number(x: num.Scaled, *indices: jax.Array) -> num.Scaled:
            of_exponent = self.apply_to_exponent or self.apply
            return num.Scaled(
                self.apply(x.significand, *indices), of_exponent(x.exponent, *indices)
            )

        return Form(of_number, ((v, NUMBER), *((i, PLAIN) for i in self.indices)))

    def plainly(self, v: Value) -> Form:
        return Form(self.apply, ((v, PLAIN), *((i, PLAIN) for i in self.indices)))


def move(graph: Graph, v: Value, movement: Movement) -> Value:
    """The moved value, in all its forms and with all that is known of it."""
    if is_pushed(v):
        operation, params = v.operation, v.params
        operands: tuple[Value, ...] = tuple(move(graph, o, movement) for o in v.operands)
    else:
        operation, params = movement.operation, movement.key
        operands = (v, *movement.indices)
    value, new = graph.node(
        operation,
        operands,
        params,
        shape=movement.shape,
        dtype=v.dtype,
        plain=movement.plainly(v),
        number=movement.numerically(v),
    )
    if new:
        _copy_facts(value, v)
        if is_pushed(v):
            if v.operation == "exp":
                value.exponent = operands[0]
        elif v.exponent is not None:
            value.exponent = move(graph, v.exponent, movement)
        if v.antilog is not None:
            value.antilog = move(graph, v.antilog, movement)
        if v.is_product:
            value.factors = [(move(graph, base, movement), e) for base, e in v.factors]
        if v.softmax is not None:
            r, s = v.softmax
            value.softmax = move(graph, r, movement), move(graph, s, movement)
    return value


def _copy_facts(value: Value, v: Value) -> None:
    value.weak_type = v.weak_type
    value.constant = v.constant
    value.risky, value.nonnegative = v.risky, v.nonnegative
    value.nonpositive, value.nonzero = v.nonpositive, v.nonzero
    value.underflows = v.underflows
    value.positive, value.harmless = v.positive, v.harmless


# Views


def placement_of(v: Value) -> tuple[Value, tuple[int | None, ...]]:
    """The root of a view and where its axes stand; any other value is its own root."""
    if v.operation == "view":
        return v.operands[0], v.params[0]
    return v, tuple(i if n != 1 else None for i, n in enumerate(v.shape))


def view(graph: Graph, v: Value, placement: Sequence[int | None], shape: Sequence[int]) -> Value:
    """v with axis i placed at axis placement[i] of `shape`, and repeated along the others."""
    if is_pushed(v):
        root, inner = v, tuple(i if n != 1 else None for i, n in enumerate(v.shape))
    else:
        root, inner = placement_of(v)
    composed = tuple(None if p is None else placement[p] for p in inner)
    shape = tuple(shape)
    if root.shape == shape and all(
        p == i or (p is None and shape[i] == 1) for i, p in enumerate(composed)
    ):
        return root
    if root.operation == "constant":
        return graph.constant(root.constant, shape, root.dtype)
    kept = [i for i, p in enumerate(composed) if p is not None]
    squeezed = tuple(root.shape[i] for i in kept)
    places = tuple(p for p in composed if p is not None)
    increasing = all(a < b for a, b in zip(places, places[1:], strict=False))
    order = tuple(np.argsort(places)) if places else ()

    def apply(array: jax.Array) -> jax.Array:
        if array.shape != squeezed:
            array = lax.reshape(array, squeezed)
        if not increasing:
            array = lax.transpose(array, order)
        return lax.broadcast_in_dim(array, shape, tuple(sorted(places)))

    return move(graph, root, Movement("view", (composed, shape), shape, apply))


def broadcast_to(graph: Graph, v: Value, shape: Sequence[int]) -> Value:
    """As an operand of an operation whose result has this shape (scalars and axes of size 1)."""
    if v.shape == tuple(shape):
        return v
    offset = len(shape) - v.ndim
    return view(graph, v, [i + offset for i in range(v.ndim)], shape)


def without_axes(graph: Graph, v: Value, axes: Sequence[int]) -> Value | None:
    """The value of which v is a repetition along all of `axes`, or None if it is no such."""
    if v.operation == "constant":
        shape = [n for i, n in enumerate(v.shape) if i not in axes]
        return graph.constant(v.constant, shape, v.dtype)
    kept = [i for i in range(v.ndim) if i not in axes]
    shape = tuple(v.shape[i] for i in kept)
    if is_pushed(v):
        # the repetition was pushed inside
        inner = [without_axes(graph, o, axes) for o in v.operands]
        operands = [o for o in inner if o is not None]
        if len(operands) < len(inner):
            return None
        first = tuple(slice(None) if i in kept else 0 for i in range(v.ndim))

        def take(array: jax.Array) -> jax.Array:
            return array[first]

        form = Movement("without_axes", tuple(axes), shape, take)
        value, new = graph.node(
            v.operation,
            operands,
            v.params,
            shape=shape,
            dtype=v.dtype,
            plain=form.plainly(v),
            number=form.numerically(v),
        )
        if new:
            _copy_facts(value, v)
            if v.operation == "exp":
                value.exponent = operands[0]
        return value
    root, placement = placement_of(v)
    if any(p in axes for p in placement if p is not None):
        return None
    renumbered = [None if p is None else kept.index(p) for p in placement]
    return view(graph, root, renumbered, shape)


# Several operands


def structural(
    graph: Graph,
    operation: str,
    key: Any,
    operands: Sequence[Value],
    apply: Callable[..., jax.Array],
    *,
    indices: Sequence[Value] = (),
    shape: Sequence[int],
) -> Value:
    """`apply(*indices, *arrays)`: concatenation, selection, padding, update of a slice ...

    If one of the operands is a logarithm, all are, and so is the result.
    """
    index_needs = tuple((i, PLAIN) for i in indices)
    count = len(index_needs)

    def of_plain(*arrays: jax.Array) -> jax.Array:
        return apply(*arrays)

    def of_numbers(*parts: Any) -> num.Scaled:
        positions, numbers = parts[:count], parts[count:]
        return num.Scaled(
            apply(*positions, *(x.significand for x in numbers)),
            apply(*positions, *(x.exponent for x in numbers)),
        )

    if all(v.operation == "exp" for v in operands):
        exponent = structural(
            graph, operation, key, [v.operands[0] for v in operands], apply,
            indices=indices, shape=shape,
        )  # fmt: skip
        combined, fresh = graph.node(
            "exp", (exponent,), shape=shape, dtype=operands[0].dtype,
            plain=Form(of_plain, (*index_needs, *((v, PLAIN) for v in operands))),
            number=Form(of_numbers, (*index_needs, *((v, NUMBER) for v in operands))),
        )  # fmt: skip
        if fresh:
            combined.exponent = exponent
            combined.nonnegative = not combined.is_complex
            combined.positive = True
            combined.risky = max(v.risky for v in operands)
        return combined
    value, new = graph.node(
        operation,
        (*indices, *operands),
        key,
        shape=shape,
        dtype=operands[0].dtype,
        plain=Form(of_plain, (*index_needs, *((v, PLAIN) for v in operands))),
        number=Form(of_numbers, (*index_needs, *((v, NUMBER) for v in operands)))
        if any(v.risky or v.underflows for v in operands)
        else None,
    )
    if not new:
        return value
    value.risky = max(v.risky for v in operands)
    value.underflows = any(v.underflows for v in operands)
    value.nonzero = all(v.nonzero for v in operands)
    value.nonnegative = all(v.nonnegative for v in operands)
    value.positive = all(v.positive for v in operands)
    if any(v.is_log for v in operands):
        value.harmless = all(v.harmless or not v.is_log for v in operands)
        value.antilog = structural(
            graph, operation, key, [antilog_of(graph, v) for v in operands], apply,
            indices=indices, shape=shape,
        )  # fmt: skip
    return value


def live(graph: Graph, b: Value, dtype: Any) -> Value:
    """1 where b is not 0, else 0; beside the factor b it vanishes."""

    def nonzero(array: jax.Array) -> jax.Array:
        return lax.convert_element_type(lax.ne(array, lax.full_like(array, 0)), dtype)

    # of the number itself: its sign or modulus may have met the other by now
    core = b.operands[0] if b.operation in ("sign", "abs") else b
    value, new = graph.node("live", (core,), np.dtype(dtype).name, dtype=dtype,
                            plain=Form(nonzero, ((b, PLAIN),)))  # fmt: skip
    if new:
        value.nonnegative = True
    return value


def select_log_where_nonzero(graph: Graph, b: Value, a: Value, plain: Form, key: Any) -> Value:
    """where(b != 0, a, -inf): exp of it times b is exp(a) * b, also in its derivatives."""
    antilog_a = antilog_of(graph, a)
    mask = live(graph, b, a.dtype)
    antilog = product(graph, (*antilog_a.factors, (mask, 1.0)), a.shape, a.dtype)
    operation, operands, params = key
    return logarithm(graph, antilog, plain, (operation, operands, params),
                     harmless=a.harmless or not a.is_log, shape=a.shape)  # fmt: skip
