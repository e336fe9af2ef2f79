"""Changes of dtype, parts of complex numbers, rounding."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .. import _numerics as num
from .._errors import unsupported_dtype
from .._log_array import DTYPES
from .._numerics import Scaled
from .registering import binary, unary


@unary(lax.convert_element_type_p)
def convert_element_type(
    x: Scaled, *, new_dtype: Any, weak_type: bool = False, sharding: Any = None
) -> Any:
    """Within the four dtypes a number; integers and booleans are plain arrays."""
    new_dtype = np.dtype(new_dtype)
    if new_dtype == bool or jnp.issubdtype(new_dtype, jnp.integer):
        return num.to_integer(x, new_dtype)
    if new_dtype in (jnp.float16, jnp.bfloat16) and jax.typeof(x.significand).weak_type:
        # what JAX asks for where a Python scalar's number meets short floats, which are promoted
        new_dtype = np.dtype(np.float32)
    if new_dtype.name not in DTYPES:
        unsupported_dtype(new_dtype)
    x = num.convert(x, new_dtype)
    s = lax.convert_element_type_p.bind(
        x.significand, new_dtype=new_dtype, weak_type=weak_type, sharding=sharding
    )
    return Scaled(s, x.exponent)


@unary(lax.real_p)
def real(x: Scaled) -> Scaled:
    return num.real(x)


@unary(lax.imag_p)
def imag(x: Scaled) -> Scaled:
    return num.imag(x)


@unary(lax.conj_p)
def conj(x: Scaled, *, input_dtype: Any) -> Scaled:
    if not jnp.issubdtype(x.significand.dtype, jnp.complexfloating):
        x = num.convert(x, jnp.result_type(x.significand.dtype, jnp.complex64))
    return num.conj(x)


@binary(lax.complex_p)
def make_complex(re: Scaled, im: Scaled) -> Scaled:
    return num.make_complex(re, im)


@unary(lax.floor_p)
def floor(x: Scaled) -> Scaled:
    return num.round_to_integer(x, lax.floor)


@unary(lax.ceil_p)
def ceil(x: Scaled) -> Scaled:
    return num.round_to_integer(x, lax.ceil)


@unary(lax.round_p)
def round_to_integer(x: Scaled, *, rounding_method: Any) -> Scaled:
    return num.round_to_integer(x, lambda a: lax.round(a, rounding_method))


@unary(lax.reduce_precision_p)
def reduce_precision(x: Scaled, *, exponent_bits: int, mantissa_bits: int) -> Scaled:
    """The significand is rounded; exponents have no bound that would cut them off."""
    return num.reduce_precision(x, mantissa_bits)
