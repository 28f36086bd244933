"""Closed-form intervals of F1, MCC, balanced accuracy, Youden's J and expected cost."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from baserate import Costs, Counts, OptionError, Rows, infer, measure, shift
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


DERIVED = ("number_needed_to_diagnose", "number_needed_to_misdiagnose", "no_information_rate")


@pytest.mark.parametrize("prevalence", [None, 0.02])
@pytest.mark.parametrize("name", DERIVED)
def test_derived_measures_have_the_bounds_of_their_base(name: str, prevalence: float | None) -> None:
    base = {"number_needed_to_diagnose": "youden", "number_needed_to_misdiagnose": "error_rate"}.get(name, "prevalence")
    for cells in product((0, 1, 6, 300), repeat=4):
        table: Counts[float] = Counts(*cells)
        if not (table.positives and table.negatives):
            continue
        counts = at(table, prevalence)
        result, other = infer.estimate(name, counts), infer.estimate(base, counts)
        assert result.low <= result.value <= result.high, cells
        if base == "prevalence":
            ends = {other.low, other.high, 1 - other.low, 1 - other.high}
            assert result.high == pytest.approx(max(ends)), cells
            assert result.low == pytest.approx(
                0.5
                if other.low <= 0.5 <= other.high
                else min(max(other.low, 1 - other.low), max(other.high, 1 - other.high))
            ), cells
        elif other.low > 0 or other.high < 0:
            assert (result.low, result.high) == pytest.approx((1 / other.high, 1 / other.low)), cells
        elif result.value > 0:
            assert result.low == pytest.approx(np.inf if other.high == 0 else 1 / other.high), cells
            assert result.high == np.inf, cells
        else:
            assert (result.low, result.high) == pytest.approx((-np.inf, 1 / other.low)), cells
        assert infer.methods(name, counts) == infer.methods(base, counts)


@pytest.mark.parametrize("name", DERIVED)
def test_derived_bounds_of_many_tables_are_those_of_each(name: str) -> None:
    rng = np.random.default_rng(3)
    tables = [sample_counts(rng, 30, (0.3, 0.5, 0.4)) for _ in range(40)]
    many = Counts(*(np.array([getattr(each, cell) for each in tables], float) for cell in ("tp", "fp", "fn", "tn")))
    low, high, _ = rate_interval(many, MEASURES[name], 0.9)
    alone = [infer.estimate(name, each, level=0.9) for each in tables]
    np.testing.assert_allclose(low, [each.low for each in alone], rtol=1e-9)
    np.testing.assert_allclose(high, [each.high for each in alone], rtol=1e-9)
    assert np.isinf(high).any() == (name == "number_needed_to_diagnose")


def test_derived_measures_of_clusters() -> None:
    rng = np.random.default_rng(5)
    truth, patient = rng.random(300) < 0.4, np.arange(300) // 3
    score = truth + rng.normal(size=300) + rng.normal(size=100)[patient]
    rows = Rows(truth, {"f": score}, cluster=patient)
    number, youden = (infer.estimate(name, rows, threshold=0.5) for name in ("number_needed_to_diagnose", "youden"))
    assert (number.low, number.high) == pytest.approx((1 / youden.high, 1 / youden.low))
    assert "cluster" in str(number.how)


@pytest.mark.parametrize("name", ["positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio"])
def test_log_intervals_with_weights_and_at_a_prevalence(name: str) -> None:
    counts = Counts(tp=72, fp=72, fn=33, tn=573)
    plain = infer.estimate(name, counts, method="log")
    rare = infer.estimate(name, at(counts, 0.02), method="log")
    assert (rare.low, rare.high) == pytest.approx((plain.low, plain.high), rel=1e-9)
    assert plain.low * plain.high == pytest.approx(plain.value**2)
    truth, score = np.repeat([1, 0, 1, 0], [72, 72, 33, 573]), np.repeat([1, 1, 0, 0], [72, 72, 33, 573])
    rng = np.random.default_rng(1)
    equal, unequal = (
        infer.estimate(name, truth, score, weight=weight, threshold=0.5, method="log")
        for weight in (np.full(750, 2.5), rng.gamma(1, size=750))
    )
    assert (equal.low, equal.high) == pytest.approx((plain.low, plain.high))
    assert np.log(unequal.high / unequal.low) > 1.2 * np.log(plain.high / plain.low)  # half the effective rows


def test_the_log_method_is_for_ratios_only() -> None:
    with pytest.raises(OptionError, match="makes no interval of sensitivity"):
        infer.estimate("sensitivity", Counts(tp=72, fp=72, fn=33, tn=573), method="log")
