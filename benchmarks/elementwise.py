"""What do + and * of LogArrays cost, alone and with their gradient?

Peers: quantax's LogArray (sign and log-magnitude) and plain arrays. A gradient is a reverse pass
from a given cotangent of what carries the derivative: the significand, quantax's log-magnitude, or
the plain number.
"""

import operator
from typing import Any

from . import _operands as operands
from ._timing import Candidate, Options, Question, compare, main_of, quantax_array

import jax  # isort: skip - after _timing

SIZE = 10**6
#: (operation, gradient?) -> targets: the largest ratio to a peer, for float64 and float32
TARGETS: dict[tuple[str, bool], dict[str, dict[str, float]]] = {
    ("add", False): {"float64": {"quantax": 0.4}, "float32": {"quantax": 0.75}},
    ("add", True): {"float64": {"quantax": 0.75}, "float32": {"quantax": 0.75}},
    ("mul", False): {
        "float64": {"quantax": 0.75, "plain": 3.0},
        "float32": {"quantax": 0.75, "plain": 3.0},
    },
    ("mul", True): {"float64": {}, "float32": {}},
}


def with_gradient(function: Any) -> Any:
    """(value, gradients) of a function of two arrays, from a cotangent given last."""

    def run(x: Any, y: Any, *rest: Any) -> Any:
        *constants, cotangent = rest
        out, pull = jax.vjp(lambda x, y: function(x, y, *constants), x, y)
        return out, pull(cotangent)

    return run


def ours(operation: Any, shape: tuple[int, ...], dtype: Any, gradient: bool) -> Candidate:
    x, y = operands.ours(shape, dtype, 0), operands.ours(shape, dtype, 1)
    if not gradient:
        return Candidate("logspace", operation, (x, y))

    def run(x: Any, y: Any, cotangent: Any) -> Any:
        def significand(s: Any, t: Any) -> Any:
            out = operation(operands.ours_from_leaves(s, x), operands.ours_from_leaves(t, y))
            return operands.significand_of(out), out

        s, pull, out = jax.vjp(
            significand, operands.significand_of(x), operands.significand_of(y), has_aux=True
        )
        return out, pull(cotangent)

    return Candidate("logspace", run, (x, y, operands.plain(shape, dtype, 2)))


def quantax(operation: Any, shape: tuple[int, ...], dtype: Any, gradient: bool) -> Candidate | None:
    array = quantax_array()
    if array is None:
        return None
    (s, x), (t, y) = (operands.sign_and_logabs(shape, dtype, seed) for seed in (0, 1))
    if not gradient:
        return Candidate("quantax", operation, (array(s, x), array(t, y)))

    def run(x: Any, y: Any, s: Any, t: Any, cotangent: Any) -> Any:
        def logabs(x: Any, y: Any) -> Any:
            out = operation(array(s, x), array(t, y))
            return out.logabs, out.sign

        out, pull, sign = jax.vjp(logabs, x, y, has_aux=True)
        return (sign, out), pull(cotangent)

    return Candidate("quantax", run, (x, y, s, t, operands.plain(shape, dtype, 2)))


def plain(operation: Any, shape: tuple[int, ...], dtype: Any, gradient: bool) -> Candidate:
    x, y = operands.plain(shape, dtype, 0), operands.plain(shape, dtype, 1)
    if not gradient:
        return Candidate("plain", operation, (x, y))
    return Candidate("plain", with_gradient(operation), (x, y, operands.plain(shape, dtype, 2)))


def body(options: Options) -> list[Question]:
    size = options.size(SIZE, 1000)
    questions = []
    for name, operation in (("add", operator.add), ("mul", operator.mul)):
        for gradient in (False, True):
            for dtype in options.dtypes:
                what = "value and gradient" if gradient else "value"
                candidates = [
                    make(operation, (size,), dtype, gradient) for make in (ours, quantax, plain)
                ]
                text = f"{name}, {what}, {size} elements, {dtype.name}"
                targets = TARGETS[name, gradient][dtype.name]
                questions.append(compare(text, candidates, options, targets))
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
