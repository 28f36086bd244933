"""HTML page of a report on several classes: its data as JSON in a page of the same kind as that of two classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from baserate._results import json_ready
from baserate.infer import normal_quantile
from baserate.measure import MEASURES, describe, multiclass
from baserate.report._curves import ThinnedCurve
from baserate.report._findings_multiclass import MULTICLASS_CHECKS
from baserate.report._multiclass_report import BIN_COLUMNS, MulticlassReport
from baserate.report._multiclass_text import is_percentage, measure_name
from baserate.report._multiclass_verdict import verdict_measures, worst_class
from baserate.report._page import assemble_page, fold_zeros, frame_page, shorten_title

JsonObject = dict[str, Any]
_FINDING_FIELDS = ("code", "title", "severity", "headline", "sentence", "why", "remedy", "anchor")
_NUMBER_FIELDS = ("part", "measure", "average", "value", "low", "high", "how", "why", "p", "floor")
_OPTIONS = ("title", "outcome_name", "level", "ignore", "files")
_DATA = ("rows", "weighted", "digest", "columns", "notes", "version")


def multiclass_payload(report: MulticlassReport) -> JsonObject:
    """Return the data of the page: the confusion matrix, numbers, bins and curves, but no row of the sample.

    Classes are indices; texts name them only in `classes`.

    >>> import baserate
    >>> payload = multiclass_payload(baserate.evaluate(["a", "b", "c"], predicted=["a", "b", "b"]))
    >>> payload["classes"], payload["matrix"]
    (['a', 'b', 'c'], [[1, 0, 0], [0, 1, 0], [0, 1, 0]])
    """
    verdict = report.verdict
    places = {str(label): at for at, label in enumerate(report.classes)}
    return {
        "classes": list(places),
        "options": {name: report.options[name] for name in _OPTIONS},
        "z": normal_quantile(report.options["level"]),
        "data": {name: json_ready(report.data[name]) for name in _DATA},
        "matrix": [[_compact(cell) for cell in row] for row in report.matrix.tolist()],
        "worst": places.get(str(worst_class(report)), 0),
        "measures": _measure_payload(report),
        "numbers": list(_number_payload(report, places)),
        "bins": [[json_ready(row[name]) for name in BIN_COLUMNS] for row in report.bins],
        "curves": [_curve_payload(curve) for curve in report.sketches],
        "verdict": {
            "sentences": verdict.sentences,
            "measures": [
                {"label": label, "measure": name, "value": json_ready(value), "text": text}
                for label, name, value, text in verdict_measures(report)
            ],
            "warnings": [warning._asdict() for warning in verdict.warnings],
        },
        "findings": [
            {
                **{name: getattr(each, name) for name in _FINDING_FIELDS},
                "command": each.command and each.command.text,
                "model": None,
                "panel": MULTICLASS_CHECKS[each.code].panel,
            }
            for each in report.findings
        ],
    }


def _compact(cell: float) -> float:
    """Return a whole number as an integer, which is shorter in JSON."""
    return int(cell) if cell.is_integer() else cell


def _measure_payload(report: MulticlassReport) -> dict[str, JsonObject]:
    """Return the text and format of each measure, in the order of the report."""
    names = dict.fromkeys(row["measure"] for row in report.numbers if row["part"] not in ("cells", "data"))
    overall = {row["measure"] for row in report.overall}
    return {name: _describe_measure(name, of_all=name in overall) for name in names}


def _describe_measure(name: str, *, of_all: bool) -> JsonObject:
    """Return the label, the definition and the format of one measure."""
    about = describe(multiclass.find_measure(name) if of_all else MEASURES[name])
    label = measure_name(name)
    return {
        "label": label[0].upper() + label[1:],
        "hint": about.summary,
        "format": "percent" if is_percentage(name) else "number",
    }


def _number_payload(report: MulticlassReport, places: Mapping[str, int]) -> Iterable[JsonObject]:
    """Yield the numbers but cells, with classes as indices, without null values."""
    for row in report.numbers:
        if row["part"] != "cells":
            number = {name: json_ready(row[name]) for name in _NUMBER_FIELDS}
            number["class"] = None if row["class"] is None else places[str(row["class"])]
            yield {name: value for name, value in number.items() if value is not None}


def _curve_payload(curve: ThinnedCurve) -> JsonObject:
    """Return the curve of one class: masses at thresholds, and in bins of the score, with folded zeros."""
    form = curve.form
    return {
        "threshold": form["threshold"],
        "positive_mass": list(map(fold_zeros, form["positive_mass"])),
        "negative_mass": list(map(fold_zeros, form["negative_mass"])),
        "edges": form["scores"]["edges"],
        "positive": form["scores"]["positive"][0],
        "negative": form["scores"]["negative"][0],
        "bound": curve.bound,
    }


def page_title(report: MulticlassReport) -> str:
    """Return the title of the page: that of the report, or the number of classes."""
    return shorten_title(report.options["title"] or f"{len(report.classes)} classes")


def render_html(report: MulticlassReport) -> str:
    """Return the page of a report; equal reports give equal bytes."""
    return assemble_page("multiclass.html", "multiclass.js", page_title(report), multiclass_payload(report))


def render_frame(report: MulticlassReport) -> str:
    """Return the page in a sandboxed frame for notebooks, complete also after an export of the notebook."""
    return frame_page(render_html(report), page_title(report))
