"""Quick cases of a parametrized test, which every run takes, and slow ones for `make test-all`."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import pytest

Quick = int | Callable[[Any], bool]


def take_in_tiers(cases: Iterable[Any], quick: Quick = 1) -> list[Any]:
    """Return all cases of one argument; the first `quick` ones, or those for which `quick` is true, are not slow."""
    return [case if _is_quick(at, case, quick) else slow(case) for at, case in enumerate(cases)]


def tiered_rows(cases: Iterable[tuple[Any, ...]], quick: Quick = 1) -> list[Any]:
    """Return all cases of several arguments; those that `quick` selects are not slow, as in `take_in_tiers`."""
    return [case if _is_quick(at, case, quick) else slow(*case) for at, case in enumerate(cases)]


def some(cases: Iterable[Any], step: int) -> Callable[[Any], bool]:
    """Return a predicate that selects every `step`-th case, beginning with the first."""
    return list(islice(cases, 0, None, step)).__contains__


def slow(*values: Any) -> Any:  # noqa: ANN401  (as pytest has it)
    """Mark a case for `make test-all` only."""
    return pytest.param(*values, marks=pytest.mark.slow)


def _is_quick(at: int, case: Any, quick: Quick) -> bool:  # noqa: ANN401
    return at < quick if isinstance(quick, int) else quick(case)
