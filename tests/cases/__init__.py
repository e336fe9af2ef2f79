"""All rows, one module per family of rules."""

from dataclasses import replace

from . import (
    collectives,
    contractions,
    conversions,
    decompositions,
    elementary,
    indexed_updates,
    movement,
    ordering,
    products,
    reductions,
    special,
    sums,
)
from .case import Case

_FAMILIES = (
    collectives,
    contractions,
    conversions,
    decompositions,
    elementary,
    indexed_updates,
    movement,
    ordering,
    products,
    reductions,
    special,
    sums,
)

CASES: list[Case] = [
    replace(row, family=module.__name__.rsplit(".", 1)[-1])
    for module in _FAMILIES
    for row in module.ROWS
]
