"""Findings about several classes: their registry, and a function for each."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from baserate._formatting import count_of, format_number, format_percent, join_words
from baserate._results import Estimate, estimate_of
from baserate.report._findings import Evidence, evidence_numbers
from baserate.report._multiclass_report import MulticlassReport
from baserate.report._report import Finding, Severity, Snippet
from baserate.text import shorten_label

FEW_ROWS = 30
"""Rows of a class below which its recall is known within 0.18 at best."""
RELEVANT_RATIO = 0.95
"""Ratio of the accuracy to the mean probability of the predicted class that is worth a finding."""
_FEW = 5
"""Most classes that a sentence lists."""


def _find_nothing(_report: MulticlassReport) -> None:
    """Find nothing: the placeholder of an entry until it decorates its function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MulticlassCheck:
    """Registry entry of a finding about several classes; as a decorator it adds the function below it."""

    code: str
    title: str
    severity: Severity
    panel: str
    """Panel of the HTML page that shows what the finding is about."""
    why: str
    remedy: str
    suggest: Callable[[MulticlassReport], Snippet | None] | None = None
    """Return a complete command; None where no command can be typed."""
    find: Callable[[MulticlassReport], Evidence | None] = _find_nothing

    def __call__(self, find: Callable[[MulticlassReport], Evidence | None]) -> Callable[..., Evidence | None]:
        """Register a function under the code of this entry, and return the function."""
        if self.code in MULTICLASS_CHECKS:
            raise ValueError(f"the code {self.code} is in use; take the next one.")
        MULTICLASS_CHECKS[self.code] = replace(self, find=find)
        return find

    def run(self, report: MulticlassReport) -> Finding | None:
        """Return the finding in a report; None where there is none."""
        evidence = self.find(report)
        if evidence is None:
            return None
        command = None if self.suggest is None else self.suggest(report)
        entry = {name: getattr(self, name) for name in ("code", "title", "severity", "why", "remedy")}
        return Finding(**entry, **evidence._asdict(), command=command)


MULTICLASS_CHECKS: dict[str, MulticlassCheck] = {}
"""Code -> entry of each finding about several classes; a code never changes its meaning."""


def find_estimate(report: MulticlassReport, part: str, measure: str, label: object = None) -> Estimate | None:
    """Return a number of a report; None where the report lacks it or it is undefined."""
    rows = report.select(part=part, measure=measure, average=None)
    row = next((row for row in rows if label is None or row["class"] == label), None)
    return None if row is None or row["value"] is None else estimate_of(row)


def class_values(report: MulticlassReport, measure: str) -> dict[object, float]:
    """Return the values of a measure or a number of rows by class, without undefined ones."""
    rows = [row for part in ("data", "classes") for row in report.select(part=part, measure=measure)]
    return {row["class"]: row["value"] for row in rows if row["class"] is not None and row["value"] is not None}


def largest_class(report: MulticlassReport) -> tuple[object, float]:
    """Return the class with most rows, and its share."""
    shares = class_values(report, "prevalence")
    label = max(shares, key=shares.__getitem__)
    return label, shares[label]


def percent_interval(estimate: Estimate) -> str:
    """Format a share with its interval as percentages.

    >>> percent_interval(Estimate(0.5779, 0.551, 0.604)), percent_interval(Estimate(0.5))
    ('57.8% (55.1 to 60.4)', '50.0%')
    """
    value = format_percent(estimate.value)
    if estimate.low != estimate.low or estimate.high != estimate.high:
        return value
    low, high = (format_percent(each).removesuffix("%") for each in (estimate.low, estimate.high))
    return f"{value} ({low} to {high})"


def _list_labels(labels: Sequence[object]) -> str:
    """List the first labels in a sentence."""
    names = [shorten_label(label) for label in labels[:_FEW]]
    return join_words([*names, f"{len(labels) - _FEW} more"] if len(labels) > _FEW else names)


@MulticlassCheck(
    code="BR101",
    title="A class is never predicted",
    severity="caution",
    panel="confusion",
    why="Every row of such a class is misclassified, which the accuracy hides if the class is rare.",
    remedy="Weight the classes in training, or decide by expected cost instead of the highest score.",
)
def find_unpredicted_classes(report: MulticlassReport) -> Evidence | None:
    """Classes with rows that are never predicted.

    It is reported where at least one class has rows but no prediction.

    >>> import baserate
    >>> report = baserate.evaluate(["cat", "dog", "fox"] * 40, predicted=["cat", "dog", "dog"] * 40)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR101"))
    Never predicted: fox, with 40 rows in total.
    """
    support, predicted = class_values(report, "support"), class_values(report, "predicted")
    never = [label for label in support if support[label] > 0 and not predicted[label]]
    if not never:
        return None
    rows = sum(support[label] for label in never)
    total = count_of(rows, "row", shown=format_number(rows, 4) if rows % 1 else f"{rows:.0f}")
    sentence = f"Never predicted: {_list_labels(never)}, with {total} in total."
    headline = f"{count_of(len(never), 'class is', 'classes are')} never predicted"
    return Evidence(sentence, {"n": len(never), "rows": rows}, headline)


@MulticlassCheck(
    code="BR102",
    title="A class has few rows",
    severity="caution",
    panel="per-class",
    why="The measures of such a class have wide confidence intervals, and so have plain averages over classes.",
    remedy="Collect more rows of these classes, or merge them with similar ones.",
)
def find_small_classes(report: MulticlassReport) -> Evidence | None:
    """Classes with fewer than 30 rows.

    It is reported where at least one class has fewer than 30 rows.

    >>> import baserate
    >>> report = baserate.evaluate(["cat", "dog"] * 40 + ["fox"], predicted=["cat", "dog"] * 40 + ["fox"])
    >>> print(*(each.sentence for each in report.findings if each.code == "BR102"))
    1 of 3 classes has fewer than 30 rows; the smallest is fox, with 1 row.
    """
    rows = class_values(report, "rows")
    small = [label for label in rows if rows[label] < FEW_ROWS]
    if not small:
        return None
    least = min(small, key=rows.__getitem__)
    has = f"{len(small)} of {len(rows)} classes {'has' if len(small) == 1 else 'have'} fewer than {FEW_ROWS} rows"
    smallest = f"the smallest is {shorten_label(least)}, with {count_of(int(rows[least]), 'row')}"
    return Evidence(f"{has}; {smallest}.", {"n": len(small), "classes": len(rows), "rows": rows[least]}, has)


@MulticlassCheck(
    code="BR103",
    title="Accuracy is no better than the largest class",
    severity="serious",
    panel="confusion",
    why="Predicting the largest class for every row is as accurate, and needs no classifier.",
    remedy="Judge the classifier by balanced accuracy, macro F1 or the confusion matrix, or improve it.",
)
def find_useless_accuracy(report: MulticlassReport) -> Evidence | None:
    """Accuracy that is not clearly above the share of the largest class.

    It is reported where the interval of the accuracy reaches down to the share of the largest class.

    >>> import baserate
    >>> report = baserate.evaluate(["cat"] * 80 + ["dog"] * 10 + ["fox"] * 10, predicted=["cat"] * 95 + ["fox"] * 5)
    >>> print(*(each.sentence for each in report.findings if each.code == "BR103"))
    Accuracy is 85.0% (76.7 to 90.7), not clearly above 80.0%, the share of the largest class (cat).
    """
    accuracy = find_estimate(report, "overall", "accuracy")
    label, share = largest_class(report)
    if accuracy is None or not accuracy.low <= share or share == 1:
        return None
    what = f"Accuracy is {percent_interval(accuracy)}, not clearly above {format_percent(share)}"
    sentence = f"{what}, the share of the largest class ({shorten_label(label)})."
    headline = f"Accuracy {format_percent(accuracy.value)}, largest class {format_percent(share)} of the rows"
    return Evidence(sentence, {**evidence_numbers(accuracy=accuracy), "largest_share": share}, headline)


def _suggest_calibration(report: MulticlassReport) -> Snippet | None:
    """Suggest the command that fits a calibrator to the rows of the files."""
    files, columns = report.options["files"], report.data["columns"]
    score = columns.get("score")
    if not files or not score or isinstance(columns.get("truth"), Mapping):
        return None
    names = ",".join(f"{label}={name}" for label, name in zip(report.classes, score, strict=True))
    words = ["baserate", "calibrate", *files, "--truth", str(columns["truth"]), "--scores", names, "-o"]
    return Snippet("sh", f"{shlex.join(words)} calibrator.json")


@MulticlassCheck(
    code="BR104",
    title="Probabilities of the predicted class are too high",
    severity="caution",
    panel="top-class",
    why="Such probabilities promise more than the classifier holds, and mislead where rows with low ones are referred.",
    remedy="Fit a calibrator to other rows, such as temperature scaling, and apply it before use.",
    suggest=_suggest_calibration,
)
def find_overconfidence(report: MulticlassReport) -> Evidence | None:
    """Probabilities of the predicted class that are higher than the accuracy.

    It is reported where the ratio of the accuracy to the mean probability is below 0.95, and its interval below 1.

    >>> import baserate, numpy as np
    >>> p = np.tile([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]], (40, 1))
    >>> truth = np.where(np.arange(120) % 4 == 0, 0, p.argmax(axis=1))
    >>> print(*(each.sentence for each in baserate.evaluate(truth, p).findings if each.code == "BR104"))
    The predicted class has a probability of 90.0% on average, but 83.3% of the rows are classified correctly.
    """
    mean, ratio = (find_estimate(report, "calibration", name) for name in ("mean_probability", "observed_expected"))
    accuracy = find_estimate(report, "overall", "accuracy")
    if mean is None or ratio is None or accuracy is None or not (ratio.value < RELEVANT_RATIO and ratio.high < 1):
        return None
    sentence = (
        f"The predicted class has a probability of {format_percent(mean.value)} on average, but "
        f"{format_percent(accuracy.value)} of the rows are classified correctly."
    )
    headline = f"Probabilities are {format_percent(mean.value)} on average, accuracy {format_percent(accuracy.value)}"
    return Evidence(sentence, evidence_numbers(mean_probability=mean, accuracy=accuracy, ratio=ratio), headline)


def find_all(report: MulticlassReport) -> tuple[Finding, ...]:
    """Return the findings of a report that it does not ignore, in the order of their codes and severities."""
    ignored = report.options["ignore"]
    results: list[Any] = [check.run(report) for code, check in MULTICLASS_CHECKS.items() if code not in ignored]
    order = ("serious", "caution", "note")
    return tuple(sorted(filter(None, results), key=lambda finding: order.index(finding.severity)))
