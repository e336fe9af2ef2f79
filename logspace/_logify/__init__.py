"""logify: plain functions whose exp and log cancel, evaluated so that they do.

`value` holds the lazy values, `algebra` the products of powers in which pairs cancel, `interpreter`
the walk over the traced program. The rules stand by family in `arithmetic`, `logarithms`,
`elementwise`, `reductions`, `library_calls` and `control_flow`; `api` is the way in.
"""

from .api import logify as logify
from .explain import Explanation as Explanation
from .explain import explain as explain
