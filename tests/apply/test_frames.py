"""Calibrators applied to frames of every library: type, rows and columns are kept."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings

from baserate import (
    FileFormatError,
    MissingValuesError,
    NotAProbabilityError,
    NotNumericError,
    OptionError,
    ShapeError,
    UnknownNameError,
    apply,
)
from baserate._calibrator import shift_log_odds
from baserate._calibrator_forms import Form
from baserate.apply import _arrays
from baserate.apply._task import make_task
from tests.apply.forms import (
    CLASS_FORMS,
    CLOSE,
    FORMS,
    LABELS,
    binary_calibrator,
    edges,
    forms,
    multiclass_calibrator,
    scores,
)

KINDS: dict[str, Any] = {
    "mapping": dict,
    "pandas": pd.DataFrame,
    "pandas of Arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "pyarrow": pa.table,
    "duckdb": lambda columns: duckdb.connect().from_arrow(pa.table(columns)),
}
LAZY = {"polars, lazy", "duckdb"}


def columns_of(frame: Any) -> dict[str, list[Any]]:  # noqa: ANN401  (any frame)
    """Convert a frame to lists; missing values become None."""
    if isinstance(frame, dict):
        result = {name: list(column) for name, column in frame.items()}
    elif isinstance(frame, pd.DataFrame):
        result = {name: frame[name].tolist() for name in frame}
    elif isinstance(frame, duckdb.DuckDBPyRelation):
        result = dict(zip(frame.columns, map(list, zip(*frame.fetchall(), strict=True)), strict=True))
    else:
        frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
        result = frame.to_dict(as_series=False) if isinstance(frame, pl.DataFrame) else frame.to_pydict()
    return {name: [None if pd.isna(each) else each for each in result[name]] for name in result}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.quick(8)
@pytest.mark.parametrize("form", ["rarer", "beta", "line", "many knots", "many steps", "between"])
def test_frames_keep_their_type(kind: str, form: str) -> None:
    map_ = binary_calibrator(FORMS[form])
    x = edges(FORMS[form]).tolist()
    table = {"who": [f"p{at}" for at in range(len(x))], "risk": x, "site": list(range(len(x)))}
    given = KINDS[kind](table)
    result = apply.frame(map_, given)
    assert type(result) is type(given)
    read = columns_of(result)
    assert list(read) == ["who", "risk", "site", "risk_calibrated"]
    assert {name: read[name] for name in table} == table
    np.testing.assert_allclose(read["risk_calibrated"], map_(x), **CLOSE)
    assert list(columns_of(given)) == list(table)


@given(forms, scores)
@settings(max_examples=25, deadline=None)
def test_random_forms_agree_in_every_frame(form: Form, given: list[float]) -> None:
    map_, x = binary_calibrator(form), np.concatenate([given, edges(form)])
    for make in (KINDS["polars"], KINDS["duckdb"]):
        result = columns_of(apply.frame(map_, make({"risk": x.tolist()})))["risk_calibrated"]
        np.testing.assert_allclose(result, map_(x), **CLOSE)


def test_bounds_are_two_more_columns(kind: str) -> None:
    map_ = binary_calibrator(FORMS["between"])
    x = edges(FORMS["between"])
    result = columns_of(apply.frame(map_, KINDS[kind]({"risk": x.tolist()}), name="p", bounds=True))
    assert list(result) == ["risk", "p", "p_low", "p_high"]
    for name, wanted in zip(("p_low", "p_high"), map_.bounds(x), strict=True):
        assert result[name] == wanted.tolist()


@pytest.mark.parametrize("form", CLASS_FORMS)
def test_several_classes_have_a_column_each(kind: str, form: str) -> None:
    p = np.random.default_rng(3).dirichlet([1, 1, 1], 20)
    given = KINDS[kind]({f"p_{label}": p[:, at].tolist() for at, label in enumerate(LABELS)})
    result = columns_of(apply.frame(multiclass_calibrator(CLASS_FORMS[form]), given))
    assert list(result)[3:] == [f"p_{label}_calibrated" for label in LABELS]
    np.testing.assert_allclose(
        np.array(list(result.values())[3:]).T, multiclass_calibrator(CLASS_FORMS[form])(p), **CLOSE
    )


def test_class_columns_by_name_or_in_order() -> None:
    map_, p = multiclass_calibrator(CLASS_FORMS["priors"]), {"a": [0.2], "b": [0.3], "c": [0.5]}
    wanted = map_([[0.5, 0.3, 0.2]])[0]
    by_name = apply.frame(map_, p, score={"dog": "b", "cat": "c", "fish": "a"}, name=["x", "y", "z"])
    in_order = apply.frame(map_, p, score=["c", "b", "a"], name={"fish": "z", "cat": "x", "dog": "y"})
    for result in (by_name, in_order):
        assert [result[name][0] for name in "xyz"] == wanted.tolist()


def test_missing_scores_are_refused_with_their_rows(kind: str) -> None:
    x = [0.1, None, 0.2, float("inf"), 0.3, float("nan"), None, None, None, None]
    given = KINDS[kind]({"risk": x})
    message = r"a score is missing" if kind == "duckdb" else r"7 of 10 .* in 'risk' \(rows 2, 4, 6, 7, 8 and 2 more, co"
    kinds: Any = duckdb.InvalidInputException if kind == "duckdb" else MissingValuesError
    with pytest.raises(kinds, match=message):
        columns_of(apply.frame(shift_log_odds(1.0), given, score="risk"))


def test_missing_scores_can_be_kept(kind: str) -> None:
    x = [0.1, None, 0.2, float("inf"), float("nan")]
    result = columns_of(apply.frame(shift_log_odds(1.0), KINDS[kind]({"risk": x}), score="risk", missing="keep"))
    new = result["risk_calibrated"]
    assert [each is None for each in new] == [False, True, False, True, True]
    assert [new[0], new[2]] == shift_log_odds(1.0)([0.1, 0.2]).tolist()


def test_kept_missing_scores_are_null_not_nan() -> None:
    for make in (pl.DataFrame, pa.table):
        result: Any = apply.frame(shift_log_odds(1.0), make({"risk": [0.1, None]}), score="risk", missing="keep")
        assert pl.DataFrame(result)["risk_calibrated"].null_count() == 1


def test_scores_outside_0_1_are_refused_with_their_rows(kind: str) -> None:
    given = KINDS[kind]({"risk": [0.1, None, 1.5, -0.2]})
    message = (
        "not a probability where one is needed"
        if kind == "duckdb"
        else r"2 of 4 .* outside \[0, 1\] in 'risk' \(rows 3, 4, c"
    )
    kinds: Any = duckdb.InvalidInputException if kind == "duckdb" else NotAProbabilityError
    with pytest.raises(kinds, match=message):
        columns_of(apply.frame(shift_log_odds(1.0), given, score="risk", missing="keep"))


def test_rows_of_probability_0_for_all_classes_raise() -> None:
    given = {f"p_{label}": [0.2, 0.0] for label in LABELS}
    with pytest.raises(ShapeError, match=r"1 of 2 rows give probability 0 to every class .* \(row 2, counted from 1\)"):
        apply.frame(multiclass_calibrator(CLASS_FORMS["priors"]), given)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"score": "rsk"}, UnknownNameError, "there is no column 'rsk'. Did you mean 'risk'?"),
        ({"name": "site"}, OptionError, "there is a column 'site' already; choose another with name="),
        ({"missing": "drop"}, OptionError, "missing is 'drop'; expected 'refuse' or 'keep'"),
        ({"bounds": True}, OptionError, "made has no bounds"),
        ({"score": ["risk"]}, OptionError, "expected the name of one column"),
        ({"name": ""}, OptionError, "expected the name of one column"),
        ({"score": "site"}, NotNumericError, "site"),
    ],
)
def test_invalid_options(kind: str, options: dict[str, Any], error: type[Exception], message: str) -> None:
    given = KINDS[kind]({"risk": [0.1], "site": ["north"]})
    with pytest.raises(error, match=message):
        columns_of(apply.frame(binary_calibrator(FORMS["rarer"]), given, **options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "p_cat"}, "expected one column for each class: cat, dog, fish"),
        ({"score": ["p_cat"]}, "score has 1 name; name one column for each of 3 classes"),
        ({"score": {"cat": "p_cat"}}, "score names cat; the classes are cat, dog, fish"),
        ({"name": ["a", "a", "b"]}, "two of the new columns have the same name"),
    ],
)
def test_invalid_multiclass_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        apply.frame(multiclass_calibrator(CLASS_FORMS["priors"]), {"p_cat": [0.1]}, **options)


def test_arguments_of_other_types_are_refused() -> None:
    with pytest.raises(OptionError, match="dict is not a calibrator; read one with load_calibrator"):
        apply.frame({}, {"risk": [0.1]})  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="the table is int; expected a frame"):
        apply.frame(binary_calibrator(FORMS["rarer"]), 7)
    with pytest.raises(FileFormatError, match="two columns of the frame have the same name"):
        apply.frame(binary_calibrator(FORMS["rarer"]), pd.DataFrame([[0.1, 0.2]], columns=["risk", "risk"]))


def test_index_is_kept() -> None:
    given = pd.DataFrame({"risk": [0.9, 0.1, 0.5]}, index=["b", "b", "a"])
    result = apply.frame(shift_log_odds(1.0), given, score="risk")
    assert result.index.tolist() == ["b", "b", "a"]
    assert result["risk_calibrated"].tolist() == shift_log_odds(1.0)(given["risk"]).tolist()
    assert list(given) == ["risk"]


def test_lazy_frames_stay_lazy() -> None:
    lazy = apply.frame(shift_log_odds(1.0), pl.LazyFrame({"risk": [0.1, 0.9, 7.0], "a": [1, 2, 3]}), score="risk")
    with pytest.raises(NotAProbabilityError, match=r"1 of 3 rows .*\(row 3, counted from 1\)"):
        lazy.collect()
    assert lazy.filter(pl.col("risk") < 1).select("a", "risk").collect()["a"].to_list() == [1, 2]


def test_other_lazy_frames_raise() -> None:
    spark = SimpleNamespace(
        implementation=SimpleNamespace(is_duckdb=lambda: False, is_polars=lambda: False, name="PYSPARK")
    )
    with pytest.raises(OptionError, match="a lazy frame of Pyspark cannot take a calibrator; collect it first"):
        _arrays._apply_to_lazy(make_task(shift_log_odds(1.0), score="risk"), spark)  # noqa: SLF001


def test_duckdb_ignores_capitals_in_names() -> None:
    given = KINDS["duckdb"]({"risk": [0.1], "P": [1]})
    with pytest.raises(OptionError, match="there is a column 'p' already"):
        apply.frame(shift_log_odds(1.0), given, score="risk", name="p")
    assert list(apply.frame(shift_log_odds(1.0), {"risk": [0.1], "P": [1]}, score="risk", name="p")) == [
        "risk",
        "P",
        "p",
    ]


def test_scores_of_other_number_types() -> None:
    wanted = shift_log_odds(1.0)([0.25, 1.0]).tolist()
    for column in ([Decimal("0.25"), Decimal(1)], np.array([0.25, 1], dtype=np.float32)):
        assert (
            apply.frame(shift_log_odds(1.0), pd.DataFrame({"p": column}), score="p")["p_calibrated"].tolist() == wanted
        )
    decimals = pa.table({"p": pa.array([Decimal("0.25"), Decimal(1)], pa.decimal128(5, 3))})
    assert apply.frame(shift_log_odds(1.0), decimals, score="p")["p_calibrated"].to_pylist() == wanted
    assert (
        columns_of(apply.frame(shift_log_odds(1.0), duckdb.connect().from_arrow(decimals), score="p"))["p_calibrated"]
        == wanted
    )


def test_columns_of_different_lengths_raise() -> None:
    with pytest.raises(ShapeError, match="different lengths"):
        apply.frame(
            multiclass_calibrator(CLASS_FORMS["priors"]), {"p_cat": [0.1, 0.2], "p_dog": [0.1], "p_fish": [0.1]}
        )


def test_empty_frames(kind: str) -> None:
    table = (
        {"risk": pa.array([], pa.float64())} if kind in {"duckdb", "pyarrow"} else {"risk": np.array([], dtype=float)}
    )
    result = apply.frame(binary_calibrator(FORMS["two knots"]), KINDS[kind](table))
    names = (
        result.collect_schema().names()
        if kind == "polars, lazy"
        else list(result if kind == "mapping" else getattr(result, "column_names", None) or result.columns)
    )
    assert names == ["risk", "risk_calibrated"]
