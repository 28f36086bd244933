"""Rows of several models, read apart -> Rows of all of them, joined by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from baserate._errors import EmptyDataError, MissingValuesError, OptionError, ShapeError
from baserate._formatting import count_of
from baserate._read_summary import ReadSummary
from baserate._rows import Rows

_SHOWN = 3
_SIDES = ("weight", "count")


def joined(parts: Mapping[str, Rows], *, missing: Literal["refuse", "drop"] = "refuse") -> Rows:
    """Join rows that were read apart with `id`, so that the scores of each row stand together.

    Each part brings one or more scores: a single one is named like its part, several ``part: score``. Truth, groups,
    weights and clusters must be the same in all parts. Rows that not all parts have are refused, or dropped.

    >>> from baserate import read
    >>> new = read.rows({"sick": [1, 0], "risk": [0.9, 0.2], "who": ["a", "b"]}, truth="sick", score="risk", id="who")
    >>> old = read.rows({"sick": [0, 1], "risk": [0.4, 0.7], "who": ["b", "a"]}, truth="sick", score="risk", id="who")
    >>> {model: score.tolist() for model, score in joined({"new": new, "old": old}).score.items()}
    {'new': [0.9, 0.2], 'old': [0.7, 0.4]}
    """
    if missing not in ("refuse", "drop"):
        raise OptionError(f"missing is {missing!r}; it is 'refuse' or 'drop'.")
    if len(parts) < 2:
        raise OptionError("there is nothing to join; give the rows of two models or more.")
    places = {part: _places(part, rows) for part, rows in parts.items()}
    common, stray = _common(places, missing)
    taken = {part: np.array([there[name] for name in common]) for part, there in places.items()}
    (first, whole), *others = parts.items()
    for other, rows in others:
        _check(whole, rows, taken[first], taken[other], (first, other))
    kept = taken[first]
    columns: dict[str, Any] = {
        name: None if getattr(whole, name) is None else getattr(whole, name)[kept]
        for name in (*_SIDES, "id", "cluster")
    }
    score = {
        _model(part, model, rows): rows.score[model][taken[part]]
        for part, rows in parts.items()
        for model in rows.score
    }
    group = whole.group[kept] if whole.attributes else whole.group
    intake = _intake(parts, stray, len(common))
    return replace(whole, truth=whole.truth[kept], score=score, group=group, intake=intake, **columns)


def _common(places: Mapping[str, Mapping[Any, int]], missing: str) -> tuple[list[Any], dict[str, int]]:
    """Ids that all parts have, in the order of the first, and how many others each part has."""
    first, *others = places.values()
    common = [name for name in first if all(name in other for other in others)]
    stray = {part: len(there) - len(common) for part, there in places.items() if len(there) > len(common)}
    if stray and missing == "refuse":
        told = ", ".join(f"{many} of {part}" for part, many in stray.items())
        raise MissingValuesError(
            f"some ids are not in all tables ({told}). Add them, or leave them out with missing='drop'."
        )
    if not common:
        raise EmptyDataError("no id is in all tables; see that they name the same rows.")
    return common, stray


def _places(part: str, rows: Rows) -> dict[Any, int]:
    """Where each id stands."""
    if rows.id is None:
        raise OptionError(f"the rows of {part} have no ids; read them with id=, the column that names each row.")
    names = rows.id.tolist()
    found = {name: at for at, name in enumerate(names)}
    if len(found) < len(names):
        seen: set[Any] = set()
        twice = list(dict.fromkeys(name for name in names if name in seen or seen.add(name)))  # type: ignore[func-returns-value]
        raise ShapeError(
            f"{count_of(len(twice), 'id')} of {part} {'names' if len(twice) == 1 else 'name'} several rows "
            f"({_listed(twice)}); "
            "give each row one of its own."
        )
    return found


def _check(one: Rows, other: Rows, mine: npt.NDArray[Any], theirs: npt.NDArray[Any], parts: tuple[str, str]) -> None:
    """See that two tables tell the same of the same rows."""
    both = f"{parts[0]} and {parts[1]}"
    if one.intake.positive != other.intake.positive:
        raise OptionError(
            f"the positive label is {one.intake.positive!r} in {parts[0]} but {other.intake.positive!r} in {parts[1]}; "
            "name it with positive=."
        )
    if one.attributes != other.attributes:
        raise OptionError(f"{both} are grouped by different columns; read both with the same group=.")
    columns = {"truth": (one.truth[mine], other.truth[theirs])}
    if one.attributes:
        columns["group"] = (_groups(one)[mine], _groups(other)[theirs])
    for name in (*_SIDES, "cluster"):
        first, second = getattr(one, name), getattr(other, name)
        if (first is None) != (second is None):
            raise OptionError(f"only one of {both} has a {name}; read both with the same.")
        if first is not None:
            columns[name] = (first[mine], second[theirs])
    if "cluster" in columns:
        columns["cluster"] = (_firsts(columns["cluster"][0]), _firsts(columns["cluster"][1]))
    for name, (first, second) in columns.items():
        bad = np.flatnonzero(first != second)
        if len(bad):
            assert one.id is not None  # noqa: S101  (for the type checker)
            told = _listed(one.id[mine][bad[:_SHOWN]].tolist(), len(bad))
            raise ShapeError(
                f"{name} of {both} differs in {len(bad)} of {len(mine)} rows (id {told}); mend one of them."
            )


def _groups(rows: Rows) -> npt.NDArray[Any]:
    """Group of each row, as text: numbers of groups depend on which there are."""
    return np.array([repr(group) for group in rows.groups])[rows.group]


def _firsts(cluster: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Where the cluster of each row begins: their numbers, too, depend on which there are."""
    _, first, which = np.unique(cluster, return_index=True, return_inverse=True)
    return first[which]


def _model(part: str, model: str, rows: Rows) -> str:
    return part if len(rows.score) == 1 else f"{part}: {model}"


def _intake(parts: Mapping[str, Rows], stray: Mapping[str, int], common: int) -> ReadSummary:
    """What came in: rows of the largest table, and why some of them were left out."""
    intakes = [rows.intake for rows in parts.values()]
    read = max(*(intake.read for intake in intakes), common)
    reasons = {
        f"{part} {column}": dict(kinds) for part, rows in parts.items() for column, kinds in rows.intake.reasons.items()
    }
    reasons |= {f"{part} id": {"not in all tables": many} for part, many in stray.items()}
    notes = tuple(dict.fromkeys(note for intake in intakes for note in intake.notes))
    columns = dict(intakes[0].columns)
    if columns.pop("predicted", None):  # what is joined has names of its own
        notes += ("predicted labels are taken as scores of 0 and 1.",)
    return replace(intakes[0], read=read, dropped=read - common, reasons=reasons, columns=columns, notes=notes)


def _listed(names: Sequence[object], many: int | None = None) -> str:
    rest = (len(names) if many is None else many) - len(names[:_SHOWN])
    return ", ".join(map(repr, names[:_SHOWN])) + (f" and {rest} more" if rest else "")
