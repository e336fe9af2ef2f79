"""The table of linear primitives on a `Tangent`, and what its rules share.

Whatever is not in the table is refused by name. Coefficients and exponents are moved alike; a factor
goes into both, its significand into the coefficient and its exponent into the exponent; sums over
elements of different exponents are taken in bands.
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive

from .. import _numerics as num
from .._log import Log
from .._log_array import LogArray
from .._value import is_value
from .value import Tangent, scale

RULES: dict[Primitive, Callable[..., Any]] = {}

#: Sums of tangents keep their terms apart up to this number.
MAX_TERMS = 6
#: A sum over elements is a sum over this many bands of exponents, each as wide as a float allows.
_BANDS = 3


def apply(primitive: Primitive, values: Sequence[Any], params: dict[str, Any]) -> Any:
    """A primitive of which at least one operand is a Tangent."""
    plain = without_exponents(values)
    if plain is not None:
        out = primitive.bind(*plain, **params)
        return (
            with_zero_exponent(out) if primitive.multiple_results else with_zero_exponent([out])[0]
        )
    rule = RULES.get(primitive)
    if rule is None:
        refuse(primitive)
    values = [x.materialise() if isinstance(x, Log) else x for x in values]
    return rule(primitive, values, params)


def without_exponents(values: Sequence[Any]) -> list[Any] | None:
    """Operands as plain arrays, if tangents are all at exponent 0 and nothing else is a value.

    Then a rule is about plain arrays, and is run as in plain JAX.
    """
    plain = []
    for x in values:
        if isinstance(x, Tangent):
            if x.exponents != (None,):
                return None
            x = x.coefficients[0]
        elif is_value(x):
            return None
        plain.append(x)
    return plain


def with_zero_exponent(out: Sequence[Any]) -> list[Any]:
    """Results of operands that were tangents at exponent 0; what has a derivative is one again."""
    return [
        Tangent((x,), (None,)) if jnp.issubdtype(jnp.result_type(x), jnp.inexact) else x
        for x in out
    ]


def refuse(primitive: Primitive, why: str = "not linear") -> NoReturn:
    raise TypeError(
        f"A custom derivative rule applied the primitive `{primitive.name}` to a tangent, which is "
        f"{why}. The rule of a `jax.custom_jvp` function must be linear in its tangents: "
        "multiply them by, or divide them by, functions of the primal values, add them, sum them, "
        "select and move their elements."
    )


def lift(x: Any) -> Tangent:
    if isinstance(x, Tangent):
        return x
    if isinstance(x, LogArray):
        return Tangent((x._significand,), (x._exponent,))
    return Tangent((x.materialise() if isinstance(x, Log) else jnp.asarray(x),), (None,))


def register(*primitives: Primitive) -> Callable[[Any], Any]:
    def set_rule(rule: Any) -> Any:
        for primitive in primitives:
            RULES[primitive] = rule
        return rule

    return set_rule


def each_term(
    tangent: Tangent, coefficient: Callable[..., Any], exponent: Callable[..., Any]
) -> Tangent:
    return Tangent(
        [coefficient(c) for c in tangent.coefficients],
        [None if k is None else exponent(k) for k in tangent.exponents],
    )


def at_shape_of(tangent: Tangent) -> Tangent:
    """Exponents broadcast to the shape of their coefficients, where a scalar met an array."""
    shape = jnp.shape(tangent.coefficients[0])
    return Tangent(
        tangent.coefficients,
        [None if k is None else jnp.broadcast_to(k, shape) for k in tangent.exponents],
    )


def in_bands(tangent: Tangent, axes: Sequence[int]) -> list[tuple[Any, Any]]:
    """Terms whose exponents are constant along the axes, and of size one there.

    The elements are divided among bands by their exponent, which does not look at coefficients.
    What lies below the last band, some 3000 binades (float32 370) under the largest exponent,
    underflows against that band.
    """
    terms: list[tuple[Any, Any]] = []
    for c, k in tangent.terms:
        if k is None:
            terms.append((c, None))
            continue
        shape = [1 if i in axes else n for i, n in enumerate(k.shape)]
        if any(k.shape[i] == 0 for i in axes):
            terms.append((c, jnp.zeros(shape, np.int32)))
            continue
        width = np.int32(1 - num.format_of(c.dtype).bias)
        remaining = k
        for band in range(_BANDS):
            highest = lax.reduce_max(remaining, tuple(axes))
            top = lax.reshape(lax.max(highest, np.int32(-num.LIMIT)), shape)
            depth = lax.sub(k, jnp.broadcast_to(top, k.shape))
            inside = lax.eq(remaining, k)
            if band < _BANDS - 1:
                inside = lax.bitwise_and(inside, lax.gt(depth, width))
            scaled = scale(c, lax.min(depth, np.int32(0)))
            terms.append((lax.select(inside, scaled, lax.full_like(scaled, 0)), top))
            remaining = lax.select(inside, lax.full_like(k, -2 * num.LIMIT), remaining)
    return terms


def collected(terms: Sequence[tuple[Any, Any]]) -> Tangent:
    """Terms of one shape as a tangent, their exponents broadcast to it."""
    cs, ks = zip(*terms, strict=True)
    out = at_shape_of(Tangent(cs, ks))
    return out if len(cs) <= MAX_TERMS else canonical(out)


def canonical(tangent: Tangent) -> Tangent:
    """The same tangent with a fixed number of terms, all with exponents, as a loop carries it."""
    zeros = jnp.zeros(jnp.shape(tangent.coefficients[0]), np.int32)
    stacked = Tangent(
        (jnp.stack(tangent.coefficients),),
        (jnp.stack([zeros if k is None else k for k in tangent.exponents]),),
    )
    terms = in_bands(stacked, (0,))
    return Tangent(
        [lax.reduce_sum(c, (0,)) for c, _ in terms], [lax.squeeze(k, (0,)) for _, k in terms]
    )
