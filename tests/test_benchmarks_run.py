"""Every benchmark imports and runs, on tiny sizes; its figures are for `benchmarks/README.md`."""

import importlib
import pathlib
import pkgutil

import pytest

import benchmarks

NAMES = sorted(
    m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_")
)
QUICKEST = "logarithms"


# of quantax 0.4.0, on import under JAX 0.12.1
@pytest.mark.filterwarnings("ignore:jax.sharding.SingleDeviceSharding:DeprecationWarning")
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n == QUICKEST else pytest.mark.full) for n in NAMES],
)
def test_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if "netket" in name:
        pytest.importorskip("netket")
    module = importlib.import_module(f"benchmarks.{name}")
    assert module.__doc__
    module.main(["--quick"])
    printed = capsys.readouterr().out
    assert "jax" in printed and "nan" not in printed
    assert len(printed.splitlines()) > 3


def test_every_benchmark_is_in_the_readme() -> None:
    text = (pathlib.Path(benchmarks.__path__[0]) / "README.md").read_text()
    for name in NAMES:
        assert f"python -m benchmarks.{name}`" in text
