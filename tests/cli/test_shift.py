"""`baserate shift`: snapshots, JSON and CSV, messages, and refused options."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baserate import measure, read, shift
from tests.cli.shell import PEOPLE, fits_terminal, matches_snapshot, run, run_program, write_people
from tests.cli.test_classes import LABELS, SCORES, pets
from tests.schemas import read_results

ONE = ("--truth", "sick", "--score", "risk")
SHARES = ("--prevalence", "cat=0.2,dog=0.3,fish=50%")

VIEWS: dict[str, tuple[str, ...]] = {
    "shift": (*ONE, "--prevalence", "0.02"),
    "shift-plain": (
        *ONE,
        "--prevalence",
        "2%",
        "--no-interval",
        "--measures",
        "precision,npv,auc,brier,log_loss_skill,ece",
    ),
    "shift-md": (*ONE, "--prevalence", "0.02", "--measures", "precision,brier", "--format", "md"),
    "shift-groups": (*ONE, "--prevalence", "0.02", "--group", "site", "--measures", "precision,brier"),
    "shift-thresholds": (
        *ONE,
        "--score",
        "old",
        "--prevalence",
        "0.1",
        "--threshold",
        "0.3,0.6",
        "--measures",
        "npv,auc,brier",
    ),
    "shift-labels": ("--truth", "sick", "--predicted", "says", "--under-sampled", "10"),
    "shift-curve": (*ONE, "--curve"),
    "shift-curve-groups": (*ONE, "--curve", "--points", "3", "--group", "sex", "--measures", "f1,npv,mcc,lift"),
}
CLASS_VIEWS: dict[str, tuple[str, ...]] = {
    "shift-classes": (*LABELS, *SHARES, "--measures", "recall,precision,accuracy"),
    "shift-classes-scores": (*SCORES, *SHARES, "--no-interval"),
    "shift-classes-groups": (*LABELS, *SHARES, "--group", "home", "--measures", "recall,mcc", "--average", "none"),
}


def run_json(*typed: object, given: str | None = None) -> dict[str, Any]:
    result = run("shift", *typed, "--json", "-q", given=given)
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run("shift", write_people(tmp_path), *VIEWS[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


@pytest.mark.parametrize("name", CLASS_VIEWS)
def test_snapshot_of_several_classes(name: str, tmp_path: Path) -> None:
    result = run("shift", pets(tmp_path), *CLASS_VIEWS[name], "-q")
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


@pytest.mark.parametrize("name", [name for name in VIEWS if name != "shift-md"])
def test_pages_fit_the_terminal(name: str, tmp_path: Path) -> None:
    assert fits_terminal("shift", write_people(tmp_path), *VIEWS[name], widths=(60, 80, 100, 140))


def test_messages_on_stderr(tmp_path: Path) -> None:
    output = run("shift", write_people(tmp_path), *ONE, "--prevalence", "0.02", "--group", "site").stderr.splitlines()
    assert output == [
        "positive = 1, inferred; name it with --positive.",
        (
            "note: the deployment prevalence is 0.02, taken as known: negatives are 32.67 times as frequent per "
            "positive as in the sample; scores within each class are assumed to be distributed as in the sample."
        ),
        "note: that is the prevalence of all groups together; the same factor gives each group its own.",
        (
            "note: decisions use the scores as given; these thresholds on corrected scores flag the same rows: "
            "0.5 as 0.029702970297029705."
        ),
        "note: corrected scores assume that scores are calibrated at the prevalence of the sample, 0.4.",
    ]


def test_json_has_sample_and_deployment(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json(path, *ONE, "--prevalence", "0.02")
    assert output["data"]["prevalence"] == 0.4
    assert output["data"]["deployment"] == {"prevalence": 0.02, "gamma": pytest.approx(49 * 2 / 3)}
    rows = {(row["measure"], row["where"], row["scores"]): row for row in output["rows"]}
    assert rows["precision", "here", "as given"]["value"] == 0.6
    assert rows["precision", "here", "as given"]["prevalence"] == 0.4
    there = rows["precision", "there", "as given"]
    assert there["value"] == pytest.approx(shift.ppv(0.75, 4 / 6, 0.02))
    assert there["low"] < there["value"] < there["high"]
    assert there["how"].endswith("prevalence known")
    assert there["prevalence"] == 0.02
    data = shift.reweigh(read.tallies(path, truth="sick", score="risk"), prevalence=0.02).tally
    right = data.with_scores(shift.reprior(data.score, sample_prevalence=0.4, prevalence=0.02))
    assert rows["log_loss", "there", "corrected"]["value"] == pytest.approx(measure.log_loss(right))
    assert ("auc", "there", "corrected") not in rows


def test_csv_has_the_rows_of_json(tmp_path: Path) -> None:
    path, target = write_people(tmp_path), tmp_path / "out.csv"
    result = run("shift", path, *ONE, "--prevalence", "0.02", "-o", target)
    assert (result.exit_code, result.stdout) == (0, "")
    rows = list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"))))
    assert [row["measure"] for row in rows] == [
        row["measure"] for row in run_json(path, *ONE, "--prevalence", "0.02")["rows"]
    ]
    assert {row["scores"] for row in rows} == {"as given", "corrected"}
    assert {row["prevalence"] for row in rows} == {"0.4", "0.02"}


def test_prevalence_and_sampling_ratios_agree(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    ways: list[tuple[str, ...]] = [
        ("--prevalence", "0.0625"),
        ("--prevalence", "6.25%"),
        ("--gamma", "10"),
        ("--under-sampled", "10"),
    ]
    ways += [("--over-sampled", "0.1"), ("--under-sampled", "5", "--over-sampled", "0.5")]
    values = [[row["value"] for row in run_json(path, *ONE, *way, "--no-interval")["rows"]] for way in ways]
    for each in values[1:]:
        assert each == pytest.approx(values[0])


def test_stdin_and_weights() -> None:
    plain = run_json("-", *ONE, "--prevalence", "0.1", "--measures", "precision", given=PEOPLE)
    weighted = run_json("-", *ONE, "--prevalence", "0.1", "--measures", "precision", "--weight", "w", given=PEOPLE)
    assert [row["value"] for row in plain["rows"]] != [row["value"] for row in weighted["rows"]]
    assert {row["prevalence"] for row in weighted["rows"] if row["where"] == "there"} == {0.1}


def test_groups_share_gamma(tmp_path: Path) -> None:
    rows = run_json(write_people(tmp_path), *ONE, "--prevalence", "0.02", "--group", "sex", "--measures", "precision")[
        "rows"
    ]
    shares = {
        (row["group"] and row["group"]["sex"], row["where"]): row["prevalence"]
        for row in rows
        if row["measure"] == "precision"
    }
    assert shares[None, "there"] == 0.02
    gammas = [
        shift.gamma(sample_prevalence=shares[sex, "here"], prevalence=shares[sex, "there"]) for sex in ("f", "m", None)
    ]
    assert gammas == pytest.approx([gammas[0]] * 3)


def test_curve_as_json(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json(path, *ONE, "--curve")
    assert len(output["rows"]) == 3 * 199
    assert {row["measure"] for row in output["rows"]} == {"precision", "npv", "accuracy"}
    at = {row["prevalence"]: row for row in output["rows"] if row["measure"] == "precision"}
    single = run_json(path, *ONE, "--prevalence", "0.02", "--measures", "precision")["rows"]
    (there,) = (row for row in single if row["measure"] == "precision" and row["where"] == "there")
    assert [at[0.02][name] for name in ("value", "low", "high")] == pytest.approx(
        [there[name] for name in ("value", "low", "high")]
    )
    few = run_json(path, *ONE, "--curve", "--points", "5", "--no-interval", "--threshold", "0.3,0.6")
    assert len(few["rows"]) == 2 * 3 * 5
    assert {row["threshold"] for row in few["rows"]} == {0.3, 0.6}
    assert "interval" not in few["data"]
    assert all(row["low"] is None and row["level"] is None for row in few["rows"])
    log_odds = np.log([row["prevalence"] / (1 - row["prevalence"]) for row in few["rows"][:5]])
    assert np.diff(log_odds) == pytest.approx([np.diff(log_odds)[0]] * 4)


def test_curves_of_labels_have_no_threshold(tmp_path: Path) -> None:
    path = write_people(tmp_path)
    output = run_json(path, *ONE, "--predicted", "says", "--curve", "--points", "2", "--threshold", "inf")
    cuts = {row["model"]: row["threshold"] for row in output["rows"]}
    assert cuts == {"risk": "inf", "says": None}
    says = [row["value"] for row in output["rows"] if row["model"] == "says"]
    alone = run_json(path, "--truth", "sick", "--predicted", "says", "--curve", "--points", "2")
    assert says == [row["value"] for row in alone["rows"]]


def test_group_of_one_class_has_reasons(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("y,p,g\n1,0.9,a\n0,0.1,a\n0,0.3,b\n", encoding="utf-8")
    rows = run_json(path, "--truth", "y", "--score", "p", "--group", "g", "--curve", "--points", "2")["rows"]
    assert {row["why"] for row in rows if row["group"] == {"g": "b"}} == {
        "there are no positives, so that their rate is unknown"
    }
    there = run_json(path, "--truth", "y", "--score", "p", "--group", "g", "--prevalence", "0.1")["rows"]
    assert {row["prevalence"] for row in there if row["group"] == {"g": "b"}} == {0}


def test_several_classes_as_json(tmp_path: Path) -> None:
    output = run_json(pets(tmp_path), *SCORES, *SHARES)
    assert output["data"]["deployment"] == {"prevalences": pytest.approx({"cat": 0.2, "dog": 0.3, "fish": 0.5})}
    values = {(row["where"], row["scores"]): row["value"] for row in output["rows"] if row["measure"] == "accuracy"}
    assert values["here", "as given"] == pytest.approx(5 / 9)
    assert values["there", "as given"] == pytest.approx(0.2 * 3 / 4 + 0.3 * 2 / 3)
    assert values["there", "corrected"] > values["there", "as given"]
    recall = {row["class"]: row["prevalence"] for row in output["rows"] if row["measure"] == "sensitivity"}
    assert recall["fish"] == pytest.approx(0.5)
    assert recall[None] is None


def test_two_classes_may_have_named_shares(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("is,called\ncat,cat\ncat,dog\ndog,dog\ndog,dog\n", encoding="utf-8")
    rows = run_json(path, *LABELS, "--prevalence", "dog=0.9,cat=0.1", "--measures", "accuracy")["rows"]
    assert [row["value"] for row in rows if row["measure"] == "accuracy"] == pytest.approx([0.75, 0.95])


def test_class_named_like_an_average(tmp_path: Path) -> None:
    path = tmp_path / "macro.csv"
    path.write_text("is,called\nmacro,macro\nx,macro\nx,x\nyy,x\nyy,yy\n", encoding="utf-8")
    typed = (*LABELS, "--prevalence", "macro=0.2,x=0.4,yy=0.4", "--measures", "recall", "--no-interval")
    lines = run("shift", path, *typed).stdout.splitlines()
    assert [line.split()[1:] for line in lines if line.startswith("  macro")] == [
        ["0.2000", "0.2000"],
        ["1", "1"],
        ["0.6667", "0.6667"],
    ]


def test_cross_table_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(",a,b\na,8,2\nb,1,9\n", encoding="utf-8")
    rows = run_json(path, "--cross-table", "rows", "--prevalence", "a=0.1,b=0.9", "--measures", "accuracy")["rows"]
    assert [row["value"] for row in rows if row["measure"] == "accuracy"] == pytest.approx([0.85, 0.89])


@pytest.mark.parametrize(
    ("typed", "code", "message"),
    [
        ((), 2, "the prevalence in deployment is missing; give one, such as --prevalence 0.02"),
        (("--prevalence", "0"), 2, "'0' is not a prevalence; expected a prevalence from 1e-12 to 1 - 1e-12"),
        (("--prevalence", "1"), 2, "'1' is not a prevalence"),
        (("--prevalence", "1.5"), 2, "'1.5' is not a prevalence"),
        (("--prevalence", "-0.1"), 2, "'-0.1' is not a prevalence"),
        (("--prevalence", "nan"), 2, "'nan' is not a prevalence"),
        (("--prevalence", ""), 2, "'' is not a prevalence"),
        (("--prevalence", "few"), 2, "'few' is not a prevalence"),
        (
            ("--prevalence", "0.1", "--gamma", "2"),
            2,
            "--prevalence and --gamma both state the prevalence; give one of them.",
        ),
        (("--prevalence", "0.1", "--curve"), 2, "--prevalence and --curve both state the prevalence"),
        (("--gamma", "2", "--under-sampled", "2"), 2, "both state the prevalence"),
        (("--gamma", "0"), 2, "--gamma is 0"),
        (("--gamma", "inf"), 2, "--gamma is inf"),
        (("--gamma", "nan"), 2, "--gamma is nan"),
        (("--under-sampled", "0.1"), 2, "--under-sampled is 0.1; expected 1 or more original negatives per negative"),
        (("--over-sampled", "4"), 2, "--over-sampled is 4.0; expected original positives per positive"),
        (("--under-sampled", "0"), 2, "--under-sampled is 0"),
        (("--prevalence", "0.1", "--points", "5"), 2, "--points is for a curve"),
        (("--prevalence", "1=0.1,0=0.9"), 2, "of two classes, --prevalence is the share of the positive one alone"),
        (("--prevalence", "0.1", "--measures", "precisio"), 2, "precision"),
        (
            ("--curve", "--measures", "auc"),
            2,
            "auc is not a measure of decisions; for it, name one prevalence with --prevalence",
        ),
        (("--curve", "--interval", "logit"), 2, "--interval is for one prevalence"),
        (
            ("--prevalence", "0.1", "--interval", "delong", "--measures", "f1"),
            2,
            "--interval delong makes no interval of f1",
        ),
        (
            ("--prevalence", "0.1", "--cluster", "site"),
            2,
            "--cluster has no use in `baserate shift`: intervals take rows as independent",
        ),
        (("--prevalence", "0.1", "--score", "nothing"), 2, "there is no column 'nothing'"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    result = run("shift", write_people(tmp_path), *ONE, *typed)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            ("--prevalence", "0.1"),
            "the data have 3 classes; give each a share in deployment: --prevalence cat=…,dog=…,fish=…",
        ),
        (("--gamma", "2"), "the data have 3 classes; give each a share in deployment"),
        (("--curve",), "--curve is for two classes, and the data have 3; leave it out."),
        ((*SHARES, "--threshold", "0.5"), "--threshold is for two classes"),
        (("--prevalence", "cat=0.2,dog=0.9"), "the shares add up to 1.1; expected 1. Give those of all classes."),
        (("--prevalence", "cat=0.2,dog=0.8"), "--prevalence has no share for fish; give one to each of 3 classes."),
        (
            ("--prevalence", "cat=0.2,dgo=0.3,fish=0.5"),
            "there is no class 'dgo'. Did you mean 'dog'? There are: cat, dog, fish.",
        ),
        (("--prevalence", "cat=0.2,cat=0.3,fish=0.5"), "a class is named twice"),
        (("--prevalence", "cat=0,dog=0.5,fish=0.5"), "'0' is not a share of the class 'cat'"),
        (("--prevalence", "cat=nan,dog=0.5,fish=0.5"), "'nan' is not a share of the class 'cat'"),
        ((*SHARES, "--positive", "cat"), "of two classes, --prevalence is the share of the positive one alone"),
    ],
)
def test_invalid_multiclass_options_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("shift", pets(tmp_path), *LABELS, *typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_class_without_rows_exits_with_3(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("sick,risk\n0,0.2\n0,0.4\n", encoding="utf-8")
    result = run("shift", path, *ONE, "--prevalence", "0.1")
    assert result.exit_code == 3
    assert "there are no positives that could be reweighted; give rows of both classes." in result.stderr
    labels = run("shift", pets(tmp_path), *LABELS, "--labels", "cat,dog,fish,bird", "--prevalence",
                 "cat=0.2,dog=0.3,fish=0.3,bird=0.2")  # fmt: skip
    assert labels.exit_code == 3
    assert "there are no rows of the class 'bird' that could be reweighted" in labels.stderr


@pytest.mark.slow
def test_installed_program_prints_the_same(tmp_path: Path) -> None:
    result = run_program("shift", "-", *ONE, "--prevalence", "0.02", "--json", given=PEOPLE)
    assert result.returncode == 0
    assert json.loads(result.stdout)["data"]["deployment"]["prevalence"] == 0.02
    assert "stdin · 10 rows" in result.stderr
