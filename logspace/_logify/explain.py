"""Why is my gradient nan? What a function does in log space, line by line."""

import linecache
import os
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import Literal

from .._errors import need_function
from .jaxprs import binder, called, library_call, opened, scan_groups
from .trace import Trace

_HERE = os.path.dirname(__file__)
_JAX = os.path.dirname(os.path.dirname(jax.__file__)) + os.sep


@dataclass(frozen=True)
class Row:
    """One thing that happens at one line of the program."""

    file: str
    line: int
    code: str
    kind: str  # "singular", "cancelled", "kept" or "materialised"
    text: str


@dataclass(frozen=True)
class Explanation:
    """What `explain` found; prints as a table, and `rows` are the data."""

    rows: Sequence[Row] = field(default_factory=tuple)

    def __str__(self) -> str:
        if not self.rows:
            return "Nothing is singular, and nothing is kept in log space."
        lines: list[str] = []
        place = None
        width = max(len(r.kind) for r in self.rows)
        for row in self.rows:
            if (row.file, row.line) != place:
                place = (row.file, row.line)
                lines.append(f"{os.path.basename(row.file)}:{row.line}  {row.code}")
            lines.append(f"    {row.kind:{width}}  {row.text}")
        return "\n".join(lines)

    __repr__ = __str__

    def of_kind(self, kind: str) -> list[Row]:
        return [r for r in self.rows if r.kind == kind]


def explain(fn: Callable[..., Any]) -> Callable[..., Explanation]:
    """`explain(fn)(*args)`: what `logify` does with fn at these arguments, per line of its code.

    fn may be plain or logified. The rows are of four kinds:

    - ``singular``: plain JAX divides by zero here, so that its derivative forms 0 * inf;
    - ``cancelled``: a pair of inverse operations meets, and neither is computed;
    - ``kept``: a value is computed as a number of unbounded range;
    - ``materialised``: an operation without a rule reads a logarithm as a plain array.

    Singularities are found by evaluating fn at the arguments, which must be concrete arrays.
    """
    need_function(fn, "explain")
    fn = getattr(fn, "__logified__", fn)

    def explained(*args: Any, **kwargs: Any) -> Explanation:
        trace = Trace(fn, args, kwargs)
        if any(isinstance(a, Tracer) for a in trace.arrays):
            raise TypeError(
                "`explain` evaluates the function and needs concrete arrays; it was called with "
                "traced ones. Call it outside jit, grad and vmap."
            )
        found: list[tuple[Any, str, str]] = []
        _walk(trace.jaxpr, list(trace.arrays), found, 0)
        graph = trace.graph(None)
        for value in trace.evaluate(graph):
            value.plain()
        return Explanation(_rows(found + graph.events))

    return explained


def _rows(events: Sequence[tuple[Any, str, str]]) -> tuple[Row, ...]:
    rows: dict[Row, None] = {}
    for equation, kind, text in events:
        file, line = _place(equation)
        rows[Row(file, line, linecache.getline(file, line).strip(), kind, text)] = None
    order = {"singular": 0, "cancelled": 1, "kept": 2, "materialised": 3}
    return tuple(sorted(rows, key=lambda r: (r.file, r.line, order[r.kind])))


def _place(equation: Any) -> tuple[str, int]:
    """The innermost line outside JAX and this package that an equation comes from."""
    traceback = getattr(getattr(equation, "source_info", None), "traceback", None)
    library = sysconfig.get_paths()["purelib"]
    fallback = ("?", 0)
    for frame in getattr(traceback, "frames", ()):
        name = frame.file_name
        if name.startswith((_HERE, _JAX, library)) or name.startswith("<frozen"):
            continue
        return name, frame.line_num
    return fallback


# Singularities, found by evaluation


def _walk(jaxpr: Any, args: list[Any], found: list[tuple[Any, str, str]], depth: int) -> list[Any]:
    """Evaluate a program on concrete arrays, noting where a derivative would be infinite."""
    body, consts = opened(jaxpr)
    env: dict[Any, Any] = dict(zip(body.constvars, consts, strict=True))
    env.update(zip(body.invars, args, strict=True))

    def read(v: Any) -> Any:
        return v.val if isinstance(v, Literal) else env[v]

    for equation in body.eqns:
        arrays = [jnp.asarray(a) if np.isscalar(a) else a for a in map(read, equation.invars)]
        name = equation.primitive.name
        note = _singularity(name, equation.params, arrays)
        inner = called(equation.params)
        library = library_call(equation.params)
        if note is not None:
            found.append((equation, "singular", note))
        if name in ("jit", "pjit", "closed_call", "remat", "remat2") and library not in _WHOLE:
            out = _walk(inner, arrays, found, depth + 1)
        elif name == "cond" and "branches_platforms" not in equation.params:
            branches = equation.params["branches"]
            index = int(np.clip(int(arrays[0]), 0, len(branches) - 1))
            out = _walk(branches[index], arrays[1:], found, depth + 1)
        elif name == "scan" and equation.params["length"]:
            out = _walk_scan(equation.params, arrays, found, depth + 1)
        elif name == "while":
            out = _walk_while(equation.params, arrays, found, depth + 1)
        else:
            out = binder(equation)(*arrays)
            out = out if equation.primitive.multiple_results else [out]
            if library in _WHOLE and bool(jnp.any(jnp.isneginf(jnp.real(out[-1])))):
                found.append((equation, "singular", f"{library} of a singular matrix"))
        env.update(zip(equation.outvars, out, strict=True))
    return [read(v) for v in body.outvars]


def _walk_scan(params: Any, arrays: list[Any], found: list[Any], depth: int) -> list[Any]:
    """A loop, step by step."""
    consts, carry, xs = scan_groups(params, arrays)
    count, rows = len(carry), []
    for i in range(params["length"]):
        at = params["length"] - 1 - i if params["reverse"] else i
        step = [*consts, *carry, *(x[at] for x in xs)]
        out = _walk(params["jaxpr"], step, found, depth)
        carry = out[:count]
        rows.append(out[count:])
    if params["reverse"]:
        rows.reverse()
    return [*carry, *(jnp.stack(column) for column in zip(*rows, strict=True))]


def _walk_while(params: Any, arrays: list[Any], found: list[Any], depth: int) -> list[Any]:
    a = params["cond_nconsts"]
    b = a + params["body_nconsts"]
    carry = arrays[b:]
    while bool(_walk(params["cond_jaxpr"], [*arrays[:a], *carry], found, depth)[0]):
        carry = _walk(params["body_jaxpr"], [*arrays[a:b], *carry], found, depth)
    return carry


_WHOLE = ("slogdet", "_slogdet_lu")

_AT_ZERO = {
    "log": "log(0): its derivative 1/0 is infinite",
    "log2": "log2(0): its derivative 1/0 is infinite",
    "sqrt": "sqrt(0): its derivative is infinite",
    "rsqrt": "1/sqrt(0)",
    "cbrt": "cbrt(0): its derivative is infinite",
}


def _singularity(name: str, params: dict[str, Any], arrays: list[Any]) -> str | None:
    if name in _AT_ZERO and _is_inexact(arrays[0]):
        return _count(arrays[0] == 0, _AT_ZERO[name])
    if name == "log1p":
        return _count(arrays[0] == -1, "log1p(-1): its derivative 1/0 is infinite")
    if name == "div" and _is_inexact(arrays[1]):
        return _count(arrays[1] == 0, "a division by 0")
    if name == "pow" and _is_inexact(arrays[0]):
        singular = (arrays[0] == 0) & (jnp.real(arrays[1]) < 1)
        return _count(singular, "0 ** p with p < 1: its derivative forms 0 ** (p - 1)")
    if name == "sub" and _is_inexact(arrays[0]):
        both = jnp.isinf(arrays[0]) & (arrays[0] == arrays[1])
        return _count(both, "inf - inf is nan")
    if name == "exp" and _is_inexact(arrays[0]):
        top = float(np.log(np.finfo(arrays[0].dtype).max))
        over = (jnp.real(arrays[0]) > top) & jnp.isfinite(arrays[0])
        return _count(over, "exp overflows")
    return None


def _is_inexact(a: Any) -> bool:
    return jnp.issubdtype(jnp.asarray(a).dtype, jnp.inexact)


def _count(mask: Any, text: str) -> str | None:
    count, size = int(jnp.sum(mask)), int(np.size(mask))
    if not count:
        return None
    return text if size == 1 else f"{text} ({count} of {size} elements)"
