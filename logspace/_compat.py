"""What is used of quax's internals, and differences between JAX versions; nothing else may.

quax is pinned to ``>=0.4.6,<0.5``; `tests/test_compat.py` fails with a message naming this module
when one of these assumptions no longer holds.
"""

from typing import Any

import jax
from quax._trace import _QuaxTracer


def is_quax_tracer(x: Any) -> bool:
    """Whether x is what a quaxified function holds in place of its arguments."""
    return isinstance(x, _QuaxTracer)


def lift_to_trace_of(tracer: Any, value: Any) -> Any:
    """The value as an operand of the trace that the tracer belongs to."""
    return _QuaxTracer(tracer._trace, value)


jax_version = tuple(int(part) for part in jax.__version__.split(".")[:3])
