"""What a loop would compute anew in every step from what is constant in it, computed once.

The compiler does not do this, and the exponentials of a transition matrix, or the scaling of its
columns, are most of the work of a step.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import Jaxpr, Literal, jaxpr_as_fun

from .._compat import ClosedJaxpr
from .jaxprs import opened

#: What only repeats or arranges elements is cheaper computed again than stored and read.
_CHEAP = frozenset(("broadcast_in_dim", "iota", "reshape", "squeeze", "stop_gradient", "copy"))


def outside(body: Callable[..., Any], *examples: Any) -> Callable[..., Any]:
    """`body`, a function of pytrees like `examples`, with its constant part evaluated now."""
    jaxpr, out = jax.make_jaxpr(body, return_shape=True)(*examples)
    program, consts = opened(jaxpr)
    tree = jax.tree.structure(out)
    if program.effects:
        return body
    known, constant, varying = set(program.constvars), [], []
    for equation in program.eqns:
        if all(isinstance(v, Literal) or v in known for v in equation.invars):
            constant.append(equation)
            known.update(equation.outvars)
        else:
            varying.append(equation)
    if all(e.primitive.name in _CHEAP for e in constant):
        return body

    wanted = {v for e in varying for v in e.invars if not isinstance(v, Literal)}
    wanted |= {v for v in program.outvars if not isinstance(v, Literal)}
    again = []
    for equation in reversed(constant):
        if equation.primitive.name in _CHEAP and not wanted.isdisjoint(equation.outvars):
            again.append(equation)
            wanted.difference_update(equation.outvars)
            wanted.update(v for v in equation.invars if not isinstance(v, Literal))
    made = [v for e in constant for v in e.outvars if v in wanted]
    given = [v for v in program.constvars if v in wanted]
    results = _function(program.constvars, made, constant)(*consts)
    values = dict(zip(program.constvars, consts, strict=True))
    held = [*results, *(values[v] for v in given)]
    inner = _function(
        [*made, *given, *program.invars], program.outvars, [*reversed(again), *varying]
    )
    return lambda *args: jax.tree.unflatten(tree, inner(*held, *jax.tree.leaves(args)))


def _function(invars: Sequence[Any], outvars: Sequence[Any], equations: Sequence[Any]) -> Any:
    empty = opened(jax.make_jaxpr(lambda: ())())[0]
    program = Jaxpr(
        (), list(invars), list(outvars), list(equations), set(), debug_info=empty.debug_info
    )
    return jaxpr_as_fun(program if Jaxpr is ClosedJaxpr else ClosedJaxpr(program, ()))
