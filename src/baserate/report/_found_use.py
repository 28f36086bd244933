"""Findings about the use of scores: where, at which cut-off, and how that was chosen."""

from __future__ import annotations

from baserate._estimate import Estimate
from baserate.report._finding import Check, Said
from baserate.report._report import Report, estimate_of
from baserate.report._words import cut, in_full, known, number, place, prevalence, ranged, threshold

_ELSEWHERE = 0.1
"""Of the stated prevalence: less than this is no other place."""
_EDGE = 0.001
"""Who flags no more than this, or all but this, hardly chooses."""
_LOW, _MUCH = 0.5, 0.1
"""A precision that is asked about, and how much more another cut-off must reach."""


def _elsewhere(report: Report) -> Said | None:
    """Rows of another place than that of use.

    It is told where the stated prevalence lies outside the interval of that of the rows, and is more than a tenth of
    itself away from it.

    >>> import baserate
    >>> truth, score = [1] * 50 + [0] * 50, [0.8] * 40 + [0.3] * 10 + [0.7] * 5 + [0.1] * 45
    >>> report = baserate.evaluate(truth, score, prevalence=0.02)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR005"))
    The prevalence of the rows is 0.5 (0.404–0.596) and the stated one 0.02: precision falls from 0.889 (0.759–0.963)
    to 0.14 (0.0682–0.331).
    """
    stated, share = report.prevalence, known(report.here, "prevalence")
    if stated is None or share is None or share.low <= stated <= share.high:
        return None
    if abs(share.value - stated) <= _ELSEWHERE * stated:
        return None
    before, after = known(report.here, "precision"), known(report.there, "precision")
    rest = "nobody is flagged, so that there is no precision to compare"
    if before and after:
        way = "falls" if after.value < before.value else "rises" if after.value > before.value else "stays"
        rest = f"precision {way} from {ranged(before)} to {ranged(after)}"
    sentence = f"The prevalence of the rows is {ranged(share)} and the stated one {number(stated)}: {rest}."
    numbers = in_full(prevalence=share, precision_here=before, precision_there=after)
    return Said(sentence, {**numbers, "stated_prevalence": stated})


ELSEWHERE = Check(
    code="BR005",
    title="The rows have another prevalence than the stated one",
    severity="note",
    why=(
        "Precision, accuracy, costs and probabilities change with the share of positives; numbers of these rows are "
        "not those of the place of use. Both are told, on the understanding that each class looks there as it does "
        "here."
    ),
    remedy=(
        "Use the numbers at the stated prevalence; see the way there: `baserate shift … --to … --curve`. "
        "Probabilities are corrected row by row with `baserate reprior …`."
    ),
    look=_elsewhere,
)


def _different_prevalences(report: Report) -> Said | None:
    """Samples of different prevalences, side by side.

    It is told where models were judged on samples of their own, the intervals of two prevalences do not overlap, and
    no prevalence was stated: numbers at a stated one can be compared.

    >>> import baserate
    >>> truth = {"north": [1] * 50 + [0] * 50, "south": [1] * 10 + [0] * 90}
    >>> report = baserate.evaluate(truth, {name: [0.8 if each else 0.1 for each in truth[name]] for name in truth})
    >>> print(*(each.sentence for each in report.findings if each.code == "BR006"))
    The prevalence is 0.5 (0.404–0.596) for north and 0.1 (0.049–0.176) for south: precision, accuracy and average
    precision cannot be compared as they are.
    """
    if not report.plan.apart or report.plan.prevalence is not None:
        return None
    rows = report.pick(part="data", measure="prevalence", group=None, where="here")
    found = {row["model"]: estimate_of(row) for row in rows}
    high = max(found, key=lambda model: found[model].low)
    low = min(found, key=lambda model: found[model].high)
    if not found[high].low > found[low].high:
        return None
    sentence = (
        f"The prevalence is {ranged(found[high])} for {high} and {ranged(found[low])} for {low}: precision, accuracy "
        "and average precision cannot be compared as they are."
    )
    numbers = in_full(highest_prevalence=found[high], lowest_prevalence=found[low])
    return Said(sentence, {**numbers, "highest": high, "lowest": low})


DIFFERENT = Check(
    code="BR006",
    title="Models were judged at different prevalences",
    severity="serious",
    why=(
        "The same classifier has a higher precision where positives are common. What looks like a better model may be "
        "an easier sample. Sensitivity, specificity and AUC do not change with the prevalence alone."
    ),
    remedy=(
        "Carry all of them to one prevalence: state `--prevalence` here, or `baserate shift … --to …` for each "
        "sample; best, judge all models on the same rows: `baserate compare …`."
    ),
    look=_different_prevalences,
    whole=True,
)


def _same_data(report: Report) -> Said | None:
    """A cut-off that is judged by the rows that it was chosen on.

    It is told where a rule chose the cut-off on these very rows, or a policy remembers that it was.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1], rule="youden")
    >>> print(*(each.sentence for each in report.findings if each.code == "BR008"))
    The cut-off 0.9 was chosen on the very 4 rows that it is judged on.
    """
    chosen, at = known(report.here, "chosen_on_these_rows"), threshold(report)
    if chosen is None or not chosen.value:
        return None
    rows, told = report.here.rows.value, cut(report)
    sentence = f"{told[0].upper()}{told[1:]} was chosen on the very {number(rows)} rows that it is judged on."
    return Said(sentence, {"rows": rows} | ({} if at is None else {"threshold": at}))


SAME = Check(
    code="BR008",
    title="Chosen and judged on the same rows",
    severity="caution",
    why=(
        "Among many cut-offs the one was taken that looks best on these rows, partly by luck. On others its numbers "
        "will be worse on average, the more so the fewer rows there are."
    ),
    remedy=(
        "Judge the choice by other rows: `baserate decide train.csv … --judge-on test.csv`. Without them, `baserate "
        "decide …` tells the numbers less the optimism of the choice."
    ),
    look=_same_data,
)


def _extreme(report: Report) -> Said | None:
    """A cut-off that hardly chooses.

    It is told where 0.001 of the rows or fewer are flagged, or 0.999 or more: also where the cut-off is infinite, or
    lies beyond all scores.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.09, 0.06, 0.04, 0.01])
    >>> print(*(each.sentence for each in report.findings if each.code == "BR009"))
    The cut-off 0.5 flags none of 4 rows.
    """
    rate, at = known(report.here, "flag_rate"), threshold(report)
    if rate is None or _EDGE < rate.value < 1 - _EDGE:
        return None
    whom = {0.0: "none", 1.0: "all"}.get(rate.value, f"a share of {number(rate.value)}")
    rows, told = report.here.rows.value, cut(report)
    sentence = f"{told[0].upper()}{told[1:]} flags {whom} of {number(rows)} rows."
    return Said(sentence, {**in_full(flag_rate=rate), "rows": rows} | ({} if at is None else {"threshold": at}))


EXTREME = Check(
    code="BR009",
    title="The cut-off lies at an extreme",
    severity="caution",
    why=(
        "Who flags almost nobody, or almost everybody, does not use the scores. It may be what costs demand; it may "
        "also be a cut-off of another scale, such as 0.5 for scores that are no probabilities."
    ),
    remedy=(
        "See which cut-offs there are: `baserate curve roc …`; choose one by costs, requirements or capacity: "
        "`baserate decide …`."
    ),
    look=_extreme,
)


def _blame(report: Report) -> Said | None:
    """A low precision, and whether the cut-off makes it so.

    It is told where precision, at the stated prevalence if there is one, is below 0.5. Asked is for the highest
    precision of a cut-off that still finds half of the positives that are found now: if it is 0.1 or more above, it
    is the cut-off, otherwise the score. Labels have no other cut-off.

    >>> import baserate
    >>> report = baserate.evaluate([1] * 20 + [0] * 80, [0.9] * 12 + [0.6] * 8 + [0.9] * 2 + [0.6] * 38 + [0.1] * 40)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR010"))
    Precision is 0.333 (0.227–0.459) in these rows, and that is up to the cut-off: at 0.9 it would be 0.857, with a
    sensitivity of 0.6 in place of 1.
    """
    now, found = known(report.there, "precision"), known(report.there, "sensitivity")
    other = {row["measure"]: row for row in report.pick(part="possible", where=report.place)}
    if not (now and found and other) or now.value >= _LOW:
        return None
    best, kept, at = other["precision"]["value"], other["sensitivity"]["value"], other["precision"]["threshold"]
    told = f"Precision is {ranged(now)} {place(report)}"
    alone = {"sensitivity": Estimate(found.value), "best_precision": Estimate(best)}
    numbers = in_full(precision=now, prevalence=prevalence(report), **alone)
    if best - now.value >= _MUCH:
        traded = f"with a sensitivity of {number(kept)} in place of {number(found.value)}"
        sentence = f"{told}, and that is up to the cut-off: at {number(at)} it would be {number(best)}, {traded}."
        return Said(sentence, {**numbers, "other_threshold": at, "other_sensitivity": kept})
    limit = f"no cut-off that finds at least half as many positives reaches more than {number(best)}"
    return Said(f"{told}, and that is up to the score: {limit}.", numbers)


BLAME = Check(
    code="BR010",
    title="Most flags are false: the cut-off or the score",
    severity="note",
    why=(
        "More than half of those who are flagged are negative. That may be right where misses are dear. Where it is "
        "not, it matters whether another cut-off would do, or only other scores."
    ),
    remedy=(
        "If it is the cut-off: `baserate decide … --require 'precision >= 0.5' --maximize sensitivity`. If it is the "
        "score, no cut-off helps: better features, a second test for those who are flagged, or a place with more "
        "positives."
    ),
    look=_blame,
)


def _labels_disagree(report: Report) -> Said | None:
    """Labels that another cut-off gave, or another model.

    It is told where labels were read beside scores (`--predicted`), and in a row or more they are not what the cut-off
    says. Where groups have cut-offs of their own, nothing is compared.

    >>> import baserate
    >>> report = baserate.evaluate([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.1], predicted=[1, 1, 0, 0])
    >>> print(*(each.sentence for each in report.findings if each.code == "BR014"))
    In 1 of 4 rows the predicted label is not what the cut-off 0.5 says; the labels are what a cut at 0.4 gives.
    """
    rows = {row["measure"]: row for row in report.pick(part="labels")}
    if not rows or not rows["disagreements"]["value"]:
        return None
    now, best = rows["disagreements"], rows["least_disagreements"]
    many, left, total = now["value"], best["value"], report.here.rows.value
    at, other = number(now["threshold"]), number(best["threshold"])
    agreed = f"the labels are what a cut at {other} gives"
    if left:
        agreed = f"a cut at {other} agrees best, and leaves {number(left)}"
    sentence = (
        f"In {number(many)} of {number(total)} rows the predicted label is not what the cut-off {at} says; {agreed}."
    )
    numbers = {"disagreements": many, "rows": total, "threshold": now["threshold"]}
    return Said(sentence, {**numbers, "agreeing_threshold": best["threshold"], "least_disagreements": left})


LABELS = Check(
    code="BR014",
    title="Predicted labels are not what the scores say",
    severity="caution",
    why=(
        "The report tells of the scores at a cut-off and of the labels as two models; whoever takes one for the other "
        "reads numbers of decisions that are not made."
    ),
    remedy=(
        "Find out which cut-off made the labels, and state it: `--threshold`. If none agrees, labels and scores are "
        "not of the same model, or of the same rows."
    ),
    look=_labels_disagree,
)
