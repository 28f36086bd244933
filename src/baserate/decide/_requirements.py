"""Requirements such as "specificity >= 0.9, precision >= 30%": their parser, and whether a policy satisfies them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, isfinite, isnan
from typing import Any, Literal, NamedTuple, NoReturn, Unpack, get_args

import numpy as np

from baserate._counts import Counts, combine_counts
from baserate._cut import Cut, has_table
from baserate._domains import ShareLike, parse_share
from baserate._errors import OptionError, UnknownNameError, keyword
from baserate._policy import REFUSE, Policy
from baserate._rendering import short_repr
from baserate._results import Estimate, Results
from baserate._tally import Tallies, Tally
from baserate.decide._evaluation import (
    GroupEvaluation,
    Row,
    add_measure_settings,
    evaluate_groups,
    find_same_data,
    policies_by_model,
    results_header,
    rows_to_columns,
)
from baserate.infer import IntervalOptions
from baserate.measure import Measure, as_measure, check_tallies, describe, find_measure, names_as_typed, tidy_columns
from baserate.read import IntervalPredictionOptions, accepts_predictions
from baserate.shift import reweigh

Sense = Literal[">=", "<="]

_SIGNS = {">=": ">=", "≥": ">=", "<=": "<=", "≤": "<="}
_SIGN = re.compile(r">=|≥|<=|≤|=>|=<|==|=|>|<")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*%?")
_ROUNDING = 1e-12
"""Relative tolerance of a bound: sums of weights may miss it by rounding."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A measure with a bound that it must satisfy.

    Examples
    --------
    >>> from baserate import Counts, decide
    >>> [each] = decide.parse_requirements("false alarm rate <= 10%")
    >>> str(each), bool(each.holds_for(Counts(tp=3, fp=1, fn=2, tn=9)))
    ('fpr <= 0.1', True)
    """

    measure: Measure
    sense: Sense
    bound: float
    """Number on the right-hand side."""
    typed: str | None = field(default=None, compare=False, repr=False)
    """Name of the measure in the text that was parsed."""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        name = describe(as_measure(self.measure)).name
        if self.sense not in (">=", "<="):
            raise OptionError(f"sense is {self.sense!r}; expected '>=' or '<='.", option="sense", value=self.sense)
        if isnan(self.bound):
            raise OptionError(f"the bound of {name} is NaN", remedy="give a number.")

    def __str__(self) -> str:
        return f"{self.name} {self.sense} {self.bound:g}"

    @property
    def name(self) -> str:
        """Name of the measure."""
        return describe(self.measure).name

    @property
    def slack(self) -> float:
        """Tolerance around the bound, since sums differ by rounding."""
        return _ROUNDING * max(abs(self.bound), 1.0)

    def holds_for(self, counts: Counts[Any]) -> Any:  # noqa: ANN401  (one, or one for each table)
        """Return whether confusion matrices satisfy the requirement; undefined values do not."""
        return self.holds(self.measure(counts))

    def holds(self, value: Any) -> Any:  # noqa: ANN401  (a number, or many)
        """Return whether values satisfy the requirement."""
        if self.sense == ">=":
            return np.greater_equal(value, self.bound - self.slack)
        return np.less_equal(value, self.bound + self.slack)


def parse_requirements(given: Any, *, of_decisions: bool = False) -> tuple[Requirement, ...]:  # noqa: ANN401  (see below)
    """Parse requirements: measures by any of their names, `>=` or `<=`, and a number or a percentage.

    Parameters
    ----------
    given
        Text with requirements separated by commas, semicolons or "and"; a `Requirement`; or several of either.
    of_decisions
        Whether to refuse measures that do not depend on the threshold.

    Returns
    -------
    tuple of Requirement
        One for each bound, in their order.

    Raises
    ------
    OptionError
        If the text cannot be parsed; the message points at the character.

    Examples
    --------
    >>> from baserate import decide
    >>> print(*decide.parse_requirements("TNR >= 0.9 and precision >= 30%"), sep="; ")
    specificity >= 0.9; precision >= 0.3
    """
    if isinstance(given, Requirement):
        if of_decisions and (independence := _describe_independence(given.measure)):
            raise OptionError(independence, remedy="check it with decide.check.")
        return (given,)
    if isinstance(given, str):
        return tuple(_parse(given, of_decisions=of_decisions))
    if not isinstance(given, Iterable):
        raise OptionError(f"{given!r} is not a requirement", remedy='write it, such as "specificity >= 0.9".')
    return tuple(each for part in given for each in parse_requirements(part, of_decisions=of_decisions))


def _parse(text: str, *, of_decisions: bool) -> Iterator[Requirement]:
    start = 0
    while True:
        sign = _SIGN.search(text, start)
        name = text[start : sign.start() if sign else len(text)]
        first = start + len(name) - len(name.lstrip())
        if not name.strip():
            _raise_at(text, first, "a measure is expected here, such as specificity")
        if sign is None:
            _raise_at(text, len(text.rstrip()), f">= or <= and a number are expected after {name.strip()!r}")
        if sign[0] not in _SIGNS:  # = and > are common slips, so the pattern finds them
            _raise_at(text, sign.start(), f"{sign[0]} is not a bound; write >= or <=")
        measure = _parse_measure(text, first, name.strip())
        if of_decisions and (independence := _describe_independence(measure)):
            _raise_at(text, first, independence)
        number = _NUMBER.match(text, _skip_spaces(text, sign.end()))
        if number is None:
            _raise_at(text, _skip_spaces(text, sign.end()), "a number is expected here, such as 0.9 or 90%")
        yield Requirement(
            measure, ">=" if _SIGNS[sign[0]] == ">=" else "<=", _parse_number(number[0]), " ".join(name.split())
        )
        start = _skip_spaces(text, number.end())
        if start == len(text):
            return
        between = re.compile(r"[,;]|and\b|&&?|∧").match(text, start)
        if between is None:
            _raise_at(text, start, "a comma is expected here, before the next requirement")
        start = between.end()


def _parse_measure(text: str, place: int, name: str) -> Measure:
    try:
        return find_measure(name)
    except UnknownNameError as error:
        _raise_at(text, place, error.what.rstrip("."), kind=UnknownNameError)


def _describe_independence(measure: Measure) -> str | None:
    """Describe that a measure does not depend on the threshold; None if it does."""
    info = describe(measure)
    return (
        None if info.of is Counts else f"{info.name} does not depend on the threshold, so no threshold can satisfy it"
    )


def _parse_number(text: str) -> float:
    return float(text.rstrip("% \t")) / 100 if text.endswith("%") else float(text)


def _skip_spaces(text: str, place: int) -> int:
    return place + len(text[place:]) - len(text[place:].lstrip())


def _raise_at(
    text: str, place: int, message: str, *, kind: type[OptionError | UnknownNameError] = OptionError
) -> NoReturn:
    """Raise an error with a caret below the character that cannot be parsed."""
    # One space for each, so that the caret stays below its character.
    line = text.replace("\n", " ").replace("\t", " ")
    end = "" if message.endswith("?") else "."
    raise kind(f"the requirements cannot be read at character {place + 1}: {message}{end}\n  {line}\n  {' ' * place}^")


Basis = Literal["bound", "estimate"]
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
_COLUMNS = (
    *("requirement", "measure", "sense", "bound", "model", "group", "value", "low", "high", "level", "how", "why"),
    *("holds", "verdict", "margin", "rows", "rows_needed"),
)


@accepts_predictions("tallies")
def check(  # noqa: PLR0913  (a decision, requirements, and how they are judged)
    tallies: Tallies,
    require: Any,  # noqa: ANN401  (text, a requirement, or several of either)
    policy: Policy | Mapping[str, Policy] | None = None,
    *,
    threshold: float | None = None,
    prevalence: ShareLike | None = None,
    on: Basis = "bound",
    each_group: bool | Sequence[str] = False,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[IntervalPredictionOptions],
) -> Results:
    """Check whether a policy satisfies requirements, with confidence intervals.

    A requirement "holds" where the less favorable end of the confidence interval satisfies it. It "fails" where the
    whole interval violates it, and is "undecided" otherwise. Undefined values do not hold.

    Parameters
    ----------
    tallies
        Data to check the policy on.
    require
        Text such as "sensitivity >= 0.9, auc >= 0.8", a `Requirement`, or several of either; of any measures.
    policy
        One policy for all models, or one for each by name.
    threshold
        Threshold in place of a policy: scores at or above it are flagged.
    prevalence
        Deployment prevalence, such as 0.02 or "2%"; by default that of the sample.
    on
        "bound" compares the confidence interval with the bound, "estimate" the estimate alone.
    each_group
        Whether each group must satisfy the requirements, too; or the attributes whose groups must.
    interval
        Level and method of the confidence intervals.

    Returns
    -------
    Results
        One row per requirement, model and group. `margin` is the distance to the bound, negative where it is violated.
        `rows_needed` is the number of rows like these that would decide, if the estimate stays the same. The results
        are true, as in `assert decide.check(…)`, if every requirement holds; `data["holds"]` is the same.

    Examples
    --------
    >>> from baserate import decide, population
    >>> sick, risk = population.binormal(means=(0, 2)).draw(200, 1)
    >>> results = decide.check(sick, risk, "sensitivity >= 0.9, fpr <= 0.5", threshold=0.5)
    >>> [(row["requirement"], row["verdict"], row["rows_needed"]) for row in results.rows()], bool(results)
    ([('sensitivity >= 0.9', 'undecided', 434), ('fpr <= 0.5', 'holds', None)], False)
    """
    prevalence = parse_share(prevalence)
    check_tallies(tallies)
    if on not in get_args(Basis):
        raise OptionError(f"on is {on!r}; expected 'bound' or 'estimate'.", option="on", value=on)
    requirements = parse_requirements(require)
    if not requirements:
        raise OptionError("there is no requirement", remedy='give one, such as "sensitivity >= 0.9".')
    decision = _find_policy(policy, threshold)
    if prevalence is not None:
        tallies = reweigh(tallies, prevalence=prevalence)
    policies, by = policies_by_model(tallies, decision), _group_attributes(tallies, each_group)
    rows: list[Row] = []
    for model, each in policies.items():
        _check_table(each, requirements)
        parts = evaluate_groups(tallies, each, model, by=by)
        for requirement in requirements:
            for group, part in parts.items():
                place = {"model": model, "group": None if group is None else dict(zip(by, group, strict=True))}
                rows.append(place | _check_requirement(requirement, part, on, interval))
    details = find_same_data(tallies, policies) | {"on": on, "holds": all(row["holds"] for row in rows)}
    details = add_measure_settings(details, [each.measure for each in requirements])
    details |= names_as_typed([each.typed for each in requirements if each.typed is not None])
    columns = rows_to_columns(_COLUMNS, rows, several=len(tallies.models) > 1)
    return Results(columns, results_header(tallies, details, policies, interval))


def _find_policy(
    policy: Policy | Mapping[str, Policy] | None, threshold: float | None
) -> Policy | Mapping[str, Policy]:
    """Return the stated policy, or that of the stated threshold."""
    if policy is None and threshold is not None:
        return Policy(by_group={(): Cut((float(threshold),))}, otherwise=REFUSE)
    if policy is None or threshold is not None:
        count = "neither a policy nor a threshold" if policy is None else "both a policy and a threshold"
        raise OptionError(
            f"check was given {count}; expected one of them.",
            remedy=f"Give {keyword('threshold', 0.5)} with your number, or {keyword('policy')}.",
            option="threshold",
        )
    return policy


def _group_attributes(tallies: Tallies, each_group: bool | Sequence[str]) -> tuple[str, ...]:  # noqa: FBT001  (not public)
    """Return the attributes whose groups must satisfy the requirements."""
    if not isinstance(each_group, bool):
        return (each_group,) if isinstance(each_group, str) else tuple(each_group)
    if each_group and not tallies.attributes:
        what = f"{keyword('each_group', value=True)}, but the rows were read without groups"
        raise OptionError(what, remedy=f"read them with {keyword('group')}.")
    return tallies.attributes if each_group else ()


def _check_table(policy: Policy, requirements: Sequence[Requirement]) -> None:
    """Raise an error for measures of decisions if the policy has actions other than flag and pass."""
    undefined = [each.name for each in requirements if describe(each.measure).of is Counts]
    if undefined and not has_table(policy.actions):
        raise OptionError(
            f"a policy of {', '.join(policy.actions)} has no confusion matrix, so {undefined[0]} is undefined",
            remedy="require measures that do not depend on decisions, such as auc, or check another policy.",
        )


def _check_requirement(each: Requirement, part: GroupEvaluation, on: Basis, interval: IntervalOptions) -> Row:
    """Compare one requirement with an estimate; return a row."""
    data = part.counts if describe(each.measure).of is Counts else part.tally
    estimate_ = interval.of(each.measure, data)
    worst, best = _interval_ends(each, estimate_, on)
    verdict = UNDECIDED if isnan(worst) else HOLDS if each.holds(worst) else UNDECIDED if each.holds(best) else FAILS
    # An undefined measure is undecided, too, but no number of rows would change that.
    unsure = verdict == UNDECIDED and not isnan(worst)
    lacking = rows_to_decide(each, data, estimate_, rows=part.rows, interval=interval) if unsure else RequiredRows()
    numbers = tidy_columns(estimate_)
    return {
        "requirement": f"{each.typed or each.name} {each.sense} {each.bound:g}",
        "measure": each.name,
        "sense": each.sense,
        "bound": each.bound,
        **numbers,
        "why": numbers["why"] or lacking.why,
        "holds": verdict == HOLDS,
        "verdict": verdict,
        "margin": worst - each.bound if each.sense == ">=" else each.bound - worst,
        "rows": part.rows,
        "rows_needed": lacking.rows,
    }


def _interval_ends(each: Requirement, estimate_: Estimate, on: Basis) -> tuple[float, float]:
    """Return the values to compare: the end of the interval that is least favorable, and the most favorable one."""
    if on == "estimate":
        return estimate_.value, estimate_.value
    return (estimate_.low, estimate_.high) if each.sense == ">=" else (estimate_.high, estimate_.low)


_MAX_ROWS = 10**15
"""Largest number of rows to report."""
_AT_BOUND = "the value is the bound itself, so no number of rows decides"
_TOO_MANY = "no number of rows that can be counted would decide"


class RequiredRows(NamedTuple):
    """A number of rows, or the reason why there is none."""

    rows: int | None = None
    why: str | None = None


def rows_to_decide(
    each: Requirement, data: Counts[float] | Tally, estimate_: Estimate, *, rows: int, interval: IntervalOptions
) -> RequiredRows:
    """Compute how many rows like these would decide, where the interval of an estimate contains the bound.

    For intervals in closed form, rows are repeated until the interval excludes the bound. Other intervals are assumed
    to shrink with the square root of the number of rows.
    """
    gap = abs(estimate_.value - each.bound)
    if gap <= each.slack:
        return RequiredRows(why=_AT_BOUND)
    if not interval.closed(each.measure, data):
        return _as_row_count(max(rows * _row_factor(each, estimate_), rows + 1))

    def excludes_bound(more: Counts[float] | Tally) -> bool:
        """Return whether the interval of more data excludes the bound."""
        bounds = interval.of(each.measure, more)
        # Both ends are on one side of the bound.
        return bool(each.holds(bounds.low) == each.holds(bounds.high))

    if isinstance(data, Counts):
        needed = _smallest_sufficient(rows, lambda n_rows: excludes_bound(combine_counts([data], [n_rows / rows])))
        return _as_row_count(needed)
    # A tally holds whole rows, so all are repeated. Between the last insufficient multiple and the first sufficient
    # one, the square-root law is accurate enough.
    times = _smallest_sufficient(1, lambda factor: excludes_bound(_repeat_tally(data, factor)), most=_MAX_ROWS // rows)
    if not isfinite(times):
        return RequiredRows(why=_TOO_MANY)
    before = interval.of(each.measure, _repeat_tally(data, int(times) - 1))
    return _as_row_count(max(rows * min((times - 1) * _row_factor(each, before), times), rows + 1))


def _as_row_count(rows: float) -> RequiredRows:
    return RequiredRows(ceil(rows)) if rows <= _MAX_ROWS else RequiredRows(why=_TOO_MANY)


def _row_factor(each: Requirement, estimate_: Estimate) -> float:
    """Return the factor in rows at which the interval excludes the bound, if it shrinks with their square root."""
    side = estimate_.value - estimate_.low if estimate_.value > each.bound else estimate_.high - estimate_.value
    return float((side / (estimate_.value - each.bound)) ** 2)


def _smallest_sufficient(start: int, enough: Callable[[int], bool], *, most: int = _MAX_ROWS) -> float:
    """Return the smallest sufficient number above an insufficient one, by bisection; infinity if there is none."""
    low, high = start, 2 * start
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return float("inf")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _repeat_tally(tally: Tally, times: int) -> Tally:
    """Return the tally of the same rows, each repeated."""
    # Numbers of rows are stored in types as narrow as uint8, in which products overflow.
    rows = tally.rows.astype(np.int64) * times
    if not tally.weighted:
        return replace(tally, mass=rows, squares=rows, rows=rows)
    return replace(tally, mass=tally.mass * times, squares=tally.squares * times, rows=rows)
