"""What is used of the internals of quax and JAX; nothing else may import them.

quax is pinned to ``>=0.4.6,<0.5``. `tests/test_compat.py` asserts every assumption made here, and
fails with a message naming this module when one no longer holds.
"""

from collections.abc import Iterator
from types import CodeType
from typing import Any

import jax
from jax._src import core as _jax_core
from jax._src.custom_batching import custom_vmap_p as custom_vmap_p
from jax._src.lax import parallel as _parallel
from jax.custom_derivatives import SymbolicZero
from jax.extend import core as jax_core
from jax.extend import source_info_util
from jax.interpreters import ad
from quax._compat import is_early_inline as is_early_inline
from quax._compat import unpack_scan_args as unpack_scan_args
from quax._dispatch import _rules as _rules_of_quax
from quax._trace import _QuaxTrace, _QuaxTracer, _unwrap_tracer
from quax._values import _dense, _DenseArrayValue

QuaxTrace = _QuaxTrace
QuaxTracer = _QuaxTracer
dense = _dense
DenseArrayValue = _DenseArrayValue
unwrap_tracer = _unwrap_tracer

TraceTag = jax_core.TraceTag
set_current_trace = jax_core.set_current_trace
take_current_trace = jax_core.take_current_trace
jaxpr_as_fun = jax_core.jaxpr_as_fun

# from JAX 0.11 on another name of `Jaxpr`, which a type checker does not take for exported
ClosedJaxpr = jax_core.ClosedJaxpr  # pyright: ignore[reportPrivateImportUsage]

#: Inserted by `jax.shard_map` where a value that differs between devices meets one that does not.
primitives_of_mapped_axes = (
    _jax_core.pvary_p,
    _parallel.all_gather_invariant_p,
    _parallel.psum_invariant_p,
)


def is_quax_tracer(x: Any) -> bool:
    """Whether x is what a quaxified function holds in place of its arguments."""
    return isinstance(x, _QuaxTracer)


def lift_to_trace_of(tracer: Any, value: Any) -> Any:
    """The value as an operand of the trace that the tracer belongs to.

    Its leaves may be plain operands of that same trace: they are lowered to the arrays they hold.
    """

    def lowered(leaf: Any) -> Any:
        ours = isinstance(leaf, _QuaxTracer) and leaf._trace.tag is tracer._trace.tag
        return leaf.value.array if ours and type(leaf.value) is _DenseArrayValue else leaf

    return _QuaxTracer(tracer._trace, jax.tree.map(lowered, value))


def rules_of_quax() -> dict[Any, Any]:
    """The rules that quax holds, by primitive; for tests of their signatures."""
    return _rules_of_quax


def closed(jaxpr: Any) -> Any:
    """A jaxpr without free constants as a closed one; JAX 0.12 has one type for both."""
    return jaxpr if hasattr(jaxpr, "consts") else ClosedJaxpr(jaxpr, ())


def called(params: dict[str, Any]) -> Any:
    """The jaxpr that a calling equation calls, or None."""
    for name in ("call_jaxpr", "jaxpr", "fun_jaxpr"):
        if name in params:
            return params[name]
    return None


def call_again(fun: Any, *args: Any) -> Any:
    """Call a wrapped function of JAX, possibly not for the first time.

    Such a function notes the structure of its output in stores that may be filled only once, but a
    derivative rule is run once for each differentiation.
    """
    for store in getattr(fun, "stores", ()):
        if store is not None:
            store.reset()
    return fun.call_wrapped(*args) if hasattr(fun, "call_wrapped") else fun(*args)


def name_and_file(fun: Any) -> tuple[str, str]:
    """The name and source file of the function behind a wrapped function or a jaxpr of JAX."""
    info = fun.debug_info
    return info.func_name or "", info.func_filename or ""


def cotangents_and_logs(out: Any) -> tuple[list[Any], Any]:
    """What a flat backward rule returns: from JAX 0.12 on also the logs of `defvjp_with_logs`."""
    return (out[0], out[1]) if isinstance(out, tuple) else (out, None)


def is_zero_cotangent(x: Any) -> bool:
    return type(x) is ad.Zero


def is_symbolic_zero(x: Any) -> bool:
    """Whether x is what a user's rule is given, or returns, for a zero with `symbolic_zeros`."""
    return type(x) is SymbolicZero


def frames_of_current_operation() -> Iterator[tuple[CodeType, int]]:
    """Code and line of each frame, innermost first, of the operation being evaluated.

    Within the trace of a jitted function these are the frames in which the operation was written,
    not those of its evaluation.
    """
    found = source_info_util.current().traceback
    frame = None if found is None else found.as_python_traceback()
    frames = []
    while frame is not None:
        frames.append((frame.tb_frame.f_code, frame.tb_lineno))
        frame = frame.tb_next
    return reversed(frames)


jax_version = tuple(int(part) for part in jax.__version__.split(".")[:3])
