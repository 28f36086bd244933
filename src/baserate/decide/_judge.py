"""What a policy gives on any rows, as tidy numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from baserate._arrays import ratio
from baserate._costs import Costs
from baserate._counts import Counts
from baserate._cut import REFER, Cut, RandomizedCut, Treatment, has_table
from baserate._errors import OptionError
from baserate._estimate import Estimate
from baserate._policy import Policy, policy_content
from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide._evaluate import Part, evaluated, same
from baserate.infer import LINEAR_FIXED_METHOD, LINEAR_METHOD, Interval, bound_weighted_cells
from baserate.measure import (
    USUAL,
    Measure,
    about,
    check_tallies,
    expected_cost,
    flag_rate,
    header,
    known,
    measured,
    named_group,
    pass_rate,
    precision,
    settings_notes,
    settings_of,
    tidy,
)

COLUMNS = (
    *("rule", "measure", "model", "group", "action", "chance", "value", "low", "high", "level", "how", "why"),
    *("optimism", "corrected", "corrected_low", "corrected_high"),
    *("crossvalidated", "crossvalidated_low", "crossvalidated_high"),
)
SAME = "the cut-off was chosen on these very rows, which flatters it: take it to others."
CELLS = ("tp", "fp", "fn", "tn")

Row = dict[str, Any]


def judge(
    tallies: Tallies,
    policy: Policy | Mapping[str, Policy],
    *,
    measures: Iterable[str | Measure] | None = None,
    costs: Costs | None = None,
    interval: Interval | None = Interval(),  # noqa: B008  (it is immutable)
) -> Results:
    """Measure what a policy decides, on any rows: everybody together, and then each group.

    One policy for all models, or one for each; a policy by groups needs rows that were read in such groups, or in finer
    ones. Thresholds are told where all rows have the same ones; those of a lottery with the `chance` of their cut, and
    its numbers are what can be expected. Of a policy that refers cases, measures are of those that it decides;
    `coverage` is their share. Of bands there are the share of everybody and of positives in each. With `costs` comes
    the expected cost of a case. `data["same"]` names the models whose policy was chosen on these very rows, and a note
    says so. Without an `interval` there are numbers alone.

    >>> from baserate import Curve, decide, read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> found = decide.judge(t, decide.youden(Curve(t.tally)), measures=["sensitivity"])
    >>> [(row["measure"], row["value"]) for row in found.rows()][-1], found.data["same"]
    (('sensitivity', 0.5), ['risk'])
    """
    check_tallies(tallies)
    policies = policies_of(tallies, policy)
    asked = measures_of(measures, costs)
    rows: list[Row] = []
    for model, each in policies.items():
        for group, part in evaluated(tallies, each, model).items():
            place = {"rule": each.rule, "model": model, "group": named_group(tallies, group)}
            rows += [place | row for row in judged(each, part, asked, interval)]
    told = with_settings(flattery(tallies, policies), asked)
    return results(tallies, rows, told, policies, interval)


def policies_of(tallies: Tallies, policy: Policy | Mapping[str, Policy]) -> Mapping[str, Policy]:
    """Return the policy of each model."""
    for each in policy.values() if isinstance(policy, Mapping) else [policy]:
        if not isinstance(each, Policy):
            raise OptionError(
                f"{type(each).__name__} is not a Policy; let a rule choose one, or read one: Policy.load(…)."
            )
    if not isinstance(policy, Mapping):
        return dict.fromkeys(tallies.models, policy)
    lacking = [model for model in tallies.models if model not in policy]
    if lacking:
        raise OptionError(f"there is no policy for {', '.join(lacking)}; give one for each model, or one for all.")
    return {model: policy[model] for model in tallies.models}


def flattery(tallies: Tallies, policies: Mapping[str, Policy]) -> Row:
    """Say which models are judged by the rows that their policy was chosen on."""
    found = [model for model, each in policies.items() if same(tallies, each, model)]
    return {"same": found, "notes": [SAME] * bool(found)}


def with_settings(told: Row, measures: Iterable[Measure]) -> Row:
    """Add the numbers that measures depend on, and the same in words."""
    settings = settings_of(measures)
    # A policy that was chosen by such a measure has said so already.
    notes = list(dict.fromkeys([*told["notes"], *settings_notes(settings)]))
    return told | {"notes": notes} | ({"settings": settings} if settings else {})


def measures_of(measures: Iterable[str | Measure] | None, costs: Costs | None) -> list[Measure]:
    """Measures of the 2×2 table that are asked for, and the expected cost if there are costs."""
    found = [known(each) for each in (USUAL[Counts] if measures is None else measures)]
    unfit = [about(each).name for each in found if about(each).of is not Counts]
    if unfit:
        raise OptionError(f"{', '.join(unfit)} does not depend on the cut-off; take measures of the 2×2 table.")
    if costs is None:
        return found
    return [*(each for each in found if about(each).name != "expected_cost"), partial(expected_cost, costs=costs)]


def judged(policy: Policy, part: Part, measures: Iterable[Measure], interval: Interval | None) -> Iterator[Row]:
    """One row for each cut-off, cell and measure."""
    yield from thresholds(part.treatment)
    if not has_table(policy.actions):
        yield from _bands(part, interval)
        return
    counts = part.counts
    yield from ({"measure": cell, "value": getattr(counts, cell)} for cell in CELLS)
    if REFER in policy.actions:
        yield from _referred(policy, part, interval)
    yield from (number_of(interval, measure, counts) for measure in measures)


def thresholds(treatment: Treatment | None) -> Iterator[Row]:
    """Where actions begin; nothing where that differs between groups."""
    cuts: list[tuple[Cut, float | None]] = []
    if isinstance(treatment, RandomizedCut):
        cuts += zip(treatment.cuts, treatment.chances, strict=True)
    elif treatment is not None:
        cuts.append((treatment, None))
    for cut, chance in cuts:
        for at, action in zip(cut.thresholds, cut.actions[1:], strict=True):
            yield {"measure": "threshold", "action": action, "chance": chance, "value": at}


def _referred(policy: Policy, part: Part, interval: Interval | None) -> Iterator[Row]:
    """What is left to somebody else."""
    table = part.tables[REFER]
    for kind, mass in (("referred_positives", table.tp), ("referred_negatives", table.fp)):
        yield {"measure": kind, "action": REFER, "value": mass}
    yield number_of(interval, pass_rate, table, name="coverage")
    price = policy.settings.get("refer")
    if price is not None:
        yield {"measure": "cost_with_referrals"} | tidy(_paid(policy, part, price, interval))


def _paid(policy: Policy, part: Part, price: float, interval: Interval | None) -> Estimate:
    """What a case costs, decided or referred: the price of referring all, and what decisions cost beyond it."""
    costs, counts, total = policy.settings.get("costs") or Costs(), part.counts, part.nobody.total
    value = ratio(costs.total(counts) + price * (total - counts.total), total)
    if interval is None:
        return Estimate(value)
    beyond = {cell: getattr(costs, cell) - price for cell in CELLS}
    low, high = bound_weighted_cells(counts, beyond, interval.level, everybody=part.nobody)
    how = LINEAR_FIXED_METHOD if counts.reweighed else LINEAR_METHOD
    return Estimate(value, min(price + low, value), max(price + high, value), interval.level, how)


def _bands(part: Part, interval: Interval | None) -> Iterator[Row]:
    """Who is in each band, and how many of them are positive."""
    for action, table in part.tables.items():
        yield {"action": action} | number_of(interval, flag_rate, table, name="share")
        risk = number_of(interval, precision, table, name="risk")
        yield {"action": action} | risk | ({"why": "there is nobody in it"} if risk["why"] else {})


def number_of(interval: Interval | None, measure: Measure, counts: Counts[float], *, name: str | None = None) -> Row:
    """A measure of a table, with its interval, as part of a row."""
    found = measured(measure, counts) if interval is None else interval.of(measure, counts)
    return {"measure": name or about(measure).name, **tidy(found)}


def results(
    tallies: Tallies, rows: list[Row], told: Row, policies: Mapping[str, Policy], interval: Interval | None
) -> Results:
    """Put rows together with what they were made from."""
    data = head(tallies, told, policies, interval)
    return Results(in_columns(COLUMNS, rows, several=len(tallies.models) > 1), data)


def in_columns(names: Iterable[str], rows: list[Row], *, several: bool) -> dict[str, list[Any]]:
    """Columns of rows; the model is told where there are several."""
    rows = [row | {"model": row["model"] if several else None} for row in rows]
    return {name: [row.get(name) for row in rows] for name in names}


def head(tallies: Tallies, told: Row, policies: Mapping[str, Policy], interval: Interval | None) -> Row:
    """What numbers on policies were made from."""
    more = {name: value for name, value in told.items() if name != "notes"}
    data = header(tallies, told["notes"]) | more
    data["policies"] = {model: _told(policy) for model, policy in policies.items()}
    if interval is not None:
        seed = interval.seed if isinstance(interval.seed, int) else None
        data["interval"] = {"level": interval.level, "method": interval.method, "seed": seed, "clusters": None}
    return data


def _told(policy: Policy) -> Row:
    return {
        "rule": policy.rule,
        **_done(policy),
        "settings": {
            name: asdict(value) if isinstance(value, Costs) else value for name, value in policy.settings.items()
        },
        "chosen_on": policy.chosen_on,
        "notes": list(policy.notes),
    }


def _done(policy: Policy) -> Row:
    """What is done with which scores: of a single cut in short, otherwise as in the policy's file."""
    after = {} if policy.map is None else {"map": policy.map.method}
    if not (policy.needs_group or policy.needs_id):
        return {**after, "thresholds": list(policy.cut.thresholds), "actions": list(policy.cut.actions)}
    written = policy_content(policy)
    return {**after, **{name: written[name] for name in ("attributes", "groups", "otherwise")}}
