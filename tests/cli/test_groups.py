"""`baserate groups`: snapshots, JSON, and refused options."""

import csv
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

import baserate
from baserate import Cut, Policy, fairness
from baserate.text._tables import display_width
from tests.cli.shell import matches_snapshot, run, write_people
from tests.schemas import read_results
from tests.tiers import take_in_tiers

ONE = ("--truth", "sick", "--score", "risk", "--positive", "1")
QUICK = ("--n-permutations", "200", "-q")


def write_screening(folder: Path, size: int = 900) -> Path:
    """Write a file of people in groups, one of them small and one without positives."""
    rng = np.random.default_rng(4)
    risk, sex = np.round(rng.random(size), 2), rng.choice(["f", "m"], size)
    site = rng.choice(["north", "coast", "hill", "isle"], size, p=[0.5, 0.42, 0.06, 0.02])
    sick = (rng.random(size) < risk) & (site != "isle")
    path = folder / "screened.csv"
    lines = (f"{s:d},{r},{x},{p},{r >= 0.6:d}" for s, r, x, p in zip(sick, risk, sex, site, strict=True))
    path.write_text("\n".join(["sick,risk,sex,site,says", *lines]) + "\n", encoding="utf-8")
    return path


VIEWS: dict[str, tuple[str, ...]] = {
    "side-by-side": (*ONE, "--group", "site"),
    "side-by-side-both": (*ONE, "--group", "site,sex", "--measures", "fpr", "--threshold", "0.7"),
    "side-by-side-whole": (*ONE, "--group", "sex", "--measures", "auc,observed_expected,mcc", "--level", "90%"),
    "side-by-side-models": (*ONE, "--predicted", "says", "--group", "sex", "--measures", "recall,fpr"),
    "side-by-side-narrow": (*ONE, "--group", "sex", "--measures", "recall,fpr"),
    "side-by-side-md": (*ONE, "--group", "sex", "--measures", "flag_rate", "--format", "md"),
}


@pytest.mark.quick(3)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    width = "60" if name.endswith("narrow") else "100"
    result = run("groups", write_screening(tmp_path), *VIEWS[name], *QUICK, env={"COLUMNS": width})
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)
    if not name.endswith("md"):
        assert max(map(display_width, result.stdout.splitlines())) <= int(width)


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("groups", "--help").stdout, "help-groups")


def rows_of(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    actual: list[dict[str, Any]] = read_results(result.stdout)["rows"]
    return actual


@pytest.mark.parametrize("name", take_in_tiers([name for name in VIEWS if not name.endswith("md")], 2))
def test_json_fits_the_schema(name: str, tmp_path: Path) -> None:
    result = rows_of(run("groups", write_screening(tmp_path), *VIEWS[name], *QUICK, "--json"))
    assert {row["table"] for row in result} == {"group", "difference", "gap"}


def test_json_equals_the_results_of_the_library(tmp_path: Path) -> None:
    path = write_screening(tmp_path)
    typed = ("groups", path, *ONE, "--group", "site", "--group", "sex", "--threshold", "0.4", *QUICK, "--json")
    result = rows_of(run(*typed))
    t = baserate.read.tallies(path, truth="sick", score="risk", group=["site", "sex"], positive=1)
    for by in (["site"], ["sex"], ["site", "sex"]):
        wanted = fairness.compare_groups(t, by=by, policy=0.4, n_permutations=200).rows()
        assert [{**row, "by": ", ".join(by)} for row in wanted] == [row for row in result if row["by"] == ", ".join(by)]


@pytest.mark.parametrize(
    "named", [("--group", "site,sex"), ("--group", "site", "--group", "sex"), ("--group", "site, sex,site")]
)
def test_group_columns_are_listed_or_repeated(named: tuple[str, ...], tmp_path: Path) -> None:
    result = run("groups", write_screening(tmp_path), *ONE, *named, "--measures", "fpr", *QUICK, "--format", "csv")
    lines = list(csv.DictReader(StringIO(result.stdout)))
    assert list(dict.fromkeys(line["by"] for line in lines)) == ["site", "sex", "site, sex"]
    assert {line["group.sex"] for line in lines if line["by"] == "site"} == {""}
    assert {line["other.site"] for line in lines if line["by"] == "sex"} == {""}
    pairs = [line for line in lines if line["by"] == "site, sex" and line["table"] == "difference"]
    assert (pairs[0]["group.site"], pairs[0]["group.sex"]) == ("coast", "f")
    assert {(pair["other.site"], pair["other.sex"]) for pair in pairs} == {("north", "m")}


def test_policy_names_the_columns_and_decides(tmp_path: Path) -> None:
    path = write_screening(tmp_path)
    policy = Policy(
        by_group={("f",): Cut((0.4,)), ("m",): Cut((0.6,))},
        otherwise="refuse",
        attributes=("sex",),
        columns={"truth": "sick", "score": "risk"},
        positive="1",
    )
    policy.save(tmp_path / "policy.json")
    result = run("groups", path, "--policy", tmp_path / "policy.json", "--group", "site", *QUICK, "--json")
    t = baserate.read.tallies(path, truth="sick", score="risk", group=["sex", "site"], positive=1)
    wanted = fairness.compare_groups(t, by="site", policy=policy, n_permutations=200).rows()
    assert [{**row, "by": "site"} for row in wanted] == rows_of(result)
    shown = run("groups", path, "--policy", tmp_path / "policy.json", "--group", "site", *QUICK).stdout
    assert "Decided for each of 2 groups by sex." in shown


def test_small_groups_are_marked_with_detectable_differences(tmp_path: Path) -> None:
    shown = run("groups", write_screening(tmp_path), *ONE, "--group", "site", "--measures", "fpr", *QUICK).stdout
    (isle,) = [line for line in shown.splitlines() if line.startswith("  FPR  ") and "*" in line]
    assert isle.count("*") == 2  # hill and isle
    assert "detectable difference" in shown
    assert "* rests on fewer than 50 rows" in shown
    large = run("groups", write_screening(tmp_path), *ONE, "--group", "sex", "--measures", "fpr", *QUICK).stdout
    assert "*" not in large
    assert "would show" not in large


def test_one_digit_is_accepted(tmp_path: Path) -> None:
    result = run(
        "groups", write_screening(tmp_path), *ONE, "--group", "sex", "--measures", "fpr", *QUICK, "--digits", "1"
    )
    assert result.exit_code == 0, result.stderr
    assert "FPR (predictive equality)" in result.stdout


@pytest.mark.slow
def test_pages_contain_no_verdict_on_fairness(tmp_path: Path) -> None:
    for typed in VIEWS.values():
        result = run("groups", write_screening(tmp_path), *typed, "--n-permutations", "50")
        assert "fair" not in result.stdout + result.stderr


def test_excluded_groups_are_listed(tmp_path: Path) -> None:
    result = run(
        "groups", write_screening(tmp_path), *ONE, "--group", "site", "--measures", "recall", "--n-permutations", "50"
    )
    output = (
        "note: sensitivity: excluded from tests and gaps, with fewer than the minimum of 50: "
        "site = hill (32 positives) and site = isle (0 positives)."
    )
    assert output in result.stderr
    assert "¹ there are no positives" in result.stdout


@pytest.mark.parametrize(
    ("typed", "by", "other"),
    [
        (("--group", "sex", "--reference", "f"), "sex", {"sex": "f"}),
        (("--group", "sex", "--reference", "sex=f"), "sex", {"sex": "f"}),
        (("--group", "sex,site", "--reference", "site=coast"), "site", {"site": "coast"}),
        (("--group", "sex,site", "--reference", "site=coast,sex=f"), "sex, site", {"sex": "f", "site": "coast"}),
        (("--group", "site"), "site", {"site": "north"}),
    ],
)
def test_reference_group_can_be_chosen(typed: tuple[str, ...], by: str, other: dict[str, str], tmp_path: Path) -> None:
    result = rows_of(run("groups", write_screening(tmp_path), *ONE, *typed, "--measures", "fpr", *QUICK, "--json"))
    compared = [row for row in result if row["table"] == "difference" and row["by"] == by]
    assert compared
    assert all(row["other"] == other for row in compared)


def test_untested_groups_and_the_reference_are_stated(tmp_path: Path) -> None:
    path = write_screening(tmp_path)
    shown = " ".join(run("groups", path, *ONE, "--group", "site", "--measures", "fpr,recall", *QUICK).stdout.split())
    assert "Below the minimum of 50 rows for a measure, so neither tested nor in disparities: FPR: hill (29)" in shown
    assert "isle (12); recall: hill (32), isle (0)." in shown
    assert "Differences from the reference group, north." in shown
    assert "Holm-adjusted p: over all groups and measures that are tested. 95% confidence intervals are not" in shown
    typed = ("--group", "site", "--measures", "fpr", "--min-group", "29")
    result = rows_of(run("groups", path, *ONE, *typed, *QUICK, "--json"))
    tested = {row["group"]["site"] for row in result if row["table"] == "difference" and row["p"] is not None}
    assert tested == {"coast", "hill"}


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (ONE, "missing option '--group'"),
        ((*ONE, "--group", "sex", "--reference", "x"), "reference is 'x'; expected one of: sex = f; sex = m."),
        ((*ONE, "--group", "sex,site", "--reference", "f"), "expected COLUMN=LABEL, with columns sex, site"),
        ((*ONE, "--group", "sex", "--min-group", "0"), "'--min-group'"),
        ((*ONE, "--group", "sex", "--threshold", "0.2,0.5"), "'0.2,0.5' are 2 thresholds; give one, which decides"),
        ((*ONE, "--group", "sex", "--threshold", "0.2", "--policy", "p.json"), "leave out one of them"),
        ((*ONE, "--group", "sex", "--measures", "sensitivityx"), "Did you mean 'sensitivity'"),
        ((*ONE, "--group", "sects"), "Did you mean 'sex'"),
        ((*ONE, "--group", "sex", "--n-permutations", "0"), "'--n-permutations'"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("groups", write_people(tmp_path), *typed)
    assert result.exit_code in {2, 3}
    assert message in result.stderr


def test_predicted_labels_are_not_thresholded(tmp_path: Path) -> None:
    Policy(by_group={(): Cut((0.4,))}, otherwise="refuse").save(tmp_path / "policy.json")
    typed = (*ONE, "--predicted", "says", "--group", "sex", "--policy", tmp_path / "policy.json")
    result = run("groups", write_people(tmp_path), *typed)
    assert result.exit_code == 2
    assert "--predicted holds decisions already" in result.stderr


@pytest.mark.parametrize("verb", take_in_tiers([("curve", "roc"), ("curve", "pr"), ("reliability",)], 2))
def test_commands_of_the_footnote_work(verb: tuple[str, ...], tmp_path: Path) -> None:
    path = write_screening(tmp_path)
    assert " ".join(("baserate", *verb)).replace("curve pr", "curve roc") in run(
        "groups", path, *ONE, "--group", "sex", *QUICK
    ).stdout.replace("\n", " ")
    quick = ("--n-simulations", "20") if verb == ("reliability",) else ()
    result = run(*verb, path, *ONE, "--group", "sex", *quick, "--json", "-q")
    assert {str(row["group"]) for row in rows_of(result)} == {"None", "{'sex': 'f'}", "{'sex': 'm'}"}


class TestComparisons:
    """What groups are compared with: the rest, everybody, strata, and what attributes explain."""

    def test_snapshot_of_all_tables(self, tmp_path: Path) -> None:
        options = ("--relative-to", "rest", "--ratios", "--control", "sex", "--measures", "fpr,theil_index")
        result = run("groups", write_screening(tmp_path), *ONE, "--group", "site", *options, *QUICK)
        assert result.exit_code == 0, result.stderr
        assert matches_snapshot(result.stdout, "groups-strata")
        assert max(map(display_width, result.stdout.splitlines())) <= 100

    def test_snapshot_of_intersections(self, tmp_path: Path) -> None:
        options = ("--relative-to", "overall", "--intersections", "--measures", "fpr")
        result = run("groups", write_screening(tmp_path), *ONE, "--group", "site,sex", *options, *QUICK)
        assert result.exit_code == 0, result.stderr
        assert matches_snapshot(result.stdout, "groups-intersections")

    def test_json_equals_the_results_of_the_library(self, tmp_path: Path) -> None:
        path = write_screening(tmp_path)
        options = ("--relative-to", "rest", "--ratios", "--control", "sex", "--measures", "fpr,generalized_entropy")
        result = rows_of(
            run("groups", path, *ONE, "--group", "site", *options, "--entropy-alpha", "1.5", *QUICK, "--json")
        )
        t = baserate.read.tallies(path, truth="sick", score="risk", group=["site", "sex"], positive=1)
        measures = ["fpr", partial(baserate.measure.generalized_entropy, alpha=1.5)]
        wanted = fairness.compare_attributes(
            t, ["site"], relative_to="rest", ratios=True, control="sex", measures=measures, n_permutations=200
        )
        assert result == wanted.rows()
        assert {row["table"] for row in result} == {"group", "difference", "ratio", "gap", "stratum", "inequality"}

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--relative-to", "overall", "--reference", "coast"), "needs no --reference"),
            (("--relative-to", "overall", "--control", "sex"), "use --relative-to rest"),
            (("--control", "site"), "site is a column of both --group and --control"),
            (("--intersections",), "--intersections needs several columns"),
            (("--entropy-alpha", "1"), "none of the measures depends on --entropy-alpha"),
            (("--relative-to", "average"), "'average' is not one of"),
        ],
    )
    def test_contradictions_are_refused(self, options: tuple[str, ...], message: str, tmp_path: Path) -> None:
        result = run("groups", write_screening(tmp_path), *ONE, "--group", "site", "--measures", "fpr", *options)
        assert result.exit_code == 2
        assert message in result.stderr


def test_groups_that_are_equal_and_too_small_are_not_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("sick,says,sex\n1,1,f\n0,0,f\n1,1,m\n0,0,m\n", encoding="utf-8")
    typed = ("groups", path, "--truth", "sick", "--predicted", "says", "--positive", "1", "--group", "sex")
    lines = run(*typed, "--n-permutations", "20").stdout.splitlines()
    assert "    all groups, not tested: 0" in lines
