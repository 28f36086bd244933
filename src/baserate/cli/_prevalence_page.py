"""Results and pages of an estimated prevalence: the estimate, tests of label shift, adjusted measures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any, Literal, NamedTuple

from baserate import infer, shift
from baserate._confusion import Confusions
from baserate._errors import BaserateError
from baserate._formatting import format_count, format_exact, format_level, format_number, format_p
from baserate._results import Results
from baserate._rows import MulticlassRows, MulticlassTarget, Target
from baserate._tally import Tallies
from baserate.cli._deployment import describe_target, name_scores_in_notes
from baserate.cli._measure_page import TITLES
from baserate.cli._options import Reading
from baserate.infer import CalibrationTest
from baserate.measure import COLUMNS, MEASURES, Measure, describe, tidy_columns
from baserate.shift import (
    CALIBRATION_CHECK,
    CORRECTED_SCORES,
    RAW_SCORES,
    SIGNIFICANCE_LEVEL,
    LabelShiftTestResult,
    MulticlassPrevalence,
    Prevalence,
    describe_rejections,
)
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
    split_when_narrow,
)

TARGET, VALIDATION = "target", "validation"
MORE = ("p", "p_adjusted", "freedom", "prevalence", "scores", "set")
"""Columns beside those of every measure."""

TidyRow = dict[str, Any]


class MeasureRequest(NamedTuple):
    """Measures and thresholds to tabulate besides the estimate."""

    measures: Sequence[str | Measure] | Literal["usual", "all"]
    threshold: Sequence[float] | None = None
    bins: int | None = None


def binary_results(estimate: Prevalence, target: Target, validation: Tallies, wanted: MeasureRequest) -> Results:
    """Everything on two classes."""
    level = estimate.estimate.level or 0.95
    settings: dict[str, Any] = {"measures": wanted.measures, "threshold": wanted.threshold}
    there = shift.adjusted_summary(estimate, **settings)
    plain = infer.summary(
        Tallies({"score": {(): estimate.validation}}, intake=validation.intake),
        **settings,
        interval=infer.IntervalOptions(level=level),
    )
    bins = {} if wanted.bins is None else {"bins": wanted.bins}
    tested, notes_of_tests, doubtful_checks = _test_label_shift(target, validation, bins, estimate.checks)
    doubtful_checks += _describe_disagreement(estimate, target, validation)
    notes = [*target.intake.notes, *plain.data["notes"], *notes_of_tests, *there.data["notes"]]
    share = {"prevalence": estimate.validation.prevalence, "scores": RAW_SCORES}
    rows = [
        {**dict.fromkeys(COLUMNS), "measure": "prevalence", **tidy_columns(estimate.estimate), "set": TARGET},
        *tested,
        *({**row, "set": TARGET} for row in there.rows()),
        *({**row, **share, "set": VALIDATION} for row in plain.rows()),
    ]
    data = {
        **describe_target(target.intake, len(target)),
        **{name: plain.data[name] for name in ("positive", "negative", "settings") if name in plain.data},
        "prevalence": estimate.value,
        **_common(estimate, plain, level),
        "doubts": doubtful_checks,
        "notes": name_scores_in_notes(notes, next(iter(validation.models))),
    }
    return Results({name: [row.get(name) for row in rows] for name in (*COLUMNS, *MORE)}, data)


def multiclass_results(
    estimate: MulticlassPrevalence, target: MulticlassTarget, validation: MulticlassRows, wanted: MeasureRequest
) -> Results:
    """Everything on many classes."""
    level = estimate.estimates[0].level or 0.95
    there = shift.adjusted_summary(estimate, measures=wanted.measures)
    decisions = Confusions({(): validation.confusion()}, intake=validation.intake)
    plain = infer.multiclass_summary(decisions, measures=wanted.measures, interval=infer.IntervalOptions(level=level))
    tested, notes_of_tests, doubtful_checks = _test_label_shift(target, validation, {})
    notes = [*target.intake.notes, *plain.data["notes"], *notes_of_tests, *there.data["notes"]]
    columns = tuple(there.columns)
    rows = [
        *(
            {**dict.fromkeys(columns), "measure": "prevalence", "class": label, **tidy_columns(each), "set": TARGET}
            for label, each in zip(estimate.labels, estimate.estimates, strict=True)
        ),
        *tested,
        *({**row, "scores": RAW_SCORES, "set": TARGET} for row in there.rows()),
        *({**row, "scores": RAW_SCORES, "set": VALIDATION} for row in plain.rows()),
    ]
    data = {
        **describe_target(target.intake, len(target)),
        **{name: plain.data[name] for name in ("classes", "truth_in")},
        "prevalences": dict(zip(map(str, estimate.labels), estimate.value.tolist(), strict=True)),
        **_common(estimate, plain, level),
        "doubts": doubtful_checks,
        "notes": list(dict.fromkeys(notes)),
    }
    return Results({name: [row.get(name) for row in rows] for name in (*columns, *MORE)}, data)


def _common(estimate: Prevalence | MulticlassPrevalence, plain: Results, level: float) -> dict[str, Any]:
    """Header of the results of two classes or several."""
    own = ("rows", "read", "refused", "reasons", "prevalence", "prevalences", "weighted", "digest", "columns")
    unclipped = estimate.unclipped.tolist() if isinstance(estimate, MulticlassPrevalence) else estimate.unclipped
    return {
        "assume": "label shift",
        "method": estimate.method,
        "recalibrated": estimate.calibrator is not None,
        "unclipped": unclipped,
        "validation": {name: plain.data[name] for name in own if name in plain.data},
        "interval": {"level": level, "method": None, "seed": 0, "clusters": None},
    }


def _test_label_shift(
    target: Any,  # noqa: ANN401  (of two classes or many)
    validation: Any,  # noqa: ANN401
    bins: Mapping[str, Any],
    own: Sequence[CalibrationTest] = (),
) -> tuple[list[TidyRow], Iterable[str], list[str]]:
    """Rows of the tests of label shift and of calibration, what they say in words, and in short what they reject."""
    curve = [check for check in own if check.name == CALIBRATION_CHECK]
    try:
        assumption: LabelShiftTestResult = shift.label_shift_test(target, validation, **bins)
    except BaserateError as error:
        return (
            [_test_row(check, check.p) for check in curve],
            [f"label shift was not tested: {error}"],
            describe_rejections(curve),
        )
    rows = [_test_row(check, p) for check, p in zip(assumption.checks, assumption.adjusted, strict=True)]
    rows += [_test_row(check, check.p) for check in curve]
    return rows, assumption.summary, describe_rejections([*assumption.checks, *curve])


def _describe_disagreement(estimate: Prevalence, target: Target, validation: Tallies) -> list[str]:
    """What the default method estimates, if the calibration of another does not fit and it lies apart."""
    if not any(check.name == CALIBRATION_CHECK and check.p < SIGNIFICANCE_LEVEL for check in estimate.checks):
        return []
    own, other = (
        estimate.estimate,
        shift.estimate_prevalence(target, validation, level=estimate.estimate.level or 0.95).estimate,
    )
    if own.low <= other.value <= own.high and other.low <= own.value <= other.high:
        return []
    return [f"estimates disagree: binned gives {format_number(other.value, 3)}"]


def _test_row(check: CalibrationTest, adjusted: float) -> TidyRow:
    """The row of a test."""
    return {
        "measure": f"{check.name}_test",
        "value": check.statistic,
        "p": None if isnan(check.p) else check.p,
        "p_adjusted": None if isnan(adjusted) else adjusted,
        "freedom": check.freedom,
        "how": check.how,
        "why": check.why,
    }


def estimate_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Rows of the estimate itself, which come first."""
    for row in rows:
        if row["measure"] != "prevalence" or row["set"] != TARGET:
            return
        yield row


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


def prevalence_page(results: Results, reading: Reading, line: str, digits: int) -> Page:
    """Lay out two classes."""
    sheet = _Numbers(results, digits)
    (share,) = estimate_rows(sheet.rows)
    rows = (
        Row("in the target", (sheet.cell(share, several=False),), "Share of positives, as far as scores tell."),
        Row(
            "in validation",
            (format_number(results.data["validation"]["prevalence"], digits),),
            "Share that was seen there.",
        ),
    )
    first = Table("", (interval_heading(results.data),), (Section("prevalence", rows), *sheet.origin()))
    panels = [first, *sheet.tests(), *sheet.measures(shorten_label(reading.score[0]))]
    return Page(line, tuple(panels), sheet.footnotes())


def prevalence_class_page(results: Results, reading: Reading, line: str, digits: int) -> Page:
    """Lay out many classes."""
    sheet = _Numbers(results, digits)
    seen = results.data["validation"]["prevalences"]
    rows = tuple(
        Row(
            f"{shorten_label(reading.truth)} = {shorten_label(row['class'])}",
            (format_number(seen[str(row["class"])], digits), sheet.cell(row)),
        )
        for row in estimate_rows(sheet.rows)
    )
    first = Table(
        "prevalence", ("in validation", f"in the target ({interval_heading(results.data)})"), (Section("", rows),)
    )
    made = Table("", ("",), tuple(sheet.origin()))
    panels = [first, made, *sheet.tests(), *sheet.classes()]
    return Page(line, tuple(panels), sheet.footnotes())


class _Numbers:
    """Rows by where they hold, and the reasons why some are undefined."""

    def __init__(self, results: Results, digits: int) -> None:
        self.rows, self.data, self.digits = results.rows(), results.data, digits
        self.reasons = Footnotes()
        self.first = len(list(estimate_rows(self.rows)))
        self.by = {
            place: [row for row in self.rows[self.first :] if row["set"] == place and row["measure"] != "cell"]
            for place in _PLACES
        }

    def cell(self, row: Line | None, *, several: bool = True) -> Cell:
        """A number with its interval."""
        return estimate_cell(row, self.reasons, digits=self.digits, several=several)

    def origin(self) -> Iterator[Section]:
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
        tests = [row for row in self.rows if row["measure"] in _TESTS]
        if not tests:
            return
        several = any(row["p"] != row["p_adjusted"] for row in tests)
        columns = ("statistic", "df", "p", *["Holm-adjusted p"] * several)
        rows = tuple(self._test(row, columns) for row in tests)
        title = "tests" if any(row["measure"] == _CURVE for row in tests) else "tests of label shift"
        yield split_when_narrow(Table(title, columns, (Section("", rows),)))

    def _test(self, row: Line, columns: Sequence[str]) -> Row:
        name = row["measure"].removesuffix("_test").replace("_", " ")
        agree, reject = _TESTS[row["measure"]]
        if row["value"] is None:
            return Row(name, (self.reasons.mark_undefined(row["why"]), *[""] * (len(columns) - 1)))
        freedom = "" if row["freedom"] is None else str(row["freedom"])
        chances = [format_p(row[each], min(self.digits, 3)) for each in ("p", "p_adjusted")]
        shown = (format_number(row["value"], self.digits), freedom, *chances)[: len(columns)]
        return Row(name, shown, reject if row["p_adjusted"] < _SIZE else agree)

    def measures(self, score: str) -> Iterator[Table]:
        """Measures of two classes in both places; those of probabilities also as corrected."""
        lines = self._pair_places(lambda row: (row["measure"], row["threshold"], row["scores"]))
        sections = []
        for at in dict.fromkeys(key[1] for key in lines if key[1] is not None):
            there = {key: pair for key, pair in lines.items() if key[1] == at and key[0] in MEASURES}
            sections.append(Section(f"at {score} ≥ {format_exact(at)}", self._rows(there)))
        for noun, title in TITLES.items():
            of = {
                key: pair for key, pair in lines.items() if key[0] in MEASURES and describe(MEASURES[key[0]]).of is noun
            }
            for scores, named in ((RAW_SCORES, title), (CORRECTED_SCORES, f"{title}, corrected")):
                there = {key: pair for key, pair in of.items() if key[1:] == (None, scores)}
                sections += [Section(named, self._rows(there))] * bool(there)
        yield Table("", tuple(_PLACES.values()), tuple(section for section in sections if section.rows))

    def classes(self) -> Iterator[Table]:
        """Measures of each class against the rest, their averages, and measures of all classes, in both places."""
        lines = self._pair_places(lambda row: (row["measure"], row["class"], row["average"]))
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

    def _pair_places(self, key: Any) -> dict[tuple[Any, ...], list[Line | None]]:  # noqa: ANN401  (a function)
        by_place = [{key(row): row for row in self.by[place]} for place in _PLACES]
        return {each: [part.get(each) for part in by_place] for each in dict.fromkeys([*by_place[0], *by_place[1]])}

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
        if any(row["scores"] == CORRECTED_SCORES for row in self.by[TARGET]):
            notes.append("corrected: scores mapped to probabilities that are right at the estimate.")
        return (*self.reasons.footnotes(), *notes)


def _hows(rows: Iterable[Line]) -> str:
    """How intervals were made, without what their numbers are."""
    made = (str(row["how"]).rpartition("; ")[2] for row in rows if row["low"] is not None)
    return " or ".join(dict.fromkeys(made))
