"""Tables of decisions and their costs, from lecture slides on model evaluation."""

from functools import partial

import numpy as np
import pytest

from baserate import Costs, Counts, curve, measure, tally

near = partial(pytest.approx, rel=0, abs=1e-12)

PHI = Counts(tp=40, fn=10, fp=10, tn=40)
PSI = Counts(tp=30, fn=20, fp=5, tn=45)

M1 = Counts(tp=150, fn=40, fp=60, tn=250)
M2 = Counts(tp=250, fn=45, fp=5, tn=200)
MISSES_COUNT = Costs(tp=-1, fn=100, fp=1, tn=0)

INFECTION_A = Counts(tp=150, fn=170, fp=50, tn=630)
INFECTION_B = Counts(tp=150, fn=20, fp=200, tn=630)
TEST, ROOM, EARLY, LATE = 2_000, 5_000, 20_000, 30_000
INFECTION = Costs(tp=TEST + ROOM + EARLY, fn=TEST + ROOM + LATE, fp=TEST, tn=0)


def test_ten_samples() -> None:
    c = curve(tally([1, 0, 1, 1, 0, 0, 1, 1, 0, 1], [1, 0, 0, 0, 1, 1, 0, 1, 0, 1])).at(1)
    assert (c.tp, c.tn, c.fp, c.fn) == (3, 2, 2, 3)
    assert measure.accuracy(c) == 0.5


def test_accuracy_paradox() -> None:
    always_a = Counts(tp=0, fp=0, fn=10, tn=9990)
    assert measure.accuracy(always_a) == near(0.999)
    assert measure.sensitivity(always_a) == 0


def test_five_cancer_subjects() -> None:
    c = curve(tally([0, 0, 0, 1, 1], [0, 1, 0, 1, 0])).at(1)
    assert (c.tp, c.fn, c.fp, c.tn) == (1, 1, 1, 2)
    assert Costs(fn=100, fp=10).total(c) == 110


@pytest.mark.parametrize(("c", "accuracy", "cost", "prevalence"), [(M1, 0.80, 3910, 0.38), (M2, 0.90, 4255, 0.59)])
def test_two_models_as_printed(c: Counts[float], accuracy: float, cost: float, prevalence: float) -> None:
    assert measure.accuracy(c) == near(accuracy)
    assert MISSES_COUNT.total(c) == cost
    assert measure.prevalence(c) == near(prevalence)


@pytest.mark.parametrize(("c", "cost", "prevalence"), [(INFECTION_A, 10_440_000, 0.32), (INFECTION_B, 5_190_000, 0.17)])
def test_two_infection_models_as_printed(c: Counts[float], cost: float, prevalence: float) -> None:
    assert (INFECTION.fn, INFECTION.tp) == (37_000, 27_000)
    assert INFECTION.total(c) == cost
    assert measure.accuracy(c) == near(0.78)
    assert measure.prevalence(c) == near(prevalence)


def test_asymmetric_costs_reverse_a_preference() -> None:
    costs = Costs(fn=1, fp=10)
    assert measure.expected_cost(PHI, costs=costs) == near(1.1)
    assert measure.expected_cost(PSI, costs=costs) == near(0.7)
    assert measure.accuracy(PHI) == near(0.80)
    assert measure.accuracy(PSI) == near(0.75)


def test_errors_of_equal_cost_are_the_error_rate() -> None:
    assert measure.expected_cost(PHI) == near(0.20)
    assert measure.error_rate(PHI) == near(0.20)


@pytest.mark.parametrize(
    ("costs", "prevalence", "slope"),
    [
        (Costs(), 0.5, 1),
        (Costs(fn=1, fp=10), 0.5, 10),
        (Costs(), 0.3, 7 / 3),
        (MISSES_COUNT, 0.38, 1 / 101 * 0.62 / 0.38),
        (INFECTION, 0.32, 0.425),
        (INFECTION, 0.17, 0.2 * 0.83 / 0.17),
    ],
)
def test_slope_of_equal_cost(costs: Costs, prevalence: float, slope: float) -> None:
    assert costs.slope(prevalence) == near(slope)
    # Along a line of that slope the cost does not change.
    fpr = np.linspace(0, 0.05, 6)
    tpr = 0.2 + slope * fpr
    on_line = Counts(
        tp=prevalence * tpr, fn=prevalence * (1 - tpr), fp=(1 - prevalence) * fpr, tn=(1 - prevalence) * (1 - fpr)
    )
    cost = np.asarray(measure.expected_cost(on_line, costs=costs))
    # Relative, since costs here reach 10⁴.
    np.testing.assert_allclose(cost, cost[0], rtol=1e-12)
