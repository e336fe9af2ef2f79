"""jit, loops, branches and `jax.checkpoint`, rebuilt over values by JAX's public functions.

What they contain is run under a trace of its own with the policy of the surrounding one. Functions
are compiled once for each program and policy (and, by `jax.jit`, for each structure of operands), and
are forgotten when JAX forgets the program.
"""

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
from jax import lax
from jax.extend.core import primitives

from .. import _compat as compat
from .._library_functions import FunctionOfMatrices, function_of_matrices
from .._log_array import LogArray
from .inverse_pair import call_of_pair
from .kinds import convert_all, join_all, join_branches, kind_of
from .trace import HANDLERS, IN_PLACE, evaluate


class _Programs:
    """Functions made from jaxprs. Neither keys nor functions keep a jaxpr alive."""

    def __init__(self) -> None:
        self._made: dict[Hashable, tuple[Any, Callable[..., Any]]] = {}

    def get(
        self, jaxprs: Sequence[Any], key: Hashable, make: Callable[..., Any]
    ) -> Callable[..., Any]:
        """`make(*references)`, unless it was made before for these jaxprs and this key."""
        whole_key = (*map(id, jaxprs), key)
        entry = self._made.get(whole_key)
        if entry is None:

            def forget(_: Any) -> None:
                self._made.pop(whole_key, None)

            references = tuple(weakref.ref(jaxpr, forget) for jaxpr in jaxprs)
            entry = (references, make(*references))
            self._made[whole_key] = entry
        return entry[1]

    def __len__(self) -> int:
        return len(self._made)


PROGRAMS = _Programs()


class _Unsettled(Exception):
    """The kinds of a carry or of the results of branches were not yet the final ones."""

    def __init__(self, kinds: list[Any]) -> None:
        super().__init__(kinds)
        self.kinds = kinds


def _settle(attempt: Callable[[Any], Any], kinds: Any) -> Any:
    """Repeat an attempt until the kinds that it was given are those that it finds.

    As a rule the first attempt succeeds, and nothing is traced twice.
    """
    while True:
        try:
            return attempt(kinds)
        except _Unsettled as unsettled:
            kinds = unsettled.kinds


def _run(reference: Any, values: Sequence[Any], policy: str) -> list[Any]:
    return evaluate(compat.jaxpr_as_fun(compat.closed(reference())), values, policy)


def _settled(values: Sequence[Any], kinds: list[Any]) -> list[Any]:
    """What a loop body returned, as the kinds that the loop carries."""
    after = join_all(kinds, list(map(kind_of, values)))
    if after != kinds:
        raise _Unsettled(after)
    return convert_all(values, kinds)


# ------------------------------------------------------------------------------------------ jit


def _jit(trace: Any, values: list[Any], params: dict[str, Any]) -> Any:
    if len(values) == 1 and isinstance(values[0], LogArray):
        if function := function_of_matrices(params["jaxpr"]):
            return _of_matrices(function, values[0])
    policy, name = trace.policy, params["name"]
    if len(values) == 1:
        of_pair = call_of_pair(name, values[0], policy)
        if of_pair is not None:
            return [of_pair]
    options = _jit_options(params)

    def make(program: Any) -> Any:
        def run(values: list[Any]) -> list[Any]:
            return _run(program, values, policy)

        run.__name__ = run.__qualname__ = name
        return jax.jit(run, **{k: _thawed(v) for k, v in options})

    return PROGRAMS.get((params["jaxpr"],), ("jit", policy, name, options), make)(values)


def _of_matrices(function: FunctionOfMatrices, a: LogArray) -> list[Any]:
    """`jnp.linalg.det` or `slogdet`, whose decomposition has no rule: those of `logspace.linalg`."""
    from .. import linalg  # which is written with operators, and so with `quaxify`

    a = a.transpose(function.permutation(a.ndim))
    return [linalg.det(a)] if function.name == "det" else list(linalg.slogdet(a))


def _jit_options(params: dict[str, Any]) -> tuple[Any, ...]:
    """The options of `jax.jit` that change the result; a sharding of a value is one of its leaves."""
    options: list[Any] = []
    for name in ("in_shardings", "out_shardings"):
        given = tuple(s if isinstance(s, jax.sharding.Sharding) else None for s in params[name])
        if any(s is not None for s in given):
            options.append((name, ("shardings", name == "in_shardings", given)))
    if params.get("compiler_options_kvs"):
        options.append(("compiler_options", ("dict", tuple(params["compiler_options_kvs"]))))
    return tuple(options)


def _thawed(option: Any) -> Any:
    if option[0] == "dict":
        return dict(option[1])
    _, of_arguments, given = option
    return (list(given),) if of_arguments else list(given)


# ---------------------------------------------------------------------------------------- loops


def _scan(trace: Any, values: list[Any], params: dict[str, Any]) -> list[Any]:
    policy = trace.policy
    options = tuple(
        (k, params[k]) for k in ("length", "reverse", "unroll", "_split_transpose") if k in params
    )

    def make(program: Any) -> Any:
        def run(consts: list[Any], init: list[Any], xs: list[Any]) -> Any:
            def attempt(kinds: list[Any]) -> Any:
                def body(carry: list[Any], x: list[Any]) -> Any:
                    out = _run(program, [*consts, *carry, *x], policy)
                    return _settled(out[: len(carry)], kinds), out[len(carry) :]

                return lax.scan(body, convert_all(init, kinds), xs, **dict(options))

            return _settle(attempt, list(map(kind_of, init)))

        return jax.jit(run)

    consts, init, xs = compat.unpack_scan_args(values, params)
    run = PROGRAMS.get((params["jaxpr"],), ("scan", policy, options), make)
    carry, ys = run(consts, init, xs)
    return [*carry, *ys]


def _while(trace: Any, values: list[Any], params: dict[str, Any]) -> list[Any]:
    policy = trace.policy

    def make(cond_program: Any, body_program: Any) -> Any:
        def run(cond_consts: list[Any], body_consts: list[Any], init: list[Any]) -> Any:
            def attempt(kinds: list[Any]) -> Any:
                def cond(carry: list[Any]) -> Any:
                    return _run(cond_program, [*cond_consts, *carry], policy)[0]

                def body(carry: list[Any]) -> list[Any]:
                    return _settled(_run(body_program, [*body_consts, *carry], policy), kinds)

                return lax.while_loop(cond, body, convert_all(init, kinds))

            return _settle(attempt, list(map(kind_of, init)))

        return jax.jit(run)

    first = params["cond_nconsts"]
    second = first + params["body_nconsts"]
    jaxprs = (params["cond_jaxpr"], params["body_jaxpr"])
    run = PROGRAMS.get(jaxprs, ("while", policy), make)
    return run(values[:first], values[first:second], values[second:])


def _cond(trace: Any, values: list[Any], params: dict[str, Any]) -> list[Any]:
    policy, platforms = trace.policy, params.get("branches_platforms")

    def make(*programs: Any) -> Any:
        def run(index: Any, operands: list[Any]) -> list[Any]:
            def attempt(kinds: list[Any] | None) -> list[Any]:
                found = kinds

                def branch(program: Any) -> Any:
                    def call(*operands: Any) -> list[Any]:
                        nonlocal found
                        out = _run(program, operands, policy)
                        after = list(map(kind_of, out))
                        if found is None:
                            found = after
                        joined = join_all(found, after, join_branches)
                        if joined != found:
                            raise _Unsettled(joined)
                        return convert_all(out, found)

                    return call

                branches = list(map(branch, programs))
                if platforms is None:
                    return lax.switch(index, branches, *operands)
                return _by_platform(platforms, branches, operands)

            return _settle(attempt, None)

        return jax.jit(run)

    run = PROGRAMS.get(params["branches"], ("cond", policy, platforms), make)
    return run(values[0], values[1:])


def _by_platform(platforms: Any, branches: list[Any], operands: list[Any]) -> Any:
    """`lax.platform_dependent`, which chooses when the program is lowered."""
    default = None
    named: dict[str, Any] = {}
    for names, branch in zip(platforms, branches, strict=True):
        if names is None:
            default = branch
        else:
            named.update(dict.fromkeys(names, branch))
    return lax.platform_dependent(*operands, default=default, **named)


def _checkpoint(trace: Any, values: list[Any], params: dict[str, Any]) -> Any:
    policy, saved, prevent_cse = trace.policy, params["policy"], params["prevent_cse"]

    def make(program: Any) -> Any:
        def run(*values: Any) -> list[Any]:
            return _run(program, values, policy)

        return jax.checkpoint(run, policy=saved, prevent_cse=prevent_cse)

    key = ("checkpoint", policy, saved, prevent_cse)
    return PROGRAMS.get((params["jaxpr"],), key, make)(*values)


HANDLERS[primitives.jit_p] = _jit
HANDLERS[primitives.scan_p] = _scan
HANDLERS[primitives.while_p] = _while
HANDLERS[primitives.cond_p] = _cond
HANDLERS[primitives.remat_p] = _checkpoint

IN_PLACE[primitives.jit_p] = lambda params: (
    params["jaxpr"] if compat.is_early_inline(params["inline"]) else None
)
for _primitive in (primitives.call_p, primitives.closed_call_p):
    IN_PLACE[_primitive] = lambda params: compat.closed(params["call_jaxpr"])
# the user's rule for batching says how to do the same faster
IN_PLACE[compat.custom_vmap_p] = lambda params: compat.closed(params["call"])
IN_PLACE[jax.custom_derivatives.remat_opt_p] = lambda params: compat.closed(params["fwd_jaxpr"])
