"""Rows that a policy cannot decide: how arrays, frames and files speak of them alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baserate._errors import DataError, MissingValuesError, OptionError, UnknownLabelError
from baserate.apply._wrong import SHOWN, Wrong, rows

GroupTexts = tuple[str | None, ...]
"""How a group is written, one text for each attribute; None is missing."""


def unknown_groups(
    attributes: Sequence[str], many: Mapping[GroupTexts, int], total: int, *, others: tuple[int, int] = (0, 0)
) -> DataError:
    """Groups that a policy refuses, and how many rows each has, the most first; and others with how many rows.

    >>> print(unknown_groups(["sex"], {("x",): 3, (None,): 1}, 9))
    4 of 9 rows are of groups that this policy refuses: sex = 'x' (3 rows), sex missing (1 row); leave them out, or
    choose a policy whose `otherwise` says what to do with them.
    """
    ordered = sorted(many.items(), key=lambda item: (-item[1], str(item[0])))
    named = [f"{_named(attributes, texts)} ({each} row{'' if each == 1 else 's'})" for texts, each in ordered[:SHOWN]]
    unnamed = len(ordered) + others[0] - len(named)
    more = f" and {unnamed} more group{'' if unnamed == 1 else 's'}" if unnamed else ""
    return UnknownLabelError(
        f"{sum(many.values()) + others[1]} of {total} rows are of groups that this policy refuses: {', '.join(named)}"
        f"{more}; leave them out, or choose a policy whose `otherwise` says what to do with them."
    )


def missing_ids(name: str, wrong: Wrong) -> DataError:
    """Rows without an id, where lots are drawn.

    >>> print(missing_ids("who", Wrong("missing", 1, 9, [4])))
    1 of 9 rows have no id in 'who' (row 4, counted from 1), which this policy draws lots with; give every row one.
    """
    return MissingValuesError(
        f"{wrong.many} of {wrong.total} rows have no id in {name!r} ({rows(wrong)}), which this policy draws lots "
        "with; give every row one."
    )


def bad_ids(name: str, holds: str) -> OptionError:
    """Ids of a type that is written in more than one way, or of several types.

    >>> print(bad_ids("who", "DOUBLE"))
    ids in 'who' hold DOUBLE; they must be whole numbers or text, and all of one kind, for others are written in more
    than one way. Convert them first.
    """
    return OptionError(
        f"ids in {name!r} hold {holds}; they must be whole numbers or text, and all of one kind, for others are "
        "written in more than one way. Convert them first."
    )


def shared_ids(name: str, many: int, total: int) -> str:
    """Note on rows that share their id with an earlier one, among those whose lot decides.

    >>> shared_ids("who", 2, 9)
    "2 of 9 rows whose lot decides have an id in 'who' that another has, too, and so draw the same lot; see that an id
    names one record."
    """
    return (
        f"{many} of {total} rows whose lot decides have an id in {name!r} that another has, too, and so draw the same "
        "lot; see that an id names one record."
    )


def _named(attributes: Sequence[str], texts: GroupTexts) -> str:
    parts = (
        f"{name} missing" if text is None else f"{name} = {text!r}"
        for name, text in zip(attributes, texts, strict=True)
    )
    return ", ".join(parts)
