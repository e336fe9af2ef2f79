"""`logspace.quaxify`: the decorator, its policy, and the primitives that contain programs."""

import gc
import weakref
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quax
from jax import lax
from jax.ad_checkpoint import checkpoint_name

import logspace as ls
from logspace._log_array import wrap
from logspace._numerics import Scaled
from logspace._quaxify.control_flow import PROGRAMS

VECTOR = jnp.array([1.5, 0.0, -2.0])


def number(a):
    return ls.from_linear(a)


def huge(a, exponent=4000):
    """a * 2**exponent."""
    x = ls.from_linear(a)
    return wrap(Scaled(x._significand, x._exponent + np.int32(exponent)))


def linear(tree):
    def read(x):
        if isinstance(x, ls.LogArray):
            return x.to_linear()
        return x.materialise() if isinstance(x, ls.Log) else x

    return jax.tree.map(read, tree, is_leaf=lambda x: isinstance(x, (ls.LogArray, ls.Log)))


def assert_close(found, expected, rtol=1e-13):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=rtol), linear(found), expected)


# ------------------------------------------------------------------------------- the decorator


def test_decorator_keeps_name_and_doc():
    @ls.quaxify
    def f(x):
        """Twice."""
        return 2 * x

    @ls.quaxify(on_materialise="allow")
    def g(x):
        """The transform."""
        return jnp.fft.fft(x)

    assert (f.__name__, f.__doc__, f.__wrapped__(3)) == ("f", "Twice.", 6)
    assert (g.__name__, g.__doc__) == ("g", "The transform.")
    assert_close(f(number(VECTOR)), 2 * VECTOR)
    assert_close(g(number(VECTOR)), jnp.fft.fft(VECTOR))


def test_bad_arguments():
    with pytest.raises(ValueError, match="'error' or 'allow'.*'warn'"):
        ls.quaxify(jnp.sin, on_materialise="warn")
    with pytest.raises(TypeError, match="needs a function; got 3"):
        ls.quaxify(3)


def test_pytrees_keywords_and_static_arguments():
    @ls.quaxify
    def f(tree, *rest, scale, mode="sum"):
        assert mode in ("sum", "none")
        total = tree["a"] * scale[0] + tree["b"][1]
        return {"total": total.sum() if mode == "sum" else total, "rest": rest, "none": None}

    tree = {"a": number(VECTOR), "b": (1, VECTOR)}
    out = f(tree, VECTOR, "text", scale=[number(3.0)], mode="sum")
    assert isinstance(out["total"], ls.LogArray)
    assert out["rest"][1] == "text" and out["none"] is None
    assert out["rest"][0] is VECTOR
    assert_close(out["total"], jnp.sum(VECTOR * 4))


def test_without_values_the_function_itself_is_called():
    seen = []

    @ls.quaxify
    def f(x, n):
        seen.append((x, n))
        return jnp.fft.fft(x), int(n) + 1

    out, n = f(VECTOR, 2)
    assert seen[0][0] is VECTOR and seen[0][1] == 2 and n == 3
    np.testing.assert_array_equal(out, jnp.fft.fft(VECTOR))


def test_bound_methods_and_models_that_hold_numbers():
    class Model(eqx.Module):
        weight: ls.LogArray

        def __call__(self, x):
            return self.weight * x

        @ls.quaxify
        def method(self, x):
            return jnp.add(self.weight, x)

    model = Model(huge(2.0))
    assert_close(ls.quaxify(model)(number(3.0)) / huge(1.0), 6.0)
    # no LogArray among the arguments, but in the function
    assert_close(ls.quaxify(model)(3.0) / huge(1.0), 6.0)
    assert_close(model.method(huge(1.0)) / huge(1.0), 3.0)


def test_plain_results_and_plain_arrays_stay_plain():
    out = ls.quaxify(lambda x, y: (y + 1, x > 0, x))(number(VECTOR), VECTOR)
    assert isinstance(out[0], jax.Array) and out[1].dtype == bool
    assert isinstance(out[2], ls.LogArray)


@pytest.mark.parametrize("outer, inner", [("error", "allow"), ("allow", "error")])
def test_nested_quaxify_has_its_own_policy(outer, inner):
    transform = ls.quaxify(jnp.fft.fft, on_materialise=inner)

    def f(x):
        with_inner = transform(x) if inner == "allow" else None
        if inner == "error":
            with pytest.raises(ls.MaterialiseError):
                transform(x)
        return with_inner

    def g(x):
        f(x)
        return jnp.fft.fft(x)

    ls.quaxify(f, on_materialise=outer)(number(VECTOR))
    if outer == "error":
        with pytest.raises(ls.MaterialiseError):
            ls.quaxify(g, on_materialise=outer)(number(VECTOR))
    else:
        ls.quaxify(g, on_materialise=outer)(number(VECTOR))


def test_numbers_from_outside_meet_the_arguments():
    outside = huge(1.0)
    inner = ls.quaxify(lambda x, y: jnp.multiply(x, y))
    out = ls.quaxify(lambda x: inner(x, outside) + outside * x)(number(VECTOR))
    assert_close(out / outside, 2 * VECTOR)


def test_quaxify_inside_plain_quax_handles_custom_vjp():
    @jax.custom_vjp
    def f(x):
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, ct: (5 * ct * x,))
    g = lambda a: quax.quaxify(ls.quaxify(f))(number(a)).to_linear()  # noqa: E731
    assert jax.grad(g)(3.0) == 15.0


# ------------------------------------------------------------------------------ the policy


def unruled(x):
    shifted = x + 1
    return jnp.fft.fft(shifted)


CALLERS = {
    "directly": unruled,
    "in jit": jax.jit(unruled),
    "in nested jits": jax.jit(lambda x: jax.jit(unruled)(x) * 1),
    "in scan": lambda x: lax.scan(lambda c, _: (c, unruled(x)), 0, None, length=1)[1],
    "in cond": lambda x: lax.cond(True, unruled, unruled, x),
    "in checkpoint": jax.checkpoint(unruled),
    "in custom_jvp": jax.custom_jvp(unruled),
    "in custom_vjp": jax.custom_vjp(unruled),
}
CALLERS["in custom_jvp"].defjvps(lambda t, out, x: out)
CALLERS["in custom_vjp"].defvjp(lambda x: (unruled(x), None), lambda _, ct: (ct,))


@pytest.mark.parametrize("name", CALLERS)
def test_error_names_primitive_reason_line_and_way_out(name):
    with pytest.raises(ls.MaterialiseError) as caught:
        ls.quaxify(CALLERS[name])(number(VECTOR))
    text = str(caught.value)
    assert "`fft`" in text and "loses the small ones" in text
    assert f"{__file__}:{unruled.__code__.co_firstlineno + 2}, in unruled" in text
    assert "`return jnp.fft.fft(shifted)`" in text
    assert "x.to_linear()" in text and 'on_materialise="allow"' in text


@pytest.mark.parametrize("name", CALLERS)
@pytest.mark.parametrize("first", ["error", "allow"])
def test_the_policy_does_not_leak_through_caches(name, first):
    function = CALLERS[name]

    def with_error():
        with pytest.raises(ls.MaterialiseError):
            ls.quaxify(function)(number(VECTOR))

    def with_allow():
        out = ls.quaxify(function, on_materialise="allow")(number(VECTOR))
        np.testing.assert_allclose(jnp.ravel(out), jnp.fft.fft(VECTOR + 1))

    for _ in range(2):
        for step in [with_error, with_allow] if first == "error" else [with_allow, with_error]:
            step()


def test_error_under_plain_quax_and_operators():
    for f in (unruled, jax.jit(unruled)):
        with pytest.raises(ls.MaterialiseError, match=r"test_quaxify.py:\d+, in"):
            quax.quaxify(f)(number(VECTOR))


def test_allow_reads_only_what_has_no_rule():
    @ls.quaxify(on_materialise="allow")
    def f(x, y):
        return jnp.real(jnp.fft.ifft(jnp.fft.fft(x))) + 0 * VECTOR, y * y

    out, big = f(number(VECTOR), huge(1.0))
    np.testing.assert_allclose(out, VECTOR, atol=1e-15)
    assert_close(big / huge(1.0, 8000), 1.0)


def test_allow_differentiates_through_the_plain_value():
    f = lambda a: jnp.sum(jnp.abs(jnp.fft.fft(a)) ** 2)  # noqa: E731
    g = lambda a: linear(ls.quaxify(f, on_materialise="allow")(number(a)))  # noqa: E731
    assert_close(jax.grad(g)(VECTOR), jax.grad(f)(VECTOR))


# --------------------------------------------------------------------------------------- jit


def test_jitted_functions_are_traced_once_for_each_structure():
    traces = []

    @jax.jit
    def f(x, y):
        traces.append(None)
        return x * y

    g = ls.quaxify(f)
    for _ in range(3):
        g(number(VECTOR), VECTOR)
    first = len(PROGRAMS)
    assert len(traces) == 1
    for _ in range(3):
        g(VECTOR, number(VECTOR))
        ls.quaxify(lambda x: f(x, x) + f(x, 2.0 * x))(number(VECTOR))
    assert len(PROGRAMS) <= first + 1
    assert len(traces) == 1


def test_compiled_programs_are_forgotten_with_their_functions():
    def collected():
        jax.clear_caches()
        gc.collect()
        return len(PROGRAMS)

    @jax.jit
    def f(x):
        return lax.fori_loop(0, 3, lambda i, c: jnp.floor(c) * x, x)

    before = collected()
    ls.quaxify(f)(number(VECTOR))
    assert len(PROGRAMS) > before
    reference = weakref.ref(f)
    del f
    assert collected() <= before
    assert reference() is None


def test_options_of_jit_are_kept():
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[1])
    f = jax.jit(lambda x: x * 2, out_shardings=sharding)
    out = ls.quaxify(f)(number(VECTOR))
    assert out._significand.sharding == sharding and out._exponent.sharding == sharding
    with_name = jax.make_jaxpr(ls.quaxify(jax.jit(unnamed)))(number(VECTOR))
    assert "name=unnamed" in str(with_name)


def unnamed(x):
    return jnp.exp(x) * x


def test_leaked_values_raise():
    leaked = []
    ls.quaxify(lambda x: leaked.append(x))(number(VECTOR))
    with pytest.raises((jax.errors.UnexpectedTracerError, TypeError)):
        jax.jit(lambda y: y + leaked[0])(VECTOR)


@pytest.mark.parametrize("derive", [lambda f: f, jax.grad], ids=["value", "grad"])
def test_no_tracer_leaks(derive):
    @jax.custom_jvp
    def f(x):
        return jnp.sum(x**2)

    f.defjvp(lambda p, t: (f(p[0]), jnp.sum(3 * p[0] * t[0])))

    def program(x):
        y, _ = lax.scan(lambda c, v: (c + v, None), jnp.zeros(()), x)
        y = lax.cond(y.sum() > 100, lambda v: v, lambda v: v * f(x), y)
        return jax.checkpoint(lambda v: jax.jit(jnp.multiply)(v, v))(y)

    with jax.checking_leaks():
        jax.jit(derive(lambda a: ls.quaxify(program)(number(a)).to_linear())).trace(VECTOR)


# -------------------------------------------------------------------------------------- loops


def sum_of_squares(x):
    return lax.scan(lambda c, v: (c + v * v, c * v), jnp.zeros(()), x)


LOOPS = {
    "plain zeros become a number": sum_of_squares,
    "reverse, with two carries": lambda x: lax.scan(
        lambda c, v: ((c[1] * v, c[0] + v), (c, 1)), (jnp.ones(()), jnp.zeros(())), x, reverse=True
    ),
    "no inputs": lambda x: lax.scan(lambda c, _: (c * x, None), jnp.ones(3), None, length=4)[0],
    "unrolled": lambda x: lax.scan(lambda c, v: (c + v, c), 0.0, x, unroll=2),
    "no steps": lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(()), x[:0]),
    "fori": lambda x: lax.fori_loop(0, 3, lambda i, c: c + x[i] * i, 0.0),
    "fori with a traced bound": lambda x: lax.fori_loop(
        0, jnp.sum(x > -5), lambda i, c: c.at[i].add(x[i]), jnp.zeros(3)
    ),
    "while on the number": lambda x: lax.while_loop(
        lambda c: jnp.sum(c) < 50, lambda c: c * 2 + x**2, x
    ),
    "while with constants": lambda x: lax.while_loop(
        lambda c: c[0] + x[0] < 4.0, lambda c: (c[0] + 1, c[1] * x, c[2]), (0, jnp.ones(3), x)
    ),
    "map": lambda x: lax.map(lambda v: jnp.where(v > 0, v, v * v), x),
    "nested scans": lambda x: lax.scan(lambda c, v: (c + sum_of_squares(x * v)[0], c), 0.0, x),
    "associative scan": lambda x: lax.associative_scan(jnp.multiply, x),
    "a swap that settles slowly": lambda x: lax.scan(
        lambda c, v: ((c[1], c[2], c[3], v * 1.0), None), (jnp.zeros(()),) * 4, x
    )[0],
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name):
    f = LOOPS[name]
    found = ls.quaxify(f)(number(VECTOR))
    assert_close(found, f(VECTOR))
    assert any(isinstance(x, ls.LogArray) for x in jax.tree.leaves(found, is_leaf=quax_value))


def quax_value(x):
    return isinstance(x, quax.Value)


def test_loops_beyond_the_range_of_floats():
    """A product of 400 numbers of 2**100 from a plain 1, and a sum of numbers from a plain 0."""
    x = huge(jnp.full(400, 3.0), 100)
    product = ls.quaxify(lambda x: lax.scan(lambda c, v: (c * v, None), jnp.ones(()), x)[0])(x)
    np.testing.assert_allclose(product.logabs, 400 * (np.log(3) + 100 * np.log(2)), rtol=1e-15)
    total = ls.quaxify(lambda x: lax.fori_loop(0, 400, lambda i, c: c + x[i] ** 30, 0.0))(x)
    np.testing.assert_allclose(total.logabs, np.log(400) + 30 * np.log(3) + 3000 * np.log(2))


@pytest.mark.parametrize("name", ["plain zeros become a number", "no inputs"])
def test_derivatives_of_loops(name):
    def scalar(x):
        return jnp.sum(LOOPS[name](x)[0] if name != "no inputs" else LOOPS[name](x))

    found = jax.jit(jax.hessian(lambda a: linear(ls.quaxify(scalar)(number(a)))))(VECTOR)
    assert_close(found, jax.hessian(scalar)(VECTOR))


def test_loops_under_vmap_and_shard_map():
    batch = jnp.stack([VECTOR, VECTOR + 1])
    f = lambda a: linear(ls.quaxify(lambda x: sum_of_squares(x)[0])(number(a)))  # noqa: E731
    expected = jnp.sum(batch**2, axis=1)
    assert_close(jax.vmap(f)(batch), expected)
    assert_close(jax.vmap(jax.grad(f))(batch), 2 * batch)
    mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    def local(a):
        # the carry starts as something that varies over the mesh, as JAX requires
        g = lambda x: lax.scan(lambda c, v: (c + v * v, None), x[0] * 0, x)[0]  # noqa: E731
        return linear(ls.quaxify(g)(number(a[0])))[None]

    mapped = jax.shard_map(local, mesh=mesh, in_specs=spec, out_specs=spec)
    assert_close(jax.jit(mapped)(batch), expected)


def test_while_loop_under_vmap_stops_each_by_itself():
    f = lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 3, x)  # noqa: E731
    starts = jnp.array([1.0, 5.0, 20.0])
    found = jax.vmap(lambda a: linear(ls.quaxify(f)(number(a))))(starts)
    np.testing.assert_array_equal(found, [27.0, 15.0, 20.0])


# -------------------------------------------------------------------------- loops that carry Logs


def test_a_log_that_arises_in_a_loop_stays_a_log():
    def f(x):
        return lax.scan(lambda c, v: (c + jnp.log(v), c), jnp.zeros(()), x)

    total, partial_sums = ls.quaxify(f)(huge(jnp.array([1.0, 3.0])))
    assert isinstance(total, ls.Log) and isinstance(partial_sums, ls.Log)
    assert_close(ls.exp(total) / huge(1.0, 8000), 3.0)
    # exp of the sum of logarithms has the derivative of the product, at a zero too
    product = lambda a: linear(ls.quaxify(lambda x: jnp.exp(f(x)[0]))(number(a)))  # noqa: E731
    np.testing.assert_array_equal(jax.grad(product)(jnp.array([2.0, 0.0, 3.0])), [0.0, 6.0, 0.0])


def test_a_log_that_the_body_reads_is_carried_as_its_plain_value():
    def f(x):
        return lax.scan(lambda c, v: (jnp.tanh(c) * 2, c), jnp.log(x[0]), x)

    found = ls.quaxify(f)(number(jnp.array([2.0, 1.0])))
    assert_close(found, f(jnp.array([2.0, 1.0])))
    assert not any(isinstance(x, ls.Log) for x in jax.tree.leaves(found, is_leaf=quax_value))


def test_a_log_and_a_number_in_one_slot():
    def f(x):
        return lax.scan(lambda c, v: (v * 2, c), jnp.log(x[0]), x)

    x = jnp.array([2.0, 3.0])
    found = ls.quaxify(f)(number(x))
    assert isinstance(found[0], ls.LogArray)
    assert_close(found, f(x))


# ----------------------------------------------------------------------------------- branches


BRANCHES = {
    "numbers": lambda x: lax.cond(x[0] > 0, lambda v: v * 2, lambda v: v * 3, x),
    "plain in one": lambda x: lax.cond(x[0] > 0, lambda v: v * 2, lambda v: jnp.ones(3), x),
    "plain in the first": lambda x: lax.cond(x[0] < 0, lambda v: jnp.ones(3), jnp.square, x),
    "plain in all": lambda x: lax.cond(x[0] > 0, lambda v: jnp.ones(3), lambda v: jnp.zeros(3), x),
    "switch": lambda x: lax.switch(
        1, [lambda v: (v, 1.0), lambda v: (v * v, v[0]), lambda v: (jnp.ones(3), 0.0)], x
    ),
    "an index beyond the branches": lambda x: lax.switch(7, [lambda v: v, lambda v: v * v], x),
    "platform": lambda x: lax.platform_dependent(x, cpu=lambda v: v * 2, default=lambda v: v * 3),
    "closure": lambda x: lax.cond(x[0] > 0, lambda: x * 2, lambda: x * 3),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_branches(name):
    f = BRANCHES[name]
    assert_close(ls.quaxify(f)(number(VECTOR)), f(VECTOR))


def test_branches_under_vmap():
    f = BRANCHES["plain in one"]
    batch = jnp.stack([VECTOR, -VECTOR])
    found = jax.vmap(lambda a: linear(ls.quaxify(f)(number(a))))(batch)
    assert_close(found, jax.vmap(f)(batch))


def test_a_branch_with_a_log():
    f = lambda x, p: jnp.exp(lax.cond(p, jnp.log, lambda v: jnp.full(2, -jnp.inf), x))  # noqa: E731
    a = jnp.array([2.0, 0.0])
    for p, expected in ((True, [1.0, 1.0]), (False, [0.0, 0.0])):
        g = lambda a, p=p: linear(jnp.sum(ls.quaxify(f)(number(a), p).to_linear()))  # noqa: E731
        np.testing.assert_array_equal(jax.grad(g)(a), expected)


# --------------------------------------------------------------------------------- checkpoint


def deep(x):
    y = checkpoint_name(x * x + 1, "square")
    return jnp.sum(jnp.exp(y) / (x * y + 3))


@pytest.mark.parametrize("quaxify", [ls.quaxify, quax.quaxify], ids=["logspace", "quax"])
def test_checkpoint(quaxify):
    f = jax.checkpoint(deep)
    g = lambda a: linear(quaxify(f)(number(a)))  # noqa: E731
    assert_close(g(VECTOR), deep(VECTOR))
    assert_close(jax.jit(jax.grad(g))(VECTOR), jax.grad(deep)(VECTOR))
    assert_close(jax.jit(jax.hessian(g))(VECTOR), jax.hessian(deep)(VECTOR), rtol=1e-12)


@pytest.mark.parametrize("quaxify", [ls.quaxify, quax.quaxify], ids=["logspace", "quax"])
def test_checkpoint_of_numbers_beyond_floats_and_of_closures(quaxify):
    def f(x, y):
        many = [VECTOR * i for i in range(12)]
        inner = jax.checkpoint(lambda v: (v * x + sum(many) * v, y))
        return inner(y)[0]

    g = lambda a: linear(quaxify(f)(huge(a), huge(2.0)) / huge(1.0, 8000))  # noqa: E731
    assert_close(jax.grad(lambda a: jnp.sum(g(a)))(VECTOR), jnp.full(3, 2.0))


@pytest.mark.parametrize("quaxify", [ls.quaxify, quax.quaxify], ids=["logspace", "quax"])
def test_checkpoint_policies_are_kept(quaxify):
    policies = jax.checkpoint_policies

    def saved(policy):
        f = jax.checkpoint(deep, policy=policy)
        g = lambda a: linear(quaxify(f)(number(a)))  # noqa: E731
        return len(jax.tree.leaves(jax.eval_shape(lambda a: jax.vjp(g, a)[1], VECTOR)))

    nothing = saved(policies.nothing_saveable)
    named = saved(policies.save_only_these_names("square"))
    everything = saved(policies.everything_saveable)
    assert nothing < named < everything


def test_checkpoint_recomputes():
    text = str(jax.make_jaxpr(jax.grad(
        lambda a: linear(ls.quaxify(jax.checkpoint(deep, prevent_cse=False))(number(a)))
    ))(VECTOR))  # fmt: skip
    assert "remat" in text or "checkpoint" in text
    assert "prevent_cse=False" in text


def test_custom_vmap():
    @jax.custom_batching.custom_vmap
    def f(x):
        return x * 2

    @f.def_vmap
    def _(size, batched, x):
        return x * 2, True

    assert_close(ls.quaxify(f)(number(VECTOR)), 2 * VECTOR)
    found = jax.vmap(lambda a: linear(ls.quaxify(f)(number(a))))(VECTOR)
    assert_close(found, 2 * VECTOR)


def test_call_primitives_are_evaluated_in_place():
    from jax.extend.core import primitives

    jaxpr = jax.make_jaxpr(lambda x: x * x + 1)(1.0)
    f = lambda x: jax.tree.leaves(  # noqa: E731
        bind_call(primitives, jaxpr, x), is_leaf=quax_value
    )[0]
    assert_close(ls.quaxify(f)(number(3.0)), 10.0)


def bind_call(primitives, jaxpr, x):
    params = primitives.closed_call_p.get_bind_params({"call_jaxpr": jaxpr})
    return primitives.closed_call_p.bind(x, **params)


# ------------------------------------------------------------------------- differentiation outside


def test_derivatives_of_the_recipe_at_a_node():
    g = ls.quaxify(lambda a, b: jnp.exp(jnp.log(a - b)))
    h = lambda a, b: g(number(a), number(b)).to_linear()  # noqa: E731
    assert jax.grad(h)(1.0, 1.0) == 1.0
    assert jax.jit(jax.grad(jax.jit(h)))(1.0, 1.0) == 1.0
    assert jax.jvp(h, (1.0, 1.0), (1.0, 0.0))[1] == 1.0


def test_gradient_inside_of_a_quaxified_function():
    f = lambda x: jnp.sum(x**3)  # noqa: E731
    out = ls.quaxify(jax.grad(f))(huge(VECTOR, 600))
    assert_close(out / huge(1.0, 1200), 3 * VECTOR**2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_dtypes_are_kept(dtype):
    x = number(jnp.ones(3, dtype))
    out = ls.quaxify(
        lambda x: lax.scan(lambda c, v: (c + jax.jit(jnp.multiply)(v, 2), c), x[0], x)
    )(x)
    assert out[0].dtype == out[1].dtype == dtype


@partial(jax.jit, static_argnums=1)
def staged(x, n):
    return x * n


def test_static_arguments_of_jit():
    assert_close(ls.quaxify(lambda x: staged(x, 3))(number(VECTOR)), 3 * VECTOR)
