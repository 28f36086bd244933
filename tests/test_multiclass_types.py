"""Types of several classes: errors of their constructors, and immutability."""

from typing import Any

import numpy as np
import pytest

import baserate
from baserate import Confusion, Confusions, LabelSets, MulticlassRows, OptionError, ReadSummary, ShapeError

SCORE = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.1, 0.2, 0.7]])
ROWS = MulticlassRows(np.array([0, 1, 2, 0]), SCORE, tuple("abc"))
TABLE = Confusion.of_matrix([[3, 1], [0, 4]], "xy", truth="rows")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            (np.array([0, 1]), SCORE[:1], tuple("abc")),
            ShapeError,
            r"score has shape \(1, 3\); give a row for each of 2 rows",
        ),
        ((np.array([0]), SCORE[:1], tuple("ab")), ShapeError, "a column for each of 2 classes"),
        ((np.array([3]), SCORE[:1], tuple("abc")), OptionError, "not an index into the 3 labels"),
        ((np.array([-1]), SCORE[:1], tuple("abc")), OptionError, "not an index into the 3 labels"),
    ],
)
def test_invalid_class_rows_raise(given: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        MulticlassRows(*given)


def test_class_rows_cannot_be_changed() -> None:
    truth, score = np.array([0, 1]), SCORE[:2].copy()
    rows = MulticlassRows(truth, score, tuple("abc"))
    truth[0], score[0, 0] = 2, 9.0
    assert rows.truth.tolist() == [0, 1]
    assert rows.score[0, 0] == 0.6
    with pytest.raises(ValueError, match="read-only"):
        rows.score[0, 0] = 1
    given = np.asfortranarray(SCORE)
    result = baserate.class_scores([0, 1, 2, 0], given)
    given[0, 0] = 9.0
    assert result.score[0, 0] == 0.6


def test_masses_of_class_rows() -> None:
    assert repr(ROWS) == "MulticlassRows(4 rows; scores for a, b, c)"
    assert ROWS.support.tolist() == [2, 1, 1]
    assert (ROWS.total, ROWS.truth_spread) == (4, 2 * 2 + 1 * 3 + 1 * 3)
    weighted = MulticlassRows(
        ROWS.truth, SCORE, ROWS.labels, weight=np.array([1.0, 2, 3, 4]), count=np.array([1, 1, 2, 1])
    )
    assert weighted.support.tolist() == [5, 2, 6]
    assert weighted.total == 13
    assert weighted.confusion().rows.total == 5
    assert weighted.confusion().squares.mass.sum() == 1 + 4 + 9 * 2 + 16


def test_class_rows_by_group() -> None:
    table = {
        "y": list("abca"),
        "g": list("mfmf"),
        **{f"p_{k}": SCORE[:, at] for at, k in enumerate("abc")},
        "w": [1, 2, 3, 4],
    }
    rows = baserate.read.class_rows(table, truth="y", score="p_*", group="g", weight="w")
    assert rows.groups == (("f",), ("m",))
    women, men = rows.of_group(0), rows.of_group(1)
    assert [women.labels[at] for at in women.truth] == ["b", "a"]
    assert women.weight is not None
    assert women.weight.tolist() == [2, 4]
    assert men.score.tolist() == SCORE[[0, 2]].tolist()
    assert (women.attributes, women.groups) == ((), (("f",),))
    assert repr(rows).endswith("2 groups by g)")


def test_ranks_and_decisions_break_ties_by_order() -> None:
    tied = MulticlassRows(np.array([0, 1, 2]), np.full((3, 3), 1 / 3), tuple("abc"))
    assert tied.decision().tolist() == [0, 0, 0]
    assert tied.rank().tolist() == [0, 1, 2]


def test_decisions_of_more_rows_than_a_block_and_of_many_classes() -> None:
    rng = np.random.default_rng(0)
    score = rng.random((40_000, 300))
    rows = MulticlassRows(rng.integers(0, 300, 40_000), score, tuple(range(300)))
    assert rows.decision().tolist() == score.argmax(axis=1).tolist()


def test_confusions_hold_tables_over_the_same_labels() -> None:
    both = Confusions(
        {("f",): TABLE, ("m",): TABLE}, ("sex",), ReadSummary(16, positive=None, negative=None, classes=("x", "y"))
    )
    assert repr(both) == "Confusions(2 classes; 2 groups by sex; 16 rows read; classes: x, y)"
    assert both.labels == ("x", "y")
    assert [(group, table.total) for group, table in both.walk()] == [(None, 16), (("f",), 8), (("m",), 8)]
    other = Confusion.of_matrix([[1]], "z", truth="rows")
    for tables, attributes in (({("f",): TABLE, ("m",): other}, ("sex",)), ({}, ()), ({("f",): TABLE}, ())):
        with pytest.raises(OptionError):
            Confusions(tables, attributes)  # type: ignore[arg-type]


def test_digest_covers_labels_groups_and_rows() -> None:
    one = Confusions({(): TABLE}).digest
    assert Confusions({(): Confusion(TABLE.mass, ("x", "y"))}).digest == one
    assert Confusions({(): TABLE.over("yx")}).digest != one
    assert Confusions({("f",): TABLE}, ("sex",)).digest != one
    weighted = Confusion(TABLE.mass * 2, TABLE.labels, moments=(TABLE, TABLE))
    assert Confusions({(): weighted}).digest == one


def test_invalid_sets_of_labels_raise() -> None:
    truth = np.array([[True, False]])
    with pytest.raises(OptionError, match="give predicted= or score="):
        LabelSets(truth, ("a", "b"))
    with pytest.raises(ShapeError, match=r"predicted has shape \(1, 1\)"):
        LabelSets(truth, ("a", "b"), predicted=truth[:, :1])
    only_scores = LabelSets(truth, ("a", "b"), score=np.array([[0.1, 0.2]]))
    with pytest.raises(OptionError, match="no decisions, only scores"):
        only_scores.per_label()
    with pytest.raises(OptionError, match="no scores, only decisions"):
        LabelSets(truth, ("a", "b"), predicted=truth).one_vs_rest()


def test_sets_of_labels_add_up_by_label_and_by_row() -> None:
    truth, decided = np.array([[1, 1, 0], [0, 1, 0]]) > 0, np.array([[1, 0, 1], [0, 1, 0]]) > 0
    sets = LabelSets(truth, tuple("abc"), predicted=decided, weight=np.array([0.5, 2.0]))
    per_label, per_row = sets.per_label(), sets.per_row()
    assert [per_label.tp.tolist(), per_label.fp.tolist()] == [[0.5, 2, 0], [0, 0, 0.5]]
    assert [per_label.fn.tolist(), per_label.tn.tolist()] == [[0, 0.5, 0], [2, 0, 2]]
    assert per_label.squares.tp.tolist() == [0.25, 4, 0]
    assert per_label.rows.total.tolist() == [2, 2, 2]
    assert [per_row.tp.tolist(), per_row.fp.tolist(), per_row.fn.tolist(), per_row.tn.tolist()] == [
        *([1, 1], [1, 0]),
        *([1, 0], [0, 2]),
    ]
    assert (sets.support.tolist(), sets.total) == ([0.5, 2.5, 0], 2.5)


def test_digest_does_not_depend_on_memory_layout() -> None:
    whole = np.array([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]])
    rows = [MulticlassRows(np.array([0, 2]), whole.astype(kind), tuple("abc")) for kind in (np.float64, np.float32)]
    assert rows[0].digest == rows[1].digest
