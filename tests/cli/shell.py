"""Shared by tests of the command line: running commands, example files, and snapshots."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from baserate import Plan
from baserate.cli import _report, app
from baserate.cli._report import make_plan
from baserate.text import Page
from baserate.text._tables import display_width

SNAPSHOTS = Path(__file__).parent / "snapshots"

PEOPLE = """\
sick,risk,old,site,sex,says,times,w
1,0.92,0.81,north,f,1,1,0.5
0,0.85,0.40,north,m,1,2,1.5
1,0.71,0.95,coast,f,1,1,1.0
1,0.64,0.30,coast,m,0,3,2.0
0,0.64,0.62,north,f,0,1,0.25
0,0.31,0.33,hill,m,0,1,1.0
0,0.30,0.05,coast,f,0,4,1.0
1,0.22,0.55,hill,m,0,1,1.0
0,0.11,0.20,north,f,0,2,0.75
0,0.05,0.10,hill,m,0,1,1.0
"""

PLAIN = {"COLUMNS": "100", "NO_COLOR": None, "FORCE_COLOR": None, "TERM": "xterm"}


PAGES: dict[tuple[str, ...], Page] = {}
"""What was typed -> the page that it printed, so that tests of layout need not compute it again."""


def run(*typed: object, given: str | bytes | None = None, env: dict[str, str | None] | None = None) -> Result:
    """Run the command line in this process; remember the page that it prints."""
    text_of = Page.text

    def store_page(page: Page, width: int, **more: Any) -> str:  # noqa: ANN401  (any keyword of `text`)
        PAGES[page_key(typed)] = page
        return text_of(page, width, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Page, "text", store_page)
        return CliRunner().invoke(app, [str(each) for each in typed], input=given, env=PLAIN | (env or {}))


def page_key(typed: tuple[object, ...]) -> tuple[str, ...]:
    """What was typed, with the contents of files in place of their folders."""
    files = [Path(str(each)) for each in typed if os.path.isfile(str(each))]  # noqa: PTH113  (no error for long text)
    contents = {str(path): f"{path.name} {hash(path.read_bytes())}" for path in files}
    return tuple(contents.get(str(each), str(each)) for each in typed if each != "-q")


def render_pages(*typed: object, widths: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Lay out at each width what a command prints, after one run of it, which an earlier test may have made."""
    key = page_key(typed)
    if key not in PAGES:
        result = run(*typed, "-q")
        assert key in PAGES, result.stderr
    return ((width, click.unstyle(PAGES[key].text(width))) for width in widths)


def fits_terminal(*typed: object, widths: Sequence[int]) -> bool:
    """Whether no line of what a command prints is longer than the terminal is wide."""
    return all(
        max(map(display_width, shown.splitlines())) <= width for width, shown in render_pages(*typed, widths=widths)
    )


def run_program(*typed: object, given: str = "", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run it as a program."""
    return subprocess.run(
        [sys.executable, "-m", "baserate", *map(str, typed)],
        input=given,
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", **(env or {})},
    )


def write_people(folder: Path) -> Path:
    """Write the file of predictions."""
    path = folder / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def matches_snapshot(shown: str, name: str) -> bool:
    """Compare with a snapshot, after renewing it if BASERATE_RENEW is set: then look at the difference in git."""
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("BASERATE_RENEW"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8"), "if this is meant: BASERATE_RENEW=1 pytest tests/cli"
    return True


def plan_of(*typed: str) -> Plan:
    """The plan that `baserate report` makes of what was typed."""
    observed: list[Plan] = []

    def store_plan(*given: Any) -> Plan:  # noqa: ANN401  (bundles of options)
        observed.append(make_plan(*given))
        raise click.Abort

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_report, "make_plan", store_plan)
        result = run("report", *typed)
    assert observed, result.stderr
    return observed[0]
