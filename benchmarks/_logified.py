"""A function through `logify` beside itself in plain JAX: runs, tracing and compilation, bits."""

import time
from collections.abc import Callable
from typing import Any

from ._timing import Candidate, Options, Question, Timing, compare, show

import jax  # isort: skip - after _timing
import numpy as np

from logspace import logify


def questions(
    name: str, fn: Callable[..., Any], arguments: Any, options: Options, most: float,
    most_compile: float | None = None,
) -> list[Question]:  # fmt: skip
    """Run times of value and of value and gradient; with `most_compile`, and what they cost before."""
    out = []
    for what, of in (("value", lambda f: f), ("value and gradient", jax.value_and_grad)):
        candidates = [
            Candidate("logify", of(logify(fn)), arguments), Candidate("plain", of(fn), arguments)
        ]  # fmt: skip
        out.append(compare(f"{name}: {what}", candidates, options, {"plain": most}))
        if most_compile is not None:
            out.append(_compilation(f"{name}: {what}", fn, of, arguments, options, most_compile))
    if most_compile is not None and not options.silent:
        ours, plain = (jax.jit(f)(*arguments) for f in (logify(fn), fn))
        print(f"  values equal to the bit: {bool(np.array_equal(ours, plain))}")
    return out


def _compilation(
    text: str, fn: Any, of: Any, arguments: Any, options: Options, most: float
) -> Question:
    """Seconds to trace, lower and compile, in turns, without any cache."""
    timings = [Timing("logify", 0.0), Timing("plain", 0.0)]
    for _ in range(min(options.rounds, 4)):
        for timing, wrap in zip(timings, (logify, lambda f: f), strict=True):
            jax.clear_caches()
            start = time.perf_counter()
            jax.jit(of(wrap(fn))).lower(*arguments).compile()
            timing.runs_s.append(time.perf_counter() - start)
    question = Question(f"{text}, tracing and compiling", timings, {"plain": most})
    if not options.silent:
        show(question)
    return question
