"""`baserate shift`: measures at another prevalence, or against all prevalences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate._domains import POINTS
from baserate._formatting import format_exact, format_level
from baserate.cli._declarations import Output, command, option
from baserate.cli._io import headline, print_notes, print_results, read_tallies
from baserate.cli._measure import Classes, ClassOptions, may_have_many_classes
from baserate.cli._options import IndependentIntervals, Intervals, MeasureSettings, Reading, SamplingRatios, Thresholds
from baserate.cli._values import Prior, complete_measures, flatten, match_classes, names, read_prior, whole_number
from baserate.text import EVERYBODY, Footnotes, Page, Row, Section, Table, align_decimals, estimate_cell, shorten_label

if TYPE_CHECKING:
    from baserate._confusion import Confusions
    from baserate._results import Results
    from baserate._rows import MulticlassRows
    from baserate._tally import Tallies
    from baserate.infer import IntervalOptions
    from baserate.measure import Measure

Line = Mapping[str, Any]

_ENDS = (0.001, 0.999)
_SHOWN = 3
"""Measures beside each other, for which there is library."""
_COLUMNS = (
    *("measure", "model", "group", "class", "threshold", "prevalence"),
    *("value", "low", "high", "level", "how", "why"),
)


def spread_prevalences(points: int | None, *, few: bool) -> list[float] | None:
    """Usual round prevalences, or evenly spaced ones in log-odds; None for the library's default."""
    import numpy as np

    from baserate.shift import default_prevalences

    if few:
        return [float(each) for each in default_prevalences()]
    if points is None:
        return None
    low, high = _ENDS
    inner = 1 / (1 + np.exp(-np.linspace(np.log(low / (1 - low)), np.log(high / (1 - high)), points)))
    # Without the traces that exponentials leave, so that the middle is 0.5.
    return [low, *(float(f"{each:.12g}") for each in inner[1:-1]), high]


def tabulate_prevalences(
    read: "Tallies",
    measures: "Sequence[str | Measure]",
    at: Sequence[float] | None,
    *,
    thresholds: Sequence[float],
    interval: "IntervalOptions | None",
) -> "Results":
    """Tabulate every model, at every threshold; labels have none."""
    from baserate import Results, shift

    level = {} if interval is None else {"level": interval.level, "seed": interval.seed}
    curve_settings: dict[str, Any] = {"prevalences": at, "band": interval is not None, **level}
    curve_settings |= {"measures": measures} if measures else {}
    rows: list[dict[str, Any]] = []
    results: Results | None = None
    for model, groups in read.models.items():
        labels = model == read.intake.columns.get("predicted")
        one_model = replace(read, models={model: groups}, decisions={})
        cuts: Sequence[float | None] = [None] if labels or not thresholds else thresholds
        for cut in cuts:
            results = shift.prevalence_curve(one_model, threshold=cut, **curve_settings)
            own = {"model": model if len(read.models) > 1 else None, "class": None}
            own |= {"threshold": None} if labels else {}
            sure = results.data["level"]
            rows += [{**row, **own, "level": None if row["low"] is None else sure} for row in results.rows()]
    assert results is not None  # noqa: S101  (there is a model)
    data = {name: value for name, value in results.data.items() if name not in {"level", "seed"}}
    data |= {"digest": read.digest}
    if interval is not None:
        data |= {"interval": {"level": interval.level, "method": None, "seed": interval.seed, "clusters": None}}
    return Results({name: [row[name] for row in rows] for name in _COLUMNS}, data)


def prevalence_curve_page(results: "Results", reading: Reading, digits: int) -> Page:
    """Lay out a panel for each curve, prevalences below each other."""
    reasons = Footnotes()
    curves: dict[tuple[str, ...], dict[str, list[Line]]] = {}
    for row in results.rows():
        which = (str(row["model"]), str(row["group"]), str(row["threshold"]))
        curves.setdefault(which, {}).setdefault(row["measure"], []).append(row)
    panels = [panel for each in curves.values() for panel in _panels(each, reading, results.data, reasons, digits)]
    return Page(headline(reading, results.data), tuple(panels), reasons.footnotes() + _bounds(results.data))


def _panels(
    curves: Mapping[str, Sequence[Line]], reading: Reading, data: Mapping[str, Any], reasons: Footnotes, digits: int
) -> Iterator[Table]:
    """Lay out as many measures side by side as fit."""
    measures = list(curves)
    for start in range(0, len(measures), _SHOWN):
        shown = measures[start : start + _SHOWN]
        lines = list(zip(*(curves[name] for name in shown), strict=True))
        names = align_decimals([format_exact(float(f"{line[0]['prevalence']:.4g}")) for line in lines])
        rows = tuple(
            Row(name, tuple(estimate_cell(each, reasons, digits=digits, several=True) for each in line))
            for name, line in zip(names, lines, strict=True)
        )
        heads = tuple(name.replace("_", " ") for name in shown)
        yield Table(f"{_title(lines[0][0], reading, data)}, prevalence", heads, (Section("", rows),))


def _title(row: Line, reading: Reading, data: Mapping[str, Any]) -> str:
    model = shorten_label(row["model"] or next(iter(reading.score), reading.predicted))
    cut = f"= {shorten_label(data['positive'])}" if row["threshold"] is None else f"≥ {format_exact(row['threshold'])}"
    if not reading.group:
        return f"{model} {cut}"
    groups = (f"{shorten_label(name)} = {shorten_label(value)}" for name, value in (row["group"] or {}).items())
    return f"{', '.join(groups) or EVERYBODY}: {model} {cut}"


def _bounds(data: Mapping[str, Any]) -> tuple[str, ...]:
    if "interval" not in data:
        return ()
    sure = format_level(data["interval"]["level"])
    return (f"Intervals: bounds at each prevalence by itself, taken as known, with {sure} % confidence.",)


FEW = 25
"""Prevalences that a person wants to read."""

_EXAMPLES = (
    ("at a prevalence of 2 %", "baserate shift people.csv --truth sick --score risk --to 0.02"),
    (
        "by group, a few measures, for a program",
        "baserate shift people.csv --truth sick --score risk --to 2% --group site --measures npv,brier --json",
    ),
    ("a sample with every tenth negative", "baserate shift sample.csv --truth fraud --score p --under-sampled 10"),
    ("against the prevalence", "baserate shift people.csv --truth sick --score risk --threshold 0.2 --curve"),
    (
        "such a curve, to plot",
        "baserate shift people.csv --truth sick --score risk --curve --measures precision -o curve.csv",
    ),
    (
        "many classes, from labels",
        "baserate shift pets.csv --truth is --predicted called --to cat=0.2,dog=0.7,fish=0.1",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftOptions(SamplingRatios):
    """Options of a prevalence shift: the prevalence, or a curve, and the measures."""

    to: Annotated[
        Prior | None,
        option(
            type=read_prior,
            metavar="SHARE",
            help="Prevalence in deployment, such as 0.02 or 2%; of several classes a share for each: cat=0.2,dog=0.8.",
        ),
    ] = None
    curve: Annotated[bool, option(help="Table of measures of decisions against the prevalence instead.")] = False
    points: Annotated[
        int | None,
        option(
            type=whole_number(POINTS),
            default=f"199; in tables at most {FEW}",
            help="Number of prevalences of the curve, evenly spaced in log-odds.",
        ),
    ] = None
    threshold: Thresholds = ()
    measures: Annotated[
        tuple[tuple[str, ...], ...],
        option(
            type=names,
            metavar="NAMES",
            shell_complete=complete_measures,
            multiple=True,
            default="the usual ones; of a curve precision, npv and accuracy",
            help="Measures by any of their names, with commas, or all.",
        ),
    ] = ()
    wanted: "list[Measure] | Literal['usual', 'all']" = "usual"
    """The measures, with the numbers that they depend on."""

    def __post_init__(self) -> None:
        ways = {
            "--to": self.to,
            "--gamma": self.gamma,
            "--under-sampled and --over-sampled": self.over_sampled
            if self.under_sampled is None
            else self.under_sampled,
            "--curve": self.curve or None,
        }
        given = [name for name, value in ways.items() if value is not None]
        if not given:
            raise click.UsageError(
                "where to? Give a prevalence, such as --to 0.02, or --gamma, --under-sampled or --over-sampled; or all "
                "prevalences, with --curve."
            )
        if len(given) > 1:
            raise click.UsageError(f"{given[0]} and {given[1]} both say where to; give one of them.")
        if self.points is not None and not self.curve:
            raise click.UsageError("--points is for a curve; add --curve instead of a prevalence.")
        _ = self.odds_ratio  # checks it

    @property
    def measure_names(self) -> list[str]:
        """Names of measures."""
        return [name for each in self.measures for name in each]

    def bind_measures(self, settings: MeasureSettings) -> "list[Measure] | Literal['usual', 'all']":
        """Measures with the numbers that they depend on."""
        from baserate.cli._measure_page import parse_measures

        return settings.bind(parse_measures(self.measure_names))

    @property
    def at(self) -> list[float]:
        """Thresholds, each once."""
        return flatten(self.threshold)


@command("shift", examples=_EXAMPLES)
def shift(
    reading: Reading,
    classes: ClassOptions,
    shift_options: ShiftOptions,
    settings: MeasureSettings,
    intervals: IndependentIntervals,
    output: Output,
) -> None:
    """Adjust measures to another prevalence.

    Each class is assumed to have the same scores in deployment as in the sample (label shift). Decisions are those of
    the scores as given. Measures of probabilities are shown for the scores as given, and for scores adjusted to the
    prevalence, which `baserate reprior` does row by row.
    """
    from baserate import Tallies
    from baserate.cli._measure import parse_class_measures

    many = isinstance(shift_options.to, dict)
    if many and (reading.score or reading.positive or reading.negative):
        raise click.UsageError("of two classes, --to is the share of the positive one alone, such as --to 0.02.")
    if not (many or classes.is_requested or may_have_many_classes(reading)):
        wanted = shift_options.bind_measures(settings)  # before reading, so that errors come at once
        _shift_binary(
            read_tallies(reading, quiet=output.quiet), reading, replace(shift_options, wanted=wanted), intervals, output
        )
        return
    from baserate.cli._measure import read_classes, require_costs

    parse_class_measures(shift_options.measure_names)
    read = read_classes(reading, classes, quiet=output.quiet, alike=many)
    if isinstance(read, Tallies):
        _shift_binary(
            read, reading, replace(shift_options, wanted=shift_options.bind_measures(settings)), intervals, output
        )
    else:
        settings.refuse_for_classes()
        require_costs(shift_options.measure_names, classes.costs)
        _shift_multiclass(read, reading, classes, shift_options, intervals, output)


def _shift_binary(
    read: "Tallies", reading: Reading, shift_options: ShiftOptions, intervals: Intervals, output: Output
) -> None:
    if shift_options.curve:
        _print_curve(read, reading, shift_options, intervals, output)
        return
    from baserate import shift as library
    from baserate.cli._shift_page import page

    assert not isinstance(shift_options.to, dict)  # noqa: S101  (for the type checker)
    results = library.summary(
        read,
        to=shift_options.to,
        gamma=shift_options.odds_ratio,
        measures=shift_options.wanted,
        threshold=shift_options.at or None,
        interval=intervals.to_interval(),
    )
    print_notes(reading, results.data, output)
    print_results(results, lambda: page(results, reading, output.digits), output)


def _shift_multiclass(
    read: "Confusions | MulticlassRows",
    reading: Reading,
    classes: Classes,
    shift_options: ShiftOptions,
    intervals: Intervals,
    output: Output,
) -> None:
    from baserate import shift as library
    from baserate.cli._measure import parse_class_measures, read_averages, read_costs
    from baserate.cli._shift_page import class_page

    _check_many(shift_options, read.labels)
    assert isinstance(shift_options.to, dict)  # noqa: S101  (for the type checker)
    results = library.class_summary(
        read,
        to=match_classes(shift_options.to, read.labels),
        measures=parse_class_measures(shift_options.measure_names),
        averages=read_averages(classes.average, read.labels),
        costs=read_costs(classes.costs),
        interval=intervals.to_interval(),
    )
    print_notes(reading, results.data, output)
    print_results(results, lambda: class_page(results, reading, output.digits), output)


def _check_many(shift_options: ShiftOptions, labels: Sequence[object]) -> None:
    """Say what is for two classes alone."""
    for name, given in (("--curve", shift_options.curve), ("--threshold", shift_options.threshold)):
        if given:
            raise click.UsageError(f"{name} is for two classes; here are {len(labels)}: leave it out.")
    if not isinstance(shift_options.to, dict):
        shares = ",".join(f"{label}=…" for label in labels[:10]) + (",…" if len(labels) > 10 else "")
        raise click.UsageError(f"here are {len(labels)} classes; give each its share there: --to {shares}")


def _print_curve(
    read: "Tallies", reading: Reading, shift_options: ShiftOptions, intervals: Intervals, output: Output
) -> None:

    if intervals.interval:
        raise click.UsageError("--interval is for one prevalence; the bounds of a curve are what suits each measure.")
    few = shift_options.points is None and output.form in {"table", "md"}
    at = spread_prevalences(shift_options.points, few=few)
    named = shift_options.measure_names if isinstance(shift_options.wanted, str) else shift_options.wanted
    results = tabulate_prevalences(read, named, at, thresholds=shift_options.at, interval=intervals.to_interval())
    left_out = ["a few prevalences are shown; --points N shows so many, --format csv 199."] if few else []
    print_notes(reading, {**results.data, "notes": [*results.data["notes"], *left_out]}, output)
    print_results(results, lambda: prevalence_curve_page(results, reading, output.digits), output)
