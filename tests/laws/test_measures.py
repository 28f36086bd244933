"""Laws of every registered measure and all data: they walk the registry, so that they cover new measures."""

from itertools import pairwise
from math import isnan
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import Counts, Curve, Tally
from baserate.measure import MEASURES, Measure, describe, undefined_reason
from baserate.measure._registry import margin
from tests.strategies import Rows, few, like, measure_argument, probability, rows, same, tables

OF_COUNTS = {name: m for name, m in MEASURES.items() if describe(m).of is Counts}
OF_ALL = {name: m for name, m in MEASURES.items() if not describe(m).sampled}
OF_CURVES = {name: m for name, m in MEASURES.items() if describe(m).of is Curve}

# Probabilities are scores that every measure takes.
probabilities = rows(score=probability)


def values(tally: Tally, measures: dict[str, Measure] = MEASURES) -> dict[str, object]:
    return {name: measure(measure_argument(describe(measure).of, tally)) for name, measure in measures.items()}


def assert_same(first: dict[str, object], second: dict[str, object], *, within: float = 0.0) -> None:
    for name, value in first.items():
        assert same(value, second[name], within=within), name


@given(probabilities, st.randoms())
def test_the_order_of_rows_does_not_matter(sample: Rows, random: Random) -> None:
    order = list(range(len(sample.truth)))
    random.shuffle(order)
    shuffled = baserate.tally(sample.truth[order], sample.score[order])
    assert_same(values(baserate.tally(*sample)), values(shuffled))


@given(st.data())
def test_a_count_is_that_many_rows_and_so_is_a_weight(data: st.DataObject) -> None:
    sample = data.draw(probabilities)
    times = data.draw(like(sample, st.integers(1, 4)))
    repeated = values(baserate.tally(np.repeat(sample.truth, times), np.repeat(sample.score, times)))
    assert_same(values(baserate.tally(*sample, count=times)), repeated)
    assert_same(values(baserate.tally(*sample, weight=times), OF_ALL), repeated, within=1e-12)


@given(st.data())
def test_weights_may_be_scaled(data: st.DataObject) -> None:
    sample = data.draw(probabilities)
    weight = data.draw(like(sample, st.floats(0.1, 10)))
    plain, scaled = (baserate.tally(*sample, weight=weight * scale) for scale in (1.0, 2.0**40))
    assert_same(values(plain), values(scaled), within=1e-12)


@given(st.data())
def test_weight_zero_is_absence(data: st.DataObject) -> None:
    sample = data.draw(probabilities)
    weight = data.draw(like(sample, st.sampled_from([0.0, 0.5, 1.0, 3.0])).filter(np.any))
    there = weight > 0
    absent = baserate.tally(sample.truth[there], sample.score[there], weight=weight[there])
    assert_same(values(baserate.tally(*sample, weight=weight)), values(absent))


@given(probabilities, probabilities)
def test_merging_is_concatenating(first: Rows, second: Rows) -> None:
    together = baserate.tally(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))
    assert_same(values(baserate.tally(*first) + baserate.tally(*second)), values(together))


@given(probabilities)
def test_values_stay_in_their_span(sample: Rows) -> None:
    for name, value in values(baserate.tally(*sample)).items():
        low, high = describe(MEASURES[name]).span
        result = np.atleast_1d(np.asarray(value, dtype=float))
        defined = result[~np.isnan(result)]
        assert ((defined >= low - 1e-12) & (defined <= high + 1e-12)).all(), name


@given(st.lists(tables(), min_size=1, max_size=5))
def test_a_scalar_is_an_element_of_an_array(sample: list[Counts[float]]) -> None:
    cells = [np.array([getattr(c, cell) for c in sample]) for cell in ("tp", "fp", "fn", "tn")]
    row, column = Counts(*cells), Counts(*(cell[:, None] for cell in cells))
    for name, measure in OF_COUNTS.items():
        alone = [measure(c) for c in sample]
        assert all(isinstance(each, float) for each in alone), name
        assert same(measure(row), alone), name
        assert same(measure(column)[:, 0], alone), name


@given(tables())
def test_a_measure_of_counts_is_undefined_exactly_when_a_needed_margin_is_zero(c: Counts[float]) -> None:
    for name, measure in OF_COUNTS.items():
        lacks = any(getattr(c, margin) == 0 for margin in describe(measure).needs)
        assert isnan(measure(c)) == lacks, name
        assert (undefined_reason(measure, c) is not None) == lacks, name


@given(st.data())
def test_every_measure_is_undefined_exactly_when_a_needed_margin_is_zero(data: st.DataObject) -> None:
    sample = data.draw(probabilities)
    weight = data.draw(st.none() | like(sample, st.floats(0.1, 10)))
    tally = baserate.tally(*sample, weight=weight)
    for name, measure in MEASURES.items():
        subject = measure_argument(describe(measure).of, tally)
        lacks = np.logical_or.reduce([np.asarray(margin(subject, name)) == 0 for name in describe(measure).needs])
        assert same(np.isnan(measure(subject)), lacks), name


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_measures_without_rows_are_undefined_with_a_reason(measure: Measure) -> None:
    subject = measure_argument(describe(measure).of, Tally.sum([]))
    subject = subject[0] if isinstance(subject, Counts) else subject
    assert isnan(measure(subject))
    assert undefined_reason(measure, subject)


@given(tables(), rows())
def test_swapping_the_classes_gives_the_dual(c: Counts[float], sample: Rows) -> None:
    curve = baserate.curve(baserate.tally(*sample))
    swapped = baserate.curve(baserate.tally(~sample.truth, -sample.score))
    for name, measure in MEASURES.items():
        if (dual := describe(measure).dual) is not None:
            one, other = (c, c.swap_classes()) if name in OF_COUNTS else (curve, swapped)
            assert same(measure(one), MEASURES[dual](other), within=1e-12), name


def test_duals_come_in_pairs_and_cover_symmetric_measures() -> None:
    pairs = {name: describe(m).dual for name, m in MEASURES.items() if describe(m).dual is not None}
    assert all(pairs[str(dual)] == name for name, dual in pairs.items())
    assert pairs["auc"] == "auc"
    assert pairs["ks"] == "ks"
    assert pairs["mcc"] == "mcc"
    assert pairs["sensitivity"] == "specificity"
    assert pairs["precision"] == "npv"


@given(rows())
def test_only_the_order_of_scores_matters_to_rank_measures(sample: Rows) -> None:
    _, rank = np.unique(sample.score, return_inverse=True)
    as_given, ranked = (baserate.tally(sample.truth, score) for score in (sample.score, rank**3 - 7.5))
    assert_same(values(as_given, OF_CURVES), values(ranked, OF_CURVES))
    assert_same(values(as_given, OF_COUNTS), values(ranked, OF_COUNTS))


@pytest.mark.parametrize(
    "name",
    [
        *("sensitivity", "precision", "fnr", "fdr", "f1", "f_beta", "e_measure"),
        *("borko", "fowlkes_mallows", "jaccard"),
    ],
)
@given(tables(), st.integers(0, 10**9))
def test_precision_recall_and_their_kin_ignore_true_negatives(name: str, c: Counts[float], tn: int) -> None:
    measure = MEASURES[name]
    assert same(measure(c), measure(Counts(c.tp, c.fp, c.fn, tn)))


@given(tables())
def test_mcc_is_a_difference_of_geometric_means(c: Counts[float]) -> None:
    def mean(*names: str) -> float:
        return float(np.sqrt(np.prod([MEASURES[name](c) for name in names])))

    right = mean("precision", "sensitivity", "specificity", "npv")
    wrong = mean("fdr", "fnr", "fpr", "false_omission_rate")
    assert same(baserate.measure.mcc(c), right - wrong, within=1e-7)


@given(tables())
def test_mcc_is_at_least_as_far_from_zero_as_kappa(c: Counts[float]) -> None:
    mcc, kappa = baserate.measure.mcc(c), baserate.measure.kappa(c)
    assert isnan(mcc) or abs(mcc) >= abs(kappa) - 1e-12


@given(tables(), st.floats(0.1, 10))
def test_rates_and_their_complements_add_up_to_one(c: Counts[float], beta: float) -> None:
    m = baserate.measure
    pairs = [("sensitivity", "fnr"), ("specificity", "fpr"), ("precision", "fdr"), ("npv", "false_omission_rate")]
    for first, second in [*pairs, ("accuracy", "error_rate"), ("flag_rate", "pass_rate")]:
        total = MEASURES[first](c) + MEASURES[second](c)
        assert isnan(total) or total == pytest.approx(1)
    assert same(m.f_beta(c, beta=beta) + m.e_measure(c, beta=beta), m.f1(c) * 0 + 1, within=1e-12)


@given(rows())
def test_the_ginis_are_one_area_scaled_differently(sample: Rows) -> None:
    curve = baserate.curve(baserate.tally(*sample))
    m, share = baserate.measure, baserate.measure.prevalence(curve.at(0.0))
    assert same(m.accuracy_ratio(curve), m.gini(curve), within=1e-12)
    if not isnan(m.auc(curve)):
        assert m.lorenz_gini(curve) == pytest.approx((1 - share) * m.gini(curve))
        assert m.cap_area(curve) == pytest.approx(share / 2 + (1 - share) * m.auc(curve))


@given(rows())
def test_areas_equal_those_under_the_tabulated_curves(sample: Rows) -> None:
    curve = baserate.curve(baserate.tally(*sample))
    m = baserate.measure
    for table, area in [("roc", m.auc(curve)), ("gain", m.cap_area(curve)), ("roc", m.partial_auc(curve))]:
        _, x, y = m.table(curve, table).values()
        assert same(np.trapezoid(y, x), area, within=1e-12)
    _, x, y = m.table(curve, "lorenz").values()
    assert same(1 - 2 * np.trapezoid(y[::-1], x[::-1]), m.lorenz_gini(curve), within=1e-12)


@given(rows(score=few), st.floats(0, 1), st.floats(0, 1), st.sampled_from(["fpr", "tpr"]))
def test_partial_areas_add_up_to_the_whole(sample: Rows, first: float, second: float, axis: str) -> None:
    cuts = sorted({0.0, first, second, 1.0})
    curve = baserate.curve(baserate.tally(*sample))
    parts = [baserate.measure.partial_auc(curve, **{axis: pair}) for pair in pairwise(cuts)]  # type: ignore[call-overload]
    assert same(sum(parts), baserate.measure.auc(curve), within=1e-12)


@given(rows(score=st.just(0.5)))
def test_constant_scores_are_defined(sample: Rows) -> None:
    curve = baserate.curve(baserate.tally(*sample))
    m, share = baserate.measure, sample.truth.mean()
    if 0 < share < 1:
        assert (m.auc(curve), m.ks(curve)) == (0.5, 0)
    if share > 0:
        assert (m.average_precision(curve), m.pr_auc(curve)) == pytest.approx((share, share))
