"""The same numbers on 1 and on 8 devices, in whole and in chunks, and in two processes."""

import json
import os
import socket
import subprocess
import sys
from typing import Any

import jax
import numpy as np
import pytest


def start(devices: int, *arguments: Any) -> subprocess.Popen[str]:
    environment = os.environ | {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "NETKET_SHARDING": "1",
    }
    # With one cache for several processes JAX 0.12.1 hangs.
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.netket.program_devices", *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


def agree(results: list[dict[str, Any]], reference: dict[str, Any]) -> None:
    for found in results:
        for name in ("chunk None", "chunk 4"):
            jax.tree.map(
                lambda x, y: np.testing.assert_allclose(x, y, atol=1e-12), found[name], reference
            )


@pytest.mark.full
def test_one_device_and_eight() -> None:
    one, eight = result(start(1)), result(start(8))
    assert one["nodes in numpy samples"] == 0
    assert (one["devices"], eight["devices"]) == (1, 8)
    agree([one, eight], one["chunk None"])


@pytest.mark.full
def test_two_processes() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    first, second = (start(2, address, 2, i) for i in range(2))
    found = result(first)
    _, errors = second.communicate(timeout=600)
    assert second.returncode == 0, errors
    assert found["devices"] == 4
    agree([found], result(start(1))["chunk None"])
