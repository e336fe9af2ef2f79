"""Every primitive that JAX exports, and what becomes of it when it meets a LogArray.

One of: a rule (the family file in this folder), handled by quax or by `logspace.quaxify`
(transformations and control flow), without an array operand, or refused with a reason.
"""

from typing import NamedTuple

from .catalogue import CATALOGUE
from .registering import RULES


class Entry(NamedTuple):
    """`kind` is "rule", "control flow", "no operand" or "refused"; `note` the family or reason."""

    kind: str
    note: str


_CONTROL_FLOW = {
    "call": "evaluated in place",
    "closed_call": "evaluated in place",
    "cond": "LogArrays pass through every branch",
    "custom_jvp_call": "the user's rule on scaled tangents, in `logspace.quaxify`",
    "custom_vjp_call": "the user's rule on LogArray cotangents, in `logspace.quaxify`",
    "eval_jaxpr": "evaluated in place",
    "jit": "LogArrays pass through",
    "remat2": "LogArrays pass through `jax.checkpoint`",
    "scan": "LogArrays as carry, inputs and outputs",
    "while": "LogArrays as carry",
}

_NO_OPERAND = {
    "after_all": "tokens",
    "axis_index": "an index",
    "create_token": "tokens",
    "empty2": "uninitialised arrays",
    "iota": "indices",
    "random_bits": "PRNG keys",
    "random_fold_in": "PRNG keys",
    "random_seed": "PRNG keys",
    "random_split": "PRNG keys",
    "rng_bit_generator": "PRNG keys",
    "threefry2x32": "PRNG keys",
}

_BITS = "it acts on the bits of integers"
_SYSTEM = (
    "call `det`, `slogdet`, `solve` or `inv` of `logspace.linalg`, "
    "which scale rows and columns first"
)
_UPDATE = "decompose the updated matrix, `cholesky(a + v @ v.T)`"
_SPECTRUM = (
    "it is right relative to its largest result only, which spans no more than a float; convert the "
    "matrix, scaled to moderate size, with `x.to_linear()`"
)
_ONLY_IN_DERIVATIVES = "it arises only in derivatives of plain windowed reductions"

_REFUSED = {
    **dict.fromkeys(
        ["and", "clz", "not", "or", "population_count", "shift_left", "shift_right_arithmetic",
         "shift_right_logical", "xor", "mulhi", "reduce_and", "reduce_or", "reduce_xor",
         "lu_pivots_to_permutation"],
        _BITS,
    ),
    **dict.fromkeys(
        ["custom_linear_solve", "tridiagonal_solve"],
        _SYSTEM,
    ),
    "cholesky_update": _UPDATE,
    **dict.fromkeys(
        ["eig", "eigh", "hessenberg", "householder_product", "ormqr", "qr", "schur", "svd",
         "symmetric_product", "tridiagonal"],
        _SPECTRUM,
    ),
    **dict.fromkeys(
        ["select_and_gather_add", "select_and_scatter", "select_and_scatter_add"],
        _ONLY_IN_DERIVATIVES,
    ),
    "bitcast_convert_type": "a number has no fixed bit pattern",
    "custom_lin": "an internal step of differentiation",
    "dce_sink": "an internal step of compilation",
    "fft": "a transform whose terms span more than a float loses the small ones",
    "fma": "a product and a sum are rounded one after the other; use `a * b + c` or `lax.fmuladd`",
    "get": "references hold plain arrays; carry the LogArray through the loop instead",
    "nextafter": "the neighbours of a number depend on its exponent, which is unbounded",
    "ragged_all_to_all": "it is not offered yet; use all_to_all",
    "random_gamma": "the shape parameter of a distribution is of moderate size",
    "reduce_scatter": "it is not offered yet; use psum and take the slice",
    "rem": "the remainder of numbers far apart needs all the digits between them",
    "rng_uniform": "the bounds of a uniform distribution are of moderate size",
    "stage": "an internal step of compilation",
    "swap": "references hold plain arrays; carry the LogArray through the loop instead",
}  # fmt: skip


def ledger() -> dict[str, Entry]:
    """The entry of every primitive of the installed JAX.

    Raises `KeyError` for one that is missing: add it to a family, or here with a reason.
    """
    return {name: entry_of(name) for name in sorted(CATALOGUE)}


def entry_of(name: str) -> Entry:
    if name in RULES:
        return Entry("rule", RULES[name])
    for kind, table in (
        ("control flow", _CONTROL_FLOW),
        ("no operand", _NO_OPERAND),
        ("refused", _REFUSED),
    ):
        if name in table:
            return Entry(kind, table[name])
    raise KeyError(name)


def reason_of_refusal(name: str) -> str:
    if name in _REFUSED:
        return _REFUSED[name]
    if name in RULES:
        return "its rule does not cover these kinds of operands"
    return "it is not in the table of known primitives"
