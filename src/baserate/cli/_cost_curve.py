"""`baserate cost-curve`: cost curves and Brier curves, and a page of them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._domains import POINTS
from baserate._formatting import format_exact, format_number
from baserate.cli._benefit import describe_intervals, model_of, of_group
from baserate.cli._declarations import Output, command, option
from baserate.cli._io import adjusted_headline, describe_adjustment, print_messages, print_results, read_tallies
from baserate.cli._options import ClosedFormIntervals, OutcomeCosts, Reading
from baserate.cli._values import CELLS, read_prevalence, whole_number
from baserate.text import Cell, Footnotes, Page, Row, Section, Table, align_decimals, estimate_cell

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tally import Tallies, Tally
    from baserate.decide import CostCurveKind

Line = Mapping[str, Any]

_CORNERS = {"cost": "probability cost", "brier": "cost proportion"}
_HEADS = {
    "cost": {"cost": "least cost", "trivial": "of all or none", "threshold": "threshold", "laxest": "laxest"},
    "brier": {"loss": "loss", "least": "least", "regret": "regret"},
}
_COST_COLUMNS = {
    "threshold": "threshold",
    "cost": "least cost",
    "trivial": "of all or none",
    "expected_cost": "per case",
}
_CUTS = {"threshold", "laxest"}
_BOUNDED = {"cost", "loss"}
_LEGENDS = {
    "cost": (
        "probability cost: how much of what errors can cost is due to positives",
        "least cost: that of the best threshold, as a share of the greatest",
        "of all or none: the cost of flagging all or of flagging none, whichever is less",
        "threshold, laxest: the strictest and the laxest that cost so little",
    ),
    "brier": (
        "loss: twice the cost per case, flagged from the proportion c on, if a false alarm costs c and a miss 1 − c",
        "the area under the loss is the Brier score",
        "least: that of the best threshold; regret: what is lost beside it",
    ),
}


def cost_curve_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Lay out the best thresholds at the costs, if there are any, then the curves."""
    from baserate.text import split_when_narrow

    kind, reasons = results.data["kind"], Footnotes()
    curves: dict[str, list[Line]] = {}
    for row in results.rows():
        curves.setdefault(of_group(model_of(row, results), row, reading), []).append(row)
    heads, x = _HEADS[kind], _CORNERS[kind].replace(" ", "_")
    sections = []
    for title, lines in curves.items():
        names = align_decimals([_format_place(line[x], digits) for line in lines])
        cells = (tuple(_cell(line, name, reasons, digits) for name in heads) for line in lines)
        sections.append(Section(title, tuple(Row(*each) for each in zip(names, cells, strict=True))))
    panels = [*_cost_table(results, reading, reasons, digits)]
    panels += [split_when_narrow(Table(_CORNERS[kind], tuple(heads.values()), tuple(sections)))]
    return Page(adjusted_headline(reading, results.data), tuple(panels), (*reasons.footnotes(), *_legend(results)))


def _cost_table(results: "Results", reading: Reading, reasons: Footnotes, digits: int) -> Iterator[Table]:
    """Lay out the best thresholds at the costs."""
    from baserate.text import split_when_narrow

    if "marked" not in results.data:
        return
    place = results.data["marked"]
    rows = [
        Row(
            of_group(model_of(line, results), line, reading),
            tuple(_cell(line, name, reasons, digits) for name in _COST_COLUMNS),
        )
        for line in place["least"]
    ]
    at = f"at a probability cost of {format_number(place['probability_cost'], digits)}"
    yield split_when_narrow(Table(at, tuple(_COST_COLUMNS.values()), (Section("", tuple(rows)),)))


def _legend(results: "Results") -> Iterator[str]:
    if "marked" in results.data:
        place = results.data["marked"]
        costs = ", ".join(f"{name} {format_exact(place[name])}" for name in ("fp", "fn", "tp", "tn"))
        yield f"per case: mean cost at costs of {costs} and a prevalence of {format_exact(place['prevalence'])}"
    yield from _LEGENDS[results.data["kind"]]
    yield from describe_intervals(results, "cost" if results.data["kind"] == "cost" else "loss")


def _format_place(x: float | None, digits: int) -> str:
    return "" if x is None else format_exact(float(f"{x:.{digits}g}"))


def _cell(line: Line, name: str, reasons: Footnotes, digits: int) -> Cell:
    if line[name] is None:
        return reasons.mark_undefined(line["why"])
    if name in _BOUNDED and line.get("level") is not None:
        return estimate_cell({**line, "value": line[name]}, reasons, digits=digits, several=True)
    return format_exact(line[name]) if name in _CUTS else format_number(line[name], digits)


FEW = 21
"""Points of a curve that a person wants to read: every twentieth."""

_EXAMPLES = (
    ("to read", "baserate cost-curve people.csv --truth sick --score risk"),
    (
        "a false negative costs 20 false positives, at a prevalence of 2 %",
        "baserate cost-curve people.csv --truth sick --score risk --fp 1 --fn 20 --prevalence 0.02",
    ),
    ("every corner, to plot", "baserate cost-curve people.csv --truth sick --score risk --score old -o costs.csv"),
    (
        "a Brier curve of the probabilities as they are",
        "baserate cost-curve people.csv --truth sick --score risk --kind brier --points 11",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostCurveOptions(OutcomeCosts):
    """Which curve, at how many points, and where on it costs are to be marked."""

    kind: Annotated[
        "CostCurveKind",
        option(
            type=click.Choice(["cost", "brier"]),
            help="Cost curve: least expected cost of any threshold; Brier curve: expected loss of the "
            "probabilities as they "
            "are, whose area is the Brier score.",
        ),
    ] = "cost"
    points: Annotated[
        int | None,
        option(
            type=whole_number(POINTS),
            default=f"every corner; in tables at most {FEW}",
            help="Number of evenly spaced points of each curve.",
        ),
    ] = None
    prevalence: Annotated[
        float | None,
        option(
            type=read_prevalence,
            metavar="SHARE",
            default="of a Brier curve, that of the sample",
            help="Prevalence in deployment, such as 0.02 or 2%: where the costs arise.",
        ),
    ] = None

    def __post_init__(self) -> None:
        given = [f"--{name}" for name in CELLS if getattr(self, name) is not None]
        if self.kind == "brier" and given:
            raise click.UsageError(f"{given[0]} is for cost curves; leave out either it or --kind brier.")
        if given and self.prevalence is None:
            raise click.UsageError(
                "where costs lie on the curve depends on the prevalence, too; add it, such as --prevalence 0.02."
            )
        if self.kind == "cost" and self.prevalence is not None and not given:
            raise click.UsageError(
                "a cost curve holds at every prevalence; leave out --prevalence, or add costs, such as --fp 1 --fn 20, "
                "to see where they lie on it."
            )


@command("cost-curve", examples=_EXAMPLES)
def cost_curve(
    reading: Reading, cost_options: CostCurveOptions, intervals: ClosedFormIntervals, output: Output
) -> None:
    """Tabulate cost curves: the least cost in any setting.

    Costs and prevalence come down to one number, the probability cost: the share of the greatest possible cost that is
    due to positives. With --fp or --fn and a --prevalence, the best threshold at yours is marked.
    """
    place = _locate_costs(cost_options)  # before reading, so that errors come at once
    read = read_tallies(reading, quiet=output.quiet)
    few = cost_options.points is None and output.form in {"table", "md"}
    curves, left_out = _compute_cost_curves(read, cost_options, intervals.confidence, few=few)
    data = {
        **curves.data,
        **({} if place is None else {"marked": place | {"least": list(_best_thresholds(read, cost_options, place))}}),
    }
    marked = describe_adjustment(
        replace(curves, data=data), read, cost_options.prevalence if cost_options.kind == "brier" else None
    )
    data = {**marked.data, "notes": [*data["notes"], *left_out]}
    print_messages(adjusted_headline(reading, data), data, output, inferred=reading.positive is None)
    print_results(marked, lambda: cost_curve_page(marked, reading, output.digits), output)


def _compute_cost_curves(
    read: "Tallies", cost_options: CostCurveOptions, sure: float | None, *, few: bool
) -> tuple["Results", list[str]]:
    """Curves, and what to say of points that are left out."""
    from baserate import decide

    prevalence = cost_options.prevalence if cost_options.kind == "brier" else None
    compute = partial(decide.cost_curves, read, kind=cost_options.kind, prevalence=prevalence, level=sure)
    curves = compute(points=cost_options.points)
    longest = max(Counter((row["model"], str(row["group"])) for row in curves.rows()).values())
    if not few or longest <= FEW:
        return curves, []
    note = f"{FEW} points of each curve are shown; --points N shows so many, --format csv all, up to {longest}."
    return compute(points=FEW), [note]


def _locate_costs(cost_options: CostCurveOptions) -> dict[str, float] | None:
    """Locate costs on the curve, if there are any."""
    costs, prevalence = cost_options.outcome_costs, cost_options.prevalence
    if costs is None or prevalence is None:
        return None
    from baserate.decide import probability_cost

    where = {"prevalence": prevalence, "probability_cost": probability_cost(costs, prevalence)}
    return {**{name: getattr(costs, name) for name in CELLS}, **where}


def _best_thresholds(
    read: "Tallies", cost_options: CostCurveOptions, place: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    """The best threshold of each model and group where the costs lie, and what it costs."""
    from baserate.measure import group_attributes

    several = len(read.models) > 1
    for model, group, tally in read.walk():
        named = {"model": model if several else None, "group": group_attributes(read, group)}
        missing = [name for name in ("positives", "negatives") if not getattr(tally, name)]
        if missing:
            unknown = dict.fromkeys(("threshold", "cost", "trivial", "expected_cost"))
            yield named | unknown | {"why": f"there are no {missing[0]}"}
        else:
            yield named | _best_threshold(tally, cost_options, place["probability_cost"]) | {"why": None}


def _best_threshold(tally: "Tally", cost_options: CostCurveOptions, x: float) -> dict[str, float]:
    from baserate import Curve, decide, shift
    from baserate.measure import expected_cost, fnr, fpr

    costs, prevalence = cost_options.outcome_costs, cost_options.prevalence
    assert costs is not None  # noqa: S101  (for the type checker)
    assert prevalence is not None  # noqa: S101  (for the type checker)
    curve = Curve(tally)
    threshold = decide.cost(curve, costs, prevalence=prevalence).threshold
    counts = curve.at(threshold)
    return {
        "threshold": threshold,
        "cost": fnr(counts) * x + fpr(counts) * (1 - x),
        "trivial": min(x, 1 - x),
        "expected_cost": expected_cost(shift.reweigh(counts, to=prevalence), costs=costs),
    }
