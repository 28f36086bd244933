"""Row labels of pandas-like columns: columns that are paired by position must have the same labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baserate._errors import ShapeError


def refuse_differing_indexes(columns: Mapping[str, object]) -> None:
    """Refuse columns whose row labels differ, since values are paired by position.

    Columns without row labels, such as arrays and lists, go with any other. Where lengths differ, the check of lengths
    says more.

    >>> import pandas as pd
    >>> truth, score = pd.Series([1, 0], index=["a", "b"]), pd.Series([0.2, 0.9], index=["b", "a"])
    >>> refuse_differing_indexes({"truth": truth, "score": score.loc[truth.index]})
    >>> refuse_differing_indexes({"truth": truth, "score": score})
    Traceback (most recent call last):
    baserate._errors.ShapeError: truth and score have indexes that differ (same labels in another order). Align them \
with `score.loc[truth.index]`, or call `.reset_index(drop=True)` on both to pair rows by position.
    """
    found = {name: index for name, column in columns.items() if (index := _index(column)) is not None}
    if not found:
        return
    (first, index), *others = found.items()
    for name, other in others:
        if len(other) == len(index) and not index.equals(other):
            raise ShapeError(
                f"{first} and {name} have indexes that differ ({_difference(first, index, other)}). "
                f"{_remedy(first, name, index, other)}"
            )


def _index(column: object) -> Any:  # noqa: ANN401  (an index of pandas or of a library like it)
    """Row labels, without loading a library: lists and columns of Arrow have a method of that name."""
    to_native = getattr(column, "to_native", None)  # of a column of Narwhals
    index = getattr(column if to_native is None else to_native(), "index", None)
    return index if callable(getattr(index, "equals", None)) else None


def _difference(first: str, index: Any, other: Any) -> str:  # noqa: ANN401
    known = set(index)
    stray = sum(label not in known for label in other)
    if stray:
        return f"{stray} of {len(other)} labels are not among those of {first}"
    return "same labels in another order" if index.is_unique and other.is_unique else "labels that repeat"


def _remedy(first: str, name: str, index: Any, other: Any) -> str:  # noqa: ANN401
    by_position = "call `.reset_index(drop=True)` on both to pair rows by position."
    if not (index.is_unique and other.is_unique and set(index) == set(other)):
        return by_position[0].upper() + by_position[1:]
    plain = first.isidentifier() and name.isidentifier()
    call = f"`{name}.loc[{first}.index]`" if plain else "`.loc` and the index of the other"
    return f"Align them with {call}, or {by_position}"
