"""How much each group differs from a reference group, with a confidence interval and a p-value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import nan
from typing import Any

from baserate._results import Results
from baserate._tally import Group, Tallies
from baserate.equalize._eligibility import (
    MIN_SIZE,
    Eligibility,
    Reference,
    check_min_size,
    eligibility_of,
    exclusion_notes,
    find_reference,
)
from baserate.equalize._seen import Decided, Row, Seen, View, view
from baserate.infer import Comparison, ComparisonRequest, Interval, Question, adjusted, compared
from baserate.measure import Measure, about, tidy

COLUMNS = (
    *("measure", "model", "group", "other", "value", "low", "high", "level"),
    *("p", "p_adjusted", "p_is_bound", "trials", "how", "why"),
)


def differences(  # noqa: PLR0913  (all but the first are seldom given)
    tallies: Tallies,
    *,
    decided: Decided = None,
    measures: Iterable[str | Measure] | None = None,
    by: str | Sequence[str] | None = None,
    reference: Reference = None,
    min_size: int = MIN_SIZE,
    interval: Interval = Interval(),  # noqa: B008  (it is immutable)
) -> Results:
    """Compare each group with a reference group: the difference of each measure, its interval and a p-value.

    The difference is that of `group` less `other`, which is the reference. Groups are independent samples: shares have
    Newcombe's interval, and other measures are compared as by `infer.compare_unpaired`. `p` is of one comparison alone.
    `p_adjusted` is Holm-adjusted over all groups tested for the same measure and model; intervals are not adjusted.
    `p_is_bound` marks p-values that are upper bounds.

    Parameters
    ----------
    tallies
        Rows that were read with groups.
    decided
        A threshold, or a policy; the default is 0.5 if the scores are probabilities.
    measures
        Names of measures; the default is flag rate, sensitivity, FPR, precision and accuracy.
    by
        Attributes that define the groups; the default is all of them.
    reference
        Group to compare with: its label, a tuple of labels, or a mapping from attribute to label. The default is the
        group with the most rows among those that meet the minimum size for the measure.
    min_size
        Least number of rows on which a measure of a group must rest, for example negatives for the FPR. A smaller group
        is listed with its difference and interval but not tested, and `why` says so.
    interval
        Level of the intervals, and the seed.

    Returns
    -------
    Results
        One row for each model, measure and group other than the reference.

    Examples
    --------
    >>> from baserate import equalize, read
    >>> people = {"sick": [1] * 150, "says": [1] * 56 + [0] * 14 + [1] * 48 + [0] * 32, "sex": ["m"] * 70 + ["f"] * 80}
    >>> t = read.tallies(people, truth="sick", predicted="says", group="sex", positive=1)
    >>> row = equalize.differences(t, measures=["sensitivity"]).rows()[0]  # the larger group is the reference
    >>> row["group"], row["other"], round(row["value"], 4), round(row["low"], 4), round(row["high"], 4)
    ({'sex': 'm'}, {'sex': 'f'}, 0.2, 0.0524, 0.3339)
    >>> row = equalize.differences(t, measures=["sensitivity"], reference="m").rows()[0]
    >>> row["group"], round(row["value"], 4), round(row["p"], 4)
    ({'sex': 'f'}, -0.2, 0.0081)
    """
    seen = view(tallies, decided, measures, by)
    group, size = find_reference(seen, reference), check_min_size(min_size)
    rows = difference_rows(seen, interval, group, size)
    found = seen.results(COLUMNS, rows, exclusion_notes(seen, size), interval)
    return Results(found.columns, {**found.data, "reference": seen.named(group), "min_size": size})


def difference_rows(view: View, interval: Interval, reference: Group | None, min_size: int) -> Iterator[Row]:
    """One row for each model, measure and group but the reference."""
    for seen in view.seen:
        nouns = {of: seen.nouns(of) for of in {about(measure).of for measure in seen.measures}}
        for measure in seen.measures:
            eligibility = eligibility_of(seen, measure, min_size)
            other = eligibility.largest if reference is None else reference
            for group, found in _compare(seen, eligibility, other, nouns[about(measure).of], interval).items():
                fixed = {"model": seen.model, "trials": eligibility.trials[group]}
                yield {**fixed, **_row(view, found, group, other), "why": _why(view, eligibility, found, group, other)}


def _compare(
    seen: Seen, eligibility: Eligibility, other: Group, nouns: dict[Group | None, Any], interval: Interval
) -> dict[Group, Comparison]:
    """Compare all groups with another one; those with too few trials have no p-value."""
    asked = ComparisonRequest(eligibility.measure, Question(level=interval.level))
    found = {}
    for group in seen.groups:
        if group != other:
            one = compared(asked, [nouns[group], nouns[other]], seed=interval.seed)
            is_tested = {group, other} <= {*eligibility.groups}
            found[group] = one if is_tested else replace(one, p=nan, p_is_bound=False)
    return dict(zip(found, adjusted([*found.values()]), strict=True))


def _row(view: View, found: Comparison, group: Group, other: Group) -> Row:
    return {
        "measure": found.measure,
        "group": view.named(group),
        "other": view.named(other),
        **tidy(found.difference),
        "p": found.p,
        "p_adjusted": found.adjusted,
        "p_is_bound": found.p_is_bound if found.p > 0 else None,
    }


def _why(view: View, eligibility: Eligibility, found: Comparison, group: Group, other: Group) -> str | None:
    """Say why a difference is undefined, or why it is not tested."""
    undefined = found.difference.why
    if undefined is not None:
        named = {"first: ": f"{view.told(group)}: ", "second: ": f"{view.told(other)}: "}
        for name, told in named.items():
            undefined = undefined.replace(name, told)
        return undefined
    few = [each for each in (group, other) if each in eligibility.excluded]
    if not few:
        return None
    told = " and ".join(f"{view.told(each)} has {eligibility.describe(each)}" for each in few)
    return f"not tested: {told}, fewer than the minimum of {eligibility.min_size}"
