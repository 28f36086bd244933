"""Summaries: of a rule's choice with its validation and the choices of other rules; of decisions of several classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

from baserate import _domains
from baserate._arrays import Floats
from baserate._costs import CostMatrix, Costs, CostsLike, as_costs
from baserate._curve import Curve
from baserate._cut import FLAG
from baserate._domains import FOLDS, ShareLike, check_domain, parse_share
from baserate._errors import BaserateError, OptionError, advice, keyword
from baserate._policy import Policy
from baserate._results import Estimate, Results
from baserate._rows import MulticlassRows
from baserate._tally import Tallies
from baserate.calibration.multiclass import check_shares
from baserate.decide._convex_hull import FLAG_ALL, FLAG_NONE, roc_convex_hull
from baserate.decide._cost_rules import INTERVAL_COLUMNS, LEAST_COST, Decisions, Shares, cost, least_cost
from baserate.decide._evaluation import (
    SAME_DATA_NOTE,
    Row,
    add_measure_settings,
    build_results,
    estimate_row,
    evaluate_groups,
    performance_rows,
    select_measures,
)
from baserate.decide._rule import Rule, use_midpoints
from baserate.decide._rules import DECISION_RULES, RuleOptions, bind_rule
from baserate.decide._threshold_rules import best, fixed
from baserate.decide._validation import (
    N_BOOTSTRAP,
    RuleCrossValidation,
    ThresholdBootstrap,
    bootstrap_threshold,
    cross_validate_rule,
)
from baserate.infer import IntervalOptions, estimate, interval_methods
from baserate.measure import (
    Measure,
    check_tallies,
    describe,
    expected_cost,
    flag_rate,
    group_attributes,
    precision,
    sensitivity,
    specificity,
    tidy_columns,
)
from baserate.measure.multiclass import results_data
from baserate.read import IntervalPredictionOptions, PredictionOptions, accepts_predictions
from baserate.shift import reprior, reweigh

CORRECTED_NOTE = f"{SAME_DATA_NOTE[:-1]}, or read the optimism-corrected values."
CROSS_VALIDATED_NOTE = f"{SAME_DATA_NOTE[:-1]}, or read the cross-validated values."
SAME_DATA_NOTES = (SAME_DATA_NOTE, CORRECTED_NOTE, CROSS_VALIDATED_NOTE)
_COMPARED: tuple[Measure, ...] = (sensitivity, specificity, precision, flag_rate)
_MIDDLE = _CHANCE = 0.5


class SummaryOptions(RuleOptions, IntervalPredictionOptions, total=False):
    """Options of rules and of intervals, and predictions, for type checkers."""


@accepts_predictions("tallies")
def summary(  # noqa: PLR0913  (all but the first two are seldom given)
    tallies: Tallies,
    rule: Callable[..., Policy] | str | None = None,
    *,
    prevalence: ShareLike | None = None,
    costs: CostsLike | None = None,
    measures: Iterable[str | Measure] | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
    folds: int = 0,
    midpoints: bool = False,
    interval: IntervalOptions | None = IntervalOptions(),  # noqa: B008  (it is immutable)
    **options: Unpack[SummaryOptions],
) -> Results:
    """Summarize a rule's choice for each model: thresholds, performance, optimism, and the choices of other rules.

    Nothing is resampled without an interval, or for a rule that does not use the data.

    Parameters
    ----------
    tallies
        Data to choose on.
    rule
        Name of a rule, such as "youden", "require" or "capacity", with its options as keywords; or any function from a
        curve to a policy. By default the rule of least expected cost, which needs costs.
    prevalence
        Deployment prevalence, such as 0.02 or "2%"; by default that of the sample.
    costs
        Costs of outcomes: ``fp=1, fn=20``, a mapping, or :class:`baserate.Costs`. They add the expected cost per case,
        and the rule of least cost to the comparison; a rule that depends on costs uses them.
    measures
        Measures of the confusion matrix, or their names; the usual ones by default.
    n_bootstrap
        Number of bootstrap samples; 0 for none.
    folds
        Number of folds of a cross-validation of the choice; 0 for none.
    midpoints
        Whether thresholds are midway between neighboring scores; see `use_midpoints`.
    interval
        Level, method and seed of the confidence intervals; None for numbers alone.
    **options
        Options of the rule, such as ``require="precision >= 0.5"``, ``maximize="sensitivity"`` or ``share=0.1``.

    Returns
    -------
    Results
        Tidy rows: thresholds (`action` is what begins there) with bootstrap intervals; the confusion matrix and the
        measures with their optimism and corrected values; then thresholds and measures of other rules. `data["folds"]`
        holds the thresholds of the folds.

    Examples
    --------
    >>> from baserate import decide
    >>> results = decide.summary([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], "youden", n_bootstrap=100)
    >>> {row["rule"]: row["value"] for row in results.rows() if row["measure"] == "threshold"}["youden"]
    0.9
    """
    costs = as_costs(costs)
    check_tallies(tallies)
    choose: Rule = bind_rule(rule, costs, options)
    choose = use_midpoints(choose) if midpoints else choose
    _check_resampling(n_bootstrap, folds)
    share = parse_share(prevalence)
    if share is not None:
        tallies = reweigh(tallies, prevalence=share)
    selected = select_measures(measures, costs)
    _check_method(interval, selected, tallies)
    curves = {model: Curve(tallies.pooled(model)) for model in tallies.models}
    policies = {model: choose(curve) for model, curve in curves.items()}
    folded = {model: _cross_validate(curve, choose, selected, folds, interval) for model, curve in curves.items()}
    rows: list[Row] = []
    notes = list(_note_dominated_models(curves))
    for model, curve in curves.items():
        bootstrap = _bootstrap(curve, choose, selected, n_bootstrap, interval) if policies[model].chosen_on else None
        of = f"{model}: " if len(curves) > 1 else ""
        own = (*policies[model].notes, *_note_failed_samples(bootstrap), *_note_reversed_scores(curve))
        notes += [f"{of}{note}" for note in own]
        for group, part in evaluate_groups(tallies, policies[model], model).items():
            place = {"rule": policies[model].rule, "model": model, "group": group_attributes(tallies, group)}
            # Validation repeats the choice on pooled rows, and has no performance of groups.
            validated = (bootstrap, folded[model]) if group is None else (None, None)
            performance = performance_rows(policies[model], part, selected, interval)
            rows += [place | row | _validation_columns(*validated, row) for row in performance]
        others = _other_rule_rows(curve, policies[model], costs, interval)
        rows += [row | {"model": model, "group": None} for row in others]
    details = add_measure_settings(_same_data(policies, rows, notes) | _fold_thresholds(folded), selected)
    return build_results(tallies, rows, details, policies, interval)


def _check_resampling(n_bootstrap: int, folds: int) -> None:
    """Check numbers of bootstrap samples and folds; 0 means none."""
    if n_bootstrap != 0:
        check_domain("n_bootstrap", n_bootstrap, _domains.SAMPLES.or_none)
    if folds != 0:
        check_domain("folds", folds, FOLDS.or_none)


def _bootstrap(
    curve: Curve, rule: Rule, measures: Sequence[Measure], n_bootstrap: int, interval: IntervalOptions | None
) -> ThresholdBootstrap | None:
    if interval is None or not n_bootstrap:
        return None
    return bootstrap_threshold(
        curve, rule, measures=measures, n_bootstrap=n_bootstrap, seed=interval.seed, level=interval.level
    )


def _cross_validate(
    curve: Curve, rule: Rule, measures: Sequence[Measure], folds: int, interval: IntervalOptions | None
) -> RuleCrossValidation | None:
    """Cross-validate the choice; without an interval, return numbers alone."""
    if not folds:
        return None
    kind = interval or IntervalOptions()
    # Folds take a number as seed, and a generator has none.
    seed = kind.seed if isinstance(kind.seed, int) else 0
    validation = cross_validate_rule(curve.tally, rule, measures=measures, folds=folds, seed=seed, level=kind.level)
    if not validation.policy.chosen_on:
        what = f"{keyword('folds', folds)} has no effect: this rule does not use the data"
        raise OptionError(what, remedy="leave it out.", option="folds", value=folds)
    if interval is not None:
        return validation
    plain = {name: Estimate(each.value, why=each.why) for name, each in validation.performance.items()}
    return replace(validation, performance=plain)


def _same_data(policies: Mapping[str, Policy], rows: Sequence[Row], notes: Sequence[str]) -> Row:
    """List the models that are evaluated on the rows they were chosen on, with a note on validated values."""
    same = [model for model, each in policies.items() if each.chosen_on]
    validated = {name for row in rows for name in ("corrected", "crossvalidated") if name in row}
    note = CORRECTED_NOTE if "corrected" in validated else CROSS_VALIDATED_NOTE if validated else SAME_DATA_NOTE
    return {"same": same, "notes": [note] * bool(same) + list(notes)}


def _fold_thresholds(folded: Mapping[str, RuleCrossValidation | None]) -> Row:
    """Return the thresholds chosen without each fold, by model."""
    cuts = {model: [list(cut.thresholds) for cut in each.cuts] for model, each in folded.items() if each is not None}
    return {"folds": cuts} if cuts else {}


def _note_dominated_models(curves: Mapping[str, Curve]) -> Iterator[str]:
    """Yield a note for each of several models that is optimal at no costs and no prevalence."""
    has_both = all(curve.positives and curve.negatives for curve in curves.values())
    if len(curves) > 1 and has_both and not {FLAG_NONE, FLAG_ALL} & {*curves}:  # names that the hull reserves
        for name in roc_convex_hull(dict(curves)).never_optimal:
            yield f"{name}: another model, or a mixture of two, is as good or better at any costs and any prevalence."


def _note_reversed_scores(curve: Curve) -> Iterator[str]:
    """Yield a note for scores that rank worse than chance."""
    area = estimate("auc", curve)
    # Only if the whole interval is below 0.5: small samples often rank worse than chance by chance.
    if area.high < _CHANCE:
        yield (
            f"the score ranks worse than chance (AUC {area.value:.4g}, or {1 - area.value:.4g} with its sign changed): "
            "check that a higher score means more positive."
        )


def _check_method(interval: IntervalOptions | None, measures: Sequence[Measure], tallies: Tallies) -> None:
    """Raise an error if the method of intervals applies to none of the measures."""
    method = interval.method if interval is not None else None
    reweighed = tallies.pooled(next(iter(tallies.models))).reweighed
    if method is not None and not any(method in interval_methods(each, reweighed=reweighed) for each in measures):
        names = ", ".join(describe(each).name for each in measures)
        what = advice("interval", f"method={method!r}", method) + f" makes no interval of {names}"
        raise OptionError(what, remedy="leave it out.")


def _validation_columns(bootstrap: ThresholdBootstrap | None, folded: RuleCrossValidation | None, row: Row) -> Row:
    """Return the columns that validation adds to a row."""
    performance = folded.performance if folded is not None else {}
    if row["measure"] not in performance:
        return bootstrap_columns(bootstrap, row)
    return bootstrap_columns(bootstrap, row) | _interval_columns("crossvalidated", performance[row["measure"]])


def _interval_columns(name: str, estimate_: Estimate) -> Row:
    """Return an estimate and its interval as columns `name`, `name_low` and `name_high`."""
    columns = tidy_columns(estimate_)
    return {name: columns["value"], f"{name}_low": columns["low"], f"{name}_high": columns["high"]}


def bootstrap_columns(bootstrap: ThresholdBootstrap | None, row: Row) -> Row:
    """Return the interval of a threshold, or the corrected value of a measure."""
    if bootstrap is None:
        return {}
    if row["measure"] == "threshold":
        place = list(bootstrap.policy.cut.actions[1:]).index(row["action"])
        return tidy_columns(bootstrap.intervals[place])
    performance = bootstrap.performance.get(row["measure"])
    if performance is None:
        return {}
    return {"optimism": performance.optimism, **_interval_columns("corrected", performance.corrected)}


def _note_failed_samples(bootstrap: ThresholdBootstrap | None) -> Iterator[str]:
    if bootstrap is None:
        return
    of = f"of {len(bootstrap.thresholds)} bootstrap samples"
    if bootstrap.failed:
        yield f"in {bootstrap.failed} {of} the rule chose no threshold: a class was missing, or none was feasible."
    if bootstrap.other:
        yield f"in {bootstrap.other} {of} the rule chose another number of actions; the intervals leave them out."


def _other_rule_rows(
    curve: Curve, policy: Policy, costs: Costs | None, interval: IntervalOptions | None
) -> Iterator[Row]:
    """Yield the thresholds and measures of other rules, except those that fail on these data."""
    measures: list[Measure] = [*_COMPARED, *([partial(expected_cost, costs=costs)] if costs is not None else [])]
    for name, choose in _other_rules(curve, costs, midpoints="midpoints" in policy.settings).items():
        try:
            other = choose(curve)
        except BaserateError:  # for example, a class is missing that the rule needs
            continue
        if other.rule == policy.rule and other.cut == policy.cut:
            continue
        counts = other.cut.counts(curve)
        yield {"rule": name, "measure": "threshold", "action": FLAG, "value": other.threshold}
        yield from ({"rule": name} | estimate_row(interval, measure, counts) for measure in measures)


def _other_rules(curve: Curve, costs: Costs | None, *, midpoints: bool) -> dict[str, Rule]:
    rules: dict[str, Rule] = {name: entry.function for name, entry in DECISION_RULES.items() if entry.needs_no_options}
    rules |= {f"best {measure}": partial(best, measure=measure) for measure in ("f1", "accuracy")}
    if costs is not None:
        rules["cost"] = partial(cost, costs=costs)
    if midpoints:
        rules = {name: use_midpoints(choose) for name, choose in rules.items()}
    if curve.tally.probable:
        rules["fixed 0.5"] = partial(fixed, threshold=_MIDDLE)
    return rules


_MULTICLASS_COLUMNS = (
    *("rule", "measure", "model", "group", "class", "against", "threshold"),
    *("value", *INTERVAL_COLUMNS),
)
_ADJUSTED_NOTE = "posteriors and masses were adjusted from the class shares of the sample to others, taken as known."


@accepts_predictions("class rows")
def multiclass_summary(
    rows: MulticlassRows,
    costs: CostMatrix,
    *,
    refer: float | None = None,
    prevalence: Shares | None = None,
    level: ShareLike | None = 0.95,
    **predictions: Unpack[PredictionOptions],
) -> Results:
    """Summarize decisions of least cost beside those for the most probable class.

    Nothing is chosen on these rows, so the numbers are not optimistic.

    Parameters
    ----------
    rows
        Rows with a posterior for each class.
    costs
        Cost of each decision for each true class.
    refer
        Cost of referring a row; without it all rows are decided.
    prevalence
        Deployment prevalence: the share of each class. Posteriors and masses are adjusted to these shares from those
        of the rows.
    level
        Confidence level of the intervals; None for no intervals.

    Returns
    -------
    Results
        Tidy rows: the cells of the decisions of least cost (`class` is the true one, `against` the decision), then for
        both rules `cost_expected` by the posteriors, `cost_realised`, and `referred_share`.

    Examples
    --------
    >>> from baserate import class_scores
    >>> rows = class_scores(["a", "b", "a"], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]], labels=["a", "b"])
    >>> results = multiclass_summary(rows, CostMatrix([[0, 5], [1, 0]], ["a", "b"]))
    >>> [(row["rule"], row["value"]) for row in results.rows() if row["measure"] == "cost_realised"]
    [('least cost', 0.3333333333333333), ('highest probability', 1.6666666666666667)]
    """
    level = parse_share(level)
    if not isinstance(rows, MulticlassRows):
        raise OptionError(f"rows are {type(rows).__name__}; expected MulticlassRows.", option="rows", value=rows)
    to = None if prevalence is None else check_shares("prevalence", prevalence, rows.labels)
    adjusted = rows if to is None else _adjust_posteriors(rows, to)
    decisions = least_cost(adjusted, costs, refer=refer)
    costs_by_rule = decisions.results(adjusted, prevalence=to, level=level)
    table = [*_cell_rows(decisions, adjusted, to), *_cost_rows(costs_by_rule, refer)]
    data = results_data(rows, rows.confusion(), [])
    data["notes"] = [*rows.intake.notes, *[_ADJUSTED_NOTE] * (to is not None), *costs_by_rule.data["notes"]]
    data |= {"refer": refer, "decisions": list(decisions.labels)}
    if to is not None:
        data["deployment"] = {"prevalences": dict(zip(map(str, rows.labels), to.tolist(), strict=True))}
    if level is not None:
        data["interval"] = {"level": level, "method": None, "seed": 0, "clusters": None}
    return Results({name: [row.get(name) for row in table] for name in _MULTICLASS_COLUMNS}, data)


def _adjust_posteriors(rows: MulticlassRows, to: Floats) -> MulticlassRows:
    """Return rows with posteriors adjusted to other shares of the classes."""
    reweighed = reweigh(rows.confusion(), prevalence=to)  # raises an error where a class has no rows to reweight
    score = reprior(rows.score, sample_prevalence=rows.support / rows.total, prevalence=to, labels=reweighed.labels)
    return replace(rows, score=score)


def _cell_rows(decisions: Decisions, rows: MulticlassRows, shares: Floats | None) -> Iterator[Row]:
    table = decisions.confusion(rows, prevalence=shares).mass.tolist()
    for label, line in zip(decisions.labels, table, strict=True):
        for other, mass in zip(decisions.labels, line, strict=True):
            yield {"rule": LEAST_COST, "measure": "cell", "class": label, "against": other, "value": mass}
    if decisions.refer is not None:
        for label, mass in zip(
            decisions.labels, decisions.referred_mass(rows, prevalence=shares).tolist(), strict=True
        ):
            yield {"rule": LEAST_COST, "measure": "referred", "class": label, "value": mass}


def _cost_rows(costs: Results, refer: float | None) -> Iterator[Row]:
    for row in costs.rows():
        bounds = {name: row[name] for name in INTERVAL_COLUMNS}
        yield {"rule": row["rule"], "measure": "cost_expected", "value": row["expected"]}
        yield {"rule": row["rule"], "measure": "cost_realised", "value": row["realised"], **bounds}
        if refer is not None:
            yield {"rule": row["rule"], "measure": "referred_share", "value": row["referred"]}
