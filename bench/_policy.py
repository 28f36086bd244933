"""Benchmarks of applying policies: groups beside a plain comparison, random decisions beside a loop over rows."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from baserate import Cut, Policy, RandomizedCut, apply
from bench._benchmark import Pair

_BY_SITE = Policy(
    by_group={("north",): Cut((0.4,)), ("south",): Cut((0.5,)), ("west",): Cut((0.6,))},
    otherwise="refuse",
    attributes=("site",),
)
_RANDOMIZED = Policy(by_group={(): RandomizedCut((Cut((0.50,)), Cut((0.55,))), (0.3, 0.7))}, otherwise="refuse")
"""Random between 0.5 and 0.55: 5% of uniformly distributed scores."""


def decide_by_group(n: int) -> Pair:
    """Decide about a table with groups, beside one threshold for all rows; the middle group has that threshold."""
    rng = np.random.default_rng(0)
    scores, site = rng.random(n), rng.integers(0, 3, n).astype(np.int8)
    names = [name for (name,) in _BY_SITE.by_group]
    table = pa.table({"risk": scores, "site": pa.DictionaryArray.from_arrays(site, names)})

    def gap(ours: pa.Table, peer: npt.NDArray[np.bool_]) -> float:
        flagged = np.array(ours["action"].to_pylist()) == "flag"
        expected = scores >= np.array([0.4, 0.5, 0.6])[site]
        return float(np.count_nonzero(flagged != expected) + np.count_nonzero((flagged != peer)[site == 1]))

    return Pair(lambda: apply.frame(_BY_SITE, table, score="risk"), lambda: scores >= 0.5, gap)


def decide_at_random(n: int) -> Pair:
    """Decide at random where the thresholds disagree, beside a loop that hashes the id of every row."""
    scores = np.random.default_rng(0).random(n)
    ids = np.arange(10**9, 10**9 + n)
    score_list, id_list = scores.tolist(), ids.tolist()

    def ours() -> npt.NDArray[np.bool_]:
        return apply.actions(_RANDOMIZED, scores, id=ids).is_flagged

    def gap(ours: npt.NDArray[np.bool_], peer: list[bool]) -> float:
        return float(np.count_nonzero(ours != np.array(peer)))

    return Pair(ours, _loop_over_rows(_RANDOMIZED.key, score_list, id_list), gap)


def _loop_over_rows(key: str, scores: list[float], ids: list[int]) -> Callable[[], list[Any]]:
    def run() -> list[bool]:
        flagged = []
        for score, id_ in zip(scores, ids, strict=True):
            # 13 hexadecimal digits are 52 bits, which a float64 holds exactly.
            u = int(sha256(f"{key}:{id_}".encode()).hexdigest()[:13], 16) / 2**52
            flagged.append(score >= (0.50 if u < 0.3 else 0.55))
        return flagged

    return run
