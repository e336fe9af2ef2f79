"""Linear algebra of numbers that live in log space.

Functions of matrices, plain or LogArrays, whose results neither overflow nor underflow and whose
derivatives are exact where a determinant vanishes.
"""

from ._algebra import inv as inv
from ._algebra import kron as kron
from ._algebra import matrix_power as matrix_power
from ._algebra import norm as norm
from ._algebra import solve as solve
from ._algebra import trace as trace
from ._interface import det as det
from ._interface import pfaffian as pfaffian
from ._interface import slogdet as slogdet
from ._updates import det_ratio as det_ratio
from ._updates import update_inverse as update_inverse
