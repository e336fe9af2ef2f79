"""Derivatives of numbers, as numbers.

A function of plain arrays and LogArrays, with plain and LogArray results, is differentiated on the
significands; exponents are constants. The derivative of ``y = s_y * 2**e_y`` with respect to
``x = s_x * 2**e_x`` is ``ds_y/ds_x * 2**(e_y - e_x)`` and is returned as a LogArray, so that it
neither overflows nor underflows.

The limit that remains: a derivative of y is a float measured against the scale of y, with some 700
nats (float32: 87) below it; a change of y that is smaller than that relative to y is 0. In forward
mode (`jvp`, `jacobian`) this holds for each element of y by itself. A reverse-mode pass (`grad`,
`vjp`) has one scale for the whole cotangent, and components further below the largest become 0.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ._leaves import Leaves, common_scale, is_complex, numbers_of, seed, tidy_wide
from ._log_array import LogArray, wrap
from ._numerics import Scaled


def _select_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], argnums: int | Sequence[int]
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The arguments to differentiate, and how to put others in their place."""
    single = isinstance(argnums, (int, np.integer))
    try:
        numbers = list(map(operator.index, [argnums] if single else argnums))  # type: ignore
    except TypeError:
        raise TypeError(
            f"argnums must be an integer or a sequence of integers, got {argnums!r}"
        ) from None
    for n in numbers:
        if not -len(args) <= n < len(args):
            # the types are those of JAX
            raise (ValueError if n < 0 else TypeError)(
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


def _check_inputs(name: str, inputs: Leaves, holomorphic: bool) -> None:
    for x in inputs.values:
        if not jnp.issubdtype(x.dtype, jnp.inexact):
            raise TypeError(
                f"{name} requires real- or complex-valued arguments to differentiate, got "
                f"{x.dtype}. Convert them to float, or leave them out of argnums."
            )
        if holomorphic and not is_complex(x):
            raise TypeError(
                f"{name} with holomorphic=True requires complex arguments, got {x.dtype}."
            )


def _run(
    function: Callable[..., Any], inputs: Leaves, insert: Any, kwargs: Any, has_aux: bool
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
        outputs = Leaves(result)
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


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """As `jax.vjp`, for plain arrays and LogArrays.

    Returns the function's output and a function from a cotangent of its structure (LogArrays or
    plain arrays) to the cotangents of the primals, all LogArrays, and with `has_aux` the auxiliary
    output. Conventions for complex numbers are JAX's: nothing is conjugated.
    """
    inputs = Leaves(primals)
    _check_inputs("vjp", inputs, False)
    on_leaves, store = _run(function, inputs, lambda chosen: chosen, {}, has_aux)
    values, pullback, (exponents, aux) = jax.vjp(on_leaves, inputs.values, has_aux=True)

    def numbers_pullback(cotangent: Any) -> Any:
        seeds = numbers_of(cotangent, store["structure"], values, "the cotangent", ValueError)
        scale = common_scale(seeds, exponents)
        plain = [
            seed(c, e, scale, v.dtype) for c, e, v in zip(seeds, exponents, values, strict=True)
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

    `tangents` have the structure and shapes of `primals` and may be plain or LogArrays; the output
    tangent is made of LogArrays. Returns (output, tangent), with `has_aux` (output, tangent, aux).
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("jvp takes primals and tangents as tuples or lists")
    inputs = Leaves(tuple(primals))
    _check_inputs("jvp", inputs, False)
    directions = numbers_of(
        tuple(tangents), inputs.structure, inputs.values, "the tangent", TypeError
    )
    offsets = [-e for e in inputs.exponents]
    scale = common_scale(directions, offsets)
    seeds = [
        seed(t, o, scale, v.dtype)
        for t, o, v in zip(directions, offsets, inputs.values, strict=True)
    ]
    on_leaves, store = _run(function, inputs, lambda chosen: chosen, {}, has_aux)
    values, dots, (exponents, aux) = jax.jvp(on_leaves, (inputs.values,), (seeds,), has_aux=True)
    out = _rebuild_output(store, values, exponents)
    moved = [wrap(tidy_wide(d, e + scale)) for d, e in zip(dots, exponents, strict=True)]
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
        inputs = Leaves(chosen)
        _check_inputs("grad", inputs, holomorphic)
        on_leaves, store = _run(function, inputs, insert, kwargs, has_aux)
        values, pullback, (exponents, aux) = jax.vjp(on_leaves, inputs.values, has_aux=True)
        if len(values) != 1 or values[0].shape != ():
            shapes = [v.shape for v in values]
            raise TypeError(
                "grad requires a function that returns one scalar, got outputs of shapes "
                f"{shapes}. Use logspace.jacobian, or sum the output."
            )
        (y,), (e,) = values, exponents
        if not jnp.issubdtype(y.dtype, jnp.inexact):
            raise TypeError(f"grad requires a real- or complex-valued output, got {y.dtype}")
        if holomorphic and not is_complex(y):
            raise TypeError(f"grad with holomorphic=True requires a complex output, got {y.dtype}")
        one = jnp.ones_like(y)
        (grads,) = pullback([one])
        if is_complex(y) and not holomorphic:
            if any(is_complex(v) for v in inputs.values):
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
        inputs = Leaves(chosen)
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
        inputs = Leaves(chosen)
        _check_jacobian_inputs("hessian", inputs, holomorphic)
        on_leaves, store = _run(function, inputs, insert, kwargs, has_aux)

        def on_real_leaves(values: list[jax.Array]) -> tuple[list[Any], Any]:
            # jacrev takes real outputs only, unless the function is holomorphic
            outputs, rest = on_leaves(values)
            store["is_pair"] = [is_complex(v) and not holomorphic for v in outputs]
            pairs = zip(outputs, store["is_pair"], strict=True)
            return [[lax.real(v), lax.imag(v)] if split else v for v, split in pairs], rest

        second = jax.jacfwd(
            jax.jacrev(on_real_leaves, has_aux=True, holomorphic=holomorphic),
            has_aux=True,
            holomorphic=holomorphic,
        )
        blocks, (exponents, aux) = second(inputs.values)
        out = []
        for block, e, is_pair in zip(blocks, exponents, store["is_pair"], strict=True):
            block = jax.tree.map(lax.complex, *block) if is_pair else block
            rows = [
                inputs.numbers(row, [_outer(_outer(e, -a), -b) for b in inputs.exponents])
                for row, a in zip(block, inputs.exponents, strict=True)
            ]
            out.append(jax.tree.unflatten(inputs.structure, rows))
        tree = jax.tree.unflatten(store["structure"], out)
        return (tree, aux) if has_aux else tree

    return _named(differentiate, "hessian", function)


def _check_jacobian_inputs(name: str, inputs: Leaves, holomorphic: bool) -> None:
    _check_inputs(name, inputs, holomorphic)
    if not holomorphic and any(is_complex(v) for v in inputs.values):
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
