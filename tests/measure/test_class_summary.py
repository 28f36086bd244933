"""Tidy tables of measures of many classes."""

from typing import Any

import numpy as np
import pytest

import baserate
from baserate import Confusions, CostMatrix, NotAProbabilityError, OptionError, UnknownNameError, measure, read
from baserate.measure import multiclass

TABLE: dict[str, list[Any]] = {
    "is": ["a", "a", "b", "b", "c", "c", "c", "c"],
    "called": ["a", "b", "b", "b", "c", "a", "c", "c"],
    "g": ["u", "v", "u", "v", "u", "v", "u", "v"],
    "p_a": [0.7, 0.3, 0.1, 0.2, 0.1, 0.6, 0.2, 0.3],
    "p_b": [0.2, 0.4, 0.8, 0.7, 0.2, 0.2, 0.2, 0.3],
    "p_c": [0.1, 0.3, 0.1, 0.1, 0.7, 0.2, 0.6, 0.4],
}
LABELS = read.confusions(TABLE, truth="is", predicted="called", group="g")
SCORES = read.class_rows(TABLE, truth="is", score="p_*")


def key_values(*args: Any, **options: Any) -> dict[tuple[Any, ...], Any]:  # noqa: ANN401
    """Values by measure, group, class, against and average."""
    rows = multiclass.summary(*args, **options).rows()
    keyed = {
        (row["measure"], row["group"] and row["group"]["g"], row["class"], row["against"], row["average"]): row["value"]
        for row in rows
    }
    assert len(keyed) == len(rows), "no number is told twice"
    return keyed


def test_values_equal_those_of_the_measures() -> None:
    values = key_values(LABELS, measures="all", averages=("macro", "weighted", "micro"))
    for group, table in LABELS.walk():
        g = None if group is None else group[0]
        for name, function in measure.MEASURES.items():
            if measure.describe(function).of is baserate.Counts:
                each = multiclass.per_class(function, table)
                output = [values[name, g, label, None, None] for label in "abc"]
                np.testing.assert_array_equal(np.array(output, dtype=float), each)
                for how in ("macro", "weighted", "micro"):
                    wanted = multiclass.average_over_classes(function, how)(table)
                    np.testing.assert_equal(values[name, g, None, None, how], None if np.isnan(wanted) else wanted)
        for name, function in multiclass.MEASURES.items():
            if measure.describe(function).of is baserate.Confusion:
                wanted = function(table)
                np.testing.assert_equal(values[name, g, None, None, None], None if np.isnan(wanted) else wanted)
        for at, truth in enumerate("abc"):
            for to, decided in enumerate("abc"):
                assert values["cell", g, truth, decided, None] == table.mass[at, to]


def test_scores_give_ranks_pairs_and_probabilities() -> None:
    values = {key[:1] + key[2:]: value for key, value in key_values(SCORES).items()}
    assert values["hand_till", None, None, None] == multiclass.hand_till(SCORES)
    assert values["top_2_accuracy", None, None, None] == multiclass.top_k_accuracy(SCORES, k=2)
    assert values["auc", None, None, "macro"] == multiclass.average_over_classes(measure.auc, "macro")(SCORES)
    table = multiclass.pairwise_auc(SCORES)
    assert values["pairwise_auc", "b", "c", None] == table[1, 2]


def test_custom_class_weights() -> None:
    weights = {"a": 0, "b": 1, "c": 3}
    values = key_values(LABELS, measures=["recall"], averages=[weights, "micro"])
    assert values["sensitivity", None, None, None, "custom"] == multiclass.average_over_classes(
        measure.sensitivity, weights
    )(LABELS.pooled)
    with pytest.raises(UnknownNameError, match="there are weights for"):
        multiclass.summary(LABELS, measures=["recall"], averages=[{"a": 1}])
    with pytest.raises(OptionError, match="not all 0"):
        multiclass.summary(LABELS, measures=["recall"], averages=[dict.fromkeys("abc", 0.0)])


def test_an_average_lists_the_classes_left_out() -> None:
    table = {"is": ["a", "b", "b"], "called": ["a", "a", "a"]}
    rows = multiclass.summary(read.confusions(table, truth="is", predicted="called")).rows()
    output = {(row["measure"], row["average"]): (row["how"], row["why"]) for row in rows if row["average"]}
    assert output["precision", "macro"] == ("mean of 1 of 2 classes, without b", None)
    assert output["f1", "weighted"] == ("mean by frequency of 2 classes", None)
    alone = multiclass.summary(Confusions({(): baserate.Confusion.of_matrix([[0, 0], [0, 0]], truth="rows")})).rows()
    assert {row["why"] for row in alone if row["average"]} == {"no class has a value"}


def test_absent_classes_are_noted_and_have_no_pairs() -> None:
    rows = baserate.class_scores([0, 1, 1], [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.6, 0.3]])
    summary = multiclass.summary(rows)
    assert summary.data["notes"] == ["never true, of 3 classes: 2.", "never predicted, of 3 classes: 2."]
    output = {(row["measure"], row["class"], row["against"]): row for row in summary.rows()}
    assert output["pairwise_auc", 0, 2]["why"] == "there is no 2"
    assert output["pairwise_auc", 0, 2]["value"] is None
    assert output["hand_till", None, None]["how"] == "mean of 1 of 3 pairs of classes, without 2"
    assert output["auc", 2, None]["why"] == "no row is of the class"


def test_costs_are_matched_by_label() -> None:
    costs = CostMatrix([[0, 9, 9], [1, 0, 9], [2, 3, 0]], ["c", "b", "a"])
    values = key_values(LABELS, measures=["kappa"], costs=costs)
    assert values["expected_cost", None, None, None, None] == pytest.approx((9 + 3) / 8)


def test_many_classes_have_fewer_rows() -> None:
    codes = np.arange(60)
    summary = multiclass.summary(Confusions({(): baserate.confusion(codes, np.roll(codes, 1))}), measures=["accuracy"])
    assert len([row for row in summary.rows() if row["measure"] == "cell"]) == 60
    assert "of 60 classes, cells without mass and pairs of classes have no rows of their own." in summary.data["notes"]


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        (TABLE, {}, OptionError, "summary needs the name of the column of labels.\nThe table has "),
        (LABELS, {"measures": "some"}, UnknownNameError, "there is no measure 'some'"),
        (LABELS, {"measures": ["hand_till"]}, OptionError, "hand_till cannot be computed: labels have neither ranks"),
        (LABELS, {"measures": ["brier"]}, OptionError, "brier cannot be computed"),
        (LABELS, {"measures": [len]}, OptionError, "is not a measure"),
        (LABELS, {"measures": ["nothing at all"]}, UnknownNameError, "there is no measure 'nothing at all'"),
        (LABELS, {"averages": ["samples"]}, UnknownNameError, "no average of classes 'samples'"),
        (SCORES, {"measures": ["exact_match"]}, OptionError, "exact_match cannot be computed"),
    ],
)
def test_invalid_arguments_are_refused(
    given: Any,  # noqa: ANN401
    options: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        multiclass.summary(given, **options)


def test_the_summary_of_two_classes_points_to_that_of_many() -> None:
    for classes in (LABELS, SCORES):
        with pytest.raises(OptionError, match="For several classes use"):
            measure.summary(classes)  # type: ignore[call-overload]


def test_averages_refuse_unsuitable_measures() -> None:
    with pytest.raises(UnknownNameError, match="there is no average 'mean'"):
        multiclass.average_over_classes(measure.f1, "mean")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="labels have neither ranks nor probabilities"):
        multiclass.average_over_classes(measure.auc, "macro")(LABELS.pooled)
    with pytest.raises(OptionError, match="kappa is a measure of all classes together"):
        multiclass.per_class(multiclass.kappa, LABELS.pooled)
    with pytest.raises(OptionError, match="use macro"):
        multiclass.average_over_classes(measure.f1, "samples")(LABELS.pooled)
    with pytest.raises(OptionError, match="average needs labels and scores"):
        multiclass.average_over_classes(measure.f1, "macro")(3)
    assert multiclass.average_over_classes(measure.f_beta, "macro", beta=2.0)(LABELS.pooled) == pytest.approx(
        np.mean([measure.f_beta(LABELS.pooled.one_vs_rest()[at], beta=2.0) for at in range(3)])
    )


def test_scores_that_are_not_probabilities_are_noted_or_raise() -> None:
    twice = baserate.class_scores([0, 1, 2], np.eye(3) * 2)
    summary = multiclass.summary(twice, measures="all")
    measured = {row["measure"] for row in summary.rows()}
    assert {"auc", "hand_till", "top_k_accuracy"} <= measured
    assert not measured & {"brier", "log_loss", "brier_skill", "log_loss_skill"}
    assert sum("is left out" in note for note in summary.data["notes"]) >= 4
    assert all(note.endswith("not probabilities.") for note in summary.data["notes"] if "is left out" in note)
    for function in (multiclass.brier, multiclass.log_loss):
        with pytest.raises(NotAProbabilityError, match="in 3 of 3 rows the scores are outside"):
            function(twice)
    with pytest.raises(NotAProbabilityError, match=r"in 1 of 2 rows .* do not add up to 1"):
        multiclass.brier(baserate.class_scores([0, 1], [[0.5, 0.5], [0.4, 0.4]]))
    with pytest.raises(OptionError, match="from 1 to the number of classes, 3"):
        multiclass.top_k_accuracy(twice, k=4)


def test_averages_accept_names_and_explain_undefined_values() -> None:
    nothing = baserate.Confusion.of_matrix([[0, 0], [0, 0]], truth="rows")
    macro = multiclass.average_over_classes("precision", "macro")
    assert np.isnan(macro(nothing))
    assert measure.undefined_reason(macro, nothing) == "no class has a value"
    assert measure.undefined_reason(macro, LABELS.pooled) is None
    assert (
        multiclass.per_class("recall", LABELS.pooled).tolist()
        == multiclass.per_class(measure.sensitivity, LABELS.pooled).tolist()
    )
    stack = baserate.Confusion(np.stack([LABELS.pooled.mass] * 2), LABELS.labels)
    with pytest.raises(baserate.ShapeError, match="give one, for example confusion"):
        multiclass.undefined_classes("precision", stack)
    with pytest.raises(OptionError, match="is not a measure"):
        multiclass.average_over_classes(len, "macro")
    with pytest.raises(UnknownNameError, match="there is no average None"):
        multiclass.average_over_classes("f1", None)  # type: ignore[arg-type]
    one = multiclass.summary(LABELS, measures=["recall"], averages="micro")
    assert {row["average"] for row in one.rows()} == {None, "micro"}


def test_rounded_probabilities_are_accepted() -> None:
    def brier(*score: float) -> float:
        return multiclass.brier(baserate.class_scores([0, 1], [[0.5, 0.5], list(score)]))

    assert brier(0.3, 0.691) == pytest.approx((0.5 + 0.3**2 + 0.309**2) / 2)
    for score in ((0.3, 0.689), (0.31, 0.7001), (-0.005, 1.0), (1.005, 0.0)):
        with pytest.raises(NotAProbabilityError, match=r"in 1 of 2 rows .* \(they go from"):
            brier(*score)


def test_the_digest_does_not_depend_on_row_order() -> None:
    def digest(table: dict[str, list[Any]], **more: Any) -> str:  # noqa: ANN401
        return read.class_rows(table, truth="is", score="p_*", **more).digest

    order = np.random.default_rng(1).permutation(8)
    shuffled = {name: [column[at] for at in order] for name, column in TABLE.items()}
    assert digest(shuffled) == digest(TABLE)
    assert digest(shuffled, group="g") == digest(TABLE, group="g") != digest(TABLE)
    # Scores exchanged within a class leave every column's tally as it is, but not the rows.
    exchanged = TABLE | {"p_a": [0.3, 0.7, *TABLE["p_a"][2:]]}
    assert digest(exchanged) != digest(TABLE)
    twice = {name: column * 2 for name, column in TABLE.items()}
    assert digest(TABLE | {"n": [2] * 8}, count="n") == digest(twice)
    assert multiclass.summary(SCORES).data["digest"] == SCORES.digest


def test_extreme_cells_are_refused() -> None:
    for cell in (1e160, 1e-300):
        with pytest.raises(baserate.WeightError, match="too far from 1 to be squared"):
            baserate.Confusion.of_matrix([[cell, 0], [0, cell]], truth="rows")
