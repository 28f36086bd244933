"""Findings about the rows: what was left out, what repeats, and which class is which."""

from __future__ import annotations

from baserate._intake import told
from baserate.report._finding import Check, Said
from baserate.report._report import Report, estimate_of
from baserate.report._words import in_full, known, number, ranged

_TIED_PAIRS, _LARGEST_TIE = 0.02, 0.1
_DISTINCT, _EACH = 20, 10
"""Scores below the first look rounded, if each stands for as many rows as the second."""


def _ties(report: Report) -> Said | None:
    """Scores that order few rows.

    It is told where more than 0.02 of the pairs of a positive and a negative have the same score; or 0.1 of the rows or
    more share one; or there are fewer than 20 distinct scores, with ten rows or more for each. Labels are no scores.

    >>> import baserate
    >>> report = baserate.evaluate([1, 1, 0, 0] * 25, [0.8, 0.4, 0.4, 0.2] * 25)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR013"))
    100 rows have 3 distinct scores: the commonest is that of 0.5 of them, and of pairs of a positive and a negative
    0.25 tie.
    """
    found = [known(report.here, name) for name in ("rows", "distinct_scores", "largest_tie", "tied_pairs")]
    rows, distinct, largest, pairs = (each.value if each else 0.0 for each in found)
    # One row of nine is a ninth of them, and no tie.
    heavy = largest >= _LARGEST_TIE and largest * rows > 1.5
    if not (pairs > _TIED_PAIRS or heavy or (0 < distinct < _DISTINCT and rows >= _EACH * distinct)):
        return None
    sentence = (
        f"{number(rows)} rows have {number(distinct)} distinct scores: the commonest is that of {number(largest)} of "
        f"them, and of pairs of a positive and a negative {number(pairs)} tie."
    )
    return Said(sentence, {"rows": rows, "distinct_scores": distinct, "largest_tie": largest, "tied_pairs": pairs})


TIES = Check(
    code="BR013",
    title="Many scores are the same",
    severity="note",
    why=(
        "Scores that were rounded, or of few levels, do not order the rows that share one: cut-offs between them do "
        "not exist, small changes of a cut-off move many rows at once, and tools that break ties otherwise differ in "
        "AUC."
    ),
    remedy=(
        "Keep the scores as the model gave them, unrounded, and judge these; where there are only few levels, "
        "`baserate curve roc …` lists all the cut-offs that there are."
    ),
    look=_ties,
)


def _positive_majority(report: Report) -> Said | None:
    """More positives than negatives.

    It is told where more than half of the rows are positive.

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
        "Positive usually names what is looked for, which is rare. If the classes are named the wrong way round, "
        "sensitivity and specificity have changed places, and precision is that of the other class."
    ),
    remedy="If the other class is the one that is looked for, name it: `--positive LABEL`. Otherwise nothing is wrong.",
    look=_positive_majority,
    whole=True,
)


def _rows_dropped(report: Report) -> Said | None:
    """Rows that were read and left out.

    It is told where `--missing drop` left out a row or more, since something in it is missing or unknown.

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
        f"({told(report.data['reasons'])}), a share of {number(dropped / read)}."
    )
    return Said(sentence, {"dropped": dropped, "read": read, "share": dropped / read})


DROPPED = Check(
    code="BR016",
    title="Rows were dropped",
    severity="caution",
    why=(
        "All numbers are of the rows that are left. Rows in which something is missing are seldom like the others: "
        "where they differ in class or score, the numbers are of another population."
    ),
    remedy=(
        "Find out why they are incomplete, and compare the shares of positives among them. `--missing refuse` stops "
        "instead of dropping."
    ),
    look=_rows_dropped,
    whole=True,
)


def _repeated_ids(report: Report) -> Said | None:
    """Rows that are not of different people.

    It is told where rows were read with `--id`, and an id stands in more than one of them.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1], id=["a", "b", "a", "c"])
    >>> print(*(each.sentence for each in report.findings if each.code == "BR017"))
    1 of 4 rows has an id that stands in a row before it.
    """
    rows = report.pick(part="data", measure="repeated_ids")
    if not rows or not rows[0]["value"]:
        return None
    many, total = rows[0]["value"], report.data["read"] - report.data["refused"]
    told_ids = (
        "has an id that stands in a row before it" if many == 1 else "have an id that stands in a row before them"
    )
    return Said(f"{number(many)} of {number(total)} rows {told_ids}.", {"repeated": many, "rows": total})


REPEATED = Check(
    code="BR017",
    title="Ids repeat",
    severity="caution",
    why=(
        "Intervals and p-values take rows for independent. Several rows of one person say less than as many of "
        "several people, so that intervals are too narrow; and a row that was read twice counts twice."
    ),
    remedy=(
        "If rows of one id belong together, give it as a cluster: `baserate measure … --cluster ID`, `baserate "
        "compare … --cluster ID`. If they are copies, keep one of each."
    ),
    look=_repeated_ids,
    whole=True,
)
