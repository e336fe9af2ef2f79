"""The ledger is complete, every rule has a row, and every row uses the primitive it names."""

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import Primitive

import logspace as ls
from logspace._rules import ledger as ledger_module
from logspace._rules.catalogue import CATALOGUE
from logspace._rules.ledger import entry_of, ledger, reason_of_refusal
from logspace._rules.registering import RULES
from tests.cases import CASES
from tests.cases.case import draw_all

from .checks import dtypes_of

ADVICE = (
    "is not in the ledger. Either it deserves a rule: write it in the family file of "
    "logspace/_rules where it belongs and add a row to tests/cases/<family>.py; or add its name to "
    "one of the tables in logspace/_rules/ledger.py with the reason why it has none."
)


def exported() -> dict[str, Primitive]:
    """Every primitive that JAX exports, collected without the library's catalogue."""
    import jax.extend.core.primitives

    found = {}
    for module in (jax.lax, jax.lax.linalg, jax.extend.core.primitives):
        for name, value in vars(module).items():
            if isinstance(value, Primitive) and name.endswith("_p"):
                found[value.name] = value
    return found


def test_every_primitive_stands_in_the_ledger():
    missing = sorted(name for name in exported() if name not in ledger())
    assert not missing, "\n".join(f"`{name}` {ADVICE}" for name in missing)


def test_no_primitive_stands_there_twice():
    tables = [
        RULES, ledger_module._CONTROL_FLOW, ledger_module._NO_OPERAND, ledger_module._REFUSED
    ]  # fmt: skip
    twice = [name for name, n in Counter(name for t in tables for name in t).items() if n > 1]
    assert not twice, f"{twice} have more than one entry; the rule, if there is one, comes first"


def test_an_unknown_primitive_is_missing():
    """The test above can fail."""
    with pytest.raises(KeyError):
        entry_of("a primitive of tomorrow")
    assert "not in the table" in reason_of_refusal("a primitive of tomorrow")


def test_every_entry_says_what_becomes_of_the_primitive():
    for name, entry in ledger().items():
        assert entry.kind in ("rule", "control flow", "no operand", "refused"), name
        assert entry.note, f"{name} has no reason"


def test_every_rule_has_a_row():
    covered = {case.primitive for case in CASES}
    # those that only log-algebra or shard_map reach have tests of their own
    elsewhere = {"psum_invariant", "pvary", "all_gather_invariant"}
    missing = sorted(set(RULES) - covered - elsewhere)
    assert not missing, f"rules without a row in tests/cases: {missing}"


def test_rows_stand_in_the_file_of_their_family():
    for case in CASES:
        family = RULES[case.primitive]
        collective = case.family == "collectives" and family == "movement"
        assert family == case.family or collective, f"{case} belongs to {family}"


def test_names_are_unique():
    assert not [n for n, count in Counter(c.name for c in CASES).items() if count > 1]


def _primitives(jaxpr, found):
    for equation in jaxpr.eqns:
        found.add(equation.primitive.name)
        for parameter in equation.params.values():
            for item in parameter if isinstance(parameter, (tuple, list)) else [parameter]:
                if hasattr(item, "eqns"):
                    _primitives(item, found)
                elif hasattr(item, "jaxpr"):
                    _primitives(item.jaxpr, found)
    return found


@pytest.mark.parametrize("case", [c for c in CASES if c.axis_name is None], ids=str)
def test_rows_use_the_primitive_they_name(case):
    dtype = dtypes_of(case, False)[0]
    values = [jnp.asarray(v) for v in draw_all(case, np.random.default_rng(0), dtype)]
    found = _primitives(jax.make_jaxpr(case.call)(*values).jaxpr, set())
    assert case.primitive in found, f"{case} contains {sorted(found)}"


@pytest.mark.parametrize("case", [c for c in CASES if c.axis_name is not None], ids=str)
def test_collective_rows_use_the_primitive_they_name(case):
    dtype = dtypes_of(case, False)[0]
    values = [jnp.asarray(v)[0] for v in draw_all(case, np.random.default_rng(0), dtype)]
    environment = [(case.axis_name, 2)]
    found = _primitives(jax.make_jaxpr(case.call, axis_env=environment)(*values).jaxpr, set())
    assert case.primitive in found, f"{case} contains {sorted(found)}"


#: How a LogArray meets each refused primitive that is easily reached.
REFUSED = {
    "nextafter": lambda x: jax.lax.nextafter(x, x),
    "rem": lambda x: jax.lax.rem(x, x),
    "fft": lambda x: jnp.fft.fft(x),
    "qr": lambda x: jax.lax.linalg.qr(jnp.diag(x)),
    "svd": lambda x: jax.lax.linalg.svd(jnp.diag(x)),
    "eigh": lambda x: jax.lax.linalg.eigh(jnp.diag(x)),
    "bitcast_convert_type": lambda x: jax.lax.bitcast_convert_type(x, jnp.int32),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_primitive_and_the_way_out(name):
    assert entry_of(name).kind == "refused"
    x = ls.from_linear(jnp.array([1.0, 2.0], jnp.float32))
    with pytest.raises(ls.MaterialiseError, match=f"`{name}`.*to_linear") as error:
        ls.quaxify(REFUSED[name])(x)
    assert reason_of_refusal(name) in str(error.value)


def test_the_catalogue_has_all_modules():
    assert set(exported()) <= set(CATALOGUE)
