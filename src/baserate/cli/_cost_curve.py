"""`baserate cost-curve`: read, tabulate the least cost at every proportion of costs."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from baserate._domains import POINTS
from baserate.cli._ask import answer, carried, carried_line, remark, tallies
from baserate.cli._intervals import Intervals, closed
from baserate.cli._options import Reading, Verb, Writing, bundled, command, reading, whole, writing
from baserate.cli._prices import CELLS, PRICES, costs_of, prevalence

if TYPE_CHECKING:
    from baserate._costs import Costs
    from baserate._results import Results
    from baserate._tally import Tallies, Tally
    from baserate.decide import Kind

FEW = 21
"""Points of a curve that a person wants to read: every twentieth."""

_EXAMPLES = (
    ("to read", "baserate cost-curve people.csv --truth sick --score risk"),
    (
        "where a miss costs 20 false alarms, and 2 % are sick",
        "baserate cost-curve people.csv --truth sick --score risk --fp 1 --fn 20 --prevalence 0.02",
    ),
    ("every corner, to plot", "baserate cost-curve people.csv --truth sick --score risk --score old -o costs.csv"),
    (
        "what probabilities cost as they are, and need not",
        "baserate cost-curve people.csv --truth sick --score risk --kind brier --points 11",
    ),
)


@dataclass(frozen=True, slots=True)
class Costing:
    """Which curve, at how many points, and where on it costs are to be marked."""

    kind: "Kind"
    points: int | None
    prevalence: float | None
    fp: float | None
    fn: float | None
    tp: float | None
    tn: float | None

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

    @property
    def costs(self) -> "Costs | None":
        """Costs, if any of them were given."""
        return costs_of(self)


def _costing(verb: Verb) -> Verb:
    return bundled(verb, Costing, "costing", _COSTING)


def drawn(verb: Verb) -> Verb:
    """Add the options of a curve that is drawn, with as many points as that takes; the verb gets them as `costing`."""
    return bundled(verb, Costing, "costing", [each for each in _COSTING if each is not _POINTS], points=None)


_POINTS = click.option(
    "--points",
    type=whole(POINTS),
    help=f"So many points of each curve, evenly spaced; otherwise every corner, and {FEW} points at most in tables "
    "to read.",
)
_COSTING = (
    click.option(
        "--kind",
        type=click.Choice(["cost", "brier"]),
        default="cost",
        show_default=True,
        help="The least cost of any threshold; or what probabilities cost if each is flagged from the cost proportion "
        "on, the area under which is the Brier score.",
    ),
    _POINTS,
    click.option(
        "--prevalence",
        type=prevalence,
        metavar="SHARE",
        help="Share of positives, such as 0.02 or 2%: where costs arise; of a Brier curve, otherwise that of the rows.",
    ),
    *PRICES,
)


@command("cost-curve", examples=_EXAMPLES)
@reading
@_costing
@closed
@writing
def cost_curve(reading: Reading, costing: Costing, intervals: Intervals, writing: Writing) -> None:
    """Tabulate what the best threshold costs, whatever errors cost and however frequent positives are.

    Costs and prevalence come down to one number, the probability cost: how much of what errors can cost is due to
    positives. With --fp or --fn and a --prevalence you are told where yours lie, and the best threshold there. FILE is
    a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    from baserate.cli._cost_lines import page

    place = _place(costing)  # before reading, so that a slip is told at once
    read = tallies(reading, quiet=writing.quiet)
    few = costing.points is None and writing.form in {"table", "md"}
    found, left_out = _found(read, costing, intervals.sure, few=few)
    data = {
        **found.data,
        **({} if place is None else {"marked": place | {"least": list(_least(read, costing, place))}}),
    }
    marked = carried(replace(found, data=data), read, costing.prevalence if costing.kind == "brier" else None)
    data = {**marked.data, "notes": [*data["notes"], *left_out]}
    remark(carried_line(reading, data), data, writing, inferred=reading.positive is None)
    answer(marked, lambda: page(marked, reading, writing.digits), writing)


def _found(read: "Tallies", costing: Costing, sure: float | None, *, few: bool) -> tuple["Results", list[str]]:
    """Curves, and what to say of points that are left out."""
    from baserate import decide

    there = costing.prevalence if costing.kind == "brier" else None
    made = partial(decide.cost_curves, read, kind=costing.kind, prevalence=there, level=sure)
    found = made(points=costing.points)
    longest = max(Counter((row["model"], str(row["group"])) for row in found.rows()).values())
    if not few or longest <= FEW:
        return found, []
    told = f"{FEW} points of each curve are shown; --points N shows so many, --format csv all, up to {longest}."
    return made(points=FEW), [told]


def _place(costing: Costing) -> dict[str, float] | None:
    """Where costs lie on the curve, if there are any."""
    costs, prevalence = costing.costs, costing.prevalence
    if costs is None or prevalence is None:
        return None
    from baserate.decide import probability_cost

    where = {"prevalence": prevalence, "probability_cost": probability_cost(costs, prevalence)}
    return {**{name: getattr(costs, name) for name in CELLS}, **where}


def _least(read: "Tallies", costing: Costing, place: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    """The best threshold of each model and group where the costs lie, and what it costs."""
    from baserate.measure import named_group

    several = len(read.models) > 1
    for model, group, tally in read.walk():
        named = {"model": model if several else None, "group": named_group(read, group)}
        missing = [name for name in ("positives", "negatives") if not getattr(tally, name)]
        if missing:
            unknown = dict.fromkeys(("threshold", "cost", "trivial", "expected_cost"))
            yield named | unknown | {"why": f"there are no {missing[0]}"}
        else:
            yield named | _cheapest(tally, costing, place["probability_cost"]) | {"why": None}


def _cheapest(tally: "Tally", costing: Costing, x: float) -> dict[str, float]:
    from baserate import Curve, decide, shift
    from baserate.measure import expected_cost, fnr, fpr

    costs, prevalence = costing.costs, costing.prevalence
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
