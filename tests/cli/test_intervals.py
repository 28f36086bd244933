"""Intervals on the command line: methods, layout, and refused options."""

import csv
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click import unstyle

from baserate import infer, read
from baserate.text._pivot import format_bounds
from baserate.text._tables import IntervalCell, Page, Row, Section, Table, display_width
from tests.cli.shell import run, write_people
from tests.schemas import check_schema
from tests.tiers import take_in_tiers

ONE = ("--truth", "sick", "--score", "risk")


def run_json(*typed: object) -> dict[str, Any]:
    """What a command gives as JSON, which must fit the schema."""
    result = run("measure", *typed, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    actual: dict[str, Any] = json.loads(result.stdout)
    check_schema(actual)
    return actual


def row(result: dict[str, Any], measure: str) -> dict[str, Any]:
    (only,) = (row for row in result["rows"] if row["measure"] == measure)
    return dict(only)


def test_intervals_are_those_of_the_library(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    interval = infer.IntervalOptions(level=0.8, method="jeffreys", seed=7)
    result = run_json(path, *ONE, "--level", "0.8", "--interval", "jeffreys", "--seed", "7")
    assert result == json.loads(
        infer.summary(read.tallies(path, truth="sick", score="risk"), interval=interval).to_json()
    )
    assert result["data"]["interval"] == {"level": 0.8, "method": "jeffreys", "seed": 7, "clusters": None}
    assert row(result, "sensitivity")["how"] == "Jeffreys"
    assert row(result, "auc")["how"] != "Jeffreys"  # it knows no such method


def test_three_of_four_have_the_published_clopper_pearson_interval(tmp_path: Path) -> None:
    shown = run("measure", write_people(tmp_path), *ONE, "-q", "--explain").stdout
    assert re.search(r"sensitivity +0\.7500 +0\.1941 – 0\.9937 ", shown)  # 3 of 4
    assert "95% intervals: Clopper–Pearson for shares; " in shown


def test_definitions_and_methods_are_shown_on_request(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    brief, full = (run("measure", path, *ONE, "-q", *more).stdout for more in ((), ("--explain",)))
    hint = "Intervals: 95% confidence. Methods and definitions: add --explain.\n"
    assert brief.endswith(f"\n\n{hint}")
    assert "Clopper" not in brief
    assert "that are flagged" not in brief
    assert "add --explain" not in full
    numbers = [re.findall(r"\d\.\d{3,}", text.partition("Clopper")[0]) for text in (brief, full)]
    assert numbers[0] == numbers[1]
    bare = run("measure", path, *ONE, "-q", "--no-interval", "--measures", "auc").stdout
    assert bare.endswith("\n\nMethods and definitions: add --explain.\n")
    page = run("measure", path, *ONE, "-q", "--format", "md").stdout
    assert "Clopper–Pearson" in page
    assert "--explain" not in page
    assert run("measure", path, *ONE, "-q", "--format", "md", "--explain").stdout == page


@pytest.mark.parametrize("typed", take_in_tiers(["0.9", "90%", "90 %", ".9"], 2))
def test_level_may_be_a_share_or_a_percentage(typed: str, tmp_path: Path) -> None:
    result = run_json(write_people(tmp_path), *ONE, "--level", typed)
    assert result["data"]["interval"]["level"] == pytest.approx(0.9)
    assert "90% interval" in run("measure", write_people(tmp_path), *ONE, "--level", typed).stdout


def test_a_higher_level_gives_wider_intervals(tmp_path: Path) -> None:
    low, high = (run_json(write_people(tmp_path), *ONE, "--level", level)["rows"] for level in ("0.5", "0.99"))
    pairs = [(a, b) for a, b in zip(low, high, strict=True) if a["low"] is not None]
    assert len(pairs) == 15
    assert all(float(b["low"]) <= float(a["low"]) <= float(a["high"]) <= float(b["high"]) for a, b in pairs)


def test_only_bootstrap_intervals_depend_on_the_seed(tmp_path: Path) -> None:
    typed = (write_people(tmp_path), *ONE, "--measures", "kappa,f1,sensitivity")
    one, two = (run_json(*typed, "--seed", seed) for seed in (1, 2))
    assert row(one, "kappa")["low"] != row(two, "kappa")["low"]
    assert row(one, "f1") == row(two, "f1")
    assert row(one, "sensitivity") == row(two, "sensitivity")
    assert run_json(*typed, "--seed", 1) == one


def test_infinite_and_missing_bounds(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    typed = (path, *ONE, "--group", "sex", "--measures", "dor,auc", "--interval", "logit-delong", "--threshold", "0.5")
    result = {(each["measure"], (each["group"] or {}).get("sex")): each for each in run_json(*typed)["rows"]}
    assert result["diagnostic_odds_ratio", "f"]["high"] == "inf"
    auc = result["auc", "f"]
    assert (auc["value"], auc["low"], auc["high"], auc["level"]) == (1, None, None, 0.95)
    assert auc["why"] == "the AUC is 0 or 1, where log-odds are infinite"
    lines = list(csv.DictReader(StringIO(run("measure", *typed, "--format", "csv", "-q").stdout)))
    by = {(line["measure"], line["group.sex"]): line for line in lines}
    assert by["diagnostic_odds_ratio", "f"]["high"] == "inf"
    assert (by["auc", "f"]["low"], by["auc", "f"]["why"]) == ("", auc["why"])
    shown = run("measure", *typed, "-q").stdout
    assert re.search(r"dor .* ∞ +0\.457 – ∞ ", shown)
    assert re.search(r"AUC .* 1 +–¹ ", shown)
    assert "¹ the AUC is 0 or 1, where log-odds are infinite" in shown


def test_extreme_levels_have_intervals_of_all_measures(tmp_path: Path) -> None:
    for level in ("1e-9", "0.999999999"):
        result = run_json(write_people(tmp_path), *ONE, "--measures", "all", "--level", level)["rows"]
        bounded = [each for each in result if each["low"] is not None]
        assert len(bounded) > 40
        assert all(float(each["low"]) <= float(each["value"]) <= float(each["high"]) for each in bounded)
    shown = run("measure", write_people(tmp_path), *ONE, "--level", "0.999999999").stdout
    assert "\nIntervals: 99.9999999% confidence. " in shown


def test_footnotes_state_the_methods_of_shown_intervals(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("sick,risk,who\n1,0.3,a\n", encoding="utf-8")
    alone = run("measure", path, *ONE, "--positive", "1", "--measures", "accuracy,brier", "-q", "--explain").stdout
    assert alone.endswith("\n¹ there is a single row\n95% intervals: Clopper–Pearson.\n")
    clustered = run("measure", path, *ONE, "--positive", "1", "--measures", "accuracy", "--cluster", "who", "-q").stdout
    assert "\n¹ there is a single cluster\n" in clustered


def test_footnotes_do_not_break_at_hyphens() -> None:
    assert Page("", (), ("DeLong on log-odds",)).text(15) == "DeLong on\nlog-odds\n"


def test_clusters_widen_intervals(tmp_path: Path) -> None:
    path = tmp_path / "eyes.csv"
    write_people = [(at % 3 == 0, (at * 37 % 100) / 100) for at in range(60)]
    lines = [f"{sick:d},{risk},{at}" for at, (sick, risk) in enumerate(write_people) for _ in range(2)]
    path.write_text("\n".join(["sick,risk,who", *lines]), encoding="utf-8")
    once = tmp_path / "one_eye.csv"
    once.write_text("\n".join(["sick,risk,who", *lines[::2]]), encoding="utf-8")
    eyes, clustered, single = (
        run_json(*typed) for typed in ((path, *ONE), (path, *ONE, "--cluster", "who"), (once, *ONE))
    )
    wide = {
        name: [
            float(each["high"]) - float(each["low"])
            for each in (row(result, name) for result in (eyes, clustered, single))
        ]
        for name in ("sensitivity", "auc", "f1")
    }
    assert all(naive < right for naive, right, _ in wide.values())
    # Every row stands there twice, so the clusters are as much worth as the rows once.
    assert all(right == pytest.approx(once, rel=0.1) for _, right, once in wide.values())
    assert [a["value"] for a in clustered["rows"]] == pytest.approx([b["value"] for b in eyes["rows"]])
    assert clustered["data"]["interval"]["clusters"] == 60
    assert clustered["data"]["columns"]["cluster"] == "who"
    shown = run("measure", path, *ONE, "--cluster", "who", "--explain").stdout
    assert "95% intervals of clusters (who): Clopper–Pearson or Wilson for shares; " in shown


def test_clusters_go_with_labels_groups_and_several_models(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    typed = (path, *ONE, "--score", "old", "--predicted", "says", "--group", "sex", "--cluster", "site")
    result = run_json(*typed)["rows"]
    plain = run_json(*typed[:-2], "--no-interval")["rows"]
    assert [each["value"] for each in result] == [each["value"] for each in plain]
    assert {each["model"] for each in result} == {"risk", "old", "says"}
    labels = run_json(path, "--truth", "sick", "--predicted", "says", "--cluster", "site")
    assert row(labels, "sensitivity")["how"].endswith("clusters")


def test_many_classes_have_intervals(tmp_path: Path) -> None:
    path = tmp_path / "pets.csv"
    names = ("cat", "dog", "fish")
    lines = [f"{names[at % 3]},{names[at * at % 3]}" for at in range(60)]
    path.write_text("\n".join(["is,called", *lines]), encoding="utf-8")
    typed = (path, "--truth", "is", "--predicted", "called", "--level", "0.9")
    result = run_json(*typed)
    classes = read.confusions(path, truth="is", predicted="called")
    assert result == json.loads(infer.multiclass_summary(classes, interval=infer.IntervalOptions(level=0.9)).to_json())
    judged = [each for each in result["rows"] if each["measure"] != "cell" and each["value"] is not None]
    assert judged
    assert all(each["low"] <= each["value"] <= each["high"] for each in judged)
    assert {each["average"] for each in judged} == {None, "macro", "weighted"}


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        *[
            (
                (*ONE, "--level", typed),
                f"invalid value for '--level': '{typed}' is not a confidence level; expected a confidence level",
            )
            for typed in ("1.5", "95", "0", "1", "nan", "100%")
        ],
        ((*ONE, "--level", "1e-10"), "invalid value for '--level': '1e-10' is not a confidence level; expected"),
        (
            (*ONE, "--level", "0.9999999999"),
            "invalid value for '--level': '0.9999999999' is not a confidence level; expected",
        ),
        (
            (*ONE, "--level", "high"),
            "invalid value for '--level': 'high' is not a confidence level; expected a confidence level",
        ),
        (
            (*ONE, "--interval", "wilsn"),
            "there is no kind of interval 'wilsn'. Did you mean wilson? There are: wilson,",
        ),
        ((*ONE, "--interval", "delong", "--no-interval"), "--interval is for intervals; leave out either it or"),
        ((*ONE, "--level", "0.9", "--no-interval"), "--level is for intervals; leave out either it or --no-interval."),
        ((*ONE, "--cluster", "site", "--no-interval"), "--cluster is for intervals;"),
        ((*ONE, "--cluster", "site", "--interval", "wilson"), "--interval wilson assumes independent rows, --cluster"),
        ((*ONE, "--cluster", "sight"), "there is no column 'sight'. Did you mean 'site'"),
        ((*ONE, "--seed", "-1"), "invalid value for '--seed':"),
        (
            ("--truth", "site", "--predicted", "site", "--average", "macro", "--cluster", "sex"),
            "--cluster is for two classes; intervals of many classes take rows as independent.",
        ),
    ],
)
def test_errors_name_flags(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("measure", write_people(tmp_path), *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"baserate: {message}")
    assert len(result.stderr.splitlines()) == 1


def test_clusters_of_several_labels_suggest_a_positive_class(tmp_path: Path) -> None:
    typed = ("--truth", "site", "--predicted", "site", "--cluster", "sex")
    result = run("measure", write_people(tmp_path), *typed)
    assert result.exit_code == 3
    assert "--positive" in result.stderr
    assert "without --cluster" in result.stderr


def test_method_names_match_in_any_spelling(tmp_path: Path) -> None:
    result = run_json(write_people(tmp_path), *ONE, "--interval", "Clopper_Pearson")
    assert result["data"]["interval"]["method"] == "clopper-pearson"


def test_bounds_keep_the_digits_that_distinguish_them() -> None:
    assert format_bounds(0.123456, 0.654321, 4, 4) == ("0.1235", "0.6543")
    assert format_bounds(0.012345, 0.654321, 4, 3) == ("0.012", "0.654")
    assert format_bounds(0.84201, 0.84399, 4, 3) == ("0.8420", "0.8440")
    assert format_bounds(0.000012, 0.000034, 4, 3) == ("1.200e-05", "3.400e-05")
    assert format_bounds(-0.0001, 1.0, 4, 3) == ("0.000", "1")
    assert format_bounds(-float("inf"), 12345.678, 4, 3) == ("−∞", "12,346")


def spread(columns: int) -> Table:
    cells = (IntervalCell("0.5000", "−0.250", "0.750"), *(IntervalCell("1", "–¹"),) * (columns - 1))
    return Table("", tuple(f"site {at}" for at in range(columns)), (Section("rates", (Row("f1", cells),)),))


def test_layout_of_intervals_by_width() -> None:
    beside, below, turned = (unstyle(Page("", (spread(3),)).text(width)).splitlines() for width in (60, 40, 25))
    assert beside == [
        "rates  site 0                   site 1    site 2",
        "  f1   0.5000 −0.250 – 0.750      1 –¹      1 –¹",
    ]
    assert below == [
        "rates          site 0  site 1  site 2",
        "  f1           0.5000       1       1",
        "       −0.250 – 0.750      –¹      –¹",
    ]
    assert turned[0].split() == ["rates", "f1"]
    assert [line.split() for line in turned[1:5]] == [
        ["site", "0", "0.5000"],
        ["−0.250", "–", "0.750"],
        ["site", "1", "1"],
        ["–¹"],
    ]
    assert max(map(display_width, turned)) <= 25


def test_the_log_method_of_ratios(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("sick,test,many\n1,1,670\n0,1,202\n1,0,74\n0,0,640\n", encoding="utf-8")
    typed = (path, "--truth", "sick", "--predicted", "test", "--count", "many")
    result = run_json(*typed, "--measures", "LR+,nnd,nir", "--interval", "log")
    ratio, number, rate = (
        row(result, name) for name in ("positive_likelihood_ratio", "number_needed_to_diagnose", "no_information_rate")
    )
    assert (ratio["low"], ratio["high"]) == pytest.approx((3.32068843550748, 4.24323464880513))  # epiR 2.0.57
    assert ratio["how"] == "normal on the logarithm"
    assert number["value"] == pytest.approx(1.51370054995506)
    assert number["how"].startswith("reciprocal of Youden's J")
    assert rate["value"] == pytest.approx(842 / 1586)
    refused = run("measure", *typed, "--measures", "sensitivity", "--interval", "log")
    assert (refused.exit_code, "log" in refused.stderr) == (2, True)


def test_tests_of_decisions(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("sick,test,many\n1,1,231\n0,1,32\n1,0,27\n0,0,54\n", encoding="utf-8")
    typed = (path, "--truth", "sick", "--predicted", "test", "--count", "many", "--measures", "accuracy", "--tests")
    result = run_json(*typed)
    exact = row(result, "no_information_exact_test")
    assert exact["p"] == pytest.approx(0.0003096983340368703)  # caret 6.0.93
    assert exact["value"] == 285
    # P(X > 54) + P(X = 54)/2 of Bin(81, ½)
    assert row(result, "no_information_test")["p"] == pytest.approx(0.0013212464, rel=1e-6)
    assert row(result, "symmetry_test")["value"] == 27
    shown = run("measure", *typed, "-q", "--explain").stdout
    assert re.search(r"no information +54 +0\.00132 ", shown)
    assert re.search(r"no information exact +285 +0\.000310 ", shown)
    several = run_json(write_people(tmp_path), *ONE, "--threshold", "0.3,0.5", "--group", "site", "--tests")
    tests = [each for each in several["rows"] if each["measure"] == "symmetry_test"]
    assert [(each["threshold"], each["group"]) for each in tests][:3] == [
        (0.3, None),
        (0.5, None),
        (0.3, {"site": "coast"}),
    ]
    assert len(tests) == 8


def test_tests_of_several_classes(tmp_path: Path) -> None:
    path = tmp_path / "pets.csv"
    rows = [("cat", "cat", 50), ("cat", "dog", 8), ("cat", "fox", 1), ("dog", "cat", 3), ("dog", "dog", 30)]
    rows += [("dog", "fox", 4), ("fox", "cat", 2), ("fox", "dog", 6), ("fox", "fox", 40)]
    path.write_text("is,called,many\n" + "".join(f"{a},{b},{n}\n" for a, b, n in rows), encoding="utf-8")
    typed = (path, "--truth", "is", "--predicted", "called", "--count", "many", "--tests")
    result = run_json(*typed)
    assert row(result, "symmetry_test")["p"] == pytest.approx(0.3906916935764642)  # caret 6.0.93
    assert row(result, "symmetry_test")["freedom"] == 3
    assert row(result, "no_information_exact_test")["p"] == pytest.approx(1.563529103002196e-25)
    assert "Each kind of error is as frequent" in " ".join(run("measure", *typed, "-q", "--explain").stdout.split())


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--prevalence", "5%"), "--tests counts the rows of the sample"),
        (("--weight", "w"), "--tests counts rows, and --weight weights them"),
        (("--cluster", "site"), "--tests takes rows as independent"),
    ],
)
def test_tests_are_of_independent_rows(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("measure", write_people(tmp_path), *ONE, "--threshold", "0.5", "--tests", *typed)
    assert (result.exit_code, message in " ".join(result.stderr.split())) == (2, True)


def test_tests_need_decisions(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("sick,score\n1,3.5\n0,-2\n1,7\n0,1\n", encoding="utf-8")
    result = run("measure", path, "--truth", "sick", "--score", "score", "--positive", "1", "--tests")
    assert (result.exit_code, "--tests is for decisions" in result.stderr) == (2, True)
