"""Page of `baserate decide`: the threshold in words, its confusion matrix, measures, and the choices of other rules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from operator import itemgetter
from typing import Any, NamedTuple

from baserate._costs import Costs
from baserate._counts import Counts
from baserate._formatting import format_count, format_exact, format_level, format_number
from baserate._results import Results
from baserate.cli._costs import CELLS
from baserate.cli._decision_curves import MARK
from baserate.cli._io import headline
from baserate.cli._measure_page import MANY, SHORT_LABEL, number_columns
from baserate.cli._options import Reading
from baserate.measure import MEASURES, describe, expected_cost, precision, prevalence, sensitivity, specificity
from baserate.text import (
    CONFUSION_CELLS,
    Cell,
    CellFormatter,
    Footnotes,
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
    estimate_cell,
    group_heading,
    group_key,
    interval_footnotes,
    interval_heading,
    mark_cell,
    measure_label,
    shorten_label,
    split_when_narrow,
)

Name = tuple[str, str | None]
"""Measure, and the action that it is of."""

_PLACES = 9
"""Decimals of masses: products of shares leave traces beyond."""
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


def decide_page(results: Results, reading: Reading, line: str, digits: int) -> Page:
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


_FEW = 6
"""Classes whose shares are shown."""


def costs_headline(results: Results, reading: Reading) -> str:
    """Return one line on the number of classifiers, the costs and the prevalence."""
    data = results.data
    many = sum(row["measure"] == "expected_cost" for row in results.rows())
    parts = [f"{many} classifier{'s' * (many > 1)}"] * bool(many)
    if data["positive"] is not None:
        parts.append(f"positive: {shorten_label(reading.truth)} = {shorten_label(data['positive'])}")
    costs = data["costs"]
    if "labels" in costs:
        parts.append(f"{len(_classes(data))} classes")
    else:
        parts.append("costs: " + ", ".join(f"{name.upper()} {format_exact(costs[name])}" for name in CELLS))
    if data["prevalence"] is not None:
        parts.append(f"used at {_describe_prevalence(data)}")
    return " · ".join(parts)


def costs_page(results: Results, line: str, digits: int) -> Page:
    """Return the page of classifiers, and of iso-cost lines if they are requested."""
    layout = _CostPage(results, digits)
    panels = [*layout.classifiers(), *layout.iso_cost_lines()]
    return Page(line, tuple(panels), (*layout.format.reasons.footnotes(), *layout.notes()))


def _describe_prevalence(data: Mapping[str, Any]) -> str:
    """Describe the prevalence, or the shares of several classes, at which costs are computed."""
    stated = data["prevalence"]
    if isinstance(stated, Mapping):
        shares = (f"{shorten_label(name)}={format_exact(share)}" for name, share in stated.items())
        return f"shares of {', '.join(shares)}"
    return f"a prevalence of {format_exact(stated)}"


def _classes(data: Mapping[str, Any]) -> Sequence[str]:
    """Return the classes of all samples."""
    return list(dict.fromkeys(name for shares in data["shares"].values() for name in shares))


class _CostPage:
    """Rows of classifiers and of iso-cost lines, and the formatter of their cells."""

    def __init__(self, results: Results, digits: int) -> None:
        self.data, self.format = results.data, CellFormatter(digits)
        self.rows = [row for row in results.rows() if row["measure"] == "expected_cost"]
        self.iso_costs = [row for row in results.rows() if row["measure"] == "iso_cost"]
        per = results.data["per"]
        self.per = "per case" if per == 1 else f"per {format_count(per, digits)} cases"

    def classifiers(self) -> Iterator[Table]:
        """Yield a line for each classifier."""
        if self.rows:
            heads = (*self._headings(), "total", self.per)
            rows = tuple(Row(shorten_label(row["model"]), tuple(self._cells(row))) for row in self.rows)
            yield split_when_narrow(Table("classifier", heads, (Section("", rows),)))

    def iso_cost_lines(self) -> Iterator[Table]:
        """Yield slope, intercept and cost of each iso-cost line."""
        rows = tuple(
            Row(
                f"through FPR {format_exact(row['fpr'])}, TPR {format_exact(row['tpr'])}",
                tuple(self.format.number(row[name]) for name in ("slope", "intercept", "value")),
            )
            for row in self.iso_costs
        )
        if rows:
            heads = ("slope", "intercept", self.per)
            yield split_when_narrow(Table("line of equal cost", heads, (Section("", rows),)))

    def notes(self) -> Iterator[str]:
        """Yield the meanings of columns."""
        if self.rows:
            yield from self._column_notes()
        if self.iso_costs:
            yield "line of equal cost: TPR = intercept + slope · FPR; all points of ROC space that cost as much"

    @property
    def _has_thresholds(self) -> bool:
        """Whether some classifier has a threshold."""
        return any(row["threshold"] is not None for row in self.rows)

    @property
    def _classes(self) -> Sequence[str]:
        """Classes whose shares have columns; none if there are too many."""
        occurring = _classes(self.data)
        return occurring if len(occurring) <= _FEW else []

    def _headings(self) -> Iterator[str]:
        """Yield the headings of columns."""
        if "labels" in self.data["costs"]:
            yield from (f"share of {shorten_label(name, 14)}" for name in self._classes)
            return
        yield from ["threshold"] * self._has_thresholds
        yield from (*map(str.upper, CELLS), "measured at")

    def _cells(self, row: TidyRow) -> Iterator[Cell]:
        """Yield the cells of one classifier."""
        if "labels" in self.data["costs"]:
            shares = self.data["shares"][row["model"]]
            yield from (self._share(shares.get(name, 0.0), row["why"]) for name in self._classes)
        else:
            yield from ["" if row["threshold"] is None else format_exact(row["threshold"])] * self._has_thresholds
            yield from (format_count(row[name], self.format.digits) for name in CELLS)
            yield self._share(row["measured"], row["why"])
        yield format_count(row["total"], self.format.digits)
        best = row["cheapest"] and len(self.rows) > 1
        yield mark_cell(self.format.estimate(row), MARK * best)

    def _share(self, share: float | None, why: str | None) -> str:
        """Return the share of a class in a sample; undefined where the sample has no rows."""
        return self.format.mark_undefined(why) if share is None else self.format.number(share)

    def _column_notes(self) -> Iterator[str]:
        """Yield the meanings of the columns of classifiers."""
        if any(row["cheapest"] for row in self.rows) and len(self.rows) > 1:
            yield f"{MARK} the cheapest"
        if "labels" not in self.data["costs"]:
            yield "measured at: the prevalence of its own sample; total: what the whole of that cost"
        elif self._classes:
            yield "share of a class: in its own sample; total: what the whole of that cost"
        where = "in its own sample" if self.data["prevalence"] is None else f"at {_describe_prevalence(self.data)}"
        yield f"{self.per}: mean cost {where}"
        hows = dict.fromkeys(row["how"] for row in self.rows if row["low"] is not None)
        if hows:
            yield f"{format_level(self.data['level'])} % intervals of the cost {self.per}: {' or '.join(hows)}."


def decide_classes_page(results: Results, reading: Reading, costs_file: str, digits: int) -> Page:
    """Lay the numbers out."""
    reasons = Footnotes()
    rows = results.rows()
    panels = [
        _sentence(results.data, costs_file),
        _table(rows, results.data, reading, digits),
        _rules(rows, reasons, digits),
    ]
    return Page(
        headline(reading, results.data), tuple(panels), reasons.footnotes() + interval_footnotes(rows, results.data)
    )


def _sentence(data: TidyRow, costs_file: str) -> str:
    """Say what is done with each row."""
    refer = data["refer"]
    left = "" if refer is None else f", or is referred for {refer:g} where that is cheaper"
    done = f"each row gets the class of least expected cost by {costs_file}{left}."
    if "to" in data:
        each = [f"{shorten_label(name)} {100 * share:.4g}\N{NO-BREAK SPACE}%" for name, share in data["to"].items()]
        done = f"where the shares are {', '.join(each)}, {done}"
    return done[:1].upper() + done[1:]


def _table(rows: Sequence[TidyRow], data: TidyRow, reading: Reading, digits: int) -> Table | str:
    """Truth in rows, decisions in columns, and what is referred."""
    names = data["decisions"]
    if len(names) > MANY:
        return f"The table of {len(names)} classes is too large to show; --format csv holds it."
    cells = iter([row["value"] for row in rows if row["measure"] == "cell"])
    lines = [[next(cells) for _ in names] for _ in names]
    referred = [row["value"] for row in rows if row["measure"] == "referred"]
    for line, mass in zip(lines, referred if any(referred) else (), strict=False):
        line.append(mass)
    lines.append([sum(column) for column in zip(*lines, strict=True)])
    shown = tuple(
        Row(shorten_label(name), _masses(line, digits)) for name, line in zip([*names, "total"], lines, strict=True)
    )
    last = (*["referred"] * any(referred), "total")
    columns = (*(shorten_label(name, SHORT_LABEL) for name in names), *last)
    full = Table(
        f"{shorten_label(reading.truth)} ↓ decided →", columns, (Section("", shown, apart=True),), upright=True
    )
    return replace(full, narrow=number_columns(full, kept=len(last)))


def _masses(line: Sequence[float], digits: int) -> tuple[str, ...]:
    """Masses and their sum, without the trace that products leave."""
    return tuple(format_count(round(mass, _PLACES), digits) for mass in (*line, sum(line)))


def _rules(rows: Sequence[TidyRow], reasons: Footnotes, digits: int) -> Table:
    """What both rules cost."""
    by: dict[str, dict[str, TidyRow]] = {}
    for row in rows:
        if row["class"] is None:
            by.setdefault(row["rule"], {})[row["measure"]] = row
    heads = {"cost_expected": "expected cost", "cost_realised": "realised cost", "referred_share": "share referred"}
    columns = [name for name in heads if name in next(iter(by.values()))]
    lines = [
        Row(rule, tuple(estimate_cell(found[name], reasons, digits=digits, several=False) for name in columns))
        for rule, found in by.items()
    ]
    return Table("rule", tuple(heads[name] for name in columns), (Section("", tuple(lines)),))
