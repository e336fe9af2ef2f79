"""What all benchmarks share: fair timing, options, tables and JSON.

Import this before jax: it keeps the BLAS threads of NumPy from competing with those of XLA.

The candidates of one question are compiled first, which is timed apart, and then run in turns, in
another random order every round, so that whatever else the machine does hits all alike. A ratio is
taken between candidates of one run: of the minima, and of the medians beside it.
"""

import argparse
import importlib
import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import jax  # noqa: E402
import numpy as np  # noqa: E402


@dataclass
class Candidate:
    """One way to answer a question: a function to be compiled, or called as it is (`eager`)."""

    name: str
    function: Callable[..., Any]
    arguments: Sequence[Any] = ()
    eager: bool = False


@dataclass
class Timing:
    """Seconds: one compilation, and the runs."""

    name: str
    compile_s: float
    runs_s: list[float] = field(default_factory=list)

    @property
    def minimum(self) -> float:
        return min(self.runs_s)

    @property
    def median(self) -> float:
        return statistics.median(self.runs_s)


@dataclass
class Question:
    """The timings of one question, the first being ours, with the most that ours may cost.

    `targets` maps the name of a peer, or of several joined by " | " (the fastest of them counts),
    to the largest ratio ours / peer.
    """

    text: str
    timings: list[Timing]
    targets: dict[str, float] = field(default_factory=dict)

    def timing(self, name: str) -> Timing | None:
        return next((t for t in self.timings if t.name == name), None)

    def ratio(self, peers: str, statistic: str = "minimum") -> float | None:
        """ours / the fastest of the peers present; None where all are absent."""
        present = [t for t in map(self.timing, peers.split(" | ")) if t is not None]
        if not present:
            return None
        fastest = min(getattr(t, statistic) for t in present)
        return getattr(self.timings[0], statistic) / fastest

    def as_json(self) -> dict[str, Any]:
        return {
            "question": self.text,
            "timings": [
                {
                    "name": t.name,
                    "compile_ms": 1e3 * t.compile_s,
                    "minimum_ms": 1e3 * t.minimum,
                    "median_ms": 1e3 * t.median,
                    "runs": len(t.runs_s),
                }
                for t in self.timings
            ],
            "targets": [
                {
                    "peer": peer,
                    "target": target,
                    "ratio": self.ratio(peer),
                    "ratio_of_medians": self.ratio(peer, "median"),
                }
                for peer, target in self.targets.items()
            ],
        }


def compiled(candidate: Candidate) -> tuple[Callable[..., Any], float]:
    """The compiled function and the seconds that tracing and compiling took."""
    start = time.perf_counter()
    function = jax.jit(candidate.function).lower(*candidate.arguments).compile()
    return function, time.perf_counter() - start


def compare(
    text: str,
    candidates: Sequence[Candidate | None],
    options: "Options",
    targets: dict[str, float] | None = None,
    inner: int = 1,
) -> Question:
    """Time candidates in turns; those that are None (a peer not installed) are left out.

    `inner` calls make one run, for functions too short to be timed alone.
    """
    ready = []
    for c in candidates:
        if c is None:
            continue
        function, compile_s = (c.function, 0.0) if c.eager else compiled(c)
        jax.block_until_ready(function(*c.arguments))
        ready.append((function, c.arguments, Timing(c.name, compile_s)))
    order = list(ready)
    generator = random.Random(0)
    for _ in range(options.rounds):
        generator.shuffle(order)
        for function, arguments, timing in order:
            start = time.perf_counter()
            for _ in range(inner):
                out = function(*arguments)
            jax.block_until_ready(out)
            timing.runs_s.append((time.perf_counter() - start) / inner)
    question = Question(text, [t for _, _, t in ready], targets or {})
    if not options.silent:
        show(question)
    return question


def show(question: Question) -> None:
    print(f"\n{question.text}")
    for t in question.timings:
        compile_text = f"  compile {1e3 * t.compile_s:8.1f}" if t.compile_s else ""
        print(
            f"  {t.name:24} min {1e3 * t.minimum:9.4f}  median {1e3 * t.median:9.4f} ms"
            f"{compile_text}"
        )
    for peer, target in question.targets.items():
        ratio = question.ratio(peer)
        if ratio is None:
            print(f"  {peer}: absent")
            continue
        verdict = "met" if ratio <= target else "MISSED"
        medians = question.ratio(peer, "median")
        print(
            f"  ours / {peer} = {ratio:.2f} (medians {medians:.2f}), target {target:g}: {verdict}"
        )


@dataclass
class Options:
    """Command-line options, the same for every script."""

    quick: bool
    rounds: int
    dtypes: tuple[Any, ...]
    json: str | None
    silent: bool = False

    def size(self, usual: int, quick: int) -> int:
        """The size of a problem: the usual one, or a tiny one that shows that the script runs."""
        return quick if self.quick else usual


def options_from(arguments: Sequence[str] | None, description: str | None) -> Options:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="tiny sizes; shows that it runs")
    parser.add_argument("--rounds", type=int, default=None, help="runs of each candidate")
    parser.add_argument("--dtype", choices=("float64", "float32", "both"), default="both")
    parser.add_argument("--json", metavar="FILE", help="write the results to FILE")
    given = parser.parse_args(arguments)
    names = ("float64", "float32") if given.dtype == "both" else (given.dtype,)
    rounds = given.rounds if given.rounds is not None else (2 if given.quick else 60)
    return Options(given.quick, rounds, tuple(np.dtype(n) for n in names), given.json)


def machine() -> dict[str, str]:
    """Device and versions, for the head of a table."""
    peers = {name: version_of(name) for name in ("quax", "equinox", "quantax")}
    return {
        "device": str(jax.devices()[0].device_kind),
        "cpu": _cpu_name(),
        "cores": str(
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        ),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "numpy": np.__version__,
        **peers,
    }


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo") as info:
            return next(line.split(":")[1].strip() for line in info if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def version_of(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def peer(module: str) -> Any | None:
    """A peer's module, or None where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def quantax_array() -> Any | None:
    """quantax's LogArray class, or None."""
    module = peer("quantax.utils")
    return None if module is None else module.LogArray


def main_of(
    body: Callable[[Options], list[Question]], description: str | None
) -> Callable[..., list[Question]]:
    """The main function of a script, with 64-bit numbers enabled while it runs."""

    def main(arguments: Sequence[str] | None = None) -> list[Question]:
        options = options_from(arguments, description)
        print(", ".join(f"{k} {v}" for k, v in machine().items()))
        with jax.enable_x64(True):
            questions = body(options)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(
                    {"machine": machine(), "questions": [q.as_json() for q in questions]},
                    file,
                    indent=2,
                )
        return questions

    return main
