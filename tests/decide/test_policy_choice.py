"""Policies chosen after a calibrator, expressed on raw scores."""

from functools import partial
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baserate import (
    Calibrator,
    Costs,
    Counts,
    Curve,
    Cut,
    OptionError,
    Policy,
    RandomizedCut,
    calibration,
    decide,
    read,
)
from baserate._calibrator_forms import Form, Knots, LogOdds, Steps
from tests.apply.forms import binary_calibrator, edges, forms

CUTS = st.lists(st.floats(0, 1) | st.sampled_from([-inf, 0.0, 0.5, 1.0, inf]), min_size=1, max_size=3, unique=True)
NAMES = ("pass", "refer", "flag", "call")


def policy_for_all(cut: Cut) -> Policy:
    return Policy(by_group={(): cut}, otherwise="refuse")


@given(forms, CUTS, st.lists(st.floats(0, 1), max_size=30))
@settings(max_examples=2 * settings().max_examples)
def test_decisions_on_raw_and_calibrated_scores_agree(form: Form, thresholds: list[float], more: list[float]) -> None:
    map_ = binary_calibrator(form)
    if not map_.never_falls and isinstance(form, Knots):
        return
    scores = np.unique(np.concatenate([more, edges(form)]))
    cut = Cut(tuple(sorted(thresholds)), NAMES[: len(thresholds) + 1])
    result = decide.on_raw_scores(policy_for_all(cut), map_, scores=scores)
    p = map_(scores)
    # Rounding may let a map fall by its last digit, just below a threshold.
    clear = np.min(np.abs(p[:, None] - np.array(cut.thresholds)), axis=1) > 1e-13
    for score, at in zip(scores[clear], p[clear], strict=True):
        assert result.action(score) == cut.action(at)
    assert result.calibrator is map_
    assert {cut.actions[0], cut.actions[-1]} <= {*result.cut.actions}


@given(st.integers(0, 2**32), st.sampled_from(sorted(calibration.BINARY_METHODS)))
def test_thresholds_after_a_calibrator_become_raw_scores(seed: int, method: str) -> None:
    rng = np.random.default_rng(seed)
    score = rng.integers(1, 40, 200) / 40
    data = {"sick": rng.random(200) < score**1.5, "risk": score}
    result = read.tallies(data, truth="sick", score="risk")
    map_ = calibration.fit(result, method)
    rule = partial(decide.cost, costs=Costs(fp=1, fn=float(rng.integers(1, 9))))
    policy = decide.choose_policy(result, rule, calibrator=map_)
    behind = rule(Curve(result.tally.with_scores(map_(result.tally.score))))
    flagged = [policy.action(each) for each in result.tally.score]
    assert flagged == [behind.cut.action(each) for each in map_(result.tally.score)]
    assert policy.chosen_on == result.tally.digest
    assert any("fitted to the same rows" in note for note in policy.notes)


def test_thresholds_beyond_the_calibrator() -> None:
    low = Calibrator(Knots(np.array([0.0, 1.0]), np.array([0.2, 0.6]), of_probabilities=True), "isotonic")
    assert decide.on_raw_scores(policy_for_all(Cut((0.1,))), low).cut == Cut((-inf,))
    assert decide.on_raw_scores(policy_for_all(Cut((0.7,))), low).cut == Cut((inf,))
    assert decide.on_raw_scores(policy_for_all(Cut((0.1, 0.7), ("pass", "refer", "flag"))), low).cut.thresholds == (
        -inf,
        inf,
    )
    half = decide.on_raw_scores(policy_for_all(Cut((0.4,))), low).threshold
    assert half == pytest.approx(0.5)
    assert low([half])[0] >= 0.4 > low([np.nextafter(half, 0)])[0]


def test_decreasing_histogram_calibrators_have_several_cuts() -> None:
    steps = Calibrator(Steps(np.array([0.3, 0.6]), np.array([0.1, 0.8, 0.4])), "histogram")
    assert decide.on_raw_scores(policy_for_all(Cut((0.5,))), steps).cut == Cut((0.3, 0.6), ("pass", "flag", "pass"))
    assert decide.on_raw_scores(policy_for_all(Cut((0.9,))), steps).cut == Cut((inf,))
    assert decide.on_raw_scores(policy_for_all(Cut((0.05,))), steps).cut == Cut((-inf,))


def test_cuts_of_a_randomized_policy_may_merge() -> None:
    steps = Calibrator(Steps(np.array([0.5]), np.array([0.2, 0.8])), "bins")
    draw = RandomizedCut((Cut((0.3,)), Cut((0.7,)), Cut((0.9,))), (0.25, 0.25, 0.5))
    result = decide.on_raw_scores(Policy(by_group={(): draw}, otherwise="refuse"), steps).by_group[()]
    assert result == RandomizedCut((Cut((0.5,)), Cut((inf,))), (0.5, 0.5))
    same = RandomizedCut((Cut((0.3,)), Cut((0.7,))), (0.25, 0.75))
    assert decide.on_raw_scores(Policy(by_group={(): same}, otherwise="refuse"), steps).cut == Cut((0.5,))


def test_on_raw_scores_errors() -> None:
    once = decide.on_raw_scores(policy_for_all(Cut((0.5,))), Calibrator(LogOdds(1.0, 1.0, 1.0), "offset"))
    with pytest.raises(OptionError, match="already"):
        decide.on_raw_scores(once, Calibrator(LogOdds(1.0, 1.0, 1.0), "offset"))
    falling = Calibrator(Knots(np.array([0.0, 1.0]), np.array([0.9, 0.1])), "made")
    with pytest.raises(OptionError, match="does not increase with the score"):
        decide.on_raw_scores(policy_for_all(Cut((0.5,))), falling)


def test_policy_requires_one_model_of_scores() -> None:
    table = {"sick": [1, 0], "old": [0.9, 0.4], "new": [0.8, 0.3], "said": [1, 0]}
    several = read.tallies(table, truth="sick", score=["old", "new"])
    with pytest.raises(OptionError, match="several models"):
        decide.choose_policy(several, decide.youden)
    assert decide.choose_policy(several, decide.youden, model="new").columns["score"] == "new"
    with pytest.raises(ValueError, match="no model 'mew'"):
        decide.choose_policy(several, decide.youden, model="mew")
    with pytest.raises(OptionError, match="a policy is for scores"):
        decide.choose_policy(read.tallies(table, truth="sick", predicted="said"), decide.youden)
    with pytest.raises(OptionError, match="takes Tallies, not Counts"):
        decide.choose_policy(Counts(1, 0, 0, 1), decide.youden)  # type: ignore[call-overload]
