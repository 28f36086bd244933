"""A policy applied by DuckDB: rows stay in the engine, and only those whose lot decides are hashed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from baserate._policy import REFUSE
from baserate.apply._decision import Decision
from baserate.apply._dialects import DIALECTS
from baserate.apply._engine import REFUSED, Source, first_wrong
from baserate.apply._looked_up import looked_up
from baserate.apply._policy_formulas import Places, action, any_known, by_lot, chance
from baserate.apply._refused import bad_ids, missing_ids, shared_ids, unknown_groups
from baserate.apply._wrong import SHOWN
from baserate.read import literal, number, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from baserate._errors import DataError

UNKNOWN = "a row is of a group that this policy refuses"
NAMELESS = "a row has no id, which this policy draws lots with"
SAID = (REFUSED, UNKNOWN, NAMELESS)
"""What the engine says when it meets a row that cannot be decided."""

_SAY = DIALECTS["duckdb"]
_WHOLE = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}
_JSON = {
    "VARCHAR": "text",
    **dict.fromkeys(("BIGINT", "UBIGINT"), "whole numbers"),
    "DOUBLE": "numbers that are not whole, or too large",
    "BOOLEAN": "booleans",
    "OBJECT": "objects",
    "ARRAY": "lists",
}
"""Types of JSON, in words."""


def text_of_label(place: str, kind: str) -> str:
    """How a label of this type is written, in SQL."""
    if kind == "VARCHAR":
        return place
    if kind == "JSON":
        return f"({place} ->> '$')"
    if kind in ("FLOAT", "DOUBLE"):  # in full, and NaN is no label
        return f"CASE WHEN NOT isnan({place}) THEN CAST({place}::DOUBLE AS VARCHAR) END"
    return f"CAST({place} AS VARCHAR)"


class Ids(NamedTuple):
    """Where ids are, and how they are written, in SQL."""

    place: str
    text: str


def ids(name: str, place: str, kind: str) -> Ids:
    """Ids of this type; one that is written in more than one way is refused."""
    if kind in ("VARCHAR", "UUID") or kind in _WHOLE or kind.startswith("ENUM"):
        return Ids(place, text_of_label(place, kind))
    raise bad_ids(name, kind)


@dataclass(frozen=True, slots=True)
class Deciding:
    """A policy, the rows that it decides about, and where its groups and ids are, in SQL."""

    decision: Decision
    source: Source
    groups: Sequence[str]
    """As text."""
    ids: Ids | None

    def applied(self, *, prefix: str = "") -> DuckDBPyRelation:
        """Add the new columns; the engine fails at the first row that is refused."""
        policy, (given, at) = self.decision.policy, self._scored(prefix)
        refused = f"error({literal(UNKNOWN)})"
        # Categories are written in a fraction of the time that text takes.
        named = _SAY._replace(categories=f"ENUM ({', '.join(map(literal, policy.actions))})")
        found = [action(policy, at, named, refused=refused)]
        if len(self.source.made) > 1:
            found += [chance(policy, each, at, _SAY, refused=refused) for each in policy.actions]
        if self.decision.keep:
            found = [f"CASE WHEN {at.score} IS NOT NULL THEN {each} END" for each in found]
        if self.ids:  # of rows, too, whose lot does not decide: whether it does should not matter
            found[0] = f"CASE WHEN {self.ids.place} IS NULL THEN error({literal(NAMELESS)}) ELSE {found[0]} END"
        return self.source.added(given, found)

    def _scored(self, prefix: str = "") -> tuple[DuckDBPyRelation, Places]:
        """Everything that is there, and the score to decide by, which is NULL where it is missing and may be."""
        given, [score] = self.source.mapped(self.decision, prefix)
        name = quoted(f"{prefix}decided by")
        given = given.project(f"*, {score} AS {name}")
        found = looked_up(self.decision.policy, self.groups, prefix)
        for step in found.steps if found else ():
            given = given.project(step)
        branches = found.branches if found else ()
        return given, Places(name, self.groups, self.ids and self.ids.text, branches=branches)

    def refuse(self) -> None:
        """Say which rows are refused, if any are."""
        self.source.refuse(self.decision)
        if self.groups and self.decision.policy.otherwise == REFUSE:
            self._refuse_groups()
        if self.ids:
            wrong = first_wrong("missing", self.source.relation.project(f"{self.ids.place} AS id"), "id IS NULL")
            if wrong is not None:
                raise missing_ids(str(self.decision.id), wrong)

    def _refuse_groups(self) -> None:
        given, at = self._scored()
        is_known = any_known(self.decision.policy.by_group, at, _SAY)
        unknown = f"{at.score} IS NOT NULL AND ({is_known}) IS NOT TRUE"
        names = [f"group{place}" for place in range(len(self.groups))]
        texts = ", ".join(f"{text} AS {name}" for text, name in zip(self.groups, names, strict=True))
        each = given.filter(unknown).project(texts).aggregate(f"{', '.join(names)}, count(*) AS many")
        [(groups, rows)] = each.aggregate("count(*), sum(many)").fetchall()
        if groups:
            shown = each.order(", ".join(["many DESC", *(f"{name} NULLS LAST" for name in names)])).limit(SHOWN)
            raise self._unknown(shown.fetchall(), (groups, int(rows)))

    def _unknown(self, shown: list[tuple[Any, ...]], whole: tuple[int, int]) -> DataError:
        many = {tuple(texts): rows for *texts, rows in shown}
        [(total,)] = self.source.relation.aggregate("count(*)").fetchall()
        others = (whole[0] - len(many), whole[1] - sum(many.values()))
        return unknown_groups(self.decision.policy.attributes, many, total, others=others)

    def check_json_ids(self, place: str) -> None:
        """See that ids in JSON are all text, or all whole numbers; `place` holds them as they are."""
        kinds = self.source.relation.project(f"json_type({place}) AS kind").distinct().order("kind").fetchall()
        held = list(dict.fromkeys(_JSON[kind] for (kind,) in kinds if kind in _JSON))
        if len(held) > 1 or not {*held} <= {"text", "whole numbers"}:
            raise bad_ids(str(self.decision.id), " and ".join(held))

    def notes(self) -> tuple[str, ...]:
        """What is worth knowing of rows that were decided: ids that several of them share."""
        if not self.ids:
            return ()
        given, at = self._scored()
        drawn = f"{at.score} IS NOT NULL AND {by_lot(self.decision.policy, at, _SAY)}"
        lots = given.filter(drawn).project(f"{self.ids.place} AS id")
        each = lots.aggregate("id, count(*) AS many")
        [(ids, rows)] = each.aggregate("count(*), coalesce(sum(many), 0)").fetchall()
        return (shared_ids(str(self.decision.id), int(rows) - ids, int(rows)),) if rows > ids else ()


def of_relation(decision: Decision, relation: Any) -> Any:  # noqa: ANN401  (relations of DuckDB)
    """Add the new columns to a relation, which stays one."""
    decision.check(relation.columns, capitals=False)
    kind = dict(zip(relation.columns, map(str, relation.types), strict=True))
    names = [(quoted(name), quoted(name)) for name in relation.columns]
    score = number(decision.score, kind[decision.score], quoted(decision.score))
    source = Source(relation, names, [*map(quoted, decision.made)], [score])
    groups = [text_of_label(quoted(name), kind[name]) for name in decision.groups]
    found = None if decision.id is None else ids(decision.id, quoted(decision.id), kind[decision.id])
    return Deciding(decision, source, groups, found).applied(prefix="baserate ")
