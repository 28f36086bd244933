"""Measures for rare positives and short lists: SEDI, ROC distance, log AUC, trapezoid PR area, precision at k."""

from functools import partial
from itertools import permutations
from math import hypot, inf, isnan, log, nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import Counts, OptionError, infer, measure
from tests.cli.shell import run, write_people
from tests.schemas import read_results
from tests.strategies import Rows, few, rows, same, tables

near = partial(pytest.approx, rel=0, abs=1e-9)


def curve_of(sample: Rows) -> baserate.Curve:
    return baserate.curve(baserate.tally(*sample))


# Values of a ROC point


def test_sedi_has_the_value_of_yardstick() -> None:
    # Ferro and Stephenson's formula on the pathology data, in tests/testthat/test-class-sedi.R of yardstick 1.4.0.
    counts = Counts(tp=231, fp=32, fn=27, tn=54)
    h, f = 231 / 258, 1 - 54 / 86
    expected = (log(f) - log(h) - log(1 - f) + log(1 - h)) / (log(f) + log(h) + log(1 - f) + log(1 - h))
    assert measure.sedi(counts) == near(expected) == near(0.6986083257)


def test_roc_distance_is_that_of_the_point() -> None:
    # Yardstick 1.4.0 defines roc_dist as sqrt((1 - sens)^2 + (1 - spec)^2).
    assert measure.roc_distance(Counts(tp=231, fp=32, fn=27, tn=54)) == near(hypot(27 / 258, 32 / 86))


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        ((5, 0, 2, 9), 1),
        ((5, 3, 0, 9), 1),
        ((5, 0, 0, 9), 1),
        ((0, 3, 5, 9), -1),
        ((5, 9, 3, 0), -1),
        ((0, 9, 5, 0), -1),
    ],
)
def test_sedi_has_limits_where_a_cell_is_empty(cells: tuple[int, ...], value: float) -> None:
    assert measure.sedi(Counts(*cells)) == value
    # The limit: a vanishing share in the empty cells.
    tiny = Counts(*(cell or 1e-290 for cell in cells))
    assert measure.sedi(tiny) == pytest.approx(value, abs=0.02)


@given(tables(), st.integers(1, 1000))
def test_sedi_has_the_sign_of_youden_and_ignores_prevalence(c: Counts[float], times: int) -> None:
    sedi, youden = measure.sedi(c), measure.youden(c)
    if not isnan(sedi):
        assert np.sign(sedi) == np.sign(youden) or abs(youden) < 1e-12
    scaled = Counts(c.tp * times, c.fp, c.fn * times, c.tn)
    assert same(measure.sedi(scaled), sedi, within=1e-9)


# Log AUC


def test_log_auc_equals_the_examples_of_torchmetrics() -> None:
    # Computed by TorchMetrics 1.9.0, binary_logauc; the first is the example of its documentation.
    assert measure.log_auc([1, 0, 0, 0, 0], [0.75, 0.05, 0.05, 0.05, 0.05]) == near(1.0)
    assert measure.log_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) == near(0.5)


def test_log_auc_of_chance() -> None:
    assert measure.log_auc([1, 0], [0.5, 0.5]) == near(0.099 / log(100))
    assert measure.log_auc([1, 0], [0.5, 0.5], fpr=(0.25, 1)) == near(0.75 / log(4))


@given(rows(), st.tuples(st.floats(1e-4, 1), st.floats(1e-4, 1)).filter(lambda pair: pair[1] - pair[0] > 1e-3))
def test_log_auc_is_the_mean_sensitivity_over_the_logarithm(sample: Rows, interval: tuple[float, float]) -> None:
    curve = curve_of(sample)
    value = measure.log_auc(curve, fpr=interval)
    columns = measure.table(curve, "roc")
    if isnan(value):
        assert sample.truth.all() or not sample.truth.any()
        return
    middle = np.geomspace(*interval, 20001)
    middle = np.sqrt(middle[1:] * middle[:-1])  # no point of the curve lies exactly there
    assert value == pytest.approx(np.interp(middle, columns["fpr"], columns["sensitivity"]).mean(), abs=2e-3)


@pytest.mark.parametrize("interval", [(0, 0.1), (0.1, 0.1), (0.2, 0.1), (0.1, 1.1), (nan, 1)])
def test_log_auc_needs_rates_above_zero(interval: tuple[float, float]) -> None:
    with pytest.raises(OptionError, match="has no logarithms; give 0 < low < high"):
        measure.log_auc([1, 0], [0.9, 0.1], fpr=interval)


# Trapezoid PR area


@given(rows())
def test_the_trapezoid_area_is_that_of_scikit_learn(sample: Rows) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    if not sample.truth.any():
        return
    precision, recall, _ = metrics.precision_recall_curve(sample.truth, sample.score)
    assert measure.pr_auc_trapezoid(curve_of(sample)) == near(metrics.auc(recall, precision))


@pytest.mark.parametrize("positives", [1, 10, 50, 100])
def test_the_trapezoid_area_flatters_constant_scores(positives: int) -> None:
    truth, score = np.arange(100) < positives, np.full(100, 0.5)
    share = positives / 100
    assert measure.pr_auc_trapezoid(truth, score) == near((1 + share) / 2)
    assert (measure.pr_auc(truth, score), measure.average_precision(truth, score)) == near((share, share))


def test_results_call_the_trapezoid_area_optimistic(tmp_path: Path) -> None:
    truth, score = [1, 0, 1, 0], [0.9, 0.6, 0.4, 0.1]
    note = "constant scores have 0.505 at a prevalence of 1%. Use average_precision or pr_auc."
    for summary in (measure.summary, infer.summary):
        notes = summary(truth, score, measures=["auc", "pr_auc_trapezoid"]).data["notes"]
        assert next(each for each in notes if "optimistic" in each).endswith(note)
        assert not any("optimistic" in each for each in summary(truth, score, measures=["pr_auc"]).data["notes"])
    people = write_people(tmp_path)
    for command in (("measure", "--score", "risk"), ("compare", "--score", "risk,old")):
        result = run(*command, people, "--truth", "sick", "--measures", "trapezoidal PR AUC")
        assert result.exit_code == 0
        assert note in result.stderr


# Top k


def test_precision_and_recall_at_k_have_the_values_of_torchmetrics() -> None:
    # Examples of retrieval_precision and retrieval_recall in the documentation of TorchMetrics 1.9.
    truth, score = [1, 0, 1], [0.2, 0.3, 0.5]
    assert measure.precision_at_k(truth, score, k=2) == 0.5
    assert measure.recall_at_k(truth, score, k=2) == 0.5


@given(rows(score=few, max_size=6), st.integers(1, 8))
def test_ties_at_k_have_the_mean_over_all_orders(sample: Rows, k: int) -> None:
    curve, size = curve_of(sample), len(sample.truth)
    hits = [
        sample.truth[sorted(order, key=lambda at: -sample.score[at])][:k].sum()
        for order in map(list, permutations(range(size)))
    ]
    expected, positives = float(np.mean(hits)), sample.truth.sum()
    assert measure.hits_at_k(curve, k=k) == pytest.approx(expected)
    assert measure.precision_at_k(curve, k=k) == pytest.approx(expected / min(k, size))
    assert same(measure.recall_at_k(curve, k=k), expected / positives if positives else nan, within=1e-9)


@given(rows())
def test_all_rows_are_the_top_when_k_is_large(sample: Rows) -> None:
    curve = curve_of(sample)
    assert measure.precision_at_k(curve, k=1000) == pytest.approx(sample.truth.mean())
    assert measure.hits_at_k(curve, k=1000) == pytest.approx(sample.truth.sum())
    recall = [measure.recall_at_k(curve, k=k) for k in range(1, len(sample.truth) + 1)]
    if sample.truth.any():
        assert (np.diff(recall) >= -1e-12).all()
        assert recall[-1] == pytest.approx(1)


def test_weights_reweight_the_share_of_rows_that_k_is() -> None:
    # The top 2 of 4 rows are half of the weight: the first row, and two thirds of the second.
    even = baserate.curve(baserate.tally([1, 0, 1, 0], [4, 3, 2, 1], weight=[1, 3, 1, 1]))
    assert measure.precision_at_k(even, k=2) == pytest.approx(1 / 3)
    assert measure.recall_at_k(even, k=2) == pytest.approx(1 / 2)


@pytest.mark.parametrize("k", [0, -1, 2.5, nan, inf])
def test_k_is_a_whole_number(k: float) -> None:
    for name in ("precision_at_k", "recall_at_k", "hits_at_k"):
        with pytest.raises(OptionError, match="expected a whole number of 1 or more"):
            getattr(measure, name)([1, 0], [0.9, 0.1], k=k)


@pytest.mark.parametrize("spelling", ["precision at 2", "precision_at_2", "Precision@2", "precision-at-2"])
def test_a_name_may_contain_k(spelling: str) -> None:
    found = measure.find_measure(spelling)
    assert measure.describe(found).name == "precision_at_2"
    assert measure.describe(found).summary == "Share of positives among the 2 rows with the highest scores."
    assert found([1, 0, 0], [0.9, 0.8, 0.1]) == 0.5


def test_precision_at_k_has_the_interval_of_a_proportion_of_k_rows() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.4
    score = rng.normal(size=400) + truth
    at_20 = infer.estimate("precision_at_20", truth, score)
    hits = at_20.value * 20
    like = infer.estimate("sensitivity", Counts(tp=hits, fn=20 - hits, fp=0, tn=0))
    assert (at_20.low, at_20.high) == near((like.low, like.high))
    number = infer.estimate("hits_at_20", truth, score)
    assert (number.low, number.high) == near((20 * like.low, 20 * like.high))
    # Equal weights are no weights.
    equal = infer.estimate("precision_at_20", baserate.tally(truth, score, weight=np.full(400, 3.0)))
    assert (equal.low, equal.high) == near((like.low, like.high))


@pytest.mark.parametrize("name", ["precision_at_15", "recall_at_15", "hits_at_15", "log_auc", "pr_auc_trapezoid"])
@pytest.mark.parametrize("prevalence", [None, 0.05])
def test_intervals_contain_their_value(name: str, prevalence: float | None) -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(300) < 0.3
    score = rng.normal(size=300) + truth
    estimate = infer.estimate(name, truth, score, prevalence=prevalence)
    assert estimate.low < estimate.value < estimate.high
    assert estimate.low == infer.estimate(name, truth[::-1], score[::-1], prevalence=prevalence).low


def test_the_shell_measures_at_k_and_at_a_threshold(tmp_path: Path) -> None:
    people = write_people(tmp_path)
    names = "precision_at_3,recall@3,sedi,roc_dist,log_auc"
    result = run("measure", people, "--truth", "sick", "--score", "risk", "--measures", names, "--json", "-q")
    rows = {row["measure"]: row for row in read_results(result.stdout)["rows"]}
    assert rows["precision_at_3"]["value"] == near(2 / 3)
    assert rows["recall_at_3"]["value"] == near(0.5)
    assert rows["sedi"]["low"] < rows["sedi"]["value"] < rows["sedi"]["high"]
    assert 0 < rows["roc_distance"]["low"] < rows["roc_distance"]["value"]
    page = run("measure", people, "--truth", "sick", "--score", "risk", "--measures", names, "-q")
    assert "precision at 3" in page.stdout
    assert "SEDI" in page.stdout
