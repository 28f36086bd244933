"""Comparisons of independent samples, and of many classes."""

from math import isnan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import stdtr, stdtrit
from scipy.stats import norm, ttest_ind

from baserate import Costs, Counts, MulticlassRows, Rows, Tally, class_scores, tally
from baserate._errors import EmptyDataError, OptionError, ShapeError
from baserate.infer import (
    Question,
    _comparison,
    _model_bootstrap,
    _unpaired_comparison,
    compare,
    compare_classes,
    compare_unpaired,
)
from baserate.infer._comparison import ComparisonRequest
from baserate.infer._multiclass import hand_till_slopes
from baserate.infer._unpaired_comparison import compare_samples, effective_shares
from baserate.infer._variances import Units, degrees_of_freedom, influence_variance
from baserate.measure import MEASURES, describe, multiclass, sensitivity
from baserate.measure._registry import Settings
from tests.tiers import some, take_in_tiers


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw less than users do, and take percentiles all the same: rough, but not biased."""
    monkeypatch.setattr(_model_bootstrap, "MAX_SAMPLES", 299)
    monkeypatch.setattr(_comparison, "_PERCENTILE_SAMPLES", 199)


def sample(seed: int, size: int = 200, shift: float = 1.0) -> Tally:
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.4
    return tally(truth, np.round(1 / (1 + np.exp(-(truth * shift - 0.5 + rng.normal(size=size)))), 2))


def shares(first: tuple[int, int], second: tuple[int, int]) -> list[Tally]:
    return [Tally.from_counts([1.0, 0.0], [list(each), [0, 0]]) for each in (first, second)]


# Newcombe 1998, table II, method 10, all but the first rows of which are extreme.
NEWCOMBE = [
    ((56, 14), (48, 32), 0.0524, 0.3339),
    ((9, 1), (3, 7), 0.1705, 0.8090),
    ((6, 1), (2, 5), 0.0582, 0.8062),
    ((5, 51), (0, 29), -0.0381, 0.1926),
    ((0, 10), (0, 20), -0.1611, 0.2775),
    ((0, 10), (0, 10), -0.2775, 0.2775),
    ((10, 0), (0, 20), 0.6791, 1.0),
    ((10, 0), (0, 10), 0.6075, 1.0),
]


@pytest.mark.parametrize(("first", "second", "low", "high"), NEWCOMBE)
def test_newcombe(first: tuple[int, int], second: tuple[int, int], low: float, high: float) -> None:
    result = compare_unpaired(*shares(first, second), measure="sensitivity")
    assert (result.difference.low, result.difference.high) == pytest.approx((low, high), abs=5.1e-5)


def test_p_value_is_the_level_whose_interval_reaches_zero() -> None:
    a, b = shares((56, 14), (48, 32))
    result = compare_unpaired(a, b, measure="sensitivity")
    at = compare_unpaired(a, b, measure="sensitivity", question=Question(level=1 - result.p))
    assert at.difference.low == pytest.approx(0, abs=1e-6)
    assert result.p == pytest.approx(0.008, abs=0.002)  # the pooled score test gives 0.0082
    for margin in (0.0, 0.05):
        question = Question(alternative="greater", margin=margin)
        level = 1 - 2 * compare_unpaired(a, b, measure="sensitivity", question=question).p
        wide = compare_unpaired(a, b, measure="sensitivity", question=Question(level=level))
        assert wide.difference.low == pytest.approx(-margin, abs=1e-6)


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", take_in_tiers(MEASURES, some(MEASURES, 4)))
def test_every_measure_is_compared(name: str) -> None:
    a, b = sample(1), sample(2, 150)
    stated = Settings(costs=Costs(fp=1, fn=5), at=0.2, specificity=0.8, sensitivity=0.8, precision=0.8)
    result = compare_unpaired(a, b, measure=stated.apply(MEASURES[name]))
    d = result.difference
    assert d.value == result.values[0] - result.values[1]
    assert d.low <= d.value <= d.high
    assert 0 < result.p <= 1
    assert result.measure == describe(MEASURES[name]).name


def test_bootstrap_samples_rest_on_the_smaller_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    result: list[float] = []

    def units(observed: float, added: float) -> Units:
        result.append(observed)
        return Units(observed, added)

    monkeypatch.setattr(_unpaired_comparison, "Units", units)
    compare_unpaired(sample(1, 70), sample(2, 30), measure="brier", question=Question(method="resample"))
    assert result == [70, 30]


@pytest.mark.parametrize("name", ["brier", "log_loss_skill"])
def test_losses_are_compared_by_welch(name: str) -> None:
    a, b = sample(1, 70), sample(2, 30)
    result = compare_unpaired(a, b, measure=name)
    spreads = [influence_variance(MEASURES[name], each) for each in (a, b)]
    error = np.sqrt(sum(each.variance for each in spreads))
    degrees = degrees_of_freedom([part for each in spreads for part in (each.positive_part, each.negative_part)])
    assert result.statistic == pytest.approx(result.difference.value / error)
    assert result.p == pytest.approx(2 * stdtr(degrees, -abs(result.statistic)))
    assert result.difference.high - result.difference.value == pytest.approx(stdtrit(degrees, 0.975) * error)
    if name == "brier":
        losses = [_losses(each) for each in (a, b)]
        assert result.statistic == pytest.approx(ttest_ind(*losses, equal_var=False).statistic, rel=0.03)


def _losses(tally: Tally) -> npt.NDArray[np.float64]:
    return np.concatenate([np.repeat((truth - tally.score) ** 2, tally.rows[at]) for at, truth in enumerate((1, 0))])


def make_weighted_counts(hits: npt.NDArray[np.float64], misses: npt.NDArray[np.float64]) -> Counts[float]:
    """Table of positives with these weights."""
    cells = [Counts(np.sum(hits**power), 0.0, np.sum(misses**power), 0.0) for power in (1, 2, 0)]
    return Counts(cells[0].tp, 0.0, cells[0].fn, 0.0, moments=(cells[1], cells[2]))


def test_effective_shares_have_the_variance_of_all_samples() -> None:
    rng = np.random.default_rng(1)
    weights = [(np.exp(rng.normal(size=20)), np.exp(rng.normal(size=15))), (rng.random(9) + 1, rng.random(30) + 1)]
    result = effective_shares(sensitivity, [make_weighted_counts(*each) for each in weights])
    expected, observed, kish, rates = 0.0, 0.0, [], []
    for hits, misses in weights:
        every = np.concatenate([hits, misses])
        unit = np.sum(every**2) / every.sum()
        p = hits.sum() / every.sum()
        residual = np.append(np.full(len(hits), 1 - p), np.full(len(misses), -p))
        observed += np.sum((every / unit * residual) ** 2)
        expected += p * (1 - p) * np.sum((every / unit) ** 2)
        kish.append(every.sum() ** 2 / np.sum(every**2))
        rates.append(p)
    assert [each.trials for each in result] == pytest.approx([each * expected / observed for each in kish])
    assert [each.hits / each.trials for each in result] == pytest.approx(rates)
    even = effective_shares(
        sensitivity,
        [make_weighted_counts(np.full(7, 3.0), np.full(4, 3.0)), make_weighted_counts(np.ones(5), np.ones(9))],
    )
    assert np.ravel(even) == pytest.approx([7, 4, 5, 9])


@pytest.mark.slow
def test_weighted_proportions_keep_the_significance_level() -> None:
    # With the variance of each sample alone: 16% false alarms.
    rng, runs, alarms = np.random.default_rng(2), 400, 0
    for _ in range(runs):
        weights = [np.exp(s * rng.normal(size=n)) for n, s in ((40, 1.2), (70, 0.3))]
        hit = [rng.random(len(each)) < 0.75 for each in weights]
        nouns = [make_weighted_counts(each[got], each[~got]) for each, got in zip(weights, hit, strict=True)]
        alarms += compare_samples(ComparisonRequest(sensitivity, Question()), nouns).p < 0.05
    assert alarms / runs < 0.065 + 2 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", ["auc", "brier", "ks", "partial_auc", "sensitivity", "mcc"])
def test_unpaired_comparisons_are_symmetric_and_scale_invariant(name: str) -> None:
    a, b = sample(1, 60), sample(2, 80, 0.5)
    for first, second in ((a, b), (b, a)):
        result, turned = (compare_unpaired(*pair, measure=name) for pair in ((first, second), (second, first)))
        assert (turned.difference.low, turned.difference.high) == (-result.difference.high, -result.difference.low)
        assert turned.p == result.p
    truth, score, weight = np.arange(60) % 3 == 0, np.arange(60) * 7 % 60 / 60, np.linspace(0.1, 3, 60)
    units = [Tally.of_rows(truth, score, weight=weight * unit) for unit in (1, 7, 0.3)]
    result, *scaled = (compare_unpaired(each, b, measure=name) for each in units)
    for each in scaled:
        assert each.p == pytest.approx(result.p)
        assert each.difference.low == pytest.approx(result.difference.low)


@pytest.mark.slow
def test_pooled_scores_vary_as_much_as_all_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_model_bootstrap, "MAX_SAMPLES", 999)
    rng = np.random.default_rng(7)
    a, b = (tally(truth, 1 / (1 + np.exp(-(truth + rng.normal(size=800))))) for truth in rng.random((2, 800)) < 0.4)
    exact = compare_unpaired(a, b, measure="brier", question=Question(method="resample"))
    monkeypatch.setattr(_model_bootstrap, "POOLED_RANKS", 100)
    monkeypatch.setattr(_unpaired_comparison, "POOLED_RANKS", 100)
    pooled = compare_unpaired(a, b, measure="brier", question=Question(method="resample"))
    assert "pooled into 100 ranks" in pooled.test
    assert "pooled" not in exact.test
    assert pooled.values == exact.values
    wide = exact.difference.high - exact.difference.low
    assert pooled.difference.high - pooled.difference.low == pytest.approx(wide, rel=0.15)
    assert pooled.difference.low == pytest.approx(exact.difference.low, abs=0.15 * wide)


def test_a_sample_does_not_differ_from_itself() -> None:
    a = sample(1)
    for name in ("auc", "sensitivity"):
        result = compare_unpaired(a, a, measure=name)
        assert (result.difference.value, result.p) == (0, 1)
        assert result.difference.low < 0 < result.difference.high


def test_unpaired_is_less_precise_than_paired() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(200) < 0.5
    observed = truth + rng.normal(size=200)
    score = {name: observed + rng.normal(size=200) / 3 for name in ("a", "b")}
    (paired,) = compare(Rows(truth, score))
    loose = compare_unpaired(*(tally(truth, each) for each in score.values()))
    assert loose.difference.high - loose.difference.low > 2 * (paired.difference.high - paired.difference.low)


def test_two_perfect_samples_have_limits() -> None:
    perfect = Tally.from_counts([1.0, 0.0], [[10, 0], [0, 10]])
    result = compare_unpaired(perfect, perfect)
    assert (result.difference.value, result.p) == (0, 1)
    assert result.difference.low < -0.05
    constant = Tally.from_counts([1.0], [[10], [10]])
    result = compare_unpaired(perfect, constant)
    assert 0 < result.p < 0.05


@pytest.mark.parametrize("name", ["auc", "gini", "ks", "average_precision"])
def test_a_small_perfect_sample_is_no_strong_evidence(name: str) -> None:
    perfect, good = Tally.from_counts([1.0, 0.0], [[3, 0], [0, 3]]), sample(1, 400, 3.0)
    result = compare_unpaired(perfect, good, measure=name)
    assert result.difference.low < 0 < result.difference.value
    assert result.p > 0.2
    turned = compare_unpaired(good, perfect, measure=name)
    assert turned.p == pytest.approx(result.p, rel=0.1)
    # That constant scores have an AUC of 1/2 is sure.
    constant = Tally.from_counts([1.0], [[3], [3]])
    assert compare_unpaired(good, constant).test == "DeLong, unpaired, Welch's t"


def test_losses_of_a_single_row_have_no_interval() -> None:
    one, many = tally([1], [0.5]), sample(1)
    loss = compare_unpaired(one, many, measure="log_loss")
    assert isnan(loss.p)
    assert loss.why == "these rows show no variance"
    assert compare_unpaired(one, many, measure="brier", question=Question(method="resample")).p > 0.2


def test_invalid_and_undefined_comparisons() -> None:
    assert isnan(compare_unpaired(Tally.from_counts([], [[], []]), sample(1), measure="sensitivity").p)
    a = sample(1)
    with pytest.raises(OptionError, match="is of type list; expected Tally, or a pair"):
        compare_unpaired(a, [1, 2])  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="on the same rows"):
        compare_unpaired(a, a, measure="accuracy", question=Question(method="mcnemar"))
    with pytest.raises(OptionError, match="DeLong's test compares areas"):
        compare_unpaired(a, a, measure="accuracy", question=Question(method="delong"))
    one = Tally.from_counts([0.5], [[3], [0]])
    result = compare_unpaired(a, one)
    assert isnan(result.p)
    assert result.why == "second: there are no negatives"
    wild = tally([1, 0], [3.0, -2.0])
    with pytest.raises(OptionError, match="not probabilities; give threshold="):
        compare_unpaired(a, wild, measure="accuracy")


def classes(seed: int = 0, size: int = 200, width: int = 3) -> tuple[MulticlassRows, MulticlassRows]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, width, size)
    observed = rng.normal(size=(size, width)) + np.eye(width)[truth]
    a, b = (np.round(observed + rng.normal(size=(size, width)), 1) for _ in range(2))
    labels = tuple("abcdefgh"[:width])
    return MulticlassRows(truth, a, labels), MulticlassRows(truth, b, labels)


def test_influence_is_a_derivative() -> None:
    rows, _ = classes(size=40)
    rng = np.random.default_rng(1)
    weight = rng.random(40) + 0.5
    weighted = MulticlassRows(rows.truth, rows.score, rows.labels, weight=weight)
    result = hand_till_slopes(weighted)
    for at in range(0, 40, 7):
        more = weight.copy()
        more[at] *= 1 + 1e-6
        other = MulticlassRows(rows.truth, rows.score, rows.labels, weight=more)
        slope = (multiclass.hand_till(other) - multiclass.hand_till(weighted)) / 1e-6
        assert result[at] == pytest.approx(slope, abs=1e-7)
    assert result.sum() == pytest.approx(0, abs=1e-12)


def test_two_classes_are_delong() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(80) < 0.4
    a, b = (1 / (1 + np.exp(-(truth + rng.normal(size=80)))) for _ in range(2))
    (two,) = compare(Rows(truth, {"first": a, "second": b}))
    many = compare_classes(*(class_scores(truth.astype(int), np.column_stack([1 - each, each])) for each in (a, b)))
    assert many.statistic == pytest.approx(two.statistic, rel=1e-9)
    assert many.difference.low == pytest.approx(two.difference.low, rel=1e-9)
    assert many.p == pytest.approx(two.p, rel=1e-9)


@pytest.mark.slow
def test_closed_forms_of_many_classes_agree_with_the_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_model_bootstrap, "MAX_SAMPLES", 999)
    a, b = classes()
    weight = np.random.default_rng(2).random(len(a)) + 0.5
    for one, other in ((a, b), [MulticlassRows(each.truth, each.score, each.labels, weight=weight) for each in (a, b)]):
        closed = compare_classes(one, other)
        bootstrapped = compare_classes(one, other, question=Question(method="resample"))
        wide = closed.difference.high - closed.difference.low
        assert bootstrapped.difference.high - bootstrapped.difference.low == pytest.approx(wide, rel=0.1)
        assert bootstrapped.p == pytest.approx(closed.p, abs=0.05)
        # Some 180 rows: t quantiles, which are close to normal ones.
        assert 2 * norm.sf(abs(closed.statistic)) < closed.p < 2 * norm.sf(0.97 * abs(closed.statistic))


@pytest.mark.parametrize("name", ["hand_till", "accuracy", "mcc", "kappa", "top_2_accuracy"])
def test_class_comparisons_are_symmetric_and_count_repetition(name: str) -> None:
    a, b = classes(size=60)
    result = compare_classes(a, b, measure=name)
    order = np.random.default_rng(0).permutation(60)
    shuffled = [MulticlassRows(each.truth[order], each.score[order], each.labels) for each in (a, b)]
    assert repr(compare_classes(*shuffled, measure=name)) == repr(result)
    times = np.random.default_rng(1).integers(1, 3, 60)
    counted = [MulticlassRows(each.truth, each.score, each.labels, count=times) for each in (a, b)]
    long = [
        MulticlassRows(np.repeat(each.truth, times), np.repeat(each.score, times, axis=0), each.labels)
        for each in (a, b)
    ]
    assert repr(compare_classes(*counted, measure=name)) == repr(compare_classes(*long, measure=name))
    turned = compare_classes(b, a, measure=name)
    assert turned.p == pytest.approx(result.p)
    assert (turned.difference.low, turned.difference.high) == pytest.approx(
        (-result.difference.high, -result.difference.low)
    )
    same = compare_classes(a, a, measure=name)
    assert (same.difference.value, same.p) == (0, 1)


@pytest.mark.parametrize("name", ["hand_till", "top_2_accuracy", "mcc"])
def test_class_comparisons_ignore_rows_of_weight_zero(name: str) -> None:
    a, b = classes(size=60)
    left = [MulticlassRows(each.truth[20:], each.score[20:], each.labels) for each in (a, b)]
    expected = compare_classes(*left, measure=name)
    there = np.arange(60) >= 20
    counted = (MulticlassRows(each.truth, each.score, each.labels, count=there.astype(int)) for each in (a, b))
    assert repr(compare_classes(*counted, measure=name)) == repr(expected)
    weighted = (MulticlassRows(each.truth, each.score, each.labels, weight=there.astype(float)) for each in (a, b))
    assert repr(compare_classes(*weighted, measure=name)) == repr(expected)
    none = [MulticlassRows(each.truth[:0], each.score[:0], each.labels) for each in (a, b)]
    with pytest.raises(EmptyDataError, match="there are no rows"):
        compare_classes(*none, measure=name)


def test_two_perfect_models_of_many_classes() -> None:
    truth = np.repeat([0, 1, 2], 5)
    score = np.eye(3)[truth]
    jitter = np.linspace(0, 0.1, 45).reshape(15, 3)
    result = compare_classes(*(MulticlassRows(truth, score + each, ("a", "b", "c")) for each in (jitter, -jitter)))
    assert result.values == (1, 1)
    assert result.p == 1
    assert result.difference.low < -0.05


def test_two_models_of_many_classes_that_are_always_right() -> None:
    truth = np.repeat([0, 1, 2], 2)
    scores = (np.eye(3)[truth] * share + (1 - share) / 3 for share in (0.8, 0.5))
    first, second = (MulticlassRows(truth, score, ("a", "b", "c")) for score in scores)
    question = Question("better", margin=0.02)
    for name in ("top_k_accuracy", "brier"):
        result = compare_classes(first, second, measure=name, question=question)
        assert result.p > 0.1
        assert result.difference.high - result.difference.low > 0.5
    assert isnan(compare_classes(first, second, measure="log_loss").p)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: MulticlassRows(b.truth[::-1].copy(), b.score, b.labels), "the labels differ in"),
        (lambda b: MulticlassRows(b.truth[1:], b.score[1:], b.labels), "have 200 and 199 rows"),
        (lambda b: MulticlassRows(b.truth, b.score, ("x", "y", "z")), "different classes"),
        (lambda b: MulticlassRows(b.truth, b.score, b.labels, weight=np.ones(200)), "differ in weight"),
    ],
)
def test_class_comparisons_of_different_rows_raise(change: Any, message: str) -> None:  # noqa: ANN401
    a, b = classes()
    with pytest.raises(ShapeError, match=message):
        compare_classes(a, change(b))


def test_class_comparisons_by_other_measures_raise() -> None:
    a, b = classes()
    with pytest.raises(OptionError, match="does not apply to the multi-class measure mcc"):
        compare_classes(a, b, measure="mcc", question=Question(method="delong"))
    with pytest.raises(OptionError, match="expected MulticlassRows, or a pair"):
        compare_classes(a, None)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="is not a multi-class measure"):
        compare_classes(a, b, measure=MEASURES["auc"])


@pytest.mark.slow
def test_hand_till_comparisons_keep_the_significance_level() -> None:
    runs = 300
    rejected = sum(compare_classes(*classes(seed, size=60)).p < 0.05 for seed in range(runs))
    assert rejected / runs == pytest.approx(0.05, abs=3 * sqrt(0.05 * 0.95 / runs))


def test_models_with_equal_decisions_are_not_proven_equal() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 4, 20)
    score = rng.random((20, 4))
    sharper = score**2  # other scores, the same decisions
    result = compare_classes(class_scores(truth, score), class_scores(truth, sharper), measure="accuracy")
    assert (result.difference.value, result.p) == (0, 1)
    assert result.difference.low < -0.03 < 0.03 < result.difference.high


@pytest.mark.slow
def test_comparisons_of_many_classes_keep_the_significance_level() -> None:
    missed = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, 40)
        models = [class_scores(truth, 0.4 * np.eye(3)[truth] + rng.random((40, 3)), labels=[0, 1, 2]) for _ in "ab"]
        result = compare_classes(models[0], models[1], measure="accuracy")
        missed += not result.difference.low <= 0 <= result.difference.high
    assert missed <= 20


@pytest.mark.parametrize(
    "name",
    take_in_tiers(["brier", "ks", "average_precision", "log_loss", "brier_skill", "cap_area"]),
)
def test_few_rows_keep_the_significance_level(name: str) -> None:
    # By draws: 13% of KS with ten positives, 12% of Brier scores of ten rows.
    alarms = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        truth = np.arange(60) < 10
        score = 1 / (1 + np.exp(0.5 - truth - rng.normal(size=(2, 60))))
        result = compare_unpaired(*(tally(truth, each) for each in score), measure=name)
        alarms += result.p < 0.05
        assert (result.p < 0.05) is not (result.difference.low <= 0 <= result.difference.high)
    assert alarms <= 9
