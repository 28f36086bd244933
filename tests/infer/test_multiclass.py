"""Intervals of rows with several classes, and of sets of labels."""

from dataclasses import replace
from functools import partial
from math import isnan, sqrt
from typing import Any, Literal

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import t as student, ttest_rel

from baserate import (
    Confusion,
    LabelSets,
    MulticlassRows,
    OptionError,
    class_scores,
    confusion,
    infer,
    measure,
    read,
    tally,
)
from baserate.infer import _binomial, _model_bootstrap, _multiclass, _variances
from baserate.measure import describe, multiclass
from baserate.measure.multiclass import average_over_classes
from tests.tiers import take_in_tiers

LABELS = ("a", "b", "c")
AVERAGES: list[tuple[str, Literal["macro", "weighted"]]] = [
    (inner, how) for inner in ("auc", "average_precision", "brier") for how in ("macro", "weighted")
]
OF_SCORES = ["brier", "log_loss", "hand_till", "ordinal_auc", "top_k_accuracy"]


def sample(seed: int, rows: int = 120, *, weighted: bool = False, counted: bool = False) -> MulticlassRows:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, rows, p=[0.5, 0.3, 0.2])
    score = np.exp(1.2 * np.eye(3)[truth] + rng.normal(size=(rows, 3)))
    weight = rng.random(rows) + 0.5 if weighted else None
    count = rng.integers(1, 4, rows) if counted else None
    return MulticlassRows(truth, np.round(score / score.sum(axis=1, keepdims=True), 3) + 1e-4, LABELS, weight, count)


def make_label_sets(seed: int, rows: int = 60, *, weighted: bool = False) -> LabelSets:
    rng = np.random.default_rng(seed)
    truth = rng.random((rows, 4)) < 0.4
    weight = rng.random(rows) + 0.5 if weighted else None
    return LabelSets(truth, tuple("abcd"), predicted=truth ^ (rng.random((rows, 4)) < 0.1), weight=weight)


def measures() -> dict[str, measure.Measure]:
    """Whatever takes rows of many classes."""
    result = {name: multiclass.MEASURES[name] for name in OF_SCORES}
    return (
        result
        | {f"{how} {inner}": average_over_classes(inner, how) for inner, how in AVERAGES}
        | {"macro ks": average_over_classes("ks", "macro")}
    )


EVERY = measures()


def bounds(name: str, rows: MulticlassRows | LabelSets, **options: Any) -> tuple[float, float, float]:  # noqa: ANN401
    result = infer.estimate(EVERY[name], rows, **options)
    assert result.why is None
    return result.value, result.low, result.high


def test_hits_have_the_interval_of_a_proportion() -> None:
    rows = sample(1)
    for k, top in ((2, multiclass.top_k_accuracy), (1, partial(multiclass.top_k_accuracy, k=1))):
        right = (np.argsort(-np.asarray(rows.score), axis=1)[:, :k] == rows.truth[:, None]).any(axis=1)
        low, high, how = _binomial.proportion_interval(
            _binomial.Proportion(float(right.sum()), float((~right).sum())), 0.95
        )
        result = infer.estimate(top, rows)
        assert (result.value, result.low, result.high, result.how) == (right.mean(), low, high, how)


def test_weighted_hits_have_linearized_trials() -> None:
    every = make_label_sets(2, weighted=True)
    assert every.weight is not None
    assert every.predicted is not None
    right = (every.predicted == every.truth).all(axis=1)
    w = every.weight
    p = float(np.average(right, weights=w))
    v = float(np.sum((w * (right - p)) ** 2) / w.sum() ** 2)
    trials = p * (1 - p) / v
    low, high, _ = _binomial.proportion_interval(_binomial.Proportion(p * trials, (1 - p) * trials), 0.9)
    result = infer.estimate("exact_match", every, level=0.9)
    assert (result.value, result.low, result.high) == pytest.approx((p, low, high), rel=1e-12)


@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_mean_losses_of_many_rows_have_the_usual_standard_error(name: str) -> None:
    rows = sample(3, 4000)
    # Too sure of itself, so that what is seen is more than what the probabilities let expect.
    score = np.asarray(rows.score) ** 2 / (np.asarray(rows.score) ** 2).sum(axis=1, keepdims=True)
    rows = replace(rows, score=score)
    losses = -np.log(score[np.arange(4000), rows.truth])
    if name == "brier":
        losses = ((score - np.eye(3)[rows.truth]) ** 2).sum(axis=1)
    value, low, high = bounds(name, rows)
    assert value == pytest.approx(losses.mean())
    assert (high - low) / 2 == pytest.approx(1.96 * losses.std() / sqrt(4000), rel=0.02)


def test_small_losses_by_luck_have_wide_intervals() -> None:
    rows = class_scores(["a"] * 50 + ["b"] * 50, np.repeat([[0.98, 0.02], [0.02, 0.98]], 50, axis=0))
    result = infer.estimate("log_loss", rows)
    assert result.value == pytest.approx(-np.log(0.98))
    assert result.high > 0.08  # one in fifty costs 3.9


def test_two_classes_have_the_auc_interval() -> None:
    rng = np.random.default_rng(4)
    truth = rng.random(150) < 0.3
    risk = np.round(1 / (1 + np.exp(-(truth + rng.normal(size=150)))), 2)
    rows = MulticlassRows(truth.astype(int), np.column_stack([1 - risk, risk]), ("no", "yes"))
    expected = infer.estimate("auc", tally(truth, risk))
    for name in ("hand_till", "macro auc", "weighted auc"):
        assert bounds(name, rows) == pytest.approx((expected.value, expected.low, expected.high), rel=1e-6)


@pytest.mark.parametrize("name", [f"{how} {inner}" for inner, how in AVERAGES] + ["hand_till"])
def test_row_influence_matches_finite_differences(name: str) -> None:
    rows = sample(5, 60, weighted=True)
    assert rows.weight is not None
    value = float(EVERY[name](rows))
    result = _multiclass.row_influence(EVERY[name], rows, value)
    assert result is not None
    slopes = result.slopes
    step = 1e-5
    for at in range(0, 60, 7):
        near = []
        for sign in (1, -1):
            weight = rows.weight.copy()
            weight[at] *= 1 + sign * step
            near.append(float(EVERY[name](replace(rows, weight=weight))))
        assert slopes[at] == pytest.approx((near[0] - near[1]) / (2 * step), abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", take_in_tiers([f"{how} {inner}" for inner, how in AVERAGES] + ["hand_till"], 3))
def test_closed_form_intervals_are_as_wide_as_bootstrap_intervals(name: str) -> None:
    rows = sample(6, 600)
    value, low, high = bounds(name, rows)
    bootstrapped = _multiclass._bootstrap_interval(EVERY[name], rows, value, 0.95, 1)  # noqa: SLF001
    assert high - low == pytest.approx(bootstrapped.high - bootstrapped.low, rel=0.15)
    assert bootstrapped.how == "Bayesian bootstrap, 500 samples"


@pytest.mark.quick(5)
@pytest.mark.parametrize("name", EVERY)
def test_intervals_of_row_measures_are_invariant(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_multiclass, "N_BOOTSTRAP", 60)
    rows = sample(7, weighted=True, counted=True)
    expected = bounds(name, rows)
    assert 0 <= expected[1] < expected[0] < expected[2]
    order = np.random.default_rng(1).permutation(len(rows))
    assert rows.weight is not None
    assert rows.count is not None
    turned = replace(
        rows, truth=rows.truth[order], score=rows.score[order], weight=rows.weight[order], count=rows.count[order]
    )
    assert bounds(name, turned) == pytest.approx(expected, rel=1e-12)
    assert bounds(name, replace(rows, weight=rows.weight * 32)) == pytest.approx(expected, rel=1e-12)
    inner = bounds(name, rows, level=0.6)
    assert expected[1] < inner[1] < inner[2] < expected[2]
    again = np.repeat(np.arange(len(rows)), rows.count)
    repeated = replace(rows, truth=rows.truth[again], score=rows.score[again], weight=rows.weight[again], count=None)
    same = 1e-9 if name != "macro ks" else 0.05  # other random numbers
    assert bounds(name, repeated) == pytest.approx(expected, rel=same)


@pytest.mark.parametrize("how", ["macro", "weighted", "micro"])
def test_averages_over_decisions_equal_those_of_the_table(how: Literal["macro", "weighted", "micro"]) -> None:
    rows = sample(8, 200)
    result = infer.estimate(average_over_classes("f1", how), rows.confusion())
    assert result.low < result.value < result.high
    # The same mass in a wider table of rows that nobody saw tells nothing.
    more = infer.estimate(average_over_classes("f1", how), Confusion(rows.confusion().mass * 16, LABELS))
    assert (more.high - more.low) == pytest.approx((result.high - result.low) / 4, rel=0.1)


def test_sets_of_labels_are_resampled_by_rows() -> None:
    every = make_label_sets(9)
    f1 = average_over_classes("f1", "macro")
    result = infer.estimate(f1, every)
    assert result.how == "Bayesian bootstrap, 500 samples"
    assert result.low < result.value < result.high
    assert every.predicted is not None
    order = np.random.default_rng(2).permutation(len(every))
    turned = replace(every, truth=every.truth[order], predicted=every.predicted[order])
    again = infer.estimate(f1, turned)
    assert (again.low, again.high) == pytest.approx((result.low, result.high), rel=1e-12)
    assert infer.estimate(f1, every, seed=1).low != result.low


def test_undefined_values_have_a_reason() -> None:
    rows = class_scores(["a", "a", "b", "b", "c"], np.random.default_rng(0).random((5, 3)), labels=LABELS)
    result = infer.estimate("hand_till", rows)
    assert not isnan(result.value)
    assert isnan(result.low)
    assert result.why == "a class has a single row"
    wrong = class_scores(["a", "b", "a"], [[0.0, 1.0], [0.5, 0.5], [0.5, 0.5]])
    result = infer.estimate("log_loss", wrong)
    assert (result.value, result.why) == (np.inf, "the value is infinite")
    alone = class_scores(["a"], [[0.5, 0.5]], labels=("a", "b"))
    assert infer.estimate("brier", alone).why == "there is a single row"


def test_measures_of_other_data_raise() -> None:
    with pytest.raises(OptionError, match="takes MulticlassRows, not Confusion"):
        infer.estimate("hand_till", sample(1).confusion())
    with pytest.raises(OptionError, match="leave it out: there is only one method"):
        infer.estimate("hand_till", sample(1), method="resample")


def test_the_registry_of_closed_forms_is_complete() -> None:
    assert all(_variances.has_influence(measure.find_measure(inner)) for inner, _ in AVERAGES)
    assert not _variances.has_influence(measure.find_measure("ks"))


def make_separated_rows(
    seed: int, rows: int, signal: float, *, power: float = 1.0, shares: tuple[float, ...] = (0.4, 0.3, 0.3)
) -> MulticlassRows:
    """Rows with normal scores and probabilities that are right, unless the power is not 1."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(shares), rows, p=shares)
    evidence = power * (signal * (signal * np.eye(len(shares))[truth] + rng.normal(size=(rows, len(shares)))))
    odds = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    return MulticlassRows(truth, odds / odds.sum(axis=1, keepdims=True), tuple("abcdef"[: len(shares)]))


def fourth_moment_freedom(parts: list[Any]) -> tuple[float, float]:
    """Variance and degrees of freedom of a sum over classes of what rows add, written out."""
    variances, doubts, usual = [], [], []
    for part in parts:
        r = len(part)
        v = r / (r - 1) * np.sum(part**2)
        variances.append(v)
        usual.append(v**2 / (r - 1))
        doubts.append(max((r / (r - 1)) ** 2 * np.sum(part**4) - v**2 / r, 0) / 2)
    return sum(variances), sum(variances) ** 2 / max(sum(usual), sum(doubts))


def test_hand_till_of_near_perfect_classes_is_narrow() -> None:
    rows = make_separated_rows(1, 200, 3.0)
    score, truth = np.asarray(rows.score), rows.truth
    added = np.zeros(200)
    for i in range(3):
        for j in set(range(3)) - {i}:
            own, other = np.flatnonzero(truth == i), np.flatnonzero(truth == j)
            wins = (score[own, i][:, None] > score[other, i]) + 0.5 * (score[own, i][:, None] == score[other, i])
            added[own] += (wins.mean(axis=1) - wins.mean()) / len(own) / 6
            added[other] += (wins.mean(axis=0) - wins.mean()) / len(other) / 6
    variance, freedom = fourth_moment_freedom([added[truth == k] for k in range(3)])
    value, low, high = bounds("hand_till", rows)
    middle = np.log(value / (1 - value))
    half = student.ppf(0.975, freedom) * sqrt(variance) / (value * (1 - value))
    assert (low, high) == pytest.approx((expit(middle - half), expit(middle + half)), rel=1e-9)
    assert high - low < 0.02


@pytest.mark.parametrize("name", ["hand_till", "macro auc", "weighted auc", "macro average_precision"])
@pytest.mark.parametrize("classes", [3, 5])
def test_perfectly_separated_classes_have_the_bound_of_the_smallest(name: str, classes: int) -> None:
    truth = np.repeat(np.arange(classes), [12] + [40] * (classes - 1))
    rows = MulticlassRows(truth, 0.8 * np.eye(classes)[truth] + 0.2 / classes, tuple("abcdef"[:classes]))
    value, low, high = bounds(name, rows)
    assert (value, high) == (1, 1)
    assert low == pytest.approx(1 - 2 / classes * (1 - 0.025 ** (1 / 12)))


def test_constant_scores_have_an_interval() -> None:
    rows = MulticlassRows(np.repeat([0, 1, 2], 20), np.full((60, 3), 1 / 3), LABELS)
    value, low, high = bounds("hand_till", rows)
    assert value == 0.5
    assert 0.3 < low < 0.5 < high < 0.7


def test_bias_of_average_precision_is_half_the_second_derivative() -> None:
    rows = sample(5, 60, weighted=True)
    assert rows.weight is not None
    step = 1e-3
    for name in ("macro average_precision", "weighted average_precision"):
        value = float(EVERY[name](rows))
        result = _multiclass.row_influence(EVERY[name], rows, value)
        assert result is not None
        bias = 0.0
        for at in range(60):
            near = []
            for sign in (1, -1):
                weight = rows.weight.copy()
                weight[at] *= 1 + sign * step
                near.append(float(EVERY[name](replace(rows, weight=weight))))
            bias += (near[0] - 2 * value + near[1]) / step**2 / 2
        # Shares of the classes have second derivatives too, which cancel on average.
        assert result.bias == pytest.approx(bias, abs=1e-6 if name.startswith("macro") else 3e-4)


@pytest.mark.parametrize("name", ["brier", "log_loss"])
def test_losses_of_underconfident_models_have_their_observed_variance(name: str) -> None:
    rows = make_separated_rows(2, 300, 2.5, power=0.3)
    score = np.asarray(rows.score)
    losses = -np.log(score[np.arange(300), rows.truth])
    if name == "brier":
        losses = ((score - np.eye(3)[rows.truth]) ** 2).sum(axis=1)
    variance, freedom = fourth_moment_freedom([(losses - losses.mean()) / 300])
    _, low, high = bounds(name, rows)
    assert high - low == pytest.approx(2 * student.ppf(0.975, freedom) * sqrt(variance), rel=0.02)


def test_macro_brier_is_the_brier_score_over_the_classes() -> None:
    rows = make_separated_rows(3, 150, 3.0)
    assert np.array(bounds("macro brier", rows)) == pytest.approx(np.array(bounds("brier", rows)) / 3)


@pytest.mark.slow
def test_near_perfect_and_rare_classes_are_covered() -> None:
    """Width of at most 1.6 times that of an ideal normal interval; the score set was 6 times as wide."""
    for signal, shares, rows in ((3.0, (0.4, 0.3, 0.3), 200), (1.5, (0.4, 0.32, 0.2, 0.08), 150)):
        truth = float(multiclass.hand_till(make_separated_rows(10_000, 200_000, signal, shares=shares)))
        result = np.array(
            [bounds("hand_till", make_separated_rows(seed, rows, signal, shares=shares)) for seed in range(200)]
        )
        assert np.mean((result[:, 1] <= truth) & (truth <= result[:, 2])) > 0.92
        assert np.median(result[:, 2] - result[:, 1]) < 1.6 * 3.92 * result[:, 0].std()


class TestComparisons:
    """Two models on the same rows."""

    @pytest.mark.parametrize("name", ["brier", "log_loss"])
    def test_losses_are_compared_by_a_paired_t_test(self, name: str) -> None:
        a, b = (make_separated_rows(4, 120, signal) for signal in (1.2, 1.0))
        b = replace(b, truth=a.truth)
        losses = [-np.log(np.asarray(each.score)[np.arange(120), a.truth]) for each in (a, b)]
        if name == "brier":
            losses = [((np.asarray(each.score) - np.eye(3)[a.truth]) ** 2).sum(axis=1) for each in (a, b)]
        result = infer.compare_classes(a, b, measure=name)
        expected = ttest_rel(*losses)
        assert result.statistic == pytest.approx(expected.statistic)
        apart = losses[0] - losses[1]
        variance, freedom = fourth_moment_freedom([(apart - apart.mean()) / 120])
        assert result.p == pytest.approx(2 * student.sf(abs(expected.statistic), freedom))
        half = student.ppf(0.975, freedom) * sqrt(variance)
        assert (result.difference.low, result.difference.high) == pytest.approx(
            (apart.mean() - half, apart.mean() + half)
        )
        assert result.test == "influence function, t quantiles"

    def test_counts_are_repetition(self) -> None:
        a, b = (sample(seed, 60, counted=True) for seed in (5, 6))
        b = replace(b, truth=a.truth, count=a.count)
        assert a.count is not None
        again = np.repeat(np.arange(60), a.count)
        long = [MulticlassRows(a.truth[again], each.score[again], LABELS) for each in (a, b)]
        for name in ("hand_till", "brier", "log_loss"):
            result, expected = infer.compare_classes(a, b, measure=name), infer.compare_classes(*long, measure=name)
            assert result.p == pytest.approx(expected.p, rel=1e-9)
            assert result.difference.low == pytest.approx(expected.difference.low, rel=1e-9)

    @pytest.mark.parametrize("name", take_in_tiers(["macro auc", "macro average_precision", "weighted brier"]))
    def test_comparisons_of_averages_agree_with_the_bootstrap(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_model_bootstrap, "MAX_SAMPLES", 499)
        a, b = (sample(seed, 400) for seed in (7, 8))
        b = replace(b, truth=a.truth)
        closed = infer.compare_classes(a, b, measure=EVERY[name])
        bootstrapped = infer.compare_classes(a, b, measure=EVERY[name], question=infer.Question(method="resample"))
        width = closed.difference.high - closed.difference.low
        assert bootstrapped.difference.high - bootstrapped.difference.low == pytest.approx(width, rel=0.15)

    def test_equal_confident_models_differ_in_one_of_twenty_samples(self) -> None:
        rejected = {"log_loss": 0, "hand_till": 0}
        for seed in range(300):
            truth = np.random.default_rng(seed).choice(3, 60, p=[0.4, 0.3, 0.3])
            models = []
            for which in (1, 2):
                noise = np.random.default_rng([seed, which]).normal(size=(60, 3))
                odds = np.exp(3 * 1.5 * (1.5 * np.eye(3)[truth] + noise))
                models.append(MulticlassRows(truth, odds / odds.sum(axis=1, keepdims=True), LABELS))
            for name in rejected:
                rejected[name] += infer.compare_classes(*models, measure=name).p < 0.05
        assert max(rejected.values()) <= 0.065 * 300


@pytest.mark.slow
def test_hand_till_covers() -> None:
    truth = _truth_of("hand_till")
    missed = 0
    for seed in range(200):
        _, low, high = bounds("hand_till", sample(seed, 80))
        missed += not low <= truth <= high
    assert missed <= 20


def _truth_of(name: str) -> float:
    return float(EVERY[name](sample(10_000, 200_000)))


class TestSummaries:
    """`multiclass_summary`: every number of the plain one, each with its interval."""

    def test_values_equal_those_of_the_plain_summary(self) -> None:
        rows = sample(11)
        plain = multiclass.summary(rows).rows()
        result = infer.multiclass_summary(rows)
        assert [(row["measure"], row["class"], row["average"], row["value"]) for row in result.rows()] == [
            (row["measure"], row["class"], row["average"], row["value"]) for row in plain
        ]
        assert result.data["interval"] == {"level": 0.95, "method": None, "seed": 0, "clusters": None}
        for row in result.rows():
            if row["measure"] in ("cell", *multiclass.PAIRS):
                assert row["low"] is None
            elif row["value"] is not None and row["why"] is None:
                assert row["low"] <= row["value"] <= row["high"], row

    def test_proportions_of_a_class_equal_those_of_its_own_table(self) -> None:
        columns = {"is": [*"abaccbaa"], "called": [*"aaacbbca"]}
        table = confusion(columns["is"], columns["called"])
        read_ = read.confusions(columns, truth="is", predicted="called")
        result = infer.multiclass_summary(
            read_, measures=["sensitivity", "accuracy"], interval=infer.IntervalOptions(0.8, "wilson")
        )
        rows = [row for row in result.rows() if row["measure"] == "sensitivity" and row["class"] is not None]
        assert len(rows) == 3
        for at, row in enumerate(rows):
            counts = table.one_vs_rest()[at]
            low, high = _binomial.wilson(float(counts.tp), float(counts.fn), 0.8)
            assert (row["low"], row["high"], row["level"]) == (low, high, 0.8)
            assert row["how"] == "Wilson"

    def test_a_method_that_no_measure_has_raises(self) -> None:
        with pytest.raises(OptionError, match="method='delong' makes no interval of"):
            infer.multiclass_summary(
                sample(1), measures=["kappa", "f1"], interval=infer.IntervalOptions(method="delong")
            )

    def test_multiclass_summary_of_groups(self) -> None:
        rows = sample(12)
        sex = np.arange(len(rows)) % 2
        grouped = replace(rows, group=sex, groups=(("f",), ("m",)), attributes=("sex",))
        result = infer.multiclass_summary(grouped, measures=["brier"])
        for row in result.rows():
            if row["measure"] == "brier" and row["group"] is not None:
                there = sex == ("f", "m").index(row["group"]["sex"])
                alone = MulticlassRows(rows.truth[there], rows.score[there], LABELS)
                assert (row["value"], row["low"], row["high"]) == pytest.approx(bounds("brier", alone))
        assert sum(row["measure"] == "brier" for row in result.rows()) == 3


def test_averages_store_the_type_of_their_argument() -> None:
    assert describe(average_over_classes("auc", "macro")).of is MulticlassRows
