"""Tidy numbers on a choice -> a page: the cut-off in words, its table, measures, and what other rules would choose."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, NamedTuple

from baserate._costs import Costs
from baserate._counts import Counts
from baserate._formatting import UNDEFINED, format_count, format_exact, format_number
from baserate._results import Results
from baserate.cli._options import Reading
from baserate.measure import MEASURES, about, expected_cost, precision, prevalence, sensitivity, specificity
from baserate.text import (
    EVERYBODY,
    Cell,
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    describe_choice,
    describe_class,
    describe_fold_thresholds,
    describe_score_ranges,
    describe_threshold_intervals,
    estimate_cell,
    interval_footnotes,
    interval_heading,
    shorten_label,
)

Line = Mapping[str, Any]
Group = tuple[tuple[str, object], ...] | None
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
_WITHOUT = "optimism-corrected"
_OPTIMISM = f"{_WITHOUT}: less most of the gain by choosing on these very rows, estimated by cross-validation."
_IN_FOLDS = "in folds: as it looks, less its lead over parts of the rows at cut-offs that were chosen without them."
_DECIDED = "Measures are of the cases that are decided; referred ones count for the flag rate beside other rules alone."
_COMPARED = ("sensitivity", "specificity", "precision", "flag_rate", "expected_cost")
_LONGEST = 8
"""Letters of a cut-off beside others; a longer one is rounded there."""


class _Case(NamedTuple):
    """Whose numbers they are."""

    model: str
    set: str
    group: Group


def page(found: Results, asked: Reading, line: str, digits: int) -> Page:
    """Lay the numbers out."""
    sheet = _Sheet(found, asked, digits)
    panels = tuple(part for model in found.data["policies"] for part in sheet.of_model(model))
    return Page(line, panels, sheet.footnotes())


_CLASSES = {"positive": ("tp", "referred_positives", "fn"), "negative": ("fp", "referred_negatives", "tn")}
"""Of a 2×2 table, from left to right; some may be referred."""


class _Sheet:
    """Rows by whose they are, rows of other rules, and the reasons why some numbers are undefined."""

    def __init__(self, found: Results, asked: Reading, digits: int) -> None:
        self.data, self.asked, self.digits = found.data, asked, digits
        self.reasons = Footnotes()
        self.chosen: dict[_Case, dict[Name, Line]] = {}
        self.others: dict[str, dict[str, dict[str, Line]]] = {}
        for row in found.rows():
            model = row["model"] or next(iter(self.data["policies"]))
            if row["rule"] == self.data["policies"][model]["rule"]:
                group = None if row["group"] is None else tuple(row["group"].items())
                case = _Case(model, row.get("set", CHOICE), group)
                self.chosen.setdefault(case, {})[row["measure"], row["action"]] = row
            else:
                self.others.setdefault(model, {}).setdefault(row["rule"], {})[row["measure"]] = row

    def of_model(self, model: str) -> Iterator[Table | str]:
        """All about one model."""
        case, policy = _Case(model, CHOICE, None), self.data["policies"][model]
        cutoffs = [row for (name, _), row in self.chosen[case].items() if name == "threshold"]
        told = [
            describe_choice(self._score(model), policy, self.data["costs"]),
            describe_threshold_intervals(cutoffs, self.digits),
        ]
        yield " ".join(filter(None, [*told, describe_fold_thresholds(self._folds(model), len(cutoffs), self.digits)]))
        sets = [each for each in (CHOICE, HELD_OUT) if case._replace(set=each) in self.chosen]
        decided = ("tp", None) in self.chosen[case]
        if decided:
            yield from (self._two_by_two(case._replace(set=each)) for each in sets)
        yield self._measures(case) if decided else self._bands(case, sets)
        for each in sets if self.asked.group else ():
            yield self._by_group(case._replace(set=each))
        yield from self._compared(case)

    def _score(self, model: str) -> str:
        """What is cut."""
        return f"calibrated {shorten_label(model)}" if "map" in self.data else shorten_label(model)

    def _folds(self, model: str) -> Sequence[Sequence[float]]:
        """Cut-offs that were chosen without each fold."""
        found: Sequence[Sequence[float]] = self.data.get("folds", {}).get(model, ())
        return found

    def footnotes(self) -> tuple[str, ...]:
        """Why numbers are undefined, and how intervals were made."""
        rows = [row for lines in self.chosen.values() for row in lines.values()]
        cutoffs = {row["how"]: None for row in rows if row["measure"] == "threshold" and row["low"] is not None}
        made = interval_footnotes((row for row in rows if row["measure"] != "threshold"), self.data)
        told = [_OPTIMISM] * any(row["corrected"] is not None for row in rows)
        told += [_IN_FOLDS] * ("folds" in self.data)
        told += [_DECIDED] * any(row["measure"] == "coverage" for row in rows)
        return (*self.reasons.footnotes(), *made, *(f"Cut-offs: {how}." for how in cutoffs), *told)

    def _two_by_two(self, case: _Case) -> Table:
        values = {name: row["value"] for (name, _), row in self.chosen[case].items()}
        referred = "referred_positives" in values
        lines = {
            describe_class(name, self.asked.truth, self.data): [values[cell] for cell in cells if cell in values]
            for name, cells in _CLASSES.items()
        }
        lines["total"] = [sum(pair) for pair in zip(*lines.values(), strict=True)]
        rows = tuple(
            Row(name, tuple(format_count(each, self.digits) for each in (*line, sum(line))))
            for name, line in lines.items()
        )
        columns = ("flagged", *["referred"] * referred, "passed", "total")
        return Table(f"truth in rows{self._of(case)}", columns, (Section("", rows),), upright=True)

    def _of(self, case: _Case) -> str:
        """Which rows they are, if there is a choice."""
        if "held_out" not in self.data:
            return ""
        return f", on {self.data['held_out']['name']}" if case.set == HELD_OUT else ", where it was chosen"

    def _measures(self, case: _Case) -> Table:
        """Measures as they look, optimism-corrected, and on other rows."""
        lines = {name: row for (name, _), row in self.chosen[case].items() if _is_measure(name)}
        there = {name: row for (name, _), row in self.chosen.get(case._replace(set=HELD_OUT), {}).items()}
        columns: dict[str, Callable[[str], Line | None]] = {"as it looks": lines.get}
        if any(row["corrected"] is not None for row in lines.values()):
            columns[_WITHOUT] = lambda name: _corrected(lines[name])
        if self._folds(case.model):
            columns[f"in {len(self._folds(case.model))} folds"] = lambda name: _crossvalidated(lines[name])
        if there:
            columns[f"on {self.data['held_out']['name']}"] = there.get
        if len(columns) == 1:
            rows = [Row(_words(name), (self._cell(row, several=False),), _meaning(name)) for name, row in lines.items()]
            return Table("", (interval_heading(self.data),), (Section("measures", tuple(rows)),))
        rows = [Row(_words(name), tuple(self._cell(at(name)) for at in columns.values())) for name in lines]
        return Table("measures", tuple(columns), (Section("", tuple(rows)),))

    def _bands(self, case: _Case, sets: Sequence[str]) -> Table:
        """Who is in each band."""
        policy = self.data["policies"][case.model]
        ranges = describe_score_ranges(self._score(case.model), policy["thresholds"])
        rows = []
        for action, scores in zip(policy["actions"], ranges, strict=True):
            cells = [
                self._cell(self.chosen[case._replace(set=each)][name, action])
                for each in sets
                for name in ("share", "risk")
            ]
            rows.append(Row(f"{shorten_label(action)}: {scores}", tuple(cells)))
        columns = [f"{name}{self._of(case._replace(set=each))}" for each in sets for name in ("share of all", "risk")]
        return Table("action", tuple(columns), (Section("", tuple(rows)),))

    def _by_group(self, case: _Case) -> Table:
        """Everybody and each group, at the common cut-off."""
        alike = [each for each in self.chosen if each._replace(group=None) == case]
        lines = [self.chosen[each] for each in alike]
        names = [name for name in lines[0] if name[0] != "threshold"]
        sections = [Section("", tuple(self._counted(lines)), apart=True)] if ("tp", None) in lines[0] else []
        rates = [name for name in names if name[0] not in _COUNTED]
        rows = [Row(_named(name), tuple(self._cell(each[name]) for each in lines)) for name in rates]
        if sections:
            rows.insert(0, Row("prevalence", tuple(format_number(_prevalence(each), self.digits) for each in lines)))
        corner = f"by {', '.join(map(shorten_label, self.asked.group))}{self._of(case)}"
        return Table(corner, tuple(map(_group, alike)), (*sections, Section("", tuple(rows))))

    def _counted(self, lines: Sequence[Mapping[Name, Line]]) -> Iterator[Row]:
        for name, words in _COUNTED.items():
            found = [row["value"] for each in lines for (measure, _), row in each.items() if measure == name]
            if found:
                yield Row(words, tuple(format_count(value, self.digits) for value in found))

    def _compared(self, case: _Case) -> Iterator[Table | str]:
        """What other rules would have chosen; the chosen one comes first."""
        others = self.others.get(case.model, {})
        names = [name for name in _COMPARED if name != "expected_cost" or self.data["costs"] is not None]
        rows = [self._chosen_row(case, names)] if ("tp", None) in self.chosen[case] else []
        for rule, lines in others.items():
            cells = (self._plain(lines[name]) for name in names)
            rows.append(Row(rule, (_short(lines["threshold"]["value"], self.digits), *cells)))
        if others:
            yield "What other rules would have said:"
            narrow = Table("rule", ("cut-off", *map(_SHORT.__getitem__, names)), (Section("", tuple(rows)),))
            yield replace(narrow, columns=("cut-off", *map(_HEADS.__getitem__, names)), narrow=narrow)

    def _chosen_row(self, case: _Case, names: Sequence[str]) -> Row:
        policy = self.data["policies"][case.model]
        found = {name: row["value"] for (name, _), row in self.chosen[case].items()}
        counts = Counts(*(found[cell] for cell in _CELLS))
        total = counts.total + found.get("referred_positives", 0.0) + found.get("referred_negatives", 0.0)
        values = {
            "sensitivity": sensitivity(counts),
            "specificity": specificity(counts),
            "precision": precision(counts),
            "flag_rate": counts.flagged / total,
        }
        if "expected_cost" in names:
            each = expected_cost(counts, costs=Costs(**self.data["costs"]))
            values["expected_cost"] = found.get("cost_with_referrals", each)
        cutoffs = " / ".join(_short(at, self.digits) for at in policy["thresholds"])
        return Row(f"{policy['rule']} (chosen)", (cutoffs, *(self._number(values[name]) for name in names)))

    def _number(self, value: float) -> str:
        return UNDEFINED if isnan(value) else format_number(value, self.digits)

    def _plain(self, row: Line) -> Cell:
        """Show the number alone."""
        return estimate_cell({**row, "level": None}, self.reasons, digits=self.digits, several=True)

    def _cell(self, row: Line | None, *, several: bool = True) -> Cell:
        return estimate_cell(row, self.reasons, digits=self.digits, several=several)


_HEADS = dict(zip(_COMPARED, ("sensitivity", "specificity", "precision", "flag rate", "cost per case"), strict=True))
_SHORT = dict(zip(_COMPARED, ("sens.", "spec.", "prec.", "flagged", "cost"), strict=True))


def _is_measure(name: str) -> bool:
    return name != "threshold" and name not in _COUNTED


def _corrected(row: Line) -> Line | None:
    """Optimism-corrected value of a number; nothing if that is not known."""
    return _instead(row, "corrected")


def _crossvalidated(row: Line) -> Line | None:
    """What folds give that had no part in the choice."""
    return _instead(row, "crossvalidated")


def _instead(row: Line, name: str) -> Line | None:
    if row[name] is None:
        return None
    return {**row, "value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}


def _prevalence(lines: Mapping[Name, Line]) -> float:
    """Prevalence of those who are decided or referred."""
    value = {name: row["value"] for (name, _), row in lines.items()}
    positives, negatives = (value.get(f"referred_{name}", 0.0) for name in ("positives", "negatives"))
    return float(prevalence(Counts(value["tp"] + positives, value["fp"] + negatives, value["fn"], value["tn"])))


def _short(threshold: float, digits: int) -> str:
    shown = format_exact(threshold)
    return shown if len(shown) <= _LONGEST else format_number(threshold, digits)


def _named(name: Name) -> str:
    measure, action = name
    return (
        f"{_words(measure)} of {shorten_label(action)}"
        if action is not None and measure in {"share", "risk"}
        else _words(measure)
    )


def _group(case: _Case) -> str:
    named = ", ".join(shorten_label(value) for _, value in case.group or ())
    return EVERYBODY if case.group is None else repr(named) if named == EVERYBODY else named


def _meaning(name: str) -> str:
    return _MEANINGS.get(name) or about(MEASURES[name]).summary


def _words(name: str) -> str:
    return name.replace("_", " ")
