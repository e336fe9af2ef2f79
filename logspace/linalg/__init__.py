"""Linear algebra of numbers that live in log space.

Functions of matrices, plain or LogArrays, whose results neither overflow nor underflow and whose
derivatives are exact where a determinant vanishes.
"""

from ._interface import det as det
from ._interface import pfaffian as pfaffian
from ._interface import slogdet as slogdet
