"""Models for quantax and from it; skipped where it is not installed."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import logspace as ls

# both of quantax 0.4.0 under JAX 0.12.1
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
pytest.importorskip("quantax", exc_type=ImportError)


class Difference(eqx.Module):
    """psi = (theta_0 - 1) + theta_1 s_0 + theta_2 prod(s): the first term is 0 at theta_0 = 1."""

    theta: jax.Array
    log_scale: float = eqx.field(static=True, default=0.0)

    def __call__(self, s: jax.Array) -> ls.LogArray:
        terms = jnp.stack([self.theta[0] - 1, self.theta[1] * s[0], self.theta[2] * jnp.prod(s)])
        return (ls.from_linear(terms) * ls.exp(self.log_scale)).sum()


SPINS = jnp.array([[1, 1, -1, -1], [1, 1, 1, 1], [-1, 1, 1, -1], [1, -1, 1, 1]], jnp.int8)


@pytest.fixture(scope="module")
def quantax() -> Any:
    import quantax

    quantax.sites.Chain(4)
    return quantax


@pytest.mark.parametrize("log_scale", [0.0, 2000.0])
def test_terms_that_are_zero_keep_their_derivative(quantax: Any, log_scale: float) -> None:
    from logspace.quantax import to_quantax_model

    theta = np.array([1.0, 0.7, 0.4])
    state = quantax.state.Variational(to_quantax_model(Difference(jnp.asarray(theta), log_scale)))
    terms = np.stack([np.ones(4), SPINS[:, 0], np.prod(np.asarray(SPINS), -1)], -1)
    psi = terms @ (theta - np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(state.jacobian(SPINS), terms / psi[:, None], rtol=1e-5)
    out = state(SPINS)
    np.testing.assert_allclose(out.sign, np.sign(psi))
    np.testing.assert_allclose(out.logabs, np.log(np.abs(psi)) + log_scale, rtol=1e-5)


def test_amplitudes_go_back_and_forth(quantax: Any) -> None:
    from logspace.quantax import from_quantax, to_quantax

    x = ls.LogArray(jnp.array([1.0, -1.0, 0.0]), jnp.array([900.0, -2.0, 0.0]))
    back = from_quantax(to_quantax(x))
    np.testing.assert_array_equal(back.sign, x.sign)
    np.testing.assert_allclose(back.logabs, x.logabs)
    assert float(from_quantax(2.0)) == 2.0
    with pytest.raises(TypeError, match="to_quantax takes a logspace.LogArray"):
        to_quantax(jnp.ones(3))


def test_a_model_of_quantax_in_a_sum(quantax: Any) -> None:
    """An amplitude of quantax's and one that is its opposite: psi is 0, its derivative is not."""
    from logspace.quantax import from_quantax_model

    theirs = from_quantax_model(lambda s: quantax.utils.LogArray(jnp.ones(()), jnp.sum(1.0 * s)))

    def psi(c: jax.Array) -> ls.LogArray:
        return theirs(SPINS[1]) - c * ls.exp(4.0)

    assert float(psi(jnp.ones(()))) == 0
    np.testing.assert_allclose(ls.grad(psi)(1.0).to_linear(), -np.exp(4.0), rtol=1e-6)


def test_other_results_are_refused(quantax: Any) -> None:
    from logspace.quantax import to_quantax_model

    with pytest.raises(TypeError, match=r"of shape \(\); got .* of shape \(4,\)"):
        to_quantax_model(lambda s: 1.0 * s)(SPINS[0])
