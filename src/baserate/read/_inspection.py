"""What the columns of a table hold, by its first rows: candidates for labels, scores and groups.

It answers calls that name no columns, so it looks at few rows.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

from baserate._formatting import count_of, format_count
from baserate.read._engines import Source, as_paths

MOST_ROWS = 1000
"""Rows that are looked at."""
_MOST_LABELS = 12
"""Distinct values from which on a column is not suggested for groups."""
_MOST_COLUMNS = 40
_SHOWN = 5
_LONGEST = 20
_MISSING = {"", "na", "n/a", "nan", "null", "none"}
_POSITIVE = ("1", "true", "yes", "y", "positive", "pos", "sick", "ill", "case", "event", "bad", "fraud")
_NAMES: dict[str, str] = {
    "labels": r"truth|true|label|target|outcome|actual|response|event|class|y|default|fraud|sick|disease|churn|died",
    "scores": r"score|prob|proba|probability|pred|prediction|risk|p|yhat|logit|model|rf|lr|xgb",
}
"""Role -> words in names of its columns."""

Role = Literal["labels", "scores", "groups", "ID", ""]


class ColumnSummary(NamedTuple):
    """What a column holds, and the role that it may have."""

    name: str
    content: str
    """What it holds, in words."""
    role: Role
    values: tuple[str, ...] = ()
    """Its labels, if there are few."""

    @property
    def positive(self) -> str | None:
        """The label that is likely the positive one, where labels are neither 0 and 1 nor false and true."""
        if self.values in (("0", "1"), ("false", "true")):
            return None
        return next((each for each in self.values if each.lower() in _POSITIVE), max(self.values, default=None))


class Inspection(NamedTuple):
    """Columns of a table, and those that may hold the predictions."""

    columns: tuple[ColumnSummary, ...]
    rows: int
    """Number of rows that were looked at."""

    def candidates(self, role: Role) -> list[ColumnSummary]:
        """Columns that may have a role, the likeliest first."""
        fitting = [each for each in self.columns if each.role == role]
        return sorted(fitting, key=lambda each: not _has_name_of(each.name, role))

    def lines(self, name: str) -> list[str]:
        """Describe a table, and each column in a line."""
        shown = self.columns[:_MOST_COLUMNS]
        wide = min(max((len(each.name) for each in shown), default=0), _LONGEST)
        lines = [
            f"  {each.name:{wide}}  {each.content}{f' (may be {each.role})' if each.role else ''}" for each in shown
        ]
        more = len(self.columns) - len(shown)
        rows = f"by its first {format_count(self.rows, 4)} rows" if self.rows else "no rows"
        heading = f"{name} has {count_of(len(self.columns), 'column')} ({rows}):"
        return [heading, *lines, *[f"  and {count_of(more, 'more column', 'more columns')}"] * bool(more)]


def inspect_columns(source: Source) -> Inspection | None:
    """Describe the columns of a table by its first rows; None if there are none.

    >>> found = inspect_columns({"sick": [1, 0, 1], "risk": [0.9, 0.2, 0.6], "site": ["a", "b", "a"]})
    >>> [(each.name, each.role) for each in found.columns]
    [('sick', 'labels'), ('risk', 'scores'), ('site', 'groups')]
    """
    columns = _head(source)
    if not columns:
        return None
    rows = max(len(values) for values in columns.values())
    summaries = [_summarize(str(name), values) for name, values in columns.items()]
    # A second column of two labels is a group unless its name says otherwise, and none has two roles.
    if not any(each.role == "labels" for each in summaries):
        return Inspection(tuple(summaries), rows)
    labels = Inspection(tuple(summaries), rows).candidates("labels")[0]
    return Inspection(tuple(_choose_role(each, labels) for each in summaries), rows)


def _choose_role(summary: ColumnSummary, labels: ColumnSummary) -> ColumnSummary:
    """Turn text of two labels beside the likeliest labels into a group."""
    is_text = summary.values not in (("0", "1"), ("false", "true"))
    beside = summary.role == "labels" and summary is not labels and is_text
    return summary._replace(role="groups") if beside and not _has_name_of(summary.name, "labels") else summary


def _head(source: Source) -> dict[Any, list[Any]]:
    """Return the first values of each column."""
    if paths := as_paths(source):
        from baserate.read import _files  # which loads DuckDB

        with _files.open_all_columns(paths, ()) as opened:
            rows = opened.relation.limit(MOST_ROWS).fetchall()
            columns = {name: [row[at] for row in rows] for at, name in enumerate(opened.names)}
            is_json = opened.source.kind == "json"
        return {name: [_parse_json(each) for each in values] if is_json else values for name, values in columns.items()}
    if isinstance(source, Mapping):
        return {name: list(islice(iter(values), MOST_ROWS)) for name, values in source.items()}
    import narwhals.stable.v2 as nw

    frame = nw.from_native(source, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return {}
    head = frame.head(MOST_ROWS)
    eager = head.collect() if isinstance(head, nw.LazyFrame) else head
    return {name: eager[name].to_list() for name in eager.columns}


def _parse_json(text: Any) -> Any:  # noqa: ANN401  (JSON)
    return json.loads(text) if isinstance(text, str) else text


def _summarize(name: str, values: Sequence[Any]) -> ColumnSummary:
    texts = [_text(each) for each in values]
    present = [text for text in texts if text.lower() not in _MISSING]
    distinct = sorted({*present})
    numbers = _numbers(distinct)
    if not distinct:
        return ColumnSummary(name, "no values", "")
    if len(distinct) == 2 and (numbers is None or all(each.is_integer() for each in numbers)):
        labels = tuple(distinct if numbers is None else (_spell_number(each) for each in sorted(numbers)))
        return ColumnSummary(name, f"two labels: {', '.join(map(_shorten, labels))}", "labels", labels)
    if numbers is not None:
        return _summarize_numbers(name, numbers, repeated=len(present) > len(distinct))
    if len(distinct) <= _MOST_LABELS and len(present) > len(distinct):
        return ColumnSummary(name, _list_values(distinct), "groups", tuple(distinct))
    is_id = len(distinct) == len(present) > 1
    return ColumnSummary(name, f"text, {count_of(len(distinct), 'different value')}", "ID" if is_id else "")


def _summarize_numbers(name: str, numbers: Sequence[float], *, repeated: bool) -> ColumnSummary:
    low, high = min(numbers), max(numbers)
    ends = f"from {_spell_number(low)} to {_spell_number(high)}"
    if any(not each.is_integer() for each in numbers if math.isfinite(each)):
        is_probability = low >= 0 and high <= 1
        named = _has_name_of(name, "scores")
        what = f"numbers {ends}" + (", in [0, 1]" if is_probability else "")
        return ColumnSummary(name, what, "scores" if is_probability or named else "")
    if len(numbers) <= _MOST_LABELS and repeated:
        values = [_spell_number(each) for each in sorted(numbers)]
        listed = f"{', '.join(values[:_SHOWN])}{', …' * (len(values) > _SHOWN)}"
        return ColumnSummary(name, f"whole numbers: {listed}", "scores" if _has_name_of(name, "scores") else "")
    role: Role = "scores" if _has_name_of(name, "scores") else "" if repeated else "ID"
    return ColumnSummary(name, f"whole numbers {ends}", role)


def _list_values(values: Sequence[str]) -> str:
    shown = ", ".join(map(_shorten, values[:_SHOWN]))
    return f"{count_of(len(values), 'value')}: {shown}{', …' * (len(values) > _SHOWN)}"


def _text(value: Any) -> str:  # noqa: ANN401  (any value of a table)
    if value is None:
        return ""
    item = value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value
    return str(item).lower() if isinstance(item, bool) else str(item).strip()


def _numbers(texts: Sequence[str]) -> list[float] | None:
    """Return texts as numbers; None if one is none."""
    try:
        return [float(text) for text in texts]
    except ValueError:
        return None


def _spell_number(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _has_name_of(name: str, role: str) -> bool:
    """Return whether the name of a column has a word of a role: y_true, trueLabel, RISK."""
    words = re.split(r"[^a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return role in _NAMES and any(re.fullmatch(_NAMES[role], word) for word in words)
