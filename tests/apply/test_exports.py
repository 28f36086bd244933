"""Calibrators exported as SQL and as Python agree with the calibrator."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given

from baserate import Calibrator, MulticlassCalibrator, OptionError, apply
from baserate._arrays import Floats
from baserate._calibrator import FitSource, shift_log_odds
from baserate._calibrator_forms import Form, Line, LogOdds, OneVsRest, Softmax
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


def evaluate_sql(expression: str, columns: dict[str, Any]) -> Floats:
    """Evaluate an expression in DuckDB; NULL becomes NaN."""
    with duckdb.connect() as engine:
        engine.register("rows", {name: np.asarray(column) for name, column in columns.items()})
        result = engine.table("rows").project(f"{expression} AS found").fetchnumpy()["found"]
        return np.asarray(np.ma.filled(result.astype(float), np.nan))


def evaluate_python(source: str, rows: Sequence[Any], name: str = "calibrated") -> Floats:
    """Run an exported function on every row."""
    result: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), result)  # noqa: S102  (it is ours)
    return np.array([result[name](row) for row in rows])


@pytest.mark.quick(6)
@pytest.mark.parametrize("name", FORMS)
def test_forms_agree_in_sql_and_python(name: str) -> None:
    map_, x = binary_calibrator(FORMS[name]), edges(FORMS[name])
    wanted = map_(x)
    sql = apply.as_sql(map_)
    assert isinstance(sql, str)
    results = evaluate_sql(sql, {"risk": x}), evaluate_python(apply.as_python(map_), x.tolist())
    for result in results:
        if isinstance(FORMS[name], (LogOdds, Line)):
            np.testing.assert_allclose(result, wanted, **CLOSE)
        else:  # pieces agree to the last bit
            np.testing.assert_array_equal(result, wanted)


@given(forms, scores)
def test_random_forms_agree_in_sql_and_python(form: Form, given: list[float]) -> None:
    map_, x = binary_calibrator(form), np.concatenate([given, edges(form)])
    wanted = map_(x)
    np.testing.assert_allclose(evaluate_sql(str(apply.as_sql(map_)), {"risk": x}), wanted, **CLOSE)
    np.testing.assert_allclose(evaluate_python(apply.as_python(map_), x.tolist()), wanted, **CLOSE)


def class_rows() -> Floats:
    rng = np.random.default_rng(5)
    certain = np.concatenate([np.eye(3), [[0.5, 0.5, 0.0], [1e-300, 0.2, 1.0], [1.0, 1.0, 1.0], [0.0, 0.3, 0.0]]])
    return np.concatenate([certain, rng.dirichlet([0.3, 1, 2], 50)])


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", CLASS_FORMS)
def test_multiclass_forms_agree_in_sql_and_python(name: str) -> None:
    map_, p = multiclass_calibrator(CLASS_FORMS[name]), class_rows()
    wanted = map_(p)
    sql = apply.as_sql(map_)
    assert isinstance(sql, dict)
    assert list(sql) == list(LABELS)
    columns = {f"p_{label}": p[:, at] for at, label in enumerate(LABELS)}
    result = np.column_stack([evaluate_sql(each, columns) for each in sql.values()])
    np.testing.assert_allclose(result, wanted, **CLOSE)
    np.testing.assert_allclose(evaluate_python(apply.as_python(map_), p.tolist()), wanted, **CLOSE)


def test_sql_is_null_where_a_score_is_invalid() -> None:
    x = np.array([0.5, np.nan, np.inf, -np.inf, -0.1, 1.1])
    assert (
        np.isnan(evaluate_sql(str(apply.as_sql(binary_calibrator(FORMS["rarer"]))), {"risk": x})).tolist()
        == [False] + [True] * 5
    )
    result = evaluate_sql(str(apply.as_sql(binary_calibrator(FORMS["two knots"]))), {"risk": x})
    assert np.isnan(result).tolist() == [False, True, True, True, False, False]
    with duckdb.connect() as engine:
        nothing = engine.sql("SELECT NULL::DOUBLE AS risk")
        assert nothing.project(str(apply.as_sql(binary_calibrator(FORMS["line"])))).fetchall() == [(None,)]


@pytest.mark.parametrize("kind", ["FLOAT", "DECIMAL(6, 4)", "INTEGER"])
def test_sql_takes_numbers_of_any_type(kind: str) -> None:
    with duckdb.connect() as engine:
        given = engine.sql("SELECT * FROM (VALUES (0), (0.25), (1)) AS t(x)").project(f"x::{kind} AS risk")
        rows = given.project(f"risk::DOUBLE, {apply.as_sql(binary_calibrator(FORMS['beta']))}")
        x, result = zip(*rows.fetchall(), strict=True)
    np.testing.assert_allclose(result, binary_calibrator(FORMS["beta"])(x), **CLOSE)


def test_pieces_are_nested_as_a_binary_search() -> None:
    sql = str(apply.as_sql(binary_calibrator(FORMS["many knots"])))
    depth = deepest = 0
    for word in sql.split():
        depth += (word.lstrip("(") == "CASE") - (word == "END")
        deepest = max(deepest, depth)
    assert depth == 0
    assert deepest == 1 + 12  # the guard, and halves of 3001 pieces


def test_strange_names_are_quoted() -> None:
    sql = str(apply.as_sql(shift_log_odds(1.0), score='my "risk"; DROP'))
    assert '"my ""risk""; DROP"' in sql


def test_python_functions_run_without_baserate(tmp_path: Path) -> None:
    for at, form in enumerate(FORMS.values()):
        (tmp_path / f"m{at}.py").write_text(apply.as_python(binary_calibrator(form), name="f"), encoding="utf-8")
    code = f"""
import sys
for at in range({len(FORMS)}):
    print(__import__(f"m{{at}}").f(0.25))
print("numpy" in sys.modules)"""
    output = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    *result, numpy = output.stdout.split()
    assert numpy == "False"
    np.testing.assert_allclose(
        [*map(float, result)], [binary_calibrator(form)([0.25])[0] for form in FORMS.values()], **CLOSE
    )


def test_docstring_of_a_function_describes_its_origin() -> None:
    result: dict[str, Any] = {}
    fitted = Calibrator(Line(0.0, 1.0), method="logistic", fitted=FitSource("abc", 1234, 0.1), positive='"ill"\\')
    exec(apply.as_python(fitted, name="sure"), result)  # noqa: S102  (it is ours)
    output = result["sure"].__doc__
    assert output == 'Probability of "ill"\\, by logistic, fitted on 1234 rows (abc). Written by baserate.'


@pytest.mark.parametrize(
    ("form", "score"), [("rarer", 1.1), ("rarer", float("nan")), ("line", float("inf")), ("many steps", float("nan"))]
)
def test_functions_and_calibrators_refuse_the_same_scores(form: str, score: float) -> None:
    with pytest.raises(ValueError, match=r"is not a (probability|score)"):
        evaluate_python(apply.as_python(binary_calibrator(FORMS[form])), [score])


@pytest.mark.parametrize(
    ("row", "message"), [([0.1, 0.2], "give 3"), ([0.1, 0.2, 3.0], "not a probability"), ([0.0] * 3, "every class")]
)
def test_multiclass_functions_and_calibrators_refuse_the_same_scores(row: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate_python(apply.as_python(multiclass_calibrator(CLASS_FORMS["priors"])), [row])


@pytest.mark.parametrize("name", ["2nd", "for", "a b", ""])
def test_invalid_function_names_raise(name: str) -> None:
    with pytest.raises(OptionError, match="expected an identifier of Python"):
        apply.as_python(shift_log_odds(1.0), name=name)


def test_calibrators_without_columns_need_score() -> None:
    with pytest.raises(OptionError, match="does not store the name of the score column; name it, such as score="):
        apply.as_sql(shift_log_odds(1.0))
    several = Softmax(np.ones(2), np.zeros(2)), OneVsRest((Line(0.0, 1.0), Line(0.0, 1.0)))
    for form in several:
        with pytest.raises(OptionError, match="name one for each class with score="):
            apply.as_sql(MulticlassCalibrator(form, ("a", "b"), method="made"))
