"""Functions that plain JAX differentiates wrongly, each beside a regular function that is equal.

`regular` is written so that plain JAX has the right value and derivatives; it is the closed form.
"""

from . import (  # noqa: F401 - each adds its cases
    coefficients,
    determinants,
    logarithms,
    powers,
    ranges,
    signs,
)
from .case import CASES as CASES
from .case import Case as Case
