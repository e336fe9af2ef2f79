"""The row of a case table, and how its operands are drawn.

A row describes one use of one primitive. Every test of the rules loops over all rows, so that a new
row is compared, jitted, mapped and differentiated without another line.

`law` says how the exact value is known at exponents that no float holds (`tests.exact`):

* "movement": elements are moved; the plain operation on labels says where from.
* "order": only the order of the elements matters; the plain operation on their ranks decides.
* "linear": jointly linear in all number operands, with coefficients 0 and +-1 that the plain
  operation reveals on unit vectors. The error is measured against the sum of absolute terms.
* "bilinear": linear in each of two number operands, likewise.
* "monomial": every output is a product of integer powers of inputs.
* "elementwise": `exact` is the function of mpmath numbers.
* "none": nothing beyond the plain value; the row says why in `reason`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

REAL, COMPLEX, BOTH = "f", "c", "fc"

#: The shape of all elementwise rows, which so share compiled kernels: a grid of 16 x 16 values.
ELEMENTWISE = (256,)


class Number(NamedTuple):
    """An operand that becomes a LogArray."""

    shape: tuple[int, ...]
    domain: str = "any"


class Fixed(NamedTuple):
    """An operand that stays plain: indices, predicates, carried arrays."""

    value: Any


class AtZero(NamedTuple):
    """A point at or next to a singularity, where the derivatives are known in closed form.

    `gradient` and `hessian` (its diagonal) are those of the sum of the outputs, by number operand;
    None stands for what plain JAX gives, where that is right.
    """

    operands: tuple[Any, ...]
    value: Any
    gradient: tuple[Any, ...] | None
    hessian: tuple[Any, ...] | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """One row. Tolerances are in eps of the precision, relative to the scale that the law names."""

    name: str
    primitive: str
    call: Callable[..., Any]
    operands: tuple[Number | Fixed, ...]
    law: str
    family: str = ""
    reference: Callable[..., Any] | None = None  # of plain derivatives, where `call` has none
    exact: Callable[..., Any] | None = None
    kinds: str = BOTH
    exact_domain: str = "wide"  # exponents in the exact comparison: "wide", or "moderate" values
    ulps: float = 4
    derivative_ulps: float = 100
    reason: str = ""  # of a tolerance or law out of the ordinary
    order: int = 2  # of the derivatives to compare with plain JAX's
    smooth_at_zero: bool = True  # plain JAX's derivatives are right where operands are zero
    at_zero: Sequence[AtZero] = field(default=())
    special_values: bool = False  # elementwise: cross the grid of special values
    excepted: Sequence[Any] = ()  # special values of the first operand not compared; see `reason`
    axis_name: str | None = None  # call it under vmap with this axis name

    @property
    def numbers(self) -> list[int]:
        return [i for i, x in enumerate(self.operands) if isinstance(x, Number)]

    def __repr__(self) -> str:
        return self.name


def draw(spec: Number, rng: np.random.Generator, dtype: Any) -> np.ndarray:
    """An ordinary point: magnitudes of order one, no two of which are equal."""
    dtype = np.dtype(dtype)
    shape = spec.shape
    modulus = rng.uniform(0.4, 2.5, shape)
    if spec.domain == "unit":
        modulus = rng.uniform(0.1, 0.8, shape)
    elif spec.domain == "above one":
        modulus = rng.uniform(1.2, 4.0, shape)
    if dtype.kind == "c" and spec.domain != "real":
        reach = np.pi if spec.domain in ("any", "unit") else np.pi / 3
        out = modulus * np.exp(1j * rng.uniform(-reach, reach, shape))
    elif spec.domain in ("positive", "above one"):
        out = modulus
    else:
        out = modulus * rng.choice([-1.0, 1.0], shape)
    return np.asarray(out, dtype)


def draw_all(case: Case, rng: np.random.Generator, dtype: Any) -> list[np.ndarray]:
    return [
        draw(x, rng, dtype) if isinstance(x, Number) else np.asarray(x.value) for x in case.operands
    ]
