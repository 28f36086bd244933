"""Policies as JSON, and back: every number survives exactly, and nothing is taken on trust."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from math import inf, isfinite, isinf, isnan
from typing import Any

from baserate._costs import Costs
from baserate._cut import Cut, RandomizedCut, Treatment
from baserate._errors import BaserateError, FileFormatError, OptionError
from baserate._map import Calibrator
from baserate._sealed import opened_json, sealed_json

KIND = "baserate/policy"
SCHEMA_VERSION = 1
_INFINITE = {"inf": inf, "-inf": -inf}
_TOLD = ("notes", "needs_group", "needs_id", "key")
"""Fields that change no decision, or follow from the others."""
_FIELDS = (
    *("rule", "settings", "columns", "positive", "map", "attributes", "groups", "otherwise", "prevalence", "chosen_on"),
    *_TOLD,
)


def content(policy: Any) -> dict[str, Any]:  # noqa: ANN401  (a Policy, whose module imports this one)
    """Everything that makes a policy what it is, as what JSON can hold."""
    return {
        "rule": policy.rule,
        "settings": {name: _plain(name, setting) for name, setting in policy.settings.items()},
        "columns": {name: _plain(name, column) for name, column in policy.columns.items()},
        "positive": policy.positive,
        "map": None if policy.map is None else json.loads(policy.map.to_json()),
        "attributes": list(policy.attributes),
        "groups": [
            {"group": dict(zip(policy.attributes, map(_label, group), strict=True)) or None, **_written(treatment)}
            for group, treatment in policy.by_group.items()
        ],
        "otherwise": policy.otherwise,
        "prevalence": policy.prevalence,
        "chosen_on": policy.chosen_on,
    }


def key_of(policy: Any) -> str:  # noqa: ANN401  (a Policy)
    """SHA-256 of the content as JSON in the order of its names: what lots are drawn with."""
    from hashlib import sha256  # slow to import, and not always needed

    return sha256(json.dumps(content(policy), sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def as_json(policy: Any) -> str:  # noqa: ANN401  (a Policy)
    """Write a policy as versioned JSON with a seal."""
    told = {
        "notes": list(policy.notes),
        "needs_group": policy.needs_group,
        "needs_id": policy.needs_id,
        "key": policy.key,
    }
    return sealed_json(KIND, SCHEMA_VERSION, content(policy) | told)


def of_json(text: str, make: Any) -> Any:  # noqa: ANN401  (Policy, and one of those)
    """Read what `as_json` wrote, checking it; `make` is called with the fields of a policy."""
    form = opened_json(text, [KIND], SCHEMA_VERSION, what="policy")
    wanted = {"kind", "schema_version", *_FIELDS}
    if set(form) != wanted:
        raise FileFormatError(f"a policy with the fields {sorted(form)}; it has {sorted(wanted)}.")
    try:
        made = make(**_read_all(form))
        follows = {"needs_group": made.needs_group, "needs_id": made.needs_id, "key": made.key}
    except (BaserateError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise FileFormatError(f"not a policy: {error}") from error
    wrong = [name for name, value in follows.items() if form[name] != value]
    if wrong:
        raise FileFormatError(
            f"not a policy: {wrong[0]} is {form[wrong[0]]!r}, but the rest says {follows[wrong[0]]!r}."
        )
    return made


def _read_all(form: dict[str, Any]) -> dict[str, Any]:
    attributes = tuple(form["attributes"])
    groups = {}
    for each in form["groups"]:
        named = each["group"] or {}
        if tuple(named) != attributes:
            raise OptionError(f"a group has {list(named)}, not a value for each of {list(attributes)}.")
        group = tuple(named.values())
        if group in groups:
            raise OptionError(f"the group {named} is there twice.")
        groups[group] = _read(each)
    map_ = None if form["map"] is None else Calibrator.from_json(json.dumps(form["map"]))
    plain = {name: form[name] for name in ("rule", "positive", "otherwise", "prevalence", "chosen_on")}
    return {
        **plain,
        "attributes": attributes,
        "by_group": groups,
        "map": map_,
        "settings": {name: _setting(name, value) for name, value in form["settings"].items()},
        "columns": {name: _setting("", value) for name, value in form["columns"].items()},
        "notes": tuple(form["notes"]),
    }


def _label(value: object) -> object:
    """A label of a group, if a file can hold it."""
    if isinstance(value, (str, int)) or (isinstance(value, float) and isfinite(value)):
        return value
    raise OptionError(
        f"the label {value!r} of a group is {type(value).__name__}; labels are text, numbers or booleans."
    )


def _written(treatment: Treatment) -> dict[str, Any]:
    if isinstance(treatment, RandomizedCut):
        pairs = zip(treatment.chances, treatment.cuts, strict=True)
        return {"lottery": [{"chance": chance, **_written(cut)} for chance, cut in pairs]}
    return {"thresholds": [_number(at) for at in treatment.thresholds], "actions": list(treatment.actions)}


def _read(form: Mapping[str, Any]) -> Treatment:
    if "lottery" in form:
        return RandomizedCut(tuple(map(_cut, form["lottery"])), tuple(each["chance"] for each in form["lottery"]))
    return _cut(form)


def _cut(form: Mapping[str, Any]) -> Cut:
    return Cut(tuple(_INFINITE.get(at, at) for at in form["thresholds"]), tuple(form["actions"]))


def _number(value: float) -> float | str:
    """A number, or the name of an infinite one, which JSON does not know."""
    return value if not isinf(value) else "inf" if value > 0 else "-inf"


def _plain(name: str, setting: Any) -> Any:  # noqa: ANN401  (whatever a rule was told)
    """Make a setting fit for JSON."""
    if isinstance(setting, Costs):
        return {name: float(cost) for name, cost in asdict(setting).items()}
    if isinstance(setting, float) and not isnan(setting):
        return _number(float(setting))
    if isinstance(setting, (tuple, list)):
        return [_plain(name, each) for each in setting]
    if isinstance(setting, Mapping):
        return {str(key): _plain(name, value) for key, value in setting.items()}
    if setting is None or isinstance(setting, (str, int)):
        return setting
    raise OptionError(f"the setting {name} is {setting!r}, which a file cannot hold; give numbers, text or costs.")


def _setting(name: str, value: Any) -> Any:  # noqa: ANN401  (whatever a rule was told)
    if isinstance(value, dict) and name == "costs" and {*value} == {each.name for each in fields(Costs)}:
        return Costs(**value)
    if isinstance(value, dict):
        return {key: _setting("", each) for key, each in value.items()}
    if isinstance(value, list):
        return tuple(_setting("", each) for each in value)
    return _INFINITE.get(value, value) if isinstance(value, str) else value
