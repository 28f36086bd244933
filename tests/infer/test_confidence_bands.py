"""Confidence bands: published numbers, laws, and coverage."""

from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

import baserate
from baserate import OptionError, Tally, measure, read
from baserate.infer import ConfidenceBand, confidence_band, confidence_bands, estimate
from baserate.infer._binomial import wilson, wilson_or_exact
from baserate.infer._confidence_bands import (
    RocPath,
    StepPath,
    bound_gain,
    bound_pr,
    bound_roc,
    bound_roc_kolmogorov,
    bound_roc_simultaneously,
    kolmogorov_distance,
)
from tests.strategies import Array, Rows, few, like, rows, same
from tests.tiers import take_in_tiers

Simultaneous = bool | Literal["kolmogorov-smirnov"]
CURVES = list(measure.TABLES)
ANY = [*CURVES, "precision", "f1", "positive_likelihood_ratio"]
WAYS: list[Any] = [*((what, False) for what in ANY), ("roc", True), ("det", True), ("roc", "kolmogorov-smirnov")]

both = rows(few, min_size=2).filter(lambda data: 0 < data.truth.sum() < len(data.truth))
ways = pytest.mark.parametrize(("what", "simultaneous"), WAYS)


def last_axis(result: ConfidenceBand) -> Array:
    """The column before the bounds."""
    return list(result.columns.values())[-3]


def bounds(result: ConfidenceBand) -> Array:
    return np.stack([result.columns["low"], result.columns["high"]])


# Published numbers, and small cases by hand.


@pytest.mark.parametrize(
    ("rows", "level", "distance"),
    [
        (1, 0.95, 0.975),
        (5, 0.95, 0.56328),
        (10, 0.95, 0.40925),
        (20, 0.95, 0.29408),
        (10, 0.9, 0.36866),
        (20, 0.99, 0.35241),
    ],
)
def test_kolmogorovs_distance_equals_millers_table(rows: int, level: float, distance: float) -> None:
    assert kolmogorov_distance(rows, level) == pytest.approx(distance, abs=2e-5)


@given(st.integers(1, 3000), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_kolmogorovs_distance_is_conservative_and_nearly_exact(rows: int, level: float) -> None:
    exact = stats.kstwo.ppf(level, rows)
    assert exact - 1e-6 <= kolmogorov_distance(rows, level) <= exact * 1.01  # SciPy's own has six digits


def test_the_band_of_kolmogorov_and_smirnov_by_hand() -> None:
    # Ten of each class, each negative below a positive: the ROC curve is a staircase up the diagonal.
    truth, score = [1, 0] * 10, list(range(20, 0, -1))
    result = confidence_band(baserate.tally(truth, score), "roc", level=0.95**2, simultaneous="kolmogorov-smirnov")
    at = {round(rate, 1): place for place, rate in enumerate(result.columns["fpr"].tolist())}
    # At 0.9 the path that runs 0.40925 to the left has come from (0.4, 0.4) most of the way to (0.5, 0.5).
    assert result.columns["low"][at[0.9]] == pytest.approx(0.9 - 2 * 0.40925, abs=1e-4)
    assert result.columns["low"][at[0.4]] == 0
    # To the right of 0 by as much it leaves the highest point (0.4, 0.5) for (0.5, 0.6).
    assert result.columns["high"][at[0.0]] == pytest.approx(0.1 + 2 * 0.40925, abs=1e-4)
    assert result.columns["high"][at[0.1]] == 1


def test_roc_band_at_a_point_by_hand() -> None:
    # 20 of 50 positives and 10 of 40 negatives at 0.9, all others below: one corner, reached by straight lines.
    tally = Tally.from_counts([0.9, 0.1], [[20, 30], [10, 30]])
    low, high = bounds(confidence_band(tally, "roc"))[:, 1]
    rate, stricter, laxer = 0.25, *wilson(10, 30, 0.95)
    share, least, most = 0.4, *wilson_or_exact(20, 30, 0.95)
    assert low == pytest.approx(share - np.hypot(share - least, share - share * stricter / rate))
    assert high == pytest.approx(share + np.hypot(most - share, 0.6 * (laxer - rate) / 0.75))


def test_precision_band_where_everything_is_flagged_equals_that_of_the_prevalence() -> None:
    result = confidence_band(Tally.from_counts([0.9, 0.4], [[20, 10], [20, 50]]), "pr")
    assert bounds(result)[0][-1] == pytest.approx(wilson(30, 70, 0.95)[0])


def test_equal_local_levels_by_hand() -> None:
    path = RocPath.of(baserate.curve(Tally.from_counts([0.9, 0.4], [[20, 10], [20, 50]])))
    local = 1 + np.log(0.95) / (2 * np.log(100) * np.log(np.log(100)))
    kept = np.arange(3)
    for result, expected in zip(bound_roc_simultaneously(path, kept, 0.95), bound_roc(path, kept, local), strict=True):
        assert result == pytest.approx(expected)


def test_bands_of_proportions_equal_their_intervals() -> None:
    tally = Tally.from_counts([0.9, 0.4, 0.1], [[81, 20, 10], [182, 100, 300]])
    low, high = bounds(confidence_band(tally, "precision"))[:, 1]
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)  # Newcombe 1998, table I: 81/263
    assert "Wilson" in confidence_band(tally, "precision").how


def test_other_measures_by_threshold_are_simulated() -> None:
    tally = Tally.from_counts([0.9, 0.1], [[40, 10], [20, 130]])
    result = confidence_band(tally, "sensitivity").columns, confidence_band(tally, "balanced_accuracy").columns
    assert result[1]["low"][1] < measure.balanced_accuracy(baserate.Counts(40, 20, 10, 130)) < result[1]["high"][1]
    # Of two means each with its own error, half the errors in quadrature.
    errors = np.sqrt(0.8 * 0.2 / 50 + 130 / 150 * 20 / 150 / 150) / 2
    assert result[1]["high"][1] - result[1]["low"][1] == pytest.approx(2 * 1.96 * errors, rel=0.1)


def test_step_paths_at_vertical_steps() -> None:
    steps = StepPath(np.array([0.0, 0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.4, 0.4, 0.8, 1.0]))
    x = np.array([0.0, 0.25, 0.5, 0.75, 1.0, -1.0, 2.0])
    assert steps.below(x) == pytest.approx([0.0, 0.2, 0.4, 0.7, 1.0, 0.0, 1.0])
    assert steps.above(x) == pytest.approx([0.4, 0.6, 0.8, 0.9, 1.0, 0.4, 1.0])


# Laws.


@pytest.mark.quick(4)
@ways
@given(data=both)
@settings(max_examples=25)
def test_bands_contain_their_curve_and_stay_in_range(what: str, simultaneous: Simultaneous, data: Rows) -> None:
    result = confidence_band(baserate.tally(*data), what, simultaneous=simultaneous)
    low, high = bounds(result)
    output = measure.describe(measure.find_measure(measure.TABLES.get(what, (what,))[-1]))
    defined = ~np.isnan(last_axis(result))
    assert (defined == ~np.isnan(low)).all()
    assert (low <= last_axis(result))[defined].all()
    assert (last_axis(result) <= high)[defined].all()
    assert (low[defined] >= output.span[0]).all()
    assert (high[defined] <= output.span[1]).all()
    assert [reason is None for reason in result.why] == defined.tolist()
    # It is the table of the curve, with two columns more.
    table = measure.table(baserate.curve(baserate.tally(*data)), what)
    assert all(same(result.columns[name], column) for name, column in table.items())


@pytest.mark.quick(3)
@ways
@given(data=both)
@settings(max_examples=15)
def test_bands_of_higher_levels_contain_others(what: str, simultaneous: Simultaneous, data: Rows) -> None:
    tally = baserate.tally(*data)
    levels = [
        bounds(confidence_band(tally, what, level=level, simultaneous=simultaneous)) for level in (0.1, 0.5, 0.9, 0.99)
    ]
    for (low, high), (lower, higher) in pairwise(levels):
        defined = ~np.isnan(low)
        assert (lower[defined] <= low[defined] + 1e-12).all()
        assert (higher[defined] >= high[defined] - 1e-12).all()


@pytest.mark.quick(3)
@ways
@given(data=both, draw=st.data())
@settings(max_examples=15)
def test_bands_do_not_depend_on_order_repetition_or_units(
    what: str, simultaneous: Simultaneous, data: Rows, draw: st.DataObject
) -> None:
    def make_band(*given: Array, **options: Array) -> Array:
        return bounds(confidence_band(baserate.tally(*given, **options), what, simultaneous=simultaneous))

    assert same(make_band(*data), make_band(data.truth[::-1], data.score[::-1]))
    times = draw.draw(like(data, st.integers(1, 3)))
    repeated = np.repeat(data.truth, times), np.repeat(data.score, times)
    assert same(make_band(*data, count=times), make_band(*repeated))
    weight = draw.draw(like(data, st.sampled_from([0.5, 1.0, 2.0, 3.0])))
    assert same(make_band(*data, weight=weight), make_band(*data, weight=weight * 4))
    if what in CURVES:
        assert same(make_band(*data, weight=weight), make_band(*data, weight=weight * 0.3), within=1e-9)
        assert same(make_band(*data), make_band(*data, weight=np.full(len(data.truth), 7.0)), within=1e-9)


@pytest.mark.parametrize("simultaneous", [False, True, "kolmogorov-smirnov"])
@given(data=both)
@settings(max_examples=25)
def test_a_band_of_a_roc_curve_is_one_of_its_rates(simultaneous: Simultaneous, data: Rows) -> None:
    result = confidence_band(baserate.tally(*data), "roc", simultaneous=simultaneous).columns
    missed = confidence_band(baserate.tally(*data), "det", simultaneous=simultaneous).columns
    assert same(result["low"], 1 - missed["high"], within=1e-12)
    for each in ("low", "high"):
        for rate in np.unique(result["fpr"]):
            assert len(np.unique(result[each][result["fpr"] == rate])) == 1


@given(data=both)
@settings(max_examples=25)
def test_bands_of_lift_and_lorenz_follow_from_gain(data: Rows) -> None:
    tally = baserate.tally(*data)
    gains, lifts, lorenz = (confidence_band(tally, what).columns for what in ("gain", "lift", "lorenz"))
    assert same(lifts["high"][1:] * gains["flag_rate"][1:], gains["high"][1:], within=1e-9)
    assert same(lorenz["low"], 1 - gains["high"], within=1e-9)
    # Nobody flagged, nobody found; everybody flagged, everybody found: that is sure.
    assert bounds(ConfidenceBand(gains, "", []))[:, [0, -1]].tolist() == [[0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize("what", CURVES)
def test_more_rows_narrow_every_band(what: str) -> None:
    tally = Tally.from_counts([0.9, 0.7, 0.5, 0.2], [[9, 6, 3, 2], [2, 4, 8, 26]])
    more = Tally.from_counts(tally.score, np.asarray(tally.rows, dtype=int) * 100)
    low, high = bounds(confidence_band(tally, what))[:, 2]
    lower, higher = bounds(confidence_band(more, what))[:, 2]
    assert higher - lower < (high - low) / 5


# Edges.


@pytest.mark.parametrize("what", CURVES)
@pytest.mark.parametrize("truth", [0, 1])
def test_bands_of_a_single_class_are_undefined_with_a_reason(what: str, truth: int) -> None:
    result = confidence_band(baserate.tally([truth] * 3, [0.1, 0.5, 0.9], positive=1), what)
    assert np.isnan(bounds(result)).all()
    assert all(result.why)
    assert result.why[-1] == ("there are no negatives" if truth else "there are no positives")


@pytest.mark.parametrize("what", ANY)
def test_bands_without_rows_are_undefined_with_a_reason(what: str) -> None:
    result = confidence_band(Tally.from_counts([], [[], []]), what)
    assert np.isnan(bounds(result)).all()
    assert all(result.why)


def test_bands_at_the_highest_level_of_floats() -> None:
    result = confidence_band(
        Tally.from_counts([0.9, 0.4], [[20, 10], [1, 30]]), "roc", level=1 - 2**-53, simultaneous=True
    )
    assert (bounds(result)[0] <= last_axis(result)).all()


@pytest.mark.parametrize("what", ANY)
def test_constant_scores_and_perfect_ones_have_a_band(what: str) -> None:
    for score in ([0.5] * 6, [0.1, 0.2, 0.3, 0.7, 0.8, 0.9]):
        result = confidence_band(baserate.tally([0, 0, 0, 1, 1, 1], score), what)
        assert not np.isnan(bounds(result)[:, 1:]).any()
    # Six rows without an error do not make sure of anything but the ends.
    low, high = bounds(confidence_band(baserate.tally([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.8, 0.9]), "roc"))
    assert (low < 0.5).all()
    assert (high == 1).all()


def test_the_seed_alone_determines_samples() -> None:
    tally = Tally.from_counts([0.9, 0.4, 0.1], [[8, 2, 1], [1, 5, 9]])
    assert same(bounds(confidence_band(tally, "kappa", seed=3)), bounds(confidence_band(tally, "kappa", seed=3)))
    assert not same(bounds(confidence_band(tally, "kappa", seed=3)), bounds(confidence_band(tally, "kappa", seed=4)))
    assert same(bounds(confidence_band(tally, "f1", seed=3)), bounds(confidence_band(tally, "f1", seed=4)))
    assert same(bounds(confidence_band(tally, "roc", seed=3)), bounds(confidence_band(tally, "roc", seed=4)))


def test_points_of_bands_lie_on_the_curve() -> None:
    rng = np.random.default_rng(0)
    tally = baserate.tally(rng.random(3000) < 0.3, rng.random(3000))
    assert len(confidence_band(tally, "roc").columns["fpr"]) <= 200
    assert len(confidence_band(tally, "roc", points=None).columns["fpr"]) == 3001
    few, all_ = confidence_band(tally, "roc", points=20).columns, confidence_band(tally, "roc", points=None).columns
    kept = np.isin(all_["threshold"], few["threshold"])
    assert all(same(few[name], all_[name][kept]) for name in few)
    assert len(confidence_band(tally, "f1", points=600).why) > 500  # more than are drawn at once


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "level is 1.0"),
        ({"level": 0.0}, "level is 0.0"),
        ({"level": "high"}, "level is 'high'"),
        ({"what": "pr", "simultaneous": True}, "exist for roc and det only, not for pr"),
        ({"what": measure.f1, "simultaneous": True}, "not for f1"),
        ({"simultaneous": "hotelling"}, "simultaneous is 'hotelling'"),
        ({"points": 1}, "points is 1"),
        ({"what": "auc"}, "one value for a whole curve"),
        ({"what": "kappa", "seed": -1}, "seed is -1"),
    ],
)
def test_invalid_options_raise(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        confidence_band(Tally.from_counts([0.9, 0.4], [[2, 1], [0, 3]]), options.pop("what", "roc"), **options)


def test_bands_of_models_and_groups_are_tidy() -> None:
    table = {
        "sick": [1, 0, 1, 0, 1, 0],
        "new": [0.9, 0.6, 0.4, 0.1, 0.3, 0.2],
        "old": [0.5, 0.6, 0.7, 0.1, 0.2, 0.3],
        "sex": ["f", "f", "m", "m", "f", "m"],
    }
    tallies = read.tallies(table, truth="sick", score=["new", "old"], group="sex")
    result = confidence_bands(tallies, "pr", level=0.9)
    plain = measure.curves(tallies, "pr")
    assert list(result.columns) == [*plain.columns, "low", "high", "why"]
    assert all(same(result.columns[name], plain.columns[name]) for name in ("threshold", "sensitivity", "precision"))
    assert result.columns["group"] == plain.columns["group"]
    assert {name: result.data[name] for name in plain.data} == dict(plain.data)
    assert (result.data["level"], result.data["simultaneous"]) == (0.9, False)
    assert result.rows()[0]["why"] == "nothing is flagged"
    one = confidence_band(tallies.models["old"][("m",)], "pr", level=0.9)
    assert same(bounds(one), [result.columns[name][-len(one.why) :] for name in ("low", "high")])


# Whether they hold what they promise: 93% at least, less three standard errors of the simulation.

TIMES = 300
FEWEST = 0.93 - 3 * np.sqrt(0.93 * 0.07 / TIMES)


def simulate(rng: np.random.Generator, sizes: tuple[int, int], mean: float, spread: float) -> RocPath:
    truth = np.repeat([True, False], sizes)
    score = np.concatenate([rng.normal(mean, spread, sizes[0]), rng.normal(0, 1, sizes[1])])
    return RocPath.of(baserate.curve(baserate.tally(truth, score)))


def binormal(rate: Array, mean: float, spread: float) -> Array:
    return np.asarray(stats.norm.cdf((mean + stats.norm.ppf(rate)) / spread))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", take_in_tiers([(10, 90), (50, 50), (20, 200), (90, 10)]))
@pytest.mark.parametrize(("mean", "spread"), [(1.0, 1.0), (2.0, 1.0), (1.5, 0.5)])
def test_bands_of_roc_curves_cover(sizes: tuple[int, int], mean: float, spread: float) -> None:
    rng = np.random.default_rng(0)
    kept_rates = np.unique(np.round(np.array([0.02, 0.1, 0.3, 0.6]) * sizes[1]).clip(1)) / sizes[1]
    held, together, widest = np.zeros(len(kept_rates)), np.zeros(2), np.zeros(2)
    for _ in range(TIMES):
        path = simulate(rng, sizes, mean, spread)
        every = np.searchsorted(path.mass[1], np.arange(sizes[1] + 1))
        kept = np.searchsorted(path.mass[1], np.round(kept_rates * sizes[1]))
        low, high = bound_roc(path, kept, 0.95)
        true = binormal(kept_rates, mean, spread)
        held += (low <= true) & (true <= high)
        true = binormal(np.arange(sizes[1] + 1) / sizes[1], mean, spread)
        for at, bound in enumerate((bound_roc_simultaneously, bound_roc_kolmogorov)):
            low, high = bound(path, every, 0.95)
            together[at] += ((low <= true) & (true <= high)).all()
            widest[at] += (high - low).mean()
    assert (held / TIMES >= FEWEST).all()
    assert (together / TIMES >= FEWEST).all()
    assert widest[0] < widest[1]


@pytest.mark.slow
def test_bands_are_not_much_wider_than_necessary() -> None:
    rng = np.random.default_rng(0)
    held, together = 0.0, 0.0
    for _ in range(TIMES):
        path = simulate(rng, (500, 500), 1.0, 1.0)
        every = np.searchsorted(path.mass[1], np.arange(501))
        true = binormal(np.arange(501) / 500, 1.0, 1.0)
        low, high = bound_roc(path, every[[100, 250]], 0.5)
        held += float(((low <= true[[100, 250]]) & (true[[100, 250]] <= high)).mean())
        low, high = bound_roc_simultaneously(path, every, 0.5)
        together += bool(((low <= true) & (true <= high)).all())
    assert 0.45 < held / TIMES < 0.65
    assert 0.45 < together / TIMES < 0.85


@pytest.mark.slow
@pytest.mark.parametrize(("rows_", "prevalence"), [(100, 0.5), (220, 0.15), (100, 0.8)])
def test_bands_of_precision_and_gain_cover(rows_: int, prevalence: float) -> None:
    rng = np.random.default_rng(0)
    score = np.linspace(8, -8, 20001)
    true, false = stats.norm.sf(score, 1.5), stats.norm.sf(score)
    flagged = prevalence * true + (1 - prevalence) * false
    held = np.zeros((2, 4))
    for _ in range(TIMES):
        positives = min(max(rng.binomial(rows_, prevalence), 10), rows_ - 10)
        path = simulate(rng, (positives, rows_ - positives), 1.5, 1.0)
        hits = np.round(np.array([0.2, 0.5, 0.8, 0.95]) * positives)
        recall = hits / positives
        low, high = bound_pr(path, np.searchsorted(path.mass[0], hits), 0.95)
        precision = prevalence * recall / np.interp(recall, true, flagged)
        held[0] += (low <= precision) & (precision <= high)
        kept = np.round(np.array([0.1, 0.3, 0.6, 0.9]) * rows_).astype(int)
        low, high = bound_gain(path, kept, 0.95)
        result = np.interp(kept / rows_, flagged, true)
        held[1] += (low <= result) & (result <= high)
    assert (held / TIMES >= FEWEST).all()


def test_bands_of_measures_allow_for_structurally_empty_cells() -> None:
    truth = np.arange(1000) < 10
    score = np.where(truth, 0.5, np.linspace(0, 1, 1000))
    tally = baserate.tally(truth, score)
    result = confidence_band(tally, "youden")
    at = int(np.flatnonzero(np.asarray(result.columns["threshold"]) > 0.95)[-1])
    counts = baserate.curve(tally).at(float(result.columns["threshold"][at]))
    assert counts.tp == 0
    alone = estimate("youden", counts)
    assert (result.columns["low"][at], result.columns["high"][at]) == pytest.approx((alone.low, alone.high), abs=0.02)
    assert result.columns["low"][at] < float(measure.youden(counts)) - 0.01


def test_denormal_scores_have_a_band() -> None:
    band = confidence_band(baserate.tally([0, 1], [0.0, 5e-324]), "positive_likelihood_ratio")
    assert len(band.columns["low"]) == len(band.columns["threshold"])
