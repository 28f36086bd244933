"""Differences of losses, average precision and KS on the same rows, against sums that are written out row by row."""

from math import inf, isnan, sqrt

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import stdtr, stdtrit
from scipy.stats import ttest_rel

from baserate import Curve, Rows, tally
from baserate.infer import Comparison, Question, compare
from baserate.measure import MEASURES, describe

Array = npt.NDArray[np.float64]


def sample(size: int, seed: int, *, sharp: float = 2.5, separation: float = 2.0) -> Rows:
    """Two equally good models that are too confident."""
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.3
    shared = rng.normal(size=size)

    def score() -> Array:
        seen = separation * truth + sqrt(0.7) * shared + sqrt(0.3) * rng.normal(size=size)
        return np.asarray(1 / (1 + np.exp(-sharp * (np.log(3 / 7) - separation**2 / 2 + separation * seen))))

    return Rows(truth, {"new": score(), "old": score()})


def losses(rows: Rows, model: str) -> Array:
    return np.asarray((rows.truth - np.asarray(rows.score[model], dtype=np.float64)) ** 2)


def freedom(added: Array) -> float:
    """Twice the squared variance over the variance of the variance, no more than of normal rows."""
    n = len(added)
    second, fourth = np.sum(added**2) * n / (n - 1), np.sum(added**4) * (n / (n - 1)) ** 2
    return float(min(n - 1, 2 * second**2 / (fourth - second**2 / n)))


def check(found: Comparison, value: float, error: float, degrees: float) -> None:
    half = stdtrit(degrees, 0.975) * error
    assert found.difference.value == pytest.approx(value)
    assert found.statistic == pytest.approx(value / error)
    assert (found.difference.low, found.difference.high) == pytest.approx((value - half, value + half))
    assert found.p == pytest.approx(2 * stdtr(degrees, -abs(value) / error))


def test_brier_is_the_paired_t_test_with_fewer_degrees_of_freedom() -> None:
    rows = sample(80, 1)
    apart = losses(rows, "new") - losses(rows, "old")
    (found,) = compare(rows, measure="brier")
    assert found.statistic == pytest.approx(ttest_rel(losses(rows, "new"), losses(rows, "old")).statistic)
    check(found, apart.mean(), apart.std(ddof=1) / sqrt(80), freedom(apart - apart.mean()))
    assert freedom(apart - apart.mean()) < 40  # a few rows make most of the variance


def test_weights_and_clusters_by_hand() -> None:
    rows = sample(60, 2)
    weight = np.random.default_rng(3).random(60) + 0.2
    cluster = np.arange(60) // 4
    apart = losses(rows, "new") - losses(rows, "old")
    mean = np.average(apart, weights=weight)
    added = weight * (apart - mean) / weight.sum()
    (found,) = compare(Rows(rows.truth, rows.score, weight=weight), measure="brier")
    check(found, mean, sqrt(np.sum(added**2) * 60 / 59), freedom(added))
    sums = added.reshape(15, 4).sum(axis=1)
    (found,) = compare(Rows(rows.truth, rows.score, weight=weight, cluster=cluster), measure="brier")
    check(found, mean, sqrt(np.sum(sums**2) * 15 / 14), freedom(sums))


@pytest.mark.parametrize("name", ["brier_skill", "log_loss_skill", "average_precision"])
def test_what_a_row_adds_is_a_derivative(name: str) -> None:
    rows = sample(50, 4, sharp=1.0)
    measure, step = MEASURES[name], 1e-6

    def value(weight: Array) -> float:
        found = [tally(rows.truth, rows.score[model], weight=weight) for model in ("new", "old")]
        first, second = (float(measure(Curve(each) if describe(measure).of is Curve else each)) for each in found)
        return first - second

    added = np.array([(value(1 + step * row) - value(1 - step * row)) / (2 * step) for row in np.eye(50)])
    parts = [added[rows.truth], added[~rows.truth]] if name == "average_precision" else [added]
    variance = sum(np.sum(part**2) * len(part) / (len(part) - 1) for part in parts)
    (found,) = compare(rows, measure=name)
    assert found.statistic == pytest.approx(value(np.ones(50)) / sqrt(variance), rel=1e-4)


def test_ks_by_hand() -> None:
    truth = np.repeat([True, False], [8, 12])
    # At 0.5: of positives 6 and 7 are flagged, of negatives 2 and 3; nowhere else is it more.
    new = np.array([0.9] * 6 + [0.1] * 2 + [0.9] * 2 + [0.1] * 10)
    old = np.array([0.1] * 1 + [0.9] * 7 + [0.1] * 2 + [0.9] * 3 + [0.1] * 7)
    (found,) = compare(Rows(truth, {"new": new, "old": old}), measure="ks")
    variance = 0.0
    for there in (truth, ~truth):
        values = np.concatenate([(new > 0.5)[there] * 1.0 - (old > 0.5)[there], [1, -1, 0, 0]])
        times = np.append(np.ones(there.sum()), np.full(4, 0.5))
        n = times.sum()
        mean = np.average(values, weights=times)
        variance += np.sum(times * (values - mean) ** 2) / n / (n - 1)
    value = (6 / 8 - 2 / 12) - (7 / 8 - 3 / 12)
    assert found.difference.value == pytest.approx(value)
    assert found.statistic == pytest.approx(value / sqrt(variance))
    assert found.difference.low < -0.4


@pytest.mark.parametrize("size", [60, 200])
def test_confident_models_raise_no_false_alarms(size: int) -> None:
    # Percentiles of a Bayesian bootstrap rejected 9 % of the losses at 60 rows.
    names = ("brier", "log_loss", "brier_skill", "average_precision", "ks")
    alarms = dict.fromkeys(names, 0)
    for seed in range(200):
        for found in compare(sample(size, seed), measure=list(names)):
            alarms[found.measure] += found.p < 0.05
            assert (found.p < 0.05) is not (found.difference.low <= 0 <= found.difference.high)
    assert max(alarms.values()) <= 14, alarms


def test_infinite_losses_are_reported() -> None:
    truth = np.array([True, True, False, False, True])
    sure = np.array([0.9, 0.0, 0.2, 0.1, 0.8])
    rows = Rows(truth, {"new": np.array([0.9, 0.4, 0.2, 0.1, 0.8]), "sure": sure, "other": sure / 2})
    one, both = compare(rows, measure="log_loss", models=[("new", "sure"), ("sure", "other")])
    assert one.difference.value == -inf
    assert isnan(one.difference.low)
    assert isnan(one.p)
    assert one.why == "log_loss of sure is infinite: a row has probability 0 of its own class"
    assert isnan(both.difference.value)
    assert both.why == "both values are infinite"


def test_one_sided_questions_use_the_same_statistic() -> None:
    rows = sample(80, 5)
    (two,) = compare(rows, measure="brier")
    (less,) = compare(rows, measure="brier", question=Question("less"))
    (better,) = compare(rows, measure="brier", question=Question("better"))
    assert less.p == better.p
    assert min(less.p, 1 - less.p) == pytest.approx(two.p / 2)
