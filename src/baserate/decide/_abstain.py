"""Rules that leave some cases to somebody else: at a price, or so that a share of all is decided."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._costs import Costs
from baserate._curve import Curve
from baserate._cut import FLAG, PASS, REFER, Cut
from baserate._errors import OptionError
from baserate._numeric.window import window_minima
from baserate.decide._cost import cheapest, merged
from baserate.decide._rule import EQUAL, both_classes, checked_prevalence, rule, threshold_at


def _useless(_curve: Curve, cut: Cut, refer: float | None = None, **_: Any) -> Iterator[str]:  # noqa: ANN401
    if REFER not in cut.actions:
        dear = f"at a price of {refer:g}" if refer is not None else "to get there"
        yield f"nobody need be referred {dear}: deciding is cheaper at every score."


@rule(notes=_useless)
def abstain(
    curve: Curve,
    costs: Costs | None = None,
    *,
    refer: float | None = None,
    coverage: float | None = None,
    prevalence: float | None = None,
) -> Cut:
    """Pass below, flag above, and refer what lies between: two cut-offs.

    With a price of referring a case, what costs least [@chow1970]. With `coverage`, the share of cases that must be
    decided, what costs least per decided case; without `costs` every error costs 1, so that is the best accuracy.

    >>> from baserate import Costs, curve, decide, tally
    >>> c = curve(tally([1, 1, 0, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1]))
    >>> decide.abstain(c, Costs(fp=1, fn=1), refer=0.2).cut
    Cut(thresholds=(0.4, 0.8), actions=('pass', 'refer', 'flag'))
    >>> decide.abstain(c, coverage=0.75).cut
    Cut(thresholds=(0.6, 0.8), actions=('pass', 'refer', 'flag'))
    """
    if (refer is None) == (coverage is None):
        raise OptionError("give either refer=, the price of referring a case, or coverage=, the share to be decided.")
    costs = Costs() if costs is None else costs
    checked_prevalence(curve, prevalence)
    if coverage is not None:
        return _covering(curve, costs, coverage, prevalence)
    assert refer is not None  # noqa: S101  (for the type checker)
    if not isfinite(refer):
        raise OptionError(f"refer is {refer}; the price of referring a case is a finite number.")
    prices = {PASS: (costs.tn, costs.fn), REFER: (refer, refer), FLAG: (costs.fp, costs.tp)}
    return cheapest(curve, prices, prevalence)


class _Sums(NamedTuple):
    """Up to each threshold, strictest first: what is paid if all above is flagged, if all below is passed; and mass."""

    flagged: Floats
    passed: Floats
    mass: Floats


def _covering(curve: Curve, costs: Costs, coverage: float, prevalence: float | None) -> Cut:
    """Least cost per decided case, exactly, by Dinkelbach's iteration.

    The cost of a decided case is a ratio; it is least where cost − λ · decided is least and 0. For a given λ that is a
    sum of a function of each cut-off, of which the two may not be further apart than what may be referred.
    """
    if not 0 < coverage <= 1:
        raise OptionError(f"coverage is {coverage}; give the share of cases to be decided, above 0 and at most 1.")
    sums = _sums(curve, costs, prevalence)
    most = (1 - coverage) * sums.mass[-1] * (1 + EQUAL)
    first = np.searchsorted(sums.mass, sums.mass - most - EQUAL * sums.mass[-1], side="left")
    price, found = inf, (0, 0)
    while True:
        high, low = _cheapest(sums, first, 0.0 if price == inf else price)
        cost = sums.flagged[high] + sums.passed[low]
        each = float(cost / _decided(sums, high, low))
        if not each < price - EQUAL * abs(price) and price != inf:
            break
        price, found = each, (high, low)
    at = [threshold_at(curve, place) for place in found]
    return merged(PASS, [(at[1], REFER), (at[0], FLAG)])


def _cheapest(sums: _Sums, first: Any, price: float) -> tuple[int, int]:  # noqa: ANN401
    """Places of the upper and lower cut-off of least cost, at a price for what is decided; of equals, few referred."""
    above = sums.flagged - price * sums.mass
    below = sums.passed + price * sums.mass
    high = window_minima(above, first)
    total = above[high] + below
    size = max(float(np.abs(above).max()), float(np.abs(below).max()))
    near = np.flatnonzero(total <= total.min() + EQUAL * size)
    low = int(near[np.argmax(_decided(sums, high[near], near))])
    return int(high[low]), low


def _decided(sums: _Sums, high: Any, low: Any) -> Any:  # noqa: ANN401  (a place, or many)
    return sums.mass[high] + sums.mass[-1] - sums.mass[low]


def _sums(curve: Curve, costs: Costs, prevalence: float | None) -> _Sums:
    positive, negative = curve.flagged_mass
    if prevalence is not None:
        both_classes(curve, "a stated prevalence")
        positive = positive * (prevalence / positive[-1])
        negative = negative * ((1 - prevalence) / negative[-1])
    flagged = costs.tp * positive + costs.fp * negative
    passed = costs.fn * (positive[-1] - positive) + costs.tn * (negative[-1] - negative)
    return _Sums(flagged, passed, positive + negative)
