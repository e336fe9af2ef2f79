"""Products of powers: where pairs cancel.

Every value has a list of factors (base, exponent). Products join the lists, powers multiply the
exponents, and equal bases, the same `Value`, are collected. One mechanism thus sees that

- ``sign(b) * |b|`` is b, ``sqrt(b)**2`` and ``exp(0.5 * log(b)) ** 2`` are b,
- ``exp(a - m) * exp(m)`` is exp(a), whatever m is, also where it is -inf,
- ``|b|**2`` is ``b * conj(b)``, which has derivatives at zero.

A base that can be zero is not cancelled against its inverse: x / x is nan at 0 and remains so. An
exponential is never zero, so it is.
"""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from .. import _numerics as num
from .factors import Factors, merge, raised, snapped
from .value import EXPONENTIAL, NUMBER, VALUE, Form, Graph, Value, is_constant, numerically, plainly


def exponential(graph: Graph, r: Value) -> Value:
    """The value e**r of a plain r."""
    if is_constant(r, 0.0):
        return graph.constant(1, r.shape, r.dtype)
    if r.operation == "view":
        # exponentiate before repeating
        from .movement import view

        root = exponential(graph, r.operands[0])
        if root.operation == "exp":
            return view(graph, root, r.params[0], r.shape)
    plain = None if is_extremum_of_logs(r) else plainly(lax.exp, r)
    value, new = graph.node("exp", (r,), plain=plain, number=_number_of_exp(graph, r))
    if new:
        value.exponent = r
        value.risky = EXPONENTIAL
        value.nonnegative = value.positive = not value.is_complex
        value.positive = True
        value.factors = _split_shift(graph, value, r)
    return value


def is_singular_log(v: Value) -> bool:
    """Whether v is the logarithm of a number that may be zero."""
    return v.is_log and not v.harmless and not v.is_complex


def is_extremum_of_logs(v: Value) -> bool:
    """Whether exp(v) is the largest or smallest of numbers that may be zero."""
    return (
        v.operation in _EXTREMA
        and any(map(is_singular_log, v.operands))
        and (len(v.operands) == 1 or all(o.is_float and o.shape == v.shape for o in v.operands))
    )


def _number_of_exp(graph: Graph, r: Value) -> Form:
    if is_extremum_of_logs(r):
        # exp is monotone: the exponential of the largest logarithm is the largest number
        extremum = _EXTREMA[r.operation]
        needs = tuple((antilog_of(graph, o), NUMBER) for o in r.operands)
        return Form(lambda *numbers: extremum(numbers, r.params), needs)
    return plainly(num.from_log, r)


_EXTREMA = {
    "reduce_max": lambda x, axes: num.reduce_extremum(x[0], axes, True),
    "reduce_min": lambda x, axes: num.reduce_extremum(x[0], axes, False),
    "max": lambda x, _: num.maximum(x[0], x[1]),
    "min": lambda x, _: num.minimum(x[0], x[1]),
}


def _split_shift(graph: Graph, value: Value, r: Value) -> Factors:
    """exp(a - m) as exp(a) / exp(m), where m looks like a shift: constant along some axis."""
    if r.operation == "neg":
        return ((exponential(graph, r.operands[0]), -1.0),)
    if r.operation in ("sub", "add") and all(o.is_float for o in r.operands):
        a, m = r.operands
        if r.operation == "add" and _is_shift(a):
            a, m = m, a
        if _is_shift(m) and a.shape == m.shape == r.shape and a.dtype == m.dtype:
            sign = -1.0 if r.operation == "sub" else 1.0
            factors, _ = merge(
                exponential(graph, a).factors, raised(exponential(graph, m).factors, sign)
            )
            return factors
    return ((value, 1.0),)


def _is_shift(m: Value) -> bool:
    return m.operation in ("view", "stop_gradient", "reduce_max", "max") or (
        m.operation == "convert_element_type" and _is_shift(m.operands[0])
    )


def guard(graph: Graph, v: Value) -> Value:
    """v where it has a real logarithm, nan where it is negative: exp(log(v))."""
    if v.is_complex or v.nonnegative:
        return v
    if v.antilog is not None:
        return _guarded_log(graph, v)
    if any(b.is_exponential for b, _ in v.factors) and v.is_product:
        # a shift stays in sight, to meet its inverse
        certain = [(b, e) for b, e in v.factors if b.nonnegative]
        others = [(b, e) for b, e in v.factors if not b.nonnegative]
        rest = guard(graph, product(graph, others, v.shape, v.dtype))
        factors, _ = merge(certain, rest.factors)
        return product(graph, factors, v.shape, v.dtype)
    value, new = graph.node(
        "guard", (v,), plain=plainly(_nan_where_negative, v), number=numerically(_guard_number, v)
    )
    if new:
        value.nonnegative = True
        value.risky, value.weak_type = v.risky, v.weak_type
    return value


def _guarded_log(graph: Graph, v: Value) -> Value:
    """A logarithm, as that of a number that is nan where the logarithm is negative."""
    assert v.antilog is not None

    def guarded(x: num.Scaled, log: jax.Array) -> num.Scaled:
        # at -inf too, where the number is zero and regular
        return num.where(
            lax.lt(log, lax.full_like(log, 0)), num.from_linear(lax.full_like(log, np.nan)), x
        )

    antilog, new = graph.node(
        "guarded_antilog",
        (v.antilog, v),
        number=Form(guarded, ((v.antilog, NUMBER), (v, VALUE if VALUE in v.forms else "plain"))),
    )
    if new:
        antilog.risky, antilog.nonnegative = v.antilog.risky, v.antilog.nonnegative
    log = logarithm(graph, antilog, plainly(_nan_where_negative, v), ("guard", (v,), None),
                    harmless=v.harmless)  # fmt: skip
    log.nonnegative = True
    return log


def _nan_where_negative(a: jax.Array) -> jax.Array:
    return lax.select(lax.lt(a, lax.full_like(a, 0)), lax.full_like(a, np.nan), a)


def _guard_number(x: num.Scaled) -> num.Scaled:
    negative = lax.lt(x.significand, lax.full_like(x.significand, 0))
    return num.Scaled(
        lax.select(negative, lax.full_like(x.significand, np.nan), x.significand),
        lax.select(negative, lax.full_like(x.exponent, 0), x.exponent),
    )


def power_factors(
    graph: Graph, v: Value, power: float
) -> tuple[tuple[tuple[Value, float], ...], bool]:
    """The factors of v**power, and whether that is simpler than the power of v.

    A power that is not an integer distributes over factors that are not negative; x**2 is |x|**2.
    """
    if float(power).is_integer():
        # a root that becomes whole again has lost its singularity
        factors = tuple((b, snapped(e * power, b.dtype)) for b, e in v.factors)
        whole = any(
            not e.is_integer() and raised_e.is_integer()
            for (_, e), (_, raised_e) in zip(v.factors, factors, strict=True)
        )
        pole_removed = [e for _, e in v.factors] == [-1.0] and power == -1.0
        even_modulus = any(b.operation == "abs" for b, _ in v.factors) and power != 1
        return factors, whole or even_modulus or pole_removed
    if v.is_complex:
        return ((v, float(power)),), False
    factors, roots_removed = [], []
    for base, e in v.factors:
        raised_e = snapped(e * power, base.dtype)
        # sqrt(x**4) is x**2, and sqrt(x**2) is x where x is not negative
        whole = raised_e.is_integer() and raised_e >= 1
        if not base.positive:
            roots_removed.append(whole and (base.nonnegative or raised_e % 2 == 0))
        if not base.nonnegative:
            if not (e.is_integer() and int(e) % 2 == 0):
                return ((guard(graph, v), float(power)),), False
            base = absolute(graph, base)
        factors.append((base, raised_e))
    return tuple(factors), bool(roots_removed) and all(roots_removed)


def absolute(graph: Graph, v: Value, plain: Form | None = None) -> Value:
    """|v|, of a product the product of the moduli."""
    if v.nonnegative and not v.is_complex:
        return v
    if v.operation == "conj" or v.operation == "neg":
        return absolute(graph, v.operands[0], plain)
    dtype = np.empty(0, v.dtype).real.dtype
    if v.is_product:
        factors, _ = merge(*(raised(absolute(graph, base).factors, e) for base, e in v.factors))
        return product(graph, factors, v.shape, dtype)
    if v.exponent is not None and v.is_complex:
        r = v.exponent
        real_part, new = graph.node("real", (r,), dtype=dtype, plain=plainly(lax.real, r))
        return exponential(graph, real_part)
    value, new = graph.node(
        "abs",
        (v,),
        dtype=dtype,
        plain=plainly(lax.abs, v) if plain is None else plain,
        number=numerically(num.absolute, v),
    )
    if new:
        value.nonnegative = True
        value.risky, value.positive = v.risky, v.positive
        value.underflows = v.underflows
        value.normalised_axes = v.normalised_axes
    return value


def sign(graph: Graph, v: Value) -> Value:
    """v / |v|, and 0 where v is 0; of a real product the product of the signs."""
    if v.is_complex:
        if v.operation == "sign":
            return v
    plain = numerically(num.sign, v) if v.risky else plainly(lax.sign, v)
    value, new = graph.node("sign", (v,), plain=plain, number=None)
    if new and v.is_product and not v.is_complex:
        signs = _signs_of_factors(graph, v)
        if signs is not None:
            value.factors, _ = merge(signs)
    return value


def _signs_of_factors(graph: Graph, v: Value) -> list[tuple[Value, float]] | None:
    """One factor for each of v's that may be negative or 0; None where poles hide zeros."""
    from .movement import live

    signs = []
    for base, e in v.factors:
        if base.positive:
            continue
        if e < 0 or not (base.nonnegative or e.is_integer()):
            return None
        one = sign(graph, base) if e % 2 == 1 and not base.nonnegative else None
        signs.append((live(graph, base, v.dtype) if one is None else one, 1.0))
    return signs


def product(
    graph: Graph,
    factors: Factors,
    shape: Sequence[int],
    dtype: Any,
    *,
    plain: Form | None = None,
) -> Value:
    """The value of a list of factors: the base itself if there is one to the power one."""
    factors = tuple(factors)
    if not factors:
        return graph.constant(1, shape, dtype)
    if len(factors) == 1 and factors[0][1] == 1.0:
        return factors[0][0]
    if len(factors) == 1 and factors[0][1] == 2.0 and factors[0][0].operation == "abs":
        return _square_of_modulus(graph, factors[0][0])
    bases = tuple(base for base, _ in factors)

    def of_numbers(*numbers: num.Scaled) -> num.Scaled:
        return _evaluate(numbers, exponents)

    needs = tuple(
        (_square_of_modulus(graph, b), NUMBER) if _is_even_modulus(b, e) else (b, NUMBER)
        for b, e in factors
    )
    exponents = tuple(e / 2 if _is_even_modulus(b, e) else e for b, e in factors)
    value, new = graph.node(
        "product",
        bases,
        tuple(e for _, e in factors),
        shape=shape,
        dtype=dtype,
        plain=plain,
        number=Form(of_numbers, needs),
    )
    if new:
        value.factors = factors
        value.risky = EXPONENTIAL
        value.positive = all(b.positive for b in bases)
        value.nonnegative = (
            all(b.nonnegative or (e.is_integer() and int(e) % 2 == 0) for b, e in factors)
            and not value.is_complex
        )
    return value


def _is_even_modulus(base: Value, e: float) -> bool:
    return base.operation == "abs" and e.is_integer() and int(e) % 2 == 0


def _square_of_modulus(graph: Graph, modulus: Value) -> Value:
    """|b|**2 as conj(b) * b, which has every derivative at zero."""
    b = modulus.operands[0]
    plain = None if b.risky else plainly(_plain_abs2, b)
    value, new = graph.node(
        "abs2", (b,), dtype=modulus.dtype, plain=plain, number=numerically(num.abs2, b)
    )
    if new:
        value.nonnegative, value.risky = True, b.risky
        value.factors = ((modulus, 2.0),)
    return value


def _plain_abs2(a: jax.Array) -> jax.Array:
    if jax.numpy.iscomplexobj(a):
        re, im = lax.real(a), lax.imag(a)
        return lax.add(lax.mul(re, re), lax.mul(im, im))
    return lax.mul(a, a)


def power_of_number(x: num.Scaled, e: float) -> num.Scaled:
    """x**e for a known real exponent."""
    if e.is_integer():
        return num.integer_power(x, int(e))
    if e == 0.5:
        return num.sqrt(x)
    if (2 * e).is_integer() and abs(e) < 8:
        return num.integer_power(num.sqrt(x), int(2 * e))
    return num.power(x, num.constant_like(x.significand, e))


def _evaluate(numbers: Sequence[num.Scaled], exponents: Sequence[float]) -> num.Scaled:
    """Positive powers multiplied, then divided by the negative ones."""
    above: list[num.Scaled] = []
    below: list[num.Scaled] = []
    for x, e in zip(numbers, exponents, strict=True):
        (above if e > 0 else below).append(power_of_number(x, abs(e)))

    def multiplied(parts: list[num.Scaled]) -> num.Scaled:
        out = parts[0]
        for part in parts[1:]:
            out = num.multiply(out, part)
        return out

    if not below:
        return multiplied(above)
    if not above:
        return num.reciprocal(multiplied(below))
    return num.divide(multiplied(above), multiplied(below))


def logarithm(
    graph: Graph,
    antilog: Value,
    plain: Form,
    key: tuple[str, Sequence[Value], Any],
    *,
    harmless: bool,
    shape: Sequence[int] | None = None,
) -> Value:
    """The logarithm of a value, with its own plain form."""
    operation, operands, params = key
    value, new = graph.node(
        operation,
        operands,
        params,
        shape=antilog.shape if shape is None else shape,
        dtype=antilog.dtype,
        plain=plain,
    )
    if new:
        value.antilog = antilog
        value.harmless = harmless
    return value


def antilog_of(graph: Graph, v: Value) -> Value:
    """exp(v): the number behind a logarithm, or the exponential of a plain value."""
    return v.antilog if v.antilog is not None else exponential(graph, v)


def log_of_number(antilog: Value) -> Form:
    """The plain form of log(antilog), from its number."""
    return numerically(num.log, antilog)
