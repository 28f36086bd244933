"""Where the ROC curves of two groups cross, and what it means to decide there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._curve import Curve, Mixture
from baserate._cut import Cut, Treatment
from baserate._errors import InfeasibleError, OptionError
from baserate._policy import REFUSE, Policy
from baserate.decide import both_classes, check_curve, strictest
from baserate.equalize._goal import Goal
from baserate.equalize._optimum import regions_of
from baserate.equalize._people import Groups, people_of
from baserate.equalize._region import CLOSE, lottery, roc
from baserate.equalize._solve import least_cost, total

RULE = "crossing"
Ends = tuple[float, float]
"""The least and the greatest score."""


@dataclass(frozen=True, slots=True, eq=False)
class Crossing:
    """A point of ROC space that two groups share, and the thresholds by which each of them has it."""

    fpr: float
    tpr: float
    first: Mixture[float]
    second: Mixture[float]
    ends: tuple[Ends, Ends]
    """The least and the greatest score of the first group, and of the second."""

    @property
    def thresholds(self) -> tuple[float, float]:
        """Its places on the scales of both groups: as far from the strict to the lax threshold as the chance of it."""
        (_, top), (_, other) = self.ends
        return _place(self.first, top), _place(self.second, other)

    @property
    def h(self) -> Scale:
        """The second group's scores on the scale of the first, on which one threshold serves both.

        It takes the place of the second group to that of the first, and the least and the greatest score to the least
        and the greatest. Where the crossing is at such an end of the first scale, what is beyond it stays as far away.
        """
        (low, high), (least, greatest) = self.ends
        here, there = self.thresholds
        below = low if low < here else here - (there - least)
        above = high if high > here else here + (greatest - there)
        knots = {least: below, greatest: above, there: here}
        return Scale(tuple(sorted(knots)), tuple(knots[at] for at in sorted(knots)))


@dataclass(frozen=True, slots=True)
class Scale:
    """Scores of one group on the scale of another: straight between knots, and beyond them as far off as before.

    >>> Scale((0.0, 0.4, 1.0), (0.0, 0.6, 1.0))(np.array([-1.0, 0.2, 0.4, 0.7, 2.0])).round(9).tolist()
    [-1.0, 0.3, 0.6, 0.8, 2.0]
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __call__(self, score: npt.ArrayLike) -> Floats:
        """Scores on the other scale."""
        given = np.asarray(score, dtype=np.float64)
        beyond = np.minimum(given - self.x[0], 0.0) + np.maximum(given - self.x[-1], 0.0)
        found: Floats = np.interp(given, self.x, self.y) + beyond
        return found


def crossings(first: Curve, second: Curve, *, hull: bool = False) -> tuple[Crossing, ...]:
    """Find all points between (0, 0) and (1, 1) in which two ROC curves cross, from left to right.

    A curve goes straight from each threshold to the next; with `hull` it is the upper hull of that. To cross is to get
    to the other side: curves that only touch do not. Where two run along together and part to other sides than they
    came from, they cross once, in the strictest point that they share. Both curves always rise or go right, so that
    each has one point on every line FPR + TPR = s, and what matters is when the order of these two points changes.

    >>> from baserate import curve, tally
    >>> f = curve(tally([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 1, 0, 0, 1, 0], [0.8, 0.7, 0.6, 0.5, 0.3, 0.1]))
    >>> [(round(each.fpr, 4), round(each.tpr, 4), each.thresholds) for each in crossings(f, m)]
    [(0.3333, 0.6667, (0.7, 0.6))]
    """
    for curve in (first, second):
        check_curve(curve)
        both_classes(curve, "a ROC curve")
    one, other = (_Path(curve.hull() if hull else curve) for curve in (first, second))
    ends = _ends(first), _ends(second)
    along = np.unique(np.concatenate([one.along, other.along]))
    places = _changes(along, one.across(along) - other.across(along)).tolist()
    return tuple(Crossing(*one.point(at), one.mixture(at), other.mixture(at), ends) for at in places)


def crossing(groups: Groups, goal: Goal, *, model: str | None = None, otherwise: str = REFUSE) -> Policy:
    """Decide where the ROC curves of two groups cross, or their hulls: at the cheapest crossing, by lots.

    There both groups have the same true and false positive rate, so that equalized odds hold exactly, whatever the goal
    allows; it gives the costs and the prevalence. `settings` hold what a case is expected to cost (`cost`), what it
    would at the best point that both groups can have (`bound`), how much more that is (`above`), the places of the
    crossing on both scales (`thresholds`), and knots that put the second group's scores on the scale of the first
    (`scale`). Groups are as in `optimum`.

    >>> from baserate import curve, equalize, tally
    >>> f = curve(tally([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 1, 0, 0, 1, 0], [0.8, 0.7, 0.6, 0.5, 0.3, 0.1]))
    >>> policy = equalize.crossing({"f": f, "m": m}, equalize.Goal("equalized-odds"))
    >>> [round(policy.settings[name], 4) for name in ("cost", "bound", "above")]
    [0.2222, 0.2222, 0.0]
    >>> [round(chance, 4) for chance in policy.by_group["f",].chances]
    [0.3333, 0.6667]
    """
    if "flag_rate" in goal.rates:
        raise OptionError("where curves cross, odds are equal but flag rates are not; choose by equalize.optimum.")
    exactly = replace(goal, parity="equalized-odds", within=0.0)
    people = people_of(groups, exactly, model=model, otherwise=otherwise)
    regions = regions_of(people)
    if len(regions) != 2:
        raise OptionError(f"curves of two groups cross, and {len(regions)} take part here; choose by equalize.optimum.")
    found = _all(*people.curves.values())
    several = [*regions.values()]
    costs = [total(several, np.array([[each.fpr, each.tpr]] * 2), goal.costs) for each in found]
    at = strictest(-np.array(costs)) or 0
    # What the optimum costs may be above it by rounding.
    bound = min(least_cost(several, exactly.tolerances, goal.costs), costs[at])
    told = {"cost": costs[at], "bound": bound, "above": costs[at] - bound, "thresholds": found[at].thresholds}
    told["scale"] = [*zip(found[at].h.x, found[at].h.y, strict=True)]
    treatments = map(_treatment, (found[at].first, found[at].second))
    return people.policy(dict(zip(regions, treatments, strict=True)), rule=RULE, settings=told)


def _all(first: Curve, second: Curve) -> list[Crossing]:
    """Crossings of curves and of hulls, strictest first."""
    found = [each for hull in (False, True) for each in crossings(first, second, hull=hull)]
    if not found:
        raise InfeasibleError(
            "the ROC curves of the two groups do not cross, nor do their hulls; take equalize.optimum."
        )
    return sorted(found, key=lambda each: each.fpr + each.tpr)


class _Path:
    """A curve by how far it has come: the sum of both rates, which always grows."""

    def __init__(self, curve: Curve) -> None:
        false, true = roc(curve)
        along = false + true
        moved = np.append(True, along[1:] > along[:-1])
        self.threshold = curve.threshold[moved]
        self.false, self.true, self.along = false[moved], true[moved], along[moved]

    def across(self, along: Floats) -> Floats:
        """How far it is from the diagonal, up and left."""
        found: Floats = np.interp(along, self.along, self.true - self.false)
        return found

    def mixture(self, at: float) -> Mixture[float]:
        """Return the thresholds that reach so far; what is at a threshold is the lax one for certain."""
        lax, chance = self._part(at)
        return Mixture(float(self.threshold[lax - 1]), float(self.threshold[lax]), chance)

    def point(self, at: float) -> tuple[float, float]:
        """False and true positive rate so far along."""
        lax, chance = self._part(at)
        false, true = ((1 - chance) * each[lax - 1] + chance * each[lax] for each in (self.false, self.true))
        return float(false), float(true)

    def _part(self, at: float) -> tuple[int, float]:
        lax = max(int(np.searchsorted(self.along, at - CLOSE)), 1)
        start, stop = self.along[lax - 1 : lax + 1].tolist()
        return lax, 1.0 if stop - at <= CLOSE else (at - start) / (stop - start)


def _changes(along: Floats, apart: Floats) -> Floats:
    """Where a line that is straight between given places gets to the other side of 0; of a stretch at 0, its start."""
    off = np.flatnonzero(np.abs(apart) > CLOSE)
    before, after = off[:-1], off[1:]
    turned = np.signbit(apart[before]) != np.signbit(apart[after])
    before, after = before[turned], after[turned]
    part = apart[before] / (apart[before] - apart[after])
    between = along[before] + part * (along[after] - along[before])
    found: Floats = np.where(after == before + 1, between, along[before + 1])
    return found


def _ends(curve: Curve) -> Ends:
    return float(curve.tally.score[-1]), float(curve.tally.score[0])


def _place(mixture: Mixture[float], top: float) -> float:
    strict = min(mixture.strict, top)
    between = (1 - mixture.chance) * strict + mixture.chance * mixture.lax
    return min(max(between, mixture.lax), strict)


def _treatment(mixture: Mixture[float]) -> Treatment:
    cuts = [Cut((mixture.strict,)), Cut((mixture.lax,))]
    return lottery(cuts, np.array([1 - mixture.chance, mixture.chance]))
