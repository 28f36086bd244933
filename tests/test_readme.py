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


def test_the_commands_of_the_readme_show_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for typed, shown in commands():
        program, *arguments = shlex.split(typed, comments=True)
        if program == "baserate":
            result = run(*arguments)
            assert result.exit_code == 0, result.stderr
            assert result.stdout == shown or arguments[0] == "demo"
        else:
            assert typed == "head -n 3 there/people.csv"
            assert Path("there/people.csv").read_text(encoding="utf-8").startswith(shown)
    assert {path.name for path in tmp_path.iterdir()} == {"there", "numbers.json", "roc.csv"}


def test_every_command_of_the_readme_is_ours() -> None:
    assert [typed.split()[0] for typed, _ in commands()] == ["baserate", "head", *["baserate"] * 5]
