"""What does an operator outside jit cost on small arrays, where only the overhead counts?"""

import operator

from . import _operands as operands
from ._timing import Candidate, Options, Question, compare, main_of, quantax_array

SIZE = 10
CALLS = 200
OPERATORS = ("add", "sub", "mul", "truediv", "lt", "eq")


def body(options: Options) -> list[Question]:
    questions = []
    dtype = options.dtypes[0]
    array = quantax_array()
    pairs = {"logspace": [operands.ours((SIZE,), dtype, seed) for seed in (0, 1)]}
    if array is not None:
        pairs["quantax"] = [
            array(*operands.sign_and_logabs((SIZE,), dtype, seed)) for seed in (0, 1)
        ]
    pairs["plain"] = [operands.plain((SIZE,), dtype, seed) for seed in (0, 1)]
    inner = 2 if options.quick else CALLS

    def ask(text: str, function: object, only: tuple[str, ...] = tuple(pairs)) -> None:
        candidates = [
            Candidate(name, function, arguments, eager=True)  # type: ignore[arg-type]
            for name, arguments in pairs.items()
            if name in only
        ]
        text = f"eager {text}, {SIZE} elements, {dtype.name}"
        questions.append(compare(text, candidates, options, {"plain": 4.0}, inner))

    for name in OPERATORS:
        compares = name in ("lt", "eq")
        only = ("logspace", "plain") if compares else tuple(pairs)
        ask(name, getattr(operator, name), only)
    ask("neg", lambda x, y: -x)
    ask("abs", lambda x, y: abs(x))
    ask("power by 2", lambda x, y: x**2)
    ask("times a float", lambda x, y: x * 2.0)
    ask("x[3]", lambda x, y: x[3])
    ask("x[None, 2:5]", lambda x, y: x[None, 2:5])
    ask("sum", lambda x, y: x.sum())
    ask("reshape", lambda x, y: x.reshape(5, 2))
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
