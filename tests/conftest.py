"""What all tests share: x64 on, two CPU devices, fixed seeds, exact references.

`LOGSPACE_TEST_X64=0` runs with x64 off; the tests that need float64 then are not collected.
"""

import os

# The number of CPU devices is fixed when JAX starts.
_FLAGS = os.environ.get("XLA_FLAGS", "")
if "host_platform_device_count" not in _FLAGS:
    os.environ["XLA_FLAGS"] = f"{_FLAGS} --xla_force_host_platform_device_count=2".strip()

# NetKet, imported by any test, would otherwise set a mesh of these devices for all of them.
os.environ.setdefault("NETKET_SHARDING", "0")

import hypothesis  # noqa: E402
import jax  # noqa: E402
import mpmath  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

jax.config.update("jax_enable_x64", os.environ.get("LOGSPACE_TEST_X64", "1") != "0")

hypothesis.settings.register_profile(
    "default", deadline=None, derandomize=True, database=None, max_examples=20
)
hypothesis.settings.register_profile("full", deadline=None, database=None, max_examples=300)
hypothesis.settings.load_profile(os.environ.get("LOGSPACE_HYPOTHESIS", "default"))


def pytest_configure(config: pytest.Config) -> None:
    """`-m full` runs everything: the rows marked so and those that always run."""
    if config.option.markexpr == "full":
        config.option.markexpr = ""


@pytest.fixture(autouse=True)
def _exact_references():
    with mpmath.workprec(300):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)
