"""Models on the same rows: laws for all data, and cases that reference implementations get wrong."""

from functools import partial
from math import isnan, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from scipy.special import ndtri, stdtrit
from sklearn.metrics import average_precision_score, brier_score_loss

from baserate import Costs, Rows, Tally, measure
from baserate._errors import EmptyDataError, OptionError, UnknownNameError, UsageError
from baserate._tally import ReadSummary
from baserate.infer import (
    Comparison,
    Question,
    _comparison,
    _mcnemar,
    _model_bootstrap,
    _paired_comparison,
    compare,
    tabulate_comparisons,
)
from baserate.infer._auc_intervals import auc_influence
from baserate.infer._binomial import normal_quantile
from baserate.infer._comparison import Side, interval_p, normal_p
from baserate.infer._model_bootstrap import unique_rows
from baserate.infer._variances import Units, stretch_percentiles
from baserate.measure import MEASURES, describe
from baserate.measure._registry import Settings
from tests import strategies

Array = npt.NDArray[Any]
BY_NOUN = (
    "auc",
    "gini",
    "average_precision",
    "ks",
    "accuracy",
    "sensitivity",
    "fpr",
    "precision",
    "f1",
    "mcc",
    "brier",
)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw less than users do, and take percentiles all the same: rough, but not biased."""
    monkeypatch.setattr(_model_bootstrap, "MAX_SAMPLES", 299)
    monkeypatch.setattr(_mcnemar, "N_TABLES", 1999)
    monkeypatch.setattr(_comparison, "_PERCENTILE_SAMPLES", 199)


def sample(size: int = 60, seed: int = 0, *, shift: float = 1.0, shared: float = 1.0) -> Rows:
    """Two models that see the same and something of their own; scores are probabilities with ties."""
    rng = np.random.default_rng(seed)
    truth = rng.random(size) < 0.4
    observed = rng.normal(size=size) * shared
    score = {name: _probable(truth * shift + observed + rng.normal(size=size)) for name in ("new", "old")}
    return Rows(truth, score)


def _probable(raw: Array) -> Array:
    return np.round(1 / (1 + np.exp(-raw)), 2)


def numbers(result: Comparison) -> list[float]:
    return [*result.values, result.difference.value, result.difference.low, result.difference.high, result.p]


RESAMPLED = Question(method="resample")
CLOSED = {"auc", "gini", "average_precision", "ks", "brier"}
"""Measures of `BY_NOUN` whose difference has a closed form."""
STATED = Settings(costs=Costs(fp=1, fn=5), at=0.2, specificity=0.8, sensitivity=0.8, precision=0.8)
"""What some measures need, and a name alone cannot state."""


@pytest.mark.parametrize("name", MEASURES)
def test_a_model_does_not_differ_from_itself(name: str) -> None:
    rows = sample()
    twice = Rows(rows.truth, {"a": rows.score["new"], "b": rows.score["new"]})
    (result,) = compare(twice, measure=STATED.apply(MEASURES[name]))
    assert result.difference.value == 0
    assert result.p == result.p_adjusted == 1
    assert (result.difference.low, result.difference.high) == (0, 0)


SLOW = ("smooth_ece", "e50", "e90", "emax")
"""Measures of smoothed curves, of which `ici` is the quick one."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in MEASURES]
)
def test_every_measure_is_compared(name: str) -> None:
    rows = sample()
    (result,) = compare(rows, measure=STATED.apply(MEASURES[name]))
    output = describe(MEASURES[name])
    d = result.difference
    assert d.value == result.values[0] - result.values[1]
    assert d.low <= d.value <= d.high
    assert 0 < result.p <= 1
    assert output.name == result.measure
    widest = output.span[1] - output.span[0]
    assert -widest <= d.low
    assert d.high <= widest


@pytest.mark.parametrize("name", ["auc", "average_precision", "brier", "ks", "partial_auc"])
@pytest.mark.parametrize("method", [None, "resample"])
def test_equal_ranks_or_scores_do_not_differ(name: str, method: str | None) -> None:
    rows = sample()
    score = rows.score["new"]
    other = score if name == "brier" else score**3 / 2  # it ranks alike, and is no copy
    (result,) = compare(Rows(rows.truth, {"a": score, "b": other}), measure=name, question=Question(method=method))
    assert (result.difference.value, result.p) == (0, 1)


def test_two_perfect_models_do_not_differ_and_have_wide_intervals() -> None:
    truth = np.repeat([True, False], 10)
    first, second = truth + np.arange(20) / 100, truth + np.arange(20)[::-1] / 100
    (result,) = compare(Rows(truth, {"a": first, "b": second}))
    assert result.values == (1, 1)
    assert (result.difference.value, result.p, result.statistic) == (0, 1, 0)
    # DeLong's variance is 0, yet ten rows of each class do not prove that both are perfect.
    assert result.difference.low < -0.05
    assert result.difference.high > 0.05


def test_perfect_models_with_equal_ranks_by_chance() -> None:
    truth = np.array([True, True, False])
    (result,) = compare(Rows(truth, {"a": np.array([0.9, 0.8, 0.1]), "b": np.array([0.7, 0.6, 0.2])}))
    assert (result.difference.value, result.p) == (0, 1)
    assert result.difference.low < -0.3


@pytest.mark.parametrize("name", ["average_precision", "ks", "partial_auc", "cap_area"])
def test_non_inferiority_of_perfect_models_is_not_certain(name: str) -> None:
    truth = np.repeat([True, False], 5)
    first, second = truth + np.arange(10) / 100, truth + np.arange(10)[::-1] / 100
    for other in (second, first**2):  # ranks that differ, and ranks that are alike by chance
        rows = Rows(truth, {"a": first, "b": other})
        (result,) = compare(rows, measure=name, question=Question("better", margin=0.02))
        assert result.difference.value == 0
        assert result.difference.low < -0.1
        assert result.p > 0.2
        assert "show no variance" in result.test or name == "ks"


def test_equal_contributions_of_few_rows_are_no_evidence() -> None:
    truth = np.array([True, False])
    score = {"a": np.where(truth, 0.9, 0.1), "b": np.where(truth, 0.6, 0.4)}
    (few,) = compare(Rows(truth, score), measure="brier")
    (many,) = compare(Rows(truth, score, count=np.array([500, 500])), measure="brier")
    assert few.difference.value == many.difference.value == pytest.approx(0.01 - 0.16)
    assert few.p > 0.5
    assert few.difference.low < 0 < few.difference.high
    assert many.p < 1e-6
    # A share of as many rows bounds what lies between 0 and 1; of a loss that has no bound nothing is known.
    (endless,) = compare(Rows(truth, score), measure="log_loss")
    assert isnan(endless.p)
    assert endless.why == "these rows show no variance"


@pytest.mark.parametrize("name", ["brier", "ks", "average_precision"])
def test_a_single_cluster_is_no_evidence(name: str) -> None:
    rows = sample()
    (result,) = compare(Rows(rows.truth, rows.score, cluster=np.zeros(60, dtype=int)), measure=name)
    assert result.p > 0.5
    assert result.difference.low < -0.3
    assert result.difference.high > 0.3


def test_rows_of_weight_or_count_zero_are_ignored() -> None:
    rows = sample()
    there = np.arange(60) % 3 > 0
    left = Rows(rows.truth[there], {name: score[there] for name, score in rows.score.items()})
    for name in ("auc", "brier", "mcc"):
        (expected,) = compare(left, measure=name)
        (counted,) = compare(Rows(rows.truth, rows.score, count=there.astype(int)), measure=name)
        (weighted,) = compare(Rows(rows.truth, rows.score, weight=there.astype(float)), measure=name)
        assert numbers(counted) == numbers(expected)
        assert numbers(weighted) == pytest.approx(numbers(expected))


def test_comparisons_without_rows_raise() -> None:
    nothing = np.zeros(0)
    for name in ("auc", "brier", "sensitivity"):
        with pytest.raises(EmptyDataError, match="there are no rows"):
            compare(Rows(nothing > 0, {"a": nothing, "b": nothing}), measure=name)
    rows = sample(4)
    grouped = Rows(rows.truth, rows.score, np.arange(4) // 2, (("m",), ("f",)), ("sex",), count=np.array([1, 1, 0, 0]))
    with pytest.raises(EmptyDataError, match="no rows for sex = f"):
        compare(grouped)


@pytest.mark.parametrize("side", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("value", [-0.3, -0.05, 0.2])
def test_p_values_of_normal_intervals_equal_the_normal_test(value: float, side: Side) -> None:
    def interval(level: float) -> tuple[float, float]:
        return value - 0.1 * normal_quantile(level), value + 0.1 * normal_quantile(level)

    assert interval_p(interval, value, side, -0.02) == pytest.approx(normal_p((value + 0.02) / 0.1, side))


def test_units_of_ranks_are_the_smaller_class_and_of_means_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    result: list[float] = []

    def units(observed: float) -> Units:
        result.append(observed)
        return Units(observed)

    monkeypatch.setattr(_paired_comparison, "Units", units)
    rows = sample(60)
    for name in ("ks", "brier"):
        compare(rows, measure=name, question=RESAMPLED)
    assert result == [int(rows.truth.sum()), 60]


def test_a_prior_compensates_for_samples_that_vary_too_little() -> None:
    low, high = stretch_percentiles((-1.0, 2.0), 0.0, Units(8, 4), 0.95)
    assert (low, high) == pytest.approx((stdtrit(11, 0.975) / ndtri(0.975) * np.array([-1, 2])).tolist())


def test_p_values_of_samples_on_one_side_of_the_value() -> None:
    # The interval is told with the value in it, from -0.1 to 0.3, so nothing speaks against 0.
    p = interval_p(lambda level: (0.2 - level / 10, 0.2 + level / 10), -0.1, "two-sided", 0.0)
    assert p == pytest.approx(1)


def test_a_perfect_model_against_a_constant_one_is_not_infinitely_precise() -> None:
    truth = np.repeat([True, False], 4)
    (result,) = compare(Rows(truth, {"a": truth.astype(float), "b": np.ones(8)}))
    # Neither has a variance of DeLong's: reference implementations give z = inf and p = 0.
    assert result.difference.value == 0.5
    assert 1e-6 < result.p < 1
    assert result.difference.low < result.difference.value < result.difference.high


@pytest.mark.parametrize("name", BY_NOUN)
def test_comparisons_are_symmetric_and_independent_of_row_order(name: str) -> None:
    rows = sample()
    shuffled = np.random.default_rng(5).permutation(len(rows))
    (result,) = compare(rows, measure=name)
    moved = Rows(rows.truth[shuffled], {model: score[shuffled] for model, score in rows.score.items()})
    assert numbers(compare(moved, measure=name)[0]) == numbers(result)
    (turned,) = compare(rows, measure=name, models=[("old", "new")])
    assert turned.difference.value == -result.difference.value
    assert turned.p == pytest.approx(result.p, rel=1e-12)
    assert (turned.difference.low, turned.difference.high) == (-result.difference.high, -result.difference.low)


@pytest.mark.parametrize("name", BY_NOUN)
def test_counts_are_repetition(name: str) -> None:
    rows = sample(40)
    times = np.random.default_rng(3).integers(1, 4, len(rows))
    counted = Rows(rows.truth, rows.score, count=times)
    long = Rows(np.repeat(rows.truth, times), {model: np.repeat(each, times) for model, each in rows.score.items()})
    assert numbers(compare(counted, measure=name)[0]) == numbers(compare(long, measure=name)[0])


@pytest.mark.parametrize("name", BY_NOUN)
def test_the_scale_of_weights_does_not_matter(name: str) -> None:
    rows = sample(40)
    weight = np.random.default_rng(3).random(len(rows)) + 0.5
    result, scaled = (
        compare(Rows(rows.truth, rows.score, weight=each), measure=name)[0] for each in (weight, 8 * weight)
    )
    assert numbers(result) == pytest.approx(numbers(scaled), rel=1e-9)
    # Equal weights are no weights, but for McNemar's test, which counts rows.
    even = compare(Rows(rows.truth, rows.score, weight=np.full(len(rows), 3.0)), measure=name)[0]
    plain = compare(rows, measure=name, question=Question() if name in CLOSED else RESAMPLED)[0]
    assert numbers(even) == pytest.approx(numbers(plain), rel=1e-9)


@pytest.mark.parametrize("name", BY_NOUN)
def test_clusters_of_one_row_equal_rows(name: str) -> None:
    rows = sample(80)
    single = Rows(rows.truth, rows.score, cluster=np.arange(len(rows))[::-1].copy())
    question = Question() if name in CLOSED else RESAMPLED
    plain, alone = (compare(each, measure=name, question=question)[0] for each in (rows, single))
    wide = [each.difference.high - each.difference.low for each in (plain, alone)]
    if name in {"auc", "gini"}:  # of clusters with Student's distribution
        wide[0] *= float(stdtrit(len(rows) - 1, 0.975) / ndtri(0.975))
    exact = name in {"auc", "gini", "brier"}
    assert wide[1] == pytest.approx(wide[0], rel=1e-9 if exact else 0.15)
    # Every row four times, all four in one cluster: nothing is learnt from the copies.
    four = Rows(
        np.tile(rows.truth, 4),
        {model: np.tile(score, 4) for model, score in rows.score.items()},
        cluster=np.tile(np.arange(len(rows)), 4),
    )
    copied = compare(four, measure=name)[0]
    assert copied.difference.value == pytest.approx(alone.difference.value)
    assert copied.difference.high - copied.difference.low == pytest.approx(wide[1], rel=1e-9)


def test_cluster_numbers_do_not_matter() -> None:
    rows = sample(60)
    cluster = np.arange(60) // 3
    renamed = np.random.default_rng(1).permutation(20)[cluster]
    for name in ("auc", "f1", "brier"):
        result = [compare(Rows(rows.truth, rows.score, cluster=each), measure=name)[0] for each in (cluster, renamed)]
        assert numbers(result[0]) == numbers(result[1])


def test_obuchowski_by_hand() -> None:
    rows = sample(60)
    cluster = np.arange(60) // 3
    cells = unique_rows(Rows(rows.truth, rows.score, cluster=cluster), ["new", "old"])
    pos, neg = rows.score["new"][rows.truth], rows.score["new"][~rows.truth]
    wins = np.where(pos[:, None] > neg, 1.0, np.where(pos[:, None] == neg, 0.5, 0.0))
    area = wins.mean()
    up = np.bincount(cluster[rows.truth], wins.mean(axis=1) - area, minlength=20)
    down = np.bincount(cluster[~rows.truth], wins.mean(axis=0) - area, minlength=20)
    many = [len(set(cluster[each])) for each in (rows.truth, ~rows.truth)]
    m, n = len(pos), len(neg)
    s10, s01 = many[0] / ((many[0] - 1) * m) * (up @ up), many[1] / ((many[1] - 1) * n) * (down @ down)
    s11 = 20 / 19 * (up @ down)
    expected = s10 / m + s01 / n + 2 * s11 / (m * n)
    assert auc_influence(cells, ["new", "old"]).covariance(0, 0) == pytest.approx(expected, rel=1e-12)


@given(strategies.rows(min_size=2), st.data())
def test_delong_is_the_variance_of_placements(data: strategies.Rows, other_scores: st.DataObject) -> None:
    other = np.asarray(other_scores.draw(strategies.like(data, strategies.few)), dtype=float)
    rows = Rows(data.truth, {"a": data.score, "b": other})
    (result,) = compare(rows)
    if data.truth.all() or not data.truth.any():
        assert isnan(result.p)
        assert result.why
        return
    placed = []
    for score in (data.score, other):
        pos, neg = score[data.truth], score[~data.truth]
        wins = np.where(pos[:, None] > neg, 1.0, np.where(pos[:, None] == neg, 0.5, 0.0))
        placed.append((wins.mean(axis=1), wins.mean(axis=0)))
    variance = sum(
        np.var(one - two, ddof=1) / len(one) if len(one) > 1 else np.nan for one, two in zip(*placed, strict=True)
    )
    assert 0 < result.p <= 1
    if variance > 1e-12:
        assert result.statistic == pytest.approx(result.difference.value / sqrt(variance), abs=1e-6)


def test_intervals_nest() -> None:
    rows = sample()
    for name in BY_NOUN:
        inner, outer = (
            compare(rows, measure=name, question=Question(level=level))[0].difference for level in (0.8, 0.99)
        )
        assert outer.low <= inner.low <= inner.high <= outer.high


def test_non_inferiority_by_delong() -> None:
    from scipy.stats import norm

    rows = sample(200)
    (plain,) = compare(rows)
    error = plain.difference.value / plain.statistic
    for margin in (-0.05, 0.0, 0.05, 0.1):
        (result,) = compare(rows, question=Question(alternative="better", margin=margin))
        assert result.alternative == "greater"
        assert result.p == pytest.approx(norm.sf((plain.difference.value + margin) / error), rel=1e-9)
        # The lower end of the 90% interval is above −margin exactly where p is below 5%.
        low = compare(rows, question=Question(level=0.9))[0].difference.low
        assert (result.p < 0.05) == (low > -margin)


def test_better_resolves_to_less_for_losses() -> None:
    rows = sample(200)
    (greater,), (less,), (better,) = (
        compare(rows, measure="brier", question=Question(alternative=way, margin=0.01))
        for way in ("greater", "less", "better")
    )
    assert better.p == less.p
    assert better.alternative == "less"
    plain = compare(rows, measure="brier", question=Question(alternative="greater"))[0]
    assert greater.p < plain.p  # the margin favours both
    with pytest.raises(OptionError, match="neither end of flag_rate is better"):
        compare(rows, measure="flag_rate", question=Question(alternative="better"))


def test_bootstrap_p_values_are_never_zero() -> None:
    truth = np.repeat([True, False], 200)
    good, bad = truth + np.arange(400) / 1000, np.arange(400) / 400
    rows = Rows(truth, {"good": good / 2, "bad": bad})
    for name in ("average_precision", "brier", "f1"):
        (result,) = compare(rows, measure=name, question=RESAMPLED)
        draws = _mcnemar.N_TABLES if name == "f1" else _model_bootstrap.MAX_SAMPLES
        assert result.p == pytest.approx(2 / (draws + 1))


def test_scores_of_few_bits_are_ranked_in_full() -> None:
    # In float32 the two scores of each pair would be one.
    base = 1 + np.arange(6) * 1e-9
    truth = np.array([True, False] * 3)
    rows = Rows(truth, {"a": base, "b": base[::-1].copy()})
    assert base.astype(np.float32).min() == base.astype(np.float32).max()
    (result,) = compare(rows)
    assert result.values == pytest.approx((1 / 3, 2 / 3))
    assert result.difference.value < 0


def test_gini_is_twice_the_area() -> None:
    rows = sample()
    area, gini, ratio = compare(rows, measure=["auc", "gini", "accuracy_ratio"])
    for each in (gini, ratio):
        assert each.p == pytest.approx(area.p)
        assert each.difference.low == pytest.approx(2 * area.difference.low)
        assert each.difference.value == pytest.approx(2 * area.difference.value)


@pytest.mark.parametrize("name", [pytest.param("average_precision", marks=pytest.mark.slow), "brier"])
def test_bootstrap_differences_agree_with_a_plain_bootstrap(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_model_bootstrap, "MAX_SAMPLES", 1999)
    rows = sample(300, seed=4)
    reference = {"average_precision": average_precision_score, "brier": brier_score_loss}[name]
    rng = np.random.default_rng(0)
    apart = []
    for _ in range(400):
        at = rng.integers(0, len(rows), len(rows))
        new, old = (reference(rows.truth[at], rows.score[model][at]) for model in ("new", "old"))
        apart.append(new - old)
    (result,) = compare(rows, measure=name)
    low, high = np.quantile(apart, [0.025, 0.975])
    wide = high - low
    assert result.difference.low == pytest.approx(low, abs=0.15 * wide)
    assert result.difference.high == pytest.approx(high, abs=0.15 * wide)


def test_many_rows_use_fewer_samples_and_state_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = sample(400, seed=2)
    monkeypatch.setattr(_model_bootstrap, "MAX_SAMPLES", 999)
    (full,) = compare(rows, measure="average_precision", question=RESAMPLED)
    monkeypatch.setattr(_model_bootstrap, "MAX_SAMPLES", _model_bootstrap.MIN_SAMPLES)
    monkeypatch.setattr(_comparison, "_PERCENTILE_SAMPLES", 999)
    (few,) = compare(rows, measure="average_precision", question=RESAMPLED)
    assert "normal with their standard deviation" in str(few.difference.how)
    assert "normal" not in str(full.difference.how)
    for one, other in ((few.difference.low, full.difference.low), (few.difference.high, full.difference.high)):
        assert one == pytest.approx(other, abs=0.15 * (full.difference.high - full.difference.low))
    assert few.p == pytest.approx(full.p, abs=0.08)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["average_precision", "ks", "brier", "log_loss", "partial_auc"])
def test_pooled_scores_vary_as_much_as_all_scores(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    truth = rng.random(1000) < 0.4
    observed = truth + rng.normal(size=1000)
    rows = Rows(truth, {model: 1 / (1 + np.exp(-observed - rng.normal(size=1000))) for model in ("new", "old")})
    (exact,) = compare(rows, measure=name, question=RESAMPLED)
    monkeypatch.setattr(_model_bootstrap, "_POOL_ABOVE", 500)
    monkeypatch.setattr(_model_bootstrap, "POOLED_RANKS", 200)
    (pooled,) = compare(rows, measure=name, question=RESAMPLED)
    assert "pooled into 200 ranks" in pooled.test
    assert pooled.values == exact.values
    wide = exact.difference.high - exact.difference.low
    # The same random weights for the same rows, so nearly the same draws.
    assert pooled.difference.low == pytest.approx(exact.difference.low, abs=0.1 * wide)
    assert pooled.difference.high == pytest.approx(exact.difference.high, abs=0.1 * wide)


def test_partial_area_by_an_option() -> None:
    rows = sample(100)
    part = partial(measure.partial_auc, fpr=(0, 0.2))
    (result,) = compare(rows, measure=part)
    first, second = (part(measure_curve(rows, model)) for model in ("new", "old"))
    assert result.values == (first, second)


def measure_curve(rows: Rows, model: str) -> Any:  # noqa: ANN401
    from baserate import curve

    return curve(Tally.of_rows(rows.truth, rows.score[model]))


def test_groups_are_compared_after_all_rows() -> None:
    rows = sample(90)
    group = np.arange(90) % 2
    by = Rows(rows.truth, rows.score, group=group, groups=(("f",), ("m",)), attributes=("sex",))
    result = compare(by, measure=["auc", "accuracy"])
    assert [each.group for each in result] == [None] * 2 + [(("sex", "f"),)] * 2 + [(("sex", "m"),)] * 2
    only = Rows(rows.truth[group == 1], {model: score[group == 1] for model, score in rows.score.items()})
    assert numbers(result[4]) == numbers(compare(only)[0])
    # Holm is over all six.
    least = min(each.p for each in result)
    assert next(each.p_adjusted for each in result if each.p == least) == pytest.approx(min(6 * least, 1))
    tidied = tabulate_comparisons(result).rows()
    assert tidied[2]["group"] == {"sex": "f"}
    assert tidied[1]["threshold"] == tidied[1]["other_threshold"] == 0.5


def test_comparisons_of_a_group_of_one_class_have_a_reason() -> None:
    rows = sample(30)
    group = rows.truth.astype(int)
    by = Rows(rows.truth, rows.score, group=group, groups=(("a",), ("b",)), attributes=("g",))
    everybody, first, second = compare(by)
    assert not isnan(everybody.p)
    assert everybody.p_adjusted == everybody.p
    assert (first.why, second.why) == ("there are no positives", "there are no negatives")
    assert isnan(first.difference.value)
    assert isnan(first.p)


def test_the_reason_names_the_undefined_model() -> None:
    rows = sample(30)
    (result,) = compare(rows, measure="precision", threshold={"new": 0.5, "old": np.inf})
    assert result.why == "old: nothing is flagged"
    assert isnan(result.p)


def test_comparisons_with_a_single_row_of_a_class_have_limits() -> None:
    (result,) = compare(Rows(np.array([True, False, False]), {"a": np.array([3.0, 2, 1]), "b": np.array([2.0, 3, 1])}))
    assert result.difference.value == 0.5
    assert -1 <= result.difference.low < 0.5 < result.difference.high <= 1
    assert 0.05 < result.p <= 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"models": ["new", "odl"]}, UnknownNameError, r"there is no model 'odl'\. Did you mean 'old'\?"),
        (
            {"models": ["new"]},
            OptionError,
            "comparing by auc requires two models, not 'new'; give two or more scores",
        ),
        ({"measure": "f1", "threshold": "high"}, OptionError, "give a number"),
        ({"measure": "f1", "threshold": {"newer": 1}}, UnknownNameError, "there is no model 'newer'"),
        ({"measure": []}, OptionError, "no measure"),
        ({"measure": "f1", "question": Question(method="delong")}, OptionError, "DeLong's test compares areas"),
        ({"measure": "auc", "question": Question(method="mcnemar")}, OptionError, "not auc"),
        ({"measure": "precision", "question": Question(method="mcnemar")}, OptionError, "not precision"),
        ({"seed": -1}, OptionError, "seed is -1"),
    ],
)
def test_impossible_comparisons_raise(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compare(sample(), **{"measure": "pr_auc" if "seed" in options else "auc"} | options)


def test_scores_that_are_no_probabilities_need_a_threshold() -> None:
    rows = sample()
    raw = Rows(rows.truth, {"new": rows.score["new"] * 10, "old": rows.score["old"]})
    with pytest.raises(OptionError, match=r"new runs from .* so its scores are not probabilities; give threshold="):
        compare(raw, measure="accuracy")
    (result,) = compare(raw, measure="accuracy", threshold={"new": 5})
    assert result.thresholds == (5, 0.5)
    assert numbers(result) == numbers(compare(rows, measure="accuracy")[0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": np.ones(60)}, "counts rows, and these have weights"),
        ({"cluster": np.arange(60)}, "requires independent rows"),
    ],
)
def test_mcnemar_of_unsuitable_rows_raises(changes: Any, message: str) -> None:  # noqa: ANN401
    rows = sample()
    other = Rows(rows.truth, rows.score, **changes)
    with pytest.raises(OptionError, match=message):
        compare(other, measure="accuracy", question=Question(method="mcnemar-exact"))
    assert "McNemar" not in compare(other, measure="accuracy")[0].test
    assert "McNemar" in compare(rows, measure="accuracy")[0].test


def test_labels_are_compared_only_by_tables() -> None:
    rows = sample()
    score = {**rows.score, "says": (rows.score["new"] > 0.7).astype(np.float32)}
    labelled = Rows(rows.truth, score, intake=ReadSummary(60, columns={"predicted": "says"}))
    assert [each.models for each in compare(labelled)] == [("new", "old")]
    result = compare(labelled, measure="accuracy")
    assert [each.models for each in result] == [("new", "old"), ("new", "says"), ("old", "says")]
    assert result[1].thresholds == (0.5, None)
    with pytest.raises(OptionError, match="says contains labels"):
        compare(labelled, models=["new", "says"])


def test_comparisons_of_other_types_raise() -> None:
    with pytest.raises(OptionError, match="needs the name of the column of labels"):
        compare({})
    rows = sample()
    with pytest.raises(OptionError, match="takes Rows, not Tally"):
        compare(Tally.of_rows(rows.truth, rows.score["new"]))


@pytest.mark.parametrize(
    "options",
    [
        {"alternative": "bigger"},
        {"margin": np.nan},
        {"margin": 0.1},
        {"margin": "0.1"},
        {"level": 95},
        {"level": "0.9"},
        {"method": "t-test"},
    ],
)
def test_invalid_questions_raise(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Question(**options)


@pytest.mark.slow
def test_paired_tests_keep_their_significance_level() -> None:
    # Two models that are equally good. A rate of 5% in 300 samples has a standard deviation of 1.3%.
    runs, rejected = 300, dict.fromkeys(("auc", "accuracy", "f1"), 0)
    for seed in range(runs):
        for result in compare(sample(80, seed), measure=list(rejected)):
            rejected[result.measure] += result.p < 0.05
    sd = sqrt(0.05 * 0.95 / runs)
    assert rejected["auc"] / runs == pytest.approx(0.05, abs=3 * sd)
    assert rejected["accuracy"] / runs < 0.05 + 3 * sd  # a discrete test may be below its level
    assert rejected["f1"] / runs < 0.05 + 3 * sd


def test_bootstrap_tests_keep_their_significance_level() -> None:
    runs, rejected, missed = 120, 0, 0
    for seed in range(runs):
        (result,) = compare(sample(80, seed), measure="brier")
        assert "normal" not in result.test
        rejected += result.p < 0.05
        missed += not result.difference.low <= 0 <= result.difference.high
    sd = sqrt(0.05 * 0.95 / runs)
    assert rejected / runs == pytest.approx(0.05, abs=3 * sd)
    assert missed / runs == pytest.approx(0.05, abs=3 * sd)


@pytest.mark.slow
def test_bootstrap_tests_of_clusters_keep_their_significance_level() -> None:
    # Twenty clusters of four rows that share what a model alone sees; few decisions differ, often all in one direction.
    runs, rejected = 250, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        truth = rng.random(80) < 0.4
        observed = truth + rng.normal(size=80)
        score = {name: _probable(observed + np.repeat(rng.normal(size=20), 4)) for name in ("new", "old")}
        (result,) = compare(Rows(truth, score, cluster=np.arange(80) // 4), measure="sensitivity")
        rejected += result.p < 0.05
    assert rejected / runs < 0.05 + 3 * sqrt(0.05 * 0.95 / runs)


def make_clustered_rows(seed: int, clusters: int) -> Rows:
    """Two models that are equally good, each with a mood of its own in each cluster."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), 8)
    truth = rng.random(len(cluster)) < 0.5
    score = {
        name: rng.normal(0, 1, clusters)[cluster] + 2 * truth + rng.normal(0, 1, len(cluster))
        for name in ("new", "old")
    }
    return Rows(truth, {name: 1 / (1 + np.exp(1 - each)) for name, each in score.items()}, cluster=cluster)


@pytest.mark.slow
def test_few_clusters_keep_the_significance_level() -> None:
    # With normal quantiles and percentiles as they are: 10% of areas, 14% of the others.
    alarms = dict.fromkeys(("auc", "brier", "f1"), 0)
    for seed in range(150):
        for result in compare(make_clustered_rows(seed, 8), measure=list(alarms), threshold=0.5):
            alarms[result.measure] += result.p < 0.05
    assert max(alarms.values()) <= 15, alarms


@pytest.mark.parametrize("clusters", [4, 30])
@pytest.mark.parametrize("name", ["auc", "brier", "average_precision", "f1"])
def test_intervals_agree_with_p_values(name: str, clusters: int) -> None:
    rows = make_clustered_rows(1, clusters)
    new = 0.95 * rows.score["new"] + 0.05 * rows.truth
    better = Rows(rows.truth, {"new": new, "old": rows.score["old"]}, cluster=rows.cluster)
    (result,) = compare(better, measure=name, threshold=0.5)
    for level, inside in ((1 - result.p * 1.01, False), (1 - result.p * 0.99, True)):
        (at,) = compare(better, measure=name, threshold=0.5, question=Question(level=level))
        assert (at.difference.low <= 0 <= at.difference.high) is inside
    assert 0.01 < result.p < 1


def test_each_measure_and_model_is_compared_once() -> None:
    result = compare(sample(40), measure=["recall", "sensitivity", "auc"], threshold=0.5)
    assert [each.measure for each in result] == ["sensitivity", "auc"]
    assert result[0].p == compare(sample(40), measure="recall", threshold=0.5)[0].p
