"""`baserate hull`: the ROC convex hull of several models, mixtures, likelihood ratios, and pages of them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from math import isfinite, isnan
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._formatting import format_count, format_exact, format_level, format_number
from baserate.cli._decision_curves import model_of
from baserate.cli._declarations import Output, command, hide, option
from baserate.cli._io import headline, print_notes, print_results, read_rows, read_tallies
from baserate.cli._options import OutcomeCosts, Reading
from baserate.cli._values import CELLS, read_level, read_prevalence, read_share
from baserate.text import (
    Cell,
    Footnotes,
    IntervalCell,
    Page,
    Row,
    Section,
    Table,
    TidyRow,
    estimate_cell,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._costs import Costs
    from baserate._counts import Counts
    from baserate._curve import Curve
    from baserate._results import Results
    from baserate._tally import Tallies
    from baserate.decide import ClassifierMixture, ROCConvexHull, Vertex

FEW = 20
"""Vertices of a front, or pools of a score, that a person wants to read."""
_ENDS = ("none", "all")
_NUMBERS = {"fpr": "FPR", "tpr": "TPR", "cost": "per case", "chance": "chance"}
_RANGES = {"slope": "slope", "ratio": "cost ratio", "prevalence": "prevalence"}
_RATES = {"fpr": "false positive rate", "tpr": "true positive rate"}
_BELOW = {"gap": "gap", "factor": "factor", "area": "area"}
_TURNED = {"auc": "AUC", "reversed_auc": "AUC reversed", "fpr": "FPR reversed", "tpr": "TPR reversed"}


def describe_omissions(results: "Results") -> Iterator[str]:
    """Say that a table to read does not hold all, if so."""
    lines = results.rows()
    if "classifier" in results.columns:
        every = len(_vertices(lines))
        shown = len(_few_vertices(lines))
        if shown < every:
            yield f"{shown} of {every} vertices are shown; --format csv has all."
    if "upper" in results.columns:
        longest = max(map(len, _by_model(lines).values()))
        if longest > FEW:
            yield f"at most {FEW} ranges of each score are shown; --format csv has all, up to {longest}."


def hull_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Lay out a hull: models on it, models below it, and models that are better reversed."""
    from baserate.text import split_when_narrow

    lines, reasons = results.rows(), Footnotes()
    numbers = [name for name in _NUMBERS if name in results.columns]
    ranges = [name for name in _RANGES if f"{name}_from" in results.columns]
    heads = ("threshold", *(_NUMBERS[name] for name in numbers), *(_RANGES[name] for name in ranges))
    rows = [Row(_name(line), tuple(_cells(line, numbers, ranges, digits))) for line in _few_vertices(lines)]
    panels: list[Table | str] = [*_sentences(results, digits)]
    panels += [split_when_narrow(Table("ever the best", heads, (Section("", tuple(rows)),)))]
    panels += [*_never(results, reasons, digits), *_below_diagonal(results.data, digits)]
    return Page(headline(reading, results.data), tuple(panels), (*reasons.footnotes(), *_legend(results, digits)))


def _cells(line: TidyRow, numbers: Sequence[str], ranges: Sequence[str], digits: int) -> Iterator[Cell]:
    yield "" if line["threshold"] is None else format_exact(line["threshold"])
    yield from (format_number(line[name], digits) for name in numbers)
    for name in ranges:
        yield IntervalCell("", *(format_number(line[f"{name}_{end}"], digits) for end in ("from", "to")))


def _vertices(lines: Sequence[TidyRow]) -> list[TidyRow]:
    return [line for line in lines if line["fpr"] is not None]


def _few_vertices(lines: Sequence[TidyRow]) -> list[TidyRow]:
    """Vertices to read, spread evenly along the front; each model that is at some of them is at one of these."""
    every = _vertices(lines)
    first: dict[str | None, int] = {None: 0}
    for at, line in enumerate(every):
        for name in (line["classifier"], line["others"]):
            first.setdefault(name, at)
    kept = {*_spread([[line[name] for line in every] for name in ("fpr", "tpr")]), *first.values()}
    return [line for at, line in enumerate(every) if at in kept]


def _spread(columns: Sequence[Sequence[float]]) -> list[int]:
    import numpy as np

    from baserate.measure import thin_points

    indices: list[int] = thin_points([np.array(column) for column in columns], FEW).tolist()
    return indices


def _name(line: TidyRow) -> str:
    """Format the name of a vertex, with other models at the same point."""
    own = shorten_label(line["classifier"]) + (" (reversed)" if line["reversed"] else "")
    return f"{own}, {shorten_label(line['others'])}" if line["others"] else own


def _sentences(results: "Results", digits: int) -> Iterator[str]:
    """What is best at the costs and the prevalence, and how to reach a rate."""
    at = results.data.get("at", {})
    if "best" in at:
        yield (
            f"Cheapest at a prevalence of {format_exact(at['prevalence'])} and costs of {_costs(at)}: "
            f"{describe_vertex(at['best'])}. "
            f"A case costs {format_number(at['cost'], digits)} on average; the slope there is "
            f"{format_number(at['slope'], digits)}."
        )
    if "hybrid" in results.data:
        yield describe_mixture(results.data["hybrid"], digits)


def _costs(at: TidyRow) -> str:
    return ", ".join(f"{name} {format_exact(at[name])}" for name in ("fp", "fn", "tp", "tn"))


def describe_vertex(vertex: TidyRow) -> str:
    """What is done at a vertex, in words.

    >>> describe_vertex({"classifier": "risk", "threshold": 0.5, "reversed": True})
    'flag risk < 0.5'
    >>> describe_vertex({"classifier": "all"})
    'flag everything'
    """
    if vertex["classifier"] in _ENDS:
        return "flag nothing" if vertex["classifier"] == "none" else "flag everything"
    name = shorten_label(vertex["classifier"])
    if vertex["threshold"] is None:
        return f"flag what {name} {'passes' if vertex['reversed'] else 'flags'}"
    return f"flag {name} {'<' if vertex['reversed'] else '≥'} {format_exact(vertex['threshold'])}"


def describe_mixture(hybrid: TidyRow, digits: int) -> str:
    """How to reach a rate, in words."""
    wanted = hybrid["wanted"]
    other = next(name for name in _RATES if name != wanted)
    reached = (
        f"A {_RATES[wanted]} of {format_number(hybrid[wanted], digits)}, with a {_RATES[other]} of "
        f"{format_number(hybrid[other], digits)}"
    )
    cost = f" A case costs {format_number(hybrid['cost'], digits)} on average." if "cost" in hybrid else ""
    chance = hybrid["chance"]
    if chance in (0, 1):
        return f"{reached}: {describe_vertex(hybrid['lax' if chance else 'strict'])}.{cost}"
    lots = f"draw lots for each case: in {format_number(100 * chance, digits)} % {describe_vertex(hybrid['lax'])}"
    return f"{reached}: {lots}, otherwise {describe_vertex(hybrid['strict'])}.{cost}"


def _never(results: "Results", reasons: Footnotes, digits: int) -> Iterator[Table | str]:
    from baserate.text import split_when_narrow

    below = [line for line in results.rows() if line["fpr"] is None]
    columns = results.data["columns"]
    if not below:
        if len(columns.get("score", ())) + ("predicted" in columns) > 1:
            yield "Each model is among the best somewhere."
        return

    def format_cell(line: TidyRow, name: str) -> str:
        if line[name] is None:
            return reasons.mark_undefined("all scores are equal, so that they can only flag nothing or everything")
        return format_number(line[name], digits)

    rows = tuple(
        Row(shorten_label(line["classifier"]), tuple(format_cell(line, name) for name in _BELOW)) for line in below
    )
    yield split_when_narrow(Table("never the best", tuple(_BELOW.values()), (Section("", rows),)))


def _below_diagonal(data: TidyRow, digits: int) -> Iterator[Table]:
    from baserate.text import split_when_narrow

    heads = {name: head for name, head in _TURNED.items() if any(each[name] is not None for each in data["reversible"])}
    rows = tuple(
        Row(
            shorten_label(each["classifier"]),
            tuple("" if each[name] is None else format_number(each[name], digits) for name in heads),
        )
        for each in data["reversible"]
    )
    if rows:
        yield split_when_narrow(Table("below the diagonal", tuple(heads.values()), (Section("", rows),)))


def _legend(results: "Results", digits: int) -> Iterator[str]:
    data, at = results.data, results.data.get("at", {})
    yield f"none, all: flag nothing, flag everything. Area under the front: {format_number(data['auc'], digits)}"
    yield (
        "slope: what false alarms cost times the share of negatives, over what misses cost times that of positives; a "
        "row is the best below the first slope and from the second on"
    )
    if "ratio_from" in results.columns:
        there = f"at a prevalence of {format_exact(at['prevalence'])}"
        yield f"cost ratio: so many false alarms cost as much as a miss, {there}; above the first and up to the second"
    if "prevalence_from" in results.columns:
        yield f"prevalence: at costs of {_costs(at)}; above the first and up to the second"
    if "cost" in results.columns:
        yield "per case: mean cost at these costs and that prevalence"
    if "chance" in results.columns:
        yield "chance: of using a row in the mixture"
    yield from _below_legend(results)


def _below_legend(results: "Results") -> Iterator[str]:
    if any(line["fpr"] is None for line in results.rows()):
        yield (
            "gap: how much higher the TPR of the front is at the same FPR; factor: how many times as dear as the best "
            "it is; both at the threshold and the slope that are kindest to it"
        )
        yield "area: how much larger the area under the front is than that of the model alone"
    if results.data["reversible"]:
        how = "it takes part reversed, too" if results.data["reverse"] else "--reverse lets it take part so"
        yield f"below the diagonal: better with what it passes flagged; {how}"


def ratios_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Lay out likelihood ratios, a section for each model."""
    from baserate.text import split_when_narrow

    reasons, sections = Footnotes(), []
    for lines in _by_model(results.rows()).values():
        rows = tuple(Row(_range(line), tuple(_pool(line, reasons, digits))) for line in _few_pools(lines))
        sections.append(Section(model_of(lines[0], results), rows))
    heads = ("positives", "negatives", "likelihood ratio", "posterior")
    panel = split_when_narrow(Table("scores", heads, tuple(sections)))
    return Page(headline(reading, results.data), (panel,), (*reasons.footnotes(), *_ratios_legend(results)))


def _by_model(lines: Sequence[TidyRow]) -> dict[str | None, list[TidyRow]]:
    by_model: dict[str | None, list[TidyRow]] = {}
    for line in lines:
        by_model.setdefault(line["model"], []).append(line)
    return by_model


def _few_pools(lines: Sequence[TidyRow]) -> list[TidyRow]:
    along = []
    for name in ("positives", "negatives"):
        running = list(accumulate(line[name] for line in lines))
        along.append([each / running[-1] for each in running])
    return [lines[at] for at in _spread(along)]


def _range(line: TidyRow) -> str:
    low, high = format_exact(line["lower"]), format_exact(line["upper"])
    return low if low == high else f"{low} – {high}"


def _pool(line: TidyRow, reasons: Footnotes, digits: int) -> Iterator[Cell]:
    yield from (format_count(line[name], digits) for name in ("positives", "negatives"))
    yield estimate_cell({**line, "value": line["ratio"], "why": None}, reasons, digits=digits, several=True)
    yield format_number(line["posterior"], digits)


def _ratios_legend(results: "Results") -> Iterator[str]:
    at = results.data.get("at")
    where = f"a prevalence of {format_exact(at['prevalence'])}" if at else "the prevalence of the rows"
    yield "likelihood ratio: how many times as frequent such scores are among positives as among negatives"
    yield f"posterior: share of positives among such scores, at {where}"
    sure = format_level(results.data["level"])
    yield (
        f"{sure} % intervals: of a ratio of shares on a logarithmic scale, as if the ranges had been fixed "
        "beforehand. They were chosen so that ratios fall; the first tend to be too high, the last too low."
    )


def weights_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Lay out the best weights of two scores."""
    from baserate.text import split_when_narrow

    (line,) = results.rows()
    reasons = Footnotes()
    both = format_weighted_sum(line, digits)
    held_out = (
        reasons.mark_undefined(line["why"]) if line["held_out"] is None else format_number(line["held_out"], digits)
    )
    rows = (
        Row(f"{shorten_label(line['first'])} alone", (format_number(line["first_auc"], digits),)),
        Row(f"{shorten_label(line['second'])} alone", (format_number(line["second_auc"], digits),)),
        Row("both, on these rows", (format_number(line["auc"], digits),), "Too high: the weights were chosen on them."),
        Row("both, held out", (held_out,), "Mean over folds that had no part in the choice of their weights."),
    )
    exact = "No weights give a higher AUC on these rows."
    tried = "There are too many pairs to compare them all, so this is the best of the weights that were tried."
    sentence = f"Rank by {both}. {exact if line['exact'] else tried}"
    panel = split_when_narrow(Table("AUC", ("",), (Section("", rows),)))
    return Page(headline(reading, results.data), (sentence, panel), reasons.footnotes())


def format_weighted_sum(line: TidyRow, digits: int) -> str:
    """The weighted sum, as one writes it.

    >>> format_weighted_sum({"first": "a", "first_weight": -1.0, "second": "b", "second_weight": 0.373}, 2)
    '−a + 0.37·b'
    """
    parts: list[str] = []
    for which in ("first", "second"):
        weight = line[f"{which}_weight"]
        if weight == 0:
            continue
        size = "" if abs(weight) == 1 else f"{format_number(abs(weight), digits)}·"
        sign = ("− " if weight < 0 else "+ ") if parts else ("−" if weight < 0 else "")
        parts.append(f"{sign}{size}{shorten_label(line[which])}")
    return " ".join(parts)


_MIDDLE = 0.5
_LEVEL = 0.95
_POINT = ("fpr", "tpr")
CHOSEN = "the thresholds were chosen on these very rows, which flatters them: take them to others."
_TWO = "--combine takes two scores, and there {}; name two, each with --score."

_EXAMPLES = (
    ("the models and thresholds on the hull", "baserate hull people.csv --truth sick --score risk --score old"),
    (
        "a false negative costs 20 false positives, at a prevalence of 2 %",
        "baserate hull people.csv --truth sick --score risk --score old --fp 1 --fn 20 --prevalence 0.02",
    ),
    (
        "a mixture with a false positive rate of 10 %",
        "baserate hull people.csv --truth sick --score risk --predicted says --fpr 10%",
    ),
    (
        "likelihood ratios of a score",
        "baserate hull people.csv --truth sick --score risk --ratios --prevalence 0.02",
    ),
    ("the best weights of two scores", "baserate hull people.csv --truth sick --score risk --score old --combine"),
)


def _read_rate(text: str) -> float:
    told = f"{text!r} is no rate to reach; give a number from 0 to 1, such as 0.1 or 10%."
    return read_share(text, told, ends=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class HullOptions(OutcomeCosts):
    """Options of a hull: costs and prevalence, a rate to reach, likelihood ratios or weights instead."""

    reverse: Annotated[bool, option(help="Models below the diagonal take part with their order reversed.")] = False
    prevalence: Annotated[
        float | None,
        option(
            type=read_prevalence,
            metavar="SHARE",
            help="Prevalence in deployment, such as 0.02 or 2%: cost ratios at which each model is the best.",
        ),
    ] = None
    fpr: Annotated[
        float | None,
        option(type=_read_rate, metavar="SHARE", help="False positive rate that a mixture of models reaches."),
    ] = None
    tpr: Annotated[
        float | None,
        option(type=_read_rate, metavar="SHARE", help="True positive rate that a mixture of models reaches."),
    ] = None
    ratios: Annotated[bool, option(help="Likelihood ratios of scores instead: the slopes of each model's hull.")] = (
        False
    )
    combine: Annotated[bool, option(help="Weights of two scores whose sum has the highest AUC instead.")] = False
    level: Annotated[
        float | None,
        option(
            type=read_level,
            metavar="SHARE",
            default=f"{_LEVEL}",
            help="Confidence level of --ratios, such as 0.9 or 90%.",
        ),
    ] = None

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
    def point(self) -> dict[str, float]:
        """The rate that is to be reached, if any."""
        return {name: getattr(self, name) for name in _POINT if getattr(self, name) is not None}


@command("hull", examples=_EXAMPLES)
def hull(reading: Annotated[Reading, hide("group")], hull_options: HullOptions, output: Output) -> None:
    """Find the models and thresholds on the ROC convex hull.

    A model below the convex hull of all ROC curves costs more than some other model, at any costs and any prevalence.
    Two neighbors on the hull can be mixed at random.
    """
    _check(reading, hull_options)  # before reading, so that errors come at once
    if hull_options.combine:
        results, page = _combine_scores(reading, quiet=output.quiet), weights_page
    elif hull_options.ratios:
        results, page = _ratios(read_tallies(reading, quiet=output.quiet), hull_options), ratios_page
    else:
        results, page = _compute_hull(read_tallies(reading, quiet=output.quiet), hull_options), hull_page
    if output.form in {"table", "md"}:
        results = replace(
            results, data={**results.data, "notes": [*results.data["notes"], *describe_omissions(results)]}
        )
    print_notes(reading, results.data, output)
    print_results(results, lambda: page(results, reading, output.digits), output)


def _check(reading: Reading, hull_options: HullOptions) -> None:
    if reading.group:
        raise click.UsageError("--group has no use here; give a file with the rows of one group, or leave it out.")
    if hull_options.combine:
        if reading.predicted:
            raise click.UsageError("--predicted has no use beside --combine, which takes two scores; leave it out.")
        # What a name begins with may name many.
        if not any(name.endswith("*") for name in reading.score):
            _check_two(reading.score)
    costs = hull_options.outcome_costs
    if costs is None:
        return
    from baserate.decide import probability_cost

    probability_cost(costs, _MIDDLE if hull_options.prevalence is None else hull_options.prevalence)
    if hull_options.prevalence is None and not _both_cost(costs):
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


def _compute_hull(read: "Tallies", hull_options: HullOptions) -> "Results":
    """Compute the hull, and what the options request of it."""
    from baserate import decide
    from baserate._results import Results
    from baserate.measure import results_data

    hull = decide.roc_convex_hull(_classifiers(read), reverse=hull_options.reverse)
    table = hull.results()
    below = [None] * len(hull.dominated)
    more = {name: [*column, *below] for name, column in _more_columns(hull, hull_options)}
    reversible = [asdict(each) | {"reversed_auc": each.reversed_auc} for each in hull.reversible]
    told = {"auc": hull.auc, "reverse": hull_options.reverse, "reversible": reversible, **_place(hull, hull_options)}
    chosen = any(each.threshold is not None and isfinite(each.threshold) for each in hull.vertices)
    return Results({**table.columns, **more}, {**results_data(read, [CHOSEN] * chosen), **told})


def _classifiers(read: "Tallies") -> "dict[str, Counts[float] | Curve]":
    """Scores at all of their thresholds; labels are one point."""
    from baserate import Curve

    curves = {model: Curve(read.pooled(model)) for model in read.models}
    labels = read.intake.columns.get("predicted")
    return {model: each.at(_MIDDLE) if model == labels else each for model, each in curves.items()}


def _more_columns(made: "ROCConvexHull", hull_options: HullOptions) -> Iterator[tuple[str, list[Any]]]:
    """More columns for the vertices: where each is the best, what it costs, how often a mixture uses it."""
    costs, prevalence = hull_options.outcome_costs, hull_options.prevalence
    if prevalence is not None:
        yield from ((name, list(made.ranges(prevalence).columns[name])) for name in ("ratio_from", "ratio_to"))
    if costs is not None and _both_cost(costs):
        ranges = made.prevalences(costs).columns
        yield from ((name, list(ranges[name])) for name in ("prevalence_from", "prevalence_to"))
    if costs is not None and prevalence is not None:
        yield "cost", [each.cost(costs, prevalence) for each in made.vertices]
    if hull_options.point:
        mixed = made.mixture(**hull_options.point)
        chances = {mixed.strict: 1 - mixed.chance, mixed.lax: mixed.chance}
        yield "chance", [chances.get(each, 0.0) for each in made.vertices]


def _place(made: "ROCConvexHull", hull_options: HullOptions) -> dict[str, Any]:
    """Describe the best vertex at the costs and the prevalence, and the mixture that reaches a rate."""
    costs, prevalence = hull_options.outcome_costs, hull_options.prevalence
    at: dict[str, Any] = {} if prevalence is None else {"prevalence": prevalence}
    at |= {} if costs is None else {name: getattr(costs, name) for name in CELLS}
    if costs is not None and prevalence is not None:
        best = made.at(costs, prevalence)
        at |= {"slope": costs.slope(prevalence), "best": _vertex_contents(best), "cost": best.cost(costs, prevalence)}
    header = {"at": at} if at else {}
    return header | (
        {"hybrid": _mixture_contents(made.mixture(**hull_options.point), hull_options)} if hull_options.point else {}
    )


def _mixture_contents(mixed: "ClassifierMixture", hull_options: HullOptions) -> dict[str, Any]:
    costs, prevalence = hull_options.outcome_costs, hull_options.prevalence
    ends = {"strict": _vertex_contents(mixed.strict), "lax": _vertex_contents(mixed.lax)}
    contents = {
        "wanted": next(iter(hull_options.point)),
        **ends,
        "chance": mixed.chance,
        "fpr": mixed.fpr,
        "tpr": mixed.tpr,
    }
    return contents | ({} if costs is None or prevalence is None else {"cost": mixed.cost(costs, prevalence)})


def _vertex_contents(vertex: "Vertex") -> dict[str, Any]:
    return {name: getattr(vertex, name) for name in ("classifier", "threshold", "reversed", "fpr", "tpr")}


def _ratios(read: "Tallies", hull_options: HullOptions) -> "Results":
    """Likelihood ratios of each model's pools of scores, highest first."""
    from baserate import Curve, decide
    from baserate._results import Results
    from baserate.measure import concatenate, results_data

    level = _LEVEL if hull_options.level is None else hull_options.level
    parts = []
    for model in read.models:
        pools = decide.hull_likelihood_ratios(
            Curve(read.pooled(model)), prevalence=hull_options.prevalence, level=level
        )
        size = len(pools["ratio"])
        parts.append({"model": [model if len(read.models) > 1 else None] * size, **pools, "level": [level] * size})
    columns = {name: concatenate([part[name] for part in parts]) for name in parts[0]}
    at = {} if hull_options.prevalence is None else {"at": {"prevalence": hull_options.prevalence}}
    return Results(columns, {**results_data(read, []), "level": level, **at})


def _combine_scores(reading: Reading, *, quiet: bool) -> "Results":
    """The best weights of two scores."""
    from baserate import decide
    from baserate._results import Results
    from baserate.measure import results_data

    read = read_rows(reading, quiet=quiet)
    _check_two(tuple(read.score))
    combination = decide.combine_scores(read)
    both = ("first", "second")
    row = {
        **dict(zip(both, combination.names, strict=True)),
        **{f"{name}_weight": weight for name, weight in zip(both, combination.weights, strict=True)},
        **{f"{name}_auc": alone for name, alone in zip(both, combination.single_aucs, strict=True)},
        **{name: getattr(combination, name) for name in ("auc", "held_out", "exact")},
        "why": "there are too few rows of a class to hold some out" if isnan(combination.held_out) else None,
    }
    return Results({name: [value] for name, value in row.items()}, results_data(read.tallies(), []))
