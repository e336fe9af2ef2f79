"""Declared pairs of inverse functions, on LogArrays."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import quax
from jax.extend.core import Primitive
from jax.typing import ArrayLike

from .._array_methods import ArrayMethods
from .._inverse_pair import PAIRS
from .._log_array import LogArray, unwrap, wrap
from .._parts import forget
from .._rules.logarithms import UNARY_MOVEMENTS
from .._rules.registering import annotate, each_leaf
from .._value import LogSpaceValue
from . import quaxify


class Image(ArrayMethods, LogSpaceValue):
    """f(x) of a LogArray x for a function f of a declared pair, which waits.

    The inverse of it is x itself; whatever else meets it reads f(x), computed then. It does not
    leave a quaxified function.
    """

    argument: LogArray
    name: str = eqx.field(static=True)
    policy: str = eqx.field(static=True)

    # named here for type checkers, which give a dataclass an `==` of its own
    __eq__ = ArrayMethods.__eq__

    def aval(self) -> Any:
        return self.argument.aval()

    def image(self) -> Any:
        """f(x)."""
        pair, direction = PAIRS[self.name]
        return quaxify(pair.functions[direction], on_materialise=self.policy)(self.argument)

    def materialise(self) -> jax.Array:
        image = self.image()
        return jnp.asarray(image.materialise() if isinstance(image, LogSpaceValue) else image)


def call_of_pair(name: str, x: Any, policy: str) -> Any:
    """A function of a declared pair, known by its name, of a value; None if it is no such call."""
    if name not in PAIRS or not isinstance(x, (LogArray, Image)):
        return None
    pair, direction = PAIRS[name]
    if not isinstance(x, Image):
        return Image(x, name, policy)
    if x.name != pair.name_of(1 - direction):
        return _of_image(x, name, policy)
    original = x.argument
    if pair.domain is None:
        return original

    def cancelled(x: Any, original: Any) -> Any:
        return pair.where_inside(direction, x, original)

    at = original if direction == 1 else x.image()
    return quaxify(cancelled, on_materialise=policy)(at, original)


def _of_image(x: Image, name: str, policy: str) -> Any:
    image = x.image()
    if isinstance(image, LogArray):
        return Image(image, name, policy)
    pair, direction = PAIRS[name]
    return pair.functions[direction](image)


def on_its_own(x: Any) -> Any:
    """A value that waits for its counterpart, an Image or a part, as what it is alone."""
    return x.image() if isinstance(x, Image) else forget(x)


def _move(primitive: Primitive) -> None:
    def rule(x: Image, *others: Any, **params: Any) -> Any:
        out = each_leaf(lambda leaf: primitive.bind(leaf, *others, **params), unwrap(x.argument))
        parts = out if isinstance(out, list) else [out]
        images = [Image(wrap(part), x.name, x.policy) for part in parts]
        return images if isinstance(out, list) else images[0]

    rule.__name__ = f"{primitive.name}_of_image"
    quax.register(primitive)(annotate(rule, Image, rest=ArrayLike))


for _primitive in UNARY_MOVEMENTS:
    _move(_primitive)
