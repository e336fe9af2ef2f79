"""`jax.lax`, LogArray-aware.

Control flow takes pytrees, of which a LogArray is one, so `scan`, `cond`, `while_loop` and their
like are JAX's own: the functions they are given receive LogArrays. The collectives are not JAX's
own: `jax.lax.psum` of a LogArray would add significands.
"""

from typing import Any

import jax.lax

from ._namespace import Namespace

_CONTROL_FLOW = frozenset(
    [
        "associative_scan",
        "cond",
        "custom_linear_solve",
        "custom_root",
        "fori_loop",
        "map",
        "scan",
        "stop_gradient",
        "switch",
        "while_loop",
    ]
)

_NAMESPACE = Namespace(jax.lax, {}, _CONTROL_FLOW)


def __getattr__(name: str) -> Any:
    value = getattr(_NAMESPACE, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return dir(_NAMESPACE)
