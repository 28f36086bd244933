"""`baserate measure`: measures with confidence intervals, of two classes or several."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click

from baserate.cli._declarations import Output, command, option
from baserate.cli._io import print_notes, print_results, read_rows, read_tallies
from baserate.cli._multiclass import Classes, of_labels
from baserate.cli._options import ClassLabels, Intervals, Measures, MeasureSettings, Reading, ScoreColumns, Thresholds
from baserate.cli._values import names

if TYPE_CHECKING:
    from baserate._confusion import Confusions
    from baserate._results import Results
    from baserate._rows import MulticlassRows, Rows
    from baserate._tally import Tallies
    from baserate.infer import IntervalOptions
    from baserate.measure import Measure

_EXAMPLES = (
    ("from a file of predictions to numbers", "baserate measure people.csv --truth sick --score risk"),
    ("at two thresholds", "baserate measure people.csv --truth sick --score risk --threshold 0.2,0.5"),
    (
        "by group, a few measures, for a program",
        "baserate measure people.csv --truth sick --score risk --group site --measures auc,f1 --json",
    ),
    ("several rows of each patient", "baserate measure scans.csv --truth sick --score risk --cluster patient"),
    ("from another program", "zcat people.csv.gz | baserate measure - --truth sick --score risk"),
    ("many classes, from labels", "baserate measure pets.csv --truth is --predicted called"),
    ("many classes, from a score for each", "baserate measure pets.csv --truth is --scores p_ --average macro"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassOptions(Classes):
    """Options for several classes."""

    scores: ScoreColumns = ()
    labels: ClassLabels = ()
    average: Annotated[
        tuple[tuple[str, ...], ...],
        option(
            type=names,
            metavar="NAMES",
            multiple=True,
            help="Averages over classes: none, macro, weighted, micro, or weights such as cat=1,dog=2.",
        ),
    ] = ()
    costs: Annotated[
        str | None, option(metavar="FILE", help="Cost matrix of decisions, with true classes in rows.")
    ] = None
    cross_table: Annotated[
        str | None,
        option(
            type=click.Choice(["rows", "columns"]),
            help="FILE is a confusion matrix, with true classes in its rows or columns.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureChoice:
    """Options that say what to measure, and where to cut."""

    threshold: Thresholds = ()
    measures: Measures = ()


@command("measure", examples=_EXAMPLES)
def measure(
    reading: Reading,
    classes: ClassOptions,
    choice: MeasureChoice,
    settings: MeasureSettings,
    intervals: Intervals,
    output: Output,
) -> None:
    """Measure predictions: rates, ranking, probabilities.

    The confusion matrix comes first, then measures at each threshold, of ranks and of probabilities; or those of
    several classes.
    """
    from baserate import Tallies
    from baserate.cli._measure_page import parse_measures
    from baserate.cli._multiclass import parse_class_measures, read_classes, require_costs

    measure_names = [name for each in choice.measures for name in each]
    at = [each for several in choice.threshold for each in several]
    interval = intervals.to_interval()
    if intervals.cluster and classes.is_requested:
        raise click.UsageError("--cluster is for two classes; intervals of many classes take rows as independent.")
    if intervals.cluster or not (classes.is_requested or of_labels(reading)):
        wanted = settings.bind(parse_measures(measure_names))  # before reading, so that errors come at once
        quiet = output.quiet
        read = (
            read_rows(reading, quiet=quiet, cluster=intervals.cluster)
            if intervals.cluster
            else read_tallies(reading, quiet=quiet)
        )
        _print_binary(_summary(read, wanted, at, interval), reading, output)
        return
    parse_class_measures(measure_names)
    read_data = read_classes(reading, classes, quiet=output.quiet)
    if isinstance(read_data, Tallies):
        _print_binary(_summary(read_data, settings.bind(parse_measures(measure_names)), at, interval), reading, output)
        return
    settings.refuse_for_classes()
    require_costs(measure_names, classes.costs)
    if at:
        raise click.UsageError("a threshold is for two classes; of several, the one with the highest score is taken.")
    _print_multiclass(
        _class_summary(read_data, parse_class_measures(measure_names), classes, interval), reading, output
    )


def _summary(
    read: "Tallies | Rows",
    measures: "list[Measure] | Literal['usual', 'all']",
    threshold: Sequence[float],
    interval: "IntervalOptions | None",
) -> "Results":
    from baserate import Rows

    at = list(dict.fromkeys(threshold)) or None
    if interval is None:
        from baserate.measure import summary

        return summary(read.tallies() if isinstance(read, Rows) else read, measures=measures, threshold=at)
    from baserate import infer

    return infer.summary(read, measures=measures, threshold=at, interval=interval)


def _print_binary(results: "Results", reading: Reading, output: Output) -> None:
    from baserate.cli._measure_page import page

    print_notes(reading, results.data, output)
    print_results(results, lambda: page(results, reading, output.digits), output)


def _class_summary(
    read: "Confusions | MulticlassRows",
    measures: list[str] | Literal["usual", "all"],
    classes: Classes,
    interval: "IntervalOptions | None",
) -> "Results":
    from baserate.cli._multiclass import averages, costs

    of: dict[str, Any] = {
        "measures": measures,
        "averages": averages(classes.average, read.labels),
        "costs": costs(classes.costs),
    }
    if interval is None:
        from baserate.measure import multiclass

        return multiclass.summary(read, **of)
    from baserate import infer

    return infer.multiclass_summary(read, **of, interval=interval)


def _print_multiclass(results: "Results", reading: Reading, output: Output) -> None:
    from baserate.cli._io import headline
    from baserate.cli._multiclass import page

    print_notes(reading, results.data, output)
    print_results(results, lambda: page(results, reading, headline(reading, results.data), output.digits), output)
