"""Contractions: every output is the sum of its own products, none of which is lost."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from .. import _numerics as num
from .._numerics import Scaled
from .reductions import windows
from .registering import operands


@operands(lax.dot_general_p, values=(0, 1), count=2)
def dot_general(
    x: Scaled,
    y: Scaled,
    *,
    dimension_numbers: Any,
    preferred_element_type: Any = None,
    **params: Any,
) -> Scaled:
    """Precision settings do not apply: products and sums are those of the dtype."""
    x, y = _for_sums_in(preferred_element_type, x, y)
    out = num.dot_general(x, y, dimension_numbers)
    return out if preferred_element_type is None else num.convert(out, preferred_element_type)


def _for_sums_in(dtype: Any, x: Scaled, y: Scaled) -> tuple[Scaled, Scaled]:
    """Both operands in one dtype, and in that of the result if it holds more."""
    x, y = num.promote(x, y)
    if dtype is None:
        return x, y
    dtype = np.promote_types(dtype, x.significand.dtype)
    return num.convert(x, dtype), num.convert(y, dtype)


@operands(lax.conv_general_dilated_p, values=(0, 1), count=2)
def conv_general_dilated(
    x: Scaled,
    kernel: Scaled,
    *,
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    dimension_numbers: Any,
    feature_group_count: int,
    batch_group_count: int,
    preferred_element_type: Any = None,
    **params: Any,
) -> Scaled:
    """A convolution as the contraction of its windows with the kernel."""
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    x, kernel = _for_sums_in(preferred_element_type, x, kernel)
    x = Scaled(*(lax.transpose(part, lhs_spec) for part in x))  # (batch, feature, *space)
    kernel = Scaled(*(lax.transpose(part, rhs_spec) for part in kernel))  # (out, in, *space)
    out_features, in_features, *window = kernel.significand.shape
    zero = lax.full((), 0, x.significand.dtype)
    gathered = windows(
        x,
        Scaled(zero, num.zero_exponent(zero)),
        (1, 1, *window),
        (1, 1, *window_strides),
        ((0, 0), (0, 0), *padding),
        (1, 1, *lhs_dilation),
        (1, 1, *rhs_dilation),
    )  # (place, batch, feature, *space)
    groups = feature_group_count * batch_group_count
    places, batch, features, *space = gathered.significand.shape

    def group_patches(part: jax.Array) -> jax.Array:
        if batch_group_count > 1:
            part = part.reshape(places, groups, batch // groups, features, *space)
            return jax.numpy.moveaxis(part, 1, 0)
        part = part.reshape(places, batch, groups, features // groups, *space)
        return jax.numpy.moveaxis(part, 2, 0)  # (group, place, batch, in, *space)

    def group_kernel(part: jax.Array) -> jax.Array:
        return part.reshape(groups, out_features // groups, in_features, int(np.prod(window)))

    patches = Scaled(*map(group_patches, gathered))
    kernels = Scaled(*map(group_kernel, kernel))
    # contract (in, place) within each group: (group, out, batch, *space)
    out = num.dot_general(kernels, patches, (((2, 3), (3, 1)), ((0,), (0,))))

    def arrange(part: jax.Array) -> jax.Array:
        rest = part.shape[2:]
        part = part.reshape(out_features, *rest)
        part = jax.numpy.swapaxes(part, 0, 1)  # (batch, out, *space)
        return lax.transpose(part, np.argsort(out_spec))

    out = Scaled(*map(arrange, out))
    return out if preferred_element_type is None else num.convert(out, preferred_element_type)
