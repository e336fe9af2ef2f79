"""Errors are of the type that NumPy and JAX raise, and say what is required and the way out."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
import logspace.numpy as lnp

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "string as dtype": lambda n, x: x.astype("text"),
    "object as dtype": lambda n, x: x.astype(object),
    "instance as dtype": lambda n, x: x.astype(object()),
    "dtype of a sum": lambda n, x: x.sum(dtype="text"),
    "dtype of a sum, object": lambda n, x: n.sum(x, dtype=object),
    "shapes that do not broadcast": lambda n, x: x + np.ones((3, 5)),
    "shapes in where": lambda n, x: n.where(np.ones((3, 5), bool), x, 0.0),
    "shapes in matmul": lambda n, x: x @ np.ones(5),
    "shapes in einsum": lambda n, x: n.einsum("ij,ij->", x, np.ones((5, 5))),
    "bad einsum": lambda n, x: n.einsum("i->", x),
    "axis out of range": lambda n, x: x.sum(2),
    "negative axis out of range": lambda n, x: x.max(axis=-3),
    "repeated axis": lambda n, x: x.sum((0, 0)),
    "axis of cumsum": lambda n, x: x.cumsum(5),
    "axis of concatenate": lambda n, x: n.concatenate([x, x], axis=2),
    "axis of sort": lambda n, x: n.sort(x, axis=7),
    "axis that is a float": lambda n, x: x.sum(axis=0.5),
    "axis that is a string": lambda n, x: x.sum(axis="text"),
    "swapaxes": lambda n, x: x.swapaxes(0, 2),
    "transpose": lambda n, x: x.transpose(0, 0),
    "reshape": lambda n, x: x.reshape(5),
    "reshape of two unknowns": lambda n, x: x.reshape(-1, -1),
    "squeeze": lambda n, x: x.squeeze(0),
    "concatenate of nothing": lambda n, x: n.concatenate([]),
    "stack of shapes": lambda n, x: n.stack([x, x[0]]),
    "split": lambda n, x: n.split(x, 5),
    "max of nothing": lambda n, x: x[:, :0].max(1),
    "argmax of nothing": lambda n, x: x[:0].argmax(),
    "where needs initial": lambda n, x: x.max(where=np.ones(3, bool)),
    "unknown keyword": lambda n, x: x.sum(nonsense=1),
    "too many arguments": lambda n, x: n.exp(x, 1, 2, 3),
    "clip without bounds of the shape": lambda n, x: x.clip(np.ones(5)),
    "bool": lambda n, x: bool(x),
    "if": lambda n, x: 1 if x else 2,
    "and": lambda n, x: x and x,
    "float": lambda n, x: float(x),
    "int": lambda n, x: int(x),
    "index": lambda n, x: range(x[0, 0]),
    "item": lambda n, x: x.item(),
    "len": lambda n, x: len(x[0, 0]),
    "iter": lambda n, x: iter(x[0, 0]),
    "order of complex": lambda n, x: x < "text",
    "hash": lambda n, x: hash(x),
    "set item": lambda n, x: x.__setitem__(0, 1.0),
    "out": lambda n, x: x.sum(out=np.ones(())),
    "list operand": lambda n, x: n.add(x, [1.0, 2.0, 3.0]),
    "None operand": lambda n, x: n.add(x, None),
    "string operand": lambda n, x: n.add(x, "text"),
    "list of numbers to sum": lambda n, x: n.sum([x, x]),
    "dot of shapes": lambda n, x: x.dot(np.ones(7)),
    "trace of a vector": lambda n, x: x[0].trace(),
    "mT of a vector": lambda n, x: x[0].mT,
    "repeat": lambda n, x: x.repeat(np.array([1, 2, 3, 4, 5]), axis=0),
    "take": lambda n, x: x.take(np.array([0.5])),
}


@pytest.mark.parametrize("name", CALLS)
def test_same_type_as_in_jax(name: str) -> None:
    a = jnp.arange(6.0).reshape(2, 3)
    with pytest.raises(Exception) as plain:
        CALLS[name](jnp, a)
    with pytest.raises(plain.type) as ours:
        CALLS[name](lnp, ls.from_linear(a))
    assert str(ours.value)


def test_attributes_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        ls.ones(2).shape = (1, 2)
    with pytest.raises(AttributeError):
        assert ls.ones(2).nonsense


def test_leaked_tracers() -> None:
    kept: list[Any] = []

    @jax.jit
    def leak(x: Any) -> Any:
        kept.append(x)
        return x

    leak(ls.ones(2))
    leak(ls.ones((3, 2)))
    for use in (
        lambda x: x + 1,
        lambda x: x.sum(),
        lambda x: x.sum(0),
        lambda x: x.to_linear(),
        lambda x: x.logabs,
        lambda x: x[0],
        lambda x: x.at[0].set(1.0),
        lambda x: lnp.exp(x),
        lambda x: ls.abs2(x),
    ):
        for x in kept:
            with pytest.raises(jax.errors.UnexpectedTracerError):
                use(x)


def test_traced_values_where_known_ones_are_needed() -> None:
    x = ls.ones(3)
    for function in (
        lambda x: bool(x[0]),
        lambda x: float(x[0]),
        lambda x: int(x[0]),
        lambda x: 1 if x[0] > 0 else 2,
        lambda x: np.asarray(x),
        lambda x: x.tolist(),
        lambda x: x.item(0),
        lambda x: [1, 2, 3][x[0].astype(int)],
        lambda x: 1.0 in x,
    ):
        with pytest.raises((jax.errors.JAXTypeError, jax.errors.ConcretizationTypeError)):
            jax.jit(function)(x)


def test_astype_says_which_dtypes_there_are() -> None:
    with pytest.raises(TypeError, match="float32, float64, complex64 or complex128"):
        ls.ones(2).astype("float16")
    with pytest.raises(TypeError, match="complex128"):
        ls.zeros(2, "float16")


def test_a_missing_rule_names_the_primitive_and_the_way_out() -> None:
    with pytest.raises(ls.MaterialiseError) as error:
        lnp.fft.fft(ls.ones(2))
    text = str(error.value)
    assert "`fft`" in text and "to_linear" in text and "on_materialise" in text
    assert isinstance(error.value, TypeError)


def test_functions_of_jax_do_not_take_a_number_outside_quaxify() -> None:
    for function in (jnp.exp, jnp.sum, lambda x: jnp.add(x, 1.0), lambda x: jax.lax.exp(x)):
        with pytest.raises(TypeError):
            function(ls.ones(2))
    for function in (np.exp, lambda x: np.add(x, 1.0), lambda x: np.add(np.ones(2), x)):
        with pytest.raises(TypeError):
            function(ls.ones(2))
