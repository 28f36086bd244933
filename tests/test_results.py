"""Results as rows, JSON, CSV, frames and Arrow streams."""

import csv
import json
import math
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from baserate import NotInstalledError, Results, ShapeError, UnknownNameError, _results, measure, read
from tests.schemas import ValidationError, check_schema

TALLIES = read.tallies(
    {
        "y": [1, 0, 1, 0, 1, 1],
        "p": [0.9, 0.6, 0.4, 0.1, 0.8, 1.0],
        "q": [0.0, 0.1, 0.2, 0.3, 0.1, 0.5],
        "sex": ["f", "f", "m", "m", "m", "x"],
        "old": [True, False, True, False, True, True],
    },
    truth="y",
    score=["p", "q"],
    group=["sex", "old"],
)
SUMMARY = measure.summary(TALLIES, threshold=[0.5, math.inf], measures=["precision", "lift", "auc", "log_loss"])
CURVES = measure.curves(TALLIES, "lift")
KINDS = {"numbers": SUMMARY, "curves": CURVES}


@pytest.mark.parametrize("results", KINDS.values(), ids=KINDS)
def test_json_fits_its_schema_and_is_the_rows(results: Results) -> None:
    form = json.loads(results.to_json())
    check_schema(form)
    assert form["schema_version"] == 1
    assert form["data"]["rows"] == 6
    assert [parse_infinities(row) for row in form["rows"]] == results.rows()


def parse_infinities(row: dict[str, Any]) -> dict[str, Any]:
    ends = {"inf": math.inf, "-inf": -math.inf}
    return {name: ends.get(value, value) if isinstance(value, str) else value for name, value in row.items()}


def test_samples_contain_every_kind_of_value() -> None:
    values = SUMMARY.flat()["value"]
    assert None in values
    assert math.inf in values
    assert all((row["value"] is None) == (row["why"] is not None) for row in SUMMARY.rows())


def test_schema_requires_a_reason() -> None:
    form = json.loads(SUMMARY.to_json())
    undefined = next(row for row in form["rows"] if row["value"] is None)
    undefined["why"] = None
    with pytest.raises(ValidationError):
        check_schema(form)


@pytest.mark.parametrize("results", KINDS.values(), ids=KINDS)
def test_csv_can_be_read_back(results: Results) -> None:
    flat = results.flat()
    lines = list(csv.reader(StringIO(results.to_csv())))
    assert lines[0] == list(flat)
    for name, column in zip(lines[0], zip(*lines[1:], strict=True), strict=True):
        back = [None if cell == "" else type(wanted)(cell) if wanted is not None else cell for cell, wanted in
                zip(column, flat[name], strict=True)]  # fmt: skip
        if name != "group.old":
            assert back == flat[name]
        else:
            assert [cell or None for cell in column] == [None if value is None else str(value) for value in flat[name]]


@pytest.mark.parametrize("results", KINDS.values(), ids=KINDS)
def test_frames_equal_the_rows(results: Results) -> None:
    flat = results.flat()
    polars, arrow, pandas = (results.frame(backend) for backend in ("polars", "pyarrow", "pandas"))
    assert polars.to_dict(as_series=False) == flat
    assert arrow.to_pydict() == flat
    assert list(pandas.columns) == list(flat)
    for name, column in flat.items():
        output = [None if value is None or value != value else value for value in pandas[name].tolist()]  # noqa: PLR0124
        assert output == column


@pytest.mark.parametrize("results", KINDS.values(), ids=KINDS)
def test_any_library_can_read_the_stream(results: Results) -> None:
    assert pa.table(results).to_pydict() == results.flat()
    assert pl.DataFrame(results).to_dict(as_series=False) == results.flat()


def test_numbers_are_numbers_also_when_all_are_missing() -> None:
    schema = SUMMARY.frame("polars").schema
    assert {name: schema[name] for name in ("threshold", "value", "low", "high", "level")} == dict.fromkeys(
        ("threshold", "value", "low", "high", "level"), pl.Float64
    )
    assert schema["group.old"] == pl.Boolean
    assert pa.table(SUMMARY).schema.field("low").type == pa.float64()


def test_labels_of_mixed_types_become_text_in_frames() -> None:
    mixed = Results({"measure": ["auc", "f1"], "group": [{"g": 1}, {"g": "one"}]})
    assert mixed.frame("polars")["group.g"].to_list() == ["1", "one"]
    assert mixed.rows()[0]["group"] == {"g": 1}


def test_default_frame_library_is_the_imported_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(SUMMARY.frame()).__module__.startswith("pandas")
    monkeypatch.delitem(sys.modules, "pandas")
    assert type(SUMMARY.frame()).__module__.startswith("polars")
    with pytest.raises(UnknownNameError, match="no kind of frame 'excel'"):
        SUMMARY.frame("excel")
    monkeypatch.setattr(_results, "find_spec", lambda _: None)
    with pytest.raises(NotInstalledError, match="run: pip install polars"):
        SUMMARY.frame("polars")
    for name in ("polars", "pyarrow"):
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(NotInstalledError, match="a frame needs one of pandas, polars, pyarrow"):
        SUMMARY.frame()


def test_save_as_csv_or_json(tmp_path: Path) -> None:
    SUMMARY.save(tmp_path / "numbers.json")
    SUMMARY.save(tmp_path / "numbers.csv")
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8")) == json.loads(SUMMARY.to_json())
    assert (tmp_path / "numbers.csv").read_text(encoding="utf-8") == SUMMARY.to_csv()


def test_columns_of_different_lengths_raise() -> None:
    with pytest.raises(ShapeError, match="measure 1, value 2"):
        Results({"measure": ["auc"], "value": [1, 2]})


def test_unusual_names_and_labels_are_unchanged() -> None:
    odd = Results({"measure": ['a,"b"\n'], "group": [{'x"y': "it's; drop"}], "value": [0.1 + 0.2]})
    assert pa.table(odd).to_pydict() == odd.flat()
    assert json.loads(odd.to_json())["rows"] == odd.rows()
    assert next(csv.reader(list(StringIO(odd.to_csv()))[:1])) == ["measure", 'group.x"y', "value"]
