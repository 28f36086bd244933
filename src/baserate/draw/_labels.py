"""Names in figures: words of the user in place of the names of models, groups and classes in the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from baserate._errors import OptionError, unknown_name
from baserate._results import Results

_COLUMNS = ("model", "group", "classifier", "true", "predicted")
"""Columns of names in every part of a figure."""
_COLUMNS_OF = {"points": ("name",), "rates": ("class",)}
"""Further columns of some parts: classifiers that only give labels, and the classes of a matrix."""


def relabel(parts: Mapping[str, Results], labels: Mapping[str, str] | None) -> Mapping[str, Results]:
    """Replace names by labels, in all parts of a figure; a single model without a name gets its label.

    >>> curve = Results({"model": ["risk", "old"], "group": [None, {"site": "n"}]})
    >>> relabel({"curve": curve}, {"risk": "Model A", "n": "North"})["curve"].rows()
    [{'model': 'Model A', 'group': None}, {'model': 'old', 'group': {'site': 'North'}}]
    """
    if not labels:
        return parts
    names = _names(parts)
    single = _single_model(parts)
    for name in labels:
        if name not in names and name != single:
            raise unknown_name("name to label", name, dict.fromkeys([*names, *filter(None, [single])]))
    texts = [labels.get(name, name) for name in names]
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise OptionError(
            f"{twice!r} is the label of two names; expected different ones.", remedy="Change one.", option="labels"
        )
    return {part: _relabel_part(part, table, labels, labels.get(single or "")) for part, table in parts.items()}


def _columns(part: str, table: Results) -> list[str]:
    return [name for name in (*_COLUMNS, *_COLUMNS_OF.get(part, ())) if name in table.columns]


def _names(parts: Mapping[str, Results]) -> list[str]:
    """Return all names in a figure, each once."""
    values = [value for part, table in parts.items() for name in _columns(part, table) for value in table.columns[name]]
    names: dict[str, None] = {}
    for value in values:
        names |= dict.fromkeys(map(str, [*value, *value.values()] if isinstance(value, Mapping) else [value]))
    names.pop("None", None)
    return [*names]


def _single_model(parts: Mapping[str, Results]) -> str | None:
    """Return the name of the only model, which tables leave out; None if there are several."""
    models = {str(value) for table in parts.values() for value in table.columns.get("model", ())}
    if models != {"None"}:
        return None
    scores = next(iter(parts.values())).data.get("columns", {}).get("score", "score")
    name = scores if isinstance(scores, str) else next(iter(scores), "score")
    return str(name)


def _relabel_part(part: str, table: Results, labels: Mapping[str, str], single: str | None) -> Results:
    columns = dict(table.columns)
    for name in _columns(part, table):
        columns[name] = [_relabel_value(value, labels) for value in columns[name]]
    if single is not None and "model" in columns:
        columns["model"] = [single] * len(table)
    return Results(columns, table.data)


def _relabel_value(value: Any, labels: Mapping[str, str]) -> Any:  # noqa: ANN401  (a name, a group or None)
    if isinstance(value, Mapping):
        return {labels.get(str(key), key): labels.get(str(each), each) for key, each in value.items()}
    return value if value is None else labels.get(str(value), value)
