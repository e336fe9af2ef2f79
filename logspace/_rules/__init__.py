"""Rules for quax, one file per family over the numerics; importing this package registers them."""

from . import (
    collectives as collectives,
)
from . import (
    contractions as contractions,
)
from . import (
    control_flow as control_flow,
)
from . import (
    conversions as conversions,
)
from . import (
    decompositions as decompositions,
)
from . import (
    elementary as elementary,
)
from . import (
    indexed_updates as indexed_updates,
)
from . import (
    logarithms as logarithms,
)
from . import (
    movement as movement,
)
from . import (
    ordering as ordering,
)
from . import (
    parts as parts,
)
from . import (
    products as products,
)
from . import (
    reductions as reductions,
)
from . import (
    special as special,
)
from . import (
    sums as sums,
)
