"""The rules of users that the tests run, and how their derivatives are compared with plain JAX."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

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


@jax.custom_vjp
def biased_product(x, y):
    return x * y


def _biased_forward(x, y):
    return x * y, (x, y)


def _biased_backward(saved, ct):
    x, y = saved
    return 5 * ct * y, ct * x


biased_product.defvjp(_biased_forward, _biased_backward)
