"""Comparison: two models, the difference of a measure between them, and how likely chance alone would give it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any, NoReturn

from baserate._errors import UsageError
from baserate._estimate import Estimate
from baserate._formatting import SMALLEST_SHOWN
from baserate._results import Results
from baserate.infer._comparing._question import LEAST, Alternative, Bounds, Question, holm, of_intervals
from baserate.measure import Measure, about

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


STILL = "these rows show no variance"

Grouped = tuple[tuple[str, object], ...] | None
"""Attributes of a group and their values; None for everybody."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two models A and B compared by a measure.

    `p` is the chance of a difference at least as far on the side of the `alternative` if there were none (or if the
    first model were just `margin` worse); it is never 0. `adjusted` is the Holm-adjusted p, over all comparisons made
    together; the interval is not adjusted. `p_is_bound` says that both are upper bounds: the method can show no less.

    >>> Comparison("auc", ("new", "old"), (0.8, 0.7), Estimate(0.1, 0.02, 0.18, 0.95, "DeLong"), statistic=2.5, p=0.01)
    Comparison(auc: new 0.8, old 0.7; difference 0.1 (0.02 to 0.18), p 0.01)
    """

    measure: str
    models: tuple[str, str]
    values: tuple[float, float]
    difference: Estimate
    """A − B with its interval; `how` names what made it."""
    statistic: float = nan
    """Z, t, or for exact tests how many rows only A got right; NaN where p comes from draws."""
    p: float = nan
    adjusted: float = nan
    alternative: Alternative = "two-sided"
    """What was tested, with "better" already told apart: "two-sided", "greater" or "less"."""
    margin: float = 0.0
    test: str = ""
    """What made p."""
    group: Grouped = None
    thresholds: tuple[float | None, float | None] = (None, None)
    """At or above which scores were flagged; None for labels, and for measures that take none."""
    p_is_bound: bool = False
    """Whether p is the smallest value that the method can show: the true one may be less."""

    @property
    def why(self) -> str | None:
        """Why something is undefined."""
        return self.difference.why

    def __bool__(self) -> NoReturn:
        # True of every object, it would read as "yes": assert would pass whatever was found.
        raise UsageError(
            "a Comparison is neither true nor false; look at its difference, or compare its p-value with a level: "
            "comparison.p < 0.05."
        )

    def __repr__(self) -> str:
        (a, b), (x, y), d = self.models, self.values, self.difference
        between = f"{d.value:.6g} ({d.low:.6g} to {d.high:.6g})"
        what = f"{self.measure}{of_group(self.group)}"
        return f"Comparison({what}: {a} {x:.6g}, {b} {y:.6g}; difference {between}, {self._p_text})"

    @property
    def _p_text(self) -> str:
        sign = f"< {SMALLEST_SHOWN}" if self.p < SMALLEST_SHOWN else f"≤ {self.p:.6g}" if self.p_is_bound else None
        return f"p {sign or f'{self.p:.6g}'}"


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """A measure, and what is asked of its difference."""

    measure: Measure
    question: Question

    def found(self, values: tuple[float, float], bounds: tuple[float, float], how: str, **more: Any) -> Comparison:  # noqa: ANN401
        """Make a comparison whose interval contains the difference and lies within the span of differences."""
        told = about(self.measure)
        value = values[0] - values[1]
        if isnan(value):
            why = more.pop("why", None) or "both values are infinite"
            return self._made(
                values, Estimate(nan, why=why), **more | {"statistic": nan, "p": nan, "p_is_bound": False, "test": ""}
            )
        widest = told.span[1] - told.span[0]
        low, high = max(min(bounds[0], value), -widest), min(max(bounds[1], value), widest)
        unsure = isnan(bounds[0]) or isnan(bounds[1])
        estimate = Estimate(
            value,
            nan if unsure else low,
            nan if unsure else high,
            self.question.level,
            how,
            more.pop("why", None),
        )
        return self._made(values, estimate, **more)

    def by_intervals(
        self,
        values: Bounds,
        interval: Callable[[float], Bounds],
        how: str,
        smallest: float = 0.0,
        **more: Any,  # noqa: ANN401
    ) -> Comparison:
        """Make a comparison whose p-value is one less the level at which the interval just reaches the bound.

        `smallest` is the smallest p-value that the intervals can show, where they rest on bootstrap samples.
        """
        told, bounds = about(self.measure), interval(self.question.level)
        if isnan(sum(bounds)):
            return self.found(values, (nan, nan), "", **more | {"why": STILL})
        p = of_intervals(interval, values[0] - values[1], self.question.side(told), self.question.bound(told))
        tested = {"p": max(p, smallest), "p_is_bound": p <= smallest, "test": how}
        return self.found(values, bounds, how, **more | tested)

    def _made(self, values: tuple[float, float], difference: Estimate, **more: Any) -> Comparison:  # noqa: ANN401
        told = about(self.measure)
        more["p_is_bound"] = more.get("p_is_bound", False) or more.get("p", nan) <= LEAST
        return Comparison(
            told.name,
            more.pop("models", ("first", "second")),
            values,
            difference,
            alternative=self.question.side(told),
            margin=self.question.margin,
            **more,
        )


def of_group(group: Grouped) -> str:
    """In words of whom; nothing for everybody."""
    return "" if group is None else f" for {', '.join(f'{key} = {value}' for key, value in group)}"


def adjusted(found: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Give each comparison its p-value as one among many."""
    return tuple(replace(each, adjusted=p) for each, p in zip(found, holm([each.p for each in found]), strict=True))


def tidy(found: Iterable[Comparison], data: Mapping[str, Any] | None = None) -> Results:
    """Comparisons as tidy rows, for tables, JSON and frames; `data` says what they were made from.

    >>> one = Comparison("auc", ("new", "old"), (0.8, 0.7), Estimate(0.1, 0.02, 0.18, 0.95, "DeLong"), 2.5, 0.01)
    >>> row = tidy([one]).rows()[0]
    >>> row["model"], row["other"], row["difference"], row["p"]
    ('new', 'old', 0.1, 0.01)
    """
    rows = [_row(each) for each in found]
    return Results({name: [row[name] for row in rows] for name in COLUMNS}, data or {})


def _row(found: Comparison) -> dict[str, Any]:
    (model, other), (value, other_value), d = found.models, found.values, found.difference
    return {
        "measure": found.measure,
        "model": model,
        "other": other,
        "group": None if found.group is None else dict(found.group),
        "threshold": found.thresholds[0],
        "other_threshold": found.thresholds[1],
        "value": value,
        "other_value": other_value,
        "difference": d.value,
        "low": d.low,
        "high": d.high,
        "level": d.level,
        "statistic": found.statistic,
        "p": found.p,
        "p_adjusted": found.adjusted,
        "p_is_bound": None if isnan(found.p) else found.p_is_bound,
        "alternative": found.alternative,
        "margin": found.margin,
        "test": found.test or None,
        "how": d.how,
        "why": d.why,
    }
