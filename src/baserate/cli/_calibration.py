"""Tidy numbers on probabilities -> a page: for each model, group or class, what is right and what is chance."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from baserate._formatting import format_level, format_number, format_p
from baserate._results import Results
from baserate.cli._ask import headline
from baserate.cli._options import Reading
from baserate.text import (
    EVERYBODY,
    Cell,
    Footnotes,
    IntervalCell,
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

_ON_AVERAGE = {
    "prevalence": "Share of all that are positive.",
    "mean_probability": "Share that was expected to be.",
    "observed_expected": "The first over the second; 1 is right.",
    "calibration_in_the_large": "What all log-odds lack for the mean to be right; 0 is right.",
}
_ON_A_LINE = {
    "calibration_intercept": "Log-odds where those given are 0; 0 is right.",
    "calibration_slope": "1 is right; below it, probabilities are too extreme.",
}
_DISTANCES = {
    "ece": "Mean gap between share and probability in bins.",
    "mce": "Largest gap in a bin.",
    "rmsce": "Root of the mean squared gap in bins.",
    "ece_sweep": "Mean gap in as many bins as keep shares in order.",
    "smooth_ece": "Mean gap, smoothed instead of in bins.",
    "ici": "Mean gap to a smooth calibration curve.",
    "e50": "Median gap to it.",
    "e90": "Gap to it that 90 % do not exceed.",
    "emax": "Largest gap to it.",
    "cox_ici": "Mean gap to the line of log-odds.",
    "ecce": "Range of cumulated differences.",
    "ecce_mad": "Largest cumulated difference.",
}
_DEBIASED = {"rmsce_debiased": "Rmsce less what chance adds on average."}
_SCORES = {
    "Brier score": {
        "brier": ("score", "Mean squared distance from what happened."),
        "brier_miscalibration": ("= miscalibration", "What the best monotone change of probabilities would save."),
        "brier_discrimination": ("− discrimination", "What they then save over always saying the prevalence."),
        "brier_uncertainty": ("+ uncertainty", "Score of always saying the prevalence."),
    },
    "log-loss": {
        "log_loss": ("score", "Mean −log of the chance given to what happened."),
        "log_miscalibration": ("= miscalibration", ""),
        "log_discrimination": ("− discrimination", ""),
        "log_uncertainty": ("+ uncertainty", ""),
    },
}
_TESTS = {
    "cox_test": "Intercept 0 and slope 1.",
    "spiegelhalter_z_test": "The Brier score is what probabilities promise.",
    "hosmer_lemeshow_test": "Bins hold as many positives as expected.",
    "ecce_test": "Cumulated differences range no further than chance.",
}
_ANOTHER = {
    "offset_or_slope_test": "A shift of all log-odds fits as well as any line.",
    "offset_or_free_test": "It fits as well as any monotone curve.",
}
_TRACE = 1e-9
_CHANCE = "*"


class Which(NamedTuple):
    """What is judged."""

    model: str | None
    group: tuple[tuple[str, object], ...] | None
    label: object
    likeliest: bool
    """Whether it is the likeliest class of many."""


def page(found: Results, asked: Reading, digits: int) -> Page:
    """Lay the numbers out."""
    sheet = _Sheet(found, digits)
    panels = [panel for which in sheet.parts for panel in (_above(which, asked, found), *sheet.panels(which))]
    notes = (*sheet.reasons.footnotes(), *_explained(found), *interval_footnotes(_bounded(found), found.data))
    return Page(headline(asked, found.data), tuple(panels), notes)


def which_of(row: Line, *, classes: bool) -> Which:
    """What a row is of."""
    group = None if row["group"] is None else tuple(row["group"].items())
    return Which(row["model"], group, row["class"], classes and bool(row.get("top")))


def title(which: Which, asked: Reading, data: Mapping[str, Any]) -> str:
    """What is judged, in words."""
    named = [f"{shorten_label(name)} = {shorten_label(value)}" for name, value in which.group or ()]
    named += [EVERYBODY] * bool(asked.group and which.group is None)
    if "classes" in data:
        first = (
            "the likeliest class" if which.likeliest else f"{shorten_label(asked.truth)} = {shorten_label(which.label)}"
        )
    else:
        first = shorten_label(which.model or data["columns"]["score"][0])
    return ", ".join([first, *named])


def _above(which: Which, asked: Reading, found: Results) -> Table:
    """A line above the panels of one part."""
    return Table(title(which, asked, found.data), (), (Section("", ()),), upright=True)


class _Sheet:
    """Rows by what they are of, before and after an adjustment; and the reasons why some are undefined."""

    def __init__(self, found: Results, digits: int) -> None:
        self.data, self.digits = found.data, digits
        self.reasons = Footnotes()
        self.parts: dict[Which, dict[object, dict[tuple[str, bool], Line]]] = {}
        classes = "classes" in self.data
        for row in found.rows():
            which = which_of(row, classes=classes)
            lines = self.parts.setdefault(which, {}).setdefault((row["adjusted"], row["calibrated"]), {})
            lines[row["measure"], bool(row["top"])] = row
        self.verdicts = {which_of(each, classes=classes): each["verdict"] for each in self.data["verdicts"]}

    def panels(self, which: Which) -> Iterator[Table]:
        """All panels of one part."""
        before, *after = self.parts[which].values()
        if after and which.likeliest:
            yield Table("", ("before", "after"), (*self._distances_of([before, *after]),))
        elif after:
            yield self._compared(before, *after)
        elif which.likeliest:
            yield from self._distances(before, top=True)
        else:
            yield Table("", (interval_heading(self.data),), tuple(self._coefficients([before])))
            yield from self._distances(before, top=False)
            yield Table("", (interval_heading(self.data),), tuple(self._scores([before])))
            yield self._tests(before)
        if ("derived_prevalence", False) in before:
            yield self._another(before, self.verdicts[which])

    def _coefficients(self, several: Sequence[Mapping[tuple[str, bool], Line]]) -> Iterator[Section]:
        for name, meanings in (("on average", _ON_AVERAGE), ("log-odds", _ON_A_LINE)):
            yield Section(name, tuple(self._row(several, each, told) for each, told in meanings.items()))

    def _row(
        self, several: Sequence[Mapping[tuple[str, bool], Line]], name: str, meaning: str, *, top: bool = False
    ) -> Row:
        """A number with its interval; beside another one without its meaning."""
        many = len(several) > 1
        found = (_tidied(lines[name, top]) for lines in several)
        cells = (estimate_cell(line, self.reasons, digits=self.digits, several=many) for line in found)
        return Row(_words(name), tuple(cells), "" if many else meaning)

    def _distances(self, lines: Mapping[tuple[str, bool], Line], *, top: bool) -> Iterator[Table]:
        """Distances beside what chance makes of them, then those that have an interval."""
        drawn = any(line["floor"] is not None for line in lines.values())
        sections = [
            Section("" if drawn else "distance from calibrated", tuple(self._floored(lines, drawn=drawn, top=top)))
        ]
        if not top:
            named = "likeliest class" if drawn else "likeliest class: distance from calibrated"
            rows = tuple(replace(row, meaning="") for row in self._floored(lines, drawn=drawn, top=True))
            sections += [Section(named, rows)] * bool(rows)
        columns = ("value", "by chance", "up to", "p") if drawn else ("",)
        yield split_when_narrow(Table("distance from calibrated" if drawn else "", columns, tuple(sections)))
        yield Table("", (interval_heading(self.data),), (Section("without what chance adds", self._debiased([lines])),))

    def _floored(self, lines: Mapping[tuple[str, bool], Line], *, drawn: bool, top: bool) -> Iterator[Row]:
        for name, meaning in _DISTANCES.items():
            if (name, top) in lines:
                line = lines[name, top]
                floor = tuple(
                    "" if line[of] is None else format_number(line[of], self.digits) for of in ("floor", "floor_high")
                )
                beside = (*floor, "" if line["p"] is None else self._chance(line)) if drawn else ()
                yield Row(_words(name), (self._value(line), *beside), meaning)

    def _debiased(self, several: Sequence[Mapping[tuple[str, bool], Line]]) -> tuple[Row, ...]:
        rows = []
        for (name, meaning), top in ((each, top) for each in _DEBIASED.items() for top in (False, True)):
            if (name, top) in several[0]:
                row = self._row(several, name, meaning, top=top)
                both = top and (name, False) in several[0]
                rows.append(replace(row, name="likeliest class", meaning="") if both else row)
        return tuple(rows)

    def _scores(self, several: Sequence[Mapping[tuple[str, bool], Line]]) -> Iterator[Section]:
        for named, parts in _SCORES.items():
            rows = []
            for name, (shown, meaning) in parts.items():
                if name.endswith("miscalibration"):
                    cells = tuple(self._beside_chance(lines[name, False], alone=len(several) == 1) for lines in several)
                    rows.append(Row(shown, cells, meaning if len(several) == 1 else ""))
                else:
                    rows.append(replace(self._row(several, name, meaning), name=shown))
            yield Section(named, tuple(rows))

    def _beside_chance(self, line: Line, *, alone: bool) -> Cell:
        """A distance that stands among numbers with intervals."""
        value, most = self._value(line), line["floor_high"]
        return IntervalCell(value, f"by chance up to {format_number(most, 2)}") if alone and most is not None else value

    def _tests(self, lines: Mapping[tuple[str, bool], Line]) -> Table:
        rows = []
        for name, meaning in _TESTS.items():
            line = lines[name, False]
            freedom = "" if line["freedom"] is None or line["value"] is None else str(line["freedom"])
            rows.append(Row(_words(name), (self._value(line), freedom, self._chance(line)), meaning))
        return split_when_narrow(Table("tests", ("statistic", "df", "p"), (Section("", tuple(rows)),)))

    def _another(self, lines: Mapping[tuple[str, bool], Line], verdict: str) -> Table:
        """Whether another prevalence would do."""
        rows = [self._row([lines], "derived_prevalence", "Prevalence that they are right for on average.")]
        for name, meaning in _ANOTHER.items():
            rows.append(Row(f"{_words(name)}, p", (self._chance(lines[name, False]),), meaning))
        rows.append(Row("verdict", ("",), f"{verdict[:1].upper()}{verdict[1:]}."))
        return Table("", (interval_heading(self.data),), (Section("another prevalence?", tuple(rows)),))

    def _compared(self, *several: Mapping[tuple[str, bool], Line]) -> Table:
        """Everything before and after an adjustment or a calibration."""
        at = [next(iter(lines.values()))["adjusted"] for lines in several]
        taken = Row("taken as right at", tuple("" if each is None else format_number(each, self.digits) for each in at))
        on_average, on_a_line = self._coefficients(several)
        adjusted = [taken] * any(each is not None for each in at)
        sections = [replace(on_average, rows=(*adjusted, *on_average.rows)), on_a_line]
        sections += [*self._distances_of(several), *self._scores(several)]
        rows = [Row(_words(name), tuple(self._chance(lines[name, False]) for lines in several)) for name in _TESTS]
        return Table("", ("before", "after"), (*sections, Section("tests: p", tuple(rows))))

    def _distances_of(self, several: Sequence[Mapping[tuple[str, bool], Line]]) -> Iterator[Section]:
        """Distances of several beside each other."""
        for named, top in (("distance from calibrated", False), ("likeliest class", True)):
            there = [name for name in _DISTANCES if (name, top) in several[0]]
            rows = [Row(_words(name), tuple(self._value(lines[name, top]) for lines in several)) for name in there]
            if rows:
                yield Section(named, tuple(rows))
        yield Section("without what chance adds", self._debiased(several))

    def _value(self, line: Line) -> str:
        """A number, marked if it is more than chance."""
        if line["value"] is None:
            return self.reasons.undefined(line["why"])
        return format_number(line["value"], self.digits) + _CHANCE * _beyond(line)

    def _chance(self, line: Line) -> str:
        if line["p"] is None:
            return self.reasons.undefined(line["why"])
        return format_p(line["p"], min(self.digits, 3), is_bound=line["p_is_bound"])


def _words(name: str) -> str:
    return "observed/expected" if name == "observed_expected" else name.removesuffix("_test").replace("_", " ")


def _tidied(line: Line) -> Line:
    """The number without the trace that solving for 0 leaves."""
    traced = line["value"] is not None and abs(line["value"]) < _TRACE
    return {**line, "value": 0.0} if traced and line["measure"].startswith("calibration") else line


def _beyond(line: Line) -> bool:
    """Whether it is more than chance alone explains."""
    return None not in (line["value"], line["floor_high"]) and line["value"] > line["floor_high"]


def split_when_narrow(panel: Table) -> Table:
    """Let columns follow each other where there is no room: turned, a table of measures is hard to read."""
    sections = tuple(
        replace(section, rows=tuple(replace(row, meaning="") for row in section.rows)) for section in panel.sections
    )
    return replace(panel, narrow=replace(panel, sections=sections))


def _bounded(found: Results) -> Iterable[Line]:
    """Rows with intervals, each measure once: what is of the likeliest class is made alike."""
    return (row for row in found.rows() if not row["top"] or "classes" in found.data)


def _explained(found: Results) -> Iterator[str]:
    """What stands for chance."""
    rows, sure = found.rows(), format_level(found.data["interval"]["level"])
    score = "what a perfectly calibrated model of this size would score"
    adjusted, calibrated = (any(row[of] is not None for row in rows) for of in ("adjusted", "calibrated"))
    compared = adjusted or (calibrated and any(row["calibrated"] is None for row in rows))
    if calibrated:
        how = next(row["calibrated"] for row in rows if row["calibrated"] is not None)
        both = any(row["calibrated"] is None for row in rows)
        yield f"before, after: as given; and {how}." if both else f"all numbers: {how}."
    elif adjusted:
        yield (
            "before, after: as given; and taken as right at the prevalence that is named first, and carried to that of "
            "the rows."
        )
    if not compared and any(row["floor"] is not None for row in rows):
        yield f"by chance, up to: {score}; median and {sure} % quantile."
    if any(map(_beyond, rows)):
        above = f": above the {sure} % quantile of {score}" if compared else ""
        yield f"{_CHANCE} more than chance alone explains{above}"
    if any(row["p"] is not None for row in rows):
        yield (
            "p: chance of as much or more if the probabilities were right; of another prevalence, if they were right "
            "for it. df: degrees of freedom. Each p is of one test alone: neither p-values nor intervals are adjusted "
            "for multiplicity."
        )
