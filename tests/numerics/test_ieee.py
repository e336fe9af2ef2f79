"""+ - * / and sqrt are IEEE arithmetic with an unbounded exponent: bit for bit mpmath's.

At every exponent, inside jit, also in expressions that a compiler might contract into a fused
multiply-add. Complex numbers: the bounds on the normwise error.
"""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from logspace import _numerics as num
from logspace._numerics import Scaled

X64 = jax.config.jax_enable_x64
REAL = ["float64", "float32"] if X64 else ["float32"]
COMPLEX = ["complex128", "complex64"] if X64 else ["complex64"]
REACHES = [0, 60, 1200, 100_000]
COUNT = 500
BITS = {"float64": 53, "float32": 24}


def numbers(rng, dtype, reach, *, positive=False) -> Scaled:
    """Significands anywhere in their window, exponents within the reach."""
    window = num.format_of(dtype).window
    spread = min(window, 20) if reach == 0 else window
    s = rng.uniform(1, 2, COUNT) * 2.0 ** rng.integers(-spread + 1, spread - 1, COUNT)
    s = np.where(rng.integers(0, 2, COUNT) | positive, s, -s).astype(dtype)
    return Scaled(jnp.asarray(s), jnp.asarray(rng.integers(-reach, reach + 1, COUNT), jnp.int32))


def exact(x: Scaled) -> list[mpmath.mpf]:
    s, e = map(np.asarray, x)
    with mpmath.workprec(53):
        return [mpmath.ldexp(mpmath.mpf(float(a)), int(b)) for a, b in zip(s, e, strict=True)]


#: Each with as many operands as it has parameters; mpmath rounds every operation, as IEEE does.
EXPRESSIONS = {
    "add": (num.add, lambda x, y: x + y),
    "subtract": (num.subtract, lambda x, y: x - y),
    "multiply": (num.multiply, lambda x, y: x * y),
    "divide": (num.divide, lambda x, y: x / y),
    "sqrt": (num.sqrt, mpmath.sqrt),
    "reciprocal": (num.reciprocal, lambda x: 1 / x),
    "a*b + c*d": (
        lambda a, b, c, d: num.add(num.multiply(a, b), num.multiply(c, d)),
        lambda a, b, c, d: a * b + c * d,
    ),
    "a*a - b*c": (
        lambda a, b, c: num.subtract(num.multiply(a, a), num.multiply(b, c)),
        lambda a, b, c: a * a - b * c,
    ),
    "a*b*c - a": (
        lambda a, b, c: num.subtract(num.multiply(num.multiply(a, b), c), a),
        lambda a, b, c: a * b * c - a,
    ),
    "(a*b + c) / (a - b)": (
        lambda a, b, c: num.divide(num.add(num.multiply(a, b), c), num.subtract(a, b)),
        lambda a, b, c: (a * b + c) / (a - b),
    ),
    "a*2 + 3*b": (
        lambda a, b: num.add(
            num.multiply(a, _constant(a, 2.7)), num.multiply(_constant(b, 3.1), b)
        ),
        None,
    ),
}


def _constant(x: Scaled, value: float) -> Scaled:
    return num.from_linear(jnp.full_like(x.significand, value))


@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize("dtype", REAL)
def test_bit_for_bit(dtype, reach, rng):
    """All expressions in one compiled function each, so that XLA may fuse what it likes."""
    for name, (ours, theirs) in EXPRESSIONS.items():
        if theirs is None:
            c1, c2 = (mpmath.mpf(float(np.dtype(dtype).type(v))) for v in (2.7, 3.1))
            theirs = lambda a, b, c1=c1, c2=c2: a * c1 + c2 * b  # noqa: E731
        count = theirs.__code__.co_argcount if hasattr(theirs, "__code__") else 1
        count = {"sqrt": 1, "a*2 + 3*b": 2}.get(name, count)
        operands = [numbers(rng, dtype, reach, positive=name == "sqrt") for _ in range(count)]
        got = exact(jax.jit(ours)(*operands))
        inputs = [exact(x) for x in operands]
        with mpmath.workprec(BITS[dtype]):
            want = [theirs(*row) for row in zip(*inputs, strict=True)]
        wrong = [i for i in range(COUNT) if got[i] != want[i]]
        assert not wrong, f"{name}: {len(wrong)} of {COUNT}; {got[wrong[0]]}, not {want[wrong[0]]}"


@pytest.mark.parametrize("dtype", REAL)
def test_almost_cancelling_pairs(dtype, rng):
    """y is x with a few last bits and the representation changed."""
    x = numbers(rng, dtype, 1000)
    bits = np.asarray(x.significand).view(np.int64 if dtype == "float64" else np.int32)
    near = (bits + rng.integers(-3, 4, COUNT).astype(bits.dtype)).view(dtype)
    shift = rng.integers(-4, 5, COUNT)
    moved = np.ldexp(near, shift).astype(dtype)
    y = Scaled(jnp.asarray(moved), x.exponent - jnp.asarray(shift, jnp.int32))
    got = exact(jax.jit(num.subtract)(x, y))
    with mpmath.workprec(BITS[dtype]):
        assert got == [a - b for a, b in zip(exact(x), exact(y), strict=True)]


#: Normwise errors in units of eps / 2: measured to be at most 1.6 (mul), 2.5 (div), 1.9 (sqrt),
#: 1.8 (abs); products of parts are rounded separately.
COMPLEX_BOUNDS = {
    "multiply": (num.multiply, lambda x, y: x * y, 2.3),
    "divide": (num.divide, lambda x, y: x / y, 5),
    "sqrt": (num.sqrt, mpmath.sqrt, 4),
    "absolute": (num.absolute, abs, 3),
    "abs2": (num.abs2, lambda x: abs(x) ** 2, 3),
}


@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("name", COMPLEX_BOUNDS)
def test_complex_errors(name, dtype, reach, rng):
    ours, theirs, bound = COMPLEX_BOUNDS[name]
    count = 2 if name in ("multiply", "divide") else 1
    real = "float64" if dtype == "complex128" else "float32"
    operands = []
    for _ in range(count):
        phase = np.exp(2j * np.pi * rng.uniform(size=COUNT))
        s, e = numbers(rng, real, reach)
        edge = 2.0 ** (num.format_of(dtype).window - num.format_of(real).window)
        s = np.asarray(s) * np.where(np.abs(s) > 1, edge, 1 / edge) * phase
        operands.append(Scaled(jnp.asarray(s, dtype), e))
    got = jax.jit(ours)(*operands)
    values = [
        [mpmath.mpc(*(mpmath.ldexp(mpmath.mpf(float(p)), int(k)) for p in (a.real, a.imag)))
         for a, k in zip(*map(np.asarray, x), strict=True)]
        for x in operands
    ]  # fmt: skip
    unit = float(np.finfo(real).eps) / 2
    for i, row in enumerate(zip(*values, strict=True)):
        want = theirs(*row)
        s, e = np.asarray(got.significand[i]), int(got.exponent[i])
        found = mpmath.mpc(
            *(mpmath.ldexp(mpmath.mpf(float(p)), e) for p in (np.real(s), np.imag(s)))
        )
        assert abs(found - want) <= bound * unit * abs(want), f"{row}: {found}, not {want}"


def test_comparison_can_fail():
    """One unit in the last place is noticed."""
    x = Scaled(jnp.ones(1), jnp.zeros(1, jnp.int32))
    above = Scaled(jnp.nextafter(x.significand, 2.0), x.exponent)
    assert exact(above) != exact(x)
