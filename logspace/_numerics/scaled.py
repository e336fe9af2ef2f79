"""The representation: x = significand * 2**exponent, and the few operations that scale it.

The significand (real or complex) carries the sign or phase and *all* derivative information.
The exponent is an int32 array, hence a constant for every transformation of JAX, and it is always
finite. The significand is kept lazily: any magnitude in [2**-K, 2**K] is left alone, and only
outside that window does `tidy` move a power of two into the exponent. An ordinary number is
therefore stored as itself, with exponent 0.

Infinities and nans live in the significand, at exponent 0, so that IEEE arithmetic on the
significands gives the IEEE answer. A zero keeps the exponent it arose with: that is the scale
against which its derivative is measured.

All functions here scale by powers of two built from exponent bits, never by `exp` or `exp2`
(which are not exact), and never by 0 or infinity, so a derivative of 0 or infinity passes
through unharmed.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

#: Bound on the magnitude of every exponent. 2 * LIMIT plus any step of `tidy` fits in an int32.
LIMIT = 2**30 - 2**13


class Scaled(NamedTuple):
    """A number (array) ``significand * 2**exponent``; both of one shape, exponent int32."""

    significand: jax.Array
    exponent: jax.Array


class Format(NamedTuple):
    """What the arithmetic needs to know of a floating-point format."""

    real: np.dtype
    integer: np.dtype  # of the same width, to build and read exponent bits
    bias: int
    mantissa_bits: int
    window: int  # K: significands stay within [2**-K, 2**K]
    room: int  # how far a sum may be shifted below a dead term of larger scale


# Complex products have four partial products, whose sum must not overflow and whose smallest part
# must not underflow: the complex window is narrower.
_FORMATS = {
    "float32": Format(np.dtype("float32"), np.dtype("int32"), 127, 23, 63, 57),
    "float64": Format(np.dtype("float64"), np.dtype("int64"), 1023, 52, 511, 500),
    "complex64": Format(np.dtype("float32"), np.dtype("int32"), 127, 23, 38, 30),
    "complex128": Format(np.dtype("float64"), np.dtype("int64"), 1023, 52, 480, 472),
}


def format_of(dtype: Any) -> Format:
    """The `Format` of a dtype; TypeError for all but the four supported dtypes."""
    name = np.dtype(dtype).name
    if name not in _FORMATS:
        raise TypeError(f"numbers in log space are {', '.join(_FORMATS)}, not {name}: convert it")
    return _FORMATS[name]


def is_complex(x: jax.Array) -> bool:
    return jnp.issubdtype(x.dtype, jnp.complexfloating)


def select(predicate: jax.Array, on_true: Any, on_false: Any) -> jax.Array:
    """`jnp.where` without its promotion: one of the two may be a scalar constant."""
    if not isinstance(on_true, jax.Array):
        if not isinstance(on_false, jax.Array):
            raise TypeError("select needs at least one array besides the predicate")
        on_true = lax.full_like(on_false, on_true)
    elif not isinstance(on_false, jax.Array):
        on_false = lax.full_like(on_true, on_false)
    return lax.select(predicate, on_true, on_false)


def scalar(x: jax.Array, value: float) -> np.ndarray:
    """A constant of the dtype of x: lax promotes nothing, not even Python scalars."""
    return np.array(value, x.dtype)


def constant_like(x: jax.Array, value: Any, dtype: Any = None) -> jax.Array:
    """An array of `value`, shaped as x and varying over the same mesh axes as x.

    Derived from x by a select: inside `jax.shard_map`, a fresh constant does not vary over the
    mesh axes that x varies over and could not be carried by a loop in its place. A
    `jax.custom_jvp` function must return this for a constant: under `vmap` of a jitted function JAX
    would take a fresh one for unbatched, and fail where its tangent is batched.
    """
    dtype = x.dtype if dtype is None else dtype
    full = lax.full(np.shape(x), value, dtype)
    return lax.select(lax.eq(x, x), full, full)


def _real_constant(s: jax.Array) -> jax.Array:
    s = lax.stop_gradient(s)
    return lax.real(s) if is_complex(s) else s


def magnitude(significand: jax.Array) -> jax.Array:
    """|s| as a constant; for complex s the larger of |re s| and |im s|."""
    s = lax.stop_gradient(significand)
    if is_complex(s):
        return lax.max(lax.abs(lax.real(s)), lax.abs(lax.imag(s)))
    return lax.abs(s)


def power_of_two(k: jax.Array, real_dtype: Any) -> jax.Array:
    """2**k for integers 1 - bias <= k <= bias, exactly, by setting the exponent bits."""
    f = format_of(real_dtype)
    return _from_biased(lax.add(k, np.int32(f.bias)), f)


def _from_biased(biased: jax.Array, f: Format) -> jax.Array:
    bits = lax.shift_left(
        lax.convert_element_type(biased, f.integer), np.array(f.mantissa_bits, f.integer)
    )
    return lax.bitcast_convert_type(bits, f.real)


def _biased_exponent(a: jax.Array) -> jax.Array:
    """The exponent bits of a >= 0 as int32: 0 for zeros and subnormals, all ones beyond range."""
    f = format_of(a.dtype)
    bits = lax.shift_right_logical(
        lax.bitcast_convert_type(a, f.integer), np.array(f.mantissa_bits, f.integer)
    )
    return lax.convert_element_type(bits, np.int32)


def exponent_bits(a: jax.Array) -> jax.Array:
    """floor(log2(a)) as int32 for a >= 0; 0 where a is zero, subnormal, infinite or nan."""
    f = format_of(a.dtype)
    biased = _biased_exponent(a)
    special = lax.bitwise_or(lax.eq(biased, np.int32(0)), lax.eq(biased, np.int32(2 * f.bias + 1)))
    return select(special, np.int32(0), lax.sub(biased, np.int32(f.bias)))


def times_real(s: jax.Array, factor: jax.Array) -> jax.Array:
    """s * factor for a real factor; for complex s by components, so that 0 * inf cannot arise."""
    if is_complex(s):
        return lax.complex(lax.mul(lax.real(s), factor), lax.mul(lax.imag(s), factor))
    return lax.mul(s, factor)


def scale_by(s: jax.Array, k: jax.Array) -> jax.Array:
    """s * 2**k, exactly where the result is a normal number: the only scaling there is.

    Two factors, because one cannot reach from one end of the window to the other: a significand of
    2**511 moved by -1500, or a derivative of 2**1000 moved by -1030, would be lost. The factors are
    positive and finite, hence 0, infinity and nan pass unchanged, in values and in derivatives.
    """
    f = format_of(s.dtype)
    bound = 2 * f.bias - 2
    k = lax.clamp(np.int32(-bound), k, np.int32(bound))
    # Where k is known when compiling, XLA (with jax 0.10.2, on CPU) folds the two factors into one,
    # which is 0 or infinite: 2.0**511 scaled by -1500 was 0, and 0 scaled by 1500 was nan. A split
    # that depends on the sign of s is not a constant and cannot be folded.
    sign_bit = lax.convert_element_type(lax.lt(_real_constant(s), np.array(0, f.real)), np.int32)
    half = lax.shift_right_arithmetic(lax.add(k, sign_bit), np.int32(1))
    s = times_real(s, power_of_two(half, f.real))
    return times_real(s, power_of_two(lax.sub(k, half), f.real))


def scale_by_computed(s: jax.Array, k: jax.Array) -> jax.Array:
    """`scale_by` for a k that XLA cannot know when compiling: a cheaper split, a wider range."""
    f = format_of(s.dtype)
    # both halves are biased exponents already, from 1 to 2 * bias
    k = lax.clamp(np.int32(2), lax.add(k, np.int32(2 * f.bias)), np.int32(4 * f.bias))
    half = lax.shift_right_logical(k, np.int32(1))
    return times_real(times_real(s, _from_biased(half, f)), _from_biased(lax.sub(k, half), f))


def own_kernel(a: jax.Array) -> jax.Array:
    """a, kept by XLA out of the kernels that use it, on CPU.

    There a kernel has one result, and what several results or operations need is computed again
    for each: in a chain of operations the work, and the time to compile it, grow exponentially.
    Other backends compile several results into one kernel and are left to it.
    """
    return lax.optimization_barrier(a) if jax.default_backend() == "cpu" else a


def settled_exponent(s: jax.Array, e: jax.Array) -> jax.Array:
    """The exponent at which `tidy` keeps s * 2**e.

    It is e itself while s lies within its window; bounded; and 0 where the number is infinite or
    nan, or exceeds even what a significand can take up beyond the bound.
    """
    f = format_of(s.dtype)
    a = magnitude(s)
    live = lax.gt(a, scalar(a, 0))
    low = lax.bitwise_and(live, lax.lt(a, scalar(a, 2.0**-f.window)))
    high = lax.gt(a, scalar(a, 2.0**f.window))
    if is_complex(s):
        # no fixed step reaches the window, which is narrower, from the ends of the range
        step = select(lax.bitwise_or(low, high), exponent_bits(a), np.int32(0))
    else:
        direction = lax.sub(
            lax.convert_element_type(high, np.int32), lax.convert_element_type(low, np.int32)
        )
        step = lax.mul(direction, np.int32(f.window + 1))
    wanted = lax.add(e, step)
    bounded = lax.clamp(np.int32(-LIMIT), wanted, np.int32(LIMIT))
    exceeds = lax.gt(lax.add(e, _biased_exponent(a)), np.int32(LIMIT + 2 * f.bias))
    infinite = lax.bitwise_or(
        lax.bitwise_not(lax.lt(a, scalar(a, np.inf))), lax.bitwise_and(live, exceeds)
    )
    return own_kernel(select(infinite, np.int32(0), bounded))


def tidy(s: jax.Array, e: jax.Array) -> Scaled:
    """Bring a significand back into its window and the exponent within its bound.

    Past the bound the significand takes up the excess and becomes infinite or zero: saturation is
    exact, also for a zero, whose derivative is scaled along.
    """
    # The exponent first and the significand from it, since they are compiled separately on CPU.
    settled = settled_exponent(s, e)
    return Scaled(scale_by_computed(s, lax.sub(e, settled)), settled)


def sum_of_two(x: Scaled, y: Scaled, e: jax.Array) -> Scaled:
    """x + y, where e is an exponent at which both terms and their sum are within range.

    The sum at e decides the exponent of the result, and the result is then summed at that exponent:
    value and derivative are scaled once, and not again by `tidy`.
    """
    at_e = [
        scale_by_computed(lax.stop_gradient(z.significand), lax.sub(z.exponent, e)) for z in (x, y)
    ]
    settled = settled_exponent(lax.add(*at_e), e)
    both_finite = lax.bitwise_and(is_finite(x.significand), is_finite(y.significand))

    def term(z: Scaled) -> jax.Array:
        # beside an infinity or a nan, which are at exponent 0, a live term must not overflow
        free = lax.bitwise_or(both_finite, lax.bitwise_not(is_live(z.significand)))
        ceiling = select(free, np.int32(2**30), lax.full_like(e, 0))
        return scale_by_computed(z.significand, lax.min(lax.sub(z.exponent, settled), ceiling))

    return Scaled(lax.add(term(x), term(y)), settled)


def is_finite(s: jax.Array) -> jax.Array:
    a = magnitude(s)
    return lax.lt(a, scalar(a, np.inf))


def is_live(s: jax.Array) -> jax.Array:
    """Whether a term contributes to a value: its significand is not zero."""
    a = magnitude(s)
    return lax.ne(a, scalar(a, 0))


def zero_exponent(s: jax.Array) -> jax.Array:
    """An int32 zero shaped as s, varying over the same mesh axes."""
    return constant_like(magnitude(s), 0, np.int32)


def from_linear(a: jax.Array) -> Scaled:
    """A plain array as itself, with exponent 0; exact."""
    return tidy(a, zero_exponent(a))


def to_linear(x: Scaled) -> jax.Array:
    """The plain array; beyond its range infinity or zero. The inverse of `from_linear`."""
    return scale_by(x.significand, x.exponent)


def normalise(x: Scaled) -> Scaled:
    """The same number with |significand| (complex: its larger component) in [1/sqrt2, sqrt2).

    Zeros, infinities and nans stay as they are. The range is centred at 1 because the logarithm of
    a significand near 1, and its powers, are accurate there.
    """
    a = magnitude(x.significand)
    k = exponent_bits(a)
    s = scale_by(x.significand, lax.neg(k))
    upper = lax.bitwise_and(lax.ge(magnitude(s), scalar(a, np.sqrt(2.0))), is_finite(s))
    extra = select(upper, np.int32(1), lax.full_like(k, 0))
    s = times_real(s, select(upper, 0.5, lax.full_like(a, 1.0)))
    return Scaled(s, lax.add(x.exponent, lax.add(k, extra)))
