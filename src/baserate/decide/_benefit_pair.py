"""How much more one model is worth than another, on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._errors import EmptyDataError, OptionError, UnknownNameError
from baserate._results import Results
from baserate._rows import Rows
from baserate._tally import Tally
from baserate.decide._benefit import checked_thresholds
from baserate.infer import CellSample, EstimateRequest, LinearCell, combine_cell_bounds
from baserate.measure import check_probabilities, header, joined, odds

Places = npt.NDArray[np.intp]

_HOW = "Wilson or Clopper–Pearson of what one model alone flags, added in quadrature with their correlations"
_CELLS = list(product((True, False), (True, False)))
"""Positives and negatives; flagged by the first model alone, or by the second alone."""


def benefit_difference(
    rows: Rows, *, models: Sequence[str] | None = None, thresholds: npt.ArrayLike | None = None, level: float = 0.95
) -> Results:
    r"""Tabulate how much more net benefit each model has than each that comes after it, with a paired interval.

    Only rows that one model flags and the other does not matter: with :math:`w=p_t/(1-p_t)` the `difference` is
    :math:`[(b_1-c_1)-w(b_0-c_0)]/n`, where b are flagged by the first alone, c by the second alone, and 1 and 0 are the
    true classes. Bounds of the four shares of one sample are added with their correlations [@zou2008]; in 135 cases
    with 50 to 1000 rows that covers at least 94.9 % of the promised 95, and more where few rows differ. `tp_rate` and
    `fp_rate` are differences, too, of shares of everybody. Thresholds are as in `benefit`. In groups, everybody comes
    first.

    >>> from baserate import read
    >>> table = {"sick": [1, 0, 1, 0], "new": [0.9, 0.3, 0.7, 0.1], "old": [0.9, 0.6, 0.4, 0.1]}
    >>> rows = read.rows(table, truth="sick", score=["new", "old"])
    >>> [round(row["difference"], 3) for row in benefit_difference(rows, thresholds=[0.2, 0.5]).rows()]
    [0.0, 0.5]
    """
    _check(rows)
    at = checked_thresholds(thresholds)
    EstimateRequest(level)
    pairs = list(combinations(_chosen(rows, models), 2))
    parts = [
        {"model": [first] * len(at), "against": [second] * len(at), "group": [group] * len(at)}
        | _columns(here, (first, second), at, level)
        for group, here in _each(rows)
        for first, second in pairs
    ]
    columns = {name: joined([part[name] for part in parts]) for name in parts[0]}
    return Results(columns, header(rows.tallies(), []) | {"level": level})


def _check(rows: object) -> None:
    if not isinstance(rows, Rows):
        raise OptionError(f"{type(rows).__name__} is not Rows; read them first, with baserate.read.rows(…).")
    if rows.cluster is not None:
        raise OptionError(
            "these rows are in clusters, which this interval does not know; infer.compare does, at one threshold."
        )
    if not len(rows):
        raise EmptyDataError("there are no rows to compare models on; give some.")


def _chosen(rows: Rows, models: Sequence[str] | None) -> list[str]:
    """Names of two or more models, each once."""
    names = list(dict.fromkeys(rows.score if models is None else models))
    unknown = [name for name in names if name not in rows.score]
    if unknown:
        raise UnknownNameError(f"there is no model {unknown[0]!r}; there are: {', '.join(rows.score)}.")
    if len(names) < 2:
        raise OptionError(
            f"a difference needs two models, but there is only {', '.join(names) or 'none'}; name another."
        )
    return names


def _each(rows: Rows) -> Iterator[tuple[dict[str, object] | None, Rows]]:
    """Everybody, then each group."""
    yield None, rows
    if rows.attributes:
        for number, group in enumerate(rows.groups):
            yield dict(zip(rows.attributes, group, strict=True)), rows.only(rows.group == number)


def _columns(rows: Rows, pair: tuple[str, str], at: Floats, level: float) -> dict[str, Any]:
    for name in pair:
        check_probabilities(Tally.of_rows(rows.truth, rows.score[name]))
    mass, squares = _weights(rows)
    first, second = (np.searchsorted(at, rows.score[name], side="right") for name in pair)
    weight = odds(at)
    cells = []
    for positive, by_first in _CELLS:
        more, less = (first, second) if by_first else (second, first)
        there = (rows.truth == positive) & (more > less)
        summed, squared = _between(more[there], less[there], [mass[there], squares[there]], len(at))
        factor = (1.0 if by_first else -1.0) * (np.ones(len(at)) if positive else -weight)
        cells.append(LinearCell(summed, squared, factor))
    total = float(mass.sum())
    low, high = combine_cell_bounds([CellSample(total, float(squares.sum()), cells)], level)
    only_first, only_second, false_first, false_second = (cell.mass / total for cell in cells)
    value = only_first - only_second - weight * (false_first - false_second)
    found = {"threshold": at, "difference": value, "low": np.minimum(low, value), "high": np.maximum(high, value)}
    found |= {"tp_rate": only_first - only_second, "fp_rate": false_first - false_second}
    return found | {"level": [level] * len(at), "how": [_HOW] * len(at), "why": [None] * len(at)}


def _weights(rows: Rows) -> tuple[Floats, Floats]:
    """Mass and squared weight of each row; a count is so many rows."""
    count = np.ones(len(rows)) if rows.count is None else rows.count.astype(np.float64)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    return count * weight, count * weight * weight


def _between(more: Places, less: Places, sums: Sequence[Floats], size: int) -> list[Floats]:
    """Sums at each threshold over rows that one model flags up to `more` thresholds, and the other up to `less`."""

    def running(weights: Floats | None) -> Any:  # noqa: ANN401  (whole numbers without weights)
        starts, ends = (np.bincount(place, weights=weights, minlength=size + 1) for place in (less, more))
        return np.cumsum(starts - ends)[:size]

    # Where the last row has left, rounding must leave nothing behind.
    there = running(None) > 0
    return [np.where(there, running(each), 0.0) for each in sums]
