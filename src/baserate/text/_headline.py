"""Headline of a page: files, rows, and the positive class."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from baserate._formatting import count_of, format_count
from baserate._tally import describe_reasons
from baserate.text._tables import shorten_label


def describe_files(files: Sequence[str]) -> str:
    """Describe the files: the first one, and the number of the others."""
    first = "stdin" if files[0] == "-" else PurePath(files[0]).name or files[0]
    return shorten_label(first) + (f" and {len(files) - 1} more" if len(files) > 1 else "")


def describe_rows(data: Mapping[str, Any]) -> str:
    """Describe the rows: used, read, dropped, and what they stand for."""
    used = data["read"] - data["refused"]
    of = f" of {format_count(data['read'], 4)}" if data["refused"] else ""
    stand = f" standing for {format_count(data['rows'], 4)}" if "count" in data["columns"] else ""
    dropped = (
        f" ({format_count(data['refused'], 4)} dropped: {describe_reasons(data['reasons'])})" if data["refused"] else ""
    )
    rows = count_of(used if not of else data["read"], "row", shown=f"{format_count(used, 4)}{of}")
    return f"{rows}{stand}{dropped}"


def describe_positive(truth: str | None, data: Mapping[str, Any]) -> str:
    """Describe the positive class.

    >>> describe_positive("sick", {"positive": 1})
    'positive: sick = 1'
    """
    return f"positive: {shorten_label(truth)} = {shorten_label(data['positive'])}"


def describe_class(name: str, truth: str | None, data: Mapping[str, Any]) -> str:
    """Describe the positive or the negative class, with its label if there is one.

    >>> describe_class("negative", "sick", {"negative": 0}), describe_class("negative", "sick", {"negative": None})
    ('negative (sick = 0)', 'negative')
    """
    return name if data[name] is None else f"{name} ({shorten_label(truth)} = {shorten_label(data[name])})"
