"""Rows in an order of their own, identical ones together: so that neither order nor repetition changes a draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from baserate._arrays import Bools, Floats
from baserate._numeric.codes import Codes
from baserate._rows import Rows
from baserate._tally import Tally

Place = slice | npt.NDArray[np.intp]
Column = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """Kinds of rows: truth, the score of each model, the weight of a row, and how many rows there are of each kind."""

    truth: Bools
    score: Mapping[str, Floats]
    times: npt.NDArray[np.int64]
    weight: Floats | None = None
    cluster: Codes | None = None
    """What rows belong to, numbered by content; of several clusters of the same content, in any order."""

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def mass(self) -> Floats:
        """Sum of weights of each kind."""
        return self.times.astype(np.float64) if self.weight is None else self.times * self.weight

    @property
    def squares(self) -> Floats:
        """Sum of squared weights of each kind."""
        return self.times.astype(np.float64) if self.weight is None else self.times * self.weight**2

    @property
    def clusters(self) -> int:
        """How many clusters there are."""
        return 0 if self.cluster is None else int(self.cluster.max()) + 1

    def tally(self, model: str) -> Tally:
        """Forget which row is which."""
        count = self.times if self.times.max(initial=1) > 1 else None
        return Tally.of_rows(self.truth, self.score[model], weight=self.weight, count=count)

    def drawn(self, rng: np.random.Generator, draws: int) -> Floats:
        """Random mass of each kind: an exponential variable for each row, or for each cluster [@rubin1981]."""
        if self.cluster is not None:
            return np.asarray(rng.standard_exponential((draws, self.clusters))[:, self.cluster] * self.mass)
        once = bool(self.times.max(initial=1) == 1)
        size = (draws, len(self))
        made = rng.standard_exponential(size) if once else rng.standard_gamma(self.times, size)
        return made if self.weight is None else made * self.weight


def alike(rows: Rows, models: Sequence[str], place: Place = slice(None)) -> Alike:
    """Sort rows by all that they hold, and put identical ones together.

    >>> rows = Rows(np.array([True, False, True]), {"p": np.array([0.5, 0.2, 0.5])}, count=np.array([1, 1, 3]))
    >>> alike(rows, ["p"]).times.tolist()
    [1, 4]
    """
    for column in (rows.weight, rows.count):
        if column is not None and not column[place].all():  # zero means absent
            place = np.arange(len(rows))[place][column[place] > 0]
    truth = rows.truth[place]
    # −0.0 is 0.0.
    scores = {model: np.asarray(rows.score[model][place], dtype=np.float64) + 0.0 for model in models}
    weight, count, cluster = (
        None if column is None else column[place] for column in (rows.weight, rows.count, rows.cluster)
    )
    # By name, so that it does not matter which model comes first.
    by_name = [scores[model] for model in sorted(scores)]
    columns: list[Column] = [*by_name, truth] if weight is None else [*by_name, truth, weight]
    times = np.ones(len(truth), dtype=np.int64) if count is None else np.asarray(count, dtype=np.int64)
    order, first = _sorted(columns)
    if cluster is not None:
        columns.append(_by_content(cluster, _numbered(order, first), times))
        order, first = _sorted(columns)
    kept = order[first]
    return Alike(
        truth[kept],
        {model: score[kept] for model, score in scores.items()},
        np.add.reduceat(times[order], first) if len(first) < len(order) or count is not None else times,
        None if weight is None else weight[kept],
        None if cluster is None else columns[-1][kept],
    )


def _sorted(columns: Sequence[Column]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Order of the rows, and where in it each kind begins."""
    order = np.argsort(columns[0])
    new = np.diff(columns[0][order]) != 0
    if not new.all():  # only where the first column does not tell all rows apart need others be looked at
        order = np.lexsort(columns[::-1])
        new = np.zeros(max(len(order) - 1, 0), dtype=np.bool_)
        for column in columns:
            ordered = column[order]
            new |= ordered[1:] != ordered[:-1]
    return order, np.concatenate([np.zeros(min(len(order), 1), dtype=np.intp), np.flatnonzero(new) + 1])


def _numbered(order: npt.NDArray[np.intp], first: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Number of each row's kind."""
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(order)))
    return number


def _by_content(cluster: Column, kind: npt.NDArray[np.int64], times: npt.NDArray[np.int64]) -> Codes:
    """Number clusters by what is in them, since their own numbers may depend on the order of rows."""
    _, code = np.unique(cluster, return_inverse=True)
    order = np.lexsort([kind, code])
    new = (np.diff(code[order]) != 0) | (np.diff(kind[order]) != 0)
    first = np.concatenate([[0], np.flatnonzero(new) + 1])
    held = np.column_stack([kind[order][first], np.add.reduceat(times[order], first)])
    contents = np.split(held, np.flatnonzero(np.diff(code[order][first])) + 1)
    ranked = sorted(range(len(contents)), key=lambda at: contents[at].tobytes())
    number = np.empty(len(contents), dtype=np.int64)
    number[ranked] = np.arange(len(contents))
    return number[code]
