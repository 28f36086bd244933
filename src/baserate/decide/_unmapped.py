"""A policy for what a map makes of scores -> the same policy for the scores as they come.

Whoever applies it needs no map then: a comparison with a number is the same in every language and on every machine,
which exponentials and logarithms are not.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from math import inf, isinf

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._calibrator import Calibrator
from baserate._calibrator_forms import Between, Steps
from baserate._cut import Cut, RandomizedCut, Treatment
from baserate._errors import OptionError
from baserate._policy import Policy
from baserate.decide._precision import separate


def unmapped(policy: Policy, map_: Calibrator, /, *, seen: npt.ArrayLike = ()) -> Policy:
    """Return the policy that does with scores what this one does with what a map makes of them.

    The new policy remembers the map. A threshold that is what the map makes of a score `seen` becomes that score, the
    least such; any other becomes the least score that the map takes to it or beyond. Where all scores seen are float32,
    thresholds also separate what their decimal digits are read as.

    >>> from baserate import Cut, calibrate, decide
    >>> halved = calibrate.prevalence(at=0.5, to=0.2)
    >>> policy = Policy(by_group={(): Cut((0.2, 0.5), ("pass", "refer", "flag"))}, otherwise="refuse")
    >>> decide.unmapped(policy, halved, seen=[0.5, 0.8]).cut
    Cut(thresholds=(0.5, 0.8), actions=('pass', 'refer', 'flag'))
    """
    if policy.map is not None:
        raise OptionError(
            "this policy is one for scores as they come already; give one for what the map makes of them."
        )
    known = np.unique(np.asarray(seen, dtype=np.float64))
    by_group = {group: _treatment(each, map_, known) for group, each in policy.by_group.items()}
    return separate(replace(policy, by_group=by_group, map=map_), known)


def _treatment(treatment: Treatment, map_: Calibrator, seen: Floats) -> Treatment:
    if isinstance(treatment, Cut):
        return _cut(treatment, map_, seen)
    cuts: dict[Cut, float] = {}
    for cut, chance in zip(treatment.cuts, treatment.chances, strict=True):
        found = _cut(cut, map_, seen)
        cuts[found] = cuts.get(found, 0.0) + chance
    return RandomizedCut(tuple(cuts), tuple(cuts.values())) if len(cuts) > 1 else next(iter(cuts))


def _cut(cut: Cut, map_: Calibrator, seen: Floats) -> Cut:
    if isinstance(map_.form, (Steps, Between)):
        steps = _constant(cut, map_, _edges(map_.form))
    elif map_.never_falls:
        steps = dict(zip([None, *(_least(map_, at, seen) for at in cut.thresholds)], cut.actions, strict=True))
    else:
        raise OptionError(
            f"{map_.method} lets a higher score mean less, so that a threshold after it is none before it."
        )
    kept = [next(alike) for _, alike in groupby(steps.items(), key=lambda item: item[1])]
    return Cut(tuple(start for start, _ in kept if start is not None), tuple(action for _, action in kept))


def _constant(cut: Cut, map_: Calibrator, edges: list[float]) -> dict[float | None, str]:
    """Where stretches begin under a map that is constant between its edges, and need not rise."""
    actions = [cut.action(float(map_([at])[0])) for at in (_below(edges), *edges)]
    steps: dict[float | None, str] = dict(zip([None, *edges], actions, strict=True))
    # What the ends of the cut do stays known, though the map may lead nobody there.
    if cut.actions[0] not in actions:
        steps = {None: cut.actions[0], -inf: actions[0], **dict(zip(edges, actions[1:], strict=True))}
    return steps if cut.actions[-1] in actions else steps | {inf: cut.actions[-1]}


def _edges(form: Steps | Between) -> list[float]:
    x = form.x if isinstance(form, Steps) else np.union1d(form.low.x, form.high.x)
    found: list[float] = x.tolist()
    return found


def _below(edges: list[float]) -> float:
    """A score below all edges; the same as any where there are none."""
    return float(np.nextafter(edges[0], -inf)) if edges else 0.5


def _least(map_: Calibrator, threshold: float, seen: Floats) -> float:
    """Least score that the map takes to a threshold or beyond."""
    if isinf(threshold):
        return threshold
    if len(seen):
        same = seen[map_(seen) == threshold]
        if len(same):
            return float(same[0])
    low, high = (0.0, 1.0) if map_.form.of_probabilities else (-np.finfo(float).max, np.finfo(float).max)
    if map_([low])[0] >= threshold:
        return -inf
    if map_([high])[0] < threshold:
        return inf
    first, last = _place(low), _place(high)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if map_([_number(middle)])[0] >= threshold else (middle, last)
    return _number(last)


def _place(number: float) -> int:
    """Place of a number among all floats, in their order."""
    bits = int(np.float64(number).view(np.int64))
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _number(place: int) -> float:
    """Number at a place."""
    return float(np.int64(place).view(np.float64)) if place >= 0 else -float(np.int64(-place).view(np.float64))
