"""Page of `baserate equalize --withhold`: withheld scores by group, their price, and the decisions that follow."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from baserate._formatting import format_p
from baserate._results import Results
from baserate.text import Cell, CellFormatter, Page, Pivot, Table, TidyRow, describe_rule, group_heading, group_key

if TYPE_CHECKING:
    from collections.abc import Callable

_SHARES = {"withheld": "scores withheld", "base_rate": "base rate", "calibration_p": "p, calibrated"}
_RATES = {
    "generalized_fnr": "generalized FNR",
    "generalized_fpr": "generalized FPR",
    "generalized_cost": "expected cost",
}
_PRICES = {"generalized_cost": "expected cost", "brier": "Brier score", "log_loss": "log loss"}
_DECISIONS = {
    "flag_rate": "flag rate",
    "sensitivity": "sensitivity",
    "fpr": "FPR",
    "expected_cost": "cost per case",
}
_SCORES, _MIXED, _CHANGE = "scores", "mixed scores", "change"
_MEANING = (
    "Generalized FNR: mean of 1 − score over positives; generalized FPR: mean score over negatives; expected cost: "
    "both, weighted by the classes and costs. p, calibrated: Cox's test of the scores in each group."
)


def mixing_page(results: Results, line: str, digits: int) -> Page:
    """Return the page of some results."""
    layout = _MixingPage(results, digits)
    return Page(line, tuple(layout.panels()), (*layout.format.footnotes(layout.rows, layout.data), _MEANING))


class _MixingPage:
    """Rows, and the formatter of their cells."""

    def __init__(self, results: Results, digits: int) -> None:
        self.rows, self.data, self.format = results.rows(), results.data, CellFormatter(digits)

    def panels(self) -> Iterator[Table | str]:
        """Yield withheld shares, generalized rates, the price, and the decisions."""
        (policy,) = self.data["policies"].values()
        rule = describe_rule(policy["rule"], policy["settings"])
        yield f"{rule[:1].upper()}{rule[1:]}:"
        yield self._table(_SHARES, (None, _SCORES), "group")
        yield "Means of the scores, before and after:"
        yield self._table(_RATES, (_SCORES, _MIXED), "group")
        yield "Price: change by the withheld scores, per case:"
        yield self._table(_PRICES, (_CHANGE,), "group")
        yield f"Decisions at the threshold {self.format.short(self.data['threshold'])}:"
        yield self._table(_DECISIONS, (_SCORES, _MIXED), "group")
        yield self._gaps()

    def _table(self, columns: Mapping[str, str], sets: Sequence[str | None], corner: str) -> Table:
        """Return a table with a line for each group, and a section for each set if there are several."""
        rows = [row for row in self.rows if row["measure"] in columns and row["set"] in sets]
        several = all(sets) and len(sets) > 1
        section: Callable[[TidyRow], str] = itemgetter("set") if several else lambda _row: ""
        pivot = Pivot(
            line=group_key,
            column=itemgetter("measure"),
            section=section,
            cell=self._cell,
            label=group_heading,
            heading=columns.__getitem__,
        )
        return pivot.table(rows, corner=corner, columns=tuple(columns))

    def _cell(self, row: TidyRow) -> Cell:
        """Return the cell of a share, a p-value or a mean."""
        if row["measure"] == "calibration_p":
            return self.format.mark_undefined(row["why"]) if row["value"] is None else format_p(row["value"])
        return self.format.estimate(row)

    def _gaps(self) -> Table:
        """Return the greatest difference of each rate between groups."""
        names = {**_RATES, **_DECISIONS}
        pivot = Pivot(
            line=itemgetter("rate"),
            column=itemgetter("set"),
            cell=self._gap,
            label=names.__getitem__,
            heading=str,
        )
        rows = [row for row in self.rows if row["measure"] == "gap"]
        return pivot.table(rows, corner="greatest difference", columns=(_SCORES, _MIXED))

    def _gap(self, row: TidyRow) -> str:
        """Return a difference, without the rounding error of equal rates."""
        value = row["value"]
        return self.format.number(0.0 if abs(value) < 1e-9 else value)
