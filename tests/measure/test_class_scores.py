"""Scores of several classes: weighted pairs of classes, skills, the ranked probability score, and soft costs."""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

import baserate
from baserate import CostMatrix, MulticlassRows, OptionError, UnknownNameError, infer, measure
from baserate.measure import multiclass
from tests.cli.shell import run
from tests.cli.test_classes import pets
from tests.laws.test_averages import ScoredRows, scored_rows
from tests.schemas import read_results
from tests.strategies import same

near = partial(pytest.approx, rel=0, abs=1e-10)
COSTS = [[0, 1, 2], [3, 0, 1], [5, 4, 0]]


@pytest.fixture(scope="module")
def sample() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(4)
    truth = rng.choice(3, size=200, p=[0.5, 0.3, 0.2])
    score = rng.normal(size=(200, 3))
    score[np.arange(200), truth] += 1.2
    score = np.exp(score)
    return truth, score / score.sum(axis=1, keepdims=True), rng.choice([0.5, 1.0, 2.0], 200)


def as_rows(sample: tuple[Any, Any, Any], *, weighted: bool = False) -> MulticlassRows:
    truth, score, weight = sample
    return baserate.class_scores(truth, score, labels=[0, 1, 2], weight=weight if weighted else None)


# Values of peers


def test_weighted_pairs_have_the_value_of_scikit_learn(sample: tuple[Any, Any, Any]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth, score, _ = sample
    for average, function in (("weighted", multiclass.hand_till_weighted), ("macro", multiclass.hand_till)):
        expected = metrics.roc_auc_score(truth, score, multi_class="ovo", average=average)
        assert function(as_rows(sample)) == near(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_skills_have_the_values_of_scikit_learn(sample: tuple[Any, Any, Any], *, weighted: bool) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    truth, score, weight = sample
    options = {"sample_weight": weight} if weighted else {}
    rows = as_rows(sample, weighted=weighted)
    assert multiclass.brier_skill(rows) == near(metrics.d2_brier_score(truth, score, **options))
    assert multiclass.log_loss_skill(rows) == near(metrics.d2_log_loss_score(truth, score, **options))


def test_the_ranked_probability_score_has_the_value_of_other_programs() -> None:
    # The example of scoringutils 2.1.0, rps_ordinal: squared differences of cumulative probabilities, by hand.
    rows = baserate.class_scores(
        ["three", "three", "two"],
        [[0.8, 0.1, 0.1], [0.1, 0.2, 0.7], [0.4, 0.4, 0.2]],
        labels=["one", "two", "three"],
    )
    undivided = [0.8**2 + 0.9**2, 0.1**2 + 0.3**2, 0.4**2 + 0.2**2]
    assert 2 * multiclass.ranked_probability_score(rows) == near(np.mean(undivided))


def epstein_score(p: Any, true: int) -> float:  # noqa: ANN401
    """Return the score of a forecast as Epstein wrote it in 1969: 1 is best."""
    size = len(p)
    below = np.cumsum(p)[:-1]
    distance = np.abs(np.arange(size) - true)
    return float(1.5 - np.sum(below**2 + (1 - below) ** 2) / (2 * (size - 1)) - np.sum(distance * p) / (size - 1))


@given(scored_rows())
def test_the_ranked_probability_score_is_one_minus_that_of_epstein(sample: ScoredRows) -> None:
    weight = sample.weight
    scores = [epstein_score(p, true) for p, true in zip(sample.score, sample.truth, strict=True)]
    value = multiclass.ranked_probability_score(sample.rows(weight=weight))
    assert value == pytest.approx(1 - np.average(scores, weights=weight), abs=1e-12)


# Laws


@given(scored_rows())
def test_two_classes_have_the_measures_of_two_classes(sample: ScoredRows) -> None:
    two, truth = sample.score[:, 0], sample.truth == 0
    rows = baserate.class_scores(truth, np.stack([1 - two, two], axis=1), labels=[False, True], weight=sample.weight)
    tally = baserate.tally(truth, two, weight=sample.weight)
    for ours, theirs in (
        (multiclass.brier_skill, measure.brier_skill),
        (multiclass.log_loss_skill, measure.log_loss_skill),
        (multiclass.ranked_probability_score, measure.brier),
    ):
        assert same(ours(rows), theirs(tally), within=1e-9)
    assert same(multiclass.hand_till_weighted(rows), measure.auc(baserate.curve(tally)), within=1e-12)


@given(scored_rows())
def test_pairs_are_weighted_by_their_rows(sample: ScoredRows) -> None:
    rows = sample.rows(weight=sample.weight)
    table, support = multiclass.pairwise_auc(rows), rows.support
    pairs = [(i, j) for i, j in combinations(range(len(support)), 2) if support[i] and support[j]]
    value = multiclass.hand_till_weighted(rows)
    if not pairs:
        assert isnan(value)
        return
    means = [(table[i, j] + table[j, i]) / 2 for i, j in pairs]
    assert value == pytest.approx(np.average(means, weights=[support[i] + support[j] for i, j in pairs]))


@given(scored_rows())
def test_the_class_frequencies_have_no_skill(sample: ScoredRows) -> None:
    rows = sample.rows(weight=sample.weight)
    assume(np.count_nonzero(rows.support) > 1)
    shares = np.tile(rows.support / rows.total, (len(rows), 1))
    constant = baserate.class_scores(sample.truth, shares, labels=rows.labels, weight=sample.weight)
    assert multiclass.brier_skill(constant) == pytest.approx(0, abs=1e-12)
    assert multiclass.log_loss_skill(constant) == pytest.approx(0, abs=1e-12)
    perfect = np.eye(len(rows.labels))[sample.truth]
    exact = baserate.class_scores(sample.truth, perfect, labels=rows.labels)
    assert (multiclass.brier_skill(exact), multiclass.log_loss_skill(exact)) == (1, 1)
    assert multiclass.ranked_probability_score(exact) == multiclass.classification_cost(exact) == 0


@given(scored_rows())
def test_reversing_ranked_classes_changes_nothing_and_distance_counts(sample: ScoredRows) -> None:
    size = sample.score.shape[1]
    turned = baserate.class_scores(size - 1 - sample.truth, sample.score[:, ::-1], labels=range(size))
    assert multiclass.ranked_probability_score(turned) == near(multiclass.ranked_probability_score(sample.rows()))
    ends = np.zeros(size)
    ends[-1] = 1
    worst = baserate.class_scores([0], [ends], labels=range(size))
    assert multiclass.ranked_probability_score(worst) == 1


@given(scored_rows())
def test_the_soft_cost_of_certain_probabilities_is_that_of_decisions(sample: ScoredRows) -> None:
    size = sample.score.shape[1]
    costs = np.arange(size * size, dtype=float).reshape(size, size) - 3
    rows = sample.rows(weight=sample.weight)
    certain = np.eye(size)[rows.decision()]
    decided = baserate.class_scores(sample.truth, certain, labels=range(size), weight=sample.weight)
    assert multiclass.classification_cost(decided, costs=costs) == pytest.approx(
        multiclass.expected_cost(rows.confusion(), costs=costs)
    )
    # By brute force, row by row; and with labels in another order.
    each = [p @ costs[true] for p, true in zip(sample.score, sample.truth, strict=True)]
    value = multiclass.classification_cost(rows, costs=costs)
    assert value == pytest.approx(np.average(each, weights=sample.weight))
    order = list(range(size))[::-1]
    matrix = CostMatrix(costs[np.ix_(order, order)], order)
    assert multiclass.classification_cost(rows, costs=matrix) == pytest.approx(value)


def test_costs_of_another_class_are_refused(sample: tuple[Any, Any, Any]) -> None:
    with pytest.raises(UnknownNameError, match="there are no costs for the class 2"):
        multiclass.classification_cost(as_rows(sample), costs=CostMatrix([[0, 1], [1, 0]], [0, 1]))


# Intervals

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "hand_till_weighted": multiclass.hand_till_weighted,
    "brier_skill": multiclass.brier_skill,
    "log_loss_skill": multiclass.log_loss_skill,
    "ranked_probability_score": multiclass.ranked_probability_score,
    "classification_cost": partial(multiclass.classification_cost, costs=COSTS),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_closed_intervals_agree_with_the_bootstrap(sample: tuple[Any, Any, Any], name: str) -> None:
    from baserate.infer._multiclass import _bootstrap_interval

    function = FUNCTIONS[name]
    for weighted in (False, True):
        rows = as_rows(sample, weighted=weighted)
        estimate = infer.estimate(function, rows)
        assert "bootstrap" not in str(estimate.how)
        bounds = _bootstrap_interval(function, rows, estimate.value, 0.95, 0)
        assert estimate.high - estimate.low == pytest.approx(bounds.high - bounds.low, rel=0.2)
        assert estimate.low < estimate.value < estimate.high


def test_influence_of_weighted_pairs_is_their_derivative(sample: tuple[Any, Any, Any]) -> None:
    from dataclasses import replace

    from baserate.infer._multiclass import hand_till_slopes

    rows = as_rows(sample, weighted=True)
    slopes, value = hand_till_slopes(rows, weighted=True), multiclass.hand_till_weighted(rows)
    assert rows.weight is not None
    for at in range(0, 200, 17):
        weight = rows.weight.copy()
        weight[at] *= 1 + 1e-6
        derivative = (multiclass.hand_till_weighted(replace(rows, weight=weight)) - value) / 1e-6
        assert derivative == pytest.approx(slopes[at], abs=1e-7)


def test_equal_costs_have_an_interval_of_one_point(sample: tuple[Any, Any, Any]) -> None:
    function = partial(multiclass.classification_cost, costs=np.full((3, 3), 2.0))
    estimate = infer.estimate(function, as_rows(sample))
    assert (estimate.value, estimate.low, estimate.high) == near((2, 2, 2))
    with pytest.raises(OptionError, match="classification_cost requires costs of errors"):
        infer.compare_classes(as_rows(sample), as_rows(sample), measure="classification_cost")


# The shell


def test_the_shell_measures_ranked_classes_and_costs(tmp_path: Path) -> None:
    costs = tmp_path / "costs.csv"
    costs.write_text(",cat,dog,fish\ncat,0,1,2\ndog,1,0,2\nfish,5,5,0\n")
    command = ("measure", pets(tmp_path), "--truth", "is", "--scores", "p_", "--json")
    names = "ranked_prob_score,classification_cost,hand_till_weighted,brier_skill"
    result = run(*command, "--measures", names, "--costs", costs)
    rows = {row["measure"]: row for row in read_results(result.stdout)["rows"]}
    for name in ("ranked_probability_score", "classification_cost", "hand_till_weighted", "brier_skill"):
        assert rows[name]["low"] <= rows[name]["value"] <= rows[name]["high"]
    assert "classification_cost is not a proper score" in result.stderr
    assert "expected_cost" not in rows
    refused = run(*command, "--measures", "classification_cost")
    assert refused.exit_code == 2
    assert "classification_cost needs a cost matrix" in refused.stderr
