"""What figures are given -> Tallies, and what each series of them is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import OptionError, ShapeError, UnknownNameError
from baserate._results import Results
from baserate._tally import Tallies, Tally

Data = Tally | Curve | Tallies | Mapping[str, Tally] | Mapping[str, Curve]
"""One model, several by name, or several with groups."""
Mixed = Data | Counts[float] | Mapping[str, Tally | Curve | Counts[float]]
"""The same, and classifiers that give labels alone: the 2×2 tables of these."""
Key = tuple[str | None, str]
"""Which series: its model, and its group in words."""

EVERYBODY = "everybody"
_NAME = "score"
_LABELS = "labels"
_FARTHEST = 1e300
"""Scores beyond which the length of an axis could not be computed."""


class Series(NamedTuple):
    """One line of a figure: what it is called, and its rows of a table."""

    name: str
    """Empty where there is a single one, which needs no name."""
    rows: Mapping[str, list[Any]]

    @property
    def key(self) -> Key:
        """What tells it from the others."""
        return self.rows["model"][0], str(self.rows["group"][0])


def as_tallies(data: Data) -> Tallies:
    """Whatever was given, as Tallies; the lone model is called `score`."""
    if isinstance(data, Tallies):
        return data
    given: Mapping[str, object] = data if isinstance(data, Mapping) else {_NAME: data}
    strange = [name for name, each in given.items() if not isinstance(each, Tally | Curve)]
    if strange or not given:
        kind = type(given[strange[0]]).__name__ if strange else "nothing"
        raise OptionError(f"{kind} cannot be drawn; give a Tally, a mapping from names to tallies, or Tallies.")
    models = {name: {(): each.tally if isinstance(each, Curve) else each} for name, each in given.items()}
    return Tallies(models)  # type: ignore[arg-type]  # checked above


def apart(data: Mixed) -> tuple[Tallies | None, Tallies | None]:
    """Models with scores and models that give labels alone, of which one may be missing."""
    if isinstance(data, Counts):
        return None, _labelled({_LABELS: data})
    if isinstance(data, Mapping):
        tables = {name: each for name, each in data.items() if isinstance(each, Counts)}
        others: Any = {name: each for name, each in data.items() if name not in tables}
        return as_tallies(others) if others or not tables else None, _labelled(tables) if tables else None
    tallies = as_tallies(data)
    name = tallies.intake.columns.get("predicted")
    scored, labels = (
        {model: tallies.models[model] for model in tallies.models if (model == name) is own} for own in (False, True)
    )
    return (replace(tallies, models=scored) if scored else None), (replace(tallies, models=labels) if labels else None)


def only(data: Data, model: str | None) -> Tallies:
    """The one model with scores that was named, or that there is, with all its groups."""
    tallies, labels = apart(data)
    known = ", ".join(tallies.models) if tallies is not None else ""
    if tallies is None or (labels is not None and model in labels.models):
        raise OptionError("labels have no scores to be drawn; name a model that has.")
    if model is None and len(tallies.models) > 1:
        raise OptionError(f"there are several models ({known}), and this figure shows one; say which with model=.")
    if model is not None and model not in tallies.models:
        raise UnknownNameError(f"there is no model {model!r}. There are: {known}.")
    name = next(iter(tallies.models)) if model is None else model
    farthest = float(np.abs(tallies.pooled(name).score).max(initial=0.0))
    if farthest > _FARTHEST:
        raise OptionError(f"scores of {name} reach {farthest:.3g}, which is beyond any axis; scale them down.")
    return replace(tallies, models={name: tallies.models[name]}, decisions={})


def together(tallies: Tallies) -> Tallies:
    """Everybody of each model, without groups."""
    return replace(tallies, models={model: {(): tallies.pooled(model)} for model in tallies.models}, attributes=())


def _labelled(tables: Mapping[str, Counts[float]]) -> Tallies:
    """Tables as tallies of labels, 1 and 0, as reading makes them."""
    many = [name for name, table in tables.items() if table.shape]
    if many:
        raise ShapeError(f"{many[0]} has {tables[many[0]].shape} tables; give one, for example counts[0].")
    return Tallies({name: {(): _labels(table)} for name, table in tables.items()})


def _labels(table: Counts[float]) -> Tally:
    mass, squares, rows = (
        np.array([[each.tp, each.fn], [each.fp, each.tn]]) for each in (table, table.squares, table.rows)
    )
    return Tally(np.array([1.0, 0.0]), mass, squares, rows, reweighed=table.reweighed)


def series(found: Results) -> Iterator[Series]:
    """Rows of a table of curves, apart for each model and group, in their order."""
    columns = found.flat() | {"group": list(found.columns["group"])}
    keys = [(model, str(group)) for model, group in zip(columns["model"], columns["group"], strict=True)]
    places: dict[tuple[str | None, str], list[int]] = {}
    for at, key in enumerate(keys):
        places.setdefault(key, []).append(at)
    models = {model for model, _ in places}
    for there in places.values():
        first = there[0]
        name = called(columns["model"][first] if len(models) > 1 else None, columns["group"][first])
        rows = {key: [column[at] for at in there] for key, column in columns.items()}
        yield Series(name if len(places) > 1 else "", rows)


def called(model: str | None, group: Mapping[str, object] | None) -> str:
    """Name of a series: the model where there are several, and the group.

    >>> called("risk", {"site": "north"}), called(None, None)
    ('risk, site = north', 'everybody')
    """
    groups = [f"{name} = {value}" for name, value in (group or {}).items()]
    return ", ".join([*([model] if model is not None else []), *groups]) or EVERYBODY
