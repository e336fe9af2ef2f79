"""Pairs of functions that undo each other, declared by the user.

`_logify.inverse_pair` and `_quaxify.inverse_pair` let them cancel.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._errors import need_function

#: How the jitted functions of a pair are called: in a traced program they are known by their name.
PREFIX = "inverse_pair:"

Domain = tuple[float, float] | Callable[[jax.Array], jax.Array] | None

_names = itertools.count()


class Pair:
    """Two elementwise functions, where they undo each other, and a point inside the domain."""

    def __init__(self, forward: Any, backward: Any, domain: Domain, inside: float) -> None:
        self.functions = (forward, backward)
        self.domain = domain
        self.inside = inside
        self.name = f"{PREFIX}{next(_names)}"

    def name_of(self, direction: int) -> str:
        """0 is f, 1 its inverse."""
        return f"{self.name}:{direction}"

    def where_inside(self, direction: int, x: Any, original: Any) -> Any:
        """`original` where the pair cancels, elsewhere what its two functions make of it.

        `direction` is that of the function called last. x is the argument of f, for which the
        domain is declared. What is not taken is computed at a harmless point.
        """
        last, first = self.functions[direction], self.functions[1 - direction]
        inside = _contains(self.domain, jax.lax.stop_gradient(x))
        point = jnp.asarray(self.inside, original.dtype)
        harmless = point if direction == 1 else self.functions[0](point)
        elsewhere = jnp.where(inside, harmless, original)
        return jnp.where(inside, original, last(first(elsewhere)))


PAIRS: dict[str, tuple[Pair, int]] = {}


def inverse_pair(
    f: Callable[[jax.Array], jax.Array],
    f_inverse: Callable[[jax.Array], jax.Array],
    domain: Domain = None,
) -> tuple[Callable[[jax.Array], jax.Array], Callable[[jax.Array], jax.Array]]:
    """Two functions that cancel exactly inside `logify` and `quaxify` where one meets the other.

    ``g, g_inverse = inverse_pair(f, f_inverse, domain=(0, inf))``: in a logified function, and for
    LogArrays in a quaxified one, ``g_inverse(g(x))`` is x itself, to the last bit and with the
    derivative 1, wherever x is in the domain, and ``g(g_inverse(y))`` is y wherever
    ``f_inverse(y)`` is. Elsewhere both are what f and f_inverse make of their arguments. Outside
    `logify` and `quaxify` they are f and f_inverse. nan is in no domain but the default one.

    Args:
        f, f_inverse: functions of one array that act element by element.
        domain: the arguments of f for which f_inverse undoes f: an interval (low, high), closed, or
            a function from an array to a boolean array; by default all real numbers.

    Raises:
        TypeError: f or f_inverse is not a function.
        ValueError: the domain is neither an interval nor a function; or f_inverse(f(x)) is not x at
            some point of the domain; the message shows it. This is a numerical check at a few hundred
            points, not a proof.
    """
    for function in (f, f_inverse):
        need_function(function, "inverse_pair")
    points = _points(domain)
    _check(f, f_inverse, points)
    pair = Pair(f, f_inverse, domain, float(points[len(points) // 2]))
    return _named(pair, 0, f), _named(pair, 1, f_inverse)


def _named(pair: Pair, direction: int, function: Any) -> Any:
    name = pair.name_of(direction)

    def call(x: Any) -> jax.Array:
        return jnp.asarray(function(x))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    PAIRS[name] = (pair, direction)
    return jax.jit(call)


def _contains(domain: Domain, x: jax.Array) -> jax.Array:
    if domain is None:
        return x == x
    if callable(domain):
        return domain(x)
    low, high = domain
    return (x >= low) & (x <= high)


def _points(domain: Domain) -> np.ndarray:
    """Some hundred points of the domain, in order."""
    size = np.geomspace(1e-3, 20.0, 120)
    everywhere = np.concatenate([-size[::-1], [0.0], size])
    if domain is None:
        return everywhere
    if callable(domain):
        chosen = everywhere[np.asarray(domain(jnp.asarray(everywhere)))]
        if chosen.size == 0:
            raise ValueError(
                "The domain of an inverse pair must contain some number between -20 and 20, to be "
                "checked; the predicate that was given is false at all of them. Give an interval."
            )
        return chosen
    try:
        low, high = map(float, domain)
    except (TypeError, ValueError):
        low = high = math.nan
    if not low < high:
        raise ValueError(
            "The domain of an inverse pair must be an interval (low, high) of two numbers, low < "
            f"high, or a function from an array to a boolean array; got {domain!r}."
        )
    if math.isfinite(low) and math.isfinite(high):
        return low + (high - low) * np.linspace(0.0, 1.0, 201)
    if math.isfinite(low):
        return np.concatenate([[low], low + size])
    if math.isfinite(high):
        return np.concatenate([high - size[::-1], [high]])
    return everywhere


def _check(f: Any, f_inverse: Any, points: np.ndarray) -> None:
    x = jnp.asarray(points)
    tolerance = 1e3 * float(jnp.finfo(x.dtype).eps)
    y = f(x)
    back = np.asarray(f_inverse(y))
    # a rounding of the image, where the inverse is steep, is no counterexample
    step = np.asarray(jnp.abs(f_inverse(y * (1 + tolerance)) - f_inverse(y * (1 - tolerance))))
    allowed = tolerance * (np.abs(points) + 1) + np.where(np.isfinite(step), step, 0)
    # at the ends the image may be infinite, or the inverse steep
    inner = np.isfinite(np.asarray(y))
    wrong = inner & ~(np.abs(back - np.asarray(x)) <= allowed)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            "An inverse pair must satisfy f_inverse(f(x)) == x on its domain. It does not: at x = "
            f"{points[i]:g}, f(x) = {np.asarray(y)[i]:g} and f_inverse(f(x)) = {back[i]:g}. Give "
            "the domain on which it does, as `domain=(low, high)` or as a predicate."
        )
