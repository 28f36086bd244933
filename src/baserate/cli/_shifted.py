"""Tidy numbers here and there -> a page: columns for here, there, and there with corrected scores."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._formatting import format_count, format_exact, format_number
from baserate._results import Results
from baserate._tally import Tally
from baserate.cli._ask import headline
from baserate.cli._options import Reading
from baserate.cli._summary import TITLES
from baserate.measure import MEASURES, about
from baserate.text import (
    EVERYBODY,
    Cell,
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    describe_omitted_classes,
    estimate_cell,
    interval_footnotes,
    shorten_label,
)

Line = Mapping[str, Any]
Lines = dict[str, dict[str, Line]]
"""Measure -> place -> row."""

HERE, THERE, CORRECTED = PLACES = ("here", "there", "corrected")
_CELLS = {"tp": "positives flagged", "fn": "positives passed", "fp": "negatives flagged", "tn": "negatives passed"}


class _Case(NamedTuple):
    """What numbers are about."""

    model: str | None
    group: tuple[tuple[str, object], ...] | None
    threshold: float | None = None


class _Part(NamedTuple):
    """A section to be: rows under a title, and how their cells are written."""

    title: str
    lines: Lines
    """Name -> place -> row."""
    cells: Callable[[Mapping[str, Line], Sequence[str]], tuple[Cell, ...]]
    apart: bool = False


def page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay out the numbers of two classes."""
    pen = _Pen(found, asked, digits)
    panels = tuple(_Sheet(found, pen).panels())
    return Page(headline(asked, found.data), panels, pen.footnotes(found))


def class_page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay out the numbers of several classes."""
    pen = _Pen(found, asked, digits)
    panels = tuple(_ClassSheet(found, pen).panels())
    return Page(headline(asked, found.data), panels, pen.footnotes(found))


class _Pen:
    """Writes cells, and remembers what footnotes must explain."""

    def __init__(self, found: Results, asked: Reading, digits: int) -> None:
        self.data, self.asked, self.digits = found.data, asked, digits
        self.reasons = Footnotes()

    def footnotes(self, found: Results) -> tuple[str, ...]:
        """Why numbers are undefined, and how intervals were made."""
        return self.reasons.footnotes() + interval_footnotes(found.rows(), found.data)

    def cells(self, lines: Mapping[str, Line], places: Sequence[str]) -> tuple[Cell, ...]:
        """A number with its interval at each place; nothing where there is none."""
        return tuple(self._cell(lines.get(place)) for place in places)

    def _cell(self, line: Line | None) -> Cell:
        shown = estimate_cell(line, self.reasons, digits=self.digits, several=True)
        if line is None or line["value"] is None or not line.get("average"):
            return shown
        # An average that leaves classes out says so.
        marks = "".join(map(self.reasons.mark, describe_omitted_classes(line)))
        return shown + marks if isinstance(shown, str) else shown._replace(value=shown.value + marks)

    def of_group(self, group: tuple[tuple[str, object], ...] | None) -> str:
        """Whose numbers they are; nothing if there are no groups."""
        if group is None:
            return EVERYBODY if self.asked.group else ""
        return ", ".join(f"{shorten_label(name)} = {shorten_label(value)}" for name, value in group)


class _Sheet:
    """Rows of two classes by what they are about: decisions, and what holds over all thresholds."""

    def __init__(self, found: Results, pen: _Pen) -> None:
        self.pen = pen
        self.tables: dict[_Case, Lines] = {}
        self.wholes: dict[_Case, Lines] = {}
        for row in found.rows():
            case = _Case(row["model"], _group(row), row["threshold"])
            decided = row["measure"] in _CELLS or about(MEASURES[row["measure"]]).of is Counts
            within = self.tables if decided else self.wholes
            within.setdefault(case, {}).setdefault(row["measure"], {})[_place(row)] = row

    def panels(self) -> Iterator[Table]:
        """For each model and group: decisions at each threshold, with ranks if there is one; then probabilities."""
        for whole in dict.fromkeys(case._replace(threshold=None) for case in (*self.tables, *self.wholes)):
            cases = [case for case in self.tables if case._replace(threshold=None) == whole]
            ranks, chances = (self._of(noun, whole) for noun in TITLES)
            for case in cases:
                more = self._whole(ranks, TITLES[Curve]) if len(cases) == 1 else []
                yield self._panel(self._flagged(case), whole, [*self._decided(self.tables[case]), *more])
            if len(cases) != 1:
                yield from self._apart(ranks, whole, TITLES[Curve])
            yield from self._apart(chances, whole, TITLES[Tally])

    def _of(self, noun: type, case: _Case) -> Lines:
        lines = self.wholes.get(case, {})
        return {name: each for name, each in lines.items() if about(MEASURES[name]).of is noun}

    def _apart(self, lines: Lines, case: _Case, title: str) -> Iterator[Table]:
        """Give them a panel of their own, under a title that names the model where there is a choice."""
        if lines:
            what = f"{self._model(case)} {title}" if case.model else title
            yield self._panel(what, case, self._whole(lines, ""))

    def _panel(self, what: str, case: _Case, parts: Sequence[_Part]) -> Table:
        shares = {
            place: line["prevalence"] for part in parts for each in part.lines.values() for place, line in each.items()
        }
        places = [place for place in PLACES if place in shares]
        sections = tuple(
            Section(
                part.title, tuple(Row(name, part.cells(each, places)) for name, each in part.lines.items()), part.apart
            )
            for part in parts
        )
        corner = ": ".join(filter(None, [self.pen.of_group(case.group), what]))
        return Table(corner, tuple(_head(place, shares[place]) for place in places), sections)

    def _decided(self, lines: Lines) -> list[_Part]:
        """Counts, then rates."""
        counts = {name: lines[short] for short, name in _CELLS.items()}
        rates = {_words(name): each for name, each in lines.items() if name not in _CELLS}
        return [_Part("", counts, self._amounts, apart=True), *([_Part("", rates, self.pen.cells)] if rates else [])]

    def _whole(self, lines: Lines, title: str) -> list[_Part]:
        return [_Part(title, {_words(name): each for name, each in lines.items()}, self.pen.cells)] if lines else []

    def _amounts(self, lines: Mapping[str, Line], places: Sequence[str]) -> tuple[str, ...]:
        return tuple(format_count(lines[place]["value"], self.pen.digits) if place in lines else "" for place in places)

    def _flagged(self, case: _Case) -> str:
        if case.threshold is None:
            return f"{self._model(case)} = {shorten_label(self.pen.data['positive'])}"
        return f"{self._model(case)} ≥ {format_exact(case.threshold)}"

    def _model(self, case: _Case) -> str:
        return shorten_label(case.model or next(iter(self.pen.asked.score), self.pen.asked.predicted))


class _ClassSheet:
    """Rows of several classes by group: a section for each measure of a class, then those of all together."""

    def __init__(self, found: Results, pen: _Pen) -> None:
        self.pen = pen
        self.groups: dict[tuple[tuple[str, object], ...] | None, list[Line]] = {}
        for row in found.rows():
            self.groups.setdefault(_group(row), []).append(row)

    def panels(self) -> Iterator[Table]:
        """One for each group."""
        for group, lines in self.groups.items():
            places = [place for place in PLACES if any(_place(line) == place for line in lines)]
            shares = self._shares(lines, places)
            measured = [line for line in lines if line["measure"] != "cell"]
            sections = [Section("", shares), *self._of_each(measured, places), *self._of_all(measured, places)]
            corner = ": ".join(filter(None, [self.pen.of_group(group), "share of each class"]))
            yield Table(corner, tuple(map(_HEADS.__getitem__, places)), tuple(sections))

    def _shares(self, lines: Sequence[Line], places: Sequence[str]) -> tuple[Row, ...]:
        found: dict[object, dict[str, float]] = {}
        for line in lines:
            if line["measure"] == "cell":
                found.setdefault(line["class"], {})[_place(line)] = line["prevalence"]
        # Corrected scores change decisions, not who is there.
        return tuple(
            Row(
                shorten_label(name),
                tuple("" if place == CORRECTED else format_number(each[place], self.pen.digits) for place in places),
            )
            for name, each in found.items()
        )

    def _of_each(self, lines: Sequence[Line], places: Sequence[str]) -> Iterator[Section]:
        found: dict[str, dict[tuple[object, str | None], dict[str, Line]]] = {}
        classes = {line["measure"] for line in lines if line["class"] is not None}
        for line in lines:
            # A name may mean each class, and also all together.
            if line["measure"] in classes and (line["class"] is not None or line["average"]):
                which = (line["class"], line["average"])
                found.setdefault(line["measure"], {}).setdefault(which, {})[_place(line)] = line
        for measure, each in found.items():
            rows = tuple(
                Row(average or shorten_label(name), self.pen.cells(at, places)) for (name, average), at in each.items()
            )
            yield Section(f"{_words(measure)}, each class against the rest", rows)

    def _of_all(self, lines: Sequence[Line], places: Sequence[str]) -> Iterator[Section]:
        found: Lines = {}
        for line in lines:
            if line["class"] is None and not line["average"]:
                found.setdefault(line["measure"], {})[_place(line)] = line
        if found:
            rows = tuple(Row(_words(name), self.pen.cells(at, places)) for name, at in found.items())
            yield Section("all classes together", rows)


_HEADS = {HERE: "here", THERE: "there", CORRECTED: "there, corrected"}


def _head(place: str, prevalence: float) -> str:
    told = f"at {100 * prevalence:.4g}\N{NO-BREAK SPACE}%"
    return {HERE: f"here, {told}", THERE: told, CORRECTED: f"{told}, corrected"}[place]


def _place(row: Line) -> str:
    return CORRECTED if row["scores"] == CORRECTED else str(row["where"])


def _group(row: Line) -> tuple[tuple[str, object], ...] | None:
    return None if row["group"] is None else tuple(row["group"].items())


def _words(name: str) -> str:
    return name.replace("_", " ")
