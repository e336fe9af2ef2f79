"""How do times grow with the size, from 10^3 to 10^7 elements? Linearly, once overhead is passed.

The last column is nanoseconds for each element.
"""

import operator

from . import _operands as operands
from ._timing import Candidate, Options, Question, compare, main_of

SIZES = (10**3, 10**4, 10**5, 10**6, 10**7)


def body(options: Options) -> list[Question]:
    sizes = SIZES[:2] if options.quick else SIZES
    questions = []
    options.silent = True
    for dtype in options.dtypes:
        for name, function in (
            ("add", operator.add),
            ("mul", operator.mul),
            ("sum", lambda x, y: x.sum()),
            ("logabs", lambda x, y: x.logabs),
        ):
            print(f"\n{name}, {dtype.name}")
            for size in sizes:
                x, y = (operands.ours((size,), dtype, seed) for seed in (0, 1))
                inner = max(1, min(200, 10**5 // size))
                question = compare(
                    f"{name}, {size} elements, {dtype.name}",
                    [Candidate("logspace", function, (x, y))],
                    options,
                    inner=inner,
                )
                seconds = question.timings[0].minimum
                print(f"  {size:>9}  {1e3 * seconds:10.4f} ms  {1e9 * seconds / size:8.3f} ns each")
                questions.append(question)
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
