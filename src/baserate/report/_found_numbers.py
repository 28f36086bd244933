"""Findings about numbers that may seem to say more than they do."""

from __future__ import annotations

from math import exp, floor, log10, nan

from baserate import infer, shift
from baserate._estimate import Estimate
from baserate.infer._binomial import two_sided
from baserate.report._finding import Check, Said
from baserate.report._report import Report
from baserate.report._words import in_full, known, number, place, prevalence, ranged

_WIDE, _WANTED = 0.1, 0.05
"""Half the width of an interval that is told, and of the one that would do."""
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
    """Accuracy that is reached without looking.

    It is told where accuracy, at the stated prevalence if there is one, is no more than the share of the larger class;
    or where it is more, but its interval reaches down to that share.

    >>> import baserate
    >>> report = baserate.evaluate([1] * 10 + [0] * 90, [0.8] * 5 + [0.2] * 5 + [0.7] * 7 + [0.1] * 83)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR001"))
    Accuracy is 0.88 (0.8–0.936) in these rows, and to call everybody negative reaches 0.9, which is no less.
    """
    accuracy, constant = known(report.there, "accuracy"), known(report.there, "constant_accuracy")
    share = prevalence(report)
    if not (accuracy and constant and share):
        return None
    if accuracy.value <= constant.value + _ROUNDING:
        rest = "which is no less"
    elif accuracy.low <= constant.value:
        rest = "which lies within the interval"
    else:
        return None
    always = "positive" if share.value > 0.5 else "negative"
    reached = f"to call everybody {always} reaches {number(constant.value)}, {rest}"
    sentence = f"Accuracy is {ranged(accuracy)} {place(report)}, and {reached}."
    return Said(sentence, in_full(accuracy=accuracy, constant_accuracy=constant, prevalence=Estimate(share.value)))


CONSTANT = Check(
    code="BR001",
    title="Accuracy is no better than that of a constant",
    severity="caution",
    why=(
        "Where one class is rare, calling everybody by the other name is right almost always. An accuracy as high as "
        "that says nothing about the scores."
    ),
    remedy=(
        "Look at sensitivity, specificity and precision instead; where errors have a price, choose the cut-off by it: "
        "`baserate decide … --fp 1 --fn 20`."
    ),
    look=_constant,
)


def _reversed(report: Report) -> Said | None:
    """Scores that rank the wrong way round.

    It is told where the whole interval of the AUC lies below one half.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0] * 30, [0.2, 0.8, 0.3, 0.7, 0.6, 0.5] * 10)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR002"))
    AUC is 0.111 (0.0514–0.224), below one half: positives have the lower scores; reversed (1 − score) it would be
    0.889 (0.776–0.949).
    """
    auc = known(report.here, "auc")
    if auc is None or not auc.high < 0.5:
        return None
    turned = Estimate(1 - auc.value, 1 - auc.high, 1 - auc.low)
    how = "−score" if known(report.here, "brier") is None else "1 − score"
    sentence = (
        f"AUC is {ranged(auc)}, below one half: positives have the lower scores; reversed ({how}) it would be "
        f"{ranged(turned)}."
    )
    return Said(sentence, in_full(auc=auc, reversed_auc=turned))


REVERSED = Check(
    code="BR002",
    title="AUC is below one half",
    severity="serious",
    why=(
        "A higher score is taken for more positive. Here it goes with negatives: the positive class may be named "
        "wrongly, or the score may tell the chance of the other class. Every cut-off then flags the wrong end."
    ),
    remedy=(
        "If the score is of the other class, reverse it (1 − score, or −score) before judging; if the classes have "
        "each other's names, state `--positive LABEL`. Nothing is turned round silently."
    ),
    look=_reversed,
)


def _wide(report: Report) -> Said | None:
    """An interval too wide to decide anything by.

    It is told of the widest among sensitivity, specificity, AUC, and precision at the stated prevalence, where half its
    width is above 0.1; with the rows that it would take to bring that down to 0.05, if what was seen is seen again.

    >>> import baserate
    >>> report = baserate.evaluate([1] * 10 + [0] * 90, [0.8] * 6 + [0.2] * 4 + [0.7] * 4 + [0.1] * 86)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR003"))
    Sensitivity is 0.6 (0.262–0.878), no closer than ±0.308, since it rests on 10 positives; ±0.05 would take about
    3 660 rows like these.
    """
    names = ("sensitivity", "specificity", "precision", "auc")
    found = {name: each for name in names if (each := known(report.there, name))}
    halves = {name: (each.high - each.low) / 2 for name, each in found.items() if each.low <= each.high}
    widest = max(halves, key=halves.__getitem__, default=None)
    if widest is None or halves[widest] <= _WIDE:
        return None
    where = f" {place(report)}" if widest == "precision" and report.plan.prevalence is not None else ""
    rows, drawn = _needed(report, widest, found[widest].value), "drawn at that prevalence" if where else "like these"
    name, rests = "AUC" if widest == "auc" else widest.capitalize(), _rests(report, widest)
    told = " and ".join(f"{number(many)} {what.replace('_', ' ')}" for what, many in rests.items())
    sentence = (
        f"{name} is {ranged(found[widest])}{where}, no closer than ±{number(halves[widest])}, since it rests on "
        f"{told}; ±{_WANTED} would take about {number(rows)} rows {drawn}."
    )
    numbers = {
        **in_full(**{widest: found[widest], "prevalence": prevalence(report)}),
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
        return {"rows_with_weights": report.here.rows.value}
    return {"flagged_rows": report.here.counts.flagged}


def _needed(report: Report, measure: str, expect: float) -> int:
    """Rows for an interval of the wanted width, drawn as these were; of a precision elsewhere, drawn there."""
    hair = 0.5 / report.here.rows.value
    share, flagged, seen = (
        min(max(each, hair), 1 - hair) for each in (report.here.prevalence.value, report.there.flag_rate.value, expect)
    )
    level = report.plan.level
    if measure == "auc":
        return infer.size_of_auc(seen, _WANTED, prevalence=share, level=level).rows
    return infer.size_of_share(measure, seen, _WANTED, prevalence=share, flag_rate=flagged, level=level).rows


WIDE = Check(
    code="BR003",
    title="An interval is too wide to decide by",
    severity="caution",
    why=(
        "So few rows stand behind this number that another sample of the same size could show quite another one. A "
        "decision that rests on it rests on chance."
    ),
    remedy=(
        "Decide by the bound of the interval, not by the value, or gather more rows: `baserate size MEASURE --expect "
        "… --half-width 0.05 --prevalence …` plans how many."
    ),
    look=_wide,
)


def _flattered(report: Report) -> Said | None:
    """An ROC curve that looks better than the flags will.

    It is told where the prevalence, the stated one if there is one, is 0.1 or less, the AUC 0.75 or more, and average
    precision more than 0.25 below it.

    >>> import baserate
    >>> truth, score = [1] * 20 + [0] * 180, [0.9] * 5 + [0.7] * 15 + [0.8] * 20 + [0.2] * 160
    >>> report = baserate.evaluate(truth, score, prevalence=0.02)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR004"))
    AUC is 0.917 (0.819–0.962), and average precision is 0.366 (0.19–0.583) at a prevalence of 0.02.
    """
    auc, average, share = known(report.here, "auc"), known(report.there, "average_precision"), prevalence(report)
    if not (auc and average and share) or share.value > _RARE:
        return None
    if auc.value < _HIGH or average.value >= auc.value - _APART:
        return None
    rare = f"a prevalence of {number(share.value)}"
    sentence = f"AUC is {ranged(auc)}, and average precision is {ranged(average)} at {rare}."
    return Said(sentence, in_full(auc=auc, average_precision=average, prevalence=Estimate(share.value)))


FLATTERED = Check(
    code="BR004",
    title="The ROC curve flatters where positives are rare",
    severity="caution",
    why=(
        "AUC compares a positive with a negative, as if there were as many of both. Where positives are rare, even a "
        "small share of the negatives outnumbers them among those who are flagged."
    ),
    remedy=(
        "Read precision and recall beside it: `baserate draw pr …`; and see precision against the prevalence: "
        "`baserate shift … --curve`."
    ),
    look=_flattered,
)


def _miscalibrated(report: Report) -> Said | None:
    """Probabilities that are off by more than chance.

    It is told where the expected calibration error (ECE) is above what nineteen in twenty perfectly calibrated models
    of this size would show (at a level of 0.95), and 0.005 or more above what is typical of them. Then all log-odds
    are shifted until the mean is right, as another prevalence would do, and it is asked once more.

    >>> import baserate
    >>> report = baserate.evaluate(([1] * 2 + [0] * 18 + [1] * 10 + [0] * 10) * 10, ([0.5] * 20 + [0.9] * 20) * 10)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR007"))
    Probabilities are off by 0.4 on average (ECE), where those of a perfectly calibrated model of this size are off by
    0.0225; a shift of all log-odds alone explains it: they are as if made for a prevalence of 0.794, and here it is
    0.3.
    """
    found = {name: report.pick(part="probabilities", measure=name) for name in ("ece", "ece_after_shift")}
    if not found["ece"]:
        return None
    error = found["ece"][0]
    if not error["value"] > error["floor_high"] or error["value"] - error["floor"] < _MATTERS:
        return None
    numbers = {"ece": error["value"], "floor": error["floor"], "floor_high": error["floor_high"], "p": error["p"]}
    sentence = (
        f"Probabilities are off by {number(error['value'])} on average (ECE), where those of a perfectly calibrated "
        f"model of this size are off by {number(error['floor'])}"
    )
    after = found["ece_after_shift"][0] if found["ece_after_shift"] else None
    if after and after["value"] <= after["floor_high"]:
        rest, more = _as_if(report)
    else:
        slope = known(report.here, "calibration_slope")
        rest = "no shift of all log-odds repairs it" + (f", and their slope is {ranged(slope)}" if slope else "")
        more = in_full(calibration_slope=slope)
    shifted = {"ece_after_shift": after["value"]} if after else {}
    return Said(f"{sentence}; {rest}.", numbers | shifted | more)


def _as_if(report: Report) -> tuple[str, dict[str, float]]:
    """The prevalence that probabilities were made for, in words and as a number."""
    here, offset = report.here.prevalence.value, report.here.calibration_in_the_large
    made = shift.prevalence_of_gamma(exp(offset.value), at=here)
    told = f"they are as if made for a prevalence of {number(made)}, and here it is {number(here)}"
    numbers = {**in_full(calibration_in_the_large=offset), "derived_prevalence": made, "prevalence": here}
    return f"a shift of all log-odds alone explains it: {told}", numbers


MISCALIBRATED = Check(
    code="BR007",
    title="Probabilities are off by more than chance",
    severity="caution",
    why=(
        "Whatever is computed from these probabilities is off as well: expected costs, cut-offs that follow from "
        "costs, and what a person is told about a risk."
    ),
    remedy=(
        "If a shift explains it, state the prevalence: `baserate calibrate … --with offset`, or `baserate reprior … "
        "--from … --to …`; otherwise fit a map: `baserate calibrate …`. `baserate reliability …` shows more."
    ),
    look=_miscalibrated,
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
