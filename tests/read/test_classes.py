"""Several classes from every kind of source: tables, rows, labels and errors are the same."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import baserate
from baserate import (
    Confusions,
    EmptyDataError,
    FileFormatError,
    MissingValuesError,
    MulticlassRows,
    NotNumericError,
    OptionError,
    ShapeError,
    Tallies,
    UnknownLabelError,
    UnknownNameError,
    WeightError,
    read,
)
from baserate.read._labels import classes_from_names
from tests.readers import Table

SIZE = 300
RNG = np.random.default_rng(11)
PETS = ["cat", "dog", "fish"]
SCORE = RNG.dirichlet([1, 1, 1], SIZE).round(3)
TABLE: dict[str, list[Any]] = {
    "is": RNG.choice(PETS, SIZE, p=[0.6, 0.3, 0.1]).tolist(),
    "called": RNG.choice(PETS, SIZE).tolist(),
    "digit": RNG.integers(3, 6, SIZE).tolist(),
    "read as": RNG.integers(2, 6, SIZE).tolist(),
    **{f"p_{pet}": SCORE[:, at].tolist() for at, pet in enumerate(PETS)},
    "sex": RNG.choice(["f", "m"], SIZE).tolist(),
    "weight": (RNG.integers(0, 9, SIZE) / 4).tolist(),
    "count": RNG.integers(0, 4, SIZE).tolist(),
}
COLUMNS: dict[str, dict[str, Any]] = {
    "text": {"truth": "is", "predicted": "called"},
    "whole numbers": {"truth": "digit", "predicted": "read as"},
    "groups": {"truth": "is", "predicted": "called", "group": ["sex", "digit"]},
    "weights": {"truth": "is", "predicted": "called", "weight": "weight"},
    "counts": {"truth": "digit", "predicted": "read as", "count": "count", "group": "sex"},
    "both": {"truth": "is", "predicted": "called", "weight": "weight", "count": "count"},
    "labels named": {"truth": "is", "predicted": "called", "labels": ["fish", "bird", "dog", "cat"]},
}


def sum_pairs_by_loop(
    table: Mapping[str, list[Any]], columns: Mapping[str, Any]
) -> dict[tuple[Any, ...], dict[tuple[Any, Any], float]]:
    """Sum the mass of every pair of labels in each group, by a loop."""
    result: dict[tuple[Any, ...], dict[tuple[Any, Any], float]] = {}
    groups = [columns["group"]] if isinstance(columns.get("group"), str) else columns.get("group", [])
    for row in [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]:
        amount = row.get(columns.get("weight", ""), 1) * row.get(columns.get("count", ""), 1)
        if amount:
            cells = result.setdefault(tuple(row[name] for name in groups), {})
            pair = row[columns["truth"]], row[columns["predicted"]]
            cells[pair] = cells.get(pair, 0) + amount
    return result


def pairs_of(result: Confusions) -> dict[tuple[Any, ...], dict[tuple[Any, Any], float]]:
    return {
        group: {
            (truth, decided): mass
            for truth, line in zip(table.labels, table.mass.tolist(), strict=True)
            for decided, mass in zip(table.labels, line, strict=True)
            if mass
        }
        for group, table in result.tables.items()
    }


@pytest.mark.quick(20)
@pytest.mark.parametrize("query", COLUMNS.values(), ids=COLUMNS)
def test_confusions_are_the_same_from_every_source(make_source: Callable[[Table], Any], query: dict[str, Any]) -> None:
    result = read.confusions(make_source(TABLE), **query)
    assert pairs_of(result) == sum_pairs_by_loop(TABLE, query)
    wanted = read.confusions(TABLE, **query)
    assert result.labels == wanted.labels
    assert result.digest == wanted.digest
    assert result.intake.read == SIZE
    assert result.intake.classes == result.labels
    assert list(result.tables) == list(wanted.tables)
    assert result.pooled.rows.total == wanted.pooled.rows.total
    for (_, one), (_, other) in zip(result.walk(), wanted.walk(), strict=True):
        np.testing.assert_allclose(one.squares.mass, other.squares.mass, rtol=1e-14)


@pytest.mark.quick(10)
@pytest.mark.parametrize(
    "query",
    [
        {"score": "p_*"},
        {"score": ["p_fish", "p_cat", "p_dog"], "group": "sex", "weight": "weight"},
        {"score": ["p_cat", "p_dog", "p_fish"], "count": "count", "labels": PETS},
    ],
    ids=["beginning", "groups and weights", "labels named"],
)
def test_class_rows_are_the_same_from_every_source(make_source: Callable[[Table], Any], query: dict[str, Any]) -> None:
    result = read.class_rows(make_source(TABLE), truth="is", **query)
    assert isinstance(result, MulticlassRows)
    there = (
        np.array(TABLE[query["weight"]] if "weight" in query else TABLE["count"] if "count" in query else [1] * SIZE)
        > 0
    )
    columns = PETS if "*" in query["score"] else [name.removeprefix("p_") for name in query["score"]]
    assert result.labels == tuple(columns)
    assert [result.labels[code] for code in result.truth] == np.array(TABLE["is"])[there].tolist()
    np.testing.assert_array_equal(result.score, SCORE[there][:, [PETS.index(name) for name in columns]])
    if "group" in query:
        assert [result.groups[code] for code in result.group] == [(sex,) for sex in np.array(TABLE["sex"])[there]]
        assert sum(len(result.of_group(at)) for at in range(2)) == len(result)
    assert result.intake.read == SIZE


INCOMPLETE: dict[str, list[Any]] = {
    "is": ["cat", None, "dog", "fish", "cat", "dog"],
    "called": ["cat", "cat", None, "dog", "cat", "fish"],
    "p_cat": [0.5, 0.5, 0.5, None, 0.4, 0.2],
    "p_dog": [0.25, 0.25, 0.25, 0.2, float("inf"), 0.4],
    "p_fish": [0.25, 0.25, 0.25, 0.2, 0.2, 0.4],
}


@pytest.mark.quick(3)
def test_missing_values_are_refused_or_dropped_and_counted(make_source: Callable[[Table], Any]) -> None:
    with pytest.raises(MissingValuesError, match=r"2 of 6 rows cannot be used \(is: 1 missing; called: 1 missing\)"):
        read.confusions(make_source(INCOMPLETE), truth="is", predicted="called")
    result = read.confusions(make_source(INCOMPLETE), truth="is", predicted="called", missing="drop")
    assert result.pooled.total == 4
    assert (result.intake.read, result.intake.dropped) == (6, 2)
    with pytest.raises(MissingValuesError, match=r"3 of 6 rows cannot be used"):
        read.class_rows(make_source(INCOMPLETE), truth="is", score="p_*")
    rows = read.class_rows(make_source(INCOMPLETE), truth="is", score="p_*", missing="drop")
    assert [rows.labels[code] for code in rows.truth] == ["cat", "dog", "dog"]
    assert rows.intake.dropped == 3


@pytest.mark.quick(3)
def test_unlisted_labels_are_refused_or_dropped(make_source: Callable[[Table], Any]) -> None:
    query: dict[str, Any] = {"truth": "is", "predicted": "called", "labels": ["cat", "dog"]}
    table = {"is": ["cat", "dog", "fish"], "called": ["cat", "bird", "dog"]}
    with pytest.raises(
        UnknownLabelError, match=r"2 of 3 rows cannot be used \(is: 1 unknown label; called: 1 unknown label\)"
    ):
        read.confusions(make_source(table), **query)
    assert read.confusions(make_source(table), missing="drop", **query).pooled.mass.tolist() == [[1, 0], [0, 0]]


def test_labels_of_dropped_rows_are_no_classes(make_source: Callable[[Table], Any]) -> None:
    table = {"is": ["cat", "dog", "fish"], "called": ["cat", "cat", None]}
    assert read.confusions(make_source(table), truth="is", predicted="called", missing="drop").labels == ("cat", "dog")


def test_numbers_beside_text_in_a_file_are_text(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    path.write_text("y,z\n1,1\n2,none\n3,3\n", encoding="utf-8")
    assert read.confusions(path, truth="y", predicted="z").labels == ("1", "2", "3", "none")
    with pytest.raises(UnknownLabelError, match="y beside z mixes text and numbers"):
        read.confusions({"y": [1, 2, 3], "z": ["1", "none", "3"]}, truth="y", predicted="z")


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    ("labels", "wanted"),
    [([0, 1, 1, 0], Tallies), ([0, 1, 2, 0], Confusions), ([True, False, True, True], Tallies)],
)
def test_decisions_depend_on_the_number_of_classes(
    make_source: Callable[[Table], Any], labels: list[Any], wanted: type
) -> None:
    result = read.decisions(make_source({"y": labels, "z": labels}), truth="y", predicted="z")
    assert isinstance(result, wanted)


@pytest.mark.parametrize(
    ("columns", "labels", "wanted"),
    [
        (["cat", "dog"], ["cat", "dog"], ["cat", "dog"]),
        ([".pred_a", ".pred_b"], ["b"], ["a", "b"]),
        (["prob 1", "prob 2", "prob 10"], [1, 10], [1, 2, 10]),
        (["p1", "p-1"], [-1, 1], [1, -1]),
        (["p0", "p1"], [0.0, 1.0], [0.0, 1.0]),
        (["dog_score", "dogfish_score"], ["dog", "dogfish"], ["dog", "dogfish"]),
        (["p_True", "p_False"], [False, True], [True, False]),
    ],
)
def test_column_names_state_the_classes(columns: list[str], labels: list[Any], wanted: list[Any]) -> None:
    result = classes_from_names(columns, labels)
    assert result == wanted
    assert list(map(type, result)) == list(map(type, wanted))


def test_column_names_without_classes_are_refused() -> None:
    with pytest.raises(
        UnknownLabelError, match=r"truth holds 'fish', for which there is no score among 'p_cat', 'p_dog'"
    ):
        classes_from_names(["p_cat", "p_dog"], ["cat", "fish"])
    with pytest.raises(UnknownLabelError, match="do not contain them; name the class of each"):
        classes_from_names(["cat_1", "2_dog"], ["cat", "dog"])
    with pytest.raises(OptionError, match="only one column of scores, 'p_cat'"):
        classes_from_names(["p_cat"], ["cat"])


def test_unknown_columns_raise() -> None:
    with pytest.raises(UnknownNameError, match=r"there is no column 'q_\*'"):
        read.class_rows(TABLE, truth="is", score="q_*")
    with pytest.raises(OptionError, match="give predicted= and no score="):
        read.confusions(TABLE, truth="is", score="p_cat")
    with pytest.raises(OptionError, match="need a column of scores for each class"):
        read.class_rows(TABLE, truth="is", predicted="called")


def test_files_must_match_a_pattern_with_the_same_columns(tmp_path: Path) -> None:
    for at, name in enumerate(["p_b", "p_c"]):
        (tmp_path / f"{at}.jsonl").write_text(f'{{"y": "a", "p_a": 1, "{name}": 0}}\n', encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"the files differ in the columns that are called p_\*"):
        read.class_rows(tmp_path, truth="y", score="p_*")


# Arrays.


def test_arrays_of_every_kind_give_the_same_table() -> None:
    codes = RNG.integers(0, 3, (2, 100))
    wanted = baserate.confusion(codes[0], codes[1]).mass.tolist()
    names = np.array(["ant", "bee", "cow"])
    for kind in (
        lambda at: names[at],
        lambda at: names[at].astype(object),
        lambda at: names[at].tolist(),
        np.int8,
        np.float32,
    ):
        one, other = (kind(each) for each in codes)
        assert baserate.confusion(one, other).mass.tolist() == wanted
    for series in (pd.Series(names[codes[0]], dtype="category"), pl.Series(names[codes[0]].tolist())):
        assert baserate.confusion(series, names[codes[1]]).mass.tolist() == wanted


def test_weights_and_counts_of_arrays() -> None:
    table = baserate.confusion(list("aab"), list("aba"), weight=[0.5, 2, 0], count=[2, 3, 1])
    assert table.labels == ("a", "b")
    assert table.mass.tolist() == [[1, 6], [0, 0]]
    assert table.squares.mass.tolist() == [[0.5, 12], [0, 0]]
    assert table.rows.mass.tolist() == [[2, 3], [0, 0]]


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (([1, 2], [1]), ShapeError, r"different lengths \(truth 2, predicted 1\)"),
        (([], []), EmptyDataError, "there are no rows"),
        (([1, None], [1, 1]), MissingValuesError, r"1 of 2 rows .* Fill them in, or leave those rows out first\."),
        (([1.0, np.nan], [1, 1]), MissingValuesError, "truth: 1 missing"),
        ((["a", 1], ["a", "a"]), UnknownLabelError, "mixes text and numbers"),
        (([[1, 2]], [1]), ShapeError, "truth has shape"),
    ],
)
def test_bad_arrays_raise(source: tuple[Any, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        baserate.confusion(*source)


def test_bad_weights_raise() -> None:
    with pytest.raises(WeightError, match="negative"):
        baserate.confusion([1, 2], [1, 2], weight=[1, -1])
    with pytest.raises(EmptyDataError, match="every weight is zero"):
        baserate.confusion([1, 2], [1, 2], weight=[0, 0])


def test_class_scores_of_arrays() -> None:
    score = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]])
    assert baserate.class_scores([0, 1], score).labels == (0, 1, 2)
    assert baserate.class_scores(["x", "z"], score, labels="xyz").labels == ("x", "y", "z")
    assert baserate.class_scores(["x", "z"], score[:, :2]).labels == ("x", "z")
    assert baserate.class_scores(["x", "z"], pd.DataFrame(score), labels="xyz").score.tolist() == score.tolist()
    assert len(baserate.class_scores([0, 1], score, weight=[0, 1])) == 1
    with pytest.raises(
        UnknownLabelError, match=r"truth holds 2 classes \('x', 'z'\), but there are 3 columns of scores"
    ):
        baserate.class_scores(["x", "z"], score)
    with pytest.raises(UnknownLabelError, match=r"truth: 1 unknown label"):
        baserate.class_scores(["x", "q"], score, labels="xyz")
    with pytest.raises(ShapeError, match=r"score has shape \(2,\)"):
        baserate.class_scores([0, 1], [0.1, 0.2])
    with pytest.raises(ShapeError, match="2 labels for 3 columns"):
        baserate.class_scores([0, 1], score, labels=[0, 1])
    with pytest.raises(MissingValuesError, match="score of column 1: 1 NaN"):
        baserate.class_scores([0, 1], [[0.5, np.nan], [0.5, 0.5]])
    with pytest.raises(NotNumericError, match="score of column 0"):
        baserate.class_scores([0, 1], [["a", "b"], ["c", "d"]])


# Sets of labels.


def test_sets_of_labels_from_tables_and_from_sets() -> None:
    truth = [[1, 1, 0], [0, 1, 0], [0, 0, 0]]
    as_sets = [{"sea", "sky"}, {"sky"}, set()]
    one = baserate.label_sets(truth, predicted=truth, labels=["sea", "sky", "sun"])
    other = baserate.label_sets(as_sets, predicted=[["sea", "sky"], ["sky"], []], labels=["sea", "sky", "sun"])
    assert one.truth.tolist() == other.truth.tolist()
    assert one.predicted is not None
    assert other.predicted is not None
    assert one.predicted.tolist() == other.predicted.tolist()
    assert baserate.label_sets(as_sets, predicted=[{"sun"}, set(), set()]).labels == ("sea", "sky", "sun")
    assert baserate.label_sets(truth, score=np.ones((3, 3))).labels == (0, 1, 2)
    weighted = baserate.label_sets(truth, predicted=truth, weight=[1, 0, 2])
    assert len(weighted) == 2
    assert weighted.per_label().rows.total.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ({"truth": [[1, 2]], "predicted": [[1, 0]]}, baserate.NotBinaryError, "truth holds values other than 0 and 1"),
        ({"truth": [[1, 0]], "predicted": [[1]]}, ShapeError, r"predicted has shape \(1, 1\)"),
        ({"truth": [[1, 0]]}, OptionError, "give predicted= or score="),
        ({"truth": [1, 0], "predicted": [1, 0]}, ShapeError, r"truth has shape \(2,\)"),
        ({"truth": [{"a"}], "predicted": [{"b"}], "labels": ["a"]}, UnknownLabelError, "row 0 of predicted holds 'b'"),
        ({"truth": [[1, 0]], "score": [[np.nan, 0.5]]}, MissingValuesError, "1 of 2 values of score"),
        ({"truth": [[1, 0]], "predicted": [[1, 0]], "weight": [1, 2]}, ShapeError, "there are 2 weights for 1 row;"),
        ({"truth": [[1, 0]], "predicted": [[1, 0]], "weight": [0]}, EmptyDataError, "every weight is zero"),
        ({"truth": np.zeros((0, 2)), "predicted": np.zeros((0, 2))}, EmptyDataError, "there are no rows"),
    ],
)
def test_bad_sets_of_labels_raise(source: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        baserate.label_sets(**source)


# Cross-tables.


def write_cross_table(folder: Path, text: str) -> Path:
    path = folder / "cross.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_cross_table_is_read_in_the_orientation_that_is_stated(tmp_path: Path) -> None:
    path = write_cross_table(tmp_path, ",yes,no\nyes,20,5\nno,10,15\n")
    rows = read.cross_table(path, truth="rows")
    assert (rows.labels, rows.mass.tolist()) == (("yes", "no"), [[20, 5], [10, 15]])
    assert read.cross_table(path, truth="columns").mass.tolist() == [[20, 10], [5, 15]]


def test_cross_tables_that_are_not_square_and_of_other_forms(tmp_path: Path) -> None:
    result = read.cross_table(write_cross_table(tmp_path, "is;3;1\n1;0.5;2\n2;1;7\n"), truth="rows")
    assert result.labels == (1, 2, 3)
    assert result.mass.tolist() == [[2, 0, 0.5], [7, 0, 1], [0, 0, 0]]
    assert (
        read.cross_table(write_cross_table(tmp_path, "\ufeffx\ta\tb\n\na\t1\t2\nb\t3\t4\n"), truth="rows").total == 10
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_labels_of_a_cross_table_may_hold_line_breaks(tmp_path: Path, end: str) -> None:
    path = tmp_path / "cross.csv"
    path.write_bytes(end.join(['"is\nso";"a\nb";c', '"a\nb";1;2', "c;3;4", ""]).encode())
    result = read.cross_table(path, truth="rows")
    assert (result.labels, result.mass.tolist()) == (("a\nb", "c"), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", EmptyDataError, "holds no cross-table"),
        (",a,b\na,1\n", FileFormatError, "line 2 of .* has 2 cells where the first has 3"),
        ("\n,a,b\n\na,1\n", FileFormatError, "line 4 of .* has 2 cells where the first has 3"),
        (",a,b\na,1,x\nb,1,1\n", FileFormatError, "in row 'a' and column 'b' is 'x', not a number; write 0 for none"),
        (",a,a\na,1,1\nb,1,1\n", FileFormatError, "two columns 'a'"),
        (",a,b\na,1,-1\nb,1,1\n", WeightError, "negative"),
    ],
)
def test_bad_cross_tables_raise(tmp_path: Path, text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read.cross_table(write_cross_table(tmp_path, text), truth="rows")


def test_unreadable_cross_tables_raise(tmp_path: Path) -> None:
    with pytest.raises(baserate.NoSuchFileError, match="cannot be opened"):
        read.cross_table(tmp_path / "none.csv", truth="rows")
    with pytest.raises(OptionError, match="expected 'rows' or 'columns'"):
        read.cross_table(tmp_path / "none.csv", truth="both")  # type: ignore[arg-type]


def test_costs_from_a_cross_table(tmp_path: Path) -> None:
    result = read.cost_matrix(write_cross_table(tmp_path, ",b,a\na,4,0\nb,0,-1\n"), truth="rows")
    assert result.total(baserate.confusion(list("aab"), list("aba"))) == 3
    assert read.cost_matrix(tmp_path / "cross.csv", truth="columns").cost.tolist() == [[0, -1], [4, 0]]
    with pytest.raises(OptionError, match="expected 'rows' or 'columns'"):
        read.cost_matrix(tmp_path / "cross.csv", truth="both")  # type: ignore[arg-type]
    with pytest.raises(FileFormatError, match="has no row or no column for 'b'"):
        read.cost_matrix(write_cross_table(tmp_path, ",a,c\na,0,1\nb,1,0\n"), truth="rows")


# What once went wrong in silence.

PERFECT: dict[str, Any] = {"y": ["a", "b", "c"], **{f"p_{k}": np.eye(3)[at] for at, k in enumerate("abc")}}


def accuracy_of(rows: MulticlassRows) -> float:
    return baserate.measure.multiclass.accuracy(rows.confusion())


def test_every_class_needs_a_score_and_every_score_a_class() -> None:
    for labels in (["a", "b", "c", "d"], ["a", "b"], ["a", "b", "b"]):
        with pytest.raises(UnknownLabelError):
            read.class_rows(PERFECT, truth="y", score="p_*", labels=labels)


def test_labels_order_classes_and_never_rename_columns() -> None:
    rows = read.class_rows(PERFECT, truth="y", score="p_*", labels=["c", "a", "b"])
    assert rows.labels == ("c", "a", "b")
    assert accuracy_of(rows) == 1
    renamed = {"y": PERFECT["y"], **{f"q{at}": PERFECT[f"p_{k}"] for at, k in enumerate("abc")}}
    with pytest.raises(UnknownLabelError, match=r"do not contain them; name the class of each column, for example"):
        read.class_rows(renamed, truth="y", score="q*")
    assert accuracy_of(read.class_rows(renamed, truth="y", score="q*", labels=["a", "b", "c"])) == 1
    output = {"b": "q1", "c": "q2", "a": "q0"}
    assert accuracy_of(read.class_rows(renamed, truth="y", score=output)) == 1
    assert read.class_rows(renamed, truth="y", score=output, labels="abc").labels == ("a", "b", "c")


def test_a_pattern_matches_no_column_with_another_role() -> None:
    table = {
        "p_true": [0, 1, 2],
        "p_0": [1, 0, 0],
        "p_1": [0, 1, 0],
        "p_2": [0, 0, 1],
        "p_w": [9, 9, 9],
        "p_g": ["u", "v", "u"],
    }
    rows = read.class_rows(table, truth="p_true", score="p_*", weight="p_w", group="p_g")
    assert rows.labels == (0, 1, 2)
    assert accuracy_of(rows) == 1
    assert rows.intake.notes == ("p_* is taken for the scores 'p_0', 'p_1', 'p_2'.",)


def test_classes_beyond_those_listed_are_refused_or_dropped() -> None:
    table = {name: [*column, column[0]] for name, column in PERFECT.items()} | {"y": ["a", "b", "c", "z"]}
    with pytest.raises(UnknownLabelError, match=r"1 of 4 rows cannot be used \(y: 1 unknown label\)"):
        read.class_rows(table, truth="y", score="p_*", labels="abc")
    assert len(read.class_rows(table, truth="y", score="p_*", labels="abc", missing="drop")) == 3
    with pytest.raises(UnknownLabelError, match="truth holds 'z', for which there is no score"):
        read.class_rows(table, truth="y", score="p_*")


def test_names_are_split_only_between_words_or_after_the_stem() -> None:
    for columns, labels in ((["p_10", "p_11", "p_12"], [0, 1, 2]), (["p_cat", "p_car"], ["t", "r"])):
        with pytest.raises(UnknownLabelError):
            classes_from_names(columns, labels)
    assert classes_from_names(["pcat", "pcar"], ["cat", "car"], "p") == ["cat", "car"]
    assert classes_from_names(["p_1", "p_2", "p_3"], [1.0, 2.0]) == [1.0, 2.0, 3.0]


def test_equal_numbers_are_one_class_in_any_spelling(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("y,z\n1,1.0\n2,2.0\n3,2.0\n", encoding="utf-8")
    assert read.confusions(path, truth="y", predicted="z").labels == (1, 2, 3)


def test_disjoint_labels_raise(make_source: Callable[[Table], Any]) -> None:
    table = {"y": ["cat", "dog", "fish"], "z": ["0", "1", "2"]}
    with pytest.raises(UnknownLabelError, match="no label is in both; spell them in the same way"):
        read.confusions(make_source(table), truth="y", predicted="z")
    with pytest.raises(
        UnknownLabelError, match=r"no label is in both; decide on the scores first, such as score >= 0\.5"
    ):
        read.confusions(make_source({"y": [1, 0, 1], "z": [0.9, 0.4, 0.6]}), truth="y", predicted="z")
    # One label that is never true may be all that a poor model says.
    assert read.confusions(make_source({"y": ["a", "b"], "z": ["c", "c"]}), truth="y", predicted="z").labels == (
        "a",
        "b",
        "c",
    )


def test_thousands_of_labels_raise(make_source: Callable[[Table], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from baserate.read import _builders

    monkeypatch.setattr(_builders, "_MAX_CLASSES", 4)
    table = {"y": list("abcdef"), "z": list("abcdef"), "g": list("uuuvvv")}
    with pytest.raises(ShapeError, match="y and z hold 6 different labels, too many for a confusion matrix"):
        read.confusions(make_source(table), truth="y", predicted="z")
    monkeypatch.setattr(_builders, "_MAX_CLASSES", 10)
    monkeypatch.setattr(_builders, "_MAX_CELLS", 50)
    with pytest.raises(ShapeError, match="2 groups of 6 classes make 72 cells"):
        read.confusions(make_source(table), truth="y", predicted="z", group="g")


def test_ordered_categories_keep_their_order() -> None:
    order = ["low", "medium", "high"]
    values = ["high", "low", "medium", "low"]
    for frame in (
        pd.DataFrame({"y": pd.Categorical(values, order, ordered=True), "z": values}),
        pl.DataFrame({"y": values, "z": values}, schema={"y": pl.Enum(order), "z": pl.Enum(order)}),
        pl.LazyFrame({"y": values, "z": values}, schema={"y": pl.Enum(order), "z": pl.String}),
    ):
        assert read.confusions(frame, truth="y", predicted="z").labels == tuple(order)
    assert baserate.confusion(pd.Series(pd.Categorical(values, order, ordered=True)), values).labels == tuple(order)
    unordered = pd.DataFrame({"y": pd.Categorical(values, order), "z": values})
    assert read.confusions(unordered, truth="y", predicted="z").labels == ("high", "low", "medium")


def test_frames_of_scores_are_read_by_their_names() -> None:
    score = np.eye(3)
    for frame in (pd.DataFrame(score, columns=list("cab")), pl.DataFrame(score, schema=list("cab"))):
        rows = baserate.class_scores(["c", "a", "b"], frame)
        assert rows.labels == ("c", "a", "b")
        assert accuracy_of(rows) == 1
    assert baserate.class_scores(["a", "b", "c"], pd.DataFrame(score)).labels == ("a", "b", "c")
    with pytest.raises(UnknownLabelError, match="do not contain them"):
        baserate.class_scores(["a", "b", "c"], pd.DataFrame(score, columns=["x", "y", "z"]))


def test_frames_of_sets_of_labels_are_matched_by_name() -> None:
    truth = pd.DataFrame({"sea": [1, 0], "sky": [1, 1]})
    sets = baserate.label_sets(truth, predicted=truth[["sky", "sea"]], score=truth[["sky", "sea"]] / 2)
    assert sets.labels == ("sea", "sky")
    assert baserate.measure.multiclass.exact_match(sets) == 1
    assert sets.score is not None
    assert sets.score.tolist() == [[0.5, 0.5], [0, 0.5]]
    with pytest.raises(UnknownLabelError, match="predicted has the columns 'sea', 'sun'"):
        baserate.label_sets(truth, predicted=truth.rename(columns={"sky": "sun"}))


def test_frames_that_would_lose_their_names_are_refused() -> None:
    frame = pd.DataFrame([[3, 1], [0, 4]], index=["a", "b"], columns=["b", "a"])
    with pytest.raises(ShapeError, match="a frame, whose names would be lost"):
        baserate.Confusion.of_matrix(frame, truth="rows")
    table = baserate.confusion(list("aab"), list("aba"))
    with pytest.raises(ShapeError, match="a frame, whose names would be lost"):
        baserate.measure.multiclass.expected_cost(table, costs=frame)


def test_masked_scores_are_missing() -> None:
    score = np.ma.masked_array(np.eye(2), mask=[[False, False], [True, False]])
    with pytest.raises(MissingValuesError, match="score of column 0: 1 NaN"):
        baserate.class_scores([0, 1], score)


def test_classes_are_inferred_only_from_evidence() -> None:
    score = np.ones((2, 3)) / 3
    assert baserate.class_scores([0, 2], score).labels == (0, 1, 2)
    with pytest.raises(UnknownLabelError, match="name the class of each with labels="):
        baserate.class_scores([1, 2], score)


@pytest.mark.parametrize("source", [["sea,sky", "sky"], [["sea"], "sky"]])
def test_a_text_is_no_set_of_labels(source: list[Any]) -> None:
    with pytest.raises(ShapeError, match="a row is a text, not a set of labels"):
        baserate.label_sets(source, predicted=source)


def test_lists_of_different_lengths_are_sets() -> None:
    sets = baserate.label_sets([[3, 5], [5], []], predicted=[[3], [5], [3]])
    assert sets.labels == (3, 5)
    assert sets.truth.tolist() == [[True, True], [False, True], [False, False]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",a,b,total\na,1,2,3\nb,3,4,7\ntotal,4,6,10\n", "the row and column 'total' of .* add up the others"),
        ("cat,dog\n5,1\n2,3\n", "no label is in both"),
    ],
)
def test_margins_and_bare_matrices_are_no_cross_tables(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read.cross_table(write_cross_table(tmp_path, text), truth="rows")


def test_numeric_labels_of_a_cross_table_are_equal_in_any_spelling(tmp_path: Path) -> None:
    assert read.cross_table(write_cross_table(tmp_path, ",1,2\n1.0,5,1\n2.0,0,4\n"), truth="rows").labels == (1, 2)


def test_labels_must_differ_and_be_comparable() -> None:
    for make in (
        lambda labels: baserate.class_scores([0, 1], np.eye(2), labels=labels),
        lambda labels: baserate.label_sets([[1, 0]], predicted=[[1, 0]], labels=labels),
        lambda labels: baserate.Confusion.of_matrix([[1, 0], [0, 1]], labels, truth="rows"),
        lambda labels: baserate.CostMatrix([[0, 1], [1, 0]], labels),
    ):
        with pytest.raises(OptionError, match="the label 'a' is given twice"):
            make(["a", "a"])
        with pytest.raises(OptionError, match="cannot be compared"):
            make([["a"], "b"])
