"""Page of `baserate groups`: groups side by side, differences of pairs, and disparities with their null reference."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

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
from baserate.cli._check import describe_policy_in_use, format_group
from baserate.cli._io import headline
from baserate.cli._measure_page import TITLES
from baserate.cli._options import Reading
from baserate.measure import MEASURES, describe
from baserate.text import (
    Cell,
    CellFormatter,
    Page,
    Pivot,
    Row,
    Section,
    Table,
    TidyRow,
    describe_actions,
    group_key,
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
_FEW = "*"
_SMALL = (
    f"{_FEW} rests on fewer than {{}} rows, or on too few to show a difference of 0.2. What a group would show: the "
    "smallest difference from everybody else that so many rows show in four samples of five, at level 0.95."
)
_GAPS = (
    "max difference: greatest number less the least; ratio: least by greatest; mean absolute: mean over pairs of "
    "groups. Of a parity of two measures: the greatest, the least, and the mean of both."
)
_CURVES = (
    "Curves of each group: `baserate curve roc … --group COLUMN` or `curve pr` for what other thresholds would give, "
    "`baserate reliability … --group COLUMN` for whether a probability means the same in each."
)


def page(results: Results, reading: Reading, policy: "Policy | None", digits: int) -> Page:
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
        yield describe_policy_in_use(policy, [shorten_label(name) for name in policies])
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
        tables = {name: [row for row in rows if row["table"] == name] for name in ("group", "difference", "gap")}
        yield self._groups(tables["group"], f"{of}by {shorten_label(by)}")
        if tables["difference"]:
            yield self._differences(tables["difference"], by)
        yield self._disparities(tables["gap"], by)

    def _groups(self, rows: Sequence[TidyRow], corner: str) -> Table:
        """Return a column for each group: counts, measures, and detectable differences of small groups."""
        pivot = Pivot(
            # The prevalence above the measures has no interval; one of the measures may be the prevalence, too.
            line=lambda row: (row["measure"], "small" in row),
            column=group_key,
            section=itemgetter("section"),
            cell=self._group_cell,
            label=lambda line: measure_label(line[0]),
            heading=lambda group: format_group(None if group is None else dict(group)),
            title=lambda section: _SECTIONS.get(section, section),
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
        return mark_cell(cell, _FEW) if row["small"] and row["value"] is not None else cell

    def _differences(self, rows: Sequence[TidyRow], by: str) -> Table:
        """Return differences from the reference group by measure, those with the smallest p-values."""
        chances = _CHANCES if _comparisons(rows, by) > 1 else _CHANCES[:1]
        lines = [row for name in _measures(rows) for row in _strongest([row for row in rows if row["measure"] == name])]
        pivot = Pivot(
            section=lambda row: measure_label(row["measure"]),
            line=lambda row: (group_key(row), tuple(row["other"].items())),
            column=itemgetter("column"),
            cell=self._difference_cell,
            label=lambda pair: " − ".join(format_group(dict(group)) for group in pair),
            heading={"value": "difference", **dict(_CHANCES)}.__getitem__,
        )
        columns = ("value", *(name for name, _ in chances))
        cells = ({**row, "column": column} for row in lines for column in columns)
        return pivot.table(cells, corner=f"differences by {shorten_label(by)}")

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
        lines = tuple(self._gap(*name, kinds) for name, kinds in sets.items())
        columns = ("max difference", "if alike", "1 in 20 if alike", "p", "ratio", "mean absolute")
        return Table(f"gaps by {shorten_label(by)}", columns, (Section("", lines),))

    def _gap(self, measure: str, parity: str | None, kinds: Mapping[str, TidyRow]) -> Row:
        """Return the disparity of one measure, with the groups between which it is."""
        widest = kinds["max_difference"]
        ratio = kinds.get("ratio")
        cells = (
            self._number(widest),
            *("" if widest[name] is None else format_number(widest[name], 2) for name in ("floor", "floor_high")),
            "" if widest["p"] is None else format_p(widest["p"], is_bound=widest["p_is_bound"]),
            "" if ratio is None else self._number(ratio),
            self._number(kinds["mean_absolute"]),
        )
        name = measure_label(measure) if parity is None else f"{measure_label(measure)} ({parity.replace('-', ' ')})"
        meanings = [_ends(widest, kinds.get("worst_group")), self._describe_all(kinds)]
        return Row(name, cells, "; ".join(filter(None, meanings)))

    def _describe_all(self, kinds: Mapping[str, TidyRow]) -> str:
        """Describe the disparity of all groups, where some are below the minimum size."""
        row = kinds.get("max_difference_all")
        return "" if row is None else f"all groups, not tested: {self._number(row)}, {_ends(row, None)}"

    def _number(self, row: TidyRow) -> str:
        """Return a disparity with one digit less than estimates have."""
        digits = max(self.format.digits - 1, 1)
        if row["value"] is None:
            return self.format.mark_undefined(row["why"])
        return format_number(0.0 if abs(row["value"]) < ROUNDING_ERROR else row["value"], digits)

    def footnotes(self) -> Iterator[str]:
        """Yield the meaning of signs, the methods of intervals and tests, and related commands."""
        yield from self.format.footnotes([row for row in self.rows if row["table"] == "group"], self.data)
        yield from [_SMALL.format(self.data["min_size"])] * any(row["small"] for row in self.rows)
        yield from self._describe_exclusions()
        yield from self._describe_pairs([row for row in self.rows if row["table"] == "difference"])
        yield _GAPS
        hows = dict.fromkeys(row["how"] for row in self.rows if row["kind"] == "max_difference" and row["how"])
        if hows:
            yield (
                f"if alike: the max difference if groups were alike, its mean and what one in twenty exceeds; p: how "
                f"many are as great. {format_count(self.data['draws'], 4)} draws: {' or '.join(hows)}."
            )
        yield _CURVES

    def _describe_pairs(self, rows: Sequence[TidyRow]) -> Iterator[str]:
        """Yield notes on the differences of pairs."""
        hows = dict.fromkeys(row["how"] for row in rows if row["how"])
        most = max((_comparisons(rows, by) for by in self.data["by"]), default=0)
        level = self.data["interval"]["level"]
        if hows:
            made = f"{format_level(level)} % intervals and p: {'; '.join(hows)}"
            yield f"Differences from the reference group, {_reference(rows)}. {made}."
        if hows and most > 1:
            yield f"Holm-adjusted p: over all groups tested for the same measure. {unadjusted_note(level)}"
        if most > MOST:
            yield f"Of up to {most} differences, those {MOST} with the least p are shown; --format csv has all."

    def _describe_exclusions(self) -> Iterator[str]:
        """Yield the groups that are not tested, by measure, with their rows."""
        few = self.data["min_size"]
        named: dict[str, list[str]] = {}
        for row in self.rows:
            if row["table"] == "group" and row["group"] is not None and row["trials"] < few:
                named.setdefault(measure_label(row["measure"]), []).append(
                    f"{format_group(row['group'])} ({row['trials']:g})"
                )
        told = "; ".join(f"{name}: {', '.join(dict.fromkeys(groups))}" for name, groups in named.items())
        if told:
            yield f"Below the minimum of {few} rows on which a measure rests, so neither tested nor in gaps: {told}."


_DETECTABLE = "what a group would show"
_SECTIONS = {"counts": ""}


def _group_rows(rows: Sequence[TidyRow]) -> Iterator[TidyRow]:
    """Yield rows with their sections: counts, prevalence and measures of decisions, of ranks, of probabilities."""
    measures = _measures(rows)
    first = [row for row in rows if row["measure"] == measures[0]]
    for name in ("rows", "positives", "negatives"):
        yield from ({"measure": name, "group": row["group"], "value": row[name], "section": "counts"} for row in first)
    for row in first:
        yield {"measure": "prevalence", "group": row["group"], "value": row["prevalence"], "section": ""}
    for kind, title in {Counts: "", **TITLES}.items():
        names = [name for name in measures if describe(MEASURES[name]).of is kind]
        yield from ({**row, "section": title} for name in names for row in rows if row["measure"] == name)
    small = [name for name in measures if any(r["small"] and r["detects"] for r in rows if r["measure"] == name)]
    yield from ({**row, "section": _DETECTABLE} for name in small for row in rows if row["measure"] == name)


def _measures(rows: Sequence[TidyRow]) -> list[str]:
    """Return the names of measures in the order of their rows."""
    return list(dict.fromkeys(row["measure"] for row in rows))


def _strongest(rows: Sequence[TidyRow]) -> Sequence[TidyRow]:
    """Return all differences of a measure; of many, those with the smallest p-values."""
    return rows if len(rows) <= MOST else sorted(rows, key=lambda row: 2.0 if row["p"] is None else row["p"])[:MOST]


def _reference(rows: Sequence[TidyRow]) -> str:
    """Name the reference group of each set of attributes; more than one where measures have different ones."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        found.setdefault(row["by"], {})[format_group(row["other"])] = None
    named = {shorten_label(by): " or ".join(groups) for by, groups in found.items()}
    return "; ".join(f"{by}: {groups}" if len(named) > 1 else groups for by, groups in named.items())


def _comparisons(rows: Sequence[TidyRow], by: str) -> int:
    """How many comparisons there are of each measure."""
    found = Counter((row["model"], row["measure"]) for row in rows if row["by"] == by)
    return max(found.values(), default=0)


def _ends(widest: TidyRow, worst: TidyRow | None) -> str:
    """Between whom the gap is, and who is worst off."""
    if widest["group"] is None or widest["other"] is None or widest["value"] < ROUNDING_ERROR:
        return ""
    told = f"{format_group(widest['group'])} − {format_group(widest['other'])}"
    return told if worst is None else f"{told}; worst: {format_group(worst['group'])}"
