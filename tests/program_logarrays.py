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
        np_, x = self._namespace(*xs), xs[0]
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
                sign, log = self._log(x)
                return sign * np_.exp(log)
            case "exp_log_add" | "exp_log_sub":
                (sign, log), (other_sign, other) = self._log(x), self._log(xs[1])
                both = log + other if op == "exp_log_add" else log - other
                return sign * other_sign * np_.exp(both)
            case "exp_logaddexp":
                # the logarithm of a negative real number is nan, of a complex one it is not
                logs = [np_.log(y + 0j) for y in xs]
                total = np_.exp(np_.logaddexp(*logs))
                is_complex = jnp.issubdtype(
                    jnp.result_type(x.dtype, xs[1].dtype), jnp.complexfloating
                )
                return total if is_complex else np_.real(total)
            case "exp_log_scaled":
                return np_.exp(param * np_.log(x))
        raise ValueError(f"no operation {op!r}")

    def _namespace(self, *xs: Any) -> Any:
        """`jax.numpy` inside of `quaxify`, unless a LogArray was made there: jnp does not take it."""
        made_here = any(isinstance(x, LogArray) for x in xs)
        return jnp if self.quaxified and not made_here else lnp

    def _log(self, x: Any) -> tuple[Any, Any]:
        """A sign and the logarithm of the rest, which for a negative real number alone is nan."""
        np_ = self._namespace(x)
        if jnp.issubdtype(x.dtype, jnp.complexfloating):
            return 1, np_.log(x)
        sign = jnp.where(np_.less(x, 0), -1.0, 1.0).astype(x.dtype)
        return sign, np_.log(sign * x)
