"""Groups side by side: the table, the differences and the gaps in one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from baserate._results import Results
from baserate._tally import Tallies
from baserate.equalize import _differences, _gaps, _table
from baserate.equalize._eligibility import MIN_SIZE, Reference, check_min_size, exclusion_notes, find_reference
from baserate.equalize._seen import Decided, Row, view
from baserate.infer import Interval, checked_draws
from baserate.measure import Measure

COLUMNS = tuple(dict.fromkeys(("table", *_table.COLUMNS, *_differences.COLUMNS, *_gaps.COLUMNS)))


def groups(  # noqa: PLR0913  (all but the first are seldom given)
    tallies: Tallies,
    *,
    decided: Decided = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    interval: Interval = Interval(),  # noqa: B008  (it is immutable)
    draws: int = _gaps.DRAWS,
    reference: Reference = None,
    min_size: int = MIN_SIZE,
) -> Results:
    """Compare groups: measures of each, differences from a reference group, and how far they lie apart in all.

    The column `table` tells what a row is: "group" (see `group_table`), "difference" (see `differences`) or "gap" (see
    `gaps`). `reference` and `min_size` are those of `differences`: by default, the largest group and 30 rows on which a
    measure rests. It says how groups differ, not whether that is right.

    >>> from baserate import equalize, read
    >>> people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> found = equalize.groups(t, measures=["flag_rate"], draws=100, min_size=1).rows()
    >>> [(row["table"], row["group"], row["value"]) for row in found if row["kind"] in (None, "max_difference")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('group', None, 0.5), ('group', {'sex': 'f'}, 1.0), ('group', {'sex': 'm'}, 0.0),
     ('difference', {'sex': 'm'}, -1.0), ('gap', {'sex': 'f'}, 1.0)]
    """
    checked_draws(draws)
    seen = view(tallies, decided, measures, by)
    size, other = check_min_size(min_size), find_reference(seen, reference)
    spreads = _gaps.spread(seen, interval, draws, size)
    tables: dict[str, Iterable[Row]] = {
        "group": _table.table_rows(seen, interval, size),
        "difference": _differences.difference_rows(seen, interval, other, size),
        "gap": _gaps.gap_rows(seen, spreads),
    }
    rows = [{"table": name, **row} for name, each in tables.items() for row in each]
    notes = [*exclusion_notes(seen, size), *_gaps.gap_notes(seen, spreads)]
    found = seen.results(COLUMNS, rows, notes, interval)
    data = {**found.data, "draws": draws, "reference": seen.named(other), "min_size": size}
    return Results(found.columns, data)
