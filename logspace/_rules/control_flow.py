"""`jax.checkpoint` under plain `quax.quaxify`, which has no rule for it.

`logspace.quaxify` handles it in its own trace, like jit, loops and branches, for which quax has
handlers.
"""

from typing import Any

import jax
import quax
from jax.extend.core import primitives
from jax.typing import ArrayLike

from .. import _compat as compat
from .._log import Log
from .._log_array import LogArray
from .registering import annotate

#: The operands include all that the checkpointed function closes over, so a value may stand far back.
_POSITIONS = 32


def checkpoint(*values: Any, jaxpr: Any, policy: Any, prevent_cse: Any, **params: Any) -> list[Any]:
    """The checkpointed function again, over values."""
    function = quax.quaxify(compat.jaxpr_as_fun(compat.closed(jaxpr)))
    return jax.checkpoint(function, policy=policy, prevent_cse=prevent_cse)(*values)


def _register() -> None:
    for position in range(_POSITIONS):

        def rule(*values: Any, **params: Any) -> list[Any]:
            return checkpoint(*values, **params)

        rule.__name__ = "checkpoint"
        types = [ArrayLike] * position + [LogArray | Log]
        quax.register(primitives.remat_p)(annotate(rule, *types, rest=LogArray | Log | ArrayLike))


_register()
