"""`quaxify`: placeholder until the trace stands."""

import quax

quaxify = quax.quaxify
