"""`baserate size`: snapshots, JSON, and errors."""

import json
import shlex
from typing import Any

import pytest

from baserate import population
from baserate.infer import (
    hypothetical_pair,
    sample_size_by_simulation,
    sample_size_for_auc,
    sample_size_for_auc_difference,
    sample_size_for_auc_test,
    sample_size_for_proportion,
    sample_size_for_proportion_difference,
    sample_size_for_proportion_test,
)
from baserate.text._tables import display_width
from tests.cli.shell import matches_snapshot, run
from tests.cli.test_program import HEAVY, loaded_modules
from tests.schemas import check_schema
from tests.tiers import take_in_tiers

AUC = ("size", "auc", "--expect", "0.8", "--prevalence", "0.1")
SENSITIVITY = ("size", "sensitivity", "--expect", "0.9", "--prevalence", "0.1")
F1 = ("population", "binormal", "--prevalence", "0.1", "size", "f1", "--half-width", "0.03", "--threshold", "1")

VIEWS: dict[str, tuple[str, ...]] = {
    "size-auc": (*AUC, "--half-width", "0.03"),
    "size-auc-against": (*AUC, "--against", "0.75", "--correlation", "0.5", "--power", "0.9"),
    "size-partial-auc": (
        *("size", "partial_auc", "--expect", "0.12", "--against", "0.1", "--prevalence", "0.1"),
        *("--fpr", "0,0.2", "--correlation", "0.5"),
    ),
    "size-precision-md": (
        *("size", "precision", "--expect", "0.8", "--half-width", "0.03", "--flag-rate", "0.2", "--format", "md"),
    ),
    "size-sensitivity-against": (*SENSITIVITY, "--against", "0.8", "--one-sided"),
    "size-sensitivity-goal-narrow": (*SENSITIVITY, "--goal", "0.8"),
    "size-simulated": F1,
}


@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str) -> None:
    width = 60 if name.endswith("narrow") else 100
    result = run(*VIEWS[name], env={"COLUMNS": str(width)})
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout + result.stderr, name)
    if not name.endswith("md"):
        assert max(map(display_width, result.stdout.splitlines())) <= width


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("size", "--help").stdout, "help-size")


@pytest.mark.quick(1)
@pytest.mark.parametrize("typed", [["size", "--help"], ["population", "linear", "size", "--help"]])
def test_help_loads_no_heavy_package(typed: list[str]) -> None:
    assert not loaded_modules(*typed) & (HEAVY | {"baserate.population", "baserate.infer"})


def run_json(*typed: str) -> tuple[dict[str, Any], dict[str, Any]]:
    result = run(*typed, "--json", "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    actual = json.loads(result.stdout)
    check_schema(actual)
    (row,) = actual["rows"]
    return row, actual["data"]


def test_auc_sizes_equal_those_of_the_library() -> None:
    row, data = run_json(*AUC, "--half-width", "0.03", "--level", "90%")
    assert row["rows"] == sample_size_for_auc(0.8, 0.03, prevalence=0.1, level=0.9).rows
    assert data["asked"] == {"expect": 0.8, "half_width": 0.03, "prevalence": 0.1, "level": 0.9}
    row, data = run_json(*AUC, "--goal", "0.7", "--power", "0.9", "--one-sided")
    assert row["rows"] == sample_size_for_auc_test(0.8, null=0.7, power=0.9, prevalence=0.1, sides=1).rows
    assert data["asked"]["one_sided"] is True
    pair = hypothetical_pair(0.8, 0.75, correlation=0.0)
    row, _ = run_json(*AUC, "--against", "0.75", "--correlation", "0", "--alpha", "0.01")
    assert row["rows"] == sample_size_for_auc_difference(pair, power=0.8, prevalence=0.1, alpha=0.01).rows
    assert (row["samples"], run_json(*AUC, "--against", "0.75")[0]["samples"]) == (1, 2)


def test_share_sizes_equal_those_of_the_library() -> None:
    row, _ = run_json(*SENSITIVITY, "--half-width", "0.05")
    assert row["rows"] == sample_size_for_proportion("sensitivity", 0.9, 0.05, prevalence=0.1).rows == 1410
    row, _ = run_json(*SENSITIVITY, "--goal", "0.8")
    assert row["rows"] == sample_size_for_proportion_test("sensitivity", 0.9, goal=0.8, power=0.8, prevalence=0.1).rows
    for typed, options in (
        (["--paired"], {"paired": True}),
        (["--discordance", "0.15"], {"discordance": 0.15}),
        ([], {"paired": False}),
    ):
        result = sample_size_for_proportion_difference("recall", 0.9, 0.8, power=0.8, prevalence=0.1, **options)
        row, _ = run_json(*SENSITIVITY, "--against", "0.8", *typed)
        assert (row["rows"], row["samples"]) == (result.rows, result.samples)
    row, _ = run_json("size", "TPR", "--expect", "0", "--half-width", "0.1", "--prevalence", "0.5")
    assert row["measure"] == "sensitivity"


def test_sizes_are_simulated() -> None:
    row, data = run_json(*F1)
    result = population.binormal(prevalence=0.1)
    assert row["rows"] == sample_size_by_simulation(result, "f1", 0.03, threshold=1.0).rows
    assert row["error"] > 0
    assert data["family"] == "binormal"
    again, _ = run_json(
        "population", "linear", "size", "auc", "--half-width", "0.05", "--n-simulations", "400", "--seed", "7"
    )
    assert again["rows"] == sample_size_by_simulation(population.linear(), "auc", 0.05, n_simulations=400, seed=7).rows


SUGGESTED = [
    *(
        ("size", name, "--expect", "1", "--half-width", "0.2", "--prevalence", "0.1")
        for name in ("o/e", "brier", "ece")
    ),
    ("size", "f1", "--expect", "0.8", "--half-width", "0.1"),
    ("size", "calibration slope", "--expect", "1", "--goal", "0.8", "--prevalence", "0.3"),
    ("size", "mcc", "--expect", "0.8", "--against", "0.7"),
    ("size", "average precision", "--expect", "0.8", "--half-width", "0.1"),
]


@pytest.mark.quick(1)
@pytest.mark.parametrize("typed", take_in_tiers(SUGGESTED, 2), ids=lambda typed: str(typed[1]))
def test_suggested_command_works(typed: tuple[str, ...]) -> None:
    refused = run(*typed)
    assert refused.exit_code == 2
    program, *suggested = shlex.split(refused.stderr.split("`")[1])
    assert program == "baserate"
    row, data = run_json(*suggested)
    assert row["rows"] > 0
    prevalence = dict(zip(typed[2::2], typed[3::2], strict=True)).get("--prevalence", "0.5")
    assert data["prevalence"] == float(prevalence)


@pytest.mark.slow
def test_observed_expected_assumes_a_calibrated_model() -> None:
    typed = ("population", "linear", "--prevalence", "0.1", "size", "o/e", "--half-width", "0.2")
    row, data = run_json(*typed)
    assert 600 < row["rows"] < 864  # 865 rows with E known; the scores themselves would have given 100
    assert data["calibrated"] is True
    text = run(*typed)
    assert "sample size for a calibrated model" in text.stderr
    assert "865 rows (Riley et al. 2021)" in text.stderr
    assert "of a calibrated model" in run(*typed, "--explain").stdout
    assert run_json(*F1)[1]["calibrated"] is False


def test_assumptions_are_stated() -> None:
    assert "assumed to err independently" in run(*SENSITIVITY, "--against", "0.8", "--paired").stderr
    assert "rows of its own" in run(*SENSITIVITY, "--against", "0.8").stderr
    assert "rows of its own" not in run(*SENSITIVITY, "--against", "0.8", "--discordance", "0.2").stderr
    assert run(*SENSITIVITY, "--goal", "0.8", "--format", "csv").stderr.startswith("sensitivity · expect 0.9 · goal")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (AUC, "give one of --half-width"),
        ((*AUC, "--half-width", "0.1", "--goal", "0.5"), "give one of --half-width"),
        ((*AUC, "--goal", "0.8"), "0.8 is expected of both"),
        ((*AUC, "--half-width", "0.5"), "0.5 is not in the range 1e-09<=x<=0.499999999"),
        (("size", "auc", "--expect", "0.8", "--half-width", "0.1"), "give --prevalence"),
        (
            ("size", "auc", "--expect", "1", "--half-width", "0.1", "--prevalence", "0.1"),
            "expect is 1.0; expected a number from 1e-12 to 1 - 1e-12",
        ),
        (
            ("size", "auc", "--expect", "0.8", "--half-width", "0.1", "--prevalence", "1"),
            "not in the range 1e-12<=x<=",
        ),
        ((*AUC, "--against", "0.7", "--paired"), "--paired has no use for this aim"),
        ((*AUC, "--half-width", "0.1", "--correlation", "0.5"), "--correlation has no use for this aim"),
        ((*SENSITIVITY, "--against", "0.7", "--correlation", "0.5"), "--correlation has no use for this aim"),
        ((*SENSITIVITY, "--half-width", "0.1", "--discordance", "0.5"), "--discordance has no use for this aim"),
        ((*SENSITIVITY, "--against", "0.8", "--discordance", "0.5"), "differ on 0.1 to 0.3 of the trials"),
        (("size", "recall", "--expect", "0.8", "--half-width", "0.1"), "; give --prevalence, the share of positives"),
        (("size", "npv", "--expect", "0.8", "--half-width", "0.1"), "; give --flag-rate, the share that is flagged"),
        (("size", "npv", "--expect", "0.8", "--against", "0.7"), "two models do not flag the same rows"),
        (("size", "f1", "--expect", "0.8", "--half-width", "0.1"), "expected auc or a share of rows. Simulate it with"),
        (("size", "f11", "--expect", "0.8", "--half-width", "0.1"), "there is no measure 'f11'. Did you mean 'f1'"),
        (("size", "auc"), "missing option '--expect'"),
        (F1[:-2], "f1 requires a threshold; give --threshold."),
        ((*AUC, "--half-width", "0.1", "--correlation", "0"), "--correlation has no use for this aim"),
        ((*AUC, "--half-width", "0.1", "--one-sided"), "--one-sided has no use for this aim"),
        ((*SENSITIVITY, "--half-width", "0.1", "--power", "0.8"), "--power has no use for this aim"),
        ((*SENSITIVITY, "--goal", "0.8", "--level", "0.9"), "--level has no use for this aim"),
        ((*AUC, "--against", "0.7", "--level", "0.95"), "--level has no use for this aim"),
        (
            (*AUC, "--half-width", "0.1", "--level", "95"),
            "'95' is not a confidence level; expected a confidence level",
        ),
        (("size", "npv", "--expect", "0.8", "--against", "0.7"), "or show of one model that it reaches a --goal."),
        (
            ("population", "binormal", "size", "dor", "--half-width", "0.5", "--threshold", "40"),
            "diagnostic_odds_ratio is undefined or infinite in too many samples, even of 1e+11 rows; choose another",
        ),
        (
            (*AUC, "--against", "0.7", "--power", "0.04"),
            "power is 0.04, which every test reaches by chance at --alpha 0.05",
        ),
    ],
)
def test_errors_are_one_line(typed: tuple[str, ...], message: str) -> None:
    result = run(*typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


PARTIAL = ("size", "partial_auc", "--expect", "0.12", "--prevalence", "0.1")


def test_partial_areas_as_in_the_library() -> None:
    typed = (*PARTIAL, "--against", "0.1", "--fpr", "0,0.2", "--correlation", "0.5", "--spread-ratio", "2", "--json")
    (row,) = json.loads(run(*typed).stdout)["rows"]
    pair = hypothetical_pair(0.12, 0.1, correlation=0.5, fpr=(0, 0.2), spread_ratio=2)
    wanted = sample_size_for_auc_difference(pair, power=0.8, prevalence=0.1)
    assert (row["rows"], row["power"]) == (wanted.rows, wanted.power)


def test_rates_and_shares_may_be_percentages() -> None:
    shares, percentages = (
        run("size", "partial_auc", "--expect", "0.12", "--against", "0.1", "--prevalence", low, "--fpr", fpr, "--json")
        for low, fpr in (("0.1", "0,0.2"), ("10%", "0%,20%"))
    )
    assert shares.exit_code == 0
    assert shares.stdout == percentages.stdout


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--half-width", "0.01", "--fpr", "0,0.2"), "give --against"),
        (("--against", "0.1"), "give them, for example --fpr 0,0.2"),
        (("--against", "0.1", "--fpr", "0.3,0.2"), "not an interval of rates"),
        (("--against", "0.1", "--fpr", "0,often"), "not an interval of rates"),
        (("--against", "0.1", "--fpr", "0,nan"), "not an interval of rates"),
        (("--against", "0.1", "--fpr", "0,0.1"), "expected above 0 and below 0.1"),
        (("--against", "0.1", "--fpr", "0,0.2", "--discordance", "0.2"), "--discordance has no use"),
    ],
)
def test_wrong_plans_of_partial_areas(typed: tuple[str, ...], message: str) -> None:
    result = run(*PARTIAL, *typed)
    assert result.exit_code == 2
    assert message in result.stderr


def test_false_positive_rates_are_for_partial_areas() -> None:
    result = run(*AUC, "--against", "0.75", "--fpr", "0,0.2")
    assert "--fpr has no use for this aim of auc" in result.stderr
