"""Page of `baserate decide`: the threshold in words, its confusion matrix, measures, and the choices of other rules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from operator import itemgetter
from typing import NamedTuple

from baserate._costs import Costs
from baserate._counts import Counts
from baserate._formatting import format_count, format_exact, format_number
from baserate._results import Results
from baserate.cli._options import Reading
from baserate.measure import MEASURES, describe, expected_cost, precision, prevalence, sensitivity, specificity
from baserate.text import (
    CONFUSION_CELLS,
    Cell,
    CellFormatter,
    GroupKey,
    Page,
    Pivot,
    Row,
    Section,
    Table,
    TidyRow,
    confusion_table,
    describe_choice,
    describe_class,
    describe_fold_thresholds,
    describe_score_ranges,
    describe_threshold_intervals,
    group_heading,
    group_key,
    interval_heading,
    measure_label,
    shorten_label,
)

Name = tuple[str, str | None]
"""Measure, and the action that it is of."""

CHOICE, HELD_OUT = "choice", "held out"
_CELLS = ("tp", "fp", "fn", "tn")
_COUNTED = {
    "tp": "positives flagged",
    "fn": "positives passed",
    "referred_positives": "positives referred",
    "fp": "negatives flagged",
    "tn": "negatives passed",
    "referred_negatives": "negatives referred",
}
_MEANINGS = {
    "coverage": "Share of everybody who is decided.",
    "cost_with_referrals": "Mean cost of a case, with what referring costs.",
}
_BAND_COLUMNS = {"share": "share of all", "risk": "risk"}
_DERIVED = "derived"
"""Instead of an action, for a prevalence that may stand beside the measure of the same name."""
_WITHOUT = "optimism-corrected"
_OPTIMISM = f"{_WITHOUT}: less most of the gain by choosing on these very rows, estimated by cross-validation."
_IN_FOLDS = "in folds: as it looks, less its lead over parts of the rows at cut-offs that were chosen without them."
_DECIDED = "Measures are of the cases that are decided; referred ones count for the flag rate beside other rules alone."
_COMPARED = ("sensitivity", "specificity", "precision", "flag_rate", "expected_cost")
_LONGEST = 8
"""Letters of a cut-off beside others; a longer one is rounded there."""


class _Subject(NamedTuple):
    """A model, the rows that it is evaluated on, and a group of them."""

    model: str
    set: str
    group: GroupKey


def page(results: Results, reading: Reading, line: str, digits: int) -> Page:
    """Return the page of some results."""
    layout = _DecisionPage(results, reading, digits)
    panels = tuple(panel for model in results.data["policies"] for panel in layout.model_panels(model))
    return Page(line, panels, layout.footnotes())


class _DecisionPage:
    """Rows of the chosen rule by subject, rows of other rules, and the formatter of their cells."""

    def __init__(self, results: Results, reading: Reading, digits: int) -> None:
        self.data, self.reading, self.format = results.data, reading, CellFormatter(digits)
        self.choice: dict[_Subject, dict[Name, TidyRow]] = {}
        self.others: dict[str, dict[str, dict[str, TidyRow]]] = {}
        for row in results.rows():
            model = row["model"] or next(iter(self.data["policies"]))
            if row["rule"] == self.data["policies"][model]["rule"]:
                subject = _Subject(model, row.get("set", CHOICE), group_key(row))
                self.choice.setdefault(subject, {})[row["measure"], row["action"]] = row
            else:
                self.others.setdefault(model, {}).setdefault(row["rule"], {})[row["measure"]] = row

    def model_panels(self, model: str) -> Iterator[Table | str]:
        """Yield all panels of one model."""
        subject, policy = _Subject(model, CHOICE, None), self.data["policies"][model]
        thresholds = [row for (name, _), row in self.choice[subject].items() if name == "threshold"]
        sentences = [
            describe_choice(self._score(model), policy, self.data["costs"]),
            describe_threshold_intervals(thresholds, self.format.digits),
            describe_fold_thresholds(self._folds(model), len(thresholds), self.format.digits),
        ]
        yield " ".join(filter(None, sentences))
        sets = [each for each in (CHOICE, HELD_OUT) if subject._replace(set=each) in self.choice]
        binary = ("tp", None) in self.choice[subject]
        if binary:
            yield from (self._confusion_matrix(subject._replace(set=each)) for each in sets)
        yield self._measures(subject) if binary else self._bands(subject, sets)
        for each in sets if self.reading.group else ():
            yield self._by_group(subject._replace(set=each))
        yield from self._other_rules(subject)

    def _score(self, model: str) -> str:
        """Return the name of the score that thresholds apply to."""
        return f"calibrated {shorten_label(model)}" if "map" in self.data else shorten_label(model)

    def _folds(self, model: str) -> Sequence[Sequence[float]]:
        """Return the thresholds that were chosen without each fold."""
        folds: Sequence[Sequence[float]] = self.data.get("folds", {}).get(model, ())
        return folds

    def footnotes(self) -> tuple[str, ...]:
        """Return reasons of undefined numbers, methods of intervals, and meanings of columns."""
        rows = [row for lines in self.choice.values() for row in lines.values()]
        methods = {row["how"]: None for row in rows if row["measure"] == "threshold" and row["low"] is not None}
        notes = self.format.footnotes((row for row in rows if row["measure"] != "threshold"), self.data)
        columns = [_OPTIMISM] * any(row["corrected"] is not None for row in rows)
        columns += [_IN_FOLDS] * ("folds" in self.data)
        columns += [_DECIDED] * any(row["measure"] == "coverage" for row in rows)
        return (*notes, *(f"Cut-offs: {how}." for how in methods), *columns)

    def _confusion_matrix(self, subject: _Subject) -> Table:
        """Return the confusion matrix, with a column for referred people if there are any."""
        values = {name: row["value"] for (name, _), row in self.choice[subject].items()}
        classes = {name: describe_class(name, self.reading.truth, self.data) for name in ("positive", "negative")}

        def text(*cells: str) -> str:
            # Sums of weights depend on their order in the last digit: columns first, so that totals of columns add up.
            columns = zip(*CONFUSION_CELLS.values(), strict=True)
            masses = (sum(values[cell] for cell in column if cell in cells) for column in columns)
            return format_count(sum(masses), self.format.digits)

        return confusion_table(f"truth in rows{self._describe_set(subject)}", classes, values, text)

    def _describe_set(self, subject: _Subject) -> str:
        """Describe the rows of a subject, where there are also held-out rows."""
        if "held_out" not in self.data:
            return ""
        return f", on {self.data['held_out']['name']}" if subject.set == HELD_OUT else ", where it was chosen"

    def _measures(self, subject: _Subject) -> Table:
        """Return measures as they look, optimism-corrected, in folds, and on held-out rows."""
        rows = [row for (name, _), row in self.choice[subject].items() if _is_measure(name)]
        columns = {"value": "as it looks"}
        if any(row["corrected"] is not None for row in rows):
            columns["corrected"] = _WITHOUT
        if folds := self._folds(subject.model):
            columns["crossvalidated"] = f"in {len(folds)} folds"
        cells = [
            {**_instead(row, name), "column": name}
            for row in rows
            for name in columns
            if name == "value" or row[name] is not None
        ]
        if held_out := self.choice.get(subject._replace(set=HELD_OUT)):
            columns[HELD_OUT] = f"on {self.data['held_out']['name']}"
            names = {(row["measure"], row["action"]) for row in rows}
            cells += ({**row, "column": HELD_OUT} for name, row in held_out.items() if name in names)
        single = len(columns) == 1
        pivot = Pivot(
            line=itemgetter("measure"),
            column=itemgetter("column"),
            section=lambda _row: "measures" if single else "",
            cell=partial(self.format.estimate, several=not single),
            heading=lambda column: interval_heading(self.data) if single else columns[column],
            meaning=_meaning,
        )
        return pivot.table(cells, corner="" if single else "measures", columns=list(columns))

    def _bands(self, subject: _Subject, sets: Sequence[str]) -> Table:
        """Return the share and the risk of each action."""
        policy = self.data["policies"][subject.model]
        ranges = describe_score_ranges(self._score(subject.model), policy["thresholds"])
        labels = {
            action: f"{shorten_label(action)}: {scores}"
            for action, scores in zip(policy["actions"], ranges, strict=True)
        }
        pivot = Pivot(
            line=itemgetter("action"),
            column=lambda row: (row["column"], row["measure"]),
            cell=self.format.estimate,
            label=labels.__getitem__,
            heading=lambda column: f"{_BAND_COLUMNS[column[1]]}{self._describe_set(subject._replace(set=column[0]))}",
        )
        rows = [
            {**self.choice[subject._replace(set=each)][name, action], "column": each}
            for action in labels
            for each in sets
            for name in _BAND_COLUMNS
        ]
        return pivot.table(rows, corner="action")

    def _by_group(self, subject: _Subject) -> Table:
        """Return everybody and each group under the common policy."""
        subjects = [each for each in self.choice if each._replace(group=None) == subject]
        pivot = Pivot(
            line=lambda row: (row["measure"], row["action"]),
            column=itemgetter("subject"),
            section=lambda row: "counts" if row["measure"] in _COUNTED else "",
            cell=self._group_cell,
            label=_line_label,
            heading=lambda each: group_heading(each.group),
            title=lambda _section: "",
            apart={"counts"},
        )
        corner = f"by {', '.join(map(shorten_label, self.reading.group))}{self._describe_set(subject)}"
        return pivot.table(self._group_rows(subjects), corner=corner, columns=subjects)

    def _group_cell(self, row: TidyRow) -> Cell:
        """Return the cell of a count, of a derived prevalence, or of an estimate."""
        if row["measure"] in _COUNTED:
            return self.format.count(row)
        if "level" not in row:  # derived here, without an interval
            return format_number(row["value"], self.format.digits)
        return self.format.estimate(row)

    def _group_rows(self, subjects: Sequence[_Subject]) -> Iterator[TidyRow]:
        """Yield counts, the prevalence, and measures of some subjects."""
        rows = [{**row, "subject": each} for each in subjects for row in self.choice[each].values()]
        for name in _COUNTED:
            yield from (row for row in rows if row["measure"] == name)
        for each in subjects if ("tp", None) in self.choice[subjects[0]] else ():
            share = _prevalence(self.choice[each])
            yield {"measure": "prevalence", "action": _DERIVED, "value": share, "subject": each}
        yield from (row for row in rows if _is_measure(row["measure"]))

    def _other_rules(self, subject: _Subject) -> Iterator[Table | str]:
        """Yield what other rules would have chosen; the chosen one comes first."""
        others = self.others.get(subject.model, {})
        names = [name for name in _COMPARED if name != "expected_cost" or self.data["costs"] is not None]
        rows = [self._choice_row(subject, names)] if ("tp", None) in self.choice[subject] else []
        for rule, lines in others.items():
            cells = (self.format.value(lines[name]) for name in names)
            rows.append(Row(rule, (_short(lines["threshold"]["value"], self.format.digits), *cells)))
        if others:
            yield "What other rules would have said:"
            narrow = Table("rule", ("cut-off", *map(_SHORT.__getitem__, names)), (Section("", tuple(rows)),))
            yield replace(narrow, columns=("cut-off", *map(_HEADS.__getitem__, names)), narrow=narrow)

    def _choice_row(self, subject: _Subject, names: Sequence[str]) -> Row:
        """Return the line of the chosen rule, computed for all rows including those who are referred."""
        policy = self.data["policies"][subject.model]
        values = {name: row["value"] for (name, _), row in self.choice[subject].items()}
        counts = Counts(*(values[cell] for cell in _CELLS))
        total = counts.total + values.get("referred_positives", 0.0) + values.get("referred_negatives", 0.0)
        numbers = {
            "sensitivity": sensitivity(counts),
            "specificity": specificity(counts),
            "precision": precision(counts),
            "flag_rate": counts.flagged / total,
        }
        if "expected_cost" in names:
            each = expected_cost(counts, costs=Costs(**self.data["costs"]))
            numbers["expected_cost"] = values.get("cost_with_referrals", each)
        thresholds = " / ".join(_short(at, self.format.digits) for at in policy["thresholds"])
        cells = (self.format.number(None if isnan(numbers[name]) else numbers[name]) for name in names)
        return Row(f"{policy['rule']} (chosen)", (thresholds, *cells))


_HEADS = dict(zip(_COMPARED, ("sensitivity", "specificity", "precision", "flag rate", "cost per case"), strict=True))
_SHORT = dict(zip(_COMPARED, ("sens.", "spec.", "prec.", "flagged", "cost"), strict=True))


def _is_measure(name: str) -> bool:
    return name != "threshold" and name not in _COUNTED


def _instead(row: TidyRow, name: str) -> TidyRow:
    """Return a row with another estimate of its value: optimism-corrected, or cross-validated."""
    if name == "value":
        return row
    return {**row, "value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}


def _prevalence(lines: Mapping[Name, TidyRow]) -> float:
    """Return the prevalence of all, decided or referred."""
    value = {name: row["value"] for (name, _), row in lines.items()}
    positives, negatives = (value.get(f"referred_{name}", 0.0) for name in ("positives", "negatives"))
    return float(prevalence(Counts(value["tp"] + positives, value["fp"] + negatives, value["fn"], value["tn"])))


def _short(threshold: float, digits: int) -> str:
    """Return a threshold in full, or rounded if it is long."""
    shown = format_exact(threshold)
    return shown if len(shown) <= _LONGEST else format_number(threshold, digits)


def _line_label(name: Name) -> str:
    """Return the label of a measure, with the action that a share or a risk is of."""
    measure, action = name
    if measure in _COUNTED:
        return _COUNTED[measure]
    if action is not None and measure in _BAND_COLUMNS:
        return f"{measure_label(measure)} of {shorten_label(action)}"
    return measure_label(measure)


def _meaning(name: str) -> str:
    """Return a sentence on a measure."""
    return _MEANINGS.get(name) or describe(MEASURES[name]).summary
