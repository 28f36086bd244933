"""Rates of groups after a decision, and how far they lie apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from baserate._counts import Counts
from baserate._cut import RandomizedCut, Treatment
from baserate._policy import Policy
from baserate._tally import Group, Tallies, Tally
from baserate.apply import stretches
from baserate.decide import evaluated
from baserate.measure import MEASURES


def decided(tallies: Tallies, policy: Policy, model: str) -> dict[Group, Counts[float]]:
    """Return what a policy can be expected to pass and flag in each group by the attributes of the tallies."""
    found = evaluated(tallies, policy, model)
    return {group: part.counts for group, part in found.items() if group is not None}


def by_lot(tally: Tally, treatment: Treatment | None) -> float:
    """Mass of those whose scores are decided by lot.

    >>> from baserate import Cut, RandomizedCut, tally
    >>> by_lot(tally([1, 1, 0, 0], [0.9, 0.6, 0.4, 0.1]), RandomizedCut((Cut((0.5,)), Cut((0.7,))), (0.2, 0.8)))
    1.0
    """
    if not isinstance(treatment, RandomizedCut):
        return 0.0
    found = stretches(treatment)
    drawn = np.array(found.open)[np.searchsorted(found.at, tally.score, side="right")]
    return float(tally.mass[:, drawn].sum(dtype=np.float64))


def rate_gaps(tables: Mapping[Group, Counts[float]], rates: Iterable[str]) -> dict[str, float]:
    """Greatest difference of each rate between two groups; those in which it is undefined do not take part.

    >>> found = {("f",): Counts(tp=3, fn=1, fp=2, tn=2), ("m",): Counts(tp=1, fn=1, fp=0, tn=0)}
    >>> rate_gaps(found, ["sensitivity", "fpr"])
    {'sensitivity': 0.25, 'fpr': 0.0}
    """
    return {rate: _spread([float(MEASURES[rate](each)) for each in tables.values()]) for rate in rates}


def _spread(values: list[float]) -> float:
    there = [value for value in values if not np.isnan(value)]
    return max(there) - min(there) if there else float("nan")
