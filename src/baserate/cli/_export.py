"""`baserate export`: a calibrator or a policy as code that needs no baserate."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import click

from baserate.cli._declarations import OutputFile, argument, command, option
from baserate.cli._files import load_calibrator_or_policy, parse_columns
from baserate.cli._terminal import write_output
from baserate.cli._values import RegisteredName

if TYPE_CHECKING:
    from baserate._calibrator import Calibrator, MulticlassCalibrator
    from baserate._policy import Policy

_EXAMPLES = (
    ("a calibrator as an expression for the warehouse", "baserate export map.json --to sql"),
    ("a calibrator as a function for a service", "baserate export map.json --to python --name chance -o chance.py"),
    (
        "a policy as a query for PostgreSQL",
        "baserate export policy.json --to sql --dialect postgresql --table clinic.scores -o decide.sql",
    ),
    ("a policy as a function for a service", "baserate export policy.json --to python --name triage -o triage.py"),
)
_OF_SQL = ("dialect", "score", "table", "group", "id", "chances")
_OF_POLICIES = ("table", "group", "id", "chances")


def _list_dialects() -> dict[str, str]:
    from baserate.apply import DIALECTS

    return dict.fromkeys(DIALECTS, "")


def _find_dialect_name(text: str) -> str:
    from baserate.apply import find_dialect

    return find_dialect(text).name


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Options that say what to write, and which columns it reads and makes."""

    file: Annotated[str, argument(type=click.Path(), metavar="FILE")]
    to: Annotated[Literal["sql", "python"], option(type=click.Choice(["sql", "python"]), help="Target language.")]
    dialect: Annotated[
        str | None,
        option(
            type=RegisteredName(_list_dialects, _find_dialect_name),
            metavar="NAME",
            default="duckdb",
            help="SQL dialect; `baserate list dialects` lists them.",
        ),
    ] = None
    score: Annotated[
        str | None,
        option(
            metavar="COLUMN",
            default="that of the calibrator or policy",
            help="Column with the scores, in SQL; of several classes CLASS=COLUMN,….",
        ),
    ] = None
    table: Annotated[
        str | None,
        option(metavar="NAME", default="an expression", help="Table to query, such as clinic.scores; for policies."),
    ] = None
    group: Annotated[
        tuple[str, ...],
        option(
            metavar="COLUMN",
            multiple=True,
            default="those of the policy",
            help="Column with groups, in SQL; one for each attribute of the policy.",
        ),
    ] = ()
    id: Annotated[str | None, option(metavar="COLUMN", help="Column with row IDs, for a randomized policy.")] = None
    name: Annotated[
        str | None,
        option(
            metavar="NAME",
            default="calibrated; of a policy decide, or action in SQL",
            help="Name of the function, or of the new column of a query.",
        ),
    ] = None
    chances: Annotated[bool, option(help="Probability of each action of a policy, as NAME_chance_ACTION.")] = False
    path: OutputFile = None

    def check(self, *, policy: bool) -> None:
        """Refuse options that have no use for this language and this kind of file."""
        for name in _OF_SQL if self.to == "python" else ():
            if getattr(self, name):
                raise click.UsageError(f"--{name} is for SQL; a function takes scores, not columns: leave it out.")
        for name in () if policy else _OF_POLICIES:
            if getattr(self, name):
                raise click.UsageError(f"--{name} is for policies, and {self.file} holds a map; leave it out.")
        if self.to == "sql" and self.name is not None and not policy:
            raise click.UsageError("--name is for Python; an expression has none: leave it out.")


@command("export", examples=_EXAMPLES)
def export(export: Export) -> None:
    """Export a calibrator or a policy to SQL or Python.

    FILE is a calibrator or a policy. SQL is an expression, or of a policy with --table a query that keeps every column;
    of several classes it is a list of columns. NULL stands where `baserate apply` would refuse a row: where a score is
    missing or infinite, where the policy refuses the group, and where the id of a randomized policy is missing. Python
    is a function of the standard library alone, which raises ValueError there.
    """
    from baserate import Policy
    from baserate.apply import as_python

    loaded = load_calibrator_or_policy(export.file)
    export.check(policy=isinstance(loaded, Policy))
    write_output(
        as_python(loaded, name=export.name) if export.to == "python" else _write_sql(loaded, export), export.path
    )


def _write_sql(loaded: "Calibrator | MulticlassCalibrator | Policy", export: Export) -> str:
    from baserate import Policy
    from baserate.apply import as_sql, find_dialect

    dialect = export.dialect or "duckdb"
    if isinstance(loaded, Policy):
        expressions = as_sql(
            loaded,
            dialect=dialect,
            table=export.table,
            score=export.score,
            group=export.group or None,
            id=export.id,
            to=export.name,
            chances=export.chances,
        )
    else:
        expressions = as_sql(loaded, dialect=dialect, score=parse_columns(loaded, export.score))
    if isinstance(expressions, str):
        return expressions
    return ",\n".join(f"{each} AS {find_dialect(dialect).quote_name(name)}" for name, each in expressions.items())
