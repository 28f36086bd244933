"""Tidy calibration curves -> a page: one panel for each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from baserate._formatting import format_count, format_exact, format_level, format_number
from baserate._results import Results
from baserate.cli._ask import headline
from baserate.cli._calibration import Which, title, which_of
from baserate.cli._options import Reading
from baserate.text import Footnotes, Page, Row, Section, Table, align_decimals

Line = Mapping[str, Any]

_FAR = "*"
_MEANT = {
    "binned": "low, high: bounds of the share, with {} % confidence (Wilson).",
    "likelihood_ratio": "ratio: chance of the bin among positives over that among negatives, low and high its bounds "
    "with {} % confidence; implied: that of the probability, at the prevalence that fits best.",
    "consistency": "low, high: between them {} % of such curves would lie here if the probabilities were right.",
    "confidence": "low, high: bounds of the share, each by itself with {} % confidence.",
}


def page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay out one panel for each curve."""
    sheet = _Sheet(found, digits)
    curves: dict[Which, list[Line]] = {}
    for line in found.rows():
        curves.setdefault(which_of(line, classes="classes" in found.data), []).append(line)
    panels = [sheet.panel(title(which, asked, found.data), lines) for which, lines in curves.items()]
    return Page(headline(asked, found.data), tuple(panels), tuple(sheet.footnotes()))


class _Sheet:
    """What the panels share, and what their footnotes must explain."""

    def __init__(self, found: Results, digits: int) -> None:
        self.data, self.digits = found.data, digits
        self.reasons, self.marked = Footnotes(), False
        self.in_bins = "lower" in found.columns
        named = {"model", "group", "class", "top", "lower", "upper", *([] if self.in_bins else ["probability"])}
        self.columns = [name for name in found.columns if name not in named]

    def panel(self, title: str, lines: Sequence[Line]) -> Table:
        """One curve, lowest probability first."""
        names = self._bins(lines) if self.in_bins else self._places(lines)
        rows = tuple(Row(name, self._cells(line)) for name, line in zip(names, lines, strict=True))
        corner = f"{title}, {'in bins' if self.in_bins else 'probability'}"
        heads = tuple("rows" if name == "mass" else name for name in self.columns)
        return Table(corner, heads, (Section("", rows),))

    def footnotes(self) -> Iterator[str]:
        """Why numbers are undefined, what bounds are, and what is marked."""
        yield from self.reasons.footnotes()
        told = _MEANT[self.data["curve"] if self.in_bins else self.data["band"]]
        yield told.format(format_level(self.data["level"]))
        if self.data["clipped"]:
            yield "LOWESS fit: share, low and high are clipped to [0, 1]."
        if self.marked:
            yield f"{_FAR} further from what would be right than chance alone explains, at this place by itself"

    def _bins(self, lines: Sequence[Line]) -> list[str]:
        """From where to where; rounded only as far as sums leave traces."""
        ends = ([format_exact(round(line[end], 12)) for line in lines] for end in ("lower", "upper"))
        return [f"{lower} – {upper}" for lower, upper in zip(*map(align_decimals, ends), strict=True)]

    def _places(self, lines: Sequence[Line]) -> list[str]:
        return align_decimals([format_number(line["probability"], self.digits) for line in lines])

    def _cells(self, line: Line) -> tuple[str, ...]:
        far = _far(line, self.data["band"])
        self.marked |= far
        return tuple(self._cell(line, name) + _FAR * (far and name in {"share", "ratio"}) for name in self.columns)

    def _cell(self, line: Line, name: str) -> str:
        if line[name] is None:
            alone = "all rows are" if line.get("ratio") is None else "the rows of the bin are"
            return self.reasons.undefined(f"{alone} of a single class")
        return format_count(line[name], self.digits) if name == "mass" else format_number(line[name], self.digits)


def _far(line: Line, band: str) -> bool:
    """Whether bounds leave out what would be right, or what is seen leaves bounds around that."""
    if line["low"] is None or line["high"] is None:
        return False
    right = line["share"] if band == "consistency" else line["implied" if "implied" in line else "probability"]
    return right is not None and not line["low"] <= right <= line["high"]
