"""Targets: unlabelled and partly labelled scores give the same target through every reader."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest

import baserate
from baserate import (
    EmptyDataError,
    MissingValuesError,
    MulticlassTarget,
    NotBinaryError,
    NotNumericError,
    OptionError,
    ShapeError,
    Target,
    UnknownLabelError,
    UnknownNameError,
    WeightError,
    read,
)
from tests.readers import Table

SIZE = 300
RNG = np.random.default_rng(11)
LABELLED = RNG.random(SIZE) < 0.2
SICK = RNG.random(SIZE) < 0.4
TABLE: dict[str, list[Any]] = {
    "tied": np.round(RNG.random(SIZE), 2).tolist(),
    "real": RNG.normal(size=SIZE).tolist(),
    "rank": RNG.integers(-5, 6, SIZE).tolist(),
    "sick": [("y" if sick else "n") if known else None for sick, known in zip(SICK, LABELLED, strict=True)],
    "flag": [bool(sick) if known else None for sick, known in zip(SICK, LABELLED, strict=True)],
    "weight": (RNG.integers(0, 9, SIZE) / 4).tolist(),
    "count": RNG.integers(0, 4, SIZE).tolist(),
}
COLUMNS: dict[str, dict[str, Any]] = {
    "one score": {"score": "tied"},
    "without repetition": {"score": "real"},
    "whole numbers": {"score": "rank", "truth": "flag"},
    "some truth": {"score": "tied", "truth": "sick", "positive": "y"},
    "weights": {"score": "rank", "weight": "weight"},
    "counts": {"score": "real", "count": "count", "truth": "flag"},
    "everything": {"score": "tied", "weight": "weight", "count": "count", "truth": "sick", "positive": "y"},
}


def sums_by_score(result: Target) -> list[list[float]]:
    """Return distinct scores with mass, squares and rows, which do not depend on the order of rows."""
    plain = np.ones(len(result.score))
    sums = [plain if each is None else each for each in (result.mass, result.squares, result.rows)]
    distinct, place = np.unique(result.score, return_inverse=True)
    return [distinct.tolist(), *(np.bincount(place, weights=each).tolist() for each in sums)]


def assert_same(result: Target, wanted: Target) -> None:
    for one, other in zip(sums_by_score(result), sums_by_score(wanted), strict=True):
        assert one == pytest.approx(other, rel=1e-13)
    assert (result.labelled is None) == (wanted.labelled is None)
    if result.labelled is not None and wanted.labelled is not None:
        assert result.labelled.digest == wanted.labelled.digest
        np.testing.assert_allclose(result.labelled.mass, wanted.labelled.mass, rtol=1e-13)
        np.testing.assert_allclose(result.labelled.squares, wanted.labelled.squares, rtol=1e-13)
    assert result.intake == wanted.intake
    assert len(result) == len(wanted)


@pytest.mark.quick(20)
@pytest.mark.parametrize("query", COLUMNS.values(), ids=COLUMNS)
def test_every_reader_gives_the_same_target(query: dict[str, Any], make_source: Callable[[Table], Any]) -> None:
    assert_same(read.target(make_source(TABLE), **query), read.target(TABLE, **query))


def test_labelled_and_unlabelled_rows_are_separated(make_source: Callable[[Table], Any]) -> None:
    result = read.target(make_source(TABLE), **COLUMNS["everything"])
    score, weight, count = (np.array(TABLE[name]) for name in ("tied", "weight", "count"))
    there = (weight > 0) & (count > 0)
    known, rest = LABELLED & there, ~LABELLED & there
    assert result.labelled is not None
    by_hand = baserate.tally(SICK[known], score[known], weight=weight[known], count=count[known])
    assert result.labelled.digest == by_hand.digest
    assert_same(
        Target.of_rows(result.score) if result.mass is None else result,
        Target.of_rows(score[rest], weight=weight[rest], count=count[rest], labelled=by_hand, intake=result.intake),
    )
    assert result.total == pytest.approx((weight * count)[rest].sum())
    output = f"{SIZE} rows read; {np.count_nonzero(known)} labelled; positive = y, negative = n"
    assert result.intake.description == output


def test_column_without_labels_is_unlabelled(make_source: Callable[[Table], Any]) -> None:
    result = read.target(make_source({"p": [0.2, 0.4, 0.4], "y": [None] * 3}), score="p", truth="y")
    assert repr(result) == "Target(3 unlabelled rows)"
    assert result.intake.description == "3 rows read; none labelled"
    assert (result.intake.positive, result.intake.negative) == (None, None)


def test_fully_labelled_tables_raise(make_source: Callable[[Table], Any]) -> None:
    with pytest.raises(EmptyDataError, match=r"each of 3 rows in use has its y.*read\.tallies.*leave truth= out"):
        read.target(make_source({"p": [0.2, 0.4, 0.4], "y": [1, 0, 1]}), score="p", truth="y")


BAD: dict[str, Any] = {
    "p": [0.1, None, 0.3, 0.4, 0.5],
    "y": [1, None, None, 0, None],
    "w": [1.0, 1.0, None, None, 2.0],
}


def test_bad_numbers_are_refused_with_counts(make_source: Callable[[Table], Any]) -> None:
    with pytest.raises(MissingValuesError, match=r"3 of 5 rows cannot be used \(p: 1 missing; w: 2 missing\)"):
        read.target(make_source(BAD), score="p", truth="y", weight="w")


def test_bad_numbers_are_dropped_on_request(make_source: Callable[[Table], Any]) -> None:
    result = read.target(make_source(BAD), score="p", truth="y", weight="w", missing="drop")
    assert result.score.tolist() == [0.5]
    assert result.total == 2.0
    assert result.labelled is not None
    assert result.labelled.score.tolist() == [0.1]
    assert (result.intake.read, result.intake.dropped, result.intake.labelled) == (5, 3, 1)
    assert result.intake.reasons == {"p": {"missing": 1}, "w": {"missing": 2}}


def test_nan_is_distinguished_from_missing() -> None:
    frame = pl.DataFrame({"p": [0.5, None, float("nan"), float("inf"), -float("inf")]})
    for source in (frame, frame.lazy(), frame.to_arrow()):
        with pytest.raises(MissingValuesError, match=r"4 of 5 rows cannot be used \(p: 1 missing, 1 NaN, 2 infinite\)"):
            read.target(source, score="p")


def test_only_labelled_rows_remain_after_dropping() -> None:
    with pytest.raises(EmptyDataError, match="each of 2 rows in use"):
        read.target({"p": [0.1, 0.2, np.nan], "y": [0, 1, None]}, score="p", truth="y", missing="drop")
    with pytest.raises(EmptyDataError, match="each of 1 rows in use"):
        read.target({"p": [0.1, 0.2], "y": [0, None], "n": [3, 0]}, score="p", truth="y", count="n")


def test_no_labelled_row_remains_after_dropping(make_source: Callable[[Table], Any]) -> None:
    table = {"p": [0.1, None, 0.3], "y": [None, 1, None]}
    result = read.target(make_source(table), score="p", truth="y", missing="drop")
    assert result.labelled is None
    assert result.intake.description == "3 rows read, 1 of them dropped (p: 1 missing); none labelled"


def test_text_scores_raise(make_source: Callable[[Table], Any]) -> None:
    with pytest.raises(NotNumericError, match="p"):
        read.target(make_source({"p": ["high", "low"], "q": [1, 2]}), score="p")


def test_absent_columns_are_named_with_the_nearest(make_source: Callable[[Table], Any]) -> None:
    with pytest.raises(UnknownNameError, match=r"no column 'tide'\. Did you mean 'tied'"):
        read.target(make_source(TABLE), score="tide")
    with pytest.raises(UnknownNameError, match=r"no column 'sik'\. Did you mean 'sick'"):
        read.target(make_source(TABLE), score="tied", truth="sik")


@pytest.mark.quick(3)
def test_weights_and_counts_are_checked(make_source: Callable[[Table], Any]) -> None:
    table = {"p": [0.1, 0.2, 0.3], "w": [1.0, -1.0, 2.0], "n": [1.5, 1.0, 1.0], "none": [0, 0, 0]}
    with pytest.raises(WeightError, match="1 of 3 values of w are negative"):
        read.target(make_source(table), score="p", weight="w")
    with pytest.raises(WeightError, match="1 of 3 values of n are not whole"):
        read.target(make_source(table), score="p", count="n")
    with pytest.raises(EmptyDataError, match="every none is zero"):
        read.target(make_source(table), score="p", count="none")


@pytest.mark.parametrize("text", ["", "\n", "p\n", "p,y\n"])
def test_an_empty_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(EmptyDataError, match=r"empty|no rows"):
        read.target(path, score="p")


def test_blank_cells_have_no_label(tmp_path: Path) -> None:
    path = tmp_path / "blank.csv"
    path.write_text('p,y\n0.1,\n0.2,""\n0.3,1\n0.4,0\n', encoding="utf-8")
    assert repr(read.target(path, score="p", truth="y")) == "Target(2 unlabelled rows, 2 labelled)"
    table: dict[str, Any] = {"p": [0.1, 0.2, 0.3, 0.4], "y": ["", "ill", " ", "well"]}
    for source in (table, pd.DataFrame(table), pl.LazyFrame(table)):
        result = read.target(source, score="p", truth="y", positive="ill")
        assert sorted(result.score.tolist()) == [0.1, 0.3]
        assert result.intake.description == "4 rows read; 2 labelled; positive = ill, negative = well"


def test_labels_are_checked_and_codes_for_missing_are_noted() -> None:
    table: dict[str, Any] = {"p": [0.1, 0.2, 0.3, 0.4], "y": ["ill", "well", None, None], "na": ["0", "1", "NA", None]}
    with pytest.raises(NotBinaryError, match="name the positive one: positive='ill' or positive='well'"):
        read.target(table, score="p", truth="y")
    with pytest.raises(NotBinaryError, match=r"more than two labels.*na holds 'NA' as a label; if that means missing"):
        read.target(table, score="p", truth="na")
    with pytest.raises(NotBinaryError, match=r"1 of 4 rows cannot be used \(na: 1 unknown label\)"):
        read.target(table, score="p", truth="na", positive="1", negative="0")


def test_labelled_rows_may_all_be_of_one_class(make_source: Callable[[Table], Any]) -> None:
    table = {"p": [0.1, 0.2, 0.3], "y": ["well", None, "well"]}
    with pytest.raises(NotBinaryError, match="positive='ill' does not occur in truth"):
        read.target(make_source(table), score="p", truth="y", positive="ill")


def test_both_stated_classes_are_accepted(make_source: Callable[[Table], Any]) -> None:
    table = {"p": [0.1, 0.2, 0.3], "y": ["well", None, "well"]}
    result = read.target(make_source(table), score="p", truth="y", positive="ill", negative="well")
    assert result.labelled is not None
    assert (result.labelled.positive.sum(), result.labelled.negative.sum()) == (0, 2)
    with pytest.raises(NotBinaryError, match="both 'well'"):
        read.target(table, score="p", truth="y", positive="well", negative="well")
    with pytest.raises(OptionError, match="more than one label"):
        read.target(table, score="p", truth="y", positive=["well"], negative="ill")


def test_options_without_meaning_are_refused() -> None:
    table = {"p_a": [0.1, 0.2], "p_b": [0.9, 0.8]}
    with pytest.raises(UnknownNameError, match=r"no kind of column 'group'\. Known are: truth, score, weight, count"):
        read.target(table, score="p_a", group="p_b")  # type: ignore[call-arg]
    with pytest.raises(OptionError, match="score='risk'"):
        read.target(table)
    with pytest.raises(OptionError, match="name it with truth="):
        read.target(table, score="p_a", positive=1)
    with pytest.raises(OptionError, match=r"not several \('p_a', 'p_b'\)"):
        read.target(table, score="p_*")
    with pytest.raises(OptionError, match="'refuse' or 'drop'"):
        read.target(table, score="p_a", missing="keep")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="not the name of a column"):
        read.target(table, score="p_a", truth="")


def test_scores_may_be_an_array_or_list() -> None:
    for bare in ([0.1, 0.4], np.array([0.1, 0.4]), pd.Series([0.1, 0.4]), pl.Series([0.1, 0.4]), (0.1, 0.4)):
        assert read.target(bare).score.tolist() == [0.1, 0.4]
    with pytest.raises(MissingValuesError, match="1 of 2 rows"):
        read.target([0.1, None])
    with pytest.raises(ShapeError, match=r"score\[:, 1\]"):
        read.target(np.zeros((3, 2)))
    with pytest.raises(EmptyDataError, match="no rows"):
        read.target([])
    with pytest.raises(OptionError, match="no column of scores is named"):
        read.target(["one.csv", "two.csv"])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_scores_keep_order_and_type_in_own_memory(kind: Any) -> None:  # noqa: ANN401  (a type of NumPy)
    source: npt.NDArray[Any] = np.array([0.7, 0.1, 0.7], dtype=kind)
    result = read.target({"p": source}, score="p")
    assert result.score.dtype == kind
    assert result.score.tolist() == source.tolist()
    assert result.mass is None
    source[0] = 9
    assert result.score[0] != 9
    assert not result.score.flags.writeable


@pytest.mark.slow
def test_the_engine_aggregates_many_repeated_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = 200_000
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "p": np.round(rng.random(many), 3),
            "y": pl.Series(np.where(rng.random(many) < 0.01, rng.integers(0, 2, many), -1)).replace(-1, None),
            "w": rng.integers(0, 5, many) / 2,
        }
    )
    path = tmp_path / "many.parquet"
    frame.write_parquet(path)
    monkeypatch.setattr("baserate.read._duckdb._fetch", None)  # no row may leave
    for query in ({}, {"truth": "y"}, {"truth": "y", "weight": "w"}):
        result = read.target(path, score="p", **query)  # type: ignore[arg-type]
        assert result.rows is not None
        assert len(result.score) <= 1001
        assert_same(result, read.target(frame, score="p", **query))  # type: ignore[arg-type]


CLASSES = ("cat", "dog", "eel")
PETS: dict[str, list[Any]] = {
    **{f"p_{name}": RNG.random(SIZE).tolist() for name in CLASSES},
    "is": [str(RNG.choice(CLASSES)) if known else None for known in LABELLED],
    "weight": TABLE["weight"],
    "count": TABLE["count"],
}


def assert_same_classes(result: MulticlassTarget, wanted: MulticlassTarget) -> None:
    assert result.labels == wanted.labels
    assert result.intake == wanted.intake
    np.testing.assert_array_equal(result.score, wanted.score)
    for name in ("weight", "count"):
        np.testing.assert_array_equal(getattr(result, name), getattr(wanted, name))
    assert (result.labelled is None) == (wanted.labelled is None)
    if result.labelled is not None and wanted.labelled is not None:
        np.testing.assert_array_equal(result.labelled.truth, wanted.labelled.truth)
        np.testing.assert_array_equal(result.labelled.score, wanted.labelled.score)


@pytest.mark.quick(10)
@pytest.mark.parametrize(
    "query",
    [
        {"score": "p_*"},
        {"score": "p_*", "truth": "is", "weight": "weight"},
        {"score": {"eel": "p_eel", "cat": "p_cat", "dog": "p_dog"}, "truth": "is", "count": "count"},
        {"score": ["p_dog", "p_eel", "p_cat"], "labels": CLASSES},
    ],
    ids=["unknown", "weights", "mapping and counts", "labels"],
)
def test_every_reader_gives_the_same_class_target(query: dict[str, Any], make_source: Callable[[Table], Any]) -> None:
    assert_same_classes(read.class_target(make_source(PETS), **query), read.class_target(PETS, **query))


def test_labelled_and_unlabelled_rows_of_classes_are_separated() -> None:
    result = read.class_target(PETS, score="p_*", truth="is", labels=["eel", "dog", "cat"])
    scores = np.column_stack([PETS[f"p_{name}"] for name in ("eel", "dog", "cat")])
    np.testing.assert_array_equal(result.score, scores[~LABELLED])
    assert result.labelled is not None
    np.testing.assert_array_equal(result.labelled.score, scores[LABELLED])
    truth = [result.labels[at] for at in result.labelled.truth]
    assert truth == [label for label in PETS["is"] if label is not None]
    assert result.intake.description == f"{SIZE} rows read; {LABELLED.sum()} labelled; classes: eel, dog, cat"
    assert result.intake.columns["score"] == ["p_eel", "p_dog", "p_cat"]


def test_column_names_state_the_classes_without_truth() -> None:
    def labels_of(*names: str) -> tuple[object, ...]:
        return read.class_target({name: [0.5, 0.5] for name in names}, score=names).labels

    assert labels_of("p_cat", "p_car") == ("cat", "car")
    assert labels_of("p_0", "p_1", "p_2") == (0, 1, 2)
    assert labels_of("p_01", "p_02") == ("01", "02")
    assert labels_of("p_1", "p_other") == ("1", "other")


def test_an_array_of_scores_for_classes() -> None:
    scores = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3]])
    result = read.class_target(scores, labels=CLASSES)
    assert result.labels == CLASSES
    assert result.score.tolist() == scores.tolist()
    assert read.class_target(scores).labels == (0, 1, 2)
    with pytest.raises(OptionError, match="2 labels for 3 columns"):
        read.class_target(scores, labels=["a", "b"])
    with pytest.raises(OptionError, match="only one column of scores"):
        read.class_target(scores[:, :1])


def test_bad_targets_of_classes_are_refused() -> None:
    with pytest.raises(MissingValuesError, match=r"1 of 2 rows cannot be used \(p_b: 1 infinite\)"):
        read.class_target({"p_a": [0.1, 0.2], "p_b": [0.5, np.inf]}, score="p_*")
    dropped = read.class_target({"p_a": [0.1, 0.2], "p_b": [0.5, np.inf]}, score="p_*", missing="drop")
    assert (
        dropped.intake.description == "2 rows read, 1 of them dropped (p_b: 1 infinite); none labelled; classes: a, b"
    )
    with pytest.raises(EmptyDataError, match="each of 2 rows"):
        read.class_target({"p_a": [0.1, 0.2], "p_b": [0.5, 1], "y": ["a", "b"]}, score="p_*", truth="y")
    with pytest.raises(UnknownLabelError, match=r"truth holds 'NA'.*if that means missing, leave those cells empty"):
        read.class_target({"p_a": [0.1, 0.2], "p_b": [0.5, 1], "y": ["a", "NA"]}, score="p_*", truth="y")
    with pytest.raises(UnknownLabelError, match="the labels are 'x', 'a', but the names of the scores"):
        read.class_target({"p_a": [0.1, 0.2], "p_b": [0.5, 1]}, score="p_*", labels=["x", "a"])
    with pytest.raises(UnknownLabelError, match="1 unknown label"):
        read.class_target(
            {"u": [0.1, 0.2], "v": [0.5, 1], "y": ["fish", None]}, score={"cat": "u", "dog": "v"}, truth="y"
        )
    with pytest.raises(UnknownNameError, match="no column 'q_"):
        read.class_target({"p_a": [0.1, 0.2], "p_b": [0.5, 1]}, score="q_*")
    with pytest.raises(EmptyDataError, match="no rows"):
        read.class_target({"p_a": [], "p_b": []}, score="p_*")
