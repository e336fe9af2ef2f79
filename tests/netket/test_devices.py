"""The same numbers on 1 and on 8 devices, in whole and in chunks."""

import json
import os
import subprocess
import sys
from typing import Any

import jax
import numpy as np
import pytest


def run(devices: int) -> dict[str, Any]:
    environment = os.environ | {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "NETKET_SHARDING": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.netket.program_devices"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.full
def test_one_device_and_eight() -> None:
    one, eight = run(1), run(8)
    assert one.pop("nodes in numpy samples") == 0
    assert (one.pop("devices"), eight.pop("devices")) == (1, 8)
    reference = one["chunk None"]
    for result in (one["chunk 4"], eight["chunk None"], eight["chunk 4"]):
        jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=1e-12), result, reference)
