"""Intervals of confusion-matrix measures: linear in the cells, delta method, simulated and weighted tables."""

from functools import partial
from math import comb, inf, sqrt

import numpy as np
import pytest

from baserate import Confusion, Counts, Curve, Tally, confusion, infer, measure, shift, tally
from baserate._arrays import Floats
from baserate.infer import _binomial, _confusion_intervals
from baserate.infer._bootstrap import sample_masses
from baserate.measure import Measure, describe, multiclass, net_benefit, net_reduction, standardized_net_benefit
from baserate.measure.multiclass import average_over_classes

LABELS = ("a", "b", "c")
CELLS = np.array([[530.0, 60, 10], [70, 300, 30], [20, 40, 140]])
TABLE = Confusion(CELLS, LABELS)


def half_width(measure: Measure | str, table: Confusion) -> float:
    result = infer.estimate(measure, table)
    assert result.how == _confusion_intervals.DELTA_METHOD
    return (result.high - result.low) / 2


def test_kappa_has_the_variance_of_fleiss_cohen_and_everitt() -> None:
    p = CELLS / CELLS.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, chance = np.trace(p), float(rows @ columns)
    kappa = (observed - chance) / (1 - chance)
    right = sum(p[k, k] * (1 - (rows[k] + columns[k]) * (1 - kappa)) ** 2 for k in range(3))
    wrong = sum(p[j, k] * (columns[j] + rows[k]) ** 2 for j in range(3) for k in range(3) if j != k)
    spread = right + (1 - kappa) ** 2 * wrong - (kappa - chance * (1 - kappa)) ** 2
    error = sqrt(spread / CELLS.sum()) / (1 - chance)
    assert half_width("kappa", TABLE) == pytest.approx(1.96 * error, rel=0.02)


def test_balanced_accuracy_has_the_variance_of_independent_shares() -> None:
    support = CELLS.sum(axis=1)
    shares = np.diag(CELLS) / support
    error = sqrt(float(np.sum(shares * (1 - shares) / support))) / 3
    assert half_width("balanced_accuracy", TABLE) == pytest.approx(1.96 * error, rel=0.02)


def test_a_share_has_about_wilsons_interval() -> None:
    result = infer.estimate(average_over_classes("f1", "micro"), TABLE)  # which is accuracy
    low, high = _binomial.wilson(970.0, 230.0, 0.95)
    assert (result.low, result.high) == pytest.approx((low, high), abs=0.002)


@pytest.mark.parametrize("name", ["kappa", "mcc", "balanced_accuracy", "cramers_v"])
def test_tables_without_errors_have_intervals_of_positive_width(name: str) -> None:
    result = infer.estimate(name, Confusion(np.diag([60.0, 70.0, 20.0]), LABELS))
    assert result.value == result.high == 1
    # Of 150 rows none is wrong, so that few of a hundred are; of the smallest class, fewer than a fifth.
    assert 0.85 < result.low < 0.985


def test_a_rare_class_without_errors_adds_to_the_variance() -> None:
    sure = Confusion(np.array([[90.0, 10, 0], [10, 90, 0], [0, 0, 12]]), LABELS)
    shares = np.array([0.9, 0.9])
    others = 1.96 * sqrt(float(np.sum(shares * (1 - shares) / 100))) / 3
    assert half_width("balanced_accuracy", sure) > 1.2 * others


@pytest.mark.parametrize("name", ["kappa", "mutual_information", "mcc"])
def test_laws(name: str) -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(3, 200, p=[0.5, 0.4, 0.1])
    decided = np.where(rng.random(200) < 0.7, truth, rng.integers(0, 3, 200))
    weight = rng.random(200) + 0.5
    table = confusion(truth, decided, weight=weight)
    result = infer.estimate(name, table)
    assert result.low < result.value < result.high
    scaled = infer.estimate(name, confusion(truth, decided, weight=32 * weight))
    assert (scaled.low, scaled.high) == pytest.approx((result.low, result.high), rel=1e-9)
    inner = infer.estimate(name, table, level=0.6)
    assert result.low < inner.low < inner.high < result.high
    # Rows of unequal weight are less sure than as many of equal weight.
    uneven = infer.estimate(name, confusion(truth, decided, weight=weight**6))
    assert uneven.high - uneven.low > result.high - result.low
    assert infer.estimate(name, table, seed=7).low == result.low


def test_bias_of_information_is_millers() -> None:
    cells = np.random.default_rng(1).integers(20, 60, (4, 4)).astype(np.float64)
    near = _confusion_intervals._expand_measure(multiclass.mutual_information, cells, tuple("abcd"))  # noqa: SLF001
    bias = float(np.sum(cells * near.second)) / 2
    # Miller's (K − 1)²/2n, to which terms of higher order come where truth and decision are not independent.
    assert bias == pytest.approx((4 - 1) ** 2 / (2 * cells.sum()), rel=0.02)


def test_mutual_information_of_a_rare_class_covers() -> None:
    chances = 0.35 * np.eye(6) + 0.65 / 6
    shares = np.array([0.25, 0.22, 0.2, 0.15, 0.1, 0.08])
    joint = shares[:, None] * chances / chances.sum(axis=1, keepdims=True)
    truth = float(multiclass.mutual_information(Confusion(joint, tuple("abcdef"))))
    tables = np.random.default_rng(2).multinomial(150, joint.ravel(), size=200).reshape(-1, 6, 6)
    result = [infer.estimate("mutual_information", Confusion(each.astype(float), tuple("abcdef"))) for each in tables]
    assert np.mean([each.low <= truth <= each.high for each in result]) > 0.88


@pytest.mark.slow
def test_macro_f1_of_a_rare_class_covers() -> None:
    joint = np.array(
        [[0.34, 0.04, 0.02, 0.0], [0.04, 0.25, 0.03, 0.0], [0.03, 0.03, 0.13, 0.01], [0.01, 0.01, 0.02, 0.04]]
    )
    macro = average_over_classes("f1", "macro")
    truth = float(macro(Confusion(joint, tuple("abcd"))))
    tables = np.random.default_rng(3).multinomial(150, joint.ravel(), size=400).reshape(-1, 4, 4)
    result = [infer.estimate(macro, Confusion(each.astype(float), tuple("abcd"))) for each in tables]
    assert np.mean([each.low <= truth <= each.high for each in result]) > 0.93


def test_measures_with_a_lower_limit_stay_above_it() -> None:
    ratio = average_over_classes("positive_likelihood_ratio", "macro")
    result = infer.estimate(ratio, TABLE)
    assert describe(ratio).span == (0, np.inf)
    assert 0 < result.low < result.value < result.high
    # Symmetric on the scale of logarithms.
    assert result.high / result.value == pytest.approx(result.value / result.low)


def test_costs_have_symmetric_intervals() -> None:
    from baserate import CostMatrix

    costs = CostMatrix(np.array([[0.0, 1, 5], [2, 0, 1], [9, 3, 0]]), LABELS)
    result = infer.estimate(partial(multiclass.expected_cost, costs=costs), TABLE)
    assert result.high - result.value == pytest.approx(result.value - result.low)
    prices = np.repeat([0.0, 1, 5, 2, 0, 1, 9, 3, 0], CELLS.ravel().astype(int))
    assert result.value == pytest.approx(prices.mean())
    assert result.high - result.value == pytest.approx(1.96 * prices.std() / sqrt(1200), rel=0.03)


def test_very_many_classes_and_undefined_derivatives_are_simulated() -> None:
    many = _confusion_intervals.MOST_CLASSES + 1
    wide = Confusion(np.eye(many) * 9 + 1, tuple(range(many)))
    assert "Dirichlet" in str(infer.estimate("kappa", wide).how)
    lonely = Confusion(np.diag([9.0, 0.0, 0.0]), LABELS)
    result = infer.estimate("balanced_accuracy", lonely)
    assert result.low <= result.value <= result.high


def test_influence_equals_the_default_method() -> None:
    assert infer.methods("kappa", TABLE)[0] == "influence"
    usual, named = infer.estimate("kappa", TABLE), infer.estimate("kappa", TABLE, method="influence")
    assert (usual.low, usual.high) == (named.low, named.high)
    simulated = infer.estimate("kappa", TABLE, method="draws")
    assert (simulated.low, simulated.high) == pytest.approx((usual.low, usual.high), abs=0.005)


BINARY = Counts(tp=72, fp=72, fn=33, tn=573)
HIT_AND_ALARM = ("tp", "fp")

near = partial(pytest.approx, rel=1e-12, abs=1e-12)


def stack_tables(*given: Counts[float]) -> Counts[Floats]:
    return Counts(*(np.array([getattr(c, cell) for c in given]) for cell in ("tp", "fp", "fn", "tn")))


def test_intervals_of_one_table_equal_those_in_a_stack() -> None:
    tables = [BINARY, Counts(tp=0, fp=3, fn=5, tn=92), Counts(tp=9, fp=0, fn=1, tn=90), Counts(tp=5, fp=5, fn=0, tn=0)]
    low, high = _confusion_intervals.bound_linear_cells(stack_tables(*tables), HIT_AND_ALARM, 0.25, 0.95)
    expect = [near(_confusion_intervals.bound_linear_cells(each, HIT_AND_ALARM, 0.25, 0.95)) for each in tables]
    assert list(zip(low, high, strict=True)) == expect


def test_net_benefit_of_flagging_everybody_has_the_interval_of_the_prevalence() -> None:
    low, high = _binomial.wilson_or_exact(105.0, 645.0, 0.95)
    result = _confusion_intervals.bound_linear_cells(Counts(tp=105, fp=645, fn=0, tn=0), HIT_AND_ALARM, 0.25, 0.95)
    assert result == near((1.25 * low - 0.25, 1.25 * high - 0.25))


def test_net_benefit_at_threshold_zero_has_the_interval_of_a_proportion() -> None:
    assert _confusion_intervals.bound_linear_cells(BINARY, HIT_AND_ALARM, 0.0, 0.95) == near(
        _binomial.wilson(72, 678, 0.95)
    )


def test_net_benefit_interval_is_nearly_normal_with_large_cells() -> None:
    p, q, n, w = 0.2, 0.3, 1e6, 0.5
    spread = np.sqrt((p * (1 - p) + w * w * q * (1 - q) + 2 * w * p * q) / n)
    low, high = _confusion_intervals.bound_linear_cells(
        Counts(tp=p * n, fp=q * n, fn=0.1 * n, tn=0.4 * n), HIT_AND_ALARM, w, 0.95
    )
    assert (low, high) == pytest.approx((p - w * q - 1.959964 * spread, p - w * q + 1.959964 * spread), abs=2e-6)


def test_equal_weights_give_the_intervals_of_counts() -> None:
    cells = (72.0, 72.0, 33.0, 573.0)
    thrice = Counts(*(3 * cell for cell in cells), moments=(Counts(*(9 * cell for cell in cells)), Counts(*cells)))
    assert _confusion_intervals.bound_linear_cells(thrice, HIT_AND_ALARM, 1 / 3, 0.95) == near(
        _confusion_intervals.bound_linear_cells(BINARY, HIT_AND_ALARM, 1 / 3, 0.95)
    )


def test_uneven_weights_widen_intervals() -> None:
    mass, rows = (72.0, 72.0, 33.0, 573.0), (40.0, 40.0, 20.0, 300.0)
    uneven = Counts(*mass, moments=(Counts(*(2.5 * cell for cell in mass)), Counts(*rows)))
    low, high = _confusion_intervals.bound_linear_cells(uneven, HIT_AND_ALARM, 1 / 3, 0.95)
    plain_low, plain_high = _confusion_intervals.bound_linear_cells(BINARY, HIT_AND_ALARM, 1 / 3, 0.95)
    assert low < plain_low < plain_high < high


def test_the_default_is_a_closed_form_and_others_can_be_requested() -> None:
    query = partial(net_benefit, at=0.25)
    result = infer.estimate(query, BINARY)
    assert (result.value, result.low, result.high) == near(
        (0.064, *_confusion_intervals.bound_linear_cells(BINARY, HIT_AND_ALARM, 1 / 3, 0.95))
    )
    assert result.how == _confusion_intervals.LINEAR_METHOD
    assert infer.methods("net_benefit", BINARY) == ("mover", "draws", "stratified", "bootstrap")
    for method in ("draws", "bootstrap"):
        simulated = infer.estimate(query, BINARY, method=method)
        assert (simulated.low, simulated.high) == pytest.approx((result.low, result.high), abs=0.004)
    assert infer.estimate(partial(query, at=0.5), BINARY).value == net_benefit(BINARY)
    assert infer.estimate("net_benefit", BINARY).value == 0


def test_net_reduction_counts_the_other_cells() -> None:
    result = infer.estimate(partial(net_reduction, at=0.25), BINARY)
    other = infer.estimate(partial(net_benefit, at=0.75), BINARY.swap_classes())
    assert (result.value, result.low, result.high) == near((other.value, other.low, other.high))


def test_at_a_fixed_prevalence_only_the_rates_are_uncertain() -> None:
    moved = shift.reweigh(BINARY, prevalence=0.14)
    known, sampled = (infer.estimate(partial(net_benefit, at=0.25), each) for each in (moved, BINARY))
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
    query = partial(standardized_net_benefit, at=0.25)
    moved = shift.reweigh(BINARY, prevalence=0.14)
    result, plain = infer.estimate(query, moved), infer.estimate(partial(net_benefit, at=0.25), moved)
    assert (result.low * 0.14, result.high * 0.14) == near((plain.low, plain.high))
    assert "samples" in str(infer.estimate(query, BINARY).how)


def test_net_benefit_interval_at_a_threshold_of_a_tally() -> None:
    people = tally([1, 1, 0, 1, 0, 0, 0, 0], [0.9, 0.8, 0.7, 0.4, 0.3, 0.2, 0.2, 0.1])
    result = infer.estimate(partial(net_benefit, at=0.5), people, threshold=0.5)
    assert result.value == 1 / 8
    assert result.low < result.value < result.high


@pytest.mark.parametrize("shares", [(0.045, 0.095), (0.18, 0.24), (0.25, 0.05), (0.05, 0.5), (0.14, 0.0)])
@pytest.mark.parametrize("at", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("n", [30, 80])
def test_net_benefit_intervals_cover(shares: tuple[float, float], at: float, n: int) -> None:
    p, q = shares
    first, second = (each.ravel() for each in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    there = (first + second <= n) & ((q > 0) | (second == 0))
    tp, fp = first[there], second[there]
    ways = np.array([float(comb(n, a) * comb(n - a, b)) for a, b in zip(tp.tolist(), fp.tolist(), strict=True)])
    chance = ways * p**tp * q**fp * (1 - p - q) ** (n - tp - fp)
    assert chance.sum() == pytest.approx(1)
    w = at / (1 - at)
    low, high = _confusion_intervals.bound_linear_cells(
        Counts(tp * 1.0, fp * 1.0, tp * 0.0, (n - tp - fp) * 1.0), HIT_AND_ALARM, w, 0.95
    )
    covered = chance[(low <= p - w * q + 1e-12) & (p - w * q <= high + 1e-12)].sum()
    assert covered >= 0.93


COUNTS = Counts(tp=30.0, fp=12.0, fn=8.0, tn=150.0)


def test_random_masses_have_the_mean_and_variance_of_sums_of_weights() -> None:
    rng = np.random.default_rng(0)
    weight = rng.exponential(size=(3, 40)) + 0.2
    mass, squares = weight.sum(axis=1), (weight**2).sum(axis=1)
    simulated = sample_masses(np.random.default_rng(1), 200_000, mass, squares)
    assert simulated.mean(axis=0) == pytest.approx(mass, rel=0.01)
    assert simulated.var(axis=0) == pytest.approx(squares, rel=0.02)


def test_random_masses_of_counts_are_dirichlet() -> None:
    simulated = _confusion_intervals.simulate_values(measure.prevalence, COUNTS, way="draws", seed=0)
    assert len(simulated) == _confusion_intervals.N_TABLES
    # Shares of a Dirichlet variable are Beta variables: 38 + 1 positives and 162 + 1 negatives.
    assert simulated.mean() == pytest.approx(39 / 202, abs=0.001)
    assert simulated.var() == pytest.approx(39 * 163 / 202**2 / 203, rel=0.05)


def test_bootstrap_tables_are_bootstrap_rows() -> None:
    rng = np.random.default_rng(5)
    truth, score = rng.random(80) < 0.3, rng.random(80)
    counts = Curve(tally(truth, score)).at(0.6)
    by_cells = _confusion_intervals.simulate_values(measure.mcc, counts, way="bootstrap", seed=0)
    by_rows = []
    for _ in range(4000):
        chosen = rng.integers(0, 80, 80)
        t, f = truth[chosen], score[chosen] >= 0.6
        by_rows.append(float(measure.mcc(Counts((t & f).sum(), (~t & f).sum(), (t & ~f).sum(), (~t & ~f).sum()))))
    cells, each = np.array(by_cells), np.array(by_rows)
    assert cells.mean() == pytest.approx(each.mean(), abs=0.006)
    assert cells.std() == pytest.approx(each.std(), rel=0.05)
    assert np.quantile(cells, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(each, [0.1, 0.5, 0.9]), abs=0.02)


def test_stratified_samples_keep_the_prevalence() -> None:
    simulated = _confusion_intervals.simulate_values(measure.prevalence, COUNTS, way="stratified", seed=0)
    assert simulated == pytest.approx(np.full(len(simulated), measure.prevalence(COUNTS)), abs=1e-12)
    free, fixed = (infer.estimate("precision", COUNTS, method=each) for each in ("draws", "stratified"))
    assert fixed.high - fixed.low < free.high - free.low
    same = [infer.estimate("sensitivity", COUNTS, method=each) for each in ("draws", "stratified")]
    assert same[0].low == pytest.approx(same[1].low, abs=0.01)


def test_perfect_tables_have_intervals_of_positive_width() -> None:
    perfect = Counts(tp=10.0, fp=0.0, fn=0.0, tn=10.0)
    for name in ("f1", "mcc", "kappa", "youden", "balanced_accuracy"):
        result = infer.estimate(name, perfect)
        assert result.high == result.value == 1
        assert 0.5 < result.low < 0.95, name
    odds = infer.estimate("diagnostic_odds_ratio", perfect)
    assert odds.value == odds.high == float("inf")
    assert 10 < odds.low < 100


def test_bootstrap_samples_may_be_undefined() -> None:
    rare = Counts(tp=1.0, fp=0.0, fn=1.0, tn=20.0)
    result = infer.estimate("mcc", rare, method="bootstrap")
    assert "undefined" in str(result.how)
    assert result.low <= result.value <= result.high


def test_simulated_tables_of_many_classes() -> None:
    table = Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")
    for name, each in multiclass.MEASURES.items():
        if measure.describe(each).of is Confusion and name != "expected_cost":
            result = infer.estimate(each, table)
            least, most = measure.describe(each).span
            assert least <= result.low <= result.value <= result.high <= most, name
            assert result.low < result.high, name
    macro = infer.estimate(multiclass.average_over_classes(measure.f1, "macro"), table)
    assert macro.low < macro.value < macro.high


def test_many_classes_use_fewer_samples_and_a_lighter_prior() -> None:
    rng = np.random.default_rng(0)
    cells = np.diag(np.full(30, 20.0)) + rng.poisson(0.3, (30, 30))
    table = Confusion(cells.astype(np.float64), tuple(range(30)))
    simulated, usual = infer.estimate("mcc", table, method="draws"), infer.estimate("mcc", table)
    assert simulated.how is not None
    assert simulated.how.startswith("4444 ")
    assert usual.how == "delta method over the cells, t quantiles"
    for result in (simulated, usual):
        assert result.high - result.low < 0.1
        assert result.low < result.value < result.high


def test_absent_classes_stay_absent_in_stratified_samples() -> None:
    table = Confusion.of_matrix([[9, 3, 0], [3, 5, 0], [0, 0, 0]], truth="rows")
    result = infer.estimate("balanced_accuracy", table, method="stratified")
    assert result.value == pytest.approx((9 / 12 + 5 / 8) / 2)
    assert result.low < result.value < result.high


def test_weighted_cells_vary_by_their_squares() -> None:
    light = Counts(30.0, 12.0, 8.0, 150.0, moments=(Counts(30.0, 12.0, 8.0, 150.0), COUNTS))
    rows = Counts(7.5, 3.0, 2.0, 37.5)
    heavy = Counts(30.0, 12.0, 8.0, 150.0, moments=(Counts(120.0, 48.0, 32.0, 600.0), rows))
    narrow, wide = infer.estimate("f1", light), infer.estimate("f1", heavy)
    assert narrow.low == infer.estimate("f1", COUNTS).low
    # Each row weighs 4: as sure as a quarter of them.
    quarter = infer.estimate("f1", Counts(7.5, 3.0, 2.0, 37.5))
    assert (wide.low, wide.high) == pytest.approx((quarter.low, quarter.high), abs=0.01)


@pytest.mark.parametrize("name", ["youden", "kappa", "mcc", "markedness"])
def test_intervals_allow_for_structurally_empty_cells(name: str) -> None:
    # Ten sick and ten flagged of a thousand, and none is both: this may be the rule, or chance.
    result = infer.estimate(name, Counts(tp=0.0, fp=10.0, fn=10.0, tn=980.0))
    never = float(measure.find_measure(name)(Counts(tp=0.0, fp=14.0, fn=14.0, tn=972.0)))
    often = float(measure.find_measure(name)(Counts(tp=2.0, fp=8.0, fn=8.0, tn=982.0)))
    assert result.low < never < result.value < often < result.high


def test_unfilled_samples_keep_empty_cells_empty() -> None:
    table = Counts(tp=0.0, fp=10.0, fn=10.0, tn=980.0)
    filled, bare = (
        _confusion_intervals.simulate_values(measure.sensitivity, table, way="draws", seed=0, filled=each)
        for each in (True, False)
    )
    assert bare.max() == 0 < np.quantile(filled, 0.01)
    # The others are as they were.
    rates = [
        _confusion_intervals.simulate_values(measure.fpr, table, way="draws", seed=0, filled=each)
        for each in (True, False)
    ]
    assert rates[0] == pytest.approx(rates[1])


def test_has_empty_cells() -> None:
    assert not _confusion_intervals.has_empty_cells(COUNTS)
    assert _confusion_intervals.has_empty_cells(Counts(tp=3.0, fp=1.0, fn=0.0, tn=2.0))
    assert not _confusion_intervals.has_empty_cells(Confusion(np.zeros((3, 3)), ("a", "b", "c")))


def make_weighted_table(seed: int, rows: int = 300, *, spread: float = 1.2) -> Counts[float]:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.3
    score = rng.standard_normal(rows) + 1.5 * truth
    weight = np.exp(spread * rng.standard_normal(rows))
    return Curve(Tally.of_rows(truth, score, weight=weight)).at(0.75)


def test_equal_weights_have_infinite_degrees_of_freedom() -> None:
    counts = Counts(tp=60.0, fp=40.0, fn=30.0, tn=170.0)
    triple = Counts(
        *(3 * each for each in (60.0, 40.0, 30.0, 170.0)), moments=(Counts(540.0, 360.0, 270.0, 1530.0), counts)
    )
    assert _confusion_intervals.weighted_freedom(measure.mcc, triple) == inf
    for name in ("sensitivity", "npv", "mcc", "diagnostic_odds_ratio", "f1"):
        one, other = infer.estimate(name, counts), infer.estimate(name, triple)
        assert (other.low, other.high) == pytest.approx((one.low, one.high), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_weighted_degrees_of_freedom_by_hand(seed: int) -> None:
    counts = make_weighted_table(seed)
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


def test_squared_weights_of_few_light_rows_are_raised() -> None:
    # Four misses among 90 positives weigh a tenth of the rest: their own squares would say that 900 were seen.
    rows = Counts(tp=86.0, fp=40.0, fn=4.0, tn=170.0)
    mass = (86.0, 40.0, 0.4, 170.0)
    light = Counts(*mass, moments=(Counts(86.0, 40.0, 0.04, 170.0), rows))
    assert _confusion_intervals.stabilize_weights(light).squares.fn == pytest.approx(0.4 * 86.04 / 86.4)
    assert _confusion_intervals.stabilize_weights(light).squares.fp == 40


def test_skewed_weights_widen_simulated_intervals() -> None:
    counts = make_weighted_table(5)
    for name in ("diagnostic_odds_ratio", "positive_likelihood_ratio", "mcc", "f1"):
        result = infer.estimate(name, counts)
        freedom = _confusion_intervals.weighted_freedom(measure.find_measure(name), counts)
        assert 3 < freedom < 60
        assert result.low < result.value < result.high
        assert result.low > (-1 if name == "mcc" else 0)
