"""`logify`'s options and `explain`."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from logspace._errors import MaterialiseError
from logspace._logify import explain, logify


def model(x: Any) -> Any:
    log_psi = jnp.log(x[0] - x[1])
    psi = jnp.exp(log_psi)
    return psi + jnp.sqrt(x[2]) ** 2 + 0 * jnp.tanh(log_psi)


X = jnp.array([1.0, 1.0, 0.0])


def test_materialising_can_be_refused() -> None:
    with pytest.raises(MaterialiseError, match=r"`tanh` at .*test_api.py:\d+ has no rule"):
        logify(model, on_materialise="error")(X)
    fine = logify(lambda x: jnp.exp(jnp.sum(jnp.log(x))), on_materialise="error")
    assert fine(X) == 0.0


def test_unknown_option() -> None:
    with pytest.raises(ValueError, match="on_materialise must be"):
        logify(model, on_materialise="warn")


def test_explain() -> None:
    explanation = explain(model)(X)
    assert [r.kind for r in explanation.rows] == [
        "singular", "cancelled", "singular", "cancelled", "materialised"
    ]  # fmt: skip
    text = str(explanation)
    assert "log_psi = jnp.log(x[0] - x[1])" in text
    assert "1/0 is infinite" in text
    assert explanation.of_kind("materialised")[0].text.startswith("`tanh`")
    assert str(explain(logify(model))(X)) == text


def test_explain_of_a_regular_function() -> None:
    assert "Nothing is singular" in str(explain(jnp.sin)(1.0))


def test_explain_needs_concrete_arrays() -> None:
    with pytest.raises(TypeError, match="concrete arrays"):
        jax.jit(explain(model))(X)


def test_explain_inside_loops() -> None:
    def scanned(x: Any) -> Any:
        def step(c: Any, y: Any) -> Any:
            return c + jnp.log(y), jnp.sqrt(y)

        total, roots = jax.lax.scan(step, 0.0, x, reverse=True)
        return jnp.exp(total) + roots[0]

    kinds = {(r.kind, r.code) for r in explain(scanned)(jnp.array([2.0, 0.0, 3.0])).rows}
    assert ("singular", "return c + jnp.log(y), jnp.sqrt(y)") in kinds

    def repeated(x: Any) -> Any:
        return jax.lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, jnp.log(s[1])), (0, x))

    singular = explain(repeated)(jnp.array(1.0)).of_kind("singular")
    assert [r.text for r in singular] == ["log(0): its derivative 1/0 is infinite"]
