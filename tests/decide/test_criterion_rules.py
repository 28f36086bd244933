"""Further criteria against enumeration, the minimal p-value, and thresholds midway between scores."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import inf

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chi2_contingency

from baserate import (
    Costs,
    Curve,
    FitError,
    OptionError,
    Policy,
    calibration,
    curve,
    decide,
    measure,
    population,
    read,
    tally,
)
from baserate.decide import adjusted_minimal_p, minimal_p
from baserate.decide._minimal_p_value import altman_minimal_p
from baserate.decide._rule import Rule
from baserate.shift import reweigh
from tests.decide.test_rules import both, curve_of
from tests.strategies import Rows

Value = Callable[[int, int, int, int], tuple[Fraction, Fraction] | None]


def best_of(c: Curve, value: Value) -> float:
    """Return the threshold of the greatest pair of exact numbers, the strictest of equals."""
    counts = c.counts
    cells = zip(*(map(int, each) for each in (counts.tp, counts.fp, counts.fn, counts.tn)), strict=True)
    values = [value(*each) for each in cells]
    defined = [each for each in values if each is not None]
    return float(c.threshold[values.index(max(defined))]) if defined else float("nan")


def of_predictive_values(
    function: Callable[[Fraction, Fraction], Fraction], *, sum_decides: bool = False
) -> Callable[[int, int, int, int], tuple[Fraction, Fraction] | None]:
    def value(tp: int, fp: int, fn: int, tn: int) -> tuple[Fraction, Fraction] | None:
        if not tp + fp or not fn + tn:
            return None
        ppv, npv = Fraction(tp, tp + fp), Fraction(tn, tn + fn)
        return function(ppv, npv), ppv + npv if sum_decides else Fraction(0)

    return value


CRITERIA: dict[Rule, Value] = {
    decide.balanced_predictive_values: of_predictive_values(lambda ppv, npv: -abs(ppv - npv)),
    decide.closest_predictive_values: of_predictive_values(lambda ppv, npv: -((1 - ppv) ** 2) - (1 - npv) ** 2),
    decide.maximin_predictive_values: of_predictive_values(min, sum_decides=True),
    decide.maximin: lambda tp, fp, fn, tn: (
        min(Fraction(tp, tp + fn), Fraction(tn, tn + fp)),
        Fraction(tp, tp + fn) + Fraction(tn, tn + fp),
    ),
    decide.minimax: lambda tp, fp, fn, tn: (Fraction(-max(fp, fn)), Fraction(-fp - fn + 0 * tp * tn)),
    decide.prevalence_matching: lambda tp, fp, fn, tn: (Fraction(-abs(tp + fp - tp - fn) + 0 * tn), Fraction(0)),
    partial(decide.best, measure="predictive_value_product"): of_predictive_values(lambda ppv, npv: ppv * npv),
}


@pytest.mark.parametrize("rule", CRITERIA, ids=lambda rule: getattr(rule, "__name__", "product"))
@given(both)
def test_criteria_are_optimal(rule: Rule, data: Rows) -> None:
    c = curve_of(data)
    wanted = best_of(c, CRITERIA[rule])
    if np.isnan(wanted):
        with pytest.raises(FitError, match="undefined at every threshold"):
            rule(c)
        return
    assert rule(c).threshold == wanted


@given(both, st.sampled_from(["sensitivity", "specificity", "npv", "lr+"]), st.floats(0, 1))
def test_nearest_is_nearest(data: Rows, name: str, value: float) -> None:
    c = curve_of(data)
    values = np.asarray(measure.find_measure(name)(c.counts))
    distance = np.abs(values - value)
    if not np.isfinite(distance).any():
        with pytest.raises(FitError):
            decide.nearest(c, name, value)
        return
    policy = decide.nearest(c, name, value)
    reached = float(measure.find_measure(name)(c.at(policy.threshold)))
    least = distance[np.isfinite(distance)].min()
    assert abs(reached - value) == pytest.approx(least, abs=1e-11)
    ties = c.threshold[distance <= least]
    assert measure.youden(c.at(policy.threshold)) >= max(measure.youden(c.at(float(t))) for t in ties) - 1e-12
    assert any("the nearest is" in note for note in policy.notes) == (least > 1e-12)
    assert Policy.from_json(policy.to_json()) == policy


@pytest.mark.parametrize(("name", "value"), [("sensitivity", 1.9), ("lr+", -3), ("mcc", -1.1)])
def test_values_that_a_measure_never_has(name: str, value: float) -> None:
    with pytest.raises(OptionError, match=f"value is {value}; expected a value of"):
        decide.nearest([1, 0], [0.9, 0.1], measure=name, value=value)


def test_constant_scores_of_both_classes_need_no_other_class() -> None:
    with pytest.raises(FitError, match="give scores that vary"):
        decide.maximin_predictive_values([1, 0], [0.5, 0.5])


def test_thresholds_that_ignore_the_labels() -> None:
    truth, score = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.7, 0.4, 0.2]
    c = curve(tally(truth, score))
    assert decide.mean_score(c).threshold == pytest.approx(np.mean(score))
    assert decide.median_score(c).threshold == np.median(score)
    assert decide.median_score(curve(tally(truth[:5], score[:5]))).threshold == np.median(score[:5])
    counted = curve(tally(truth, score, count=[1, 1, 1, 1, 4, 4]))
    assert decide.median_score(counted).threshold == np.median(np.repeat(score, [1, 1, 1, 1, 4, 4]))
    assert decide.observed_prevalence(c).threshold == 0.5
    assert decide.observed_prevalence(reweigh(c, prevalence=0.1)).threshold == pytest.approx(0.1)
    with pytest.raises(FitError, match="a score is outside"):
        decide.observed_prevalence(curve(tally([1, 0], [2.0, 0.1])))


@given(both)
def test_means_and_medians_lie_among_the_scores(data: Rows) -> None:
    c = curve_of(data)
    for rule in (decide.mean_score, decide.median_score):
        assert data.score.min() <= rule(c).threshold <= data.score.max()
    assert decide.median_score(c).threshold == pytest.approx(
        np.sort(data.score)[(len(data.score) - 1) // 2] / 2 + np.sort(data.score)[len(data.score) // 2] / 2
    )


@given(both)
def test_least_p_value_is_that_of_scipy(data: Rows) -> None:
    c = curve_of(data)
    counts = c.counts
    p = np.ones(len(c.threshold))
    for at, cells in enumerate(zip(counts.tp, counts.fp, counts.fn, counts.tn, strict=True)):
        flagged = cells[0] + cells[1]
        if 0.2 - 1e-9 <= flagged / c.total <= 0.8 + 1e-9:
            p[at] = chi2_contingency(np.reshape(cells, (2, 2)), correction=False).pvalue
    try:
        policy = decide.min_p_value(c, trim=0.2)
    except FitError as error:
        assert "no threshold flags between 0.2 and 0.8" in str(error)  # noqa: PT017  (only some data have one)
        return
    best = policy.cut.counts(c)
    reached = chi2_contingency([[best.tp, best.fp], [best.fn, best.tn]], correction=False)
    assert reached.pvalue == pytest.approx(p.min(), rel=1e-6)
    assert minimal_p(reached.statistic) == pytest.approx(reached.pvalue, rel=1e-9)
    assert adjusted_minimal_p(reached.statistic, 0.2) >= minimal_p(reached.statistic)


def test_adjusted_p_values_hold_under_the_null_hypothesis() -> None:
    """Without association, p < 0.05 in 46% of samples of 200 rows; adjusted in about 5%."""
    rng = np.random.default_rng(0)
    plain, adjusted = [], []
    for _ in range(400):
        c = curve(tally(rng.random(200) < 0.4, rng.random(200)))
        statistic = 200 * float(measure.mcc(c.at(decide.min_p_value(c).threshold))) ** 2
        plain.append(minimal_p(statistic) < 0.05)
        adjusted.append(adjusted_minimal_p(statistic, 0.1) < 0.05)
    assert 0.35 < np.mean(plain) < 0.55
    assert 0.01 < np.mean(adjusted) < 0.08


def test_adjusted_p_values_of_the_literature() -> None:
    """Altman et al. (1994): a minimal p of about 0.002 is needed for 0.05 with 10% excluded at each end."""
    statistic = 9.55  # p = 0.002
    assert minimal_p(statistic) == pytest.approx(0.002, rel=0.01)
    assert adjusted_minimal_p(statistic, 0.1) == pytest.approx(0.05, abs=0.006)
    assert altman_minimal_p(statistic, 0.1) == pytest.approx(-1.63 * 0.002 * (1 + 2.35 * np.log(0.002)), rel=0.01)
    assert altman_minimal_p(statistic, 0.05) == pytest.approx(-3.13 * 0.002 * (1 + 1.65 * np.log(0.002)), rel=0.01)
    assert altman_minimal_p(40.0, 0.1) is None
    assert adjusted_minimal_p(0.5, 0.1) == 1


def test_minimal_p_value_is_noted_and_refused() -> None:
    truth, score = population.binormal(means=(0, 0.4)).draw(100, 3)
    c = curve(tally(truth, score))
    policy = decide.min_p_value(c)
    (note,) = policy.notes
    assert "is no valid test: many thresholds were tried" in note
    assert "(Miller and Siegmund)" in note
    assert "prefer costs, a requirement, or Youden's index" in note
    reversed_scores = decide.min_p_value(curve(tally(~truth, score)))
    assert reversed_scores.notes[-1].startswith("flags are rarer among positives at this threshold")
    with pytest.raises(OptionError, match="weighted rows have no chi-square test"):
        decide.min_p_value(curve(tally(truth, score, weight=np.linspace(1, 2, 100))))
    with pytest.raises(OptionError, match="weighted rows have no chi-square test"):
        decide.min_p_value(reweigh(c, prevalence=0.1))
    with pytest.raises(OptionError, match=r"trim is 0\.7; expected a share from 1e-6 to"):
        decide.min_p_value(c, trim=0.7)
    with pytest.raises(FitError, match=r"no threshold flags between 0\.1 and 0\.9"):
        decide.min_p_value(curve(tally([1, 0], [0.5, 0.5])))


@pytest.mark.parametrize("name", ["risk_ratio", "diagnostic_odds_ratio", "lr+"])
def test_infinite_ratios_never_win(name: str) -> None:
    truth, score = population.binormal(means=(0, 1)).draw(200, 4)
    c = curve(tally(truth, score))
    values = np.asarray(measure.find_measure(name)(c.counts))
    infinite = int(np.isinf(values).sum())
    assert infinite
    policy = decide.best(c, name)
    assert measure.find_measure(name)(c.at(policy.threshold)) == values[np.isfinite(values)].max()
    words = f"{infinite} threshold{'s' * (infinite > 1)} with an infinite"
    assert any(note.startswith(words) for note in policy.notes)
    assert np.isfinite(measure.find_measure(name)(c.at(decide.nearest(c, name, 1e6).threshold)))


def test_risk_ratio_is_no_likelihood_ratio() -> None:
    counts = curve(tally([1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.4, 0.2])).at(0.7)
    assert measure.risk_ratio(counts) == pytest.approx((2 / 3) / (1 / 3))
    weighted = measure.weighted_kappa(counts, costs=Costs(fp=1, fn=4))
    assert weighted == pytest.approx(1 - (1 * 1 + 4 * 1) / ((1 * 3 * 3 + 4 * 3 * 3) / 6))
    for costs in (Costs(fp=0, fn=1), Costs(fp=1, fn=1, tp=-1)):
        with pytest.raises(OptionError, match="expected costs of both errors above 0, and none of correct decisions"):
            measure.weighted_kappa(counts, costs=costs)


MOVED: list[Rule] = [
    decide.youden,
    decide.closest,
    decide.maximin,
    decide.mean_score,
    partial(decide.best, measure="f1"),
    partial(decide.cost, costs=Costs(fp=1, fn=3)),
    partial(decide.capacity, share=0.3),
    partial(decide.bands, shares=(0.2, 0.3)),
    partial(decide.abstain, costs=Costs(fp=1, fn=1), refer=0.2),
]


@pytest.mark.parametrize("rule", MOVED, ids=range(len(MOVED)))
@given(both)
def test_midpoints_flag_the_same_rows(rule: Rule, data: Rows) -> None:
    c = curve_of(data)
    plain, middle = rule(c), decide.use_midpoints(rule)(c)
    assert middle.settings["midpoints"] is True
    assert (middle.rule, middle.chosen_on) == (plain.rule, plain.chosen_on)
    assert [middle.action(each) for each in data.score] == [plain.action(each) for each in data.score]
    scores = np.unique(data.score)
    for before, after in zip(plain.cut.thresholds, middle.cut.thresholds, strict=True):
        above, below = scores[scores >= before], scores[scores < before]
        if not len(above) or not len(below):
            assert after == before
        else:
            wanted = float(below[-1]) / 2 + float(above[0]) / 2
            assert after == pytest.approx(wanted) or after == above[0]  # neighboring floats have no middle


def test_midpoints_of_policies_on_new_rows_and_after_calibrators() -> None:
    risks = [0.9, 0.8, 0.7, 0.6, 0.4, 0.2]
    table = {"sick": [1, 1, 0, 1, 0, 0], "risk": risks}
    data = read.tallies(table, truth="sick", score="risk")
    plain, middle = (decide.choose_policy(data, decide.youden, midpoints=each) for each in (False, True))
    assert (plain.threshold, middle.threshold) == (0.8, 0.75)
    assert Policy.from_json(middle.to_json()) == middle
    assert ("midway between scores" in str(middle), "midway" in str(plain)) == (True, False)
    # A new row between the middle and the score is flagged by the middle alone.
    assert [each.action(0.77) for each in (plain, middle)] == ["pass", "flag"]
    halved = calibration.prevalence(sample_prevalence=0.5, prevalence=0.2)
    after = decide.choose_policy(data, decide.youden, calibrator=halved, midpoints=True)
    at = (halved([0.7])[0] + halved([0.8])[0]) / 2
    assert halved([after.threshold])[0] == pytest.approx(at)
    assert [after.action(each) for each in risks] == [plain.action(each) for each in risks]


def test_midpoints_are_validated_and_refused_for_stated_thresholds() -> None:
    truth, score = population.binormal(means=(0, 1)).draw(80, 1)
    c = curve(tally(truth, score))
    middle = decide.use_midpoints(decide.youden)
    results = decide.bootstrap_threshold(c, middle, n_bootstrap=60)
    plain = decide.bootstrap_threshold(c, decide.youden, n_bootstrap=60)
    assert results.intervals[0].value < plain.intervals[0].value
    assert (results.thresholds[np.isfinite(results.thresholds)] < plain.thresholds.max()).all()
    assert not np.isin(results.thresholds[np.isfinite(results.thresholds)], score).any()
    table = decide.summary(truth, score, "youden", midpoints=True, n_bootstrap=50)
    value = next(row["value"] for row in table.rows() if row["measure"] == "threshold" and row["rule"] == "youden")
    assert value == middle(c).threshold
    for stated in (partial(decide.fixed, threshold=0.5), partial(decide.bands, thresholds=(0.2, 0.5))):
        with pytest.raises(OptionError, match="midpoints are for thresholds that a rule chooses"):
            decide.use_midpoints(stated)(c)
    assert decide.use_midpoints(partial(decide.capacity, at_most=0))(c).threshold == inf
