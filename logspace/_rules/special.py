"""Special functions, computed on plain values; they return plain arrays."""

from jax import lax

from .registering import plain_result

plain_result(
    lax.erf_p,
    lax.erfc_p,
    lax.erf_inv_p,
    lax.lgamma_p,
    lax.digamma_p,
    lax.polygamma_p,
    lax.igamma_p,
    lax.igammac_p,
    lax.igamma_grad_a_p,
    lax.bessel_i0e_p,
    lax.bessel_i1e_p,
    lax.zeta_p,
    lax.regularized_incomplete_beta_p,
    family="special",
)
