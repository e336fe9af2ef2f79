"""What the types that live in log space have in common."""

from collections.abc import Sequence
from typing import Any, TypeGuard

import jax
import quax
from jax.extend.core import Primitive

from ._compat import is_quax_tracer
from ._errors import refuse


class LogSpaceValue(quax.ArrayValue):
    """Base of `LogArray` and `Log`: plain attribute access, one default for missing rules."""

    def __getattribute__(self, name: str, /) -> Any:
        # equinox wraps every method it hands out in a module of its own (some 20 us), so that
        # bound methods are pytrees. Our methods are not passed to transformations.
        return object.__getattribute__(self, name)

    @staticmethod
    def default(primitive: Primitive, values: Sequence[Any], params: dict[str, Any]) -> Any:
        """What happens to a primitive that has no rule for these operands.

        A `Log` among them is read as its plain value, a function value of a declared inverse pair
        as the number that it is, and the primitive tried again. A primitive
        that reaches a `LogArray` without a rule is refused with the way out.
        """
        from ._log import Log
        from ._parts import ImaginaryPartOfLog
        from ._quaxify.inverse_pair import on_its_own
        from ._rules.registering import ANYWHERE, LEADING

        logs = (Log, ImaginaryPartOfLog)
        if any(isinstance(x, logs) for x in values):
            plain = [x.materialise() if isinstance(x, logs) else x for x in values]
            return quax.quaxify(primitive.bind)(*plain, **params)
        read = [on_its_own(x) for x in values]
        if any(x is not y for x, y in zip(read, values, strict=True)):
            return quax.quaxify(primitive.bind)(*read, **params)
        # quax dispatches on the types at the leading positions only
        rule = ANYWHERE.get(primitive)
        if rule is not None and len(values) > LEADING:
            return rule(*(getattr(x, "array", x) for x in values), **params)
        refuse(primitive)


def is_value(x: object) -> TypeGuard[quax.Value]:
    """Whether x is a quax value; by inheritance, which is cheaper than its abstract base class."""
    return quax.Value in type(x).__mro__


def is_in_log_space(x: Any) -> bool:
    """Whether x is a LogArray or a Log, or stands for one inside a quaxified function."""
    return isinstance(x.value if is_quax_tracer(x) else x, LogSpaceValue)


def contains_value(tree: Any) -> bool:
    return any(map(is_value, jax.tree.leaves(tree, is_leaf=is_value)))
