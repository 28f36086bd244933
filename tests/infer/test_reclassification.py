"""Net reclassification improvement, its parts and tables, and integrated discrimination improvement."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from baserate import NotAProbabilityError, OptionError, Results, Rows, infer

Floats = npt.NDArray[np.float64]
few = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.3, 0.55, 0.9, 1.0])
samples = st.lists(st.tuples(st.booleans(), few, few), min_size=2, max_size=25)
THRESHOLDS = (0.1, 0.3)


def numbers(results: Results) -> dict[str, dict[str, Any]]:
    return {row["measure"]: row for row in results.rows() if row["measure"] != "cell" and row["group"] is None}


def sample(n: int, seed: int = 0, *, noise: float = 0.5) -> tuple[npt.NDArray[np.bool_], dict[str, Floats]]:
    rng = np.random.default_rng(seed)
    line, more = rng.normal(size=n) - 1.5, 0.7 * rng.normal(size=n)
    truth = rng.random(n) < 1 / (1 + np.exp(-line - more))
    scores = {"new": 1 / (1 + np.exp(-line - more)), "old": 1 / (1 + np.exp(-line - noise * rng.normal(size=n)))}
    return truth, scores


@given(samples)
def test_values_are_those_of_the_definitions(data: list[tuple[bool, float, float]]) -> None:
    truth, new, old = (np.array(each) for each in zip(*data, strict=True))
    results = infer.net_reclassification(truth, {"new": new, "old": old}, thresholds=THRESHOLDS, method="asymptotic")
    rows = numbers(results)
    category = [np.digitize(score, THRESHOLDS) for score in (new, old)]
    changes = {"nri": np.sign(category[0] - category[1]), "continuous_nri": np.sign(new - old), "idi": new - old}
    for name, change in changes.items():
        parts = {}
        for label, members, side in (("positives", truth, 1), ("negatives", ~truth, -1)):
            row = rows[f"{name}_{label}"]
            if not members.any():
                assert row["value"] is None
                assert row["why"] == f"there are no {label}"
                continue
            parts[label] = side * change[members].mean()
            assert row["value"] == pytest.approx(parts[label], abs=1e-12)
        if len(parts) == 2:
            assert rows[name]["value"] == pytest.approx(sum(parts.values()), abs=1e-12)
        else:
            assert rows[name]["value"] is None


@given(samples)
def test_tables_count_every_row(data: list[tuple[bool, float, float]]) -> None:
    truth, new, old = (np.array(each) for each in zip(*data, strict=True))
    results = infer.net_reclassification(truth, {"new": new, "old": old}, thresholds=THRESHOLDS, method="asymptotic")
    names = ["[0, 0.1)", "[0.1, 0.3)", "[0.3, 1]"]
    cells = [row for row in results.rows() if row["measure"] == "cell"]
    assert len(cells) == 18
    for row in cells:
        of_class = truth == (row["class"] == "positive")
        moved = (np.digitize(old, THRESHOLDS) == names.index(row["from"])) & (
            np.digitize(new, THRESHOLDS) == names.index(row["to"])
        )
        assert row["value"] == np.sum(of_class & moved)


@given(samples)
def test_swapping_the_models_changes_the_sign(data: list[tuple[bool, float, float]]) -> None:
    truth, new, old = (np.array(each) for each in zip(*data, strict=True))
    scores = {"new": new, "old": old}
    there, back = (
        numbers(infer.net_reclassification(truth, scores, thresholds=THRESHOLDS, models=[pair], method="asymptotic"))
        for pair in (("new", "old"), ("old", "new"))
    )
    for name, row in there.items():
        if row["value"] is not None:
            assert back[name]["value"] == pytest.approx(-row["value"], abs=1e-12)
            if row["p"] is not None:
                assert back[name]["p"] == pytest.approx(row["p"])
                assert back[name]["low"] == pytest.approx(-row["high"])


def test_with_one_threshold_the_parts_are_differences_of_rates() -> None:
    truth, scores = sample(300)
    rows = numbers(infer.net_reclassification(truth, scores, thresholds=[0.3]))
    for name, measure in (("nri_positives", "sensitivity"), ("nri_negatives", "specificity")):
        (comparison,) = infer.compare(truth, scores, measure=measure, threshold=0.3)
        row = rows[name]
        assert (row["value"], row["p"]) == pytest.approx((comparison.difference.value, comparison.p))
        assert (row["low"], row["high"]) == pytest.approx((comparison.difference.low, comparison.difference.high))
    (youden,) = infer.compare(truth, scores, measure="youden", threshold=0.3)
    assert rows["nri"]["value"] == pytest.approx(youden.difference.value)
    assert rows["nri"]["high"] - rows["nri"]["low"] == pytest.approx(
        youden.difference.high - youden.difference.low, rel=0.1
    )


def test_the_idi_is_the_difference_of_the_discrimination_slope() -> None:
    truth, scores = sample(400)
    row = numbers(infer.net_reclassification(truth, scores))["idi"]
    (comparison,) = infer.compare(truth, scores, measure="discrimination_slope")
    assert row["value"] == pytest.approx(comparison.difference.value)
    assert row["low"] == pytest.approx(comparison.difference.low, abs=2e-4)
    assert row["statistic"] == pytest.approx(comparison.statistic, rel=0.02)


@pytest.mark.parametrize("seed", range(2))
def test_intervals_exclude_zero_exactly_where_tests_reject(seed: int) -> None:
    truth, scores = sample(120, seed, noise=0.9)
    first = numbers(infer.net_reclassification(truth, scores, thresholds=THRESHOLDS))
    tested = [(name, row["p"]) for name, row in first.items() if 1e-6 < row["p"] < 0.98]
    assert len(tested) > 5
    for name, p in tested:
        for factor, excludes in ((1.002, True), (0.998, False)):
            level = 1 - p * factor
            other = numbers(infer.net_reclassification(truth, scores, thresholds=THRESHOLDS, level=level))[name]
            assert (other["low"] > 0 or other["high"] < 0) == excludes, (name, factor)


def test_a_count_is_that_many_rows() -> None:
    truth, scores = sample(60)
    times = np.random.default_rng(1).integers(1, 4, 60)
    repeated = {name: np.repeat(score, times) for name, score in scores.items()}
    for method in (None, "asymptotic"):
        one = infer.net_reclassification(truth, scores, count=times, thresholds=THRESHOLDS, method=method)
        other = infer.net_reclassification(np.repeat(truth, times), repeated, thresholds=THRESHOLDS, method=method)
        for name, row in numbers(one).items():
            for column in ("value", "low", "high", "p"):
                assert row[column] == pytest.approx(numbers(other)[name][column]), (name, column)


def test_weights_and_clusters_have_t_intervals() -> None:
    truth, scores = sample(300)
    plain = numbers(infer.net_reclassification(truth, scores, thresholds=THRESHOLDS))
    equal, unequal = (
        numbers(infer.net_reclassification(truth, scores, thresholds=THRESHOLDS, weight=weight))
        for weight in (np.full(300, 2.5), np.random.default_rng(1).gamma(0.5, size=300))
    )
    alone = Rows(truth, scores, cluster=np.arange(300))
    twice = Rows(
        np.repeat(truth, 2), {name: np.repeat(score, 2) for name, score in scores.items()}, cluster=np.arange(600) // 2
    )
    single, double = (numbers(infer.net_reclassification(rows, thresholds=THRESHOLDS)) for rows in (alone, twice))
    for name, row in plain.items():
        width = row["high"] - row["low"]
        assert equal[name]["value"] == pytest.approx(row["value"])
        assert equal[name]["high"] - equal[name]["low"] == pytest.approx(width, rel=0.25)
        assert unequal[name]["high"] - unequal[name]["low"] > 1.1 * width
        assert single[name]["high"] - single[name]["low"] == pytest.approx(width, rel=0.3)
        assert double[name]["high"] - double[name]["low"] == pytest.approx(
            single[name]["high"] - single[name]["low"], rel=1e-9
        )
        assert str(double[name]["how"]).endswith("summed within clusters")


def test_groups_and_pairs() -> None:
    truth, scores = sample(200)
    site = np.where(np.arange(200) % 2, "a", "b")
    results = infer.net_reclassification(truth, {**scores, "third": scores["old"] ** 2}, group=site)
    keys = {(row["model"], row["other"], str(row["group"])) for row in results.rows()}
    assert len(keys) == 9
    here = numbers(infer.net_reclassification(truth[site == "a"], {k: v[site == "a"] for k, v in scores.items()}))
    rows = [row for row in results.rows() if row["group"] and set(row["group"].values()) == {"a"}]
    (row,) = (row for row in rows if row["measure"] == "idi" and (row["model"], row["other"]) == ("new", "old"))
    assert row["value"] == pytest.approx(here["idi"]["value"])


def test_equal_models_do_not_reclassify() -> None:
    truth, scores = sample(100)
    rows = numbers(infer.net_reclassification(truth, {"a": scores["new"], "b": scores["new"]}, thresholds=THRESHOLDS))
    assert {row["value"] for row in rows.values()} == {0}
    assert rows["nri"]["p"] == 1
    assert rows["nri"]["low"] < 0 < rows["nri"]["high"]
    assert rows["idi"]["why"] == "these rows show no variance"


def test_noise_fitted_to_the_same_rows_seems_to_improve_the_model() -> None:
    """Why notes warn: five predictors of noise on 400 rows, with a published test of the continuous NRI."""
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(40):
        x = rng.normal(size=(400, 6))
        truth = rng.random(400) < 1 / (1 + np.exp(1.5 - x[:, 0]))
        scores = {name: fit_predict(x[:, :many], truth) for name, many in (("new", 6), ("old", 1))}
        row = numbers(infer.net_reclassification(truth, scores, method="asymptotic"))["continuous_nri"]
        rejected += row["p"] < 0.05 and row["value"] > 0
    assert rejected > 8  # a valid test would reject one in forty


def fit_predict(x: Floats, truth: npt.NDArray[np.bool_]) -> Floats:
    """Fit a logistic regression by Newton's method, and predict the same rows."""
    design = np.column_stack([np.ones(len(x)), x])
    coefficients = np.zeros(design.shape[1])
    for _ in range(20):
        p = 1 / (1 + np.exp(-design @ coefficients))
        information = (design * (p * (1 - p))[:, None]).T @ design
        coefficients = coefficients + np.linalg.solve(information, design.T @ (truth - p))
    return np.asarray(1 / (1 + np.exp(-design @ coefficients)))


def test_notes_warn() -> None:
    truth, scores = sample(50)
    notes = infer.net_reclassification(truth, scores).data["notes"]
    assert any("the NRI is no proper measure" in note for note in notes)
    assert any("neither model was fitted to" in note for note in notes)


def test_bad_input() -> None:
    truth, scores = sample(50)
    for thresholds in ([0.3, 0.1], [0.0, 0.5], [1.0], [0.2, 0.2], [float("nan")]):
        with pytest.raises(OptionError, match="expected ascending probabilities between 0 and 1"):
            infer.net_reclassification(truth, scores, thresholds=thresholds)
    with pytest.raises(NotAProbabilityError):
        infer.net_reclassification(truth, {"new": scores["new"] * 10, "old": scores["old"]})
    with pytest.raises(OptionError, match="requires two models"):
        infer.net_reclassification(truth, {"new": scores["new"]})
    with pytest.raises(OptionError, match="method is 'exact'; expected None or 'asymptotic'"):
        infer.net_reclassification(truth, scores, method="exact")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="rows are weighted or clustered"):
        infer.net_reclassification(truth, scores, weight=np.full(50, 2.0), method="asymptotic")
