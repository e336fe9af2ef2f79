"""Random programs at singular points, against exact arithmetic in the linear domain.

A program works on three numbers, which it holds as numbers or as logarithms, and goes to and fro.
Every step has a second reading, rational arithmetic on the numbers themselves, in which there is no
exp and no log: `Jet` takes its derivatives exactly. The inputs are small integers, many of them 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.scipy.special import logsumexp

from logspace._logify import logify

from .jets import Jet, determinant

N = 3


@pytest.fixture(autouse=True)
def _double_precision() -> Any:
    with jax.enable_x64(True):
        yield


@dataclass
class Step:
    """What JAX does with an array, and what becomes of the three numbers."""

    name: str
    jax: Callable[[Any], Any]
    exact: Callable[[list[Jet]], list[Jet]]


MATRIX = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [3.0, 0.0, 1.0]])
_ROLL = [(i - 1) % N for i in range(N)]


def _apply_matrix(x: list[Jet]) -> list[Jet]:
    return [sum((x[k] * int(MATRIX[k, j]) for k in range(N)), x[0].constant(0)) for j in range(N)]


def _cumulated(x: list[Jet]) -> list[Jet]:
    return [x[0], x[0] * x[1], x[0] * x[1] * x[2]]


def _circulant(x: Any) -> Any:
    return [[x[(i + j) % N] for j in range(N)] for i in range(N)]


def _shares(x: list[Jet]) -> list[Jet]:
    total = sum(x[1:], x[0])
    return [v / total for v in x]


def _jax_circulant_slogdet(x: Any) -> Any:
    return jnp.linalg.slogdet(jnp.stack([jnp.stack(row) for row in _circulant(x)]))


def _there_and_back(a: Any) -> Any:
    m = lax.stop_gradient(jnp.max(a))
    m = jnp.where(jnp.isfinite(m), m, 0.0)
    return jnp.log(jnp.exp(a - m)) + m


def _scanned(a: Any) -> Any:
    def step(c: Any, y: Any) -> Any:
        c = jnp.log(jnp.exp(c) * jnp.exp(y))
        return c, c

    return lax.scan(step, jnp.zeros(()), a)[1]


def same(x: list[Jet]) -> list[Jet]:
    return x


def rolled(x: list[Jet]) -> list[Jet]:
    return [x[i] for i in _ROLL]


def _doubled_where(x: list[Jet]) -> list[Jet]:
    return [x[0], x[0].constant(0), x[2]]


#: Steps on logarithms of numbers that are not negative.
ON_LOGS = [
    Step("l + roll(l)", lambda a: a + jnp.roll(a, 1),
         lambda x: [a * b for a, b in zip(x, rolled(x), strict=True)]),
    Step("2 * l", lambda a: 2 * a, lambda x: [a * a for a in x]),
    Step("l / 2 + l / 2", lambda a: 0.5 * a + a / 2, same),
    Step("l + log(2)", lambda a: a + jnp.log(jnp.array([2.0, 1.0, 3.0])),
         lambda x: [a * c for a, c in zip(x, (2, 1, 3), strict=True)]),
    Step("logaddexp", lambda a: jnp.logaddexp(a, jnp.roll(a, 1)),
         lambda x: [a + b for a, b in zip(x, rolled(x), strict=True)]),
    Step("logsumexp(l + logs)",
         lambda a: logsumexp(a[:, None] + jnp.log(jnp.asarray(MATRIX)), axis=0), _apply_matrix),
    Step("logsumexp(b)",
         lambda a: logsumexp(jnp.broadcast_to(a[:, None], (N, N)), b=jnp.asarray(MATRIX), axis=0),
         _apply_matrix),
    Step("log(exp(l - m) @ m) + m",
         lambda a: jnp.log(jnp.exp(a - jnp.max(a, initial=-1e3)) @ MATRIX) + jnp.max(a, initial=-1e3),
         _apply_matrix),
    Step("cumsum(l)", jnp.cumsum, _cumulated),
    Step("scan", _scanned, _cumulated),
    Step("shift", _there_and_back, same),
    Step("log(exp(l))", lambda a: jnp.log(jnp.exp(a)), same),
    Step("where", lambda a: jnp.where(jnp.array([True, False, True]), a, -jnp.inf), _doubled_where),
    Step("one hot", lambda a: jnp.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]) @ a,
         lambda x: [x[0] * x[1], x[1], x[2] * x[2]]),
    Step("flip", lambda a: a[::-1], lambda x: x[::-1]),
    Step("stack", lambda a: jnp.stack([a[0], a[2], a[1]]), lambda x: [x[0], x[2], x[1]]),
    Step("log_softmax", jax.nn.log_softmax, _shares),
]  # fmt: skip

#: Steps on numbers; the results are again not negative where the arguments are not.
ON_NUMBERS = [
    Step("x * roll(x)", lambda x: x * jnp.roll(x, 1),
         lambda x: [a * b for a, b in zip(x, rolled(x), strict=True)]),
    Step("x + roll(x)", lambda x: x + jnp.roll(x, 1),
         lambda x: [a + b for a, b in zip(x, rolled(x), strict=True)]),
    Step("x ** 2", lambda x: x**2, lambda x: [a * a for a in x]),
    Step("x ** 1.0", lambda x: x ** jnp.array([1.0, 2.0, 0.0]),
         lambda x: [x[0], x[1] * x[1], x[2].constant(1)]),
    Step("sqrt(x) ** 2", lambda x: jnp.sqrt(x) ** 2, same),
    Step("matmul", lambda x: x @ MATRIX, _apply_matrix),
    Step("cumprod", jnp.cumprod, _cumulated),
    Step("x / sum(x)", lambda x: x / jnp.sum(x), _shares),
]  # fmt: skip

#: Steps on numbers of either sign.
ON_SIGNED = [
    Step("x - roll(x)", lambda x: x - jnp.roll(x, 1),
         lambda x: [a - b for a, b in zip(x, rolled(x), strict=True)]),
    Step("sign * exp(log|x|)", lambda x: jnp.sign(x) * jnp.exp(jnp.log(jnp.abs(x))), same),
    Step("complex log", lambda x: jnp.exp(jnp.log(x + 0j)).real, same),
    Step("slogdet", lambda x: x.at[0].set(
             (lambda s: s[0] * jnp.exp(s[1]))(_jax_circulant_slogdet(x))),
         lambda x: [determinant(_circulant(x)), x[1], x[2]]),
    Step("logsumexp(return_sign)", lambda x: (lambda s: s[1] * jnp.exp(s[0]))(
             logsumexp(jnp.zeros((N, N)), b=x[:, None] * MATRIX, axis=0, return_sign=True)),
         _apply_matrix),
    *ON_NUMBERS[:3], *ON_NUMBERS[5:7],
]  # fmt: skip

LOG = Step("log", jnp.log, same)
EXP = Step("exp", jnp.exp, same)
WEIGHTS = np.array([1.0, -2.0, 3.0])


def _is_possible(step: Step, x: list[Jet]) -> bool:
    """A share of nothing is not defined."""
    return step.exact is not _shares or sum(v.value for v in x) != 0


def program(generator: np.random.Generator, x: list[Jet], signed: bool) -> list[Step]:
    """A random program for these inputs; one that is signed ends so."""
    steps: list[Step] = []
    for _ in range(3):
        group = [LOG, *generator.choice(np.array(ON_LOGS, object), 2), EXP]
        if generator.random() < 0.5:
            group.append(generator.choice(np.array(ON_NUMBERS, object)))
        for step in group:
            if not _is_possible(step, x):
                continue
            largest = max(abs(v.value) for v in step.exact(x))
            if largest < 10**6:
                steps.append(step)
                x = step.exact(x)
    if signed:
        for step in generator.choice(np.array(ON_SIGNED, object), 3):
            # determinants have products of three numbers, which may cancel
            if max(abs(v.value) for v in x) < 10**3:
                steps.append(step)
                x = step.exact(x)
    return steps


def run(steps: list[Step]) -> Callable[[Any], Any]:
    def fn(x: Any) -> Any:
        for step in steps:
            x = step.jax(x)
        return jnp.sum(WEIGHTS * x)

    return fn


def check(seed: int, hessian: bool) -> None:
    generator = np.random.default_rng(seed)
    values = [int(v) for v in generator.choice([0, 0, 1, 2, 3], size=N)]
    jets = Jet.variables(values)
    steps = program(generator, jets, bool(seed % 2))
    for step in steps:
        jets = step.exact(jets)
    want = sum((j * int(w) for j, w in zip(jets, WEIGHTS, strict=True)), jets[0].constant(0))
    fn = logify(run(steps))
    x = jnp.asarray(values, float)
    note = f"seed {seed}: {values} " + ", ".join(s.name for s in steps)
    # the terms that cancel in a result are of the size of the numbers before
    scale = 1e-9 * max(1.0, *(abs(float(j.value)) for j in jets))
    value, gradient = jax.jit(jax.value_and_grad(fn))(x)
    np.testing.assert_allclose(value, float(want.value), rtol=1e-9, atol=scale, err_msg=note)
    slopes = [float(g) for g in want.gradient]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=scale, err_msg=note)
    if hessian:
        got = jax.jit(jax.jacfwd(jax.grad(fn)))(x)
        curvature = [[float(h) for h in row] for row in want.hessian]
        np.testing.assert_allclose(got, curvature, rtol=1e-8, atol=scale, err_msg=note)


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(s, marks=pytest.mark.full) for s in range(3, 6))]
)
def test_value_and_gradient(seed: int) -> None:
    check(seed, hessian=False)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6, 300))
def test_value_gradient_and_hessian(seed: int) -> None:
    check(seed, hessian=True)
