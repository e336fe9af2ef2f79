"""What is read of jaxprs, the same on all supported versions of JAX."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import Jaxpr, Literal, jaxpr_as_fun

from .._compat import ClosedJaxpr, name_and_file
from .._compat import called as called
from .._library_functions import library_function


def opened(jaxpr: Any) -> tuple[Any, Sequence[Any]]:
    """The equations and the constants of a jaxpr, which since 0.11 is closed and open in one."""
    return getattr(jaxpr, "jaxpr", jaxpr), getattr(jaxpr, "consts", ()) or ()


def name_of_call(name: str, params: dict[str, Any]) -> str:
    """The name of the function that was traced into the jaxpr of a call."""
    if "name" in params:
        return str(params["name"])
    body = opened(called(params))[0]
    return (name_and_file(body)[0] if getattr(body, "debug_info", None) else "") or name


def library_call(params: dict[str, Any]) -> str:
    """The name of the function of JAX that an equation calls; "" for anybody else's."""
    jaxpr = called(params)
    return "" if jaxpr is None else library_function(jaxpr)


def holds_jaxpr(params: dict[str, Any]) -> bool:
    """Whether an equation has a program among its parameters, and cannot be bound with them."""
    return any(_is_program(p) for p in params.values())


def _is_program(p: Any) -> bool:
    if isinstance(p, (tuple, list)):
        return any(_is_program(q) for q in p)
    return isinstance(p, (Jaxpr, ClosedJaxpr)) or callable(p) and not isinstance(p, type)


def programs_in(params: dict[str, Any]) -> list[Any]:
    found = []
    for p in params.values():
        for q in p if isinstance(p, (tuple, list)) else (p,):
            if isinstance(q, (Jaxpr, ClosedJaxpr)):
                found.append(q)
    return found


def binder(equation: Any) -> Callable[..., Any]:
    """A function of plain arrays that does what the equation does.

    An equation that holds a program, with the rules of the user for its derivatives, cannot be
    bound from its parameters; as a program of one equation it can be evaluated on every version.
    """
    if not holds_jaxpr(equation.params):
        primitive, params = equation.primitive, equation.params

        def bind(*arrays: Any) -> Any:
            return primitive.bind(*arrays, **params)

        return bind
    positions: dict[Any, int] = {}
    for i, v in enumerate(equation.invars):
        if not isinstance(v, Literal) and v not in positions:
            positions[v] = i
    empty = opened(jax.make_jaxpr(lambda: ())())[0]
    one = Jaxpr(
        (), list(positions), list(equation.outvars), [equation], equation.effects,
        debug_info=empty.debug_info,
    )  # fmt: skip
    function = jaxpr_as_fun(one if Jaxpr is ClosedJaxpr else ClosedJaxpr(one, ()))

    def evaluate(*arrays: Any) -> Any:
        out = function(*(arrays[i] for i in positions.values()))
        return out if equation.primitive.multiple_results else out[0]

    return evaluate


def scan_groups(params: dict[str, Any], operands: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Constants, initial carry and scanned operands: counted until 0.10, grouped since."""
    if "num_consts" in params:
        a, b = params["num_consts"], params["num_consts"] + params["num_carry"]
        return operands[:a], operands[a:b], operands[b:]
    groups = params["ft_in"].update(list(range(len(operands)))).unpack()
    consts, init, xs = (list(group) for group in groups)
    return [operands[i] for i in consts], [operands[i] for i in init], [operands[i] for i in xs]
