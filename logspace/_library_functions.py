"""Functions of JAX that are recognised in a traced program: their parts do not say what they are.

A call is recognised by the name of the function and by its file, which is JAX's: anybody may call a
function `det`. Neither is public: `tests/logify/test_library_calls.py` pins each one. Name and file
are not enough, since they stay with the derivatives of a function and with what `vmap` made of it, so
the programs are compared as well.
"""

import os
import re
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy import special

from ._compat import called, name_and_file

_JAX = os.path.join(os.path.dirname(jax.__file__), "")
_OF_MATRICES = {"det": jnp.linalg.det, "slogdet": jnp.linalg.slogdet}
_ELEMENTWISE = {
    "hypot": jnp.hypot,
    "logaddexp": jnp.logaddexp,
    "logaddexp2": jnp.logaddexp2,
    "logit": special.logit,
    "signbit": jnp.signbit,
    "xlog1py": special.xlog1py,
    "xlogy": special.xlogy,
}
#: `jax.nn.softmax` and `logsumexp`: their rules use the softmax, nan where all is -inf. They have them
#: from JAX 0.12.1 on.
_REFORMULATED = frozenset(("_softmax", "_logsumexp_impl"))


def library_function(jaxpr: Any) -> str:
    """The name of the function of JAX behind a jaxpr or a wrapped function; "" for anybody else's."""
    body = getattr(jaxpr, "jaxpr", jaxpr)
    name, file = name_and_file(body) if getattr(body, "debug_info", None) else ("", "")
    return name if file.startswith(_JAX) else ""


def is_reformulated(fun: Any) -> bool:
    """Whether a function with a `jax.custom_jvp` rule is to be read as its program all the same.

    So it is where JAX's rule is but another form of the derivative of the program, without which the
    program stays in log space. A shift by a maximum is then a constant: the result does not depend
    on it.
    """
    return library_function(fun) in _REFORMULATED


def elementwise_function(jaxpr: Any) -> str:
    """The name of the elementwise function that a jaxpr is the program of, batched or not, or ""."""
    name = library_function(jaxpr)
    if name not in _ELEMENTWISE:
        return ""
    body = getattr(jaxpr, "jaxpr", jaxpr)
    if len(body.outvars) != 1:  # with what its derivative needs
        return ""
    dtypes = tuple(v.aval.dtype for v in body.invars)
    return name if _operations(jaxpr) == _operations_of(name, dtypes) else ""


#: What `vmap`, and operands of other dtypes and shapes, add to an elementwise program.
_MOVEMENT = {"broadcast_in_dim", "convert_element_type", "reshape", "squeeze", "transpose"}


def _operations(jaxpr: Any) -> list[str]:
    """The names of the primitives of a program, of those inside of calls too."""
    names: list[str] = []
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        inner = called(equation.params)
        if inner is not None:
            names += _operations(inner)
        elif equation.primitive.name not in _MOVEMENT:
            names.append(equation.primitive.name)
    return names


@lru_cache(maxsize=256)
def _operations_of(name: str, dtypes: tuple[Any, ...]) -> list[str] | None:
    try:
        traced = jax.make_jaxpr(_ELEMENTWISE[name])(*(jax.ShapeDtypeStruct((), d) for d in dtypes))
    except (TypeError, ValueError):  # a derivative has another number of operands
        return None
    return _operations(traced)


class FunctionOfMatrices(NamedTuple):
    """`jnp.linalg.det` or `slogdet`, inside of a `jax.vmap` for each of `in_axes`, outermost first."""

    name: str
    in_axes: tuple[int, ...]

    def permutation(self, ndim: int) -> tuple[int, ...]:
        """The axes of the operand, those of batches first."""
        left = list(range(ndim))
        first = [left.pop(axis) for axis in self.in_axes]
        return (*first, *left)


def function_of_matrices(jaxpr: Any) -> FunctionOfMatrices | None:
    """Which function of matrices a jaxpr is the program of, or None."""
    name = library_function(jaxpr)
    if name not in _OF_MATRICES:
        return None
    (operand, *others) = getattr(jaxpr, "jaxpr", jaxpr).invars
    if others:  # with its tangent
        return None
    aval, text = operand.aval, _text(jaxpr)
    for in_axes in _ways_to_batch(len(aval.shape)):
        if text == _program(name, in_axes, aval.shape, aval.dtype, aval.weak_type):
            return FunctionOfMatrices(name, in_axes)
    return None


def _ways_to_batch(ndim: int) -> list[tuple[int, ...]]:
    """What nested `vmap` may run over: leading axes as often as there are, up to two of any kind."""
    leading = [(0,) * depth for depth in range(max(ndim - 1, 1))]
    axes = [range(ndim - depth) for depth in range(min(ndim - 2, 2))]
    others = [way for depth in range(1, len(axes) + 1) for way in product(*axes[:depth])]
    return [*leading, *(way for way in others if any(way))]


@lru_cache(maxsize=1024)
def _program(name: str, in_axes: tuple[int, ...], shape: Any, dtype: Any, weak_type: bool) -> str:
    function: Any = _OF_MATRICES[name]
    for axis in reversed(in_axes):
        function = jax.vmap(function, in_axes=axis)
    operand = jax.ShapeDtypeStruct(shape, dtype, weak_type=weak_type)
    try:
        traced = jax.make_jaxpr(function)(operand)
    except (TypeError, ValueError):  # these axes are not those of square matrices
        return ""
    jaxprs = (e.params.get("jaxpr") for e in traced.jaxpr.eqns)
    return next(_text(j) for j in jaxprs if j is not None and library_function(j) == name)


def _text(jaxpr: Any) -> str:
    """A program as text, without the addresses of functions."""
    return re.sub(r"0x[0-9a-f]+", "", str(jaxpr))
