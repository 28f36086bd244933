"""Impact of a parity: rates, costs and gaps of groups with and without it, and its price at each tolerance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from math import floor, isnan, log10, nan
from typing import Any, Unpack

import numpy as np

from baserate._arrays import Floats
from baserate._costs import Costs
from baserate._cut import FLAG, PASS
from baserate._errors import OptionError
from baserate._formatting import count_of, join_words
from baserate._policy import REFUSE, Policy
from baserate._results import Results
from baserate._tally import Group
from baserate.calibration import ProgressCallback
from baserate.decide import (
    CELLS,
    GroupEvaluation,
    Row,
    estimate_row,
    evaluate_groups,
    is_chosen_on,
    results_header,
    threshold_rows,
)
from baserate.fairness._group_counts import (
    Groups,
    Participants,
    as_tallies,
    check_actions,
    group_label,
    randomized_mass,
    rate_gaps,
    select_participants,
)
from baserate.fairness._optimum import (
    OPTIMUM_RULE,
    ROC_TOLERANCE,
    RocRegion,
    best_value,
    choose_optimum,
    find_points,
    points_value,
    roc_regions,
    vertex_costs,
)
from baserate.fairness._parities import Goal, Parity
from baserate.fairness._threshold_search import common_threshold, deterministic_thresholds
from baserate.infer import IntervalOptions
from baserate.measure import (
    MEASURES,
    Measure,
    describe,
    expected_cost,
    flag_rate,
    fpr,
    group_attributes,
    precision,
    prevalence,
    results_data,
    sensitivity,
)
from baserate.read import IntervalPredictionOptions, PredictionOptions, accepts_predictions

ROUNDING = 1e-9
"""Differences of shares below this count as rounding."""
_MAX_GROUPS = 5
"""Greatest number of groups that a note lists; the rows list all."""
SAME_DATA_NOTE = "the parity was fitted to these rows and does not hold exactly on others; cross-validate it."

Shares = Mapping[str, float]
"""Label of a group -> a share of that group."""


def describe_parities(parities: Iterable[Parity]) -> list[str]:
    """Describe what parities guarantee and what they do not.

    >>> from baserate.fairness import find_parity
    >>> describe_parities([find_parity("equal-opportunity")])[0].partition(". ")[2]
    'It does not constrain the false positive rate.'
    """
    return [f"{each.name} means: {each.description}. It does not constrain {each.limitation}." for each in parities]


def legal_note(attributes: Sequence[str]) -> str:
    """Warn of the legal risk of a policy that uses group attributes.

    >>> legal_note(["race"]).partition(":")[0]
    'The policy uses race'
    """
    return (
        f"The policy uses {join_words(attributes)}: thresholds by group may count as disparate "
        "treatment in the US, or as direct discrimination in the EU. This is not legal advice."
    )


def base_rate_notes(base: Shares, tolerance: float) -> list[str]:
    """Warn that a perfect predictor violates demographic parity if base rates differ by more than the tolerance.

    >>> rates = {"sex = f": 0.1, "sex = m": 0.3}
    >>> base_rate_notes(rates, 0.2), len(base_rate_notes(rates, 0.1))
    ([], 1)
    """
    low, high = min(base, key=base.__getitem__), max(base, key=base.__getitem__)
    if base[high] - base[low] <= tolerance + ROUNDING:
        return []
    rates = f"{_format_percent(base[low])} in {low}, {_format_percent(base[high])} in {high}"
    return [f"the base rates differ ({rates}), so even a perfect predictor would violate demographic parity."]


def no_positives_notes(flagged: Shares) -> list[str]:
    """Warn of groups without positives in which some people are flagged.

    >>> no_positives_notes({"sex = f": 0.0})
    []
    """
    return [
        f"{name} has no positives, so all of its flags, {_format_percent(share)} of the group, are false positives."
        for name, share in flagged.items()
        if share > 0
    ]


def trivial_notes(flagged: Shares) -> list[str]:
    """Warn if nobody or everybody is flagged in all groups.

    >>> trivial_notes({"sex = f": 0.0, "sex = m": 0.0})
    ['nobody is flagged, in any group: the scores are not used.']
    """
    for share, flagged_people in ((0.0, "nobody"), (1.0, "everybody")):
        if all(abs(each - share) < ROUNDING for each in flagged.values()):
            return [f"{flagged_people} is flagged, in any group: the scores are not used."]
    return []


def randomization_notes(shares: Shares) -> list[str]:
    """List the groups in which some decisions are random.

    >>> randomization_notes({"sex = f": 0.25, "sex = m": 0.0})
    ['decided at random: 25% of sex = f; of people with the same score, some are flagged and some are not.']
    """
    parts = [f"{_format_percent(share)} of {name}" for name, share in _sort_descending(shares).items() if share > 0]
    if not parts:
        return []
    groups = _list_groups(parts)
    return [f"decided at random: {groups}; of people with the same score, some are flagged and some are not."]


def leveling_down_notes(rate: str, before: Shares, after: Shares) -> list[str]:
    """Warn of leveling down: a rate that gets worse in some groups and better in none.

    >>> leveling_down_notes("fpr", {"sex = f": 0.2, "sex = m": 0.3}, {"sex = f": 0.3, "sex = m": 0.3})
    ['leveling down: fpr gets better in no group, and worse in sex = f (0.2 to 0.3).']
    """
    best = describe(MEASURES[rate]).best
    defined = [name for name in before if not (isnan(before[name]) or isnan(after[name]))]
    gained = {name: (after[name] - before[name]) * (1 if best == "high" else -1) for name in defined}
    worse = [name for name in defined if gained[name] < -ROUNDING]
    if best is None or not worse or any(each > ROUNDING for each in gained.values()):
        return []
    changes = _list_groups([f"{name} ({before[name]:.4g} to {after[name]:.4g})" for name in worse])
    return [f"leveling down: {rate} gets better in no group, and worse in {changes}."]


def forgone_notes(forgone: Shares) -> list[str]:
    """Warn of groups whose sensitivity could be greater at their false positive rates.

    >>> forgone_notes({"sex = f": 0.05, "sex = m": 0.0})[0].partition(";")[0]
    'at the same false positive rate, sensitivity could be greater in sex = f by 0.05'
    """
    losses = [f"{name} by {lost:.4g}" for name, lost in _sort_descending(forgone).items() if lost > ROUNDING]
    if not losses:
        return []
    note = f"at the same false positive rate, sensitivity could be greater in {_list_groups(losses)}"
    return [f"{note}; the policy gives that up to keep the groups together."]


def _sort_descending(shares: Shares) -> Shares:
    """Sort shares from the greatest on, ties by name."""
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))


def _list_groups(parts: Sequence[str]) -> str:
    """Join the first few groups, and count the others."""
    more = len(parts) - _MAX_GROUPS + 1
    return join_words(parts if len(parts) <= _MAX_GROUPS else [*parts[: _MAX_GROUPS - 1], count_of(more, "more group")])


def _format_percent(share: float) -> str:
    """Format a share as a percentage."""
    return f"{100 * share:.4g}%"


_TABLE, _WITHOUT, _WITH = "account", "without parity", "with parity"
IMPACT_COLUMNS = (
    *("table", "set", "group", "measure", "rate", "kind", "action", "chance"),
    *("value", "low", "high", "level", "how", "why", "change"),
)
Parts = dict[Group | None, GroupEvaluation]


@accepts_predictions("groups")
def impact(
    groups: Groups,
    goal: Goal,
    policy: Policy | None = None,
    *,
    model: str | None = None,
    otherwise: str = REFUSE,
    interval: IntervalOptions | None = IntervalOptions(),  # noqa: B008  (it is immutable)
    **predictions: Unpack[IntervalPredictionOptions],
) -> Results:
    """Report the impact of a policy on each group: rates, costs and gaps, with and without the parity.

    The report makes no judgment on whether the policy is fair.

    Parameters
    ----------
    groups, goal, model, otherwise
        As in `optimal_policy`.
    policy
        Any policy that passes or flags; the default is the optimum.
    interval
        Method and level of the confidence intervals; None for none.

    Returns
    -------
    Results
        The column `set` is "without parity" (each group at its own cheapest cut) or "with parity"; `change` is the
        difference between them. Group None is all participants. Measures are thresholds, cells and rates, `base_rate`,
        `expected_cost` per person, `lottery` (share decided at random) and `forgone` (sensitivity given up at the same
        false positive rate). A `gap` is the greatest difference between two groups, for each rate of the goal and for
        precision. `data` contain the cost with and without the parity, its `price`, the `least` possible cost, and the
        groups that bind (`binds`): better scores for them would lower the cost. With an objective, `data` contain its
        `value` with the parity, `value_without`, the `best` possible one, and the `price` is a difference of values.

    Examples
    --------
    >>> from baserate import curve, fairness, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> report = fairness.impact({"f": f, "m": m}, fairness.Goal("equalized-odds"))
    >>> [round(report.data[name], 4) for name in ("cost", "cost_without", "price")]
    [0.3333, 0.25, 0.0833]
    """
    participants = select_participants(groups, goal, model=model, otherwise=otherwise)
    if policy is None:
        policy = choose_optimum(participants, goal.tolerances, reversal=participants.has_labels)
    # Both sides of the comparison must use the same regions, or the price of the parity includes that of reversal.
    reversal = participants.has_labels or bool(policy.settings.get("reversal"))
    unconstrained = choose_optimum(participants, {}, reversal=reversal)
    effect = _ParityEffect(
        participants,
        _evaluate(participants, unconstrained),
        _evaluate(participants, policy),
        roc_regions(participants, reversal=reversal),
    )
    rows = list(_impact_rows(effect, interval))
    is_same_data = is_chosen_on(as_tallies(groups), policy, participants.model)
    notes = [*policy.notes, *_impact_notes(effect), *[SAME_DATA_NOTE] * is_same_data]
    summary = {"same": [participants.model] * is_same_data, "notes": notes, **_summarize(effect, policy)}
    data = results_header(participants.tallies, summary, {participants.model: policy}, interval)
    columns = {name: [row.get(name) for row in rows] for name in IMPACT_COLUMNS}
    return Results(columns, data | {"digest": participants.digest})


@dataclass(frozen=True)
class _ParityEffect:
    """Decisions without and with the parity, and the reachable region of each group."""

    participants: Participants
    before: Parts
    after: Parts
    regions: Mapping[Group, RocRegion]

    def with_labels(self, of: Mapping[Group, float]) -> dict[str, float]:
        """Replace groups by their labels in a mapping."""
        return {group_label(self.participants.attributes, group): value for group, value in of.items()}

    def rates(self, measure: Measure, parts: Parts) -> dict[Group, float]:
        """Compute a measure of each group."""
        return {group: float(measure(parts[group].counts)) for group in self.regions}

    def cost(self, parts: Parts) -> float:
        """Compute the expected cost per participant."""
        return float(expected_cost(parts[None].counts, costs=self.participants.goal.costs))

    @cached_property
    def randomized(self) -> dict[Group, float]:
        """Mass of each group that is decided at random."""
        return {group: randomized_mass(part.tally, part.treatment) for group, part in self._groups()}

    def value(self, parts: Parts) -> float:
        """Objective of all participants."""
        measure = self.participants.goal.measure
        return nan if measure is None else float(measure(parts[None].counts))

    @cached_property
    def forgone(self) -> dict[Group, float]:
        """Sensitivity that each group gives up at its false positive rate; NaN if a class is absent."""
        return {group: self.regions[group].forgone(*_roc_point(part)) for group, part in self._groups()}

    @property
    def binding(self) -> list[Group]:
        """Groups whose rates cannot both improve."""
        return [group for group, part in self._groups() if self.regions[group].is_binding(*_roc_point(part))]

    def _groups(self) -> Iterator[tuple[Group, GroupEvaluation]]:
        return ((group, self.after[group]) for group in self.regions)


def _evaluate(participants: Participants, policy: Policy) -> Parts:
    """Evaluate a policy on all participants and on each group."""
    parts = evaluate_groups(participants.subset, policy, participants.model)
    actions = {action for part in parts.values() if part.treatment for action in part.treatment.actions}
    check_actions(actions, {PASS, FLAG})
    return parts


def _roc_point(part: GroupEvaluation) -> tuple[float, float]:
    """Return the false and true positive rate."""
    return float(fpr(part.counts)), float(sensitivity(part.counts))


def _impact_rows(effect: _ParityEffect, interval: IntervalOptions | None) -> Iterator[Row]:
    """Yield the numbers of all participants and of each group, without and with the parity, then the gaps."""
    tallies, first_values = effect.participants.tallies, dict[tuple[Any, ...], float]()
    for name, parts in ((_WITHOUT, effect.before), (_WITH, effect.after)):
        for group, part in parts.items():
            place = {"table": _TABLE, "set": name, "group": group_attributes(tallies, group)}
            rows = [*threshold_rows(part.treatment), *_group_numbers(part, effect.participants.goal, interval)]
            rows += _loss_rows(effect, group) if name == _WITH else ()
            yield from (place | row | _change(first_values, group, row) for row in rows)
        for row in _gap_rows(effect, parts):
            yield {"table": _TABLE, "set": name, "group": None} | row | _change(first_values, None, row)


def _group_numbers(part: GroupEvaluation, goal: Goal, interval: IntervalOptions | None) -> Iterator[Row]:
    """Yield base rate, cells and rates of one group."""
    counts = part.counts
    yield estimate_row(interval, prevalence, counts, name="base_rate")
    yield from ({"measure": cell, "value": getattr(counts, cell)} for cell in CELLS)
    measures: list[Measure] = [flag_rate, sensitivity, fpr, precision, partial(expected_cost, costs=goal.costs)]
    for measure in [*measures, *([] if goal.measure is None else [goal.measure])]:
        yield estimate_row(interval, measure, counts)


def _loss_rows(effect: _ParityEffect, group: Group | None) -> Iterator[Row]:
    """Yield the share decided at random, and the sensitivity that a group gives up."""
    masses, whole = effect.randomized, effect.after[group].nobody.total
    yield {"measure": "lottery", "value": (sum(masses.values()) if group is None else masses[group]) / whole}
    if group is not None:
        lost = effect.forgone[group]
        yield {"measure": "forgone", "value": lost, "why": "a class is missing" if isnan(lost) else None}


def _gap_rows(effect: _ParityEffect, parts: Parts) -> Iterator[Row]:
    """Yield the gap of each rate of the goal, and of precision."""
    tables = {group: parts[group].counts for group in effect.regions}
    for rate in (*effect.participants.goal.rates, "precision"):
        n_defined = sum(not isnan(each) for each in effect.rates(MEASURES[rate], parts).values())
        gap = rate_gaps(tables, [rate])[rate] if n_defined > 1 else nan
        why = None if n_defined > 1 else f"{rate} is defined in fewer than two groups"
        yield {"measure": "gap", "rate": rate, "kind": "max_difference", "value": gap, "why": why}


def _change(first_values: dict[tuple[Any, ...], float], group: Group | None, row: Row) -> Row:
    """Return the difference from the value without the parity; empty for the first value of its kind."""
    if row["measure"] == "threshold":
        return {}
    key = group, row["measure"], row.get("rate")
    if key in first_values:
        return {"change": row["value"] - first_values[key]}
    # Rows without the parity come first.
    first_values[key] = row["value"]
    return {}


def _summarize(effect: _ParityEffect, policy: Policy) -> Row:
    """Return costs, price, binding groups and descriptions."""
    participants, cost, free = effect.participants, effect.cost(effect.after), effect.cost(effect.before)
    regions, goal = [*effect.regions.values()], effect.participants.goal
    binding = effect.binding if policy.rule == OPTIMUM_RULE else []
    return {
        "parity": [
            {"name": each.name, "promise": each.description, "silent": each.limitation}
            for each in participants.goal.parities
        ],
        "within": participants.goal.settings["within"],
        "costs": asdict(participants.goal.costs),
        "cost": cost,
        "cost_without": free,
        "price": cost - free,
        **({"least": best_value(regions, goal.tolerances, goal)} if goal.objective is None else _value_summary(effect)),
        "binds": [group_attributes(participants.tallies, group) for group in binding],
        "left": [group_attributes(participants.tallies, group) for group in participants.excluded],
        "levelling_down": _leveling_down(effect),
        "needs_group": policy.needs_group,
        "needs_id": policy.needs_id,
        "promises": describe_parities(participants.goal.parities),
        "legal": legal_note(policy.attributes) if policy.needs_group else None,
    }


def _value_summary(effect: _ParityEffect) -> Row:
    """Return the objective with the parity and without, its price, and the best value that keeps the parity."""
    goal = effect.participants.goal
    value, free = effect.value(effect.after), effect.value(effect.before)
    return {
        "objective": goal.objective,
        "value": value,
        "value_without": free,
        "price": free - value,
        "best": best_value([*effect.regions.values()], goal.tolerances, goal),
    }


def _leveling_down(effect: _ParityEffect) -> list[str]:
    """List rates that get worse for some and better for nobody, and sensitivity that is given up."""
    notes = []
    for rate in effect.participants.goal.rates:
        before, after = (effect.rates(MEASURES[rate], parts) for parts in (effect.before, effect.after))
        notes += leveling_down_notes(rate, effect.with_labels(before), effect.with_labels(after))
    return [*notes, *forgone_notes(effect.with_labels(effect.forgone))]


def _impact_notes(effect: _ParityEffect) -> list[str]:
    """List warnings for the reader."""
    bound, flagged = effect.participants.goal.tolerances.get("flag_rate"), effect.rates(flag_rate, effect.after)
    base = {group: effect.after[group].tally.prevalence for group in effect.regions}
    notes = [] if bound is None else base_rate_notes(effect.with_labels(base), bound)
    notes += no_positives_notes(effect.with_labels({group: flagged[group] for group in base if not base[group]}))
    notes += [*trivial_notes(effect.with_labels(flagged)), *_leveling_down(effect)]
    shares = {group: mass / effect.after[group].nobody.total for group, mass in effect.randomized.items()}
    return [*notes, *randomization_notes(effect.with_labels(shares))]


_RESTRICTIONS = {"deterministic": deterministic_thresholds, "blind": common_threshold}
"""Kind of policy -> function that finds the best policy of that kind."""
_MAX_TOLERANCES = 25
"""Greatest number of default tolerances."""
_ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@accepts_predictions("groups")
def frontier(
    groups: Groups,
    goal: Goal,
    *,
    within: Iterable[float] | None = None,
    model: str | None = None,
    otherwise: str = REFUSE,
    watch: ProgressCallback | None = None,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Compute the least cost of a parity at each tolerance.

    Parameters
    ----------
    groups, model, otherwise
        As in `optimal_policy`.
    goal
        Parities, costs and prevalence; its own tolerances are ignored.
    within
        Tolerances, the same for all rates. The default runs from 0 to where the price is 0.
    watch
        Callback that receives the number of finished tolerances and their total.

    Returns
    -------
    Results
        One row for each tolerance: `cost`; `price`, the cost above that without a parity; `gap`, the greatest
        difference of a rate; `lottery`, the share decided at random; `binds`, the groups that limit the others; and
        the least cost without randomization, and with one threshold for all groups. `data["free_from"]` is the
        tolerance from which on the price is 0.

    Examples
    --------
    >>> from baserate import curve, fairness, tally
    >>> f = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]))
    >>> m = curve(tally([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.6, 0.5, 0.3, 0.1]))
    >>> prices = fairness.frontier({"f": f, "m": m}, fairness.Goal("equalized-odds"), within=[0, 0.1, 1])
    >>> [(row["within"], round(row["cost"], 3), round(row["price"], 3)) for row in prices.rows()]
    [(0.0, 0.333, 0.083), (0.1, 0.283, 0.033), (1.0, 0.25, 0.0)]
    >>> round(prices.data["free_from"], 3)
    0.167
    """
    goal = replace(goal, within=0.0)
    participants = select_participants(groups, goal, model=model, otherwise=otherwise)
    regions = list(roc_regions(participants, reversal=participants.has_labels).values())
    unconstrained = find_points(regions, dict.fromkeys(goal.rates, np.inf), goal)
    gap, best = _greatest_gap(regions, unconstrained, goal.rates), points_value(regions, unconstrained, goal)
    # Other solutions of the greatest objective are not known, as those of the least cost are.
    free_gap = gap if goal.objective else _least_free_gap(regions, goal)
    name, sign = ("cost", 1.0) if goal.objective is None else ("value", -1.0)
    rows = []
    tolerances = _default_tolerances(free_gap) if within is None else _check_tolerances(within)
    for aim in [replace(goal, within=each) for each in tolerances]:
        most = min(aim.tolerances.values())
        # Below the tolerance of its own gap the unconstrained solution is optimal; skip the solver and its rounding.
        points = unconstrained if gap <= most else find_points(regions, aim.tolerances, goal)
        value = points_value(regions, points, goal)
        numbers = {"within": most, name: value, "price": max(sign * (value - best), 0.0)}
        rows.append(numbers | _describe_points(participants, regions, points) | _restricted_costs(participants, aim))
        if watch is not None:
            watch(len(rows), len(tolerances))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return Results(columns, _frontier_metadata(participants, unconstrained, best, free_gap))


def _check_tolerances(within: Iterable[float]) -> list[float]:
    """Sort the stated tolerances, the strictest first."""
    several = sorted({*within})
    if not several:
        raise OptionError("within is empty", remedy="give tolerances, such as [0, 0.02, 0.05], or leave it out.")
    return several


def _default_tolerances(gap: float) -> list[float]:
    """Return round numbers from 0 up to the gap, and the gap itself."""
    if gap <= ROC_TOLERANCE:
        return [0.0]
    scale = 10.0 ** floor(log10(gap / _MAX_TOLERANCES))
    step = scale * next(each for each in _ROUND_STEPS if each * scale >= gap / _MAX_TOLERANCES)
    # Rounded, since 3 · 0.1 is 0.30000000000000004.
    below = [round(at * step, 15) for at in range(_MAX_TOLERANCES + 1)]
    return [*(each for each in below if each < gap - ROC_TOLERANCE), gap]


def _greatest_gap(regions: Sequence[RocRegion], points: Floats, rates: Iterable[str]) -> float:
    """Compute the greatest difference of any rate between two groups."""
    pairs = list(zip(regions, points, strict=True))
    return max(float(np.ptp([np.dot(region.weights(rate), point) for region, point in pairs])) for rate in rates)


def _least_free_gap(regions: Sequence[RocRegion], goal: Goal) -> float:
    """Compute the least gap among all solutions of least cost without a parity; there may be several."""
    ends = [_cheapest_vertices(region, goal.costs) for region in regions]
    if all(first == last for first, last in ends):
        return _greatest_gap(regions, np.array([first for first, _ in ends]), goal.rates)
    from scipy.optimize import linprog

    # Unknowns: position of each group between its first and last cheapest point, the least value of each rate, the gap.
    rows, most = [], []
    for place, rate in enumerate(goal.rates):
        for at, (region, pair) in enumerate(zip(regions, ends, strict=True)):
            first, last = (float(np.dot(region.weights(rate), end)) for end in pair)
            row = np.zeros(len(regions) + len(goal.rates) + 1)
            row[at], row[len(regions) + place] = last - first, -1.0
            wide = row.copy()
            wide[-1] = -1.0
            rows += [wide, -row]
            most += [-first, first]
    return float(linprog(np.eye(len(rows[0]))[-1], A_ub=np.array(rows), b_ub=most, bounds=(0.0, 1.0)).x[-1])


def _cheapest_vertices(region: RocRegion, costs: Costs) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the strictest and the laxest of the cheapest vertices."""
    cost = vertex_costs(region, costs)
    minima = np.flatnonzero(cost <= cost.min() + ROC_TOLERANCE)
    first, last = ((float(region.fpr[at]), float(region.tpr[at])) for at in (minima[0], minima[-1]))
    return first, last


def _describe_points(participants: Participants, regions: Sequence[RocRegion], points: Floats) -> dict[str, Any]:
    """Return the gap, the share decided at random, and the binding groups."""
    pairs = list(zip(regions, points.tolist(), strict=True))
    randomized = sum(randomized_mass(region.curve.tally, region.treatment(*point)) for region, point in pairs)
    labels = [group_label(participants.attributes, group) for group in participants.curves]
    binding = [label for label, (region, point) in zip(labels, pairs, strict=True) if region.is_binding(*point)]
    return {
        "gap": _greatest_gap(regions, points, participants.goal.rates),
        "lottery": randomized / sum(region.curve.total for region in regions),
        "binds": "; ".join(binding),
    }


def _restricted_costs(participants: Participants, aim: Goal) -> dict[str, float]:
    """Compute cost or objective at the same tolerance without randomization, and with one threshold for all groups."""
    unshifted = replace(aim, prevalence=None)  # the participants are adjusted already; adjusting twice would be wrong
    policies = {kind: choose(participants.subset, unshifted) for kind, choose in _RESTRICTIONS.items()}
    name = "cost" if aim.objective is None else "value"
    return {f"{kind}_{name}": float(policy.settings.get(name, nan)) for kind, policy in policies.items()}


def _frontier_metadata(
    participants: Participants, unconstrained: Floats, best: float, free_gap: float
) -> dict[str, Any]:
    """Return metadata; warn if the scores are not used without a parity."""
    notes = participants.notes()
    for rate, flagged in ((0.0, "nobody"), (1.0, "everybody")):
        if (unconstrained == rate).all():
            objective = participants.goal.objective
            aim, best_word = ("at these costs", "cheapest") if objective is None else (f"by {objective}", "best")
            notes.append(f"{aim} flagging {flagged} is {best_word}, so scores are not used and parity is free.")
    values = {"cost_without": best} if participants.goal.objective is None else {"value_without": best}
    return results_data(participants.tallies, notes) | {
        "digest": participants.digest,
        "parity": [each.name for each in participants.goal.parities],
        "rates": list(participants.goal.rates),
        "costs": asdict(participants.goal.costs),
        **({} if participants.goal.objective is None else {"objective": participants.goal.objective}),
        **values,
        "free_from": free_gap,
    }
