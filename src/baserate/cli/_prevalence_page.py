"""Pages of prevalence: `baserate shift` (sample and deployment side by side), its curves, and `baserate prevalence`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from baserate._curve import Curve
from baserate._formatting import format_count, format_exact, format_level, format_number, format_p
from baserate._results import Results
from baserate._tally import Tally
from baserate.cli._io import headline
from baserate.cli._measure_page import COUNTS, TITLES, Subject, split_by_subject
from baserate.cli._options import Reading
from baserate.measure import describe, find_measure, get_measure
from baserate.shift import CORRECTED_SCORES, ESTIMATORS, RAW_SCORES, SIGNIFICANCE_LEVEL, TARGET, VALIDATION
from baserate.text import (
    Cell,
    CellFormatter,
    Explanation,
    GroupKey,
    Page,
    Pivot,
    Row,
    Section,
    Table,
    TidyRow,
    align_decimals,
    describe_group,
    group_key,
    interval_footnotes,
    interval_heading,
    measure_label,
    shorten_label,
    split_when_narrow,
)

SAMPLE, DEPLOYMENT, CORRECTED = PLACES = ("here", "there", CORRECTED_SCORES)
"""Columns of a page of `baserate shift`; the first two are values of the column `where` in JSON."""
_HEADINGS = {SAMPLE: "in the sample", DEPLOYMENT: "in deployment", CORRECTED: "in deployment, corrected"}
_COLUMNS_OF_CURVES = 3
"""Measures of a prevalence curve side by side: more with their bounds exceed a terminal."""


def shift_page(results: Results, reading: Reading, digits: int) -> Page:
    """Return the page of two classes."""
    return _lay_out(_BinaryPage(results, reading, digits), results)


def shift_class_page(results: Results, reading: Reading, digits: int) -> Page:
    """Return the page of several classes."""
    return _lay_out(_ClassPage(results, reading, digits), results)


def _lay_out(layout: "_BinaryPage | _ClassPage", results: Results) -> Page:
    panels = tuple(layout.panels())
    return Page(headline(layout.reading, results.data), panels, layout.format.footnotes(results.rows(), results.data))


class _BinaryPage:
    """Rows of two classes by subject: decisions, and measures over all thresholds."""

    def __init__(self, results: Results, reading: Reading, digits: int) -> None:
        self.data, self.reading, self.format = results.data, reading, CellFormatter(digits)
        self.decisions, self.scores = split_by_subject(results.rows())

    def panels(self) -> Iterator[Table]:
        """Yield decisions at each threshold, with ranks if there is one; then probabilities."""
        for whole in dict.fromkeys(each._replace(threshold=None) for each in (*self.decisions, *self.scores)):
            subjects = [each for each in self.decisions if each._replace(threshold=None) == whole]
            ranks, probabilities = (self._scores(whole, kind) for kind in (Curve, Tally))
            for subject in subjects:
                rows = [*_counts_first(self.decisions[subject]), *(ranks if len(subjects) == 1 else [])]
                yield self._table(subject.describe_decision(self.reading, self.data), whole, rows, TITLES)
            if len(subjects) != 1:
                yield from self._separate_table(ranks, whole, TITLES[Curve])
            yield from self._separate_table(probabilities, whole, TITLES[Tally])

    def _scores(self, subject: Subject, kind: type) -> list[TidyRow]:
        """Return the measures of one kind over all thresholds."""
        return [row for row in self.scores.get(subject, []) if row["kind"] is kind]

    def _separate_table(self, rows: Sequence[TidyRow], subject: Subject, title: str) -> Iterator[Table]:
        """Yield measures in a panel of their own, under a title that names the model if there are several."""
        if rows:
            corner = f"{subject.describe_model(self.reading)} {title}" if subject.model else title
            yield self._table(corner, subject, rows, {})

    def _table(self, corner: str, subject: Subject, rows: Sequence[TidyRow], titles: Mapping[type, str]) -> Table:
        """Return rows under a column for each place, with its prevalence in the heading."""
        prevalences = {_place(row): row["prevalence"] for row in rows}
        pivot = Pivot(
            line=itemgetter("measure"),
            column=_place,
            section=lambda row: "counts" if row["measure"] in COUNTS else row["kind"],
            cell=lambda row: self.format.count(row) if row["measure"] in COUNTS else _estimate(self.format, row),
            label=lambda measure: COUNTS.get(measure) or measure_label(measure, self.data),
            heading=lambda place: _describe_place(place, prevalences[place]),
            title=lambda kind: titles.get(kind, ""),
            apart={"counts"},
        )
        corner = _prefix_group(subject.group, self.reading, corner)
        return pivot.table(rows, corner=corner, columns=[place for place in PLACES if place in prevalences])


class _ClassPage:
    """Rows of several classes by group: a section for each measure of a class, then measures of all classes."""

    def __init__(self, results: Results, reading: Reading, digits: int) -> None:
        self.data, self.reading, self.format = results.data, reading, CellFormatter(digits)
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
            label=partial(_class_label, data=self.data),
            heading=_HEADINGS.__getitem__,
        )
        for group, rows in self.groups.items():
            corner = _prefix_group(group, self.reading, "share of each class")
            places = {_place(row) for row in rows}
            columns = [place for place in PLACES if place in places]
            of_group = _with_sections(rows, self.data, ", each class against the rest")
            yield pivot.table(of_group, corner=corner, columns=columns)

    def _cell(self, row: TidyRow) -> Cell:
        """Return the share of a class, or a measure."""
        if row["measure"] != "cell":
            return _estimate(self.format, row)
        # Corrected scores change decisions, not the shares of classes.
        return "" if _place(row) == CORRECTED else format_number(row["prevalence"], self.format.digits)


def _counts_first(rows: Sequence[TidyRow]) -> list[TidyRow]:
    """Return rows with the cells of the confusion matrix first, in the order of their lines."""
    counts = [row for cell in COUNTS for row in rows if row["measure"] == cell]
    return [*counts, *(row for row in rows if row["measure"] not in COUNTS)]


def _with_sections(rows: Sequence[TidyRow], data: Mapping[str, Any], suffix: str = "") -> Iterator[TidyRow]:
    """Yield rows with their section: shares of classes, each measure of classes, then measures of all classes."""
    yield from ({**row, "section": ""} for row in rows if row["measure"] == "cell")
    measures = dict.fromkeys(row["measure"] for row in rows if row["measure"] != "cell" and row["class"] is not None)
    for measure in measures:
        for row in rows:
            # The name of a measure may mean each class against the rest, and also all classes together.
            if row["measure"] == measure and (row["class"] is not None or row["average"]):
                yield {**row, "section": measure_label(measure, data) + suffix}
    for row in rows:
        if row["measure"] != "cell" and row["class"] is None and not row["average"]:
            yield {**row, "section": "all classes together"}


def _class_line(row: TidyRow) -> tuple[object, str | None, str | None]:
    """Return the class, the average, or the measure of all classes that a line is of."""
    whole = row["class"] is None and not row["average"]
    return (row["class"], row["average"], row["measure"] if whole else None)


def _class_label(line: tuple[object, str | None, str | None], data: Mapping[str, Any]) -> str:
    """Return the name of a class, of an average or of a measure."""
    name, average, measure = line
    return measure_label(measure, data) if measure else average or shorten_label(name)


def _estimate(formatter: CellFormatter, row: TidyRow) -> Cell:
    """Return a number with its interval; an average says which classes it leaves out."""
    return formatter.average(row) if row.get("average") else formatter.estimate(row)


def _prefix_group(group: GroupKey, reading: Reading, text: str) -> str:
    """Return a text behind the name of its group, if there are groups."""
    return f"{describe_group(group)}: {text}" if reading.group else text


def _describe_place(place: str, prevalence: float) -> str:
    """Return the heading of a column, with its prevalence."""
    share = f"at {100 * prevalence:.4g}%"
    return {SAMPLE: f"sample, {share}", DEPLOYMENT: share, CORRECTED: f"{share}, corrected"}[place]


def _place(row: TidyRow) -> str:
    """Return the column of a row: the sample, deployment, or deployment with corrected scores."""
    return CORRECTED if row["scores"] == CORRECTED_SCORES else str(row["where"])


def prevalence_curve_page(results: Results, reading: Reading, digits: int) -> Page:
    """Return a panel for each curve, one line for each prevalence."""
    formatter = CellFormatter(digits)
    curves: dict[Subject, dict[str, list[TidyRow]]] = {}
    for row in results.rows():
        subject = Subject(row["model"], row["threshold"], group_key(row))
        curves.setdefault(subject, {}).setdefault(row["measure"], []).append(row)
    panels = []
    for subject, measures in curves.items():
        decision = subject.describe_decision(reading, results.data)
        corner = _prefix_group(subject.group, reading, f"{decision}, prevalence")
        for start in range(0, len(measures), _COLUMNS_OF_CURVES):
            shown = [*measures][start : start + _COLUMNS_OF_CURVES]
            panels.append(_curve_table(corner, {name: measures[name] for name in shown}, formatter))
    notes = []
    if "interval" in results.data:
        level = format_level(results.data["interval"]["level"])
        notes = [f"Intervals: {level}% confidence at each prevalence (pointwise), taken as known."]
    return Page(headline(reading, results.data), tuple(panels), (*formatter.reasons.footnotes(), *notes))


def _curve_table(corner: str, measures: Mapping[str, Sequence[TidyRow]], formatter: CellFormatter) -> Table:
    """Return the table of some measures at all prevalences."""
    lines = list(zip(*measures.values(), strict=True))
    names = align_decimals([format_exact(float(f"{line[0]['prevalence']:.4g}")) for line in lines])
    rows = tuple(Row(name, tuple(map(formatter.estimate, line))) for name, line in zip(names, lines, strict=True))
    return Table(corner, tuple(map(measure_label, measures)), (Section("", rows),))


_TESTS = {
    "goodness_of_fit_test": (
        "The target's scores can be a mixture of those of both classes.",
        "The target's scores are not a mixture of those of both classes.",
    ),
    "overidentification_test": (
        "The target's scores can be a mixture of those of the classes.",
        "The target's scores are not a mixture of those of the classes.",
    ),
    "binned_less_pacc_test": (
        "Estimates by histograms and by the mean score agree.",
        "Estimates by histograms and by the mean score disagree.",
    ),
    "mlls_less_pacc_test": (
        "Estimates by likelihood and by the mean agree.",
        "Estimates by likelihood and by the mean disagree.",
    ),
    "calibration_curve_test": (
        "The probabilities behind the estimate fit the validation data.",
        "The probabilities behind the estimate do not fit the validation data.",
    ),
}
"""Test -> its conclusion where it does not reject, and where it does."""
_SETS = {VALIDATION: "in validation", TARGET: "at the estimate"}


def prevalence_page(results: Results, reading: Reading, line: str, digits: int) -> Page:
    """Return the page of an estimated prevalence of two classes."""
    layout = _EstimatePage(results, digits)
    observed = format_number(results.data["validation"]["prevalence"], digits)
    rows = (
        Row(
            "in the target",
            (layout.format.estimate(layout.estimates[0], several=False),),
            "Estimated share of positives.",
        ),
        Row("in validation", (observed,), "Observed share of positives."),
    )
    first = Table("", (interval_heading(results.data),), (Section("prevalence", rows), layout.origin()))
    panels = (first, *layout.tests(), layout.measures(shorten_label(reading.score[0])))
    return Page(line, panels, layout.footnotes())


def prevalence_class_page(results: Results, reading: Reading, line: str, digits: int) -> Page:
    """Return the page of the estimated shares of several classes."""
    layout = _EstimatePage(results, digits)
    observed = results.data["validation"]["prevalences"]
    rows = tuple(
        Row(
            f"{shorten_label(reading.truth)} = {shorten_label(row['class'])}",
            (format_number(observed[str(row["class"])], digits), layout.format.estimate(row)),
        )
        for row in layout.estimates
    )
    columns = (_SETS[VALIDATION], f"in the target ({interval_heading(results.data)})")
    first = Table("prevalence", columns, (Section("", rows),))
    panels = (first, Table("", ("",), (layout.origin(),)), *layout.tests(), layout.classes())
    return Page(line, panels, layout.footnotes())


class _EstimatePage:
    """Rows of the estimate, of its tests, and of measures in validation and at the estimate."""

    def __init__(self, results: Results, digits: int) -> None:
        self.data, self.format = results.data, CellFormatter(digits)
        rows = results.rows()
        # The estimate comes first; prevalence is also a measure, further down.
        self.estimates: Sequence[TidyRow] = rows[: len(self.data.get("prevalences", [""]))]
        self.test_rows = [row for row in rows if row["measure"] in _TESTS]
        self.measured = [row for row in rows[len(self.estimates) :] if row["set"] and row["measure"] != "cell"]

    def origin(self) -> Section:
        """Return the method, and the data that it used."""
        method, labelled = self.data["method"], self.data["labelled"]
        summary = next(each.description for each in ESTIMATORS if each.name == method)
        recalibrated = " Scores were recalibrated on the validation data." * self.data["recalibrated"]
        counts = {
            "unlabelled rows": (self.data["rows"], ""),
            "labelled rows": (labelled, "Of the target; the estimate uses them." * bool(labelled)),
            "validation rows": (self.data["validation"]["rows"], ""),
        }
        rows = [
            Row(name, (format_count(value, self.format.digits),), meaning) for name, (value, meaning) in counts.items()
        ]
        return Section("estimated from", (Row("method", (method,), summary + recalibrated), *rows), apart=True)

    def tests(self) -> Iterator[Table]:
        """Yield tests of label shift, and of the calibration behind the estimate."""
        if not self.test_rows:
            return
        # Holm's adjustment leaves a single p-value as it is, so its column would repeat the first.
        several = any(row["p"] != row["p_adjusted"] for row in self.test_rows)
        columns = ("statistic", "df", "p", *["Holm-adjusted p"] * several)
        calibration = any(row["measure"] == "calibration_curve_test" for row in self.test_rows)
        rows = tuple(self._test(row, len(columns)) for row in self.test_rows)
        title = "tests" if calibration else "tests of label shift"
        yield split_when_narrow(Table(title, columns, (Section("", rows),)))

    def _test(self, row: TidyRow, columns: int) -> Row:
        name = measure_label(row["measure"].removesuffix("_test"))
        if row["value"] is None:
            return Row(name, (self.format.mark_undefined(row["why"]), *[""] * (columns - 1)))
        freedom = "" if row["freedom"] is None else str(row["freedom"])
        p_values = [format_p(row[each], min(self.format.digits, 3)) for each in ("p", "p_adjusted")]
        cells = (self.format.number(row["value"]), freedom, *p_values)[:columns]
        return Row(name, cells, _TESTS[row["measure"]][row["p_adjusted"] < SIGNIFICANCE_LEVEL])

    def measures(self, score: str) -> Table:
        """Return measures of two classes in both sets; those of probabilities also with corrected scores."""
        sections: dict[object, str] = {}
        for row in self.measured:
            if row["threshold"] is not None:
                sections[row["threshold"]] = f"at {score} ≥ {format_exact(row['threshold'])}"
        for kind, title in TITLES.items():
            sections |= {(kind, RAW_SCORES): title, (kind, CORRECTED_SCORES): f"{title}, corrected"}
        rows = [{**row, "section": _measure_section(row)} for row in self.measured if get_measure(row["measure"])]
        ordered = [row for key in sections for row in rows if row["section"] == key]
        label = partial(measure_label, data=self.data)
        return self._pivot(itemgetter("measure"), label, sections.__getitem__).table(ordered, columns=[*_SETS])

    def classes(self) -> Table:
        """Return measures of each class against the rest, their averages, and measures of all classes."""
        pivot = self._pivot(_class_line, partial(_average_label, data=self.data), str)
        return pivot.table(_with_sections(self.measured, self.data), columns=[*_SETS])

    def _pivot(self, line: Callable[[TidyRow], Any], label: Callable[[Any], str], title: Callable[[Any], str]) -> Pivot:
        return Pivot(
            line=line,
            column=itemgetter("set"),
            section=itemgetter("section"),
            cell=self.format.estimate,
            label=label,
            heading=_SETS.__getitem__,
            title=title,
        )

    def footnotes(self) -> tuple[str, ...]:
        """Return why numbers are undefined, and the methods of intervals."""
        intervals = f"{format_level(self.data['interval']['level'])}% intervals"
        own = intervals[:-1] if len(self.estimates) == 1 else intervals
        by_set = {each: [row for row in self.measured if row["set"] == each] for each in _SETS}
        validation = interval_footnotes(by_set[VALIDATION], self.data)
        brief = f"Intervals: {format_level(self.data['interval']['level'])}% confidence."
        notes = [Explanation(f"{own} of the prevalence: {_methods(self.estimates)}.", brief)]
        notes += [Explanation(note.replace(intervals, f"{intervals} in validation", 1)) for note in validation]
        methods = _methods(by_set[TARGET])
        notes += [Explanation(f"{intervals} at the estimate: {methods}.")] * bool(methods)
        if any(row["scores"] == CORRECTED_SCORES for row in by_set[TARGET]):
            notes.append(Explanation("corrected: scores adjusted to the estimated prevalence."))
        return (*self.format.reasons.footnotes(), *notes)


def _measure_section(row: TidyRow) -> object:
    """Return the threshold of a row, or the kind of its measure and of its scores."""
    if row["threshold"] is not None:
        return row["threshold"]
    return describe(find_measure(row["measure"])).of, row["scores"]


def _average_label(line: tuple[object, str | None, str | None], data: Mapping[str, Any]) -> str:
    return f"{line[1]} average" if line[1] else _class_label(line, data)


def _methods(rows: Iterable[TidyRow]) -> str:
    """Return the methods of intervals, without the remarks about the numbers."""
    methods = (str(row["how"]).rpartition("; ")[2] for row in rows if row["low"] is not None)
    return " or ".join(dict.fromkeys(methods))
