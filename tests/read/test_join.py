"""Rows of two tables, joined by ID."""

from typing import Any

import numpy as np
import pytest

from baserate import Rows, read
from baserate._errors import EmptyDataError, MissingValuesError, OptionError, ShapeError
from baserate.infer import compare

WHO = ["a", "b", "c", "d"]
NEW: dict[str, Any] = {
    "who": WHO,
    "sick": [1, 0, 1, 0],
    "risk": [0.9, 0.2, 0.6, 0.7],
    "sex": ["f", "m", "m", "f"],
    "w": [1, 2, 3, 4],
}
OLD: dict[str, Any] = {name: [column[at] for at in (2, 0, 3, 1)] for name, column in NEW.items()} | {
    "risk": [0.5, 0.8, 0.1, 0.3]
}


def read_rows(table: dict[str, Any], **more: Any) -> Rows:  # noqa: ANN401  (options of the reader)
    return read.rows(table, **{"truth": "sick", "score": "risk", "id": "who"} | more)


def drop_row(table: dict[str, Any], name: str) -> dict[str, Any]:
    kept = [at for at, who in enumerate(table["who"]) if who != name]
    return {column: [values[at] for at in kept] for column, values in table.items()}


def test_rows_are_joined_by_id() -> None:
    result = read.join({"new": read_rows(NEW, weight="w", group="sex"), "old": read_rows(OLD, weight="w", group="sex")})
    assert result.score["new"].tolist() == NEW["risk"]
    assert result.score["old"].tolist() == [0.8, 0.3, 0.5, 0.1]
    assert result.truth.tolist() == [True, False, True, False]
    assert result.weight is not None
    assert result.weight.tolist() == [1, 2, 3, 4]
    assert result.id is not None
    assert result.id.tolist() == WHO
    assert result.intake.description == "4 rows read; positive = 1, negative = 0"
    assert len(compare(result)) == 3


def test_clusters_are_compared_by_their_rows() -> None:
    renamed = OLD | {"sex": ["a man" if sex == "m" else "woman" for sex in OLD["sex"]]}
    result = read.join({"new": read_rows(NEW, cluster="sex"), "old": read_rows(renamed, cluster="sex")})
    assert result.cluster is not None
    assert result.cluster.tolist() == [0, 1, 1, 0]
    with pytest.raises(OptionError, match="only one of new and old has a cluster"):
        read.join({"new": read_rows(NEW, cluster="sex"), "old": read_rows(OLD)})


def test_several_scores_keep_their_names() -> None:
    both = [table | {"age": np.arange(4.0)} for table in (NEW, OLD)]
    result = read.join({f"m{at}": read_rows(each, score=["risk", "age"]) for at, each in enumerate(both)})
    assert list(result.score) == ["m0: risk", "m0: age", "m1: risk", "m1: age"]


def test_rows_of_only_one_table_are_refused_or_dropped() -> None:
    short = drop_row(OLD, "b")
    with pytest.raises(
        MissingValuesError, match=r"some ids are not in all tables \(1 of new\)\. Add them, or leave them out"
    ):
        read.join({"new": read_rows(NEW), "old": read_rows(short)})
    result = read.join({"new": read_rows(NEW), "old": read_rows(short)}, missing="drop")
    assert len(result) == 3
    assert result.intake.description.startswith("4 rows read, 1 of them dropped (new id: 1 not in all tables)")
    with pytest.raises(EmptyDataError, match="no id is in all tables"):
        read.join({"new": read_rows(NEW), "old": read_rows(OLD | {"who": [1, 2, 3, 4]})}, missing="drop")


@pytest.mark.parametrize(
    ("change", "more", "error", "message"),
    [
        ({"sick": [1, 1, 1, 0]}, {}, ShapeError, r"truth of new and old differs in 1 of 4 rows \(id 'd'\)"),
        ({"who": ["c", "a", "a", "b"]}, {}, ShapeError, r"1 id of old names several rows \('a'\)"),
        ({"sex": ["f", "f", "f", "f"]}, {"group": "sex"}, ShapeError, "group of new and old differs in 2 of 4 rows"),
        # Of c, a, d, b: d leaves the cluster of a.
        (
            {"sex": ["m", "f", "m", "m"]},
            {"cluster": "sex"},
            ShapeError,
            r"cluster of new and old differs in 1 of 4 .*'d'",
        ),
        ({"w": [9, 9, 9, 9]}, {"weight": "w"}, ShapeError, "weight of new and old differs in 4 of 4 rows"),
    ],
)
def test_contradicting_tables_raise(change: Any, more: Any, error: type[Exception], message: str) -> None:  # noqa: ANN401
    with pytest.raises(error, match=message):
        read.join({"new": read_rows(NEW, **more), "old": read_rows(OLD | change, **more)})


def test_parts_that_cannot_be_joined_raise() -> None:
    new, old = read_rows(NEW), read_rows(OLD)
    with pytest.raises(OptionError, match="nothing to join"):
        read.join({"new": new})
    with pytest.raises(OptionError, match="missing is 'ignore'"):
        read.join({"new": new, "old": old}, missing="ignore")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="old have no ids; read them with id="):
        read.join({"new": new, "old": read.rows(OLD, truth="sick", score="risk")})
    with pytest.raises(OptionError, match="grouped by different columns"):
        read.join({"new": new, "old": read_rows(OLD, group="sex")})
    with pytest.raises(OptionError, match="only one of new and old has a weight"):
        read.join({"new": new, "old": read_rows(OLD, weight="w")})
    with pytest.raises(OptionError, match="positive label is 1 in new but 0 in old"):
        read.join({"new": new, "old": read_rows(OLD, positive=0)})
