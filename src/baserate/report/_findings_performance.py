"""Findings about performance: accuracy, AUC, precision, wide intervals, calibration, and overfitted scores."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, floor, log10, nan
from typing import Any

from baserate import infer
from baserate._formatting import format_level, format_number, format_p_phrase, format_percent
from baserate._results import Estimate
from baserate.infer import normal_quantile
from baserate.report._commands import OPEN_THRESHOLD, Step, has_both_classes, unused_file_name
from baserate.report._findings import (
    Check,
    Evidence,
    brief_area,
    defined_estimate,
    deployment_prevalence,
    describe_place,
    evidence_numbers,
    format_estimate,
    format_group,
    format_rate,
    format_short,
    format_things,
    suggest_choice,
    suggest_other_class,
)
from baserate.report._report import Report

_MAX_HALF_WIDTH, _TARGET_HALF_WIDTH = 0.1, 0.05
"""Half-width above which an interval is reported, and the half-width to plan for."""
_RARE_PREVALENCE, _HIGH_AUC, _PRECISION_GAP = 0.1, 0.75, 0.25
_ROUNDING = 1e-9
"""Tolerance for floats: 1 − 0.07 is not exactly 0.93."""
_RELEVANT_DIFFERENCE = 0.01
"""Difference between observed and predicted share of positives in a group that is reported."""
_RELEVANT_ERROR = 0.005
"""Excess calibration error below which significance alone does not matter."""
_MAX_STANDARD_ERRORS, _MIN_DISTINCT = 0.01, 20
"""Standard errors within which calibration is closer to perfect than sampling allows; distinct scores for that."""
_MAX_MATCH_PROBABILITY = 0.001
"""Probability below which a match of all scores with their observed shares is no coincidence."""
_DIGITS = 15
"""Significant digits of a float."""


@Check(
    code="BR001",
    title="Accuracy is no better than the majority-class baseline",
    severity="caution",
    panel="measures",
    why=(
        "Where one class is rare, always predicting the other one is right almost always. Such an accuracy says "
        "nothing about the scores."
    ),
    remedy="Compare thresholds by sensitivity, specificity and PPV, and choose one by the costs of both errors.",
    suggest=suggest_choice,
)
def find_constant_accuracy(report: Report) -> Evidence | None:
    r"""Accuracy no better than that of a constant prediction.

    It is reported where accuracy, at the stated prevalence if there is one, is no more than the share of the larger
    class; or where it is more, but its interval reaches down to that share.

    >>> import baserate
    >>> report = baserate.evaluate([1] * 10 + [0] * 90, [0.8] * 5 + [0.2] * 5 + [0.7] * 7 + [0.1] * 83)
    >>> finding = next(each for each in report.findings if each.code == "BR001")
    >>> print(finding.headline, finding.sentence, sep="\n")
    Accuracy is 88.0% in the sample; always predicting negative reaches 90.0%
    Accuracy is 88.0% (95% CI 80.0% to 93.6%) in the sample, no more than the 90.0% of always predicting negative.
    """
    accuracy, constant = defined_estimate(report.there, "accuracy"), defined_estimate(report.there, "constant_accuracy")
    share = deployment_prevalence(report)
    if not (accuracy and constant and share):
        return None
    # Equal accuracies may differ in the last bit, since one is a sum of two counts and the other a share.
    if accuracy.value <= constant.value + _ROUNDING:
        rest = "no more than the {} of always predicting {}"
    elif accuracy.low <= constant.value:
        rest = "and its interval contains the {} of always predicting {}"
    else:
        return None
    always, place = "positive" if share.value > 0.5 else "negative", describe_place(report)
    reached = format_percent(constant.value)
    return Evidence(
        f"Accuracy is {format_rate(accuracy)} {place}, {rest.format(reached, always)}.",
        evidence_numbers(accuracy=accuracy, constant_accuracy=constant, prevalence=Estimate(share.value)),
        f"Accuracy is {format_percent(accuracy.value)} {place}; always predicting {always} reaches {reached}",
    )


@Check(
    code="BR002",
    title="AUC is below one half",
    severity="serious",
    panel="roc",
    why=(
        "A higher score should mean more likely positive. In this sample it means less likely positive: the classes "
        "may be swapped, or the score may be that of the other class. Every threshold then flags the wrong rows."
    ),
    remedy=(
        "Name the other class as the positive one, as in the command. If the classes are right, and the score is that "
        "of the other class, evaluate 1 − score, or −score."
    ),
    suggest=suggest_other_class,
)
def find_reversed_scores(report: Report) -> Evidence | None:
    r"""AUC below one half.

    It is reported where the whole interval of the AUC lies below one half.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0] * 30, [0.2, 0.8, 0.3, 0.7, 0.6, 0.5] * 10)
    >>> finding = next(each for each in report.findings if each.code == "BR002")
    >>> print(finding.headline, finding.sentence, sep="\n")
    AUC is 0.11, below 0.5: the scores may be reversed
    AUC is 0.111 (95% CI 0.051 to 0.224): positives have lower scores than negatives. Reversed (1 − score), it would be
    0.889 (95% CI 0.776 to 0.949).
    """
    auc = defined_estimate(report.here, "auc")
    if auc is None or not auc.high < 0.5:
        return None
    reversed_auc = Estimate(1 - auc.value, 1 - auc.high, 1 - auc.low, auc.level)
    reversal = "−score" if defined_estimate(report.here, "brier") is None else "1 − score"
    sentence = (
        f"AUC is {format_estimate(auc)}: positives have lower scores than negatives. Reversed ({reversal}), it would "
        f"be {format_estimate(reversed_auc)}."
    )
    headline = f"AUC is {brief_area(auc.value)}, below 0.5: the scores may be reversed"
    return Evidence(sentence, evidence_numbers(auc=auc, reversed_auc=reversed_auc), headline)


def _suggest_size(report: Report, numbers: Mapping[str, Any]) -> Step:
    """Suggest a sample-size calculation."""
    measure = numbers["measure"]
    expected = _expected_design(report, measure, numbers[measure])
    options = {"measure": measure, "expect": expected.pop("expect"), "half_width": _TARGET_HALF_WIDTH, **expected}
    return Step(verb="size", options=options)


@Check(
    code="BR003",
    title="A confidence interval is too wide to decide by",
    severity="caution",
    panel="measures",
    why=(
        "The sample is so small that another one of the same size could give a very different value. A decision based "
        "on the estimate depends on chance."
    ),
    remedy="Collect more rows; the command computes how many. Until then, decide by the confidence bound.",
    suggest=_suggest_size,
)
def find_wide_interval(report: Report) -> Evidence | None:
    r"""A confidence interval too wide to decide by.

    It is reported for the widest among sensitivity, specificity, AUC, and precision at the stated prevalence, where
    half its width is above 0.1; with the number of rows that would reduce that to 0.05, at the same estimates.

    >>> import baserate
    >>> report = baserate.evaluate([1] * 10 + [0] * 90, [0.8] * 6 + [0.2] * 4 + [0.7] * 4 + [0.1] * 86)
    >>> finding = next(each for each in report.findings if each.code == "BR003")
    >>> print(finding.headline, finding.sentence, sep="\n")
    Sensitivity is known to ±30.8 percentage points only, from 10 positives
    Sensitivity is 60.0% (95% CI 26.2% to 87.8%) in the sample. ±5 percentage points need about 3,660 rows like these.
    """
    names = ("sensitivity", "specificity", "precision", "auc")
    estimates = {name: each for name in names if (each := defined_estimate(report.there, name))}
    halves = {name: (each.high - each.low) / 2 for name, each in estimates.items() if each.low <= each.high}
    widest = max(halves, key=halves.__getitem__, default=None)
    if widest is None or halves[widest] <= _MAX_HALF_WIDTH:
        return None
    reweighted = widest == "precision" and report.prevalence is not None
    where = describe_place(report) if reweighted else "in the sample"
    rows = _required_rows(report, widest, estimates[widest].value)
    sampling = "drawn at that prevalence" if reweighted else "like these"
    name, counts = {"auc": "AUC", "precision": "PPV"}.get(widest, widest.capitalize()), _sample_sizes(report, widest)
    sizes = " and ".join(format_things(many, what.replace("_", " ")) for what, many in counts.items())
    # A difference of two percentages is in points.
    shown, unit, factor = (format_estimate, "", 1) if widest == "auc" else (format_rate, " percentage points", 100)
    half = format_number(factor * halves[widest], 3)
    sentence = (
        f"{name} is {shown(estimates[widest])} {where}. ±{factor * _TARGET_HALF_WIDTH:g}{unit} need about "
        f"{format_short(rows)} rows {sampling}."
    )
    headline = f"{name} is known to ±{half}{unit} only, from {sizes}"
    numbers = {
        **evidence_numbers(**{widest: estimates[widest], "prevalence": deployment_prevalence(report)}),
        "measure": widest,
        "half_width": halves[widest],
        **counts,
        "rows_needed": rows,
    }
    return Evidence(sentence, numbers, headline)


def _sample_sizes(report: Report, measure: str) -> dict[str, float]:
    """Return the numbers of rows of the denominators of a measure."""
    among = {"sensitivity": ("positives",), "specificity": ("negatives",), "auc": ("positives", "negatives")}
    if measure in among:
        return {name: getattr(report.here, name).value for name in among[measure]}
    if report.data["weighted"]:  # the number of flagged rows is unknown: weights are summed
        return {"weighted_rows": report.here.rows.value}
    return {"flagged_rows": report.here.counts.flagged}


def _required_rows(report: Report, measure: str, expect: float) -> int:
    """Return the rows needed for the target half-width; for a precision, rows at the deployment prevalence."""
    design, level = _expected_design(report, measure, expect), report.plan.level
    if measure == "auc":
        return infer.sample_size_for_auc(
            design["expect"], _TARGET_HALF_WIDTH, prevalence=design["prevalence"], level=level
        ).rows
    share, flagged = design.get("prevalence"), design.get("flag_rate")
    size = infer.sample_size_for_proportion(
        measure, design["expect"], _TARGET_HALF_WIDTH, prevalence=share, flag_rate=flagged, level=level
    )
    return size.rows


def _expected_design(report: Report, measure: str, expect: float) -> dict[str, float]:
    """Return the assumptions of a sample-size calculation, rounded to digits that a person can type."""
    # Formulas of sample sizes need values strictly between 0 and 1; half a row is the smallest that data can show.
    margin = 0.5 / report.here.rows.value
    flagged = {"flag_rate": report.there.flag_rate.value} if measure == "precision" else {}
    share = {} if flagged else {"prevalence": report.here.prevalence.value}
    each = {"expect": expect, **share, **flagged}
    inside = {name: min(max(value, margin), 1 - margin) for name, value in each.items()}
    short = {name: float(f"{value:.4g}") for name, value in inside.items()}
    return {name: short[name] if 0 < short[name] < 1 else value for name, value in inside.items()}


@Check(
    code="BR004",
    title="AUC is high, but PPV is low",
    severity="caution",
    panel="pr",
    why=(
        "AUC compares one positive with one negative, whatever the prevalence. Where positives are rare, even a small "
        "share of the negatives outnumbers them among the flagged rows."
    ),
    remedy="Judge the score by its precision–recall curve at this prevalence as well.",
    suggest=lambda report, _numbers: Step(verb="draw pr", options={"output": unused_file_name("pr.svg", report.plan)}),
)
def find_low_precision_despite_auc(report: Report) -> Evidence | None:
    r"""High AUC with a low PPV.

    It is reported where the prevalence, the stated one if there is one, is 0.1 or less, the AUC 0.75 or more, and
    average precision more than 0.25 below it.

    >>> import baserate
    >>> truth, score = [1] * 20 + [0] * 180, [0.9] * 5 + [0.7] * 15 + [0.8] * 20 + [0.2] * 160
    >>> report = baserate.evaluate(truth, score, prevalence=0.02)
    >>> finding = next(each for each in report.findings if each.code == "BR004")
    >>> print(finding.headline, finding.sentence, sep="\n")
    PPV is 15.5% at 2% prevalence, although AUC is 0.92
    AUC is 0.917 (95% CI 0.801 to 0.962). At 2% prevalence, PPV at the threshold is 15.5% (95% CI 10.6% to 21.8%), and
    average precision 0.366 (95% CI 0.169 to 0.563).
    """
    auc, average, share = (
        defined_estimate(report.there, "auc"),
        defined_estimate(report.there, "average_precision"),
        deployment_prevalence(report),
    )
    if not (auc and average and share) or share.value > _RARE_PREVALENCE:
        return None
    if auc.value < _HIGH_AUC or average.value >= auc.value - _PRECISION_GAP:
        return None
    place, ppv = describe_place(report), defined_estimate(report.there, "precision")
    # A strict threshold may have a high PPV; average precision is low at the others.
    if ppv is not None and ppv.value >= auc.value - _PRECISION_GAP:
        ppv = None
    low = f"average precision {'' if ppv else 'is '}{format_estimate(average)}"
    at_threshold = f"PPV at the threshold is {format_rate(ppv)}, and " if ppv else ""
    subject = f"PPV is {format_percent(ppv.value)}" if ppv else f"Average precision is {brief_area(average.value)}"
    return Evidence(
        f"AUC is {format_estimate(auc)}. {place[0].upper()}{place[1:]}, {at_threshold}{low}.",
        evidence_numbers(auc=auc, average_precision=average, precision=ppv, prevalence=Estimate(share.value)),
        f"{subject} {place}, although AUC is {brief_area(auc.value)}",
    )


def _suggest_calibrator(report: Report, numbers: Mapping[str, Any]) -> Step | None:
    """Suggest a calibrator: an offset if a shift explains the error, or else the one that the data choose."""
    if not has_both_classes(report, least=2):  # one row of each class to fit, one to compare
        return None
    method = {"with": "offset"} if "derived_prevalence" in numbers else {}
    return Step(verb="calibrate", options={**method, "output": unused_file_name("calibrator.json", report.plan)})


@Check(
    code="BR007",
    title="Probabilities are miscalibrated beyond chance",
    severity="caution",
    panel="reliability",
    why=(
        "Everything computed from these probabilities is wrong as well: expected costs, thresholds that follow from "
        "costs, and the reported risk of a person."
    ),
    remedy="Recalibrate the scores, and compare calibration before and after on rows left out of the fit.",
    suggest=_suggest_calibrator,
)
def find_miscalibration(report: Report) -> Evidence | None:
    r"""Probabilities that are miscalibrated by more than chance.

    It is reported where the expected calibration error (ECE) is above that of nineteen in twenty perfectly calibrated
    models of this size (at a level of 0.95), and 0.005 or more above their typical error. Then all
    log-odds are shifted until the mean is right, as another prevalence would do, and the check is repeated.

    >>> import baserate
    >>> report = baserate.evaluate(([1] * 2 + [0] * 18 + [1] * 10 + [0] * 10) * 10, ([0.5] * 20 + [0.9] * 20) * 10)
    >>> finding = next(each for each in report.findings if each.code == "BR007")
    >>> print(finding.headline, finding.sentence, sep="\n")
    Calibration error (ECE) is 40.0% in the sample, more than chance explains
    A perfectly calibrated model of this size typically has an ECE of 2.3%. A constant shift of the log-odds explains
    the error: the scores fit a prevalence of 79.4%, and the sample has 30.0%.
    """
    rows = {
        name: report.select(part="probabilities", measure=name, where="here") for name in ("ece", "ece_after_shift")
    }
    if not rows["ece"]:
        return None
    error = rows["ece"][0]
    # Significance alone is not enough: with many rows any error exceeds its null reference.
    if not error["value"] > error["floor_high"] or error["value"] - error["floor"] < _RELEVANT_ERROR:
        return None
    numbers = {"ece": error["value"], "floor": error["floor"], "floor_high": error["floor_high"], "p": error["p"]}
    sentence = f"A perfectly calibrated model of this size typically has an ECE of {format_percent(error['floor'])}"
    headline = f"Calibration error (ECE) is {format_percent(error['value'])} in the sample, more than chance explains"
    after = rows["ece_after_shift"][0] if rows["ece_after_shift"] else None
    if after and after["value"] <= after["floor_high"]:
        rest, more = _prevalence_evidence(report)
    else:
        slope = defined_estimate(report.here, "calibration_slope")
        rest = "A constant shift of the log-odds does not explain the error"
        rest += f"; the calibration slope is {format_estimate(slope)}" if slope else ""
        more = evidence_numbers(calibration_slope=slope)
    shifted = {"ece_after_shift": after["value"]} if after else {}
    return Evidence(f"{sentence}. {rest}.", numbers | shifted | more, headline)


def _prevalence_evidence(report: Report) -> tuple[str, dict[str, float]]:
    """Return the prevalence for which the probabilities are calibrated, in words and as numbers."""
    share, offset = report.here.prevalence.value, report.here.calibration_in_the_large
    implied = share / (share + exp(offset.value) * (1 - share))  # logit(share) − offset, without logs that overflow
    fits = f"the scores fit a prevalence of {format_percent(implied)}, and the sample has {format_percent(share)}"
    numbers = {**evidence_numbers(calibration_in_the_large=offset), "derived_prevalence": implied, "prevalence": share}
    return f"A constant shift of the log-odds explains the error: {fits}", numbers


@Check(
    code="BR018",
    title="Scores were probably fitted to these rows",
    severity="serious",
    panel="reliability",
    why=(
        "A model reproduces the noise of the rows that it was fitted to. Ranking and calibration look better there "
        "than on new rows, and so does every number that follows from them."
    ),
    remedy=(
        "Evaluate on validation data that had no part in fitting. Without such data, cross-fit: score each row by a "
        "model that was fitted without it."
    ),
)
def find_overfitted_scores(report: Report) -> Evidence | None:
    r"""Scores that are too well calibrated to be new to these rows.

    It is reported in two cases. First: calibration slope and calibration in the large both lie within 0.01 standard
    errors of 1 and 0, with 20 distinct scores or more. A logistic regression without a penalty makes both exact on the
    rows that it is fitted to. A calibrated score on new rows comes this close with a probability of 0.00006. Second:
    every distinct score equals the share of positives among its rows, as after isotonic regression or binning, and a
    calibrated score on new rows would match all of them with a probability below 0.001.

    >>> import baserate
    >>> shares = {0.1: 4, 0.3: 12, 0.5: 20, 0.7: 28, 0.9: 36}
    >>> truth = [each < many for many in shares.values() for each in range(40)]
    >>> report = baserate.evaluate(truth, [share for share in shares for _ in range(40)])
    >>> finding = next(each for each in report.findings if each.code == "BR018")
    >>> print(finding.headline, finding.sentence, sep="\n")
    Each of 5 distinct scores equals the share of positives among its rows
    The largest deviation of a score from the share of positives among its rows is 0. The scores were probably fitted to
    these very rows, and their performance is optimistic.
    """
    return _logistic_fit_evidence(report) or _isotonic_fit_evidence(report)


_OPTIMISTIC = "The scores were probably fitted to these very rows, and their performance is optimistic."


def _logistic_fit_evidence(report: Report) -> Evidence | None:
    """Return evidence of a logistic regression: slope and intercept are exact up to the optimizer's tolerance."""
    names = ("calibration_slope", "calibration_in_the_large", "observed_expected")
    slope, offset, ratio = (defined_estimate(report.here, name) for name in names)
    distinct = defined_estimate(report.here, "distinct_scores")
    if not (slope and offset and ratio and distinct) or distinct.value < _MIN_DISTINCT:
        return None
    distance = max(_standard_errors(slope, 1), _standard_errors(offset, 0))
    if not distance < _MAX_STANDARD_ERRORS:
        return None
    most = max(abs(slope.value - 1), abs(ratio.value - 1), abs(offset.value))
    digits = min(floor(-log10(most)), _DIGITS) if most else _DIGITS
    sentence = (
        f"The calibration slope is {format_short(slope.value)}, O/E {format_short(ratio.value)}, and the intercept "
        f"{format_short(offset.value)}. {_OPTIMISTIC}"
    )
    numbers = evidence_numbers(calibration_slope=slope, observed_expected=ratio, calibration_in_the_large=offset)
    headline = f"Calibration is perfect to {digits} digits, as on the rows of a fit"
    return Evidence(sentence, {**numbers, "digits": digits, "standard_errors": distance}, headline)


def _standard_errors(estimate: Estimate, perfect: float) -> float:
    """Return the distance from the perfect value in standard errors; NaN without an interval that has a width."""
    # Approximate where there are few rows: their intervals have t quantiles.
    width = estimate.high - estimate.low
    if estimate.level is None or not width > 0:
        return nan
    return abs(estimate.value - perfect) / (width / (2 * normal_quantile(estimate.level)))


def _isotonic_fit_evidence(report: Report) -> Evidence | None:
    """Return evidence of isotonic regression or binning: each score is the observed share of positives."""
    rows = report.select(part="probabilities", measure="deviation_by_score")
    if not rows or not rows[0]["p"] < _MAX_MATCH_PROBABILITY:
        return None
    distinct, deviation = report.here.distinct_scores.value, rows[0]["value"]
    deviates = "The largest deviation of a score from the share of positives among its rows is"
    headline = f"Each of {format_short(distinct)} distinct scores equals the share of positives among its rows"
    numbers = {"distinct_scores": distinct, "deviation": deviation, "p": rows[0]["p"]}
    return Evidence(f"{deviates} {format_short(deviation)}. {_OPTIMISTIC}", numbers, headline)


def _suggest_multicalibration(_report: Report, _numbers: Mapping[str, Any]) -> Step:
    """Suggest tests of calibration in all groups and intersections."""
    return Step(verb="groups", changes={**OPEN_THRESHOLD, "reference": None}, options={"multicalibration": None})


@Check(
    code="BR022",
    title="Groups are miscalibrated beyond chance",
    severity="caution",
    panel="groups",
    why=(
        "The same probability means another risk in these groups. Thresholds that follow from costs are then wrong for "
        "them, and no threshold by group corrects the reported risk of a person."
    ),
    remedy="List all groups and intersections, then calibrate these groups by themselves, or refit the model.",
    suggest=_suggest_multicalibration,
)
def find_miscalibrated_groups(report: Report) -> Evidence | None:
    r"""Groups whose probabilities are wrong by more than chance, while the mean of all rows is right.

    Tested are all groups of each column, and the intersections of two columns, with at least 50 rows. First all
    log-odds are shifted until the mean of all rows is right, as another prevalence would do. p-values are adjusted for
    all groups by simulations of a calibrated model. It is reported where one is below one less the level, and the
    difference is at least 0.01.

    >>> import baserate
    >>> truth = ([1] * 20 + [0] * 80) * 2 + ([1] * 40 + [0] * 60) * 2
    >>> report = baserate.evaluate(truth, [0.3] * 400, group={"site": ["north"] * 200 + ["south"] * 200})
    >>> finding = next(each for each in report.findings if each.code == "BR022")
    >>> print(finding.headline, finding.sentence, sep="\n")
    Probabilities are 10.0 points too high in site = north, more than chance explains
    After a shift that corrects the mean of all rows, probabilities are on average 10.0 points too high in site = north
    (simultaneous 95% CI 2.4 to 15.9 points, adjusted p = 0.0050). 2 groups or intersections are miscalibrated in all.
    """
    rows = [row for row in report.select(part="multicalibration") if abs(row["value"]) >= _RELEVANT_DIFFERENCE]
    if not rows:
        return None
    worst = min(rows, key=lambda row: (row["p_adjusted"], -abs(row["value"])))
    name = format_group(worst["group"])
    size = f"{100 * abs(worst['value']):.1f} points {'too low' if worst['value'] > 0 else 'too high'}"
    ends = (worst["low"], worst["high"]) if worst["value"] > 0 else (-worst["high"], -worst["low"])
    low, high = (f"{100 * end:.1f}".replace("-", "−") for end in ends)
    p = format_p_phrase(worst["p_adjusted"], is_bound=worst["p_is_bound"], name="adjusted p")
    level = format_level(report.plan.level)
    more = f" {len(rows)} groups or intersections are miscalibrated in all." if len(rows) > 1 else ""
    sentence = (
        f"After a shift that corrects the mean of all rows, probabilities are on average {size} in {name} "
        f"(simultaneous {level}% CI {low} to {high} points, {p}).{more}"
    )
    numbers = {"difference": worst["value"], "low": worst["low"], "high": worst["high"], "groups": len(rows)}
    chances = {"p": worst["p"], "p_adjusted": worst["p_adjusted"], "group": name}
    return Evidence(sentence, numbers | chances, f"Probabilities are {size} in {name}, more than chance explains")
