"""Location of published reference data, and functions that read them."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Columns = Callable[[str], dict[str, list[str]]]


@pytest.fixture(scope="session")
def reference() -> Path:
    """Folder of reference data that belong to others, and are therefore not part of this project."""
    given = os.environ.get("BASERATE_REFERENCE_DATA")
    if not given:
        pytest.skip("BASERATE_REFERENCE_DATA is not set; let it name the folder of published reference data")
    folder = Path(given)
    if not folder.is_dir():
        pytest.skip(f"BASERATE_REFERENCE_DATA names {given!r}, which is not a folder")
    return folder


@pytest.fixture(scope="session")
def columns(reference: Path) -> Columns:
    """Read a CSV file of the reference folder as columns of text."""

    def read(name: str) -> dict[str, list[str]]:
        with (reference / name).open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        return {title: [row[place] for row in rows] for place, title in enumerate(header)}

    return read


@pytest.fixture(scope="session")
def shifts(load_published: Callable[[str], Any]) -> dict[str, Any]:
    """Shares that others estimated, and optima."""
    result: dict[str, Any] = load_published("shift_reference.json")
    return result


@pytest.fixture(scope="session")
def load_published(reference: Path) -> Callable[[str], Any]:
    """Read a JSON file of the reference folder."""

    def read(name: str) -> Any:  # noqa: ANN401  (whatever the file holds)
        return json.loads((reference / name).read_text(encoding="utf-8"))

    return read
