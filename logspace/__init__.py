"""Numbers that live in log space, with derivatives that are exact at zero."""

from . import _rules as _rules
from . import linalg as linalg
from ._construct import from_linear as from_linear
from ._construct import from_log as from_log
from ._construct import full as full
from ._construct import full_like as full_like
from ._construct import ones as ones
from ._construct import ones_like as ones_like
from ._construct import zeros as zeros
from ._construct import zeros_like as zeros_like
from ._differentiate import grad as grad
from ._differentiate import hessian as hessian
from ._differentiate import jacobian as jacobian
from ._differentiate import jvp as jvp
from ._differentiate import value_and_grad as value_and_grad
from ._differentiate import vjp as vjp
from ._errors import MaterialiseError as MaterialiseError
from ._functions import abs2 as abs2
from ._functions import log as log
from ._inverse_pair import inverse_pair as inverse_pair
from ._log import Log as Log
from ._log_array import LogArray as LogArray
from ._logify import Explanation as Explanation
from ._logify import explain as explain
from ._logify import logify as logify
from ._quaxify import quaxify as quaxify

exp = from_log

__version__ = "0.1.0"
