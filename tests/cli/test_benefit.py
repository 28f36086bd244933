"""`baserate benefit`: snapshots, JSON and CSV, messages, and refused options."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from baserate import decide, read
from baserate.cli._decision_curves import FEW, MOST, steps
from tests.cli.shell import PEOPLE, fits_terminal, matches_snapshot, run, run_program, write_people
from tests.schemas import read_results

ONE = ("--truth", "sick", "--score", "risk")
TWO = (*ONE, "--score", "old")

VIEWS: dict[str, tuple[str, ...]] = {
    "benefit": ONE,
    "benefit-at": (*TWO, "--thresholds", "0,0.1,25%", "--thresholds", "0.5"),
    "benefit-groups": (*ONE, "--thresholds", "0.05:0.35", "--points", "4", "--group", "sex"),
    "benefit-plain": (*ONE, "--no-interval", "--thresholds", "0.01:0.2"),
    "benefit-md": (*ONE, "--thresholds", "0.1,0.25", "--prevalence", "15%", "--level", "0.9", "--format", "md"),
    "benefit-labels": ("--truth", "sick", "--predicted", "says", "--thresholds", "0.2,0.9"),
    "benefit-compare": (*TWO, "--compare"),
    "benefit-harm": (*TWO, "--harm", "risk=0.02", "--thresholds", "0.1,0.25", "--simultaneous"),
    "benefit-reduction": (*ONE, "--kind", "net-reduction", "--thresholds", "0,0.1,0.25"),
    "benefit-standardized": (*ONE, "--kind", "standardized", "--thresholds", "0.1,0.25"),
    "benefit-compare-groups": (*TWO, "--compare", "--thresholds", "0.2,0.5", "--group", "site", "--weight", "w"),
}


def run_json(*typed: object, given: str | None = None) -> dict[str, Any]:
    result = run("benefit", *typed, "--json", "-q", given=given)
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run("benefit", write_people(tmp_path), *VIEWS[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("benefit", "--help").stdout, "help-benefit")


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "benefit-md"])
def test_pages_fit_the_terminal(name: str, tmp_path: Path) -> None:
    assert fits_terminal("benefit", write_people(tmp_path), *VIEWS[name], widths=(50, 80, 100, 140))


def test_numbers_equal_those_computed_by_hand(tmp_path: Path) -> None:
    # Of ten people at 0.25: three of the four sick are flagged, and four of the six others.
    output = run_json(write_people(tmp_path), *ONE, "--thresholds", "0.25")
    rows = {row["strategy"]: row for row in output["rows"]}
    assert rows["model"]["net_benefit"] == pytest.approx(0.3 - 0.4 / 3)
    assert rows["all"]["net_benefit"] == pytest.approx(0.4 - 0.6 / 3)
    assert rows["none"]["net_benefit"] == 0
    assert rows["model"]["net_reduction"] == pytest.approx((0.3 - 0.4 / 3 - 0.2) * 3)
    assert rows["model"]["flag_rate"] == 0.7
    assert rows["model"]["low"] < rows["model"]["net_benefit"] < rows["model"]["high"]
    assert output["data"]["useful"] == [{"model": None, "group": None, "ranges": []}]
    line = run("benefit", write_people(tmp_path), *ONE, "--thresholds", "0.25", "--no-interval").stdout.splitlines()[4]
    assert line.split() == ["0.25", "0.1667", "0.2000", "0", "−10.00", "0.7000"]


def test_thresholds_above_both_defaults_are_marked(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    shown = run("benefit", path, *ONE, "--points", "99", "--no-interval", "-q").stdout.splitlines()
    marked = [float(line.split()[0]) for line in shown if line.startswith("  0") and "*" in line]
    rows = run_json(path, *ONE)["rows"]
    worth = {(row["strategy"], row["threshold"]): row["net_benefit"] for row in rows}
    thresholds_of = [row["threshold"] for row in rows if row["strategy"] == "model"]
    best = [at for at in thresholds_of if worth["model", at] > max(worth["all", at], 0) + 1e-12]
    assert marked == best
    assert (
        "* higher net benefit than flagging all and flagging none: risk from 0.06 to 0.22, from 0.31 to 0.59,"
        in "\n".join(shown)
    )


def test_tables_show_few_thresholds_and_csv_all(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    shown = run("benefit", path, *ONE, "--positive", "1")
    assert sum(line.startswith("  0") for line in shown.stdout.splitlines()) == 19
    output = "19 of 99 thresholds are shown; --thresholds or --points shows others, --format csv all."
    assert shown.stderr == f"note: {output}\n"
    assert "shown" not in run("benefit", path, *ONE, "--json").stderr
    assert "shown" not in run("benefit", path, *ONE, "--points", "30").stderr
    target = tmp_path / "curve.csv"
    assert run("benefit", path, *ONE, "-o", target).stdout == ""
    rows = list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"))))
    assert len(rows) == 3 * 99
    expected = decide.net_benefit_curve(read.tallies(path, truth="sick", score="risk"))
    assert [float(row["net_benefit"]) for row in rows] == list(expected.columns["net_benefit"])


def test_thresholds_of_a_list_or_a_range(tmp_path: Path) -> None:
    path = write_people(tmp_path)

    def thresholds_of(*typed: str) -> list[float]:
        return [row["threshold"] for row in run_json(path, *ONE, *typed)["rows"] if row["strategy"] == "none"]

    assert thresholds_of("--thresholds", "5%:0.35", "--points", "4") == [0.05, 0.15, 0.25, 0.35]
    assert thresholds_of("--points", "3") == [0.01, 0.5, 0.99]
    assert thresholds_of("--thresholds", "0.9:0.99") == [(900 + at) / 1000 for at in range(91)]
    assert thresholds_of("--thresholds", "0.5,0,0.5", "--thresholds", "20%") == [0, 0.2, 0.5]


@given(st.tuples(st.integers(0, 9_999), st.integers(0, 9_999)).filter(lambda ends: ends[0] != ends[1]))
def test_shown_thresholds_are_among_all_thresholds(ends: tuple[int, int]) -> None:
    low, high = (each / 10_000 for each in sorted(ends))
    few, every = (steps(low, high, most=most) for most in (FEW, MOST))
    for each, most in ((few, FEW), (every, MOST)):
        assert each == sorted(set(each))
        assert most / 3 < len(each) <= most
        assert (each[0], each[-1]) == (low, high)
    assert set(few) <= set(every)


def test_case_control_sample_at_a_stated_prevalence(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json(path, *ONE, "--thresholds", "0.25", "--prevalence", "0.15", "--keep-scores")
    rows = {row["strategy"]: row for row in output["rows"]}
    assert rows["model"]["net_benefit"] == pytest.approx(0.15 * 3 / 4 - 0.85 * 4 / 6 / 3)
    assert rows["all"]["net_benefit"] == pytest.approx(0.15 - 0.85 / 3)
    assert rows["all"]["low"] == rows["all"]["net_benefit"] == rows["all"]["high"]
    assert (output["data"]["prevalence"], output["data"]["deployment"]) == (0.4, {"prevalence": 0.15})
    assert output["data"]["scores"] == {"adjusted": False, "sample_prevalence": None, "prevalence": 0.15}
    shown = run("benefit", path, *ONE, "--prevalence", "0.15", "--keep-scores")
    assert "classes are reweighted to a prevalence of 15%" in shown.stderr
    assert "scores not adjusted to 15.00% prevalence" in shown.stdout


def test_scores_are_adjusted_to_the_stated_prevalence(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    here = read.tallies(path, truth="sick", score="risk")
    for typed, options in (
        (("--prevalence", "0.15"), {"prevalence": 0.15}),
        (("--prevalence", "0.15", "--adjust-scores"), {"prevalence": 0.15}),
        (("--prevalence", "15%", "--sample-prevalence", "50%"), {"prevalence": 0.15, "sample_prevalence": 0.5}),
        (("--sample-prevalence", "0.5"), {"sample_prevalence": 0.5}),
    ):
        output = run_json(path, *ONE, *typed)
        wanted = decide.net_benefit_curve(here, **options)  # type: ignore[call-overload]
        assert [row["net_benefit"] for row in output["rows"]] == list(wanted.columns["net_benefit"])
        assert output["data"]["scores"] == wanted.data["scores"]
        assert wanted.data["scores"]["adjusted"]
    shown = run("benefit", path, *ONE, "--prevalence", "0.15")
    assert "scores adjusted from 40.00% to 15.00% prevalence" in shown.stdout
    assert "classes and scores were adjusted to a prevalence of 15%, the scores from 40%" in shown.stderr
    assert "adjusted" not in run("benefit", path, *ONE).stdout


def test_groups_are_read_from_stdin() -> None:
    output = run_json("-", *TWO, "--thresholds", "0.3", "--group", "sex", "--no-interval", given=PEOPLE)
    which = [(row["model"], row["group"] and row["group"]["sex"]) for row in output["rows"] if row["strategy"] == "all"]
    assert which == [(model, sex) for model in ("risk", "old") for sex in (None, "f", "m")]
    assert {(row["low"], row["level"]) for row in output["rows"]} == {(None, None)}
    assert len(output["data"]["useful"]) == 6


def test_differences_between_models(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json(path, *TWO, "--compare", "--level", "90%")
    assert (len(output["rows"]), output["data"]["level"]) == (99, 0.9)
    apart = run_json(path, *TWO)["rows"]
    worth = {(row["model"], row["threshold"]): row["net_benefit"] for row in apart if row["strategy"] == "model"}
    for row in output["rows"]:
        assert (row["model"], row["against"]) == ("risk", "old")
        both = worth["risk", row["threshold"]] - worth["old", row["threshold"]]
        assert row["difference"] == pytest.approx(both, abs=1e-12)
        assert row["low"] <= row["difference"] <= row["high"]


def test_significant_differences_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "sure.csv"
    lines = [f"{at % 2},{0.9 if at % 2 else 0.1},0.5\n" for at in range(200)]
    path.write_text("sick,risk,old\n" + "".join(lines), encoding="utf-8")
    shown = run("benefit", path, *TWO, "--compare", "--thresholds", "0.05,0.3", "-q").stdout.splitlines()
    assert shown[4].split()[:2] == ["0.05", "0"]  # both flag all
    assert shown[5].split()[:2] == ["0.3", "0.2143*"]  # what all others cost: half of 3 / 7
    assert "* the interval excludes 0 (pointwise)" in shown


def test_harm_kind_and_bands_are_those_of_decide(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    both = read.tallies(path, truth="sick", score=["risk", "old"])
    output = run_json(path, *TWO, "--harm", "risk=2%", "--harm", "old=0.01", "--simultaneous", "--seed", "5")
    harm = {"risk": 0.02, "old": 0.01}
    wanted = decide.net_benefit_curve(both, harm=harm, simultaneous=True, seed=5)
    assert [row["low"] for row in output["rows"]] == list(wanted.columns["low"])
    assert (output["data"]["harm"], output["data"]["simultaneous"]) == (harm, True)
    shown = run("benefit", path, *TWO, "--harm", "0.02", "--thresholds", "0.1")
    assert "a test harm of 0.02 was subtracted from the net benefit of models" in shown.stderr
    assert "the harm of testing was subtracted" in shown.stdout
    rows = read.rows(path, truth="sick", score=["risk", "old"])
    apart = run_json(path, *TWO, "--compare", "--harm", "risk=0.02", "--simultaneous", "--thresholds", "0.1,0.5")
    expected = decide.net_benefit_difference(rows, thresholds=[0.1, 0.5], harm={"risk": 0.02}, simultaneous=True)
    assert [row["high"] for row in apart["rows"]] == list(expected.columns["high"])
    # Of 100 people: the negatives that are not flagged, less three for each positive that is missed.
    line = run("benefit", path, *ONE, "--thresholds", "0.25", "--no-interval", "--kind", "net-reduction").stdout
    assert line.splitlines()[4].split() == ["0.25", "−10.00", "0", "−60.00", "0.7000"]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            ("--thresholds", "1"),
            "'1' is not a threshold probability; expected 0 or a number from 1e-12 to 1 - 1e-12, such as 0.05 or 5%.",
        ),
        (("--thresholds", "5,10"), "'5' is not a threshold probability"),
        (("--harm", "2"), "'2' is not a harm; expected a number from 0 to 1, such as 0.01, or risk=0.01."),
        (("--harm", "0.1", "--harm", "risk=0.1"), "--harm is of all models, or of each by name"),
        (("--harm", "risk=0.1", "--harm", "risk=0.2"), "--harm states 'risk' twice"),
        (("--simultaneous", "--no-interval"), "--simultaneous is a band; leave out either it or --no-interval"),
        (("--seed", "1"), "--seed is for simultaneous bands; add --simultaneous"),
        (("--compare", "--score", "old", "--kind", "standardized"), "--compare is of net benefit"),
        (("--thresholds", "0.1,"), "'' is not a threshold probability"),
        (("--thresholds", "nan"), "'nan' is not a threshold probability"),
        (("--thresholds", "-0.1"), "'-0.1' is not a threshold probability"),
        (("--thresholds", "1%:100%"), "'100%' is not a threshold probability"),
        (
            ("--thresholds", "0.1", "--thresholds", "5%:9%"),
            "a range of thresholds stands alone; give one range, or a list.",
        ),
        (("--thresholds", "0.1", "--points", "5"), "--points is for a range of thresholds; leave it out"),
        (("--thresholds", "0.3:0.3"), "'0.3:0.3' is an empty range; write the lower end first, such as 5%:35%."),
        (("--thresholds", "0.1,0.2:0.3"), "'0.1,0.2:0.3' is neither a list such as 5%,10% nor a range such as 5%:35%."),
        (("--points", "1"), "1 is not in the range 2<=x<="),
        (("--prevalence", "0"), "'0' is not a prevalence; expected a prevalence from 1e-12 to 1 - 1e-12"),
        (("--level", "0.9", "--no-interval"), "--level is for intervals; leave out either it or --no-interval."),
        (("--compare",), "--compare needs two models: repeat --score, or leave out --compare."),
        (("--compare", "--score", "old", "--no-interval"), "a difference has an interval"),
        (("--compare", "--score", "old", "--prevalence", "0.1"), "--compare is at the prevalence of the rows"),
        (("--keep-scores",), "--keep-scores is for --prevalence; state it, or leave out --keep-scores."),
        (("--prevalence", "0.1", "--keep-scores", "--sample-prevalence", "0.5"), "contradict each other"),
        (("--sample-prevalence", "1"), "'1' is not a prevalence"),
        (("--compare", "--score", "old", "--sample-prevalence", "0.5"), "--compare does not adjust scores"),
        (("--score", "nothing"), "there is no column 'nothing'"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("benefit", write_people(tmp_path), *ONE, *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_scores_outside_0_to_1_exit_with_3(tmp_path: Path) -> None:
    path = tmp_path / "log-odds.csv"
    path.write_text("sick,risk,old\n1,2.5,1\n0,-1,0.1\n", encoding="utf-8")
    for more in ((), ("--score", "old", "--compare")):
        result = run("benefit", path, *ONE, *more)
        assert (result.exit_code, result.stdout) == (3, "")
        assert "scores outside [0, 1] (from -1 to 2.5), so the scores are not probabilities." in result.stderr
        assert "make them probabilities with `baserate calibrate`." in result.stderr


def test_group_of_one_class_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("y,p,g\n1,0.9,a\n0,0.1,a\n0,0.3,b\n", encoding="utf-8")
    rows = run_json(path, "--truth", "y", "--score", "p", "--group", "g", "--thresholds", "0.2")["rows"]
    alone = [row for row in rows if row["group"] == {"g": "b"} and row["strategy"] == "model"]
    assert [(row["net_benefit"], row["standardized"]) for row in alone] == [(pytest.approx(-0.25), None)]
    assert {row["why"] for row in alone} == {"there are no positives, so the net benefit is not standardized"}


@pytest.mark.slow
def test_installed_program_prints_the_same() -> None:
    result = run_program("benefit", "-", *ONE, "--thresholds", "0.25", "--json", given=PEOPLE)
    assert result.returncode == 0
    assert read_results(result.stdout)["rows"][0]["net_benefit"] == pytest.approx(1 / 6)
    assert "stdin · 10 rows" in result.stderr
