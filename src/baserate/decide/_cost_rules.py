"""Rules of least expected cost: one threshold, several actions, and referral of uncertain cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._costs import Costs
from baserate._curve import Curve
from baserate._cut import FLAG, PASS, REFER, Cut
from baserate._errors import OptionError, ShapeError, keyword
from baserate._numeric.cumulative import sliding_argmin
from baserate.decide._rule import (
    RELATIVE_TOLERANCE,
    check_stated_prevalence,
    cost_gains,
    join_actions,
    require_both_classes,
    rule,
    threshold_at,
    threshold_of_greatest_gain,
)

ActionCosts = Mapping[str, tuple[float, float]]
"""Cost of each action for a negative, and for a positive."""


def _note_one_sided_costs(curve: Curve, cut: Cut, costs: Costs, **_: Any) -> Iterator[str]:  # noqa: ANN401
    if costs.fn <= costs.tp:
        yield "a missed positive costs no more than a found one, so flagging saves nothing: look at the costs again."
    elif costs.fp <= costs.tn:
        yield "a false alarm costs no more than a passed negative, so flagging everybody is free: look at the costs."
    counts = cut.counts(curve)
    if not counts.flagged or not counts.passed:
        yield f"it is cheapest to {'pass' if not counts.flagged else 'flag'} everybody: no score is needed for that."


@rule(gains=cost_gains, notes=_note_one_sided_costs)
def cost(curve: Curve, costs: Costs, *, prevalence: float | None = None) -> Cut:
    """Minimize the expected cost per case, at a stated prevalence or that of the data.

    The threshold is where a line with slope `costs.slope(prevalence)` touches the ROC convex hull [@provost2001]. No
    other threshold costs less, and neither does flagging everybody or nobody. Scores need not be probabilities.

    Parameters
    ----------
    curve
        Curve of the data.
    costs
        Costs of false positives, false negatives and, where not 0, of correct decisions.
    prevalence
        Prevalence where the policy will be used; that of the data by default.

    Returns
    -------
    Policy
        Policy that flags from the strictest cheapest threshold on.

    Examples
    --------
    >>> from baserate import Costs, curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.cost(c, Costs(fp=1, fn=1)).threshold, decide.cost(c, Costs(fp=1, fn=5)).threshold
    (0.8, 0.6)
    >>> decide.cost(c, Costs(fp=1, fn=5), prevalence=0.02).threshold
    0.8
    """
    if not isinstance(costs, Costs):
        raise OptionError(
            f"{type(costs).__name__} are no costs of two classes", remedy="give baserate.Costs(fp=…, fn=…)."
        )
    check_stated_prevalence(curve, prevalence)
    return Cut((threshold_of_greatest_gain(curve, cost_gains(curve.positives, curve.negatives, costs, prevalence)),))


def _note_unused_actions(_curve: Curve, cut: Cut, costs: ActionCosts, **_: Any) -> Iterator[str]:  # noqa: ANN401
    for action in costs:
        if action not in cut.actions:
            yield f"{action} is never the cheapest, whatever the score."


@rule(notes=_note_unused_actions)
def actions(curve: Curve, costs: ActionCosts, *, prevalence: float | None = None) -> Cut:
    """Minimize the expected cost per case over any number of actions.

    The cost of an action is a line over the risk. The lower envelope of these lines gives the actions that are ever
    cheapest, and the odds where each begins. Each such odds is the slope of a tangent to the ROC convex hull, so the
    thresholds ascend and no others cost less. Two actions are the rule `cost`; a third at a constant cost is Chow's
    rule [@chow1970].

    Parameters
    ----------
    curve
        Curve of the data.
    costs
        Cost of each action for a negative and for a positive, by the name of the action.
    prevalence
        Prevalence where the policy will be used; that of the data by default.

    Returns
    -------
    Policy
        Policy with the actions that are cheapest at some score.

    Examples
    --------
    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1]))
    >>> prices = {"wait": (0, 10), "test": (2, 3), "treat": (6, 0)}
    >>> decide.actions(c, prices).cut
    Cut(thresholds=(0.4, 0.8), actions=('wait', 'test', 'treat'))
    """
    check_stated_prevalence(curve, prevalence)
    return cheapest_cut(curve, _check_action_costs(costs), prevalence)


def cheapest_cut(curve: Curve, costs: ActionCosts, prevalence: float | None) -> Cut:
    """Find the cut of least cost among actions."""
    ordered = _lower_envelope(costs)
    classes = curve.positives, curve.negatives
    cuts = [
        (
            threshold_of_greatest_gain(curve, cost_gains(*classes, _pair_costs(costs[low], costs[high]), prevalence)),
            high,
        )
        for low, high in pairwise(ordered)
    ]
    return join_actions(ordered[0], cuts)


def _pair_costs(low: tuple[float, float], high: tuple[float, float]) -> Costs:
    """Express the choice between two neighboring actions as costs of a confusion matrix."""
    return Costs(tn=low[0], fn=low[1], fp=high[0], tp=high[1])


def _lower_envelope(costs: ActionCosts) -> list[str]:
    """List the actions that are cheapest at some risk, in order of the risk."""
    # At risk 0 only the cost for a negative matters. Ties: the cheaper for a positive, then the first in order.
    envelope = [min(costs, key=lambda action: costs[action])]
    while True:
        neg, pos = costs[envelope[-1]]
        better = [action for action in costs if costs[action][1] < pos]
        if not better:
            return envelope

        def odds(action: str, neg: float = neg, pos: float = pos) -> tuple[float, float]:
            """Odds of the risk from which on it is cheaper than the last; of equals, the cheapest for a positive."""
            return (costs[action][0] - neg) / (pos - costs[action][1]), costs[action][1]

        envelope.append(min(better, key=odds))


def _check_action_costs(costs: ActionCosts) -> ActionCosts:
    if len(costs) < 2:
        raise OptionError("give two actions or more, each with its cost for a negative and for a positive.")
    for action, pair in costs.items():
        if len(pair) != 2:
            raise ShapeError(f"{action} costs {pair}", remedy="give two numbers, for a negative and for a positive.")
        if not all(map(isfinite, pair)):
            raise OptionError(f"{action} costs {pair}; every cost must be a finite number.")
    return costs


def _note_no_referrals(_curve: Curve, cut: Cut, refer: float | None = None, **_: Any) -> Iterator[str]:  # noqa: ANN401
    if REFER not in cut.actions:
        dear = f"at a price of {refer:g}" if refer is not None else "to get there"
        yield f"nobody need be referred {dear}: deciding is cheaper at every score."


@rule(notes=_note_no_referrals)
def abstain(
    curve: Curve,
    costs: Costs | None = None,
    *,
    refer: float | None = None,
    coverage: float | None = None,
    prevalence: float | None = None,
) -> Cut:
    """Flag high scores, do not flag low ones, and refer those between two thresholds (reject option).

    With the cost of a referral, the thresholds minimize the expected cost [@chow1970]. With a coverage, they minimize
    the cost per decided case.

    Parameters
    ----------
    curve
        Curve of the data.
    costs
        Costs of decisions; 1 per error by default, so that accuracy is maximized.
    refer
        Cost of referring a case.
    coverage
        Least share of cases to decide instead, above 0 and at most 1.
    prevalence
        Prevalence where the policy will be used; that of the data by default.

    Returns
    -------
    Policy
        Policy with the actions "pass", "refer" and "flag", without those that are never best.

    Examples
    --------
    >>> from baserate import Costs, curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1]))
    >>> decide.abstain(c, Costs(fp=1, fn=1), refer=0.2).cut
    Cut(thresholds=(0.4, 0.8), actions=('pass', 'refer', 'flag'))
    >>> decide.abstain(c, coverage=0.75).cut
    Cut(thresholds=(0.6, 0.8), actions=('pass', 'refer', 'flag'))
    """
    if (refer is None) == (coverage is None):
        raise OptionError(
            f"give either {keyword('refer')}, the price of referring a case, or {keyword('coverage')}, the share to "
            f"be decided."
        )
    costs = Costs() if costs is None else costs
    check_stated_prevalence(curve, prevalence)
    if coverage is not None:
        return _cut_for_coverage(curve, costs, coverage, prevalence)
    assert refer is not None  # noqa: S101  (for the type checker)
    if not isfinite(refer):
        raise OptionError(
            f"refer is {refer}; the price of referring a case is a finite number.", option="refer", value=refer
        )
    # Referral costs the same for both classes: a third action, with a horizontal line of cost over risk.
    prices = {PASS: (costs.tn, costs.fn), REFER: (refer, refer), FLAG: (costs.fp, costs.tp)}
    return cheapest_cut(curve, prices, prevalence)


class _CumulativeCosts(NamedTuple):
    """Cumulative cost of flagging all above each threshold, of passing all below it, and mass; strictest first."""

    flagged: Floats
    passed: Floats
    mass: Floats


def _cut_for_coverage(curve: Curve, costs: Costs, coverage: float, prevalence: float | None) -> Cut:
    """Minimize the cost per decided case exactly, by Dinkelbach's iteration.

    The cost per decided case is a ratio. It is least where cost − λ · decided has its minimum 0. For a given λ this is
    a sum of one function of each threshold, and the two may not be further apart than the mass that may be referred.
    """
    if not 0 < coverage <= 1:
        raise OptionError(
            f"coverage is {coverage}",
            remedy="give the share of cases to be decided, above 0 and at most 1.",
            option="coverage",
            value=coverage,
        )
    sums = _cumulate_costs(curve, costs, prevalence)
    most = (1 - coverage) * sums.mass[-1] * (1 + RELATIVE_TOLERANCE)
    # For each lower threshold, the first upper one that does not refer too much.
    first = np.searchsorted(sums.mass, sums.mass - most - RELATIVE_TOLERANCE * sums.mass[-1], side="left")
    price, best_pair = inf, (0, 0)
    while True:
        high, low = _cheapest_pair(sums, first, 0.0 if price == inf else price)
        cost = sums.flagged[high] + sums.passed[low]
        each = float(cost / _decided_mass(sums, high, low))
        # Dinkelbach's ratio decreases strictly until the optimum, then stays.
        if not each < price - RELATIVE_TOLERANCE * abs(price) and price != inf:
            break
        price, best_pair = each, (high, low)
    at = [threshold_at(curve, place) for place in best_pair]
    return join_actions(PASS, [(at[1], REFER), (at[0], FLAG)])


def _cheapest_pair(sums: _CumulativeCosts, first: Any, price: float) -> tuple[int, int]:  # noqa: ANN401
    """Return the indices of both thresholds of least cost at a price per decided case.

    Of equals, those that refer least win.
    """
    above = sums.flagged - price * sums.mass
    below = sums.passed + price * sums.mass
    high = sliding_argmin(above, first)
    total = above[high] + below
    size = max(float(np.abs(above).max()), float(np.abs(below).max()))
    near = np.flatnonzero(total <= total.min() + RELATIVE_TOLERANCE * size)
    low = int(near[np.argmax(_decided_mass(sums, high[near], near))])
    return int(high[low]), low


def _decided_mass(sums: _CumulativeCosts, high: Any, low: Any) -> Any:  # noqa: ANN401  (a place, or many)
    return sums.mass[high] + sums.mass[-1] - sums.mass[low]


def _cumulate_costs(curve: Curve, costs: Costs, prevalence: float | None) -> _CumulativeCosts:
    positive, negative = curve.flagged_mass
    if prevalence is not None:
        require_both_classes(curve, "a stated prevalence")
        positive = positive * (prevalence / positive[-1])
        negative = negative * ((1 - prevalence) / negative[-1])
    flagged = costs.tp * positive + costs.fp * negative
    passed = costs.fn * (positive[-1] - positive) + costs.tn * (negative[-1] - negative)
    return _CumulativeCosts(flagged, passed, positive + negative)
