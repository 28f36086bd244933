"""Kinds of sources from which tables are read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baserate.read import _duckdb
from tests.readers import BY_DUCKDB, READERS, Table


def set_aggregation(monkeypatch: pytest.MonkeyPatch, *, sums: bool) -> None:
    """Make DuckDB aggregate, or fetch rows, whatever it would choose."""
    monkeypatch.setattr(_duckdb, "has_repeated_scores", lambda *_: sums)


QUICK = {"lists", "pandas", "polars", "pyarrow", "duckdb", "csv", "parquet"}
"""Sources of the quick tier: one for each engine; one test of that tier reads from all."""
AGGREGATED = {"csv"}
"""Sources for which the quick tier also makes DuckDB aggregate."""

SOURCES = [
    pytest.param((name, sums), marks=() if name in (AGGREGATED if sums else QUICK) else pytest.mark.slow)
    for name in READERS
    for sums in ((False, True) if name in BY_DUCKDB else (False,))
]


@pytest.fixture(params=SOURCES, ids=lambda source: f"{source[0]}{', sums' * source[1]}")
def make_source(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Table], Any]:
    name, sums = request.param
    set_aggregation(monkeypatch, sums=sums)
    return lambda table: READERS[name](table, tmp_path)
