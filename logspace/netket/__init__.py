"""NetKet's variational states for models that return psi as a LogArray: right where psi = 0.

Needs the extra `netket`. `MCState` and `FullSumState` take the place of NetKet's; operators,
samplers, drivers, optimisers and loggers stay NetKet's.
"""

try:
    import netket as _netket  # noqa: F401 - what is missing should say so
except ImportError as error:  # pragma: no cover - tested in a process of its own
    raise ImportError(
        "logspace.netket requires NetKet: pip install 'logspace-jax[netket]'."
    ) from error

from . import _expect as _expect
from . import _tdvp as _tdvp
from . import models as models
from ._drivers import VMC_SR as VMC_SR
from ._drivers import Infidelity_SR as Infidelity_SR
from ._moves import Exchange as Exchange
from ._moves import Moves as Moves
from ._moves import SingleSite as SingleSite
from ._moves import blur as blur
from ._moves import blurred_density as blurred_density
from ._qgt import QGTAuto as QGTAuto
from ._qgt import QGTJacobianDense as QGTJacobianDense
from ._qgt import QGTJacobianPyTree as QGTJacobianPyTree
from ._qgt import QGTOnTheFly as QGTOnTheFly
from ._reconstruction import QSR as QSR
from ._state import FullSumState as FullSumState
from ._state import MCState as MCState
