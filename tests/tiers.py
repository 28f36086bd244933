"""Cases of a test: those that every run takes, and those that only `make test-all` does."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import pytest

Quick = int | Callable[[Any], bool]


def tiered(cases: Iterable[Any], quick: Quick = 1) -> list[Any]:
    """All cases of one argument; only the first few, or those that `quick` is true of, are not slow."""
    return [case if _is_quick(at, case, quick) else slow(case) for at, case in enumerate(cases)]


def tiered_rows(cases: Iterable[tuple[Any, ...]], quick: Quick = 1) -> list[Any]:
    """All cases of several arguments; only the first few, or those that `quick` is true of, are not slow."""
    return [case if _is_quick(at, case, quick) else slow(*case) for at, case in enumerate(cases)]


def some(cases: Iterable[Any], step: int) -> Callable[[Any], bool]:
    """Whether a case is one of each `step`, beginning with the first."""
    return list(islice(cases, 0, None, step)).__contains__


def slow(*values: Any) -> Any:  # noqa: ANN401  (as pytest has it)
    """A case that only `make test-all` takes."""
    return pytest.param(*values, marks=pytest.mark.slow)


def _is_quick(at: int, case: Any, quick: Quick) -> bool:  # noqa: ANN401
    return at < quick if isinstance(quick, int) else quick(case)
