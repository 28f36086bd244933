"""Tidy costs of classifiers -> a page: a line for each of them, and lines of equal cost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from baserate._formatting import format_count, format_exact, format_level, format_number
from baserate._results import Results
from baserate.cli._calibration import split_when_narrow
from baserate.cli._decision_curve import MARK, marked
from baserate.cli._options import Reading
from baserate.cli._samples import CELLS
from baserate.text import Cell, Footnotes, Page, Row, Section, Table, estimate_cell, shorten_label

Line = Mapping[str, Any]

_FEW = 6
"""Classes whose shares are shown."""


def headline(found: Results, asked: Reading) -> str:
    """One line on how many there are, what outcomes cost, and where."""
    data = found.data
    many = sum(row["measure"] == "expected_cost" for row in found.rows())
    parts = [f"{many} classifier{'s' * (many > 1)}"] * bool(many)
    if data["positive"] is not None:
        parts.append(f"positive: {shorten_label(asked.truth)} = {shorten_label(data['positive'])}")
    costs = data["costs"]
    if "labels" in costs:
        parts.append(f"{len(_classes(data))} classes")
    else:
        parts.append("costs: " + ", ".join(f"{name.upper()} {format_exact(costs[name])}" for name in CELLS))
    if data["prevalence"] is not None:
        parts.append(f"used at {_where(data)}")
    return " · ".join(parts)


def page(found: Results, line: str, digits: int) -> Page:
    """Lay out the classifiers, then lines of equal cost if they were asked for."""
    sheet = _Sheet(found, digits)
    panels = [*sheet.classifiers(), *sheet.lines()]
    return Page(line, tuple(panels), (*sheet.reasons.footnotes(), *sheet.meant()))


def _where(data: Mapping[str, Any]) -> str:
    there = data["prevalence"]
    if isinstance(there, Mapping):
        return "shares of " + ", ".join(f"{shorten_label(name)}={format_exact(share)}" for name, share in there.items())
    return f"a prevalence of {format_exact(there)}"


def _classes(data: Mapping[str, Any]) -> Sequence[str]:
    """All that occur in any sample, where there are several."""
    return list(dict.fromkeys(name for shares in data["shares"].values() for name in shares))


class _Sheet:
    """Rows by what they are, and the reasons why some numbers are undefined."""

    def __init__(self, found: Results, digits: int) -> None:
        self.data, self.digits, self.reasons = found.data, digits, Footnotes()
        self.rows = [row for row in found.rows() if row["measure"] == "expected_cost"]
        self.equal = [row for row in found.rows() if row["measure"] == "iso_cost"]
        per = found.data["per"]
        self.per = "per case" if per == 1 else f"per {format_count(per, digits)} cases"

    def classifiers(self) -> Iterator[Table]:
        """A line for each."""
        if self.rows:
            heads = (*self._heads(), "total", self.per)
            rows = tuple(Row(shorten_label(row["model"]), tuple(self._cells(row))) for row in self.rows)
            yield split_when_narrow(Table("classifier", heads, (Section("", rows),)))

    def lines(self) -> Iterator[Table]:
        """Slope and intercept of each, and what its points cost."""
        rows = tuple(
            Row(
                f"through FPR {format_exact(row['fpr'])}, TPR {format_exact(row['tpr'])}",
                tuple(format_number(row[name], self.digits) for name in ("slope", "intercept", "value")),
            )
            for row in self.equal
        )
        if rows:
            heads = ("slope", "intercept", self.per)
            yield split_when_narrow(Table("line of equal cost", heads, (Section("", rows),)))

    def meant(self) -> Iterator[str]:
        """What stands in the columns."""
        if self.rows:
            yield from self._meant()
        if self.equal:
            yield "line of equal cost: TPR = intercept + slope · FPR; all points of ROC space that cost as much"

    @property
    def _cut(self) -> bool:
        return any(row["threshold"] is not None for row in self.rows)

    @property
    def _classes(self) -> Sequence[str]:
        """Those of several whose shares are shown: none if there are too many."""
        occurring = _classes(self.data)
        return occurring if len(occurring) <= _FEW else []

    def _heads(self) -> Iterator[str]:
        if "labels" in self.data["costs"]:
            yield from (f"share of {shorten_label(name, 14)}" for name in self._classes)
            return
        yield from ["threshold"] * self._cut
        yield from (*map(str.upper, CELLS), "measured at")

    def _cells(self, row: Line) -> Iterator[Cell]:
        if "labels" in self.data["costs"]:
            shares = self.data["shares"][row["model"]]
            yield from (self._share(shares.get(name, 0.0), row["why"]) for name in self._classes)
        else:
            yield from ["" if row["threshold"] is None else format_exact(row["threshold"])] * self._cut
            yield from (format_count(row[name], self.digits) for name in CELLS)
            yield self._share(row["measured"], row["why"])
        yield format_count(row["total"], self.digits)
        best = row["cheapest"] and len(self.rows) > 1
        yield marked(estimate_cell(row, self.reasons, digits=self.digits, several=True), better=best)

    def _share(self, share: float | None, why: str | None) -> str:
        """Share of a class in a sample; there is none where there are no rows."""
        return self.reasons.undefined(why) if share is None else format_number(share, self.digits)

    def _meant(self) -> Iterator[str]:
        if any(row["cheapest"] for row in self.rows) and len(self.rows) > 1:
            yield f"{MARK} the cheapest"
        if "labels" not in self.data["costs"]:
            yield "measured at: the prevalence of its own sample; total: what the whole of that cost"
        elif self._classes:
            yield "share of a class: in its own sample; total: what the whole of that cost"
        where = "in its own sample" if self.data["prevalence"] is None else f"at {_where(self.data)}"
        yield f"{self.per}: mean cost {where}"
        hows = dict.fromkeys(row["how"] for row in self.rows if row["low"] is not None)
        if hows:
            yield f"{format_level(self.data['level'])} % intervals of the cost {self.per}: {' or '.join(hows)}."
