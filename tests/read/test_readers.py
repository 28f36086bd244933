"""The same data through every reader and engine give the same digests, numbers, labels and errors."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import baserate
from baserate import (
    EmptyDataError,
    MissingValuesError,
    NotBinaryError,
    NotNumericError,
    Tallies,
    WeightError,
    measure,
    read,
)
from tests.read.conftest import set_aggregation
from tests.readers import BY_DUCKDB, READERS, Table

SIZE = 400
RNG = np.random.default_rng(7)
TABLE: dict[str, list[Any]] = {
    "y": RNG.integers(0, 2, SIZE).tolist(),
    "tied": np.round(RNG.random(SIZE), 2).tolist(),
    "real": RNG.normal(size=SIZE).tolist(),
    "rank": RNG.integers(-5, 6, SIZE).tolist(),
    "sex": RNG.choice(["f", "m"], SIZE).tolist(),
    "site": RNG.integers(1, 4, SIZE).tolist(),
    "weight": (RNG.integers(0, 9, SIZE) / 4).tolist(),
    "count": RNG.integers(0, 4, SIZE).tolist(),
    "decision": RNG.integers(0, 2, SIZE).tolist(),
}
COLUMNS: dict[str, dict[str, Any]] = {
    "one score": {"score": "tied"},
    "whole numbers": {"score": "rank"},
    "two models in groups": {"score": ["real", "tied"], "group": ["sex", "site"]},
    "weights": {"score": "tied", "weight": "weight"},
    "counts": {"score": "real", "count": "count", "group": "site"},
    "both": {"score": "tied", "weight": "weight", "count": "count"},
    "labels only": {"predicted": "decision", "group": "sex"},
    "scores and labels": {"score": ["tied", "real"], "predicted": "decision", "weight": "weight"},
}


def assert_same(result: Tallies, wanted: Tallies) -> None:
    assert result.digest == wanted.digest
    assert result.groups == wanted.groups
    assert result.attributes == wanted.attributes
    assert (result.intake.read, result.intake.dropped) == (wanted.intake.read, wanted.intake.dropped)
    assert (result.intake.positive, result.intake.negative) == (wanted.intake.positive, wanted.intake.negative)
    assert result.decisions.keys() == wanted.decisions.keys()
    assert all(result.decisions[model].digest == wanted.decisions[model].digest for model in wanted.decisions)
    for (_, _, one), (_, _, other) in zip(result.walk(), wanted.walk(), strict=True):
        assert one.score.tolist() == other.score.tolist()
        assert one.weighted == other.weighted
        np.testing.assert_allclose(one.mass, other.mass, rtol=1e-14)
        np.testing.assert_allclose(one.squares, other.squares, rtol=1e-14)
        assert one.rows.dtype == other.rows.dtype


@pytest.mark.quick(24)
@pytest.mark.parametrize("query", COLUMNS.values(), ids=COLUMNS)
def test_every_reader_gives_the_same_tallies(query: dict[str, Any], make_source: Callable[[Table], Any]) -> None:
    wanted = read.tallies(TABLE, truth="y", **query)
    result = read.tallies(make_source(TABLE), truth="y", **query)
    assert_same(result, wanted)
    ours, theirs = (measure.summary(each).flat()["value"] for each in (result, wanted))
    assert ours == pytest.approx(theirs, rel=1e-13)


def test_every_source_gives_the_same_tallies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns: dict[str, Any] = {
        "truth": "y",
        "score": "tied",
        "predicted": "decision",
        "weight": "weight",
        "group": "sex",
    }
    wanted = read.tallies(TABLE, **columns)
    for name, make in READERS.items():
        for sums in (False, True) if name in BY_DUCKDB else (False,):
            set_aggregation(monkeypatch, sums=sums)
            folder = tmp_path / f"{name} {sums}"
            folder.mkdir()
            assert_same(read.tallies(make(TABLE, folder), **columns), wanted)


def test_arrays_and_tables_of_arrays_give_the_same_tally() -> None:
    direct = baserate.tally(TABLE["y"], TABLE["tied"], weight=TABLE["weight"])
    tallied = read.tallies(TABLE, truth="y", score="tied", weight="weight").tally
    assert tallied.digest == direct.digest
    assert tallied.mass.tolist() == direct.mass.tolist()


def test_groups_are_subsets_of_rows(make_source: Callable[[Table], Any]) -> None:
    result = read.tallies(make_source(TABLE), truth="y", score="real", group=["sex", "site"])
    assert result.groups == tuple((sex, site) for sex in ("f", "m") for site in (1, 2, 3))
    y, real, sex, site = (np.array(TABLE[name]) for name in ("y", "real", "sex", "site"))
    for (one, other), tally in result.models["real"].items():
        here = (sex == one) & (site == other)
        assert tally.digest == baserate.tally(y[here], real[here]).digest
    assert result.pooled("real").digest == baserate.tally(y, real).digest


LABELS: dict[str, tuple[list[Any], Any]] = {
    "text": (["ill", "well"], "ill"),
    "digits": ([1, 2], 2),
    "zero and one": ([0, 1], None),
    "booleans": ([False, True], None),
    "with spaces and quotes": (["it's", 'a "b"; drop table x'], "it's"),
    "floats": ([0.0, 1.0], None),
}


@pytest.mark.quick(8)
@pytest.mark.parametrize(("pair", "positive"), LABELS.values(), ids=LABELS)
def test_labels_of_every_type(pair: list[Any], positive: object, make_source: Callable[[Table], Any]) -> None:
    truth = [pair[each] for each in TABLE["y"]]
    result = read.tallies(make_source({"y": truth, "p": TABLE["tied"]}), truth="y", score="p", positive=positive)
    flag = [label == (pair[1] if positive is None else positive) for label in truth]
    assert result.digest == baserate.tally(flag, TABLE["tied"]).digest
    assert {result.intake.positive, result.intake.negative} == set(pair)


NAMES = ["a b", 'x"; drop table y; --', "select", "Größe", "it's", "a,b", "{y}", " y ", "c0", "key0"]


@pytest.mark.quick(6)
@pytest.mark.parametrize("turn", [0, 3, 7])
def test_names_of_every_kind(turn: int, make_source: Callable[[Table], Any]) -> None:
    names = NAMES[turn:] + NAMES[:turn]
    held = ("y", "real", "tied", "sex", "site", "weight", "count", "decision")
    table = {name: TABLE[column] for name, column in zip(names, held, strict=False)}
    truth, one, other, sex, site, weight, count, decision = list(table)
    query: Any = {"truth": truth, "score": [one, other], "group": [sex, site], "predicted": decision}
    query |= {"weight": weight, "count": count}
    assert_same(read.tallies(make_source(table), **query), read.tallies(table, **query))


def test_nullable_and_categorical_columns() -> None:
    labels = ["ill" if each else "well" for each in TABLE["y"]]
    wanted = read.tallies(
        {"y": labels, "p": TABLE["tied"], "g": TABLE["sex"]}, truth="y", score="p", group="g", positive="ill"
    )
    frames = [
        pd.DataFrame(
            {"y": pd.Categorical(labels), "p": pd.array(TABLE["tied"], "Float64"), "g": pd.Categorical(TABLE["sex"])}
        ),
        pd.DataFrame({"y": np.array(labels, dtype=object), "p": TABLE["tied"], "g": pd.array(TABLE["sex"], "string")}),
        pl.DataFrame(
            {
                "y": pl.Series(labels, dtype=pl.Categorical),
                "p": TABLE["tied"],
                "g": pl.Series(TABLE["sex"], dtype=pl.Enum(["m", "f", "x"])),
            }
        ),
        pl.LazyFrame(
            {
                "y": pl.Series(labels, dtype=pl.Categorical),
                "p": TABLE["tied"],
                "g": pl.Series(TABLE["sex"], dtype=pl.Enum(["m", "f", "x"])),
            }
        ),
        pa.table(
            {
                "y": pa.array(labels).dictionary_encode(),
                "p": pa.array(TABLE["tied"]),
                "g": pa.array(TABLE["sex"], pa.large_string()),
            }
        ),
    ]
    for frame in frames:
        assert_same(read.tallies(frame, truth="y", score="p", group="g", positive="ill"), wanted)


@pytest.mark.parametrize("sums", [False, True])
def test_scores_as_decimals_and_floats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, sums: bool) -> None:
    set_aggregation(monkeypatch, sums=sums)
    # A number with so many digits that dividing by a power of ten would miss the nearest float64.
    texts = ["0.123456789012345678", "0.5", "0.333333333333333333", "1.000000000000000000"]
    exact = [float(text) for text in texts]
    wanted = baserate.tally([1, 0, 1, 0], exact).digest
    decimals = pa.array([Decimal(text) for text in texts], pa.decimal128(19, 18))
    frames: list[Any] = [pa.table({"y": [1, 0, 1, 0], "p": decimals})]
    frames += [frames[0].to_pandas(), pl.DataFrame(frames[0]), pl.LazyFrame(frames[0])]
    frames += [{"y": [1, 0, 1, 0], "p": [Decimal(text) for text in texts]}]
    (tmp_path / "d.csv").write_text(
        "y,p\n" + "\n".join(f"{y},{text}" for y, text in zip([1, 0, 1, 0], texts, strict=True))
    )
    for frame in [*frames, tmp_path / "d.csv"]:
        assert read.tallies(frame, truth="y", score="p").digest == wanted
    single = pl.DataFrame({"y": [1, 0], "p": pl.Series([0.7, 0.1], dtype=pl.Float32)})
    for frame in (single, single.lazy(), single.to_arrow(), single.to_pandas()):
        assert (
            read.tallies(frame, truth="y", score="p").tally.score.tolist() == np.array([0.7, 0.1], np.float32).tolist()
        )


MISSING: dict[str, list[Any]] = {
    "y": [1, 0, None, 1, 0, 1, 0],
    "p": [0.9, None, 0.3, 0.4, 0.2, 0.6, 0.1],
    "q": [0.8, 0.3, 0.3, None, 0.1, 0.5, 0.2],
    "g": ["a", "a", "b", "b", None, "a", "b"],
    "w": [1.0, 2.0, 1.0, 1.0, 1.0, 0.0, 0.5],
}


def test_missing_values_are_refused_with_counts(make_source: Callable[[Table], Any]) -> None:
    message = (
        r"^4 of 7 rows cannot be used \(y: 1 missing; g: 1 missing; p: 1 (missing|NaN); q: 1 (missing|NaN)\)\. "
        r"Fill them in, or leave them out with missing='drop'\.$"
    )
    with pytest.raises(MissingValuesError, match=message):
        read.tallies(make_source(MISSING), truth="y", score=["p", "q"], group="g")


def test_missing_values_are_dropped_on_request_and_counted(make_source: Callable[[Table], Any]) -> None:
    result = read.tallies(make_source(MISSING), truth="y", score=["p", "q"], group="g", weight="w", missing="drop")
    assert (result.intake.read, result.intake.dropped) == (7, 4)
    assert {column: sum(kinds.values()) for column, kinds in result.intake.reasons.items()} == dict.fromkeys("ygpq", 1)
    assert result.groups == (("a",), ("b",))
    # The row of weight zero is not there, and is not missing either.
    assert result.pooled("p").digest == baserate.tally([1, 0], [0.9, 0.1]).digest
    assert result.pooled("q").mass.tolist() == [[1, 0], [0, 0.5]]


@pytest.mark.quick(5)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_never_scores(bad: float, make_source: Callable[[Table], Any]) -> None:
    table = {"y": [1, 0, 1, 0], "p": [0.9, bad, 0.3, 0.1]}
    with pytest.raises(MissingValuesError, match=r"1 of 4 rows cannot be used \(p: 1 (NaN|infinite|missing)\)"):
        read.tallies(make_source(table), truth="y", score="p")
    dropped = read.tallies(make_source(table), truth="y", score="p", missing="drop")
    assert dropped.digest == baserate.tally([1, 1, 0], [0.9, 0.3, 0.1]).digest


@pytest.mark.quick(3)
def test_unknown_labels_need_both_classes_stated(make_source: Callable[[Table], Any]) -> None:
    table = {"y": ["y", "n", "?", "n"], "p": [0.9, 0.5, 0.3, 0.1]}
    with pytest.raises(NotBinaryError, match=r"more than two labels \('\?', 'n', 'y'\); name the other class too"):
        read.tallies(make_source(table), truth="y", score="p", positive="y")
    with pytest.raises(NotBinaryError, match=r"1 of 4 rows cannot be used \(y: 1 unknown label\)"):
        read.tallies(make_source(table), truth="y", score="p", positive="y", negative="n")
    result = read.tallies(make_source(table), truth="y", score="p", positive="y", negative="n", missing="drop")
    assert result.digest == baserate.tally([1, 0, 0], [0.9, 0.5, 0.1]).digest


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("weight", [1.0, -2.0, 1.0, 0.0], "1 of 4 values of w are negative"),
        ("weight", [1.0, 1e200, 1.0, 0.0], "1 of 4 values of w are above 1e"),
        ("weight", [1.0, 1e-200, 1.0, 0.0], "1 of 4 values of w are above 1e"),
        ("count", [1.0, 1.5, 1.0, 0.0], "1 of 4 values of w are not whole"),
        ("count", [2.0**52, 2.0**52, 2.0**52, 0.0], "w adds up to more than 2⁵³ rows"),
    ],
)
def test_bad_weights_are_refused_even_when_dropping(
    column: str, values: list[float], message: str, make_source: Callable[[Table], Any]
) -> None:
    table = {"y": [1, 0, 1, 0], "p": [0.9, 0.8, 0.3, 0.1], "w": values}
    with pytest.raises(WeightError, match=message):
        read.tallies(make_source(table), truth="y", score="p", missing="drop", **{column: "w"})  # type: ignore[arg-type]


@pytest.mark.quick(2)
def test_a_table_without_complete_rows_is_refused(make_source: Callable[[Table], Any]) -> None:
    table = {"y": [1, 0], "p": [None, None], "w": [0.0, 0.0], "q": [0.1, 0.2]}
    with pytest.raises(EmptyDataError, match=r"all 2 rows were dropped \(p: 2 (missing|NaN)\)"):
        read.tallies(make_source({**table, "p": [np.nan, np.nan]}), truth="y", score="p", missing="drop")
    with pytest.raises(EmptyDataError, match="every w is zero"):
        read.tallies(make_source(table), truth="y", score="q", weight="w")


@pytest.mark.quick(3)
def test_labels_of_predictions_must_be_those_of_truth(make_source: Callable[[Table], Any]) -> None:
    table = {"y": ["a", "b", "a"], "hat": ["a", "c", "b"]}
    with pytest.raises(NotBinaryError, match=r"hat holds 'c', but truth 'a', 'b'; give both the same labels"):
        read.tallies(make_source(table), truth="y", predicted="hat", positive="a")
    one = {"y": ["a", "a"], "hat": ["a", "b"]}
    result = read.tallies(make_source(one), truth="y", predicted="hat", positive="a")
    assert result.intake.negative == "b"
    assert result.tally.mass.tolist() == [[1, 1], [0, 0]]


@pytest.mark.quick(4)
def test_rows_keep_their_order_ids_and_clusters(make_source: Callable[[Table], Any]) -> None:
    table = {
        "y": [1, 0, 1, 0],
        "p": [0.1, 0.9, None, 0.3],
        "g": ["b", "a", "a", "b"],
        "who": ["anna", "ben", "cleo", "dan"],
        "ward": ["w2", "w1", "w1", "w2"],
    }
    result = read.rows(make_source(table), truth="y", score="p", group="g", id="who", cluster="ward", missing="drop")
    assert result.truth.tolist() == [True, False, False]
    assert result.score["p"].tolist() == [0.1, 0.9, 0.3]
    assert [result.groups[at] for at in result.group] == [("b",), ("a",), ("b",)]
    assert result.id is not None
    assert result.id.tolist() == ["anna", "ben", "dan"]
    assert result.cluster is not None
    assert result.cluster[0] == result.cluster[2] != result.cluster[1]
    assert result.intake.dropped == 1
    assert_same(result.tallies(), read.tallies(make_source(table), truth="y", score="p", group="g", missing="drop"))


def test_text_where_numbers_are_needed(make_source: Callable[[Table], Any]) -> None:
    with pytest.raises(NotNumericError, match=r"p"):
        read.tallies(make_source({"y": [1, 0], "p": ["high", "low"]}), truth="y", score="p")
