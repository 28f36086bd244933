"""`baserate hull`: the ROC convex hull of several models, mixtures, likelihood ratios, and pages of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated

import click

from baserate._formatting import format_exact, format_level, format_number
from baserate.cli._decision_curves import model_name
from baserate.cli._declarations import Output, command, hide, option, refuse_given
from baserate.cli._io import headline, read_rows, read_tallies, report_results
from baserate.cli._options import ConfidenceLevel, OutcomeCosts, PrevalenceShare, Reading
from baserate.cli._values import CELLS, read_share
from baserate.text import (
    Cell,
    CellFormatter,
    CellWriter,
    Explanation,
    IntervalCell,
    Page,
    Row,
    Section,
    Table,
    TidyRow,
    list_table,
    shorten_label,
    split_when_narrow,
)

if TYPE_CHECKING:
    from baserate._results import Results

FEW = 20
"""Vertices of a hull, or pools of a score, that a table shows."""
_ENDS = {"none": "flag nothing", "all": "flag everything"}
_NUMBERS = {"fpr": "FPR", "tpr": "TPR", "cost": "per case", "chance": "chance"}
_RANGES = {"slope": "slope", "ratio": "cost ratio", "prevalence": "prevalence"}
_RATES = {"fpr": "false positive rate", "tpr": "true positive rate"}
_DOMINATED = {"gap": "gap", "factor": "factor", "area": "area"}
_REVERSED = {"auc": "AUC", "reversed_auc": "AUC reversed", "fpr": "FPR reversed", "tpr": "TPR reversed"}
_CONSTANT = "all scores are equal, so that they can only flag nothing or everything"
_LEGENDS = {
    "cost": "per case: mean cost at these costs and that prevalence",
    "chance": "chance: probability of a row in the mixture",
}
_SLOPE = (
    "slope: cost of a false positive times the share of negatives, divided by cost of a false negative times the share "
    "of positives; a row is the best below the first slope and from the second on"
)
_GAP = (
    "gap: how much higher the TPR of the hull is at the same FPR; factor: cost as a multiple of the least; both at the "
    "threshold and the slope that favor the model most"
)
_RATIO_INTERVALS = (
    "{}% intervals: of a ratio of shares on a logarithmic scale, as if the ranges had been fixed beforehand. They "
    "were chosen so that ratios fall; the first tend to be too high, the last too low."
)


def describe_omissions(results: "Results") -> Iterator[str]:
    """Yield a note where a table does not show all rows."""
    rows = results.rows()
    if "classifier" in results.columns:
        total, shown = len(_vertices(rows)), len(_few_vertices(rows))
        if shown < total:
            yield f"{shown} of {total} vertices are shown; --format csv has all."
    if "upper" in results.columns:
        longest = max(map(len, _by_model(rows).values()))
        if longest > FEW:
            yield f"at most {FEW} ranges of each score are shown; --format csv has all, up to {longest}."


def hull_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Return the page of a hull: models on it, models below it, and models that are better reversed."""
    rows, format_ = results.rows(), CellFormatter(digits)
    columns: dict[str, CellWriter] = {"threshold": _threshold_cell}
    columns |= {head: format_.field(name) for name, head in _NUMBERS.items() if name in results.columns}
    for name, head in _RANGES.items():
        if f"{name}_from" in results.columns:
            columns[head] = partial(_range_cell, format_, name)
    vertices = list_table(_few_vertices(rows), columns, label=_vertex_label, corner="ever the best")
    panels: list[Table | str] = [*_describe_optimum(results, digits), split_when_narrow(vertices)]
    panels += [*_dominated_models(results, format_), *_below_diagonal(results.data["reversible"], format_)]
    notes = (*format_.reasons.footnotes(), *_legend(results, digits))
    return Page(headline(reading, results.data), tuple(panels), notes)


def _threshold_cell(row: TidyRow) -> str:
    return "" if row["threshold"] is None else format_exact(row["threshold"])


def _range_cell(format_: CellFormatter, name: str, row: TidyRow) -> Cell:
    return IntervalCell("", *(format_.number(row[f"{name}_{end}"]) for end in ("from", "to")))


def _model_label(row: TidyRow) -> str:
    return shorten_label(row["classifier"])


def _vertex_label(row: TidyRow) -> str:
    """Return the name of a vertex, with other models at the same point."""
    name = _model_label(row) + (" (reversed)" if row["reversed"] else "")
    return f"{name}, {shorten_label(row['others'])}" if row["others"] else name


def _vertices(rows: Sequence[TidyRow]) -> list[TidyRow]:
    return [row for row in rows if row["fpr"] is not None]


def _few_vertices(rows: Sequence[TidyRow]) -> list[TidyRow]:
    """Return vertices spread evenly along the hull, with at least one of each model on it."""
    vertices = _vertices(rows)
    first: dict[str | None, int] = {None: 0}
    for at, row in enumerate(vertices):
        for name in (row["classifier"], row["others"]):
            first.setdefault(name, at)
    indices = {*_spread_indices([[row[name] for row in vertices] for name in ("fpr", "tpr")]), *first.values()}
    return [row for at, row in enumerate(vertices) if at in indices]


def _spread_indices(columns: Sequence[Sequence[float]]) -> list[int]:
    import numpy as np

    from baserate.measure import thin_points

    indices: list[int] = thin_points([np.array(column) for column in columns], FEW).tolist()
    return indices


def _describe_optimum(results: "Results", digits: int) -> Iterator[str]:
    """Yield the best vertex at the costs and the prevalence, and the mixture that attains a rate."""
    at = results.data.get("at", {})
    if "best" in at:
        cost, slope = (format_number(at[name], digits) for name in ("cost", "slope"))
        yield (
            f"Cheapest at a prevalence of {format_exact(at['prevalence'])} and costs of {_format_costs(at)}: "
            f"{describe_vertex(at['best'])}. Expected cost per case: {cost}; slope of iso-cost lines: {slope}."
        )
    if "hybrid" in results.data:
        yield describe_mixture(results.data["hybrid"], digits)


def _format_costs(at: TidyRow) -> str:
    return ", ".join(f"{name} {format_exact(at[name])}" for name in CELLS)


def describe_vertex(vertex: TidyRow) -> str:
    """Describe the decision at a vertex.

    >>> describe_vertex({"classifier": "risk", "threshold": 0.5, "reversed": True})
    'flag risk < 0.5'
    >>> describe_vertex({"classifier": "all"})
    'flag everything'
    """
    if vertex["classifier"] in _ENDS:
        return _ENDS[vertex["classifier"]]
    name = _model_label(vertex)
    if vertex["threshold"] is None:
        return f"flag what {name} {'passes' if vertex['reversed'] else 'flags'}"
    return f"flag {name} {'<' if vertex['reversed'] else '≥'} {format_exact(vertex['threshold'])}"


def describe_mixture(mixture: TidyRow, digits: int) -> str:
    """Describe the mixture that attains a rate."""
    stated = mixture["wanted"]
    other = next(name for name in _RATES if name != stated)
    rates = [f"a {_RATES[name]} of {format_number(mixture[name], digits)}" for name in (stated, other)]
    chance, lax, strict = mixture["chance"], describe_vertex(mixture["lax"]), describe_vertex(mixture["strict"])
    decision = f"at random, in {format_number(100 * chance, digits)}% of cases {lax}, in the others {strict}"
    if chance in (0, 1):
        decision = lax if chance else strict
    cost = f" Expected cost per case: {format_number(mixture['cost'], digits)}." if "cost" in mixture else ""
    return f"{rates[0].capitalize()}, with {rates[1]}: {decision}.{cost}"


def _dominated_models(results: "Results", format_: CellFormatter) -> Iterator[Table | str]:
    """Yield the models that are optimal nowhere."""
    dominated = [row for row in results.rows() if row["fpr"] is None]
    columns = results.data["columns"]
    if dominated:
        cells = {head: format_.field(name, why=_CONSTANT) for name, head in _DOMINATED.items()}
        yield split_when_narrow(list_table(dominated, cells, label=_model_label, corner="never the best"))
    elif len(columns.get("score", ())) + ("predicted" in columns) > 1:
        yield "Each model is among the best somewhere."


def _below_diagonal(rows: Sequence[TidyRow], format_: CellFormatter) -> Iterator[Table]:
    """Yield the models that are better reversed."""
    names = [name for name in _REVERSED if any(row[name] is not None for row in rows)]
    if rows:
        columns = {_REVERSED[name]: format_.field(name) for name in names}
        yield split_when_narrow(list_table(rows, columns, label=_model_label, corner="below the diagonal"))


def _legend(results: "Results", digits: int) -> Iterator[str]:
    """Yield the meanings of columns."""
    data, at = results.data, results.data.get("at", {})
    yield f"none, all: flag nothing, flag everything. Area under the hull: {format_number(data['auc'], digits)}"
    yield Explanation(_SLOPE)
    if "ratio_from" in results.columns:
        where = f"at a prevalence of {format_exact(at['prevalence'])}"
        ratio = "cost ratio: cost of a false negative in false positives"
        yield Explanation(f"{ratio}, {where}; above the first, up to the second")
    if "prevalence_from" in results.columns:
        yield Explanation(f"prevalence: at costs of {_format_costs(at)}; above the first, up to the second")
    yield from (Explanation(text) for name, text in _LEGENDS.items() if name in results.columns)
    if any(row["fpr"] is None for row in results.rows()):
        yield Explanation(_GAP)
        yield Explanation("area: how much larger the area under the hull is than that of the model alone")
    if data["reversible"]:
        how = "it is included reversed, too" if data["reverse"] else "--reverse includes it reversed"
        yield f"below the diagonal: better if its negatives are flagged instead; {how}"


def ratios_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Return the page of likelihood ratios, with a section for each model."""
    format_, at = CellFormatter(digits), results.data.get("at")
    columns: dict[str, CellWriter] = {name: format_.count_field(name) for name in ("positives", "negatives")}
    columns["likelihood ratio"] = lambda row: format_.estimate({**row, "value": row["ratio"], "why": None})
    columns["posterior"] = format_.field("posterior")
    rows = [row for rows in _by_model(results.rows()).values() for row in _few_pools(rows)]
    table = list_table(rows, columns, label=_score_range, section=lambda row: model_name(row, results), corner="scores")
    where = f"a prevalence of {format_exact(at['prevalence'])}" if at else "the prevalence of the rows"
    level = format_level(results.data["level"])
    legend = (
        Explanation("likelihood ratio: how many times as frequent such scores are among positives as among negatives"),
        f"posterior: share of positives among such scores, at {where}",
        Explanation(_RATIO_INTERVALS.format(level), brief=f"Intervals: {level}% confidence."),
    )
    notes = (*format_.reasons.footnotes(), *legend)
    return Page(headline(reading, results.data), (split_when_narrow(table),), notes)


def _by_model(rows: Sequence[TidyRow]) -> dict[str | None, list[TidyRow]]:
    by_model: dict[str | None, list[TidyRow]] = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(row)
    return by_model


def _few_pools(rows: Sequence[TidyRow]) -> list[TidyRow]:
    """Return pools spread evenly along the ROC curve."""
    running = ([*accumulate(row[name] for row in rows)] for name in ("positives", "negatives"))
    return [rows[at] for at in _spread_indices([[each / sums[-1] for each in sums] for sums in running])]


def _score_range(row: TidyRow) -> str:
    low, high = format_exact(row["lower"]), format_exact(row["upper"])
    return low if low == high else f"{low} – {high}"


def weights_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Return the page of the best weights of two scores."""
    (row,) = results.rows()
    format_ = CellFormatter(digits)
    held_out = format_.mark_undefined(row["why"]) if row["held_out"] is None else format_.number(row["held_out"])
    lines = (
        Row(f"{shorten_label(row['first'])} alone", (format_.number(row["first_auc"]),)),
        Row(f"{shorten_label(row['second'])} alone", (format_.number(row["second_auc"]),)),
        Row("both, on these rows", (format_.number(row["auc"]),), "Too high: the weights were chosen on them."),
        Row("both, held out", (held_out,), "Mean over folds that had no part in the choice of their weights."),
    )
    exact = "No weights give a higher AUC on these rows."
    searched = "There are too many pairs to compare them all, so these are the best weights of a search."
    sentence = f"Rank by {format_weighted_sum(row, digits)}. {exact if row['exact'] else searched}"
    panel = split_when_narrow(Table("AUC", ("",), (Section("", lines),)))
    return Page(headline(reading, results.data), (sentence, panel), format_.reasons.footnotes())


def format_weighted_sum(row: TidyRow, digits: int) -> str:
    """Format the weighted sum of two scores.

    >>> format_weighted_sum({"first": "a", "first_weight": -1.0, "second": "b", "second_weight": 0.373}, 2)
    '−a + 0.37·b'
    """
    parts: list[str] = []
    for which in ("first", "second"):
        weight = row[f"{which}_weight"]
        if weight == 0:
            continue
        size = "" if abs(weight) == 1 else f"{format_number(abs(weight), digits)}·"
        sign = ("− " if weight < 0 else "+ ") if parts else ("−" if weight < 0 else "")
        parts.append(f"{sign}{size}{shorten_label(row[which])}")
    return " ".join(parts)


_LEVEL = 0.95

_EXAMPLES = """
# the models and thresholds on the hull
baserate hull people.csv --truth sick --score risk --score old
# a false negative costs 20 false positives, at a prevalence of 2%
baserate hull people.csv --truth sick --score risk --score old --fp 1 --fn 20 --prevalence 0.02
# a mixture with a false positive rate of 10%
baserate hull people.csv --truth sick --score risk --predicted says --fpr 10%
# likelihood ratios of a score
baserate hull people.csv --truth sick --score risk --ratios --prevalence 0.02
# the best weights of two scores
baserate hull people.csv --truth sick --score risk --score old --combine
"""


def _read_rate(text: str) -> float:
    return read_share(text, f"{text!r} is not a rate; give a number from 0 to 1, such as 0.1 or 10%.", ends=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class HullOptions(OutcomeCosts):
    """Options of a hull: costs and prevalence, a rate to reach, likelihood ratios or weights instead."""

    reverse: Annotated[bool, "Models below the diagonal take part with their order reversed."] = False
    prevalence: Annotated[
        PrevalenceShare, "Prevalence in deployment, such as 0.02 or 2%: cost ratios at which each model is the best."
    ] = None
    fpr: Annotated[
        float | None, option(type=_read_rate, metavar="SHARE"), "False positive rate that a mixture of models reaches."
    ] = None
    tpr: Annotated[
        float | None, option(type=_read_rate, metavar="SHARE"), "True positive rate that a mixture of models reaches."
    ] = None
    ratios: Annotated[bool, "Likelihood ratios of scores instead: the slopes of each model's hull."] = False
    combine: Annotated[bool, "Weights of two scores whose sum has the highest AUC instead."] = False
    level: Annotated[
        ConfidenceLevel, option(default=f"{_LEVEL}"), "Confidence level of --ratios, such as 0.9 or 90%."
    ] = None

    def __post_init__(self) -> None:
        if self.ratios and self.combine:
            raise click.UsageError("--ratios and --combine give different tables; leave out one of them.")
        if self.fpr is not None and self.tpr is not None:
            raise click.UsageError("--fpr and --tpr both determine the mixture; give one of them.")
        of_hulls = (*CELLS, "fpr", "tpr")
        if self.combine:
            message = "{} has no use beside --combine; leave out one of them."
            refuse_given(self, ("reverse", "prevalence", *of_hulls, "level"), message)
        elif self.ratios:
            refuse_given(self, ("reverse", *of_hulls), "{} has no use beside --ratios; leave out one of them.")
        else:
            refuse_given(self, ["level"], "{} is for likelihood ratios; add --ratios, or leave it out.")


@command("hull", examples=_EXAMPLES)
def hull(reading: Annotated[Reading, hide("group")], hull_options: HullOptions, output: Output) -> None:
    """Find the models and thresholds on the ROC convex hull.

    A model below the convex hull of all ROC curves costs more than some other model, at any costs and any prevalence.
    Two neighbors on the hull can be mixed at random.
    """
    _check_options(reading, hull_options)  # before reading, so that errors come at once
    compute, page = _compute_hull, hull_page
    if hull_options.combine:
        compute, page = _combine_scores, weights_page
    elif hull_options.ratios:
        compute, page = _compute_ratios, ratios_page
    results = compute(reading, hull_options, quiet=output.quiet)
    if output.is_page:
        notes = [*results.data["notes"], *describe_omissions(results)]
        results = replace(results, data={**results.data, "notes": notes})
    report_results(results, page, reading, output)


def _check_options(reading: Reading, hull_options: HullOptions) -> None:
    """Refuse columns and costs that a hull cannot use."""
    message = "{} has no use for a hull; give a file with rows of one group, or leave it out."
    refuse_given(reading, ["group"], message)
    if hull_options.combine:
        message = "{} has no use beside --combine, which takes two scores; leave it out."
        refuse_given(reading, ["predicted"], message)
        # A name with * at its end may stand for many columns, which are counted after reading.
        if not any(name.endswith("*") for name in reading.score):
            _check_two_scores(reading.score)
    costs = hull_options.outcome_costs
    if costs is None:
        return
    from baserate.decide import has_cost_of_both_errors, probability_cost

    # Only for its error about costs without a slope, which then comes before the files are read.
    probability_cost(costs, 0.5 if hull_options.prevalence is None else hull_options.prevalence)
    if hull_options.prevalence is None and not has_cost_of_both_errors(costs):
        raise click.UsageError(
            "one kind of error costs nothing, so that the prevalence changes nothing; add --prevalence to see the best "
            "model, or give both a cost."
        )


def _check_two_scores(names: Sequence[str]) -> None:
    count = len(set(names))
    if count != 2:
        raise click.UsageError(f"--combine takes two scores, not {count}; name two, each with --score.")


def _compute_hull(reading: Reading, hull_options: HullOptions, *, quiet: bool) -> "Results":
    from baserate.decide import hull_table

    return hull_table(
        read_tallies(reading, quiet=quiet),
        reverse=hull_options.reverse,
        costs=hull_options.outcome_costs,
        prevalence=hull_options.prevalence,
        fpr=hull_options.fpr,
        tpr=hull_options.tpr,
    )


def _compute_ratios(reading: Reading, hull_options: HullOptions, *, quiet: bool) -> "Results":
    from baserate.decide import likelihood_ratio_table

    level = _LEVEL if hull_options.level is None else hull_options.level
    return likelihood_ratio_table(read_tallies(reading, quiet=quiet), prevalence=hull_options.prevalence, level=level)


def _combine_scores(reading: Reading, hull_options: HullOptions, *, quiet: bool) -> "Results":  # noqa: ARG001
    from baserate.decide import combination_table

    rows = read_rows(reading, quiet=quiet)
    _check_two_scores(tuple(rows.score))
    return combination_table(rows)
