"""Page of `baserate groups`: groups side by side, and disparities."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from baserate._counts import Counts
from baserate._formatting import (
    ROUNDING_ERROR,
    format_count,
    format_level,
    format_number,
    format_p,
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
    Page,
    Pivot,
    Table,
    TidyRow,
    describe_actions,
    describe_decisions,
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
