"""Groups side by side: the table, the differences and the gaps in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from baserate._results import Results
from baserate._tallies import Tallies
from baserate.equalize import _differences, _gaps, _table
from baserate.equalize._seen import Decided, Row, view
from baserate.infer import Interval
from baserate.infer._draws import checked_draws
from baserate.measure import Measure

COLUMNS = tuple(dict.fromkeys(("table", *_table.COLUMNS, *_differences.COLUMNS, *_gaps.COLUMNS)))


def groups(
    tallies: Tallies,
    *,
    decided: Decided = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    interval: Interval = Interval(),  # noqa: B008  (it is immutable)
    draws: int = _gaps.DRAWS,
) -> Results:
    """See how groups are treated: measures of each, differences between any two, and how far they lie apart in all.

    The column `table` tells what a row is: "group" (see `group_table`), "difference" (see `differences`) or "gap" (see
    `gaps`). It says how groups differ, not whether that is right.

    >>> from baserate import equalize, read
    >>> people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> found = equalize.groups(t, measures=["flag_rate"], draws=100).rows()
    >>> [(row["table"], row["group"], row["value"]) for row in found if row["kind"] in (None, "max_difference")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('group', None, 0.5), ('group', {'sex': 'f'}, 1.0), ('group', {'sex': 'm'}, 0.0),
     ('difference', {'sex': 'f'}, 1.0), ('gap', {'sex': 'f'}, 1.0)]
    """
    checked_draws(draws)
    seen = view(tallies, decided, measures, by)
    spreads = _gaps.spread(seen, interval, draws)
    tables: dict[str, Iterable[Row]] = {
        "group": _table.table_rows(seen, interval),
        "difference": _differences.difference_rows(seen, interval),
        "gap": _gaps.gap_rows(seen, spreads),
    }
    rows = [{"table": name, **row} for name, each in tables.items() for row in each]
    notes = [*_differences.difference_notes(seen), *_gaps.gap_notes(seen, spreads)]
    found = seen.results(COLUMNS, rows, notes, interval)
    return Results(found.columns, {**found.data, "draws": draws})
