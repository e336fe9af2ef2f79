"""Random programs against an mpmath oracle: values, gradients and second derivatives.

    python -m tests.random_programs --programs 2000 --seed 0 --dtype float32 --level numerics

A structure is a list of operations (`Program`); it is run at a batch of inputs (`Draws`), among
them zeros, equal numbers that cancel, and numbers of very different scales. One structure at one
input is one program. Every number that comes out is compared with the oracle within a bound that
the oracle derives (`tests.oracle`). Exits with 1 if any comparison fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LETTERS = {"number": "x", "plain": "a", "log": "l", "power": "p"}


@dataclass(frozen=True)
class Leaf:
    """An input. number: a significand with an exponent aside; plain: a float; log: exp is taken
    of it; power: an exponent of `power`."""

    kind: str
    moderate: bool = False  # at most 4 in magnitude, at scale 1
    nonzero: bool = False


@dataclass(frozen=True)
class Node:
    op: str
    args: tuple[int, ...]
    param: Any = None


@dataclass
class Program:
    leaves: list[Leaf]
    nodes: list[Node]
    is_complex: bool
    seed: tuple[int, ...] = ()

    @property
    def directions(self) -> list[tuple[int, complex]]:
        """(leaf, derivative of its parameter): one per real degree of freedom."""
        out: list[tuple[int, complex]] = []
        for i, leaf in enumerate(self.leaves):
            out.append((i, 1.0))
            if self.is_complex and leaf.kind != "power":
                out.append((i, 1j))
        return out

    def names(self) -> list[str]:
        leaves = [f"{LETTERS[leaf.kind]}{i}" for i, leaf in enumerate(self.leaves)]
        return leaves + [f"v{i + len(leaves)}" for i in range(len(self.nodes))]

    def operation(self, index: int) -> str:
        return "input" if index < len(self.leaves) else self.nodes[index - len(self.leaves)].op

    def code(self) -> str:
        names = self.names()
        lines = []
        for i, node in enumerate(self.nodes):
            args = [names[a] for a in node.args]
            if node.param is not None:
                args.append(repr(node.param))
            lines.append(f"{names[len(self.leaves) + i]} = {node.op}({', '.join(args)})")
        return "\n".join(lines)


# --- structures


@dataclass
class _Known:
    """What is known of a node whatever the inputs."""

    nonnegative: bool
    nonzero: bool
    bound: float  # log2 of a bound of the magnitude
    number: bool = True
    real: bool = True
    uses: int = 0


@dataclass
class _Builder:
    rng: np.random.Generator
    is_complex: bool
    leaves: list[Leaf] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    known: list[_Known] = field(default_factory=list)

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def choose(self, good: Callable[[_Known], bool] | None = None) -> int | None:
        """An operand that is a number; results not used yet are preferred."""
        found = [i for i, k in enumerate(self.known) if k.number and (good is None or good(k))]
        if not found:
            return None
        fresh = [i for i in found if not self.known[i].uses]
        pool = fresh if fresh and self.chance(0.7) else found
        return int(self.rng.choice(pool))

    def some(self) -> int:
        index = self.choose()
        assert index is not None
        return index

    def emit(self, op: str, args: tuple[int, ...], known: _Known, param: Any = None) -> int:
        for a in args:
            self.known[a].uses += 1
        known.real = known.real or op in ("abs2", "abs", "real", "imag", "logabs")
        self.nodes.append(Node(op, args, param))
        self.known.append(known)
        return len(self.known) - 1


def _sum_of(ks: list[_Known]) -> _Known:
    positive = all(k.nonnegative for k in ks)
    bound = max(k.bound for k in ks) + np.log2(len(ks))
    return _Known(
        positive, positive and any(k.nonzero for k in ks), bound, real=all(k.real for k in ks)
    )


def _product_of(ks: list[_Known]) -> _Known:
    return _Known(
        all(k.nonnegative for k in ks),
        all(k.nonzero for k in ks),
        float(sum(k.bound for k in ks)),
        real=all(k.real for k in ks),
    )


_FREE = float("inf")
_POWERS = (0.5, 1 / 3, -0.5, 1.5, 2.7, -1.5, 2.0, 0.25)


def _step(b: _Builder) -> None:
    """Add one operation (or a few that belong together)."""
    rng, known = b.rng, b.known
    weights = {
        "add": 3, "sub": 4, "mul": 4, "div": 2, "neg": 0.5, "square": 1, "sum": 2, "prod": 1.5,
        "cumsum": 0.7, "cumprod": 0.7, "dot": 1, "integer_power": 2, "power": 1.5, "power_leaf": 1,
        "sqrt": 1.2, "rsqrt": 0.6, "reciprocal": 0.7, "abs2": 1.5, "abs": 0.5, "exp": 1.5,
        "exp_log": 1, "exp_log_add": 0.7, "exp_log_sub": 0.7, "exp_logaddexp": 0.7,
        "exp_log_scaled": 0.7, "logabs": 0.7, "where_less": 1, "commutator": 1, "distributive": 0.7,
        "conj": 0.7, "real": 0.5, "imag": 0.5,
    }  # fmt: skip
    names = list(weights)
    p = np.array(list(weights.values()))
    op = str(rng.choice(names, p=p / p.sum()))

    def known_of(*args: int) -> list[_Known]:
        return [known[i] for i in args]

    def divisor() -> int | None:
        return b.choose(lambda k: k.nonzero) if b.chance(0.9) else b.some()

    def base() -> int | None:
        if b.chance(0.9):
            return b.choose(lambda k: k.nonzero and k.nonnegative)
        return b.choose(lambda k: k.nonnegative)

    match op:
        case "add" | "sub" | "exp_logaddexp":
            i, j = b.some(), b.some()
            result = _sum_of(known_of(i, j))
            if op == "sub":
                result.nonnegative = result.nonzero = False
            b.emit(op, (i, j), result)
        case "mul" | "exp_log_add":
            i, j = b.some(), b.some()
            b.emit(op, (i, j), _product_of(known_of(i, j)))
        case "div" | "exp_log_sub":
            i, j = b.some(), divisor()
            if j is not None:
                result = _product_of(known_of(i, j))
                result.bound = _FREE
                b.emit(op, (i, j), result)
        case "neg" | "exp_log" | "conj" | "real" | "imag":
            if op in ("conj", "real", "imag") and not b.is_complex:
                return
            i = b.some()
            k = known[i]
            same = op == "exp_log"
            b.emit(
                op,
                (i,),
                _Known(
                    same and k.nonnegative,
                    k.nonzero and op in ("neg", "exp_log", "conj"),
                    k.bound,
                    real=k.real,
                ),
            )
        case "square" | "abs2" | "abs":
            i = b.some()
            k = known[i]
            b.emit(
                op,
                (i,),
                _Known(
                    op != "square" or k.real,
                    k.nonzero,
                    k.bound * (1 if op == "abs" else 2),
                    real=k.real,
                ),
            )
        case "sum" | "prod" | "cumsum" | "cumprod":
            count = int(rng.integers(2, 5))
            args = tuple(b.some() for _ in range(count))
            used = int(rng.integers(1, count + 1)) if op.startswith("cum") else count
            combine = _sum_of if op in ("sum", "cumsum") else _product_of
            param = used if op.startswith("cum") else None
            b.emit(op, args, combine(known_of(*args[:used])), param)
        case "dot":
            half = int(rng.integers(2, 4))
            args = tuple(b.some() for _ in range(2 * half))
            pairs = [_product_of(known_of(args[i], args[i + half])) for i in range(half)]
            b.emit(op, args, _sum_of(pairs))
        case "integer_power":
            n = int(
                rng.choice(
                    [-3, -2, -1, 1, 2, 3, 4, 5], p=[0.05, 0.1, 0.1, 0.05, 0.25, 0.25, 0.1, 0.1]
                )
            )
            i = divisor() if n < 0 else b.some()
            if i is not None:
                k = known[i]
                even = n % 2 == 0 and k.real
                b.emit(
                    op,
                    (i,),
                    _Known(
                        k.nonnegative or even,
                        k.nonzero,
                        k.bound * n if n > 0 else _FREE,
                        real=k.real,
                    ),
                    n,
                )
        case "power" | "exp_log_scaled" | "sqrt" | "rsqrt" | "power_leaf":
            i = base()
            if i is None:
                return
            result = _Known(True, known[i].nonzero, _FREE)
            if op == "power_leaf":
                powers = [j for j, leaf in enumerate(b.leaves) if leaf.kind == "power"]
                if powers:
                    b.emit("power", (i, powers[0]), result)
            else:
                param = float(rng.choice(_POWERS)) if op in ("power", "exp_log_scaled") else None
                b.emit(op, (i,), result, param)
        case "reciprocal" | "logabs":
            i = divisor()
            if i is not None:
                k = known[i]
                reciprocal = op == "reciprocal"
                b.emit(
                    op,
                    (i,),
                    _Known(
                        k.nonnegative and reciprocal, reciprocal and k.nonzero, _FREE, real=k.real
                    ),
                )
        case "exp":
            i = b.choose(lambda k: k.bound <= 4)
            if i is not None:
                real = known[i].real
                bound = 1.45 * 2.0 ** max(known[i].bound, 0)
                b.emit(op, (i,), _Known(real, True, bound, real=real))
        case "where_less":
            args = tuple(b.some() for _ in range(4))
            if all(k.real for k in known_of(*args[:2])):
                x, y = known_of(*args[2:])
                b.emit(
                    op,
                    args,
                    _Known(
                        x.nonnegative and y.nonnegative,
                        x.nonzero and y.nonzero,
                        max(x.bound, y.bound),
                        real=x.real and y.real,
                    ),
                )
        case "commutator":
            # x y - y x, exactly zero; its derivatives vanish too
            i, j = b.some(), b.some()
            first = b.emit("mul", (i, j), _product_of(known_of(i, j)))
            second = b.emit("mul", (j, i), _product_of(known_of(i, j)))
            b.emit(
                "sub",
                (first, second),
                _Known(False, False, known[first].bound, real=known[first].real),
            )
        case "distributive":
            # (x + y) z - (x z + y z), zero up to rounding, and exactly on small integers
            i, j, k = b.some(), b.some(), b.some()
            both = b.emit("add", (i, j), _sum_of(known_of(i, j)))
            left = b.emit("mul", (both, k), _product_of(known_of(both, k)))
            first = b.emit("mul", (i, k), _product_of(known_of(i, k)))
            second = b.emit("mul", (j, k), _product_of(known_of(j, k)))
            right = b.emit("add", (first, second), _sum_of(known_of(first, second)))
            b.emit(
                "sub", (left, right), _Known(False, False, known[left].bound, real=known[left].real)
            )


def random_program(seed: tuple[int, ...], is_complex: bool) -> Program:
    """A structure of 5 to 20 operations, the same one for the same seed."""
    rng = np.random.default_rng(seed)
    b = _Builder(rng, is_complex)
    for _ in range(int(rng.integers(2, 5))):
        b.leaves.append(Leaf("number", bool(rng.random() < 0.4), bool(rng.random() < 0.4)))
    if rng.random() < 0.35:
        b.leaves.append(Leaf("plain", bool(rng.random() < 0.5), bool(rng.random() < 0.3)))
    if rng.random() < 0.4:
        b.leaves += [Leaf("log")] * int(rng.integers(1, 3))
    if rng.random() < 0.25:
        b.leaves.append(Leaf("power"))
    for leaf in b.leaves:
        is_number = leaf.kind in ("number", "plain")
        bound = 2.0 if leaf.moderate else _FREE
        b.known.append(_Known(False, leaf.nonzero, bound, is_number, real=not is_complex))
    for i, leaf in enumerate(b.leaves):
        if leaf.kind == "log":
            b.emit("from_log", (i,), _Known(not is_complex, True, _FREE, real=not is_complex))
    size = int(rng.integers(5, 21))
    while len(b.nodes) < size:
        _step(b)
    # The last operation takes what nothing has used yet, so that all the program matters.
    unused = [i for i, k in enumerate(b.known) if k.number and not k.uses]
    if len(unused) > 1:
        b.emit("sum" if b.chance(0.6) else "prod", tuple(unused), _Known(False, False, _FREE))
    return Program(b.leaves, b.nodes, is_complex, seed)


# --- the command


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.random_programs", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--programs", type=int, default=2000, help="how many (default 2000)")
    parser.add_argument("--batch", type=int, default=50, help="inputs per structure (default 50)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float64")
    parser.add_argument("--level", choices=["numerics", "logarray", "quaxify"], default="numerics")
    parser.add_argument(
        "--complex",
        choices=["no", "yes", "half"],
        default="half",
        dest="kind",
        help="complex structures: none, all, or every other one (default)",
    )
    parser.add_argument(
        "--compile",
        choices=["primitive", "operation", "program"],
        default="primitive",
        dest="compile_as",
        help="what is compiled as one (default primitive: the fastest)",
    )
    parser.add_argument("--no-x64", action="store_true", help="leave jax_enable_x64 off (float32)")
    parser.add_argument("--show", type=int, default=5, help="failures printed in full (default 5)")
    options = parser.parse_args(arguments)

    import jax

    from tests.program_check import Summary, check_structure

    if not options.no_x64:
        jax.config.update("jax_enable_x64", True)
    elif options.dtype == "float64":
        parser.error("--no-x64 needs --dtype float32")
    summary = Summary()
    start = time.perf_counter()
    structures = -(-options.programs // options.batch)
    for k in range(structures):
        check_structure(
            (options.seed, k),
            is_complex=options.kind == "yes" or (options.kind == "half" and k % 2 == 1),
            batch=min(options.batch, options.programs - k * options.batch),
            dtype=options.dtype,
            level=options.level,
            compile_as=options.compile_as,
            summary=summary,
        )
    print(summary.table())
    for failure in summary.failures[: options.show]:
        print(failure)
    print(f"{structures} structures, {time.perf_counter() - start:.0f} s")
    return 1 if summary.failures else 0


if __name__ == "__main__":
    sys.exit(main())
