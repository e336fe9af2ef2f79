"""A Python function as a program of its array arguments."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import jaxpr_as_fun

from .interpreter import constants, evaluate, is_interesting
from .value import Graph, Value


class Trace:
    """A function, traced at arguments.

    Arrays among the leaves of the arguments are the program's arguments; everything else, Python
    numbers and NumPy arrays included, is what the function sees itself.
    """

    #: The structure of the result, and its leaves that are not arrays.
    _out_tree: Any
    _out: list[Any]

    def __init__(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> None:
        leaves, tree = jax.tree.flatten((args, kwargs))
        places = [i for i, x in enumerate(leaves) if isinstance(x, jax.Array)]
        self.arrays = [leaves[i] for i in places]

        def flat(*arrays: Any) -> list[Any]:
            filled = list(leaves)
            for i, a in zip(places, arrays, strict=True):
                filled[i] = a
            inner_args, inner_kwargs = jax.tree.unflatten(tree, filled)
            out, self._out_tree = jax.tree.flatten(fn(*inner_args, **inner_kwargs))
            self._out = [None if isinstance(x, jax.Array) else x for x in out]
            return [x for x in out if isinstance(x, jax.Array)]

        self.jaxpr = jax.make_jaxpr(flat)(*self.arrays)

    @property
    def is_interesting(self) -> bool:
        return is_interesting(self.jaxpr)

    def graph(self, settings: Any) -> Graph:
        return Graph(settings)

    def evaluate(self, graph: Graph) -> list[Value]:
        """The values of the results."""
        inputs = [graph.leaf(a) for a in self.arrays]
        return evaluate(graph, self.jaxpr, constants(graph, self.jaxpr), inputs)

    def original(self) -> list[Any]:
        """The results of the program as it stands."""
        return jaxpr_as_fun(self.jaxpr)(*self.arrays)

    def output(self, arrays: Sequence[Any]) -> Any:
        """The function's result, with these arrays in it."""
        remaining = iter(arrays)
        leaves = [next(remaining) if x is None else x for x in self._out]
        return jax.tree.unflatten(self._out_tree, leaves)
