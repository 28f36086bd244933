"""The prevalence of a target without truth, and what follows from it."""

from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

import baserate
from baserate import (
    BadOption,
    CannotFit,
    EmptyData,
    Map,
    MissingValues,
    NotAProbability,
    Tally,
    Target,
    UnknownName,
    calibrate,
    measure,
    shift,
    tally,
)
from baserate.shift._two._methods import METHODS

Floats = npt.NDArray[np.float64]


def drawn(n: int, share: float, seed: int, apart: float = 1.5) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Truth, and posteriors that are right at a prevalence of 0.4."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    score = rng.normal(apart * truth, 1.0)
    return truth, expit(apart * score - apart**2 / 2 + logit(0.4))


@pytest.fixture(scope="module")
def validation() -> Tally:
    return tally(*drawn(1500, 0.4, 1))


@pytest.fixture(scope="module")
def target() -> Target:
    return Target(drawn(3000, 0.1, 2)[1])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_it_and_its_interval_holds_it(method: str, target: Target, validation: Tally) -> None:
    found = shift.prevalence(target, validation, method=method)
    assert found.estimate.low < found.value < found.estimate.high
    assert found.estimate.low < 0.1 < found.estimate.high
    assert abs(found.value - 0.1) < 0.05
    assert found.method == method
    assert found.rows == 3000
    assert found.estimate.level == 0.95
    assert found.standard_error > np.sqrt(0.1 * 0.9 / 3000)  # labels would tell more than scores do
    assert repr(found).startswith("Prevalence(0.")


# Bins of equal width hold their lower ends, so that turned scores may change bins: hdy is not among them.
@pytest.mark.parametrize("method", [method for method in METHODS if method != "hdy"])
def test_classes_change_places(method: str, target: Target, validation: Tally) -> None:
    swapped = Tally.counted(1 - validation.score[::-1], validation.rows[::-1, ::-1])
    turned = Target(1 - target.score)
    options = {"threshold": 0.3} if method in ("acc", "cm-l", "cm-map", "rlls-hard") else {}
    other = {name: np.nextafter(1 - 0.3, 1) for name in options}  # what was flagged no longer is
    first = shift.prevalence(target, validation, method=method, **options)
    then = shift.prevalence(turned, swapped, method=method, **other)
    assert then.value == pytest.approx(1 - first.value, abs=1e-9)
    assert then.estimate.low == pytest.approx(1 - first.estimate.high, abs=1e-7)
    assert then.variance == pytest.approx(first.variance, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_count_is_repetition_and_order_does_not_matter(method: str, validation: Tally) -> None:
    rng = np.random.default_rng(3)
    score = drawn(200, 0.2, 4)[1]
    times = rng.integers(1, 4, len(score))
    counted = shift.prevalence(Target.of_rows(score, count=times), validation, method=method)
    repeated = shift.prevalence(Target(rng.permutation(np.repeat(score, times))), validation, method=method)
    assert counted.value == pytest.approx(repeated.value, abs=1e-9)
    assert counted.estimate.high == pytest.approx(repeated.estimate.high, abs=1e-7)
    assert counted.rows == repeated.rows == times.sum()


@pytest.mark.parametrize("method", METHODS)
def test_weights_may_be_scaled(method: str, validation: Tally) -> None:
    rng = np.random.default_rng(5)
    score, weight = drawn(300, 0.2, 6)[1], rng.uniform(0.5, 2, 300)
    truth, probability = drawn(800, 0.4, 7)
    heavy = rng.uniform(0.5, 2, 800)
    one, other = (
        shift.prevalence(
            Target.of_rows(score, weight=scale * weight), tally(truth, probability, weight=scale * heavy), method=method
        )
        for scale in (1.0, 7.0)
    )
    assert other.value == pytest.approx(one.value, abs=1e-9)
    assert other.estimate.low == pytest.approx(one.estimate.low, abs=1e-6)
    assert other.estimate.high == pytest.approx(one.estimate.high, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_weight_are_absent(method: str, validation: Tally) -> None:
    score = drawn(300, 0.2, 16)[1]
    absent = Target.of_rows(np.append(score, [0.0, 1.0]), weight=np.append(np.ones(300), [0.0, 0.0]))
    first, then = (shift.prevalence(each, validation, method=method) for each in (Target(score), absent))
    assert then.value == pytest.approx(first.value, abs=1e-9)
    assert then.estimate.high == pytest.approx(first.estimate.high, abs=1e-6)


def test_validation_itself_has_its_own_prevalence(validation: Tally) -> None:
    same = Target(np.repeat(validation.score, validation.rows.sum(axis=0, dtype=np.int64)))
    for method in ("mlls", "acc", "pacc", "binned"):
        found = shift.prevalence(same, validation, method=method)
        assert found.value == pytest.approx(validation.prevalence, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(share=st.floats(0.02, 0.98), seed=st.integers(0, 1000))
def test_maximum_likelihood_with_true_posteriors_is_consistent(share: float, seed: int) -> None:
    validation = tally(*drawn(400, 0.4, 8))
    found = shift.prevalence(Target(drawn(40_000, share, seed)[1]), validation, recalibrate=False, at=0.4)
    assert abs(found.value - share) < 5 * found.standard_error < 0.05


@settings(max_examples=25, deadline=None)
@given(power=st.floats(0.3, 3), base=st.floats(-2, 2))
def test_what_keeps_order_does_not_change_bins_nor_a_line_of_log_odds_the_likelihood(power: float, base: float) -> None:
    validation, target = tally(*drawn(500, 0.4, 9)), Target(drawn(800, 0.15, 10)[1])

    def moved(score: Floats) -> Floats:
        return np.asarray(expit(base + power * logit(score)))

    others = Target(moved(np.asarray(target.score))), validation.rescored(moved(validation.score))
    for method in ("binned", "mlls"):
        first, then = (shift.prevalence(*sides, method=method) for sides in ((target, validation), others))
        assert then.value == pytest.approx(first.value, abs=1e-7)
        assert then.estimate.high == pytest.approx(first.estimate.high, abs=1e-6)


def test_scores_need_be_no_probabilities_where_they_are_recalibrated(validation: Tally, target: Target) -> None:
    raw = Target(logit(np.asarray(target.score))), validation.rescored(logit(validation.score))
    for method in ("mlls", "binned"):
        first, then = shift.prevalence(target, validation, method=method), shift.prevalence(*raw, method=method)
        assert then.value == pytest.approx(first.value, abs=1e-8)
    assert shift.prevalence(*raw, method="acc", threshold=0.0).value == pytest.approx(
        shift.prevalence(target, validation, method="acc").value, abs=1e-12
    )


@pytest.mark.parametrize("method", METHODS)
def test_labels_in_the_target_make_it_surer(method: str, validation: Tally, target: Target) -> None:
    truth, probability = drawn(400, 0.1, 21)
    known = Target(target.score, labelled=tally(truth, probability))
    plain, helped = (shift.prevalence(each, validation, method=method) for each in (target, known))
    assert helped.labelled == 400
    assert helped.standard_error < plain.standard_error
    assert helped.estimate.high - helped.estimate.low < plain.estimate.high - plain.estimate.low
    assert helped.estimate.low < 0.1 < helped.estimate.high
    assert min(plain.value, truth.mean()) - 0.02 < helped.value < max(plain.value, truth.mean()) + 0.02


def test_labels_of_one_class_alone_are_no_certainty(validation: Tally, target: Target) -> None:
    for method in ("mlls", "pacc", "binned"):
        found = shift.prevalence(Target(target.score, labelled=tally([0] * 20, [0.2] * 20)), validation, method=method)
        assert 0 < found.value < shift.prevalence(target, validation, method=method).value + 1e-9


def test_other_names_lead_to_the_same(validation: Tally, target: Target) -> None:
    for alias, name in ((alias, name) for alias, name in shift.ALIASES.items() if name != "gmm"):
        first, then = (shift.prevalence(target, validation, method=each) for each in (alias.upper(), name))
        assert first.value == then.value
        assert first.method == name
    with pytest.raises(UnknownName, match="no method is called 'guess'; known are: mlls"):
        shift.prevalence(target, validation, method="guess")
    with pytest.raises(BadOption, match="bins= has no use for mlls"):
        shift.prevalence(target, validation, bins=5)


def test_intervals_grow_with_the_level(validation: Tally, target: Target) -> None:
    for method in METHODS:
        found = [shift.prevalence(target, validation, method=method, level=level) for level in (0.5, 0.9, 0.99)]
        for narrow, wide in pairwise(found):
            assert wide.estimate.low <= narrow.estimate.low <= narrow.value <= narrow.estimate.high
            assert narrow.estimate.high <= wide.estimate.high
            assert wide.estimate.low >= 0
            assert wide.estimate.high <= 1
    with pytest.raises(BadOption, match="level is 95; expected a confidence level"):
        shift.prevalence(target, validation, level=95)


def test_at_the_ends_an_interval_has_width(validation: Tally) -> None:
    low = Target(np.full(500, 0.02))
    for method in METHODS:
        found = shift.prevalence(low, validation, method=method)
        assert found.value < 0.02
        assert found.estimate.low == 0 or method in ("hdy", "cm-map", "scm-map", "binned")
        assert 0 < found.estimate.high < 0.5
        turned = shift.prevalence(Target(np.full(500, 0.98)), validation, method=method)
        assert turned.value > 0.9
        assert turned.estimate.high == 1 or method in ("hdy", "cm-map", "scm-map", "binned")
    found = shift.prevalence(low, validation, method="pacc")
    assert found.unclipped < 0
    assert "so far outside that label shift is in doubt" in " ".join(found.notes)


def test_certain_scores_are_counted_and_harmless(validation: Tally, target: Target) -> None:
    certain = Target(np.concatenate([target.score, [0.0, 1.0, 1.0]]))
    found = shift.prevalence(certain, validation)
    assert "3 rows of the target have a probability of 0 or 1, or next to it." in found.notes
    assert found.value == pytest.approx(shift.prevalence(target, validation).value, abs=0.005)
    for method in METHODS:
        assert np.isfinite(shift.prevalence(certain, validation, method=method).estimate.high)
    # As they are, certain rows rule out that there is none of their class.
    exact = shift.prevalence(Target(np.array([0.0] * 50 + [1.0])), validation, recalibrate=False)
    assert exact.value == pytest.approx(1 / 51, abs=1e-9)


def test_a_map_makes_posteriors_right(validation: Tally, target: Target) -> None:
    made = calibrate.logistic(validation)
    first, then = shift.prevalence(target, validation), shift.prevalence(target, validation, recalibrate=made)
    assert then.value == pytest.approx(first.value, abs=1e-12)
    assert then.standard_error < first.standard_error  # the map is taken as exact
    other = shift.prevalence(target, validation, recalibrate=calibrate.beta(validation))
    assert other.value == pytest.approx(first.value, abs=0.02)


def test_what_cannot_be_used_is_refused(validation: Tally, target: Target) -> None:
    with pytest.raises(MissingValues, match="1 of 2 scores are NaN or infinite"):
        Target(np.array([0.2, np.nan]))
    with pytest.raises(EmptyData, match="no scores without truth"):
        Target(np.array([]))
    with pytest.raises(CannotFit, match="no positive rows"):
        shift.prevalence(target, tally([0, 0, 0], [0.1, 0.2, 0.3]))
    with pytest.raises(CannotFit, match="no negative rows"):
        shift.prevalence(target, tally([1, 1], [0.1, 0.2]))
    with pytest.raises(CannotFit, match="single row"):
        shift.prevalence(target, tally([1, 0, 0], [0.9, 0.2, 0.3]))
    with pytest.raises(EmptyData, match="no rows with weight"):
        shift.prevalence(target, Tally.counted([0.9, 0.2], [[0, 0], [0, 0]]))
    with pytest.raises(CannotFit, match="all validation scores are the same"):
        shift.prevalence(target, tally([1, 0] * 20, [0.5] * 40))
    rng = np.random.default_rng(12)
    with pytest.raises(CannotFit, match=r"carry no information.*Fieller's set is unbounded"):
        shift.prevalence(target, tally(rng.random(200) < 0.4, rng.random(200)))
    with pytest.raises(CannotFit, match="turn scores round"):
        shift.prevalence(target, Tally.counted(1 - validation.score[::-1], validation.rows[:, ::-1]))
    with pytest.raises(CannotFit, match=r"cannot be recalibrated.*parts the classes.*Or estimate by 'pacc'"):
        shift.prevalence(target, tally([0] * 30 + [1] * 30, np.linspace(0.1, 0.9, 60)))
    with pytest.raises(NotAProbability, match=r"scores of the target go from .* to 30"):
        shift.prevalence(Target(np.array([0.1, 30.0])), validation, recalibrate=False)
    with pytest.raises(BadOption, match="reweighed"):
        shift.prevalence(target, shift.reweigh(validation, to=0.2))
    with pytest.raises(BadOption, match="is no Target"):
        shift.prevalence(np.array([0.2]), validation)  # type: ignore[call-overload]
    for at in (0.0, 1.0, np.nan):
        with pytest.raises(BadOption, match="a prevalence lies between"):
            shift.prevalence(target, validation, recalibrate=False, at=at)
    with pytest.raises(BadOption, match="has no use: recalibrated"):
        shift.prevalence(target, validation, at=0.3)
    with pytest.raises(CannotFit, match="does not tell the classes apart"):
        shift.prevalence(target, validation, method="acc", threshold=0.9999)
    with pytest.raises(BadOption, match=r"alpha is 0\.5"):
        shift.prevalence(target, validation, method="cm-map", alpha=0.5)
    with pytest.raises(BadOption, match="rising"):
        shift.prevalence(target, validation, method="binned", bins=[0.5, 0.2])


def test_other_scales_are_noted(validation: Tally, target: Target) -> None:
    raw = validation.rescored(logit(validation.score))
    found = shift.prevalence(Target(100 + np.asarray(target.score)), raw, method="pacc")
    assert "they may be on different scales" in " ".join(found.notes)
    assert not shift.prevalence(target, validation, method="pacc").notes


def test_rows_and_tallies_are_taken_as_well(validation: Tally, target: Target) -> None:
    truth, probability = drawn(1500, 0.4, 1)
    table = {"y": truth, "p": probability}
    wanted = shift.prevalence(target, validation).value
    assert shift.prevalence(target, baserate.read.tallies(table, truth="y", score="p")).value == wanted
    assert shift.prevalence(target, baserate.read.rows(table, truth="y", score="p")).value == wanted


def test_many_rows_are_pooled_for_the_interval_alone(validation: Tally) -> None:
    """Beyond 16 384 rows the shape of the likelihood is that of pooled rows; the estimate is exact."""
    score = drawn(60_000, 0.1, 13)[1]
    found = shift.prevalence(Target(score), validation)
    ratio = np.exp(logit(calibrate.logistic(validation)(score)) - logit(validation.prevalence))
    slope = ((ratio - 1) / (found.value * ratio + 1 - found.value)).sum()
    assert abs(slope) < 1e-6
    parts = [shift.prevalence(Target(score[at : at + 15_000]), validation) for at in range(0, 60_000, 15_000)]
    assert found.spread == pytest.approx(np.mean([part.spread for part in parts]) / 4, rel=0.02)


def test_posteriors_are_carried_to_the_estimate(validation: Tally, target: Target) -> None:
    found = shift.prevalence(target, validation)
    made = shift.posterior(found)
    assert isinstance(made, Map)
    assert found.map is not None
    score = np.array([0.1, 0.5, 0.9])
    gamma = shift.gamma(at=validation.prevalence, to=found.value)
    before = found.map(score)
    assert [each.value for each in made.parameters] == [validation.prevalence, found.value]
    assert made(score) == pytest.approx(before / (before + gamma * (1 - before)))
    assert made(np.asarray(target.score)).mean() == pytest.approx(found.value, abs=1e-9)  # what EM's last step says
    raw = shift.prevalence(target, validation, recalibrate=False, at=0.4)
    assert shift.posterior(raw)(score) == pytest.approx(shift.reprior(score, from_=0.4, to=raw.value))
    assert shift.posterior(shift.prevalence(target, validation, method="pacc"), to=0.2)(score).max() < 1
    with pytest.raises(BadOption, match="every posterior is the same"):
        shift.posterior(found, to=0.0)


def test_measures_at_the_estimate_know_that_it_is_one(validation: Tally, target: Target) -> None:
    found = shift.prevalence(target, validation)
    rows = shift.corrected(found, measures=["sensitivity", "precision", "auc", "brier", "f1"], threshold=0.5).rows()
    values = {(row["measure"], row["scores"]): row for row in rows}
    at_known = shift.reweigh(validation, to=found.value)
    counts = baserate.curve(at_known).at(0.5)
    assert values["precision", "as given"]["value"] == pytest.approx(measure.precision(counts))
    assert values["precision", "as given"]["prevalence"] == found.value
    known = baserate.infer.estimate("precision", counts)
    row = values["precision", "as given"]
    assert row["low"] < known.low < known.high < row["high"]
    for same in ("sensitivity", "auc"):
        plain = baserate.infer.estimate(same, at_known, threshold=0.5 if same == "sensitivity" else None)
        assert values[same, "as given"]["low"] == pytest.approx(plain.low, abs=1e-6)
    assert values["brier", "corrected"]["value"] < values["brier", "as given"]["value"]
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows if row["low"] is not None)
    cost = partial(measure.expected_cost, costs=baserate.Costs(fp=1, fn=10))
    paid, error, again = shift.corrected(found, measures=[cost, partial(measure.ece, bins=3)], threshold=0.5).rows()[
        -3:
    ]
    assert paid["value"] == pytest.approx(measure.expected_cost(counts, costs=baserate.Costs(fp=1, fn=10)))
    assert paid["low"] < paid["value"] < paid["high"]
    assert error["value"] == pytest.approx(measure.ece(at_known, bins=3))
    assert again["scores"] == "corrected"
    assert again["value"] == pytest.approx(
        measure.ece(at_known.rescored(shift.posterior(found)(at_known.score)), bins=3)
    )
    prevalence = shift.corrected(found, measures=["prevalence"], threshold=0.5).rows()[-1]
    assert (prevalence["low"], prevalence["high"]) == (found.estimate.low, found.estimate.high)


def test_measures_at_an_end_are_limits(validation: Tally) -> None:
    found = shift.prevalence(Target(np.full(500, 0.02)), validation)
    assert found.value == 0
    results = shift.corrected(found, measures=["precision", "accuracy", "specificity", "npv"], threshold=0.5)
    rows = {row["measure"]: row for row in results.rows()}
    assert rows["precision"]["value"] < 1e-6 < rows["precision"]["high"]
    assert rows["accuracy"]["value"] == pytest.approx(rows["specificity"]["value"])
    assert "measures are their limits there" in " ".join(results.data["notes"])


def test_all_measures_can_be_corrected(validation: Tally, target: Target) -> None:
    results = shift.corrected(shift.prevalence(target, validation), measures="all", threshold=0.5)
    rows = results.rows()
    assert "taken as known" not in " ".join(results.data["notes"])
    for row in rows:
        assert row["value"] is not None or row["why"]
        assert row["low"] is not None or row["why"] or row["measure"] in ("tp", "fp", "fn", "tn")


def test_label_shift_is_told_from_noise(validation: Tally, target: Target) -> None:
    fits = shift.label_shift(target, validation)
    assert not fits.doubtful
    assert [check.name for check in fits.checks] == ["goodness_of_fit", "mlls_less_pacc"]
    assert "nothing speaks against label shift" in fits.told[0]
    assert "Not tested, since scores alone cannot tell" in fits.told[-1]
    noisier = Target(np.asarray(expit(1.6 * logit(np.asarray(target.score)))))
    assert shift.label_shift(noisier, validation).doubtful
    assert "not label shift alone" in " ".join(shift.label_shift(noisier, validation).told)


def test_label_shift_needs_three_bins_and_another_prevalence(validation: Tally) -> None:
    same = Target(drawn(2000, 0.4, 14)[1])
    two, alike = shift.label_shift(same, validation, bins=2).checks
    assert "it takes 3" in (two.why or "")
    assert "so near to that of validation" in (alike.why or "")
    ended = shift.label_shift(Target(np.full(500, 0.02)), validation)
    assert "at an end of [0, 1]" in (ended.checks[1].why or "")
    assert any("Not tested by mlls_less_pacc" in line for line in ended.told)


def test_the_goodness_of_fit_keeps_its_size() -> None:
    """Of 200 targets of another prevalence, about one in twenty is rejected, where comparing scores rejects all."""
    rejected = 0
    for seed in range(200):
        sides = Target(drawn(800, 0.15, 2 * seed)[1]), tally(*drawn(600, 0.4, 2 * seed + 1))
        rejected += shift.label_shift(*sides).checks[0].p < 0.05
    assert 2 <= rejected <= 22


def test_performance_without_labels_is_that_of_an_expected_tally(target: Target, validation: Tally) -> None:
    promised = shift.expected(target)
    assert promised.total == pytest.approx(3000)
    assert promised.positives == pytest.approx(np.asarray(target.score).sum())
    found = shift.performance(target, assume="covariate shift", measures=["precision", "auc", "prevalence"])
    values = {row["measure"]: row for row in found.rows()}
    assert values["auc"]["value"] == pytest.approx(measure.auc(baserate.curve(promised)))
    assert values["prevalence"]["low"] < np.asarray(target.score).mean() < values["prevalence"]["high"]
    assert found.data["assume"] == "covariate shift"
    assert found.data["notes"][0].startswith("Assumed: covariate shift")
    assert {row["model"] for row in found.rows()} == {None}  # as in every summary of a single model


def test_performance_without_labels_is_near_what_happens(validation: Tally) -> None:
    truth, probability = drawn(20_000, 0.1, 15)
    happened = tally(truth, probability)
    counts = baserate.curve(happened).at(0.5)
    for assume, near in (("label shift", True), ("covariate shift", False)):
        found = shift.performance(Target(probability), validation, assume=assume, measures=["precision", "f1"])  # type: ignore[arg-type]
        for row in found.rows():
            if row["measure"] in ("precision", "f1"):
                assert (row["low"] <= measure.MEASURES[row["measure"]](counts) <= row["high"]) is near


def test_weighted_targets_have_expected_tallies_too() -> None:
    twice = Target.of_rows(np.array([0.75, 0.5]), weight=np.array([2.0, 1.0]))
    assert shift.expected(twice).mass.tolist() == [[1.5, 0.5], [0.5, 0.5]]
    assert shift.expected(twice).squares.tolist() == [[3.0, 0.5], [1.0, 0.5]]
    by = calibrate.prevalence(at=0.5, to=0.2)
    assert shift.expected(twice, by).positives == pytest.approx((by(twice.score) * [2, 1]).sum())


def test_covariate_shift_needs_no_scores_that_tell_the_classes_apart(target: Target) -> None:
    """No prevalence follows from such scores, but a chance at each of them does."""
    rng = np.random.default_rng(23)
    blind = tally(rng.random(400) < 0.3, rng.random(400))
    with pytest.raises(CannotFit, match="carry no information"):
        shift.performance(target, blind, assume="label shift")
    found = shift.performance(target, blind, assume="covariate shift", measures=["prevalence"]).rows()[-1]
    assert found["low"] < 0.3 < found["high"]


def test_performance_says_what_it_cannot_do(target: Target, validation: Tally) -> None:
    with pytest.raises(BadOption, match="'label shift' or 'covariate shift'"):
        shift.performance(target, validation, assume="anything")  # type: ignore[arg-type]
    with pytest.raises(BadOption, match="give a validation set"):
        shift.performance(target, assume="label shift")
    with pytest.raises(BadOption, match="at= has no use without a validation set"):
        shift.performance(target, assume="covariate shift", at=0.3)
    with pytest.raises(BadOption, match="averages= has no use for performance; it has recalibrate, at"):
        shift.performance(target, validation, assume="covariate shift", averages=["macro"])
    with pytest.raises(NotAProbability, match="must be probabilities"):
        shift.performance(Target(np.array([0.2, 3.0])), assume="covariate shift")
    found = shift.performance(target, validation, assume="label shift", measures=["ece", "ks"])
    assert all("no closed form" in row["why"] for row in found.rows())
    ended = shift.performance(Target(np.full(500, 0.02)), validation, assume="label shift", measures=["accuracy"])
    assert "the estimated prevalence is 0 or 1" in ended.rows()[-1]["why"]
