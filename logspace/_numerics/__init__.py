"""Arithmetic on (significand, exponent) pairs; plain JAX, without quax.

`scaled` holds the representation, `arithmetic` the elementary operations, `bilinear` the product
behind them; `sums`, `products`, `power`, `ordering`, `contraction` what is built from these;
`logarithm` the ways from and to logarithms.
"""

from .arithmetic import abs2 as abs2
from .arithmetic import absolute as absolute
from .arithmetic import add as add
from .arithmetic import cbrt as cbrt
from .arithmetic import conj as conj
from .arithmetic import divide as divide
from .arithmetic import imag as imag
from .arithmetic import integer_power as integer_power
from .arithmetic import make_complex as make_complex
from .arithmetic import multiply as multiply
from .arithmetic import negative as negative
from .arithmetic import real as real
from .arithmetic import reciprocal as reciprocal
from .arithmetic import rsqrt as rsqrt
from .arithmetic import sqrt as sqrt
from .arithmetic import square as square
from .arithmetic import subtract as subtract
from .arithmetic import where as where
from .contraction import dot_general as dot_general
from .logarithm import angle as angle
from .logarithm import from_log as from_log
from .logarithm import from_sign_logabs as from_sign_logabs
from .logarithm import log as log
from .logarithm import logabs as logabs
from .logarithm import sign as sign
from .ordering import equal as equal
from .ordering import extremum_mask as extremum_mask
from .ordering import is_nan as is_nan
from .ordering import less as less
from .ordering import less_equal as less_equal
from .ordering import maximum as maximum
from .ordering import minimum as minimum
from .ordering import reduce_extremum as reduce_extremum
from .ordering import sort as sort
from .ordering import sort_keys as sort_keys
from .power import power as power
from .products import cumprod as cumprod
from .products import prod as prod
from .scaled import LIMIT as LIMIT
from .scaled import Scaled as Scaled
from .scaled import from_linear as from_linear
from .scaled import is_finite as is_finite
from .scaled import is_live as is_live
from .scaled import normalise as normalise
from .scaled import scale_by as scale_by
from .scaled import tidy as tidy
from .scaled import to_linear as to_linear
from .scaled import zero_exponent as zero_exponent
from .sums import cumsum as cumsum
from .sums import scatter_add as scatter_add
from .sums import sum as sum
