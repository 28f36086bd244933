"""pROC's aSAH data: sensitivity at a fixed specificity, its interval and tests, computed by pROC 1.18.0."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from baserate import Rows, infer, tally
from baserate.infer import Question
from baserate.measure import sensitivity_at_specificity, specificity_at_sensitivity

Columns = Callable[[str], dict[str, list[str]]]

MARKERS = ("wfns", "ndka", "s100b")
RATES = (0.9, 0.8, 0.95)
# coords(roc, rate, input=…, ret=…), with levels=c("Good", "Poor") and direction="<".
SENSITIVITIES = {
    "wfns": (0.517073170731707, 0.653658536585366, 0.395121951219512),
    "ndka": (0.195121951219512, 0.341463414634146, 0.0975609756097561),
    "s100b": (0.390243902439024, 0.634146341463415, 0.341463414634146),
}
SPECIFICITIES = {
    "wfns": (0.5625, 0.657407407407407, 0.515046296296296),
    "ndka": (0.166666666666667, 0.333333333333333, 0.0416666666666667),
    "s100b": (0.230555555555556, 0.447222222222222, 0.168055555555556),
}
AT_90 = {
    "specificity": partial(sensitivity_at_specificity, specificity=0.9),
    "sensitivity": partial(specificity_at_sensitivity, sensitivity=0.9),
}


@pytest.fixture(scope="module")
def rows(columns: Columns) -> Rows:
    read = columns("aSAH.csv")
    return Rows(np.array(read["outcome"]) == "Poor", {name: np.array(read[name], dtype=float) for name in MARKERS})


@pytest.mark.parametrize("marker", MARKERS)
def test_rates_at_fixed_rates(rows: Rows, marker: str) -> None:
    one = tally(rows.truth, rows.score[marker])
    for rate, sensitivity, specificity in zip(RATES, SENSITIVITIES[marker], SPECIFICITIES[marker], strict=True):
        assert sensitivity_at_specificity(one, specificity=rate) == pytest.approx(sensitivity, abs=1e-12)
        assert specificity_at_sensitivity(one, sensitivity=rate) == pytest.approx(specificity, abs=1e-12)


# ci.se and ci.sp at 0.9, boot.n = 20000, stratified, set.seed(42); bounds vary by about 0.01 between seeds.
BOOTSTRAP_BOUNDS = [
    ("wfns", "specificity", 0.332, 0.708),
    ("ndka", "specificity", 0.049, 0.415),
    ("s100b", "specificity", 0.220, 0.615),
    ("wfns", "sensitivity", 0.399, 0.688),
    ("ndka", "sensitivity", 0.014, 0.389),
    ("s100b", "sensitivity", 0.114, 0.514),
]


@pytest.mark.parametrize(("marker", "option", "low", "high"), BOOTSTRAP_BOUNDS)
def test_bootstrap_intervals(rows: Rows, marker: str, option: str, low: float, high: float) -> None:
    for method in ("bootstrap", "stratified"):
        bounds = infer.estimate(AT_90[option], tally(rows.truth, rows.score[marker]), method=method)
        assert [bounds.low, bounds.high] == pytest.approx([low, high], abs=0.05), method


@pytest.mark.parametrize(("marker", "option", "low", "high"), BOOTSTRAP_BOUNDS)
def test_default_intervals_contain_most_of_those_of_the_bootstrap(
    rows: Rows, marker: str, option: str, low: float, high: float
) -> None:
    bounds = infer.estimate(AT_90[option], tally(rows.truth, rows.score[marker]))
    overlap = min(bounds.high, high) - max(bounds.low, low)
    assert overlap > 0.85 * (high - low)
    assert bounds.high - bounds.low < 1.7 * (high - low)


# roc.test(method="specificity", specificity=.9) and method="sensitivity", boot.n = 20000: D and p.
TESTS = [
    ("specificity", ("wfns", "ndka"), 2.33, 0.020),
    ("specificity", ("wfns", "s100b"), 1.30, 0.194),
    ("specificity", ("ndka", "s100b"), -1.40, 0.162),
    ("sensitivity", ("wfns", "ndka"), 2.87, 0.004),
    ("sensitivity", ("ndka", "s100b"), -0.39, 0.697),
]


@pytest.mark.parametrize(("option", "pair", "statistic", "p"), TESTS)
def test_paired_tests(rows: Rows, option: str, pair: tuple[str, str], statistic: float, p: float) -> None:
    (result,) = infer.compare(rows, measure=AT_90[option], models=[pair])
    assert result.statistic == pytest.approx(statistic, abs=0.13)
    assert result.p == pytest.approx(p, abs=0.035)
    (resampled,) = infer.compare(rows, measure=AT_90[option], models=[pair], question=Question(method="resample"))
    assert (resampled.p < 0.05) == (p < 0.05)


def test_a_marker_of_five_values_has_a_wider_interval_than_that_of_a_bootstrap(rows: Rows) -> None:
    # pROC: D = 3.21, p = 0.0014. Between two of its few thresholds a bootstrap sees a straight line.
    (result,) = infer.compare(rows, measure=AT_90["sensitivity"], models=[("wfns", "s100b")])
    assert result.values == pytest.approx((0.5625, 0.230555555555556))
    assert 2.2 < result.statistic < 3.3
    assert result.p < 0.05


@pytest.mark.parametrize(
    ("pair", "p"), [(("wfns", "ndka"), 0.0137), (("wfns", "s100b"), 0.350), (("ndka", "s100b"), 0.144)]
)
def test_unpaired_tests(rows: Rows, pair: tuple[str, str], p: float) -> None:
    samples = [tally(rows.truth, rows.score[name]) for name in pair]
    result = infer.compare_unpaired(*samples, measure=AT_90["specificity"])
    assert result.p == pytest.approx(p, abs=0.04)
    assert (result.p < 0.05) == (p < 0.05)
