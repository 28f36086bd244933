"""Tidy numbers -> a page: the 2×2 table, then measures with their plain names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._formatting import format_count, format_exact, format_number
from baserate._results import Results
from baserate._tally import Tally
from baserate.cli._ask import headline
from baserate.cli._options import Reading
from baserate.measure import MEASURES, about, named, prevalence
from baserate.text import (
    EVERYBODY,
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    describe_class,
    estimate_cell,
    interval_footnotes,
    interval_heading,
    shorten_label,
)

TITLES = {Curve: "over all thresholds", Tally: "as probabilities"}
"""Of what measures are, if not of decisions."""
_CELLS = ("tp", "fp", "fn", "tn")


class Case(NamedTuple):
    """What a number is about; the threshold is None for predicted labels and for whole curves."""

    model: str | None
    threshold: float | None = None
    group: tuple[object, ...] | None = None


def chosen(names: Sequence[str]) -> list[str] | Literal["usual", "all"]:
    """Measures by their own names, each once; none means the usual ones."""
    if "all" in names:
        return "all"
    return list(dict.fromkeys(about(named(name)).name for name in names)) or "usual"


def page(found: Results, asked: Reading, digits: int, line: str | None = None) -> Page:
    """Lay the numbers out, below the usual line on what was read or another one."""
    sheet = _Sheet(found, asked, digits)
    panels = tuple(sheet.panels())
    return Page(
        line or headline(asked, found.data),
        panels,
        sheet.reasons.footnotes() + interval_footnotes(found.rows(), found.data),
    )


class _Sheet:
    """The numbers by what they are about, and the reasons why some are undefined, in the order of their mention."""

    def __init__(self, found: Results, asked: Reading, digits: int) -> None:
        self.asked, self.data, self.digits = asked, found.data, digits
        self.reasons = Footnotes()
        self.tables: dict[Case, dict[str, Mapping[str, Any]]] = {}
        self.wholes: dict[Case, dict[str, Mapping[str, Any]]] = {}
        for row in found.rows():
            group = None if row["group"] is None else tuple(row["group"].values())
            case = Case(row["model"], row["threshold"], group)
            within = self.tables if row["measure"] in _CELLS or _noun(row["measure"]) is Counts else self.wholes
            within.setdefault(case, {})[row["measure"]] = row

    def panels(self) -> Iterator[Table]:
        """All panels: decisions first, then what holds over all thresholds."""
        if self.asked.group:
            yield from self._by_group()
        else:
            yield from self._by_case()

    def _by_case(self) -> Iterator[Table]:
        """Return one column for each model and threshold; the only one gets its 2×2 table."""
        cases, models = list(self.tables), list(self.wholes)
        if len(cases) > 1:
            yield Table("", tuple(map(self._flagged, cases)), tuple(self._decided(cases, "")))
        elif cases:
            yield self._two_by_two(cases[0])
        alone = cases if len(cases) == 1 else []
        if alone and len(models) == 1:
            at = f"at {self._flagged(alone[0])}" if alone[0].threshold is not None else f"by {self._flagged(alone[0])}"
            yield Table("", (interval_heading(self.data),), (*self._rates(alone, at), *self._whole(models)))
            return
        if alone:
            yield Table("", (interval_heading(self.data),), tuple(self._rates(alone, "")))
        if models:
            names = tuple(self._model(case) for case in models) if len(models) > 1 else (interval_heading(self.data),)
            yield Table("", names, tuple(self._whole(models)))

    def _by_group(self) -> Iterator[Table]:
        """Return a panel for each model and threshold, with a column for each group."""
        by = f"by {', '.join(map(shorten_label, self.asked.group))}"
        tables = _gathered(self.tables)
        wholes = _gathered(self.wholes)
        together = len(tables) == 1 and len(wholes) == 1
        for case, cases in tables.items():
            sections = [*self._decided(cases, ""), *(self._whole(next(iter(wholes.values()))) if together else ())]
            yield Table(f"{self._flagged(case)} {by}", tuple(map(_group, cases)), tuple(sections))
        for case, cases in () if together else wholes.items():
            yield Table("", tuple(map(_group, cases)), tuple(self._whole(cases, of=f"{self._model(case)} ")))

    def _two_by_two(self, case: Case) -> Table:
        tp, fp, fn, tn = self._cells(case)
        positive, negative = (describe_class(name, self.asked.truth, self.data) for name in ("positive", "negative"))
        lines = {
            positive: (tp, fn, tp + fn),
            negative: (fp, tn, fp + tn),
            "total": (tp + fp, fn + tn, tp + fp + fn + tn),
        }
        rows = tuple(Row(name, tuple(format_count(each, self.digits) for each in line)) for name, line in lines.items())
        return Table(self._flagged(case), ("flagged", "passed", "total"), (Section("", rows),), upright=True)

    def _decided(self, cases: Sequence[Case], title: str) -> Iterator[Section]:
        """Counts, compactly, then rates."""
        cells = [self._cells(case) for case in cases]
        lines = {
            "positives flagged": [tp for tp, _, _, _ in cells],
            "positives passed": [fn for _, _, fn, _ in cells],
            "negatives flagged": [fp for _, fp, _, _ in cells],
            "negatives passed": [tn for _, _, _, tn in cells],
            "total": [sum(each) for each in cells],
        }
        rows = [Row(name, tuple(format_count(each, self.digits) for each in line)) for name, line in lines.items()]
        yield Section(title, tuple(rows), apart=True)
        # Of groups the base rates differ, and with them whatever depends on it.
        yield from self._rates(cases, title, first=[self._prevalence(cells)] if self.asked.group else [])

    def _prevalence(self, cells: Sequence[tuple[float, float, float, float]]) -> Row:
        shares = [prevalence(Counts(tp=tp, fp=fp, fn=fn, tn=tn)) for tp, fp, fn, tn in cells]
        return Row("prevalence", tuple(format_number(share, self.digits) for share in shares))

    def _rates(self, cases: Sequence[Case], title: str, first: Sequence[Row] = ()) -> Iterator[Section]:
        names = [name for name in self.tables[cases[0]] if name not in _CELLS]
        rows = [self._row(name, [self.tables[case][name] for case in cases]) for name in names]
        first = [row for row in first if row.name not in names]
        if rows:
            yield Section(title, (*first, *rows))

    def _whole(self, cases: Sequence[Case], of: str = "") -> Iterator[Section]:
        names = list(dict.fromkeys(name for case in cases for name in self.wholes[case]))
        for noun, title in TITLES.items():
            rows = [
                self._row(name, [self.wholes[case].get(name) for case in cases])
                for name in names
                if _noun(name) is noun
            ]
            if rows:
                yield Section(of + title, tuple(rows))

    def _row(self, name: str, found: Sequence[Mapping[str, Any] | None]) -> Row:
        meaning = about(MEASURES[name]).summary if len(found) == 1 else ""
        cells = (estimate_cell(row, self.reasons, digits=self.digits, several=len(found) > 1) for row in found)
        return Row(name.replace("_", " "), tuple(cells), meaning)

    def _cells(self, case: Case) -> tuple[float, float, float, float]:
        tp, fp, fn, tn = (float(self.tables[case][name]["value"]) for name in _CELLS)
        return tp, fp, fn, tn

    def _flagged(self, case: Case) -> str:
        """When a row is flagged."""
        if case.threshold is None:
            return f"{self._model(case)} = {shorten_label(self.data['positive'])}"
        return f"{self._model(case)} ≥ {format_exact(case.threshold)}"

    def _model(self, case: Case) -> str:
        return shorten_label(case.model or next(iter(self.asked.score), self.asked.predicted))


def _gathered(cases: Mapping[Case, object]) -> dict[Case, list[Case]]:
    """Cases that differ in their group alone."""
    found: dict[Case, list[Case]] = {}
    for case in cases:
        found.setdefault(case._replace(group=None), []).append(case)
    return found


def _group(case: Case) -> str:
    named = ", ".join(map(shorten_label, case.group or ()))
    return EVERYBODY if case.group is None else repr(named) if named == EVERYBODY else named


def _noun(measure: str) -> type:
    return about(MEASURES[measure]).of
