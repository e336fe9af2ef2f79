"""The methods of a JAX array."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls

from .comparison import BIG, same

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
