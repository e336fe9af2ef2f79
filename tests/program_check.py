"""Compares what a random program gave with the oracle, number by number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from mpmath import mpc, mpf

from tests.oracle import (
    DOUBLE,
    NOTHING,
    SINGLE,
    Array,
    Jet,
    Oracle,
    add_up,
    exact_number,
    exact_numbers,
    log2_magnitude,
)
from tests.oracle_operations import OPERATIONS
from tests.program_backends import Numerics, Results, evaluate
from tests.random_inputs import Draws, random_draws
from tests.random_programs import Program, random_program

QUANTITIES = ("value", "rounded", "reverse", "forward", "forward over forward",
              "forward over reverse", "window")  # fmt: skip


@dataclass
class Summary:
    programs: int = 0
    value_only: int = 0  # derivatives do not exist at this input
    undefined: int = 0  # nor does the value, or its error is as large as itself
    compared: Counter = field(default_factory=Counter)
    infinite: Counter = field(default_factory=Counter)  # beyond the range of a significand
    flushed: Counter = field(default_factory=Counter)  # 0, where the truth is below the floor
    worst: dict[str, float] = field(default_factory=dict)  # error / bound
    failures: list[str] = field(default_factory=list)
    failed: Counter = field(default_factory=Counter)
    operations: Counter = field(default_factory=Counter)

    def table(self) -> str:
        judged = self.programs - self.value_only - self.undefined
        lines = [
            f"programs {self.programs}: {judged} judged in value and derivatives, "
            f"{self.value_only} in value only, {self.undefined} undefined",
            f"{'':22}{'compared':>10}{'worst/bound':>13}{'beyond range':>14}{'flushed to 0':>13}"
            f"{'failures':>10}",
        ]
        for q in QUANTITIES:
            lines.append(
                f"{q:22}{self.compared[q]:>10}{self.worst.get(q, 0.0):>13.3f}"
                f"{self.infinite[q]:>14}{self.flushed[q]:>13}{self.failed[q]:>10}"
            )
        return "\n".join(lines)


def check_structure(
    seed: tuple[int, ...],
    *,
    is_complex: bool,
    batch: int,
    dtype: str,
    level: str,
    compile_as: str,
    summary: Summary,
) -> None:
    """Generate one structure, run it at `batch` inputs and record every comparison."""
    program = random_program(seed, is_complex)
    draws = random_draws(program, batch, dtype, np.random.default_rng((*seed, 1)))
    results = evaluate(program, draws, backend_for(level, is_complex), compile_as)
    compare(program, draws, results, dtype, summary)


def backend_for(level: str, is_complex: bool) -> object:
    if level == "numerics":
        return Numerics(is_complex)
    from tests.program_logarrays import LogArrays

    return LogArrays(is_complex, quaxified=level == "quaxify")


def run_oracle(program: Program, draws: Draws, results: Results, dtype: str) -> tuple[Oracle, list]:
    batch, directions = draws.batch, program.directions
    oracle = Oracle(SINGLE if dtype == "float32" else DOUBLE, batch, len(directions) + 1)
    jets: list[Jet] = []
    for i, leaf in enumerate(program.leaves):
        t = draws.parameters[i]
        e = results.exponents[i].astype(np.float64)
        if leaf.kind == "number":
            value = exact_numbers(t, draws.exponents[i])
            unit = exact_numbers(np.ones(batch), draws.exponents[i])
        else:
            value = exact_numbers(t, np.zeros(batch, int))
            unit = np.full(batch, mpf(1), dtype=object)
        slots = {d: c for d, (which, c) in enumerate(directions) if which == i}
        # a plain float becomes a number, and is moved to its exponent, inside the program
        scales = (np.minimum(e, 0), np.maximum(e, 0)) if leaf.kind == "plain" else (e, e)
        jets.append(oracle.leaf(value, unit, slots, draws.along[i], scales))
    for k, node in enumerate(program.nodes):
        e = results.exponents[len(program.leaves) + k].astype(np.float64)
        jets.append(OPERATIONS[node.op](oracle, [jets[a] for a in node.args], node.param, e))
    return oracle, jets


def compare(program: Program, draws: Draws, results: Results, dtype: str, summary: Summary) -> None:
    oracle, jets = run_oracle(program, draws, results, dtype)
    out = jets[-1]
    judge = _Judge(program, draws, dtype, summary)
    summary.programs += draws.batch
    summary.undefined += int(np.sum(~out.valid))
    for node in program.nodes:
        summary.operations[node.op] += draws.batch

    # Values, of every node: an error is reported where it arises.
    blamed = np.zeros(draws.batch, bool)
    for i in range(len(program.leaves), len(jets)):
        jet = jets[i]
        found = exact_numbers(results.significands[i], results.exponents[i])
        where = jet.valid & ~blamed
        has_rounded = np.array([r is not None for r in jet.rounded])
        blamed |= judge.numbers(
            "rounded", found, jet.rounded, np.full(draws.batch, NOTHING), where & has_rounded, i
        )
        blamed |= judge.numbers("value", found, jet.value, jet.err0, where, i)
        blamed |= judge.window(results.significands[i], where & ~blamed, i, dtype)

    # A derivative that does not exist anywhere in the program may spoil all derivatives.
    differentiable = np.ones(draws.batch, bool)
    for jet in jets:
        differentiable &= jet.valid & jet.smooth
    differentiable &= out.valid
    summary.value_only += int(np.sum(out.valid & ~differentiable))
    differentiable &= ~blamed

    scale = results.exponents[-1].astype(np.int64)
    own_scale = results.exponent.astype(np.int64)
    overflow1, overflow2, floor1, floor2 = oracle.reverse_limits(out)
    last = len(jets) - 1
    for d, (leaf, coefficient) in enumerate([*program.directions, (-1, 0)]):
        place = f"direction {d}"
        judge.numbers(
            "forward",
            exact_numbers(results.forward[d], scale),
            out.first[:, d],
            out.err1[:, d],
            differentiable,
            last,
            out.overflow,
            place,
        )
        if leaf < 0:
            continue
        # cotangent 1 pairs with the real part of the derivative along each direction
        part = (lambda g: g.real) if coefficient == 1 else (lambda g: -g.imag)
        for name, gradient, want, bound, floor, overflow in (
            ("reverse", results.reverse, out.first, out.err1, floor1, overflow1),
            (
                "forward over reverse",
                results.forward_reverse,
                out.second,
                out.err2,
                floor2,
                overflow2,
            ),
        ):
            judge.numbers(
                name,
                exact_numbers(part(gradient[leaf]), own_scale),
                np.array([v.real for v in want[:, d]], dtype=object),
                add_up(bound[:, d], floor[:, d]),
                differentiable,
                last,
                out.overflow | overflow,
                place,
            )
    judge.numbers(
        "forward over forward",
        exact_numbers(results.forward_forward, own_scale),
        out.second[:, -1],
        out.err2[:, -1],
        differentiable,
        last,
        out.overflow,
    )


class _Judge:
    def __init__(self, program: Program, draws: Draws, dtype: str, summary: Summary) -> None:
        self.program, self.draws, self.dtype, self.summary = program, draws, dtype, summary
        self.reported: set[int] = set()

    def numbers(
        self,
        quantity: str,
        found: Array,
        wanted: Array,
        bound: Array,
        where: Array,
        node: int,
        may_overflow: Array | None = None,
        place: str = "",
    ) -> Array:
        """Compare; returns which draws failed. `found` is None where it is not finite."""
        s = self.summary
        failed = np.zeros(len(where), bool)
        for b in np.flatnonzero(where):
            s.compared[quantity] += 1
            if found[b] is None:
                if may_overflow is not None and may_overflow[b]:
                    s.infinite[quantity] += 1
                    continue
                ratio = np.inf
            else:
                difference = found[b] - wanted[b]
                size = float(log2_magnitude(np.array(difference, dtype=object)))
                if size == NOTHING:
                    ratio = 0.0
                else:
                    ratio = float(np.exp2(np.clip(size - bound[b], -200, 200)))
                if ratio <= 1 and found[b] == 0 and wanted[b] != 0:
                    s.flushed[quantity] += 1
            if ratio <= 1:
                s.worst[quantity] = max(s.worst.get(quantity, 0.0), ratio)
            else:
                failed[b] = True
                s.failed[quantity] += 1
                self.report(quantity, b, node, found[b], wanted[b], bound[b], place)
        return failed

    def window(self, significand: Array, where: Array, node: int, dtype: str) -> Array:
        """Significands stay where products of two neither overflow nor underflow."""
        complex_numbers = np.iscomplexobj(significand)
        limit = {("float64", False): 511, ("float64", True): 480, ("float32", False): 63,
                 ("float32", True): 38}[dtype, complex_numbers]  # fmt: skip
        size = np.maximum(abs(significand.real), abs(significand.imag)).astype(np.float64)
        inside = (size == 0) | ((size <= 2.0**limit) & (size >= 2.0**-limit))
        bad = where & ~inside
        self.summary.compared["window"] += int(np.sum(where))
        for b in np.flatnonzero(bad):
            self.summary.failed["window"] += 1
            self.report("window", b, node, significand[b], "", 0.0, "")
        return bad

    def report(
        self,
        quantity: str,
        b: int,
        node: int,
        found: object,
        wanted: object,
        bound: float,
        place: str,
    ) -> None:
        if b in self.reported:
            return
        self.reported.add(b)
        program, draws, names = self.program, self.draws, self.program.names()
        lines = [
            f"--- {quantity} of {names[node]} = {program.operation(node)} {place}; seed "
            f"{program.seed}, draw {b}, {self.dtype}, "
            f"{'complex' if program.is_complex else 'real'}",
            f"found {_show(found)}, expected {_show(wanted)}, bound 2**{bound:.1f}",
        ]
        for i, name in enumerate(names[: len(program.leaves)]):
            exponent = draws.exponents[i][b]
            scale = f" * 2**{exponent}" if exponent else ""
            lines.append(
                f"{name} = {draws.parameters[i][b]!r}{scale}    # along {draws.along[i][b]!r}"
            )
        self.summary.failures.append("\n".join([*lines, program.code()]))


def _show(x: object) -> str:
    if isinstance(x, mpf | mpc):
        return (
            f"{x}"
            if abs(x) == 0 or abs(log2_magnitude(np.array(x, dtype=object))) < 3000
            else (f"2**{float(log2_magnitude(np.array(x, dtype=object))):.3f} in magnitude")
        )
    return "not finite" if x is None else str(x)


__all__ = ["Summary", "backend_for", "check_structure", "compare", "exact_number", "run_oracle"]
