"""What do determinants and Pfaffians cost, beside `jax.numpy.linalg.slogdet`?"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from logspace.linalg import pfaffian, slogdet

from ._timing import Candidate, Options, Question, compare, main_of

SHAPES = ((4096, 16), (64, 128))
DIRECTIONS = 6


def value(f: Callable[..., Any]) -> Callable[..., Any]:
    return f


def value_and_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return jax.value_and_grad(lambda a: f(a)[1].sum())


def laplacian(f: Callable[..., Any]) -> Callable[..., Any]:
    """Second derivatives along some directions, forward over reverse."""
    gradient = jax.grad(lambda a: f(a)[1].sum())

    def along(a: Any, directions: Any) -> Any:
        second = jax.vmap(lambda v: jnp.sum(jax.jvp(gradient, (a,), (v,))[1] * v, (-2, -1)))
        return second(directions).sum(0)

    return along


def log_pfaffian(a: Any) -> tuple[jax.Array, jax.Array]:
    pf = pfaffian(a, antisymmetrise=True)
    return pf.sign, pf.logabs


def body(options: Options) -> list[Question]:
    questions = []
    jobs = (("value", value, 1.05), ("value and gradient", value_and_gradient, 1.15))
    for dtype in options.dtypes:
        for batch, n in SHAPES:
            batch, n = options.size(batch, 4), options.size(n, 6)
            generator = np.random.default_rng(0)
            a = generator.standard_normal((batch, n, n)).astype(dtype)
            singular = a.copy()
            singular[1, :, 1] = singular[1, :, 0]
            directions = generator.standard_normal((DIRECTIONS, batch, n, n)).astype(dtype)
            shape = f"{batch} x {n} x {n}, {dtype.name}"
            for name, job, target in jobs:
                questions.append(
                    compare(
                        f"slogdet, {name}, {shape}",
                        [
                            Candidate("logspace", job(slogdet), (a,)),
                            Candidate("jax", job(jnp.linalg.slogdet), (a,)),
                        ],
                        options,
                        {"jax": target},
                    )
                )
                questions.append(
                    compare(
                        f"slogdet, {name}, one singular matrix among {shape}",
                        [
                            Candidate("with it", job(slogdet), (singular,)),
                            Candidate("without", job(slogdet), (a,)),
                        ],
                        options,
                        {"without": 1.05},
                    )
                )
            questions.append(
                compare(
                    f"slogdet, Laplacian, {shape}",
                    [
                        Candidate("logspace", laplacian(slogdet), (a, directions)),
                        Candidate("jax", laplacian(jnp.linalg.slogdet), (a, directions)),
                    ],
                    options,
                    {"jax": 1.35},
                )
            )
            questions.append(
                compare(
                    f"pfaffian, value and gradient, {shape}",
                    [
                        Candidate("logspace", value_and_gradient(log_pfaffian), (a,)),
                        Candidate("jax", value_and_gradient(jnp.linalg.slogdet), (a,)),
                    ],
                    options,
                    {"jax": 3.0},
                )
            )
    return questions


main = main_of(body, __doc__)

if __name__ == "__main__":
    main()
