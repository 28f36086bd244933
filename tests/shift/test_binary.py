"""Prevalence of two classes in unlabelled data: laws of all estimators, tests of label shift, and performance."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import expit, logit

import baserate
from baserate import (
    Calibrator,
    EmptyDataError,
    FitError,
    MissingValuesError,
    NotAProbabilityError,
    OptionError,
    Tally,
    Target,
    UnknownNameError,
    calibration,
    measure,
    shift,
    tally,
)
from baserate.shift._data import BinaryData
from baserate.shift._estimators import BINARY_METHODS, ESTIMATORS, MULTICLASS_METHODS
from baserate.shift._label_shift import calibration_test, fit_curve
from baserate.shift._maximum_likelihood import fit_binned

Floats = npt.NDArray[np.float64]


def simulate(n: int, share: float, seed: int, apart: float = 1.5) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Labels, and posteriors that are calibrated at a prevalence of 0.4."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    score = rng.normal(apart * truth, 1.0)
    return truth, expit(apart * score - apart**2 / 2 + logit(0.4))


@pytest.fixture(scope="module")
def validation() -> Tally:
    return tally(*simulate(1500, 0.4, 1))


@pytest.fixture(scope="module")
def target() -> Target:
    return Target(simulate(3000, 0.1, 2)[1])


@pytest.mark.parametrize("method", BINARY_METHODS)
def test_every_interval_contains_the_prevalence(method: str, target: Target, validation: Tally) -> None:
    result = shift.estimate_prevalence(target, validation, method=method)
    assert result.estimate.low < result.value < result.estimate.high
    assert result.estimate.low < 0.1 < result.estimate.high
    assert abs(result.value - 0.1) < 0.05
    assert result.method == method
    assert result.rows == 3000
    assert result.estimate.level == 0.95
    assert result.standard_error > np.sqrt(0.1 * 0.9 / 3000)  # as if all rows had labels
    assert repr(result).startswith("Prevalence(0.")


# Bins include one of their ends, so that reversed scores may change bins; so may scores between a chosen threshold and
# the next score of validation.
ONE_SIDED = ("hdy", "dys", "binned", "t50", "max", "x", "ms", "ms2")


@pytest.mark.parametrize("method", [method for method in BINARY_METHODS if method not in ONE_SIDED])
def test_swapping_classes_gives_the_complement(method: str, target: Target, validation: Tally) -> None:
    swapped = Tally.from_counts(1 - validation.score[::-1], validation.rows[::-1, ::-1])
    turned = Target(1 - target.score)
    options = {"threshold": 0.3} if method in ("acc", "cm-l", "cm-map", "rlls-hard") else {}
    other = {name: np.nextafter(1 - 0.3, 1) for name in options}  # what was flagged no longer is
    first = shift.estimate_prevalence(target, validation, method=method, **options)
    then = shift.estimate_prevalence(turned, swapped, method=method, **other)
    assert then.value == pytest.approx(1 - first.value, abs=1e-9)
    assert then.estimate.low == pytest.approx(1 - first.estimate.high, abs=1e-7)
    assert then.variance == pytest.approx(first.variance, rel=1e-6)


def test_swapping_classes_in_bins_nearly_gives_the_complement(target: Target, validation: Tally) -> None:
    first = shift.estimate_prevalence(target, validation, method="binned")
    swapped = Tally.from_counts(1 - validation.score[::-1], validation.rows[::-1, ::-1])
    then = shift.estimate_prevalence(Target(1 - target.score), swapped, method="binned")
    assert then.value == pytest.approx(1 - first.value, abs=0.2 * first.standard_error)
    assert then.estimate.low == pytest.approx(1 - first.estimate.high, abs=0.2 * first.standard_error)


@pytest.mark.parametrize("method", BINARY_METHODS)
def test_a_count_is_repetition_and_order_does_not_matter(method: str, validation: Tally) -> None:
    rng = np.random.default_rng(3)
    score = simulate(200, 0.2, 4)[1]
    times = rng.integers(1, 4, len(score))
    counted = shift.estimate_prevalence(Target.of_rows(score, count=times), validation, method=method)
    repeated = shift.estimate_prevalence(Target(rng.permutation(np.repeat(score, times))), validation, method=method)
    assert counted.value == pytest.approx(repeated.value, abs=1e-9)
    assert counted.estimate.high == pytest.approx(repeated.estimate.high, abs=1e-7)
    assert counted.rows == repeated.rows == times.sum()


@pytest.mark.parametrize("method", BINARY_METHODS)
def test_the_scale_of_weights_does_not_matter(method: str, validation: Tally) -> None:
    rng = np.random.default_rng(5)
    score, weight = simulate(300, 0.2, 6)[1], rng.uniform(0.5, 2, 300)
    truth, probability = simulate(800, 0.4, 7)
    heavy = rng.uniform(0.5, 2, 800)
    one, other = (
        shift.estimate_prevalence(
            Target.of_rows(score, weight=scale * weight), tally(truth, probability, weight=scale * heavy), method=method
        )
        for scale in (1.0, 7.0)
    )
    assert other.value == pytest.approx(one.value, abs=1e-9)
    assert other.estimate.low == pytest.approx(one.estimate.low, abs=1e-6)
    assert other.estimate.high == pytest.approx(one.estimate.high, abs=1e-6)


@pytest.mark.parametrize("method", BINARY_METHODS)
def test_rows_without_weight_do_not_count(method: str, validation: Tally) -> None:
    score = simulate(300, 0.2, 16)[1]
    absent = Target.of_rows(np.append(score, [0.0, 1.0]), weight=np.append(np.ones(300), [0.0, 0.0]))
    first, then = (shift.estimate_prevalence(each, validation, method=method) for each in (Target(score), absent))
    assert then.value == pytest.approx(first.value, abs=1e-9)
    assert then.estimate.high == pytest.approx(first.estimate.high, abs=1e-6)


def test_validation_scores_as_target_give_the_validation_prevalence(validation: Tally) -> None:
    same = Target(np.repeat(validation.score, validation.rows.sum(axis=0, dtype=np.int64)))
    for method in ("mlls", "acc", "pacc", "binned"):
        result = shift.estimate_prevalence(same, validation, method=method)
        assert result.value == pytest.approx(validation.prevalence, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(share=st.floats(0.02, 0.98), seed=st.integers(0, 1000))
def test_maximum_likelihood_with_true_posteriors_is_consistent(share: float, seed: int) -> None:
    validation = tally(*simulate(400, 0.4, 8))
    result = shift.estimate_prevalence(
        Target(simulate(40_000, share, seed)[1]), validation, method="mlls", recalibrate=False, sample_prevalence=0.4
    )
    assert abs(result.value - share) < 5 * result.standard_error < 0.05


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(power=st.floats(0.3, 3), base=st.floats(-2, 2))
def test_invariance_to_monotone_and_to_linear_transformations(power: float, base: float) -> None:
    validation, target = tally(*simulate(500, 0.4, 9)), Target(simulate(800, 0.15, 10)[1])

    def rescale(score: Floats) -> Floats:
        return np.asarray(expit(base + power * logit(score)))

    others = Target(rescale(np.asarray(target.score))), validation.with_scores(rescale(validation.score))
    for method in ("binned", "mlls"):
        first, then = (shift.estimate_prevalence(*sides, method=method) for sides in ((target, validation), others))
        assert then.value == pytest.approx(first.value, abs=1e-7)
        assert then.estimate.high == pytest.approx(first.estimate.high, abs=1e-6)


def test_scores_need_not_be_probabilities_with_recalibration(validation: Tally, target: Target) -> None:
    raw = Target(logit(np.asarray(target.score))), validation.with_scores(logit(validation.score))
    for method in ("mlls", "binned"):
        first, then = (
            shift.estimate_prevalence(target, validation, method=method),
            shift.estimate_prevalence(*raw, method=method),
        )
        assert then.value == pytest.approx(first.value, abs=1e-8)
    assert shift.estimate_prevalence(*raw, method="acc", threshold=0.0).value == pytest.approx(
        shift.estimate_prevalence(target, validation, method="acc").value, abs=1e-12
    )


@pytest.mark.parametrize("method", BINARY_METHODS)
def test_labels_in_the_target_narrow_intervals(method: str, validation: Tally, target: Target) -> None:
    truth, probability = simulate(400, 0.1, 21)
    known = Target(target.score, labelled=tally(truth, probability))
    plain, with_labels = (shift.estimate_prevalence(each, validation, method=method) for each in (target, known))
    assert with_labels.labelled == 400
    assert with_labels.standard_error < plain.standard_error
    assert with_labels.estimate.high - with_labels.estimate.low < plain.estimate.high - plain.estimate.low
    assert with_labels.estimate.low < 0.1 < with_labels.estimate.high
    assert min(plain.value, truth.mean()) - 0.02 < with_labels.value < max(plain.value, truth.mean()) + 0.02


def test_labels_of_one_class_only_are_not_certain(validation: Tally, target: Target) -> None:
    for method in ("mlls", "pacc", "binned"):
        result = shift.estimate_prevalence(
            Target(target.score, labelled=tally([0] * 20, [0.2] * 20)), validation, method=method
        )
        assert 0 < result.value < shift.estimate_prevalence(target, validation, method=method).value + 1e-9


def test_aliases_give_the_same_estimate(validation: Tally, target: Target) -> None:
    for alias, name in ((alias, name) for alias, name in shift.ALIASES.items() if name != "gmm"):
        first, then = (shift.estimate_prevalence(target, validation, method=each) for each in (alias.upper(), name))
        assert first.value == then.value
        assert first.method == name
    with pytest.raises(UnknownNameError, match=r"there is no method 'guess'\. Known are: binned, mlls"):
        shift.estimate_prevalence(target, validation, method="guess")
    with pytest.raises(OptionError, match="bins= has no use for mlls"):
        shift.estimate_prevalence(target, validation, method="mlls", bins=5)
    with pytest.raises(
        OptionError, match="sample_prevalence= has no use for binned; its options are bins; method='mlls' takes it"
    ):
        shift.estimate_prevalence(target, validation, sample_prevalence=0.3)


def test_intervals_grow_with_the_level(validation: Tally, target: Target) -> None:
    for method in BINARY_METHODS:
        result = [
            shift.estimate_prevalence(target, validation, method=method, level=level) for level in (0.5, 0.9, 0.99)
        ]
        for narrow, wide in pairwise(result):
            assert wide.estimate.low <= narrow.estimate.low <= narrow.value <= narrow.estimate.high
            assert narrow.estimate.high <= wide.estimate.high
            assert wide.estimate.low >= 0
            assert wide.estimate.high <= 1
    with pytest.raises(OptionError, match="level is 95; expected a confidence level"):
        shift.estimate_prevalence(target, validation, level=95)


def test_intervals_at_0_and_1_have_positive_width(validation: Tally) -> None:
    low = Target(np.full(500, 0.02))
    for method in BINARY_METHODS:
        result = shift.estimate_prevalence(low, validation, method=method)
        assert result.value < 0.02
        assert result.estimate.low == 0 or method in ("hdy", "cm-map", "scm-map", "binned")
        assert 0 < result.estimate.high < 0.5
        turned = shift.estimate_prevalence(Target(np.full(500, 0.98)), validation, method=method)
        assert turned.value > 0.9
        assert turned.estimate.high == 1 or method in ("hdy", "cm-map", "scm-map", "binned")
    result = shift.estimate_prevalence(low, validation, method="pacc")
    assert result.unclipped < 0
    assert "so far outside that label shift is in doubt" in " ".join(result.notes)


def test_probabilities_of_0_and_1_are_noted_and_estimates_stay_finite(validation: Tally, target: Target) -> None:
    certain = Target(np.concatenate([target.score, [0.0, 1.0, 1.0]]))
    result = shift.estimate_prevalence(certain, validation, method="mlls")
    assert "3 unlabelled rows have a probability of 0 or 1, or next to it." in result.notes
    assert result.value == pytest.approx(shift.estimate_prevalence(target, validation, method="mlls").value, abs=0.005)
    for method in BINARY_METHODS:
        assert np.isfinite(shift.estimate_prevalence(certain, validation, method=method).estimate.high)
    # Without recalibration, a score of 1 rules out a prevalence of 0.
    exact = shift.estimate_prevalence(
        Target(np.array([0.0] * 50 + [1.0])), validation, method="mlls", recalibrate=False
    )
    assert exact.value == pytest.approx(1 / 51, abs=1e-9)


def test_recalibrate_accepts_a_calibrator(validation: Tally, target: Target) -> None:
    result = calibration.logistic(validation)
    first = shift.estimate_prevalence(target, validation, method="mlls")
    then = shift.estimate_prevalence(target, validation, method="mlls", recalibrate=result)
    assert then.value == pytest.approx(first.value, abs=1e-12)
    assert then.standard_error < first.standard_error  # the calibrator counts as exact
    other = shift.estimate_prevalence(target, validation, method="mlls", recalibrate=calibration.beta(validation))
    assert other.value == pytest.approx(first.value, abs=0.02)


def test_unusable_data_and_options_raise(validation: Tally, target: Target) -> None:
    with pytest.raises(MissingValuesError, match="1 of 2 scores are NaN or infinite"):
        Target(np.array([0.2, np.nan]))
    with pytest.raises(EmptyDataError, match="no unlabelled scores"):
        Target(np.array([]))
    with pytest.raises(FitError, match="no positive rows"):
        shift.estimate_prevalence(target, tally([0, 0, 0], [0.1, 0.2, 0.3]))
    with pytest.raises(FitError, match="no negative rows"):
        shift.estimate_prevalence(target, tally([1, 1], [0.1, 0.2]))
    with pytest.raises(FitError, match="single row"):
        shift.estimate_prevalence(target, tally([1, 0, 0], [0.9, 0.2, 0.3]))
    with pytest.raises(EmptyDataError, match="no rows with weight"):
        shift.estimate_prevalence(target, Tally.from_counts([0.9, 0.2], [[0, 0], [0, 0]]))
    with pytest.raises(FitError, match="all validation scores are equal"):
        shift.estimate_prevalence(target, tally([1, 0] * 20, [0.5] * 40))
    rng = np.random.default_rng(12)
    with pytest.raises(FitError, match=r"carry no information.*Fieller's set is unbounded"):
        shift.estimate_prevalence(target, tally(rng.random(200) < 0.4, rng.random(200)))
    with pytest.raises(FitError, match="reverse the scores"):
        shift.estimate_prevalence(
            target, Tally.from_counts(1 - validation.score[::-1], validation.rows[:, ::-1]), method="mlls"
        )
    with pytest.raises(FitError, match=r"cannot be recalibrated.*separates the classes.*Or estimate by 'pacc'"):
        shift.estimate_prevalence(target, tally([0] * 30 + [1] * 30, np.linspace(0.1, 0.9, 60)), method="mlls")
    with pytest.raises(NotAProbabilityError, match=r"scores of the target go from .* to 30"):
        shift.estimate_prevalence(Target(np.array([0.1, 30.0])), validation, method="mlls", recalibrate=False)
    with pytest.raises(OptionError, match="reweighted"):
        shift.estimate_prevalence(target, shift.reweigh(validation, prevalence=0.2))
    with pytest.raises(OptionError, match="expected the name of its column of scores"):
        shift.estimate_prevalence("scores.csv", validation)  # type: ignore[call-overload]
    for at in (0.0, 1.0, np.nan):
        with pytest.raises(OptionError, match="expected a prevalence between 0 and 1"):
            shift.estimate_prevalence(target, validation, method="mlls", recalibrate=False, sample_prevalence=at)
    with pytest.raises(OptionError, match="has no use: recalibrated"):
        shift.estimate_prevalence(target, validation, method="mlls", sample_prevalence=0.3)
    with pytest.raises(OptionError, match="recalibrate is 'beta'; expected 'logistic'"):
        shift.estimate_prevalence(target, validation, method="mlls", recalibrate="beta")
    with pytest.raises(FitError, match="do not differ enough"):
        shift.estimate_prevalence(target, validation, method="acc", threshold=0.9999)
    with pytest.raises(OptionError, match=r"alpha is 0\.5"):
        shift.estimate_prevalence(target, validation, method="cm-map", alpha=0.5)
    with pytest.raises(OptionError, match="rising"):
        shift.estimate_prevalence(target, validation, method="binned", bins=[0.5, 0.2])


def test_scores_on_another_scale_are_noted(validation: Tally, target: Target) -> None:
    raw = validation.with_scores(logit(validation.score))
    result = shift.estimate_prevalence(Target(100 + np.asarray(target.score)), raw, method="pacc")
    assert "they may be on different scales" in " ".join(result.notes)
    assert not shift.estimate_prevalence(target, validation, method="pacc").notes


def test_rows_and_tallies_are_accepted(validation: Tally, target: Target) -> None:
    truth, probability = simulate(1500, 0.4, 1)
    table = {"y": truth, "p": probability}
    wanted = shift.estimate_prevalence(target, validation).value
    assert shift.estimate_prevalence(target, baserate.read.tallies(table, truth="y", score="p")).value == wanted
    assert shift.estimate_prevalence(target, baserate.read.rows(table, truth="y", score="p")).value == wanted


def test_pooling_of_many_rows_affects_only_the_interval(validation: Tally) -> None:
    """Beyond 16 384 rows the shape of the likelihood is that of pooled rows; the estimate is exact."""
    score = simulate(60_000, 0.1, 13)[1]
    result = shift.estimate_prevalence(Target(score), validation, method="mlls")
    ratio = np.exp(logit(calibration.logistic(validation)(score)) - logit(validation.prevalence))
    slope = ((ratio - 1) / (result.value * ratio + 1 - result.value)).sum()
    assert abs(slope) < 1e-6
    parts = [
        shift.estimate_prevalence(Target(score[at : at + 15_000]), validation, method="mlls")
        for at in range(0, 60_000, 15_000)
    ]
    assert result.target_variance == pytest.approx(np.mean([part.target_variance for part in parts]) / 4, rel=0.02)


def test_posteriors_are_adjusted_to_the_estimate(validation: Tally, target: Target) -> None:
    result = shift.estimate_prevalence(target, validation, method="mlls")
    actual = shift.posterior_calibrator(result)
    assert isinstance(actual, Calibrator)
    assert result.calibrator is not None
    score = np.array([0.1, 0.5, 0.9])
    gamma = shift.gamma(sample_prevalence=validation.prevalence, prevalence=result.value)
    before = result.calibrator(score)
    assert [each.value for each in actual.parameters] == [validation.prevalence, result.value]
    assert actual(score) == pytest.approx(before / (before + gamma * (1 - before)))
    assert actual(np.asarray(target.score)).mean() == pytest.approx(result.value, abs=1e-9)  # what EM's last step says
    raw = shift.estimate_prevalence(target, validation, method="mlls", recalibrate=False, sample_prevalence=0.4)
    assert shift.posterior_calibrator(raw)(score) == pytest.approx(
        shift.reprior(score, sample_prevalence=0.4, prevalence=raw.value)
    )
    assert (
        shift.posterior_calibrator(shift.estimate_prevalence(target, validation, method="pacc"), prevalence=0.2)(
            score
        ).max()
        < 1
    )
    with pytest.raises(OptionError, match="every posterior is the same"):
        shift.posterior_calibrator(result, prevalence=0.0)


def test_measures_at_the_estimate_include_its_uncertainty(validation: Tally, target: Target) -> None:
    result = shift.estimate_prevalence(target, validation)
    rows = shift.adjusted_summary(
        result, measures=["sensitivity", "precision", "auc", "brier", "f1"], threshold=0.5
    ).rows()
    values = {(row["measure"], row["scores"]): row for row in rows}
    at_known = shift.reweigh(validation, prevalence=result.value)
    counts = baserate.curve(at_known).at(0.5)
    assert values["precision", "as given"]["value"] == pytest.approx(measure.precision(counts))
    assert values["precision", "as given"]["prevalence"] == result.value
    known = baserate.infer.estimate("precision", counts)
    row = values["precision", "as given"]
    assert row["low"] < known.low < known.high < row["high"]
    for same in ("sensitivity", "auc"):
        plain = baserate.infer.estimate(same, at_known, threshold=0.5 if same == "sensitivity" else None)
        assert values[same, "as given"]["low"] == pytest.approx(plain.low, abs=1e-6)
    assert values["brier", "corrected"]["value"] < values["brier", "as given"]["value"]
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows if row["low"] is not None)
    cost = partial(measure.expected_cost, costs=baserate.Costs(fp=1, fn=10))
    paid, error, again = shift.adjusted_summary(
        result, measures=[cost, partial(measure.ece, bins=3)], threshold=0.5
    ).rows()[-3:]
    assert paid["value"] == pytest.approx(measure.expected_cost(counts, costs=baserate.Costs(fp=1, fn=10)))
    assert paid["low"] < paid["value"] < paid["high"]
    assert error["value"] == pytest.approx(measure.ece(at_known, bins=3))
    assert again["scores"] == "corrected"
    assert again["value"] == pytest.approx(
        measure.ece(at_known.with_scores(shift.posterior_calibrator(result)(at_known.score)), bins=3)
    )
    prevalence = shift.adjusted_summary(result, measures=["prevalence"], threshold=0.5).rows()[-1]
    assert (prevalence["low"], prevalence["high"]) == (result.estimate.low, result.estimate.high)


def test_measures_at_an_end_are_limits(validation: Tally) -> None:
    result = shift.estimate_prevalence(Target(np.full(500, 0.02)), validation)
    assert result.value == 0
    results = shift.adjusted_summary(result, measures=["precision", "accuracy", "specificity", "npv"], threshold=0.5)
    rows = {row["measure"]: row for row in results.rows()}
    assert rows["precision"]["value"] < 1e-6 < rows["precision"]["high"]
    assert rows["accuracy"]["value"] == pytest.approx(rows["specificity"]["value"])
    assert "measures are their limits at that prevalence" in " ".join(results.data["notes"])


def test_all_measures_can_be_corrected(validation: Tally, target: Target) -> None:
    results = shift.adjusted_summary(shift.estimate_prevalence(target, validation), measures="all", threshold=0.5)
    rows = results.rows()
    assert "taken as known" not in " ".join(results.data["notes"])
    for row in rows:
        assert row["value"] is not None or row["why"]
        assert row["low"] is not None or row["why"] or row["measure"] in ("tp", "fp", "fn", "tn")


def test_label_shift_is_distinguished_from_noise(validation: Tally, target: Target) -> None:
    fits = shift.label_shift_test(target, validation)
    assert not fits.rejected
    assert [check.name for check in fits.checks] == ["goodness_of_fit", "binned_less_pacc"]
    assert "no evidence against label shift" in fits.summary[0]
    assert "Not tested, since scores alone cannot show it" in fits.summary[-1]
    noisier = Target(np.asarray(expit(1.6 * logit(np.asarray(target.score)))))
    assert shift.label_shift_test(noisier, validation).rejected
    assert "not label shift alone" in " ".join(shift.label_shift_test(noisier, validation).summary)


def test_label_shift_needs_three_bins_and_an_estimate_inside(validation: Tally) -> None:
    same = Target(simulate(2000, 0.4, 14)[1])
    two, _ = shift.label_shift_test(same, validation, bins=2).checks
    assert "the test needs 3" in (two.why or "")
    ended = shift.label_shift_test(Target(np.full(500, 0.02)), validation)
    assert "at an end of [0, 1]" in (ended.checks[1].why or "")
    assert any("Not tested by binned_less_pacc" in line for line in ended.summary)


@pytest.mark.slow
def test_the_goodness_of_fit_test_has_its_nominal_size() -> None:
    """Of 200 targets of another prevalence, about one in twenty is rejected, where comparing scores rejects all."""
    rejected = 0
    for seed in range(200):
        sides = Target(simulate(800, 0.15, 2 * seed)[1]), tally(*simulate(600, 0.4, 2 * seed + 1))
        rejected += shift.label_shift_test(*sides).checks[0].p < 0.05
    assert 2 <= rejected <= 22


def test_performance_without_labels_is_that_of_an_expected_tally(target: Target, validation: Tally) -> None:
    expected = shift.expected_tally(target)
    assert expected.total == pytest.approx(3000)
    assert expected.positives == pytest.approx(np.asarray(target.score).sum())
    result = shift.estimate_performance(target, assume="covariate shift", measures=["precision", "auc", "prevalence"])
    values = {row["measure"]: row for row in result.rows()}
    assert values["auc"]["value"] == pytest.approx(measure.auc(baserate.curve(expected)))
    assert values["prevalence"]["low"] < np.asarray(target.score).mean() < values["prevalence"]["high"]
    assert result.data["assume"] == "covariate shift"
    assert result.data["notes"][0].startswith("Assumed: covariate shift")
    assert {row["model"] for row in result.rows()} == {None}  # as in every summary of a single model


def test_performance_without_labels_is_near_the_actual_one(validation: Tally) -> None:
    truth, probability = simulate(20_000, 0.1, 15)
    actual = tally(truth, probability)
    counts = baserate.curve(actual).at(0.5)
    for assume, near in (("label shift", True), ("covariate shift", False)):
        result = shift.estimate_performance(  # type: ignore[call-overload]
            Target(probability),
            validation,
            assume=assume,
            measures=["precision", "f1"],
        )
        for row in result.rows():
            if row["measure"] in ("precision", "f1"):
                assert (row["low"] <= measure.MEASURES[row["measure"]](counts) <= row["high"]) is near


def test_weighted_targets_have_expected_tallies_too() -> None:
    twice = Target.of_rows(np.array([0.75, 0.5]), weight=np.array([2.0, 1.0]))
    assert shift.expected_tally(twice).mass.tolist() == [[1.5, 0.5], [0.5, 0.5]]
    assert shift.expected_tally(twice).squares.tolist() == [[3.0, 0.5], [1.0, 0.5]]
    by = calibration.prevalence(sample_prevalence=0.5, prevalence=0.2)
    assert shift.expected_tally(twice, by).positives == pytest.approx((by(twice.score) * [2, 1]).sum())


def test_covariate_shift_does_not_need_informative_scores(target: Target) -> None:
    """Such scores determine no prevalence, but a probability at each of them."""
    rng = np.random.default_rng(23)
    blind = tally(rng.random(400) < 0.3, rng.random(400))
    with pytest.raises(FitError, match="carry no information"):
        shift.estimate_performance(target, blind, assume="label shift")
    result = shift.estimate_performance(target, blind, assume="covariate shift", measures=["prevalence"]).rows()[-1]
    assert result["low"] < 0.3 < result["high"]


def test_invalid_requests_of_performance_raise(target: Target, validation: Tally) -> None:
    with pytest.raises(OptionError, match="'label-shift' or 'covariate-shift'"):
        shift.estimate_performance(target, validation, assume="anything")  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="give validation data"):
        shift.estimate_performance(target, assume="label shift")
    with pytest.raises(OptionError, match=r"sample_prevalence=0\.3 has no use: there are no validation data"):
        shift.estimate_performance(target, assume="covariate shift", sample_prevalence=0.3)
    with pytest.raises(
        OptionError, match="averages= has no use for performance; its options are recalibrate, sample_prevalence"
    ):
        shift.estimate_performance(target, validation, assume="covariate shift", averages=["macro"])
    with pytest.raises(NotAProbabilityError, match="must be probabilities"):
        shift.estimate_performance(Target(np.array([0.2, 3.0])), assume="covariate shift")
    estimate_uncalibrated = partial(
        shift.estimate_performance, validation=validation, assume="label shift", recalibrate=False
    )
    result = estimate_uncalibrated(target, measures=["ece", "ks"])
    assert all("no closed form" in row["why"] for row in result.rows())
    ended = estimate_uncalibrated(Target(np.full(500, 0.02)), measures=["accuracy"])
    assert "the estimated prevalence is 0 or 1" in ended.rows()[-1]["why"]
    with pytest.raises(
        OptionError, match="recalibrate is 'isotonic'; expected 'logistic', True, False or a Calibrator"
    ):
        shift.estimate_performance(target, validation, assume="covariate shift", recalibrate="isotonic")


def simulate_unequal(n: int, share: float, seed: int) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Positives vary twice as much as negatives: the log-likelihood ratio is not linear in the log-odds."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    return truth, expit(rng.normal(1.5 * truth, 1.0 + truth) - 1)


def test_binned_needs_no_calibration_and_mlls_notes_a_misfit() -> None:
    """In twelve samples of unequal variances mlls averages half of the truth; the default does not."""
    result = []
    for seed in range(12):
        validation, target = (
            tally(*simulate_unequal(2000, 0.4, seed)),
            Target(simulate_unequal(5000, 0.1, 100 + seed)[1]),
        )
        usual = shift.estimate_prevalence(target, validation)
        assert usual.method == "binned"
        other = shift.estimate_prevalence(target, validation, method="mlls")
        notes = " ".join(other.notes)
        assert "do not fit the validation data (p < 0.0001)" in notes
        assert f"By binned, which needs no calibration, the prevalence is {usual.value:.3g}"[:70] in notes
        result.append((usual.value, other.value, usual.estimate.low <= 0.1 <= usual.estimate.high))
    assert np.mean([each[0] for each in result]) == pytest.approx(0.1, abs=0.01)
    assert np.mean([each[1] for each in result]) < 0.07
    assert sum(each[2] for each in result) >= 10


def test_notes_say_that_a_calibration_fits(target: Target, validation: Tally) -> None:
    result = shift.estimate_prevalence(target, validation, method="mlls")
    assert "The probabilities fit the validation data (p = " in result.notes[-1]
    assert [check.name for check in result.checks] == ["calibration_curve"]
    assert shift.estimate_prevalence(target, validation, method="mlls", recalibrate="logistic").value == result.value


def test_the_calibration_test_is_a_score_test_of_bins(validation: Tally) -> None:
    """Beside statsmodels: the same score test, of indicators of the same bins added to a logistic regression."""
    statsmodels = pytest.importorskip("statsmodels.api")
    result = calibration.logistic(validation)
    x, chance = logit(validation.score), result(validation.score)
    check = calibration_test(validation, chance, np.stack([np.ones_like(x), x]))
    weight = np.cumsum((chance * (1 - chance))[::-1])
    middle = (weight - (chance * (1 - chance))[::-1] / 2) / weight[-1]
    at = np.minimum((middle * 10).astype(int), 9)[::-1]
    own = np.column_stack([np.ones_like(x), x])
    fit = statsmodels.GLM(validation.positive, own, family=statsmodels.families.Binomial()).fit(tol=1e-12)
    added = (at[:, None] == np.arange(1, 10)).astype(float)
    statistic, p, _ = fit.model.score_test(fit.params, exog_extra=added)
    assert check.freedom == 9
    assert check.statistic == pytest.approx(float(np.ravel(statistic)[0]), rel=1e-6)
    assert check.p == pytest.approx(float(np.ravel(p)[0]), rel=1e-5)


def test_bins_have_equal_parts_of_a_rare_class() -> None:
    truth, score = simulate(4000, 0.04, 31)
    observed = fit_binned(BinaryData(Target(simulate(500, 0.2, 32)[1]), tally(truth, score)))[1].histograms.counts
    both = observed.first / observed.first.sum() + observed.second / observed.second.sum()
    assert len(both) == 10
    assert both == pytest.approx(np.full(10, 0.2), abs=0.01)


def test_p_values_are_adjusted_for_two_tests(target: Target, validation: Tally) -> None:
    checks = tuple(
        baserate.infer.CalibrationTest(name, 2.0, 0.03, "χ²") for name in ("goodness_of_fit", "binned_less_pacc")
    )
    assert not shift.LabelShiftTestResult(checks, ()).rejected
    assert shift.LabelShiftTestResult(checks[:1], ()).rejected
    assert shift.LabelShiftTestResult(checks, ()).adjusted == (0.06, 0.06)
    assert "Holm-adjusted p" in shift.label_shift_test(target, validation).summary[0]


def test_disagreement_is_noted_by_the_estimate_itself(target: Target, validation: Tally) -> None:
    assert not shift.estimate_prevalence(target, validation).notes
    noisier = Target(np.asarray(expit(1.6 * logit(np.asarray(target.score)))))
    notes = " ".join(shift.estimate_prevalence(noisier, validation).notes)
    assert "not label shift alone" in notes


def test_posteriors_where_no_logistic_curve_fits_are_shares_of_bins() -> None:
    validation, target = tally(*simulate_unequal(2000, 0.4, 1)), Target(simulate_unequal(5000, 0.1, 2)[1])
    result = shift.estimate_prevalence(target, validation)
    actual = shift.posterior_calibrator(result)
    assert "a logistic curve does not fit the validation data" in actual.notes[0]
    assert actual(np.asarray(target.score)).mean() == pytest.approx(result.value, abs=0.01)
    assert actual([0.02])[0] > actual([0.2])[0]  # positives vary more, so that low scores are theirs, too


def test_under_label_shift_performance_is_that_of_validation_at_the_estimate() -> None:
    validation, target = tally(*simulate_unequal(2000, 0.4, 3)), Target(simulate_unequal(5000, 0.1, 4)[1])
    result = shift.estimate_performance(
        target, validation, assume="label shift", measures=["precision", "accuracy", "brier"]
    )
    rows = {row["measure"]: row for row in result.rows()}
    deployment = shift.reweigh(validation, prevalence=shift.estimate_prevalence(target, validation).value)
    assert rows["brier"]["value"] == pytest.approx(measure.brier(deployment))
    assert rows["precision"]["value"] == pytest.approx(measure.precision(baserate.curve(deployment).at(0.5)))
    assert sum(rows[cell]["value"] for cell in ("tp", "fp", "fn", "tn")) == pytest.approx(5000)
    actual = tally(*simulate_unequal(400_000, 0.1, 5))
    assert rows["brier"]["low"] < measure.brier(actual) < rows["brier"]["high"]
    assert "of the unlabelled rows are flagged at 0.5" in " ".join(result.data["notes"])


CURVES: dict[str, Callable[[Floats], Floats]] = {
    "quadratic": lambda s: 0.05 + 3.6 * (s - 0.4) ** 2 / 1.44,
    "threshold": lambda s: np.where(s < 0.6, 0.1, 0.8),
}


@pytest.mark.parametrize("curve", CURVES)
def test_under_covariate_shift_no_curve_is_assumed(curve: str) -> None:
    """Intervals of 20 samples of each curve contain the values of a large sample; those of a logistic curve do not."""
    names, chance = ["sensitivity", "accuracy", "auc", "brier"], CURVES[curve]
    rng = np.random.default_rng(41)
    large = rng.beta(2, 4, 400_000)
    actual = tally(rng.random(400_000) < chance(large), large)
    counts = baserate.curve(actual).at(0.5)
    truth = {"sensitivity": measure.sensitivity(counts), "accuracy": measure.accuracy(counts)}
    truth |= {"auc": measure.auc(baserate.curve(actual)), "brier": measure.brier(actual)}
    hits: list[list[bool]] = []
    misses: list[list[bool]] = []
    for _ in range(20):
        before, target = rng.random(2000), Target(rng.beta(2, 4, 5000))
        estimate = partial(
            shift.estimate_performance,
            target,
            tally(rng.random(2000) < chance(before), before),
            assume="covariate shift",
        )
        result, other = estimate(measures=names), estimate(measures=names, recalibrate="logistic")
        for results, observed in ((result, hits), (other, misses)):
            rows = {row["measure"]: row for row in results.rows()}
            observed.append([rows[name]["low"] <= truth[name] <= rows[name]["high"] for name in names])
        assert "recalibrated on the validation data by a curve that is linear in each of" in result.data["notes"][1]
        assert "do not fit the validation data (p < 0.0001)" in " ".join(other.data["notes"])
        assert other.data["doubts"] == ["calibration does not fit (p < 0.0001)"]
    assert np.mean(hits) > 0.85
    assert np.mean(misses, axis=0).min() < 0.5


def test_the_curve_is_least_squares_in_each_bin_with_its_influence() -> None:
    rng = np.random.default_rng(43)
    score = rng.random(400)
    validation, target_score = tally(rng.random(400) < score, score), np.sort(rng.random(300))[::-1]
    result = fit_curve(validation, target_score, np.ones(300), [0.5])
    assert np.nextafter(0.5, 0) in result.edges
    at = np.searchsorted(result.edges, score)
    truth = validation.positive[np.searchsorted(-validation.score, -score)]
    for place in range(len(result.middle)):
        slope, level = np.polyfit(score[at == place] - result.middle[place], truth[at == place], 1)
        assert (level, slope) == pytest.approx((result.level[place], result.slope[place]))
    assert result.evaluate_falling(target_score) == pytest.approx(result(target_score))
    change = rng.normal(size=300)
    row = 17  # one row's outcome moves a sum of chances by the hat matrix; so do its residual and the influence
    turned = validation.positive.copy()
    turned[row] = 1 - turned[row]
    other = fit_curve(tally(turned.astype(bool), validation.score), target_score, np.ones(300), [0.5])
    influence = result.influence_on(target_score, change)
    per_unit = (influence[0] - influence[1])[row] / np.sqrt(result.correction[result.places(validation.score[row])])
    expected = float(change @ (other.evaluate_lines(target_score) - result.evaluate_lines(target_score)))
    assert per_unit * (turned[row] - validation.positive[row]) == pytest.approx(expected)


def test_target_scores_outside_validation_raise() -> None:
    rng = np.random.default_rng(44)
    score = rng.beta(2, 8, 300)
    with pytest.raises(FitError, match="% of the unlabelled scores lie outside those of validation"):
        shift.estimate_performance(
            Target(rng.beta(8, 2, 1000)), tally(rng.random(300) < score, score), assume="covariate shift"
        )
    near = Target(np.append(rng.beta(2, 8, 999), 0.99))
    assert shift.estimate_performance(near, tally(rng.random(300) < score, score), assume="covariate shift").rows()


def test_without_validation_the_notes_say_that_calibration_is_assumed(target: Target) -> None:
    result = shift.estimate_performance(target, assume="covariate shift", measures=["accuracy"])
    assert "Probabilities were taken as calibrated: there are no validation data" in result.data["notes"][1]


def test_the_registry_of_estimators_is_complete() -> None:
    names = [name for each in ESTIMATORS for name in (each.name, *each.aliases)]
    assert len(set(names)) == len(names)
    assert {name: shift.resolve_method(name) for name in shift.ALIASES} == dict(shift.ALIASES)
    for each in ESTIMATORS:
        assert each.description.endswith(".")
        assert each.assumption
        assert each.binary or each.multiclass
    assert set(shift.METHODS) == {each.name for each in ESTIMATORS}
    assert shift.DEFAULT_METHOD in BINARY_METHODS
    assert shift.DEFAULT_MULTICLASS_METHOD in MULTICLASS_METHODS


@pytest.mark.parametrize("assume", ["label shift", "covariate shift"])
def test_assumptions_may_be_spelled_with_a_hyphen(assume: Any) -> None:  # noqa: ANN401  (a literal)
    rng = np.random.default_rng(0)
    risk = rng.random(400)
    arguments: tuple[Any, ...] = (risk[:200], rng.random(400) < risk, risk)
    results = [shift.estimate_performance(*arguments, assume=each) for each in (assume, assume.replace(" ", "-"))]
    assert results[0].rows() == results[1].rows()
    assert results[0].data["assume"] == results[1].data["assume"] == assume
