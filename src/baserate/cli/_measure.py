"""`baserate measure`: read, measure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click

from baserate.cli._ask import answer, explain, tallies
from baserate.cli._classes import Classes, classes
from baserate.cli._options import Reading, Writing, command, complete_measures, names, reading, thresholds, writing

if TYPE_CHECKING:
    from baserate._class_rows import ClassRows
    from baserate._confusions import Confusions
    from baserate._tallies import Tallies

_EXAMPLES = (
    ("from a file of predictions to numbers", "baserate measure people.csv --truth sick --score risk"),
    ("at two thresholds", "baserate measure people.csv --truth sick --score risk --threshold 0.2,0.5"),
    (
        "by group, a few measures, for a program",
        "baserate measure people.csv --truth sick --score risk --group site --measures auc,f1 --json",
    ),
    ("from another program", "zcat people.csv.gz | baserate measure - --truth sick --score risk"),
    ("many classes, from labels", "baserate measure pets.csv --truth is --predicted called"),
    ("many classes, from a score for each", "baserate measure pets.csv --truth is --scores p_ --average macro"),
)


@command("measure", examples=_EXAMPLES)
@reading
@classes
@click.option(
    "--threshold",
    type=thresholds,
    metavar="NUMBERS",
    multiple=True,
    help="Flag scores at or above it, inf too; several with commas. Otherwise 0.5 if scores are probabilities.",
)
@click.option(
    "--measures",
    type=names,
    metavar="NAMES",
    shell_complete=complete_measures,
    multiple=True,
    help="Measures by any of their names, separated by commas, or all; otherwise the usual ones.",
)
@writing
def measure(
    reading: Reading,
    classes: Classes,
    threshold: tuple[tuple[float, ...], ...],
    measures: tuple[tuple[str, ...], ...],
    writing: Writing,
) -> None:
    """Measure predictions: the 2×2 table, rates, ranking, probabilities; or many classes.

    FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    from baserate import Tallies
    from baserate.cli._classes import known, read_classes
    from baserate.cli._summary import chosen

    asked = [name for each in measures for name in each]
    at = [each for several in threshold for each in several]
    if not classes.asked and (reading.score or reading.positive or reading.negative or not reading.predicted):
        wanted = chosen(asked)  # before reading, so that a slip is told at once
        _of_two(tallies(reading, quiet=writing.quiet), reading, wanted, at, writing)
        return
    known(asked)
    read = read_classes(reading, classes, quiet=writing.quiet)
    if isinstance(read, Tallies):
        _of_two(read, reading, chosen(asked), at, writing)
        return
    if at:
        raise click.UsageError("a threshold is for two classes; of several, the one with the highest score is taken.")
    _of_many(read, reading, classes, known(asked), writing)


def _of_two(
    read: "Tallies",
    reading: Reading,
    measures: list[str] | Literal["usual", "all"],
    threshold: Sequence[float],
    writing: Writing,
) -> None:
    from baserate.cli._summary import page
    from baserate.measure import summary

    found = summary(read, measures=measures, threshold=dict.fromkeys(threshold) or None)
    explain(reading, found.data, writing)
    answer(found, lambda: page(found, reading, writing.digits), writing)


def _of_many(
    read: "Confusions | ClassRows",
    reading: Reading,
    classes: Classes,
    measures: list[str] | Literal["usual", "all"],
    writing: Writing,
) -> None:
    from baserate.cli._ask import headline
    from baserate.cli._classes import averages, costs, page
    from baserate.measure import multiclass

    found = multiclass.summary(
        read,
        measures=measures,
        averages=averages(classes.average, read.labels),
        costs=costs(classes.costs),
    )
    explain(reading, found.data, writing)
    answer(found, lambda: page(found, reading, headline(reading, found.data), writing.digits), writing)
