"""Derivatives of a row in every mode, of plain functions of plain arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import logspace as ls
from logspace._log_array import wrap
from logspace._numerics import Scaled
from tests.cases.case import Case

from .checks import is_number, plain, quaxified

Arrays = list[Any]


def _floats(output: Any) -> Arrays:
    out = []
    for x in jax.tree.leaves(output, is_leaf=is_number):
        if isinstance(x, ls.Log):
            x = x.materialise()
        x = x.to_linear() if isinstance(x, ls.LogArray) else x
        if jnp.issubdtype(x.dtype, jnp.inexact):
            out.append(x)
    return out


def plain_function(case: Case, values: Sequence[Any]) -> Callable[[Arrays], Arrays]:
    """The row's plain operation as a function of its number operands."""
    call = case.reference or plain(case)
    return lambda numbers: _floats(call(*_insert(case, values, numbers)))


def number_function(
    case: Case, values: Sequence[Any], gauges: Sequence[np.ndarray]
) -> Callable[[Arrays], Arrays]:
    """The same through LogArrays, the numbers held at exponents `gauges`."""
    call = quaxified(case)

    def function(numbers: Arrays) -> Arrays:
        held = [_held(x, g) for x, g in zip(numbers, gauges, strict=True)]
        return _floats(call(*_insert(case, values, held)))

    return function


def _held(x: Any, gauge: np.ndarray) -> ls.LogArray:
    factor = np.ldexp(np.ones(gauge.shape), -gauge).astype(x.dtype)
    return wrap(Scaled(x * factor, jnp.asarray(gauge, jnp.int32)))


def _insert(case: Case, values: Sequence[Any], numbers: Arrays) -> Arrays:
    remaining = iter(numbers)
    return [next(remaining) if i in case.numbers else jnp.asarray(v) for i, v in enumerate(values)]


def _pair(a: Arrays, b: Arrays) -> Any:
    """Re sum a * b, the pairing of a cotangent with a tangent as JAX has it."""
    return sum(jnp.sum(lax.real(x * y) if jnp.iscomplexobj(x * y) else x * y)
               for x, y in zip(a, b, strict=True))  # fmt: skip


def derivatives(
    function: Callable[[Arrays], Arrays],
    numbers: Arrays,
    directions: Arrays,
    weights: Arrays,
    order: int,
    modes: str = "all",
) -> dict[str, Arrays]:
    """By mode: rev, fwd, and of second order fr (forward over reverse), rf, rr, ff."""
    scalar = lambda v: _pair(function(v), weights)  # noqa: E731
    gradient = jax.grad(scalar)
    along = lambda v: jax.jvp(scalar, (v,), (directions,))[1]  # noqa: E731
    out = {}
    if order < 2:
        out["rev"] = gradient(numbers)
    else:
        out["rev"], out["fr"] = jax.jvp(gradient, (numbers,), (directions,))
    if modes == "reference":
        out["fwd"] = [_pair(out["rev"], directions)]
        if order >= 2:
            out["ff"] = [_pair(out["fr"], directions)]
            out["rr"] = out["rf"] = out["fr"]
        return out
    out["fwd"] = [along(numbers)]
    if order >= 2 and modes == "all":
        out["ff"] = [jax.jvp(along, (numbers,), (directions,))[1]]
        out["rf"] = jax.grad(along)(numbers)
        out["rr"] = jax.grad(lambda v: _pair(gradient(v), directions))(numbers)
    return out
