"""Page of calibration curves: one table for each curve."""

from collections.abc import Iterator, Sequence
from operator import itemgetter

from baserate._formatting import format_count, format_exact, format_level
from baserate._results import Results
from baserate.cli._calibration import Subject, subject_of, title
from baserate.cli._io import headline
from baserate.cli._options import Reading
from baserate.text import CellFormatter, Page, Pivot, Table, TidyRow, align_decimals

_FAR = "*"
_NOTES = {
    "binned": "low, high: bounds of the share, with {} % confidence (Wilson).",
    "likelihood_ratio": "ratio: chance of the bin among positives over that among negatives, low and high its bounds "
    "with {} % confidence; implied: that of the probability, at the prevalence that fits best.",
    "consistency": "low, high: between them {} % of such curves would lie here if the probabilities were right.",
    "confidence": "low, high: bounds of the share, each by itself with {} % confidence.",
}


def page(results: Results, reading: Reading, digits: int) -> Page:
    """Return one table for each curve."""
    layout = _CurvePage(results, digits)
    curves: dict[Subject, list[TidyRow]] = {}
    for row in results.rows():
        curves.setdefault(subject_of(row, classes="classes" in results.data), []).append(row)
    panels = [layout.panel(title(subject, reading, results.data), rows) for subject, rows in curves.items()]
    return Page(headline(reading, results.data), tuple(panels), tuple(layout.footnotes()))


class _CurvePage:
    """Columns of the tables, and the formatter of their cells."""

    def __init__(self, results: Results, digits: int) -> None:
        self.data, self.format = results.data, CellFormatter(digits)
        self.has_marks = False
        self.in_bins = "lower" in results.columns
        keys = {"model", "group", "class", "top", "lower", "upper", *([] if self.in_bins else ["probability"])}
        self.columns = [name for name in results.columns if name not in keys]

    def panel(self, title: str, rows: Sequence[TidyRow]) -> Table:
        """Return the table of one curve, lowest probability first."""
        labels = self._bins(rows) if self.in_bins else self._probabilities(rows)
        pivot = Pivot(
            line=itemgetter("place"),
            column=itemgetter("column"),
            cell=self._cell,
            label=labels.__getitem__,
            heading=lambda name: "rows" if name == "mass" else name,
        )
        cells = ({**row, "place": at, "column": name} for at, row in enumerate(rows) for name in self.columns)
        return pivot.table(cells, corner=f"{title}, {'in bins' if self.in_bins else 'probability'}")

    def footnotes(self) -> Iterator[str]:
        """Yield reasons of undefined numbers, and the meanings of bounds and marks."""
        yield from self.format.reasons.footnotes()
        note = _NOTES[self.data["curve"] if self.in_bins else self.data["band"]]
        yield note.format(format_level(self.data["level"]))
        if self.data["clipped"]:
            yield "LOWESS fit: share, low and high are clipped to [0, 1]."
        if self.has_marks:
            yield f"{_FAR} further from what would be right than chance alone explains, at this place by itself"

    def _bins(self, rows: Sequence[TidyRow]) -> list[str]:
        """Return the edges of bins, without the rounding errors of sums."""
        ends = ([format_exact(round(row[end], 12)) for row in rows] for end in ("lower", "upper"))
        return [f"{lower} – {upper}" for lower, upper in zip(*map(align_decimals, ends), strict=True)]

    def _probabilities(self, rows: Sequence[TidyRow]) -> list[str]:
        """Return the probabilities of a curve."""
        return align_decimals([self.format.number(row["probability"]) for row in rows])

    def _cell(self, row: TidyRow) -> str:
        """Return one number of a point, marked where chance does not explain its distance."""
        name = row["column"]
        far = _is_far(row, self.data["band"])
        self.has_marks |= far
        mark = _FAR * (far and name in {"share", "ratio"})
        if row[name] is None:
            rows = "all rows are" if row.get("ratio") is None else "the rows of the bin are"
            return self.format.mark_undefined(f"{rows} of a single class") + mark
        text = format_count(row[name], self.format.digits) if name == "mass" else self.format.number(row[name])
        return text + mark


def _is_far(row: TidyRow, band: str) -> bool:
    """Return whether the confidence interval excludes the probability, or the share leaves the consistency band."""
    if row["low"] is None or row["high"] is None:
        return False
    right = row["share"] if band == "consistency" else row["implied" if "implied" in row else "probability"]
    return right is not None and not row["low"] <= right <= row["high"]
