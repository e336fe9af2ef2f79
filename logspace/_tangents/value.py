"""Tangents for the derivative rules of users: values that are linear by construction.

A user's rule multiplies tangents by numbers far beyond the range of a float, so its tangents must
be numbers in log space too. They cannot be LogArrays: the exponent of a LogArray is chosen by looking
at its significand, which is not linear, and reverse mode would transpose the choice. A `Tangent` is
a sum of terms

    coefficient * 2**exponent

whose exponents depend on primal values only. Several terms, because a sum of two tangents of far
apart exponents has no good common one: which of the two coefficients is zero cannot be asked.
An exponent of None stands for 0 and costs nothing, so a rule on plain arrays runs as in plain JAX.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import zero_from_primal

from .. import _compat as compat
from .. import _numerics as num
from .._numerics.scaled import power_of_two, times_real
from .._value import LogSpaceValue


class Tangent(LogSpaceValue):
    """The sum over i of ``coefficients[i] * 2**exponents[i]``; linear in the coefficients."""

    coefficients: tuple[jax.Array, ...]
    exponents: tuple[jax.Array | None, ...]

    def __init__(
        self, coefficients: Sequence[jax.Array], exponents: Sequence[jax.Array | None]
    ) -> None:
        object.__setattr__(self, "coefficients", tuple(coefficients))
        object.__setattr__(self, "exponents", tuple(exponents))

    def aval(self) -> Any:
        return jax.typeof(self.coefficients[0])

    def materialise(self) -> Any:
        return at_exponent(self, None)

    @property
    def terms(self) -> list[tuple[jax.Array, jax.Array | None]]:
        return list(zip(self.coefficients, self.exponents, strict=True))


def scale(c: jax.Array, k: jax.Array) -> jax.Array:
    """c * 2**k, linear in c.

    `num.scale_by` chooses its two factors by looking at the sign of the significand, so that XLA
    cannot fold them into one; here a barrier before one of the factors has that effect.
    """
    bound = 2 * num.format_of(c.dtype).bias - 2
    k = lax.clamp(np.int32(-bound), k, np.int32(bound))
    half = lax.shift_right_arithmetic(k, np.int32(1))
    real = num.format_of(c.dtype).real
    first = lax.optimization_barrier(power_of_two(half, real))
    return times_real(times_real(c, first), power_of_two(lax.sub(k, half), real))


def at_exponent(tangent: Tangent, exponent: jax.Array | None) -> jax.Array:
    """The one coefficient that the tangent has at a given exponent."""
    parts = []
    for c, k in tangent.terms:
        if exponent is None:
            parts.append(c if k is None else scale(c, k))
        else:
            gap = lax.neg(exponent) if k is None else lax.sub(k, exponent)
            parts.append(scale(c, gap))
    total = parts[0]
    for part in parts[1:]:
        total = lax.add(total, part)
    return total


def incoming(primal: Any, tangent: Any, symbolic_zeros: bool) -> Any:
    """What a user's rule is given for the tangent of a primal that is a LogArray, plain or a Tangent.

    Tangents of integers (float0) are passed on, and so are symbolic zeros if the rule wants them.
    """
    from .._log_array import LogArray

    cs, ks = [tangent], [None]
    if isinstance(primal, LogArray):
        cs, ks = [tangent._significand], [primal._exponent]
    elif isinstance(primal, Tangent):
        cs, ks = tangent.coefficients, primal.exponents
    if all(compat.is_symbolic_zero(c) for c in cs):
        aval = cs[0].aval
        if symbolic_zeros:
            return cs[0]
        if aval.dtype == jax.dtypes.float0:
            return np.zeros(aval.shape, aval.dtype)
    return Tangent([_instantiated(c) for c in cs], ks)


def _instantiated(c: Any) -> Any:
    return jnp.zeros(c.aval.shape, c.aval.dtype) if compat.is_symbolic_zero(c) else c


def outgoing(primal: Any, tangent: Any) -> Any:
    """The tangent of the leaves of a primal result, from what a user's rule returned for it."""
    from .._log_array import LogArray, wrap
    from .linear import lift

    symbolic = compat.is_symbolic_zero(tangent) or compat.is_zero_cotangent(tangent)
    if symbolic or getattr(tangent, "dtype", None) == jax.dtypes.float0:
        return jax.tree.map(_symbolic_zero, primal)
    if isinstance(primal, LogArray):
        ds = at_exponent(lift(tangent), primal._exponent)
        return wrap(num.Scaled(ds, _symbolic_zero(primal._exponent)))
    if isinstance(primal, Tangent):
        # the whole tangent at the first exponent of the primal
        (c, k), *others = primal.terms
        first = at_exponent(lift(tangent), k)
        cs = [first, *(_symbolic_zero(c) for c, _ in others)]
        return Tangent(cs, [None if k is None else _symbolic_zero(k) for k in primal.exponents])
    if not jnp.issubdtype(jnp.result_type(primal), jnp.inexact):
        return _symbolic_zero(primal)
    return at_exponent(lift(tangent), None)


def _symbolic_zero(x: Any) -> Any:
    return zero_from_primal(x, symbolic_zeros=True)
