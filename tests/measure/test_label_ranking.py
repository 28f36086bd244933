"""Ranking of labels: coverage error, average precision, ranking loss and discounted gains of sets of labels."""

from functools import partial
from itertools import permutations
from math import isnan, log2
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import LabelSets, OptionError, infer, measure
from baserate.measure import multiclass
from tests.strategies import same

near = partial(pytest.approx, rel=0, abs=1e-10)
NAMES = ("coverage_error", "lrap", "label_ranking_loss", "dcg", "ndcg")


class Sample(NamedTuple):
    truth: npt.NDArray[Any]
    score: npt.NDArray[Any]
    weight: npt.NDArray[Any]

    @property
    def sets(self) -> LabelSets:
        return baserate.label_sets(self.truth, score=self.score, weight=self.weight)

    def only(self, where: Any) -> "Sample":  # noqa: ANN401  (a mask)
        return Sample(*(column[where] for column in self))


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Up to 8 rows of two to five labels, whose scores are often tied."""
    labels, size = draw(st.integers(2, 5)), draw(st.integers(1, 8))

    def matrix(values: st.SearchStrategy[float]) -> npt.NDArray[Any]:
        row = st.lists(values, min_size=labels, max_size=labels)
        return np.array(draw(st.lists(row, min_size=size, max_size=size)))

    truth = matrix(st.booleans()).astype(bool)
    weight = draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=size, max_size=size))
    return Sample(truth, matrix(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0])), np.array(weight))


# Values of peers


@given(samples())
def test_values_equal_those_of_scikit_learn(sample: Sample) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    some, mixed = sample.truth.any(axis=1), sample.truth.any(axis=1) & ~sample.truth.all(axis=1)
    # Rows without a value count as 0 or 1 there; the others agree.
    peers = {
        "coverage_error": (metrics.coverage_error, some | True),
        "lrap": (metrics.label_ranking_average_precision_score, some),
        "label_ranking_loss": (metrics.label_ranking_loss, mixed),
        "dcg": (metrics.dcg_score, some | True),
        "ndcg": (metrics.ndcg_score, some),
    }
    for name, (peer, rows) in peers.items():
        value = getattr(multiclass, name)(sample.sets)
        if not rows.any():
            assert isnan(value), name
            continue
        expected = peer(sample.truth[rows], sample.score[rows], sample_weight=sample.weight[rows])
        assert value == near(expected), name
    for k in (1, 2):
        assert multiclass.dcg(sample.sets, k=k) == near(
            metrics.dcg_score(sample.truth, sample.score, k=k, sample_weight=sample.weight)
        )


def test_examples_of_torchmetrics() -> None:
    # Computed by TorchMetrics 1.9.0 (multilabel_coverage_error, _ranking_average_precision, _ranking_loss).
    truth = [[1, 0, 0, 1], [0, 1, 0, 0], [1, 1, 0, 1]]
    score = [[0.6, 0.7, 0.1, 0.3], [0.3, 0.2, 0.9, 0.1], [0.5, 0.4, 0.45, 0.8]]
    sets = baserate.label_sets(truth, score=score)
    assert multiclass.coverage_error(sets) == pytest.approx(3.3333, abs=5e-5)
    assert multiclass.lrap(sets) == pytest.approx(0.6111, abs=5e-5)
    assert multiclass.label_ranking_loss(sets) == pytest.approx(0.5, abs=5e-5)


@pytest.mark.parametrize("truth", [[0, 1], [1, 0]])
def test_tied_labels_are_an_error(truth: list[int]) -> None:
    # TorchMetrics 1.9.0 has 0 for one order of the labels and 1 for the other.
    assert multiclass.label_ranking_loss(baserate.label_sets([truth], score=[[0.2, 0.2]])) == 1


# Laws


@given(samples())
def test_values_agree_with_the_definitions(sample: Sample) -> None:
    """By loops over rows and pairs of labels."""
    rows: dict[str, list[float]] = {name: [] for name in NAMES[:3]}
    for true, score in zip(sample.truth, sample.score, strict=True):
        own = np.flatnonzero(true)
        rank = {k: int((score >= score[k]).sum()) for k in own}
        rows["coverage_error"].append(max(rank.values(), default=0))
        shares = [sum(score[j] >= score[k] for j in own) / rank[k] for k in own]
        rows["lrap"].append(float(np.mean(shares)) if shares else np.nan)
        pairs = [score[j] >= score[k] for k in own for j in np.flatnonzero(~true)]
        rows["label_ranking_loss"].append(float(np.mean(pairs)) if pairs else np.nan)
    for name, values in rows.items():
        assert same(multiclass.per_row(name, sample.sets), np.array(values), within=1e-12), name
        weight = np.where(np.isnan(values), 0, sample.weight)
        mean = np.nansum(np.array(values) * weight) / weight.sum() if weight.any() else np.nan
        assert same(getattr(multiclass, name)(sample.sets), mean, within=1e-12), name


@given(samples(), st.integers(1, 5))
def test_ties_have_the_mean_gain_over_all_orders(sample: Sample, k: int) -> None:
    one = sample.only(slice(0, 1))
    true, score = one.truth[0], one.score[0]
    gains = [
        sum(true[at] / log2(place + 2) for place, at in enumerate(sorted(order, key=lambda at: -score[at])[:k]))
        for order in permutations(range(len(true)))
    ]
    best = sum(1 / log2(place + 2) for place in range(min(k, int(true.sum()))))
    assert multiclass.dcg(one.sets, k=k) == near(float(np.mean(gains)))
    assert same(multiclass.ndcg(one.sets, k=k), np.mean(gains) / best if best else np.nan, within=1e-10)


@given(samples(), st.randoms())
def test_the_order_of_labels_and_the_scale_of_scores_do_not_matter(sample: Sample, random: Any) -> None:  # noqa: ANN401
    order = list(range(sample.truth.shape[1]))
    random.shuffle(order)
    other = baserate.label_sets(sample.truth[:, order], score=np.exp(sample.score[:, order]), weight=sample.weight * 8)
    for name in NAMES:
        assert same(getattr(multiclass, name)(sample.sets), getattr(multiclass, name)(other), within=1e-12), name


@given(samples())
def test_undefined_values_have_a_reason(sample: Sample) -> None:
    for name in NAMES:
        function, sets = multiclass.MEASURES[name], sample.sets
        value = function(sets)
        assert isnan(value) == (measure.undefined_reason(function, sets) is not None), name
        assert isnan(value) == any(getattr(sets, each) == 0 for each in measure.describe(function).needs), name
        low, high = measure.describe(function).span
        assert isnan(value) or low <= value <= high + 1e-12, name


def test_reasons() -> None:
    empty = baserate.label_sets([[0, 0], [0, 0]], score=[[0.1, 0.2], [0.3, 0.4]])
    assert infer.estimate("ndcg", empty).why == "no row has a label"
    full = baserate.label_sets([[1, 1]], score=[[0.1, 0.2]])
    assert "no pairs to rank" in str(infer.estimate("label_ranking_loss", full).why)
    with pytest.raises(OptionError, match="only decisions, no scores that rank the labels"):
        multiclass.ndcg(baserate.label_sets([[1, 0]], predicted=[[1, 0]]))
    with pytest.raises(OptionError, match="k is 0; expected a whole number of 1 or more"):
        multiclass.ndcg(full, k=0)


# Values of rows, and intervals


def test_values_of_rows_are_those_of_single_rows() -> None:
    sets = baserate.label_sets([[1, 1, 0], [0, 1, 0], [0, 0, 0]], predicted=[[1, 0, 0], [1, 1, 0], [0, 1, 0]])
    # TorchMetrics 1.9.0: multilabel_f1_score(…, multidim_average="samplewise", average="micro"), with 0 for 0/0.
    assert multiclass.per_row("f1", sets).tolist() == near([2 / 3, 2 / 3, 0])
    assert multiclass.per_row(measure.sensitivity, sets).tolist()[:2] == [0.5, 1]
    assert isnan(multiclass.per_row("recall", sets)[2])
    average = multiclass.average_over_classes("f1", "samples")(sets)
    assert average == near(np.mean(multiclass.per_row("f1", sets)))
    with pytest.raises(OptionError, match="auc is not a measure of each row"):
        multiclass.per_row("auc", sets)


@pytest.mark.parametrize("name", [*NAMES, "ndcg_at_2", "ndcg@2"])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_are_those_of_a_mean(name: str, *, weighted: bool) -> None:
    rng = np.random.default_rng(2)
    truth = rng.random((200, 4)) < 0.4
    weight = rng.choice([1.0, 2.0], 200) if weighted else None
    sets = baserate.label_sets(truth, score=rng.normal(size=(200, 4)) + truth, weight=weight)
    found = multiclass.find_measure(name)
    estimate, values = infer.estimate(found, sets), multiclass.per_row(found, sets)
    mass = np.where(np.isnan(values), 0, np.ones(200) if weight is None else weight)
    error = np.sqrt(np.nansum(mass**2 * (values - estimate.value) ** 2)) / mass.sum()
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * error, rel=0.06)
    assert estimate.low < estimate.value < estimate.high


def test_averages_over_samples_have_the_interval_of_a_mean() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random((300, 4)) < 0.4
    sets = baserate.label_sets(truth, predicted=truth ^ (rng.random((300, 4)) < 0.2))
    estimate = infer.estimate(multiclass.average_over_classes("jaccard", "samples"), sets)
    values = multiclass.per_row("jaccard", sets)
    assert estimate.value == near(np.nanmean(values))
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * np.nanstd(values) / np.sqrt(300), rel=0.06)
