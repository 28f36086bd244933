"""Intervals of net benefit: their components, and their coverage."""

from functools import partial
from math import comb

import numpy as np
import pytest

from baserate import Counts, infer, shift, tally
from baserate._arrays import Floats
from baserate.infer import _binomial, _confusion_intervals
from baserate.measure import net_benefit, net_reduction, standardized_net_benefit

TABLE = Counts(tp=72, fp=72, fn=33, tn=573)
CELLS = ("tp", "fp")

near = partial(pytest.approx, rel=1e-12, abs=1e-12)


def stacked(*given: Counts[float]) -> Counts[Floats]:
    return Counts(*(np.array([getattr(c, cell) for c in given]) for cell in ("tp", "fp", "fn", "tn")))


def test_one_table_is_an_element_of_many() -> None:
    tables = [TABLE, Counts(tp=0, fp=3, fn=5, tn=92), Counts(tp=9, fp=0, fn=1, tn=90), Counts(tp=5, fp=5, fn=0, tn=0)]
    low, high = _confusion_intervals.bound_linear_cells(stacked(*tables), CELLS, 0.25, 0.95)
    expect = [near(_confusion_intervals.bound_linear_cells(each, CELLS, 0.25, 0.95)) for each in tables]
    assert list(zip(low, high, strict=True)) == expect


def test_flagging_everybody_is_as_precise_as_the_prevalence() -> None:
    low, high = _binomial.wilson_or_exact(105.0, 645.0, 0.95)
    found = _confusion_intervals.bound_linear_cells(Counts(tp=105, fp=645, fn=0, tn=0), CELLS, 0.25, 0.95)
    assert found == near((1.25 * low - 0.25, 1.25 * high - 0.25))


def test_where_alarms_cost_nothing_it_is_a_share() -> None:
    assert _confusion_intervals.bound_linear_cells(TABLE, CELLS, 0.0, 0.95) == near(_binomial.wilson(72, 678, 0.95))


def test_far_from_the_ends_it_is_nearly_normal() -> None:
    p, q, n, w = 0.2, 0.3, 1e6, 0.5
    spread = np.sqrt((p * (1 - p) + w * w * q * (1 - q) + 2 * w * p * q) / n)
    low, high = _confusion_intervals.bound_linear_cells(
        Counts(tp=p * n, fp=q * n, fn=0.1 * n, tn=0.4 * n), CELLS, w, 0.95
    )
    assert (low, high) == pytest.approx((p - w * q - 1.959964 * spread, p - w * q + 1.959964 * spread), abs=2e-6)


def test_equal_weights_are_counts() -> None:
    cells = (72.0, 72.0, 33.0, 573.0)
    thrice = Counts(*(3 * cell for cell in cells), moments=(Counts(*(9 * cell for cell in cells)), Counts(*cells)))
    assert _confusion_intervals.bound_linear_cells(thrice, CELLS, 1 / 3, 0.95) == near(
        _confusion_intervals.bound_linear_cells(TABLE, CELLS, 1 / 3, 0.95)
    )


def test_uneven_weights_widen_intervals() -> None:
    mass, rows = (72.0, 72.0, 33.0, 573.0), (40.0, 40.0, 20.0, 300.0)
    uneven = Counts(*mass, moments=(Counts(*(2.5 * cell for cell in mass)), Counts(*rows)))
    low, high = _confusion_intervals.bound_linear_cells(uneven, CELLS, 1 / 3, 0.95)
    plain_low, plain_high = _confusion_intervals.bound_linear_cells(TABLE, CELLS, 1 / 3, 0.95)
    assert low < plain_low < plain_high < high


def test_the_default_is_closed_and_others_can_be_requested() -> None:
    asked = partial(net_benefit, at=0.25)
    found = infer.estimate(asked, TABLE)
    assert (found.value, found.low, found.high) == near(
        (0.064, *_confusion_intervals.bound_linear_cells(TABLE, CELLS, 1 / 3, 0.95))
    )
    assert found.how == _confusion_intervals.LINEAR_METHOD
    assert infer.methods("net_benefit", TABLE) == ("mover", "draws", "stratified", "bootstrap")
    for method in ("draws", "bootstrap"):
        drawn = infer.estimate(asked, TABLE, method=method)
        assert (drawn.low, drawn.high) == pytest.approx((found.low, found.high), abs=0.004)
    assert infer.estimate(partial(asked, at=0.5), TABLE).value == net_benefit(TABLE)
    assert infer.estimate("net_benefit", TABLE).value == 0


def test_net_reduction_counts_the_other_cells() -> None:
    found = infer.estimate(partial(net_reduction, at=0.25), TABLE)
    other = infer.estimate(partial(net_benefit, at=0.75), TABLE.swap_classes())
    assert (found.value, found.low, found.high) == near((other.value, other.low, other.high))


def test_at_a_fixed_prevalence_only_the_rates_are_uncertain() -> None:
    moved = shift.reweigh(TABLE, to=0.14)
    known, sampled = (infer.estimate(partial(net_benefit, at=0.25), each) for each in (moved, TABLE))
    assert known.value == near(sampled.value)
    assert known.high - known.low < sampled.high - sampled.low
    (tpr, least, most), (fpr, fewest, greatest) = (
        (hits / (hits + misses), *_binomial.wilson_or_exact(hits, misses, 0.95))
        for hits, misses in ((72.0, 33.0), (72.0, 573.0))
    )
    down = np.hypot(0.14 * (tpr - least), 0.86 / 3 * (greatest - fpr))
    up = np.hypot(0.14 * (most - tpr), 0.86 / 3 * (fpr - fewest))
    assert (known.low, known.high) == near((known.value - down, known.value + up))
    assert "prevalence known" in str(known.how)


def test_standardized_net_benefit_is_closed_only_at_a_fixed_prevalence() -> None:
    asked = partial(standardized_net_benefit, at=0.25)
    moved = shift.reweigh(TABLE, to=0.14)
    found, plain = infer.estimate(asked, moved), infer.estimate(partial(net_benefit, at=0.25), moved)
    assert (found.low * 0.14, found.high * 0.14) == near((plain.low, plain.high))
    assert "draws" in str(infer.estimate(asked, TABLE).how)


def test_it_applies_at_a_threshold_of_a_tally() -> None:
    people = tally([1, 1, 0, 1, 0, 0, 0, 0], [0.9, 0.8, 0.7, 0.4, 0.3, 0.2, 0.2, 0.1])
    found = infer.estimate(partial(net_benefit, at=0.5), people, threshold=0.5)
    assert found.value == 1 / 8
    assert found.low < found.value < found.high


@pytest.mark.parametrize("shares", [(0.045, 0.095), (0.18, 0.24), (0.25, 0.05), (0.05, 0.5), (0.14, 0.0)])
@pytest.mark.parametrize("at", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("n", [30, 80])
def test_the_truth_is_covered(shares: tuple[float, float], at: float, n: int) -> None:
    p, q = shares
    first, second = (each.ravel() for each in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    there = (first + second <= n) & ((q > 0) | (second == 0))
    tp, fp = first[there], second[there]
    ways = np.array([float(comb(n, a) * comb(n - a, b)) for a, b in zip(tp.tolist(), fp.tolist(), strict=True)])
    chance = ways * p**tp * q**fp * (1 - p - q) ** (n - tp - fp)
    assert chance.sum() == pytest.approx(1)
    w = at / (1 - at)
    low, high = _confusion_intervals.bound_linear_cells(
        Counts(tp * 1.0, fp * 1.0, tp * 0.0, (n - tp - fp) * 1.0), CELLS, w, 0.95
    )
    covered = chance[(low <= p - w * q + 1e-12) & (p - w * q <= high + 1e-12)].sum()
    assert covered >= 0.93
