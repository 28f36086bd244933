"""Results: tidy numbers, one row each, with what they were made from."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import inf, isinf, isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._errors import ShapeError
from baserate._files import write_text
from baserate._immutable import FrozenMapping
from baserate._plurals import count_of

SCHEMA_VERSION = 1

_GROUPS = ("group", "other", "other_group")
"""Columns that may hold groups."""

Values = Sequence[Any] | npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Results:
    """Columns of equal length, and `data`: what they were made from.

    The column `group`, if there is one, holds None for everybody or a mapping from attribute to value; so may `other`,
    with which it is compared. Undefined numbers are None in rows, null in JSON and frames, empty in CSV; the column
    `why` gives the reason. Infinite numbers are floats in Python and frames, and "inf" or "-inf" in JSON and CSV.

    >>> r = Results({"measure": ["auc"], "group": [{"sex": "f"}], "value": [0.75]}, data={"rows": 10})
    >>> r.rows()
    [{'measure': 'auc', 'group': {'sex': 'f'}, 'value': 0.75}]
    >>> r.to_json()
    '{"schema_version": 1, "data": {"rows": 10}, "rows": [{"measure": "auc", "group": {"sex": "f"}, "value": 0.75}]}'
    >>> print(r.to_csv(), end="")
    measure,group.sex,value
    auc,f,0.75
    """

    columns: Mapping[str, Values]
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", FrozenMapping(self.columns))
        object.__setattr__(self, "data", FrozenMapping(self.data))
        if len({len(column) for column in self.columns.values()}) > 1:
            lengths = ", ".join(f"{name} {len(column)}" for name, column in self.columns.items())
            raise ShapeError(f"the columns have different lengths ({lengths}); give one value of each for every row.")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __bool__(self) -> bool:
        """Whether everything that was required holds, where something was; otherwise whether there are rows.

        `assert decide.check(…)` must fail where a requirement fails, so that results with a verdict are true only if
        `data["holds"]` is.

        >>> bool(Results({"verdict": ["undecided"]}, {"holds": False})), bool(Results({"value": [0.75]}))
        (False, True)
        """
        return bool(self.data["holds"]) if "holds" in self.data else len(self) > 0

    def __repr__(self) -> str:
        return f"Results({count_of(len(self), 'row')} of {', '.join(self.columns)})"

    def rows(self) -> list[dict[str, Any]]:
        """One mapping for each row, undefined numbers as None."""
        return list(self._each(self.columns))

    def flat(self) -> dict[str, list[Any]]:
        """Columns as plain lists, with one column `group.sex` for each attribute in place of `group`."""
        return {name: [_plain(value) for value in column] for name, column in self._flattened()}

    def frame(self, backend: str | None = None) -> Any:  # noqa: ANN401  (a frame of the chosen library)
        """Return a frame of pandas, Polars or PyArrow: the one named, otherwise the first of them at hand."""
        from baserate._frames import frame

        return frame(self.flat(), backend)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        from baserate._frames import arrow_stream

        return arrow_stream(self.flat(), requested_schema)

    def to_json(self) -> str:
        """Return everything as JSON of a fixed, versioned shape; numbers in full."""
        head = json.dumps({"schema_version": SCHEMA_VERSION, "data": json_ready(dict(self.data))}, ensure_ascii=False)
        rows = (json.dumps(json_ready(row), ensure_ascii=False) for row in self._each(self.columns))
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

    def _each(self, columns: Mapping[str, Values]) -> Iterator[dict[str, Any]]:
        lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
        for values in zip(*lists, strict=True):
            yield {name: _plain(value) for name, value in zip(columns, values, strict=True)}

    def _flattened(self) -> Iterator[tuple[str, Values]]:
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
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and isinf(value):
        return "inf" if value == inf else "-inf"
    if value is None or isinstance(value, (str, int, float)):
        return _plain(value)
    return str(value)


def _plain(value: Any) -> Any:  # noqa: ANN401  (any value of a column)
    return None if isinstance(value, float) and isnan(value) else value
