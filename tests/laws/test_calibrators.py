"""Laws of calibrators, over scores with ties, of 0 and 1, and outside of [0, 1]."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, reject, strategies as st
from scipy.optimize import isotonic_regression
from scipy.special import expit, logit

from baserate import Calibrator, FitError, NotAProbabilityError, Tally, calibration, curve, measure, tally
from baserate._numeric.logistic import fit_logistic, log_odds
from tests.strategies import Rows, rows

Floats = npt.NDArray[np.float64]

hundredths = st.integers(0, 100).map(lambda k: k / 100)
probabilities = rows(score=hundredths | st.sampled_from([0.0, 0.5, 1.0]), min_size=4)
inside = rows(score=st.integers(1, 99).map(lambda k: k / 100), min_size=4)
"""Probabilities of which none is certain."""
scores = rows(score=st.integers(-50, 50).map(lambda k: k / 8), min_size=4)
"""Scores of any kind."""
grid = np.concatenate([[0.0], np.linspace(0, 1, 97), [1e-300, 1.0]])
KEEP_ORDER = [name for name in calibration.BINARY_METHODS if name != "histogram"]


def both_classes(sample: Rows) -> Tally:
    assume(0 < sample.truth.sum() < len(sample.truth))
    return tally(*sample)


def fit_calibrator(method: str, t: Tally) -> Calibrator:
    """A map, where the data determine one."""
    try:
        return calibration.fit(t, method)
    except FitError:
        reject()


@given(probabilities, st.sampled_from(list(calibration.BINARY_METHODS)))
def test_calibrators_return_probabilities(sample: Rows, method: str) -> None:
    result = fit_calibrator(method, both_classes(sample))(grid)
    assert result.min() >= 0
    assert result.max() <= 1


@given(probabilities, st.sampled_from(KEEP_ORDER))
def test_calibrators_never_decrease(sample: Rows, method: str) -> None:
    result = fit_calibrator(method, both_classes(sample))
    assert result.never_falls
    assert (np.diff(result(np.sort(grid))) >= -1e-15).all()


@given(probabilities, st.sampled_from(["identity", "offset", "logistic", "beta", "strict-isotonic"]))
def test_order_preserving_calibrators_keep_the_auc(sample: Rows, method: str) -> None:
    t = both_classes(sample)
    result = fit_calibrator(method, t)
    assume(result.rises)
    after = t.with_scores(result(t.score))
    # Far out, log-odds may differ where probabilities no longer do.
    assume(method == "strict-isotonic" or len(after.score) == len(t.score))
    assert len(after.score) == len(t.score)
    assert measure.auc(curve(after)) == measure.auc(curve(t))


@given(scores)
def test_strictly_increasing_calibrators_keep_the_order_of_any_score(sample: Rows) -> None:
    t = both_classes(sample)
    result = calibration.isotonic(t, strict=True)
    after = t.with_scores(result(t.score))
    assert result.rises
    assert measure.auc(curve(after)) == measure.auc(curve(t))
    assert after.score.min() > 0
    assert after.score.max() < 1


@given(probabilities, st.sampled_from(list(calibration.BINARY_METHODS)))
def test_saved_calibrators_are_read_unchanged(sample: Rows, method: str) -> None:
    result = fit_calibrator(method, both_classes(sample))
    again = Calibrator.from_json(result.to_json())
    assert np.array_equal(again(grid), result(grid))
    assert again.to_json() == result.to_json()
    assert (again.method, again.fitted, again.parameters) == (result.method, result.fitted, result.parameters)


@given(inside)
def test_an_offset_equals_a_prevalence_adjustment_and_a_line_of_slope_one(sample: Rows) -> None:
    t = both_classes(sample)
    result = calibration.offset(t)
    p = result(t.score)
    # The mean is that of the rows.
    assert (p * t.mass.sum(axis=0)).sum() / t.total == pytest.approx(t.prevalence, rel=1e-11)
    added, derivation = result.parameters
    # The same as carrying from the derivation prevalence to that of the rows …
    carried = calibration.prevalence(sample_prevalence=derivation.value, prevalence=t.prevalence)
    assert carried(t.score) == pytest.approx(p, rel=1e-9)
    # … and as a logistic regression of what is left after the log-odds: no slope would add to it.
    assert p == pytest.approx(expit(logit(t.score) + added.value), rel=1e-12)
    again = calibration.offset(t.with_scores(p))
    assert again.parameters[0].value == pytest.approx(0, abs=1e-8)


@given(st.lists(hundredths, min_size=1), st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_repriored_probabilities_come_back(p: list[float], here: float, there: float) -> None:
    out, back = (
        calibration.prevalence(sample_prevalence=here, prevalence=there),
        calibration.prevalence(sample_prevalence=there, prevalence=here),
    )
    between, original = out(p), np.array(p)
    # A probability near 1 has lost digits of its complement, which the way back enlarges by its slope.
    lost = np.finfo(np.float64).eps * original * (1 - original) / np.maximum(1 - between, np.finfo(np.float64).eps)
    assert (abs(back(between) - original) <= 1e-12 * original + 1e-15 + 2 * lost).all()
    assert calibration.prevalence(sample_prevalence=here, prevalence=here)(p) == pytest.approx(np.array(p), rel=1e-15)
    assert out([0.0, 1.0]).tolist() == [0.0, 1.0]


@given(scores)
def test_isotonic_is_calibrated_on_its_own_pools(sample: Rows) -> None:
    t = both_classes(sample)
    after = t.with_scores(calibration.isotonic(t)(t.score))
    assert after.score == pytest.approx(after.positive / (after.positive + after.negative), rel=1e-13, abs=1e-15)
    share = t.positive / (t.positive + t.negative)
    weight = t.positive + t.negative
    wanted = isotonic_regression(share[::-1], weights=weight[::-1]).x[::-1]
    assert calibration.isotonic(t)(t.score) == pytest.approx(wanted, rel=1e-12, abs=1e-14)


@given(scores, st.integers(1, 12))
def test_a_histogram_is_calibrated_on_its_own_bins(sample: Rows, bins: int) -> None:
    t = both_classes(sample)
    p = calibration.histogram(t, bins=bins)(t.score)
    for share in np.unique(p):
        there = p == share
        hits, all_ = t.positive[there].sum(), (t.positive + t.negative)[there].sum()
        assert hits / all_ == pytest.approx(share)
    assert len(np.unique(p)) <= bins


@given(scores, st.lists(st.integers(-60, 60).map(lambda k: k / 16), min_size=1, max_size=8))
def test_venn_abers_is_an_isotonic_regression_with_one_more_row(sample: Rows, new: list[float]) -> None:
    t = both_classes(sample)
    result = calibration.venn_abers(t)
    if result.form.of_probabilities:
        new = [each for each in new if 0 <= each <= 1]
        assume(new)
    low, high = result.bounds(new)
    for at, score in enumerate(new):
        for label, bound in ((0, low), (1, high)):
            truth, s = np.append(sample.truth, label), np.append(sample.score, score)
            distinct, place = np.unique(s, return_inverse=True)
            total = np.bincount(place).astype(float)
            share = np.bincount(place, weights=truth) / total
            wanted = isotonic_regression(share, weights=total).x[np.searchsorted(distinct, score)]
            assert bound[at] == pytest.approx(wanted, rel=1e-12, abs=1e-15)
    assert result(new) == pytest.approx(high / (1 - low + high), rel=1e-14)
    assert (low <= high).all()


def likelihood(p: Floats, t: Tally) -> float:
    return float((t.positive * np.log(p) + t.negative * np.log1p(-p)).sum())


Curve = Callable[[Floats], Floats]


@pytest.mark.slow
@given(inside, st.lists(st.tuples(*[st.floats(-0.5, 0.5)] * 3), min_size=5, max_size=5))
def test_fitted_parameters_maximize_the_likelihood(sample: Rows, others: list[tuple[float, float, float]]) -> None:
    t = both_classes(sample)
    for name in ("temperature", "logistic", "beta"):
        try:
            result = calibration.fit(t, name)
        except FitError:
            continue
        form = result.form
        here = likelihood(result(t.score), t)
        first, second = np.log(t.score), -np.log1p(-t.score)
        for a, b, c in others:
            slope, added = max(form.a + a, 0), 0.0 if name == "temperature" else form.c + c  # type: ignore[union-attr]
            other = max(form.b + b, 0) if name == "beta" else slope  # type: ignore[union-attr]
            assert likelihood(expit(added + slope * first + other * second), t) <= here + 1e-9


@pytest.mark.slow
@given(inside, st.integers(2, 4))
def test_a_count_is_repetition(sample: Rows, times: int) -> None:
    t = both_classes(sample)
    often = tally(np.repeat(sample.truth, times), np.repeat(sample.score, times))
    counted = tally(*sample, count=np.full(len(sample.truth), times))
    weighted = tally(*sample, weight=np.full(len(sample.truth), float(times)))
    for name in calibration.BINARY_METHODS:
        try:
            result = calibration.fit(t, name)
        except FitError:
            continue
        repeated = calibration.fit(often, name)(grid)
        assert calibration.fit(counted, name)(grid) == pytest.approx(repeated, rel=1e-9, abs=1e-12)
        if name != "venn-abers":  # which knows no weights
            assert calibration.fit(weighted, name)(grid) == pytest.approx(repeated, rel=1e-9, abs=1e-12)
        if name not in {"venn-abers", "strict-isotonic"}:  # which know how many rows there are
            assert repeated == pytest.approx(result(grid), rel=1e-6, abs=1e-8)


@given(inside, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(sample: Rows, random: object) -> None:
    t = both_classes(sample)
    assume(min(sample.truth.sum(), (~sample.truth).sum()) > 2)
    order = np.arange(len(sample.truth))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = tally(sample.truth[order], sample.score[order])
    for name in ("isotonic", "offset", "identity"):
        one, other = calibration.cross_fit(t, name, folds=2), calibration.cross_fit(shuffled, name, folds=2)
        assert (one.digest, one.rows.sum()) == (other.digest, t.rows.sum())


@given(scores)
def test_scores_that_are_not_probabilities_are_fitted_without_log_odds(sample: Rows) -> None:
    t = both_classes(sample)
    assume(not (t.score[-1] >= 0 and t.score[0] <= 1))
    for name in ("identity", "offset", "temperature", "beta"):
        with pytest.raises(NotAProbabilityError, match="take any score"):
            calibration.fit(t, name)
    result = fit_calibrator("logistic", t)
    assume(result.rises)
    assume(result.parameters[1].value < 20)
    wanted = fit_logistic(t.score, t.positive, t.negative)
    assert result(t.score) == pytest.approx(expit(wanted.intercept + wanted.slope * t.score), rel=1e-8, abs=1e-12)


@given(inside)
def test_smoothed_targets_always_have_a_finite_fit(sample: Rows) -> None:
    t = both_classes(sample)
    assume(len(t.score) > 1)
    result = calibration.logistic(t, smoothed=True)
    assert np.isfinite(result(grid)).all()
    hits, misses = t.positives, t.negatives
    high, low = (hits + 1) / (hits + 2), 1 / (misses + 2)
    p = result(t.score)
    assume(result.rises)
    target = t.positive * high + t.negative * low
    gap = target - p * (t.positive + t.negative)
    assert gap.sum() == pytest.approx(0, abs=1e-8)
    assert (gap * log_odds(t.score)).sum() == pytest.approx(0, abs=1e-7)
