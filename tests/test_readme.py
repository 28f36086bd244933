"""The commands of the README print what it shows."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.shell import run

ROOT = Path(__file__).parents[1]


def read_commands() -> list[tuple[str, str]]:
    """Return each command of the README with the output that it shows."""
    block = re.search(r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert block
    parts = re.split(r"^\$ (.*)\n", block[1], flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def parse_cells(line: str) -> list[float | str]:
    """Return the cells of a line of CSV, with decimal numbers as floats."""
    return [float(cell) if "." in cell else cell for cell in line.split(",")]


def approximate(cell: float | str) -> object:
    """Allow other last digits, which differ between machines."""
    return pytest.approx(cell, rel=1e-9) if isinstance(cell, float) else cell


@pytest.mark.slow
def test_commands_print_the_output_of_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command, expected in read_commands():
        program, *arguments = shlex.split(command, comments=True)
        if program == "baserate":
            arguments, file = (arguments[:-2], arguments[-1]) if ">" in arguments else (arguments, None)
            result = run(*arguments)
            assert result.exit_code == 0, result.stderr
            if file:
                Path(file).write_text(result.stdout, encoding="utf-8")
            assert file or result.stdout == expected or arguments[0] == "demo"
        else:
            *options, file = arguments
            assert [program, *options] == ["head", "-n", "3"]
            head = Path(file).read_text(encoding="utf-8").splitlines()[:3]
            rows = [[approximate(cell) for cell in parse_cells(line)] for line in expected.splitlines()]
            assert [parse_cells(line) for line in head] == rows
    created = {"numbers.json", "roc.csv", "calibrator.json", "before-and-after.txt", "calibrated.csv"}
    created |= {"policy.json", "decisions.csv", "by-site.json", "by-site.txt", "groups.txt"}
    assert {path.name for path in tmp_path.iterdir()} == {"there", *created}


def test_readme_announces_no_released_feature() -> None:
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert "being built" not in text
    assert "`baserate report … -o report.html` writes this page" in text


def test_programs_in_the_readme() -> None:
    assert [command.split()[0] for command, _ in read_commands()] == [
        "baserate",
        "head",
        *["baserate"] * 7,
        "head",
        *["baserate"] * 3,
        "head",
        *["baserate"] * 4,
    ]
