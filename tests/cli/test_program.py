"""The program itself: how it starts, its version, completion, progress, and the demo."""

import re
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from threading import Event

import click
import pytest

import baserate
from baserate.cli import VERBS, app
from baserate.cli._learn import NAME, steps
from baserate.cli._terminal import bar, progress_bar
from tests.cli.shell import run, run_program, write_people

HEAVY = {"numpy", "duckdb", "narwhals", "scipy", "baserate.measure", "baserate.read", "baserate.infer"}
BRIER = ("skill", "miscalibration", "discrimination", "uncertainty")


def loaded_modules(*typed: str) -> set[str]:
    code = f"import sys; sys.argv[1:] = {list(typed)}\nfrom baserate.cli import app\n"
    code += "try:\n    app.main()\nexcept SystemExit:\n    print('LOADED', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("LOADED ")[2].split())


@pytest.mark.quick(2)
@pytest.mark.parametrize("typed", [["--help"], ["--version"], ["measure", "--help"], ["curve", "--help"]])
def test_help_loads_no_heavy_package(typed: list[str]) -> None:
    assert not loaded_modules(*typed) & HEAVY


def test_help_of_commands_loads_no_heavy_package() -> None:
    code = "import sys, click\nfrom baserate.cli import VERBS, app\n"
    code += "for verb in VERBS: app.get_command(click.Context(app), verb)\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & HEAVY


@pytest.mark.slow
def test_point_estimates_do_not_load_intervals(tmp_path: Path) -> None:
    typed = ("measure", str(write_people(tmp_path)), "--truth", "sick", "--score", "risk", "--threshold", "0.3,0.5")
    heavy = {"scipy", "baserate.infer"}
    assert not loaded_modules(*typed, "--no-interval") & heavy
    assert loaded_modules(*typed) >= heavy


def test_help_loads_no_command() -> None:
    verbs = {f"baserate.cli.{home.partition(':')[0]}" for home, _ in VERBS.values()}
    assert not loaded_modules("--help") & verbs
    assert loaded_modules("list", "curves") & verbs == {"baserate.cli._learn"}


def test_version_is_printed() -> None:
    assert run("--version").stdout == f"baserate {baserate.__version__}\n"
    assert run_program("--version").stdout == f"baserate {baserate.__version__}\n"


def test_help_without_a_command() -> None:
    assert run().stdout == run("--help").stdout
    assert run().exit_code == 0
    assert all(output in run("--help").stdout for _, output in VERBS.values())


def list_groups(command: click.Command, typed: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command that has commands below it, as it is typed."""
    if isinstance(command, click.Group):
        yield typed
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below
            yield from list_groups(below, (*typed, name))


def test_command_summaries_are_not_cut() -> None:
    groups = [*list_groups(app)]
    assert {("draw",), ("population", "linear"), ("draw", "population")} <= set(groups)
    for typed in groups[1:]:
        shown = run(*typed, "--help", env={"COLUMNS": "80"}).stdout
        listed = shown.partition("Commands:\n")[2].partition("\n\n")[0]
        assert listed, typed
        assert "..." not in listed, typed
        assert "…" not in listed, typed


def test_installed_script_is_the_program() -> None:
    script = Path(sys.executable).with_name("baserate")
    done = subprocess.run([script, "list", "curves"], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == run_program("list", "curves").stdout


@pytest.mark.parametrize(
    ("shell", "word"), [("bash", "complete -o"), ("zsh", "#compdef baserate"), ("fish", "complete ")]
)
def test_completion_scripts_name_the_program(shell: str, word: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert word in result.stdout
    assert f"_BASERATE_COMPLETE={shell}_complete" in result.stdout


@pytest.mark.parametrize(
    ("words", "result"),
    [
        ("baserate me", {"measure"}),
        ("baserate measure x --measures brier_", {f"brier_{part}" for part in BRIER}),
        ("baserate measure x --measures auc,log_loss_", {"auc,log_loss_skill"}),
        ("baserate measure x --measures al", {"all"}),
        ("baserate compare x --measures acc", {"accuracy", "accuracy_ratio"}),
        ("baserate size ha", set()),  # hand_till is of many classes
        ("baserate measure x --missing d", {"drop"}),
        ("baserate measure x --interval bo", {"bootstrap"}),
        ("baserate measure x --interval w", {"wilson"}),
        ("baserate curve l", {"lift", "lorenz"}),
        (
            "baserate decide x --rule b",
            {"balanced", "balanced-predictive-values", "break-even", "best", "bands", "bootstrap-average"},
        ),
        ("baserate decide x --minimize co", {"cost"}),
        ("baserate decide x --maximize au", set()),  # areas are of whole curves
    ],
)
def test_completion_of_words(words: str, result: set[str]) -> None:
    at = str(len(words.split()) - 1)
    done = run(env={"_BASERATE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": at})
    assert {line.partition(",")[2] for line in done.stdout.split()} == result


def test_completion_by_the_program() -> None:
    done = run_program(env={"_BASERATE_COMPLETE": "bash_complete", "COMP_WORDS": "baserate me", "COMP_CWORD": "1"})
    assert done.stdout.split() == ["plain,measure"]


class Terminal(StringIO):
    """A stream that says it is one."""

    def __init__(self, *, drawn: Event | None = None) -> None:
        super().__init__()
        self.drawn = drawn

    def isatty(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        if self.drawn:
            self.drawn.set()
        return super().write(text)


def test_progress_is_drawn_and_erased_on_a_terminal() -> None:
    drawn = Event()
    terminal = Terminal(drawn=drawn)
    with progress_bar(lambda: 50.0, stream=terminal, after=0, every=0.001):
        assert drawn.wait(60)
    text = terminal.getvalue()
    assert "50%" in text
    assert text.endswith("\r\x1b[K")


def test_progress_is_erased_after_an_error() -> None:
    drawn = Event()
    terminal = Terminal(drawn=drawn)

    def work() -> None:
        with progress_bar(lambda: None, stream=terminal, after=0, every=0.001):
            assert drawn.wait(60)
            raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        work()
    assert "reading" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_progress_is_silent_when_quick_quiet_or_not_on_a_terminal() -> None:
    quick, quiet, pipe = Terminal(), Terminal(), StringIO()
    query: list[int] = []

    def progress() -> float | None:
        query.append(1)
        return 1.0

    with progress_bar(progress, stream=quick, after=3600):
        pass
    with progress_bar(progress, stream=quiet, after=0, quiet=True):
        pass
    with progress_bar(progress, stream=pipe, after=0):
        pass
    assert (quick.getvalue(), quiet.getvalue(), pipe.getvalue(), query) == ("", "", "", [])


def test_length_of_the_progress_bar() -> None:
    assert [bar(percent, 1).count("#") for percent in (0, 50, 100, 250)] == [0, 15, 30, 30]
    assert bar(-1, 2) == bar(None, 2)


def test_demo_shows_commands_and_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0
    typed = re.findall(r"^\$ baserate (.*)$", result.stdout, re.MULTILINE)
    assert typed == [" ".join(words) for _, words in steps(f"baserate-demo/{NAME}")]
    for line in typed:  # a newcomer who types it sees the same
        assert run(*line.split()).stdout in result.stdout


def test_demo_is_reproducible_and_keeps_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baserate.cli._learn.steps", lambda _: [])  # which the test before runs
    one, two = tmp_path / "one", tmp_path / "two" / "deep"
    one.mkdir()
    (one / "mine.txt").write_text("mine", encoding="utf-8")
    assert run("demo", one).exit_code == run("demo", two).exit_code == run("demo", one).exit_code == 0
    assert (one / NAME).read_bytes() == (two / NAME).read_bytes()
    assert (one / NAME).read_bytes().count(b"\n") == 20_001
    assert (one / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_demo_does_not_overwrite_foreign_files(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("y,p\n1,0.5\n", encoding="utf-8")
    result = run("demo", tmp_path)
    assert result.exit_code == 2
    assert "exists, and is not of this demo" in result.stderr
    assert (tmp_path / NAME).read_text(encoding="utf-8") == "y,p\n1,0.5\n"
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert run("demo", tmp_path / "file").exit_code == 2
    assert run("demo", tmp_path / "file" / "deeper").exit_code == 2
