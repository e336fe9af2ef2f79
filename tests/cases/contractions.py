"""Rows for contractions."""

import jax.numpy as jnp
from jax import lax

from .case import Case, Number

_TERMS = "an error for each term, relative to the sum of absolute terms"


def _row(name, primitive, call, *operands, **options):
    options = {"law": "bilinear", "ulps": 30, "reason": _TERMS, **options}
    return Case(name, primitive, call, operands, **options)


def _dot(contract, batch=((), ())):
    return lambda x, y: lax.dot_general(x, y, (contract, batch))


def _conv(strides=(1, 1), padding=((0, 0), (0, 0)), lhs=(1, 1), rhs=(1, 1), **options):
    def call(x, kernel):
        return lax.conv_general_dilated(x, kernel, strides, padding, lhs, rhs, **options)

    return call


_IMAGE, _KERNEL = Number((1, 2, 4, 3)), Number((2, 2, 2, 2))

ROWS = [
    _row("dot_vector", "dot_general", jnp.dot, Number((4,)), Number((4,))),
    _row("dot_general", "dot_general", _dot(((1,), (0,))), Number((2, 3)), Number((3, 2))),
    _row("dot_general_batched", "dot_general", _dot(((1, 2), (2, 0)), ((0,), (1,))),
         Number((2, 2, 3)), Number((3, 2, 2, 2))),
    _row("dot_general_outer", "dot_general", _dot(((), ())), Number((2,)), Number((3,))),
    _row("dot_general_empty", "dot_general", _dot(((1,), (0,))), Number((2, 0)), Number((0, 2))),
    _row("dot_preferred_type", "dot_general",
         lambda x, y: lax.dot_general(x, y, (((0,), (0,)), ((), ())),
                                      preferred_element_type=jnp.promote_types(x.dtype, "f8")),
         Number((3,)), Number((3,))),
    _row("einsum", "dot_general", lambda x, y: jnp.einsum("ij,jk->ki", x, y),
         Number((2, 3)), Number((3, 2))),
    _row("conv", "conv_general_dilated", _conv(), _IMAGE, _KERNEL),
    _row("conv_strided_padded", "conv_general_dilated", _conv((2, 1), ((1, 1), (0, 2))),
         _IMAGE, _KERNEL),
    _row("conv_dilated", "conv_general_dilated",
         _conv(padding=((1, 0), (1, 1)), lhs=(2, 1), rhs=(1, 2)), _IMAGE, _KERNEL),
    _row("conv_feature_groups", "conv_general_dilated", _conv(feature_group_count=2),
         Number((1, 2, 3, 2)), Number((4, 1, 2, 2))),
    _row("conv_batch_groups", "conv_general_dilated", _conv(batch_group_count=2),
         Number((2, 1, 3, 2)), Number((4, 1, 2, 2))),
    _row("conv_layout", "conv_general_dilated",
         _conv(dimension_numbers=("NHWC", "HWIO", "HNWC")), Number((1, 3, 3, 2)),
         Number((2, 2, 2, 1))),
    _row("convolve", "conv_general_dilated", lambda x, y: jnp.convolve(x, y), Number((4,)),
         Number((2,))),
]  # fmt: skip
