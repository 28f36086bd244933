"""What is asked of two models, and how a p-value follows from a statistic or from draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import hypot, isnan, nan
from sys import float_info
from typing import Literal

import numpy as np

from baserate._arrays import Floats
from baserate._domains import LEVEL, MARGIN, check_domain
from baserate._errors import OptionError
from baserate.infer._binomial import NormalLevel
from baserate.measure import About

Alternative = Literal["two-sided", "greater", "less", "better"]
Side = Literal["two-sided", "greater", "less"]
Bounds = tuple[float, float]

METHODS = ("delong", "resample", "mcnemar-exact", "mcnemar-mid-p", "mcnemar", "mcnemar-corrected")

LEAST = float_info.min
"""No p-value of ours is 0: what is less than this, a float cannot tell from it."""

_FARTHEST = 38.0
"""Standard errors beyond which both tails of a normal distribution are less than `LEAST`."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of two models A and B about the difference A − B of a measure.

    ``"two-sided"``: do they differ? ``"greater"``: is A − B above −margin? ``"less"``: is A − B below +margin?
    ``"better"`` is whichever of the last two means that A is the better one: greater where high values of the measure
    are good, less where low ones are. So `margin` is how much worse A may be: above 0 it asks for non-inferiority,
    at 0 for superiority, below 0 for superiority by so much.

    `level` is that of the interval of the difference, which has two sides whatever is asked. `method` is one of
    "delong", "resample", "mcnemar-exact", "mcnemar-mid-p", "mcnemar" and "mcnemar-corrected"; None takes the one that
    fits the measure.

    >>> Question(alternative="better", margin=0.02).alternative
    'better'
    """

    alternative: Alternative = "two-sided"
    margin: float = 0.0
    level: float = 0.95
    method: str | None = None

    def __post_init__(self) -> None:
        if self.alternative not in ("two-sided", "greater", "less", "better"):
            raise OptionError(
                f"alternative is {self.alternative!r}; it is 'two-sided', 'greater', 'less', or 'better', which is "
                "one of the two before it, by the measure."
            )
        check_domain("margin", self.margin, MARGIN)
        if self.margin and self.alternative == "two-sided":
            raise OptionError('a margin has a direction; say which, for example alternative="better".')
        check_domain("level", self.level, LEVEL)
        if self.method is not None and self.method not in METHODS:
            raise OptionError(f"there is no method {self.method!r}. Known are: {', '.join(METHODS)}.")

    def side(self, told: About) -> Side:
        """Which end of the differences speaks for what is asked."""
        if self.alternative != "better":
            return self.alternative
        if told.best is None:
            raise OptionError(f"neither end of {told.name} is better; say alternative='greater' or alternative='less'.")
        return "greater" if told.best == "high" else "less"

    def bound(self, told: About) -> float:
        """Difference to test against: the one nearest to what is asked that does not yet satisfy it."""
        return self.margin if self.side(told) == "less" else 0.0 - self.margin  # never −0


def of_normal(z: float, side: Side) -> float:
    """P-value of a standard normal statistic.

    >>> round(of_normal(1.959964, "two-sided"), 6), of_normal(0.0, "two-sided")
    (0.05, 1.0)
    """
    from scipy.special import ndtr

    return _tail(lambda value: float(ndtr(value)), z, side)


def of_student(t: float, freedom: float, side: Side) -> float:
    """P-value of a statistic with Student's distribution."""
    from scipy.special import stdtr

    return _tail(lambda value: float(stdtr(freedom, value)), t, side)


def of_draws(draws: Floats, side: Side, bound: float) -> float:
    """P-value of draws of a difference: how many lie on the wrong side of the bound, and one more, of all and one more.

    The one more is what was seen: however few draws there are, the p-value is never 0 [@davison1997].

    >>> of_draws(np.array([0.1, 0.2, 0.3]), "two-sided", 0.0)
    0.5
    """
    below, above = (float(np.count_nonzero(wrong)) + 1 for wrong in (draws <= bound, draws >= bound))
    if side == "two-sided":
        return min(2 * min(below, above) / (len(draws) + 1), 1.0)
    return (below if side == "greater" else above) / (len(draws) + 1)


def of_intervals(interval: Callable[[float], tuple[float, float]], value: float, side: Side, bound: float) -> float:
    """P-value of a family of intervals: one less the level of the one that just reaches the bound.

    The search runs over standard errors, so that the p-value has no floor but that of floats.

    >>> round(of_intervals(lambda level: (-1.0, 2.0) if level > 0.9 else (0.5, 0.7), 0.6, "two-sided", 0.0), 6)
    0.1
    """
    if value == bound:
        return 1.0 if side == "two-sided" else 0.5

    def reaches(z: float) -> bool:
        low, high = interval(NormalLevel(z))
        # Draws may lie to one side of the value, which belongs to its interval all the same.
        return min(low, value) <= bound <= max(high, value)

    near, far = 0.0, _FARTHEST
    for _ in range(55):
        middle = (near + far) / 2
        near, far = (near, middle) if reaches(middle) else (middle, far)
    return of_normal(near if value > bound else -near, side)


def holm(p: Sequence[float]) -> list[float]:
    """Make p-values fit for being many: the chance of any false one is then at most its level [@holm1979].

    The least is multiplied by how many there are, the next by one fewer, and so on; none falls below one before it.
    What is NaN stays so, and is not counted.

    >>> [round(each, 3) for each in holm([0.01, 0.04, 0.03, 0.005])]  # 0.005·4, 0.01·3, 0.03·2, then no less
    [0.03, 0.06, 0.06, 0.02]
    """
    there = sorted((at for at, each in enumerate(p) if not isnan(each)), key=lambda at: p[at])
    adjusted = [nan] * len(p)
    reached = 0.0
    for before, at in enumerate(there):
        reached = max(reached, min((len(there) - before) * p[at], 1.0))
        adjusted[at] = reached
    return adjusted


def _tail(below: Callable[[float], float], value: float, side: Side) -> float:
    found = {
        "greater": lambda: below(-value),
        "less": lambda: below(value),
        "two-sided": lambda: 2 * below(-abs(value)),
    }
    return max(found[side](), LEAST)


def hybrid(values: Bounds, first: Bounds, second: Bounds) -> Bounds:
    r"""Interval of a difference from those of two values as if they were independent [@newcombe1998].

    Low end :math:`d-\sqrt{(p_1-l_1)^2+(u_2-p_2)^2}`, and the high one likewise. Of values that rise and fall together
    it is wider than need be.

    >>> [round(bound, 4) for bound in hybrid((56 / 70, 48 / 80), (0.6918, 0.8770), (0.4904, 0.7003))]
    [0.0525, 0.3339]
    """
    difference = values[0] - values[1]
    below, above = ((values[0] - first[0], second[1] - values[1]), (first[1] - values[0], values[1] - second[0]))
    return difference - hypot(*below), difference + hypot(*above)
