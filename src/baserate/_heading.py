"""What was read, in a few words: files, rows, and which class is the positive one."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from baserate._intake import describe_reasons
from baserate._numbers import amount
from baserate._panels import label
from baserate._plurals import count_of


def files_told(files: Sequence[str]) -> str:
    """Name of the first file, and how many more there are."""
    first = "stdin" if files[0] == "-" else PurePath(files[0]).name or files[0]
    return label(first) + (f" and {len(files) - 1} more" if len(files) > 1 else "")


def rows_told(data: Mapping[str, Any]) -> str:
    """How many rows were used, of how many, and what they stand for."""
    used = data["read"] - data["refused"]
    of = f" of {amount(data['read'], 4)}" if data["refused"] else ""
    stand = f" standing for {amount(data['rows'], 4)}" if "count" in data["columns"] else ""
    dropped = f" ({amount(data['refused'], 4)} dropped: {describe_reasons(data['reasons'])})" if data["refused"] else ""
    rows = count_of(used if not of else data["read"], "row", shown=f"{amount(used, 4)}{of}")
    return f"{rows}{stand}{dropped}"


def positive_told(truth: str | None, data: Mapping[str, Any]) -> str:
    """Which class is the positive one.

    >>> positive_told("sick", {"positive": 1})
    'positive: sick = 1'
    """
    return f"positive: {label(truth)} = {label(data['positive'])}"


def class_told(name: str, truth: str | None, data: Mapping[str, Any]) -> str:
    """Name of a class, positive or negative, with its label if that is known.

    >>> class_told("negative", "sick", {"negative": 0}), class_told("negative", "sick", {"negative": None})
    ('negative (sick = 0)', 'negative')
    """
    return name if data[name] is None else f"{name} ({label(truth)} = {label(data[name])})"
