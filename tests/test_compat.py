"""Every assumption about the internals of quax and JAX that `logspace/_compat.py` makes.

A failure here means that the installed version has changed one of them: adapt `_compat.py`.
"""

import ast
import inspect
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quax
from jax.extend import core as jax_core
from jax.extend.core import primitives
from packaging.requirements import Requirement
from packaging.version import Version

import logspace
import logspace as ls
from logspace import _compat as compat

ADAPT = "logspace/_compat.py assumes otherwise: adapt it to this version"
PACKAGE = Path(logspace.__file__).parent


def test_quax_is_a_version_that_was_read():
    assert Version("0.4.6") <= Version(version("quax")) < Version("0.5"), ADAPT


def test_the_requirement_says_so():
    try:
        found = [Requirement(r) for r in requires("logspace") or []]
    except PackageNotFoundError:  # not installed, only on the path
        pytest.skip("logspace is not installed: no metadata to read")
    (pin,) = [r for r in found if r.name == "quax"]
    assert Version("0.4.6") in pin.specifier and Version("0.5") not in pin.specifier


def _imports_internals(name: str) -> bool:
    parts = name.split(".")
    private = any(p.startswith("_") and not p.startswith("__") for p in parts[1:])
    return parts[0] in ("quax", "jax", "equinox", "plum") and private


def test_only_compat_imports_internals():
    """Submodules and names with an underscore, of quax, JAX, equinox and plum."""
    offenders = []
    for path in PACKAGE.rglob("*.py"):
        if path.name == "_compat.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [f"{node.module}.{a.name}" for a in node.names]
            elif isinstance(node, ast.Import):
                names = [a.name for a in node.names]
            offenders += [f"{path.name}: {n}" for n in names if _imports_internals(n)]
    assert not offenders, "internals are imported outside logspace/_compat.py"


@pytest.mark.parametrize(
    "method, parameters",
    [
        ("process_primitive", ["self", "primitive", "tracers", "params"]),
        (
            "process_custom_jvp_call",
            ["self", "primitive", "fun", "jvp", "tracers", "symbolic_zeros"],
        ),
    ],
)
def test_signatures_of_the_trace(method, parameters):
    found = list(inspect.signature(getattr(compat.QuaxTrace, method)).parameters)
    assert found == parameters, ADAPT
    mine = list(inspect.signature(_own_trace_method(method)).parameters)
    assert mine == parameters


def _own_trace_method(method):
    from logspace._quaxify.trace import LogSpaceTrace

    return getattr(LogSpaceTrace, method)


def test_signature_of_custom_vjp_in_jax():
    base = next(c for c in compat.QuaxTrace.__mro__ if "process_custom_vjp_call" in vars(c))
    found = list(inspect.signature(base.process_custom_vjp_call).parameters)
    expected = ["self", "primitive", "fun", "fwd", "bwd", "tracers", "out_trees", "symbolic_zeros"]
    assert found == expected, ADAPT
    assert base is not compat.QuaxTrace, (
        "quax now handles custom_vjp itself: compare with logspace/_quaxify/custom_rules.py"
    )


def test_the_trace_and_its_tracers():
    seen = []

    def f(x):
        seen.append(x)
        return x

    quax.quaxify(f)(ls.from_linear(1.0))
    (tracer,) = seen
    assert compat.is_quax_tracer(tracer), ADAPT
    assert isinstance(tracer.value, ls.LogArray), ADAPT
    trace = tracer._trace
    assert type(trace) is compat.QuaxTrace, ADAPT
    assert hasattr(trace, "tag") and hasattr(trace, "parent_trace"), ADAPT
    assert trace.to_value(tracer) is tracer.value, ADAPT
    plain = trace.to_value(jnp.ones(2))
    assert type(plain) is compat.DenseArrayValue and plain.array.shape == (2,), ADAPT
    other = compat.lift_to_trace_of(tracer, ls.from_linear(2.0))
    assert other._trace is trace, ADAPT
    assert compat.unwrap_tracer(trace, tracer) is tracer.value, ADAPT
    assert compat.unwrap_tracer(trace, "text") == "text", ADAPT


def test_dispatch_reaches_the_default_of_the_type():
    """quax calls `LogSpaceValue.default` where there is no rule, at any position of the operand."""
    with pytest.raises(ls.MaterialiseError):
        quax.quaxify(lambda x, y: jax.lax.nextafter(x, y))(jnp.ones(2), ls.ones(2))


def test_current_traces():
    with compat.take_current_trace() as trace:
        with compat.set_current_trace(trace):
            assert float(jnp.add(1.0, 1.0)) == 2.0, ADAPT
    assert compat.TraceTag() is not None


def test_stores_of_wrapped_functions_can_be_reset():
    calls = []

    @jax.custom_jvp
    def f(x):
        return {"a": x}

    f.defjvp(lambda p, t: (f(p[0]), {"a": t[0]}))

    class Spy(compat.QuaxTrace):
        def process_custom_jvp_call(self, primitive, fun, jvp, tracers, *, symbolic_zeros):
            for _ in range(2):
                calls.append(compat.call_again(fun, *[self.to_value(t).array for t in tracers]))
            calls.append(compat.name_and_file(fun))
            return calls[0]

    with compat.take_current_trace() as parent:
        trace = Spy(parent, compat.TraceTag())
        with compat.set_current_trace(parent):
            x = compat.QuaxTracer(trace, compat.dense(jnp.ones(())))
        with compat.set_current_trace(trace):
            f(x)
    assert len(calls) == 3 and calls[0] == calls[1], ADAPT
    assert calls[2][0] == "f" and calls[2][1] == __file__, ADAPT


def test_scan_parameters():
    jaxpr = jax.make_jaxpr(lambda c, x: jax.lax.scan(lambda c, x: (c + x * c, x), c, x))(
        1.0, jnp.ones(3)
    )
    (eqn,) = [e for e in jaxpr.eqns if e.primitive is primitives.scan_p]
    consts, carry, xs = compat.unpack_scan_args(list(eqn.invars), eqn.params)
    assert (len(consts), len(carry), len(xs)) == (0, 1, 1), ADAPT
    assert {"jaxpr", "length", "reverse", "unroll"} <= set(eqn.params), ADAPT


@pytest.mark.parametrize(
    "function, primitive, names",
    [
        (lambda x: jax.jit(jnp.sin)(x), "jit_p",
         {"jaxpr", "name", "inline", "in_shardings", "out_shardings", "compiler_options_kvs"}),
        (lambda x: jax.lax.while_loop(lambda c: c < 3, lambda c: c + x, x), "while_p",
         {"cond_jaxpr", "body_jaxpr", "cond_nconsts", "body_nconsts"}),
        (lambda x: jax.lax.cond(x > 0, jnp.sin, jnp.cos, x), "cond_p", {"branches"}),
        (lambda x: jax.checkpoint(jnp.sin)(x), "remat_p",
         {"jaxpr", "policy", "prevent_cse", "differentiated"}),
        (lambda x: jax.nn.relu(x), "custom_jvp_call_p",
         {"call_jaxpr", "jvp_jaxpr_fun", "num_consts", "symbolic_zeros"}),
    ],
)  # fmt: skip
def test_parameters_of_primitives(function, primitive, names):
    jaxpr = jax.make_jaxpr(function)(1.0)
    (eqn,) = [e for e in jaxpr.eqns if e.primitive is getattr(primitives, primitive)]
    assert names <= set(eqn.params), ADAPT
    program = eqn.params.get("jaxpr")
    if program is not None:
        out = compat.jaxpr_as_fun(compat.closed(program))(0.5)
        np.testing.assert_allclose(out[0], np.sin(0.5), rtol=1e-6)


def test_platform_dependent_is_a_cond_with_platforms():
    jaxpr = jax.make_jaxpr(lambda x: jax.lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos))(
        1.0
    )
    (eqn,) = [e for e in jaxpr.eqns if e.primitive is primitives.cond_p]
    assert eqn.params["branches_platforms"] == (("cpu",), None), ADAPT


def test_inline_jits_are_recognised():
    jaxpr = jax.make_jaxpr(jax.jit(jnp.sin))(1.0)
    (eqn,) = jaxpr.eqns
    assert not compat.is_early_inline(eqn.params["inline"]), ADAPT


def test_backward_rules_return_cotangents():
    assert compat.cotangents_and_logs([1, 2]) == ([1, 2], None)
    assert compat.cotangents_and_logs(([1, 2], {})) == ([1, 2], {})


def test_frames_reach_this_line():
    code, line = next(
        (code, line)
        for code, line in compat.frames_of_current_operation()
        if code.co_filename == __file__
    )
    assert code.co_name in ("<genexpr>", "test_frames_reach_this_line"), ADAPT


def test_custom_vmap_and_mapped_axes():
    assert compat.custom_vmap_p.name == "custom_vmap_call", ADAPT
    f = jax.custom_batching.custom_vmap(lambda x: x * 2)
    f.def_vmap(lambda size, batched, x: (x * 2, True))
    (eqn,) = jax.make_jaxpr(f)(1.0).eqns
    assert eqn.primitive is compat.custom_vmap_p and "call" in eqn.params, ADAPT
    names = [p.name for p in compat.primitives_of_mapped_axes]
    assert names == ["pvary", "all_gather_invariant", "psum_invariant"], ADAPT


def test_closed_accepts_both_kinds_of_programs():
    closed = jax.make_jaxpr(jnp.sin)(1.0)
    assert compat.closed(closed) is closed
    assert isinstance(compat.closed(closed.jaxpr), jax_core.ClosedJaxpr), ADAPT
