"""Products along axes and cumulative products."""

from collections.abc import Sequence

import jax
import numpy as np
from jax import lax

from .arithmetic import multiply
from .scaled import Scaled, constant_like, zero_exponent
from .sums import cumulative


def prod(x: Scaled, axes: Sequence[int]) -> Scaled:
    """The product over axes as a pairwise tree: neither overflow nor a division at zeros.

    The derivatives are those of a product for any number of zeros; an empty product is 1.
    """
    axes = tuple(axes)
    kept = [a for a in range(x.significand.ndim) if a not in axes]
    shape = [x.significand.shape[a] for a in kept]
    n = int(np.prod([x.significand.shape[a] for a in axes], dtype=int))

    def flatten(part: jax.Array) -> jax.Array:
        return lax.reshape(lax.transpose(part, (*axes, *kept)), (n, *shape))

    if n == 0:
        s = constant_like(lax.reduce_sum(x.significand, axes), 1)
        return Scaled(s, zero_exponent(s))
    s, e = (flatten(part) for part in x)
    while n > 1:
        half = n // 2
        pairs = multiply(Scaled(s[:half], e[:half]), Scaled(s[half : 2 * half], e[half : 2 * half]))
        if n % 2:
            s = lax.concatenate([pairs.significand, s[2 * half :]], 0)
            e = lax.concatenate([pairs.exponent, e[2 * half :]], 0)
        else:
            s, e = pairs
        n = n - half
    return Scaled(s[0], e[0])


def cumprod(x: Scaled, axis: int, reverse: bool = False) -> Scaled:
    return cumulative(multiply, x, axis, reverse)
