"""Single precision: digits of a float32, and thresholds that separate them and the numbers themselves."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from baserate._numeric.distinct import decimal_threshold, is_single_precision, separate_precisions

singles = st.floats(width=32, allow_nan=False, allow_infinity=False)


def as_text(value: float) -> float:
    """What a text file of a float32 is read as."""
    return float(np.format_float_scientific(np.float32(value)))


@given(singles)
def test_the_decimal_threshold_separates_neighbors_in_both_precisions(value: float) -> None:
    at = decimal_threshold(value)
    with np.errstate(over="ignore"):  # the greatest float32 has none above it
        below = float(np.nextafter(np.float32(value), np.float32(-np.inf)))
    assert at <= value
    assert at <= as_text(value)
    assert all(at <= float(f"{value:.{digits}g}") for digits in range(9, 18))
    with np.errstate(over="ignore"):
        assert np.float32(at) == np.float32(value)
    if np.isfinite(below):
        assert below < at
        assert as_text(below) < at
        assert all(float(f"{below:.{digits}g}") < at for digits in range(9, 18))


@given(st.lists(singles, min_size=1, max_size=20))
def test_the_same_scores_reach_a_threshold_as_before(scores: list[float]) -> None:
    score = np.array(scores)
    found = separate_precisions(score, score)
    for before, after in zip(score, found, strict=True):
        assert np.array_equal(score >= before, score >= after)
        assert np.array_equal(score >= before, np.array([as_text(each) for each in scores]) >= after)


def test_single_precision_is_seen_in_any_type() -> None:
    rng = np.random.default_rng(0)
    single = rng.random(1000, dtype=np.float32).astype(np.float64)
    assert is_single_precision(single)
    assert not is_single_precision(np.append(single, 0.1))
    assert not is_single_precision(rng.random(1000))
    assert is_single_precision(np.array([]))
    assert not is_single_precision(np.array([1e300]))


@pytest.mark.parametrize("at", [[np.inf], [-np.inf], [0.1], [0.5, 1.0], [1e300], []])
def test_other_thresholds_stay(at: list[float]) -> None:
    score = np.array([0.1, 0.7], dtype=np.float32).astype(np.float64)
    assert separate_precisions(np.array(at), score).tolist() == at
    assert separate_precisions(score, np.array([0.1, 0.7])).tolist() == score.tolist()
