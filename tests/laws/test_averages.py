"""Laws of averages over classes, and of scores for several classes."""

from fractions import Fraction
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, strategies as st

import baserate
from baserate import Confusion, Counts, Curve, MulticlassRows, measure
from baserate.measure import MEASURES, describe, multiclass, undefined_reason
from tests.laws.test_multiclass import squares
from tests.strategies import same

OF_COUNTS = {name: m for name, m in MEASURES.items() if describe(m).of is Counts}
OF_SCORES = {name: m for name, m in multiclass.MEASURES.items() if describe(m).of is MulticlassRows}


class ScoredRows(NamedTuple):
    truth: npt.NDArray[Any]
    score: npt.NDArray[Any]
    weight: npt.NDArray[Any]

    def rows(self, **given: Any) -> MulticlassRows:  # noqa: ANN401
        return baserate.class_scores(self.truth, self.score, labels=range(self.score.shape[1]), **given)


@st.composite
def scored_rows(draw: st.DrawFn) -> ScoredRows:
    """Up to 20 rows of two to four classes, of which some may be absent; probabilities in eighths, often tied."""
    classes, size = draw(st.integers(2, 4)), draw(st.integers(1, 20))
    truth = draw(st.lists(st.integers(0, classes - 1), min_size=size, max_size=size))
    cuts = st.lists(st.integers(0, 8), min_size=classes - 1, max_size=classes - 1).map(sorted)
    score = [np.diff([0, *draw(cuts), 8]) / 8 for _ in range(size)]
    weight = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0]), min_size=size, max_size=size))
    return ScoredRows(np.array(truth), np.array(score), np.array(weight))


@pytest.mark.slow
@given(squares())
def test_macro_is_the_mean_of_defined_values_and_micro_pools_counts(c: Confusion) -> None:
    counts = c.one_vs_rest()
    for name, function in OF_COUNTS.items():
        each = multiclass.per_class(function, c)
        assert same(each, [function(counts[at]) for at in range(len(c.labels))]), name
        defined = each[~np.isnan(each)]
        mean = float(np.mean(defined)) if len(defined) else float("nan")
        assert same(multiclass.average_over_classes(function, "macro")(c), mean, within=1e-12), name
        pooled = Counts(*(float(np.sum(cell)) for cell in (counts.tp, counts.fp, counts.fn, counts.tn)))
        assert same(multiclass.average_over_classes(function, "micro")(c), function(pooled)), name
        assert set(multiclass.undefined_classes(function, c)) == {
            c.labels[at] for at in np.flatnonzero(np.isnan(each))
        }, name


@given(squares())
def test_weights_of_ones_are_macro_and_weights_of_support_are_weighted(c: Confusion) -> None:
    assume(c.total > 0)
    for function in (measure.sensitivity, measure.precision, measure.f1):
        ones = multiclass.average_over_classes(function, dict.fromkeys(c.labels, 1.0))
        assert same(ones(c), multiclass.average_over_classes(function, "macro")(c), within=1e-12)
        support = multiclass.average_over_classes(function, dict(zip(c.labels, c.truth.tolist(), strict=True)))
        assert same(support(c), multiclass.average_over_classes(function, "weighted")(c), within=1e-12)


@given(squares(), st.data())
def test_the_order_of_classes_does_not_matter(c: Confusion, data: st.DataObject) -> None:
    order = data.draw(st.permutations(c.labels))
    turned = c.over(order)
    for how in ("macro", "weighted", "micro"):
        for function in (measure.sensitivity, measure.npv, measure.mcc):
            average = multiclass.average_over_classes(function, how)
            assert same(average(c), average(turned), within=1e-12)


@given(squares())
def test_averages_equal_known_measures(c: Confusion) -> None:
    """Micro recall, precision and F1 are the accuracy; weighted recall is too; macro recall is balanced accuracy."""
    accuracy = multiclass.accuracy(c)
    for function in (measure.sensitivity, measure.precision, measure.f1):
        assert same(multiclass.average_over_classes(function, "micro")(c), accuracy, within=1e-12)
    assert same(multiclass.average_over_classes(measure.sensitivity, "weighted")(c), accuracy, within=1e-12)
    assert same(
        multiclass.average_over_classes(measure.sensitivity, "macro")(c), multiclass.balanced_accuracy(c), within=1e-12
    )
    assert same(
        multiclass.average_over_classes(measure.balanced_accuracy, "macro")(c),
        multiclass.mean_balanced_accuracy(c),
        within=1e-12,
    )


@given(st.lists(squares(min_size=3, max_size=3), min_size=1, max_size=4))
def test_a_stack_is_averaged_table_by_table(sample: list[Confusion]) -> None:
    stack = Confusion(np.stack([c.mass for c in sample]), sample[0].labels)
    for how in ("macro", "weighted", "micro"):
        average = multiclass.average_over_classes(measure.f1, how)
        assert same(average(stack), [average(c) for c in sample], within=1e-12)


@given(scored_rows())
def test_values_are_in_their_span_and_undefined_exactly_when_a_margin_is_zero(sample: ScoredRows) -> None:
    rows = sample.rows()
    for name, function in OF_SCORES.items():
        value, output = function(rows), describe(function)
        assert isnan(value) == any(getattr(rows, margin) == 0 for margin in output.needs), name
        assert isnan(value) == (undefined_reason(function, rows) is not None), name
        assert isnan(value) or output.span[0] - 1e-12 <= value <= output.span[1] + 1e-12, name


@given(scored_rows(), st.data())
def test_neither_the_order_of_rows_nor_that_of_classes_matters(sample: ScoredRows, data: st.DataObject) -> None:
    classes = data.draw(st.permutations(range(sample.score.shape[1])))
    order = data.draw(st.permutations(range(len(sample.truth))))
    one = sample.rows(weight=sample.weight)
    other = baserate.class_scores(
        sample.truth[order], sample.score[order][:, classes], labels=classes, weight=sample.weight[order]
    )
    for name, function in OF_SCORES.items():
        # Of equal scores the first class goes first; measures of ordered classes depend on their order.
        if name not in ("top_k_accuracy", "ranked_probability_score", "ordinal_auc"):
            assert same(function(one), function(other), within=1e-12), name
    assert same(
        multiclass.average_over_classes(measure.auc, "macro")(one),
        multiclass.average_over_classes(measure.auc, "macro")(other),
        within=1e-12,
    )


@given(scored_rows(), st.data())
def test_a_count_is_that_many_rows_and_so_is_a_weight(sample: ScoredRows, data: st.DataObject) -> None:
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(sample.truth), max_size=len(sample.truth))))
    assume(times.any())
    repeated = ScoredRows(np.repeat(sample.truth, times), np.repeat(sample.score, times, axis=0), sample.weight).rows()
    for name, function in OF_SCORES.items():
        assert same(function(sample.rows(count=times)), function(repeated), within=1e-12), name
        assert same(function(sample.rows(weight=times)), function(repeated), within=1e-12), name
    for table in (sample.rows(count=times).confusion(), sample.rows(weight=times).confusion()):
        assert table.mass.tolist() == repeated.confusion().mass.tolist()


@given(scored_rows())
def test_pairwise_auc_counts_pairs(sample: ScoredRows) -> None:
    rows = sample.rows(weight=sample.weight)
    table, support = multiclass.pairwise_auc(rows), rows.support
    for at, auc in enumerate(multiclass.per_class(measure.auc, rows)):
        others = np.delete(support, at)
        mean = (
            float(np.nansum(np.delete(table[at], at) * others)) / others.sum()
            if others.sum() and support[at]
            else np.nan
        )
        assert same(auc, mean, within=1e-12)


@given(scored_rows())
def test_of_two_classes_hand_and_till_is_the_auc(sample: ScoredRows) -> None:
    two = sample.score[:, 0]
    truth = sample.truth == 0
    rows = baserate.class_scores(truth, np.stack([1 - two, two], axis=1), labels=[False, True])
    assert same(multiclass.hand_till(rows), measure.auc(baserate.curve(baserate.tally(truth, two))))
    assert same(multiclass.brier(rows), 2 * measure.brier(baserate.tally(truth, two)), within=1e-12)
    assert same(multiclass.log_loss(rows), measure.log_loss(baserate.tally(truth, two)), within=1e-12)


@given(scored_rows())
def test_top_one_is_accuracy_and_more_is_no_worse(sample: ScoredRows) -> None:
    rows = sample.rows(weight=sample.weight)
    tops = [multiclass.top_k_accuracy(rows, k=k) for k in range(1, len(rows.labels) + 1)]
    assert tops[0] == multiclass.accuracy(rows.confusion())
    assert tops == sorted(tops)
    assert tops[-1] == 1


@given(scored_rows())
def test_brier_score_equals_exact_fractions(sample: ScoredRows) -> None:
    exact = Fraction(0)
    for truth, score in zip(sample.truth, sample.score, strict=True):
        exact += sum((Fraction(p) - (at == truth)) ** 2 for at, p in enumerate(score))
    assert multiclass.brier(sample.rows()) == pytest.approx(float(exact / len(sample.truth)), abs=1e-15)


@given(scored_rows())
def test_micro_pools_all_scores(sample: ScoredRows) -> None:
    rows = sample.rows(weight=sample.weight)
    classes = sample.score.shape[1]
    pooled = baserate.tally(
        (sample.truth[:, None] == np.arange(classes)).ravel(),
        sample.score.ravel(),
        weight=np.repeat(sample.weight, classes),
    )
    for function in (measure.auc, measure.average_precision):
        assert same(multiclass.average_over_classes(function, "micro")(rows), function(Curve(pooled)), within=1e-12)
    assert same(multiclass.average_over_classes(measure.brier, "micro")(rows), measure.brier(pooled), within=1e-12)
