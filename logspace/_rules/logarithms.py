"""The algebra of `Log`: sums of logarithms are logarithms of products.

A plain array added to a Log multiplies the number by its exponential, and a multiple of a Log is
the Log of a power. What is not listed here reads the plain value of the logarithm.
"""

from typing import Any

import jax.numpy as jnp
import quax
from jax import lax
from jax.core import Tracer
from jax.extend.core import Primitive
from jax.typing import ArrayLike

from .. import _numerics as num
from .._errors import MaterialiseError
from .._log import Log, log_of
from .._log_array import LogArray, unwrap, wrap
from .._numerics import Scaled
from .registering import LEADING, annotate, broadcast, each_leaf


def _number(x: Any) -> Scaled:
    """The number whose logarithm the operand is."""
    return unwrap(x.number) if isinstance(x, Log) else num.from_log(jnp.asarray(x))


def _log(x: Scaled, principal: bool) -> Log:
    return log_of(wrap(x), principal)


def _principal(*operands: Any) -> bool:
    """Whether all Logs among the operands are principal; a plain array is what it is."""
    return all(x.principal if isinstance(x, Log) else not jnp.iscomplexobj(x) for x in operands)


_PAIRS = ((Log, Log), (Log, ArrayLike), (ArrayLike, Log))


def _of_pair(primitive: Primitive, operation: Any) -> None:
    for types in _PAIRS:

        def rule(x: Any, y: Any, **params: Any) -> Any:
            return _log(operation(*broadcast(_number(x), _number(y))), principal=False)

        rule.__name__ = primitive.name
        quax.register(primitive)(annotate(rule, *types))


_of_pair(lax.add_p, num.multiply)
_of_pair(lax.sub_p, num.divide)


def _multiple(log: Log, factor: Any) -> Log:
    x = _number(log)
    static = None if isinstance(factor, Tracer) or jnp.ndim(factor) else complex(factor)
    whole = static is not None and static.imag == 0 and static.real.is_integer()
    if static is not None and whole:
        if abs(static.real) <= 64:
            shape = jnp.broadcast_shapes(log.shape, jnp.shape(factor))
            power = num.integer_power(x, int(static.real))
            one = abs(static.real) <= 1 and log.principal
            return _log(Scaled(*(jnp.broadcast_to(part, shape) for part in power)), one)
    if not log.principal and not whole:
        raise MaterialiseError(
            "A sum, difference or multiple of complex logarithms is kept modulo 2 pi i, and its "
            f"multiple by {factor} is not known. Multiply each logarithm first, or read the plain "
            "logarithms of the numbers, `x.log()`."
        )
    within = static is not None and static.imag == 0 and abs(static.real) <= 1
    p = jnp.asarray(factor, x.significand.dtype)
    shape = jnp.broadcast_shapes(log.shape, p.shape)
    x = Scaled(*(jnp.broadcast_to(part, shape) for part in x))
    return _log(num.power(x, jnp.broadcast_to(p, shape)), within)


@quax.register(lax.mul_p)
def multiply_log(x: Log, y: ArrayLike, *, out_dtype: Any = None) -> Log:
    return _multiple(x, y)


@quax.register(lax.mul_p)
def multiply_by_log(x: ArrayLike, y: Log, *, out_dtype: Any = None) -> Log:
    return _multiple(y, x)


@quax.register(lax.div_p)
def divide_log(x: Log, y: ArrayLike) -> Log:
    return _multiple(x, jnp.reciprocal(jnp.asarray(y, x.dtype)))


@quax.register(lax.neg_p)
def negative_log(x: Log) -> Log:
    return _log(num.reciprocal(_number(x)), x.principal)


@quax.register(lax.exp_p)
def exp_of_log(x: Log, **accuracy: Any) -> LogArray:
    """exp and log cancel: the number itself."""
    return x.number


@quax.register(lax.reduce_sum_p)
def sum_of_logs(x: Log, *, axes: Any, **sharding: Any) -> Log:
    return _log(num.prod(_number(x), axes), principal=False)


@quax.register(lax.cumsum_p)
def cumulative_sum_of_logs(x: Log, *, axis: int, reverse: bool) -> Log:
    return _log(num.cumprod(_number(x), axis, reverse), principal=False)


@quax.register(lax.cumlogsumexp_p)
def cumulative_log_sum_exp(x: Log, *, axis: int, reverse: bool) -> Log:
    return _log(num.cumsum(_number(x), axis, reverse), principal=True)


@quax.register(lax.convert_element_type_p)
def convert_log(x: Log, *, new_dtype: Any, **params: Any) -> Any:
    if jnp.issubdtype(new_dtype, jnp.inexact) and jnp.dtype(new_dtype).itemsize >= 4:
        return _log(num.convert(_number(x), new_dtype), x.principal)
    return lax.convert_element_type_p.bind(x.materialise(), new_dtype=new_dtype, **params)


# ------------------------------------------------------------------- movements of elements

UNARY_MOVEMENTS = (
    lax.transpose_p,
    lax.squeeze_p,
    lax.rev_p,
    lax.slice_p,
    lax.split_p,
    lax.tile_p,
    lax.unstack_p,
    lax.copy_p,
    lax.stop_gradient_p,
    lax.reshape_p,
    lax.broadcast_in_dim_p,
    lax.dynamic_slice_p,
)


def _move_one(primitive: Primitive) -> None:
    def rule(x: Log, *others: Any, **params: Any) -> Any:
        out = each_leaf(lambda leaf: primitive.bind(leaf, *others, **params), _number(x))
        if isinstance(out, list):
            return [_log(part, x.principal) for part in out]
        return _log(out, x.principal)

    rule.__name__ = f"{primitive.name}_of_log"
    quax.register(primitive)(annotate(rule, Log, rest=ArrayLike))


def _move_many(primitive: Primitive, first: int) -> None:
    """Movements of several operands, the numbers from position `first` on."""

    def body(*args: Any, **params: Any) -> Log:
        numbers = [_number(x) for x in args[first:]]
        return _log(
            each_leaf(lambda *leaves: primitive.bind(*args[:first], *leaves, **params), *numbers),
            _principal(*args[first:]),
        )

    for position in range(first, LEADING):
        types = [*[ArrayLike] * position, Log]

        def rule(*args: Any, **params: Any) -> Any:
            return body(*args, **params)

        rule.__name__ = f"{primitive.name}_of_logs"
        quax.register(primitive)(annotate(rule, *types, rest=Log | ArrayLike))


for _primitive in UNARY_MOVEMENTS:
    _move_one(_primitive)
_move_many(lax.concatenate_p, 0)
_move_many(lax.stack_p, 0)
_move_many(lax.select_n_p, 1)


@quax.register(lax.gather_p)
def gather_logs(x: Log, indices: ArrayLike, **params: Any) -> Log:
    from .movement import gather

    fill = params.pop("fill_value", None)
    fill = fill if fill is None else float(jnp.exp(fill))
    return _log(gather(_number(x), indices, fill_value=fill, **params), x.principal)  # type: ignore[arg-type]
