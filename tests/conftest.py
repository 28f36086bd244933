import gc
import os
from collections import Counter

import pytest
from hypothesis import settings

# Tests run in one process for each core; more threads in each would only compete.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# The same examples everywhere, and no deadline on a shared machine. `make test` takes the quick profile and leaves out
# what is marked slow; `make test-all` takes the full one.
settings.register_profile("full", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("quick", parent=settings.get_profile("full"), max_examples=15)
settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow all cases of a test but the first ones, if it says how many are quick."""
    cases = Counter[str]()
    for item in items:
        quick = item.get_closest_marker("quick")
        if quick is not None:
            test = item.nodeid.partition("[")[0]
            cases[test] += 1
            if cases[test] > quick.args[0]:
                item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Take the thousands of collected tests out of every later garbage collection."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    gc.unfreeze()
