"""Control flow, the user's own derivative rules, and what stands around logify."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.scipy.special import logsumexp

from logspace._logify import logify

X = np.array([2.0, 0.0, 3.0])
PRODUCT_GRADIENT = np.array([0.0, 6.0, 0.0])


@pytest.fixture(autouse=True)
def _double_precision() -> Any:
    with jax.enable_x64(True):
        yield


def log_at_start_exp_at_end(x: Any) -> Any:
    return lax.scan(lambda c, y: (jnp.exp(jnp.log(c) + jnp.log(y)), None), 1.0, x)[0]


def exp_at_start_log_at_end(x: Any) -> Any:
    return jnp.exp(lax.scan(lambda c, y: (jnp.log(jnp.exp(c) * y), None), 0.0, x)[0])


def carried_log(x: Any) -> Any:
    return jnp.exp(lax.scan(lambda c, y: (c + jnp.log(y), None), 0.0, x)[0])


def scanned_logs(x: Any) -> Any:
    return jnp.exp(lax.scan(lambda c, y: (c + y, None), 0.0, jnp.log(x))[0])


def fori(x: Any) -> Any:
    return jnp.exp(lax.fori_loop(0, 3, lambda i, c: c + jnp.log(x[i]), 0.0))


def branches(x: Any) -> Any:
    return jnp.exp(lax.cond(x[0] > 1, lambda x: jnp.sum(jnp.log(x)), lambda x: x[0] * 3.0, x))


def switch(x: Any) -> Any:
    options = [lambda x: x[0], lambda x: jnp.log(x[0]), lambda x: jnp.sum(jnp.log(x))]
    return jnp.exp(lax.switch(2, options, x))


def checkpointed(x: Any) -> Any:
    return jnp.exp(jax.checkpoint(lambda x: jnp.sum(jnp.log(x)))(x))


def nested_jit(x: Any) -> Any:
    return jnp.exp(jax.jit(lambda x: jax.jit(jnp.log)(x).sum())(x))


def mapped(x: Any) -> Any:
    return jnp.exp(jnp.sum(lax.map(jnp.log, x)))


def vmapped(x: Any) -> Any:
    return jnp.exp(jnp.sum(jax.vmap(jnp.log)(x)))


@pytest.mark.parametrize(
    "fn",
    [log_at_start_exp_at_end, exp_at_start_log_at_end, carried_log, scanned_logs, fori, branches,
     switch, checkpointed, nested_jit, mapped, vmapped],
)  # fmt: skip
def test_control_flow(fn: Any) -> None:
    x = jnp.asarray(X)
    np.testing.assert_allclose(jax.jit(jax.grad(logify(fn)))(x), PRODUCT_GRADIENT)
    np.testing.assert_allclose(jax.grad(logify(jax.jit(fn)))(x), PRODUCT_GRADIENT)
    batch = jnp.stack([x, x + 1])
    np.testing.assert_allclose(
        jax.vmap(jax.grad(logify(fn)))(batch), [PRODUCT_GRADIENT, [4.0, 12.0, 3.0]]
    )


def test_while_in_forward_mode() -> None:
    def fn(x: Any) -> Any:
        def body(state: Any) -> Any:
            i, c = state
            return i + 1, c + jnp.log(x[i])

        return jnp.exp(lax.while_loop(lambda s: s[0] < 3, body, (0, 0.0))[1])

    value, tangent = jax.jvp(logify(fn), (jnp.asarray(X),), (jnp.array([0.0, 1.0, 0.0]),))
    assert (value, tangent) == (0.0, 6.0)


def test_scan_of_logsumexp_over_a_thousand_steps() -> None:
    def fn(x: Any) -> Any:
        step = lambda c, y: (logsumexp(jnp.stack([c, c + y])), None)  # noqa: E731
        return lax.scan(step, jnp.log(x), jnp.full(1000, 3.0))[0]

    value, slope = jax.value_and_grad(logify(fn))(2.0)
    np.testing.assert_allclose(value, np.log(2.0) + 1000 * np.log1p(np.exp(3.0)), rtol=1e-12)
    np.testing.assert_allclose(slope, 0.5, rtol=1e-12)


# The chapter on non-differentiable functions


def test_stop_gradient() -> None:
    fn = logify(lambda x: lax.stop_gradient(jnp.cos(x)) * jnp.sin(x))
    np.testing.assert_allclose(jax.grad(fn)(jnp.pi / 4), 0.5)


def test_straight_through() -> None:
    def straight_through(x: Any) -> Any:
        zero = x - lax.stop_gradient(x)
        return zero + lax.stop_gradient(jnp.round(x))

    value, slope = jax.value_and_grad(logify(lambda x: straight_through(x) * x))(2.7)
    np.testing.assert_allclose([value, slope], [8.1, 5.7])
    assert jax.grad(logify(jnp.round))(2.7) == 0.0


def test_custom_jvp_is_honoured() -> None:
    @jax.custom_jvp
    def rounded(x: Any) -> Any:
        return jnp.round(x)

    rounded.defjvp(lambda p, t: (rounded(*p), t[0]))
    fn = logify(lambda x: jnp.exp(jnp.log(rounded(x))) * x)
    value, slope = jax.value_and_grad(fn)(2.7)
    np.testing.assert_allclose([value, slope], [8.1, 5.7])
    np.testing.assert_allclose(jax.jvp(fn, (2.7,), (1.0,))[1], 5.7)


def test_custom_vjp_is_honoured() -> None:
    @jax.custom_vjp
    def square(x: Any) -> Any:
        return x * x

    square.defvjp(lambda x: (x * x, x), lambda x, g: (7 * g,))
    assert jax.grad(logify(lambda x: jnp.exp(jnp.log(square(x)))))(0.0) == 7.0


# What stands around


def test_derivative_taken_inside_is_that_of_plain_jax() -> None:
    def fn(a: Any) -> Any:
        return jnp.exp(jnp.log(a - 1.0))

    assert np.isnan(logify(jax.grad(fn))(jnp.array(1.0)))


def test_closed_over_singular_constants() -> None:
    zero = jnp.zeros(3)
    fn = logify(lambda x: jnp.exp(jnp.sum(jnp.log(zero + x))))
    np.testing.assert_allclose(jax.grad(fn)(jnp.asarray(X)), PRODUCT_GRADIENT)


def test_closed_over_tracer() -> None:
    def outer(y: Any) -> Any:
        return logify(lambda x: jnp.exp(jnp.log(x) + jnp.log(y)))(2.0)

    assert jax.grad(outer)(0.0) == 2.0


def test_arguments_of_all_kinds() -> None:
    def fn(tree: Any, n: int, name: str, *, flag: bool = True) -> Any:
        assert isinstance(n, int) and name == "a"
        return {"out": jnp.exp(jnp.log(tree[name])) * n if flag else 0.0, "static": "text"}

    out = logify(fn)({"a": jnp.zeros(2), "b": None}, 3, "a", flag=True)
    np.testing.assert_allclose(out["out"], np.zeros(2))
    assert out["static"] == "text"


def test_domain_of_the_logarithm_is_kept() -> None:
    assert np.isnan(logify(lambda x: jnp.exp(jnp.log(x)))(jnp.array(-1.0)))
    assert np.isnan(logify(lambda x: jnp.sqrt(x) ** 2)(jnp.array(-1.0)))
    assert np.isnan(logify(lambda x: jnp.exp(jnp.log(x) - jnp.log(x)))(jnp.array(0.0)))


def test_true_infinities_stay() -> None:
    assert np.isinf(jax.grad(logify(jnp.log))(0.0))
    assert np.isinf(jax.grad(logify(jnp.sqrt))(0.0))
    assert np.isinf(jax.grad(logify(lambda x: jnp.exp(0.5 * jnp.log(x))))(0.0))
    assert not np.isfinite(jax.grad(logify(lambda x: x * jnp.log(x)))(0.0))


def test_exact_to_the_last_bit() -> None:
    x = jnp.asarray(np.random.default_rng(0).uniform(1e-8, 1e8, 1000))
    y = x[::-1]
    for fn, want in [
        (lambda x, y: jnp.exp(jnp.log(x)), x),
        (lambda x, y: jnp.exp(jnp.log(x) + jnp.log(y)), x * y),
        (lambda x, y: jnp.exp(jnp.log(x) - jnp.log(y)), x / y),
        (lambda x, y: jnp.exp(jnp.logaddexp(jnp.log(x), jnp.log(y))), x + y),
        (lambda x, y: jnp.exp(0.5 * jnp.log(x)), jnp.sqrt(x)),
        (lambda x, y: jnp.log(jnp.exp(x)), x),
    ]:
        assert np.array_equal(logify(fn)(x, y), want)


def test_products_of_constants() -> None:
    fns = (
        lambda x: -(jnp.ones_like(x) * jnp.ones_like(x)) * jnp.exp(x),
        lambda x: jnp.ones_like(x) / jnp.ones_like(x) * jnp.exp(x),
        lambda x: jnp.exp(x) * jnp.full_like(x, 2.0) * jnp.full_like(x, 0.5) ** 2,
        lambda x: jnp.log(jnp.ones_like(x) * jnp.ones_like(x)) + jnp.exp(x),
        lambda x: jnp.abs(-jnp.ones_like(x) * 1.0) * jnp.exp(x),
        lambda x: jnp.sign(jnp.ones_like(x) * jnp.ones_like(x)) * jnp.exp(x),
    )

    def everything(of: Any) -> Any:
        return jax.jit(lambda x: [(of(fn)(x), jax.jacfwd(of(fn))(x)) for fn in fns])(
            jnp.array([0.0, 1.0])
        )

    for ours, plain in zip(everything(logify), everything(lambda fn: fn), strict=True):
        for a, b in zip(ours, plain, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-15)


@pytest.mark.parametrize(
    "dtype",
    [
        jnp.float32,
        pytest.param(jnp.complex64, marks=pytest.mark.full),
        jnp.complex128,
        jnp.bfloat16,
    ],
)
def test_other_dtypes(dtype: Any) -> None:
    x = jnp.asarray(X, dtype)
    fn = logify(lambda x: jnp.sum(jnp.exp(jnp.cumsum(jnp.log(x)))).real)
    assert fn(x).dtype == jnp.zeros((), dtype).real.dtype
    if dtype != jnp.bfloat16:
        np.testing.assert_allclose(jax.grad(fn)(x), [1.0, 8.0, 0.0], rtol=1e-6)


def test_without_x64() -> None:
    with jax.enable_x64(False):
        grad = jax.grad(logify(lambda x: jnp.exp(jnp.sum(jnp.log(x)))))(jnp.asarray(X))
        assert grad.dtype == jnp.float32
        np.testing.assert_allclose(grad, PRODUCT_GRADIENT)


@pytest.mark.parametrize("shape", [(0,), (1,), (2, 0)])
def test_no_elements_and_one(shape: tuple[int, ...]) -> None:
    x = jnp.zeros(shape)
    fn = logify(lambda x: jnp.exp(jnp.sum(jnp.log(x))) + jnp.exp(logsumexp(jnp.log(x))))
    want = 1.0 if x.size == 0 else 0.0
    assert fn(x) == want
    np.testing.assert_allclose(jax.grad(fn)(x), np.full(shape, 2.0))


def test_pure_callback() -> None:
    def fn(x: Any) -> Any:
        y = jax.pure_callback(np.cos, jax.ShapeDtypeStruct(x.shape, x.dtype), lax.stop_gradient(x))
        return jnp.sum(jnp.exp(jnp.log(x)) * y)

    np.testing.assert_allclose(jax.grad(logify(fn))(jnp.asarray(X)), np.cos(X))


def test_shard_map_outside() -> None:
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")

    @partial(jax.shard_map, mesh=mesh, in_specs=spec, out_specs=spec)
    def fn(x: Any) -> Any:
        return jax.grad(logify(lambda x: jnp.sum(jnp.exp(jnp.log(x)))))(x)

    np.testing.assert_allclose(fn(jnp.asarray(X)), np.ones(3))


def test_program_without_singularities_is_untouched() -> None:
    def fn(w: Any, x: Any) -> Any:
        h = jnp.tanh(x @ w)
        return jnp.sum(jax.nn.log_softmax(h @ w) * jax.nn.one_hot(1, 4)) + jnp.sum(jax.nn.gelu(h))

    generator = np.random.default_rng(0)
    w, x = (jnp.asarray(generator.normal(size=(4, 4))) for _ in range(2))
    plain, ours = (jax.jit(jax.value_and_grad(f))(w, x) for f in (fn, logify(fn)))
    assert plain[0] == ours[0]
    np.testing.assert_allclose(plain[1], ours[1], rtol=1e-14)


def test_a_constant_mask_in_a_compiled_batch() -> None:
    """The mask is traced there; the case that it selects is known all the same."""

    def f(x: Any) -> Any:
        kept = jnp.where(jnp.array([True, True, True]), jnp.log(x), 0.0)
        return jnp.exp(logsumexp(kept, where=jnp.array([True, True, False])))

    x = jnp.array([[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]])
    gradient = jax.jit(jax.vmap(jax.grad(logify(f))))(x)
    np.testing.assert_allclose(gradient, [[1, 1, 0], [1, 1, 0]], rtol=1e-6)
