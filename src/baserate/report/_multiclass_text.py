"""Text of a report on several classes: verdict, confusion matrix, measures of each class, averages, and findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Any

from baserate._formatting import format_percent
from baserate.measure import MEASURES, describe, multiclass
from baserate.report._multiclass_report import MulticlassReport
from baserate.text import (
    Block,
    Bullet,
    BulletList,
    CellFormatter,
    Explanation,
    Page,
    Pivot,
    Statement,
    Table,
    TidyRow,
    WarningText,
    class_matrix,
    describe_files,
    describe_rows,
    interval_heading,
    list_table,
    measure_label,
    number_when_narrow,
    shorten_label,
)

_MOST_CLASSES = 20
"""Classes up to which the confusion matrix is a table; of more, the most frequent confusions are listed."""
_MOST_CONFUSIONS = 15
_SUMMARY_DIGITS = 3
_NAMES = {"sensitivity": "recall", "auc": "AUC", "f1": "F1", "hand_till": "AUC (Hand–Till)", "mcc": "MCC"}
_NAMES |= {"mean_probability": "mean probability", "observed_expected": "accuracy to mean probability"}
_NAMES |= {"ece": "calibration error (ECE)", "mce": "largest error of a bin (MCE)"}
_NAMES |= {"rmsce_debiased": "debiased calibration error (RMS)", "brier": "Brier score"}
"""Names of measures as this report is about classes."""
_TABLES = (("sensitivity", "precision", "f1"), ("specificity", "auc", "average_precision"))
"""Measures of each class, in tables that fit a line of 80 characters."""
_SHARES = {"accuracy", "balanced_accuracy", "top_2_accuracy", "ece", "mce", "rmsce_debiased"}
"""Measures that are shown as percentages although they are no proportions of two classes."""
_DIGEST = 12


def render_summary(report: MulticlassReport) -> str:
    """Return the verdict, the measures and the findings of a report as HTML for notebooks."""
    return multiclass_page(report, _SUMMARY_DIGITS).html()


def render_markdown(report: MulticlassReport) -> str:
    """Return a report as Markdown."""
    return multiclass_page(report).markdown()


def multiclass_page(report: MulticlassReport, digits: int = 4) -> Page:
    """Return the page of a report on several classes.

    Parameters
    ----------
    report
        Report on several classes.
    digits
        Significant digits of numbers.
    """
    layout = _MulticlassPage(report, digits)
    panels = tuple(layout.panels())
    return Page(multiclass_headline(report), panels, layout.footnotes())


def multiclass_headline(report: MulticlassReport) -> str:
    """Return one line on the data of a report."""
    data, files = report.data, report.options["files"]
    shares = data["prevalences"]
    most = max(shares, key=shares.__getitem__)
    parts = [
        *([describe_files(files)] if files else []),
        describe_rows(data),
        f"{len(shares)} classes",
        f"most frequent: {shorten_label(most)}, {format_percent(shares[most])}",
        *["weighted"] * bool(data["weighted"]),
    ]
    return " · ".join(parts)


def measure_name(measure: str) -> str:
    """Return the name of a measure in a report on classes.

    >>> measure_name("sensitivity"), measure_name("average_precision")
    ('recall', 'average precision')
    """
    return _NAMES.get(measure, measure_label(measure))


def is_percentage(measure: str) -> bool:
    """Return whether people read a measure as a percentage.

    >>> is_percentage("accuracy"), is_percentage("sensitivity"), is_percentage("f1")
    (True, True, False)
    """
    return measure in _SHARES or (measure in MEASURES and bool(describe(MEASURES[measure]).percent))


class _MulticlassPage:
    """Panels of a report in their order, and the formatter that collects their footnotes."""

    def __init__(self, report: MulticlassReport, digits: int) -> None:
        self.report, self.format = report, CellFormatter(digits)

    def panels(self) -> Iterator[Table | Block | str]:
        """Yield all panels: the verdict first."""
        verdict = self.report.verdict
        warnings = tuple(WarningText(each.severity, each.text) for each in verdict.warnings)
        yield Statement("Verdict", (" ".join(verdict.sentences), verdict.measure_line), warnings)
        yield self._confusions() if len(self.report.classes) > _MOST_CLASSES else self._matrix()
        yield from self._by_class()
        yield self._overall()
        yield from self._calibration()
        yield self._findings()

    def footnotes(self) -> tuple[str, ...]:
        """Return reasons of undefined numbers, methods of intervals, and notes on the data."""
        notes = (f"note: {shorten_label(note, 500)}" for note in self.report.data["notes"])
        digest = f"Digest of the data {self.report.data['digest'][:_DIGEST]}, baserate {self.report.data['version']}."
        return (*notes, *self.format.footnotes(None, self.report.data), digest)

    def _matrix(self) -> Table:
        """Return the confusion matrix, true classes in rows."""
        lines = self.report.matrix.tolist()
        return number_when_narrow(class_matrix("true ↓ predicted →", self.report.classes, lines, digits=4))

    def _confusions(self) -> Table:
        """Return the most frequent confusions, where a matrix of all classes would be too large to read."""
        support = {str(row["class"]): row["value"] for row in self.report.select(part="data", measure="support")}
        rows = [row for row in self.report.select(part="cells") if row["class"] != row["against"] and row["value"]]
        table = list_table(
            sorted(rows, key=lambda row: -row["value"])[:_MOST_CONFUSIONS],
            {
                "rows": self.format.count,
                "of the class": lambda row: format_percent(row["value"] / support[str(row["class"])]),
            },
            label=lambda row: f"{shorten_label(row['class'])} → {shorten_label(row['against'])}",
            corner="true → predicted, most frequent",
        )
        return replace(table, upright=True)

    def _by_class(self) -> Iterator[Table]:
        """Yield measures of each class against the rest, and their averages."""
        rows = [*self.report.per_class, *self.report.averages]
        support = self.report.select(part="data", measure="support")
        pivot = Pivot(
            line=lambda row: (row["average"], str(row["class"])),
            column=itemgetter("measure"),
            section=lambda row: "averages" if row["average"] else "",
            cell=self._cell,
            label=lambda line: line[0] or shorten_label(line[1]),
            heading=measure_name,
        )
        for names in _TABLES:
            own = [row for row in rows if row["measure"] in names]
            first = {"sensitivity", "support"} & {row["measure"] for row in own}
            columns = [name for name in names if any(row["measure"] == name for row in own)]
            own = [*support, *own] if first else own
            yield pivot.table(own, corner="each class against the rest", columns=["support"] * bool(first) + columns)

    def _cell(self, row: TidyRow) -> Any:  # noqa: ANN401  (a cell)
        """Return the cell of a number of rows or of an estimate."""
        if row["measure"] == "support":
            return self.format.count(row)
        return self.format.rate(row) if is_percentage(row["measure"]) and not _omits(row) else self.format.average(row)

    def _overall(self) -> Table:
        """Return measures of all classes together, with their meanings."""
        heading = interval_heading(self.report.data)
        pivot = Pivot(
            line=itemgetter("measure"),
            column=lambda _row: heading,
            cell=self._single_cell,
            label=measure_name,
            meaning=lambda name: Explanation(describe(multiclass.find_measure(name)).summary),
            section=lambda _row: "all classes together",
        )
        return pivot.table(self.report.overall)

    def _calibration(self) -> Iterator[Table]:
        """Yield calibration of the predicted class, and its null reference."""
        rows = self.report.calibration.rows()
        if not rows:
            return
        columns = {
            interval_heading(self.report.data): self._distance,
            "if calibrated": lambda row: "" if row["floor"] is None else format_percent(row["floor"]),
        }
        yield list_table(
            rows,
            columns,
            label=lambda row: measure_name(row["measure"]),
            corner="probability of the predicted class",
        )

    def _distance(self, row: TidyRow) -> Any:  # noqa: ANN401  (a cell)
        """Return the cell of a measure of calibration; a distance has a null reference in place of an interval."""
        return self._single_cell(row) if row["floor"] is None else self.format.rate({**row, "level": None})

    def _single_cell(self, row: TidyRow) -> Any:  # noqa: ANN401  (a cell)
        """Return the cell of a number that stands alone in its line."""
        return self.format.rate(row) if is_percentage(row["measure"]) else self.format.estimate(row, several=False)

    def _findings(self) -> Block | str:
        """Return all findings with their remedies and commands."""
        points = tuple(
            Bullet(
                f"{each.code} {each.headline}",
                each.sentence,
                each.remedy,
                *((each.command.text, each.command.language) if each.command else ("", "sh")),
                severity=each.severity,
                why=each.why,
            )
            for each in self.report.findings
        )
        return BulletList("Findings", points) if points else "Findings: none."


def _omits(row: TidyRow) -> bool:
    """Return whether an average leaves out classes, which a footnote lists."""
    return row["average"] is not None and "without " in (row["how"] or "")
