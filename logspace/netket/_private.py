"""What this package takes from NetKet beyond its public interface, in one place.

NetKet has no public hook for these. `tests/netket/test_private.py` says which of them a new NetKet
has changed.

- `MCState._sampler_model` and `MCState._sampler_variables`: properties that the state evaluates
  where it hands a model to the sampler; overridden in `_state.MCState`.
- `MCState._apply_fun`: log psi as NetKet's kernels call it; replaced by one whose derivative in
  the parameters is refused.
- `MCState._model_framework`: how the user's model was wrapped.
- How the states are written to and read from dictionaries.
- The kernel of `PotentialEnergy`, which holds the user's function.
- The linear operators that NetKet's own constructors of the quantum geometric tensor return, and
  the linear algebra of a step of stochastic reconfiguration: both take rows of any Jacobian.
- `odefun`, the dispatched function in which TDVP drivers find the velocity of a state, and the
  attributes that `TDVPSchmitt` keeps of it.
- The attributes of `QSR`: its data, its generator of batches and its control variates.
"""

from typing import Any

import jax
import netket
from netket._src.ngd.sr import _compute_sr_update as sr_update
from netket._src.ngd.srt import _compute_srt_update as min_sr_update
from netket.experimental.driver import TDVPSchmitt
from netket.experimental.driver.tdvp_common import odefun
from netket.optimizer.qgt.default import QGTAuto as NetKetAuto
from netket.optimizer.qgt.qgt_jacobian_common import rescale as rescale_columns
from netket.optimizer.qgt.qgt_jacobian_common import to_shift_offset
from netket.optimizer.qgt.qgt_jacobian_dense import QGTJacobianDenseT
from netket.optimizer.qgt.qgt_jacobian_pytree import QGTJacobianPyTreeT
from netket.utils import model_frameworks
from netket.vqs.full_summ.state import deserialize_FullSumState, serialize_FullSumState
from netket.vqs.mc.mc_state.state import deserialize_MCState, serialize_MCState

#: For the type checker: NetKet takes more than its annotations say.
nk: Any = netket
nkjax: Any = netket.jax

__all__ = [
    "NetKetAuto",
    "QGTJacobianDenseT",
    "QGTJacobianPyTreeT",
    "TDVPSchmitt",
    "deserialize_FullSumState",
    "deserialize_MCState",
    "min_sr_update",
    "model_frameworks",
    "nk",
    "nkjax",
    "odefun",
    "potential_values",
    "rescale_columns",
    "serialize_FullSumState",
    "serialize_MCState",
    "sr_update",
    "to_shift_offset",
]


def potential_values(operator: Any, sigma: jax.Array) -> jax.Array:
    """The values of a `PotentialEnergy` at configurations (samples, sites)."""
    return operator._expect_kernel(None, None, sigma)
