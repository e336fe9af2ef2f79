"""The grid of special values that every elementwise rule is crossed with."""

import numpy as np


def real_grid(dtype) -> np.ndarray:
    """Sixteen values: signed zeros, ones, a tie with its neighbour, the ends of the range."""
    dtype = np.dtype(dtype)
    info = np.finfo(dtype)
    values = [
        0.0, -0.0, 1.0, -1.0, 1.0 + info.eps, 0.5, -2.5, 3.0,
        info.tiny, -info.tiny, info.smallest_subnormal, info.max, -info.max,
        np.inf, -np.inf, np.nan,
    ]  # fmt: skip
    return np.array(values, dtype)


def complex_grid(dtype) -> np.ndarray:
    """Sixteen values of moderate size on and off the axes, with infinities and a nan."""
    values = [
        0.0, complex(-0.0, 0.0), 1.0, -1.0, 1j, -1j, 1 + 1j, -1 - 1j, 0.5 - 2j, 3.0, -2.5 + 0.25j,
        complex(1.0, np.finfo(np.float32).eps), complex(np.inf, 0.0), complex(-np.inf, 1.0),
        complex(0.0, np.inf), complex(np.nan, 0.0),
    ]  # fmt: skip
    return np.array(values, dtype)


def grid(dtype) -> np.ndarray:
    return (complex_grid if np.dtype(dtype).kind == "c" else real_grid)(dtype)


def crossed(dtype, operands: int) -> list[np.ndarray]:
    """256 combinations for one or two operands: all pairs of the grid."""
    values = grid(dtype)
    if operands == 1:
        return [np.tile(values, 16)]
    first, second = np.meshgrid(values, values, indexing="ij")
    return [first.ravel(), second.ravel()]
