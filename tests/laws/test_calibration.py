"""Laws of calibration, over probabilities with ties, at edges of bins, and of 0 and 1."""

from functools import partial
from itertools import pairwise
from math import inf, isnan
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, strategies as st
from scipy.special import expit, logit

from baserate import Tally, infer, measure, tally
from baserate._numeric.logistic import fit_intercept
from baserate._tally import Stack
from baserate.measure import MEASURES, Measure, describe
from baserate.measure._calibration_bins import fill_bins
from tests.prevalence import adjust_to_sample
from tests.strategies import Rows, like, rows, same

Floats = npt.NDArray[np.float64]

edge = st.sampled_from([*(k / 10 for k in range(11)), 1 / 3, 0.25, 0.75, 0.1 + 0.2])
"""Where bins part, or a rounding beside it."""
anywhere = rows(score=edge | st.floats(0, 1))
inside = rows(score=st.sampled_from([k / 10 for k in range(1, 10)]) | st.floats(0.001, 0.999), min_size=4)
"""Probabilities of which none is certain."""
bins = st.integers(1, 30)
by = st.sampled_from(["width", "mass"])
edges = st.lists(edge, max_size=5).map(lambda inner: sorted({0.0, 1.0, *inner}))

STACKED: dict[str, Measure] = {
    **{name: each for name, each in MEASURES.items() if describe(each).stacks},
    "ece by mass": partial(measure.ece, by="mass", bins=3),
    "mce by mass": partial(measure.mce, by="mass"),
    "rmsce by width": partial(measure.rmsce, by="width"),
    "rmsce_debiased of edges": partial(measure.rmsce_debiased, bins=[0, 0.3, 1]),
    "ici isotonic": partial(measure.ici, smoother="isotonic"),
    "smooth_ece of a width": partial(measure.smooth_ece, width=0.05),
}


def both_classes(sample: Rows) -> Tally:
    assume(0 < sample.truth.sum() < len(sample.truth))
    return tally(*sample)


def overlapping(sample: Rows) -> Tally:
    """A tally that a line of log-odds fits."""
    t = both_classes(sample)
    assume(not isnan(measure.calibration_slope(t)))
    return t


def test_measures_that_take_stacks() -> None:
    assert {"ece", "smooth_ece", "calibration_slope", "log_miscalibration", "ici"} <= set(STACKED)


@given(anywhere)
def test_a_score_is_miscalibration_less_discrimination_plus_uncertainty(sample: Rows) -> None:
    t = tally(*sample)
    for name, score in (("brier", measure.brier), ("log", measure.log_loss)):
        worse, better, base = (
            measure.find_measure(f"{name}_{part}")(t) for part in ("miscalibration", "discrimination", "uncertainty")
        )
        assert worse - better + base == pytest.approx(score(t), rel=1e-12, abs=1e-12)
        assert worse >= 0
        assert -1e-15 <= better <= base + 1e-12


@given(inside, st.floats(0.01, 0.99))
def test_another_prevalence_changes_miscalibration_never_discrimination(sample: Rows, prevalence: float) -> None:
    t = both_classes(sample)
    after = adjust_to_sample(t, prevalence)
    assume(len(after.score) == len(t.score))
    for name in ("brier", "log"):
        of = measure.find_measure(f"{name}_discrimination")
        assert of(after) == pytest.approx(of(t), rel=1e-12, abs=1e-15)
    moved = measure.brier(after) - measure.brier(t)
    gained = measure.brier_miscalibration(after) - measure.brier_miscalibration(t)
    assert gained == pytest.approx(moved, rel=1e-9, abs=1e-12)


@given(inside, st.sampled_from([lambda p: p**3, np.sqrt, lambda p: p / 2, lambda p: expit(3 * logit(p) - 1)]))
def test_no_rising_change_of_scores_changes_discrimination(sample: Rows, change: Measure) -> None:
    t = tally(*sample)
    after = t.with_scores(change(t.score))
    assume(len(after.score) == len(t.score))
    for name in ("brier", "log"):
        of = measure.find_measure(f"{name}_discrimination")
        assert of(after) == pytest.approx(of(t), rel=1e-12, abs=1e-15)


@given(inside)
def test_swapping_the_classes(sample: Rows) -> None:
    t = overlapping(sample)
    other = tally(~sample.truth, 1 - sample.score)
    assume(len(other.score) == len(t.score))
    close = partial(pytest.approx, rel=1e-6, abs=1e-8)
    assert measure.calibration_intercept(other) == close(-measure.calibration_intercept(t))
    assert measure.calibration_slope(other) == close(measure.calibration_slope(t))
    assert measure.calibration_in_the_large(other) == close(-measure.calibration_in_the_large(t))
    for same_of_both in ("brier", "log_loss", "smooth_ece", "ecce", "brier_miscalibration", "log_discrimination"):
        of = measure.find_measure(same_of_both)
        assert of(other) == close(of(t)), same_of_both
    assert infer.spiegelhalter(other).p == pytest.approx(infer.spiegelhalter(t).p, abs=1e-9, nan_ok=True)


@given(st.data())
def test_a_count_is_repetition_and_so_is_a_weight(data: st.DataObject) -> None:
    check_repetition(data, rows(score=edge))


@pytest.mark.slow
@given(st.data())
def test_a_count_is_repetition_anywhere(data: st.DataObject) -> None:
    check_repetition(data, anywhere)


def check_repetition(data: st.DataObject, several: st.SearchStrategy[Rows]) -> None:
    """See that repeated rows give what counts and weights give."""
    sample = data.draw(several)
    times = data.draw(like(sample, st.integers(1, 4)))
    repeated = tally(np.repeat(sample.truth, times), np.repeat(sample.score, times))
    counted, weighed = tally(*sample, count=times), tally(*sample, weight=times)
    for name, of in STACKED.items():
        assert same(of(counted), of(repeated)), name
        if not describe(of).sampled:
            assert same(of(weighed), of(repeated), within=1e-9), name
    assert repr(infer.calibration_tests(counted)) == repr(infer.calibration_tests(repeated))
    assert repr(infer.null_reference("ece", counted, n_simulations=5)) == repr(
        infer.null_reference("ece", repeated, n_simulations=5)
    )


@given(anywhere, st.randoms())
def test_the_order_of_rows_does_not_matter(sample: Rows, random: Random) -> None:
    order = list(range(len(sample.truth)))
    random.shuffle(order)
    first, second = tally(*sample), tally(sample.truth[order], sample.score[order])
    for name, of in STACKED.items():
        assert same(of(first), of(second)), name
    assert repr(infer.calibration_tests(first)) == repr(infer.calibration_tests(second))
    assert repr(infer.null_reference("smooth_ece", first, n_simulations=5)) == repr(
        infer.null_reference("smooth_ece", second, n_simulations=5)
    )


@given(inside, st.floats(0.02, 0.98))
def test_adjusting_the_prevalence_and_back_restores_probabilities(sample: Rows, prevalence: float) -> None:
    t = both_classes(sample)
    there = adjust_to_sample(t, prevalence)
    assume(len(there.score) == len(t.score))
    # What is right at η is carried to ȳ; from ȳ′ with the odds of ȳ²/η it comes back.
    odds = 2 * logit(t.prevalence) - logit(prevalence)
    back, still = adjust_to_sample(there, float(expit(odds))), adjust_to_sample(t, t.prevalence)
    # Scores a hair apart may become one.
    assume(len(back.score) == len(still.score) == len(t.score))
    assert back.score == pytest.approx(t.score, rel=1e-9)
    assert still.score == pytest.approx(t.score, rel=1e-12)


@given(inside)
def test_after_the_derived_adjustment_the_mean_is_right(sample: Rows) -> None:
    t = both_classes(sample)
    after = adjust_to_sample(t)
    assert measure.mean_probability(after) == pytest.approx(t.prevalence, rel=1e-11)
    assert measure.observed_expected(after) == pytest.approx(1, rel=1e-11)
    assert measure.calibration_in_the_large(after) == pytest.approx(0, abs=1e-9)
    at = infer.derived_prevalence(t)
    again = adjust_to_sample(t, at.value)
    assume(len(again.score) == len(after.score))
    assert again.score == pytest.approx(after.score, rel=1e-9)
    assert at.low <= at.value <= at.high
    # The same again: a logistic regression whose slope is held at 1.
    result, _ = fit_intercept(logit(t.score), t.positive.astype(float), t.negative.astype(float))
    assert after.score == pytest.approx(expit(logit(t.score) + result), rel=1e-9)
    assert measure.log_loss(after) <= measure.log_loss(t) + 1e-12


@st.composite
def stacks(draw: st.DrawFn, *, shared: bool) -> Stack:
    """Four tallies at the same scores, none of them empty."""
    score = np.array(sorted(draw(st.sets(edge, min_size=1, max_size=8)), reverse=True))
    size = len(score)
    cells = st.lists(st.integers(0, 3), min_size=size, max_size=size)
    if shared:
        mass = np.array(draw(st.lists(st.integers(1, 4), min_size=size, max_size=size)), dtype=float)
        positive = np.minimum(np.array([draw(cells) for _ in range(4)], dtype=float), mass)
        return Stack(score, positive, mass - positive, shared=True)
    positive, negative = (np.array([draw(cells) for _ in range(4)], dtype=float) for _ in range(2))
    assume((positive + negative).any(axis=1).all())
    return Stack(score, positive, negative)


@pytest.mark.slow
@given(stacks(shared=True) | stacks(shared=False))
def test_measures_of_a_stack_equal_those_of_each_tally(stack: Stack) -> None:
    alone = []
    for positive, negative in zip(stack.positive, stack.negative, strict=True):
        there = positive + negative > 0
        cells = np.stack([positive, negative])[:, there].astype(int)
        alone.append(Tally.from_counts(score=stack.score[there], rows=cells))
    for name, of in STACKED.items():
        assert same(of(stack), [of(each) for each in alone], within=1e-8), name


@given(anywhere, bins, by, edges)
def test_every_row_is_in_exactly_one_bin(sample: Rows, number: int, how: str, given_edges: list[float]) -> None:
    t = tally(*sample)
    for result in (fill_bins(t, bins=number, by=how), fill_bins(t, bins=given_edges)):  # type: ignore[arg-type]
        assert result.mass.sum() == len(sample.truth)
        assert result.positive.sum() == sample.truth.sum()
        assert result.expected.sum() == pytest.approx(sample.score.sum(), abs=1e-12)
        assert (result.mass > 0).all()
    table = infer.calibration_curve(t, options=infer.CurveOptions(bins=number, by=how))  # type: ignore[arg-type]
    assert table["mass"].sum() == len(sample.truth)
    assert len(table["mass"]) <= number
    for lower, upper, mass, mean in zip(*(table[k] for k in ("lower", "upper", "mass", "probability")), strict=True):
        assert lower - 1e-12 <= mean <= upper + 1e-12
        if how == "width":
            held = (sample.score <= upper) & ((sample.score > lower) | (lower == 0))
            assert mass == held.sum()


@given(anywhere, bins)
def test_bins_of_equal_mass_are_equal_up_to_ties(sample: Rows, number: int) -> None:
    t = tally(*sample)
    most = t.rows.sum(axis=0).max()
    assert fill_bins(t, bins=number, by="mass").mass.max() <= len(sample.truth) / number + most + 1e-9


@given(anywhere, bins, by, st.none() | edges)
def test_errors_in_bins_are_in_order(sample: Rows, number: int, how: str, given_edges: list[float] | None) -> None:
    t = tally(*sample)
    options: dict[str, Any] = {"bins": given_edges or number, "by": how}
    mean, largest, root = (of(t, **options) for of in (measure.ece, measure.mce, measure.rmsce))
    gap = abs(sample.truth.mean() - sample.score.mean())
    assert gap - 1e-12 <= mean <= root + 1e-12 <= largest + 2e-12 <= 1 + 3e-12
    assert measure.rmsce_debiased(t, **options) <= largest + 1e-12
    assert measure.ece(t, bins=1) == pytest.approx(gap, abs=1e-12)
    assert gap - 1e-12 <= measure.ece_sweep(t)


@given(anywhere)
def test_cumulated_errors_are_in_order(sample: Rows) -> None:
    t = tally(*sample)
    furthest, span = measure.ecce_mad(t), measure.ecce(t)
    assert furthest <= span + 1e-15 <= 2 * furthest + 2e-15
    gap = abs(sample.truth.mean() - sample.score.mean())
    assert gap <= furthest + 1e-12
    # No stretch of scores has a greater sum than the range, so no bins can.
    assert measure.ece(t, bins=1) <= span + 1e-12


@given(anywhere)
def test_a_smooth_error_lies_between_the_mean_gap_and_that_of_no_smoothing(sample: Rows) -> None:
    t = tally(*sample)
    gap = abs(sample.truth.mean() - sample.score.mean())
    # Without smoothing: every distinct score is a bin.
    most = float(np.sum(np.abs(t.positive * (1 - t.score) - t.negative * t.score)) / t.total)
    values = [measure.smooth_ece(t, width=width) for width in (0.001, 0.01, 0.1, 1.0, 10.0)]
    assert all(wide <= narrow + 1e-6 for narrow, wide in pairwise(values))
    assert gap - 1e-6 <= values[-1] <= values[0] <= most + 1e-6
    result = measure.smooth_ece(t)
    assert gap - 1e-6 <= result <= most + 1e-6
    if result > 0.001:
        assert measure.smooth_ece(t, width=result) == pytest.approx(result, abs=1e-6)


@given(anywhere, st.integers(1, 12), by, st.sampled_from([0, 2]))
def test_a_statistic_of_bins_is_never_negative(sample: Rows, number: int, how: str, less: int) -> None:
    t = tally(*sample)
    result = infer.hosmer_lemeshow(t, bins=number, by=how, fitted=bool(less))  # type: ignore[call-overload]
    if result.why is None:
        assert 0 <= result.statistic <= inf
        assert 0 <= result.p <= 1
        assert result.freedom is not None
        assert 1 <= result.freedom <= number
    for check in infer.calibration_tests(t):
        assert (check.why is not None) == isnan(check.p)


@given(anywhere)
def test_the_likelier_class_has_the_same_brier_score_and_at_least_half(sample: Rows) -> None:
    t = tally(*sample)
    top = t.top_class()
    assert top.total == t.total
    assert measure.brier(top) == pytest.approx(measure.brier(t), rel=1e-12, abs=1e-15)
    assert (top.score >= 0.5).all()
    assert top.top_class().score.tolist() == top.score.tolist()


@given(anywhere)
def test_estimates_hold_their_value(sample: Rows) -> None:
    t = tally(*sample)
    for name, of in STACKED.items():
        result = infer.estimate(of, t)
        if isnan(result.low):
            assert result.why, name
        else:
            assert result.low <= result.value <= result.high, name


@given(anywhere, st.integers(0, 3))
def test_null_references_are_ordered_and_zero_for_certain_models(sample: Rows, seed: int) -> None:
    t = tally(*sample)
    for result in infer.null_references(
        [measure.ece, measure.ecce, measure.brier_miscalibration], t, seed=seed, n_simulations=20
    ):
        assert 0 <= result.low <= result.typical <= result.high
        assert 1 / 21 <= result.p <= 1
        if set(sample.score) <= {0.0, 1.0}:
            assert result.high == 0
