"""Validation of JSON against the published schemas."""

import json
from functools import cache
from importlib import resources
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

__all__ = ["ValidationError", "check_schema", "read_results"]


@cache
def _validator(name: str) -> Draft202012Validator:
    text = resources.files("baserate").joinpath(f"schemas/{name}-1.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def check_schema(form: object, name: str = "results") -> None:
    """Raise a `ValidationError` if JSON data do not fit a published schema."""
    _validator(name).validate(form)


def read_results(text: str) -> dict[str, Any]:
    """Parse results, and check that they fit their schema."""
    form: dict[str, Any] = json.loads(text)
    check_schema(form)
    return form
