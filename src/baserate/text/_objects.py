"""Pages of objects that people read: one function for each type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from baserate.text._results import results_page
from baserate.text._tables import Page

PAGES: Mapping[str, Callable[[Any], Page]] = {"Results": results_page}
"""Name of a type -> function that describes an object of it as a page."""


def object_page(value: object) -> Page:
    """Return the page of an object of one of the types in `PAGES`."""
    return PAGES[type(value).__name__](value)
