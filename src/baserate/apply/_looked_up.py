"""Groups of a policy looked up in lists, for DuckDB.

A chain of cases costs a step for each group in every block of rows. A place in a list of labels is found once for each
label where a column holds every label once, as in Parquet, and thresholds stand in lists at that place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from baserate._policy import Policy, group_texts
from baserate._tally import Group
from baserate.apply._formulas import number
from baserate.apply._policy_formulas import NOTHING, Branch
from baserate.apply._stretches import Stretches, stretches
from baserate.read import literal, quoted

_MOST = 1 << 14
"""So many combinations of labels may stand in a list, which is copied for every block of rows."""

_Shape = tuple[object, ...]
"""All of stretches but where they begin."""


class LookedUp(NamedTuple):
    """Columns to add to a relation, one projection after the other, and what is then done with a row."""

    steps: Sequence[str]
    branches: list[Branch]


def looked_up(policy: Policy, groups: Sequence[str], prefix: str) -> LookedUp | None:
    """Look groups up that are given as text in SQL; None where there are none, or too many combinations of labels."""
    written = group_texts(policy)
    texts = [list(dict.fromkeys(each[place] for each in written)) for place in range(len(groups))]
    if not groups or prod(map(len, texts)) > _MOST:
        return None
    found = {group: stretches(treatment) for group, treatment in policy.by_group.items()}
    cells = [written.get(each) for each in product(*texts)]
    shapes = list({_shape(each): each for each in found.values()}.values())
    columns, branches = _columns(cells, found, shapes, prefix)
    names = [quoted(f"{prefix}label {place}") for place in range(len(groups))]
    places = [f"list_position({_list(map(literal, each))}, {text})" for each, text in zip(texts, groups, strict=True)]
    at = _at(names, [*map(len, texts)])
    added = [f"{values}[{at}] AS {name}" for name, values in columns.items()]
    first = ", ".join(f"{place} AS {name}" for place, name in zip(places, names, strict=True))
    return LookedUp([f"*, {first}", f"*, {', '.join(added)}"], branches)


def _columns(
    cells: Sequence[Group | None], found: dict[Group, Stretches], shapes: Sequence[Stretches], prefix: str
) -> tuple[dict[str, str], list[Branch]]:
    """Lists of the shape and of each threshold of every combination, by the names of their columns; and branches."""
    shape = quoted(f"{prefix}shape")
    most = max(len(each.at) for each in shapes)
    begins = [quoted(f"{prefix}threshold {place}") for place in range(most)]
    each = [None if cell is None else found[cell] for cell in cells]
    numbers = {_shape(one): place for place, one in enumerate(shapes)}
    columns = {shape: _list(NOTHING if one is None else str(numbers[_shape(one)]) for one in each)}
    for place, name in enumerate(begins):
        columns[name] = _list(NOTHING if one is None or place >= len(one.at) else number(one.at[place]) for one in each)
    branches = [Branch((f"{shape} = {at}",), one, begins[: len(one.at)]) for at, one in enumerate(shapes)]
    return columns, branches


def _shape(of: Stretches) -> _Shape:
    return of.drawn, of.edges, of.chances


def _at(names: Sequence[str], sizes: Sequence[int]) -> str:
    """Place of a combination, counted from 1, by the places of its labels."""
    at = names[0]
    for name, size in zip(names[1:], sizes[1:], strict=True):
        at = f"({at} - 1) * {size} + {name}"
    return at


def _list(values: Iterable[str]) -> str:
    return f"[{', '.join(values)}]"
