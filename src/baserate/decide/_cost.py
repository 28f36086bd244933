"""Rules of least expected cost: one cut-off, or a choice among several actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import isfinite
from typing import Any

from baserate._costs import Costs
from baserate._curve import Curve
from baserate._cut import Cut
from baserate._errors import OptionError, ShapeError
from baserate.decide._rule import checked_prevalence, gains_of, rule, steepest

Lines = Mapping[str, tuple[float, float]]
"""Action -> what it costs for a negative, and for a positive."""


def _one_sided(curve: Curve, cut: Cut, costs: Costs, **_: Any) -> Iterator[str]:  # noqa: ANN401
    if costs.fn <= costs.tp:
        yield "a missed positive costs no more than a found one, so flagging saves nothing: look at the costs again."
    elif costs.fp <= costs.tn:
        yield "a false alarm costs no more than a passed negative, so flagging everybody is free: look at the costs."
    counts = cut.counts(curve)
    if not counts.flagged or not counts.passed:
        yield f"it is cheapest to {'pass' if not counts.flagged else 'flag'} everybody: no score is needed for that."


@rule(gains=gains_of, notes=_one_sided)
def cost(curve: Curve, costs: Costs, *, prevalence: float | None = None) -> Cut:
    """Flag where the expected cost of a case is least, at a stated prevalence or at that of the data.

    It is where a line with the slope of equal costs, `costs.slope(prevalence)`, touches the hull [@provost2001]: no
    other threshold is cheaper, and neither is passing or flagging everybody. Scores need not be probabilities.

    >>> from baserate import Costs, curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> decide.cost(c, Costs(fp=1, fn=1)).threshold, decide.cost(c, Costs(fp=1, fn=5)).threshold
    (0.8, 0.6)
    >>> decide.cost(c, Costs(fp=1, fn=5), prevalence=0.02).threshold
    0.8
    """
    if not isinstance(costs, Costs):
        raise OptionError(f"{type(costs).__name__} are no costs of two classes; give baserate.Costs(fp=…, fn=…).")
    checked_prevalence(curve, prevalence)
    return Cut((steepest(curve, gains_of(curve.positives, curve.negatives, costs, prevalence)),))


def _never(_curve: Curve, cut: Cut, costs: Lines, **_: Any) -> Iterator[str]:  # noqa: ANN401
    for action in costs:
        if action not in cut.actions:
            yield f"{action} is never the cheapest, whatever the score."


@rule(notes=_never)
def actions(curve: Curve, costs: Lines, *, prevalence: float | None = None) -> Cut:
    """Choose among any number of actions, each with what it costs for a negative and for a positive.

    The cost of an action is a line over the risk; the lower envelope of the lines says which actions are ever the
    cheapest, and from which odds on. Each of these odds is the slope of a tangent to the hull, so that the cut-offs are
    in order of themselves, and together as cheap as any. Two actions are the rule of least cost, a third at a fixed
    price is Chow's [@chow1970].

    >>> from baserate import curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1]))
    >>> prices = {"wait": (0, 10), "test": (2, 3), "treat": (6, 0)}
    >>> decide.actions(c, prices).cut
    Cut(thresholds=(0.4, 0.8), actions=('wait', 'test', 'treat'))
    """
    checked_prevalence(curve, prevalence)
    return cheapest(curve, _checked(costs), prevalence)


def cheapest(curve: Curve, costs: Lines, prevalence: float | None) -> Cut:
    """Find the cut of least cost among actions."""
    ordered = _envelope(costs)
    classes = curve.positives, curve.negatives
    cuts = [
        (steepest(curve, gains_of(*classes, _step(costs[low], costs[high]), prevalence)), high)
        for low, high in pairwise(ordered)
    ]
    return merged(ordered[0], cuts)


def merged(lowest: str, cuts: list[tuple[float, str]]) -> Cut:
    """Cut from ascending thresholds and the actions above them; an action over no score is left out."""
    kept: list[tuple[float, str]] = []
    for threshold, action in cuts:
        while kept and kept[-1][0] >= threshold:
            kept.pop()
        kept.append((threshold, action))
    return Cut(tuple(at for at, _ in kept), (lowest, *(action for _, action in kept)))


def _step(low: tuple[float, float], high: tuple[float, float]) -> Costs:
    """Costs of choosing between two actions."""
    return Costs(tn=low[0], fn=low[1], fp=high[0], tp=high[1])


def _envelope(costs: Lines) -> list[str]:
    """Actions that are the cheapest at some risk, in order of the risk."""
    # At risk 0 the cheapest for a negative is taken; of equals, the cheaper for a positive, then the first named.
    found = [min(costs, key=lambda action: costs[action])]
    while True:
        neg, pos = costs[found[-1]]
        better = [action for action in costs if costs[action][1] < pos]
        if not better:
            return found

        def odds(action: str, neg: float = neg, pos: float = pos) -> tuple[float, float]:
            """Odds of the risk from which on it is cheaper than the last; of equals, the cheapest for a positive."""
            return (costs[action][0] - neg) / (pos - costs[action][1]), costs[action][1]

        found.append(min(better, key=odds))


def _checked(costs: Lines) -> Lines:
    if len(costs) < 2:
        raise OptionError("give two actions or more, each with its cost for a negative and for a positive.")
    for action, pair in costs.items():
        if len(pair) != 2:
            raise ShapeError(f"{action} costs {pair}; give two numbers, for a negative and for a positive.")
        if not all(map(isfinite, pair)):
            raise OptionError(f"{action} costs {pair}; every cost must be a finite number.")
    return costs
