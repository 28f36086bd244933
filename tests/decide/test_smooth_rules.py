"""Rules that smooth: the optimum of the smoothed curve, its limits and invariances, and refused input."""

from functools import partial
from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm

from baserate import Costs, Counts, Curve, FitError, OptionError, Policy, curve, decide, measure, population, tally
from baserate._numeric.smoothers import lowess
from baserate.decide._rule import Rule
from baserate.shift import reweigh
from tests.decide.test_rules import both, curve_of
from tests.strategies import Rows

SMOOTH: dict[str, Rule] = {
    "normal": decide.normal,
    "equal": partial(decide.normal, equal_variances=True),
    "kernel": decide.kernel,
    "loess": decide.loess,
    "aicc": partial(decide.loess, span="aicc"),
    "spline": decide.spline,
    "bootstrap": partial(decide.bootstrap_average, samples=20),
}
OBSERVED = ("loess", "aicc", "spline")


def simulate(rows: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    truth, score = population.binormal(means=(0, 1), sds=(1, 1.4), prevalence=0.4).draw(rows, seed)
    return truth, score


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("measure_name", ["youden", "f1", "mcc", "expected_cost"])
def test_thresholds_lie_among_the_scores(name: str, measure_name: str) -> None:
    truth, score = simulate()
    options = {"costs": Costs(fp=1, fn=2)} if measure_name == "expected_cost" else {}
    policy = SMOOTH[name](curve(tally(truth, score)), measure=measure_name, **options)  # type: ignore[call-arg]
    assert score.min() <= policy.threshold <= score.max()
    assert (policy.threshold in score) == (name in OBSERVED)
    assert Policy.from_json(policy.to_json()) == policy
    again = decide.find_rule(policy.rule)(curve(tally(truth, score)), **policy.settings)
    assert again.threshold == policy.threshold


@pytest.mark.parametrize("name", SMOOTH)
def test_units_of_scores_and_weights_do_not_matter(name: str) -> None:
    truth, score = simulate(150)
    choose = SMOOTH[name]
    threshold = choose(curve(tally(truth, score))).threshold
    assert choose(curve(tally(truth, 3 + 1000 * score))).threshold == pytest.approx(3 + 1000 * threshold, rel=1e-6)
    if name != "bootstrap":  # weighted rows are resampled in another way
        weighted = tally(truth, score, weight=np.full(len(truth), 0.01))
        assert choose(curve(weighted)).threshold == pytest.approx(threshold, rel=1e-9)
    repeated = tally(np.repeat(truth, 3), np.repeat(score, 3))
    counted = tally(truth, score, count=np.full(len(truth), 3))
    assert choose(curve(counted)).threshold == choose(curve(repeated)).threshold


@given(
    st.floats(-3, 3),
    st.floats(0.2, 3),
    st.floats(0.3, 3),
    st.sampled_from([(1.0, 1.0), (1.0, 5.0), (4.0, 1.0)]),
)
def test_normal_minimizes_the_cost_of_the_fitted_classes(
    shift: float, ratio: float, distance: float, prices: tuple[float, float]
) -> None:
    quantiles = norm.ppf(np.arange(1, 60) / 60)
    negative, positive = shift + quantiles, shift + distance + ratio * quantiles
    truth = np.repeat([False, True], len(quantiles))
    score = np.concatenate([negative, positive])
    costs = Costs(fp=prices[0], fn=prices[1])
    at = decide.normal(curve(tally(truth, score)), "expected_cost", costs=costs).threshold
    grid = np.concatenate([np.linspace(score.min(), score.max(), 20001), [at if at < inf else score.max()]])

    def cost(c: np.ndarray | float) -> np.ndarray:
        missed = norm.cdf(c, positive.mean(), positive.std(ddof=1))
        alarms = norm.sf(c, negative.mean(), negative.std(ddof=1))
        return np.asarray(costs.fp * alarms + costs.fn * missed)

    assert cost(at) <= min(cost(grid).min(), costs.fn) + 1e-9


def test_normal_with_equal_variances_is_the_mean_of_means() -> None:
    truth, score = simulate()
    c = curve(tally(truth, score))
    middle = (score[truth].mean() + score[~truth].mean()) / 2
    assert decide.normal(c, equal_variances=True).threshold == pytest.approx(middle, rel=1e-12)
    assert decide.normal(c, "balanced_accuracy", equal_variances=True).threshold == pytest.approx(middle, rel=1e-12)
    spread = sqrt((sum(((part - part.mean()) ** 2).sum() for part in (score[truth], score[~truth]))) / (len(score) - 2))
    odds = np.log((~truth).sum() / (5 * truth.sum()))
    wanted = middle + spread**2 / (score[truth].mean() - score[~truth].mean()) * odds
    priced = decide.normal(c, "expected_cost", equal_variances=True, costs=Costs(fp=1, fn=5))
    assert priced.threshold == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("rule", [decide.normal, decide.kernel])
@pytest.mark.parametrize("name", ["f1", "mcc", "kappa"])
def test_search_finds_the_best_of_the_smoothed_classes(rule: Rule, name: str) -> None:
    truth, score = simulate(300, 4)
    c = curve(tally(truth, score))
    at = rule(c, measure=name).threshold  # type: ignore[call-arg]
    positive, negative = score[truth], score[~truth]
    if rule is decide.normal:

        def rate(part: np.ndarray, c: np.ndarray) -> np.ndarray:
            return np.asarray(norm.sf(c, part.mean(), part.std(ddof=1)))
    else:

        def rate(part: np.ndarray, c: np.ndarray) -> np.ndarray:
            quartiles = np.quantile(part, [0.25, 0.75])
            width = 0.9 * min(part.std(ddof=1), (quartiles[1] - quartiles[0]) / 1.34) * len(part) ** -0.2
            return np.asarray(norm.cdf((part[:, None] - c) / width).mean(axis=0))

    grid = np.append(np.linspace(score.min(), score.max(), 2001), at)
    tp, fp = rate(positive, grid) * len(positive), rate(negative, grid) * len(negative)
    value = measure.find_measure(name)(Counts(tp, fp, len(positive) - tp, len(negative) - fp))
    assert value[-1] >= value.max() - 1e-7


def test_narrow_kernels_approach_youden() -> None:
    truth, score = simulate(60, 2)
    c = curve(tally(truth, score))
    best = measure.youden(c.at(decide.youden(c).threshold))
    gap = np.diff(np.unique(score)).min()
    narrow = decide.kernel(c, bandwidth=max(gap / 10, 1e-4))
    assert measure.youden(c.at(narrow.threshold)) == pytest.approx(best, abs=1e-9)


def test_narrow_spans_are_the_rule_itself() -> None:
    truth, score = simulate(80, 2)
    c = curve(tally(truth, score))
    assert decide.loess(c, span=1e-9).threshold == decide.youden(c).threshold
    assert decide.loess(c, "f1", span=1e-9).threshold == decide.best(c, "f1").threshold


@given(both, st.sampled_from([*SMOOTH]))
def test_any_rows_give_a_threshold_or_a_reason(data: Rows, name: str) -> None:
    c = curve_of(data)
    try:
        policy = SMOOTH[name](c)
    except FitError:
        few = {len(np.unique(data.score[data.truth == truth])) for truth in (False, True)}
        assert min(few) == 1 or len(np.unique(data.score)) < 4 or np.ptp(data.score / 2) > 1e15 * min(few)
        return
    assert policy.threshold == inf or data.score.min() <= policy.threshold <= data.score.max()


def test_loess_of_many_thresholds_is_the_best_of_all() -> None:
    for seed in range(5):
        truth, score = simulate(1500, seed)
        c = curve(tally(truth, score))
        places = np.sort((score - score.min()) / np.ptp(score))
        values = np.asarray(measure.youden(c.counts))[1:][::-1]
        for span in (0.05, 0.3, 1):
            fit = lowess(places, np.ones(len(places)), values, frac=span)
            assert decide.loess(c, span=span).threshold == pytest.approx(np.sort(score)[np.argmax(fit)], abs=1e-9)


def test_infinite_values_are_left_out_and_counted() -> None:
    truth, score = simulate(100, 1)
    c = curve(tally(truth, score))
    infinite = np.isinf(np.asarray(measure.diagnostic_odds_ratio(c.counts))).sum()
    assert infinite > 1
    for rule in (decide.loess, decide.spline):
        policy = rule(c, "diagnostic_odds_ratio")
        assert np.isfinite(measure.diagnostic_odds_ratio(c.at(policy.threshold)))
        assert any(f"{infinite} thresholds with an infinite" in note for note in policy.notes)


def test_bootstrap_averages_the_choices_of_samples() -> None:
    truth, score = simulate(120, 5)
    c = curve(tally(truth, score))
    chosen = decide.bootstrap_threshold(c, decide.youden, n_bootstrap=2000).thresholds
    mean = decide.bootstrap_average(c, samples=2000, seed=7).threshold
    assert mean == pytest.approx(chosen[np.isfinite(chosen)].mean(), abs=0.05)
    median = decide.bootstrap_average(c, samples=2000, average="median", seed=7).threshold
    assert median == pytest.approx(float(np.median(chosen)), abs=0.05)
    assert decide.bootstrap_average(c, seed=1).threshold == decide.bootstrap_average(c, seed=1).threshold
    assert decide.bootstrap_average(c, seed=1).threshold != decide.bootstrap_average(c, seed=2).threshold
    assert decide.bootstrap_average(c, "f1").threshold != decide.bootstrap_average(c).threshold
    rare = decide.bootstrap_average(curve(tally([1, 0, 0, 0], [0.9, 0.8, 0.4, 0.2])), samples=100)
    assert any("of 100 bootstrap samples gave no finite threshold, and the mean" in note for note in rare.notes)


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_rules_are_validated(name: str) -> None:
    truth, score = simulate(120)
    rule = SMOOTH[name]
    results = decide.bootstrap_threshold(curve(tally(truth, score)), rule, measures=["youden"], n_bootstrap=40)
    assert results.intervals[0].low <= results.intervals[0].value <= results.intervals[0].high
    assert results.intervals[0].low < results.intervals[0].high
    assert results.failed == 0
    assert abs(results.performance["youden"].optimism) < 0.1
    folded = decide.cross_validate_rule(tally(truth, score), rule, measures=["youden"])
    assert len(folded.cuts) == 5


def test_smoothing_makes_thresholds_less_variable() -> None:
    """Over 40 samples of 200 rows, smoothed thresholds vary less than those of Youden's rule."""
    rules: dict[str, Rule] = {"youden": decide.youden, "normal": decide.normal, "kernel": decide.kernel}
    rules |= {"loess": decide.loess, "bootstrap": decide.bootstrap_average}
    thresholds: dict[str, list[float]] = {name: [] for name in rules}
    for seed in range(40):
        c = curve(tally(*population.binormal(means=(0, 1)).draw(200, seed)))
        for name, rule in rules.items():
            thresholds[name].append(rule(c).threshold)
    error = {name: float(np.sqrt(np.mean((np.array(each) - 0.5) ** 2))) for name, each in thresholds.items()}
    assert error["normal"] < 0.6 * error["youden"]
    assert max(error["kernel"], error["loess"], error["bootstrap"]) < 0.9 * error["youden"]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (partial(decide.kernel, bandwidth=0), "bandwidth is 0; expected a bandwidth .*, or 'nrd0'"),
        (partial(decide.kernel, bandwidth="sj"), "bandwidth is 'sj'"),
        (partial(decide.loess, span=1.5), "span is 1.5; expected a share above 0 and at most 1, or 'aicc'"),
        (partial(decide.loess, span="gcv"), "span is 'gcv'"),
        (partial(decide.spline, knots=3), "knots is 3; expected a whole number from 4 to 200"),
        (partial(decide.bootstrap_average, average="mode"), "average is 'mode'; expected 'mean' or 'median'"),
        (partial(decide.bootstrap_average, samples=0), "samples is 0"),
        (partial(decide.bootstrap_average, measure="auc"), "auc does not depend on the threshold"),
        (partial(decide.kernel, measure="flag_rate"), "neither end of flag_rate is better"),
    ],
)
def test_wrong_options_are_refused(rule: Rule, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        rule(curve(tally(*simulate())))


def test_data_that_cannot_be_smoothed() -> None:
    one_class = curve(tally([1, 1, 1], [0.9, 0.8, 0.1]))
    for rule in (decide.normal, decide.kernel):
        with pytest.raises(FitError, match="needs both classes"):
            rule(one_class)
    constant = curve(tally([1, 1, 0, 0], [0.9, 0.9, 0.8, 0.1]))
    with pytest.raises(FitError, match="scores of the positives do not vary, so they have no normal distribution"):
        decide.normal(constant)
    with pytest.raises(FitError, match="scores of the positives do not vary, so there is no bandwidth"):
        decide.kernel(constant)
    assert 0.8 < decide.kernel(constant, bandwidth=0.01).threshold < 0.9
    assert decide.normal(constant, equal_variances=True).threshold == pytest.approx((0.9 + 0.45) / 2)
    for many in range(2, 40):  # the mean of equal scores may differ from them by rounding
        for at in (0.1, 0.3, 1 / 3, 0.7):
            with pytest.raises(FitError, match="scores of the positives do not vary"):
                decide.normal(curve(tally([1] * many + [0, 0], [at] * many + [0.0, 1.0])))
    with pytest.raises(FitError, match="youden is finite at 3 thresholds; expected at least 4 to smooth"):
        decide.loess(constant)
    with pytest.raises(FitError, match="all scores are equal"):
        decide.kernel(curve(tally([1, 0], [0.5, 0.5])), bandwidth=0.1)


def test_thresholds_of_weighted_rows_follow_the_weights() -> None:
    truth, score = simulate(200)
    weight = np.where(truth & (score < 0.5), 3.0, 1.0)
    whole = Curve(tally(truth, score, count=weight.astype(int)))
    for rule in (decide.normal, decide.kernel, decide.loess):
        one, other = rule(curve(tally(truth, score, weight=weight))), rule(whole)
        # The number of rows differs, which the bandwidth and the variance use.
        assert one.threshold == pytest.approx(other.threshold, abs=0.1)
        assert one.threshold < rule(curve(tally(truth, score))).threshold


def test_costs_are_those_of_the_deployment_prevalence() -> None:
    truth, score = simulate(400)
    c = curve(tally(truth, score))
    costs = Costs(fp=1, fn=5)
    thresholds = []
    for share in (0.5, 0.1, 0.02):
        at = reweigh(c, prevalence=share)
        normal = decide.normal(at, "expected_cost", costs=costs).threshold
        middle = normal if np.isfinite(normal) else score.max()
        ratio = norm.pdf(middle, score[truth].mean(), score[truth].std(ddof=1)) / norm.pdf(
            middle, score[~truth].mean(), score[~truth].std(ddof=1)
        )
        if score.min() < middle < score.max():
            assert ratio == pytest.approx(1 / 5 * (1 - share) / share, rel=1e-6)
        thresholds.append(normal)
        kernel = decide.kernel(at, "expected_cost", costs=costs)
        assert kernel.settings["prevalence"] == pytest.approx(share)
    assert thresholds == sorted(thresholds)
    assert len({*thresholds}) == 3


@pytest.mark.parametrize("samples", [1, 3, 7, 13, 50])
def test_the_mean_of_equal_thresholds_is_that_threshold(samples: int) -> None:
    """A mean that rounding lifts above the scores would flag nobody."""
    assert decide.bootstrap_average([0] * 10 + [1] * 10, [0.1] * 10 + [0.9] * 10, samples=samples).threshold == 0.9
