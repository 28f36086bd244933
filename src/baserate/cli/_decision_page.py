"""Pages of `baserate decide` and `baserate costs`: thresholds, confusion matrices, measures, other rules, costs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from operator import itemgetter
from typing import Any, NamedTuple

from baserate._costs import Costs
from baserate._counts import Counts
from baserate._formatting import format_count, format_exact, format_level
from baserate._results import Results
from baserate.cli._costs import CELLS
from baserate.cli._decision_curves import MARK
from baserate.cli._io import headline
from baserate.cli._measure_page import MANY
from baserate.cli._options import Reading
from baserate.measure import MEASURES, describe, expected_cost, precision, prevalence, sensitivity, specificity
from baserate.text import (
    CONFUSION_CELLS,
    Cell,
    CellFormatter,
    CellWriter,
    Explanation,
    GroupKey,
    Page,
    Pivot,
    Table,
    TidyRow,
    class_matrix,
    confusion_table,
    describe_choice,
    describe_class,
    describe_fold_thresholds,
    describe_score_ranges,
    describe_threshold_intervals,
    group_heading,
    group_key,
    interval_heading,
    list_table,
    mark_cell,
    measure_label,
    number_when_narrow,
    shorten_label,
    split_when_narrow,
)

Name = tuple[str, str | None]
"""Measure, and the action that it is of."""

CHOICE, HELD_OUT = "choice", "held out"
_CELLS = ("tp", "fp", "fn", "tn")
_COUNTED = {
    "tp": "true positives",
    "fn": "false negatives",
    "referred_positives": "positives referred",
    "fp": "false positives",
    "tn": "true negatives",
    "referred_negatives": "negatives referred",
}
_MEANINGS = {
    "coverage": "Share of all cases that are decided.",
    "cost_with_referrals": "Mean cost of a case, with the cost of referrals.",
}


_APPARENT, _CORRECTED = "apparent", "optimism-corrected"
_BAND_COLUMNS = {"share": "share of all", "risk": "risk"}
_DERIVED = "derived"
"""Instead of an action, for a prevalence that may stand beside the measure of the same name."""
_OPTIMISM = f"{_CORRECTED}: less most of the gain by choosing on these very rows, estimated by cross-validation."
_IN_FOLDS = "in folds: less the lead of the apparent value over held-out folds, at thresholds chosen without them."
_DECIDED = "Measures are of the decided cases; referred ones count only for the flag rate beside other rules."
_COMPARED = {
    "sensitivity": ("sensitivity", "sens."),
    "specificity": ("specificity", "spec."),
    "precision": ("precision", "prec."),
    "flag_rate": ("flag rate", "flagged"),
    "expected_cost": ("cost per case", "cost"),
}
"""Measure beside other rules -> its heading, and a shorter one."""


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
        columns: list[str] = [Explanation(_OPTIMISM)] * any(row["corrected"] is not None for row in rows)
        columns += [Explanation(_IN_FOLDS)] * ("folds" in self.data)
        columns += [_DECIDED] * any(row["measure"] == "coverage" for row in rows)
        return (*notes, *(Explanation(f"Thresholds: {how}.") for how in methods), *columns)

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
        """Describe the rows of a subject, where there are also test data."""
        if "held_out" not in self.data:
            return ""
        return f", on {self.data['held_out']['name']}" if subject.set == HELD_OUT else ", on the data of the choice"

    def _measures(self, subject: _Subject) -> Table:
        """Return measures: apparent, optimism-corrected, in folds, and on test data."""
        rows = [row for (name, _), row in self.choice[subject].items() if _is_measure(name)]
        columns = {"value": _APPARENT}
        if any(row["corrected"] is not None for row in rows):
            columns["corrected"] = _CORRECTED
        if folds := self._folds(subject.model):
            columns["crossvalidated"] = f"in {len(folds)} folds"
        cells = [
            {**row, **_other_estimate(row, name), "column": name}
            for row in rows
            for name in columns
            if row[name] is not None or name == "value"
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
        """Return the cell of a count or of an estimate."""
        return self.format.count(row) if row["measure"] in _COUNTED else self.format.estimate(row)

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
        """Yield the thresholds of other rules; the chosen one comes first."""
        others = self.others.get(subject.model, {})
        names = [name for name in _COMPARED if name != "expected_cost" or self.data["costs"] is not None]
        rows = [self._choice_row(subject)] if ("tp", None) in self.choice[subject] else []
        rows += ({"rule": rule, "at": [lines["threshold"]["value"]], **lines} for rule, lines in others.items())

        def table(heading: int) -> Table:
            columns: dict[str, CellWriter] = {"threshold": lambda row: " / ".join(map(self.format.short, row["at"]))}
            columns |= {_COMPARED[name][heading]: partial(self._compared_cell, name) for name in names}
            return list_table(rows, columns, label=itemgetter("rule"), corner="rule")

        if others:
            yield "Thresholds of other rules:"
            yield replace(table(0), narrow=table(1))

    def _compared_cell(self, name: str, row: TidyRow) -> Cell:
        """Return a measure of the chosen rule, which is a number, or of another one, which is a tidy row."""
        value = row[name]
        if isinstance(value, Mapping):
            return self.format.value(value)
        return self.format.number(None if isnan(value) else value)

    def _choice_row(self, subject: _Subject) -> TidyRow:
        """Return the measures of the chosen rule, computed for all rows, including referred ones."""
        policy = self.data["policies"][subject.model]
        values = {name: row["value"] for (name, _), row in self.choice[subject].items()}
        counts = Counts(*(values[cell] for cell in _CELLS))
        total = counts.total + values.get("referred_positives", 0.0) + values.get("referred_negatives", 0.0)
        row = {
            "rule": f"{policy['rule']} (chosen)",
            "at": policy["thresholds"],
            "sensitivity": sensitivity(counts),
            "specificity": specificity(counts),
            "precision": precision(counts),
            "flag_rate": counts.flagged / total,
        }
        if self.data["costs"] is not None:
            cost = expected_cost(counts, costs=Costs(**self.data["costs"]))
            row["expected_cost"] = values.get("cost_with_referrals", cost)
        return row


def _other_estimate(row: TidyRow, name: str) -> TidyRow:
    """Return another estimate of a value with its bounds: optimism-corrected, or cross-validated."""
    return {} if name == "value" else {"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}


def _is_measure(name: str) -> bool:
    return name != "threshold" and name not in _COUNTED


def _prevalence(lines: Mapping[Name, TidyRow]) -> float:
    """Return the prevalence of all, decided or referred."""
    value = {name: row["value"] for (name, _), row in lines.items()}
    positives, negatives = (value.get(f"referred_{name}", 0.0) for name in ("positives", "negatives"))
    return float(prevalence(Counts(value["tp"] + positives, value["fp"] + negatives, value["fn"], value["tn"])))


def _line_label(name: Name) -> str:
    """Return the label of a measure, with the action that a share or a risk is of."""
    measure, action = name
    if measure in _COUNTED:
        return _COUNTED[measure]
    if action is not None and measure in _BAND_COLUMNS:
        return f"{measure_label(measure)} of {shorten_label(action)}"
    return measure_label(measure)


def _meaning(name: str) -> Explanation:
    """Return a sentence on a measure."""
    return Explanation(_MEANINGS.get(name) or describe(MEASURES[name]).summary)


_FEW = 6
"""Classes whose shares are shown."""


def costs_headline(results: Results, reading: Reading) -> str:
    """Return one line on the number of classifiers, the costs and the prevalence."""
    data = results.data
    count = sum(row["measure"] == "expected_cost" for row in results.rows())
    parts = [f"{count} classifier{'s' * (count > 1)}"] * bool(count)
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
    format_, data = CellFormatter(digits), results.data
    per = "per case" if data["per"] == 1 else f"per {format_count(data['per'], digits)} cases"
    rows = [row for row in results.rows() if row["measure"] == "expected_cost"]
    iso_costs = [row for row in results.rows() if row["measure"] == "iso_cost"]
    panels: list[Table] = []
    notes: list[str] = []
    if rows:
        columns = {**_sample_columns(rows, data, format_), "total": format_.count_field("total")}
        columns[per] = lambda row: mark_cell(format_.estimate(row), MARK * (row["cheapest"] and len(rows) > 1))
        panels.append(list_table(rows, columns, label=lambda row: shorten_label(row["model"]), corner="classifier"))
        notes += _cost_notes(rows, data, per)
    if iso_costs:
        columns = {
            "slope": format_.field("slope"),
            "intercept": format_.field("intercept"),
            per: format_.field("value"),
        }
        panels.append(list_table(iso_costs, columns, label=_iso_cost_label, corner="iso-cost line"))
        notes.append(
            Explanation("iso-cost line: TPR = intercept + slope · FPR; all points of ROC space with this cost")
        )
    return Page(line, tuple(map(split_when_narrow, panels)), (*format_.reasons.footnotes(), *notes))


def _sample_columns(rows: Sequence[TidyRow], data: Mapping[str, Any], format_: CellFormatter) -> dict[str, CellWriter]:
    """Return columns on the sample of each classifier: thresholds, counts and prevalence, or shares of classes."""

    def share(value: float | None, row: TidyRow) -> str:
        return format_.mark_undefined(row["why"]) if value is None else format_.number(value)

    def class_share(name: str, row: TidyRow) -> str:
        return share(data["shares"][row["model"]].get(name, 0.0), row)

    if "labels" in data["costs"]:
        return {f"share of {shorten_label(name, 14)}": partial(class_share, name) for name in _shown_classes(data)}
    columns: dict[str, CellWriter] = {}
    if any(row["threshold"] is not None for row in rows):
        columns["threshold"] = lambda row: "" if row["threshold"] is None else format_exact(row["threshold"])
    columns |= {name.upper(): format_.count_field(name) for name in CELLS}
    return {**columns, "measured at": lambda row: share(row["measured"], row)}


def _shown_classes(data: Mapping[str, Any]) -> Sequence[str]:
    """Return the classes whose shares have columns; none if there are too many."""
    classes = _classes(data)
    return classes if len(classes) <= _FEW else []


def _iso_cost_label(row: TidyRow) -> str:
    return f"through FPR {format_exact(row['fpr'])}, TPR {format_exact(row['tpr'])}"


def _cost_notes(rows: Sequence[TidyRow], data: Mapping[str, Any], per: str) -> Iterator[str]:
    """Yield the meanings of the columns of classifiers."""
    if any(row["cheapest"] for row in rows) and len(rows) > 1:
        yield f"{MARK} the cheapest"
    if "labels" not in data["costs"]:
        yield Explanation("measured at: the prevalence of its own sample; total: cost of that sample")
    elif _shown_classes(data):
        yield Explanation("share of a class: in its own sample; total: cost of that sample")
    where = "in its own sample" if data["prevalence"] is None else f"at {_describe_prevalence(data)}"
    yield f"{per}: mean cost {where}"
    hows = dict.fromkeys(row["how"] for row in rows if row["low"] is not None)
    if hows:
        level = format_level(data["level"])
        methods = f"{level}% intervals of the cost {per}: {' or '.join(hows)}."
        yield Explanation(methods, brief=f"Intervals: {level}% confidence.")


_CLASS_COSTS = {"cost_expected": "expected cost", "cost_realised": "realized cost", "referred_share": "share referred"}


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


def decide_classes_page(results: Results, reading: Reading, costs_file: str, digits: int) -> Page:
    """Return the page of decisions among several classes."""
    rows, format_ = results.rows(), CellFormatter(digits)
    rules = Pivot(
        line=itemgetter("rule"),
        column=itemgetter("measure"),
        cell=partial(format_.estimate, several=False),
        label=str,
        heading=_CLASS_COSTS.__getitem__,
    )
    panels = [
        _describe_class_decisions(results.data, costs_file),
        _class_decisions(rows, results.data, reading, digits),
        rules.table([row for row in rows if row["class"] is None], corner="rule"),
    ]
    return Page(headline(reading, results.data), tuple(panels), format_.footnotes(rows, results.data))


def _describe_class_decisions(data: Mapping[str, Any], costs_file: str) -> str:
    """Describe the decision on each row."""
    refer = data["refer"]
    referral = "" if refer is None else f", or is referred at a cost of {refer:g} if that is cheaper"
    sentence = f"each row gets the class of least expected cost by {costs_file}{referral}."
    if "deployment" in data:
        each = data["deployment"]["prevalences"]
        shares = (f"{shorten_label(name)} {100 * share:.4g}%" for name, share in each.items())
        sentence = f"at shares of {', '.join(shares)}, {sentence}"
    return sentence[:1].upper() + sentence[1:]


def _class_decisions(rows: Sequence[TidyRow], data: Mapping[str, Any], reading: Reading, digits: int) -> Table | str:
    """Return the confusion matrix, with a column for referred rows if there are any."""
    names = data["decisions"]
    if len(names) > MANY:
        return f"The confusion matrix of {len(names)} classes is too large to show; --format csv contains it."
    masses = [row["value"] for row in rows if row["measure"] == "cell"]
    lines = [masses[at : at + len(names)] for at in range(0, len(masses), len(names))]
    referred = [row["value"] for row in rows if row["measure"] == "referred"]
    if any(referred):
        lines = [[*line, mass] for line, mass in zip(lines, referred, strict=True)]
    corner = f"{shorten_label(reading.truth)} ↓ decided →"
    matrix = class_matrix(corner, names, lines, digits=digits, referred=any(referred))
    return number_when_narrow(matrix, n_named=1 + any(referred))
