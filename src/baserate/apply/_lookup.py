"""Rows looked up in the tables of a policy, block by block: what is done with each, or the chance of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats, Reals
from baserate._numeric.threads import blocks
from baserate._policy import Policy
from baserate.apply._keys import Keys, Numbers, keys_of
from baserate.apply._tables import NOTHING, Codes, Tables, tables
from baserate.read import Coded

_FEW = 16
"""So many comparisons of each row are quicker than to look its threshold up."""

Entries = Callable[[slice], npt.NDArray[Any]]
"""What tables hold for some rows."""


class Lookup(NamedTuple):
    """Rows whose columns are read, and tables in which they are looked up by their keys."""

    scores: Reals
    keys: Keys
    tables: Tables
    at: Floats
    """Thresholds, for each key in columns."""

    @staticmethod
    def of(policy: Policy, scores: Reals, groups: Sequence[Coded]) -> Lookup:
        """Lay out what is looked up."""
        found, keys = tables(policy), keys_of(policy, groups)
        return Lookup(scores, keys, found, found.at[:, keys.treatments])

    def done(self) -> Codes:
        """What is done with each row; NOTHING for want of a score."""
        few = len(self.keys.columns) < 2 and self.at.size <= _FEW and self.tables.done.dtype == np.int8
        entries = _compared(self) if few else _looked_up(self, self.tables.done)
        return self._filled(entries, self.tables.done.dtype, NOTHING)

    def chances(self) -> list[Floats]:
        """Chance of each action; NaN for want of a score."""
        return [self._filled(_looked_up(self, each), each.dtype, np.nan) for each in self.tables.chances]

    def places(self, rows: Numbers) -> tuple[Numbers, Numbers]:
        """Treatment and stretch of some rows."""
        # Division rounds down, so that the key of a missing label stays −1.
        key, stretch = np.divmod(self.cells(rows), self.tables.done.shape[1])
        return self.keys.treatments[key], stretch

    def cells(self, rows: Any) -> Numbers:  # noqa: ANN401  (a slice, or numbers of rows)
        """Cell of each of some rows: its key times the number of stretches, and its stretch."""
        scores, key = self.scores[rows], self.keys.of(rows)
        if key is None:
            found: Numbers = np.zeros(len(scores), dtype=np.intp)
            for at in self.at:
                found += scores >= at[0]
            return found
        found = key * self.tables.done.shape[1]
        for at in self.at:
            # Wrapping round makes −1 the last entry, and is quicker than looking for what is out of range.
            found += scores >= at.take(key, mode="wrap")
        return found

    def _filled(self, entries: Entries, kind: np.dtype[Any], nothing: float) -> npt.NDArray[Any]:
        found = np.empty(len(self.scores), dtype=kind)
        # One after the other: threads were measured, and only wait for each other here.
        for place in blocks(len(found)):
            there = np.isfinite(self.scores[place])
            found[place] = entries(place)
            if not there.all():
                found[place][~there] = nothing
        return found


def _looked_up(rows: Lookup, table: npt.NDArray[Any]) -> Entries:
    """Entries of a table of treatments and stretches."""
    flat = table[rows.keys.treatments].reshape(-1)
    return lambda place: flat.take(rows.cells(place), mode="wrap")


def _compared(rows: Lookup) -> Entries:
    """What is done, where keys are few: every row is compared with the thresholds of every key, by wide registers."""
    done = rows.tables.done[rows.keys.treatments]
    # From stretch to stretch, and from what is done with all others; where that is too far for the type it wraps round,
    # and so does what is added up.
    first, steps, rest = done[:, 0] - done[-1, 0], np.diff(done, axis=1), done[-1, 0]

    def beyond(scores: Reals, key: int) -> Codes:
        found: Codes = np.full(len(scores), first[key])
        for at, step in zip(rows.at[:, key], steps[key], strict=True):
            found += (scores >= at).view(np.int8) * step
        return found

    def entries(place: slice) -> Codes:
        scores = rows.scores[place]
        found: Codes = np.full(len(scores), rest)
        if not rows.keys.columns:
            found += beyond(scores, 0)
            return found
        codes = rows.keys.columns[0].codes[place]
        for key in range(len(done) - 1):
            mine = beyond(scores, key)
            mine *= (codes == key).view(np.int8)
            found += mine
        return found

    return entries
