"""Thresholds that decide float32 scores as they decide the decimal digits of these scores in a text file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from baserate._arrays import Floats
from baserate._cut import Cut, RandomizedCut, Treatment
from baserate._numeric.single_precision import separate_precisions
from baserate._policy import Policy


def separate(policy: Policy, score: Floats) -> Policy:
    """Return a policy that decides rows alike whether their scores are float32 or were written to text and read again.

    `score` holds what the policy was chosen on. Among float32 scores, a threshold that is a float32 becomes a short
    decimal that also its digits in text reach, and that nothing less does: 0.1 in place of 0.10000000149011612. The
    same rows of `score` are flagged; a note of the policy says what was done. Policies of other scores stay.

    >>> scores = np.array([0.9, 0.1], dtype=np.float32)
    >>> separate(Policy(by_group={(): Cut((float(scores[1]),))}, otherwise="refuse"), scores).threshold
    0.1
    """
    by_group = {group: _separate_treatment(each, score) for group, each in policy.by_group.items()}
    pairs = [
        (before, after)
        for old, new in zip(policy.by_group.values(), by_group.values(), strict=True)
        for before, after in zip(_thresholds(old), _thresholds(new), strict=True)
        if before != after
    ]
    if not pairs:
        return policy
    before, after = pairs[0]
    note = (
        f"scores have float32 precision: a threshold of {before!r} became {after!r}, which flags the same rows here "
        "and in a text file with these scores."
    )
    return replace(policy, by_group=by_group, notes=(*policy.notes, note))


def _separate_treatment(treatment: Treatment, score: Floats) -> Treatment:
    if isinstance(treatment, RandomizedCut):
        return replace(treatment, cuts=tuple(_separate_cut(cut, score) for cut in treatment.cuts))
    return _separate_cut(treatment, score)


def _separate_cut(cut: Cut, score: Floats) -> Cut:
    thresholds = separate_precisions(np.array(cut.thresholds, dtype=np.float64), score)
    return replace(cut, thresholds=tuple(thresholds.tolist()))


def _thresholds(treatment: Treatment) -> Iterator[float]:
    for cut in treatment.cuts if isinstance(treatment, RandomizedCut) else (treatment,):
        yield from cut.thresholds
