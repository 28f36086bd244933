"""Gathered rows -> a table of numbers, one row each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import isnan, nan

import numpy as np

from baserate import decide, equalize, infer, shift
from baserate._arrays import Floats, ratio
from baserate._counts import Counts
from baserate._curve import Curve
from baserate._cut import FLAG, REFER
from baserate._policy import Policy
from baserate._results import Results
from baserate._version import __version__
from baserate.decide import best_at, same, threshold_at
from baserate.infer import adjusted, holm
from baserate.measure import about, expected_cost, header, precision, sensitivity, tidy
from baserate.report._case import Case, Part, Row
from baserate.report._choice import is_of_labels, policies
from baserate.report._gather import Gathered
from baserate.report._plan import Plan
from baserate.report._report import COLUMNS, Report
from baserate.report._scores import scored
from baserate.report._sketch import sketched

Progress = Callable[[int, int], None]
"""Told how many steps of how many are done."""
GAPS = ("flag_rate", "sensitivity", "fpr", "precision")
"""What is compared between groups."""
_KEPT = 0.5
"""Of the positives that are found now, so many must still be found where another cut-off is considered."""


def built(plan: Plan, gathered: Gathered, progress: Progress | None = None) -> Report:
    """Measure all that a plan asks for; what is found in it comes later."""
    there = None if plan.prevalence is None else shift.reweigh(gathered.tallies, to=plan.prevalence)
    chosen = policies(plan, gathered.tallies if there is None else there)
    case = Case(plan, gathered, there, chosen)
    steps = (
        *(_data, _decisions, scored, _constant, _costs, _possible, _labels),
        *(_gaps, _group_differences, _support, _differences),
    )
    rows: list[Row] = []
    for done, step in enumerate(steps, start=1):
        rows += step(case)
        if progress:
            progress(done, len(steps))
    data = _head(case)
    numbers = Results({name: [row.get(name) for row in rows] for name in COLUMNS}, data)
    return Report(plan, data, numbers, chosen, sketches=sketched(case.here, plan, chosen))


def _head(case: Case) -> Row:
    notes = [note for policy in case.policies.values() for note in policy.notes]
    head = {"version": __version__, **header(case.here, list(dict.fromkeys(notes)))}
    if not case.plan.apart:
        return head
    every = [case.here.pooled(model) for model in case.here.models][:: len(case.plan.score)]
    rows = sum(int(tally.rows.sum(dtype=np.int64)) for tally in every)
    positives, total = (sum(getattr(tally, name) for tally in every) for name in ("positives", "total"))
    return {**head, "rows": rows, "prevalence": ratio(positives, total)}


def _data(case: Case) -> Iterator[Row]:
    """How much there is of what."""
    if case.there is not None:
        yield from map(partial(_deployment_prevalence, case), case.walk("there"))
    for part in case.walk("here"):
        fixed, rows = {"part": "data", **part.fixed}, part.tally.rows.sum(axis=1, dtype=np.int64).tolist()
        for name, many in {"rows": sum(rows), "positives": rows[0], "negatives": rows[1]}.items():
            yield {**fixed, "measure": name, "value": many}
        share = infer.estimate("prevalence", Curve(part.tally).at(np.inf), level=case.plan.level)
        yield {**fixed, "measure": "prevalence", **tidy(share)}
        if part.group is None and not is_of_labels(case.here, part.model):
            yield from ({**fixed, "measure": name, "value": value} for name, value in _ties(part).items())
    if case.gathered.repeated is not None:
        yield {"part": "data", "measure": "repeated_ids", "where": "here", "value": case.gathered.repeated}


def _deployment_prevalence(case: Case, part: Part) -> Row:
    """The share of positives of everybody, exactly as it was stated, or what follows for everybody or a group."""
    stated = case.plan.prevalence if part.group is None and not case.changes_ranks else None
    value, how = (part.tally.prevalence, "follows from what was stated") if stated is None else (stated, "stated")
    return {"part": "data", "measure": "prevalence", **part.fixed, "value": value, "how": how}


def _ties(part: Part) -> dict[str, float]:
    """How far scores repeat: distinct ones, the share of rows at the commonest, and of pairs that they do not order."""
    tally = part.tally
    rows = tally.rows.sum(axis=0, dtype=np.int64)
    pairs = float(tally.positive @ tally.negative)
    every = tally.positives * tally.negatives
    return {
        "distinct_scores": len(tally.score),
        "largest_tie": float(rows.max() / rows.sum()) if len(rows) else 0.0,
        "tied_pairs": pairs / every if every else 0.0,
    }


def _decisions(case: Case) -> Iterator[Row]:
    """The cut-off, the 2×2 table, and all that is usually measured of it."""
    costs, interval, policies = case.plan.costs, case.plan.interval, case.unmarked
    for where, tallies in case.places.items():
        shares = {(part.model, str(part.fixed["group"])): part.tally.prevalence for part in case.walk(where)}
        for row in decide.judge(tallies, policies, costs=costs, interval=interval).rows():
            model = row["model"] or next(iter(tallies.models))
            fixed = {"model": model, "where": where, "prevalence": shares[model, str(row["group"])]}
            if row["measure"] != "threshold":
                yield {**row, **fixed, "part": "decisions"}
            elif row["chance"] is None and not is_of_labels(tallies, model):
                yield from _cut(row | fixed, case.policies[model])
    for model, policy in case.policies.items():
        told = {"part": "cut", "measure": "chosen_on_these_rows", "model": model, "where": "here"}
        yield {**told, "value": float(same(case.here, policy, model))}


def _cut(row: Row, policy: Policy) -> Iterator[Row]:
    """Where an action begins, told once if groups are treated alike; what it is, where it is not to flag."""
    if row["group"] is None or policy.needs_group:
        usual = row["action"] == FLAG and REFER not in policy.actions
        yield {**row, "part": "cut", "measure": "threshold" if usual else f"threshold_{row['action']}"}


def _constant(case: Case) -> Iterator[Row]:
    """Accuracy of always saying the same."""
    for part in case.everybody():
        share = part.tally.prevalence
        yield {"part": "constant", "measure": "constant_accuracy", **part.fixed, "value": max(share, 1 - share)}


def _costs(case: Case) -> Iterator[Row]:
    """What a case costs if nobody is flagged, if everybody is, and at the cheapest cut-off of these rows."""
    if case.plan.costs is None:
        return
    cost = partial(expected_cost, costs=case.plan.costs)
    for part in case.in_use():
        curve = Curve(part.tally)
        fixed = {"part": "costs", **part.fixed}
        for name, threshold in (("nobody", np.inf), ("everybody", -np.inf)):
            yield {**fixed, "measure": f"cost_of_flagging_{name}", "value": cost(curve.at(threshold))}
        if (place := best_at(curve, cost, toward="low")) is not None:
            threshold = threshold_at(curve, place)
            yield {**fixed, "measure": "least_cost", "value": cost(curve.at(threshold)), "threshold": threshold}


def _possible(case: Case) -> Iterator[Row]:
    """The highest precision of a cut-off that still finds half of the positives that are found now."""
    for part in case.in_use():
        if is_of_labels(case.here, part.model):
            continue
        now = decide.tables(case.places[part.where], case.policies[part.model], model=part.model)[None]
        found = float(sensitivity(now["flag"])) if "flag" in now else 0.0
        curve = Curve(part.tally)
        place = best_at(curve, partial(_if_enough, least=_KEPT * found))
        if place is None:
            continue
        threshold = threshold_at(curve, place)
        fixed = {"part": "possible", **part.fixed, "threshold": threshold}
        for measure in (precision, sensitivity):
            yield {**fixed, "measure": about(measure).name, "value": measure(curve.at(threshold))}


def _if_enough(counts: Counts[Floats], *, least: float) -> Floats:
    """Precision where enough of the positives are found."""
    found = sensitivity(counts)
    return np.where((found >= least) & (found > 0), precision(counts), np.nan)


def _labels(case: Case) -> Iterator[Row]:
    """In how many rows predicted labels are not what the cut-off says, and the cut-off that agrees best."""
    for model, decisions in case.here.decisions.items():
        policy, curve = case.policies[model], Curve(decisions)
        if policy.flags_from is None:
            continue
        fixed = {"part": "labels", "model": model, "where": "here"}
        at = curve.at(policy.flags_from).rows
        yield {**fixed, "measure": "disagreements", "threshold": policy.flags_from, "value": at.fp + at.fn}
        wrong = curve.counts.rows.fp + curve.counts.rows.fn
        best = int(np.argmin(wrong))
        threshold = float(curve.threshold[best])
        yield {**fixed, "measure": "least_disagreements", "threshold": threshold, "value": float(wrong[best])}


def _gaps(case: Case) -> Iterator[Row]:
    """How far groups lie apart, beside what chance alone would give."""
    if not case.here.attributes:
        return
    found = equalize.gaps(case.here, decided=case.unmarked, measures=GAPS, interval=case.plan.interval)
    for row in found.rows():
        if row["kind"] == "max_difference" and row["measure"] in GAPS:
            model = row["model"] or next(iter(case.here.models))
            yield {**row, "part": "gaps", "model": model, "other": None, "other_group": row["other"], "where": "here"}


def _group_differences(case: Case) -> Iterator[Row]:
    """Each group beside the largest one; p-values are adjusted over all groups and measures of a model together."""
    if not case.here.attributes:
        return
    found = equalize.differences(case.here, decided=case.unmarked, measures=GAPS, interval=case.plan.interval)
    first = next(iter(case.here.models))
    by_model: dict[str, list[Row]] = {}
    for row in found.rows():
        by_model.setdefault(row["model"] or first, []).append(row)
    for model, rows in by_model.items():
        for row, p in zip(rows, holm([nan if row["p"] is None else row["p"] for row in rows]), strict=True):
            fixed = {"part": "group_differences", "model": model, "other": None, "other_group": row["other"]}
            yield {**row, **fixed, "where": "here", "p_adjusted": p}


def _support(case: Case) -> Iterator[Row]:
    """How many rows the numbers of each group rest on, and whether these are few."""
    if not case.here.attributes:
        return
    found = equalize.group_table(case.here, decided=case.unmarked, measures=GAPS, interval=case.plan.interval)
    for row in found.rows():
        if row["group"] is not None:
            model = row["model"] or next(iter(case.here.models))
            fixed = {"part": "support", "model": model, "group": row["group"], "where": "here"}
            yield {**fixed, "measure": row["measure"], "value": row["trials"], "small": row["small"]}


def _differences(case: Case) -> Iterator[Row]:
    """Models beside each other: on the same rows, or on samples of their own."""
    models = [model for model in case.here.models if not is_of_labels(case.here, model)]
    question = infer.Question(level=case.plan.level)
    found: list[tuple[tuple[str, str], infer.Comparison]] = []
    if case.gathered.rows is not None:
        rows = replace(case.gathered.rows, group=case.gathered.rows.group[:0], groups=((),), attributes=())
        every = {model: case.policies[model].flags_from for model in models}
        cuts = {model: at for model, at in every.items() if at is not None}
        asked: list[tuple[str, dict[str, float] | None]] = [("auc", None)]
        asked += [(name, cuts) for name in ("sensitivity", "specificity") if len(cuts) == len(models)]
        for measure, at in asked:
            several = infer.compare(
                rows, measure=measure, models=models, threshold=at, question=question, seed=case.plan.seed
            )
            found += [(each.models, each) for each in several]
    elif case.plan.apart:
        pooled = {model: case.here.pooled(model) for model in models}
        pairs = [*combinations(models, 2)]
        alone = (infer.compare_unpaired(*(pooled[each] for each in pair), question=question) for pair in pairs)
        found = [*zip(pairs, adjusted([*alone]), strict=True)]
    for (model, other), each in found:
        fixed = {"part": "differences", "measure": each.measure, "model": model, "other": other, "where": "here"}
        chance = {"p": each.p, "p_adjusted": each.adjusted, "p_is_bound": None if isnan(each.p) else each.p_is_bound}
        yield {**fixed, **tidy(each.difference), **chance}
