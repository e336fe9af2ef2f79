"""Runs a random program on the implementation under test.

A backend turns the parameters of the leaves into its own numbers, knows the operations on them and
takes a number apart into (significand, exponent). Everything else is common: one function of the
parameters whose result is the significand of the output, which JAX differentiates.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from logspace import _numerics as num

if TYPE_CHECKING:
    from tests.random_inputs import Draws
    from tests.random_programs import Program

MOST_DIRECTIONS = {False: 9, True: 16}


class Results(NamedTuple):
    """What came out, as NumPy arrays; B draws, D directions of the parameters."""

    significands: list[np.ndarray]  # of every node, leaves first, (B,)
    exponents: list[np.ndarray]
    reverse: list[np.ndarray]  # gradient by parameter, (B,)
    forward: np.ndarray  # (D, B); the last row is the direction of the second derivatives
    forward_forward: np.ndarray  # (B,): second derivative along the last direction
    forward_reverse: list[np.ndarray]  # derivative of the gradient along it, by parameter, (B,)
    exponent: np.ndarray  # (B,), which all but `forward` are relative to


def _stack(parts: Sequence[num.Scaled]) -> num.Scaled:
    # On the last axis: a batch of draws may itself have several axes.
    return num.Scaled(
        jnp.stack([p.significand for p in parts], -1), jnp.stack([p.exponent for p in parts], -1)
    )


def _dot(xs: Sequence[num.Scaled]) -> num.Scaled:
    """By `vmap`, so that how each is formed does not depend on how many there are: the derivatives
    of more draws at a time are read at the exponents of the values."""
    half = len(xs) // 2
    x, y = _stack(xs[:half]), _stack(xs[half:])

    def dot(x: num.Scaled, y: num.Scaled) -> num.Scaled:
        return num.dot_general(x, y, (((0,), (0,)), ((), ())))

    for _ in range(x.exponent.ndim - 1):
        dot = jax.vmap(dot)
    return dot(x, y)


def _at(x: num.Scaled, i: int) -> num.Scaled:
    return num.Scaled(x.significand[..., i], x.exponent[..., i])


@dataclass(frozen=True)
class Numerics:
    """Operations of `logspace._numerics` on `Scaled`."""

    is_complex: bool

    def leaf(self, kind: str, parameter: jax.Array, exponent: jax.Array) -> Any:
        if kind == "number":
            return num.Scaled(parameter, jnp.broadcast_to(exponent, parameter.shape))
        if kind == "plain":
            return num.from_linear(parameter)
        return parameter  # logarithms and powers are plain arrays

    def parts(self, x: Any) -> tuple[jax.Array, jax.Array]:
        if isinstance(x, num.Scaled):
            return x.significand, x.exponent
        return x, jnp.zeros(x.shape, jnp.int32)

    def transform(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What the program as a whole goes through."""
        return function

    def _promote(self, x: num.Scaled) -> num.Scaled:
        """Real results of a complex program: its operands have one dtype."""
        s = x.significand
        if self.is_complex and not jnp.iscomplexobj(s):
            return num.tidy(jax.lax.complex(s, jnp.zeros_like(s)), x.exponent)
        return x

    def apply(self, op: str, xs: Sequence[Any], param: Any) -> Any:
        return self._promote(self._apply(op, xs, param))

    def _apply(self, op: str, xs: Sequence[Any], param: Any) -> num.Scaled:
        simple: dict[str, Callable[..., num.Scaled]] = {
            "add": num.add, "sub": num.subtract, "mul": num.multiply, "div": num.divide,
            "neg": num.negative, "square": num.square, "reciprocal": num.reciprocal,
            "sqrt": num.sqrt, "rsqrt": num.rsqrt, "abs": num.absolute, "abs2": num.abs2,
            "conj": num.conj, "real": num.real, "imag": num.imag, "exp_log": num.normalise,
            "exp_log_add": num.multiply, "exp_log_sub": num.divide, "exp_logaddexp": num.add,
        }  # fmt: skip
        if op in simple:
            return simple[op](*xs)
        match op:
            case "sum":
                return num.sum(_stack(xs), (xs[0].exponent.ndim,))
            case "prod":
                return num.prod(_stack(xs), (xs[0].exponent.ndim,))
            case "cumsum":
                return _at(num.cumsum(_stack(xs), xs[0].exponent.ndim), param - 1)
            case "cumprod":
                return _at(num.cumprod(_stack(xs), xs[0].exponent.ndim), param - 1)
            case "dot":
                return _dot(xs)
            case "integer_power":
                return num.integer_power(xs[0], param)
            case "power" | "exp_log_scaled":
                s = xs[0].significand
                p = jnp.full(s.shape, param, s.dtype) if param is not None else xs[1]
                return num.power(xs[0], p.astype(s.dtype))
            case "exp":
                return num.from_log(num.to_linear(xs[0]))
            case "from_log":
                return num.from_log(xs[0])
            case "logabs":
                return num.from_linear(num.logabs(xs[0]))
            case "where_less":
                return num.where(num.less(xs[0], xs[1]), xs[2], xs[3])
        raise ValueError(f"no operation {op!r}")


#: What is compiled as one: every JAX primitive, every operation of the program, the program.
COMPILE = ("primitive", "operation", "program")


@functools.cache
def _compiled(backend: Any, op: str, param: Any) -> Callable[..., Any]:
    return jax.jit(lambda *xs: backend.apply(op, xs, param))


def evaluate(
    program: Program, draws: Draws, backend: Any, compile_as: str = "primitive"
) -> Results:
    """All values and derivatives of the program at all draws.

    Compiling takes longer than anything else: primitives are compiled once for all programs, a
    program alone takes some ten seconds, but shows what the compiler makes of operations together.
    """
    exponents = [jnp.asarray(e) for e in draws.exponents]
    parameters = [jnp.asarray(t) for t in draws.parameters]
    along = [jnp.asarray(v) for v in draws.along]

    def nodes(ts: Sequence[jax.Array]) -> list[Any]:
        leaves = [
            backend.leaf(leaf.kind, t, e)
            for leaf, t, e in zip(program.leaves, ts, exponents, strict=True)
        ]
        return backend.transform(run)(leaves)

    def run(leaves: list[Any]) -> list[Any]:
        values = list(leaves)
        for node in program.nodes:
            args = [values[i] for i in node.args]
            if compile_as == "operation":
                values.append(_compiled(backend, node.op, node.param)(*args))
            else:
                values.append(backend.apply(node.op, args, node.param))
        return values

    def significand(ts: Sequence[jax.Array]) -> jax.Array:
        return backend.parts(nodes(ts)[-1])[0]

    def with_nodes(ts: Sequence[jax.Array]) -> tuple[jax.Array, Any]:
        parts = [backend.parts(x) for x in nodes(ts)]
        return parts[-1][0], parts

    def gradient(ts: Sequence[jax.Array]) -> Any:
        # relative to an exponent of its own: another batch may be computed another way
        out, pullback, exponent = jax.vjp(lambda ts: backend.parts(nodes(ts)[-1]), ts, has_aux=True)
        return pullback(jnp.ones_like(out))[0], exponent

    def derivative_along(ts: Sequence[jax.Array]) -> jax.Array:
        return jax.jvp(significand, (ts,), (along,))[1]

    def everything(ts: Sequence[jax.Array]) -> Any:
        directions = program.directions
        # One number of directions for all programs: eager operations compile once per shape.
        count = MOST_DIRECTIONS[program.is_complex]
        wide = [jnp.broadcast_to(t, (count, *t.shape)) for t in ts]
        tangents = []
        for i, t in enumerate(wide):
            rows = [
                jnp.full(t.shape[1:], coefficient if leaf == i else 0, t.dtype)
                for leaf, coefficient in directions
            ]
            rows += [jnp.zeros_like(t[0])] * (count - 1 - len(rows))
            tangents.append(jnp.stack([*rows, along[i]]))
        _, forward, values = jax.jvp(with_nodes, (wide,), (tangents,), has_aux=True)
        reverse, forward_reverse, exponent = jax.jvp(gradient, (ts,), (along,), has_aux=True)
        _, forward_forward = jax.jvp(derivative_along, (ts,), (along,))
        return values, reverse, forward, forward_forward, forward_reverse, exponent

    values, reverse, forward, forward_forward, forward_reverse, reverse_exponent = (
        jax.jit(everything) if compile_as == "program" else everything
    )(parameters)
    return Results(
        [np.asarray(s)[0] for s, _ in values],
        [np.asarray(e)[0] for _, e in values],
        [np.asarray(g) for g in reverse],
        np.asarray(forward)[[*range(len(program.directions)), -1]],
        np.asarray(forward_forward),
        [np.asarray(g) for g in forward_reverse],
        np.asarray(reverse_exponent),
    )
