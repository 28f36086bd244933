"""ROC crossings: where the ROC curves of two groups cross, and the policy that decides there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._curve import Curve, Mixture
from baserate._cut import Cut, Treatment
from baserate._errors import InfeasibleError, OptionError
from baserate._policy import REFUSE, Policy
from baserate.decide import check_curve, require_both_classes, strictest_maximum
from baserate.equalize._optimum import ROC_TOLERANCE, least_cost, randomize_cuts, roc_rates, roc_regions, total_cost
from baserate.equalize._parities import Goal
from baserate.equalize._participants import Groups, select_participants

RULE = "crossing"
Ends = tuple[float, float]
"""Least and greatest score."""


@dataclass(frozen=True, slots=True, eq=False)
class RocCrossing:
    """Point of ROC space that two groups share, and the mixture of thresholds by which each reaches it."""

    fpr: float
    tpr: float
    first: Mixture[float]
    second: Mixture[float]
    ends: tuple[Ends, Ends]
    """The least and the greatest score of the first group, and of the second."""

    @property
    def thresholds(self) -> tuple[float, float]:
        """Threshold of each group at the crossing: the strict and the lax one, averaged by their probabilities."""
        (_, top), (_, other) = self.ends
        return _mean_threshold(self.first, top), _mean_threshold(self.second, other)

    @property
    def scale(self) -> ScoreScale:
        """Transformation of the second group's scores to the scale of the first, on which one threshold serves both.

        It maps the threshold of the second group to that of the first, and the ends of the second scale to those of the
        first. If the crossing is at an end of the first scale, scores beyond it keep their distance.
        """
        (low, high), (least, greatest) = self.ends
        first_threshold, second_threshold = self.thresholds
        below = low if low < first_threshold else first_threshold - (second_threshold - least)
        above = high if high > first_threshold else first_threshold + (greatest - second_threshold)
        knots = {least: below, greatest: above, second_threshold: first_threshold}
        return ScoreScale(tuple(sorted(knots)), tuple(knots[at] for at in sorted(knots)))


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Piecewise linear transformation of scores of one group to the scale of another; beyond the knots it is a shift.

    Parameters
    ----------
    x
        Knots on the original scale, ascending.
    y
        Knots on the other scale.

    Examples
    --------
    >>> ScoreScale((0.0, 0.4, 1.0), (0.0, 0.6, 1.0))(np.array([-1.0, 0.2, 0.4, 0.7, 2.0])).round(9).tolist()
    [-1.0, 0.3, 0.6, 0.8, 2.0]
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __call__(self, score: npt.ArrayLike) -> Floats:
        """Scores on the other scale."""
        scores = np.asarray(score, dtype=np.float64)
        beyond = np.minimum(scores - self.x[0], 0.0) + np.maximum(scores - self.x[-1], 0.0)
        rescaled: Floats = np.interp(scores, self.x, self.y) + beyond
        return rescaled


def roc_crossings(first: Curve, second: Curve, *, hull: bool = False) -> tuple[RocCrossing, ...]:
    """Find all points between (0, 0) and (1, 1) where two ROC curves cross, from left to right.

    To cross is to change sides; curves that only touch do not cross. Curves that coincide for a while and then part to
    other sides cross once, at the strictest point that they share. Both curves are monotone, so each has one point on
    every line FPR + TPR = s, and a crossing is a change of order of these points.

    Parameters
    ----------
    first, second
        Curves of two groups, each with both classes.
    hull
        Whether to use the convex hulls of the curves.

    Returns
    -------
    tuple of Crossing
        Crossings, strictest first.

    Examples
    --------
    >>> from baserate import curve, tally
    >>> f = curve(tally([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 1, 0, 0, 1, 0], [0.8, 0.7, 0.6, 0.5, 0.3, 0.1]))
    >>> [(round(each.fpr, 4), round(each.tpr, 4), each.thresholds) for each in roc_crossings(f, m)]
    [(0.3333, 0.6667, (0.7, 0.6))]
    """
    for curve in (first, second):
        check_curve(curve)
        require_both_classes(curve, "a ROC curve")
    one, other = (_RocPath(curve.hull() if hull else curve) for curve in (first, second))
    ends = _score_range(first), _score_range(second)
    along = np.unique(np.concatenate([one.along, other.along]))
    places = _sign_changes(along, one.across(along) - other.across(along)).tolist()
    return tuple(RocCrossing(*one.point(at), one.mixture(at), other.mixture(at), ends) for at in places)


def choose_roc_crossing(groups: Groups, goal: Goal, *, model: str | None = None, otherwise: str = REFUSE) -> Policy:
    """Choose the cheapest point where the ROC curves of two groups, or their hulls, cross.

    Both groups have the same true and false positive rate there, so equalized odds hold exactly, whatever the
    tolerances of the goal.

    Parameters
    ----------
    groups
        Tallies that were read with two groups, or a mapping from two groups to curves.
    goal
        Costs and prevalence; its parity must not include flag rates.
    model
        Model to use, if the tallies have several.
    otherwise
        Action for groups that lack a class; by default they are an error.

    Returns
    -------
    Policy
        A randomized cut for each group. `settings` contain its `cost`, the cost of the best common point (`bound`), the
        difference (`above`), the `thresholds` of the crossing, and the knots of the transformation of scores (`scale`).

    Raises
    ------
    InfeasibleError
        If neither the curves nor their hulls cross.

    Examples
    --------
    >>> from baserate import curve, equalize, tally
    >>> f = curve(tally([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 1, 0, 0, 1, 0], [0.8, 0.7, 0.6, 0.5, 0.3, 0.1]))
    >>> policy = equalize.choose_roc_crossing({"f": f, "m": m}, equalize.Goal("equalized-odds"))
    >>> [round(policy.settings[name], 4) for name in ("cost", "bound", "above")]
    [0.2222, 0.2222, 0.0]
    >>> [round(chance, 4) for chance in policy.by_group["f",].chances]
    [0.3333, 0.6667]
    """
    if "flag_rate" in goal.rates:
        raise OptionError(
            "where curves cross, odds are equal but flag rates are not", remedy="choose by equalize.optimal_policy."
        )
    exactly = replace(goal, parity="equalized-odds", within=0.0)
    participants = select_participants(groups, exactly, model=model, otherwise=otherwise)
    regions = roc_regions(participants)
    if len(regions) != 2:
        raise OptionError(
            f"curves of two groups cross, and {len(regions)} take part here",
            remedy="choose by equalize.optimal_policy.",
        )
    candidates = _all_crossings(*participants.curves.values())
    several = [*regions.values()]
    costs = [total_cost(several, np.array([[each.fpr, each.tpr]] * 2), goal.costs) for each in candidates]
    at = strictest_maximum(-np.array(costs)) or 0
    # Rounding may put the computed optimum above the cost of the crossing.
    bound = min(least_cost(several, exactly.tolerances, goal.costs), costs[at])
    settings = {"cost": costs[at], "bound": bound, "above": costs[at] - bound, "thresholds": candidates[at].thresholds}
    settings["scale"] = [*zip(candidates[at].scale.x, candidates[at].scale.y, strict=True)]
    treatments = map(_randomized_treatment, (candidates[at].first, candidates[at].second))
    return participants.policy(dict(zip(regions, treatments, strict=True)), rule=RULE, settings=settings)


def _all_crossings(first: Curve, second: Curve) -> list[RocCrossing]:
    """List the crossings of curves and of hulls, strictest first."""
    crossings_found = [each for hull in (False, True) for each in roc_crossings(first, second, hull=hull)]
    if not crossings_found:
        raise InfeasibleError(
            "the ROC curves of the two groups do not cross, nor do their hulls", remedy="take equalize.optimal_policy."
        )
    return sorted(crossings_found, key=lambda each: each.fpr + each.tpr)


class _RocPath:
    """ROC curve parametrized by FPR + TPR, which always grows along it."""

    def __init__(self, curve: Curve) -> None:
        false, true = roc_rates(curve)
        along = false + true
        # Thresholds without mass repeat a point; interpolation needs strictly increasing positions.
        advances = np.append(True, along[1:] > along[:-1])
        self.threshold = curve.threshold[advances]
        self.false, self.true, self.along = false[advances], true[advances], along[advances]

    def across(self, along: Floats) -> Floats:
        """Return the distance from the diagonal, TPR − FPR."""
        distance: Floats = np.interp(along, self.along, self.true - self.false)
        return distance

    def mixture(self, at: float) -> Mixture[float]:
        """Return the mixture of thresholds that reaches a point; at a threshold it is that threshold with certainty."""
        lax, chance = self._part(at)
        return Mixture(float(self.threshold[lax - 1]), float(self.threshold[lax]), chance)

    def point(self, at: float) -> tuple[float, float]:
        """Return FPR and TPR of a point."""
        lax, chance = self._part(at)
        false, true = ((1 - chance) * each[lax - 1] + chance * each[lax] for each in (self.false, self.true))
        return float(false), float(true)

    def _part(self, at: float) -> tuple[int, float]:
        """Return the index of the lax threshold of a point, and its probability."""
        lax = max(int(np.searchsorted(self.along, at - ROC_TOLERANCE)), 1)
        start, stop = self.along[lax - 1 : lax + 1].tolist()
        return lax, 1.0 if stop - at <= ROC_TOLERANCE else (at - start) / (stop - start)


def _sign_changes(along: Floats, difference: Floats) -> Floats:
    """Find where a piecewise linear function changes sign; on a stretch of zeros, at its start."""
    off = np.flatnonzero(np.abs(difference) > ROC_TOLERANCE)
    before, after = off[:-1], off[1:]
    turned = np.signbit(difference[before]) != np.signbit(difference[after])
    before, after = before[turned], after[turned]
    part = difference[before] / (difference[before] - difference[after])
    between = along[before] + part * (along[after] - along[before])
    changes: Floats = np.where(after == before + 1, between, along[before + 1])
    return changes


def _score_range(curve: Curve) -> Ends:
    return float(curve.tally.score[-1]), float(curve.tally.score[0])


def _mean_threshold(mixture: Mixture[float], top: float) -> float:
    strict = min(mixture.strict, top)
    between = (1 - mixture.chance) * strict + mixture.chance * mixture.lax
    return min(max(between, mixture.lax), strict)


def _randomized_treatment(mixture: Mixture[float]) -> Treatment:
    cuts = [Cut((mixture.strict,)), Cut((mixture.lax,))]
    return randomize_cuts(cuts, np.array([1 - mixture.chance, mixture.chance]))
