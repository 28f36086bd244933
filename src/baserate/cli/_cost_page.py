"""Page of `baserate costs`: the expected cost of each classifier, and iso-cost lines."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from baserate._formatting import format_count, format_exact, format_level
from baserate._results import Results
from baserate.cli._benefit import MARK, mark_cell
from baserate.cli._costs import CELLS
from baserate.cli._options import Reading
from baserate.text import Cell, CellFormatter, Page, Row, Section, Table, TidyRow, shorten_label, split_when_narrow

_FEW = 6
"""Classes whose shares are shown."""


def headline(results: Results, reading: Reading) -> str:
    """Return one line on the number of classifiers, the costs and the prevalence."""
    data = results.data
    many = sum(row["measure"] == "expected_cost" for row in results.rows())
    parts = [f"{many} classifier{'s' * (many > 1)}"] * bool(many)
    if data["positive"] is not None:
        parts.append(f"positive: {shorten_label(reading.truth)} = {shorten_label(data['positive'])}")
    costs = data["costs"]
    if "labels" in costs:
        parts.append(f"{len(_classes(data))} classes")
    else:
        parts.append("costs: " + ", ".join(f"{name.upper()} {format_exact(costs[name])}" for name in CELLS))
    if data["prevalence"] is not None:
        parts.append(f"used at {_describe_prevalence(data)}")
    return " · ".join(parts)


def page(results: Results, line: str, digits: int) -> Page:
    """Return the page of classifiers, and of iso-cost lines if they are requested."""
    layout = _CostPage(results, digits)
    panels = [*layout.classifiers(), *layout.iso_cost_lines()]
    return Page(line, tuple(panels), (*layout.format.reasons.footnotes(), *layout.notes()))


def _describe_prevalence(data: Mapping[str, Any]) -> str:
    """Describe the prevalence, or the shares of several classes, at which costs are computed."""
    stated = data["prevalence"]
    if isinstance(stated, Mapping):
        shares = (f"{shorten_label(name)}={format_exact(share)}" for name, share in stated.items())
        return f"shares of {', '.join(shares)}"
    return f"a prevalence of {format_exact(stated)}"


def _classes(data: Mapping[str, Any]) -> Sequence[str]:
    """Return the classes of all samples."""
    return list(dict.fromkeys(name for shares in data["shares"].values() for name in shares))


class _CostPage:
    """Rows of classifiers and of iso-cost lines, and the formatter of their cells."""

    def __init__(self, results: Results, digits: int) -> None:
        self.data, self.format = results.data, CellFormatter(digits)
        self.rows = [row for row in results.rows() if row["measure"] == "expected_cost"]
        self.iso_costs = [row for row in results.rows() if row["measure"] == "iso_cost"]
        per = results.data["per"]
        self.per = "per case" if per == 1 else f"per {format_count(per, digits)} cases"

    def classifiers(self) -> Iterator[Table]:
        """Yield a line for each classifier."""
        if self.rows:
            heads = (*self._headings(), "total", self.per)
            rows = tuple(Row(shorten_label(row["model"]), tuple(self._cells(row))) for row in self.rows)
            yield split_when_narrow(Table("classifier", heads, (Section("", rows),)))

    def iso_cost_lines(self) -> Iterator[Table]:
        """Yield slope, intercept and cost of each iso-cost line."""
        rows = tuple(
            Row(
                f"through FPR {format_exact(row['fpr'])}, TPR {format_exact(row['tpr'])}",
                tuple(self.format.number(row[name]) for name in ("slope", "intercept", "value")),
            )
            for row in self.iso_costs
        )
        if rows:
            heads = ("slope", "intercept", self.per)
            yield split_when_narrow(Table("line of equal cost", heads, (Section("", rows),)))

    def notes(self) -> Iterator[str]:
        """Yield the meanings of columns."""
        if self.rows:
            yield from self._column_notes()
        if self.iso_costs:
            yield "line of equal cost: TPR = intercept + slope · FPR; all points of ROC space that cost as much"

    @property
    def _has_thresholds(self) -> bool:
        """Whether some classifier has a threshold."""
        return any(row["threshold"] is not None for row in self.rows)

    @property
    def _classes(self) -> Sequence[str]:
        """Classes whose shares have columns; none if there are too many."""
        occurring = _classes(self.data)
        return occurring if len(occurring) <= _FEW else []

    def _headings(self) -> Iterator[str]:
        """Yield the headings of columns."""
        if "labels" in self.data["costs"]:
            yield from (f"share of {shorten_label(name, 14)}" for name in self._classes)
            return
        yield from ["threshold"] * self._has_thresholds
        yield from (*map(str.upper, CELLS), "measured at")

    def _cells(self, row: TidyRow) -> Iterator[Cell]:
        """Yield the cells of one classifier."""
        if "labels" in self.data["costs"]:
            shares = self.data["shares"][row["model"]]
            yield from (self._share(shares.get(name, 0.0), row["why"]) for name in self._classes)
        else:
            yield from ["" if row["threshold"] is None else format_exact(row["threshold"])] * self._has_thresholds
            yield from (format_count(row[name], self.format.digits) for name in CELLS)
            yield self._share(row["measured"], row["why"])
        yield format_count(row["total"], self.format.digits)
        best = row["cheapest"] and len(self.rows) > 1
        yield mark_cell(self.format.estimate(row), better=best)

    def _share(self, share: float | None, why: str | None) -> str:
        """Return the share of a class in a sample; undefined where the sample has no rows."""
        return self.format.mark_undefined(why) if share is None else self.format.number(share)

    def _column_notes(self) -> Iterator[str]:
        """Yield the meanings of the columns of classifiers."""
        if any(row["cheapest"] for row in self.rows) and len(self.rows) > 1:
            yield f"{MARK} the cheapest"
        if "labels" not in self.data["costs"]:
            yield "measured at: the prevalence of its own sample; total: what the whole of that cost"
        elif self._classes:
            yield "share of a class: in its own sample; total: what the whole of that cost"
        where = "in its own sample" if self.data["prevalence"] is None else f"at {_describe_prevalence(self.data)}"
        yield f"{self.per}: mean cost {where}"
        hows = dict.fromkeys(row["how"] for row in self.rows if row["low"] is not None)
        if hows:
            yield f"{format_level(self.data['level'])} % intervals of the cost {self.per}: {' or '.join(hows)}."
