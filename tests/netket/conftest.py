"""NetKet's tests: skipped where it is not installed, its warnings of deprecation let through."""

import pytest

netket = pytest.importorskip("netket")


#: What NetKet says of itself: that its exact sampler is not sharded over the two devices of these
#: tests, and that fermions with a fixed number have a faster operator.
_OF_NETKET = (
    "ignore::DeprecationWarning",
    "ignore::FutureWarning",
    "ignore:.*not sharded across devices:UserWarning",
    "ignore:\\s*WARNING. Initializing `netket.operator.FermionOperator2nd`:UserWarning",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "netket" in item.path.parts[-2]:
            for each in _OF_NETKET:
                item.add_marker(pytest.mark.filterwarnings(each))
