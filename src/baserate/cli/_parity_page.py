"""Page of `baserate equalize`: thresholds of groups, rates, changes, disparities, and the price of fairness."""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from baserate._formatting import ROUNDING_ERROR, UNDEFINED, format_exact, format_number, join_words
from baserate._results import Results
from baserate.cli._check import format_group
from baserate.cli._options import Reading
from baserate.text import (
    Cell,
    CellFormatter,
    GroupKey,
    Page,
    Pivot,
    Row,
    Section,
    Table,
    TidyRow,
    describe_rule,
    group_key,
    shorten_label,
)

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


def page(results: Results, _reading: Reading, line: str, digits: int) -> Page:
    """Return the page of some results."""
    layout = _ParityPage(results, digits)
    panels = [*layout.account(), *layout.frontier(), *layout.held_out()]
    return Page(line, tuple(panels), layout.footnotes())


class _ParityPage:
    """Rows by set, group and measure, and the formatter of their cells."""

    def __init__(self, results: Results, digits: int) -> None:
        self.data, self.format, self.rows = results.data, CellFormatter(digits), results.rows()
        self.numbers: dict[Key, TidyRow] = {}
        self.thresholds: dict[tuple[str, GroupKey], list[TidyRow]] = {}
        for row in self._of("account"):
            place = row["set"], group_key(row)
            if row["measure"] == "threshold":
                self.thresholds.setdefault(place, []).append(row)
            elif row["measure"] != "gap":
                self.numbers[*place, row["measure"]] = row
        self.groups = list(dict.fromkeys(group for _, group, _ in self.numbers))

    def _of(self, table: str) -> list[dict[str, Any]]:
        """Return the rows of one table."""
        return [row for row in self.rows if row["table"] == table]

    def account(self) -> Iterator[Table | str]:
        """Yield the policy, the rates of groups, changes, disparities and the price of fairness."""
        (policy,) = self.data["policies"].values()
        rule = describe_rule(policy["rule"], policy["settings"])
        yield f"{rule[:1].upper()}{rule[1:]}:"
        yield self._decisions()
        yield self._rates()
        yield "By how much that differs from what is cheapest without any parity:"
        yield self._changes()
        yield self._disparities()
        yield " ".join([self._describe_price(), *self._alternatives(policy)])
        yield from filter(None, [self._describe_crossing(policy), self._binding()])

    def footnotes(self) -> tuple[str, ...]:
        """Return reasons of undefined numbers, methods of intervals, and the limits of the parity."""
        notes = self.format.footnotes(list(self.numbers.values()), self.data)
        return (*notes, *self.data["promises"], *filter(None, [self.data["legal"]]))

    def _decisions(self) -> Table:
        """Return the thresholds of each group."""
        (score,) = self.data["policies"]
        randomized = any(row["chance"] for rows in self.thresholds.values() for row in rows)
        title = f"flag {shorten_label(score)}{' (in brackets: the chance that a lot draws it)' * randomized}"
        rows = [Row(_name(group), (), self._describe_both(group)) for group in self.groups if group]
        return Table("", (), (Section(title, tuple(rows)),))

    def _describe_both(self, group: GroupKey) -> str:
        """Describe the decisions in a group with the parity and without."""
        without, within = (self._describe_decision(each, group) for each in _SETS)
        return f"{within}; without the parity: {without}"

    def _describe_decision(self, which: str, group: GroupKey) -> str:
        """Describe thresholds with their chances."""
        rows = self.thresholds.get((which, group), ())
        if not rows:
            return "everybody" if self.numbers[which, group, "flag_rate"]["value"] else "nobody"
        return ", ".join(f"{self._where(row)}{_chance(row['chance'])}" for row in rows)

    def _where(self, row: TidyRow) -> str:
        """Describe the scores that are flagged: those from a threshold on, or those below it."""
        at, flagged = row["value"], row["action"] == "flag"
        if at in (float("inf"), float("-inf")):
            return "everybody" if (at < 0) == flagged else "nobody"
        return f"{'≥' if flagged else '<'}\N{NO-BREAK SPACE}{self._short(at)}"

    def _short(self, value: float) -> str:
        """Return a number in full, or rounded if it is long."""
        exact = format_exact(value)
        return exact if len(exact) <= _LONGEST else self.format.number(value)

    def _rates(self) -> Table:
        """Return the rates of everybody and of each group under the policy."""
        columns = {"cases": "cases", **_RATES, "lottery": "by lot"}
        pivot = Pivot(
            line=group_key,
            column=itemgetter("measure"),
            cell=self._rate_cell,
            label=_name,
            heading=columns.__getitem__,
        )
        rows: list[TidyRow] = []
        for group in self.groups:
            # Without the parity no decision is randomized, so that counts are whole.
            cases = sum(self.numbers[_SETS[0], group, each]["value"] for each in _CELLS)
            rows.append({"measure": "cases", "group": None if group is None else dict(group), "value": cases})
            rows += (self.numbers[_SETS[1], group, name] for name in (*_RATES, "lottery"))
        return pivot.table(rows, corner="with parity")

    def _rate_cell(self, row: TidyRow) -> Cell:
        """Return the cell of a count, of the share of randomized decisions, or of a rate."""
        if row["measure"] == "cases":
            return self.format.count(row)
        if row["measure"] == "lottery":
            return _in_tenths(row["value"])
        # The base rate is there to compare with: its interval would distract.
        return self.format.value(row) if row["measure"] == "base_rate" else self.format.estimate(row)

    def _changes(self) -> Table:
        """Return the differences from the cheapest policy without the parity."""
        pivot = Pivot(
            line=group_key,
            column=itemgetter("measure"),
            cell=self._change_cell,
            label=_name,
            heading=_CHANGES.__getitem__,
        )
        rows = (self.numbers[_SETS[1], group, name] for group in self.groups for name in _CHANGES)
        return pivot.table(rows, corner="change")

    def _change_cell(self, row: TidyRow) -> str:
        """Return a change with its sign."""
        if row["change"] is None:
            earlier = self.numbers[_SETS[0], group_key(row), row["measure"]]
            return self.format.mark_undefined(row["why"] or earlier["why"])
        value = 0.0 if abs(row["change"]) < ROUNDING_ERROR else row["change"]
        return f"{'+' if value > 0 else ''}{format_number(value, max(self.format.digits - 1, 1))}"

    def _disparities(self) -> Table:
        """Return the greatest differences between groups without and with the parity, and the tolerance."""
        rows = [row for row in self._of("account") if row["measure"] == "gap"]
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
        cost, free, price = (self.format.number(self.data[name]) for name in ("cost", "cost_without", "price"))
        if abs(self.data["price"]) < ROUNDING_ERROR:
            return f"Expected cost of a case: {cost}, with the parity and without: it has no price here."
        more = (
            f", {100 * self.data['price'] / self.data['cost_without']:.3g} % more"
            if self.data["cost_without"] > 0
            else ""
        )
        return f"Expected cost of a case: {cost} with the parity, {free} without: its price is {price}{more}."

    def _alternatives(self, policy: TidyRow) -> Iterator[str]:
        """Yield the costs of other policies with the parity, and of one threshold without it."""
        more = self.data["cost"] - self.data["least"]
        if policy["rule"] != "equalized" and abs(more) <= ROUNDING_ERROR:
            yield "No policy that keeps the parity is cheaper."
        elif policy["rule"] != "equalized" and more > 0:
            least, above = (self.format.number(each) for each in (self.data["least"], more))
            yield f"With lots and cut-offs by group the parity could be kept for {least}: this way costs {above} more."
        price = policy["settings"].get("price")
        if price is not None:
            cost = self.format.number(policy["settings"]["cost"] - price)
            yield f"One cut-off without the parity would cost {cost}."

    def _describe_crossing(self, policy: TidyRow) -> str:
        """Describe where two ROC curves cross, and the common scale of scores."""
        if policy["rule"] != "crossing":
            return ""
        (score,), (first, second) = self.data["policies"], [_name(group) for group in self.groups if group]
        here, there = map(self._short, policy["settings"]["thresholds"])
        knots = ", ".join(f"{self._short(x)} to {self._short(y)}" for x, y in policy["settings"]["scale"])
        return (
            f"The curves cross at {shorten_label(score)} {here} in {first} and {there} in {second}. On one scale, "
            f"with scores of {second} moved ({knots}), {here} serves both where scores lie close together."
        )

    def _binding(self) -> str:
        """Describe the groups that limit the others, if they are few."""
        held = [row for row in self.numbers.values() if row["measure"] == "forgone" and row["value"]]
        if not held or not 0 < len(self.data["binds"]) <= _FEW:
            return ""
        binds = join_words(map(format_group, self.data["binds"]))
        return f"All are held to what the scores in {binds} allow; better scores there would lower the cost."

    def frontier(self) -> Iterator[Table | str]:
        """Yield the price of the parity at every tolerance."""
        rows = self._of("frontier")
        if not rows:
            return
        pivot = Pivot(
            line=itemgetter("place"),
            column=itemgetter("column"),
            cell=lambda row: self._frontier_cell(row[row["column"]], row["column"]),
            label=lambda place: self._short(rows[place]["within"]),
            heading=_FRONTIER.__getitem__,
        )
        cells = ({**row, "place": at, "column": name} for at, row in enumerate(rows) for name in _FRONTIER)
        yield "What the parity costs at every tolerance:"
        yield pivot.table(cells, corner="within")

    def _frontier_cell(self, value: float | None, name: str) -> str:
        """Return a number of the frontier, without rounding errors."""
        if value is None:
            return ""
        if name == "lottery":
            return _in_tenths(value)
        return self.format.number(0.0 if abs(value) < ROUNDING_ERROR else value)

    def held_out(self) -> Iterator[Table | str]:
        """Yield the performance of the parity on rows that had no part in the choice."""
        rows = self._of("held_out")
        if not rows:
            return
        pivot = Pivot(
            section=itemgetter("measure"),
            line=_whose,
            column=itemgetter("kind"),
            cell=self.format.estimate,
            label=str,
            title=lambda measure: _TITLES.get(measure, measure),
        )
        yield "On rows that had no part in the choice:"
        yield pivot.table(rows)


def _whose(row: TidyRow) -> str:
    """Return the rates that a disparity is of, or else the group."""
    if row["rate"] is None:
        return format_group(row["group"])
    return " or ".join(_RATES[name] for name in row["rate"].split(", "))


def _name(group: GroupKey) -> str:
    """Return the name of a group."""
    return format_group(None if group is None else dict(group))


def _chance(chance: float | None) -> str:
    """Return the probability of a randomized threshold in percent."""
    return "" if chance is None else f" ({100 * chance:.3g}\N{NO-BREAK SPACE}%)"


def _in_tenths(share: float) -> str:
    """Return a share in percent with one decimal; a dash for none."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%" if share else UNDEFINED
