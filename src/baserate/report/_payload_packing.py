"""Compact form of the page's data: counts as text, and rows of numbers without what they have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

JsonObject = dict[str, Any]
_LETTERS = [chr(code) for code in range(35, 127) if chr(code) not in '"\\<>&']
_BASE = len(_LETTERS) // 2
"""The first letters end a number; the others continue it."""
_FEWEST = 20
"""Shorter rows of counts stay lists, which people can read."""
_MASSES = ("positive_mass", "negative_mass")


def pack_payload(payload: Mapping[str, Any]) -> JsonObject:
    """Return the data of the page in a compact form, which packing.js reads."""
    models = [
        {**model, **{name: [pack_counts(row) for row in model[name]] for name in _MASSES}}
        for model in payload["models"]
    ]
    return {**payload, "models": models, "numbers": pack_rows(payload["numbers"])}


def pack_counts(folded: Sequence[float]) -> list[float] | str:
    """Return counts as text; short rows, and masses that are no counts, stay as they are.

    `folded` has a negative number in place of each run of zeros, as `fold_zeros` returns. Each count is a number: twice
    the zeros before it, plus 1 unless the count is 1; another count follows, less 2. Numbers have the digits of
    `_LETTERS`, the smallest first.

    >>> pack_counts([1, -2, 3, -1])
    [1, -2, 3, -1]
    >>> pack_counts([1, -40, 3, -1] + [1] * 20)
    '#x$$%###################'
    """
    if len(folded) <= _FEWEST or not all(isinstance(each, int) for each in folded):
        return list(folded)
    text: list[str] = []
    zeros = 0
    for each in folded:
        if each < 0:
            zeros = -int(each)
            continue
        text += _digits(2 * zeros + (each != 1))
        if each != 1:
            text += _digits(int(each) - 2)
        zeros = 0
    return "".join(text)


def _digits(number: int) -> list[str]:
    """Return the digits of a number, the smallest first."""
    digits = []
    while number >= _BASE:
        digits.append(_LETTERS[_BASE + number % _BASE])
        number //= _BASE
    return [*digits, _LETTERS[number]]


def pack_rows(rows: Iterable[JsonObject]) -> JsonObject:
    """Return rows by kind: texts that all rows of a kind have in common, names of their other fields, and those values.

    `order` has the kind of each row.

    >>> packed = pack_rows([{"measure": "auc", "value": 0.8, "model": 0}, {"measure": "auc", "value": 0.7, "model": 1}])
    >>> packed["kinds"], packed["order"]
    ([{'common': {'measure': 'auc'}, 'fields': ['value', 'model'], 'values': [0.8, 0, 0.7, 1]}], [0, 0])
    """
    kinds: dict[tuple[Any, ...], JsonObject] = {}
    places: dict[tuple[Any, ...], int] = {}
    order: list[int] = []
    for row in rows:
        common = {name: each for name, each in row.items() if isinstance(each, str)}
        fields = [name for name in row if name not in common]
        key = (*common.items(), *fields)
        kind = kinds.setdefault(key, {"common": common, "fields": fields, "values": []})
        kind["values"] += [row[name] for name in fields]
        order.append(places.setdefault(key, len(places)))
    return {"kinds": list(kinds.values()), "order": order}
