"""Edge cases of results, files and summaries that a small mistake would change without an error."""

import json
import math
import os
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from baserate import Results, measure, read
from baserate._files import write_text
from baserate._numeric import cumulative
from tests.measure.test_summary import select, tallies
from tests.test_results import CURVES


def test_rows_and_flat_columns_hold_plain_numbers() -> None:
    counted = Results({"measure": ["tp"], "value": np.array([3])})
    for results in (CURVES, counted):
        values = [value for row in results.rows() for value in row.values()]
        values += [value for column in results.flat().values() for value in column]
        assert not any(isinstance(value, np.generic) for value in values)


def test_labels_of_unusual_types_are_their_text_in_json() -> None:
    odd = Results({"measure": ["auc"], "group": [{"day": date(2020, 1, 31), "size": Decimal("0.5")}]})
    assert json.loads(odd.to_json())["rows"][0]["group"] == {"day": "2020-01-31", "size": "0.5"}


def test_numbers_of_numpy_are_numbers_in_json() -> None:
    result = Results({"measure": ["tp"], "value": [np.int64(3)]}, data={"rows": np.uint8(7), "old": np.True_})
    form = json.loads(result.to_json())
    assert (form["rows"][0]["value"], form["data"]) == (3, {"rows": 7, "old": True})


def test_format_depends_on_the_ending(tmp_path: Path) -> None:
    CURVES.save(tmp_path / "mycsv")
    assert (tmp_path / "mycsv").read_text(encoding="utf-8").startswith("{")


def test_json_is_not_ascii_escaped() -> None:
    named = Results({"measure": ["auc"], "group": [{"Größe": "日本"}]}, data={"positive": "é"})
    assert "Größe" in named.to_json()
    assert "日本" in named.to_json()
    assert "é" in named.to_json()


def test_results_cannot_be_changed_from_outside() -> None:
    columns, data = {"measure": ["auc"]}, {"rows": 1}
    results = Results(columns, data)
    columns["value"], data["rows"] = ["x"], 2
    assert list(results.columns) == ["measure"]
    assert results.data["rows"] == 1
    for mapping in (results.columns, results.data):
        with pytest.raises(TypeError):
            mapping["value"] = 1  # type: ignore[index]


def test_results_without_columns_have_no_rows() -> None:
    assert len(Results({})) == 0
    assert Results({}).rows() == []


def test_whole_thresholds_are_numbers_like_others() -> None:
    whole = Results({"threshold": [0, 1], "value": [3, 4], "size": [5, 6], "old": [True, None]})
    assert whole.frame("polars").schema == {
        "threshold": pl.Float64,
        "value": pl.Float64,
        "size": pl.Int64,
        "old": pl.Boolean,
    }
    assert pa.table(whole).schema.types == [pa.float64(), pa.float64(), pa.int64(), pa.bool_()]


def test_overwritten_files_keep_their_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    write_text(target, "new")
    assert target.read_text(encoding="utf-8") == "new"
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_failed_writes_leave_no_file(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_error(_: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", raise_error)
    with pytest.raises(error):
        write_text(tmp_path / "out.json", "new")
    assert list(tmp_path.iterdir()) == []


def test_a_threshold_of_zero_is_a_threshold() -> None:
    cut = measure.summary(tallies(score="z"), threshold=[0], measures=["f1"])
    assert select(cut, "measure", "value")[:4] == [("tp", 2), ("fp", 2), ("fn", 1), ("tn", 1)]


def test_scores_from_zero_to_one_are_probabilities() -> None:
    ends = read.tallies({"y": [1, 0], "p": [1.0, 0.0]}, truth="y", score="p")
    assert {threshold for (threshold,) in select(measure.summary(ends), "threshold")} == {0.5, None}
    assert measure.summary(ends).data["notes"] == []


def test_one_measure_needs_no_list() -> None:
    one = measure.summary(tallies(score="p"), measures="auc")
    assert one.rows() == measure.summary(tallies(score="p"), measures=["auc"]).rows()


def test_measures_may_be_functions() -> None:
    result = measure.summary(tallies(score="p"), measures=[measure.auc, "f1"])
    assert {"auc", "f1"} <= {name for (name,) in select(result, "measure")}


def test_parallel_work_gives_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = measure.summary(tallies(score=["p", "z"], group="g"), threshold=[0.5]).to_json()
    monkeypatch.setattr(cumulative, "_MIN_PARALLEL", 1)
    assert measure.summary(tallies(score=["p", "z"], group="g"), threshold=[0.5]).to_json() == wanted


def test_many_rows_are_counted_in_the_header() -> None:
    many = read.tallies({"y": [1, 0], "p": [1, 0], "n": [300, 200]}, truth="y", score="p", count="n")
    assert measure.summary(many).data["rows"] == 500


def test_predicted_labels_are_noted_near_the_limit() -> None:
    table = {"y": [1, 0, 1], "p": [0.9, 0.7, 0.1], "hat": [1, 0, 0], "w": [1, 5, 1]}
    result = read.tallies(table, truth="y", score="p", predicted="hat", weight="w")
    assert measure.summary(result, threshold=[0.8]).data["notes"] == []
    assert measure.summary(result, threshold=[0.95]).data["notes"] == [
        "hat disagrees with p >= 0.95 in 1 of 3 rows; it agrees best with p >= 0.9."
    ]


def test_curves_with_undefined_points_are_thinned() -> None:
    rng = np.random.default_rng(4)
    many = read.tallies({"y": rng.integers(0, 2, 900), "p": rng.random(900)}, truth="y", score="p")
    for name in measure.TABLES:
        thin = measure.curves(many, name, points=20)
        assert 10 <= len(thin) <= 20, name
        assert thin.columns["threshold"][0] == math.inf
    exact = measure.curves(many, "roc", points=901)
    assert len(exact) == 901
