"""All primitives that the installed JAX exports, and those of `jax.shard_map`, by name."""

import jax.extend.core.primitives
import jax.lax
from jax.extend.core import Primitive

from .._compat import primitives_of_mapped_axes


def _collect() -> dict[str, Primitive]:
    found = {}
    for module in (jax.lax, jax.lax.linalg, jax.extend.core.primitives):
        for attribute in dir(module):
            if attribute.endswith("_p"):
                primitive = getattr(module, attribute)
                if isinstance(primitive, Primitive):
                    found[primitive.name] = primitive
    # these are inserted by `jax.shard_map` and exported nowhere
    found.update({p.name: p for p in primitives_of_mapped_axes})
    return found


CATALOGUE: dict[str, Primitive] = _collect()


def if_present(*names: str) -> list[Primitive]:
    """The primitives of these names that this JAX has; some came with 0.11 or 0.12."""
    return [CATALOGUE[name] for name in names if name in CATALOGUE]
