"""Check whether a policy satisfies requirements on any data, and how many rows would decide what is undecided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil, isfinite, isnan
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from baserate._counts import Counts, combine_counts
from baserate._cut import has_table
from baserate._errors import OptionError, keyword
from baserate._policy import Policy
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
from baserate.decide._requirements import Requirement, parse_requirements
from baserate.infer import IntervalOptions
from baserate.measure import check_tallies, describe, tidy_columns

Basis = Literal["bound", "estimate"]
HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
_COLUMNS = (
    *("requirement", "measure", "sense", "bound", "model", "group", "value", "low", "high", "level", "how", "why"),
    *("holds", "verdict", "margin", "rows", "rows_needed"),
)


def check(
    tallies: Tallies,
    policy: Policy | Mapping[str, Policy],
    require: Any,  # noqa: ANN401  (text, a requirement, or several of either)
    *,
    on: Basis = "bound",
    each_group: bool | Sequence[str] = False,
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
) -> Results:
    """Check whether a policy satisfies requirements, with confidence intervals.

    A requirement "holds" where the less favorable end of the confidence interval satisfies it. It "fails" where the
    whole interval violates it, and is "undecided" otherwise. Undefined values do not hold. For another prevalence,
    reweight the tallies first with `shift.reweigh`.

    Parameters
    ----------
    tallies
        Data to check the policy on.
    policy
        One policy for all models, or one for each by name.
    require
        Text such as "sensitivity >= 0.9, auc >= 0.8", a `Requirement`, or several of either; of any measures.
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
    >>> from baserate import Cut, Policy, decide, population, read
    >>> sick, risk = population.binormal(means=(0, 2)).draw(200, 1)
    >>> t = read.tallies({"sick": sick, "risk": risk}, truth="sick", score="risk")
    >>> policy = Policy(by_group={(): Cut((0.5,))}, otherwise="refuse")
    >>> results = decide.check(t, policy, "sensitivity >= 0.9, fpr <= 0.5")
    >>> [(row["requirement"], row["verdict"], row["rows_needed"]) for row in results.rows()], bool(results)
    ([('sensitivity >= 0.9', 'undecided', 434), ('fpr <= 0.5', 'holds', None)], False)
    """
    check_tallies(tallies)
    if on not in get_args(Basis):
        raise OptionError(f"on is {on!r}; it is 'bound' or 'estimate'.", option="on", value=on)
    wanted = parse_requirements(require)
    if not wanted:
        raise OptionError("nothing is required", remedy='give requirements, such as "sensitivity >= 0.9".')
    policies, by = policies_by_model(tallies, policy), _group_attributes(tallies, each_group)
    rows: list[Row] = []
    for model, each in policies.items():
        _check_table(each, wanted)
        parts = evaluate_groups(tallies, each, model, by=by)
        for requirement in wanted:
            for group, part in parts.items():
                place = {"model": model, "group": None if group is None else dict(zip(by, group, strict=True))}
                rows.append(place | _check_requirement(requirement, part, on, interval))
    details = find_same_data(tallies, policies) | {"on": on, "holds": all(row["holds"] for row in rows)}
    details = add_measure_settings(details, [each.measure for each in wanted])
    several = len(tallies.models) > 1
    return Results(
        rows_to_columns(_COLUMNS, rows, several=several), results_header(tallies, details, policies, interval)
    )


def _group_attributes(tallies: Tallies, each_group: bool | Sequence[str]) -> tuple[str, ...]:  # noqa: FBT001  (not public)
    """Return the attributes whose groups must satisfy the requirements."""
    if not isinstance(each_group, bool):
        return (each_group,) if isinstance(each_group, str) else tuple(each_group)
    if each_group and not tallies.attributes:
        raise OptionError(
            f"{keyword('each_group', value=True)}, but the rows were read without groups",
            remedy=f"read them with {keyword('group')}.",
        )
    return tallies.attributes if each_group else ()


def _check_table(policy: Policy, wanted: Sequence[Requirement]) -> None:
    """Raise an error for measures of decisions if the policy has actions other than flag and pass."""
    lost = [each.name for each in wanted if describe(each.measure).of is Counts]
    if lost and not has_table(policy.actions):
        raise OptionError(
            f"a policy of {', '.join(policy.actions)} has no 2×2 table, and so no {lost[0]}; require what does not "
            "depend on decisions, such as auc, or check a policy that passes and flags."
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
        "requirement": str(each),
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
        """Whether the interval of so much more leaves the bound."""
        bounds = interval.of(each.measure, more)
        return bool(each.holds(bounds.low) == each.holds(bounds.high))

    if isinstance(data, Counts):
        return _as_row_count(
            _smallest_sufficient(rows, lambda many: excludes_bound(combine_counts([data], [many / rows])))
        )
    # A tally holds whole rows, so all are repeated. Between the last insufficient multiple and the first sufficient
    # one, the square-root law is accurate enough.
    times = _smallest_sufficient(1, lambda many: excludes_bound(_repeat_tally(data, many)), most=_MAX_ROWS // rows)
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
    rows = tally.rows.astype(np.int64) * times
    if not tally.weighted:
        return replace(tally, mass=rows, squares=rows, rows=rows)
    return replace(tally, mass=tally.mass * times, squares=tally.squares * times, rows=rows)
