"""`baserate export`: a map as code that needs no baserate."""

from typing import TYPE_CHECKING, Literal

import click

from baserate.cli._code import DIALECT, OUTPUT, in_columns
from baserate.cli._failures import debug
from baserate.cli._maps import columns, loaded
from baserate.cli._options import command
from baserate.cli._say import put

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator

_EXAMPLES = (
    ("an expression for the warehouse", "baserate export map.json --to sql"),
    ("a function for a service", "baserate export map.json --to python --name chance -o chance.py"),
)


@command("export", examples=_EXAMPLES)
@click.argument("map_", type=click.Path(), metavar="MAP")
@click.option("--to", type=click.Choice(["sql", "python"]), required=True, help="What to write it as.")
@click.option(
    "--score",
    metavar="COLUMN",
    help="Column of scores in SQL, if it is not the one that the map was fitted on; for a map of several classes "
    "CLASS=COLUMN,….",
)
@click.option("--name", metavar="NAME", help="Name of the function in Python; otherwise calibrated.")
@DIALECT
@OUTPUT
@debug
def export(
    map_: str,
    to: Literal["sql", "python"],
    score: str | None,
    name: str | None,
    dialect: str | None,
    output: str | None,
) -> None:
    """Write a map as an expression of SQL, or as a function of Python that needs the standard library alone.

    MAP is a file that holds a map. SQL of a map of several classes is a list of columns, one for each.
    """
    from baserate.apply import as_python

    if to == "python" and (score, dialect) != (None, None):
        given = "--dialect" if score is None else "--score"
        raise click.UsageError(f"{given} is for SQL; a function takes scores, not columns: leave it out.")
    if to == "sql" and name is not None:
        raise click.UsageError("--name is for Python; an expression has none: leave it out.")
    read = loaded(map_)
    put(as_python(read, name=name) if to == "python" else _sql(read, score, dialect or "duckdb"), output)


def _sql(map_: "Calibrator | MulticlassCalibrator", score: str | None, dialect: str) -> str:
    from baserate.apply import as_sql

    return in_columns(as_sql(map_, dialect=dialect, score=columns(map_, score)), dialect)
