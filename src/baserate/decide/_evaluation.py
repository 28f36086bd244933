"""Evaluate a policy on any data: a confusion matrix per action, group and model, and measures with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple, TypeVar, Unpack

import numpy as np

from baserate._arrays import ratio
from baserate._costs import Costs, CostsLike, as_costs
from baserate._counts import Counts, combine_counts
from baserate._curve import Curve
from baserate._cut import REFER, Cut, RandomizedCut, Treatment, has_table, merge_tables
from baserate._errors import OptionError, UnknownLabelError, advice, keyword, unknown_name
from baserate._policy import Policy, label_text, policy_content
from baserate._results import Estimate, Results
from baserate._tally import Group, Tallies, Tally
from baserate.infer import LINEAR_FIXED_METHOD, LINEAR_METHOD, IntervalOptions, bound_weighted_cells
from baserate.measure import (
    DEFAULT_MEASURES,
    Measure,
    as_measure,
    check_tallies,
    collect_settings,
    compute_estimate,
    describe,
    expected_cost,
    flag_rate,
    group_attributes,
    note_settings,
    pass_rate,
    precision,
    results_data,
    tidy_columns,
)
from baserate.read import IntervalPredictionOptions, PredictionOptions, accepts_predictions, sort_labels

Each = TypeVar("Each")
Tables = dict[str, Counts[float]]
"""For each action, the confusion matrix of its (expected) recipients against all others."""


class GroupEvaluation(NamedTuple):
    """The decisions of a policy on some rows: all of them, or a group."""

    tallies: tuple[Tally, ...]
    tables: Tables
    nobody: Counts[float]
    """Confusion matrix of flagging none."""
    treatment: Treatment | None
    """How the rows are treated; None where groups differ."""

    @property
    def tally(self) -> Tally:
        """Tally of all these rows."""
        return self.tallies[0] if len(self.tallies) == 1 else Tally.sum(self.tallies)

    @property
    def counts(self) -> Counts[float]:
        """Confusion matrix of flag and pass; referred rows are in none of its cells."""
        return merge_tables(self.tables, nobody=self.nobody)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(map(_count_rows, self.tallies))


@accepts_predictions("tallies")
def decision_tables(
    tallies: Tallies, policy: Policy, *, model: str | None = None, **predictions: Unpack[PredictionOptions]
) -> dict[Group | None, Tables]:
    """Count the decisions of a policy: for each action, a confusion matrix of those who get it against all others.

    Of a randomized policy the counts are expected ones.

    Parameters
    ----------
    tallies
        Data to evaluate the policy on. It may be read in finer groups than those of the policy.
    policy
        Policy to evaluate.
    model
        Name of the model; needed where there are several.

    Returns
    -------
    dict of group to dict of str to Counts
        Counts by action: of all rows (None), then of each group.

    Examples
    --------
    >>> from baserate import Cut, Policy, decide, read
    >>> people = {"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1], "sex": ["f", "f", "m", "m"]}
    >>> t = read.tallies(people, truth="sick", score="risk", group="sex")
    >>> by_sex = Policy(by_group={("f",): Cut((0.7,)), ("m",): Cut((0.3,))}, otherwise="refuse", attributes=("sex",))
    >>> results = decide.decision_tables(t, by_sex)
    >>> results[None]["flag"], results["m",]["flag"]
    (Counts(tp=2.0, fp=0.0, fn=0.0, tn=2.0), Counts(tp=1.0, fp=0.0, fn=0.0, tn=1.0))
    """
    parts = evaluate_groups(tallies, policy, find_model(tallies, model))
    return {group: part.tables for group, part in parts.items()}


def find_model(tallies: Tallies, model: str | None) -> str:
    """Return the name of the model: the one that is named, or the only one."""
    check_tallies(tallies)
    names = ", ".join(tallies.models)
    if model is None and len(tallies.models) > 1:
        what = f"there are several models ({names}), and a policy is for one"
        raise OptionError(what, remedy=advice("one model", "state it with model=."))
    name = next(iter(tallies.models)) if model is None else model
    if name not in tallies.models:
        raise unknown_name("model", name, tallies.models)
    return name


def evaluate_groups(
    tallies: Tallies, policy: Policy, model: str, *, by: Sequence[str] | None = None
) -> dict[Group | None, GroupEvaluation]:
    """Evaluate a policy on all rows (None), and on each group by some attributes, by default all."""
    treatments = _group_treatments(tallies, policy, model)
    each = {group: _evaluate_tally(policy, treatments[group], tally) for group, tally in tallies.models[model].items()}
    parts: dict[Group | None, GroupEvaluation] = {None: _combine_parts(list(each.values()))}
    attributes = tallies.attributes if by is None else tuple(by)
    if attributes:
        parts |= {group: _combine_parts(several) for group, several in _split_by(tallies, each, attributes).items()}
    return parts


def is_chosen_on(tallies: Tallies, policy: Policy, model: str) -> bool:
    """Return whether a policy was chosen on the same rows, pooled or in groups."""
    return policy.chosen_on is not None and policy.chosen_on in _digests(tallies, policy, model)


def _digests(tallies: Tallies, policy: Policy, model: str) -> Iterator[str]:
    single = Tallies({model: tallies.models[model]}, tallies.attributes)
    # A policy stores the digest of pooled data, of all groups, or of coarser groups.
    yield single.pooled(model).digest
    yield single.digest
    by_group = _split_by(tallies, tallies.models[model], policy.attributes)
    coarser = {group: Tally.sum(several) for group, several in by_group.items()}
    yield Tallies({model: coarser}, policy.attributes).digest


def _group_treatments(tallies: Tallies, policy: Policy, model: str) -> dict[Group, Treatment]:
    """Return the treatment of each group of the tallies; raise one error that names all unknown groups."""
    places = _attribute_positions(tallies, policy.attributes)
    treatments: dict[Group, Treatment] = {}
    unknown: dict[tuple[str | None, ...], int] = {}
    for group, tally in tallies.models[model].items():
        policy_group = _select_attributes(group, places)
        try:
            treatments[group] = policy.treatment(policy_group)
        except UnknownLabelError:
            texts = tuple(map(label_text, policy_group))
            unknown[texts] = unknown.get(texts, 0) + _count_rows(tally)
    if unknown:
        from baserate.apply import unknown_groups_error

        raise unknown_groups_error(policy.attributes, unknown, sum(map(_count_rows, tallies.models[model].values())))
    return treatments


def _attribute_positions(tallies: Tallies, attributes: Sequence[str]) -> list[int]:
    """Return the positions of attributes among those of the tallies."""
    lacking = [name for name in attributes if name not in tallies.attributes]
    if lacking:
        grouping = f"by {', '.join(tallies.attributes)} alone" if tallies.attributes else "without groups"
        raise OptionError(
            f"groups by {', '.join(lacking)} are needed, and the rows were read {grouping}",
            remedy=f"read them with {keyword('group', lacking[0] if len(lacking) == 1 else lacking)}.",
        )
    return [tallies.attributes.index(name) for name in attributes]


def _split_by(tallies: Tallies, groups: Mapping[Group, Each], attributes: Sequence[str]) -> dict[Group, list[Each]]:
    """Collect the values of each group by some attributes, in the order of `read`."""
    places = _attribute_positions(tallies, attributes)
    members: dict[Group, list[Each]] = {}
    for group, each in groups.items():
        members.setdefault(_select_attributes(group, places), []).append(each)
    # The groups of the tallies are in the order of reading already.
    if tuple(attributes) == tallies.attributes:
        return members
    order = {group: place for place, group in enumerate(sort_labels(members))}
    return dict(sorted(members.items(), key=lambda item: order[item[0]]))


def _select_attributes(group: Group, places: Sequence[int]) -> Group:
    return tuple(group[at] for at in places)


def _count_rows(tally: Tally) -> int:
    return int(tally.rows.sum(dtype=np.int64))


def _evaluate_tally(policy: Policy, treatment: Treatment, tally: Tally) -> GroupEvaluation:
    curve = Curve(tally)
    # An action that this group never gets has the table of flagging none, so that groups can be added.
    nobody, own = curve.at(np.inf), treatment.tables(curve)
    return GroupEvaluation((tally,), {action: own.get(action, nobody) for action in policy.actions}, nobody, treatment)


def _combine_parts(parts: Sequence[GroupEvaluation]) -> GroupEvaluation:
    first = parts[0]
    if len(parts) == 1:
        return first
    added = {action: combine_counts([part.tables[action] for part in parts]) for action in first.tables}
    same_treatment = all(part.treatment == first.treatment for part in parts)
    tallies = tuple(tally for part in parts for tally in part.tallies)
    nobody = combine_counts([part.nobody for part in parts])
    return GroupEvaluation(tallies, added, nobody, first.treatment if same_treatment else None)


COLUMNS = (
    *("rule", "measure", "model", "group", "action", "chance", "value", "low", "high", "level", "how", "why"),
    *("optimism", "corrected", "corrected_low", "corrected_high"),
    *("crossvalidated", "crossvalidated_low", "crossvalidated_high"),
)
SAME_DATA_NOTE = "the threshold was chosen on these rows, so its performance is optimistic: use other data."
CELLS = ("tp", "fp", "fn", "tn")

Row = dict[str, Any]


@accepts_predictions("tallies")
def evaluate_policy(
    tallies: Tallies,
    policy: Policy | Mapping[str, Policy],
    *,
    measures: Iterable[str | Measure] | None = None,
    costs: CostsLike | None = None,
    interval: IntervalOptions | None = IntervalOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[IntervalPredictionOptions],
) -> Results:
    """Measure the decisions of a policy on any data: of all rows, and of each group.

    Measures of a policy that refers cases are of those that it decides, and `coverage` is their share. A policy of
    bands has the share and the risk of each band. Measures of a randomized policy are expected ones, and `chance` is
    the probability of each cut.

    Parameters
    ----------
    tallies
        Data to evaluate on. A policy by group needs data in the same groups, or in finer ones.
    policy
        One policy for all models, or one for each by name.
    measures
        Measures of the confusion matrix, or their names; the usual ones by default.
    costs
        Costs of decisions; they add the expected cost per case.
    interval
        Level and method of the confidence intervals; None for numbers alone.

    Returns
    -------
    Results
        Tidy rows: thresholds, cells and measures. `data["same"]` names the models whose policy was chosen on the same
        rows, so that the numbers are optimistic; a note warns of it.

    Examples
    --------
    >>> from baserate import Curve, decide, read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> results = decide.evaluate_policy(t, decide.youden(Curve(t.tally)), measures=["sensitivity"])
    >>> [(row["measure"], row["value"]) for row in results.rows()][-1], results.data["same"]
    (('sensitivity', 0.5), ['risk'])
    """
    costs = as_costs(costs)
    check_tallies(tallies)
    policies = policies_by_model(tallies, policy)
    selected = select_measures(measures, costs)
    rows: list[Row] = []
    for model, each in policies.items():
        for group, part in evaluate_groups(tallies, each, model).items():
            place = {"rule": each.rule, "model": model, "group": group_attributes(tallies, group)}
            rows += [place | row for row in performance_rows(each, part, selected, interval)]
    details = add_measure_settings(find_same_data(tallies, policies), selected)
    return build_results(tallies, rows, details, policies, interval)


def policies_by_model(tallies: Tallies, policy: Policy | Mapping[str, Policy]) -> Mapping[str, Policy]:
    """Return the policy of each model."""
    for each in policy.values() if isinstance(policy, Mapping) else [policy]:
        if not isinstance(each, Policy):
            raise OptionError(f"{type(each).__name__} is not a Policy", remedy="choose one by a rule, or load one.")
    if not isinstance(policy, Mapping):
        return dict.fromkeys(tallies.models, policy)
    lacking = [model for model in tallies.models if model not in policy]
    if lacking:
        raise OptionError(f"there is no policy for {', '.join(lacking)}", remedy="give one for each model, or for all.")
    return {model: policy[model] for model in tallies.models}


def find_same_data(tallies: Tallies, policies: Mapping[str, Policy]) -> Row:
    """List the models that are evaluated on the rows that their policy was chosen on, with a note."""
    same_models = [model for model, each in policies.items() if is_chosen_on(tallies, each, model)]
    return {"same": same_models, "notes": [SAME_DATA_NOTE] * bool(same_models)}


def add_measure_settings(details: Row, measures: Iterable[Measure]) -> Row:
    """Add the numbers that measures depend on to the details, with notes."""
    settings = collect_settings(measures)
    # A policy that was chosen by such a measure may have the same note.
    notes = list(dict.fromkeys([*details["notes"], *note_settings(settings)]))
    return details | {"notes": notes} | ({"settings": settings} if settings else {})


def select_measures(measures: Iterable[str | Measure] | None, costs: Costs | None) -> list[Measure]:
    """Return the measures of the confusion matrix to compute, with the expected cost if there are costs."""
    selected = [as_measure(each) for each in (DEFAULT_MEASURES[Counts] if measures is None else measures)]
    unfit = [describe(each).name for each in selected if describe(each).of is not Counts]
    if unfit:
        raise OptionError(f"{', '.join(unfit)} does not depend on the threshold", remedy="give measures that do.")
    if costs is None:
        return selected
    return [*(each for each in selected if describe(each).name != "expected_cost"), partial(expected_cost, costs=costs)]


def performance_rows(
    policy: Policy, part: GroupEvaluation, measures: Iterable[Measure], interval: IntervalOptions | None
) -> Iterator[Row]:
    """Yield one row for each threshold, cell and measure."""
    yield from threshold_rows(part.treatment)
    if not has_table(policy.actions):  # bands: no action is to flag or to pass
        yield from _band_rows(part, interval)
        return
    counts = part.counts
    yield from ({"measure": cell, "value": getattr(counts, cell)} for cell in CELLS)
    if REFER in policy.actions:
        yield from _referral_rows(policy, part, interval)
    yield from (estimate_row(interval, measure, counts) for measure in measures)


def threshold_rows(treatment: Treatment | None) -> Iterator[Row]:
    """Yield the thresholds where actions begin; none where they differ between groups."""
    cuts: list[tuple[Cut, float | None]] = []
    if isinstance(treatment, RandomizedCut):
        cuts += zip(treatment.cuts, treatment.chances, strict=True)
    elif treatment is not None:
        cuts.append((treatment, None))
    for cut, chance in cuts:
        for at, action in zip(cut.thresholds, cut.actions[1:], strict=True):
            yield {"measure": "threshold", "action": action, "chance": chance, "value": at}


def _referral_rows(policy: Policy, part: GroupEvaluation, interval: IntervalOptions | None) -> Iterator[Row]:
    """Yield the referred mass, the coverage and the cost including referrals."""
    table = part.tables[REFER]
    for kind, mass in (("referred_positives", table.tp), ("referred_negatives", table.fp)):
        yield {"measure": kind, "action": REFER, "value": mass}
    # In the table of referral against all else, rows that are not flagged are those that are decided.
    yield estimate_row(interval, pass_rate, table, name="coverage")
    price = policy.settings.get("refer")
    if price is not None:
        yield {"measure": "cost_with_referrals"} | tidy_columns(_cost_with_referrals(policy, part, price, interval))


def _cost_with_referrals(
    policy: Policy, part: GroupEvaluation, price: float, interval: IntervalOptions | None
) -> Estimate:
    """Estimate the cost per case, decided or referred: that of referring all, plus the excess of decisions."""
    costs, counts, total = policy.settings.get("costs") or Costs(), part.counts, part.nobody.total
    value = ratio(costs.total(counts) + price * (total - counts.total), total)
    if interval is None:
        return Estimate(value)
    # Every case costs the price of a referral, and a decided one the difference to it: one linear function of the
    # cells.
    beyond = {cell: getattr(costs, cell) - price for cell in CELLS}
    low, high = bound_weighted_cells(counts, beyond, interval.level, everybody=part.nobody)
    how = LINEAR_FIXED_METHOD if counts.reweighed else LINEAR_METHOD
    return Estimate(value, min(price + low, value), max(price + high, value), interval.level, how)


def _band_rows(part: GroupEvaluation, interval: IntervalOptions | None) -> Iterator[Row]:
    """Yield the share of each band, and its risk."""
    for action, table in part.tables.items():
        yield {"action": action} | estimate_row(interval, flag_rate, table, name="share")
        risk = estimate_row(interval, precision, table, name="risk")
        yield {"action": action} | risk | ({"why": "no row is in this band"} if risk["why"] else {})


def estimate_row(
    interval: IntervalOptions | None, measure: Measure, counts: Counts[float], *, name: str | None = None
) -> Row:
    """Return a measure of a confusion matrix, with its interval, as part of a row."""
    estimate_ = compute_estimate(measure, counts) if interval is None else interval.of(measure, counts)
    return {"measure": name or describe(measure).name, **tidy_columns(estimate_)}


def build_results(
    tallies: Tallies, rows: list[Row], details: Row, policies: Mapping[str, Policy], interval: IntervalOptions | None
) -> Results:
    """Combine rows with their header."""
    data = results_header(tallies, details, policies, interval)
    return Results(rows_to_columns(COLUMNS, rows, several=len(tallies.models) > 1), data)


def rows_to_columns(names: Iterable[str], rows: list[Row], *, several: bool) -> dict[str, list[Any]]:
    """Convert rows to columns; the model is None unless there are several."""
    rows = [row | {"model": row["model"] if several else None} for row in rows]
    return {name: [row.get(name) for row in rows] for name in names}


def results_header(
    tallies: Tallies, details: Row, policies: Mapping[str, Policy], interval: IntervalOptions | None
) -> Row:
    """Return the header of results about policies: data, settings, policies and intervals."""
    more = {name: value for name, value in details.items() if name != "notes"}
    data = results_data(tallies, details["notes"]) | more
    data["policies"] = {model: _policy_summary(policy) for model, policy in policies.items()}
    if interval is not None:
        seed = interval.seed if isinstance(interval.seed, int) else None
        data["interval"] = {"level": interval.level, "method": interval.method, "seed": seed, "clusters": None}
    return data


def _policy_summary(policy: Policy) -> Row:
    settings = {name: asdict(value) if isinstance(value, Costs) else value for name, value in policy.settings.items()}
    return {
        "rule": policy.rule,
        **_policy_actions(policy),
        "settings": settings,
        "chosen_on": policy.chosen_on,
        "notes": list(policy.notes),
    }


def _policy_actions(policy: Policy) -> Row:
    """Describe the actions of a policy: a single cut by its thresholds, otherwise as in the policy file."""
    after = {} if policy.calibrator is None else {"map": policy.calibrator.method}
    if not (policy.needs_group or policy.needs_id):
        return {**after, "thresholds": list(policy.cut.thresholds), "actions": list(policy.cut.actions)}
    content = policy_content(policy)
    return {**after, **{name: content[name] for name in ("attributes", "groups", "otherwise")}}
