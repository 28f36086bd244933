"""Pages of `baserate measure`, of two classes or several: confusion matrices, then measures with their meanings."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._formatting import format_count, format_exact
from baserate._results import Results
from baserate._tally import Tally
from baserate.cli._io import headline
from baserate.cli._options import Reading
from baserate.measure import describe, find_measure, get_measure, prevalence
from baserate.text import (
    Cell,
    CellFormatter,
    CellWriter,
    Explanation,
    GroupKey,
    Page,
    Pivot,
    Row,
    Section,
    Table,
    TidyRow,
    class_matrix,
    confusion_table,
    describe_class,
    group_heading,
    group_key,
    interval_heading,
    list_table,
    measure_label,
    number_when_narrow,
    shorten_label,
)

MANY = 40
"""Number of classes above which their confusion matrix is not shown."""
_MOST = 20
"""Most frequent errors that are shown instead."""
TITLES = {Curve: "over all thresholds", Tally: "as probabilities"}
"""Titles of measures that are not of decisions, by what they are computed from."""
COUNTS = {"tp": "true positives", "fn": "false negatives", "fp": "false positives", "tn": "true negatives"}
"""Cells of the confusion matrix, in the order of their lines."""
_COUNT_LABELS = {**COUNTS, "total": "total"}


class Subject(NamedTuple):
    """Model, threshold and group of a number; the threshold is None for predicted labels and whole curves."""

    model: str | None
    threshold: float | None = None
    group: GroupKey = None

    def describe_model(self, reading: Reading) -> str:
        """Return the name of the model, or of the only column of scores or labels."""
        return shorten_label(self.model or next(iter(reading.score), reading.predicted))

    def describe_decision(self, reading: Reading, data: Mapping[str, Any]) -> str:
        """Describe the rows that are flagged."""
        if self.threshold is None and "policies" in data:
            return "flagged by the policy"
        if self.threshold is None:
            return f"{self.describe_model(reading)} = {shorten_label(data['positive'])}"
        return f"{self.describe_model(reading)} ≥ {format_exact(self.threshold)}"


def split_by_subject(
    rows: Iterable[TidyRow],
) -> tuple[dict[Subject, list[TidyRow]], dict[Subject, list[TidyRow]]]:
    """Return rows of decisions and rows of scores by subject, each with what its measure is computed from."""
    decisions: dict[Subject, list[TidyRow]] = {}
    scores: dict[Subject, list[TidyRow]] = {}
    for row in rows:
        subject = Subject(row["model"], row["threshold"], group_key(row))
        kind = Counts if row["measure"] in COUNTS else describe(find_measure(row["measure"])).of
        subjects = decisions if kind is Counts else scores
        subjects.setdefault(subject, []).append({**row, "subject": subject, "kind": kind})
    return decisions, scores


def _explain_measure(name: str) -> Explanation:
    """Explain a measure; cells need no explanation."""
    measure = get_measure(name)
    return Explanation("" if measure is None else describe(measure).summary)


def parse_measures(names: Sequence[str]) -> list[str] | Literal["usual", "all"]:
    """Return measures by their own names, each once; none means the usual ones."""
    if "all" in names:
        return "all"
    return list(dict.fromkeys(describe(find_measure(name)).name for name in names)) or "usual"


def measure_page(results: Results, reading: Reading, digits: int, line: str | None = None) -> Page:
    """Return the page of some results, below the usual line on the data or another one."""
    layout = _MeasurePage(results, reading, digits)
    panels = tuple(layout.panels())
    return Page(line or headline(reading, results.data), panels, layout.format.footnotes(results.rows(), results.data))


class _MeasurePage:
    """Rows by subject, those of decisions and those of scores, each with the kind of its section."""

    def __init__(self, results: Results, reading: Reading, digits: int) -> None:
        self.reading, self.data, self.format = reading, results.data, CellFormatter(digits)
        self.decisions, self.scores = split_by_subject(results.rows())

    def panels(self) -> Iterator[Table]:
        """Yield all panels: decisions first, then measures over all thresholds."""
        yield from self._by_group() if self.reading.group else self._by_subject()

    def _by_subject(self) -> Iterator[Table]:
        """Yield a column for each model and threshold; a single one gets its confusion matrix."""
        decisions, scores = list(self.decisions), list(self.scores)
        if len(decisions) > 1:
            yield self._pivot(heading=self._describe_decision).table(self._decision_rows(decisions))
        elif decisions:
            yield self._confusion_matrix(decisions[0])
        rates = self._rates(decisions[0]) if len(decisions) == 1 else []
        single = self._pivot(column=_single_column, heading=self._interval_heading, several=False)
        if rates and len(scores) == 1:
            (subject,) = decisions
            word = "by" if subject.threshold is None else "at"
            title = f"{word} {self._describe_decision(subject)}"
            pivot = self._pivot(column=_single_column, heading=self._interval_heading, several=False, rates=title)
            yield pivot.table([*rates, *self._score_rows(scores)])
            return
        if rates:
            yield single.table(rates)
        if scores:
            pivot = self._pivot(heading=self._model) if len(scores) > 1 else single
            yield pivot.table(self._score_rows(scores))

    def _by_group(self) -> Iterator[Table]:
        """Yield a panel for each model and threshold, with a column for each group."""
        by = f"by {', '.join(map(shorten_label, self.reading.group))}"
        decisions, scores = _merge_groups(self.decisions), _merge_groups(self.scores)
        joint = len(decisions) == 1 and len(scores) == 1
        pivot = self._pivot(column=_group_of, heading=group_heading)
        for subject, subjects in decisions.items():
            rows = self._decision_rows(subjects)
            rows += self._score_rows(next(iter(scores.values()))) if joint else []
            yield pivot.table(rows, corner=f"{self._describe_decision(subject)} {by}")
        for subject, subjects in () if joint else scores.items():
            pivot = self._pivot(column=_group_of, heading=group_heading, prefix=f"{self._model(subject)} ")
            yield pivot.table(self._score_rows(subjects))

    def _pivot(
        self,
        *,
        heading: Callable[[Any], str],
        column: Callable[[TidyRow], Any] = itemgetter("subject"),
        several: bool = True,
        rates: str = "",
        prefix: str = "",
    ) -> Pivot:
        """Return the layout: lines by measure, sections by kind; `rates` is the title of measures of decisions."""
        titles = {Counts: rates, **{kind: prefix + title for kind, title in TITLES.items()}}
        return Pivot(
            line=itemgetter("measure"),
            column=column,
            section=lambda row: "counts" if row["measure"] in _COUNT_LABELS else row["kind"],
            cell=partial(self._cell, several=several),
            label=lambda measure: _COUNT_LABELS.get(measure) or measure_label(measure, self.data),
            heading=heading,
            title=lambda kind: titles.get(kind, ""),
            meaning=_explain_measure,
            apart={"counts"},
        )

    def _cell(self, row: TidyRow, *, several: bool) -> Cell:
        """Return the cell of a count or of an estimate."""
        return self.format.count(row) if row["measure"] in _COUNT_LABELS else self.format.estimate(row, several=several)

    def _confusion_matrix(self, subject: Subject) -> Table:
        """Return the confusion matrix of one subject."""
        counts = self._counts(subject)
        classes = {name: describe_class(name, self.reading.truth, self.data) for name in ("positive", "negative")}

        def text(*cells: str) -> str:
            return format_count(sum(counts[cell] for cell in cells), self.format.digits)

        return confusion_table(self._describe_decision(subject), classes, counts, text)

    def _decision_rows(self, subjects: Sequence[Subject]) -> list[TidyRow]:
        """Return counts with their total, then rates, of some subjects."""
        rows: list[TidyRow] = []
        for subject in subjects:
            counts = self._counts(subject)
            totals = {**{cell: counts[cell] for cell in COUNTS}, "total": sum(counts.values())}
            rows += ({"measure": name, "value": value, "subject": subject} for name, value in totals.items())
        return [*rows, *(row for subject in subjects for row in self._rates(subject))]

    def _rates(self, subject: Subject) -> list[TidyRow]:
        """Return the measures of decisions; in groups below the prevalence, on which some of them depend."""
        rows = [row for row in self.decisions[subject] if row["measure"] not in COUNTS]
        if not rows or not self.reading.group or any(row["measure"] == "prevalence" for row in rows):
            return rows
        tp, fp, fn, tn = self._counts(subject).values()
        share = prevalence(Counts(tp=tp, fp=fp, fn=fn, tn=tn))
        return [{"measure": "prevalence", "value": share, "subject": subject, "kind": Counts}, *rows]

    def _score_rows(self, subjects: Sequence[Subject]) -> list[TidyRow]:
        """Return the measures of scores of some subjects, ranks before probabilities."""
        rows = [row for subject in subjects for row in self.scores[subject]]
        return [row for kind in TITLES for row in rows if row["kind"] is kind]

    def _counts(self, subject: Subject) -> dict[str, float]:
        """Return the cells of the confusion matrix."""
        values = {row["measure"]: row["value"] for row in self.decisions[subject]}
        return {cell: float(values[cell]) for cell in ("tp", "fp", "fn", "tn")}

    def _interval_heading(self, _column: object) -> str:
        """Return the heading of a single column."""
        return interval_heading(self.data)

    def _describe_decision(self, subject: Subject) -> str:
        return subject.describe_decision(self.reading, self.data)

    def _model(self, subject: Subject) -> str:
        return subject.describe_model(self.reading)


def _single_column(_row: TidyRow) -> None:
    """Put all rows into one column."""


def _group_of(row: TidyRow) -> GroupKey:
    """Return the group of a row as the key of its column."""
    subject: Subject = row["subject"]
    return subject.group


def _merge_groups(subjects: Sequence[Subject] | dict[Subject, list[TidyRow]]) -> dict[Subject, list[Subject]]:
    """Return subjects that differ only in their group, by what they share."""
    by_shared: dict[Subject, list[Subject]] = {}
    for subject in subjects:
        by_shared.setdefault(subject._replace(group=None), []).append(subject)
    return by_shared


def multiclass_page(results: Results, reading: Reading, digits: int, line: str | None = None) -> Page:
    """Return the page of several classes, below the usual line on the data or another one."""
    layout = _ClassPage(results, reading, digits)
    panels = tuple(layout.panels())
    return Page(line or headline(reading, results.data), panels, layout.format.footnotes(results.rows(), results.data))


class _ClassPage:
    """Rows by group, and the formatter that collects the footnotes of their cells."""

    def __init__(self, results: Results, reading: Reading, digits: int) -> None:
        self.reading, self.data, self.format = reading, results.data, CellFormatter(digits)
        self.groups: dict[GroupKey, list[TidyRow]] = {}
        for row in results.rows():
            self.groups.setdefault(group_key(row), []).append(row)

    def panels(self) -> Iterator[Table]:
        """Yield the confusion matrix, then classes, then measures of all classes, with a column for each group."""
        everybody = self.groups[None]
        cells = [row for row in everybody if row["measure"] == "cell"]
        if any(row["measure"] in COUNTS for row in everybody):
            yield self._cells_by_label([row for row in everybody if row["measure"] in COUNTS])
        elif cells:
            yield self._frequent_errors(cells) if len(self.data["classes"]) > MANY else self._confusion_matrix(cells)
        elif pairs := [row for row in everybody if row["measure"] == "pairwise_ordinal_auc"]:
            yield self._pairs(pairs)
        yield from self._by_class(everybody)
        yield from self._all_classes()

    def _pairs(self, pairs: Sequence[TidyRow]) -> Table:
        """Return the AUC of each pair of ordered classes."""

        def name(row: TidyRow) -> str:
            return f"{shorten_label(row['class'])} above {shorten_label(row['against'])}"

        return list_table(pairs, {"AUC": self.format.value}, label=name, corner=str(self.reading.truth))

    def _confusion_matrix(self, cells: Sequence[TidyRow]) -> Table:
        """Return counts and shares of each row, truth in rows."""
        classes = self.data["classes"]
        masses = [row["value"] for row in cells]
        lines = [masses[at : at + len(classes)] for at in range(0, len(masses), len(classes))]
        shares = [self._share_line(name, line) for name, line in zip(classes, lines, strict=True)]
        matrix = class_matrix(self._corner(), classes, lines, digits=self.format.digits)
        return number_when_narrow(
            replace(matrix, sections=(*matrix.sections, Section("% of each row", tuple(shares), apart=True)))
        )

    def _cells_by_label(self, rows: Sequence[TidyRow]) -> Table:
        """Return the four cells of each label, where rows have sets of labels."""
        pivot = Pivot(
            line=lambda row: str(row["class"]),
            column=itemgetter("measure"),
            section=lambda _row: "",
            cell=self.format.count,
            label=shorten_label,
            heading=COUNTS.__getitem__,
        )
        return pivot.table(rows, corner="each label", columns=list(COUNTS))

    def _frequent_errors(self, cells: Sequence[TidyRow]) -> Table:
        """Return the most frequent errors, where a table of all classes would be too large to read."""
        total: dict[str, float] = {}
        for row in cells:
            total[str(row["class"])] = total.get(str(row["class"]), 0.0) + row["value"]
        errors = [row for row in cells if row["class"] != row["against"]]
        columns: dict[str, CellWriter] = {
            "count": self.format.count,
            "% of the class": lambda row: _percent(row["value"] / total[str(row["class"])]),
        }
        table = list_table(
            sorted(errors, key=lambda row: -row["value"])[:_MOST],
            columns,
            label=lambda row: f"{shorten_label(row['class'])} → {shorten_label(row['against'])}",
            corner=f"{self._corner()} the most frequent errors",
        )
        return replace(table, upright=True)

    def _corner(self) -> str:
        """Return the names of the label and of the decision."""
        truth = shorten_label(self.reading.truth or "truth")
        scores = "highest score" if self.data["columns"].get("score") else "decided"
        return f"{truth} ↓ {shorten_label(self.reading.predicted or scores)} →"

    def _share_line(self, name: object, masses: Sequence[float]) -> Row:
        """Return the decisions on one class in percent."""
        total = sum(masses)
        shares = (_percent(mass / total) if total else self.format.mark_undefined(_NO_ROW) for mass in (*masses, total))
        return Row(shorten_label(name), tuple(shares))

    def _by_class(self, rows: Sequence[TidyRow]) -> Iterator[Table]:
        """Yield classes and averages in lines, measures in columns."""
        places = {str(name): at for at, name in enumerate(self.data["classes"])}
        elsewhere = {"cell", "pairwise_auc", "pairwise_ordinal_auc", *COUNTS}
        measures = [row for row in rows if row["measure"] not in elsewhere]
        columns = list(dict.fromkeys(row["measure"] for row in measures if row["class"] is not None))
        averages = [row for row in measures if row["average"]]
        classes = [row for row in measures if not row["average"] and str(row["class"]) in places]
        pivot = Pivot(
            line=lambda row: (row["average"], None if row["average"] else str(row["class"])),
            column=itemgetter("measure"),
            section=lambda row: "averages" if row["average"] else "",
            cell=self.format.average,
            label=lambda line: line[0] or shorten_label(line[1]),
            heading=lambda measure: measure_label(measure, self.data),
        )
        if columns:
            classes.sort(key=lambda row: places[str(row["class"])])
            yield pivot.table([*classes, *averages], corner="each class against the rest", columns=columns)

    def _all_classes(self) -> Iterator[Table]:
        """Yield measures of all classes; with groups, a column for each, and averages too."""
        several = len(self.groups) > 1
        rows = [
            {**row, "subject": group}
            for group, rows in self.groups.items()
            for row in rows
            if row["class"] is None and (several or row["average"] is None)
        ]
        lines = {_whole_line(row) for row in rows if row["subject"] is None}
        if not lines:
            return
        title = "all classes together"
        if several:
            title = f"all classes by {', '.join(map(shorten_label, self.reading.group))}"
        pivot = Pivot(
            line=_whole_line,
            column=itemgetter("subject"),
            section=lambda _row: "" if several else title,
            cell=partial(self.format.average, several=several),
            label=lambda line: " ".join(filter(None, [line[1], measure_label(line[0], self.data)])),
            heading=group_heading if several else lambda _group: interval_heading(self.data),
            meaning=lambda line: self._meaning(line[0]),
        )
        of_lines = [row for row in rows if _whole_line(row) in lines]
        yield pivot.table(of_lines, corner=title if several else "", columns=list(self.groups))

    def _meaning(self, name: str) -> Explanation:
        """Return the summary of a measure of several classes."""
        from baserate.measure import describe, multiclass

        return Explanation(describe(multiclass.find_measure(name)).summary)


_NO_ROW = "no row is of this class"


def _whole_line(row: TidyRow) -> tuple[str, str | None]:
    """Return the measure and the average that a line of all classes is of."""
    return (row["measure"], row["average"])


def _percent(share: float) -> str:
    return "0" if share == 0 else f"{100 * share:.1f}"
