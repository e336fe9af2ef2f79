"""Contractions: every certificate and the exact form, against mpmath and term-by-term sums.

Small contractions are formed at once; here also those take the way of large ones.
"""

import functools

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from logspace import _numerics as num
from logspace._numerics import Scaled, contraction
from logspace._numerics.contraction_axes import Axes

MATMUL = (((1,), (0,)), ((), ()))
SHAPES = ((12, 9), (9, 7))
LIMIT = num.LIMIT
X64 = jax.config.jax_enable_x64
REAL = [np.float64, np.float32] if X64 else [np.float32]
COMPLEX = [np.complex128, np.complex64] if X64 else [np.complex64]


@pytest.fixture(autouse=True)
def _no_contraction_is_small(monkeypatch):
    monkeypatch.setattr(contraction, "_FEW", 0)


def draw(rng, shape, dtype, reach=0):
    s = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        s = s + 1j * rng.normal(size=shape)
    e = rng.integers(-reach, reach + 1, shape)
    return s.astype(dtype), e.astype(np.int32)


def spread(reach):
    def operands(rng, dtype):
        return draw(rng, SHAPES[0], dtype, reach), draw(rng, SHAPES[1], dtype, reach)

    return operands


def gauge(rng, dtype):
    """Powers of two along the contracted index that undo each other."""
    (s, e), (t, f) = spread(0)(rng, dtype)
    g = rng.integers(-3000, 3000, e.shape[1]).astype(np.int32)
    return (s, e + g), (t, f - g[:, None])


def zeros(rng, dtype):
    """Zero rows, columns and blocks, one of them at another scale."""
    (s, e), (t, f) = spread(0)(rng, dtype)
    s[3], s[:, 2], t[:4] = 0, 0, 0
    s[:6, :5], s[6:, 5:] = 0, 0
    e[6:] += 5000
    return (s, e), (t, f)


def cancelling(rng, dtype):
    """The terms come in pairs that undo each other, exactly."""
    (s, e), (t, f) = spread(3)(rng, dtype)
    s[:, 4:8], e[:, 4:8], s[:, 8] = s[:, :4], e[:, :4], 0
    t[4:8], f[4:8] = -t[:4], f[:4]
    return (s, e), (t, f)


def dead(rng, dtype):
    """Nothing but zeros, at scales far apart."""
    (s, e), y = draw(rng, SHAPES[0], dtype, 3000), draw(rng, SHAPES[1], dtype, 0)
    return (0 * s, e), y


def vanishing(rng, dtype):
    """Zeros of the smallest scale, as exp(-inf) gives them, beside ordinary numbers."""
    (s, e), y = spread(0)(rng, dtype)
    s[:6, :5], e[:6, :5] = 0, -LIMIT
    return (s, e), y


OPERANDS = {
    "ordinary": spread(0),
    "narrow": spread(8),
    "wide": spread(430),
    "far apart": spread(7000),
    "gauge": gauge,
    "zeros": zeros,
    "cancelling": cancelling,
    "dead": dead,
    "vanishing": vanishing,
}
#: kind of plan in float64, by which a test knows that its case is what it says
KINDS = {
    "ordinary": contraction._RAW,
    "narrow": contraction._SCALED,
    "far apart": contraction._EXACT,
    "gauge": contraction._SCALED,
    "cancelling": contraction._SCALED,
    "vanishing": contraction._SCALED,
}


def exact(s, e):
    out = np.empty(s.shape, object)
    for i in np.ndindex(s.shape):
        out[i] = mpmath.ldexp(mpmath.mpc(complex(s[i])).real, int(e[i]))
        if np.iscomplexobj(s):
            out[i] += 1j * mpmath.ldexp(mpmath.mpc(complex(s[i])).imag, int(e[i]))
    return out


@functools.cache
def jitted(dtype):  # a function of its own for each dtype, traced without the shortcut
    def product(x, y):
        axes = Axes.of(MATMUL, x.exponent.shape, y.exponent.shape)
        return num.dot_general(x, y, MATMUL), contraction._plan(x, y, axes)[1].kind

    return jax.jit(product)


def assert_exact(name, dtype, rng):
    x, y = OPERANDS[name](rng, dtype)
    out, kind = jitted(np.dtype(dtype).name)(Scaled(*x), Scaled(*y))
    if np.dtype(dtype) == np.float64 and name in KINDS:
        assert kind == KINDS[name], name
    a, b = exact(*x), exact(*y)
    want, terms = a @ b, abs(a) @ abs(b)
    eps = float(np.finfo(dtype).eps)
    for got, w, t in zip(*map(np.ravel, (exact(*map(np.asarray, out)), want, terms)), strict=True):
        assert abs(got - w) <= 4 * eps * t, name


@pytest.mark.parametrize(
    "dtype",
    [*REAL, *(pytest.param(t, marks=pytest.mark.full) for t in COMPLEX)],
    ids=lambda t: np.dtype(t).name,
)
def test_values(dtype, rng):
    for name in OPERANDS:
        assert_exact(name, dtype, rng)


def functional(xs, ys, xe, ye, w, scale):
    """A linear function of the outputs, read at given exponents."""
    out = num.dot_general(Scaled(xs, xe), Scaled(ys, ye), MATMUL)
    return jnp.sum(jnp.real(w * num.scale_by(out.significand, out.exponent - scale)))


def derivatives(xs, ys, xe, ye, w, scale, u, v):
    def along(f):
        return lambda x, y: jax.jvp(f, (x, y), (u, v))[1]

    f = lambda x, y: functional(x, y, xe, ye, w, scale)  # noqa: E731
    gradient = jax.grad(f, (0, 1))
    product = lambda x, y: sum(  # noqa: E731
        jnp.sum(jnp.real(g * d)) for g, d in zip(gradient(x, y), (u, v), strict=True)
    )
    return {
        "reverse": gradient(xs, ys),
        "forward": along(f)(xs, ys),
        "forward over reverse": along(gradient)(xs, ys),
        "reverse over reverse": jax.grad(product, (0, 1))(xs, ys),
        "forward over forward": along(along(f))(xs, ys),
    }


@pytest.mark.parametrize(
    "dtype",
    [REAL[0], *(pytest.param(t, marks=pytest.mark.full) for t in (*REAL[1:], *COMPLEX))],
    ids=lambda t: np.dtype(t).name,
)
def test_derivatives(dtype, rng, monkeypatch):
    """All modes to second order equal those of products and sums, formed at once."""
    by_certificate = jax.jit(derivatives)
    at_once = jax.jit(lambda *operands: derivatives(*operands))
    cases = {}
    for name, make in OPERANDS.items():
        (xs, xe), (ys, ye) = make(rng, dtype)
        # the scale of each output, as if nothing was zero
        wide = np.max(xe[:, :, None].astype(np.int64) + ye, axis=1)
        w, u, v = (draw(rng, a.shape, dtype)[0] for a in (wide, xs, ys))
        cases[name] = (xs, ys, xe, ye, w, wide.astype(np.int32), u, v)
    got = {name: by_certificate(*operands) for name, operands in cases.items()}
    monkeypatch.setattr(contraction, "_FEW", 10**9)
    for name, operands in cases.items():
        want = at_once(*operands)
        for mode in want:
            pairs = zip(jax.tree.leaves(got[name][mode]), jax.tree.leaves(want[mode]), strict=True)
            for a, b in pairs:
                scale = np.max(np.abs(b), initial=0)
                np.testing.assert_allclose(
                    a, b, rtol=0, atol=200 * np.finfo(dtype).eps * scale, err_msg=f"{name}, {mode}"
                )


def test_one_decision_for_a_batch(rng):
    """vmap over samples of different kinds, and its gradient, are those of the samples."""
    kinds = [spread(0), spread(7000), zeros]
    drawn = [make(rng, REAL[0]) for make in kinds]
    xs, xe, ys, ye = (
        jnp.stack([operands[i][j] for operands in drawn]) for i in (0, 1) for j in (0, 1)
    )
    w = jnp.ones((12, 7))

    def f(xs, xe, ys, ye):
        scale = jnp.max(xe[:, :, None] + ye, axis=1)
        return functional(xs, ys, xe, ye, w, scale)

    both = jax.jit(jax.vmap(jax.value_and_grad(f, (0, 2))))
    values, gradients = both(xs, xe, ys, ye)
    one = jax.jit(jax.value_and_grad(f, (0, 2)))
    for i in range(3):
        value, gradient = one(xs[i], xe[i], ys[i], ye[i])
        eps = np.finfo(REAL[0]).eps
        np.testing.assert_allclose(values[i], value, rtol=500 * eps)
        for a, b in zip(gradients, gradient, strict=True):
            np.testing.assert_allclose(a[i], b, rtol=0, atol=500 * eps * np.max(np.abs(b)))


AXES = [(((2, 0), (1, 3)), ((1,), (2,))), (((), ()), ((0,), (2,))), (((3,), (0,)), ((), ()))]


@pytest.mark.full
@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("reach", [0, 8, 200, 430] if X64 else [0, 8, 30])
def test_axes_in_any_order(axes, reach, rng):
    """Contracted and batch axes in places and orders of their own, each certificate in turn."""
    (contracted_x, contracted_y), (batch_x, batch_y) = axes
    sizes_x, sizes_y = [4, 3, 5, 2], [2, 2, 2, 2]
    for a, b in zip((*contracted_x, *batch_x), (*contracted_y, *batch_y), strict=True):
        sizes_y[b] = sizes_x[a]
    (s, e), (t, f) = (draw(rng, sizes, REAL[0], reach) for sizes in (sizes_x, sizes_y))
    out = num.dot_general(Scaled(s, e), Scaled(t, f), axes)
    want = jax.lax.dot_general(np.ldexp(s, e), np.ldexp(t, f), axes)
    terms = jax.lax.dot_general(np.ldexp(abs(s), e), np.ldexp(abs(t), f), axes)
    np.testing.assert_array_less(abs(num.to_linear(out) - want), 50 * np.finfo(REAL[0]).eps * terms)


def test_zeros_of_a_larger_scale_that_meet_zeros():
    """A column of zeros of scale 1 against a row of them, beside entries of 2**-4328: 0 * inf."""
    rng, tolerance = np.random.default_rng(0), 1e-11 if X64 else 1e-4
    s, t, ds, dt = (rng.normal(size=(16, 16)) for _ in range(4))
    s[:, 3], t[3] = 0, 0
    f = np.full((16, 16), -4328)
    f[3] = 0
    e, f = jnp.zeros((16, 16), jnp.int32), jnp.asarray(f, jnp.int32)

    def product(s, t):
        out = num.dot_general(Scaled(s, e), Scaled(t, f), (((1,), (0,)), ((), ())))
        return out.significand, out.exponent

    @jax.jit
    def derivatives(s, t):
        value, tangent, exponent = jax.jvp(product, (s, t), (ds, dt), has_aux=True)
        return value, tangent, exponent, jax.vjp(lambda *a: product(*a)[0], s, t)[1](value)

    value, tangent, exponent, (to_s, _) = derivatives(s, t)
    others = [k for k in range(16) if k != 3]
    scale = 2.0 ** (exponent + 4328)
    np.testing.assert_allclose(
        value * scale, s[:, others] @ t[others], rtol=tolerance, atol=tolerance
    )
    expected = ds[:, others] @ t[others] + s[:, others] @ dt[others]
    np.testing.assert_allclose(tangent * scale, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(to_s, (value / scale) @ t.T, rtol=tolerance, atol=tolerance)
