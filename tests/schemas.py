"""The published schema of tidy results, which all that is given as JSON must fit."""

import json
from importlib import resources
from typing import Any

import jsonschema

RESULTS = json.loads(resources.files("baserate").joinpath("schemas/results-1.json").read_text(encoding="utf-8"))


def fitting(text: str) -> dict[str, Any]:
    """Read results, and see that they fit the schema."""
    found: dict[str, Any] = json.loads(text)
    jsonschema.validate(found, RESULTS)
    return found
