"""Loops, branches and checkpoints, rebuilt around evaluated bodies.

What enters or leaves a body is packed into arrays, in one of three kinds: a plain array, a number,
or a logarithm (the number behind it; with a complex one its imaginary part, which the number knows
modulo 2 pi only). A dry run of the body, in which nothing is read, says which
kind each result has; for what a loop carries this is repeated until it is stable. So a logarithm
that is carried stays one, and an exp at the end of a loop body meets the log at its start.

Where a body changes nothing, the original loop is used. Where its results may merely leave the
range of a float there are two loops, the original one and one of numbers, of which only those run
that something reads.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .. import _numerics as num
from .algebra import antilog_of, is_extremum_of_logs, logarithm
from .interpreter import constants, evaluate, is_interesting, multiplies
from .invariants import outside
from .jaxprs import opened, scan_groups
from .rules import Operation, default, result_of
from .value import (
    EXPONENTIAL,
    NONE,
    NUMBER,
    PLAIN,
    PRODUCT,
    VALUE,
    Form,
    Graph,
    Value,
    numerically,
)

CONTROL_FLOW: dict[str, Callable[..., Any]] = {}

#: Rounds after which the kinds of a carry must have settled: each can rise twice.
_ROUNDS = 6


class Kind(NamedTuple):
    """How a value crosses the border of a body."""

    name: str  # "plain", "number" or "log"
    nonnegative: bool
    risky: int = NONE
    known: Value | None = None  # a constant outside, which stays one inside


class ComplexLog(NamedTuple):
    """A complex logarithm, packed."""

    number: num.Scaled
    imag: jax.Array  # without derivative: it tells between the branches


_RANK = {"plain": 0, "number": 1, "log": 2}


def kind_of(v: Value) -> Kind:
    if v.is_log and not v.harmless or is_extremum_of_logs(v):
        return Kind("log", False, EXPONENTIAL)
    return Kind("number" if v.risky and v.is_float else "plain", v.nonnegative, v.risky)


def kind_inside(v: Value) -> Kind:
    """The kind of what a body does not change. Equal constants are one value inside too: closed over
    twice, they would otherwise enter as two unknown arrays."""
    known = v if v.content is not None or v.constant is not None else None
    return kind_of(v)._replace(known=known)


def join(a: Kind, b: Kind) -> Kind:
    name = max(a.name, b.name, key=_RANK.__getitem__)
    return Kind(name, a.nonnegative and b.nonnegative, max(a.risky, b.risky))


def request(graph: Graph, v: Value, kind: Kind) -> tuple[Value, str]:
    """The form to read of a value that is to be packed."""
    if kind.name == "log":
        antilog = antilog_of(graph, v)
        return (_complex_log(graph, v, antilog), PLAIN) if v.is_complex else (antilog, NUMBER)
    return v, NUMBER if kind.name == "number" else PLAIN


def _complex_log(graph: Graph, v: Value, antilog: Value) -> Value:
    needs = ((antilog, NUMBER), (v, VALUE if VALUE in v.forms else PLAIN))
    pack = Form(lambda x, log: ComplexLog(x, lax.imag(lax.stop_gradient(log))), needs)
    return graph.node("pack", (v,), plain=pack)[0]


def pack(graph: Graph, v: Value, kind: Kind) -> Any:
    source, form = request(graph, v, kind)
    if form == NUMBER:
        return source.number()
    array = source.plain()
    if isinstance(array, ComplexLog):
        return array
    if isinstance(v.dtype, np.dtype):
        array = jnp.asarray(array, v.dtype)  # no weak type: a carry keeps its type
    return array


def unpack(graph: Graph, kind: Kind, packed: Any) -> Value:
    if kind.known is not None:
        return _constant(graph, kind.known)
    if kind.name == "plain":
        value = graph.leaf(packed)
        value.nonnegative = kind.nonnegative
        return value
    imag = None
    if isinstance(packed, ComplexLog):
        packed, imag = packed.number, graph.leaf(packed.imag)
    nonnegative = kind.nonnegative or kind.name == "log"
    number = graph.number_leaf(packed, nonnegative=nonnegative, risky=kind.risky)
    return number if kind.name == "number" else _log_of(graph, number, imag)


def _log_of(graph: Graph, number: Value, imag: Value | None) -> Value:
    if imag is None:
        plain, key = numerically(num.log, number), ("log", (number,), None)
    else:
        plain = Form(_on_the_branch, ((number, NUMBER), (imag, PLAIN)))
        key = ("unpack", (number, imag), None)
    return logarithm(graph, number, plain, key, harmless=False)


def _on_the_branch(x: num.Scaled, imag: jax.Array) -> jax.Array:
    """log(x) with the multiple of 2 pi i that brings its imaginary part nearest to the given one."""
    log = num.log(x)
    turns = jnp.round((imag - lax.imag(lax.stop_gradient(log))) / (2 * np.pi))
    # plain JAX makes the imaginary part nan where it multiplies -inf + 0j by a real number
    turns = jnp.where(jnp.isfinite(turns), turns, 0)
    return lax.complex(lax.real(log), lax.imag(log) + (2 * np.pi) * turns)


def _constant(graph: Graph, v: Value) -> Value:
    if v.content is not None:
        return graph.leaf(v.content, constant=True)
    return graph.constant(v.constant, v.shape, v.dtype)


def placeholder(graph: Graph, kind: Kind, aval: Any) -> Value:
    if kind.known is not None:
        return _constant(graph, kind.known)
    value = graph.placeholder(aval.shape, aval.dtype)
    value.nonnegative = kind.nonnegative
    if kind.name == "plain":
        return value
    value.risky = kind.risky
    if kind.name == "number":
        return value
    value.nonnegative = True
    real = np.finfo(aval.dtype).dtype
    imag = graph.placeholder(aval.shape, real) if value.is_complex else None
    return _log_of(graph, value, imag)


def dry_run(outer: Graph, jaxpr: Any, kinds: Sequence[Kind]) -> tuple[list[Kind], bool]:
    """The kinds of a body's results, and whether evaluating it would change anything."""
    graph = Graph(outer.settings)
    graph.abstract = True
    body, _ = opened(jaxpr)
    args = [placeholder(graph, k, v.aval) for k, v in zip(kinds, body.invars, strict=True)]
    results = evaluate(graph, jaxpr, constants(graph, jaxpr), args)
    outer.events += graph.events
    return [kind_of(v) for v in results], graph.changed


def run_body(
    outer: Graph,
    jaxpr: Any,
    kinds: Sequence[Kind],
    packed: Sequence[Any],
    out: Sequence[Kind],
) -> list[Any]:
    """Evaluate a body inside the trace that is current."""
    graph = Graph(outer.settings)
    args = [unpack(graph, k, p) for k, p in zip(kinds, packed, strict=True)]
    results = evaluate(graph, jaxpr, constants(graph, jaxpr), args)
    return [pack(graph, v, k) for v, k in zip(results, out, strict=True)]


def _results(
    graph: Graph,
    operation: Operation,
    run: Callable[..., Any],
    operands: Sequence[Value],
    kinds: Sequence[Kind],
    out: Sequence[Kind],
    plain: Sequence[Value] | None,
) -> list[Value]:
    """Values that read the results of `run(*packed)`.

    `plain` are the results of the original operation, where those are right in plain form.
    """
    needs = tuple(request(graph, v, k) for v, k in zip(operands, kinds, strict=True))
    call, _ = graph.node("body", operands, object(), shape=(), dtype=bool, plain=Form(run, needs))
    values = []
    for i, (kind, aval) in enumerate(zip(out, operation.avals, strict=True)):
        if kind.name == "plain":
            value = result_of(graph, call, i, aval) if plain is None else plain[i]
            value.nonnegative = kind.nonnegative
            values.append(value)
            continue
        imag = None
        part = Form(lambda results, i=i: results[i], ((call, PLAIN),))
        if kind.name == "log" and jnp.issubdtype(aval.dtype, jnp.complexfloating):
            part = Form(lambda results, i=i: results[i].number, ((call, PLAIN),))
            imag, _ = graph.node(
                "result_imag", (call,), i, shape=aval.shape, dtype=np.finfo(aval.dtype).dtype,
                plain=Form(lambda results, i=i: results[i].imag, ((call, PLAIN),)),
            )  # fmt: skip
        number, _ = graph.node(
            "result_number", (call,), i, shape=aval.shape, dtype=aval.dtype,
            plain=None if plain is None else plain[i].forms[PLAIN], number=part,
        )  # fmt: skip
        number.risky = kind.risky
        number.nonnegative = kind.nonnegative or kind.name == "log"
        values.append(number if kind.name == "number" else _log_of(graph, number, imag))
    return values


def _with_default(
    graph: Graph, operation: Operation, operands: Sequence[Value], changed: bool,
    kinds: Sequence[Kind],
) -> list[Value] | None:  # fmt: skip
    """The original operation's results, if those of plain kind may be taken from it."""
    if changed or any(k.name == "log" for k in kinds):
        graph.changed = True
        return None
    return default(graph, operation, operands)


def _all_plain(kinds: Sequence[Kind]) -> bool:
    return all(k.name == "plain" for k in kinds)


def control_flow(*names: str) -> Callable[..., Any]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            CONTROL_FLOW[name] = function
        return function

    return register


def _settle(
    graph: Graph, jaxpr: Any, fixed: Sequence[Kind], carry: list[Kind], rest: Sequence[Kind]
) -> tuple[list[Kind], list[Kind], bool]:
    """The kinds of a carry that the body maps to themselves, and those of the other results."""
    carry = _long_products(graph, jaxpr, fixed, carry, rest)
    changed = False
    for _ in range(_ROUNDS):
        out, changed = dry_run(graph, jaxpr, [*fixed, *carry, *rest])
        joined = [join(a, b) for a, b in zip(carry, out, strict=False)]
        if joined == carry:
            return carry, out[len(carry) :], changed
        carry = joined
    carry = [Kind(k.name, False, k.risky) for k in carry]
    out, changed = dry_run(graph, jaxpr, [*fixed, *carry, *rest])
    return [join(a, b) for a, b in zip(carry, out, strict=False)], out[len(carry) :], changed


def _long_products(
    graph: Graph, jaxpr: Any, fixed: Sequence[Kind], carry: list[Kind], rest: Sequence[Kind]
) -> list[Kind]:
    """The carry, with what the loop may multiply again and again as numbers."""
    if not multiplies(jaxpr):
        return carry
    avals = opened(jaxpr)[0].invars[len(fixed) : len(fixed) + len(carry)]
    tried = [
        Kind("number", k.nonnegative, PRODUCT)
        if k.name == "plain" and graph.placeholder(v.aval.shape, v.aval.dtype).is_float
        else k
        for k, v in zip(carry, avals, strict=True)
    ]
    out, _ = dry_run(graph, jaxpr, [*fixed, *tried, *rest])
    return [t if o.name == "number" else k for t, k, o in zip(tried, carry, out, strict=False)]


@control_flow("scan")
def _scan(
    graph: Graph, operation: Operation, equation: Any, operands: list[Value]
) -> list[Value] | None:
    params = operation.params
    jaxpr = params["jaxpr"]
    consts, init, xs = scan_groups(params, operands)
    a, b = len(consts), len(consts) + len(init)
    kinds = [*map(kind_inside, consts), *map(kind_of, [*init, *xs])]
    if not (is_interesting(jaxpr) or multiplies(jaxpr)) and _all_plain(kinds):
        return None
    carry, ys, changed = _settle(graph, jaxpr, kinds[:a], kinds[a:b], kinds[b:])
    kinds = [*kinds[:a], *carry, *kinds[b:]]
    plain = _with_default(graph, operation, operands, changed, [*kinds, *ys])
    if plain is not None and _all_plain([*carry, *ys]):
        return plain

    def run(*packed: Any) -> list[Any]:
        def step(state: Any, x: Any) -> Any:
            out = run_body(graph, jaxpr, kinds, [*packed[:a], *state, *x], [*carry, *ys])
            return tuple(out[: len(carry)]), tuple(out[len(carry) :])

        state, scanned = tuple(packed[a:b]), tuple(packed[b:])
        if params["length"]:
            step = outside(step, state, jax.eval_shape(_first_of_each, scanned))
        last, stacked = lax.scan(
            step, state, scanned, length=params["length"], reverse=params["reverse"],
            unroll=params["unroll"],
        )  # fmt: skip
        return [*last, *stacked]

    return _results(graph, operation, run, operands, kinds, [*carry, *ys], plain)


def _first_of_each(scanned: Any) -> Any:
    return jax.tree.map(lambda x: lax.index_in_dim(x, 0, keepdims=False), scanned)


@control_flow("while")
def _while(
    graph: Graph, operation: Operation, equation: Any, operands: list[Value]
) -> list[Value] | None:
    params = operation.params
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    a = params["cond_nconsts"]
    b = a + params["body_nconsts"]
    kinds = [*map(kind_inside, operands[:b]), *map(kind_of, operands[b:])]
    repairable = is_interesting(body) or is_interesting(test) or multiplies(body)
    if not repairable and _all_plain(kinds):
        return None
    carry, _, changed = _settle(graph, body, kinds[a:b], kinds[b:], [])
    kinds = [*kinds[:b], *carry]
    plain = _with_default(graph, operation, operands, changed, kinds)
    if plain is not None and _all_plain(carry):
        return plain

    def run(*packed: Any) -> Any:
        def proceed(state: Any) -> Any:
            answer = [Kind("plain", False)]
            inside = [*packed[:a], *state]
            return run_body(graph, test, [*kinds[:a], *carry], inside, answer)[0]

        def step(state: Any) -> Any:
            return tuple(
                run_body(graph, body, [*kinds[a:b], *carry], [*packed[a:b], *state], carry)
            )

        return list(lax.while_loop(proceed, step, tuple(packed[b:])))

    return _results(graph, operation, run, operands, kinds, carry, plain)


@control_flow("cond")
def _cond(
    graph: Graph, operation: Operation, equation: Any, operands: list[Value]
) -> list[Value] | None:
    params = operation.params
    branches = params["branches"]
    kinds = [kind_inside(v) for v in operands]
    if params.get("branches_platforms") is not None:
        return None
    if not any(map(is_interesting, branches)) and _all_plain(kinds):
        return None
    runs = [dry_run(graph, branch, kinds[1:]) for branch in branches]
    out = runs[0][0]
    for kinds_of_branch, _ in runs[1:]:
        out = [join(x, y) for x, y in zip(out, kinds_of_branch, strict=True)]
    changed = any(c for _, c in runs)
    plain = _with_default(graph, operation, operands, changed, [*kinds, *out])
    if plain is not None and _all_plain(out):
        return plain

    def run(index: Any, *packed: Any) -> Any:
        def branch_function(branch: Any) -> Callable[..., Any]:
            return lambda *p: tuple(run_body(graph, branch, kinds[1:], p, out))

        functions = [branch_function(branch) for branch in branches]
        return list(lax.switch(jnp.asarray(index, np.int32), functions, *packed))

    kinds = [Kind("plain", False), *kinds[1:]]
    return _results(graph, operation, run, operands, kinds, out, plain)


@control_flow("remat", "remat2", "checkpoint")
def _checkpoint(
    graph: Graph, operation: Operation, equation: Any, operands: list[Value]
) -> list[Value] | None:
    params = operation.params
    jaxpr = params["jaxpr"]
    kinds = [kind_inside(v) for v in operands]
    if not is_interesting(jaxpr) and _all_plain(kinds):
        return None
    out, changed = dry_run(graph, jaxpr, kinds)
    plain = _with_default(graph, operation, operands, changed, [*kinds, *out])
    if plain is not None and _all_plain(out):
        return plain

    def run(*packed: Any) -> Any:
        def body(*p: Any) -> Any:
            return run_body(graph, jaxpr, kinds, p, out)

        return jax.checkpoint(body, policy=params["policy"], prevent_cse=params["prevent_cse"])(
            *packed
        )

    return _results(graph, operation, run, operands, kinds, out, plain)
