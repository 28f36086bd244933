"""Every row of the migration tables runs: its Python, its command, and both return the same number."""

import doctest
import json
import math
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from baserate import Estimate
from tests.cli.shell import run
from tests.tiers import take_in_tiers

PAGES = Path(__file__).parents[1] / "docs" / "migration"
COLUMNS = ("baserate in Python", "baserate in the shell")
NOTHING = "–"


class Row(NamedTuple):
    """A row of a migration table."""

    page: str
    other: str
    python: str
    command: str


def split_cells(line: str) -> list[str]:
    """Split a row of a Markdown table; a backslash protects a pipe.

    >>> split_cells(r"| a | `b \\| c` |")
    ['a', '`b | c`']
    """
    cells = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [cell.strip().replace(r"\|", "|") for cell in cells]


def read_rows(page: Path) -> Iterator[Row]:
    in_table = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            in_table = False
            continue
        other, *cells = split_cells(line)
        if tuple(cells) == COLUMNS:
            in_table = True
        elif not set(other) <= set("-:"):
            assert in_table, f"{page.name}: a table without the columns {COLUMNS}: {line}"
            assert len(cells) == 2, f"{page.name}: {line}"
            yield Row(page.stem, other, *(read_code(cell, page) for cell in cells))


def read_code(cell: str, page: Path) -> str:
    code = re.fullmatch(r"`([^`]+)`", cell)
    assert code or cell == NOTHING, f"{page.name}: {cell!r} is neither code nor {NOTHING}"
    return code[1] if code else ""


ROWS = [row for page in sorted(PAGES.glob("*.md")) for row in read_rows(page)]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Return the names of the index page, in a folder with its files."""
    folder = tmp_path_factory.mktemp("migration")
    names: dict[str, Any] = {}
    (block,) = re.findall(r"```python\n(.*?)```", (PAGES / "index.md").read_text(encoding="utf-8"), re.DOTALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for example in doctest.DocTestParser().get_examples(block):
            exec(compile(example.source, "index.md", "single"), names)  # noqa: S102  (a page of ours)
        yield names


def as_number(value: object) -> float | None:
    """Return the number that a cell evaluates to; None for tables and other objects."""
    if isinstance(value, Estimate):
        return value.value
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def list_numbers(data: object) -> Iterator[float]:
    """List all numbers of a JSON document."""
    if isinstance(data, dict | list):
        for each in data.values() if isinstance(data, dict) else data:
            yield from list_numbers(each)
    elif isinstance(data, int | float):
        yield float(data)


def run_command(command: str, *more: str) -> str:
    program, *words = shlex.split(command)
    assert program == "baserate"
    result = run(*words, *more)
    # A requirement that fails and a gap that is too large exit with 1, as they should.
    assert result.exit_code in (0, 1), result.stderr
    return result.stdout


@pytest.mark.parametrize(
    "row", take_in_tiers(ROWS, lambda row: ROWS.index(row) % 10 == 0), ids=lambda row: f"{row.page}: {row.other}"
)
def test_python_and_command_return_the_same_number(row: Row, data: dict[str, Any]) -> None:
    assert row.python or row.command
    value = eval(row.python, dict(data)) if row.python else None  # noqa: S307  (a page of ours)
    number = as_number(value)
    if not row.command:
        return
    if number is None:
        run_command(row.command)
        return
    printed = list_numbers(json.loads(run_command(row.command, "--json", "-q")))
    assert any(math.isclose(number, each, rel_tol=1e-9, abs_tol=1e-12) for each in printed), number


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_pages_have_tables_and_are_listed(page: Path) -> None:
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    if page.stem == "index":
        return
    assert f"]({page.name})" in index
    assert f"\n{page.stem}\n" in index
    assert page.read_text(encoding="utf-8").startswith("# Migrating from ")
    assert any(row.page == page.stem for row in ROWS)
