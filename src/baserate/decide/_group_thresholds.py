"""Thresholds of groups: a rule's choice in each group beside that of all rows, and differences between groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import inf, isfinite, nan
from typing import NamedTuple, Unpack

import numpy as np

from baserate._costs import CostsLike, as_costs
from baserate._curve import Curve
from baserate._domains import MIN_GROUP, SAMPLES, ShareLike, check_domain, parse_share
from baserate._errors import BaserateError, OptionError, keyword
from baserate._formatting import count_of
from baserate._policy import Policy
from baserate._results import Estimate, Results
from baserate._tally import Group, Tallies, Tally
from baserate.decide._evaluation import (
    CELLS,
    COLUMNS,
    SAME_DATA_NOTE,
    Row,
    add_measure_settings,
    estimate_row,
    results_header,
    rows_to_columns,
    select_measures,
)
from baserate.decide._rule import Rule, use_midpoints
from baserate.decide._rules import bind_rule
from baserate.decide._summary import CORRECTED_NOTE, SummaryOptions, bootstrap_columns
from baserate.decide._validation import N_BOOTSTRAP, ThresholdBootstrap, bootstrap_threshold
from baserate.infer import IntervalOptions, holm, make_generator, percentiles
from baserate.measure import Measure, check_tallies, group_attributes, tidy_columns
from baserate.read import accepts_predictions
from baserate.shift import reweigh

DIFFERENCE = "threshold_difference"
_JOINT_NOTE = (
    "each group has the threshold that is best for it alone; to decide for all groups jointly, under a parity, "
    "use `baserate equalize`."
)


class _Choice(NamedTuple):
    """The choice in one group, or in all rows (None); without a policy, the reason."""

    group: Group | None
    curve: Curve
    policy: Policy | None
    bootstrap: ThresholdBootstrap | None
    why: str = ""


@accepts_predictions("tallies")
def group_thresholds(  # noqa: PLR0913  (all but the first two are seldom given)
    tallies: Tallies,
    rule: Callable[..., Policy] | str | None = None,
    *,
    prevalence: ShareLike | None = None,
    costs: CostsLike | None = None,
    measures: Iterable[str | Measure] | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
    midpoints: bool = False,
    interval: IntervalOptions | None = IntervalOptions(),  # noqa: B008  (it is immutable)
    **options: Unpack[SummaryOptions],
) -> Results:
    """Choose a threshold in each group and in all rows, and compare the thresholds of groups.

    Groups are bootstrapped independently. The interval of a difference has the percentiles of differences between
    samples, and its p-value is the smallest level at which such an interval excludes 0; p-values are adjusted by Holm's
    method over all pairs of groups. Where thresholds are coarse, such tests are approximate.

    Parameters
    ----------
    tallies
        Data to choose on, with groups.
    rule, prevalence, costs, measures, midpoints, interval
        As in `summary`; the rule must choose one threshold.
    n_bootstrap
        Number of bootstrap samples of each group; 0 for none.
    **options
        Options of the rule, such as ``measure="f1"``.

    Returns
    -------
    Results
        Tidy rows: for all rows (group None) and each group the threshold with its bootstrap interval, the confusion
        matrix, and measures with optimism-corrected values. Rows of `threshold_difference` hold the threshold of
        `group` minus that of `other`, with p-values.

    Raises
    ------
    OptionError
        If there are no groups, or the rule does not choose one threshold on data.

    Examples
    --------
    >>> from baserate import decide
    >>> truth, score, site = [1, 0, 1, 0] * 2, [0.9, 0.6, 0.4, 0.1, 0.7, 0.5, 0.3, 0.2], ["n"] * 4 + ["s"] * 4
    >>> results = decide.group_thresholds(truth, score, "youden", group=site, n_bootstrap=100)
    >>> [(row["group"], row["value"]) for row in results.rows() if row["measure"] == "threshold"]
    [(None, 0.7), ({'group': 'n'}, 0.9), ({'group': 's'}, 0.7)]
    """
    check_tallies(tallies)
    if not tallies.attributes:
        raise OptionError("there are no groups", remedy=f"Name a column: {keyword('group', 'site')}.", option="group")
    if n_bootstrap != 0:
        check_domain("n_bootstrap", n_bootstrap, SAMPLES.or_none)
    costs, share = as_costs(costs), parse_share(prevalence)
    choose: Rule = bind_rule(rule, costs, options)
    choose = use_midpoints(choose) if midpoints else choose
    tallies = tallies if share is None else reweigh(tallies, prevalence=share)
    selected = select_measures(measures, costs)
    rows: list[Row] = []
    notes: list[str] = []
    policies: dict[str, Policy] = {}
    for model in tallies.models:
        of = f"{model}: " if len(tallies.models) > 1 else ""
        choices = _choose_in_groups(tallies, model, choose, selected, (n_bootstrap, interval))
        assert choices[0].policy is not None  # noqa: S101  (the choice in all rows raises otherwise)
        policies[model] = choices[0].policy
        place = {"rule": choices[0].policy.rule, "model": model}
        for each in choices:
            rows += [
                place | {"group": group_attributes(tallies, each.group)} | row
                for row in _choice_rows(each, selected, interval)
            ]
        rows += [place | row for row in _difference_rows(tallies, choices[1:], interval)]
        notes += [f"{of}{note}" for note in _notes(tallies, choices)]
    same_data = CORRECTED_NOTE if n_bootstrap and interval is not None else SAME_DATA_NOTE
    details = add_measure_settings({"same": list(policies), "notes": [same_data, _JOINT_NOTE, *notes]}, selected)
    columns = rows_to_columns((*COLUMNS, "other", "p", "p_adjusted"), rows, several=len(tallies.models) > 1)
    return Results(columns, results_header(tallies, details, policies, interval))


def _choose_in_groups(
    tallies: Tallies,
    model: str,
    choose: Rule,
    measures: Sequence[Measure],
    resampling: tuple[int, IntervalOptions | None],
) -> list[_Choice]:
    """Choose in all rows, then in each group; all rows must have a threshold, and groups may have none."""
    n_bootstrap, interval = resampling
    parts: list[tuple[Group | None, Tally]] = [(None, tallies.pooled(model)), *tallies.models[model].items()]
    # Groups are independent, so each has random numbers of its own.
    seeds = make_generator(0 if interval is None else interval.seed).spawn(len(parts))
    choices = []
    for (group, tally), seed in zip(parts, seeds, strict=True):
        curve = Curve(tally)
        try:
            policy = choose(curve)
        except BaserateError as error:
            if group is None:
                raise
            choices.append(_Choice(group, curve, None, None, str(error)))
            continue
        if policy.chosen_on is None or policy.flags_from is None:
            what = f"the rule {policy.rule} does not choose one threshold on data"
            raise OptionError(what, remedy="use a rule that does, such as youden.", option="rule")
        bootstrap = None
        if interval is not None and n_bootstrap:
            bootstrap = bootstrap_threshold(
                curve, choose, measures=measures, n_bootstrap=n_bootstrap, seed=seed, level=interval.level
            )
        choices.append(_Choice(group, curve, policy, bootstrap))
    return choices


def _choice_rows(choice: _Choice, measures: Sequence[Measure], interval: IntervalOptions | None) -> Iterator[Row]:
    """Yield the threshold, the confusion matrix and the measures of one choice."""
    if choice.policy is None:
        yield {"measure": "threshold", "action": "flag", **tidy_columns(Estimate(nan, why=choice.why))}
        return
    counts = choice.policy.cut.counts(choice.curve)
    rows: list[Row] = [{"measure": "threshold", "action": "flag", "value": choice.policy.threshold}]
    rows += [{"measure": cell, "value": getattr(counts, cell)} for cell in CELLS]
    rows += [estimate_row(interval, measure, counts) for measure in measures]
    for row in rows:
        yield row | bootstrap_columns(choice.bootstrap, row)


def _difference_rows(tallies: Tallies, choices: Sequence[_Choice], interval: IntervalOptions | None) -> Iterator[Row]:
    """Yield the difference of each pair of groups that have finite thresholds, with adjusted p-values."""
    rows: list[Row] = []
    for first, second in combinations(choices, 2):
        if not _is_finite(first) or not _is_finite(second):
            continue
        estimate, p = _compare(first, second, interval)
        ends = {"group": group_attributes(tallies, first.group), "other": group_attributes(tallies, second.group)}
        rows.append({"measure": DIFFERENCE, **ends, **tidy_columns(estimate), "p": p})
    tested = [row for row in rows if row["p"] is not None]
    adjusted = holm([row["p"] for row in tested]) if tested else []
    for row, p in zip(tested, adjusted, strict=True):
        row["p_adjusted"] = p
    yield from rows


def _is_finite(choice: _Choice) -> bool:
    return choice.policy is not None and isfinite(choice.policy.threshold)


def _compare(first: _Choice, second: _Choice, interval: IntervalOptions | None) -> tuple[Estimate, float | None]:
    """Return the difference of two thresholds with its interval, and a p-value where there are samples."""
    assert first.policy is not None  # noqa: S101  (`_is_finite`)
    assert second.policy is not None  # noqa: S101
    value = first.policy.threshold - second.policy.threshold
    if first.bootstrap is None or second.bootstrap is None or interval is None:
        return Estimate(value), None
    differences = first.bootstrap.thresholds[:, 0] - second.bootstrap.thresholds[:, 0]
    differences = differences[np.isfinite(differences)]
    if not len(differences):
        return Estimate(value, level=interval.level, why="no bootstrap sample has both thresholds"), None
    low, high = percentiles(differences, interval.level)
    tail = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    how = f"percentiles of {len(differences)} differences of bootstrap samples"
    # One is added to both counts: no p-value of random samples is 0.
    return Estimate(value, min(low, value), max(high, value), interval.level, how), min(
        2 * (tail + 1) / (len(differences) + 1), 1.0
    )


def _notes(tallies: Tallies, choices: Sequence[_Choice]) -> Iterator[str]:
    """Yield notes of the policies, and on small groups and groups without a threshold."""
    pooled, *groups = choices
    assert pooled.policy is not None  # noqa: S101  (the choice in all rows raises otherwise)
    yield from (f"all rows: {note}" for note in pooled.policy.notes)
    small = [each for each in groups if _least_class(each) < MIN_GROUP]
    if small:
        fewest = min(small, key=_least_class)
        names = "; ".join(_group_name(tallies, each) for each in small)
        yield (
            f"{count_of(len(small), 'group')} with fewer than {MIN_GROUP} positives or negatives ({names}; the least "
            f"is {_least_class(fewest):g}): such thresholds vary widely from sample to sample."
        )
    for each in groups:
        if each.policy is None:
            yield f"{_group_name(tallies, each)} has no threshold: {each.why}"
        elif abs(each.policy.threshold) == inf:
            yield f"in {_group_name(tallies, each)} flagging nobody is best, so it is not compared."
    if len(groups) > _FEW_GROUPS:
        yield (
            f"{len(groups)} groups make {len(groups) * (len(groups) - 1) // 2} comparisons; the most extreme "
            "thresholds are partly chance: read the adjusted p-values."
        )


_FEW_GROUPS = 2


def _least_class(choice: _Choice) -> float:
    """Return the number of rows of the smaller class."""
    return float(choice.curve.tally.rows.sum(axis=1).min())


def _group_name(tallies: Tallies, choice: _Choice) -> str:
    attributes: Mapping[str, object] = group_attributes(tallies, choice.group) or {}
    return ", ".join(f"{name} = {value}" for name, value in attributes.items())
