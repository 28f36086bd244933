"""Results: a tidy table with one row for each number, its data and settings; `Estimate`: a number with its interval."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from io import StringIO
from math import inf, isinf, isnan, nan
from sys import modules
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import FrozenMapping, refuse_differing_lengths
from baserate._domains import wrong_option
from baserate._errors import NotInstalledError, OptionError, UnknownNameError, unknown_name
from baserate._files import write_text
from baserate._formatting import count_of, format_alike, format_interval
from baserate._lazy import load_object
from baserate._rendering import Printable, terminal_width


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval.

    `low` and `high` bound the value at confidence `level`, by the method named in `how`. `why` says why a value
    (then NaN) or its interval (then NaN bounds) is undefined. `least` and `most` bound what the value could be
    when scores were rounded into buckets; on exact data they are None.

    `float` returns the value, NaN if undefined; a format such as `.3f` or `.1%` applies to all three numbers.

    >>> auc = Estimate(0.8532, low=0.8411, high=0.8654, level=0.95, how="Wilson")
    >>> auc, float(auc)
    (Estimate(0.8532, 0.8411 to 0.8654), 0.8532)
    >>> print(auc, f"{auc:.1%}", Estimate(nan, why="nothing is flagged"), sep="; ")
    0.85 (0.84 to 0.87); 85.3% (84.1% to 86.5%); undefined (nothing is flagged)
    """

    value: float
    low: float = nan
    high: float = nan
    level: float | None = None
    how: str | None = None
    why: str | None = None
    least: float | None = None
    most: float | None = None

    def __post_init__(self) -> None:
        if self.level is not None and not 0 < self.level < 1:
            raise wrong_option("level", self.level, "a confidence level between 0 and 1, for example 0.95")
        if self.low > self.high:
            what = f"low is {self.low} and high {self.high}"
            raise OptionError(what, remedy="swap them.", option="low", value=self.low)
        if isnan(self.value) and self.why is None:
            raise OptionError("the value is NaN without a reason", remedy="give the reason as `why`.")

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        if isnan(self.value):
            return f"undefined ({self.why})"
        missing = self.level is not None and self.why is not None and not self._has_interval
        aside = f" (interval undefined: {self.why})" if missing else ""
        return format_interval(self.value, self.low, self.high) + aside

    def __repr__(self) -> str:
        if isnan(self.value):
            return f"Estimate(undefined: {self.why})"
        numbers = [self.value, *([self.low, self.high] if self._has_interval else [])]
        # Numbers of a console may be copied into a program, which takes no typographic signs.
        shown, *ends = (text.translate(_PLAIN) for text in format_alike(numbers, 4))
        return f"Estimate({', '.join([shown, *([' to '.join(ends)] if ends else [])])})"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        shown, low, high = (format(each, spec) for each in (self.value, self.low, self.high))
        return f"{shown} ({low} to {high})" if self._has_interval else shown

    @property
    def _has_interval(self) -> bool:
        return not (isnan(self.low) or isnan(self.high))


_PLAIN = {ord("−"): "-", ord("∞"): "inf", ord(","): ""}


SCHEMA_VERSION = 1

_GROUPS = ("group", "other", "other_group")
"""Columns that may hold groups."""

Values = Sequence[Any] | npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Results(Printable):
    """Columns of equal length, and `data`: the data and settings they were computed from.

    The column `group`, if there is one, holds None for all rows or a mapping from attribute to value; so may `other`,
    with which it is compared. Undefined numbers are None in rows, null in JSON and frames, empty in CSV; the column
    `why` gives the reason. Infinite numbers are floats in Python and frames, and "inf" or "-inf" in JSON and CSV.

    `results["auc"]` and `results.auc` select a measure, by any of its names: an `Estimate` if there is one such row,
    otherwise the results of these rows. Any other name selects a column, a number one row, and a slice several.

    >>> r = Results({"measure": ["auc"], "group": [{"sex": "f"}], "value": [0.75]}, data={"rows": 10})
    >>> r.rows()
    [{'measure': 'auc', 'group': {'sex': 'f'}, 'value': 0.75}]
    >>> r.to_json()
    '{"schema_version": 1, "data": {"rows": 10}, "rows": [{"measure": "auc", "group": {"sex": "f"}, "value": 0.75}]}'
    >>> print(r.to_csv(), end="")
    measure,group.sex,value
    auc,f,0.75
    >>> print(r)
    1 row of results
    <BLANKLINE>
    measure  group.sex  value
    auc      f           0.75
    >>> r.auc, r["roc_auc_score"], r[0]["value"]
    (Estimate(0.7500), Estimate(0.7500), 0.75)
    """

    columns: Mapping[str, Values]
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", FrozenMapping(self.columns))
        object.__setattr__(self, "data", FrozenMapping(self.data))
        refuse_differing_lengths(self.columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __bool__(self) -> bool:
        """Return whether all requirements hold, where there are any; otherwise whether there are rows.

        `assert decide.check(…)` must fail where a requirement fails, so that results with a verdict are true only if
        `data["holds"]` is.

        >>> bool(Results({"verdict": ["undecided"]}, {"holds": False})), bool(Results({"value": [0.75]}))
        (False, True)
        """
        return bool(self.data["holds"]) if "holds" in self.data else len(self) > 0

    def __repr__(self) -> str:
        return f"Results({count_of(len(self), 'row')} of {', '.join(self.columns)})"

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._iterate_rows()

    def __contains__(self, item: object) -> bool:
        """Return whether there is a measure or column of this name, or such a row."""
        if isinstance(item, str):
            return self._find_measure(item) is not None or item in self.columns
        return item in self.rows()

    def __getitem__(self, key: str | int | slice) -> Any:  # noqa: ANN401  (an estimate, results, a row, a column)
        if isinstance(key, slice):
            return self._take(range(len(self))[key])
        if not isinstance(key, str):
            return {name: _none_if_nan(as_plain(column[key])) for name, column in self.columns.items()}
        name = self._find_measure(key)
        if name is not None:
            return self._select_measure(name)
        if key in self.columns:
            return self.columns[key]
        raise self._unknown_name(key)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (an estimate, or results)
        # Libraries look for private names to learn what an object can do, also before its fields are set.
        if name.startswith("_"):
            raise AttributeError(name)
        measure = self._find_measure(name)
        if measure is None:
            raise AttributeError(str(self._unknown_name(name, object.__dir__(self))))
        return self._select_measure(measure)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *filter(str.isidentifier, self.measures)})

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures in the column `measure`, each once."""
        return tuple(dict.fromkeys(map(str, self.columns.get("measure", ()))))

    def _find_measure(self, word: str) -> str | None:
        """Return the name in the column `measure` that a word means, or None."""
        measures = self.measures
        if not measures or word in measures:
            return word if measures else None
        name: str | None = load_object("baserate.measure:resolve_name")(word, measures)
        return name

    def _select_measure(self, name: str) -> Estimate | Results:
        """Return the estimate in the only row of a measure, otherwise the results of its rows."""
        some = self._take([at for at, each in enumerate(self.columns["measure"]) if str(each) == name])
        return estimate_of(some[0]) if len(some) == 1 and "value" in self.columns else some

    def _take(self, places: Sequence[int]) -> Results:
        """Return the results of some rows."""

        def take(column: Values) -> Values:
            if isinstance(column, np.ndarray):
                return column[np.asarray(places, dtype=np.intp)]
            return [column[at] for at in places]

        return Results({name: take(column) for name, column in self.columns.items()}, self.data)

    def _unknown_name(self, word: str, others: Iterable[str] = ()) -> UnknownNameError:
        """Make the error for a name of no measure and no column."""
        measures = self.measures
        names = [*measures, *self.columns, *(name for name in others if not name.startswith("_"))]
        near = load_object("baserate.measure:suggest_names")(word, names)
        listing = f"Measures are: {', '.join(measures)}. " if measures else ""
        listing += f"Columns are: {', '.join(self.columns)}."
        return unknown_name("measure or column" if measures else "column", word, names, near=near, listing=listing)

    def text(self, width: int | None = None, *, max_rows: int | None = 40, explain: bool = False) -> str:
        """Return the results as an aligned table for people.

        Numbers stand with their confidence intervals in one column. Columns without values are omitted, and labels that
        all rows share are in the headline.

        Parameters
        ----------
        width
            Characters of the longest line; by default the width of the terminal.
        max_rows
            Rows to show; None for all.
        explain
            Whether to show methods of intervals.
        """
        if max_rows is not None and max_rows < 1:
            raise wrong_option("max_rows", max_rows, "a whole number above 0, or None for all rows")
        page = load_object("baserate.text:results_page")(self, max_rows)
        text: str = page.plain_text(terminal_width() if width is None else width, explain=explain)
        return text

    def rows(self) -> list[dict[str, Any]]:
        """Return one mapping for each row, undefined numbers as None."""
        return list(self._iterate_rows())

    def flat(self) -> dict[str, list[Any]]:
        """Return columns as plain lists, with one column `group.sex` for each attribute in place of `group`."""
        return {name: [_none_if_nan(value) for value in column] for name, column in self._flat_columns()}

    def frame(self, backend: str | None = None) -> Any:  # noqa: ANN401  (a frame of the chosen library)
        """Return a frame of pandas, Polars or PyArrow: the one named, otherwise the first that is installed."""
        return make_frame(self.flat(), backend)

    def to_pandas(self) -> Any:  # noqa: ANN401  (a frame of the library)
        """Return a frame of pandas, with one column `group.sex` for each attribute of groups."""
        return self.frame("pandas")

    def to_polars(self) -> Any:  # noqa: ANN401  (a frame of the library)
        """Return a frame of Polars, with one column `group.sex` for each attribute of groups."""
        return self.frame("polars")

    def to_arrow(self) -> Any:  # noqa: ANN401  (a frame of the library)
        """Return a table of PyArrow, with one column `group.sex` for each attribute of groups."""
        return self.frame("pyarrow")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return arrow_stream(self.flat(), requested_schema)

    def to_json(self) -> str:
        """Return everything as JSON of a fixed, versioned shape; numbers in full."""
        head = json.dumps({"schema_version": SCHEMA_VERSION, "data": json_ready(dict(self.data))}, ensure_ascii=False)
        rows = (json.dumps(json_ready(row), ensure_ascii=False) for row in self._iterate_rows())
        return f'{head[:-1]}, "rows": [{", ".join(rows)}]}}'

    def to_csv(self) -> str:
        """Return the rows as CSV; numbers in full."""
        columns = self.flat()
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        return text.getvalue()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results to a file, as CSV if its name says so, otherwise as JSON."""
        write_text(path, self.to_csv() if str(path).endswith(".csv") else self.to_json())

    def _iterate_rows(self) -> Iterator[dict[str, Any]]:
        # tolist() gives Python's numbers, as JSON and callers of `rows` expect.
        lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in self.columns.values()]
        for values in zip(*lists, strict=True):
            yield {name: _none_if_nan(value) for name, value in zip(self.columns, values, strict=True)}

    def _flat_columns(self) -> Iterator[tuple[str, Values]]:
        for name, column in self.columns.items():
            # A column `other` may hold groups, or names of models, but not both.
            groups = [each for each in column if isinstance(each, Mapping)] if name in _GROUPS else []
            attributes = dict.fromkeys(key for group in groups for key in group)
            if attributes:
                for key in attributes:
                    yield f"{name}.{key}", [group and group.get(key) for group in column]
            else:
                yield name, column.tolist() if isinstance(column, np.ndarray) else column


def json_ready(value: Any) -> Any:  # noqa: ANN401  (whatever JSON can hold)
    """Make a value fit for JSON: NaN becomes null, infinities text, and labels of unusual types their text.

    >>> json_ready({"a": float("nan"), "b": (1, -float("inf")), "c": True})
    {'a': None, 'b': [1, '-inf'], 'c': True}
    """
    if isinstance(value, Mapping):
        return {str(key): json_ready(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(each) for each in value]
    value = as_plain(value)
    if isinstance(value, float) and isinf(value):
        return "inf" if value == inf else "-inf"
    if value is None or isinstance(value, (str, int, float)):
        return _none_if_nan(value)
    return str(value)


def estimate_of(row: Mapping[str, Any]) -> Estimate:
    """Return the number of a row with its interval; of a comparison, the difference, whose interval the row has.

    >>> estimate_of({"measure": "auc", "value": 0.75, "low": 0.6, "high": 0.9})
    Estimate(0.7500, 0.6000 to 0.9000)
    """
    value = row["difference"] if "difference" in row else row.get("value")
    bounds = (value, row.get("low"), row.get("high"))
    numbers = {name: nan if each is None else each for name, each in zip(("value", "low", "high"), bounds, strict=True)}
    why = row.get("why")
    if isnan(numbers["value"]) and why is None:
        why = "no reason is stored"
    return Estimate(**numbers, level=row.get("level"), how=row.get("how"), why=why)


def as_plain(value: Any) -> Any:  # noqa: ANN401  (any value of a column)
    """Return a number of NumPy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def _none_if_nan(value: Any) -> Any:  # noqa: ANN401  (any value of a column)
    return None if isinstance(value, float) and isnan(value) else value


_BACKENDS = ("pandas", "polars", "pyarrow")
_NUMBERS = {"threshold", "value", "low", "high", "level"}
"""Columns that hold numbers even where all of them are missing or whole."""


def make_frame(columns: dict[str, list[Any]], backend: str | None) -> Any:  # noqa: ANN401  (a frame of the chosen library)
    """Return the columns as a frame of pandas, Polars or PyArrow."""
    import narwhals.stable.v2 as nw

    name: Any = _installed_backend() if backend is None else backend
    if name not in _BACKENDS:
        raise unknown_name("kind of frame", backend, _BACKENDS)
    if find_spec(name) is None:
        raise NotInstalledError(
            f"a {name} frame needs {name}, which is not installed", remedy=f"run: pip install {name}."
        )
    schema = _schema(columns)
    if name == "pandas":  # its whole numbers cannot be missing, so that it chooses the types
        filled = {key: [nan if each is None else each for each in columns[key]] for key in columns.keys() & _NUMBERS}
        return nw.DataFrame.from_dict(columns | filled, backend=name).to_native()
    return nw.DataFrame.from_dict(columns, schema=schema, backend=name).to_native()


def arrow_stream(columns: dict[str, list[Any]], requested_schema: object) -> object:
    """Return the columns as an Arrow stream; the embedded engine makes it, so that PyArrow is not needed."""
    import duckdb

    with duckdb.connect() as engine:
        # Numbered, since DuckDB renames the second of two columns whose names differ only in case.
        arrays = {str(at): np.array(column, dtype=object) for at, column in enumerate(columns.values())}
        engine.register("columns", arrays)
        kinds = {"String": "VARCHAR", "Float64": "DOUBLE", "Int64": "BIGINT", "Boolean": "BOOLEAN"}
        picked = ", ".join(
            f'"{at}"::{kinds[str(kind)]} AS "{name.replace(chr(34), chr(34) * 2)}"'
            for at, (name, kind) in enumerate(_schema(columns).items())
        )
        return engine.sql(f"SELECT {picked} FROM columns").__arrow_c_stream__(requested_schema)


def _installed_backend() -> str:
    """Return the first library that is imported already, otherwise the first that is installed."""
    for name in _BACKENDS:
        if name in modules:
            return name
    for name in _BACKENDS:
        if find_spec(name) is not None:
            return name
    raise NotInstalledError(
        f"a frame needs one of {', '.join(_BACKENDS)}", remedy="install one, for example: pip install polars."
    )


def _schema(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the type of each column; columns of mixed types become text, in place."""
    import narwhals.stable.v2 as nw

    schema: dict[str, Any] = {}
    for name, column in columns.items():
        # Exact types, since True is an int in Python.
        kinds = {type(value) for value in column if value is not None}
        huge = any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in column)
        if (kinds or name in _NUMBERS) and kinds <= {int, float} and not huge:
            schema[name] = nw.Int64() if kinds == {int} and name not in _NUMBERS else nw.Float64()
        elif kinds == {bool}:
            schema[name] = nw.Boolean()
        else:
            schema[name] = nw.String()
            columns[name] = [None if value is None else str(value) for value in column]
    return schema
