"""Findings about use: prevalences of sample and deployment, and the choice of the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Any

from baserate._costs import Costs
from baserate._formatting import format_p_phrase, format_percent
from baserate._policy import Policy
from baserate._results import Estimate, estimate_of
from baserate.decide import adjusted_minimal_p, minimal_p, plan_rules
from baserate.fairness import OPTIMUM_RULE as EQUALIZED
from baserate.report._commands import OPEN_THRESHOLD, Step, has_both_classes, smallest_class_size, unused_file_name
from baserate.report._findings import (
    Check,
    Evidence,
    current_threshold,
    defined_estimate,
    deployment_prevalence,
    describe_place,
    describe_threshold,
    evidence_numbers,
    format_prevalence,
    format_rate,
    format_short,
    format_things,
    format_threshold,
    has_scores,
    single_threshold,
    suggest_choice,
)
from baserate.report._report import Report

_RELEVANT_SHIFT = 0.1
"""Difference from the stated prevalence, relative to it, that is reported."""
_EXTREME_FLAG_RATE = 0.001
"""Flag rate up to which, or up to one less it, a threshold ignores the scores."""
_LOW_PRECISION, _PRECISION_GAIN = 0.5, 0.1
"""Precision below which a finding is reported, and the gain that another threshold must reach."""
_FOLDS = 5
"""Folds of a cross-validation."""


def _suggest_shift(report: Report, numbers: Mapping[str, Any]) -> Step | None:
    """Suggest a comparison of all measures in the sample and at the stated prevalence."""
    changes = current_threshold(report)
    if changes is None or not has_both_classes(report):
        return None
    return Step(verb="shift", changes=changes, options={"prevalence": numbers["stated_prevalence"]})


@Check(
    code="BR005",
    title="The sample has another prevalence than deployment",
    severity="note",
    panel="prevalence",
    why=(
        "PPV, accuracy, costs and probabilities change with the prevalence, so those of the sample do not hold "
        "at deployment. The report adjusts them, assuming that each class has the same score distribution there."
    ),
    remedy="Use the numbers at the deployment prevalence; the command lists both.",
    suggest=_suggest_shift,
)
def find_other_prevalence(report: Report) -> Evidence | None:
    r"""A sample prevalence that is not that of deployment.

    It is reported where the stated prevalence lies outside the confidence interval of the sample's prevalence, and
    differs from it by more than a tenth of itself.

    >>> import baserate
    >>> truth, score = [1] * 50 + [0] * 50, [0.8] * 40 + [0.3] * 10 + [0.7] * 5 + [0.1] * 45
    >>> report = baserate.evaluate(truth, score, prevalence=0.02)
    >>> finding = next(each for each in report.findings if each.code == "BR005")
    >>> print(finding.headline, finding.sentence, sep="\n")
    Prevalence is 50.0% in the sample and 2% in deployment: PPV falls from 88.9% to 14.0%
    Prevalence in the sample is 50.0% (95% CI 40.4% to 59.6%). PPV is 88.9% (95% CI 75.9% to 96.3%) in the sample and
    14.0% (95% CI 6.8% to 33.1%) at 2% prevalence.
    """
    stated, share = report.prevalence, defined_estimate(report.here, "prevalence")
    if stated is None or share is None or share.low <= stated <= share.high:
        return None
    if abs(share.value - stated) <= _RELEVANT_SHIFT * stated:
        return None
    before, after = defined_estimate(report.here, "precision"), defined_estimate(report.there, "precision")
    rest, change = "Nobody is flagged, so PPV is undefined", ""
    if before and after:
        rest = f"PPV is {format_rate(before)} in the sample and {format_rate(after)} {describe_place(report)}"
        ends = [format_percent(each.value) for each in (before, after)]
        way = "falls" if after.value < before.value else "rises"
        change = f": PPV {way} from {ends[0]} to {ends[1]}" if after.value != before.value else f": PPV stays {ends[1]}"
    numbers = evidence_numbers(prevalence=share, precision_here=before, precision_there=after)
    both = f"{format_percent(share.value)} in the sample and {format_prevalence(stated)} in deployment"
    return Evidence(
        f"Prevalence in the sample is {format_rate(share)}. {rest}.",
        {**numbers, "stated_prevalence": stated},
        f"Prevalence is {both}{change}",
    )


def _suggest_one_prevalence(_report: Report, numbers: Mapping[str, Any]) -> Step | None:
    """Suggest a report at the prevalence of one of the samples."""
    shares = [float(f"{numbers[f'{end}_prevalence']:.4g}") for end in ("lowest", "highest")]
    # A sample may have one class alone, and no prevalence of 0 or 1 can be stated.
    usable = [share for share in shares if 0 < share < 1]
    return Step(verb="report", changes={"prevalence": usable[0]}) if usable else None


@Check(
    code="BR006",
    title="Samples with different prevalences are compared",
    severity="serious",
    panel="models",
    why=(
        "The same classifier has a higher PPV where positives are common. What looks like a better model may be "
        "an easier sample. Sensitivity, specificity and AUC do not change with the prevalence alone."
    ),
    remedy=(
        "Compare all samples at one prevalence: that of deployment, or, as in the command, that of one of the samples. "
        "If possible, evaluate all models on the same rows."
    ),
    suggest=_suggest_one_prevalence,
    whole=True,
)
def find_different_prevalences(report: Report) -> Evidence | None:
    r"""Samples of different prevalences, side by side.

    It is reported where models were evaluated on separate samples, the intervals of two prevalences do not overlap,
    and no prevalence was stated: numbers at a stated one can be compared.

    >>> import baserate
    >>> truth = {"north": [1] * 50 + [0] * 50, "south": [1] * 10 + [0] * 90}
    >>> report = baserate.evaluate(truth, {name: [0.8 if each else 0.1 for each in truth[name]] for name in truth})
    >>> finding = next(each for each in report.findings if each.code == "BR006")
    >>> print(finding.headline, finding.sentence, sep="\n")
    Prevalence is 50.0% in north but 10.0% in south: PPV is not comparable
    Prevalence is 50.0% (95% CI 40.4% to 59.6%) in north and 10.0% (95% CI 4.9% to 17.6%) in south; the intervals do not
    overlap. PPV, accuracy and average precision are not comparable.
    """
    if not report.plan.apart or report.plan.prevalence is not None:
        return None
    rows = report.select(part="data", measure="prevalence", group=None, where="here")
    prevalences = {row["model"]: estimate_of(row) for row in rows}
    high = max(prevalences, key=lambda model: prevalences[model].low)
    low = min(prevalences, key=lambda model: prevalences[model].high)
    # Disjoint intervals are a stricter criterion than a significant difference.
    if not prevalences[high].low > prevalences[low].high:
        return None
    sentence = (
        f"Prevalence is {format_rate(prevalences[high])} in {high} and {format_rate(prevalences[low])} in {low}; the "
        "intervals do not overlap. PPV, accuracy and average precision are not comparable."
    )
    numbers = evidence_numbers(highest_prevalence=prevalences[high], lowest_prevalence=prevalences[low])
    ends = (f"{format_percent(prevalences[name].value)} in {name}" for name in (high, low))
    headline = f"Prevalence is {' but '.join(ends)}: PPV is not comparable"
    return Evidence(sentence, {**numbers, "highest": high, "lowest": low}, headline)


def _suggest_folds(report: Report, _numbers: Mapping[str, Any]) -> Step | None:
    """Suggest a cross-validation of the same choice, if a command can make it."""
    policy = report.plan.policy
    if policy is not None and policy.rule == EQUALIZED:
        return _suggest_held_out(report, policy)
    changes = {} if policy is None else _choice_of(policy)
    fewest = smallest_class_size(report)
    if changes is None or not has_scores(report) or not fewest:
        return None
    folds = {"folds": min(_FOLDS, fewest)} if fewest > 1 else {}
    return Step(verb="decide", changes=changes, options=folds)


@Check(
    code="BR008",
    title="Threshold chosen and evaluated on the same rows",
    severity="caution",
    panel="thresholds",
    why=(
        "The threshold that looks best among many is partly a matter of luck. On new rows it performs worse on "
        "average, the more so the fewer rows there are."
    ),
    remedy="Evaluate the choice by cross-validation, or on validation data.",
    suggest=_suggest_folds,
)
def find_same_data_choice(report: Report) -> Evidence | None:
    r"""A threshold that is evaluated on the rows that it was chosen on.

    It is reported where a rule chose the threshold on these very rows, or a policy records that it was chosen on them.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], rule="youden")
    >>> finding = next(each for each in report.findings if each.code == "BR008")
    >>> print(finding.headline, finding.sentence, sep="\n")
    The threshold 0.9 was chosen and evaluated on the same 4 rows
    The rule youden chose it on the rows that the report evaluates, so performance is optimistic.
    """
    chosen, at = defined_estimate(report.here, "chosen_on_these_rows"), single_threshold(report)
    if chosen is None or not chosen.value:
        return None
    rows, subject = report.here.rows.value, describe_threshold(report)
    return Evidence(
        f"The rule {report.policy.rule} chose it on the rows that the report evaluates, so performance is optimistic.",
        {"rows": rows, "rule": report.policy.rule} | ({} if at is None else {"threshold": at}),
        f"{subject[0].upper()}{subject[1:]} was chosen and evaluated on the same {format_things(rows, 'rows')}",
    )


def _suggest_held_out(report: Report, policy: Policy) -> Step | None:
    """Suggest a cross-validation of the thresholds of groups."""
    rows = [row["value"] for name in ("positives", "negatives") for row in report.select(part="data", measure=name)]
    settings = policy.settings
    simple = (
        not isinstance(settings["within"], Mapping) and "reversal" not in settings and "prevalences" not in settings
    )
    if not simple or policy.calibrator is not None or min(rows) < 2 * _FOLDS:
        return None
    within = {"within": settings["within"]} if settings["within"] else {}
    use = {"group": policy.attributes, "costs": _costs_of(policy), "prevalence": settings.get("prevalence")}
    options = {"parity": tuple(settings["parity"]), **within, "held_out": None}
    return Step(verb="equalize", changes={**OPEN_THRESHOLD, **use}, options=options)


def _costs_of(policy: Policy) -> Costs:
    """Return the costs that a policy was chosen with."""
    costs = policy.settings["costs"]
    return costs if isinstance(costs, Costs) else Costs(**costs)


def _choice_of(policy: Policy) -> dict[str, Any] | None:
    """Return changes to a plan after which it chooses as a policy was chosen; None where a plan cannot."""
    if policy.rule not in plan_rules() or policy.needs_group or policy.calibrator is not None:
        return None
    stated = {"costs": _costs_of(policy)} if policy.rule == "cost" else {}
    return {**OPEN_THRESHOLD, "rule": policy.rule, "prevalence": policy.settings.get("prevalence"), **stated}


@Check(
    code="BR019",
    title="Threshold chosen by the least p-value",
    severity="caution",
    panel="thresholds",
    why=(
        "The least of many p-values is no valid test: without any association it is below 0.05 in far more than 5% of "
        "samples. The threshold differs widely from sample to sample, and exaggerates the difference between its sides."
    ),
    remedy=(
        "Choose the threshold by costs, by a requirement, or as in the command by Youden's index. To test whether the "
        "score is associated with the outcome, use its AUC, which needs no threshold."
    ),
    suggest=lambda _report, _numbers: Step(verb="decide", changes={**OPEN_THRESHOLD, "rule": "youden"}),
)
def find_minimal_p_value(report: Report) -> Evidence | None:
    r"""A threshold that minimizes the p-value of a chi-square test.

    It is reported where the policy was chosen by the rule min-p-value, on any rows. The adjusted p-value, by Miller and
    Siegmund, allows for the search over thresholds.

    >>> import baserate
    >>> from baserate import decide
    >>> truth, score = [1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0], [0.9 - 0.05 * place for place in range(12)]
    >>> report = baserate.evaluate(truth, score, policy=decide.min_p_value(truth, score))
    >>> finding = next(each for each in report.findings if each.code == "BR019")
    >>> print(finding.headline, finding.sentence, sep="\n")
    The threshold 0.7 has the least p-value of all that were tried
    A chi-square test of these rows gives p = 0.079 as if the threshold were fixed, and p = 0.64 adjusted for the
    search.
    """
    policy = report.plan.policy
    if policy is None or policy.rule != "min-p-value":
        return None
    subject = describe_threshold(report)
    headline = f"{subject[0].upper()}{subject[1:]} has the least p-value of all that were tried"
    numbers = {"threshold": policy.threshold}
    chosen, association = defined_estimate(report.here, "chosen_on_these_rows"), defined_estimate(report.here, "mcc")
    if chosen is None or not chosen.value or association is None:
        return Evidence("It was chosen on other rows, where its p-value was the least of many.", numbers, headline)
    statistic = report.here.rows.value * association.value**2
    plain, adjusted = minimal_p(statistic), adjusted_minimal_p(statistic, policy.settings["trim"])
    sentence = (
        f"A chi-square test of these rows gives {format_p_phrase(plain)} as if the threshold were fixed, and "
        f"{format_p_phrase(adjusted)} adjusted for the search."
    )
    return Evidence(sentence, {**numbers, "minimal_p": plain, "adjusted_p": adjusted}, headline)


@Check(
    code="BR009",
    title="Almost nobody or almost everybody is flagged",
    severity="caution",
    panel="thresholds",
    why=(
        "A threshold that flags almost nobody or almost everybody ignores the scores. Costs may demand that. The "
        "threshold may also be of another scale, such as 0.5 for scores that are not probabilities."
    ),
    remedy="Choose a threshold on these rows: by costs, by a requirement or by capacity.",
    suggest=suggest_choice,
)
def find_extreme_threshold(report: Report) -> Evidence | None:
    r"""A threshold that flags almost nobody, or almost everybody.

    It is reported where 0.001 of the rows or fewer are flagged, or 0.999 or more: also where the threshold is infinite,
    or lies beyond all scores.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.09, 0.06, 0.04, 0.01])
    >>> finding = next(each for each in report.findings if each.code == "BR009")
    >>> print(finding.headline, finding.sentence, sep="\n")
    The threshold 0.5 flags none of 4 rows
    The flag rate at the threshold 0.5 is 0% (95% CI 0% to 60.2%) in the sample.
    """
    rate, at = defined_estimate(report.here, "flag_rate"), single_threshold(report)
    if rate is None or _EXTREME_FLAG_RATE < rate.value < 1 - _EXTREME_FLAG_RATE:
        return None
    share = {0.0: "none", 1.0: "all"}.get(rate.value, format_percent(rate.value))
    rows, subject = report.here.rows.value, describe_threshold(report)
    where = f"at {subject}" if at is not None else f"of {subject}"
    return Evidence(
        f"The flag rate {where} is {format_rate(rate)} in the sample.",
        {**evidence_numbers(flag_rate=rate), "rows": rows} | ({} if at is None else {"threshold": at}),
        f"{subject[0].upper()}{subject[1:]} flags {share} of {format_things(rows, 'rows')}",
    )


def _suggest_precision(report: Report, numbers: Mapping[str, Any]) -> Step:
    """Suggest the attainable precision as a requirement; where the score limits it, the precision–recall curve."""
    if "other_threshold" not in numbers:
        return Step(verb="draw pr", options={"output": unused_file_name("pr.svg", report.plan)})
    reached = floor(1000 * numbers["best_precision"]) / 1000  # down, since more than the maximum is infeasible
    options = {"require": f"precision >= {reached:g}", "maximize": "sensitivity"}
    return Step(verb="decide", changes={**OPEN_THRESHOLD, "costs": None}, options=options)


@Check(
    code="BR010",
    title="Most flags are false alarms",
    severity="note",
    panel="thousand",
    why=(
        "More than half of those who are flagged are negative. That may be right where misses are expensive. Otherwise "
        "the question is whether another threshold suffices, or only another score."
    ),
    remedy=(
        "If the threshold limits PPV, choose it by the PPV that is required. If the score does, improve the score, or "
        "confirm flags by a second test."
    ),
    suggest=_suggest_precision,
)
def find_false_alarms(report: Report) -> Evidence | None:
    r"""A low precision, and whether the threshold causes it.

    It is reported where precision, at the stated prevalence if there is one, is below 0.5. The check looks for the
    highest precision of a threshold with at least half of the present sensitivity. If that is higher by 0.1 or more,
    the threshold limits precision, otherwise the score does. Predicted labels are excluded.

    >>> import baserate
    >>> report = baserate.evaluate([1] * 20 + [0] * 80, [0.9] * 12 + [0.6] * 8 + [0.9] * 2 + [0.6] * 38 + [0.1] * 40)
    >>> finding = next(each for each in report.findings if each.code == "BR010")
    >>> print(finding.headline, finding.sentence, sep="\n")
    PPV is 33.3% in the sample: 66.7% of flagged rows are false alarms
    PPV is 33.3% (95% CI 22.7% to 45.9%) in the sample, limited by the threshold: at the threshold 0.9 it would be
    85.7%, with a sensitivity of 60.0% instead of 100%.
    """
    precision, sensitivity = defined_estimate(report.there, "precision"), defined_estimate(report.there, "sensitivity")
    other = {row["measure"]: row for row in report.select(part="possible", where=report.place)}
    if not (precision and sensitivity and other) or precision.value >= _LOW_PRECISION:
        return None
    best, at = other["precision"]["value"], other["precision"]["threshold"]
    other_sensitivity = other["sensitivity"]["value"]
    place = describe_place(report)
    false = format_percent(1 - precision.value)
    headline = f"PPV is {format_percent(precision.value)} {place}: {false} of flagged rows are false alarms"
    sentence = f"PPV is {format_rate(precision)} {place}"
    estimates = {
        "false_discovery_rate": Estimate(1 - precision.value),
        "sensitivity": Estimate(sensitivity.value),
        "best_precision": Estimate(best),
    }
    numbers = evidence_numbers(precision=precision, prevalence=deployment_prevalence(report), **estimates)
    if best - precision.value >= _PRECISION_GAIN:
        before, after = format_percent(sensitivity.value), format_percent(other_sensitivity)
        gain = f"at the threshold {format_threshold(at)} it would be {format_percent(best)}"
        sentence += f", limited by the threshold: {gain}, with a sensitivity of {after} instead of {before}."
        return Evidence(sentence, {**numbers, "other_threshold": at, "other_sensitivity": other_sensitivity}, headline)
    limit = f"no threshold with at least half of the sensitivity reaches more than {format_percent(best)}"
    return Evidence(f"{sentence}, limited by the score: {limit}.", numbers, headline)


def _suggest_agreement(report: Report, numbers: Mapping[str, Any]) -> Step:
    """Suggest a report at the threshold that agrees best with the labels, beside the labels."""
    labels = {"predicted": report.plan.predicted}
    return Step(verb="report", changes={**OPEN_THRESHOLD, **labels, "threshold": numbers["agreeing_threshold"]})


@Check(
    code="BR014",
    title="Predicted labels disagree with the scores",
    severity="caution",
    panel="thresholds",
    why=(
        "The report evaluates the scores at a threshold and the labels as two models. Confusing them means reporting "
        "the performance of decisions that are never made."
    ),
    remedy=(
        "State the threshold that produced the labels, as in the command. If none agrees, labels and scores come from "
        "different models, or from different rows."
    ),
    suggest=_suggest_agreement,
)
def find_label_disagreement(report: Report) -> Evidence | None:
    r"""Predicted labels that differ from the decisions at the threshold.

    It is reported where labels were read beside scores (`--predicted`), and at least one differs from the
    decision at the threshold. Policies with several thresholds are not compared.

    >>> import baserate
    >>> report = baserate.evaluate([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1], predicted=[1, 1, 0, 0])
    >>> finding = next(each for each in report.findings if each.code == "BR014")
    >>> print(finding.headline, finding.sentence, sep="\n")
    1 of 4 predicted labels differs from the decision at the threshold 0.5
    The threshold 0.4 gives the labels exactly.
    """
    rows = {row["measure"]: row for row in report.select(part="labels")}
    if not rows or not rows["disagreements"]["value"]:
        return None
    now, best = rows["disagreements"], rows["least_disagreements"]
    many, left, total = now["value"], best["value"], report.here.rows.value
    at, other = format_threshold(now["threshold"]), format_threshold(best["threshold"])
    sentence = f"The threshold {other} gives the labels exactly."
    if left:
        sentence = f"The threshold {other} agrees best, with {format_things(left, 'differences')} left."
    differ = f"{format_short(many)} of {format_short(total)} predicted labels {'differs' if many == 1 else 'differ'}"
    numbers = {"disagreements": many, "rows": total, "threshold": now["threshold"]}
    return Evidence(
        sentence,
        {**numbers, "agreeing_threshold": best["threshold"], "least_disagreements": left},
        f"{differ} from the decision at the threshold {at}",
    )
