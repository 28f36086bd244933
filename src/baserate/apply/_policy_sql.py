"""A policy as expressions of SQL, or as a query that works out once what it needs several times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from baserate._errors import OptionError
from baserate.apply._cases import Case, When, laid_out
from baserate.apply._decision import Decision
from baserate.apply._dialects import Dialect
from baserate.apply._formulas import finite
from baserate.apply._policy_formulas import Places, action_case, chance_case, lot_case

Steps = Mapping[str, Mapping[str, str | Case]]
"""Sub-queries by their names, and what each of them works out."""


def expressions(asked: Decision, say: Dialect) -> dict[str, str]:
    """Expressions of the new columns, by their names."""
    return _made(asked, _given(asked, say), say)


def query(asked: Decision, table: str, say: Dialect) -> str:
    """Select every column of a table, then the new ones.

    Each step is a lateral sub-query, so that none of our names can meet one of the table's.
    """
    steps, at = _steps(asked, say)
    made = [f"{each} AS {say.quoted(name)}" for name, each in _made(asked, at, say, depth=1).items()]
    columns = ",\n  ".join(["t.*", *made])
    joined = "\n".join([f"FROM {_table(table, say)} AS t", *(_lateral(name, steps[name]) for name in steps)])
    return f"SELECT\n  {columns}\n{joined}"


def _given(asked: Decision, say: Dialect, of: str = "") -> Places:
    """Columns of a table as what a policy needs."""

    def cast(name: str, kind: str) -> str:
        return f"CAST({of}{say.quoted(name)} AS {kind})"

    return Places(
        cast(asked.score, say.double),
        [cast(name, say.text) for name in asked.groups],
        None if asked.id is None else cast(asked.id, say.text),
    )


def _steps(asked: Decision, say: Dialect) -> tuple[Steps, Places]:
    """Work out the columns as they are needed, and the lot; and say where they then are."""
    given = _given(asked, say, "t.")
    groups = {f"group_{place}": each for place, each in enumerate(given.groups, 1)}
    ids = {} if given.id is None else {"id": given.id}
    steps: dict[str, Mapping[str, str | Case]] = {"given": {"score": given.score, **groups, **ids}}
    at = Places("given.score", [f"given.{name}" for name in groups], "given.id" if ids else None)
    if ids:
        steps["drawn"], at = {"lot": lot_case(asked.policy, at, say)}, replace(at, lot="drawn.lot")
    return steps, at


def _lateral(name: str, columns: Mapping[str, str | Case]) -> str:
    made = ",\n    ".join(f"{laid_out(each, 2)} AS {column}" for column, each in columns.items())
    return f"CROSS JOIN LATERAL (\n  SELECT\n    {made}\n) AS {name}"


def _made(asked: Decision, at: Places, say: Dialect, *, depth: int = 0) -> dict[str, str]:
    """Expressions of the new columns; NULL where a row is refused."""
    fit = finite(at.score) if at.id is None else f"{finite(at.score)} AND {at.id} IS NOT NULL"

    def guarded(found: str | Case) -> str:
        return laid_out(Case((When((fit,), found),)), depth)

    action, *chances = asked.made
    of_each = zip(chances, asked.policy.actions, strict=False)  # there are none unless somebody asked for them
    # Bare numbers are decimals in PostgreSQL.
    each = {name: f"CAST({guarded(chance_case(asked.policy, of, at, say))} AS {say.double})" for name, of in of_each}
    return {action: guarded(action_case(asked.policy, at, say)), **each}


def _table(name: str, say: Dialect) -> str:
    """Name of a table, perhaps with that of a schema and a catalogue before it."""
    parts = name.split(".")
    if not all(parts):
        raise OptionError(f"table is {name!r}; give a name such as 'scores' or 'schema.scores'.")
    return ".".join(map(say.quoted, parts))
