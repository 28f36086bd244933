"""`baserate check`: requirements on measures, and a page of the verdicts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._formatting import count_of, format_count, format_exact, format_level, format_number, join_words
from baserate.cli._declarations import Output, command, omit, option
from baserate.cli._errors import UNMET
from baserate.cli._io import adjusted_headline, describe_adjustment, print_messages, print_results, read_tallies
from baserate.cli._options import Intervals, MeasureSettings, Prevalence, Reading, RequiredIntervals
from baserate.cli._terminal import print_message
from baserate.cli._values import read_threshold
from baserate.text import (
    EVERYBODY,
    Cell,
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    estimate_cell,
    interval_footnotes,
    interval_heading,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._policy import Policy
    from baserate._results import Results
    from baserate.decide import Requirement

Line = Mapping[str, Any]

_SIGNS = {">=": "≥", "<=": "≤"}
_MARKS = {"holds": "✓ holds", "fails": "✗ fails", "undecided": "? undecided"}
_WORDS = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "undecided": ("is undecided", "are undecided")}
"""Verdict -> what one does, and what several do."""
_COLUMNS = ("verdict", "margin", "rows needed")
_NEEDED = "rows needed: how many rows like these would decide, if the value stays what it is."


def check_page(results: "Results", policy: "Policy", line: str, digits: int) -> Page:
    """Lay the verdicts out."""
    rows, reasons = results.rows(), Footnotes()
    models = list(dict.fromkeys(row["model"] for row in rows))
    panels: list[Table | str] = [
        describe_policy_in_use(policy, [shorten_label(name) for name in results.data["policies"]])
    ]
    for model in models:
        of_model = [row for row in rows if row["model"] == model]
        sections = tuple(_sections(of_model, reasons, digits))
        corner = "required" if model is None else f"required of {shorten_label(model)}"
        panels.append(_without_empty(Table(corner, (interval_heading(results.data), *_COLUMNS), sections)))
    criterion = "the value" if results.data["on"] == "estimate" else "the bound of the interval"
    legend = [f"margin: by how much {criterion} keeps what is required; below 0 it does not."]
    legend += [_NEEDED] * any(row["rows_needed"] for row in rows)
    notes = (*reasons.footnotes(), *interval_footnotes(rows, results.data), *legend)
    return Page(line, (*panels, describe_verdict(results)), notes)


def describe_verdict(results: "Results") -> str:
    """All of it in a sentence."""
    many, level = Counter(results.columns["verdict"]), format_level(results.data["interval"]["level"])
    alone = len(results) == 1
    bounds = (f"the bounds of {level} % intervals", f"the bound of its {level} % interval")
    by = bounds if results.data["on"] == "bound" else ("the values alone", "its value alone")
    parts = [f"{many[name]} {words[many[name] > 1]}" for name, words in _WORDS.items() if many[name]]
    text = f"{'Not all' if many['holds'] else 'None'} of it holds: {join_words(parts)}"
    if alone:
        text = f"It {_WORDS[results.columns['verdict'][0]][0]}"
    elif results.data["holds"]:
        text = "All of it holds"
    return f"{text}, by {by[alone]}."


def describe_policy_in_use(policy: "Policy", models: Sequence[str]) -> str:
    """What is done, in a sentence."""
    from baserate.text import describe_actions  # which loads NumPy

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
        yield Section("", tuple(Row(_format_requirement(row), _cells(row, reasons, digits)) for row in rows))
        return
    for requirement in dict.fromkeys(row["requirement"] for row in rows):
        alike = [row for row in rows if row["requirement"] == requirement]
        lines = tuple(Row(format_group(row["group"]), _cells(row, reasons, digits)) for row in alike)
        yield Section(_format_requirement(alike[0]), lines)


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
    return value, f"{_MARKS[row['verdict']]:11}", _margin_cell(row["margin"], digits), _rows_needed_cell(row, reasons)


def _margin_cell(value: float | None, digits: int) -> str:
    if value is None:
        return ""
    return f"{'+' if value > 0 else ''}{format_number(value, max(digits - 1, 1))}"


def _rows_needed_cell(row: Line, reasons: Footnotes) -> str:
    if row["rows_needed"] is not None:
        return format_count(row["rows_needed"], 4)
    unknown = row["verdict"] == "undecided" and row["margin"] is not None
    return reasons.mark_undefined(row["why"]) if unknown else ""


def _format_requirement(row: Line) -> str:
    return f"{row['measure'].replace('_', ' ')} {_SIGNS[row['sense']]} {format_exact(row['bound'])}"


def format_group(group: Mapping[str, object] | None) -> str:
    """Name a group by its labels."""
    named = ", ".join(map(shorten_label, (group or {}).values()))
    return EVERYBODY if group is None else repr(named) if named == EVERYBODY else named


_EXAMPLES = (
    (
        "a policy, in CI: exit code 1 unless the confidence bounds comply",
        "baserate check new.csv --policy policy.json --require 'sensitivity >= 0.9, precision >= 20%'",
    ),
    (
        "a threshold, at a prevalence of 2 %",
        "baserate check new.csv --truth sick --score risk --threshold 0.4 --require 'npv >= 99%' --prevalence 2%",
    ),
    (
        "in each group, too",
        "baserate check new.csv --policy policy.json --require 'fpr <= 10%' --group sex",
    ),
    (
        "estimates alone, also of ranks and probabilities",
        "baserate check new.csv --policy policy.json --require 'auc >= 0.8, brier <= 0.1' --on estimate",
    ),
)


def _read_single_threshold(text: str) -> float:
    return read_threshold(text, "give one, or a policy with --policy.")


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What is held to what, and where."""

    policy: Annotated[
        str | None, option(type=click.Path(), metavar="FILE", help="Policy to check; it also names the columns.")
    ] = None
    threshold: Annotated[
        float | None,
        option(
            type=_read_single_threshold,
            metavar="NUMBER",
            help="Threshold instead of --policy: scores at or above it are flagged.",
        ),
    ] = None
    require: Annotated[
        tuple[str, ...],
        option(
            multiple=True,
            metavar="TEXT",
            help="Requirements on any measures, such as 'sensitivity >= 0.9, auc >= 80%'; may be repeated.",
        ),
    ]
    on: Annotated[
        str, option(type=click.Choice(["bound", "estimate"]), help="Confidence bound or estimate that must comply.")
    ] = "bound"
    prevalence: Prevalence = None

    def __post_init__(self) -> None:
        if (self.policy is None) == (self.threshold is None):
            raise click.UsageError(
                "give one of --policy (a file that `baserate decide` wrote) and --threshold (a cut-off)."
            )

    @cached_property
    def decision_policy(self) -> "Policy":
        """The policy of the file, or that of the threshold."""
        from baserate import Cut, Policy
        from baserate.cli._io import load_policy

        if self.policy is not None:
            return load_policy(self.policy)
        assert self.threshold is not None  # noqa: S101  (for the type checker)
        return Policy(by_group={(): Cut((self.threshold,))}, otherwise="refuse")

    @cached_property
    def requirements(self) -> "tuple[Requirement, ...]":
        """What is required."""
        from baserate.decide import parse_requirements

        return parse_requirements(self.require)


@command("check", examples=_EXAMPLES)
def check(
    reading: Annotated[Reading, omit("predicted")],
    check_options: CheckOptions,
    settings: MeasureSettings,
    intervals: RequiredIntervals,
    output: Output,
) -> None:
    """Check requirements on measures: exit code 1 if one fails.

    A requirement holds if the confidence bound meets it, fails if the whole interval lies beyond, and is undecided in
    between: then the rows needed to decide are estimated. Columns, groups and the positive class are those that the
    policy was chosen on, unless named here. With --group, every group must comply, too.
    """
    from baserate.cli._io import fill_from_policy

    policy, wanted = (
        check_options.decision_policy,
        settings.require(check_options.requirements),
    )  # before reading, so that errors come at once
    full_reading = fill_from_policy(reading, policy)
    results = _check_requirements(full_reading, reading.group, check_options, wanted, intervals, quiet=output.quiet)
    line = adjusted_headline(full_reading, results.data)
    print_messages(line, results.data, output, inferred=full_reading.positive is None)
    print_results(results, lambda: check_page(results, policy, line, output.digits), output)
    if not output.quiet and (output.form in {"json", "csv"} or output.to_file):
        print_message(describe_verdict(results))
    if not results.data["holds"]:
        click.get_current_context().exit(UNMET)


def _check_requirements(
    reading: Reading,
    groups: tuple[str, ...],
    check_options: CheckOptions,
    wanted: "tuple[Requirement, ...]",
    intervals: Intervals,
    *,
    quiet: bool,
) -> "Results":
    from baserate import decide, shift

    here = read_tallies(reading, quiet=quiet)
    read = here if check_options.prevalence is None else shift.reweigh(here, to=check_options.prevalence)
    of: dict[str, Any] = {
        "on": check_options.on,
        "interval": intervals.to_interval(),
        "each_group": tuple(dict.fromkeys(groups)),
    }
    return describe_adjustment(
        decide.check(read, check_options.decision_policy, wanted, **of), here, check_options.prevalence
    )
