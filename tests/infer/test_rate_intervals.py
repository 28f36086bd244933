"""Closed-form intervals of F1, MCC, balanced accuracy, Youden's J and expected cost."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from baserate import Costs, Counts, infer, measure, shift
from baserate.infer._rate_intervals import rate_interval
from baserate.measure import MEASURES, Measure, describe, expected_cost

RATE_MEASURES: tuple[Measure, ...] = (
    *(MEASURES[name] for name in ("f1", "mcc", "balanced_accuracy", "youden")),
    partial(expected_cost, costs=Costs(fp=1, fn=20)),
)
NAMES = [describe(each).name for each in RATE_MEASURES]


def sample_counts(rng: np.random.Generator, rows: int, rates: tuple[float, float, float]) -> Counts[float]:
    """Sample a table of rows with a prevalence, a sensitivity and a false positive rate."""
    prevalence, sensitivity, fpr = rates
    positives = int(rng.binomial(rows, prevalence))
    tp, fp = int(rng.binomial(positives, sensitivity)), int(rng.binomial(rows - positives, fpr))
    return Counts(tp=tp, fp=fp, fn=positives - tp, tn=rows - positives - fp)


def at(counts: Counts[float], prevalence: float | None) -> Counts[float]:
    return counts if prevalence is None else shift.reweigh(counts, prevalence=prevalence)


@pytest.mark.parametrize("prevalence", [None, 0.02, 0.3])
@pytest.mark.parametrize("function", RATE_MEASURES, ids=NAMES)
def test_intervals_are_close_to_those_of_simulated_tables(function: Measure, prevalence: float | None) -> None:
    """With 50 rows and more in each class, bounds differ by less than a fifth of the simulated width."""
    rng, many = np.random.default_rng(1), 0
    for rates in product((0.1, 0.3, 0.5), (0.4, 0.7, 0.9), (0.05, 0.2)):
        counts = at(sample_counts(rng, 3000, rates), prevalence)
        closed = infer.estimate(function, counts)
        simulated = infer.estimate(function, counts, method="draws" if prevalence is None else "stratified")
        width = simulated.high - simulated.low
        assert abs(closed.low - simulated.low) < 0.2 * width, (rates, closed, simulated)
        assert abs(closed.high - simulated.high) < 0.2 * width, (rates, closed, simulated)
        many += 1
    assert many == 18


@pytest.mark.parametrize("prevalence", [None, 0.1])
@pytest.mark.parametrize("function", RATE_MEASURES, ids=NAMES)
def test_intervals_cover(function: Measure, prevalence: float | None) -> None:
    """Of 600 samples, 95% less three standard errors are 555."""
    rng = np.random.default_rng(2)
    for rows, rates in ((200, (0.1, 0.7, 0.1)), (2000, (0.02, 0.5, 0.05)), (200, (0.5, 0.95, 0.02))):
        truth = float(function(at(Counts(*population_cells(rates)), prevalence)))
        hits = 0
        for _ in range(600):
            counts = sample_counts(rng, rows, rates)
            result = infer.estimate(function, at(counts, prevalence))
            hits += bool(result.low <= truth <= result.high)
        assert hits >= 555, (rows, rates, hits)


def population_cells(rates: tuple[float, float, float]) -> tuple[float, float, float, float]:
    prevalence, sensitivity, fpr = rates
    cells = prevalence * sensitivity, (1 - prevalence) * fpr, prevalence * (1 - sensitivity)
    return (*cells, 1 - sum(cells))


@pytest.mark.parametrize("prevalence", [None, 0.02])
def test_intervals_are_within_the_limits_of_each_measure(prevalence: float | None) -> None:
    for cells in product((0, 1, 6, 300), repeat=4):
        table: Counts[float] = Counts(*cells)
        if not (table.positives and table.negatives):
            continue
        counts = at(table, prevalence)
        for function in RATE_MEASURES:
            result = infer.estimate(function, counts)
            if np.isnan(result.value):
                assert result.why
                continue
            least, most = describe(function).span
            assert least - 1e-12 <= result.low <= result.value <= result.high <= most + 1e-12, (
                cells,
                describe(function).name,
            )
            assert result.high > result.low, (cells, describe(function).name)


def test_equal_costs_have_the_interval_of_the_error_rate() -> None:
    counts = Counts(tp=72, fp=72, fn=33, tn=573)
    for table in (counts, at(counts, 0.02)):
        cost = infer.estimate(partial(expected_cost, costs=Costs(fp=1, fn=1)), table)
        errors = infer.estimate("error_rate", table)
        assert (cost.low, cost.high) == pytest.approx((errors.low, errors.high), abs=1e-12)


def test_costs_of_right_decisions_shift_the_interval() -> None:
    counts = Counts(tp=72, fp=72, fn=33, tn=573)
    for table in (counts, at(counts, 0.02)):
        plain = infer.estimate(partial(expected_cost, costs=Costs(fp=1, fn=20)), table)
        shifted = infer.estimate(partial(expected_cost, costs=Costs(tp=3, fp=4, fn=23, tn=3)), table)
        assert (shifted.low - 3, shifted.high - 3) == pytest.approx((plain.low, plain.high), abs=1e-12)


def test_many_tables_have_the_intervals_of_each() -> None:
    rng = np.random.default_rng(3)
    tables = [sample_counts(rng, 80, (0.3, 0.8, 0.1)) for _ in range(30)]
    many = Counts(*(np.array([getattr(each, cell) for each in tables], float) for cell in ("tp", "fp", "fn", "tn")))
    for function in RATE_MEASURES:
        low, high, _ = rate_interval(many, function, 0.9)
        alone = [rate_interval(each, function, 0.9) for each in tables]
        np.testing.assert_allclose(low, [each[0] for each in alone], rtol=1e-12)
        np.testing.assert_allclose(high, [each[1] for each in alone], rtol=1e-12)


def test_seeds_do_not_matter() -> None:
    counts = Counts(tp=72, fp=72, fn=33, tn=573)
    for function in RATE_MEASURES:
        assert infer.estimate(function, counts, seed=1) == infer.estimate(function, counts, seed=2)
    assert "Dirichlet" in str(infer.estimate(measure.f1, counts, method="draws").how)
