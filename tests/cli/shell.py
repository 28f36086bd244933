"""What the tests of the command line share: a way to run it, files to run it on, and snapshots of what it shows."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from baserate import Plan
from baserate.cli import _report as room, app
from baserate.cli._planning import made

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


def run(*typed: object, given: str | bytes | None = None, env: dict[str, str | None] | None = None) -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(app, [str(each) for each in typed], input=given, env=PLAIN | (env or {}))


def program(*typed: object, given: str = "", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run it as a program."""
    return subprocess.run(
        [sys.executable, "-m", "baserate", *map(str, typed)],
        input=given,
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "COLUMNS": "100", **(env or {})},
    )


def people(folder: Path) -> Path:
    """Write the file of predictions."""
    path = folder / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def is_as_ever(shown: str, name: str) -> bool:
    """Compare with a snapshot, after renewing it if BASERATE_RENEW is set: then look at the difference in git."""
    path = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("BASERATE_RENEW"):
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8"), "if this is meant: BASERATE_RENEW=1 pytest tests/cli"
    return True


def planned(*typed: str) -> Plan:
    """The plan that `baserate report` makes of what was typed."""
    seen: list[Plan] = []

    def keep(*given: Any) -> Plan:  # noqa: ANN401  (bundles of options)
        seen.append(made(*given))
        raise click.Abort

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "made", keep)
        result = run("report", *typed)
    assert seen, result.stderr
    return seen[0]
