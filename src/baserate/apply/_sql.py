"""A map as one expression of SQL, for the warehouse that holds the scores."""

from __future__ import annotations

from baserate._class_map import ClassMap
from baserate._forms import Knots, Steps
from baserate._map import Map
from baserate.apply._formulas import class_formulas, fits, formula, number
from baserate.apply._pieces import Pieces, pieces
from baserate.apply._task import Scores, columns


def as_sql(map_: Map | ClassMap, /, *, score: Scores | None = None) -> str | dict[str, str]:
    """Write a map as an expression of SQL; of several classes, one for each.

    It is NULL where a score is missing or cannot be mapped. It uses ``CASE``, ``ln``, ``exp``, ``least`` and
    ``greatest``, which DuckDB, PostgreSQL, MySQL, Snowflake, BigQuery and Spark know; numbers have all their digits and
    an exponent, so that they are doubles.

    Parameters
    ----------
    map_
        A map of two classes or of several.
    score
        Name of the column of scores; of several classes, one for each, in their order or by their names. Without it,
        those that the map was fitted on.

    Examples
    --------
    >>> from baserate._forms import Steps
    >>> import numpy as np
    >>> print(as_sql(Map(Steps(np.array([0.5]), np.array([0.1, 0.7])), method="bins"), score="risk"))
    CASE WHEN "risk" BETWEEN (-1.7976931348623157e+308) AND 1.7976931348623157e+308
    THEN CASE WHEN "risk" < 0.5e0 THEN 0.1e0 ELSE 0.7e0 END END
    """
    names = ['"' + name.replace('"', '""') + '"' for name in columns(map_, score)]
    if isinstance(map_, Map):
        return _guarded(fits(map_.form, names), formula(map_.form, names[0], cases))
    found = class_formulas(map_.form, names, cases)
    return {label: _guarded(fits(map_.form, names), each) for label, each in zip(map_.labels, found, strict=True)}


def cases(form: Knots | Steps, score: str) -> str:
    """Pieces as nested cases, halved at each: the deepest lies as deep as a binary search goes."""
    return _halved(pieces(form), score, 0, len(form.x))


def _halved(of: Pieces, score: str, first: int, last: int) -> str:
    """Pieces from the first to the last."""
    if first == last:
        value = number(of.value[first])
        if not of.slope[first]:
            return value
        return f"{value} + {number(of.slope[first])} * ({score} - {number(of.start[first])})"
    middle = (first + last + 1) // 2
    low, high = _halved(of, score, first, middle - 1), _halved(of, score, middle, last)
    return f"CASE WHEN {score} < {number(of.at[middle - 1])} THEN {low} ELSE {high} END"


def _guarded(fit: str, found: str) -> str:
    return f"CASE WHEN {fit} THEN {found} END"
