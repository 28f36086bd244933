"""Bounds of a number, before they become part of an Estimate."""

from typing import NamedTuple


class Found(NamedTuple):
    """Bounds, what made them, and why they are undefined if they are."""

    low: float
    high: float
    how: str
    why: str | None = None
