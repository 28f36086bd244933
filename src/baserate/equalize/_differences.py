"""How much two groups differ in a measure, and how likely chance alone would give it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from baserate._results import Results
from baserate._tallies import Group, Tallies
from baserate.equalize._seen import Decided, Row, Seen, View, view
from baserate.infer import Comparison, Interval, Question
from baserate.infer._comparing._comparison import Asked, adjusted
from baserate.infer._comparing._unpaired import compared
from baserate.measure import Measure, about
from baserate.measure._summary import tidy

COLUMNS = (*("measure", "model", "group", "other", "value", "low", "high", "level", "p", "adjusted", "how", "why"),)
MOST = 12
"""Groups that are compared two by two: 66 pairs. Of more, each is compared with everybody else."""


class Pair(NamedTuple):
    """Two groups, the second None where it is everybody else, and what is measured of both."""

    group: Group
    other: Group | None
    nouns: list[Any]


def differences(
    tallies: Tallies,
    *,
    decided: Decided = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    interval: Interval = Interval(),  # noqa: B008  (it is immutable)
) -> Results:
    """Compare every pair of groups: the difference of each measure, its interval and a p-value.

    The difference is that of `group` less `other`. Of shares the interval is Newcombe's; other measures are compared as
    by `infer.compare_unpaired`. `p` is of one pair alone; `adjusted` is Holm's, over all pairs of that measure and
    model. More than 12 groups are each compared with everybody else, for which `other` is None. The options are those
    of `group_table`.

    >>> from baserate import equalize, read
    >>> people = {"sick": [1] * 150, "says": [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32, "sex": ["m"] * 70 + ["f"] * 80}
    >>> t = read.tallies(people, truth="sick", predicted="says", group="sex", positive=1)
    >>> row = equalize.differences(t, measures=["sensitivity"]).rows()[0]
    >>> row["group"], row["other"], round(row["value"], 4), round(row["low"], 4), round(row["high"], 4)
    ({'sex': 'f'}, {'sex': 'm'}, -0.2, -0.3339, -0.0524)
    """
    seen = view(tallies, decided, measures, by)
    return seen.results(COLUMNS, difference_rows(seen, interval), difference_notes(seen), interval)


def difference_rows(view: View, interval: Interval) -> Iterator[Row]:
    """One row for each model, measure and pair."""
    question = Question(level=interval.level)
    for seen in view.seen:
        pairs = {of: _pairs(seen, of) for of in {about(measure).of for measure in seen.measures}}
        for measure in seen.measures:
            asked = Asked(measure, question)
            each = pairs[about(measure).of]
            found = adjusted([compared(asked, pair.nouns, seed=interval.seed) for pair in each])
            for pair, one in zip(each, found, strict=True):
                yield {"model": seen.model, **_row(view, pair, one)}


def difference_notes(view: View) -> list[str]:
    """Say with whom groups are compared where there are many."""
    many = len(view.seen[0].groups)
    if many <= MOST:
        return []
    return [f"{many} groups make {many * (many - 1) // 2} pairs; each group is compared with everybody else instead."]


def _pairs(seen: Seen, of: type) -> list[Pair]:
    nouns = seen.nouns(of)
    if len(seen.groups) > MOST:
        return [Pair(group, None, [nouns[group], rest]) for group, rest in seen.rests(of).items()]
    return [Pair(one, other, [nouns[one], nouns[other]]) for one, other in combinations(seen.groups, 2)]


def _row(view: View, pair: Pair, found: Comparison) -> Row:
    return {
        "measure": found.measure,
        "group": view.named(pair.group),
        "other": view.named(pair.other),
        **tidy(found.difference),
        "p": found.p,
        "adjusted": found.adjusted,
        "why": _why(view, pair, found.difference.why),
    }


def _why(view: View, pair: Pair, told: str | None) -> str | None:
    """Say of whom a reason is."""
    if told is None:
        return None
    other = "everybody else" if pair.other is None else view.told(pair.other)
    return told.replace("first: ", f"{view.told(pair.group)}: ").replace("second: ", f"{other}: ")
