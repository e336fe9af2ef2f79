"""`logify`."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from .._errors import MaterialiseError, need_function
from .explain import _place
from .trace import Trace
from .value import Graph


@dataclass(frozen=True)
class Settings:
    on_materialise: str

    def refuse(self, graph: Graph, operation: Any) -> NoReturn:
        file, line = _place(graph.equation)
        raise MaterialiseError(
            f'logify(..., on_materialise="error") keeps logarithms in log space, and the primitive '
            f"`{operation.name}` at {file}:{line} has no rule for one: it reads the plain array. "
            "Exponentiate the logarithm first, or allow the plain value with "
            'on_materialise="allow".'
        )


def logify(fn: Callable[..., Any], *, on_materialise: str = "allow") -> Callable[..., Any]:
    """A function of the same values, with derivatives and range that plain JAX loses.

    ``logify(fn)`` traces fn and evaluates its program so that exponentials and logarithms cancel:
    ``jax.grad(logify(lambda a, b: jnp.exp(jnp.log(a - b))))(1., 1.)`` is 1, where plain JAX forms
    0 * inf. Values that may leave the range of a float between an exp and a log are kept as numbers
    of unbounded range. Where nothing of this applies, the program is fn's own.

    Differentiate outside: ``jax.grad(logify(fn))``, in any mode and to any order. In
    ``logify(jax.grad(fn))`` the derivative has been formed, 0 * inf included, before anything can
    be repaired: that is plain JAX's answer.

    Args:
        fn: any function of pytrees of arrays, with any JAX transformation and control flow in it.
            Arrays are traced, as by `jax.jit`; other arguments, Python numbers included, are passed
            on as they are.
        on_materialise: "allow", or "error" to raise `MaterialiseError` where an operation without a
            rule reads a logarithm as a plain array. Results are always plain arrays.

    Returns:
        A function of the same signature. Shapes, dtypes and tree structure of the results are fn's;
        at singular points the results are fn's limits, or plain JAX's answer where there is none.
    """
    if on_materialise not in ("allow", "error"):
        raise ValueError(f'on_materialise must be "allow" or "error"; got {on_materialise!r}.')
    need_function(fn, "logify")
    settings = Settings(on_materialise)
    fn = getattr(fn, "__logified__", fn)

    @functools.wraps(fn)
    def logified(*args: Any, **kwargs: Any) -> Any:
        trace = Trace(fn, args, kwargs)
        if not trace.is_interesting:
            return trace.output(trace.original())
        values = trace.evaluate(trace.graph(settings))
        return trace.output([v.plain() for v in values])

    logified.__logified__ = fn  # type: ignore[attr-defined]
    return logified
