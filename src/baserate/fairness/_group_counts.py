"""Groups: those that a parity covers, their confusion matrices after a decision, and eligibility for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from numbers import Integral
from typing import Any

import numpy as np

from baserate._arrays import Floats, ratio, round_if_close
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import Cut, RandomizedCut, Treatment, has_table
from baserate._domains import MIN_GROUP
from baserate._errors import FitError, OptionError, UnknownNameError, advice, keyword, suggest
from baserate._formatting import count_of, join_words
from baserate._policy import REFUSE, Policy
from baserate._results import Results
from baserate._tally import Group, Tallies, Tally, as_group
from baserate.apply import score_ranges
from baserate.decide import (
    GroupEvaluation,
    add_measure_settings,
    as_setting,
    evaluate_groups,
    find_model,
    find_same_data,
    policies_by_model,
    results_header,
    rows_to_columns,
    separate_float32,
)
from baserate.fairness._parities import NEEDS, Goal
from baserate.infer import (
    IntervalOptions,
    check_method_used,
    effective_proportion,
    find_threshold,
    has_fixed_prevalence,
    have_fixed_prevalence,
    quantile_of_test,
)
from baserate.measure import MEASURES, Measure, as_measure, check_tallies, describe, names_as_typed
from baserate.read import sort_labels
from baserate.shift import reweigh

Groups = Tallies | Mapping[Any, Curve]
"""Tallies that were read with groups, or a mapping from groups to curves; a key that is not a tuple is one label."""


@dataclass(frozen=True, slots=True, eq=False)
class Participants:
    """Groups that take part in an optimization at the deployment prevalence, and groups that are excluded from it."""

    tallies: Tallies
    """All groups of one model, at the deployment prevalence."""
    model: str
    goal: Goal
    excluded: tuple[Group, ...]
    """Groups without rows of a class that the parity requires."""
    otherwise: str
    digest: str
    """Digest of the rows before any adjustment."""

    @property
    def has_labels(self) -> bool:
        """Whether the scores are predicted labels: 1 for the positive class, 0 for the negative class."""
        return self.model == self.tallies.intake.columns.get("predicted")

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of the attributes that define the groups."""
        return self.tallies.attributes

    @property
    def subset(self) -> Tallies:
        """Tallies of the participating groups only."""
        tallies = self.tallies.models[self.model].items()
        return replace(self.tallies, models={self.model: {g: tally for g, tally in tallies if g not in self.excluded}})

    @property
    def curves(self) -> dict[Group, Curve]:
        """Curve of each participating group."""
        return {group: Curve(tally) for group, tally in self.subset.models[self.model].items()}

    @property
    def shares(self) -> Floats:
        """Positives (row 0) and negatives (row 1) of each participating group, as shares of all participants."""
        # Excluded groups do not count: their decisions do not depend on the optimization.
        mass = np.array([[curve.positives, curve.negatives] for curve in self.curves.values()]).T
        shares: Floats = mass / mass.sum()
        return shares

    def policy(self, by_group: Mapping[Group, Treatment], *, rule: str, settings: Mapping[str, Any]) -> Policy:
        """Make a policy of treatments by group, with its columns, goal, settings and notes."""
        intake, name = self.tallies.intake, self.model
        truth = intake.columns.get("truth")
        columns = {"truth": truth, "score": name} if isinstance(truth, str) else {"score": name}
        mass = np.sum([tally.mass.sum(axis=1) for tally in self.tallies.models[name].values()], axis=0)
        policy = Policy(
            by_group=by_group,
            otherwise=self.otherwise if self.attributes and () not in by_group else REFUSE,
            attributes=() if () in by_group else self.attributes,
            rule=rule,
            settings=as_setting({**self.goal.settings, **self._prevalences(), **settings}),
            columns=columns if intake.columns else {},
            positive=None if intake.positive is None else str(intake.positive),
            prevalence=ratio(*map(float, (mass[0], mass.sum()))),
            chosen_on=self.digest,
            notes=tuple(self.notes(common=() in by_group)),
        )
        return separate_float32(policy, np.concatenate([tally.score for tally in self.tallies.models[name].values()]))

    def _prevalences(self) -> dict[str, Any]:
        """Return the deployment prevalences in the form that policy files store; empty if none were stated."""
        stated = self.goal.prevalence
        if stated is None or not isinstance(stated, Mapping):
            return {} if stated is None else {"prevalence": stated}
        return {"prevalences": [{"group": group, "prevalence": share} for group, share in stated.items()]}

    def notes(self, *, common: bool = False) -> list[str]:
        """List warnings: excluded groups, predicted labels, small groups; `common` if one threshold serves all."""
        groups = self.tallies.models[self.model]
        action = "that of its score in other groups" if common else self.otherwise
        notes = [
            f"{group_label(self.attributes, group)} has no {missing_classes(groups[group], self.goal)}, so the parity "
            f"does not apply; its action is: {action}."
            for group in self.excluded
        ]
        if self.has_labels:
            positive = self.tallies.intake.positive
            notes.append(f"{self.model} contains labels: apply the policy to 1 for {positive}, and to 0 otherwise.")
        sizes = {group: _smallest_class(groups[group], self.goal) for group in self.curves}
        of = " of a class" * any(map(NEEDS.get, self.goal.rates))
        notes += [
            f"{group_label(self.attributes, group)} has only {count_of(rows, 'row')}{of}, so its rates on other data "
            "may differ widely."
            for group, rows in sizes.items()
            if rows < MIN_GROUP
        ]
        return notes


def select_participants(
    groups: Groups, goal: Goal, *, model: str | None = None, otherwise: str = REFUSE
) -> Participants:
    """Select the groups of one model that have every class the parity requires, at the deployment prevalence.

    Raises
    ------
    FitError
        If a group lacks a required class and `otherwise` names no action for it, or if no group has all classes.
    OptionError
        If the rows were read without groups.
    """
    all_tallies = as_tallies(groups)
    name = find_model(all_tallies, model)
    tallies = Tallies({name: all_tallies.models[name]}, all_tallies.attributes, all_tallies.intake)
    require_groups(tallies)
    digest = tallies.digest  # before the adjustment: it identifies the data, not the setting
    tallies = tallies if goal.prevalence is None else reweigh(tallies, prevalence=goal.prevalence)
    excluded = tuple(group for group, tally in tallies.models[name].items() if missing_classes(tally, goal))
    if excluded and otherwise == REFUSE:
        lacking = {group: missing_classes(tallies.models[name][group], goal) for group in excluded}
        reasons = [f"{group_label(tallies.attributes, group)} has no {classes}" for group, classes in lacking.items()]
        what = f"{join_words(reasons)}, which {' and '.join(each.name for each in goal.parities)} requires"
        remedy = f"leave these rows out, or state their action: {advice('otherwise', 'otherwise= an action')}."
        raise FitError(what, remedy=remedy)
    if len(excluded) == len(tallies.groups):
        raise FitError("no group has rows of each class that the parity requires", remedy="give both classes.")
    return Participants(tallies, name, goal, excluded, otherwise, digest)


def require_groups(tallies: Tallies) -> None:
    """Check that the rows were read with groups."""
    if not tallies.attributes:
        raise OptionError("the rows were read without groups", remedy=f"read them with {keyword('group')}, a column.")


def as_tallies(groups: Groups) -> Tallies:
    """Convert groups to tallies; attributes of a mapping are called `group`, or `group_1`, `group_2`, and so on."""
    if isinstance(groups, Tallies):
        return groups
    candidate: object = groups  # untyped callers may pass anything
    if not isinstance(candidate, Mapping) or not candidate:
        raise OptionError(
            f"{type(groups).__name__} has no groups; expected tallies or a mapping from groups to curves.",
            remedy=f"Read tallies with {keyword('group')}.",
        )
    tallies: dict[Group, Tally] = {}
    for key, each in candidate.items():
        if not isinstance(each, Curve | Tally):
            raise OptionError(f"the group {key!r} is {type(each).__name__}; expected a Curve.")
        tallies[as_group(key)] = each.tally if isinstance(each, Curve) else each
    wide = max(map(len, tallies))
    names = ("group",) if wide == 1 else tuple(f"group_{at}" for at in range(1, wide + 1))
    return Tallies({"score": tallies}, names)


def missing_classes(tally: Tally, goal: Goal) -> str:
    """Name the classes that the goal requires and a group lacks; empty if it has all of them."""
    needs = dict.fromkeys(need for rate in goal.bounds for need in NEEDS[rate])
    absent = [need for need in needs if not getattr(tally, need)]
    if not tally.total:
        absent = ["rows"]
    return " and no ".join(absent)


def check_actions(actions: Iterable[str], allowed: set[str]) -> None:
    """Check that a policy has no actions without a rate to compare between groups."""
    others = {*actions} - allowed
    if others:
        what = f"the policy has the action {min(others)!r}, which no rate of a group counts"
        raise OptionError(what, remedy=f"give a policy whose actions are {join_words(sorted(allowed))}.")


def group_label(attributes: Sequence[str], group: Group) -> str:
    """Format a group as text, such as "sex = f, site = 2"."""
    return ", ".join(f"{name} = {value}" for name, value in zip(attributes, group, strict=True))


def _smallest_class(tally: Tally, goal: Goal) -> int:
    """Count the rows of the smallest class that the goal requires; all rows if it requires none."""
    rows = dict(zip(("positives", "negatives"), tally.rows.sum(axis=1, dtype=np.int64).tolist(), strict=True))
    needs = {need for rate in goal.rates for need in NEEDS[rate]}
    return int(min((rows[need] for need in needs), default=sum(rows.values())))


def group_tables(tallies: Tallies, policy: Policy, model: str) -> dict[Group, Counts[float]]:
    """Return the expected confusion matrix of each group under a policy."""
    parts = evaluate_groups(tallies, policy, model)
    return {group: part.counts for group, part in parts.items() if group is not None}


def randomized_mass(tally: Tally, treatment: Treatment | None) -> float:
    """Sum the mass of the rows whose decision is random.

    >>> from baserate import Cut, RandomizedCut, tally
    >>> treatment = RandomizedCut((Cut((0.5,)), Cut((0.7,))), (0.2, 0.8))
    >>> randomized_mass(tally([1, 1, 0, 0], [0.9, 0.6, 0.4, 0.1]), treatment)
    1.0
    """
    if not isinstance(treatment, RandomizedCut):
        return 0.0
    pieces = score_ranges(treatment)
    # `right`, since a score equal to a threshold is in the range above it.
    is_random = np.array(pieces.is_random)[np.searchsorted(pieces.thresholds, tally.score, side="right")]
    return float(tally.mass[:, is_random].sum(dtype=np.float64))


def rate_gaps(tables: Mapping[Group, Counts[float]], rates: Iterable[str]) -> dict[str, float]:
    """Compute the greatest difference of each rate between two groups; groups where it is undefined are left out.

    >>> tables = {("f",): Counts(tp=3, fn=1, fp=2, tn=2), ("m",): Counts(tp=1, fn=1, fp=0, tn=0)}
    >>> rate_gaps(tables, ["sensitivity", "fpr"])
    {'sensitivity': 0.25, 'fpr': 0.0}
    """
    return {rate: _range([float(MEASURES[rate](each)) for each in tables.values()]) for rate in rates}


def _range(values: list[float]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return max(defined) - min(defined) if defined else float("nan")


Decisions = float | Policy | Mapping[str, Policy] | None
"""Threshold, policy, or one policy for each model; None selects a threshold that suits the scores."""
Row = dict[str, Any]
DEFAULT_MEASURES = ("flag_rate", "sensitivity", "fpr", "precision", "accuracy")
"""Default measures of groups."""
LABEL_THRESHOLD = 0.5
"""Threshold of predicted labels, whose scores are 0 and 1."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelCounts:
    """Decisions of one model: for all rows (key None) and for each group, with the measures that apply to it."""

    model: str
    parts: Mapping[Group | None, GroupEvaluation]
    measures: tuple[Measure, ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups, in an order that does not depend on the order of the input."""
        return tuple(group for group in self.parts if group is not None)

    def measure_inputs(self, of: type) -> dict[Group | None, Any]:
        """Return what measures of a type take (`Counts`, `Curve` or `Tally`), for all rows and for each group."""
        if of is Counts:
            return {group: part.counts for group, part in self.parts.items()}
        return {group: Curve(part.tally) if of is Curve else part.tally for group, part in self.parts.items()}


@dataclass(frozen=True, slots=True, eq=False)
class GroupCounts:
    """Decisions of all models, grouped by the same attributes."""

    tallies: Tallies
    by: tuple[str, ...]
    models: tuple[ModelCounts, ...]
    policies: Mapping[str, Policy]
    names: Mapping[str, Any]
    """Names of measures as typed, as `data` of results has them."""

    def attributes_of(self, group: Group | None) -> dict[str, object] | None:
        """Return the attributes of a group with their values; None for all rows."""
        return None if group is None else dict(zip(self.by, group, strict=True))

    def label(self, group: Group) -> str:
        """Format a group as text."""
        return group_label(self.by, group)

    def results(
        self, names: Iterable[str], rows: Iterable[Row], notes: Sequence[str], interval: IntervalOptions
    ) -> Results:
        """Combine rows, notes and metadata into results."""
        has_decisions = any(describe(measure).of is Counts for model in self.models for measure in model.measures)
        policies = self.policies if has_decisions else {}
        summary = find_same_data(self.tallies, policies)
        summary["notes"] = [*summary["notes"], *dict.fromkeys(notes)]
        summary = {**summary, **self.names}
        summary = add_measure_settings(summary, [measure for model in self.models for measure in model.measures])
        columns = rows_to_columns(names, list(rows), several=len(self.tallies.models) > 1)
        results = Results(columns, {**results_header(self.tallies, summary, policies, interval), "by": list(self.by)})
        check_method_used(interval, results, reweighed=have_fixed_prevalence(self.tallies))
        return results


def count_groups(
    tallies: Tallies,
    policy: Decisions,
    measures: Iterable[str | Measure] | None,
    by: str | Sequence[str] | None,
) -> GroupCounts:
    """Apply a threshold or policy, and count the outcomes in each group.

    Raises
    ------
    OptionError
        If rows have no groups, a measure does not apply, or a policy has more actions than pass and flag.
    """
    check_tallies(tallies)
    require_groups(tallies)
    attributes = tallies.attributes if by is None else (by,) if isinstance(by, str) else tuple(by)
    measures = measures if measures is None or isinstance(measures, str) else list(measures)
    checked = _check_measures(DEFAULT_MEASURES if measures is None else measures)
    policies = _find_policies(tallies, policy, checked)
    models = []
    for model, each in policies.items():
        parts = _sort_groups(evaluate_groups(tallies, each, model, by=attributes))
        models.append(ModelCounts(model, parts, _supported_measures(tallies, model, checked)))
    return GroupCounts(tallies, attributes, tuple(models), policies, names_as_typed(measures))


def _check_measures(measures: Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Resolve measures of two classes by name, each once."""
    checked = tuple(dict.fromkeys(as_measure(each) for each in ([measures] if isinstance(measures, str) else measures)))
    unfit = [describe(each).name for each in checked if describe(each).of not in (Counts, Curve, Tally)]
    if unfit or not checked:
        problem = f"{', '.join(unfit)} is for several classes" if unfit else "there is no measure"
        raise OptionError(problem, remedy="name measures of two classes, such as sensitivity.")
    return checked


def _find_policies(tallies: Tallies, policy: Decisions, measures: Sequence[Measure]) -> Mapping[str, Policy]:
    """Return the policy of each model; a threshold becomes a policy with one cut."""
    if isinstance(policy, Policy | Mapping):
        policies = policies_by_model(tallies, policy)
        bands = [model for model, each in policies.items() if not has_table(each.actions)]
        if bands:
            actions = ", ".join(policies[bands[0]].actions)
            raise OptionError(f"a policy into {actions} has no confusion matrix", remedy="give another policy.")
        return policies
    # Only measures of decisions use the threshold; for others inf stands for it, so that none need be stated.
    needed = any(describe(each).of is Counts for each in measures)
    thresholds = {model: _threshold(tallies, model, policy) if needed else inf for model in tallies.models}
    return {model: Policy(by_group={(): Cut((at,))}, otherwise=REFUSE) for model, at in thresholds.items()}


def _threshold(tallies: Tallies, model: str, threshold: float | None) -> float:
    """Return the threshold of a model: that of labels, the stated one, or 0.5 for probabilities."""
    if model == tallies.intake.columns.get("predicted"):
        return LABEL_THRESHOLD
    return find_threshold(model, tallies.pooled(model).score if threshold is None else (), threshold)


def _supported_measures(tallies: Tallies, model: str, measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """Keep the measures that a model supports; predicted labels have neither ranks nor probabilities."""
    if model != tallies.intake.columns.get("predicted"):
        return measures
    supported = tuple(each for each in measures if describe(each).of is Counts)
    if not supported:
        what = f"{model} contains labels, which have neither ranks nor probabilities"
        raise OptionError(what, remedy="use a measure of the confusion matrix, such as sensitivity.")
    return supported


def _sort_groups(parts: Mapping[Group | None, GroupEvaluation]) -> dict[Group | None, GroupEvaluation]:
    """Sort groups by their labels, all rows first."""
    place = {group: at for at, group in enumerate(sort_labels(group for group in parts if group is not None))}
    return dict(sorted(parts.items(), key=lambda item: place.get(item[0], -1)))


COARSE = 0.2
"""Detectable difference of a proportion above which a group is marked as small."""
ALPHA, POWER = 0.05, 0.8
"""Significance level and power of the detectable difference."""


def count_trials(measure: Measure, inputs: Mapping[Any, Any], rows: Mapping[Any, int]) -> dict[Any, float]:
    """Count the rows on which a measure of each group rests: hits and misses of a proportion, otherwise all rows."""
    cells = describe(measure).share if describe(measure).of is Counts else None
    return {group: rows[group] if cells is None else _sum_cells(table, cells) for group, table in inputs.items()}


def group_support(
    measure: Measure,
    inputs: Mapping[Group | None, Any],
    rows: Mapping[Group | None, int],
    min_group: int = MIN_GROUP,
) -> dict[Any, Row]:
    r"""Count the trials of each group, and compute the smallest difference from other groups that they would detect.

    A group with n trials, where all others have m, detects a difference of
    :math:`(z_{0.975}+z_{0.8})\sqrt{p(1-p)(1/n+1/m)}` with 80% power at the 5% level, by the normal approximation. p is
    the proportion over all rows, with one hit and one miss added so that it is never 0 or 1. Weighted rows count with
    their effective size. Measures that are not proportions have no such number.
    """
    cells = describe(measure).share if describe(measure).of is Counts else None
    trials = count_trials(measure, inputs, rows)
    is_proportion = cells is not None and not has_fixed_prevalence(inputs[None])
    detectable = _detectable_differences(measure, inputs) if is_proportion else {}
    return {
        group: _support_row(n_trials, detectable.get(group), group, min_group) for group, n_trials in trials.items()
    }


def _support_row(trials: float, detects: float | None, group: Group | None, min_group: int) -> Row:
    """Describe the support of a group; it is small below the minimum size, or if it detects only large differences."""
    is_small = trials < min_group or (detects is not None and detects > COARSE)
    return {"trials": trials, "detects": detects, "small": group is not None and is_small}


def _sum_cells(counts: Counts[float], cells: tuple[tuple[str, ...], tuple[str, ...]]) -> float:
    """Sum the rows in some cells; whole numbers become integers."""
    # Rows of a randomized policy are expected numbers, whose sums round.
    total = float(round_if_close(sum(getattr(counts.rows, cell) for side in cells for cell in side)))
    return int(total) if total.is_integer() else total


def _detectable_differences(measure: Measure, inputs: Mapping[Group | None, Any]) -> dict[Group | None, float]:
    """Compute the smallest difference from all other groups that each group would detect."""
    from scipy.special import ndtri

    everybody = effective_proportion(measure, inputs[None])
    if not everybody.trials > 0:
        return {}
    p = (everybody.hits + 1) / (everybody.trials + 2)
    scale = (quantile_of_test(ALPHA, 2) + float(ndtri(POWER))) * sqrt(p * (1 - p))
    groups = {group: table for group, table in inputs.items() if group is not None}
    trials = {group: effective_proportion(measure, table).trials for group, table in groups.items()}
    nonempty = {group: n_trials for group, n_trials in trials.items() if n_trials > 0}
    total = sum(nonempty.values())
    others = {group: total - n_trials for group, n_trials in nonempty.items() if total > n_trials}
    return {group: min(scale * sqrt(1 / nonempty[group] + 1 / n_others), 1.0) for group, n_others in others.items()}


Reference = object | tuple[object, ...] | Mapping[str, object] | None
"""Reference group: label, tuple of labels, or mapping from attribute to label; None is the largest group."""

_UNITS = {
    "positives": "positives",
    "negatives": "negatives",
    "flagged": "flagged rows",
    "not_flagged": "rows not flagged",
}


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Trials of each group for one measure of one model, and the groups that have enough of them.

    Trials are the rows on which the measure rests, for example the negatives of a group for its FPR.
    """

    measure: Measure
    trials: Mapping[Group, float]
    rows: Mapping[Group, int]
    min_group: int

    @property
    def groups(self) -> tuple[Group, ...]:
        """Groups that meet the minimum size."""
        return tuple(group for group, n_trials in self.trials.items() if n_trials >= self.min_group)

    @property
    def too_small(self) -> tuple[Group, ...]:
        """Groups below the minimum size."""
        return tuple(group for group, n_trials in self.trials.items() if n_trials < self.min_group)

    @property
    def largest(self) -> Group:
        """Group with the most rows among those that meet the minimum size; among all groups if none does."""
        # `max` takes the first of equals, and groups are sorted: the order of rows does not matter.
        return max(self.groups or self.trials, key=self.rows.__getitem__)

    def describe(self, group: Group) -> str:
        """Format the number of trials of a group, such as "12 negatives"."""
        return self.describe_trials(self.trials[group])

    def describe_trials(self, trials: float) -> str:
        """Format a number of trials, such as "12 negatives"."""
        needs = describe(self.measure).needs if describe(self.measure).share else ()
        unit = _UNITS.get(needs[0], "rows") if len(needs) == 1 else "rows"
        return f"{trials:g} {unit}"


def check_min_group(min_group: int) -> int:
    """Check that the minimum group size is a whole number of at least 1."""
    if not isinstance(min_group, Integral) or isinstance(min_group, bool) or min_group < 1:
        what = f"min_group is {min_group!r}; expected a whole number of 1 or more."
        raise OptionError(what, remedy="Use 1 to test every group.", option="min_group", value=min_group)
    return int(min_group)


def check_eligibility(model: ModelCounts, measure: Measure, min_group: int) -> Eligibility:
    """Count the trials of each group of one model for a measure."""
    tables = {group: model.parts[group].counts for group in model.groups}
    rows = {group: model.parts[group].rows for group in model.groups}
    return Eligibility(measure, count_trials(measure, tables, rows), rows, min_group)


def exclusion_notes(counts: GroupCounts, min_group: int) -> list[str]:
    """List the groups below the minimum size, one note for each measure."""
    notes = []
    for model in counts.models:
        suffix = f" ({model.model})" if len(counts.models) > 1 else ""
        for measure in model.measures:
            eligibility = check_eligibility(model, measure, min_group)
            if eligibility.too_small and len(model.groups) > 1:
                small = [f"{counts.label(group)} ({eligibility.describe(group)})" for group in eligibility.too_small]
                notes.append(f"{describe(measure).name}{suffix}: {_describe_exclusion(eligibility, join_words(small))}")
    return notes


def _describe_exclusion(eligibility: Eligibility, labels: str) -> str:
    """Describe which groups are excluded from tests and gaps."""
    minimum = f"fewer than the minimum of {eligibility.min_group}"
    if not eligibility.groups:
        return f"no group is tested, since each has {minimum}: {labels}."
    rest = "" if len(eligibility.groups) > 1 else " One group alone is left, so there is no test."
    return f"excluded from tests and gaps, with {minimum}: {labels}.{rest}"


def find_reference(counts: GroupCounts, reference: Reference) -> Group | None:
    """Find the reference group by its labels, exactly or by their text; None if no reference is stated."""
    if reference is None:
        return None
    labels = _reference_labels(counts, reference)
    groups = counts.models[0].groups
    # Exact labels first: 1 and "1" may both be groups, and a command line can only name them by their text.
    for group in groups:
        if group == labels:
            return group
    by_text = {tuple(map(str, group)): group for group in groups}
    texts = tuple(map(str, labels))
    if texts in by_text:
        return by_text[texts]
    by_label = {", ".join(text): group for text, group in by_text.items()}
    label = ", ".join(texts)
    known = "; ".join(counts.label(group) for group in groups)
    raise UnknownNameError(
        f"reference is {label!r}; expected one of: {known}.",
        remedy=suggest(label, by_label, spell=lambda match: counts.label(by_label[match])),
        option="reference",
        value=reference,
    )


def _reference_labels(counts: GroupCounts, reference: Reference) -> tuple[object, ...]:
    """Return the labels of a reference in the order of the attributes."""
    if isinstance(reference, Mapping):
        if set(reference) != set(counts.by):
            names = join_words([repr(name) for name in reference]) or "no attribute"
            raise OptionError(f"reference has {names}; expected a label for each of: {', '.join(counts.by)}.")
        return tuple(reference[name] for name in counts.by)
    labels = reference if isinstance(reference, tuple) else (reference,)
    if len(labels) != len(counts.by):
        what = f"reference is {reference!r}; expected a label for each of: {', '.join(counts.by)}."
        remedy = "Give a tuple, or a mapping from attribute to label."
        raise OptionError(what, remedy=remedy, option="reference", value=reference)
    return labels
