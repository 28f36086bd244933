"""Every measure of every group, with its interval, its base rate, and what the group can support."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide import Part
from baserate.equalize._eligibility import MIN_SIZE, check_min_size
from baserate.equalize._seen import Decided, Row, View, view
from baserate.equalize._support import supports
from baserate.infer import Interval
from baserate.measure import Measure, about, prevalence, tidy

COLUMNS = (
    *("measure", "model", "group", "value", "low", "high", "level", "how", "why"),
    *("prevalence", "rows", "positives", "negatives", "trials", "detects", "small"),
)


def group_table(
    tallies: Tallies,
    *,
    decided: Decided = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    interval: Interval = Interval(),  # noqa: B008  (it is immutable)
    min_size: int = MIN_SIZE,
) -> Results:
    """Measure everybody (group None) and each group, with intervals; beside each number stands the base rate.

    `decided` is a threshold, or a policy; otherwise it is 0.5 if the scores are probabilities. `measures` are the flag
    rate, sensitivity, FPR, precision and accuracy, or any others by name, also of ranks and probabilities. Groups are
    `by` all attributes that the rows were read with, or by some of them. `trials` are the rows that a number rests on:
    for the sensitivity those that are positive. `detects` is the smallest difference from all others that a group of
    this size would show in four samples of five. `small` marks a group whose number rests on fewer than `min_size`
    rows, or would not show a difference of 0.2. Where a group has none of the rows that a measure is of, the number is
    undefined, and `why` says so.

    >>> from baserate import equalize, read
    >>> people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> found = equalize.group_table(t, measures=["sensitivity"])
    >>> [(row["group"], row["value"], row["trials"], row["small"]) for row in found.rows()]
    [(None, 0.5, 2, False), ({'sex': 'f'}, 1.0, 1, True), ({'sex': 'm'}, 0.0, 1, True)]
    """
    seen = view(tallies, decided, measures, by)
    return seen.results(COLUMNS, table_rows(seen, interval, check_min_size(min_size)), (), interval)


def table_rows(view: View, interval: Interval, min_size: int = MIN_SIZE) -> Iterator[Row]:
    """One row for each model, measure and group, everybody first."""
    for seen in view.seen:
        base = {group: _base(part) for group, part in seen.parts.items()}
        rows = {group: each["rows"] for group, each in base.items()}
        nouns = {of: seen.nouns(of) for of in {about(measure).of for measure in seen.measures}}
        for measure in seen.measures:
            told = about(measure)
            support = supports(measure, nouns[told.of], rows, min_size)
            for group, noun in nouns[told.of].items():
                number = {"measure": told.name, **tidy(interval.of(measure, noun))}
                yield {"model": seen.model, "group": view.named(group), **number, **base[group], **support[group]}


def _base(part: Part) -> Row:
    """How many rows there are, of which class, and the share of positives."""
    positives, negatives = int(part.nobody.rows.fn), int(part.nobody.rows.tn)
    share = float(prevalence(part.nobody))
    return {"prevalence": share, "rows": positives + negatives, "positives": positives, "negatives": negatives}
