"""Messages go to stderr, state a remedy with flags, and end with the right exit code."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from baserate import DataError
from baserate._errors import BaserateError, OptionError, advice, keyword
from baserate.cli import VERBS, _terminal, main
from baserate.cli._errors import exit_code, render_for_shell
from tests.cli.shell import run, run_program, write_people

ONE = ("--truth", "sick", "--score", "risk")


def test_inferred_positive_class_is_printed(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    inferred = run("measure", path, *ONE)
    assert inferred.stderr == "positive = 1, inferred; name it with --positive.\n"
    assert inferred.stdout.startswith("people.csv · 10 rows · positive: sick = 1 · prevalence 40.00%\n")
    assert run("measure", path, *ONE, "--positive", "1").stderr == ""


def test_headline_goes_to_stderr_beside_data(tmp_path: Path) -> None:
    output = "people.csv · 10 rows · positive: sick = 1 · prevalence 40.00%\n"
    typed = ("measure", write_people(tmp_path), *ONE, "--positive", "1")
    assert run(*typed, "--json").stderr == output
    assert run(*typed, "--format", "csv").stderr == output
    assert run(*typed, "-o", tmp_path / "out.txt").stderr == output


def test_dropped_rows_and_notes_are_printed(tmp_path: Path) -> None:
    path = tmp_path / "holes.csv"
    path.write_text("y,p\n1,7\n0,\n,3\n0,2\n", encoding="utf-8")
    typed = ("measure", path, "--truth", "y", "--score", "p", "--positive", "1", "--missing", "drop")
    output = "holes.csv · 2 of 4 rows (2 dropped: y: 1 missing; p: 1 missing) · positive: y = 1"
    note = "note: p runs from 2 to 7, so its scores are not probabilities;"
    assert run(*typed).stdout.startswith(output)
    assert run(*typed, "--json").stderr.startswith(output)
    lines = run(*typed).stderr.splitlines()
    assert lines[0].startswith(note)
    assert lines[0].endswith("State a threshold for them.")
    for name in ("kept.md", "kept.txt"):  # what is kept says it too
        run(*typed, "-o", tmp_path / name)
        assert note in (tmp_path / name).read_text(encoding="utf-8")
    assert run(*typed, "--quiet").stderr == ""
    assert run(*typed, "-q").stdout == run(*typed).stdout


def test_notes_follow_the_results_and_are_wrapped_on_terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("y,p\n1,7\n0,2\n", encoding="utf-8")
    typed = ("measure", path, "--truth", "y", "--score", "p", "--positive", "1")
    plain = run(*typed)
    assert plain.stdout + plain.stderr == plain.output
    assert len(plain.stderr.splitlines()) == 2
    with monkeypatch.context() as patch:
        patch.setattr(_terminal, "_is_terminal", lambda stream: stream is sys.stderr)
        patch.setattr(_terminal, "_columns", lambda _stream: 44)
        wrapped = run(*typed).stderr
    assert max(map(len, wrapped.splitlines())) <= 44
    assert wrapped.split() == plain.stderr.split()


def test_thinned_curves_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("y,p\n" + "".join(f"{at % 2},{at / 1000}\n" for at in range(999)), encoding="utf-8")
    typed = ("curve", "roc", path, "--truth", "y", "--score", "p", "--positive", "1")
    shown = run(*typed)
    assert shown.stderr == (
        "note: at most 25 of up to 1,000 points of each curve are shown; --points N shows more, --format csv all.\n"
    )
    assert len(shown.stdout.splitlines()) == 3 + 25
    assert "points" not in run(*typed, "--points", "30").stderr
    assert "points" not in run(*typed, "--json").stderr
    assert len(run(*typed, "--format", "csv").stdout.splitlines()) == 1001


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        (
            ("meazure",),
            2,
            "there is no command 'meazure'. Did you mean `baserate measure`? Try: baserate --help",
        ),
        (("measure",), 2, "missing argument 'FILE...'. Try: baserate measure --help"),
        (
            ("measure", "FILE", "--truth", "sick", "--score", "risc"),
            2,
            "there is no column 'risc'. Did you mean 'risk' or",
        ),
        (
            ("measure", "FILE", *ONE, "--measures", "acu"),
            2,
            "there is no measure 'acu'. Did you mean 'auc' or 'accuracy'? `",
        ),
        (("measure", "FILE", *ONE, "--measures", ","), 2, "invalid value for '--measures': there is no name in it;"),
        (("measure", "FILE", *ONE, "--treshold", "1"), 2, "there is no option --treshold. Did you mean --threshold"),
        (("measure", "FILE", *ONE, "--threshold", "nan"), 2, "invalid value for '--threshold': 'nan' is not a number"),
        (("measure", "FILE", *ONE, "--threshold", "x"), 2, "invalid value for '--threshold': 'x' is not a number"),
        (("measure", "FILE", *ONE, "--json", "--format", "csv"), 2, "--json and --format csv are two formats;"),
        (("measure", "FILE", *ONE, "--digits", "0"), 2, "invalid value for '--digits':"),
        (("curve", "rok", "FILE", *ONE), 2, "invalid value for 'CURVE': 'rok' is not one of"),
        (("curve", "roc", "FILE", *ONE, "--points", "1"), 2, "invalid value for '--points':"),
        (
            ("curve", "roc", "FILE", *ONE, "--band", "--level", "1"),
            2,
            "invalid value for '--level': '1' is not a confidence",
        ),
        (
            ("curve", "roc", "FILE", *ONE, "--level", "0.9"),
            2,
            "--level is the confidence level of a band; add --band",
        ),
        (("curve", "pr", "FILE", *ONE, "--simultaneous"), 2, "--simultaneous is for roc and det; take --band for pr"),
        (("list", "curvez"), 2, "invalid value for 'KIND': 'curvez' is not one of 'measures', "),
        (("list", "measures", "zebra"), 2, "no name or description among the measures contains 'zebra'; "),
        (("measure", "nowhere.csv", *ONE), 2, "there is no file nowhere.csv."),
        (("--nope",), 2, "there is no option --nope. Try: baserate --help"),
        (
            ("measure", "FILE", "--truth", "sex", "--score", "risk"),
            3,
            "truth has the labels 'f', 'm'; name the positive",
        ),
        (("measure", "FILE", "--truth", "sick", "--score", "site"), 3, "10 of 10 values of site are not numbers"),
        (
            ("measure", "FILE", "--truth", "sick", "--score", "times", "--measures", "brier"),
            3,
            "4 rows have scores outside",
        ),
    ],
)
def test_errors_are_one_line_with_a_remedy_and_a_code(
    typed: tuple[str, ...], code: int, message: str, tmp_path: Path
) -> None:
    path = str(write_people(tmp_path))
    result = run(*(path if each == "FILE" else each for each in typed))
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr.startswith(f"baserate: {message}")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("mention", "shell"),
    [
        (keyword("positive", "sick"), "--positive sick"),
        (keyword("positive", "very sick"), "--positive 'very sick'"),
        (keyword("positive", 1), "--positive 1"),
        (keyword("positive", -0.5), "--positive -0.5"),
        (keyword("positive", value=False), "--positive False"),
        (keyword("positive", "x" * 200), "--positive …"),
        (keyword("smoothed", value=True), "--smoothed"),
        (keyword("weight"), "--weight"),
        (keyword("name"), "--name"),
        (keyword("discount", 5), "discount=5"),
        (advice("interval", "method='wald'", "wald"), "--interval wald"),
        (advice("of no interface", "call the function"), "call the function"),
        ("the weight=5 of a label", "the weight=5 of a label"),
    ],
)
def test_options_are_spelled_as_flags_of_the_command(mention: str, shell: str) -> None:
    flags = ["--positive", "--smoothed", "--weight", "--name"]
    assert render_for_shell(BaserateError("Wrong.", remedy=f"Give {mention}."), flags) == f"Wrong. Give {shell}."


def test_errors_can_be_renamed_for_another_data_set() -> None:
    error = OptionError(f"{keyword('score', 'p')} is no column", remedy=f"name {keyword('truth')}.", option="score")
    other = error.with_options({"score": "validation_score"}, where="validation", hint="Look there.")
    assert str(other) == "validation: validation_score='p' is no column; name truth=. Look there."
    assert (type(other), other.where, other.option) == (OptionError, "validation", "validation_score")


def test_errors_about_several_labels_name_flags(tmp_path: Path) -> None:
    typed = ("measure", write_people(tmp_path), "--truth", "site", "--score", "risk", "--positive", "hill")
    assert (
        "name the other class too, with --negative, and leave the other rows out with --missing drop."
        in run(*typed).stderr
    )


def broken(*_: object, **__: object) -> None:
    raise KeyError("gone")


def test_unexpected_errors_exit_with_4_and_are_traced_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("baserate.infer.summary", broken)
    result = run("measure", write_people(tmp_path), *ONE)
    assert result.exit_code == 4
    assert result.stderr == (
        "baserate: internal error: KeyError: 'gone'. This is a defect of baserate; rerun with --debug for the "
        "traceback.\n"
    )
    for typed in (
        ("--debug", "measure", write_people(tmp_path), *ONE),
        ("measure", write_people(tmp_path), *ONE, "--debug"),
    ):
        traced = run(*typed)
        assert traced.exit_code == 4
        assert traced.stderr.startswith("Traceback (most recent call last):\n")
        assert 'in broken\n    raise KeyError("gone")' in traced.stderr
        assert traced.stderr.endswith(result.stderr)


def test_usage_errors_are_traced_on_request(tmp_path: Path) -> None:
    typed = ("measure", write_people(tmp_path), "--truth", "sick", "--score", "site")
    assert "Traceback" not in run(*typed).stderr
    assert "Traceback" in run(*typed, "--debug").stderr


def test_system_errors_are_usage_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_disk_full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "out")

    monkeypatch.setattr("baserate.infer.summary", raise_disk_full)
    result = run("measure", write_people(tmp_path), *ONE)
    assert (result.exit_code, result.stderr) == (2, "baserate: the system refuses: No space left on device (out).\n")


def test_control_c_ends_with_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("baserate.infer.summary", raise_interrupt)
    result = run("measure", write_people(tmp_path), *ONE)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "baserate: interrupted.\n")


def test_control_c_stops_a_waiting_program(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "baserate", "measure", "-", *ONE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        # Of a shell in the background it would inherit that the signal is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (no other thread runs)
    ) as waiting:
        patience = monotonic() + 120
        while waiting.poll() is None and not list(tmp_path.glob("*/spooled-*")) and monotonic() < patience:
            sleep(0.01)  # until it has begun to store what comes in
        waiting.send_signal(signal.SIGINT)
        out, output = waiting.communicate()
    assert (waiting.returncode, out, output) == (130, "", "baserate: interrupted.\n")
    assert list(tmp_path.iterdir()) == []


def test_broken_pipe_is_no_error(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    path = write_people(tmp_path)
    left = subprocess.run(
        [sys.executable, "-m", "baserate", "curve", "roc", str(path), *ONE, "--json", "-q"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (left.returncode, left.stderr) == (141, "")


def test_successful_program_leaves_stderr_empty(tmp_path: Path) -> None:
    """Engines like to complain when the interpreter ends."""
    for form in ("table", "json"):
        done = run_program("measure", write_people(tmp_path), *ONE, "--group", "site", "-q", "--format", form)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout


def test_main_with_arguments_exits(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["list", "curves"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("curve\n  roc ")


def test_exit_codes_by_kind_of_error() -> None:
    assert (exit_code(DataError), exit_code(ValueError)) == (3, 4)


@pytest.mark.parametrize(
    ("env", "bold"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False),
    ],
)
def test_color_without_a_terminal(env: dict[str, str | None], *, bold: bool) -> None:
    assert ("\x1b[1m" in run("list", "curves", env=env).stdout) is bold


@pytest.mark.parametrize(("env", "bold"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_color_and_width_on_a_terminal(env: dict[str, str], *, bold: bool) -> None:
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    with subprocess.Popen(
        [sys.executable, "-m", "baserate", "list", "curves"], stdout=theirs, env={**clean, "TERM": "xterm", **env}
    ) as shown:
        os.close(theirs)
        observed = b""
        while chunk := _read(ours):
            observed += chunk
    os.close(ours)
    assert shown.returncode == 0
    assert (b"\x1b[1mcurve\x1b[0m" in observed) is bold
    assert b"sensitivity against fpr" in observed


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # a terminal says so when its other end is closed
        return b""


def test_every_command_takes_debug_and_help() -> None:
    for verb in VERBS:
        shown = run(verb, "--help").stdout
        assert f"Usage: baserate {verb}" in shown
        assert "--debug" in shown
        assert "Examples:" in shown


def test_confusion_matrix_is_never_transposed(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("y,p\nReadmitted within thirty days,0.9\nNot readmitted,0.1\n", encoding="utf-8")
    shown = run(*("measure", path, "--truth", "y", "--score", "p"), *("--positive", "Readmitted within thirty days"),
                env={"COLUMNS": "50"}).stdout  # fmt: skip
    table = shown.split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in table] == ["p", "positive", "negative", "total"]
    assert table[0].split()[-4:] == ["flagged", "not", "flagged", "total"]


def test_long_names_stay_distinct(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    name = "predicted probability of in-hospital mortality within thirty days"
    path.write_text(f"y,{name} (A),{name} (B)\n1,0.9,0.8\n0,0.1,0.3\n", encoding="utf-8")
    shown = run("measure", path, "--truth", "y", "--score", f"{name} (A)", "--score", f"{name} (B)").stdout
    assert "(A)" in shown
    assert "(B)" in shown


def test_group_called_everybody_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("y,p,g\n1,0.9,everybody\n0,0.1,nobody\n", encoding="utf-8")
    shown = run("measure", path, "--truth", "y", "--score", "p", "--group", "g", "--no-interval").stdout
    assert "everybody  'everybody'   nobody" in shown


def test_thresholds_accept_commas_and_the_printed_minus(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p\n1,0.9\n0,-0.5\n", encoding="utf-8")
    rows = json.loads(
        run("measure", path, "--truth", "y", "--score", "p", "--threshold", "−0.5, 0.1,∞", "--json").stdout
    )
    assert [row["threshold"] for row in rows["rows"] if row["measure"] == "tp"] == [-0.5, 0.1, "inf"]


def test_thresholds_are_shown_in_full(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,p\n1,0.99999998\n0,0.99999997\n", encoding="utf-8")
    shown = run("curve", "roc", path, "--truth", "y", "--score", "p").stdout
    assert "0.99999998" in shown
    assert "0.99999997" in shown


def test_unknown_endings_are_refused(tmp_path: Path) -> None:
    result = run("measure", write_people(tmp_path), *ONE, "-o", tmp_path / "out.xlsx")
    assert result.exit_code == 2
    assert "the ending .xlsx is not an output format" in result.stderr
    assert not (tmp_path / "out.xlsx").exists()


def test_missing_argument_is_one_line() -> None:
    result = run("completion")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "bash, zsh, fish" in result.stderr
