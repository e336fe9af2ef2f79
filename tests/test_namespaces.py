"""`logspace.numpy` and `logspace.lax`: every function, against JAX's own on plain arrays."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
import logspace.lax as llax
import logspace.numpy as lnp

from .namespace_rows import ARGUMENTS, MORE, ROWS

BIG = 3000.0

PLAIN = {name: jnp.asarray(value) for name, value in ARGUMENTS.items()}
NUMBERS = {name: ls.from_linear(value) for name, value in PLAIN.items()}
PLAIN["h"] = PLAIN["x"] / 8
NUMBERS["h"] = ls.from_linear(PLAIN["h"])
for _arguments in (PLAIN, NUMBERS):
    _arguments["i"] = np.array([2, 0, 1, 3])
    _arguments["m"] = np.array([True, False, True, True])
    _arguments["t"] = jnp.arange(4.0)

#: Functions that say that they can not, and what they say.
REFUSED = {
    "copysign": None,
    **dict.fromkeys(
        ["floor_divide", "remainder", "mod", "fmod", "divmod", "unwrap"],
        "the remainder of numbers far apart",
    ),
    **dict.fromkeys(["frexp", "spacing"], "no fixed bit pattern"),
    "nextafter": "unbounded",
    "roots": "strip_zeros",
}
del REFUSED["copysign"]

#: Functions that take no arrays of floats: they are JAX's own.
WITHOUT_NUMBERS = set(
    """arange bartlett bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not
    bitwise_or bitwise_right_shift bitwise_xor blackman diag_indices empty eye from_dlpack
    frombuffer fromfile fromfunction fromiter fromstring gcd get_printoptions hamming hanning
    identity indices invert isdtype issubdtype kaiser lcm left_shift load mask_indices ones packbits
    printoptions promote_types ravel_multi_index right_shift save savez set_printoptions tri
    tril_indices triu_indices unpackbits unravel_index zeros""".split()
)


def _functions() -> list[str]:
    return [
        name
        for name in dir(jnp)
        if not name.startswith("_")
        and callable(value := getattr(jnp, name))
        and not isinstance(value, type)
        and not hasattr(value, "dtype")
    ]


def test_every_function_of_jax_numpy_has_a_row() -> None:
    assert set(_functions()) - set(ROWS) - WITHOUT_NUMBERS == set()
    assert set(dir(jnp)) <= set(dir(lnp))


def _is_value(x: Any) -> bool:
    return isinstance(x, (ls.LogArray, ls.Log))


def _compare(got: Any, expected: Any) -> None:
    got = jax.tree.leaves(got, is_leaf=_is_value)
    expected = jax.tree.leaves(expected)
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        if hasattr(theirs, "dtype"):
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-13, atol=1e-300)
        else:
            assert type(ours) is type(theirs) and ours == theirs


def _slice(rows: dict[str, Any], every: int) -> list[Any]:
    return [
        pytest.param(name, marks=[] if i % every == 0 else pytest.mark.full)
        for i, name in enumerate(rows)
    ]


_SKIP = [name for name in ROWS if not hasattr(jnp, name)]


@pytest.mark.parametrize("name", _slice({k: v for k, v in ROWS.items() if k not in _SKIP}, 5))
def test_functions_of_jax_numpy(name: str) -> None:
    expected = ROWS[name](jnp, PLAIN)
    if name in REFUSED:
        with pytest.raises(
            (ls.MaterialiseError, jax.errors.ConcretizationTypeError), match=REFUSED[name]
        ):
            ROWS[name](lnp, NUMBERS)
    else:
        _compare(ROWS[name](lnp, NUMBERS), expected)


@pytest.mark.parametrize("name", _slice(MORE, 4))
def test_options_and_linear_algebra(name: str) -> None:
    _compare(MORE[name](lnp, NUMBERS), MORE[name](jnp, PLAIN))


@pytest.mark.full
@pytest.mark.parametrize("name", ROWS)
def test_of_plain_arrays_it_is_jax_numpy(name: str) -> None:
    if name in _SKIP:
        pytest.skip("not in this JAX")
    expected, got = (ROWS[name](n, PLAIN) for n in (jnp, lnp))
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for ours, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert type(ours) is type(theirs)
        np.testing.assert_array_equal(ours, theirs)


def test_plain_arrays_stay_plain() -> None:
    assert isinstance(lnp.sum(jnp.ones(3)), jax.Array)
    assert isinstance(lnp.zeros_like(jnp.ones(3)), jax.Array)
    assert isinstance(lnp.where(True, jnp.ones(3), 0.0), jax.Array)
    assert lnp.float32 is jnp.float32 and lnp.pi == math.pi and lnp.newaxis is None
    assert lnp.ndarray is jnp.ndarray and lnp.finfo is jnp.finfo
    np.testing.assert_array_equal(lnp.arange(3), np.arange(3))
    np.testing.assert_array_equal(lnp.add.reduce(jnp.ones(3)), 3.0)
    np.testing.assert_array_equal(lnp.fft.fft(jnp.ones(2)), [2.0, 0.0])


def test_beyond_the_range_of_floats() -> None:
    x = ls.LogArray(np.array([[1.0, -1.0], [1.0, 1.0]]), np.array([[BIG, BIG], [BIG, -BIG]]))
    np.testing.assert_allclose(lnp.sum(x).logabs, BIG)
    np.testing.assert_array_equal(lnp.sum(x, axis=1).sign, [0, 1])
    np.testing.assert_allclose(lnp.einsum("ij,jk->ik", x, x)[1, 0].logabs, 2 * BIG)
    np.testing.assert_allclose(lnp.linalg.norm(x).logabs, BIG + 0.5 * math.log(3))
    np.testing.assert_allclose(lnp.multiply.reduce(x, axis=None).logabs, 2 * BIG)
    np.testing.assert_allclose(lnp.ldexp(x, 5).logabs, x.logabs + 5 * math.log(2))
    np.testing.assert_array_equal(lnp.unique(x).logabs, [BIG, -BIG, BIG])
    np.testing.assert_array_equal(lnp.signbit(-x), [[True, False], [True, True]])
    np.testing.assert_allclose(lnp.exp(ls.from_linear(BIG)).logabs, BIG)
    np.testing.assert_allclose(np.asarray(lnp.log(x[0, 0])), BIG)


def test_makers_of_arrays_like_a_number() -> None:
    x = ls.ones((2, 3), "float32")
    for make in (lnp.zeros_like, lnp.ones_like, lnp.empty_like):
        y = make(x)
        assert isinstance(y, ls.LogArray) and (y.shape, y.dtype) == (x.shape, x.dtype)
    assert isinstance(lnp.full_like(jnp.ones(2), ls.exp(BIG)), ls.LogArray)
    assert isinstance(lnp.full((2,), ls.exp(BIG)), ls.LogArray)
    assert isinstance(lnp.array([x, x]), ls.LogArray)
    assert isinstance(lnp.asarray(x), ls.LogArray)
    assert isinstance(lnp.stack([x, x]), ls.LogArray)


def test_what_needs_known_values_raises_under_jit_as_in_jax() -> None:
    x = ls.from_linear(np.array([1.0, 0.0]))
    for name in ("nonzero", "unique", "where", "trim_zeros"):
        with pytest.raises(jax.errors.JAXTypeError):
            jax.jit(getattr(lnp, name))(x)
    assert jax.jit(lambda x: lnp.unique(x, size=2))(x).shape == (2,)
    assert jax.jit(lambda x: lnp.nonzero(x, size=2))(x)[0].shape == (2,)


def test_refusals_name_the_way_out() -> None:
    with pytest.raises(ls.MaterialiseError, match="to_linear"):
        lnp.fft.fft(ls.ones(2))
    with pytest.raises(TypeError, match="leaves"):
        lnp.save("unused.npy", ls.ones(2))
    with pytest.raises(AttributeError, match="no_such_function"):
        getattr(lnp, "no_such_function")  # noqa: B009
    with pytest.raises(TypeError):
        lnp.bitwise_and(ls.ones(2), ls.ones(2))


def test_functions_that_take_functions() -> None:
    x = ls.exp(np.array([BIG, -BIG]))
    for theta in (2.0, 3.0):
        got = lnp.vectorize(lambda u, theta=theta: theta * u)(x)
        np.testing.assert_allclose(got.logabs, x.logabs + math.log(theta))

    # a function that closes over a traced value is not kept
    @jax.jit
    def f(theta: Any) -> Any:
        return lnp.apply_along_axis(lambda row: theta * row, 0, x)

    np.testing.assert_allclose(f(2.0).logabs, f(2.0).logabs)
    np.testing.assert_allclose(f(3.0).logabs, x.logabs + math.log(3.0))
    derivative = jax.grad(lambda theta: f(theta)[1].logabs)(2.0)
    np.testing.assert_allclose(derivative, 0.5)


def test_a_static_argument_is_not_confused_with_its_equal() -> None:
    x = ls.from_linear(np.array([2.0, 3.0]))
    assert lnp.where(True, x, 1).dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(lnp.sum(x, keepdims=True)), [5.0])
    np.testing.assert_array_equal(np.asarray(lnp.sum(x, keepdims=False)), 5.0)
    for one in (1, 1.0, True):
        got, expected = lnp.add(x.astype("float32"), one), jnp.add(jnp.ones(2, "float32"), one)
        assert got.dtype == expected.dtype


# ------------------------------------------------------------------------------------- lax


def test_lax_functions() -> None:
    x, y = NUMBERS["x"], NUMBERS["y"]
    a, b = PLAIN["x"], PLAIN["y"]
    _compare(llax.add(x, y), a + b)
    _compare(llax.mul(x, 2.0), a * 2.0)
    _compare(llax.dot_general(x, y, (((1,), (1,)), ((), ()))), a @ b.T)
    _compare(llax.reduce_sum(x, (0,)) if hasattr(llax, "reduce_sum") else x.sum(0), a.sum(0))
    _compare(llax.dynamic_slice(x, (0, 1), (2, 2)), a[:, 1:])
    _compare(llax.select(a > 0, x, y), jnp.where(a > 0, a, b))
    _compare(llax.top_k(x, 2), jax.lax.top_k(a, 2))
    _compare(llax.cumsum(x, 1), a.cumsum(1))
    _compare(llax.integer_pow(x, 3), a**3)
    _compare(llax.add(a, b), a + b)
    assert isinstance(llax.add(a, b), jax.Array)


def test_control_flow_carries_numbers() -> None:
    x = ls.exp(np.array([BIG, 1.0, -BIG]))
    step = lambda carry, e: (carry * e + 1, carry)  # noqa: E731
    carry, before = llax.scan(step, ls.ones(()), x)
    looped, kept = ls.ones(()), []
    for e in x:
        kept.append(looped)
        looped = looped * e + 1
    np.testing.assert_allclose(carry.logabs, looped.logabs, rtol=1e-14)
    np.testing.assert_allclose(before.logabs, [k.logabs for k in kept], rtol=1e-14)
    np.testing.assert_allclose(
        llax.fori_loop(0, 3, lambda i, c: c * x[i], ls.ones(())).logabs, x.prod().logabs, atol=1e-12
    )
    grown = llax.while_loop(lambda c: c < ls.exp(100.0), lambda c: c * math.e, ls.ones(()))
    np.testing.assert_allclose(grown.logabs, 100.0, atol=1.1)
    for flag in (True, False):
        got = llax.cond(flag, lambda c: c * 2, lambda c: -c, x)
        np.testing.assert_array_equal(got.sign, np.full(3, 1.0 if flag else -1.0))
    np.testing.assert_allclose(
        llax.switch(1, [lambda c: c, lambda c: c * c], x).logabs, 2 * x.logabs
    )
    np.testing.assert_allclose(llax.map(lambda c: c * c, x).logabs, 2 * x.logabs)
    scanned = llax.associative_scan(lambda u, v: u * v, x)
    np.testing.assert_allclose(scanned.logabs, x.cumprod().logabs, atol=1e-12)
    np.testing.assert_allclose(llax.stop_gradient(x).logabs, x.logabs)


def test_collectives() -> None:
    x = ls.exp(np.array([BIG, BIG + 1, -BIG]))
    summed = jax.vmap(lambda e: llax.psum(e, "i"), axis_name="i")(x)
    np.testing.assert_allclose(summed.logabs, np.full(3, float(x.sum().logabs)))
    largest = jax.vmap(lambda e: llax.pmax(e, "i"), axis_name="i")(x)
    np.testing.assert_allclose(largest.logabs, np.full(3, BIG + 1))


# ------------------------------------------------------------------- other parts of JAX


def test_segment_sum_is_a_sum_in_log_space() -> None:
    x = ls.LogArray(np.array([1.0, -1.0, 1.0, 1.0]), np.array([BIG, BIG, -BIG, 2.0]))
    got = ls.quaxify(lambda x, i: jax.ops.segment_sum(x, i, num_segments=3))(
        x, jnp.array([0, 0, 1, 1])
    )
    np.testing.assert_array_equal(got.sign, [0, 1, 0])
    np.testing.assert_allclose(got.logabs[1], 2.0)


def test_functions_of_jax_nn_and_scipy() -> None:
    a = jnp.array([1.0, -2.0, 0.5])
    x = ls.from_linear(a)
    softmax = ls.quaxify(jax.nn.softmax)(x)
    np.testing.assert_allclose(np.asarray(softmax), jax.nn.softmax(a), rtol=1e-14)
    total = ls.quaxify(jax.scipy.special.logsumexp)(x)
    np.testing.assert_allclose(np.asarray(total), jax.scipy.special.logsumexp(a), rtol=1e-14)
    np.testing.assert_allclose(np.asarray(ls.quaxify(jax.nn.relu)(x)), jax.nn.relu(a))


def test_integers_booleans_and_keys_beside_numbers() -> None:
    x = ls.exp(np.array([BIG, 0.0, -BIG]))
    mask, index = jnp.array([True, False, True]), jnp.array([2, 0])
    np.testing.assert_allclose(lnp.where(mask, x, 0.0).logabs, [BIG, -np.inf, -BIG])
    np.testing.assert_allclose(lnp.take(x, index).logabs, [-BIG, BIG])
    np.testing.assert_allclose((x * mask).logabs, [BIG, -np.inf, -BIG])

    def noisy(x: Any, key: Any, n: Any) -> Any:
        key, sub = jax.random.split(key)
        return x * jax.random.uniform(sub, (3,)) ** n, key, n + 1

    key = jax.random.key(0)
    y, new, n = jax.jit(ls.quaxify(noisy))(x, key, 2)
    u = jax.random.uniform(jax.random.split(key)[1], (3,))
    np.testing.assert_allclose(y.logabs, x.logabs + 2 * np.log(u), rtol=1e-14)
    assert n == 3 and isinstance(new, jax.Array)


def test_names_that_were_used_do_not_shadow_builtins() -> None:
    """They become globals of the module, `any` and `sum` among them."""
    for name in ("abs", "all", "any", "max", "min", "pow", "round", "sum"):
        assert callable(getattr(lnp, name))
    x = ls.from_linear(np.array([[3.0, 4.0], [0.0, 5.0]]))
    assert float(lnp.linalg.norm(x[0])) == 5.0
    np.testing.assert_allclose(float(lnp.linalg.det(x)), 15.0)
