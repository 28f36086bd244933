"""Rows about another prevalence."""

from __future__ import annotations

import numpy as np

import baserate as br
from baserate import shift
from baserate._counts import Counts
from baserate.measure import MEASURES, about
from bench._row import Outcome, medians
from bench._scores import positive_scores

_PREVALENCES = 1000


def against_prevalence(n: int, repeats: int) -> Outcome:
    """Every measure of a 2×2 table at a thousand prevalences, beside making the tally that it is cut from."""
    columns = positive_scores(n)
    names = [name for name, measure in MEASURES.items() if about(measure).of is Counts]
    at = np.linspace(0.001, 0.999, _PREVALENCES)
    counts = br.curve(br.tally(columns["truth"], columns["score"])).at(0.5)

    def ours() -> object:
        return shift.table(counts, *names, prevalences=at)

    def rival() -> object:
        return br.tally(columns["truth"], columns["score"])

    ours()
    seconds, whole = medians([ours, rival], repeats)
    return Outcome(seconds, whole, note=f"{len(names)} measures at {_PREVALENCES} prevalences")
