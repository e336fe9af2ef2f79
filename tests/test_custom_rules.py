"""`jax.custom_jvp` and `jax.custom_vjp` on LogArrays: the user's rule, in every mode and gauge.

The reference is plain JAX on plain numbers, at ordinary points, zeros and ties.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quax
from jax import lax
from jax.custom_derivatives import SymbolicZero

import logspace as ls
from logspace._log_array import unwrap, wrap
from logspace._numerics import Scaled

POINTS = jnp.array([1.25, -0.75, 0.0, 2.5])
OTHERS = jnp.array([0.5, -0.75, 0.0, -1.0])


def number(a, gauge=0, scale=0):
    """a * 2**scale as a LogArray, 2**gauge moved from the exponent to the significand."""
    s, e = unwrap(ls.from_linear(a))
    return wrap(Scaled(s * 2.0**gauge, e + np.asarray(scale - gauge, np.int32)))


def linear(x):
    if isinstance(x, ls.LogArray):
        return x.to_linear()
    return x.materialise() if isinstance(x, ls.Log) else x


def fwd(f):
    return lambda t: jax.jvp(f, (t,), (jnp.ones_like(t),))[1]


def rev(f):
    return jax.grad(lambda t: jnp.sum(f(t)))


def both_ways(f):
    """Value and derivatives to second order of an elementwise function, in every mix of modes."""
    return {"fwd fwd": fwd(fwd(f)), "rev fwd": rev(fwd(f)), **reverse_only(f)}


def first_order(f):
    return {"value": f, "fwd": fwd(f), "rev": rev(f)}


def reverse_only(f):
    return {
        "value": f,
        "rev": rev(f),
        "fwd rev": fwd(rev(f)),
        "rev rev": rev(rev(f)),
    }


def assert_same_in_all_modes(
    f, a=POINTS, b=None, kinds=("number", "number"), modes=both_ways, rtol=1e-12
):
    """f of one or two operands along a line through the points, in two gauges at once."""
    a = jnp.concatenate([a, a])
    b = b if b is None else jnp.concatenate([b, b])
    gauge = np.repeat([0, 23], a.size // 2)

    def operands(t):
        return [a + t * 0.7] if b is None else [a + t * 0.7, b - t * 1.3]

    def plain(t):
        return f(*operands(t))

    def lifted(t):
        values = [
            number(x, gauge) if kind == "number" else x
            for x, kind in zip(operands(t), kinds, strict=False)
        ]
        return linear(ls.quaxify(f)(*values))

    t = jnp.zeros_like(a)
    expected, found = (
        jax.jit(lambda t, h=h: {k: d(t) for k, d in modes(h).items()})(t) for h in (plain, lifted)
    )
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=rtol, atol=1e-13, err_msg=name)


# ---------------------------------------------------------------------------- the user's rules


@jax.custom_jvp
def straight_through(x):
    return jnp.round(x)


straight_through.defjvps(lambda t, out, x: t)


@jax.custom_jvp
def cube(x):
    return x**3


@cube.defjvp
def _cube_jvp(primals, tangents):
    return cube(primals[0]), 3 * primals[0] ** 2 * tangents[0]


@jax.custom_jvp
def wrong_cube(x):
    return x**3


@wrong_cube.defjvp
def _wrong_cube_jvp(primals, tangents):
    return wrong_cube(primals[0]), 15 * primals[0] ** 2 * tangents[0]


@jax.custom_jvp
def kinked(x, y):
    return jnp.abs(x) * y


@kinked.defjvp
def _kinked_jvp(primals, tangents):
    (x, y), (dx, dy) = primals, tangents
    slope = jnp.where(x > 0, y, -2 * y)
    return kinked(x, y), dx * slope + dy * jnp.abs(x) - (dx - dy) / 4


@jax.custom_jvp
def with_inner_derivative(x, y):
    return x * jnp.cosh(y) - y**2


@with_inner_derivative.defjvp
def _with_inner_derivative_jvp(primals, tangents):
    """As many rules are written: JAX's own derivative, then something on top."""
    out, dout = jax.jvp(lambda x, y: x * jnp.cosh(y) - y**2, primals, tangents)
    return out, 2 * dout


@jax.custom_jvp
def nested(x):
    return cube(x) + x


@nested.defjvp
def _nested_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    return nested(x), jax.nn.relu(x) * t + wrong_cube(x) * t


@jax.custom_jvp
def norm(x):
    return jnp.sqrt(jnp.sum(x * x))


@norm.defjvp
def _norm_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    out = norm(x)
    return out, jnp.dot(x, t) / out


@jax.custom_jvp
def quotient(x, y):
    return x / y


@quotient.defjvp
def _quotient_jvp(primals, tangents):
    (x, y), (dx, dy) = primals, tangents
    out = quotient(x, y)
    return out, (dx - out * dy) / y


ELEMENTWISE = {
    "relu": (jax.nn.relu, 1),
    "silu": (jax.nn.silu, 1),
    "gelu": (jax.nn.gelu, 1),
    "softplus": (jax.nn.softplus, 1),
    "logaddexp": (jnp.logaddexp, 2),
    "straight-through": (straight_through, 1),
    "cube": (cube, 1),
    "wrong cube": (wrong_cube, 1),
    "nested": (nested, 1),
    "kinked": (kinked, 2),
    "inner derivative": (with_inner_derivative, 2),
}


LONG = ("softplus", "logaddexp")


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_as_in_plain_jax(name):
    f, count = ELEMENTWISE[name]
    modes = first_order if name in LONG else both_ways
    assert_same_in_all_modes(f, POINTS, None if count == 1 else OTHERS, modes=modes)


@pytest.mark.full
@pytest.mark.parametrize("name", LONG)
def test_as_in_plain_jax_in_all_modes(name):
    f, count = ELEMENTWISE[name]
    assert_same_in_all_modes(f, POINTS, None if count == 1 else OTHERS)


@pytest.mark.parametrize("kinds", [("number", "plain"), ("plain", "number")])
@pytest.mark.parametrize("f", [kinked, quotient], ids=lambda f: f.__name__)
def test_plain_operands_beside_numbers(f, kinds):
    others = OTHERS + 3.0 if f is quotient else OTHERS
    assert_same_in_all_modes(f, POINTS, others, kinds, modes=reverse_only)


def test_plain_operands_only():
    """A custom function of plain arrays inside a quaxified one, then multiplied by a number."""

    def f(x, y):
        return kinked(y, y + 1) * x

    assert_same_in_all_modes(f, POINTS, OTHERS, ("number", "plain"))


@pytest.mark.parametrize("f", [jax.nn.log_softmax, jax.nn.logsumexp, jax.nn.softmax])
def test_softmax_family(f):
    """Not elementwise: first and second derivatives along a direction."""
    gauges = np.array([0, -19])

    def derivatives(h):
        return jax.jit(lambda t: (h(t), jax.jacrev(h)(t), jax.jacfwd(jax.jacrev(h))(t)))(0.0)

    found = derivatives(
        lambda t: jax.vmap(lambda g: linear(ls.quaxify(f)(number_at(POINTS + t * OTHERS, g))))(
            gauges
        )
    )
    expected = derivatives(lambda t: f(POINTS + t * OTHERS))
    for order in range(3):
        for i in range(2):
            np.testing.assert_allclose(found[order][i], expected[order], rtol=1e-12, atol=1e-13)


def number_at(a, gauge):
    s, e = unwrap(ls.from_linear(a))
    return wrap(Scaled(jnp.ldexp(s, gauge), e - gauge.astype(jnp.int32)))


# ------------------------------------------------------------------------- beyond floating point


@pytest.mark.parametrize("scale", [5000, -5000])
def test_relu_at_a_scale_that_no_float_has(scale):
    def f(a):
        return (
            ls.quaxify(jax.nn.relu)(number(a, scale=scale)) / number(1.0, scale=scale)
        ).to_linear()

    value, reverse, forward = jax.jit(lambda a: (f(a), rev(f)(a), fwd(f)(a)))(POINTS)
    np.testing.assert_array_equal(value, [1.25, 0, 0, 2.5])
    np.testing.assert_array_equal(reverse, [1, 0, 0, 1])
    np.testing.assert_array_equal(forward, [1, 0, 0, 1])


@pytest.mark.parametrize("derive", [rev, fwd])
def test_a_wrong_rule_is_honoured_at_any_scale(derive):
    def f(a):
        cubed = ls.quaxify(wrong_cube)(number(a, scale=1200))
        return (cubed / number(1.0, scale=3600)).to_linear()

    first, forward, reverse = jax.jit(
        lambda a: (derive(f)(a), fwd(derive(f))(a), rev(derive(f))(a))
    )(POINTS)
    np.testing.assert_allclose(first, 15 * POINTS**2, rtol=1e-14)
    np.testing.assert_allclose(forward, 30 * POINTS, rtol=1e-14)
    np.testing.assert_allclose(reverse, 30 * POINTS, rtol=1e-14)


def test_tangents_of_far_apart_scales_do_not_bury_each_other():
    @jax.custom_jvp
    def f(x, y):
        return x + y

    f.defjvps(lambda t, out, x, y: t, lambda t, out, x, y: t)

    def g(a, b):
        """(a 2**4000 + b - a 2**4000): the large terms cancel exactly."""
        total = ls.quaxify(f)(number(a, scale=4000), ls.from_linear(b))
        return (total - number(a, scale=4000)).to_linear()

    value, (da, db) = jax.value_and_grad(g, (0, 1))(0.0, 2.0)
    # a = 0 at scale 2**4000 is dead: the value is b, and the derivative in b is 1
    assert value == 2.0 and db == 1.0
    assert not np.isfinite(da) or da == 0.0


def test_sums_and_products_in_rules_keep_small_scales():
    """sum_i x_i**2 at scales 2**3000, 1, 2**-3000: each derivative at its own scale."""

    @jax.custom_jvp
    def f(x):
        return jnp.sum(x * x)

    @f.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), 2 * jnp.sum(x * t)

    scales = np.array([3000, 0, -3000])

    def g(a, i):
        out = ls.quaxify(f)(wrap(Scaled(a, jnp.asarray(scales, jnp.int32))))
        return (out / number(1.0, scale=2 * int(scales[i]))).to_linear()

    # measured against the largest, its own derivative is right and the others are negligible
    np.testing.assert_array_equal(jax.grad(g)(jnp.ones(3), 0), [2.0, 0.0, 0.0])
    # with the larger ones absent (zero), the next one counts
    np.testing.assert_array_equal(
        jax.jvp(lambda a: g(a, 0), (jnp.ones(3),), (jnp.eye(3)[0],))[1], 2.0
    )


@pytest.mark.parametrize("lift_x, lift_m", [(True, True), (True, False), (False, True)])
def test_contractions_in_rules(lift_x, lift_m):
    matrix = jnp.arange(12.0).reshape(3, 4) / 7 - 0.6

    @jax.custom_jvp
    def f(x, m):
        return m @ x

    @f.defjvp
    def _(primals, tangents):
        (x, m), (dx, dm) = primals, tangents
        return f(x, m), 3 * (m @ dx) + dm @ x

    def plain(x, m):
        return jnp.sum(f(x, m) ** 2)

    def derivatives(h):
        def run(x, m):
            return jax.grad(h, (0, 1))(x, m), fwd(lambda x: jax.grad(h)(x, m))(x)

        return jax.tree.leaves(jax.jit(run)(POINTS, matrix))

    def lifted(x, m):
        x = number(x, 11) if lift_x else x
        m = number(m, -7) if lift_m else m
        return linear(ls.quaxify(plain)(x, m))

    for a, b in zip(derivatives(lifted), derivatives(plain), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_a_norm_with_its_usual_rule():
    f = lambda a: (ls.quaxify(norm)(number(a, scale=2000)) / number(1.0, scale=2000)).to_linear()  # noqa: E731
    np.testing.assert_allclose(jax.grad(f)(POINTS), POINTS / norm(POINTS), rtol=1e-14)


# ------------------------------------------------------------------------- forms of rules


def test_symbolic_zeros_and_integer_operands():
    seen = []

    @jax.custom_jvp
    def f(x, y, n):
        return x * y * n

    def rule(primals, tangents):
        (x, y, n), ts = primals, tangents
        seen.append([type(t) is SymbolicZero for t in ts])
        out = f(x, y, n)
        terms = [
            c * t for c, t in zip((y * n, x * n), ts, strict=False) if type(t) is not SymbolicZero
        ]
        return out, sum(terms[1:], terms[0])

    f.defjvp(rule, symbolic_zeros=True)
    g = lambda a: ls.quaxify(f)(ls.from_linear(a), ls.from_linear(2.0), jnp.asarray(3)).to_linear()  # noqa: E731
    assert jax.grad(g)(1.5) == 6.0
    assert seen[-1] == [False, True, True]


def test_integer_operands_without_symbolic_zeros():
    @jax.custom_jvp
    def f(x, n):
        return x * n

    @f.defjvp
    def _(primals, tangents):
        assert tangents[1].dtype == jax.dtypes.float0
        return f(*primals), tangents[0] * primals[1] * 2

    g = lambda a: ls.quaxify(f)(ls.from_linear(a), jnp.asarray(3)).to_linear()  # noqa: E731
    assert jax.grad(g)(1.5) == 6.0
    assert jax.jit(jax.grad(jax.jit(g)))(1.5) == 6.0


@pytest.mark.parametrize("jitted", [False, True])
def test_a_rule_that_returns_symbolic_zeros(jitted):
    @jax.custom_jvp
    def f(x):
        return x * x, jnp.sin(x)

    def rule(primals, tangents):
        zero = SymbolicZero(jax.typeof(primals[0]).to_tangent_aval())
        return f(primals[0]), (zero, tangents[0] * 4)

    f.defjvp(rule, symbolic_zeros=True)

    def g(a):
        p, q = ls.quaxify(f)(ls.from_linear(a))
        return p.to_linear() + q

    assert (jax.jit(jax.grad(g)) if jitted else jax.grad(g))(1.5) == 4.0


def test_nondiff_argnums_and_keywords():
    @partial(jax.custom_jvp, nondiff_argnums=(0,))
    def f(n, x, y=2.0):
        return x**n * y

    @f.defjvp
    def _(n, primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        return f(n, x, y), 10 * n * x ** (n - 1) * y * dx + 0 * dy

    g = lambda a: ls.quaxify(lambda x: f(3, y=2.0, x=x))(ls.from_linear(a)).to_linear()  # noqa: E731
    assert jax.grad(g)(2.0) == 240.0


def test_rule_over_pytrees_with_plain_and_number_results():
    @jax.custom_jvp
    def f(tree):
        return {"product": tree["x"] * tree["y"], "sign": jnp.sign(tree["x"]) * 0.5}

    @f.defjvp
    def _(primals, tangents):
        (tree,), (dot,) = primals, tangents
        out = f(tree)
        dout = dot["x"] * tree["y"] * 7 + dot["y"] * tree["x"]
        return out, {"product": dout, "sign": dot["x"] / 3}

    def g(a, b):
        out = ls.quaxify(f)({"x": ls.from_linear(a), "y": b})
        return linear(out["product"]) + linear(out["sign"])

    da, db = jax.grad(g, (0, 1))(2.0, 5.0)
    np.testing.assert_allclose([da, db], [35 + 1 / 3, 2.0])
    da, db = jax.jit(jax.grad(jax.jit(g), (0, 1)))(2.0, 5.0)
    np.testing.assert_allclose([da, db], [35 + 1 / 3, 2.0])


def test_complex_numbers():
    @jax.custom_jvp
    def f(z):
        return z * z

    @f.defjvp
    def _(primals, tangents):
        (z,), (t,) = primals, tangents
        return f(z), 3 * z * t + jnp.conj(t) * z.real

    def scalar(h, a):
        return jnp.real(h(a) * (1 - 2j)) ** 2

    z = 0.7 - 1.1j
    plain = jax.grad(lambda a: scalar(f, a))(z)
    for gauge in (0, 17):
        found = jax.grad(
            lambda a, g=gauge: scalar(lambda v: ls.quaxify(f)(number(v, g)).to_linear(), a)
        )(z)
        np.testing.assert_allclose(found, plain, rtol=1e-13)


def test_loops_over_tangents_in_a_rule():
    @jax.custom_jvp
    def f(x):
        return x**4

    @f.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        # 4 x**3 t by repeated multiplication, with branches on the primal
        total, _ = lax.scan(lambda c, _: (c * x, None), t, None, length=3)
        total = lax.cond(jnp.all(x > 0), lambda c: 4 * c, lambda c: c * 4, total)
        return f(x), lax.fori_loop(0, 2, lambda i, c: c * 1.0, total)

    g = lambda a: (ls.quaxify(f)(number(a, scale=900)) / number(1.0, scale=3600)).to_linear()  # noqa: E731
    np.testing.assert_allclose(jax.jvp(g, (1.5,), (1.0,))[1], 4 * 1.5**3)
    np.testing.assert_allclose(jax.jit(fwd(fwd(g)))(1.5), 12 * 1.5**2)


def test_closure_over_a_number():
    def outer(x, y):
        @jax.custom_jvp
        def f(v):
            return v * y

        @f.defjvp
        def _(primals, tangents):
            return f(*primals), tangents[0] * y * 5

        return f(x)

    g = lambda a: ls.quaxify(outer)(ls.from_linear(a), ls.from_linear(3.0)).to_linear()  # noqa: E731
    assert jax.grad(g)(2.0) == 15.0
    assert jax.jit(jax.grad(g))(2.0) == 15.0
    h = lambda a: linear(ls.quaxify(outer)(a, ls.from_linear(3.0)))  # noqa: E731
    assert jax.grad(h)(2.0) == 15.0


@pytest.mark.parametrize(
    "operation, name",
    [
        (jnp.abs, "abs"),
        (lambda t: t * t, "mul"),
        (jnp.exp, "exp"),
        (lambda t: jnp.where(t > 0, t, 0.0), "gt"),
        (lambda t: 1.0 / t, "div"),
        (jnp.max, "reduce_max"),
        (lax.stop_gradient, "stop_gradient"),
        (lambda t: t.astype(int) * 1.0, "convert_element_type"),
        (jax.nn.relu, "max"),
    ],
)
@pytest.mark.parametrize("jitted", [False, True])
def test_nonlinear_rules_are_refused_by_name(operation, name, jitted):
    @jax.custom_jvp
    def f(x):
        return x

    @f.defjvp
    def _(primals, tangents):
        return primals[0], operation(tangents[0])

    g = lambda a: ls.quaxify(jax.jit(f) if jitted else f)(ls.from_linear(a)).to_linear()  # noqa: E731
    with pytest.raises(TypeError, match=f"`{name}` to a tangent"):
        jax.grad(g)(1.0)


def test_rules_about_plain_arrays_are_as_free_as_in_plain_jax():
    """A clipped tangent is not linear, but it is plain, and forward mode in JAX accepts it."""

    @jax.custom_jvp
    def f(x):
        return x

    @f.defjvp
    def _(primals, tangents):
        return primals[0], jnp.clip(jax.nn.relu(tangents[0]), 0.0, 0.5)

    g = lambda a: linear(ls.quaxify(lambda x, y: f(y) * x)(ls.from_linear(3.0), a))  # noqa: E731
    assert jax.jvp(g, (1.0,), (1.0,))[1] == 1.5


# ------------------------------------------------------------------------- under transformations


def assert_same(found, expected, derivatives):
    for f, g in zip(
        *(
            jax.jit(lambda a, h=h: [d(h)(a) for d in derivatives])(POINTS)
            for h in (found, expected)
        ),
        strict=True,
    ):
        np.testing.assert_allclose(f, g, rtol=1e-13)


TRANSFORMED = {
    "jit outside": lambda f: jax.jit(f),
    "jit inside": lambda f: f,
    "vmap": lambda f: lambda a: jax.vmap(f)(a),
    "scan": lambda f: lambda a: lax.scan(lambda c, v: (c, f(v)), 0.0, a)[1],
    "map of checkpoint": lambda f: lambda a: lax.map(jax.checkpoint(f), a),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transformations_around(name):
    inner = jax.jit(wrong_cube) if name == "jit inside" else wrong_cube

    def f(a):
        return ls.quaxify(inner)(ls.from_linear(a)).to_linear()

    g, p = TRANSFORMED[name](f), TRANSFORMED[name](wrong_cube)
    assert_same(g, p, (fwd, lambda h: fwd(rev(h))))


INSIDE = {
    "jit": jax.jit,
    "vmap": jax.vmap,
    "scan": lambda f: lambda x: lax.scan(lambda c, v: (c, f(v)), 0.0, x)[1],
    "while": lambda f: (
        lambda x: lax.while_loop(lambda c: c[0] < 1, lambda c: (1, f(c[1])), (0, x))[1]
    ),
    "cond": lambda f: lambda x: lax.cond(jnp.sum(x) > 0, f, lambda v: v, x),
    "checkpoint": jax.checkpoint,
}


@pytest.mark.parametrize("name", INSIDE)
def test_inside_of_transformations(name):
    body = INSIDE[name](wrong_cube)
    f = lambda a: linear(ls.quaxify(body)(ls.from_linear(a)))  # noqa: E731
    modes = (fwd,) if name == "while" else (lambda h: fwd(rev(h)),)
    assert_same(f, body, (lambda h: h, *modes))


def test_shard_map_around():
    mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    def f(a):
        return ls.quaxify(lambda x: kinked(x, x * 2))(ls.from_linear(a)).to_linear()

    mapped = jax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec)
    plain = lambda a: kinked(a, a * 2)  # noqa: E731
    assert_same(mapped, plain, (fwd, rev))


# ----------------------------------------------------------------------------------------- Log


def test_logaddexp_of_logs_stays_in_log_space():
    def f(x, y):
        out = jnp.logaddexp(jnp.log(x), jnp.log(y))
        return jnp.exp(out)

    def g(a, b):
        return linear(ls.quaxify(f)(ls.from_linear(a), ls.from_linear(b)))

    # exact at zeros, where plain JAX gives nan
    assert g(0.0, 0.0) == 0.0
    for derive in (jax.grad, jax.jacfwd):
        np.testing.assert_array_equal(derive(g, (0, 1))(0.0, 0.0), (1.0, 1.0))
        np.testing.assert_array_equal(derive(g, (0, 1))(0.0, 2.0), (1.0, 1.0))
    jitted = lambda a, b: linear(  # noqa: E731
        ls.quaxify(jax.jit(f))(ls.from_linear(a), ls.from_linear(b))
    )
    assert jax.jit(jax.grad(jitted))(0.0, 2.0) == 1.0


def test_logaddexp_recognition_is_by_the_name_in_jax():
    """If JAX moves or renames the function, logaddexp of Logs would silently read plain values."""
    x = ls.from_linear(jnp.array([1.0, 0.0]))
    out = ls.quaxify(lambda x: jnp.logaddexp(jnp.log(x), 0.5))(x)
    assert isinstance(out, ls.Log), "see _LIBRARY in logspace/_quaxify/custom_rules.py"
    np.testing.assert_allclose(out.materialise(), np.logaddexp(np.log([1.0, 1e-300]), 0.5))

    @jax.custom_jvp
    def logaddexp(x, y):
        return x * y

    logaddexp.defjvps(lambda t, out, x, y: t, None)
    out = ls.quaxify(lambda x: logaddexp(jnp.log(x), 0.5))(x)
    np.testing.assert_array_equal(out, [0.0, -np.inf])


def test_other_custom_functions_read_the_plain_value_of_a_log():
    f = lambda x: wrong_cube(jnp.log(x))  # noqa: E731
    assert_same_in_all_modes(f, jnp.array([0.5, 2.5]), modes=reverse_only)


# ------------------------------------------------------------------------------------ custom_vjp


@jax.custom_vjp
def biased_product(x, y):
    return x * y


def _biased_forward(x, y):
    return x * y, (x, y)


def _biased_backward(saved, ct):
    x, y = saved
    return 5 * ct * y, ct * x


biased_product.defvjp(_biased_forward, _biased_backward)


@pytest.mark.parametrize(
    "kinds", [("number", "number"), ("number", "plain"), ("plain", "number"), ("plain", "plain")]
)
def test_custom_vjp_as_in_plain_jax(kinds):
    f = biased_product
    if kinds == ("plain", "plain"):
        # inside a function of numbers, on plain operands only
        f = lambda x, y: linear_times(x, y)  # noqa: E731
        kinds = ("number", "plain")
    assert_same_in_all_modes(f, POINTS, OTHERS, kinds, modes=reverse_only)


def linear_times(x, y):
    return biased_product(y, y + 1) * x


def test_custom_vjp_gets_numbers():
    seen = []

    @jax.custom_vjp
    def f(x):
        return x * x

    def backward(saved, ct):
        seen.append(ct)
        return (5 * ct * saved,)

    f.defvjp(lambda x: (x * x, x), backward)

    def g(a):
        squared = ls.quaxify(f)(number(a, scale=1200))
        return (squared / number(1.0, scale=2400)).to_linear()

    np.testing.assert_allclose(rev(g)(POINTS), 5 * POINTS, rtol=1e-15)
    np.testing.assert_allclose(rev(rev(g))(POINTS), 5.0 + 0 * POINTS, rtol=1e-15)
    np.testing.assert_allclose(jax.jit(fwd(rev(g)))(POINTS), 5.0 + 0 * POINTS, rtol=1e-15)
    assert all(isinstance(ct.value, ls.LogArray) for ct in seen)


@pytest.mark.parametrize("symbolic_zeros", [False, True])
def test_custom_vjp_nondiff_closure_symbolic_zeros_and_none(symbolic_zeros):
    flags = []

    def outer(x, y, w):
        @partial(jax.custom_vjp, nondiff_argnums=(0,))
        def f(n, x, y):
            return x**n * y * w, jnp.sin(x)

        def forward(n, x, y):
            if symbolic_zeros:
                flags.append((x.perturbed, y.perturbed))
                x, y = x.value, y.value
            return f(n, x, y), (x, y, n * 1.0)

        def backward(n, saved, cts):
            x, y, m = saved
            ct, other = cts
            if symbolic_zeros:
                assert type(other) is SymbolicZero
                other = 0.0
            return (10 * ct * m * x ** (n - 1) * y * w + other, None)

        f.defvjp(forward, backward, symbolic_zeros=symbolic_zeros)
        return f(2, x, y)[0]

    def g(a):
        return linear(
            ls.quaxify(outer)(ls.from_linear(a), ls.from_linear(3.0), ls.from_linear(0.5))
        )

    assert jax.grad(g)(2.0) == 60.0
    assert jax.jit(jax.grad(g))(2.0) == 60.0
    assert all(f == (True, False) for f in flags)


@pytest.mark.parametrize("name", [n for n in INSIDE if n != "while"])
def test_custom_vjp_inside_of_transformations(name):
    body = INSIDE[name](lambda v: biased_product(v, v))
    f = lambda a: linear(ls.quaxify(body)(ls.from_linear(a)))  # noqa: E731
    assert_same(f, body, (rev, lambda h: fwd(rev(h))))


@pytest.mark.parametrize("name", TRANSFORMED)
def test_custom_vjp_transformations_around(name):
    inner = jax.jit(biased_product) if name == "jit inside" else biased_product

    def f(a):
        return ls.quaxify(lambda x: inner(x, x * 2))(ls.from_linear(a)).to_linear()

    g = TRANSFORMED[name](f)
    p = TRANSFORMED[name](lambda a: biased_product(a, a * 2))
    assert_same(g, p, (rev, lambda h: fwd(rev(h))))


def test_custom_vjp_results_of_several_kinds():
    @jax.custom_vjp
    def f(x, n):
        return {"square": x * x, "sign": jnp.sign(x) * 1.0, "count": n + 1}

    f.defvjp(
        lambda x, n: (f(x, n), x),
        lambda x, ct: (ct["square"] * x + 3 * ct["sign"], None),
    )

    def g(a):
        out = ls.quaxify(f)(ls.from_linear(a), jnp.asarray(3))
        return linear(out["square"]) + linear(out["sign"])

    assert jax.grad(g)(2.0) == 5.0
    assert jax.jit(jax.grad(jax.jit(g)))(2.0) == 5.0


def test_custom_vjp_forward_mode_is_refused_as_in_jax():
    with pytest.raises(TypeError, match="forward-mode"):
        fwd(lambda a: linear(ls.quaxify(biased_product)(ls.from_linear(a), a)))(1.0)


def test_custom_vjp_on_a_tangent_is_refused():
    @jax.custom_jvp
    def f(x):
        return x

    f.defjvp(lambda primals, tangents: (primals[0], biased_product(tangents[0], primals[0])))
    with pytest.raises(TypeError, match="custom_vjp"):
        jax.grad(lambda a: linear(ls.quaxify(f)(ls.from_linear(a))))(1.0)


# --------------------------------------------------------------------------------- plain quax


def test_plain_quax_gives_the_value_and_refuses_to_differentiate():
    f = lambda a: quax.quaxify(kinked)(ls.from_linear(a), ls.from_linear(a)).to_linear()  # noqa: E731
    np.testing.assert_array_equal(f(POINTS), kinked(POINTS, POINTS))
    for derive in (fwd, rev, lambda h: jax.jit(rev(h)), lambda h: fwd(rev(h))):
        with pytest.raises(TypeError):
            derive(f)(POINTS)


def test_plain_quax_refuses_custom_vjp():
    with pytest.raises(NotImplementedError, match="custom_vjp"):
        quax.quaxify(biased_product)(ls.from_linear(POINTS), POINTS)


# ------------------------------------------------------------------------- derivatives that are 0


ZERO_DERIVATIVE = {
    "stop_gradient": lax.stop_gradient,
    "round": jnp.round,
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "sign": lambda x: jnp.sign(x) * 1.0,
    "comparison": lambda x: jnp.where(x > 0.5, 1.0, 2.0),
    "argmax": lambda x: jnp.argmax(x) * jnp.ones(4),
}


@pytest.mark.parametrize("name", ZERO_DERIVATIVE)
def test_derivatives_that_are_zero(name):
    f = ZERO_DERIVATIVE[name]
    g = lambda a: linear(ls.quaxify(f)(ls.from_linear(a)))  # noqa: E731
    np.testing.assert_array_equal(g(POINTS), f(POINTS))
    np.testing.assert_array_equal(rev(g)(POINTS), 0.0)
    np.testing.assert_array_equal(fwd(g)(POINTS), 0.0)


def test_straight_through_estimators():
    f = lambda x: x + lax.stop_gradient(jnp.round(x) - x)  # noqa: E731
    g = lambda a: linear(ls.quaxify(f)(ls.from_linear(a)))  # noqa: E731
    np.testing.assert_array_equal(g(POINTS), jnp.round(POINTS))
    np.testing.assert_array_equal(rev(g)(POINTS), 1.0)
    np.testing.assert_array_equal(fwd(g)(POINTS), 1.0)
