"""Tidy numbers on requirements -> a page: what is required, what was found, whether it holds, and by how much."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from baserate._formatting import count_of, format_count, format_exact, format_level, format_number, join_words
from baserate._results import Results
from baserate.text import (
    EVERYBODY,
    Cell,
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    describe_actions,
    estimate_cell,
    interval_footnotes,
    interval_heading,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._policy import Policy

Line = Mapping[str, Any]

_SIGNS = {">=": "≥", "<=": "≤"}
_MARKS = {"holds": "✓ holds", "fails": "✗ fails", "undecided": "? undecided"}
_WORDS = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "undecided": ("is undecided", "are undecided")}
"""Verdict -> what one does, and what several do."""
_COLUMNS = ("verdict", "margin", "rows needed")
_NEEDED = "rows needed: how many rows like these would decide, if the value stays what it is."


def page(found: Results, policy: "Policy", line: str, digits: int) -> Page:
    """Lay the verdicts out."""
    rows, reasons = found.rows(), Footnotes()
    models = list(dict.fromkeys(row["model"] for row in rows))
    panels: list[Table | str] = [decided(policy, [shorten_label(name) for name in found.data["policies"]])]
    for model in models:
        of_model = [row for row in rows if row["model"] == model]
        sections = tuple(_sections(of_model, reasons, digits))
        corner = "required" if model is None else f"required of {shorten_label(model)}"
        panels.append(_without_empty(Table(corner, (interval_heading(found.data), *_COLUMNS), sections)))
    kept = "the value" if found.data["on"] == "estimate" else "the bound of the interval"
    told = [f"margin: by how much {kept} keeps what is required; below 0 it does not."]
    told += [_NEEDED] * any(row["rows_needed"] for row in rows)
    notes = (*reasons.footnotes(), *interval_footnotes(rows, found.data), *told)
    return Page(line, (*panels, verdict(found)), notes)


def verdict(found: Results) -> str:
    """All of it in a sentence."""
    many, level = Counter(found.columns["verdict"]), format_level(found.data["interval"]["level"])
    alone = len(found) == 1
    bounds = (f"the bounds of {level} % intervals", f"the bound of its {level} % interval")
    by = bounds if found.data["on"] == "bound" else ("the values alone", "its value alone")
    parts = [f"{many[name]} {words[many[name] > 1]}" for name, words in _WORDS.items() if many[name]]
    told = f"{'Not all' if many['holds'] else 'None'} of it holds: {join_words(parts)}"
    if alone:
        told = f"It {_WORDS[found.columns['verdict'][0]][0]}"
    elif found.data["holds"]:
        told = "All of it holds"
    return f"{told}, by {by[alone]}."


def decided(policy: "Policy", models: Sequence[str]) -> str:
    """What is done, in a sentence."""
    after = "" if policy.map is None else f", chosen behind a map ({policy.map.method})"
    if policy.needs_group:
        lots = ", some of them by lot" if policy.needs_id else ""
        groups = f"{count_of(len(policy.by_group), 'group')} by {', '.join(map(shorten_label, policy.attributes))}"
        return f"Decided for each of {groups}{lots}{after}."
    if policy.needs_id:
        return f"Decided by lot between cut-offs{after}."
    return f"{describe_actions(' and '.join(models), policy.cut.thresholds, policy.cut.actions)}{after}."


def _sections(rows: Sequence[Line], reasons: Footnotes, digits: int) -> Iterator[Section]:
    """All requirements, or with groups one section for each."""
    if all(row["group"] is None for row in rows):
        yield Section("", tuple(Row(_required(row), _cells(row, reasons, digits)) for row in rows))
        return
    for requirement in dict.fromkeys(row["requirement"] for row in rows):
        alike = [row for row in rows if row["requirement"] == requirement]
        lines = tuple(Row(group_told(row["group"]), _cells(row, reasons, digits)) for row in alike)
        yield Section(_required(alike[0]), lines)


def _without_empty(panel: Table) -> Table:
    """Leave out the rows needed, the last column, where nothing is undecided."""
    rows = [row for section in panel.sections for row in section.rows]
    if any(row.cells[-1] for row in rows):
        return panel
    sections = (
        replace(section, rows=tuple(replace(row, cells=row.cells[:-1]) for row in section.rows))
        for section in panel.sections
    )
    return replace(panel, columns=panel.columns[:-1], sections=tuple(sections))


def _cells(row: Line, reasons: Footnotes, digits: int) -> tuple[Cell, ...]:
    value = estimate_cell(row, reasons, digits=digits, several=True)
    # All as long, so that the marks stand under each other.
    return value, f"{_MARKS[row['verdict']]:11}", _margin(row["margin"], digits), _needed(row, reasons)


def _margin(value: float | None, digits: int) -> str:
    if value is None:
        return ""
    return f"{'+' if value > 0 else ''}{format_number(value, max(digits - 1, 1))}"


def _needed(row: Line, reasons: Footnotes) -> str:
    if row["rows_needed"] is not None:
        return format_count(row["rows_needed"], 4)
    unknown = row["verdict"] == "undecided" and row["margin"] is not None
    return reasons.undefined(row["why"]) if unknown else ""


def _required(row: Line) -> str:
    return f"{row['measure'].replace('_', ' ')} {_SIGNS[row['sense']]} {format_exact(row['bound'])}"


def group_told(group: Mapping[str, object] | None) -> str:
    """Name a group by its labels."""
    named = ", ".join(map(shorten_label, (group or {}).values()))
    return EVERYBODY if group is None else repr(named) if named == EVERYBODY else named
