"""Comparisons of two models: the question, the p-value, the result, and bootstrap differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, isfinite, isinf, isnan, nan, sqrt
from sys import float_info
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

from baserate._arrays import Floats
from baserate._domains import LEVEL, MARGIN, check_domain
from baserate._errors import OptionError, UsageError, keyword, unknown_name
from baserate._formatting import SMALLEST_SHOWN, count_of
from baserate._results import Estimate, Results
from baserate.infer._binomial import NormalLevel, normal_quantile, wilson
from baserate.infer._bootstrap import percentiles
from baserate.infer._bounds import Units, stretch_percentiles
from baserate.measure import Measure, MeasureInfo, describe

Alternative = Literal["two-sided", "greater", "less", "better"]
Side = Literal["two-sided", "greater", "less"]
Limits = tuple[float, float]

METHODS = ("delong", "resample", "mcnemar-exact", "mcnemar-mid-p", "mcnemar", "mcnemar-corrected")

SMALLEST_P = float_info.min
"""Smallest normal float: no p-value is 0."""

_MAX_Z = 38.0
"""Standard errors beyond which both tails of a normal distribution are less than `SMALLEST_P`."""


@dataclass(frozen=True, slots=True)
class Question:
    """Question about the difference A − B of a measure between two models.

    Parameters
    ----------
    alternative
        "two-sided": do they differ? "greater": is A − B above −margin? "less": is A − B below +margin? "better" is
        whichever of the last two means that A is the better model: "greater" where high values are good, else "less".
    margin
        How much worse A may be. A positive margin tests non-inferiority, 0 superiority, a negative one superiority by
        that much.
    level
        Level of the interval of the difference, which is always two-sided.
    method
        "delong", "resample", "mcnemar-exact", "mcnemar-mid-p", "mcnemar" or "mcnemar-corrected"; by default, the one
        that fits the measure.

    Raises
    ------
    OptionError
        An option is out of its domain, or a two-sided question has a margin.

    Examples
    --------
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
                "one of the two before it, by the measure.",
                option="alternative",
                value=self.alternative,
            )
        check_domain("margin", self.margin, MARGIN)
        if self.margin and self.alternative == "two-sided":
            raise OptionError(
                "a margin has a direction", remedy=f"say which, for example {keyword('alternative', 'better')}."
            )
        check_domain("level", self.level, LEVEL)
        if self.method is not None and self.method not in METHODS:
            raise unknown_name("method", self.method, METHODS)

    def side(self, info: MeasureInfo) -> Side:
        """Return the side of the differences that speaks for the alternative."""
        if self.alternative != "better":
            return self.alternative
        if info.best is None:
            raise OptionError(
                f"neither end of {info.name} is better",
                remedy=f"say {keyword('alternative', 'greater')} or {keyword('alternative', 'less')}.",
            )
        return "greater" if info.best == "high" else "less"

    def bound(self, info: MeasureInfo) -> float:
        """Return the difference to test against."""
        return (
            self.margin if self.side(info) == "less" else 0.0 - self.margin
        )  # 0.0 − margin, since −margin would be −0.0


def normal_p(z: float, side: Side) -> float:
    """Return the p-value of a standard normal statistic.

    >>> round(normal_p(1.959964, "two-sided"), 6), normal_p(0.0, "two-sided")
    (0.05, 1.0)
    """
    from scipy.special import ndtr

    return _tail_p(lambda value: float(ndtr(value)), z, side)


def student_p(t: float, freedom: float, side: Side) -> float:
    """Return the p-value of a statistic with Student's distribution."""
    from scipy.special import stdtr

    return _tail_p(lambda value: float(stdtr(freedom, value)), t, side)


def bootstrap_p(draws: Floats, side: Side, bound: float) -> float:
    """Return the p-value of bootstrap differences: the share beyond the bound, counting the sample itself.

    Counting the sample itself keeps the p-value above 0, however few bootstrap samples there are [@davison1997].

    >>> bootstrap_p(np.array([0.1, 0.2, 0.3]), "two-sided", 0.0)
    0.5
    """
    below, above = (float(np.count_nonzero(beyond)) + 1 for beyond in (draws <= bound, draws >= bound))
    if side == "two-sided":
        return min(2 * min(below, above) / (len(draws) + 1), 1.0)
    return (below if side == "greater" else above) / (len(draws) + 1)


def interval_p(interval: Callable[[float], tuple[float, float]], value: float, side: Side, bound: float) -> float:
    """Return the p-value of a family of intervals: one less the level of the interval that just reaches the bound.

    The search runs over standard errors, so only the range of floats limits how small the p-value can be.

    >>> round(interval_p(lambda level: (-1.0, 2.0) if level > 0.9 else (0.5, 0.7), 0.6, "two-sided", 0.0), 6)
    0.1
    """
    if value == bound:
        return 1.0 if side == "two-sided" else 0.5

    def reaches(z: float) -> bool:
        low, high = interval(NormalLevel(z))
        # Samples may lie to one side of the value, which belongs to its interval all the same.
        return min(low, value) <= bound <= max(high, value)

    near, far = 0.0, _MAX_Z
    for _ in range(55):
        middle = (near + far) / 2
        near, far = (near, middle) if reaches(middle) else (middle, far)
    return normal_p(near if value > bound else -near, side)


def holm(p: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple tests by Holm's method, which controls the family-wise error rate [@holm1979].

    The smallest is multiplied by their number, the next by one fewer, and so on; none falls below one before it. NaN
    stays NaN and is not counted.

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


def _tail_p(below: Callable[[float], float], value: float, side: Side) -> float:
    tails = {
        "greater": lambda: below(-value),
        "less": lambda: below(value),
        "two-sided": lambda: 2 * below(-abs(value)),
    }
    return max(tails[side](), SMALLEST_P)


def newcombe_hybrid(values: Limits, first: Limits, second: Limits) -> Limits:
    r"""Bound a difference from the intervals of two values as if they were independent [@newcombe1998].

    The lower limit is :math:`d-\sqrt{(p_1-l_1)^2+(u_2-p_2)^2}`, and the upper one likewise. For positively correlated
    values the interval is wider than necessary.

    >>> [round(bound, 4) for bound in newcombe_hybrid((56 / 70, 48 / 80), (0.6918, 0.8770), (0.4904, 0.7003))]
    [0.0525, 0.3339]
    """
    difference = values[0] - values[1]
    below, above = ((values[0] - first[0], second[1] - values[1]), (first[1] - values[0], values[1] - second[0]))
    return difference - hypot(*below), difference + hypot(*above)


COLUMNS = (
    *("measure", "model", "other", "group", "threshold", "other_threshold", "value", "other_value"),
    *(
        "difference",
        "low",
        "high",
        "level",
        "statistic",
        "p",
        "p_adjusted",
        "p_is_bound",
        "alternative",
        "margin",
        "test",
        "how",
        "why",
    ),
)


NO_VARIANCE = "these rows show no variance"

GroupKey = tuple[tuple[str, object], ...] | None
"""Attributes of a group and their values; None for all rows."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result of comparing two models A and B by a measure.

    `p` is the probability of a difference at least as far on the side of the `alternative` if there were none (or if A
    were `margin` worse); it is never 0. `adjust_p_values` is the Holm-adjusted p over all comparisons made at once; the
    interval is not adjusted. `p_is_bound` says that both are upper bounds: the method can show no smaller value.

    >>> Comparison("auc", ("new", "old"), (0.8, 0.7), Estimate(0.1, 0.02, 0.18, 0.95, "DeLong"), statistic=2.5, p=0.01)
    Comparison(auc: new 0.8, old 0.7; difference 0.1 (0.02 to 0.18), p 0.01)
    """

    measure: str
    models: tuple[str, str]
    values: tuple[float, float]
    difference: Estimate
    """A − B with its interval and method."""
    statistic: float = nan
    """Z, t, or for exact tests the rows that only A got right; NaN where p comes from bootstrap samples."""
    p: float = nan
    p_adjusted: float = nan
    alternative: Alternative = "two-sided"
    """Side that was tested, with "better" resolved: "two-sided", "greater" or "less"."""
    margin: float = 0.0
    test: str = ""
    """Test that gave p."""
    group: GroupKey = None
    thresholds: tuple[float | None, float | None] = (None, None)
    """Thresholds of both models; None for labels, and for measures without a threshold."""
    p_is_bound: bool = False
    """Whether p is the smallest value that the method can show: the true one may be smaller."""

    @property
    def why(self) -> str | None:
        """Return the reason why something is undefined."""
        return self.difference.why

    def __bool__(self) -> NoReturn:
        # Every object is true by default, so `assert result` would pass for any result.
        raise UsageError(
            "a Comparison is neither true nor false",
            remedy="look at its difference, or compare its p-value with a level: comparison.p < 0.05.",
        )

    def __repr__(self) -> str:
        (a, b), (x, y), d = self.models, self.values, self.difference
        between = f"{d.value:.6g} ({d.low:.6g} to {d.high:.6g})"
        what = f"{self.measure}{format_group(self.group)}"
        return f"Comparison({what}: {a} {x:.6g}, {b} {y:.6g}; difference {between}, {self._p_text})"

    @property
    def _p_text(self) -> str:
        sign = f"< {SMALLEST_SHOWN}" if self.p < SMALLEST_SHOWN else f"≤ {self.p:.6g}" if self.p_is_bound else None
        return f"p {sign or f'{self.p:.6g}'}"


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """A measure, and the question about its difference."""

    measure: Measure
    question: Question

    def conclude(self, values: tuple[float, float], bounds: tuple[float, float], how: str, **more: Any) -> Comparison:  # noqa: ANN401
        """Make a comparison whose interval contains the difference and lies within the span of differences."""
        info = describe(self.measure)
        value = values[0] - values[1]
        if isnan(value):
            why = more.pop("why", None) or "both values are infinite"
            return self._build(
                values, Estimate(nan, why=why), **more | {"statistic": nan, "p": nan, "p_is_bound": False, "test": ""}
            )
        widest = info.span[1] - info.span[0]
        low, high = max(min(bounds[0], value), -widest), min(max(bounds[1], value), widest)
        undefined = isnan(bounds[0]) or isnan(bounds[1])
        estimate = Estimate(
            value,
            nan if undefined else low,
            nan if undefined else high,
            self.question.level,
            how,
            more.pop("why", None),
        )
        return self._build(values, estimate, **more)

    def conclude_from_intervals(
        self,
        values: Limits,
        interval: Callable[[float], Limits],
        how: str,
        smallest: float = 0.0,
        **more: Any,  # noqa: ANN401
    ) -> Comparison:
        """Make a comparison whose p-value is one less the level at which the interval just reaches the bound.

        `smallest` is the smallest p-value that the intervals can show, where they rest on bootstrap samples.
        """
        info, bounds = describe(self.measure), interval(self.question.level)
        if isnan(sum(bounds)):
            return self.conclude(values, (nan, nan), "", **more | {"why": NO_VARIANCE})
        p = interval_p(interval, values[0] - values[1], self.question.side(info), self.question.bound(info))
        tested = {"p": max(p, smallest), "p_is_bound": p <= smallest, "test": how}
        return self.conclude(values, bounds, how, **more | tested)

    def _build(self, values: tuple[float, float], difference: Estimate, **more: Any) -> Comparison:  # noqa: ANN401
        info = describe(self.measure)
        more["p_is_bound"] = more.get("p_is_bound", False) or more.get("p", nan) <= SMALLEST_P
        return Comparison(
            info.name,
            more.pop("models", ("first", "second")),
            values,
            difference,
            alternative=self.question.side(info),
            margin=self.question.margin,
            **more,
        )


def format_group(group: GroupKey) -> str:
    """Format a group for a message; nothing for all rows."""
    return "" if group is None else f" for {', '.join(f'{key} = {value}' for key, value in group)}"


def adjust_p_values(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return comparisons with Holm-adjusted p-values."""
    return tuple(
        replace(each, p_adjusted=p) for each, p in zip(comparisons, holm([each.p for each in comparisons]), strict=True)
    )


def tabulate_comparisons(comparisons: Iterable[Comparison], data: Mapping[str, Any] | None = None) -> Results:
    """Tabulate comparisons as tidy rows, for tables, JSON and data frames.

    Parameters
    ----------
    comparisons
        Comparisons, as `compare` returns them.
    data
        Metadata of the results.

    Returns
    -------
    Results
        Tidy table with one row for each comparison.

    Examples
    --------
    >>> one = Comparison("auc", ("new", "old"), (0.8, 0.7), Estimate(0.1, 0.02, 0.18, 0.95, "DeLong"), 2.5, 0.01)
    >>> row = tabulate_comparisons([one]).rows()[0]
    >>> row["model"], row["other"], row["difference"], row["p"]
    ('new', 'old', 0.1, 0.01)
    """
    rows = [_make_row(each) for each in comparisons]
    return Results({name: [row[name] for row in rows] for name in COLUMNS}, data or {})


def _make_row(comparison: Comparison) -> dict[str, Any]:
    (model, other), (value, other_value), d = comparison.models, comparison.values, comparison.difference
    return {
        "measure": comparison.measure,
        "model": model,
        "other": other,
        "group": None if comparison.group is None else dict(comparison.group),
        "threshold": comparison.thresholds[0],
        "other_threshold": comparison.thresholds[1],
        "value": value,
        "other_value": other_value,
        "difference": d.value,
        "low": d.low,
        "high": d.high,
        "level": d.level,
        "statistic": comparison.statistic,
        "p": comparison.p,
        "p_adjusted": comparison.p_adjusted,
        "p_is_bound": None if isnan(comparison.p) else comparison.p_is_bound,
        "alternative": comparison.alternative,
        "margin": comparison.margin,
        "test": comparison.test or None,
        "how": d.how,
        "why": d.why,
    }


_PERCENTILE_SAMPLES = 999
"""Samples above which percentiles are stable; with fewer, the standard deviation is used, which is stable sooner."""
_ROUNDING = 1e-12
SHARES_METHOD = f"Wilson's limits of both as if independent shares: {NO_VARIANCE}"
"""Method of `share_difference_limits`."""


class BootstrapDifference(NamedTuple):
    """Bootstrap samples of a difference, and how they were made."""

    draws: Floats
    how: str
    units: Units = Units()
    """Units with random weights; infinitely many where their number does not matter."""

    def interval(self, value: float, level: float) -> tuple[float, float]:
        """Return percentiles of the samples; of few samples, a normal interval with their standard deviation."""
        if len(self.draws) >= _PERCENTILE_SAMPLES:
            return stretch_percentiles(percentiles(self.draws, level), value, self.units, level)
        half = normal_quantile(level) * self._deviation
        return stretch_percentiles((value - half, value + half), value, self.units, level)

    def test(self, value: float, side: Side, bound: float) -> dict[str, Any]:
        """Test whether the difference is on that side of the bound: `p`, and whether it is only a bound.

        A p-value that counts bootstrap samples cannot fall below one in their number. There it is an upper bound.
        """
        counted = len(self.draws) >= _PERCENTILE_SAMPLES or not self._deviation > 0
        if self.units.is_few and isfinite(value):
            ordered = self._replace(draws=np.sort(self.draws))
            p = interval_p(lambda level: ordered.interval(value, level), value, side, bound)
            # Samples carry no information beyond their own range.
            p, counted = max(p, self.smallest_p(side)), True
        elif counted:
            p = bootstrap_p(self.draws, side, bound)
        else:
            p = normal_p((value - bound) / self._deviation, side)
        return {"p": p, "p_is_bound": counted and p <= self.smallest_p(side)}

    def smallest_p(self, side: Side) -> float:
        """Return the smallest p-value that this many samples can show."""
        return (2 if side == "two-sided" else 1) / (len(self.draws) + 1)

    def is_constant(self, value: float) -> bool:
        """Return whether the samples do not vary, beyond rounding, so that they carry no information."""
        with np.errstate(invalid="ignore"):  # samples may be infinite
            return bool(np.ptp(self.draws) <= _ROUNDING * abs(value))

    @property
    def description(self) -> str:
        """Describe how the interval was made."""
        normal = "" if len(self.draws) >= _PERCENTILE_SAMPLES else ", normal with their standard deviation"
        return f"{self.how}, {count_of(len(self.draws), 'draw')}{normal}"

    @property
    def _deviation(self) -> float:
        with np.errstate(invalid="ignore"):  # samples may be infinite
            return sqrt(float(np.var(self.draws, ddof=1)))


def share_limits(measure: Measure, value: float, units: Units, level: float) -> Limits:
    """Bound a number whose samples do not vary, as a proportion of that many rows; NaN where its span is infinite."""
    least, most = describe(measure).span
    if isinf(most - least):
        return nan, nan
    part = (value - least) / (most - least)
    low, high = wilson(part * units.observed, (1 - part) * units.observed, level)
    return least + low * (most - least), least + high * (most - least)


def share_difference_limits(measure: Measure, values: Limits, units: Units) -> Callable[[float], Limits]:
    """Return intervals of a difference whose samples do not vary, as of two independent proportions."""
    return lambda level: newcombe_hybrid(values, *(share_limits(measure, value, units, level) for value in values))
