"""Tallies -> tidy numbers: what a rule chooses, what that gives, how sure it is, and what other rules would choose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from baserate import _domains
from baserate._costs import Costs
from baserate._curve import Curve
from baserate._cut import FLAG
from baserate._domains import FOLDS, check_domain
from baserate._errors import BaserateError, OptionError
from baserate._estimate import Estimate
from baserate._policy import Policy
from baserate._results import Results
from baserate._tally import Tallies
from baserate.decide._cost import cost
from baserate.decide._cross_validation import CrossValidated, crossvalidated
from baserate.decide._evaluate import evaluated
from baserate.decide._front import front
from baserate.decide._judge import SAME, Row, judged, measures_of, number_of, results, with_settings
from baserate.decide._points import balanced, best, break_even, closest, fixed, youden
from baserate.decide._rule import Choose
from baserate.decide._sure import DRAWS, Sureness, resampled
from baserate.decide._vertices import ALL, NONE
from baserate.infer import Interval, estimate, ways
from baserate.measure import (
    Measure,
    about,
    check_tallies,
    expected_cost,
    flag_rate,
    named_group,
    precision,
    sensitivity,
    specificity,
    tidy,
)

CORRECTED = f"{SAME[:-1]}, or read the optimism-corrected values."
FOLDED = f"{SAME[:-1]}, or read what it gives in folds that had no part in the choice."
FLATTERED = (SAME, CORRECTED, FOLDED)
_COMPARED: tuple[Measure, ...] = (sensitivity, specificity, precision, flag_rate)
_MIDDLE = _CHANCE = 0.5


@dataclass(frozen=True, slots=True)
class Trial:
    """How a choice is checked on the rows that it was made on: by samples drawn from them, and by folds of them.

    >>> Trial(folds=5)
    Trial(draws=1000, folds=5)
    """

    draws: int = DRAWS
    """Samples in which the rule chooses again; 0 for none."""
    folds: int = 0
    """Parts of the rows, each judged by what the rule chooses without it; 0 for none."""

    def __post_init__(self) -> None:
        if self.draws != 0:
            check_domain("draws", self.draws, _domains.DRAWS.or_none)
        if self.folds != 0:
            check_domain("folds", self.folds, FOLDS.or_none)


def summary(
    tallies: Tallies,
    rule: Choose,
    *,
    measures: Iterable[str | Measure] | None = None,
    costs: Costs | None = None,
    draws: int | Trial = DRAWS,
    interval: Interval | None = Interval(),  # noqa: B008  (it is immutable)
) -> Results:
    """Let a rule choose for each model, and tell all that a reader should know before using its cut-off.

    First come the cut-offs (`measure` is "threshold", `action` what begins there) with intervals from `draws` samples,
    then the 2×2 table and the measures as `judge` gives them, with the optimism of the choice and the
    optimism-corrected value; then what other rules would have chosen, and what that gives. For another prevalence,
    carry the tallies there first, with `shift.reweigh`. Without draws, without an interval, and of a rule that does not
    look at the data, nothing is drawn, and nothing corrected. `draws` may be a `Trial`, whose folds are judged by what
    is chosen without them (`crossvalidated`); `data["folds"]` then holds their cut-offs.

    >>> from baserate import decide, read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> found = decide.summary(t, decide.youden, draws=100)
    >>> {row["rule"]: row["value"] for row in found.rows() if row["measure"] == "threshold"}["youden"]
    0.9
    """
    check_tallies(tallies)
    asked = measures_of(measures, costs)
    _check_use(interval, asked, tallies)
    trial = draws if isinstance(draws, Trial) else Trial(draws)
    curves = {model: Curve(tallies.pooled(model)) for model in tallies.models}
    policies = {model: rule(curve) for model, curve in curves.items()}
    folded = {model: _folded(curve, rule, asked, trial.folds, interval) for model, curve in curves.items()}
    rows: list[Row] = []
    notes = list(_never(curves))
    for model, curve in curves.items():
        sure = _drawn(curve, rule, asked, trial.draws, interval) if policies[model].chosen_on else None
        of = f"{model}: " if len(curves) > 1 else ""
        notes += [f"{of}{note}" for note in (*policies[model].notes, *_unsure(sure), *_upside_down(curve))]
        for group, part in evaluated(tallies, policies[model], model).items():
            place = {"rule": policies[model].rule, "model": model, "group": named_group(tallies, group)}
            lines = judged(policies[model], part, asked, interval)
            rows += [place | row | (_checked(sure, folded[model], row) if group is None else {}) for row in lines]
        rows += [row | {"model": model, "group": None} for row in _others(curve, policies[model], costs, interval)]
    told = with_settings(_flattery(policies, rows, notes) | _cuts_told(folded), asked)
    return results(tallies, rows, told, policies, interval)


def _drawn(
    curve: Curve, rule: Choose, measures: Sequence[Measure], draws: int, interval: Interval | None
) -> Sureness | None:
    if interval is None or not draws:
        return None
    return resampled(curve, rule, measures=measures, draws=draws, seed=interval.seed, level=interval.level)


def _folded(
    curve: Curve, rule: Choose, measures: Sequence[Measure], folds: int, interval: Interval | None
) -> CrossValidated | None:
    """Judge the choice by folds; without an interval, its numbers alone."""
    if not folds:
        return None
    kind = interval or Interval()
    seed = kind.seed if isinstance(kind.seed, int) else 0
    found = crossvalidated(curve.tally, rule, measures=measures, folds=folds, seed=seed, level=kind.level)
    if not found.policy.chosen_on:
        raise OptionError(f"folds={folds} has no use: this rule does not look at the data; leave it out.")
    if interval is not None:
        return found
    plain = {name: Estimate(each.value, why=each.why) for name, each in found.performance.items()}
    return replace(found, performance=plain)


def _flattery(policies: Mapping[str, Policy], rows: Sequence[Row], notes: Sequence[str]) -> Row:
    """Which models were judged by the rows that they were chosen on, and where to read more."""
    same = [model for model, each in policies.items() if each.chosen_on]
    known = {name for row in rows for name in ("corrected", "crossvalidated") if name in row}
    note = CORRECTED if "corrected" in known else FOLDED if known else SAME
    return {"same": same, "notes": [note] * bool(same) + list(notes)}


def _cuts_told(folded: Mapping[str, CrossValidated | None]) -> Row:
    """Cut-offs that were chosen without each fold, of each model."""
    cuts = {model: [list(cut.thresholds) for cut in each.cuts] for model, each in folded.items() if each is not None}
    return {"folds": cuts} if cuts else {}


def _never(curves: Mapping[str, Curve]) -> Iterator[str]:
    """Which of several models nobody needs."""
    told_apart = all(curve.positives and curve.negatives for curve in curves.values()) and not {NONE, ALL} & {*curves}
    if len(curves) > 1 and told_apart:
        for name in front(dict(curves)).never:
            yield f"{name}: another model, or two in turns, is as good or better at any costs and any prevalence."


def _upside_down(curve: Curve) -> Iterator[str]:
    """Offer reversal to what ranks worse than chance."""
    area = estimate("auc", curve)
    if area.high < _CHANCE:
        yield (
            f"it ranks worse than chance (AUC {area.value:.4g}); with its sign changed it would have "
            f"{1 - area.value:.4g}: see that a higher score means more positive."
        )


def _check_use(interval: Interval | None, measures: Sequence[Measure], tallies: Tallies) -> None:
    """See that a method that was asked for makes an interval of something."""
    method = interval.method if interval is not None else None
    reweighed = tallies.pooled(next(iter(tallies.models))).reweighed
    if method is not None and not any(method in ways(each, reweighed=reweighed) for each in measures):
        names = ", ".join(about(each).name for each in measures)
        raise OptionError(f"method={method!r} makes no interval of {names}; leave it out.")


def _checked(sure: Sureness | None, folded: CrossValidated | None, row: Row) -> Row:
    """What the checks of a choice add to a number."""
    performance = folded.performance if folded is not None else {}
    if row["measure"] not in performance:
        return _flattered(sure, row)
    left = tidy(performance[row["measure"]])
    return _flattered(sure, row) | {
        "crossvalidated": left["value"],
        "crossvalidated_low": left["low"],
        "crossvalidated_high": left["high"],
    }


def _flattered(sure: Sureness | None, row: Row) -> Row:
    """Interval of a cut-off, or the optimism-corrected value of a measure."""
    if sure is None:
        return {}
    if row["measure"] == "threshold":
        place = list(sure.policy.cut.actions[1:]).index(row["action"])
        return tidy(sure.cutoffs[place])
    found = sure.performance.get(row["measure"])
    if found is None:
        return {}
    left = tidy(found.corrected)
    return {
        "optimism": found.optimism,
        "corrected": left["value"],
        "corrected_low": left["low"],
        "corrected_high": left["high"],
    }


def _unsure(sure: Sureness | None) -> Iterator[str]:
    if sure is None:
        return
    many = len(sure.drawn)
    if sure.failed:
        yield f"in {sure.failed} of {many} draws the rule found nothing: a class was missing, or nothing met it."
    if sure.other:
        yield f"in {sure.other} of {many} draws it chose another number of actions; they are left out of the intervals."


def _others(curve: Curve, policy: Policy, costs: Costs | None, interval: Interval | None) -> Iterator[Row]:
    """What other rules would have chosen; those that find nothing here are left out."""
    measures: list[Measure] = [*_COMPARED, *([partial(expected_cost, costs=costs)] if costs is not None else [])]
    for name, choose in _alternatives(curve, costs).items():
        try:
            other = choose(curve)
        except BaserateError:
            continue
        if other.rule == policy.rule and other.cut == policy.cut:
            continue
        counts = other.cut.counts(curve)
        yield {"rule": name, "measure": "threshold", "action": FLAG, "value": other.threshold}
        yield from ({"rule": name} | number_of(interval, measure, counts) for measure in measures)


def _alternatives(curve: Curve, costs: Costs | None) -> dict[str, Choose]:
    found: dict[str, Choose] = {
        "youden": youden,
        "closest": closest,
        "balanced": balanced,
        "break-even": break_even,
        "best f1": partial(best, measure="f1"),
        "best accuracy": partial(best, measure="accuracy"),
    }
    if costs is not None:
        found["cost"] = partial(cost, costs=costs)
    if curve.tally.probable:
        found["fixed 0.5"] = partial(fixed, threshold=_MIDDLE)
    return found
