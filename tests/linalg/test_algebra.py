"""Inverses, solutions and products of matrices whose entries span thousands of nats."""

from typing import Any

import jax
import numpy as np
import pytest

import logspace as ls
from logspace import linalg

X64 = jax.config.jax_enable_x64
# a scale e**5000 was itself rounded: 5000 eps
TOLERANCE = 1e-10 if X64 else 3e-2
full = pytest.mark.full


@pytest.fixture
def scaled(rng: np.random.Generator) -> Any:
    """(a, exp(u_i + v_j) * a, exp(u), exp(v)), with scales over e**+-2500 each."""
    n = 5
    a = rng.standard_normal((n, n)) + 3 * np.eye(n)
    u, v = (ls.exp(rng.uniform(-2500, 2500, n)) for _ in range(2))
    return a, ls.from_linear(a) * u[:, None] * v, u, v


def test_inverse(scaled: Any) -> None:
    a, x, u, v = scaled
    got = linalg.inv(x) * v[:, None] * u
    np.testing.assert_allclose(got.to_linear(), np.linalg.inv(a), atol=TOLERANCE)


@pytest.mark.parametrize("assumption", ["general", "positive"])
def test_solution(scaled: Any, assumption: str, rng: np.random.Generator) -> None:
    """Right-hand sides of very different scales, and their derivatives."""
    a, x, u, v = scaled
    if assumption == "positive":
        a, v = a @ a.T, u
        x = ls.from_linear(a) * u[:, None] * u
    b = rng.standard_normal((len(a), 2))
    scales = ls.exp(np.array([3000.0, -3000.0]))
    got = linalg.solve(x, ls.from_linear(b) * u[:, None] * scales, assume_a=assumption)
    want = np.linalg.solve(a, b)
    np.testing.assert_allclose((got * v[:, None] / scales).to_linear(), want, atol=TOLERANCE * 10)


@full
def test_derivatives_of_the_inverse(scaled: Any) -> None:
    a, x, u, v = scaled
    gradient = ls.grad(lambda x: linalg.inv(x)[0, 1] * v[0] * u[1])(x) * u[:, None] * v
    w = np.linalg.inv(a)
    np.testing.assert_allclose(gradient.to_linear(), -np.outer(w[0], w[:, 1]), atol=TOLERANCE)


def test_vectors_and_batches(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((2, 3, 3)) + 3 * np.eye(3), rng.standard_normal((3, 1))
    tolerance = 1e-13 if X64 else 1e-4
    got = linalg.solve(a[0], b[:, 0])
    np.testing.assert_allclose(got.to_linear(), np.linalg.solve(a[0], b[:, 0]), atol=tolerance)
    got = linalg.solve(a, b)
    assert got.shape == (2, 3, 1)
    np.testing.assert_allclose(got.to_linear(), np.linalg.solve(a, b), atol=tolerance)
    assert linalg.inv(np.zeros((0, 3, 3))).shape == (0, 3, 3)
    assert linalg.solve(np.zeros((0, 0)), np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("power", [0, 1, 5, -2])
def test_matrix_power(power: int, rng: np.random.Generator) -> None:
    a = rng.standard_normal((3, 3)) + 2 * np.eye(3)
    got = linalg.matrix_power(a, power).to_linear()
    np.testing.assert_allclose(got, np.linalg.matrix_power(a, power), rtol=1e-11 if X64 else 1e-3)


@full
def test_a_power_far_beyond_floats() -> None:
    got = linalg.matrix_power(np.array([[1.0, 1], [1, 0]]), 10**6)[0, 1]
    golden = (1 + np.sqrt(5)) / 2
    want = 1e6 * np.log(golden) - np.log(5) / 2  # Fibonacci numbers
    np.testing.assert_allclose(got.logabs, want, rtol=1e-13 if X64 else 1e-6)


@pytest.mark.parametrize("order", [None, "nuc", 2, -2, 1, pytest.param(np.inf, marks=full)])
def test_norm(order: Any, rng: np.random.Generator) -> None:
    a = rng.standard_normal((3, 4))
    x = ls.from_linear(a) * ls.exp(2000.0)
    got = (linalg.norm(x, order) / ls.exp(2000.0)).to_linear()
    np.testing.assert_allclose(got, np.linalg.norm(a, order), rtol=1e-11 if X64 else 1e-3)


def test_trace_and_kron(rng: np.random.Generator) -> None:
    a, b = rng.standard_normal((3, 3)), rng.standard_normal((2, 2))
    x = ls.from_linear(a) * ls.exp(3000.0)
    rtol = 1e-10 if X64 else 1e-2
    np.testing.assert_allclose(
        (linalg.trace(x) / ls.exp(3000.0)).to_linear(), np.trace(a), rtol=rtol
    )
    np.testing.assert_allclose(linalg.trace(a, offset=1).to_linear(), np.trace(a, 1), rtol=1e-5)
    got = (linalg.kron(x, b) / ls.exp(3000.0)).to_linear()
    np.testing.assert_allclose(got, np.kron(a, b), rtol=rtol)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: linalg.inv(np.ones((2, 3))), ValueError, "inv needs square"),
        (lambda: linalg.solve(np.eye(3), np.ones(2)), ValueError, r"b of shape \(3,\)"),
        (lambda: linalg.solve(np.eye(3), np.ones(3), assume_a="sym"), ValueError, "'positive'"),
        (lambda: linalg.matrix_power(np.eye(3), 0.5), TypeError, "Python integer"),
        (lambda: linalg.trace(np.ones(3)), ValueError, "trace needs matrices"),
        (lambda: linalg.inv("text"), TypeError, "text"),
    ],
)
def test_errors(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        call()
