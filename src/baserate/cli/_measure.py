"""`baserate measure`: read, measure."""

import click

from baserate.cli._ask import answer, explain, tallies
from baserate.cli._options import Reading, Writing, command, complete_measures, names, reading, thresholds, writing

_EXAMPLES = (
    ("from a file of predictions to numbers", "baserate measure people.csv --truth sick --score risk"),
    ("at two thresholds", "baserate measure people.csv --truth sick --score risk --threshold 0.2,0.5"),
    (
        "by group, a few measures, for a program",
        "baserate measure people.csv --truth sick --score risk --group site --measures auc,f1 --json",
    ),
    ("from another program", "zcat people.csv.gz | baserate measure - --truth sick --score risk"),
)


@command("measure", examples=_EXAMPLES)
@reading
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
    reading: Reading, threshold: tuple[tuple[float, ...], ...], measures: tuple[tuple[str, ...], ...], writing: Writing
) -> None:
    """Measure predictions: the 2×2 table, rates, ranking, probabilities.

    FILE is a CSV, TSV, Parquet, JSON-lines or Arrow file, a folder or a pattern of such files, or - for stdin.
    """
    from baserate.cli._summary import chosen, page
    from baserate.measure import summary

    wanted = chosen([name for each in measures for name in each])  # before reading, so that a slip is told at once
    read = tallies(reading, quiet=writing.quiet)
    found = summary(read, measures=wanted, threshold=dict.fromkeys(at for each in threshold for at in each) or None)
    explain(reading, found.data, writing)
    answer(found, lambda: page(found, reading, writing.digits), writing)
