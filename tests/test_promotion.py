"""Result dtypes, weak types included, are those of the plain operation."""

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls

SHORT = ("float16", "bfloat16")
DTYPES = ("float32", "float64", "complex64", "complex128")
OTHERS = ("bool", "int8", "uint8", "int32", "int64", *SHORT, *DTYPES)
OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.pow,
    operator.matmul,
    operator.eq,
    operator.lt,
]


def _signature(x: Any) -> tuple[Any, ...]:
    x = x._significand if isinstance(x, ls.LogArray) else x
    return x.shape, np.dtype(x.dtype), bool(x.weak_type)


def _operands(names: tuple[str, ...]) -> dict[str, Any]:
    out: dict[str, Any] = {
        "True": True,
        "2": 2,
        "2.0": 2.0,
        "2j": 2j,
        "weak int": jnp.asarray(2),
        "weak float": jnp.asarray(2.0),
        "weak array": jnp.full(3, 2.0),
    }
    for name in names:
        dtype = np.dtype(jnp.dtype(name))
        out |= {
            f"jax {name}": jnp.ones(3, dtype),
            f"numpy {name}": np.ones(3, dtype),
            f"numpy 0-d {name}": np.ones((), dtype),
            f"numpy scalar {name}": dtype.type(1),
        }
        if name in DTYPES:
            out[f"LogArray {name}"] = ls.ones(3, dtype)
    return out


def _outcome(function: Any, *args: Any) -> Any:
    """The result's shape, dtype and weak type, or the type of the error."""
    try:
        return _signature(jax.eval_shape(lambda: function(*args)))
    except Exception as error:
        return type(error)


def _check(dtypes: tuple[str, ...], others: dict[str, Any], operators: Any) -> None:
    wrong = []
    for dtype in dtypes:
        plain = jnp.full(3, 2.0) if dtype == "weak" else jnp.full(3, 2, dtype)
        x = ls.from_linear(plain)
        assert _signature(x) == _signature(plain)
        for name, other in others.items():
            y = other.to_linear() if isinstance(other, ls.LogArray) else other
            if not isinstance(other, ls.LogArray):
                # an operation of two plain NumPy values is not JAX's
                y = jnp.asarray(y) if isinstance(y, np.ndarray) and y.ndim else y
            for function in operators:
                for ours, theirs in (((x, other), (plain, y)), ((other, x), (y, plain))):
                    expected, got = _outcome(function, *theirs), _outcome(function, *ours)
                    if expected != got and not _excused(expected, got):
                        wrong.append((dtype, name, function.__name__, expected, got))
    assert not wrong, "\n".join(map(str, wrong))


def _excused(expected: Any, got: Any) -> bool:
    """Where plain JAX gives a result in 16 bits, ours is float32, or refused (as by matmul, which
    asks for the dtype of its result)."""
    short = isinstance(expected, tuple) and expected[1].itemsize == 2
    if short and (got is TypeError or isinstance(got, tuple) and got[1] == np.float32):
        return True
    # whether a boolean is weakly typed has no consequence
    both = isinstance(expected, tuple) and isinstance(got, tuple)
    return both and expected[:2] == got[:2] and got[1] == bool


def test_operators() -> None:
    others = _operands(("bool", "int32", "float32", "complex128"))
    _check(("float32",), others, OPERATORS)


@pytest.mark.full
def test_operators_with_every_dtype() -> None:
    _check((*DTYPES, "weak"), _operands(OTHERS), OPERATORS)


@pytest.mark.full
def test_operators_without_x64() -> None:
    with jax.enable_x64(False):
        names = tuple(n for n in OTHERS if n not in ("int64", "float64", "complex128"))
        _check(("float32", "complex64", "weak"), _operands(names), OPERATORS)


@pytest.mark.parametrize("dtype", [pytest.param("float32", marks=pytest.mark.full), "float64"])
def test_strict_promotion(dtype: str) -> None:
    with jax.numpy_dtype_promotion("strict"):
        _check((dtype,), _operands(("int32", "float32")), OPERATORS)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scalar", [True, 2, 2.0])
def test_python_scalars_leave_the_dtype(dtype: str, scalar: Any) -> None:
    x = ls.ones(2, dtype)
    for y in (x + scalar, scalar * x, x / scalar, scalar - x, x**scalar):
        assert y.dtype == dtype


def test_python_complex_makes_complex() -> None:
    assert (ls.ones(2, "float32") * 1j).dtype == jnp.complex64
    assert (1j + ls.ones(2, "float64")).dtype == jnp.complex128


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (3, "float64"),
        (True, "float64"),
        (np.int8(3), "float64"),
        (np.float32(3), "float32"),
        (np.float16(3), "float32"),
        (jnp.bfloat16(3), "float32"),
        (3.0, "float64"),
        (3j, "complex128"),
    ],
)
def test_ways_in(value: Any, dtype: str) -> None:
    assert ls.from_linear(value).dtype == dtype
    assert ls.from_log(value).dtype == dtype


def test_ways_in_without_x64() -> None:
    with jax.enable_x64(False):
        assert ls.from_linear(np.float64(3)).dtype == jnp.float32
        assert ls.from_log(3).dtype == jnp.float32
        assert ls.zeros(3).dtype == jnp.float32
        assert ls.LogArray(np.int64(1), np.float64(2)).dtype == jnp.float32


def test_weak_types_go_in() -> None:
    assert ls.from_linear(2.0).aval().weak_type
    assert ls.from_log(2.0).aval().weak_type
    assert ls.LogArray(1.0, 2.0).aval().weak_type
    assert not ls.LogArray(1.0, jnp.float32(2.0)).aval().weak_type
    assert not ls.ones(3).aval().weak_type
    assert not ls.zeros(3).aval().weak_type
    assert not ls.zeros_like(ls.from_linear(2.0), dtype="float32").aval().weak_type
    assert ls.full(3, 2.0).aval().weak_type == jnp.full(3, 2.0).weak_type
    assert (ls.full(3, 2.0) * jnp.ones(3, "float32")).dtype == jnp.float32
