"""Derivatives of numbers, as numbers.

A function of plain arrays and LogArrays, with plain and LogArray results, is differentiated on the
significands; exponents are constants. The derivative of ``y = s_y * 2**e_y`` with respect to
``x = s_x * 2**e_x`` is ``ds_y/ds_x * 2**(e_y - e_x)`` and is returned as a LogArray, so that it
neither overflows nor underflows.

The limit that remains: within one pass, derivatives are measured against one scale. A reverse-mode
pass (`grad`, `vjp`) has one for the whole result, so that components some 2**1000 (float32 2**100)
below the largest become 0. Forward mode (`jvp`, `jacobian`) has one for each direction.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from . import _numerics as num
from ._log import Log
from ._log_array import LogArray, unwrap, wrap
from ._numerics import Scaled

_is_number = lambda x: isinstance(x, (LogArray, Log))  # noqa: E731 - a predicate for pytrees


def _flatten(tree: Any) -> tuple[list[Any], Any]:
    return jax.tree.flatten(tree, is_leaf=_is_number)


def _as_plain_log(x: Any) -> Any:
    return x.materialise() if isinstance(x, Log) else x


class _Leaves:
    """The differentiable leaves of a pytree: significands and plain arrays."""

    def __init__(self, tree: Any) -> None:
        leaves, self.structure = _flatten(tree)
        self.leaves = [
            _as_plain_log(x) if isinstance(x, (LogArray, Log)) else jnp.asarray(x) for x in leaves
        ]

    @property
    def values(self) -> list[jax.Array]:
        return [x._significand if isinstance(x, LogArray) else x for x in self.leaves]

    @property
    def exponents(self) -> list[jax.Array]:
        """The exponent of each leaf; of plain ones 0."""
        return [
            x._exponent if isinstance(x, LogArray) else num.zero_exponent(x) for x in self.leaves
        ]

    def rebuild(self, values: Sequence[jax.Array]) -> Any:
        """The pytree with other significands and plain values."""
        leaves = [
            wrap(Scaled(v, x._exponent)) if isinstance(x, LogArray) else v
            for x, v in zip(self.leaves, values, strict=True)
        ]
        return jax.tree.unflatten(self.structure, leaves)

    def numbers(self, values: Sequence[jax.Array], exponents: Sequence[jax.Array]) -> Any:
        """The pytree of LogArrays with these significands and exponents."""
        leaves = [wrap(_tidy_wide(v, e)) for v, e in zip(values, exponents, strict=True)]
        return jax.tree.unflatten(self.structure, leaves)


def _tidy_wide(s: jax.Array, e: jax.Array) -> Scaled:
    """tidy for any finite significand, also one far outside the window."""
    return num.tidy(*num.normalise(Scaled(s, jnp.broadcast_to(e, s.shape))))


def _select_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], argnums: int | Sequence[int]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The arguments to differentiate, and how to put others in their place."""
    single = isinstance(argnums, (int, np.integer))
    numbers = [argnums] if single else list(argnums)  # type: ignore[list-item]
    for n in numbers:
        if not -len(args) <= n < len(args):
            raise ValueError(
                f"argnums={argnums} must name positional arguments of the call, of which there are "
                f"{len(args)}."
            )

    def insert(chosen: Any) -> tuple[Any, ...]:
        chosen = (chosen,) if single else chosen
        full = list(args)
        for n, value in zip(numbers, chosen, strict=True):
            full[n] = value
        return tuple(full)

    chosen = tuple(args[n] for n in numbers)
    return (chosen[0] if single else chosen), insert


def _is_complex(x: jax.Array) -> bool:
    return jnp.issubdtype(x.dtype, jnp.complexfloating)


def _check_inputs(name: str, inputs: _Leaves, holomorphic: bool) -> None:
    for x in inputs.values:
        if not jnp.issubdtype(x.dtype, jnp.inexact):
            raise TypeError(
                f"{name} requires real- or complex-valued arguments to differentiate, got {x.dtype}. "
                "Convert them to float, or leave them out of argnums."
            )
        if holomorphic and not _is_complex(x):
            raise TypeError(
                f"{name} with holomorphic=True requires complex arguments, got {x.dtype}."
            )


def _run(
    function: Callable[..., Any], inputs: _Leaves, insert: Any, kwargs: Any, has_aux: bool
) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The function from input leaves to output significands; the rest of the output on the side."""
    store: dict[str, Any] = {}

    def on_leaves(values: list[jax.Array]) -> tuple[list[jax.Array], Any]:
        result = function(*insert(inputs.rebuild(values)), **kwargs)
        if has_aux:
            if not (isinstance(result, tuple) and len(result) == 2):
                raise TypeError("with has_aux=True the function must return a pair (result, aux)")
            result, aux = result
        else:
            aux = None
        outputs = _Leaves(result)
        store["structure"] = outputs.structure
        store["is_number"] = [isinstance(x, LogArray) for x in outputs.leaves]
        return outputs.values, (outputs.exponents, aux)

    return on_leaves, store


def _rebuild_output(store: dict[str, Any], values: Any, exponents: Any) -> Any:
    leaves = [
        wrap(Scaled(v, e)) if is_number else v
        for v, e, is_number in zip(values, exponents, store["is_number"], strict=True)
    ]
    return jax.tree.unflatten(store["structure"], leaves)


def _numbers_of(tree: Any, structure: Any, what: str) -> list[Scaled]:
    """The leaves of a tangent or cotangent, plain or LogArray, as numbers."""
    leaves, given = _flatten(tree)
    if given != structure:
        raise TypeError(f"{what} must have the structure {structure}, got {given}")
    return [
        unwrap(x) if isinstance(x, LogArray) else num.from_linear(jnp.asarray(_as_plain_log(x)))
        for x in leaves
    ]


def _common_scale(numbers: Sequence[Scaled], offsets: Sequence[jax.Array]) -> jax.Array:
    """The largest true exponent of number * 2**offset over all live elements; 0 if there is none."""
    floor = np.int32(-(2**31) + 1)
    largest = floor
    for x, offset in zip(numbers, offsets, strict=True):
        n = num.normalise(x)
        live = num.is_live(n.significand)
        e = jnp.where(live, n.exponent + offset, floor)
        largest = jnp.maximum(largest, jnp.max(e, initial=floor))
    return lax.stop_gradient(jnp.where(largest == floor, np.int32(0), largest))


def _seed(x: Scaled, offset: jax.Array, scale: jax.Array, dtype: Any) -> jax.Array:
    """x * 2**(offset - scale) as a plain array of the given dtype."""
    n = num.normalise(num.convert(x, dtype))
    return num.scale_by(n.significand, n.exponent + offset - scale)


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """As `jax.vjp`, for plain arrays and LogArrays.

    Returns the function's output and a function from a cotangent of its structure (LogArrays or
    plain arrays) to the cotangents of the primals, all LogArrays, and with `has_aux` the auxiliary
    output. Conventions for complex numbers are JAX's: nothing is conjugated.
    """
    inputs = _Leaves(primals)
    _check_inputs("vjp", inputs, False)
    on_leaves, store = _run(function, inputs, lambda chosen: chosen, {}, has_aux)
    values, pullback, (exponents, aux) = jax.vjp(on_leaves, inputs.values, has_aux=True)

    def numbers_pullback(cotangent: Any) -> Any:
        seeds = _numbers_of(cotangent, store["structure"], "the cotangent")
        scale = _common_scale(seeds, exponents)
        plain = [
            _seed(c, e, scale, v.dtype) for c, e, v in zip(seeds, exponents, values, strict=True)
        ]
        (grads,) = pullback(plain)
        return inputs.numbers(grads, [scale - e for e in inputs.exponents])

    out = _rebuild_output(store, values, exponents)
    return (out, numbers_pullback, aux) if has_aux else (out, numbers_pullback)


def jvp(
    function: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """As `jax.jvp`, for plain arrays and LogArrays.

    `tangents` have the structure of `primals` and may be plain or LogArrays; the output tangent is
    made of LogArrays. Returns (output, tangent), with `has_aux` (output, tangent, aux).
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("jvp takes primals and tangents as tuples or lists")
    inputs = _Leaves(tuple(primals))
    _check_inputs("jvp", inputs, False)
    directions = _numbers_of(tuple(tangents), inputs.structure, "the tangents")
    offsets = [-e for e in inputs.exponents]
    scale = _common_scale(directions, offsets)
    seeds = [
        _seed(t, o, scale, v.dtype)
        for t, o, v in zip(directions, offsets, inputs.values, strict=True)
    ]
    on_leaves, store = _run(function, inputs, lambda chosen: chosen, {}, has_aux)
    values, dots, (exponents, aux) = jax.jvp(on_leaves, (inputs.values,), (seeds,), has_aux=True)
    out = _rebuild_output(store, values, exponents)
    moved = [wrap(_tidy_wide(d, e + scale)) for d, e in zip(dots, exponents, strict=True)]
    tangent = jax.tree.unflatten(store["structure"], moved)
    return (out, tangent, aux) if has_aux else (out, tangent)


def value_and_grad(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """As `jax.value_and_grad`: the value as the function returns it, the gradient as LogArrays.

    The function returns one scalar, a LogArray or a plain array. For complex arguments and a real
    result the gradient is conjugated as in JAX. For real arguments and a complex result, which
    `jax.grad` refuses, it is d y / d x, complex. Complex arguments with a complex result need
    ``holomorphic=True``.
    """

    def differentiate(*args: Any, **kwargs: Any) -> Any:
        chosen, insert = _select_arguments(function, args, argnums)
        inputs = _Leaves(chosen)
        _check_inputs("grad", inputs, holomorphic)
        on_leaves, store = _run(function, inputs, insert, kwargs, has_aux)
        values, pullback, (exponents, aux) = jax.vjp(on_leaves, inputs.values, has_aux=True)
        if len(values) != 1 or values[0].shape != ():
            shapes = [v.shape for v in values]
            raise TypeError(
                f"grad requires a function that returns one scalar, got outputs of shapes {shapes}. "
                "Use logspace.jacobian, or sum the output."
            )
        (y,), (e,) = values, exponents
        if not jnp.issubdtype(y.dtype, jnp.inexact):
            raise TypeError(f"grad requires a real- or complex-valued output, got {y.dtype}")
        if holomorphic and not _is_complex(y):
            raise TypeError(f"grad with holomorphic=True requires a complex output, got {y.dtype}")
        one = jnp.ones_like(y)
        (grads,) = pullback([one])
        if _is_complex(y) and not holomorphic:
            if any(_is_complex(v) for v in inputs.values):
                raise TypeError(
                    "the derivative of a complex result in complex arguments is not one number: "
                    "pass holomorphic=True if the function is holomorphic, or differentiate its "
                    "real and imaginary parts"
                )
            (grads_imag,) = pullback([one * 1j])
            grads = [lax.complex(a, -b) for a, b in zip(grads, grads_imag, strict=True)]
        gradient = inputs.numbers(grads, [e - x for x in inputs.exponents])
        value = _rebuild_output(store, values, exponents)
        return ((value, aux), gradient) if has_aux else (value, gradient)

    return _named(differentiate, "value_and_grad", function)


def grad(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """As `jax.grad`, with the gradient as LogArrays; see `value_and_grad`."""
    with_value = value_and_grad(function, argnums, has_aux, holomorphic)

    def differentiate(*args: Any, **kwargs: Any) -> Any:
        value, gradient = with_value(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return _named(differentiate, "grad", function)


def jacobian(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """As `jax.jacfwd`: every output's derivative in every input, as LogArrays.

    Shapes are ``output.shape + input.shape``. Forward mode, one pass per input element.
    """

    def differentiate(*args: Any, **kwargs: Any) -> Any:
        chosen, insert = _select_arguments(function, args, argnums)
        inputs = _Leaves(chosen)
        _check_jacobian_inputs("jacobian", inputs, holomorphic)
        on_leaves, store = _run(function, inputs, insert, kwargs, has_aux)
        rows, (exponents, aux) = jax.jacfwd(on_leaves, has_aux=True, holomorphic=holomorphic)(
            inputs.values
        )
        out = [
            inputs.numbers(row, [_outer(e, -x) for x in inputs.exponents])
            for row, e in zip(rows, exponents, strict=True)
        ]
        tree = jax.tree.unflatten(store["structure"], out)
        return (tree, aux) if has_aux else tree

    return _named(differentiate, "jacobian", function)


def hessian(
    function: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """As `jax.hessian`, with LogArrays: shapes ``output.shape + input.shape + input.shape``."""

    def differentiate(*args: Any, **kwargs: Any) -> Any:
        chosen, insert = _select_arguments(function, args, argnums)
        inputs = _Leaves(chosen)
        _check_jacobian_inputs("hessian", inputs, holomorphic)
        on_leaves, store = _run(function, inputs, insert, kwargs, has_aux)
        second = jax.jacfwd(
            jax.jacrev(on_leaves, has_aux=True, holomorphic=holomorphic),
            has_aux=True,
            holomorphic=holomorphic,
        )
        blocks, (exponents, aux) = second(inputs.values)
        out = []
        for block, e in zip(blocks, exponents, strict=True):
            rows = [
                inputs.numbers(row, [_outer(_outer(e, -a), -b) for b in inputs.exponents])
                for row, a in zip(block, inputs.exponents, strict=True)
            ]
            out.append(jax.tree.unflatten(inputs.structure, rows))
        tree = jax.tree.unflatten(store["structure"], out)
        return (tree, aux) if has_aux else tree

    return _named(differentiate, "hessian", function)


def _check_jacobian_inputs(name: str, inputs: _Leaves, holomorphic: bool) -> None:
    _check_inputs(name, inputs, holomorphic)
    if not holomorphic and any(_is_complex(v) for v in inputs.values):
        raise TypeError(
            f"{name} of complex arguments requires a holomorphic function: pass holomorphic=True, "
            "or differentiate in the real and imaginary parts."
        )


def _outer(a: jax.Array, b: jax.Array) -> jax.Array:
    """a + b over the axes of a followed by those of b."""
    return jnp.reshape(a, a.shape + (1,) * b.ndim) + b


def _named(wrapper: Callable[..., Any], name: str, function: Any) -> Callable[..., Any]:
    wrapper.__name__ = f"{name}_{getattr(function, '__name__', 'function')}"
    wrapper.__doc__ = f"`logspace.{name}` of {getattr(function, '__name__', function)!s}."
    return wrapper
