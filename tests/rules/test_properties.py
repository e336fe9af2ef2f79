"""Property-based: arrays chosen by hypothesis, many examples in one compiled function.

Shapes are fixed, so that an example costs a call and not a compilation; the strategies choose
significands, exponents, zeros, and pairs that cancel.
"""

import functools

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given

import logspace as ls
from tests.cases import CASES
from tests.cases.case import ELEMENTWISE, Number

from .checks import assert_same_bits, eps_of, leaves, number, operands, seed
from .exact import assert_exact, exact_numbers, expected

DTYPE = np.dtype(np.float64 if jax.config.jax_enable_x64 else np.float32)


@functools.cache
def compiled(case):
    return jax.jit(ls.quaxify(case.call))


def significands(size):
    """Integers and their halves, which tie and cancel, and zeros; or any float of order one."""
    small = st.integers(-6, 6).map(lambda n: n / 2)
    ordinary = st.floats(0.5, 2.0, width=32).flatmap(lambda a: st.sampled_from([a, -a]))
    return st.lists(small | ordinary, min_size=size, max_size=size)


def exponents(size):
    """All the same, a few binades apart, or anywhere."""
    near = st.integers(-3, 3)
    far = st.integers(-100_000, 100_000)
    return (
        st.integers(-5000, 5000).map(lambda k: [k] * size)
        | st.lists(near, min_size=size, max_size=size)
        | st.lists(far, min_size=size, max_size=size)
    )


def draw_number(data, shape):
    """Elements from a short list, repeated over a large array in an order of their own."""
    size = int(np.prod(shape, dtype=int))
    short = min(size, 12)
    s = np.array(data.draw(significands(short)), DTYPE)
    e = np.array(data.draw(exponents(short)), np.int64)
    places = np.arange(size) % max(short, 1)
    if size > short:
        places = np.random.default_rng(data.draw(st.integers(0, 2**16))).permutation(places)
    return s[places].reshape(shape), e[places].reshape(shape)


def suited(case):
    """Rows whose operands may be any real numbers at all and whose exact value is known."""
    if case.axis_name or "f" not in case.kinds or case.exact_domain != "wide":
        return False
    if any(x.domain != "any" for x in case.operands if isinstance(x, Number)):
        return False
    cheap = case.law in ("linear", "order", "movement") or case.name in ("mul", "square")
    return cheap and len(case.numbers) > 0 and all(
        np.prod(case.operands[i].shape) for i in case.numbers
    )  # fmt: skip


ROWS = [c for c in CASES if suited(c)]
# one row of each primitive by default; all with the marker
FIRST = {c.primitive: c for c in reversed(ROWS)}
PARAMETERS = [
    pytest.param(c, id=c.name, marks=() if FIRST[c.primitive] is c else pytest.mark.full)
    for c in ROWS
]


@pytest.mark.parametrize("case", PARAMETERS)
def test_exact_value_and_gauge(case):
    """The exact value of whatever hypothesis thinks of, and the same bits in another gauge."""

    @given(st.data())
    def check(data):
        drawn = [
            draw_number(data, x.shape) if isinstance(x, Number) else (np.asarray(x.value), 0)
            for x in case.operands
        ]
        values, powers = zip(*drawn, strict=True)
        got = compiled(case)(*operands(case, values, powers))
        if case.operands[0] and case.numbers and np.size(values[case.numbers[0]]) < 64:
            exact = [
                exact_numbers(v, e) if i in case.numbers else v for i, (v, e) in enumerate(drawn)
            ]
            for a, b in zip(leaves(got), expected(case, exact), strict=True):
                assert_exact(a, b, case.ulps, DTYPE, f"{case}: ")
        shift = data.draw(st.integers(-30, 30))
        moved = [
            np.ldexp(v, shift).astype(DTYPE) if i in case.numbers else v
            for i, v in enumerate(values)
        ]
        assert_same_bits(compiled(case)(*operands(case, moved, [e - shift for e in powers])), got)

    check()


@given(st.data())
def test_sum_and_difference_are_correctly_rounded(data):
    s, e = draw_number(data, ELEMENTWISE)
    t, f = draw_number(data, ELEMENTWISE)
    add = compiled(next(c for c in CASES if c.name == "add"))
    (got,) = leaves(add(number(s, e), number(t, f)))
    bits = 53 if DTYPE == np.float64 else 24
    exact = zip(exact_numbers(s, e)[:64], exact_numbers(t, f)[:64], strict=True)
    for i, (a, b) in enumerate(exact):
        with mpmath.workprec(bits):
            want = a + b
        assert mpmath.ldexp(mpmath.mpf(float(got.significand[i])), int(got.exponent[i])) == want


@given(st.data())
def test_integers_that_cancel(data):
    """a + b + c - (a + b + c) is exactly zero at any common scale."""
    integers = np.array(data.draw(st.lists(st.integers(-(2**20), 2**20), min_size=24, max_size=24)))
    scale = data.draw(st.integers(-(10**6), 10**6))
    rows = [number(row.astype(DTYPE), scale) for row in integers.reshape(3, 8)]
    assert np.all(_cancels(*rows))


@jax.jit
def _cancels(a, b, c):
    one_way, other_way = a + b + c, c + b + a
    return one_way - other_way == 0


@given(st.floats(-1e8, 1e8), st.floats(-1e8, 1e8))
def test_products_add_logarithms(a, b):
    """Law of the logarithm, to the rounding of the arguments."""
    a, b = DTYPE.type(a), DTYPE.type(b)
    got = float(_log_of_product(a, b))
    bound = 4 * eps_of(DTYPE) * (1 + abs(float(a)) + abs(float(b)))
    assert abs(got - (float(a) + float(b))) <= bound


@jax.jit
def _log_of_product(a, b):
    return (ls.exp(a) * ls.exp(b)).logabs


def test_seeds_are_fixed():
    """Two runs draw the same ordinary points."""
    case = CASES[0]
    assert seed(case, DTYPE).random() == seed(case, DTYPE).random()
    assert jnp.result_type(float) == DTYPE
