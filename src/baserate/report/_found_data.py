"""Findings about the rows: what was left out, what repeats, and which class is which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baserate._read_summary import describe_reasons
from baserate.report._commands import Step, has_both_classes
from baserate.report._finding import Check, Said
from baserate.report._report import Report, estimate_of
from baserate.report._suggestions import current_threshold, suggest_other_class
from baserate.report._words import in_full, known, number, ranged

_TIED_PAIRS, _LARGEST_TIE = 0.02, 0.1
_DISTINCT, _EACH = 20, 10
"""Scores below the first look rounded, if each stands for as many rows as the second."""


def _ties(report: Report) -> Said | None:
    """Scores that order few rows.

    It is reported where more than 0.02 of the pairs of a positive and a negative have the same score; or 0.1 of the
    rows or more share one; or there are fewer than 20 distinct scores, with ten rows or more for each. Labels are no
    scores.

    >>> import baserate
    >>> report = baserate.evaluate([1, 1, 0, 0] * 25, [0.8, 0.4, 0.4, 0.2] * 25)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR013"))
    100 rows have 3 distinct scores: 0.5 of the rows share one score, and 0.25 of the positive–negative pairs are tied.
    """
    found = [known(report.here, name) for name in ("rows", "distinct_scores", "largest_tie", "tied_pairs")]
    rows, distinct, largest, pairs = (each.value if each else 0.0 for each in found)
    # One row of nine is a ninth of them, and no tie.
    heavy = largest >= _LARGEST_TIE and largest * rows > 1.5
    if not (pairs > _TIED_PAIRS or heavy or (0 < distinct < _DISTINCT and rows >= _EACH * distinct)):
        return None
    sentence = (
        f"{number(rows)} rows have {number(distinct)} distinct scores: {number(largest)} of the rows share one score, "
        f"and {number(pairs)} of the positive–negative pairs are tied."
    )
    return Said(sentence, {"rows": rows, "distinct_scores": distinct, "largest_tie": largest, "tied_pairs": pairs})


TIES = Check(
    code="BR013",
    title="Many rows share a score",
    severity="note",
    why=(
        "Tied scores do not order the rows that share them. No threshold lies between such rows, a small change of a "
        "threshold moves many rows at once, and tools that break ties differently report different AUCs."
    ),
    remedy="Evaluate the unrounded scores if there are any. Otherwise choose among the thresholds that exist.",
    look=_ties,
    suggest=lambda _report, _numbers: Step(verb="curve roc"),
)


def _positive_majority(report: Report) -> Said | None:
    """More positives than negatives.

    It is reported where more than half of the rows are positive.

    >>> import baserate
    >>> report = baserate.evaluate(["no"] * 30 + ["yes"] * 10, [0.9] * 30 + [0.1] * 10, positive="no")
    >>> print(*(each.sentence for each in report.findings if each.code == "BR015"))
    The positive class, 'no', is the majority: 0.75 (0.588–0.873) of the rows.
    """
    shares = report.pick(part="data", measure="prevalence", group=None, where="here")
    rows = [row for row in shares if (row["value"] or 0) > 0.5]
    if not rows:
        return None
    most = max(rows, key=lambda row: float(row["value"]))
    share, of = estimate_of(most), f" of {most['model']}" if report.plan.apart else ""
    sentence = f"The positive class, {report.data['positive']!r}, is the majority: {ranged(share)} of the rows{of}."
    return Said(sentence, in_full(prevalence=share))


MAJORITY = Check(
    code="BR015",
    title="The positive class is the majority",
    severity="note",
    why=(
        "The positive class usually is the one that is looked for, and rare. If the classes are swapped, so are "
        "sensitivity and specificity, and precision is that of the other class."
    ),
    remedy="If the other class is the one to detect, name it as the positive class. Otherwise nothing is wrong.",
    look=_positive_majority,
    suggest=suggest_other_class,
    whole=True,
)


def _rows_dropped(report: Report) -> Said | None:
    """Rows that were read and left out.

    It is reported where `--missing drop` left out a row or more, since something in it is missing or unknown.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.2, None, 0.1], missing="drop")
    >>> print(*(each.sentence for each in report.findings if each.code == "BR016"))
    1 of 4 rows was dropped (score: 1 missing), a share of 0.25.
    """
    dropped, read = report.data["refused"], report.data["read"]
    if not dropped:
        return None
    sentence = (
        f"{number(dropped)} of {number(read)} rows {'was' if dropped == 1 else 'were'} dropped "
        f"({describe_reasons(report.data['reasons'])}), a share of {number(dropped / read)}."
    )
    return Said(sentence, {"dropped": dropped, "read": read, "share": dropped / read})


DROPPED = Check(
    code="BR016",
    title="Rows were dropped",
    severity="caution",
    why=(
        "All numbers describe the rows that remain. Incomplete rows often differ from the others in class or score; "
        "the numbers then describe another population."
    ),
    remedy="Find out why these rows are incomplete, and compare their share of positives with that of the others.",
    look=_rows_dropped,
    whole=True,
)


def _repeated_ids(report: Report) -> Said | None:
    """Rows that are not of different people.

    It is reported where rows were read with `--id`, and an id stands in more than one of them.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1], id=["a", "b", "a", "c"])
    >>> print(*(each.sentence for each in report.findings if each.code == "BR017"))
    1 of 4 rows has an id that an earlier row has, too.
    """
    rows = report.pick(part="data", measure="repeated_ids")
    if not rows or not rows[0]["value"]:
        return None
    many, total = rows[0]["value"], report.data["read"] - report.data["refused"]
    sentence = (
        f"{number(many)} of {number(total)} rows {'has' if many == 1 else 'have'} an id that an earlier row has, too."
    )
    return Said(sentence, {"repeated": many, "rows": total})


def _suggest_clusters(report: Report, _numbers: Mapping[str, Any]) -> Step | None:
    """Suggest intervals that take rows of one id together."""
    changes = current_threshold(report)
    if changes is None or not has_both_classes(report):
        return None
    return Step(verb="measure", changes=changes, options={"cluster": report.plan.id})


REPEATED = Check(
    code="BR017",
    title="Row ids repeat",
    severity="caution",
    why=(
        "Confidence intervals and p-values assume independent rows. Several rows of one person hold less information "
        "than rows of several people, so intervals are too narrow; and a row that was read twice counts twice."
    ),
    remedy="If rows with one id belong together, analyze them as a cluster. If they are copies, keep one of each.",
    look=_repeated_ids,
    suggest=_suggest_clusters,
    whole=True,
)
