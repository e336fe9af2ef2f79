"""The operations of the random programs on the jets of `tests.oracle`: functions, and the table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import mpmath
import numpy as np
from mpmath import mpc, mpf

from tests.oracle import NOTHING, Array, Jet, Oracle, add_up, log2_magnitude
from tests.oracle_arithmetic import (
    MARGIN,
    ONE,
    abs2,
    add,
    conj,
    cost_of,
    cumprod,
    cumsum,
    dot,
    elementwise,
    identity,
    imag,
    is_complex,
    mul,
    neg,
    nonnegative,
    prod,
    product,
    real,
    scales_of,
    square,
    sub,
    total,
    well_conditioned,
)
from tests.oracle_rounding import round_div, round_sqrt

# --- functions of one operand


def _function(
    o: Oracle,
    x: Jet,
    derivatives: Sequence[Array],
    e: Array,
    *,
    natural: tuple[Array, Array],
    cost: tuple[float, float, float],
    ok: Array,
    smooth: Array | None = None,
    rounded: Array | None = None,
    exact: Array | None = None,
    cancellation: float = 0.0,
    extra_error: Array | float = NOTHING,
    steps: int = 1,
    inflated: Sequence[Array] | None = None,
) -> Jet:
    """f(x) from f and its first three derivatives.

    `cancellation` is log2 of that among the terms of f''; `inflated` are bounds (log2) of the
    derivatives, where their magnitudes at x do not bound them over the error of x.
    """
    value, f1, f2, f3 = derivatives
    bounds = inflated or [log2_magnitude(f) for f in (f1, f2, f3)]
    return o.apply(
        [x],
        value,
        {(0,): f1, (0, 0): f2},
        bound={(0,): bounds[0], (0, 0): bounds[1] + cancellation},
        third={(0, 0, 0): bounds[2] + cancellation},
        scales=scales_of(o, e, *natural, steps=steps),
        cost=cost_of(cost, x),
        valid=ok,
        smooth=smooth,
        rounded=rounded,
        exact=exact,
        extra_error=extra_error,
    )


def reciprocal(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    x = xs[0]
    ok = well_conditioned(x)
    v = np.where(ok, x.value, ONE)
    f = 1 / v
    rounded, exact = o.rounding(lambda bits, a: round_div(bits, ONE._mpf_, a), [x])
    return _function(
        o,
        x,
        [f, -f * f, 2 * f**3, -6 * f**4],
        e,
        natural=(-x.high, -x.low),
        cost=(0.5, 3, 6),
        ok=ok,
        rounded=rounded,
        exact=exact,
    )


def div(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    x, y = xs
    if x is y:
        # Partial derivatives by operand: two jets with one content.
        x = identity(o, [x], None, x.low)
    ok = well_conditioned(y)
    divisor = np.where(ok, y.value, ONE)
    r, f = 1 / divisor, x.value / divisor
    rounded, exact = o.rounding(round_div, [x, y])
    return o.apply(
        [x, y],
        f,
        {(0,): r, (1,): -f * r, (0, 1): -r * r, (1, 1): 2 * f * r * r},
        third={
            (0, 1, 1): log2_magnitude(2 * r**3),
            (1, 1, 1): log2_magnitude(6 * f * r**3),
        },
        scales=scales_of(o, e, x.low - y.high, x.high - y.low),
        cost=cost_of((0.5, 3, 6), x, y),
        valid=ok,
        rounded=rounded,
        exact=exact,
    )


def sqrt(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    x = xs[0]
    positive = well_conditioned(x) & nonnegative(x)
    exact_zero = x.exact & (x.magnitude == NOTHING)
    v = np.where(positive, x.value, ONE)
    f = elementwise(mpmath.sqrt, v)
    rounded, exact = o.rounding(round_sqrt, [x])
    f1 = 1 / (2 * f)
    return _function(
        o,
        x,
        [np.where(exact_zero, mpf(0), f), f1, -f1 / (2 * v), 3 * f1 / (4 * v * v)],
        e,
        natural=(x.low // 2, x.high // 2),
        cost=(0.5, 3, 6),
        ok=positive | exact_zero,
        smooth=positive,
        rounded=rounded,
        exact=exact,
    )


def rsqrt(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    return reciprocal(o, [sqrt(o, xs, None, xs[0].low // 2)], None, e)


def absolute(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    x = xs[0]
    if is_complex(x):
        out = sqrt(o, [abs2(o, xs, None, 2 * x.low)], None, e)
        # only the modulus of an exact zero is certain to be exact
        out.exact = out.exact & (out.value == 0)
        out.rounded = np.where(out.exact, out.rounded, None)
        return out
    ok = well_conditioned(x) | x.exact
    sign = elementwise(lambda v: mpf(mpmath.sign(v)), x.value)
    zero = np.full(o.batch, mpf(0), dtype=object)
    rounded = elementwise(lambda v: None if v is None else abs(v), x.rounded)
    return _function(
        o,
        x,
        [sign * x.value, sign, zero, zero],
        e,
        natural=(x.low, x.high),
        cost=(0, 1, 1),
        ok=ok,
        smooth=x.magnitude > NOTHING,
        rounded=rounded,
        exact=x.exact,
    )


def integer_power(o: Oracle, xs: Sequence[Jet], n: int, e: Array) -> Jet:
    x = xs[0]
    if n == 2:
        return product(o, x, x, e)
    ok = well_conditioned(x) if n < 0 else np.ones(o.batch, bool)
    v = np.where(ok, x.value, ONE)

    def term(k: int) -> Array:
        """The k-th derivative of v**n."""
        factor = int(np.prod([n - i for i in range(k)]))
        if factor == 0 or (n >= 0 and k > n):
            return np.full(o.batch, mpf(0), dtype=object)
        return factor * v ** (n - k)

    # Multiplying powers of two by themselves, and an exact 1 or 0, rounds nothing.
    rounded = np.full(o.batch, None, dtype=object)
    exact = np.zeros(o.batch, bool)
    for i in range(o.batch):
        small = x.exact[i] and ok[i] and not isinstance(v[i], mpc)
        if n >= 0 and small and v[i]._mpf_[3] * max(n, 1) <= o.format.bits:
            rounded[i], exact[i] = v[i] ** n, True
    # The operand may be known badly, or not at all: derivatives are bounded over its whole error.
    inflated = None
    if n > 0:
        reach = add_up(x.magnitude, x.err0)
        inflated = [
            np.log2(float(math.perm(n, k))) + (reach * (n - k) if k < n else np.zeros(o.batch))
            if k <= n
            else np.full(o.batch, NOTHING)
            for k in range(1, 4)
        ]
    size = abs(n)
    low, high = (n * x.low, n * x.high) if n >= 0 else (n * x.high, n * x.low)
    return _function(
        o,
        x,
        [term(k) for k in range(4)],
        e,
        natural=(low, high),
        cost=(size / 2 + 0.5, 2 * size + 2, 4 * size + 4),
        ok=ok,
        rounded=rounded,
        exact=exact,
        cancellation=float(np.log2(3)) if n < 0 else 0.0,
        steps=size + 1,
        inflated=inflated,
    )


def power(o: Oracle, xs: Sequence[Jet], p: float | None, e: Array) -> Jet:
    """x**p with a real p: static, or the second operand."""
    x = xs[0]
    positive = well_conditioned(x) & nonnegative(x)
    v = np.where(positive, x.value, ONE)
    exact_zero = x.exact & (x.magnitude == NOTHING)
    if p is not None:
        # The implementation is given p in its own precision.
        p = float(np.float32(p)) if o.format.bits == 24 else p
        exponent = np.full(o.batch, mpf(p), dtype=object)
    else:
        exponent = xs[1].value
    zero_power = elementwise(lambda q: q > 0, exponent).astype(bool) & exact_zero
    logarithm = elementwise(mpmath.log, v)
    f = elementwise(lambda q, r: mpmath.exp(q * r), exponent, logarithm)
    value = np.where(zero_power, mpf(0), f)
    f_x = exponent * f / v
    f_xx = (exponent - 1) * f_x / v
    f_xxx = (exponent - 2) * f_xx / v
    size_p = log2_magnitude(exponent)
    turn = np.maximum(log2_magnitude(logarithm), 0) + 1  # log2 of a bound on |log x| + 1
    size, size_v = log2_magnitude(f), log2_magnitude(v)
    partials = {(0,): f_x, (0, 0): f_xx}
    third = {(0, 0, 0): log2_magnitude(f_xxx)}
    bound = {}
    if p is None:
        partials |= {
            (1,): f * logarithm,
            (0, 1): f * (1 + exponent * logarithm) / v,
            (1, 1): f * logarithm**2,
        }
        mixed = add_up(0.0, size_p + turn)
        bound = {(1,): size + turn, (0, 1): size - size_v + mixed, (1, 1): size + 2 * turn}
        third |= {
            (0, 0, 1): size - 2 * size_v + mixed + add_up(size_p, 1.0),
            (0, 1, 1): size - size_v + turn + add_up(1.0, mixed),
            (1, 1, 1): size + 3 * turn,
        }
    real_p = np.array([float(q) for q in exponent])
    natural = np.floor(real_p * x.low), np.ceil(real_p * x.high)
    return o.apply(
        xs[:1] if p is not None else xs,
        value,
        partials,
        bound=bound,
        third=third,
        scales=scales_of(o, e, np.minimum(*natural), np.maximum(*natural)),
        cost=cost_of((4, 8, 16), x),
        valid=positive | zero_power,
        smooth=positive,
    )


def exp(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    """e**x where |x| is moderate; the implementation reads x as a plain float."""
    x = xs[0]
    ok = (x.magnitude < 6) & (x.err0 < -MARGIN)
    f = elementwise(mpmath.exp, np.where(ok, x.value, mpf(0)))
    out = _function(o, x, [f] * 4, e, natural=(e, e), cost=(2, 3, 4), ok=ok)
    out.overflow = out.overflow | (
        np.maximum(x.abs1.max(axis=1), x.abs2.max(axis=1)) > o.format.largest
    )
    return out


def from_log(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    f = elementwise(mpmath.exp, xs[0].value)
    return _function(
        o, xs[0], [f] * 4, e, natural=(e, e), cost=(2, 3, 4), ok=np.ones(o.batch, bool)
    )


def logabs(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    x = xs[0]
    if is_complex(x):
        x = abs2(o, [x], None, 2 * x.low)
    ok = well_conditioned(x)
    factor = mpf(1) / (2 if x is not xs[0] else 1)
    v = np.where(ok, x.value, ONE)
    value = elementwise(lambda a: factor * mpmath.log(abs(a)), v)
    r = 1 / v
    plain = np.zeros(o.batch)
    return _function(
        o,
        x,
        [value, factor * r, -factor * r * r, 2 * factor * r**3],
        e,
        natural=(plain, plain),
        cost=(1, 3, 6),
        ok=ok,
        extra_error=np.full(o.batch, o.format.eps + 1.0),
        steps=4,
    )


# --- selection


def select(o: Oracle, condition: Array, certain: Array, x: Jet, y: Jet, e: Array) -> Jet:
    """x where the condition holds, else y."""

    def pick(a: Array, b: Array) -> Array:
        return np.where(condition if a.ndim == 1 else condition[:, None], a, b)

    seen_x = np.where(condition, 0.0, NOTHING)
    seen_y = np.where(condition, NOTHING, 0.0)
    return o.record(
        Jet(
            **{
                name: pick(getattr(x, name), getattr(y, name))
                for name in (
                    "value",
                    "first",
                    "second",
                    "abs1",
                    "abs2",
                    "err0",
                    "err1",
                    "err2",
                    "rounded",
                    "exact",
                )
            },
            valid=pick(x.valid, y.valid) & certain,
            smooth=x.valid & y.valid & x.smooth & y.smooth,
            low=e,
            high=e,
            parents=[(x, seen_x, []), (y, seen_y, [])],
            overflow=x.overflow | y.overflow,
        )
    )


def where_less(o: Oracle, xs: Sequence[Jet], _: object, e: Array) -> Jet:
    """where(x0 < x1, x2, x3) of real numbers."""
    a, b, x, y = xs
    condition = np.zeros(o.batch, bool)
    certain = np.zeros(o.batch, bool)
    for i in range(o.batch):
        if a.rounded[i] is not None and b.rounded[i] is not None:
            condition[i], certain[i] = a.rounded[i] < b.rounded[i], True
        else:
            gap = a.value[i] - b.value[i]
            condition[i] = gap < 0
            error = float(add_up(a.err0[i], b.err0[i])) + 1
            certain[i] = float(log2_magnitude(np.array(gap, object))) > error
    return select(o, condition, certain & a.valid & b.valid, x, y, e)


OPERATIONS: dict[str, Callable[[Oracle, Sequence[Jet], object, Array], Jet]] = {
    "add": add, "sub": sub, "neg": neg, "sum": total, "cumsum": cumsum, "conj": conj, "real": real,
    "imag": imag, "mul": mul, "square": square, "prod": prod, "cumprod": cumprod, "dot": dot,
    "abs2": abs2, "reciprocal": reciprocal, "div": div, "sqrt": sqrt, "rsqrt": rsqrt,
    "abs": absolute, "integer_power": integer_power, "power": power, "exp": exp,
    "from_log": from_log, "logabs": logabs, "where_less": where_less,
    # Logarithms that wait: exp(log x), exp(log x + log y), exp(log x - log y), exp(logaddexp).
    "exp_log": identity, "exp_log_add": mul, "exp_log_sub": div, "exp_logaddexp": add,
    "exp_log_scaled": power,
}  # fmt: skip
