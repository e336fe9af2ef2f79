"""A short part of the suite with x64 off, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest

ROOT = Path(__file__).parents[2]
SELECTIONS = [
    pytest.param(
        ["tests/numerics", "--deselect", "tests/numerics/test_contraction.py"], id="numerics"
    ),
    pytest.param(["tests/numerics/test_contraction.py"], id="contractions", marks=pytest.mark.full),
    pytest.param(
        ["tests/rules/test_zeros.py", "tests/rules/test_log_algebra.py"],
        id="rules",
        marks=pytest.mark.full,
    ),
]


@pytest.mark.skipif(not jax.config.jax_enable_x64, reason="this is the process with x64 off")
@pytest.mark.parametrize("selection", SELECTIONS)
def test_short_suite_without_x64(selection):
    environment = {**os.environ, "LOGSPACE_TEST_X64": "0"}
    for name in [n for n in environment if n.startswith("PYTEST_")]:
        del environment[name]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", *selection]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
