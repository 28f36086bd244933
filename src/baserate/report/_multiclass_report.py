"""Report on several classes and its parts: the table of numbers, bins of calibration, findings, and the JSON file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from baserate._arrays import Floats, FrozenMapping
from baserate._confusion import Confusion
from baserate._errors import BaserateError, FileFormatError, OptionError
from baserate._files import MULTICLASS_REPORT, FileKind, JsonFile, format_file, parse_file, write_text
from baserate._formatting import count_of
from baserate._lazy import load_object
from baserate._rendering import Printable
from baserate._results import Results, json_ready
from baserate.report._curves import ThinnedCurve
from baserate.report._report import FILE_WIDTH, Finding, finding_form, parse_finding, parse_number

if TYPE_CHECKING:
    from baserate.report._multiclass_verdict import MulticlassVerdict

COLUMNS = (
    *("part", "measure", "class", "against", "average", "value", "low", "high", "level", "how", "why"),
    *("p", "p_is_bound", "floor", "floor_low", "floor_high"),
)
"""Columns of the table of numbers. `part` is the kind of number; `floor` is the null reference of a distance."""
NUMBER_COLUMNS = ("value", "low", "high", "level", "p", "floor", "floor_low", "floor_high")
PARTS = ("cells", "data", "classes", "averages", "overall", "calibration")
"""Kinds of numbers: cells of the confusion matrix, numbers of rows, measures of each class, averages over classes,
measures of all classes together, and calibration of the predicted class."""
BIN_COLUMNS = ("lower", "upper", "probability", "share", "low", "high", "mass")
"""Columns of bins of the probability of the predicted class; `share` is the share of rows that are of this class."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MulticlassReport(Printable, JsonFile):
    """Report on a classifier of several classes. `print` shows it as the terminal does.

    Every number is a row of `numbers`: `report.numbers.accuracy` is the estimate of a measure of all classes together,
    and `report.per_class` has the measures of each class against the rest.

    >>> import baserate
    >>> report = baserate.evaluate(["cat", "dog", "dog", "fox"], predicted=["cat", "cat", "dog", "dog"])
    >>> report.numbers.accuracy.value, report.classes
    (0.5, ('cat', 'dog', 'fox'))
    >>> [row["value"] for row in report.per_class if row["measure"] == "sensitivity"]
    [1.0, 0.5, 0.0]
    """

    _page_function: ClassVar[str] = "baserate.report._multiclass_text:multiclass_page"
    file_kind: ClassVar[FileKind] = MULTICLASS_REPORT
    options: Mapping[str, Any]
    """Files, confidence level, interval method, seed, ignored findings, title, and name of the outcome."""
    data: Mapping[str, Any]
    """Summary of the data: rows read and dropped, classes, columns, the digest, and the release of baserate."""
    numbers: Results
    bins: Results
    """Calibration of the predicted class in bins of its probability; no rows without probabilities."""
    findings: tuple[Finding, ...] = ()
    sketches: tuple[ThinnedCurve, ...] = field(default=(), kw_only=True)
    """Thinned curve of each class against the rest, for the page; empty without scores."""

    def __post_init__(self) -> None:
        for name in ("options", "data"):
            object.__setattr__(self, name, FrozenMapping(getattr(self, name)))

    def __repr__(self) -> str:
        codes = ", ".join(dict.fromkeys(finding.code for finding in self.findings)) or "none"
        classes = count_of(len(self.classes), "class", "classes")
        return f"MulticlassReport({classes}; {count_of(self.data['rows'], 'row')}; findings: {codes})"

    @property
    def classes(self) -> tuple[object, ...]:
        """Labels of the classes."""
        return tuple(self.data["classes"])

    @property
    def has_scores(self) -> bool:
        """Whether there is a score for each class, not only the predicted class."""
        return bool(self.sketches)

    @property
    def verdict(self) -> MulticlassVerdict:
        """Answer in a few sentences: accuracy, the class with the lowest recall, calibration, and warnings."""
        answer: MulticlassVerdict = load_object("baserate.report._multiclass_verdict:make_verdict")(self)
        return answer

    @property
    def per_class(self) -> Results:
        """Measures of each class against the rest."""
        return self._part("classes")

    @property
    def averages(self) -> Results:
        """Averages of these measures over classes."""
        return self._part("averages")

    @property
    def overall(self) -> Results:
        """Measures of all classes together."""
        return self._part("overall")

    @property
    def calibration(self) -> Results:
        """Calibration of the probability of the predicted class."""
        return self._part("calibration")

    @property
    def confusion(self) -> Confusion:
        """Confusion matrix, true classes in rows."""
        return Confusion.of_matrix(self.matrix, self.classes, truth="rows")

    @property
    def matrix(self) -> Floats:
        """Cells of the confusion matrix, true classes in rows."""
        places = {str(label): at for at, label in enumerate(self.classes)}
        cells = np.zeros((len(places), len(places)))
        for row in self._part("cells"):
            cells[places[str(row["class"])], places[str(row["against"])]] = row["value"]
        return cells

    def _part(self, name: str) -> Results:
        """Return the rows of one part of the table of numbers."""
        rows = self.select(part=name)
        return Results({column: [row[column] for row in rows] for column in COLUMNS}, self.data)

    def with_findings(self, findings: tuple[Finding, ...]) -> MulticlassReport:
        """Return the report with these findings."""
        return replace(self, findings=findings)

    def select(self, **values: object) -> list[dict[str, Any]]:
        """Return the rows of the table of numbers with these values in these columns."""
        return [row for row in self.numbers if all(row[name] == value for name, value in values.items())]

    def rows(self) -> list[dict[str, Any]]:
        """Return one mapping for each number."""
        return self.numbers.rows()

    def frame(self, backend: str | None = None) -> Any:  # noqa: ANN401  (a frame of the chosen library)
        """Return the numbers as a frame of pandas, Polars or PyArrow."""
        return self.numbers.frame(backend)

    def markdown(self) -> str:
        """Return the report as Markdown for GitHub."""
        return _render("_multiclass_text:render_markdown", self)

    def html(self, *, framed: bool = False) -> str:
        """Return the report as an interactive page: one HTML text that needs no network and contains no row.

        Parameters
        ----------
        framed
            Whether to return the page in a sandboxed frame, which notebooks show by `IPython.display.HTML`.
        """
        return _render(f"_multiclass_page:render_{'frame' if framed else 'html'}", self)

    def _repr_html_(self) -> str:
        """Return the verdict, the measures and the findings as HTML for notebooks, without scripts."""
        return _render("_multiclass_text:render_summary", self)

    def to_json(self) -> str:
        """Return the report as JSON with a versioned schema and numbers at full precision."""
        form = {
            "options": json_ready(dict(self.options)),
            "data": json_ready(dict(self.data)),
            "findings": [json_ready(finding_form(finding)) for finding in self.findings],
            "rows": [json_ready(row) for row in self.rows()],
            "bins": [json_ready(row) for row in self.bins.rows()],
            "curves": [curve.form for curve in self.sketches],
        }
        return format_file(MULTICLASS_REPORT, form)

    @classmethod
    def from_json(cls, text: str) -> MulticlassReport:
        """Read what `to_json` wrote."""
        return _parse_report(text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file: .html is a page to explore, .json all of it, .csv numbers, .md and .txt text."""
        ending = Path(path).suffix.lstrip(".").lower()
        texts: dict[str, Callable[[], str]] = {
            "html": self.html,
            "json": self.to_json,
            "csv": self.numbers.to_csv,
            "md": self.markdown,
            "txt": partial(self.text, FILE_WIDTH),
        }
        if ending not in texts:
            raise OptionError(f"{Path(path).name} has an unknown file type; expected .html, .json, .csv, .md or .txt.")
        write_text(path, texts[ending]())


def _render(function: str, report: MulticlassReport) -> str:
    """Return a report as a function of this package renders it."""
    text: str = load_object(f"baserate.report.{function}")(report)
    return text


def make_results(rows: Sequence[Mapping[str, Any]], names: Sequence[str], data: Mapping[str, Any]) -> Results:
    """Return rows as results with these columns."""
    return Results({name: [row.get(name) for row in rows] for name in names}, data)


def _parse_report(text: str) -> MulticlassReport:
    """Return the report in a JSON text, or raise an error that says what is wrong."""
    form = parse_file(text, MULTICLASS_REPORT)
    try:
        # Other columns hold labels, which may be called inf.
        rows = [row | {name: parse_number(row[name]) for name in NUMBER_COLUMNS} for row in form["rows"]]
        numbers = Results({name: [row[name] for row in rows] for name in COLUMNS}, form["data"])
        bins = Results({name: [row[name] for row in form["bins"]] for name in BIN_COLUMNS}, form["data"])
        findings = tuple(map(parse_finding, form["findings"]))
        curves = tuple(map(ThinnedCurve.of_form, form["curves"]))
        return MulticlassReport(form["options"], form["data"], numbers, bins, findings, sketches=curves)
    except BaserateError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FileFormatError(f"not a valid report: {error!r}.", remedy="Save it again.") from error
