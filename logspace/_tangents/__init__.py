"""Tangents for the derivative rules of users, and the linear primitives on them.

`value` holds the type and the ways in and out; `linear` the table of primitives and what its rules
share; `movement` and `products` the rules.
"""

from . import movement as movement
from . import products as products
from .linear import apply as apply
from .linear import canonical as canonical
from .linear import lift as lift
from .linear import with_zero_exponent as with_zero_exponent
from .linear import without_exponents as without_exponents
from .value import Tangent as Tangent
from .value import incoming as incoming
from .value import outgoing as outgoing
