"""`baserate equalize` by other policies than the exact optimum, with its frontier and its cross-validation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baserate import fairness, read
from baserate._formatting import format_number
from baserate.fairness import Folds, Goal
from baserate.infer import IntervalOptions
from tests.cli.shell import fits_terminal, matches_snapshot, run
from tests.schemas import read_results
from tests.tiers import take_in_tiers

TYPED = ("--truth", "sick", "--score", "risk", "--group", "sex", "--positive", "1", "--parity", "equalized-odds")
WAYS: dict[str, tuple[str, ...]] = {
    "deterministic": ("--deterministic", "--within", "0.1"),
    "blind": ("--blind", "--within", "0.2"),
    "crossing": ("--crossing",),
    "reject": ("--favor", "m", "--favorable", "flag", "--within", "0.1"),
    "reversal": ("--reversal",),
}
TOLD = {
    "deterministic": "within 0.1, without randomization:",
    "blind": "within 0.2, with one threshold for everybody:",
    "crossing": "within 0, where the ROC curves of two groups cross:",
    "reject": "within 0.1, by a band that favors some groups (reject option):",
    "reversal": "within 0:",
}


@pytest.fixture(scope="session")
def crossing_groups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two groups whose curves cross: the scores of one tell most at the top, those of the other at the bottom."""
    rng = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("screened") / "screened.csv"
    lines = ["sick,risk,sex\n"]
    for sex, spread in (("f", 0.5), ("m", 2.0)):
        truth = rng.random(400) < 0.4
        risk = np.where(truth, rng.normal(1.0, spread, 400), rng.normal(0.0, 1.0, 400))
        lines += [f"{int(sick)},{score:.2f},{sex}\n" for sick, score in zip(truth, risk, strict=True)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def run_json(*typed: object) -> dict[str, Any]:
    result = run("equalize", *typed, "--json", "-q")
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", WAYS)
def test_each_option_chooses_its_policy(name: str, crossing_groups: Path) -> None:
    t = read.tallies(crossing_groups, truth="sick", score="risk", group="sex")
    policies = {
        "deterministic": lambda: fairness.deterministic_thresholds(t, Goal(within=0.1)),
        "blind": lambda: fairness.common_threshold(t, Goal(within=0.2)),
        "crossing": lambda: fairness.choose_roc_crossing(t, Goal()),
        "reject": lambda: fairness.reject_option(t, Goal(within=0.1), favor=[("m",)], favorable="flag"),
        "reversal": lambda: fairness.optimal_policy(t, Goal(), reversal=True),
    }
    policy = policies[name]()
    output = run_json(crossing_groups, *TYPED, *WAYS[name])
    assert output["data"]["cost"] == pytest.approx(policy.settings["cost"])
    assert output["data"]["policies"]["risk"]["rule"] == policy.rule
    assert TOLD[name] in " ".join(run("equalize", crossing_groups, *TYPED, *WAYS[name], "-q").stdout.split())
    assert output["data"]["needs_group"] == (name != "blind") == (output["data"]["legal"] is not None)


@pytest.mark.parametrize("name", take_in_tiers(["deterministic", "blind", "crossing", "reject"], 2))
def test_cost_above_the_optimum_is_stated(name: str, crossing_groups: Path) -> None:
    typed = (crossing_groups, *TYPED, *WAYS[name], "--fp", "3", "--fn", "1")
    output = run_json(*typed)["data"]
    page = " ".join(run("equalize", *typed, "-q").stdout.split())
    above = output["cost"] - output["least"]
    assert above > 1e-6
    least, more = format_number(output["least"], 4), format_number(above, 4)
    assert f"the parity would cost {least}: this policy costs {more} more." in page
    settings = output["policies"]["risk"]["settings"]
    assert ("One threshold without the parity would cost" in page) == ("price" in settings) == (name == "blind")
    crossed = (
        f"cross at risk {format_number(settings['thresholds'][0], 4)} in f and" if name == "crossing" else "The curves"
    )
    assert (crossed in page) == (name == "crossing")


def test_optimal_cost_is_stated(crossing_groups: Path) -> None:
    shown = run("equalize", crossing_groups, *TYPED, "--crossing", "-q").stdout
    assert "No policy that keeps the parity is cheaper." in " ".join(shown.split())


def test_objective_and_middle_reach_the_library(crossing_groups: Path) -> None:
    t = read.tallies(crossing_groups, truth="sick", score="risk", group="sex")
    given: dict[str, Any] = {"favor": [("m",)], "favorable": "pass", "around": 0.5, "objective": "balanced_accuracy"}
    policy = fairness.reject_option(t, Goal("demographic-parity", within=0.3), **given)
    typed = ("--favor", "m", "--favorable", "pass", "--around", "0.5", "--objective", "balanced_accuracy")
    output = run_json(crossing_groups, *TYPED[:-1], "demographic-parity", "--within", "0.3", *typed)
    assert output["data"]["policies"]["risk"]["settings"]["band"] == list(policy.settings["band"])


@pytest.mark.parametrize(
    "way", [(), ("--deterministic", "--within", "0.1"), ("--blind", "--within", "0.2"), ("--crossing",)]
)
def test_objectives_reach_the_library(crossing_groups: Path, way: tuple[str, ...]) -> None:
    output = run_json(crossing_groups, *TYPED, *way, "--objective", "f1")
    data, settings = output["data"], output["data"]["policies"]["risk"]["settings"]
    assert settings["objective"] == data["objective"] == "f1"
    assert settings["value"] == pytest.approx(data["value"], abs=1e-12)
    assert data["value_without"] - data["value"] == data["price"] >= 0
    assert data["best"] >= data["value"] - 1e-12
    assert not any("no costs were stated" in note for note in data["notes"])


def test_snapshot_of_an_objective(crossing_groups: Path) -> None:
    typed = ("equalize", crossing_groups, *TYPED, "--objective", "mcc", "--within", "0.05", "--deterministic", "-q")
    assert matches_snapshot(run(*typed).stdout, "equalize-objective")
    assert fits_terminal(*typed, widths=(60, 80, 120))


def test_frontier_and_held_out_rows_of_an_objective(crossing_groups: Path) -> None:
    typed = (*TYPED, "--objective", "youden", "--frontier", "--held-out", "--folds", "2")
    output = run_json(crossing_groups, *typed)
    frontier = [row for row in output["rows"] if row["table"] == "frontier"]
    assert output["data"]["frontier"]["free_from"] == frontier[-1]["within"]
    assert all(row["value"] >= row["deterministic_value"] - 1e-9 for row in frontier)
    held_out = [row["kind"] for row in output["rows"] if row["table"] == "held_out" and row["measure"] == "youden"]
    assert held_out == ["held out", "apparent"]


def test_objectives_that_are_not_exact_are_refused(crossing_groups: Path) -> None:
    result = run("equalize", crossing_groups, *TYPED, "--objective", "g_mean")
    assert result.exit_code == 2
    assert "g_mean" in result.stderr
    assert "balanced_accuracy" in result.stderr


def test_band_without_parity_is_reported(crossing_groups: Path) -> None:
    result = run("equalize", crossing_groups, *TYPED, "--favor", "m", "--favorable", "flag", "--around", "0.5")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "band" in result.stderr
    strange = run("equalize", crossing_groups, *TYPED, "--favor", "x", "--favorable", "flag")
    assert strange.exit_code == 3
    assert "sex = f" in strange.stderr


@pytest.mark.slow
def test_frontier_is_appended(crossing_groups: Path) -> None:
    output = run_json(crossing_groups, *TYPED, "--frontier")
    t = read.tallies(crossing_groups, truth="sick", score="risk", group="sex")
    wanted = fairness.frontier(t, Goal())
    rows = [row for row in output["rows"] if row["table"] == "frontier"]
    assert [(row["within"], row["cost"]) for row in rows] == [(row["within"], row["cost"]) for row in wanted.rows()]
    assert all(row["cost"] is None for row in output["rows"] if row["table"] == "account")
    assert output["data"]["frontier"]["free_from"] == wanted.data["free_from"]


def test_cross_validation_is_appended(crossing_groups: Path) -> None:
    output = run_json(
        crossing_groups, *TYPED, "--held-out", "--folds", "3", "--repeats", "2", "--seed", "7", "--within", "0.05"
    )
    t = read.tallies(crossing_groups, truth="sick", score="risk", group="sex")
    deal = Folds(folds=3, repeats=2, seed=7)
    wanted = fairness.cross_validate(t, Goal(within=0.05), folds=deal, interval=IntervalOptions(seed=7)).results()
    rows = [row for row in output["rows"] if row["table"] == "held_out"]
    names = ("measure", "kind", "rate", "group", "value", "low", "high")
    assert [[row[name] for name in names] for row in rows] == [[row[name] for name in names] for row in wanted.rows()]
    assert not any("does not hold exactly on others" in note for note in output["data"]["notes"])


@pytest.mark.slow
def test_all_tables_fit_the_terminal(crossing_groups: Path) -> None:
    typed = (*TYPED, "--within", "0.02", "--frontier", "--held-out", "-q")
    assert matches_snapshot(run("equalize", crossing_groups, *typed).stdout, "equalize-all")
    assert fits_terminal("equalize", crossing_groups, *typed, widths=(60, 80, 100, 140))


def test_the_default_objective_may_be_named(crossing_groups: Path) -> None:
    typed = ("equalize", crossing_groups, *TYPED, "-q", "--json")
    plain, named = (run(*typed, *more).stdout for more in ((), ("--objective", "cost")))
    assert plain
    assert named == plain
