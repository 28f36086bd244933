"""Tables of weighted rows: degrees of freedom by hand, equal weights, and cells of few light rows."""

from math import inf

import numpy as np
import pytest

from baserate import Counts, Curve, Tally, infer, measure
from baserate.infer import _confusion_intervals


def table(seed: int, rows: int = 300, *, spread: float = 1.2) -> Counts[float]:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.3
    score = rng.standard_normal(rows) + 1.5 * truth
    weight = np.exp(spread * rng.standard_normal(rows))
    return Curve(Tally.of_rows(truth, score, weight=weight)).at(0.75)


def test_equal_weights_leave_nothing_to_estimate() -> None:
    counts = Counts(tp=60.0, fp=40.0, fn=30.0, tn=170.0)
    triple = Counts(
        *(3 * each for each in (60.0, 40.0, 30.0, 170.0)), moments=(Counts(540.0, 360.0, 270.0, 1530.0), counts)
    )
    assert _confusion_intervals.weighted_freedom(measure.mcc, triple) == inf
    for name in ("sensitivity", "npv", "mcc", "diagnostic_odds_ratio", "f1"):
        one, other = infer.estimate(name, counts), infer.estimate(name, triple)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_degrees_of_freedom_by_hand(seed: int) -> None:
    counts = table(seed)
    squares, rows = counts.squares, counts.rows
    p = counts.tp / (counts.tp + counts.fp)
    slopes = ((1 - p) / (counts.tp + counts.fp), -p / (counts.tp + counts.fp))
    variance = noise = 0.0
    for slope, name in zip(slopes, ("tp", "fp"), strict=True):
        mass, square, number = (getattr(each, name) for each in (counts, squares, rows))
        v = number * square / mass**2 - 1
        variance += slope**2 * square
        noise += slope**4 * square**2 * min((4 * v + 6 * v**2) / (1 + v) / number, 1 - 1 / number)
    freedom = 2 * variance**2 / noise
    assert _confusion_intervals.weighted_freedom(measure.precision, counts) == pytest.approx(freedom, rel=1e-6)


def test_few_light_rows_do_not_count_as_many() -> None:
    # Four misses among 90 positives weigh a tenth of the rest: their own squares would say that 900 were seen.
    rows = Counts(tp=86.0, fp=40.0, fn=4.0, tn=170.0)
    mass = (86.0, 40.0, 0.4, 170.0)
    light = Counts(*mass, moments=(Counts(86.0, 40.0, 0.04, 170.0), rows))
    assert _confusion_intervals.stabilize_weights(light).squares.fn == pytest.approx(0.4 * 86.04 / 86.4)
    assert _confusion_intervals.stabilize_weights(light).squares.fp == 40


def test_skewed_weights_widen_tables() -> None:
    counts = table(5)
    for name in ("diagnostic_odds_ratio", "positive_likelihood_ratio", "mcc", "f1"):
        found = infer.estimate(name, counts)
        freedom = _confusion_intervals.weighted_freedom(measure.find_measure(name), counts)
        assert 3 < freedom < 60
        assert found.low < found.value < found.high
        assert found.low > (-1 if name == "mcc" else 0)
