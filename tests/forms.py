"""Public functions that take predictions, a call of each, and the forms in which predictions may be given."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from types import GeneratorType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import baserate
from baserate import Curve, Report, Results, Tally, read
from baserate.draw import Drawing

ROWS = 48
TRUTH = np.tile([1, 0, 0, 1, 0, 0], ROWS // 6)
# Distinct multiples of 1/256, whose differences from 1 are exact.
SCORE = (np.random.default_rng(30).permutation(128)[:ROWS] + 80 * TRUTH + 20) / 256
OTHER = (np.random.default_rng(31).permutation(128)[:ROWS] + 40 * TRUTH + 20) / 256
GROUP = np.tile(["a", "b"], ROWS // 2)
CLASS = np.tile(["cat", "dog", "fox"], ROWS // 3)
MATRIX = np.eye(3)[np.arange(ROWS) % 3] * 0.25 + np.random.default_rng(32).dirichlet([2, 2, 2], ROWS) * 0.75
PREDICTED = np.array(["cat", "dog", "fox"])[MATRIX.argmax(axis=1)]

TWO_CLASSES = {"truth": TRUTH, "score": SCORE}
COLUMNS: dict[str, dict[str, Any]] = {
    "tally": TWO_CLASSES,
    "curve": TWO_CLASSES,
    "counts": TWO_CLASSES,
    "tallies": TWO_CLASSES,
    "rows": TWO_CLASSES,
    **{kind: {**TWO_CLASSES, "group": GROUP} for kind in ("groups", "grouped rows")},
    "two models": {"truth": TRUTH, "score": {"a": SCORE, "b": OTHER}},
    "classes": {"truth": CLASS, "score": {"cat": MATRIX[:, 0], "dog": MATRIX[:, 1], "fox": MATRIX[:, 2]}},
    "confusion": {"truth": CLASS, "predicted": PREDICTED},
}
"""Kind of data -> arrays by role."""


def make_own(kind: str) -> Any:  # noqa: ANN401  (a type of the library)
    """Make the library's own type from the data of a kind."""
    columns = COLUMNS[kind]
    if kind == "classes":
        return baserate.class_scores(CLASS, MATRIX)
    if kind == "confusion":
        return baserate.confusion(CLASS, PREDICTED)
    table, names = spread(columns)
    if kind in ("rows", "two models", "grouped rows"):
        return read.rows(table, **names)
    if kind in ("tallies", "groups"):
        return read.tallies(table, **names)
    tally = Tally.of_rows(TRUTH == 1, SCORE)
    return {"tally": tally, "curve": Curve(tally), "counts": Curve(tally).at(0.5)}[kind]


def spread(columns: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a table of all columns, and the names of those of each role."""
    table: dict[str, Any] = {}
    names: dict[str, Any] = {}
    for role, column in columns.items():
        table |= column if isinstance(column, Mapping) else {role: column}
        names[role] = list(column) if isinstance(column, Mapping) else role
    if len(names.get("score", ())) == 3 and isinstance(names["score"], list):
        names["score"] = {name: name for name in names["score"]}
    return table, names


class Classifier:
    """A fitted classifier of two classes whose features are the scores."""

    classes_ = np.array([0, 1])

    def predict_proba(self, features: Any) -> Any:  # noqa: ANN401
        return np.column_stack([1 - np.ravel(features), np.ravel(features)])


class Tensor:
    """An array of another library, of which NumPy takes a copy by `__array__`, as of PyTorch's."""

    def __init__(self, values: Any) -> None:  # noqa: ANN401
        self.values = np.asarray(values)
        self.shape, self.ndim, self.dtype = self.values.shape, self.values.ndim, self.values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:  # noqa: ANN401
        return np.array(self.values, dtype=dtype)


class Form(NamedTuple):
    """Arguments of a call that hold predictions."""

    args: tuple[Any, ...]
    options: dict[str, Any]


def list_forms(kind: str, folder: Path) -> Iterator[tuple[str, Form]]:
    """Yield every form of the data of a kind, but for its own type."""
    columns = COLUMNS[kind]
    if kind == "classes":
        yield from _class_forms(folder)
    elif kind == "confusion":
        yield from _confusion_forms(folder)
    else:
        yield from _array_forms(columns)
        yield from _table_forms(columns, folder)
        if kind != "two models":
            yield from _single_forms({role: each for role, each in columns.items() if role not in TWO_CLASSES})


def _array_forms(columns: Mapping[str, Any]) -> Iterator[tuple[str, Form]]:
    truth, score, *_ = columns.values()
    more = {role: each for role, each in columns.items() if role not in TWO_CLASSES}
    kinds: dict[str, Callable[[Any], Any]] = {
        "arrays": np.asarray,
        "lists": lambda column: column.tolist(),
        "tuples": lambda column: tuple(column.tolist()),
        "pandas": pd.Series,
        "Polars": pl.Series,
        "PyArrow": pa.array,
        "tensors": lambda column: column if column.dtype.kind == "U" else Tensor(column),
    }
    for name, make in kinds.items():
        convert = _convert(make)
        yield name, Form((make(truth), convert(score)), {role: make(each) for role, each in more.items()})
    yield "keywords", Form((), dict(columns))
    yield "truth and a keyword", Form((truth,), {"score": score, **more})
    labels = np.where(truth == 1, "sick", "well")
    yield "labels", Form((labels, score), {"positive": "sick", **more})
    yield "booleans", Form((truth == 1, score), more)


def _convert(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda column: (
        {name: make(each) for name, each in column.items()} if isinstance(column, Mapping) else make(column)
    )


def _table_forms(columns: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, Form]]:
    table, names = spread(columns)
    tables = {
        "mapping of columns": table,
        "pandas frame": pd.DataFrame(table),
        "Polars frame": pl.DataFrame(table),
        "lazy frame": pl.DataFrame(table).lazy(),
        "PyArrow table": pa.table(table),
    }
    for name, each in tables.items():
        yield name, Form((each,), names)
    csv, parquet = folder / "rows.csv", folder / "rows.parquet"
    pl.DataFrame(table).write_csv(csv)
    pl.DataFrame(table).write_parquet(parquet)
    yield "CSV file", Form((str(csv),), names)
    yield "Parquet file", Form((parquet,), names)


def _single_forms(more: Mapping[str, Any]) -> Iterator[tuple[str, Form]]:
    """Yield forms of the scores of one model."""
    matrix = np.column_stack([1 - SCORE, SCORE])
    options = dict(more)
    yield "pair", Form(((TRUTH, SCORE),), options)
    yield "mapping of scores", Form((TRUTH, {"score": SCORE}), options)
    yield "frame of scores", Form((TRUTH, pd.DataFrame({"score": SCORE})), options)
    yield "matrix", Form((TRUTH, matrix), options)
    yield "list of pairs", Form((TRUTH, matrix.tolist()), options)
    yield "single column", Form((TRUTH, SCORE[:, None]), options)
    yield "classifier", Form((Classifier(), SCORE[:, None], TRUTH), options)


def _class_forms(folder: Path) -> Iterator[tuple[str, Form]]:
    yield "matrix", Form((CLASS, MATRIX), {})
    yield "lists", Form((CLASS.tolist(), MATRIX.tolist()), {})
    yield "tensor", Form((CLASS, Tensor(MATRIX)), {})
    yield "keywords", Form((), {"truth": CLASS, "score": MATRIX})
    yield from _table_forms(COLUMNS["classes"], folder)


def _confusion_forms(folder: Path) -> Iterator[tuple[str, Form]]:
    yield "arrays", Form((CLASS, PREDICTED), {})
    yield "lists", Form((CLASS.tolist(), PREDICTED.tolist()), {})
    yield "pandas", Form((pd.Series(CLASS), pd.Series(PREDICTED)), {})
    yield "keywords", Form((), {"truth": CLASS, "predicted": PREDICTED})
    yield from _table_forms(COLUMNS["confusion"], folder)


def simplify(value: Any) -> Any:  # noqa: ANN401, PLR0911  (any result)
    """Reduce a result to plain values that can be compared, without names of files and columns, or labels."""
    if isinstance(value, GeneratorType):
        return [simplify(each) for each in islice(value, 3)]
    if isinstance(value, Drawing):
        return simplify(value.numbers)
    if isinstance(value, Report):  # its commands name the file, and its data the columns
        return simplify([value.numbers.columns, value.policies, [finding.code for finding in value.findings]])
    if isinstance(value, np.ndarray | np.generic):
        return simplify(value.tolist())
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Mapping):
        return {str(key): simplify(each) for key, each in value.items() if key not in _NAMES}
    if isinstance(value, list | tuple):
        return [simplify(each) for each in value]
    if isinstance(value, Results):
        return [simplify(dict(value.columns)), simplify(value.data)]
    if is_dataclass(value):
        parts = {each.name: simplify(getattr(value, each.name)) for each in fields(value) if each.name not in _NAMES}
        return [type(value).__name__, parts]
    return value if isinstance(value, str | int | None) else type(value).__name__


_NAMES = ("columns", "intake", "positive", "negative")
