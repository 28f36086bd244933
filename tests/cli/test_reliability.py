"""`baserate reliability`: snapshots, JSON and CSV, and refused options."""

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

import baserate
from baserate.text._tables import display_width
from tests.cli.shell import matches_snapshot, run, write_people
from tests.cli.test_classes import pets
from tests.schemas import read_results
from tests.tiers import take_in_tiers, tiered_rows

ONE = ("--truth", "sick", "--score", "risk", "--positive", "1")
TWO = (*ONE, "--score", "old")
QUICK = ("--n-simulations", "50", "-q")
CLASSES = ("--truth", "is", "--scores", "p_", "--count", "times")
CURVES = ("binned", "isotonic", "lowess", "likelihood-ratio")


def write_screening(folder: Path) -> Path:
    """Four hundred people, whose risks are those of a prevalence of about one half; one in five is sick."""
    rng = np.random.default_rng(7)
    risk = rng.beta(1, 1, 1000).round(2)
    sick = rng.random(1000) < risk
    kept = (~sick | (rng.random(1000) < 0.25)).nonzero()[0][:400]
    path = folder / "screened.csv"
    rows = (f"{int(sick[at])},{risk[at]},{'north' if at % 3 else 'hill'}\n" for at in kept)
    path.write_text("sick,risk,site\n" + "".join(rows), encoding="utf-8")
    return path


VIEWS: dict[str, tuple[str, ...]] = {
    "reliability": (*ONE, *QUICK),
    "reliability-narrow": (*ONE, *QUICK),
    "reliability-groups": (*ONE, "--group", "site", *QUICK),
    "reliability-md": (*ONE, "--format", "md", *QUICK),
    "reliability-plain": (*ONE, "--n-simulations", "0", "--level", "0.9", "-q"),
    "reliability-derived": (*ONE, "--sample-prevalence", "derived", *QUICK),
    "reliability-given-80": (*ONE, "--sample-prevalence", "0.5", *QUICK),
    **{f"reliability-{what}": (*ONE, "--curve", what, "-q") for what in CURVES},
    "reliability-confidence": (*ONE, "--curve", "lowess", "--band", "confidence", "--points", "6", "-q"),
    "reliability-curve-groups": (*ONE, "--curve", "binned", "--by", "mass", "--bins", "4", "--group", "site", "-q"),
}


def width_of(name: str) -> int:
    return 60 if name.endswith("narrow") else 80 if name.endswith("80") else 100


@pytest.mark.quick(5)
@pytest.mark.parametrize("name", VIEWS)
def test_snapshot_of_terminal_output(name: str, tmp_path: Path) -> None:
    result = run("reliability", write_screening(tmp_path), *VIEWS[name], env={"COLUMNS": str(width_of(name))})
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)
    if not name.endswith("md"):
        assert max(map(display_width, result.stdout.splitlines())) <= width_of(name)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("reliability-classes", QUICK),
        ("reliability-classes-curve", ("--curve", "likelihood-ratio", "--bins", "4", "-q")),
    ],
)
def test_snapshot_of_several_classes(name: str, typed: tuple[str, ...], tmp_path: Path) -> None:
    result = run("reliability", pets(tmp_path), *CLASSES, *typed)
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, name)


def test_snapshot_of_two_models(tmp_path: Path) -> None:
    result = run("reliability", write_people(tmp_path), *TWO, *QUICK)
    assert result.exit_code == 0, result.stderr
    assert matches_snapshot(result.stdout, "reliability-models")


def test_snapshot_of_help() -> None:
    assert matches_snapshot(run("reliability", "--help").stdout, "help-reliability")


def read(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.stderr
    return read_results(result.stdout)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", take_in_tiers([name for name in VIEWS if not name.endswith(("md", "narrow"))], 3))
def test_json_fits_the_schema(name: str, tmp_path: Path) -> None:
    result = read(run("reliability", write_screening(tmp_path), *VIEWS[name], "--json"))
    assert result["rows"]


@pytest.mark.slow
@pytest.mark.parametrize("typed", take_in_tiers([QUICK, *(("--curve", what) for what in CURVES)], 2))
def test_json_of_several_classes_fits_the_schema(typed: tuple[str, ...], tmp_path: Path) -> None:
    rows = read(run("reliability", pets(tmp_path), *CLASSES, *typed, "--json"))["rows"]
    assert list(dict.fromkeys((row["class"], row["top"]) for row in rows)) == [
        *(("cat", False), ("dog", False), ("fish", False)),
        (None, True),
    ]


def test_errors_above_the_null_reference_are_marked(tmp_path: Path) -> None:
    path = write_screening(tmp_path)
    rows = read(run("reliability", path, *ONE, *QUICK, "--json"))["rows"]
    shown = run("reliability", path, *ONE, *QUICK).stdout
    (ece,) = (row for row in rows if row["measure"] == "ece" and not row["top"])
    assert ece["value"] > ece["floor_high"] >= ece["floor"] >= ece["floor_low"]
    assert f"{ece['value']:.4f}*" in shown
    assert "* more than chance explains" in shown


def test_verdict_states_the_prevalence(tmp_path: Path) -> None:
    result = read(run("reliability", write_screening(tmp_path), *ONE, *QUICK, "--json"))
    (output,) = result["data"]["verdicts"]
    (derived,) = (row["value"] for row in result["rows"] if row["measure"] == "derived_prevalence")
    assert output["verdict"] == f"no evidence against calibration for a prevalence of {derived:.4g}"


@pytest.mark.quick(1)
@pytest.mark.parametrize("prevalence", ["derived", "0.5", "50%"])
def test_observed_equals_expected_after_adjustment(prevalence: str, tmp_path: Path) -> None:
    rows = read(
        run(
            "reliability",
            write_screening(tmp_path),
            *ONE,
            "--sample-prevalence",
            prevalence,
            "--n-simulations",
            "0",
            "--json",
        )
    )["rows"]
    before, after = (row for row in rows if row["measure"] == "observed_expected")
    assert before["adjusted"] is None
    assert before["value"] < 0.7
    assert after["value"] == pytest.approx(1, abs=0.05)
    assert after["adjusted"] == 0.5 or prevalence == "derived"


@pytest.mark.slow
def test_tables_show_few_points_and_csv_all(tmp_path: Path) -> None:
    path = write_screening(tmp_path)
    typed = ("reliability", path, *ONE, "--curve", "isotonic")
    every = list(csv.DictReader(StringIO(run(*typed, "--format", "csv").stdout)))
    assert len(every) > 90
    assert sum(float(row["mass"]) for row in every) == 400
    shown = run(*typed)
    assert len([line for line in shown.stdout.splitlines() if line.startswith("  ")]) <= 25
    assert f"at most 25 of up to {len(every)} points of each curve are shown" in shown.stderr
    some = list(csv.DictReader(StringIO(run(*typed, "--format", "csv", "--points", "7").stdout)))
    assert len(some) <= 7


def test_csv_has_the_rows_of_json(tmp_path: Path) -> None:
    result = run("reliability", write_screening(tmp_path), *ONE, "--group", "site", *QUICK, "--format", "csv")
    rows = list(csv.DictReader(StringIO(result.stdout)))
    assert {row["group.site"] for row in rows} == {"", "north", "hill"}
    assert {"floor", "floor_high", "p", "freedom", "adjusted"} <= rows[0].keys()


def test_progress_of_long_work(tmp_path: Path) -> None:
    output: list[tuple[int, int]] = []
    tallies = baserate.read.tallies(write_screening(tmp_path), truth="sick", score="risk", group="site")
    baserate.infer.calibration_summary(
        tallies,
        options=baserate.infer.CalibrationOptions(n_simulations=0),
        watch=lambda done, parts: output.append((done, parts)),
    )
    assert output == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.slow
def test_seed_determines_the_results(tmp_path: Path) -> None:
    typed = ("reliability", write_screening(tmp_path), *ONE, *QUICK, "--format", "csv")
    first, again, other = (run(*typed, "--seed", seed).stdout for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.slow
def test_fitted_model_has_fewer_degrees_of_freedom(tmp_path: Path) -> None:
    # Probabilities of three groups, and two shares: their best line is the identity.
    path = tmp_path / "fitted.csv"
    cells = ((0.2, 8, 40), (0.5, 20, 40), (0.8, 32, 40))
    rows = (f"{int(at < positive)},{risk}\n" for risk, positive, rows in cells for at in range(rows))
    path.write_text("sick,risk\n" + "".join(rows), encoding="utf-8")
    for file, freedom in ((path, [3, 1]), (write_screening(tmp_path), [5, 5])):
        typed = ("reliability", file, *ONE, "--bins", "5", "--n-simulations", "0", "--json")
        freedoms = [
            next(row["freedom"] for row in read(run(*typed, *more))["rows"] if row["measure"] == "hosmer_lemeshow_test")
            for more in ((), ("--fitted",))
        ]
        assert freedoms == freedom


def write_rows(folder: Path, rows: str) -> Path:
    path = folder / "few.csv"
    path.write_text("sick,risk\n" + rows, encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "message"),
    tiered_rows(
        [
            ("1,0.3\n0,0.3\n0,0.3\n1,0.3\n0,0.3\n", "all probabilities are equal"),
            ("1,0.3\n1,0.4\n1,0.5\n", "there are no negatives"),
            ("1,1\n0,0\n1,1\n0,0\n", "all probabilities are 0 or 1, so outcomes cannot vary"),
            ("1,0.8\n0,0.2\n0,0.8\n1,0.2\n0,0.2\n", ""),
        ],
        1,
    ),
)
def test_degenerate_data_are_assessed_as_far_as_possible(rows: str, message: str, tmp_path: Path) -> None:
    path = write_rows(tmp_path, rows)
    for more in ((), ("--sample-prevalence", "derived"), ("--n-simulations", "0")):
        result = run("reliability", path, *ONE, "--n-simulations", "20", *more)
        assert result.exit_code == 0, result.stderr
        assert message in result.stdout
        assert "rows, too few to evaluate probabilities" in result.stderr
        read(run("reliability", path, *ONE, "--n-simulations", "20", *more, "--json"))
    for what in CURVES:
        assert run("reliability", path, *ONE, "--curve", what).exit_code == 0
        read(run("reliability", path, *ONE, "--curve", what, "--json"))


@pytest.mark.parametrize("more", [(), *(("--curve", what) for what in CURVES)])
def test_scores_outside_0_to_1_are_counted(more: tuple[str, ...], tmp_path: Path) -> None:
    result = run("reliability", write_rows(tmp_path, "1,0.3\n0,1.4\n0,-0.5\n"), *ONE, *more)
    assert result.exit_code == 3
    assert "2 rows have scores outside [0, 1] (from -0.5 to 1.4)" in result.stderr


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ((*ONE, "--sample-prevalence", "1.5"), "'1.5' is not a prevalence; expected"),
        ((*ONE, "--sample-prevalence", "often"), "'often' is not a prevalence"),
        (("--truth", "sick", "--predicted", "says"), "labels are not probabilities; instead of --predicted give"),
        ((*ONE, "--predicted", "says"), "labels are not probabilities"),
        (("--truth", "sick"), "name the columns of probabilities with one of them."),
        ((*ONE, "--scores", "risk"), "--scores for several; leave out one of them."),
        ((*ONE, "--labels", "0,1"), "--labels is for several classes; give a probability for each with --scores."),
        (("--truth", "sick", "--scores", "r", "--prevalence", "0.1"), "--prevalence is for two classes"),
        ((*ONE, "--points", "5"), "--points is for curves; add one, such as --curve isotonic."),
        ((*ONE, "--band", "confidence"), "--band is for curves"),
        (
            (*ONE, "--curve", "binned", "--n-simulations", "0"),
            "--n-simulations is for numbers and tests; leave it out, or leave out --curve.",
        ),
        ((*ONE, "--curve", "binned", "--fitted"), "--fitted is for numbers and tests"),
        ((*ONE, "--curve", "lowess", "--sample-prevalence", "0.1"), "--sample-prevalence is for numbers and tests"),
        ((*ONE, "--curve", "lowess", "--bins", "5"), "are for bins, and lowess curves have none; leave them out."),
        ((*ONE, "--curve", "isotonic", "--by", "mass"), "are for bins, and isotonic curves have none"),
        ((*ONE, "--curve", "binned", "--seed", "0"), "--seed is for simulated bands, of --curve isotonic or"),
        (
            (*ONE, "--curve", "likelihood-ratio", "--band", "consistency"),
            "--band is for --curve isotonic or --curve lowess",
        ),
        ((*ONE, "--bins", "0"), "'--bins'"),
        ((*ONE, "--level", "2"), "'2' is not a confidence level"),
    ],
)
def test_invalid_options_are_refused(typed: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = run("reliability", write_people(tmp_path), *typed)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.slow
def test_more_bins_than_scores_are_accepted(tmp_path: Path) -> None:
    rows = read(run("reliability", write_people(tmp_path), *ONE, "--curve", "binned", "--bins", "500", "--json"))[
        "rows"
    ]
    assert sum(row["mass"] for row in rows) == 10
    assert run("reliability", write_people(tmp_path), *ONE, "--bins", "500", *QUICK).exit_code == 0


def test_definition_of_quantiles(tmp_path: Path) -> None:
    typed = (write_people(tmp_path), *ONE, *QUICK, "--smoother", "isotonic", "--format", "json")
    values = {}
    for name in ("inverted_cdf", "linear"):
        rows = read_results(run("reliability", *typed, "--quantile", name).stdout)["rows"]
        values[name] = {row["measure"]: row["value"] for row in rows}
    first, second = values["inverted_cdf"], values["linear"]
    assert [name for name in first if first[name] != second[name]] == ["e50", "e90"]
    refused = run("reliability", write_screening(tmp_path), *ONE, "--curve", "binned", "--quantile", "linear")
    assert (refused.exit_code, "--quantile is for numbers and tests" in refused.stderr) == (2, True)
