"""The best cut-off among those that keep what is required."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Bools, Floats
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import InfeasibleError, OptionError
from baserate.decide._points import objective
from baserate.decide._requirements import Requirement, requirements
from baserate.decide._rule import (
    infinitely_good,
    may_be_infinite,
    no_best,
    rule,
    skipped_note,
    strictest,
    threshold_at,
)
from baserate.measure import Measure, about, settings_notes, settings_of

_DEFAULT = "youden"


class _Goal(NamedTuple):
    measure: Measure
    sign: float


def _along(curve: Curve, wanted: tuple[Requirement, ...], goal: _Goal) -> tuple[Bools, Floats]:
    """Whether each threshold keeps all requirements, strictest first, and what it is worth by the objective."""
    met, worth = np.ones(len(curve.tally.score) + 1, dtype=np.bool_), np.empty(len(curve.tally.score) + 1)
    for place, counts in curve.blocks():
        worth[place] = goal.sign * goal.measure(counts)
        for each in wanted:
            met[place] &= each.met(counts)
    return met, worth


def _notes(
    curve: Curve,
    _cut: Cut,
    require: Any,  # noqa: ANN401
    maximize: str | Measure | None = None,
    minimize: str | Measure | None = None,
) -> Iterator[str]:
    goal = _goal(maximize, minimize)
    wanted = requirements(require, of_decisions=True)
    yield from settings_notes(settings_of([goal.measure, *(each.measure for each in wanted)]))
    if may_be_infinite(goal.measure, "high" if goal.sign > 0 else "low"):
        met, worth = _along(curve, wanted, goal)
        yield from skipped_note(goal.measure, infinitely_good(worth[met]))


@rule(notes=_notes)
def require(
    curve: Curve,
    require: Any,  # noqa: ANN401  (text, a requirement, or several of either)
    *,
    maximize: str | Measure | None = None,
    minimize: str | Measure | None = None,
) -> Cut:
    """Flag where an objective is best among the thresholds that keep all requirements.

    `require` is text such as "specificity >= 0.9, precision >= 0.3", or requirements; the objective is any measure of
    the 2×2 table, otherwise Youden's index. A measure that is undefined at a threshold is not kept there, and an
    objective that is infinite does not win: a note says how many thresholds were skipped for that. If no threshold
    keeps all of them, the error says which cannot be met, and the nearest that can.

    >>> from baserate import curve, decide, tally
    >>> truth = [1, 1, 1, 0, 1, 0, 0, 1] + [0, 0, 0, 1] + [0] * 8
    >>> c = curve(tally(truth, [1 - i / 20 for i in range(20)]))
    >>> decide.require(c, "specificity >= 0.9", maximize="sensitivity").threshold
    0.8
    """
    wanted = requirements(require, of_decisions=True)
    if not wanted:
        raise OptionError('nothing is required; give requirements, such as "specificity >= 0.9".')
    goal = _goal(maximize, minimize)
    met, worth = _along(curve, wanted, goal)
    if not met.any():
        raise InfeasibleError(_nearest(curve, wanted))
    at = strictest(np.where(met, worth, np.nan))
    if at is None:
        raise no_best(goal.measure, curve, worth[met])
    return Cut((threshold_at(curve, at),))


def _goal(maximize: str | Measure | None, minimize: str | Measure | None) -> _Goal:
    if maximize is not None and minimize is not None:
        raise OptionError("give one objective: maximize or minimize.")
    if minimize is not None:
        return _Goal(objective(minimize, "low")[0], -1.0)
    return _Goal(objective(maximize or _DEFAULT, "high")[0], 1.0)


def _nearest(curve: Curve, wanted: tuple[Requirement, ...]) -> str:
    """Say which requirements cannot be met, alone or together, and what comes nearest."""
    counts = curve.counts
    values = [np.asarray(each.measure(counts)) for each in wanted]
    alone = [each.kept(value) for each, value in zip(wanted, values, strict=True)]
    told = partial(_reached, curve)
    hopeless = [
        f"no threshold has {each}: {told(each, value, np.isfinite(value))}"
        for each, value, kept in zip(wanted, values, alone, strict=True)
        if not kept.any()
    ]
    if hopeless:
        return f"{'; '.join(hopeless)}. Ask for less of {'it' if len(hopeless) == 1 else 'them'}."
    listed = " and ".join(map(str, wanted))
    parts = []
    for at, each in enumerate(wanted):
        others = [kept for place, kept in enumerate(alone) if place != at]
        rest = " and ".join(str(other) for place, other in enumerate(wanted) if place != at)
        there = np.logical_and.reduce(others) & np.isfinite(values[at])
        if there.any():
            parts.append(f"with {rest}, {told(each, values[at], there)}")
    if not parts:
        return f"no threshold has {listed}, nor all but one of them. Ask for less."
    return f"no threshold has {listed}: {'; '.join(parts)}. Ask for less of one of them."


def _reached(curve: Curve, each: Requirement, value: Floats, there: Bools) -> str:
    """The nearest to a bound that there is among some thresholds."""
    if not there.any():
        return f"{about(each.measure).name} is undefined everywhere"
    sign = 1.0 if each.sense == ">=" else -1.0
    at = strictest(np.where(there, sign * value, np.nan))
    assert at is not None  # noqa: S101  (for the type checker)
    most = "most" if each.sense == ">=" else "least"
    return f"{each.name} is {float(value[at]):.6g} at {most}, at {threshold_at(curve, at):.6g}"
