"""Findings about numbers that may seem to say more than they do."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, floor, log10, nan
from typing import Any

from baserate import infer
from baserate._estimate import Estimate
from baserate.infer import two_sided
from baserate.report._commands import Step, free_name, has_both_classes
from baserate.report._finding import Check, Said
from baserate.report._report import Report
from baserate.report._suggestions import suggest_choice, suggest_other_class
from baserate.report._words import counted, in_full, known, number, place, prevalence, ranged

_WIDE, _WANTED = 0.1, 0.05
"""Half the width of an interval that is reported, and of the one that would do."""
_RARE, _HIGH, _APART = 0.1, 0.75, 0.25
_ROUNDING = 1e-9
"""1 − 0.07 is not 0.93."""
_MATTERS = 0.005
"""Less than this is not worth a word, however sure it is."""
_CLOSE, _VARIED = 0.01, 20
"""Standard errors within which calibration is closer to perfect than sampling allows; distinct scores for that."""
_UNLIKELY = 0.001
"""Probability below which a match of all scores with their observed shares is no coincidence."""
_DIGITS = 15
"""Digits that a number holds."""


def _constant(report: Report) -> Said | None:
    """Accuracy that a constant prediction reaches, too.

    It is reported where accuracy, at the stated prevalence if there is one, is no more than the share of the larger
    class; or where it is more, but its interval reaches down to that share.

    >>> import baserate
    >>> report = baserate.evaluate([1] * 10 + [0] * 90, [0.8] * 5 + [0.2] * 5 + [0.7] * 7 + [0.1] * 83)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR001"))
    Accuracy is 0.88 (0.8–0.936) in the sample; always predicting negative reaches 0.9, so accuracy adds nothing.
    """
    accuracy, constant = known(report.there, "accuracy"), known(report.there, "constant_accuracy")
    share = prevalence(report)
    if not (accuracy and constant and share):
        return None
    if accuracy.value <= constant.value + _ROUNDING:
        rest = "so accuracy adds nothing"
    elif accuracy.low <= constant.value:
        rest = "which lies within the interval"
    else:
        return None
    always = "positive" if share.value > 0.5 else "negative"
    reached = f"always predicting {always} reaches {number(constant.value)}, {rest}"
    sentence = f"Accuracy is {ranged(accuracy)} {place(report)}; {reached}."
    return Said(sentence, in_full(accuracy=accuracy, constant_accuracy=constant, prevalence=Estimate(share.value)))


CONSTANT = Check(
    code="BR001",
    title="Accuracy is no better than the majority-class baseline",
    severity="caution",
    why=(
        "Where one class is rare, always predicting the other one is right almost always. Such an accuracy says "
        "nothing about the scores."
    ),
    remedy=(
        "Compare thresholds by sensitivity, specificity and precision. Where the two errors differ in cost, state what "
        "a miss and a false alarm cost, and choose by that."
    ),
    look=_constant,
    suggest=suggest_choice,
)


def _reversed(report: Report) -> Said | None:
    """Scores that rank the wrong way round.

    It is reported where the whole interval of the AUC lies below one half.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0] * 30, [0.2, 0.8, 0.3, 0.7, 0.6, 0.5] * 10)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR002"))
    AUC is 0.111 (0.0514–0.224), below one half: positives have lower scores than negatives. Reversed (1 − score), it
    would be 0.889 (0.776–0.949).
    """
    auc = known(report.here, "auc")
    if auc is None or not auc.high < 0.5:
        return None
    turned = Estimate(1 - auc.value, 1 - auc.high, 1 - auc.low)
    how = "−score" if known(report.here, "brier") is None else "1 − score"
    sentence = (
        f"AUC is {ranged(auc)}, below one half: positives have lower scores than negatives. Reversed ({how}), it would "
        f"be {ranged(turned)}."
    )
    return Said(sentence, in_full(auc=auc, reversed_auc=turned))


REVERSED = Check(
    code="BR002",
    title="AUC is below one half",
    severity="serious",
    why=(
        "A higher score should mean more likely positive. Here it goes with negatives: the classes may be swapped, or "
        "the score may be that of the other class. Every threshold then flags the wrong rows."
    ),
    remedy=(
        "If the classes are swapped, name the other one as the positive class. If the score is that of the other "
        "class, evaluate 1 − score, or −score."
    ),
    look=_reversed,
    suggest=suggest_other_class,
)


def _wide(report: Report) -> Said | None:
    """A confidence interval too wide to decide by.

    It is reported for the widest among sensitivity, specificity, AUC, and precision at the stated prevalence, where
    half its width is above 0.1; with the number of rows that would reduce that to 0.05, at the same estimates.

    >>> import baserate
    >>> report = baserate.evaluate([1] * 10 + [0] * 90, [0.8] * 6 + [0.2] * 4 + [0.7] * 4 + [0.1] * 86)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR003"))
    Sensitivity is 0.6 (0.262–0.878), known to ±0.308 from 10 positives; ±0.05 needs about 3 660 rows like these.
    """
    names = ("sensitivity", "specificity", "precision", "auc")
    found = {name: each for name in names if (each := known(report.there, name))}
    halves = {name: (each.high - each.low) / 2 for name, each in found.items() if each.low <= each.high}
    widest = max(halves, key=halves.__getitem__, default=None)
    if widest is None or halves[widest] <= _WIDE:
        return None
    where = f" {place(report)}" if widest == "precision" and report.prevalence is not None else ""
    rows, drawn = _needed(report, widest, found[widest].value), "drawn at that prevalence" if where else "like these"
    name, rests = "AUC" if widest == "auc" else widest.capitalize(), _rests(report, widest)
    told = " and ".join(counted(many, what.replace("_", " ")) for what, many in rests.items())
    sentence = (
        f"{name} is {ranged(found[widest])}{where}, known to ±{number(halves[widest])} from {told}; ±{_WANTED} needs "
        f"about {number(rows)} rows {drawn}."
    )
    numbers = {
        **in_full(**{widest: found[widest], "prevalence": prevalence(report)}),
        "measure": widest,
        "half_width": halves[widest],
        **rests,
        "rows_needed": rows,
    }
    return Said(sentence, numbers)


def _rests(report: Report, measure: str) -> dict[str, float]:
    """The rows that a number is of."""
    among = {"sensitivity": ("positives",), "specificity": ("negatives",), "auc": ("positives", "negatives")}
    if measure in among:
        return {name: getattr(report.here, name).value for name in among[measure]}
    if report.data["weighted"]:  # what is flagged is then known by its weight alone
        return {"weighted_rows": report.here.rows.value}
    return {"flagged_rows": report.here.counts.flagged}


def _needed(report: Report, measure: str, expect: float) -> int:
    """Rows for an interval of the wanted width, drawn as these were; of a precision elsewhere, drawn there."""
    use, level = _expected(report, measure, expect), report.plan.level
    if measure == "auc":
        return infer.size_of_auc(use["expect"], _WANTED, prevalence=use["prevalence"], level=level).rows
    share, flagged = use.get("prevalence"), use.get("flag_rate")
    found = infer.size_of_share(measure, use["expect"], _WANTED, prevalence=share, flag_rate=flagged, level=level)
    return found.rows


def _expected(report: Report, measure: str, expect: float) -> dict[str, float]:
    """What a study of that size would expect, in digits that one can type."""
    hair = 0.5 / report.here.rows.value
    flagged = {"flag_rate": report.there.flag_rate.value} if measure == "precision" else {}
    share = {} if flagged else {"prevalence": report.here.prevalence.value}
    each = {"expect": expect, **share, **flagged}
    inside = {name: min(max(value, hair), 1 - hair) for name, value in each.items()}
    short = {name: float(f"{value:.4g}") for name, value in inside.items()}
    return {name: short[name] if 0 < short[name] < 1 else value for name, value in inside.items()}


def _suggest_size(report: Report, numbers: Mapping[str, Any]) -> Step:
    """Suggest to plan the number of rows."""
    measure = numbers["measure"]
    expected = _expected(report, measure, numbers[measure])
    options = {"measure": measure, "expect": expected.pop("expect"), "half_width": _WANTED, **expected}
    return Step(verb="size", options=options)


WIDE = Check(
    code="BR003",
    title="A confidence interval is too wide to decide by",
    severity="caution",
    why=(
        "The estimate rests on so few rows that another sample of the same size could give quite another value. A "
        "decision based on it is based on chance."
    ),
    remedy="Decide by the confidence bound rather than by the estimate, or collect more rows.",
    look=_wide,
    suggest=_suggest_size,
)


def _flattered(report: Report) -> Said | None:
    """An ROC curve that looks better than the flags will.

    It is reported where the prevalence, the stated one if there is one, is 0.1 or less, the AUC 0.75 or more, and
    average precision more than 0.25 below it.

    >>> import baserate
    >>> truth, score = [1] * 20 + [0] * 180, [0.9] * 5 + [0.7] * 15 + [0.8] * 20 + [0.2] * 160
    >>> report = baserate.evaluate(truth, score, prevalence=0.02)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR004"))
    Average precision is 0.366 (0.169–0.563) at a prevalence of 0.02, although AUC is 0.917 (0.801–0.962).
    """
    auc, average, share = known(report.there, "auc"), known(report.there, "average_precision"), prevalence(report)
    if not (auc and average and share) or share.value > _RARE:
        return None
    if auc.value < _HIGH or average.value >= auc.value - _APART:
        return None
    rare = f"a prevalence of {number(share.value)}"
    sentence = f"Average precision is {ranged(average)} at {rare}, although AUC is {ranged(auc)}."
    return Said(sentence, in_full(auc=auc, average_precision=average, prevalence=Estimate(share.value)))


FLATTERED = Check(
    code="BR004",
    title="AUC looks high, but precision is low",
    severity="caution",
    why=(
        "AUC compares one positive with one negative, whatever the prevalence. Where positives are rare, even a small "
        "share of the negatives outnumbers them among the flagged rows."
    ),
    remedy="Judge the score by its precision–recall curve at this prevalence as well.",
    look=_flattered,
    suggest=lambda report, _numbers: Step(verb="draw pr", options={"output": free_name("pr.svg", report.plan)}),
)


def _miscalibrated(report: Report) -> Said | None:
    """Probabilities that are miscalibrated by more than chance.

    It is reported where the expected calibration error (ECE) is above what nineteen in twenty perfectly calibrated
    models of this size would show (at a level of 0.95), and 0.005 or more above what is typical of them. Then all
    log-odds are shifted until the mean is right, as another prevalence would do, and the check is repeated.

    >>> import baserate
    >>> report = baserate.evaluate(([1] * 2 + [0] * 18 + [1] * 10 + [0] * 10) * 10, ([0.5] * 20 + [0.9] * 20) * 10)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR007"))
    The calibration error (ECE) is 0.4 in the sample; a perfectly calibrated model of this size typically has 0.0225. A
    constant shift of the log-odds explains it: the scores fit a prevalence of 0.794, and the sample has 0.3.
    """
    found = {name: report.pick(part="probabilities", measure=name, where="here") for name in ("ece", "ece_after_shift")}
    if not found["ece"]:
        return None
    error = found["ece"][0]
    if not error["value"] > error["floor_high"] or error["value"] - error["floor"] < _MATTERS:
        return None
    numbers = {"ece": error["value"], "floor": error["floor"], "floor_high": error["floor_high"], "p": error["p"]}
    sentence = (
        f"The calibration error (ECE) is {number(error['value'])} in the sample; a perfectly calibrated model of this "
        f"size typically has {number(error['floor'])}"
    )
    after = found["ece_after_shift"][0] if found["ece_after_shift"] else None
    if after and after["value"] <= after["floor_high"]:
        rest, more = _as_if(report)
    else:
        slope = known(report.here, "calibration_slope")
        rest = "A constant shift of the log-odds does not explain it"
        rest += f"; the calibration slope is {ranged(slope)}" if slope else ""
        more = in_full(calibration_slope=slope)
    shifted = {"ece_after_shift": after["value"]} if after else {}
    return Said(f"{sentence}. {rest}.", numbers | shifted | more)


def _as_if(report: Report) -> tuple[str, dict[str, float]]:
    """The prevalence that probabilities were made for, in words and as a number."""
    here, offset = report.here.prevalence.value, report.here.calibration_in_the_large
    made = here / (here + exp(offset.value) * (1 - here))  # however near to 0 or 1 weights bring the sample
    told = f"the scores fit a prevalence of {number(made)}, and the sample has {number(here)}"
    numbers = {**in_full(calibration_in_the_large=offset), "derived_prevalence": made, "prevalence": here}
    return f"A constant shift of the log-odds explains it: {told}", numbers


def _suggest_calibrator(report: Report, numbers: Mapping[str, Any]) -> Step | None:
    """Suggest to fit a calibrator: an offset where that explains it, otherwise the one that the data choose."""
    if not has_both_classes(report, least=2):  # one to fit with, and one to compare on
        return None
    method = {"with": "offset"} if "derived_prevalence" in numbers else {}
    return Step(verb="calibrate", options={**method, "output": free_name("calibrator.json", report.plan)})


MISCALIBRATED = Check(
    code="BR007",
    title="Probabilities are miscalibrated beyond chance",
    severity="caution",
    why=(
        "Everything computed from these probabilities is wrong as well: expected costs, thresholds that follow from "
        "costs, and the risk that a person is told."
    ),
    remedy="Recalibrate the scores, and compare calibration before and after on rows left out of the fit.",
    look=_miscalibrated,
    suggest=_suggest_calibrator,
)


def _fitted_to_these_rows(report: Report) -> Said | None:
    """Scores that are too well calibrated to be new to these rows.

    It is reported in two cases. First: calibration slope and calibration in the large both lie within 0.01 standard
    errors of 1 and 0, with 20 distinct scores or more. A logistic regression without a penalty makes both exact on the
    rows that it is fitted to. A calibrated score on new rows comes this close with a probability of 0.00006. Second:
    every distinct score equals the share of positives among its rows, as after isotonic regression or binning, and a
    calibrated score on new rows would match all of them with a probability below 0.001.

    >>> import baserate
    >>> shares = {0.1: 4, 0.3: 12, 0.5: 20, 0.7: 28, 0.9: 36}
    >>> truth = [each < many for many in shares.values() for each in range(40)]
    >>> report = baserate.evaluate(truth, [share for share in shares for _ in range(40)])
    >>> print(*(each.sentence for each in report.findings if each.code == "BR018"))
    Each of 5 distinct scores equals the share of positives among its rows (the largest deviation is 0): the scores
    were probably fitted to these very rows, and their performance is optimistic.
    """
    return _of_logistic(report) or _of_levels(report)


_FITTED = "the scores were probably fitted to these very rows, and their performance is optimistic"


def _of_logistic(report: Report) -> Said | None:
    """Slope and intercept that are exact but for the tolerance of an optimizer."""
    names = ("calibration_slope", "calibration_in_the_large", "observed_expected")
    slope, shifted, ratio = (known(report.here, name) for name in names)
    distinct = known(report.here, "distinct_scores")
    if not (slope and shifted and ratio and distinct) or distinct.value < _VARIED:
        return None
    away = max(_standard_errors(slope, 1), _standard_errors(shifted, 0))
    if not away < _CLOSE:
        return None
    most = max(abs(slope.value - 1), abs(ratio.value - 1), abs(shifted.value))
    digits = min(floor(-log10(most)), _DIGITS) if most else _DIGITS
    sentence = (
        f"Calibration is perfect to {digits} digits (slope {number(slope.value)}, O/E {number(ratio.value)}, intercept "
        f"{number(shifted.value)}): {_FITTED}."
    )
    numbers = in_full(calibration_slope=slope, observed_expected=ratio, calibration_in_the_large=shifted)
    return Said(sentence, {**numbers, "digits": digits, "standard_errors": away})


def _standard_errors(estimate: Estimate, perfect: float) -> float:
    """Return the distance from the perfect value in standard errors; NaN without an interval that has a width."""
    width = estimate.high - estimate.low
    if estimate.level is None or not width > 0:
        return nan
    return abs(estimate.value - perfect) / (width / (2 * two_sided(estimate.level)))


def _of_levels(report: Report) -> Said | None:
    """Scores that are observed shares themselves."""
    rows = report.pick(part="probabilities", measure="deviation_by_score")
    if not rows or not rows[0]["p"] < _UNLIKELY:
        return None
    distinct, deviation = report.here.distinct_scores.value, rows[0]["value"]
    sentence = (
        f"Each of {number(distinct)} distinct scores equals the share of positives among its rows (the largest "
        f"deviation is {number(deviation)}): {_FITTED}."
    )
    return Said(sentence, {"distinct_scores": distinct, "deviation": deviation, "p": rows[0]["p"]})


FITTED = Check(
    code="BR018",
    title="Scores were probably fitted to these rows",
    severity="serious",
    why=(
        "A model reproduces the noise of the rows that it was fitted to. Ranking and calibration look better there "
        "than on new rows, and so does every number that follows from them."
    ),
    remedy=(
        "Evaluate on validation data that had no part in fitting. Without such data, cross-fit: score each row by a "
        "model that was fitted without it."
    ),
    look=_fitted_to_these_rows,
)
