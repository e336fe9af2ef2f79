import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls
from logspace import vmc


def test_stochastic_reconfiguration_solves_its_equation() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, 5)) + 1j * rng.normal(size=(20, 5))
    metric, force = rows.conj().T @ rows, rng.normal(size=5) + 1j * rng.normal(size=5)
    step = vmc.stochastic_reconfiguration(
        jnp.asarray(metric), jnp.asarray(force), relative_shift=0.1, shift=0.2
    )
    real = metric.real + np.diag(0.1 * np.diag(metric.real) + 0.2)
    np.testing.assert_allclose(real @ step, -force.real, atol=1e-12)
    moves = jnp.array([True, False, True, True, False])
    part = vmc.stochastic_reconfiguration(
        jnp.asarray(metric), jnp.asarray(force), relative_shift=0.1, shift=0.2, trainable=moves
    )
    some = np.flatnonzero(moves)
    np.testing.assert_allclose(real[np.ix_(some, some)] @ part[some], -force.real[some], atol=1e-12)
    np.testing.assert_array_equal(part[~moves], 0)


def product_amplitude(parameters: jax.Array, sigma: jax.Array) -> ls.LogArray:
    return vmc.ProductState(4)({"factors": parameters.reshape(4, 2)}, sigma)


def product_logarithm(parameters: jax.Array, sigma: jax.Array) -> jax.Array:
    factors = parameters.reshape(4, 2)
    return jnp.log(jnp.where(sigma > 0, factors[:, 0], factors[:, 1]).astype(complex)).sum()


OPERATOR = vmc.TransverseFieldIsingRing(4, 1.0, 2.0)
SETTINGS = vmc.Settings(chains=200, samples=2, thin=3, burn_in=4, magnetisation=None)
POLARISED = vmc.ProductState(4).initial_parameters()["factors"].ravel()


# The mean-field energy of this field, by a polar angle t: -N (J cos^2 t + h sin t).
BEST = min(-4 * (np.cos(t) ** 2 + 2.0 * np.sin(t)) for t in np.linspace(0, np.pi / 2, 2001))


@pytest.mark.full
def test_a_polarised_state_is_left() -> None:
    """All spins up in a strong transverse field: 15 of 16 configurations are nodes."""
    *_, last = vmc.descend(
        jax.random.key(0), product_amplitude, OPERATOR, POLARISED, 40, SETTINGS, move=vmc.flip_one
    )
    assert abs(last.energy.mean - BEST) < 1e-3 * abs(BEST) + 4 * last.energy.error
    assert last.nodes == 0


@pytest.mark.full
def test_the_usual_way_does_not_leave_it() -> None:
    steps = vmc.descend_log_amplitude(
        jax.random.key(0), product_logarithm, OPERATOR, POLARISED, 40, SETTINGS, move=vmc.flip_one
    )
    energies = [complex(step.energy.mean) for step in steps]
    assert not np.isfinite(energies[-1]) or abs(energies[-1] - BEST) > 0.1 * abs(BEST)


def test_parameters_that_are_held_do_not_move() -> None:
    held = jnp.arange(8) < 6
    steps = list(
        vmc.descend(
            jax.random.key(1),
            product_amplitude,
            OPERATOR,
            POLARISED,
            3,
            SETTINGS,
            lambda step: held,
            vmc.flip_one,
        )
    )
    assert len(steps) == 3
    np.testing.assert_array_equal(steps[0].parameters, POLARISED)
    np.testing.assert_array_equal(steps[-1].parameters[6:], POLARISED[6:])
    assert (steps[-1].parameters[:6] != POLARISED[:6]).any()
    assert (np.abs(np.asarray(steps[-1].forces.mean))[6:] > 0).any()


def test_a_state_without_support_is_refused() -> None:
    with pytest.raises(RuntimeError, match="requires chains where psi or H psi is not 0"):
        next(
            vmc.descend(
                jax.random.key(0),
                product_amplitude,
                OPERATOR,
                jnp.zeros(8),
                1,
                SETTINGS,
                move=vmc.flip_one,
            )
        )


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_triplet_of_a_heisenberg_ring(seed: int) -> None:
    model = vmc.DressedSpinWave(8)
    parameters, unravel = jax.flatten_util.ravel_pytree(model.initial_parameters())
    operator = vmc.HeisenbergRing(8)
    space = vmc.sector(operator, 0)
    exact, _ = vmc.lowest_state(space, lambda v: vmc.flip_parity(space, v, -1))
    amplitude = lambda p, s: model(unravel(p), s)  # noqa: E731
    *_, last = vmc.descend(jax.random.key(seed), amplitude, operator, parameters, 80)
    energy = jax.jit(lambda p: vmc.full_sum(amplitude, p, space).energy)(last.parameters)
    # The ansatz holds the exact state of this ring.
    assert -1e-9 < float(energy) - exact < 1e-6
    assert abs(last.energy.mean - energy) < 5 * last.energy.error + 1e-9
