"""Page of `baserate shift`: columns for the sample, for deployment, and for deployment with corrected scores."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._formatting import format_exact, format_number
from baserate._results import Results
from baserate._tally import Tally
from baserate.cli._io import headline
from baserate.cli._measure_page import TITLES
from baserate.cli._options import Reading
from baserate.measure import MEASURES, describe
from baserate.text import (
    EVERYBODY,
    Cell,
    CellFormatter,
    GroupKey,
    Page,
    Pivot,
    Table,
    TidyRow,
    group_key,
    measure_label,
    shorten_label,
)

HERE, THERE, CORRECTED = PLACES = ("here", "there", "corrected")
_COUNTS = {"tp": "positives flagged", "fn": "positives passed", "fp": "negatives flagged", "tn": "negatives passed"}
_HEADINGS = {HERE: "here", THERE: "there", CORRECTED: "there, corrected"}


class _Subject(NamedTuple):
    """What numbers are about; the threshold is None for predicted labels and for whole curves."""

    model: str | None
    group: GroupKey
    threshold: float | None = None


def page(results: Results, reading: Reading, digits: int) -> Page:
    """Return the page of two classes."""
    return _lay_out(_BinaryPage(results, reading, digits), results)


def class_page(results: Results, reading: Reading, digits: int) -> Page:
    """Return the page of several classes."""
    return _lay_out(_ClassPage(results, reading, digits), results)


def _lay_out(layout: "_BinaryPage | _ClassPage", results: Results) -> Page:
    panels = tuple(layout.panels())
    return Page(headline(layout.reading, results.data), panels, layout.format.footnotes(results.rows(), results.data))


class _BinaryPage:
    """Rows of two classes by subject: decisions, and measures over all thresholds."""

    def __init__(self, results: Results, reading: Reading, digits: int) -> None:
        self.data, self.reading, self.format = results.data, reading, CellFormatter(digits)
        self.decisions: dict[_Subject, list[TidyRow]] = {}
        self.scores: dict[_Subject, list[TidyRow]] = {}
        for row in results.rows():
            subject = _Subject(row["model"], group_key(row), row["threshold"])
            kind = Counts if row["measure"] in _COUNTS else describe(MEASURES[row["measure"]]).of
            rows = self.decisions if kind is Counts else self.scores
            rows.setdefault(subject, []).append({**row, "kind": kind})

    def panels(self) -> Iterator[Table]:
        """Yield decisions at each threshold, with ranks if there is one; then probabilities."""
        for whole in dict.fromkeys(each._replace(threshold=None) for each in (*self.decisions, *self.scores)):
            subjects = [each for each in self.decisions if each._replace(threshold=None) == whole]
            ranks, probabilities = (self._scores(whole, kind) for kind in (Curve, Tally))
            for subject in subjects:
                rows = [*_counts_first(self.decisions[subject]), *(ranks if len(subjects) == 1 else [])]
                yield self._table(self._describe_decision(subject), whole, rows, TITLES)
            if len(subjects) != 1:
                yield from self._separate_table(ranks, whole, TITLES[Curve])
            yield from self._separate_table(probabilities, whole, TITLES[Tally])

    def _scores(self, subject: _Subject, kind: type) -> list[TidyRow]:
        """Return the measures of one kind over all thresholds."""
        return [row for row in self.scores.get(subject, []) if row["kind"] is kind]

    def _separate_table(self, rows: Sequence[TidyRow], subject: _Subject, title: str) -> Iterator[Table]:
        """Yield measures in a panel of their own, under a title that names the model if there are several."""
        if rows:
            corner = f"{self._model(subject)} {title}" if subject.model else title
            yield self._table(corner, subject, rows, {})

    def _table(self, corner: str, subject: _Subject, rows: Sequence[TidyRow], titles: Mapping[type, str]) -> Table:
        """Return rows under a column for each place, with its prevalence in the heading."""
        shares = {_place(row): row["prevalence"] for row in rows}
        pivot = Pivot(
            line=itemgetter("measure"),
            column=_place,
            section=lambda row: "counts" if row["measure"] in _COUNTS else row["kind"],
            cell=lambda row: self.format.count(row) if row["measure"] in _COUNTS else _estimate(self.format, row),
            label=lambda measure: _COUNTS.get(measure, measure_label(measure)),
            heading=lambda place: _describe_place(place, shares[place]),
            title=lambda kind: titles.get(kind, ""),
            apart={"counts"},
        )
        corner = ": ".join(filter(None, [_describe_group(subject.group, self.reading), corner]))
        return pivot.table(rows, corner=corner, columns=[place for place in PLACES if place in shares])

    def _describe_decision(self, subject: _Subject) -> str:
        """Describe the rows that are flagged."""
        if subject.threshold is None:
            return f"{self._model(subject)} = {shorten_label(self.data['positive'])}"
        return f"{self._model(subject)} ≥ {format_exact(subject.threshold)}"

    def _model(self, subject: _Subject) -> str:
        """Return the name of the model, or of the only column of scores or labels."""
        return shorten_label(subject.model or next(iter(self.reading.score), self.reading.predicted))


class _ClassPage:
    """Rows of several classes by group: a section for each measure of a class, then measures of all classes."""

    def __init__(self, results: Results, reading: Reading, digits: int) -> None:
        self.reading, self.format = reading, CellFormatter(digits)
        self.groups: dict[GroupKey, list[TidyRow]] = {}
        for row in results.rows():
            self.groups.setdefault(group_key(row), []).append(row)

    def panels(self) -> Iterator[Table]:
        """Yield one table for each group."""
        pivot = Pivot(
            line=_class_line,
            column=_place,
            section=itemgetter("section"),
            cell=self._cell,
            label=_class_label,
            heading=_HEADINGS.__getitem__,
        )
        for group, rows in self.groups.items():
            corner = ": ".join(filter(None, [_describe_group(group, self.reading), "share of each class"]))
            places = {_place(row) for row in rows}
            columns = [place for place in PLACES if place in places]
            yield pivot.table(_with_sections(rows), corner=corner, columns=columns)

    def _cell(self, row: TidyRow) -> Cell:
        """Return the share of a class, or a measure."""
        if row["measure"] != "cell":
            return _estimate(self.format, row)
        # Corrected scores change decisions, not the shares of classes.
        return "" if _place(row) == CORRECTED else format_number(row["prevalence"], self.format.digits)


def _counts_first(rows: Sequence[TidyRow]) -> list[TidyRow]:
    """Return rows with the cells of the confusion matrix first, in the order of their lines."""
    counts = [row for cell in _COUNTS for row in rows if row["measure"] == cell]
    return [*counts, *(row for row in rows if row["measure"] not in _COUNTS)]


def _with_sections(rows: Sequence[TidyRow]) -> Iterator[TidyRow]:
    """Yield rows with their section: shares of classes, each measure of classes, then measures of all classes."""
    yield from ({**row, "section": ""} for row in rows if row["measure"] == "cell")
    measures = dict.fromkeys(row["measure"] for row in rows if row["measure"] != "cell")
    by_class = {row["measure"] for row in rows if row["measure"] != "cell" and row["class"] is not None}
    for measure in measures:
        for row in rows:
            # The name of a measure may mean each class against the rest, and also all classes together.
            if row["measure"] == measure and measure in by_class and (row["class"] is not None or row["average"]):
                yield {**row, "section": f"{measure_label(measure)}, each class against the rest"}
    for row in rows:
        if row["measure"] != "cell" and row["class"] is None and not row["average"]:
            yield {**row, "section": "all classes together"}


def _class_line(row: TidyRow) -> tuple[object, str | None, str | None]:
    """Return the class, the average, or the measure of all classes that a line is of."""
    whole = row["class"] is None and not row["average"]
    return (row["class"], row["average"], row["measure"] if whole else None)


def _class_label(line: tuple[object, str | None, str | None]) -> str:
    """Return the name of a class, of an average or of a measure."""
    name, average, measure = line
    return measure_label(measure) if measure else average or shorten_label(name)


def _estimate(formatter: CellFormatter, row: TidyRow) -> Cell:
    """Return a number with its interval; an average says which classes it leaves out."""
    return formatter.average(row) if row.get("average") else formatter.estimate(row)


def _describe_group(group: GroupKey, reading: Reading) -> str:
    """Return the attributes of a group; nothing if there are no groups."""
    if group is None:
        return EVERYBODY if reading.group else ""
    return ", ".join(f"{shorten_label(name)} = {shorten_label(value)}" for name, value in group)


def _describe_place(place: str, prevalence: float) -> str:
    """Return the heading of a column, with its prevalence."""
    share = f"at {100 * prevalence:.4g}\N{NO-BREAK SPACE}%"
    return {HERE: f"here, {share}", THERE: share, CORRECTED: f"{share}, corrected"}[place]


def _place(row: TidyRow) -> str:
    """Return the column of a row: the sample, deployment, or deployment with corrected scores."""
    return CORRECTED if row["scores"] == CORRECTED else str(row["where"])
