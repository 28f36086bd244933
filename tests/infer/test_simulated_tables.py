"""Simulated tables."""

import numpy as np
import pytest

from baserate import Confusion, Counts, Curve, infer, measure, tally
from baserate.infer import _confusion_intervals
from baserate.infer._bootstrap import sample_masses
from baserate.measure import multiclass

COUNTS = Counts(tp=30.0, fp=12.0, fn=8.0, tn=150.0)


def test_random_masses_have_the_mean_and_variance_of_sums_of_weights() -> None:
    rng = np.random.default_rng(0)
    weight = rng.exponential(size=(3, 40)) + 0.2
    mass, squares = weight.sum(axis=1), (weight**2).sum(axis=1)
    drawn = sample_masses(np.random.default_rng(1), 200_000, mass, squares)
    assert drawn.mean(axis=0) == pytest.approx(mass, rel=0.01)
    assert drawn.var(axis=0) == pytest.approx(squares, rel=0.02)


def test_random_masses_of_counts_are_dirichlet() -> None:
    drawn = _confusion_intervals.simulate_values(measure.prevalence, COUNTS, way="draws", seed=0)
    assert len(drawn) == _confusion_intervals.N_TABLES
    # Shares of a Dirichlet variable are Beta variables: 38 + 1 positives and 162 + 1 negatives.
    assert drawn.mean() == pytest.approx(39 / 202, abs=0.001)
    assert drawn.var() == pytest.approx(39 * 163 / 202**2 / 203, rel=0.05)


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


def test_fixed_classes_leave_the_prevalence_alone() -> None:
    drawn = _confusion_intervals.simulate_values(measure.prevalence, COUNTS, way="stratified", seed=0)
    assert drawn == pytest.approx(np.full(len(drawn), measure.prevalence(COUNTS)), abs=1e-12)
    free, fixed = (infer.estimate("precision", COUNTS, method=each) for each in ("draws", "stratified"))
    assert fixed.high - fixed.low < free.high - free.low
    same = [infer.estimate("sensitivity", COUNTS, method=each) for each in ("draws", "stratified")]
    assert same[0].low == pytest.approx(same[1].low, abs=0.01)


def test_a_perfect_table_is_not_certain() -> None:
    perfect = Counts(tp=10.0, fp=0.0, fn=0.0, tn=10.0)
    for name in ("f1", "mcc", "kappa", "youden", "balanced_accuracy"):
        found = infer.estimate(name, perfect)
        assert found.high == found.value == 1
        assert 0.5 < found.low < 0.95, name
    odds = infer.estimate("diagnostic_odds_ratio", perfect)
    assert odds.value == odds.high == float("inf")
    assert 10 < odds.low < 100


def test_bootstrap_samples_may_be_undefined() -> None:
    rare = Counts(tp=1.0, fp=0.0, fn=1.0, tn=20.0)
    found = infer.estimate("mcc", rare, method="bootstrap")
    assert "undefined" in str(found.how)
    assert found.low <= found.value <= found.high


def test_tables_of_many_classes() -> None:
    table = Confusion.of_matrix([[9, 3, 0], [3, 5, 1], [1, 1, 4]], truth="rows")
    for name, each in multiclass.MEASURES.items():
        if measure.describe(each).of is Confusion and name != "expected_cost":
            found = infer.estimate(each, table)
            least, most = measure.describe(each).span
            assert least <= found.low <= found.value <= found.high <= most, name
            assert found.low < found.high, name
    macro = infer.estimate(multiclass.average_over_classes(measure.f1, "macro"), table)
    assert macro.low < macro.value < macro.high


def test_many_classes_use_fewer_samples_and_a_lighter_prior() -> None:
    rng = np.random.default_rng(0)
    cells = np.diag(np.full(30, 20.0)) + rng.poisson(0.3, (30, 30))
    table = Confusion(cells.astype(np.float64), tuple(range(30)))
    drawn, usual = infer.estimate("mcc", table, method="draws"), infer.estimate("mcc", table)
    assert drawn.how is not None
    assert drawn.how.startswith("4444 ")
    assert usual.how == "delta method over the cells, t quantiles"
    for found in (drawn, usual):
        assert found.high - found.low < 0.1
        assert found.low < found.value < found.high


def test_a_class_that_is_absent_stays_away() -> None:
    table = Confusion.of_matrix([[9, 3, 0], [3, 5, 0], [0, 0, 0]], truth="rows")
    found = infer.estimate("balanced_accuracy", table, method="stratified")
    assert found.value == pytest.approx((9 / 12 + 5 / 8) / 2)
    assert found.low < found.value < found.high


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
def test_an_empty_cell_may_be_empty_for_ever(name: str) -> None:
    # Ten sick and ten flagged of a thousand, and none is both: this may be the rule, or chance.
    found = infer.estimate(name, Counts(tp=0.0, fp=10.0, fn=10.0, tn=980.0))
    never = float(measure.find_measure(name)(Counts(tp=0.0, fp=14.0, fn=14.0, tn=972.0)))
    often = float(measure.find_measure(name)(Counts(tp=2.0, fp=8.0, fn=8.0, tn=982.0)))
    assert found.low < never < found.value < often < found.high


def test_empty_cells_that_stay_empty() -> None:
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


def test_whether_a_cell_is_empty() -> None:
    assert not _confusion_intervals.has_empty_cells(COUNTS)
    assert _confusion_intervals.has_empty_cells(Counts(tp=3.0, fp=1.0, fn=0.0, tn=2.0))
    assert not _confusion_intervals.has_empty_cells(Confusion(np.zeros((3, 3)), ("a", "b", "c")))
