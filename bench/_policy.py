"""Rows about applied policies: tables beside a bare comparison, and lots of some rows beside those of all."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from baserate import Cut, Policy, RandomizedCut, apply
from bench._row import Duel

_APART = Policy(
    by_group={("north",): Cut((0.4,)), ("south",): Cut((0.5,)), ("west",): Cut((0.6,))},
    otherwise="refuse",
    attributes=("site",),
)
_DRAWN = Policy(by_group={(): RandomizedCut((Cut((0.50,)), Cut((0.55,))), (0.3, 0.7))}, otherwise="refuse")
"""The lot decides between 0.5 and 0.55: 5 % of scores that are spread evenly."""


def groups(n: int) -> Duel:
    """A frame with groups in a dictionary, beside one threshold for all: of those in the middle they agree."""
    rng = np.random.default_rng(0)
    scores, site = rng.random(n), rng.integers(0, 3, n).astype(np.int8)
    names = [name for (name,) in _APART.by_group]
    table = pa.table({"risk": scores, "site": pa.DictionaryArray.from_arrays(site, names)})

    def gap(ours: pa.Table, rival: npt.NDArray[np.bool_]) -> float:
        flagged = np.array(ours["action"].to_pylist()) == "flag"
        wanted = scores >= np.array([0.4, 0.5, 0.6])[site]
        return float(np.count_nonzero(flagged != wanted) + np.count_nonzero((flagged != rival)[site == 1]))

    return Duel(lambda: apply.frame(_APART, table, score="risk"), lambda: scores >= 0.5, gap)


def lottery(n: int) -> Duel:
    """Lots of the rows whose cuts disagree, beside a loop that hashes every row."""
    scores = np.random.default_rng(0).random(n)
    ids = np.arange(10**9, 10**9 + n)
    plain, names = scores.tolist(), ids.tolist()

    def ours() -> npt.NDArray[np.bool_]:
        return apply.actions(_DRAWN, scores, id=ids).is_flagged

    def gap(ours: npt.NDArray[np.bool_], rival: list[bool]) -> float:
        return float(np.count_nonzero(ours != np.array(rival)))

    return Duel(ours, _loop(_DRAWN.key, plain, names), gap)


def _loop(key: str, scores: list[float], ids: list[int]) -> Callable[[], list[Any]]:
    def run() -> list[bool]:
        flagged = []
        for score, name in zip(scores, ids, strict=True):
            u = int(sha256(f"{key}:{name}".encode()).hexdigest()[:13], 16) / 2**52
            flagged.append(score >= (0.50 if u < 0.3 else 0.55))
        return flagged

    return run
