"""`baserate measure`: read, measure, say how sure it is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from baserate.cli._ask import answer, explain, rows, tallies
from baserate.cli._classes import Classes, classes, of_labels
from baserate.cli._intervals import Intervals, intervals
from baserate.cli._options import THRESHOLD, Reading, Writing, command, complete_measures, names, reading, writing
from baserate.cli._settings import Stated, stated

if TYPE_CHECKING:
    from baserate._confusion import Confusions
    from baserate._results import Results
    from baserate._rows import MulticlassRows, Rows
    from baserate._tally import Tallies
    from baserate.infer import Interval
    from baserate.measure import Measure

_EXAMPLES = (
    ("from a file of predictions to numbers", "baserate measure people.csv --truth sick --score risk"),
    ("at two thresholds", "baserate measure people.csv --truth sick --score risk --threshold 0.2,0.5"),
    (
        "by group, a few measures, for a program",
        "baserate measure people.csv --truth sick --score risk --group site --measures auc,f1 --json",
    ),
    ("rows of one patient belong together", "baserate measure scans.csv --truth sick --score risk --cluster patient"),
    ("from another program", "zcat people.csv.gz | baserate measure - --truth sick --score risk"),
    ("many classes, from labels", "baserate measure pets.csv --truth is --predicted called"),
    ("many classes, from a score for each", "baserate measure pets.csv --truth is --scores p_ --average macro"),
)


@command("measure", examples=_EXAMPLES)
@reading
@classes
@THRESHOLD
@click.option(
    "--measures",
    type=names,
    metavar="NAMES",
    shell_complete=complete_measures,
    multiple=True,
    help="Measures by any of their names, separated by commas, or all; otherwise the usual ones.",
)
@stated
@intervals
@writing
def measure(  # noqa: PLR0913, PLR0917  (one for each group of options)
    reading: Reading,
    classes: Classes,
    threshold: tuple[tuple[float, ...], ...],
    measures: tuple[tuple[str, ...], ...],
    stated: Stated,
    intervals: Intervals,
    writing: Writing,
) -> None:
    """Measure predictions: the 2×2 table, rates, ranking, probabilities; or many classes.

    FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    from baserate import Tallies
    from baserate.cli._classes import known, read_classes, require_costs
    from baserate.cli._summary import chosen

    asked = [name for each in measures for name in each]
    at = [each for several in threshold for each in several]
    interval = intervals.chosen
    if intervals.cluster and classes.asked:
        raise click.UsageError("--cluster is for two classes; intervals of many classes take rows as independent.")
    if intervals.cluster or not (classes.asked or of_labels(reading)):
        wanted = stated.bind(chosen(asked))  # before reading, so that a slip is told at once
        quiet = writing.quiet
        read = (
            rows(reading, quiet=quiet, cluster=intervals.cluster)
            if intervals.cluster
            else tallies(reading, quiet=quiet)
        )
        _of_two(_summary(read, wanted, at, interval), reading, writing)
        return
    known(asked)
    found = read_classes(reading, classes, quiet=writing.quiet)
    if isinstance(found, Tallies):
        _of_two(_summary(found, stated.bind(chosen(asked)), at, interval), reading, writing)
        return
    stated.refuse_for_classes()
    require_costs(asked, classes.costs)
    if at:
        raise click.UsageError("a threshold is for two classes; of several, the one with the highest score is taken.")
    _of_many(_class_summary(found, known(asked), classes, interval), reading, writing)


def _summary(
    read: "Tallies | Rows",
    measures: "list[Measure] | Literal['usual', 'all']",
    threshold: Sequence[float],
    interval: "Interval | None",
) -> "Results":
    from baserate import Rows

    at = list(dict.fromkeys(threshold)) or None
    if interval is None:
        from baserate.measure import summary

        return summary(read.tallies() if isinstance(read, Rows) else read, measures=measures, threshold=at)
    from baserate import infer

    return infer.summary(read, measures=measures, threshold=at, interval=interval)


def _of_two(found: "Results", reading: Reading, writing: Writing) -> None:
    from baserate.cli._summary import page

    explain(reading, found.data, writing)
    answer(found, lambda: page(found, reading, writing.digits), writing)


def _class_summary(
    read: "Confusions | MulticlassRows",
    measures: list[str] | Literal["usual", "all"],
    classes: Classes,
    interval: "Interval | None",
) -> "Results":
    from baserate.cli._classes import averages, costs

    of: dict[str, Any] = {
        "measures": measures,
        "averages": averages(classes.average, read.labels),
        "costs": costs(classes.costs),
    }
    if interval is None:
        from baserate.measure import multiclass

        return multiclass.summary(read, **of)
    from baserate import infer

    return infer.class_summary(read, **of, interval=interval)


def _of_many(found: "Results", reading: Reading, writing: Writing) -> None:
    from baserate.cli._ask import headline
    from baserate.cli._classes import page

    explain(reading, found.data, writing)
    answer(found, lambda: page(found, reading, headline(reading, found.data), writing.digits), writing)
