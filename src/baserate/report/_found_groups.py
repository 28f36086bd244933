"""Findings about groups: which differ from the largest one, and which of them say little."""

from __future__ import annotations

from typing import Any

from baserate._formatting import format_level, format_p_phrase, join_words
from baserate.report._finding import Check, Said
from baserate.report._report import Report
from baserate.report._suggestions import suggest_groups
from baserate.report._words import counted, named, number

_MOST = 6
"""Differences that a sentence names; JSON holds all."""


def _group_differences(report: Report) -> Said | None:
    """Groups that differ from the largest one by more than chance.

    Each group is compared with the largest one in flag rate, sensitivity, false positive rate and precision. It is told
    of comparisons whose p-value is below one less the level, after Holm's adjustment over all groups and the four
    measures. Groups take part where their number rests on at least 30 rows: negatives for the false positive rate.

    >>> import baserate
    >>> truth, score = [1] * 60 + [0] * 140, [0.8] * 50 + [0.3] * 10 + [0.1] * 140
    >>> other = [0.8] * 20 + [0.3] * 40 + [0.1] * 140
    >>> report = baserate.evaluate(truth * 2, score + other, group={"site": ["north"] * 200 + ["south"] * 200})
    >>> print(*(each.sentence for each in report.findings if each.code == "BR011"))
    Compared in the sample with the largest group, site = north: sensitivity of site = south is 0.5 lower (95 % CI 0.33
    to 0.629, Holm-adjusted p < 0.0001) and flag rate of site = south is 0.15 lower (95 % CI 0.0761 to 0.223,
    Holm-adjusted p = 0.00019). p-values are adjusted for 3 comparisons, CIs are not.
    """
    tested = [row for row in report.pick(part="group_differences") if row["p_adjusted"] is not None]
    beyond = sorted(
        (row for row in tested if row["p_adjusted"] < 1 - report.plan.level),
        key=lambda row: (row["p_adjusted"], -abs(row["value"])),
    )
    if not beyond:
        return None
    references = dict.fromkeys(named(row["other_group"]) for row in beyond)
    one = next(iter(references)) if len(references) == 1 else None
    told = [_compared(row, report.plan.level, one) for row in beyond[:_MOST]]
    told += [f"{len(beyond) - _MOST} more"] * (len(beyond) > _MOST)
    begun = (
        f"Compared in the sample with the largest group, {one}:"
        if one
        else "Compared in the sample with the largest groups:"
    )
    sentence = f"{begun} {join_words(told)}. p-values are adjusted for {len(tested)} comparisons, CIs are not."
    numbers: dict[str, Any] = {"comparisons": len(tested)}
    for row in beyond:
        numbers |= _in_full(row)
    return Said(sentence, numbers | {"not_named": len(beyond) - _MOST} if len(beyond) > _MOST else numbers)


def _compared(row: dict[str, Any], level: float, reference: str | None) -> str:
    """One difference in words, as how much higher or lower a group is than its reference."""
    value, low, high = row["value"], row["low"], row["high"]
    side = "higher" if value > 0 else "lower"
    ends = (low, high) if value > 0 else (-high, -low)
    than = "" if reference else f" than of {named(row['other_group'])}"
    p = format_p_phrase(row["p_adjusted"], is_bound=row["p_is_bound"], name="Holm-adjusted p")
    interval = f"{format_level(level)} % CI {number(ends[0])} to {number(ends[1])}"
    measure = row["measure"].replace("_", " ")
    return f"{measure} of {named(row['group'])} is {number(abs(value))} {side}{than} ({interval}, {p})"


def _in_full(row: dict[str, Any]) -> dict[str, Any]:
    name = f"{row['measure']}[{named(row['group'])}]"
    kept = {f"{name}_{what}": row[what] for what in ("low", "high", "p", "p_adjusted")}
    return {name: row["value"], **kept, f"{name}_reference": named(row["other_group"])}


GAPS = Check(
    code="BR011",
    title="Groups differ by more than chance",
    severity="caution",
    why=(
        "Overall numbers hide that decisions differ between groups. A test says whether groups differ, not whether "
        "that is right: that depends on base rates, costs and obligations."
    ),
    remedy=(
        "Compare all groups, with their base rates and confidence intervals. To bound a disparity, choose group "
        "thresholds with the command equalize."
    ),
    look=_group_differences,
    suggest=suggest_groups,
)


def _groups_too_small(report: Report) -> Said | None:
    """Groups that say little.

    It is reported where the sensitivity or the false positive rate of a group rests on fewer than 30 rows, or on so
    few that a difference of 0.2 from all others would be detected with a power below 0.8.

    >>> import baserate
    >>> truth, score, site = [1, 0, 0, 0] * 100, [0.8, 0.1, 0.2, 0.6] * 100, ["north"] * 190 + ["east"] * 190
    >>> report = baserate.evaluate(truth, score, group={"site": site + ["south"] * 20})
    >>> print(*(each.sentence for each in report.findings if each.code == "BR012"))
    1 of 3 groups has few rows; the smallest is site = south, with 5 positives.
    """
    small = [row for row in report.pick(part="support", small=True) if row["measure"] in ("sensitivity", "fpr")]
    if not small:
        return None
    least = min(small, key=lambda row: float(row["value"]))
    many, total = len({str(row["group"]) for row in small}), len(report.groups)
    among = "positives" if least["measure"] == "sensitivity" else "negatives"
    sentence = (
        f"{many} of {total} groups {'has' if many == 1 else 'have'} few rows; the smallest is {named(least['group'])}, "
        f"with {counted(least['value'], among)}."
    )
    numbers = {"small": many, "groups": total, "smallest": named(least["group"]), among: least["value"]}
    return Said(sentence, numbers)


SMALL = Check(
    code="BR012",
    title="Some groups are small",
    severity="note",
    why=(
        "Estimates from few rows vary widely by chance. A small group may look like the others and be treated "
        "differently, or the other way round."
    ),
    remedy="Read their confidence intervals rather than their estimates, collect more rows, or merge groups.",
    look=_groups_too_small,
    suggest=suggest_groups,
    whole=True,
)
