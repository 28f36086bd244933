"""What a group can support: how many rows a number rests on, and how great a difference they would show."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

from baserate._arrays import round_if_close
from baserate._counts import Counts
from baserate._tally import Group
from baserate.equalize._people import FEW
from baserate.equalize._seen import Row
from baserate.infer import reweighed, share, z_of
from baserate.measure import Measure, about

COARSE = 0.2
"""A group that would show no smaller difference than this of a share says little: 0.3 and 0.5 look alike there."""
ALPHA, POWER = 0.05, 0.8
"""A difference is shown at level 0.95, in four samples of five."""


def trials_of(measure: Measure, nouns: Mapping[Any, Any], rows: Mapping[Any, int]) -> dict[Any, float]:
    """Count the rows that a measure of each group rests on: of a share its hits and misses, otherwise all rows."""
    parted = about(measure).share if about(measure).of is Counts else None
    return {group: rows[group] if parted is None else _rows(noun, parted) for group, noun in nouns.items()}


def supports(
    measure: Measure,
    nouns: Mapping[Group | None, Any],
    rows: Mapping[Group | None, int],
    min_size: int = FEW,
) -> dict[Any, Row]:
    r"""Rows that each number rests on, the smallest difference that they would show, and whether that is little.

    A group with n trials, where all others have m, shows a difference of
    :math:`(z_{0.975}+z_{0.8})\sqrt{p(1-p)(1/n+1/m)}` from them in four samples of five, by the normal approximation. p
    is the share of everybody, with one hit and one miss added so that it is never 0 or 1. Rows with weights count for
    as many as would be as sure. What is no share has no such number, nor has a group without others beside it.
    """
    parted = about(measure).share if about(measure).of is Counts else None
    trials = trials_of(measure, nouns, rows)
    shown = {} if parted is None or reweighed(nouns[None]) else _shown(measure, nouns)
    return {group: _row(many, shown.get(group), group, min_size) for group, many in trials.items()}


def _row(trials: float, detects: float | None, group: Group | None, min_size: int) -> Row:
    few = trials < min_size or (detects is not None and detects > COARSE)
    return {"trials": trials, "detects": detects, "small": group is not None and few}


def _rows(counts: Counts[float], parted: tuple[tuple[str, ...], tuple[str, ...]]) -> float:
    found = float(round_if_close(sum(getattr(counts.rows, cell) for cells in parted for cell in cells)))
    return int(found) if found.is_integer() else found


def _shown(measure: Measure, nouns: Mapping[Group | None, Any]) -> dict[Group | None, float]:
    """Smallest difference that each group would show from the others."""
    from scipy.special import ndtri

    everybody = share(measure, nouns[None])
    if not everybody.trials > 0:
        return {}
    p = (everybody.hits + 1) / (everybody.trials + 2)
    away = (z_of(ALPHA, 2) + float(ndtri(POWER))) * sqrt(p * (1 - p))
    trials = {group: share(measure, noun).trials for group, noun in nouns.items() if group is not None}
    there = {group: many for group, many in trials.items() if many > 0}
    total = sum(there.values())
    return {
        group: min(away * sqrt(1 / many + 1 / (total - many)), 1.0) for group, many in there.items() if total > many
    }
