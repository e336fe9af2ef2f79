"""`jax.custom_jvp` and `jax.custom_vjp` on values: the user's rules, applied to numbers.

Each call is rebuilt by JAX's own decorators over pytrees of values, whose rules convert between the
derivatives that JAX sees (those of significands; exponents have none) and what the user's rule
works with: tangents that are `Tangent`s, cotangents that are LogArrays. The conversions stand outside
the trace, on the level of the leaves.

A Log is read as its plain value first, since that is what a user's rule is about. The exception is
`jnp.logaddexp`, whose derivative on Logs is that of a sum of numbers.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import custom_vjp_primal_tree_values

from .. import _compat as compat
from .. import _numerics as num
from .._library_functions import library_function
from .._log import Log, log_of
from .._log_array import LogArray, as_supported, unwrap, wrap
from .._tangents import Tangent, incoming, outgoing
from .inverse_pair import on_its_own
from .kinds import convert_all, kind_of
from .trace import evaluate


def _read(values: Sequence[Any]) -> list[Any]:
    """Logs as plain values, and what waits for its inverse as the number that it is."""
    return [x.materialise() if isinstance(x, Log) else on_its_own(x) for x in values]


class _Call:
    """The function of a custom call, and the kinds of its results once it has run."""

    def __init__(self, trace: Any, fun: Any) -> None:
        # the tag and not the trace: the function may be run again when the trace is gone
        self.evaluate = partial(
            evaluate, policy=trace.policy, tag=trace.tag, has_tangents=trace.has_tangents
        )
        self.fun = fun
        self.kinds: list[Any] | None = None

    def __call__(self, *values: Any) -> list[Any]:
        out = _read(self.evaluate(partial(compat.call_again, self.fun), values))
        self.kinds = list(map(kind_of, out))
        return list(map(_tied, out))

    def as_results(self, values: Sequence[Any]) -> list[Any]:
        """What a rule returned as the results, of the kinds that the function returns."""
        values = _read(values)
        if self.kinds is not None:
            values = convert_all(values, self.kinds)
        return list(map(_tied, values))


def _tied(x: Any) -> Any:
    """A number whose leaves are batched alike.

    Under vmap, JAX expects that the function and its rule batch the same results. The exponent may
    depend on the batched operand in one of them only.
    """
    if not isinstance(x, LogArray):
        return x
    s, e = unwrap(x)
    fixed = lax.stop_gradient(s)
    e = lax.select(lax.eq(fixed, fixed), e, e)
    return wrap(num.Scaled(lax.select(lax.eq(e, e), s, s), e))


def call_custom_jvp(
    trace: Any, fun: Any, jvp: Any, values: Sequence[Any], symbolic_zeros: bool
) -> Sequence[Any]:
    if any(isinstance(x, Log) for x in values):
        library = _LIBRARY.get(library_function(fun))
        if library is not None:
            return [library(*values)]
    call = _Call(trace, fun)

    def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        given = [incoming(p, t, symbolic_zeros) for p, t in zip(primals, tangents, strict=True)]
        out = call.evaluate(partial(compat.call_again, jvp), [*primals, *given], has_tangents=True)
        results = call.as_results(out[: len(out) // 2])
        return results, list(map(outgoing, results, out[len(out) // 2 :]))

    wrapped = jax.custom_jvp(lambda *values: call(*values))
    # with symbolic zeros whether or not the user's rule wants them: exponents have no other tangent
    wrapped.defjvp(rule, symbolic_zeros=True)
    return wrapped(*_read(values))


def call_custom_vjp(
    trace: Any,
    fun: Any,
    fwd: Any,
    bwd: Any,
    values: Sequence[Any],
    out_trees: Callable[[], Any],
    symbolic_zeros: bool,
) -> Sequence[Any]:
    if any(isinstance(x, Tangent) for x in values):
        raise TypeError(
            "A custom derivative rule applied a `jax.custom_vjp` function to a tangent. The rule of "
            "a `jax.custom_jvp` function must be linear in its tangents, and reverse mode cannot "
            "see through the inner function. Use `jax.custom_jvp` for it."
        )
    call = _Call(trace, fun)

    def forward(*flagged: Any) -> Any:
        flags = [jax.tree.leaves(x, is_leaf=_has_flag)[0].perturbed for x in flagged]
        primals = custom_vjp_primal_tree_values(list(flagged))

        def run(*operands: Any) -> Any:
            pairs = zip(operands, flags, strict=True)
            return compat.call_again(fwd, *(x for pair in pairs for x in pair))

        out = call.evaluate(run, primals)
        _, structure, forwarded = out_trees()
        count = structure.num_leaves - sum(i is not None for i in forwarded)
        own = iter(out[:count])
        residuals = [next(own) if i is None else primals[i] for i in forwarded]
        results = call.as_results(out[count:])
        return results, (residuals, list(map(_exponent, primals)), list(map(_exponent, results)))

    def backward(saved: Any, cotangents: Sequence[Any]) -> Any:
        residuals, of_primals, of_results = saved
        given = [
            _incoming_cotangent(ct, e, symbolic_zeros)
            for ct, e in zip(cotangents, of_results, strict=True)
        ]

        def run(*operands: Any) -> Any:
            out, logs = compat.cotangents_and_logs(compat.call_again(bwd, *operands))
            if logs:
                raise NotImplementedError(
                    "logs of `jax.custom_vjp.defvjp_with_logs` inside `logspace.quaxify`; "
                    "use `defvjp`."
                )
            return out

        out = call.evaluate(run, [*residuals, *given])
        return tuple(map(_outgoing_cotangent, out, of_primals))

    wrapped = jax.custom_vjp(lambda *values: call(*values))
    # with symbolic zeros, so that the user's rules learn which operands are perturbed
    wrapped.defvjp(forward, backward, symbolic_zeros=True)
    return wrapped(*_read(values))


def _has_flag(x: Any) -> bool:
    return isinstance(x, jax.custom_derivatives.CustomVJPPrimal)


def _exponent(x: Any) -> Any:
    """The exponent against which a derivative of this value is measured; None for plain ones."""
    return x._exponent if isinstance(x, LogArray) else None


def _incoming_cotangent(cotangent: Any, exponent: Any, symbolic_zeros: bool) -> Any:
    """The cotangent of a number: that of its significand, divided by 2**exponent."""
    ct = cotangent if exponent is None else cotangent._significand
    if compat.is_symbolic_zero(ct):
        if symbolic_zeros:
            return ct
        if ct.aval.dtype == jax.dtypes.float0:
            return np.zeros(ct.aval.shape, ct.aval.dtype)
        ct = jnp.zeros(ct.aval.shape, ct.aval.dtype)
    return ct if exponent is None else wrap(num.tidy(ct, lax.neg(exponent)))


def _outgoing_cotangent(cotangent: Any, exponent: Any) -> Any:
    """The cotangent of an operand's significand; a LogArray's exponent has none."""
    zero = compat.is_zero_cotangent(cotangent) or compat.is_symbolic_zero(cotangent)
    if cotangent is None or zero or getattr(cotangent, "dtype", None) == jax.dtypes.float0:
        return None
    if isinstance(cotangent, Log):
        cotangent = cotangent.materialise()
    if exponent is None:
        return num.to_linear(unwrap(cotangent)) if isinstance(cotangent, LogArray) else cotangent
    if isinstance(cotangent, LogArray):
        s, e = unwrap(cotangent)
        ct = num.scale_by(s, lax.add(e, exponent))
    else:
        ct = num.scale_by(jnp.asarray(cotangent), exponent)
    return wrap(num.Scaled(ct, None))  # type: ignore[arg-type]


# ---------------------------------------------------------------------------- functions of JAX


def _logaddexp(x: Any, y: Any) -> Log:
    numbers = _exponential(x), _exponential(y)
    significands, exponents = (jnp.broadcast_arrays(*parts) for parts in zip(*numbers, strict=True))
    return log_of(wrap(num.add(*map(num.Scaled, significands, exponents))))


def _exponential(x: Any) -> num.Scaled:
    """The number e**x; of a Log, the number whose logarithm it is."""
    if isinstance(x, Log):
        return unwrap(x.number)
    if isinstance(x, LogArray):
        return num.exp(unwrap(x))
    return num.from_log(as_supported(jnp.asarray(x)))


_LIBRARY: dict[str, Callable[..., Any]] = {"logaddexp": _logaddexp}
