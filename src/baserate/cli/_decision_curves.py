"""`baserate benefit`: decision curves, and their pages."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import click

from baserate._domains import HARM, SHARE
from baserate._formatting import format_exact, format_level, format_number, join_words
from baserate.cli._declarations import Output, command, option
from baserate.cli._io import (
    describe_adjustment,
    headline,
    print_messages,
    print_results,
    read_rows,
    read_tallies,
)
from baserate.cli._options import ClosedFormIntervals, Points, Prevalence, PrevalenceShare, Reading
from baserate.cli._values import join_distinct, read_share
from baserate.text import (
    Cell,
    CellFormatter,
    CellWriter,
    Explanation,
    Page,
    Table,
    TidyRow,
    describe_group,
    list_table,
    mark_cell,
    shorten_label,
    split_when_narrow,
)

if TYPE_CHECKING:
    from baserate._results import Results

MARK = "*"
_TRACE = 1e-12
"""Rounding error that sums leave of 0."""


_DEFINITION = "true positives per case, less false positives per case times threshold / (1 − threshold)"
_NET_BENEFIT = f"net benefit of the model, of flagging all, of flagging none: {_DEFINITION}"
_STANDARDIZED = "standardized net benefit: net benefit as a share of its maximum, the prevalence"
_DIFFERENCE = f"net benefit: that of the first less that of the second; {_DEFINITION}"


_REDUCTION = "net reduction: fewer flagged cases of 100 than by flagging all, with no more false negatives"
_HEADINGS = {
    "net_benefit": "net benefit",
    "standardized": "standardized net benefit",
    "net_reduction": "net reduction per 100",
}
_MEANINGS = {
    "net_benefit": (_NET_BENEFIT, _REDUCTION),
    "standardized": (_STANDARDIZED, f"net benefit: {_DEFINITION}"),
    "net_reduction": (_REDUCTION,),
}
_PER_100 = "true positives, false positives: how many more the first has, of 100 cases"


def decision_curve_page(results: "Results", reading: Reading, digits: int, few: Collection[float] | None) -> Page:
    """Return the page of decision curves, at all thresholds or at a few."""
    format_ = CellFormatter(digits)
    ranges = {curve_name(model_name(each, results), each, reading): each["ranges"] for each in results.data["useful"]}
    rows = [
        {**row, "curve": curve_name(model_name(row, results), row, reading)}
        for row in results.rows()
        if few is None or row["threshold"] in few
    ]
    kind = results.data["kind"]
    others = {(row["curve"], row["threshold"], row["strategy"]): row for row in rows}

    def model_cell(row: TidyRow) -> Cell:
        useful = any(low <= row["threshold"] <= high for low, high in ranges[row["curve"]])
        return mark_cell(_number_cell(format_, row, kind), MARK * useful)

    def strategy_cell(name: str) -> CellWriter:
        return lambda row: _plain_cell(format_, others[row["curve"], row["threshold"], name], kind)

    columns: dict[str, CellWriter] = {
        _HEADINGS[kind]: model_cell,
        "of all": strategy_cell("all"),
        "of none": strategy_cell("none"),
    }
    if kind == "net_benefit":
        columns["net reduction"] = lambda row: _number_cell(format_, row, "net_reduction")
    columns["flagged"] = format_.field("flag_rate")
    table = curve_table([row for row in rows if row["strategy"] == "model"], columns, corner="threshold")
    meanings = map(Explanation, _MEANINGS[kind])
    legend = (_describe_useful(ranges), *describe_scores(results.data), *_describe_harm(results.data), *meanings)
    intervals = describe_intervals(
        results, "net benefit and the net reduction" if kind == "net_benefit" else _HEADINGS[kind]
    )
    return Page(headline(reading, results.data), (table,), (*format_.reasons.footnotes(), *legend, *intervals))


def curve_table(
    rows: Sequence[TidyRow], columns: Mapping[str, CellWriter], *, corner: str, x: str = "threshold"
) -> Table:
    """Return the table of curves: a section for each, and a line for each place x on it."""

    def label(row: TidyRow) -> str:
        return "" if row[x] is None else format_exact(row[x])

    table = list_table(rows, columns, label=label, section=itemgetter("curve"), corner=corner, aligned=True)
    return split_when_narrow(table)


def describe_scores(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Say whether scores were adjusted; nothing where numbers are at the prevalence of the rows.

    >>> describe_scores({"scores": {"adjusted": True, "sample_prevalence": 0.4, "prevalence": 0.02}})
    ('scores adjusted from 40.00% to 2.000% prevalence',)
    """
    scores = data["scores"]
    if not scores["adjusted"]:
        return (
            ()
            if scores["prevalence"] is None
            else (f"scores not adjusted to {_percent(scores['prevalence'])} prevalence",)
        )
    ends = [scores["sample_prevalence"], scores["prevalence"]]
    if any(isinstance(end, Mapping) for end in ends):
        return ("scores adjusted to the stated prevalence, from that of each model's rows",)
    return ("scores adjusted from {} to {} prevalence".format(*map(_percent, ends)),)


def _percent(share: float) -> str:
    return f"{format_number(100 * share, 4)}%"


def differences_page(results: "Results", reading: Reading, digits: int, few: Collection[float] | None) -> Page:
    """Return the page of differences in net benefit between models, at all thresholds or at a few."""
    format_ = CellFormatter(digits)
    rows = [
        {**row, "curve": curve_name(f"{shorten_label(row['model'])} − {shorten_label(row['against'])}", row, reading)}
        for row in results.rows()
        if few is None or row["threshold"] in few
    ]
    columns: dict[str, CellWriter] = {
        "net benefit": lambda row: mark_cell(_estimate(format_, row, "difference"), MARK * _excludes_zero(row)),
        "true positives": lambda row: format_.number(_clear_rounding_error(100 * row["tp_rate"])),
        "false positives": lambda row: format_.number(_clear_rounding_error(100 * row["fp_rate"])),
    }
    scope = "simultaneous" if results.data["simultaneous"] else "pointwise"
    signs = [f"{MARK} the interval excludes 0 ({scope})"] * any(map(_excludes_zero, rows))
    meanings = map(Explanation, (_DIFFERENCE, _PER_100))
    legend = (*signs, *_describe_harm(results.data), *meanings, *describe_intervals(results, "difference"))
    notes = (*format_.reasons.footnotes(), *legend)
    table = curve_table(rows, columns, corner="threshold")
    return Page(headline(reading, results.data), (table,), notes)


def model_name(row: TidyRow, results: "Results") -> str:
    """Return the name of the model, also where it is the only one."""
    columns = results.data["columns"]
    return shorten_label(row["model"] or next(iter(columns.get("score") or ()), columns.get("predicted")))


def curve_name(name: str, row: TidyRow, reading: Reading) -> str:
    """Return the name of a curve, with its group where there are groups."""
    return f"{name}, {describe_group(row['group'])}" if reading.group else name


def _estimate(format_: CellFormatter, row: TidyRow, name: str) -> Cell:
    return format_.estimate({**row, "value": _clear_rounding_error(row[name])})


def _plain_cell(format_: CellFormatter, row: TidyRow, column: str) -> Cell:
    """Return a number of a strategy without its interval; a net reduction is of a hundred cases."""
    if row[column] is None:
        return format_.mark_undefined(row["why"])
    return format_.number(_clear_rounding_error(row[column] * (100 if column == "net_reduction" else 1)))


def _number_cell(format_: CellFormatter, row: TidyRow, column: str) -> Cell:
    """Return a number with its interval; a net reduction is of a hundred cases."""
    if row[column] is None:
        return format_.mark_undefined(row["why"])
    unit, bounds = 100 if column == "net_reduction" else 1, "" if column == "net_benefit" else f"{column}_"
    names = {"value": column, "low": f"{bounds}low", "high": f"{bounds}high"}
    scaled = {
        key: None if row[name] is None else _clear_rounding_error(unit * row[name]) for key, name in names.items()
    }
    return format_.estimate({**row, **scaled})


def _describe_harm(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Say that harms of tests were subtracted."""
    return ("the harm of testing was subtracted from the net benefit of models",) if data.get("harm") else ()


def _describe_useful(ranges: Mapping[str, Sequence[Sequence[float]]]) -> str:
    """Describe the thresholds at which each model has the highest net benefit."""
    texts = "; ".join(f"{title} {_describe_ranges(each)}" for title, each in ranges.items())
    sign = f"{MARK} " if any(ranges.values()) else ""
    return f"{sign}higher net benefit than flagging all and flagging none: {texts}"


def _describe_ranges(ranges: Sequence[Sequence[float]]) -> str:
    """Describe ranges of thresholds.

    >>> _describe_ranges([[0.1, 0.3], [0.4, 0.45], [0.5, 0.5]]), _describe_ranges([])
    ('from 0.1 to 0.3, from 0.4 to 0.45 and at 0.5', 'at none of the thresholds')
    """
    parts = [
        f"at {format_exact(low)}" if low == high else f"from {format_exact(low)} to {format_exact(high)}"
        for low, high in ranges
    ]
    return join_words(parts) if parts else "at none of the thresholds"


def _clear_rounding_error(value: float) -> float:
    # Also turns −0.0 into 0, which would be shown with its sign.
    return 0.0 if abs(value) < _TRACE else value


def _excludes_zero(row: TidyRow) -> bool:
    """Whether the interval leaves out 0."""
    return bool(row["low"] > 0 or row["high"] < 0)


def describe_intervals(results: "Results", what: str) -> tuple[str, ...]:
    """Describe the method of intervals; nothing without intervals."""
    how = next((row["how"] for row in results.rows() if row["how"]), None)
    if results.data["level"] is None or how is None:
        return ()
    level = format_level(results.data["level"])
    scope = "simultaneous" if results.data.get("simultaneous") else "pointwise"
    brief = f"Intervals: {level}% confidence, {scope}."
    return (Explanation(f"{level}% {scope} intervals of the {what}: {how}.", brief=brief),)


FEW = 20
"""Thresholds that a table shows."""
MOST = 100
"""Thresholds that make a smooth line."""
_ENDS = (0.01, 0.99)
_USUAL = tuple(at / 20 for at in range(1, 20))
"""Thresholds that a table shows by default."""
_NEAR = 1e-9

_BENEFIT_EXAMPLES = """
# net benefit at the usual threshold probabilities
baserate benefit people.csv --truth sick --score risk
# at threshold probabilities of 5, 10 and 25%
baserate benefit people.csv --truth sick --score risk --thresholds 5%,10%,25%
# at every site, between two thresholds
baserate benefit people.csv --truth sick --score risk --group site --thresholds 5%:35%
# at a prevalence of 15%, to which scores are adjusted
baserate benefit people.csv --truth sick --score risk --prevalence 0.15
# a case-control sample with scores calibrated at a prevalence of 15%
baserate benefit sample.csv --truth sick --score risk --prevalence 0.15 --keep-scores
# differences in net benefit
baserate benefit people.csv --truth sick --score risk --score old --compare
# with a test harm: at most 100 tests to find one more positive
baserate benefit people.csv --truth sick --score risk --harm 0.01
# interventions avoided per 100
baserate benefit people.csv --truth sick --score risk --kind net-reduction
# simultaneous bands of both models
baserate benefit people.csv --truth sick --score risk --score old --simultaneous
# a decision curve, to plot
baserate benefit people.csv --truth sick --score risk -o curve.csv
"""


def steps(low: float, high: float, *, most: int) -> list[float]:
    """Return at most `most` numbers: from the lowest in steps of 1, 2 or 5 of their place, and the highest.

    >>> steps(0.05, 0.35, most=5), steps(0.1, 0.2, most=3)
    ([0.05, 0.15, 0.25, 0.35], [0.1, 0.15, 0.2])
    """
    least = (high - low) / (most - 1)
    # Without the tolerance, the rounding error of a division could exclude the step that fits exactly.
    place = 10.0 ** math.floor(math.log10(least))
    step = next(each * place for each in (1, 2, 5, 10) if each * place >= least * (1 - _NEAR))
    numbers = [_round(low + step * at) for at in range(math.floor((high - low) / step * (1 - _NEAR)) + 1)]
    return [*numbers, high]


def _round(value: float) -> float:
    """Return a number without the rounding errors that sums leave."""
    return float(f"{value:.12g}")


def _probability(text: str) -> float:
    """Read a threshold probability, 0 included; per cent must be marked as such."""
    remedy = f"{text.strip()!r} is not a threshold probability; expected 0 or {SHARE.words}, such as 0.05 or 5%."
    number = read_share(text, remedy, ends=True)
    if number == 1:
        raise click.BadParameter(remedy)
    return number


def read_harm(text: str) -> tuple[str, float]:
    """Read the harm of a test, with the name of its model if there is one.

    >>> read_harm("0.01"), read_harm("risk=2%")
    (('', 0.01), ('risk', 0.02))
    """
    name, _, number = text.rpartition("=")
    remedy = f"{text!r} is not a harm; expected {HARM.words}, such as {HARM.example}, or risk={HARM.example}."
    return name, read_share(number, remedy, ends=True)


class ThresholdRange(NamedTuple):
    """Threshold probabilities from one to another."""

    low: float
    high: float


def read_threshold_probabilities(text: str) -> tuple[float | ThresholdRange, ...]:
    """Read threshold probabilities in a list, or the ends of a range.

    >>> read_threshold_probabilities("5%,0.1"), read_threshold_probabilities("0.05:35%")
    ((0.05, 0.1), (ThresholdRange(low=0.05, high=0.35),))
    """
    parts = text.split(",")
    ends = [part.split(":") for part in parts]
    if all(len(each) == 1 for each in ends):
        return tuple(map(_probability, parts))
    if len(parts) > 1 or len(ends[0]) > 2:
        raise click.BadParameter(f"{text!r} is neither a list such as 5%,10% nor a range such as 5%:35%.")
    low, high = map(_probability, ends[0])
    if low >= high:
        raise click.BadParameter(f"{text!r} is an empty range; write the lower end first, such as 5%:35%.")
    return (ThresholdRange(low, high),)


def _join_thresholds(
    context: click.Context, option: click.Parameter, lists: Sequence[tuple[Any, ...]]
) -> tuple[float, ...] | ThresholdRange:
    """Join repeated lists; a range stands alone."""
    values = join_distinct(context, option, lists)
    if not any(isinstance(each, ThresholdRange) for each in values):
        return values
    if len(values) > 1:
        raise click.BadParameter("a range of thresholds stands alone; give one range, or a list.", context, option)
    range_: ThresholdRange = values[0]
    return range_


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCurveOptions:
    """Options of decision curves: threshold probabilities, prevalence, adjustment of scores."""

    thresholds: Annotated[
        tuple[float, ...] | ThresholdRange,
        option(
            type=read_threshold_probabilities,
            metavar="NUMBERS",
            multiple=True,
            callback=_join_thresholds,
            default=f"0.01:0.99; in tables at most {FEW} of them",
        ),
        "Threshold probabilities: a list such as 5%,10%, or a range such as 5%:35%.",
    ] = ()
    points: Annotated[Points, "Number of evenly spaced thresholds of a range."] = None
    prevalence: Prevalence = None
    sample_prevalence: Annotated[
        PrevalenceShare,
        option(default="that of the sample"),
        "Prevalence at which the scores are calibrated, such as that of the training data.",
    ] = None
    keep_scores: Annotated[
        bool,
        option("--keep-scores/--adjust-scores", default="--adjust-scores"),
        "With --prevalence, scores that are not adjusted to it.",
    ] = False
    harm: Annotated[
        tuple[tuple[str, float], ...],
        option(type=read_harm, metavar="[NAME=]NUMBER", multiple=True),
        "Harm of applying the test, in units of net benefit, such as 0.01; of one model NAME=0.01, repeatable.",
    ] = ()
    kind: Annotated[
        Literal["net-benefit", "standardized", "net-reduction"],
        option(help="Net benefit, its share of the maximum, or interventions avoided per 100."),
    ] = "net-benefit"
    simultaneous: Annotated[bool, "Simultaneous bands of all thresholds and models."] = False
    seed: Annotated[
        int | None, option(type=click.IntRange(0), metavar="NUMBER", default="0"), "Random seed of simultaneous bands."
    ] = None
    compare: Annotated[bool, "Difference in net benefit between each pair of models."] = False

    def __post_init__(self) -> None:
        if self._list and self.points is not None:
            raise click.UsageError("--points is for a range of thresholds; leave it out, or give a range with a colon.")
        if self.compare and self.prevalence is not None:
            raise click.UsageError(
                "--compare is at the prevalence of the rows; leave out --prevalence, or compare two decision curves."
            )
        if self.compare and self.kind != "net-benefit":
            raise click.UsageError(f"--compare is of net benefit; leave out --kind {self.kind} or --compare.")
        if self.seed is not None and not self.simultaneous:
            raise click.UsageError("--seed is for simultaneous bands; add --simultaneous, or leave out --seed.")
        self._check_scores()
        self._check_harms()

    def _check_harms(self) -> None:
        """Refuse a harm that is stated twice."""
        names = [name for name, _ in self.harm]
        if len(names) > 1 and "" in names:
            raise click.UsageError("--harm is of all models, or of each by name, as in --harm risk=0.01.")
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise click.UsageError(f"--harm states {twice!r} twice; leave out one of them.")

    def _check_scores(self) -> None:
        """Refuse options that contradict each other about the adjustment of scores."""
        if self.keep_scores and self.sample_prevalence is not None:
            raise click.UsageError(
                "--keep-scores and --sample-prevalence contradict each other; leave out one of them."
            )
        if self.keep_scores and self.prevalence is None:
            raise click.UsageError("--keep-scores is for --prevalence; state it, or leave out --keep-scores.")
        if self.compare and self.sample_prevalence is not None:
            raise click.UsageError("--compare does not adjust scores; leave out --sample-prevalence.")

    @property
    def options(self) -> dict[str, Any]:
        """Options of `decide.net_benefit_curve` and `draw.decision_curve`."""
        origin = "deployment" if self.keep_scores else self.sample_prevalence
        prevalences = {"prevalence": self.prevalence, "sample_prevalence": origin}
        return {"thresholds": self.threshold_probabilities, **prevalences, "harm": self.harms, "seed": self.seed or 0}

    @property
    def harms(self) -> float | dict[str, float] | None:
        """Harm of all models, or of each by name; None for no harm."""
        by_name = dict(self.harm)
        return by_name.get("", by_name or None)

    @property
    def curve_kind(self) -> str:
        """Kind of curves by its name in Python."""
        return self.kind.replace("-", "_")

    @property
    def threshold_probabilities(self) -> list[float] | None:
        """All thresholds; None for the default ones."""
        if self._list:
            return sorted(self._list)
        low, high = self._range or _ENDS
        if self.points is not None:
            apart = (high - low) / (self.points - 1)
            return [*(_round(low + apart * place) for place in range(self.points - 1)), high]
        return None if self._range is None else steps(low, high, most=MOST)

    @property
    def few(self) -> Sequence[float] | None:
        """Thresholds that a table shows; None for all."""
        if self._list or self.points is not None:
            return None
        return _USUAL if self._range is None else steps(*self._range, most=FEW)

    @property
    def _list(self) -> tuple[float, ...]:
        return () if isinstance(self.thresholds, ThresholdRange) else self.thresholds

    @property
    def _range(self) -> ThresholdRange | None:
        return self.thresholds if isinstance(self.thresholds, ThresholdRange) else None


@command("benefit", examples=_BENEFIT_EXAMPLES)
def benefit(
    reading: Reading, curve_options: DecisionCurveOptions, intervals: ClosedFormIntervals, output: Output
) -> None:
    """Tabulate decision curves (net benefit).

    At each threshold probability, the net benefit of the model stands beside those of flagging all and of flagging
    none. At another prevalence, scores are adjusted to it before they are compared with a threshold. Scores must be
    probabilities; labels of --predicted flag the same at every threshold above 0.
    """
    compute = _compare_curves if curve_options.compare else _compute_curves
    results = compute(reading, curve_options, intervals.confidence, output)
    few = curve_options.few if output.is_page else None
    total, notes = len(set(results.columns["threshold"])), list(results.data["notes"])
    if few and len(few) < total:
        notes.append(
            f"{len(few)} of {total} thresholds are shown; --thresholds or --points shows others, --format csv all."
        )
    data = {**results.data, "notes": notes}
    print_messages(headline(reading, data), data, output, inferred=reading.positive is None)
    page = differences_page if curve_options.compare else decision_curve_page
    print_results(results, lambda: page(results, reading, output.digits, few), output)


def _compute_curves(
    reading: Reading, curve_options: DecisionCurveOptions, level: float | None, output: Output
) -> "Results":
    from baserate import decide

    if level is None and curve_options.simultaneous:
        raise click.UsageError("--simultaneous is a band; leave out either it or --no-interval.")
    read = read_tallies(reading, quiet=output.quiet)
    options = {**curve_options.options, "simultaneous": curve_options.simultaneous}
    results = decide.net_benefit_curve(read, **options, level=level)
    results = replace(results, data={**results.data, "kind": curve_options.curve_kind})
    return describe_adjustment(results, read, curve_options.prevalence)


def _compare_curves(
    reading: Reading, curve_options: DecisionCurveOptions, level: float | None, output: Output
) -> "Results":
    if level is None:
        raise click.UsageError("a difference has an interval; leave out either --compare or --no-interval.")
    several = any(name.endswith("*") for name in reading.score)  # a prefix may stand for many columns
    if len(reading.score) + bool(reading.predicted) == 1 and not several:
        raise click.UsageError("--compare needs two models: repeat --score, or leave out --compare.")
    from baserate import decide

    read = read_rows(reading, quiet=output.quiet)
    options = {name: curve_options.options[name] for name in ("thresholds", "harm", "seed")}
    return decide.net_benefit_difference(read, **options, simultaneous=curve_options.simultaneous, level=level)
