"""Findings about the data: ties, classes, dropped rows, repeated ids, and groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baserate._formatting import format_level, format_p_phrase, format_percent, join_words
from baserate._results import estimate_of
from baserate._tally import describe_reasons
from baserate.report._commands import Step, has_both_classes
from baserate.report._findings import (
    Check,
    Evidence,
    current_threshold,
    defined_estimate,
    evidence_numbers,
    format_group,
    format_rate,
    format_short,
    format_things,
    suggest_groups,
    suggest_other_class,
)
from baserate.report._report import Report

_TIED_PAIRS, _LARGEST_TIE = 0.02, 0.1
_DISTINCT, _ROWS_PER_SCORE = 20, 10
"""Scores below the first look rounded, if each stands for as many rows as the second."""


@Check(
    code="BR013",
    title="Many rows share a score",
    severity="note",
    panel="scores",
    why=(
        "Tied scores do not order the rows that share them. No threshold lies between such rows, a small change of a "
        "threshold moves many rows at once, and tools that break ties differently report different AUCs."
    ),
    remedy="Evaluate the unrounded scores if there are any. Otherwise choose among the the command's thresholds.",
    suggest=lambda _report, _numbers: Step(verb="curve roc"),
)
def find_ties(report: Report) -> Evidence | None:
    r"""Scores with many ties.

    It is reported where more than 0.02 of the pairs of a positive and a negative have the same score; or 0.1 of the
    rows or more share one; or there are fewer than 20 distinct scores, with ten rows or more for each. Predicted
    labels are excluded.

    >>> import baserate
    >>> report = baserate.evaluate([1, 1, 0, 0] * 25, [0.8, 0.4, 0.4, 0.2] * 25)
    >>> finding = next(each for each in report.findings if each.code == "BR013")
    >>> print(finding.headline, finding.sentence, sep="\n")
    100 rows with only 3 distinct scores
    50.0% of the rows share one score, and 25.0% of the pairs of a positive and a negative are tied.
    """
    names = ("rows", "distinct_scores", "largest_tie", "tied_pairs")
    estimates = [defined_estimate(report.here, name) for name in names]
    rows, distinct, largest, pairs = (each.value if each else 0.0 for each in estimates)
    # In a small sample one untied row is a large share of the rows: a tie needs two rows.
    heavy = largest >= _LARGEST_TIE and largest * rows > 1.5
    if not (pairs > _TIED_PAIRS or heavy or (0 < distinct < _DISTINCT and rows >= _ROWS_PER_SCORE * distinct)):
        return None
    sentence = (
        f"{format_percent(largest)} of the rows share one score, and {format_percent(pairs)} of the pairs of a "
        "positive and a negative are tied."
    )
    numbers = {"rows": rows, "distinct_scores": distinct, "largest_tie": largest, "tied_pairs": pairs}
    headline = f"{format_things(rows, 'rows')} with only {format_things(distinct, 'distinct scores')}"
    return Evidence(sentence, numbers, headline)


@Check(
    code="BR015",
    title="The positive class is the majority",
    severity="note",
    panel="thousand",
    why=(
        "The positive class usually is the one that is looked for, and rare. If the classes are swapped, so are "
        "sensitivity and specificity, and PPV is that of the other class."
    ),
    remedy="If the other class is the one to detect, name it as the positive class, as in the command.",
    suggest=suggest_other_class,
    whole=True,
)
def find_positive_majority(report: Report) -> Evidence | None:
    r"""More positives than negatives.

    It is reported where more than half of the rows are positive.

    >>> import baserate
    >>> report = baserate.evaluate(["no"] * 30 + ["yes"] * 10, [0.9] * 30 + [0.1] * 10, positive="no")
    >>> finding = next(each for each in report.findings if each.code == "BR015")
    >>> print(finding.headline, finding.sentence, sep="\n")
    The positive class, 'no', is the majority: 75.0% of the rows
    The share of the positive class, 'no', is 75.0% (95% CI 58.8% to 87.3%).
    """
    shares = report.select(part="data", measure="prevalence", group=None, where="here")
    rows = [row for row in shares if (row["value"] or 0) > 0.5]
    if not rows:
        return None
    most = max(rows, key=lambda row: float(row["value"]))
    share, of = estimate_of(most), f" of {most['model']}" if report.plan.apart else ""
    positive = f"positive class, {report.data['positive']!r},"
    sentence = f"The share of the {positive} is {format_rate(share)}{of}."
    headline = f"The {positive} is the majority: {format_percent(share.value)} of the rows{of}"
    return Evidence(sentence, evidence_numbers(prevalence=share), headline)


@Check(
    code="BR016",
    title="Rows were dropped",
    severity="caution",
    panel="findings",
    why=(
        "All numbers describe the rows that remain. Incomplete rows often differ from the others in class or score; "
        "the numbers then describe another population."
    ),
    remedy="Find out why these rows are incomplete, and compare their share of positives with that of the others.",
    whole=True,
)
def find_dropped_rows(report: Report) -> Evidence | None:
    r"""Rows that were dropped.

    It is reported where `--missing drop` left out one row or more with a missing or unknown value.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.2, None, 0.1], missing="drop")
    >>> finding = next(each for each in report.findings if each.code == "BR016")
    >>> print(finding.headline, finding.sentence, sep="\n")
    1 of 4 rows (25.0%) was dropped
    Reasons: score: 1 missing. 3 of 4 rows remain.
    """
    dropped, read = report.data["refused"], report.data["read"]
    if not dropped:
        return None
    total, verb = format_short(read), "was" if dropped == 1 else "were"
    return Evidence(
        f"Reasons: {describe_reasons(report.data['reasons'])}. {format_short(read - dropped)} of {total} rows remain.",
        {"dropped": dropped, "read": read, "share": dropped / read, "remaining": read - dropped},
        f"{format_short(dropped)} of {total} rows ({format_percent(dropped / read)}) {verb} dropped",
    )


def _suggest_clusters(report: Report, _numbers: Mapping[str, Any]) -> Step | None:
    """Suggest intervals that take rows of one id together."""
    changes = current_threshold(report)
    if changes is None or not has_both_classes(report):
        return None
    return Step(verb="measure", changes=changes, options={"cluster": report.plan.id})


@Check(
    code="BR017",
    title="Row ids repeat",
    severity="caution",
    panel="findings",
    why=(
        "Confidence intervals and p-values assume independent rows. Several rows of one person contain less "
        "information than rows of several people, so intervals are too narrow. A row that was read twice counts twice."
    ),
    remedy="If rows with one id belong together, analyze them as clusters, as in the command. Of copies, keep one.",
    suggest=_suggest_clusters,
    whole=True,
)
def find_repeated_ids(report: Report) -> Evidence | None:
    r"""Row ids that occur more than once.

    It is reported where rows were read with `--id`, and an id occurs in more than one of them.

    >>> import baserate
    >>> report = baserate.evaluate([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1], id=["a", "b", "a", "c"])
    >>> finding = next(each for each in report.findings if each.code == "BR017")
    >>> print(finding.headline, finding.sentence, sep="\n")
    1 of 4 rows repeats the id of another
    1 of 4 rows has the id of an earlier row, so confidence intervals may be too narrow.
    """
    rows = report.select(part="data", measure="repeated_ids")
    if not rows or not rows[0]["value"]:
        return None
    many, total = rows[0]["value"], report.data["read"] - report.data["refused"]
    count, verb = f"{format_short(many)} of {format_short(total)} rows", "has" if many == 1 else "have"
    sentence = f"{count} {verb} the id of an earlier row, so confidence intervals may be too narrow."
    return Evidence(
        sentence, {"repeated": many, "rows": total}, f"{count} {'repeats' if many == 1 else 'repeat'} the id of another"
    )


_MAX_DIFFERENCES = 6
"""Differences that a sentence names; JSON holds all."""
_ERROR_RATES = ("fpr", "sensitivity")
"""Rates within a class come first: unlike the others they do not differ because base rates do."""
_TERMS = {"fpr": "FPR", "sensitivity": "sensitivity", "precision": "PPV", "flag_rate": "flag rate"}


@Check(
    code="BR011",
    title="Groups differ by more than chance",
    severity="caution",
    panel="groups",
    why=(
        "Overall numbers hide that decisions differ between groups. A test says whether groups differ, not whether "
        "that is right: that depends on base rates, costs and obligations."
    ),
    remedy=(
        "Compare all groups, with their base rates and confidence intervals. To bound a disparity, choose group "
        "thresholds with the command equalize."
    ),
    suggest=suggest_groups,
)
def find_group_differences(report: Report) -> Evidence | None:
    r"""Groups that differ from the reference group by more than chance.

    Each group is compared with the reference group, by default the largest one, in flag rate, sensitivity, false
    positive rate and precision. It is reported for comparisons whose p-value is below one less the level, after Holm's
    adjustment over all groups and the four measures. Only groups with at least 50 rows for a measure are compared:
    negatives for the false positive rate. The first sentence is about the group with the strongest evidence for
    different error rates.

    >>> import baserate
    >>> truth, score = [1] * 60 + [0] * 140, [0.8] * 50 + [0.3] * 10 + [0.1] * 140
    >>> other = [0.8] * 20 + [0.3] * 40 + [0.1] * 140
    >>> report = baserate.evaluate(truth * 2, score + other, group={"site": ["north"] * 200 + ["south"] * 200})
    >>> finding = next(each for each in report.findings if each.code == "BR011")
    >>> print(finding.headline, finding.sentence, sep="\n")
    Sensitivity is 50.0 points lower in site = south than in site = north
    Sensitivity is 50.0 points lower in site = south than in site = north (33.3% vs 83.3%, 95% CI of the difference
    33.0 to 62.9 points, Holm p < 0.0001). Also in the sample: flag rate 15.0 points lower in site = south (7.6 to 22.3
    points, Holm p = 0.00019). p-values are adjusted for 3 comparisons, CIs are not.
    """
    # All comparisons count for the adjustment that the sentence states, also those that are not significant.
    tested = [row for row in report.select(part="group_differences") if row["p_adjusted"] is not None]
    # The strongest evidence first: a sentence lists only the first few differences.
    significant = sorted(
        (row for row in tested if row["p_adjusted"] < 1 - report.plan.level),
        key=lambda row: (row["p_adjusted"], -abs(row["value"])),
    )
    if not significant:
        return None
    main = _main_differences(significant)
    others = [row for row in significant if row not in main]
    named = others[: _MAX_DIFFERENCES - len(main)]
    omitted = len(others) - len(named)
    parts = [*(_describe_other(row, main[0]) for row in named), *[f"{omitted} more"] * bool(omitted)]
    further = f" Also in the sample: {join_words(parts)}." if parts else ""
    sentence = (
        f"{_describe_main(report, main)}.{further} p-values are adjusted for {len(tested)} comparisons, CIs are not."
    )
    numbers: dict[str, Any] = {"comparisons": len(tested)}
    for row in significant:
        numbers |= _difference_numbers(row)
    for row in main:
        name = _number_name(row)
        own, other = (_rate_of(report, row[end], row["measure"]) for end in ("group", "other_group"))
        numbers |= {f"{name}_rate": own, f"{name}_reference_rate": other}
    place = f"in {format_group(main[0]['group'])} than in {format_group(main[0]['other_group'])}"
    headline = f"{_TERMS[main[0]['measure']]} is {_describe_size(main[0])} {place}"
    headline = headline[0].upper() + headline[1:]
    return Evidence(sentence, numbers | {"not_named": omitted} if omitted else numbers, headline)


def _main_differences(significant: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the differences in error rates of the group with the strongest evidence, or else the strongest one."""
    rates = [row for row in significant if row["measure"] in _ERROR_RATES]
    if not rates:
        return significant[:1]
    pair = rates[0]["group"], rates[0]["other_group"]
    own = [row for row in rates if (row["group"], row["other_group"]) == pair]
    return sorted(own, key=lambda row: _ERROR_RATES.index(row["measure"]))


def _describe_main(report: Report, rows: list[dict[str, Any]]) -> str:
    """Describe the main differences, each with both rates, its interval and its p-value."""
    first, level = rows[0], format_level(report.plan.level)
    place = f" in {format_group(first['group'])} than in {format_group(first['other_group'])}"
    parts = []
    for at, row in enumerate(rows):
        ends = (_rate_of(report, row[end], row["measure"]) for end in ("group", "other_group"))
        rates = " vs ".join(map(format_percent, ends))
        interval = f"{level}% CI of the difference {_format_interval(row)}"
        details = f"({rates}, {interval}, {_describe_p(row)})"
        parts.append(f"{_TERMS[row['measure']]} is {_describe_size(row)}{'' if at else place} {details}")
    sentence = join_words(parts)
    return sentence[0].upper() + sentence[1:]


def _describe_other(row: dict[str, Any], main: dict[str, Any]) -> str:
    """Describe a further difference; the reference group only where it is another one."""
    than = "" if row["other_group"] == main["other_group"] else f" than in {format_group(row['other_group'])}"
    size = f"{_TERMS[row['measure']]} {_describe_size(row)} in {format_group(row['group'])}{than}"
    return f"{size} ({_format_interval(row)}, {_describe_p(row)})"


def _describe_size(row: dict[str, Any]) -> str:
    """Describe how many percentage points higher or lower a rate is."""
    return f"{100 * abs(row['value']):.1f} points {'higher' if row['value'] > 0 else 'lower'}"


def _format_interval(row: dict[str, Any]) -> str:
    """Format the interval of the size of a difference."""
    ends = (row["low"], row["high"]) if row["value"] > 0 else (-row["high"], -row["low"])
    low, high = (f"{100 * end:.1f}".replace("-", "−") for end in ends)
    return f"{low} to {high} points"


def _describe_p(row: dict[str, Any]) -> str:
    """Describe Holm's p-value."""
    return format_p_phrase(row["p_adjusted"], is_bound=row["p_is_bound"], name="Holm p")


def _rate_of(report: Report, group: Mapping[str, object], measure: str) -> float:
    """Return a rate of a group in the sample."""
    view = report.within(**group).here
    return float(1 - view.specificity.value if measure == "fpr" else view[measure].value)


def _number_name(row: dict[str, Any]) -> str:
    """Return the name of a difference among the numbers of the finding."""
    return f"{row['measure']}[{format_group(row['group'])}]"


def _difference_numbers(row: dict[str, Any]) -> dict[str, Any]:
    """Return a difference with its interval and p-values, under names that contain the measure and the group."""
    name = _number_name(row)
    details = {f"{name}_{what}": row[what] for what in ("low", "high", "p", "p_adjusted")}
    return {name: row["value"], **details, f"{name}_reference": format_group(row["other_group"])}


@Check(
    code="BR012",
    title="Some groups are small",
    severity="note",
    panel="groups",
    why=(
        "Estimates from few rows vary widely by chance. A small group may look like the others and be treated "
        "differently, or the other way round."
    ),
    remedy="Read their confidence intervals rather than their estimates, collect more rows, or merge groups.",
    suggest=suggest_groups,
    whole=True,
)
def find_small_groups(report: Report) -> Evidence | None:
    r"""Groups with few rows.

    It is reported where the sensitivity or the false positive rate of a group has fewer than 50 rows, or so few that a
    difference of 0.2 from all others would be detected with a power below 0.8.

    >>> import baserate
    >>> truth, score, site = [1, 0, 0, 0] * 130, [0.8, 0.1, 0.2, 0.6] * 130, ["north"] * 250 + ["east"] * 250
    >>> report = baserate.evaluate(truth, score, group={"site": site + ["south"] * 20})
    >>> finding = next(each for each in report.findings if each.code == "BR012")
    >>> print(finding.headline, finding.sentence, sep="\n")
    1 of 3 groups has few rows; site = south has 5 positives
    The smallest group is site = south, with 5 positives.
    """
    small = [row for row in report.select(part="support", small=True) if row["measure"] in ("sensitivity", "fpr")]
    if not small:
        return None
    least = min(small, key=lambda row: float(row["value"]))
    many, total = len({str(row["group"]) for row in small}), len(report.groups)
    among = "positives" if least["measure"] == "sensitivity" else "negatives"
    name, size = format_group(least["group"]), format_things(least["value"], among)
    numbers = {"small": many, "groups": total, "smallest": name, among: least["value"]}
    headline = f"{many} of {total} groups {'has' if many == 1 else 'have'} few rows; {name} has {size}"
    return Evidence(f"The smallest group is {name}, with {size}.", numbers, headline)
