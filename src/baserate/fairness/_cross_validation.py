"""Cross-validation of a parity: gaps between groups on data that the policy was not fitted to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import isnan, nan
from typing import Any, NamedTuple, Unpack

import numpy as np

from baserate._arrays import Floats, keep_read_only, make_read_only
from baserate._counts import Counts, combine_counts
from baserate._cut import FLAG, PASS, REFER, actions_of
from baserate._domains import REPEATS, check_domain
from baserate._errors import BaserateError, OptionError
from baserate._policy import REFUSE, Policy
from baserate._rendering import short_repr
from baserate._results import Estimate, Results
from baserate._rows import Rows
from baserate._tally import Group, Tallies, Tally
from baserate.calibration import FOLDS, Fold, ProgressCallback, assign_folds
from baserate.decide import find_model, results_header
from baserate.fairness._gaps import NullGaps, combine_null_gaps, simulate_null_gaps
from baserate.fairness._group_counts import (
    Groups,
    Participants,
    as_tallies,
    check_actions,
    group_label,
    group_tables,
    rate_gaps,
    select_participants,
)
from baserate.fairness._optimum import optimal_policy
from baserate.fairness._parities import Goal
from baserate.infer import IntervalOptions
from baserate.measure import MEASURES, Measure, expected_cost, tidy_columns
from baserate.read import IntervalPredictionOptions, accepts_predictions
from baserate.shift import scale_counts

PolicyRule = Callable[[Tallies, Goal], Policy]
Tables = Mapping[Group, Counts[float]]
HELD_OUT_COLUMNS = ("measure", "kind", "rate", "group", "value", "low", "high", "level", "how", "why")
HELD_OUT, QUANTILE, NULL, APPARENT = "held out", "95 % of folds", "if alike", "apparent"
_NOTE = (
    "held out: rows that a policy was evaluated on but not chosen on; apparent: rows that it was chosen on, where a "
    "parity is optimistic. A held-out gap is the mean over folds; “if alike” is its mean if groups did not differ."
)
_GAP_DEFINITION = "greatest difference between two groups"
_N_SIMULATIONS = 2000
"""Simulations of the null gap in each fold."""


@keep_read_only
@dataclass(frozen=True, slots=True, eq=False)
class ParityValidation:
    """Gaps between groups on held-out folds."""

    policy: Policy
    """Policy fitted to all rows."""
    tables: Tables
    """Expected confusion matrix of each group; every row is decided by the policy fitted without its fold."""
    rates: Mapping[str, Mapping[Group, Estimate]]
    """Rates that must agree, in those tables. Intervals treat the policy as fixed."""
    gaps: Mapping[str, Floats]
    """Greatest difference of each rate between two groups, in every fold; NaN if fewer than two groups have it."""
    null_gaps: Mapping[str, float]
    """Mean null gap of each rate in folds of the same size; the last is that of the greatest gap of any rate."""
    apparent: Mapping[str, float]
    """Gaps of the policy on the rows that it was fitted to."""
    cost: Estimate
    """Expected cost per person in the held-out tables."""
    cost_apparent: float
    attributes: tuple[str, ...]
    data: Mapping[str, Any]
    """Metadata: data, policy, folds and notes."""
    value: Estimate | None = None
    """Objective of the goal in the held-out tables; None if the goal is the least expected cost."""
    value_apparent: float | None = None

    __repr__ = short_repr

    @property
    def greatest_gaps(self) -> Floats:
        """Greatest gap of any rate in each fold."""
        # `fmax` ignores NaN: a fold may lack a rate in all groups but one.
        greatest: Floats = np.fmax.reduce([*self.gaps.values()])
        return greatest

    @property
    def mean_gap(self) -> float:
        """Mean of the greatest gap over folds."""
        return _mean_gap(self.greatest_gaps)

    def quantile(self, share: float = 0.95) -> float:
        """Return the quantile of the greatest gap over folds.

        Parameters
        ----------
        share
            Share of the folds whose gap is at most the result.
        """
        if not 0 <= share <= 1:
            raise OptionError(f"share is {share}; expected a number from 0 to 1.", option="share", value=share)
        return _gap_quantile(self.greatest_gaps, share)

    def results(self) -> Results:
        """Return tidy rows: rates of groups, gaps and costs, with the `kind` of data that each is from."""
        rows = [*self._rate_rows(), *self._gap_rows(), *self._cost_rows()]
        return Results({name: [row.get(name) for row in rows] for name in HELD_OUT_COLUMNS}, self.data)

    def _rate_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the held-out rates of groups."""
        for rate, groups in self.rates.items():
            for group, estimate in groups.items():
                attributes = dict(zip(self.attributes, group, strict=True))
                yield {"measure": rate, "kind": HELD_OUT, "group": attributes} | tidy_columns(estimate)

    def _gap_rows(self) -> Iterator[dict[str, Any]]:
        """Yield held-out, null and apparent gaps."""
        every = {**self.gaps, ", ".join(self.gaps): self.greatest_gaps}
        for rate, gaps in every.items():
            apparent = self.apparent[rate] if rate in self.apparent else max(self.apparent.values())
            kinds = {HELD_OUT: _mean_gap(gaps), QUANTILE: _gap_quantile(gaps, 0.95), NULL: self.null_gaps[rate]}
            how = _GAP_DEFINITION if rate in self.gaps else f"{_GAP_DEFINITION} in any of these rates"
            for kind, value in {**kinds, APPARENT: apparent}.items():
                yield {"measure": "gap", "kind": kind, "rate": rate} | _value_columns(value, how)

    def _cost_rows(self) -> Iterator[dict[str, Any]]:
        """Yield held-out and apparent costs."""
        yield {"measure": "expected_cost", "kind": HELD_OUT} | tidy_columns(self.cost)
        yield {"measure": "expected_cost", "kind": APPARENT, "value": self.cost_apparent}
        if self.value is not None:
            yield {"measure": self.data["objective"], "kind": HELD_OUT} | tidy_columns(self.value)
            yield {"measure": self.data["objective"], "kind": APPARENT, "value": self.value_apparent}


def _mean_gap(gaps: Floats) -> float:
    """Return the mean of defined gaps."""
    defined = gaps[~np.isnan(gaps)]
    return float(defined.mean()) if len(defined) else nan


def _gap_quantile(gaps: Floats, share: float) -> float:
    """Return a quantile of defined gaps."""
    defined = gaps[~np.isnan(gaps)]
    return float(np.quantile(defined, share)) if len(defined) else nan


def _value_columns(value: float, how: str) -> dict[str, Any]:
    """Return a value with its definition, or with the reason why it is undefined."""
    return {"value": value, "how": how, "why": "no rate is defined in two groups" if isnan(value) else None}


@dataclass(frozen=True, slots=True)
class Folds:
    """Folds of a cross-validation: their number, how often it is repeated, and the random seed.

    >>> Folds(folds=2, repeats=100)
    Folds(folds=2, repeats=100, seed=0)
    """

    folds: int = FOLDS
    """Number of folds."""
    repeats: int = 1
    """Number of random partitions into folds."""
    seed: int = 0
    """Random seed of the first partition."""

    def __post_init__(self) -> None:
        check_domain("repeats", self.repeats, REPEATS)

    def seeds(self) -> list[int]:
        """Return a seed for each repetition; the first is `seed` itself."""
        more: list[int] = np.random.default_rng(self.seed).integers(2**63, size=self.repeats - 1).tolist()
        return [self.seed, *more]


@accepts_predictions("groups or rows")
def cross_validate(  # noqa: PLR0913  (all but two are seldom given)
    data: Groups | Rows,
    goal: Goal,
    *,
    choose: PolicyRule | None = None,
    folds: Folds = Folds(),
    interval: IntervalOptions = IntervalOptions(),  # noqa: B008  (it is immutable)
    model: str | None = None,
    otherwise: str = REFUSE,
    watch: ProgressCallback | None = None,
    **predictions: Unpack[IntervalPredictionOptions],
) -> ParityValidation:
    """Cross-validate a parity: fit a policy without each fold, and measure the gaps between groups in that fold.

    A parity holds on the data that it was fitted to, and the less well on other data the fewer there were. Gaps are
    those of single folds, since an excess in one fold may cancel a deficit in another. Chance in the few rows of a fold
    produces a gap by itself; `null_gaps` contain its mean.

    Parameters
    ----------
    data
        Tallies or rows that were read with groups, or a mapping from groups to curves. Rows of a cluster stay in one
        fold.
    goal
        Parities, tolerances, costs and prevalence.
    choose
        Function of tallies and a goal that returns a policy; the default is `optimal_policy`.
    folds
        Number of folds, repetitions and random seed; `Folds(folds=2, repeats=100)` makes 200 random halves.
    interval
        Method and level of the confidence intervals.
    model
        Model to use, if the data have several.
    otherwise
        Action for a group that lacks a class without some fold; by default this is an error.
    watch
        Callback that receives the number of finished folds and their total.

    Returns
    -------
    ParityValidation
        Policy fitted to all rows; held-out tables, rates, gaps and costs; null and apparent gaps.

    Examples
    --------
    >>> from baserate import fairness, population, read
    >>> truth, score = population.binormal(means=(0, 1)).draw(1000, 1)
    >>> people = {"sick": truth, "risk": score, "sex": ["f", "m"] * 500}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> validation = fairness.cross_validate(t, fairness.Goal("equal-opportunity"))
    >>> {rate: round(gap, 3) for rate, gap in validation.apparent.items()}
    {'sensitivity': 0.0}
    >>> round(validation.mean_gap, 3), round(validation.null_gaps["sensitivity"], 3)
    (0.067, 0.075)
    """
    one_model = _select_model(data, model)
    tallies = one_model.tallies() if isinstance(one_model, Rows) else one_model
    participants = select_participants(tallies, goal, otherwise=otherwise)
    task = _CrossValidation(tallies, participants, choose or partial(optimal_policy, otherwise=otherwise))
    policy = task.choose(tallies, goal)
    check_actions(actions_of(policy.by_group.values()), {PASS, REFER, FLAG})
    results = _cross_validate(task, one_model, folds, watch)
    # Tables of one partition only: over several, each row would count more than once.
    first = results[: len(results) // folds.repeats]
    tables = {group: combine_counts([part.tables[group] for part in first]) for group in participants.curves}
    all_tables = group_tables(participants.tallies, policy, participants.model)
    apparent = {group: table for group, table in all_tables.items() if group in tables}
    rates = {rate: {g: interval.of(MEASURES[rate], each) for g, each in tables.items()} for rate in goal.rates}
    gaps = {rate: make_read_only(np.array([_rate_gap(part.tables, rate) for part in results])) for rate in goal.rates}
    cost, held_out = partial(expected_cost, costs=goal.costs), combine_counts([*tables.values()])
    fitted = combine_counts([*apparent.values()])
    notes = _validation_notes(one_model, participants, results)
    return ParityValidation(
        policy=policy,
        tables=tables,
        rates=rates,
        gaps=gaps,
        null_gaps=_null_means(first, goal.rates, interval, folds.seed),
        apparent=rate_gaps(apparent, goal.rates),
        cost=interval.of(cost, held_out),
        cost_apparent=cost(fitted),
        value=None if goal.measure is None else interval.of(goal.measure, held_out),
        value_apparent=None if goal.measure is None else float(goal.measure(fitted)),
        attributes=tallies.attributes,
        data=_metadata(
            participants, policy, interval, {"dealt": {**asdict(folds), "folds": len(first)}, "notes": notes}
        ),
    )


def _cross_validate(
    task: _CrossValidation, one_model: Tallies | Rows, folds: Folds, watch: ProgressCallback | None
) -> list[_FoldResult]:
    """Evaluate every fold of every repetition."""
    ordered, results = _sort_groups(one_model), list[_FoldResult]()
    for seed in folds.seeds():
        parts = assign_folds(ordered, folds=folds.folds, seed=seed)
        for each in task.run(parts):
            results.append(each)
            if watch is not None:
                watch(len(results), len(parts) * folds.repeats)
    return results


def _select_model(data: Groups | Rows, model: str | None) -> Tallies | Rows:
    """Select one model; as rows if clusters must stay together, otherwise as tallies."""
    tallies = data.tallies() if isinstance(data, Rows) else as_tallies(data)
    name = find_model(tallies, model)
    if isinstance(data, Rows) and data.cluster is not None:
        return replace(data, score={name: data.score[name]})
    return Tallies({name: tallies.models[name]}, tallies.attributes, tallies.intake)


def _sort_groups(one_model: Tallies | Rows) -> Tallies | Rows:
    """Sort groups by content, so that their names do not change the assignment to folds."""
    if isinstance(one_model, Rows):
        return one_model
    ((name, groups),) = one_model.models.items()
    return replace(one_model, models={name: dict(sorted(groups.items(), key=lambda item: item[1].digest))})


class _FoldResult(NamedTuple):
    """Policy that was fitted without a fold, and the tables of that fold."""

    policy: Policy
    tables: Tables


@dataclass(frozen=True, slots=True, eq=False)
class _CrossValidation:
    """Data, participants and rule of a cross-validation."""

    tallies: Tallies
    participants: Participants
    choose: PolicyRule

    def run(self, parts: Sequence[Fold]) -> Iterator[_FoldResult]:
        """Fit without each fold, and evaluate on it."""
        model, groups = self.participants.model, self.tallies.groups
        for at, fold in enumerate(parts, start=1):
            rest = {group: Tally.sum(part[group] for part in parts if part is not fold) for group in groups}
            try:
                policy = self.choose(replace(self.tallies, models={model: rest}), self.participants.goal)
                tables = group_tables(replace(self.tallies, models={model: fold}), policy, model)
            except BaserateError as error:
                what = f"without fold {at} of {len(parts)}: {error} More folds leave out fewer rows at a time."
                # The same type, so that the command line exits with the same code.
                raise type(error)(what) from error
            adjusted = {group: self._adjust_to_prevalence(group, tables[group]) for group in self.participants.curves}
            yield _FoldResult(policy, adjusted)

    def _adjust_to_prevalence(self, group: Group, table: Counts[float]) -> Counts[float]:
        """Adjust a table to the deployment prevalence, by the same factors in all folds of a group."""
        if self.participants.goal.prevalence is None:
            return table
        both = self.tallies, self.participants.tallies
        before, after = (each.models[self.participants.model][group] for each in both)
        # Factors come from all rows. Adjusting every fold by its own prevalence would add noise.
        pairs = (before.positives, after.positives), (before.negatives, after.negatives)
        return scale_counts(table, *(after / before if before else 1.0 for before, after in pairs))


def _rate_gap(tables: Tables, rate: str) -> float:
    """Compute the greatest difference of a rate between two groups; NaN if fewer have it."""
    n_defined = sum(not isnan(MEASURES[rate](table)) for table in tables.values())
    return rate_gaps(tables, [rate])[rate] if n_defined > 1 else nan


def _null_means(
    first: Sequence[_FoldResult], rates: Sequence[str], interval: IntervalOptions, seed: int
) -> dict[str, float]:
    """Compute the mean null gap of each rate in a fold, and of the greatest."""
    rng = np.random.default_rng(seed)
    means: dict[str, list[float]] = {}
    for part in first:
        nulls = {rate: _null_gaps(part.tables, MEASURES[rate], interval, rng) for rate in rates}
        for name, null in {**nulls, ", ".join(rates): combine_null_gaps([*nulls.values()])}.items():
            means.setdefault(name, []).append(nan if null.mean is None else null.mean)
    return {name: _mean_gap(np.array(each)) for name, each in means.items()}


def _null_gaps(tables: Tables, measure: Measure, interval: IntervalOptions, rng: np.random.Generator) -> NullGaps:
    """Simulate gaps between groups of these sizes that do not differ."""
    defined = [table for table in tables.values() if not isnan(measure(table))]
    if len(defined) < 2:
        return NullGaps(None, None)
    estimates = [interval.of(measure, each) for each in defined]
    return simulate_null_gaps(measure, defined, estimates, n_simulations=_N_SIMULATIONS, rng=rng)


def _metadata(
    participants: Participants, policy: Policy, interval: IntervalOptions, summary: dict[str, Any]
) -> dict[str, Any]:
    """Return the metadata of the results."""
    goal = participants.goal
    data = results_header(participants.tallies, summary, {participants.model: policy}, interval)
    return data | {"digest": participants.digest} | goal.settings | {"costs": asdict(goal.costs)}


def _validation_notes(
    one_model: Tallies | Rows, participants: Participants, results: Sequence[_FoldResult]
) -> list[str]:
    """List warnings: groups without a class in some folds, and clusters."""
    notes = [_NOTE]
    for group in participants.curves:
        left = sum(each.policy.needs_group and group not in each.policy.by_group for each in results)
        if left:
            label = group_label(participants.attributes, group)
            action = participants.otherwise
            notes.append(f"{label} lacks a class without {left} of {len(results)} folds; its action is: {action}.")
    measures = [MEASURES[rate] for rate in participants.goal.rates]
    tables = [table for each in results for table in each.tables.values()]
    if any(isnan(measure(table)) for table in tables for measure in measures):
        notes.append("some folds have no rows of a class in a group, which is left out of the gap of these folds.")
    if isinstance(one_model, Rows):
        notes.append("rows of a cluster are in one fold; intervals treat them as independent, and may be too short.")
    return notes
