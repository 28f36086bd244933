"""The row about the reject option."""

from typing import Any

import numpy as np
import numpy.typing as npt

from baserate import equalize, read
from bench._row import Outcome, medians

_RIVAL = 12.06
"""Seconds of CPU that AIF360 0.6.1 took for these rows, once; for the 6150 rows of COMPAS it took 14.28."""
_GOAL = equalize.Goal("equal-opportunity", within=0.05)


def people(n: int) -> dict[str, npt.NDArray[Any]]:
    """Two groups as in COMPAS, a risk of three digits that one of them has more of, and who came back."""
    draw = np.random.default_rng(2016)
    one = draw.random(n) < 0.6
    risk = np.round(draw.beta(np.where(one, 2.2, 1.6), 2.2, n), 3)
    return {"back": draw.random(n) < 0.2 + 0.5 * risk, "risk": risk, "race": np.where(one, "one", "other")}


def reject_option(n: int, repeats: int) -> Outcome:
    """Choose the band by balanced accuracy, from rows: ours of all, the rival's of 100 thresholds × 50 margins."""
    columns = people(n)

    def ours() -> object:
        groups = read.tallies(columns, truth="back", score="risk", group="race")
        return equalize.reject_option(groups, _GOAL, favour="one", favourable="pass", objective="balanced_accuracy")

    ours()
    (seconds,) = medians([ours], repeats)
    return Outcome(seconds, _RIVAL, note="the rival was timed once, by itself, on these rows")
