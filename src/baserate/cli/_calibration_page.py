"""Pages of calibration: errors with null references and tests, calibration curves, and calibrators."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

from baserate._formatting import format_count, format_exact, format_level, format_number, format_p
from baserate._results import Results
from baserate.cli._io import headline
from baserate.cli._options import Reading
from baserate.text import (
    Cell,
    CellFormatter,
    Explanation,
    GroupKey,
    IntervalCell,
    Page,
    Pivot,
    Row,
    Section,
    Table,
    TidyRow,
    align_decimals,
    describe_group,
    format_bounds,
    group_key,
    interval_footnotes,
    interval_heading,
    list_table,
    measure_label,
    shorten_label,
    split_when_narrow,
)

Lines = dict[tuple[str, bool], TidyRow]
"""Rows by measure, and whether they are of the likeliest class."""

_ON_AVERAGE = {
    "prevalence": "Observed share of positives.",
    "mean_probability": "Expected share of positives.",
    "observed_expected": "Their ratio; 1 if calibrated.",
    "calibration_in_the_large": "Shift of all log-odds that makes the mean right; 0 if calibrated.",
}
_ON_A_LINE = {
    "calibration_intercept": "Observed log-odds where the predicted ones are 0; 0 if calibrated.",
    "calibration_slope": "1 if calibrated; below 1, probabilities are too extreme.",
}
_DISTANCES = {
    "ece": "Mean gap between share and probability in bins.",
    "mce": "Largest gap in a bin.",
    "rmsce": "Root of the mean squared gap in bins.",
    "ece_sweep": "Mean gap in as many bins as keep shares in order.",
    "smooth_ece": "Mean gap, smoothed instead of in bins.",
    "ici": "Mean gap to a smooth calibration curve.",
    "e50": "Median gap to it.",
    "e90": "Gap to it that 90% do not exceed.",
    "emax": "Largest gap to it.",
    "cox_ici": "Mean gap to the line of log-odds.",
    "ecce": "Range of cumulated differences.",
    "ecce_mad": "Largest cumulated difference.",
}
_DEBIASED = {"rmsce_debiased": "Rmsce less its expectation under calibration."}
_SCORES = {
    "Brier score": {
        "brier": ("score", "Mean squared distance from the outcome."),
        "brier_miscalibration": ("= miscalibration", "Reduction by the best monotone recalibration."),
        "brier_discrimination": ("− discrimination", "Further reduction below that of a constant."),
        "brier_uncertainty": ("+ uncertainty", "Score of a constant prediction, the prevalence."),
    },
    "log-loss": {
        "log_loss": ("score", "Mean −log of the probability of the outcome."),
        "log_miscalibration": ("= miscalibration", ""),
        "log_discrimination": ("− discrimination", ""),
        "log_uncertainty": ("+ uncertainty", ""),
    },
}
_TESTS = {
    "cox_test": "Intercept 0 and slope 1.",
    "spiegelhalter_z_test": "The Brier score equals its expectation.",
    "hosmer_lemeshow_test": "Bins contain the expected numbers of positives.",
    "ecce_test": "Cumulated differences range no further than chance.",
}
_ANOTHER = {
    "offset_or_slope_test": "A shift of all log-odds fits as well as any line.",
    "offset_or_free_test": "It fits as well as any monotone curve.",
}
_TRACE = 1e-9
_CHANCE = "*"


class Subject(NamedTuple):
    """Model, group or class that is evaluated."""

    model: str | None
    group: GroupKey
    label: object
    likeliest: bool
    """Whether it is the likeliest class of many."""


def calibration_page(results: Results, reading: Reading, digits: int) -> Page:
    """Return the page of some results."""
    layout = _CalibrationPage(results, digits)
    panels = [
        panel for subject in layout.subjects for panel in (_heading(subject, reading, results), *layout.panels(subject))
    ]
    reasons = layout.format.reasons.footnotes()
    notes = (*reasons, *_explanations(results), *interval_footnotes(_interval_rows(results), results.data))
    return Page(headline(reading, results.data), tuple(panels), notes)


def subject_of(row: TidyRow, *, classes: bool) -> Subject:
    """Return the subject of a row."""
    return Subject(row["model"], group_key(row), row["class"], classes and bool(row.get("top")))


def title(subject: Subject, reading: Reading, data: Mapping[str, Any]) -> str:
    """Describe a subject."""
    if "classes" in data:
        label = f"{shorten_label(reading.truth)} = {shorten_label(subject.label)}"
        first = "the likeliest class" if subject.likeliest else label
    else:
        first = shorten_label(subject.model or data["columns"]["score"][0])
    return f"{first}, {describe_group(subject.group)}" if reading.group else first


def _heading(subject: Subject, reading: Reading, results: Results) -> Table:
    """Return a line above the panels of one subject."""
    return Table(title(subject, reading, results.data), (), (Section("", ()),), upright=True)


class _CalibrationPage:
    """Rows of each subject, before and after an adjustment, and the formatter of their cells."""

    def __init__(self, results: Results, digits: int) -> None:
        self.data, self.format = results.data, CellFormatter(digits)
        self.subjects: dict[Subject, dict[object, Lines]] = {}
        classes = "classes" in self.data
        for row in results.rows():
            subject = subject_of(row, classes=classes)
            lines = self.subjects.setdefault(subject, {}).setdefault((row["adjusted"], row["calibrated"]), {})
            lines[row["measure"], bool(row["top"])] = row
        self.verdicts = {subject_of(each, classes=classes): each["verdict"] for each in self.data["verdicts"]}

    def panels(self, subject: Subject) -> Iterator[Table]:
        """Yield all panels of one subject."""
        before, *after = self.subjects[subject].values()
        if after and subject.likeliest:
            yield Table("", ("before", "after"), (*self._distances_of([before, *after]),))
        elif after:
            yield self._before_and_after(before, *after)
        elif subject.likeliest:
            yield from self._distances(before, top=True)
        else:
            yield Table("", (interval_heading(self.data),), tuple(self._coefficients([before])))
            yield from self._distances(before, top=False)
            yield Table("", (interval_heading(self.data),), tuple(self._scores([before])))
            yield self._tests(before)
        if ("derived_prevalence", False) in before:
            yield self._prevalence_tests(before, self.verdicts[subject])

    def _coefficients(self, several: Sequence[Lines]) -> Iterator[Section]:
        for name, meanings in (("on average", _ON_AVERAGE), ("log-odds", _ON_A_LINE)):
            yield Section(name, tuple(self._row(several, each, meaning) for each, meaning in meanings.items()))

    def _row(self, several: Sequence[Lines], name: str, meaning: str, *, top: bool = False) -> Row:
        """Return a number with its interval; beside another one without its meaning."""
        many = len(several) > 1
        rows = (_without_trace(lines[name, top]) for lines in several)
        cells = tuple(self.format.estimate(row, several=many) for row in rows)
        return Row(_label(name), cells, "" if many else Explanation(meaning))

    def _distances(self, lines: Lines, *, top: bool) -> Iterator[Table]:
        """Yield distances beside their null reference, then those that have an interval."""
        simulated = any(line["floor"] is not None for line in lines.values())
        sections = [
            Section(
                "" if simulated else "distance from calibrated",
                tuple(self._distance_rows(lines, simulated=simulated, top=top)),
            )
        ]
        if not top:
            title = "likeliest class" if simulated else "likeliest class: distance from calibrated"
            rows = tuple(replace(row, meaning="") for row in self._distance_rows(lines, simulated=simulated, top=True))
            sections += [Section(title, rows)] * bool(rows)
        columns = ("value", "null median", "null limit", "p") if simulated else ("",)
        yield split_when_narrow(Table("distance from calibrated" if simulated else "", columns, tuple(sections)))
        yield Table(
            "",
            (interval_heading(self.data),),
            (Section("bias-corrected", self._bias_corrected_rows([lines])),),
        )

    def _distance_rows(self, lines: Lines, *, simulated: bool, top: bool) -> Iterator[Row]:
        for name, meaning in _DISTANCES.items():
            if (name, top) in lines:
                line = lines[name, top]
                null = tuple("" if line[of] is None else self.format.number(line[of]) for of in ("floor", "floor_high"))
                beside = (*null, "" if line["p"] is None else self._p_value(line)) if simulated else ()
                yield Row(_label(name), (self._value(line), *beside), Explanation(meaning))

    def _bias_corrected_rows(self, several: Sequence[Lines]) -> tuple[Row, ...]:
        rows = []
        for (name, meaning), top in ((each, top) for each in _DEBIASED.items() for top in (False, True)):
            if (name, top) in several[0]:
                row = self._row(several, name, meaning, top=top)
                both = top and (name, False) in several[0]
                rows.append(replace(row, name="likeliest class", meaning="") if both else row)
        return tuple(rows)

    def _scores(self, several: Sequence[Lines]) -> Iterator[Section]:
        for title, parts in _SCORES.items():
            rows = []
            for name, (label, meaning) in parts.items():
                if name.endswith("miscalibration"):
                    cells = tuple(
                        self._beside_chance(lines[name, False], single=len(several) == 1) for lines in several
                    )
                    rows.append(Row(label, cells, Explanation(meaning if len(several) == 1 else "")))
                else:
                    rows.append(replace(self._row(several, name, meaning), name=label))
            yield Section(title, tuple(rows))

    # Chance pushes distances above 0, so that an interval would exclude 0 even for a calibrated model.
    def _beside_chance(self, line: TidyRow, *, single: bool) -> Cell:
        """Return a distance among numbers with intervals, with its null reference in place of the interval."""
        value, most = self._value(line), line["floor_high"]
        return IntervalCell(value, f"null limit {format_number(most, 2)}") if single and most is not None else value

    def _tests(self, lines: Lines) -> Table:
        rows = []
        for name, meaning in _TESTS.items():
            line = lines[name, False]
            freedom = "" if line["freedom"] is None or line["value"] is None else str(line["freedom"])
            rows.append(Row(_label(name), (self._value(line), freedom, self._p_value(line)), Explanation(meaning)))
        return split_when_narrow(Table("tests", ("statistic", "df", "p"), (Section("", tuple(rows)),)))

    def _prevalence_tests(self, lines: Lines, verdict: str) -> Table:
        """Return the tests of whether another prevalence explains the miscalibration."""
        rows = [self._row([lines], "derived_prevalence", "Prevalence at which the probabilities are right on average.")]
        for name, meaning in _ANOTHER.items():
            rows.append(Row(f"{_label(name)}, p", (self._p_value(lines[name, False]),), Explanation(meaning)))
        rows.append(Row("verdict", ("",), f"{verdict[:1].upper()}{verdict[1:]}."))
        return Table("", (interval_heading(self.data),), (Section("another prevalence?", tuple(rows)),))

    def _before_and_after(self, *several: Lines) -> Table:
        """Return all numbers before and after an adjustment or a calibration."""
        at = [next(iter(lines.values()))["adjusted"] for lines in several]
        prevalences = Row("calibrated at", tuple("" if each is None else self.format.number(each) for each in at))
        on_average, on_a_line = self._coefficients(several)
        adjusted = [prevalences] * any(each is not None for each in at)
        sections = [replace(on_average, rows=(*adjusted, *on_average.rows)), on_a_line]
        sections += [*self._distances_of(several), *self._scores(several)]
        rows = [Row(_label(name), tuple(self._p_value(lines[name, False]) for lines in several)) for name in _TESTS]
        return Table("", ("before", "after"), (*sections, Section("tests: p", tuple(rows))))

    def _distances_of(self, several: Sequence[Lines]) -> Iterator[Section]:
        """Yield the distances of several columns."""
        for title, top in (("distance from calibrated", False), ("likeliest class", True)):
            names = [name for name in _DISTANCES if (name, top) in several[0]]
            rows = [Row(_label(name), tuple(self._value(lines[name, top]) for lines in several)) for name in names]
            if rows:
                yield Section(title, tuple(rows))
        yield Section("bias-corrected", self._bias_corrected_rows(several))

    def _value(self, line: TidyRow) -> str:
        """Return a number, marked if it exceeds its null reference."""
        if line["value"] is None:
            return self.format.mark_undefined(line["why"])
        return self.format.number(line["value"]) + _CHANCE * _exceeds_chance(line)

    def _p_value(self, line: TidyRow) -> str:
        """Return the p-value of a test."""
        if line["p"] is None:
            return self.format.mark_undefined(line["why"])
        return format_p(line["p"], min(self.format.digits, 3), is_bound=line["p_is_bound"])


def _label(name: str) -> str:
    """Return the name of a measure or of a test in words."""
    return measure_label(name.removesuffix("_test"))


def _without_trace(line: TidyRow) -> TidyRow:
    """Return a number without the trace that a numerical solution for 0 leaves."""
    trace = line["value"] is not None and abs(line["value"]) < _TRACE
    return {**line, "value": 0.0} if trace and line["measure"].startswith("calibration") else line


def _exceeds_chance(line: TidyRow) -> bool:
    """Return whether a distance exceeds the high quantile of its null reference."""
    return None not in (line["value"], line["floor_high"]) and line["value"] > line["floor_high"]


def _interval_rows(results: Results) -> Iterable[TidyRow]:
    """Return rows with intervals, each measure once: those of the likeliest class use the same methods."""
    return (row for row in results.rows() if not row["top"] or "classes" in results.data)


def _explanations(results: Results) -> Iterator[str]:
    """Yield the meanings of columns and marks."""
    rows, level = results.rows(), format_level(results.data["interval"]["level"])
    null = "the null reference, the error of a perfectly calibrated model of this size"
    adjusted, calibrated = (any(row[of] is not None for row in rows) for of in ("adjusted", "calibrated"))
    compared = adjusted or (calibrated and any(row["calibrated"] is None for row in rows))
    if calibrated:
        how = next(row["calibrated"] for row in rows if row["calibrated"] is not None)
        both = any(row["calibrated"] is None for row in rows)
        yield f"before, after: original scores; and {how}." if both else f"all numbers: {how}."
    elif adjusted:
        yield (
            "before, after: original scores; and scores calibrated at the first prevalence, adjusted to that of the "
            "sample."
        )
    if not compared and any(row["floor"] is not None for row in rows):
        yield Explanation(f"null median, null limit: median and {level}% quantile of {null}.")
    if any(map(_exceeds_chance, rows)):
        above = f": above the {level}% quantile of {null}" if compared else ""
        yield f"{_CHANCE} more than chance explains{above}"
    if any(row["p"] is not None for row in rows):
        yield Explanation(
            "p: probability of such a statistic or a larger one if the scores are calibrated; of another prevalence, "
            "if they are calibrated at it. df: degrees of freedom."
        )
        yield "Neither p-values nor intervals are adjusted for multiplicity."


_FAR = "*"
_NOTES = {
    "binned": "low, high: bounds of the share, with {}% confidence (Wilson).",
    "likelihood_ratio": "ratio: probability of the bin among positives over that among negatives, low and high its "
    "bounds with {}% confidence; implied: that of the probability, at the prevalence that fits best.",
    "consistency": "low, high: pointwise consistency band, which contains {}% of the curves of calibrated "
    "probabilities.",
    "confidence": "low, high: bounds of the share, pointwise with {}% confidence.",
}


def curve_page(results: Results, reading: Reading, digits: int) -> Page:
    """Return one table for each curve."""
    layout = _CurvePage(results, digits)
    curves: dict[Subject, list[TidyRow]] = {}
    for row in results.rows():
        curves.setdefault(subject_of(row, classes="classes" in results.data), []).append(row)
    panels = [layout.panel(title(subject, reading, results.data), rows) for subject, rows in curves.items()]
    return Page(headline(reading, results.data), tuple(panels), tuple(layout.footnotes()))


class _CurvePage:
    """Columns of the tables, and the formatter of their cells."""

    def __init__(self, results: Results, digits: int) -> None:
        self.data, self.format = results.data, CellFormatter(digits)
        self.has_marks = False
        self.in_bins = "lower" in results.columns
        keys = {"model", "group", "class", "top", "lower", "upper", *([] if self.in_bins else ["probability"])}
        self.columns = [name for name in results.columns if name not in keys]

    def panel(self, title: str, rows: Sequence[TidyRow]) -> Table:
        """Return the table of one curve, lowest probability first."""
        labels = self._bins(rows) if self.in_bins else self._probabilities(rows)
        pivot = Pivot(
            line=itemgetter("place"),
            column=itemgetter("column"),
            cell=self._cell,
            label=labels.__getitem__,
            heading=lambda name: "rows" if name == "mass" else name,
        )
        cells = ({**row, "place": at, "column": name} for at, row in enumerate(rows) for name in self.columns)
        return pivot.table(cells, corner=f"{title}, {'in bins' if self.in_bins else 'probability'}")

    def footnotes(self) -> Iterator[str]:
        """Yield reasons of undefined numbers, and the meanings of bounds and marks."""
        yield from self.format.reasons.footnotes()
        note = _NOTES[self.data["curve"] if self.in_bins else self.data["band"]]
        yield note.format(format_level(self.data["level"]))
        if self.data["clipped"]:
            yield "LOWESS fit: share, low and high are clipped to [0, 1]."
        if self.has_marks:
            yield f"{_FAR} differs significantly from perfect calibration (pointwise test)"

    def _bins(self, rows: Sequence[TidyRow]) -> list[str]:
        """Return the edges of bins, without the rounding errors of sums."""
        ends = ([format_exact(round(row[end], 12)) for row in rows] for end in ("lower", "upper"))
        return [f"{lower} – {upper}" for lower, upper in zip(*map(align_decimals, ends), strict=True)]

    def _probabilities(self, rows: Sequence[TidyRow]) -> list[str]:
        """Return the probabilities of a curve."""
        return align_decimals([self.format.number(row["probability"]) for row in rows])

    def _cell(self, row: TidyRow) -> str:
        """Return one number of a point, marked where chance does not explain its distance."""
        name = row["column"]
        far = _is_far(row, self.data["band"])
        self.has_marks |= far
        mark = _FAR * (far and name in {"share", "ratio"})
        if row[name] is None:
            rows = "all rows are" if row.get("ratio") is None else "the rows of the bin are"
            return self.format.mark_undefined(f"{rows} of a single class") + mark
        text = format_count(row[name], self.format.digits) if name == "mass" else self.format.number(row[name])
        return text + mark


def _is_far(row: TidyRow, band: str) -> bool:
    """Return whether the confidence interval excludes the probability, or the share leaves the consistency band."""
    if row["low"] is None or row["high"] is None:
        return False
    right = row["share"] if band == "consistency" else row["implied" if "implied" in row else "probability"]
    return right is not None and not row["low"] <= right <= row["high"]


_PARAMETERS = {
    "offset": "Added to all log-odds.",
    "derivation_prevalence": "Prevalence at which the scores were calibrated.",
    "slope": "1 leaves log-odds unchanged; below 1 they were too extreme.",
    "temperature": "1/slope.",
    "intercept": "Calibrated log-odds where the log-odds of the score are 0.",
    "a": "Slope of ln p.",
    "b": "Slope of −ln(1 − p).",
    "c": "Added to log-odds.",
    "m": "Score that the calibrator maps to ½.",
}


def calibrator_page(results: Results, reading: Reading, digits: int) -> Page:
    """Return the page of a calibrator: the choice of its method, its parameters, and calibration before and after."""
    assessed = calibration_page(results, reading, digits)
    panels = [*_choice(results.data.get("choice"), digits), *_parameters(results.data["map"], digits)]
    return replace(assessed, panels=(*panels, *assessed.panels))


def _choice(choice: Mapping[str, Any] | None, digits: int) -> Iterator[Table]:
    """Yield methods by their log-loss, and the verdict."""
    if choice is None:
        return
    rows = []
    for row in sorted(choice["methods"], key=lambda row: (row["log_loss"] is None, row["log_loss"])):
        if row["log_loss"] is None:
            rows.append(Row(row["method"], ("", ""), row["why"]))
            continue
        why = "" if row["why"] is None else f"{row['why'][:1].upper()}{row['why'][1:]}"
        remark = "Chosen." if row["chosen"] else why or ("" if row["matters"] else "Chance may explain it.")
        rows.append(Row(row["method"], (format_number(row["log_loss"], digits), _difference_cell(row, digits)), remark))
    columns = ("log-loss", "above the lowest (95%)")
    yield Table("method, cross-validated", columns, (Section("", tuple(rows)),))
    # A true minus before numbers, but not in exponents such as 1e-05.
    verdict = re.sub(r"(?<!e)-(?=\d)", "−", choice["verdict"])
    yield Table("", ("",), (Section("choice", (Row("verdict", ("",), f"{verdict[:1].upper()}{verdict[1:]}"),)),))


def _difference_cell(row: TidyRow, digits: int) -> Cell:
    """Return the difference from the lowest log-loss, with its interval."""
    if row["difference"] is None:
        return ""
    if row["low"] is None:
        return format_number(row["difference"], digits)
    return IntervalCell(format_number(row["difference"], 2), *format_bounds(row["low"], row["high"], 2, 2))


def _parameters(fitted: Mapping[str, Any], digits: int) -> Iterator[Table]:
    """Yield the parameters of the calibrator, with their intervals."""
    if not fitted["parameters"]:
        return
    format_ = CellFormatter(digits)
    yield list_table(
        ({**each, "level": None if None in (each["low"], each["high"]) else 0.95} for each in fitted["parameters"]),
        {"value (95%)": partial(format_.estimate, several=False)},
        label=lambda row: measure_label(row["name"]),
        meaning=lambda row: Explanation(_PARAMETERS.get(row["name"], "")),
        corner=f"calibrator: {fitted['method']}",
    )
