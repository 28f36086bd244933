"""`baserate hull`: read, tell which models are ever the best, mix them, and combine scores."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

import click

from baserate.cli._ask import answer, explain, rows, tallies
from baserate.cli._options import Reading, Verb, Writing, bundled, command, level, share, ungrouped, writing
from baserate.cli._prices import CELLS, PRICES, costs_of, prevalence

if TYPE_CHECKING:
    from baserate._costs import Costs
    from baserate._counts import Counts
    from baserate._curve import Curve
    from baserate._results import Results
    from baserate._tally import Tallies
    from baserate.decide import Front, Hybrid, Vertex

_MIDDLE = 0.5
_LEVEL = 0.95
_POINT = ("fpr", "tpr")
CHOSEN = "the thresholds were chosen on these very rows, which flatters them: take them to others."
_TWO = "--combine takes two scores, and there {}; name two, each with --score."

_EXAMPLES = (
    ("which is ever the best?", "baserate hull people.csv --truth sick --score risk --score old"),
    (
        "where a miss costs 20 false alarms, and 2 % are sick",
        "baserate hull people.csv --truth sick --score risk --score old --fp 1 --fn 20 --prevalence 0.02",
    ),
    (
        "a mixture with a false positive rate of 10 %",
        "baserate hull people.csv --truth sick --score risk --predicted says --fpr 10%",
    ),
    (
        "how much does a score tell? likelihood ratios",
        "baserate hull people.csv --truth sick --score risk --ratios --prevalence 0.02",
    ),
    ("the best weights of two scores", "baserate hull people.csv --truth sick --score risk --score old --combine"),
)


@dataclass(frozen=True, slots=True)
class Hulling:
    """Who takes part, where it will be used, which point is to be reached; or what is asked instead."""

    reverse: bool
    prevalence: float | None
    fp: float | None
    fn: float | None
    tp: float | None
    tn: float | None
    fpr: float | None
    tpr: float | None
    ratios: bool
    combine: bool
    level: float | None

    def __post_init__(self) -> None:
        if self.ratios and self.combine:
            raise click.UsageError("--ratios and --combine are two questions; ask one at a time.")
        if self.fpr is not None and self.tpr is not None:
            raise click.UsageError("--fpr and --tpr both say which point is to be reached; give one of them.")
        mode = "--combine" if self.combine else "--ratios"
        for name in self._idle():
            if not (self.combine or self.ratios):
                raise click.UsageError(f"--{name} is for likelihood ratios; add --ratios, or leave it out.")
            raise click.UsageError(f"--{name} has no use beside {mode}; leave out one of them.")

    def _idle(self) -> Iterator[str]:
        """Options that were given, and would change nothing."""
        if self.combine:
            idle: tuple[str, ...] = ("reverse", "prevalence", *CELLS, *_POINT, "level")
        else:
            idle = ("reverse", *CELLS, *_POINT) if self.ratios else ("level",)
        given = ((name, getattr(self, name)) for name in idle)
        return (name for name, value in given if value is not None and value is not False)  # 0 is a rate

    @property
    def costs(self) -> "Costs | None":
        """Costs, if any of them were given."""
        return costs_of(self)

    @property
    def point(self) -> dict[str, float]:
        """The rate that is to be reached, if any."""
        return {name: getattr(self, name) for name in _POINT if getattr(self, name) is not None}


def _rate(text: str) -> float:
    told = f"{text!r} is no rate to reach; give a number from 0 to 1, such as 0.1 or 10%."
    return share(text, told, ends=True)


def _hulling(verb: Verb) -> Verb:
    return bundled(verb, Hulling, "hulling", _HULLING)


_HULLING = (
    click.option("--reverse", is_flag=True, help="Let models below the diagonal take part with their order reversed."),
    click.option(
        "--prevalence",
        type=prevalence,
        metavar="SHARE",
        help="Share of positives where it will be used, such as 0.02 or 2%: for which costs each is the best there.",
    ),
    *PRICES,
    click.option("--fpr", type=_rate, metavar="SHARE", help="Mix two models to reach this false positive rate."),
    click.option("--tpr", type=_rate, metavar="SHARE", help="Mix two models to reach this true positive rate."),
    click.option(
        "--ratios", is_flag=True, help="Tabulate likelihood ratios of scores instead: the slopes of each model's hull."
    ),
    click.option(
        "--combine", is_flag=True, help="Find the weights of two scores whose sum has the highest AUC instead."
    ),
    click.option(
        "--level",
        type=level,
        metavar="SHARE",
        help=f"Confidence of intervals of --ratios, such as 0.9 or 90%; otherwise {_LEVEL}.",
    ),
)


@command("hull", examples=_EXAMPLES)
@ungrouped
@_hulling
@writing
def hull(reading: Reading, hulling: Hulling, writing: Writing) -> None:
    """Tell which models are ever the best, at which thresholds, and for which costs and prevalences.

    Whoever is below the convex hull of all ROC curves is dearer than some other model, whatever errors cost and however
    frequent positives are. Two neighbours on the hull can be mixed by drawing lots. FILE is a CSV, TSV, Parquet,
    JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    from baserate.cli import _hulls

    _check(reading, hulling)  # before reading, so that a slip is told at once
    if hulling.combine:
        found, page = _combined(reading, quiet=writing.quiet), _hulls.combined_page
    elif hulling.ratios:
        found, page = _ratios(tallies(reading, quiet=writing.quiet), hulling), _hulls.ratios_page
    else:
        found, page = _front(tallies(reading, quiet=writing.quiet), hulling), _hulls.page
    if writing.form in {"table", "md"}:
        found = replace(found, data={**found.data, "notes": [*found.data["notes"], *_hulls.left_out(found)]})
    explain(reading, found.data, writing)
    answer(found, lambda: page(found, reading, writing.digits), writing)


def _check(reading: Reading, hulling: Hulling) -> None:
    if reading.group:
        raise click.UsageError("--group has no use here; give a file with the rows of one group, or leave it out.")
    if hulling.combine:
        if reading.predicted:
            raise click.UsageError("--predicted has no use beside --combine, which takes two scores; leave it out.")
        # What a name begins with may name many.
        if not any(name.endswith("*") for name in reading.score):
            _check_two(reading.score)
    costs = hulling.costs
    if costs is None:
        return
    from baserate.decide import probability_cost

    probability_cost(costs, _MIDDLE if hulling.prevalence is None else hulling.prevalence)
    if hulling.prevalence is None and not _both_cost(costs):
        raise click.UsageError(
            "one kind of error costs nothing, so that the prevalence changes nothing; add --prevalence to see what is "
            "best, or give both a cost."
        )


def _check_two(names: Sequence[str]) -> None:
    if len(set(names)) != 2:
        count = len(set(names))
        raise click.UsageError(_TWO.format("is 1" if count == 1 else f"are {count or 'none'}"))


def _both_cost(costs: "Costs") -> bool:
    return costs.fp > costs.tn and costs.fn > costs.tp


def _front(read: "Tallies", hulling: Hulling) -> "Results":
    """Who is ever the best and who never is, and what was asked about that."""
    from baserate import decide
    from baserate._results import Results
    from baserate.measure import header

    made = decide.front(_classifiers(read), reverse=hulling.reverse)
    table = made.results()
    below = [None] * len(made.dominated)
    more = {name: [*column, *below] for name, column in _asked(made, hulling)}
    reversible = [asdict(each) | {"reversed_auc": each.reversed_auc} for each in made.reversible]
    told = {"auc": made.auc, "reverse": hulling.reverse, "reversible": reversible, **_place(made, hulling)}
    chosen = any(each.threshold is not None and isfinite(each.threshold) for each in made.vertices)
    return Results({**table.columns, **more}, {**header(read, [CHOSEN] * chosen), **told})


def _classifiers(read: "Tallies") -> "dict[str, Counts[float] | Curve]":
    """Scores at all of their thresholds; labels are one point."""
    from baserate import Curve

    curves = {model: Curve(read.pooled(model)) for model in read.models}
    labels = read.intake.columns.get("predicted")
    return {model: each.at(_MIDDLE) if model == labels else each for model, each in curves.items()}


def _asked(made: "Front", hulling: Hulling) -> Iterator[tuple[str, list[Any]]]:
    """More columns for the vertices: where each is the best, what it costs, how often a mixture uses it."""
    costs, there = hulling.costs, hulling.prevalence
    if there is not None:
        yield from ((name, list(made.ranges(there).columns[name])) for name in ("ratio_from", "ratio_to"))
    if costs is not None and _both_cost(costs):
        ranges = made.prevalences(costs).columns
        yield from ((name, list(ranges[name])) for name in ("prevalence_from", "prevalence_to"))
    if costs is not None and there is not None:
        yield "cost", [each.cost(costs, there) for each in made.vertices]
    if hulling.point:
        mixed = made.mixture(**hulling.point)
        chances = {mixed.strict: 1 - mixed.chance, mixed.lax: mixed.chance}
        yield "chance", [chances.get(each, 0.0) for each in made.vertices]


def _place(made: "Front", hulling: Hulling) -> dict[str, Any]:
    """Where it will be used and what is best there, and the mixture that was asked for."""
    costs, there = hulling.costs, hulling.prevalence
    at: dict[str, Any] = {} if there is None else {"prevalence": there}
    at |= {} if costs is None else {name: getattr(costs, name) for name in CELLS}
    if costs is not None and there is not None:
        best = made.at(costs, there)
        at |= {"slope": costs.slope(there), "best": _told(best), "cost": best.cost(costs, there)}
    told = {"at": at} if at else {}
    return told | ({"hybrid": _mixed(made.mixture(**hulling.point), hulling)} if hulling.point else {})


def _mixed(mixed: "Hybrid", hulling: Hulling) -> dict[str, Any]:
    costs, there = hulling.costs, hulling.prevalence
    ends = {"strict": _told(mixed.strict), "lax": _told(mixed.lax)}
    found = {"wanted": next(iter(hulling.point)), **ends, "chance": mixed.chance, "fpr": mixed.fpr, "tpr": mixed.tpr}
    return found | ({} if costs is None or there is None else {"cost": mixed.cost(costs, there)})


def _told(vertex: "Vertex") -> dict[str, Any]:
    return {name: getattr(vertex, name) for name in ("classifier", "threshold", "reversed", "fpr", "tpr")}


def _ratios(read: "Tallies", hulling: Hulling) -> "Results":
    """Likelihood ratios of each model's pools of scores, highest first."""
    from baserate import Curve, decide
    from baserate._results import Results
    from baserate.measure import header, joined

    sure = _LEVEL if hulling.level is None else hulling.level
    parts = []
    for model in read.models:
        pools = decide.slopes(Curve(read.pooled(model)), prevalence=hulling.prevalence, level=sure)
        size = len(pools["ratio"])
        parts.append({"model": [model if len(read.models) > 1 else None] * size, **pools, "level": [sure] * size})
    columns = {name: joined([part[name] for part in parts]) for name in parts[0]}
    at = {} if hulling.prevalence is None else {"at": {"prevalence": hulling.prevalence}}
    return Results(columns, {**header(read, []), "level": sure, **at})


def _combined(reading: Reading, *, quiet: bool) -> "Results":
    """The best weights of two scores."""
    from baserate import decide
    from baserate._results import Results
    from baserate.measure import header

    read = rows(reading, quiet=quiet)
    _check_two(tuple(read.score))
    found = decide.combined(read)
    both = ("first", "second")
    row = {
        **dict(zip(both, found.names, strict=True)),
        **{f"{name}_weight": weight for name, weight in zip(both, found.weights, strict=True)},
        **{f"{name}_auc": alone for name, alone in zip(both, found.alone, strict=True)},
        **{name: getattr(found, name) for name in ("auc", "held_out", "exact")},
        "why": "there are too few rows of a class to hold some out" if isnan(found.held_out) else None,
    }
    return Results({name: [value] for name, value in row.items()}, header(read.tallies(), []))
