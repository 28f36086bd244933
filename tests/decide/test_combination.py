"""Weights of two scores: the highest AUC of all directions, its cross-validation, and errors."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from baserate import (
    MissingValuesError,
    NotBinaryError,
    OptionError,
    Rows,
    UnknownNameError,
    curve,
    decide,
    measure,
    read,
    tally,
)
from baserate.decide._combination import _assign_folds, _build_plane
from tests.strategies import Array, few

level = st.integers(-3, 3).map(float)
eighths = st.integers(-8000, 8000).map(lambda each: each / 8)
"""Many values, of which weighted sums are not rounded much."""
weight = st.sampled_from([0.1, 0.5, 1.0, 3.0])


class TwoScores(NamedTuple):
    truth: Array
    a: Array
    b: Array

    def rows(self, **more: Array) -> Rows:
        return Rows(truth=self.truth, score={"a": self.a, "b": self.b}, **more)  # type: ignore[arg-type]

    def area(self, one: float, other: float, **more: Array) -> float:
        return measure.auc(curve(tally(self.truth, one * self.a + other * self.b, positive=True, **more)))


@st.composite
def two_scores(draw: st.DrawFn, score: st.SearchStrategy[float] = level, max_size: int = 14) -> TwoScores:
    size = draw(st.integers(2, max_size))

    def column(values: st.SearchStrategy[float]) -> Array:
        return np.array(draw(st.lists(values, min_size=size, max_size=size)))

    truth = np.array([True, False, *draw(st.lists(st.booleans(), min_size=size - 2, max_size=size - 2))])
    return TwoScores(truth, column(score), column(score))


def all_directions(sample: TwoScores, *, positive: bool = False) -> list[tuple[float, float]]:
    """List a direction at every angle where two rows tie, one between each two neighbors, and their opposites.

    Scores are small whole numbers, so that weights can be whole too, and nothing is rounded.
    """
    one, other = (np.subtract.outer(each, each).ravel().astype(int).tolist() for each in (sample.a, sample.b))
    ties = {(-y, x) if (x > 0) else (y, -x) for x, y in zip(one, other, strict=True) if x}
    ordered = sorted({(1, 0), (0, 1), (-1, 0), *ties}, key=lambda each: np.arctan2(each[1], each[0]))
    mixed = [(x + z, y + w) for (x, y), (z, w) in pairwise(ordered)]
    result = {*ordered, *mixed}
    result |= {(-x, -y) for x, y in result}
    return [each for each in result if not positive or min(each) >= 0]


@given(two_scores(), st.booleans())
def test_no_direction_is_better(sample: TwoScores, positive: bool) -> None:  # noqa: FBT001  (drawn)
    result = decide.combine_scores(sample.rows(), positive_weights=positive)
    assert result.exact
    assert result.auc == pytest.approx(max(sample.area(*each) for each in all_directions(sample, positive=positive)))
    assert result.auc >= max(result.single_aucs)
    assert not positive or min(result.weights) >= 0


@given(two_scores(eighths), st.integers(0, 2**32 - 1))
def test_no_random_direction_is_better(sample: TwoScores, seed: int) -> None:
    result = decide.combine_scores(sample.rows())
    score = result.score(sample.a, sample.b)
    assert result.auc == measure.auc(curve(tally(sample.truth, score, positive=True)))
    angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, 50)
    assert all(sample.area(np.cos(angle), np.sin(angle)) <= result.auc + 1e-12 for angle in angles)
    assert result.single_aucs == (sample.area(1, 0), sample.area(0, 1))
    assert result.auc >= max(*result.single_aucs, *(1 - each for each in result.single_aucs)) - 1e-12


@given(two_scores(few))
def test_tiny_scores_are_not_rounded_away(sample: TwoScores) -> None:
    result = decide.combine_scores(sample.rows())
    assert result.single_aucs == (sample.area(1, 0), sample.area(0, 1))
    assert result.auc >= max(result.single_aucs)
    sizes = np.abs(np.concatenate([sample.a, sample.b]))
    products = sizes[sizes > 0].min(initial=1.0) * min((abs(each) for each in result.weights if each), default=1.0)
    # A product below the smallest normal number loses digits, and may tie scores that differ.
    if products >= np.finfo(np.float64).tiny:
        assert result.auc == measure.auc(curve(tally(sample.truth, result.score(sample.a, sample.b), positive=True)))


@given(two_scores(), st.sampled_from([4.0, 1000.0, 0.3]))
def test_rescaling_a_score_rescales_its_weight(sample: TwoScores, unit: float) -> None:
    result, other = (decide.combine_scores(each.rows()) for each in (sample, sample._replace(b=sample.b * unit)))
    assert other.auc == pytest.approx(result.auc)
    if unit == 4:
        assert other.weights[0] == result.weights[0]
        assert other.weights[1] * (1 if result.weights[0] == 0 else unit) == result.weights[1]
        assert other.held_out == pytest.approx(result.held_out, nan_ok=True)


@pytest.mark.slow
@given(two_scores(), st.data())
def test_weights_and_counts_enter_every_pair(sample: TwoScores, data: st.DataObject) -> None:
    size = len(sample.truth)
    amount = np.array(data.draw(st.lists(weight, min_size=size, max_size=size)))
    result = decide.combine_scores(sample.rows(weight=amount))
    assert result.auc == pytest.approx(max(sample.area(*each, weight=amount) for each in all_directions(sample)))
    times = np.array(data.draw(st.lists(st.integers(1, 3), min_size=size, max_size=size)))
    counted = decide.combine_scores(sample.rows(count=times))
    repeated = decide.combine_scores(TwoScores(*(np.repeat(each, times) for each in sample)).rows())
    assert counted.auc == pytest.approx(repeated.auc)
    assert counted.weights == pytest.approx(repeated.weights)
    assert counted.chosen_on == repeated.chosen_on


@given(two_scores(), st.randoms())
def test_row_order_does_not_matter(sample: TwoScores, random: object) -> None:
    order = list(range(len(sample.truth)))
    random.shuffle(order)  # type: ignore[attr-defined]
    result, other = (
        decide.combine_scores(each.rows()) for each in (sample, TwoScores(*(each[order] for each in sample)))
    )
    assert (result.weights, result.auc, result.chosen_on) == (other.weights, other.auc, other.chosen_on)
    assert result.held_out == pytest.approx(other.held_out, nan_ok=True)


@pytest.mark.slow
@settings(max_examples=settings().max_examples // 5)  # each example sorts many times
@given(two_scores(max_size=40))
def test_searched_directions_are_not_exact(sample: TwoScores) -> None:
    tried, best = decide.combine_scores(sample.rows(), limit=0), decide.combine_scores(sample.rows())
    assert (tried.exact, best.exact) == (False, True)
    assert max(tried.single_aucs) <= tried.auc <= best.auc + 1e-12
    some = decide.combine_scores(sample.rows(), limit=0, positive_weights=True)
    assert min(some.weights) >= 0
    assert some.auc >= max(some.single_aucs)


def simulate_scores(n: int, seed: int, *, signal: float) -> TwoScores:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    return TwoScores(truth, rng.normal(signal * truth), 50 * rng.normal(signal * truth))


@pytest.mark.slow
def test_searched_directions_are_nearly_optimal() -> None:
    for seed in range(5):
        sample = simulate_scores(600, seed, signal=1.0)
        tried, best = decide.combine_scores(sample.rows(), limit=0), decide.combine_scores(sample.rows())
        assert best.auc - 5e-4 < tried.auc <= best.auc
        # Two normal scores of equal worth, in units that differ by 50.
        assert 50 * best.weights[1] == pytest.approx(1, abs=0.4)


@pytest.mark.slow
def test_cross_validated_auc_of_noise_is_one_half() -> None:
    result = [decide.combine_scores(simulate_scores(60, seed, signal=0.0).rows()) for seed in range(40)]
    assert np.mean([each.auc for each in result]) > 0.57
    assert np.mean([each.held_out for each in result]) == pytest.approx(0.5, abs=0.04)


def test_clusters_are_not_split_between_folds() -> None:
    sample = simulate_scores(80, 1, signal=0.5)
    cluster = np.arange(80) // 4
    rows = sample.rows(cluster=cluster)
    folds = np.array(_assign_folds(rows, _build_plane(rows, ("a", "b")), 0))
    assert (folds.sum(axis=0) == 1).all()
    assert len(folds) == min(5, len({*cluster} - {*cluster[sample.truth]}))
    for each in range(20):
        assert (folds[:, cluster == each].sum(axis=1) > 0).sum() == 1
    assert decide.combine_scores(rows, seed=1).weights == decide.combine_scores(sample.rows()).weights


def test_two_of_several_scores_are_selected() -> None:
    table = {"y": [1, 0, 1, 0], "a": [1, 2, 3, 4], "b": [1, 1, 1, 1], "c": [4, 3, 2, 1]}
    rows = read.rows(table, truth="y", score=["a", "b", "c"])
    result = decide.combine_scores(rows, ("c", "b"))
    assert (result.names, result.weights, result.single_aucs) == (("c", "b"), (1.0, 0.0), (0.75, 0.5))
    assert result.score([1, 2], [np.nan, 0]).tolist() == [1, 2]
    assert np.isfinite(result.held_out)
    alone = decide.combine_scores(read.rows({"y": [1, 0], "a": [1, 1], "b": [0, 2]}, truth="y", score=["a", "b"]))
    assert (alone.weights, alone.auc) == ((0.0, -1.0), 1.0)
    assert np.isnan(alone.held_out)


@pytest.mark.parametrize(
    ("work", "error", "message"),
    [
        (lambda rows: decide.combine_scores(rows, ("a", "x")), UnknownNameError, "no score 'x'. Known are: a, b"),
        (lambda rows: decide.combine_scores(rows, ("a", "a")), OptionError, "expected two different names"),
        (lambda rows: decide.combine_scores(rows, ("a",)), OptionError, "expected two"),
        (lambda rows: decide.combine_scores(rows, limit=-1), OptionError, "limit is -1"),
        (lambda rows: decide.combine_scores(rows.only(rows.truth)), NotBinaryError, "no negatives"),
        (lambda rows: decide.combine_scores(rows.only(~rows.truth)), NotBinaryError, "no positives"),
    ],
)
def test_errors(work: Callable[[Rows], object], error: type[Exception], message: str) -> None:
    sample = TwoScores(np.array([True, False, True]), np.array([1.0, 2, 3]), np.array([3.0, 1, 1]))
    with pytest.raises(error, match=message):
        work(sample.rows())
    with pytest.raises(MissingValuesError, match="1 of 6 scores are NaN or infinite"):
        decide.combine_scores(sample._replace(a=np.array([1, np.inf, 2])).rows())
