"""`baserate cost-curve`: cost curves, Brier curves, and their page."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import click

from baserate._formatting import format_exact, format_number
from baserate.cli._decision_curves import curve_name, curve_table, describe_intervals, model_name
from baserate.cli._declarations import Output, command, given_flags, option, refuse_given
from baserate.cli._io import describe_adjustment, headline, print_messages, print_results, read_tallies
from baserate.cli._options import ClosedFormIntervals, OutcomeCosts, Points, PrevalenceShare, Reading
from baserate.cli._values import CELLS
from baserate.text import Cell, CellFormatter, CellWriter, Explanation, Page, TidyRow, list_table, split_when_narrow

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tally import Tallies

_CORNERS = {"cost": "probability cost", "brier": "cost proportion"}
_HEADS = {
    "cost": {"cost": "least cost", "trivial": "of all or none", "threshold": "threshold", "laxest": "laxest"},
    "brier": {"loss": "loss", "least": "least", "regret": "regret"},
    "marked": {
        "threshold": "threshold",
        "cost": "least cost",
        "trivial": "of all or none",
        "expected_cost": "per case",
    },
}
"""Table -> field -> heading."""
_LEGENDS = {
    "cost": (
        "probability cost: share of the greatest possible cost of errors that is due to positives",
        "least cost: that of the best threshold, as a share of the greatest",
        "of all or none: the cost of flagging all or of flagging none, whichever is less",
        "threshold, laxest: the strictest and the laxest with this cost",
    ),
    "brier": (
        "loss: twice the cost per case at threshold c, if a false positive costs c and a false negative 1 − c",
        "the area under the loss is the Brier score",
        "least: that of the best threshold; regret: the difference",
    ),
}


def cost_curve_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Return the page: the best thresholds at the costs, if there are any, then the curves."""
    kind, format_ = results.data["kind"], CellFormatter(digits)
    x = _CORNERS[kind].replace(" ", "_")

    def columns(table: str) -> dict[str, CellWriter]:
        return {head: partial(_cost_cell, format_, name) for name, head in _HEADS[table].items()}

    def label(row: TidyRow) -> str:
        return curve_name(model_name(row, results), row, reading)

    panels, legend = [], []
    if place := results.data.get("marked"):
        corner = f"at a probability cost of {format_number(place['probability_cost'], digits)}"
        panels.append(split_when_narrow(list_table(place["least"], columns("marked"), label=label, corner=corner)))
        costs = ", ".join(f"{name} {format_exact(place[name])}" for name in CELLS)
        where = f"a prevalence of {format_exact(place['prevalence'])}"
        legend.append(f"per case: mean cost at costs of {costs} and {where}")
    rows = [{**row, "curve": label(row), x: _round_to(row[x], digits)} for row in results.rows()]
    panels.append(curve_table(rows, columns(kind), corner=_CORNERS[kind], x=x))
    legend += [*map(Explanation, _LEGENDS[kind]), *describe_intervals(results, "cost" if kind == "cost" else "loss")]
    notes = (*format_.reasons.footnotes(), *legend)
    return Page(headline(reading, results.data), tuple(panels), notes)


def _round_to(x: float | None, digits: int) -> float | None:
    return None if x is None else float(f"{x:.{digits}g}")


def _cost_cell(format_: CellFormatter, name: str, row: TidyRow) -> Cell:
    """Return a threshold in full, a cost or loss with its interval if it has one, or another number."""
    if row[name] is None:
        return format_.mark_undefined(row["why"])
    if name in {"threshold", "laxest"}:
        return format_exact(row[name])
    if name in {"cost", "loss"} and row.get("level") is not None:
        return format_.estimate({**row, "value": row[name]})
    return format_.number(row[name])


FEW_POINTS = 21
"""Points of a curve that a table shows: every twentieth."""

_COST_EXAMPLES = """
# to read
baserate cost-curve people.csv --truth sick --score risk
# a false negative costs 20 false positives, at a prevalence of 2%
baserate cost-curve people.csv --truth sick --score risk --fp 1 --fn 20 --prevalence 0.02
# every corner, to plot
baserate cost-curve people.csv --truth sick --score risk --score old -o costs.csv
# a Brier curve of unadjusted probabilities
baserate cost-curve people.csv --truth sick --score risk --kind brier --points 11
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostCurveOptions(OutcomeCosts):
    """Options of cost curves: kind, number of points, and the costs and prevalence to mark."""

    kind: Annotated[
        Literal["cost", "brier"],
        option(
            help="Cost curve: least expected cost of any threshold; Brier curve: expected loss of the probabilities "
            "themselves, whose area is the Brier score.",
        ),
    ] = "cost"
    points: Annotated[
        Points,
        option(default=f"every corner; in tables at most {FEW_POINTS}"),
        "Number of evenly spaced points of each curve.",
    ] = None
    prevalence: Annotated[
        PrevalenceShare,
        option(default="of a Brier curve, that of the sample"),
        "Prevalence in deployment, such as 0.02 or 2%: where the costs arise.",
    ] = None

    def __post_init__(self) -> None:
        flags = given_flags(self, CELLS)
        if self.kind == "brier":
            refuse_given(self, CELLS, "{} is for cost curves; leave out either {} or --kind brier.")
        if flags and self.prevalence is None:
            raise click.UsageError(
                "the place of costs on the curve depends on the prevalence; add it, such as --prevalence 0.02."
            )
        if self.kind == "cost" and self.prevalence is not None and not flags:
            raise click.UsageError(
                "a cost curve holds at every prevalence; leave out --prevalence, or add costs to mark, such as --fp 1 "
                "--fn 20."
            )


@command("cost-curve", examples=_COST_EXAMPLES)
def cost_curve(
    reading: Reading, cost_options: CostCurveOptions, intervals: ClosedFormIntervals, output: Output
) -> None:
    """Tabulate cost curves: the least cost in any setting.

    Costs and prevalence come down to one number, the probability cost: the share of the greatest possible cost that is
    due to positives. With --fp or --fn and a --prevalence, the best threshold at yours is marked.
    """
    from baserate.decide import cheapest_thresholds, probability_cost

    costs, prevalence = cost_options.outcome_costs, cost_options.prevalence
    if costs is not None and prevalence is not None:
        probability_cost(costs, prevalence)  # before reading, so that errors come at once
    read = read_tallies(reading, quiet=output.quiet)
    few = cost_options.points is None and output.is_page
    curves, left_out = _compute_cost_curves(read, cost_options, intervals.confidence, few=few)
    data = curves.data
    if costs is not None and prevalence is not None:
        cheapest = cheapest_thresholds(read, costs, prevalence)
        data = {**data, "marked": {**cheapest.data, "least": cheapest.rows()}}
    to = prevalence if cost_options.kind == "brier" else None
    results = describe_adjustment(replace(curves, data=data), read, to)
    data = {**results.data, "notes": [*data["notes"], *left_out]}
    print_messages(headline(reading, data), data, output, inferred=reading.positive is None)
    print_results(results, lambda: cost_curve_page(results, reading, output.digits), output)


def _compute_cost_curves(
    read: "Tallies", cost_options: CostCurveOptions, level: float | None, *, few: bool
) -> tuple["Results", list[str]]:
    """Compute curves, and a note if points are left out."""
    from baserate import decide

    prevalence = cost_options.prevalence if cost_options.kind == "brier" else None
    compute = partial(decide.cost_curves, read, kind=cost_options.kind, prevalence=prevalence, level=level)
    curves = compute(points=cost_options.points)
    longest = max(Counter((row["model"], str(row["group"])) for row in curves.rows()).values())
    if not few or longest <= FEW_POINTS:
        return curves, []
    note = f"{FEW_POINTS} points of each curve are shown; --points N shows N, --format csv all, up to {longest}."
    return compute(points=FEW_POINTS), [note]
