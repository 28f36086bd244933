"""`baserate policy`: what a policy does, to read; or the policy as code that needs no baserate."""

from collections.abc import Callable
from dataclasses import dataclass

import click

from baserate.cli._ask import answer, remark
from baserate.cli._code import DIALECT, OUTPUT, in_columns
from baserate.cli._failures import debug
from baserate.cli._options import Choices, Verb, Writing, bundled, command, writing
from baserate.cli._policies import loaded
from baserate.cli._say import put
from baserate.text import describe_files


@click.group(
    "policy",
    cls=Choices,
    examples=(
        ("what does it do, and how did it come about?", "baserate policy show policy.json"),
        ("decide in the warehouse", "baserate policy sql policy.json --dialect postgresql --table clinic.scores"),
        ("decide in a service", "baserate policy python policy.json -o decide.py"),
    ),
)
@debug
def policy() -> None:
    """Show a policy, or write it as code that needs no baserate."""


_PATH = click.argument("path", type=click.Path(), metavar="POLICY")


@command(
    "show",
    summary="Show the thresholds, inputs and origin of a policy.",
    examples=(
        ("for people", "baserate policy show policy.json"),
        ("for programs", "baserate policy show policy.json --json"),
    ),
)
@_PATH
@writing
def show(path: str, writing: Writing) -> None:
    """Tell what is done with which scores of whom, what the policy needs, and how it came about.

    POLICY is a file that holds one.
    """
    from baserate.cli._shown import headline, page, results

    read = loaded(path)
    found = results(read)
    line = headline(read, describe_files([path]))
    remark(line, found.data, writing, inferred=False)
    answer(found, lambda: page(read, line, writing.digits), writing)


@dataclass(frozen=True, slots=True)
class Asked:
    """Which SQL, and which columns it reads and makes."""

    dialect: str | None
    table: str | None
    score: str | None
    group: tuple[str, ...]
    id: str | None
    to: str | None
    chances: bool
    output: str | None


_ASKED: tuple[Callable[[Verb], Verb], ...] = (
    DIALECT,
    click.option(
        "--table", metavar="NAME", help="Write a query of this table, such as clinic.scores; otherwise an expression."
    ),
    click.option("--score", metavar="COLUMN", help="Column of scores, if it is not the one that it was chosen on."),
    click.option(
        "--group",
        metavar="COLUMN",
        multiple=True,
        help="Column of groups, if it is called otherwise; one for each attribute.",
    ),
    click.option("--id", metavar="COLUMN", help="Column of ids, which lots are drawn with."),
    click.option("--to", metavar="NAME", help="Name of the new column; otherwise action."),
    click.option("--chances", is_flag=True, help="Add the chance of each action, as NAME_chance_ACTION."),
    OUTPUT,
    debug,
)


def _asked(verb: Verb) -> Verb:
    return bundled(verb, Asked, "asked", _ASKED)


@command(
    "sql",
    summary="Write a policy as SQL.",
    examples=(
        ("an expression", "baserate policy sql policy.json"),
        (
            "a query for PostgreSQL",
            "baserate policy sql policy.json --dialect postgresql --table clinic.scores -o decide.sql",
        ),
    ),
)
@_PATH
@_asked
def sql(path: str, asked: Asked) -> None:
    """Write a policy as SQL: an expression, or with --table a query that keeps every column and adds the action.

    POLICY is a file that holds one. NULL stands where `baserate apply` would refuse a row: where a score is missing or
    infinite, where the policy refuses the group, and where it draws lots and the id is missing.
    """
    from baserate.apply import as_sql

    dialect = asked.dialect or "duckdb"
    found = as_sql(
        loaded(path),
        dialect=dialect,
        table=asked.table,
        score=asked.score,
        group=asked.group or None,
        id=asked.id,
        to=asked.to,
        chances=asked.chances,
    )
    put(in_columns(found, dialect), asked.output)


@command(
    "python",
    summary="Write a policy as a Python function.",
    examples=(("a function for a service", "baserate policy python policy.json --name triage -o triage.py"),),
)
@_PATH
@click.option("--name", metavar="NAME", help="Name of the function; otherwise decide.")
@OUTPUT
@debug
def python(path: str, name: str | None, output: str | None) -> None:
    """Write a policy as a function of Python that needs the standard library alone.

    POLICY is a file that holds one. The function raises ValueError where `baserate apply` would refuse a row.
    """
    from baserate.apply import as_python

    put(as_python(loaded(path), name=name), output)


for _verb in (show, sql, python):
    policy.add_command(_verb)
