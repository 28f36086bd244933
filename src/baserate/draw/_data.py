"""What figures are given -> Tallies, and what each series of them is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from baserate._counts import Counts
from baserate._curve import Curve
from baserate._errors import BadOption
from baserate._results import Results
from baserate._tallies import Tallies
from baserate._tally import Tally

Data = Tally | Curve | Tallies | Mapping[str, Tally] | Mapping[str, Curve]
"""One model, several by name, or several with groups."""

EVERYBODY = "everybody"
_NAME = "score"


class Series(NamedTuple):
    """One line of a figure: what it is called, and its rows of a table."""

    name: str
    """Empty where there is a single one, which needs no name."""
    rows: Mapping[str, list[Any]]


def as_tallies(data: Data) -> Tallies:
    """Whatever was given, as Tallies; the lone model is called `score`."""
    if isinstance(data, Tallies):
        return data
    given: Mapping[str, object] = data if isinstance(data, Mapping) else {_NAME: data}
    strange = [name for name, each in given.items() if not isinstance(each, Tally | Curve)]
    if strange or not given:
        kind = type(given[strange[0]]).__name__ if strange else "nothing"
        raise BadOption(f"{kind} cannot be drawn; give a Tally, a mapping from names to tallies, or Tallies.")
    models = {name: {(): each.tally if isinstance(each, Curve) else each} for name, each in given.items()}
    return Tallies(models)  # type: ignore[arg-type]  # checked above


def labels_apart(tallies: Tallies) -> tuple[Tallies | None, dict[str, Counts[float]]]:
    """Models with scores, if any, and the 2×2 tables of those that give labels alone."""
    name = tallies.intake.columns.get("predicted")
    if name not in tallies.models:
        return tallies, {}
    scored = {model: groups for model, groups in tallies.models.items() if model != name}
    table = Curve(tallies.pooled(str(name))).at(0.5)
    return (replace(tallies, models=scored) if scored else None), {str(name): table}


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
