"""Pairs of classes, compared by the score for one of them."""

from itertools import pairwise

import numpy as np

from baserate._arrays import Bools, Cells, Floats, Reals
from baserate._numeric.codes import Codes
from baserate._numeric.distinct import descending

_BLOCK = 1 << 15
"""Entries that fit the cache with what is computed of them."""


def wins(score: Reals, code: Codes, amount: Cells | None, *, of: int, width: int) -> Floats:
    """Mass of pairs in which class `of` has the higher score, against each class; ties count half.

    Against itself the number means nothing. Whole numbers give an exact result up to 2⁵².
    """
    order = descending(score)
    code = code[order]
    amount = None if amount is None else amount[order]
    ordered = score[order]
    tied = ordered[1:] == ordered[:-1]
    del order, ordered
    twice = np.zeros(width)
    above = 0.0
    for start, stop in pairwise([0, *_stops(tied)]):
        codes = code[start:stop]
        amounts = None if amount is None else amount[start:stop]
        own = (codes == of) if amounts is None else np.where(codes == of, amounts, 0)
        # Above an entry is what came before its run of equal scores, and half of what is in the run.
        reached = np.cumsum(own, dtype=np.float64)
        middle = _middle(reached, tied[start : stop - 1]) + 2 * above
        twice += np.bincount(codes, weights=middle if amounts is None else middle * amounts, minlength=width)
        above += float(reached[-1])
    return twice / 2


def _middle(reached: Floats, tied: Bools) -> Floats:
    """Sum of what is reached before and after each run of equal entries, for every entry."""
    if not tied.any():
        return np.asarray(reached + np.concatenate([[0.0], reached[:-1]]))
    ends = np.flatnonzero(np.append(~tied, True))
    after = reached[ends]
    middle: Floats = np.repeat(after + np.concatenate([[0.0], after[:-1]]), np.diff(ends, prepend=-1))
    return middle


def _stops(tied: Bools) -> list[int]:
    """Where blocks end, none of them within a run of equal entries."""
    size = len(tied) + 1
    stops = np.arange(_BLOCK, size, _BLOCK)
    if tied.any():
        ends = np.append(np.flatnonzero(~tied) + 1, size)
        stops = np.unique(ends[np.searchsorted(ends, stops)])
    return [*stops[stops < size].tolist(), size]
