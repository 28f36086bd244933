"""What curves of ranks share: the curve or its band, labels as points, and marks on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import OptionError
from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide import both_classes
from baserate.draw._data import Mixed, apart, called
from baserate.draw._marks import Policies, Thresholds, marks
from baserate.infer import Interval, bands, summary
from baserate.measure import TABLES, Measure, curves, named
from baserate.shift import reweigh

POINTS = 1000
"""Points of a line: more than a page can show."""
Banded = bool | Literal["simultaneous"]
_MIDDLE = 0.5
_NEAR = 1e-12
"""Prevalences that differ by less are one."""


class Asked(NamedTuple):
    """Which curve, what is said of its doubt, and what is marked on it."""

    what: str
    band: Banded = False
    level: float = 0.95
    threshold: Thresholds | None = None
    policy: Policies | None = None


class Given(NamedTuple):
    """Models with scores, and those that give labels alone; at least one of both."""

    scored: Tallies | None
    labels: Tallies | None

    @property
    def curves(self) -> dict[str, Curve]:
        """All of them by name, everybody together; labels are a curve of one point."""
        return {model: Curve(each.pooled(model)) for each in self if each is not None for model in each.models}

    @property
    def prevalence(self) -> float | None:
        """The prevalence at which all of them were measured, if there is one."""
        shares = [each.tally.prevalence for each in self.curves.values()]
        return shares[0] if max(shares) - min(shares) <= _NEAR else None


def given(data: Mixed, what: str, *, prevalence: float | None = None) -> Given:
    """See that there is something to draw `what` of, at a prevalence if one is stated."""
    found = Given(*apart(data))
    for each in found.curves.values():
        both_classes(each, what)
    if prevalence is None:
        return found
    return Given(*(None if each is None else reweigh(each, to=prevalence) for each in found))


def parts_of(found: Given, asked: Asked) -> dict[str, Results]:
    """Tabulate the curve of models with scores, the points of labels, and marks, as far as there are any."""
    axes = TABLES[asked.what]
    parts = {}
    if found.scored is not None:
        parts["curve"] = tabled(found.scored, asked.what, band=asked.band, level=asked.level)
    if found.labels is not None:
        parts["points"] = measured(_points(found.labels), *axes)
    if asked.threshold is not None or asked.policy is not None:
        if found.scored is None:
            raise OptionError("labels alone have no threshold that could be marked; leave it out, or give scores.")
        parts["marks"] = measured(marks(found.scored, asked.threshold, asked.policy), *axes)
    return parts


def tabled(tallies: Tallies, what: str | Measure, *, band: Banded, level: float, points: int = POINTS) -> Results:
    """Tabulate a curve, with its band if that is asked for."""
    if band not in (False, True, "simultaneous"):
        raise OptionError(f"band is {band!r}; it is True, False or 'simultaneous'.")
    if band is False:
        return curves(tallies, what, points=points)
    return bands(tallies, what, level=level, simultaneous=band == "simultaneous", points=points)


def estimated(found: Given, measure: str, level: float) -> dict[str, Results]:
    """Measure the whole curves, with intervals, where there are any."""
    interval = Interval(level=level)
    return {} if found.scored is None else {measure: summary(found.scored, measures=[measure], interval=interval)}


def measured(found: Results, *names: str) -> Results:
    """Add measures to a table with the four cells."""
    cells = [np.asarray(found.columns[cell], dtype=np.float64) for cell in ("tp", "fp", "fn", "tn")]
    return Results({**found.columns, **{name: named(name)(Counts(*cells)) for name in names}}, found.data)


def references(**lines: Mapping[str, Sequence[Any]]) -> Results:
    """Tabulate lines to compare with, each with its coordinates; a space in a name is written as _."""
    columns: dict[str, list[Any]] = {"name": []}
    for name, line in lines.items():
        for axis, values in line.items():
            columns.setdefault(axis, []).extend(values)
        columns["name"] += [name.replace("_", " ")] * len(next(iter(line.values())))
    return Results(columns)


def _points(labels: Tallies) -> Results:
    found = marks(labels, _MIDDLE, None)
    # The table names a lone model by None; a point is always named.
    names = [called(model, group) for (model, *_), group in zip(labels.walk(), found.columns["group"], strict=True)]
    return Results({**found.columns, "name": names, "threshold": [None] * len(names)}, found.data)
