"""Distinct values, codes, hashes, and float32 values among doubles."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from baserate import Tally
from baserate._numeric import distinct as module
from baserate._numeric.cumulative import pairwise_wins
from baserate._numeric.distinct import (
    decimal_threshold,
    factorize,
    is_single_precision,
    pair_counts,
    pair_sums,
    separate_precisions,
)

whole = st.sampled_from([np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64])


def assert_factorized(column: npt.NDArray[Any]) -> None:
    codes, distinct = factorize(column)
    assert distinct.tolist() == sorted(set(column.tolist()))
    assert distinct[codes].tolist() == column.tolist()
    assert codes.dtype.kind == "u"


@given(whole.flatmap(lambda kind: hnp.arrays(kind, st.integers(0, 30))))
def test_factorize_integers_of_any_type(column: npt.NDArray[Any]) -> None:
    assert_factorized(column)


@given(st.lists(st.integers(-3, 12), max_size=40), whole.filter(lambda kind: kind not in (np.uint8, np.uint64)))
def test_factorize_integers_of_a_small_range(values: list[int], kind: type) -> None:
    assert_factorized(np.array(values, dtype=kind))


@pytest.mark.parametrize("kind", ["U", "S"])
@pytest.mark.parametrize("rows", [10, 200_000])
def test_factorize_text(kind: str, rows: int) -> None:
    names = np.array(["", "a", "ab", "cat", "caterpillar", "b\0b" if kind == "S" else "日本"], dtype=object).astype(
        kind
    )
    column = names[np.random.default_rng(1).integers(0, len(names), rows)]
    assert_factorized(column)
    # A text that does not occur in the first block.
    column = column.copy()
    column[-1] = names[3][:1] + names[4][1:]
    assert_factorized(column)


def test_factorize_many_texts_and_colliding_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    column = np.random.default_rng(2).integers(0, 9000, 100_000).astype("U")
    assert_factorized(column)
    few = column.astype("U2")
    monkeypatch.setattr(module, "_hash_text", lambda units: np.zeros(len(units), dtype=np.uint64))
    assert_factorized(few)


pairs = st.integers(1, 5).flatmap(
    lambda width: st.tuples(
        st.just(width), st.lists(st.tuples(*[st.integers(0, width - 1)] * 2, st.integers(0, 9)), max_size=30)
    )
)


@given(pairs)
def test_pairs_are_counted_and_summed(case: tuple[int, list[tuple[int, int, int]]]) -> None:
    width, entries = case
    first, second, amount = (np.array([entry[at] for entry in entries], dtype=np.uint8) for at in range(3))
    counts, sums = np.zeros((width, width)), np.zeros((width, width))
    for one, other, many in entries:
        counts[one, other] += 1
        sums[one, other] += many
    assert pair_counts(first, second, width).tolist() == counts.tolist()
    assert pair_sums(first, second, width, amount).tolist() == sums.tolist()


def test_pairs_are_counted_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 3, (2, 1000), dtype=np.uint8)
    at_once = pair_counts(first, second, 3)
    monkeypatch.setattr(module, "_CODE_BLOCK", 7)
    assert pair_counts(first, second, 3).tolist() == at_once.tolist()
    assert pair_sums(first, second, 3, np.ones(1000)).tolist() == at_once.tolist()


rows = st.lists(
    st.tuples(
        st.sampled_from([-1.0, -0.0, 0.0, 0.25, 0.5, 1.0]) | st.floats(-2, 2), st.integers(0, 3), st.integers(1, 4)
    ),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("block", [1, 3, 1 << 15])
@given(entries=rows, of=st.integers(0, 3), weighted=st.booleans())
def test_pairwise_wins_equal_those_of_a_loop(
    *, block: int, entries: list[tuple[float, int, int]], of: int, weighted: bool
) -> None:
    score, code, amount = (np.array(column) for column in zip(*entries, strict=True))
    result = count_wins(block, score, code.astype(np.uint8), amount if weighted else None, of)
    for other in {0, 1, 2, 3} - {of}:
        wanted = 0.0
        for s, c, a in entries:
            for t, d, b in entries:
                if (c, d) == (of, other):
                    wanted += (a * b if weighted else 1) * (1.0 if s > t else 0.5 if s == t else 0.0)
        assert result[other] == wanted


def count_wins(block: int, *columns: Any) -> npt.NDArray[Any]:  # noqa: ANN401
    from baserate._numeric import cumulative

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cumulative, "_RANK_BLOCK", block)
        score, code, amount, of = columns
        return pairwise_wins(score, code, amount, of=of, width=4)


singles = st.floats(width=32, allow_nan=False, allow_infinity=False)


def read_as_text(value: float) -> float:
    """Return the double that a float32 becomes when it is written as text and read."""
    return float(np.format_float_scientific(np.float32(value)))


@given(singles)
def test_the_decimal_threshold_separates_neighbors_in_both_precisions(value: float) -> None:
    at = decimal_threshold(value)
    with np.errstate(over="ignore"):  # the greatest float32 has none above it
        below = float(np.nextafter(np.float32(value), np.float32(-np.inf)))
    assert at <= value
    assert at <= read_as_text(value)
    assert all(at <= float(f"{value:.{digits}g}") for digits in range(9, 18))
    with np.errstate(over="ignore"):
        assert np.float32(at) == np.float32(value)
    if np.isfinite(below):
        assert below < at
        assert read_as_text(below) < at
        assert all(float(f"{below:.{digits}g}") < at for digits in range(9, 18))


@given(st.lists(singles, min_size=1, max_size=20))
def test_separate_precisions_flags_the_same_scores(scores: list[float]) -> None:
    score = np.array(scores)
    result = separate_precisions(score, score)
    for before, after in zip(score, result, strict=True):
        assert np.array_equal(score >= before, score >= after)
        assert np.array_equal(score >= before, np.array([read_as_text(each) for each in scores]) >= after)


def test_single_precision_is_recognized_in_any_type() -> None:
    rng = np.random.default_rng(0)
    single = rng.random(1000, dtype=np.float32).astype(np.float64)
    assert is_single_precision(single)
    assert not is_single_precision(np.append(single, 0.1))
    assert not is_single_precision(rng.random(1000))
    assert is_single_precision(np.array([]))
    assert not is_single_precision(np.array([1e300]))


@pytest.mark.parametrize("at", [[np.inf], [-np.inf], [0.1], [0.5, 1.0], [1e300], []])
def test_thresholds_that_are_no_float32_stay(at: list[float]) -> None:
    score = np.array([0.1, 0.7], dtype=np.float32).astype(np.float64)
    assert separate_precisions(np.array(at), score).tolist() == at
    assert separate_precisions(score, np.array([0.1, 0.7])).tolist() == score.tolist()


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint16, np.int64])
def test_sums_of_narrow_counts_do_not_wrap_around(kind: type) -> None:
    score, flag = np.full(600, 0.5), np.arange(600) < 300
    count: npt.NDArray[Any] = np.full(600, 100, dtype=kind)
    value, (rows,) = module.distinct_sums(score, flag, None, count)
    assert (value.tolist(), rows.tolist()) == ([0.5], [[30_000], [30_000]])
    assert Tally.of_rows(flag, score, count=count).rows.tolist() == [[30_000], [30_000]]
