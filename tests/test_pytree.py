"""A LogArray is a pytree of two arrays, wherever JAX, equinox or optax meet it."""

import copy
import pickle
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import logspace as ls

BIG = 3000.0


@pytest.fixture(scope="module")
def x() -> ls.LogArray:
    return ls.LogArray(np.array([1.0, -1.0, 0.0, 1.0]), np.array([BIG, -BIG, 0.0, 1.5]))


def equal(a: Any, b: Any) -> None:
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for left, right in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right)


def test_leaves(x: Any) -> None:
    leaves, structure = jax.tree.flatten(x)
    assert [leaf.dtype for leaf in leaves] == [jnp.float64, jnp.int32]
    assert [leaf.shape for leaf in leaves] == [(4,), (4,)]
    equal(jax.tree.unflatten(structure, leaves), x)
    assert structure == jax.tree.structure(ls.ones(7, "complex64"))
    assert hash(structure) == hash(jax.tree.structure(ls.ones(7)))
    assert len(jax.tree.leaves(ls.log(x[3:]))) == 2


@pytest.mark.parametrize(
    "leaf",
    [
        None,
        True,
        3,
        "text",
        object(),
        jax.ShapeDtypeStruct((4,), jnp.float64),
        PartitionSpec("i"),
        np.zeros(4, jax.dtypes.float0),
        np.zeros((2, 2)),
    ],
    ids=lambda leaf: type(leaf).__name__,
)
def test_any_leaves(x: Any, leaf: Any) -> None:
    for kind in (x, ls.log(abs(x))):
        structure = jax.tree.structure(kind)
        odd = jax.tree.unflatten(structure, [leaf, leaf])
        assert type(odd) is type(kind)
        found = jax.tree.leaves(odd, is_leaf=lambda z: z is None)
        assert all(f is leaf for f in found) and len(found) == 2
        assert isinstance(repr(odd), str) and isinstance(str(odd), str)
        assert isinstance(jax.tree.map(lambda _: 0, odd), type(kind))


def test_tree_functions(x: Any) -> None:
    equal(jax.tree.map(lambda leaf: leaf, x), x)
    equal(jax.tree.map(lambda a, b: a, x, x), x)
    tree = {"a": [x, 1.0], "b": ls.ones(())}
    assert len(jax.tree.leaves(tree)) == 5
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(x)]
    assert len(set(paths)) == 2
    assert eqx.tree_equal(x, jax.tree.map(jnp.array, x))
    assert not eqx.tree_equal(x, -x)


def test_copies(x: Any) -> None:
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy()):
        assert isinstance(other, ls.LogArray)
        equal(other, x)
    log = ls.log(abs(x))
    equal(pickle.loads(pickle.dumps(log)), log)
    equal(copy.deepcopy(log), log)


def test_saved_and_loaded_by_leaves(x: Any, tmp_path: Any) -> None:
    file = tmp_path / "x.npz"
    leaves, structure = jax.tree.flatten(x)
    np.savez(file, *leaves)
    with np.load(file) as loaded:
        equal(jax.tree.unflatten(structure, [jnp.asarray(loaded[k]) for k in loaded]), x)
    file = tmp_path / "x.eqx"
    eqx.tree_serialise_leaves(file, {"psi": x})
    equal(eqx.tree_deserialise_leaves(file, {"psi": ls.zeros(4)})["psi"], x)


def test_through_jit_boundaries(x: Any) -> None:
    equal(jax.jit(lambda x: x)(x), x)
    equal(jax.jit(lambda t: t["x"], donate_argnums=0)({"x": jax.tree.map(jnp.array, x)}), x)
    compiled = jax.jit(lambda x: x * 2).lower(x).compile()
    np.testing.assert_allclose(compiled(x).logabs, (x * 2).logabs)
    shape = jax.eval_shape(lambda x: x[:2] * 1j, x)
    assert isinstance(shape, ls.LogArray)
    assert (shape.shape, shape.dtype, shape.ndim, shape.size) == ((2,), jnp.complex128, 1, 2)
    assert isinstance(repr(shape), str)
    jaxpr = jax.make_jaxpr(lambda x: x.sum())(x)
    assert len(jaxpr.in_avals) == 2 and len(jaxpr.out_avals) == 2


def test_vmap(x: Any) -> None:
    y = x.reshape(2, 2)
    equal(jax.vmap(lambda row: row)(y), y)
    equal(jax.vmap(lambda c: c, in_axes=1, out_axes=1)(y), y)
    got = jax.vmap(lambda row, s: row * s, in_axes=(1, None))(y, x[0])
    np.testing.assert_allclose(got.logabs, (y.T * x[0]).logabs)
    got = jax.vmap(lambda row: row.sum(), in_axes=(0,))(y)
    np.testing.assert_allclose(got.logabs, y.sum(1).logabs)
    with pytest.raises(ValueError):
        jax.vmap(lambda a, b: a)(y, ls.ones(3))


def test_sharding(x: Any) -> None:
    devices = jax.devices()
    mesh = Mesh(np.array(devices[:2] if len(devices) > 1 else devices[:1]), ("i",))
    sharding = NamedSharding(mesh, PartitionSpec("i"))
    put = jax.device_put(x, sharding)
    assert isinstance(put, ls.LogArray)
    assert all(leaf.sharding == sharding for leaf in jax.tree.leaves(put))
    equal(jax.device_get(put), x)
    np.testing.assert_allclose((put * put).sum().logabs, (x * x).sum().logabs)
    per_leaf = jax.tree.map(lambda _: sharding, x)
    assert isinstance(per_leaf, ls.LogArray)
    equal(jax.device_put(x, per_leaf), x)
    constrained = jax.jit(lambda x: jax.lax.with_sharding_constraint(x, sharding) * 2)(x)
    np.testing.assert_allclose(constrained.logabs, (x * 2).logabs)
    assert isinstance(jax.device_put(x, devices[0]), ls.LogArray)


class Model(eqx.Module):
    weight: jax.Array
    psi: ls.LogArray
    name: str = eqx.field(static=True)

    def __call__(self, s: jax.Array) -> ls.LogArray:
        return self.psi * self.weight * s


def test_field_of_a_module(x: Any) -> None:
    model = Model(jnp.ones(4), x, "m")
    equal(eqx.filter_jit(lambda m, s: m(s))(model, jnp.ones(4)), x * 1.0)
    dynamic, static = eqx.partition(model, eqx.is_array)
    equal(eqx.combine(dynamic, static), model)
    dynamic, static = eqx.partition(model, eqx.is_inexact_array)
    assert static.psi._significand is None
    equal(eqx.combine(dynamic, static), model)
    other = eqx.tree_at(lambda m: m.psi, model, ls.zeros(4))
    assert not other.psi.any()
    grads = eqx.filter_grad(lambda m, s: m(s).sum().logabs)(
        eqx.tree_at(lambda m: m.psi, model, ls.ones(4)), jnp.ones(4)
    )
    np.testing.assert_allclose(grads.weight, np.full(4, 0.25))
    assert "LogArray" in repr(model)


def test_an_optimiser_of_the_parameters_around(x: Any) -> None:
    params = {"theta": jnp.array([0.5, -1.0])}

    def loss(params: Any) -> Any:
        psi = ls.exp(params["theta"] * BIG)
        return ((psi * psi).sum() / psi.sum() ** 2).logabs

    optimiser = optax.adam(1e-2)
    grads = jax.grad(loss)(params)
    updates, _ = optimiser.update(grads, optimiser.init(params), params)
    new = optax.apply_updates(params, updates)
    assert np.all(np.isfinite(new["theta"]))
    # of a state that holds numbers, an optimiser's arithmetic refuses the integer exponents
    with pytest.raises(TypeError):
        jax.grad(lambda x: x.sum().logabs)(x)


def test_scan_carries_and_checkpoints(x: Any) -> None:
    def body(carry: Any, row: Any) -> Any:
        return carry * row, carry

    carry, kept = jax.lax.scan(body, ls.ones(()), x)
    assert isinstance(carry, ls.LogArray) and kept.shape == (4,)

    def f(theta: Any) -> Any:
        return jax.checkpoint(lambda t: (ls.exp(t) - ls.exp(1.0)) * 3)(theta).to_linear()

    np.testing.assert_allclose(jax.grad(f)(1.0), 3 * np.e)
    value, linear = jax.linearize(f, 1.0)
    assert value == 0.0
    np.testing.assert_allclose(linear(1.0), 3 * np.e)


def test_custom_rules_of_users_over_numbers() -> None:
    @jax.custom_vjp
    def twice(theta: Any) -> Any:
        return ls.exp(theta) * 2

    twice.defvjp(
        lambda theta: (twice(theta), theta),
        lambda theta, cotangent: (cotangent._significand * 0 + 7.0,),
    )
    assert jax.grad(lambda t: twice(t).to_linear())(1.0) == 7.0

    @jax.custom_jvp
    def thrice(theta: Any) -> Any:
        return 3.0 * theta

    thrice.defjvp(lambda primals, tangents: (thrice(*primals), 5.0 * tangents[0]))
    assert jax.grad(lambda t: (ls.exp(BIG) * thrice(t)).logabs)(1.0) == pytest.approx(5 / 3)


def test_derivatives_with_respect_to_a_number_refuse_to_be_numbers(x: Any) -> None:
    y = x[:2]
    f = lambda x: x.sum().logabs  # noqa: E731
    for transformation in (
        jax.grad(f),
        jax.value_and_grad(f),
        jax.jacfwd(f),
        jax.jacrev(f),
        jax.hessian(f),
    ):
        with pytest.raises(TypeError):
            transformation(y)
    with pytest.raises(TypeError):
        jax.jvp(f, (y,), (y,))

    allowed = jax.grad(f, allow_int=True)(y)
    _, pullback = jax.vjp(f, y)
    cotangent = pullback(jnp.ones(()))[0]
    _, tangent = jax.jvp(lambda t: ls.exp(t), (1.0,), (1.0,))
    for derivative in (allowed, cotangent, tangent):
        assert derivative._exponent.dtype == jax.dtypes.float0
        for read in (
            lambda d: d.to_linear(),
            lambda d: d.logabs,
            lambda d: d.sign,
            lambda d: d.angle,
            lambda d: d.log(),
            lambda d: float(d[()] if d.ndim == 0 else d[0]),
            lambda d: np.asarray(d),
            lambda d: d + 1.0,
            lambda d: 2.0 * d,
            lambda d: d.sum(),
            lambda d: d == 0.0,
        ):
            with pytest.raises((TypeError, ValueError)):
                read(derivative)
        with pytest.raises(TypeError, match="logspace.grad"):
            assert derivative.sign
        assert isinstance(repr(derivative), str)
