"""Findings about groups: how far they lie apart beside chance, and which of them say little."""

from __future__ import annotations

from math import nan
from typing import Any

from baserate._plain_text import listed
from baserate._plurals import count_of
from baserate.infer._comparing._question import holm
from baserate.report._finding import Check, Said
from baserate.report._report import Report
from baserate.report._words import named, number


def _gaps(report: Report) -> Said | None:
    """Groups further apart than chance alone would take them.

    It is told of flag rate, sensitivity, false positive rate and precision: where the greatest difference between two
    groups is more than nineteen in twenty would be if groups were alike, and its p-value, adjusted by Holm's method for
    the four measures, is below one less the level.

    >>> import baserate
    >>> truth, score = [1] * 60 + [0] * 140, [0.8] * 50 + [0.3] * 10 + [0.1] * 140
    >>> other = [0.8] * 20 + [0.3] * 40 + [0.1] * 140
    >>> report = baserate.evaluate(truth * 2, score + other, group={"site": ["north"] * 200 + ["south"] * 200})
    >>> print(*(each.sentence for each in report.findings if each.code == "BR011"))
    Groups lie further apart than chance would take them: flag rate by 0.15 (site = north above site = south; chance
    0.0305) and sensitivity by 0.5 (site = north above site = south; chance 0.072).
    """
    rows = report.pick(part="gaps")
    adjusted = holm([nan if row["p"] is None else row["p"] for row in rows])
    beyond = [
        (row, p)
        for row, p in zip(rows, adjusted, strict=True)
        if p < 1 - report.plan.level and row["value"] > row["floor_high"]
    ]
    if not beyond:
        return None
    sentence = f"Groups lie further apart than chance would take them: {listed([_told(row) for row, _ in beyond])}."
    numbers: dict[str, Any] = {}
    for row, p in beyond:
        name = row["measure"]
        numbers |= {f"{name}_{what}": row[what] for what in ("floor", "floor_high")}
        numbers |= {name: row["value"], f"{name}_p": p}
        numbers |= {f"{name}_highest": named(row["group"]), f"{name}_lowest": named(row["other_group"])}
    return Said(sentence, numbers)


def _told(row: dict[str, Any]) -> str:
    ends = f"{named(row['group'])} above {named(row['other_group'])}"
    return f"{row['measure'].replace('_', ' ')} by {number(row['value'])} ({ends}; chance {number(row['floor'])})"


GAPS = Check(
    code="BR011",
    title="Groups lie further apart than chance",
    severity="caution",
    why=(
        "Numbers of everybody hide that decisions fall out differently for some. Whether that is right is not for a "
        "program to say: base rates, costs and what is owed to whom decide it."
    ),
    remedy=(
        "See all groups with their base rates and intervals: `baserate groups … --group …`. If some rate shall be "
        "equal, `baserate equalize … --parity …` finds the cheapest cut-offs that make it so, and tells what they "
        "cost whom."
    ),
    look=_gaps,
)


def _groups_too_small(report: Report) -> Said | None:
    """Groups that say little.

    It is told where the sensitivity or the false positive rate of a group rests on fewer than 30 rows, or on so few
    that a difference of 0.2 from all others would not show in four samples of five.

    >>> import baserate
    >>> truth, score, site = [1, 0, 0, 0] * 100, [0.8, 0.1, 0.2, 0.6] * 100, ["north"] * 190 + ["east"] * 190
    >>> report = baserate.evaluate(truth, score, group={"site": site + ["south"] * 20})
    >>> print(*(each.sentence for each in report.findings if each.code == "BR012"))
    Numbers of 1 of 3 groups rest on few rows; the smallest is site = south, with 5 positives.
    """
    small = report.pick(part="support", small=True)
    if not small:
        return None
    least = min(small, key=lambda row: float(row["value"]))
    many, total = len({str(row["group"]) for row in small}), len(report.groups)
    among = "positives" if least["measure"] == "sensitivity" else "negatives"
    sentence = (
        f"Numbers of {many} of {total} groups rest on few rows; the smallest is {named(least['group'])}, with "
        f"{count_of(least['value'], among.removesuffix('s'), shown=number(least['value']))}."
    )
    numbers = {"small": many, "groups": total, "smallest": named(least["group"]), among: least["value"]}
    return Said(sentence, numbers)


SMALL = Check(
    code="BR012",
    title="Some groups are small",
    severity="note",
    why=(
        "Numbers of few rows move far by chance alone: a small group may look like the others and be treated "
        "otherwise, or the other way round."
    ),
    remedy=(
        "Read their intervals, not their values; gather more rows of these groups, or group more coarsely. `baserate "
        "groups … --group …` tells the smallest difference that each would show."
    ),
    look=_groups_too_small,
    whole=True,
)
