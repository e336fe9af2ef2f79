"""Sums and products of the random programs, on the jets of `tests.oracle`.

Every operation takes the oracle, the operands, the node's static parameter and the exponents at
which the implementation under test holds the result, and returns the result's jet. Costs are
rounding errors in units of eps: an operation that is correctly rounded costs half of one, a
derivative is allowed a few roundings per term.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath
import numpy as np
from mpmath import mpc, mpf

from tests.oracle import NOTHING, Array, Jet, Oracle, add_up, log2_magnitude
from tests.oracle_rounding import round_add, round_mul

ONE = mpf(1)
MARGIN = 10  # a singular function is judged where its operand is known to 2**-MARGIN of itself
WINDOW_STEP = {53: 512, 24: 64}  # the implementation may move a result's exponent by one such step

#: How far a sum is taken above its largest live term for the sake of a dead one.
ROOM = {(53, False): 500, (53, True): 472, (24, False): 57, (24, True): 30}


def elementwise(function: Callable, *arrays: Array) -> Array:
    return np.frompyfunc(function, len(arrays), 1)(*arrays)


def is_complex(x: Jet) -> bool:
    return any(isinstance(v, mpc) for v in x.value)


def cost_of(real: tuple[float, float, float], *operands: Jet) -> tuple[float, float, float]:
    """Complex operations add up a few products for every one of the real operation."""
    if any(is_complex(x) for x in operands):
        return (3 * real[0], 3 * real[1], 3 * real[2])
    return real


def scales_of(
    oracle: Oracle, e: Array, low: Array, high: Array, steps: int = 1
) -> tuple[Array, Array]:
    """Exponents in play: the result's, and the one before the result was brought in range."""
    step = WINDOW_STEP[oracle.format.bits] * steps
    return np.minimum(e, np.maximum(low, e - step)), np.maximum(e, np.minimum(high, e + step))


def well_conditioned(x: Jet) -> Array:
    magnitude = x.magnitude
    return (magnitude > NOTHING) & (x.err0 < magnitude - MARGIN)


def nonnegative(x: Jet) -> Array:
    """Real operands: certainly not negative. Complex: certainly off the branch cut."""
    out = np.zeros(len(x.value), bool)
    for i, v in enumerate(x.value):
        if isinstance(v, mpc):
            out[i] = v.real > 0 or (v.imag != 0 and float(log2_magnitude(v.imag)) > x.err0[i] + 4)
        else:
            out[i] = v >= 0
    return out


# --- linear


def linear(oracle: Oracle, xs: Sequence[Jet], signs: Sequence[int], e: Array) -> Jet:
    value = signs[0] * xs[0].value
    for x, sign in zip(xs[1:], signs[1:], strict=True):
        value = value + sign * x.value
    zero = np.zeros(oracle.batch)

    def rule(bits: int, *terms: tuple) -> tuple[tuple | None, bool]:
        signed = [
            (1 - t[0], *t[1:]) if s < 0 and t[1] else t for t, s in zip(terms, signs, strict=True)
        ]
        return round_add(bits, *signed)

    apart = oracle.rounding_complex if any(is_complex(x) for x in xs) else oracle.rounding
    rounded, exact = apart(rule, xs)
    sizes = [x.magnitude for x in xs]
    lost = NOTHING
    if len(xs) > 2:
        lost = add_up(*sizes) + oracle.format.eps + np.log2((len(xs) - 1) / 2)
    natural = np.stack([np.where(s > NOTHING, s, x.high) for s, x in zip(sizes, xs, strict=True)])
    if len(xs) == 2:
        natural = np.maximum(natural, np.stack([x.high for x in xs]))
    terms = len(xs)
    return oracle.apply(
        xs,
        value,
        {(i,): np.full(oracle.batch, mpf(s), dtype=object) for i, s in enumerate(signs)},
        bound={(i,): zero for i in range(terms)},
        scales=scales_of(oracle, e, e, natural.max(axis=0)),
        cost=(0.5 if terms == 2 else 0, terms / 2 + 0.5, terms / 2 + 1),
        rounded=rounded,
        exact=exact,
        extra_error=lost,
    )


def add(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return linear(o, xs, [1, 1], e)


def sub(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return linear(o, xs, [1, -1], e)


def neg(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return linear(o, xs, [-1], e)


def identity(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return linear(o, xs, [1], e)


def total(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return linear(o, xs, [1] * len(xs), e)


def forget_order(out: Jet, count: int) -> Jet:
    """Three factors or terms have no one correctly rounded result, unless nothing was rounded."""
    if count > 2:
        out.rounded = np.where(out.exact, out.rounded, None)
    return out


def cumsum(o: Oracle, xs: Sequence[Jet], count: int, e: Array) -> Jet:
    """A running sum is built of sums of two, each at an exponent of its own."""
    parts = list(xs[:count])
    if count == 1:
        return identity(o, parts, None, e)
    while len(parts) > 2:
        pairs = [
            linear(o, parts[i : i + 2], [1, 1], _exponent_of_sum(o, *parts[i : i + 2]))
            for i in range(0, len(parts) - 1, 2)
        ]
        parts = pairs + parts[2 * len(pairs) :]
    return forget_order(linear(o, parts, [1, 1], e), count)


def _exponent_of_sum(o: Oracle, x: Jet, y: Jet) -> Array:
    """That of the larger live term, raised towards a dead term above it as far as is safe."""
    room = ROOM[o.format.bits, is_complex(x) or is_complex(y)]
    live_x, live_y = x.magnitude > NOTHING, y.magnitude > NOTHING
    top = np.maximum(x.high, y.high)
    live = np.where(live_x == live_y, top, np.where(live_x, x.high, y.high))
    return np.minimum(top, live + room)


def _real_linear(o: Oracle, x: Jet, function: Callable, e: Array) -> Jet:
    """conj, real and imag: linear over the reals only."""
    out = linear(o, [x], [1], e)
    out.value = elementwise(function, out.value)
    out.first, out.second = elementwise(function, out.first), elementwise(function, out.second)
    out.rounded = elementwise(lambda v: None if v is None else function(v), out.rounded)
    return out


def conj(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return _real_linear(o, xs[0], lambda v: v.conjugate(), e)


def real(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return _real_linear(o, xs[0], lambda v: v.real, e)


def imag(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return _real_linear(o, xs[0], lambda v: v.imag, e)


# --- products


def product(o: Oracle, x: Jet, y: Jet, e: Array | None = None) -> Jet:
    complex_operands = is_complex(x) or is_complex(y)
    value = x.value * y.value
    if complex_operands:
        # Not correctly rounded, but exact where its four products and two sums are.
        rounded, exact = np.full(o.batch, None, dtype=object), np.zeros(o.batch, bool)
        for i in range(o.batch):
            if x.exact[i] and y.exact[i]:
                rounded[i], exact[i] = _exact_complex_product(o, x.rounded[i], y.rounded[i])
    else:
        rounded, exact = o.rounding(round_mul, [x, y])
    natural_low, natural_high = x.low + y.low, x.high + y.high
    scales = (natural_low, natural_high)
    if e is not None:
        scales = scales_of(o, e, natural_low, natural_high)
    partials: dict[tuple[int, ...], Array]
    if x is y:
        partials = {(0,): 2 * x.value, (0, 0): np.full(o.batch, mpf(2), dtype=object)}
    else:
        partials = {
            (0,): y.value,
            (1,): x.value,
            (0, 1): np.full(o.batch, ONE, dtype=object),
        }
    return o.apply(
        [x] if x is y else [x, y],
        value,
        partials,
        scales=scales,
        cost=cost_of((0.5, 2, 3), x, y),
        rounded=rounded,
        exact=exact,
    )


def _exact_complex_product(o: Oracle, x: object, y: object) -> tuple[object, bool]:
    bits = o.format.bits
    parts = []
    for terms in (((x.real, y.real), (-x.imag, y.imag)), ((x.real, y.imag), (x.imag, y.real))):
        products = [round_mul(bits, a._mpf_, b._mpf_) for a, b in terms]
        sum_, exact = round_add(bits, *(p for p, _ in products))
        if sum_ is None or not exact or not all(ok for _, ok in products):
            return None, False
        parts.append(sum_)
    if not o.hold_both(*parts):
        return None, False
    return mpmath.mp.make_mpc(tuple(parts)), True


def mul(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return product(o, xs[0], xs[1], e)


def square(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return product(o, xs[0], xs[0], e)


def prod(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    out = xs[0]
    for x in xs[1:-1]:
        out = product(o, out, x)
    out = product(o, out, xs[-1], e) if len(xs) > 1 else identity(o, xs, None, e)
    return forget_order(out, len(xs))


def cumprod(o: Oracle, xs: Sequence[Jet], count: int, e: Array) -> Jet:
    return prod(o, xs[:count], None, e)


def dot(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    half = len(xs) // 2
    terms = [product(o, x, y) for x, y in zip(xs[:half], xs[half:], strict=True)]
    # Products need not be rounded before they are added up.
    for t in terms:
        t.rounded = np.where(t.exact, t.rounded, None)
    return total(o, terms, None, e)


def abs2(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    x = xs[0]
    if not is_complex(x):
        return product(o, x, x, e)
    return real(o, [product(o, x, conj(o, [x], None, x.low), e)], None, e)
