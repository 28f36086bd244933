"""P-values of tests, and objects without a truth value."""

import json
from collections.abc import Callable
from math import nan
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from baserate import Rows, Tallies, Tally, UsageError, fairness, infer, shift, tally
from baserate._formatting import format_p, format_p_phrase
from baserate._tally import Group
from baserate.infer import compare, tabulate_comparisons
from baserate.infer._binomial import NormalLevel, clopper_pearson, normal_quantile, t_widening, tail_probability, wilson
from baserate.infer._comparison import interval_p
from tests.cli.shell import run


@pytest.mark.parametrize("z", [6.0, 9.0, 15.0, 30.0])
def test_interval_p_values_reach_the_smallest_float(z: float) -> None:
    def interval(level: float) -> tuple[float, float]:
        return z - normal_quantile(level), z + normal_quantile(level)

    assert interval_p(interval, z, "two-sided", 0.0) == pytest.approx(2 * norm.sf(z), rel=1e-9)


@pytest.mark.parametrize("measure", ["sensitivity", "brier", "ks", "average_precision"])
def test_newcombe_p_values_of_very_different_samples_differ(measure: str) -> None:
    rng = np.random.default_rng(2)
    result = []
    for size in (400, 600, 800):
        truth = rng.random(size) < 0.5
        good, chance = np.clip(0.45 * truth + 0.5 * rng.random(size), 0.01, 0.99), rng.random(size)
        result.append(infer.compare_unpaired(tally(truth, good), tally(truth, chance), measure=measure, threshold=0.5))
    assert max(each.p for each in result) < 1e-16
    assert len({each.p for each in result}) == 3
    assert not any(each.p_is_bound for each in result)
    assert "p < 0.0001)" in repr(result[0])


def test_newcombe_p_is_where_the_interval_just_reaches_zero() -> None:
    a, b = (Tally.from_counts([1.0, 0.0], [[hits, 1000 - hits], [0, 0]]) for hits in (650, 350))
    result = infer.compare_unpaired(a, b, measure="sensitivity", threshold=0.5)

    # By hand: z at which sqrt((p1 - l1)^2 + (u2 - p2)^2) is the difference, with Wilson's limits l1 and u2.
    def reach(z: float) -> float:
        def limits(p: float) -> tuple[float, float]:
            middle, half = p + z * z / 2000, z * np.sqrt(p * (1 - p) / 1000 + z * z / 4e6)
            return (middle - half) / (1 + z * z / 1000), (middle + half) / (1 + z * z / 1000)

        return float(np.hypot(0.65 - limits(0.65)[0], limits(0.35)[1] - 0.35)) - 0.3

    z = brentq(reach, 1.0, 37.0, xtol=1e-13)
    assert result.p == pytest.approx(2 * norm.sf(z), rel=1e-8)
    assert result.p < 1e-30


def test_bootstrap_p_values_without_samples_beyond_are_bounds() -> None:
    rng = np.random.default_rng(5)
    truth = rng.random(400) < 0.5
    rows = Rows(truth, {"good": truth * 0.5 + 0.5 * rng.random(400), "bad": rng.random(400)})
    (sure,) = compare(rows, measure="f1", threshold=0.5)
    assert sure.p == pytest.approx(2 / 10_000)
    assert sure.p_is_bound
    assert f"p ≤ {sure.p:.6g})" in repr(sure)
    (row,) = tabulate_comparisons([sure]).rows()
    assert (row["p"], row["p_adjusted"], row["p_is_bound"]) == (sure.p, sure.p, True)
    (unsure,) = compare(Rows(truth, {"a": rng.random(400), "b": rng.random(400)}), measure="f1", threshold=0.5)
    assert not unsure.p_is_bound


def test_levels_that_store_their_quantile_give_the_same_intervals() -> None:
    z = normal_quantile(0.95)
    level = NormalLevel(z)
    assert float(level) == pytest.approx(0.95)
    assert tail_probability(level) == pytest.approx(0.05)
    for method in (wilson, clopper_pearson):
        assert method(20, 80, level) == pytest.approx(method(20, 80, 0.95))
    assert t_widening(9, level) == pytest.approx(t_widening(9, 0.95))


def test_null_reference_p_values_without_simulations_beyond_are_bounds() -> None:
    rng = np.random.default_rng(0)
    risk = rng.random(500)
    far = infer.null_reference("ece", tally(rng.random(500) < risk**4, risk), n_simulations=200)
    assert (far.p, far.p_is_bound) == (1 / 201, True)
    near = infer.null_reference("ece", tally(rng.random(500) < risk, risk), n_simulations=200)
    assert not near.p_is_bound


def test_permutation_p_values_without_permutations_beyond_are_bounds() -> None:
    tables = {"a": [400, 100], "b": [200, 300]}
    actual: dict[Group, Tally] = {
        (name,): Tally.from_counts([1.0, 0.0], [hits, [0, 0]]) for name, hits in tables.items()
    }
    result = fairness.group_gaps(Tallies({"m": actual}, ("g",)), measures=["sensitivity"], n_permutations=99)
    (row,) = [row for row in result.rows() if row["kind"] == "max_difference"]
    assert (row["p"], row["p_is_bound"]) == (0.01, True)


@pytest.mark.parametrize(
    ("p", "bound", "shown"),
    [
        (1.2e-15, False, "< 0.0001"),
        (9.9e-5, True, "< 0.0001"),
        (0.0001, False, "0.00010"),
        (0.0002, True, "≤ 0.00020"),
        (0.0456, None, "0.046"),
        (1.0, False, "1"),
        (nan, None, "–"),
        (None, None, "–"),
    ],
)
def test_formatting_of_p_values(p: float | None, bound: bool | None, shown: str) -> None:  # noqa: FBT001
    assert format_p(p, is_bound=bound) == shown
    sentence = f"p {shown}" if shown[0] in "<≤" else f"p = {shown}"
    assert format_p_phrase(p, is_bound=bound) == sentence


def people(folder: Path) -> Path:
    """Write three models, two of which are far better than the third."""
    rng = np.random.default_rng(1)
    truth = rng.random(900) < 0.4
    models = [np.clip(weight * truth + rng.random(900), 0, 2) / 2 for weight in (1.0, 0.8, 0.0)]
    lines = [f"{y:d},{a:.4f},{b:.4f},{c:.4f}" for y, a, b, c in zip(truth, *models, strict=True)]
    path = folder / "models.csv"
    path.write_text("\n".join(["sick,new,old,none", *lines]) + "\n", encoding="utf-8")
    return path


THREE = ("--truth", "sick", "--score", "new", "--score", "old", "--score", "none", "--positive", "1")


def test_compare_notes_that_p_values_are_adjusted_and_intervals_are_not(tmp_path: Path) -> None:
    path = people(tmp_path)
    for form in ("table", "md"):
        shown = run("compare", path, *THREE, "--format", form, "-q").stdout
        assert "Holm-adjusted p" in shown
        assert "< 0.0001" in shown.replace("\\", "").replace("&lt;", "<")
        assert "e-" not in shown
        assert "95% confidence intervals are not adjusted for multiplicity" in " ".join(shown.split())
    exact = json.loads(run("compare", path, *THREE, "--json", "-q").stdout)["rows"]
    exact = [row for row in exact if row["p"] is not None]  # nobody is flagged by one of the models
    assert 0 < min(row["p"] for row in exact) < 1e-20
    assert all(row["p"] <= row["p_adjusted"] for row in exact)
    # Only p-values that count simulated tables are bounds.
    assert {row["measure"] for row in exact if row["p_is_bound"]} == {"npv"}


def test_a_report_has_raw_and_adjusted_p_values(tmp_path: Path) -> None:
    path = people(tmp_path)
    saved = tmp_path / "report.json"
    shown = run("report", path, *THREE, "--save-json", saved, "-q").stdout
    assert "Holm-adjusted p" in shown
    assert "confidence intervals are not adjusted for multiplicity" in " ".join(shown.split())
    rows = [row for row in json.loads(saved.read_text())["rows"] if row["part"] == "differences"]
    wanted = json.loads(run("compare", path, *THREE, "--json", "-q").stdout)["rows"]
    for row, each in zip(rows, wanted, strict=True):
        assert (row["p"], row["p_adjusted"], row["p_is_bound"]) == (each["p"], each["p_adjusted"], each["p_is_bound"])
    assert any(row["p"] < row["p_adjusted"] for row in rows)


def test_reliability_notes_that_p_values_are_not_adjusted(tmp_path: Path) -> None:
    typed = ("reliability", people(tmp_path), "--truth", "sick", "--score", "none", "--positive", "1", "-q")
    shown = run(*typed, "--n-simulations", "50").stdout
    output = " ".join(shown.split())
    assert "< 0.0001" in shown
    assert "Neither p-values nor intervals are adjusted for multiplicity" in output
    exact = json.loads(run(*typed, "--n-simulations", "50", "--json").stdout)["rows"]
    marked = {row["measure"]: row["p_is_bound"] for row in exact if row["p"] is not None}
    assert marked["ece"] is True
    assert marked["cox_test"] is False


rng = np.random.default_rng(1)
RISK = rng.random(200)
SICK = rng.random(200) < RISK
SAMPLE = tally(SICK, RISK)
MODELS = Rows(SICK, {"new": RISK, "old": rng.random(200)})

FOUND: dict[str, tuple[Callable[[], object], str]] = {
    "Comparison": (lambda: infer.compare(MODELS, measure="auc")[0], "comparison.p < 0.05"),
    "CalibrationTest": (lambda: infer.spiegelhalter(SAMPLE), "test.p < 0.05"),
    "NullReference": (lambda: infer.null_reference("ece", SAMPLE, n_simulations=50), "reference.within"),
    "IntrinsicCalibration": (lambda: infer.intrinsic_calibration(SAMPLE, n_simulations=50), "intrinsic.calibrated"),
    "LabelShiftTestResult": (lambda: shift.LabelShiftTestResult((infer.spiegelhalter(SAMPLE),), ()), "result.rejected"),
}


@pytest.mark.parametrize("name", FOUND)
def test_a_test_result_is_neither_true_nor_false(name: str) -> None:
    make, remedy = FOUND[name]
    result = make()
    assert type(result).__name__ == name
    with pytest.raises(UsageError, match=f"n? ?{name} is neither true nor false; .*{remedy}"):
        bool(result)


@pytest.mark.parametrize("name", FOUND)
def test_attributes_named_by_the_message_exist(name: str) -> None:
    make, remedy = FOUND[name]
    _, _, rest = remedy.partition(".")
    assert eval(f"found.{rest}", {"found": make()}) in {True, False, None}  # noqa: S307  (our own message)
