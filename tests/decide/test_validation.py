"""The bootstrap of a rule, cross-validation, and the correction of optimism."""

from functools import partial
from math import isnan

import numpy as np
import pytest

from baserate import Costs, Counts, Curve, Cut, OptionError, Policy, Rows, curve, decide, measure, population, tally
from baserate._tally import Tally
from baserate.calibration._cross_fitting import assign_folds
from baserate.decide._rule import Rule
from baserate.decide._validation import _fold_tables
from baserate.shift import reweigh

F1 = partial(decide.best, measure="f1")


def simulate(rows: int, seed: int = 0, distance: float = 1.0) -> Tally:
    return tally(*population.binormal(means=(0, distance), prevalence=0.4).draw(rows, seed))


def without_internals(rule: Rule) -> Rule:
    """Wrap a rule, so that the bootstrap cannot use its internals."""

    def choose(c: Curve) -> Policy:
        return rule(c)

    return choose


@pytest.mark.parametrize("rule", [decide.youden, partial(decide.cost, costs=Costs(fp=1, fn=3))])
def test_fast_resampling_equals_the_rule_itself(rule: Rule) -> None:
    t = simulate(150)
    quick = decide.bootstrap_threshold(Curve(t), rule, n_bootstrap=40, seed=3)
    slow = decide.bootstrap_threshold(Curve(t), without_internals(rule), n_bootstrap=40, seed=3)
    np.testing.assert_array_equal(quick.thresholds, slow.thresholds)
    for name, result in quick.performance.items():
        assert result.optimism == pytest.approx(slow.performance[name].optimism, abs=1e-12)


def test_ties_and_weights_are_resampled() -> None:
    t = simulate(300).round_scores(0.25)
    weighted = tally([1, 0, 1, 0, 1], [0.9, 0.8, 0.6, 0.4, 0.2], weight=[1, 2, 0.5, 1, 1])
    for each in (Curve(t), Curve(weighted), reweigh(Curve(t), prevalence=0.1)):
        quick, slow = (
            decide.bootstrap_threshold(each, rule, n_bootstrap=30)
            for rule in (decide.youden, without_internals(decide.youden))
        )
        np.testing.assert_array_equal(quick.thresholds, slow.thresholds)
        assert quick.intervals[0].low <= quick.intervals[0].value <= quick.intervals[0].high


def test_bootstrap_depends_only_on_the_seed() -> None:
    truth, score = population.binormal().draw(200, 1)
    order = np.random.default_rng(0).permutation(200)
    one, other = (
        decide.bootstrap_threshold(curve(tally(truth[at], score[at])), F1, n_bootstrap=50)
        for at in (slice(None), order)
    )
    np.testing.assert_array_equal(one.thresholds, other.thresholds)
    again = decide.bootstrap_threshold(curve(tally(truth, score)), F1, n_bootstrap=50, seed=1)
    assert not np.array_equal(one.thresholds, again.thresholds)


@pytest.mark.slow
def test_optimism_equals_the_loss_on_new_rows() -> None:
    """On average the corrected value is nearer to the performance on new rows than the apparent one."""
    whole = population.binormal(means=(0, 0.5))
    observed, left, true = [], [], []
    for seed in range(60):
        c = curve(tally(*whole.draw(150, seed)))
        result = decide.bootstrap_threshold(c, decide.youden, measures=["youden"], n_bootstrap=60)
        observed.append(result.performance["youden"].apparent.value)
        left.append(result.performance["youden"].corrected.value)
        true.append(measure.youden(whole.at(result.policy.threshold)))
    flattered, corrected = np.mean(observed) - np.mean(true), np.mean(left) - np.mean(true)
    assert flattered > 0.04
    assert abs(corrected) < flattered / 5  # the bootstrap leaves a third


def test_samples_without_a_choice_are_counted() -> None:
    t = simulate(60, distance=0.3)
    most = np.nanmax(np.asarray(measure.precision(Curve(t).counts))[5:])
    result = decide.bootstrap_threshold(
        Curve(t), partial(decide.require, require=f"precision >= {most}, flag_rate >= 0.08"), n_bootstrap=100
    )
    assert 0 < result.failed < 100
    assert np.isnan(result.thresholds[:, 0]).sum() == result.failed
    some = decide.bootstrap_threshold(Curve(simulate(60)), partial(decide.abstain, refer=0.3), n_bootstrap=100)
    assert some.other > 0
    assert len(some.intervals) == 2
    rare = curve(tally([1, *[0] * 30], range(31)))
    assert decide.bootstrap_threshold(rare, decide.youden, n_bootstrap=100).failed > 20


def test_bands_have_thresholds_and_no_performance() -> None:
    result = decide.bootstrap_threshold(Curve(simulate(200)), partial(decide.bands, shares=(0.1, 0.3)), n_bootstrap=50)
    assert len(result.intervals) == 2
    assert result.performance == {}
    assert all(each.low < each.value < each.high for each in result.intervals)


def test_very_many_rows_are_pooled_first() -> None:
    t = simulate(150_000)
    result = decide.bootstrap_threshold(Curve(t), decide.youden, n_bootstrap=20)
    assert "on 4096 buckets of equal mass" in (result.intervals[0].how or "")
    assert result.policy.threshold == decide.youden(Curve(t)).threshold
    assert result.intervals[0].low <= 0.5 <= result.intervals[0].high


def test_bootstrap_errors() -> None:
    c = Curve(simulate(50))
    with pytest.raises(OptionError, match="auc does not depend on the threshold"):
        decide.bootstrap_threshold(c, decide.youden, measures=["auc"])
    with pytest.raises(OptionError, match="n_bootstrap is 0"):
        decide.bootstrap_threshold(c, decide.youden, n_bootstrap=0)
    with pytest.raises(OptionError, match="takes Curve, not Counts"):
        decide.bootstrap_threshold(c.at(0.5), decide.youden)  # type: ignore[call-overload]


def test_any_function_from_a_curve_to_a_policy_is_a_rule() -> None:
    def middle(c: Curve) -> Policy:
        return decide.fixed(c, float(np.median(c.tally.score)))

    result = decide.bootstrap_threshold(Curve(simulate(80)), middle, n_bootstrap=30)
    assert np.unique(result.thresholds).size > 0
    assert not np.isnan(result.thresholds).any()


def test_undefined_measures_stay_undefined() -> None:
    c = curve(tally([0, 0, 1], [0.9, 0.5, 0.1]))
    result = decide.bootstrap_threshold(c, partial(decide.fixed, threshold=2.0), measures=["precision"], n_bootstrap=10)
    apparent = result.performance["precision"]
    assert isnan(apparent.apparent.value)
    assert isnan(apparent.optimism)
    assert apparent.corrected.why == "nothing is flagged"


@pytest.mark.parametrize("folds", [2, 5])
def test_folds_are_evaluated_at_thresholds_chosen_without_them(folds: int) -> None:
    t = simulate(200)
    result = decide.cross_validate_rule(t, F1, folds=folds, measures=["f1"])
    assert len(result.cuts) == folds
    assert result.counts.total == 200
    assert result.counts.positives == t.positives
    assert result.policy.cut == F1(Curve(t)).cut
    assert result.performance["f1"].value == pytest.approx(measure.f1(result.counts), abs=0.02)


def test_cross_validated_performance_is_that_at_the_chosen_threshold() -> None:
    """For a linear measure: the apparent value less its mean excess over folds at their thresholds."""
    t = simulate(60, 3)
    result = decide.cross_validate_rule(t, decide.youden, folds=4, measures=["accuracy"])
    everybody = Curve(t)
    lead = np.mean([measure.accuracy(cut.counts(everybody)) for cut in result.cuts]) - measure.accuracy(result.counts)
    tables = _fold_tables(everybody, result.cuts, _fold_counts(t, result.cuts))
    assert tables.optimism(measure.accuracy) == pytest.approx([lead * 0.75 ** (-1 / 3)])
    assert result.performance["accuracy"].low < result.performance["accuracy"].value
    assert "repeated cross-validation" in (result.performance["accuracy"].how or "")


def _fold_counts(t: Tally, cuts: tuple[Cut, ...]) -> list[Counts[float]]:
    parts = assign_folds(t, folds=len(cuts), seed=0)
    return [cut.counts(Curve(part[()])) for cut, part in zip(cuts, parts, strict=True)]


def test_a_fixed_threshold_has_no_optimism_in_folds() -> None:
    result = decide.bootstrap_threshold(
        Curve(simulate(100)), partial(decide.fixed, threshold=0.5), measures=["mcc", "f1"], n_bootstrap=50
    )
    for each in result.performance.values():
        assert each.optimism == pytest.approx(0, abs=0.005)
    t = simulate(100)
    judged = decide.cross_validate_rule(t, partial(decide.fixed, threshold=0.5), measures=["mcc"])
    assert judged.performance["mcc"].value == pytest.approx(measure.mcc(Curve(t).at(0.5)), abs=0.005)


@pytest.mark.slow
def test_cross_validation_intervals_cover_the_performance() -> None:
    """The pooled table of folds alone covers 46% for sensitivity, since folds choose other thresholds."""
    whole = population.binormal(means=(0, 0.5))
    rule, names = partial(decide.best, measure="mcc"), ["mcc", "sensitivity"]
    hits = []
    for seed in range(60):
        result = decide.cross_validate_rule(tally(*whole.draw(1000, seed)), rule, measures=names)
        counts = whole.at(result.policy.threshold)
        hits.append(
            [result.performance[n].low <= measure.find_measure(n)(counts) <= result.performance[n].high for n in names]
        )
    assert np.mean(hits, axis=0).min() >= 0.88


@pytest.mark.slow
def test_cross_validation_is_less_optimistic_on_average() -> None:
    apparent, honest = [], []
    for seed in range(30):
        t = simulate(100, seed, distance=0.4)
        result = decide.cross_validate_rule(t, decide.youden, measures=["youden"])
        apparent.append(measure.youden(result.policy.cut.counts(Curve(t))))
        honest.append(result.performance["youden"].value)
    assert np.mean(honest) < np.mean(apparent) - 0.05


def test_clusters_are_not_split_between_folds() -> None:
    truth, score = population.binormal().draw(40, 2)
    # Every row twice: if twins were parted, each fold would have been seen by the others.
    rows = Rows(np.repeat(truth, 2), {"p": np.repeat(score, 2)}, cluster=np.repeat(np.arange(40), 2))
    result = decide.cross_validate_rule(rows, decide.youden, folds=4, measures=["youden"])
    assert result.counts.total == 80
    assert {result.counts.tp % 2, result.counts.fp % 2, result.counts.fn % 2, result.counts.tn % 2} == {0}


def test_folds_with_weights_and_at_another_prevalence() -> None:
    truth, score = population.binormal().draw(120, 4)
    weight = np.random.default_rng(1).uniform(0.5, 2, 120)
    t = tally(truth, score, weight=weight)
    assert decide.cross_validate_rule(t, F1, measures=["f1"]).counts.total == pytest.approx(weight.sum())
    reweighted = decide.cross_validate_rule(reweigh(t, prevalence=0.05), F1, measures=["precision"])
    assert reweighted.counts.reweighed
    assert measure.prevalence(reweighted.counts) == pytest.approx(0.05)


def test_cross_validating_bands_raises() -> None:
    with pytest.raises(OptionError, match="no confusion matrix"):
        decide.cross_validate_rule(simulate(50), partial(decide.bands, shares=(0.5,)))


def test_a_fixed_threshold_has_no_interval_width() -> None:
    result = decide.bootstrap_threshold(Curve(simulate(100)), partial(decide.fixed, threshold=0.5), n_bootstrap=50)
    [cutoff] = result.intervals
    assert (cutoff.low, cutoff.value, cutoff.high) == (0.5, 0.5, 0.5)
    assert abs(result.performance["accuracy"].optimism) < 0.02
    assert isinstance(result.performance["accuracy"].apparent.low, float)
    assert result.performance.keys() == {
        measure.describe(measure.find_measure(each)).name for each in measure.DEFAULT_MEASURES[Counts]
    }
    assert not isnan(result.performance["accuracy"].corrected.low)


def test_rounding_of_masses_stays_non_negative() -> None:
    t = tally([1, 0, 1, 1, 0, 0, 0, 1, 0, 0], [0.92, 0.85, 0.71, 0.64, 0.64, 0.31, 0.30, 0.22, 0.11, 0.05])
    result = decide.bootstrap_threshold(
        Curve(reweigh(t, prevalence=0.02)), partial(decide.cost, costs=Costs(fp=1, fn=20)), n_bootstrap=1000
    )
    assert result.failed == 0
    assert not isnan(result.performance["npv"].corrected.value)


def test_actions_of_other_names_have_thresholds_and_no_performance() -> None:
    c = Curve(simulate(200))
    rule = partial(decide.actions, costs={"pass": (0, 10), "test": (2, 3), "flag": (6, 0)})
    result = decide.bootstrap_threshold(c, rule, n_bootstrap=30)
    assert result.policy.cut.actions == ("pass", "test", "flag")
    assert len(result.intervals) == 2
    assert result.performance == {}
    with pytest.raises(OptionError, match="no confusion matrix"):
        decide.cross_validate_rule(c.tally, rule)


def test_samples_skip_infinities_as_the_rule_does() -> None:
    rule = partial(decide.best, measure="diagnostic_odds_ratio")
    result = decide.bootstrap_threshold(
        Curve(simulate(200)), rule, measures=["diagnostic_odds_ratio", "flag_rate"], n_bootstrap=60
    )
    assert result.failed == 0
    assert result.performance["diagnostic_odds_ratio"].optimism > 0  # which infinities would have made undefined
    folded = decide.cross_validate_rule(simulate(200), rule, measures=["flag_rate"])
    everybody = Curve(simulate(200))
    for cut in folded.cuts:
        assert everybody.at(cut.threshold).fp > 0
        assert everybody.at(cut.threshold).fn > 0


def test_samples_without_a_finite_value_are_counted_as_failed() -> None:
    rule = partial(decide.best, measure="diagnostic_odds_ratio")
    few = tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])
    result = decide.bootstrap_threshold(Curve(few), rule, n_bootstrap=100)
    assert 0 < result.failed < 100
    assert np.isnan(result.thresholds).sum() == result.failed
