"""Page of `baserate equalize`: the policy of each group, disparities, and the price of fairness."""

from collections.abc import Iterator, Mapping
from functools import partial
from operator import itemgetter
from typing import Any

from baserate._formatting import ROUNDING_ERROR, UNDEFINED, format_exact, format_number, join_words
from baserate._results import Results
from baserate.text import (
    Cell,
    CellFormatter,
    CellWriter,
    GroupKey,
    Page,
    Pivot,
    Table,
    TidyRow,
    describe_rule,
    group_heading,
    group_key,
    list_table,
    measure_label,
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
