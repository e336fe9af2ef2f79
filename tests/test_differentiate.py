"""Derivatives of numbers, against JAX's own on plain arrays, closed forms beyond them."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
import logspace.numpy as lnp

BIG = 3000.0
A = np.array([0.5, -1.25, 2.0])
B = np.array([1.5, 0.75, -3.0])


def plain(tree: Any) -> Any:
    is_number = lambda x: isinstance(x, ls.LogArray)  # noqa: E731
    return jax.tree.map(lambda x: x.to_linear() if is_number(x) else x, tree, is_leaf=is_number)


def close(got: Any, expected: Any, rtol: float = 1e-13) -> None:
    """Same pytree; dtypes, shapes and values of the leaves."""
    got = plain(got)
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for ours, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-14)


def f(a: Any, b: Any) -> Any:
    """Of plain arrays and of numbers, through the operators that both have."""
    return ((a * b + b**2 * a**3) / (a**2 + 2.0)).sum()


@pytest.mark.parametrize("argnums", [0, 1, -1, (0,), (0, 1), (1, 0), (-1, 0), [0, 1]])
@pytest.mark.parametrize("kind", [jnp.asarray, ls.from_linear])
def test_grad(argnums: Any, kind: Any) -> None:
    a, b = jnp.asarray(A), jnp.asarray(B)
    argnums_of_jax = tuple(argnums) if isinstance(argnums, list) else argnums
    expected = jax.value_and_grad(f, argnums_of_jax)(a, b)
    got = ls.value_and_grad(f, argnums)(kind(A), kind(B))
    assert all(
        isinstance(g, ls.LogArray)
        for g in jax.tree.leaves(got[1], is_leaf=lambda x: isinstance(x, ls.LogArray))
    )
    assert type(got[0]) is type(f(kind(A), kind(B)))
    close(got, expected)
    close(ls.grad(f, argnums)(kind(A), kind(B)), expected[1])


def test_mixed_arguments() -> None:
    expected = jax.grad(f, (0, 1))(jnp.asarray(A), jnp.asarray(B))
    close(ls.grad(f, (0, 1))(ls.from_linear(A), B), expected)
    close(ls.grad(f, (0, 1))(A, ls.from_linear(B)), expected)


def test_pytrees_keywords_and_auxiliary_output() -> None:
    def g(tree: Any, *, power: int, names: Any = None) -> Any:
        x, (y, _) = tree["x"], tree["rest"]
        return (x**power * y).sum(), {"x": x * 2, "power": power}

    a, b = jnp.asarray(A), jnp.asarray(B)
    tree = {"x": a, "rest": (b, None)}
    numbers = {"x": ls.from_linear(A), "rest": (b, None)}
    expected = jax.grad(g, has_aux=True)(tree, power=3)
    grads, aux = ls.grad(g, has_aux=True)(numbers, power=3, names=None)
    close(grads, expected[0])
    close(aux["x"], expected[1]["x"])
    (value, aux), grads = ls.value_and_grad(g, has_aux=True)(numbers, power=2)
    close(((value, aux["x"]), grads["x"]), ((a**2 @ b, a * 2), 2 * a * b))
    close(ls.grad(lambda x: (x**2).sum())(ls.zeros(0)), jnp.zeros(0))


# ------------------------------------------------------------------------ complex numbers


def test_conjugation_is_that_of_jax() -> None:
    z = jnp.array([1.0 + 2.0j, -0.5j])
    real = lambda z: (abs(z**2) ** 2).sum() + (z * 1j).real.sum()  # noqa: E731
    close(ls.grad(real)(z), jax.grad(real)(z))
    close(ls.grad(real)(ls.from_linear(z)), jax.grad(real)(z))
    holomorphic = lambda z: (z**3 * (1 - 1j)).sum()  # noqa: E731
    expected = jax.grad(holomorphic, holomorphic=True)(z)
    close(ls.grad(holomorphic, holomorphic=True)(z), expected)
    close(ls.grad(holomorphic, holomorphic=True)(ls.from_linear(z)), expected)


def test_real_parameters_of_a_complex_result() -> None:
    psi = lambda t: (ls.exp(1j * t * t) * (2 + 1j)).sum()  # noqa: E731
    t = jnp.array([0.3, -0.7])
    expected = 2j * t * jnp.exp(1j * t**2) * (2 + 1j)
    close(ls.grad(psi)(t), expected)
    close(ls.jacobian(psi)(t), expected)
    second = jnp.diag((2j - 4 * t**2) * jnp.exp(1j * t**2) * (2 + 1j))
    close(ls.hessian(psi)(t), second)
    value, tangent = ls.jvp(psi, (t,), (jnp.array([1.0, 2.0]),))
    close(tangent, (expected * jnp.array([1.0, 2.0])).sum())


def test_complex_conventions_of_vjp_and_jvp() -> None:
    z, ct, dz = jnp.array([1.0 + 2.0j]), jnp.array([0.5 - 1.0j]), jnp.array([2.0 + 0.5j])
    g = lambda z: z * z * 1j + abs(z)  # noqa: E731
    for argument in (z, ls.from_linear(z)):
        out, pullback = ls.vjp(g, argument)
        expected_out, expected_pullback = jax.vjp(g, z)
        close(out, expected_out)
        close(pullback(ct), expected_pullback(ct))
        close(pullback(ls.from_linear(ct)), expected_pullback(ct))
        close(ls.jvp(g, (argument,), (dz,)), jax.jvp(g, (z,), (dz,)))


# ---------------------------------------------------------------------- jvp, vjp, jacobian


def test_vjp_and_jvp() -> None:
    g = lambda a, b: {"p": a * b, "q": (a**2).sum()}  # noqa: E731
    a, b = jnp.asarray(A), jnp.asarray(B)
    ct = {"p": jnp.array([1.0, 2.0, 0.0]), "q": jnp.asarray(-1.0)}
    out, pullback = jax.vjp(g, a, b)
    tangents = (b, a)
    for args in ((ls.from_linear(A), b), (a, ls.from_linear(B)), (a, b)):
        ours, our_pullback = ls.vjp(g, *args)
        close(ours, out)
        close(our_pullback(ct), pullback(ct))
        close(our_pullback({"p": ls.from_linear(ct["p"]), "q": -1.0}), pullback(ct))
        close(ls.jvp(g, args, tangents), jax.jvp(g, (a, b), tangents))
    out, _, aux = ls.vjp(lambda a: (a * 2, a), ls.from_linear(A), has_aux=True)
    close((out, aux), (2 * a, a))
    out, tangent, aux = ls.jvp(lambda a: (a * 2, a), (ls.from_linear(A),), (b,), has_aux=True)
    close((out, tangent, aux), (2 * a, 2 * b, a))


@pytest.mark.parametrize(
    "argnums", [-1, *(pytest.param(n, marks=pytest.mark.full) for n in (0, (0, 1)))]
)
def test_jacobian_and_hessian(argnums: Any) -> None:
    g = lambda a, b: {"p": a * b[:2], "q": (a**2).sum() * b}  # noqa: E731
    a, b = jnp.asarray(A[:2]), jnp.asarray(B)
    numbers = ls.from_linear(a), ls.from_linear(b)
    close(ls.jacobian(g, argnums)(*numbers), jax.jacfwd(g, argnums)(a, b))
    close(ls.hessian(g, argnums)(numbers[0], b), jax.hessian(g, argnums)(a, b))
    both = ls.jacobian(lambda a, b: (g(a, b), a), argnums, has_aux=True)(*numbers)
    close(both, (jax.jacfwd(g, argnums)(a, b), a))


def test_holomorphic_jacobian() -> None:
    z = jnp.array([1.0 + 2.0j, 0.5j])
    g = lambda z: z**3  # noqa: E731
    close(ls.jacobian(g, holomorphic=True)(ls.from_linear(z)), jax.jacfwd(g, holomorphic=True)(z))
    expected = jax.hessian(lambda z: (z**3).sum(), holomorphic=True)(z)
    got = ls.hessian(lambda z: (z**3).sum(), holomorphic=True)(ls.from_linear(z))
    close(got, expected)


# ------------------------------------------------------------------- beyond floats, at zeros


@pytest.mark.parametrize("log", [BIG, -BIG])
def test_beyond_the_range_of_floats(log: float) -> None:
    x = ls.exp(jnp.array([log, log + 1.0]))
    gradient = ls.grad(lambda x: (x**3).sum())(x)
    np.testing.assert_allclose(gradient.logabs, math.log(3) + 2 * x.logabs, rtol=1e-14)
    gradient = ls.grad(lambda t: ls.exp(t).sum())(jnp.array([log, log + 1.0]))
    np.testing.assert_allclose(gradient.logabs, [log, log + 1.0])
    hessian = ls.hessian(lambda x: x.prod())(x)
    np.testing.assert_allclose(hessian.to_linear(), [[0.0, 1.0], [1.0, 0.0]])
    hessian = ls.hessian(lambda x: (x**3).sum())(x)
    np.testing.assert_allclose(hessian[0, 0].logabs, math.log(6) + log, rtol=1e-14)
    jacobian = ls.jacobian(lambda x: x**2)(x)
    np.testing.assert_allclose(jacobian[1, 1].logabs, math.log(2) + log + 1.0, rtol=1e-14)
    _, tangent = ls.jvp(lambda x: x**2, (x,), (x,))
    np.testing.assert_allclose(tangent.logabs, math.log(2) + 2 * x.logabs, rtol=1e-14)
    out, pullback = ls.vjp(lambda x: x**2, x)
    np.testing.assert_allclose(pullback(out)[0].logabs, math.log(2) + 3 * x.logabs, rtol=1e-14)


def test_scales_of_forward_and_reverse_mode() -> None:
    t = jnp.array([BIG, -BIG, 0.0])
    jacobian = ls.jacobian(ls.exp)(t)
    np.testing.assert_allclose(jnp.diagonal(jacobian.logabs), t)
    # what the documentation states: below the scale of what is differentiated there is 0
    gradient = ls.grad(lambda t: ls.exp(t).sum())(t)
    np.testing.assert_array_equal(gradient.logabs, [BIG, -np.inf, -np.inf])
    gradient = ls.grad(lambda t: ls.exp(t).sum())(t / 10)
    np.testing.assert_allclose(gradient.logabs, t / 10)


def test_at_zeros() -> None:
    product = lambda x: x.prod()  # noqa: E731
    one_zero = ls.LogArray(np.array([1.0, 0.0, 1.0]), np.array([BIG, 0.0, BIG]))
    np.testing.assert_allclose(ls.grad(product)(one_zero).logabs, [-np.inf, 2 * BIG, -np.inf])
    two_zeros = ls.LogArray(np.array([1.0, 0.0, 0.0]), np.array([BIG, 0.0, 0.0]))
    assert not np.any(np.asarray(ls.grad(product)(two_zeros) != 0))
    hessian = ls.hessian(product)(two_zeros)
    np.testing.assert_allclose(hessian[1, 2].logabs, BIG)
    np.testing.assert_array_equal(hessian.sign, [[0, 0, 0], [0, 0, 1], [0, 1, 0]])

    difference = lambda a, b: ls.exp(a) - ls.exp(b)  # noqa: E731
    da, db = ls.grad(difference, (0, 1))(BIG, BIG)
    np.testing.assert_allclose([da.logabs, db.logabs], BIG)
    assert (float(da.sign), float(db.sign)) == (1.0, -1.0)
    assert float(difference(BIG, BIG)) == 0.0

    # a coefficient that starts at zero, beside a live term
    g = lambda c: ls.from_linear(c) * ls.exp(900.0) + 1.0  # noqa: E731
    np.testing.assert_allclose(ls.grad(g)(0.0).logabs, 900.0)
    square = ls.hessian(lambda x: (x**2).sum())(ls.zeros(2))
    np.testing.assert_array_equal(square.to_linear(), 2 * np.eye(2))
    np.testing.assert_array_equal(ls.hessian(ls.abs2)(ls.from_linear(0.0)).to_linear(), 2.0)


def test_under_transformations() -> None:
    x = ls.exp(jnp.array([BIG, 1.0, -1.0]))
    gradient = ls.grad(lambda x: (x**2).sum())
    np.testing.assert_allclose(jax.jit(gradient)(x)[0].logabs, math.log(2) + BIG)
    rows = jax.vmap(ls.grad(lambda x: x**3))(x)
    np.testing.assert_allclose(rows.logabs, math.log(3) + 2 * x.logabs)
    both = jax.jit(jax.vmap(ls.value_and_grad(lambda t: ls.exp(2 * t))))(jnp.array([BIG, 0.0]))
    np.testing.assert_allclose(both[0].logabs, [2 * BIG, 0.0])
    np.testing.assert_allclose(both[1].logabs, math.log(2) + np.array([2 * BIG, 0.0]))
    # derivatives of derivatives, ours within JAX's and JAX's within ours
    inner = lambda t: ls.grad(lambda s: ls.exp(s * s))(t).logabs  # noqa: E731
    np.testing.assert_allclose(jax.grad(inner)(3.0), 6.0 + 1 / 3)
    outer = ls.grad(lambda t: ls.grad(lambda s: ls.exp(2 * s))(t))
    np.testing.assert_allclose(outer(BIG).logabs, math.log(4) + 2 * BIG)
    _, pullback = ls.vjp(lambda x: x**2, x)
    rows = jax.vmap(pullback)(ls.from_linear(jnp.eye(3)))[0]
    np.testing.assert_allclose(rows[0, 0].logabs, math.log(2) + BIG)
    f = ls.quaxify(lambda a: jnp.exp(a).sum())
    np.testing.assert_allclose(ls.grad(f)(ls.from_linear(jnp.array([BIG, 1.0])))[0].logabs, BIG)


def test_derivatives_of_logarithms() -> None:
    x = ls.exp(jnp.array([BIG, -1.0]))
    gradient = ls.grad(lambda x: x.logabs.sum())(x)
    np.testing.assert_allclose(gradient.logabs, [-BIG, 1.0])
    gradient = ls.grad(lambda x: ls.log(x).sum())(x[1:])
    np.testing.assert_allclose(gradient.logabs, [1.0])


# -------------------------------------------------------------------------------- errors

ERRORS: dict[str, Any] = {
    "not a scalar": lambda m: m.grad(lambda a: a * 2)(A),
    "several outputs": lambda m: m.grad(lambda a: (a.sum(), a.sum()))(A),
    "integer argument": lambda m: m.grad(lambda a: a * 1.0)(3),
    "integer output": lambda m: m.grad(lambda a: 3)(1.0),
    "boolean output": lambda m: m.grad(lambda a: a > 0)(1.0),
    "argnums out of range": lambda m: m.grad(lambda a: a, 1)(1.0),
    "negative argnums out of range": lambda m: m.grad(lambda a: a, -2)(1.0),
    "argnums that is a string": lambda m: m.grad(lambda a: a, "a")(1.0),
    "argnums that is a float": lambda m: m.grad(lambda a: a, 0.5)(1.0),
    "no arguments": lambda m: m.grad(lambda a: a)(),
    "keyword only": lambda m: m.grad(lambda a: a)(a=1.0),
    "holomorphic of real": lambda m: m.grad(lambda a: a, holomorphic=True)(1.0),
    "holomorphic to real": lambda m: m.grad(abs, holomorphic=True)(1j),
    "complex to complex": lambda m: m.grad(lambda a: a * 2)(1j),
    "string argument": lambda m: m.grad(lambda a: 1.0)("text"),
    "no auxiliary output": lambda m: m.grad(lambda a: a, has_aux=True)(1.0),
    "jacobian of integers": lambda m: m.jacobian(lambda a: a * 1.0)(np.arange(3)),
    "jvp of a list of primals": lambda m: m.jvp(lambda a: a, 1.0, (1.0,)),
    "jvp with too few tangents": lambda m: m.jvp(lambda a, b: a, (1.0, 2.0), (1.0,)),
    "jvp with tangents of another shape": lambda m: m.jvp(lambda a: a, (A,), (1.0,)),
    "jvp with complex tangents": lambda m: m.jvp(lambda a: a, (1.0,), (1j,)),
    "vjp structure": lambda m: m.vjp(lambda a: (a, a), 1.0)[1](1.0),
    "vjp shape": lambda m: m.vjp(lambda a: a, A)[1](np.ones(2)),
    "vjp complex cotangent": lambda m: m.vjp(lambda a: a, A)[1](np.ones(3) * 1j),
    "an error of the function": lambda m: m.grad(lambda a: a.nonsense)(1.0),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_jax(name: str) -> None:
    with pytest.raises(Exception) as theirs:
        ERRORS[name](jax)
    with pytest.raises(theirs.type) as ours:
        ERRORS[name](ls)
    assert str(ours.value)


def test_not_inside_quaxify() -> None:
    with pytest.raises(TypeError, match="outside"):
        ls.quaxify(lambda x: ls.grad(lambda y: y * y)(x))(ls.from_linear(2.0))


def test_results_have_names() -> None:
    assert ls.grad(f).__name__ == "grad_f"
    assert "logspace.hessian" in (ls.hessian(f).__doc__ or "")
    assert lnp is not None
