"""Tallies, confusion matrices, rows and sets of labels of batches add up to those of all rows."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import (
    Confusion,
    EmptyDataError,
    LabelSets,
    MulticlassRows,
    OptionError,
    ShapeError,
    Tally,
    infer,
    measure,
)
from baserate.measure import describe, multiclass
from tests.laws.test_averages import ScoredRows, scored_rows
from tests.strategies import Rows, measure_argument, probability, rows, same

cuts = st.lists(st.integers(0, 30), max_size=4).map(sorted)


def split(size: int, places: list[int]) -> list[slice]:
    """Cut a range into batches, of which some may be empty."""
    edges = [0, *(min(place, size) for place in places), size]
    return [slice(start, stop) for start, stop in pairwise(edges)]


@given(rows(score=probability), cuts, st.booleans())
def test_tallies_of_batches_add_up(sample: Rows, places: list[int], weighted: bool) -> None:  # noqa: FBT001
    weight = np.arange(1.0, len(sample.truth) + 1) if weighted else None
    at_once = baserate.tally(*sample, weight=weight, positive=True)
    parts = [
        baserate.tally(sample.truth[at], sample.score[at], weight=None if weight is None else weight[at], positive=True)
        for at in split(len(sample.truth), places)
        if at.start < at.stop
    ]
    for state in (sum(parts, Tally.sum([])), Tally.sum(parts), Tally.sum(reversed(parts))):
        assert state.digest == at_once.digest
        for name, function in measure.MEASURES.items():
            of = describe(function).of
            assert same(function(measure_argument(of, state)), function(measure_argument(of, at_once)), within=1e-12), (
                name
            )


def test_intervals_of_merged_states_are_equal() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(500) < 0.3
    score = rng.normal(size=500) + truth
    state = Tally.sum(baserate.tally(truth[at::7], score[at::7], positive=True) for at in range(7))
    for name in ("auc", "average_precision", "ks", "precision_at_20", "pr_auc_trapezoid"):
        one, other = infer.estimate(name, state), infer.estimate(name, truth, score, positive=True)
        assert (one.value, one.low, one.high) == (other.value, other.low, other.high)


@given(scored_rows(), cuts, st.sampled_from([None, "weight", "count"]))
def test_rows_of_several_classes_add_up(sample: ScoredRows, places: list[int], amount: str | None) -> None:
    def make(at: slice) -> MulticlassRows:
        amounts = {} if amount is None else {amount: np.arange(1, len(sample.truth) + 1)[at]}
        labels = range(sample.score.shape[1])
        return baserate.class_scores(sample.truth[at], sample.score[at], labels=labels, **amounts)

    at_once = make(slice(None))
    parts = [make(at) for at in split(len(sample.truth), places) if at.start < at.stop]
    for merged in (sum(parts[1:], parts[0]), sum(parts), MulticlassRows.sum(parts[::-1])):
        assert isinstance(merged, MulticlassRows)
        assert merged.digest == at_once.digest
        assert merged.intake.read == len(sample.truth)
        for name, function in multiclass.MEASURES.items():
            if describe(function).of is MulticlassRows:
                assert same(function(merged), function(at_once), within=1e-12), name
    tables = Confusion.sum([part.confusion() for part in parts])
    assert tables.mass.tolist() == at_once.confusion().mass.tolist()


def test_sets_of_labels_add_up() -> None:
    rng = np.random.default_rng(1)
    truth, score = rng.random((50, 4)) < 0.4, rng.normal(size=(50, 4))

    def make(at: Any, **more: Any) -> LabelSets:  # noqa: ANN401
        return baserate.label_sets(truth[at], score=score[at], predicted=score[at] > 0, **more)

    at_once, merged = make(slice(None)), sum(make(slice(at, at + 8)) for at in range(0, 50, 8))
    assert isinstance(merged, LabelSets)
    for name in ("exact_match", "coverage_error", "ndcg", "label_ranking_loss"):
        assert multiclass.MEASURES[name](merged) == pytest.approx(multiclass.MEASURES[name](at_once), abs=1e-12)
    for column in ("truth", "predicted", "score"):
        assert np.array_equal(getattr(merged, column), getattr(at_once, column))
    weighted = make(slice(0, 8), weight=np.full(8, 2.0)) + make(slice(8, 50))
    assert weighted.total == 2 * 8 + 42


def test_parts_that_differ_are_refused() -> None:
    one = baserate.class_scores(["a", "b"], [[0.6, 0.4], [0.2, 0.8]])
    other = baserate.class_scores(["a", "c"], [[0.6, 0.4], [0.2, 0.8]])
    with pytest.raises(ShapeError, match=r"the parts have different labels, \('a', 'b'\) and \('a', 'c'\)"):
        one + other
    with pytest.raises(EmptyDataError, match="there are no parts to add"):
        MulticlassRows.sum([])
    grouped = replace(one, group=np.array([0, 1]), groups=(("x",), ("y",)), attributes=("site",))
    with pytest.raises(OptionError, match="rows with groups cannot be added"):
        grouped + one
    with pytest.raises(TypeError):
        one + 1
    decided = baserate.label_sets([[1, 0]], predicted=[[1, 0]])
    with pytest.raises(ShapeError, match="predicted is missing in some parts"):
        decided + baserate.label_sets([[1, 0]], score=[[1, 0]])
