"""Exchanges of rows and columns, against the determinants and inverses computed afresh."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
from logspace.linalg import det_ratio, update_inverse

X64 = jax.config.jax_enable_x64
TOLERANCE = 1e-12 if X64 else 2e-3


def exchanged(a: np.ndarray, new: np.ndarray, at: Any, axis: int) -> np.ndarray:
    out = a.copy()
    if axis == -2:
        out[at] = new
    else:
        out[:, at] = new
    return out


@pytest.mark.parametrize(
    ("axis", "kind"),
    [(-2, "plain"), (-1, "LogArray"), *(pytest.param(a, k, marks=pytest.mark.full) for a, k in
     [(-2, "LogArray"), (-1, "plain")])],
)  # fmt: skip
def test_ratio_and_inverse(axis: int, kind: str, rng: np.random.Generator) -> None:
    n, at = 5, np.array([3, 1])
    a = rng.standard_normal((n, n)) + 2 * np.eye(n)
    new = rng.standard_normal((2, n) if axis == -2 else (n, 2))
    inverse: Any = np.linalg.inv(a)
    given = ls.from_linear(inverse) if kind == "LogArray" else inverse
    out = update_inverse(given, new, at, axis=axis)
    after = exchanged(a, new, at, axis)
    want = np.linalg.det(after) / np.linalg.det(a)
    np.testing.assert_allclose(out.ratio.to_linear(), want, rtol=TOLERANCE)
    assert isinstance(out.inverse, ls.LogArray) == (kind == "LogArray")
    assert bool(out.regular)
    got = out.inverse.to_linear() if kind == "LogArray" else out.inverse
    np.testing.assert_allclose(got, np.linalg.inv(after), atol=TOLERANCE * 10)


def test_a_node_is_not_divided_by(rng: np.random.Generator) -> None:
    """Exchanging one row meets a node; its gradient is exact, and both rows at once pass it."""
    n = 4
    a = rng.standard_normal((n, n)) + 2 * np.eye(n)
    inverse = np.linalg.inv(a)
    out = update_inverse(inverse, a[1], 0)
    assert not out.regular
    np.testing.assert_array_equal(out.inverse, jnp.asarray(inverse))
    gradient = jax.grad(lambda new: det_ratio(inverse, new, 0).to_linear())(a[1])
    np.testing.assert_allclose(gradient, inverse[:, 0], atol=TOLERANCE)
    both = np.stack([a[1], rng.standard_normal(n)])
    got = det_ratio(inverse, both, np.array([0, 1])).to_linear()
    want = np.linalg.det(exchanged(a, both, [0, 1], -2)) / np.linalg.det(a)
    np.testing.assert_allclose(got, want, atol=TOLERANCE)


def test_batches_and_negative_places(rng: np.random.Generator) -> None:
    n = 4
    a = rng.standard_normal((3, n, n)) + 2 * np.eye(n)
    inverse, new = np.linalg.inv(a), rng.standard_normal((3, 1, n))
    at = np.array([[0], [2], [-1]])
    got = det_ratio(inverse, new, at).to_linear()
    afresh = [exchanged(m, r, p, -2) for m, r, p in zip(a, new, at, strict=True)]
    np.testing.assert_allclose(got, np.linalg.det(afresh) / np.linalg.det(a), rtol=TOLERANCE)
    mapped = jax.vmap(det_ratio)(inverse, new, at).to_linear()
    np.testing.assert_allclose(mapped, got, rtol=TOLERANCE)


@pytest.mark.parametrize(
    ("new", "at", "axis", "error", "text"),
    [
        (np.ones((2, 3)), np.array([0]), -2, ValueError, r"rows of shape \(\.\.\., 1, 3\)"),
        (np.ones((2, 3)), np.array([0, 1]), -1, ValueError, r"columns of shape \(\.\.\., 3, 2\)"),
        (np.ones((2, 3)), np.array([0, 1]), 0, ValueError, "axis -2"),
        (np.ones(3), 1.5, -2, TypeError, "integers"),
    ],
)
def test_errors(new: Any, at: Any, axis: int, error: Any, text: str) -> None:
    for function in (det_ratio, update_inverse):
        with pytest.raises(error, match=f"{function.__name__} needs.*{text}"):
            function(np.eye(3), new, at, axis=axis)
