"""LogArray as the person who holds one meets it: ways in and out, operators, conversions."""

import math
import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls

INF, NAN = math.inf, math.nan
BIG = 3000.0

VALUES = np.array([1.5, -2.0, 0.0, 3.25])
OTHER = np.array([2.0, 0.5, -4.0, 8.0])


def same(got: Any, expected: Any, rtol: float = 4e-15) -> None:
    """Equal types of dtype and shape, equal values."""
    got = got.to_linear() if isinstance(got, ls.LogArray) else got
    assert np.shape(got) == np.shape(expected)
    assert got.dtype == jnp.asarray(expected).dtype
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=0)


# ------------------------------------------------------------------------------ constructor


@pytest.mark.parametrize(
    ("sign", "logabs", "value"),
    [
        (1.0, 0.0, 1.0),
        (-1.0, math.log(2.0), -2.0),
        (0.0, 5.0, 0.0),
        (0.0, NAN, NAN),
        (1.0, -INF, 0.0),
        (-1.0, -INF, 0.0),
        (0.0, -INF, 0.0),
        (1.0, INF, INF),
        (-1.0, INF, -INF),
        (0.0, INF, NAN),
        (NAN, 0.0, NAN),
        (INF, -INF, NAN),
        (2.0, math.log(3.0), 6.0),
        (1, 0.0, 1.0),
        (-1, 0, -1.0),
        (True, 0.0, 1.0),
        (False, 7.0, 0.0),
        (np.int8(-1), 0.0, -1.0),
        (1j, math.log(2.0), 2j),
        (3 + 4j, 0.0, 3 + 4j),
        (0j, -INF, 0j),
    ],
)
def test_constructor(sign: Any, logabs: Any, value: Any) -> None:
    same(ls.LogArray(sign, logabs), value)


def test_constructor_of_a_complex_zero_times_infinity_is_nan() -> None:
    assert np.isnan(complex(ls.LogArray(0j, INF)))


def test_constructor_broadcasts() -> None:
    x = ls.LogArray(np.array([[1], [-1]]), np.zeros(3))
    same(x, np.array([[1.0] * 3, [-1.0] * 3]))
    assert ls.LogArray([1, -1], [0.0, 0.0]).shape == (2,)
    with pytest.raises(ValueError, match="broadcast"):
        ls.LogArray(np.ones(2), np.ones(3))


def test_constructor_takes_the_precision_of_what_is_not_an_integer() -> None:
    assert ls.LogArray(np.int64(1), np.float32(0)).dtype == jnp.float32
    assert ls.LogArray(np.complex64(1), np.float64(0)).dtype == jnp.complex128
    assert ls.LogArray(np.float32(1), np.float64(0)).dtype == jnp.float64
    assert ls.LogArray(np.complex64(1), 0.0).dtype == jnp.complex64
    assert ls.LogArray(np.float16(1), np.float16(0)).dtype == jnp.float32
    assert ls.LogArray(1, 0).dtype == jnp.float64


@pytest.mark.parametrize("bad", ["text", object(), np.array(["text"]), jax.random.key(0)])
def test_constructor_refuses_what_is_not_numeric(bad: Any) -> None:
    for make in (
        lambda: ls.LogArray(bad, 0.0),
        lambda: ls.LogArray(1.0, bad),
        lambda: ls.from_linear(bad),
        lambda: ls.from_log(bad),
    ):
        with pytest.raises(TypeError):
            make()


def test_constructor_refuses_complex_logabs() -> None:
    with pytest.raises(TypeError, match="real logabs"):
        ls.LogArray(1.0, 1j)
    with pytest.raises(TypeError, match="plain arrays"):
        ls.LogArray(ls.ones(2), 1.0)


def test_constructor_carries_derivatives() -> None:
    f = lambda s, log: ls.LogArray(s, log).to_linear()  # noqa: E731
    same(jnp.stack(jax.grad(f, (0, 1))(2.0, 1.0)), np.array([math.e, 2 * math.e]))
    # at a zero of the sign the derivative in it is the magnitude
    same(jnp.stack(jax.grad(f, (0, 1))(0.0, 1.0)), np.array([math.e, 0.0]))


# ------------------------------------------------------------------------- ways in and out


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_linear_round_trip_is_exact(dtype: str) -> None:
    info = jnp.finfo(dtype)
    rng = np.random.default_rng(1)
    a = np.concatenate(
        [
            [0.0, -0.0, 1.0, -1.0, info.tiny, -info.tiny, info.max, info.min, INF, -INF, NAN],
            rng.normal(size=100) * 10.0 ** rng.integers(-37, 37, 100),
        ]
    )
    a = a.astype(dtype)
    if np.iscomplexobj(a):
        pairs = np.empty((len(a), len(a)), dtype)
        pairs.real, pairs.imag = a.real, a.real[:, None]
        a = pairs
    out = np.asarray(ls.from_linear(a).to_linear())
    assert out.dtype == a.dtype
    if np.iscomplexobj(a):
        # components share an exponent: one that is this much smaller than the other may be lost
        a, out = a.view(info.dtype), out.view(info.dtype)
        size = np.abs(a).reshape(*a.shape[:-1], -1, 2)
        lost = size < size.max(-1, keepdims=True) / 2.0 ** (1000 if info.bits == 64 else 120)
        lost = lost.reshape(a.shape) & np.isfinite(a) & (out == 0)
        out = np.where(lost, a, out)
    nan = np.isnan(a)
    np.testing.assert_array_equal(np.isnan(out), nan)
    bits = np.uint32 if info.bits == 32 else np.uint64
    assert np.array_equal(out[~nan].view(bits), a[~nan].view(bits))


@pytest.mark.parametrize("log", [0.0, 1.0, -1.0, 2, -700.0, BIG, -BIG, 1e8, -1e8, INF, -INF, NAN])
def test_from_log(log: Any) -> None:
    x = ls.from_log(log)
    np.testing.assert_allclose(x.logabs, log, rtol=1e-15, atol=1e-15)
    np.testing.assert_array_equal(x.sign, NAN if log != log else float(log != -INF))
    assert ls.exp is ls.from_log


def test_from_complex_log() -> None:
    x = ls.exp(BIG + 1.5j)
    np.testing.assert_allclose(x.logabs, BIG)
    np.testing.assert_allclose(x.angle, 1.5)
    np.testing.assert_allclose(x.sign, np.exp(1.5j))
    np.testing.assert_allclose(x.log(), BIG + 1.5j)
    zero = ls.exp(complex(-INF, 1.0))
    assert complex(zero) == 0 and complex(zero.sign) == 0 and float(zero.angle) == 0


def test_from_log_of_our_own_types() -> None:
    x = ls.from_log(np.array([BIG, -BIG, 1.0]))
    assert ls.exp(ls.log(x)) is not None
    np.testing.assert_array_equal(ls.exp(ls.log(x)).logabs, x.logabs)
    np.testing.assert_allclose(ls.exp(ls.from_linear(2.0)).logabs, 2.0)


def test_readers() -> None:
    x = ls.LogArray(np.array([1.0, -1.0, 0.0, 1.0]), np.array([BIG, -BIG, 1.0, INF]))
    np.testing.assert_array_equal(x.sign, [1, -1, 0, 1])
    np.testing.assert_allclose(x.logabs, [BIG, -BIG, -INF, INF])
    np.testing.assert_allclose(x.angle, [0, np.pi, 0, 0])
    np.testing.assert_allclose(x.log(), [BIG, NAN, -INF, INF])
    np.testing.assert_allclose(x.log(dtype=complex)[:2], [BIG, -BIG + 1j * np.pi])
    assert x.log(dtype=complex).dtype == jnp.complex128
    assert x.astype("float32").log(complex).dtype == jnp.complex64
    assert x.log("float32").dtype == jnp.float32
    np.testing.assert_array_equal(x.to_linear(), [INF, 0, 0, INF])
    for plain in (x.sign, x.logabs, x.angle, x.log(), x.to_linear()):
        assert isinstance(plain, jax.Array)


def test_derivatives_of_readers() -> None:
    logabs = lambda s: (ls.from_linear(s) * ls.exp(BIG)).logabs  # noqa: E731
    assert jax.grad(logabs)(2.0) == 0.5
    assert jax.grad(logabs)(0.0) == INF
    masked = lambda s: (ls.from_linear(jnp.where(s > 5, s, 0.0)) * ls.exp(BIG)).logabs  # noqa: E731
    assert jax.grad(masked)(1.0) == 0.0
    assert jax.grad(lambda s: ls.from_linear(s).sign)(2.0) == 0.0
    phase = lambda t: ls.exp(1j * t + BIG)  # noqa: E731
    np.testing.assert_allclose(jax.grad(lambda t: phase(t).angle)(0.3), 1.0)
    np.testing.assert_allclose(
        jax.jvp(lambda t: phase(t).sign, (0.3,), (1.0,))[1], 1j * np.exp(0.3j)
    )
    np.testing.assert_allclose(jax.grad(lambda t: phase(t).logabs)(0.3), 0.0, atol=1e-16)


def test_abs2_has_a_hessian_at_zero() -> None:
    assert jax.hessian(lambda a: ls.abs2(ls.from_linear(a)).to_linear())(0.0) == 2.0
    f = lambda v: ls.abs2(jax.lax.complex(v[0], v[1])).to_linear()  # noqa: E731
    np.testing.assert_array_equal(jax.hessian(f)(jnp.zeros(2)), 2 * np.eye(2))
    z = ls.exp(BIG + 0.4j)
    assert ls.abs2(z).dtype == jnp.float64
    np.testing.assert_allclose(ls.abs2(z).logabs, 2 * BIG)


# -------------------------------------------------------------------------------- operators

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


# ------------------------------------------------------------------------------ conversions


def test_python_scalars() -> None:
    x = ls.from_linear(2.5)
    assert (float(x), int(x), complex(x), bool(x), x.item()) == (2.5, 2, 2.5 + 0j, True, 2.5)
    assert not ls.from_linear(0.0)
    assert bool(ls.from_linear(NAN))
    assert complex(ls.from_linear(1 + 2j)) == 1 + 2j
    assert float(ls.exp(BIG)) == INF and float(-ls.exp(BIG)) == -INF and float(ls.exp(-BIG)) == 0
    assert ls.exp(-BIG), "not zero, although its float is"
    with pytest.raises(OverflowError):
        int(ls.exp(BIG))
    with pytest.raises(TypeError):
        float(ls.from_linear(1j))
    with pytest.raises(TypeError):
        operator.index(x)
    with pytest.raises(TypeError):
        hash(x)


@pytest.mark.parametrize("convert", [bool, float, int, complex])
def test_scalars_of_arrays_raise_as_in_jax(convert: Any) -> None:
    for shape in ((2,), (0,), (2, 2)):
        with pytest.raises((TypeError, ValueError)) as plain:
            convert(jnp.ones(shape))
        with pytest.raises(plain.type):
            convert(ls.ones(shape))
    with pytest.raises(jax.errors.ConcretizationTypeError):
        jax.jit(lambda x: convert(x) and 1)(ls.ones(()))


def test_numpy_arrays() -> None:
    x = ls.from_linear(VALUES)
    for a in (np.asarray(x), np.array(x), np.array(x, copy=True)):
        np.testing.assert_array_equal(a, VALUES)
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert x.tolist() == VALUES.tolist()
    assert x.item(1) == -2.0
    with pytest.raises(ValueError):
        np.array(x, copy=False)
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(lambda x: np.asarray(x))(x)
    assert not hasattr(x, "__jax_array__")


def test_sequences() -> None:
    x = ls.from_linear(np.arange(6.0).reshape(3, 2))
    assert len(x) == 3
    rows = list(x)
    assert len(rows) == 3 and rows[1].shape == (2,)
    same(rows[2], np.array([4.0, 5.0]))
    first, *_ = x
    same(first, np.array([0.0, 1.0]))
    assert 3.0 in x and 7.0 not in x and ls.from_linear(5.0) in x
    same(ls.LogArray.sum(x), 15.0)
    for call in (len, iter, list):
        with pytest.raises(TypeError):
            call(ls.ones(()))


def test_attributes() -> None:
    x = ls.ones((2, 3), "float32")
    assert (x.shape, x.ndim, x.size, x.dtype, x.itemsize) == ((2, 3), 2, 6, jnp.float32, 4)
    assert x.nbytes == 48
    assert ls.ones(()).shape == () and ls.ones((0, 2)).size == 0
    assert x.__array_namespace__().__name__ == "logspace.numpy"
    same(x.copy(), np.ones((2, 3), np.float32))
    assert x.block_until_ready() is not None


# ---------------------------------------------------------------------------------- methods

A = np.array([[1.5, -2.0, 0.0], [3.25, 4.0, -1.0]])
MASK = np.array([[True, False, True], [True, True, False]])

METHODS: dict[str, Any] = {
    "sum": lambda x: x.sum(),
    "sum axis": lambda x: x.sum(0),
    "sum axes keepdims": lambda x: x.sum((0, 1), keepdims=True),
    "sum negative axis": lambda x: x.sum(axis=-1),
    "sum numpy axis": lambda x: x.sum(axis=np.int64(1)),
    "sum where": lambda x: x.sum(1, where=MASK),
    "sum dtype": lambda x: x.sum(dtype="float32"),
    "sum complex dtype": lambda x: x.sum(dtype=complex),
    "prod": lambda x: x.prod(1),
    "prod where initial": lambda x: x.prod(where=MASK, initial=3.0),
    "mean": lambda x: x.mean(0),
    "mean where": lambda x: x.mean(where=MASK),
    "var": lambda x: x.var(),
    "var ddof": lambda x: x.var(axis=1, ddof=1),
    "std": lambda x: x.std(0, keepdims=True),
    "max": lambda x: x.max(),
    "max axis": lambda x: x.max(axis=0, keepdims=True),
    "max where initial": lambda x: x.max(where=MASK, initial=-5.0),
    "min": lambda x: x.min(1),
    "ptp": lambda x: x.ptp(),
    "argmax": lambda x: x.argmax(1),
    "argmin": lambda x: x.argmin(),
    "argsort": lambda x: x.argsort(axis=0),
    "sort": lambda x: x.sort(axis=-1),
    "all": lambda x: x.all(),
    "any": lambda x: x.any(axis=0),
    "cumsum": lambda x: x.cumsum(1),
    "cumsum flat": lambda x: x.cumsum(),
    "cumprod": lambda x: x.cumprod(axis=0),
    "dot": lambda x: x.dot(np.ones(3)),
    "clip": lambda x: x.clip(-1, 2.0),
    "clip keywords": lambda x: x.clip(min=0.0),
    "trace": lambda x: x.trace(),
    "diagonal": lambda x: x.diagonal(1),
    "nonzero": lambda x: x.nonzero()[1],
    "round": lambda x: x.round(1),
    "squeeze": lambda x: x[None].squeeze(0),
    "ravel": lambda x: x.ravel(),
    "flatten": lambda x: x.flatten(),
    "repeat": lambda x: x.repeat(2, axis=1),
    "repeat array": lambda x: x.repeat(np.array([1, 2]), axis=0),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "take": lambda x: x.take(np.array([0, 2]), axis=1),
    "compress": lambda x: x.compress(np.array([True, False]), axis=0),
    "reshape": lambda x: x.reshape(3, 2),
    "reshape tuple": lambda x: x.reshape((3, -1)),
    "reshape order": lambda x: x.reshape(-1, order="F"),
    "transpose": lambda x: x.transpose(),
    "transpose axes": lambda x: x.transpose(1, 0),
    "transpose tuple": lambda x: x.transpose((1, 0)),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "conj": lambda x: x.conj(),
    "conjugate": lambda x: x.conjugate(),
    "astype": lambda x: x.astype("float32"),
    "astype complex": lambda x: x.astype(complex),
    "astype int": lambda x: x.astype(int),
    "astype bool": lambda x: x.astype(bool),
    "searchsorted": lambda x: x[0].sort().searchsorted(0.5),
    "argpartition": lambda x: x.argpartition(1, axis=1)[:, 1],
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    method = METHODS[name]
    got, expected = method(ls.from_linear(A)), method(jnp.asarray(A))
    same(got, expected, 1e-6 if expected.dtype == jnp.float32 else 1e-14)


@pytest.mark.parametrize(
    "name", ["real", "imag", "conj", "sum", "prod", "mean", "var", "transpose"]
)
def test_methods_of_complex(name: str) -> None:
    a = A + 1j * A[:, ::-1]
    same(METHODS[name](ls.from_linear(a)), METHODS[name](jnp.asarray(a)), 1e-14)


def test_every_method_of_a_jax_array_exists() -> None:
    """Apart from those that concern memory, devices and the bits of plain arrays."""
    concerns_memory = {
        "addressable_data", "addressable_shards", "aval", "committed", "copy_to_host_async",
        "delete", "device", "devices", "format", "global_shards", "is_deleted",
        "is_fully_addressable", "is_fully_replicated", "layout", "on_device_size_in_bytes",
        "sharding", "to_device", "traceback", "unsafe_buffer_pointer", "view", "weak_type",
        "byteswap", "tobytes", "choose", "clone", "device_buffer", "device_buffers", "flat",
        "is_ready", "platform", "unsafe_raw_buffer",
    }  # fmt: skip
    theirs = {name for name in dir(jnp.ones(3)) if not name.startswith("_")}
    missing = theirs - set(dir(ls.ones(3))) - concerns_memory
    assert not missing


def test_methods_far_out_of_range() -> None:
    x = ls.LogArray(np.array([1.0, -1.0, 1.0]), np.array([BIG, BIG + 1, -BIG]))
    total = BIG + math.log(math.e - 1)
    np.testing.assert_allclose(x.sum().logabs, total)
    np.testing.assert_array_equal(x.sum().sign, -1)
    np.testing.assert_allclose(x.prod().logabs, BIG + 1)
    np.testing.assert_allclose(x.max().logabs, BIG)
    np.testing.assert_allclose(x.min().logabs, BIG + 1)
    np.testing.assert_allclose(x.mean().logabs, total - math.log(3.0))
    np.testing.assert_allclose(x.std().logabs - BIG, math.log(np.std([1.0, -math.e, 0.0])))
    np.testing.assert_array_equal(x.argsort(), [1, 2, 0])
    np.testing.assert_array_equal(x > 0, [True, False, True])


# ------------------------------------------------------------------------------------ Log


def test_log_waits() -> None:
    x, y = ls.exp(np.array([BIG, -BIG, 0.5])), ls.from_linear(np.array([2.0, 3.0, 0.0]))
    log = ls.log(x)
    assert isinstance(log, ls.Log)
    np.testing.assert_array_equal(ls.exp(log).logabs, x.logabs)
    for got, expected in [
        (log + ls.log(y), x * y),
        (log - ls.log(x), x / x),
        (2 * log, x**2),
        (log * 3, x**3),
        (log / 2, x**0.5),
        (-log, 1 / x),
        (log + 1.0, x * math.e),
        (1.0 + log, x * math.e),
        (log.sum(), x.prod()),
        (log[1], x[1]),
        (log.reshape(3, 1), x.reshape(3, 1)),
    ]:
        assert isinstance(got, ls.Log)
        np.testing.assert_allclose(ls.exp(got).logabs, expected.logabs, rtol=1e-14)


def test_log_reads_as_a_plain_array() -> None:
    log = ls.log(ls.exp(np.array([BIG, -BIG])))
    np.testing.assert_allclose(np.asarray(log), [BIG, -BIG])
    np.testing.assert_allclose(log * np.array([2.0, 3.0]) > 0, [True, False])
    np.testing.assert_allclose(np.asarray(log.max()), BIG)
    np.testing.assert_allclose(np.asarray(log**2), [BIG**2, BIG**2])
    assert (log.shape, log.dtype, log.ndim, log.size) == ((2,), jnp.float64, 1, 2)
    assert float(ls.log(2.0)) == math.log(2.0)
    assert "Log(" in repr(log)
    assert np.isnan(float(ls.log(ls.from_linear(-1.0))))


def test_log_of_a_cancelling_difference_has_its_derivative() -> None:
    g = lambda a, b: ls.exp(ls.log(ls.from_linear(a) - b)).to_linear()  # noqa: E731
    assert jax.grad(g, (0, 1))(1.0, 1.0) == (1.0, -1.0)
