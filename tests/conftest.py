"""What all tests share: x64 on, two CPU devices, fixed seeds, exact references.

`LOGSPACE_TEST_X64=0` runs with x64 off; the tests that need float64 then are not collected.
"""

import os
import shutil
import tempfile

# The number of CPU devices is fixed when JAX starts.
_FLAGS = os.environ.get("XLA_FLAGS", "")
if "host_platform_device_count" not in _FLAGS:
    os.environ["XLA_FLAGS"] = f"{_FLAGS} --xla_force_host_platform_device_count=2".strip()

# NetKet, imported by any test, would otherwise set a mesh of these devices for all of them.
os.environ.setdefault("NETKET_SHARDING", "0")

# Two thirds of the time goes into compiling. The workers and the processes that tests start share
# what they compile; a directory given from outside keeps it for the next run as well.
_CACHE = None
if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    _CACHE = tempfile.mkdtemp(prefix="logspace-tests-")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = _CACHE
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

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


def pytest_unconfigure() -> None:
    if _CACHE is not None:
        shutil.rmtree(_CACHE, ignore_errors=True)


@pytest.fixture(autouse=True)
def _exact_references():
    with mpmath.workprec(300):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)
