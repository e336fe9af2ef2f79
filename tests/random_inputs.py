"""Inputs of the random programs: the kinds that break such arithmetic, mixed at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.random_programs import Program

#: Exponents of e**1000, e**3000 and the like.
FAR = (1443, -1443, 4328, -4328)


@dataclass
class Draws:
    """Inputs for B programs of one structure; arrays of shape (B,) by leaf."""

    parameters: list[np.ndarray]
    exponents: list[np.ndarray]
    along: list[np.ndarray]  # a direction in the space of parameters

    @property
    def batch(self) -> int:
        return len(self.parameters[0])


def _tidied(s: np.ndarray, e: np.ndarray, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Significands brought into the window that numbers keep."""
    for _ in range(4):
        size = np.maximum(abs(s.real), abs(s.imag))
        move = np.where(size > 2.0**window, window + 1, 0)
        move = np.where((size > 0) & (size < 2.0**-window), -window - 1, move)
        s, e = s * 2.0 ** (-move), e + move
    return s, e


def random_draws(program: Program, batch: int, dtype: str, rng: np.random.Generator) -> Draws:
    """Inputs of the kinds that break such arithmetic, mixed at random."""
    single = dtype == "float32"
    real_type = np.float32 if single else np.float64
    number_type = {
        (False, False): np.float64, (False, True): np.complex128,
        (True, False): np.float32, (True, True): np.complex64,
    }[single, program.is_complex]  # fmt: skip
    window = {(False, False): 511, (False, True): 480, (True, False): 63, (True, True): 38}[
        single, program.is_complex
    ]
    tiny = 1e-30 if single else 1e-300
    common = np.where(rng.random(batch) < 0.25, rng.choice(FAR, batch), 0)
    parameters: list[np.ndarray] = []
    exponents: list[np.ndarray] = []

    def component(kinds: np.ndarray, extreme: np.ndarray, moderate: bool) -> np.ndarray:
        ordinary = rng.uniform(0.3, 3, batch) * rng.choice([-1, 1], batch)
        integers = rng.integers(-4, 5, batch).astype(float)
        out = np.where(kinds < 0.45, ordinary, integers)
        if not moderate:
            out = np.where(kinds > 0.9, ordinary * extreme, out)
        return out

    for i, leaf in enumerate(program.leaves):
        kinds = rng.random(batch)
        if leaf.kind == "power":
            parameters.append(rng.uniform(-2, 3, batch).astype(real_type))
            exponents.append(np.zeros(batch, np.int32))
            continue
        if leaf.kind == "log":
            size = rng.choice([1.0, 3.0, 30.0, 1000.0, 3000.0], batch)
            value = rng.uniform(-1, 1, batch) * size
            earlier = [j for j in range(i) if program.leaves[j].kind == "log"]
            if program.is_complex:
                value = value + 1j * rng.uniform(-3, 3, batch)
            if earlier:
                value = np.where(rng.random(batch) < 0.3, parameters[earlier[0]], value)
            parameters.append(value.astype(number_type))
            exponents.append(np.zeros(batch, np.int32))
            continue
        extreme = rng.choice([tiny, 1 / tiny], batch)
        s: np.ndarray = component(kinds, extreme, leaf.moderate)
        if program.is_complex:
            imaginary = component(kinds, extreme, leaf.moderate) * (rng.random(batch) < 0.7)
            s = s * np.where(imaginary != 0, rng.random(batch) < 0.8, True) + 1j * imaginary
        e = np.where(rng.random(batch) < 0.5, common, 0)
        e = np.where((kinds > 0.4) & (kinds < 0.55), rng.choice(FAR, batch), e)
        e = np.where((kinds > 0.55) & (kinds < 0.6), rng.integers(-600, 600, batch), e)
        e = e.astype(np.int64)
        s = s.astype(number_type)
        if leaf.moderate or leaf.kind == "plain":
            e = np.zeros(batch, np.int64)
        earlier = [
            j
            for j in range(i)
            if program.leaves[j].kind == leaf.kind
            and program.leaves[j].moderate <= leaf.moderate
            and (program.leaves[j].moderate or not leaf.moderate)
        ]
        if earlier:
            # Equal or opposite to an earlier input, perhaps with a power of two moved.
            j = earlier[int(rng.integers(len(earlier)))]
            copy = rng.random(batch) < 0.25
            shift = np.where(rng.random(batch) < 0.5, rng.integers(-20, 21, batch), 0)
            if leaf.kind == "plain":
                shift = np.zeros(batch, np.int64)
            sign = rng.choice([-1, 1], batch)
            s = np.where(copy, parameters[j] * (sign * 2.0**shift), s)
            e = np.where(copy, exponents[j] - shift, e)
        if not leaf.nonzero:
            s = np.where(rng.random(batch) < 0.18, 0, s)
        else:
            s = np.where(s == 0, 1, s)
        s = s.astype(number_type)
        if leaf.kind == "number":
            s, e = _tidied(s, e, window)
        parameters.append(s.astype(number_type))
        exponents.append(e.astype(np.int32))

    along = []
    for t in parameters:
        v = rng.uniform(0.5, 1.5, batch) * rng.choice([-1, 1], batch) * (rng.random(batch) < 0.7)
        if np.iscomplexobj(t):
            v = v * np.exp(1j * rng.uniform(-3, 3, batch))
        along.append(v.astype(t.dtype))
    return Draws(parameters, exponents, along)
