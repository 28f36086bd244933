"""Ranking of the labels of each row: coverage error, average precision, ranking loss, discounted cumulative gain.

Each takes `LabelSets` with scores, and is a mean over rows. `per_row` returns the value of each row.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import inf
from typing import NamedTuple, Unpack

import numpy as np

from baserate._arrays import Bools, Floats, mean_defined, ratio
from baserate._counts import Counts
from baserate._domains import wrong_option
from baserate._errors import OptionError
from baserate._rows import LabelSets
from baserate.measure._measure import Measure, Values, describe, measure, normalize_name, unwrap_options
from baserate.measure._registry import as_measure
from baserate.measure.multiclass._scores import exact_match
from baserate.read import PredictionOptions, accepts_predictions

__all__ = [
    "coverage_error",
    "dcg",
    "label_ranking_loss",
    "lrap",
    "ndcg",
    "per_row",
]

_BLOCK = 1 << 16
"""Scores that fit the cache together with intermediate results."""


class _Ranks(NamedTuple):
    """Labels of each row around each label; equal scores share these numbers."""

    true: Bools
    above: Floats
    """Number of labels with a higher score."""
    reached: Floats
    """Number of labels with at least this score, itself included."""
    true_reached: Floats
    """Number of true labels with at least this score."""


@measure(
    "Mean number of top-scored labels that include all true labels of a row.",
    formula=r"\frac1n\sum_i\max_{k\in Y_i}r_{ik}",
    aliases=("label coverage", "coverage depth"),
    references=("tsoumakas2010",),
    values=Values("low", (0, inf), needs=("total",)),
)
def coverage_error(s: LabelSets) -> float:
    """Of equal scores all are included. The best value is the mean number of true labels; a row without any needs none,
    and has 0. Tsoumakas et al. count one less.

    >>> from baserate import label_sets
    >>> coverage_error(label_sets([[1, 0, 0], [0, 0, 1]], score=[[0.75, 0.5, 1], [1, 0.2, 0.1]]))
    2.5
    """
    return _mean_over_rows(coverage_error, s)


@measure(
    "Label ranking average precision: mean share of true labels among all with at least an equal score.",
    formula=r"\frac1n\sum_i\frac1{|Y_i|}\sum_{k\in Y_i}\frac{|\{j\in Y_i:r_{ij}≤r_{ik}\}|}{r_{ik}}",
    aliases=("label ranking average precision", "label ranking AP"),
    references=("tsoumakas2010",),
    values=Values("high", (0, 1), needs=("labelled",)),
)
def lrap(s: LabelSets) -> float:
    """Rows without true labels have no precision, and do not count; scikit-learn and TorchMetrics count them as 1.

    >>> from baserate import label_sets
    >>> sets = label_sets([[1, 0, 0], [0, 0, 1]], score=[[0.75, 0.5, 1], [1, 0.2, 0.1]])
    >>> round(lrap(sets), 10)
    0.4166666667
    """
    return _mean_over_rows(lrap, s)


@measure(
    "Share of pairs of a true and another label of a row in which the other has at least an equal score.",
    formula=r"\frac1n\sum_i\frac{|\{(k,j)\in Y_i×\bar Y_i:s_{ij}≥s_{ik}\}|}{|Y_i||\bar Y_i|}",
    aliases=("ranking loss",),
    references=("tsoumakas2010",),
    values=Values("low", (0, 1), needs=("label_pairs",)),
)
def label_ranking_loss(s: LabelSets) -> float:
    """Ties count as errors, as in the definition and in scikit-learn; TorchMetrics breaks them by the order of the
    labels. Rows with all labels or with none have no pairs, and do not count; both programs count them as 0.

    >>> from baserate import label_sets
    >>> label_ranking_loss(label_sets([[1, 0, 0], [0, 0, 1]], score=[[0.75, 0.5, 1], [1, 0.2, 0.1]]))
    0.75
    """
    return _mean_over_rows(label_ranking_loss, s)


@measure(
    "Discounted cumulative gain: true labels, each divided by the logarithm of its rank, summed per row.",
    formula=r"\frac1n\sum_i\sum_{k\in Y_i}1/\log_2(1+r_{ik})",
    aliases=("discounted cumulative gain",),
    references=("jarvelin2002",),
    values=Values("high", (0, inf), needs=("total",)),
)
def dcg(s: LabelSets, *, k: int | None = None) -> float:
    """Only the k labels with the highest scores count, by default all. Equal scores share the mean of their discounts,
    so the order of labels does not matter [@mcsherry2008]. The gain of each true label is 1.

    >>> from baserate import label_sets
    >>> sets = label_sets([[1, 0, 1]], score=[[0.9, 0.8, 0.1]])
    >>> round(dcg(sets), 10), round(dcg(sets, k=1), 10)
    (1.5, 1.0)
    """
    return _mean_over_rows(partial(dcg, k=k), s)


@measure(
    "Normalized discounted cumulative gain: that of a row, divided by that of the best order of its labels.",
    formula=r"\frac1n\sum_i DCG_i/\max DCG_i",
    aliases=("normalized discounted cumulative gain",),
    references=("jarvelin2002",),
    values=Values("high", (0, 1), needs=("labelled",)),
)
def ndcg(s: LabelSets, *, k: int | None = None) -> float:
    """Options are those of `dcg`. Rows without true labels have no best order, and do not count; scikit-learn counts
    them as 0.

    >>> from baserate import label_sets
    >>> round(ndcg(label_sets([[1, 0, 1]], score=[[0.9, 0.8, 0.1]])), 10)
    0.9197207891
    """
    return _mean_over_rows(partial(ndcg, k=k), s)


@accepts_predictions("label sets", at=1)
def per_row(measure: str | Measure, sets: LabelSets, /, **predictions: Unpack[PredictionOptions]) -> Floats:
    """Compute a measure for each row of sets of labels.

    TorchMetrics calls this ``multidim_average="samplewise"``. The mean over rows is the average "samples".

    Parameters
    ----------
    measure
        A measure of the 2×2 table, which each row has over its labels; or a measure of sets of labels that is a mean
        over rows. `functools.partial` sets its options.
    sets
        Sets of labels.

    Returns
    -------
    ndarray
        One value for each row; NaN if undefined.

    Examples
    --------
    >>> from baserate import label_sets
    >>> sets = label_sets([{"sea", "sky"}, {"sky"}, set()], predicted=[{"sea"}, {"sea", "sky"}, {"sky"}])
    >>> per_row("recall", sets).tolist(), per_row("exact_match", sets).tolist()
    ([0.5, 1.0, nan], [0.0, 0.0, 0.0])
    """
    measures: tuple[Measure, ...] = (*ROW_MEASURES, exact_match)
    own = {describe(each).name: each for each in measures}
    function = as_measure(
        own.get(normalize_name(measure).replace(" ", "_"), measure) if isinstance(measure, str) else measure
    )
    plain = unwrap_options(function)
    if plain in ROW_MEASURES:
        return row_values(function, sets)
    counts = sets.per_row()
    if plain is exact_match:
        return np.asarray((counts.fp + counts.fn) == 0, dtype=np.float64)
    if describe(function).of is not Counts:
        raise OptionError(
            f"{describe(function).name} is not a measure of each row",
            remedy="give a measure of the 2×2 table, or one of the ranking of labels.",
        )
    return np.asarray(function(counts))


def row_values(measure: Measure, s: LabelSets) -> Floats:
    """Return the value of each row under a measure of the ranking of labels; NaN if undefined."""
    options = measure.keywords if isinstance(measure, partial) else {}
    values = ROW_MEASURES[unwrap_options(measure)]
    return np.concatenate([values(ranks, **options) for ranks in _iterate_ranks(s)])


def _mean_over_rows(measure: Measure, s: LabelSets) -> float:
    return mean_defined(row_values(measure, s), 1.0 if s.weight is None else s.weight)


def _iterate_ranks(s: LabelSets) -> Iterator[_Ranks]:
    """Rank the labels of each row, in blocks of rows that fit the cache."""
    if s.score is None:
        raise OptionError("there are only decisions, no scores that rank the labels", remedy="give score too.")
    size = max(_BLOCK // max(len(s.labels), 1), 1)
    for start in range(0, max(len(s), 1), size):
        yield _rank_labels(s.truth[start : start + size], np.asarray(s.score[start : start + size], dtype=np.float64))


def _rank_labels(true: Bools, score: Floats) -> _Ranks:
    order = np.argsort(-score, axis=1, kind="stable")
    ranked, is_true = np.take_along_axis(score, order, axis=1), np.take_along_axis(true, order, axis=1)
    place = np.broadcast_to(np.arange(score.shape[1]), score.shape)
    first = np.ones(score.shape, dtype=np.bool_)
    first[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    last = np.ones(score.shape, dtype=np.bool_)
    last[:, :-1] = first[:, 1:]
    # Where the run of equal scores around each place begins, and where it ends.
    begins = np.maximum.accumulate(np.where(first, place, 0), axis=1)
    ends = np.minimum.accumulate(np.where(last, place, score.shape[1])[:, ::-1], axis=1)[:, ::-1]
    hits = np.take_along_axis(np.cumsum(is_true, axis=1), ends, axis=1)
    return _Ranks(is_true, begins.astype(np.float64), ends + 1.0, hits.astype(np.float64))


def _coverage(ranks: _Ranks) -> Floats:
    return np.asarray(np.max(np.where(ranks.true, ranks.reached, 0.0), axis=1, initial=0.0))


def _average_precision(ranks: _Ranks) -> Floats:
    shares = np.where(ranks.true, ranks.true_reached / ranks.reached, 0.0)
    summed: Floats = shares.sum(axis=1)
    return ratio(summed, _count_true(ranks))


def _loss(ranks: _Ranks) -> Floats:
    wrong: Floats = np.where(ranks.true, ranks.reached - ranks.true_reached, 0.0).sum(axis=1)
    true = _count_true(ranks)
    return ratio(wrong, true * (ranks.true.shape[1] - true))


def _count_true(ranks: _Ranks) -> Floats:
    return np.asarray(ranks.true.sum(axis=1), dtype=np.float64)


def _gains(ranks: _Ranks, k: int | None = None) -> Floats:
    summed = _summed_discounts(ranks, k)
    above, reached = ranks.above.astype(np.intp), ranks.reached.astype(np.intp)
    mean = (summed[reached] - summed[above]) / (reached - above)
    return np.asarray(np.where(ranks.true, mean, 0.0).sum(axis=1))


def _normalized_gains(ranks: _Ranks, k: int | None = None) -> Floats:
    best: Floats = _summed_discounts(ranks, k)[ranks.true.sum(axis=1)]
    return ratio(_gains(ranks, k), best)


def _summed_discounts(ranks: _Ranks, k: int | None) -> Floats:
    """Return the sum of the discounts of the first 0, 1, 2, … ranks; those beyond k add nothing."""
    if k is not None and (k % 1 != 0 or k < 1):
        raise wrong_option("k", k, "a whole number of 1 or more")
    places = np.arange(ranks.true.shape[1])
    discounts = 1 / np.log2(places + 2.0)
    return np.concatenate([[0.0], np.cumsum(np.where(places < (len(places) if k is None else k), discounts, 0.0))])


ROW_MEASURES: Mapping[Measure, Callable[..., Floats]] = {
    coverage_error: _coverage,
    lrap: _average_precision,
    label_ranking_loss: _loss,
    dcg: _gains,
    ndcg: _normalized_gains,
}
"""Measures that are means over rows, and the values of the rows."""


def row_span(measure: Measure, s: LabelSets) -> tuple[float, float]:
    """Return the least and the greatest possible value of a row."""
    most = {coverage_error: float(len(s.labels)), dcg: float((1 / np.log2(np.arange(len(s.labels)) + 2.0)).sum())}
    return 0.0, most.get(unwrap_options(measure), 1.0)
