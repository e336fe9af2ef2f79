"""Text for numbers that a float cannot hold."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (-2.5, "-2.5"),
        (1e-4, "0.0001"),
        (1e-5, "1e-05"),
        (123456.0, "123456.0"),
        (1e16, "1e+16"),
        (1e300, "1e+300"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (1 - 2j, "1.0-2.0j"),
        (complex(0.0, math.inf), "0.0+infj"),
    ],
)
def test_ordinary_numbers(value: Any, text: str) -> None:
    assert str(ls.from_linear(value)) == text


@pytest.mark.parametrize(
    ("log", "text"),
    [
        (1000.0, "1.97007e+434"),
        (-1000.0, "5.07596e-435"),
        (3000.0, "7.64620e+1302".replace("20e", "2e")),
        (1e8, None),
        (-7e8, None),
    ],
)
def test_numbers_out_of_range(log: float, text: str | None) -> None:
    shown = str(ls.exp(log))
    mantissa, exponent = shown.split("e")
    assert math.isclose(math.log(float(mantissa)) + int(exponent) * math.log(10), log, rel_tol=1e-5)
    assert 1 <= float(mantissa) < 10
    if text is not None:
        assert shown == text
    assert str(-ls.exp(log)) == "-" + shown
    assert str(ls.exp(log + 0.5j * math.pi)).endswith("j")


def test_a_power_of_ten_out_of_range() -> None:
    assert str(ls.from_linear(10.0) ** 400) == "1e+400"
    assert str(ls.from_linear(10.0) ** -400) == "1e-400"


def test_float32() -> None:
    assert str(ls.from_linear(np.float32(0.1))) == "0.1"
    assert repr(ls.from_linear(np.float32(1.5))) == "LogArray(1.5, dtype=float32)"
    assert str(ls.exp(np.float32(100.0))).endswith("e+43")


def test_arrays() -> None:
    x = ls.LogArray(np.array([[1.0, -1.0], [0.0, 1.0]]), np.array([[0.0, 1000.0], [0.0, -1000.0]]))
    assert repr(x) == ("LogArray([[1.0, -1.97007e+434],\n [0.0, 5.07596e-435]], dtype=float64)")
    assert repr(ls.zeros(0)) == "LogArray([], dtype=float64)"
    assert repr(ls.zeros((2, 0), "complex64")) == "LogArray([], shape=(2, 0), dtype=complex64)"
    assert repr(ls.log(ls.ones(2))) == "Log(LogArray([1.0, 1.0], dtype=float64))"
    assert f"{ls.from_linear(2.0)}" == "2.0"


def test_long_arrays_are_summarised() -> None:
    for shape in ((10**6,), (2000, 2000), (3, 10**5)):
        text = repr(ls.ones(shape))
        assert "..." in text and len(text) < 1000


def test_tracers_and_odd_leaves() -> None:
    texts = []
    jax.jit(lambda x: texts.append((repr(x), str(x))) or x)(ls.ones(3))
    jax.vmap(lambda x: texts.append((repr(x), str(x))) or x)(ls.ones(3))
    jax.grad(lambda a: texts.append((repr(y := ls.exp(a)), str(y))) or y.logabs)(1.0)
    assert len(texts) == 3
    for pair in texts:
        for text in pair:
            assert "significand=" in text and "exponent=" in text
    structure = jax.tree.structure(ls.ones(3))
    for leaves in (
        [None, None],
        [jax.ShapeDtypeStruct((3,), jnp.float32)] * 2,
        [1, "a"],
        [np.ones(2), np.ones(3, int)],
    ):
        odd = jax.tree.unflatten(structure, leaves)
        assert "significand=" in repr(odd) and "significand=" in str(odd)


def test_format_of_scalars() -> None:
    assert f"{ls.from_linear(2.5):.3f}|{ls.from_linear(-2.5):>8.2e}" == "2.500|-2.50e+00"
    assert f"{ls.exp(3000.0):.4g}|{ls.exp(-3000.0):.3e}" == "7.646e+1302|1.308e-1303"
    assert f"{ls.exp(3000.0):.1f}|{ls.exp(-3000.0):.1f}|{ls.zeros(()):.2g}" == "inf|0.0|0"
    assert f"{ls.exp(0.5j):.2f}" == "0.88+0.48j"
    assert f"{ls.ones(2)}" == str(ls.ones(2))
    with pytest.raises(TypeError, match="only scalars"):
        format(ls.ones(2), ".3g")
