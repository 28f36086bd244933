"""The commands of the README do what it shows."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.shell import run

ROOT = Path(__file__).parents[1]


def commands() -> list[tuple[str, str]]:
    """What is typed, and what is shown for it."""
    block = re.search(r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block
    parts = re.split(r"^\$ (.*)\n", block[1], flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def cells(line: str) -> list[float | str]:
    """Cells of a line of CSV."""
    return [float(cell) if "." in cell else cell for cell in line.split(",")]


def about(cell: float | str) -> object:
    """The last digits of numbers may differ from machine to machine."""
    return pytest.approx(cell, rel=1e-9) if isinstance(cell, float) else cell


@pytest.mark.slow
def test_the_commands_of_the_readme_show_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for typed, shown in commands():
        program, *arguments = shlex.split(typed, comments=True)
        if program == "baserate":
            arguments, file = (arguments[:-2], arguments[-1]) if ">" in arguments else (arguments, None)
            result = run(*arguments)
            assert result.exit_code == 0, result.stderr
            if file:
                Path(file).write_text(result.stdout, encoding="utf-8")
            assert file or result.stdout == shown or arguments[0] == "demo"
        else:
            *how, file = arguments
            assert [program, *how] == ["head", "-n", "3"]
            begun = Path(file).read_text(encoding="utf-8").splitlines()[:3]
            wanted = [[about(cell) for cell in cells(line)] for line in shown.splitlines()]
            assert [cells(line) for line in begun] == wanted
    actual = {"numbers.json", "roc.csv", "calibrator.json", "before-and-after.txt", "calibrated.csv"}
    actual |= {"policy.json", "decisions.csv", "by-site.json", "by-site.txt", "groups.txt"}
    assert {path.name for path in tmp_path.iterdir()} == {"there", *actual}


def test_the_readme_announces_nothing_that_has_shipped() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "being built" not in text
    assert "`baserate report … -o report.html` writes this page" in text


def test_every_command_of_the_readme_is_ours() -> None:
    assert [typed.split()[0] for typed, _ in commands()] == [
        "baserate",
        "head",
        *["baserate"] * 7,
        "head",
        *["baserate"] * 3,
        "head",
        *["baserate"] * 4,
    ]
