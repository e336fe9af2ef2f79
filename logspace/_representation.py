"""Text for numbers that a float cannot hold."""

import decimal
import math
from typing import Any

import jax
import numpy as np


def array_text(significand: Any, exponent: Any, *, with_dtype: bool = True) -> str:
    """The elements as NumPy prints them, `1.97007e+434` for those beyond the range of a float.

    Traced arrays and foreign leaves (None, a sharding, a ShapeDtypeStruct) are described instead.
    """
    try:
        s, e = np.asarray(significand), np.asarray(exponent)
        if s.dtype.kind not in "fc" or e.dtype.kind not in "iu" or s.shape != e.shape:
            raise TypeError
    except (TypeError, ValueError, RuntimeError, jax.errors.JAXTypeError):
        return f"significand={significand}, exponent={exponent}"
    texts = np.empty(s.shape, object)
    summarised = s.size > np.get_printoptions()["threshold"]
    for index in np.ndindex(s.shape) if not summarised else _edge_indices(s.shape):
        texts[index] = number_text(s[index], int(e[index]))
    body = np.array2string(texts, separator=", ", formatter={"all": str})
    if not with_dtype:
        return body
    # an empty list says nothing of the other dimensions
    shape = f", shape={s.shape}" if s.size == 0 and s.shape != (0,) else ""
    return f"{body}{shape}, dtype={s.dtype.name}"


def _edge_indices(shape: tuple[int, ...]) -> Any:
    """The indices that NumPy shows of a long array."""
    edge = np.get_printoptions()["edgeitems"]
    axes = [
        sorted({*range(min(edge, n)), *range(max(0, n - edge), n)}) if n > 2 * edge else range(n)
        for n in shape
    ]
    grid = np.array(np.meshgrid(*axes, indexing="ij")).reshape(len(shape), -1)
    return map(tuple, grid.T)


def number_text(s: Any, e: int) -> str:
    """One number significand * 2**exponent."""
    if np.iscomplexobj(s):
        re, im = number_text(s.real, e), number_text(s.imag, e)
        return f"{re}{'' if im.startswith('-') else '+'}{im}j"
    s = np.asarray(s)[()]
    if s == 0 or not np.isfinite(s):
        return str(float(s))
    small, large = (-1000, 1000) if s.dtype == np.float64 else (-120, 120)
    if small < e + math.frexp(float(s))[1] < large:
        return (
            np.format_float_positional(np.ldexp(s, e), trim="0")
            if (1e-4 <= abs(np.ldexp(s, e)) < 1e16)
            else str(np.ldexp(s, e))
        )
    mantissa, shift = math.frexp(float(s))
    digits = (e + shift) * math.log10(2) + math.log10(abs(mantissa))
    ten = math.floor(digits)
    rest = round(10 ** (digits - ten), 5)
    if rest >= 10:
        rest, ten = rest / 10, ten + 1
    return f"{'-' if s < 0 else ''}{rest:.6g}e{ten:+d}"


def formatted_number(s: Any, e: int, spec: str) -> str:
    """One number by a format specification. With `e` or `g` also those that no float holds; with
    the others (`f` would print all digits) these are inf or 0, as `float` gives them."""
    s = np.asarray(s)[()]
    if np.iscomplexobj(s):
        return format(complex(np.ldexp(s.real, e), np.ldexp(s.imag, e)), spec)
    with np.errstate(over="ignore", under="ignore"):
        plain = float(np.ldexp(np.float64(s), e))
    if spec[-1] not in "eEgG" or s == 0 or not np.isfinite(s) or 0 < abs(plain) < math.inf:
        return format(plain, spec)
    with decimal.localcontext(prec=25, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN):
        return format(decimal.Decimal(float(s)) * decimal.Decimal(2) ** e, spec)
