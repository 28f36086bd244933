"""The doors through which a table may come."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from baserate.read import _duckdb
from tests.readers import BY_DUCKDB, READERS, Table


def decide(monkeypatch: pytest.MonkeyPatch, *, sums: bool) -> None:
    """Let DuckDB add up by itself, or fetch rows, whatever it would choose."""
    monkeypatch.setattr(_duckdb, "repeats", lambda *_: sums)


DOORS = [(name, sums) for name in READERS for sums in ((False, True) if name in BY_DUCKDB else (False,))]


@pytest.fixture(params=DOORS, ids=lambda door: f"{door[0]}{', sums' * door[1]}")
def door(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Table], Any]:
    name, sums = request.param
    decide(monkeypatch, sums=sums)
    return lambda table: READERS[name](table, tmp_path)
