"""Registration of rules with quax: signatures, lifting of operands, wrapping of results.

A rule is written once, on `Scaled` numbers. The registrars here write its quax signatures, each of
which names at least one of our types (a broader one would fire in other people's code) and none of
which has a shape annotation (that would switch off quax's dispatch cache).
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import quax
from jax.extend.core import Primitive
from jax.typing import ArrayLike

from .. import _numerics as num
from .._log_array import LogArray, as_supported, keep_weak_type, unwrap, wrap
from .._numerics import Scaled

#: primitive name -> family, filled by the registrars; read by the ledger.
RULES: dict[str, str] = {}

_PARAMETER = inspect.Parameter
#: How many leading positions of a primitive with any number of operands get signatures ...
LEADING = 8
#: ... and the rules for a LogArray that first appears behind them; see `LogSpaceValue.default`.
ANYWHERE: dict[Primitive, Callable[..., Any]] = {}


def annotate(rule: Callable[..., Any], *types: Any, rest: Any = None) -> Callable[..., Any]:
    """Give a rule the signature that quax dispatches on."""
    parts = [
        _PARAMETER(f"x{i}", _PARAMETER.POSITIONAL_ONLY, annotation=t) for i, t in enumerate(types)
    ]
    if rest is not None:
        parts.append(_PARAMETER("rest", _PARAMETER.VAR_POSITIONAL, annotation=rest))
    parts.append(_PARAMETER("params", _PARAMETER.VAR_KEYWORD))
    rule.__signature__ = inspect.Signature(parts)  # type: ignore[attr-defined]
    return rule


def lift(x: Any, *others: Any) -> Scaled:
    """An operand as a number; a plain one of any numeric dtype at exponent 0.

    Integers take the dtype of the LogArrays among the `others`, as in JAX's promotion.
    """
    if isinstance(x, LogArray):
        return unwrap(x)
    a = jnp.asarray(x)
    if not jnp.issubdtype(a.dtype, jnp.inexact):
        dtypes = [o.dtype for o in others if isinstance(o, LogArray)]
        a = a.astype(np.result_type(*dtypes)) if dtypes else a
    return num.from_linear(as_supported(a))


def plain(x: Any) -> Any:
    """An operand as a plain array."""
    return num.to_linear(unwrap(x)) if isinstance(x, LogArray) else x


def finish(out: Any, *sources: Any) -> Any:
    """Numbers as LogArrays, plain arrays as they are, also within sequences.

    Floats are weakly typed if all `sources` are: plain arrays or LogArrays.
    """
    if isinstance(out, (list, tuple)) and not isinstance(out, Scaled):
        return [finish(x, *sources) for x in out]
    array = out.significand if isinstance(out, Scaled) else out
    if sources and jnp.issubdtype(array.dtype, jnp.inexact):
        leaves = (x._significand if isinstance(x, LogArray) else x for x in sources)
        out = keep_weak_type(out, *leaves)
    return wrap(out) if isinstance(out, Scaled) else out


def family_of(function: Callable[..., Any]) -> str:
    return function.__module__.rsplit(".", 1)[-1]


def note(primitive: Primitive, family: str) -> None:
    if RULES.setdefault(primitive.name, family) != family:
        raise RuntimeError(f"{primitive.name} has rules in {RULES[primitive.name]} and {family}")


def unary(*primitives: Primitive) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register operation(x, **params) for primitives of one operand."""

    def register(operation: Callable[..., Any]) -> Callable[..., Any]:
        def rule(x: Any, **params: Any) -> Any:
            # a conversion says itself whether its result is weakly typed
            sources = () if "weak_type" in params else (x,)
            return finish(operation(lift(x), **params), *sources)

        for primitive in primitives:
            note(primitive, family_of(operation))
            quax.register(primitive)(annotate(_renamed(rule, operation), LogArray))
        return operation

    return register


def binary(*primitives: Primitive) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register operation(x, y, **params), either operand plain."""

    def register(operation: Callable[..., Any]) -> Callable[..., Any]:
        for primitive in primitives:
            note(primitive, family_of(operation))
            for types in ((LogArray, LogArray), (LogArray, ArrayLike), (ArrayLike, LogArray)):

                def rule(x: Any, y: Any, **params: Any) -> Any:
                    return finish(operation(*broadcast(lift(x, y), lift(y, x)), **params), x, y)

                quax.register(primitive)(annotate(_renamed(rule, operation), *types))
        return operation

    return register


def broadcast(*numbers: Scaled) -> list[Scaled]:
    """Scalars and axes of size one against arrays, as the primitives do it."""
    shape = jnp.broadcast_shapes(*(x.significand.shape for x in numbers))
    return [_broadcast(x, shape) for x in numbers]


def _broadcast(x: Scaled, shape: tuple[int, ...]) -> Scaled:
    if x.significand.shape == shape:
        return x
    return Scaled(*(jnp.broadcast_to(part, shape) for part in x))


def operands(
    primitive: Primitive,
    values: Sequence[int] | None = None,
    count: int | None = None,
    lift_plain: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register operation(*operands, **params) for a primitive of several operands.

    `values` are the positions that hold numbers and are lifted if any of them is a LogArray; the
    others hold indices or predicates and are passed on. None means that all positions are values.
    `count` is the number of operands, where it is fixed. With `lift_plain=False` plain operands at
    the positions of values stay plain.
    """

    def register(operation: Callable[..., Any]) -> Callable[..., Any]:
        note(primitive, family_of(operation))

        def body(*args: Any, **params: Any) -> Any:
            lifted = [
                x
                if not (isinstance(x, LogArray) or lift_plain)
                else (lift(x, *args) if values is None or i in values else plain(x))
                for i, x in enumerate(args)
            ]
            numbers = args if values is None else [x for i, x in enumerate(args) if i in values]
            return finish(operation(*lifted, **params), *numbers)

        if count is None:
            ANYWHERE[primitive] = body
        number = LogArray | ArrayLike
        positions = range(LEADING) if values is None else values[:LEADING]
        for i, position in enumerate(positions):
            earlier = () if values is None else values[:i]
            types: list[Any] = [
                ArrayLike if values is None or p in earlier or p not in values else number
                for p in range(position)
            ]
            types.append(LogArray)

            def rule(*args: Any, **params: Any) -> Any:
                return body(*args, **params)

            if count is None:
                signature = annotate(_renamed(rule, operation), *types, rest=number)
            else:
                later = [
                    number if values is None or p in values else ArrayLike
                    for p in range(position + 1, count)
                ]
                signature = annotate(_renamed(rule, operation), *types, *later)
            quax.register(primitive)(signature)
        return operation

    return register


def _renamed(rule: Callable[..., Any], operation: Callable[..., Any]) -> Callable[..., Any]:
    rule.__name__ = operation.__name__
    rule.__qualname__ = operation.__qualname__
    rule.__doc__ = operation.__doc__
    return rule


def plain_result(*primitives: Primitive, family: str) -> None:
    """Register primitives that are computed on plain values and return plain arrays."""
    for primitive in primitives:
        note(primitive, family)

        def rule(*args: Any, _primitive: Primitive = primitive, **params: Any) -> Any:
            return _primitive.bind(*map(plain, args), **params)

        for position in range(4):
            types = [ArrayLike] * position + [LogArray]

            def at_position(*args: Any, _rule: Any = rule, **params: Any) -> Any:
                return _rule(*args, **params)

            at_position.__name__ = primitive.name
            quax.register(primitive)(annotate(at_position, *types, rest=LogArray | ArrayLike))


def independent(*primitives: Primitive, family: str, per_operand: Sequence[str] = ()) -> None:
    """Register primitives that treat each operand by itself and move its leaves alike.

    `per_operand` names parameters that hold one entry for each operand.
    """
    for primitive in primitives:
        note(primitive, family)

        def rule(*args: Any, _primitive: Primitive = primitive, **params: Any) -> Any:
            leaves, structure = jax.tree.flatten(args)
            if per_operand:
                counts = [len(jax.tree.leaves(x)) for x in args]
                for name in per_operand:
                    entries = zip(params[name], counts, strict=True)
                    params[name] = tuple(v for v, n in entries for _ in range(n))
            if _primitive.multiple_results:
                return jax.tree.unflatten(structure, _primitive.bind(*leaves, **params))
            moved = [_primitive.bind(leaf, **params) for leaf in leaves]
            return jax.tree.unflatten(structure, moved)[0]

        for position in range(LEADING if primitive.multiple_results else 1):
            types = [ArrayLike] * position + [LogArray]

            def at_position(*args: Any, _rule: Any = rule, **params: Any) -> Any:
                return _rule(*args, **params)

            at_position.__name__ = primitive.name
            quax.register(primitive)(annotate(at_position, *types, rest=LogArray | ArrayLike))


def each_leaf(move: Callable[..., Any], *numbers: Scaled) -> Any:
    """Apply a movement of elements to significands and exponents alike."""
    s = move(*(x.significand for x in numbers))
    e = move(*(x.exponent for x in numbers))
    if isinstance(s, (list, tuple)):
        return [Scaled(*pair) for pair in zip(s, e, strict=True)]
    return Scaled(s, e)


def real_dtype(x: Scaled) -> np.dtype:
    return np.dtype(jax.dtypes.canonicalize_dtype(num.format_of(x.significand.dtype).real))
