"""The random programs on LogArrays: by operators and `logspace.numpy`, or by `logspace.quaxify`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

import logspace as ls
import logspace.numpy as lnp
from logspace import _numerics as num
from logspace._log_array import LogArray, wrap


@dataclass(frozen=True)
class LogArrays:
    """`quaxified`: the program is written in `jax.numpy` and runs inside `logspace.quaxify`."""

    is_complex: bool
    quaxified: bool = False

    def leaf(self, kind: str, parameter: jax.Array, exponent: jax.Array) -> Any:
        if kind == "number":
            return wrap(num.Scaled(parameter, jnp.broadcast_to(exponent, parameter.shape)))
        if kind == "plain":
            return ls.from_linear(parameter)
        return parameter

    def parts(self, x: Any) -> tuple[jax.Array, jax.Array]:
        if isinstance(x, LogArray):
            return x._significand, x._exponent
        return x, jnp.zeros(x.shape, jnp.int32)

    def transform(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return ls.quaxify(function) if self.quaxified else function

    def apply(self, op: str, xs: Sequence[Any], param: Any) -> Any:
        np_: Any = jnp if self.quaxified else lnp
        x = xs[0]
        match op:
            case "add":
                return x + xs[1]
            case "sub":
                return x - xs[1]
            case "mul":
                return x * xs[1]
            case "div":
                return x / xs[1]
            case "neg":
                return -x
            case "square":
                return np_.square(x)
            case "reciprocal":
                return 1 / x
            case "sqrt":
                return np_.sqrt(x)
            case "rsqrt":
                return 1 / np_.sqrt(x)
            case "abs":
                return abs(x)
            case "abs2":
                # inside quaxify, a user of jax.numpy writes this
                return np_.conj(x) * x if self.quaxified else ls.abs2(x)
            case "conj" | "real" | "imag":
                return getattr(np_, op)(x)
            case "sum" | "prod":
                return getattr(np_, op)(np_.stack(list(xs), -1), axis=-1)
            case "cumsum" | "cumprod":
                return getattr(np_, op)(np_.stack(list(xs), -1), axis=-1)[..., param - 1]
            case "dot":
                half = len(xs) // 2
                left, right = np_.stack(list(xs[:half]), -1), np_.stack(list(xs[half:]), -1)
                return np_.einsum("...k,...k->...", left, right)
            case "integer_power":
                return x**param
            case "power":
                return x ** (param if param is not None else xs[1])
            case "exp":
                return np_.exp(x)
            case "from_log":
                return ls.exp(x)
            case "logabs":
                return (
                    ls.from_linear(x.logabs)
                    if not self.quaxified
                    else ls.from_linear(jnp.real(jnp.log(jnp.abs(x))))
                )
            case "where_less":
                return np_.where(x < xs[1], xs[2], xs[3])
            case "exp_log":
                return np_.exp(np_.log(x))
            case "exp_log_add":
                return np_.exp(np_.log(x) + np_.log(xs[1]))
            case "exp_log_sub":
                return np_.exp(np_.log(x) - np_.log(xs[1]))
            case "exp_logaddexp":
                return np_.exp(np_.logaddexp(np_.log(x), np_.log(xs[1])))
            case "exp_log_scaled":
                return np_.exp(param * np_.log(x))
        raise ValueError(f"no operation {op!r}")
