"""Net benefit, net reduction in interventions, and standardized net benefit."""

from math import nan

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from baserate import Costs, Counts, OptionError
from baserate.measure import (
    expected_cost,
    net_benefit,
    net_reduction,
    prevalence,
    standardized_net_benefit,
    undefined_reason,
)
from tests.strategies import same, tables

TABLE = Counts(tp=72, fp=72, fn=33, tn=573)

people = tables(st.integers(0, 1000)).filter(lambda c: c.total > 0)
threshold = st.floats(0.001, 0.999)


def everybody(c: Counts[float]) -> Counts[float]:
    """The table of flagging all."""
    return Counts(tp=c.positives, fp=c.negatives, fn=0, tn=0)


@given(people, threshold)
def test_net_benefit_is_a_negative_cost(c: Counts[float], at: float) -> None:
    costs = Costs(tp=-1, fp=at / (1 - at), fn=0, tn=0)
    assert same(net_benefit(c, at=at), -expected_cost(c, costs=costs), within=1e-9)


@given(people, threshold)
def test_flagging_nobody_and_flagging_everybody_are_the_zeros(c: Counts[float], at: float) -> None:
    nobody = Counts(tp=0, fp=0, fn=c.positives, tn=c.negatives)
    assert net_benefit(nobody, at=at) == 0
    assert net_reduction(everybody(c), at=at) == 0


@given(people, threshold)
def test_net_reduction_is_the_gain_over_flagging_everybody(c: Counts[float], at: float) -> None:
    gained = net_benefit(c, at=at) - net_benefit(everybody(c), at=at)
    assert same(net_reduction(c, at=at) * at / (1 - at), gained, within=1e-9)


@given(people, threshold)
def test_net_benefit_and_net_reduction_are_dual(c: Counts[float], at: float) -> None:
    assert same(net_benefit(c.swap_classes(), at=1 - at), net_reduction(c, at=at), within=1e-9)


@given(people, threshold)
def test_standardized_net_benefit_is_a_share_of_the_prevalence(c: Counts[float], at: float) -> None:
    assume(c.positives)
    assert same(standardized_net_benefit(c, at=at) * prevalence(c), net_benefit(c, at=at), within=1e-9)


def test_net_benefit_at_zero_counts_only_true_positives() -> None:
    assert net_benefit(TABLE, at=0) == 72 / 750
    assert standardized_net_benefit(TABLE, at=0) == 72 / 105


def test_standardized_net_benefit_is_undefined_without_positives() -> None:
    healthy = Counts(tp=0, fp=3, fn=0, tn=7)
    assert np.isnan(standardized_net_benefit(healthy, at=0))
    assert undefined_reason(standardized_net_benefit, healthy) == "there are no positives"
    assert net_benefit(healthy, at=0.5) == -0.3


def test_each_table_may_have_its_own_threshold() -> None:
    at = np.array([0.1, 0.25, 0.5])
    same_thrice = Counts(*(np.full(3, cell) for cell in (72, 72, 33, 573)))
    for measure in (net_benefit, net_reduction, standardized_net_benefit):
        assert measure(same_thrice, at=at).tolist() == [measure(TABLE, at=each) for each in at.tolist()]


@pytest.mark.parametrize("at", [-0.1, 1, 2, nan, np.array([0.5, 1.0])])
def test_threshold_probabilities_of_one_and_more_are_refused(at: float) -> None:
    for measure in (net_benefit, net_reduction, standardized_net_benefit):
        with pytest.raises(OptionError, match="expected 0 or a number from 1e-12 to 1 - 1e-12"):
            measure(TABLE, at=at)


def test_net_reduction_at_zero_is_refused() -> None:
    with pytest.raises(OptionError, match="at is 0, at which a missed positive has infinite weight"):
        net_reduction(TABLE, at=0)
