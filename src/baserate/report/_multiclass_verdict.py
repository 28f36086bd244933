"""Verdict on several classes: the first lines of a report, the same in the terminal, in Markdown and on the page.

1. `accuracy`: "97.3% (93.3 to 99.3) of 150 rows are classified correctly; always predicting the largest class
   (setosa) would give 33.3%."
2. `worst`: "Class with the lowest recall: versicolor, 94.0% (83.5 to 98.7); most often mistaken for virginica (3 of 50
   rows)." Of weighted rows the share is stated in place of numbers of rows.
3. `calibration`: whether the probability of the predicted class agrees with the accuracy, and the calibration error
   (ECE) beside its null reference; empty without probabilities. "Too high" or "too low" is said where the interval of
   the ratio of accuracy to mean probability excludes 1.
4. `measures`: accuracy, balanced accuracy, macro F1, AUC by Hand and Till, log loss.
5. `warnings`: headlines of the findings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

import numpy as np

from baserate._formatting import count_of, format_percent, round_fixed
from baserate._rendering import short_repr
from baserate.report._findings import brief_area
from baserate.report._findings_multiclass import class_values, find_estimate, largest_class, percent_interval
from baserate.report._multiclass_report import MulticlassReport
from baserate.report._verdict import GAP, VerdictWarning, brief_percent
from baserate.text import shorten_label

_MEASURES = {"Accuracy": ("overall", "accuracy"), "Balanced accuracy": ("overall", "balanced_accuracy")}
_LOSS_DECIMALS = 3


@dataclass(frozen=True, slots=True)
class MulticlassVerdict:
    """Answer of a report on several classes: how good the classifier is, where it fails, and what speaks against it.

    >>> import baserate
    >>> from textwrap import fill
    >>> truth, predicted = ["cat", "dog", "fox"] * 40, ["cat", "dog", "dog"] * 30 + ["cat", "dog", "fox"] * 10
    >>> for line in str(baserate.evaluate(truth, predicted=predicted).verdict).splitlines():
    ...     print(fill(line, 110))
    75.0% (66.6 to 81.9) of 120 rows are classified correctly; always predicting the largest class (cat) would
    give 33.3%.
    Class with the lowest recall: fox, 25.0% (12.7 to 41.2); most often mistaken for dog (30 of 40 rows).
    Accuracy 75%  Balanced accuracy 75%  Macro F1 0.71
    """

    accuracy: str
    worst: str
    calibration: str
    """Empty without probabilities."""
    measures: tuple[tuple[str, str], ...]
    """Name and value of each measure."""
    warnings: tuple[VerdictWarning, ...] = ()

    __repr__ = short_repr

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences."""
        return tuple(filter(None, (self.accuracy, self.worst, self.calibration)))

    @property
    def measure_line(self) -> str:
        """The measures in one line."""
        return GAP.join(f"{name} {value}" for name, value in self.measures)

    def __str__(self) -> str:
        return "\n".join([*self.sentences, self.measure_line, *(warning.text for warning in self.warnings)])


def make_verdict(report: MulticlassReport) -> MulticlassVerdict:
    """Return the verdict on a report."""
    return MulticlassVerdict(
        _describe_accuracy(report),
        _describe_worst_class(report),
        _describe_calibration(report),
        tuple((name, text) for name, _, _, text in verdict_measures(report)),
        tuple(VerdictWarning(each.code, each.severity, each.headline) for each in report.findings),
    )


def _describe_accuracy(report: MulticlassReport) -> str:
    """Describe the accuracy beside that of the largest class."""
    accuracy = find_estimate(report, "overall", "accuracy")
    if accuracy is None:
        return "There are no rows."
    label, share = largest_class(report)
    rows = count_of(report.data["rows"], "row", shown=f"{report.data['rows']:,}")
    verb = "is" if report.data["rows"] == 1 else "are"
    trivial = f"always predicting the largest class ({shorten_label(label)}) would give {format_percent(share)}"
    return f"{percent_interval(accuracy)} of {rows} {verb} classified correctly; {trivial}."


def worst_class(report: MulticlassReport) -> object | None:
    """Return the class with the lowest recall, the first of several; None where no class has rows."""
    recalls = class_values(report, "sensitivity")
    return min(recalls, key=recalls.__getitem__) if recalls else None


def _describe_worst_class(report: MulticlassReport) -> str:
    """Describe the class with the lowest recall, and the class that it is most often mistaken for."""
    label = worst_class(report)
    recall = None if label is None else find_estimate(report, "classes", "sensitivity", label)
    if recall is None:
        return ""
    if recall.value == 1:
        return "Every row is classified correctly."
    place = [str(each) for each in report.classes].index(str(label))
    cells = report.matrix[place].copy()
    support = float(cells.sum())
    cells[place] = -1.0
    other = int(np.argmax(cells))
    many = f"{cells[other]:,.0f} of {support:,.0f} rows"
    if report.data["weighted"]:
        many = f"{format_percent(float(cells[other]) / support)} of its weight"
    mistaken = f"most often mistaken for {shorten_label(report.classes[other])} ({many})"
    return f"Class with the lowest recall: {shorten_label(label)}, {percent_interval(recall)}; {mistaken}."


def _describe_calibration(report: MulticlassReport) -> str:
    """Describe whether probabilities of the predicted class agree with the accuracy."""
    mean, ratio = (find_estimate(report, "calibration", name) for name in ("mean_probability", "observed_expected"))
    error = next(iter(report.select(part="calibration", measure="ece")), None)
    accuracy = find_estimate(report, "overall", "accuracy")
    if mean is None or ratio is None or error is None or accuracy is None:
        return ""
    side = "too high" if ratio.high < 1 else "too low" if ratio.low > 1 else ""
    both = f"{format_percent(mean.value)} on average, accuracy {format_percent(accuracy.value)}"
    words = f"are {side}: {both}" if side else f"are consistent with the accuracy ({both})"
    ece = "" if error["value"] is None else f"; calibration error (ECE) {format_percent(error['value'])}"
    if ece and error["floor"] is not None:
        ece += f"; a calibrated classifier of this size would have {format_percent(error['floor'])}"
    return f"Probabilities of the predicted class {words}{ece}."


def verdict_measures(report: MulticlassReport) -> Iterator[tuple[str, str, float, str]]:
    """Yield label, name, value and text of each measure of the verdict."""
    for label, (part, name) in _MEASURES.items():
        number = find_estimate(report, part, name)
        if number is not None:
            yield label, name, number.value, brief_percent(number.value)
    for row in report.select(part="averages", measure="f1", average="macro"):
        if row["value"] is not None:
            yield "Macro F1", "f1", row["value"], brief_area(row["value"])
    area, loss = (find_estimate(report, "overall", name) for name in ("hand_till", "log_loss"))
    if area is not None:
        yield "AUC (Hand–Till)", "hand_till", area.value, brief_area(area.value)
    if loss is not None:
        text = round_fixed(loss.value, _LOSS_DECIMALS) if isfinite(loss.value) else "∞"
        yield "Log loss", "log_loss", loss.value, text
