"""Law 3: first and second derivatives in every mode, at ordinary points and at zeros."""

import jax.numpy as jnp
import numpy as np
import pytest

from tests.cases import CASES
from tests.cases.case import draw, draw_all

from .checks import eps_of, parameters, plain_jitted, seed, window_of
from .derivatives import derivatives, number_function, plain_function


def differentiable(case):
    return case.order > 0 and len(case.numbers) > 0


def _gauges(case, values, rng, reach):
    """Exponents at which the numbers are held: some as plain numbers are, the others anywhere."""
    out = []
    for i in case.numbers:
        shape = np.shape(values[i])
        out.append(rng.integers(-reach, reach + 1, shape) * rng.integers(0, 2, shape))
    return out


def _weights(case, values, rng):
    """Random cotangents for the float results."""
    results = [x for x in _plain_results(case, values) if jnp.issubdtype(x.dtype, jnp.inexact)]
    return [jnp.asarray(_short(rng.normal(size=x.shape)), x.dtype) for x in results]


def _short(x):
    """Of eight bits: conversions to less precision round tangents and cotangents alike."""
    return np.round(x * 64) / 64


def _plain_results(case, values):
    import jax

    return jax.tree.leaves(plain_jitted(case)(*map(jnp.asarray, values)))


def compare(case, dtype, values, rng, reach=30, modes="all", want=None):
    numbers = [jnp.asarray(values[i]) for i in case.numbers]
    directions = [
        jnp.asarray(_short(draw(case.operands[i], rng, dtype)), dtype) for i in case.numbers
    ]
    weights = _weights(case, values, rng)
    if not weights:
        return
    gauges = _gauges(case, values, rng, reach)
    function = number_function(case, values, gauges)
    got = derivatives(function, numbers, directions, weights, case.order, modes)
    if want is None:
        reference = plain_function(case, values)
        want = derivatives(reference, numbers, directions, weights, case.order, "reference")
    else:
        want = want(numbers, directions, weights)
    # a directional derivative is a sum, whose terms may cancel
    summands = {"fwd": "rev", "ff": "fr"}
    for mode, arrays in got.items():
        if mode in summands:
            scale = sum(
                np.sum(np.abs(_finite(x) * np.asarray(u)))
                for x, u in zip(want[summands[mode]], directions, strict=True)
            )
        else:
            scale = max(np.max(np.abs(_finite(x)), initial=0.0) for x in want[mode])
        for a, b in zip(arrays, want[mode], strict=True):
            a, b = np.asarray(a), np.asarray(b)
            # a result of less precision has directional derivatives of its own dtype
            assert a.shape == b.shape, f"{case}, {mode}"
            assert a.dtype == b.dtype or mode in summands, f"{case}, {mode}"
            eps = max(eps_of(dtype), eps_of(a.dtype))
            bound = case.derivative_ulps * eps * max(scale, 1e-30)
            same = (a == b) | (np.abs(_finite(a) - _finite(b)) <= bound)
            same &= np.isfinite(a) == np.isfinite(b)
            assert same.all(), f"{case}, {mode}:\n{a}\n{b}"


def _finite(x):
    x = np.asarray(x)
    return np.where(np.isfinite(x), x, 0)


@pytest.mark.parametrize("case, dtype", parameters(CASES, differentiable, real=7, complex=21))
def test_ordinary_points(case, dtype):
    """Reverse, forward, and forward over reverse."""
    rng = seed(case, dtype)
    compare(case, dtype, draw_all(case, rng, dtype), rng, modes="short")


@pytest.mark.parametrize(
    "case, dtype",
    parameters(CASES, lambda c: differentiable(c) and c.order > 1, real=12, complex=36),
)
def test_all_second_order_modes(case, dtype):
    rng = seed(case, dtype)
    compare(case, dtype, draw_all(case, rng, dtype), rng)


def _zero_patterns(case, values, rng):
    """Operands with one zero each, with all zero, and small integers, which cancel and tie."""
    numbers = case.numbers

    def changed(change):
        return [change(np.array(v)) if i in numbers else v for i, v in enumerate(values)]

    def one_zero(v):
        v.ravel()[rng.integers(v.size)] = 0
        return v

    if case.special_values:  # elementwise: every combination of zero and not zero in one array
        yield changed(lambda v: np.where(rng.integers(0, 2, v.shape), v, np.zeros_like(v)))
        return
    yield changed(one_zero)
    yield changed(np.zeros_like)
    yield changed(lambda v: rng.integers(-1, 2, v.shape).astype(v.dtype))


@pytest.mark.parametrize(
    "case, dtype",
    parameters(
        CASES,
        lambda c: differentiable(c) and c.smooth_at_zero and all(
            np.prod(c.operands[i].shape) for i in c.numbers
        ),
        real=8,
        complex=24,
    ),
)  # fmt: skip
def test_zeros(case, dtype):
    """Where the plain derivatives at zeros are right, they are ours, at every exponent."""
    rng = seed(case, dtype)
    values = draw_all(case, rng, dtype)
    for pattern in _zero_patterns(case, values, rng):
        compare(case, dtype, pattern, rng, modes="short")


@pytest.mark.parametrize(
    "case, dtype", parameters(CASES, lambda c: len(c.at_zero) > 0, real=6, complex=12)
)
def test_known_points(case, dtype):
    """Points at singularities: value, gradient and second derivatives in closed form."""
    rng = seed(case, dtype)
    for point in case.at_zero:
        values = [np.resize(np.array(v, dtype), case.operands[0].shape) for v in point.operands]
        function = number_function(case, values, _gauges(case, values, rng, window_of(dtype) // 4))
        numbers = [jnp.asarray(v) for v in values]
        (got,) = function(numbers)
        want = np.resize(np.array(point.value), got.shape)
        np.testing.assert_allclose(got, want, rtol=4 * eps_of(dtype), err_msg=case.name)
        for k in range(len(numbers)):
            directions = [jnp.full_like(v, i == k) for i, v in enumerate(numbers)]
            order = 1 if point.hessian is None else 2
            found = derivatives(function, numbers, directions, [jnp.ones_like(got)], order)
            if point.gradient is None:
                plain = plain_function(case, values)
                gradient = derivatives(plain, numbers, directions, [jnp.ones_like(got)], 1)["rev"][
                    k
                ]
            else:
                gradient = np.resize(np.array(point.gradient[k]), got.shape)
            _assert_known(found["rev"][k], gradient, dtype, f"{case}, rev")
            _assert_known(found["fwd"][0], np.sum(gradient), dtype, f"{case}, fwd")
            if order == 2:
                second = np.resize(np.array(point.hessian[k]), got.shape)
                for mode in ("fr", "rf", "rr"):
                    _assert_known(found[mode][k], second, dtype, f"{case}, {mode}")
                _assert_known(found["ff"][0], np.sum(second), dtype, f"{case}, ff")


def _assert_known(got, want, dtype, context):
    np.testing.assert_allclose(
        np.asarray(got), want, rtol=50 * eps_of(dtype), atol=50 * eps_of(dtype), err_msg=context
    )
