import gc
import os
from collections import Counter

import pytest
from hypothesis import settings

# pytest-xdist runs a process per core; further threads of numerical libraries would compete with them.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# Printed objects are as wide as the terminal, of which the processes of pytest-xdist have one of 80 characters.
os.environ["COLUMNS"] = "100"

# Derandomized examples are the same on every machine; a deadline would fail on a busy one. `make test` uses the quick
# profile without slow tests, `make test-all` the full one.
settings.register_profile("full", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("quick", parent=settings.get_profile("full"), max_examples=15)
settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all cases of a test as slow but the first n of its mark `quick(n)`."""
    cases = Counter[str]()
    for item in items:
        quick = item.get_closest_marker("quick")
        if quick is not None:
            test = item.nodeid.partition("[")[0]
            cases[test] += 1
            if cases[test] > quick.args[0]:
                item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Exclude the thousands of collected tests from later garbage collections, which are slow with them."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()
