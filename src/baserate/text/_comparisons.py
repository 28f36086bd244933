"""Page of comparisons of models: a line for each measure, with both values, the difference and its p-value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from baserate._formatting import format_exact, format_level, format_p, unadjusted_note
from baserate._results import Results
from baserate.decide import describe_costs
from baserate.text._pivot import CellFormatter, CellWriter, TidyRow, describe_group, list_table, measure_label
from baserate.text._tables import Cell, Explanation, Page, shorten_label

DIGITS = 4
"""Significant digits of printed comparisons."""


def comparison_page(results: Results, headline: str, digits: int = DIGITS) -> Page:
    """Return the page of comparisons: a line for each measure, a section for each pair of models and group.

    Parameters
    ----------
    results
        Rows of `infer.tabulate_comparisons`.
    headline
        What was read; costs and thresholds are added.
    digits
        Significant digits.
    """
    rows, format_ = results.rows(), CellFormatter(digits)
    pairs = list(dict.fromkeys((row["model"], row["other"]) for row in rows))
    grouped = any(row["group"] for row in rows)

    def section(row: TidyRow) -> str:
        pair = [" − ".join(map(shorten_label, (row["model"], row["other"])))] if len(pairs) > 1 else []
        return ", ".join(pair + [describe_group(row["group"])] * grouped)

    def number(name: str, row: TidyRow) -> Cell:
        return format_.mark_undefined(row["why"]) if row[name] is None else format_.number(row[name])

    def difference(row: TidyRow) -> Cell:
        return format_.estimate({**row, "value": row["difference"]})

    heads = pairs[0] if len(pairs) == 1 else ("first", "second")
    names = list(map(shorten_label, heads)) if heads[0] != heads[1] else ["first", "second"]
    columns: dict[str, CellWriter] = {
        names[0]: partial(number, "value"),
        names[1]: partial(number, "other_value"),
        "difference": difference,
        "p": lambda row: format_p(row["p"], digits, is_bound=row["p_is_bound"]),
    }
    if len(rows) > 1:
        columns["Holm-adjusted p"] = lambda row: format_p(row["p_adjusted"], digits, is_bound=row["p_is_bound"])
    ordered = sorted(rows, key=lambda row: (pairs.index((row["model"], row["other"])), _place_of_group(rows, row)))
    table = list_table(ordered, columns, label=lambda row: measure_label(row["measure"], results.data), section=section)
    footnotes = (*format_.reasons.footnotes(), *_footnotes(rows, results.data))
    return Page(_describe_setting(headline, results), (table,), footnotes)


def _place_of_group(rows: Sequence[TidyRow], row: TidyRow) -> int:
    """Return the place of the first row with the same group."""
    return next(at for at, each in enumerate(rows) if each["group"] == row["group"])


def _describe_setting(headline: str, results: Results) -> str:
    """Add the costs and the thresholds of all models to a headline."""
    data = results.data
    costs = [] if data.get("costs") is None else [f"costs: {describe_costs(data)}"]
    thresholds = data.get("thresholds", {}).items()
    cuts = [f"{shorten_label(name)} ≥ {format_exact(at)}" for name, at in thresholds if at is not None]
    return " · ".join([headline, *costs, *([f"thresholds: {', '.join(cuts)}"] if cuts else [])])


def _footnotes(rows: Sequence[TidyRow], data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the alternative hypothesis, and the methods of tests and intervals: by measure where they differ."""
    yield from dict.fromkeys(filter(None, (_describe_alternative(row, data) for row in rows)))
    by_method: dict[str, dict[str, None]] = {}
    for row in rows:
        by_method.setdefault(_describe_test(row), {})[measure_label(row["measure"], data)] = None
    every = {measure_label(row["measure"], data) for row in rows}
    for text, measures in by_method.items():
        if text:
            yield Explanation(
                text if measures.keys() == every else f"{', '.join(measures)}: {text}", brief=_level(rows)
            )
    tested = [row for row in rows if row["p"] is not None]
    if len(rows) > 1 and tested:
        note = unadjusted_note(tested[0]["level"])
        yield f"Holm-adjusted p: over all {len(tested)} comparisons of this table. {note}"


def _level(rows: Sequence[TidyRow]) -> str:
    """Return the level of intervals in a sentence; empty without intervals."""
    level = next((row["level"] for row in rows if row["level"] is not None), None)
    return "" if level is None else f"Intervals: {format_level(level)}% confidence."


def _describe_test(row: TidyRow) -> str:
    """Describe the test and the interval, without numbers of rows that differ between pairs."""
    if row["test"] is None:
        return ""
    test = row["test"].partition(":")[0] if row["test"].startswith("McNemar") else row["test"]
    level = f"{format_level(row['level'])}% interval"
    return f"p and {level}: {test}." if test == row["how"] else f"p: {test}. {level}: {row['how']}."


def _describe_alternative(row: TidyRow, data: Mapping[str, Any]) -> str:
    """Describe a one-sided alternative hypothesis."""
    side, margin = row["alternative"], row["margin"]
    if side == "two-sided":
        return ""
    # 0.0 − margin rather than −margin, so that a margin of 0 has no sign.
    bound = format_exact(margin if side == "less" else 0.0 - margin)
    where = "below" if side == "less" else "above"
    return f"Alternative hypothesis: the difference in {measure_label(row['measure'], data)} is {where} {bound}."
