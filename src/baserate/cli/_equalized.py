"""Tidy numbers on groups that are made equal -> a page: what is done, what it gives, what it changes and costs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from baserate._formatting import ROUNDING_ERROR, UNDEFINED, format_count, format_exact, format_number, join_words
from baserate._results import Results
from baserate.cli._checked import group_told
from baserate.cli._options import Reading
from baserate.text import (
    Cell,
    Footnotes,
    Page,
    Row,
    Section,
    Table,
    describe_rule,
    estimate_cell,
    interval_footnotes,
    shorten_label,
)

Line = Mapping[str, Any]
Group = tuple[tuple[str, object], ...] | None
Key = tuple[str, Group, str]
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
_CHANGES = {
    "tp": "positives flagged",
    "fp": "negatives flagged",
    "sensitivity": "sensitivity",
    "fpr": "FPR",
    "precision": "precision",
    "expected_cost": "cost per case",
}
_GAP = "greatest difference"
_FRONTIER = {
    "cost": "cost per case",
    "price": "price",
    "gap": "gap",
    "lottery": "by lot",
    "deterministic_cost": "cost without lots",
    "blind_cost": "cost of one cut-off",
}
_TITLES = {**_RATES, "gap": _GAP}
_FEW = 3
"""Groups that a sentence names."""
_LONGEST = 8
"""Letters of a number that is shown in full; a longer one is rounded."""


def page(found: Results, asked: Reading, line: str, digits: int) -> Page:
    """Lay the numbers out."""
    sheet = _Sheet(found, asked, digits)
    panels = [*sheet.account(), *sheet.frontier(), *sheet.held_out()]
    return Page(line, tuple(panels), sheet.footnotes())


class _Sheet:
    """Rows by what they are about, and the reasons why some numbers are undefined."""

    def __init__(self, found: Results, asked: Reading, digits: int) -> None:
        self.data, self.asked, self.digits, self.reasons = found.data, asked, digits, Footnotes()
        self.rows = found.rows()
        self.numbers: dict[Key, Line] = {}
        self.cuts: dict[tuple[str, Group], list[Line]] = {}
        for row in self._of("account"):
            place = row["set"], _key(row["group"])
            if row["measure"] == "threshold":
                self.cuts.setdefault(place, []).append(row)
            elif row["measure"] != "gap":
                self.numbers[*place, row["measure"]] = row
        self.groups = list(dict.fromkeys(group for _, group, _ in self.numbers))

    def _of(self, table: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["table"] == table]

    def account(self) -> Iterator[Table | str]:
        """What is done, to whom, and what that costs."""
        (policy,) = self.data["policies"].values()
        told = describe_rule(policy["rule"], policy["settings"])
        yield f"{told[:1].upper()}{told[1:]}:"
        yield self._done()
        yield self._rates()
        yield "By how much that differs from what is cheapest without any parity:"
        yield self._changes()
        yield self._gaps()
        yield " ".join([self._paid(), *self._dearer(policy)])
        yield from filter(None, [self._crossed(policy), self._binding()])

    def footnotes(self) -> tuple[str, ...]:
        """Why numbers are undefined, how intervals were made, and what a parity does and does not promise."""
        made = interval_footnotes(list(self.numbers.values()), self.data)
        return (*self.reasons.footnotes(), *made, *self.data["promises"], *filter(None, [self.data["legal"]]))

    def _done(self) -> Table:
        """Where each group is flagged."""
        (score,) = self.data["policies"]
        lots = any(row["chance"] for rows in self.cuts.values() for row in rows)
        title = f"flag {shorten_label(score)}{' (in brackets: the chance that a lot draws it)' * lots}"
        rows = [Row(_name(group), (), self._cuts(group)) for group in self.groups if group]
        return Table("", (), (Section(title, tuple(rows)),))

    def _cuts(self, group: Group) -> str:
        without, kept = (self._cut(each, group) for each in _SETS)
        return f"{kept}; without the parity: {without}"

    def _cut(self, which: str, group: Group) -> str:
        """Cut-offs with their chances."""
        rows = self.cuts.get((which, group), ())
        if not rows:
            return "everybody" if self.numbers[which, group, "flag_rate"]["value"] else "nobody"
        return ", ".join(f"{self._where(row)}{_chance(row['chance'])}" for row in rows)

    def _where(self, row: Line) -> str:
        """Scores that are flagged from a cut-off on, or below it."""
        at, flagged = row["value"], row["action"] == "flag"
        if at in (float("inf"), float("-inf")):
            return "everybody" if (at < 0) == flagged else "nobody"
        return f"{'≥' if flagged else '<'}\N{NO-BREAK SPACE}{self._short(at)}"

    def _short(self, value: float) -> str:
        return format_exact(value) if len(format_exact(value)) <= _LONGEST else format_number(value, self.digits)

    def _rates(self) -> Table:
        """Rates of everybody and of each group under the policy."""
        columns = ["cases", *_RATES.values(), "by lot"]
        rows = [
            Row(_name(group), (self._cases(group), *self._measured(group), self._lots(group))) for group in self.groups
        ]
        return Table("with parity", tuple(columns), (Section("", tuple(rows)),))

    def _cases(self, group: Group) -> str:
        # Without the parity nothing is drawn by lot, so that cases are whole.
        return format_count(sum(self.numbers[_SETS[0], group, each]["value"] for each in _CELLS), self.digits)

    def _measured(self, group: Group) -> Iterator[Cell]:
        for name in _RATES:
            row = self.numbers[_SETS[1], group, name]
            # The base rate is there to compare with, not to be judged.
            bare = {**row, "level": None} if name == "base_rate" else row
            yield estimate_cell(bare, self.reasons, digits=self.digits, several=True)

    def _lots(self, group: Group) -> str:
        return _in_tenths(self.numbers[_SETS[1], group, "lottery"]["value"])

    def _changes(self) -> Table:
        """By how much numbers differ from those without the parity."""
        rows = []
        for group in self.groups:
            cells = (self._signed(self.numbers[_SETS[1], group, name]) for name in _CHANGES)
            rows.append(Row(_name(group), tuple(cells)))
        return Table("change", tuple(_CHANGES.values()), (Section("", tuple(rows)),))

    def _signed(self, row: Line) -> str:
        if row["change"] is None:
            earlier = self.numbers[_SETS[0], _key(row["group"]), row["measure"]]
            return self.reasons.undefined(row["why"] or earlier["why"])
        value = 0.0 if abs(row["change"]) < ROUNDING_ERROR else row["change"]
        return f"{'+' if value > 0 else ''}{format_number(value, max(self.digits - 1, 1))}"

    def _gaps(self) -> Table:
        """How far groups lie apart, before and after."""
        gaps = [row for row in self._of("account") if row["measure"] == "gap"]
        rows = []
        for rate in dict.fromkeys(row["rate"] for row in gaps):
            each = [self._gap(row) for row in gaps if row["rate"] == rate]
            rows.append(Row(_RATES[rate], (*each, self._allowed(rate))))
        return Table(_GAP, (*_SETS, "allowed"), (Section("", tuple(rows)),))

    def _gap(self, row: Line) -> Cell:
        small = row["value"] is not None and row["value"] < ROUNDING_ERROR
        return estimate_cell({**row, "value": 0.0} if small else row, self.reasons, digits=self.digits, several=True)

    def _allowed(self, rate: str) -> str:
        within = self.data["within"]
        bound = within.get(rate) if isinstance(within, Mapping) else within
        return "any" if rate == "precision" or bound is None or bound >= 1 else format_exact(bound)

    def _paid(self) -> str:
        """What the parity costs."""
        cost, free, price = (format_number(self.data[name], self.digits) for name in ("cost", "cost_without", "price"))
        if abs(self.data["price"]) < ROUNDING_ERROR:
            return f"Expected cost of a case: {cost}, with the parity and without: it has no price here."
        more = (
            f", {100 * self.data['price'] / self.data['cost_without']:.3g} % more"
            if self.data["cost_without"] > 0
            else ""
        )
        return f"Expected cost of a case: {cost} with the parity, {free} without: its price is {price}{more}."

    def _dearer(self, policy: Line) -> Iterator[str]:
        """What the parity could be kept for by other means, and what it costs those who treat everybody alike."""
        more = self.data["cost"] - self.data["least"]
        if policy["rule"] != "equalized" and abs(more) <= ROUNDING_ERROR:
            yield "No policy that keeps the parity is cheaper."
        elif policy["rule"] != "equalized" and more > 0:
            least, above = (format_number(each, self.digits) for each in (self.data["least"], more))
            yield f"With lots and cut-offs by group the parity could be kept for {least}: this way costs {above} more."
        price = policy["settings"].get("price")
        if price is not None:
            alone = format_number(policy["settings"]["cost"] - price, self.digits)
            yield f"One cut-off without the parity would cost {alone}."

    def _crossed(self, policy: Line) -> str:
        """Where two curves cross, and how scores of one group are put on the scale of the other."""
        if policy["rule"] != "crossing":
            return ""
        (score,), (first, second) = self.data["policies"], [_name(group) for group in self.groups if group]
        here, there = map(self._short, policy["settings"]["thresholds"])
        knots = ", ".join(f"{self._short(x)} to {self._short(y)}" for x, y in policy["settings"]["scale"])
        return (
            f"The curves cross at {shorten_label(score)} {here} in {first} and {there} in {second}. On one scale, "
            f"with scores "
            f"of {second} moved ({knots}), {here} serves both where scores lie close together."
        )

    def _binding(self) -> str:
        """Who sets the limit, where others are held back and it is not nearly everybody."""
        held = [row for row in self.numbers.values() if row["measure"] == "forgone" and row["value"]]
        if not held or not 0 < len(self.data["binds"]) <= _FEW:
            return ""
        binds = join_words(map(group_told, self.data["binds"]))
        return f"All are held to what the scores in {binds} allow; better scores there would lower the cost."

    def frontier(self) -> Iterator[Table | str]:
        """What the parity costs at every tolerance."""
        rows = self._of("frontier")
        if not rows:
            return
        lines = (
            Row(self._short(row["within"]), tuple(self._plain(row[name], name) for name in _FRONTIER)) for row in rows
        )
        yield "What the parity costs at every tolerance:"
        yield Table("within", tuple(_FRONTIER.values()), (Section("", tuple(lines)),))

    def _plain(self, value: float | None, name: str) -> str:
        if value is None:
            return ""
        return (
            _in_tenths(value)
            if name == "lottery"
            else format_number(0.0 if abs(value) < ROUNDING_ERROR else value, self.digits)
        )

    def held_out(self) -> Iterator[Table | str]:
        """What the parity is worth on rows that had no part in the choice."""
        rows = self._of("held_out")
        if not rows:
            return
        kinds = list(dict.fromkeys(row["kind"] for row in rows))
        sections = [
            Section(_TITLES.get(name, name), tuple(self._held([row for row in rows if row["measure"] == name], kinds)))
            for name in dict.fromkeys(row["measure"] for row in rows)
        ]
        yield "On rows that had no part in the choice:"
        yield Table("", tuple(kinds), tuple(sections))

    def _held(self, rows: Sequence[Line], kinds: Sequence[str]) -> Iterator[Row]:
        """One line for each rate that a gap is of, otherwise for each group."""
        for name in dict.fromkeys(map(_whose, rows)):
            by = {row["kind"]: row for row in rows if _whose(row) == name}
            cells = (estimate_cell(by.get(kind), self.reasons, digits=self.digits, several=True) for kind in kinds)
            yield Row(name, tuple(cells))


def _whose(row: Line) -> str:
    return (
        group_told(row["group"])
        if row["rate"] is None
        else " or ".join(_RATES[name] for name in row["rate"].split(", "))
    )


def _key(group: Mapping[str, object] | None) -> Group:
    return None if group is None else tuple(group.items())


def _name(group: Group) -> str:
    return group_told(None if group is None else dict(group))


def _chance(chance: float | None) -> str:
    return "" if chance is None else f" ({100 * chance:.3g}\N{NO-BREAK SPACE}%)"


def _in_tenths(share: float) -> str:
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%" if share else UNDEFINED
