"""Comparisons of two models: the question, the p-value, the result, t tests and bootstrap differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, inf, isfinite, isinf, isnan, nan, sqrt
from sys import float_info
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

from baserate._arrays import Floats
from baserate._domains import LEVEL, MARGIN, check_domain
from baserate._errors import OptionError, UsageError, keyword, unknown_name
from baserate._formatting import SMALLEST_SHOWN, count_of
from baserate._rendering import Renderable
from baserate._results import Estimate, Results
from baserate.infer._auc_intervals import AucEstimate, score_interval
from baserate.infer._binomial import NormalLevel, normal_quantile, t_widening, wilson
from baserate.infer._bootstrap import percentiles
from baserate.infer._variances import Units, VarianceComponent, degrees_of_freedom, stretch_percentiles
from baserate.measure import Measure, MeasureInfo, describe

Alternative = Literal["two-sided", "greater", "less", "better"]
Side = Literal["two-sided", "greater", "less"]
Limits = tuple[float, float]

METHODS = ("delong", "resample", "venkatraman", "mcnemar-exact", "mcnemar-mid-p", "mcnemar", "mcnemar-corrected")

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
        "delong", "resample", "venkatraman", "mcnemar-exact", "mcnemar-mid-p", "mcnemar" or "mcnemar-corrected"; by
        default, the one that fits the measure. "venkatraman" tests that whole ROC curves are equal, not only AUCs.

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
                f"alternative is {self.alternative!r}; expected 'two-sided', 'greater', 'less', or 'better' ('greater' "
                "or 'less', by the measure).",
                option="alternative",
                value=self.alternative,
            )
        check_domain("margin", self.margin, MARGIN)
        if self.margin and self.alternative == "two-sided":
            raise OptionError(
                "a margin requires a one-sided alternative",
                remedy=f"give, for example, {keyword('alternative', 'better')}.",
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
                remedy=f"give {keyword('alternative', 'greater')} or {keyword('alternative', 'less')}.",
            )
        return "greater" if info.best == "high" else "less"

    def bound(self, info: MeasureInfo) -> float:
        """Return the difference to test against."""
        # 0.0 − margin, since the negative of a margin of 0 would be −0.0.
        return self.margin if self.side(info) == "less" else 0.0 - self.margin


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


def bootstrap_p(samples: Floats, side: Side, bound: float) -> float:
    """Return the p-value of bootstrap differences: the share beyond the bound, counting the sample itself.

    Counting the sample itself keeps the p-value above 0, however few bootstrap samples there are [@davison1997].

    >>> bootstrap_p(np.array([0.1, 0.2, 0.3]), "two-sided", 0.0)
    0.5
    """
    below, above = (float(np.count_nonzero(beyond)) + 1 for beyond in (samples <= bound, samples >= bound))
    if side == "two-sided":
        return min(2 * min(below, above) / (len(samples) + 1), 1.0)
    return (below if side == "greater" else above) / (len(samples) + 1)


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
    for _ in range(55):  # to 1e-15 standard errors
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
    order = sorted((at for at, each in enumerate(p) if not isnan(each)), key=lambda at: p[at])
    adjusted, largest = [nan] * len(p), 0.0
    for before, at in enumerate(order):
        largest = max(largest, min((len(order) - before) * p[at], 1.0))
        adjusted[at] = largest
    return adjusted


def _tail_p(below: Callable[[float], float], value: float, side: Side) -> float:
    # Always the lower tail: 1 − Φ(z) rounds to 0 from 8.3 standard errors on.
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


NO_VARIANCE = "these rows show no variance"
SAME_PREDICTIONS = "the same predictions in every row"

GroupKey = tuple[tuple[str, object], ...] | None
"""Attributes of a group and their values; None for all rows."""


@dataclass(frozen=True, slots=True)
class Comparison(Renderable):
    """Result of comparing two models A and B by a measure.

    `p` is the probability of a difference at least as far on the side of the `alternative` if there were none (or if A
    were `margin` worse); it is never 0. `p_adjusted` is the Holm-adjusted p over all comparisons made at once; the
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

    @property
    def side(self) -> Side:
        """Return the side of the differences that speaks for the alternative."""
        return self.question.side(describe(self.measure))

    @property
    def bound(self) -> float:
        """Return the difference to test against."""
        return self.question.bound(describe(self.measure))

    def conclude(self, values: Limits, bounds: Limits, how: str, **more: Any) -> Comparison:  # noqa: ANN401
        """Make a comparison whose interval contains the difference and lies within the span of differences."""
        value, (least, most) = values[0] - values[1], describe(self.measure).span
        if isnan(value):
            why = more.pop("why", None) or "both values are infinite"
            untested = {"statistic": nan, "p": nan, "p_is_bound": False, "test": ""}
            return self._build(values, Estimate(nan, why=why), **more | untested)
        low, high = max(min(bounds[0], value), least - most), min(max(bounds[1], value), most - least)
        if isnan(bounds[0]) or isnan(bounds[1]):
            low = high = nan
        return self._build(values, Estimate(value, low, high, self.question.level, how, more.pop("why", None)), **more)

    def conclude_identical(self, values: Limits, how: str = SAME_PREDICTIONS, **more: Any) -> Comparison:  # noqa: ANN401
        """Conclude that identical models do not differ, and that neither is worse."""
        # Identical models are within a positive margin with certainty; otherwise nothing speaks for a difference.
        p = SMALLEST_P if self.question.margin > 0 else 1.0
        return self.conclude(values, (0.0, 0.0), how, statistic=0.0, p=p, test=how, **more)

    def conclude_by_t(self, values: Limits, difference: StudentizedDifference, **more: Any) -> Comparison:  # noqa: ANN401
        """Make a comparison from a t interval and t test."""
        t, p = difference.test(self.side, self.bound)
        bounds = difference.interval(self.question.level)
        return self.conclude(values, bounds, difference.how, statistic=t, p=p, test=difference.how, **more)

    def conclude_by_bootstrap(
        self,
        values: Limits,
        bootstrap: BootstrapDifference,
        *,
        same: bool = False,
        **more: Any,  # noqa: ANN401
    ) -> Comparison:
        """Make a comparison from bootstrap samples; models that decide the `same` in all rows do not differ."""
        value, how = values[0] - values[1], bootstrap.description
        test = {"p": 1.0} if same and self.side == "two-sided" else bootstrap.test(value, self.side, self.bound)
        return self.conclude(values, bootstrap.interval(value, self.question.level), how, **test, test=how, **more)

    def conclude_as_shares(self, values: Limits, units: Units, **more: Any) -> Comparison:  # noqa: ANN401
        """Compare numbers whose samples do not vary, as if they were two independent proportions."""

        def interval(level: float) -> Limits:
            return newcombe_hybrid(values, *(share_limits(self.measure, value, units, level) for value in values))

        how = f"Wilson's limits of both as if independent shares: {NO_VARIANCE}"
        return self.conclude_from_intervals(values, interval, how, **more)

    def conclude_by_areas(
        self,
        values: Limits,
        areas: Sequence[AucEstimate],
        how: str,
        scale: float = 1.0,
        **more: Any,  # noqa: ANN401
    ) -> Comparison:
        """Make a comparison from Newcombe's score limits of two areas; `scale` is the slope of the measure."""

        def interval(level: float) -> Limits:
            limits = (score_interval(area, level) for area in areas)
            low, high = newcombe_hybrid((areas[0].value, areas[1].value), *limits)
            return scale * low, scale * high

        return self.conclude_from_intervals(values, interval, how, **more)

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
        bounds = interval(self.question.level)
        if isnan(sum(bounds)):
            return self.conclude(values, (nan, nan), "", **more | {"why": NO_VARIANCE})
        p = interval_p(interval, values[0] - values[1], self.side, self.bound)
        tested = {"p": max(p, smallest), "p_is_bound": p <= smallest, "test": how}
        return self.conclude(values, bounds, how, **more | tested)

    def _build(self, values: Limits, difference: Estimate, **more: Any) -> Comparison:  # noqa: ANN401
        more["p_is_bound"] = more.get("p_is_bound", False) or more.get("p", nan) <= SMALLEST_P
        return Comparison(
            describe(self.measure).name,
            more.pop("models", ("first", "second")),
            values,
            difference,
            alternative=self.side,
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
    each = list(comparisons)
    return Results({name: [cell(one) for one in each] for name, cell in _COLUMNS.items()}, data or {})


_COLUMNS: dict[str, Callable[[Comparison], Any]] = {
    "measure": lambda c: c.measure,
    "model": lambda c: c.models[0],
    "other": lambda c: c.models[1],
    "group": lambda c: None if c.group is None else dict(c.group),
    "threshold": lambda c: c.thresholds[0],
    "other_threshold": lambda c: c.thresholds[1],
    "value": lambda c: c.values[0],
    "other_value": lambda c: c.values[1],
    "difference": lambda c: c.difference.value,
    "low": lambda c: c.difference.low,
    "high": lambda c: c.difference.high,
    "level": lambda c: c.difference.level,
    "statistic": lambda c: c.statistic,
    "p": lambda c: c.p,
    "p_adjusted": lambda c: c.p_adjusted,
    "p_is_bound": lambda c: None if isnan(c.p) else c.p_is_bound,
    "alternative": lambda c: c.alternative,
    "margin": lambda c: c.margin,
    "test": lambda c: c.test or None,
    "how": lambda c: c.difference.how,
    "why": lambda c: c.difference.why,
}
"""Cells of a tidy row."""


_PERCENTILE_SAMPLES = 999
"""Samples above which percentiles are stable; with fewer, the standard deviation is used, which is stable sooner."""
_ROUNDING = 1e-12
"""Variation, as a share of the values, that is rounding."""


class BootstrapDifference(NamedTuple):
    """Bootstrap samples of a difference, and how they were made."""

    samples: Floats
    how: str
    units: Units = Units()
    """Units with random weights; infinitely many where their number does not matter."""

    def interval(self, value: float, level: float) -> tuple[float, float]:
        """Return percentiles of the samples; of few samples, a normal interval with their standard deviation."""
        if len(self.samples) >= _PERCENTILE_SAMPLES:
            return stretch_percentiles(percentiles(self.samples, level), value, self.units, level)
        half = normal_quantile(level) * self._deviation
        return stretch_percentiles((value - half, value + half), value, self.units, level)

    def test(self, value: float, side: Side, bound: float) -> dict[str, Any]:
        """Test whether the difference is on that side of the bound: `p`, and whether it is only a bound.

        A p-value that counts bootstrap samples cannot fall below one in their number. There it is an upper bound.
        """
        counted = len(self.samples) >= _PERCENTILE_SAMPLES or not self._deviation > 0
        if self.units.is_few and isfinite(value):
            ordered = self._replace(samples=np.sort(self.samples))
            p = interval_p(lambda level: ordered.interval(value, level), value, side, bound)
            # Samples carry no information beyond their own range.
            p, counted = max(p, self.smallest_p(side)), True
        elif counted:
            p = bootstrap_p(self.samples, side, bound)
        else:
            p = normal_p((value - bound) / self._deviation, side)
        return {"p": p, "p_is_bound": counted and p <= self.smallest_p(side)}

    def smallest_p(self, side: Side) -> float:
        """Return the smallest p-value that this many samples can show."""
        return (2 if side == "two-sided" else 1) / (len(self.samples) + 1)

    def is_constant(self, value: float) -> bool:
        """Return whether the samples do not vary, beyond rounding, so that they carry no information."""
        with np.errstate(invalid="ignore"):  # samples may be infinite
            return bool(np.ptp(self.samples) <= _ROUNDING * abs(value))

    @property
    def description(self) -> str:
        """Describe how the interval was made."""
        normal = "" if len(self.samples) >= _PERCENTILE_SAMPLES else ", normal with their standard deviation"
        return f"{self.how}, {count_of(len(self.samples), 'sample')}{normal}"

    @property
    def _deviation(self) -> float:
        with np.errstate(invalid="ignore"):  # samples may be infinite
            return sqrt(float(np.var(self.samples, ddof=1)))


def share_limits(measure: Measure, value: float, units: Units, level: float) -> Limits:
    """Bound a number whose samples do not vary, as a proportion of that many rows; NaN where its span is infinite."""
    least, most = describe(measure).span
    if isinf(most - least):
        return nan, nan
    part = (value - least) / (most - least)
    low, high = wilson(part * units.observed, (1 - part) * units.observed, level)
    return least + low * (most - least), least + high * (most - least)


class StudentizedDifference(NamedTuple):
    """A difference, its standard error, and the degrees of freedom of the latter."""

    value: float
    error: float
    freedom: float
    how: str

    @staticmethod
    def of(value: float, parts: Sequence[VarianceComponent], how: str) -> StudentizedDifference:
        """Add up the variances of independent components."""
        return StudentizedDifference(
            value, sqrt(sum(part.variance for part in parts)), max(degrees_of_freedom(parts), 1.0), how
        )

    def interval(self, level: float) -> Limits:
        """Return the t interval about the difference."""
        half = normal_quantile(level) * t_widening(self.freedom, level) * self.error
        return self.value - half, self.value + half

    def test(self, side: Side, bound: float) -> tuple[float, float]:
        """Return the t statistic of the difference from a bound, and the p-value that agrees with the interval."""
        t = (self.value - bound) / self.error
        return t, student_p(t, self.freedom, side) if self.freedom < inf else normal_p(t, side)

    def is_usable(self, size: float) -> bool:
        """Return whether rows show a variance, beyond rounding, for a difference of values of that size."""
        return isfinite(self.error) and self.error > _ROUNDING * size
