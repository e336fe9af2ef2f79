"""What does a signed sum along an axis of a 1000 x 1000 array cost, alone and with its gradient?

Peers: quantax's LogArray, `jax.nn.logsumexp` with signs as its weights, and plain sums. Gradients
as in `elementwise`.
"""

from typing import Any

from . import _operands as operands
from ._timing import Candidate, Options, Question, compare, main_of, quantax_array

import jax  # isort: skip - after _timing

SIDE = 1000
TARGETS = {False: {"quantax | logsumexp": 1.25}, True: {"quantax | logsumexp": 1.3}}


def ours(axis: int, shape: tuple[int, ...], dtype: Any, gradient: bool) -> Candidate:
    x = operands.ours(shape, dtype, 0)
    if not gradient:
        return Candidate("logspace", lambda x: x.sum(axis), (x,))

    def run(x: Any, cotangent: Any) -> Any:
        def significand(s: Any) -> Any:
            out = operands.ours_from_leaves(s, x).sum(axis)
            return operands.significand_of(out), out

        _, pull, out = jax.vjp(significand, operands.significand_of(x), has_aux=True)
        return out, pull(cotangent)

    return Candidate("logspace", run, (x, _cotangent(axis, shape, dtype)))


def quantax(axis: int, shape: tuple[int, ...], dtype: Any, gradient: bool) -> Candidate | None:
    array = quantax_array()
    if array is None:
        return None

    def total(sign: Any, logabs: Any) -> Any:
        out = array(sign, logabs).sum(axis)
        return out.sign, out.logabs

    return _of_logarithms("quantax", total, axis, shape, dtype, gradient)


def logsumexp(axis: int, shape: tuple[int, ...], dtype: Any, gradient: bool) -> Candidate:
    def total(sign: Any, logabs: Any) -> Any:
        out, out_sign = jax.nn.logsumexp(logabs, axis, b=sign, return_sign=True)
        return out_sign, out

    return _of_logarithms("logsumexp", total, axis, shape, dtype, gradient)


def _of_logarithms(
    name: str, total: Any, axis: int, shape: tuple[int, ...], dtype: Any, gradient: bool
) -> Candidate:
    sign, logabs = operands.sign_and_logabs(shape, dtype, 0)
    if not gradient:
        return Candidate(name, total, (sign, logabs))

    def run(sign: Any, logabs: Any, cotangent: Any) -> Any:
        def function(logabs: Any) -> Any:
            out_sign, out = total(sign, logabs)
            return out, out_sign

        out, pull, out_sign = jax.vjp(function, logabs, has_aux=True)
        return (out_sign, out), pull(cotangent)

    return Candidate(name, run, (sign, logabs, _cotangent(axis, shape, dtype)))


def plain(axis: int, shape: tuple[int, ...], dtype: Any, gradient: bool) -> Candidate:
    x = operands.plain(shape, dtype, 0)
    if not gradient:
        return Candidate("plain", lambda x: x.sum(axis), (x,))

    def run(x: Any, cotangent: Any) -> Any:
        out, pull = jax.vjp(lambda x: x.sum(axis), x)
        return out, pull(cotangent)

    return Candidate("plain", run, (x, _cotangent(axis, shape, dtype)))


def _cotangent(axis: int, shape: tuple[int, ...], dtype: Any) -> Any:
    kept = tuple(n for a, n in enumerate(shape) if a != axis)
    return operands.plain(kept, dtype, 2)


def body(options: Options) -> list[Question]:
    side = options.size(SIDE, 20)
    questions = []
    for gradient in (False, True):
        for axis in (0, 1):
            for dtype in options.dtypes:
                what = "value and gradient" if gradient else "value"
                candidates = [
                    make(axis, (side, side), dtype, gradient)
                    for make in (ours, quantax, logsumexp, plain)
                ]
                text = f"sum over axis {axis}, {what}, {side} x {side}, {dtype.name}"
                questions.append(compare(text, candidates, options, TARGETS[gradient]))
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
