"""Tidy numbers on a prevalence -> a page: the estimate, tests of what it assumes, measures in both places."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from baserate._formatting import format_count, format_exact, format_level, format_number, format_p
from baserate._results import Results
from baserate.cli._calibration import split_when_narrow
from baserate.cli._estimated import TARGET, VALIDATION, prevalences
from baserate.cli._options import Reading
from baserate.cli._summary import TITLES
from baserate.measure import MEASURES, about
from baserate.shift import CORRECTED, GIVEN
from baserate.text import (
    Cell,
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    estimate_cell,
    interval_footnotes,
    interval_heading,
    shorten_label,
)

Line = Mapping[str, Any]

_METHODS = {
    "gmm": "Moments of probabilities and likelihood ratios.",
    "mlls": "Maximum likelihood of probabilities.",
    "acc": "Adjusted share of the flagged.",
    "pacc": "Adjusted mean score.",
    "cm-l": "Likelihood of decisions.",
    "scm-l": "Likelihood of mean scores.",
    "cm-map": "Likelihood of decisions, and a prior.",
    "scm-map": "Likelihood of mean scores, and a prior.",
    "rlls": "Regularised weights, by mean scores.",
    "rlls-hard": "Regularised weights, by decisions.",
    "hdy": "Nearest histogram (Hellinger).",
    "binned": "Likelihood of histograms.",
}
_RECALIBRATED = " They were recalibrated on validation."
_TESTS = {
    "goodness_of_fit_test": (
        "The target's scores can be a mixture of those of both classes.",
        "The target's scores are no mixture of those of both classes.",
    ),
    "overidentification_test": (
        "The target's scores can be a mixture of those of the classes.",
        "The target's scores are no mixture of those of the classes.",
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
        "Probabilities that the estimate rests on fit validation.",
        "Probabilities that the estimate rests on do not fit validation.",
    ),
}
"""What a test says where it does not reject, and where it does."""
_CURVE = "calibration_curve_test"
_SIZE = 0.05
_PLACES = {VALIDATION: "in validation", TARGET: "at the estimate"}


def page(found: Results, asked: Reading, line: str, digits: int) -> Page:
    """Lay out two classes."""
    sheet = _Numbers(found, digits)
    (share,) = prevalences(sheet.rows)
    rows = (
        Row("in the target", (sheet.cell(share, several=False),), "Share of positives, as far as scores tell."),
        Row(
            "in validation",
            (format_number(found.data["validation"]["prevalence"], digits),),
            "Share that was seen there.",
        ),
    )
    first = Table("", (interval_heading(found.data),), (Section("prevalence", rows), *sheet.made()))
    panels = [first, *sheet.tests(), *sheet.measures(shorten_label(asked.score[0]))]
    return Page(line, tuple(panels), sheet.footnotes())


def class_page(found: Results, asked: Reading, line: str, digits: int) -> Page:
    """Lay out many classes."""
    sheet = _Numbers(found, digits)
    seen = found.data["validation"]["prevalences"]
    rows = tuple(
        Row(
            f"{shorten_label(asked.truth)} = {shorten_label(row['class'])}",
            (format_number(seen[str(row["class"])], digits), sheet.cell(row)),
        )
        for row in prevalences(sheet.rows)
    )
    first = Table(
        "prevalence", ("in validation", f"in the target ({interval_heading(found.data)})"), (Section("", rows),)
    )
    made = Table("", ("",), tuple(sheet.made()))
    panels = [first, made, *sheet.tests(), *sheet.classes()]
    return Page(line, tuple(panels), sheet.footnotes())


class _Numbers:
    """Rows by where they hold, and the reasons why some are undefined."""

    def __init__(self, found: Results, digits: int) -> None:
        self.rows, self.data, self.digits = found.rows(), found.data, digits
        self.reasons = Footnotes()
        self.first = len(list(prevalences(self.rows)))
        self.by = {
            place: [row for row in self.rows[self.first :] if row["set"] == place and row["measure"] != "cell"]
            for place in _PLACES
        }

    def cell(self, row: Line | None, *, several: bool = True) -> Cell:
        """A number with its interval."""
        return estimate_cell(row, self.reasons, digits=self.digits, several=several)

    def made(self) -> Iterator[Section]:
        """How it was come by."""
        method, known = self.data["method"], self.data["labelled"]
        rows = [
            Row("method", (method,), _METHODS[method] + _RECALIBRATED * self.data["recalibrated"]),
            Row("rows without truth", (format_count(self.data["rows"], self.digits),)),
            Row("rows with truth", (format_count(known, self.digits),), "Of the target; they count too." * bool(known)),
            Row("validation rows", (format_count(self.data["validation"]["rows"], self.digits),)),
        ]
        yield Section("made from", tuple(rows), apart=True)

    def tests(self) -> Iterator[Table]:
        """Tests of label shift, and of the calibration that the estimate rests on."""
        found = [row for row in self.rows if row["measure"] in _TESTS]
        if not found:
            return
        several = any(row["p"] != row["p_adjusted"] for row in found)
        columns = ("statistic", "df", "p", *["Holm-adjusted p"] * several)
        rows = tuple(self._test(row, columns) for row in found)
        title = "tests" if any(row["measure"] == _CURVE for row in found) else "tests of label shift"
        yield split_when_narrow(Table(title, columns, (Section("", rows),)))

    def _test(self, row: Line, columns: Sequence[str]) -> Row:
        name = row["measure"].removesuffix("_test").replace("_", " ")
        agree, reject = _TESTS[row["measure"]]
        if row["value"] is None:
            return Row(name, (self.reasons.undefined(row["why"]), *[""] * (len(columns) - 1)))
        freedom = "" if row["freedom"] is None else str(row["freedom"])
        chances = [format_p(row[each], min(self.digits, 3)) for each in ("p", "p_adjusted")]
        shown = (format_number(row["value"], self.digits), freedom, *chances)[: len(columns)]
        return Row(name, shown, reject if row["p_adjusted"] < _SIZE else agree)

    def measures(self, score: str) -> Iterator[Table]:
        """Measures of two classes in both places; those of probabilities also as corrected."""
        lines = self._paired(lambda row: (row["measure"], row["threshold"], row["scores"]))
        sections = []
        for at in dict.fromkeys(key[1] for key in lines if key[1] is not None):
            there = {key: pair for key, pair in lines.items() if key[1] == at and key[0] in MEASURES}
            sections.append(Section(f"at {score} ≥ {format_exact(at)}", self._rows(there)))
        for noun, title in TITLES.items():
            of = {key: pair for key, pair in lines.items() if key[0] in MEASURES and about(MEASURES[key[0]]).of is noun}
            for scores, named in ((GIVEN, title), (CORRECTED, f"{title}, corrected")):
                there = {key: pair for key, pair in of.items() if key[1:] == (None, scores)}
                sections += [Section(named, self._rows(there))] * bool(there)
        yield Table("", tuple(_PLACES.values()), tuple(section for section in sections if section.rows))

    def classes(self) -> Iterator[Table]:
        """Measures of each class against the rest, their averages, and measures of all classes, in both places."""
        lines = self._paired(lambda row: (row["measure"], row["class"], row["average"]))
        each = dict.fromkeys(key[0] for key in lines if key[1:] != (None, None))
        sections = [
            Section(
                measure.replace("_", " "),
                tuple(
                    Row(shorten_label(of) if average is None else f"{average} average", tuple(map(self.cell, pair)))
                    for (name, of, average), pair in lines.items()
                    if name == measure and (of, average) != (None, None)
                ),
            )
            for measure in each
        ]
        rows = self._rows({key: pair for key, pair in lines.items() if key[1:] == (None, None)})
        sections += [Section("all classes together", rows)] * bool(rows)
        yield Table("", tuple(_PLACES.values()), tuple(sections))

    def _paired(self, key: Any) -> dict[tuple[Any, ...], list[Line | None]]:  # noqa: ANN401  (a function)
        found = [{key(row): row for row in self.by[place]} for place in _PLACES]
        return {each: [part.get(each) for part in found] for each in dict.fromkeys([*found[0], *found[1]])}

    def _rows(self, lines: Mapping[tuple[Any, ...], Sequence[Line | None]]) -> tuple[Row, ...]:
        return tuple(Row(key[0].replace("_", " "), tuple(map(self.cell, pair))) for key, pair in lines.items())

    def footnotes(self) -> tuple[str, ...]:
        """Why numbers are undefined, and how intervals were made."""
        sure = f"{format_level(self.data['interval']['level'])} % intervals"
        notes = [f"{sure[:-1] if self.first == 1 else sure} of the prevalence: {_hows(self.rows[: self.first])}."]
        notes += [
            note.replace(sure, f"{sure} in validation", 1)
            for note in interval_footnotes(self.by[VALIDATION], self.data)
        ]
        there = _hows(self.by[TARGET])
        notes += [f"{sure} at the estimate: {there}."] * bool(there)
        if any(row["scores"] == CORRECTED for row in self.by[TARGET]):
            notes.append("corrected: scores mapped to probabilities that are right at the estimate.")
        return (*self.reasons.footnotes(), *notes)


def _hows(rows: Iterable[Line]) -> str:
    """How intervals were made, without what their numbers are."""
    made = (str(row["how"]).rpartition("; ")[2] for row in rows if row["low"] is not None)
    return " or ".join(dict.fromkeys(made))
