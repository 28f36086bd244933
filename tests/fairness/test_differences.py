"""Groups against a reference group, the rest or everybody: differences and ratios."""

from math import isnan, log, sqrt
from typing import Any

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame, selection_rate, true_positive_rate
from hypothesis import given, settings, strategies as st
from scipy.optimize import brentq
from sklearn.metrics import precision_score, roc_auc_score

from baserate import Counts, OptionError, Tallies, Tally, UnknownNameError, fairness, infer, read
from baserate.fairness._differences import RelativeTo
from baserate.infer._binomial import wilson
from baserate.infer._pooled_contrasts import bound_ratio, compare_with_whole, is_mean
from baserate.measure import MEASURES, describe
from tests.fairness.test_groups import people, tallies

MEASURED = ["flag_rate", "sensitivity", "precision"]
cell = st.integers(0, 40)
table = st.tuples(cell, cell, cell, cell)
ONE: dict[str, Any] = {"min_group": 1}


def rows_by_group(results: Any, measure: str) -> dict[Any, dict[str, Any]]:  # noqa: ANN401
    return {next(iter(row["group"].values())): row for row in results.rows() if row["measure"] == measure}


@pytest.mark.parametrize("method", ["difference", "ratio"])
def test_values_to_overall_equal_those_of_fairlearn(method: str) -> None:
    data = people()
    said = (data["risk"] >= 0.4).astype(int)
    metrics = {"flag_rate": selection_rate, "sensitivity": true_positive_rate, "precision": precision_score}
    frame = MetricFrame(metrics=metrics, y_true=data["sick"], y_pred=said, sensitive_features=data["site"])
    t = read.tallies(data, truth="sick", score="risk", group="site")
    compare = fairness.group_differences if method == "difference" else fairness.group_ratios
    results = compare(t, policy=0.4, measures=MEASURED, relative_to="overall")
    for name in MEASURED:
        values = [row["value"] for row in rows_by_group(results, name).values()]
        theirs = getattr(frame, method)(method="to_overall")[name]
        # fairlearn has one number: the greatest absolute difference, or the least ratio or inverse ratio.
        own = max(map(abs, values)) if method == "difference" else min(min(value, 1 / value) for value in values)
        assert own == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("method", ["difference", "ratio"])
def test_values_to_overall_equal_those_of_each_group(method: str) -> None:
    data = people()
    t = read.tallies(data, truth="sick", score="risk", group="site")
    compare = fairness.group_differences if method == "difference" else fairness.group_ratios
    rows = rows_by_group(compare(t, measures=["auc"], relative_to="overall"), "auc")
    whole = roc_auc_score(data["sick"], data["risk"])
    for site, row in rows.items():
        own = roc_auc_score(data["sick"][data["site"] == site], data["risk"][data["site"] == site])
        assert row["value"] == pytest.approx(own - whole if method == "difference" else own / whole, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(table, table, table)
def test_differences_to_everybody_are_parts_of_those_to_the_rest(a: Any, b: Any, c: Any) -> None:  # noqa: ANN401
    t = tallies({"a": a, "b": b, "c": c})
    rest, whole = (
        rows_by_group(fairness.group_differences(t, measures=["sensitivity"], relative_to=to, **ONE), "sensitivity")
        for to in ("rest", "overall")
    )
    trials = {name: cells[0] + cells[2] for name, cells in {"a": a, "b": b, "c": c}.items()}
    for name, row in whole.items():
        if row["value"] is None or rest[name]["value"] is None:
            continue
        share = trials[name] / sum(trials.values())
        for bound in ("value", "low", "high"):
            assert row[bound] == pytest.approx((1 - share) * rest[name][bound], abs=1e-9)
        assert row["p"] == pytest.approx(rest[name]["p"], rel=1e-6, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(table, table, st.sampled_from(["reference", "rest", "overall"]))
def test_ratios_contain_1_where_differences_contain_0(a: Any, b: Any, to: RelativeTo) -> None:  # noqa: ANN401
    t = tallies({"a": a, "b": b})
    differences, ratios = (
        compare(t, measures=["flag_rate"], relative_to=to, **ONE).rows()
        for compare in (fairness.group_differences, fairness.group_ratios)
    )
    for difference, ratio in zip(differences, ratios, strict=True):
        if ratio["value"] is None or difference["value"] is None:
            continue
        low, high = (float(ratio[name]) for name in ("low", "high"))
        assert 0 <= low <= float(ratio["value"]) <= high
        if min(abs(difference["low"]), abs(difference["high"])) > 1e-9:
            assert (low < 1 < high) == (difference["low"] < 0 < difference["high"])
        assert ratio["p"] == difference["p"]


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40), st.integers(1, 40))
def test_bounds_of_a_ratio_solve_their_equation(a: int, b: int, c: int, d: int) -> None:
    values = a / (a + b), c / (c + d)
    first, second = wilson(a, b, 0.95), wilson(c, d, 0.95)
    low, high = bound_ratio(values, first, second)

    def excess(r: float, x: float, y: float) -> float:
        return abs(values[0] - r * values[1]) - sqrt((values[0] - x) ** 2 + r**2 * (y - values[1]) ** 2)

    # As R leaves the observed ratio, 0 leaves the interval of the difference of the first and R times the second.
    middle = values[0] / values[1]
    assert low == pytest.approx(brentq(lambda r: excess(r, first[0], second[1]), 0, middle), rel=1e-6)
    assert high == pytest.approx(brentq(lambda r: excess(r, first[1], second[0]), middle, 1e9), rel=1e-6)


def test_interval_of_a_ratio_is_near_that_of_the_logarithm_in_large_samples() -> None:
    t = tallies({"a": (6000, 0, 14_000, 0), "b": (9000, 0, 21_500, 0)})
    row = rows_by_group(fairness.group_ratios(t, measures=["flag_rate"]), "flag_rate")["a"]
    error = sqrt(1 / 6000 - 1 / 20_000 + 1 / 9000 - 1 / 30_500)  # Katz
    for bound, sign in (("low", -1), ("high", 1)):
        assert log(row[bound]) == pytest.approx(log(row["value"]) + sign * 1.959964 * error, abs=1e-4)


def test_two_groups_are_one_hypothesis() -> None:
    t = tallies({"a": (40, 10, 20, 30), "b": (30, 25, 35, 40)})
    one = fairness.group_differences(t, measures=["fpr", "sensitivity"], **ONE).rows()
    for to in ("rest", "overall"):
        rows = fairness.group_differences(t, measures=["fpr", "sensitivity"], relative_to=to, **ONE).rows()
        assert len(rows) == 4
        for row in rows:
            (same,) = [each for each in one if each["measure"] == row["measure"]]
            assert row["p"] == pytest.approx(same["p"], rel=1e-6)
            assert row["other"] is None
            assert row["relative_to"] == to
        wanted = infer.holm([rows[0]["p"], rows[2]["p"]])
        assert [row["p_adjusted"] for row in rows] == [wanted[0], wanted[0], wanted[1], wanted[1]]


def test_small_groups_are_not_tested() -> None:
    t = tallies({"a": (60, 60, 60, 60), "b": (60, 50, 60, 60), "c": (5, 2, 5, 3)})
    rows = rows_by_group(fairness.group_differences(t, measures=["fpr"], relative_to="rest"), "fpr")
    assert rows["c"]["p"] is None
    assert rows["c"]["why"] == "not tested: g = c has 5 negatives, fewer than the minimum of 50"
    assert rows["a"]["p"] is not None
    assert rows["c"]["low"] < rows["c"]["value"] < rows["c"]["high"]


def test_undefined_differences_have_a_reason() -> None:
    t = tallies({"a": (60, 60, 60, 60), "b": (0, 50, 0, 60)})
    _, row = fairness.group_differences(t, measures=["sensitivity"], relative_to="overall", **ONE).rows()
    assert (row["value"], row["why"]) == (None, "g = b: there are no positives")


def test_a_reference_and_another_baseline_are_refused() -> None:
    t = tallies({"a": (60, 60, 60, 60), "b": (60, 50, 60, 60)})
    with pytest.raises(OptionError, match="reference is 'a', and each group is compared with everybody"):
        fairness.group_differences(t, reference="a", relative_to="overall")
    wrong: Any = "average"
    with pytest.raises(UnknownNameError, match="average"):
        fairness.compare_groups(t, relative_to=wrong)


def test_ratios_of_measures_that_can_be_negative_are_undefined() -> None:
    t = tallies({"a": (40, 10, 20, 30), "b": (30, 25, 35, 40)})
    row = fairness.group_ratios(t, measures=["mcc"], **ONE).rows()[0]
    assert (row["value"], row["why"]) == (None, "the measure can be negative, so a ratio of its values means nothing")


def test_ratios_with_zeros() -> None:
    t = tallies({"a": (0, 0, 50, 50), "b": (25, 25, 25, 25), "c": (0, 0, 60, 60)})
    down = rows_by_group(fairness.group_ratios(t, measures=["flag_rate"], reference="b"), "flag_rate")["a"]
    assert (down["value"], down["low"]) == (0, 0)
    assert 0 < down["high"] < 0.2
    up = rows_by_group(fairness.group_ratios(t, measures=["flag_rate"], reference="a"), "flag_rate")["b"]
    assert (up["value"], up["high"]) == ("inf", "inf") or up["value"] == float("inf")
    assert float(up["low"]) == pytest.approx(1 / down["high"], rel=1e-9)
    none = rows_by_group(fairness.group_ratios(t, measures=["flag_rate"], reference="a"), "flag_rate")["c"]
    assert (none["value"], none["why"]) == (None, "both values are 0")


@pytest.mark.quick(12)
@pytest.mark.parametrize("to", ["rest", "overall"])
@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_has_a_comparison(name: str, to: RelativeTo) -> None:
    data = people(300, seed=3)
    t = read.tallies(data, truth="sick", score="risk", group="sex")
    (row, _) = fairness.group_differences(t, measures=[name], relative_to=to).rows()
    if row["value"] is None or row["low"] is None:
        assert row["why"]
    else:
        assert row["low"] <= row["value"] <= row["high"]
        assert 0 <= row["p"] <= 1


@settings(max_examples=20, deadline=None)
@given(table, table, st.sampled_from([name for name, each in MEASURES.items() if describe(each).of is Counts]))
def test_means_are_weighted_means_of_parts(a: Any, b: Any, name: str) -> None:  # noqa: ANN401
    measure = MEASURES[name]
    if not is_mean(measure):
        return
    values = [float(measure(Counts(*cells))) for cells in (a, b, np.add(a, b).tolist())]
    if any(map(isnan, values)):
        return
    assert min(values[:2]) - 1e-12 <= values[2] <= max(values[:2]) + 1e-12
    request = infer.ComparisonRequest(measure, infer.Question())
    assert compare_with_whole(request, [Counts(*a), Counts(*b)]).difference.value == pytest.approx(
        values[0] - values[2], abs=1e-12
    )


def test_weighted_rows_with_equal_weights_are_plain_rows() -> None:
    data = people() | {"w": np.full(600, 2.5)}
    plain = read.tallies(data, truth="sick", score="risk", group="site")
    weighted = read.tallies(data, truth="sick", score="risk", group="site", weight="w")
    for name in ("precision", "auc"):
        one, other = (
            rows_by_group(fairness.group_differences(t, measures=[name], relative_to="overall"), name)
            for t in (plain, weighted)
        )
        for site, row in one.items():
            assert other[site]["value"] == pytest.approx(row["value"], abs=1e-12)
            assert other[site]["high"] - other[site]["low"] == pytest.approx(row["high"] - row["low"], rel=0.02)


@pytest.mark.parametrize("name", ["flag_rate", "auc", "f1"])
def test_intervals_to_everybody_cover(name: str) -> None:
    rng, hits, n = np.random.default_rng(7), 0, 300
    truth = _difference_in_a_large_sample(name)
    for _ in range(n):
        t = _draw(rng, (120, 280))
        row = fairness.group_differences(t, policy=0.5, measures=[name], relative_to="overall").rows()[0]
        hits += row["low"] <= truth <= row["high"]
    assert 0.91 <= hits / n <= 0.985


def _draw(rng: np.random.Generator, sizes: tuple[int, int]) -> Tallies:
    parts: dict[tuple[object, ...], Tally] = {}
    for group, size, shift in zip("ab", sizes, (0.0, 0.6), strict=True):
        sick = rng.random(size) < 0.4
        score = 1 / (1 + np.exp(-(rng.normal(size=size) + sick * (1.5 - shift) - 0.7 + shift)))
        parts[group,] = Tally.of_rows(sick, score)
    return Tallies({"m": parts}, ("g",))


def _difference_in_a_large_sample(name: str) -> float:
    t = _draw(np.random.default_rng(1), (120_000, 280_000))
    row = fairness.group_table(t, policy=0.5, measures=[name]).rows()
    return float(row[1]["value"] - row[0]["value"])
