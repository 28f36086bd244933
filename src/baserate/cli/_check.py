"""`baserate check`: requirements on measures, and a page of the verdicts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._formatting import format_count, format_exact, format_level, format_number, join_words
from baserate.cli._declarations import Output, command, omit, option
from baserate.cli._errors import UNMET
from baserate.cli._io import (
    adjust_prevalence,
    describe_adjustment,
    headline,
    print_messages,
    print_results,
    read_tallies,
)
from baserate.cli._options import (
    FileName,
    Intervals,
    MeasureSettings,
    Prevalence,
    Reading,
    RequiredIntervals,
    RequirementTexts,
)
from baserate.cli._terminal import print_message
from baserate.cli._values import single_threshold
from baserate.text import (
    CellFormatter,
    CellWriter,
    Explanation,
    Page,
    Table,
    TidyRow,
    describe_decisions,
    group_heading,
    interval_heading,
    list_table,
    measure_label,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._policy import Policy
    from baserate._results import Results
    from baserate.decide import Requirement

_SIGNS = {">=": "≥", "<=": "≤"}
_MARKS = {"holds": "✓ holds", "fails": "✗ fails", "undecided": "? undecided"}
_WORDS = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "undecided": ("is undecided", "are undecided")}
"""Verdict -> verbs of one requirement, and of several."""
_NEEDED = "rows needed: number of rows like these that would decide, if the value does not change."


def check_page(results: "Results", policy: "Policy", line: str, digits: int) -> Page:
    """Return the page of the verdicts: a table for each model, and a sentence on all."""
    rows, format_ = results.rows(), CellFormatter(digits)
    grouped = any(row["group"] is not None for row in rows)
    columns: dict[str, CellWriter] = {
        interval_heading(results.data): format_.estimate,
        "verdict": lambda row: f"{_MARKS[row['verdict']]:11}",  # equally long, so that the marks are aligned
        "margin": lambda row: _margin_cell(row["margin"], digits),
    }
    requirement_label = partial(_requirement_label, data=results.data)
    needed = {"rows needed": lambda row: _rows_needed_cell(row, format_)}
    panels: list[Table | str] = [describe_decisions(policy, [*map(shorten_label, results.data["policies"])])]
    for model in dict.fromkeys(row["model"] for row in rows):
        of_model = [row for row in rows if row["model"] == model]
        open_ = any(row["rows_needed"] is not None or _is_undecidable(row) for row in of_model)
        table = list_table(
            of_model,
            {**columns, **(needed if open_ else {})},
            label=_group_label if grouped else requirement_label,
            section=requirement_label if grouped else lambda _row: "",
            corner="required" if model is None else f"required of {shorten_label(model)}",
        )
        panels.append(table)
    criterion = "the value" if results.data["on"] == "estimate" else "the bound of the interval"
    legend = [Explanation(f"margin: by how much {criterion} meets the requirement; below 0 it does not.")]
    legend += [Explanation(_NEEDED)] * any(row["rows_needed"] for row in rows)
    notes = (*format_.footnotes(rows, results.data), *legend)
    return Page(line, (*panels, describe_verdict(results)), notes)


def describe_verdict(results: "Results") -> str:
    """Describe all verdicts in a sentence."""
    counts, level = Counter(results.columns["verdict"]), format_level(results.data["interval"]["level"])
    single = len(results) == 1
    bounds = (f"the bounds of {level}% intervals", f"the bound of its {level}% interval")
    by = bounds if results.data["on"] == "bound" else ("the values alone", "its value alone")
    if single:
        text = f"The requirement {_WORDS[results.columns['verdict'][0]][0]}"
    elif results.data["holds"]:
        text = "All requirements hold"
    else:
        parts = [f"{counts[name]} {words[counts[name] > 1]}" for name, words in _WORDS.items() if counts[name]]
        text = f"{'Not all requirements hold' if counts['holds'] else 'No requirement holds'}: {join_words(parts)}"
    return f"{text}, by {by[single]}."


def _group_label(row: TidyRow) -> str:
    return group_heading(row["group"])


def _requirement_label(row: TidyRow, data: Mapping[str, Any]) -> str:
    return f"{measure_label(row['measure'], data)} {_SIGNS[row['sense']]} {format_exact(row['bound'])}"


def _is_undecidable(row: TidyRow) -> bool:
    """Return whether the number of rows that would decide is unknown."""
    return row["rows_needed"] is None and row["verdict"] == "undecided" and row["margin"] is not None


def _margin_cell(value: float | None, digits: int) -> str:
    if value is None:
        return ""
    return f"{'+' if value > 0 else ''}{format_number(value, max(digits - 1, 1))}"


def _rows_needed_cell(row: TidyRow, format_: CellFormatter) -> str:
    if row["rows_needed"] is not None:
        return format_count(row["rows_needed"], 4)
    return format_.mark_undefined(row["why"]) if _is_undecidable(row) else ""


_EXAMPLES = """
# a policy, in CI: exit code 1 unless the confidence bounds comply
baserate check new.csv --policy policy.json --require 'sensitivity >= 0.9, precision >= 20%'
# a threshold, at a prevalence of 2%
baserate check new.csv --truth sick --score risk --threshold 0.4 --require 'npv >= 99%' --prevalence 2%
# in each group, too
baserate check new.csv --policy policy.json --require 'fpr <= 10%' --group sex
# estimates alone, also of ranks and probabilities
baserate check new.csv --policy policy.json --require 'auc >= 0.8, brier <= 0.1' --on estimate
"""


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """Options of a check: a policy or a threshold, requirements, prevalence."""

    policy: Annotated[FileName, "Policy to check; it also names the columns."] = None
    threshold: Annotated[
        float | None,
        option(type=single_threshold("give one, or a policy with --policy."), metavar="NUMBER"),
        "Threshold instead of --policy: scores at or above it are flagged.",
    ] = None
    require: Annotated[
        RequirementTexts, "Requirements on any measures, such as 'sensitivity >= 0.9, auc >= 80%'; may be repeated."
    ]
    on: Annotated[Literal["bound", "estimate"], "Confidence bound or estimate that must comply."] = "bound"
    prevalence: Prevalence = None

    def __post_init__(self) -> None:
        if (self.policy is None) == (self.threshold is None):
            raise click.UsageError("give either --policy, a file from `baserate decide`, or --threshold.")

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
        """The requirements, parsed."""
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

    # Before reading, so that errors come at once.
    policy, requirements = check_options.decision_policy, settings.bind_requirements(check_options.requirements)
    full_reading = fill_from_policy(reading, policy)
    results = _check_requirements(
        full_reading, reading.group, check_options, requirements, intervals, quiet=output.quiet
    )
    line = headline(full_reading, results.data)
    print_messages(line, results.data, output, inferred=full_reading.positive is None)
    print_results(results, lambda: check_page(results, policy, line, output.digits), output)
    if not output.quiet and output.needs_headline:
        print_message(describe_verdict(results))
    if not results.data["holds"]:
        click.get_current_context().exit(UNMET)


def _check_requirements(
    reading: Reading,
    groups: tuple[str, ...],
    check_options: CheckOptions,
    requirements: "tuple[Requirement, ...]",
    intervals: Intervals,
    *,
    quiet: bool,
) -> "Results":
    from baserate import decide

    sample, prevalence = read_tallies(reading, quiet=quiet), check_options.prevalence
    results = decide.check(
        adjust_prevalence(sample, prevalence),
        requirements,
        check_options.decision_policy,
        on=check_options.on,
        interval=intervals.to_interval(),  # type: ignore[arg-type]  # --no-interval is not an option here
        each_group=tuple(dict.fromkeys(groups)),
    )
    return describe_adjustment(results, sample, prevalence)
