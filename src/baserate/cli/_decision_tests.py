"""Tests of decisions in `baserate measure --tests`: their rows, and the table of a page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from baserate._confusion import Confusion
from baserate._counts import Counts
from baserate._formatting import format_count, format_p
from baserate._results import Results
from baserate.cli._measure_page import COUNTS, Subject
from baserate.text import Explanation, Page, Row, Section, Table, TidyRow, group_key, measure_label

if TYPE_CHECKING:
    from baserate.cli._options import Reading

    PageMaker = Callable[[Results, Reading, int], Page]

TESTS = {
    "no_information_test": "Decisions are right more often than the most frequent class alone.",
    "no_information_exact_test": "The same, with its share taken as known (caret).",
    "symmetry_test": "Each kind of error is as frequent as its opposite (McNemar, Bowker).",
}
"""Tests by name, with their meanings."""


def add_decision_tests(results: Results, reading: "Reading") -> Results:
    """Add rows of tests for each confusion matrix among the results."""
    from baserate import infer

    if reading.weight:
        raise click.UsageError("--tests counts rows, and --weight weights them; leave out one of them.")
    rows, tests = list(results.rows()), []
    for subject, table in _confusion_matrices(rows, results.data):
        group = None if subject.group is None else dict(subject.group)
        place = {"model": subject.model, "threshold": subject.threshold, "group": group}
        for test in infer.decision_tests(table):
            columns = {"value": test.statistic, "how": test.how, "why": test.why, "p": test.p, "freedom": test.freedom}
            tests.append({**place, "measure": f"{test.name}_test", **columns, "p_is_bound": test.p_is_bound})
    if not tests:
        raise click.UsageError("--tests is for decisions; give --threshold or --predicted.")
    names = [*rows[0], "p", "p_is_bound", "freedom"]
    return Results({name: [row.get(name) for row in (*rows, *tests)] for name in names}, results.data)


def show_decision_tests(page: "PageMaker") -> "PageMaker":
    """Return a page that shows the rows of tests in a table of their own, below the others."""

    def compose(results: Results, reading: "Reading", digits: int) -> Page:
        rows = list(results.rows())
        tests = [row for row in rows if row["measure"] in TESTS]
        others = [row for row in rows if row["measure"] not in TESTS]
        shown = page(Results({name: [row[name] for row in others] for name in rows[0]}, results.data), reading, digits)
        return replace(shown, panels=(*shown.panels, _tests_table(tests, reading, results.data, digits)))

    return compose


def _tests_table(tests: Sequence[TidyRow], reading: "Reading", data: Mapping[str, Any], digits: int) -> Table:
    """Return a table of tests, with a section for each model, threshold and group where there are several."""
    by_subject: dict[Subject, list[TidyRow]] = {}
    for row in tests:
        by_subject.setdefault(_subject_of(row), []).append(row)
    sections = []
    for subject, rows in by_subject.items():
        title = _describe_subject(subject, reading, data) if len(by_subject) > 1 else ""
        lines = (
            Row(
                measure_label(row["measure"].removesuffix("_test")),
                _cells(row, digits),
                Explanation(TESTS[row["measure"]]),
            )
            for row in rows
        )
        sections.append(Section(title, tuple(lines)))
    return Table("tests", ("statistic", "p"), tuple(sections))


def _cells(row: TidyRow, digits: int) -> tuple[str, str]:
    """Return the statistic and the p-value of a test; of no errors there is no statistic."""
    statistic = "–" if row["value"] is None else format_count(row["value"], digits)
    return statistic, format_p(row["p"], min(digits, 3), is_bound=row["p_is_bound"])


def _subject_of(row: TidyRow) -> Subject:
    return Subject(row["model"], row["threshold"], group_key(row))


def _describe_subject(subject: Subject, reading: "Reading", data: Mapping[str, Any]) -> str:
    """Return the decision, of two classes, and the group."""
    decision = subject.describe_decision(reading, data) if "positive" in data else ""
    group = "" if subject.group is None else ", ".join(f"{name} = {value}" for name, value in subject.group)
    return ", ".join(filter(None, (decision, group))) or "all rows"


def _confusion_matrices(rows: Sequence[TidyRow], data: Mapping[str, Any]) -> Iterator[tuple[Subject, Any]]:
    """Yield the confusion matrix of each model, threshold and group."""
    cells: dict[Subject, list[TidyRow]] = {}
    for row in rows:
        if row["measure"] in COUNTS or row["measure"] == "cell":
            cells.setdefault(_subject_of(row), []).append(row)
    for subject, own in cells.items():
        if own[0]["measure"] == "cell":
            labels = tuple(data["classes"])
            masses = np.array([row["value"] for row in own], dtype=np.float64)
            yield subject, Confusion(masses.reshape(len(labels), len(labels)), labels)
        else:
            yield subject, Counts(**{row["measure"]: row["value"] for row in own})
