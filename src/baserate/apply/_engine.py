"""A relation of DuckDB -> one with the new columns, without a row leaving the engine.

Pieces are not nested cases here, which cost a step for each piece in every block of rows. They stand in lists, one row
beside all others. A bucket of equal width tells where to begin, and halves lead on from there, a projection for each:
a thousand pieces cost hardly more than ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from baserate._arrays import Floats
from baserate._calibrator import MulticlassCalibrator
from baserate._calibrator_forms import Between, Form, Knots, Steps
from baserate.apply._decision import Decision
from baserate.apply._formulas import Pieced, bounds, class_formulas, finite, fits, formula, number
from baserate.apply._pieces import pieces
from baserate.apply._task import Task
from baserate.apply._wrong import SHOWN, Kind, Wrong, error, kinds
from baserate.read import literal, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

REFUSED = "a score is missing, or is none that this map takes"
"""What the engine says when it meets one."""
_MOST_BUCKETS = 1 << 16


@dataclass(slots=True)
class _Searches:
    """Lists to search, and where, as they are asked for."""

    prefix: str
    lists: dict[str, Floats] = field(default_factory=dict)
    steps: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    """Place that is found -> the score, the list, and the first step."""
    begins: dict[str, str] = field(default_factory=dict)
    """Place that is found -> where to begin."""
    known: dict[object, str] = field(default_factory=dict)
    """Lists and searches that are there already, by what they are."""

    def __call__(self, form: Knots | Steps, score: str) -> str:
        """Ask for a search in pieces, and return what then is the expression."""
        of = pieces(form)
        if not len(of.at):
            return number(of.value[0])
        at = f"{self._place(of.at, score)} + 1"
        value = f"{self._list(of.value)}[{at}]"
        if of.flat:
            return value
        return f"{value} + {self._list(of.slope)}[{at}] * ({score} - {self._list(of.start)}[{at}])"

    def _place(self, thresholds: Floats, score: str) -> str:
        key = (score, thresholds.tobytes())
        if key not in self.known:
            place = self.known[key] = quoted(f"{self.prefix}place {len(self.steps)}")
            bucket, before, most = _buckets(thresholds, score)
            self.begins[place] = f"{self._list(before)}[{bucket} + 1]::INTEGER"
            self.steps[place] = (score, self._list(thresholds), 1 << (most.bit_length() - 1))
        return self.known[key]

    def _list(self, numbers: Floats) -> str:
        key = numbers.tobytes()
        if key not in self.known:
            self.known[key] = quoted(f"{self.prefix}list {len(self.lists)}")
            self.lists[self.known[key]] = numbers
        return self.known[key]

    def made(self, relation: DuckDBPyRelation) -> DuckDBPyRelation:
        """Add the places to a relation."""
        if not self.steps:
            return relation
        added = [f"{_literal(numbers)} AS {name}" for name, numbers in self.lists.items()]
        relation = relation.project(", ".join(["*", *added]))
        relation = relation.project(", ".join(["*", *(f"{begin} AS {at}" for at, begin in self.begins.items())]))
        steps = self.steps
        while steps:
            relation = relation.project(f"* REPLACE ({', '.join(_step(at, *how) for at, how in steps.items())})")
            steps = {at: (score, of, step // 2) for at, (score, of, step) in steps.items() if step > 1}
        return relation


def _buckets(thresholds: Floats, score: str) -> tuple[str, Floats, int]:
    """Bucket of a score in SQL, how many thresholds lie before each bucket, and the most in one.

    A lower score is never in a higher bucket, however numbers are rounded, as long as both sides round alike.
    """
    last = min(4 * len(thresholds), _MOST_BUCKETS)
    with np.errstate(all="ignore"):
        scale = last / (thresholds[-1] - thresholds[0])
    if not 0 < scale < np.inf:  # one threshold, or some that are too near or too far apart
        return "0", np.zeros(1), len(thresholds)
    buckets = np.rint(np.minimum((thresholds - thresholds[0]) * scale, last)).astype(np.int64)
    before = np.searchsorted(buckets, np.arange(last + 1)).astype(np.float64)
    at = f"({score} - {number(thresholds[0])}) * {number(scale)}"
    return f"least(greatest({at}, 0e0), {number(last)})::INTEGER", before, int(np.bincount(buckets).max())


def _step(place: str, score: str, of: str, step: int) -> str:
    # Beyond the end of a list is NULL, which no score reaches.
    return f"{place} + CASE WHEN {score} >= {of}[{place} + {step}] THEN {step} ELSE 0 END AS {place}"


def _literal(numbers: Floats) -> str:
    """A list that the engine keeps once: written into an expression it would be copied for every block of rows."""
    written = ", ".join(map(number, numbers.tolist()))
    return f"(SELECT l FROM (VALUES ([{written}])) AS t(l))"


@dataclass(frozen=True, slots=True)
class Source:
    """A relation, what its columns shall be called, and how to get the scores from it; all in SQL."""

    relation: DuckDBPyRelation
    names: Sequence[tuple[str, str]]
    """Columns, and what they become."""
    made: Sequence[str]
    """What the new ones become."""
    scores: Sequence[str]
    """As doubles."""

    def applied(self, task: Task, *, prefix: str = "") -> DuckDBPyRelation:
        """Add the new columns; the engine fails at the first row that is refused."""
        given, found = self.mapped(task, prefix)
        return self.added(given, found)

    def added(self, given: DuckDBPyRelation, found: Sequence[str]) -> DuckDBPyRelation:
        """Put what was found beside the columns that stay."""
        pairs = [*self.names, *zip(found, self.made, strict=True)]
        return given.project(", ".join(f"{column} AS {name}" for column, name in pairs))

    def mapped(self, task: Task | Decision, prefix: str) -> tuple[DuckDBPyRelation, list[str]]:
        """Everything that is there or needed, and how to get from it what is made of the scores."""
        names = [quoted(f"{prefix}score {at}") for at in range(len(self.scores))]
        added = [f"{score} AS {name}" for score, name in zip(self.scores, names, strict=True)]
        searches = _Searches(prefix)
        found = _expressions(task, names, searches)
        given = self.relation.project(", ".join(["*", *added]))
        return searches.made(given), [_guarded(task, names, each) for each in found]

    def refuse(self, task: Task | Decision) -> None:
        """Say which rows are refused for their scores, if any are."""
        names = [quoted(f"score {at}") for at in range(len(self.scores))]
        picked = ", ".join(f"{score} AS {name}" for score, name in zip(self.scores, names, strict=True))
        rows = self.relation.project(picked)
        for kind in kinds(task):
            wrong = first_wrong(kind, rows, _wrong(kind, names))
            if wrong is not None:
                raise error(wrong, task)


def first_wrong(kind: Kind, rows: DuckDBPyRelation, wrong: str) -> Wrong | None:
    """Count the rows that are wrong, and name the first of them."""
    [(many, total)] = rows.aggregate(f"count(*) FILTER ({wrong}), count(*)").fetchall()
    if not many:
        return None
    counted = rows.project("row_number() OVER () AS at, *").filter(wrong).limit(SHOWN)
    return Wrong(kind, many, total, [at for (at, *_) in counted.fetchall()])


def _expressions(task: Task | Decision, names: Sequence[str], pieced: Pieced) -> list[str]:
    if isinstance(task, Decision):
        return [*names]
    if isinstance(task.map, MulticlassCalibrator):
        return class_formulas(task.map.form, names, pieced)
    form: Form = task.map.form
    found = [formula(form, names[0], pieced)]
    if task.bounds and isinstance(form, Between):
        found += bounds(form, names[0], pieced)
    return found


def _guarded(task: Task | Decision, names: Sequence[str], found: str) -> str:
    keep = f"WHEN {_wrong('missing', names)} THEN NULL " if task.keep else ""
    fit = finite(names[0]) if isinstance(task, Decision) else fits(task.map.form, names)
    return f"CASE WHEN {fit} THEN {found} {keep}ELSE error({literal(REFUSED)}) END"


def _wrong(kind: Kind, names: Sequence[str]) -> str:
    """Whether a row is wrong in this way alone, in SQL."""
    if kind == "missing":
        return " OR ".join(f"{name} IS NULL OR NOT isfinite({name})" for name in names)
    there = f"NOT ({_wrong('missing', names)})"
    if kind == "outside":
        return f"{there} AND NOT ({' AND '.join(f'{name} BETWEEN 0e0 AND 1e0' for name in names)})"
    return f"{there} AND {' AND '.join(f'{name} = 0e0' for name in names)}"


def of_relation(task: Task, relation: Any) -> Any:  # noqa: ANN401  (relations of DuckDB)
    """Add the new columns to a relation, which stays one."""
    from baserate.read import number as as_number

    task.check(relation.columns, capitals=False)
    kind = dict(zip(relation.columns, map(str, relation.types), strict=True))
    scores = [as_number(name, kind[name], quoted(name)) for name in task.scores]
    names = [(quoted(name), quoted(name)) for name in relation.columns]
    return Source(relation, names, [*map(quoted, task.made)], scores).applied(task, prefix="baserate ")
