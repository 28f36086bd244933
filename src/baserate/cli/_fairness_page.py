"""Pages of `baserate groups` and `baserate equalize`: groups side by side, disparities, and the price of fairness."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from baserate._counts import Counts
from baserate._formatting import (
    ROUNDING_ERROR,
    UNDEFINED,
    format_count,
    format_exact,
    format_level,
    format_number,
    format_p,
    join_words,
    unadjusted_note,
)
from baserate._results import Results
from baserate.cli._io import headline
from baserate.cli._measure_page import TITLES
from baserate.cli._options import Reading
from baserate.measure import MEASURES, describe
from baserate.text import (
    Cell,
    CellFormatter,
    CellWriter,
    Explanation,
    GroupKey,
    Page,
    Pivot,
    Table,
    TidyRow,
    describe_actions,
    describe_decisions,
    describe_rule,
    group_heading,
    group_key,
    list_table,
    mark_cell,
    measure_label,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._policy import Policy

MOST = 10
"""Comparisons of one measure that are shown: those with the smallest p-values."""
_CHANCES = (("p", "p"), ("p_adjusted", "Holm-adjusted p"))
_UNTESTED = "not tested: fewer rows than the minimum"
_SMALL_SIGN = "*"
_DETECTABLE = "detectable difference"
_SMALL = (
    f"{_SMALL_SIGN} rests on fewer than {{}} rows, or on too few to show a difference of 0.2. {_DETECTABLE}: the least "
    "difference from everybody else that is significant in four samples of five of this size, at level 0.95."
)
_GAPS = (
    "max difference: greatest number less the least; ratio: least by greatest; mean absolute: mean over pairs of "
    "groups. Of a parity of two measures: the greatest, the least, and the mean of both."
)


_NULL = (
    "expected by chance, 95% limit if equal: mean and 95th percentile of the max difference if groups were equal; p: "
    "share of such samples with a difference at least as great. {} samples: {}."
)
_STRATA = (
    "pooled: mean over strata with Mantel–Haenszel weights. homogeneous: p of the test that all strata differ alike; "
    "if it is small, look at the strata."
)
_INTERSECTIONS = (
    "expected: sum of the effects of all columns, by weighted least squares; excess: observed less expected. jointly: "
    "p of the test that no intersection has an excess."
)
_OTHERS = {"rest": "the rest: all rows outside of the group", "overall": "everybody, of whom the group is a part"}
_CURVES = (
    "Curves of each group: `baserate curve roc … --group COLUMN` or `curve pr` for other thresholds, "
    "`baserate reliability … --group COLUMN` for calibration."
)


def groups_page(results: Results, reading: Reading, policy: "Policy | None", digits: int) -> Page:
    """Return the page: for each set of attributes and each model a table, differences, and disparities."""
    layout = _GroupPage(results, digits)
    panels: list[Table | str] = [*_describe_decisions(results, reading, policy)]
    for by in results.data["by"]:
        for model in dict.fromkeys(row["model"] for row in layout.rows):
            panels += layout.panels(by, model)
    return Page(headline(reading, results.data), tuple(panels), tuple(layout.footnotes()))


def _describe_decisions(results: Results, reading: Reading, policy: "Policy | None") -> Iterator[str]:
    """Yield a sentence on the decisions of each model."""
    policies = results.data["policies"]
    if policy is not None:
        yield describe_decisions(policy, [shorten_label(name) for name in policies])
        return
    for model, form in policies.items():
        if model == reading.predicted:
            yield f"Flagged: {shorten_label(model)} = {shorten_label(results.data['positive'])}."
        else:
            yield f"{describe_actions(shorten_label(model), form['thresholds'], form['actions'])}."


class _GroupPage:
    """All rows, and the formatter that collects the footnotes of their cells."""

    def __init__(self, results: Results, digits: int) -> None:
        self.rows, self.data, self.format = results.rows(), results.data, CellFormatter(digits)

    def panels(self, by: str, model: str | None) -> Iterator[Table]:
        """Yield the panels of one model by some attributes."""
        rows = [row for row in self.rows if row["by"] == by and row["model"] == model]
        of = f"{shorten_label(model)}, " if model is not None else ""
        tables: dict[str, list[TidyRow]] = {}
        for row in rows:
            tables.setdefault(row["table"], []).append(row)
        yield self._groups(tables["group"], f"{of}by {shorten_label(by)}")
        for name, value in (("difference", "difference"), ("ratio", "ratio")):
            if name in tables:
                yield self._differences(tables[name], by, value)
        yield self._disparities(tables["gap"], by)
        if "stratum" in tables:
            yield self._strata(tables["stratum"], by)
        if "inequality" in tables:
            yield self._inequality(tables["inequality"], by)
        if "intersection" in tables:
            yield self._intersections(tables["intersection"], by)

    def _groups(self, rows: Sequence[TidyRow], corner: str) -> Table:
        """Return a column for each group: counts, measures, and detectable differences of small groups."""
        pivot = Pivot(
            # The prevalence above the measures has no interval; one of the measures may be the prevalence, too.
            line=lambda row: (row["measure"], "small" in row),
            column=group_key,
            section=itemgetter("section"),
            cell=self._group_cell,
            label=lambda line: measure_label(line[0], self.data),
            heading=group_heading,
            title=lambda section: "" if section == "counts" else section,
            apart={"counts"},
        )
        return pivot.table(_group_rows(rows), corner=corner)

    def _group_cell(self, row: TidyRow) -> Cell:
        """Return the cell of a count, of the prevalence, of a measure or of a detectable difference."""
        if row["section"] == "counts":
            return self.format.count(row)
        if row["section"] == _DETECTABLE:
            return "" if row["detects"] is None else format_number(row["detects"], 2)
        if "small" not in row:
            return self.format.number(row["value"])
        cell = self.format.estimate(row)
        return mark_cell(cell, _SMALL_SIGN) if row["small"] and row["value"] is not None else cell

    def _differences(self, rows: Sequence[TidyRow], by: str, value: str) -> Table:
        """Return differences or ratios by measure, those with the smallest p-values."""
        chances = _CHANCES if _count_tests(rows) > 1 else _CHANCES[:1]
        lines = [
            row
            for name in _measures(rows)
            for row in _select_strongest([row for row in rows if row["measure"] == name])
        ]
        pivot = Pivot(
            section=lambda row: measure_label(row["measure"], self.data),
            line=_label_pair,
            column=itemgetter("column"),
            cell=self._difference_cell,
            label=str,
            heading={"value": value, **dict(_CHANCES)}.__getitem__,
        )
        columns = ("value", *(name for name, _ in chances))
        cells = ({**row, "column": column} for row in lines for column in columns)
        return pivot.table(cells, corner=f"{value}s by {shorten_label(by)}")

    def _strata(self, rows: Sequence[TidyRow], by: str) -> Table:
        """Return differences without strata, within each stratum, and pooled."""
        pairs = {_label_pair(row) for row in rows}
        pivot = Pivot(
            section=lambda row: measure_label(row["measure"], self.data),
            line=lambda row: f"{_label_pair(row)}: {_label_stratum(row)}" if len(pairs) > 1 else _label_stratum(row),
            column=itemgetter("column"),
            cell=self._stratum_cell,
            label=str,
            heading={"value": "difference", "weight": "weight", **dict(_CHANCES)}.__getitem__,
        )
        cells = ({**row, "column": column} for row in rows for column in ("value", "weight", "p", "p_adjusted"))
        only = f", {next(iter(pairs))}" if len(pairs) == 1 else ""
        return pivot.table(cells, corner=f"by {shorten_label(by)} within {', '.join(self.data['control'])}{only}")

    def _stratum_cell(self, row: TidyRow) -> Cell:
        if row["column"] == "weight":
            return "" if row["weight"] is None else format_number(row["weight"], 2)
        if row["column"] == "value" and row["kind"] == "homogeneity":
            return "" if row["value"] is not None else self.format.mark_undefined(row["why"])
        return self._difference_cell(row)

    def _intersections(self, rows: Sequence[TidyRow], by: str) -> Table:
        """Return each intersection: observed, explained by its attributes, and the excess."""
        pivot = Pivot(
            section=lambda row: measure_label(row["measure"], self.data),
            line=lambda row: "jointly" if row["kind"] == "joint" else group_heading(group_key(row)),
            column=itemgetter("column"),
            cell=self._excess_cell,
            label=str,
            heading={"value": "excess", "observed": "observed", "expected": "expected", **dict(_CHANCES)}.__getitem__,
        )
        columns = ("observed", "expected", "value", "p", "p_adjusted")
        cells = ({**row, "column": column} for row in rows for column in columns)
        return pivot.table(cells, corner=f"intersections of {shorten_label(by)}")

    def _inequality(self, rows: Sequence[TidyRow], by: str) -> Table:
        """Return the parts of the inequality of benefits that lie within groups and between them."""
        columns: dict[str, CellWriter] = {
            "index": self._number,
            "share": lambda row: _two_digits(row["share"]),
            "expected by chance": lambda row: _two_digits(row["floor"]),
            "95% limit if equal": lambda row: _two_digits(row["floor_high"]),
            "p": _p_value,
        }
        return list_table(
            [row for row in rows if row["part"] != "group"],
            columns,
            section=lambda row: measure_label(row["measure"], self.data),
            label=lambda row: f"{row['part']} groups" if row["part"] != "total" else "total",
            corner=f"inequality of benefits by {shorten_label(by)}",
        )

    def _excess_cell(self, row: TidyRow) -> Cell:
        if row["column"] in ("observed", "expected"):
            return "" if row[row["column"]] is None else self._number({"value": row[row["column"]]})
        if row["column"] == "value" and row["kind"] == "joint":
            return "" if row["value"] is not None else self.format.mark_undefined(row["why"])
        return self._difference_cell(row)

    def _difference_cell(self, row: TidyRow) -> Cell:
        """Return a difference or one of its p-values; the first one says why there is no test."""
        if row["column"] == "value":
            return self.format.estimate(row)
        if row["p"] is not None:
            return self.format.p_value(row, row["column"])
        untested = row["column"] == "p" and row["value"] is not None
        return self.format.mark_undefined(_UNTESTED) if untested else ""

    def _disparities(self, rows: Sequence[TidyRow], by: str) -> Table:
        """Return the disparities of each measure and parity, beside their null reference."""
        sets: dict[tuple[str, str | None], dict[str, TidyRow]] = {}
        for row in rows:
            sets.setdefault((row["measure"], row["parity"]), {})[row["kind"]] = row
        columns: dict[str, CellWriter] = {
            "max difference": lambda kinds: self._number(kinds["max_difference"]),
            "expected by chance": lambda kinds: _two_digits(kinds["max_difference"]["floor"]),
            "95% limit if equal": lambda kinds: _two_digits(kinds["max_difference"]["floor_high"]),
            "p": lambda kinds: _p_value(kinds["max_difference"]),
            "ratio": lambda kinds: self._number(kinds["ratio"]) if "ratio" in kinds else "",
            "mean absolute": lambda kinds: self._number(kinds["mean_absolute"]),
        }
        return list_table(
            sets.values(),
            columns,
            label=lambda kinds: _disparity_label(kinds["max_difference"], self.data),
            meaning=self._describe_disparity,
            corner=f"disparities by {shorten_label(by)}",
        )

    def _describe_disparity(self, kinds: Mapping[str, TidyRow]) -> str:
        """Describe the groups of the greatest difference, the worst group, and the difference of all groups."""
        parts = [_describe_groups(kinds["max_difference"])]
        if parts[0] and "worst_group" in kinds:
            parts.append(f"worst: {group_heading(kinds['worst_group']['group'])}")
        if row := kinds.get("max_difference_all"):  # where some groups are below the minimum size
            parts.append(
                ", ".join(filter(None, (f"all groups, not tested: {self._number(row)}", _describe_groups(row))))
            )
        return "; ".join(filter(None, parts))

    def _number(self, row: TidyRow) -> str:
        """Return a disparity with one digit less than estimates have."""
        digits = max(self.format.digits - 1, 1)
        if row["value"] is None:
            return self.format.mark_undefined(row["why"])
        return format_number(0.0 if abs(row["value"]) < ROUNDING_ERROR else row["value"], digits)

    def footnotes(self) -> Iterator[str]:
        """Yield the meaning of signs, the methods of intervals and tests, and related commands."""
        yield from self.format.footnotes([row for row in self.rows if row["table"] == "group"], self.data)
        yield from [_SMALL.format(self.data["min_group"])] * any(row["small"] for row in self.rows)
        yield from self._describe_exclusions()
        yield from self._describe_pairs([row for row in self.rows if row["table"] == "difference"])
        for kind, note in (("stratum", _STRATA), ("intersection", _INTERSECTIONS)):
            yield from [note] * any(row["table"] == kind for row in self.rows)
        yield Explanation(_GAPS)
        hows = dict.fromkeys(row["how"] for row in self.rows if row["kind"] == "max_difference" and row["how"])
        if hows:
            yield Explanation(_NULL.format(format_count(self.data["draws"], 4), " or ".join(hows)))
        yield _CURVES

    def _describe_pairs(self, rows: Sequence[TidyRow]) -> Iterator[str]:
        """Yield notes on the differences of pairs."""
        hows = dict.fromkeys(row["how"] for row in rows if row["how"])
        most = max(Counter((row["by"], row["model"], row["measure"]) for row in rows).values(), default=0)
        level = self.data["interval"]["level"]
        if hows:
            made = f"{format_level(level)}% intervals and p: {'; '.join(hows)}"
            yield f"Differences from {self._name_other(rows)}."
            yield Explanation(f"{made}.")
        if hows and _count_tests(rows) > 1:
            yield f"Holm-adjusted p: over all groups and measures that are tested. {unadjusted_note(level)}"
        if most > MOST:
            yield f"Of up to {most} differences, those {MOST} with the least p are shown; --format csv has all."

    def _name_other(self, rows: Sequence[TidyRow]) -> str:
        """Name what groups are compared with."""
        if self.data["relative_to"] == "reference":
            return f"the reference group, {_name_reference(rows)}"
        return _OTHERS[self.data["relative_to"]]

    def _describe_exclusions(self) -> Iterator[str]:
        """Yield the groups that are not tested, by measure, with their rows."""
        least = self.data["min_group"]
        groups: dict[str, dict[str, None]] = {}
        for row in self.rows:
            if row["table"] == "group" and row["group"] is not None and row["trials"] < least:
                name = f"{group_heading(row['group'])} ({row['trials']:g})"
                groups.setdefault(measure_label(row["measure"], self.data), {})[name] = None
        if groups:
            excluded = "; ".join(f"{measure}: {', '.join(names)}" for measure, names in groups.items())
            yield f"Below the minimum of {least} rows for a measure, so neither tested nor in disparities: {excluded}."


def _label_pair(row: TidyRow) -> str:
    """Return a group and what it is compared with."""
    other = {"rest": "the rest", "overall": "everybody"}.get(row["relative_to"]) or group_heading(
        tuple(row["other"].items())
    )
    return f"{group_heading(group_key(row))} {'/' if row['table'] == 'ratio' else '−'} {other}"


def _label_stratum(row: TidyRow) -> str:
    """Return the label of a row of strata."""
    labels = {"crude": "without strata", "pooled": "pooled", "homogeneity": "homogeneous"}
    return labels.get(row["kind"]) or group_heading(tuple(row["stratum"].items()))


def _two_digits(value: float | None) -> str:
    return "" if value is None else format_number(value, 2)


def _p_value(row: TidyRow) -> str:
    return "" if row["p"] is None else format_p(row["p"], is_bound=row["p_is_bound"])


def _disparity_label(row: TidyRow, data: Mapping[str, Any]) -> str:
    label = measure_label(row["measure"], data)
    return label if row["parity"] is None else f"{label} ({row['parity'].replace('-', ' ')})"


def _describe_groups(row: TidyRow) -> str:
    """Return the two groups of a disparity, the greater first; nothing where groups do not differ."""
    if row["group"] is None or row["other"] is None or row["value"] < ROUNDING_ERROR:
        return ""
    return f"{group_heading(row['group'])} − {group_heading(row['other'])}"


def _count_tests(rows: Sequence[TidyRow]) -> int:
    """Return the number of tests that one adjustment covers: those of a model by some attributes."""
    counts = Counter((row["by"], row["model"]) for row in rows if row["p"] is not None)
    return max(counts.values(), default=0)


def _group_rows(rows: Sequence[TidyRow]) -> Iterator[TidyRow]:
    """Yield rows with their sections: counts, prevalence and measures of decisions, of ranks, of probabilities."""
    measures = _measures(rows)
    first = [row for row in rows if row["measure"] == measures[0]]
    for name in ("rows", "positives", "negatives"):
        yield from ({"measure": name, "group": row["group"], "value": row[name], "section": "counts"} for row in first)
    for row in first:
        yield {"measure": "prevalence", "group": row["group"], "value": row["prevalence"], "section": ""}
    for kind, title in {Counts: "", **TITLES}.items():
        of_kind = [name for name in measures if describe(MEASURES[name]).of is kind]
        yield from ({**row, "section": title} for name in of_kind for row in rows if row["measure"] == name)
    small = [name for name in measures if any(r["small"] and r["detects"] for r in rows if r["measure"] == name)]
    yield from ({**row, "section": _DETECTABLE} for name in small for row in rows if row["measure"] == name)


def _measures(rows: Sequence[TidyRow]) -> list[str]:
    """Return the names of measures in the order of their rows."""
    return list(dict.fromkeys(row["measure"] for row in rows))


def _select_strongest(rows: Sequence[TidyRow]) -> Sequence[TidyRow]:
    """Return all differences of a measure; of many, those with the smallest p-values."""
    return rows if len(rows) <= MOST else sorted(rows, key=lambda row: 2.0 if row["p"] is None else row["p"])[:MOST]


def _name_reference(rows: Sequence[TidyRow]) -> str:
    """Name the reference group of each set of attributes; more than one where measures have different ones."""
    groups: dict[str, dict[str, None]] = {}
    for row in rows:
        groups.setdefault(shorten_label(row["by"]), {})[group_heading(row["other"])] = None
    names = {by: " or ".join(each) for by, each in groups.items()}
    return "; ".join(f"{by}: {name}" if len(names) > 1 else name for by, name in names.items())


Key = tuple[str, GroupKey, str]
"""Set, group and measure."""

_SETS = ("without parity", "with parity")
_CELLS = ("tp", "fp", "fn", "tn")
_RATES = {
    "base_rate": "base rate",
    "flag_rate": "flag rate",
    "sensitivity": "sensitivity",
    "fpr": "FPR",
    "precision": "precision",
    "expected_cost": "cost per case",
}
_CHANGES = {"tp": "true positives", "fp": "false positives"} | {
    name: _RATES[name] for name in ("sensitivity", "fpr", "precision", "expected_cost")
}
_GAP = "greatest difference"
_FRONTIER = {
    "cost": "cost per case",
    "price": "price",
    "gap": "disparity",
    "lottery": "randomized",
    "deterministic_cost": "cost without randomization",
    "blind_cost": "cost of one threshold",
}
_TITLES = {**_RATES, "gap": _GAP}
_FEW = 3
"""Groups that a sentence names."""


def equalize_page(results: Results, line: str, digits: int) -> Page:
    """Return the page of some results."""
    layout = _ParityPage(results, digits)
    panels = [*layout.policy_panels(), *layout.frontier(), *layout.held_out()]
    return Page(line, tuple(panels), layout.footnotes())


class _ParityPage:
    """Rows by set, group and measure, and the formatter of their cells."""

    def __init__(self, results: Results, digits: int) -> None:
        self.data, self.format, self.rows = results.data, CellFormatter(digits), results.rows()
        self.numbers: dict[Key, TidyRow] = {}
        self.thresholds: dict[tuple[str, GroupKey], list[TidyRow]] = {}
        for row in self._rows_of("account"):
            place = row["set"], group_key(row)
            if row["measure"] == "threshold":
                self.thresholds.setdefault(place, []).append(row)
            elif row["measure"] != "gap":
                self.numbers[*place, row["measure"]] = row
        self.groups = list(dict.fromkeys(group for _, group, _ in self.numbers))
        self.objective: str | None = self.data.get("objective")
        named = {self.objective: measure_label(self.objective, self.data)} if self.objective else {}
        self.rates, self.changes = _RATES | named, _CHANGES | named

    def _rows_of(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of one table."""
        return [row for row in self.rows if row["table"] == table]

    def policy_panels(self) -> Iterator[Table | str]:
        """Yield the policy, the rates of groups, changes, disparities and the price of fairness."""
        (policy,) = self.data["policies"].values()
        rule = describe_rule(policy["rule"], policy["settings"])
        yield f"{rule[:1].upper()}{rule[1:]}:"
        yield self._decisions()
        yield self._rates()
        best = "best" if self.objective else "cheapest"
        yield f"Difference from the {best} policy without any parity constraint:"
        yield self._changes()
        yield self._disparities()
        yield " ".join([self._describe_price(), *self._describe_alternatives(policy)])
        yield from filter(None, [self._describe_crossing(policy), self._describe_limiting_groups()])

    def footnotes(self) -> tuple[str, ...]:
        """Return reasons of undefined numbers, methods of intervals, and the limits of the parity."""
        notes = self.format.footnotes(list(self.numbers.values()), self.data)
        return (*notes, *self.data["promises"], *filter(None, [self.data["legal"]]))

    def _decisions(self) -> Table:
        """Return the thresholds of each group, with the parity and without."""
        (score,) = self.data["policies"]
        randomized = any(row["chance"] for rows in self.thresholds.values() for row in rows)
        title = f"flag {shorten_label(score)}{' (in brackets: probability of each threshold)' * randomized}"
        return list_table(
            ({"group": group} for group in self.groups if group),
            {},
            label=lambda row: group_heading(row["group"]),
            section=lambda _row: title,
            meaning=lambda row: "{1}; without the parity: {0}".format(
                *(self._describe_decision(each, row["group"]) for each in _SETS)
            ),
        )

    def _describe_decision(self, which: str, group: GroupKey) -> str:
        """Describe thresholds with their probabilities."""
        rows = self.thresholds.get((which, group), ())
        if not rows:
            return "everybody" if self.numbers[which, group, "flag_rate"]["value"] else "nobody"
        chances = ("" if row["chance"] is None else f" ({100 * row['chance']:.3g}%)" for row in rows)
        return ", ".join(f"{self._describe_range(row)}{chance}" for row, chance in zip(rows, chances, strict=True))

    def _describe_range(self, row: TidyRow) -> str:
        """Describe the scores that are flagged: those from a threshold on, or those below it."""
        at, flagged = row["value"], row["action"] == "flag"
        if at in (float("inf"), float("-inf")):
            return "everybody" if (at < 0) == flagged else "nobody"
        return f"{'≥' if flagged else '<'}\N{NO-BREAK SPACE}{self.format.short(at)}"

    def _rates(self) -> Table:
        """Return the rates of everybody and of each group under the policy."""
        columns = {"cases": "cases", **self.rates, "lottery": "randomized"}
        rows: list[TidyRow] = []
        for group in self.groups:
            # Without the parity no decision is randomized, so that counts are whole.
            cases = sum(self.numbers[_SETS[0], group, each]["value"] for each in _CELLS)
            rows.append({"measure": "cases", "group": None if group is None else dict(group), "value": cases})
            rows += (self.numbers[_SETS[1], group, name] for name in (*self.rates, "lottery"))
        return self._by_group(columns, self._rate_cell).table(rows, corner="with parity")

    def _by_group(self, columns: Mapping[str, str], cell: CellWriter) -> Pivot:
        """Return the layout with a line for each group, and a column for each measure."""
        return Pivot(
            line=group_key,
            column=itemgetter("measure"),
            cell=cell,
            label=group_heading,
            heading=columns.__getitem__,
        )

    def _rate_cell(self, row: TidyRow) -> Cell:
        """Return the cell of a count, of the share of randomized decisions, or of a rate."""
        if row["measure"] == "cases":
            return self.format.count(row)
        if row["measure"] == "lottery":
            return _format_share(row["value"])
        # The base rate is a reference for the other rates: its interval would distract.
        return self.format.value(row) if row["measure"] == "base_rate" else self.format.estimate(row)

    def _changes(self) -> Table:
        """Return the differences from the cheapest policy without the parity."""
        rows = (self.numbers[_SETS[1], group, name] for group in self.groups for name in self.changes)
        return self._by_group(self.changes, self._change_cell).table(rows, corner="change")

    def _change_cell(self, row: TidyRow) -> str:
        """Return a change with its sign."""
        if row["change"] is None:
            earlier = self.numbers[_SETS[0], group_key(row), row["measure"]]
            return self.format.mark_undefined(row["why"] or earlier["why"])
        value = 0.0 if abs(row["change"]) < ROUNDING_ERROR else row["change"]
        return f"{'+' if value > 0 else ''}{format_number(value, max(self.format.digits - 1, 1))}"

    def _disparities(self) -> Table:
        """Return the greatest differences between groups without and with the parity, and the tolerance."""
        rows = [row for row in self._rows_of("account") if row["measure"] == "gap"]
        rates = dict.fromkeys(row["rate"] for row in rows)
        pivot = Pivot(
            line=itemgetter("rate"),
            column=itemgetter("set"),
            cell=lambda row: self._tolerance(row["rate"]) if row["set"] == "allowed" else self._disparity(row),
            label=_RATES.__getitem__,
        )
        allowed = [{"rate": rate, "set": "allowed"} for rate in rates]
        return pivot.table([*rows, *allowed], corner=_GAP, columns=(*_SETS, "allowed"))

    def _disparity(self, row: TidyRow) -> Cell:
        """Return a disparity, without the rounding error that an exact parity leaves."""
        small = row["value"] is not None and row["value"] < ROUNDING_ERROR
        return self.format.estimate({**row, "value": 0.0} if small else row)

    def _tolerance(self, rate: str) -> str:
        """Return the tolerance of a rate."""
        within = self.data["within"]
        bound = within.get(rate) if isinstance(within, Mapping) else within
        return "any" if rate == "precision" or bound is None or bound >= 1 else format_exact(bound)

    def _describe_price(self) -> str:
        """Describe the price of the parity."""
        if self.objective:
            return self._describe_lost_value(self.rates[self.objective])
        cost, free, price = (self.format.number(self.data[name]) for name in ("cost", "cost_without", "price"))
        if abs(self.data["price"]) < ROUNDING_ERROR:
            return f"Expected cost per case: {cost}, with the parity and without: it has no price in this sample."
        more = ""
        if self.data["cost_without"] > 0:
            more = f", {100 * self.data['price'] / self.data['cost_without']:.3g}% more"
        return f"Expected cost per case: {cost} with the parity, {free} without: its price is {price}{more}."

    def _describe_lost_value(self, name: str) -> str:
        """Describe the price of the parity in units of the objective."""
        value, free, price = (self.data[each] for each in ("value", "value_without", "price"))
        if value is None or free is None:
            return f"{name} is undefined {'without' if value is not None else 'with'} the parity: it has no price."
        if abs(price) < ROUNDING_ERROR:
            return f"{name}: {self.format.number(value)}, with the parity and without: it has no price in this sample."
        shown, without, lost = map(self.format.number, (value, free, price))
        return f"{name}: {shown} with the parity, {without} without: its price is {lost}."

    def _describe_better_value(self, policy: TidyRow) -> Iterator[str]:
        """Yield how far the objective is below that of the best policy that keeps the parity."""
        value, best = self.data["value"], self.data["best"]
        if policy["rule"] == "equalized" or value is None or best is None:
            return
        if best - value <= ROUNDING_ERROR:
            yield "No policy that keeps the parity is better."
            return
        shown, below = map(self.format.number, (best, best - value))
        yield f"With randomized thresholds by group the parity would reach {shown}: this policy is {below} below."

    def _describe_alternatives(self, policy: TidyRow) -> Iterator[str]:
        """Yield the costs of other policies with the parity, and of one threshold without it."""
        if self.objective:
            yield from self._describe_better_value(policy)
            return
        more = self.data["cost"] - self.data["least"]
        if policy["rule"] != "equalized" and abs(more) <= ROUNDING_ERROR:
            yield "No policy that keeps the parity is cheaper."
        elif policy["rule"] != "equalized" and more > 0:
            least, above = (self.format.number(each) for each in (self.data["least"], more))
            yield f"With randomized thresholds by group the parity would cost {least}: this policy costs {above} more."
        price = policy["settings"].get("price")
        if price is not None:
            cost = self.format.number(policy["settings"]["cost"] - price)
            yield f"One threshold without the parity would cost {cost}."

    def _describe_crossing(self, policy: TidyRow) -> str:
        """Describe the point where two ROC curves cross, and the common scale of scores."""
        if policy["rule"] != "crossing":
            return ""
        (score,), (first, second) = self.data["policies"], [group_heading(group) for group in self.groups if group]
        in_first, in_second = map(self.format.short, policy["settings"]["thresholds"])
        knots = ", ".join(f"{self.format.short(x)} to {self.format.short(y)}" for x, y in policy["settings"]["scale"])
        return (
            f"The curves cross at {shorten_label(score)} {in_first} in {first} and {in_second} in {second}. On one "
            f"scale, with scores of {second} moved ({knots}), {in_first} serves both where scores lie close together."
        )

    def _describe_limiting_groups(self) -> str:
        """Describe the groups that limit the others, if they are few."""
        forgone = any(row["measure"] == "forgone" and row["value"] for row in self.numbers.values())
        if not forgone or not 0 < len(self.data["binds"]) <= _FEW:
            return ""
        binds = join_words(map(group_heading, self.data["binds"]))
        return f"The scores of {binds} limit the rates of all groups; better scores for {binds} would lower the cost."

    def frontier(self) -> Iterator[Table | str]:
        """Yield the price of the parity at every tolerance."""
        rows = self._rows_of("frontier")
        if rows:
            yield "Price of fairness at every tolerance:"
            columns = {head: partial(self._frontier_cell, name) for name, head in self._frontier_columns().items()}
            yield list_table(rows, columns, label=lambda row: self.format.short(row["within"]), corner="within")

    def _frontier_columns(self) -> dict[str, str]:
        """Return the columns of the frontier, of costs or of the objective."""
        if self.objective is None:
            return _FRONTIER
        name, common = self.rates[self.objective], {each: _FRONTIER[each] for each in ("price", "gap", "lottery")}
        return {
            "value": name,
            **common,
            "deterministic_value": f"{name} without randomization",
            "blind_value": f"{name} of one threshold",
        }

    def _frontier_cell(self, name: str, row: TidyRow) -> str:
        """Return a number of the frontier, without rounding errors."""
        value = row[name]
        if value is None:
            return ""
        if name == "lottery":
            return _format_share(value)
        return self.format.number(0.0 if abs(value) < ROUNDING_ERROR else value)

    def held_out(self) -> Iterator[Table | str]:
        """Yield the performance of the parity in cross-validation."""
        rows = self._rows_of("held_out")
        if not rows:
            return
        pivot = Pivot(
            section=itemgetter("measure"),
            line=_subject_label,
            column=itemgetter("kind"),
            cell=self.format.estimate,
            label=str,
            title=lambda measure: (self.rates | _TITLES).get(measure, measure),
        )
        yield "On rows that had no part in the choice (cross-validation):"
        yield pivot.table(rows)


def _subject_label(row: TidyRow) -> str:
    """Return the rates that a disparity is of, or else the group."""
    if row["rate"] is None:
        return group_heading(row["group"])
    return " or ".join(_RATES[name] for name in row["rate"].split(", "))


def _format_share(share: float) -> str:
    """Return a share in percent with one decimal; a dash for none."""
    return f"{100 * share:.1f}%" if share else UNDEFINED
