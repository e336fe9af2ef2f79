"""Indexing and out-of-place updates, as those of a JAX array."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
import logspace.numpy as lnp

BIG = 3000.0
A = np.arange(24.0).reshape(2, 3, 4) - 10.0
V = np.array([1.5, -2.0, 0.0, 4.0])

INDICES: list[Any] = [
    0,
    -1,
    np.int64(1),
    np.array(1),
    jnp.asarray(1),
    slice(1, None),
    slice(None, None, -1),
    slice(5, 1),
    slice(-2, None, 2),
    ...,
    None,
    (),
    (1, 2, 3),
    (..., 0),
    (slice(None), None, 1),
    (None, ..., None, slice(1, 3)),
    np.array([1, 0, 1]),
    np.array([[0, -1]]),
    np.array([], int),
    (np.array([0, 1]), np.array([2, 1])),
    (np.array([[0], [1]]), slice(None), np.array([0, 3])),
    (0, np.array([2, 1])),
    (slice(None), np.array([True, False, True])),
    A > 0,
    A[..., 0] > 0,
    True,
    7,
    -9,
    (1, 5),
    np.array([7, -9]),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_reading(index: Any) -> None:
    x, a = ls.from_linear(A), jnp.asarray(A)
    got = x[index]
    assert isinstance(got, ls.LogArray)
    np.testing.assert_array_equal(got.to_linear(), a[index])
    assert got.shape == a[index].shape


@pytest.mark.parametrize(
    "index",
    [
        (0, 0, 0, 0),
        (..., ...),
        "a",
        1.5,
        [0, 1],
        [True, False],
        np.array([0.5]),
        np.array([True, False, True]),
        (slice(None), np.array([True, False])),
        pytest.param(object(), id="an object"),
        slice("a", None),
        10**20,
    ],
    ids=str,
)
def test_errors_are_those_of_jax(index: Any) -> None:
    x, a = ls.from_linear(A), jnp.asarray(A)
    for operation in (
        lambda z: z[index],
        lambda z: z.at[index].get(),
        lambda z: z.at[index].set(1.0),
        lambda z: z.at[index].add(1.0),
    ):
        with pytest.raises(Exception) as plain:
            operation(a)
        with pytest.raises(plain.type):
            operation(x)


def test_masks_that_are_traced_raise_as_in_jax() -> None:
    x, mask = ls.from_linear(V), V > 0
    with pytest.raises(jax.errors.NonConcreteBooleanIndexError):
        jax.jit(lambda x, m: x[m])(x, mask)
    with pytest.raises(jax.errors.NonConcreteBooleanIndexError):
        jax.jit(lambda x, m: x.at[m].set(V[:2]))(x, mask)


def test_a_hundred_integers_compile_once() -> None:
    x = ls.from_linear(np.arange(100.0))
    compilations: list[str] = []

    def listener(event: str, *_: Any, **__: Any) -> None:
        if "backend_compile" in event:
            compilations.append(event)

    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        for operation in (
            lambda i: x[i],
            lambda i: x.at[i].set(2.0),
            lambda i: x.at[i].add(x[0]),
            lambda i: x.at[i].get(mode="fill", fill_value=0.0),
        ):
            operation(0)
            operation(-1)
            compilations.clear()
            for i in range(100):
                operation(i if i % 2 else -i)
            assert not compilations
    finally:
        jax.monitoring.clear_event_listeners()


def test_indexing_inside_transformations() -> None:
    x = ls.exp(np.array([BIG, 1.0, -BIG]))
    np.testing.assert_allclose(jax.jit(lambda x, i: x[i])(x, 2).logabs, -BIG)
    np.testing.assert_allclose(jax.vmap(lambda i: x[i])(jnp.array([2, 0])).logabs, [-BIG, BIG])
    got = jax.vmap(lambda row, i: row[i], (0, 0))(lnp.stack([x, x]), jnp.array([2, 0]))
    np.testing.assert_allclose(got.logabs, [-BIG, BIG])
    f = lambda t, i: ls.exp(t * jnp.arange(3.0))[i].to_linear()  # noqa: E731
    np.testing.assert_allclose(jax.grad(f)(1.0, 2), 2 * np.exp(2.0))
    got = ls.quaxify(lambda x, i: x[i])(x, jnp.array([0, 2]))
    np.testing.assert_allclose(got.logabs, [BIG, -BIG])


METHODS = ["set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max"]
UPDATES: list[Any] = [
    (1, 2.5),
    (-1, np.float32(3)),
    (np.array([0, 0, 2]), np.array([2.0, 3.0, 4.0])),
    (np.array([0, 9]), 2.0),
    (slice(1, 3), np.array([5.0, 2.0])),
    (np.array([True, False, True, False]), 2.0),
    ((...,), 2),
]


@pytest.mark.parametrize("method", METHODS)
def test_updates(method: str) -> None:
    _check_updates(method, UPDATES if method == "add" else UPDATES[2:4])


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_updates_with_every_index(method: str) -> None:
    _check_updates(method, UPDATES)


def _check_updates(method: str, updates: list[Any]) -> None:
    x, a = ls.from_linear(V), jnp.asarray(V)
    for index, value in updates:
        if method == "set" and isinstance(index, np.ndarray) and index[0] == index[1]:
            index = index + np.arange(len(index))  # the last writer is not specified
        if method == "power":
            value = 2 if np.ndim(value) else value
            if isinstance(index, np.ndarray) and index.dtype != bool:
                index = np.unique(index)
        expected = getattr(a.at[index], method)(value)
        got = getattr(x.at[index], method)(value)
        assert isinstance(got, ls.LogArray) and got.dtype == expected.dtype
        np.testing.assert_allclose(got.to_linear(), expected, rtol=1e-14)
        if np.ndim(value):
            got = getattr(x.at[index], method)(ls.from_linear(value))
            np.testing.assert_allclose(got.to_linear(), expected, rtol=1e-14)


def test_updates_in_log_space() -> None:
    x = ls.exp(np.array([BIG, -BIG, 0.0]))
    y = x.at[jnp.array([0, 0, 1])].add(ls.exp(np.array([BIG, BIG, -BIG])))
    np.testing.assert_allclose(y.logabs, [BIG + math.log(3), -BIG + math.log(2), 0.0])
    np.testing.assert_allclose(x.at[0].multiply(x[0]).logabs, [2 * BIG, -BIG, 0.0])
    np.testing.assert_allclose(x.at[:2].set(x[2]).logabs, [0.0, 0.0, 0.0])
    np.testing.assert_allclose(x.at[0].subtract(x[0]).logabs, [-np.inf, -BIG, 0.0])
    np.testing.assert_allclose(x.at[1].max(x[0]).logabs, [BIG, BIG, 0.0])


def test_apply() -> None:
    x, a = ls.from_linear(V), jnp.asarray(V)
    del a
    with pytest.raises(ls.MaterialiseError, match="update function"):
        x.at[np.array([0, 1])].apply(lambda z: z**2)


@pytest.mark.parametrize("options", [
    {},
    {"mode": "fill"},
    {"mode": "fill", "fill_value": 7.0},
    {"mode": "fill", "fill_value": 3},
    {"mode": "clip"},
    {"mode": "promise_in_bounds"},
    {"mode": jax.lax.GatherScatterMode.CLIP},
    {"indices_are_sorted": True, "unique_indices": True},
], ids=str)  # fmt: skip
def test_get_with_options(options: Any) -> None:
    x, a = ls.from_linear(V), jnp.asarray(V)
    bound = 4 if options.get("mode") == "promise_in_bounds" else 9
    for index in (np.array([1, bound - 1]), 2, slice(1, None)):
        expected = a.at[index].get(**options)
        np.testing.assert_array_equal(x.at[index].get(**options).to_linear(), expected)


@pytest.mark.parametrize("mode", ["drop", "clip", "fill", "promise_in_bounds"])
def test_updates_with_a_mode(mode: str) -> None:
    x, a = ls.from_linear(V), jnp.asarray(V)
    index = np.array([1, 3 if mode == "promise_in_bounds" else 8])
    got = x.at[index].add(2.0, mode=mode, unique_indices=True)
    np.testing.assert_array_equal(got.to_linear(), a.at[index].add(2.0, mode=mode))


def test_options_that_do_not_exist() -> None:
    with pytest.raises(ValueError):
        ls.ones(2).at[0].set(1.0, mode="nonsense")
    with pytest.raises(TypeError):
        ls.ones(2).at[0].set(1.0, nonsense=True)
    with pytest.raises(AttributeError):
        ls.ones(2).at[0].nonsense(1.0)
    with pytest.raises(TypeError):
        ls.ones(2)[0] = 1.0


def test_derivatives_of_updates_at_zero() -> None:
    def f(t: Any) -> Any:
        x = ls.from_linear(jnp.zeros(3)).at[jnp.array([0, 0, 1])].add(ls.from_linear(t))
        return (x[0] * x[1]).to_linear()

    t = jnp.array([1.0, -1.0, 2.0])
    np.testing.assert_array_equal(jax.grad(f)(t), [2.0, 2.0, 0.0])


def test_a_log_is_indexed_as_a_log() -> None:
    log = ls.log(ls.exp(np.array([BIG, 1.0, -BIG])))
    assert isinstance(log[0], ls.Log)
    np.testing.assert_allclose(np.asarray(log[::-1]), [-BIG, 1.0, BIG])
    np.testing.assert_allclose(
        np.asarray(log.at[jnp.array([2, 5])].get(mode="fill", fill_value=0.5)), [-BIG, 0.5]
    )
