"""Random programs against the oracle: a seeded slice, and 2,000 on demand (`-m full`).

`python -m tests.random_programs` runs any number of them and prints what was compared.
"""

from collections.abc import Iterable

import jax
import pytest

from tests.program_check import Summary, check_structure


def run(
    structures: Iterable[int], *, batch: int, dtype: str, level: str = "numerics", seed: int = 0
) -> Summary:
    summary = Summary()
    with jax.enable_x64(dtype == "float64"):
        for k in structures:
            check_structure(
                (seed, k),
                is_complex=k % 2 == 1,
                batch=batch,
                dtype=dtype,
                level=level,
                compile_as="primitive",
                summary=summary,
            )
    return summary


def assert_clean(summary: Summary, programs: int) -> None:
    assert not summary.failures, "\n".join([summary.table(), *summary.failures[:3]])
    assert summary.programs == programs
    # the test is worth something only while most programs are judged in full
    assert summary.value_only + summary.undefined < 0.25 * programs
    assert summary.compared["forward over reverse"] > 2 * programs


#: Structures whose values and derivatives exist at almost all inputs, with the most operations
#: between them. One in four has a division by an exact difference, or the like, and is judged at
#: few inputs: a slice of those would compare little for its time.
SLICES = {"float64": (1001,), "float32": (1010,)}


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.full)])
def test_slice(dtype: str) -> None:
    structures, batch = SLICES[dtype], 40
    assert_clean(run(structures, batch=batch, dtype=dtype), batch * len(structures))


@pytest.mark.full
@pytest.mark.parametrize("level", ["numerics", "logarray"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_two_thousand(dtype: str, level: str) -> None:
    assert_clean(run(range(20), batch=100, dtype=dtype, level=level), 2000)
