"""The determinant: its value and its derivatives at every rank, against exact arithmetic."""

from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

import logspace as ls
from logspace.linalg import det, slogdet

from . import exact, matrices

X64 = jax.config.jax_enable_x64
needs_x64 = pytest.mark.skipif(not X64, reason="bounds and matrices of double precision")
full = pytest.mark.full
DOUBLE = float(np.finfo(float).eps)


def plain(a: Any) -> Any:
    return det(a).to_linear()


def value_gradient_and_product(a: Any, d: Any) -> Any:
    """The value, the gradient, and the Hessian times d, forward over reverse."""
    holomorphic = jnp.iscomplexobj(a)
    gradient = jax.grad(plain, holomorphic=holomorphic)
    return plain(a), *jax.jvp(gradient, (a,), (d,))


together = jax.jit(jax.vmap(value_gradient_and_product, (0, None)))


def scale(s: np.ndarray, missing: int) -> float:
    """s[0] times the product of all but the last `missing` singular values.

    It is what an error of eps relative to the largest minor of that order, times s[0] over the
    smallest singular value that stands in it, amounts to; and it makes sense where they vanish.
    """
    kept = np.maximum(s, DOUBLE * s[0])[: max(0, len(s) - missing)]
    return float(s[0] * np.prod(kept)) + 1e-100  # the error of the exact reference


def check(name: str, a: np.ndarray, d: np.ndarray, got: Any) -> None:
    n = len(a)
    s = np.linalg.svd(a, compute_uv=False)
    with mpmath.workprec(exact.BITS):
        value = complex(exact.determinant(exact.matrix(a)))
    bound = 10 * n * DOUBLE
    assert abs(got[0] - value) <= bound * scale(s, 1), (name, "value")
    gradient = exact.gradient(exact.determinant, a)
    assert np.abs(got[1] - gradient).max() <= bound * scale(s, 2), (name, "gradient")
    product = exact.gradient(exact.determinant, a, d)
    size = n * np.abs(d).max()
    assert np.abs(got[2] - product).max() <= bound * size * scale(s, 3), (name, "Hessian")


@needs_x64
@pytest.mark.parametrize("n", [3, pytest.param(4, marks=full), pytest.param(6, marks=full)])
@pytest.mark.parametrize("kind", ["real", pytest.param("complex", marks=full)])
def test_value_gradient_and_hessian(n: int, kind: str, rng: np.random.Generator) -> None:
    """All in one batch, so that regular and singular matrices stand side by side."""
    cases = matrices.hard(n, rng) if kind == "real" else matrices.hard_complex(n, rng)
    d = rng.standard_normal((n, n)) + (0 if kind == "real" else 1j * rng.standard_normal((n, n)))
    got = [np.asarray(x) for x in together(np.array(list(cases.values())), d)]
    for i, (name, a) in enumerate(cases.items()):
        check(name, a, d, [x[i] for x in got])


@pytest.mark.parametrize("n", [2, 3, 5])
def test_integers_are_exactly_singular(n: int, rng: np.random.Generator) -> None:
    """The value to an ulp or so, and an exact zero where it is one by zero or equal lines."""
    a = np.array([matrices.of_integers(n, n, rng) for _ in range(6)])
    a[1, 0] = 0
    a[2, :, 1] = 0
    want = np.array([float(exact.determinant_of_integers(m)) for m in a])
    got = np.asarray(plain(a))
    np.testing.assert_allclose(got, want, rtol=50 * np.finfo(got.dtype).eps)
    assert got[1] == got[2] == 0


@needs_x64
def test_mixtures_of_second_order_agree(rng: np.random.Generator) -> None:
    a = matrices.of_integers(4, 3, rng)

    @jax.jit
    def four(a: Any) -> Any:
        outer, inner = (jax.jacfwd, jax.jacrev), (jax.jacfwd, jax.jacrev)
        return [f(g(plain))(a) for f in outer for g in inner]

    first, *others = four(a)
    want = [
        [exact.gradient(exact.determinant, a, unit(4, i, j)) for j in range(4)] for i in range(4)
    ]
    np.testing.assert_allclose(first, want, atol=1e-12)
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-12)


def unit(n: int, i: int, j: int) -> np.ndarray:
    out = np.zeros((n, n))
    out[i, j] = 1
    return out


@needs_x64
@pytest.mark.parametrize("n", [3, pytest.param(4, marks=full), pytest.param(6, marks=full)])
def test_third_derivatives(n: int, rng: np.random.Generator) -> None:
    ranks = [n, n - 1, n - 2, max(0, n - 3)]
    a = np.array([matrices.of_integers(n, r, rng) for r in ranks])
    d, e = rng.integers(-2, 3, (2, n, n)).astype(float)

    def third(a: Any) -> Any:
        second = lambda m: jax.jvp(jax.grad(plain), (m,), (d,))[1]  # noqa: E731
        return jax.jvp(second, (a,), (e,))[1]

    got = jax.jit(jax.vmap(third))(a)
    for g, m in zip(got, a, strict=True):
        want = exact.gradient(exact.determinant, m, d, e)
        np.testing.assert_allclose(g, want, atol=1e-12 * np.abs(want).max() + 1e-12)


def fourth(a: Any) -> Any:
    f = plain
    for _ in range(4):
        f = lambda m, f=f: jax.jvp(f, (m,), (jnp.eye(len(m)),))[1]  # noqa: E731
    return f(a)


@full
def test_fourth_derivatives_are_right_or_refused() -> None:
    # det(1 + t) = (1 + t)**4
    np.testing.assert_allclose(jax.jit(fourth)(jnp.eye(4)), 24, rtol=1e-4)
    with pytest.raises(NotImplementedError, match="third order.*5 x 5"):
        fourth(jnp.eye(5))


def cofactors(a: np.ndarray) -> np.ndarray:
    """det(a) times the transposed inverse, at 1200 bits: a must be regular."""
    with mpmath.workprec(exact.BITS):
        m = mpmath.matrix(a.tolist())
        k = mpmath.det(m) * mpmath.inverse(m)
        return np.array(k.tolist(), float).T


@needs_x64
@pytest.mark.parametrize(
    ("name", "n"),
    [
        pytest.param("kahan", 24, marks=full),
        pytest.param("kahan", 90, marks=full),
        pytest.param("wilkinson", 60, marks=full),
        ("wilkinson, perturbed", 12),
        pytest.param("wilkinson, perturbed", 20, marks=full),
        pytest.param("wilkinson, perturbed", 40, marks=full),
    ],
)
def test_hidden_ranks_are_detected(name: str, n: int, rng: np.random.Generator) -> None:
    """Partial pivoting alone is wrong by up to 2**n: the value, and the cofactors."""
    a = matrices.kahan(n) if name == "kahan" else matrices.wilkinson(n)
    if "perturbed" in name:
        a = a + 0.1 * rng.standard_normal((n, n))
    batch = np.array([np.eye(n), a, rng.standard_normal((n, n))])

    @jax.jit
    def cofactors_of(a: Any) -> Any:
        return jax.vmap(ls.grad(det))(ls.from_linear(a))

    got, value = cofactors_of(batch), jax.jit(det)(batch)
    for g, v, m in zip(got, value, batch, strict=True):
        want = cofactors(m)
        s = np.linalg.svd(m, compute_uv=False)
        relative = 10 * n * DOUBLE * s[0] / s[-2]
        largest = np.abs(want).max()
        assert np.abs((g / largest).to_linear() - want / largest).max() <= relative
        with mpmath.workprec(exact.BITS):
            exact_value = float(mpmath.det(mpmath.matrix(m.tolist())))
        bound = 10 * n * DOUBLE * s[0] * np.prod(s[:-1])
        assert abs(float(v) - exact_value) <= bound


@pytest.mark.parametrize("n", [0, 1, 2, pytest.param(500, marks=full), 100])
def test_no_overflow(n: int, rng: np.random.Generator) -> None:
    """Entries of size e**1000, also by rows and columns apart."""
    a = rng.standard_normal((n, n))
    rows, columns = (1000 * rng.standard_normal(n) for _ in range(2))
    x = ls.LogArray(np.sign(a), np.log(np.abs(a)) + rows[:, None] + columns)
    sign, logabs = slogdet(x)
    want = np.linalg.slogdet(a)
    eps = np.finfo(logabs.dtype).eps
    # each logarithm that went in was rounded at its own size
    assert sign == want[0]
    np.testing.assert_allclose(
        logabs, want[1] + rows.sum() + columns.sum(), atol=(3000 * (n + 1) + 1e4) * eps
    )


def test_terms_that_row_and_column_maxima_would_lose() -> None:
    """Entries 1 hide what decides: det = -exp(-1000) + exp(-1001)."""
    logabs = np.array([[0.0, 0, 0], [0, -1000, -1000], [0, -1000, -1001]])
    sign, got = slogdet(ls.LogArray(np.ones((3, 3)), logabs))
    np.testing.assert_allclose(got, -1000 + np.log1p(-np.exp(-1)), rtol=1e-6 if not X64 else 1e-13)
    assert sign == 1


@needs_x64
def test_laplacian_of_a_sum_of_determinants(rng: np.random.Generator) -> None:
    """As a wavefunction has it: one determinant regular, one of two equal orbitals."""
    w = rng.standard_normal((2, 4, 4))
    w[1, :, 3] = w[1, :, 2]

    def log_psi(r: Any) -> Any:
        orbitals = jnp.einsum("dij,kj->dki", jnp.asarray(w), r)
        return det(orbitals).sum().logabs

    def psi(r: Any) -> Any:
        total = mpmath.mpf(0)
        for m in w:
            orbitals = [
                [sum(mpmath.mpf(m[i, j]) * r[k][j] for j in range(4)) for i in range(4)]
                for k in range(4)
            ]
            total += exact.determinant(orbitals)
        return mpmath.log(abs(total))

    r = rng.standard_normal((4, 4))

    @jax.jit
    def laplacian(r: Any) -> Any:
        gradient = jax.grad(log_psi)
        units = jnp.eye(16).reshape(16, 4, 4)
        return jax.vmap(lambda v: jnp.vdot(jax.jvp(gradient, (r,), (v,))[1], v))(units).sum()

    with mpmath.workprec(exact.BITS):
        want = 0.0
        for i in range(4):
            for j in range(4):
                d = exact.matrix(unit(4, i, j))
                centre = exact.matrix(r)
                values = [psi(exact.plus(centre, h, d)) for h in (exact.STEP, 0, -exact.STEP)]
                want += float((values[0] - 2 * values[1] + values[2]) / exact.STEP**2)
    np.testing.assert_allclose(laplacian(r), want, rtol=1e-10)


def test_transformations_agree(rng: np.random.Generator) -> None:
    a = np.array([matrices.of_integers(3, r, rng) for r in (3, 2, 3, 1)])
    single = jax.grad(plain)

    @jax.jit
    def ways(a: Any) -> dict[str, Any]:
        x = ls.from_linear(a)
        return {
            "batch": jax.grad(lambda a: plain(a).sum())(a),
            "nested vmap": jax.vmap(jax.vmap(single))(a.reshape(2, 2, 3, 3)).reshape(4, 3, 3),
            "scan": jax.lax.scan(lambda c, m: (c, single(m)), 0, a)[1],
            "checkpoint": jax.grad(jax.checkpoint(lambda a: plain(a).sum()))(a),
            "quaxify": ls.grad(ls.quaxify(lambda x: det(x).sum()))(x).to_linear(),
        }

    got = ways(a)
    want = np.array([exact.gradient(exact.determinant, m) for m in a])
    for name in got:
        np.testing.assert_allclose(got[name], want, atol=1e-12 if X64 else 1e-3, err_msg=name)


def test_kinds_of_input() -> None:
    assert det(np.eye(3, dtype=int)).dtype == jnp.result_type(float)
    assert det(np.eye(3, dtype=np.float32)).dtype == np.float32
    assert det(np.eye(3, dtype=np.complex64)).dtype == np.complex64
    assert det(np.zeros((2, 0, 0))).tolist() == [1, 1]
    for n in (1, 3):
        assert det(np.zeros((0, n, n))).shape == (0,)
        assert det(ls.zeros((0, n, n))).shape == (0,)
    sign, logabs = slogdet(np.zeros((3, 3)))
    assert (sign, logabs) == (0, -np.inf)
    assert np.isnan(float(det(np.full((3, 3), np.nan))))
    # LAPACK's singular values do not return for these
    assert np.isinf(float(det(np.diag([np.inf, 1.0, 1.0]))))


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (4, 3, 2)])
@pytest.mark.parametrize("function", [det, slogdet])
def test_shapes_that_are_not_square(function: Any, shape: tuple[int, ...]) -> None:
    name = function.__name__
    with pytest.raises(ValueError, match=rf"linalg\.{name} needs square matrices.*got"):
        function(np.ones(shape))
    with pytest.raises(TypeError):
        function("text")
