"""Rules answer for our types at every position, and for nobody else's."""

import inspect
from typing import get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import quax
from jax import lax
from jax.extend.core import Primitive

import logspace as ls
from logspace import _compat as compat
from logspace._rules.catalogue import CATALOGUE
from logspace._rules.registering import RULES
from logspace._value import LogSpaceValue

ONE, TWO = jnp.ones(2), 2 * jnp.ones(2)


class Foreign(quax.ArrayValue):
    """Another library's type: an array with a name, closed under multiplication."""

    array: jax.Array
    name: str = eqx.field(static=True)

    def aval(self):
        return jax.typeof(self.array)

    def materialise(self):
        raise AssertionError("nobody may read a foreign value")


@quax.register(lax.mul_p)
def _multiply_foreign(x: Foreign, y: Foreign, **params):
    return Foreign(x.array * y.array, x.name)


@quax.register(lax.concatenate_p)
def _concatenate_foreign(x: Foreign, y: Foreign, *, dimension):
    return Foreign(jnp.concatenate([x.array, y.array], dimension), x.name)


def test_foreign_values_stay_foreign():
    out = ls.quaxify(lambda x, y: lax.concatenate([x * y, y * x], 0))(
        Foreign(TWO, "a"), Foreign(TWO, "b")
    )
    assert isinstance(out, Foreign)
    np.testing.assert_array_equal(out.array, 4)


def test_a_foreign_value_beside_a_number_is_refused():
    with pytest.raises((TypeError, AssertionError)):
        ls.quaxify(lax.mul)(Foreign(TWO, "a"), ls.from_linear(ONE))


def test_plain_arrays_stay_plain():
    def everything(x, y):
        return [x + y, lax.concatenate([x, y], 0), jnp.sum(x), jnp.sort(x), x @ y, jnp.exp(x)]

    for out in (quax.quaxify(everything)(ONE, TWO), ls.quaxify(everything)(ONE, TWO)):
        assert all(isinstance(leaf, jax.Array) for leaf in out)


@pytest.mark.parametrize("count", [1, 2, 3, 8, 12])
@pytest.mark.parametrize("function", [lax.concatenate, jnp.stack], ids=["concatenate", "stack"])
def test_a_number_at_any_of_many_positions(function, count):
    for position in {0, count // 2, count - 1}:
        parts = [jnp.full(2, float(i)) for i in range(count)]
        mixed = [ls.from_linear(x) if i == position else x for i, x in enumerate(parts)]
        out = ls.quaxify(lambda *xs: function(xs, 0))(*mixed)
        assert isinstance(out, ls.LogArray)
        np.testing.assert_array_equal(out.to_linear(), function(parts, 0))


def test_a_number_at_any_of_many_cases():
    which = jnp.array([8, 0])
    for position in range(9):
        cases = [jnp.full(2, float(i)) for i in range(9)]
        mixed = [ls.from_linear(x) if i == position else x for i, x in enumerate(cases)]
        out = ls.quaxify(lax.select_n)(which, *mixed)
        np.testing.assert_array_equal(out.to_linear(), [8.0, 0.0])


@pytest.mark.parametrize("function", [lax.add, lax.mul, lax.eq, lax.dot], ids=lambda f: f.__name__)
def test_number_and_log(function):
    """A Log beside a LogArray is read as its plain value."""
    x = ls.from_linear(TWO)
    got = ls.quaxify(function)(x, ls.log(x))
    want = function(TWO, jnp.log(TWO))
    got = got.to_linear() if isinstance(got, ls.LogArray) else got
    np.testing.assert_allclose(got, want)
    got = ls.quaxify(function)(ls.log(x), x)
    got = got.to_linear() if isinstance(got, ls.LogArray) else got
    np.testing.assert_allclose(got, function(jnp.log(TWO), TWO))


def test_number_and_log_in_a_selection():
    x = ls.from_linear(TWO)
    out = ls.quaxify(jnp.where)(jnp.array([True, False]), x, ls.log(x))
    np.testing.assert_allclose(out.to_linear(), [2.0, np.log(2.0)])


@pytest.mark.parametrize(
    "other", [np.float32(3), np.ones(2, np.int32), True, 3, 2.5, np.arange(2.0)], ids=repr
)
def test_plain_operands_of_any_kind(other):
    x = ls.from_linear(jnp.array([1.0, 2.0], jnp.float32))
    for function in (jnp.add, jnp.multiply, jnp.power, jnp.maximum, jnp.equal):
        got = ls.quaxify(function)(x, other)
        want = function(x.to_linear(), other)
        assert got.dtype == want.dtype
        got = got.to_linear() if isinstance(got, ls.LogArray) else got
        np.testing.assert_allclose(got, want, rtol=1e-6)


def _rules():
    """(primitive, method) of every rule that this library registered with quax."""
    for primitive, function in compat.rules_of_quax().items():
        for method in function.methods:
            if method.implementation.__module__.startswith("logspace."):
                yield primitive, method


def _names_our_type(annotation) -> bool:
    types = get_args(annotation) or (annotation,)
    return all(isinstance(t, type) and issubclass(t, LogSpaceValue) for t in types)


def test_every_signature_requires_one_of_our_types():
    seen = set()
    for primitive, method in _rules():
        seen.add(primitive.name)
        types = method.signature.types
        assert any(map(_names_our_type, types)), f"{primitive} has a rule for {types}"
    assert seen >= set(RULES)


def test_no_two_rules_are_ambiguous():
    """All combinations of types over the first positions find one rule or none."""
    values = [ONE, ls.from_linear(ONE), ls.log(ls.from_linear(ONE))]
    from plum import AmbiguousLookupError

    registry = compat.rules_of_quax()
    for name in RULES:
        function = registry[CATALOGUE[name]]
        for count in (1, 2, 3):
            for combination in np.ndindex(*[len(values)] * count):
                types = tuple(type(values[i]) for i in combination)
                try:
                    function.resolve_method(types)
                except AmbiguousLookupError as error:
                    raise AssertionError(f"{name} of {types} is ambiguous") from error
                except LookupError:
                    pass


def test_rules_take_parameters_by_keyword():
    """New parameters of a primitive must not break a rule: all rules end in **params."""
    for primitive, method in _rules():
        kinds = [p.kind for p in inspect.signature(method.implementation).parameters.values()]
        keyword = inspect.Parameter.VAR_KEYWORD in kinds or inspect.Parameter.KEYWORD_ONLY in kinds
        assert keyword or isinstance(primitive, Primitive)
