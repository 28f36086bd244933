"""What groups have at many thresholds when they are cut alike, and how far their rates then lie apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from baserate._arrays import Floats
from baserate._curve import Curve
from baserate._tally import Tally
from baserate.measure import MEASURES


class Side(NamedTuple):
    """Groups that are cut alike, at each of some thresholds."""

    cells: Floats
    """Mass of all of them together: tp, fp, fn and tn."""
    least: Mapping[str, Floats]
    """Each rate in the group where it is lowest."""
    most: Mapping[str, Floats]

    def at(self, places: Any) -> Side:  # noqa: ANN401  (whatever an array is indexed by)
        """Return the same at some of the thresholds."""
        least, most = ({rate: each[places] for rate, each in ends.items()} for ends in (self.least, self.most))
        return Side(self.cells[:, places], least, most)


def everybody(curves: Collection[Curve]) -> Curve:
    """One curve of all groups, with every threshold that was seen in one of them."""
    return Curve(Tally.sum(curve.tally for curve in curves))


def side(curves: Collection[Curve], thresholds: Floats, rates: Collection[str]) -> Side:
    """See what groups have at thresholds."""
    tables = [curve.at(thresholds) for curve in curves]
    found = {rate: [MEASURES[rate](table) for table in tables] for rate in rates}
    cells = np.array([sum(getattr(table, cell) for table in tables) for cell in ("tp", "fp", "fn", "tn")])
    return Side(
        cells,
        {rate: np.min(each, axis=0) for rate, each in found.items()},
        {rate: np.max(each, axis=0) for rate, each in found.items()},
    )


def spreads(sides: Collection[Side], rates: Collection[str]) -> dict[str, Floats]:
    """Greatest difference of each rate between any two groups."""
    found = {}
    for rate in rates:
        first, *others = sides
        most, least = first.most[rate], first.least[rate]
        for other in others:
            most, least = np.maximum(most, other.most[rate]), np.minimum(least, other.least[rate])
        found[rate] = most - least
    return found


def excess(sides: Collection[Side], bounds: Mapping[str, float]) -> Floats:
    """How far rates are beyond their bounds, the worst of them; −inf where nothing is bounded."""
    found = np.full(np.broadcast_shapes(*(side.cells.shape[1:] for side in sides)), -np.inf)
    for rate, apart in spreads(sides, bounds).items():
        np.maximum(found, apart - bounds[rate], out=found)
    return found
