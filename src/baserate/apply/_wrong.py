"""Rows that a map cannot be applied to, nor a policy: how arrays, frames and files speak of them alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from baserate._errors import DataError, MissingValuesError, NotAProbabilityError, ShapeError
from baserate.apply._decision import Decision
from baserate.apply._task import Task

SHOWN = 5
"""Rows that are named."""

Kind = Literal["missing", "outside", "nothing"]
"""Missing or infinite, no probability where one is needed, and 0 for every class."""


class Wrong(NamedTuple):
    """How many rows of how many are wrong in one way, and which are the first."""

    kind: Kind
    many: int
    total: int
    first: Sequence[int]
    """Counted from 1."""


def kinds(task: Task | Decision) -> tuple[Kind, ...]:
    """Ways in which rows may be wrong: the others do not matter."""
    possible: list[Kind] = [] if task.keep else ["missing"]
    if isinstance(task, Task) and task.map.form.of_probabilities:
        possible.append("outside")
        if len(task.scores) > 1:
            possible.append("nothing")
    return tuple(possible)


def error(wrong: Wrong, task: Task | Decision) -> DataError:
    """What is wrong, where, and what to do.

    >>> from baserate._calibrator import shift_log_odds
    >>> print(error(Wrong("missing", 7, 9, [1, 2, 3, 5, 6]), Task.of(shift_log_odds(1.0), score="risk")))
    7 of 9 rows have a score that is missing, NaN or infinite in 'risk' (rows 1, 2, 3, 5, 6 and 2 more, counted from 1);
    fill them in, or let what is missing stay so with missing="keep".
    """
    where = f"in {', '.join(map(repr, task.scores[:SHOWN]))}{', …' if len(task.scores) > SHOWN else ''}"
    begin = f"{wrong.many} of {wrong.total} rows"
    if wrong.kind == "missing":
        return MissingValuesError(
            f"{begin} have a score that is missing, NaN or infinite {where} ({rows(wrong)}); fill them in, or let what "
            'is missing stay so with missing="keep".'
        )
    if wrong.kind == "outside":
        return NotAProbabilityError(
            f"{begin} have a score outside [0, 1] {where} ({rows(wrong)}), but this map was made for probabilities; "
            "give those, or fit a map on scores of this kind."
        )
    return ShapeError(f"{begin} give probability 0 to every class {where} ({rows(wrong)}); leave them out.")


def rows(wrong: Wrong) -> str:
    """Which rows, as words.

    >>> rows(Wrong("missing", 1, 9, [4]))
    'row 4, counted from 1'
    """
    named = ", ".join(map(str, wrong.first))
    more = f" and {wrong.many - len(wrong.first)} more" if wrong.many > len(wrong.first) else ""
    return f"row{'s' if wrong.many > 1 else ''} {named}{more}, counted from 1"
