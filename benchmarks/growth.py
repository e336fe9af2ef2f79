"""How do times grow with the size, from 10^3 to 10^7 elements?

Nanoseconds for each element, and those of the plain operation in the same run: where both grow, the
arrays have left the caches.
"""

import operator

from . import _operands as operands
from ._timing import Candidate, Options, Question, compare, main_of

import jax.numpy as jnp  # isort: skip - after _timing

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)


def body(options: Options) -> list[Question]:
    sizes = SIZES[:2] if options.quick else SIZES
    questions = []
    options.silent = True
    for dtype in options.dtypes:
        for name, function, plain in (
            ("add", operator.add, operator.add),
            ("mul", operator.mul, operator.mul),
            ("sum", lambda x, y: x.sum(), lambda x, y: x.sum()),
            ("logabs", lambda x, y: x.logabs, lambda x, y: jnp.log(jnp.abs(x))),
        ):
            print(f"\n{name}, {dtype.name}")
            for size in sizes:
                x, y = (operands.ours((size,), dtype, seed) for seed in (0, 1))
                a, b = (operands.plain((size,), dtype, seed) for seed in (0, 1))
                inner = max(1, min(200, 10**5 // size))
                question = compare(
                    f"{name}, {size} elements, {dtype.name}",
                    [
                        Candidate("logspace", function, (x, y)),
                        Candidate("plain", plain, (a, b)),
                    ],
                    options,
                    inner=inner,
                )
                ours, theirs = (1e9 * t.minimum / size for t in question.timings)
                print(f"  {size:>9}  {ours:8.3f} ns each, plain {theirs:8.3f}")
                questions.append(question)
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
