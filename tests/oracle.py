"""An mpmath oracle with derivatives and derived error bounds. It shares no code with the library.

A `Jet` holds, for a batch of B draws, a number x(t) of one parameter per direction: its value, its
first derivative along each of D directions, and the mixed second derivatives along each of these
and the last one. The numbers are mpmath numbers of `PRECISION` bits with unbounded exponents.

Beside every number runs a bound (log2 of it, NumPy, shape as the number's):

* `abs1`, `abs2`: the sums of the absolute values of the terms that the chain rule adds up, over all
  paths. They bound what forward and reverse mode, which add the same terms in different orders,
  may lose to rounding.
* `err0`, `err1`, `err2`: a bound on the absolute error of an algorithm that rounds every operation,
  in the value and in each term of the derivative, to a few units of eps, with the errors of the
  operands propagated through the partial derivatives (first order, products of errors included).
* a floor, added to `err1` and `err2` at each node: what a float cannot hold at the exponents that
  the implementation chose for the node (`scales`), and `overflow`, where a derivative is too large
  for them. Exact arithmetic on unbounded exponents has neither; significands do.

`rounded` is what correctly rounded arithmetic of `bits` bits gives, where the program has used
nothing but operations that are correctly rounded (else None); a zero there must be found. `exact`
says that no rounding has happened at all: the bound is 0 then.

240 bits suffice, although exponents differ by 1e5 bits: wherever a sum is not exact in 53 bits its
bound is at least 2**-53 of its largest term, 2**187 times the error of the oracle; wherever it is
exact in 53 bits, it is so in 240.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import mpmath
import numpy as np
from mpmath import mp, mpc, mpf

PRECISION = 240
mp.prec = PRECISION
ZERO = mpf(0)
NOTHING = -np.inf  # log2 of zero

Array = np.ndarray


@dataclass(frozen=True)
class FloatFormat:
    """What the oracle must know about the significands under test."""

    bits: int  # of the mantissa, the hidden one included
    largest: int  # a derivative beyond 2**largest (in units of the node's scale) may be infinite
    smallest: int  # what is below 2**smallest may be zero
    parts: int  # real and imaginary parts within 2**parts of each other are held to full precision

    @property
    def eps(self) -> int:
        return 1 - self.bits


DOUBLE = FloatFormat(bits=53, largest=980, smallest=-1018, parts=500)
SINGLE = FloatFormat(bits=24, largest=105, smallest=-122, parts=80)


# --- log2 of magnitudes


def _log2_mpf(x: mpf) -> float:
    _, man, exp, bc = x._mpf_
    if not man:
        return NOTHING
    shift = max(bc - 53, 0)
    return math.log2(man >> shift) + (exp + shift)


def _log2(x: object) -> float:
    if isinstance(x, mpc):
        return 0.5 * float(np.logaddexp2(2 * _log2_mpf(x.real), 2 * _log2_mpf(x.imag)))
    return _log2_mpf(x)


_log2_ufunc = np.frompyfunc(_log2, 1, 1)


def log2_magnitude(x: Array) -> Array:
    """log2 |x| of an array of finite mpmath numbers, -inf at zero."""
    return np.asarray(_log2_ufunc(x), dtype=np.float64)


def add_up(*terms: Array | float) -> Array:
    """log2 of a sum of magnitudes given by their log2."""
    total = terms[0]
    for term in terms[1:]:
        total = np.logaddexp2(total, term)
    return np.asarray(total)


def exact_number(significand: complex | float, exponent: int) -> mpf | mpc:
    """significand * 2**exponent, exactly (the significand must be finite)."""
    s = np.asarray(significand)
    if np.iscomplexobj(s):
        re, im = float(s.real), float(s.imag)
        return mpc(mpmath.ldexp(mpf(re), int(exponent)), mpmath.ldexp(mpf(im), int(exponent)))
    return mpmath.ldexp(mpf(float(s)), int(exponent))


def exact_numbers(significand: Array, exponent: Array) -> Array:
    """`exact_number` of arrays; None where the significand is not finite."""
    s, e = np.broadcast_arrays(significand, exponent)
    out = np.empty(s.shape, dtype=object)
    for i in np.ndindex(s.shape):
        out[i] = exact_number(s[i], e[i]) if np.isfinite(s[i]) else None
    return out


# --- the jet


@dataclass
class Jet:
    value: Array  # (B,)
    first: Array  # (B, D)
    second: Array  # (B, D): along direction d and the last direction
    abs1: Array
    abs2: Array
    err0: Array
    err1: Array
    err2: Array
    rounded: Array  # (B,), entries None where unknown
    exact: Array  # (B,) bool
    valid: Array  # (B,) bool: the value is defined, and well conditioned
    smooth: Array  # (B,) bool: so are the derivatives, two of them
    low: Array  # (B,) exponents at which the implementation held the number
    high: Array
    parents: list[tuple[Jet, Array, list[tuple[Jet, Array]]]] = field(default_factory=list)
    overflow: Array | None = None  # (B,) bool: a derivative does not fit, here or before

    @property
    def magnitude(self) -> Array:
        return log2_magnitude(self.value)


Partials = dict[tuple[int, ...], Array]


class Oracle:
    """Builds jets. One instance per batch; `nodes` lists them in order of evaluation."""

    def __init__(self, float_format: FloatFormat, batch: int, directions: int) -> None:
        self.format = float_format
        self.batch = batch
        self.directions = directions
        self.nodes: list[Jet] = []

    # leaves

    def leaf(
        self,
        value: Array,
        unit: Array,
        slots: dict[int, complex],
        along: Array,
        scales: tuple[Array, Array],
    ) -> Jet:
        """An input x = unit * parameter.

        `slots` maps directions to the parameter's derivative along it; `along` (B,) is that along
        the last direction.
        """
        shape = (self.batch, self.directions)
        first = np.full(shape, ZERO, dtype=object)
        for slot, coefficient in slots.items():
            first[:, slot] = unit * mpmath.mpmathify(coefficient)
        first[:, -1] = unit * np.array([mpmath.mpmathify(a) for a in along], dtype=object)
        return self.record(
            Jet(
                value=value,
                first=first,
                second=np.full(shape, ZERO, dtype=object),
                abs1=log2_magnitude(first),
                abs2=np.full(shape, NOTHING),
                err0=np.full(self.batch, NOTHING),
                err1=np.full(shape, NOTHING),
                err2=np.full(shape, NOTHING),
                rounded=value.copy(),
                exact=np.ones(self.batch, bool),
                valid=np.ones(self.batch, bool),
                smooth=np.ones(self.batch, bool),
                low=scales[0],
                high=scales[1],
                overflow=np.zeros(self.batch, bool),
            )
        )

    def record(self, jet: Jet) -> Jet:
        self.nodes.append(jet)
        return jet

    # the chain rule

    def apply(
        self,
        operands: Sequence[Jet],
        value: Array,
        partials: Partials,
        *,
        bound: dict[tuple[int, ...], Array] | None = None,
        third: dict[tuple[int, ...], Array] | None = None,
        scales: tuple[Array, Array],
        cost: tuple[float, float, float],
        rounded: Array | None = None,
        exact: Array | None = None,
        valid: Array | None = None,
        smooth: Array | None = None,
        extra_error: Array | float = NOTHING,
    ) -> Jet:
        """f(operands), given f's partial derivatives at them.

        partials: first and second partial derivatives by sorted tuples of operand numbers; those
            that are missing are zero.
        bound, third: log2 of bounds of the partial derivatives of order one and two (default: their
            magnitudes) and three.
        cost: rounding errors in units of eps, of the value and of the two derivatives.
        extra_error: log2 of more absolute error of the value.
        """
        f = self.format
        bound = {k: log2_magnitude(p) for k, p in partials.items()} | (bound or {})
        third = third or {}
        ones = [k for k in partials if len(k) == 1]
        pairs = [p for k in partials if len(k) == 2 for p in set(itertools.permutations(k))]
        triples = [p for k in third for p in set(itertools.permutations(k))]
        shape = (self.batch, self.directions)

        first = np.full(shape, ZERO, dtype=object)
        second = np.full(shape, ZERO, dtype=object)
        abs1, abs2, err1, err2 = (np.full(shape, NOTHING) for _ in range(4))
        err0 = np.full(self.batch, NOTHING)
        for (i,) in ones:
            x, p, b = operands[i], partials[i,][:, None], bound[i,][:, None]
            first = first + p * x.first
            second = second + p * x.second
            abs1, abs2 = add_up(abs1, b + x.abs1), add_up(abs2, b + x.abs2)
            err1, err2 = add_up(err1, b + x.err1), add_up(err2, b + x.err2)
            err0 = add_up(err0, bound[i,] + x.err0)
        for i, j in pairs:
            key = (min(i, j), max(i, j))
            x, y, p, b = operands[i], operands[j], partials[key][:, None], bound[key][:, None]
            second = second + p * x.first * y.first[:, -1:]
            abs2 = add_up(abs2, b + x.abs1 + y.abs1[:, -1:])
            err0 = add_up(err0, bound[key] + x.err0 + y.err0)
            off = b + y.err0[:, None]
            err1 = add_up(err1, off + x.abs1, off + x.err1)
            err2 = add_up(err2, off + x.abs2, off + x.err2)
            err2 = add_up(err2, b + x.err1 + y.abs1[:, -1:], b + x.abs1 + y.err1[:, -1:])
            err2 = add_up(err2, b + x.err1 + y.err1[:, -1:])
        for i, j, k in triples:
            b = third[tuple(sorted((i, j, k)))][:, None] + operands[k].err0[:, None]
            err2 = add_up(err2, b + operands[i].abs1 + operands[j].abs1[:, -1:])

        low, high = scales
        exact = np.zeros(self.batch, bool) if exact is None else exact
        own = np.where(exact, NOTHING, log2_magnitude(value) + f.eps + _log2_cost(cost[0]))
        err0 = np.where(exact, NOTHING, add_up(err0, own, extra_error))
        varies = np.any((abs1 > NOTHING) | (abs2 > NOTHING), axis=1)
        floor = np.where(varies, high + f.smallest, NOTHING)[:, None]
        err1 = add_up(err1, abs1 + f.eps + _log2_cost(cost[1]), floor)
        err2 = add_up(err2, abs2 + f.eps + _log2_cost(cost[2]), floor)
        largest = np.maximum(abs1.max(axis=1), abs2.max(axis=1)) - low
        overflow = largest > f.largest
        for x in operands:
            overflow = overflow | x.overflow
        all_valid = np.ones(self.batch, bool) if valid is None else valid
        all_smooth = np.ones(self.batch, bool) if smooth is None else smooth
        for x in operands:
            all_valid, all_smooth = all_valid & x.valid, all_smooth & x.smooth
        parents = [
            (
                operands[i],
                bound[i,],
                [(operands[b], bound[min(a, b), max(a, b)]) for a, b in pairs if a == i],
            )
            for (i,) in ones
        ]
        return self.record(
            Jet(
                value=value,
                first=first,
                second=second,
                abs1=abs1,
                abs2=abs2,
                err0=err0,
                err1=err1,
                err2=err2,
                rounded=np.full(self.batch, None, object) if rounded is None else rounded,
                exact=exact,
                valid=all_valid,
                smooth=all_smooth,
                low=low,
                high=high,
                parents=parents,
                overflow=overflow,
            )
        )

    def rounding(
        self, rule: Callable[..., tuple[tuple | None, bool]], operands: Sequence[Jet]
    ) -> tuple[Array, Array]:
        """Apply a rule of correctly rounded real arithmetic to the operands' `rounded`."""
        rounded = np.full(self.batch, None, dtype=object)
        exact = np.zeros(self.batch, bool)
        for b in range(self.batch):
            xs = [x.rounded[b] for x in operands]
            if any(x is None or isinstance(x, mpc) for x in xs):
                continue
            result, was_exact = rule(self.format.bits, *(x._mpf_ for x in xs))
            if result is not None:
                rounded[b] = mp.make_mpf(result)
                exact[b] = was_exact and all(x.exact[b] for x in operands)
        return rounded, exact

    def rounding_complex(
        self, rule: Callable[..., tuple[tuple | None, bool]], operands: Sequence[Jet]
    ) -> tuple[Array, Array]:
        """The same for a rule that acts on real and imaginary parts apart."""
        rounded = np.full(self.batch, None, dtype=object)
        exact = np.zeros(self.batch, bool)
        for b in range(self.batch):
            xs = [x.rounded[b] for x in operands]
            if any(x is None for x in xs):
                continue
            re, exact_re = rule(self.format.bits, *(x.real._mpf_ for x in xs))
            im, exact_im = rule(self.format.bits, *(x.imag._mpf_ for x in xs))
            if re is not None and im is not None and self.hold_both(re, im):
                rounded[b] = mp.make_mpc((re, im))
                exact[b] = exact_re and exact_im and all(x.exact[b] for x in operands)
        return rounded, exact

    def hold_both(self, re: tuple, im: tuple) -> bool:
        """Whether one exponent holds both parts to full precision."""
        gap = abs(re[2] + re[3] - im[2] - im[3])
        return not re[1] or not im[1] or gap < self.format.parts

    # reverse mode: what may overflow or underflow there

    def reverse_limits(self, out: Jet) -> tuple[Array, Array, Array, Array]:
        """Limits of reverse mode, whose numbers are scaled by the output and the node at once.

        The cotangent of a node is measured in 2**(exponent of the output - exponent of the node).
        Returns overflow (B,) of the gradient and of its derivative along the last direction, and
        log2 of their floors (B, D), in units of the output itself.
        """
        f = self.format
        adjoint = {id(n): np.full(self.batch, NOTHING) for n in self.nodes}
        adjoint_along = {id(n): np.full(self.batch, NOTHING) for n in self.nodes}
        adjoint[id(out)] = np.zeros(self.batch)
        overflow1 = np.zeros(self.batch, bool)
        overflow2 = np.zeros(self.batch, bool)
        floor1 = np.full((self.batch, self.directions), NOTHING)
        floor2 = np.full((self.batch, self.directions), NOTHING)
        scale = out.low
        for node in reversed(self.nodes):
            a, a_along = adjoint[id(node)], adjoint_along[id(node)]
            for x, b, seconds in node.parents:
                adjoint[id(x)] = add_up(adjoint[id(x)], a + b)
                terms = [a + b2 + y.abs1[:, -1] for y, b2 in seconds]
                adjoint_along[id(x)] = add_up(adjoint_along[id(x)], a_along + b, *terms)
            # A cotangent that is zero here has been multiplied by a zero; it may have overflowed
            # before, which its derivative, not multiplied by that zero, shows.
            overflow1 |= a + node.high - scale > f.largest
            overflow2 |= np.maximum(a, a_along) + node.high - scale > f.largest
            reached = (a > NOTHING) | (a_along > NOTHING)
            base = np.where(reached, f.smallest - node.low + out.high, NOTHING)[:, None]
            floor1 = add_up(floor1, base + node.abs1)
            floor2 = add_up(floor2, base + node.abs1, base + node.abs2)
        return overflow1, overflow2, floor1, floor2


def _log2_cost(cost: float) -> float:
    return math.log2(cost) if cost else NOTHING
