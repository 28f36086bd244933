"""`baserate benefit`: decision curves, their options, and a page of them."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import click

from baserate._domains import POINTS, SHARE
from baserate._formatting import format_exact, format_level, format_number
from baserate.cli._declarations import Output, command, option
from baserate.cli._io import (
    adjusted_headline,
    describe_adjustment,
    print_messages,
    print_results,
    read_rows,
    read_tallies,
)
from baserate.cli._options import ClosedFormIntervals, OutcomeCosts, Prevalence, Reading
from baserate.cli._values import CELLS, flatten, read_prevalence, whole_number
from baserate.text import (
    EVERYBODY,
    Cell,
    Footnotes,
    IntervalCell,
    Page,
    Row,
    Section,
    Table,
    TidyRow,
    align_decimals,
    estimate_cell,
    shorten_label,
)

if TYPE_CHECKING:
    from baserate._results import Results
    from baserate._tally import Tallies, Tally
    from baserate.decide import CostCurveKind

MARK = "*"
_TRACE = 1e-12
"""What sums leave of 0."""
_MEANT = "true positives per case, less false ones times threshold / (1 − threshold)"
_NET_BENEFIT = f"net benefit of the model, of flagging all, of flagging none: {_MEANT}"
_DIFFERENCE = f"net benefit: how much more the first has; {_MEANT}"
_SPARED = "net reduction: so many fewer of 100 cases are flagged than by flagging all, with no more positives missed"
_PER_100 = "true positives, false positives: how many more the first has, of 100 cases"


def decision_curve_page(results: "Results", reading: Reading, digits: int, few: Collection[float] | None) -> Page:
    """Lay out decision curves, at all thresholds or at a few."""
    from baserate.text import split_when_narrow

    reasons = Footnotes()
    ranges = {of_group(model_of(each, results), each, reading): each["ranges"] for each in results.data["useful"]}
    curves: dict[str, dict[str, list[TidyRow]]] = {}
    for row in _select_rows(results, few):
        title = of_group(model_of(row, results), row, reading)
        curves.setdefault(title, {}).setdefault(row["strategy"], []).append(row)
    sections = tuple(_curve(title, of, ranges[title], reasons, digits) for title, of in curves.items())
    heads = ("net benefit", "of all", "of none", "net reduction", "flagged")
    notes = (
        *reasons.footnotes(),
        _useful(ranges),
        *describe_scores(results.data),
        _NET_BENEFIT,
        _SPARED,
        *describe_intervals(results, "net benefit and the net reduction"),
    )
    return Page(
        adjusted_headline(reading, results.data), (split_when_narrow(Table("threshold", heads, sections)),), notes
    )


def describe_scores(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Say whether scores were adjusted; nothing where numbers are at the prevalence of the rows.

    >>> describe_scores({"scores": {"adjusted": True, "from": 0.4, "to": 0.02}})
    ('scores adjusted from 40.00 % to 2.000 % prevalence',)
    """
    scores = data["scores"]
    if not scores["adjusted"]:
        return () if scores["to"] is None else (f"scores not adjusted to {_percent(scores['to'])} prevalence",)
    ends = [scores["from"], scores["to"]]
    if any(isinstance(end, Mapping) for end in ends):
        return ("scores adjusted to the stated prevalence, from that of each model's rows",)
    return ("scores adjusted from {} to {} prevalence".format(*map(_percent, ends)),)


def _percent(share: float) -> str:
    return f"{format_number(100 * share, 4)} %"


def differences_page(results: "Results", reading: Reading, digits: int, few: Collection[float] | None) -> Page:
    """Lay out differences in net benefit between models, at all thresholds or at a few."""
    from baserate.text import split_when_narrow

    reasons = Footnotes()
    pairs: dict[str, list[TidyRow]] = {}
    for row in _select_rows(results, few):
        pair = f"{shorten_label(row['model'])} − {shorten_label(row['against'])}"
        pairs.setdefault(of_group(pair, row, reading), []).append(row)
    sections = tuple(_differences(title, lines, reasons, digits) for title, lines in pairs.items())
    panel = Table("threshold", ("net benefit", "true positives", "false positives"), sections)
    apart = any(_excludes_zero(row) for lines in pairs.values() for row in lines)
    signs = [f"{MARK} the interval leaves out 0, at this threshold by itself"] * apart
    notes = (*reasons.footnotes(), *signs, _DIFFERENCE, _PER_100, *describe_intervals(results, "difference"))
    return Page(adjusted_headline(reading, results.data), (split_when_narrow(panel),), notes)


def model_of(row: TidyRow, results: "Results") -> str:
    """Name of the model, also where it is the only one."""
    columns = results.data["columns"]
    return shorten_label(row["model"] or next(iter(columns.get("score") or ()), columns.get("predicted")))


def of_group(name: str, row: TidyRow, reading: Reading) -> str:
    """Format the name of a curve, with its group where there are groups."""
    if not reading.group:
        return name
    groups = [
        f"{shorten_label(attribute)} = {shorten_label(value)}" for attribute, value in (row["group"] or {}).items()
    ]
    return ", ".join([name, *(groups or [EVERYBODY])])


def _select_rows(results: "Results", few: Collection[float] | None) -> Iterator[TidyRow]:
    return (row for row in results.rows() if few is None or row["threshold"] in few)


def _curve(
    title: str, of: Mapping[str, Sequence[TidyRow]], ranges: Sequence[Sequence[float]], reasons: Footnotes, digits: int
) -> Section:
    def cells(own: TidyRow, everybody: TidyRow, nobody: TidyRow) -> Iterator[Cell]:
        better = any(low <= own["threshold"] <= high for low, high in ranges)
        yield mark_cell(_spread(own, "net_benefit", reasons, digits), better=better)
        yield from (format_number(_clean(each["net_benefit"]), digits) for each in (everybody, nobody))
        yield _reduction_cell(own, reasons, digits)
        yield format_number(own["flag_rate"], digits)

    lines = zip(*(of[strategy] for strategy in ("model", "all", "none")), strict=True)
    return _section(title, of["model"], [tuple(cells(*line)) for line in lines])


def _differences(title: str, lines: Sequence[TidyRow], reasons: Footnotes, digits: int) -> Section:
    def cells(row: TidyRow) -> Iterator[Cell]:
        yield mark_cell(_spread(row, "difference", reasons, digits), better=_excludes_zero(row))
        yield from (format_number(_clean(100 * row[name]), digits) for name in ("tp_rate", "fp_rate"))

    return _section(title, lines, [tuple(cells(row)) for row in lines])


def _section(title: str, lines: Sequence[TidyRow], cells: Sequence[tuple[Cell, ...]]) -> Section:
    names = align_decimals([format_exact(line["threshold"]) for line in lines])
    return Section(title, tuple(Row(name, each) for name, each in zip(names, cells, strict=True)))


def _spread(row: TidyRow, name: str, reasons: Footnotes, digits: int) -> Cell:
    return estimate_cell({**row, "value": _clean(row[name])}, reasons, digits=digits, several=True)


def _reduction_cell(row: TidyRow, reasons: Footnotes, digits: int) -> Cell:
    """Interventions spared of a hundred cases."""
    names = {"value": "net_reduction", "low": "net_reduction_low", "high": "net_reduction_high"}
    if row["net_reduction"] is None:
        return reasons.mark_undefined(row["why"])
    of_hundred = {key: None if row[name] is None else _clean(100 * row[name]) for key, name in names.items()}
    return estimate_cell({**row, **of_hundred}, reasons, digits=digits, several=True)


def _clean(value: float) -> float:
    return 0.0 if abs(value) < _TRACE else value


def mark_cell(cell: Cell, *, better: bool) -> Cell:
    """Put a sign behind a number that is better than others."""
    if not better:
        return cell
    return cell._replace(value=cell.value + MARK) if isinstance(cell, IntervalCell) else cell + MARK


def _excludes_zero(row: TidyRow) -> bool:
    """Whether the interval leaves out 0."""
    return bool(row["low"] > 0 or row["high"] < 0)


def _useful(ranges: Mapping[str, Sequence[Sequence[float]]]) -> str:
    ranges_text = "; ".join(f"{title} {_where(each)}" for title, each in ranges.items())
    sign = f"{MARK} " if any(ranges.values()) else ""
    return f"{sign}beats flagging all and flagging none: {ranges_text}"


def _where(ranges: Sequence[Sequence[float]]) -> str:
    """Say between which thresholds.

    >>> _where([[0.1, 0.3], [0.4, 0.45], [0.5, 0.5]]), _where([])
    ('from 0.1 to 0.3, from 0.4 to 0.45 and at 0.5', 'at none of the thresholds')
    """
    parts = [
        f"at {format_exact(low)}" if low == high else f"from {format_exact(low)} to {format_exact(high)}"
        for low, high in ranges
    ]
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]])) or "at none of the thresholds"


def describe_intervals(results: "Results", what: str) -> tuple[str, ...]:
    """What the intervals are."""
    if results.data["level"] is None:
        return ()
    how = next((row["how"] for row in results.rows() if row["how"]), None)
    if how is None:
        return ()
    return (f"{format_level(results.data['level'])} % intervals of the {what} at each place by itself: {how}.",)


FEW = 20
"""Thresholds that a person wants to read."""
MOST = 100
"""Thresholds that make a smooth line."""
_ENDS = (0.01, 0.99)
_USUAL = tuple(at / 20 for at in range(1, 20))
"""To read, where nobody says which."""
_NEAR = 1e-9

_BENEFIT_EXAMPLES = (
    ("net benefit at the usual threshold probabilities", "baserate benefit people.csv --truth sick --score risk"),
    (
        "at threshold probabilities of 5, 10 and 25 %",
        "baserate benefit people.csv --truth sick --score risk --at 5%,10%,25%",
    ),
    (
        "at every site, between two thresholds",
        "baserate benefit people.csv --truth sick --score risk --group site --from 0.05 --to 0.35",
    ),
    (
        "at a prevalence of 15 %, to which scores are adjusted",
        "baserate benefit people.csv --truth sick --score risk --prevalence 0.15",
    ),
    (
        "a case-control sample with scores calibrated at a prevalence of 15 %",
        "baserate benefit sample.csv --truth sick --score risk --prevalence 0.15 --keep-scores",
    ),
    (
        "differences in net benefit",
        "baserate benefit people.csv --truth sick --score risk --score old --compare",
    ),
    ("a decision curve, to plot", "baserate benefit people.csv --truth sick --score risk -o curve.csv"),
)


def steps(low: float, high: float, *, most: int) -> list[float]:
    """Numbers from the lowest on in steps of 1, 2 or 5 of their place, and the highest; at most so many.

    >>> steps(0.05, 0.35, most=5), steps(0.1, 0.2, most=3)
    ([0.05, 0.15, 0.25, 0.35], [0.1, 0.15, 0.2])
    """
    least = (high - low) / (most - 1)
    place = 10.0 ** math.floor(math.log10(least))
    step = next(each * place for each in (1, 2, 5, 10) if each * place >= least * (1 - _NEAR))
    numbers = [_round(low + step * at) for at in range(math.floor((high - low) / step * (1 - _NEAR)) + 1)]
    return [*numbers, high]


def _round(value: float) -> float:
    """A number without the traces that sums leave."""
    return float(f"{value:.12g}")


def _probabilities(text: str) -> tuple[float, ...]:
    return tuple(map(_probability, text.split(",")))


def _probability(text: str) -> float:
    """Read a probability from which on one would act; per cent must be called so."""
    bare = text.strip().removesuffix("%")
    try:
        number = float(bare) / (100 if bare != text.strip() else 1)
    except ValueError:
        number = math.nan
    if number != 0 and not SHARE.holds(number):
        raise click.BadParameter(
            f"{text.strip()!r} is no probability to act from; expected 0 or {SHARE.words}, such as 0.05 or 5%."
        )
    return number


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCurveOptions:
    """Options of decision curves: threshold probabilities, prevalence, adjustment of scores."""

    at: Annotated[
        tuple[tuple[float, ...], ...],
        option(
            type=_probabilities,
            metavar="NUMBERS",
            multiple=True,
            default=f"0.01 to 0.99; in tables at most {FEW} of them",
            help="Threshold probabilities, such as 0.05,0.1 or 5%,10%.",
        ),
    ] = ()
    from_: Annotated[
        float | None, option(type=_probability, metavar="NUMBER", default="0.01", help="Lowest threshold probability.")
    ] = None
    to: Annotated[
        float | None, option(type=_probability, metavar="NUMBER", default="0.99", help="Highest threshold probability.")
    ] = None
    points: Annotated[int | None, option(type=whole_number(POINTS), help="Number of evenly spaced thresholds.")] = None
    prevalence: Prevalence = None
    scores_from: Annotated[
        float | None,
        option(
            type=read_prevalence,
            metavar="SHARE",
            default="that of the sample",
            help="Prevalence at which the scores are calibrated, such as that of the training data.",
        ),
    ] = None
    keep_scores: Annotated[
        bool,
        option(
            "--keep-scores/--adjust-scores",
            default="--adjust-scores",
            help="With --prevalence, scores as they are instead of adjusted to it.",
        ),
    ] = False
    compare: Annotated[bool, option(help="Difference in net benefit between each pair of models.")] = False

    def __post_init__(self) -> None:
        for name, given in (("--from", self.from_), ("--to", self.to), ("--points", self.points)):
            if self.at and given is not None:
                raise click.UsageError(f"--at and {name} both say which thresholds; give one of them.")
        low, high = self._ends
        if low >= high:
            raise click.UsageError(f"thresholds from {low:g} to {high:g} are none; let --from be less than --to.")
        if self.compare and self.prevalence is not None:
            raise click.UsageError(
                "--compare is at the prevalence of the rows; leave out --prevalence, or compare two decision curves."
            )
        self._check_scores()

    def _check_scores(self) -> None:
        """Refuse options that contradict each other about the adjustment of scores."""
        if self.keep_scores and self.scores_from is not None:
            raise click.UsageError("--keep-scores and --scores-from contradict each other; leave out one of them.")
        if self.keep_scores and self.prevalence is None:
            raise click.UsageError("--keep-scores is for --prevalence; state it, or leave out --keep-scores.")
        if self.compare and self.scores_from is not None:
            raise click.UsageError("--compare takes scores as they are; leave out --scores-from.")

    @property
    def options(self) -> dict[str, Any]:
        """Options of `decide.net_benefit_curve` and `draw.decision_curve`."""
        origin = None if self.keep_scores else self.scores_from or "sample"
        return {"thresholds": self.thresholds, "prevalence": self.prevalence, "scores_from": origin}

    @property
    def thresholds(self) -> list[float] | None:
        """All of them; None is what is usual."""
        if self.at:
            return sorted(flatten(self.at))
        low, high = self._ends
        if self.points is not None:
            apart = (high - low) / (self.points - 1)
            return [*(_round(low + apart * place) for place in range(self.points - 1)), high]
        return None if self.from_ is None and self.to is None else steps(low, high, most=MOST)

    @property
    def few(self) -> Sequence[float] | None:
        """Thresholds of a table to read; None if they are all explicit."""
        if self.at or self.points is not None:
            return None
        return _USUAL if self.from_ is None and self.to is None else steps(*self._ends, most=FEW)

    @property
    def _ends(self) -> tuple[float, float]:
        low, high = _ENDS
        return low if self.from_ is None else self.from_, high if self.to is None else self.to


@command("benefit", examples=_BENEFIT_EXAMPLES)
def benefit(
    reading: Reading, curve_options: DecisionCurveOptions, intervals: ClosedFormIntervals, output: Output
) -> None:
    """Tabulate decision curves (net benefit).

    At each threshold probability, the net benefit of the model stands beside those of flagging all and of flagging
    none. At another prevalence, scores are adjusted to it before they are compared with a threshold. Scores must be
    probabilities; labels of --predicted flag the same at every threshold above 0.
    """
    results = (_compare_curves if curve_options.compare else _compute_curves)(
        reading, curve_options, intervals.confidence, output
    )
    few = curve_options.few if output.form in {"table", "md"} else None
    every = len(set(results.columns["threshold"]))
    left_out = [_describe_omission(few, every)] if few and len(few) < every else []
    data = {**results.data, "notes": [*results.data["notes"], *left_out]}
    print_messages(adjusted_headline(reading, data), data, output, inferred=reading.positive is None)
    laid_out = differences_page if curve_options.compare else decision_curve_page
    print_results(results, lambda: laid_out(results, reading, output.digits, few), output)


def _compute_curves(
    reading: Reading, curve_options: DecisionCurveOptions, sure: float | None, output: Output
) -> "Results":
    from baserate import decide

    read = read_tallies(reading, quiet=output.quiet)
    results = decide.net_benefit_curve(read, **curve_options.options, level=sure)
    return describe_adjustment(results, read, curve_options.prevalence)


def _compare_curves(
    reading: Reading, curve_options: DecisionCurveOptions, sure: float | None, output: Output
) -> "Results":
    if sure is None:
        raise click.UsageError("a difference comes with its interval; leave out either --compare or --no-interval.")
    several = any(name.endswith("*") for name in reading.score)  # what a name begins with may name many
    if len(reading.score) + bool(reading.predicted) == 1 and not several:
        raise click.UsageError("it takes two models to compare: repeat --score, or leave out --compare.")
    from baserate import decide

    read = read_rows(reading, quiet=output.quiet)
    return decide.net_benefit_difference(read, thresholds=curve_options.thresholds, level=sure)


def _describe_omission(few: Sequence[float], every: int) -> str:
    return f"{len(few)} of {every} thresholds are shown; --at or --points shows others, --format csv all."


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
    curves: dict[str, list[TidyRow]] = {}
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


def _cell(line: TidyRow, name: str, reasons: Footnotes, digits: int) -> Cell:
    if line[name] is None:
        return reasons.mark_undefined(line["why"])
    if name in _BOUNDED and line.get("level") is not None:
        return estimate_cell({**line, "value": line[name]}, reasons, digits=digits, several=True)
    return format_exact(line[name]) if name in _CUTS else format_number(line[name], digits)


FEW_POINTS = 21
"""Points of a curve that a person wants to read: every twentieth."""

_COST_EXAMPLES = (
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
            default=f"every corner; in tables at most {FEW_POINTS}",
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


@command("cost-curve", examples=_COST_EXAMPLES)
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
    if not few or longest <= FEW_POINTS:
        return curves, []
    note = f"{FEW_POINTS} points of each curve are shown; --points N shows so many, --format csv all, up to {longest}."
    return compute(points=FEW_POINTS), [note]


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
