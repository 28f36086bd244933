"""Tidy numbers of groups -> a page: groups side by side, differences of pairs, and gaps beside their noise floor."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from baserate._counts import Counts
from baserate._formatting import (
    ROUNDING_ERROR,
    UNDEFINED,
    format_count,
    format_level,
    format_number,
    format_p,
    unadjusted_note,
)
from baserate._results import Results
from baserate.cli._ask import headline
from baserate.cli._checked import decided, group_told
from baserate.cli._options import Reading
from baserate.cli._summary import TITLES
from baserate.measure import MEASURES, about
from baserate.text import (
    Cell,
    Footnotes,
    IntervalCell,
    Page,
    Row,
    Section,
    Table,
    describe_actions,
    estimate_cell,
    interval_footnotes,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._policy import Policy

Line = Mapping[str, Any]

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


def page(found: Results, asked: Reading, policy: "Policy | None", digits: int) -> Page:
    """Lay the numbers out: for each set of attributes and each model a table, differences, and gaps."""
    sheet = _Sheet(found, asked, digits)
    panels: list[Table | str] = [*_decided(found, asked, policy)]
    for by in found.data["by"]:
        for model in dict.fromkeys(row["model"] for row in sheet.rows):
            panels += sheet.panels(by, model)
    return Page(headline(asked, found.data), tuple(panels), tuple(sheet.footnotes()))


def _decided(found: Results, asked: Reading, policy: "Policy | None") -> Iterator[str]:
    """What is done, in a sentence for each model."""
    policies = found.data["policies"]
    if policy is not None:
        yield decided(policy, [shorten_label(name) for name in policies])
        return
    for model, told in policies.items():
        if model == asked.predicted:
            yield f"Flagged: {shorten_label(model)} = {shorten_label(found.data['positive'])}."
        else:
            yield f"{describe_actions(shorten_label(model), told['thresholds'], told['actions'])}."


class _Sheet:
    """All rows, and the reasons why some numbers are undefined."""

    def __init__(self, found: Results, asked: Reading, digits: int) -> None:
        self.rows, self.data, self.asked, self.digits = found.rows(), found.data, asked, digits
        self.reasons = Footnotes()

    def panels(self, by: str, model: str | None) -> Iterator[Table]:
        """Return the panels of one model by some attributes."""
        rows = [row for row in self.rows if row["by"] == by and row["model"] == model]
        of = f"{shorten_label(model)}, " if model is not None else ""
        apart = {name: [row for row in rows if row["table"] == name] for name in ("group", "difference", "gap")}
        yield self._groups(apart["group"], f"{of}by {shorten_label(by)}")
        if apart["difference"]:
            yield self._differences(apart["difference"], by)
        yield self._gaps(apart["gap"], by)

    def _groups(self, rows: Sequence[Line], corner: str) -> Table:
        names = list(dict.fromkeys(row["measure"] for row in rows))
        by_name = {name: [row for row in rows if row["measure"] == name] for name in names}
        first = by_name[names[0]]
        sections = [
            Section("", tuple(self._counted(name, first) for name in ("rows", "positives", "negatives")), apart=True),
            *self._measured(by_name, [Row("prevalence", tuple(self._plain(row["prevalence"]) for row in first))]),
        ]
        small = [name for name in names if any(row["small"] and row["detects"] for row in by_name[name])]
        if small:
            shown = (Row(_words(name), tuple(self._detects(row) for row in by_name[name])) for name in small)
            sections.append(Section("what a group would show", tuple(shown)))
        return Table(corner, tuple(group_told(row["group"]) for row in first), tuple(sections))

    def _counted(self, name: str, rows: Sequence[Line]) -> Row:
        return Row(name, tuple(format_count(row[name], self.digits) for row in rows))

    def _measured(self, by_name: Mapping[str, Sequence[Line]], first: Sequence[Row]) -> Iterator[Section]:
        """Measures of decisions below the prevalence, then those of ranks, then those of probabilities."""
        for noun, title in {Counts: "", **TITLES}.items():
            rows = [
                Row(_words(name), tuple(map(self._marked, several)))
                for name, several in by_name.items()
                if about(MEASURES[name]).of is noun
            ]
            if rows or noun is Counts:
                yield Section(title, (*(first if noun is Counts else ()), *rows))

    def _marked(self, row: Line) -> Cell:
        shown = estimate_cell(row, self.reasons, digits=self.digits, several=True)
        if not row["small"] or row["value"] is None:
            return shown
        return shown._replace(value=shown.value + _FEW) if isinstance(shown, IntervalCell) else shown + _FEW

    def _plain(self, value: float | None) -> str:
        return UNDEFINED if value is None else format_number(value, self.digits)

    def _detects(self, row: Line) -> str:
        return "" if row["detects"] is None else format_number(row["detects"], 2)

    def _differences(self, rows: Sequence[Line], by: str) -> Table:
        sections = []
        chances = _CHANCES if _comparisons(rows, by) > 1 else _CHANCES[:1]
        for name in dict.fromkeys(row["measure"] for row in rows):
            alike = [row for row in rows if row["measure"] == name]
            kept = sorted(alike, key=lambda row: 2.0 if row["p"] is None else row["p"])[:MOST]
            lines = alike if len(alike) <= MOST else kept
            sections.append(Section(_words(name), tuple(self._pair(row, chances) for row in lines)))
        columns = ("difference", *(told for _, told in chances))
        return Table(f"differences by {shorten_label(by)}", columns, tuple(sections))

    def _pair(self, row: Line, chances: Sequence[tuple[str, str]]) -> Row:
        value: Cell = estimate_cell(row, self.reasons, digits=self.digits, several=True)
        shown = [format_p(row[name], is_bound=row["p_is_bound"]) for name, _ in chances]
        if row["p"] is None:
            untested = row["value"] is not None
            shown = [self.reasons.undefined(_UNTESTED) if untested else "", *[""] * (len(chances) - 1)]
        return Row(f"{group_told(row['group'])} − {group_told(row['other'])}", (value, *shown))

    def _gaps(self, rows: Sequence[Line], by: str) -> Table:
        sets: dict[tuple[str, str | None], dict[str, Line]] = {}
        for row in rows:
            sets.setdefault((row["measure"], row["parity"]), {})[row["kind"]] = row
        lines = tuple(self._gap(*name, kinds) for name, kinds in sets.items())
        columns = ("max difference", "if alike", "1 in 20 if alike", "p", "ratio", "mean absolute")
        return Table(f"gaps by {shorten_label(by)}", columns, (Section("", lines),))

    def _gap(self, measure: str, parity: str | None, kinds: Mapping[str, Line]) -> Row:
        widest = kinds["max_difference"]
        ratio = kinds.get("ratio")
        cells = (
            self._number(widest),
            *("" if widest[name] is None else format_number(widest[name], 2) for name in ("floor", "floor_high")),
            "" if widest["p"] is None else format_p(widest["p"], is_bound=widest["p_is_bound"]),
            "" if ratio is None else self._number(ratio),
            self._number(kinds["mean_absolute"]),
        )
        name = _words(measure) if parity is None else f"{_words(measure)} ({parity.replace('-', ' ')})"
        return Row(name, cells, "; ".join(filter(None, [_ends(widest, kinds.get("worst_group")), self._all(kinds)])))

    def _all(self, kinds: Mapping[str, Line]) -> str:
        """The gap of all groups, where some are below the minimum size."""
        row = kinds.get("max_difference_all")
        return "" if row is None else f"all groups, not tested: {self._number(row)}, {_ends(row, None)}"

    def _number(self, row: Line) -> str:
        digits = max(self.digits - 1, 1)
        if row["value"] is None:
            return self.reasons.undefined(row["why"])
        return format_number(0.0 if abs(row["value"]) < ROUNDING_ERROR else row["value"], digits)

    def footnotes(self) -> Iterator[str]:
        """Say what signs mean, how numbers were made, and what else there is to see."""
        yield from self.reasons.footnotes()
        yield from interval_footnotes([row for row in self.rows if row["table"] == "group"], self.data)
        yield from [_SMALL.format(self.data["min_size"])] * any(row["small"] for row in self.rows)
        yield from self._excluded()
        yield from self._of_pairs([row for row in self.rows if row["table"] == "difference"])
        yield _GAPS
        hows = dict.fromkeys(row["how"] for row in self.rows if row["kind"] == "max_difference" and row["how"])
        if hows:
            yield (
                f"if alike: the max difference if groups were alike, its mean and what one in twenty exceeds; p: how "
                f"many are as great. {format_count(self.data['draws'], 4)} draws: {' or '.join(hows)}."
            )
        yield _CURVES

    def _of_pairs(self, rows: Sequence[Line]) -> Iterator[str]:
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

    def _excluded(self) -> Iterator[str]:
        """Which groups are not tested, by measure, and how many rows they have."""
        few = self.data["min_size"]
        named: dict[str, list[str]] = {}
        for row in self.rows:
            if row["table"] == "group" and row["group"] is not None and row["trials"] < few:
                named.setdefault(_words(row["measure"]), []).append(f"{group_told(row['group'])} ({row['trials']:g})")
        told = "; ".join(f"{name}: {', '.join(dict.fromkeys(groups))}" for name, groups in named.items())
        if told:
            yield f"Below the minimum of {few} rows on which a measure rests, so neither tested nor in gaps: {told}."


def _reference(rows: Sequence[Line]) -> str:
    """Name the reference group of each set of attributes; more than one where measures have different ones."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        found.setdefault(row["by"], {})[group_told(row["other"])] = None
    named = {shorten_label(by): " or ".join(groups) for by, groups in found.items()}
    return "; ".join(f"{by}: {groups}" if len(named) > 1 else groups for by, groups in named.items())


def _comparisons(rows: Sequence[Line], by: str) -> int:
    """How many comparisons there are of each measure."""
    found = Counter((row["model"], row["measure"]) for row in rows if row["by"] == by)
    return max(found.values(), default=0)


def _ends(widest: Line, worst: Line | None) -> str:
    """Between whom the gap is, and who is worst off."""
    if widest["group"] is None or widest["other"] is None or widest["value"] < ROUNDING_ERROR:
        return ""
    told = f"{group_told(widest['group'])} − {group_told(widest['other'])}"
    return told if worst is None else f"{told}; worst: {group_told(worst['group'])}"


def _words(measure: str) -> str:
    return measure.replace("_", " ")
