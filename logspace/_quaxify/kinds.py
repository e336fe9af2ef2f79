"""What a loop carries, and what the branches of a `cond` return.

A slot that is plain in one place and a LogArray in another is a LogArray throughout; it is never
made plain. A slot whose body returns a Log is a Log, unless the body also returns plain values for
it, in which case the plain value of the logarithm is carried.
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from .. import _numerics as num
from .._log import Log, log_of
from .._log_array import LogArray, as_supported, wrap
from .._parts import ImaginaryPartOfLog
from .._tangents import Tangent
from .._value import is_value
from .inverse_pair import Image, on_its_own

PLAIN, LOG, READ, LOG_ARRAY, TANGENT = "plain", "Log", "plain value of a Log", "LogArray", "tangent"

_JOIN = {
    (PLAIN, PLAIN): PLAIN,
    (PLAIN, LOG): LOG,
    (LOG, LOG): LOG,
    # the body reads the Log that it is given: from now on its plain value is carried
    (LOG, PLAIN): READ,
    (READ, PLAIN): READ,
    (READ, LOG): READ,
}


def kind_of(x: Any) -> Any:
    if isinstance(x, (LogArray, Image)):
        return LOG_ARRAY
    if isinstance(x, Log):
        return LOG
    if isinstance(x, Tangent):
        return TANGENT
    return type(x) if is_value(x) and not isinstance(x, ImaginaryPartOfLog) else PLAIN


def join(before: Any, after: Any) -> Any:
    """The kind of a slot that has held `before` and is now given `after`. Repeated, it settles."""
    if TANGENT in (before, after):
        return TANGENT
    if LOG_ARRAY in (before, after):
        return LOG_ARRAY
    if (before, after) in _JOIN:
        return _JOIN[before, after]
    if before == after:
        return before
    raise TypeError(
        f"A loop carry or the results of branches mix values of different types, {before} and "
        f"{after}. Convert them to one type before the loop and in its body."
    )


def join_branches(one: Any, other: Any) -> Any:
    """The kind of a result of several branches: a Log as soon as one of them gives a Log."""
    if {one, other} == {PLAIN, LOG}:
        return LOG
    return join(one, other)


def join_all(before: Sequence[Any], after: Sequence[Any], joined: Any = join) -> list[Any]:
    return [joined(b, a) for b, a in zip(before, after, strict=True)]


def convert(x: Any, kind: Any) -> Any:
    """The same quantity as another kind of value."""
    x = on_its_own(x)
    if kind in (PLAIN, READ):
        return x.materialise() if isinstance(x, (Log, LogArray)) else x
    if kind == LOG:
        number = (
            x.number if isinstance(x, Log) else wrap(num.from_log(as_supported(jnp.asarray(x))))
        )
        # one structure for all rounds of a loop: of complex logarithms only what all of them know
        return log_of(number, principal=False)
    if kind == LOG_ARRAY:
        if isinstance(x, LogArray):
            return x
        return wrap(num.from_linear(as_supported(jnp.asarray(convert(x, PLAIN)))))
    if kind == TANGENT:
        from .._tangents import canonical, lift

        return canonical(lift(x))
    return x


def convert_all(values: Sequence[Any], kinds: Sequence[Any]) -> list[Any]:
    return [convert(x, kind) for x, kind in zip(values, kinds, strict=True)]
