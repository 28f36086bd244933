"""Findings about use: prevalences of sample and deployment, and the choice of the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Any

from baserate._costs import Costs
from baserate._policy import Policy
from baserate._results import Estimate, estimate_of
from baserate.decide import plan_rules
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
    format_estimate,
    format_short,
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
        "Precision, accuracy, costs and probabilities change with the prevalence, so those of the sample do not hold "
        "at deployment. The report adjusts them, assuming that each class has the same score distribution there."
    ),
    remedy="Use the numbers at the deployment prevalence.",
    suggest=_suggest_shift,
)
def find_other_prevalence(report: Report) -> Evidence | None:
    """A sample prevalence that is not that of deployment.

    It is reported where the stated prevalence lies outside the confidence interval of the sample's prevalence, and
    differs from it by more than a tenth of itself.

    >>> import baserate
    >>> truth, score = [1] * 50 + [0] * 50, [0.8] * 40 + [0.3] * 10 + [0.7] * 5 + [0.1] * 45
    >>> report = baserate.evaluate(truth, score, prevalence=0.02)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR005"))
    The prevalence is 0.5 (0.404–0.596) in the sample and 0.02 at deployment: precision falls from 0.889 (0.759–0.963)
    to 0.14 (0.0682–0.331).
    """
    stated, share = report.prevalence, defined_estimate(report.here, "prevalence")
    if stated is None or share is None or share.low <= stated <= share.high:
        return None
    if abs(share.value - stated) <= _RELEVANT_SHIFT * stated:
        return None
    before, after = defined_estimate(report.here, "precision"), defined_estimate(report.there, "precision")
    rest = "nobody is flagged, so precision is undefined"
    if before and after:
        way = "falls" if after.value < before.value else "rises"
        rest = f"precision {way} from {format_estimate(before)} to {format_estimate(after)}"
        rest = f"precision stays at {format_estimate(after)}" if after.value == before.value else rest
    sentence = (
        f"The prevalence is {format_estimate(share)} in the sample and {format_short(stated)} at deployment: {rest}."
    )
    numbers = evidence_numbers(prevalence=share, precision_here=before, precision_there=after)
    return Evidence(sentence, {**numbers, "stated_prevalence": stated})


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
        "The same classifier has a higher precision where positives are common. What looks like a better model may be "
        "an easier sample. Sensitivity, specificity and AUC do not change with the prevalence alone."
    ),
    remedy=(
        "Compare all samples at one prevalence: that of deployment, or, as in the command, that of one of the samples. "
        "Better, evaluate all models on the same rows."
    ),
    suggest=_suggest_one_prevalence,
    whole=True,
)
def find_different_prevalences(report: Report) -> Evidence | None:
    """Samples of different prevalences, side by side.

    It is reported where models were evaluated on separate samples, the intervals of two prevalences do not overlap,
    and no prevalence was stated: numbers at a stated one can be compared.

    >>> import baserate
    >>> truth = {"north": [1] * 50 + [0] * 50, "south": [1] * 10 + [0] * 90}
    >>> report = baserate.evaluate(truth, {name: [0.8 if each else 0.1 for each in truth[name]] for name in truth})
    >>> print(*(each.sentence for each in report.findings if each.code == "BR006"))
    The prevalence is 0.5 (0.404–0.596) in north and 0.1 (0.049–0.176) in south, so precision, accuracy and average
    precision are not comparable.
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
        f"The prevalence is {format_estimate(prevalences[high])} in {high} and {format_estimate(prevalences[low])} in "
        f"{low}, so precision, accuracy and average precision are not comparable."
    )
    numbers = evidence_numbers(highest_prevalence=prevalences[high], lowest_prevalence=prevalences[low])
    return Evidence(sentence, {**numbers, "highest": high, "lowest": low})


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
    """A threshold that is evaluated on the rows that it was chosen on.

    It is reported where a rule chose the threshold on these very rows, or a policy records that it was chosen on them.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], rule="youden")
    >>> print(*(each.sentence for each in report.findings if each.code == "BR008"))
    The threshold 0.9 was chosen on the same 4 rows that it is evaluated on.
    """
    chosen, at = defined_estimate(report.here, "chosen_on_these_rows"), single_threshold(report)
    if chosen is None or not chosen.value:
        return None
    rows, subject = report.here.rows.value, describe_threshold(report)
    sentence = (
        f"{subject[0].upper()}{subject[1:]} was chosen on the same {format_short(rows)} rows that it is evaluated on."
    )
    return Evidence(sentence, {"rows": rows} | ({} if at is None else {"threshold": at}))


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
    code="BR009",
    title="Almost nobody or almost everybody is flagged",
    severity="caution",
    panel="thresholds",
    why=(
        "A threshold that flags almost nobody or almost everybody ignores the scores. Costs may demand that. The "
        "threshold may also be of another scale, such as 0.5 for scores that are not probabilities."
    ),
    remedy="Compare thresholds on these rows. Choose one by costs, by a requirement or by capacity.",
    suggest=suggest_choice,
)
def find_extreme_threshold(report: Report) -> Evidence | None:
    """A threshold that flags almost nobody, or almost everybody.

    It is reported where 0.001 of the rows or fewer are flagged, or 0.999 or more: also where the threshold is infinite,
    or lies beyond all scores.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.09, 0.06, 0.04, 0.01])
    >>> print(*(each.sentence for each in report.findings if each.code == "BR009"))
    The threshold 0.5 flags none of 4 rows.
    """
    rate, at = defined_estimate(report.here, "flag_rate"), single_threshold(report)
    if rate is None or _EXTREME_FLAG_RATE < rate.value < 1 - _EXTREME_FLAG_RATE:
        return None
    share = {0.0: "none", 1.0: "all"}.get(rate.value, f"a share of {format_short(rate.value)}")
    rows, subject = report.here.rows.value, describe_threshold(report)
    sentence = f"{subject[0].upper()}{subject[1:]} flags {share} of {format_short(rows)} rows."
    return Evidence(
        sentence, {**evidence_numbers(flag_rate=rate), "rows": rows} | ({} if at is None else {"threshold": at})
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
        "If the threshold limits precision, choose it by the precision that is required. If the score does, improve "
        "the score, or confirm flags by a second test."
    ),
    suggest=_suggest_precision,
)
def find_false_alarms(report: Report) -> Evidence | None:
    """A low precision, and whether the threshold causes it.

    It is reported where precision, at the stated prevalence if there is one, is below 0.5. The check looks for the
    highest precision of a threshold with at least half of the present sensitivity. If that is higher by 0.1 or more,
    the threshold limits precision, otherwise the score does. Predicted labels are excluded.

    >>> import baserate
    >>> report = baserate.evaluate([1] * 20 + [0] * 80, [0.9] * 12 + [0.6] * 8 + [0.9] * 2 + [0.6] * 38 + [0.1] * 40)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR010"))
    Precision is 0.333 (0.227–0.459) in the sample, limited by the threshold: at 0.9 it would be 0.857, with a
    sensitivity of 0.6 instead of 1.
    """
    precision, sensitivity = defined_estimate(report.there, "precision"), defined_estimate(report.there, "sensitivity")
    other = {row["measure"]: row for row in report.select(part="possible", where=report.place)}
    if not (precision and sensitivity and other) or precision.value >= _LOW_PRECISION:
        return None
    best, at = other["precision"]["value"], other["precision"]["threshold"]
    other_sensitivity = other["sensitivity"]["value"]
    headline = f"Precision is {format_estimate(precision)} {describe_place(report)}"
    estimates = {"sensitivity": Estimate(sensitivity.value), "best_precision": Estimate(best)}
    numbers = evidence_numbers(precision=precision, prevalence=deployment_prevalence(report), **estimates)
    if best - precision.value >= _PRECISION_GAIN:
        traded = f"with a sensitivity of {format_short(other_sensitivity)} instead of {format_short(sensitivity.value)}"
        sentence = (
            f"{headline}, limited by the threshold: at {format_short(at)} it would be {format_short(best)}, {traded}."
        )
        return Evidence(sentence, {**numbers, "other_threshold": at, "other_sensitivity": other_sensitivity})
    limit = f"no threshold with at least half of the sensitivity reaches more than {format_short(best)}"
    return Evidence(f"{headline}, limited by the score: {limit}.", numbers)


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
        "State the threshold that produced the labels. If none agrees, labels and scores come from different models, "
        "or from different rows."
    ),
    suggest=_suggest_agreement,
)
def find_label_disagreement(report: Report) -> Evidence | None:
    """Predicted labels that differ from the decisions at the threshold.

    It is reported where labels were read beside scores (`--predicted`), and at least one differs from the
    decision at the threshold. Policies with several thresholds are not compared.

    >>> import baserate
    >>> report = baserate.evaluate([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1], predicted=[1, 1, 0, 0])
    >>> print(*(each.sentence for each in report.findings if each.code == "BR014"))
    In 1 of 4 rows the predicted label differs from the decision at the threshold 0.5; the threshold 0.4 gives the
    labels exactly.
    """
    rows = {row["measure"]: row for row in report.select(part="labels")}
    if not rows or not rows["disagreements"]["value"]:
        return None
    now, best = rows["disagreements"], rows["least_disagreements"]
    many, left, total = now["value"], best["value"], report.here.rows.value
    at, other = format_short(now["threshold"]), format_short(best["threshold"])
    agreement = f"the threshold {other} gives the labels exactly"
    if left:
        agreement = f"the threshold {other} agrees best, with {format_short(left)} left"
    sentence = (
        f"In {format_short(many)} of {format_short(total)} rows the predicted label differs from the decision at the "
        f"threshold {at}; {agreement}."
    )
    numbers = {"disagreements": many, "rows": total, "threshold": now["threshold"]}
    return Evidence(sentence, {**numbers, "agreeing_threshold": best["threshold"], "least_disagreements": left})
