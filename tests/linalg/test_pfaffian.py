"""The Pfaffian and its derivatives at every rank, against the expansion along a row."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
from logspace.linalg import det, pfaffian

from . import exact

X64 = jax.config.jax_enable_x64
needs_x64 = pytest.mark.skipif(not X64, reason="bounds of double precision")
full = pytest.mark.full


def plain(a: Any) -> Any:
    return pfaffian(a).to_linear()


def of_antisymmetric_part(a: Any) -> Any:
    n = len(a)
    return exact.pfaffian([[(a[i][j] - a[j][i]) / 2 for j in range(n)] for i in range(n)])


def skew(n: int, rank: int, rng: np.random.Generator) -> np.ndarray:
    """Antisymmetric integers of an even rank."""
    b = rng.integers(-3, 4, (n, rank))
    blocks = np.kron(np.eye(rank // 2, dtype=int), [[0, 1], [-1, 0]])
    return (b @ blocks @ b.T).astype(float) if rank else np.zeros((n, n))


def batch(n: int, rng: np.random.Generator) -> np.ndarray:
    out = [skew(n, rank, rng) for rank in range(0, n + 1, 2)]
    a = rng.standard_normal((n, n))
    out.append(a - a.T)
    a = a - a.T
    a[0] = a[:, 0] = 0
    out.append(a)
    out.append(np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1))
    return np.array(out)


@needs_x64
@pytest.mark.parametrize(
    ("n", "kind"),
    [
        (6, "real"),
        *(pytest.param(n, k, marks=full) for n, k in [(4, "real"), (6, "complex"), (8, "real")]),
    ],
)
def test_value_gradient_and_hessian(n: int, kind: str, rng: np.random.Generator) -> None:
    a, d = batch(n, rng), rng.standard_normal((n, n))
    if kind == "complex":
        a, d = a + 1j * batch(n, rng), d + 1j * rng.standard_normal((n, n))

    @jax.jit
    @jax.vmap
    def together(a: Any) -> Any:
        gradient = jax.grad(plain, holomorphic=kind == "complex")
        return plain(a), *jax.jvp(gradient, (a,), (d,))

    values, gradients, products = (np.asarray(x) for x in together(a))
    for i, m in enumerate(a):
        size = max(1.0, float(np.abs(m).max()) ** (n // 2))
        want = complex(of_antisymmetric_part(exact.matrix(m)))
        assert abs(values[i] - want) <= 1e-14 * size
        gradient = exact.gradient(of_antisymmetric_part, m)
        np.testing.assert_allclose(gradients[i], gradient, atol=1e-14 * size)
        product = exact.gradient(of_antisymmetric_part, m, d)
        np.testing.assert_allclose(products[i], product, atol=1e-13 * size)


def test_its_square_is_the_determinant(rng: np.random.Generator) -> None:
    """And it is the product of every other entry of a tridiagonal matrix."""
    n = 12
    a = rng.standard_normal((3, n, n)) * 1e3
    a = a - np.swapaxes(a, -1, -2)
    pf, d = pfaffian(a), det(a)
    np.testing.assert_allclose((pf * pf / d).to_linear(), 1, rtol=1e-11 if X64 else 1e-3)
    off = rng.standard_normal(n - 1)
    got = pfaffian(np.diag(off, 1) - np.diag(off, -1)) / ls.from_linear(off[::2]).prod()
    np.testing.assert_allclose(got.to_linear(), 1, rtol=1e-12 if X64 else 1e-4)


def test_sizes_and_range(rng: np.random.Generator) -> None:
    assert float(pfaffian(np.zeros((0, 0)))) == 1
    assert float(pfaffian(np.array([[0, 5], [-5, 0]]))) == 5
    odd = skew(5, 4, rng)
    assert float(pfaffian(odd)) == 0
    assert not np.any(jax.grad(plain)(odd))
    a = skew(6, 6, rng)
    scales = 800 * rng.standard_normal(6)
    x = ls.from_linear(a) * ls.exp(scales[:, None] + scales)
    got = pfaffian(x, antisymmetrise=True)
    want = float(exact.pfaffian(exact.matrix(a)))
    assert float(got.sign) == np.sign(want)
    atol = 1e-10 if X64 else 2e-2
    np.testing.assert_allclose(got.logabs, np.log(abs(want)) + scales.sum(), atol=atol)


def test_matrices_that_are_not_antisymmetric() -> None:
    a = np.arange(9.0)[:4].reshape(2, 2)
    with pytest.raises(ValueError, match="antisymmetrise=True"):
        pfaffian(a)
    assert float(pfaffian(a, antisymmetrise=True)) == -0.5
    assert np.isnan(jax.jit(plain)(a))
    assert jax.jit(plain)(jnp.array([[0.0, 2], [-2, 0]])) == 2
    with pytest.raises(ValueError, match=r"linalg\.pfaffian needs square"):
        pfaffian(np.ones((2, 3)))


@full
def test_third_derivatives_are_refused() -> None:
    a = np.kron(np.eye(3), [[0.0, 1], [-1, 0]])

    def third(f: Any) -> Any:
        for _ in range(3):
            f = lambda m, f=f: jax.jvp(f, (m,), (a,))[1]  # noqa: E731
        return f

    with pytest.raises(NotImplementedError, match="second order.*6 x 6"):
        third(plain)(a)
