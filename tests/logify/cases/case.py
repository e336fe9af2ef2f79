"""What a case is."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

inf = math.inf


@dataclass(frozen=True)
class Case:
    """One function at one point; `order` is the highest derivative that is compared."""

    kind: str
    name: str
    fn: Callable[..., Any]
    regular: Callable[..., Any]
    args: tuple[Any, ...]
    order: int = 2
    tolerance: float = 1e-11

    def __str__(self) -> str:
        return f"{self.kind}: {self.name}"


CASES: list[Case] = []


def case(kind: str, name: str, fn: Any, regular: Any, *args: Any, **options: Any) -> None:
    arrays = tuple(np.asarray(a, dtype=None if np.iscomplexobj(a) else np.float64) for a in args)
    CASES.append(Case(kind, name, fn, regular, arrays, **options))


def prod3(x: Any) -> Any:
    return x[0] * x[1] * x[2]


ZERO_IN_THREE = [0.0, 2.0, 3.0]
TWO_ZEROS = [0.0, 2.0, 0.0]
