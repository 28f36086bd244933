"""Areas under PR curves that are known in closed form: the anchors that PRROC's tests use."""

from math import log

import numpy as np
import pytest

from baserate import curve, measure, tally


@pytest.mark.parametrize(("positives", "negatives"), [(1, 99), (30, 70), (500, 500), (7, 1)])
def test_constant_scores_give_the_prevalence(positives: int, negatives: int) -> None:
    c = curve(tally([1] * positives + [0] * negatives, [0.25] * (positives + negatives)))
    prevalence = positives / (positives + negatives)
    assert measure.pr_auc(c) == pytest.approx(prevalence, rel=0, abs=1e-12)
    assert measure.average_precision(c) == pytest.approx(prevalence, rel=0, abs=1e-12)


@pytest.mark.parametrize("each", [1, 10, 1000])
def test_the_worst_balanced_ranking(each: int) -> None:
    c = curve(tally([0] * each + [1] * each, np.arange(2 * each, 0, -1)))
    # While positives are found nothing else is, so precision is x/(1+x): the integral is exact for any size.
    assert measure.pr_auc(c) == pytest.approx(1 - log(2), rel=0, abs=1e-12)
    # The staircase comes down to it.
    result = np.arange(1, each + 1)
    assert measure.average_precision(c) == pytest.approx(np.mean(result / (result + each)), rel=0, abs=1e-12)
    assert 0 < measure.average_precision(c) - (1 - log(2)) <= 1 / (4 * each)


def test_the_worst_balanced_ranking_as_published() -> None:
    c = curve(tally([0] * 1000 + [1] * 1000, np.arange(2000, 0, -1)))
    assert measure.pr_auc(c) == pytest.approx(0.3068528194, rel=0, abs=5e-11)
    assert measure.average_precision(c) == pytest.approx(0.307103, rel=0, abs=5e-7)


@pytest.mark.parametrize("gamma", [0.5, 1, 4, 100])
def test_the_worst_ranking_at_other_balances(gamma: float) -> None:
    # γ negatives for each positive: ∫ x/(x+γ) dx from 0 to 1.
    truth, score = [0] * 100 + [1] * 100, np.arange(200, 0, -1)
    c = curve(tally(truth, score, weight=[gamma] * 100 + [1] * 100))
    assert measure.pr_auc(c) == pytest.approx(1 - gamma * log(1 + 1 / gamma), rel=0, abs=1e-12)


def test_a_perfect_ranking() -> None:
    c = curve(tally([1] * 30 + [0] * 70, np.arange(100, 0, -1)))
    assert measure.pr_auc(c) == measure.average_precision(c) == 1
