"""Measurement of a plan: the table of numbers of a report, one row for each number.

The sample is reweighted to the deployment prevalence, each model gets a policy, and every step below adds its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import isfinite, isnan
from typing import Any, NamedTuple

import numpy as np

from baserate import decide, fairness, infer, shift
from baserate._arrays import Floats, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import FLAG, REFER, Cut
from baserate._errors import UnknownNameError, suggest
from baserate._numeric.cumulative import parallel_map
from baserate._numeric.logistic import shift_probabilities
from baserate._policy import REFUSE, Policy
from baserate._results import Results
from baserate._rows import Rows
from baserate._tally import Group, Tallies, Tally
from baserate._version import __version__
from baserate.decide import best_index, is_chosen_on, threshold_at
from baserate.infer import adjust_p_values
from baserate.measure import (
    MEASURES,
    Measure,
    calibration_offset,
    describe,
    ece,
    expected_cost,
    group_attributes,
    precision,
    results_data,
    sensitivity,
    tidy_columns,
)
from baserate.report._curves import has_labels_only, thin_curves
from baserate.report._plan import Plan
from baserate.report._report import COLUMNS, Report, Where

NumberRow = dict[str, Any]


class PlanData(NamedTuple):
    """Data of a plan: tallies, and rows where models are compared on the same rows."""

    tallies: Tallies
    rows: Rows | None = None
    """Rows of several models; None where tallies are enough."""
    repeated_ids: int | None = None
    """Number of rows with the id of an earlier row; None where rows have no ids."""


class Subset(NamedTuple):
    """One model, everybody or one group, in the sample or in deployment."""

    model: str
    group: Group | None
    where: Where
    tally: Tally
    fixed: NumberRow
    """Columns that all rows of its numbers share."""


class Setting(NamedTuple):
    """A plan with its data: the sample, the sample reweighted to deployment, and the policies."""

    plan: Plan
    source: PlanData
    deployment: Tallies | None
    policies: Mapping[str, Policy]

    @property
    def sample(self) -> Tallies:
        """Tallies of the sample."""
        return self.source.tallies

    @property
    def places(self) -> dict[Where, Tallies]:
        """Tallies of the sample, and of deployment if a prevalence was stated."""
        places: dict[Where, Tallies] = {"here": self.sample}
        return places if self.deployment is None else {**places, "there": self.deployment}

    @property
    def undated_policies(self) -> dict[str, Policy]:
        """Policies without the digest of the data that they were chosen on."""
        # With the digest, every evaluation would hash the data to detect a choice on the same rows; once is enough.
        return {model: replace(policy, chosen_on=None) for model, policy in self.policies.items()}

    @property
    def group_options(self) -> dict[str, Any]:
        """Options of all comparisons between groups."""
        plan = self.plan
        options = {"policy": self.undated_policies, "interval": plan.interval, "min_group": plan.min_group}
        return {"measures": GROUP_MEASURES, **options}

    @property
    def changes_ranks(self) -> bool:
        """Whether prevalences of groups are stated, which changes the mixture of groups within each class."""
        return isinstance(self.plan.prevalence, Mapping)

    def walk(self, where: Where) -> Iterator[Subset]:
        """Yield everybody and each group of each model."""
        tallies = self.places[where]
        for model, group, tally in tallies.walk():
            fixed = {"model": model, "group": group_attributes(tallies, group), "where": where}
            yield Subset(model, group, where, tally, fixed | {"prevalence": tally.prevalence})

    def everybody(self) -> Iterator[Subset]:
        """Yield everybody of each model, in the sample and in deployment."""
        return (subset for where in self.places for subset in self.walk(where) if subset.group is None)

    def in_use(self) -> Iterator[Subset]:
        """Yield everybody of each model in deployment; in the sample, if no prevalence was stated."""
        return (subset for subset in self.walk([*self.places][-1]) if subset.group is None)


def choose_policies(plan: Plan, tallies: Tallies) -> Mapping[str, Policy]:
    """Return the policy of each model; a rule chooses it at the deployment prevalence."""
    return {model: _choose_policy(plan, tallies, model) for model in tallies.models}


def _choose_policy(plan: Plan, tallies: Tallies, model: str) -> Policy:
    """Return the stated policy, or the choice of a rule: stated, by costs, 0.5 for probabilities, or Youden's."""
    if has_labels_only(tallies, model):
        return Policy(by_group={(): Cut((decide.DEFAULT_THRESHOLD,))}, otherwise=REFUSE)
    if plan.policy is not None:
        return plan.policy
    return decide.choose_planned_policy(tallies, model, rule=plan.rule, costs=plan.costs, threshold=plan.threshold)


def _page_measures(argument: type) -> tuple[str, ...]:
    """List the measures of a type of data that have a label on the page."""
    entries = {name: describe(measure) for name, measure in MEASURES.items()}
    return tuple(name for name, entry in entries.items() if entry.page is not None and entry.of is argument)


RANK_MEASURES = _page_measures(Curve)
PROBABILITY_MEASURES = tuple(name for name in _page_measures(Tally) if name != "ece")
"""Without the calibration error, which is compared with its null reference."""
INVARIANT_MEASURES = ("auc",)
"""Measures that do not depend on the prevalence."""
GROUP_SCORE_MEASURES = ("auc", "brier", "observed_expected")
"""Measures of scores that each group has, too."""
N_SIMULATIONS = 100
"""Simulations of a perfectly calibrated model for the null reference."""
_TOLERANCE = 1e-6
"""Difference between a score and a share of positives that rounding in a file explains."""


Task = Callable[[], list[NumberRow]]


def score_rows(setting: Setting) -> list[NumberRow]:
    """Return rank and probability measures of every model and group, each with its interval."""
    subsets = [
        subset
        for where in setting.places
        for subset in setting.walk(where)
        if not has_labels_only(setting.sample, subset.model)
    ]
    # Null references take longest, so that they start first.
    tasks: list[Task] = [
        partial(_calibration_error_rows, setting, subset) for subset in subsets if _is_overall_probability(subset)
    ]
    tasks += [
        partial(_exact_fit_rows, subset)
        for subset in subsets
        if _is_overall_probability(subset) and subset.where == "here"
    ]
    tasks += [task for subset in subsets for task in _measure_tasks(setting, subset)]
    size = sum(len(subset.tally.score) for subset in subsets)
    rows = [row for rows in parallel_map(_run_task, tasks, size=size) for row in rows]
    return [*rows, *_invariant_rows(setting, rows)]


def _invariant_rows(setting: Setting, rows: list[NumberRow]) -> Iterator[NumberRow]:
    """Repeat the measures that do not depend on the prevalence for deployment, to the last digit."""
    # Computed from reweighted masses, they could differ by a rounding error.
    if setting.changes_ranks or setting.deployment is None:
        return
    deployment = {(subset.model, str(subset.fixed["group"])): subset.fixed for subset in setting.walk("there")}
    for row in rows:
        if row["measure"] in INVARIANT_MEASURES:
            yield {**row, **deployment[row["model"], str(row["group"])]}


def _run_task(task: Task) -> list[NumberRow]:
    """Return the rows of a task; threads need a function at module level."""
    return task()


def _is_overall_probability(subset: Subset) -> bool:
    """Return whether the scores of everybody are probabilities."""
    return subset.group is None and subset.tally.probable and subset.tally.total > 0


def _measure_tasks(setting: Setting, subset: Subset) -> Iterator[Task]:
    """Yield a task for each measure of a subset."""
    of: dict[type, Any] = {Curve: Curve(subset.tally), Tally: subset.tally}
    names: tuple[str, ...] = (*RANK_MEASURES, *PROBABILITY_MEASURES) if subset.group is None else GROUP_SCORE_MEASURES
    if subset.where == "there" and not setting.changes_ranks:
        names = tuple(name for name in names if name not in INVARIANT_MEASURES)
    for measure in (MEASURES[name] for name in names):
        if subset.tally.probable or describe(measure).of is Curve:
            yield partial(_measure_row, setting, subset, measure, of[describe(measure).of])


def _measure_row(setting: Setting, subset: Subset, measure: Measure, argument: Curve | Tally) -> list[NumberRow]:
    """Return a measure with its interval as the only row of a list."""
    name = describe(measure).name
    kind = "ranks" if name in RANK_MEASURES else "probabilities"
    return [
        {"part": kind, "measure": name, **subset.fixed, **tidy_columns(setting.plan.interval.of(measure, argument))}
    ]


def _calibration_error_rows(setting: Setting, subset: Subset) -> list[NumberRow]:
    """Return the calibration error beside its null reference; in the sample, also after a shift of the log-odds."""
    error = _null_reference_row(setting, subset, "ece", subset.tally)
    if subset.where == "there" or not error["value"] > error["floor_high"]:
        return [error]
    shift = float(calibration_offset(subset.tally).value)
    if not isfinite(shift):
        return [error]
    shifted = subset.tally.with_scores(shift_probabilities(subset.tally.score, shift))
    # An error that vanishes after a constant shift is that of another prevalence.
    return [error, _null_reference_row(setting, subset, "ece_after_shift", shifted)]


def _exact_fit_rows(subset: Subset) -> list[NumberRow]:
    """Return a row where every score equals the share of positives among its rows, as after a fit to these rows.

    Its p is the probability of that under perfect calibration: the counts of all scores match their expectations.
    """
    tally = subset.tally
    share = ratio(tally.positive, tally.positive + tally.negative)
    deviation = float(np.nanmax(np.abs(share - tally.score)))  # rows without weight have no share
    if deviation > _TOLERANCE:
        return []
    deviation_row = {"value": deviation, "p": _match_probability(tally)}
    return [{"part": "probabilities", "measure": "deviation_by_score", **subset.fixed, **deviation_row}]


def _match_probability(tally: Tally) -> float:
    """Return the probability of the observed number of positives at every distinct score, if the scores are right."""
    from scipy.special import gammaln, xlog1py, xlogy

    positives, negatives = tally.rows.astype(float)
    # As logarithms, since factorials overflow; xlogy takes 0·log 0 as 0, for scores of 0 and 1.
    choices = gammaln(positives + negatives + 1) - gammaln(positives + 1) - gammaln(negatives + 1)
    return float(np.exp((choices + xlogy(positives, tally.score) + xlog1py(negatives, -tally.score)).sum()))


def _null_reference_row(setting: Setting, subset: Subset, name: str, tally: Tally) -> NumberRow:
    """Return a calibration error with that of perfectly calibrated models of this size."""
    reference = infer.null_reference(
        ece, tally, level=setting.plan.level, seed=setting.plan.seed, n_simulations=N_SIMULATIONS
    )
    estimate = {"value": reference.value, "how": reference.how, "why": reference.why}
    null = {"p": reference.p, "p_is_bound": None if isnan(reference.p) else reference.p_is_bound}
    null |= {"floor": reference.typical, "floor_high": reference.high}
    return {"part": "probabilities", "measure": name, **subset.fixed, **estimate, **null}


Progress = Callable[[int, int], None]
"""Callback with the number of the step that ended, and the number of all steps."""
N_GROUP_SIMULATIONS = 2000
"""Simulations of a calibrated model for the tests of overlapping groups."""
GROUP_MEASURES = ("flag_rate", "sensitivity", "fpr", "precision")
"""Measures that are compared between groups."""
_MIN_SENSITIVITY_SHARE = 0.5
"""Share of the current sensitivity that another threshold must keep."""


def measure_plan(plan: Plan, source: PlanData, progress: Progress | None = None) -> Report:
    """Return the report of a plan, without its findings."""
    deployment = None if plan.prevalence is None else shift.reweigh(source.tallies, prevalence=plan.prevalence)
    policies = choose_policies(plan, source.tallies if deployment is None else deployment)
    setting = Setting(plan, source, deployment, policies)
    steps = (
        *(_data_rows, _decision_rows, score_rows, _constant_rows, _cost_rows, _attainable_rows, _label_rows),
        *(_disparity_rows, _group_difference_rows, _support_rows, _multicalibration_rows, _model_difference_rows),
    )
    rows: list[NumberRow] = []
    for place, step in enumerate(steps, start=1):
        rows += step(setting)
        if progress:
            progress(place, len(steps))
    data = _describe_data(setting)
    numbers = Results({name: [row.get(name) for row in rows] for name in COLUMNS}, data)
    return Report(plan, data, numbers, policies, sketches=thin_curves(setting.sample, plan, policies))


def _describe_data(setting: Setting) -> NumberRow:
    """Return the summary of the data: rows, classes, columns, digest and version."""
    notes = [note for policy in setting.policies.values() for note in policy.notes]
    head = {"version": __version__, **results_data(setting.sample, list(dict.fromkeys(notes)))}
    if not setting.plan.apart:
        return head
    # Separate samples are stored as models, one for each sample and score: each sample counts once.
    every = [setting.sample.pooled(model) for model in setting.sample.models][:: len(setting.plan.score)]
    rows = sum(int(tally.rows.sum(dtype=np.int64)) for tally in every)
    positives, total = (sum(getattr(tally, name) for tally in every) for name in ("positives", "total"))
    return {**head, "rows": rows, "prevalence": ratio(positives, total)}


def _data_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield numbers of rows, prevalences, ties and repeated ids."""
    if setting.deployment is not None:
        yield from map(partial(_deployment_prevalence_row, setting), setting.walk("there"))
    for subset in setting.walk("here"):
        fixed, rows = {"part": "data", **subset.fixed}, subset.tally.rows.sum(axis=1, dtype=np.int64).tolist()
        for name, count in {"rows": sum(rows), "positives": rows[0], "negatives": rows[1]}.items():
            yield {**fixed, "measure": name, "value": count}
        share = infer.estimate("prevalence", Curve(subset.tally).at(np.inf), level=setting.plan.level)
        yield {**fixed, "measure": "prevalence", **tidy_columns(share)}
        if subset.group is None and not has_labels_only(setting.sample, subset.model):
            yield from ({**fixed, "measure": name, "value": value} for name, value in _tie_shares(subset).items())
    if setting.source.repeated_ids is not None:
        yield {"part": "data", "measure": "repeated_ids", "where": "here", "value": setting.source.repeated_ids}


def _deployment_prevalence_row(setting: Setting, subset: Subset) -> NumberRow:
    """Return the deployment prevalence of everybody as stated, or the one that follows for a group."""
    stated = setting.plan.prevalence if subset.group is None and not setting.changes_ranks else None
    value, how = (subset.tally.prevalence, "follows from what was stated") if stated is None else (stated, "stated")
    return {"part": "data", "measure": "prevalence", **subset.fixed, "value": value, "how": how}


def _tie_shares(subset: Subset) -> dict[str, float]:
    """Return the number of distinct scores, the share of rows at the most frequent one, and that of tied pairs."""
    tally = subset.tally
    rows = tally.rows.sum(axis=0, dtype=np.int64)
    pairs = float(np.sum(tally.positive * tally.negative))
    every = tally.positives * tally.negatives
    return {
        "distinct_scores": len(tally.score),
        "largest_tie": float(rows.max() / rows.sum()) if len(rows) else 0.0,
        "tied_pairs": pairs / every if every else 0.0,
    }


def _decision_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield the thresholds, the confusion matrix and its measures, and whether a threshold was chosen on these rows."""
    costs, interval, policies = setting.plan.costs, setting.plan.interval, setting.undated_policies
    for where, tallies in setting.places.items():
        shares = {(subset.model, str(subset.fixed["group"])): subset.tally.prevalence for subset in setting.walk(where)}
        for row in decide.evaluate_policy(tallies, policies, costs=costs, interval=interval).rows():
            model = row["model"] or next(iter(tallies.models))
            fixed = {"model": model, "where": where, "prevalence": shares[model, str(row["group"])]}
            if row["measure"] != "threshold":
                yield {**row, **fixed, "part": "decisions"}
            elif row["chance"] is None and not has_labels_only(tallies, model):
                yield from _threshold_rows(row | fixed, setting.policies[model])
    for model, policy in setting.policies.items():
        fixed = {"part": "cut", "measure": "chosen_on_these_rows", "model": model, "where": "here"}
        yield {**fixed, "value": float(is_chosen_on(setting.sample, policy, model))}


def _threshold_rows(row: NumberRow, policy: Policy) -> Iterator[NumberRow]:
    """Yield a threshold, once for all groups unless they have their own; actions other than flag are named."""
    if row["group"] is None or policy.needs_group:
        usual = row["action"] == FLAG and REFER not in policy.actions
        yield {**row, "part": "cut", "measure": "threshold" if usual else f"threshold_{row['action']}"}


def _constant_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield the accuracy of always predicting the larger class."""
    for subset in setting.everybody():
        share = subset.tally.prevalence
        yield {"part": "constant", "measure": "constant_accuracy", **subset.fixed, "value": max(share, 1 - share)}


def _cost_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield the expected cost of flagging nobody, of flagging everybody, and of the cheapest threshold."""
    if setting.plan.costs is None:
        return
    cost = partial(expected_cost, costs=setting.plan.costs)
    for subset in setting.in_use():
        curve = Curve(subset.tally)
        fixed = {"part": "costs", **subset.fixed}
        for name, threshold in (("nobody", np.inf), ("everybody", -np.inf)):
            yield {**fixed, "measure": f"cost_of_flagging_{name}", "value": cost(curve.at(threshold))}
        # None where the cost is undefined at every threshold, as without rows of a class.
        if (place := best_index(curve, cost, toward="low")) is not None:
            threshold = threshold_at(curve, place)
            yield {**fixed, "measure": "least_cost", "value": cost(curve.at(threshold)), "threshold": threshold}


def _attainable_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield the highest precision of a threshold that keeps half of the current sensitivity."""
    for subset in setting.in_use():
        if has_labels_only(setting.sample, subset.model):
            continue
        policy, tallies = setting.policies[subset.model], setting.places[subset.where]
        tables = decide.decision_tables(tallies, policy, model=subset.model)[None]
        current = float(sensitivity(tables["flag"])) if "flag" in tables else 0.0
        curve = Curve(subset.tally)
        place = best_index(curve, partial(_constrained_precision, least=_MIN_SENSITIVITY_SHARE * current))
        if place is None:
            continue
        threshold = threshold_at(curve, place)
        fixed = {"part": "possible", **subset.fixed, "threshold": threshold}
        for measure in (precision, sensitivity):
            yield {**fixed, "measure": describe(measure).name, "value": measure(curve.at(threshold))}


def _constrained_precision(counts: Counts[Floats], *, least: float) -> Floats:
    """Return the precision where the sensitivity is high enough, NaN elsewhere."""
    sensitivities = sensitivity(counts)
    return np.where((sensitivities >= least) & (sensitivities > 0), precision(counts), np.nan)


def _label_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield the number of rows whose label differs from the decision, and the threshold that agrees best."""
    for model, decisions in setting.sample.decisions.items():
        policy, curve = setting.policies[model], Curve(decisions)
        if policy.flags_from is None:
            continue
        fixed = {"part": "labels", "model": model, "where": "here"}
        at = curve.at(policy.flags_from).rows
        yield {**fixed, "measure": "disagreements", "threshold": policy.flags_from, "value": at.fp + at.fn}
        disagreements = curve.counts.rows.fp + curve.counts.rows.fn
        best = int(np.argmin(disagreements))  # the first of equals: the strictest threshold
        threshold = float(curve.threshold[best])
        yield {**fixed, "measure": "least_disagreements", "threshold": threshold, "value": float(disagreements[best])}


def _disparity_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield the greatest differences between groups, beside their null reference."""
    if not setting.sample.attributes:
        return
    for row in fairness.group_gaps(setting.sample, **setting.group_options).rows():
        if row["kind"] == "max_difference" and row["measure"] in GROUP_MEASURES:
            model = row["model"] or next(iter(setting.sample.models))
            yield {**row, "part": "gaps", "model": model, "other": None, "other_group": row["other"], "where": "here"}


def _group_difference_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield differences from the reference group; Holm-adjusted over all groups and measures of a model."""
    if not setting.sample.attributes:
        return
    reference = find_reference_group(setting.plan, setting.sample)
    for row in fairness.group_differences(setting.sample, reference=reference, **setting.group_options).rows():
        model = row["model"] or next(iter(setting.sample.models))
        fixed = {"part": "group_differences", "model": model, "other": None, "other_group": row["other"]}
        yield {**row, **fixed, "where": "here"}


def find_reference_group(plan: Plan, tallies: Tallies) -> Group | None:
    """Return the reference group of a plan, which names it by the text of its labels; None if it names none."""
    if plan.reference is None:
        return None
    groups = {"/".join(map(str, group)): group for group in tallies.groups}
    if plan.reference not in groups:
        raise UnknownNameError(
            f"reference is {plan.reference!r}; expected one of: {', '.join(groups)}.",
            remedy=suggest(plan.reference, groups),
            option="reference",
            value=plan.reference,
        )
    return groups[plan.reference]


def _support_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield the number of rows for each measure of a group, and whether it is small."""
    if not setting.sample.attributes:
        return
    for row in fairness.group_table(setting.sample, **setting.group_options).rows():
        if row["group"] is not None:
            model = row["model"] or next(iter(setting.sample.models))
            fixed = {"part": "support", "model": model, "group": row["group"], "where": "here"}
            yield {**fixed, "measure": row["measure"], "value": row["trials"], "small": row["small"]}


def _multicalibration_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield groups and intersections that are miscalibrated beyond chance, and beyond an error that all groups share.

    All log-odds of a model are first shifted until the mean is right: what remains is not that of another prevalence.
    """
    if not setting.sample.attributes:
        return
    for model in setting.sample.models:
        shifted = _shift_to_mean(setting.sample, model, least=setting.plan.min_group)
        if shifted is None:
            continue
        plan = setting.plan
        results = fairness.multicalibration(
            shifted, min_group=plan.min_group, level=plan.level, n_simulations=N_GROUP_SIMULATIONS, seed=plan.seed
        )
        for row in results.rows():
            if row["group"] and row["rank"] and row["p_adjusted"] < 1 - plan.level:
                bounds = {"low": row["low_simultaneous"], "high": row["high_simultaneous"]}
                fixed = {
                    "part": "multicalibration",
                    "measure": "observed_less_expected",
                    "model": model,
                    "where": "here",
                }
                yield {**row, **bounds, **fixed}


def _shift_to_mean(tallies: Tallies, model: str, *, least: int) -> Tallies | None:
    """Return the tallies of one model with all log-odds shifted to the prevalence; None where that is impossible."""
    pooled = tallies.pooled(model)
    if has_labels_only(tallies, model) or not pooled.probable or pooled.rows.sum() < least or pooled.reweighed:
        return None
    shift = float(calibration_offset(pooled).value)
    if not isfinite(shift):
        return None
    groups = tallies.models[model].items()
    shifted = {group: tally.with_scores(shift_probabilities(tally.score, shift)) for group, tally in groups}
    return replace(tallies, models={model: shifted})


def _model_difference_rows(setting: Setting) -> Iterator[NumberRow]:
    """Yield differences between models: paired on the same rows, or unpaired on separate samples."""
    models = [model for model in setting.sample.models if not has_labels_only(setting.sample, model)]
    if setting.source.rows is not None:
        yield from _paired_difference_rows(setting, setting.source.rows, models)
    elif setting.plan.apart:
        question = infer.Question(level=setting.plan.level)
        pooled = {model: setting.sample.pooled(model) for model in models}
        pairs = [*combinations(models, 2)]
        unpaired = (infer.compare_unpaired(*(pooled[each] for each in pair), question=question) for pair in pairs)
        for pair, each in zip(pairs, adjust_p_values([*unpaired]), strict=True):
            yield {"model": pair[0], "other": pair[1], "where": "here", **_difference_columns(each)}


def _paired_difference_rows(setting: Setting, rows: Rows, models: Sequence[str]) -> Iterator[NumberRow]:
    """Yield differences of decisions at the thresholds of the policies, and of scores, at the deployment prevalence."""
    plan, thresholds = setting.plan, {model: setting.policies[model].flags_from for model in models}
    cuts = {model: at for model, at in thresholds.items() if at is not None}
    decisions = len(cuts) == len(models)
    # Prevalences of groups change the mixture of each class, which paired tests do not allow for.
    prevalence = None if isinstance(plan.prevalence, Mapping) else plan.prevalence
    comparison = decide.compare_models(
        # Models are compared on everybody: groups would multiply the comparisons.
        replace(rows, group=rows.group[:0], groups=((),), attributes=()),
        decide.ComparisonSetting(
            models=models,
            prevalence=prevalence,
            costs=plan.costs if decisions else None,
            threshold=cuts if decisions else None,
            decisions=decisions,
            question=infer.Question(level=plan.level),
            seed=plan.seed,
        ),
    )
    fixed = {"where": "here" if prevalence is None else "there", "prevalence": prevalence}
    for each in comparison.comparisons:
        yield {"model": each.models[0], "other": each.models[1], **fixed, **_difference_columns(each)}


def _difference_columns(comparison: infer.Comparison) -> NumberRow:
    """Return the columns of a difference between two models, with the values and thresholds of both."""
    first, second = comparison.values
    threshold, other_threshold = comparison.thresholds
    both = {"model_value": first, "other_value": second, "threshold": threshold, "other_threshold": other_threshold}
    bound = None if isnan(comparison.p) else comparison.p_is_bound
    chance = {"p": comparison.p, "p_adjusted": comparison.p_adjusted, "p_is_bound": bound}
    named = {"part": "differences", "measure": comparison.measure}
    return {**named, **both, **tidy_columns(comparison.difference), **chance}
