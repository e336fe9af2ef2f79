"""NetKet's tests: skipped where it is not installed, its warnings of deprecation let through."""

import pytest

netket = pytest.importorskip("netket")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/netket" in str(item.path):
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::FutureWarning"))
