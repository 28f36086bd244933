"""Tidy tables of measures of tallies, their notes and their metadata."""

import math
from typing import Any

import numpy as np
import pytest

import baserate
from baserate import NotAProbabilityError, OptionError, Tallies, Tally, UnknownNameError, infer, measure, read

TABLE: dict[str, Any] = {
    "y": [1, 0, 1, 0, 1, 0],
    "p": [0.9, 0.6, 0.4, 0.1, 0.8, 0.3],
    "z": [3, 1, -1, -2, 2, 0],
    "hat": [1, 1, 0, 0, 1, 0],
    "g": ["a", "a", "b", "b", "b", "a"],
}


def tallies(**columns: Any) -> Tallies:  # noqa: ANN401  (names of columns)
    return read.tallies(TABLE, truth="y", **columns)


def select(result: baserate.Results, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in result.rows()]


def test_values_equal_those_of_the_measures() -> None:
    both = tallies(score=["p", "z"], group="g")
    unstated = {name for name, _ in measure.find_missing_options(measure.MEASURES.values())}
    any_score = [name for name, each in measure.MEASURES.items() if measure.describe(each).of is not Tally]
    any_score = [name for name in any_score if name not in unstated]
    assert {"expected_cost", "net_benefit"} <= unstated
    result = measure.summary(both, measures=any_score, threshold=[0.5, 1.0])
    of_counts = sum(measure.describe(measure.MEASURES[name]).of is baserate.Counts for name in any_score)
    assert len(result) == 2 * 3 * (2 * (4 + of_counts) + len(any_score) - of_counts)
    for row in result.rows():
        group = (row["group"]["g"],) if row["group"] else None
        tally = both.pooled(row["model"]) if group is None else both.models[row["model"]][group]
        curve = baserate.curve(tally)
        if row["measure"] in ("tp", "fp", "fn", "tn"):
            assert row["value"] == getattr(curve.at(row["threshold"]), row["measure"])
            continue
        function = measure.find_measure(row["measure"])
        noun = curve if row["threshold"] is None else curve.at(row["threshold"])
        value = function(noun)
        assert row["value"] == (None if math.isnan(value) else value)
        assert row["why"] == (measure.undefined_reason(function, noun) if math.isnan(value) else None)
        assert row["low"] is row["high"] is row["level"] is row["how"] is row["class"] is None


def test_rows_of_a_single_model_have_no_model_name() -> None:
    assert {model for (model,) in select(measure.summary(tallies(score="p")), "model")} == {None}
    assert {model for (model,) in select(measure.summary(tallies(score=["p", "z"])), "model")} == {"p", "z"}


def test_the_default_threshold_is_one_half_for_probabilities_only() -> None:
    probable = measure.summary(tallies(score="p"))
    assert {threshold for (threshold,) in select(probable, "threshold")} == {0.5, None}
    assert probable.data["notes"] == []
    other = measure.summary(tallies(score="z"))
    assert [name for (name,) in select(other, "measure")] == list(measure.DEFAULT_MEASURES[baserate.Curve])
    range_ = "z runs from -2 to 3, so its scores are not probabilities"
    assert other.data["notes"] == [
        f"{range_}; measures at a threshold are left out. State a threshold for them.",
        f"{range_}; brier, brier_skill, log_loss are left out.",
    ]
    cut = measure.summary(tallies(score="z"), threshold=[0], measures=["f1"])
    assert select(cut, "measure", "threshold") == [(name, 0) for name in ("tp", "fp", "fn", "tn", "f1")]


def test_named_measures_that_cannot_be_computed_are_refused() -> None:
    with pytest.raises(NotAProbabilityError):
        measure.summary(tallies(score="z"), measures=["brier"])
    with pytest.raises(OptionError, match="nothing is left to measure: z runs from -2 to 3"):
        measure.summary(tallies(score="z"), measures=["f1"])
    with pytest.raises(UnknownNameError, match="Did you mean 'auc'"):
        measure.summary(tallies(score="p"), measures=["aucc"])


def test_predicted_labels_have_one_table_without_threshold() -> None:
    result = measure.summary(tallies(predicted="hat"), threshold=[0.9])
    assert {threshold for (threshold,) in select(result, "threshold")} == {None}
    cells = {row["measure"]: row["value"] for row in result.rows()}
    assert [cells[cell] for cell in ("tp", "fp", "fn", "tn")] == [2, 1, 1, 2]
    assert "auc" not in cells
    curve = baserate.curve(tallies(predicted="hat").tally)
    assert curve.threshold.tolist() == [math.inf, 1, 0]


def test_labels_that_disagree_with_a_score_are_noted() -> None:
    agreeing = measure.summary(tallies(score="p", predicted="hat"), threshold=[0.5])
    assert agreeing.data["notes"] == []
    result = measure.summary(tallies(score="p", predicted="hat"), threshold=[0.35, 0.95])
    assert result.data["notes"] == [
        "hat disagrees with p >= 0.35 in 1 of 6 rows; it agrees best with p >= 0.6.",
        "hat disagrees with p >= 0.95 in 3 of 6 rows; it agrees best with p >= 0.6.",
    ]


def test_the_header_describes_the_data() -> None:
    table = TABLE | {"p": [None, *TABLE["p"][1:]], "w": [1, 2, 2, 2, 0, 1]}
    result = measure.summary(read.tallies(table, truth="y", score="p", weight="w", missing="drop"))
    header = dict(result.data)
    digest = header.pop("digest")
    assert header == {
        "rows": 4,
        "read": 6,
        "refused": 1,
        "reasons": {"p": {"missing": 1}},
        "positive": 1,
        "negative": 0,
        "prevalence": 2 / 7,
        "weighted": True,
        "columns": {"truth": "y", "score": ["p"], "weight": "w"},
        "notes": [],
    }
    assert digest == baserate.tally([0, 1, 0, 0], [0.6, 0.4, 0.1, 0.3]).digest


@pytest.mark.parametrize("name", measure.TABLES)
def test_a_curve_is_its_table_for_each_model_and_group(name: str) -> None:
    both = tallies(score=["p", "z"], group="g")
    result = measure.curves(both, name).rows()
    for model, group, tally in both.walk():
        named = None if group is None else {"g": group[0]}
        here = [row for row in result if row["model"] == model and row["group"] == named]
        columns = measure.table(baserate.curve(tally), name)
        for column, values in columns.items():
            assert [row[column] for row in here] == [None if math.isnan(value) else value for value in values.tolist()]


def test_thinned_points_are_exact_and_include_the_ends() -> None:
    rng = np.random.default_rng(3)
    many = read.tallies({"y": rng.integers(0, 2, 5000), "p": rng.random(5000)}, truth="y", score="p")
    whole, thin = (set(select(measure.curves(many, "roc", points=points), "threshold", "fpr", "sensitivity"))
                   for points in (None, 40))  # fmt: skip
    assert thin <= whole
    assert 30 <= len(thin) <= 40
    assert {(0, 0), (1, 1)} <= {point[1:] for point in thin}
    gaps = np.diff(sorted(fpr + tpr for _, fpr, tpr in thin))
    assert gaps.max() < 2 * 2 / 40
    few = measure.curves(many, "pr", points=2)
    assert list(few.columns["threshold"]) == [math.inf, baserate.curve(many.tally).threshold[-1]]
    with pytest.raises(OptionError, match="points is 1; expected a whole number from 2 to 1,000,000"):
        measure.curves(many, "roc", points=1)


def test_an_infinite_log_loss_is_explained() -> None:
    result = read.tallies({"y": [1, 0, 1], "p": [0.0, 1.0, 0.5]}, truth="y", score="p")
    assert measure.summary(result).data["notes"] == [
        "log_loss of p is infinite: 2 rows have probability 0 for the true label."
    ]


def test_predicted_labels_are_compared_with_the_best_fitting_score() -> None:
    table = TABLE | {"noise": [0.1, 0.9, 0.8, 0.7, 0.2, 0.6]}
    both = read.tallies(table, truth="y", score=["noise", "p"], predicted="hat")
    assert measure.summary(both, threshold=0.35).data["notes"] == [
        "hat disagrees with p >= 0.35 in 1 of 6 rows; it agrees best with p >= 0.6."
    ]


def test_costs_are_stated_for_measures_that_depend_on_them() -> None:
    truth, score = [1, 0, 1, 0, 0], [0.9, 0.6, 0.4, 0.1, 0.3]
    results = measure.summary(truth, score, measures=["expected_cost", "auc"], fp=1, fn=5)
    assert results["expected_cost"].value == (1 * 1 + 5 * 1) / 5
    assert results.data["settings"]["expected_cost"]["costs"]["fn"] == 5
    with_interval = infer.summary(truth, score, measures=["expected_cost"], costs={"fp": 1, "fn": 5}, level="90%")
    assert with_interval["expected_cost"].value == 1.2
    with pytest.raises(OptionError, match="expected_cost needs the costs of errors"):
        measure.summary(truth, score, measures=["expected_cost"])
    with pytest.raises(OptionError, match="costs have no use: none of the measures depends on them"):
        measure.summary(truth, score, measures=["auc"], fp=1, fn=5)
    with pytest.raises(OptionError, match="costs have no use: none of the measures depends on them"):
        measure.summary(truth, score, fp=1, fn=5)
    every = {row["measure"] for row in measure.summary(truth, score, measures="all").rows()}
    assert "expected_cost" not in every
    assert "net_benefit" not in every


def test_other_types_than_tallies_are_refused() -> None:
    with pytest.raises(OptionError, match="The table has 5 columns"):
        measure.summary(TABLE)
    with pytest.raises(OptionError, match="curves takes Tallies, not Counts"):
        measure.curves(baserate.Counts(1, 2, 3, 4), "roc")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match=r"curve needs the name of the column of labels\.\nThe table has 5 columns"):
        baserate.curve(TABLE)
    with pytest.raises(UnknownNameError, match="Curves are: roc, pr"):
        measure.curves(tallies(score="p"), "rocc")
    with pytest.raises(UnknownNameError, match="there is no measure 'aucc'"):
        measure.summary(tallies(score="p"), measures="aucc")
