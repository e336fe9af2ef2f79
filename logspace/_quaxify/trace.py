"""The trace of `logspace.quaxify`.

First-order primitives go to quax's dispatch, hence to the same rules as under `quax.quaxify`. The
primitives that contain programs are handled here, so that what they contain stays under this trace
and its policy. The policy belongs to the trace, not to a context: a jitted function is compiled once
for each policy.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import lax
from jax.extend.core import Primitive

from .. import _compat as compat
from .._errors import MaterialiseError, locate
from .._library_functions import is_reformulated
from .._log_array import LogArray
from .._parts import PartOfNumber
from .._tangents import Tangent, apply, with_zero_exponent, without_exponents
from .._value import LogSpaceValue, is_value

#: primitive -> handler(trace, values, params), called under the parent trace with plain arrays and
#: values, returning a list of such.
HANDLERS: dict[Primitive, Callable[..., Any]] = {}

#: primitive -> function of its parameters to the program that is evaluated in place, or None.
IN_PLACE: dict[Primitive, Callable[[dict[str, Any]], Any]] = {}


class LogSpaceTrace(compat.QuaxTrace):
    """quax's trace, with a policy.

    `has_tangents` within the derivative rules of users; `stops_maxima` within functions that do not
    depend on the maximum by which they shift.
    """

    __slots__ = ("policy", "has_tangents", "stops_maxima")

    def __init__(
        self,
        parent: Any,
        tag: Any,
        policy: str,
        has_tangents: bool = False,
        stops_maxima: bool = False,
    ) -> None:
        super().__init__(parent, tag)
        self.policy = policy
        self.has_tangents = has_tangents
        self.stops_maxima = stops_maxima

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]
    ) -> Any:
        if primitive in HANDLERS or primitive in IN_PLACE:
            return self._program(primitive, tracers, params)
        if self.has_tangents:
            values = [self.value_of(t) for t in tracers]
            if any(type(x) is Tangent for x in values):
                with compat.set_current_trace(self.parent_trace):
                    out = apply(primitive, values, params)
                return (
                    list(map(self.tracer, out)) if primitive.multiple_results else self.tracer(out)
                )
        if self.policy == "error":
            return self._apply(primitive, tracers, params)
        try:
            return self._apply(primitive, tracers, params)
        except MaterialiseError:
            with compat.set_current_trace(self.parent_trace):
                plain = [_materialised(self.value_of(t)) for t in tracers]
            return super().process_primitive(primitive, [self.tracer(x) for x in plain], params)

    def _apply(self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]) -> Any:
        """A rule. The parts of a complex number remember it, in here only."""
        out = super().process_primitive(primitive, tracers, params)
        if self.stops_maxima and primitive is lax.reduce_max_p:
            return super().process_primitive(lax.stop_gradient_p, [out], {})
        if primitive is lax.real_p or primitive is lax.imag_p:
            part, whole = self.value_of(out), self.value_of(tracers[0])
            if isinstance(part, LogArray) and not isinstance(part, PartOfNumber):
                imaginary = primitive is lax.imag_p
                return self.tracer(PartOfNumber(part, whole, imaginary, "", None))
        return out

    def _program(
        self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]
    ) -> list[Any]:
        """A primitive that contains programs."""
        values = [self.value_of(t) for t in tracers]
        if not any(map(is_value, values)):
            with compat.set_current_trace(self.parent_trace):
                return [self.tracer(x) for x in primitive.bind(*values, **params)]
        program = IN_PLACE[primitive](params) if primitive in IN_PLACE else None
        try:
            if program is not None:
                with compat.set_current_trace(self):
                    return compat.jaxpr_as_fun(program)(*tracers)
            with compat.set_current_trace(self.parent_trace):
                return [self.tracer(x) for x in HANDLERS[primitive](self, values, params)]
        except MaterialiseError as error:
            if not error.located:
                locate(error)
            raise

    def process_custom_jvp_call(
        self, primitive: Primitive, fun: Any, jvp: Any, tracers: Sequence[Any], *,
        symbolic_zeros: bool,
    ) -> list[Any]:  # fmt: skip
        from .custom_rules import call_custom_jvp

        if is_reformulated(fun):
            inner = LogSpaceTrace(
                self.parent_trace, self.tag, self.policy, self.has_tangents, stops_maxima=True
            )
            with compat.set_current_trace(inner):
                return fun.call_wrapped(*tracers)
        return self._custom_call(
            lambda values: call_custom_jvp(self, fun, jvp, values, symbolic_zeros), tracers
        )

    def process_custom_vjp_call(
        self, primitive: Primitive, fun: Any, fwd: Any, bwd: Any, tracers: Sequence[Any], *,
        out_trees: Any, symbolic_zeros: bool,
    ) -> list[Any]:  # fmt: skip
        from .custom_rules import call_custom_vjp

        return self._custom_call(
            lambda values: call_custom_vjp(self, fun, fwd, bwd, values, out_trees, symbolic_zeros),
            tracers,
        )

    def _custom_call(self, call: Callable[[list[Any]], Any], tracers: Sequence[Any]) -> list[Any]:
        values = [self.value_of(t) for t in tracers]
        with compat.set_current_trace(self.parent_trace):
            plain = without_exponents(values) if self.has_tangents else values
            out = call(values if plain is None else plain)
            if plain is not None and any(type(x) is Tangent for x in values):
                out = with_zero_exponent(out)
        return [self.tracer(x) for x in out]

    def process_call(
        self, primitive: Primitive, fun: Any, tracers: Sequence[Any], params: Any
    ) -> Any:
        """The call primitives of JAX before 0.12."""
        with compat.set_current_trace(self):
            return fun.call_wrapped(*tracers)

    def value_of(self, tracer: Any) -> Any:
        """The plain array or value behind an operand."""
        value = self.to_value(tracer)
        return value.array if type(value) is compat.DenseArrayValue else value

    def tracer(self, x: Any) -> Any:
        return compat.QuaxTracer(self, x if is_value(x) else compat.dense(x))


def _materialised(x: Any) -> Any:
    return x.materialise() if isinstance(x, LogSpaceValue) else x


def evaluate(
    function: Callable[..., Any], values: Sequence[Any], policy: str, *,
    tag: Any = None, has_tangents: bool = False,
) -> list[Any]:  # fmt: skip
    """Run a flat function of tracers on plain arrays and values, under a trace on the current one.

    `tag` is that of the surrounding trace, for a function that may refer to its tracers. Entries
    that are no arrays (symbolic zeros, tangents of integers) are passed as they are.
    """
    has_tangents = has_tangents or any(type(x) is Tangent for x in values)
    with compat.take_current_trace() as parent:
        trace = LogSpaceTrace(parent, tag or compat.TraceTag(), policy, has_tangents)
        operands = [trace.tracer(x) if _is_operand(x) else x for x in values]
        with compat.set_current_trace(trace):
            out = function(*operands)
            del operands
        return [trace.value_of(x) if _is_operand(x) else x for x in out]


def _is_operand(x: Any) -> bool:
    if is_value(x):
        return True
    if type(x) is jax.custom_derivatives.SymbolicZero or compat.is_zero_cotangent(x):
        return False
    return x is not None and getattr(x, "dtype", None) != jax.dtypes.float0


def enter(structure: Any, leaves: list[Any], policy: str) -> Any:
    """Call a function, given as a flattened (function, args, kwargs), under a new trace."""
    has_values = any(map(is_value, leaves))
    outer = next(filter(compat.is_quax_tracer, leaves), None)
    if outer is not None:
        # the arguments already belong to a trace, which sees what is done to them
        leaves = [compat.lift_to_trace_of(outer, x) if is_value(x) else x for x in leaves]
        return _call_under_policy(structure, leaves, policy)
    if not has_values:
        function, args, kwargs = jax.tree.unflatten(structure, leaves)
        return function(*args, **kwargs)
    from .inverse_pair import on_its_own

    with compat.take_current_trace() as parent:
        trace = LogSpaceTrace(parent, compat.TraceTag(), policy)
        leaves = [compat.QuaxTracer(trace, x) if is_value(x) else x for x in leaves]
        function, args, kwargs = jax.tree.unflatten(structure, leaves)
        with compat.set_current_trace(trace):
            out = function(*args, **kwargs)
        out = jax.tree.map(lambda x: compat.unwrap_tracer(trace, x), out)
    return jax.tree.map(on_its_own, out, is_leaf=is_value)


def _call_under_policy(structure: Any, leaves: list[Any], policy: str) -> Any:
    """Within a quaxified function: the same trace, with the policy of the inner `quaxify`."""
    function, args, kwargs = jax.tree.unflatten(structure, leaves)
    with compat.take_current_trace() as current:
        trace = current
        if isinstance(current, compat.QuaxTrace):
            tangents = getattr(current, "has_tangents", False)
            trace = LogSpaceTrace(current.parent_trace, current.tag, policy, tangents)
        with compat.set_current_trace(trace):
            return function(*args, **kwargs)


from . import control_flow as control_flow  # noqa: E402  (it fills HANDLERS)
