"""Laws of the tally: counts are exact for any numbers, and merging is addition."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

import baserate
from baserate import Tally
from tests.strategies import Rows, few, like, real, rows, same

any_score = rows(score=few | real)
single = rows(score=st.floats(allow_nan=False, allow_infinity=False, width=32))


def count_by_hand(data: Rows) -> dict[float, tuple[int, int]]:
    pairs = Counter(zip(data.score.tolist(), data.truth.tolist(), strict=True))
    return {score: (pairs[score, True], pairs[score, False]) for score, _ in pairs}


@given(any_score)
def test_a_tally_counts_each_class_at_each_score(data: Rows) -> None:
    tally = baserate.tally(*data)
    result = dict(zip(tally.score.tolist(), zip(*tally.mass.tolist(), strict=True), strict=True))
    assert result == count_by_hand(data)
    assert (np.diff(tally.score) < 0).all()
    assert not np.signbit(tally.score[tally.score == 0]).any()


@given(single)
def test_float32_scores_are_counted_exactly(data: Rows) -> None:
    narrow = baserate.tally(data.truth, data.score.astype(np.float32))
    assert narrow.digest == baserate.tally(*data).digest
    assert narrow.score.dtype == np.float64


@given(st.data())
def test_weights_and_counts_are_summed_at_each_score(data: st.DataObject) -> None:
    sample = data.draw(any_score)
    weight, count = (
        data.draw(like(sample, st.just(0.0) | st.floats(0.01, 8))),
        data.draw(like(sample, st.integers(0, 5))),
    )
    if not (weight * count).any():
        return
    tally = baserate.tally(*sample, weight=weight, count=count)
    there = (weight > 0) & (count > 0)
    for row, truth in enumerate((True, False)):
        for column, score in enumerate(tally.score):
            here = there & (sample.truth == truth) & (sample.score == score)
            result = [table[row, column] for table in (tally.mass, tally.squares, tally.rows)]
            wanted = [(weight * count)[here].sum(), (weight**2 * count)[here].sum(), count[here].sum()]
            assert result == pytest.approx(wanted)


@given(any_score, st.randoms(), st.integers(1, 4))
def test_the_digest_does_not_depend_on_order_or_partition(data: Rows, random: Random, parts: int) -> None:
    order = list(range(len(data.truth)))
    random.shuffle(order)
    pieces = [baserate.tally(data.truth[i], data.score[i]) for i in np.array_split(order, parts) if len(i)]
    whole = baserate.tally(*data)
    assert sum(pieces).digest == Tally.sum(pieces).digest == whole.digest  # type: ignore[union-attr]
    assert whole.mass.dtype == Tally.sum(pieces).mass.dtype


@given(any_score, any_score)
def test_different_rows_have_different_digests(first: Rows, second: Rows) -> None:
    equal = count_by_hand(first) == count_by_hand(second)
    assert (baserate.tally(*first).digest == baserate.tally(*second).digest) == equal


@given(st.data())
def test_merging_keeps_weights(data: st.DataObject) -> None:
    first, second = data.draw(any_score), data.draw(any_score)
    weight = data.draw(like(first, st.floats(0.1, 8)))
    merged = baserate.tally(*first, weight=weight) + baserate.tally(*second)
    together = baserate.tally(
        *(np.concatenate(pair) for pair in zip(first, second, strict=True)),
        weight=np.concatenate([weight, np.ones(len(second.truth))]),
    )
    for name in ("score", "mass", "squares", "rows"):
        assert same(getattr(merged, name), getattr(together, name), within=1e-12)


@given(rows(score=st.floats(-3, 3) | few), st.sampled_from([0.1, 0.001, 0.3, 0.125, 1 / 3, 2.0]))
def test_rounding_keeps_the_counts_at_every_edge(data: Rows, resolution: float) -> None:
    exact = baserate.tally(*data)
    rounded = exact.round_scores(resolution)
    assert (rounded.score <= exact.score[0]).all()
    for cell in ("tp", "fp", "fn", "tn"):
        at_edges = getattr(baserate.curve(exact).at(rounded.score), cell)
        assert same(getattr(baserate.curve(rounded).at(rounded.score), cell), at_edges)
    assert rounded.round_scores(resolution).digest == rounded.digest
    assert rounded.resolution == resolution
    assert rounded.total == exact.total


@pytest.mark.parametrize("resolution", [0.1, 0.001, 0.3, 1 / 3, 0.7, 2.0])
def test_scores_just_below_an_edge_stay_below_it(resolution: float) -> None:
    # Dividing by the resolution rounds many of these up to the edge.
    per_unit = round(1 / resolution) if resolution in (0.1, 0.001, 1 / 3) else None
    index = np.arange(-500, 500)
    edge = index / per_unit if per_unit else index * resolution
    below = np.nextafter(edge, -np.inf)
    rounded = baserate.tally(np.ones(2000), np.concatenate([edge, below])).round_scores(resolution)
    assert np.array_equal(rounded.score[:-1][::-1], edge)
    assert np.array_equal(rounded.rows[0], [1, *[2] * 999, 1])


@given(st.data())
def test_saved_tallies_keep_every_bit(data: st.DataObject) -> None:
    sample = data.draw(any_score)
    weight = data.draw(st.none() | like(sample, st.floats(0.1, 8)))
    tally = baserate.tally(*sample, weight=weight)
    read = Tally.from_json(tally.to_json())
    for name in ("score", "mass", "squares", "rows"):
        assert same(getattr(read, name), getattr(tally, name))
    assert (read.digest, read.weighted, read.resolution) == (tally.digest, tally.weighted, tally.resolution)
    assert read.rows.dtype == tally.rows.dtype
