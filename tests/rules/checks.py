"""What the loops over the case table share: running a row, taking results apart, comparing."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
from logspace import _numerics as num
from logspace._log_array import unwrap, wrap
from logspace._numerics import Scaled
from tests.cases.case import Case

DTYPES = {"f": (np.float64, np.float32), "c": (np.complex128, np.complex64)}


class Leaf(NamedTuple):
    """One result: a number (with exponents) or a plain array (without)."""

    significand: np.ndarray
    exponent: np.ndarray | None


def real_of(dtype: Any) -> np.dtype:
    return np.dtype(np.dtype(dtype).type(0).real.dtype)


def eps_of(dtype: Any) -> float:
    return float(np.finfo(real_of(dtype)).eps)


def is_number(x: Any) -> bool:
    return isinstance(x, (ls.LogArray, ls.Log))


def quaxified(case: Case) -> Callable[..., Any]:
    return _mapped(case, ls.quaxify(case.call))


def plain(case: Case) -> Callable[..., Any]:
    return _mapped(case, case.call)


def _mapped(case: Case, call: Callable[..., Any]) -> Callable[..., Any]:
    return call if case.axis_name is None else jax.vmap(call, axis_name=case.axis_name)


@functools.lru_cache(maxsize=8)
def jitted(case: Case) -> Callable[..., Any]:
    return jax.jit(quaxified(case))


@functools.lru_cache(maxsize=8)
def plain_jitted(case: Case) -> Callable[..., Any]:
    return jax.jit(plain(case))


def number(significand: np.ndarray, exponent: Any = 0) -> ls.LogArray:
    """The LogArray significand * 2**exponent with exactly these leaves."""
    s = jnp.asarray(significand)
    return wrap(Scaled(s, jnp.broadcast_to(jnp.asarray(exponent, jnp.int32), s.shape)))


def operands(case: Case, values: Sequence[np.ndarray], exponents: Any = None) -> list[Any]:
    """Values as the operands of the row: numbers as LogArrays, the others plain."""
    return [
        number(v, 0 if exponents is None else exponents[i]) if i in case.numbers else jnp.asarray(v)
        for i, v in enumerate(values)
    ]


def leaves(output: Any) -> list[Leaf]:
    """Results taken apart; a Log is read."""
    out = []
    for x in jax.tree.leaves(output, is_leaf=is_number):
        if isinstance(x, ls.Log):
            x = x.materialise()
        if isinstance(x, ls.LogArray):
            out.append(Leaf(*map(np.asarray, unwrap(x))))
        else:
            out.append(Leaf(np.asarray(x), None))
    return out


def linear(output: Any) -> list[np.ndarray]:
    """Results as plain arrays."""
    out = []
    for x in jax.tree.leaves(output, is_leaf=is_number):
        if isinstance(x, ls.Log):
            x = x.materialise()
        out.append(np.asarray(x.to_linear() if isinstance(x, ls.LogArray) else x))
    return out


_normalise = jax.jit(lambda s, e: num.normalise(Scaled(s, e)))


def normalised(output: Any) -> list[np.ndarray]:
    """The leaves of a result with one representation for each number, for bitwise comparison."""
    out = []
    for s, e in leaves(output):
        if e is None:
            out.append(s)
        else:
            s, e = map(np.asarray, _normalise(s, e))
            dead = (s == 0) | ~np.isfinite(s)
            out += [s, np.where(dead, 0, e)]
    return out


def assert_same_bits(got: Any, want: Any, context: str = "") -> None:
    got, want = normalised(got), normalised(want)
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        assert a.dtype == b.dtype, context
        np.testing.assert_array_equal(a, b, err_msg=context)


def close(got: np.ndarray, want: np.ndarray, ulps: float, context: str = "") -> None:
    """Equal where not finite; elsewhere within ulps * eps of the largest magnitude in sight."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{context}: {got.shape} and {want.shape}"
    if want.dtype.kind not in "fc":
        assert got.dtype == want.dtype, context
        np.testing.assert_array_equal(got, want, err_msg=context)
        return
    assert got.dtype == want.dtype, f"{context}: {got.dtype} and {want.dtype}"
    finite = np.isfinite(want)
    np.testing.assert_array_equal(finite, np.isfinite(got), err_msg=context)
    if want.dtype.kind == "f":
        np.testing.assert_array_equal(got[~finite], want[~finite], err_msg=context)
    scale = np.max(np.abs(want[finite]), initial=0.0)
    bound = ulps * eps_of(want.dtype) * scale
    error = np.abs(np.where(finite, got, 0) - np.where(finite, want, 0))
    worst = np.max(error, initial=0.0)
    assert worst <= bound, f"{context}: error {worst} above {bound}\n{got}\n{want}"


def dtypes_of(case: Case, every: bool) -> list[np.dtype]:
    """The precisions to run a row at: one for each kind, or all."""
    chosen = [dtype for kind in case.kinds for dtype in DTYPES[kind][: None if every else 1]]
    if not jax.config.jax_enable_x64:
        chosen = [DTYPES[kind][1] for kind in case.kinds]
    return [np.dtype(d) for d in chosen]


def parameters(
    cases: Sequence[Case],
    keep: Callable[[Case], bool] = lambda case: True,
    *,
    real: int = 1,
    complex: int = 1,  # noqa: A002 - the kind of numbers
) -> list[Any]:
    """Rows and dtypes for `pytest.mark.parametrize`.

    Without the marker `full`: one precision of each kind, and of these rows every `real`-th and
    every `complex`-th one; 0 for none.
    """
    every = {"f": real, "c": complex}
    out, count = [], {"f": 0, "c": 0}
    for case in filter(keep, cases):
        first = dtypes_of(case, False)
        for dtype in dtypes_of(case, True):
            by_default = False
            if dtype in first and every[dtype.kind]:
                by_default = count[dtype.kind] % every[dtype.kind] == 0
                count[dtype.kind] += 1
            marks = () if by_default else pytest.mark.full
            out.append(pytest.param(case, dtype, id=f"{case.name}-{dtype.name}", marks=marks))
    return out


def seed(case: Case, dtype: Any) -> np.random.Generator:
    """Fixed by the row's name, so that adding a row changes no other."""
    return np.random.default_rng([*case.name.encode(), *np.dtype(dtype).name.encode()])


def window_of(dtype: Any) -> int:
    """How far significands may be shifted by a test of the gauge law."""
    return 400 if np.dtype(dtype) in (np.float64, np.complex128) else 30
