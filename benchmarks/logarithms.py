"""What do the ways from and to logarithms cost, beside exp and log?"""

import jax.numpy as jnp

import logspace as ls

from . import _operands as operands
from ._timing import Candidate, Options, Question, compare, main_of

SIZE = 10**6


def body(options: Options) -> list[Question]:
    size = options.size(SIZE, 1000)
    questions = []
    for dtype in options.dtypes:
        _, logabs = operands.sign_and_logabs((size,), dtype, 0)
        x, a = operands.ours((size,), dtype, 0), jnp.abs(operands.plain((size,), dtype, 0))
        questions.append(
            compare(
                f"from_log, {size} elements, {dtype.name}",
                [
                    Candidate("from_log", ls.from_log, (logabs,)),
                    Candidate("exp", jnp.exp, (logabs,)),
                ],
                options,
                {"exp": 2.0},
            )
        )
        questions.append(
            compare(
                f"logabs, {size} elements, {dtype.name}",
                [Candidate("logabs", lambda x: x.logabs, (x,)), Candidate("log", jnp.log, (a,))],
                options,
            )
        )
        questions.append(
            compare(
                f"from_linear and to_linear, {size} elements, {dtype.name}",
                [
                    Candidate("from_linear", ls.from_linear, (a,)),
                    Candidate("to_linear", lambda x: x.to_linear(), (x,)),
                    Candidate("copy", lambda a: a + 1, (a,)),
                ],
                options,
            )
        )
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
