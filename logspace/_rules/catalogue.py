"""All primitives that the installed JAX exports, by name."""

import jax.extend.core.primitives
import jax.lax
from jax.extend.core import Primitive


def _collect() -> dict[str, Primitive]:
    found = {}
    for module in (jax.lax, jax.lax.linalg, jax.extend.core.primitives):
        for attribute in dir(module):
            if attribute.endswith("_p"):
                primitive = getattr(module, attribute)
                if isinstance(primitive, Primitive):
                    found[primitive.name] = primitive
    return found


CATALOGUE: dict[str, Primitive] = _collect()


def if_present(*names: str) -> list[Primitive]:
    """The primitives of these names that this JAX has; some came with 0.11 or 0.12."""
    return [CATALOGUE[name] for name in names if name in CATALOGUE]
