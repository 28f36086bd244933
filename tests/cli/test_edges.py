"""Edge cases of the command line that a small mistake would change silently."""

import sys
from io import StringIO
from pathlib import Path
from threading import Event

import click
import pytest
from click import unstyle

from baserate._formatting import escape_markdown, format_number
from baserate.cli import _main
from baserate.cli._errors import report_error
from baserate.cli._terminal import progress_bar
from baserate.text._tables import Page, Row, Section, Table, display_width, shorten_label
from tests.cli.shell import run, run_program, write_people
from tests.cli.test_program import Terminal

ONE = ("--truth", "sick", "--score", "risk")


def test_interruption_while_parsing_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_error(click.Abort(), traced=False) == 130
    assert capsys.readouterr().err == "baserate: interrupted.\n"


class Broken(StringIO):
    """A stream that cannot be flushed."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def flush(self) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "codes"),
    [(BrokenPipeError(), (141, 141)), (OSError(28, "full"), (2, 3)), (ValueError("closed"), (0, 3))],
)
def test_failed_flush_changes_the_exit_code(
    error: Exception, codes: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", Broken(error))
    assert (_main._flush_streams(0), _main._flush_streams(3)) == codes  # noqa: SLF001


def test_closed_or_missing_streams_are_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert _main._flush_streams(0) == 0  # noqa: SLF001


def test_messages_may_end_with_a_question_mark(tmp_path: Path) -> None:
    output = run("measure", write_people(tmp_path), *ONE, "--treshold", "1").stderr
    assert output == (
        "baserate: there is no option --treshold. Did you mean --threshold? Try: baserate measure --help\n"
    )


def test_options_after_two_dashes_are_no_commands() -> None:
    result = run("--", "--nope")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "there is no option --nope" in result.stderr


def test_unwritable_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_disk_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("baserate._files.write_text", raise_disk_full)
    result = run("measure", write_people(tmp_path), *ONE, "-o", tmp_path / "out.json", "-q")
    assert result.exit_code == 2
    assert result.stderr == (
        f"baserate: cannot write {tmp_path / 'out.json'} (No space left on device); name another file.\n"
    )


def test_progress_goes_to_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Event()
    terminal = Terminal(drawn=drawn)
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_bar(lambda: 50.0, after=0, every=0.001):
        assert drawn.wait(60)
    assert "50%" in terminal.getvalue()


def test_a_curve_of_labels_and_of_two_models_is_titled(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    labels = run("curve", "roc", path, "--truth", "sick", "--predicted", "says", "-q").stdout
    assert "says ≥" in labels
    both = run("curve", "roc", path, *ONE, "--score", "old", "-q").stdout
    assert both.index("risk ≥") < both.index("old ≥")
    assert both.count("FPR") == 2


@pytest.mark.parametrize(("rows", "noted"), [(24, False), (25, True)])
def test_curve_at_the_limit_of_points_is_complete(rows: int, *, noted: bool, tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    path.write_text("y,p\n" + "".join(f"{at % 2},{at / 100}\n" for at in range(rows)), encoding="utf-8")
    for form in ("table", "md"):
        output = run("curve", "roc", path, "--truth", "y", "--score", "p", "--positive", "1", "--format", form)
        assert ("are shown" in output.stderr) is noted
        assert output.stdout.count("0.") >= 25
        assert len([line for line in output.stdout.splitlines() if "." in line or "∞" in line]) <= 27


def test_several_files_are_named_in_the_headline(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    (tmp_path / "more.csv").write_bytes(path.read_bytes())
    assert run("measure", path, tmp_path / "more.csv", *ONE, "-q").stdout.startswith(
        "people.csv and 1 more · 20 rows · "
    )


def test_list_search_ignores_case() -> None:
    assert run("list", "curves", "PRECISION").stdout == run("list", "curves", "precision").stdout


def test_name_of_the_greatest_length_is_not_shortened() -> None:
    assert shorten_label("x" * 40) == "x" * 40
    assert len(shorten_label("x" * 41)) == 40
    assert "…" in shorten_label("x" * 41)


def test_full_width_letters_count_twice() -> None:
    assert display_width("Ａ") == 2


def test_backslashes_are_escaped_in_markdown() -> None:
    assert escape_markdown("a\\b") == "a\\\\b"


def test_counts_are_aligned_apart_from_rates() -> None:
    counts = Section("", (Row("few", ("0.2500", "1")), Row("many", ("1,268", "12.35"))), apart=True)
    rates = Section("", (Row("rate", ("0.123456789", "1")),))
    lines = unstyle(Page("", (Table("", ("a", "b"), (counts, rates)),)).text(100)).splitlines()
    few, many = (next(line for line in lines if line.strip().startswith(name)) for name in ("few", "many"))
    assert few.index("0.2500") + 1 == many.index("1,268") + 5
    assert few.rstrip().endswith("1")
    assert few.rindex("1") == many.index("12.35") + 1


def test_empty_names_between_commas_are_ignored(tmp_path: Path) -> None:
    query = ("measure", write_people(tmp_path), *ONE, "-q", "--format", "csv", "--measures")
    assert run(*query, "auc,,f1,").stdout == run(*query, "auc,f1").stdout


def test_repeated_thresholds_are_measured_once(tmp_path: Path) -> None:
    query = ("measure", write_people(tmp_path), *ONE, "-q", "--format", "csv", "--threshold", "0.5")
    assert run(*query, "--threshold", "0.50").stdout == run(*query).stdout


def test_json_and_format_json_agree(tmp_path: Path) -> None:
    query = ("measure", write_people(tmp_path), *ONE, "-q", "--json")
    assert run(*query, "--format", "json").stdout == run(*query).stdout


def test_endings_ignore_case(tmp_path: Path) -> None:
    run("measure", write_people(tmp_path), *ONE, "-q", "-o", tmp_path / "out.JSON")
    assert (tmp_path / "out.JSON").read_text(encoding="utf-8").startswith("{")


def test_huge_and_tiny_numbers_are_written_with_an_exponent() -> None:
    output = [format_number(value, 4) for value in (1.5e14, 1.5e15, -1.5e15, 0.00012345, 0.000012345, -0.000012345)]
    assert output == ["150,000,000,000,000", "1.500e+15", "−1.500e+15", "0.0001234", "1.234e-05", "−1.234e-05"]


def test_progress_of_reading_unless_quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    from baserate.cli import _io

    query: list[bool] = []

    def watch(_: object, *, quiet: bool) -> nullcontext[None]:
        query.append(quiet)
        return nullcontext()

    monkeypatch.setattr(_io, "progress_bar", watch)
    run("measure", write_people(tmp_path), *ONE)
    run("measure", write_people(tmp_path), *ONE, "-q")
    assert query == [False, True]


def test_files_ignore_the_terminal_width(tmp_path: Path) -> None:
    for width in ("60", "140"):
        run("measure", write_people(tmp_path), *ONE, "-q", "-o", tmp_path / f"{width}.txt", env={"COLUMNS": width})
    assert (tmp_path / "60.txt").read_bytes() == (tmp_path / "140.txt").read_bytes()


def test_current_folder_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_people(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run("measure", ".", *ONE, "-q").stdout.startswith(". · 10 rows · ")


def test_completion_after_an_error_is_silent() -> None:
    words = "baserate meazure x"
    done = run_program(env={"_BASERATE_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "2"})
    assert "there is no command" not in done.stderr
    assert done.stdout.strip() == ""


def test_pipes_are_utf_8_in_any_locale() -> None:
    done = run_program("measure", "--help", env={"PYTHONIOENCODING": "latin-1"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "β of f-beta" in done.stdout


def test_long_texts_break_at_spaces() -> None:
    panel = Table("corner", ("value",), (Section("", (Row("first", ("1",)),)),))
    shown_ = unstyle(Page("10 rows · a-file-with-a-long-name.csv", (panel,), ("¹ " + "word " * 20,)).text(30))
    assert shown_.splitlines()[:2] == ["10 rows ·", "a-file-with-a-long-name.csv"]
    assert max(map(display_width, shown_.splitlines())) <= 30


def test_probabilities_and_other_scores_share_a_table(tmp_path: Path) -> None:
    typed = ("measure", write_people(tmp_path), *ONE, "--score", "times", "--threshold", "0.5", "-q")
    for more, apiece in (("--no-interval", 1), ("--level=0.9", 4)):
        result = run(*typed, more)
        assert result.exit_code == 0
        lines = [line.split() for line in unstyle(result.stdout).splitlines()]
        assert next(len(words) for words in lines if words[:1] == ["Brier"]) == 1 + apiece
        assert next(len(words) for words in lines if words[:1] == ["AUC"]) == 1 + 2 * apiece
