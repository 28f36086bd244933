"""Clustered rows: jackknife variances row by row, areas by hand, and invariances."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
import statsmodels.api as sm
from scipy.special import expit, logit, stdtrit

from baserate import OptionError, Rows, infer, read
from baserate.infer import _binomial, _bootstrap, _model_bootstrap
from baserate.measure import MEASURES, describe

SIZES = (3, 1, 4, 2, 5, 1, 6, 2, 3, 4, 2, 3)


def make_clustered_rows(seed: int, *, sizes: tuple[int, ...] = SIZES, weighted: bool = False) -> Rows:
    """Rows whose scores share what is peculiar to their cluster."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    truth = rng.random(len(cluster)) < 0.5
    own = rng.normal(0, 0.8, len(sizes))[cluster]
    score = np.round(1 / (1 + np.exp(-(own + truth + rng.normal(0, 0.5, len(cluster)) - 0.5))), 3)
    weight = rng.random(len(cluster)) + 0.5 if weighted else None
    return Rows(truth, {"risk": score}, cluster=cluster, weight=weight)


def bounds(measure: str, rows: Rows, **options: float) -> tuple[float, float, float]:
    result = infer.estimate(measure, rows, threshold=0.5 if describe(MEASURES[measure]).share else None, **options)  # type: ignore[call-overload]
    return result.value, result.low, result.high


def select_denominator(measure: str, rows: Rows) -> npt.NDArray[np.bool_]:
    """Rows that a share is of."""
    flagged = rows.score["risk"] >= 0.5
    return {"sensitivity": rows.truth, "precision": flagged, "accuracy": rows.truth | ~rows.truth}[measure]


def t_over_z(apart: npt.NDArray[np.float64]) -> float:
    """Quantile of t over that of z, with degrees of freedom by the kurtosis that SciPy estimates without bias."""
    kurtosis = float(scipy.stats.kurtosis(apart, bias=False))
    freedom = max(min(len(apart) - 1, 2 * len(apart) / (kurtosis + 2) - 1), 1.0)
    return float(stdtrit(freedom, 0.975)) / _binomial.normal_quantile(0.95)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("measure", ["sensitivity", "precision", "accuracy"])
def test_shares_have_the_jackknife_variance(measure: str, *, weighted: bool) -> None:
    rows = make_clustered_rows(1, weighted=weighted)
    assert rows.cluster is not None
    there = select_denominator(measure, rows)
    right = (rows.truth == (rows.score["risk"] >= 0.5))[there].astype(float)
    weight = np.ones(there.sum()) if rows.weight is None else rows.weight[there]
    cluster = rows.cluster[there]
    p = float(np.average(right, weights=weight))
    left_out = np.array(
        [np.average(right[cluster != c], weights=weight[cluster != c]) for c in np.unique(cluster).tolist()]
    )
    number = len(left_out)
    variance = (number - 1) / number * float(np.sum((left_out - left_out.mean()) ** 2))
    trials = p * (1 - p) / variance / t_over_z(left_out) ** 2
    low, high, _ = _binomial.proportion_interval(_binomial.Proportion(p * trials, (1 - p) * trials), 0.95)
    assert bounds(measure, rows) == pytest.approx((p, low, high), abs=1e-9)
    # Leaving clusters out sees a little more than the linearized variance of statsmodels.
    model = sm.WLS(right, np.ones_like(right), weights=weight)
    groups = np.unique(cluster, return_inverse=True)[1]
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True})
    assert 1 < variance / float(fit.bse[0]) ** 2 < 1.5


@pytest.mark.parametrize(
    ("measure", "threshold", "there", "back"),
    [
        ("auc", None, logit, expit),
        ("calibration_slope", None, lambda x: x, lambda x: x),
        ("observed_expected", None, np.log, np.exp),
        ("log_loss", None, np.log, np.exp),
        ("mcc", 0.5, np.arctanh, np.tanh),
        ("positive_likelihood_ratio", 0.5, np.log, np.exp),
        ("brier_skill", None, lambda x: np.log(1 - x), lambda x: 1 - np.exp(x)),
    ],
)
def test_jackknife_row_by_row(
    measure: str, threshold: float | None, there: Callable[[Any], Any], back: Callable[[Any], Any]
) -> None:
    rows = make_clustered_rows(5, sizes=(9, 6, 14, 5, 30, 8, 11, 7, 20, 10))
    assert rows.cluster is not None
    value = infer.estimate(measure, rows, threshold=threshold)
    left_out = np.array(
        [
            there(infer.estimate(measure, rows.only(np.flatnonzero(rows.cluster != c)), threshold=threshold).value)
            for c in range(10)
        ]
    )
    if measure == "auc":  # by the delta method
        areas = back(left_out)
        variance = 9 / 10 * np.sum((areas - areas.mean()) ** 2) / (value.value * (1 - value.value)) ** 2
        apart = areas
    else:
        variance, apart = 9 / 10 * np.sum((left_out - left_out.mean()) ** 2), left_out
    reach = _binomial.normal_quantile(0.95) * t_over_z(apart) * sqrt(variance)
    ends = sorted(float(back(there(value.value) + side * reach)) for side in (-1, 1))
    assert [value.low, value.high] == pytest.approx(ends, rel=1e-6)
    assert value.how is not None
    assert "jackknife" in value.how


@pytest.mark.parametrize("weighted", [False, True])
def test_masses_of_the_sample_give_the_value_of_every_measure(*, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    # Tied scores: each stands for many rows, which debiased calibration errors count.
    truth, score = rng.random(400) < 0.4, np.round(rng.random(400), 1)
    rows = Rows(
        truth, {"p": score}, weight=rng.integers(1, 4, 400) / 2 if weighted else None, cluster=np.arange(400) // 4
    )
    cells = _model_bootstrap.unique_rows(rows, ["p"])
    for prepare in (_model_bootstrap.SortedScores, _model_bootstrap.PooledScores):
        (tally,) = prepare.of(cells, "p").tallies(cells.mass[None])
        np.testing.assert_allclose(tally.squares, cells.tally("p").squares, rtol=1e-12)
        for name in ("rmsce_debiased", "ece", "auc", "brier"):
            result, expected = (_bootstrap.evaluate_tally(MEASURES[name], each) for each in (tally, cells.tally("p")))
            assert result == pytest.approx(expected, rel=1e-9)


def test_many_clusters_are_left_out_in_groups() -> None:
    rng = np.random.default_rng(8)
    truth = rng.random(1500) < 0.4
    score = expit(rng.standard_normal(1500) + truth)
    alone = infer.estimate("brier", Rows(truth, {"risk": score}))
    result = infer.estimate("brier", Rows(truth, {"risk": score}, cluster=np.arange(1500)))
    assert result.high - result.low == pytest.approx(alone.high - alone.low, rel=0.1)
    assert result == infer.estimate("brier", Rows(truth[::-1], {"risk": score[::-1]}, cluster=np.arange(1500)))


def test_clusters_without_misses_count_as_one_trial_each() -> None:
    rows = Rows(np.ones(24, dtype=bool), {"risk": np.full(24, 0.9)}, cluster=np.repeat(np.arange(8), 3))
    result = infer.estimate("sensitivity", rows, threshold=0.5)
    low, high = _binomial.clopper_pearson(8.0, 0.0, 0.95)
    assert (result.low, result.high) == (low, high)
    assert result.how == "Clopper–Pearson with the jackknife variance of 8 clusters"


def obuchowski_variance(rows: Rows) -> tuple[float, float]:
    """AUC and its clustered variance, straight from the definition (1997)."""
    assert rows.cluster is not None
    score, truth = rows.score["risk"], rows.truth
    wins = np.array([[(x > y) + 0.5 * (x == y) for y in score[~truth]] for x in score[truth]], dtype=float)
    of_positives, of_negatives = wins.mean(axis=1), wins.mean(axis=0)
    area = wins.mean()
    first, second = rows.cluster[truth], rows.cluster[~truth]
    total = 0.0
    of_both = []
    for kind, values in ((first, of_positives), (second, of_negatives)):
        there = np.unique(kind)
        sums = np.array([(values[kind == c] - area).sum() for c in there])
        total += len(there) / (len(there) - 1) * (sums**2).sum() / len(values) ** 2
        of_both.append(dict(zip(there.tolist(), sums.tolist(), strict=True)))
    every = np.union1d(first, second).tolist()
    cross = sum(of_both[0].get(c, 0.0) * of_both[1].get(c, 0.0) for c in every)
    both = len(every) / (len(every) - 1) * cross / (len(first) * len(second))
    return float(area), total + 2 * both


def test_auc_has_obuchowskis_variance() -> None:
    rows = make_clustered_rows(2, sizes=(3,) * 120)
    area, variance = obuchowski_variance(rows)
    result = infer.estimate("auc", rows)
    half = stdtrit(119, 0.975) * sqrt(variance) / (area * (1 - area))
    low, high = (1 / (1 + np.exp(-(np.log(area / (1 - area)) + side * half))) for side in (-1, 1))
    assert (result.value, result.low, result.high) == pytest.approx((area, low, high), rel=0.02)
    assert result.how is not None
    assert result.how.endswith("with the variance of 120 clusters")


def test_perfect_ranks_of_few_clusters_have_wide_intervals() -> None:
    truth = np.tile([True, True, False, False], 6)
    rows = Rows(truth, {"risk": truth.astype(float)}, cluster=np.repeat(np.arange(6), 4))
    alone = infer.estimate("auc", Rows(truth, rows.score))
    result = infer.estimate("auc", rows)
    # As of six positives and six negatives.
    six = np.tile([True, False], 6)
    assert result.low == infer.estimate("auc", Rows(six, {"risk": six.astype(float)})).low < alone.low
    assert result.high == 1


DECISIONS = ("f1", "sensitivity", "mcc", "youden")
EVERY = ["auc", "gini", "average_precision", "ks", "brier", "log_loss", "f1", "sensitivity", "mcc", "youden", "pr_auc"]


@pytest.mark.parametrize("measure", EVERY)
def test_intervals_do_not_depend_on_row_order_or_cluster_names(measure: str) -> None:
    rows = make_clustered_rows(3)
    assert rows.cluster is not None
    threshold = 0.5 if measure in DECISIONS else None
    expected = infer.estimate(measure, rows, threshold=threshold)
    order = np.random.default_rng(0).permutation(len(rows.truth))
    moved = Rows(rows.truth[order], {"risk": rows.score["risk"][order]}, cluster=(rows.cluster * -7 + 3)[order])
    assert infer.estimate(measure, moved, threshold=threshold) == expected
    # Twice the same row in the same cluster tells nothing new.
    twice = Rows(np.tile(rows.truth, 2), {"risk": np.tile(rows.score["risk"], 2)}, cluster=np.tile(rows.cluster, 2))
    counted = Rows(rows.truth, rows.score, cluster=rows.cluster, count=np.full(len(rows.truth), 2))
    assert infer.estimate(measure, twice, threshold=threshold) == infer.estimate(measure, counted, threshold=threshold)
    result = infer.estimate(measure, twice, threshold=threshold)
    assert (result.value, result.low, result.high) == pytest.approx(
        (expected.value, expected.low, expected.high), rel=1e-6
    )


@pytest.mark.parametrize("measure", EVERY)
def test_levels_nest_and_bounds_hold_the_value(measure: str) -> None:
    rows = make_clustered_rows(4, weighted=True)
    threshold = 0.5 if measure in DECISIONS else None
    inner, outer = (infer.estimate(measure, rows, threshold=threshold, level=level) for level in (0.8, 0.99))
    least, most = describe(MEASURES[measure]).span
    assert least <= outer.low <= inner.low <= inner.value <= inner.high <= outer.high <= most
    assert inner.low < inner.high


@pytest.mark.parametrize("measure", ["auc", "sensitivity", "f1", "brier", "average_precision"])
def test_correlation_within_clusters_widens_intervals(measure: str) -> None:
    rng = np.random.default_rng(5)
    truth = np.repeat(rng.random(40) < 0.5, 10)
    score = np.clip(np.repeat(0.4 + 0.2 * truth[::10] + rng.normal(0, 0.2, 40), 10), 0.01, 0.99)
    threshold = 0.5 if measure in ("f1", "sensitivity") else None
    alone = infer.estimate(measure, Rows(truth, {"risk": score}), threshold=threshold)
    result = infer.estimate(
        measure, Rows(truth, {"risk": score}, cluster=np.repeat(np.arange(40), 10)), threshold=threshold
    )
    assert result.value == alone.value
    assert result.high - result.low > 2 * (alone.high - alone.low)


def test_a_single_cluster_has_no_interval() -> None:
    rows = Rows(np.array([True, False, True]), {"risk": np.array([0.9, 0.2, 0.6])}, cluster=np.zeros(3, dtype=int))
    result = infer.estimate("auc", rows)
    assert result.value == 1
    assert np.isnan(result.low)
    assert result.why == "there is a single cluster"


def test_invalid_options_of_clustered_rows_raise() -> None:
    rows = make_clustered_rows(6)
    with pytest.raises(OptionError, match="method='wilson' is for independent rows"):
        infer.estimate("sensitivity", rows, threshold=0.5, method="wilson")
    two = Rows(rows.truth, {"one": rows.score["risk"], "two": rows.score["risk"]}, cluster=rows.cluster)
    with pytest.raises(OptionError, match=r"several models; use infer\.summary"):
        infer.estimate("auc", two)
    with pytest.raises(OptionError, match="method='wilson' is for independent rows"):
        infer.summary(rows, interval=infer.IntervalOptions(method="wilson"))


def test_summaries_take_each_group_and_model_with_its_clusters() -> None:
    rng = np.random.default_rng(7)
    table = {
        "sick": rng.integers(0, 2, 60),
        "one": rng.random(60).round(2),
        "two": rng.random(60).round(2),
        "site": rng.choice(["a", "b"], 60),
        "person": rng.integers(0, 15, 60),
    }
    rows = read.rows(table, truth="sick", score=["one", "two"], group="site", cluster="person")
    result = infer.summary(rows, measures=["auc", "f1"], threshold=0.5)
    assert result.data["interval"] == {"level": 0.95, "method": None, "seed": 0, "clusters": 15}
    for row in result.rows():
        if row["measure"] not in ("auc", "f1"):
            continue
        there = np.ones(60, dtype=bool) if row["group"] is None else table["site"] == row["group"]["site"]
        alone = Rows(table["sick"][there] == 1, {"x": table[row["model"]][there]}, cluster=table["person"][there])
        expected = infer.estimate(row["measure"], alone, threshold=0.5 if row["measure"] == "f1" else None)
        assert (row["value"], row["low"], row["high"]) == (expected.value, expected.low, expected.high)
    assert {row["model"] for row in result.rows()} == {"one", "two"}
    assert sum(row["measure"] == "auc" for row in result.rows()) == 6


@pytest.mark.slow
def test_intervals_of_few_clusters_cover() -> None:
    """Ten clusters of eight rows that share much, of which the truth is known."""
    missed = {"sensitivity": 0, "auc": 0, "f1": 0}
    everything = simulate(np.random.default_rng(0), 200_000)
    truths = {name: bounds_at(name, everything)[0] for name in missed}
    for seed in range(200):
        rows = simulate(np.random.default_rng(seed + 1), 10)
        for name, truth in truths.items():
            _, low, high = bounds_at(name, rows)
            missed[name] += not low <= truth <= high
    assert max(missed.values()) <= 20, missed


def bounds_at(name: str, rows: Rows) -> tuple[float, float, float]:
    if len(rows.truth) > 10_000:
        rows = Rows(rows.truth, rows.score)
    result = infer.estimate(name, rows, threshold=None if name == "auc" else 0.5)
    return result.value, result.low, result.high


def simulate(rng: np.random.Generator, clusters: int) -> Rows:
    cluster = np.repeat(np.arange(clusters), 8)
    truth = rng.random(len(cluster)) < 0.5
    logit = rng.normal(0, 1, clusters)[cluster] + 2 * truth - 1 + rng.normal(0, 1, len(cluster))
    return Rows(truth, {"risk": 1 / (1 + np.exp(-logit))}, cluster=cluster)


def test_distances_from_calibration_have_no_interval_and_lines_have() -> None:
    rows = make_clustered_rows(3, sizes=SIZES * 4)
    for name in ("ece", "smooth_ece", "brier_discrimination"):
        result, alone = infer.estimate(name, rows), infer.estimate(name, rows.tallies().tally)
        assert np.isnan(result.low)
        assert (result.value, result.why) == (alone.value, alone.why)
    value, low, high = bounds("calibration_slope", rows)
    assert low < value < high


def test_ks_of_clusters_covers_where_classes_have_equal_scores() -> None:
    """The greatest difference is above 0 by having been selected; a bias correction by random weights covered 36%."""
    rng = np.random.default_rng(6)
    cluster = np.repeat(np.arange(40), 10)
    covered = 0
    for _ in range(60):
        score = rng.normal(size=400) + 0.5 * rng.normal(size=40)[cluster]
        rows = Rows(rng.random(400) < 0.35, {"risk": score}, cluster=cluster)
        covered += infer.estimate("ks", rows).low == 0
    assert covered >= 54
