"""Calls and commands that name no columns: the columns of the table, likely candidates, and the complete call."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pytest

import baserate
from baserate import NoSuchFileError, OptionError
from baserate.read import Inspection, inspect_columns
from tests.cli.shell import PEOPLE

COLUMNS: dict[str, list[Any]] = {
    "who": [f"p{at}" for at in range(20)],
    "site": [*"abca" * 5],
    "sex": [*"fm" * 10],
    "sick": [0, 1, None, 1] * 5,
    "risk": [at / 20 for at in range(20)],
    "margin": [at - 9.5 for at in range(20)],
    "age": [20 + at % 15 for at in range(20)],
    "empty": [None] * 20,
}
ROLES = {"who": "ID", "site": "groups", "sex": "groups", "sick": "labels", "risk": "scores"}


def inspect(source: Any) -> Inspection:  # noqa: ANN401  (any table)
    found = inspect_columns(source)
    assert found is not None
    return found


def write_files(folder: Path) -> dict[str, Path]:
    frame = pl.DataFrame(COLUMNS)
    paths = {kind: folder / f"people.{kind}" for kind in ("csv", "csv.gz", "parquet", "jsonl")}
    frame.write_csv(paths["csv"])
    paths["csv.gz"].write_bytes(gzip.compress(paths["csv"].read_bytes()))
    frame.write_parquet(paths["parquet"])
    frame.write_ndjson(paths["jsonl"])
    return paths


def test_roles_follow_from_values_in_every_kind_of_table(tmp_path: Path) -> None:
    frame = pl.DataFrame(COLUMNS)
    sources = [COLUMNS, frame, frame.lazy(), frame.to_arrow(), frame.to_pandas(), *write_files(tmp_path).values()]
    for source in sources:
        found = inspect(source)
        assert [each.name for each in found.columns] == list(COLUMNS)
        assert {each.name: each.role for each in found.columns if each.role} == ROLES, source
        assert found.rows == 20


@pytest.mark.parametrize(
    ("values", "content", "role"),
    [
        ([0, 1, 1], "two labels: 0, 1", "labels"),
        ([1.0, 0.0], "two labels: 0, 1", "labels"),
        ([True, False], "two labels: false, true", "labels"),
        (["yes", "no", ""], "two labels: no, yes", "labels"),
        ([0.25, 0.5, 1], "numbers from 0.25 to 1, in [0, 1]", "scores"),
        ([-2.5, 0.5, 3], "numbers from -2.5 to 3", ""),
        ([1, 2, 3, 4], "whole numbers from 1 to 4", "ID"),
        ([1, 2, 3, 3], "whole numbers: 1, 2, 3", ""),
        (["a", "b", "c", "c"], "3 values: a, b, c", "groups"),
        (["a", "b", "c"], "text, 3 different values", "ID"),
        ([None, float("nan"), "NA"], "no values", ""),
        (["x" * 50, "y", "z", "z"], f"3 values: {'x' * 19}…, y, z", "groups"),
    ],
)
def test_contents_are_described_in_words(values: list[object], content: str, role: str) -> None:
    (column,) = inspect({"column": values}).columns
    assert (column.content, column.role) == (content, role)


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("riskScore", [-2.5, 0.5, 3], "scores"),
        ("yhat", [1, 2, 3, 3], "scores"),
        ("patient_risk", [*range(30)], "scores"),
        ("logits", [-2.5, 0.5, 3], ""),
    ],
)
def test_names_of_scores_count(name: str, values: list[object], role: str) -> None:
    assert inspect({name: values}).columns[0].role == role


def test_likely_names_come_first() -> None:
    found = inspect({"flag": [0, 1], "y_true": [0, 1], "size": [0.1, 0.2], "risk": [0.3, 0.1], "sex": ["f", "m"]})
    assert [each.name for each in found.candidates("labels")] == ["y_true", "flag"]
    assert [each.name for each in found.candidates("scores")] == ["risk", "size"]
    assert [each.name for each in found.candidates("groups")] == ["sex"]


@pytest.mark.parametrize(
    ("labels", "positive"),
    [([0, 1], None), ([True, False], None), (["sick", "well"], "sick"), (["No", "Yes"], "Yes"), (["a", "b"], "b")],
)
def test_the_positive_class_is_guessed_where_it_must_be_named(labels: list[object], positive: str | None) -> None:
    assert inspect({"label": labels}).candidates("labels")[0].positive == positive


def test_few_rows_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("y,p\n" + "0,0.5\n" * 5000 + "maybe,high\n", encoding="utf-8")
    found = inspect(path)
    assert found.rows == 1000
    assert found.lines("long.csv")[0] == "long.csv has 2 columns (by its first 1,000 rows):"


def test_wide_tables_are_cut() -> None:
    lines = inspect({f"c{at}": [0, 1] for at in range(100)}).lines("The table")
    assert len(lines) == 42
    assert lines[-1] == "  and 60 more columns"


def test_what_is_no_table_has_no_columns() -> None:
    assert inspect_columns(3) is None
    assert inspect_columns({}) is None
    assert inspect_columns(nw.from_native(pl.DataFrame())) is None


@pytest.mark.parametrize(
    "call", [baserate.evaluate, baserate.measure.auc, baserate.calibrate, baserate.choose_threshold]
)
def test_calls_without_columns_name_the_complete_call(call: Callable[..., object], tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    with pytest.raises(OptionError) as caught:
        call(path)
    first, heading, *lines, last = str(caught.value).splitlines()
    name = call.__name__
    assert first == f"{name} needs the name of the column of labels."
    assert heading == f"{path} has 8 columns (by its first 10 rows):"
    assert lines[0] == "  sick   two labels: 0, 1 (may be labels)"
    assert len(lines) == 8
    assert last == f"Call {name}({str(path)!r}, truth='sick', score='risk')."


def test_the_complete_call_keeps_what_was_given(tmp_path: Path) -> None:
    frame = pl.DataFrame(COLUMNS).with_columns(is_sick=pl.Series(["yes", "no"] * 10))
    with pytest.raises(OptionError, match=r"Call evaluate\(table, truth='is_sick', group='sex', score='risk'\)\.$"):
        baserate.evaluate(frame, truth="is_sick", group="sex")
    renamed = frame.select("is_sick", "risk")
    with pytest.raises(OptionError, match=r"Call evaluate\(table, truth='is_sick', score='risk', positive='yes'\)\.$"):
        baserate.evaluate(renamed)
    with pytest.raises(
        OptionError, match=r"No column looks right for score; name yours: truth='label', score='risk'\.$"
    ):
        baserate.evaluate(frame.select("sex", "age"))
    with pytest.raises(NoSuchFileError, match="there is no file"):
        baserate.evaluate(tmp_path / "nowhere.csv")
