"""Sums, products and contractions along axes.

A sum of logarithms is the logarithm of a product. A shift that is constant along the axes comes out
of a sum, to meet its inverse. A sum of products of two factors, each repeated along axes of the
other, is a contraction.
"""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from .. import _numerics as num
from .algebra import absolute, antilog_of, exponential, logarithm, product, sign
from .contraction import contract
from .factors import merge, raised
from .movement import placement_of, view, without_axes
from .power import array_power
from .rules import Operation, rule
from .special import peeled
from .value import EXPONENTIAL, NUMBER, PLAIN, PRODUCT, Form, Graph, Value, numerically, plainly
from .zero_coefficients import away_from_zero, masked_product


@rule("reduce_sum")
def _sum(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not v.is_float:
        return None
    axes = tuple(operation.params["axes"])
    if not axes:
        return v
    if v.antilog is not None:
        antilog = product_along(graph, v.antilog, axes, operation.shape)
        return logarithm(graph, antilog, operation.plain((v,)), ("reduce_sum", (v,), axes),
                         harmless=v.harmless, shape=operation.shape)  # fmt: skip
    value, new = graph.node(
        "reduce_sum", (v,), axes, shape=operation.shape, plain=operation.plain((v,)),
        number=_number_of_sum(graph, v, axes, operation.shape),
    )  # fmt: skip
    if new:
        shift, rest = _split(graph, v, axes)
        if shift:
            value.factors = (*shift, (_sum_node(graph, rest, axes, operation.shape), 1.0))
        value.risky = v.risky
        # of exp(a - max(a)) one term is 1
        value.underflows = v.underflows and set(v.normalised_axes or ()) != set(axes)
        value.nonnegative = v.nonnegative
        value.positive = _contains_one(v, axes)
    return value


def _contains_one(v: Value, axes: Sequence[int]) -> bool:
    """Whether v is exp(a - max(a)) along the axes, for a max that was not replaced where -inf."""
    if v.normalised_axes is None or set(v.normalised_axes) != set(axes):
        return False
    if v.operation not in ("exp", "exp_of_log"):
        return False
    r = v.operands[0]
    return r.operation == "sub" and not peeled(r.operands[1])[1] and not v.is_complex


def _split(graph: Graph, v: Value, axes: Sequence[int]) -> tuple[list[Any], Value]:
    """The exponential factors that do not depend on the axes, and the product of the others."""
    if not v.is_product:
        return [], v
    outside, inside = [], []
    for base, e in v.factors:
        constant = without_axes(graph, base, axes) if base.is_exponential else None
        if constant is None:
            inside.append((base, e))
        else:
            outside.append((constant, e))
    if not outside or not inside:
        return [], v
    return outside, product(graph, inside, v.shape, v.dtype)


def _number_of_sum(
    graph: Graph, v: Value, axes: tuple[int, ...], shape: Sequence[int]
) -> Form | None:
    shift, rest = _split(graph, v, axes)
    if shift:
        total = _sum_node(graph, rest, axes, shape)
        factors, _ = merge(shift, total.factors)
        whole = product(graph, factors, shape, v.dtype)
        return numerically(lambda x: x, whole)
    if not (v.risky or v.underflows):
        return None
    return numerically(lambda x: num.sum(x, axes), v)


def _sum_node(graph: Graph, v: Value, axes: tuple[int, ...], shape: Sequence[int]) -> Value:
    """The sum as a number alone."""
    number = _as_contraction(graph, v, axes, shape)
    if number is None:
        number = numerically(lambda x: num.sum(x, axes), v)
    value, new = graph.node("sum_of_numbers", (v,), axes, shape=shape, number=number)
    if new:
        value.risky = EXPONENTIAL
        value.nonnegative = v.nonnegative
    return value


def _as_contraction(
    graph: Graph, v: Value, axes: tuple[int, ...], shape: Sequence[int]
) -> Form | None:
    """sum(a * b) where a and b are each repeated along axes of the other: a matrix product."""
    if v.operation != "product" or len(v.factors) < 2:
        return None
    spans = [_span(base) for base, _ in v.factors]
    long = {i for i, n in enumerate(v.shape) if n != 1}
    if not long.issuperset(axes):
        return None
    # the factors that lack some axis, on one side; those that have it, on the other
    for lacking in sorted(long - set(axes)):
        left = [i for i, s in enumerate(spans) if lacking not in s]
        right = [i for i, s in enumerate(spans) if lacking in s]
        if not left or not right:
            continue
        span_left = set().union(*(spans[i] for i in left))
        span_right = set().union(*(spans[i] for i in right))
        if not (set(axes) <= span_left and set(axes) <= span_right):
            continue
        return _contraction(graph, v, axes, (left, span_left), (right, span_right))
    return None


def _span(base: Value) -> set[int]:
    """The axes along which a value is not merely repeated."""
    inner = base
    while inner.operation in ("exp", "guard", "convert_element_type", "abs") and inner.operands:
        inner = inner.operands[0]
    _, placement = placement_of(inner)
    return {p for p in placement if p is not None}


def _contraction(
    graph: Graph, v: Value, axes: tuple[int, ...], left: Any, right: Any
) -> Form | None:
    sides = []
    for indices, span in (left, right):
        gone = [i for i in range(v.ndim) if i not in span]
        parts = []
        for i in indices:
            base, e = v.factors[i]
            small = without_axes(graph, base, gone) if gone else base
            if small is None:
                return None
            parts.append((small, e))
        kept = sorted(span)
        shape = tuple(v.shape[i] for i in kept)
        sides.append((product(graph, parts, shape, v.dtype), kept))
    (a, axes_a), (b, axes_b) = sides
    batch = [i for i in axes_a if i in axes_b and i not in axes]
    free_a = [i for i in axes_a if i not in axes_b]
    free_b = [i for i in axes_b if i not in axes_a]
    numbers = (
        ([axes_a.index(i) for i in axes], [axes_b.index(i) for i in axes]),
        ([axes_a.index(i) for i in batch], [axes_b.index(i) for i in batch]),
    )
    order = [*batch, *free_a, *free_b]
    out = [i for i in range(v.ndim) if i not in axes]
    long = [i for i in out if i in order]
    shape = tuple(v.shape[i] for i in out)
    permutation = [order.index(i) for i in long]

    def of_numbers(x: num.Scaled, y: num.Scaled) -> num.Scaled:
        z = contract(x, y, numbers)
        return num.Scaled(*(lax.reshape(lax.transpose(part, permutation), shape) for part in z))

    return Form(of_numbers, ((a, NUMBER), (b, NUMBER)))


# Products along axes


def product_along(graph: Graph, v: Value, axes: tuple[int, ...], shape: Sequence[int]) -> Value:
    """The product along axes, factor by factor."""
    factors: list[tuple[Value, float]] = []
    count = int(np.prod([v.shape[a] for a in axes], dtype=int))
    for base, e in v.factors:
        if base.is_exponential:
            r = base.operands[0]
            total, _ = graph.node(
                "reduce_sum", (r,), axes, shape=shape,
                plain=plainly(lambda a: lax.reduce_sum(a, axes), r),
            )  # fmt: skip
            factors.append((exponential(graph, total), e))
            continue
        constant = without_axes(graph, base, axes) if _repeated(base, axes) else None
        if constant is not None and count:
            factors += raised(constant.factors, e * count)
            continue
        factors.append((_prod_of(graph, base, axes, shape), e))
    collected, _ = merge(factors)
    return product(graph, collected, shape, v.dtype)


def _prod_of(graph: Graph, base: Value, axes: tuple[int, ...], shape: Sequence[int]) -> Value:
    """The product of one factor; signs and moduli stand outside, where they meet each other."""
    if base.operation in ("abs", "sign"):
        whole = _prod_of(graph, base.operands[0], axes, shape)
        return absolute(graph, whole) if base.operation == "abs" else sign(graph, whole)
    value, new = graph.node(
        "reduce_prod", (base,), axes, shape=shape,
        number=numerically(lambda x: num.prod(x, axes), base),
    )  # fmt: skip
    if new:
        value.risky = EXPONENTIAL
        value.nonnegative = base.nonnegative
    return value


def _repeated(base: Value, axes: Sequence[int]) -> bool:
    span = _span(base)
    return base.operation == "view" and not any(a in span for a in axes)


@rule("reduce_prod")
def _prod(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not v.is_float or v.is_log:
        return None
    axes = tuple(operation.params["axes"])
    if not axes:
        return v
    number = numerically(lambda x: num.prod(x, axes), v)
    value, new = graph.node(
        "reduce_prod", (v,), axes, shape=operation.shape, plain=operation.plain((v,)),
        number=number,
    )  # fmt: skip
    if PLAIN in value.forms:
        value.forms[PLAIN] = operation.plain((v,))
    if new:
        value.risky = max(v.risky, PRODUCT)
        value.nonnegative = v.nonnegative
        if v.is_product or v.operation in ("abs", "sign"):
            value.factors = product_along(graph, v, axes, operation.shape).factors
        if v.exponent is not None and not v.is_complex:
            r = v.exponent
            value.exponent, _ = graph.node(
                "reduce_sum", (r,), axes, shape=operation.shape,
                plain=plainly(lambda a: lax.reduce_sum(a, axes), r),
            )  # fmt: skip
    return value


# Cumulative operations


@rule("cumsum", "cumprod", "cumlogsumexp")
def _cumulative(graph: Graph, operation: Operation, v: Value) -> Value | None:
    if not v.is_float:
        return None
    axis, reverse = operation.params["axis"], operation.params["reverse"]
    key = (axis, reverse)
    function = num.cumsum if operation.name == "cumlogsumexp" else num.cumprod

    def along(x: num.Scaled) -> num.Scaled:
        return function(x, axis, reverse)

    if operation.name == "cumprod" or (operation.name == "cumsum" and not v.is_log):
        if v.is_log or (operation.name == "cumsum" and not v.risky):
            return None
        if operation.name == "cumsum":
            function = num.cumsum
        value, new = graph.node(operation.name, (v,), key, plain=operation.plain((v,)),
                                number=numerically(along, v))  # fmt: skip
        if new:
            value.risky = max(v.risky, PRODUCT)
            value.nonnegative = v.nonnegative
        return value
    antilog = antilog_of(graph, v)
    cumulated, new = graph.node(operation.name + "_of_numbers", (antilog,), key,
                                number=numerically(along, antilog))  # fmt: skip
    if new:
        cumulated.risky = EXPONENTIAL
        cumulated.nonnegative = antilog.nonnegative
    return logarithm(graph, cumulated, operation.plain((v,)), (operation.name, (v,), key),
                     harmless=v.harmless and operation.name == "cumsum")  # fmt: skip


# Contractions


@rule("dot_general")
def _dot(graph: Graph, operation: Operation, x: Value, y: Value) -> Value | None:
    if not (x.is_float and y.is_float) or x.dtype != y.dtype or x.dtype != operation.dtype:
        return None
    numbers = operation.params["dimension_numbers"]
    if x.is_log != y.is_log:
        return _weighted_sum_of_logs(graph, operation, x, y, numbers)
    if x.is_log or not (x.risky or y.risky or x.underflows or y.underflows):
        return None
    (contract_x, contract_y), (batch_x, batch_y) = numbers
    free_x = [d for d in range(x.ndim) if d not in (*contract_x, *batch_x)]
    free_y = [d for d in range(y.ndim) if d not in (*contract_y, *batch_y)]
    end = len(operation.shape)
    places_x = _places(free_x, batch_x, contract_x, len(batch_x), end)
    places_y = _places(free_y, batch_y, contract_y, len(batch_x) + len(free_x), end)
    shift: list[tuple[Value, float]] = []
    rests = []
    for v, gone, places in ((x, contract_x, places_x), (y, contract_y, places_y)):
        outside, rest = _split(graph, v, tuple(gone))
        kept = [d for d in range(v.ndim) if d not in gone]
        for base, e in outside:
            shift.append((view(graph, base, [places[d] for d in kept], operation.shape), e))
        rests.append(rest)
    total, new = graph.node(
        "dot_of_numbers", rests, repr(numbers), shape=operation.shape,
        number=numerically(lambda a, b: contract(a, b, numbers), *rests),
    )  # fmt: skip
    if new:
        total.risky = EXPONENTIAL
        total.nonnegative = all(v.nonnegative for v in rests)
    factors, _ = merge(shift, [(total, 1.0)])
    whole = product(graph, factors, operation.shape, operation.dtype)
    value, new = graph.node(
        "dot_general", (x, y), operation.key, shape=operation.shape,
        plain=operation.plain((x, y)), number=numerically(lambda a: a, whole),
    )  # fmt: skip
    if new:
        value.factors = factors
        value.risky = max(x.risky, y.risky)
        value.underflows = x.underflows or y.underflows
        value.nonnegative = x.nonnegative and y.nonnegative
    return value


def _places(free: Sequence[int], batch: Sequence[int], contracted: Sequence[int], start: int,
            end: int) -> dict[int, int]:  # fmt: skip
    """Where the axes of an operand stand among batch axes, free axes and contracted ones."""
    places = {d: i for i, d in enumerate(batch)}
    places |= {d: start + i for i, d in enumerate(free)}
    return places | {d: end + i for i, d in enumerate(contracted)}


def _weighted_sum_of_logs(
    graph: Graph, operation: Operation, x: Value, y: Value, numbers: Any
) -> Value | None:
    """weights @ log(a): the logarithm of products of powers."""
    for log in (x, y):
        if log.harmless and log.antilog is not None and away_from_zero(log.antilog):
            return None
    (contract_x, contract_y), (batch_x, batch_y) = numbers
    free_x = [d for d in range(x.ndim) if d not in (*contract_x, *batch_x)]
    free_y = [d for d in range(y.ndim) if d not in (*contract_y, *batch_y)]
    shape = (*operation.shape, *(x.shape[d] for d in contract_x))
    end = len(operation.shape)
    at_x = _places(free_x, batch_x, contract_x, len(batch_x), end)
    at_y = _places(free_y, batch_y, contract_y, len(batch_x) + len(free_x), end)
    wide = [
        view(graph, v, [at[d] for d in range(v.ndim)], shape) for v, at in ((x, at_x), (y, at_y))
    ]
    log, weight = wide if x.is_log else wide[::-1]
    assert log.antilog is not None
    powers = tuple((array_power(graph, base, e, weight), 1.0) for base, e in log.antilog.factors)
    factors, _ = merge(powers)
    terms = product(graph, factors, shape, operation.dtype)
    axes = tuple(range(end, len(shape)))
    antilog = product_along(graph, terms, axes, operation.shape)
    if log.harmless:
        plain = operation.plain((x, y))
    else:
        graph.changed = True
        masked = masked_product(graph, operation, log, weight)

        def summed(*parts: Any) -> jax.Array:
            return lax.reduce_sum(masked.function(*parts), axes)

        plain = Form(summed, masked.needs)
    return logarithm(graph, antilog, plain, ("dot_general", (x, y), operation.key),
                     harmless=log.harmless, shape=operation.shape)  # fmt: skip
