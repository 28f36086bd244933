"""Words that newcomers guess: each is accepted, or refused with the name that is meant or with the reason."""

import re
from pathlib import Path

import click
import pytest

from baserate._other_names import OTHER_NAMES, OTHER_OPTIONS
from baserate.cli import VERBS, app
from baserate.cli._unknown_options import REASONS
from tests.cli.shell import run, write_people
from tests.cli.test_declarations import COMMANDS, flags_of
from tests.schemas import read_results

ONE = ("--truth", "sick", "--score", "risk")
WORDS = ("prevalence", "sample-prevalence", "measures", "policy", "cluster", "group", "fp", "fn", "tp", "tn")
MORE_WORDS = ("threshold", "level", "seed", "n-bootstrap")
PAIRS = [(typed, word) for typed in COMMANDS for word in (*WORDS, *MORE_WORDS)]


@pytest.mark.parametrize(("typed", "word"), PAIRS, ids=lambda each: each if isinstance(each, str) else " ".join(each))
def test_every_command_has_each_word_or_says_why_not(typed: tuple[str, ...], word: str) -> None:
    flag = f"--{word}"
    if flag in flags_of(COMMANDS[typed]):
        return
    # This population cannot be made without a level.
    started = (*typed[:2], "--level", "ER+", *typed[2:]) if typed[:2] == ("population", "retrieval") else typed
    result = run(*started, flag, "x")
    assert result.exit_code == 2
    name = " ".join(typed)
    reason = re.fullmatch(
        rf"baserate: {flag} has no use in `baserate {name}`: ([a-z-].+)\. Try: baserate {name} --help\n", result.stderr
    ) or re.fullmatch(rf"baserate: {flag} belongs before .+\. Try: baserate {name} --help\n", result.stderr)
    assert reason, result.stderr


def test_commands_in_reasons_exist() -> None:
    reasons = [text for texts in REASONS.values() for text in texts.values()]
    commands = {typed for text in reasons for typed in re.findall(r"`baserate ([^`]+)`", text)}
    assert len(commands) > 15
    for typed in commands - {"--help"}:
        command: click.Command = app
        for word in filter(None, re.sub(r"--\S+ (?=\S+ \w)\S+ ", "", typed + " ").split()):
            if isinstance(command, click.Group):
                step = command.get_command(click.Context(command), word)
                assert step is not None, typed
                command = step
            elif word.startswith("--"):
                assert word in flags_of(command), typed
    for starts in REASONS.values():
        assert "" in starts
        for start in starts:
            assert not start or any(" ".join(typed).startswith(start) for typed in COMMANDS), start


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("plot", "`baserate draw`"),
        ("roc", "`baserate draw roc` or `baserate curve roc`"),
        ("auc", "`baserate measure --measures auc`"),
        ("roc_auc_score", "`baserate measure --measures auc`"),
        ("fairness", "`baserate groups`"),
        ("drift", "`baserate expect` or `baserate prevalence`"),
        ("monitor", "`baserate expect`"),
        ("dca", "`baserate benefit` or `baserate draw decision-curve`"),
        ("cutpointr", "`baserate decide --rule youden`"),
        ("platt", "`baserate calibrate --with logistic`"),
        ("Sample_Size", "`baserate size`"),
        ("policy", "`baserate decide` or `baserate show`"),
        ("sql", "`baserate export FILE --to sql`"),
        ("confusion-matrix", "`baserate measure`"),
        ("confusion matrix people.csv", "`baserate measure`"),
        ("decision curve people.csv --truth sick", "`baserate benefit`"),
        ("net benefit", "`baserate benefit`"),
        ("roc_auc_scor", "`baserate measure --measures auc`"),
        ("mesure people.csv", "`baserate measure`"),
        ("help", "`baserate --help`"),
    ],
)
def test_words_of_other_tools_suggest_commands(typed: str, meant: str) -> None:
    result = run(*typed.split())
    assert result.exit_code == 2
    assert f"there is no command {typed.split(maxsplit=1)[0]!r}. Did you mean {meant}" in result.stderr


def test_a_word_that_nothing_resembles_lists_all_commands() -> None:
    assert f"There are: {', '.join(VERBS)}." in run("xyzzy").stderr


@pytest.mark.parametrize("word", [each for each in OTHER_NAMES if OTHER_NAMES[each].commands])
def test_every_word_of_the_table_suggests_its_commands(word: str) -> None:
    if word.replace("_", "-") in VERBS:
        return
    assert all(f"baserate {each}" in run(word).stderr for each in OTHER_NAMES[word].commands)


@pytest.mark.parametrize(
    ("command", "typed", "meant"),
    [
        ("measure", "--pos-label", "--positive"),
        ("measure", "--cutoff", "--threshold"),
        ("measure", "--y-true", "--truth"),
        ("measure", "--y_score", "--score"),
        ("groups", "--sensitive-features", "--group"),
        ("measure", "--ci", "--level"),
        ("shift", "--prior", "--prevalence"),
        ("shift", "--to", "--prevalence"),
        ("measure", "--metric", "--measures"),
        ("measure", "--measure", "--measures"),
        ("decide", "--bootstrap", "--n-bootstrap"),
        ("measure", "--random-state", "--seed"),
        ("decide", "--cost-fn", "--fn"),
        ("measure", "--sample-weight", "--weight"),
        ("benefit", "--cutoffs", "--thresholds"),
        ("calibrate", "--method", "--with"),
        ("decide", "--method", "--rule"),
        ("measure", "--treshold", "--threshold"),
        ("draw roc", "--base-rate", "--prevalence"),
    ],
)
def test_options_of_other_tools_suggest_ours(command: str, typed: str, meant: str) -> None:
    result = run(*command.split(), "people.csv", typed, "x")
    assert result.exit_code == 2
    words = re.escape(f"there is no option {typed}. Did you mean {meant}") + r"( or --[a-z-]+)?\? Try: baserate "
    assert re.search(words, result.stderr), result.stderr


def test_options_of_other_tools_name_options_that_exist() -> None:
    flags = {flag for command in COMMANDS.values() for flag in flags_of(command)}
    for names in OTHER_OPTIONS.values():
        for name in names:
            assert f"--{name.replace('_', '-')}" in flags | {"--alpha", "--measure"}, name


def test_a_word_of_another_tool_that_a_command_lacks_has_the_reason() -> None:
    result = run("apply", "policy.json", "x.csv", "-o", "-", "--prior", "2%")
    assert (
        "there is no option --prior, which is --prevalence in other commands. --prevalence has no use" in result.stderr
    )
    assert "use `baserate measure --threshold` for one." in run("curve", "roc", "x.csv", "--treshold", "1").stderr


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--truth", "sick", "measure"), "--truth belongs after the command, as in: baserate COMMAND … --truth …"),
        (
            ("draw", "--score", "x", "roc"),
            "--score belongs after the command, as in: baserate draw COMMAND … --score …",
        ),
        (
            ("population", "linear", "measure", "--prevalence", "2%"),
            "--prevalence belongs before measure, as in: baserate population linear --prevalence … measure",
        ),
    ],
)
def test_options_at_the_wrong_place_are_sent_to_theirs(typed: tuple[str, ...], message: str) -> None:
    result = run(*typed)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("decide", *ONE, "--rule", "cutpointr"), "'youden'"),
        (("decide", *ONE, "--rule", "TunedThresholdClassifierCV"), "'youden'"),
        (("calibrate", *ONE, "--with", "CalibratedClassifierCV"), "'logistic' or 'isotonic'"),
        (("calibrate", *ONE, "--with", "betacal"), "'beta'"),
        (("equalize", *ONE, "--group", "sex", "--parity", "EqOddsPostprocessing"), "'equalized-odds'"),
        (("equalize", *ONE, "--group", "sex", "--parity", "fairness"), "'equalized-odds'"),
        (("curve", "roc_curve", *ONE), "'roc'"),
        (("curve", "calibration", *ONE), "`baserate reliability`"),
        (("draw", "roc_curv", *ONE), "roc"),
    ],
)
def test_names_of_other_tools_suggest_ours(typed: tuple[str, ...], meant: str, tmp_path: Path) -> None:
    result = run(*typed, write_people(tmp_path))
    assert result.exit_code == 2
    assert f"Did you mean {meant}" in result.stderr


@pytest.mark.parametrize(
    ("typed", "name"),
    [("roc_auc_score", "auc"), ("brier_score_loss", "brier"), ("ppv", "precision"), ("aps", "average_precision")],
)
def test_measures_have_their_other_names(typed: str, name: str, tmp_path: Path) -> None:
    people = write_people(tmp_path)
    outputs = (run("measure", *ONE, "--measures", each, people, "--json", "-q").stdout for each in (typed, name))
    other, own = map(read_results, outputs)
    assert other["data"].pop("names") == {name: typed}
    assert other == own
    assert name in {row["measure"] for row in other["rows"]}


def test_figures_have_their_other_names(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    people = write_people(tmp_path)
    for name in ("roc", "roc_curve", "receiver-operating-characteristic"):
        assert run("draw", name, people, *ONE, "-o", tmp_path / f"{name}.csv").exit_code == 0
    assert (tmp_path / "roc.csv").read_text() == (tmp_path / "roc_curve.csv").read_text()


@pytest.mark.parametrize("columns", [("risk,old",), ("risk", "old"), ('"risk",old',), ("risk, old",)])
def test_columns_are_listed_with_commas_or_repeated(columns: tuple[str, ...], tmp_path: Path) -> None:
    people = write_people(tmp_path)
    scores = [word for each in columns for word in ("--score", each)]
    result = run("measure", people, "--truth", "sick", *scores, "--group", "sex,site", "--json", "-q")
    expected = ("--score", "risk", "--score", "old", "--group", "sex", "--group", "site")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == run("measure", people, "--truth", "sick", *expected, "--json", "-q").stdout


def test_names_of_columns_may_have_commas_in_quotes(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text('sick,"risk, new"\n1,0.9\n0,0.4\n1,0.6\n0,0.2\n', encoding="utf-8")
    assert run("measure", path, "--truth", "sick", "--score", '"risk, new"').exit_code == 0
    shown = run("report", path, "--truth", "sick", "--score", '"risk, new"')
    assert shown.exit_code == 0, shown.stderr
    suggested = [line.strip() for line in shown.stdout.replace("\\\n", " ").splitlines() if "--score" in line]
    assert suggested
    for line in suggested:
        assert "'\"risk, new\"'" in line
