"""Choose a policy on tallies, optionally after a calibrator, and express it on raw scores."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from math import inf, isinf

import numpy as np
import numpy.typing as npt

from baserate._arrays import Floats
from baserate._calibrator import Calibrator
from baserate._calibrator_forms import Between, Steps
from baserate._curve import Curve
from baserate._cut import Cut, RandomizedCut, Treatment
from baserate._errors import OptionError
from baserate._policy import Policy
from baserate._tally import Tallies, Tally
from baserate.decide._evaluation import find_model
from baserate.decide._rule import Rule, separate_float32
from baserate.infer import SAME_ROWS


def choose_policy(tallies: Tallies, rule: Rule, *, model: str | None = None, map: Calibrator | None = None) -> Policy:  # noqa: A002
    """Choose a policy on all rows, with everything that applying it to new rows needs.

    Parameters
    ----------
    tallies
        Data to choose on.
    rule
        Rule of `baserate.decide`, with its options bound by `functools.partial`; or any function from a curve to a
        policy.
    model
        Name of the model; needed where there are several.
    map
        Calibrator to apply first. The rule then chooses among calibrated probabilities, and the policy is expressed on
        the raw scores.

    Returns
    -------
    Policy
        The policy with its columns, the positive class and the calibrator.

    Examples
    --------
    >>> from functools import partial
    >>> from baserate import Costs, decide, read
    >>> t = read.tallies({"sick": [1, 0, 1, 0], "risk": [0.9, 0.6, 0.4, 0.1]}, truth="sick", score="risk")
    >>> policy = decide.choose_policy(t, partial(decide.cost, costs=Costs(fp=1, fn=20)))
    >>> policy.threshold, dict(policy.columns), policy.prevalence
    (0.4, {'truth': 'sick', 'score': 'risk'}, 0.5)
    """
    name = find_model(tallies, model)
    if name == tallies.intake.columns.get("predicted"):
        raise OptionError(f"{name} holds labels, which are decided already; a policy is of scores.")
    tally = tallies.pooled(name)
    policy = rule(Curve(tally)) if map is None else _choose_after_calibrator(map, tally, rule)
    truth = tallies.intake.columns.get("truth")
    columns = {**({"truth": truth} if isinstance(truth, str) else {}), "score": name}
    return replace(policy, columns=columns, positive=str(tallies.intake.positive))


def _choose_after_calibrator(map_: Calibrator, tally: Tally, rule: Rule) -> Policy:
    """Let a rule choose among calibrated scores, and express the policy on the raw scores."""
    policy = on_raw_scores(rule(Curve(tally.with_scores(map_(tally.score)))), map_, seen=tally.score)
    notes = (*policy.notes, *[SAME_ROWS] * map_.was_fitted_on(tally))
    return replace(policy, chosen_on=policy.chosen_on and tally.digest, notes=notes)


def on_raw_scores(policy: Policy, map_: Calibrator, /, *, seen: npt.ArrayLike = ()) -> Policy:
    """Return the policy on raw scores that equals a policy on calibrated scores.

    Applying it needs no calibrator: comparing with a number is the same in every language and on every machine, which
    exponentials and logarithms are not. The new policy stores the calibrator.

    Parameters
    ----------
    policy
        Policy on calibrated scores.
    map_
        Calibrator from raw scores to calibrated ones.
    seen
        Raw scores of the data. A threshold that is the calibrated value of one of them becomes the least such score;
        any other becomes the least number that the calibrator maps to it or above. Where all are float32, thresholds
        also separate their decimal digits.

    Returns
    -------
    Policy
        Policy on raw scores with the same decisions.

    Examples
    --------
    >>> from baserate import Cut, calibrate, decide
    >>> halved = calibrate.prevalence(at=0.5, to=0.2)
    >>> policy = Policy(by_group={(): Cut((0.2, 0.5), ("pass", "refer", "flag"))}, otherwise="refuse")
    >>> decide.on_raw_scores(policy, halved, seen=[0.5, 0.8]).cut
    Cut(thresholds=(0.5, 0.8), actions=('pass', 'refer', 'flag'))
    """
    if policy.map is not None:
        raise OptionError(
            "this policy is one for scores as they come already", remedy="give one for what the map makes of them."
        )
    scores = np.unique(np.asarray(seen, dtype=np.float64))
    by_group = {group: _invert_treatment(each, map_, scores) for group, each in policy.by_group.items()}
    return separate_float32(replace(policy, by_group=by_group, map=map_), scores)


def _invert_treatment(treatment: Treatment, map_: Calibrator, scores: Floats) -> Treatment:
    if isinstance(treatment, Cut):
        return _invert_cut(treatment, map_, scores)
    cuts: dict[Cut, float] = {}
    for cut, chance in zip(treatment.cuts, treatment.chances, strict=True):
        inverted = _invert_cut(cut, map_, scores)
        cuts[inverted] = cuts.get(inverted, 0.0) + chance
    return RandomizedCut(tuple(cuts), tuple(cuts.values())) if len(cuts) > 1 else next(iter(cuts))


def _invert_cut(cut: Cut, map_: Calibrator, scores: Floats) -> Cut:
    if isinstance(map_.form, (Steps, Between)):
        steps = _invert_steps(cut, map_, _step_edges(map_.form))
    elif map_.never_falls:
        steps = dict(zip([None, *(_least_score(map_, at, scores) for at in cut.thresholds)], cut.actions, strict=True))
    else:
        raise OptionError(
            f"{map_.method} lets a higher score mean less, so that a threshold after it is none before it."
        )
    runs = [next(same_action) for _, same_action in groupby(steps.items(), key=lambda item: item[1])]
    return Cut(tuple(start for start, _ in runs if start is not None), tuple(action for _, action in runs))


def _invert_steps(cut: Cut, map_: Calibrator, edges: list[float]) -> dict[float | None, str]:
    """Return where actions begin under a calibrator that is constant between its edges and need not increase."""
    actions = [cut.action(float(map_([at])[0])) for at in (_score_below(edges), *edges)]
    steps: dict[float | None, str] = dict(zip([None, *edges], actions, strict=True))
    # Keep the actions of both ends even if no score reaches them, so that the policy has all its actions.
    if cut.actions[0] not in actions:
        steps = {None: cut.actions[0], -inf: actions[0], **dict(zip(edges, actions[1:], strict=True))}
    return steps if cut.actions[-1] in actions else steps | {inf: cut.actions[-1]}


def _step_edges(form: Steps | Between) -> list[float]:
    x = form.x if isinstance(form, Steps) else np.union1d(form.low.x, form.high.x)
    edges: list[float] = x.tolist()
    return edges


def _score_below(edges: list[float]) -> float:
    """Return a score below all edges; any number where there are none."""
    return float(np.nextafter(edges[0], -inf)) if edges else 0.5


def _least_score(map_: Calibrator, threshold: float, scores: Floats) -> float:
    """Find the least score that the calibrator maps to a threshold or above, by bisection over all floats."""
    if isinf(threshold):  # flags none or all, on either scale
        return threshold
    if len(scores):
        same = scores[map_(scores) == threshold]
        if len(same):
            return float(same[0])
    low, high = (0.0, 1.0) if map_.form.of_probabilities else (-np.finfo(float).max, np.finfo(float).max)
    if map_([low])[0] >= threshold:
        return -inf
    if map_([high])[0] < threshold:
        return inf
    # Bisect over ranks of floats, not over values: 64 steps are exact, and calibrators need not be invertible.
    first, last = _float_rank(low), _float_rank(high)
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (first, middle) if map_([_float_at_rank(middle)])[0] >= threshold else (middle, last)
    return _float_at_rank(last)


def _float_rank(number: float) -> int:
    """Return the rank of a number among all floats, in ascending order."""
    # The bits of IEEE 754 floats, read as integers, ascend with the number; negative ones by magnitude.
    bits = int(np.float64(number).view(np.int64))
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _float_at_rank(place: int) -> float:
    """Return the float at a rank."""
    return float(np.int64(place).view(np.float64)) if place >= 0 else -float(np.int64(-place).view(np.float64))
