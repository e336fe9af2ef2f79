"""What does a function of 200 operations cost before it runs: tracing, lowering, compiling?

Peers: quantax's LogArray and plain arrays. Every round traces a new function, so that no cache
helps; the candidates take turns.
"""

import time
from typing import Any

import jax

import logspace as ls

from . import _operands as operands
from ._timing import Options, Question, Timing, main_of, quantax_array, show

OPERATIONS = 200
SIZE = 10


def program(operations: int) -> Any:
    """A new chain of operations, + * - / in turn; every intermediate number is used once."""

    def run(x: Any, y: Any) -> Any:
        for i in range(operations):
            step = i % 4
            if step == 0:
                x = x + y
            elif step == 1:
                x = x * y
            elif step == 2:
                x = x - y
            else:
                x = x / y
        return x

    return run


def stages(function: Any, arguments: Any) -> tuple[float, float]:
    """Seconds to trace and lower, and to compile."""
    start = time.perf_counter()
    lowered = jax.jit(function).lower(*arguments)
    middle = time.perf_counter()
    lowered.compile()
    return middle - start, time.perf_counter() - middle


def body(options: Options) -> list[Question]:
    operations = options.size(OPERATIONS, 8)
    rounds = min(options.rounds, 7)
    array = quantax_array()
    questions = []
    for dtype in options.dtypes:
        inputs: dict[str, Any] = {}
        inputs["logspace"] = [operands.ours((SIZE,), dtype, seed) for seed in (0, 1)]
        inputs["logspace, quaxify"] = inputs["logspace"]
        if array is not None:
            inputs["quantax"] = [
                array(*operands.sign_and_logabs((SIZE,), dtype, seed)) for seed in (0, 1)
            ]
        inputs["plain"] = [operands.plain((SIZE,), dtype, seed) for seed in (0, 1)]
        traced: dict[str, list[float]] = {name: [] for name in inputs}
        totals: dict[str, list[float]] = {name: [] for name in inputs}
        for _ in range(rounds):
            for name, arguments in inputs.items():
                function = program(operations)
                if name.endswith("quaxify"):
                    function = ls.quaxify(function)
                trace_s, compile_s = stages(function, arguments)
                traced[name].append(trace_s)
                totals[name].append(trace_s + compile_s)
        for text, times, targets in (
            ("tracing and lowering", traced, {}),
            ("tracing, lowering and compiling", totals, {"quantax": 2.0}),
        ):
            timings = [Timing(name, 0.0, runs) for name, runs in times.items()]
            question = Question(f"{text} {operations} operations, {dtype.name}", timings, targets)
            if not options.silent:
                show(question)
            questions.append(question)
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
