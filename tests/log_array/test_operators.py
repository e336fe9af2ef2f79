"""Operators with every kind of operand, inside and outside of transformations."""

import math
import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls

from .comparison import BIG, OTHER, VALUES, same

OPERATORS = [operator.add, operator.truediv, operator.lt, operator.eq]
MORE_OPERATORS = [
    operator.sub,
    operator.mul,
    operator.ne,
    operator.le,
    operator.gt,
    operator.ge,
]
OPERANDS = [
    jnp.asarray(OTHER),
    OTHER.astype(np.float32),
    np.array([1, 2, 3, 4]),
    np.float64(2.0),
    np.array(2.0),
    2,
    2.0,
    True,
    1 + 2j,
]


@pytest.mark.parametrize(
    "function",
    [*OPERATORS, *(pytest.param(f, marks=pytest.mark.full) for f in MORE_OPERATORS)],
    ids=lambda f: f.__name__,
)
def test_operators_with_every_kind_of_operand(function: Any) -> None:
    x = ls.from_linear(VALUES)
    for other in OPERANDS:
        if isinstance(other, complex) and function.__name__ in ("lt", "le", "gt", "ge"):
            continue
        plain = jnp.asarray(other) if isinstance(other, np.ndarray) else other
        same(function(x, other), function(jnp.asarray(VALUES), plain))
        same(function(other, x), function(plain, jnp.asarray(VALUES)))
    y = ls.from_linear(OTHER)
    same(function(x, y), function(jnp.asarray(VALUES), jnp.asarray(OTHER)))


@pytest.mark.parametrize("other", [[1.0, 2.0], (1.0,), "text", None, object(), {"a": 1}])
def test_operators_refuse_what_is_not_a_number(other: Any) -> None:
    x = ls.ones(2)
    for function in (
        operator.add,
        operator.mul,
        operator.truediv,
        operator.pow,
        operator.matmul,
        operator.lt,
        operator.floordiv,
        operator.mod,
        divmod,
    ):
        with pytest.raises(TypeError):
            function(x, other)
        if isinstance(other, str) and function is operator.mod:
            continue  # the formatting of strings
        with pytest.raises(TypeError):
            function(other, x)
    if isinstance(other, (list, tuple, dict)):  # as in JAX: not the answer False
        for compare in (operator.eq, operator.ne):
            with pytest.raises(TypeError, match="Convert it with jnp.asarray"):
                compare(x, other)
    else:
        assert (x == other) is False and (x != other) is True


def test_powers() -> None:
    x = ls.from_linear(np.array([1.5, -2.0, 0.0]))
    plain = jnp.array([1.5, -2.0, 0.0])
    for p in (2, -1, 0, 3, 2.0, 0.5, np.int32(2), np.array(2), np.float64(2), True, 2j):
        same(x**p, plain**p, 1e-14)
    same(x ** np.array([1, 2, 3]), plain ** jnp.array([1, 2, 3]))
    same(x ** np.array([1.0, 2.0, 3.0]), plain ** jnp.array([1.0, 2.0, 3.0]))
    same(2**x, 2**plain)
    same(2.0**x, 2.0**plain)
    same(x**x, plain**plain, 1e-14)
    np.testing.assert_allclose((ls.exp(BIG) ** 2).logabs, 2 * BIG)
    np.testing.assert_allclose((2 ** ls.from_linear(10000.0)).logabs, 10000 * math.log(2))


@pytest.mark.parametrize("power", [2, 2.0, np.array(2), np.array(2.0)])
def test_derivatives_of_powers_at_zero(power: Any) -> None:
    f = lambda a: (ls.from_linear(a) ** power).to_linear()  # noqa: E731
    assert (jax.grad(f)(0.0), jax.grad(jax.grad(f))(0.0)) == (0.0, 2.0)


def test_floor_division_and_remainder_say_what_they_can_not_do() -> None:
    for function in (operator.floordiv, operator.mod, divmod):
        for args in ((ls.ones(2), 2.0), (2.0, ls.ones(2))):
            with pytest.raises(ls.MaterialiseError, match="to_linear"):
                function(*args)


def test_unary_operators() -> None:
    x = ls.from_linear(VALUES)
    same(-x, -VALUES)
    same(+x, VALUES)
    same(abs(x), abs(VALUES))
    same(round(x), np.round(VALUES))
    same(round(x, 1), np.round(VALUES, 1))
    same(abs(ls.from_linear(3 + 4j)), 5.0)


def test_matmul() -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4) - 5
    for x, y in [
        (ls.from_linear(a), ls.from_linear(b)),
        (ls.from_linear(a), b),
        (a, ls.from_linear(b)),
        (jnp.asarray(a), ls.from_linear(b)),
    ]:
        same(x @ y, a @ b)
    # no term is lost
    u = ls.from_log(np.array([0.0, -BIG]))
    np.testing.assert_allclose((u @ u[::-1]).logabs, math.log(2) - BIG)
    with pytest.raises(TypeError):
        ls.ones((2, 3)) @ ls.ones((2, 3))


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(TypeError) as plain:
        jnp.ones(2) + jnp.ones(3)
    with pytest.raises(TypeError) as ours:
        ls.ones(2) + jnp.ones(3)
    assert str(ours.value).split(":")[0] == str(plain.value).split(":")[0]


def test_operators_inside_transformations() -> None:
    x = ls.from_linear(VALUES)

    def f(a: Any, x: Any) -> Any:
        return ((a * x + x * a - a) / (x + 10)).sum().to_linear()

    def plain(a: Any, x: Any) -> Any:
        return ((a * x + x * a - a) / (x + 10)).sum()

    args = jnp.asarray(OTHER), jnp.asarray(VALUES)
    same(jax.jit(f)(OTHER, x), plain(*args))
    same(jax.grad(f)(OTHER, x), jax.grad(plain)(*args))
    same(jax.vmap(f, (0, 0))(OTHER, x), jax.vmap(plain)(*args))
    same(jax.vmap(f, (0, None))(OTHER, x), jax.vmap(plain, (0, None))(*args), 1e-14)


def test_a_number_from_outside_meets_values_of_a_quaxified_function() -> None:
    outside = ls.from_linear(OTHER)

    def f(x: Any) -> Any:
        return outside * x + x - x * outside * 2.0, outside**2 < x, x.sum() / outside

    def plain(x: Any) -> Any:
        other = jnp.asarray(OTHER)
        return other * x + x - x * other * 2.0, other**2 < x, x.sum() / other

    expected = plain(jnp.asarray(VALUES))
    for function in (ls.quaxify(f), jax.jit(ls.quaxify(f))):
        for argument in (ls.from_linear(VALUES), jnp.asarray(VALUES)):
            for got, want in zip(function(argument), expected, strict=True):
                same(got, want)


def test_numbers_made_inside_a_quaxified_function() -> None:
    def f(a: Any) -> Any:
        return ls.exp(a) * ls.from_linear(a) + ls.LogArray(jnp.sign(a), jnp.abs(a)) + a

    def plain(a: Any) -> Any:
        return jnp.exp(a) * a + jnp.sign(a) * jnp.exp(jnp.abs(a)) + a

    a = jnp.asarray(VALUES)
    for function in (f, ls.quaxify(f), jax.jit(ls.quaxify(f))):
        same(function(a), plain(a), 1e-14)
    # of a number they are the same functions
    np.testing.assert_allclose(ls.quaxify(ls.exp)(ls.from_linear(BIG)).logabs, BIG)
    np.testing.assert_allclose(ls.quaxify(ls.from_linear)(ls.exp(BIG)).logabs, BIG)
    np.testing.assert_allclose(ls.quaxify(ls.abs2)(ls.exp(BIG)).logabs, 2 * BIG)
    np.testing.assert_allclose(
        ls.quaxify(lambda x: ls.exp(2 * ls.log(x)))(ls.exp(BIG)).logabs, 2 * BIG
    )
